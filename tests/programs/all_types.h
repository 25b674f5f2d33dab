/* all_types.h - variables, arrays and structs of all of C's types, bit-fields, unions, pointers of every kind, functions
 * and streams, whose values follow from a seed, a rank and a round. Integers keep to 32 bits where some machine has
 * no more; a long double holds what a double can. For a program that defines fail(). */
#ifndef TESTS_ALL_TYPES_H
#define TESTS_ALL_TYPES_H

#include <complex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "../../bench/common.h"
#include "mix.h"
#include "more_plain.h"

enum { kRows = 2, kColumns = 3, kRecords = 3, kNumbers = 6, kBytes = 11 };

static long seed = 1;
static int rank;
static int64_t here; /* the round */
static Digest digest = DIGEST_START;

static void fail(const char *what); /* says what is wrong, and ends the program */

/* Name, type, bits (those that all machines have), whether it has a sign. */
#define INTEGERS(X)                                                                                                 \
  X(boolean, bool, 1, 0) X(character, char, 8, 0) X(schar, signed char, 8, 1) X(uchar, unsigned char, 8, 0)           \
  X(small, short, 16, 1) X(usmall, unsigned short, 16, 0) X(whole, int, 32, 1) X(uwhole, unsigned, 32, 0)             \
  X(large, long, 32, 1) X(ularge, unsigned long, 32, 0) X(huge, long long, 64, 1)                                     \
  X(uhuge, unsigned long long, 64, 0) X(wide, wchar_t, 31, 0) X(size, size_t, 32, 0) X(difference, ptrdiff_t, 32, 1)  \
  X(i8, int8_t, 8, 1) X(u8, uint8_t, 8, 0) X(i16, int16_t, 16, 1) X(u16, uint16_t, 16, 0) X(i32, int32_t, 32, 1)      \
  X(u32, uint32_t, 32, 0) X(i64, int64_t, 64, 1) X(u64, uint64_t, 64, 0)
#define REALS(X)                                                                                             \
  X(single, float, set_float) X(real, double, set_double) X(extended, long double, set_long_double)            \
  X(zsingle, float complex, set_float_complex) X(zreal, double complex, set_double_complex)                    \
  X(zextended, long double complex, set_long_double_complex)

typedef enum Colour { kRed = -3, kGreen, kBlue = 100000 } Colour;
typedef double (*Function)(double);

struct Inner {
  short first;
  long long second;
  char text[5];
};

typedef struct Bits {
  unsigned low : 3;
  int signed_one : 5;
  double between;
  unsigned many : 17;
  bool flag : 1;
} Bits;

typedef struct Node {
  int32_t value;
  char pad;
  struct Node *next, *across;
} Node;

typedef struct Record {
  char padded;
#define FIELD(name, type, ...) type name;
#define FIELDS(name, type, ...) type name##s[kRows][kColumns];
  INTEGERS(FIELD)
  char more;
  REALS(FIELD)
  struct Inner inner[2];
  INTEGERS(FIELDS)
  REALS(FIELDS)
  Colour colour;
  Bits bits;
  int which;
  union Some {
    int64_t number;
    double real;
    struct Inner inner;
    int *pointer;
  } some;
  Function function;
  Node *node;
  struct Record *other;
  long double *inside;
} Record;

/* ---- The state ------------------------------------------------------------------------------- */

#define VARIABLE(name, type, ...) static type name, name##s[kRows][kColumns];
INTEGERS(VARIABLE)
REALS(VARIABLE)
static Colour colour;
static Record records[kRecords + 1]; /* the last: so that one past the end is nothing else */
static Bits flags[3];
static Function function;
static Node *list;
static int ring_length;
static int numbers[kNumbers + 1], *to_number, *past_end, **to_pointer, *nothing;
static void *to_middle;
static long long *to_inner;
static unsigned char *to_byte, raw[kBytes + 1];
static double *field;
static FILE *input, *output, *said;
static int seen; /* numbers that were read */

static double half(double x) { return x / 2; }
static double twice(double x) { return x * 2; }
static double negative(double x) { return -x; }
static const Function kFunctions[] = {half, twice, negative, NULL};

static int active(const void *some, const void *record) {
  (void)some;
  return ((const Record *)record)->which % 5 - 1;
}

