// The calls of elc.h that concern lines.
#include <elc.h>

#include "mpi/runtime.h"
#include "state/state.h"

using namespace elc;
using namespace elc::mpi;

ELC_EXPORT int ELC_Restore(void) {
  if (!runtime.active || runtime.restart_line == 0) return ELC_FRESH;
  if (!runtime.restored) {
    if (state::has_saved_frames()) {
      give_up(Status::error("line %llu was taken in a program that is entered again by ELC_ENTER; this one calls ELC_Restore",
                            static_cast<unsigned long long>(runtime.restart_line)));
    }
    restore();
    runtime.skip_call = runtime.site == Site::kCheckpointNow;
  }
  return ELC_RESTARTED;
}

namespace {

// A restart does not come here before its data are back: by ELC_Restore, or at the label where the line was taken.
void check_restored() {
  if (!state::recovering() || runtime.restored) return;
  if (state::has_saved_frames()) give_up(state::misplaced());
  give_up(Status::error("the program came to a checkpoint before ELC_Restore, which has to put back the data of line %llu",
                        static_cast<unsigned long long>(runtime.restart_line)));
}

int site(Site where, bool (line::Process::*take)()) {
  state::clear_label();
  look_if_due();
  runtime.site = where;
  return (runtime.process->*take)() ? 1 : 0;
}

}  // namespace

ELC_EXPORT int ELC_Checkpoint(void) {
  if (!runtime.active) return 0;
  check_restored();
  return site(Site::kCheckpoint, &line::Process::site);
}

ELC_EXPORT int ELC_Checkpoint_now(void) {
  if (!runtime.active) return 0;
  check_restored();
  if (runtime.skip_call) {  // this is the call in which the line was taken
    runtime.skip_call = false;
    return 1;
  }
  return site(Site::kCheckpointNow, &line::Process::site_now);
}

ELC_EXPORT unsigned ELC_Line(void) { return runtime.active ? runtime.process->committed_line() : 0; }
