/*
 * jacobi.c - a small code of the old kind: 2-D Jacobi relaxation, rows spread
 * over the ranks, halo exchange on rows allocated one by one, a domain on the
 * heap with function pointers for its boundary conditions, a loop that runs
 * until converged (Allreduce), timers that do not get into the result, macros
 * that check errors.
 *
 * All temperatures are small whole numbers (the relaxation cuts off what is
 * behind the point), so that the sums are exact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

#define NX      24
#define NY      18
#define MAXIT   7
#define CHECK(x) do { int e_ = (x); if (e_ != MPI_SUCCESS) die(__FILE__, __LINE__); } while (0)
#define ALLOC(p, n) do { if (((p) = calloc((n), sizeof *(p))) == NULL) die(__FILE__, __LINE__); } while (0)
#define TAG_UP   101
#define TAG_DOWN 102

typedef double real;
struct Domain;
typedef void (*BoundaryFn)(struct Domain *d, int step);

struct Boundary {
    const char *name;
    BoundaryFn apply;
    real value;
    int count;
};

struct Domain {
    int rank, size, up, down;           /* process grid */
    int nx, ny, first;                  /* local size, first global row */
    real **u, **unew;                   /* rows 0..ny+1 */
    struct Boundary bc[3];
    int nbc;
    MPI_Comm comm;
    MPI_Request req[4];
    struct { real residual, energy; long sweeps; } stat;
};

struct Timers { double halo, sweep, reduce, start; long n; };

static struct Timers timers;
static unsigned long long checksum = 23;
static int verbose = 0, debug_level;

static void die(const char *file, int line)
{
    fprintf(stderr, "%s:%d: failed\n", file, line);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void digest(long v)
{
    checksum = (checksum << 7 | checksum >> 57) + (unsigned long long) v;
    checksum = (checksum ^ checksum >> 30) * 0xbf58476d1ce4e5b9ULL;
}

/* fixed at both sides: no communication */
static void bc_fixed(struct Domain *d, int step)
{
    int j;
    struct Boundary *b = &d->bc[0];

    for (j = 0; j <= d->ny + 1; j++) {
        d->u[j][0] = b->value;
        d->u[j][d->nx + 1] = b->value + (step + d->first + j) % 7;
    }
    b->count++;
}

/* the top row is driven by a value that comes from a rank in turn */
static void bc_driven(struct Domain *d, int step)
{
    struct Boundary *b = d->bc + 1;
    real amp = b->value + d->rank * 16 + step % 5;
    int i;

    CHECK(MPI_Bcast(&amp, 1, MPI_DOUBLE, step % d->size, d->comm));
    if (d->up == MPI_PROC_NULL)
        for (i = 1; i <= d->nx; i++)
            d->u[0][i] = amp + i % 3;
    b->value = (real) (((long) b->value * 5 + (long) amp) % 509);
    b->count += 2;
}

/* the bottom row radiates the mean of all */
static void bc_mean(struct Domain *d, int step)
{
    long in[2] = { 0, 0 }, out[2];
    int i;

    for (i = 1; i <= d->nx; i++)
        in[0] += (long) d->u[d->ny][i], in[1]++;
    CHECK(MPI_Reduce(in, out, 2, MPI_LONG, MPI_SUM, 0, d->comm));
    CHECK(MPI_Bcast(out, 2, MPI_LONG, 0, d->comm));
    d->bc[2].value = (real) (out[0] / out[1]);
    if (d->down == MPI_PROC_NULL)
        memcpy(d->u[d->ny + 1] + 1, d->u[d->ny] + 1, d->nx * sizeof(real));
    d->bc[2].count += step & 1;
}

static struct Domain *domain_create(MPI_Comm comm)
{
    struct Domain *d;
    static const struct Boundary init[3] = {
        { "fixed", bc_fixed, 100.0, 0 }, { "driven", bc_driven, 300.0, 0 }, { "mean", bc_mean, 0.0, 0 }
    };
    int j, rest;

    ALLOC(d, 1);
    CHECK(MPI_Comm_dup(comm, &d->comm));
    CHECK(MPI_Comm_rank(d->comm, &d->rank));
    CHECK(MPI_Comm_size(d->comm, &d->size));
    d->up = d->rank > 0 ? d->rank - 1 : MPI_PROC_NULL;
    d->down = d->rank < d->size - 1 ? d->rank + 1 : MPI_PROC_NULL;
    rest = NY % d->size;
    d->nx = NX;
    d->ny = NY / d->size + (d->rank < rest);
    d->first = d->rank * (NY / d->size) + (d->rank < rest ? d->rank : rest);
    ALLOC(d->u, d->ny + 2);
    ALLOC(d->unew, d->ny + 2);
    for (j = 0; j < d->ny + 2; j++) {
        ALLOC(d->u[j], NX + 2);
        ALLOC(d->unew[j], NX + 2);
    }
    memcpy(d->bc, init, sizeof init);
    d->nbc = sizeof init / sizeof init[0];
    return d;
}

static void domain_free(struct Domain *d)
{
    int j;

    for (j = 0; j < d->ny + 2; j++)
        free(d->u[j]), free(d->unew[j]);
    free(d->u);
    free(d->unew);
    CHECK(MPI_Comm_free(&d->comm));
    free(d);
}

static void halo_begin(struct Domain *d)
{
    CHECK(MPI_Irecv(d->u[0] + 1, d->nx, MPI_DOUBLE, d->up, TAG_DOWN, d->comm, &d->req[0]));
    CHECK(MPI_Irecv(d->u[d->ny + 1] + 1, d->nx, MPI_DOUBLE, d->down, TAG_UP, d->comm, &d->req[1]));
    CHECK(MPI_Isend(d->u[1] + 1, d->nx, MPI_DOUBLE, d->up, TAG_UP, d->comm, &d->req[2]));
    CHECK(MPI_Isend(d->u[d->ny] + 1, d->nx, MPI_DOUBLE, d->down, TAG_DOWN, d->comm, &d->req[3]));
}

static void halo_end(struct Domain *d)
{
    MPI_Status st[4];
    double t0 = MPI_Wtime();

    CHECK(MPI_Waitall(4, d->req, st));
    timers.halo += MPI_Wtime() - t0;
    timers.n++;
}

static real relax_rows(struct Domain *d, int from, int to, real res)
{
    int i, j;
    real diff, **u = d->u;

    for (j = from; j <= to; j++)
        for (i = 1; i <= d->nx; i++) {
            d->unew[j][i] = (real) (long) (0.25 * (u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1]));
            diff = d->unew[j][i] - u[j][i];
            if (diff < 0)
                diff = -diff;
            if (diff > res)
                res = diff;
        }
    return res;
}

