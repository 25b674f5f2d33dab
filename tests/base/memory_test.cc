// The reserve, where memory really runs out: in a child whose address space is limited.
#include "base/memory.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string_view>

#include "base/vector.h"

using namespace elc;

namespace {

void* eaten[100000];
size_t meals = 0;

// Takes all that there is down to pieces of 64 bytes.
void eat() {
  for (size_t piece = 1 << 20; piece >= 64; piece /= 2)
    while (meals < 100000) {
      void* more = malloc(piece);
      if (more == nullptr) break;
      eaten[meals++] = more;
    }
}

void let_go() {
  while (meals > 0) free(eaten[--meals]);
}

// What `act` returns, in a child that may have 8 MiB more than it has: 0 is right, and -1 for one that aborted.
int in_a_small_child(int (*act)(), char* said, size_t room) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);  // the test program has a handler
    long pages = 0;
    FILE* about = fopen("/proc/self/statm", "r");
    if (about == nullptr || fscanf(about, "%ld", &pages) != 1) _exit(100);
    fclose(about);
    const rlim_t most = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (8 << 20);
    const struct rlimit limit = {most, most}, no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(101);
    _exit(act());
  }
  close(ends[1]);
  size_t size = 0;
  for (ssize_t more; size + 1 < room && (more = read(ends[0], said + size, room - 1 - size)) > 0;) size += static_cast<size_t>(more);
  said[size] = '\0';
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) == SIGABRT ? -1 : -2;
}

// A sanitizer has an allocator of its own, which takes memory as it likes.
#ifdef __has_feature
constexpr bool kSanitized = __has_feature(address_sanitizer);
#elif defined __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace

TEST_CASE("a small table finds room in the reserve, a large one leaves it alone" * doctest::skip(kSanitized)) {
  char said[1000];
  const int outcome = in_a_small_child(
      [] {
        if (memory_is_short() || !set_reserve_aside() || memory_is_short()) return 1;
        eat();
        void* first = allocate(1000);  // for good, of a piece that does not come back
        if (!memory_is_short() || !set_reserve_aside() || memory_is_short()) return 7;
        void* volatile asked = try_allocate(100000);  // volatile: a compiler may leave out what is not used, as if it had been had
        if (asked != nullptr || memory_is_short()) return 2;
        Vector<int> large;
        if (large.make_room(100000) || !large.empty() || memory_is_short()) return 3;
        void* small[20];
        for (void*& table : small) memset(table = allocate(20000), 1, 20000);
        if (!memory_is_short()) return 4;
        eat();  // not all that is left of the reserve can be had
        void* more = allocate(20000);
        if (set_reserve_aside() || !memory_is_short()) return 5;
        let_go();
        if (!set_reserve_aside() || memory_is_short() || !large.make_room(100000)) return 6;
        for (void* table : small) release(table);
        release(more);
        release(first);
        return 0;
      },
      said, sizeof said);
  CHECK(outcome == 0);
  CHECK(said[0] == '\0');
}

TEST_CASE("who needs more than the reserve says so and aborts" * doctest::skip(kSanitized)) {
  char said[1000];
  const int outcome = in_a_small_child(
      [] {
        set_reserve_aside();
        eat();
        for (;;) memset(allocate(50000), 1, 50000);
        return 0;
      },
      said, sizeof said);
  CHECK(outcome == -1);
  // An emulator adds that the program was aborted.
  const std::string_view words = "elc: out of memory: 50000 bytes for a table of the library; the program cannot go on\n";
  CHECK(std::string_view(said).substr(0, words.size()) == words);
}

TEST_CASE("room for more elements than there can be is refused") {
  Vector<uint64_t> v;
  CHECK(!v.make_room(SIZE_MAX));
  CHECK(!v.make_room(SIZE_MAX / 8));
  CHECK(v.make_room(3));
  v.push_back(7);
  CHECK((!v.make_room(SIZE_MAX / 8) && v.size() == 1 && v[0] == 7));
  const uint64_t* const place = v.data();
  CHECK(v.make_room(2));
  v.push_back(8);
  v.push_back(9);
  CHECK((v.data() == place && v[0] == 7 && v[2] == 9));
}
