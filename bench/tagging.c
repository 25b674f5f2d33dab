#include "tagging.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum Way { kDerived, kCopied, kPacked, kHeader };
static const char *const kWays[] = {"derived", "copied", "packed", "header"};

/* On the control communicator. */
enum { kCheckpointTag = 1, kCompleteTag = 2 };

static enum Way way;
static MPI_Comm control;
static int rank, size;

static int epoch;          /* checkpoints taken here */
static int64_t *sent;      /* in this epoch, to each */
static int64_t *received;  /* of this epoch, from each */
static int64_t *early;     /* of the next epoch, from each: not to be sent again by a restart */
static int64_t *awaited;   /* of the epoch before, from each: how many are missing, once it has told how many it sent */
static int *told_epoch;    /* of the last checkpoint that each has told of */
static int open;           /* a line is not complete here */
static double began;
static char *log_data;     /* messages in transit, one behind the other */
static size_t log_size, log_room;
static int64_t late;

/* Rank 0. */
static int under_way;  /* a line is not complete everywhere */
static int completed;  /* processes at which it is */
static int64_t all_late, all_bytes;

static void fail(const char *what) {
  fprintf(stderr, "tagging: rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int MPI_Init(int *argc, char ***argv) {
  const int code = PMPI_Init(argc, argv);
  const char *name = getenv("TAGGING");
  PMPI_Comm_dup(MPI_COMM_WORLD, &control);
  PMPI_Comm_rank(control, &rank);
  PMPI_Comm_size(control, &size);
  for (way = kDerived; name != NULL && strcmp(name, kWays[way]) != 0; way++)
    if (way == kHeader) fail("TAGGING is derived, copied, packed or header");
  sent = allocate((size_t)size, sizeof *sent);
  received = allocate((size_t)size, sizeof *received);
  early = allocate((size_t)size, sizeof *early);
  awaited = allocate((size_t)size, sizeof *awaited);
  told_epoch = allocate((size_t)size, sizeof *told_epoch);
  return code;
}

/* ---- The line ---- */

/* A line is complete here when all have told, and nothing is missing from anybody. */
static void look_whether_complete(void) {
  int64_t told[2];
  if (!open) return;
  for (int other = 0; other < size; other++)
    if (other != rank && (told_epoch[other] < epoch || awaited[other] != 0)) return;
  open = 0;
  told[0] = late;
  told[1] = (int64_t)log_size;
  PMPI_Send(told, 2, MPI_INT64_T, 0, kCompleteTag, control);
}

static void checkpoint(void) {
  open = 1;
  began = MPI_Wtime();
  late = 0;
  log_size = 0;
  epoch++;
  for (int other = 0; other < size; other++) {
    int64_t told[2];
    told[0] = epoch;
    told[1] = sent[other];
    awaited[other] -= received[other];
    received[other] = early[other];
    early[other] = sent[other] = 0;
    if (other != rank) PMPI_Send(told, 2, MPI_INT64_T, other, kCheckpointTag, control);
  }
  look_whether_complete(); /* a process alone */
}

static void complete_elsewhere(const int64_t *told) {
  all_late += told[0];
  all_bytes += told[1];
  if (++completed < size) return;
  printf("tagging: line %d complete after %.6f s: %lld messages in transit, %lld bytes\n", epoch, MPI_Wtime() - began,
         (long long)all_late, (long long)all_bytes);
  under_way = completed = 0;
  all_late = all_bytes = 0;
}

/* A process takes its checkpoint as soon as it hears of one. */
static void take_control(void) {
  MPI_Status status;
  int flag = 1;
  while (PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, control, &flag, &status), flag) {
    const int other = status.MPI_SOURCE;
    int64_t told[2];
    PMPI_Recv(told, 2, MPI_INT64_T, other, status.MPI_TAG, control, MPI_STATUS_IGNORE);
    if (status.MPI_TAG == kCompleteTag) {
      complete_elsewhere(told);
      continue;
    }
    awaited[other] += told[1];
    told_epoch[other] = (int)told[0];
    if (told[0] > epoch) checkpoint();
    look_whether_complete();
  }
}

void tagging_line(void) {
  take_control();
  if (rank != 0) return;
  if (under_way) {
    printf("tagging: no line: the last one is not complete\n");
    return;
  }
  under_way = 1;
  checkpoint();
}

/* ---- Messages ---- */

static void append(const void *data, int count, MPI_Datatype type) {
  int most = 0, end = 0;
  PMPI_Pack_size(count, type, control, &most);
  if (log_size + (size_t)most > log_room) {
    log_room = 2 * (log_size + (size_t)most);
    log_data = realloc(log_data, log_room);
    if (log_data == NULL) fail("no memory for a message in transit");
  }
  PMPI_Pack(data, count, type, log_data + log_size, most, &end, control);
  log_size += (size_t)end;
}

