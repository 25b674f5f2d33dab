// Measures a restart's way from the file into the program's memory against reading the file.
#include <elc.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "portable_format/checksum.h"
#include "state/state.h"
#include "store/store.h"
#include "tests/format/support.h"

namespace {

using namespace elc;

constexpr const char* kPurpose =
    R"(Measures how fast a restart takes a rank file into the program's memory, against a plain read of the file.

Files of arrays of doubles, of arrays of mixed structs, of the same with pointers, and of a heap of many blocks are
written as this machine would, as a big-endian one of 64 bits (s390x) and as a little-endian one of 32 bits (i386).
The ways to read one alternate, so that whatever else the machine does meets all of them alike:

  read     read(2) of the whole file into one buffer of 1 MiB
  +CRC     the same, and the CRC-32 of what is read
  restart  what the library does, in three passes:
             open   in MPI_Init: reads what is not the program's data
             check  reads what has pointers or other handles, or integers that may not fit, and looks at those
             fill   reads everything and converts it into the program's memory
           Each chunk's checksum is compared where it is read first.

warm: the file is in the page cache, and time is that of the processor; cold: it was dropped from there before each
run, and time is that of the clock. Gigabytes (10^9) of the file per second, medians of the runs; "of read" is the speed
of the restart against that of the plain read.)";

constexpr size_t kBuffer = size_t{1} << 20;

[[noreturn]] void fail(const std::string& text) {
  fprintf(stderr, "crossing: %s\n", text.c_str());
  exit(1);
}

void require(const Result& status) {
  if (!status.ok()) fail(status.message());
}

// ---- What the program has ----------------------------------------------------------------------

struct Record {
  char tag;
  short kind;
  int number;
  long count;
  double x;
  float corner[3];
};

struct Node {
  Record record;
  Node* next;
};

// `i` is any number: the values fit every machine.
Record record_of(size_t i) {
  const int n = static_cast<int>(i % 1000003);
  const float f = static_cast<float>(n);
  return {static_cast<char>('a' + n % 26), static_cast<short>(n % 30000), n, -2L * n, 0.5 * n, {f, f + 1, f + 2}};
}

bool same(const Record& a, const Record& b) {
  return a.tag == b.tag && a.kind == b.kind && a.number == b.number && a.count == b.count && a.x == b.x &&
         std::equal(a.corner, a.corner + 3, b.corner);
}

ELC_Type record_type() {
  const ELC_Field fields[] = {ELC_FIELD(Record, tag), ELC_FIELD(Record, kind),  ELC_FIELD(Record, number),
                              ELC_FIELD(Record, count), ELC_FIELD(Record, x), ELC_FIELD(Record, corner)};
  return ELC_Struct("record", sizeof(Record), 6, fields);
}

ELC_Type node_type() {
  const ELC_Field fields[] = {{"record", offsetof(Node, record), record_type(), 1}, ELC_POINTER_FIELD(Node, next)};
  return ELC_Struct("node", sizeof(Node), 2, fields);
}

// A program's data of one shape: `make` allocates, registers and fills about so many bytes, `wipe` forgets the values,
// `check` says whether they are there again.
struct Shape {
  virtual ~Shape() = default;
  virtual void make(size_t bytes) = 0;
  virtual void wipe() = 0;
  virtual bool check() = 0;
};

struct Doubles : Shape {
  std::vector<double> field;
  void make(size_t bytes) override {
    field.resize(bytes / sizeof(double));
    for (size_t i = 0; i < field.size(); ++i) field[i] = 0.25 * static_cast<double>(i);
    ELC_Register("field", field.data(), ELC_DOUBLE, field.size());
  }
  void wipe() override { std::fill(field.begin(), field.end(), 0); }
  bool check() override {
    for (size_t i = 0; i < field.size(); ++i)
      if (field[i] != 0.25 * static_cast<double>(i)) return false;
    return true;
  }
};

struct Structs : Shape {
  std::vector<Record> records;
  void make(size_t bytes) override {
    records.resize(bytes / sizeof(Record));
    for (size_t i = 0; i < records.size(); ++i) records[i] = record_of(i);
    ELC_Register("records", records.data(), record_type(), records.size());
  }
  void wipe() override { std::fill(records.begin(), records.end(), Record{}); }
  bool check() override {
    for (size_t i = 0; i < records.size(); ++i)
      if (!same(records[i], record_of(i))) return false;
    return true;
  }
};

