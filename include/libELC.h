/* libELC.h - the names and signatures of the libELC papers (P. Zhao, 2005: thesis, chapter 4 and appendices
 * A and C) over elc.h, so that a program written for them compiles and runs. New programs use elc.h.
 *
 * A function that can be on the stack when a line is taken:
 *
 *     double work(double *x, int n, int LABEL, int FID) {
 *       int i;
 *       if (ELC_SKIP(FID)) return 0;         only in functions that are called with FID not 0
 *       OnCallEnter(LABEL, FID);
 *       OnVarDef(&i, sizeof(int)); OnPtrDef(&x, 1); OnVarDef(&n, sizeof(int));
 *       if (STATE_FLAG == ELC_RECOVERY)
 *         switch (g_flowTail->LABEL) { case 1: goto L1; case 2: goto L2; }
 *       ...
 *     L1: ELC_MPI_Send(x, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, 1, 0);
 *       ...
 *     L2: y = work(x, n / 2, 2, 0);
 *       OnCallReturn();
 *       return y;
 *     }
 *
 * Labels are integers other than 0, unique in their function. main calls OnCallEnter(0, 0), and in a recovery
 * ELC_MPI_Init before it jumps.
 *
 * FID is 0 but in an expression with several calls, where all but the outermost have FID 1, 2, ...: no
 * checkpoint is taken in those, and in a recovery they return without executing. For the MPI calls below that
 * goes by itself; a function of the program has to ask ELC_SKIP, because only it can return. The outermost call
 * has to be to a function of the program, which registers its parameters: those of an MPI call are nowhere saved,
 * so an MPI call with such calls in its arguments is no site.
 *
 * A variable gets its type from that of the address where the compiler can tell it (C11): scalars, arrays of
 * scalars, pointers to scalars, MPI_Status; and MPI's handles with Open MPI and LAM (MPICH's are ints: use
 * ELC_COMM, ELC_DATATYPE, ELC_REQUEST of elc.h). Others are bytes, which come back only on a machine of the same
 * kind. The address of a block from ELC_malloc may be given to OnVarDef, OnPtrDef and OnStrDef as well: it says
 * what the block holds.
 *
 * Where the papers disagree with themselves: OnCallReturn may have an argument, which is not used;
 * StructureDesc has ptrOffset and ptrDisp, strOffset and strDisp for the same thing, and a size that is not
 * used; offsets are those of offsetof (not less one); strName holds strCount names, one each
 * MAX_STRUCT_NAME_LENGTH characters. What a descriptor does not describe is bytes. */
#ifndef LIBELC_H
#define LIBELC_H

#include <elc.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Behind the macros; not for programs ---- */
struct ELC_Flow {
  int LABEL;
};
const struct ELC_Flow *ELC_Classic_tail(void);
void ELC_Classic_enter(const char *function, int label, int fid);
int ELC_Classic_skip(int fid);
/* Sets the label of the call that follows; 1 if the call is to be passed over (FID not 0, in a recovery). */
int ELC_Classic_site(int label, int fid);
void ELC_Classic_variable(const char *name, void *address, ELC_Type type, size_t size);
void ELC_Classic_pointers(const char *name, void *address, size_t count, ELC_Type target);
void ELC_Classic_struct(const char *name, void *address, size_t element, size_t size, const char *type);
void ELC_Classic_file(const char *name, FILE **address);

/* ---- Execution flow ---- */
#define ELC_NORMAL 0
#define ELC_RECOVERY 1
#define STATE_FLAG (ELC_Recovering() ? ELC_RECOVERY : ELC_NORMAL)
#define g_flowTail (ELC_Classic_tail())
#define OnCallEnter(LABEL, FID) ELC_Classic_enter(__func__, (LABEL), (FID))
#define OnCallReturn(...) ((void)ELC_Leave())
#define ELC_SKIP(FID) ELC_Classic_skip(FID)

/* ---- Variables ---- */
#define MAX_STRUCT_NAME_LENGTH 64
#if defined __GNUC__ && !defined __cplusplus && !defined ELC_ISO_ONLY
#define ELC_ANONYMOUS_UNION_ __extension__ union
#else
#define ELC_ANONYMOUS_UNION_ union
#endif
typedef struct StructureDesc {
  char name[MAX_STRUCT_NAME_LENGTH];
  int size;
  int ptrCount; /* pointers in the struct, and their offsets */
  ELC_ANONYMOUS_UNION_ {
    int *ptrOffset;
    int *ptrDisp;
  };
  int strCount; /* structs in the struct, their offsets and names */
  ELC_ANONYMOUS_UNION_ {
    int *strOffset;
    int *strDisp;
  };
  char *strName;
} StructureDesc;
/* The descriptor is copied. Structs in the struct may be described later, but before OnStrDef. */
void OnStructureDef(StructureDesc descTemp);

