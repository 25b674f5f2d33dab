// The coordinator Event Logging: recovery lines by counted envelopes (thesis 3.3; the optimised logs of the Event
// Logging paper, 4.2; extended as PROTOCOL.md describes). It is made of parts, each of which can be read by itself:
//
//     Comms, Operations    communicators and the collective operations on them
//     Counts               sends and receives by envelope class
//     Receives             who answers a receive, what is received when, the pending queue
//     Replay               what is left of the log of the line restarted from
//     Window, Line         what the open line keeps, and its way from the local checkpoint to commit or refusal
//     Control              what processes tell each other
//     Forgetting           freed communicators, where no line is taken
//
// What is here hands events to the parts, asks for lines, and carries votes between line and control channel.
#ifndef ELC_LINE_EVENT_LOGGING_H
#define ELC_LINE_EVENT_LOGGING_H

#include "line/coordinator.h"
#include "line/forgetting.h"
#include "line/line.h"
#include "line/rules.h"

namespace elc::line {

class EventLogging final : public Coordinator {
 public:
  EventLogging(const Host& host, Rank self, Rank processes, Options options);
  ~EventLogging() override { destroy(line_); }

  Comm add_comm(Identity identity, uint32_t size) override;
  void free_comm(Comm comm) override;
  Identity identity(Comm comm) const override { return comms_[comm].identity; }
  bool knows(Identity identity) const override { return comms_.find(identity) != nullptr; }

  bool on_send(Rank to, Comm comm, Tag tag) override;
  void sent_synchronously(Rank to, Comm comm, Tag tag) override;
  void waited_synchronously() override;

  // What on_send, post and observe do where all is usual(); the last where is_usual(), too. receive_usual: post and observe
  // of a receive; false: call these.
  void send_usual(Rank to, Comm comm, Tag tag) { ++counts_.at(to, comm, tag).sent; }
  // The same for a message whose class has a counter, that is found and counts one more: sent, or posted and observed at once
  // where none_posted().
  bool has_found(const Counter& counter) const { return counts_.has_found(counter); }
  void find(Counter& counter) { counts_.find(counter); }
  // Starts a collective operation that nothing else is to be done for. false: start_collective has to.
  bool start_usual(Comm comm) {
    if (!operations_.idle()) return false;
    operations_.start(comm);
    return true;
  }
  // No receive is posted, and no probe has shown anything: nothing follows for others from one that is posted and observed.
  bool none_posted() const { return receives_.none_posted(); }
  void post_usual(Posting& posting) { receives_.post_usual(posting); }
  bool receive_usual(Comm comm, Rank source, Tag tag) { return receives_.receive_usual(comm, source, tag); }
  bool is_usual(const Posting& posting) const { return receives_.is_usual(posting); }
  void observe_usual(Posting& posting, Rank source, Tag tag) { receives_.observe_usual(posting, source, tag); }

  bool post(Posting& posting) override {
    if (usual_) {
      post_usual(posting);
      return true;
    }
    const bool given = stopped_ || receives_.post(posting);
    if (receives_.left_log()) [[unlikely]] end_replay();
    return given;
  }
  bool post_again(Posting& posting, uint64_t number) override;
  void observe(Posting& posting, Rank source, Tag tag) override {
    if (usual_ && is_usual(posting)) observe_usual(posting, source, tag);
    else if (!stopped_) receives_.observe(posting, source, tag);
  }
  Fate cancel(Posting& posting) override;
  void withdraw(Posting& posting) override {
    if (!stopped_) receives_.withdraw(posting);
  }
  const Message* queued(const Pattern& pattern) override { return receives_.queued(pattern); }
  bool holds(Comm comm) const override { return receives_.holds(comm); }
  bool may_show(Comm comm, Rank source, Tag tag) const override { return receives_.may_show(comm, source, tag); }
  Message* take_queued(const Pattern& pattern) override { return receives_.take_queued(pattern); }
  void on_probe(Comm comm, Rank source, Tag tag) override {
    if (!stopped_) receives_.on_probe(comm, source, tag);
  }
  Message* take_matched(Comm comm, Rank source, Tag tag) override {
    return stopped_ ? nullptr : receives_.take_matched(comm, source, tag);
  }
  bool quiet() const override { return line_ == nullptr && receives_.queue_empty() && !replaying_; }

