#include "mpi/runtime/restart.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash_map.h"
#include "base/message.h"
#include "mpi/calls/collective.h"
#include "mpi/datatype/datatype.h"
#include "mpi/objects/handles.h"
#include "mpi/runtime/line_file.h"
#include "mpi/runtime/runtime.h"
#include "mpi/runtime/saved_mpi.h"
#include "state/state.h"
#include "store/system.h"

namespace elc::mpi {

// What this process needs of the line from MPI_Init until everything is in place.
struct Restart {
  store::Commit commit;
  store::RankSource source;
  format::Reader reader;
  line::Saved saved;
  SavedMpi objects;
  SavedSetUp set_up;
};

namespace {

constexpr const char* kStartAgain = "the line is as it was: start the program again when the cause is gone";

// From then on the data are neither those of the set-up nor those of the line: what the program does at its exit would take
// them for either.
bool memory_changed = false;

// Another process ends this one: LAM's handler of signals calls exit().
void end_changed() {
  if (memory_changed) _exit(kExitCannot);
}

// What process 0 finds out for all.
struct Start {
  uint64_t run = 0;
  uint64_t line = 0;     // to restart from; 0: from the start
  uint64_t highest = 0;  // number in use
  uint32_t aggregate = 1;  // ELC_AGGREGATE: of two ranks that do not agree, neither would look where the other writes
};

const char* dir() { return runtime.config.dir.c_str(); }

// At the exit of process 0, not in its MPI_Finalize: a run that was killed between the two has perhaps not said
// its result, and goes on from its newest line.
void mark_at_exit() {
  runtime.exiting = true;
  if (getpid() != runtime.finalized) return;  // a child that the program has forked
  const char* lost = fflush(nullptr) != 0 ? strerror(errno) : nullptr;
  // Of an earlier flush that failed only this tells.
  if (lost == nullptr && ferror(stdout) != 0) lost = "an earlier write to standard output has failed";
  const Result marked = lost == nullptr
                            ? store::mark_finished(dir(), runtime.run)
                            : Result::error("what the program has written is lost: %s; started again, it goes on from the "
                                            "newest line", lost);
  if (!marked.ok()) say("%s", marked.message());
}

// That read the file of this rank: its share of the processors, of which all ranks are where MPI cannot tell.
unsigned threads_to_read() {
  const size_t known = ranks_of_machine(store::Identity()).size();
  const unsigned here = static_cast<unsigned>(known > 0 ? known : static_cast<size_t>(runtime.size));
  const unsigned share = store::processors() / here, allowed = store::processors_of_process();
  return share < allowed ? share : allowed;
}

Result make_plan(Start* plan) {
  ELC_TRY(store::prepare(dir()));
  ELC_TRY(runtime.job_lock.take(dir(), "job.lock"));
  ELC_TRY(store::forget_refusal(dir()));
  store::Survey survey;
  ELC_TRY(store::survey(dir(), &survey));
  ELC_TRY(store::line_to_restart(survey, dir(), runtime.config, &plan->line));
  ELC_TRY(store::pass_over_incomplete(survey, dir(), runtime.config, &plan->line));
  plan->run = store::new_run();
  plan->highest = survey.highest;
  plan->aggregate = runtime.config.aggregate;
  return Result();
}

Result read_line() {
  const uint64_t line = runtime.restart_line;
  ELC_TRY(store::read_commit(dir(), line, &runtime.restart->commit));
  if (runtime.restart->commit.ranks != static_cast<uint32_t>(runtime.size)) {
    return Result::error("line %llu in %s was taken by %u processes and this job has %d: start it with %u",
                         static_cast<unsigned long long>(line), dir(), runtime.restart->commit.ranks, runtime.size,
                         runtime.restart->commit.ranks);
  }
  ELC_TRY(store::open_verified(dir(), runtime.restart->commit, static_cast<uint32_t>(runtime.rank), &runtime.restart->source,
                               &runtime.restart->reader, state::is_filled_from));
  Bytes bytes;
  ELC_TRY(runtime.restart->reader.read_section("mpi", UINT64_MAX, &bytes));
  Decoder objects(bytes);
  Result status = SavedMpi::decode(objects, static_cast<uint32_t>(runtime.size), &runtime.restart->objects);
  if (status.ok()) {
    ELC_TRY(runtime.restart->reader.read_section("line", UINT64_MAX, &bytes));
    Decoder in(bytes);
    status = line::Saved::decode(in, &runtime.restart->saved);
  }
  if (status.ok() && runtime.restart->reader.has_section("setup")) {
    ELC_TRY(runtime.restart->reader.read_section("setup", UINT64_MAX, &bytes));
    Decoder in(bytes);
    status = SavedSetUp::decode(in, &runtime.restart->set_up);
  }
  if (status.ok()) status = fits(runtime.restart->objects, runtime.restart->saved);
  if (!status.ok()) return Result::error("%s: %s", runtime.restart->source.path(), status.message());
  return state::load_frames(runtime.restart->reader);
}

// For the data of the line, and of what MPI has that knows where they are.
Result make_places() {
  ELC_TRY(state::make_places());
  ELC_TRY(place_datatypes());
  return runtime.windows.have_memory(runtime.restart->objects.windows);
}

// Why the line cannot be restored: that its file is damaged where it was not read before, if it is.
Result found_out(const Result& failure) {
  if (failure.ok() || failure.system_failed()) return failure;
  const Result whole = store::verify_rest(runtime.restart->source, &runtime.restart->reader);
  return whole.ok() ? failure : whole;
}

// The communicators of the line: the process's own, and those whose creation crosses the line.
Vector<SavedCommunicator> communicators_of_line() {
  Vector<SavedCommunicator> all = std::move(runtime.restart->objects.comms);
  for (const line::SavedResult& r : runtime.restart->saved.crossing) {
    Decoder in(r.result);
    SavedCommunicator c;
    const auto processes = static_cast<uint32_t>(runtime.size);
    if (!decode_result(in, processes, &c)) continue;
    if (c.identity != kNullIdentity) all.push_back(std::move(c));
  }
  return all;
}

// Those that all members have freed are nobody's any more, and may be more than an MPI has room for. Each process marks those
// that it has; of two with one mark both are made again.
void leave_out_freed(Vector<SavedCommunicator>* all) {
  constexpr size_t kBits = 8 * sizeof(unsigned), kWords = 65536 / kBits;
  HashMap<bool> freed;
  for (const line::SavedComm& c : runtime.restart->saved.comms)
    if (c.freed) freed.at(c.identity) = true;
  unsigned mine[kWords] = {}, wanted[kWords] = {};
  const auto bit = [](line::Identity identity) { return static_cast<size_t>(mix64(identity) % (kWords * kBits)); };
  for (const SavedCommunicator& c : *all)
    if (freed.find(c.identity) == nullptr) mine[bit(c.identity) / kBits] |= 1u << bit(c.identity) % kBits;
  PMPI_Allreduce(mine, wanted, static_cast<int>(kWords), MPI_UNSIGNED, MPI_BOR, runtime.control);
  size_t kept = 0;
  for (size_t i = 0; i < all->size(); ++i) {
    SavedCommunicator& c = (*all)[i];
    const bool is_wanted = (wanted[bit(c.identity) / kBits] >> bit(c.identity) % kBits & 1) != 0;
    if (freed.find(c.identity) != nullptr && !is_wanted) continue;
    if (kept != i) (*all)[kept] = std::move(c);
    ++kept;
  }
  all->resize(kept);
}

void replace_process() {
  const line::LineNumber highest = runtime.coordinator->last_line();
  destroy(&*runtime.coordinator);
  runtime.coordinator = make_coordinator();
  const Result loaded = runtime.coordinator->load(std::move(runtime.restart->saved));
  if (!loaded.ok()) give_up(loaded);
  runtime.coordinator->number_from(highest);
  for (size_t i = 0; i < runtime.comms.size(); ++i) {
    Communicator* c = runtime.comms.at(i);
    c->slot = runtime.coordinator->add_comm(c->identity, static_cast<uint32_t>(c->processes()));
  }
  for (size_t i = 0; i < runtime.files.size(); ++i) {
    File* file = runtime.files.at(i);
    file->slot = runtime.coordinator->add_comm(file->saved.identity, static_cast<uint32_t>(file->saved.members.size()));
  }
  runtime.windows.add_slots();
  runtime.requests->each([](MPI_Request, Request& r) {
    if (r.is_persistent_collective() && r.persistent->collective->made != 0) r.persistent->collective->add_slot();
  });
}

// The set-up of this run has left nothing under way either.
Result whole_set_up() {
  const uint64_t mine = account_of_set_up();
  const unsigned halves[] = {static_cast<unsigned>(mine), static_cast<unsigned>(mine >> 32)};
  unsigned all[] = {0, 0};
  PMPI_Allreduce(const_cast<unsigned*>(halves), all, 2, MPI_UNSIGNED, MPI_BXOR, runtime.control);
  return all[0] == 0 && all[1] == 0 ? Result() : Result::error("%s", line::kSetUpUnderWay);
}

// Process 0 says for all what the program has otherwise than that of the line; who has something else says that.
void tell_changes() {
  uint64_t mine = 0;
  for (const Text& change : state::changes())
    mine = mix_text(mine, change.view());
  unsigned of_first[] = {static_cast<unsigned>(mine), static_cast<unsigned>(mine >> 32)};
  PMPI_Bcast(of_first, 2, MPI_UNSIGNED, 0, runtime.control);
  const bool same = of_first[0] == static_cast<unsigned>(mine) && of_first[1] == static_cast<unsigned>(mine >> 32);
  if (runtime.rank != 0 && same) return;
  for (const Text& change : state::changes()) say("the program is not that of the line: %s", change.c_str());
}

bool all_well(bool here) {
  const int failed = here ? 0 : 1;
  int any = 0;
  PMPI_Allreduce(const_cast<int*>(&failed), &any, 1, MPI_INT, MPI_MAX, runtime.control);
  return any == 0;
}

}  // namespace

uint64_t account_of_set_up() {
  uint64_t account = runtime.coordinator->account();
  for (size_t i = 0; i < runtime.comms.size(); ++i) {
    const Communicator& c = *runtime.comms.at(i);
    if (c.handle != MPI_COMM_NULL || c.is_group) account ^= account_of(c.identity, c.slot, c.position(), c.processes());
  }
  for (size_t i = 0; i < runtime.files.size(); ++i) {
    const File& file = *runtime.files.at(i);
    account ^= account_of(file.saved.identity, file.slot, file.rank, file.saved.members.size());
  }
  runtime.requests->each([&](MPI_Request, const Request& r) {
    if (!r.is_persistent_collective() || r.persistent->collective->made == 0) return;
    const CollectiveArguments& a = *r.persistent->collective;
    account ^= account_of(a.identity(), a.slot, a.position, a.processes);
  });
  return account ^ runtime.windows.account();
}

void agree(const Result& mine, const char* after) {
  struct Failure {
    int rank, code;
  } first = {mine.ok() ? runtime.size : runtime.rank, exit_code_of(mine)}, told;
  PMPI_Allreduce(&first, &told, 1, MPI_2INT, MPI_MINLOC, runtime.control);
  if (told.rank == runtime.size) return;
  if (told.rank == runtime.rank) {
    say("%s", mine.message());
    say("%s", after);
  }
  PMPI_Barrier(runtime.control);  // it has been said: under LAM the first process that exits takes the others with it
  end_together(told.code, memory_changed);
}

void open_store() {
  Start plan;
  store::configure(runtime.config);
  agree(runtime.rank == 0 ? make_plan(&plan) : Result());
  PMPI_Bcast(&plan, static_cast<int>(sizeof plan), MPI_BYTE, 0, runtime.control);
  runtime.run = plan.run;
  runtime.restart_line = plan.line;
  if (runtime.rank == 0) atexit(mark_at_exit);  // now, to be called after what the program registers later
  runtime.coordinator->number_from(static_cast<line::LineNumber>(plan.highest));
  if (plan.aggregate > 1 && runtime.size > 1) agree_who_writes_together(plan.aggregate);
  runtime.notes.keep(dir(), static_cast<uint32_t>(runtime.rank));
  state::keep_notes([](uint64_t line, const Bytes& note) { return runtime.notes.add(line, note); });
  if (plan.line == 0) return agree(runtime.notes.forget());
  runtime.restored = false;
  state::set_recovering(true);
  runtime.restart = make<Restart>();
  runtime.restart->reader.use_threads(threads_to_read());
  agree(read_line());
  runtime.site = runtime.restart->objects.site;
  if (runtime.rank == 0)
    say("restarting from line %llu in %s", static_cast<unsigned long long>(plan.line), dir());
}

Result saved_count(const char* name, int64_t* count) { return state::saved_count(runtime.restart->reader, name, count); }

void restore() {
  agree(whole_set_up());
  Vector<Bytes> notes;
  agree(runtime.notes.read(runtime.restart_line, &notes));
  state::take_notes(notes, runtime.restart_line);
  agree(found_out(state::check(runtime.restart->reader)));
  tell_changes();
  const Vector<SavedFile>& files = runtime.restart->objects.files;
  agree(check_files(files));
  const Site site = runtime.restart->objects.site;
  Vector<SavedCommunicator> communicators = communicators_of_line();
  leave_out_freed(&communicators);
  agree(fits_set_up(communicators));
  agree(runtime.windows.fit(runtime.restart->objects.windows));
  Decoder types(runtime.restart->objects.datatypes);
  agree(restore_datatypes(types));
  runtime.requests->end_set_up();
  if (runtime.restart->reader.has_section("setup")) agree(check_set_up(std::move(runtime.restart->set_up)));
  make_again(communicators);  // all together: none may have failed before
  runtime.locals.begin_restart(&runtime.restart->objects.local);
  agree(name_again(communicators));
  agree(make_requests(runtime.restart->objects));
  const Vector<SavedFile> all_files = gather_files(files);
  agree(open_again(files, all_files));
  atexit(end_changed);
  memory_changed = true;
  agree(make_places());
  agree(runtime.windows.make_again(runtime.restart->objects.windows));
  agree(found_out(state::fill(runtime.restart->reader, handle_codec())));
  agree(state::bring_back_files(runtime.restart->reader, all_well), kStartAgain);
  agree(set_attributes_again(communicators), kStartAgain);
  agree(cut_files(files, all_files), kStartAgain);
  agree(view_again(files), kStartAgain);
  agree(runtime.windows.find_memory(runtime.restart->objects.windows), kStartAgain);
  runtime.windows.restore(runtime.restart->objects.windows);
  const Result completed = complete_collectives(runtime.restart->objects, runtime.restart->saved);
  if (!completed.ok()) give_up(completed);
  memory_changed = false;
  replace_process();
  attach_again();
  post_again(runtime.restart->objects);
  runtime.coordinator->start_recovery();
  wait_until([] { return runtime.coordinator->running(); });
  runtime.site = site;
  runtime.restored = true;
  if (runtime.cannot != nullptr) runtime.coordinator->never();  // the one before it was told, in the set-up
  state::set_recovering(false);
  runtime.locals.end_restart();
  destroy(runtime.restart);
  runtime.restart = nullptr;
  examine_restored();
  start_clock();
}

void close_store() {
  if (runtime.rank != 0) return;
  runtime.finalized = getpid();
  // MPI_Finalize in a function for the exit that the program had registered before MPI_Init.
  if (runtime.exiting) atexit(mark_at_exit);
}

}  // namespace elc::mpi
