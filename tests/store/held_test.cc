// What is held for a file is in it when the thread is done, or nobody wants it any more, or its failure is told.
#include "store/held.h"

#include <doctest/doctest.h>
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "faulty_disk.h"

using namespace elc;

namespace {

constexpr size_t kSize = (size_t{9} << 20) + 12345;  // some of the pieces that a thread writes
constexpr uint64_t kRun = 7;

std::string pattern(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 >> 3);
  return bytes;
}

Result until_done(store::Held* held) {
  while (held->running()) sched_yield();
  return held->finish();
}

std::string content(const char* dir) {
  std::ifstream file(store::rank_path(dir, 1, 0).c_str(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

#ifdef MADV_HUGEPAGE
// What the system says of memory of this process: " rd wr ... hg "; empty where it says nothing.
std::string flags_of(const void* memory) {
  std::ifstream file("/proc/self/smaps");
  const auto at = reinterpret_cast<uintptr_t>(memory);
  bool is_there = false;
  for (std::string line; std::getline(file, line);) {
    unsigned long long begin, end;
    if (sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) is_there = begin <= at && at < end;
    if (is_there && line.rfind("VmFlags:", 0) == 0) return line.substr(8) + " ";
  }
  return "";
}
#endif

}  // namespace

#ifdef MADV_HUGEPAGE
TEST_CASE("the system is asked for huge pages, for whole pages") {
  constexpr size_t kMemory = size_t{8} << 20;
  void* const there = mmap(nullptr, kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(there != MAP_FAILED);
  auto* const memory = static_cast<char*>(there);
  madvise(memory, kMemory, MADV_DONTFORK);
  const bool is_told = flags_of(memory).find(" dc ") != std::string::npos;  // not by an emulator
  const bool has_some = std::filesystem::exists("/sys/kernel/mm/transparent_hugepage");
  store::use_huge_pages(memory + 1, kMemory - 2);
  if (is_told && has_some) {
    CHECK(flags_of(memory + kMemory / 2).find(" hg ") != std::string::npos);
    CHECK(flags_of(memory).find(" hg ") == std::string::npos);
    CHECK(flags_of(memory + kMemory - 1).find(" hg ") == std::string::npos);
  }
  munmap(memory, kMemory);
}
#endif

TEST_CASE("a thread writes what is held between what comes before and behind it") {
  test::FaultyDisk disk;
  store::RankFile file;
  store::Held held;
  if (!held.make_room(kSize)) return;  // no threads here
  const std::string bytes = pattern(kSize);
  for (uint64_t line : {1, 2}) {  // the room stays
    REQUIRE(held.make_room(kSize));
    REQUIRE(file.open(disk.dir(), line, kRun, 0).ok());
    REQUIRE(file.write("before", 6).ok());
    REQUIRE(held.append(bytes.data(), 1000));
    REQUIRE(held.append(bytes.data() + 1000, kSize - 1000));
    CHECK(!held.append("x", 1));
    held.start(&file);
    CHECK(held.started());
    REQUIRE(until_done(&held).ok());
    CHECK(!held.started());
    REQUIRE(file.write("behind", 6).ok());
    REQUIRE(file.finish().ok());
    CHECK(file.size() == kSize + 12);
    file.keep();
  }
  CHECK(content(disk.dir()) == "before" + bytes + "behind");
}

TEST_CASE("what has no room is written at once, in its order") {
  test::FaultyDisk disk;
  store::RankFile file;
  store::Held held;
  if (!held.make_room(4)) return;
  REQUIRE(file.open(disk.dir(), 1, kRun, 0).ok());
  REQUIRE(held.append("held", 4));
  CHECK(!held.append("more", 4));
  REQUIRE(held.write(&file).ok());
  REQUIRE(file.write("more", 4).ok());
  REQUIRE(file.finish().ok());
  file.keep();
  CHECK(content(disk.dir()) == "heldmore");
}

TEST_CASE("a failure of the thread is told, and what nobody wants keeps nobody waiting") {
  test::FaultyDisk disk;
  const std::string bytes = pattern(kSize);
  store::Held held;
  if (!held.make_room(kSize)) return;
  {
    store::RankFile file;
    REQUIRE(file.open(disk.dir(), 1, kRun, 0).ok());
    REQUIRE(held.append(bytes.data(), kSize));
    disk.full_at_write(disk.writes() + 2);
    held.start(&file);
    const Result result = until_done(&held);
    CHECK((!result.ok() && result.cause() == ENOSPC));
    disk.repair();
    file.discard();
  }
  store::RankFile file;
  REQUIRE(held.make_room(kSize));
  REQUIRE(file.open(disk.dir(), 1, kRun, 0).ok());
  REQUIRE(held.append(bytes.data(), kSize));
  held.start(&file);
  held.end();
  CHECK(!held.started());
  file.discard();
  CHECK(std::filesystem::is_empty(disk.dir()));
}
