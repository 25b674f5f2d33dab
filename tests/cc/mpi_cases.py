"""What MPI has for a program: attributes, functions that it calls, requests."""

import os

from cases import ANSWER, Cases, launch, PROGRAM


class Objects(Cases):
    def test_small_numbers_in_the_place_of_handles(self):
        """As SuperLU_DIST has them among requests: (MPI_Request)1 says that others are pending."""
        self.right("#include <stdint.h>\nstatic MPI_Request *r; static MPI_Comm mark = (MPI_Comm)-1; static MPI_Datatype kinds[3];", """
            double x = i, y = 0;
            if (!r) { r = (MPI_Request *)malloc(3 * sizeof *r); r[0] = r[1] = MPI_REQUEST_NULL; kinds[1] = (MPI_Datatype)7; }
            r[2] = i % 3 ? (MPI_Request)(intptr_t)(i % 3) : MPI_REQUEST_NULL;
            MPI_Isend(&x, 1, MPI_DOUBLE, !rank, 5, MPI_COMM_WORLD, r); MPI_Irecv(&y, 1, MPI_DOUBLE, !rank, 5, MPI_COMM_WORLD, r + 1);
            deep(1, 1);
            if (r[2] != (i % 3 ? (MPI_Request)(intptr_t)(i % 3) : MPI_REQUEST_NULL) || mark != (MPI_Comm)-1 || kinds[1] != (MPI_Datatype)7) result += 1000000;
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE); result += y;""")

    def test_attributes_of_mpi(self):
        """Pointers to what is in memory of MPI's."""
        self.right("static int *most, *is_global;", "{ int flag, *universe; MPI_Attr_get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &is_global, &flag); if (!flag) is_global = &flag;"
                   " if (i == 0) MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag); MPI_Attr_get(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);"
                   " if (!flag) universe = &flag; deep(1, 1); result += (*most >= 32767) + 2 * (*is_global == 0) + 4 * (*universe > 0); }")

    def test_attributes_of_windows(self):
        """LAM's windows refuse lines; what a program sees of them is the same."""
        outside = "static MPI_Win w; static MPI_Aint *size; static int *unit; static double data[5]; static void *base;"
        inside = ("{ int flag; if (i == 0) { MPI_Win_create(data, sizeof data, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &w); "
                  "MPI_Win_get_attr(w, MPI_WIN_SIZE, &size, &flag); MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &flag); "
                  "MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &unit, &flag); } deep(1, 1); "
                  "result += *size + *unit + 3 * (base == data); if (i == 99) MPI_Win_free(&w); }")
        if self.build.mpi != "lam":
            return self.restarts_from_all(PROGRAM % (outside, inside), "9 30 40", "4 41")  # none that MPI_Win_create crosses
        self.write("prog.c", PROGRAM % (outside, inside))
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog")
        self.assertEqual(self.start("prog"), self.start("plain"))

    def test_memory_of_windows(self):
        """From MPI_Win_allocate: it is the program's, and goes with the window."""
        if self.build.mpi == "lam":
            self.skipTest("of MPI 3")
        outside = "static MPI_Win w, other = MPI_WIN_NULL; static long *mine, *row; static int *flavor;"
        inside = """if (i == 0) { %s; memset(mine, 0, 10 * sizeof *mine); MPI_Win_fence(0, w); }
if (i %% 30 == 10) { MPI_Win_allocate(rank * 3 * sizeof *row, sizeof *row, MPI_INFO_NULL, MPI_COMM_WORLD, &row, &other); if (rank) memset(row, 0, rank * 3 * sizeof *row); MPI_Win_fence(0, other); }
{ long k = result + i; int has; void *base; MPI_Put(&k, 1, MPI_LONG, 1 - rank, i %% 10, 1, MPI_LONG, w); MPI_Win_fence(0, w); deep(1, 1);
  MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &flavor, &has); MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &has);
  result = (result + mine[i %% 10] + mine[(i + 3) %% 10] + (*flavor == MPI_WIN_FLAVOR_ALLOCATE) + (base == mine)) %% 100003;
  if (other != MPI_WIN_NULL) { MPI_Accumulate(&k, 1, MPI_LONG, 1, i %% 3, 1, MPI_LONG, MPI_SUM, other); MPI_Win_fence(0, other); if (rank) result += row[i %% 3] %% 17; } }
if (i %% 30 == 25) MPI_Win_free(&other);
if (i == 99) MPI_Win_free(&w);"""
        for sites, makes in (("9 30 40", "MPI_Win_allocate(10 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w)"),
                             ("70 95 160", "mine = malloc(10 * sizeof *mine); MPI_Win_create(mine, 10 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &w)")):
            self.restarts_from_all(PROGRAM % (outside, inside % makes), sites, "4 41")

    def test_memory_of_windows_where_others_cannot_be_made(self):
        """As under Open MPI, whose processes may read each other's memory or not: MPI makes the window then, and refuses lines."""
        if self.build.mpi == "lam":
            self.skipTest("of MPI 3")
        self.environment["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
        self.write("prog.c", PROGRAM % ("", """int *p, x = i; MPI_Win w; MPI_Win_allocate(sizeof *p, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w); *p = 0; MPI_Win_fence(0, w);
            if (rank) MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, w); MPI_Win_fence(0, w); result += *p; MPI_Win_free(&w);"""))
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog")
        expected = self.start("plain")
        self.assertEqual(self.start("prog"), expected)
        self.assertIn(expected, self.start("prog", ELC_DIR=os.path.join(self.home, "lines"), ELC_EVERY="0.01"))

    def test_error_handler_of_all_files(self):
        if self.build.mpi == "lam":
            self.skipTest("LAM knows none of MPI's own handlers")
        self.write("prog.c", PROGRAM % ("", "if (i == 1) MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("MPI_File_set_errhandler of MPI_FILE_NULL: no line can be taken from now on")

    ERRORS = """
static MPI_Comm with; static MPI_Errhandler kept; static long failed;
static void once(MPI_Comm *comm, int *code, ...) { failed += *comm == with; }
static void %s(MPI_Comm *comm, int *code, ...) { failed += 1000; }"""
    FAILS = """
if (i == 0) {
  MPI_Errhandler other; CREATE(%s, &other);
  MPI_Comm_dup(MPI_COMM_WORLD, &with); CREATE(once, &kept); SET(with, kept);
  SET(MPI_COMM_WORLD, other); MPI_Errhandler_free(&other);
}
{ MPI_Errhandler now; GET(with, &now); result += now == kept; if (FREES) MPI_Errhandler_free(&now); }
if (i %% 3 == 1) MPI_Send(&i, 1, MPI_INT, 77, 0, with);
if (i == 90) SET(with, MPI_ERRORS_RETURN);
if (i %% 7 == 1) MPI_Send(&i, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
result += failed;"""

    def names_of_errors(self):
        """MPI-1 has other names, and MPI_Errhandler_get gives what is not to be freed."""
        spelled = "MPI_Errhandler_%s" if self.build.mpi == "lam" else "MPI_Comm_%s_errhandler"
        return ["-D%s=%s" % (what.upper(), spelled % what) for what in ("create", "set", "get")] + ["-DFREES=%d" % (self.build.mpi != "lam")]

    def test_types_that_types_were_made_of(self):
        """Their handles, as MPI_Type_get_contents gives them, over lines."""
        self.restarts_from_all(PROGRAM % ("""
static MPI_Datatype outer, kept; static int n[40];
static MPI_Datatype first_of(MPI_Datatype t, int *combiner) {
  int a, b, c; MPI_Aint at[40]; MPI_Datatype in[40];
  MPI_Type_get_envelope(t, &a, &b, &c, combiner);
  MPI_Type_get_contents(t, a, b, c, n, at, in);
  return in[0];
}""", """
int one, two, size; MPI_Datatype t;
if (i == 0) {
  int lengths[2] = {1, 3}; MPI_Aint by[2] = {8, 32}; MPI_Datatype in, middle;
  MPI_Type_create_hindexed(2, lengths, by, MPI_INT, &in); MPI_Type_vector(3, 2, 4, in, &middle); MPI_Type_dup(middle, &outer); MPI_Type_commit(&outer);
  MPI_Type_free(&in); MPI_Type_free(&middle);
  kept = first_of(outer, &one);
}
t = first_of(kept, &one);
result += deep(1, 1);
MPI_Type_size(t, &size); result += size;
{ MPI_Datatype last = first_of(t, &two); result += deep(2, 1) + (last == MPI_INT) + (one == MPI_COMBINER_VECTOR) + 2 * (two == MPI_COMBINER_HINDEXED); }
if (i % 10 == 9) { MPI_Type_free(&kept); kept = first_of(outer, &one); }
if (i == 99) { MPI_Type_free(&kept); MPI_Type_free(&outer); }
MPI_Type_free(&t);"""), "5 40 41 42 43 44 45 46 90", "60")

    def test_types_of_views(self):
        """As MPI_File_get_view gives them."""
        self.right("static MPI_File file; static MPI_Datatype view, kept;", """
MPI_Offset at; char how[MPI_MAX_DATAREP_STRING], name[10]; MPI_Datatype element, type; int size;
if (i == 0) {
  sprintf(name, "to-%d", rank); MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_Type_vector(4, 1, 2, MPI_INT, &view); MPI_Type_commit(&view); MPI_File_set_view(file, 0, MPI_INT, view, "native", MPI_INFO_NULL);
  MPI_File_get_view(file, &at, &element, &kept, how);
}
MPI_File_get_view(file, &at, &element, &type, how);
deep(1, 1);
MPI_Type_size(type, &size); result += size + (element == MPI_INT);
MPI_Type_size(kept, &size); result += size;
MPI_Type_free(&type);
if (i == 99) { MPI_Type_free(&kept); MPI_Type_free(&view); MPI_File_close(&file); }""")

    def test_handles_that_are_not_set(self):
        """A static one is 0, which is the null handle under some MPIs and of some kinds, and may be asked for."""
        self.right("static MPI_Comm own; static MPI_Datatype type; static MPI_Request request; static MPI_Op op; static MPI_Info info; static struct { MPI_Group group; MPI_Win win; MPI_File file; } s, *made;", """
            { int n = 0; if (!made) made = calloc(1, sizeof *made);
              if (i > 40 && i % 20 == 1 && !own) MPI_Comm_dup(MPI_COMM_WORLD, &own);
              if (i > 70 && !type) { MPI_Type_contiguous(2, MPI_INT, &type); MPI_Type_commit(&type); }
              if (own) MPI_Comm_size(own, &n); result += n; if (type) MPI_Type_size(type, &n); result += n + deep(1, 1);
              result += (own == 0) + (type == 0) * 2 + (request == 0) * 4 + (op == 0) * 8 + (info == 0) * 16 + (s.group == 0) * 32 + (s.win == 0) * 64 + (s.file == 0) * 128;
              result += (made->group == 0) + (made->win == 0) + (made->file == 0) + (request == MPI_REQUEST_NULL) + (info == MPI_INFO_NULL) + (own == MPI_COMM_NULL);
              if (i == 99) { MPI_Comm_free(&own); MPI_Type_free(&type); } }""")

    def test_handles_of_what_is_gone(self):
        """By way of another variable: they are handles of nothing, but not the null handle."""
        self.right("static struct { MPI_Comm c; MPI_Datatype t; MPI_Group g; MPI_Info info; int id; } old[4];", """
            { MPI_Comm c; MPI_Datatype t; MPI_Group g; MPI_Info info; int k;
              MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2 ? 0 : MPI_UNDEFINED, 0, &c); old[i % 4].c = c; old[i % 4].id = i;
              if (c != MPI_COMM_NULL) { MPI_Barrier(c); MPI_Comm_free(&c); }
              MPI_Type_contiguous(3, MPI_INT, &t); old[i % 4].t = t; MPI_Type_free(&t); MPI_Info_create(&info); old[i % 4].info = info; MPI_Info_free(&info);
              MPI_Comm_group(MPI_COMM_WORLD, &g); old[i % 4].g = g; MPI_Group_free(&g); deep(1, 1);
              for (k = 0; k < 4; k++) if (old[k].id) result += (old[k].c != MPI_COMM_NULL) + (old[k].t != MPI_DATATYPE_NULL) * 2 + (old[k].info != MPI_INFO_NULL) * 4 + (old[k].g != MPI_GROUP_NULL) * 8; }""")

    def test_error_handlers(self):
        self.right(self.ERRORS % "often", self.FAILS % "often", *self.names_of_errors())

    def test_other_error_handlers(self):
        """They have numbers in the line, by their functions' names."""
        lines = os.path.join(self.home, "lines")
        for name in ("often", "at_times"):
            self.write("prog.c", PROGRAM % (self.ERRORS % name, self.FAILS % name))
            self.cc("prog.c", "-w", "-o", name, *self.names_of_errors())
        self.take_line("often")
        said = self.start("at_times", code=65, ELC_DIR=lines, ELC_RESTART=str(launch.newest(lines)))
        self.assertIn("functions that MPI calls, by a checksum of their names, in its variables (at_times() for errors, once() for errors)", said)

    def test_pointers_to_functions_of_mpi(self):
        self.right("static double (*clock_of)(void); static struct { int (*wait)(MPI_Comm), (*about[2])(MPI_Comm, int *); } calls;",
                   "{ int n = 0; if (i == 0) clock_of = MPI_Wtime, calls.wait = MPI_Barrier, calls.about[0] = MPI_Comm_rank, calls.about[1] = MPI_Comm_size;"
                   " deep(1, 1); calls.wait(MPI_COMM_WORLD); calls.about[i % 2](MPI_COMM_WORLD, &n); result += n + (clock_of() < 0); }")

    def test_sums_of_sizes(self):
        """By MPI_Aint_add, which some MPIs write as a sum with a pointer."""
        if self.build.mpi != "lam":
            self.right("", "{ MPI_Aint lb, extent; int bytes; MPI_Type_get_extent(MPI_DOUBLE, &lb, &extent); bytes = MPI_Aint_add(lb, extent); deep(1, 1); result += bytes; }")

    def test_operations_by_pointers(self):
        """Of functions of their type, with a cast or without; they are kept, and requests that cross the line have them."""
        self.right("""
            static void mix(int *in, int *io, int *n, MPI_Datatype *t) { for (int k = 0; k < *n; k++) io[k] = (io[k] * 3 + in[k] + (*t != MPI_INT)) % 1000; }
            static void most(void *in, void *io, int *n, MPI_Datatype *t) { for (int k = 0; k < *n; k++) if (*t == MPI_INT && ((int *)in)[k] > ((int *)io)[k]) ((int *)io)[k] = ((int *)in)[k]; }
            static struct way { MPI_User_function *by; MPI_Op op; } ways[2] = {{(MPI_User_function *)mix}, {most}};
            static int reduce(int x, MPI_User_function *by) { int y; MPI_Op op; MPI_Op_create(by, 1, &op); deep(1, 1); MPI_Allreduce(&x, &y, 1, MPI_INT, op, MPI_COMM_WORLD); MPI_Op_free(&op); return y; }""", """
            int x = i + rank, y;
            if (i == 0) for (int k = 0; k < 2; k++) MPI_Op_create(ways[k].by, k, &ways[k].op);
            MPI_Allreduce(&x, &y, 1, MPI_INT, ways[i & 1].op, MPI_COMM_WORLD);
            result += y + reduce(i * rank, i & 2 ? most : ways[0].by);
            if (i == 99) for (int k = 0; k < 2; k++) MPI_Op_free(&ways[k].op);""")

    def test_an_error_handler(self):
        if self.build.mpi == "lam":
            self.skipTest("it has no MPI_Comm_create_errhandler")
        self.write("prog.c", PROGRAM % ("static void on_error(MPI_Comm *comm, int *code, ...) { deep(1, 1); MPI_Abort(*comm, *code); }",
                                        "if (i == 0) { MPI_Errhandler h; MPI_Comm_create_errhandler(on_error, &h); MPI_Errhandler_free(&h); }"))
        self.assertIn("on_error() can reach MPI, and MPI may call it", self.cc("prog.c", "-o", "prog"))
        self.assert_restarts("prog", ANSWER)

    # Names that MPI-1 has for them, too.
    KEYS = r"""
struct part { int n; double x; struct part *next; };
static struct part *all;
static int copies, deletes, seen, *scale, key = MPI_KEYVAL_INVALID, number, shared, none, at_end, other = MPI_KEYVAL_INVALID;
static MPI_Comm mine, twins[3];
static int copy_part(MPI_Comm c, int of, void *extra, void *in, void *out, int *is_copied) {
  struct part *from = in, *to = malloc(sizeof *to);
  *to = *from, to->n += *(int *)extra, to->next = all, all = to, *(void **)out = to;
  copies++, *is_copied = from->n % 3 != 2;
  return of != number ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static int delete_part(MPI_Comm c, int of, void *in, void *extra) { deletes += *(int *)extra, ((struct part *)in)->x--; return MPI_SUCCESS; }
static int share(MPI_Comm c, int of, void *extra, void *in, void *out, int *is_copied) { ++*(int *)extra, *(void **)out = in, *is_copied = 1; return MPI_SUCCESS; }
static int tell(MPI_Comm c, int of, void *in, void *extra) { struct part *p; int n = 0; for (p = all; p; p = p->next) n += p->n; printf("%d %s\n", n, (char *)in); return MPI_SUCCESS; }
static long look(MPI_Comm in) {
  struct part *p; int has; void *v; long *to, found = 0;
  MPI_Attr_get(in, key, &p, &has), found += has ? p->n + (long)p->x % 5 : 1000;
  MPI_Attr_get(in, number, &v, &has), found += has ? (long)(MPI_Aint)v : 2000;
  MPI_Attr_get(in, shared, &to, &has), found += !has ? 3000 : to == (long *)&seen;
  MPI_Attr_get(in, none, &to, &has);
  return found + 7 * has;
}"""
    MAKES = r"""
if (i == 0) {
  scale = malloc(sizeof *scale), *scale = 3, all = calloc(1, sizeof *all), all->n = 1;
  MPI_Keyval_create(copy_part, delete_part, &key, scale);
  MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &number, NULL);
  MPI_Keyval_create(share, MPI_NULL_DELETE_FN, &shared, &seen);
  MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &none, NULL);
  MPI_Keyval_create(MPI_NULL_COPY_FN, tell, &at_end, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &mine), twins[0] = twins[1] = twins[2] = MPI_COMM_NULL;
  MPI_Attr_put(mine, key, all), MPI_Attr_put(mine, number, (void *)(MPI_Aint)17), MPI_Attr_put(mine, shared, &seen), MPI_Attr_put(mine, none, &i);
  if (rank == 0) MPI_Attr_put(mine, at_end, "the end");
}
{ MPI_Comm *twin = &twins[i % 3];
  if (*twin != MPI_COMM_NULL) result += look(*twin);
  if (i % 4 == 1 && *twin != MPI_COMM_NULL) MPI_Comm_free(twin);
  if (i % 4 == 1) MPI_Comm_dup(i % 8 == 1 || twins[(i + 1) % 3] == MPI_COMM_NULL ? mine : twins[(i + 1) % 3], twin);
  deep(1, 1); result += look(mine) + seen;
  if (i % 10 == 3) MPI_Keyval_create(copy_part, delete_part, &other, scale), MPI_Attr_put(mine, other, all), result += other != key;
  if (i % 10 == 6) MPI_Keyval_free(&other), result += other == MPI_KEYVAL_INVALID;
  if (i % 20 == 17) MPI_Attr_put(mine, number, (void *)(MPI_Aint)i), MPI_Attr_delete(mine, shared), MPI_Attr_put(mine, shared, &seen);
  if (i == 99) { MPI_Comm_free(&mine); for (i = 0; i < 3; i++) if (twins[i] != MPI_COMM_NULL) MPI_Comm_free(&twins[i]); i = 99; MPI_Keyval_free(&key); result += copies + deletes + seen; } }"""

    def test_keys_of_attributes(self):
        """Of the program's: their functions, extra states and values; those that are freed while there are attributes, and made anew."""
        for sites in ("9 15 40", "70 81 160"):
            self.restarts_from_all(PROGRAM % (self.KEYS, self.MAKES), sites, "4 11")

    def test_attributes_of_freed_keys(self):
        """Deleted by the key, as MPICH's own tests do it."""
        if self.build.mpi != "openmpi":
            self.skipTest("this MPI forgets the key")
        self.right("static int key, last, gone; static int drop(MPI_Comm c, int of, void *in, void *extra) { gone += 1 + (of != last); return MPI_SUCCESS; }",
                   """if (i % 10 == 2) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &key, NULL), last = key, MPI_Comm_set_attr(MPI_COMM_SELF, key, &gone), MPI_Comm_free_keyval(&key);
deep(1, 1); if (i % 10 == 7) MPI_Comm_delete_attr(MPI_COMM_SELF, last), result += gone;""")

    def test_more_keys_of_attributes(self):
        """Than there are for programs: while they are there no line is taken, and the next one is."""
        self.write("prog.c", PROGRAM % ("static int keys[40];", "int k; if (i == 0) for (k = 0; k < 40; k++) MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &keys[k], NULL);"
                                        " if (i == 98) for (k = 0; k < 40; k++) MPI_Keyval_free(&keys[k]);"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("attribute key made by MPI_(Comm_create_keyval|Keyval_create)")

    def test_functions_of_attributes(self):
        """They cannot reach MPI: a restart would not come back through it."""
        self.write("prog.c", PROGRAM % ("static int at_end(MPI_Comm c, int key, void *value, void *extra) { deep(1, 1); return MPI_SUCCESS; }",
                                        "int key; MPI_Keyval_create(MPI_NULL_COPY_FN, at_end, &key, NULL);"))
        self.assertIn("at_end(), which can reach MPI, may be given to MPI_Keyval_create()", self.cc("prog.c", "-w", "-o", "prog", code=1))

    def test_strings_that_requests_have(self):
        self.right("static MPI_Request sends[2], receive; static char got[6];",
                   'if (i == 0) MPI_Send_init("first", 6, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, &sends[0]), MPI_Ssend_init("other", 6, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, &sends[1]),'
                   ' MPI_Recv_init(got, 6, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, &receive);'
                   ' MPI_Start(&receive); MPI_Start(&sends[i % 2]); deep(1, 1); MPI_Wait(&sends[i % 2], MPI_STATUS_IGNORE); MPI_Wait(&receive, MPI_STATUS_IGNORE); result += got[0] + strlen(got);'
                   ' if (i == 99) MPI_Request_free(&sends[0]), MPI_Request_free(&sends[1]), MPI_Request_free(&receive);')
