// MPI standard, chapter 5: blocking collective operations (protocol section 6).
#include "mpi/collective.h"

#include "mpi/datatype.h"
#include "mpi/requests.h"

namespace elc::mpi {

namespace {

int size_of(const Communicator& comm) { return static_cast<int>(comm.members.size()); }

// `offset` elements of `type` after `buffer`.
void* element(void* buffer, MPI_Aint offset, MPI_Datatype type) {
  return static_cast<uint8_t*>(buffer) + offset * extent(type);
}

// The regions of a buffer that holds a block for each member.
void add_blocks(Regions* regions, const Communicator& comm, void* buffer, const int* counts, const int* offsets,
                MPI_Datatype type) {
  for (int i = 0; i < size_of(comm); ++i) regions->push_back({element(buffer, offsets[i], type), counts[i], type});
}

}  // namespace

Bytes pack_regions(const Regions& regions) {
  Bytes result;
  for (const Region& r : regions) {
    const Status packed = pack(r.buffer, r.count, r.type, SIZE_MAX, &result);
    if (!packed.ok()) cannot_checkpoint("a datatype of a collective operation was made by a call that libELC does not follow");
  }
  return result;
}

bool unpack_regions(const Bytes& result, uint64_t representation, const Regions& regions) {
  size_t at = 0;
  for (const Region& r : regions) {
    const uint64_t size = packed_size(r.type, representation) * static_cast<uint64_t>(r.count);
    if (size > result.size() - at) return false;
    Unpacked unpacked;
    if (!unpack(result.data() + at, size, representation, r.buffer, r.count, r.type, &unpacked).ok()) return false;
    at += size;
  }
  return at == result.size();
}

Collective::Collective(MPI_Comm handle) {
  labelled_call();
  tick();
  comm_ = runtime.comms.find(handle);
  if (comm_ == nullptr) {
    if (handle != MPI_COMM_NULL) cannot_checkpoint("a communicator was made by a call that libELC does not follow");
    return;
  }
  number_ = runtime.process->start_collective(comm_->slot);
  logged_ = runtime.process->logged_result(comm_->slot, number_);
}

void Collective::end(const Regions& regions) {
  if (comm_ == nullptr) return;
  if (!runtime.process->wants_result(comm_->slot, number_)) {
    runtime.process->end_collective(comm_->slot, number_, Bytes());
    return;
  }
  Bytes bytes;
  Encoder out(&bytes);
  out.u32(kDataResult);
  out.u64(native_representation_code());
  const Bytes packed = pack_regions(regions);
  out.opaque(packed.data(), packed.size());
  runtime.process->end_collective(comm_->slot, number_, std::move(bytes));
}

int Collective::replay(const Regions& regions) {
  Decoder in(*logged_);
  const uint32_t kind = in.u32();
  const uint64_t representation = in.u64();
  const std::string_view content = in.opaque();
  Bytes result;
  result.append(reinterpret_cast<const uint8_t*>(content.data()), content.size());
  const bool fits = in.ok() && kind == kDataResult && unpack_regions(result, representation, regions);
  if (!fits) {
    give_up(Status::error("collective operation %llu on a communicator does not fit its logged result: the program "
                          "does not repeat what it did before; restart from an older line",
                          static_cast<unsigned long long>(number_)));
  }
  end(regions);
  return MPI_SUCCESS;
}

}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Barrier(MPI_Comm comm) {
  if (!following()) return PMPI_Barrier(comm);
  return barrier(comm);
}

ELC_EXPORT int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (!following()) return PMPI_Bcast(buffer, count, type, root, comm);
  return collective(
      comm, [&] { return PMPI_Bcast(buffer, count, type, root, comm); },
      [&](const Communicator& c, Regions* out) {
        if (c.rank != root) out->push_back({buffer, count, type});
      });
}

ELC_EXPORT int MPI_Gather(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                          MPI_Datatype to_type, int root, MPI_Comm comm) {
  if (!following()) return PMPI_Gather(from, from_count, from_type, to, to_count, to_type, root, comm);
  return collective(
      comm, [&] { return PMPI_Gather(from, from_count, from_type, to, to_count, to_type, root, comm); },
      [&](const Communicator& c, Regions* out) {
        if (c.rank == root) out->push_back({to, to_count * size_of(c), to_type});
      });
}

ELC_EXPORT int MPI_Gatherv(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to,
                           ELC_CONST int* counts, ELC_CONST int* offsets, MPI_Datatype to_type, int root,
                           MPI_Comm comm) {
  if (!following()) return PMPI_Gatherv(from, from_count, from_type, to, counts, offsets, to_type, root, comm);
  return collective(
      comm, [&] { return PMPI_Gatherv(from, from_count, from_type, to, counts, offsets, to_type, root, comm); },
      [&](const Communicator& c, Regions* out) {
        if (c.rank == root) add_blocks(out, c, to, counts, offsets, to_type);
      });
}

ELC_EXPORT int MPI_Scatter(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                           MPI_Datatype to_type, int root, MPI_Comm comm) {
  if (!following()) return PMPI_Scatter(from, from_count, from_type, to, to_count, to_type, root, comm);
  return collective(
      comm, [&] { return PMPI_Scatter(from, from_count, from_type, to, to_count, to_type, root, comm); },
      [&](const Communicator&, Regions* out) {
        if (!in_place(to)) out->push_back({to, to_count, to_type});
      });
}

