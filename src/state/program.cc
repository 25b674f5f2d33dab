// Programs that a tool has prepared as a whole (elc_program.h): their variables, their functions, their memory.
#include "elc_program.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "base/compiler.h"
#include "base/sort.h"
#include "state/asked.h"
#include "state/blocks.h"
#include "state/library.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

// Elements of one type that is no struct's, side by side.
struct Run {
  TypeId type;
  uint64_t offset, count;
};

void add_runs(const format::TypeTable& types, TypeId type, uint64_t count, uint64_t offset, Vector<Run>* runs) {
  const format::TypeInfo& info = types.info(type);
  if (info.kind == format::kStruct && types.accessor(type) == nullptr) {
    for (uint64_t i = 0; i < count; ++i)
      for (const format::FieldInfo& field : types.fields(type)) add_runs(types, field.type, field.count, offset + i * info.size + field.offset, runs);
    return;
  }
  if (!runs->empty() && runs->back().type == type && runs->back().offset + runs->back().count * info.size == offset) {
    runs->back().count += count;
  } else {
    runs->push_back({type, offset, count});
  }
}

// Whether what the one says of its bytes, which are not more than those of the other, that says, too.
bool begins_as(const ELC_Program_variable& shorter, const ELC_Program_variable& longer) {
  if (*shorter.type == *longer.type) return true;
  const format::TypeTable& types = process().types;
  Vector<Run> some, all;
  add_runs(types, *shorter.type, shorter.count, 0, &some);
  add_runs(types, *longer.type, longer.count, 0, &all);
  for (size_t i = 0; i < some.size(); ++i) {
    if (i >= all.size() || some[i].type != all[i].type || some[i].offset != all[i].offset) return false;
    if (some[i].count != all[i].count && !(i + 1 == some.size() && some[i].count < all[i].count)) return false;
  }
  return true;
}

uint64_t size_of(const ELC_Program_variable& v) { return process().types.size_of(*v.type) * v.count; }

// Files may define one variable together (tentative definitions of C, as -fcommon links them; the common blocks of what f2c has
// made), each as it sees it: the longest is what there is.
Vector<const ELC_Program_variable*> find_variables(const ELC_Program& program) {
  Vector<const ELC_Program_variable*> all;
  HashMap<size_t> known;  // by address: its place in `all`, and 1
  for (size_t i = 0; i < program.module_count; ++i) {
    const ELC_Program_module* const module = program.modules[i];
    for (size_t k = 0; module != nullptr && k < module->variable_count; ++k) {
      const ELC_Program_variable* const added = &module->variables[k];
      size_t& place = known.at(reinterpret_cast<uintptr_t>(added->address));
      if (place == 0 || strcmp(all[place - 1]->name, added->name) != 0) {
        all.push_back(added);
        place = all.size();
        continue;
      }
      const ELC_Program_variable*& first = all[place - 1];
      const bool is_longer = size_of(*added) > size_of(*first);
      if (is_longer ? begins_as(*first, *added) : begins_as(*added, *first)) {
        if (is_longer) first = added;
        continue;
      }
      say("files of the program define '%s' as variables of different types: no line is taken, as nothing says what it is", added->name);
      process().unregistered = Text::format("'%s', which files define as different types,", added->name);
    }
  }
  return all;
}

void register_variables(const ELC_Program& program) {
  for (const ELC_Program_variable* const v : find_variables(program)) {
    const TypeId target = v->target == nullptr ? TypeId{format::kNone} : *v->target;
    outcome(add_region(v->name, v->address, *v->type, v->count, target, {}, v->is_constant != 0, v->is_constant == 0));
  }
}

// A copy that is part of lines.
char* copy_text(const char* text, size_t length) {
  char* const copy = static_cast<char*>(ELC_new(ELC_CHAR, length + 1));
  if (copy != nullptr) memcpy(copy, text, length);
  return copy;
}

}  // namespace

constinit pthread_mutex_t Alone::lock = PTHREAD_MUTEX_INITIALIZER;

bool is_prepared() { return process().is_prepared; }

// Also in a shared library, for which the program has not spoken.
bool may_have_long_doubles() {
  const Process& p = process();
  for (TypeId type = format::kFirstMade; type < p.types.end(); ++type)
    for (const format::FieldInfo& field : p.types.fields(type))
      if (field.type >= 0 && format::part_of_complex(p.types.info(field.type).kind) == format::kLdouble) return true;
  return p.has_long_doubles;
}

