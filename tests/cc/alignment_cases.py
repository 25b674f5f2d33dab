"""What programs do with addresses that are multiples of something: memory that is aligned, and addresses that are rounded."""

from cases import Cases, PROGRAM


class Alignment(Cases):
    def test_aligned_memory(self):
        """Also where a restart has got it; and that of MPI_Alloc_mem."""
        self.right("#include <stdint.h>\nstatic double *a, *b, *m; static char *c;",
                   "if (i == 0) { posix_memalign((void **)&a, 64, 24); b = aligned_alloc(4096, 8192); c = aligned_alloc(256, 3);"
                   " MPI_Alloc_mem(80, MPI_INFO_NULL, &m); memset(a, 0, 24); memset(b, 0, 8192); memset(c, 0, 3); memset(m, 0, 80); } deep(1, 1); a[i % 3] += i; b[i] = i; m[i % 10] += a[1]; c[i % 3] += 1;"
                   "result += m[3] + b[i / 2] + c[1] + 7 * (((uintptr_t)a % 64) + ((uintptr_t)b % 4096) + (uintptr_t)c % 256);"
                   "if (i == 99) { MPI_Free_mem(m); free(a); free(b); free(c); }")

    def test_addresses_that_are_rounded(self):
        """What a program finds in its memory by rounding the address of a block a restart finds, too."""
        for rounded, most in (("((size_t)raw + 63) & ~(size_t)63", 64), ("((size_t)raw + align - 1) / align * align", 64), ("(size_t)raw + 256 - (size_t)raw % 256", 256),
                              ("((size_t)raw + 127) >> 7 << 7", 128), ("((size_t)raw + 65535) & ~(size_t)65535", 65536), ("raw + (16384 - ((size_t)raw & 16383))", 16384),
                              ("(size_t)raw + page - (size_t)raw % page", 4096), ("((size_t)raw | (page - 1)) + 1", 4096), ("((size_t)raw | 4095) + 1", 4096)):
            with self.subTest(rounded):
                self.right("static size_t align = 64, page = 4096; static char *all[40];\nstatic long *in(char *raw) { return (long *)(%s); }" % rounded,
                           "{ int j = i %% 40, k; size_t size = 160 + 16 * j; if (i >= 80) { all[j] = realloc(all[j], size + %d + 8 * i); for (k = 0; k < 20; k++) in(all[j])[k] = k; }"
                           " else if (i < 40) { all[j] = malloc(size + %d); for (k = 0; k < 20; k++) in(all[j])[k] = k * j; }"
                           " deep(1, 1); for (k = 0; k < 20; k++) result += in(all[i * 7 %% (i < 40 ? i + 1 : 40)])[k]; }" % (most, most))

    def test_variables_that_lie_elsewhere(self):
        """Another executable of the same program has its variables at other places, and finds in them what it rounds to all the same."""
        self.write("prog.c", PROGRAM % ("""
static char odd[37] = "a", pool[200 + 63] = ""; char more[200 + 63]; static struct { short n; char raw[200 + 63]; } both[2], none = {1, ""}, *first = both;
static char (*rows)[37] = &odd, other[3] = "d";
static long *in(char *raw) { return (long *)(((size_t)raw + 63) & ~(size_t)63); }
static long use(int i) {
  static char own[200 + 63] = "", last; int k; long sum = 0; char *all[] = {pool, more, both[0].raw, first[1].raw, none.raw, own};
  for (k = 0; k < 6; k++) in(all[k])[i % 20] += i + k;
  deep(1, 1);
  for (k = 0; k < 6; k++) sum += in(all[k])[i * 7 % 20];
  return sum + (*rows)[0] + other[0] + last + none.n;
}
""", "result += use(i);"))
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog")
        expected = self.start("plain")
        self.assertEqual(self.planned("prog", self.chance.randrange(20, 90))[0], expected)
        for n, words in enumerate((["-O2"], ["-fno-toplevel-reorder"], ["-fdata-sections", "-O1"], ["-no-pie"])):
            self.cc("prog.c", "-w", "-o", "other%d" % n, *words)
            self.assertEqual(self.planned("other%d" % n, ELC_RESTART="1")[0], expected, words)

    def test_heads_of_chunks(self):
        """Found by masking the address of what is in them, as allocators do that have chunks of more than a page; and what a variable of the file holds at such a place."""
        for chunk in ("malloc(2 * SIZE)", "mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)"):
            with self.subTest(chunk):
                self.right("""
#include <sys/mman.h>
#define SIZE ((size_t)1 << 16)
struct item { long n; struct item *next; }; struct head { long used; struct item *first; };
static struct head *head_of(struct item *i) { return (struct head *)((size_t)i & ~(SIZE - 1)); }
static struct item *all;
static char pool[2 * SIZE];
static long *fixed(void) { return (long *)(((size_t)pool + SIZE - 1) & ~(SIZE - 1)); }
""", """
fixed()[i % 20] += i; result += fixed()[i * 7 % 20];
if (i == 0) { struct head *h = (struct head *)(((size_t)CHUNK + SIZE - 1) & ~(SIZE - 1)); all = h->first = (struct item *)(h + 1); all->n = 1; all->next = NULL; h->used = 1; }
{ struct item *new = (struct item *)(head_of(all) + 1) + head_of(all)->used++; new->n = i; new->next = all; all = new; }
deep(1, 1); { struct item *each; for (each = all; each != NULL; each = each->next) result += each->n + head_of(each)->used; }
""".replace("CHUNK", chunk))

    def test_variables_that_are_rounded(self):
        """The same in arrays and structs that functions have, and are given."""
        program = PROGRAM % ("""
struct work { int n; char raw[100 + 63]; }; struct few { char raw[40]; };
static long *in(char *raw) { return (long *)(((size_t)raw + 63) & ~(size_t)63); }
static long *word(char *raw) { return (long *)(((size_t)raw + 7) / 8 * 8); }
static long given(struct work w, int i) { in(w.raw)[0] = i, in(w.raw)[1] = 3 * i; deep(1, 1); deep(1, 1); return in(w.raw)[1] * (1 + i % 3) + in(w.raw)[0]; }
static long local(int i) {
  char raw[20 * sizeof(long) + 64]; struct work w; struct few f; int k; long sum = 0, *kept = in(raw);
  for (k = 0; k < 20; k++) in(raw)[k] = i * k;
  memset(&w, 0, sizeof w); memset(&f, 0, sizeof f); *word(f.raw) = 9 * i;
  for (k = 0; k < 3; k++) { in(w.raw)[k] = 3 * i + k; deep(1, 1); sum += in(raw)[19] + kept[k] + in(w.raw)[k] + *word(f.raw); kept[k]++; }
  return sum + given(w, i);
}
""", "result += local(i);")
        self.restarts_from_all(program, " ".join(str(i * 7 + self.chance.randrange(7)) for i in range(2, 9)))

    def test_the_block_in_front_of_what_is_aligned(self):
        """As programs have it that align memory themselves, and free it: the pointer is one, what is behind it is bytes."""
        self.right("""#include <stdint.h>
static void *aligned(size_t size, size_t by) {
  void *block = calloc(1, size + by - 1 + sizeof(void *)), *p = (void *)(((uintptr_t)block + sizeof(void *) + by - 1) & ~(uintptr_t)(by - 1));
  ((void **)p)[-1] = block;
  return p;
}
static char *again(size_t size) {
  char *block = (char *)calloc(1, size + 64), *p = block + 64 - ((size_t)block & 63);
  *(char **)(p - sizeof(char *)) = block;
  return p;
}
static void ends(void *p) { if (p != NULL) free(((void **)p)[-1]); }
static double *d; static int *n, *m;""", """if (i % 40 == 0) ends(d), d = aligned(100 * sizeof *d, 64);
if (i == 0) n = aligned(33 * sizeof *n, 32), m = (int *)again(10 * sizeof *m);
d[i] += i + 0.5, n[i % 33] += i, m[i % 10] += i; deep(1, 1); result += d[i / 2] + n[i % 7] + m[3] + (unsigned long)d % 64;""")

    def test_aligned_struct_that_begins_with_another(self):
        """And has handles of MPI behind that: it is made as the first one."""
        self.right("""
typedef struct { long (*of)(void *); } kind; typedef struct { const kind *is; } base; typedef struct { base super; double *x; MPI_Comm comm; } derived;
static long of(void *p) { derived *d = p; double y; MPI_Allreduce(d->x, &y, 1, MPI_DOUBLE, MPI_SUM, d->comm); return (long)y; }
static const kind first = {of}; static double x; static base *all[2];
static base *make(size_t size, const kind *is) { base *p = aligned_alloc(32, size); p->is = is; return p; }""", """
if (i == 0) { all[0] = make(sizeof(derived), &first); ((derived *)all[0])->x = &x; MPI_Comm_dup(MPI_COMM_WORLD, &((derived *)all[0])->comm); }
x = i + rank; result += all[0]->is->of(all[0]); deep(1, 1);
if (i == 99) MPI_Comm_free(&((derived *)all[0])->comm);""")

    def test_aligned_tables(self):
        """By the program, behind what it does not use, or uses for a number."""
        allocator = """
static void *aligned(size_t size, int p) { int shift = 1 << p; unsigned long mask = shift - 1; char *raw = malloc(size + shift); return (void *)((unsigned long)(raw + shift) & ~mask); }
static double x[8], **t; static struct { double **at; } *in;
"""
        inside = "if (!t) { int k; t = aligned(8 * sizeof *t, %d); for (k = 0; k < 8; k++) t[k] = x + k; %s } *t[i %% 8] += i; deep(1, 1); result += *t[(i + 1) %% 8];"
        for p in (3, 5, 6): self.right(allocator, inside % (p, ""))
        self.right(allocator, (inside % (6, "((int *)t)[-2] = 7;")) + "result += ((int *)t)[-2];")

    def test_aligned_structs(self):
        """Whose size is no multiple of the alignment: the memory is larger than they are."""
        self.right("struct cell { struct cell *next; long a, b, c; double x; }; static struct cell *one, *three;", """
if (!one) {
  void *p;
  one = posix_memalign(&p, 16, sizeof *one) ? 0 : p; three = posix_memalign(&p, 64, 3 * sizeof *three) ? 0 : p;
  memset(one, 0, sizeof *one); memset(three, 0, 3 * sizeof *three);
  one->next = three; three->next = three + 1; three[1].next = three + 2; three[2].next = one;
}
deep(i, 1); one = one->next; one->a += i; one->x += one->a * 0.5; result += one->next->a + one->x + 1000 * ((size_t)three % 64) + (size_t)one % 8;""")
