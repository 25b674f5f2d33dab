// Variables of frames that the macros of registration have noted (elc.h, ELC_Local). Most are gone, with their functions, before
// anybody asks; what is still there becomes variables of process.h when a line, a restart or another registration wants to know.
#include "base/compiler.h"

#define ELC_INLINE_ ELC_EXPORT  // for programs whose compiler does not put them where they are called
#include "state/process.h"

namespace elc::state {

ELC_Local noted[kMostNoted];

Result register_noted(Process& p) {
  const size_t all = noted_variables();
  if (all == 0) return Result();
  // Whoever registers a variable at once comes by here first: what is registered of the first frame with something noted was so
  // before that, and nothing is of those that it has called.
  size_t first = p.frames.size() - 1;
  while (p.frames[first].first_noted > 0) --first;
  forget_noted(0, true);
  const NameStack::Mark names = p.names.mark();
  Result worst;
  for (size_t i = first; i < p.frames.size(); ++i) {
    Frame& frame = p.frames[i];
    if (i > first) frame.first_region = p.locals.size();
    if (p.names.mark() != names) frame.names = p.names.mark();  // what frames before have got now stays when it is left
    const size_t end = i + 1 < p.frames.size() ? p.frames[i + 1].first_noted : all;
    for (size_t k = frame.first_noted; k < end; ++k) {
      const Result added = add_noted(frame, noted[k]);
      if (added.ok()) continue;
      if (worst.ok()) worst = added;
    }
    frame.first_noted = 0;
  }
  return worst;
}

static bool make_room_to_note() {
  if (noted_variables() < kMostNoted) return false;
  static_cast<void>(outcome(register_noted(process())));
  return true;
}

}  // namespace elc::state

extern "C" {

ELC_EXPORT ELC_Local* ELC_Next_local = elc::state::noted;
ELC_EXPORT ELC_Local* ELC_End_of_locals = elc::state::noted;

// Where there are no frames, or no room.
ELC_EXPORT int ELC_Register_local(const char* name, void* address, ELC_Type type, size_t count, ELC_Type target) {
  if (elc::state::make_room_to_note()) return ELC_Note_local(name, address, type, count, target);
  return elc::state::outcome(elc::state::add_region(name, address, type, count, target));
}

ELC_EXPORT int ELC_Note_struct(const char* name, void* address, ELC_Type type, size_t size) {
  const size_t element = ELC_Sizeof(type);
  if (element == 0 || size % element == 0) return ELC_Note_local(name, address, type, element == 0 ? 0 : size / element, ELC_NO_TYPE);
  elc::state::Process& p = elc::state::process();
  elc::state::note_missing(p, elc::state::innermost(p), name);
  return elc::state::outcome(elc::Result::error("'%s' has %llu bytes, which are no elements of '%s' of %llu: is it a pointer (ELC_PTR), or of another type?",
                                                name, static_cast<unsigned long long>(size), p.types.info(type).name, static_cast<unsigned long long>(element)));
}

ELC_EXPORT int ELC_Register_rows(const char* name, void* address, ELC_Type type, size_t count, int dimensions, size_t row,
                                 size_t part, size_t last) {
  if (elc::state::make_room_to_note()) return ELC_Note_rows(name, address, type, count, dimensions, row, part, last);
  return elc::state::outcome(elc::state::add_rows(name, address, type, count, dimensions, row, part, last));
}
}
