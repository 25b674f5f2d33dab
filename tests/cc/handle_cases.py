"""Handles of MPI, where those are integers: whether they stay in what is of their types (src/cc/handles.h)."""

import re

from cases import Cases, PROGRAM

BEFORE = """#include <alloca.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int n; MPI_Comm c; double x; } S;
typedef struct { int n; double x; } P;
static MPI_Comm comm;
static MPI_Request req;
static S s, *sp;
static char buf[100];
static void *vp;
static int i;
static long l;
extern MPI_Comm world;
"""
# Statements, and what stands outside of functions.
LEAVING = [
    "i = comm;", "int x = comm; i = x;", "memcpy(buf, &comm, 4);", "memcpy(buf, sp, sizeof *sp);", "int *p = (int *)&comm; i = *p;", "int *p = &comm; i = *p;", "vp = sp;",
    "i = (l > 1 ? comm : MPI_COMM_NULL) + 1;", "fread(&s, sizeof s, 1, stdin);", "MPI_Send(&s, sizeof s, MPI_BYTE, 0, 0, MPI_COMM_WORLD);", "int a[] = {1, comm}; i = a[1];",
    "l = (long)req;", "i = comm % 7;", "switch (comm) { case 3: i = 4; }", "i = ({ comm; });", "int *p = (int[]){1, comm}; i = *p;", "i = MPI_Comm_c2f(comm);",
    "void **q = (void **)&sp; *q = buf;", "char b[100]; sp = (S *)b;", "struct { unsigned c : 32; } b; b.c = comm; i = b.c;", "for (i = 0; i < 4; i++) buf[i] = ((char *)&comm)[i];",
    '__asm__("" : "+r"(comm));', "comm ^= 1;", "i = (l++, comm);", "int k = l ? comm : 3; i = k;", "i = comm ?: 3;", "i = buf[comm & 1];", "struct { int a, b; } t = {1, comm}; i = t.b;",
    "struct { int a, b; } t = {.b = comm}; i = t.b;", "sp = (S *)&buf[8];", "i = _Generic(comm, int: comm, default: 3);", "i = __atomic_load_n(&comm, 5);", 'sscanf("12", "%d", &comm);',
    "const S *q = sp; sp = (S *)q;", "int (*p)[1] = (int (*)[1])&comm; i = (*p)[0];", "fwrite(&s, 1, sizeof s, stdout);", "__typeof__(i) z = comm; i = z;",
    "int n = 3, a[n]; a[0] = comm; i = a[0];", "\n#pragma omp parallel\n{ i = comm; }\n", "int in = comm, out; MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); i = out;"]
LEAVING_OUTSIDE = [
    "union U { MPI_Comm c; int n; };", "union U { S *a; void *b; };", "int f(void) { return comm; }", "int g(int x) { return x; } int f(void) { return g(comm); }",
    "int g(MPI_Comm c) { return c != MPI_COMM_NULL; } int (*f)(int) = g;", "int g(); int f(void) { return g(comm); } int g(c) MPI_Comm c; { return c != 0; }",
    "void copy(void *a, void *b, int n) { for (int k = 0; k < n; k++) ((char *)a)[k] = ((char *)b)[k]; } void f(void) { copy(buf, &s, sizeof s); }", "S *g = (S *)buf;",
    "int f(int n, ...) { va_list a; va_start(a, n); MPI_Comm c = va_arg(a, MPI_Comm); va_end(a); return c != MPI_COMM_NULL; }", "int f(int n, ...); int g(void) { return f(1, comm); } int f(int n, ...) { return n; }",
    "static void *kept; void k(void *p) { kept = p; } void f(void) { k(sp); }", "static void *kept; static void k(void *p) { kept = p; } static void k2(void *p) { k(p); } void f(void) { k2(sp); }",
    "typedef struct N { S *s; } N; typedef struct M { void *p; } M; void f(N *n) { ((M *)n)->p = buf; }", "struct T { int a; }; struct T f(void) { struct T t = {comm}; return t; }",
    "typedef int my; void f(void) { my m = comm; i = m; }", "void f(int (*g)(int)) { i = g(comm); }", "void k(void *p) { buf[0] = *(char *)p; free(p); } void f(void) { k(sp); }",
    "double *f(void) { return (double *)sp + 1; }", "static struct { MPI_Comm c; } w; void f(void) { memcpy(buf, &w, sizeof w); }"]
