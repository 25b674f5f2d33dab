/*
 * recursion.c - MPI calls in the depths of recursions: linear with records of
 * all callers linked through the stack, mutual, double (a sort, a tree over the
 * ranks, towers of Hanoi), pointers to locals of callers changed far below,
 * arrays of pointers to locals, a recursion that goes through a pointer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>

#define P 1000003L
#define DEPTH 7

typedef unsigned long long u64;

struct frame {
    int depth;
    long value;
    struct frame *up;
};

static int rank, size;
static u64 sum = 99;

static void mix(long v)
{
    sum = (sum << 5 | sum >> 59) + (u64) v;
    sum = (sum ^ sum >> 31) * 0x9e3779b97f4a7c15ULL;
}

static long shift(long v)
{
    long w = v;
    MPI_Sendrecv_replace(&w, 1, MPI_LONG, (rank + 1) % size, 3,
                         (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    return w;
}

/* records of the callers, linked through the stack, written from below */
static long descend(int d, struct frame *up, long *total)
{
    struct frame here, *f;
    long before = *total, got;

    here.depth = d;
    here.value = d * 10 + rank;
    here.up = up;
    if (d == 0) {
        for (f = &here; f != NULL; f = f->up) {
            f->value = shift(f->value) + f->depth;
            *total += f->value;
        }
        return *total % P;
    }
    got = descend(d - 1, &here, total);
    if (d % 3 == 0)
        got = (got + shift(got + before)) % P;
    if (up)
        up->value += here.value;
    *total = (*total + here.value * d) % P;
    mix(here.value), mix(before);
    return (got * 3 + here.value) % P;
}

/* two functions that call each other */
static long odd(long n, long *a, long *b);

static long even(long n, long *a, long *b)
{
    long keep = *a;
    if (n == 0) {
        MPI_Allreduce(a, b, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        return *b % P;
    }
    *b += n;
    keep += odd(n - 1, b, &n);
    return (keep + shift(keep + n)) % P;
}

static long odd(long n, long *a, long *b)
{
    long mine = *b + n, r;
    *a = (*a * 2 + mine) % P;
    if (n == 0)
        return shift(mine) + 1;
    r = even(n - 1, &mine, a);
    return (r + mine * n) % P;
}

/* a tree over the ranks lo..hi-1: sum to lo, from there back to all */
static long tree(int lo, int hi, long v, int depth)
{
    int mid = lo + (hi - lo + 1) / 2;
    long part, other = 0;

    if (hi - lo == 1)
        return (v * 2 + depth) % P;
    part = rank < mid ? tree(lo, mid, v, depth + 1) : tree(mid, hi, v, depth + 1);
    if (rank == lo) {
        MPI_Recv(&other, 1, MPI_LONG, mid, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        part = (part * 5 + other) % P;
        MPI_Send(&part, 1, MPI_LONG, mid, depth, MPI_COMM_WORLD);
    } else if (rank == mid) {
        MPI_Send(&part, 1, MPI_LONG, lo, depth, MPI_COMM_WORLD);
        MPI_Recv(&part, 1, MPI_LONG, lo, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return part;
}

/* quicksort of an array of a caller; the pivot comes from rank 0 */
static void sort(long *lo, long *hi, int *steps)
{
    long pivot, t, *i = lo, *j = hi;

    if (lo >= hi)
        return;
    pivot = lo[(hi - lo) / 2];
    MPI_Bcast(&pivot, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    while (i <= j) {
        while (*i < pivot) i++;
        while (*j > pivot) j--;
        if (i <= j) {
            t = *i, *i++ = *j, *j-- = t;
            ++*steps;
        }
    }
    sort(lo, j, steps);
    sort(i, hi, steps);
}

/* towers of Hanoi: pegs are locals of the caller, handed down as pointers */
static int hanoi(int n, long *from, long *to, long *by)
{
    int k;
    if (n == 0)
        return 0;
    k = hanoi(n - 1, from, by, to);
    *to = (*to * 7 + shift(*from + n)) % P;
    *from = *from / 2 + k;
    return k + 1 + hanoi(n - 1, by, to, from);
}

/* all locals of the callers at once, as an array of pointers to them */
static long gather(long **pv, int n, int left, long (*self)(long **, int, int, long), long k)
{
    long extra = left * 11 + k, *more[DEPTH + 4], s = 0, recv = 0;
    int i;

    for (i = 0; i < n; i++)
        more[i] = pv[(i + 1) % n];
    more[n] = &extra;
    if (left > 0)
        s = self(more, n + 1, left - 1, k + extra);
    for (i = 0; i <= n; i++)
        s = (s * 3 + *more[i]) % P;
    MPI_Reduce(&s, &recv, 1, MPI_LONG, MPI_MAX, left % size, MPI_COMM_WORLD);
    *pv[0] = (*pv[0] + shift(s) + recv) % P;
    return (s + extra) % P;
}

static long through(long **pv, int n, int left, long k)
{
    long mine = k, *list[DEPTH + 4];
    int i;
    for (i = 0; i < n; i++)
        list[i] = pv[i];
    list[0] = &mine;
    k = gather(list, n, left, through, k % 7);
    mix(mine);
    return (k + mine) % P;
}

int main(int argc, char **argv)
{
    int r, i, rounds = argc > 1 ? atoi(argv[1]) : 200, steps = 0;
    long total = 1, a = 2, b = 3, c = 4, v[6];
    long *three[3] = { &a, &b, &c };
    u64 part[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < 6; i++)
        v[i] = i * i;
    for (r = 0; r < rounds; r++) {
        switch (r % 6) {
        case 0: a = descend(DEPTH - r % 3, NULL, &total); break;
        case 1: b = (b + even(4 + r % 4, &a, &c)) % P; break;
        case 2: c = tree(0, size, a + b, 0); break;
        case 3: for (i = 0; i < 6; i++) v[i] = (v[i] * 31 + i * r + 17) % 97;
                sort(v, v + 5, &steps); break;
        case 4: total += hanoi(3, three[0], three[r % 2 + 1], three[2 - r % 2]); break;
        default: i = 3 + r % 2, total += gather(three, 3, i, through, r);
        }
        mix(total), mix(a), mix(b), mix(c), mix(steps), mix(v[r % 6]);
    }
    MPI_Allgather(&sum, 1, MPI_UNSIGNED_LONG_LONG, part, 1,
                  MPI_UNSIGNED_LONG_LONG, MPI_COMM_WORLD);
    for (i = 0; i < size; i++)
        mix((long) part[i]);
    if (rank == 0)
        printf("result: recursion: ranks %d rounds %d steps %d sum %016llx\n",
               size, rounds, steps, sum);
    MPI_Finalize();
    return 0;
}
