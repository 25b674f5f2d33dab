/* shared_files.c - files of MPI that are open while a line is taken. Each scene is one test of tests/mpi/behaviour_test.py.
 *
 *     shared_files SCENE EARLY [DIE]     EARLY: the ranks that act before their checkpoint, a bit for each; the others act
 *                                        behind theirs. DIE: a rank that kills itself when all have written more than the
 *                                        line has, in a run from the start
 *
 * The file is "data", or what DATA says, in the directory of the job. */
#include <elc.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBlock = 5, kMost = 64 };
static const char *lines = ""; /* the directory of the lines */
static char *path = "data";
static int rank, ranks, fresh;
static int out[kMost], in[kMost];
static MPI_File files[2];
static MPI_File own, brief; /* of the set-up: registered nowhere; the second one is gone when the line is taken */
static MPI_Datatype comb = MPI_DATATYPE_NULL;

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "shared_files: rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void nothing(void) {}

static int value(int block, int of, int i) { return 1000 * block + 10 * of + i; }
static MPI_Offset place(int block, int of) { return (MPI_Offset)(block * ranks + of) * kBlock; }
static void fill(int block) {
  for (int i = 0; i < kBlock; i++) out[i] = value(block, rank, i);
}
static void open_file(char *name, int mode, MPI_File *file) {
  check(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, file) == MPI_SUCCESS, "a file that can be opened");
}
static void right_status(MPI_Status *status, int ints) {
  int count;
  MPI_Get_count(status, MPI_INT, &count);
  check(count == ints, "the count of a status");
}

/* What the file has to be in the end: so many blocks of each rank, behind so many bytes. */
static void check_content(const char *name, int head, int blocks) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    FILE *file = fopen(name, "rb");
    int n;
    check(file != NULL && fseek(file, head, SEEK_SET) == 0, "the file");
    for (int block = 0; block < blocks; block++)
      for (int of = 0; of < ranks; of++)
        for (int i = 0; i < kBlock; i++)
          check(fread(&n, sizeof n, 1, file) == 1 && n == value(block, of, i), "what is in the file");
    check(fgetc(file) == EOF, "the end of the file");
    fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}
static int size_in_ints(MPI_File file) {
  MPI_Offset size;
  MPI_File_get_size(file, &size);
  return (int)(size / (MPI_Offset)sizeof(int));
}

/* ---- All write together, at offsets ---- */

static void write_together(MPI_File file, int block) {
  MPI_Status status;
  fill(block);
  MPI_File_write_at_all(file, place(block, rank) * (MPI_Offset)sizeof(int), out, kBlock, MPI_INT, &status);
  right_status(&status, kBlock);
}
static void open_together(void) {
  open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY, &files[0]);
  write_together(files[0], 0);
}
static void act_together(void) { write_together(files[0], 1); }
static void go_on_together(void) {
  if (!fresh) check(size_in_ints(files[0]) <= 2 * ranks * kBlock, "a file as long as in the line");
  MPI_Barrier(MPI_COMM_WORLD);
  write_together(files[0], 2);
  write_together(files[0], 3);
}
static void end_together(void) {
  MPI_File_close(&files[0]);
  check(files[0] == MPI_FILE_NULL, "the handle of a closed file");
  check_content(path, 0, 4);
}

/* ---- In bytes, which are the same on every machine ---- */

