#include "sim/schedule.h"

#include <cstdio>

#include "sim/world.h"

namespace sim {
namespace {

// When everything is killed: at a number of steps, or at one of the moments that matter most.
struct KillPlan {
  bool at_moment = false;
  World::Moment moment = World::Moment::kRunning;
  uint64_t count = 0;
  uint64_t lines = 0;  // not before so many lines have committed in this incarnation
};

Program make_program(uint64_t seed) {
  Random random(combine(seed, 4));
  return generate(random);
}

class Schedule {
 public:
  Schedule(uint64_t seed, const Choice& choice)
      : random_(combine(seed, 3)), world_(make_program(seed), make_config(seed, choice), seed) {
    world_.trace = choice.trace;
    world_.moment_context = this;
    world_.moment = [](void* c, World::Moment m) { static_cast<Schedule*>(c)->reached(m); };
    kills_ = random_.chance(0.15) ? 0 : random_.between(1, random_.chance(0.2) ? 8 : 3);
    if (!choice.lines) kills_ = 0;
    requests_ = random_.chance(0.1) ? 0 : random_.between(1, 12) * (random_.chance(0.2) ? 0.02 : 0.002);
    plan();
    reweigh();
  }

  Verdict run();

 private:
  static Config make_config(uint64_t seed, const Choice& choice);
  void plan();
  void reweigh();
  void reached(World::Moment m);
  void event();
  bool armed() const { return world_.stats.lines >= lines_before_ + plan_.lines; }
  void kill();
  void partial_kill();

  // Far more than any program needs: beyond it something hangs.
  static constexpr uint64_t kMostEvents = 600000;

