/* neurosys.c - a network of randomly connected neurons that excite and inhibit each other, its
 * ordinary differential equations solved by the fourth-order Runge-Kutta method, after Parallel
 * NeuroSys (Pacheco, Camperi, Uchino, University of San Francisco, 2000).
 *
 * The neurons are dealt out evenly. An iteration has five Allgather - the outputs of all neurons at
 * each of the four stages, then the new potentials - and one Gather of the spikes for the record.
 *
 * The original's model of a neuron could not be found. Here it is that of X.-J. Wang and G. Buzsaki, J.
 * Neurosci. 16, 1996 (mV, ms, uA/cm2), with its synapses, some exciting and some inhibiting: a neuron
 * without connections fires 60 times a second at a current of 1, and 102 times at 2.
 *
 * libELC: restore in place. Neurons are structures, their connections lists of structures on the heap,
 * with pointers to neurons and to functions. Lines with --lines K: at K equal distances, the last at
 * the end. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "elc_or_plain.h"

static const double kDt = 0.01;              /* ms */
static const double kTotalConductance = 0.1; /* of all connections of a neuron, mS/cm2 */
enum { kV, kH, kN, kS, kVariables };         /* potential, two gates of the membrane, the synapses' gate */
enum { kInhibitingOf = 5 };                  /* every fifth neuron inhibits */

/* What a synapse makes of the potential behind it: the driving force. */
typedef double Drive(double v);
static double excite(double v) { return v - 0.0; }
static double inhibit(double v) { return v + 75.0; }

typedef struct Connection {
  struct Neuron *from;
  double conductance;
  Drive *drive;
  struct Connection *next;
} Connection;

/* Every process has all neurons; the variables of those that are not its own are not kept up, only
 * their outputs, potentials and spikes. */
typedef struct Neuron {
  int number, spikes;
  double current;          /* injected */
  double output;           /* how far its synapses are open at the present stage */
  double potential;        /* after the last iteration */
  double last_spike;       /* ms */
  double y[kVariables];    /* at the beginning of the iteration */
  double k[4][kVariables]; /* the slopes of the four stages */
  Connection *inputs;
} Neuron;

static ELC_Type neuron_type, connection_type;

static void make_types(void) {
  ELC_Field connection[] = {ELC_POINTER_FIELD(Connection, from), ELC_FIELD(Connection, conductance),
                            ELC_TYPED_FIELD(Connection, drive, ELC_FUNCTION),
                            ELC_POINTER_FIELD(Connection, next)};
  ELC_Field neuron[] = {
      ELC_FIELD(Neuron, number), ELC_FIELD(Neuron, spikes),    ELC_FIELD(Neuron, current),
      ELC_FIELD(Neuron, output), ELC_FIELD(Neuron, potential), ELC_FIELD(Neuron, last_spike),
      ELC_FIELD(Neuron, y),      ELC_FIELD(Neuron, k),         ELC_POINTER_FIELD(Neuron, inputs)};
  connection_type = ELC_Struct("Connection", sizeof(Connection), 4, connection);
  neuron_type = ELC_Struct("Neuron", sizeof(Neuron), 9, neuron);
  ELC_FUNC(excite);
  ELC_FUNC(inhibit);
}

/* ---- The model ------------------------------------------------------------------------------ */

/* exp(x) by multiplication and addition alone: that of the C library may differ in the last bit from
 * one machine to the next, and this system is chaotic. To some 1e-16 for |x| < 700. */
static double exponential(double x) {
  const double log2e = 1.4426950408889634, high = 6.93147180369123816490e-01,
               low = 1.90821492927058770002e-10;
  double k, r, sum = 1.0, scale;
  uint64_t bits;
  if (x > 700.0) x = 700.0;
  if (x < -700.0) x = -700.0;
  k = (double)(long)(x * log2e + (x < 0 ? -0.5 : 0.5));
  r = (x - k * high) - k * low;
  for (int i = 13; i > 0; i--) sum = 1.0 + sum * r / i;
  bits = (uint64_t)((long)k + 1023) << 52; /* 2^k */
  memcpy(&scale, &bits, sizeof scale);
  return sum * scale;
}

