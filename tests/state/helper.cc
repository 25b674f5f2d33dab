#include "helper.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

using elc::Result;

namespace {

Result encode(void*, elc::format::Kind, const void* handle, uint64_t* number) {
  int value;
  memcpy(&value, handle, sizeof value);
  *number = static_cast<uint64_t>(value) + 1000;
  return Result();
}

Result decode(void*, elc::format::Kind, uint64_t number, void* handle) {
  const int value = static_cast<int>(number) - 1000;
  memcpy(handle, &value, sizeof value);
  return Result();
}

Result append(void* context, const void* data, size_t size) {
  auto* bytes = static_cast<std::vector<uint8_t>*>(context);
  bytes->insert(bytes->end(), static_cast<const uint8_t*>(data), static_cast<const uint8_t*>(data) + size);
  return Result();
}

Result read_at(void* context, uint64_t offset, void* data, size_t size) {
  const auto* bytes = static_cast<std::vector<uint8_t>*>(context);
  if (offset > bytes->size() || size > bytes->size() - offset) return Result::error("short file");
  memcpy(data, bytes->data() + offset, size);
  return Result();
}

}  // namespace

elc::state::HandleCodec test_codec() { return {nullptr, encode, decode, nullptr, nullptr}; }

Result Line::save(const elc::format::Representation* as) {
  bytes.clear();
  elc::format::WriterOptions options;
  options.representation = as;
  elc::format::Writer writer(&elc::state::types(), {&bytes, append}, options);
  ELC_TRY(elc::state::save(writer, test_codec()));
  return writer.finish();
}

Result Line::open(elc::format::Reader* reader) { return reader->open({&bytes, bytes.size(), read_at}); }

Result Line::check() {
  elc::format::Reader reader;
  ELC_TRY(open(&reader));
  return elc::state::check(reader);
}

Result Line::restore() {
  elc::format::Reader reader;
  ELC_TRY(open(&reader));
  ELC_TRY(elc::state::check(reader));
  ELC_TRY(elc::state::make_places());
  ELC_TRY(elc::state::fill(reader, test_codec()));
  return elc::state::bring_back_files(reader, [](bool here) { return here; });
}

void new_process() {
  static Random random = {12345};
  elc::state::reset();
  elc::state::recovering_hook = nullptr;
  elc::state::arrived_hook = nullptr;
  elc::state::give_up_hook = nullptr;
  for (int i = 0; i < 100; ++i) {  // kept for good
    void* kept = malloc(16 + random.below(200));
    if (kept == nullptr) abort();
    *static_cast<volatile char*>(kept) = 1;
  }
  for (uint32_t k = elc::format::kMpiComm; k < elc::format::kKindCount; ++k)
    elc::state::set_handle_size(static_cast<elc::format::Kind>(k), k == elc::format::kMpiStatus ? 24 : sizeof(int));
}

elc::format::Representation foreign_machine() {
  using namespace elc::format;
  Representation r = Representation::here();
  r.order = r.order == ByteOrder::kLittle ? ByteOrder::kBig : ByteOrder::kLittle;
  r.long_double = LongDouble::kBinary64;
  r.width[kLong] = r.width[kUlong] = r.width[kSize] = r.width[kPtrdiff] = 4;
  r.width[kLdouble] = 8;
  r.width[kLdoubleComplex] = 16;
  return r;
}

uint64_t test_seed(const char* test) {
  const char* given = getenv("ELC_SEED");
  const uint64_t seed = given != nullptr
                            ? strtoull(given, nullptr, 0)
                            : static_cast<uint64_t>(time(nullptr)) << 20 ^ static_cast<uint64_t>(getpid());
  printf("%s: ELC_SEED=%llu\n", test, static_cast<unsigned long long>(seed));
  return seed;
}
