// What the tests of the file format share: files in memory, foreign machines, a state to save.
#ifndef ELC_TESTS_FORMAT_SUPPORT_H
#define ELC_TESTS_FORMAT_SUPPORT_H

#include <stdint.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "portable_format/reader.h"
#include "portable_format/writer.h"

namespace elc::format {

struct MemoryFile {
  std::string bytes;

  Sink sink() {
    return {this, [](void* context, const void* data, size_t size) {
              static_cast<MemoryFile*>(context)->bytes.append(static_cast<const char*>(data), size);
              return Result();
            }};
  }
  Source source() {
    return {this, bytes.size(), [](void* context, uint64_t offset, void* data, size_t size) {
              const std::string& all = static_cast<MemoryFile*>(context)->bytes;
              if (offset > all.size() || size > all.size() - offset)
                return Result::error("read outside of the file");
              memcpy(data, all.data() + offset, size);
              return Result();
            }};
  }
};

inline void set_widths(Representation* r, int long_width, int size_width, int pointer_width,
                       int wchar_width) {
  for (const Kind kind : {kLong, kUlong}) r->width[kind] = static_cast<uint8_t>(long_width);
  for (const Kind kind : {kSize, kPtrdiff}) r->width[kind] = static_cast<uint8_t>(size_width);
  for (const Kind kind : {kPointer, kFunction}) r->width[kind] = static_cast<uint8_t>(pointer_width);
  r->width[kWchar] = static_cast<uint8_t>(wchar_width);
}

inline void set_long_double(Representation* r, LongDouble format, int width) {
  r->long_double = format;
  r->width[kLdouble] = static_cast<uint8_t>(width);
  r->width[kLdoubleComplex] = static_cast<uint8_t>(2 * width);
}

struct Machine {
  const char* name;
  Representation representation;
};

// Machines as they are or were, and some with odd widths.
inline std::vector<Machine> machines() {
  const Representation little = [] {
    Representation r = Representation::here();
    r.order = ByteOrder::kLittle;
    r.is_signed[kChar] = r.is_signed[kWchar] = true;
    set_widths(&r, 8, 8, 8, 4);
    set_long_double(&r, LongDouble::kExtended, 10);
    return r;
  }();
  Representation big = little;
  big.order = ByteOrder::kBig;
  std::vector<Machine> all = {{"this machine", Representation::here()}, {"x86-64", little}};
  Representation r = little;
  set_widths(&r, 4, 4, 4, 4);
  all.push_back({"i386", r});
  r = little;
  r.is_signed[kChar] = r.is_signed[kWchar] = false;
  set_long_double(&r, LongDouble::kBinary128, 16);
  all.push_back({"arm64", r});
  r = big;
  set_long_double(&r, LongDouble::kBinary128, 16);
  all.push_back({"s390x", r});
  r = big;
  set_widths(&r, 4, 4, 4, 4);
  set_long_double(&r, LongDouble::kBinary64, 8);
  all.push_back({"32-bit big-endian", r});
  r = big;
  set_widths(&r, 4, 4, 4, 4);
  set_long_double(&r, LongDouble::kExtended68k, 10);
  all.push_back({"m68k", r});
  r = little;  // 16-bit int, 4-byte bool, 2-byte wchar_t
  set_widths(&r, 4, 4, 4, 2);
  r.width[kInt] = r.width[kUint] = 2;
  r.width[kBool] = 4;
  set_long_double(&r, LongDouble::kBinary64, 8);
  all.push_back({"odd widths", r});
  r = big;  // values that do not fit here
  set_widths(&r, 8, 8, 8, 8);
  r.width[kShort] = r.width[kUshort] = 4;
  r.width[kInt] = r.width[kUint] = 8;
  r.width[kBool] = 2;
  set_long_double(&r, LongDouble::kBinary128, 16);
  all.push_back({"wide integers", r});
  r = little;
  set_long_double(&r, LongDouble::kDoubleDouble, 16);
  all.push_back({"ppc64el", r});
  r = big;
  set_widths(&r, 4, 4, 4, 4);
  set_long_double(&r, LongDouble::kDoubleDouble, 16);
  all.push_back({"powerpc", r});
  return all;
}

// Writes one section "values" with what `fill` puts there.
inline std::string write_file(const TypeTable& types, const WriterOptions& options,
                              const std::function<void(Writer&)>& fill) {
  MemoryFile file;
  Writer writer(&types, file.sink(), options);
  writer.begin_section("values");
  fill(writer);
  writer.end_section();
  const Result status = writer.finish();
  return status.ok() ? file.bytes : "error: " + std::string(status.message());
}

// The seed of a random test: ELC_SEED if it is set, else another each time. It is printed by the test.
inline uint64_t test_seed() {
  const char* given = getenv("ELC_SEED");
  return given != nullptr ? strtoull(given, nullptr, 10) : std::random_device()();
}

// Handles that are their own numbers, for tests without a process around them.
inline LeafEncoder plain_encoder() {
  LeafEncoder e;
  e.pointer = [](void*, const void* leaf, PointerLeaf* out) {
    uintptr_t p;
    memcpy(&p, leaf, sizeof p);
    *out = {p >> 16, p & 0xffff};
    return Result();
  };
  e.address = e.pointer;
  e.handle = [](void*, Kind, const void* leaf, uint64_t* out) {
    uintptr_t p;
    memcpy(&p, leaf, sizeof p);
    *out = p;
    return Result();
  };
  e.status = [](void*, const void* leaf, StatusLeaf* out) {
    int32_t words[5];
    memcpy(words, leaf, sizeof words);
    *out = {words[0], words[1], words[2], 1, static_cast<uint64_t>(words[3])};
    return Result();
  };
  return e;
}

inline LeafDecoder plain_decoder() {
  LeafDecoder d;
  d.pointer = [](void*, const PointerLeaf& in, void* leaf) {
    const uintptr_t p = static_cast<uintptr_t>(in.block << 16 | in.position);
    if (leaf != nullptr) memcpy(leaf, &p, sizeof p);
    return Result();
  };
  d.address = d.pointer;
  d.handle = [](void*, Kind, uint64_t in, void* leaf) {
    const uintptr_t p = static_cast<uintptr_t>(in);
    if (leaf != nullptr) memcpy(leaf, &p, sizeof p);
    return Result();
  };
  d.status = [](void*, const StatusLeaf& in, void* leaf) {
    const int32_t words[5] = {in.source, in.tag, in.error, static_cast<int32_t>(in.count), 0};
    if (leaf != nullptr) memcpy(leaf, words, sizeof words);
    return Result();
  };
  return d;
}

}  // namespace elc::format

#endif
