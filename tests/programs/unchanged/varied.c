/*
 * varied.c - the rest of what old programs do: structs as parameters and as
 * results, parameters of all small types, const ones, arrays, ones that are
 * modified; a variadic helper, inline functions, functions without prototypes,
 * argv kept in globals, ternary lvalues, shifts, sizeof, compound literals,
 * several declarators in one declaration, pointers to arrays, assert, unions,
 * functions with a void result, MPI inside macros, structs that begin with
 * another one, by way of which they are looked at, with objects of MPI behind.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

#define SWAP(T, a, b) do { T t_ = (a); (a) = (b); (b) = t_; } while (0)
#define SHARE(v, type) MPI_Bcast(&(v), 1, type, turn++ % size, MPI_COMM_WORLD)
#define MAX(a, b) ((a) > (b) ? (a) : (b))

struct vec { int x, y, z; };
struct big { double d[4]; struct vec v; char name[12]; };
struct thing { struct thing *next; int kind; };
struct channel { struct thing thing; MPI_Comm comm; int uses; };
union word { uint32_t u; unsigned char c[4]; };

int rank, size;
static char **gargv, *first_arg = "none";
static int gargc, turn;
static uint64_t sum = 11;
static long grid[3][4];

int legacy();                           /* no prototypes */
long around();
static void stir();
extern int squeeze(int v);

static inline void mix(uint64_t v)
{
    sum = (sum << 13 | sum >> 51) + v;
    sum = (sum ^ sum >> 31) * 0xff51afd7ed558ccdULL;
}

inline int squeeze(int v) { return (v ^ v >> 7) & 0x7ff; }

