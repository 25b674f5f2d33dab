/*
 * pointers.c - functions that reach MPI called through pointers (tables,
 * struct members, parameters, typedefs, returned by functions); lists, trees
 * and graphs on the heap (malloc, calloc, realloc, free, wrappers of them);
 * pointers to pointers, into the middle of arrays, to a field of a struct, rows
 * of matrices, string literals in pointers, structs and tables, pointers to
 * const global tables and to static locals.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

typedef unsigned long long u64;
typedef long (*oper)(long);
struct tree;
typedef void visit_fn(struct tree *, void *);

struct op { const char *name; oper fn; int weight; };
struct list { long val; struct list *next; char *text; };
struct tree { int key; long load; struct tree *kid[2], *parent; };
struct node { long v; int deg; struct node **to; const char *label; };

static int rank, size;
static u64 sum;
static const char *const words[] = { "send", "recv", "wait", "test", "probe" };
static const char *word = "start";
static const long primes[] = { 2, 3, 5, 7, 11, 13, 17, 19 };
static const long *prime = primes + 2;
static struct tree *root;
static struct list *head, **tail = &head;
static struct node *entry;

static void mix(long v)
{
    sum = (sum << 7 | sum >> 57) + (u64) v;
    sum = (sum ^ sum >> 30) * 0xbf58476d1ce4e5b9ULL;
}

static void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p) MPI_Abort(MPI_COMM_WORLD, 3);
    return p;
}
#define NEW(T) ((T *) memset(xmalloc(sizeof(T)), 0, sizeof(T)))

static long *counter(void) { static long count; return ++count, &count; }

static long add(long v)
{
    long s;
    MPI_Allreduce(&v, &s, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    *counter() += 2;
    return s % 1000003;
}

static long rot(long v)
{
    long buf[2] = { v, 0 }, *in = &buf[1];
    MPI_Sendrecv(buf, 1, MPI_LONG, (rank + 1) % size, 5, in, 1, MPI_LONG,
                 (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return *in;
}

static long plain(long v) { return v * 3 % 1000003; }

static const struct op ops[] = { { "add", add, 1 }, { "rotate", rot, 2 },
                                 { "plain", plain, 3 }, { "Rot", &rot, 4 } };
static oper table[3] = { rot, plain, add };

static const struct op *pick(const char *name)
{
    const struct op *o = ops;
    while (strcmp(o->name, name)) o++;
    return o;
}

static oper choose(int k) { return k & 1 ? rot : k & 2 ? plain : add; }

static long apply(oper f, oper g, long v) { return (*f)(v) + g(v + 1); }

static void push(long v, const char *s)
{
    struct list *n = NEW(struct list);
    n->val = rot(v);
    n->text = strcpy(xmalloc(strlen(s) + 1), s);
    *tail = n, tail = &n->next;
}

static void trim(void)                  /* tail may point to head again */
{
    struct list **pp = &head, *n;
    int kept = 0;
    while ((n = *pp) != NULL) {
        n->val += table[n->text[0] % 3](n->val);
        n->val %= 1000003;
        mix(n->val + n->text[strlen(n->text) / 2]);
        if (n->text[0] == 'w' || ++kept > 6) {
            if (tail == &n->next) tail = pp;
            *pp = n->next;
            free(n->text), free(n);
        } else
            pp = &(*pp)->next;
    }
}

static struct tree **find(struct tree **t, int key, struct tree **up)
{
    while (*t && (*t)->key != key) *up = *t, t = &(*t)->kid[key > (*t)->key];
    return t;
}

static void insert(int key)
{
    struct tree *up = NULL, **t = find(&root, key, &up);
    if (!*t) *t = NEW(struct tree), (*t)->key = key, (*t)->parent = up;
    (*t)->load += add(key);
}

static void walk(struct tree *t, visit_fn *fn, void *arg)
{
    if (!t) return;
    walk(t->kid[0], fn, arg);
    fn(t, arg);
    walk(t->kid[1], fn, arg);
}

static void visit(struct tree *t, void *arg)
{
    long *acc = arg, *field = &t->load;
    if (t->key % 4 == 0) *field += rot(*acc % 1000);
    *acc = (*acc * 3 + *field + (t->parent ? t->parent->key : 0)) % 1000003;
}

