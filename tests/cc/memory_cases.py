"""What programs do with memory: allocators of their own, rows, parts of blocks, memory that is used again."""

import json
import os
import subprocess

from cases import Cases, launch, PROGRAM


class Memory(Cases):
    def test_heads_whose_pointers_lead_elsewhere(self):
        """A constructor is given the size of what begins as its struct does, but for what pointers in it lead to."""
        self.restarts_from_all(PROGRAM % ("""typedef struct object { char *name, *class; struct object *parent; } object; static object **all; static int n;
typedef struct { long tasks; char *name; } routine; typedef struct { char *name, *class; void *parent; int n; routine **of; } manager; typedef struct { char *name; void *class; char *parent; double h[9]; } box;
static object *make(const char *name, int size) { object *o = (object *)malloc(size); o->name = strdup(name); o->class = NULL; o->parent = NULL; all = realloc(all, (n + 1) * sizeof *all); return all[n++] = o; }
static manager *m; static box *b;""", """if (i == 0) { int k; m = (manager *)make("m", sizeof(manager)); b = (box *)make("box", sizeof(box)); b->parent = (char *)m; m->n = 3; m->of = malloc(3 * sizeof *m->of);
for (k = 0; k < 3; k++) { m->of[k] = malloc(sizeof **m->of); m->of[k]->tasks = k; m->of[k]->name = strdup("routine"); } for (k = 0; k < 9; k++) b->h[k] = k; }
b->h[i % 9] += m->of[i % 3]->tasks++; result += (long)b->h[i % 7] + strlen(all[i % 2]->name) + ((manager *)b->parent)->n + m->of[i % 3]->name[1];"""), "12 77")

    def test_arrays_of_one_dimension_by_what_makes_rows(self):
        """One function has pointers to rows in front, where there are any, and counts from elsewhere."""
        outside = """#include <stdarg.h>
typedef struct { int x[2]; } two; typedef struct node { struct node *next; long v; } node; static int *ints, (*pairs)[2]; static double **rows; static two *twos; static char *text; static node *ring, **heads; static char **words;
static void fill(size_t size, int dims, long before, int ***pp, int **qq, int *base, va_list ap) {
  int *data = (int *)((char *)base + ((char *)qq - (char *)base + size - 1) / size * size), **into = (int **)pp, i, low = va_arg(ap, int), n = va_arg(ap, int) - low + 1;
  if (dims == 0) for (i = 0; i < before; i++) into[i] = data + (i * n - low) * size / sizeof(int);
  else { for (i = 0; i < before; i++) pp[i] = qq + i * n - low; fill(size, dims - 1, before * n, (int ***)qq, qq + before * n, base, ap); }
}
static void *get(int n, size_t size) { void *p = malloc(n * size); memset(p, 0, n * size); return p; }
static void *array(size_t size, int dims, ...) {
  va_list ap; int **p, **start, d, n; long pointers = 0, all = 1;
  va_start(ap, dims); for (d = 0; d < dims; d++) { n = va_arg(ap, int); all *= va_arg(ap, int) - n + 1; if (d < dims - 1) pointers += all; } va_end(ap);
  start = (int **)get(1, (all + 1) * size + pointers * sizeof(int **));
  va_start(ap, dims); fill(size, dims - 1, 1, (int ***)&p, start, (int *)start, ap); va_end(ap);
  return p;
}
static void *table(int n) { void **t = malloc(n * sizeof *t); memset(t, 0, n * sizeof *t); return t; }
static int used(const int *of, int n) { int k, u = 0; for (k = 0; k < n; k++) u += of[k] != 0; return u; }"""
        inside = """if (i == 0) { int k; ints = array(sizeof(int), 1, 0, 99); pairs = array(2 * sizeof(int), 1, -20, 20); rows = array(sizeof(double), 2, 0, 4, 0, 5); twos = array(sizeof(two), 1, 3, 9);
text = array(1, 1, 0, 19); strcpy(text, "a text"); ring = table(2); heads = table(5); words = table(10); result += used((int *)words, 20);
ring->next = ring; for (k = 0; k < 5; k++) heads[k] = ring; for (k = 0; k < 10; k++) words[k] = text + k + 1; for (k = 0; k < 30; k++) rows[k / 6][k % 6] = k; for (k = 3; k < 10; k++) twos[k].x[1] = k; }
ints[i] = i + 9; pairs[i % 41 - 20][1] += ints[i / 2]; rows[i % 5][i % 6] += i * 0.5; twos[3 + i % 7].x[0] += i; ring->v += i;
result += ints[i / 3] + pairs[i % 41 - 20][1] + (long)rows[(i + 1) % 5][(i + 2) % 6] + twos[3 + i % 5].x[1] + twos[3 + i % 7].x[0] + text[1 + i % 4] + heads[i % 5]->next->v + words[i % 10][0];"""
        self.restarts_from_all(PROGRAM % (outside, inside), "12 77")

    def test_memory_that_is_kept_before_it_has_a_type(self):
        self.right("struct node { struct node *next; double value; }; static struct node *list; static struct slot { void *memory, *first; } slots[100]; static void *last;",
                   "struct slot *slot = &slots[i]; struct node *node = slot->first = last = slot->memory = malloc(sizeof *node); node->next = list; node->value = i / 3.0; list = node;"
                   "deep(1, 1); for (node = list; node; node = node->next) result += node->value; result += last == slots[i].memory;")

    def test_memory_that_a_pointer_to_anything_is_set_to(self):
        """By a function of the program's own that is given its address as a void *."""
        self.right("""
            struct node { struct node *next; char *text; double v; }; static struct node *list; static int asked; static void two(void *one, void *other, size_t size) { *(void **)one = malloc(size); *(void **)other = malloc(size); }
            static int grab(void *slot, size_t size) { asked++; return (*(void **)slot = malloc(size)) == NULL; }
            static struct node *other(void *slot, size_t size) { (void)slot; return size ? list : NULL; }""", """
            struct node *node; if (grab(&node, sizeof *node) || !node) abort(); node->next = list; node->v = i / 4.0; node->text = i % 2 ? "odd" : "even"; list = node;
            if (other(&node, sizeof node)->v < 0) abort();
            { struct node *a, *b; two(&a, &b, sizeof *a); a->next = list; b->next = a; a->v = 1; b->v = i; a->text = b->text = "both"; list = b; }
            deep(1, 1); for (node = list; node; node = node->next) result += node->v + node->text[0]; result += asked;""")

    def test_memory_that_is_mapped(self):
        """That of nobody else is as any, also when it grows, or a part of it is not wanted any more."""
        outside = """#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#define BOTH (PROT_READ | PROT_WRITE)
struct node { struct node *next; double v; }; static struct node *ring; static double *a; static size_t many = 6000; static long sum;
static void *mapped(size_t size) { void *p = mmap(NULL, size, BOTH, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); if (p == MAP_FAILED) abort(); return p; }
static long of_file(void) { int file = open("/proc/self/exe", O_RDONLY); char *text = mmap(NULL, 5000, PROT_READ, MAP_SHARED, file, 0); long n = text[1]; close(file); munmap(text, 5000); return n; }"""
        inside = """if (ring == NULL) { ring = mapped(100 * sizeof *ring); a = mapped(many * sizeof *a); for (int k = 0; k < 100; k++) ring[k].next = &ring[(k + 7) % 100], ring[k].v = k; }
if (i == 30) a = mremap(a, many * sizeof *a, (many + 4000) * sizeof *a, MREMAP_MAYMOVE), many += 4000; if (i == 60) munmap((char *)a + 65536, 4096), many = 8192;
for (size_t k = 0; k < many; k += 100) a[k] += k % 7 + i; { int *t = mapped(4096); t[5] = i; deep(1, 1); sum += t[5] + of_file(); munmap(t, 4096); }
ring = ring->next; result += ring->v + a[i * 40] + a[many - 92] + sum; if (i == 99) munmap(a, many * sizeof *a);"""
        self.restarts_from_all("#define _GNU_SOURCE\n" + PROGRAM % (outside, inside), "3 57 61 120 190", "60 150")
        self.write("prog.c", PROGRAM % (outside, "static char *text; " + inside + "if (i == 0) { int file = open(\"/proc/self/exe\", O_RDONLY); text = mmap(NULL, 5000, PROT_READ, MAP_PRIVATE, file, 0); close(file); } result += text[1];"))
        self.cc("prog.c", "-w", "-o", "prog", "-D_GNU_SOURCE")
        self.assert_refuses_line(r"the program has called mmap\(\) for other memory than its own .* while it is mapped none is taken")

    def test_memory_in_parts(self):
        """Of allocators of the program's own: structs, text, numbers and pointers in one block, also where a block begins with a struct, and
        memory is given out anew. With several lines, and further ones behind a restart."""
        program = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct chunk { struct chunk *next; size_t used, size; };
static struct chunk *chunks; static char *base; static size_t base_used;
static void *get(size_t n) { struct chunk *c = chunks; n = (n + 7) & ~(size_t)7;
  if (c == NULL || c->used + n > c->size) { c = malloc(sizeof *c + 3000); c->next = chunks; c->used = 0; c->size = 3000; chunks = c; }
  c->used += n; return (char *)(c + 1) + c->used - n; }
