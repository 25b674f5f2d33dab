// The calls of elc.h that concern lines.
#include <elc.h>

#include "base/message.h"
#include "mpi/runtime/runtime.h"
#include "state/state.h"

using namespace elc;
using namespace elc::mpi;

ELC_EXPORT int ELC_Restore(void) {
  state::restores_in_place();
  if (!runtime.active || runtime.restart_line == 0) {
    if (runtime.active && !runtime.restore_returned) runtime.coordinator->end_set_up(account_of_set_up());
    runtime.restore_returned = true;
    return ELC_FRESH;
  }
  if (!runtime.restored) {
    if (state::has_saved_frames()) {
      give_up(Result::error("line %llu was taken in a program that is entered again by ELC_ENTER; this one calls ELC_Restore",
                            static_cast<unsigned long long>(runtime.restart_line)));
    }
    restore();
    runtime.skip_call = runtime.site == Site::kCheckpointNow;
  }
  runtime.restore_returned = true;
  return ELC_RESTARTED;
}

ELC_EXPORT int64_t ELC_Saved_count(const char* name) {
  int64_t count = -1;
  if (!runtime.active || runtime.restart_line == 0 || runtime.restored) return -1;
  const Result read = saved_count(name, &count);
  if (!read.ok()) say("%s", read.message());
  return count;
}

namespace {

// At the beginning of a site. A restart does not come here before its data are back: by ELC_Restore, or at the label
// where the line was taken.
void arrive_at_site() {
  state::take_label();  // if there is none, a line that is taken here is refused
  if (!state::recovering() || runtime.restored) return;
  if (state::has_saved_frames()) give_up(state::misplaced());
  give_up(Result::error("the program came to a checkpoint before ELC_Restore, which has to put back the data of line %llu",
                        static_cast<unsigned long long>(runtime.restart_line)));
}

int site(Site where) {
  bool asks = where == Site::kCheckpointNow;
  const Entered entered(asks ? "ELC_Checkpoint_now" : "ELC_Checkpoint");
  const KeptError kept;
  if (called_back()) {
    if (asks) cannot_checkpoint("ELC_Checkpoint_now was called in a function that MPI calls");
    return 0;
  }
  look_if_due();
  runtime.site = where;
  if (runtime.examination != nullptr) [[unlikely]] {
    come_to_examined_site();
    asks = false;
  }
  // ELC_Checkpoint can wait for other threads to leave MPI; calls of ELC_Checkpoint_now are counted, and the line is refused
  // then.
  line::Coordinator& process = *runtime.coordinator;
  if (asks && !files_are_quiet()) {
    process.pass_now();
    return 0;
  }
  if (asks) return process.site_now() ? 1 : 0;
  return may_take_line() && process.site() ? 1 : 0;
}

}  // namespace

ELC_EXPORT int ELC_Checkpoint(void) {
  if (!runtime.active || state::in_inline_call()) return 0;
  arrive_at_site();
  return site(Site::kCheckpoint);
}

ELC_EXPORT int ELC_Checkpoint_now(void) {
  if (!runtime.active || state::in_inline_call()) return 0;
  arrive_at_site();
  if (runtime.skip_call) {  // this is the call in which the line was taken
    runtime.skip_call = false;
    return 1;
  }
  return site(Site::kCheckpointNow);
}

ELC_EXPORT unsigned ELC_Line(void) { return runtime.active ? runtime.coordinator->committed_line() : 0; }
