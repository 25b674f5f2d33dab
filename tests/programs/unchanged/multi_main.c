/*
 * multi_main.c, multi_a.c, multi_b.c, multi.h - a program of three files:
 * globals declared in the header, static functions and variables of the same
 * names in several files, static variables and inline functions in the header
 * (one of each per file), struct types of one tag with different contents,
 * callbacks from one file to the other, K&R definitions (multi_a.c).
 *
 * mpicc multi_main.c multi_a.c multi_b.c
 */
#include <stdio.h>
#include <stdlib.h>
#include "multi.h"

int rank, size;
struct shared shared = { { 1, 2, 3 }, 0, 0, { 4, "main" } }, *active = &shared;
hash_t hash = 1;
const char *const stages[] = { "relax", "couple", "drain", NULL };

static int count;                       /* also in multi_a.c and multi_b.c */
static const char *const *stage = stages;

static long helper(long v)              /* also in the others */
{
    long s = 0;

    MPI_Allreduce(&v, &s, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    count++;
    return (s + count) % MODULUS;
}

static long main_hook(void *self, long value)
{
    struct shared *s = self;
    int k = (int) (value % NBIN);

    s->bins[k] = (s->bins[k] * 3 + exchange(value)) % MODULUS;
    return s->bins[(k + 1) % NBIN] + helper(k);
}

int main(int argc, char **argv)
{
    int r, i, rounds = argc > 1 ? atoi(argv[1]) : 200;
    long t = 7;
    struct shared other = { { 0 }, main_hook, &shared, { -1, "other" } };
    struct bnode *list;
    hash_t all[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    shared.hook = main_hook;
    shared.hook_arg = &other;
    list = b_make(4);
    for (r = 0; r < rounds; r++) {
        switch ((*stage)[0]) {
        case 'r':
            t += a_run(r, t % MODULUS, active);
            break;
        case 'c':
            t += b_run(list, r & 1 ? (callback) a_hook : main_hook, r & 1 ? (void *) &a_total : active);
            break;
        case 'd':
            t += active->hook(active->hook_arg, t);
            active = active == &shared ? &other : &shared;
            break;
        }
        t = (t + helper(r)) % MODULUS;
        if (!*++stage)
            stage = stages;
        fold(t), fold(count), fold(other.head.kind++ + other.head.tag[r % 6]);
        for (i = 0; i < NBIN; i++)
            fold(shared.bins[i] + 5 * other.bins[i]);
    }
    a_finish(count);
    b_finish(list);
    finish_header();
    MPI_Gather(&hash, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (i = 0; i < size; i++)
            fold((long) all[i]);
        printf("result: multi: ranks %d rounds %d a_total %ld b_scale %g sum %016llx\n",
               size, rounds, a_total, b_scale, hash);
    }
    MPI_Finalize();
    return 0;
}
