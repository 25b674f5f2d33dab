/*
 * vla_rows.c - arrays of variable length and alloca: in functions and blocks
 * that make no MPI calls (inside functions that do make some elsewhere), and,
 * unless NO_LIVE_VLA is defined, ones that are alive while MPI is called: in
 * loops, in recursions, as parameters, two-dimensional, several in one block,
 * left by break, continue, goto and return.  With NO_LIVE_VLA the answer is
 * another one.
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

#define P 1000003L

typedef unsigned long long u64;

static int rank, size;
static u64 sum = 31;
static long state[12];

static void mix(long v)
{
    sum = (sum << 7 | sum >> 57) + (u64) v;
    sum = (sum ^ sum >> 30) * 0xbf58476d1ce4e5b9ULL;
}

static long shift(long v)
{
    long in;

    MPI_Sendrecv(&v, 1, MPI_LONG, (rank + 1) % size, 4, &in, 1, MPI_LONG,
                 (rank + size - 1) % size, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return in;
}

/* no MPI here: may keep its arrays as they are */
static long reverse(int n, long a[n])
{
    long copy[n], t = 0;
    int i;

    for (i = 0; i < n; i++)
        copy[i] = a[n - 1 - i];
    memcpy(a, copy, sizeof copy);
    for (i = 0; i < n; i++)
        t = (t * 3 + copy[i]) % P;
    return t;
}

static long trace(int n, int m, long a[n][m])
{
    long *diag = alloca(n * sizeof *diag), t = 0;
    int i;

    for (i = 0; i < n; i++)
        diag[i] = a[i][i % m];
    while (i-- > 0)
        t += diag[i] * (i + 1);
    return t % P;
}

/* MPI in the function, but not in the blocks that have the arrays */
static long blocks(int n, long t)
{
    int i, k;

    for (k = 0; k < 3; k++) {
        t = (t + shift(t + k)) % P;
        {
            long row[n + k], m[n][k + 1];

            for (i = 0; i < n + k; i++)
                row[i] = t * (i + 1) % P;
            for (i = 0; i < n * (k + 1); i++)
                m[i / (k + 1)][i % (k + 1)] = row[i % (n + k)];
            t = (t + reverse(n + k, row) + trace(n, k + 1, m)) % P;
            t += (long) (sizeof row / sizeof row[0]);
        }
        if (k == n % 3)
            continue;
        MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        {
            char *name = strcpy(alloca(n + 2), "x");
            while ((int) strlen(name) < n)
                strcat(name, "y");
            t += name[n / 2];
        }
    }
    return t;
}

#ifndef NO_LIVE_VLA
static long rows(int n, int m, long a[n][m])
{
    long t = 0, (*row)[m], sums[m];
    int j;

    for (j = 0; j < m; j++)
        sums[j] = j;
    for (row = a; row < a + n; row++) {
        long copy[m];

        memcpy(copy, *row, sizeof copy);
        MPI_Bcast(copy, m - 1, MPI_LONG, (int) (row - a) % size, MPI_COMM_WORLD);
        for (j = 0; j < m; j++)
            sums[j] = (sums[j] * 2 + copy[j]) % P;
        if ((row - a) % 3 == 2)
            continue;
        (*row)[0] = shift(sums[m - 1] + copy[0]);
        t += copy[m / 2];
    }
    return (t + reverse(m, sums)) % P;
}

static long live(int n, long t)
{
    long a[n][n + 1], total = 0;
    int i, ranks[size];

    for (i = 0; i < n * (n + 1); i++)
        a[i / (n + 1)][i % (n + 1)] = (t + i * 7) % P;
    MPI_Allgather(&n, 1, MPI_INT, ranks, 1, MPI_INT, MPI_COMM_WORLD);
    total = rows(n, n + 1, a);
again:
    {
        long more[n], even[n + 2];      /* made anew after the goto, longer */

        for (i = 0; i < n; i++)
            more[i] = total + i, even[i + 2] = i;
        even[0] = shift(total);
        even[1] = shift(more[n - 1]);
        total = (total + even[0] + 3 * even[1] + even[n] + reverse(n, more)) % P;
        if (n % 4 == 1)
            return total + trace(1, n, &more);
        if (++n % 3)
            goto again;
        for (i = 0; ; i++) {
            long last[i + 1];
            last[i / 2] = total + i;
            total = (total + shift(i)) % P;
            total += last[i / 2] % 10;
            if (i == 3)
                break;
        }
    }
    for (i = 0; i < size; i++)
        total += ranks[i] * (i + 1);
    return total + (long) (sizeof a / sizeof **a);
}

static long deeper(int n, int m, long up[m])
{
    long here[n], *extra = alloca((n + 1) * sizeof *extra), t;
    int i;

    for (i = 0; i < n; i++)
        here[i] = extra[i] = up[i % m] + i;
    extra[n] = shift(up[0]);
    t = n > 1 ? deeper(n - 1, n, here) : shift(extra[0]);
    for (i = 0; i < m; i++)
        up[i] = (up[i] + here[i % n] + extra[i % (n + 1)]) % P;
    return (t + extra[n]) % P;
}
#endif

int main(int argc, char **argv)
{
    int r, i, rounds = argc > 1 ? atoi(argv[1]) : 200;
    long t = 1;
    u64 *all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (r = 0; r < rounds; r++) {
        t = (t + rank + blocks(2 + r % 5, t)) % P;
#ifndef NO_LIVE_VLA
        if (r % 2)
            t = (t + live(2 + r % 6, t)) % P;
        else
            t = (t + deeper(3 + r % 3, 12, state)) % P;
#endif
        state[r % 12] = (state[r % 12] + t) % P;
        mix(t), mix(reverse(12, state));
    }
    all = malloc(size * sizeof *all);
    MPI_Gather(&sum, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    for (i = 0; i < size && rank == 0; i++)
        mix((long) all[i]);
    if (rank == 0)
        printf("result: vla_rows: ranks %d rounds %d sum %016llx\n", size, rounds, sum);
    free(all);
    MPI_Finalize();
    return 0;
}