static void *raw(size_t n) { void *p; if (base == NULL) base = malloc(1 << 16); p = base + base_used; base_used += (n + 15) & ~(size_t)15; return p; }
static void reset(void) { base_used = 0; }
struct node { struct node *left, *right; int key; char tag; double w[3]; };
struct list { struct list *next; char *text; long n; int (*f)(int); };
static int one(int i) { return i + 1; } static int two(int i) { return 2 * i; }
static struct node *root; static struct list *head;
static void insert(struct node **at, int key) { while (*at) at = key < (*at)->key ? &(*at)->left : &(*at)->right; *at = get(sizeof **at); memset(*at, 0, sizeof **at); (*at)->key = key; (*at)->tag = 'a' + key % 26; (*at)->w[1] = key * .5; }
static double sum(struct node *n) { return n == NULL ? 0 : n->w[1] + n->tag + sum(n->left) - sum(n->right); }
int main(int argc, char **argv) {
  int i, k, rank, n = 0; double result = 0, all; struct node **index = NULL;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < 100; i++) {
    char text[40]; struct list *l; double *d; struct node **table;
    insert(&root, (i * 37 + rank) % 101);
    if (i % 10 == 0) { l = get(sizeof *l); sprintf(text, "element %d of %d", i, rank); l->text = strcpy(get(strlen(text) + 1), text); l->next = head; l->n = i; l->f = i % 20 ? one : two; head = l; }
    if (i % 25 == 3) { index = get(20 * sizeof *index); n = 0; for (struct node *m = root; m && n < 20; m = m->right) index[n++] = m; }
    if (i % 7 == 0) reset();
    d = raw(5 * sizeof *d); for (k = 0; k < 5; k++) d[k] = i * k;
    table = raw(4 * sizeof *table); for (k = 0; k < 4; k++) table[k] = k % 2 ? root : root->right;
    l = raw(sizeof *l); l->next = head; l->text = raw(30); strcpy(l->text, "scratch"); l->n = i; l->f = two;
    MPI_Barrier(MPI_COMM_WORLD);
    for (k = 0; k < 5; k++) result += d[k];
    for (k = 0; k < 4; k++) if (table[k]) result += table[k]->key;
    result += sum(root) + strlen(l->text) + l->f(3) + l->n; for (l = l->next; l; l = l->next) result += l->f(l->n) + strlen(l->text);
    for (k = 0; k < n; k++) result += index[k]->key;
  }
  MPI_Reduce(&result, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.15g\n", all);
  MPI_Finalize();
  return 0;
}
"""
        for sites, more in (("5 20 21 40 60 90", "50 70 71 95"), ("1 2 3 99", "3"), ("%d" % self.chance.randrange(1, 99), None)):
            self.restarts_from_all(program, sites, more)

    def test_gaps_that_are_copied(self):
        """With what the stack had there, which may be half an address, and is nobody's."""
        self.right("""struct option { char key; char *name; int kind; char type; void *to; }; static int all[64];
__attribute__((noinline)) static void leave_addresses(void) { void *volatile p[64]; int k; for (k = 0; k < 64; k++) p[k] = &all[k]; }
__attribute__((noinline)) static struct option *made(int *to, int kind) {
  struct option some[] = {{0, "alpha", kind, 'd', to}, {1, "beta", kind + 1, 'e', to + 1}, {0, 0, 0, 0, NULL}}, *kept = malloc(sizeof some);
  memcpy(kept, some, sizeof some);
  return kept;
}
static struct option *table;""", "leave_addresses(); if (i % 10 == 0) table = made(all + i % 7, i); deep(1, 1); *(int *)table[1].to += i; result += table[1].kind + table[0].name[2] + all[3];")

    def test_pools(self):
        """Memory that a program divides by itself: cells of a block, a stack with headers, and text behind structs."""
        self.restarts_from_all(r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { struct item *next; double v; char *name; };
struct hdr { struct hdr *prev; size_t size; };
static char *block; static struct item *unused, *used; static size_t size = sizeof(struct item) + 24;
static char *heap, *top; static struct hdr *last;
static void *take(size_t n) { struct hdr *h = (struct hdr *)top; n = (n + 15) & ~(size_t)15; h->prev = last; h->size = n; last = h; top += sizeof *h + n; return top - n; }
static void drop(void *p) { struct hdr *h = (struct hdr *)((char *)p - sizeof(struct hdr)); if (h == last) { last = h->prev; top = (char *)h; } }
struct owner { double *v; struct owner **back; }; struct named { struct named *next; char *name, *more; };
int main(int argc, char **argv) {
  int i, k, rank; double result = 0, all; struct owner *o; double *v; struct named *names = NULL, *s;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  block = (char *)malloc(50 * size); for (i = 0; i < 50; i++) { struct item *n = (struct item *)(block + i * size); n->next = unused; unused = n; }
  heap = top = malloc(1 << 14);
  o = malloc(sizeof *o); v = malloc(100 * sizeof *v + sizeof(struct owner *)); o->v = v; o->back = (struct owner **)(v + 100); *o->back = o;
  for (i = 0; i < 100; i++) {
    s = malloc(sizeof *s + 24 * (1 + i % 3)); s->next = names; s->name = (char *)(s + 1); s->more = (char *)s + sizeof *s; sprintf(s->name, "name %d", i); s->more += 2; names = s;
    v[i] = i; for (s = names; s; s = s->next) result += s->name[5] + s->more[0];
    result += (*o->back)->v[i / 2];
    struct item *n = unused; unused = n->next; n->next = used; used = n; n->v = i + rank * .1; n->name = (char *)(n + 1); sprintf(n->name, "item %d", i);
    int *a = take(20 + i % 7), *b; for (k = 0; k < 5; k++) a[k] = i * k;
    struct item **t = take(5 * sizeof *t); for (k = 0; k < 5; k++) t[k] = k & 1 ? n : NULL;
    if (i % 5 == 2) b = take(9), b[1] = i;
    MPI_Barrier(MPI_COMM_WORLD);
    for (k = 0; k < 5; k++) { result += a[k]; if (t[k]) result += t[k]->v + strlen(t[k]->name); }
    for (n = used; n; n = n->next) result += n->v + n->name[5];
    if (i % 5 != 2) { drop(t); drop(a); }
    if (i % 3 == 1) { n = used->next; used->next = n->next; n->next = unused; unused = n; }
    if (i > 60 && used) { n = used; used = n->next; n->next = unused; unused = n; }
    for (struct hdr *h = last; h; h = h->prev) result += h->size;
  }
  MPI_Reduce(&result, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.15g\n", all);
  MPI_Finalize();
  return 0;
}
""", "1 2 30 31 70 99", "20 40 80")

    def test_free_objects_that_are_linked_by_their_first_word(self):
        """What they were is behind it still; a pool gives them out as characters, or as anything."""
        for way in "char", "void":
            with self.subTest(way):
                self.right("""
                    typedef struct update { struct update *next; unsigned long value; struct update *forward; } Update;
                    static struct { WAY *head, *tail; } pool; static Update *list;
                    static void fill(int n, int size) {
                      char *at = (char *)malloc(n * size); int k;
                      for (k = 0; k < n - 1; k++) *((WAY **)(at + k * size)) = at + (k + 1) * size;
                      pool.head = at; pool.tail = at + (n - 1) * size; *((WAY **)pool.tail) = 0; }
                    static WAY *get(void) { WAY *at = pool.head; pool.head = *((WAY **)pool.head); return at; }
                    static void give_back(void *at) { *((WAY **)pool.tail) = at; *((WAY **)at) = 0; pool.tail = at; }""".replace("WAY", way), """
                    if (i == 0) fill(40, sizeof(Update));
                    { Update *u = (Update *)get(); u->value = 0x10000 + i * 77; u->forward = list; list = u; }
                    if (i > 20) { Update *gone = list->forward; list->forward = gone->forward; result += gone->value % 1000; give_back(gone); }
                    deep(1, 1);""")

    def test_free_objects_of_other_first_words(self):
        """A number was where the link is now; behind it pointers are as they were, to objects that may be others now; in the first one, too, which is
        where the block begins."""
        self.restarts_from_all(PROGRAM % ("""
            #include <stddef.h>
            #include <string.h>
            struct link { struct link *next, *prev; };
            struct task { int id; double work; struct link run, all; struct task *parent, *kin[2]; char name[12]; };
            static struct link all = {&all, &all}; static void *unused; static int made;
            static void *get(void) { void *p = unused; unused = *(void **)p; memset(p, 0, sizeof(struct task)); return p; }
            static void give_back(struct task *t) { t->all.next->prev = t->all.prev; t->all.prev->next = t->all.next; *(void **)t = unused; unused = t; }
            static struct task *make(struct task *parent) {
              struct task *t = get(); t->id = made++; t->parent = parent; t->kin[1] = parent; t->work = .5; sprintf(t->name, "t%d", t->id);
              t->run.next = t->run.prev = &t->run; t->all.next = all.next; t->all.prev = &all; all.next->prev = &t->all; all.next = &t->all; return t; }""", """
            if (i == 0) { char *at = malloc(20 * sizeof(struct task)); int k; for (k = 20; k-- > 0;) { void **p = (void **)(at + k * sizeof(struct task)); *p = unused; unused = p; } }
            { struct task *t = make(all.next == &all ? NULL : (struct task *)((char *)all.next - offsetof(struct task, all))); struct link *l, *next; int k = 0;
              deep(1, 1); t->work += i;
              for (l = all.next; l != &all; l = next) { struct task *u = (struct task *)((char *)l - offsetof(struct task, all)); next = l->next; result += u->id + (long)u->work + (u->parent != NULL) + u->name[1]; if (++k > 5 && u->id % 3 != i % 3) give_back(u); }
              for (k = 0, l = all.next; l != &all; l = l->next) k++;
              if (k > 16) give_back((struct task *)((char *)all.prev - offsetof(struct task, all))); }"""), "30 37 44 51 58 65")

    FREE_OBJECTS = PROGRAM % ("""
static double anchor[9];
typedef struct { MEMBERS } elem;
static ALLOCATOR
static elem *at[600]; static int n;
""", """
{ int k; for (k = 0; k < 5; k++) { elem *e = NEW; int v = i + k; SET; at[n++] = e; }
  put(at[--n]); at[n] = NULL; put(at[n / 2]); at[n / 2] = at[n - 1]; at[--n] = NULL;
  anchor[i % 9] += 3; deep(1, 1);
  for (k = 0; k < n; k++) { elem *e = at[k]; result = result * 3 % 1000003 + (GET); } }
""")
    ALLOCATORS = {
        "anything": """void *unused; static void put(void *p) { *(void **)p = unused; unused = p; }
static void *get(size_t n) { void *p; if (!unused) { int k; char *b = malloc(8 * n); for (k = 7; k >= 0; k--) { *(void **)(b + k * n) = unused; unused = b + k * n; } } p = unused; unused = *(void **)p; return p; }
#define NEW get(sizeof(elem))""",
        "objects": """elem *unused; static void put(elem *p) { *(elem **)p = unused; unused = p; }
static elem *get(void) { elem *p; if (!unused) { int k; p = malloc(8 * sizeof *p); for (k = 7; k >= 0; k--) { *(elem **)(p + k) = unused; unused = p + k; } } p = unused; unused = *(elem **)p; return p; }
#define NEW get()""",
        "links": """struct fl { struct fl *next; } *unused; static void put(elem *p) { struct fl *f = (struct fl *)p; f->next = unused; unused = f; }
static elem *get(void) { elem *p; if (!unused) { p = malloc(sizeof *p); return p; } p = (elem *)unused; unused = unused->next; return p; }
#define NEW get()""",
        "copies": """void *unused; static void put(elem *p) { memcpy(p, &unused, sizeof unused); unused = p; }
static elem *get(void) { elem *p; if (!unused) { p = malloc(sizeof *p); return p; } p = unused; memcpy(&unused, p, sizeof unused); return p; }
#define NEW get()"""}

    def free_objects(self, members, set_, get, allocator):
        return self.FREE_OBJECTS.replace("MEMBERS", members).replace("SET", set_).replace("GET", get).replace("ALLOCATOR", self.ALLOCATORS[allocator])

    def test_links_in_free_objects_where_numbers_are_else(self):
        """With part of the link before beside the number, when the object is in use: as an address it leads nowhere, and is none."""
        number = "int k; double *p;", "e->k = v; e->p = anchor + v % 9", "e->k + (long)*e->p"
        handle = "MPI_Datatype t; double *p;", "e->t = v & 1 ? MPI_INT : MPI_DOUBLE; e->p = anchor + v % 9", "(e->t == MPI_INT) + (long)*e->p"
        stream = "FILE *f; unsigned on : 1, dir : 2;", "e->on = v; e->dir = v >> 1; e->f = stdout", "e->on + e->dir * 2 + (e->f == stdout)"
        numbers = "double d; long n;", "e->d = v; e->n = -v", "(long)e->d + 2 * e->n"
        for what, allocator in ((number, "anything"), (number, "objects"), (numbers, "links"), (numbers, "copies"), (numbers, "objects"),
                                (handle, "anything"), (handle, "copies"), (stream, "links")):
            with self.subTest(members=what[0], allocator=allocator):
                self.restarts_from_all(self.free_objects(*what, allocator), "8 29 35", "60 85")

    def test_links_in_free_objects_that_cannot_be_told(self):
        """A link in a word of which a number of the object has some bits, and the rest is what was there before."""
        few = "char c; double x; const double *s; unsigned f : 3;", "e->c = v; e->x = v; e->s = anchor + v % 9; e->f = v", "e->c + (long)e->x + e->f + (long)*e->s"
        either = "short k; union { double d; const double *s; } u;", "e->k = v % 2; if (v % 2) e->u.s = anchor + v % 9; else e->u.d = v", "e->k + (long)(e->k ? *e->u.s : e->u.d)"
        half = "unsigned k; double *p;", "e->k = v * 2654435769u; e->p = anchor + v % 9", "e->k + (long)*e->p"
        for what, allocator in (half, "links"), (half, "copies"), (few, "objects"), (few, "copies"), (either, "links"), (either, "copies"):
            with self.subTest(members=what[0], allocator=allocator):
                self.write("prog.c", self.free_objects(*what, allocator))
                self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
                self.cc("prog.c", "-w", "-o", "prog")
                out, said = self.planned("prog", "8 29")
                self.assertEqual(out, self.start("plain"), said)
                self.assertIn("holds an address", said)
                self.assertEqual(launch.committed(os.path.join(self.home, "lines")), [], said)

    def test_free_objects_in_structs(self):
        """Objects that are members of a slab, linked by their first words, which are numbers otherwise, while they are free."""
        self.restarts_from_all(PROGRAM % ("""
            struct obj { int v; struct obj *next; double d; };
            struct slab { struct slab *next; int used; void *free; struct obj all[12]; };
            static struct slab *slabs; static struct obj *list;
            static struct obj *get(void) {
              struct slab *s; struct obj *o; int k;
              for (s = slabs; s && !s->free; s = s->next) { }
              if (!s) { s = malloc(sizeof *s); s->used = 0; for (k = 0; k < 12; k++) *(void **)&s->all[k] = k < 11 ? &s->all[k + 1] : NULL; s->free = s->all; s->next = slabs; slabs = s; }
              o = s->free; s->free = *(void **)o; s->used++; return o; }
            static void put(struct obj *o) { struct slab *s; for (s = slabs; o < s->all || o >= s->all + 12; s = s->next) { } s->used--; *(void **)o = s->free; s->free = o; }""", """
            { struct obj **at, *o; int k; struct slab *s;
              for (k = 0; k < 3; k++) { o = get(); o->v = 3 * i + k + rank; o->d = i * .5; o->next = list; list = o; }
              deep(1, 1);
              for (at = &list, k = 0; *at; k++) if (k % 3 == i % 3) { o = *at; *at = o->next; result += o->v + (long)o->d; put(o); } else at = &(*at)->next;
              for (s = slabs; s; s = s->next) result += s->used; }"""), "5 16 37 63 99", "20 40 80")

    def test_a_function_in_front_of_data(self):
        """And what there is of it behind a line, before the program says so again."""
        self.restarts_from_all(PROGRAM % ("""
            typedef void (*release)(void **); static int released; static void one(void **p) { free(*p); *p = NULL; released++; } static void two(void **p) { one(p); released += 2; }
            static void *get(size_t size, void **data, release by) { void *b = malloc(size + sizeof(release)); release *at = (release *)b; *at = by; *data = (char *)b + sizeof(release); return b; }
            static void *held[10]; static int *values[10];""", """
            { int k = i % 10, j; if (held[k]) { release *by = (release *)held[k]; (*by)(&held[k]); } held[k] = get(40, (void **)&values[k], i & 1 ? one : two);
              for (j = 0; j < 10; j++) values[k][j] = 100000 + i * j; deep(1, 1); for (k = 0; k < 10; k++) if (held[k]) result += values[k][9] + released; }"""), "5 16 37 63 99", "20 40 80")

    def test_nodes_with_a_head_of_bit_fields(self):
        """Keys behind it, and pointers to children behind these, lie where elements of the head have bits, or nothing."""
        for head, at in (("int inner : 1, n : 31;", 4), ("unsigned long inner : 1, n : 31;", 8), ("long a; unsigned long inner : 1, n : 31;", 24), ("int n : 31; int inner;", 8)):
            self.right("""
                struct head { %s }; struct key { int key, value; };
                #define KEY(x) ((struct key *)((char *)(x) + %d))
                #define CHILD(x) ((struct head **)((char *)(x) + %d + 3 * sizeof(struct key)))
                static struct head *make(int v, int inner) {
                  struct head *x = calloc(1, %d + 3 * sizeof(struct key) + (inner ? 4 * sizeof(void *) : 0)); int k; x->inner = inner; x->n = 3;
                  for (k = 0; k < 3; k++) KEY(x)[k].key = v + k, KEY(x)[k].value = v * k; return x; }
                static struct head *root;""" % (head, at, at, at), """
                { int k; if (i %% 7 == 0) { root = make(rank, 1); for (k = 0; k < 4; k++) CHILD(root)[k] = make(10 * i + k + rank, 0); }
                  deep(1, 1); for (k = 0; k < 12; k++) result += KEY(CHILD(root)[k / 3])[k %% 3].value + KEY(CHILD(root)[k / 3])[k %% 3].key + CHILD(root)[k / 3]->n; }""".replace("%%", "%"))

    def test_memory_that_a_constructor_makes(self):
        """Its type is known then, also where there are handles of MPI in it; a restart makes it once more, and has that of the line."""
        self.right("""
            struct entry { struct entry *next; MPI_Comm comm; double v; const char *name; }; static struct entry *head;
            __attribute__((constructor)) static void enter(void) { int i; for (i = 0; i < 5; i++) { struct entry *x = malloc(sizeof *x); x->next = head; x->v = i; x->comm = MPI_COMM_SELF; x->name = i & 1 ? "odd" : "even"; head = x; } }""",
                   "{ struct entry *x; deep(1, 1); for (x = head; x; x = x->next) { x->v += i; result += (long)x->v + x->name[0] + (x->comm == MPI_COMM_SELF); } }")

    def test_a_struct_and_something_else_behind_it(self):
        """In a block whose size would be that of an array of such structs."""
        self.right("""
            struct part { int n, factors[7]; float data[1]; }; struct plan { struct part *part; float *buffer, *twiddles; };
            static struct plan *make(int n) {
              size_t inner = sizeof(struct part) + n * sizeof(float), all = sizeof(struct plan) + inner + 2 * n * sizeof(float); struct plan *p; int k;
              all = (all + sizeof(struct plan) - 1) / sizeof(struct plan) * sizeof(struct plan);
              p = (struct plan *)malloc(all); p->part = (struct part *)(p + 1); p->buffer = (float *)((char *)p->part + inner); p->twiddles = p->buffer + n;
              p->part->n = n; for (k = 0; k < n; k++) p->buffer[k] = k + .25f, p->twiddles[k] = 3.5f * k, p->part->data[k] = k; for (k = 0; k < 7; k++) p->part->factors[k] = 100 * k + 77777;
              return p; }
            static struct plan *plan;""", "{ if (i % 9 == 0) plan = make(20 + i); deep(1, 1); result += plan->twiddles[3 + i % 9] + plan->buffer[2] + plan->part->factors[i % 7] + plan->part->data[4]; }")

    def test_numbers_in_pointers(self):
        """As hash tables of anything have them, on machines whose addresses are wider than an int: of the program's own making, by a conversion."""
        self.right("#include <stdint.h>\nstruct cell { void *value; struct cell *next; }; static struct cell *all; static void *const kFound = (void *)0xdeadbeef; static void *last;",
                   """{ struct cell *c = malloc(sizeof *c); c->value = i % 5 == 4 ? kFound : (void *)(intptr_t)(i * 49999 - 1000000); c->next = all; all = c; last = (void *)(uintptr_t)(4096u + i);
                   deep(1, 1); for (c = all; c; c = c->next) result += c->value == kFound ? 3 : (int)(intptr_t)c->value; result += (uintptr_t)last; }""")
        self.write("prog.c", PROGRAM % ("static void *last; static long numbers[3] = {1, 50000, 3};", "memcpy(&last, &numbers[1], sizeof last);"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("abandoned.*a pointer in it has the value 0xc350, which is no address")

    def test_what_an_allocator_keeps_in_front(self):
        """The block that it has aligned, and a size: in front of structs with pointers, and of numbers."""
        self.right("""
            #include <stddef.h>
            struct item { int n; struct item *next; double v; }; static struct item *list; static double *numbers[100];
            static void *aligned(size_t alignment, size_t size) {
              char *base = malloc(2 * sizeof(char **) + size + alignment), *at;
              at = base + 2 * sizeof(char **) + (alignment - ((ptrdiff_t)base + 2 * sizeof(char **)) % alignment) % alignment;
              ((char **)at)[-1] = base; ((char **)at)[-2] = (char *)size; return at; }
            static void let_go(void *p) { free(((char **)p)[-1]); }""", """
            { struct item *p = (struct item *)aligned(8, sizeof *p); int k; p->n = i; p->v = i * .5; p->next = list; list = p;
              numbers[i] = aligned(32, 700 * sizeof(double)); for (k = 0; k < 700; k++) numbers[i][k] = k * i; deep(1, 1);
              if (i % 10 == 9) { p = list; list = list->next; result += p->n + (long)numbers[i / 2][7]; let_go(p); let_go(numbers[i / 2]); numbers[i / 2] = aligned(128, 80); numbers[i / 2][7] = 5; } }""")

    def test_integers_behind_pointers(self):
        """In one block, as nodes of trees have their keys behind their children; half an address that is read there refuses lines."""
        self.right("""
            struct node { int count, leaf; int *keys; struct node **children; unsigned char *marks; }; static struct node *root;
            static struct node *make(int n) {
              struct node *b = malloc(sizeof *b + n * sizeof(struct node *) + n * sizeof(int) + n); int k;
              b->count = n; b->children = (struct node **)(b + 1); b->keys = (int *)(b->children + n); b->marks = (unsigned char *)(b->keys + n);
              for (k = 0; k < n; k++) b->children[k] = NULL, b->keys[k] = k; return b; }""", """
            { int k; long s = 0; if (!root) root = make(7); root->children[i % 7] = make(i % 3); root->keys[i % 7] = i; root->keys[3] += 2; root->keys[4]++;
            deep(1, 1); for (k = 0; k < 7; k++) s = s * 5 + root->keys[k] % 100; for (k = 0; k < 7; k++) if (root->children[k] && root->children[k]->count) s += *root->children[k]->keys; result += s % 1000; }""")
        for how in ("halves[2 * (i % 3)]", "*halves", "*(&halves[1] + 1)"):
            self.write("prog.c", PROGRAM % ("static char *table[8]; static int *halves; static void fill(void) { for (int k = 0; k < 8; k++) table[k] = malloc(10); }",
                                            "if (i == 0) { fill(); halves = (int *)(table + 1); } result += %s %% 7;" % how))
            self.cc("prog.c", "-w", "-o", "prog")
            self.assert_refuses_line("it computes with an address as a number")
        # Where the stack has no limit, libraries and large blocks lie below the executable.
        if subprocess.run(["setarch", "-L", "true"], stderr=subprocess.DEVNULL).returncode != 0: return
        self.write("prog.c", PROGRAM % ("static char *table[8]; static int *halves; static void fill(void) { for (int k = 0; k < 8; k++) table[k] = malloc(3000000); }",
                                        "if (i == 0) { fill(); halves = (int *)(table + 1); } result += (halves[0] + (halves[3])) % 7;"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.write("low", "#!/bin/sh\nexec setarch -L \"$(dirname \"$0\")/prog\"\n")
        os.chmod(os.path.join(self.home, "low"), 0o755)
        self.assertRegex(self.take_line("low"), "abandoned.*it computes with an address as a number")

    def test_elements_that_were_copied(self):
        """By a container of any elements, from memory that its allocator has aligned: the program has looked at the last of them only since then."""
        self.right("""
            #include <stddef.h>
            #include <stdint.h>
            struct item { int x, y; int8_t level, pad; union { void *data; long n; int i; } u; }; struct array { size_t size, count, room; char *all; };
            static void *aligned(size_t size) {
              char *base = malloc(2 * sizeof(char **) + size + 16), *at = base + 2 * sizeof(char **) + (16 - (ptrdiff_t)base % 16) % 16;
              ((char **)at)[-1] = base; ((char **)at)[-2] = (char *)size; return at; }
            static void let_go(void *p) { free(((char **)p)[-1]); }
            static void *push(struct array *a) {
              if (a->count == a->room) { char *more = aligned((a->room = 2 * a->room + 3) * a->size); if (a->count) memcpy(more, a->all, a->count * a->size), let_go(a->all); a->all = more; }
              return a->all + a->count++ * a->size; }
            static struct array items = {sizeof(struct item), 0, 0, NULL}; static double values[100];""", """
            { struct item *p = (struct item *)push(&items); memset(p, -1, sizeof *p); p->x = i / 3; p->y = 0; p->level = i % 4; if (i % 5) p->u.data = &values[i]; else p->u.n = i; values[i] = i;
              deep(1, 1); if (i == 99) for (size_t k = 0; k < items.count; k++) { p = (struct item *)(items.all + k * items.size); result += p->x + p->level + (k % 5 ? *(double *)p->u.data : p->u.n); } }""")

    def test_parts_of_all_kinds(self):
        """Bit-fields, streams, functions, and what lay between the members of a struct that was copied; in memory that is freed and made anew."""
        self.restarts_from_all(r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
union val { long i; double d; char *s; };
struct cell { struct cell *next; unsigned a : 3, b : 9; union val v; };
struct fn { int (*f)(int); struct fn *n; FILE *out; };
struct pair { short x; struct pair *p; char c; };
static char *mem; static size_t used, room;
static void *get(size_t n) { n = (n + 7) & ~(size_t)7; if (used + n > room) { fprintf(stderr, "full\n"); exit(1); } used += n; return mem + used - n; }
static int one(int i) { return i + 1; } static int two(int i) { return 2 * i; }
int main(int argc, char **argv) {
  int i, rank; double result = 0, all; struct fn *fs = NULL; struct cell *cells = NULL; struct pair *ps = NULL;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < 100; i++) {
    if (i % 13 == 0) { free(mem); room = 2000 + i * 8; mem = malloc(room); used = 0; fs = NULL; cells = NULL; ps = NULL; }
    if (i % 3 == 0) { struct fn *f = get(sizeof *f); f->f = i % 2 ? one : two; f->n = fs; f->out = stdout; fs = f; }
    if (i % 4 == 1) { struct cell *c = get(sizeof *c); c->next = cells; c->a = i; c->b = i * 3; c->v.i = i; cells = c; }
    { struct pair *p = get(sizeof *p); struct pair q; memset(&q, 0x5a, sizeof q); q.x = i; q.p = ps; q.c = 'c'; *p = q; ps = p; }
    MPI_Barrier(MPI_COMM_WORLD);
    for (struct fn *f = fs; f; f = f->n) result += f->f(i) + (f->out == stdout);
    for (struct cell *c = cells; c; c = c->next) result += c->a + c->b + c->v.i;
    for (struct pair *p = ps; p; p = p->p) result += p->x * p->c;
  }
  MPI_Reduce(&result, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.15g\n", all);
  MPI_Finalize();
  return 0;
}
""", "9 12 30 66 67", "10 50")

    def test_buffer_for_sends(self):
        """The one that MPI has at the line; the program gets back what it has given. (What is there is MPI's, which the plain program has, too.)"""
        self.right("static double *room; static char fixed[4096]; enum { kSize = 400 + 10 * MPI_BSEND_OVERHEAD };",
                   "{ double x = i + rank, y; void *was; int size; if (i == 0) { room = calloc(1, kSize); MPI_Buffer_attach(room, kSize); }"
                   " if (i == 40) { MPI_Buffer_detach(&was, &size); result += (was == room) + size; } if (i == 60) MPI_Buffer_attach(fixed, 4096);"
                   " if (i < 40 || i >= 60) MPI_Bsend(&x, 1, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD);"
                   " deep(1, 1); if (i < 40 || i >= 60) { MPI_Recv(&y, 1, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); result += y; }"
                   " if (i == 99) { MPI_Buffer_detach(&was, &size); result += (was == fixed) + size; } }")

    def test_blocks_that_are_smaller_than_their_struct(self):
        """They have the members that they have room for: kinds without the last ones, and no elements of an array at the end."""
        self.restarts_from_all(PROGRAM % ("""
#include <stddef.h>
struct item { int n; struct item *next; char *name; double d[1]; };
struct some { int kind; struct some *up; union { double d[4]; void *p; } u; struct { int a; struct some *b; } in; short last; };
static struct item *items, *item; static struct some *all, *one; static struct item *ends[3];
static struct item *make(int n, struct item *next) {
  struct item *v = (struct item *)malloc(sizeof *v + (n - 1) * sizeof(double)); int k;
  v->n = n, v->next = next, v->name = n ? NULL : (char *)&v->n;
  for (k = 0; k < n; k++) v->d[k] = k + n;
  return v; }
""", """
if (i < 12) {
  int k;
  items = make(i % 4, items);
  one = calloc(1, i % 4 == 0 ? offsetof(struct some, u) : i % 4 == 1 ? offsetof(struct some, in) + 8 : i % 4 == 2 ? offsetof(struct some, last) : sizeof *one);
  one->kind = i, one->up = all, all = one;
  if (i % 4 == 1) one->u.d[2] = i;
  if (i % 4 >= 2) one->in.b = one;
  if (i == 6) {
    items->next = realloc(items->next, offsetof(struct item, d) + 5 * sizeof(double));
    for (items->next->n = 5, k = 0; k < 5; k++) items->next->d[k] = k; }
  if (i == 9) { one = all->up, one->kind = 4 * 9, all->up = realloc(one, offsetof(struct some, u)); }
  ends[i % 3] = malloc(offsetof(struct item, d)), memset(ends[i % 3], 0, offsetof(struct item, d)), ends[i % 3]->next = items;
}
deep(1, 1);
for (item = items; item != NULL; item = item->next) { int k; result += item->name != NULL && *(int *)item->name == item->n; for (k = 0; k < item->n; k++) result += (long)item->d[k]; }
for (one = all; one != NULL; one = one->up) result += one->kind + (one->kind % 4 == 1 ? (long)one->u.d[2] : 0) + (one->kind % 4 >= 2 && one->in.b == one);
result += ends[i % 3 > i ? 0 : i % 3]->next->n;
"""), "3 8 20 29", "35 60")

    def test_text_behind_a_struct_with_a_union(self):
        """It begins in the gap at the struct's end, and the block may be smaller than the struct."""
        program = PROGRAM % ("""
#include <stddef.h>
struct sym { struct sym *next; int kind;
@PRAGMA
  union { double d; struct sym *s; } u; unsigned short len; char name[@SIZE]; };
struct both { struct inner { int kind;
@PRAGMA
  union { double d; struct both *s; } u; char c; } in; struct both *up; char text[1]; };
static struct sym *all, *one; static struct both *twos, *two;
static struct sym *intern(const char *text, int is_short, int k) {
  size_t n = strlen(text); struct sym *v = malloc((is_short ? offsetof(struct sym, name) : sizeof *v) + n + 1);
  strcpy(v->name, text), v->len = n, v->next = all, v->kind = k % 2;
  if (v->kind) v->u.s = all; else v->u.d = k;
  return v; }
""", """
if (i < 12) {
  all = intern("yellow-blue-green-pink" + 2 * i, i % 3 != 1, i);
  two = malloc(sizeof *two + i), two->up = twos, two->in.kind = i % 2, two->in.c = i, memset(two->text, 0, i + 1), memset(two->text, 'a' + i, i);
  if (i % 2) two->in.u.s = two; else two->in.u.d = i;
  twos = two;
}
deep(1, 1);
for (one = all; one != NULL; one = one->next) { result += strlen(one->name) == one->len; for (const char *c = one->name; *c; c++) result = result * 3 % 1000003 + *c; result += one->kind ? one->u.s == NULL || one->u.s->len > one->len : (long)one->u.d; }
for (two = twos; two != NULL; two = two->up) { for (const char *c = two->text; *c; c++) result = result * 3 % 1000003 + *c; result += two->in.c + (two->in.kind ? two->in.u.s == two : (long)two->in.u.d); }
""")
        for pragma in "", "#pragma elc union kind 0: d, 1: s":
            for size in "1", "":
                with self.subTest(pragma=pragma, size=size):
                    self.restarts_from_all(program.replace("@PRAGMA", pragma).replace("@SIZE", size), "8 29 35")

    def test_size_of_a_block(self):
        """As allocators count what they have given out, and arrays grow into what they have."""
        self.right("#include <malloc.h>\nstatic size_t used, n; static int *all; static void *get(size_t k) { void *p = malloc(k); used += malloc_usable_size(p); return p; }"
                   "static void put(void *p) { used -= malloc_usable_size(p); free(p); }",
                   "if (i % 9 == 0) { if (all) put(all); all = get((i + 1) * sizeof(int)); n = malloc_usable_size(all) / sizeof(int); for (size_t k = 0; k < n; k++) all[k] = 1; }"
                   "deep(1, 1); result += malloc_usable_size(NULL) + (n > i / 9 * 9) + (malloc_usable_size(all) == used) + all[n - 1];")

    def test_blocks_that_are_cut_in_an_array(self):
        """Of a struct's last members, as to the height of a node, the operands of an operation, the edges of a vertex."""
        self.restarts_from_all(PROGRAM % ("""
#include <stddef.h>
enum { HIGH = 8 };
struct node { double key; int height; struct node *to[HIGH]; };
struct term { int what; struct term *of[3]; int line; };
struct vertex { int degree; struct edge { struct vertex *to; float far; } edges[20]; };
static struct node *head, *node; static struct term *terms[100]; static struct vertex *all[100];
static struct node *make(double key, int height) {
  struct node *v = malloc(sizeof *v - (HIGH - height) * sizeof v->to[0]); int k;
  v->key = key, v->height = height; for (k = 0; k < height; k++) v->to[k] = head;
  return v; }
""", """
if (i < 40) {
  int k, n = i % 4;
  head = make(i, 1 + i % HIGH);
  terms[i] = malloc(n == 3 ? sizeof(struct term) : offsetof(struct term, of[n])), terms[i]->what = n;
  for (k = 0; k < n; k++) terms[i]->of[k] = terms[i * k / 4];
  all[i] = malloc(offsetof(struct vertex, edges) + n * sizeof(struct edge)), all[i]->degree = n;
  for (k = 0; k < n; k++) all[i]->edges[k].to = all[i * k / 3], all[i]->edges[k].far = k + .5f;
  if (i == 30) { all[29] = realloc(all[29], offsetof(struct vertex, edges[6])); for (all[29]->degree = 6, k = 1; k < 6; k++) all[29]->edges[k].to = all[k], all[29]->edges[k].far = k; }
}
deep(1, 1);
for (node = head; node != NULL; node = node->to[node->height - 1]) result += (long)node->key * node->height;
for (int v = 0; v < 40 && v <= i; v++) {
  for (int k = 0; k < terms[v]->what; k++) result += terms[v]->of[k]->what;
  for (int k = 0; k < all[v]->degree; k++) result += all[v]->edges[k].to->degree + (long)all[v]->edges[k].far; }
"""), "3 8 61 80", "90 120")

    def test_what_is_found_in_memory_of_anything(self):
        """By bsearch and its relatives alone: elements that were copied there."""
        self.restarts_from_all(PROGRAM % ("""
#include <search.h>
struct record { const char *name; double v; };
static struct { char *data; size_t size, n, room; } v = {NULL, sizeof(struct record), 0, 0};
static void push(const void *e) { if (v.n == v.room) v.data = realloc(v.data, (v.room = v.room * 2 + 1) * v.size); memcpy(v.data + v.size * v.n++, e, v.size); }
static int by_name(const void *a, const void *b) { return strcmp(((const struct record *)a)->name, ((const struct record *)b)->name); }
static const char *const names[] = {"lead", "iron", "gold", "zinc", "tin"};
""", """
struct record r = {names[i % 5], i}, *found;
push(&r);
if (i % 3 == 0) found = lfind(&r, v.data, &v.n, v.size, by_name);
else qsort(v.data, v.n, v.size, by_name), found = bsearch(&r, v.data, v.n, v.size, by_name);
deep(1, 1); result += found->name[0] + strlen(found->name);
"""), "3 8 61 120", "130 170")

    def test_structs_in_front_of_what_is_given_out(self):
        """An allocator keeps its own there, and comes to them by a step back from what it aligns."""
        for back in "(struct head *)p - 1", "&((struct head *)p)[-1]", "((struct head *)p) + -1":
            with self.subTest(back):
                self.restarts_from_all(PROGRAM % ("""
#include <stdint.h>
struct head { void *raw; size_t n; unsigned magic; }; struct part { double x[3]; struct part *beside; };
static struct part *all[5]; static float *f;
static void *get(size_t n) {
  char *raw = malloc(n + 64 + sizeof(struct head)), *p = (char *)(((uintptr_t)raw + sizeof(struct head) + 63) & ~(uintptr_t)63);
  struct head *h = BACK; h->raw = raw, h->n = n, h->magic = 0xfeed; return p; }
static size_t put(void *p) { struct head *h = BACK; size_t n = h->n; if (h->magic != 0xfeed) abort(); free(h->raw); return n; }
""".replace("BACK", back), """
{ struct part **at = &all[i % 5]; int n = 5 + i % 3, k;
  if (*at) result += put(*at), result += put(f);
  *at = get(n * sizeof **at), f = get(n * sizeof *f);
  for (k = 0; k < n; k++) (*at)[k].x[2] = f[k] = i + k, (*at)[k].beside = *at + (3 * k + 1) % n;
  deep(1, 1);
  for (k = 0; k < n; k++) result += (long)((*at)[k].beside->x[2] + f[k]); }
"""), "3 8 61 120", "130 170")

    def test_records_at_equal_distances(self):
        """Many structs in one block, each with as much behind it as the program was told, as the events of simulators have messages."""
        for extra in "24", "3 * sizeof(void *)":
            with self.subTest(extra):
                self.restarts_from_all(PROGRAM % ("""
struct event { struct event *next, *prev; double at; int from; };
struct ping { struct event *of; long n; };
static struct event *first, *e; static size_t extra = %s, length; static char *pool;
static void put_in(int count) {
  length = sizeof(struct event) + extra; pool = malloc(64 + count * length); memset(pool, 0, 64); pool += 64;
  first = e = (struct event *)pool;
  while (--count > 0) {
    e->next = (struct event *)((char *)e + length), e->prev = NULL, e->from = count, e->at = count * .5;
    memset(e + 1, count, extra); e->next->prev = e; e = e->next; }
  e->next = NULL, e->from = 0, e->at = 0; memset(e + 1, 1, extra);
}
""" % extra, """
if (i == 0) put_in(6000);
if (i % 10 == 3) { e = first->next; first->next = e->next; e->next->prev = first; e->next = NULL; e->prev = first; if (extra == 24 && i > 30) { struct ping *p = (struct ping *)(e + 1); p->of = e->prev; p->n = i; } }
deep(1, 1);
for (e = first; e != NULL; e = e->next) result += e->from + (long)e->at + ((char *)(e + 1))[20] + (e->next != NULL && e->next->prev == e);
"""), "3 8 61 120", "130 170")

    def test_without_a_directory(self):
        """No line is asked for, and memory is the C library's, as in the plain program: also what was made before main(), or by the library."""
        self.write("prog.c", PROGRAM % (r"""
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
static char *early, *kept[10];
__attribute__((constructor)) static void before(void) { early = malloc(100); strcpy(early, "early"); }
static long of(const char *text) { long sum = 0; while (*text) sum = 31 * sum + *text++; return sum; }
static long vary(int n) { double a[n], *b = __builtin_alloca(n * sizeof *b); int k; for (k = 0; k < n; k++) a[k] = b[k] = k; deep(1, 1); return (long)a[n - 1] + (long)b[n / 2]; }
""", r"""
char *text = NULL, *line = NULL; void *aligned; size_t size = 0, pages = 3 * 4096; FILE *f; unsigned char *raw = malloc(5000); int k, used = 0;
for (k = 0; k < 5000; k++) used += raw[k] != 0;
result += used == 5000;                 /* MALLOC_PERTURB_ */
free(raw);
if (i == 3) early = realloc(early, 20000); else if (i == 50) { result += of(early); free(early); early = NULL; }
kept[i % 10] = realloc(kept[i % 10], i % 10 ? 100 + 7 * i : 50000); memset(kept[i % 10], i, 100); result += kept[i % 10][99];
asprintf(&text, "%d of %s", i, "text"); result += of(text); free(text); text = strdup("again"); result += of(text); free(text);
if (posix_memalign(&aligned, 256, 1000) == 0) result += (size_t)aligned % 256 == 0, free(aligned);
raw = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); raw[5] = 7;
raw = mremap(raw, pages, 5 * pages, MREMAP_MAYMOVE); result += raw[5] + raw[4 * pages]; result += munmap(raw, 5 * pages) == 0;
if (i == 7) { f = fopen("prog.c", "r"); while (getline(&line, &size, f) > 0) result += of(line); fclose(f); free(line); }
result += vary(10 + i) + (malloc(0) != NULL) + (calloc((size_t)-1, 16) == NULL && errno == ENOMEM);
"""))
        self.cc("prog.c", "-w", "-D_GNU_SOURCE", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-D_GNU_SOURCE", "-o", "prog")
        expected = self.start("plain", MALLOC_PERTURB_="85")
        self.assertEqual(self.start("prog", MALLOC_PERTURB_="85"), expected)
        self.assertNotEqual(self.planned("prog", MALLOC_PERTURB_="85")[0], expected)  # where memory is followed it is zeroed

    def test_memory_that_is_used_again(self):
        """As something else than it was made for: all of its bits are there after a restart."""
        outside = """
#include <stdbool.h>
static char *arena; static size_t used; static void *cells[4];
static void *take(size_t n) { void *p; if (arena == NULL) arena = malloc(1 << 14); p = arena + used; used += (n + 15) & ~(size_t)15; return p; }
struct settings { bool is_loud; int level; }; struct bits { unsigned a : 3, b : 9; int n; }; struct plain { unsigned key; int n; };
static void *cell(int k, size_t n) { if (cells[k] == NULL) cells[k] = calloc(1, n); return cells[k]; }
static double *x; static int *ix; static struct settings *settings;
"""
        inside = """
{ int k;
  if (i == 0) {
    settings = take(sizeof *settings), settings->is_loud = true, settings->level = 3, x = take(50 * sizeof *x), ix = take(50 * sizeof *ix);
    for (k = 0; k < 50; k++) x[k] = k * .1, ix[k] = 37 * k;
    ((bool *)cell(0, 16))[3] = true, ((long double *)cell(1, 64))[3] = 1.5L, ((struct bits *)cell(2, 32))[1].a = 4, ((void (**)(void))cell(3, 16))[0] = NULL;
  }
  if (i % 25 == 3) {
    unsigned char *u = cell(0, 16); double *d = cell(1, 64); struct plain *p = cell(2, 32); long *l = cell(3, 16);
    for (k = 0; k < 8; k++) u[k] = 30 * k + i % 9, d[k] = 10.1 * k + i;
    for (k = 0; k < 4; k++) p[k].key = 123456789 + k * i;
    l[0] = i, l[1] = 2 * i;
  }
  x[i % 50] += i; deep(1, 1);
  for (k = 0; k < 50; k++) result += (long)(1e9 * x[k]) + ix[k];
  result += settings->level;
  if (i >= 3) for (k = 0; k < 8; k++) result += ((unsigned char *)cells[0])[k] + (long)(1e9 * ((double *)cells[1])[k]) + ((struct plain *)cells[2])[k % 4].key + ((long *)cells[3])[k % 2];
}
"""
        self.right(outside, inside)

    def test_rows_behind_their_pointers(self):
        """In one block; what is there may look like an address of the stack, and be no multiple of a pointer."""
        outside = """
static void *rows(int n, int m, size_t size) {
  char **a = calloc(1, n * sizeof *a + n * m * size), *data = (char *)(a + n);
  int k;
  for (k = 0; k < n; k++) a[k] = data + k * m * size;
  return a;
}
static int **of_int(int n, int m) {
  int **a = (int **)malloc(n * sizeof *a + n * m * sizeof **a), k;
  for (a[0] = (int *)(a + n), k = 1; k < n; k++) a[k] = a[k - 1] + m;
  return a;
}
static double ***cube(int n) {
  double ***a = calloc(1, n * sizeof *a + n * n * sizeof **a + n * n * n * sizeof ***a), **b = (double **)(a + n), *data = (double *)(b + n * n);
  int k;
  for (k = 0; k < n * n; k++) b[k] = data + k * n, a[k / n] = b + k / n * n;
  return a;
}
static int **a, **seven; static short **s; static double **d, ***c;"""
        inside = """if (i == 0) a = of_int(4, 6), seven = rows(7, 5, sizeof **seven), s = rows(3, 3, sizeof **s), d = rows(4, 4, sizeof **d), c = cube(3);
{ int k; for (k = 0; k < 24; k++) a[0][k] = 32767; }
seven[i % 7][i % 5] += i, s[i % 3][2] += i, d[i % 4][i % 3] += i + 0.5, c[i % 3][i % 2][1] += i + 0.25;
if (i % 2) deep(1, 1); else MPI_Sendrecv_replace(d[1], 4, MPI_DOUBLE, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
result += a[1][3] - 32767 + seven[6][4] + s[1][2] + d[3][2] + 4 * c[2][0][1];"""
        self.right(outside, inside)

    def test_rows_that_move_between_lines(self):
        """And lead into each other: nothing of an earlier line is taken for the present."""
        outside = """
static double **rows(double **old, int n, int m) {
  double **a = realloc(old, n * sizeof *a + n * m * sizeof **a), *data = (double *)(a + n);
  int k;
  for (k = 0; k < n; k++) a[k] = data + k * m;
  for (k = 0; k < n * m; k++) data[k] = k;
  return a;
}
static double **a, **b, **c, **views[3];"""
        inside = """if (i % 10 == 0) a = rows(a, 5, 9 + i % 3), b = rows(b, 4, 800 - i), free(c), c = rows(NULL, 3, 70 + i);
a[4] = b[2], views[0] = i % 2 ? a : c, views[1] = malloc(3 * sizeof **views), views[1][0] = c[2] + 1, views[1][1] = b[3], views[1][2] = NULL, views[2] = b;
b[i % 4][i % 7] += i, c[i % 3][i % 60] += 1; deep(1, 1); result += a[4][i % 7] + views[0][1][2] + views[1][0][i % 9] + views[2][3][1];"""
        self.write("prog.c", PROGRAM % (outside, inside))
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog")
        right, lines = self.start("plain"), os.path.join(self.home, "lines")
        sites = sorted(self.chance.sample(range(5, 150), 6))  # others come behind the last
        out, said = self.planned("prog", " ".join(map(str, sites)))
        self.assertEqual(out, right, said)
        self.assertEqual(launch.newest(lines), 6, said)
        out, said = self.planned("prog", " ".join(str(site) for site in range(4, 190 - sites[-1], 9)), ELC_RESTART="6")
        self.assertEqual(out, right, "%s\n%s" % (sites, said))

    def test_handles_in_memory_of_numbers(self):
        """From an allocator that returns a pointer to doubles, as Zoltan's."""
        self.right("""
            struct plan { int n; MPI_Comm comm; MPI_Datatype type; }; static struct plan *plan; static MPI_Request *requests;
            static double *give(size_t n) { return (double *)malloc(n); }""", """
            { int in[4], out[4], k; if (!plan) { plan = (struct plan *)give(sizeof *plan); requests = (MPI_Request *)give(4 * sizeof *requests); plan->n = 4;
                MPI_Comm_dup(MPI_COMM_WORLD, &plan->comm); MPI_Type_contiguous(1, MPI_INT, &plan->type); MPI_Type_commit(&plan->type); }
              for (k = 0; k < plan->n; k++) { out[k] = i * k + rank; MPI_Irecv(&in[k], 1, plan->type, 1 - rank, k, plan->comm, &requests[k]); }
              deep(1, 1);
              for (k = 0; k < plan->n; k++) MPI_Send(&out[k], 1, plan->type, 1 - rank, k, plan->comm);
              MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); for (k = 0; k < 4; k++) result += in[k]; deep(in[0], 1);
              if (i == 99) { MPI_Comm_free(&plan->comm); MPI_Type_free(&plan->type); } }""")

    def test_numbers_whose_halves_are_handles(self):
        """Where handles are integers, some of many numbers have such ones; memory for doubles may be for something else, too."""
        self.right("""
            struct cell { double x, y; }; static struct cell *all; static MPI_Comm own;
            static double with(unsigned low, double x) { unsigned words[2]; memcpy(words, &x, 8); words[*(char *)&(int){1} ? 0 : 1] = low; memcpy(&x, words, 8); return x; }""", """
            { int k; if (!all) { unsigned low; MPI_Comm_dup(MPI_COMM_WORLD, &own); memcpy(&low, &own, sizeof low); all = malloc(3000 * sizeof *all);
                for (k = 0; k < 3000; k++) all[k].x = with(low, 0.1 * (k + 1)), all[k].y = -all[k].x; }
              deep(1, 1); result += (long)(all[i * 20].x * 10 + 0.5) + (long)(0.5 - all[i].y * 10); if (i == 99) MPI_Comm_free(&own); }""")

    def test_memory_with_holes(self):
        """Global arrays out of which a program gives memory itself, of a type that has not all of its bytes."""
        use = "static void *give(void) { return pool; } static int *all;", "if (!all) all = give(); all[i % 100] += i * 7919; deep(1, 1); result += all[i % 100] + all[(i + 3) % 100];"
        self.right("#include <stddef.h>\nstatic max_align_t pool[64];" + use[0], use[1])
        self.write("prog.c", PROGRAM % ("static long double pool[64];" + use[0], use[1]))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("'prog.c:pool' of the globals: there is something between its numbers")
        self.right("static long double sums[8];", "sums[i % 8] += i / 7.0L; deep(1, 1); result += (long)(sums[(i + 3) % 8] * 100);")

    def test_written_behind_a_block(self):
        """Where malloc has a little more than what it was asked for, so that the program goes well."""
        for make in "malloc(n * sizeof(int) + 1)", "calloc(n * sizeof(int) + 1, 1)", "realloc(malloc(300), n * sizeof(int) + 1)", "realloc(malloc(3), n * sizeof(int) + 1)":
            with self.subTest(make):
                self.write("prog.c", PROGRAM % ("static int n = 3, *all;", "if (!all) { all = %s; all[n] = 1001; } deep(1, 1);" % make))
                self.cc("prog.c", "-w", "-o", "prog")
                self.assert_refuses_line("the program has written behind a block of 13 bytes")
        self.right("static int n = 3, *all; static char *text;", """if (!all) { char full[300]; memset(full, 'x', 300); all = malloc(300); memset(all, 0x55, 300); all = realloc(all, n * sizeof(int)); free(malloc(40)); text = malloc(4); strcpy(text, "four");
            text = realloc(text, 5 + i); } result += text[3] + all[2];""")

    def test_arrays_of_anything(self):
        """As Athena's: a function returns pointers to pointers to anything, which become those to numbers."""
        outside = """static void **get2(long n, long m, size_t size) { void **a = calloc(n, sizeof *a); long k; a[0] = calloc(n * m, size); for (k = 1; k < n; k++) a[k] = (char *)a[0] + k * m * size; return a; }
            static void ***get3(long n, long m, long l, size_t size) { void ***a = calloc(n, sizeof *a); long k, h; a[0] = calloc(n * m, sizeof **a); for (k = 1; k < n; k++) a[k] = a[0] + k * m;
              a[0][0] = calloc(n * m * l, size); for (k = 0; k < n; k++) for (h = 0; h < m; h++) if (k || h) a[k][h] = (void **)((unsigned char *)a[0][0] + (k * m + h) * l * size); return a; }
            static void **rows(long n, long m, size_t size) { void **a = malloc(n * sizeof *a); long k; for (k = 0; k < n; k++) a[k] = malloc(m * size), memset(a[k], 0, m * size); return a; }
            static void **same(void **a) { return a; }
            struct cell { double v; int n; }; static double ***cube; static struct cell **cells; static float **apart;"""
        self.right(outside, """if (!cube) { cube = (double ***)get3(2, 3, 4, sizeof(double)); cells = (struct cell **)get2(5, 7, sizeof(struct cell)); apart = (float **)rows(3, 11, sizeof(float)); }
            cube[i % 2][i % 3][i % 4] += i; cells[i % 5][i % 7].n += i; apart[i % 3][i % 11] += i; cells = (struct cell **)same((void **)cells); deep(1, 1);
            result += (long)cube[i % 2][i % 3][i % 4] + cells[i % 5][i % 7].n + (long)apart[i % 3][i % 11];""")
        self.take_line("prog")
        said = self.run_words(self.tool, "show", "--dir", os.path.join(self.home, "lines"), "1")
        for wanted in r"1 block +double\[24\]", r"1 block .*cell\[35\]", r"3 blocks +float\[11\]":
            self.assertRegex(said, wanted)
        self.assertNotIn("bytes[", said)

    def test_matrices_of_no_rows(self):
        """The usual allocator writes a pointer into a block of nothing."""
        self.right("""static int **none, **some; struct big { double v[5]; }; static struct big *nothing; static long *word;
            static int **matrix(long n, long m) { int **a = calloc(n, sizeof *a); long k; a[0] = calloc(n * m, sizeof **a); for (k = 0; k < n; k++) a[k] = a[0] + k * m; return a; }""",
                   """if (i % 30 == 0) { if (none) { free(none[0]); free(none); free(some[0]); free(some); } none = matrix(0, 3); some = matrix(4, 3); nothing = calloc(0, sizeof *nothing); word = malloc(0); *word = 0x123456789a + i; }
            some[i % 4][i % 3] += i; deep(1, 1); result += some[i % 4][i % 3] + (none[0] != NULL) + *word % 1000; free(nothing); nothing = calloc(0, sizeof *nothing);""")

    def test_handles_in_memory_of_allocators(self):
        """Which are further apart than their structs are long, have something between their members, or numbers behind them; where handles are
        integers nothing tells them from numbers."""
        outside = """struct own { char c; MPI_Comm comm; double v; long k; }; struct kind { MPI_Datatype t; int n; };
            static char *memory, *top; static struct own *all[4]; static struct kind *kind; static int *numbers;
            static void *get(size_t n) { void *p; if (!memory) { %s } p = top; top += (n + 15) & ~(size_t)15; return p; }"""
        make = """if (i == 0) { int k; %s for (k = 0; k < 4; k++) { all[k] = get(sizeof **all); all[k]->c = 'a' + k; all[k]->v = k; all[k]->k = 1000 + k; MPI_Comm_split(MPI_COMM_WORLD, k == 2 ? rank : 0, 0, &all[k]->comm); } }
            { long sum, mine = i + all[i %% 4]->k; MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, all[i %% 4]->comm); result += sum + all[i %% 4]->c + (long)all[i %% 4]->v; }"""
        for begin in "memory = calloc(1, 600); top = memory;", "memory = malloc(600); memset(memory, 0x5a, 600); top = memory;":
            with self.subTest(begin):
                self.right(outside % begin, make % "")
        first = "kind = get(sizeof *kind); MPI_Type_contiguous(3, MPI_INT, &kind->t); MPI_Type_commit(&kind->t); numbers = get(50 * sizeof(int)); for (k = 0; k < 50; k++) numbers[k] = k * 1103515245;"
        self.right(outside % "memory = top = calloc(1, 600);", make % first + " result += numbers[i % 50] % 1000; { int size; MPI_Type_size(kind->t, &size); result += size; } if (i == 99) MPI_Type_free(&kind->t);")
        self.write("prog.c", PROGRAM % (outside % "static double own[80]; memory = top = (char *)own;", make % ""))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("a handle of MPI")

    def test_structs_that_begin_with_the_same_members(self):
        """Objects with a tag, which are not made of one another; pointers to all that there may be are made before the tag is looked at."""
        self.right("""enum tag { NUMBER, TEXT, PAIR, LONG }; struct any { enum tag t; }; struct number { enum tag t; double v; }; struct text { enum tag t; char *s; int n; };
            struct pair { enum tag t; struct any *first, *then; }; struct lng { enum tag t; long v; }; static struct any *all, *kept[12];
            static struct any *make(enum tag t, size_t size) { struct any *a = malloc(size); memset(a, 0, size); a->t = t; return a; }
            static struct any *number(double v) { struct number *n = (struct number *)make(NUMBER, sizeof *n); n->v = v; return (struct any *)n; }
            static struct any *text(const char *s) { struct text *t = (struct text *)make(TEXT, sizeof *t); t->s = strdup(s); t->n = strlen(s); return (struct any *)t; }
            static struct any *lng(long v) { struct any *a = make(LONG, sizeof(struct lng)); ((struct lng *)a)->v = v; return a; }
            static struct any *pair(struct any *a, struct any *b) { struct pair *p = (struct pair *)make(PAIR, sizeof *p); p->first = a; p->then = b; return (struct any *)p; }
            static long value(struct any *a) {
              struct number *n = (struct number *)a; struct text *t = (struct text *)a; struct pair *p = (struct pair *)a; struct lng *l = (struct lng *)a;
              if (a == NULL) return 1;
              switch (a->t) { case NUMBER: return n->v; case TEXT: return t->s[0] + t->n; case LONG: return l->v; case PAIR: return (value(p->first) * 3 + value(p->then)) % 10007; }
              return 0; }""", """if (i < 24) { struct any *a = i % 4 == 0 ? number(i * 1.5) : i % 4 == 1 ? text("name") : i % 4 == 2 ? lng(i * 7) : pair(lng(i), text("other")); kept[i % 12] = a; all = pair(a, all); }
            deep(1, 1); result += value(all) + value(kept[i % 12]);""")

    def test_structs_that_begin_with_another(self):
        """A constructor has memory for the one that all begin with; in lines it is what it becomes, which other machines have to know."""
        self.right("""
            struct base { int kind, id; }; struct circle { struct base b; double x, y, r; }; struct ring { struct circle c; double inner; int n[2]; }; static struct base *all[10];
            static struct base *make(int kind, int id, size_t size) { struct base *b = malloc(size); b->kind = kind; b->id = id; return b; }""", """
            if (i == 0) { int k; for (k = 0; k < 10; k++) { struct circle *c = (struct circle *)(all[k] = make(k & 1, k, k & 1 ? sizeof(struct ring) : sizeof(struct circle))); c->x = k * .5;
                if (c->b.kind) { struct ring *r = (struct ring *)c; r->inner = 7; r->n[1] = k; } } }
            { struct circle *c = (struct circle *)all[i % 10]; c->y = i; result += (long)(c->x + c->y) + deep(c->b.id, 1); if (c->b.kind) result += ((struct ring *)all[i % 10])->n[1]; }""")
        self.planned("prog", 50)
        shown = json.loads(self.run_words(self.tool, "show", "--json", os.path.join(self.home, "lines", "line-000001", "rank-000000.elc")))
        self.assertLessEqual({(5, "prog.c:struct circle"), (5, "prog.c:struct ring")}, {(block["blocks"], block["type"]) for block in shown["heap"]})

    def test_memory_of_no_size(self):
        """As the C library has it: realloc() to nothing may free; nothing is aligned to what is no power of two."""
        self.right("static long *list; static int n; static void *aligned;",
                   "if (n == 0) { n = 3; list = malloc(n * sizeof *list); } list[n - 1] = i; deep(1, 1); result += list[n - 1] + (realloc(malloc(8), 0) == NULL);"
                   " list = realloc(list, --n * sizeof *list); result += list == NULL; if (n == 0) list = NULL;"
                   " result += posix_memalign(&aligned, 3, 10) + posix_memalign(&aligned, 24, 10) + posix_memalign(&aligned, 4, 10); result += posix_memalign(&aligned, 64, 10); free(aligned);")

    def test_memory_or_none(self):
        """What a choice is converted to a pointer to, all that it may be points to."""
        self.right("struct cell { struct cell *next; long n; }; static struct cell *all, *cells; static void *spare;", """
{ struct cell *c = i % 3 != 0 ? malloc(sizeof *c) : NULL, *d = i < 50 ? (spare = malloc(sizeof *d)) : spare;
  if (c) { c->next = all; c->n = i; all = c; }
  d->n = i; d->next = all; cells = d; deep(i, 1); result += d->n + (d->next ? d->next->n : 7) + (all && all->next ? all->next->n : 0); }""")

    def test_allocators_with_a_type(self):
        """That have memory as numbers first; and handles of MPI in memory that is aligned."""
        self.restarts_from_all(r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
struct node { struct node *next; double v; char *name; }; struct other { int kind, n; MPI_Comm comm; double *at; struct node *first; };
static int kind_of(void *p) { struct node *n = (struct node *)p; return n->v > -1 ? 1 : 0; }
static double *numbers(size_t n) { return (double *)malloc(n + 8); }
static void *anything(size_t n) { long *p = (long *)malloc(n); if (p == NULL) exit(1); return p; }
static void *aligned(size_t n) { char *raw = malloc(n + 64), *p = (char *)(((uintptr_t)raw + 63) & ~(uintptr_t)63); return p; }
int main(int argc, char **argv) {
  int i, k, rank, in[2] = {0}, out[2]; double result = 0, all; struct node *nodes = NULL; MPI_Request *requests;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct other *o = (struct other *)anything(sizeof *o + 16);
  o->kind = 0x1000003; o->n = 5; o->comm = MPI_COMM_WORLD; o->at = &result;
  requests = aligned(4 * sizeof *requests);
  for (k = 0; k < 4; k++) requests[k] = MPI_REQUEST_NULL;
  for (i = 0; i < 50; i++) {
    struct node *n = i % 2 ? (struct node *)numbers(sizeof *n) : (struct node *)anything(sizeof *n);
    n->next = nodes; n->v = i; n->name = i % 3 ? "three" : "other"; nodes = n;
    out[0] = i; out[1] = i + rank;
    MPI_Irecv(&in[0], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]); MPI_Irecv(&in[1], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&out[0], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[2]); MPI_Isend(&out[1], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (n = nodes; n; n = n->next) result += n->v * n->name[0];
    o->first = nodes; kind_of(o);
    MPI_Barrier(o->comm);
    result += in[0] + in[1] + o->first->v;
  }
  MPI_Reduce(&result, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.15g\n", all);
  MPI_Finalize();
  return 0;
}
""", "3 8 20 50 90")

    def test_memory_that_is_something_else_now(self):
        """And holds addresses where it had numbers, or functions, before."""
        self.right("static double *pool;", "if (pool == NULL) pool = calloc(1, 4096); ((double **)pool)[3] = pool + i; deep(1, 1); pool[5] += i; result += (((double **)pool)[3] == pool + i) + pool[5];")
        self.right("struct event { void (*fire)(struct event *); struct event *next; }; struct pair { long key; struct pair *next; };"
                   "static void *spare; static struct event *event; static struct pair *pair; static void *cell(void) { if (spare == NULL) spare = calloc(1, 16); return spare; }",
                   "if (i == 0) { event = cell(); event->next = event; event = NULL; pair = cell(); pair->key = 1000; pair->next = pair; } deep(1, 1); result += ++pair->next->key;")
        for struct in ("struct to { double v[2]; int z; }", "struct to { struct to *next; double v; int z; }"):
            self.right("struct from { MPI_Status st; int n; }; " + struct + "; static void *spare; static struct from *first[8]; static struct to *second[8];"
                       "static void *get(size_t n) { void *p = spare; if (p == NULL) return calloc(1, 64); spare = *(void **)p; memset(p, 0, n); return p; } static void put(void *p) { *(void **)p = spare; spare = p; }",
                       """{ int k = i / 10 % 8, me, n; MPI_Comm_rank(MPI_COMM_WORLD, &me); if (first[k] == NULL && second[k] == NULL) { first[k] = get(sizeof *first[k]); MPI_Sendrecv(&i, 1, MPI_INT, me, i, &first[k]->n, 1, MPI_INT, me, i, MPI_COMM_WORLD, &first[k]->st); }
  deep(1, 1); if (i < 80 && i % 10 == 5 && k % 2) { put(first[k]); first[k] = NULL; put(first[k - 1]); first[k - 1] = NULL; second[k] = get(sizeof *second[k]); second[k]->z = i; *(double *)((char *)second[k] + 8) = i * 1.37; }
  deep(1, 1); for (k = 0; k < 8; k++) { if (first[k]) MPI_Get_count(&first[k]->st, MPI_INT, &n), result += n + first[k]->st.MPI_TAG + first[k]->n; if (second[k]) result += second[k]->z + *(double *)((char *)second[k] + 8); } }""")
        self.right("static char *pool; struct to { long n; FILE *file; };",
                   "if (pool == NULL) { pool = calloc(1, 4096); ((struct to *)(pool + 64))->file = stdout; } deep(1, 1); result += ((struct to *)(pool + 64))->file == stdout;")

    def test_memory_that_an_address_is_given_for(self):
        """What a function makes the program's pointer lead to: posix_memalign, the program's own, one that calls itself, MPI_Alloc_mem."""
        self.right("""
struct cell { double x; struct cell *next; char name[8]; }; struct named { struct named *next; int n; char name[1]; };
static struct cell *first, *table[3]; static struct named *names; static struct cell **rows; static void *plain;
static int get(void **to, size_t n) { void *p = calloc(1, n); if (p == NULL) return 1; *to = p; return 0; }
static void get_both(void **to, void **other, size_t n) { get(to, n), get(other, n); }
static int get_all(void **to, size_t n) { *to = calloc(1, n); return deep(*to == NULL, 0) != 0; }
static int get_each(void **to, void **other, size_t n) { get(to, n), get(other, n); return deep(*to == NULL, 0) != 0; } struct list { int n; struct cell *of, *more[2]; };
static void *deep_down(int n, void **to, size_t size) { struct cell *own; if (n > 0) return deep_down(n - 1, (void **)&own, size), free(own), deep_down(0, to, size); return get(to, size), *to; }
""", """
{ struct cell *c = NULL, *d; struct named *one; static struct cell *kept; int k;
  if (posix_memalign((void **)&c, 64, sizeof *c) != 0) exit(1);
  memset(c, 0, sizeof *c), c->x = i, c->next = first, first = c;
  if (get((void **)&one, sizeof *one + 10) != 0) exit(1);
  sprintf(one->name, "name %d", i), one->next = names, one->n = i, names = one;
  if (i % 10 == 0) get_both((void **)(&table[i % 3]), (void **)&kept, 2 * sizeof *kept), kept[1].next = first, table[i % 3][1].next = kept;
  if (i == 20) get((void **)&rows, 5 * sizeof *rows), rows[3] = first, MPI_Alloc_mem(4 * sizeof *d, MPI_INFO_NULL, &d), memset(d, 0, 4 * sizeof *d), d[2].next = first, rows[4] = d;
  if (deep_down(3, (void **)&d, sizeof *d) != (void *)d) exit(2);
  { struct cell *f = i % 2 ? deep(1, 1) > 0 ? malloc(sizeof *f) : NULL : (deep(1, 1), malloc(sizeof *f)); f->next = first; deep(1, 1); result += f->next->x; free(f); }
  { struct cell *f; struct list own, *l = &own; if (get_all((void **)&f, 3 * sizeof *f) || get_each((void **)&l->of, (void **)&own.more[1], 2 * sizeof *f)) exit(3);
    f[2].next = first, l->of[1].next = &f[1], own.more[1]->next = f; deep(1, 1); result += own.more[1]->next[2].next->x + (l->of[1].next == f + 1); free(f), free(l->of), free(own.more[1]); }
  d->next = kept, d->x = i, plain = d; get(&plain, 8);
  deep(1, 1);
  for (k = 0, c = first; c != NULL && k < 20; c = c->next, k++) result += c->x;
  { struct cell *e; struct list { struct cell **all; int n; } own, *l = &own; *(void **)&e = malloc(sizeof *e); e->next = first; e->x = i; *((void **)(&l->all)) = deep_down(1, &plain, 8 * sizeof *l->all); l->all[7] = e;
    deep(1, 1); result += l->all[7]->next->x + l->all[7]->x; free(l->all); free(e); plain = NULL; }
  result += strlen(names->name) + names->n + (kept[1].next->x > 3) + d->next[1].next->x; if (rows) result += rows[3]->x + rows[4][2].next->x; }""")
