/* types.c - everything that C can hold, on its way between machines: a program of the restart matrix.
 *
 * Each process has the variables of all_types.h; in every round they are compared with what they should be and
 * given new values. What a round sends - structs with padding, each basic type, strided - is received in the next one,
 * so that a line has it in transit.
 *
 * libELC: restore in place. */
#include <mpi.h>

#include "coins.h"

#include "all_types.h"

enum { kParcels = 5, kTag = 7, kBasicTag = 100, kMostBasics = 20 };

static long rounds = 100, work = 20;
static int ranks, right_rank, left_rank;

typedef struct Parcel {
  char letter;
  double real[2];
  short small;
  long large;
  long double extended;
  int64_t huge;
  float single;
} Parcel;

static Parcel sent[kParcels], got[kParcels];
static MPI_Request sending[3], receiving[2];
static MPI_Datatype parcel, strided;
static MPI_Comm other;
static MPI_Status status;
static unsigned char basic_sent[kMostBasics][2 * sizeof(long double)];

static void fail(const char *what) {
  fprintf(stderr, "types: rank %d, round %lld: wrong: %s\n", rank, (long long)here, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void register_messages(void) {
#ifndef ELC_PLAIN
  const ELC_Type parcel_type =
      ELC_Struct("Parcel", sizeof(Parcel), 7,
                 (ELC_Field[]){ELC_FIELD(Parcel, letter), ELC_FIELD(Parcel, real), ELC_FIELD(Parcel, small),
                               ELC_FIELD(Parcel, large), ELC_FIELD(Parcel, extended), ELC_FIELD(Parcel, huge),
                               ELC_FIELD(Parcel, single)});
  ELC_STRUCT(sent, parcel_type);
  ELC_STRUCT(got, parcel_type);
  ELC_REQUEST(sending);
  ELC_REQUEST(receiving);
  ELC_DATATYPE(parcel);
  ELC_DATATYPE(strided);
  ELC_COMM(other);
  ELC_STATUS(status);
#endif
}

/* ---- Messages ------------------------------------------------------------------------------------ */

typedef struct Basic {
  MPI_Datatype type;
  int size;
} Basic;
static Basic basics[kMostBasics];
static int basic_count;

static void add_basic(MPI_Datatype type, size_t size) {
  basics[basic_count].type = type;
  basics[basic_count++].size = (int)size;
}

static void make_types(void) {
  int lengths[] = {1, 2, 1, 1, 1, 1, 1};
  MPI_Aint places[] = {offsetof(Parcel, letter), offsetof(Parcel, real), offsetof(Parcel, small), offsetof(Parcel, large),
                       offsetof(Parcel, extended), offsetof(Parcel, huge), offsetof(Parcel, single)};
  MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_LONG, MPI_LONG_DOUBLE, MPI_LONG_LONG_INT, MPI_FLOAT};
  MPI_Datatype bare;
  MPI_Type_create_struct(7, lengths, places, types, &bare);
  MPI_Type_create_resized(bare, 0, sizeof(Parcel), &parcel);
  MPI_Type_free(&bare);
  MPI_Type_commit(&parcel);
  MPI_Type_vector(2, 1, 3, parcel, &strided);
  MPI_Type_commit(&strided);
  add_basic(MPI_CHAR, sizeof(char));
  add_basic(MPI_UNSIGNED_CHAR, sizeof(char));
  add_basic(MPI_SHORT, sizeof(short));
  add_basic(MPI_UNSIGNED_SHORT, sizeof(short));
  add_basic(MPI_INT, sizeof(int));
  add_basic(MPI_UNSIGNED, sizeof(int));
  add_basic(MPI_LONG, sizeof(long));
  add_basic(MPI_UNSIGNED_LONG, sizeof(long));
  add_basic(MPI_LONG_LONG_INT, sizeof(long long));
  add_basic(MPI_FLOAT, sizeof(float));
  add_basic(MPI_DOUBLE, sizeof(double));
  add_basic(MPI_LONG_DOUBLE, sizeof(long double));
}

/* Two elements of a basic type, from their numbers. */
static void set_basic(int b, int whose, int64_t round, unsigned char *to) {
  memset(to, 0, 2 * sizeof(long double));
  for (int i = 0; i < 2; i++) {
    const uint64_t value = value_of(whose, round, 500 + 2 * b + i);
    unsigned char *place = to + i * basics[b].size;
    if (basics[b].type == MPI_FLOAT) {
      set_float((float *)(void *)place, value);
    } else if (basics[b].type == MPI_DOUBLE) {
      set_double((double *)(void *)place, value);
    } else if (basics[b].type == MPI_LONG_DOUBLE) {
      set_long_double((long double *)(void *)place, value);
    } else {
      const int bits = basics[b].type == MPI_LONG || basics[b].type == MPI_UNSIGNED_LONG ? 32 : 8 * basics[b].size;
      const uint64_t integer = integer_of(value, bits, basics[b].type == MPI_LONG);
      const uint8_t u8 = (uint8_t)integer;
      const uint16_t u16 = (uint16_t)integer;
      const uint32_t u32 = (uint32_t)integer;
      const void *from = basics[b].size == 1   ? (const void *)&u8
                         : basics[b].size == 2 ? (const void *)&u16
                         : basics[b].size == 4 ? (const void *)&u32
                                               : (const void *)&integer;
      memcpy(place, from, (size_t)basics[b].size);
    }
  }
}

static void set_parcel(Parcel *p, int whose, int64_t round, int i) {
  const int k = 600 + 10 * i;
  memset(p, 0, sizeof *p);
  p->letter = (char)value_of(whose, round, k);
  set_double(&p->real[0], value_of(whose, round, k + 1));
  set_double(&p->real[1], value_of(whose, round, k + 2));
  p->small = (short)value_of(whose, round, k + 3);
  p->large = (long)(int32_t)value_of(whose, round, k + 4);
  set_long_double(&p->extended, value_of(whose, round, k + 5));
  p->huge = (int64_t)value_of(whose, round, k + 6);
  set_float(&p->single, value_of(whose, round, k + 7));
}

static int same_parcel(const Parcel *a, const Parcel *b) {
  return a->letter == b->letter && same_double(&a->real[0], &b->real[0]) && same_double(&a->real[1], &b->real[1]) &&
         a->small == b->small && a->large == b->large && same_long_double(&a->extended, &b->extended) &&
         a->huge == b->huge && same_float(&a->single, &b->single);
}

/* To the right: parcels 0 and 3 by `strided`, the others one by one; two of each basic type. Their receives are
 * posted now (in every other round) or later. */
static void begin_messages(int64_t round) {
  if (round % 2 == 0) {
    MPI_Irecv(got, 1, strided, left_rank, kTag, other, &receiving[0]);
    MPI_Irecv(&got[1], 2, parcel, left_rank, kTag + 1, other, &receiving[1]);
  }
  for (int i = 0; i < kParcels; i++) set_parcel(&sent[i], rank, round, i);
  MPI_Isend(sent, 1, strided, right_rank, kTag, other, &sending[0]);
  MPI_Isend(&sent[1], 2, parcel, right_rank, kTag + 1, other, &sending[1]);
  MPI_Isend(&sent[4], 1, parcel, right_rank, kTag + 2, other, &sending[2]);
  for (int b = 0; b < basic_count; b++) {
    set_basic(b, rank, round, basic_sent[b]);
    MPI_Bsend(basic_sent[b], 2, basics[b].type, right_rank, kBasicTag + b, MPI_COMM_WORLD);
  }
}

static void end_messages(int64_t round) {
  int count = 0;
  Parcel expected;
  MPI_Status statuses[3];
  if (round % 2 == 0) {
    MPI_Waitall(2, receiving, statuses);
  } else {
    MPI_Recv(got, 1, strided, left_rank, kTag, other, MPI_STATUS_IGNORE);
    MPI_Recv(&got[1], 2, parcel, left_rank, kTag + 1, other, MPI_STATUS_IGNORE);
  }
  MPI_Probe(left_rank, kTag + 2, other, &status);
  MPI_Get_count(&status, parcel, &count);
  need(count == 1, "a probe of a parcel");
  MPI_Recv(&got[4], 1, parcel, MPI_ANY_SOURCE, kTag + 2, other, &status);
  for (int i = 0; i < kParcels; i++) {
    set_parcel(&expected, left_rank, round, i);
    need(same_parcel(&got[i], &expected), "a parcel");
  }
  MPI_Waitall(3, sending, statuses);
  for (int b = 0; b < basic_count; b++) {
    unsigned char wanted[2 * sizeof(long double)], found[2 * sizeof(long double)] = {0};
    if (b % 2 == round % 2) {
      MPI_Status shown;
      MPI_Probe(left_rank, kBasicTag + b, MPI_COMM_WORLD, &shown);
      MPI_Get_elements(&shown, basics[b].type, &count);
      need(count == 2, "a probe of a message of a basic type");
    }
    MPI_Recv(found, 2, basics[b].type, left_rank, kBasicTag + b, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    set_basic(b, left_rank, round, wanted);
    if (basics[b].type == MPI_LONG_DOUBLE) {
      const long double *x = (const long double *)(const void *)wanted, *y = (const long double *)(const void *)found;
      need(same_long_double(&x[0], &y[0]) && same_long_double(&x[1], &y[1]), "a message of long double");
    } else {
      need(memcmp(wanted, found, (size_t)(2 * basics[b].size)) == 0, "a message of a basic type");
    }
  }
  MPI_Get_count(&status, parcel, &count);
  need(status.MPI_SOURCE == left_rank && status.MPI_TAG == kTag + 2 && count == 1, "a status");
}

/* The status of the round before, over the line. */
static void check_status(void) {
  int count = 0;
  if (here < 2) return;
  MPI_Get_count(&status, parcel, &count);
  need(status.MPI_SOURCE == left_rank && status.MPI_TAG == kTag + 2 && count == 1, "the status of the round before");
}

int main(int argc, char **argv) {
  const Option options[] = {{"seed", &seed, 0, 1000000000, 0, "of all values"},
                            {"rounds", &rounds, 1, 1000000000, 0, "how often they change"},
                            {"work", &work, 0, 1000000, 0, "between rounds"},
                            {0}};
  static char buffer[1 << 16];
  char name[MPI_MAX_OBJECT_NAME + 1] = "";
  int length;
  read_options(argc, argv, "Holds and sends values of all of C's types.", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right_rank = (rank + 1) % ranks;
  left_rank = (rank + ranks - 1) % ranks;
  MPI_Buffer_attach(buffer, sizeof buffer);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  make_types();
  for (int i = 0; i < 3; i++) sending[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < 2; i++) receiving[i] = MPI_REQUEST_NULL;
  memset(&status, 0, sizeof status);
  register_types();
  register_messages();
  open_files();
  visit_all(1);
  (void)ELC_Restore();
  while (here < rounds) {
    ELC_Checkpoint();
    visit_all(0);
    check_status();
    use_files();
    if (here > 0) end_messages(here - 1);
    begin_messages(here);
    here++;
    visit_all(1);
    dally_for((uint64_t)work);
  }
  end_messages(here - 1);
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  need(strcmp(name, "MPI_COMM_WORLD") == 0, "its name");
  close_files(rounds);
  report_totals(0, (uint64_t)digest);
  MPI_Buffer_detach(&(void *){NULL}, &(int){0});
  MPI_Comm_free(&other);
  MPI_Type_free(&parcel);
  MPI_Type_free(&strided);
  MPI_Finalize();
  return 0;
}