static void write_bytes(int block) {
  unsigned char bytes[2 * kBlock];
  MPI_Status status;
  for (int i = 0; i < kBlock; i++) {
    bytes[2 * i] = (unsigned char)(value(block, rank, i) >> 8);
    bytes[2 * i + 1] = (unsigned char)value(block, rank, i);
  }
  MPI_File_write_at_all(files[0], 2 * place(block, rank), bytes, 2 * kBlock, MPI_BYTE, &status);
}
static void open_for_bytes(void) {
  open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY, &files[0]);
  write_bytes(0);
}
static void act_in_bytes(void) { write_bytes(1); }
static void go_on_in_bytes(void) {
  MPI_Offset size;
  MPI_File_get_size(files[0], &size);
  if (!fresh) check(size <= 2 * place(2, 0), "a file as long as in the line");
  MPI_Barrier(MPI_COMM_WORLD);
  write_bytes(2);
}
static void end_bytes(void) {
  MPI_File_close(&files[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    FILE *file = fopen(path, "rb");
    for (int block = 0; block < 3; block++)
      for (int of = 0; of < ranks; of++)
        for (int i = 0; i < kBlock; i++) {
          const int high = fgetc(file), low = fgetc(file);
          check(256 * high + low == value(block, of, i), "what is in the file");
        }
    check(fgetc(file) == EOF, "the end of the file");
    fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- By views and their pointers, in two files ---- */

static void write_in_view(int block) {
  MPI_Status status;
  fill(block);
  MPI_File_write_all(files[0], out, kBlock, MPI_INT, &status);
  right_status(&status, kBlock);
  MPI_File_write(files[1], out, kBlock, MPI_INT, &status);
}
static void open_views(void) {
  /* Of each group of blocks, one of a rank. */
  MPI_Type_vector(3, kBlock, ranks * kBlock, MPI_INT, &comb);
  MPI_Type_commit(&comb);
  open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY, &files[0]);
  open_file("more", MPI_MODE_CREATE | MPI_MODE_WRONLY, &files[1]);
  MPI_File_set_view(files[0], place(0, rank) * (MPI_Offset)sizeof(int), MPI_INT, comb, "native", MPI_INFO_NULL);
  MPI_File_set_view(files[1], 12 + place(0, rank) * (MPI_Offset)sizeof(int), MPI_INT, comb, "native", MPI_INFO_NULL);
  MPI_Type_free(&comb);
  write_in_view(0);
}
static void act_in_views(void) { write_in_view(1); }
static void go_on_in_views(void) {
  MPI_Offset position;
  MPI_File_get_position(files[0], &position);
  check(position == 2 * kBlock, "a position");
  if (!fresh) check(size_in_ints(files[0]) <= 2 * ranks * kBlock, "a file as long as in the line");
  MPI_Barrier(MPI_COMM_WORLD);
  write_in_view(2);
}
static void end_views(void) {
  MPI_File_close(&files[0]);
  MPI_File_close(&files[1]);
  check_content(path, 0, 3);
  check_content("more", 12, 3);
}

/* ---- For reading ---- */

static void read_next(int block) {
  MPI_Status status;
  MPI_File_read_all(files[0], in, kBlock, MPI_INT, &status);
  right_status(&status, kBlock);
  for (int i = 0; i < kBlock; i++) check(in[i] == value(block, rank, i), "what was read");
}
static void open_to_read(void) {
  MPI_File file;
  open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY, &file);
  for (int block = 0; block < 3; block++) write_together(file, block);
  MPI_File_close(&file);
  MPI_Type_vector(3, kBlock, ranks * kBlock, MPI_INT, &comb);
  MPI_Type_commit(&comb);
  open_file(path, MPI_MODE_RDONLY, &files[0]);
  MPI_File_set_view(files[0], place(0, rank) * (MPI_Offset)sizeof(int), MPI_INT, comb, "native", MPI_INFO_NULL);
  read_next(0);
}
static void act_reading(void) { read_next(1); }
static void go_on_reading(void) { read_next(2); }
static void end_reading(void) {
  MPI_File_close(&files[0]);
  MPI_Type_free(&comb);
}

/* ---- Opened by the set-up, which begins with an empty file ---- */

static void open_in_set_up(void) {
  char head[] = "head";
  MPI_Status status;
  int count;
  MPI_File_delete(path, MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY, &own);
  open_file("brief", MPI_MODE_CREATE | MPI_MODE_RDWR, &brief);
  MPI_File_set_size(own, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_File_write(own, head, 4, MPI_CHAR, &status);
  MPI_Get_count(&status, MPI_CHAR, &count);
  check(count == 4, "a status in the set-up");
}
static void write_behind_head(int block) {
  fill(block);
  MPI_File_write_at(own, 4 + place(block, rank) * (MPI_Offset)sizeof(int), out, kBlock, MPI_INT, MPI_STATUS_IGNORE);
}
static void before_own(void) {
  MPI_File_close(&brief);
  if (rank == 0) remove("brief");
  write_behind_head(0);
}
static void act_on_own(void) { write_behind_head(1); }
static void go_on_with_own(void) { write_behind_head(2); }
static void end_own(void) {
  MPI_File_close(&own);
  check_content(path, 4, 3);
}

/* ---- Between the halves of a call no line is taken ---- */

static void no_line_yet(void) {
  for (int i = 0; i < 5; i++) check(*lines == '\0' || !ELC_Checkpoint_now(), "no line in between");
}
static void act_in_halves(void) {
  MPI_Status status;
  fill(1);
  MPI_File_write_at_all_begin(files[0], place(1, rank) * (MPI_Offset)sizeof(int), out, kBlock, MPI_INT);
  if (fresh) no_line_yet();
  MPI_File_write_at_all_end(files[0], out, &status);
#if MPI_VERSION >= 3 /* LAM does not set it */
  right_status(&status, kBlock);
#endif
}
static void act_in_background(void) {
#if MPI_VERSION >= 3
  MPI_Request request;
  fill(1);
  MPI_File_iwrite_at(files[0], place(1, rank) * (MPI_Offset)sizeof(int), out, kBlock, MPI_INT, &request);
  if (fresh) no_line_yet();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
}

/* ---- What is not followed ---- */

static void open_both(void) {
  open_file(path, MPI_MODE_CREATE | MPI_MODE_RDWR, &files[0]);
  write_together(files[0], 0);
}
static void act_shared(void) {
  fill(1);
  if (rank == 0) {
    MPI_File_seek(files[0], 0, MPI_SEEK_SET);
    MPI_File_write_shared(files[0], out, 0, MPI_INT, MPI_STATUS_IGNORE);
  }
  act_together();
}
/* Several at once, which MPICH completes one after the other. */
static void open_to_aggregate(void) {
  MPI_Info hints;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "romio_cb_write", "enable");
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, hints, &files[0]);
  MPI_Info_free(&hints);
  write_together(files[0], 0);
}
static void act_several(void) {
#if MPI_VERSION > 3 || (MPI_VERSION == 3 && MPI_SUBVERSION >= 1)
  MPI_Request requests[kBlock];
  MPI_Status statuses[kBlock];
  fill(1);
  for (int i = 0; i < kBlock; i++) {
    MPI_Offset at = (place(1, rank) + i) * (MPI_Offset)sizeof(int);
    MPI_File_iwrite_at_all(files[0], at, &out[i], 1, MPI_INT, &requests[i]);
  }
  MPI_Waitall(kBlock, requests, statuses);
  for (int i = 0; i < kBlock; i++) right_status(&statuses[i], 1);
#endif
}

