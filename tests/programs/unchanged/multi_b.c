/* multi_b.c - see multi_main.c */
#include <stdlib.h>
#include "multi.h"

struct node { struct node *next, **owner; float f; };  /* not that of multi_a.c */
struct bnode { struct node in; int id; struct bnode *peer; callback self; };

double b_scale = 1.0;
static int count = -5;
static struct { long min, max; } range = { 1L << 40, 0 };
static struct node *chain;

static long helper(struct node *n, long v)
{
    long low = v, high = 0;

    MPI_Reduce(&low, &high, 1, MPI_LONG, MPI_MAX, (count & 0xff) % size, MPI_COMM_WORLD);
    n->f = n->f > 500 ? 0.25f : n->f * 2 + 1;
    if (high > range.max)
        range.max = high;
    if (v < range.min)
        range.min = v;
    return count++, high + (long) (n->f * 4);
}

long b_visit(void *self, long value)
{
    struct bnode *b = self;
    struct node *n = b ? &b->in : chain, **pp;

    if (!b) {                           /* first of the chain becomes the last */
        chain = n->next, n->next = NULL;
        for (pp = &chain; *pp; pp = &(*pp)->next)
            ;
        *pp = n;
    }
    value += helper(n, value + (b ? b->id : 0));
    b_scale = b_scale >= 1024 ? 1.0 : b_scale * 2;
    MPI_Barrier(MPI_COMM_WORLD);
    return value % MODULUS + (long) b_scale;
}

struct bnode *b_make(int n)
{
    struct bnode *b = calloc(n, sizeof *b);
    int i;

    for (i = 0; i < n; i++) {
        b[i].id = i + 1, b[i].peer = &b[(i * 3 + 1) % n], b[i].self = b_visit;
        b[i].in.next = chain, b[i].in.owner = &chain, chain = &b[i].in;
        b[i].in.f = (float) i / 4;
    }
    return b;
}

long b_run(struct bnode *n, callback f, void *arg)
{
    struct bnode *b = n->peer;
    long t = f(arg, exchange(n->id)) % MODULUS;

    t += b->self(b, t) + f(arg, t);
    n->peer = b->peer, n->id = (n->id * 5 + 1) % 97;
    t += b != n && count % 2 ? b_run(b, f, arg) : (*n->in.owner)->f > 3;
    return t % MODULUS;
}

void b_finish(struct bnode *n)
{
    struct node *c;
    int i;

    for (c = chain; c; c = c->next)
        fold((long) (c->f * 4));
    for (i = 0; i < 4; i++)
        fold(n[i].id + 100 * (n[i].peer - n));
    fold(range.min), fold(range.max), fold(count);
    finish_header();
    free(n);
}
