#include "mpi/runtime/examination.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/write.h"
#include "mpi/runtime/mappings.h"
#include "mpi/runtime/runtime.h"
#include "portable_format/checksum.h"
#include "state/random.h"
#include "state/state.h"
#include "store/system.h"

namespace elc::mpi {

struct Examination {
  Text dir;
  uint64_t sites = 0;    // that the program has come to, from its start
  Vector<uint64_t> at;   // where lines are to be taken
  size_t next = 0;       // of these
  uint64_t first = 0;    // the number of the first of these points
  bool resumes = false;  // there was no site since the restart
  uintptr_t stack = 0;   // how far it reached when memory was written down; 0: not known
  uint32_t registered = 0;  // a checksum of the registered memory then
};

namespace {

constexpr uint64_t kPatience = 10 * 1000000;  // microseconds that a site waits for the line before to end

Examination& here() { return *runtime.examination; }

Text path_of(const char* name) { return Text::format("%s/%s-%d", here().dir.c_str(), name, runtime.rank); }

class Output {
 public:
  explicit Output(const Text& path) : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) { check(fd_ >= 0); }
  Output(const Output&) = delete;
  ~Output() {
    if (fd_ >= 0) close(fd_);
  }
  void write(const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t n = write_unsignalled(fd_, at, size);
      if (n <= 0) return check(false);
      at += n, size -= static_cast<size_t>(n);
    }
  }
  void write(const Text& text) { write(text.c_str(), text.view().size()); }

 private:
  static void check(bool ok) {
    if (!ok) give_up(Result::error("elc doctor: a file of the examination in %s cannot be written", here().dir.c_str()));
  }
  int fd_;
};

// What was printed so far, in bytes. What Fortran has not flushed is not counted.
unsigned long long printed() {
  fflush(stdout);
  const off_t at = lseek(STDOUT_FILENO, 0, SEEK_CUR);
  return at < 0 ? 0 : static_cast<unsigned long long>(at);
}

uint32_t checksum_of_registered() {
  uint32_t sum = 0;
  state::each_saved(&sum, [](void* context, const char*, const void* address, uint64_t size) {
    uint32_t& all = *static_cast<uint32_t*>(context);
    all = format::crc32_of(address, static_cast<size_t>(size), all);
  });
  return sum;
}

// ---- The random numbers of the C library, whose state has no name ----

#if ELC_HAVE_RANDOM_STATE

// Calls `use` with the state of random() and rand(), which begins with a word that says its kind and where it stands.
template <class Use>
void with_random_state(Use use) {
  static const size_t kWords[] = {1, 8, 16, 32, 64};
  static char other[8];
  char* const state = initstate(1, other, sizeof other);
  if (state == nullptr) return;
  int32_t kind = 0;
  memcpy(&kind, state, sizeof kind);
  use(state, kWords[kind % 5] * sizeof kind);
  setstate(state);
}

void write_random(Output& file) {
  with_random_state([&](const char* state, size_t size) {
    file.write(Text::format("random %lu\n", static_cast<unsigned long>(size)));
    file.write(state, size);
  });
  uint16_t state[7];
  state::read_drand48(state);
  file.write(Text::format("rand48 %lu\n", static_cast<unsigned long>(sizeof state)));
  file.write(state, sizeof state);
}

void change_random(const uint8_t* bytes, size_t bytes_size) {
  with_random_state([&](char* state, size_t size) {
    if (size == bytes_size) memcpy(state, bytes, size);
  });
}

void change_rand48(const uint8_t* bytes, size_t size) {
  uint16_t state[7];
  if (size != sizeof state) return;
  memcpy(&state, bytes, size);
  lcong48(state);
}

#else
void write_random(Output&) {}
void change_random(const uint8_t*, size_t) {}
void change_rand48(const uint8_t*, size_t) {}
#endif

// ---- Memory ----

bool begins(const char* text, const char* with, size_t size) { return strncmp(text, with, size) == 0; }