  Random random_;
  World world_;
  int kills_ = 0;
  double requests_ = 0;
  KillPlan plan_;
  uint64_t events_ = 0;
  uint64_t dead_since_ = 0;
  uint64_t lines_before_ = 0;  // at the last start
  uint64_t since_ = 0;         // events since the kill was armed
  uint32_t weight_[5] = {};    // processes, messages, data, control messages, operations on memory windows
  std::vector<uint32_t> process_weight_;
};

Config Schedule::make_config(uint64_t seed, const Choice& choice) {
  Random r(combine(seed, 5));
  Config c;
  c.drain = r.chance(0.8);
  if (r.chance(0.05)) c.max_transit = 24 * static_cast<uint64_t>(r.between(1, 4));
  if (r.chance(0.7)) c.most_freed = r.below(4);
  if (r.chance(0.15)) c.fail_state = 0.1;
  if (r.chance(0.15)) c.fail_line = 0.1;
  if (r.chance(0.1)) c.fail_commit = 0.2;
  if (r.chance(0.5)) c.slow_disk = 0.8;
  c.large = r.chance(0.5) ? 0 : 0.3;
  c.rendezvous = r.chance(0.5) ? 0.5 : 1;
  c.look = r.chance(0.5) ? 1 : 0.2;
  c.pass = r.chance(0.3) ? 0.3 : 0;
  c.shortcuts = r.chance(0.5);
  c.repeat = r.chance(0.5) ? 0 : 0.5;
  c.look_in_collectives = r.chance(0.2);
  c.lines = choice.lines;
  c.fault = choice.fault;
  if (c.fault == Fault::kNone && r.chance(0.1)) c.fault = Fault::kBarrierUnaware;
  if (r.chance(0.15)) c.fail_memory = 0.1;
  if (r.chance(0.5)) c.slow_release = 0.8;
  return c;
}

void Schedule::plan() {
  lines_before_ = world_.stats.lines;
  since_ = 0;
  plan_.lines =
      random_.chance(0.3) ? 0 : static_cast<uint64_t>(random_.between(1, random_.chance(0.7) ? 1 : 4));
  plan_.at_moment = random_.chance(0.5);
  if (plan_.at_moment) {
    plan_.moment = static_cast<World::Moment>(random_.below(World::kMoments));
    plan_.count = static_cast<uint64_t>(random_.between(1, 6));
  } else {
    plan_.count = random_.below(1u << random_.between(2, 12));
  }
}

void Schedule::reached(World::Moment m) {
  if (kills_ <= 0 || world_.calm || !plan_.at_moment || plan_.moment != m || !armed()) return;
  if (--plan_.count == 0) world_.doomed = true;
}

// Now and then the world changes its pace: one process, or the network, or the control channel
// becomes slow or fast.
void Schedule::reweigh() {
  for (uint32_t& w : weight_) w = 1u << random_.between(0, 6);
  process_weight_.resize(static_cast<size_t>(world_.program.processes));
  for (uint32_t& w : process_weight_) w = random_.chance(0.2) ? 1 : 1u << random_.between(2, 6);
}

void Schedule::event() {
  ++events_;
  if (random_.below(150) == 0) reweigh();
  if (random_.chance(requests_)) world_.request(random_.between(0, world_.program.processes - 1));
  const size_t choices[5] = {1, world_.network->streams(), world_.network->arriving(), world_.control_pairs(),
                             world_.accesses.size()};
  uint32_t total = 0;
  for (size_t i = 0; i < 5; ++i) total += choices[i] > 0 ? weight_[i] : 0;
  uint32_t at = random_.below(total);
  size_t what = 0;
  for (;; ++what) {
    const uint32_t w = choices[what] > 0 ? weight_[what] : 0;
    if (at < w) break;
    at -= w;
  }
  switch (what) {
    case 0: {
      uint32_t sum = 0;
      for (uint32_t w : process_weight_) sum += w;
      uint32_t left = random_.below(sum);
      size_t rank = 0;
      while (left >= process_weight_[rank]) left -= process_weight_[rank++];
      if (!world_.nodes[rank]->dead) world_.step(static_cast<Rank>(rank));
      break;
    }
    case 1:
      world_.deliver(random_.below(choices[1]));
      break;
    case 2:
      world_.arrive(random_.below(choices[2]));
      break;
    case 3:
      world_.deliver_control(random_.below(choices[3]));
      break;
    case 4:
      world_.reach(random_.below(choices[4]));
      break;
  }
}

void Schedule::kill() {
  --kills_;
  events_ = 0;
  dead_since_ = 0;
  world_.kill();
  plan();
}

// Some processes die first; the others go on for a while without knowing.
void Schedule::partial_kill() {
  dead_since_ = events_;
  for (auto& node : world_.nodes) node->dead = random_.chance(0.4);
}

Verdict Schedule::run() {
  while (!world_.failed() && (!world_.finished() || world_.doomed)) {
    event();
    if (world_.doomed) {
      kill();
    } else if (dead_since_ > 0) {
      if (random_.below(200) == 0 || world_.finished()) kill();
    } else if (kills_ > 0 && !world_.calm && !plan_.at_moment && armed() && ++since_ >= plan_.count) {
      if (random_.chance(0.3))
        partial_kill();
      else
        kill();
    } else if (events_ > kMostEvents && world_.strayed) {
      kill();  // the library would have ended such a job, and here others wait for what it does not do
    } else if (events_ > kMostEvents) {
      world_.fail("no progress: after %llu events the processes are not done",
                  static_cast<unsigned long long>(events_));
      if (world_.trace)
        for (Rank r = 0; r < world_.program.processes; ++r)
          world_.log(r, "%s", world_.nodes[static_cast<size_t>(r)]->situation().c_str());
    }
  }
  if (!world_.failed()) world_.check();
  return {world_.violation, world_.stats};
}

}  // namespace

std::string program_of(uint64_t seed) {
  const Program p = make_program(seed);
  std::string text;
  for (size_t r = 0; r < p.code.size(); ++r)
    for (size_t i = 0; i < p.code[r].size(); ++i)
      text += "rank " + std::to_string(r) + " " + std::to_string(i) + " " + describe(p.code[r][i]) + "\n";
  return text;
}

Verdict run_schedule(uint64_t seed, const Choice& choice) {
  return without_leaks([&] { return Schedule(seed, choice).run(); });
}

}  // namespace sim
