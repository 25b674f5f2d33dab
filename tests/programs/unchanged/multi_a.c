/* multi_a.c - K&R definitions; see multi_main.c */
#include "multi.h"

struct node {                           /* another one is in multi_b.c */
    long v[3];
    char mark;
};

long a_total = 5;
static int count = 100;
static struct node state = { { 1, 2, 3 }, 'a' };
static double factor = 0.5;

static long helper(v, root)
    long v;
    int root;
{
    MPI_Bcast(&v, 1, MPI_LONG, root % size, MPI_COMM_WORLD);
    count += 2;
    return v + count;
}

static int scale(v, f)                  /* does not reach MPI */
    short v;
    float f;
{
    static int last;

    last = (last + (int) (v * f * 4)) % 4093;
    return last;
}

static struct node step(n, k)
    struct node n;
    register int k;
{
    n.v[k % 3] = (n.v[k % 3] + exchange(n.v[(k + 1) % 3])) % MODULUS;
    n.mark = n.mark == 'z' ? 'a' : n.mark + 1;
    return n;
}

long a_hook(self, value)
    void *self;
    long value;
{
    long *total = self, old = *total;

    value = helper(value, count);
    *total = (*total * 3 + value + scale((int) (value % 100), factor)) % MODULUS;
    factor = factor > 60 ? 0.5 : factor * 2;
    return old + value % 10;
}

long a_run(round, start, where)
    int round;
    long start;
    struct shared *where;
{
    struct node before;
    int i;

    before = state;
    for (i = 0; i < 2 + round % 2; i++) {
        state = step(state, round + i);
        where->bins[i] ^= state.v[i % 3] & 0xff;
        start = (start + where->hook(&shared, helper(start, i))) % MODULUS;
    }
    where->head.tag[round % 5] = state.mark;
    start += b_visit((void *) 0, before.v[round % 3] + before.mark);
    return a_hook(&a_total, start) + round;
}

void a_finish(n)
    int n;
{
    int i;

    for (i = 0; i < 3; i++)
        fold(state.v[i] + state.mark + n);
    fold((long) count), fold(a_total), fold((long) scale(1, 1.0)), fold((long) (factor * 2));
    finish_header();
}
