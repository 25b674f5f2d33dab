#include "mpi/runtime/checks.h"
#include "mpi/runtime/runtime.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/interval.h"
#include "base/message.h"
#include "mpi/objects/background.h"
#include "mpi/datatype/datatype.h"
#include "mpi/runtime/line_file.h"
#include "mpi/objects/requests.h"
#include "mpi/runtime/restart.h"
#include "mpi/runtime/short_way.h"
#include "state/state.h"

#if ELC_HAVE_WEAK
extern "C" ELC_WEAK const char __executable_start;  // by the linkers of GNU and LLVM
#endif

extern "C" char** environ;  // POSIX has no header for it

namespace elc::mpi {

constinit RuntimeStorage runtime_storage;

struct Requested {
  uint64_t next_line = 0;  // when the timer asks; 0: no timer
  uint64_t next_look = 0;  // at the control file
  store::Control control;
  bool ordered = false;    // a line, by the control file
  bool stop = false;       // end the job when a line has committed
  // A line that waits for this process, or for others, since this process saw that; and whether it has said so.
  line::LineNumber waiting = 0;  // 0: none does
  uint64_t since = 0;
  bool said = false;
};

namespace {

constexpr int kControlTag = 1;  // kJoinTag is 2
constexpr uintptr_t kHighestFixed = 0x10000000;  // programs that are not position-independent begin below
constexpr int kCallsBetweenLooks = 64;               // at the clock
constexpr uint64_t kLookShare = 1000, kBusyLookShare = 5;  // a look may take one part in so many of the time
constexpr uint64_t kLongestPause = 10 * 1000;        // microseconds between looks
constexpr int kGreetingTag = 32767;                  // the highest that every MPI allows
constexpr uint64_t kGreetingLate = 10 * 1000000;     // microseconds
constexpr uint64_t kControlFilePeriod = 200 * 1000;  // microseconds between looks at the control file

// ---- The control channel ----

void send_control(void*, line::Rank to, const uint8_t* data, size_t size) {
  Bytes bytes;
  bytes.append(data, size);
  send_in_background(std::move(bytes), MPI_BYTE, to, kControlTag, runtime.control);
}

bool receive_control() {
  int flag = 0;
  MPI_Status status;
  PMPI_Iprobe(MPI_ANY_SOURCE, kControlTag, runtime.control, &flag, &status);
  if (flag == 0) return false;
  Bytes bytes;
  bytes.resize(static_cast<size_t>(counted(status).bytes));
  PMPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, status.MPI_SOURCE, kControlTag, runtime.control,
            MPI_STATUS_IGNORE);
  runtime.coordinator->on_control(status.MPI_SOURCE, bytes.data(), bytes.size());
  return true;
}

// ---- Release: a barrier that nobody waits in ----

#if MPI_VERSION >= 3

// MPI carries it on inside whatever operation it is called for: it has to.
void vote_for_release(void*) { PMPI_Ibarrier(runtime.control, &runtime.release); }

bool all_voted_for_release(void*) {
  int all = 0;
  PMPI_Test(&runtime.release, &all, MPI_STATUS_IGNORE);
  return all != 0;
}

#else

constexpr int kReleaseTag = 3;

// A message to each: what one process passes on to another would wait where that is inside an operation.
void vote_for_release(void*) {
  for (int r = 0; r < runtime.size; ++r)
    if (r != runtime.rank) send_in_background(Bytes(), MPI_BYTE, r, kReleaseTag, runtime.control);
  ++runtime.votes_for_release;
}

bool all_voted_for_release(void*) {
  while (runtime.votes_for_release < runtime.size) {
    int there = 0;
    MPI_Status status;
    PMPI_Iprobe(MPI_ANY_SOURCE, kReleaseTag, runtime.control, &there, &status);
    if (there == 0) return false;
    PMPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kReleaseTag, runtime.control, MPI_STATUS_IGNORE);
    ++runtime.votes_for_release;
  }
  return true;
}

#endif

// ---- Requests for lines: timer, control file, signal ----

volatile sig_atomic_t signalled = 0;
void on_signal(int) { signalled = 1; }

void set_timer() {
  const double seconds = interval(runtime.config, last_line_cost());
  runtime.requested->next_line = seconds > 0 ? now() + static_cast<uint64_t>(seconds * 1e6) : 0;
}

