/*
 * statics.c - variables with static storage of all kinds: static locals (two
 * functions with some of the same names, arrays, structs, in inner blocks, in
 * functions that do not reach MPI), file-static and global variables of all
 * arithmetic types, bit-fields, nested structs, unions, enums, arrays of
 * structs, multi-dimensional arrays, complex, volatile, variables initialised
 * by addresses of others, const ones, tentative definitions.
 */
#include <complex.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

typedef unsigned long long u64;

enum colour { RED, GREEN = 5, BLUE };
struct flags { unsigned a : 3, b : 7; int s : 5; unsigned : 0; unsigned long long w : 40; };
struct inner { short id[3]; char tag; };
struct outer { struct inner in[2]; union { int i; char c[4]; } u; struct { long p, q; } an; };

int rank, size;
int tentative;
int tentative;
extern long later;
static unsigned char uc = 250;
static signed char sc = -100;
static unsigned short us = 65000;
static short ss;
static unsigned ui = UINT_MAX - 3;
static long long ll = -1LL << 40;
static unsigned long long ull;
static float fl = 0.5f;
static double db = 1.25;
static long double ld = 1.0L / 4;
static _Bool flag = 1;
static double _Complex z = 1.0;
static float _Complex zf;
static volatile int vol = 7;
static volatile long vols[2];
static enum colour col = GREEN;
static struct flags fg = { 1, 2, -3, 4 };
struct outer things[3] = { { { { { 1, 2, 3 }, 'a' }, { { 4 }, 'b' } }, { 9 }, { 1, 2 } },
                           [2] = { .an = { .q = 5 }, .u.c = "xyz" } };
static int cube[2][3][4] = { { { 1, 2 }, { 3 } }, { { 4 } } };
static char text[16] = "static";
static const int factors[] = { 3, 5, 7 };
/* addresses of others */
static int *pick = &cube[1][0][2];
static short *ids[2] = { &things[0].in[1].id[1], things[1].in[0].id };
struct outer *current = &things[1], *spare = things + 2, **pcurrent = &current;
static struct { const int *f; long *l; char *t; } refs = { factors + 1, &later, text + 2 };
static int (*plane)[4] = cube[1];
long later = 77;
static u64 sum;

static void mix(long long v)
{
    static unsigned salt = 1;           /* a static local without MPI near */
    salt = salt * 1103515245u + 12345u;
    sum = (sum << 7 | sum >> 57) + (u64) v + (salt >> 16);
    sum = (sum ^ sum >> 30) * 0xbf58476d1ce4e5b9ULL;
}

static int serial(void) { static int last = 100; return ++last; }

static int lookup(int k)
{
    static int cache[8], filled;
    static struct { int hit, miss; } stat = { 0, 0 };
    if (filled & 1 << (k & 7))
        stat.hit++;
    else
        filled |= 1 << (k & 7), cache[k & 7] = serial(), stat.miss++;
    if ((stat.hit + stat.miss) % 13 == 12)
        filled = 0;
    return cache[k & 7] * 3 + stat.hit - stat.miss;
}

