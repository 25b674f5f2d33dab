// A job in the simulator: its processes, their network, the control channel, and stable storage.
#ifndef ELC_TESTS_SIM_WORLD_H
#define ELC_TESTS_SIM_WORLD_H

#include <algorithm>
#include <cstdarg>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/config.h"
#include "sim/node.h"

namespace sim {

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

  Program program;
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
  bool no_more = false;  // somebody has said that no line can be taken
  bool strayed = false;  // a process has, since the last kill, while others depended on it
  bool calm = false;  // nothing fails any more, and nothing is killed
  // Called at points where a kill is interesting; may set doomed.
  enum class Moment { kSaveState, kBeforeFile, kAfterFile, kBeforeCommit, kAfterCommit, kRunning };
  static constexpr uint64_t kMoments = 6;
  void (*moment)(void* context, Moment moment) = nullptr;
  void* moment_context = nullptr;
  // Scripted answers of ELC_ND by rank, used first.
  std::map<Rank, std::deque<uint64_t>> scripted_nd;

  // ---- Memory windows and files ----
  struct Reach {  // an operation that MPI executes some time
    uint64_t window = 0;
    Rank origin = 0;
    size_t access = 0;
  };
  std::vector<Reach> accesses;
  void reach(size_t i);
  void reach_all(uint64_t window);
  std::map<std::pair<Rank, uint64_t>, uint64_t> files;  // by process and place

  // In a restart MPI makes a persistent operation again, which takes all members.
  void make_again(Rank rank, const CommInfo& operation);

  // ---- What nodes do ----
  void send_control(Rank from, Rank to, const uint8_t* data, size_t size);
  void point(Moment m) {
    if (moment != nullptr && !doomed) moment(moment_context, m);
  }
  void vote_for_release(Rank rank);
  bool all_voted_for_release();
  elc::Result save_state(Rank rank, elc::line::LineNumber line);
  elc::Result state_saved(Rank rank, elc::line::LineNumber line, bool* saved);
  elc::Result save_line(Rank rank, elc::line::LineNumber line, const elc::line::Saved& saved);
  elc::Result line_stable(Rank rank, elc::line::LineNumber line, bool* stable);
  elc::Result commit(elc::line::LineNumber line, uint64_t points, uint64_t cost, bool* done);
  // Whether there is no memory for a message that this line has to hold; and why the line cannot be kept then.
  bool starved(Rank rank, elc::line::LineNumber line);
  const char* spoiled(Rank rank, elc::line::LineNumber line) const;
  // A refused line names one process and one reason everywhere.
  void refused(Rank rank, elc::line::LineNumber line, const elc::line::Refusal& refusal);
  // A line has ended at this process; the same for all.
  void ended(Rank rank, elc::line::LineNumber line, bool committed);
  void cost(elc::line::LineNumber line, uint64_t cost) { costs_[line] = std::max(costs_[line], cost); }
  // The line that has to commit before processes leave the instruction kLines of this name; it becomes known
  // when the first one comes there.
  elc::line::LineNumber goal(const Instr& instr);
  void give_up(const Instr& instr) { goals_[instr.tag] = 0; }
  // Whether an asked-for line has to commit some time.
  bool lives() const { return config.lines && config.max_transit == 0; }
  // D of the last line that has committed up to this one.
  uint64_t points_of(elc::line::LineNumber line) const {
    const auto at = points_.find(line);
    return at == points_.end() ? 0 : at->second;
  }
  uint64_t draw(Rank rank);
  elc::line::LineNumber committed() const { return committed_; }

 private:
  struct File {
    uint64_t incarnation = 0;
    bool replaying = false;
    App app;
    std::vector<uint8_t> saved;
  };
  using Line = std::vector<std::optional<File>>;

  void boot();
  elc::Result trouble(Rank rank, elc::line::LineNumber line, const char* what);
  void check_messages();
  void check_collectives();
  void check_window(Rank target, const Window& window, const std::vector<const App*>& apps, bool at_end);
  void check_objects(const std::vector<const App*>& apps, bool at_end);
  void cut_files();
  void check_line(elc::line::LineNumber line, uint64_t points, uint64_t cost);
  void check_file(Rank rank, elc::line::LineNumber line, uint64_t points, const App& app,
                  const elc::line::Saved& saved);
  void check_in_transit(const Line& files, const std::vector<elc::line::Saved>& saved);
  void check_crossing(const Line& files, const std::vector<elc::line::Saved>& saved);
  bool fails(double p);
  void abandoned(elc::line::LineNumber line);

  std::map<elc::line::LineNumber, std::string> refusals_;  // of this incarnation, with the rank
  std::map<elc::line::LineNumber, std::set<Rank>> failed_;   // whose state or file was not saved
  std::map<Rank, elc::line::LineNumber> starved_;            // who had no memory for a message of this line
  std::map<elc::line::LineNumber, Line> lines_;    // stable storage
  std::map<elc::line::LineNumber, Line> written_;  // files that may still be lost
  elc::line::LineNumber committed_ = 0;
  struct State {
    App app;
    bool replaying;
  };
  std::map<elc::line::LineNumber, std::vector<std::optional<State>>> states_;  // saved, file not complete
  std::map<elc::line::LineNumber, uint64_t> points_;   // D of lines that have committed
  std::map<elc::line::LineNumber, uint64_t> costs_;    // the largest of a process
  std::map<elc::line::LineNumber, bool> verdicts_;     // committed or not, in this incarnation
  std::map<int, elc::line::LineNumber> goals_;
  std::vector<std::deque<std::vector<uint8_t>>> control_;                    // by from * processes + to
  std::vector<size_t> control_active_;
  std::set<Rank> for_release_;  // who has voted, in this incarnation
};

}  // namespace sim

#endif
