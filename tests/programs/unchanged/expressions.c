/*
 * expressions.c - functions that reach MPI called in every place where an
 * expression can stand: arguments of each other, && || ?: and comma,
 * conditions of if/while/do/for, step of for, array indices, compound and
 * chained assignments, initialisers, unary operators, casts, (void), f(i++),
 * *p++ = f(), f().x, operands of return; MPI calls themselves in such places.
 *
 * The order in which operands are evaluated is not defined by C, so what may
 * happen in any order is only added up (bag); the rest is mixed (sum).
 */
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>

#define M 1000003L

typedef unsigned long long u64;

struct pair { int x; long y; };
struct wrap { struct pair in; long v[3]; };

static int rank, size;
static u64 sum = 17, bag;
static long calls;
static long tab[8];

static u64 mix(u64 h, u64 v)
{
    h ^= v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
    return h * 0x100000001b3ULL;
}

/* value of the left neighbour: differs from rank to rank */
static long ring(long v)
{
    long got = -1;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status st;

    if (MPI_Sendrecv(&v, 1, MPI_LONG, right, 7, &got, 1, MPI_LONG, left, 7,
                     MPI_COMM_WORLD, &st) != MPI_SUCCESS || st.MPI_TAG != 7)
        MPI_Abort(MPI_COMM_WORLD, 1);
    bag += (u64) got * 31 + st.MPI_SOURCE;
    return calls++, got;
}

/* the same on all ranks, so that it can steer control flow */
static long all(long v)
{
    long s = 0;

    return MPI_Allreduce(&v, &s, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD)
               == MPI_SUCCESS ? (bag += (u64) s * 7, calls++, s) : -1L;
}

static int bc(int v, int root)
{
    int e;

    return (e = MPI_Bcast(&v, 1, MPI_INT, root % size, MPI_COMM_WORLD))
        ? -e : (calls++, v);
}

static struct pair both(long v)
{
    struct pair p = { bc((int) (v % 100), 0), ring(v) };

    return p;
}

static struct wrap deep(long v)
{
    struct wrap w;

    w.in = both(v), w.v[0] = ring(v + 1), w.v[1] = w.v[2] = all(v % 9);
    return w;
}

static long add3(long a, long b, long c)
{
    return ((a * 5 + b * 3 + c) % M + M) % M;
}

static long arguments(int r, long t)
{
    int i = r % 5;
    long a = add3(ring(t), all(ring(t + 1)), bc(i++, r));
    long b = add3(bc(i, bc(r, 0)), ring(add3(all(1), ring(2), -ring(3))),
                  (long) (char) all(r % 50));

    (void) all(a % 11);
    (void) ring(a), sum = mix(sum, a + b + i);
    a += bc(i++ + r, 1), b += i;
    return ring(a) + all(b) * 2 - bc(i, r + 1);
}

static long logic(int r, long t)
{
    long c = 0, d;

    if (all(r) % 2 && bc(r, 0) % 3 != 1)
        c += 1;
    if (!all(r % 3) || (bc(r % 4, 0) > 1 && all(2) == 2L * size))
        c += 2;
    else if (all(1), bc(r % 7, 1) > 3)
        c += 4;
    c += (all(r) & 2) == 0 ? ring(t) : bc(r % 3, 2) ? all(t % 13) : -all(2);
    d = (ring(c), all(c % 10 + 10), bc(4 + r % 2, 0));
    d = bc(r & 1, 0) ? ring(d), ring(d + 1) : (long) (sizeof(all(d)) > 1) + all(d);
    c = c * 2 + (bc(1, 0) == 1) - (all(0) != 0) + (~bc(r, 0) & 15);
    return c + d + !(bc(r & 2, 0)) + -ring(c % M) % 77;
}