/* A file of each rank alone. */
static char own_name[64];
static void write_alone(int block) {
  fill(block);
  MPI_File_write(files[0], out, kBlock, MPI_INT, MPI_STATUS_IGNORE);
}
static void open_alone(void) {
  snprintf(own_name, sizeof own_name, "%s-%d", path, strcmp(path, "data") == 0 ? rank : 0);
  MPI_File_open(MPI_COMM_SELF, own_name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &files[0]);
  MPI_File_set_size(files[0], 0);
  write_alone(0);
}
static void act_alone(void) { write_alone(1); }
static void go_on_alone(void) {
  if (!fresh) check(size_in_ints(files[0]) <= 2 * kBlock, "a file as long as in the line");
  write_alone(2);
}
static void end_alone(void) {
  if (strcmp(path, "data") == 0) check(size_in_ints(files[0]) == 3 * kBlock, "a file of one rank");
  MPI_File_close(&files[0]);
}

/* A file that each rank opens by fopen, and to which one writes, or none. */
static FILE *stream;
static void open_stream(void) {
  stream = ELC_fopen(path, "w");
  check(stream != NULL, "a stream that can be opened");
  MPI_Barrier(MPI_COMM_WORLD);
}
static void act_on_stream(void) {
  if (rank == 0) fputs("before, or behind\n", stream);
}
static void go_on_with_stream(void) {
  if (rank == 1) fputs(fresh ? "                                and more than once\n" : "                  and once\n", stream);
  fflush(stream);
}
static void end_stream(void) {
  char line[64] = "";
  FILE *file;
  ELC_fclose(stream);
  MPI_Barrier(MPI_COMM_WORLD);
  file = fopen(path, "r");
  check(file != NULL && fgets(line, sizeof line, file) != NULL, "the file");
  check(strncmp(line, "before, or behind\n", 18) == 0 || strncmp(line, "                  ", 18) == 0, "the line of one rank or another");
  check(fresh || fgets(line, sizeof line, file) == NULL || strcmp(line, "and once\n") == 0, "the end of the file");
  fclose(file);
}

