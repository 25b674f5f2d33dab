/* libelc_or_plain.h - what elc_or_plain.h is, for a program written with the names of the thesis. */
#ifndef BENCH_LIBELC_OR_PLAIN_H
#define BENCH_LIBELC_OR_PLAIN_H

#ifndef ELC_PLAIN

#include <libELC.h>

#else

#include <stdlib.h>

#define OnCallEnter(label, fid) ((void)(label), (void)(fid))
#define OnCallReturn() ((void)0)
#define OnVarDef(address, size) ((void)(address))
#define OnPtrDef(address, count) ((void)(address))
#ifdef ELC_TAGGING /* Message Tagging instead of libELC */
#include "tagging.h"
#define ELC_DoCKPT(label, fid) tagging_line()
#else
#define ELC_DoCKPT(label, fid) ((void)0)
#endif

/* Nothing is ever recovered; the labels stay where they are. */
#define STATE_FLAG 0
#define ELC_RECOVERY 1
static const struct { int LABEL; } plain_flow = {0}, *const g_flowTail = &plain_flow;

#define ELC_malloc(size) malloc(size)
#define ELC_calloc(count, size) calloc((count), (size))
#define ELC_free(block) free(block)

#define ELC_MPI_Init(argc, argv) MPI_Init((argc), (argv))
#define ELC_MPI_Finalize() MPI_Finalize()
#define ELC_MPI_Send(buffer, count, type, to, tag, comm, label, fid) \
  MPI_Send((buffer), (count), (type), (to), (tag), (comm))
#define ELC_MPI_Recv(buffer, count, type, from, tag, comm, status, label, fid) \
  MPI_Recv((buffer), (count), (type), (from), (tag), (comm), (status))

#endif
#endif
