// A job in the simulator: its processes, their network, the control channel, and stable storage.
#ifndef ELC_TESTS_SIM_WORLD_H
#define ELC_TESTS_SIM_WORLD_H

#include <cstdarg>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/node.h"

namespace sim {

// Deliberate faults of the layer around the protocol: each must be seen by the checker (variants.cc).
// Those inside the protocol are elc::line::Rule.
enum class Fault : uint8_t {
  kNone,
  kSendOrphans,        // orphans are not suppressed
  kIgnoreQueue,        // recovery does not fill the pending queue
  kRepeatCrossing,     // a crossing collective runs again
  kForgetOutcomes,     // no W3
  kForgetProbes,       // trap 4: what a probe has shown does not count
  kReadySend,          // trap 8: a ready send stays one
  kUncountedIbarrier,  // trap 11: a non-blocking barrier does not count as a collective
  kBarrierUnaware,     // nothing wrong: barriers cross like any other operation
};

struct Config {
  bool lines = true;  // false: nobody asks for one (a check of the programs themselves)
  bool drain = true;
  uint64_t max_transit = 0;
  double fail_state = 0, fail_line = 0, fail_commit = 0;  // probabilities
  double slow_disk = 0;                                   // of a look that finds a file not yet stable
  double large = 0;                                       // of a message whose data come later
  double rendezvous = 0;  // of a standard send that waits for its receive where it may
  double look = 1;        // of a look at the protocol at a call
  double repeat = 0;      // of a waiting receive that a restart makes again, instead of restoring it
  bool look_in_collectives = true;  // false: as the library does
  Fault fault = Fault::kNone;
};

struct Stats {
  uint64_t steps = 0, kills = 0, restarts = 0, starts = 0, lines = 0, abandoned = 0, messages = 0,
           collectives = 0;
  uint64_t suppressed = 0, crossing = 0, replayed = 0, in_transit = 0, orphans = 0, control = 0, held = 0;
  uint64_t restart_replaying = 0, lines_replaying = 0;
  void add(const Stats& other);
};

class World {
 public:
  World(const Program& program, const Config& config, uint64_t seed);

  // ---- What a schedule does ----
  void step(Rank rank);
  void deliver(size_t stream);  // of network.streams()
  void arrive(size_t i) { network->arrive(i); }
  size_t control_pairs() const { return control_active_.size(); }
  std::pair<Rank, Rank> control_pair(size_t i) const;
  // false: the process that it is for does not look.
  bool deliver_control(size_t i);
  void request(Rank rank);
  // Everything is lost but what is stable; all processes restart from the newest committed line.
  void kill();
  bool finished() const;
  // After finished(): the invariants over the whole logical execution.
  void check();

  void fail(const char* format, ...) __attribute__((format(printf, 2, 3)));
  bool failed() const { return !violation.empty(); }
  void log(Rank rank, const char* format, ...) __attribute__((format(printf, 3, 4)));

  const Program program;
  Config config;
  std::string violation;
  bool trace = false;
  Stats stats;
  Random chance;   // of the world: what MPI and the machine choose
  Random entropy;  // of ELC_ND
  uint64_t incarnation = 0;
  std::unique_ptr<Network> network;
  std::unique_ptr<Collectives> collectives;
  std::vector<std::unique_ptr<Node>> nodes;
  // A kill in the middle of a call: from the moment it is set nothing leaves this job.
  bool doomed = false;
  // Called at points where a kill is interesting; may set doomed.
  enum class Moment { kSaveState, kBeforeFile, kAfterFile, kBeforeCommit, kAfterCommit, kRunning };
  static constexpr uint64_t kMoments = 6;
  void (*moment)(void* context, Moment moment) = nullptr;
  void* moment_context = nullptr;
  // Scripted answers of ELC_ND by rank, used first.
  std::map<Rank, std::deque<uint64_t>> scripted_nd;

  // ---- What nodes do ----
  void send_control(Rank from, Rank to, const uint8_t* data, size_t size);
  void point(Moment m) {
    if (moment != nullptr && !doomed) moment(moment_context, m);
  }
  bool save_state(Rank rank, elc::line::LineNumber line);
  bool save_line(Rank rank, elc::line::LineNumber line, const elc::line::Saved& saved);
  elc::line::Stable line_stable(Rank rank, elc::line::LineNumber line);
  bool commit(elc::line::LineNumber line, uint64_t points);
  void abandoned(elc::line::LineNumber line);
  uint64_t draw(Rank rank);
  elc::line::LineNumber committed() const { return committed_; }

 private:
  struct File {
    uint64_t incarnation = 0;
    App app;
    std::vector<uint8_t> saved;
  };
  using Line = std::vector<std::optional<File>>;

  void boot();
  void check_messages();
  void check_collectives();

  std::map<elc::line::LineNumber, Line> lines_;    // stable storage
  std::map<elc::line::LineNumber, Line> written_;  // files that may still be lost
  elc::line::LineNumber committed_ = 0;
  std::map<elc::line::LineNumber, std::vector<std::optional<App>>> states_;  // saved, file not complete
  std::vector<std::deque<std::vector<uint8_t>>> control_;                    // by from * processes + to
  std::vector<size_t> control_active_;
};

}  // namespace sim

#endif
