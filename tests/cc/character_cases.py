"""Which memory of characters is text."""

import json
import os
import re
import shutil

from cases import Cases, PROGRAM

CHARACTERS = r"""#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdarg.h>
static long deep(long x, int n);

/* What a pointer to anything leads to: variables of several types, text among them. */
struct option { char kind; void *at; size_t size; } options[10];
static int option_count;
static void add(char kind, void *at, size_t size) { options[option_count].kind = kind; options[option_count].at = at; options[option_count++].size = size; }
static void set(int i, const char *to) {
  switch (options[i].kind) {
    case 'i': sscanf(to, "%d", (int *)options[i].at); break;
    case 'd': sscanf(to, "%lf", (double *)options[i].at); break;
    default: strncpy(options[i].at, to, options[i].size - 1);
  }
}
static int number; static double real; static char text_option[20] = "none";

/* Through functions, pointers to functions, members, tables, results. */
static char text_given[30], text_kept[30], text_in_table[30], text_returned[30], text_called[30], text_sorted[4][12], text_sent[8], text_bytes[8];
static void give(char *to, const char *from) { strcpy(to, from); }
static void (*giver)(char *, const char *) = give;
struct named { int n; char text_member[12]; char *name; };
static struct named one = {1, "one", text_in_table}, *ones = &one;
static char *where(void) { return text_returned; }
static int compare(const void *a, const void *b) { return strcmp(a, b); }

static char other_cast[16], other_param[16], other_void[16], other_kept[16], other_table[16], other_called[16], other_returned[16], other_copied[16],
    other_sent[16], other_packed[64], other_chosen[2][16], other_chained[16], other_more[16], other_in_container[16], other_list[16], other_literal[16],
    other_byte_by_byte[16], other_through_int[16], other_by_function[16], other_as_number[16];
static void copy_bytes(char *to, const char *from, int n) { while (n-- > 0) *to++ = *from++; }
static int last_byte(const char *of) { int c = of[3]; return c & 0xff; }
static long fill_ints(a) int *a; { return a[0] = 4; }
static char text_copied[16], text_counted[16], other_undeclared[16], other_swapped[8], other_by_union[16], other_relayed[16], other_reversed[8];
union word { double d; char other_bytes[8]; };
union place { char *characters; double *numbers; };
struct packet { int kind; char other_content[40]; };
struct begin { int kind; };
struct cell { int kind; double x; };
struct record { char other_text[16]; };
static long (*filling)() = fill_ints;
static void fill_characters(char *to) { ((int *)to)[1] = 7; }
static void fill_anything(void *to) { long *at = to; *at = 5; }
static void fill_called(char *to) { *(short *)to = 3; }
static void (*filler)(char *) = fill_called;
struct holder { int n; char *buffer; char other_member[16]; };
static struct holder holder = {0, other_kept, ""};
static char *table[2] = {other_table, NULL};
static char *elsewhere(void) { return other_returned; }
static void fill_more(int n, ...) { va_list all; va_start(all, n); while (n-- > 0) *(int *)va_arg(all, char *) = 4; va_end(all); }
/* Each function's arguments are its own, unless it gives its list away. */
static char text_told[16], text_logged[64], other_scanned[16], other_by_list[16], other_by_pointer[16];
static void tell(const char *how, ...) { va_list all; va_start(all, how); vsnprintf(text_logged, sizeof text_logged, how, all); va_end(all); }
static void scan(const char *from, const char *how, ...) { va_list all; va_start(all, how); vsscanf(from, how, all); va_end(all); }
static void fill_list(va_list all) { *(int *)va_arg(all, char *) = 4; }
static void fill_by_list(int n, ...) { va_list all; va_start(all, n); fill_list(all); va_end(all); }
static void fill_by_pointer(int n, ...) { va_list all; va_start(all, n); *(short *)va_arg(all, char *) = n; va_end(all); }
static void (*filling_more)(int, ...) = fill_by_pointer;
/* Structs that are defined nowhere. */
struct hiding *hidden; struct turning *turned;
struct titled { int n; char text_title[16]; } titled; struct turning_from { int n; char other_from[16]; } turning_from; struct turning_to { double d[3]; };
static struct hiding *hide(void *p) { return (struct hiding *)p; }
static void name(struct hiding *h) { struct titled *t = (struct titled *)(void *)h; strcpy(t->text_title, "title"); }
static double *turn(struct turning *t) { return ((struct turning_to *)(void *)t)->d; }
/* A container that copies what it is given. */
struct queue { char *memory; size_t size; } queue = {other_in_container, sizeof(int)};
static void put(struct queue *q, const void *from) { memcpy(q->memory, from, q->size); }
static void get(struct queue *q, void *to) { memcpy(to, q->memory, q->size); }
/* The same memory as another struct. */
struct message { int kind; char other_payload[16]; };
struct numbers { int kind; int more[4]; };
struct list { struct list *next; void *what; } *lists;
static void push(void *what) { struct list *l = malloc(sizeof *l); l->next = lists, l->what = what, lists = l; }

static void release(void *p) { if (p != NULL) free(p); }
static void forget(void **at) { release(*at); *at = NULL; }
static void *grab(size_t n) { void *p = malloc(n); if (p == NULL) exit(1); return p; }
static char *written, *numbers;
static double *reals;

static long deep(long x, int n) {
  long sum = 0;
  char text_local[20], other_local[16];
  strcpy(text_local, "local");
  *(int *)other_local = n;
  if (n > 0) return deep(x + 1, n - 1) + n + strlen(text_local) + *(int *)other_local;
  MPI_Allreduce(&x, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return sum + *(int *)other_local;
}
int main(int argc, char **argv) {
  long result = 0;
  int i, rank, at = 0, out = 0;
  struct message message = {1, ""};
  char *chained, *again;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  add('i', &number, 0), add('d', &real, 0), add('s', text_option, sizeof text_option);
  set(0, "4"), set(1, "2.5"), set(2, "words");
  give(text_given, "given"), giver(text_called, "called"), strcpy(ones->name, "name"), strcpy(where(), "returned");
  for (i = 0; i < 4; i++) strcpy(text_sorted[i], i % 2 ? "b" : "a");
  qsort(text_sorted, 4, sizeof text_sorted[0], compare);
  strcpy(text_sent, "sent"), strcpy(text_bytes, "bytes");
  MPI_Bcast(text_sent, sizeof text_sent, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Bcast(text_bytes, sizeof text_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  snprintf(text_kept, sizeof text_kept, "%s", text_given);
  *(int *)other_cast = 1, fill_characters(other_param), fill_anything(other_void), *(double *)holder.buffer = 1.5, *(int *)table[0] = 2;
  filler(other_called), *(long *)elsewhere() = 4, memcpy(other_copied, &number, sizeof number), *(int *)holder.other_member = 1;
  MPI_Bcast(other_sent, 2, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Pack(&number, 1, MPI_INT, other_packed, sizeof other_packed, &at, MPI_COMM_WORLD);
  *(int *)(rank == 0 ? other_chosen[0] : other_chosen[1]) = 1;
  again = chained = other_chained, *(int *)again = 2, fill_more(1, other_more), put(&queue, &number), get(&queue, &out);
  strcpy(text_told, "told"), tell("%s %d", text_told, number), scan("7 seven", "%d %s", &number, other_scanned), fill_by_list(1, other_by_list), filling_more(1, other_by_pointer);
  hidden = hide(&titled), name(hidden), turned = (struct turning *)(void *)&turning_from, turn(turned)[1] = 2;
  ((struct numbers *)&message)->more[1] = 3;
  copy_bytes(other_byte_by_byte, (char *)&number, sizeof number), filling(other_undeclared);
  for (i = 0; i < 4; i++) { int c = ((char *)&number)[i]; other_through_int[i] = c; }
  other_by_function[0] = last_byte((char *)&real);
  { unsigned long where = (unsigned long)other_as_number; *(int *)where = 3; }
  for (i = 0; text_given[i] != 0; i++) text_copied[i] = text_given[i];
  for (i = 0; i < 9; i++) text_counted[i] = '0' + number % 10;
  { union word w; union place at; w.d = real; for (i = 0; i < 8; i++) other_swapped[i] = w.other_bytes[7 - i]; at.characters = other_by_union; *at.numbers++ = 1; }
  { static struct packet packet; struct begin *b = (struct begin *)&packet; struct cell cell = {1, 2}; ((double *)(b + 1))[0] = 4; memcpy(&packet, &cell, sizeof cell); }
  { struct record record; char *byte = (char *)&real; memcpy(&record, &real, sizeof real); number += record.other_text[0] != 0; other_reversed[0] = *byte; }
  MPI_Bcast(other_relayed, 8, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD), MPI_Bcast(&real, 8, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD);
  push(other_list), ((int *)lists->what)[0] = 2;
  { struct holder *h = &(struct holder){1, other_literal, ""}; *(int *)h->buffer = 1; }
  written = grab(8), release(written), numbers = grab(16), forget((void **)&numbers), reals = grab(8), forget((void **)&reals);
  written = grab(21), strcpy(written, "written"), numbers = grab(31), ((int *)numbers)[1] = 4, reals = grab(16), reals[0] = 1, reals[1] = 2;
  for (i = 0; i < 100; i++) result += deep(i, 5) + strlen(text_option) + strlen(written) + ((int *)numbers)[1] + (long)reals[1] + out + message.kind;
  if (rank == 0) printf("result: %ld\n", result);
  MPI_Finalize();
  return 0;
}
"""