STAYING = [
    "sp = (S *)malloc(3 * sizeof *sp); sp[0].c = comm; free(sp);", "sp = malloc(sizeof *sp); sp->c = comm; free((void *)sp);", "MPI_Comm d; MPI_Comm_dup(comm, &d); if (d != comm && d) MPI_Comm_free(&d);",
    "MPI_Request r[3]; MPI_Status st[3]; r[0] = r[1] = req; MPI_Waitall(2, r, st);", "S t = s; memcpy(&t, &s, sizeof s); s = t;", "memset(&s, 0, sizeof s);", 'printf("%d", comm);',
    "while (comm != MPI_COMM_NULL && !comm) comm = MPI_COMM_NULL;", "MPI_Aint a; MPI_Get_address(&s.c, &a); l = a;", "sp = (S *)((char *)sp + sizeof *sp);",
    "MPI_Comm d = l > 1 ? comm : MPI_COMM_WORLD; comm = d;", "MPI_Datatype t, u[2]; u[0] = MPI_INT; u[1] = t; MPI_Type_commit(&u[1]);", "l = (char *)&s.c - (char *)&s;",
    "const S *q = &s; i = q->n;", "__typeof__(comm) d = comm; comm = d;", "P *p = malloc(sizeof *p); vp = p; p = vp; memcpy(buf, p, sizeof *p);", "sp = (S *)realloc(sp, 10 * sizeof *sp);",
    "MPI_Request *r = malloc(4 * sizeof *r); r[0] = req; r++; free(r - 1);", "s = (S){1, comm, 2.0};", "S t = {.c = comm}; s = t;", "MPI_Comm a[2] = {comm, MPI_COMM_NULL}; comm = a[0];", "i = sizeof comm;", "sp = vp;"]
STAYING_OUTSIDE = [
    "MPI_Comm g(MPI_Comm c) { return c; } MPI_Comm (*gp)(MPI_Comm) = g; void f(void) { comm = gp(comm); comm = g(comm); }",
    "void o(void *in, void *out, int *n, MPI_Datatype *t) { for (int k = 0; k < *n; k++) ((int *)out)[k] += ((int *)in)[k]; } void p(void) { MPI_Op q; MPI_Op_create(o, 1, &q); MPI_Op_create((MPI_User_function *)o, 1, &q); }",
    "void fr(void *p) { if (p) free(p); } void f2(void *p) { fr(p); } void f3(void) { f2(sp); fr((void *)sp); }", "static MPI_Comm a = MPI_COMM_NULL, b[2] = {MPI_COMM_NULL, MPI_COMM_SELF}; S t = {1, MPI_COMM_WORLD, 3};",
    "void key(void) { int k; MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL); MPI_Comm_set_attr(MPI_COMM_WORLD, k, NULL); }",
    "void *xm(size_t n) { void *p = malloc(n); if (!p) exit(1); return p; } void f4(void) { sp = xm(sizeof *sp); MPI_Request *r = (MPI_Request *)xm(3 * sizeof *r); r[0] = req; free(r); }",
    "typedef struct N { struct N *next; S s; } N; N *f5(N *n) { N *m = malloc(sizeof *m); m->next = n; m->s.c = comm; return m; }"]
MAIN = "#include <mpi.h>\nMPI_Comm world = MPI_COMM_NULL;\nint main(int argc, char **argv) { MPI_Init(&argc, &argv); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\n"