// Each points to another, far away.
struct Pointers : Shape {
  std::vector<Node> nodes;
  Node* next_of(size_t i) { return &nodes[(i * 7919 + 1) % nodes.size()]; }
  void make(size_t bytes) override {
    nodes.resize(bytes / sizeof(Node));
    for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = {record_of(i), next_of(i)};
    ELC_Register("nodes", nodes.data(), node_type(), nodes.size());
  }
  void wipe() override { std::fill(nodes.begin(), nodes.end(), Node{}); }
  bool check() override {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!same(nodes[i].record, record_of(i)) || nodes[i].next != next_of(i)) return false;
    return true;
  }
};

// A list, each node a block.
struct Heap : Shape {
  Node* first = nullptr;
  void make(size_t bytes) override {
    const ELC_Type type = node_type();
    for (size_t i = bytes / sizeof(Node); i-- > 0;) {
      Node* node = static_cast<Node*>(ELC_new(type, 1));
      if (node == nullptr) fail("no memory");
      *node = {record_of(i), first};
      first = node;
    }
    ELC_PTR(first);
  }
  void wipe() override {
    for (Node* node = first; node != nullptr;) {
      Node* next = node->next;
      *node = {};
      node = next;
    }
    first = nullptr;
  }
  bool check() override {
    size_t i = 0;
    for (Node* node = first; node != nullptr; node = node->next)
      if (!same(node->record, record_of(i++))) return false;
    return i > 0;
  }
  ~Heap() override {
    while (first != nullptr) {
      Node* next = first->next;
      ELC_free(first);
      first = next;
    }
  }
};

template <class S>
std::unique_ptr<Shape> make_shape() {
  return std::make_unique<S>();
}

struct NamedShape {
  const char* name;
  std::unique_ptr<Shape> (*make)();
};
constexpr NamedShape kShapes[] = {{"doubles", make_shape<Doubles>},
                                  {"structs", make_shape<Structs>},
                                  {"pointers", make_shape<Pointers>},
                                  {"heap", make_shape<Heap>}};
const char* const kMachines[] = {"this machine", "s390x", "i386"};

// ---- The file ----------------------------------------------------------------------------------

constexpr store::Label kLabel = {1, 1, 0, 1};

format::Representation machine_of(const std::string& name) {
  for (const format::Machine& machine : format::machines())
    if (name == machine.name) return machine.representation;
  fail("there is no machine " + name);
}

void write_line(const char* dir, const format::Representation& machine) {
  store::RankFile file;
  require(file.open(dir, kLabel.line, kLabel.run, kLabel.rank));
  format::WriterOptions options;
  options.representation = &machine;
  format::Writer writer(&state::types(), file.sink(), options);
  store::write_label(writer, kLabel);
  require(state::save(writer, {}));
  require(writer.finish());
  require(file.finish());
  file.keep();
}

int open_file(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(std::string("cannot open ") + path);
  return fd;
}

// The share of the file that is in the page cache.
double cached(const char* path) {
  const int fd = open_file(path);
  const size_t size = std::filesystem::file_size(path), page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  void* at = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED || mincore(at, size, pages.data()) != 0) fail("cannot ask for what is cached");
  munmap(at, size);
  close(fd);
  return static_cast<double>(std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; })) /
         static_cast<double>(pages.size());
}

void drop_from_cache(const char* path) {
  const int fd = open_file(path);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
  if (cached(path) > 0.01) fail("this system does not drop a file from its cache: use --warm");
}

// ---- The ways to read it -----------------------------------------------------------------------

// What the disk has no part in is measured by the time of the processor, which others on the machine take less from.
clockid_t measure_by = CLOCK_MONOTONIC;