class Characters(Cases):
    """Which memory of characters is text. The arrays of the program that are called other_... are something else, too."""
    def test_arrays(self):
        self.write("prog.c", CHARACTERS)
        said = self.cc("prog.c", "-w", "-o", "prog", "-felc-report")
        declared = set(re.findall(r"\b(?:other|text)_\w+(?=\[)", CHARACTERS))
        self.assertGreater(len(declared), 35)
        self.assertEqual(set(re.findall(r"elc-cc: prog\.c:\d+: '(\w+)' is saved as bytes: its characters may be something else \(prog\.c:\d+\)", said)),
                         {name for name in declared if name.startswith("other")})
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.assert_restarts("prog", self.start("plain"))

    def test_datatypes(self):
        """Characters that go by a datatype which is made of those of characters, in whatever variable; not where it may be another one."""
        outside = """
static char text_vector[16], text_member[16], text_element[16], text_first[16], text_struct[16], text_assigned[16], text_renewed[16];
static char other_numbers[16], other_either[16], other_escaped[16], other_pointed[16], other_given[16], other_struct[16], other_listed[16], other_received[16], other_elements[16], other_copied[16], other_relayed[16];
struct kinds { int n; MPI_Datatype of, more[2]; };
struct record { double x; char t[8]; } record;
static MPI_Datatype vector, either, escaped, pointed, elements[2], assigned, whole, copied, renewed = MPI_DATATYPE_NULL;
static void make(MPI_Datatype *to) { MPI_Type_contiguous(4, MPI_INT, to); MPI_Type_commit(to); }
static void send(char *what, MPI_Datatype as) { MPI_Bcast(what, 1, as, 0, MPI_COMM_WORLD); }
"""
        inside = """
if (i == 0) {
  static struct kinds kinds, listed; static MPI_Datatype numbers, first[1], texts, both, *at = &pointed; struct kinds one = {1, MPI_CHAR, {MPI_CHAR, MPI_INT}};
  int lengths[2] = {3, 1}; MPI_Aint places[2] = {0, 8}; MPI_Datatype of_texts[2] = {MPI_CHAR, MPI_UNSIGNED_CHAR}, of_both[2];
  MPI_Type_vector(4, 1, 4, MPI_CHAR, &vector), MPI_Type_commit(&vector), MPI_Bcast(text_vector, 1, vector, 0, MPI_COMM_WORLD);
  MPI_Type_contiguous(2, vector, &kinds.of), MPI_Type_free(&kinds.of), MPI_Type_dup(vector, &kinds.of), MPI_Bcast(text_member, 1, kinds.of, 0, MPI_COMM_WORLD);
  MPI_Type_contiguous(16, MPI_UNSIGNED_CHAR, &elements[1]), MPI_Type_commit(&elements[1]), MPI_Bcast(text_element, 1, elements[1], 0, MPI_COMM_WORLD);
  first[0] = i >= 0 ? vector : MPI_DATATYPE_NULL; assigned = vector;
  MPI_Bcast(text_assigned, 1, assigned, 0, MPI_COMM_WORLD), MPI_Bcast(other_elements, 1, first[0], 0, MPI_COMM_WORLD);
  MPI_Type_create_struct(2, lengths, places, of_texts, &texts), MPI_Type_commit(&texts), MPI_Bcast(text_struct, 1, texts, 0, MPI_COMM_WORLD);
  MPI_Type_contiguous(3, MPI_INT, &numbers), MPI_Type_commit(&numbers), MPI_Bcast(other_numbers, 1, numbers, 0, MPI_COMM_WORLD);
  if (rank < 2) MPI_Type_contiguous(12, MPI_CHAR, &either); else MPI_Type_contiguous(3, MPI_INT, &either);
  MPI_Type_commit(&either), MPI_Bcast(other_either, 1, either, 0, MPI_COMM_WORLD);
  MPI_Type_contiguous(5, MPI_CHAR, &escaped), MPI_Type_free(&escaped), make(&escaped), MPI_Bcast(other_escaped, 1, escaped, 0, MPI_COMM_WORLD);
  MPI_Type_contiguous(5, MPI_CHAR, &pointed), MPI_Type_free(&pointed), make(at), MPI_Bcast(other_pointed, 1, pointed, 0, MPI_COMM_WORLD);
  of_both[0] = MPI_CHAR, of_both[1] = MPI_INT, MPI_Type_create_struct(2, lengths, places, of_both, &both), MPI_Type_commit(&both), MPI_Bcast(other_struct, 1, both, 0, MPI_COMM_WORLD);
  listed = one, MPI_Bcast(other_listed, 1, listed.more[0], 0, MPI_COMM_WORLD), send(other_given, vector);
  MPI_Type_contiguous(5, MPI_CHAR, &copied), MPI_Type_free(&copied), memcpy(&copied, &numbers, sizeof copied), MPI_Bcast(other_copied, 1, copied, 0, MPI_COMM_WORLD);
  if (renewed != MPI_DATATYPE_NULL) MPI_Type_free(&renewed);
  renewed = MPI_DATATYPE_NULL, MPI_Type_vector(2, 2, 4, MPI_CHAR, &renewed), MPI_Type_commit(&renewed), MPI_Bcast(text_renewed, 1, renewed, 0, MPI_COMM_WORLD);
  MPI_Type_contiguous(sizeof record, MPI_BYTE, &whole), MPI_Type_commit(&whole), MPI_Bcast(&record, 1, whole, 0, MPI_COMM_WORLD), MPI_Bcast(other_received, 16, MPI_BYTE, 0, MPI_COMM_WORLD);
  { MPI_Datatype words; int sent[4] = {1, 2, 3, 4}; MPI_Type_contiguous(16, MPI_SIGNED_CHAR, &words), MPI_Type_commit(&words), MPI_Bcast(sent, 1, words, 0, MPI_COMM_WORLD), MPI_Bcast(other_relayed, 1, words, 0, MPI_COMM_WORLD), MPI_Type_free(&words); }
  MPI_Type_free(&elements[1]), MPI_Type_free(&texts), MPI_Type_free(&numbers), MPI_Type_free(&either), MPI_Type_free(&escaped), MPI_Type_free(&pointed), MPI_Type_free(&both), MPI_Type_free(&whole);
}
MPI_Bcast(text_vector, 1, vector, 0, MPI_COMM_WORLD);
if (i == 99) MPI_Type_free(&vector), MPI_Type_free(&renewed);
"""
        self.write("prog.c", PROGRAM % ("#include <string.h>" + outside, inside))
        said = self.cc("prog.c", "-w", "-o", "prog", "-felc-report")
        declared = set(re.findall(r"\b(?:other|text)_\w+(?=\[)", outside))
        self.assertEqual(set(re.findall(r"'((?:text|other)_\w+)' is saved as bytes: its characters may be something else", said)), {name for name in declared if name.startswith("other")})

    def test_memory(self):
        self.write("prog.c", CHARACTERS)
        self.cc("prog.c", "-w", "-o", "prog")
        self.take_line("prog")
        show = self.tool, "show", "--json", os.path.join(self.home, "lines", "line-000001", "rank-000000.elc")
        self.assertLessEqual({"char[21]", "bytes[31]", "double[2]"}, {block["type"] for block in json.loads(self.run_words(*show))["heap"]})

    def test_structs_without_names(self):
        self.write("prog.c", PROGRAM % ("static struct { char name[20]; int n; } all[4]; static struct outer { struct { char within[8]; } of; int n; } outer;",
                                        'sprintf(all[i % 4].name, "%d", i), strcpy(outer.of.within, all[i % 4].name); deep(1, 1); result += outer.of.within[0];'))
        self.cc("prog.c", "-w", "-o", "prog")
        self.take_line("prog")
        shown = json.loads(self.run_words(self.tool, "show", "--json", os.path.join(self.home, "lines", "line-000001", "rank-000000.elc")))
        fields = {field["name"]: field["type"] for one in shown["types"] for field in one.get("fields", [])}
        self.assertEqual((fields["name"], fields["within"]), ("char[20]", "char[8]"))

    def test_functions_that_give_memory(self):
        """For anything, or what they were given: each call has what its own memory is. Blocks of odd sizes are something else than text."""
        outside = """
static char *take(size_t n) { char *p = (char *)calloc(n, 1); if (p == NULL) exit(1); return p; }
static char *twin(const char *of) { char *p = malloc(108); if (p != NULL) strcpy(p, of); return p; }
static char *called(size_t n) { return take(n); }
static char *numbered_for(int first, size_t n) { int *p = (int *)take(n); p[0] = first; return (char *)p; }
static char *by_pointer(size_t n) { return take(n); }
static char *(*caller)(size_t) = by_pointer;
static struct { void *(*get)(size_t); void (*let)(void *); void *(*other)(int, size_t); } hooks = {malloc, free, (void *(*)(int, size_t))numbered_for};
static void *more(void *p, size_t n) { void *q = p == NULL ? malloc(n) : realloc(p, n); if (!q) exit(1); return q; }
static char *longer(char *p, size_t n) { p = realloc(p, n); if (p == NULL) exit(1); return p; }
static void *checked(void *p) { if (p == NULL) exit(1); return p; }
static void *numbered(void *p, size_t n) { int *q = realloc(p, n); q[1] = 4; return q; }
static int *last;
static void renumber(void *p, size_t n) { last = more(p, n); last[0] = 7; }
static char *kept; static long *counts; static float *floats;
static void keep(void *p, size_t n) { kept = more(p, n); }
static void *copied(const void *from, size_t n) { void *p = take(n); memcpy(p, from, n); return p; }
static char *texts[8], *others[9], *word; static double *reals; static int *numbers;
"""
        inside = """
if (i == 0) {
  strcpy(texts[0] = take(100), "taken"); reals = (double *)take(160); reals[0] = 2.5;
  strcpy(texts[1] = more(NULL, 10), "more"); texts[1] = more(texts[1], 102);
  numbers = more(NULL, 8); numbers = more(numbers, 400); numbers[99] = 3;
  strcpy(texts[2] = longer(NULL, 11), "longer"); texts[2] = longer(texts[2], 104);
  strcpy(texts[3] = checked(malloc(106)), "checked"); counts = checked(malloc(320)); counts[39] = 4;
  others[0] = take(107); others[0] = numbered(others[0], 109);
  others[1] = take(10); renumber(others[1], 111); others[1] = (char *)last;
  others[2] = more(NULL, 113); *(int *)others[2] = 5;
  others[3] = take(12); *(int *)others[3] = 1; keep(others[3], 115); others[3] = kept;
  others[4] = longer(NULL, 117); ((short *)others[4])[2] = 5; others[4] = longer(others[4], 119);
  texts[5] = twin(twin("twin") + 1); texts[6] = &called(110)[0]; strcpy(texts[6], "called");
  others[6] = caller(122); ((int *)others[6])[3] = 4; others[7] = hooks.other(3, 123);
  texts[4] = caller(124); strcpy(texts[4], "by a pointer"); strcpy(texts[7] = hooks.get(126), "by another");
  hooks.let(hooks.get(17)); others[8] = hooks.get(125); *(float *)others[8] = 5; floats = (float *)caller(168); floats[41] = 6;
  others[5] = copied(reals, 121); word = copied("text", 5);
}
deep(1, 1); result += strlen(texts[0]) + reals[0] + numbers[99] + strlen(texts[1]) + strlen(texts[2]) + counts[39] + last[1] + others[2][0] + others[4][4] + strlen(texts[5]) + floats[41];
"""
        self.write("prog.c", PROGRAM % (outside, inside))
        self.cc("prog.c", "-w", "-o", "prog")
        self.take_line("prog")
        show = self.tool, "show", "--json", os.path.join(self.home, "lines", "line-000001", "rank-000000.elc")
        types = {block["type"] for block in json.loads(self.run_words(*show))["heap"]}
        self.assertLessEqual({"char[%d]" % n for n in (100, 102, 104, 106, 108, 110, 124, 126)} |
                             {"bytes[%d]" % n for n in (109, 111, 113, 115, 119, 121, 122, 123, 125)} | {"double[20]", "int[100]", "long[40]", "float[42]"}, types)
        shutil.rmtree(os.path.join(self.home, "lines"))
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.assert_restarts("prog", self.start("plain"))

    def test_files(self):
        """A pointer is followed from file to file."""
        self.write("one.c", PROGRAM % ("char other[16], text[16], copied[16]; void copy(char *, char *, int), fill(char *); void say(char *);", "fill(other); say(text); copy(copied, (char *)&result, 4); result += other[0] + text[0] + copied[0] % 2;"))
        self.write("two.c", "#include <string.h>\nvoid fill(char *to) { *(int *)to = 7; }\nvoid say(char *to) { strcpy(to, \"said\"); }\n"
                            "void copy(char *to, char *from, int n) { while (n-- > 0) to[n] = from[n]; }\n")
        said = self.cc("one.c", "two.c", "-w", "-o", "prog", "-felc-report")
        self.assertEqual(re.findall(r"'(\w+)' is saved as bytes: its characters may be something else \((?:one|two)\.c:\d+\)", said), ["other", "copied"])
