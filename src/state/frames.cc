// Frames and labels: the thesis's flow table (section 4.2.2.2), and re-entry.
#include <string.h>

#include "base/attention.h"
#include "base/compiler.h"
#include "elc.h"
#include "state/image.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

// The label of the innermost frame in the line, while the frames are entered again.
int saved_label(const Process& p) { return p.frames.empty() ? 0 : p.saved_frames[p.frames.size() - 1].label; }

Text describe(const char* function, int label) { return Text::format("label %d of %s()", label, function); }

Result check_entered(const Process& p, const char* function) {
  const size_t depth = p.frames.size();
  if (depth >= p.saved_frames.size())
    return Result::error(
        "the restart has entered %s() beyond %s, where the line was taken: the program differs from the one "
        "that was saved",
        function,
        describe(p.saved_frames[depth - 1].function.c_str(), p.saved_frames[depth - 1].label).c_str());
  if (p.saved_frames[depth].function.view() == function) return Result();
  const Text from = depth == 0 ? Text::copy("the start of the program")
                               : describe(p.frames[depth - 1].function, p.saved_frames[depth - 1].label);
  return Result::error("the restart has entered %s() from %s, but the line was taken in %s() there", function,
                       from.c_str(), p.saved_frames[depth].function.c_str());
}

}  // namespace

void enter(Process& p, const char* function, bool inline_call, bool stays) {
  if (p.is_recovering && !p.saved_frames.empty()) {
    const Result entered = check_entered(p, function);
    if (!entered.ok()) give_up(entered);
  }
  if (!p.frames.empty()) {
    p.frames.back().entered_here = p.label_is_fresh;
    inline_call |= p.frames.back().inline_call;
  }
  Frame& frame = p.frames.add();
  frame.names = p.names.mark();
  frame.function = stays ? function : p.names.push(function, strlen(function));
  frame.first_region = p.locals.size();
  frame.first_noted = noted_variables();
  frame.inline_call = inline_call;
  p.label_is_fresh = false;
  p.has_entered = true;
}

bool recovering() {
  Process& p = process();
  if (!p.recovery_is_known) {
    p.recovery_is_known = true;
    p.is_recovering = recovering_hook != nullptr && recovering_hook();
  }
  return p.is_recovering;
}

void set_recovering(bool recovering) {
  process().recovery_is_known = true;
  process().is_recovering = recovering;
  process().streams.spare(recovering);
  if (recovering) return;
  if (process().settings != nullptr) process().settings(1);
  destroy(process().image);
  process().image = nullptr;
}

bool outside_frames() { return process().frames.empty() && !has_described_frames(); }

bool take_label() {
  Process& p = process();
  if (has_described_frames()) return p.site_is_labelled = take_described_site(p);
  p.site_is_labelled = p.label_is_fresh && !p.frames.empty() && !p.frames.back().inline_call;
  p.label_is_fresh = false;
  elc::attend(elc::kLabel, false);
  return p.site_is_labelled;
}

bool in_inline_call() {
  const Process& p = process();
  return !p.frames.empty() && p.frames.back().inline_call;
}

bool in_setup() { return !process().has_entered && !process().restores_in_place; }

void restores_in_place() { process().restores_in_place = true; }

bool has_saved_frames() { return !process().saved_frames.empty(); }

Result misplaced() {
  const Process& p = process();
  if (p.saved_frames.empty())
    return Result::error(
        "the program is at a labelled call, but the line was taken at an ELC_Checkpoint outside of any "
        "ELC_ENTER: restart the program that made the line");
  const SavedFrame& saved = p.saved_frames[p.saved_frames.size() - 1];
  const Text wanted = describe(saved.function.c_str(), saved.label);
  if (p.frames.empty())
    return Result::error(
        "the restart has come to an MPI call before any ELC_ENTER, but the line was taken at %s",
        wanted.c_str());
  return Result::error(
      "the restart has come to %s on its way to %s, where the line was taken: does every ELC_ENTER have its "
      "ELC_RESUME, and is the program the one that was saved?",
      describe(p.frames.back().function, p.frames.back().label).c_str(), wanted.c_str());
}

