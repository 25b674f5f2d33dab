/*
 * threads.c - OpenMP between calls of MPI: loops, reductions of integers, memory
 * that each thread gets from malloc and leaves to the next round, the time, tables with a
 * place for each thread, tasks, critical sections, a number of threads that the
 * program sets, directives in blocks whose variables are given other names, and
 * in functions that reach MPI themselves.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 4000

typedef unsigned long long u64;

static int rank, size, threads;
static u64 *work;                /* one value for each thread */
static u64 **kept;               /* a block for each thread, made by it */
static u64 field[N], next[N];

static u64 mix(u64 x)
{
    x ^= x >> 12; x ^= x << 25; x ^= x >> 27;
    return x * 2685821657736338717ULL;
}

static void smooth(int round)
{
    int i;
#pragma omp parallel for default(none) shared(field, next) firstprivate(round) schedule(dynamic, 64)
    for (i = 0; i < N; i++)
        next[i] = mix(field[(i + round) % N] + field[i] + (u64)i);
    memcpy(field, next, sizeof field);
}

/* Blocks change hands: each thread makes the one of its neighbour anew. */
static void exchange_blocks(void)
{
    const double started = omp_get_wtime();
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), other = (me + 1) % omp_get_num_threads();
        u64 *mine = malloc(32 * sizeof *mine);
        int k;
        if (omp_get_wtime() < started || time(NULL) <= 0 || clock() < 0 || MPI_Wtime() < -1) work[0]++;
        for (k = 0; k < 32; k++) mine[k] = (kept[other] ? kept[other][k] : 1) + (u64)me;
#pragma omp barrier
        free(kept[me]);
        kept[me] = mine;
#pragma omp critical (sum)
        work[0] += mine[me];
#pragma omp barrier
#pragma omp master
        work[0] = mix(work[0]);
    }
}

static long fibonacci(int n)
{
    long a, b;
    if (n < 2) return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static u64 together(u64 x)
{
    u64 all = 0;
    MPI_Allreduce(&x, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, MPI_COMM_WORLD);
    return all;
}

/* Reaches MPI, with directives before, between and behind. */
static u64 step(int round)
{
    u64 sum = 0, low = ~0ULL;
    long f = 0;
    int i;
#pragma omp parallel for reduction(+ : sum) reduction(min : low) private(i)
    for (i = 0; i < N; i++) { sum += field[i]; low = field[i] < low ? field[i] : low; }
    sum = together(sum ^ low);
    {
        u64 sum = 3;              /* another one of the name */
        int n = 4 + round % 5;
#pragma omp parallel sections reduction(^ : sum)
        {
#pragma omp section
            sum ^= field[n];
#pragma omp section
            { int k; for (k = 0; k < n; k++) sum ^= mix(field[k]); }
        }
        field[0] ^= together(sum + (u64)n);
#pragma omp parallel
#pragma omp single
        f = fibonacci(n);
    }
    if (round % 3 == 0)
#pragma omp parallel for
        for (i = 0; i < N; i++) field[i] ^= sum;
    else
        together(low);
    switch (round % 4) {
    case 1:
#pragma omp parallel for
        for (i = 0; i < N; i++) field[i] += 1;
        break;
    case 2:
        sum += together(sum);
    }
    return sum + (u64)f;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100, round;
    double began, took;
    u64 hash = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    threads = 3;
    omp_set_num_threads(threads);
    work = calloc((size_t)threads, sizeof *work);
    kept = calloc((size_t)threads, sizeof *kept);
    for (round = 0; round < N; round++) field[round] = mix((u64)(round + 7 * rank + 1));
    rounds = 1 + rounds / 10;
    began = omp_get_wtime();
    for (round = 0; round < rounds; round++) {
        smooth(round);
        if (round % 4 == 3) exchange_blocks();
        hash = mix(hash + step(round) + field[round % N] + work[0] + (u64)omp_get_max_threads());
    }
    took = omp_get_wtime() - began;
    hash = together(hash);
    if (rank == 0) fprintf(stderr, "%g s\n", took);
    if (rank == 0) printf("result: %016llx\n", hash);
    MPI_Finalize();
    return 0;
}
