// sim: random schedules of the coordination protocol.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <random>

#include "sim/faults.h"
#include "sim/growth.h"
#include "sim/scale.h"
#include "sim/schedule.h"
#include "sim/storm.h"

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void print(const sim::Stats& s, uint64_t schedules) {
  printf("  %" PRIu64 " schedules: %" PRIu64 " calls and looks, %" PRIu64 " messages, %" PRIu64
         " collectives, %" PRIu64 " control messages\n",
         schedules, s.steps, s.messages, s.collectives, s.control);
  printf("  lines: %" PRIu64 " committed, %" PRIu64 " abandoned, %" PRIu64
         " local checkpoints while replaying\n",
         s.lines, s.abandoned, s.lines_replaying);
  printf("  kills: %" PRIu64 "; restarts: %" PRIu64 " from a line, %" PRIu64 " from the start\n", s.kills,
         s.restarts, s.starts - schedules);
  printf("  recovered: %" PRIu64 " in transit, %" PRIu64 " orphans (%" PRIu64 " sends suppressed), %" PRIu64
         " crossing operations, %" PRIu64 " outcomes replayed, %" PRIu64 " receives held, %" PRIu64
         " processes with something to replay\n",
         s.in_transit, s.orphans, s.suppressed, s.crossing, s.replayed, s.held, s.restart_replaying);
  printf("  beside communicators: %" PRIu64 " groups joined, %" PRIu64 " fences, %" PRIu64 " operations on windows (%" PRIu64
         " put off), %" PRIu64 " lines between fences, %" PRIu64 " writes to files\n",
         s.joined, s.fences, s.accesses, s.put_off, s.lines_fenced, s.writes);
  printf("  persistent operations: %" PRIu64 " made, %" PRIu64 " starts, %" PRIu64 " made again by a restart, %" PRIu64
         " not, because others had freed them\n",
         s.persistent, s.begun, s.made_again, s.half_freed);
}

// Chooses a broken variant; false: there is none of this name (then the names are printed).
bool break_rule(const std::string& name, sim::Choice* choice) {
  for (const sim::Variant& v : sim::variants()) {
    if (name != v.name) continue;
    choice->fault = v.fault;
#ifdef ELC_TEST_FAULTS
    elc::line::left_out = v.rule;
#else
    if (v.rule != elc::line::Rule{}) {
      printf("this program has the library's own objects, which leave out no rule: use sim_broken\n");
      return false;
    }
#endif
    return true;
  }
  for (const sim::Variant& v : sim::variants()) printf("  %-12s %s\n", v.name, v.what);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Runs random programs on simulated processes that are killed and recovered, and checks what they "
      "observe."};
  uint64_t schedules = 10000, seed = std::random_device{}() | static_cast<uint64_t>(std::random_device{}())
                                                                  << 32;
  int scale = 0;
  size_t growth = 0;
  std::string broken;
  bool long_mode = false, show = false, plain = false, go_on = false, storms = false;
  sim::Choice choice;
  app.add_option("--schedules", schedules, "how many schedules to run (default 10000)");
  app.add_option("--seed", seed, "the first seed; with --schedules 1, a replay (default: random)");
  app.add_flag("--long", long_mode, "run until interrupted, with a report now and then");
  app.add_flag("--trace", choice.trace, "print the events");
  app.add_flag("--program", show, "print the program of the first seed");
  app.add_flag("--go-on", go_on, "do not stop at the first violation");
  app.add_flag("--plain", plain, "neither lines nor kills: a check of the programs and of the simulated MPI");
  app.add_flag("--storms", storms, "calls that come as they may, instead of programs");
  app.add_option("--break", broken, "leave out a rule of the protocol; \"list\" names what there is");
  app.add_option("--scale", scale, "instead: what a line and a restart cost each of 4, 16, ... and of so many processes");
  app.add_option("--growth", growth, "instead: what so many receives, pending messages and communicators cost each");
  CLI11_PARSE(app, argc, argv);
  if (growth > 0) {
    sim::print_growth(growth);
    return 0;
  }
  if (!broken.empty() && !break_rule(broken, &choice)) return 2;
  if (scale > 1) return sim::print_scale(scale) ? 0 : 1;
  choice.lines = !plain;
  printf("sim: seed %" PRIu64 "\n", seed);
  if (show) fputs(sim::program_of(seed).c_str(), stdout);
  sim::Stats total;
  const double begin = seconds();
  double reported = begin;
  uint64_t done = 0, violations = 0;
  for (; long_mode || done < schedules; ++done) {
    const uint64_t this_seed = seed + done;
    const sim::Verdict v = storms ? sim::run_storm(this_seed, choice.trace) : sim::run_schedule(this_seed, choice);
    total.add(v.stats);
    if (!v.violation.empty()) {
      printf("VIOLATION after %" PRIu64 " schedules, %" PRIu64
             " steps: %s\n  replay: sim %s--schedules 1 --seed %" PRIu64 " --trace\n",
             done, v.stats.steps, v.violation.c_str(), storms ? "--storms " : "", this_seed);
      if (!go_on) return 1;
      ++violations;
    }
    if (long_mode && seconds() - reported > 60) {
      reported = seconds();
      printf("%.0f s\n", reported - begin);
      print(total, done + 1);
      fflush(stdout);
    }
  }
  printf("%" PRIu64 " violations in %.1f s\n", violations, seconds() - begin);
  print(total, done);
  return violations == 0 ? 0 : 1;
}