static long loops(int r, long t)
{
    int i, k = 4 + r % 3;

    for (i = bc(r % 3, 0); all(i) < 4L * size; i += bc(1, i))
        t = (t + ring(i + t)) % M;
    i = 0;
    do {
        i++;
        if (i == 2)
            continue;
        if (all(i) > 5L * size)
            break;
        t = (t * 3 + ring(t + i)) % M;
    } while (all(i) < (4L + r % 3) * size && bc(i, 0) < 7);
    while ((k = bc(k, 0) - 1) > 0 && (all(1), k != 2))
        t += k * bc(2, k);
    for (int j = bc(2, 0), n = j + 1; j < n + bc(1, 1); j++, (void) ring(j))
        t += j + n;
    return t % M + 100 * i + k;
}

static long assign(int r, long t)
{
    long v[6] = { 0 }, *p = v, x = 5;
    unsigned char small;
    int i = 0;

    *p++ = ring(t);
    *p++ = all(t % 5), *p = bc(r, 2);
    p[1] = p[2] = ring(*p + r);
    *(p + 3) += all(v[i++] % 3);
    x += ring(x), x *= bc(3, 0), x -= all(1), x ^= bc(r, 1);
    x <<= bc(1, 0);
    x |= (small = (unsigned char) ring(x)) & 0x10;
    tab[all(r) % 8] += ring(r) + small;
    tab[bc(r, 0) & 7]++;
    t += tab[(all(r) + bc(i, 0)) % 8] + both(t).x * 3 + both(t + 1).y;
    t += deep(t % M).in.y + deep(t % M + 1).v[bc(i + 1, 0) % 3];
    for (i = 0; i < 6; i++)
        t = (t * 9 + v[i]) % M;
    return t + (x & 0xffff) + (p - v);
}

static long initial(int r, long t)
{
    long v[3] = { ring(t), all(r), bc(r, 0) }, w = v[0] + ring(v[1]);
    struct pair q = both(t), s = { (int) ring(1), -all(2) };
    struct wrap z = { { bc(r, 1), ring(w) }, { all(1), ring(2) } };
    const long k = bc(r % 9, 0) + 1;
    double f = (double) all(r) / 2;

    t += w * k + q.x + q.y * 3 + s.x - s.y + z.in.x + z.in.y + z.v[0] * z.v[1];
    return t % M + (long) (f * 2) + z.v[2] + v[2];
}

static int direct(int r, long *t)
{
    long in = *t % 100, out = 0, g[64];
    int e = MPI_SUCCESS, n;

    if (MPI_Barrier(MPI_COMM_WORLD) || MPI_Allgather(&in, 1, MPI_LONG, g, 1,
            MPI_LONG, MPI_COMM_WORLD) || !(n = size))
        return 1;
    while (n-- > 0)
        *t += g[n] * (n + 1);
    e |= MPI_Reduce(&in, &out, 1, MPI_LONG, MPI_MAX, r % size, MPI_COMM_WORLD);
    *t += out;
    return e ? e : MPI_Bcast(t, 1, MPI_LONG, (r + 1) % size, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int r, rounds = argc > 1 ? atoi(argv[1]) : 200;
    long t;
    u64 s[2], all_s[128];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (r = 0, t = rank + 1; bc(r, 0) < rounds; r++) {
        t = ((r % 6 == 0 ? arguments(r, t) : r % 6 == 1 ? logic(r, t)
              : r % 6 == 2 ? loops(r, t) : r % 6 == 3 ? assign(r, t)
              : r % 6 == 4 ? initial(r, t) : t) % M + M) % M;
        if (r % 6 == 5 && direct(r, &t) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 2);
        sum = mix(sum, t), sum = mix(sum, bag);
    }
    for (r = 0; r < 8; r++)
        sum = mix(sum, tab[r]);
    s[0] = sum, s[1] = calls;
    MPI_Gather(s, 2, MPI_UNSIGNED_LONG_LONG, all_s, 2, MPI_UNSIGNED_LONG_LONG,
               0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (r = 0; r < 2 * size; r++)
            bag = mix(bag, all_s[r]);
        printf("result: expressions: ranks %d rounds %d calls %ld sum %016llx\n",
               size, rounds, calls, bag);
    }
    MPI_Finalize();
    return 0;
}