void look_at_clock() {
  const uint64_t time = now();
  if (runtime.requested->next_line != 0 && time >= runtime.requested->next_line) {
    runtime.coordinator->request();
    set_timer();
  }
  if (time < runtime.requested->next_look) return;
  runtime.requested->next_look = time + kControlFilePeriod;
  const store::Order order = runtime.requested->control.look();
  if (order == store::Order::kNone) return;
  runtime.requested->stop = runtime.requested->stop || order == store::Order::kStop;
  runtime.requested->ordered = true;
}

// One that is ordered while a line is open is the next: the open one may have all that whoever waits for it can see. A signal
// is often sent to all processes, and means the same line.
void request_ordered() {
  if (!runtime.requested->ordered || runtime.coordinator->line_open()) return;
  runtime.requested->ordered = false;
  runtime.coordinator->request();
}

// A restart could not post such a receive again: no checkpoint is taken before it is complete.
bool receives_outlive_communicators() {
  bool found = false;
  runtime.requests->each([&](MPI_Request, const Request& r) {
    const Communicator* comm = r.receive.comm;
    found = found || (comm != nullptr && comm->handle == MPI_COMM_NULL && !r.receive.done);
  });
  return found;
}

// A line waits for a process that comes to no site: said once for each line that has to wait long.
void look_for_late() {
  Requested& r = *runtime.requested;
  line::Coordinator& c = *runtime.coordinator;
  const bool here = c.due(), elsewhere = runtime.rank == 0 && c.line_open();
  const line::LineNumber line = here ? c.last_line() + 1 : elsewhere ? c.last_line() : 0;
  if (line != r.waiting) {
    r.waiting = line;
    r.since = now();
    r.said = false;
  }
  if (line == 0) return;
  const double waited = static_cast<double>(now() - r.since) * 1e-6;
  if (r.said || runtime.config.late <= 0 || waited < runtime.config.late) return;
  r.said = true;
  if (here && !alone())
    say("line %u has waited %.0f s for this rank: one of its threads has been in MPI at every site (last called: %s)", line,
        waited, runtime.call);
  else if (here && !files_are_quiet())
    say("line %u has waited %.0f s for this rank, which has not ended what it has begun on a file by MPI_File_iwrite, "
        "MPI_File_write_all_begin or the like (last called: %s)", line, waited, runtime.call);
  else if (here && !runtime.windows.settled())
    say("line %u has waited %.0f s for this rank, which has a window: it is taken behind a fence, at a site before the first "
        "operation (last called: %s)", line, waited, runtime.call);
  else if (here && receives_outlive_communicators())
    say("line %u has waited %.0f s for this rank, which has a receive pending on a communicator that was freed: complete it before, "
        "or free the communicator later (last called: %s)", line, waited, runtime.call);
  else if (here && runtime.requests->is_unsettled())
    say("line %u has waited %.0f s for this rank, which at each site waits for the receipt of what it has sent (MPI_Issend), or for others in a "
        "collective operation; see ELC_EARLY_SENDS in elc(7) (last called: %s)", line, waited, runtime.call);
  else if (here && state::is_prepared())
    say("line %u has waited %.0f s for this rank, which sends, receives and waits for nothing where a line can be taken: it has called %s last; "
        "where none can, elc-cc has said when it compiled the program", line, waited, runtime.call);
  else if (here)
    say("line %u has waited %.0f s for this rank, which comes to no site (ELC_Checkpoint, or a labelled call): it is in %s, "
        "which has no label; see elc-adopt(7)", line, waited, runtime.call);
  else
    say("line %u is open for %.0f s: ranks that say nothing compute, or are inside a collective operation", line, waited);
}

bool hook_recovering() {
  Config config;
  store::Survey survey;
  uint64_t line = 0;
  if (!read_config(&config).ok() || config.dir.empty()) return false;  // what is wrong is said in MPI_Init
  store::configure(config);
  const bool known = store::survey(config.dir.c_str(), &survey).ok() &&
                     store::line_to_restart(survey, config.dir.c_str(), config, &line).ok();
  return known && line != 0;
}

}  // namespace

void set_handle_sizes() {
  using namespace format;
  constexpr struct {
    Kind kind;
    size_t size;
  } kSizes[] = {{kMpiComm, sizeof(MPI_Comm)},       {kMpiDatatype, sizeof(MPI_Datatype)}, {kMpiRequest, sizeof(MPI_Request)},
                {kMpiStatus, sizeof(MPI_Status)},   {kMpiFile, sizeof(MPI_File)},         {kMpiWin, sizeof(MPI_Win)},
                {kMpiGroup, sizeof(MPI_Group)},     {kMpiInfo, sizeof(MPI_Info)},         {kMpiOp, sizeof(MPI_Op)},
                {kMpiErrhandler, sizeof(MPI_Errhandler)}, {kMpiAint, sizeof(MPI_Aint)}};
  for (const auto& s : kSizes) state::set_handle_size(s.kind, s.size);
}

