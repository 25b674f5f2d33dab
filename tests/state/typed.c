/* The typed macros as a program uses them, in C11, C99 and the C of 1989. Built with all warnings as errors. */
#include "typed.h"

#include <complex.h>
#include <stdbool.h>
#include <string.h>

#include "elc.h"

enum color { RED, GREEN, BLUE };
struct item {
  short tag;
  double place[2][3];
  enum color color;
  int64_t big;
  struct item *next;
};

static bool flag;
static char letter;
static signed char small_signed;
static unsigned char small_unsigned;
static long a_long;
static long long a_long_long;
static int64_t an_int64;
static size_t a_size;
static wchar_t wide;
static enum color color;
static long double precise;
static double complex number;
static float one_dimension[5];
static int two[2][3];
static char three[2][3][4];
static unsigned long four[2][3][4][5];
static double one[1];
static struct item item;
static double *pointer;
static double *pointers[3];
static struct item *linked;
static void *any;

/* The last byte of every variable is set to `value`, or counted if it is that. */
static int touch(void *memory, size_t size, int value, int set) {
  unsigned char *last = (unsigned char *)memory + size - 1;
  if (set) *last = (unsigned char)value;
  return *last == value;
}

int typed_touch(int value, int set) {
  int n = 0;
  n += touch(&flag, sizeof flag, value != 0, set);
  n += touch(&letter, sizeof letter, value, set);
  n += touch(&small_signed, sizeof small_signed, value, set);
  n += touch(&small_unsigned, sizeof small_unsigned, value, set);
  n += touch(&a_long, sizeof a_long, value, set);
  n += touch(&a_long_long, sizeof a_long_long, value, set);
  n += touch(&an_int64, sizeof an_int64, value, set);
  n += touch(&a_size, sizeof a_size, value, set);
  n += touch(&wide, sizeof wide, value, set);
  n += touch(&color, sizeof color, value, set);
  n += touch(&number, sizeof number, value, set);
  n += touch(one_dimension, sizeof one_dimension, value, set);
  n += touch(two, sizeof two, value, set);
  n += touch(three, sizeof three, value, set);
  n += touch(four, sizeof four, value, set);
  n += touch(one, sizeof one, value, set);
  n += touch(&item.big, sizeof item.big, value, set);
  n += touch(item.place, sizeof item.place, value, set);
  return n;
}

int typed_register(void) {
  int errors = 0;
  ELC_Field fields[] = {ELC_FIELD(struct item, tag), ELC_FIELD(struct item, place), ELC_FIELD(struct item, color),
                        ELC_FIELD(struct item, big), ELC_POINTER_FIELD(struct item, next)};
  const ELC_Type type = ELC_Struct("struct item", sizeof(struct item), 5, fields);
  errors += ELC_VAR(flag) != ELC_OK;
  errors += ELC_VAR(letter) != ELC_OK;
  errors += ELC_VAR(small_signed) != ELC_OK;
  errors += ELC_VAR(small_unsigned) != ELC_OK;
  errors += ELC_VAR(a_long) != ELC_OK;
  errors += ELC_VAR(a_long_long) != ELC_OK;
  errors += ELC_VAR(an_int64) != ELC_OK;
  errors += ELC_VAR(a_size) != ELC_OK;
  errors += ELC_VAR(wide) != ELC_OK;
  errors += ELC_VAR(color) != ELC_OK;
  errors += ELC_VAR(precise) != ELC_OK;
  errors += ELC_VAR(number) != ELC_OK;
  errors += ELC_VAR(one_dimension) != ELC_OK;
  errors += ELC_VAR(two) != ELC_OK;
  errors += ELC_VAR(three) != ELC_OK;
  errors += ELC_VAR(four) != ELC_OK;
  errors += ELC_VAR(one) != ELC_OK;
  errors += ELC_STRUCT(item, type) != ELC_OK;
  errors += ELC_PTR(pointer) != ELC_OK;
  errors += ELC_PTR(pointers) != ELC_OK;
  errors += ELC_PTR(linked) != ELC_OK;
  errors += ELC_PTR(any) != ELC_OK;
  return errors;
}

double ***typed_rows(int make) {
  static double **rows;
  int i, k;
  if (make) {
    rows = ELC_malloc(2 * sizeof *rows);
    for (i = 0; i < 2; i++) rows[i] = ELC_malloc(3 * sizeof **rows);
    for (i = 0; i < 2; i++)
      for (k = 0; k < 3; k++) rows[i][k] = 10 * i + k;
  }
  return ELC_PTR(rows) == ELC_OK ? &rows : 0;
}

int typed_types(void) {
  const int64_t i64 = 0;
  double vla[3];
  float(*rows)[4] = 0;
  int errors = 0;
  (void)i64;
  errors += ELC_TYPE_OF(flag) != ELC_BOOL;
  errors += ELC_TYPE_OF(letter) != ELC_CHAR;
  errors += ELC_TYPE_OF(small_signed) != ELC_SCHAR;
  errors += ELC_TYPE_OF(small_unsigned) != ELC_UCHAR;
  errors += ELC_TYPE_OF(a_long) != ELC_LONG;
  errors += ELC_TYPE_OF(a_long_long) != ELC_LLONG;
  errors += ELC_TYPE_OF(an_int64) != ELC_LONG && ELC_TYPE_OF(an_int64) != ELC_LLONG;
  errors += ELC_Sizeof(ELC_TYPE_OF(a_size)) != sizeof(size_t);
  errors += ELC_Sizeof(ELC_TYPE_OF(wide)) != sizeof(wchar_t);
  errors += ELC_Sizeof(ELC_TYPE_OF(color)) != sizeof(enum color);
  errors += ELC_TYPE_OF(precise) != ELC_LDOUBLE;
  errors += ELC_TYPE_OF(number) != ELC_DOUBLE_COMPLEX;
  errors += ELC_TYPE_OF(two) != ELC_INT;
  errors += ELC_TYPE_OF(four) != ELC_ULONG;
  errors += ELC_TYPE_OF(vla) != ELC_DOUBLE;
  errors += ELC_TYPE_OF(*rows) != ELC_FLOAT;
  return errors;
}

#if defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
/* A function that is inline and not static may call nothing that is static. */
inline int typed_inline(int n) {
  int x = n;
  ELC_ENTER();
  ELC_VAR(x);
  ELC_RESUME();
  x++;
  ELC_END();
  ELC_Leave();
  return x;
}
extern int typed_inline(int n);
#endif