// Nobody can lay static variables elsewhere: a restart is one in which they lie as they did.
static void note_large_variables(const Process& p, const ELC_Program& program) {
  static ELC_Program_number where = {"where static variables lie between multiples of what addresses are rounded to", "a variable that is as large", 0, 1, nullptr};
  const auto to = static_cast<uintptr_t>(program.aligns_large);
  const auto is_large = [&](const Region& region) { return region.size >= to; };
  if (to == 0 || std::none_of(p.globals.begin(), p.globals.end(), is_large)) return;
  where.value = static_cast<int>(reinterpret_cast<uintptr_t>(program.executable) % to);
  add_number(&where);
}

void note_length_of_mpi(uint64_t length) { process().lengths_of_mpi.push_back(length); }

char** begin_program(const ELC_Program& program, bool takes_lines, int argc, char** argv) {
  Process& p = process();
  follows_memory = takes_lines;
  p.is_prepared = true;
  p.first_prepared = p.heap.next_id();
  note_first_thread();
  p.aligns = program.aligns != 0;
  p.apart = p.heap.size() == 0 ? static_cast<size_t>(program.apart) : 0;  // else a constructor of the program has made some that are not
  ask_otherwise();
  if (program.aligns > 1 || program.aligns_large > 0) align_all(program.aligns > 1 ? static_cast<size_t>(program.aligns) : 0, static_cast<size_t>(program.aligns_large));
  for (size_t i = 0; i < program.number_count; ++i) add_number(&program.numbers[i]);
  for (size_t i = 0; i < program.module_count; ++i) {
    const ELC_Program_module* module = program.modules[i];
    if (module == nullptr) continue;
    module->make_types();
    for (size_t k = 0; k < module->function_count; ++k)
      if (module->functions[k].function != nullptr && ELC_Register_function(module->functions[k].name, module->functions[k].function) != ELC_OK)
        p.unregistered = Text::format("the function %s", module->functions[k].name);  // NULL: a weak one that nobody defines
  }
  register_variables(program);
  make_types_with_gaps(p, p.types.end());
  note_large_variables(p, program);
  note_orders();
  if (program.draws_numbers != 0) ELC_Register_random();
  p.has_threads = program.in_parallel != nullptr;
  if (!p.has_threads && follows_memory) the_lone_process = &p;
  p.has_foreign_addresses = program.has_foreign_addresses != 0;
  p.has_long_doubles = program.has_long_doubles != 0;
  p.makes_pointers = program.makes_pointers != 0;
  if (program.executable != nullptr && program.executable_end != nullptr) {
    p.executable = reinterpret_cast<uintptr_t>(program.executable);
    p.executable_end = reinterpret_cast<uintptr_t>(program.executable_end);
    ELC_Program_lowest = static_cast<unsigned long>(lowest_place(p));
  }
  p.stack_end = reinterpret_cast<uintptr_t>(argv);
  p.settings = program.settings;
  if (p.settings != nullptr) p.settings(0);
  register_library(program);
  register_sources();
  register_unions();
  if (p.streams.has_changed_early()) ELC_Program_unfit("a function before main() that writes or removes files: a restart would do so once more (call it in main())");
  if (argv == nullptr) return nullptr;
  const size_t count = argc < 0 ? 0 : static_cast<size_t>(argc);
  char** const copy = static_cast<char**>(ELC_new(ELC_POINTER, count + 1));
  for (size_t i = 0; copy != nullptr && i < count && argv[i] != nullptr; ++i) copy[i] = copy_text(argv[i], strlen(argv[i]));
  return copy == nullptr ? argv : copy;
}

// What the C library makes of a block that is to have no size: nothing, or another block.
static bool realloc_frees() {
  static int frees = -1;
  const volatile size_t none = 0;
  if (frees >= 0) return frees != 0;
  void* const made = realloc(malloc(1), none);
  frees = made == nullptr ? 1 : 0;
  free(made);
  return frees != 0;
}

// The members that one of both has are those with which the other begins, as structs with a common tag do.
static bool begins_with_members(const format::TypeTable& types, TypeId whole, TypeId first) {
  if (types.info(whole).kind != format::kStruct || types.info(first).kind != format::kStruct) return false;
  const auto of_whole = types.fields(whole), of_first = types.fields(first);
  for (size_t i = 0; i < of_first.size(); ++i)
    if (i >= of_whole.size() || of_whole[i].type != of_first[i].type || of_whole[i].offset != of_first[i].offset || of_whole[i].count != of_first[i].count) return false;
  return true;
}

