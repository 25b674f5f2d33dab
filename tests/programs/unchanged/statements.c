/*
 * statements.c - functions that reach MPI called among all the statements of
 * C: switch (fall through, default in the middle, empty cases and an empty
 * range, declarations inside), loops with break/continue, goto both ways,
 * shadowed names, dangling else, blocks with declarations after statements,
 * types local to a block, const and register locals, arrays and structs that
 * are initialised anew whenever their block is entered, a loop unrolled by a
 * switch (which does not reach MPI).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

typedef unsigned long long u64;
typedef int count;

struct box { int w, h; };

int me, np;
static u64 sum = 3;
static long level = 1000;           /* shadowed below */
static int x = 42;                  /* shadowed below */

static void note(long v)
{
    sum = (sum << 7 | sum >> 57) + (u64) v;
    sum = (sum ^ sum >> 29) * 0x100000001b3ULL;
}

static long work(long v)            /* the same on all ranks */
{
    long s;
    MPI_Allreduce(&v, &s, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    note(s);
    return s;
}

static long pass(long v)            /* differs from rank to rank */
{
    long in;
    MPI_Sendrecv(&v, 1, MPI_LONG, (me + 1) % np, 1, &in, 1, MPI_LONG,
                 (me + np - 1) % np, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    note(in);
    return in;
}

static long switches(int k)
{
    long t = k;

    switch (k % 11) {
        int tmp;                    /* declared, never reached as a statement */
    case 0:
        tmp = (int) pass(k);
        t += tmp;
        /* fall through */
    case 1:
    case 2: {
        int two = (int) work(k) + 1;
        t += two * pass(two);
        break;
    }
    default:
        t = work(t);
        if (t & 1)
            break;
        tmp = 9;
        t -= pass(tmp) + tmp;
        /* fall through */
    case 3:
        switch (work(k) % 3 == 0) {
        case 1: t += pass(5); break;
        case 0: ;
        }
        t ^= 12;
    case 4: case 5:
        break;
    case 6 ... 7:                   /* a range with nothing in it */
    case 8:
        for (tmp = 0; ; tmp++) {
            switch (tmp) {
            case 1: continue;
            case 3: goto out;
            }
            t += work(tmp);
        }
    out:
        break;
    }
    switch ((int) work(0)) case 0: t = pass(t);
    return t;
}

static long jumps(int k)
{
    int tries = 0, i, j;
    long t = 1;

    if (k % 5 == 0)
        goto late;
again:
    t += work(tries);
    if (++tries < 3)
        goto again;
late:
    for (i = 0; i < 3; i++) {
        for (j = 0; j < 3; j++) {
            if (j == k % 3)
                goto next;
            if (i + j == 3)
                break;
            t = t * 2 + pass(t % 1000 + j);
        }
        if (i == 1)
            continue;
        t++;
    next: ;
        if (work(i) > 1L * np && k % 2)
            goto found;
    }
    t = -t;
found:
    return t % 100000 + 10 * tries + i;
}

static long shadows(int k, long level)
{
    long t = level + x;
    {
        long x = pass(t), k = x % 100;      /* hides parameter and global */
        t += work(k) + x;
        {
            char x = 'a';
            short level = 7;
            t += work(level) + x;
            x += level;
            t += pass(x) - level;
        }
        level += k;
    }
    for (int x = 0; x < 2; x++) {
        int k = x * 3;
        t += work(k + x);
        k++;
        for (long x = 5; x < 7; x++)
            t += pass(x + k);
    }
    count count = 3 + k % 2;                /* a variable hides a type */
    while (count-- > 0)
        t += work(count);
    x = (x + (int) (t & 63)) % 5000;
    return t + level + k;
}

static long locals(int k)
{
    enum { RED = 2, GREEN = 4, BLUE } c;
    struct box { char name[6]; long v[2]; } b = { "box", { 1 } };
    typedef struct box box_t;
    register int i, j = 1;
    const long seed = work(k) % 19;
    long t = seed;

    for (i = 0; i < 3; i++) {
        int a[4] = { 1, 2 };
        box_t q = { "in", { [1] = 5 } };
        char s[] = "steps", z[8] = "ab";
        static const char hex[] = "0123456789abcdef";
        const int twice = 2 * i + j;

        c = i == 0 ? RED : i == 1 ? GREEN : BLUE;
        a[3] += (int) pass(a[1] + i);
        s[i] = hex[(a[3] + i) & 15];
        q.v[0] += work(a[0] + q.v[1]);
        a[2]++, q.v[1]++, z[2] = 'c', z[i]++;
        j += (int) (pass(c) & 3);
        t = t * 3 + a[0] + a[1] + a[2] + a[3] + q.v[0] * q.v[1] + twice + c;
        t = (t + s[0] * 5 + s[1] * 7 + s[2] + s[4] + z[0] + z[1] + z[2]
             + (long) strlen(z) + q.name[0]) % 1000003;
        b.v[i & 1] += t;
        b.name[i]++;
    }
    return (t + b.v[0] + b.v[1] * 3 + b.name[0] + b.name[2] + j) % 1000003;
}

static long odds(int k, struct box b)
{
    long t = 0;
    ;
    if (k % 2) if (k % 3) t = work(1); else t = work(2);
    if (k % 7 == 1) t += pass(1);
    else if (k % 7 == 2) ;
    else if (k % 7 == 3) for (b.w = 0; b.w < 2; b.w++) t += pass(b.w);
    else do t += work(b.h); while (b.h-- > 1);
    { { t++; long u = pass(t); { t += u; int v = (int) work(2); t -= v; } } }
    while (work(1) != np) ;
    for (; ; ) { if (pass(0) == 0) break; }
    return t + b.w * 10 + b.h;
}

static int unrolled(const char *s, int n)
{
    unsigned h = 0;
    int loops = (n + 3) / 4;

    switch (n % 4) {
    case 0: do { h = h * 5 + *s++;
    case 3:      h = h * 5 + *s++;
    case 2:      h = h * 5 + *s++;
    case 1:      h = h * 5 + *s++;
            } while (--loops > 0);
    }
    return (int) (h & 0xffffff);
}

int main(int argc, char *argv[])
{
    int r, rounds = 200;
    u64 every[64];
    struct box frame = { 3, 4 };

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    if (argc > 1) rounds = atoi(argv[1]);
    for (r = 0; r < rounds; r++) {
        long t = r;
        switch (r % 5) {
        case 0: t = switches(r / 5); break;
        case 1: t = jumps(r / 5); break;
        case 2: t = shadows(r, level + r); break;
        case 3: t = locals(r); break;
        default: frame.h = 1 + (frame.h + r) % 3; t = odds(r / 5, frame);
        }
        level = (level + t) & 0xffff;
        note(t), note(level), note(x), note(frame.h);
        note(unrolled("switch and loop", 5 + r % 11));
    }
    MPI_Gather(&sum, 1, MPI_UNSIGNED_LONG_LONG, every, 1,
               MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    for (r = 0; me == 0 && r < np; r++)
        note((long) every[r]);
    if (!me)
        printf("result: statements: ranks %d rounds %d sum %016llx\n", np, rounds, sum);
    return MPI_Finalize();
}