// Whether it is the program's, or a library of its own: not the system's, and not of MPI's folder.
bool is_own(const char* path, const char* program, const char* mpi) {
  if (strcmp(path, program) == 0) return true;
  const char* const slash = strrchr(mpi, '/');
  const size_t folder = slash == nullptr || strcmp(mpi, program) == 0 ? 0 : static_cast<size_t>(slash - mpi) + 1;
  return path[0] == '/' && !begins(path, "/lib", 4) && !begins(path, "/usr/", 5) && !begins(path, "/dev/", 5) &&
         (folder == 0 || !begins(path, mpi, folder));
}

void write_region(Output& file, unsigned long begin, unsigned long end, unsigned long base, const char* path) {
  file.write(Text::format("region %lx %lx %lx %s\n", begin, end, base, path));
  file.write(reinterpret_cast<const void*>(begin), end - begin);
}

// A table of the process's memory, and then that of static variables: "region", its beginning, its end, the beginning of the
// file that it belongs to, its name, and the bytes. So are the heap and the stack in use, which belong to no file, where the
// registers are known.
void write_mappings(Output& file) {
  const Mappings mappings;
  file.write(Text::format("maps %lu\n", static_cast<unsigned long>(mappings.text().size())));
  file.write(mappings.text().data(), mappings.text().size());
  char program[4096] = "";
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return;
  const char* const mpi = mappings.path_at(reinterpret_cast<uintptr_t>(&PMPI_Init));
  const char *executable = "", *owner = "";
  const uintptr_t stack = here().stack;
  unsigned long end = 0;  // of the last one that was written
  for (const Mapping& m : mappings.all()) {
    if (m.rights[2] == 'x') executable = m.path;
    if (!begins(m.rights, "rw-p", 4)) continue;
    const bool own = strcmp(m.path, executable) == 0 && is_own(m.path, program, mpi);
    const bool behind = m.path[0] == '\0' && m.begin == end;  // what begins as zeros
    if (own) owner = m.path;
    if (own || behind) write_region(file, m.begin, end = m.end, mappings.base_of(owner), owner);
    else if (stack != 0 && strcmp(m.path, "[heap]") == 0) write_region(file, m.begin, m.end, 0, m.path);
    else if (m.begin <= stack && stack < m.end) write_region(file, stack, m.end, 0, "[stack]");
  }
}

void write_range(void* file, const char* what, const void* address, uint64_t size) {
  static_cast<Output*>(file)->write(Text::format("%s %lx %llx\n", what, reinterpret_cast<unsigned long>(address), static_cast<unsigned long long>(size)));
}

void write_memory(const Text& path, line::LineNumber line) {
  Output file(path);
  file.write(Text::format("line %u site %llu printed %llu\n", line, static_cast<unsigned long long>(here().sites), printed()));
  state::each_registered(&file, [](void* context, const char*, const void* address, uint64_t size) { write_range(context, "variable", address, size); });
  state::each_saved(&file, [](void* context, const char*, const void* address, uint64_t size) { write_range(context, "registered", address, size); });
  write_random(file);
  store::with_registers([](void* context, const uint64_t* registers, size_t count) {
    Output& out = *static_cast<Output*>(context);
    here().stack = count == 0 ? 0 : reinterpret_cast<uintptr_t>(registers);
    out.write(Text::format("registers %lu\n", static_cast<unsigned long>(count * sizeof *registers)));
    out.write(registers, count * sizeof *registers);
    write_mappings(out);
  }, &file);
  file.write(Text::copy("end\n"));
}

// The place is an offset, behind which pointers are followed: "1f0*18" is 0x18 behind what the pointer at 0x1f0 points to.
void change_bytes(uintptr_t base, const char* place, const uint8_t* bytes, size_t size, const Mappings& mappings) {
  char* next = nullptr;
  uintptr_t at = base + static_cast<uintptr_t>(strtoll(place, &next, 16));
  while (*next == '*') {
    if (!mappings.readable(at, sizeof at)) return;
    memcpy(&at, reinterpret_cast<const void*>(at), sizeof at);
    at += static_cast<uintptr_t>(strtoll(next + 1, &next, 16));
  }
  if (mappings.readable(at, size)) memcpy(reinterpret_cast<void*>(at), bytes, size);
}