#ifndef ELC_PLAIN
ELC_BITS(bits_low, Bits, low)
ELC_BITS(bits_signed_one, Bits, signed_one)
ELC_BITS(bits_many, Bits, many)
ELC_BITS(bits_flag, Bits, flag)

static ELC_Type node_type;

static void register_types(void) {
  const ELC_Type inner_type = ELC_Struct("struct Inner", sizeof(struct Inner), 3,
                                         (ELC_Field[]){ELC_FIELD(struct Inner, first), ELC_FIELD(struct Inner, second),
                                                       ELC_FIELD(struct Inner, text)});
  const ELC_Type bits_type = ELC_Struct(
      "Bits", sizeof(Bits), 5,
      (ELC_Field[]){ELC_BITS_FIELD(low, bits_low, ELC_UINT), ELC_BITS_FIELD(signed_one, bits_signed_one, ELC_INT),
                    ELC_FIELD(Bits, between), ELC_BITS_FIELD(many, bits_many, ELC_ULONG),
                    ELC_BITS_FIELD(flag, bits_flag, ELC_BOOL)});
  const ELC_Type some_type = ELC_Union(
      "union Some", sizeof(union Some), 4,
      (ELC_Field[]){ELC_FIELD(union Some, number), ELC_FIELD(union Some, real),
                    ELC_TYPED_FIELD(union Some, inner, inner_type), ELC_POINTER_FIELD(union Some, pointer)},
      active);
#define ITS_FIELD(name, ...) ELC_FIELD(Record, name),
#define ITS_FIELDS(name, ...) ELC_FIELD(Record, name##s),
  const ELC_Field fields[] = {ELC_FIELD(Record, padded),
                              INTEGERS(ITS_FIELD) ELC_FIELD(Record, more),
                              REALS(ITS_FIELD) ELC_TYPED_FIELD(Record, inner, inner_type),
                              INTEGERS(ITS_FIELDS) REALS(ITS_FIELDS) ELC_FIELD(Record, colour),
                              ELC_TYPED_FIELD(Record, bits, bits_type),
                              ELC_FIELD(Record, which),
                              ELC_TYPED_FIELD(Record, some, some_type),
                              ELC_TYPED_FIELD(Record, function, ELC_FUNCTION),
                              ELC_POINTER_FIELD(Record, node),
                              ELC_POINTER_FIELD(Record, other),
                              ELC_POINTER_FIELD(Record, inside)};
  const ELC_Type record_type = ELC_Struct("Record", sizeof(Record), sizeof fields / sizeof fields[0], fields);
  node_type = ELC_Struct("Node", sizeof(Node), 4,
                         (ELC_Field[]){ELC_FIELD(Node, value), ELC_FIELD(Node, pad), ELC_POINTER_FIELD(Node, next),
                                       ELC_POINTER_FIELD(Node, across)});
#define REGISTER(name, ...) ELC_VAR(name); ELC_VAR(name##s);
  INTEGERS(REGISTER)
  REALS(REGISTER)
  ELC_VAR(here);
  ELC_VAR(digest);
  ELC_VAR(colour);
  ELC_Register("records", records, record_type, kRecords);
  ELC_STRUCT(flags, bits_type);
  ELC_Register("function", &function, ELC_FUNCTION, 1);
  ELC_PTR(list);
  ELC_VAR(ring_length);
  ELC_ARRAY(numbers, kNumbers);
  ELC_PTR(to_number);
  ELC_PTR(past_end);
  ELC_PTR(to_pointer);
  ELC_PTR(nothing);
  ELC_PTR(to_middle);
  ELC_PTR(to_inner);
  ELC_PTR(to_byte);
  ELC_ARRAY(raw, kBytes);
  ELC_PTR(field);
  ELC_FILEVAR(input);
  ELC_FILEVAR(output);
  ELC_FILEVAR(said);
  ELC_VAR(seen);
  ELC_FUNC(half);
  ELC_FUNC(twice);
  ELC_FUNC(negative);
}
#else
#define node_type sizeof(Node)
static void register_types(void) { (void)active; }
#endif

/* ---- Values: what number `k` of a process is in a round ----------------------------------------- */

static uint64_t value_of(int whose, int64_t round, int k) {
  return mix(mix((uint64_t)seed, (uint64_t)round * 1000 + (uint64_t)k), (uint64_t)whose);
}

