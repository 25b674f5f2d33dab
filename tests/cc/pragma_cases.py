"""#pragma elc."""

import json
import os
import re
import shutil

from cases import Cases, PROGRAM


class Pragmas(Cases):
    """What a program says of itself."""

    VALUE = """
enum kind { NOTHING, WHOLE, REAL = 'r', TEXT, PAIR };
struct value {
  enum kind kind;
  #pragma elc union kind WHOLE: n, REAL: d, TEXT: text, PAIR: pair, NOTHING: -
  union { long n; double d; char *text; struct { struct value *left, *right; } pair; } u;
};
static struct value *all[100];
static struct value *make(enum kind kind, long n) {
  struct value *v = malloc(sizeof *v);
  memset(&v->u, 0x55, sizeof v->u);
  v->kind = kind;
  if (kind == WHOLE) v->u.n = n;
  if (kind == REAL) v->u.d = n / 8.0;
  if (kind == TEXT) sprintf(v->u.text = malloc(20), "%ld", n);
  if (kind == PAIR) v->u.pair.left = all[n / 2], v->u.pair.right = all[n / 3];
  return v;
}
static long sum(const struct value *v) {
  switch (v->kind) {
    case WHOLE: return v->u.n;
    case REAL: return v->u.d * 8;
    case TEXT: return atol(v->u.text);
    case PAIR: return sum(v->u.pair.left) + sum(v->u.pair.right);
    default: return 7;
  }
}
"""
    USE = "{ static const enum kind kinds[] = {NOTHING, WHOLE, REAL, TEXT, PAIR}; all[i] = make(kinds[i % 5], i); deep(1, 1); result += sum(all[i / 2]); }"

    def test_union(self):
        self.right(self.VALUE, self.USE)
        self.assertNotIn("warning", self.cc("prog.c", "-o", "prog"))

    def test_struct_of_several_files(self):
        """With a union, and with bit-fields: one type of lines."""
        header = self.VALUE[:self.VALUE.index("static struct")].replace("enum kind kind;", "enum kind kind; unsigned low : 3, high : 13;")
        self.write("value.h", header + "extern struct value other; void set(int n);\n")
        self.write("other.c", '#include <stdio.h>\n#include <stdlib.h>\n#include "value.h"\nstruct value other;\n'
                   'void set(int n) { free(other.u.text); other.kind = TEXT; sprintf(other.u.text = malloc(9), "%d", other.high = n); }\n')
        self.write("prog.c", PROGRAM % ('#include "value.h"\nstatic struct value one;', "one.kind = WHOLE; one.low = one.u.n += i; set(i); deep(1, 1); result += one.low + other.high + atol(other.u.text);"))
        self.cc("prog.c", "other.c", "-o", "plain", "-felc-off")
        self.cc("prog.c", "other.c", "-o", "prog")
        self.assert_restarts("prog", self.start("plain"))

    def test_union_of_another_kind(self):
        """A value that the pragma does not have: nobody knows what is in use."""
        self.write("prog.c", PROGRAM % (self.VALUE.replace(", PAIR: pair", ""), self.USE))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line("which member of the union is in use is not known")
        self.right(self.VALUE.replace(", PAIR: pair", ", default: pair"), self.USE)
        # One that has not been written yet is in no use.
        self.right(self.VALUE.replace(", NOTHING: -", ""), "struct value one; deep(1, 1); one.kind = WHOLE; one.u.n = i; all[0] = calloc(1, sizeof one); deep(1, 1); result += one.u.n + all[0]->kind;")

    def test_union_with_an_address_among_numbers(self):
        self.write("prog.c", PROGRAM % (self.VALUE, "if (!all[0]) all[0] = make(WHOLE, (long)all); deep(1, 1); result += sum(all[0]) != (long)all;"))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line("holds an address")

    def test_union_without_a_name(self):
        self.right("""
typedef struct {
  struct { unsigned kind : 3; } head;
  #pragma elc union head.kind 1: n, (1 + 1): at
  union { int n; const char *at; };
} any;
static any *last;""", "{ any *one = calloc(1, sizeof *one); if (i % 2) one->head.kind = 1, one->n = i; else one->head.kind = 2, one->at = \"text\" + i % 3; last = one;"
            "deep(1, 1); result += one->head.kind == 1 ? one->n : one->at[0]; }")

    def test_transient(self):
        """Lines do not have it: a restart has what it was at the beginning, at its place."""
        outside = """
#include <sys/socket.h>
#pragma elc transient
static struct sockaddr_storage from, *to; /* of a header of the system */
static char *kept; static void *all[3]; static long *where;
static int computed(int n) {
  #pragma elc transient
  static long cache[100];
  where = &cache[n];
  if (cache[n] == 0) cache[n] = n + 1;
  return cache[n];
}"""
        inside = "from.ss_family = i; if (!to) to = malloc(sizeof *to); all[0] = &from; deep(1, 1); result += computed(i) + (where != NULL) + (all[0] == &from) + (to == NULL || to != &from);"
        self.right(outside, inside)
        self.write("prog.c", PROGRAM % (outside.replace("#pragma elc transient\nstatic struct", "static struct"), inside))
        self.assertIn("cannot be part of lines", self.cc("prog.c", "-w", "-o", "prog", code=1))

    def test_values_of_macros(self):
        """As the kinds of a union are in old programs; a macro may be defined by others, be a character, or have its own name."""
        self.right("""
#define FIRST 3
#define IS_TEXT (FIRST + 1)
#define IS_LETTER 'l'
#define IS_LIST IS_LIST
#define text text
enum { IS_LIST = 9 };
struct any { int kind;
#pragma elc union kind IS_TEXT: text, FIRST : n, IS_LETTER: letter, IS_LIST: next, 0: -, default: n
  union { long n; char *text, *letter; struct any *next; } u; };
static struct any *list;""", """
{ struct any *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b); a->kind = i % 3 == 0 ? IS_TEXT : i % 3 == 1 ? FIRST : IS_LETTER;
  if (i % 3 == 1) a->u.n = i; else { a->u.text = malloc(20); sprintf(a->u.text, "text %d", i); }
  b->kind = IS_LIST; b->u.next = list; list = b; deep(1, 1); result += a->kind == FIRST ? a->u.n : a->u.text[5]; }""")

    def test_type(self):
        """Of memory that nothing converts, or to something else."""
        outside = """
struct node { struct node *next; long n; };
static void *list;
static void *add(void *to, long n) {
  struct node one = {to, n};
  void *at;
  %s
  at = (char *)malloc(sizeof one);
  return memcpy(at, &one, sizeof one);
}
static long sum(void *of) { long s = 0; struct node one; for (; of; of = one.next) memcpy(&one, of, sizeof one), s += one.n; return s; }"""
        inside = "list = add(list, i); deep(1, 1); result += sum(list);"
        self.right(outside % "#pragma elc type struct node", inside)
        self.write("prog.c", PROGRAM % (outside % "", inside))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("holds an address")

    def test_type_of_characters(self):
        """Text where the program has given it to MPI as it likes."""
        types = []
        for pragma in "", "#pragma elc type unsigned char":
            self.write("prog.c", PROGRAM % ("static unsigned char *pixels;", "if (i == 0) {\n%s\n pixels = calloc(24, 1); MPI_Bcast(pixels, 6, MPI_INT, 0, MPI_COMM_WORLD); } deep(1, 1); result += pixels[i %% 24]++;" % pragma))
            self.cc("prog.c", "-w", "-o", "prog")
            self.take_line("prog")
            shown = json.loads(self.run_words(self.tool, "show", "--json", os.path.join(self.home, "lines", "line-000001", "rank-000000.elc")))
            types.append([block["type"] for block in shown["heap"] if block["type"].endswith("[24]")])
            shutil.rmtree(os.path.join(self.home, "lines"))
        self.assertEqual(types, [["bytes[24]"], ["unsigned char[24]"]])

    def test_stateless(self):
        self.write("other.s", ".globl other\nother: ret\n.globl another\nanother: ret\n.section .note.GNU-stack\n")
        self.write("prog.c", PROGRAM % ("#pragma elc stateless other, another\nvoid other(void), another(void);", "other(); another();"))
        self.cc("prog.c", "other.s", "-o", "prog")

    def test_not_understood(self):
        def said_of(pragmas):
            self.write("prog.c", PROGRAM % ("\n".join("#pragma elc %s\nstruct unused%d { int n; };" % (p, i) for i, p in enumerate(pragmas)), ""))
            return self.cc("prog.c", "-o", "prog", code=1)

        unknown = ("", "transiemt", "union kind", "union kind 1 n", "type", "stateless 1x", "transient x")
        said = said_of(unknown)
        for i, pragma in enumerate(unknown):
            self.assertIn("prog.c:%d: '#pragma elc %s' is none that elc-cc knows" % (7 + 2 * i, pragma), said)
        said = said_of(("union kind 1: n", "type long", "transient"))
        for i, place in enumerate(("a union in a struct", "a statement with a call that returns a void * or char *", "a variable of a file, or a static one of a function")):
            self.assertRegex(said, "prog.c:%d: '#pragma elc [a-z]*' stands in front of " % (7 + 2 * i) + re.escape(place))
        self.assertIn("prog.c:7:", said_of(("type struct nobody *(",)))
        self.write("prog.c", PROGRAM % ("struct nobody; void *at;", "\n#pragma elc type struct nobody\nat = malloc(8);"))
        self.assertRegex(self.cc("prog.c", "-o", "prog", code=1), r"#pragma elc type \(prog.c:\d+\): lines have no memory of the type struct nobody")

        union = " union { int a; int *b; } u; "
        wrong = (("int n; #pragma elc union kind 1: a\n" + union, "the struct has no member 'kind' before the union"),
                 ("#pragma elc union kind 1: a\n" + union + "int kind;", "the struct has no member 'kind' before the union"),
                 ("int kind; #pragma elc union kind 1: c\n" + union, "the union has no member 'c'"),
                 ("int kind; #pragma elc union kind 1: a, 1: b\n" + union, "the value 1 is there twice"))
        self.write("prog.c", PROGRAM % ("\n".join("struct s%d { %s } s%d;" % (i, text.replace("#", "\n#"), i) for i, (text, _) in enumerate(wrong)), ""))
        said = self.cc("prog.c", "-o", "prog", code=1)
        for i, (_, message) in enumerate(wrong):
            self.assertRegex(said, r"'s%d' cannot be part of lines: its member 'u': #pragma elc union \(prog.c:\d+\): %s" % (i, message))
        self.write("prog.c", PROGRAM % ("struct s { int kind;\n#pragma elc union kind NONE: a\n" + union + "} s;", ""))
        self.assertIn("'NONE'", self.cc("prog.c", "-o", "prog", code=1))