#define OnStrDef(pAddr, size, pStrName) \
  ELC_Classic_struct(#pAddr, (void *)(pAddr), sizeof(*(pAddr)), (size_t)(size), (pStrName))
#define OnFileDef(pAddr) ELC_Classic_file(#pAddr, (pAddr))

#ifdef ELC_GENERIC_
#if defined OPEN_MPI || defined LAM_MPI
#define ELC_HANDLES_ \
  MPI_Comm * : ELC_MPI_COMM, MPI_Datatype * : ELC_MPI_DATATYPE, MPI_Request * : ELC_MPI_REQUEST,
#else
#define ELC_HANDLES_
#endif
#define ELC_POINTED_(T, N) T * : N, T(*)[] : N, T * * : ELC_POINTER,
#define ELC_POINTED_TARGET_(T, N) T * * : N,
#define OnVarDef(pAddr, size)                                                                          \
  ELC_Classic_variable(#pAddr, (void *)(pAddr),                                                        \
                       ELC_GENERIC_((pAddr), ELC_SCALARS_(ELC_POINTED_) ELC_HANDLES_ MPI_Status *          \
                                : ELC_MPI_STATUS, void ** : ELC_POINTER, FILE ** : ELC_FILE, default : ELC_BYTE), \
                       (size_t)(size))
#define OnPtrDef(pAddr, count)                                  \
  ELC_Classic_pointers(#pAddr, (void *)(pAddr), (size_t)(count), \
                       ELC_GENERIC_((pAddr), ELC_NUMBERS_(ELC_POINTED_TARGET_) default : ELC_NO_TYPE))
#else
#define OnVarDef(pAddr, size) ELC_Classic_variable(#pAddr, (void *)(pAddr), ELC_BYTE, (size_t)(size))
#define OnPtrDef(pAddr, count) ELC_Classic_pointers(#pAddr, (void *)(pAddr), (size_t)(count), ELC_NO_TYPE)
#endif

/* ---- Heap and files: ELC_malloc, ELC_calloc, ELC_realloc, ELC_free, ELC_fopen, ELC_fclose and
 * ELC_fcloseall are those of elc.h ---- */

/* ---- Checkpoint, and MPI calls that are sites ---- */
#define ELC_DoCKPT(LABEL, FID) ((void)(ELC_Classic_site((LABEL), (FID)) ? 0 : ELC_Checkpoint_now()))
#define ELC_MPI_Init(argc, argv) MPI_Init((argc), (argv))
#define ELC_MPI_Finalize() MPI_Finalize()

/* Macros, so that the label is set before the arguments are evaluated: a function called in them takes the mark away,
 * and the MPI call is no site then. */
#define ELC_CALL_(LABEL, FID, call) (ELC_Classic_site((LABEL), (FID)) ? MPI_SUCCESS : (call))

#define ELC_MPI_Send(buf, n, type, dest, tag, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Send((buf), (n), (type), (dest), (tag), (comm)))
#define ELC_MPI_Bsend(buf, n, type, dest, tag, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Bsend((buf), (n), (type), (dest), (tag), (comm)))
#define ELC_MPI_Ssend(buf, n, type, dest, tag, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Ssend((buf), (n), (type), (dest), (tag), (comm)))
#define ELC_MPI_Rsend(buf, n, type, dest, tag, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Rsend((buf), (n), (type), (dest), (tag), (comm)))
#define ELC_MPI_Recv(buf, n, type, source, tag, comm, status, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Recv((buf), (n), (type), (source), (tag), (comm), (status)))
#define ELC_MPI_Isend(buf, n, type, dest, tag, comm, request, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Isend((buf), (n), (type), (dest), (tag), (comm), (request)))
#define ELC_MPI_Ibsend(buf, n, type, dest, tag, comm, request, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Ibsend((buf), (n), (type), (dest), (tag), (comm), (request)))
#define ELC_MPI_Issend(buf, n, type, dest, tag, comm, request, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Issend((buf), (n), (type), (dest), (tag), (comm), (request)))
#define ELC_MPI_Irsend(buf, n, type, dest, tag, comm, request, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Irsend((buf), (n), (type), (dest), (tag), (comm), (request)))
#define ELC_MPI_Irecv(buf, n, type, source, tag, comm, request, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Irecv((buf), (n), (type), (source), (tag), (comm), (request)))
#define ELC_MPI_Sendrecv(sbuf, sn, stype, dest, stag, rbuf, rn, rtype, source, rtag, comm, status, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Sendrecv((sbuf), (sn), (stype), (dest), (stag), (rbuf), (rn), (rtype), (source), \
                                     (rtag), (comm), (status)))
