/* hard_disks.c - Monte-Carlo simulation of hard disks at area fraction 0.5, by a master and slaves.
 *
 * n x n disks of diameter 1 start from a triangular lattice in a periodic box. A trial moves one disk
 * by up to 0.3 in each coordinate and is refused where it would overlap (Metropolis et al., 1953). The
 * pairs near contact are counted; extrapolated to contact they give g(1+) and Z = PV/NkT = 1 + 2 eta
 * g(1+).
 *
 * The original could not be found; here several independent chains make the work. The master keeps
 * them; whichever slave is free gets the chain that has waited longest, runs it for some sweeps and
 * sends it back. Who runs what depends on timing. The answer does not: a chain carries the state of its
 * random numbers with it, and what is added up is counted.
 *
 * libELC: re-entry. Disks, cells and chains are structures with pointers on the heap. Lines are meant
 * to come by time interval (ELC_EVERY); --lines K takes K at equal distances instead. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "elc_or_plain.h"

static const double kPi = 3.14159265358979323846, kFraction = 0.5, kStep = 0.3;
/* Long runs of this program give 4.101 (256 disks) and 4.104 (900), each +- 0.002; Henderson's equation
 * of state, (1 + eta^2 / 8) / (1 - eta)^2, gives 4.125. */
static const double kZ = 4.10;
static const double kReach = 1.25, kBinWidth = 0.01; /* pairs are counted from 1 to kReach */
enum { kBins = 25, kLookEvery = 4, kHeader = 5 };
enum { kWorkTag = 1, kPlacesTag = 2, kCountsTag = 3, kStopTag = 4 };

/* A slave's system: disks in cells of at least kReach, so that neighbours lie in nine cells. */
typedef struct Disk {
  double x, y;
  struct Disk *next; /* in the same cell */
} Disk;

typedef struct Cell {
  Disk *first;
  struct Cell *around[9]; /* itself and its neighbours */
} Cell;

typedef struct Box {
  int disks, across, down; /* cells */
  double width, height;
  uint64_t random;
  Disk *disk;
  Cell *cell;
} Box;

/* The master's side of a simulation. */
typedef struct Chain {
  int number, sweeps; /* sweeps done */
  uint64_t random;
  double *places;     /* x and y of each disk */
  struct Chain *next; /* the one that has waited less */
} Chain;

typedef struct Queue {
  Chain *first, *last;
} Queue;

/* The user's parameters: the same in every process and every run. */
static long size = 16, sweeps = 20000, chains = 6, block = 20, lines = 0, seed = 1;

static ELC_Type disk_type, cell_type, box_type, chain_type, queue_type;

static void make_types(void) {
  ELC_Field disk[] = {ELC_FIELD(Disk, x), ELC_FIELD(Disk, y), ELC_POINTER_FIELD(Disk, next)};
  ELC_Field cell[] = {ELC_POINTER_FIELD(Cell, first), ELC_POINTER_FIELD(Cell, around)};
  ELC_Field box[] = {ELC_FIELD(Box, disks),        ELC_FIELD(Box, across),      ELC_FIELD(Box, down),
                     ELC_FIELD(Box, width),        ELC_FIELD(Box, height),      ELC_FIELD(Box, random),
                     ELC_POINTER_FIELD(Box, disk), ELC_POINTER_FIELD(Box, cell)};
  ELC_Field chain[] = {ELC_FIELD(Chain, number), ELC_FIELD(Chain, sweeps), ELC_FIELD(Chain, random),
                       ELC_POINTER_FIELD(Chain, places), ELC_POINTER_FIELD(Chain, next)};
  ELC_Field queue[] = {ELC_POINTER_FIELD(Queue, first), ELC_POINTER_FIELD(Queue, last)};
  disk_type = ELC_Struct("Disk", sizeof(Disk), 3, disk);
  cell_type = ELC_Struct("Cell", sizeof(Cell), 2, cell);
  box_type = ELC_Struct("Box", sizeof(Box), 8, box);
  chain_type = ELC_Struct("Chain", sizeof(Chain), 5, chain);
  queue_type = ELC_Struct("Queue", sizeof(Queue), 2, queue);
}