/* Each writes to it. */
static void act_on_stream_of_all(void) { fputs("each\n", stream); }

/* One has written to it, and closed it. */
static void open_and_close(void) {
  open_stream();
  if (rank != 0) return;
  fputs("one\n", stream);
  ELC_fclose(stream);
  stream = NULL;
}
static void end_closed(void) {
  if (stream != NULL) ELC_fclose(stream);
}

static const struct Scene {
  const char *name;
  void (*set_up)(void), (*before)(void), (*act)(void), (*go_on)(void), (*end)(void);
} scenes[] = {
    {"together", nothing, open_together, act_together, go_on_together, end_together},
    {"bytes", nothing, open_for_bytes, act_in_bytes, go_on_in_bytes, end_bytes},
    {"views", nothing, open_views, act_in_views, go_on_in_views, end_views},
    {"reading", nothing, open_to_read, act_reading, go_on_reading, end_reading},
    {"set_up", open_in_set_up, before_own, act_on_own, go_on_with_own, end_own},
    {"halves", nothing, open_together, act_in_halves, go_on_together, end_together},
    {"background", nothing, open_together, act_in_background, go_on_together, end_together},
    {"alone", nothing, open_alone, act_alone, go_on_alone, end_alone},
    {"both", nothing, open_both, act_together, go_on_together, end_together},
    {"shared", nothing, open_together, act_shared, go_on_together, end_together},
    {"several", nothing, open_to_aggregate, act_several, go_on_together, end_together},
    {"stream", nothing, open_stream, act_on_stream, go_on_with_stream, end_stream},
    {"stream_of_all", nothing, open_stream, act_on_stream_of_all, nothing, end_closed},
    {"stream_closed", nothing, open_and_close, nothing, nothing, end_closed},
};

/* Whether the line asked for has ended, which may be with a refusal. */
static int over(void) {
  char refused[4096];
  snprintf(refused, sizeof refused, "%s/refused", lines);
  return ELC_Line() > 0 || access(refused, F_OK) == 0;
}

int main(int argc, char **argv) {
  const struct Scene *scene = NULL;
  unsigned before;
  int early, die = argc > 3 ? atoi(argv[3]) : -1;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    if (argc > 2 && strcmp(argv[1], scenes[i].name) == 0) scene = &scenes[i];
  if (getenv("ELC_DIR") != NULL) lines = getenv("ELC_DIR");
  if (getenv("DATA") != NULL) path = getenv("DATA");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(scene != NULL, "the arguments");
  early = atoi(argv[2]) >> rank & 1;
  files[0] = files[1] = MPI_FILE_NULL;
  scene->set_up();
  ELC_VAR(in);
  ELC_VAR(out);
  ELC_MPIFILE(files);
  ELC_DATATYPE(comb);
  ELC_FILEVAR(stream);
  fresh = ELC_Restore() == ELC_FRESH;
  if (fresh && scene->set_up == nothing) {
    if (rank == 0) remove(path);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (fresh) scene->before();
  if (fresh && early) scene->act();
  while (fresh && *lines != '\0' && !ELC_Checkpoint_now() && !over()) continue;
  if (!early) scene->act();
  while (fresh && *lines != '\0' && !over()) ELC_Checkpoint();
  scene->go_on();
  MPI_Barrier(MPI_COMM_WORLD);
  if (fresh && rank == die) raise(SIGKILL);
  scene->end();
  before = fresh ? 0 : ELC_Line();
  while (*lines != '\0' && ELC_Line() == before) ELC_Checkpoint_now();
  if (rank == 0) printf("result: ok\n");
  MPI_Finalize();
  return 0;
}
