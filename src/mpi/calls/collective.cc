// MPI standard, chapter 5: collective operations (PROTOCOL.md, section 6).
#include "mpi/calls/collective.h"

#include <limits.h>

#include "mpi/datatype/datatype.h"
#include "mpi/objects/requests.h"

namespace elc::mpi {

void Collective::start(MPI_Comm handle) {
  labelled_call();
  tick();
  comm_ = runtime.comms.find(handle);
  if (comm_ == nullptr) {
    unseen_ = !is_obstacle(HandleKind::kComm, handle_key(handle));
    return;
  }
  count();
}

void Collective::count() {
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
  end_failed(code);
  return true;
}

void Collective::wrote(void* buffer, int count, MPI_Datatype type) {
  if (count > 0) regions_.push_back({buffer, count, type});
}

void Collective::wrote_by_all(void* buffer, int count, MPI_Datatype type) {
  if (count <= INT_MAX / size()) return wrote(buffer, count * size(), type);
  const size_t step = static_cast<size_t>(extent(type)) * static_cast<size_t>(count);
  for (int i = 0; i < size(); ++i) wrote(static_cast<uint8_t*>(buffer) + static_cast<size_t>(i) * step, count, type);
}

void Collective::wrote_blocks(void* buffer, const int* counts, const int* offsets, MPI_Datatype type) {
  const MPI_Aint step = extent(type);
  for (int i = 0; i < size(); ++i) wrote(static_cast<uint8_t*>(buffer) + offsets[i] * step, counts[i], type);
}

void Collective::end() {
  if (logged_ != nullptr) repeat_collective(comm_->slot, number_, regions_, *logged_);
  else end_collective(comm_->slot, number_, regions_);
}

void Collective::begun(MPI_Request* request) {
  if (logged_ != nullptr) {
    end();
    *request = runtime.requests->make_complete();
    return;
  }
  runtime.coordinator->pending_collective(comm_->slot, number_);
  runtime.requests->add_collective(*request, comm_->slot, number_, std::move(regions_));
}

}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Barrier(MPI_Comm comm) {
  if (!following()) return PMPI_Barrier(comm);
  const Entered entered("MPI_Barrier");
  return barrier(comm);
}

#if MPI_VERSION >= 3
ELC_EXPORT int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  ELC_FOLLOW(Ibarrier, (comm, request));
  return begin_collective("MPI_Ibarrier", comm, request, [&] { return PMPI_Ibarrier(comm, request); }, [](Collective&) {});
}
#endif
ELC_PERSISTENT_OF_STANDARD(Barrier, (MPI_Comm comm), (comm), ({}), {})
ELC_PERSISTENT_BEFORE_STANDARD(Barrier, (MPI_Comm comm), (comm), ({}), {})

ELC_COLLECTIVE(Bcast, Ibcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
               (buffer, count, type, root, comm), ({
  if (now.is_root(root) || now.has_root(root)) kept.to.one(buffer, count, type);
  kept.root = root;
}), {
  if (now.has_root(root) && !now.is_root(root)) now.wrote(buffer, count, type);
})

ELC_COLLECTIVE(Gather, Igather, (ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                                 MPI_Datatype to_type, int root, MPI_Comm comm),
               (from, from_count, from_type, to, to_count, to_type, root, comm), ({
  if (now.has_root(root)) kept.from.one(from, from_count, from_type);
  if (now.is_root(root)) kept.to.even(to, to_count, to_type, now.size());
  kept.root = root;
}), {
  if (now.is_root(root)) now.wrote_by_all(to, to_count, to_type);
})

ELC_COLLECTIVE(Gatherv, Igatherv, (ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, ELC_CONST int* counts,
                                   ELC_CONST int* offsets, MPI_Datatype to_type, int root, MPI_Comm comm),
               (from, from_count, from_type, to, counts, offsets, to_type, root, comm), ({
  if (now.has_root(root)) kept.from.one(from, from_count, from_type);
  if (now.is_root(root)) kept.to.at_offsets(to, counts, offsets, to_type, now.size());
  kept.root = root;
}), {
  if (now.is_root(root)) now.wrote_blocks(to, counts, offsets, to_type);
})

ELC_COLLECTIVE(Scatter, Iscatter, (ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                                   MPI_Datatype to_type, int root, MPI_Comm comm),
               (from, from_count, from_type, to, to_count, to_type, root, comm), ({
  if (now.is_root(root)) kept.from.even(from, from_count, from_type, now.size());
  if (now.has_root(root)) kept.to.one(to, to_count, to_type);
  kept.root = root;
}), {
  if (now.has_root(root) && !in_place(to)) now.wrote(to, to_count, to_type);
})

ELC_COLLECTIVE(Scatterv, Iscatterv, (ELC_CONST void* from, ELC_CONST int* counts, ELC_CONST int* offsets, MPI_Datatype from_type,
                                     void* to, int to_count, MPI_Datatype to_type, int root, MPI_Comm comm),
               (from, counts, offsets, from_type, to, to_count, to_type, root, comm), ({
  if (now.is_root(root)) kept.from.at_offsets(from, counts, offsets, from_type, now.size());
  if (now.has_root(root)) kept.to.one(to, to_count, to_type);
  kept.root = root;
}), {
  if (now.has_root(root) && !in_place(to)) now.wrote(to, to_count, to_type);
})

