// Measures what blocks of the heap and registered variables cost, against the C library's malloc and free.
#include <elc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "state/state.h"

namespace {

using namespace elc;

constexpr const char* kPurpose =
    R"(Measures what the heap and registration cost in one process, without MPI.

  blocks    so many blocks alive, from malloc and from ELC_malloc: fill (all are made), churn (one after the other, at
            random, is freed and another made), drain (all are freed in random order), and the memory that the
            process has more than before when it is full. Nanoseconds a block; bytes a block.
  names     so many variables are registered; each name once more (refused); each is unregistered and registered again;
            unregistered first to last, last to first, and at random. Milliseconds for all.
  list      so many nodes of 64 bytes in a line, each with a pointer to the next, in the order in which they were made
            and at random: a line, as far as memory; and a restart: its look and its work. Seconds.

Each measurement is made in a process of its own, and malloc and ELC_malloc take turns. Time is that of the processor,
medians of the runs.)";

[[noreturn]] void fail(const char* text) {
  fprintf(stderr, "heap: %s\n", text);
  exit(1);
}

void require(const Result& status) {
  if (!status.ok()) fail(status.message());
}

double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const std::function<void()>& work) {
  const double begin = now();
  work();
  return now() - begin;
}

struct Random {
  uint64_t state = 1;
  uint64_t next() {
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
  size_t below(size_t n) { return static_cast<size_t>((next() >> 32) * n >> 32); }  // n below 2^32
};

template <class T>
void shuffle(std::vector<T>& all) {
  Random random;
  for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
}

// Bytes of this process in memory; 0 where the system does not tell.
double resident() {
  unsigned long all = 0, pages = 0;
  if (FILE* from = fopen("/proc/self/statm", "r")) {
    if (fscanf(from, "%lu %lu", &all, &pages) != 2) pages = 0;
    fclose(from);
  }
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

using Figures = std::array<double, 8>;

// In a process of its own.
Figures apart(const std::function<void(Figures&)>& measure) {
  int ends[2];
  Figures figures = {};
  fflush(stdout);
  if (pipe(ends) != 0) fail("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    measure(figures);
    if (write(ends[1], figures.data(), sizeof figures) != sizeof figures) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  const bool got = read(ends[0], figures.data(), sizeof figures) == sizeof figures;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (!got) fail("a measurement has failed");
  return figures;
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

struct Runs {
  std::vector<Figures> all;
  double operator[](size_t i) const {
    std::vector<double> column;
    for (const Figures& figures : all) column.push_back(figures[i]);
    return median(column);
  }
};

struct Options {
  size_t blocks = 10000000, size = 64, churn = 10000000, names = 40000, nodes = 1000000;
  int repeat = 5;
  std::string only;
};

// ---- Blocks ------------------------------------------------------------------------------------

// 0: of 16 to 112 bytes.
size_t size_of(const Options& options, size_t i) { return options.size != 0 ? options.size : 16 + 8 * (i * 7919 % 13); }

void measure_blocks(const Options& options, void* (*get)(size_t), void (*put)(void*), Figures& out) {
  std::vector<char*> blocks(options.blocks);
  const double n = static_cast<double>(options.blocks), before = resident();
  out[0] = seconds_of([&] {
    for (size_t i = 0; i < options.blocks; ++i) {
      blocks[i] = static_cast<char*>(get(size_of(options, i)));
      blocks[i][0] = 1;
    }
  }) / n;
  out[3] = (resident() - before) / n;
  Random random;
  out[1] = seconds_of([&] {
    for (size_t i = 0; i < options.churn; ++i) {
      char*& block = blocks[random.below(options.blocks)];
      put(block);
      block = static_cast<char*>(get(size_of(options, i)));
      block[0] = 1;
    }
  }) / static_cast<double>(options.churn);
  out[4] = (resident() - before) / n;
  shuffle(blocks);
  out[2] = seconds_of([&] {
    for (char* block : blocks) put(block);
  }) / n;
}

void blocks(const Options& options) {
  Runs plain, ours;
  for (int i = 0; i < options.repeat; ++i) {
    plain.all.push_back(apart([&](Figures& out) { measure_blocks(options, malloc, free, out); }));
    ours.all.push_back(apart([&](Figures& out) { measure_blocks(options, ELC_malloc, ELC_free, out); }));
  }
  printf("%zu blocks of %zu bytes          fill   churn   drain   full   after churn\n", options.blocks, options.size);
  printf("malloc, free                  %7.1f %7.1f %7.1f  %5.1f  %5.1f\n", plain[0] * 1e9, plain[1] * 1e9, plain[2] * 1e9,
         plain[3], plain[4]);
  printf("ELC_malloc, ELC_free          %7.1f %7.1f %7.1f  %5.1f  %5.1f\n", ours[0] * 1e9, ours[1] * 1e9, ours[2] * 1e9, ours[3],
         ours[4]);
  printf("                              %7.2f %7.2f %7.2f  %+5.1f  %+5.1f\n", ours[0] / plain[0], ours[1] / plain[1],
         ours[2] / plain[2], ours[3] - plain[3], ours[4] - plain[4]);
}

// ---- Names -------------------------------------------------------------------------------------

void measure_names(size_t n, Figures& out) {
  std::vector<double> values(2 * n);
  std::vector<std::string> names;
  std::vector<size_t> order, places;
  for (size_t i = 0; i < n; ++i) {
    names.push_back("variable_" + std::to_string(i));
    order.push_back(i);
    places.push_back(2 * i);
  }
  shuffle(places);
  const auto enter = [&](size_t i) {
    if (ELC_Register(names[i].c_str(), &values[places[i]], ELC_DOUBLE, 1) != ELC_OK) fail("a variable was refused");
  };
  const auto leave = [&](size_t i) {
    if (ELC_Unregister(names[i].c_str()) != ELC_OK) fail("a variable was not there");
  };
  const auto all = [&](const std::function<void(size_t)>& what) {
    return seconds_of([&] {
      for (size_t i : order) what(i);
    });
  };
  out[0] = all(enter);
  if (freopen("/dev/null", "w", stderr) == nullptr) fail("no /dev/null");
  out[1] = all([&](size_t i) {
    if (ELC_Register(names[i].c_str(), &values[places[i] + 1], ELC_DOUBLE, 1) == ELC_OK) abort();
  });
  out[2] = all([&](size_t i) { leave(i), enter(i); });
  out[3] = all(leave);
  all(enter);
  std::reverse(order.begin(), order.end());
  out[4] = all(leave);
  all(enter);
  shuffle(order);
  out[5] = all(leave);
}

void names(const Options& options) {
  Runs runs;
  for (int i = 0; i < options.repeat; ++i)
    runs.all.push_back(apart([&](Figures& out) { measure_names(options.names, out); }));
  printf("%zu variables                registered  twice  anew   unregistered: in order  backwards  at random\n", options.names);
  printf("milliseconds                  %8.1f %8.1f %6.1f %20.1f %10.1f %10.1f\n", runs[0] * 1e3, runs[1] * 1e3,
         runs[2] * 1e3, runs[3] * 1e3, runs[4] * 1e3, runs[5] * 1e3);
}

// ---- List --------------------------------------------------------------------------------------

struct Node {
  Node* next;
  int64_t number;
  double values[6];
};
static_assert(sizeof(Node) <= 64);

Node* first = nullptr;

void register_list(ELC_Type* type) {
  const ELC_Field fields[] = {ELC_POINTER_FIELD(Node, next), ELC_TYPED_FIELD(Node, number, ELC_INT64),
                              ELC_FIELD(Node, values)};
  *type = ELC_Struct("Node", sizeof(Node), 3, fields);
  ELC_PTR(first);
}

// The file of a line, in memory: what a disk takes is not measured here.
struct File {
  std::vector<uint8_t> bytes;
  static Result write(void* context, const void* data, size_t size) {
    const uint8_t* from = static_cast<const uint8_t*>(data);
    std::vector<uint8_t>& to = static_cast<File*>(context)->bytes;
    to.insert(to.end(), from, from + size);
    return Result();
  }
  static Result read(void* context, uint64_t offset, void* out, size_t size) {
    memcpy(out, static_cast<File*>(context)->bytes.data() + offset, size);
    return Result();
  }
};

void measure_list(const Options& options, bool mixed, Figures& out) {
  ELC_Type type;
  File file;
  register_list(&type);
  std::vector<Node*> nodes(options.nodes);
  for (Node*& node : nodes) node = static_cast<Node*>(ELC_new(type, 1));
  if (mixed) {
    Random random;
    for (size_t i = 0; i < options.nodes; ++i) {
      Node*& node = nodes[random.below(options.nodes)];
      ELC_free(node);
      node = static_cast<Node*>(ELC_new(type, 1));
    }
    shuffle(nodes);
  }
  for (size_t i = 0; i < options.nodes; ++i)
    *nodes[i] = {i + 1 < options.nodes ? nodes[i + 1] : nullptr, static_cast<int64_t>(i), {0.5 * static_cast<double>(i)}};
  first = nodes[0];
  file.bytes.reserve(options.nodes * 80 + (1 << 20));
  file.bytes.resize(file.bytes.capacity());  // its pages
  file.bytes.clear();
  const auto save = [&](double* begin, double* data) {
    format::Writer writer(&state::types(), {&file, File::write});
    *begin = seconds_of([&] { require(state::begin_save({})); });
    *data = seconds_of([&] {
      require(state::save_data(writer));
      require(state::save_files(writer, 0));
      require(writer.finish());
    });
  };
  const double before = resident();
  save(&out[0], &out[1]);
  out[6] = (resident() - before) / static_cast<double>(options.nodes);
  for (Node* node : nodes) ELC_free(node);
  state::reset();
  first = nullptr;
  register_list(&type);
  format::Reader reader;
  out[2] = seconds_of([&] {
    require(reader.open({&file, file.bytes.size(), File::read}));
    require(reader.verify());
  });
  out[3] = seconds_of([&] { require(state::check(reader)); });
  out[4] = seconds_of([&] { require(state::make_places()), require(state::fill(reader, {})); });
  out[5] = seconds_of([&] { state::set_recovering(false); });
  const Node* node = first;
  for (size_t i = 0; i < options.nodes; ++i, node = node->next)
    if (node == nullptr || node->number != static_cast<int64_t>(i) || node->values[0] != 0.5 * static_cast<double>(i))
      fail("a restart has brought back other values");
}

void list(const Options& options) {
  Runs runs[2];
  for (int i = 0; i < options.repeat; ++i)
    for (const bool mixed : {false, true})
      runs[mixed].all.push_back(apart([&](Figures& out) { measure_list(options, mixed, out); }));
  printf("%zu nodes           line = prepared + written (bytes a node)  restart = verified + looked at + filled + forgotten\n",
         options.nodes);
  for (const bool mixed : {false, true}) {
    const Runs& r = runs[mixed];
    printf("%-21s %7.3f = %7.3f + %7.3f %12.1f   %10.3f = %.3f + %.3f + %.3f + %.3f\n", mixed ? "at random" : "in order",
           r[0] + r[1], r[0], r[1], r[6], r[2] + r[3] + r[4] + r[5], r[2], r[3], r[4], r[5]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(kPurpose);
  app.add_option("--blocks", options.blocks, "alive (10000000)")->check(CLI::PositiveNumber);
  app.add_option("--size", options.size, "bytes of a block; 0: 16 to 112 (64)")->check(CLI::NonNegativeNumber);
  app.add_option("--churn", options.churn, "how often one is freed and another made (10000000)")->check(CLI::PositiveNumber);
  app.add_option("--names", options.names, "variables (40000)")->check(CLI::PositiveNumber);
  app.add_option("--nodes", options.nodes, "of the list (1000000)")->check(CLI::PositiveNumber);
  app.add_option("--repeat", options.repeat, "runs (5)")->check(CLI::PositiveNumber);
  app.add_option("--only", options.only, "one of the three")->check(CLI::IsMember({"blocks", "names", "list"}));
  CLI11_PARSE(app, argc, argv);
  if (options.only.empty() || options.only == "blocks") blocks(options);
  if (options.only.empty() || options.only == "names") names(options);
  if (options.only.empty() || options.only == "list") list(options);
}