class Handles(Cases):
    def setUp(self):
        super().setUp()
        if self.build.mpi != "mpich":
            self.skipTest("its handles are pointers")

    def leaving(self, anywhere=r"[01]", **files):
        """The files of which elc-cc says that handles may leave their types there, or to anywhere (1), also where no integer lies."""
        for name, text in files.items():
            self.write(name + ".c", text)
        self.write("main.c", MAIN)
        said = self.cc("-w", "-fopenmp", "-felc-keep", "-o", "prog", "main.c", *(name + ".c" for name in files))
        kept = {name: self.read(path) for name, path in re.findall(r"what is compiled of (\w+)\.c: (\S+)", said)}
        self.assertIn("main", kept, said)  # what is left as it was is not among them
        return {name for name, text in kept.items() if re.search(r'elc_make_types\(void\) \{[^\n]*ELC_Program_mixes_handles\("[^"]*", %s\);' % anywhere, text)}

    def test_all_ways_out(self):
        files = {"a%d" % n: "%svoid leave%d(void) { %s }\n" % (BEFORE, n, text) for n, text in enumerate(LEAVING)}
        files.update(("b%d" % n, BEFORE + re.sub(r"\b(f|g|k|k2|copy)\b", r"\g<1>_%d" % n, text) + "\n") for n, text in enumerate(LEAVING_OUTSIDE))
        seen = self.leaving(**files)
        self.assertEqual([text.split("\n")[-2] for name, text in files.items() if name not in seen], [])

    def test_what_stays(self):
        outside = {"b%d" % n: BEFORE + text + "\n" for n, text in enumerate(STAYING_OUTSIDE)}
        self.assertEqual(self.leaving(a=BEFORE + "".join("void stay%d(void) { %s }\n" % each for each in enumerate(STAYING)), **outside), set())

    def test_where_they_go_to(self):
        """As a number, or its bytes, to anywhere; by a pointer to a struct with one, to where integers lie, unless it is packed."""
        packed = "struct __attribute__((packed)) Q { char c; MPI_Comm m; };"
        only = {"a": "struct N { S *s; } n; void fa(void) { vp = &n; }", "b": "S *g = (S *)buf;", "c": "union U { S *a; void *b; };", "d": "void fd(void) { void **q = (void **)&sp; *q = buf; }"}
        all_over = {"e": "void fe(void) { vp = sp; }", "f": "void ff(void) { i = comm; }", "g": "void fg(void) { i = MPI_Comm_c2f(comm); }", "h": "static int hh(MPI_Comm c) { return c != comm; } int (*h)(int) = hh;",
                    "j": packed + " struct Q *j = (struct Q *)buf;", "m": "struct __attribute__((packed, aligned(4))) A { char c; MPI_Comm m; } *am;", "k": "void fk(void) { S both[2]; memcpy(buf, both, sizeof both); }", "l": "union V { MPI_Comm c; int n; };"}
        files = {name: BEFORE + text + "\n" for name, text in {**only, **all_over}.items()}
        self.assertEqual(self.leaving("0", **files), set(only))
        self.assertEqual(self.leaving("1", **files), set(all_over))

    def test_declarations_that_differ(self):
        """Each file sees nothing of it."""
        user = "int known(int);\nint use(int n) { return known(n); }\n"
        self.assertEqual(self.leaving(a=user, b=BEFORE + "int known(MPI_Comm c) { return c != comm; }\n"), {"main"})
        self.assertEqual(self.leaving(a=user, b="int known(int n) { return n; }\n"), set())
        self.assertEqual(self.leaving(a=BEFORE + "void use(void) { extern int world; i = world; }\n"), {"main"})
        opaque = "struct T;\nvoid *kept;\nvoid keep(struct T *t) { kept = t; }\n"
        self.assertEqual(self.leaving(a=opaque, b=BEFORE + "struct T { MPI_Comm c; };\n"), {"a"})
        self.assertEqual(self.leaving(a=opaque, b=BEFORE + "struct T { int c; };\n"), set())

    CHANCE = """static unsigned char *all; static double *some; static long longs[40]; static MPI_Comm own, *owns; static MPI_Group group; static MPI_Datatype type;
        static unsigned kinds[] = {0x84000000u, 0x88000000u, 0x8c000000u, 0x98000000u, 0xac000000u, 0xc4000000u};"""
    USE = """if (i == 0) {
          int k, n; MPI_Comm_dup(MPI_COMM_WORLD, &own); MPI_Comm_group(own, &group); MPI_Type_contiguous(3, MPI_INT, &type); MPI_Type_commit(&type);
          owns = malloc(2 * sizeof *owns); owns[0] = own; MPI_Comm_dup(own, &owns[1]);
          all = malloc(6 * 64 * 4 + 1); some = calloc(100, sizeof *some);
          for (k = 0; k < 6; k++) for (n = 0; n < 64; n++) { unsigned h = kinds[k] + n; memcpy(all + 1 + 4 * (64 * k + n), &h, 4); }
          for (k = 0; k < 40; k++) longs[k] = kinds[k % 6] + k / 6;
          memcpy(some, all + 1, 100 * sizeof *some); }
        { long mine = 0, sum; int k; for (k = 1; k <= 6 * 64 * 4; k++) mine += all[k]; mine += longs[i % 40] % 1000 + memcmp(some, all + 1, 800); all[1 + i % 7]++; all[1 + i % 7]--;
          MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, owns[i % 2]); result += sum % 100000; MPI_Comm_compare(own, owns[1], &k); result += k == MPI_CONGRUENT; MPI_Type_size(type, &k); result += k; }
        if (i == 99) MPI_Type_free(&type);"""

    def test_numbers_that_are_some_by_chance(self):
        """No line is refused for them."""
        self.right(self.CHANCE, self.USE)
        self.write("prog.c", PROGRAM % (self.CHANCE, self.USE + " if (i == 1) memcpy(all + 5, &own, sizeof own);"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"a handle of MPI.*the program may have put one there: prog\.c:\d+")

    def test_memory_of_no_size(self):
        """Which has a word all the same."""
        self.write("prog.c", PROGRAM % ("static MPI_Comm *none; static void *any;", "if (i == 0) { none = malloc(0); MPI_Comm_dup(MPI_COMM_WORLD, none); } if (i == 3) MPI_Barrier(*none);"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("a handle of MPI")

    POOL = """struct own { int n; MPI_Comm comm; }; static double memory[80]; static struct own *own;
        static void *get(size_t n) { (void)n; return memory + 7; }"""

    def test_memory_that_is_for_anything(self):
        """A restart from before a handle came there knows that one may."""
        make = "if (i == 0) { own = get(sizeof *own); own->comm = MPI_COMM_NULL; own->n = 7; } "
        later = "if (i == 70) MPI_Comm_dup(MPI_COMM_WORLD, &own->comm); if (i > 70) deep(1, 1); result += own->n;"
        self.write("prog.c", PROGRAM % (self.POOL, make + later))
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog")
        expected = self.start("plain")
        out, said = self.planned("prog", "20 90 100")
        self.assertEqual(out, expected, said)
        self.assertRegex(said, "line 2 is abandoned.*a handle of MPI")
        out, said = self.planned("prog", "70 80", ELC_RESTART="1")
        self.assertIn("restarting from line 1", said)
        self.assertEqual(out, expected, said)
        self.assertRegex(said, "line 2 is abandoned.*a handle of MPI")
