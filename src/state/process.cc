#include "state/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elc.h"
#include "state/blocks.h"
#include "state/image.h"
#include "state/random.h"
#include "state/state.h"

// The types of the C API are those of the file format.
static_assert(ELC_BOOL == static_cast<int>(elc::format::kBool));
static_assert(ELC_LDOUBLE_COMPLEX == static_cast<int>(elc::format::kLdoubleComplex));
static_assert(ELC_UINT64 == static_cast<int>(elc::format::kUint64));
static_assert(ELC_BYTE == static_cast<int>(elc::format::kByte));
static_assert(ELC_FILE == static_cast<int>(elc::format::kFile));
static_assert(ELC_MPI_STATUS == static_cast<int>(elc::format::kMpiStatus));
static_assert(ELC_MPI_FILE == static_cast<int>(elc::format::kMpiFile));
static_assert(ELC_MPI_ERRHANDLER == static_cast<int>(elc::format::kMpiErrhandler));
static_assert(ELC_MPI_AINT == static_cast<int>(elc::format::kMpiAint));
static_assert(ELC_FIRST_MADE_TYPE <= elc::format::kFirstMade);
static_assert(sizeof(ELC_Type) == sizeof(elc::format::TypeId));

namespace elc::state {

bool (*recovering_hook)() = nullptr;
void (*arrived_hook)() = nullptr;
void (*give_up_hook)(const Result& why) = nullptr;

Process* the_process = nullptr;
Process* the_lone_process = nullptr;
bool follows_memory = true;

Process& make_process() {
  the_process = make<Process>();
  return *the_process;
}

void reset() {
  forget_described_frames();
  forget_noted(0, false);
  if (the_process == nullptr) return;
  for (Region& region : the_process->globals) {
    release(const_cast<char*>(region.name));
    if (region.is_waiting) release(region.address);
  }
  for (Frame& frame : the_process->frames) destroy(frame.table);
  destroy(the_process->table_of_globals);
  destroy(the_process->random);
  destroy(the_process->blocks);
  destroy(the_process->image);
  destroy(the_process);
  the_process = the_lone_process = nullptr;
  follows_memory = true;
}

void give_up(const Result& why) {
  if (give_up_hook != nullptr) give_up_hook(why);
  say("%s", why.message());
  _exit(EXIT_FAILURE);
}

Result read_layout(format::Cursor& in, const char* section, uint32_t newest, uint32_t* read) {
  const uint32_t layout = in.u32();
  ELC_TRY(in.status());
  if (read != nullptr) *read = layout;
  if (layout >= kSectionLayout && layout <= newest) return Result();
  return Result::error(
      "section \"%s\" of the checkpoint file has layout %u, and this libELC reads %u: use the newer libELC",
      section, layout, newest);
}

Result check_name(const char* call, const char* name) {
  if (name == nullptr || name[0] == '\0') return Result::error("%s: a name is needed", call);
  const size_t length = strlen(name);
  if (length <= format::kMaxText) return Result();
  return Result::error("%s: the name has %zu bytes, and a line takes %zu: %.100s...", call, length, format::kMaxText, name);
}

int outcome(const Result& status) {
  if (status.ok()) return ELC_OK;
  say("%s", status.message());
  return ELC_ERROR;
}

Text owner_of(const Process& process, const Region& region) {
  const Region* first = process.locals.data();
  if (&region < first || &region >= first + process.locals.size()) return Text::copy("the globals");
  const size_t index = static_cast<size_t>(&region - first);
  size_t frame = process.frames.size() - 1;
  while (process.frames[frame].first_region > index) --frame;
  return Text::format("%s()", process.frames[frame].function);
}

void set_handle_size(format::Kind kind, size_t size) { process().types.set_size(kind, size); }

const Vector<Written>& written_files() { return process().streams.written(); }
Vector<Relied> take_relied() { return process().streams.take_relied(); }

Result find_place(const char* path, Place* place) { return process().streams.find_place(path, place); }

void keep_notes(WriteNote write) { process().streams.keep_notes(write); }
void take_notes(const Vector<Bytes>& notes, uint64_t line) { process().streams.take_notes(notes, line); }

void allow_files(const char* roots) { process().streams.allow(roots); }

Result keep_output(const char* path, bool restarts) { return process().streams.keep_output(path, restarts); }

const format::TypeTable& types() { return process().types; }

void set_strict(bool on) { process().strict = on; }

void set_check_pointers(bool on) { process().check_pointers = on; }

}  // namespace elc::state
