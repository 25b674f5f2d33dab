// Frames that a tool describes by constant data (elc_frame.h). They are a chain on the stack, of which the library knows nothing
// until a line is taken, or a restart comes through: then they become the frames and variables of process.h.
#include "elc_frame.h"

#include <string.h>

#include "base/attention.h"
#include "base/compiler.h"
#include "state/library.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

// What lines have for a label; and the label that has this, or 0.
int number_of(const ELC_Frame& frame) {
  const ELC_Frame_function& function = *frame.function;
  return function.numbers == nullptr || frame.label < 1 || frame.label > function.labels ? frame.label : function.numbers[frame.label - 1];
}
int label_of(const ELC_Frame_function& function, int number) {
  if (function.numbers == nullptr) return number;
  for (int i = 0; i < function.labels; ++i)
    if (function.numbers[i] == number) return i + 1;
  return 0;
}

// Variables that live at a label, in the frame that was entered last.
Result add_live(const ELC_Frame& frame, int label) {
  const ELC_Frame_function& function = *frame.function;
  if (label < 1 || label > function.labels) {
    if (function.numbers == nullptr) return Result::error("%s() has no label %d: the program is not the one that was saved", function.name, label);
    return Result::error("%s() does not make the call in which the line was taken: the program is another one, or was compiled with other options (-DNDEBUG, say)", function.name);
  }
  for (const unsigned short* live = function.live[label - 1]; *live != 0; ++live) {
    const ELC_Frame_variable& variable = function.variables[*live - 1];
    void* address = reinterpret_cast<char*>(const_cast<ELC_Frame*>(&frame)) + variable.place;
    if (variable.is_elsewhere != 0) memcpy(&address, address, sizeof address);
    ELC_TRY(add_region(variable.name, address, *variable.type, variable.count,
                       variable.target == nullptr ? TypeId{format::kNone} : *variable.target, {}, false,
                       process().is_prepared && variable.is_elsewhere != 1));
  }
  return Result();
}

// A frame is entered again by the call at its caller's label, and that of the line's first function by none.
bool is_on_the_way(const Process& p, const ELC_Frame& frame) {
  if (p.frames.empty() || frame.caller == nullptr) return p.frames.empty() && frame.caller == nullptr;
  return number_of(*frame.caller) == p.frames.back().label;
}

// Whether this is the function that is called at the frame's label. Where several have its name, it has that of its file before it.
bool may_call(const ELC_Frame& frame, const char* function) {
  const char* const* const callees = frame.function->callees;
  const char* const called = callees == nullptr || frame.label > frame.function->labels ? nullptr : callees[frame.label - 1];
  if (called == nullptr) return true;
  const char* const file = strrchr(function, ':');
  return strcmp(called, file == nullptr ? function : file + 1) == 0;
}

}  // namespace

bool has_described_frames() { return ELC_Innermost != nullptr; }

bool take_described_site(const Process& p) {
  if (p.is_recovering && !p.saved_frames.empty()) give_up(misplaced());  // its data are not back
  const bool is_site = ELC_Innermost->is_site != 0 && ELC_Innermost->label != 0;
  ELC_Innermost->is_site = 0;
  return is_site;
}

Result enter_described_frames(Process& p) {
  if (ELC_Innermost == nullptr) return Result();
  if (!p.frames.empty())
    return Result::error("%s() has frames of ELC_ENTER, and %s() one of elc_frame.h: a program has those of one way",
                         p.frames.back().function, ELC_Innermost->function->name);
  Vector<const ELC_Frame*> chain;
  for (const ELC_Frame* frame = ELC_Innermost; frame != nullptr; frame = frame->caller) chain.push_back(frame);
  p.are_described = true;
  for (size_t i = chain.size(); i-- > 0;) {
    const ELC_Frame& frame = *chain[i];
    enter(p, frame.function->name, false);
    p.frames.back().label = number_of(frame);
    p.label_is_fresh = frame.label != 0 && (i == 0 || may_call(frame, chain[i - 1]->function->name));
    if (frame.label != 0) ELC_TRY(add_live(frame, frame.label));
  }
  p.label_is_fresh = false;
  return Result();
}

void leave_described_frames(Process& p) {
  if (!p.are_described) return;
  p.are_described = false;
  if (p.frames.empty()) return;
  for (Frame& frame : p.frames) destroy(frame.table);
  p.names.reset(p.frames[0].names);
  p.locals.resize(0);
  p.frames.clear();
}

void forget_described_frames() {
  ELC_Innermost = nullptr;
  ELC_Reentering = 1;
}

}  // namespace elc::state

using elc::state::Process;
using elc::state::process;

extern "C" {

ELC_EXPORT ELC_Frame* ELC_Innermost = nullptr;
ELC_EXPORT int ELC_Reentering = 1;

ELC_EXPORT int ELC_Reenter(ELC_Frame* frame) {
  Process& p = process();
  p.has_entered = true;
  elc::attend(elc::kLabel, true);  // whoever asks for a label has to look at the frames
  if (!elc::state::recovering()) ELC_Reentering = 0;
  if (ELC_Reentering == 0 || p.saved_frames.empty()) return 0;  // empty: before MPI_Init
  if (!elc::state::is_on_the_way(p, *frame)) elc::state::give_up(elc::state::misplaced());
  p.are_described = true;
  elc::state::enter(p, frame->function->name, false);
  const int number = p.saved_frames[p.frames.size() - 1].label, label = elc::state::label_of(*frame->function, number);
  const elc::Result added = elc::state::add_live(*frame, label);
  if (!added.ok()) elc::state::give_up(added);
  frame->label = label;
  p.frames.back().label = number;
  if (p.frames.size() < p.saved_frames.size()) return label;
  ELC_Reentering = 0;
  if (elc::state::arrived_hook != nullptr) elc::state::arrived_hook();
  elc::state::leave_described_frames(p);
  elc::state::bring_back_error();
  return label;
}
}
