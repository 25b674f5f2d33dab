#include "mpi/runtime/line_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "mpi/objects/handles.h"
#include "mpi/runtime/checks.h"
#include "mpi/runtime/line_data.h"
#include "mpi/runtime/runtime.h"
#include "mpi/runtime/saved_mpi.h"
#include "mpi/serial/representation_code.h"
#include "state/state.h"
#include "store/beside.h"

namespace elc::mpi {

struct LineFile {
  // From the local checkpoint until the line ends.
  store::RankFile file;
  LineData data{&file};
  format::Writer* writer = nullptr;
  Bytes chunk;  // the writer's
  store::Ranks together;               // with which this process writes to one file
  Vector<store::Ranks> all_together;  // process 0: those of all that do not write alone

  // Lines that have committed since one was whole, it among them: what the next one may rely on. The same in all processes.
  Vector<uint64_t> chain;
  // Of committed lines, this process's files; and those that `cleaning` looks after.
  Vector<uint64_t> own, old;
  store::Beside cleaning;
  bool unclean = false;  // one was left out, because the one before was under way
  bool untold = false;   // process 0 has not told the others yet that it has cleaned

  store::CommitFile committing;  // process 0: from the last vote until the line ends
  double cost = -1;   // of the last line, seconds
  Text last_problem;  // said already
  bool troubled = false;  // of the open line, something was said here
};

namespace {

LineFile& current() {
  if (runtime.line_file == nullptr) runtime.line_file = make<LineFile>();
  return *runtime.line_file;
}

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
void problem(line::LineNumber line, const Result& why) {
  current().troubled = true;
  if (!same_but_for_digits(current().last_problem.c_str(), why.message()))
    say("line %u is abandoned, the program runs on: %s", line, why.message());
  current().last_problem = Text::copy(why.message());
}

constexpr uint64_t kLarge = uint64_t{16} << 20;  // bytes of a file
constexpr int kMany = 256;                       // processes

const char* dir() { return runtime.config.dir.c_str(); }

// Of a file to which two ranks write, each would bring back its own; what is written over by MPI_File_write is not brought back, and
// nobody may read it.
Result lock_files(line::LineNumber line) {
  using Use = store::FileLocks::Use;
  Vector<state::Written> files;
  for (const state::Written& file : state::written_files())
    files.push_back({file.number, Text::copy(file.path.view()), file.kept, Descriptor()});
  const size_t streams = files.size();
  add_written_files(&files);
  check_files(files);
  Vector<store::FileLocks::File> locked;
  for (const state::Written& file : files) {
    constexpr Use kUses[] = {Use::kUnwritten, Use::kWrites, Use::kUnappended, Use::kAppends, Use::kReads};  // by Kept
    const bool is_alone = locked.size() >= streams && file.kept != state::Kept::kRead;
    for (const store::FileLocks::File& before : locked)
      if (before.number == file.number && (is_alone || before.use == Use::kAlone))
        return Result::error("the file '%s' is written by MPI_File_open, and open in another way, too: a restart could not bring back what is written "
                             "over; no line is taken until one of the two is closed", file.path.c_str());
    locked.push_back({file.number, is_alone ? Use::kAlone : kUses[static_cast<size_t>(file.kept)]});
  }
  size_t other;
  ELC_TRY(runtime.file_locks.take(dir(), line, locked, &other));
  if (other == files.size()) return Result();
  if (locked[other].use == Use::kReads)
    return Result::error("the file '%s' is open for reading, and another rank writes it by MPI_File_open: a restart could not bring back what "
                         "is written over; no line is taken until one of the two is closed", files[other].path.c_str());
  return Result::error("the file '%s' is open in another rank, too, and written, and a restart could not bring it back: let one "
                       "rank open it, or all together (MPI_File_open), or start each rank in a directory of its own (mpirun -wdir)",
                       files[other].path.c_str());
}

// When all ranks have locked theirs: a file that nobody writes is empty after a restart.
Result check_unwritten(line::LineNumber line) {
  for (const state::Written& file : state::written_files())
    if (file.kept == state::Kept::kNothing && !runtime.file_locks.is_written_elsewhere(line, file.number)) ELC_TRY(state::check_empty(file));
  return Result();
}

bool next_is_whole() { return current().chain.empty() || current().chain.size() >= runtime.config.incremental; }

Result write_state(line::LineNumber line) {
  examine_line(line);
  ELC_TRY(check_memory());
  // A cheap moment to see whether there is memory again.
  if (!set_reserve_aside()) return Result::error("%s", kNoMemory);
  watch_threads();
  if (!alone()) return Result::error("another thread was in MPI (last called: %s)", runtime.call);
  if (runtime.cannot != nullptr) return Result::error("%s", runtime.cannot);
  ELC_TRY(runtime.obstacles.check());
  ELC_TRY(state::check_files());
  ELC_TRY(current().file.open(dir(), line, runtime.run, static_cast<uint32_t>(runtime.rank), current().together));
  format::WriterOptions options;
  options.buffer = current().chunk.data();
  current().writer = make<format::Writer>(&state::types(), current().data.sink(), options);
  current().data.prepare(line, current().writer, next_is_whole());
  store::Label label;
  label.line = line;
  label.run = runtime.run;
  label.rank = static_cast<uint32_t>(runtime.rank);
  label.ranks = static_cast<uint32_t>(runtime.size);
  store::write_label(*current().writer, label);
  runtime.locals.begin_line();
  ELC_TRY(state::begin_save(handle_codec()));
  ELC_TRY(current().data.write(line, current().writer));
  ELC_TRY(state::save_files(*current().writer, line));
  ELC_TRY(lock_files(line));
  Vector<state::Relied> relied = state::take_relied();
  ELC_TRY(rely_on_files(&relied));
  for (state::Relied& on : relied) current().file.rely_on(std::move(on.file), on.path.c_str());
  SavedMpi objects;
  ELC_TRY(save_mpi(&objects));
  current().writer->begin_section("mpi");
  objects.encode(current().writer->encoder());
  current().writer->end_section();
  SavedSetUp set_up;
  save_set_up(&set_up);
  current().writer->begin_section("setup");
  set_up.encode(current().writer->encoder());
  current().writer->end_section();
  return current().data.begin();
}

Result write_line(const line::Saved& saved) {
  // Several threads could not repeat the order of their calls.
  if (saved.replay && runtime.threads.mixed)
    return Result::error("several threads called MPI while messages crossed the line; the next one may be quieter");
  if (runtime.cannot != nullptr) return Result::error("%s", runtime.cannot);
  ELC_TRY(unspoiled(saved.line, saved.replay));
  ELC_TRY(check_unwritten(saved.line));
  for (const line::SavedMessage& m : saved.messages)
    if (m.message->representation == native_representation_code()) state::note_told(m.message->content.data(), m.message->content.size());
  for (const Vector<line::SavedResult>* const results : {&saved.crossing, &saved.pending})
    for (const line::SavedResult& r : *results) state::note_told(r.result.data(), r.result.size());
  current().writer->begin_section("line");
  saved.encode(current().writer->encoder());
  current().writer->end_section();
  ELC_TRY(current().writer->finish());
  // What a commit record is written for has been written.
  if (current().file.size() != current().writer->file_size())
    return Result::error("%llu bytes of its file were made, and %llu written: this is a defect of libELC",
                         static_cast<unsigned long long>(current().writer->file_size()),
                         static_cast<unsigned long long>(current().file.size()));
  bool done;
  return current().file.advance(&done);
}

// Runs one part of a line, adds the time to its cost, says a failure.
template <class Part>
Result timed(line::LineNumber line, Part part) {
  const uint64_t begin = now();
  const Result status = part();
  runtime.coordinator->add_cost(now() - begin);
  if (!status.ok()) problem(line, status);
  return status;
}

Result save_state(void*, line::LineNumber line) {
  return timed(line, [&] {
    const Result written = write_state(line);
    state::end_save();
    return written;
  });
}

// Who waits for a copy of the process is not kept from anything.
Result state_saved(void*, line::LineNumber line, bool* saved) {
  const Result status = current().data.written(saved);
  if (!status.ok()) problem(line, status);
  return status;
}

Result save_line(void*, line::LineNumber line, const line::Saved& saved) {
  return timed(line, [&] { return write_line(saved); });
}

void told_addresses(void*, Vector<line::ToldAddress>* out) {
  for (const state::ToldNumber& number : state::told_numbers()) out->push_back({number.address, number.exact, number.asks_holder, runtime.rank});
}

Result check_told(void*, const Vector<line::ToldAddress>& all) {
  for (const line::ToldAddress& told : all) ELC_TRY(state::check_told({static_cast<uintptr_t>(told.address), told.exact, told.asks_holder}, told.holder));
  return Result();
}

// What the disk does meanwhile costs the program nothing.
Result line_stable(void*, line::LineNumber line, bool* stable) {
  return timed(line, [&] { return current().file.advance(stable); });
}

Result begin_commit(line::LineNumber line, uint64_t points, uint64_t cost) {
  store::Commit record;
  record.line = line;
  record.run = runtime.run;
  record.base = runtime.restart_line;
  record.calls = points;
  record.ranks = static_cast<uint32_t>(runtime.size);
  record.cost = cost;
  if (!next_is_whole()) record.relies_on.append(current().chain.data(), current().chain.size());
  current().cost = static_cast<double>(cost) * 1e-6;
  return current().committing.begin(dir(), record, current().all_together);
}

Result commit(void*, line::LineNumber line, uint64_t points, uint64_t cost, bool* done) {
  Result status;
  if (!current().committing.begun()) status = begin_commit(line, points, cost);
  if (status.ok()) status = current().committing.advance(done);
  if (!status.ok()) problem(line, status);
  return status;
}

void say_failure(const Result& status) {
  if (!status.ok()) say("%s", status.message());
}

// Process 0 makes lines that are not kept any more none, and each removes its files of those.
void clean() {
  Vector<uint64_t>& old = current().old;
  if (runtime.rank == 0) say_failure(store::clean(dir(), runtime.config.keep, runtime.run));
  for (size_t i = old.size(); i-- > 0;) {
    bool gone;
    const Result removed = store::remove_own(dir(), old[i], static_cast<uint32_t>(runtime.rank), &gone, current().together);
    say_failure(removed);
    if (gone || !removed.ok()) old.erase(i);  // process 0 tries again
  }
}

void take_over() {
  LineFile& f = current();
  f.cleaning.wait();
  f.old.append(f.own.data(), f.own.size());
  f.own.clear();
}

// Removing large files, or many, takes its time.
void clean_beside() {
  LineFile& f = current();
  f.unclean = f.cleaning.running();
  if (f.unclean) return;
  take_over();
  f.untold = runtime.rank == 0;
  // Process 0 removes all files of lines of another run.
  if (f.file.size() < kLarge && (runtime.rank != 0 || runtime.size < kMany)) clean();
  else f.cleaning.start([](void*) { clean(); }, nullptr);
}

void ended(void*, line::LineNumber line, bool committed, const line::Refusal& refusal) {
  // A process says its own troubles at once; what the protocol finds, here.
  const bool ours = !committed && refusal.rank == runtime.rank && strcmp(refusal.text, line::kProgramEnds) != 0;
  if (ours && !current().troubled) problem(line, Result::error("%s", refusal.text));
  current().troubled = false;
  if (committed) {
    if (next_is_whole()) current().chain.clear();
    if (runtime.config.incremental > 1) current().chain.push_back(line);
    current().data.committed();
  } else if (strncmp(refusal.text, store::kReliedGone, strlen(store::kReliedGone)) == 0) {
    current().chain.clear();
  }
  current().data.end();
  destroy(current().writer);
  current().writer = nullptr;
  if (!committed) current().file.discard();
  if (committed) {
    current().file.keep();
    current().own.push_back(line);
    current().last_problem = Text();
    forget_freed_communicators();
  }
  if (runtime.rank == 0) {
    if (!committed && strcmp(refusal.text, line::kProgramEnds) != 0) {
      const Text why = Text::format("rank %d: %s", refusal.rank, refusal.text);
      // Where that cannot be written, the process whose reason it is has said it.
      static_cast<void>(store::write_refusal(dir(), line, why.c_str()));
    }
    if (committed) clean_beside();
    if (runtime.config.verbose >= 1) {
      if (committed) say("line %u has committed; it cost %.3f s", line, current().cost);
      else say("line %u is abandoned: rank %d: %s", line, refusal.rank, refusal.text);
    }
  }
  line_ended(committed);
}

}  // namespace

// Where a machine has the directory twice, writing at the end of a file in one does not know of the other.
void agree_who_writes_together(uint32_t most) {
  LineFile& f = current();
  const Vector<uint32_t> machine = ranks_of_machine(store::identity(dir()));
  if (machine.empty() && runtime.rank == 0)
    say("ELC_AGGREGATE: this MPI does not tell which ranks are on one machine; each writes a file of its own");
  f.together = store::together_with(machine, static_cast<uint32_t>(runtime.rank), most);
  constexpr int kNumbers = 3;
  unsigned mine[kNumbers] = {f.together.first, f.together.last, f.together.step};
  Vector<unsigned> all;
  if (runtime.rank == 0) all.resize(kNumbers * static_cast<size_t>(runtime.size));
  PMPI_Gather(mine, kNumbers, MPI_UNSIGNED, all.data(), kNumbers, MPI_UNSIGNED, 0, runtime.control);
  for (size_t rank = 0; rank * kNumbers < all.size(); ++rank) {
    const unsigned* const numbers = &all[rank * kNumbers];
    const store::Ranks ranks = {numbers[0], numbers[1], numbers[2]};
    if (!ranks.alone() && ranks.first == rank) f.all_together.push_back(ranks);
  }
}

void prepare_to_write() {
  current().file.prepare();
  current().chunk.resize(format::kChunkSize);
}

void fill_file_host(line::Host* host) {
  host->save_state = save_state;
  host->state_saved = state_saved;
  host->save_line = save_line;
  host->told_addresses = told_addresses;
  host->check_told = check_told;
  host->line_stable = line_stable;
  host->commit = commit;
  host->ended = ended;
  host->removed = [](void*) { clean_beside(); };
  host->forgotten = [](void*) { forget_freed_communicators(); };
}

void tell_of_cleaning() {
  LineFile& f = current();
  if (!f.untold || f.cleaning.running()) return;
  f.untold = false;
  runtime.coordinator->tell_removed();
}

void end_cleaning() {
  LineFile& f = current();
  take_over();
  if (!f.unclean && !f.untold) return;
  // Nobody is told any more.
  if (runtime.rank == 0) say_failure(store::clean(dir(), runtime.config.keep, 0));
  else clean();
}

void forget_line_data() {
  if (runtime.line_file == nullptr) return;
  current().data.forget();
  current().cleaning.forget();
}

double last_line_cost() { return current().cost; }

}  // namespace elc::mpi