/* x / (1 - exp(-x)), which is 1 at 0. */
static double quotient(double x) { return fabs(x) < 1e-6 ? 1.0 + x / 2.0 : x / (1.0 - exponential(-x)); }

/* The slope dy of the variables y of a neuron that gets the given current. */
static void slope(const double *y, double current, double *dy) {
  double v = y[kV], h = y[kH], n = y[kN];
  double alpha_m = quotient((v + 35.0) / 10.0), beta_m = 4.0 * exponential(-(v + 60.0) / 18.0);
  double alpha_h = 0.07 * exponential(-(v + 58.0) / 20.0),
         beta_h = 1.0 / (exponential(-(v + 28.0) / 10.0) + 1.0);
  double alpha_n = 0.1 * quotient((v + 34.0) / 10.0), beta_n = 0.125 * exponential(-(v + 44.0) / 80.0);
  double m = alpha_m / (alpha_m + beta_m);
  dy[kV] = current - 35.0 * m * m * m * h * (v - 55.0) - 9.0 * n * n * n * n * (v + 90.0) - 0.1 * (v + 65.0);
  dy[kH] = 5.0 * (alpha_h * (1.0 - h) - beta_h * h);
  dy[kN] = 5.0 * (alpha_n * (1.0 - n) - beta_n * n);
  dy[kS] = 12.0 / (1.0 + exponential(-v / 2.0)) * (1.0 - y[kS]) - 0.1 * y[kS];
}

/* Where the variables are at stage s = 0..3. */
static void at_stage(const Neuron *a, int s, double *y) {
  static const double part[4] = {0.0, 0.5, 0.5, 1.0};
  for (int i = 0; i < kVariables; i++) y[i] = s == 0 ? a->y[i] : a->y[i] + part[s] * kDt * a->k[s - 1][i];
}

/* The slopes of stage s, from the outputs of all neurons at that stage. */
static void find_slope(Neuron *a, int s) {
  double y[kVariables], current = a->current;
  at_stage(a, s, y);
  for (const Connection *c = a->inputs; c != NULL; c = c->next)
    current -= c->conductance * c->from->output * c->drive(y[kV]);
  slope(y, current, a->k[s]);
}

static void finish_step(Neuron *a) {
  for (int i = 0; i < kVariables; i++)
    a->y[i] += kDt / 6.0 * (a->k[0][i] + 2.0 * a->k[1][i] + 2.0 * a->k[2][i] + a->k[3][i]);
}

/* Takes the new potential of a neuron; returns whether it has begun a spike. */
static int take_potential(Neuron *a, double v, double time) {
  int begins = a->potential < 0.0 && v >= 0.0;
  if (begins) {
    a->spikes++;
    a->last_spike = time;
  }
  a->potential = v;
  return begins;
}

/* ---- The network ---------------------------------------------------------------------------- */

