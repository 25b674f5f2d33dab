// What the directories of a line's sections say, matched with what the program has registered.
#ifndef ELC_STATE_IMAGE_H
#define ELC_STATE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/result.h"
#include "base/text.h"
#include "base/vector.h"
#include "portable_format/reader.h"
#include "state/process.h"

namespace elc::state {

struct SavedVariable {
  uint32_t frame = 0;  // 0: a global; else 1 + the index of its frame
  Text name;
  TypeId type = 0;  // of the file
  uint64_t count = 0;
  Vector<uint64_t> extents;        // as declared; none, or at least two whose product is `count`
  bool is_static = false;          // ELC_STATIC
  bool is_cut = false;             // the program's is shorter: a text, which has to end there
  bool is_other = false;           // its scalars have other types in the program
  const Region* region = nullptr;  // where it goes; nullptr: the program has it no more
};

// Consecutive heap blocks of one shape.
struct SavedRun {
  uint64_t first_id = 0;
  uint64_t first = 0;  // index of its first block among all
  uint64_t blocks = 0;
  TypeId type = 0;  // of the file
  uint64_t count = 0;
  uint64_t rest = 0;  // bytes that follow the elements
  TypeId memory_type = 0;
  uint64_t size = 0;  // of a block in memory here
  bool is_other = false;  // its scalars have other types in the program
  Result misfit;      // why such a block cannot be read here
};

// A type of the line and one of the program.
struct TypesMatched {
  TypeId memory_type = 0;
  bool is_other = false;  // its scalars have other types in the program
  Result misfit;          // why the one cannot be read into the other
};

struct Image {
  format::Representation writer;
  bool is_of_here = false;  // the writer's is this machine's
  Vector<SavedFrame> frames;
  Vector<Text> function_names;
  Vector<void (*)(void)> functions;  // nullptr for one that the program has not registered
  Vector<SavedVariable> variables;
  uint64_t next_id = 1;
  uint64_t blocks = 0;
  bool by_id = false;  // so pointers tell the blocks
  Vector<SavedRun> runs;
  Vector<uint8_t*> addresses;  // of the blocks, from make_places() on
  Vector<Text> changes;  // what the program has otherwise than that of the line, in sentences; from match() on

  // Reads the directory of "vars"; leaves the cursor at its values. Trusts nothing.
  Result read_variables(format::Cursor& in);
  // What section "declared" says of them, where there is one. Behind read_variables.
  Result read_declared(format::Reader& reader);
  // The same for "heap".
  Result read_heap(format::Cursor& in, const format::Reader& reader);
  // To where the values of "heap" begin, once its directory has been read.
  static Result pass_over_heap(format::Cursor& in);
  // Finds the place of every variable, function and block type in the program, and makes the types of blocks in parts.
  Result match(Process& process, const format::Reader& reader);

  // What a pointer of the line points into. False for a number that the line does not have.
  struct Target {
    TypeId type;  // in memory
    uint64_t count, rest;
    uint8_t* address;     // nullptr before make_places(), for a heap block
    const SavedRun* run;  // nullptr for a variable
    bool waiting;         // a static that has no place yet
    const SavedVariable* gone;  // a variable that the program has no more; nullptr: it is there
    bool is_other;              // its scalars have other types in the program
  };
  bool target(uint64_t block, Target* out) const;
  // A block of the heap by its number in a pointer: its place among those, and its run. nullptr: it is none.
  const SavedRun* run_of(uint64_t block, uint64_t* index) const;

  // A pointer of the program that points to elements of `type` points to that block of the line.
  void tell(uint64_t block, TypeId type);
  // The program's intN_t, size_t or wchar_t may be one integer of C here and another where the line was taken, or the program
  // has another type now. Blocks whose elements have another length for the pointers to them than the line's type has here
  // get the pointers' type, if that is one of integers, or of doubles in place of floats.
  Result retype_runs(const Process& process, const format::Reader& reader);

  // "solve()" or "the globals".
  Text owner(const SavedVariable& variable) const;

 private:
  Result match_frames(const Process& process) const;
  Result match_variables(const Process& process, const format::Reader& reader);
  // A variable and its region, which are not the same: whether the one can be restored to the other, and what is then told.
  Result match_changed(const Process& process, const format::Reader& reader, SavedVariable& variable);
  // What the program has and the line has not, and what the line has and the program has not.
  Result check_leftovers(const Process& process, const format::Reader& reader);
  Result leave_out(const Process& process, const format::Reader& reader, const SavedVariable& variable, const Vector<const Region*>& added);
  void match_functions(const Process& process);
  void match_runs(Process& process, const format::Reader& reader);
  TypesMatched match_block_type(Process& process, const format::Reader& reader, TypeId type) const;
  TypesMatched match_types(const Process& process, const format::Reader& reader, TypeId type, TypeId memory_type) const;
  // Whether all that the line has has the size here that it has there.
  bool lays_out_as_here() const;
  void set_types(const Process& process, const format::Reader& reader, const TypesMatched& types, SavedRun* run) const;
  // After a change of the runs. Fails if there is no memory.
  Result index_runs();

  struct Told {
    uint64_t index;  // of the block among those of the heap
    TypeId type;
  };
  Vector<Told> told_;
  // Of each step_-th key from the first on the last run that is not behind it: there are as many as runs at most. The key of a run is by
  // what pointers tell its first block.
  Vector<size_t> run_of_;
  uint64_t least_key_ = 0, step_ = 1;
};

}  // namespace elc::state

#endif