static long first(long v)
{
    static long last = 3, calls;
    static double hist[2][2] = { { 0.5 } };
    long in;

    MPI_Sendrecv(&v, 1, MPI_LONG, (rank + 1) % size, 2, &in, 1, MPI_LONG,
                 (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    hist[calls & 1][in & 1] += 0.25 * (in % 16);
    if (hist[calls & 1][in & 1] > 4096)
        hist[calls & 1][in & 1] = 0;
    last = (last * 3 + in) % 10007;
    return last + ++calls % 100 + (long) (4 * hist[0][0] + 8 * hist[0][1])
        + (long) (12 * hist[1][0] + 4 * hist[1][1]);
}

static long second(long v)
{
    static long last = 4, calls = 9;    /* the same names, other variables */
    static struct outer o = { { { { 7 } } } };
    long s;

    MPI_Allreduce(&v, &s, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    {
        static int last = 1;            /* and another one */
        last = (last * 5 + lookup((int) s & 0xff)) % 9973;
        MPI_Bcast(&last, 1, MPI_INT, (int) (calls % size), MPI_COMM_WORLD);
        o.in[calls & 1].id[calls % 3] += last % 50 - 20;
        mix(last);
    }
    o.an.p = (o.an.p + first(s % 512)) % 10007;
    last ^= o.an.p + o.in[1].id[2] + o.in[0].id[0];
    return (last & 0xfff) + ++calls + s % 100;
}

static long *best(long v)
{
    static long top[3], n;
    n++;
    top[(n + 2) % 3] = (first(v) + top[n % 3]) % 10007;
    MPI_Allreduce(MPI_IN_PLACE, top, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    top[n % 3] %= 5003;
    return top + n % 3;
}

static void scalars(int r, long t)
{
    float g = (float) (t % 64) / 8;
    double two[2], sums[2];

    uc += r, sc ^= (signed char) t, us += (unsigned short) t, ss -= (short) (r + uc);
    ui = ui * 5 + us, ll = ll / 3 - t, ull += (u64) ll ^ ui;
    MPI_Bcast(&us, 1, MPI_UNSIGNED_SHORT, r % size, MPI_COMM_WORLD);
    fl = fl / 2 + g, fl = (float) (int) fl + 0.5f;
    MPI_Allreduce(MPI_IN_PLACE, &fl, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    db = (double) (long) (db * 0.75) + g + fl;
    ld = (long double) (long) (ld / 2) + db / 4;
    flag = !flag ^ (t & 1), flag = flag || r % 5 == 0;
    z = z * I + (double) (t % 7), zf = zf * 2.0f + (float) flag;
    if (creal(z) > 1000 || creal(zf) > 1000) z = 1.0 - I, zf = 2.0f * I;
    two[0] = creal(z), two[1] = cimag(z);
    MPI_Allreduce(two, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    vol += (int) sums[0] % 100, vols[r & 1] = vol - vols[~r & 1] % 1000, vol %= 5000;
    mix(uc), mix(sc), mix(us), mix(ss), mix(ui), mix(ll), mix((long long) ull);
    mix((long) (fl * 8)), mix((long) (db * 64)), mix((long) (ld * 64)), mix(flag);
    mix((long) sums[1]), mix((long) (creal(zf) + 3 * cimag(zf))), mix(vol), mix(vols[0] + vols[1] * 3);
}

static void aggregates(int r, long t)
{
    int i, k;

    col = col == RED ? GREEN : col == GREEN ? BLUE : RED;
    fg.a += r, fg.b ^= (unsigned) t, fg.s = (int) ((t ^ fg.s) & 15) - 8, fg.w = fg.w * 77 + fg.b;
    MPI_Reduce(cube[r & 1], r % size == rank ? &cube[~r & 1] : NULL, 12, MPI_INT, MPI_MAX,
               r % size, MPI_COMM_WORLD);
    (*pcurrent)->in[r & 1].id[r % 3] += (short) (second(r + col) % 100);
    current->u.i = (int) (current->u.i * 3u + fg.a) & 0xffff, current->an.p += *refs.f;
    current->in[0].tag ^= r & 6, current->an.q = (current->an.q + t) % 999;
    *refs.l = (*refs.l + first(*ids[r & 1])) % 5003, *refs.t = (char) ('a' + later % 26);
    if (++refs.t == text + 15) refs.t = text;
    if (++refs.f == factors + 3) refs.f = factors;
    if (++current == things + 3) current = things;
    if (r % 5 == 2) pcurrent = pcurrent == &spare ? &current : &spare, spare = current;
    *pick += (int) *best(t % 99), *pick %= 1000, tentative += *pick + plane[r % 3][r & 3];
    tentative %= 100000;
    if (++pick == &cube[0][0][0] + 24) pick = cube[0][0];
    if (r % 4 == 3) ids[0] = ids[1], ids[1] = &current->in[1].id[r % 3];
    for (i = 0; i < 3; i++)
        for (k = 0; k < 2; k++)
            mix(things[i].in[k].id[r % 3] + things[i].in[k].tag * things[i].an.p + things[i].an.q + things[i].u.i);
    for (i = 0; i < 24; i++)
        mix((&cube[0][0][0])[i]);
    mix(col + fg.a * 16 + fg.b), mix(fg.s), mix(fg.w), mix(later), mix(text[r & 15]);
    mix(tentative), mix(current - things), mix(pick - &cube[0][0][0]);
}

/* Any digits and letters: on a machine of 32 bits parts of some are what addresses are, too. */
static struct { double x; int n; } drawn[5000];
static unsigned keys[20000];
static char letters[50000];
static struct { double x; int n; double y; } *rounded; /* in memory whose size is a multiple of its alignment */
static double *draw(int n)
{
    double *all = malloc(n * sizeof *all);
    u64 x = 88172645463325252ull;
    int i;

    rounded = aligned_alloc(64, (5001 * sizeof *rounded + 63) / 64 * 64);
    for (i = 0; i < n; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        drawn[i % 5000].x = rounded[i % 5001].x = rounded[i % 5001].y = all[i] = (double) (x >> 11) / 4503599627370496.0;
        keys[i % 20000] = (unsigned) x, letters[i % 50000] = (char) (' ' + x % 90);
    }
    return all;
}

int main(int argc, char **argv)
{
    static int r, rounds = 200;         /* main has some, too */
    static double *digits;
    static u64 all[64];
    long t = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        rounds = atoi(argv[1]);
    digits = draw(100000);
    for (r = 0; r < rounds; r++) {
        mix((long long) ((digits[r * 31 % 100000] + drawn[r % 5000].x + rounded[r % 5001].y) * 1000000.0) + keys[r % 20000] + letters[r % 50000]);
        t = (t * 3 + second(t) + first(r)) % 100003;
        scalars(r, t);
        aggregates(r, t + lookup(r));
        all[r % 64] += t, mix((long long) all[r * 7 % 64]);
    }
    MPI_Gather(&sum, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    for (r = 0; r < size; r++)
        mix((long long) all[r]);
    if (rank == 0)
        printf("result: statics: ranks %d rounds %d serial %d sum %016llx\n", size, rounds, serial(), sum);
    MPI_Finalize();
    return 0;
}