static void *new_block(ELC_Type type, size_t width, size_t count) {
  void *memory = ELC_NEW(type, width, count);
  if (memory == NULL) {
    fprintf(stderr, "neurosys: no memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

/* The same in every process: `count` neurons, each with `degree` inputs from others on average. */
static Neuron *make_network(int count, int degree, long seed) {
  uint64_t random = random_seed((uint64_t)seed);
  Neuron *all = new_block(neuron_type, sizeof(Neuron), count);
  for (int i = 0; i < count; i++) {
    Neuron *a = &all[i];
    a->number = i;
    a->current = 0.8 + 0.8 * random_unit(&random);
    a->y[kV] = a->potential = -70.0 + 10.0 * random_unit(&random);
    a->y[kH] = 0.6 + 0.3 * random_unit(&random);
    a->y[kN] = 0.1 + 0.2 * random_unit(&random);
    a->last_spike = -1.0;
  }
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) {
      Connection *c;
      if (i == j || random_unit(&random) * (count - 1) >= degree) continue;
      c = new_block(connection_type, sizeof(Connection), 1);
      c->from = &all[j];
      c->conductance = kTotalConductance / degree * (0.5 + random_unit(&random));
      c->drive = j % kInhibitingOf == 0 ? inhibit : excite;
      c->next = all[i].inputs;
      all[i].inputs = c;
    }
  return all;
}

static void free_network(Neuron *all, int count) {
  for (int i = 0; i < count; i++)
    for (Connection *c = all[i].inputs, *next; c != NULL; c = next) {
      next = c->next;
      ELC_free(c);
    }
  ELC_free(all);
}

/* What the collectives need: each process sends `most` numbers, the largest share. */
typedef struct Exchange {
  int count, ranks, rank, first, own, most;
  double *mine, *all; /* most numbers; most for each process */
} Exchange;

static Exchange make_exchange(int count, int rank, int ranks) {
  Exchange x = {count,
                ranks,
                rank,
                share_start(count, ranks, rank),
                share_of(count, ranks, rank),
                share_of(count, ranks, 0),
                NULL,
                NULL};
  x.mine = allocate(x.most, sizeof(double));
  x.all = allocate((size_t)x.most * ranks, sizeof(double));
  return x;
}

/* The number that neuron i has after an Allgather. */
static double of_neuron(const Exchange *x, int i) {
  int owner = owner_of(x->count, x->ranks, i);
  return x->all[owner * x->most + i - share_start(x->count, x->ranks, owner)];
}

static void allgather(Exchange *x) {
  MPI_Allgather(x->mine, x->most, MPI_DOUBLE, x->all, x->most, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* One iteration. The record, on rank 0, counts the spikes that the other processes report. */
static void iterate(Neuron *all, Exchange *x, long iteration, double *record) {
  Neuron *own = all + x->first;
  double y[kVariables];
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < x->own; i++) {
      at_stage(&own[i], s, y);
      x->mine[i] = y[kS];
    }
    allgather(x);
    for (int i = 0; i < x->count; i++) all[i].output = of_neuron(x, i);
    for (int i = 0; i < x->own; i++) find_slope(&own[i], s);
  }
  for (int i = 0; i < x->own; i++) {
    finish_step(&own[i]);
    x->mine[i] = own[i].y[kV];
  }
  allgather(x);
  for (int i = 0; i < x->count; i++) {
    int begins = take_potential(&all[i], of_neuron(x, i), (double)(iteration + 1) * kDt);
    if (i >= x->first && i < x->first + x->own) x->mine[i - x->first] = begins;
  }
  MPI_Gather(x->mine, x->most, MPI_DOUBLE, x->all, x->most, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (x->rank == 0)
    for (int i = 0; i < x->count; i++) record[i] += of_neuron(x, i);
}

/* Brings the variables of all neurons to rank 0. */
static void collect(Neuron *all, Exchange *x) {
  for (int v = 0; v < kVariables; v++) {
    for (int i = 0; i < x->own; i++) x->mine[i] = all[x->first + i].y[v];
    MPI_Gather(x->mine, x->most, MPI_DOUBLE, x->all, x->most, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (x->rank == 0)
      for (int i = 0; i < x->count; i++) all[i].y[v] = of_neuron(x, i);
  }
}

/* ---- Verification --------------------------------------------------------------------------- */

/* One step of the whole network in this process alone. */
static void step_alone(Neuron *all, int count, long iteration) {
  double y[kVariables];
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < count; i++) {
      at_stage(&all[i], s, y);
      all[i].output = y[kS];
    }
    for (int i = 0; i < count; i++) find_slope(&all[i], s);
  }
  for (int i = 0; i < count; i++) {
    finish_step(&all[i]);
    take_potential(&all[i], all[i].y[kV], (double)(iteration + 1) * kDt);
  }
}

/* The time between the last two of some spikes of a neuron without connections, in ms. */
static double interval_at(double current) {
  Neuron alone = {0};
  double before = 0.0;
  alone.current = current;
  alone.y[kV] = alone.potential = -65.0;
  for (long t = 0; alone.spikes < 8 && t < 100000; t++) {
    int spikes = alone.spikes;
    double last = alone.last_spike;
    step_alone(&alone, 1, t);
    if (alone.spikes > spikes) before = last;
  }
  return alone.last_spike - before;
}

/* Says what was verified; returns 0 if something is wrong. */
static int verify(const Neuron *all, int count, const double *record, long iterations) {
  double slow = interval_at(1.0), fast = interval_at(2.0);
  int good = 1, single = fabs(slow - 16.75) < 0.03 && fabs(fast - 9.82) < 0.03;
  long spikes = 0;
  for (int i = 0; i < count; i++) {
    const double *y = all[i].y;
    good = good && y[kV] > -90.0 && y[kV] < 55.0 && y[kV] == all[i].potential && record[i] == all[i].spikes;
    for (int v = kH; v <= kS; v++) good = good && y[v] >= 0.0 && y[v] <= 1.0;
    spikes += all[i].spikes;
  }
  printf("verified: potentials and gates in their bounds, the record agrees: %s; %ld spikes in %.2f ms\n",
         good ? "yes" : "NO", spikes, (double)iterations * kDt);
  printf(
      "verified: a neuron without connections fires every %.2f ms at current 1 and every %.2f ms at 2 "
      "(known: "
      "16.75 and 9.82): %s\n",
      slow, fast, single ? "yes" : "NO");
  return good && single;
}

/* Does the whole work again in this process alone; the bits must be the same. */
static int same_alone(const Neuron *all, int count, int degree, long seed, long iterations) {
  Neuron *again = make_network(count, degree, seed);
  int same = 1;
  for (long t = 0; t < iterations; t++) step_alone(again, count, t);
  for (int i = 0; i < count; i++)
    same = same && memcmp(again[i].y, all[i].y, sizeof again[i].y) == 0 && again[i].spikes == all[i].spikes &&
           again[i].last_spike == all[i].last_spike;
  free_network(again, count);
  printf("verified: one process alone comes to the same bits: %s\n", same ? "yes" : "NO");
  return same;
}

static void report(const Neuron *all, int count) {
  Digest digest = DIGEST_START;
  for (int i = 0; i < count; i++) {
    digest_integer(&digest, all[i].spikes);
    digest_doubles(&digest, &all[i].last_spike, 1);
    digest_doubles(&digest, all[i].y, kVariables);
  }
  print_result(digest);
}

int main(int argc, char **argv) {
  long size = 64, iterations = 10000, degree = 16, seed = 1, lines = 0, check = 0;
  const Option options[] = {
      {"size", &size, 1, 100000, 0, "neurons"},
      {"iterations", &iterations, 1, 1000000000, 0, "steps of 0.01 ms"},
      {"degree", &degree, 1, 100000, 0, "inputs of a neuron, on average"},
      {"seed", &seed, 0, 1000000000, 0, "seed of the connections"},
      {"lines", &lines, 0, 1000000, 0, "recovery lines at equal distances, the last at the end"},
      {"check", &check, 0, 1, 1, "does the work again in one process and compares the bits"},
      {NULL, NULL, 0, 0, 0, NULL}};
  int rank, ranks, count, good = 1;
  long iteration = 0;
  Neuron *all = NULL;
  double *record, begin;
  Exchange exchange;

  read_options(argc, argv, "A network of neurons by the Runge-Kutta method.", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  begin = MPI_Wtime();
  count = (int)size;
  if (count < ranks) {
    if (rank == 0)
      fprintf(stderr, "neurosys: --size %d: at least one neuron for each of %d processes\n", count, ranks);
    MPI_Finalize();
    return 2;
  }
  exchange = make_exchange(count, rank, ranks);
  record = allocate(count, sizeof(double));

  make_types();
  ELC_VAR(iteration);
  ELC_ARRAY(record, count);
  ELC_PTR(all);
  if (ELC_Restore() == ELC_FRESH) all = make_network(count, (int)degree, seed);

  while (iteration < iterations) {
    if (line_due(iteration, iterations, lines))
      ELC_Checkpoint_now();
    else
      ELC_Checkpoint();
    iterate(all, &exchange, iteration, record);
    iteration++;
  }
  if (lines > 0) ELC_Checkpoint_now();
  collect(all, &exchange);
  if (rank == 0) {
    printf("time: %.3f s\n", MPI_Wtime() - begin);
    good = verify(all, count, record, iterations);
    if (check) good = same_alone(all, count, (int)degree, seed, iterations) && good;
    report(all, count);
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  free_network(all, count);
  free(record);
  free(exchange.mine);
  free(exchange.all);
  MPI_Finalize();
  return good ? 0 : 1;
}