ELC_EXPORT int MPI_Scatterv(ELC_CONST void* from, ELC_CONST int* counts, ELC_CONST int* offsets,
                            MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type, int root,
                            MPI_Comm comm) {
  if (!following()) return PMPI_Scatterv(from, counts, offsets, from_type, to, to_count, to_type, root, comm);
  return collective(
      comm, [&] { return PMPI_Scatterv(from, counts, offsets, from_type, to, to_count, to_type, root, comm); },
      [&](const Communicator&, Regions* out) {
        if (!in_place(to)) out->push_back({to, to_count, to_type});
      });
}

ELC_EXPORT int MPI_Allgather(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                             MPI_Datatype to_type, MPI_Comm comm) {
  if (!following()) return PMPI_Allgather(from, from_count, from_type, to, to_count, to_type, comm);
  return collective(
      comm, [&] { return PMPI_Allgather(from, from_count, from_type, to, to_count, to_type, comm); },
      [&](const Communicator& c, Regions* out) { out->push_back({to, to_count * size_of(c), to_type}); });
}

ELC_EXPORT int MPI_Allgatherv(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to,
                              ELC_CONST int* counts, ELC_CONST int* offsets, MPI_Datatype to_type, MPI_Comm comm) {
  if (!following()) return PMPI_Allgatherv(from, from_count, from_type, to, counts, offsets, to_type, comm);
  return collective(
      comm, [&] { return PMPI_Allgatherv(from, from_count, from_type, to, counts, offsets, to_type, comm); },
      [&](const Communicator& c, Regions* out) { add_blocks(out, c, to, counts, offsets, to_type); });
}

ELC_EXPORT int MPI_Alltoall(ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                            MPI_Datatype to_type, MPI_Comm comm) {
  if (!following()) return PMPI_Alltoall(from, from_count, from_type, to, to_count, to_type, comm);
  return collective(
      comm, [&] { return PMPI_Alltoall(from, from_count, from_type, to, to_count, to_type, comm); },
      [&](const Communicator& c, Regions* out) { out->push_back({to, to_count * size_of(c), to_type}); });
}

ELC_EXPORT int MPI_Alltoallv(ELC_CONST void* from, ELC_CONST int* from_counts, ELC_CONST int* from_offsets,
                             MPI_Datatype from_type, void* to, ELC_CONST int* to_counts, ELC_CONST int* to_offsets,
                             MPI_Datatype to_type, MPI_Comm comm) {
  const auto call = [&] {
    return PMPI_Alltoallv(from, from_counts, from_offsets, from_type, to, to_counts, to_offsets, to_type, comm);
  };
  if (!following()) return call();
  return collective(comm, call, [&](const Communicator& c, Regions* out) {
    add_blocks(out, c, to, to_counts, to_offsets, to_type);
  });
}

ELC_EXPORT int MPI_Reduce(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm) {
  if (!following()) return PMPI_Reduce(from, to, count, type, op, root, comm);
  return collective(
      comm, [&] { return PMPI_Reduce(from, to, count, type, op, root, comm); },
      [&](const Communicator& c, Regions* out) {
        if (c.rank == root) out->push_back({to, count, type});
      });
}

ELC_EXPORT int MPI_Allreduce(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!following()) return PMPI_Allreduce(from, to, count, type, op, comm);
  return collective(
      comm, [&] { return PMPI_Allreduce(from, to, count, type, op, comm); },
      [&](const Communicator&, Regions* out) { out->push_back({to, count, type}); });
}

ELC_EXPORT int MPI_Reduce_scatter(ELC_CONST void* from, void* to, ELC_CONST int* counts, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm) {
  if (!following()) return PMPI_Reduce_scatter(from, to, counts, type, op, comm);
  return collective(
      comm, [&] { return PMPI_Reduce_scatter(from, to, counts, type, op, comm); },
      [&](const Communicator& c, Regions* out) { out->push_back({to, counts[c.rank], type}); });
}

ELC_EXPORT int MPI_Scan(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!following()) return PMPI_Scan(from, to, count, type, op, comm);
  return collective(
      comm, [&] { return PMPI_Scan(from, to, count, type, op, comm); },
      [&](const Communicator&, Regions* out) { out->push_back({to, count, type}); });
}

ELC_EXPORT int MPI_Exscan(ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!following()) return PMPI_Exscan(from, to, count, type, op, comm);
  return collective(
      comm, [&] { return PMPI_Exscan(from, to, count, type, op, comm); },
      [&](const Communicator& c, Regions* out) {
        if (c.rank > 0) out->push_back({to, count, type});
      });
}

#if MPI_VERSION >= 3
ELC_EXPORT int MPI_Reduce_scatter_block(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm) {
  if (!following()) return PMPI_Reduce_scatter_block(from, to, count, type, op, comm);
  return collective(
      comm, [&] { return PMPI_Reduce_scatter_block(from, to, count, type, op, comm); },
      [&](const Communicator&, Regions* out) { out->push_back({to, count, type}); });
}
#endif

ELC_EXPORT int MPI_Alltoallw(ELC_CONST void* from, ELC_CONST int* from_counts, ELC_CONST int* from_offsets,
                             ELC_CONST MPI_Datatype* from_types, void* to, ELC_CONST int* to_counts,
                             ELC_CONST int* to_offsets, ELC_CONST MPI_Datatype* to_types, MPI_Comm comm) {
  const auto call = [&] {
    return PMPI_Alltoallw(from, from_counts, from_offsets, from_types, to, to_counts, to_offsets, to_types, comm);
  };
  if (!following()) return call();
  return collective(comm, call, [&](const Communicator& c, Regions* out) {  // offsets are bytes here
    for (size_t i = 0; i < c.members.size(); ++i)
      out->push_back({static_cast<uint8_t*>(to) + to_offsets[i], to_counts[i], to_types[i]});
  });
}