static inline int total(int v)
{
    int s;
    assert(MPI_Allreduce(&v, &s, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    assert(s >= v || v > 0 || s < 0);
    return s & 0xfffff;
}

static long sumup(int n, ...)           /* does not reach MPI */
{
    va_list ap;
    long s = 0;

    va_start(ap, n);
    while (n-- > 0)
        s = s * 3 + va_arg(ap, int);
    va_end(ap);
    return s;
}

static int norm(const struct vec *v, struct vec w) { return MAX(v->x, w.x) * 3 + v->y - w.y + w.z; }
static int count_of(const int *p, size_t n) { int s = 0; while (n--) s = s * 2 + *p++; return s; }

static struct vec turn_vec(struct vec v)
{
    struct vec w = { .x = -v.y, .y = v.x, v.z + 1 };

    MPI_Sendrecv(&w, sizeof w, MPI_BYTE, (rank + 1) % size, 1, &v, sizeof v, MPI_BYTE,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return v.z & 1 ? v : w;
}

static struct big enlarge(struct big b, const struct vec v, float f, char c, short s, _Bool yes)
{
    int i;

    for (i = 0; i < 4; i++, f *= 2, s >>= 1) {
        b.d[i] = yes ? b.d[i] / 2 + f : (double) (s + c);
        b.d[i] = (double) (long) b.d[i];
        SHARE(b.d[i], MPI_DOUBLE);
        yes = !yes;
    }
    b.v = turn_vec((struct vec) { b.v.x + v.x, s, total(c) });
    b.name[v.z & 7] = c++;
    b.name[(unsigned) v.y % 8] = c ? c : 'q';
    mix((uint64_t) (f * 4) + s), mix(yes);
    return b;
}

static int gauge(const long (*const row)[4], int lines, unsigned char low, const char *const tag)
{
    int s = low;

    for (; lines-- > 0; low <<= 1)
        s += total((int) ((*(row + lines))[low & 3] % 1000)) - tag[lines];
    low |= s & 1;
    return s > 0 ? s << 2 | low : -(-s >> 1);
}

static void smooth(long a[], long b[static 4], int n)
{
    for (; n > 1; n--, a++) {
        long *p = b + n % 4;

        MPI_Allreduce(a, p, 1, MPI_LONG, n & 1 ? MPI_MAX : MPI_MIN, MPI_COMM_WORLD);
        *(n & 2 ? a : p) += squeeze((int) *p);
        *p = *p % 5000 - (a[0] >> 3) % 100;
        *a %= 4096;
    }
    if (n <= 0)
        return;
    stir(a, b);
}

int legacy(a, b)
    int a;
    long b;
{
    a += total(a & 0xff), b -= a;
    return (int) (b & 0xffff) ^ around(a, -a % 1000);
}

long around(int v, int w)
{
    SHARE(v, MPI_INT);
    if (w > 500)
        return v + w;
    return around(v / 2 + 1, w + 301) * 2 % 100003 - w;
}

static void stir(long *a, long *b)
{
    long here = *a ^ *b, there;

    MPI_Sendrecv(&here, 1, MPI_LONG, (rank + 1) % size, 2, &there, 1, MPI_LONG,
                 (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *a += there & 0xfff, *b = (*b << 1 ^ there) & 0xffff;
}

static struct thing *things;

static int kind_of(void *any)
{
    struct thing *thing = (struct thing *) any;

    return thing->kind;
}

static void open_channels(int n)                /* whose communicators are some of those that were there */
{
    MPI_Comm gone;
    struct channel *made;

    while (n-- > 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &gone);
        made = (struct channel *) malloc(sizeof *made);
        MPI_Comm_split(MPI_COMM_WORLD, 0, n & 1 ? -rank : rank, &made->comm);
        MPI_Comm_free(&gone);
        made->thing.kind = n + 1, made->uses = 0;
        made->thing.next = things, things = &made->thing;
    }
}

static void use_channels(int v)
{
    struct thing *each;
    int place;

    for (each = things; each; each = each->next) {
        struct channel *channel = (struct channel *) each;

        if (kind_of(channel) != 1 + (v & 3))
            continue;
        MPI_Comm_rank(channel->comm, &place);
        place += v;
        MPI_Bcast(&place, 1, MPI_INT, v % size, channel->comm);
        mix((uint64_t) (place + ++channel->uses));
    }
}

static double half(float f, double d)
{
    f = (float) (int) (f * 2) / 4, d += f;
    SHARE(d, MPI_DOUBLE), SHARE(f, MPI_FLOAT);
    return (double) (int) (d - f) / 2 + f;
}

int main(argc, argv)
    int argc;
    char *argv[];
{
    int r, i, rounds = 200, *p = &i, **pp = &p;
    struct big b = { { 1, 2, 3, 4 }, { 5, 6, 7 }, "varied" }, old = b;
    struct vec v = { 1 }, w[2] = { { 2, 3 }, { 4, 5, 6 } };
    long (*row)[4] = grid, t = 3;
    union word u = { 0x01020304u };
    double h = 1.5;
    uint64_t all[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gargc = argc, gargv = argv;
    if (argc > 1)
        rounds = atoi(first_arg = argv[1]);
    open_channels(4);
    for (r = 0; r < rounds; r++) {
        use_channels(r);
        switch (r % 3) {
        case 0:
            old = b;
            b = enlarge(old, v, (float) (r % 32) / 4, "bigger"[r % 6], (short) (t * 7), r & 4);
            break;
        case 1:
            t += gauge((const long (*)[4]) grid, 1 + r % 3, (unsigned char) t, b.name);
            smooth(*row, grid[(row - grid + 1) % 3], 1 + r % 4);
            row = row == grid + 2 ? grid : row + 1;
            break;
        default:
            t += legacy(r, t) + sumup(3, r, (int) t & 15, *first_arg);
            h = half((float) h, (double) (t & 63));
            if (h > 1000)
                h = 0.5;
        }
        v = turn_vec(turn_vec(w[r & 1]));
        *(r & 2 ? &w[0].x : &w[1].z) += total(v.z & 7) - 3, (*(t & 1 ? &v : w)).y++;
        (t & 8 ? &w[0] : &w[1])->y ^= norm(&v, (struct vec) { r, .z = -r }) & 0xff;
        w[0].x %= 1000, w[1].z %= 1000;
        t += count_of((int[]) { v.x & 7, v.y & 7, r & 7 }, sizeof(int[3]) / sizeof(int));
        u.c[r & 3] ^= (unsigned char) t, u.u = u.u << 5 | u.u >> 27;
        **pp = r % 4, grid[r % 3][i] += t % 100, p = *pp;
        SWAP(struct vec, w[0], w[1]);
        t = t % 1000003 < 0 ? -t % 1000003 : t % 1000003;
        mix(t), mix(u.u), mix((uint64_t) (h * 64)), mix(i), mix(turn), mix(squeeze(r));
        mix(v.x + 3L * v.y + 7L * v.z), mix(w[0].x + 3L * w[0].y + 7L * w[1].z + w[1].x);
        for (i = 0; i < 4; i++)
            mix((uint64_t) (long) (b.d[i] + 2 * old.d[i])), mix(grid[r % 3][i]);
        mix(b.name[r % 8] + 256 * old.name[r % 8] + b.v.x + 3 * old.v.y);
    }
    for (i = 1; i < gargc; i++)
        for (t = 0; gargv[i][t]; t++)
            mix(gargv[i][t] + strlen(first_arg));
    MPI_Gather(&sum, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (i = 0; i < size && !rank; i++)
        mix(all[i]);
    rank ? (void) 0 : (void) printf("result: varied: ranks %d rounds %d sum %016llx\n", size, rounds,
                                    (unsigned long long) sum);
    MPI_Finalize();
    return 0;
}