namespace {

// Before main: the state has to know these when the program registers its first variable.
struct Hooks {
  Hooks() {
    set_handle_sizes();
    state::recovering_hook = hook_recovering;
    state::arrived_hook = [] {
      restore();
      runtime.skip_call = runtime.site == Site::kCheckpointNow;
    };
    state::give_up_hook = [](const Result& why) { give_up(why); };
  }
} hooks;

void add_predefined(MPI_Comm handle, line::Identity identity) {
  Communicator* c = runtime.comms.add(handle, identity, Origin());
  c->slot = runtime.coordinator->add_comm(identity, static_cast<uint32_t>(c->members.size()));
}

line::Options options() {
  line::Options o;
  o.drain = runtime.config.drain == Drain::kDrain;
  o.max_transit = runtime.config.max_transit == UINT64_MAX ? 0 : runtime.config.max_transit;
  return o;
}

}  // namespace

// The open line cannot be kept, and the protocol does not know it yet: the sooner it does, the less is kept for nothing.
static bool line_is_spoiled() {
  const line::Coordinator& process = runtime.coordinator.untold();  // a message more or less is nothing to it
  return process.line_open() && runtime.spoiled.told != process.last_line() && spoiled(process.last_line()) != nullptr;
}

static void refuse_spoiled_line() {
  if (!line_is_spoiled()) return;
  const line::LineNumber line = runtime.coordinator->last_line();
  runtime.spoiled.told = line;
  runtime.coordinator->refuse_line(spoiled(line));
}

uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000 + static_cast<uint64_t>(t.tv_nsec) / 1000;
}

// Most buffers that are bytes are there for one exchange. A line waits for a site without them, but not for long, and less when others
// have begun; with windows all their members take it in the epoch that they have agreed on.
static bool is_good_site(bool is_begun) {
  constexpr double kSecond = 1e6;  // in microseconds
  constexpr uint64_t kMostBlocks = 20000000;  // looked at in some hundredths of a second
  static unsigned sites = 0, sites_since_begun = 0;
  static uint64_t since = 0, looked_at = 0;
  if (sites == 0) since = now(), looked_at = 0;
  sites_since_begun = is_begun && sites > 0 ? sites_since_begun + 1 : 0;
  const double most = runtime.config.timer == Timer::kFixed ? std::min(10.0, runtime.config.every) * kSecond : kSecond;
  const bool may_wait = runtime.examination == nullptr && runtime.windows.empty() && ++sites < 100000 && sites_since_begun < 1000 &&
                        looked_at < kMostBlocks && static_cast<double>(now() - since) < most;
  if (may_wait && state::has_new_bytes(&looked_at)) return false;
  sites = 0;
  return true;
}

line::Host line_host() {
  line::Host host;
  host.send_control = send_control;
  host.vote_for_release = vote_for_release;
  host.all_voted_for_release = all_voted_for_release;
  host.looks = [](void*) { return runtime.probes && !runtime.config.early_sends; };
  host.settled = [](void*, bool is_begun) { return runtime.windows.settled_here() && runtime.requests->settled_here() && is_good_site(is_begun); };
  host.usual = [](void*, bool usual) { attend(kProtocol, !usual); };
  fill_message_host(&host);
  fill_file_host(&host);
  return host;
}

static void set_active(bool active) {
  runtime.active = active;
  attend(kPassive, !active);
}

line::EventLogging* make_coordinator() {
  begun.forget();  // counters of another one
  return make<line::EventLogging>(line_host(), runtime.rank, runtime.size, options());
}

void look() {
  const KeptError kept;
  const uint64_t begin = now();
  line::Coordinator& process = *runtime.coordinator;
  while (receive_control()) {
  }
  sweep_background();
  sweep_taken();
  runtime.requests->sweep_abandoned();
  if (process.line_open()) runtime.requests->look_at_collectives();
  if (signalled != 0) {
    signalled = 0;
    process.request();
  }
  if (runtime.restored) {
    if (runtime.rank == 0) look_at_clock();
    look_for_late();
    request_ordered();
  }
  tell_of_cleaning();
  refuse_spoiled_line();
  const bool busy = process.busy();
  process.poll();
  runtime.look_countdown = busy ? 0 : kCallsBetweenLooks;
  const uint64_t end = now();
  const uint64_t pause = (end - begin + 1) * (busy ? kBusyLookShare : kLookShare);
  runtime.next_look = end + (pause < kLongestPause ? pause : kLongestPause);
}

