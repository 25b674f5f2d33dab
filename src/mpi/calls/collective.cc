// MPI standard, chapter 5: blocking collective operations (PROTOCOL.md, section 6).
#include "mpi/calls/collective.h"

#include <limits.h>

#include "mpi/datatype/datatype.h"
#include "mpi/objects/requests.h"

namespace elc::mpi {
namespace {

Result pack_regions(const Vector<Collective::Region>& regions, Bytes* result) {
  Encoder out(result);
  out.u32(kDataResult);
  out.u64(native_representation_code());
  for (const Collective::Region& r : regions) ELC_TRY(pack(r.buffer, r.count, r.type, SIZE_MAX, result));
  return Result();
}

Result unpack_regions(const Vector<Collective::Region>& regions, const Bytes& result) {
  const Result other = Result::error("the program does not repeat what it did before; restart from an older line");
  Decoder in(result);
  const uint32_t kind = in.u32();
  const uint64_t representation = in.u64();
  if (!in.ok() || kind != kDataResult) return other;
  size_t at = result.size() - in.left();
  for (const Collective::Region& r : regions) {
    const uint64_t packed = packed_size(r.type, representation) * static_cast<uint64_t>(r.count);
    if (packed > result.size() - at) return other;
    const size_t size = static_cast<size_t>(packed);
    Unpacked unpacked;
    ELC_TRY(unpack(result.data() + at, size, representation, r.buffer, r.count, r.type, &unpacked));
    at += size;
  }
  return at == result.size() ? Result() : other;
}

}  // namespace

void Collective::start(MPI_Comm handle) {
  labelled_call();
  tick();
  comm_ = runtime.comms.find(handle);
  if (comm_ == nullptr) {
    unseen_ = !is_obstacle(HandleKind::kComm, handle_key(handle));
    return;
  }
  number_ = runtime.coordinator->start_collective(comm_->slot);
  if (runtime.coordinator->ignores_results()) return;
  over_ = false;
  logged_ = runtime.coordinator->logged_result(comm_->slot, number_);
}

bool Collective::settle(int code) {
  if (unseen_) {  // an argument that MPI refuses is MPI's to report
    if (code == MPI_SUCCESS) cannot_checkpoint(kUnseenCommunicator);
    return true;
  }
  if (code == MPI_SUCCESS) return false;
  end_unlogged("a collective operation that failed", code);
  return true;
}

int Collective::end_unlogged(const char* call, int code) {
  runtime.coordinator->end_unfollowed(comm_->slot, number_, call);
  return code;
}

void Collective::wrote(void* buffer, int count, MPI_Datatype type) { regions_.push_back({buffer, count, type}); }

void Collective::wrote_by_all(void* buffer, int count, MPI_Datatype type) {
  if (count <= INT_MAX / size()) return wrote(buffer, count * size(), type);
  const size_t step = static_cast<size_t>(extent(type)) * static_cast<size_t>(count);
  for (int i = 0; i < size(); ++i) wrote(static_cast<uint8_t*>(buffer) + static_cast<size_t>(i) * step, count, type);
}

void Collective::wrote_blocks(void* buffer, const int* counts, const int* offsets, MPI_Datatype type) {
  const MPI_Aint step = extent(type);
  for (int i = 0; i < size(); ++i) wrote(static_cast<uint8_t*>(buffer) + offsets[i] * step, counts[i], type);
}

int Collective::end(int code) {
  const Result repeated = logged_ != nullptr ? unpack_regions(regions_, *logged_) : Result();
  if (!repeated.ok())
    give_up(Result::caused(repeated.cause(), "the result of collective operation %llu on a communicator, which crosses the line, "
                           "cannot be used here: %s; the line is as it was", static_cast<unsigned long long>(number_),
                           repeated.message()));
  Bytes result;
  if (runtime.coordinator->wants_result(comm_->slot, number_) && !pack_regions(regions_, &result).ok())
    return end_unlogged("a collective operation with a datatype that libELC does not follow, or with a result that there is "
                        "no memory for", code);
  end_with(std::move(result));
  return code;
}

}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Barrier(MPI_Comm comm) {
  if (!following()) return PMPI_Barrier(comm);
  const Entered entered("MPI_Barrier");
  return barrier(comm);
}

ELC_EXPORT int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ELC_FOLLOW(Bcast, (buffer, count, type, root, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Bcast(buffer, count, type, root, comm); });
  if (now.over(code)) return code;
  if (now.rank() != root) now.wrote(buffer, count, type);
  return now.end(code);
}

