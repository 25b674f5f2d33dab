// MPI standard, chapter 5: blocking collective operations (protocol section 6).
#include "mpi/collective.h"

#include "mpi/datatype.h"
#include "mpi/requests.h"

namespace elc::mpi {
namespace {

// Part of the program's memory that a call has written.
struct Region {
  void* buffer;
  int count;
  MPI_Datatype type;
};
Vector<Region> regions;  // of the operation that is under way

Bytes pack_regions() {
  Bytes result;
  Encoder out(&result);
  out.u32(kDataResult);
  out.u64(native_representation_code());
  for (const Region& r : regions) {
    const Status packed = pack(r.buffer, r.count, r.type, SIZE_MAX, &result);
    if (!packed.ok()) cannot_checkpoint("a datatype of a collective operation was made by a call that libELC does not follow");
  }
  return result;
}

Status unpack_regions(const Bytes& result) {
  const Status other = Status::error("the program does not repeat what it did before; restart from an older line");
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
  return at == result.size() ? Status() : other;
}

}  // namespace

void Collective::start(MPI_Comm handle) {
  labelled_call();
  tick();
  comm_ = runtime.comms.find(handle);
  if (comm_ == nullptr) {
    if (handle != MPI_COMM_NULL) cannot_checkpoint(kOtherCommunicator);
    return;
  }
  number_ = runtime.process->start_collective(comm_->slot);
  if (runtime.process->ignores_results()) return;
  over_ = false;
  logged_ = runtime.process->logged_result(comm_->slot, number_);
}

void Collective::wrote(void* buffer, int count, MPI_Datatype type) { regions.push_back({buffer, count, type}); }

void Collective::wrote_blocks(void* buffer, const int* counts, const int* offsets, MPI_Datatype type) {
  const MPI_Aint step = extent(type);
  for (int i = 0; i < size(); ++i) wrote(static_cast<uint8_t*>(buffer) + offsets[i] * step, counts[i], type);
}

int Collective::end(int code) {
  const Status repeated = logged_ != nullptr ? unpack_regions(*logged_) : Status();
  if (!repeated.ok())
    give_up(Status::error("the result of collective operation %llu on a communicator, which crosses the line, cannot be used "
                          "here: %s; the line is as it was", static_cast<unsigned long long>(number_), repeated.message()));
  end_with(runtime.process->wants_result(comm_->slot, number_) ? pack_regions() : Bytes());
  regions.clear();
  return code;
}

}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Barrier(MPI_Comm comm) {
  if (!following()) return PMPI_Barrier(comm);
  return barrier(comm);
}

ELC_EXPORT int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call() ? PMPI_Bcast(buffer, count, type, root, comm) : MPI_SUCCESS;
  if (now.over()) return code;
  if (now.rank() != root) now.wrote(buffer, count, type);
  return now.end(code);
}

