#include "mpi/line_file.h"

#include <stdlib.h>

#include "base/message.h"
#include "mpi/handles.h"
#include "mpi/runtime.h"
#include "mpi/saved_mpi.h"
#include "state/state.h"

namespace elc::mpi {
namespace {

// The file of the open line, from the local checkpoint until the line ends.
store::RankFile file;
format::Writer* writer = nullptr;
double line_cost = -1;  // seconds
Text last_problem;      // said already

// Paths and counts differ from line to line while the trouble is the same.
bool same_but_for_digits(const char* a, const char* b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (;; ++a, ++b) {
    while (digit(*a)) ++a;
    while (digit(*b)) ++b;
    if (*a != *b) return false;
    if (*a == '\0') return true;
  }
}

// A line cannot be taken or finished: said when it is news.
void problem(line::LineNumber line, const Status& why) {
  if (!same_but_for_digits(last_problem.c_str(), why.message()))
    say("line %u is abandoned, the program runs on: %s", line, why.message());
  last_problem = Text::copy(why.message());
}

const char* dir() { return runtime.config.dir.c_str(); }

Status write_state(line::LineNumber line) {
  if (runtime.cannot != nullptr) return Status::error("%s", runtime.cannot);
  ELC_TRY(file.open(dir(), line, static_cast<uint32_t>(runtime.rank)));
  writer = make<format::Writer>(&state::types(), file.sink());
  store::Label label;
  label.line = line;
  label.run = runtime.run;
  label.rank = static_cast<uint32_t>(runtime.rank);
  label.ranks = static_cast<uint32_t>(runtime.size);
  store::write_label(*writer, label);
  ELC_TRY(state::save(*writer, handle_codec()));
  SavedMpi objects;
  ELC_TRY(save_mpi(&objects));
  writer->begin_section("mpi");
  objects.encode(writer->encoder());
  writer->end_section();
  return Status();
}

Status write_line(const line::Saved& saved) {
  if (runtime.cannot != nullptr) return Status::error("%s", runtime.cannot);
  writer->begin_section("line");
  saved.encode(writer->encoder());
  writer->end_section();
  ELC_TRY(writer->finish());
  bool done;
  return file.advance(&done);
}

// Runs one part of a line, adds the time to its cost, says a failure.
template <class Part>
bool timed(line::LineNumber line, Part part) {
  const uint64_t begin = now();
  const Status status = part();
  runtime.process->add_cost(now() - begin);
  if (!status.ok()) problem(line, status);
  return status.ok();
}

bool save_state(void*, line::LineNumber line) {
  return timed(line, [&] { return write_state(line); });
}

bool save_line(void*, line::LineNumber line, const line::Saved& saved) {
  return timed(line, [&] { return write_line(saved); });
}

// What the disk does meanwhile costs the program nothing.
line::Stable line_stable(void*, line::LineNumber line) {
  bool done = false;
  if (!timed(line, [&] { return file.advance(&done); })) return line::Stable::kFailed;
  return done ? line::Stable::kYes : line::Stable::kNotYet;
}

void too_much_in_transit(void*, line::LineNumber line, uint64_t bytes) {
  problem(line, Status::error("%llu bytes of messages are in transit, and ELC_MAX_TRANSIT allows %llu: raise it",
                              static_cast<unsigned long long>(bytes),
                              static_cast<unsigned long long>(runtime.config.max_transit)));
}

bool commit(void*, line::LineNumber line, uint64_t points, uint64_t cost) {
  store::Commit record;
  record.line = line;
  record.run = runtime.run;
  record.base = runtime.restart_line;
  record.calls = points;
  record.ranks = static_cast<uint32_t>(runtime.size);
  record.cost = cost;
  line_cost = static_cast<double>(cost) * 1e-6;
  const Status status = store::commit(dir(), record);
  if (!status.ok()) problem(line, status);
  return status.ok();
}

// Communicators that were freed are forgotten when the protocol has forgotten them.
void forget_freed() {
  for (size_t i = runtime.comms.size(); i-- > 0;) {
    const Communicator* c = runtime.comms.at(i);
    if (c->handle == MPI_COMM_NULL && !runtime.process->knows(c->identity)) runtime.comms.remove(i);
  }
}

void ended(void*, line::LineNumber line, bool committed) {
  destroy(writer);
  writer = nullptr;
  if (!committed) file.discard();
  if (committed) {
    file.keep();
    last_problem = Text();
    forget_freed();
  }
  if (runtime.rank == 0) {
    if (committed) {
      const Status cleaned = store::clean(dir(), runtime.config.keep);
      if (!cleaned.ok()) say("%s", cleaned.message());
    }
    if (runtime.config.verbose >= 1) {
      if (committed) say("line %u has committed; it cost %.3f s", line, line_cost);
      else say("line %u is abandoned", line);
    }
  }
  line_ended(committed);
}

}  // namespace

void fill_file_host(line::Host* host) {
  host->save_state = save_state;
  host->save_line = save_line;
  host->line_stable = line_stable;
  host->too_much_in_transit = too_much_in_transit;
  host->commit = commit;
  host->ended = ended;
}

double last_line_cost() { return line_cost; }

}  // namespace elc::mpi