static uint64_t integer_of(uint64_t value, int bits, int has_sign) {
  const int64_t up = (int64_t)(value << (64 - bits));
  if (!has_sign) return (uint64_t)up >> (64 - bits);
  return (uint64_t)(up < 0 ? ~(~up >> (64 - bits)) : up >> (64 - bits));
}

/* Special ones among them: zeros, infinities, quiet and signalling NaNs with payloads, denormals, the largest. */
static void set_float(float *to, uint64_t value) {
  static const uint32_t kSpecial[] = {0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc12345u, 0xffa54321u, 1u,
                                      0x807fffffu, 0x7f7fffffu, 0x00800000u, 0u};
  uint32_t bits = value % 4 == 0 ? kSpecial[(value >> 8) % 10] : (uint32_t)(value >> 20) & 0xbfffffffu;
  memcpy(to, &bits, sizeof bits);
}
static uint64_t double_bits(uint64_t value, int nan) {
  static const uint64_t kSpecial[] = {0x8000000000000000u, 0x7ff0000000000000u, 0xfff0000000000000u, 1u,
                                      0x800fffffffffffffu, 0x7fefffffffffffffu, 0x0010000000000000u, 0u,
                                      0x7ff8000012345678u, 0xfff4321000000001u};
  return value % 4 == 0 ? kSpecial[(value >> 8) % (nan ? 10 : 8)] : value & 0xbfffffffffffffffu;
}
static void set_double(double *to, uint64_t value) {
  const uint64_t bits = double_bits(value, 1);
  memcpy(to, &bits, sizeof bits);
}
static void set_long_double(long double *to, uint64_t value) {
  double from;
  const uint64_t bits = double_bits(value, 0);
  memcpy(&from, &bits, sizeof from);
  *to = from;
}
#define COMPLEX_SETTER(name, part, complex_type)                  \
  static void name##_complex(complex_type *to, uint64_t value) {  \
    part *parts = (part *)to;                                     \
    name(&parts[0], value);                                       \
    name(&parts[1], mix(value, 1));                               \
  }
COMPLEX_SETTER(set_float, float, float complex)
COMPLEX_SETTER(set_double, double, double complex)
COMPLEX_SETTER(set_long_double, long double, long double complex)

static void need(int right, const char *what) {
  if (!right) fail(what);
}

/* Equal in all bits that mean something; long doubles in value and sign. */
#define same_float(a, b) (memcmp(a, b, sizeof(float)) == 0)
#define same_double(a, b) (memcmp(a, b, sizeof(double)) == 0)
static int same_long_double(const long double *a, const long double *b) {
  const double x = (double)*a, y = (double)*b;
  return *a == *b && memcmp(&x, &y, sizeof x) == 0;
}

/* Each thing is visited in the same way to be given its value (`set`) or to be compared with it. */
static int set_now;
static int next_k;

static void visit_integer(uint64_t expected, uint64_t found, const char *name) {
  digest_integer(&digest, (int64_t)found);
  need(expected == found, name);
}
#define VISIT_INTEGER_AT(x, type, bits, has_sign, name)                                                    \
  do {                                                                                                     \
    const uint64_t expected = integer_of(value_of(rank, here, next_k++), bits, has_sign);                  \
    if (set_now) (x) = (type)expected;                                                                     \
    else visit_integer(expected, bits == 8 && !(has_sign) ? (unsigned char)(x) : (uint64_t)(x), name);     \
  } while (0)
