#include "mpi/objects/collective_results.h"

#include "mpi/datatype/datatype.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {
namespace {

constexpr const char* kNotLogged = "a collective operation with a datatype that libELC does not follow, or with a result that "
                                   "there is no memory for";

Result pack_regions(const Vector<Region>& regions, Bytes* result) {
  Encoder out(result);
  out.u32(kDataResult);
  out.u64(native_representation_code());
  for (const Region& r : regions) ELC_TRY(pack(r.buffer, r.count, r.type, SIZE_MAX, result));
  return Result();
}

}  // namespace

Result unpack_regions(const Vector<Region>& regions, const Bytes& result) {
  const Result other = Result::error("the program does not repeat what it did before; restart from an older line");
  Decoder in(result);
  const uint32_t kind = in.u32();
  const uint64_t representation = in.u64();
  if (!in.ok() || kind != kDataResult) return other;
  size_t at = result.size() - in.left();
  for (const Region& r : regions) {
    const uint64_t packed = packed_size(r.type, representation) * static_cast<uint64_t>(r.count);
    if (packed > result.size() - at) return other;
    const size_t size = static_cast<size_t>(packed);
    Unpacked unpacked;
    ELC_TRY(unpack(result.data() + at, size, representation, r.buffer, r.count, r.type, &unpacked));
    at += size;
  }
  return at == result.size() ? Result() : other;
}

void end_collective(line::Comm comm, uint64_t number, const Vector<Region>& regions) {
  Bytes result;
  if (runtime.coordinator->wants_result(comm, number) && !pack_regions(regions, &result).ok())
    return runtime.coordinator->end_unfollowed(comm, number, kNotLogged);
  runtime.coordinator->end_collective(comm, number, std::move(result));
}

void repeat_collective(line::Comm comm, uint64_t number, const Vector<Region>& regions, const Bytes& result) {
  const Result repeated = unpack_regions(regions, result);
  if (!repeated.ok())
    give_up(Result::caused(repeated.cause(), "the result of collective operation %llu on a communicator, which crosses the line, "
                           "cannot be used here: %s; the line is as it was", static_cast<unsigned long long>(number),
                           repeated.message()));
  end_collective(comm, number, regions);
}

void end_failed_collective(line::Comm comm, uint64_t number) {
  runtime.coordinator->end_unfollowed(comm, number, "a collective operation that failed");
}

PendingCollective::PendingCollective(line::Comm slot, uint64_t which, Vector<Region> writes)
    : comm(slot), number(which), regions(std::move(writes)) {
  for (const Region& r : regions) {
    types.push_back(retain(r.type));
    unknown = unknown || types.back() == kNoDatatype;
  }
}

PendingCollective::~PendingCollective() {
  for (const uint64_t type : types) elc::mpi::release(type);
  destroy(making);
}

void end_making(line::Comm comm, uint64_t number, Bytes result, const char* call) {
  if (result.empty()) runtime.coordinator->end_unfollowed(comm, number, call);
  else runtime.coordinator->end_collective(comm, number, std::move(result));
}

void PendingCollective::end(int code) {
  if (ended) return;
  ended = true;
  if (code != MPI_SUCCESS) end_failed_collective(comm, number);
  else if (unknown) runtime.coordinator->end_unfollowed(comm, number, kNotLogged);
  else if (making != nullptr)
    end_making(comm, number, follow(*making->made, making->origin, making->parents, making->call), making->call);
  else end_collective(comm, number, regions);
}

}  // namespace elc::mpi
