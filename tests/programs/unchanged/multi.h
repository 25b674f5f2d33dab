/* multi.h - what multi_main.c, multi_a.c and multi_b.c share */
#ifndef MULTI_H
#define MULTI_H

#include <mpi.h>

#define NBIN 6
#define MODULUS 1000003L

typedef unsigned long long hash_t;
typedef long (*callback)(void *self, long value);

struct shared {
    long bins[NBIN];
    callback hook;
    void *hook_arg;
    struct { short kind; char tag[6]; } head;
};

extern int rank, size;                  /* multi_main.c */
extern struct shared shared, *active;
extern hash_t hash;
extern const char *const stages[];
extern long a_total;                    /* multi_a.c */
extern double b_scale;                  /* multi_b.c */

/* every file has its own of these */
static int header_calls;
static long header_memo[2] = { 1, 2 };

static inline void fold(long v)
{
    hash = (hash << 11 | hash >> 53) + (hash_t) v;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebULL;
}

static inline long exchange(long v)     /* reaches MPI */
{
    static int parity;                  /* and its own of this */
    long in = 0;

    MPI_Sendrecv(&v, 1, MPI_LONG, (rank + 1) % size, 11, &in, 1, MPI_LONG,
                 (rank + size - 1) % size, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    header_calls++;
    parity ^= 1;
    header_memo[parity] = (header_memo[parity] * 3 + in) % MODULUS;
    return (in + header_memo[!parity] + header_calls) % MODULUS;
}

static inline void finish_header(void)
{
    fold(header_calls), fold(header_memo[0]), fold(header_memo[1]);
}

/* multi_a.c, in the style of K&R */
long a_run();
long a_hook();
void a_finish();
/* multi_b.c */
struct bnode;
extern struct bnode *b_make(int n);
extern long b_run(struct bnode *n, callback f, void *arg);
extern long b_visit(void *self, long value);
extern void b_finish(struct bnode *n);

#endif