ELC_COLLECTIVE(Allgather, Iallgather, (ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                                       MPI_Datatype to_type, MPI_Comm comm),
               (from, from_count, from_type, to, to_count, to_type, comm), ({
  kept.from.one(from, from_count, from_type);
  kept.to.even(to, to_count, to_type, now.size());
}), {
  now.wrote_by_all(to, to_count, to_type);
})

ELC_COLLECTIVE(Allgatherv, Iallgatherv, (ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to,
                                         ELC_CONST int* counts, ELC_CONST int* offsets, MPI_Datatype to_type, MPI_Comm comm),
               (from, from_count, from_type, to, counts, offsets, to_type, comm), ({
  kept.from.one(from, from_count, from_type);
  kept.to.at_offsets(to, counts, offsets, to_type, now.size());
}), {
  now.wrote_blocks(to, counts, offsets, to_type);
})

ELC_COLLECTIVE(Alltoall, Ialltoall, (ELC_CONST void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                                     MPI_Datatype to_type, MPI_Comm comm),
               (from, from_count, from_type, to, to_count, to_type, comm), ({
  kept.from.even(from, from_count, from_type, now.size());
  kept.to.even(to, to_count, to_type, now.size());
}), {
  now.wrote_by_all(to, to_count, to_type);
})

ELC_COLLECTIVE(Alltoallv, Ialltoallv, (ELC_CONST void* from, ELC_CONST int* from_counts, ELC_CONST int* from_offsets,
                                       MPI_Datatype from_type, void* to, ELC_CONST int* to_counts, ELC_CONST int* to_offsets,
                                       MPI_Datatype to_type, MPI_Comm comm),
               (from, from_counts, from_offsets, from_type, to, to_counts, to_offsets, to_type, comm), ({
  kept.from.at_offsets(from, from_counts, from_offsets, from_type, now.size());
  kept.to.at_offsets(to, to_counts, to_offsets, to_type, now.size());
}), {
  now.wrote_blocks(to, to_counts, to_offsets, to_type);
})

ELC_COLLECTIVE(Alltoallw, Ialltoallw, (ELC_CONST void* from, ELC_CONST int* from_counts, ELC_CONST int* from_offsets,
                                       ELC_CONST MPI_Datatype* from_types, void* to, ELC_CONST int* to_counts,
                                       ELC_CONST int* to_offsets, ELC_CONST MPI_Datatype* to_types, MPI_Comm comm),
               (from, from_counts, from_offsets, from_types, to, to_counts, to_offsets, to_types, comm), ({
  kept.from.in_bytes(from, from_counts, from_offsets, from_types, now.size());
  kept.to.in_bytes(to, to_counts, to_offsets, to_types, now.size());
}), {
  for (int i = 0; i < now.size(); ++i)  // offsets are bytes here
    now.wrote(static_cast<uint8_t*>(to) + to_offsets[i], to_counts[i], to_types[i]);
})

ELC_COLLECTIVE(Reduce, Ireduce, (ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
               (from, to, count, type, op, root, comm), ({
  if (now.has_root(root)) kept.from.one(from, count, type);
  if (now.is_root(root)) kept.to.one(to, count, type);
  kept.set_op(op);
  kept.root = root;
}), {
  if (now.is_root(root)) now.wrote(to, count, type);
})

ELC_COLLECTIVE(Allreduce, Iallreduce, (ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
               (from, to, count, type, op, comm), ({
  kept.from.one(from, count, type);
  kept.to.one(to, count, type);
  kept.set_op(op);
}), {
  now.wrote(to, count, type);
})

ELC_COLLECTIVE(Reduce_scatter, Ireduce_scatter, (ELC_CONST void* from, void* to, ELC_CONST int* counts, MPI_Datatype type,
                                                 MPI_Op op, MPI_Comm comm),
               (from, to, counts, type, op, comm), ({
  kept.counts.append(counts, static_cast<size_t>(now.own_size()));
  kept.from.in_a_row(from, kept.counts, type);
  if (in_place(from)) kept.to.in_a_row(to, kept.counts, type);
  else kept.to.one(to, counts[now.rank()], type);
  kept.set_op(op);
}), {
  now.wrote(to, counts[now.rank()], type);
})

#if MPI_VERSION >= 3
ELC_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                                                             MPI_Comm comm),
               (from, to, count, type, op, comm), ({
  kept.from.even(from, count, type, now.own_size());
  kept.to.even(to, count, type, in_place(from) ? now.own_size() : 1);
  kept.set_op(op);
}), {
  now.wrote(to, count, type);
})
#endif

ELC_COLLECTIVE(Scan, Iscan, (ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
               (from, to, count, type, op, comm), ({
  kept.from.one(from, count, type);
  kept.to.one(to, count, type);
  kept.set_op(op);
}), {
  now.wrote(to, count, type);
})

ELC_COLLECTIVE(Exscan, Iexscan, (ELC_CONST void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
               (from, to, count, type, op, comm), ({
  kept.from.one(from, count, type);
  if (now.rank() > 0 || in_place(from)) kept.to.one(to, count, type);
  kept.set_op(op);
}), {
  if (now.rank() > 0) now.wrote(to, count, type);
})