static real sweep(struct Domain *d, int step)
{
    real res = 0, global, *row;
    double t0 = MPI_Wtime();
    int j, b;

    for (b = 0; b < d->nbc; b++)
        if (b != 1 || step % 2 == 0)
            d->bc[b].apply(d, step);
    halo_begin(d);
    res = relax_rows(d, 2, d->ny - 1, res); /* the inner rows meanwhile */
    halo_end(d);
    res = relax_rows(d, 1, 1, res);
    if (d->ny > 1)
        res = relax_rows(d, d->ny, d->ny, res);
    for (j = 1; j <= d->ny; j++) {
        row = d->u[j];
        memcpy(d->unew[j], row, sizeof(real));
        d->unew[j][d->nx + 1] = row[d->nx + 1];
        d->u[j] = d->unew[j];
        d->unew[j] = row;
    }
    d->stat.sweeps++;
    timers.sweep += MPI_Wtime() - t0;
    CHECK(MPI_Allreduce(&res, &global, 1, MPI_DOUBLE, MPI_MAX, d->comm));
    return global;
}

static int solve(struct Domain *d, int step, real tol)
{
    int it = 0;

    do {
        d->stat.residual = sweep(d, step + it / 4);
        if (verbose && d->rank == 0)
            printf("%d: residual %g\n", it, d->stat.residual);
        digest((long) d->stat.residual);
    } while (d->stat.residual > tol && ++it < MAXIT);
    return it;
}

static void energy(struct Domain *d)
{
    real e = 0, all[64];
    int i, j;

    for (j = 1; j <= d->ny; j++)
        for (i = 0; i <= d->nx + 1; i++)
            e += d->u[j][i] * ((i + j + d->first) % 3 + 1);
    CHECK(MPI_Allgather(&e, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, d->comm));
    for (d->stat.energy = 0, i = 0; i < d->size; i++)
        d->stat.energy += all[i];
}

int main(int argc, char *argv[])
{
    struct Domain *d;
    int step, steps = 200, its = 0, i, j;
    unsigned long long all[64];

    CHECK(MPI_Init(&argc, &argv));
    if (argc > 1)
        steps = atoi(argv[1]);
    timers.start = MPI_Wtime();
    d = domain_create(MPI_COMM_WORLD);
    for (step = 0; step < steps; step++) {
        d->bc[0].value = 100 + (step * 37 + (long) d->stat.energy) % 211;
        its += solve(d, step, 12.0 + its % 5 * 4);
        energy(d);
        digest((long) d->stat.energy), digest((long) (d->bc[1].value + d->bc[2].value));
        debug_level = (debug_level * 3 + its) % 1009;
    }
    for (j = 0; j <= d->ny + 1; j++)
        for (i = 0; i <= d->nx + 1; i++)
            digest((long) d->u[j][i]);
    for (i = 0; i < d->nbc; i++)
        digest(d->bc[i].count + d->bc[i].name[i]);
    digest(d->stat.sweeps), digest(debug_level), digest(timers.n);
    CHECK(MPI_Gather(&checksum, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0, d->comm));
    if (d->rank == 0) {
        for (i = 0; i < d->size; i++)
            digest((long) all[i]);
        printf("result: jacobi: ranks %d steps %d iterations %d energy %.0f sum %016llx\n",
               d->size, steps, its, d->stat.energy, checksum);
    }
    domain_free(d);
    CHECK(MPI_Finalize());
    return 0;
}