// Whether the elements of a type begin with one of another, and have more. `is_one`: of a block that is one element.
static bool begins_with(const format::TypeTable& types, TypeId whole, TypeId first, bool is_one) {
  if (whole < format::kFirstMade || first < format::kFirstMade || types.size_of(whole) <= types.size_of(first)) return false;
  if (is_one && begins_with_members(types, whole, first)) return true;
  TypeId type = whole;
  while (type != first && type >= format::kFirstMade && types.info(type).kind == format::kStruct) type = types.fields(type)[0].type;
  return type == first;
}

bool in_different_blocks(const void* a, const void* b) {
  const auto holds = [](const Block& block, const void* address) {
    return static_cast<const uint8_t*>(address) >= block.address && static_cast<const uint8_t*>(address) - block.address < static_cast<ptrdiff_t>(block.size);
  };
  Process& p = process();
  const Alone alone;
  p.heap.arrange();
  for (const Block& block : p.heap.slots())
    if (holds(block, a) != holds(block, b)) return true;
  return false;
}

}  // namespace elc::state

using elc::state::Block;
using elc::state::Process;
using elc::state::process;

namespace {

// What has just been made by a function for arrays of several dimensions, which has pointers to rows in front, is one of another type that
// the program takes it for: of one dimension, without pointers. It may count from elsewhere than its beginning.
Block* made_for_rows(Process& p, const void* memory, ELC_Type type) {
  Block* const block = p.heap.newest();
  if (block == nullptr || block->type != ELC_POINTER || type == ELC_POINTER || type == ELC_BYTE) return nullptr;
  const elc::state::Moved* const moved = p.moved.find(reinterpret_cast<uintptr_t>(memory));
  if (moved != nullptr) memory = reinterpret_cast<const void*>(moved->from);
  if (memory < block->address || memory >= block->address + block->size) return nullptr;
  // What comes out of its middle may be a pool's, of whatever; numbers are not.
  const auto at = static_cast<uint64_t>(static_cast<const uint8_t*>(memory) - block->address);
  const uint64_t element = p.types.size_of(type);
  if (element == 0 || (at != 0 && (p.types.info(type).has_handle || at % element != 0))) return nullptr;
  return elc::state::behind_zeros(block->address, 0, block->size, 1) == block->size ? block : nullptr;
}

void say_type_of(Process& p, Block* block, void* memory, ELC_Type type, bool is_open) {
  if (Block* const rows = made_for_rows(p, memory, type)) {
    block = rows;
    block->is_doubted = true;
  }
  if (block == nullptr) {
    if (type != ELC_BYTE) elc::state::note_part(p, memory, type);
    if (type == ELC_POINTER) p.tables[p.next_table++ % Process::kMostTables] = memory;
    return;
  }
  if (block->guessed) elc::state::forget_parts_of(p, *block);
  if (block->size > 0 && block->size < p.types.size_of(type)) {
    if (block->type == type) block->type = ELC_BYTE;  // it has become smaller
    const ELC_Type beginning = elc::state::beginning_in(p, type, block->size);
    if (beginning == elc::format::kNone) return;
    is_open = p.types.info(beginning).field_count == p.types.info(type).field_count;  // what is behind its last member is no other's
    type = beginning;
  }
  if (is_open && block->type == type) block->is_open = true;  // a restart does not know it of one without more
  const uint64_t element = p.types.size_of(type);
  if (block->type != ELC_BYTE && !block->guessed && !block->is_doubted) {
    if (block->type == type) {
      if (p.parts.size() > 0 && p.parts.find(reinterpret_cast<uintptr_t>(memory)) != nullptr) elc::state::note_part(p, memory, type);  // again
      return;
    }
    if (elc::state::is_beginning_of(p, block->type, type)) {  // it has become larger
      block->type = ELC_BYTE;
      return say_type_of(p, block, memory, type, is_open);
    }
    // What it was made for first may be an allocator's own, as are links between what is free.
    if (p.types.info(type).has_handle || (block->type == ELC_POINTER && element != 0 && p.types.info(type).kind == elc::format::kStruct)) elc::state::note_part(p, memory, type);
    if (elc::state::begins_with(p.types, type, block->type, block->size == element) && block->size % element == 0) block->type = type;
    return;
  }
  if (element == 0 || block->size < element) return;
  block->is_open = is_open;
  const bool is_power = (element & (element - 1)) == 0;  // of two: a division costs more than all the rest
  if (const uint64_t rest = is_power ? block->size & (element - 1) : block->size % element; !is_open && rest != 0 && (!p.aligns || rest >= elc::state::alignment_of(block->size))) {
    elc::state::note_part(p, memory, type);  // it begins with that
    return;
  }
  block->type = type;
  block->guessed = block->stays_bytes = block->is_doubted = false;
  if (is_power && !is_open) p.said[static_cast<size_t>(type) % Process::kSaid] = {type, element - 1};
}

ELC_NOINLINE void* say_type(void* memory, ELC_Type type) {
  if (memory == nullptr) return memory;
  const elc::state::Alone alone;
  Process& p = process();
  Block* const block = p.heap.find(memory);
  const ELC_Type own = type & ~(ELC_PROGRAM_OPEN | ELC_PROGRAM_HANDLES | ELC_PROGRAM_NUMBERS);
  say_type_of(p, block, memory, own, (type & ELC_PROGRAM_OPEN) != 0);
  if (block != nullptr) block->has_numbers = (type & ELC_PROGRAM_NUMBERS) != 0;
  if ((type & ELC_PROGRAM_HANDLES) != 0 && (block == nullptr || block->type != own)) ELC_Program_mixed_handles = 1;
  return memory;
}

// Of a block that begins there, if one does.
struct Rows {
  bool are = false;
  bool is_newest = false;  // it was made last
  size_t count = 0;        // pointers in it
};

Rows rows_at(const void* memory) {
  const elc::state::Alone alone;
  Process& p = process();
  const Block* const block = memory == nullptr ? nullptr : p.heap.find(memory);
  if (block == nullptr) return {};
  return {true, block->id + 1 == p.heap.next_id(), block->type == ELC_POINTER ? static_cast<size_t>(block->size) / sizeof(void*) : 0};
}

void* row_of(const void* memory, size_t i) {
  void* row;
  memcpy(&row, static_cast<const char*>(memory) + i * sizeof row, sizeof row);
  return row;
}

// Whether the call has just made them: else it would take long to look at all of them each time.
bool are_new(const void* memory, int levels) {
  const Rows rows = rows_at(memory);
  if (rows.is_newest || levels == 1 || rows.count == 0) return rows.is_newest;
  return are_new(row_of(memory, 0), levels - 1) || are_new(row_of(memory, rows.count - 1), levels - 1);
}

void say_rows(void* memory, int levels, ELC_Type type) {
  ELC_Program_as(memory, levels > 1 ? ELC_Type{ELC_POINTER} : type);
  const size_t count = levels > 1 ? rows_at(memory).count : 0;
  for (size_t i = 0; i < count; ++i) {
    void* const row = row_of(memory, i);
    if (rows_at(row).are) {
      say_rows(row, levels - 1, type);
    } else if (levels == 2) {  // what made it has taken its beginning, in a block, for a pointer to anything
      const elc::state::Alone alone;
      process().parts.remove(reinterpret_cast<uintptr_t>(row));
    }
  }
}

ELC_NOINLINE void* malloc_alone(size_t size) { return elc::state::follows_memory ? ELC_Program_calloc(1, size) : malloc(size); }

ELC_NOINLINE void free_alone(void* memory) {
  if (!elc::state::follows_memory) return free(memory);
  const elc::state::Alone alone;
  ELC_free(memory);
}

}  // namespace