#define ELC_MPI_Sendrecv_replace(buf, n, type, dest, stag, source, rtag, comm, status, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Sendrecv_replace((buf), (n), (type), (dest), (stag), (source), (rtag), (comm), (status)))

#define ELC_MPI_Wait(request, status, LABEL, FID) ELC_CALL_(LABEL, FID, MPI_Wait((request), (status)))
#define ELC_MPI_Waitall(n, requests, statuses, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Waitall((n), (requests), (statuses)))
#define ELC_MPI_Waitany(n, requests, index, status, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Waitany((n), (requests), (index), (status)))
#define ELC_MPI_Waitsome(n, requests, done, indices, statuses, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Waitsome((n), (requests), (done), (indices), (statuses)))
#define ELC_MPI_Test(request, flag, status, LABEL, FID) ELC_CALL_(LABEL, FID, MPI_Test((request), (flag), (status)))
#define ELC_MPI_Testall(n, requests, flag, statuses, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Testall((n), (requests), (flag), (statuses)))
#define ELC_MPI_Testany(n, requests, index, flag, status, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Testany((n), (requests), (index), (flag), (status)))
#define ELC_MPI_Testsome(n, requests, done, indices, statuses, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Testsome((n), (requests), (done), (indices), (statuses)))
#define ELC_MPI_Probe(source, tag, comm, status, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Probe((source), (tag), (comm), (status)))
#define ELC_MPI_Iprobe(source, tag, comm, flag, status, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Iprobe((source), (tag), (comm), (flag), (status)))

#define ELC_MPI_Barrier(comm, LABEL, FID) ELC_CALL_(LABEL, FID, MPI_Barrier((comm)))
#define ELC_MPI_Bcast(buf, n, type, root, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Bcast((buf), (n), (type), (root), (comm)))
#define ELC_MPI_Gather(sbuf, sn, stype, rbuf, rn, rtype, root, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Gather((sbuf), (sn), (stype), (rbuf), (rn), (rtype), (root), (comm)))
#define ELC_MPI_Gatherv(sbuf, sn, stype, rbuf, rns, places, rtype, root, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Gatherv((sbuf), (sn), (stype), (rbuf), (rns), (places), (rtype), (root), (comm)))
#define ELC_MPI_Scatter(sbuf, sn, stype, rbuf, rn, rtype, root, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Scatter((sbuf), (sn), (stype), (rbuf), (rn), (rtype), (root), (comm)))
#define ELC_MPI_Scatterv(sbuf, sns, places, stype, rbuf, rn, rtype, root, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Scatterv((sbuf), (sns), (places), (stype), (rbuf), (rn), (rtype), (root), (comm)))
#define ELC_MPI_Allgather(sbuf, sn, stype, rbuf, rn, rtype, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Allgather((sbuf), (sn), (stype), (rbuf), (rn), (rtype), (comm)))
#define ELC_MPI_Allgatherv(sbuf, sn, stype, rbuf, rns, places, rtype, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Allgatherv((sbuf), (sn), (stype), (rbuf), (rns), (places), (rtype), (comm)))
#define ELC_MPI_Alltoall(sbuf, sn, stype, rbuf, rn, rtype, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Alltoall((sbuf), (sn), (stype), (rbuf), (rn), (rtype), (comm)))
#define ELC_MPI_Alltoallv(sbuf, sns, splaces, stype, rbuf, rns, rplaces, rtype, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Alltoallv((sbuf), (sns), (splaces), (stype), (rbuf), (rns), (rplaces), (rtype), (comm)))
#define ELC_MPI_Reduce(sbuf, rbuf, n, type, op, root, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Reduce((sbuf), (rbuf), (n), (type), (op), (root), (comm)))
#define ELC_MPI_Allreduce(sbuf, rbuf, n, type, op, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Allreduce((sbuf), (rbuf), (n), (type), (op), (comm)))
#define ELC_MPI_Reduce_scatter(sbuf, rbuf, rns, type, op, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Reduce_scatter((sbuf), (rbuf), (rns), (type), (op), (comm)))
#define ELC_MPI_Scan(sbuf, rbuf, n, type, op, comm, LABEL, FID) \
  ELC_CALL_(LABEL, FID, MPI_Scan((sbuf), (rbuf), (n), (type), (op), (comm)))

#ifdef __cplusplus
}
#endif

#endif