static void classify(int from, int of, const void *data, int count, MPI_Datatype type) {
  if (of == epoch) received[from]++;
  else if (of > epoch) early[from]++;
  else {
    awaited[from]--;
    late++;
    append(data, count, type);
    look_whether_complete();
  }
}

/* The header, and behind it data that lie anywhere. */
static MPI_Datatype with_header(int *header, const void *data, int count, MPI_Datatype type) {
  int lengths[2] = {1, count};
  MPI_Aint places[2];
  MPI_Datatype types[2] = {MPI_INT, type}, made;
  MPI_Get_address(header, &places[0]);
  MPI_Get_address(data, &places[1]);
  MPI_Type_create_struct(count > 0 ? 2 : 1, lengths, places, types, &made);
  MPI_Type_commit(&made);
  return made;
}

static size_t bytes_of(int count, MPI_Datatype type) {
  MPI_Aint least, extent;
  MPI_Type_get_extent(type, &least, &extent);
  return (size_t)extent * (size_t)count;
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  take_control();
  sent[to]++;
  if (way == kHeader) {
    code = PMPI_Send(data, count, type, to, tag, comm);
    if (code == MPI_SUCCESS) code = PMPI_Send(&epoch, 1, MPI_INT, to, tag, comm);
  } else if (way == kPacked) {
    int most = 0, end = 0;
    char *buffer;
    PMPI_Pack_size(count, type, comm, &most);
    buffer = allocate((size_t)most + sizeof epoch + 64, 1);
    PMPI_Pack(&epoch, 1, MPI_INT, buffer, most + 64, &end, comm);
    PMPI_Pack(data, count, type, buffer, most + 64, &end, comm);
    code = PMPI_Send(buffer, end, MPI_PACKED, to, tag, comm);
    free(buffer);
  } else {
    const size_t bytes = bytes_of(count, type);
    char *buffer = NULL;
    if (way == kCopied) {
      buffer = malloc(bytes + 1);
      if (buffer == NULL) fail("no memory for the copy of a message");
      memcpy(buffer, data, bytes);
    }
    MPI_Datatype made = with_header(&epoch, buffer != NULL ? buffer : data, count, type);
    code = PMPI_Send(MPI_BOTTOM, 1, made, to, tag, comm);
    MPI_Type_free(&made);
    free(buffer);
  }
  return code;
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
  MPI_Status own;
  int code, of = 0, came = count;
  if (status == MPI_STATUS_IGNORE) status = &own;
  take_control();
  if (way == kHeader) {
    code = PMPI_Recv(data, count, type, from, tag, comm, status);
    PMPI_Recv(&of, 1, MPI_INT, status->MPI_SOURCE, status->MPI_TAG, comm, MPI_STATUS_IGNORE);
    MPI_Get_count(status, type, &came);
  } else if (way == kPacked) {
    int most = 0, end = 0, size_of = 0, begin = 0;
    char *buffer;
    PMPI_Pack_size(count, type, comm, &most);
    buffer = malloc((size_t)most + 64);
    if (buffer == NULL) fail("no memory for a message");
    code = PMPI_Recv(buffer, most + 64, MPI_PACKED, from, tag, comm, status);
    MPI_Get_count(status, MPI_PACKED, &end);
    PMPI_Unpack(buffer, end, &begin, &of, 1, MPI_INT, comm);
    MPI_Type_size(type, &size_of);
    came = size_of > 0 ? (end - begin) / size_of : 0;
    PMPI_Unpack(buffer, end, &begin, data, came, type, comm);
    free(buffer);
  } else {
    const size_t bytes = bytes_of(count, type);
    char *buffer = way == kCopied ? malloc(bytes + 1) : NULL;
    int elements = 0;
    MPI_Datatype made = with_header(&of, buffer != NULL ? buffer : data, count, type);
    code = PMPI_Recv(MPI_BOTTOM, 1, made, from, tag, comm, status);
    MPI_Get_elements(status, made, &elements);
    came = elements - 1; /* of basic types: what the programs here send */
    if (buffer != NULL) memcpy(data, buffer, bytes_of(came, type));
    MPI_Type_free(&made);
    free(buffer);
  }
  classify(status->MPI_SOURCE, of, data, came, type);
  return code;
}

int MPI_Finalize(void) {
  take_control();
  free(sent);
  free(received);
  free(early);
  free(awaited);
  free(told_epoch);
  free(log_data);
  PMPI_Comm_free(&control);
  return PMPI_Finalize();
}