ELC_EXPORT int MPI_Gather(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                          MPI_Datatype to_type, int root, MPI_Comm comm) {
  ELC_FOLLOW(Gather, (from, from_count, from_type, to, to_count, to_type, root, comm));
  Collective now(comm);
  const int code = now.call([&] {
    return PMPI_Gather(from, from_count, from_type, to, to_count, to_type, root, comm);
  });
  if (now.over(code)) return code;
  if (now.rank() == root) now.wrote_by_all(to, to_count, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Gatherv(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to,
                           ELC_CONST int* counts, ELC_CONST int* offsets, MPI_Datatype to_type, int root,
                           MPI_Comm comm) {
  ELC_FOLLOW(Gatherv, (from, from_count, from_type, to, counts, offsets, to_type, root, comm));
  Collective now(comm);
  const int code = now.call([&] {
    return PMPI_Gatherv(from, from_count, from_type, to, counts, offsets, to_type, root, comm);
  });
  if (now.over(code)) return code;
  if (now.rank() == root) now.wrote_blocks(to, counts, offsets, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Scatter(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                           MPI_Datatype to_type, int root, MPI_Comm comm) {
  ELC_FOLLOW(Scatter, (from, from_count, from_type, to, to_count, to_type, root, comm));
  Collective now(comm);
  const int code = now.call([&] {
    return PMPI_Scatter(from, from_count, from_type, to, to_count, to_type, root, comm);
  });
  if (now.over(code)) return code;
  if (!in_place(to)) now.wrote(to, to_count, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Scatterv(ELC_CONST void* from, ELC_CONST int* counts, ELC_CONST int* offsets, MPI_Datatype from_type,
                            void* to, int to_count, MPI_Datatype to_type, int root, MPI_Comm comm) {
  ELC_FOLLOW(Scatterv, (from, counts, offsets, from_type, to, to_count, to_type, root, comm));
  Collective now(comm);
  const int code = now.call([&] {
    return PMPI_Scatterv(from, counts, offsets, from_type, to, to_count, to_type, root, comm);
  });
  if (now.over(code)) return code;
  if (!in_place(to)) now.wrote(to, to_count, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Allgather(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                             MPI_Datatype to_type, MPI_Comm comm) {
  ELC_FOLLOW(Allgather, (from, from_count, from_type, to, to_count, to_type, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Allgather(from, from_count, from_type, to, to_count, to_type, comm); });
  if (now.over(code)) return code;
  now.wrote_by_all(to, to_count, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Allgatherv(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to,
                              ELC_CONST int* counts, ELC_CONST int* offsets, MPI_Datatype to_type, MPI_Comm comm) {
  ELC_FOLLOW(Allgatherv, (from, from_count, from_type, to, counts, offsets, to_type, comm));
  Collective now(comm);
  const int code = now.call([&] {
    return PMPI_Allgatherv(from, from_count, from_type, to, counts, offsets, to_type, comm);
  });
  if (now.over(code)) return code;
  now.wrote_blocks(to, counts, offsets, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Alltoall(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                            MPI_Datatype to_type, MPI_Comm comm) {
  ELC_FOLLOW(Alltoall, (from, from_count, from_type, to, to_count, to_type, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Alltoall(from, from_count, from_type, to, to_count, to_type, comm); });
  if (now.over(code)) return code;
  now.wrote_by_all(to, to_count, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Alltoallv(ELC_CONST void* from, ELC_CONST int* from_counts, ELC_CONST int* from_offsets,
                             MPI_Datatype from_type, void* to, ELC_CONST int* to_counts, ELC_CONST int* to_offsets,
                             MPI_Datatype to_type, MPI_Comm comm) {
  ELC_FOLLOW(Alltoallv, (from, from_counts, from_offsets, from_type, to, to_counts, to_offsets, to_type, comm));
  Collective now(comm);
  const int code = now.call([&] {
    return PMPI_Alltoallv(from, from_counts, from_offsets, from_type, to, to_counts, to_offsets, to_type, comm);
  });
  if (now.over(code)) return code;
  now.wrote_blocks(to, to_counts, to_offsets, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Alltoallw(ELC_CONST void* from, ELC_CONST int* from_counts, ELC_CONST int* from_offsets,
                             ELC_CONST MPI_Datatype* from_types, void* to, ELC_CONST int* to_counts,
                             ELC_CONST int* to_offsets, ELC_CONST MPI_Datatype* to_types, MPI_Comm comm) {
  ELC_FOLLOW(Alltoallw, (from, from_counts, from_offsets, from_types, to, to_counts, to_offsets, to_types, comm));
  Collective now(comm);
  const int code = now.call([&] {
    return PMPI_Alltoallw(from, from_counts, from_offsets, from_types, to, to_counts, to_offsets, to_types, comm);
  });
  if (now.over(code)) return code;
  for (int i = 0; i < now.size(); ++i)  // offsets are bytes here
    now.wrote(static_cast<uint8_t*>(to) + to_offsets[i], to_counts[i], to_types[i]);
  return now.end(code);
}

ELC_EXPORT int MPI_Reduce(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm) {
  ELC_FOLLOW(Reduce, (from, to, count, type, op, root, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Reduce(from, to, count, type, op, root, comm); });
  if (now.over(code)) return code;
  if (now.rank() == root) now.wrote(to, count, type);
  return now.end(code);
}

ELC_EXPORT int MPI_Allreduce(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ELC_FOLLOW(Allreduce, (from, to, count, type, op, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Allreduce(from, to, count, type, op, comm); });
  if (now.over(code)) return code;
  now.wrote(to, count, type);
  return now.end(code);
}

ELC_EXPORT int MPI_Reduce_scatter(ELC_CONST void* from, void* to, ELC_CONST int* counts, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm) {
  ELC_FOLLOW(Reduce_scatter, (from, to, counts, type, op, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Reduce_scatter(from, to, counts, type, op, comm); });
  if (now.over(code)) return code;
  now.wrote(to, counts[now.rank()], type);
  return now.end(code);
}

#if MPI_VERSION >= 3
ELC_EXPORT int MPI_Reduce_scatter_block(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm) {
  ELC_FOLLOW(Reduce_scatter_block, (from, to, count, type, op, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Reduce_scatter_block(from, to, count, type, op, comm); });
  if (now.over(code)) return code;
  now.wrote(to, count, type);
  return now.end(code);
}
#endif

ELC_EXPORT int MPI_Scan(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ELC_FOLLOW(Scan, (from, to, count, type, op, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Scan(from, to, count, type, op, comm); });
  if (now.over(code)) return code;
  now.wrote(to, count, type);
  return now.end(code);
}

ELC_EXPORT int MPI_Exscan(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ELC_FOLLOW(Exscan, (from, to, count, type, op, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Exscan(from, to, count, type, op, comm); });
  if (now.over(code)) return code;
  if (now.rank() > 0) now.wrote(to, count, type);
  return now.end(code);
}