// Gives memory the values that it had when the line was taken, to see what becomes of the program then.
void change_memory() {
  Bytes bytes;
  read_all(path_of("change").c_str(), &bytes);
  const Mappings mappings;
  for (size_t at = 0; at < bytes.size();) {
    char line[5120] = "", what[512] = "";
    size_t length = 0;
    for (; at < bytes.size() && bytes[at] != '\n' && length < sizeof line - 1; ++at) line[length++] = static_cast<char>(bytes[at]);
    ++at;
    unsigned long size = 0;
    int path = 0;
    if (sscanf(line, "%511s %lu %n", what, &size, &path) < 2 || at > bytes.size() || size > bytes.size() - at) return;
    const unsigned long base = strcmp(line + path, "[stack]") == 0 ? here().stack : mappings.base_of(line + path);
    if (strcmp(what, "random") == 0) change_random(&bytes[at], size);
    else if (strcmp(what, "rand48") == 0) change_rand48(&bytes[at], size);
    else if (base != 0) change_bytes(base, what, &bytes[at], size, mappings);
    at += size;
  }
}

void read_plan() {
  Bytes bytes;
  read_all(Text::format("%s/plan", here().dir.c_str()).c_str(), &bytes);
  bytes.push_back(0);
  const char* at = reinterpret_cast<const char*>(bytes.data());
  while (*at != '\0') {
    char* end = nullptr;
    const bool ours = strtol(at, &end, 10) == runtime.rank;
    Vector<uint64_t> numbers;
    for (at = end; *at == ' '; at = end) {
      numbers.push_back(strtoull(at, &end, 10));
      if (end == at) break;
    }
    if (*at != '\n' || numbers.size() < 2) return give_up(Result::error("elc doctor: the plan in %s is none", here().dir.c_str()));
    ++at;
    if (!ours) continue;
    here().sites = numbers[0];
    here().first = numbers[1];
    for (size_t i = 2; i < numbers.size(); ++i) here().at.push_back(numbers[i]);
  }
}

void print_to_file() {
  const int fd = open(path_of("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return give_up(Result::error("elc doctor: %s cannot be written", path_of("out").c_str()));
  fflush(stdout);
  dup2(fd, STDOUT_FILENO);
  close(fd);
}

}  // namespace

void begin_examination() {
  const char* const dir = getenv("ELC_DOCTOR");
  if (dir == nullptr || *dir == '\0') return;
  runtime.examination = make<Examination>();
  here().dir = Text::copy(dir);
  read_plan();
  print_to_file();
}

void examine_restored() {
  if (runtime.examination == nullptr) return;
  here().resumes = true;
  write_memory(path_of("restored"), 0);
  change_memory();
  here().registered = checksum_of_registered();
}

// A program may come to the site again at which its line was taken, or go on behind it: it has come to it again if nothing
// was done to its data.
static void resume() {
  here().resumes = false;
  const bool again = checksum_of_registered() == here().registered;
  if (!again) here().sites += 1;
  Output(path_of("resumed")).write(Text::format("site %llu again %d printed %llu\n", static_cast<unsigned long long>(here().sites),
                                              again ? 1 : 0, printed()));
}

void come_to_examined_site() {
  Examination& e = here();
  if (e.resumes) resume();
  else e.sites += 1;
  if (!is_examined_site()) return;
  line::Coordinator& process = *runtime.coordinator;
  const uint64_t begin = now();
  wait_until([&] { return !process.line_open() || now() - begin > kPatience; });
  if (!process.line_open()) return process.request();
  process.decline(process.last_line() + 1, "elc doctor: the line before had not ended at this site");
  e.next += 1;
}

bool is_examined_site() { return here().next < here().at.size() && here().sites >= here().at[here().next]; }

void examine_line(line::LineNumber line) {
  if (runtime.examination == nullptr) return;
  Examination& e = here();
  const auto point = static_cast<unsigned long long>(e.first + e.next);
  e.next += 1;
  write_memory(path_of(Text::format("point-%llu", point).c_str()), line);
}

void end_examination() {
  if (runtime.examination == nullptr) return;
  Output(path_of("sites")).write(Text::format("%llu\n", static_cast<unsigned long long>(here().sites)));
}

}  // namespace elc::mpi