extern "C" {

// The C library's, if it has one: then the program has called it.
ELC_WEAK size_t malloc_usable_size(void* memory) noexcept;

// What a program calls all the time comes first: one thread, memory that it has just got, of a type as before.
ELC_EXPORT void* ELC_Program_as(void* memory, ELC_Type type) {
  Process* const p = elc::state::the_lone_process;
  if (p == nullptr && !elc::state::follows_memory) return memory;
  Block* const block = p == nullptr ? nullptr : p->heap.find_newest(memory);
  if (block == nullptr || block->type != ELC_BYTE || block->size == 0) return say_type(memory, type);
  const Process::Said& said = p->said[static_cast<size_t>(type) % Process::kSaid];
  if (said.type != type || (block->size & said.rest) != 0) return say_type(memory, type);
  block->type = type;
  block->guessed = block->stays_bytes = block->is_open = block->is_doubted = block->has_numbers = false;
  return memory;
}

ELC_EXPORT void* ELC_Program_as_rows(void* memory, int levels, ELC_Type type) {
  ELC_Program_as(memory, ELC_POINTER);
  if (are_new(memory, levels)) say_rows(memory, levels, type);
  return memory;
}

ELC_EXPORT int ELC_Program_mixed_handles;

ELC_EXPORT void ELC_Program_mixes_handles(const char* where, int anywhere) {
  Process& p = process();
  if (p.handles_leave == nullptr || anywhere != 0) p.handles_leave = where;
  p.handles_go_anywhere |= anywhere != 0;
}

ELC_EXPORT void ELC_Program_tail(ELC_Type type, ELC_Type tail) {
  Process& p = process();
  if (p.types.info(tail).has_handle) p.tails.at(static_cast<uint64_t>(type)) = tail;
}

ELC_EXPORT void* ELC_Program_moved(void* from, void* to) {
  const elc::state::Alone alone;
  elc::state::note_moved(process(), reinterpret_cast<uintptr_t>(from), reinterpret_cast<uintptr_t>(to));
  return to;
}

ELC_EXPORT void* ELC_Program_moved_here(void* from, void* to, const struct ELC_Frame_function* function) {
  const elc::state::Alone alone;
  elc::state::note_moved(process(), reinterpret_cast<uintptr_t>(from), reinterpret_cast<uintptr_t>(to), function);
  return to;
}

ELC_EXPORT void* ELC_Program_moved_on(void* from, void* to, const struct ELC_Frame_function* function) {
  const elc::state::Alone alone;
  Process& p = process();
  const uintptr_t before = reinterpret_cast<uintptr_t>(from), behind = reinterpret_cast<uintptr_t>(to);
  if (!elc::state::follows_memory) return to;
  if (behind < before || (p.moved.size() > 0 && p.moved.find(before) != nullptr)) elc::state::note_moved(p, before, behind, function);
  return to;
}

ELC_EXPORT int ELC_Program_moves;

ELC_EXPORT void (*ELC_Program_target(void))(void) {
  const Process& p = process();
  const size_t depth = p.frames.size();
  if (depth >= p.saved_frames.size()) elc::state::give_up(elc::state::misplaced());
  const elc::Text& name = p.saved_frames[depth].function;
  for (const elc::state::Function& f : p.functions)
    if (f.name.view() == name.view()) return f.address;
  elc::state::give_up(elc::Result::error("the line was taken in %s(), which was called by a pointer, and the program has no such function "
                                         "whose address is taken: restart the program that made the line",
                                         name.c_str()));
}

// What a program has not written yet is the same in all runs, and no address of what was there before.
ELC_EXPORT void* ELC_Program_malloc(size_t size) {
  Process* const p = elc::state::the_lone_process;
  if (p == nullptr || !p->heap.has_room()) [[unlikely]] return malloc_alone(size);
  void* const memory = elc::state::zeroed(size);
  if (memory != nullptr) [[likely]] p->heap.add(memory, size, ELC_BYTE);
  return memory;
}

ELC_EXPORT void* ELC_Program_calloc(size_t count, size_t size) {
  if (!elc::state::follows_memory) return calloc(count, size);
  const elc::state::Alone alone;
  return ELC_calloc(count, size);
}

ELC_EXPORT void ELC_Program_free(void* memory) {
  Process* const p = elc::state::the_lone_process;
  if (memory == nullptr || p == nullptr) return free_alone(memory);
  p->heap.remove(memory);
  p->gone.note(memory);
  free(memory);
}

ELC_EXPORT void* ELC_Program_realloc(void* old, size_t size) {
  if (!elc::state::follows_memory) return realloc(old, size);
  const elc::state::Alone alone;
  const Block* const block = old == nullptr ? nullptr : process().heap.find(old);
  if (block == nullptr) return old == nullptr ? ELC_calloc(1, size) : ELC_realloc(old, size);
  if (size == 0 && elc::state::realloc_frees()) return ELC_free(old), nullptr;
  const size_t before = static_cast<size_t>(block->size);
  char* const memory = static_cast<char*>(ELC_realloc(old, size));
  if (memory != nullptr && size > before) memset(memory + before, 0, size - before);
  return memory;
}

ELC_EXPORT int ELC_Program_posix_memalign(void** block, size_t alignment, size_t size) {
  if (!elc::state::follows_memory) return posix_memalign(block, alignment, size);
  const elc::state::Alone alone;
  elc::state::Heap& heap = process().heap;
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  const size_t least = size == 0 ? 1 : size;
  const size_t whole = alignment <= alignof(max_align_t) ? least : (least + alignment - 1) / alignment * alignment;  // less is malloc's
  void* memory = nullptr;
  if (whole < size || !heap.make_room()) return ENOMEM;
  const int code = posix_memalign(&memory, elc::state::aligned_for(alignment, whole), elc::state::asked_for(whole));
  if (code != 0) return code;
  heap.add(memory, whole, ELC_BYTE);
  memset(memory, 0, elc::state::asked_for(whole));
  *block = memory;
  return 0;
}

ELC_EXPORT void* ELC_Program_aligned_alloc(size_t alignment, size_t size) {
  void* memory = nullptr;
  // Where malloc aligns by more than is asked for, posix_memalign wants to be asked for that much.
  const int code = ELC_Program_posix_memalign(&memory, alignment < sizeof(void*) && alignment != 0 ? sizeof(void*) : alignment, size);
  if (code != 0) errno = code;
  return memory;
}

ELC_EXPORT void* ELC_Program_mm_malloc(size_t size, size_t alignment) { return ELC_Program_aligned_alloc(alignment, size); }

ELC_EXPORT void* ELC_Program_valloc(size_t size) { return ELC_Program_aligned_alloc(static_cast<size_t>(sysconf(_SC_PAGESIZE)), size); }

ELC_EXPORT size_t ELC_Program_usable_size(void* memory) {
  if (!elc::state::follows_memory) return malloc_usable_size(memory);
  const elc::state::Alone alone;
  const Block* const block = memory == nullptr ? nullptr : process().heap.find(memory);
  return block == nullptr ? 0 : static_cast<size_t>(block->size);
}

// The blocks of a function are a list: of pairs of pointers, to the next pair and to the block.
ELC_EXPORT void* (*ELC_Program_alloca(void** of_function))(size_t size) {
  static void** list;
  list = of_function;
  return [](size_t size) {
    void** const pair = static_cast<void**>(ELC_new(ELC_POINTER, 2));
    void* const block = ELC_Program_malloc(size == 0 ? 1 : size);
    if (pair == nullptr || block == nullptr) elc::state::give_up(elc::no_memory(size, "the memory of alloca()"));
    pair[0] = *list;
    pair[1] = block;
    *list = pair;
    return block;
  };
}

ELC_EXPORT void ELC_Program_leave(void** of_function) {
  while (*of_function != nullptr) {
    void** const pair = static_cast<void**>(*of_function);
    *of_function = pair[0];
    ELC_free(pair[1]);
    ELC_free(pair);
  }
}

ELC_EXPORT void* ELC_Program_array(void* before, int dimensions, const size_t* extents, size_t element, ELC_Type type) {
  ELC_free(before);
  if (extents == nullptr) return nullptr;
  size_t count = 1;
  for (int i = 0; i < dimensions; ++i) {
    if (extents[i] != 0 && count > PTRDIFF_MAX / element / extents[i]) elc::state::give_up(elc::no_memory(count, "an array of variable length"));
    count *= extents[i];
  }
  // Programs that write a little behind it find room on most stacks.
  constexpr size_t kRoom = 64;
  const size_t more = element <= kRoom ? kRoom / element : count == 0 ? 1 : 0;
  void* const block = ELC_calloc(count + more, element);
  if (block == nullptr) elc::state::give_up(elc::no_memory(count * element, "an array of variable length"));
  if (type != ELC_NO_TYPE) ELC_Program_as(block, type);
  return block;
}

ELC_EXPORT char* ELC_Program_strdup(const char* text) {
  const elc::state::Alone alone;
  return elc::state::copy_text(text, strlen(text));
}

ELC_EXPORT char* ELC_Program_strndup(const char* text, size_t most) {
  const elc::state::Alone alone;
  return elc::state::copy_text(text, strnlen(text, most));
}
}