#define VISIT_REAL_AT(x, type, setter, name)                                   \
  do {                                                                         \
    type expected;                                                             \
    setter(&expected, value_of(rank, here, next_k++));                         \
    if (set_now) memcpy(&(x), &expected, sizeof expected);                     \
    else need(same_##setter(&(x), &expected), name);                           \
  } while (0)
#define same_set_float same_float
#define same_set_double same_double
#define same_set_long_double same_long_double
#define same_set_float_complex(a, b) (memcmp(a, b, 2 * sizeof(float)) == 0)
#define same_set_double_complex(a, b) (memcmp(a, b, 2 * sizeof(double)) == 0)
#define same_set_long_double_complex(a, b)                                   \
  (same_long_double((const long double *)(a), (const long double *)(b)) &&  \
   same_long_double((const long double *)(a) + 1, (const long double *)(b) + 1))
#define EACH(array, n, m, VISIT, ...)   \
  for (int i = 0; i < (n); i++)         \
    for (int j = 0; j < (m); j++) VISIT((array)[i][j], __VA_ARGS__);

static void visit_inner(struct Inner *x) {
  VISIT_INTEGER_AT(x->first, short, 16, 1, "Inner.first");
  VISIT_INTEGER_AT(x->second, long long, 64, 1, "Inner.second");
  for (int i = 0; i < 5; i++) VISIT_INTEGER_AT(x->text[i], char, 8, 0, "Inner.text");
}

static void visit_bits(Bits *x) {
  VISIT_INTEGER_AT(x->low, unsigned, 3, 0, "Bits.low");
  VISIT_INTEGER_AT(x->signed_one, int, 5, 1, "Bits.signed_one");
  VISIT_REAL_AT(x->between, double, set_double, "Bits.between");
  VISIT_INTEGER_AT(x->many, unsigned, 17, 0, "Bits.many");
  VISIT_INTEGER_AT(x->flag, bool, 1, 0, "Bits.flag");
}

static Node *node_at(int n) {
  Node *node = list;
  while (n-- > 0) node = node->next;
  return node;
}

/* Sets a pointer to its place, or looks whether it is there. */
#define VISIT_POINTER(p, place, name)        \
  do {                                       \
    if (set_now) (p) = (place);              \
    else need((p) == (place), name);         \
  } while (0)

static void visit_record(Record *x) {
  VISIT_INTEGER_AT(x->padded, char, 8, 0, "Record.padded");
#define VISIT_FIELD(name, type, bits, has_sign) VISIT_INTEGER_AT(x->name, type, bits, has_sign, "Record." #name);
#define VISIT_REAL_FIELD(name, type, setter) VISIT_REAL_AT(x->name, type, setter, "Record." #name);
#define VISIT_FIELDS(name, type, bits, has_sign) \
  EACH(x->name##s, kRows, kColumns, VISIT_INTEGER_AT, type, bits, has_sign, "Record." #name "s")
#define VISIT_REAL_FIELDS(name, type, setter) \
  EACH(x->name##s, kRows, kColumns, VISIT_REAL_AT, type, setter, "Record." #name "s")
  INTEGERS(VISIT_FIELD)
  REALS(VISIT_REAL_FIELD)
  visit_inner(&x->inner[0]);
  visit_inner(&x->inner[1]);
  INTEGERS(VISIT_FIELDS)
  REALS(VISIT_REAL_FIELDS)
  VISIT_INTEGER_AT(x->more, char, 8, 0, "Record.more");
  const int k = (int)(value_of(rank, here, next_k++) % 1000);
  VISIT_POINTER(x->colour, k % 3 == 0 ? kRed : k % 3 == 1 ? kGreen : kBlue, "Record.colour");
  visit_bits(&x->bits);
  VISIT_POINTER(x->which, k % 5, "Record.which");
  switch (k % 5 - 1) {
    case 0: VISIT_INTEGER_AT(x->some.number, int64_t, 64, 1, "Record.some.number"); break;
    case 1: VISIT_REAL_AT(x->some.real, double, set_double, "Record.some.real"); break;
    case 2: visit_inner(&x->some.inner); break;
    case 3: VISIT_POINTER(x->some.pointer, &numbers[k % kNumbers], "Record.some.pointer"); break;
    default: break;
  }
  VISIT_POINTER(x->function, kFunctions[k % 4], "Record.function");
  VISIT_POINTER(x->node, node_at(k % ring_length), "Record.node");
  VISIT_POINTER(x->other, k % 7 == 0 ? &records[kRecords] : &records[k % kRecords], "Record.other");
  VISIT_POINTER(x->inside, &records[k % kRecords].extendeds[1][k % kColumns], "Record.inside");
}

static void visit_ring(void) {
  const int length = 1 + (int)(value_of(rank, here, next_k++) % 20);
  if (set_now) {
    while (ring_length < length) {
      Node *node = ELC_NEW(node_type, sizeof *node, 1);
      node->next = list == NULL ? node : list->next;
      if (list == NULL) list = node;
      else list->next = node;
      ring_length++;
    }
    while (ring_length > length) {
      Node *node = list->next;
      list->next = node->next;
      ELC_free(node);
      ring_length--;
    }
  }
  need(ring_length == length && node_at(length) == list, "the ring");
  Node *node = list;
  for (int i = 0; i < length; i++, node = node->next) {
    VISIT_INTEGER_AT(node->value, int32_t, 32, 1, "Node.value");
    VISIT_INTEGER_AT(node->pad, char, 8, 0, "Node.pad");
    VISIT_POINTER(node->across, node_at((int)(value_of(rank, here, next_k++) % (uint64_t)length)), "Node.across");
  }
}

static void visit_all(int set) {
  set_now = set;
  next_k = 0;
  visit_ring();
#define VISIT_VARIABLE(name, type, bits, has_sign)            \
  VISIT_INTEGER_AT(name, type, bits, has_sign, #name);        \
  EACH(name##s, kRows, kColumns, VISIT_INTEGER_AT, type, bits, has_sign, #name "s")
#define VISIT_REAL_VARIABLE(name, type, setter)  \
  VISIT_REAL_AT(name, type, setter, #name);      \
  EACH(name##s, kRows, kColumns, VISIT_REAL_AT, type, setter, #name "s")
  INTEGERS(VISIT_VARIABLE)
  REALS(VISIT_REAL_VARIABLE)
  for (int i = 0; i < kRecords; i++) visit_record(&records[i]);
  for (int i = 0; i < 3; i++) visit_bits(&flags[i]);
  for (int i = 0; i < kNumbers; i++) VISIT_INTEGER_AT(numbers[i], int, 32, 1, "numbers");
  for (int i = 0; i < kBytes; i++) VISIT_INTEGER_AT(raw[i], unsigned char, 8, 0, "raw");
  const int k = (int)(value_of(rank, here, next_k++) % 1000);
  VISIT_POINTER(colour, k % 3 == 0 ? kRed : k % 3 == 1 ? kGreen : kBlue, "colour");
  VISIT_POINTER(function, kFunctions[k % 4], "function");
  need(function == NULL || function(3) == kFunctions[k % 4](3), "function()");
  VISIT_POINTER(to_number, &numbers[k % kNumbers], "to_number");
  VISIT_POINTER(past_end, numbers + kNumbers, "past_end");
  VISIT_POINTER(to_pointer, k % 2 == 0 ? &to_number : &past_end, "to_pointer");
  VISIT_POINTER(nothing, NULL, "nothing");
  VISIT_POINTER(to_middle, &records[k % kRecords].inner[k % 2], "to_middle");
  VISIT_POINTER(to_inner, &records[k % kRecords].inner[k % 2].second, "to_inner");
  VISIT_POINTER(to_byte, &raw[k % (kBytes + 1)], "to_byte");
  VISIT_POINTER(field, &flags[k % 3].between, "field");
}

/* ---- Streams: in the directory $TYPES_DIR, if it is set -------------------------------------------- */

static const char *file_name(const char *what) {
  static char name[64];
  snprintf(name, sizeof name, "types-%s-%d", what, rank);
  return name;
}

static void open_files(void) {
  said = stdout;
  if (getenv("TYPES_DIR") == NULL) return;
  need(chdir(getenv("TYPES_DIR")) == 0, "TYPES_DIR");
  FILE *file = fopen(file_name("in"), "w");
  need(file != NULL, "a file in TYPES_DIR");
  for (int i = 0; i < 100; i++) fprintf(file, "%d\n", i * i);
  fclose(file);
  input = ELC_fopen(file_name("in"), "r");
  output = ELC_fopen(file_name("out"), "w+");
}

static void use_files(void) {
  int found = -1;
  need(said == stdout, "stdout");
  if (getenv("TYPES_DIR") == NULL) return;
  if (seen == 100) {
    rewind(input);
    seen = 0;
  }
  need(fscanf(input, "%d\n", &found) == 1 && found == seen * seen, "the number that was read");
  seen++;
  fprintf(output, "%lld\n", (long long)here);
}

static void close_files(int64_t rounds) {
  long long line;
  if (getenv("TYPES_DIR") == NULL) return;
  rewind(output);
  for (int64_t i = 0; i < rounds; i++) need(fscanf(output, "%lld", &line) == 1 && line == i, "what was written");
  need(fscanf(output, "%lld", &line) == EOF, "the length of what was written");
  ELC_fclose(input);
  ELC_fclose(output);
}

#endif