void look_if_due() {
  if (now() >= runtime.next_look || line_is_spoiled()) look();
  else if (runtime.look_countdown < 0) runtime.look_countdown = runtime.coordinator->busy() ? 0 : kCallsBetweenLooks;
}

bool open_short_way(const char* call) {
  if (!kShortWay || short_calls >= 0) return false;
  if (attention != 0) {
    short_calls = kNoShortCalls;  // it has gone down by one: not for ever
    return false;
  }
  if (short_calls >= kNoShortCalls / 2) {  // used up: there was nothing else
    const Entered entered(call);
    look_if_due();
  }
  if (attention != 0) return false;
  short_calls = kCallsBetweenLooks;
  return true;
}

void line_ended(bool committed) {
  if (runtime.rank != 0) return;
  set_timer();
  if (!committed || !runtime.requested->stop) return;
  say("line %u has committed; the job ends as it was asked to", runtime.coordinator->committed_line());
  end_cleaning();
  end_job(kExitStopped);
}

bool labelled_call() {
  if (!state::take_label()) return false;
  if (!runtime.restored && !state::has_saved_frames()) give_up(state::misplaced());
  const KeptError kept;
  look_if_due();
  runtime.site = Site::kCall;
  if (runtime.examination != nullptr) [[unlikely]] come_to_examined_site();
  if (may_take_line()) runtime.coordinator->site();
  return true;
}

void site_while_waiting(line::Posting* repeated) {
  if (!may_take_line()) return;
  const KeptError kept;
  if (repeated != nullptr) repeated->repeated = true;
  runtime.site = Site::kCall;
  runtime.coordinator->site();
}

void cannot_checkpoint(const char* what) {
  if (!runtime.active || runtime.cannot != nullptr) return;
  runtime.cannot = what;
  runtime.coordinator->never();
  say("%s: no line can be taken from now on; the program runs on", what);
}

void give_up(const Result& why) {
  say("%s", why.message());
  int initialised = 0;
  PMPI_Initialized(&initialised);
  if (initialised != 0) end_job(exit_code_of(why));
  _exit(exit_code_of(why));
}

Text caller_text(const void* place) {
  if (place == nullptr) return Text();
  uintptr_t address = reinterpret_cast<uintptr_t>(place);
#if ELC_HAVE_WEAK
  // A program that is loaded anywhere is loaded high; addr2line counts from its start.
  const uintptr_t start = reinterpret_cast<uintptr_t>(&__executable_start);
  if (start > kHighestFixed && address > start) address -= start;
#endif
  return Text::format(" (called at 0x%llx of the program)", static_cast<unsigned long long>(address));
}

// ---- Start and end ----