Result load_frames(format::Reader& reader) {
  Process& p = process();
  format::Cursor in;
  ELC_TRY(in.open(&reader, "vars"));
  ELC_TRY(read_layout(in, "vars"));
  Vector<SavedFrame> frames;
  for (uint64_t left = in.count(12); left > 0 && in.ok(); --left) {
    SavedFrame frame;
    frame.function = Text::copy(in.string());
    frame.label = in.i32();
    frames.push_back(std::move(frame));
  }
  ELC_TRY(in.status());
  for (size_t i = 0; i < p.frames.size() && !frames.empty(); ++i) {
    if (i < frames.size() && frames[i].function.view() == p.frames[i].function) continue;
    return Result::error("the program is in %s(), but the line was taken in %s()", p.frames[i].function,
                         i < frames.size() ? frames[i].function.c_str() : "its caller");
  }
  p.saved_frames = std::move(frames);
  return Result();
}

namespace {

// In a restart only the labels of the saved frames are come to, in their order: ELC_RESUME jumps there.
void check_label(Process& p, int label) {
  const bool entering = p.is_recovering && !p.saved_frames.empty();
  if (entering && label != saved_label(p)) give_up(misplaced());
  if (entering && p.frames.size() == p.saved_frames.size())
    give_up(Result::error(
        "the restart has come to label %d of %s(), where the line was taken, but not by an ELC_RESUME: "
        "every function that calls ELC_ENTER needs one",
        label, p.frames.back().function));
  if (p.resumed_label != 0 && label != p.resumed_label)
    give_up(Result::error(
        "the restart has come to label %d of %s(), but the line was taken at label %d: does its "
        "ELC_RESUME come before the first ELC_AT?",
        label, p.frames.back().function, p.resumed_label));
  p.resumed_label = 0;
}

void check_left(const Process& p, const Frame& frame) {
  if (p.is_recovering && !p.saved_frames.empty() && p.frames.size() <= p.saved_frames.size())
    give_up(Result::error("the restart has left %s() without coming to label %d, where the line was taken: does every ELC_ENTER have "
                          "its ELC_RESUME, and is the program the one that was saved?",
                          frame.function, saved_label(p)));
  if (p.resumed_label != 0)
    give_up(Result::error("the restart has left %s() without coming to label %d, where the line was taken", frame.function,
                          p.resumed_label));
}

// The innermost frame asks where to go on: now its variables, and those of all its callers, are registered.
int arrive(Process& p) {
  const int label = saved_label(p);
  if (arrived_hook != nullptr) arrived_hook();
  p.resumed_label = label;
  return label;
}

}  // namespace
}  // namespace elc::state

using elc::Result;
using elc::state::Process;
using elc::state::process;

extern "C" {

ELC_EXPORT int ELC_Enter(const char* function) {
  const Result named = elc::state::check_name("ELC_Enter", function);
  if (!named.ok()) return elc::state::outcome(named);
  elc::state::enter(process(), function, false);
  elc::state::forget_noted(elc::state::noted_variables(), true);
  return ELC_OK;
}

ELC_EXPORT int ELC_Enter_function(const char* function) {
  if (function == nullptr) return ELC_Enter(function);
  elc::state::enter(process(), function, false, true);
  elc::state::forget_noted(elc::state::noted_variables(), true);
  return ELC_OK;
}

ELC_EXPORT int ELC_Leave(void) {
  Process& p = process();
  if (p.frames.empty())
    return elc::state::outcome(
        Result::error("ELC_Leave without ELC_Enter: a function leaves a frame that it did not enter"));
  const elc::state::Frame& frame = p.frames.back();
  if (p.is_recovering || p.resumed_label != 0) elc::state::check_left(p, frame);
  if (frame.table != nullptr) elc::destroy(frame.table);
  p.locals.resize(frame.first_region);
  elc::state::forget_noted(frame.first_noted, p.frames.size() > 1);
  p.names.reset(frame.names);
  p.frames.pop_back();
  p.label_is_fresh = false;
  return ELC_OK;
}

ELC_EXPORT void ELC_Set_label(int label) {
  Process& p = process();
  if (p.frames.empty()) return;
  p.frames.back().label = label;
  p.label_is_fresh = true;
  elc::attend(elc::kLabel, true);
  if (p.is_recovering || p.resumed_label != 0) elc::state::check_label(p, label);
}

ELC_EXPORT int ELC_Resume_label(void) {
  Process& p = process();
  if (p.resumed_label != 0) return p.resumed_label;  // asked again on the way to the label
  if (!elc::state::recovering() || p.saved_frames.empty() || p.frames.empty()) return 0;
  return p.frames.size() == p.saved_frames.size() ? elc::state::arrive(p) : elc::state::saved_label(p);
}

ELC_EXPORT int ELC_Recovering(void) { return elc::state::recovering() ? 1 : 0; }
}
