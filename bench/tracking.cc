// Measures two ways to find what has changed since the line before: a pass over all data, and page faults.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <vector>

#include "portable_format/piece_hash.h"

namespace {

using namespace elc::format;

constexpr const char* kPurpose =
    R"(Measures what it costs to find what has changed in a process's data since the line before, in two ways, which alternate:

  pass     all data is hashed, piece by piece (64 KiB), and compared with the hashes of before, as ELC_INCREMENTAL does
  faults   all pages are write-protected; a page's first change is a fault, by which it is noted and opened; what has a page
           that was noted is hashed

for several shares of the data that have changed, at scattered pages and in one place. Milliseconds, medians of the runs:
what the changes themselves took with it (without anything: "plain"), and what was done at the line.)";

size_t page_size;
uint8_t* data;
size_t data_size;
std::vector<uint8_t> noted;  // a page

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

void note_page(int, siginfo_t* info, void*) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(info->si_addr) - reinterpret_cast<uintptr_t>(data);
  if (at >= data_size) _exit(3);
  const size_t page = at / page_size;
  noted[page] = 1;
  if (mprotect(data + page * page_size, page_size, PROT_READ | PROT_WRITE) != 0) _exit(4);
}

void protect(int how) {
  if (mprotect(data, data_size, how) == 0) return;
  perror("tracking: mprotect");
  exit(1);
}

struct Hashes {
  PieceKey key;
  std::vector<PieceHash> of;

  // Of those pieces that are wanted; how many were others.
  size_t renew(const std::function<bool(size_t)>& wanted) {
    size_t others = 0;
    for (size_t i = 0; i < of.size(); ++i) {
      if (!wanted(i)) continue;
      const PieceHash hash = hash_of_piece(key, data + i * kPieceSize, kPieceSize);
      if (!(hash == of[i])) ++others;
      of[i] = hash;
    }
    return others;
  }
};

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

}  // namespace

int main(int argc, char** argv) {
  size_t mebibytes = 256;
  int repeat = 5;
  CLI::App app(kPurpose);
  app.add_option("--size", mebibytes, "MiB of data (256)")->check(CLI::PositiveNumber);
  app.add_option("--repeat", repeat, "runs (5)")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  data_size = mebibytes << 20;
  void* memory = mmap(nullptr, data_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("tracking: mmap");
    return 1;
  }
  data = static_cast<uint8_t*>(memory);
  memset(data, 1, data_size);
  const size_t pages = data_size / page_size;
  noted.assign(pages, 0);
  struct sigaction action = {};
  action.sa_sigaction = note_page;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);

  uint64_t state = 1;
  const auto random = [&state] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
  Hashes hashes;
  for (uint64_t& word : hashes.key.words) word = random() << 33 ^ random();
  hashes.of.resize(data_size / kPieceSize);
  hashes.renew([](size_t) { return true; });
  const size_t pages_a_piece = kPieceSize / page_size;
  std::vector<size_t> scattered(pages);
  for (size_t i = 0; i < pages; ++i) scattered[i] = i;
  for (size_t i = pages; i > 1; --i) std::swap(scattered[i - 1], scattered[random() % i]);

  printf("%zu MiB                       plain |   pass: changes   line |  faults: changes   line   both less\n", mebibytes);
  for (const bool together : {false, true})
    for (const double share : {0.001, 0.01, 0.1, 1.0}) {
      const size_t changed = std::max<size_t>(1, static_cast<size_t>(share * static_cast<double>(pages)));
      const auto change = [&] {
        const double begin = now();
        for (size_t i = 0; i < changed; ++i)
          for (size_t at = 0, page = together ? i : scattered[i]; at < page_size; at += sizeof(uint64_t)) {
            uint64_t value;
            memcpy(&value, data + page * page_size + at, sizeof value);
            value += state;
            memcpy(data + page * page_size + at, &value, sizeof value);
          }
        random();
        return now() - begin;
      };
      std::vector<double> plain, of_pass[2], of_faults[2];
      for (int run = 0; run < repeat; ++run) {
        plain.push_back(change());
        hashes.renew([](size_t) { return true; });

        of_pass[0].push_back(change());
        double begin = now();
        const size_t by_pass = hashes.renew([](size_t) { return true; });
        of_pass[1].push_back(now() - begin);

        begin = now();
        std::fill(noted.begin(), noted.end(), 0);
        protect(PROT_READ);
        const double protecting = now() - begin;
        of_faults[0].push_back(change());
        begin = now();
        const size_t by_faults = hashes.renew([&](size_t piece) {
          return memchr(&noted[piece * pages_a_piece], 1, pages_a_piece) != nullptr;
        });
        of_faults[1].push_back(now() - begin + protecting);
        protect(PROT_READ | PROT_WRITE);
        if (by_pass != by_faults) {
          fprintf(stderr, "tracking: %zu pieces have changed by one way, %zu by the other\n", by_pass, by_faults);
          return 1;
        }
      }
      const double pass = median(of_pass[0]) + median(of_pass[1]), faults = median(of_faults[0]) + median(of_faults[1]);
      printf("%5.1f %% %-18s %9.2f | %15.2f %6.2f | %16.2f %6.2f   %s\n", 100 * share, together ? "in one place" : "scattered",
             median(plain), median(of_pass[0]), median(of_pass[1]), median(of_faults[0]), median(of_faults[1]),
             pass < faults ? "pass" : "faults");
    }
  return 0;
}