namespace {

// Children of MPI_Comm_spawn run as without the library: the parent's lines are refused while they are connected.
bool is_spawned() {
#if ELC_HAVE_COMM_GET_PARENT
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL;
#else
  return false;
#endif
}

bool has_directory() {
  const char* const dir = getenv("ELC_DIR");
  return dir != nullptr && *dir != '\0';
}

// Waits for the greeting of a process. One in which the library does nothing never sends it.
void wait_for_greeting(int from) {
  const uint64_t begin = now();
  bool said = false;
  for (;;) {
    int there = 0;
    MPI_Status status;
    PMPI_Iprobe(from, kGreetingTag, MPI_COMM_WORLD, &there, &status);
    if (there != 0) break;
    sched_yield();
    if (said || now() - begin < kGreetingLate) continue;
    said = true;
    say("MPI_Init waits for rank %d, in which libELC does not work, or for one that it waits for: ELC_DIR has to be set for all "
        "ranks (with Open MPI on several machines: mpirun -x ELC_DIR), and all programs of the job linked with libELC", from);
  }
  PMPI_Recv(nullptr, 0, MPI_BYTE, from, kGreetingTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Does the library work in all processes? They tell it by messages, up a tree and down: where it does nothing it takes part
// in no collective operation, and those of the program are not to be taken for ours.
void greet() {
  const int above = (runtime.rank - 1) / 2, first = 2 * runtime.rank + 1;
  const auto send = [](int to) { PMPI_Send(nullptr, 0, MPI_BYTE, to, kGreetingTag, MPI_COMM_WORLD); };
  for (int below = first; below <= first + 1 && below < runtime.size; ++below) wait_for_greeting(below);
  if (runtime.rank > 0) {
    send(above);
    wait_for_greeting(above);
  }
  for (int below = first; below <= first + 1 && below < runtime.size; ++below) send(below);
}

}  // namespace

Vector<uint32_t> ranks_of_machine(const store::Identity& place) {
  Vector<uint32_t> ranks;
#if ELC_HAVE_COMM_SPLIT_TYPE
  struct Here {
    store::Identity place;
    uint64_t rank;
  } here = {place, static_cast<uint64_t>(runtime.rank)};
  constexpr int kSize = static_cast<int>(sizeof here);
  MPI_Comm machine = MPI_COMM_NULL;
  PMPI_Comm_split_type(runtime.control, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int count;
  PMPI_Comm_size(machine, &count);
  Vector<Here> all;
  all.resize(static_cast<size_t>(count));
  PMPI_Allgather(&here, kSize, MPI_BYTE, all.data(), kSize, MPI_BYTE, machine);
  PMPI_Comm_free(&machine);
  for (const Here& other : all)
    if (other.place == place) ranks.push_back(static_cast<uint32_t>(other.rank));
#else
  static_cast<void>(place);
#endif
  return ranks;
}

void start() {
  all_wrappers();
  PMPI_Comm_rank(MPI_COMM_WORLD, &runtime.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &runtime.size);
  set_message_rank(runtime.rank);
  if (const Text misspelt = runtime.rank == 0 ? misspelt_variables(environ) : Text(); !misspelt.empty()) say("%s", misspelt.c_str());
  if (is_spawned() || !has_directory()) {
    record_datatypes(false);
    return;
  }
  const Result read = read_config(&runtime.config);
  greet();
  runtime.control = MPI_COMM_WORLD;  // nobody uses it yet
  agree(read);
  PMPI_Comm_dup(MPI_COMM_WORLD, &runtime.control);
  PMPI_Comm_dup(MPI_COMM_SELF, &runtime.self);
  runtime.requests->learn_complete_handle();
  set_reserve_aside();
  prepare_to_write();
  runtime.requested = make<Requested>();
  runtime.coordinator = make_coordinator();
  add_predefined(MPI_COMM_WORLD, kWorldIdentity);
  add_predefined(MPI_COMM_SELF, kSelfIdentity);
  state::set_check_pointers(runtime.config.check);
  state::set_strict(runtime.config.strict);
  state::allow_files(runtime.config.file_roots.c_str());
  // As much as each of so many processes as there are processors could fill.
  if (runtime.config.huge_pages) state::use_huge_pages(store::use_huge_pages, store::available_memory() / store::processors());
  expect_threads();
  set_active(true);
  begin_examination();
  begin_checks();
  // A child that the program forks is no process of the job: lines, MPI and files are its parent's.
  pthread_atfork(nullptr, nullptr, [] {
    set_active(false);
    forget_line_data();
  });
  open_store();  // finds the line to restart from, or numbers the lines of a run from the start
  if (!runtime.config.output.empty()) {
    const Text path = Text::format("%s.%d", runtime.config.output.c_str(), runtime.rank);
    if (const Result kept = state::keep_output(path.c_str(), runtime.restart_line != 0); !kept.ok())
      say("%s: what is written to standard output goes where it went", kept.message());
  }
  if (runtime.config.signal != 0) {
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(runtime.config.signal, &action, nullptr);
  }
  if (runtime.rank == 0) runtime.requested->control.open(runtime.config.dir.c_str());
  start_clock();
}

void start_clock() {
  if (runtime.rank == 0) set_timer();
}

void finish() {
  if (!runtime.restored) {
    give_up(Result::error("the program ends without having restored line %llu: it has neither called ELC_Restore nor "
                          "come to the labelled call in which the line was taken",
                          static_cast<unsigned long long>(runtime.restart_line)));
  }
  {
    // MPI would do it later (MPI-3.1, 8.7.1); what the delete functions do is followed as long as there is who follows it.
    const Entered entered("MPI_Finalize");
    const Attributes attributes = std::move(runtime.comms.find(MPI_COMM_SELF)->attributes);
    released([&] { return delete_attributes(MPI_COMM_SELF, attributes); });
  }
  runtime.coordinator->finalize();
  wait_until([] { return runtime.coordinator->finished(); });
  wait_until(sweep_background);
  end_cleaning();
  end_examination();
  close_store();
  set_active(false);
  PMPI_Comm_free(&runtime.control);
  PMPI_Comm_free(&runtime.self);
}

}  // namespace elc::mpi