static void count(struct tree *t, void *arg) { ++*(long *) arg, mix(t->load); }

static void drop(struct tree **t)
{
    if (*t) drop((*t)->kid), drop(&(*t)->kid[1]), free(*t), *t = NULL;
}

static void graph(int n)                /* a ring with chords, so full of cycles */
{
    struct node **all = calloc(n, sizeof *all);
    int i, k;
    for (i = 0; i < n; i++) all[i] = NEW(struct node);
    for (i = 0; i < n; i++) {
        all[i]->v = i, all[i]->label = words[i % 5] + i % 2;
        for (k = 1; k <= 1 + i % 3; k++) {
            all[i]->to = realloc(all[i]->to, k * sizeof(struct node *));
            all[i]->to[all[i]->deg++] = all[(i + k) % n];
        }
    }
    entry = all[n / 2];
    free(all);
}

static long wander(struct node *at, int hops)
{
    struct node *next = at->to[hops % at->deg];
    at->v = (at->v + (hops % 2 ? rot : add)(next->v + at->label[0])) % 1000003;
    hops = hops ? (int) wander(next, hops - 1) : 0;
    return at->v + hops;
}

static long matrix(long **m, int n, int r)
{
    long **row, *mid, t = 0;
    for (row = m; row < m + n; row++) {
        mid = *row + n / 2;
        mid[r % 2 - 1] += rot(mid[0] % 997 + r);
        MPI_Bcast(*row + 1, n - 2, MPI_LONG, r % size, MPI_COMM_WORLD);
        t = (t * 5 + (*row)[0] + mid[-1] + *mid) % 1000003;
    }
    mid = m[0], m[0] = m[n - 1], m[n - 1] = mid;        /* rows change places */
    return t;
}

int main(int argc, char **argv)
{
    int r, i, rounds = argc > 1 ? atoi(argv[1]) : 200, nv = 0;
    long *vec = NULL, *old, t = 1, ntree, **m;
    const struct op *o = &ops[1];
    const char *p = words[0];
    u64 all[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    m = xmalloc(4 * sizeof *m), m[0] = calloc(16, sizeof **m);
    for (i = 1; i < 4; i++) m[i] = m[0] + 4 * i;
    old = m[0];
    graph(7);
    for (r = 0; r < rounds; r++) {
        vec = realloc(vec, ++nv * sizeof *vec);
        vec[nv - 1] = o->fn(t % 1000 + r) * o->weight + *p;
        word = r % 3 ? words[r % 5] : p + 1;
        switch (r % 5) {
        case 0: push(t, word), push(r, words[(r / 5 + 2) % 5]); break;
        case 1: trim(), o = pick(r & 2 ? "rotate" : "add"); break;
        case 2: insert(r * 7 % 23), walk(root, r % 4 ? visit : count, &vec[nv / 2]); break;
        case 3: t += wander(entry, 3 + r % 3), entry = entry->to[0]; break;
        default: t += matrix(m, 4, r), o = ops + r % 4;
        }
        t = (t + apply(choose(r), table[r % 3], *prime + t) + vec[nv / 2]) % 1000003;
        if (++prime == primes + sizeof primes / sizeof *primes) prime = primes;
        p = *++p ? p : words[r % 5];
        mix(t), mix(*p), mix(word[0]), mix(o->name[0]), mix(*counter());
        if (r % 40 == 39) {
            ntree = 0, walk(root, count, &ntree), drop(&root);
            mix(ntree), mix(vec[nv - 1]), nv /= 2;
        }
    }
    for (i = 0; i < 16; i++) mix(old[i] + (m[i / 4] - old));
    MPI_Gather(&sum, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0,
               MPI_COMM_WORLD);
    if (rank == 0) {
        for (i = 0; i < size; i++) mix((long) all[i]);
        printf("result: pointers: ranks %d rounds %d count %ld sum %016llx\n", size, rounds,
               *counter(), sum);
    }
    free(vec), free(old), free(m);
    return MPI_Finalize();
}