  uint64_t operations(Comm comm) const override { return comms_[comm].operations; }
  uint64_t start_collective(Comm comm) override { return operations_.start(comm); }
  bool ignores_results() const override { return line_ == nullptr && operations_.idle(); }
  const Bytes* logged_result(Comm comm, uint64_t number) const override {
    return operations_.logged_result(comm, number);
  }
  bool wants_result(Comm comm, uint64_t number) const override { return operations_.wants(comm, number); }
  void end_collective(Comm comm, uint64_t number, Bytes result) override;
  void end_unfollowed(Comm comm, uint64_t number, const char* call) override;
  void tell_members(Comm comm, const Rank* others, size_t count) override;
  void on_group_call(const Rank* others, size_t count, const char* call) override;
  void on_pair_call(Rank other, bool sends, const char* call) override;
  void pending_collective(Comm comm, uint64_t number) override { operations_.pending(comm, number); }

  uint64_t account() const override;
  void end_set_up(uint64_t account) override { set_up_ = account; }

  const Bytes* replay_outcome(NdKind kind) override;
  void record_outcome(NdKind kind, const Bytes& outcome) override;
  void end_replay() override;

  void request() override;
  void request_line(LineNumber line) override;
  bool due() const override {
    return requested_ > last_line_ && line_ == nullptr && !finalizing_ &&
           declined_ <= last_line_ && (!never_ || !applies(Rule::kNever)) && running_ && (!forgetting_.on() || !applies(Rule::kForgetTogether));
  }
  bool site() override { return due() && take(); }
  bool site_now() override { return asks_now() && site(); }
  void pass_now() override { asks_now(); }
  LineNumber last_line() const override { return last_line_; }
  LineNumber newest_line() const override { return requested_ > last_line_ ? requested_ : last_line_; }
  void decline(LineNumber line, const char* reason) override;
  LineNumber committed_line() const override { return committed_; }
  bool line_open() const override { return line_ != nullptr; }
  void add_cost(uint64_t cost) override;
  void tell_removed() override {
    if (!finished_) control_.flood_removed(self_);
  }

  void on_control(Rank from, const uint8_t* data, size_t size) override;
  void refuse_line(const char* reason) override {
    if (line_ != nullptr) line_->refuse_while_open(reason);
  }
  void poll() override;
  bool busy() const override {
    return line_ != nullptr || replay_.anywhere() || !running_ || finalizing_ || (never_ && !stop_voted_) ||
           forgetting_.on() || declined_ > last_line_;
  }

  Result load(Saved&& saved) override;
  void start_recovery() override;
  bool running() const override { return running_; }
  void number_from(LineNumber line) override { last_line_ = requested_ = line; }

  void never() override { hear_never(self_); }
  void finalize() override;
  bool finished() const override { return finished_; }

 private:
  bool suppress(ClassCount& count);
  void count_with(const Rank* others, size_t count, Comm comm, Tag tag);
  // In a replay: others have what this process has not come to again.
  bool depended_on() const { return replay_.suppresses() || operations_.repeats(); }
  void forget_log();
  // A call of site_now: whether it asks for a line.
  bool asks_now();
  bool take();
  void open_line();
  void close(const Vote& result);
  void vote(ConsensusKind kind, const Vote& own);
  void conclude(ConsensusKind kind, Vote& merged);
  void decide(ConsensusKind kind, const Vote& result);
  void take_orphans(Rank from, const Vector<WireCount>& counts);
  void hear_never(Rank from);
  void begin_forgetting(uint32_t round, Rank from);
  void forget(const Vote& freed);
  void step_line();
  void step_commit();
  void step_recovery();
  void step_release();
  void set_flags();
  void set_usual(bool usual);

  const Host host_;
  const Rank self_;
  const Rank processes_;
  const Options options_;

  Comms comms_;
  Counts counts_;
  Operations operations_;
  Window window_;
  Replay replay_;
  Receives receives_;
  Control control_;
  Forgetting forgetting_;

  Line* line_ = nullptr;  // the open one
  bool commits_ = false;  // process 0, which has all votes and writes the record
  Vote committing_;
  LineNumber last_line_ = 0;
  LineNumber requested_ = 0;
  LineNumber committed_ = 0;
  LineNumber declined_ = 0;             // the last that decline() was told, and why
  const char* why_declined_ = nullptr;
  uint64_t calls_ = 0;   // of site_now
  uint64_t points_ = 0;  // D of section 2
  bool early_call_ = false;
  const char* group_call_ = nullptr;  // the last one
  uint64_t set_up_ = 0;               // its account

  bool never_ = false;        // there will be no line
  bool stop_voted_ = false;
  bool all_stopped_ = false;  // all know it, and none is open

  bool running_ = true;
  bool told_orphans_ = false;
  bool restart_voted_ = false;
  bool finalizing_ = false;
  bool finalize_voted_ = false;
  bool finished_ = false;
};

}  // namespace elc::line

#endif
