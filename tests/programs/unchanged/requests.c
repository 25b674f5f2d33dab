/*
 * requests.c - nonblocking transfers that stay pending over functions and
 * rounds, requests in locals, arrays, structs, on the heap and returned by
 * value; Wait, Waitall, Waitany, Waitsome, Test and Testall loops (the answer
 * does not depend on the order of completion), ANY_SOURCE; communicators of
 * Comm_split and Comm_dup in locals, globals and structs, freed and made again;
 * derived datatypes and an operation made of a function, not commutative.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>

#define SLOTS 4
#define LEN 5
#define P 1000003L

typedef unsigned long long u64;

struct map { long a, b; };
struct cell { int id; double w; char c[3]; };
struct xfer { MPI_Request req[2]; long *out, *in; int tag; };
struct burst { int n, tag; MPI_Request *req; long *buf, mine; };
struct group { MPI_Comm comm, side; int rank, size; MPI_Datatype column; };

static int rank, size;
static u64 sum = 5;
static struct xfer slot[SLOTS];
static struct burst *burst;
static struct group *grp;
static MPI_Comm world2 = MPI_COMM_NULL;
static MPI_Datatype map_type, cell_type = MPI_DATATYPE_NULL;
static MPI_Op compose_op;

static void mix(long v)
{
    sum = (sum << 9 | sum >> 55) + (u64) v;
    sum = (sum ^ sum >> 28) * 0x94d049bb133111ebULL;
}

static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    struct map *f = in, *g = inout;
    int i;

    for (i = 0; i < *len; i++) {        /* first f, then g */
        g[i].b = (f[i].b * g[i].a + g[i].b) % P;
        g[i].a = f[i].a * g[i].a % P;
    }
}

static void make_types(void)
{
    int lens[3] = { 1, 1, 3 };
    MPI_Aint at[3] = { offsetof(struct cell, id), offsetof(struct cell, w), offsetof(struct cell, c) };
    MPI_Datatype types[3] = { MPI_INT, MPI_DOUBLE, MPI_CHAR }, raw;

    MPI_Type_contiguous(2, MPI_LONG, &map_type);
    MPI_Type_commit(&map_type);
    MPI_Type_create_struct(3, lens, at, types, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct cell), &cell_type);
    MPI_Type_free(&raw);
    MPI_Type_commit(&cell_type);
    MPI_Op_create(compose, 0, &compose_op);
}

static MPI_Request launch(long *buf, int n, int tag, int send)
{
    MPI_Request q;

    if (send)
        MPI_Isend(buf, n, MPI_LONG, (rank + 1) % size, tag, world2, &q);
    else
        MPI_Irecv(buf, n, MPI_LONG, (rank + size - 1) % size, tag, world2, &q);
    return q;
}

static void start(struct xfer *x, int r, long t)
{
    int i;

    x->tag = 10 + r % SLOTS;
    for (i = 0; i < LEN; i++)
        x->out[i] = t * (i + 1) % P;
    x->req[r & 1] = launch(x->in, LEN, x->tag, 0);
    x->req[~r & 1] = launch(x->out, LEN, x->tag, 1);
}

static int testing(MPI_Request *q, MPI_Status *st)
{
    int flag = 0;

    while (!flag)
        MPI_Test(q, &flag, st);
    return st->MPI_TAG;
}

static long finish(struct xfer *x, int how)
{
    MPI_Status st[2], one;
    int i, k, n, left, idx[2], flag = 0, seen[2] = { 0, 0 };
    long t = 0;

    switch (how % 6) {
    case 0:
        MPI_Waitall(2, x->req, st);
        break;
    case 1:
        for (i = 0; i < 2; i++) {
            MPI_Waitany(2, x->req, &k, &one);
            seen[k]++;
        }
        break;
    case 2:
        for (left = 2; left > 0; left -= n)
            for (MPI_Waitsome(2, x->req, &n, idx, st), i = 0; i < n; i++)
                seen[idx[i]] += 2;
        break;
    case 3:
        (void) testing(&x->req[0], &one);
        (void) testing(&x->req[1], st);
        break;
    case 4:
        if (MPI_Wait(&x->req[1], &one) || MPI_Wait(x->req, MPI_STATUS_IGNORE))
            MPI_Abort(MPI_COMM_WORLD, 4);
        break;
    default:
        do MPI_Testall(2, x->req, &flag, st); while (!flag);
    }
    for (i = 0; i < LEN; i++)
        t = (t * 7 + x->in[i] + x->out[i]) % P;
    return t + seen[0] * 3 + seen[1] + x->tag
        + (x->req[0] == MPI_REQUEST_NULL) + (x->req[1] == MPI_REQUEST_NULL);
}

/* to and from everybody; pending until settle() some rounds later */
static void spread(int r, long t)
{
    int i;

    burst = calloc(1, sizeof *burst);
    burst->req = malloc(2 * size * sizeof *burst->req);
    burst->buf = malloc(size * sizeof *burst->buf);
    burst->mine = t, burst->tag = 50 + r % 3;
    for (i = 0; i < size; i++)
        MPI_Irecv(&burst->buf[i], 1, MPI_LONG, i, burst->tag, MPI_COMM_WORLD, &burst->req[burst->n++]);
    for (i = 0; i < size; i++)
        MPI_Isend(&burst->mine, 1, MPI_LONG, i, burst->tag, MPI_COMM_WORLD, burst->req + burst->n++);
}

