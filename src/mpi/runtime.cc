#include "mpi/runtime.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/interval.h"
#include "base/message.h"
#include "mpi/background.h"
#include "mpi/datatype.h"
#include "mpi/line_file.h"
#include "mpi/requests.h"
#include "mpi/restart.h"
#include "state/state.h"

namespace elc::mpi {

constinit Runtime runtime;

namespace {

constexpr int kControlTag = 1;
constexpr int kCallsBetweenLooks = 64;               // at the clock
constexpr uint64_t kLookShare = 1000, kBusyLookShare = 5;  // a look may take one part in so many of the time
constexpr uint64_t kLongestPause = 10 * 1000;        // microseconds between looks
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
  runtime.process->on_control(status.MPI_SOURCE, bytes.data(), bytes.size());
  return true;
}

// ---- Requests for lines: timer, control file, signal ----

volatile sig_atomic_t signalled = 0;
void on_signal(int) { signalled = 1; }

struct Clock {
  uint64_t next_line = 0;  // when the timer asks; 0: no timer
  uint64_t next_look = 0;  // at the control file
  store::Control control;
  bool stop = false;       // end the job when a line has committed
};
Clock clocks;

void set_timer() {
  const double seconds = interval(runtime.config, last_line_cost());
  clocks.next_line = seconds > 0 ? now() + static_cast<uint64_t>(seconds * 1e6) : 0;
}

void look_at_clock() {
  const uint64_t time = now();
  if (clocks.next_line != 0 && time >= clocks.next_line) {
    runtime.process->request();
    set_timer();
  }
  if (time < clocks.next_look) return;
  clocks.next_look = time + kControlFilePeriod;
  const store::Request request = clocks.control.look();
  if (request == store::Request::kNone) return;
  clocks.stop = clocks.stop || request == store::Request::kStop;
  runtime.process->request();
}

bool hook_recovering() {
  Config config;
  store::Survey survey;
  uint64_t line = 0;
  const bool known = read_config(&config).ok() && !config.dir.empty() &&
                     store::survey(config.dir.c_str(), &survey).ok() &&
                     store::line_to_restart(survey, config.dir.c_str(), config, &line).ok();
  return known && line != 0;  // what is wrong is said in MPI_Init
}

// Before main: the state has to know these when the program registers its first variable.
struct Hooks {
  Hooks() {
    state::set_handle_sizes(sizeof(MPI_Comm), sizeof(MPI_Datatype), sizeof(MPI_Request), sizeof(MPI_Status));
    state::recovering_hook = hook_recovering;
    state::arrived_hook = [] {
      restore();
      runtime.skip_call = runtime.site == Site::kCheckpointNow;
    };
    state::give_up_hook = [](const Status& why) { give_up(why); };
  }
} hooks;

void add_predefined(MPI_Comm handle, line::Identity identity) {
  Communicator* c = runtime.comms.add(handle, identity, Origin());
  c->slot = runtime.process->add_comm(identity, static_cast<uint32_t>(c->members.size()));
}

line::Options options() {
  line::Options o;
  o.drain = runtime.config.drain == Drain::kDrain;
  o.max_transit = runtime.config.max_transit == UINT64_MAX ? 0 : runtime.config.max_transit;
  return o;
}

}  // namespace

uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000 + static_cast<uint64_t>(t.tv_nsec) / 1000;
}

line::Host line_host() {
  line::Host host;
  host.send_control = send_control;
  fill_message_host(&host);
  fill_file_host(&host);
  return host;
}

line::Process* make_process() { return make<line::Process>(line_host(), runtime.rank, runtime.size, options()); }

void look() {
  const uint64_t begin = now();
  line::Process& process = *runtime.process;
  while (receive_control()) {
  }
  sweep_background();
  sweep_taken();
  if (signalled != 0) {
    signalled = 0;
    process.request();
  }
  if (runtime.rank == 0 && runtime.restored) look_at_clock();
  const bool busy = process.busy();
  if (busy) process.poll();
  runtime.look_countdown = busy ? 0 : kCallsBetweenLooks;
  const uint64_t end = now();
  const uint64_t pause = (end - begin + 1) * (busy ? kBusyLookShare : kLookShare);
  runtime.next_look = end + (pause < kLongestPause ? pause : kLongestPause);
}

void look_if_due() {
  if (now() >= runtime.next_look) look();
  else if (runtime.look_countdown < 0) runtime.look_countdown = runtime.process->busy() ? 0 : kCallsBetweenLooks;
}

void line_ended(bool committed) {
  if (runtime.rank != 0) return;
  set_timer();
  if (!committed || !clocks.stop) return;
  say("line %u has committed; the job ends as it was asked to", runtime.process->committed_line());
  end_job(kExitStopped);
}

bool labelled_call() {
  if (!state::labelled()) return false;
  if (!runtime.restored && !state::has_saved_frames()) give_up(state::misplaced());
  state::clear_label();
  look_if_due();
  runtime.site = Site::kCall;
  if (runtime.process->due()) runtime.process->site();
  return true;
}

void site_while_waiting(line::Posting* repeated) {
  if (!runtime.process->due()) return;
  if (repeated != nullptr) repeated->repeated = true;
  runtime.site = Site::kCall;
  runtime.process->site();
}

void cannot_checkpoint(const char* what) {
  if (runtime.cannot != nullptr) return;
  runtime.cannot = what;
  say("%s: no line can be taken from now on; the program runs on", what);
}

void give_up(const Status& why) {
  say("%s", why.message());
  int initialised = 0;
  PMPI_Initialized(&initialised);
  if (initialised != 0) end_job(kExitRefused);
  _exit(kExitRefused);
}

// ---- Start and end ----

void start() {
  const Status read = read_config(&runtime.config);
  PMPI_Comm_rank(MPI_COMM_WORLD, &runtime.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &runtime.size);
  set_message_rank(runtime.rank);
  runtime.control = MPI_COMM_WORLD;  // nobody uses it yet
  agree(read);
  if (runtime.config.dir.empty()) {
    record_datatypes(false);
    return;
  }
  PMPI_Comm_dup(MPI_COMM_WORLD, &runtime.control);
  PMPI_Comm_dup(MPI_COMM_SELF, &runtime.self);
  runtime.process = make_process();
  add_predefined(MPI_COMM_WORLD, kWorldIdentity);
  add_predefined(MPI_COMM_SELF, kSelfIdentity);
  state::set_check_pointers(runtime.config.check_pointers);
  runtime.active = true;
  open_store();  // finds the line to restart from, or numbers the lines of a run from the start
  if (runtime.config.signal != 0) {
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(runtime.config.signal, &action, nullptr);
  }
  if (runtime.rank == 0) clocks.control.open(runtime.config.dir.c_str());
  start_clock();
}

void start_clock() {
  if (runtime.rank == 0) set_timer();
}

void finish() {
  if (!runtime.restored) {
    give_up(Status::error("the program ends without having restored line %llu: it has neither called ELC_Restore nor "
                          "come to the labelled call in which the line was taken",
                          static_cast<unsigned long long>(runtime.restart_line)));
  }
  runtime.process->finalize();
  wait_until([] { return runtime.process->finished(); });
  wait_until(sweep_background);
  close_store();
  runtime.active = false;
  PMPI_Comm_free(&runtime.control);
  PMPI_Comm_free(&runtime.self);
}

}  // namespace elc::mpi
