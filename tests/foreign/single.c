/* single.c - all of C's types in one process without MPI, for processors that Debian has a compiler for but no MPI
 * (tests/foreign/odd).
 *
 *     single save FILE SEED       saves them
 *     single restore FILE SEED    restores them from a file of any machine, and compares */
#include "../programs/all_types.h"

/* single_line.cc: nonzero if it could be done. */
int save_line(const char *path);
int restore_line(const char *path);

static void fail(const char *what) {
  fprintf(stderr, "single: wrong: %s\n", what);
  exit(3);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "single save|restore FILE SEED\n");
    return 2;
  }
  const int restores = strcmp(argv[1], "restore") == 0;
  seed = atol(argv[3]);
  said = stdout;
  register_types();
  if (restores) {
    here = 1000;
    visit_all(1);
    if (!restore_line(argv[2])) return 1;
    need(here == 7, "the round");
    visit_all(0);
    need(said == stdout, "stdout");
    print_result(digest);
    return 0;
  }
  here = 7;
  visit_all(1);
  return save_line(argv[2]) ? 0 : 1;
}