ELC_EXPORT int MPI_Gather(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                          MPI_Datatype to_type, int root, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call()
                       ? PMPI_Gather(from, from_count, from_type, to, to_count, to_type, root, comm)
                       : MPI_SUCCESS;
  if (now.over()) return code;
  if (now.rank() == root) now.wrote(to, to_count * now.size(), to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Gatherv(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to,
                           ELC_CONST int* counts, ELC_CONST int* offsets, MPI_Datatype to_type, int root,
                           MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call()
                       ? PMPI_Gatherv(from, from_count, from_type, to, counts, offsets, to_type, root, comm)
                       : MPI_SUCCESS;
  if (now.over()) return code;
  if (now.rank() == root) now.wrote_blocks(to, counts, offsets, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Scatter(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                           MPI_Datatype to_type, int root, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call()
                       ? PMPI_Scatter(from, from_count, from_type, to, to_count, to_type, root, comm)
                       : MPI_SUCCESS;
  if (now.over()) return code;
  if (!in_place(to)) now.wrote(to, to_count, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Scatterv(ELC_CONST void* from, ELC_CONST int* counts, ELC_CONST int* offsets, MPI_Datatype from_type,
                            void* to, int to_count, MPI_Datatype to_type, int root, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call()
                       ? PMPI_Scatterv(from, counts, offsets, from_type, to, to_count, to_type, root, comm)
                       : MPI_SUCCESS;
  if (now.over()) return code;
  if (!in_place(to)) now.wrote(to, to_count, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Allgather(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                             MPI_Datatype to_type, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call() ? PMPI_Allgather(from, from_count, from_type, to, to_count, to_type, comm) : MPI_SUCCESS;
  if (now.over()) return code;
  now.wrote(to, to_count * now.size(), to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Allgatherv(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to,
                              ELC_CONST int* counts, ELC_CONST int* offsets, MPI_Datatype to_type, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call()
                       ? PMPI_Allgatherv(from, from_count, from_type, to, counts, offsets, to_type, comm)
                       : MPI_SUCCESS;
  if (now.over()) return code;
  now.wrote_blocks(to, counts, offsets, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Alltoall(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                            MPI_Datatype to_type, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call() ? PMPI_Alltoall(from, from_count, from_type, to, to_count, to_type, comm) : MPI_SUCCESS;
  if (now.over()) return code;
  now.wrote(to, to_count * now.size(), to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Alltoallv(ELC_CONST void* from, ELC_CONST int* from_counts, ELC_CONST int* from_offsets,
                             MPI_Datatype from_type, void* to, ELC_CONST int* to_counts, ELC_CONST int* to_offsets,
                             MPI_Datatype to_type, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call()
                       ? PMPI_Alltoallv(from, from_counts, from_offsets, from_type, to, to_counts, to_offsets, to_type, comm)
                       : MPI_SUCCESS;
  if (now.over()) return code;
  now.wrote_blocks(to, to_counts, to_offsets, to_type);
  return now.end(code);
}

ELC_EXPORT int MPI_Alltoallw(ELC_CONST void* from, ELC_CONST int* from_counts, ELC_CONST int* from_offsets,
                             ELC_CONST MPI_Datatype* from_types, void* to, ELC_CONST int* to_counts,
                             ELC_CONST int* to_offsets, ELC_CONST MPI_Datatype* to_types, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call()
                       ? PMPI_Alltoallw(from, from_counts, from_offsets, from_types, to, to_counts, to_offsets, to_types, comm)
                       : MPI_SUCCESS;
  if (now.over()) return code;
  for (int i = 0; i < now.size(); ++i)  // offsets are bytes here
    now.wrote(static_cast<uint8_t*>(to) + to_offsets[i], to_counts[i], to_types[i]);
  return now.end(code);
}

ELC_EXPORT int MPI_Reduce(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call() ? PMPI_Reduce(from, to, count, type, op, root, comm) : MPI_SUCCESS;
  if (now.over()) return code;
  if (now.rank() == root) now.wrote(to, count, type);
  return now.end(code);
}

ELC_EXPORT int MPI_Allreduce(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call() ? PMPI_Allreduce(from, to, count, type, op, comm) : MPI_SUCCESS;
  if (now.over()) return code;
  now.wrote(to, count, type);
  return now.end(code);
}

ELC_EXPORT int MPI_Reduce_scatter(ELC_CONST void* from, void* to, ELC_CONST int* counts, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call() ? PMPI_Reduce_scatter(from, to, counts, type, op, comm) : MPI_SUCCESS;
  if (now.over()) return code;
  now.wrote(to, counts[now.rank()], type);
  return now.end(code);
}

#if MPI_VERSION >= 3
ELC_EXPORT int MPI_Reduce_scatter_block(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call() ? PMPI_Reduce_scatter_block(from, to, count, type, op, comm) : MPI_SUCCESS;
  if (now.over()) return code;
  now.wrote(to, count, type);
  return now.end(code);
}
#endif

ELC_EXPORT int MPI_Scan(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call() ? PMPI_Scan(from, to, count, type, op, comm) : MPI_SUCCESS;
  if (now.over()) return code;
  now.wrote(to, count, type);
  return now.end(code);
}

ELC_EXPORT int MPI_Exscan(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  Collective now(comm);
  const int code = now.call() ? PMPI_Exscan(from, to, count, type, op, comm) : MPI_SUCCESS;
  if (now.over()) return code;
  if (now.rank() > 0) now.wrote(to, count, type);
  return now.end(code);
}
