// Calls that the library does not follow yet. They work as ever; from the first one on, lines are refused,
// because a line could not tell what is in flight (protocol section 9, I6). Communicators made by calls that are
// not wrapped are noticed when they are used.
#include <stdio.h>

#include "mpi/requests.h"
#include "mpi/runtime.h"

namespace {

// Passes on what the call returned: after it nothing of its arguments is needed any more, which keeps the
// many wrappers short. No line can be taken in between.
int unfollowed(const char* name, int code) {
  if (!elc::mpi::following() || elc::mpi::runtime.cannot != nullptr) return code;
  static char what[80];
  snprintf(what, sizeof what, "MPI_%s, which libELC does not follow, was called", name);
  elc::mpi::cannot_checkpoint(what);
  return code;
}

}  // namespace

#define UNFOLLOWED(name, parameters, arguments) \
  ELC_EXPORT int MPI_##name parameters { return unfollowed(#name, PMPI_##name arguments); }

// Persistent requests.
UNFOLLOWED(Start, (MPI_Request * request), (request))
UNFOLLOWED(Startall, (int count, MPI_Request* array), (count, array))

#if ELC_HAVE_WIN_CREATE
UNFOLLOWED(Win_create, (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window),
           (base, size, unit, info, comm, window))
#endif

#if MPI_VERSION >= 3
UNFOLLOWED(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window),
           (size, unit, info, comm, base, window))
UNFOLLOWED(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window),
           (size, unit, info, comm, base, window))
UNFOLLOWED(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* window), (info, comm, window))
UNFOLLOWED(File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
           (comm, name, mode, info, file))

// Matched probes.
UNFOLLOWED(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),
           (source, tag, comm, message, status))
UNFOLLOWED(Improbe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status),
           (source, tag, comm, flag, message, status))

// Non-blocking collective operations.
UNFOLLOWED(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request))
UNFOLLOWED(Ibcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
           (buffer, count, type, root, comm, request))
UNFOLLOWED(Igather,
           (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type, int root, MPI_Comm comm,
            MPI_Request* request),
           (from, n, type, to, m, to_type, root, comm, request))
UNFOLLOWED(Igatherv,
           (const void* from, int n, MPI_Datatype type, void* to, const int* counts, const int* offsets,
            MPI_Datatype to_type, int root, MPI_Comm comm, MPI_Request* request),
           (from, n, type, to, counts, offsets, to_type, root, comm, request))
UNFOLLOWED(Iscatter,
           (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type, int root, MPI_Comm comm,
            MPI_Request* request),
           (from, n, type, to, m, to_type, root, comm, request))
UNFOLLOWED(Iscatterv,
           (const void* from, const int* counts, const int* offsets, MPI_Datatype type, void* to, int m,
            MPI_Datatype to_type, int root, MPI_Comm comm, MPI_Request* request),
           (from, counts, offsets, type, to, m, to_type, root, comm, request))
UNFOLLOWED(Iallgather,
           (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type, MPI_Comm comm,
            MPI_Request* request),
           (from, n, type, to, m, to_type, comm, request))
UNFOLLOWED(Iallgatherv,
           (const void* from, int n, MPI_Datatype type, void* to, const int* counts, const int* offsets,
            MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request),
           (from, n, type, to, counts, offsets, to_type, comm, request))
UNFOLLOWED(Ialltoall,
           (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type, MPI_Comm comm,
            MPI_Request* request),
           (from, n, type, to, m, to_type, comm, request))
UNFOLLOWED(Ialltoallv,
           (const void* from, const int* counts, const int* offsets, MPI_Datatype type, void* to, const int* to_counts,
            const int* to_offsets, MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request),
           (from, counts, offsets, type, to, to_counts, to_offsets, to_type, comm, request))
UNFOLLOWED(Ialltoallw,
           (const void* from, const int* counts, const int* offsets, const MPI_Datatype* types, void* to,
            const int* to_counts, const int* to_offsets, const MPI_Datatype* to_types, MPI_Comm comm,
            MPI_Request* request),
           (from, counts, offsets, types, to, to_counts, to_offsets, to_types, comm, request))
UNFOLLOWED(Ireduce,
           (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
            MPI_Request* request),
           (from, to, count, type, op, root, comm, request))
UNFOLLOWED(Iallreduce,
           (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
           (from, to, count, type, op, comm, request))
UNFOLLOWED(Ireduce_scatter,
           (const void* from, void* to, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
            MPI_Request* request),
           (from, to, counts, type, op, comm, request))
UNFOLLOWED(Ireduce_scatter_block,
           (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
           (from, to, count, type, op, comm, request))
UNFOLLOWED(Iscan,
           (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
           (from, to, count, type, op, comm, request))
UNFOLLOWED(Iexscan,
           (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
           (from, to, count, type, op, comm, request))
#endif