double now() {
  timespec time;
  clock_gettime(measure_by, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const std::function<void()>& work) {
  const double begin = now();
  work();
  return now() - begin;
}

void plain_read(const char* path, bool sum) {
  static std::vector<uint8_t> buffer(kBuffer);
  const int fd = open_file(path);
  uint32_t crc = 0;
  for (ssize_t n; (n = read(fd, buffer.data(), buffer.size())) != 0;) {
    if (n < 0) fail(std::string("cannot read ") + path);
    if (sum) crc = format::crc32_of(buffer.data(), static_cast<size_t>(n), crc);
  }
  close(fd);
  volatile uint32_t used = crc;
  (void)used;
}

enum Column { kRead, kReadSum, kRestart, kOpen, kCheck, kFill, kColumns };

struct Times {
  std::vector<double> of[kColumns];
  double median(Column column) const {
    std::vector<double> sorted = of[column];
    std::sort(sorted.begin(), sorted.end());
    return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  }
};

// As src/mpi/runtime/restart.cc.
void restart(const char* dir, Times* times) {
  store::Commit record;
  record.line = kLabel.line;
  record.run = kLabel.run;
  record.ranks = kLabel.ranks;
  store::RankSource source;
  format::Reader reader;
  double spent[3];
  spent[0] = seconds_of([&] { require(store::open_verified(dir, record, kLabel.rank, &source, &reader, state::is_filled_from)); });
  spent[1] = seconds_of([&] { require(state::check(reader)); });
  spent[2] = seconds_of([&] { require(state::make_places()), require(state::fill(reader, {})); });
  for (int i = 0; i < 3; ++i) times->of[kOpen + i].push_back(spent[i]);
  times->of[kRestart].push_back(spent[0] + spent[1] + spent[2]);
}

struct Options {
  size_t size = 1024;
  int repeat = 5;
  bool warm = false, cold = false;
  std::string dir = ".", shape, machine;
};

void measure(const Options& options, const char* dir, const NamedShape& named, const char* machine) {
  state::reset();
  const std::unique_ptr<Shape> shape = named.make();
  shape->make(options.size << 20);
  write_line(dir, machine_of(machine));
  const Text path = store::rank_path(dir, kLabel.line, kLabel.rank);
  const double gigabytes = 1e-9 * static_cast<double>(std::filesystem::file_size(path.c_str()));
  shape->wipe();
  Times first;
  restart(dir, &first);
  if (!shape->check()) fail("a restart has brought back other values");
  for (const bool cold : {false, true}) {
    if (cold ? options.warm : options.cold) continue;
    measure_by = cold ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    const auto prepare = [&] {
      if (cold) drop_from_cache(path.c_str());
    };
    Times times;
    for (int i = 0; i < options.repeat; ++i) {
      for (const Column column : {kRead, kReadSum}) {
        prepare();
        times.of[column].push_back(seconds_of([&] { plain_read(path.c_str(), column == kReadSum); }));
      }
      prepare();
      restart(dir, &times);
    }
    const auto speed = [&](Column column) { return gigabytes / times.median(column); };
    printf("%-9s %-13s %-5s %6.2f %6.2f %8.2f %8.2f   %6.3f = %.3f + %.3f + %.3f\n", named.name, machine,
           cold ? "cold" : "warm", speed(kRead), speed(kReadSum), speed(kRestart), speed(kRestart) / speed(kRead),
           times.median(kRestart), times.median(kOpen), times.median(kCheck), times.median(kFill));
    fflush(stdout);
  }
  std::filesystem::remove(path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(kPurpose);
  std::vector<std::string> shapes, machines(std::begin(kMachines), std::end(kMachines));
  for (const NamedShape& shape : kShapes) shapes.push_back(shape.name);
  app.add_option("--size", options.size, "MiB of data in the program's memory (1024)")->check(CLI::PositiveNumber);
  app.add_option("--repeat", options.repeat, "runs of each way (5)")->check(CLI::PositiveNumber);
  app.add_option("--dir", options.dir, "where the file is written (the current directory)");
  app.add_option("--shape", options.shape, "only this shape")->check(CLI::IsMember(shapes));
  app.add_option("--machine", options.machine, "only files of this machine")->check(CLI::IsMember(machines));
  CLI::Option* warm = app.add_flag("--warm", options.warm, "only from the page cache");
  app.add_flag("--cold", options.cold, "only from the disk")->excludes(warm);
  CLI11_PARSE(app, argc, argv);

  std::string dir = options.dir + "/elc-crossing-XXXXXX";
  if (mkdtemp(dir.data()) == nullptr) fail("cannot make a directory in " + options.dir);
  printf("GB/s:                         read   +CRC  restart  of read   seconds = open + check + fill\n");
  for (const NamedShape& shape : kShapes)
    for (const char* machine : kMachines)
      if ((options.shape.empty() || options.shape == shape.name) &&
          (options.machine.empty() || options.machine == machine))
        measure(options, dir.c_str(), shape, machine);
  std::filesystem::remove_all(dir);
}