static void *new_block(ELC_Type type, size_t width, size_t count) {
  void *memory = ELC_NEW(type, width, count);
  if (memory == NULL) {
    fprintf(stderr, "hard_disks: no memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

/* The distance of lattice points at which disks of diameter 1 cover kFraction of the area. */
static double spacing(void) { return sqrt(kPi / (2.0 * sqrt(3.0) * kFraction)); }
static double box_width(void) { return (double)size * spacing(); }
static double box_height(void) { return (double)size * spacing() * sqrt(3.0) / 2.0; }

/* ---- The physics --------------------------------------------------------------------------- */

static Box *make_box(void) {
  Box *box = new_block(box_type, sizeof(Box), 1);
  box->disks = (int)(size * size);
  box->width = box_width();
  box->height = box_height();
  box->across = (int)(box->width / kReach);
  box->down = (int)(box->height / kReach);
  box->disk = new_block(disk_type, sizeof(Disk), box->disks);
  box->cell = new_block(cell_type, sizeof(Cell), (size_t)box->across * box->down);
  for (int i = 0; i < box->down; i++)
    for (int j = 0; j < box->across; j++)
      for (int k = 0; k < 9; k++) {
        int row = (i + k / 3 - 1 + box->down) % box->down,
            column = (j + k % 3 - 1 + box->across) % box->across;
        box->cell[i * box->across + j].around[k] = &box->cell[row * box->across + column];
      }
  return box;
}

static Cell *cell_at(const Box *box, double x, double y) {
  int column = (int)(x / box->width * box->across), row = (int)(y / box->height * box->down);
  if (column == box->across) column--;
  if (row == box->down) row--;
  return &box->cell[row * box->across + column];
}

static void put(Disk *disk, Cell *cell) {
  disk->next = cell->first;
  cell->first = disk;
}

static void take_out(const Disk *disk, Cell *cell) {
  Disk **link = &cell->first;
  while (*link != disk) link = &(*link)->next;
  *link = disk->next;
}

/* The square of the distance to the nearest image. */
static double distance2(double dx, double dy, double width, double height) {
  dx = fabs(dx);
  dy = fabs(dy);
  if (dx > width / 2) dx = width - dx;
  if (dy > height / 2) dy = height - dy;
  return dx * dx + dy * dy;
}

static double wrap(double x, double length) {
  if (x >= length) x -= length;
  if (x < 0) x += length;
  return x < length ? x : 0.0;
}

/* Tries to move one disk; returns whether it moved. */
static int trial(Box *box, Disk *disk) {
  double x = disk->x + (2.0 * random_unit(&box->random) - 1.0) * kStep;
  double y = disk->y + (2.0 * random_unit(&box->random) - 1.0) * kStep;
  Cell *from, *to;
  x = wrap(x, box->width);
  y = wrap(y, box->height);
  to = cell_at(box, x, y);
  for (int k = 0; k < 9; k++)
    for (const Disk *other = to->around[k]->first; other != NULL; other = other->next)
      if (other != disk && distance2(x - other->x, y - other->y, box->width, box->height) < 1.0) return 0;
  from = cell_at(box, disk->x, disk->y);
  if (from != to) {
    take_out(disk, from);
    put(disk, to);
  }
  disk->x = x;
  disk->y = y;
  return 1;
}

/* Adds the pairs near contact to counts[0..kBins). */
static void count_pairs(const Box *box, double *counts) {
  for (const Disk *disk = box->disk; disk < box->disk + box->disks; disk++) {
    const Cell *cell = cell_at(box, disk->x, disk->y);
    for (int k = 0; k < 9; k++)
      for (const Disk *other = cell->around[k]->first; other != NULL; other = other->next) {
        double d2 = distance2(disk->x - other->x, disk->y - other->y, box->width, box->height);
        if (other > disk && d2 < kReach * kReach) {
          int bin = (int)((sqrt(d2) - 1.0) / kBinWidth);
          counts[bin < kBins ? bin : kBins - 1] += 1.0;
        }
      }
  }
}

/* ---- A slave ------------------------------------------------------------------------------- */

static void unpack(Box *box, const double *places, const unsigned *header) {
  box->random = (uint64_t)header[3] << 32 | header[4];
  for (int i = 0; i < box->across * box->down; i++) box->cell[i].first = NULL;
  for (int i = 0; i < box->disks; i++) {
    box->disk[i].x = places[2 * i];
    box->disk[i].y = places[2 * i + 1];
    put(&box->disk[i], cell_at(box, box->disk[i].x, box->disk[i].y));
  }
}

static void pack(const Box *box, double *places, unsigned *header) {
  header[3] = (unsigned)(box->random >> 32);
  header[4] = (unsigned)(box->random & 0xffffffffu);
  for (int i = 0; i < box->disks; i++) {
    places[2 * i] = box->disk[i].x;
    places[2 * i + 1] = box->disk[i].y;
  }
}

/* A sweep: a trial for each disk; then, with `look`, the pairs are counted. In a function of its own, and not static:
 * compilers make little effort in a loop that labels jump into, nor in what main calls from one place. */
void sweep_disks(Box *box, double *counts, int look) {
  for (Disk *disk = box->disk; disk < box->disk + box->disks; disk++) counts[kBins] += trial(box, disk);
  if (look) {
    count_pairs(box, counts);
    counts[kBins + 1] += 1.0;
  }
}

/* Runs the chain in `box` from sweep `done` on for `count` sweeps. counts[kBins] gets the number of
 * moves, counts[kBins + 1] that of looks at the pairs. */
static void run(Box *box, double *counts, int done, int count) {
  int sweep = 0;
  ELC_ENTER();
  ELC_PTR(box);
  ELC_PTR(counts);
  ELC_VAR(done);
  ELC_VAR(count);
  ELC_VAR(sweep);
  ELC_RESUME();
  for (sweep = 1; sweep <= count; sweep++) {
    ELC_AT(1);
    ELC_Checkpoint();
    sweep_disks(box, counts, done + sweep > sweeps / 10 && (done + sweep) % kLookEvery == 0);
  }
  ELC_END();
  ELC_Leave();
}

static void slave(void) {
  unsigned header[kHeader] = {0}; /* chain, sweeps done, sweeps to do, random numbers: high, low */
  Box *box = NULL;
  double *places = NULL, *counts = NULL;
  MPI_Status status;
  ELC_ENTER();
  ELC_VAR(header);
  ELC_PTR(box);
  ELC_PTR(places);
  ELC_PTR(counts);
  ELC_STATUS(status);
  ELC_RESUME();
  box = make_box();
  places = new_block(ELC_DOUBLE, sizeof(double), 2 * (size_t)box->disks);
  counts = new_block(ELC_DOUBLE, sizeof(double), kBins + 2);
  for (;;) {
    ELC_AT(1);
    MPI_Recv(header, kHeader, MPI_UNSIGNED, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == kStopTag) break;
    ELC_AT(2);
    MPI_Recv(places, 2 * box->disks, MPI_DOUBLE, 0, kPlacesTag, MPI_COMM_WORLD, &status);
    unpack(box, places, header);
    memset(counts, 0, (kBins + 2) * sizeof(double));
    ELC_AT(3);
    run(box, counts, (int)header[1], (int)header[2]);
    pack(box, places, header);
    ELC_AT(4);
    MPI_Send(header, kHeader, MPI_UNSIGNED, 0, kWorkTag, MPI_COMM_WORLD);
    ELC_AT(5);
    MPI_Send(places, 2 * box->disks, MPI_DOUBLE, 0, kPlacesTag, MPI_COMM_WORLD);
    ELC_AT(6);
    MPI_Send(counts, kBins + 2, MPI_DOUBLE, 0, kCountsTag, MPI_COMM_WORLD);
  }
  ELC_free(box->disk);
  ELC_free(box->cell);
  ELC_free(box);
  ELC_free(places);
  ELC_free(counts);
  ELC_END();
  ELC_Leave();
}

/* ---- The master ---------------------------------------------------------------------------- */

static Chain *make_chains(void) {
  Chain *all = new_block(chain_type, sizeof(Chain), chains);
  double a = spacing();
  for (int c = 0; c < chains; c++) {
    all[c].number = c;
    all[c].random = random_seed((uint64_t)seed * 1000003u + (uint64_t)c);
    all[c].places = new_block(ELC_DOUBLE, sizeof(double), 2 * (size_t)(size * size));
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) {
        all[c].places[2 * (i * size + j)] = (j + 0.25 + 0.5 * (i % 2)) * a;
        all[c].places[2 * (i * size + j) + 1] = (i + 0.5) * a * sqrt(3.0) / 2.0;
      }
  }
  return all;
}

static void enqueue(Queue *queue, Chain *chain) {
  chain->next = NULL;
  if (queue->first == NULL) queue->first = chain;
  if (queue->last != NULL) queue->last->next = chain;
  queue->last = chain;
}

static Chain *dequeue(Queue *queue) {
  Chain *chain = queue->first;
  queue->first = chain->next;
  if (queue->first == NULL) queue->last = NULL;
  return chain;
}

/* Sends a chain to a slave, which runs it for a block of sweeps. */
static void give(Chain *chain, int to) {
  unsigned header[kHeader];
  ELC_ENTER();
  ELC_PTR(chain);
  ELC_VAR(to);
  ELC_VAR(header);
  ELC_RESUME();
  header[0] = (unsigned)chain->number;
  header[1] = (unsigned)chain->sweeps;
  header[2] = (unsigned)(sweeps - chain->sweeps < block ? sweeps - chain->sweeps : block);
  header[3] = (unsigned)(chain->random >> 32);
  header[4] = (unsigned)(chain->random & 0xffffffffu);
  ELC_AT(1);
  MPI_Send(header, kHeader, MPI_UNSIGNED, to, kWorkTag, MPI_COMM_WORLD);
  ELC_AT(2);
  MPI_Send(chain->places, (int)(2 * size * size), MPI_DOUBLE, to, kPlacesTag, MPI_COMM_WORLD);
  ELC_END();
  ELC_Leave();
}

/* Receives a chain from whichever slave is ready and adds up what was counted. Returns the number of
 * the chain; *from gets the slave's. */
static int get(Chain *all, double *totals, int *from) {
  unsigned header[kHeader];
  double counts[kBins + 2];
  MPI_Status status;
  Chain *chain = NULL;
  ELC_ENTER();
  ELC_PTR(all);
  ELC_PTR(totals);
  ELC_PTR(from);
  ELC_PTR(chain);
  ELC_VAR(header);
  ELC_VAR(counts);
  ELC_STATUS(status);
  ELC_RESUME();
  ELC_AT(1);
  MPI_Recv(header, kHeader, MPI_UNSIGNED, MPI_ANY_SOURCE, kWorkTag, MPI_COMM_WORLD, &status);
  *from = status.MPI_SOURCE;
  chain = &all[header[0]];
  chain->sweeps = (int)(header[1] + header[2]);
  chain->random = (uint64_t)header[3] << 32 | header[4];
  ELC_AT(2);
  MPI_Recv(chain->places, (int)(2 * size * size), MPI_DOUBLE, *from, kPlacesTag, MPI_COMM_WORLD, &status);
  ELC_AT(3);
  MPI_Recv(counts, kBins + 2, MPI_DOUBLE, *from, kCountsTag, MPI_COMM_WORLD, &status);
  for (int i = 0; i < kBins + 2; i++) totals[i] += counts[i];
  ELC_END();
  ELC_Leave();
  return chain->number;
}

/* g(1+) by a parabola through the logarithms of g, weighted by the counts, at the middle of each bin. */
static double contact_value(const double *totals) {
  double sums[3][4] = {{0}}, disks = (double)(size * size), area = box_width() * box_height();
  for (int b = 0; b < kBins; b++) {
    double low = 1.0 + b * kBinWidth, high = low + kBinWidth, r = (b + 0.5) * kBinWidth;
    double ideal = totals[kBins + 1] * disks / 2.0 * disks / area * kPi * (high * high - low * low);
    double basis[4] = {1.0, r, r * r, totals[b] > 0.0 ? log(totals[b] / ideal) : 0.0};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 4; j++) sums[i][j] += totals[b] * basis[i] * basis[j];
  }
  for (int k = 2; k > 0; k--) /* eliminates upwards: only the first unknown is wanted */
    for (int i = 0; i < k; i++) {
      double factor = sums[i][k] / sums[k][k];
      for (int j = 0; j < 4; j++) sums[i][j] -= factor * sums[k][j];
    }
  return exp(sums[0][3] / sums[0][0]);
}

static int all_apart(const Chain *all) {
  long disks = size * size;
  for (int c = 0; c < chains; c++)
    for (long i = 0; i < disks; i++) {
      const double *p = all[c].places + 2 * i;
      if (!(p[0] >= 0 && p[0] < box_width() && p[1] >= 0 && p[1] < box_height())) return 0;
      for (const double *q = all[c].places; q < p; q += 2)
        if (distance2(p[0] - q[0], p[1] - q[1], box_width(), box_height()) < 1.0) return 0;
    }
  return 1;
}

/* Says what was verified; returns 0 if something is wrong. */
static int verify(const Chain *all, const double *totals) {
  double pairs = 0.0, trials = (double)chains * (double)sweeps * (double)(size * size), z, tolerance;
  int apart = all_apart(all), good = apart;
  for (int b = 0; b < kBins; b++) pairs += totals[b];
  printf("verified: no disks overlap, all lie in the box: %s; %.4f of %.0f trials moved a disk\n",
         apart ? "yes" : "NO", totals[kBins] / trials, trials);
  if (size < 8 || pairs < 1e5) {
    printf("too small or too short a run to tell Z\n");
    return good;
  }
  z = 1.0 + 2.0 * kFraction * contact_value(totals);
  tolerance = 0.015 + 40.0 / sqrt(pairs); /* five deviations of short runs, and what else Z may be off */
  good = good && fabs(z - kZ) < tolerance;
  printf("verified: Z = PV/NkT = %.4f, within %.4f of %.2f: %s\n", z, tolerance, kZ,
         fabs(z - kZ) < tolerance ? "yes" : "NO");
  return good;
}

static void report(const Chain *all, const double *totals) {
  Digest digest = DIGEST_START;
  for (int c = 0; c < chains; c++) {
    digest_integer(&digest, (int64_t)all[c].random);
    digest_doubles(&digest, all[c].places, 2 * (size_t)(size * size));
  }
  digest_doubles(&digest, totals, kBins + 2);
  print_result(digest);
}

/* Returns 0 if the answer is wrong. */
static int master(int ranks) {
  double begin = MPI_Wtime();
  Chain *all = NULL;
  Queue *queue = NULL; /* chains that wait for a slave */
  Chain *next = NULL;
  double *totals = NULL;
  int chain = 0, to = 0, busy = 0, good;
  long blocks = 0; /* done */
  long last = chains * ((sweeps + block - 1) / block);
  ELC_ENTER();
  ELC_PTR(all);
  ELC_PTR(queue);
  ELC_PTR(next);
  ELC_PTR(totals);
  ELC_VAR(chain);
  ELC_VAR(to);
  ELC_VAR(busy);
  ELC_VAR(blocks);
  ELC_RESUME();
  all = make_chains();
  totals = new_block(ELC_DOUBLE, sizeof(double), kBins + 2);
  queue = new_block(queue_type, sizeof(Queue), 1);
  for (chain = 0; chain < chains; chain++) enqueue(queue, &all[chain]);
  for (to = 1; to < ranks && queue->first != NULL; to++) {
    next = dequeue(queue); /* not as an argument: a restart makes the call again */
    busy++;
    ELC_AT(1);
    give(next, to);
  }
  while (busy > 0) {
    ELC_AT(2);
    chain = get(all, totals, &to);
    blocks++;
    if (blocks < last && line_due(blocks, last, lines + 1)) {
      ELC_AT(3);
      ELC_Checkpoint_now();
    }
    if (all[chain].sweeps < sweeps) enqueue(queue, &all[chain]);
    if (queue->first != NULL) {
      next = dequeue(queue);
      ELC_AT(4);
      give(next, to);
    } else {
      busy--;
    }
  }
  for (to = 1; to < ranks; to++) {
    ELC_AT(5);
    MPI_Send(NULL, 0, MPI_UNSIGNED, to, kStopTag, MPI_COMM_WORLD);
  }
  ELC_END();
  ELC_Leave();
  printf("time: %.3f s\n", MPI_Wtime() - begin);
  good = verify(all, totals);
  report(all, totals);
  for (chain = 0; chain < chains; chain++) ELC_free(all[chain].places);
  ELC_free(all);
  ELC_free(queue);
  ELC_free(totals);
  return good;
}

int main(int argc, char **argv) {
  const Option options[] = {
      {"size", &size, 4, 1024, 0, "disks along an edge, an even number"},
      {"iterations", &sweeps, 1, 1000000000, 0,
       "sweeps of each chain, the first tenth to forget the lattice"},
      {"chains", &chains, 1, 10000, 0, "independent simulations"},
      {"block", &block, 1, 1000000, 0, "sweeps that a slave does at a time"},
      {"seed", &seed, 0, 1000000000, 0, "seed of the random numbers"},
      {"lines", &lines, 0, 1000000, 0, "recovery lines at equal distances (0: by time interval, ELC_EVERY)"},
      {NULL, NULL, 0, 0, 0, NULL}};
  int rank, ranks, good = 1;
  read_options(argc, argv, "Monte-Carlo simulation of hard disks, by a master and slaves.", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2 || size % 2 != 0) {
    if (rank == 0 && ranks < 2)
      fprintf(stderr, "hard_disks: a master needs slaves; start at least 2 processes\n");
    if (rank == 0 && size % 2 != 0)
      fprintf(stderr, "hard_disks: --size %ld: an even number is wanted\n", size);
    MPI_Finalize();
    return 2;
  }
  make_types();
  ELC_ENTER();
  ELC_VAR(good);
  ELC_RESUME();
  if (rank == 0) {
    ELC_AT(1);
    good = master(ranks);
  } else {
    ELC_AT(2);
    slave();
  }
  ELC_END();
  ELC_Leave();
  MPI_Finalize();
  return good ? 0 : 1;
}
