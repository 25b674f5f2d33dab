"""What is found out when a line is taken."""

import os
import re
import shutil
import struct

from cases import ANSWER, Cases, launch, PROGRAM


class Lines(Cases):
    """What is found out when a line is taken."""

    def refused(self, message, outside, inside, *words):
        self.write("prog.c", PROGRAM % (outside, inside))
        self.cc("prog.c", "-o", "prog", *words)
        self.assert_refuses_line(re.escape(message))

    def test_order_of_what_is_in_a_section(self):
        """As linkers collect tables: the compiler gives their variables another order at another level of optimisation."""
        self.write("prog.c", PROGRAM % ("""typedef struct { const char *name; int weight; } entry; extern entry *__start_entries[], *__stop_entries[];
#define ENTRY(n, w) static entry e_##n = {#n, w}; static entry *p_##n __attribute__((used, section("entries"))) = &e_##n;
ENTRY(one, 1) ENTRY(two, 20) ENTRY(three, 300)""", "for (entry **e = __start_entries; e < __stop_entries; e++) result = result * 3 % 1000003 + deep((*e)->weight++, 1);"))
        for level in "-O0", "-O2":
            self.cc("prog.c", level, "-o", "prog")
            shutil.rmtree(os.path.join(self.home, "lines"), ignore_errors=True)
            out, said = self.planned("prog", "31")
            self.assertEqual(out, self.planned("prog", ELC_RESTART="1")[0])
        self.cc("prog.c", "-O0", "-o", "prog")
        self.assertRegex(self.planned("prog", code=65, ELC_RESTART="1")[1], "the program may have the order of the variables in section entries, as a number in its variables ")

    def test_files_that_are_read_and_written_over(self):
        self.refused("is written by MPI_File_open, and open in another way, too: a restart could not bring back", "static MPI_File to; static FILE *from;",
                     'if (i == 0) { MPI_File_open(MPI_COMM_WORLD, "over", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &to); from = fopen("over", "r"); }'
                     ' if (rank == 0) MPI_File_write_at(to, 0, &i, 1, MPI_INT, MPI_STATUS_IGNORE); if (i == 99) { fclose(from); MPI_File_close(&to); }')

    def test_address_in_bytes(self):
        """A block that is taken for numbers and has an address in it, as pools of memory have."""
        self.refused("holds an address", "static char *pool; static long *kept; struct n { struct n *next; };",
                     "if (pool == NULL) { pool = malloc(4096); kept = malloc(8); }"
                     "memcpy(pool + 8, &kept, sizeof kept);")
        self.assert_refuses_line("; .prog.c:pool. of the globals leads there")
        self.refused("holds an address", "static double *pool; struct n { struct n *next; }; static struct n n;",
                     "if (pool == NULL) pool = malloc(4096); { struct n *at = &n; memcpy(pool + 3, &at, sizeof at); }")

    def test_addresses_in_numbers_and_gaps(self):
        """A list of free cells, linked through their beginnings, which lines have as an int and nothing."""
        for made in "all = calloc(40, sizeof *all)", "for (int k = 0; k < 40; k++) { struct cell *c = calloc(1, sizeof *c); memcpy(c, &list, sizeof list); list = c; }":
            with self.subTest(made):
                self.refused("holds an address", "struct cell { int n; double x; }; static struct cell *list, *all;",
                             "if (i == 0) { %s; for (int k = 0; all && k < 40; k++) { memcpy(all + k, &list, sizeof list); list = all + k; } } deep(1, 1); "
                             "if (i == 99) { memcpy(&list, list, sizeof list); result += list->n == 1; }" % made)

    def test_addresses_at_odd_places(self):
        """Where numbers begin that are smaller than one: in bytes of structs, among small numbers, in structs with pointers that are packed."""
        for declared, at in (("static struct { int type; unsigned char bytes[8]; int n; } all[4];", "all[2].bytes"), ("static int all[8];", "all + 3"),
                             ("static unsigned short all[9];", "all + 2"), ("static struct { short n; char bytes[10]; } all;", "all.bytes + 1"),
                             ("#pragma pack(1)\nstatic struct { char tag; void *p; char bytes[20]; } all[2];\n#pragma pack()", "all[1].bytes + 3"),
                             ("static float *all;", "(all = all ? all : calloc(10, sizeof *all)) + 1"),
                             ("static double *all;", "(char *)(all = all ? all : calloc(10, sizeof *all)) + 12"), ("static struct { double x; long n[2]; } all;", "(char *)&all + 4"), ("static struct { int n[2]; char *name; int m[3]; } all;", "all.m + 1")):
            with self.subTest(declared):
                if struct.calcsize("P") == 8:
                    self.refused("holds an address", "static long *kept;\n" + declared,
                                 "if (kept == NULL) kept = calloc(4, 8); memcpy(%s, &kept, sizeof kept);" % at)

    BIG = "struct big { double u[9000]; int n[3]; char *name; int last; short more[2]; }; static struct big *all;"

    def test_addresses_in_large_structs(self):
        """Which are looked at a part at a time: in the first, where one ends, behind it, and from an element into the next."""
        for at in ("all[1].u + 5", "(char *)all[0].u + 65532", "(char *)all[0].u + 65536", "all[1].n + 1", "&all[1].last", "(char *)&all[0].more"):
            with self.subTest(at):
                if struct.calcsize("P") == 8:
                    self.refused("holds an address", "static long *kept;\n" + self.BIG,
                                 "if (all == NULL) { all = calloc(3, sizeof *all); kept = calloc(4, 8); memcpy(%s, &kept, sizeof kept); }" % at)

    def test_copies_of_the_process_with_large_structs(self):
        """They have little memory, whatever the structs have in them, and however many there are."""
        self.write("prog.c", PROGRAM % ("static struct { int calls; struct { int n; char name[124]; } of[20000]; } one, two; struct cell { double x; long n[7]; } *cells[40000];\n" + self.BIG,
                                        "if (i == 0) { int k; all = calloc(40, sizeof *all); for (k = 0; k < 40000; k++) { cells[k] = calloc(1, sizeof *cells[k]); cells[k]->x = k; } }"
                                        ' sprintf(one.of[i].name, "%d", i); two.of[i] = one.of[i]; two.calls++; all[i % 40].u[i] = i; result += (long)cells[i]->x; deep(1, 1);'))
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog")
        out, said = self.planned("prog", 50, ELC_BACKGROUND="fork")
        self.assertEqual(out, self.start("plain"))
        self.assertIn("is written by a copy of the process", said)
        self.assertIn("line 1 has committed", said)
        self.assertEqual(self.planned("prog", ELC_RESTART="1")[0], out)

    def test_number_in_a_pointer_to_a_function(self):
        self.refused("a pointer to a function has the value 0x1001, which is no address", "static void (*none)(void);", "none = (void (*)(void))0x1001;")

    def test_numbers_in_pointers_of_an_executable_that_lies_low(self):
        for value in ("100000", "0xdeadbeef", "0x200000001"):
            if struct.calcsize("P") == 8:
                self.refused("which is no address", "static void *mark;", "mark = (void *)%s;" % value, "-no-pie", "-w")
        self.right("static double *x; static void *gone; static struct s { struct s *next; double v; } *all;",
                   "if (i == 0) { x = malloc(800); memset(x, 0, 800); gone = malloc(5000); free(gone); } { struct s *s = malloc(sizeof *s); s->next = all; s->v = i; all = s; x[i] = i; }"
                   " deep(1, 1); result += (long)(x[i / 2] + (all->next != NULL ? all->next->v : 0));", "-no-pie")

    def test_file_to_which_each_writes_by_its_descriptor(self):
        """One by the stream, too: the others seem to have written nothing."""
        self.refused("is open in another rank, too, and written", "#include <unistd.h>\nstatic FILE *file;",
                     'if (file == NULL) { file = fopen("shared", "w"); if (rank == 0) fputs("head", file); } pwrite(fileno(file), "text", 4, 10 + 8 * i + 4 * rank);')

    def test_synchronous_sends_by_which_it_knows_that_all_were_received(self):
        """Partners that do not know how many messages they get: each sends by MPI_Issend, and there are no more when all sends are complete
        everywhere. Of lines that such messages cross, and of restarts, that could be too early."""
        exchange = """
static int out[2]; static MPI_Request sends[2];
static long exchange(int i, int rank) {
  MPI_Request barrier; int n = 0, to, all = 0, done = 0, is_under_way = 0, there, x; long got = 0;
  for (to = 0; to < 2; to++)
    if ((rank + to + i) % 2) out[to] = rank * 100 + i, MPI_Issend(&out[to], 1, MPI_INT, to, i, MPI_COMM_WORLD, &sends[n++]);
  while (!done) {
    MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE), got += x;
    if (is_under_way) MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    else if (MPI_Testall(n, sends, &all, MPI_STATUSES_IGNORE), all) MPI_Ibarrier(MPI_COMM_WORLD, &barrier), is_under_way = 1;
  }
  return got;
}"""
        probes = """    MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE), got += x;
"""
        tests = """    static MPI_Request r = MPI_REQUEST_NULL; static int of;
    if (r == MPI_REQUEST_NULL) MPI_Irecv(&of, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &r);
    MPI_Test(&r, &there, MPI_STATUS_IGNORE);
    if (there) got += of;
"""
        self.assertIn(probes, exchange)
        lines = os.path.join(self.home, "lines")
        # The receive that nothing has come for waits for the next exchange.
        for text in exchange, exchange.replace(probes, tests).replace("MPI_INT, to, i,", "MPI_INT, to, 3,").replace("int n = 0, to,", "int n = 0, to, x = 0,").replace("there, x;", "there;"):
            self.write("prog.c", PROGRAM % (text, "if (i == 1 || i == 50) result += exchange(i, rank); if (i == 99) MPI_Barrier(MPI_COMM_WORLD);"))
            self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
            self.cc("prog.c", "-w", "-o", "prog")
            expected, taken = self.start("plain"), 0
            for _ in range(6):
                out, said = self.planned("prog", self.chance.randrange(2, 99))
                self.assertEqual(out, expected, said)
                if launch.committed(lines):
                    taken += 1
                    out, said = self.planned("prog", ELC_RESTART="1")
                    self.assertEqual(out, expected, said)
                else:
                    self.assertIn("messages cross it, MPI_Issend or MPI_Ssend was called", said)
                shutil.rmtree(lines)
            self.assertGreater(taken, 0)
        # What crosses a line: process 1 takes its part of the line before it receives what process 0 has sent before its own.
        late = "static int x, there; static MPI_Request r;"
        sends = "if (i == 20 && rank == 0) { MPI_Issend(&i, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE); }"
        receives = " if (i == 20 && rank == 1) { while (!there) MPI_Iprobe(0, 5, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE); MPI_Recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }"
        self.write("prog.c", PROGRAM % (late, sends + receives + " result += x;"))
        self.cc("prog.c", "-o", "prog")
        said = self.planned("prog", (24, 21))[1]
        self.assertIn("messages cross it, MPI_Issend or MPI_Ssend was called, and the program looks for messages", said)
        self.assertEqual(launch.committed(lines), [])
        expected, said = self.planned("prog", (24, 21), ELC_EARLY_SENDS="yes")
        self.assertEqual(launch.committed(lines), [1], said)
        self.assertEqual(self.planned("prog", ELC_RESTART="1", ELC_EARLY_SENDS="yes")[0], expected)

    def test_error_of_a_stream_that_is_read(self):
        self.refused("the program has not seen to an error of the stream of ", "static FILE *f;", 'if (i == 0) { f = fopen("prog.c", "r"); putc(65, f); } result += ferror(f) != 0;')

    def test_stream_in_other_memory(self):
        """Of which nothing says that it has one, as pools of memory have."""
        self.refused("a stream", "static char *pool;", "if (pool == NULL) { FILE *to = stdout; pool = malloc(4096); memcpy(pool + 64, &to, sizeof to); }")

    def test_foreign_addresses(self):
        """Structs that are sent whole, with a pointer of the sender's that nobody follows."""
        particle = "struct particle { long n; struct particle *of_sender; }; static struct particle *all;"
        inside = ("if (all == NULL) all = malloc(10 * sizeof *all);"
                  "{ struct { long n, address; } sent = {i, 0x123456789ab0}; memcpy(&all[i % 10], &sent, sizeof sent); } deep(1, 1);"
                  "result += all[i % 10].n - i;")
        if struct.calcsize("P") == 8:
            self.refused("link with -felc-foreign-addresses", particle, inside)
            self.right(particle, inside, "-felc-foreign-addresses")

    def test_addresses_told_to_others(self):
        """Which have them when a line is taken, and give them back, as requests have cookies that answers bring back."""
        outside = ("struct asked { long id, more[4]; struct asked *next; }; static struct asked *mine; static unsigned long told; static MPI_Aint place;"
                   "static char parked[sizeof(struct asked)];"
                   "static void swap(int rank, void *out, void *in, int n, MPI_Datatype type) { MPI_Sendrecv(out, n, type, 1 - rank, 1, in, n, type, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }"
                   "static long ask(int rank) { unsigned long cookie = 0; swap(rank, &told, &cookie, 1, MPI_UNSIGNED_LONG); return *(long *)cookie; }"
                   "static void make(int i) { mine = calloc(1, sizeof *mine); mine->id = i; mine->next = mine; }")
        number = ("if (i == 0) { make(i); unsigned long cookie = (unsigned long)%s; swap(rank, &cookie, &told, 1, MPI_UNSIGNED_LONG); }"
                  "deep(1, 1); result += ask(rank);")
        cases = (number % "mine", number % "&mine->more[1]",
                 # One that is gone where another process has it no longer: but what the line has of that is as it was.
                 "make(i); { unsigned long cookie = (unsigned long)mine; swap(rank, &cookie, &told, 1, MPI_UNSIGNED_LONG); }"
                 "deep(1, 1); result += ask(rank); free(mine);",
                 "if (i == 0) { make(i); swap(rank, mine, parked, sizeof parked, MPI_BYTE); memset(mine, 0, sizeof *mine); }"
                 "deep(1, 1); if (i == 99) { swap(rank, parked, mine, sizeof parked, MPI_BYTE); result += mine->next->id; }",
                 "if (i == 0) { make(i); MPI_Aint at; MPI_Get_address(&mine->more[2], &at); swap(rank, &at, &place, 1, MPI_AINT); }"
                 "deep(1, 1); if (i == 99) { MPI_Aint at; swap(rank, &place, &at, 1, MPI_AINT); result += *(long *)at; }",
                 "if (i == 0) { make(i); unsigned long cookie = (unsigned long)mine; MPI_Send(&cookie, 1, MPI_UNSIGNED_LONG, 1 - rank, 1, MPI_COMM_WORLD); }"
                 "deep(1, 1); if (i == 99) { MPI_Recv(&told, 1, MPI_UNSIGNED_LONG, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); result += ask(rank); }")
        for inside in cases if struct.calcsize("P") == 8 else (cases[0],):
            with self.subTest(inside):
                self.write("prog.c", PROGRAM % (outside, inside))
                self.cc("prog.c", "-o", "prog")
                for how in ("fork", "copy", "no") if inside is cases[0] else ("no",):
                    self.assert_refuses_line(r"rank [01] has the address of (something|[0-9]+ bytes) of this one" + ("|'cookie.*holds an address" if inside is cases[2] else ""), ELC_BACKGROUND=how)
        self.right(outside, (number % "mine").replace("ask(rank)", "told != 0"), "-felc-foreign-addresses")

    def test_numbers_like_addresses_of_others(self):
        """Which nobody has; or that are of this process, and of what is over."""
        self.right("static char gone[8], freed[8]; static void note(void) { int here = 1; void *p = &here, *q = malloc(40); memcpy(gone, &p, sizeof p); memcpy(freed, &q, sizeof q); free(q); }",
                   "note(); deep(1, 1); result += gone[7] + freed[7];")
        self.right("static long numbers[200]; static char bytes[200];", "numbers[i] = 0x55aa00000000 + i * 4096 + rank; memcpy(bytes + i, &numbers[i], 8); deep(1, 1); result += numbers[i / 2] % 4096 + bytes[i / 2];")

    def test_pointer_to_what_lines_lack(self):
        self.write("other.c", 'static char own[4] = "own"; void give(char **to) { *to = own; }')
        self.run_words("gcc", "-c", "other.c")
        self.refused("points to something of the program that lines do not have", "void give(char **to); static char *given;",
                     "give(&given); result += given[0] == 'x';", "other.o", "-felc-stateless=give")

    def test_address_in_variables_of_functions(self):
        for declared, is_wrong in (("unsigned long kept[3]; kept[1] = (unsigned long)&result;", "kept[1] == 0"),
                                   ("struct { int n; unsigned long at; } kept; kept.at = (unsigned long)&result;", "kept.at == 0"),
                                   ("unsigned long kept, *to = &kept; *to = (unsigned long)&result;", "*to == 0"),
                                   ("static long at[1000]; long kept[1000]; kept[7] = (long)&at[3];", "kept[7] == 0")):
            with self.subTest(declared):
                self.refused("holds an address", "", "if (i == 0) { %s int k; for (k = 0; k < 100; k++) deep(1, 1); result += %s; }" % (declared, is_wrong))

    def test_one_before_a_block_is_no_end_of_another(self):
        """Of blocks whose sizes fill what the C library has for them, the end lies where an array that counts from 1 begins. In a
        restart, which makes them in the order in which the program did, there is another one in front."""
        for size, kind, before in (24, "double", 1), (40, "int", 2), (104, "struct pair", 1):
            with self.subTest("%d bytes, %s, %d" % (size, kind, before)):
                self.right("struct pair { long n; double x; }; static char *front[300], *between; static %s *a; static long sum(char *b, int n) "
                           "{ long s = 0; while (n-- > 0) s += b[n]; return s; }"
                           "static void make(void) { int k; for (k = 0; k < 300; k++) { front[k] = malloc(%d); a = (%s *)malloc(10 * sizeof *a) - %d; }"
                           "for (k = 290; k < 300; k++) free(front[k]); between = malloc(500); for (k = 290; k < 300; k++) "
                           "{ front[k] = malloc(%d); memset(front[k], 1, %d); } memset(a + %d, 1, 10 * sizeof *a); }"
                           % (kind, size, kind, before, size, size, before),
                           "if (a == NULL) make(); deep(1, 1); memset(a + %d + i %% 10, i & 7, sizeof *a);"
                           "result += sum((char *)(a + %d), 10 * sizeof *a) + sum(front[i / 10 + 290], %d);" % (before, before, size))

    # Of the first edition of Numerical Recipes: what it returns leads to before the memory, and so do the rows of its matrices.
    NRUTIL = r"""
static double *dvector(int nl, int nh) { double *v = (double *)malloc((unsigned)(nh - nl + 1) * sizeof(double)); return v - nl; }
static int *ivector(int nl, int nh) { int *v = (int *)malloc((unsigned)(nh - nl + 1) * sizeof(int)); return v - nl; }
static unsigned char *cvector(int nl, int nh) { unsigned char *v = (unsigned char *)malloc((unsigned)(nh - nl + 1)); return v - nl; }
static double **dmatrix(int nrl, int nrh, int ncl, int nch) {
  int i;
  double **m = (double **)malloc((unsigned)(nrh - nrl + 1) * sizeof(double *));
  m -= nrl;
  for (i = nrl; i <= nrh; i++) {
    m[i] = (double *)malloc((unsigned)(nch - ncl + 1) * sizeof(double));
    m[i] -= ncl;
  }
  return m;
}
static double **convert_matrix(double *a, int nrl, int nrh, int ncl, int nch) {
  int i, j, ncol = nch - ncl + 1;
  double **m = (double **)malloc((unsigned)(nrh - nrl + 1) * sizeof(double *));
  m -= nrl;
  for (i = nrl, j = 0; i <= nrh; i++, j++) m[i] = a + ncol * j - ncl;
  return m;
}
static void free_dvector(double *v, int nl) { free(v + nl); }
static void free_dmatrix(double **m, int nrl, int nrh, int ncl) { int i; for (i = nrh; i >= nrl; i--) free(m[i] + ncl); free(m + nrl); }
"""

    def test_counts_from_one_in_other_elements(self):
        """A pointer of another type than the block's elements, of which it is not a whole number before it, is no place in a line."""
        self.write("prog.c", PROGRAM % ("struct pair { double re, im; };", """static struct pair *pairs; static double *values;
    if (i == 0) { pairs = malloc(40 * sizeof *pairs); values = (double *)pairs - 1; }
    values[1] = i; result += (long)values[1];"""))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("values' .*a pointer in it was moved to 8 bytes before a block of")

    def test_what_is_added_is_negative(self):
        """In functions that neither get memory nor keep any, to which it is given, too; neighbours end where such pointers lead, and begin elsewhere."""
        outside = """struct three { double x, y, z; }; struct two { double re; int k; }; enum { kAll = 12 };
static char *front[kAll], *gone[kAll]; static struct { KIND *up[kAll], *by_index[kAll], *given[kAll], *by_steps[kAll]; } at; static int n; static const int by[] = {-2, -1, 1, 2}; static _Atomic long backs[] = {-2, -1};
static void keep(KIND *v) { at.given[n] = v; }
static void give(KIND *p, int less) { keep(p - less); }
static void set_up(KIND *b, long more) { at.up[n] = b + more; at.by_index[n] = &b[backs[n % 2]]; }
static void set_by_steps(KIND *b, const int *more) { KIND *p = b; p += more[0]; p += more[1]; at.by_steps[n] = p; }
struct pair { KIND *v; int n; }; static struct pair pairs[kAll]; static KIND *rows[kAll], *parts[kAll], *twice[kAll];
static void put(struct pair *to, KIND *b, int less) { struct pair p = {b - less, less}; *to = p; }
static void set_rows(KIND *b, int two) { KIND (*m)[2] = (KIND (*)[2])b, (*more)[two] = (KIND (*)[two])b; rows[n] = n % 2 ? m[-1] : *(m - two / 2); more = more - 1; parts[n] = n % 2 ? &more[0][1] : &*(&(*more)[1] + (two - 2)); twice[n] = b - 1; twice[n] = twice[n] - 1; }
static void make(void) { int k; for (k = 0; k < kAll; k++) { front[k] = malloc(SIZE); gone[k] = calloc(1, LENGTH * sizeof(KIND)); }
  for (k = 0; k < kAll; k++) { free(gone[k]); gone[k] = NULL; }
  for (n = 0; n < kAll; n++) { KIND *b = (KIND *)calloc(LENGTH, sizeof *b); set_up(b, by[(n + i_now) % 2]); give(b, n % 2 + 1); set_by_steps(b, by); put(&pairs[n], b, 1); set_rows(b, 2); memset(front[n], 1, SIZE); }
}
static long sum(const char *b, int n) { long s = 0; while (n-- > 0) s += b[n]; return s; }"""
        inside = """if (i == 0) make(); deep(1, 1); { int k = i % kAll; at.up[k][-by[k % 2] + i % LENGTH]VALUE += i; at.by_index[k][-by[k % 2]]VALUE += 1;
      at.given[k][k % 2 + 1 + i % LENGTH]VALUE += 2; at.by_steps[k][3]VALUE += 3; rows[k][2]VALUE += 4; parts[k][1]VALUE += 5; pairs[k].v[pairs[k].n + 1]VALUE += 6; twice[k][2]VALUE += 7; result += (long)at.up[k][-by[k % 2]]VALUE + (long)at.given[k][k % 2 + 1]VALUE + sum(front[k], SIZE); }"""
        for kind, value, length in ("double", "", 4), ("int", "", 6), ("struct three", ".y", 2), ("struct two", ".k", 3), ("char", "", 24):
            for size in self.chance.sample((56, 64, 72), 2):
                with self.subTest("%s, %d bytes in front" % (kind, size)):
                    words = (("KIND", kind), ("VALUE", value), ("LENGTH", str(length)), ("SIZE", str(size)), ("i_now", "0"))
                    texts = [outside, inside]
                    for name, text in words:
                        texts = [t.replace(name, text) for t in texts]
                    self.right(*texts)

    def test_large_elements_that_count_from_one(self):
        """Blocks are as far apart as the program subtracts from pointers."""
        self.right("""struct row { double x[5]; int k; }; static struct row *rows, *later, *by_index, *by_sum; static double *from_three; static long *between[8];
static struct row *make(int n) { struct row *v = (struct row *)malloc(n * sizeof *v); int i; for (i = 0; i < n; i++) v[i].k = i, v[i].x[2] = i; v--; return v; }""",
                   """if (i % 7 == 0) {
      static int n; between[n % 8] = malloc(40 + 16 * (n % 3)); memset(between[n % 8], 1, 40); n++;
      if (rows != NULL) free(rows + 1), free(later + 1), free(from_three + 3);
      rows = make(3 + i % 5); later = (struct row *)malloc(4 * sizeof *later) - 1; memset(later + 1, 0, 4 * sizeof *later);
      from_three = (double *)calloc(9, sizeof(double)) - 3;
      if (by_index != NULL) free(by_index + 1), free(by_sum + 2);
      by_index = &((struct row *)calloc(2, sizeof *rows))[-1], by_sum = -2 + (struct row *)calloc(2, sizeof *rows);
    }
    by_index[1].k += i, by_sum[2].k += by_index[1].k, result += by_sum[2].k;
    deep(1, 1); later[2].k += i, from_three[4] += rows[2].k; result += rows[3].k + (long)rows[3].x[2] + later[2].k + (long)from_three[4] + later[4].k;""")

    def test_arrays_that_count_from_one(self):
        """Eigenvalues by Jacobi's rotations: globals, variables of functions, members of structs, rows, memory that grows or was freed."""
        outside = self.NRUTIL + r"""
#include <math.h>
struct pair { double re, im; };
struct problem { int n; double **a, *d; struct pair *z; struct { int *of; } index; };
static struct problem problem;
static double **global, *gone, *grown;
static unsigned char *kinds;
static double sweep(double **a, double *d, int n) {
  int i, j, k, *order = ivector(2, n + 1);
  double off = 0, *b = dvector(1, n), **rows = dmatrix(1, n, 0, n);
  for (i = 1; i <= n; i++) { b[i] = d[i]; order[i + 1] = i; deep(1, 1); }
  for (i = 1; i < n; i++)
    for (j = i + 1; j <= n; j++) {
      double theta, t, c, s;
      if (fabs(a[i][j]) < 1e-12) continue;
      theta = (a[j][j] - a[i][i]) / (2 * a[i][j]);
      t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
      c = 1 / sqrt(t * t + 1), s = t * c;
      for (k = 1; k <= n; k++) { double x = a[k][i], y = a[k][j]; a[k][i] = c * x - s * y; a[k][j] = s * x + c * y; rows[k][i] = x; }
      for (k = 1; k <= n; k++) { double x = a[i][k], y = a[j][k]; a[i][k] = c * x - s * y; a[j][k] = s * x + c * y; rows[i][0] += y; }
      deep(1, 1);
    }
  for (i = 1; i <= n; i++) { d[order[i + 1]] = a[i][i]; off += fabs(d[i] - b[i]); deep(1, 1); }
  free(order + 2);
  free_dvector(b, 1);
  free_dmatrix(rows, 1, n, 0);
  return off;
}
static double solve(int n, int step) {
  static double *flat;
  int i, j;
  double **m, sum = 0;
  if (flat == NULL) flat = (double *)malloc(100 * sizeof(double));
  for (i = 0; i < n * n; i++) flat[i] = 1.0 / (1 + i / n + i % n + step);
  m = convert_matrix(flat, 1, n, 1, n);
  sum += sweep(m, problem.d, n);
  for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) problem.a[i][j] = m[i][j], sum += (i + 1) * m[i][j], problem.z[i].im += m[i][j];
  free(m + 1);
  return sum;
}
static void begin(void) {
  int i;
  problem.n = 5, problem.a = dmatrix(1, 5, 1, 5), problem.d = dvector(1, 5), problem.z = (struct pair *)calloc(5, sizeof(struct pair)) - 1;
  problem.index.of = ivector(1, 5), kinds = cvector(1, 9), global = dmatrix(2, 4, 2, 3), gone = dvector(1, 3), grown = dvector(1, 2);
  for (i = 1; i <= 5; i++) problem.d[i] = 0, problem.index.of[i] = 6 - i;
  for (i = 1; i <= 9; i++) kinds[i] = i;
  grown[1] = 1, grown[2] = 2, global[4][3] = 43, global[2][2] = 22;
  free(gone + 1);
}
"""
        inside = r"""
    if (i == 0) begin();
    if (i % 10 == 3) { int n = i / 10 + 3; grown = (double *)realloc(grown + 1, n * sizeof(double)) - 1; grown[n] = n; }
    result += (long)(1e6 * solve(problem.n, i)) + kinds[i % 9 + 1] + (long)grown[2] + (long)(global[4][3] += global[2][2]) + problem.index.of[i % 5 + 1];
    result += (long)(1e3 * problem.z[i % 5 + 1].im);
"""
        self.right(outside, inside, self.chance.choice(["-O0", "-O2"]), "-lm")

    def test_arrays_that_begin_far_before_their_memory(self):
        """By a number that a variable has: into other memory, or where there is none."""
        outside = r"""
struct node { double mass; int next; };
static struct node *base, *nodes; static double *other, *first, **m, *row; static int by = 3, count = 1000; static void *hole;
static struct { double *v; char *text; } kept;
static struct node *ways[8]; static void set(struct node *n) { ways[4] = n; }
static struct { unsigned by : 12; } bits = {1000};
static void by_others(struct node *b) { struct node *one, *other; other = one = b - count; ways[6] = other; }
static int held(struct node *b) { struct node *mine = b - bits.by; deep(1, 1); return mine[1004].next; }
static double *vector(long nl, long nh) { double *v = (double *)malloc((size_t)(nh - nl + 2) * sizeof(double)); if (!v) exit(1); return v - nl + 1; }
static double **matrix(long nrl, long nrh, long ncl, long nch) {
  long i, rows = nrh - nrl + 1, columns = nch - ncl + 1; double **all = (double **)malloc((size_t)(rows + 1) * sizeof(double *));
  all += 1; all -= nrl; all[nrl] = (double *)malloc((size_t)(rows * columns + 1) * sizeof(double)); all[nrl] += 1; all[nrl] -= ncl;
  for (i = nrl + 1; i <= nrh; i++) all[i] = all[i - 1] + columns;
  return all;
}
static void free_matrix(double **all, long nrl, long ncl) { free((char *)(all[nrl] + ncl - 1)); free((char *)(all + nrl - 1)); }
static void begin(void) {
  int k; first = malloc(7000 * 8); hole = malloc(64000); other = malloc(12000 * 8); for (k = 0; k < 12000; k++) other[k] = 3; free(hole); hole = NULL;
  base = malloc(200 * sizeof *base); nodes = base - count; for (k = 0; k < 200; k++) nodes[count + k].mass = k, nodes[count + k].next = 0;
  kept.v = by > 0 ? (double *)malloc(80) - 2 * by : NULL; kept.text = malloc(30); kept.text -= 500 * by; kept.v[9] = 7; strcpy(kept.text + 1500, "text");
  row = vector(40, 60); for (k = 40; k <= 60; k++) row[k] = k;
  { long off = -(long)count; struct { struct node *n; } in = {base - count}; ways[0] = &base[-count]; ways[1] = off + base; ways[2] = base + off; ways[3] = in.n; set(base - count); by_others(base); memcpy(&ways[7], &(struct node *){base - count}, sizeof ways[7]); ways[5] = &(base + 3)[0 - count] - 3; }
}
"""
        inside = r"""
  if (i == 0) { begin(); m = matrix(by, 8, 10, 20); }
  if (i % 9 == 8) { free_matrix(m, by, 10); by = 3 + i % 4; m = matrix(by, 8, 10, 20); }
  m[8][20] = i; m[by][10] = 2 * i; nodes[count + i].mass += i; kept.text[1500] = 'a' + i % 20;
  deep(1, 1); result += ways[i % 8][count + 4].next + (ways[i % 8] == nodes) + held(base); nodes[count + 4].next = i; result += (long)(nodes[count + i / 2].mass + m[8][20] + m[by][10] + kept.v[9] + row[40 + i % 21] + other[i]) + strlen(kept.text + 1500) + kept.text[1500];
"""
        self.right(outside, inside)
        for by, inside in ((100, "c = (char *)(v = (double *)malloc(80)) - by;"), (-100, "v = (double *)malloc(80) - by;")):
            self.refused("a pointer in it was moved to", "static double *v; static char *c; static int by = %d;" % by, "if (i == 0) { %s }" % inside)
        self.refused("before or behind a variable", "static double v[4], *at; static int by = 100;", "at = v - by;")

    def test_address_of_no_value(self):
        self.refused("but to no value there", "static struct { unsigned a : 4, b : 12; long n; } bits; static char *at;", "at = (char *)&bits + 1;")

    def test_address_in_a_union(self):
        """Of which nothing says which member is in use: what is there tells."""
        union = "union { long n; double d; char *text; } "
        for where in ("static struct { int kind; %s u; } kept[2];", "static %s kept[2];"):
            of = "kept[1].u" if "kind" in where else "kept[1]"
            with self.subTest(where):
                self.write("prog.c", PROGRAM % (where % union, of + ".n = 1; deep(1, 1); result += " + of + ".n + i;"))
                self.assertRegex(self.cc("prog.c", "-o", "prog"), r"elc-cc: warning: prog\.c:7: .* is saved as bytes and addresses: .*; what is there tells")
                self.assert_restarts("prog", self.start("prog"))
                self.right(where % union + " static char all[10];", of + ".text = all + i % 3; deep(1, 1); result += " + of + ".text - all;")

    def test_unions_of_all_kinds(self):
        """Objects of an interpreter: in lists, structs in the union, functions and streams, in frames, given as parameters and returned; numbers by all operators."""
        self.restarts_from_all(r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum kind { WHOLE, REAL, TEXT, LIST, CALL, PAIR, OUT };
struct value { enum kind kind; union u { long n; double d; int i; char *text; struct value *list; double (*call)(double); FILE *out;
  struct { struct value *first; int weight; } pair; struct { int x, y; double z; } point; unsigned bits[4]; } u; struct value *next; };
static double twice(double x) { return 2 * x; }
static double half(double x) { return x / 2; }
static struct value *cons(enum kind k, union u u, struct value *next) { struct value *v = malloc(sizeof *v); v->kind = k; v->u = u; v->next = next; return v; }
static double step(double x) { double all; MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); return all; }
static double sum(const struct value *v) {
  double s = 0;
  for (; v; v = v->next)
    switch (v->kind) {
      case WHOLE: s += v->u.n; break;
      case REAL: s += v->u.d; break;
      case TEXT: s += strlen(v->u.text) + v->u.text[0]; break;
      case LIST: s += 3 * sum(v->u.list); break;
      case CALL: s += v->u.call(s); break;
      case PAIR: s += v->u.pair.weight * sum(v->u.pair.first); break;
      case OUT: s += v->u.out == stdout; break;
    }
  return s / 1.5;
}
static union u through(union u u, int i) { for (; i > 0; i -= 5) step(i); return u; }
int main(int argc, char **argv) {
  int i, rank; struct value *root = NULL, *old; double total = 0;
  union u own, at_first = {.n = 0x123456789};
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < 70; i++) {
    enum kind k = (i + rank) % 7;
    own.d = 0;
    switch (k) {
      case WHOLE: own.n = i; own.n += 5; ++own.n; own.n--; break;
      case REAL: own.point.x = i; own.point.z = i / 7.0; own.bits[i % 2] = 3; own.d = own.point.z; own.d *= 1.25; break;
      case TEXT: own.text = malloc(20); sprintf(own.text, "text %d", i); break;
      case LIST: own.list = cons(WHOLE, (union u){.n = i}, NULL); break;
      case CALL: own.call = i % 2 ? twice : half; break;
      case PAIR: own.pair.first = root; own.pair.weight = i % 3; break;
      case OUT: own.out = stdout; break;
    }
    root = cons(k, through(own, i % 11), i % 9 == 8 ? NULL : root);
    if ((old = root->next) && old->kind == TEXT && i % 2) { free(old->u.text); old->kind = WHOLE; old->u.i = i; old->u.n = old->u.i; }
    total += step(sum(root)) / 1e3 + (own.call == twice) + (at_first.n += i) / 1e9;
  }
  if (rank == 0) printf("%.12g\n", total);
  MPI_Finalize();
  return 0;
}
""", "4 11 19 26 33 47 60 78", more="90")

    def test_number_with_the_value_of_an_address(self):
        """However it comes into a union that may have an address, and wherever that is copied: no line is taken."""
        begin = ("union u { long n; char *text; double d; struct { int low, high; } half; }; static union u kept, copies[3]; static char all[10]; static long address(void) "
                 "{ union u at; volatile long n; at.text = all; n = at.n; return n; }")
        for how in ("kept.n = address();", "kept.n = address() - 7; kept.n += 7;", "kept.n = address() - 1; kept.n++;", "kept.half.low = (int)address(); kept.half.high = (int)(address() >> 32);",
                    "union u one = {.n = address()}; kept = one;", "kept = (union u){.n = address()};", "(&kept)->n = address();", "union u *p = &kept; i % 2 ? (p->n = address()) : (p->n = address());",
                    "copies[0].n = address(); memcpy(&kept, copies, sizeof kept); copies[0].n = 0;", "kept.d = ((union u){.n = address()}).d;", "long n = (kept.n = address()); result += n == 0;"):
            with self.subTest(how):
                self.refused("holds a number in a union that is an address, too", begin, how + " copies[2] = kept; deep(1, 1); result += copies[2].n == 5;")

    def test_unions_that_are_copied_by_a_number(self):
        self.right("union u { long n; char *text; double d; }; static union u from, to[3]; static char text[200];",
                   "if (i % 3) from.text = text + i; else from.n = i; to[i % 3].n = from.n; (to[1].d) = to[i % 3].d; deep(1, 1); result += i % 3 ? to[i % 3].text - text + (to[1].text - text) : to[0].n + to[1].n;")

    def test_union_that_another_file_writes_unseen(self):
        """Which has the same struct at another line."""
        record = "struct record { int kind; union { char c; char *text; long n; } u; };"
        self.write("other.c", "\n\n" + record + "\nchar *place(struct record *r) { return &r->u.c; }\n")
        self.write("prog.c", PROGRAM % (record + " char *place(struct record *); static struct record kept; static char *text;",
                                        "if (i == 0) { text = malloc(7000); kept.u.text = text + 300; *place(&kept) = 'x'; } result += kept.u.c;"))
        self.cc("prog.c", "other.c", "-w", "-o", "prog")
        self.assert_refuses_line("holds an address")

    def test_unions_of_one_name_in_two_files(self):
        """What another file does to its own costs no line, be they of the same size."""
        self.write("other.c", "union u { char c[8]; char *text; }; union v { struct { int i, n; } numbers; char *text; }; static union u one; static union v two;\n"
                   "char *place(void) { return &one.c[0]; }\nint *number(void) { return &two.numbers.n; }\n")
        self.restarts_from_all(PROGRAM % ("union u { long n; char *text; }; union v { char *text; double d; }; char *place(void); int *number(void); static union u kept; static union v both; static char *text;",
                                          "if (i == 0) text = malloc(7000); *place() = 'x', *number() = i; if (i % 3) kept.text = text + i, both.d = i; else kept.n = i, both.text = text + 2 * i; "
                                          "deep(1, 1); result += i % 3 ? kept.text - text + (long)both.d : kept.n + (both.text - text);"), "5 90 131", "150", others=["other.c"])

    def test_numbers_in_unions_of_a_pool(self):
        """What memory of a program's own allocator holds is guessed, and is no pointer there either."""
        self.refused("holds a", "typedef struct { int kind; union { char c; char *text; long n; } u; } value; static char *pool, *text; static size_t used; static value *one, *more;"
                     "static void *get(size_t n) { void *p; if (!pool) pool = malloc(4000); p = pool + used; used += (n + 15) / 16 * 16; return p; }",
                     "if (i == 0) { text = malloc(70000); one = get(sizeof *one); more = get(3 * sizeof *more); one->u.text = text + 2; more[0].u.text = text; more[1].u.text = text + 200; more[1].u.c = 4; }"
                     "result += more[1].u.c;")

    def test_many_numbers_where_pointers_were(self):
        """Integers of half a word, over pointers: each is noted. What is seen of a union without being written puts nothing there."""
        self.right("typedef struct { int kind; union { long n; int i; char *text; double d; } u; } value; static value all[100]; static char text[100]; static int size[sizeof(all[0].u.n = 5)];"
                   "\nstatic long plain(int k) { register union { long n; void *p; } u; u.n = k; u.n++; return u.n; } static value table[2] = {{0, {.i = -1}}, {1, {.n = 70000}}};",
                   "for (int k = 0; k < 400; k++) all[k % 100].u.text = text + k % 50, all[k % 100].u.i = 1000 * i + k; __typeof__(all[0].u.n) n = all[i].u.i; all[i].u.text = text; deep(1, 1);"
                   "result += all[i].u.text - text + all[(i + 1) % 100].u.i + n + (int)sizeof size + plain(i) + table[0].u.i + table[1].u.n;")

    def test_address_of_another_process_in_a_union(self):
        self.refused("which is no address", "#include <sys/mman.h>\nunion u { long n; void *p; }; static union u told, other;",
                     "if (i == 0) { other.p = mmap(NULL, 1 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); munmap(other.p, 1 << 30); other.p = (char *)other.p - (1L << 42); }"
                     " memcpy(&told, &other, sizeof told); result += told.p == NULL;")

    def test_numbers_in_unions_by_calls(self):
        """Which can reach MPI: of what is stored, and in what it is stored to, in parentheses as macros put them."""
        self.right("""
            struct cell { int kind; union { long n; int i; double d; char *text; struct { int x, y; } at; } u; }; static struct cell cells[10]; static char text[20];
            static struct cell *get(int i) { deep(1, 1); return &cells[i % 9]; }
            #define NUMBER(c) ((c)->u.n)""", """
            NUMBER(get(i)) = 5; NUMBER(get(i)) += deep(1, 1); (get(i)->u.n)++; ++(get(i)->u.n); ((get(i + 1)->u).i) = deep(1, 2); get(i + 1)->u.i -= deep(1, 1) + (get(i)->u.n = 7 + i);
            (get(i + 2)->u.d) = deep(2, 1) / 4.0; get(i + 3)->u.text = text + i % 20; (get(i + 4)->u.at.y) = deep(1, 1); get(i + 4)->u.at.x = i; long k = (cells[9].u.n = deep(1, 1)) + (deep(1, 1), cells + 9)->u.n--;
            result += cells[i % 9].u.n + cells[(i + 1) % 9].u.i + (long)cells[(i + 2) % 9].u.d + (get(i + 3)->u.text - text) + cells[(i + 4) % 9].u.at.y + k;""")

    def test_unions_that_get_numbers_unseen(self):
        """By other ways than their members: while there is an address no line is taken."""
        union = "union u { long n; char *text; char name[8]; struct { unsigned low : 9, high : 9; } bits; _Complex float c; } ; static union u kept; static char all[10]; static void set(long *n) { *n = 5; } "
        packed = "\n#pragma pack(1)\nstruct packed { char c; union u u; };\n#pragma pack()\n"
        other = "static void put(void *at) { *(char *)at = 5; } static const long *get(const union u *of) { return &of->n; } "
        for more, how in ((other, "put(&kept);"), (other, "*(long *)get(&kept) = 5;"), ("", "set(&kept.n);"), ("", "strcpy(kept.name, \"none\");"), ("", "kept.bits.low = 5;"), ("", "*(long *)&kept = 5;"), ("", "struct { int a, b; } *p = (void *)0; p = (__typeof__(p))&kept; p->a = 4;"),
                          (packed, "struct packed *p = calloc(1, sizeof *p); p->u.n = 5; free(p);"), ("", "__real__ kept.c = 5;"), ("", 'long n = 5; __asm__("" : "=r"(kept.n) : "0"(n));')):
            with self.subTest(how):
                self.refused("holds an address", union + more, how + " kept.text = all; deep(1, 1); result += kept.text != all;")

    def test_object_in_a_union(self):
        """A function or a stream is an address; what is of MPI may be a number, and so no number is in a line."""
        for member, value in (("void (*p)(void)", "nothing"), ("FILE *p", "stdout"), ("MPI_Comm p", "MPI_COMM_SELF")):
            union = "union { long n; %s; } " % member
            helper = "static void nothing(void) { } static void (*volatile none)(void) = nothing; static struct { int kind; %s u; } kept[2];" % union
            with self.subTest(member):
                self.right(helper, "kept[0].u.n = %s; %s own; own.p = %s; result += own.p == %s; own.n = 0; deep(1, 1); result += kept[0].u.n + own.n;" %
                           ("0" if "MPI" in member else "i", union, value, value))
                if "MPI" not in member:
                    self.right(helper, "kept[1].u.p = %s; deep(1, 1); result += kept[1].u.p == %s;" % (value, value))
                for where in ("one->u", "own") if "MPI" in member else ():
                    self.refused("which member of the union", helper, "%s own; struct { int kind; %s u; } *one; one = calloc(1, sizeof *one); own.n = 0; %s.p = %s; "
                                 "for (int k = 0; k < 400; k++) deep(1, 1); result += %s.p != %s; free(one);" % (union, union, where, value, where, value))

    def test_address_in_a_parameter(self):
        """That is a union, and nothing else holds it."""
        outside = ("struct v { int kind; union { long n; char *text; } u; }; static char all[10]; static long f(struct v one, int n) {"
                   "long s = 0; while (n-- > 0) s += deep(1, 1) + (one.u.text != all); return s; }")
        self.right(outside, "result += f((struct v){1, {.text = all}}, 4);")
        self.write("prog.c", PROGRAM % (outside + " static long *unseen(struct v *v) { return &v->u.n; }", "result += f((struct v){1, {.text = all}}, 400) + !unseen((struct v *)&result);"))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line(r"saving 'one' of f\(\): memory of 16 bytes, which is taken for prog\.c:struct v, holds an address")

    def test_datatypes_from_one_variable_to_others(self):
        """As textbooks make them of scalars that lie anywhere, of the file, of a function, in blocks: a restart has these elsewhere, be it of another executable."""
        self.write("prog.c", PROGRAM % (r"""
static float first; static double between[9]; static int second; static MPI_Datatype kept, of_blocks; static char *one, *two;
static void make(void *a, MPI_Datatype of_a, void *b, MPI_Datatype of_b, int n, MPI_Datatype *type) {
  int k[2] = {n, n}; MPI_Aint at[2], from; MPI_Datatype of[2] = {of_a, of_b};
  MPI_Get_address(a, &from); MPI_Get_address(b, at + 1); at[1] -= from, at[0] = 0;
  MPI_Type_create_struct(2, k, at, of, type); MPI_Type_commit(type);
  at[0] = at[1] = 0;
}
static long work(int rank, int steps) {
  double x = 0, gap[7], y[3]; float z = 0; long sum = 0; MPI_Datatype own; int i;
  memset(gap, 0, sizeof gap), memset(y, 0, sizeof y);
  make(&x, MPI_DOUBLE, y, MPI_DOUBLE, 1, &own);
  for (i = 0; i < steps; i++) {
    if (rank == 0) x = i, y[0] = 2 * i; else gap[i % 7] += i;
    MPI_Bcast(&x, 1, own, 0, MPI_COMM_WORLD);
    sum += (long)(x + y[0] + gap[i % 7] + z) + deep(1, 1);
  }
  MPI_Type_free(&own);
  return sum;
}""", r"""
if (i == 0) { one = calloc(100, 1); two = calloc(5000, 1); make(&first, MPI_FLOAT, &second, MPI_INT, 1, &kept); make(one + 8, MPI_CHAR, two, MPI_CHAR, 8, &of_blocks); }
if (rank == 0) first = i, second = 3 * i, one[8 + i % 8] = i, two[i % 8] = i + 1;
MPI_Bcast(&first, 1, kept, 0, MPI_COMM_WORLD); MPI_Bcast(one + 8, 1, of_blocks, 0, MPI_COMM_WORLD);
result += (long)first + second + one[8 + (i + 3) % 8] + two[(i + 5) % 8] + (long)between[i % 9];
if (i % 20 == 9) result += work(rank, 12);
if (i == 99) MPI_Type_free(&kept), MPI_Type_free(&of_blocks);"""))
        for level in "-O0", "-O2":
            self.cc("prog.c", "-w", level, "-o", "prog" + level)
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        expected = self.start("plain")
        for level, other in ("-O0", "-O2"), ("-O2", "-O0"):
            out, said = self.planned("prog" + level, "5 60 140 141 146 150 300")
            self.assertEqual(out, expected, said)
            self.assertGreater(len(launch.committed(os.path.join(self.home, "lines"))), 1, said)
            for line in reversed(launch.committed(os.path.join(self.home, "lines"))):
                for by in level, other:
                    out, said = self.planned("prog" + by, "200" if by == other else None, ELC_RESTART=str(line))
                    self.assertEqual(out, expected, "a line of %s restarted by %s\n%s" % (level, by, said))
            shutil.rmtree(os.path.join(self.home, "lines"))

    def test_distance_of_blocks(self):
        """Datatypes of one block are right, wherever it is; and so is one that goes from a block to another."""
        make = ("static char *one, *two; static MPI_Datatype type; static void make(char *a, char *b) { MPI_Aint at[2]; int k[2] = {8, 8};"
                "MPI_Get_address(a, at); MPI_Get_address(b, at + 1); at[1] -= at[0]; at[0] = 0;"
                "MPI_Type_create_hindexed(2, k, at, MPI_CHAR, &type); MPI_Type_commit(&type); }")
        self.right(make, "if (!one) { one = malloc(100); two = malloc(5000); make(one + 8, two); } if (i == 99) MPI_Type_free(&type);")
        self.write("prog.c", PROGRAM % (make, "if (!two) { two = malloc(5000); one = malloc(100); make(two + 8, two + 4000); } if (i == 99) MPI_Type_free(&type);"))
        self.cc("prog.c", "-o", "prog")
        self.assert_restarts("prog", ANSWER)
