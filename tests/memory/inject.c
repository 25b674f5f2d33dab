#include "inject.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__real_realloc(void *old, size_t size);
void *__real_calloc(size_t count, size_t size);
void __real_free(void *memory);

static int known, counts, once, length, wanted_step; /* the wish */
static long wanted;                         /* allocation of that step; 0: none */
static long calls, failures;                /* in this step; in all */
static int full, begun, steps, now = -1;
static size_t free_bytes;

static void report(const char *what) {
  char line[120];
  int size = snprintf(line, sizeof line, "memory: %s in step %d, allocation %ld, %ld failures\n", what, now, calls, failures);
  if (write(STDERR_FILENO, line, (size_t)size) < 0) return;
}

/* Before MPI_Init there is no other way to know it. */
static int own_rank(void) {
  static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "LAMRANK"};
  for (int i = 0; i < 3; i++)
    if (getenv(names[i]) != NULL) return atoi(getenv(names[i]));
  return 0;
}

static void read_wish(void) {
  const char *wish = getenv("ELC_TEST_MEMORY");
  int rank = 0;
  known = 1;
  if (wish == NULL) return;
  once = strncmp(wish, "once:", 5) == 0;
  counts = strcmp(wish, "count") == 0;
  if (counts || sscanf(wish + 5, "%d:%d:%ld:%d", &rank, &wanted_step, &wanted, &length) < 3 || rank != own_rank()) wanted = 0;
}

/* Whether so many bytes more can be had. */
static int there_is(size_t more) {
  if (!known) read_wish();
  calls++;
  if (now == wanted_step && calls == wanted) {
    begun = 1;
    full = !once;
    failures += once;
    report("gone");
    if (once) return 0;
  }
  if (!full || more <= free_bytes) return 1;
  failures++;
  return 0;
}

void *__wrap_realloc(void *old, size_t size) {
  const size_t before = old == NULL ? 0 : malloc_usable_size(old);
  void *memory;
  if (!there_is(size > before ? size - before : 0)) {
    errno = ENOMEM;
    return NULL;
  }
  memory = __real_realloc(old, size);
  if (full && memory != NULL) {
    const size_t after = malloc_usable_size(memory);
    free_bytes += before;
    free_bytes -= after < free_bytes ? after : free_bytes;
  }
  return memory;
}

/* The library's is large; what the program makes by ELC_new is not. */
void *__wrap_calloc(size_t count, size_t size) {
  void *memory;
  if (size >= 65536 && !there_is(size)) {
    errno = ENOMEM;
    return NULL;
  }
  memory = __real_calloc(count, size);
  if (full && size >= 65536 && memory != NULL) free_bytes -= size < free_bytes ? size : free_bytes;
  return memory;
}

void __wrap_free(void *memory) {
  if (full && memory != NULL) free_bytes += malloc_usable_size(memory);
  __real_free(memory);
}

void memory_back(void) {
  if (full) report("back");
  full = 0;
}

void memory_step(int step) {
  if (counts) report("counted");
  now = step;
  calls = 0;
  if (full && length > 0 && ++steps > length) memory_back();
}

__attribute__((destructor)) static void at_end(void) {
  if (counts || begun) report(counts ? "counted" : "end");
}
