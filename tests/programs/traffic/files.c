/* files.c - files of MPI: one from the set-up on, and others that come and go. */
#include "traffic.h"

static MPI_File files[kSlots], lasting_file; /* TRAFFIC_FILE names them; without it nothing is written */
static const char *file_name;

enum { kFileBytes = 8 };

/* Bytes, because a file has the numbers of the machine that wrote it. */
static void fill_bytes(long k, unsigned char *bytes) {
  const uint64_t value = mix(ask(k, 31), (uint64_t)rank);
  for (int i = 0; i < kFileBytes; i++) bytes[i] = (unsigned char)(value >> 8 * i);
}
static int has_own_file(long k) { return ask(k, 30) % 3 != 0; }
/* Of those, some are written through a view, half of it at the beginning and half of it at the end. */
static int has_view(long k) { return ask(k, 30) % 3 == 2; }
static void name_file(long k, char *name, size_t size) { snprintf(name, size, "%s-%d", file_name, slot(k)); }
/* Of each operation another one: what a line has is not overwritten behind it, also where a file of that name comes again (elc.3). */
static MPI_Offset place_in_file(long k) { return (MPI_Offset)(k * ranks + rank) * kFileBytes; }

/* What this process has written. */
static void check_file(long k, const char *name) {
  unsigned char right[kFileBytes], found[kFileBytes];
  FILE *file = fopen(name, "rb");
  fill_bytes(k, right);
  if (file == NULL || fseek(file, (long)place_in_file(k), SEEK_SET) != 0 || fread(found, 1, kFileBytes, file) != kFileBytes ||
      memcmp(found, right, kFileBytes) != 0)
    fail(k, "what was written to a file is not there");
  fclose(file);
}

static void write_file(long k, MPI_File file) {
  unsigned char bytes[kFileBytes];
  MPI_Status status;
  const MPI_Offset place = place_in_file(k);
  fill_bytes(k, bytes);
  switch (ask(k, 32) % 5) {
    case 0: MPI_File_write_at(file, place, bytes, kFileBytes, MPI_BYTE, &status); break;
    case 1: MPI_File_write_at_all(file, place, bytes, kFileBytes, MPI_BYTE, &status); break;
    case 2:
      MPI_File_seek(file, place, MPI_SEEK_SET);
      MPI_File_write_all(file, bytes, kFileBytes, MPI_BYTE, &status);
      break;
#if MPI_VERSION >= 3
    case 3:
      if (mpi3) {
        MPI_Request request;
        MPI_File_iwrite_at(file, place, bytes, kFileBytes, MPI_BYTE, &request);
        ELC_Checkpoint(); /* a line waits until it is complete */
        MPI_Wait(&request, &status);
        break;
      }
#endif
      /* fall through */
    default:
      MPI_File_write_at_all_begin(file, place, bytes, kFileBytes, MPI_BYTE);
      ELC_Checkpoint();
      MPI_File_write_at_all_end(file, bytes, &status);
  }
}

static void write_half(long k, int second) {
  unsigned char bytes[kFileBytes];
  MPI_Status status;
  fill_bytes(k, bytes);
  if (ask(k, 32) % 2 == 0) MPI_File_write(files[slot(k)], bytes + second * kFileBytes / 2, kFileBytes / 2, MPI_BYTE, &status);
  else MPI_File_write_all(files[slot(k)], bytes + second * kFileBytes / 2, kFileBytes / 2, MPI_BYTE, &status);
}

void begin_file(long k) {
  char name[4096];
  if (file_name == NULL) return;
  if (!has_own_file(k)) {
    write_file(k, lasting_file);
    return;
  }
  name_file(k, name, sizeof name);
  if (MPI_File_open(comm_of(k), name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &files[slot(k)]) != MPI_SUCCESS)
    fail(k, "a file cannot be opened");
  if (!has_view(k)) return;
  MPI_File_set_view(files[slot(k)], place_in_file(k), MPI_BYTE, MPI_BYTE, (char *)"native", MPI_INFO_NULL);
  write_half(k, 0);
}

void end_file(long k) {
  char name[4096];
  if (file_name == NULL || !has_own_file(k)) return;
  name_file(k, name, sizeof name);
  if (has_view(k)) write_half(k, 1);
  else write_file(k, files[slot(k)]);
  MPI_File_close(&files[slot(k)]);
  check_file(k, name);
}

/* ---- One that the set-up writes, which is read ---- */

enum { kReadBytes = 4000, kBlockBytes = 7 };
static unsigned char byte_at(long place) { return (unsigned char)(mix((uint64_t)seed, (uint64_t)place) >> 5); }
static void name_read_file(char *name, size_t size) { snprintf(name, size, "%s-read", file_name); }

static void read_block(long k, int second) {
  unsigned char bytes[kBlockBytes];
  MPI_Status status;
  MPI_Offset place;
  int count;
  if (ask(k, 32) % 2 == 0) MPI_File_read(files[slot(k)], bytes, kBlockBytes, MPI_BYTE, &status);
  else MPI_File_read_all(files[slot(k)], bytes, kBlockBytes, MPI_BYTE, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  MPI_File_get_position(files[slot(k)], &place);
  if (count != kBlockBytes || place != (second + 1) * kBlockBytes) fail(k, "a read of another length");
  place = (MPI_Offset)(ask(k, 31) % 1000) + rank;
  for (int i = 0; i < kBlockBytes; i++) {
    const long at = (long)place + second * kBlockBytes + i;
    if (bytes[i] != byte_at(at)) fail(k, "what was read from a file");
  }
}

void begin_read(long k) {
  char name[4096];
  if (file_name == NULL) return;
  name_read_file(name, sizeof name);
  if (MPI_File_open(comm_of(k), name, MPI_MODE_RDONLY, MPI_INFO_NULL, &files[slot(k)]) != MPI_SUCCESS)
    fail(k, "a file cannot be opened for reading");
  MPI_File_set_view(files[slot(k)], (MPI_Offset)(ask(k, 31) % 1000) + rank, MPI_BYTE, MPI_BYTE, (char *)"native", MPI_INFO_NULL);
  read_block(k, 0);
}

void end_read(long k) {
  if (file_name == NULL) return;
  read_block(k, 1);
  MPI_File_close(&files[slot(k)]);
}

static void write_read_file(void) {
  char name[4096];
  FILE *file;
  name_read_file(name, sizeof name);
  file = fopen(name, "r+b");
  if (file == NULL) file = fopen(name, "wb");
  for (long i = 0; file != NULL && i < kReadBytes; i++) fputc(byte_at(i), file);
  if (file == NULL || fclose(file) != 0) fail(0, "the file to be read cannot be written");
}

void set_up_files(void) {
  for (int i = 0; i < kSlots; i++) files[i] = MPI_FILE_NULL;
  file_name = getenv("TRAFFIC_FILE");
  if (file_name == NULL) return;
  if (rank == 0) write_read_file();
  if (rank == 0) MPI_File_delete((char *)file_name, MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (MPI_File_open(MPI_COMM_WORLD, (char *)file_name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &lasting_file) !=
      MPI_SUCCESS)
    fail(0, "the file cannot be opened");
}

void close_files(void) {
  if (file_name == NULL) return;
  MPI_File_close(&lasting_file);
  for (long k = 0; k < operations; k++)
    if (kind_of(k) == kFileKind && !has_own_file(k)) check_file(k, file_name);
}

void register_files(void) { ELC_MPIFILE(files); }