static long settle(void)
{
    long t = burst->mine;
    int i, k, from = 0;
    MPI_Status st;

    for (i = 0; i < burst->n; i++) {
        MPI_Waitany(burst->n, burst->req, &k, &st);
        if (k < size)
            from += (st.MPI_SOURCE + 1) * (k + 1);
    }
    for (i = 0; i < size; i++)
        t = (t * 3 + burst->buf[i]) % P;
    free(burst->buf), free(burst->req), free(burst);
    burst = NULL;
    return t + from;
}

static void ungroup(void)
{
    if (!grp)
        return;
    MPI_Comm_free(&grp->comm);
    if (grp->side != MPI_COMM_NULL)
        MPI_Comm_free(&grp->side);
    MPI_Type_free(&grp->column);
    free(grp);
    grp = NULL;
}

static void regroup(int r)
{
    ungroup();
    grp = malloc(sizeof *grp);
    MPI_Comm_split(world2, (rank + r) / 2 % 2, r & 1 ? rank : -rank, &grp->comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : 1, rank, &grp->side);
    MPI_Comm_rank(grp->comm, &grp->rank);
    MPI_Comm_size(grp->comm, &grp->size);
    MPI_Type_vector(4, 1 + r % 2, 4, MPI_LONG, &grp->column);
    MPI_Type_commit(&grp->column);
}

static long in_groups(long t, int r)
{
    long m[16], s = 0, side = 0;
    int i;
    MPI_Status st;
    MPI_Request q;                      /* a local, pending over collectives */

    for (i = 0; i < 16; i++)
        m[i] = t + i * grp->rank;
    q = launch(&side, 1, 90, 0);
    MPI_Allreduce(&t, &s, 1, MPI_LONG, MPI_SUM, grp->comm);
    MPI_Sendrecv_replace(m + r % 3, 1, grp->column, (grp->rank + 1) % grp->size, 2,
                         (grp->rank + grp->size - 1) % grp->size, 2, grp->comm, &st);
    MPI_Send(&s, 1, MPI_LONG, (rank + 1) % size, 90, world2);
    MPI_Wait(&q, &st);
    MPI_Get_count(&st, MPI_LONG, &i);
    side += st.MPI_SOURCE * 10 + i;
    if (grp->side != MPI_COMM_NULL)
        MPI_Bcast(&side, 1, MPI_LONG, 0, grp->side);
    for (i = 0; i < 16; i++)
        s = (s * 3 + m[i]) % P;
    return s + side;
}

static long cells(MPI_Comm comm, int r, long t)
{
    struct cell c = { r, (double) (t % 128) / 4, { 'a', 'b', (char) ('c' + r % 9) } }, all[64];
    struct map f = { t % 97 + 2, t }, g = { 0, 0 };
    int i;
    long v = t;
    MPI_Status st;

    MPI_Allgather(&c, 1, cell_type, all, 1, cell_type, comm);
    for (i = 0; i < size; i++)
        v = (v * 5 + all[i].id + (long) (all[i].w * 4) + all[i].c[2] * all[i].c[0]) % P;
    MPI_Allreduce(&f, &g, 1, map_type, compose_op, comm);
    MPI_Reduce(&g, &f, 1, map_type, compose_op, r % size, comm);
    if (rank)
        MPI_Send(&v, 1, MPI_LONG, 0, 100 + r % 50, comm);
    for (i = 1; rank == 0 && i < size; i++, v = (v + g.a * st.MPI_SOURCE) % P)
        MPI_Recv(&g.a, 1, MPI_LONG, MPI_ANY_SOURCE, 100 + r % 50, comm, &st);
    return (v + f.a + f.b + g.b) % P;
}

int main(int argc, char **argv)
{
    int r, i, rounds = argc > 1 ? atoi(argv[1]) : 200;
    long t = 1;
    MPI_Comm mine = MPI_COMM_NULL;
    u64 all[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &world2);
    make_types();
    for (i = 0; i < SLOTS; i++) {
        slot[i].out = malloc(2 * LEN * sizeof(long));
        slot[i].in = slot[i].out + LEN;
    }
    for (r = 0; r < rounds; r++) {
        if (r % 10 == 0)
            MPI_Comm_dup(r % 20 ? world2 : MPI_COMM_WORLD, &mine);
        if (r % 7 == 0)
            regroup(r);
        if (r >= SLOTS)
            t = (t + finish(&slot[r % SLOTS], r)) % P;
        start(&slot[r % SLOTS], r, t + rank);
        if (r % 5 == 1)
            spread(r, t);
        t = (t + (r & 1 ? in_groups(t, r) : cells(mine, r, t))) % P;
        if (r % 5 == 3)
            t += settle();
        if (r % 10 == 9 || r == rounds - 1)
            MPI_Comm_free(&mine);
        mix(t), mix(grp->rank * 8 + grp->size);
    }
    if (burst)
        mix(settle());
    for (i = r < SLOTS ? 0 : r - SLOTS; i < r; i++)
        mix(finish(&slot[i % SLOTS], i));
    MPI_Gather(&sum, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    for (i = 0; rank == 0 && i < size; i++)
        mix((long) all[i]);
    if (rank == 0)
        printf("result: requests: ranks %d rounds %d t %ld sum %016llx\n", size, rounds, t, sum);
    for (i = 0; i < SLOTS; i++)
        free(slot[i].out);
    ungroup();
    MPI_Op_free(&compose_op);
    MPI_Type_free(&map_type), MPI_Type_free(&cell_type);
    MPI_Comm_free(&world2);
    return MPI_Finalize();
}
