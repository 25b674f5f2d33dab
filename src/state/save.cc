// Saving: the sections "vars", "heap" and "files" of a checkpoint file (portable_format/FORMAT.md).
#include <string.h>

#include <utility>

#include "portable_format/integer.h"
#include "state/asked.h"
#include "state/blocks.h"
#include "state/library.h"
#include "state/process.h"
#include "state/random.h"
#include "state/state.h"

namespace elc::state {
namespace {

using format::LeafEncoder;
using format::PointerLeaf;

// Elements of a variable that are looked at: perhaps they are handles. Who has more of them has data.
constexpr uint64_t kMostPerhapsHandles = 64;
// The same of a program that is prepared, in which all memory is looked at: in a long array of random numbers one is soon a handle, too.
constexpr uint64_t kMostPreparedNumbers = 4096;
// Messages about wild pointers in one line.
constexpr uint64_t kMostWildMessages = 10;

// Pointers to something unknown, of a variable or of the blocks of one type.
struct Wild {
  TypeId type = format::kNone;  // of the blocks
  uint64_t pointers = 0, blocks = 0;
  uintptr_t address = 0;        // that the last one has
};

struct Saving {
  Process& process;
  format::Writer& writer;
  const HandleCodec& codec;
  Wild wild = {};                 // of the value that is being written
  Vector<Wild> wild_in_heap = {};
  uint64_t messages = 0;
  TypeId target = format::kNone;  // what the pointers of the variable at hand point to, if the program said it
};

void note_wild(Saving& saving, uintptr_t address) {
  ++saving.wild.pointers;
  saving.wild.address = address;
}

// Where no handle leaves its type, none is among other data.
bool looks_for_handles(const Saving& saving) {
  return saving.codec.macro_of != nullptr && !(saving.process.is_prepared && saving.codec.are_integers && !may_mix_handles(saving.process));
}

// An element of these bytes that is no handle to the line, but to MPI: a restart would have another object there, or none.
Result check_handle(const Saving& saving, const void* leaf, size_t bytes) {
  const HandleCodec& codec = saving.codec;
  if (saving.process.is_prepared && !codec.are_integers && bytes == sizeof(uintptr_t)) {
    uintptr_t value;
    memcpy(&value, leaf, sizeof value);
    if (!may_be_address(saving.process, value)) return Result();
  }
  const char* macro = looks_for_handles(saving) ? codec.macro_of(codec.context, leaf, bytes) : nullptr;
  if (macro == nullptr) return Result();
  if (saving.process.is_prepared) {
    const uint64_t number = format::load_integer(static_cast<const uint8_t*>(leaf), bytes, false, false);
    const char* const where = codec.are_integers ? saving.process.handles_leave : nullptr;
    const Text why = where == nullptr ? Text() : Text::format("; the program may have put one there: %s", where);
    return Result::error("it holds a handle of MPI among other numbers (0x%llx), and a restart has another one: keep it in a variable of MPI's type%s",
                         static_cast<unsigned long long>(number), why.c_str());
  }
  return Result::error("it holds a handle of MPI and is not registered as such: use %s", macro);
}

// An array that counts from a number may be pointed to where it is not yet: a variable, or a block from which that is farther than
// blocks are apart (BlockMap::encode). What malloc has there is less than its smallest block: what was freed has begun there only if it is one
// with what was freed before, now; that it has ended there nobody can tell from it, but for characters, which often have.
Result check_before_array(Saving& saving, uintptr_t value) {
  constexpr uintptr_t kUnit = 2 * sizeof(void*);
  constexpr uint64_t kLeastElement = 4;
  if (!saving.process.is_prepared || saving.process.gone.has(reinterpret_cast<const void*>(value))) return Result();
  const auto is_whole = [&](uintptr_t begin, TypeId type) {
    const uint64_t element = saving.process.types.size_of(type);
    return begin - value < 2 * kUnit && element >= kLeastElement && (begin - value) % element == 0;
  };
  const auto leads_to = [&](uintptr_t begin, TypeId type) { return is_whole(begin, type) && are_of(saving.process, type, saving.target); };
  // For a pointer that has another type for the block: no farther than other memory is kept away, the end of which may be meant.
  const auto leads_to_other = [&](uintptr_t begin) {
    return saving.target != format::kNone && begin - value <= saving.process.apart && is_whole(begin, saving.target);
  };
  const auto refused = [&](uintptr_t begin, const char* what) {
    return Result::error("a pointer in it leads to %llu bytes before %s, as for an array that counts from a number; a restart would not "
                         "find it: have it lead to where the array begins, or to nothing (NULL) if it led to the end of memory that was freed",
                         static_cast<unsigned long long>(begin - value), what);
  };
  for (uintptr_t at = (value / kUnit + 1) * kUnit; at - value < 2 * kUnit; at += kUnit) {
    const Block* const block = saving.process.heap.find(reinterpret_cast<const void*>(at));
    if (block != nullptr && (leads_to(at, block->type) || leads_to_other(at))) return refused(at, "a block of memory");
  }
  const Region* const next = saving.process.blocks->region_after(value);
  if (next == nullptr || next->count < 2 || !leads_to(reinterpret_cast<uintptr_t>(next->address), next->type)) return Result();
  return refused(reinterpret_cast<uintptr_t>(next->address), Text::format("'%s' of %s", next->name, owner_of(saving.process, *next).c_str()).c_str());
}

Result encode_pointer(void* context, const void* leaf, PointerLeaf* out) {
  Saving& saving = *static_cast<Saving*>(context);
  const void* pointer;
  memcpy(&pointer, leaf, sizeof pointer);
  if (saving.process.moved.size() > 0) {
    const uintptr_t value = reinterpret_cast<uintptr_t>(pointer);
    const Moved* const moved = saving.process.moved.find(value);
    const bool is_in_frame = reinterpret_cast<uintptr_t>(leaf) > reinterpret_cast<uintptr_t>(&saving);  // the stack grows down, and lies above all else
    if (moved != nullptr && (moved->function == nullptr || (is_in_frame && is_on_stack(moved->function)))) return encode_moved(saving.process, value, *moved, out);
  }
  *out = saving.process.blocks->encode(pointer, saving.target);
  if (out->block != format::kWildBlock) return Result();
  if (const Region* late = late_static_at(saving.process, pointer))
    return Result::error(
        "it points to the static '%s', whose place a restart does not know before its function is called: make it a global, "
        "registered in the set-up",
        late->name);
  if (leads_beside_memory(saving.process, reinterpret_cast<uintptr_t>(pointer), out)) return Result();
  if (saving.process.moved.size() > 0) {
    ELC_TRY(encode_on_the_way(saving.process, reinterpret_cast<uintptr_t>(pointer), saving.target, out));
    if (out->block != format::kWildBlock) return Result();
  }
  note_wild(saving, reinterpret_cast<uintptr_t>(pointer));
  ELC_TRY(check_wild(saving.process, reinterpret_cast<uintptr_t>(pointer), true));
  ELC_TRY(check_before_array(saving, reinterpret_cast<uintptr_t>(pointer)));
  ELC_TRY(check_handle(saving, leaf, sizeof pointer));
  return check_libraries(saving.process, reinterpret_cast<uintptr_t>(pointer));
}

Result encode_address(void* context, const void* leaf, PointerLeaf* out) {
  Saving& saving = *static_cast<Saving*>(context);
  const size_t size = static_cast<size_t>(saving.process.types.info(format::kMpiAint).size);
  const auto value = static_cast<int64_t>(format::load_integer(static_cast<const uint8_t*>(leaf), size, false, true));
  bool is = false;
  *out = {format::kNullBlock, static_cast<uint64_t>(value)};
  if (static_cast<intptr_t>(value) == value && saving.codec.is_address != nullptr)
    ELC_TRY(saving.codec.is_address(static_cast<intptr_t>(value), &is));
  if (is) *out = saving.process.blocks->encode(reinterpret_cast<const void*>(static_cast<intptr_t>(value)));
  else note_told(saving.process, static_cast<uintptr_t>(value));
  return Result();
}

Result number_of_function(Saving& saving, const void* leaf, uint64_t* out) {
  void (*function)(void);
  memcpy(&function, leaf, sizeof function);
  *out = 0;
  if (function == nullptr) return Result();
  const uintptr_t value = reinterpret_cast<uintptr_t>(function);
  const uint32_t* index = saving.process.function_by_address.find(value);
  *out = index != nullptr ? *index : kWildFunction;
  if (index != nullptr) return Result();
  if (const int64_t mark = static_cast<intptr_t>(value); is_mark(mark)) return *out = kFunctionMark + static_cast<uint64_t>(mark), Result();
  note_wild(saving, value);
  if (!saving.process.is_prepared || may_be_address(saving.process, value)) return Result();
  return Result::error("a pointer to a function has the value %p, which is no address, and which a restart would not bring back", reinterpret_cast<void*>(value));
}

Result encode_handle(void* context, Kind kind, const void* leaf, uint64_t* out) {
  Saving& saving = *static_cast<Saving*>(context);
  if (kind == format::kFunction) return number_of_function(saving, leaf, out);
  if (kind == format::kFile) {
    FILE* file;
    memcpy(&file, leaf, sizeof file);
    *out = saving.process.streams.number_of(file);
    if (*out == kWildStream) note_wild(saving, reinterpret_cast<uintptr_t>(file));
    return Result();
  }
  if (saving.codec.encode == nullptr) return Result::error("an MPI handle, but this program has no MPI");
  return saving.codec.encode(saving.codec.context, kind, leaf, out);
}

Result encode_status(void* context, const void* leaf, format::StatusLeaf* out) {
  const HandleCodec& codec = static_cast<Saving*>(context)->codec;
  if (codec.encode_status == nullptr) return Result::error("an MPI status, but this program has no MPI");
  return codec.encode_status(codec.context, leaf, out);
}

// Memory of which the program has not said what it holds has no addresses either, or a restart would leave those of the run of the line.
Result check_untyped(Process& p, const Block& block) {
  for (uint64_t at = 0; at + sizeof(uintptr_t) <= block.size; at += sizeof(uintptr_t)) {
    uintptr_t value;
    memcpy(&value, block.address + at, sizeof value);
    if (value == 0 || p.heap.find(reinterpret_cast<const void*>(value)) == nullptr) continue;
    return Result::error("a block of %llu bytes from ELC_malloc, of which no type is known, holds at byte %llu the address of another one, which a "
                         "restart would not set: say what it is, by ELC_new, ELC_Set_type or a pointer of that type (ELC_PTR)",
                         static_cast<unsigned long long>(block.size), static_cast<unsigned long long>(at));
  }
  return Result();
}

// A pointer to something unknown is an error only to who asked to hear of it.
void report_wild(Saving& saving, const Wild& wild, const char* name, const char* owner) {
  if (wild.pointers == 0 || !saving.process.check_pointers || saving.messages++ >= kMostWildMessages) return;
  const Text blocks = wild.blocks < 2 ? Text() : Text::format(", in %llu blocks,", static_cast<unsigned long long>(wild.blocks));
  say("saving '%s' of %s: %llu of its pointers%s point to nothing that is registered (the last to %#llx) and will be invalid after "
      "a restart",
      name, owner, static_cast<unsigned long long>(wild.pointers), blocks.c_str(), static_cast<unsigned long long>(wild.address));
}

// The same for the blocks of the heap, whose messages are one for each type.
void add_wild(Saving& saving, TypeId type) {
  if (saving.wild.pointers == 0) return;
  Wild* of_type = nullptr;
  for (Wild& known : saving.wild_in_heap)
    if (known.type == type) of_type = &known;
  if (of_type == nullptr) {
    saving.wild_in_heap.push_back({type});
    of_type = &saving.wild_in_heap.back();
  }
  of_type->pointers += saving.wild.pointers, of_type->blocks += 1, of_type->address = saving.wild.address;
  saving.wild = {};
}

// Where a call without a label is, for a message: the label before it is that of another call.
Text after_label(const Frame& frame) {
  return frame.label == 0 ? Text::format("%s()", frame.function)
                          : Text::format("%s(), after the call at its label %d,", frame.function, frame.label);
}

// Whether all that this frame (1 + its index) has on the stack is what the earlier one has, which is not there any more then.
bool is_in_place_of(const Process& p, size_t frame, size_t earlier) {
  bool has = false;
  const uint8_t* const stack = reinterpret_cast<const uint8_t*>(&has);
  for (const Region& own : scope_of(p, frame)) {
    if (own.name == nullptr || own.address < stack) continue;
    has = false;
    for (const Region& other : scope_of(p, earlier)) has |= other.name != nullptr && other.address == own.address && strcmp(other.name, own.name) == 0;
    if (!has) return false;
  }
  return has;
}

// A frame that was left without ELC_Leave is still there, and its function has come again.
Result check_left(const Process& p) {
  for (size_t i = 1; i < p.frames.size(); ++i)
    for (size_t k = i; k-- > 0;) {
      if (strcmp(p.frames[k].function, p.frames[i].function) != 0) continue;
      if (!is_in_place_of(p, i + 1, k + 1)) break;
      return Result::error("%s() was left without ELC_Leave, by a return or a jump, before it was called again, and a restart could not come "
                           "back to it: ELC_Leave belongs on each way out of a function with ELC_ENTER", p.frames[i].function);
    }
  return Result();
}

// A restart comes back to the site only if each function on the stack was called at a label of its own, and so was
// the site; or, without frames, if it is restored in place.
Result check_way_back(const Process& p) {
  if (p.frames.empty() && p.has_entered && !p.restores_in_place)
    return Result::error(
        "the program has come to a site outside of the functions that it has registered with ELC_ENTER, and has not "
        "called ELC_Restore: a restart could not come back to it");
  if (!p.frames.empty() && p.restores_in_place)
    return Result::error(
        "%s() has come to a site between ELC_ENTER and ELC_Leave, but the program has called ELC_Restore: it is "
        "either restored in place or entered again",
        p.frames.back().function);
  const char* const mend = p.is_prepared ? "elc-cc does not follow such a call; make it by its name, in a statement" : "put ELC_AT right before the call";
  for (size_t i = 0; i < p.frames.size(); ++i) {
    const Frame& frame = p.frames[i];
    const bool innermost = i + 1 == p.frames.size();
    if (frame.label != 0 && (innermost ? p.site_is_labelled : frame.entered_here)) continue;
    if (innermost)
      return Result::error(
          "%s has come to a site without a label of its own, to which a restart could not come back: %s", after_label(frame).c_str(), mend);
    return Result::error("%s has called %s() without a label of its own, so that a restart could not come back to it: %s", after_label(frame).c_str(),
                         p.frames[i + 1].function, mend);
  }
  return Result();
}

// Pointers in variables of which the program has said to what they lead.
template <class F>
void each_typed_pointer(const Process& p, F one) {
  Vector<const Region*> regions;
  list_regions(p, &regions);
  for (const Region* region : regions) {
    if (region->target == format::kNone) continue;
    for (uint64_t i = 0; i < region->count; ++i) {
      void* pointer;
      memcpy(&pointer, region->address + i * sizeof pointer, sizeof pointer);
      if (pointer != nullptr) one(pointer, region->target);
    }
  }
}

// Blocks that are bytes because the program said nothing, but to which typed pointers point, are of the
// pointers' type in this line. Pointers that disagree leave them bytes. Which have rows is found anew, too.
void guess_types(Process& p) {
  p.rows.clear();
  for (Block& block : p.heap.slots()) {
    if (block.type == format::kPointer) block.is_open = false;
    if (!block.guessed) continue;
    block.type = format::kByte;
    block.guessed = false;
  }
  each_typed_pointer(p, [&p](const void* pointer, TypeId target) {
    Block* const block = p.heap.find(pointer);
    if (block == nullptr || block->stays_bytes || block->size % p.types.size_of(target) != 0) return;
    if (block->type == format::kByte && !block->guessed) {
      block->type = target;
      block->guessed = true;
    } else if (block->guessed && block->type != target) {
      block->type = format::kByte;  // stays guessed: nobody else may say
    }
  });
}

// Numbers of one size that a variable takes for others of another size: a restart would take the program for one that was changed, and
// other machines have neither. They are bytes.
void find_shared(Process& p) {
  if (!p.is_prepared) return;
  each_typed_pointer(p, [&p](const void* pointer, TypeId target) {
    const Block* const found = p.blocks->block_of(pointer);
    if (found == nullptr || !becomes(found->type, target) || p.types.size_of(found->type) == p.types.size_of(target)) return;
    Block* const block = p.heap.find(found->address);
    block->type = format::kByte;
    block->stays_bytes = !block->guessed;
  });
}

// A variable that is a pointer into a block; empty: there is none.
Text who_leads_to(const Process& p, const Block& block) {
  Vector<const Region*> regions;
  list_regions(p, &regions);
  for (const Region* region : regions) {
    if (p.types.info(region->type).kind != format::kPointer) continue;
    for (uint64_t i = 0; i < region->count; ++i) {
      uintptr_t pointer;
      memcpy(&pointer, static_cast<const uint8_t*>(region->address) + i * sizeof pointer, sizeof pointer);
      if (pointer - reinterpret_cast<uintptr_t>(block.address) < block.size) return Text::format("; '%s' of %s leads there", region->name, owner_of(p, *region).c_str());
    }
  }
  return Text();
}

// Bytes behind whose beginning the program has pointers, as where it aligns memory itself: they are that, if there is nothing else.
void find_tables(Process& p) {
  for (const void* const table : p.tables) {
    const Block* const found = table == nullptr ? nullptr : p.blocks->block_of(table);
    if (found == nullptr || found->type != format::kByte || found->guessed || found->stays_bytes) continue;
    const uint64_t offset = static_cast<uint64_t>(static_cast<const uint8_t*>(table) - found->address);
    bool are_pointers = offset % sizeof table == 0 && found->size % sizeof table == 0;
    for (uint64_t at = 0; at < found->size && are_pointers; at += sizeof table) {
      const void* word;
      memcpy(&word, found->address + at, sizeof word);
      are_pointers = p.blocks->encode(word).block != format::kWildBlock;
    }
    if (!are_pointers) continue;
    Block* const block = p.heap.find(found->address);
    block->type = format::kPointer;
    block->guessed = true;
  }
}

void write_directory(format::Writer& writer, const Process& p, const Vector<const Region*>& regions) {
  Encoder& out = writer.encoder();
  out.u32(kSectionLayout);
  out.u64(p.frames.size());
  for (const Frame& frame : p.frames) {
    writer.text(frame.function);
    out.i32(frame.label);
  }
  out.u64(p.functions.size());
  for (const Function& function : p.functions) writer.text(function.name.view());
  out.u64(regions.size());
  size_t frame = 0;
  for (size_t i = 0; i < regions.size(); ++i) {
    const Region& region = *regions[i];
    if (i >= p.globals.size()) {
      const size_t index = i - p.globals.size();
      while (frame < p.frames.size() && p.frames[frame].first_region <= index) ++frame;
    }
    out.u32(static_cast<uint32_t>(frame));
    writer.text(region.name);
    out.i32(region.type);
    out.u64(region.count);
  }
}

// What the program has declared of its variables besides their types. Nothing: no section.
void save_declared(format::Writer& writer, const Vector<const Region*>& regions) {
  uint64_t declared = 0;
  for (const Region* region : regions) declared += region->dimensions > 0 || region->is_static ? 1 : 0;
  if (declared == 0) return;
  writer.begin_section("declared");
  Encoder& out = writer.encoder();
  out.u32(kSectionLayout);
  out.u64(declared);
  for (size_t i = 0; i < regions.size(); ++i) {
    if (regions[i]->dimensions == 0 && !regions[i]->is_static) continue;
    out.u64(i);
    out.u32(regions[i]->is_static ? kIsStatic : 0);
    out.u64(regions[i]->dimensions);
    for (uint32_t d = 0; d < regions[i]->dimensions; ++d) out.u64(regions[i]->extent(d));
  }
  writer.end_section();
}

bool may_be_handle(const format::TypeInfo& info) {
  return format::is_integer(info.kind) && (info.size == sizeof(int) || info.size == sizeof(void*));
}

// Memory of numbers of this type may be an allocator's own, in which integers lie.
bool may_have_handles(const HandleCodec& codec, const format::TypeInfo& info) {
  return codec.are_integers && (format::is_floating(format::part_of_complex(info.kind)) || format::is_integer(info.kind)) && info.size > sizeof(int) && info.size % sizeof(int) == 0;
}

// Neither very small nor very large: two integers look like that if the second is some thousand million, or bits of a float, and none of MPICH's handles,
// which begin with 0x44 or more, or with 0x84 to 0xb4, or 0xc4 or more. Half of a number with few digits is one soon.
bool is_ordinary(const uint8_t* number) {
  double value;
  memcpy(&value, number, sizeof value);
  return (value > 1e-30 && value < 1e19) || (value < -1e-30 && value > -1e19);
}

bool has_integer(const format::TypeTable& types, TypeId type) {
  const format::TypeInfo& info = types.info(type);
  bool has = may_be_handle(info) || format::is_floating(format::part_of_complex(info.kind));
  if (info.kind == format::kStruct)
    for (const format::FieldInfo& field : types.fields(type)) has = has || has_integer(types, field.type);
  return has;
}

// The same of what is registered as integers, or as bytes.
Result check_numbers(const Saving& saving, TypeId type, const uint8_t* at, uint64_t count, bool is_member = false) {
  const HandleCodec& codec = saving.codec;
  const format::TypeTable& types = saving.process.types;
  if (!looks_for_handles(saving) || types.accessor(type) != nullptr) return Result();
  const format::TypeInfo& info = types.info(type);
  const bool bytes = info.kind == format::kByte;
  const bool all = bytes && saving.process.is_prepared;
  // Copied to any place; or, where handles are integers that nobody copies as bytes, to where such lie.
  const bool is_aligned = codec.are_integers && !saving.process.handles_go_anywhere;
  if (bytes || may_be_handle(info)) {
    const uint64_t most = saving.process.is_prepared ? kMostPreparedNumbers : kMostPerhapsHandles;
    if (count > (bytes ? most * sizeof(void*) : most) && !all) return Result();
    for (const size_t size : {sizeof(int), sizeof(void*)}) {
      if (!bytes && info.size != size) continue;
      if (size != sizeof(void*) && !codec.are_integers) continue;
      const uint64_t end = count * info.size;
      for (uint64_t i = 0; i + size <= end; i += all ? 1 : size) {
        if (all) i = behind_zeros(at, i, end, size);
        if (all && is_aligned) i += (~reinterpret_cast<uintptr_t>(at + i) + 1) % sizeof(int);
        if (i + size <= end) ELC_TRY(check_handle(saving, at + i, size));
      }
    }
  }
  if (saving.process.is_prepared && may_have_handles(codec, info) && count <= kMostPreparedNumbers) {
    // A member that is one number is no memory for something else, as an array may be; and there may be millions.
    const bool is_number = is_member && count == 1 && info.kind == format::kDouble && is_ordinary(at);
    for (uint64_t i = 0; i < count * info.size && !is_number; i += sizeof(int)) ELC_TRY(check_handle(saving, at + i, sizeof(int)));
  }
  if (info.kind == format::kStruct) {
    for (uint64_t i = 0; i < count; ++i)
      for (const format::FieldInfo& field : types.fields(type))
        ELC_TRY(check_numbers(saving, field.type, at + i * info.size + field.offset, field.count, true));
  }
  return Result();
}

// check_addresses() has found the handles that are addresses, where an address may be.
Result check_numbers_of_heap(const Saving& saving, TypeId type, const uint8_t* at, uint64_t count) {
  const Process& p = saving.process;
  if (!p.is_prepared) return Result();
  const bool may_have = p.types.info(type).has_byte || (saving.codec.are_integers && has_integer(p.types, type));
  return may_have ? check_numbers(saving, type, at, count) : Result();
}

// A global array of long double may be memory that the program gives out itself, for whatever there is; of locals what is between may be anything.
Result check_holes(const Process& p, const Region& region) {
  const format::TypeInfo& info = p.types.info(region.type);
  if (format::part_of_complex(info.kind) != format::kLdouble) return Result();
  Vector<Doubtful> all;
  find_doubtful(p.types, region.type, 0, &all);
  for (uint64_t i = 0; i < region.count; ++i)
    if (!is_of_type(p, all, static_cast<const uint8_t*>(region.address) + i * info.size))
      return Result::error("there is something between its numbers, as where it is memory for other things: let that be an array of char or double, or of malloc");
  return Result();
}

Result save_variables(Saving& saving, const LeafEncoder& leaves) {
  const Process& p = saving.process;
  Vector<const Region*> regions;
  list_regions(p, &regions);
  saving.writer.begin_section("vars", true);
  write_directory(saving.writer, p, regions);
  saving.writer.end_piece();
  uint64_t number = 0;
  for (const Region* region : regions) {
    saving.writer.cut_before(++number, region->size);
    saving.target = region->target;
    Result written = check_numbers(saving, region->type, static_cast<const uint8_t*>(region->address), region->count);
    if (written.ok() && p.is_prepared && region - p.globals.data() < static_cast<ptrdiff_t>(p.globals.size())) written = check_holes(p, *region);
    if (written.ok() && region->is_checked) written = check_addresses(p, region->address, region->size, region->type, &saving.process.told);
    if (written.ok()) written = saving.writer.write_value(region->type, region->address, region->count, leaves);
    if (!written.ok())
      return Result::error("saving '%s' of %s: %s", region->name, owner_of(p, *region).c_str(),
                           written.message());
    if (saving.wild.pointers > 0) report_wild(saving, saving.wild, region->name, owner_of(p, *region).c_str());
    saving.wild = {};
  }
  saving.target = format::kNone;
  saving.writer.end_section();
  save_declared(saving.writer, regions);
  return Result();
}

// Consecutive blocks of one shape, as the directory of the heap lists them.
struct HeapRun {
  uint64_t first_id, blocks;
  TypeId type;
  uint64_t count, rest;

  bool continued_by(const HeapRun& next) const {
    return type == next.type && count == next.count && rest == next.rest &&
           first_id + blocks == next.first_id && count + rest > 0;
  }
};

HeapRun run_of(const Process& p, const Block& block) {
  const uint64_t count = elements_of(p, block);
  return {block.id, 1, block.type, count, block.size - count * p.types.size_of(block.type)};
}

// Calls visit(run) for each.
template <class F>
void each_run(Process& p, F visit) {
  const Vector<Block>& blocks = p.heap.slots();
  for (size_t i = 0; i < blocks.size();) {
    HeapRun run = run_of(p, blocks[i]);
    while (++i < blocks.size() && run.continued_by(run_of(p, blocks[i]))) ++run.blocks;
    visit(run);
  }
}

// Found twice, and not kept: there may be as many as blocks.
void write_runs(Encoder& out, Process& p) {
  uint64_t runs = 0;
  each_run(p, [&](const HeapRun&) { ++runs; });
  out.u32(kHeapLayout);
  out.u64(p.heap.next_id());
  out.u64(runs);
  each_run(p, [&](const HeapRun& run) {
    out.u64(run.first_id);
    out.u64(run.blocks);
    out.i32(run.type);
    out.u64(run.count);
    out.u64(run.rest);
  });
}

Result save_heap(Saving& saving, const LeafEncoder& leaves) {
  Process& p = saving.process;
  saving.writer.begin_section("heap", true);
  write_runs(saving.writer.encoder(), p);
  saving.writer.end_piece();
  for (const Block& block : p.heap.slots()) {
    saving.writer.cut_before(block.id, block.size);
    const HeapRun run = run_of(p, block);
    if (!p.is_prepared && run.type == format::kByte) ELC_TRY(check_untyped(p, block));
    Result checked = check_addresses(p, block.address, block.size - run.rest, run.type, &p.told);
    if (checked.ok()) checked = check_numbers_of_heap(saving, run.type, block.address, run.count);
    if (checked.ok()) checked = check_numbers_of_heap(saving, format::kByte, block.address + (block.size - run.rest), run.rest);
    if (checked.ok()) checked = check_addresses(p, block.address + (block.size - run.rest), run.rest, format::kByte, &p.told);
    const auto failed = [&](const Result& why) {
      return Result::error("saving a heap block of %llu bytes (%s): %s%s", static_cast<unsigned long long>(block.size), p.types.info(run.type).name, why.message(),
                           who_leads_to(p, block).c_str());
    };
    if (!checked.ok()) return failed(checked);
    if (p.is_prepared && block.id >= p.first_prepared && is_written_behind(block))
      return Result::error("the program has written behind a block of %llu bytes, where malloc has a little more than what it was asked for, and a line has not: "
                           "ask for as much as is written (elements * sizeof, + 1 for the end of a text)%s", static_cast<unsigned long long>(block.size), who_leads_to(p, block).c_str());
    Result written = saving.writer.write_value(run.type, block.address, run.count, leaves);
    if (written.ok() && run.rest > 0)
      written =
          saving.writer.write_value(format::kByte, block.address + (block.size - run.rest), run.rest, leaves);
    if (!written.ok()) return failed(written);
    add_wild(saving, run.type);
  }
  for (const Wild& wild : saving.wild_in_heap) report_wild(saving, wild, p.types.info(wild.type).name, "the heap");
  saving.writer.end_section();
  return Result();
}

}  // namespace

// A call behind which there are no lines at all is told first, by begin_save().
Result check_files() {
  Process& p = process();
  if (p.unfit != nullptr) return Result();
  ELC_TRY(check_threads());
  ELC_TRY(check_opened(p));
  ELC_TRY(check_mappings(p));
  ELC_TRY(p.streams.check_called());
  return check_made(p);
}

// Of the line: at once what is a handle of MPI is known.
static HandleCodec codec_of_line;

AsInLine::AsInLine() : codec_(process().codec) { process().codec = &codec_of_line; }
AsInLine::~AsInLine() { process().codec = codec_; }

Result begin_save(const HandleCodec& codec) {
  Process& p = process();
  codec_of_line = codec;
  p.codec = &codec_of_line;
  ELC_TRY(register_noted(p));
  if (!p.unregistered.empty())
    return Result::error("%s could not be registered, so a line would not be whole", p.unregistered.c_str());
  if (!p.missing.empty()) {
    const Missing& one = p.missing[0];
    const Text of = one.function.empty() ? Text() : Text::format(" of %s()", one.function.c_str());
    return Result::error("'%.100s'%s could not be registered, so a line would not be whole (if the program does without it: ELC_Unregister)",
                         one.name.c_str(), of.c_str());
  }
  if (p.unfit != nullptr) return Result::error("the program has called %s", p.unfit);
  ELC_TRY(enter_described_frames(p));
  ELC_TRY(check_way_back(p));
  close_up(p);
  if (!p.is_prepared) ELC_TRY(check_left(p));
  ELC_TRY(locate_resizing(p));
  if (p.random != nullptr) ELC_TRY(p.random->take());
  ELC_TRY(take_library());
  take_numbers(p);
  p.knows_files = false;
  p.heap.arrange();  // what is freed may be no memory any more
  forget_parts(p);
  guess_types(p);
  note_places(p);
  forget_starts();
  find_gaps(p);
  if (p.blocks == nullptr) p.blocks = make<BlockMap>();
  ELC_TRY(p.blocks->build(p));
  find_shared(p);
  settle_moved(p);
  find_tables(p);
  find_parts(p);
  find_reused(p);
  find_rows(p);
  p.first_since_line = p.heap.next_id();
  return Result();
}

void end_save() {
  Process& p = process();
  leave_described_frames(p);
  p.codec = nullptr;
}

Result save_files(format::Writer& writer, uint64_t line) { return process().streams.save(writer, line); }

Result save_data(format::Writer& writer) {
  process().told.clear();
  Saving saving = {process(), writer, codec_of_line};
  const LeafEncoder leaves = {&saving, encode_pointer, encode_handle, encode_status, encode_address};
  ELC_TRY(save_variables(saving, leaves));
  return save_heap(saving, leaves);
}

Result save(format::Writer& writer, const HandleCodec& codec) {
  Result saved = begin_save(codec);
  if (saved.ok()) saved = save_data(writer);
  if (saved.ok()) saved = save_files(writer, 0);
  end_save();
  return saved;
}

static bool asks_mpi(const format::TypeTable& types, TypeId type) {
  const format::TypeInfo& info = types.info(type);
  if (info.kind == format::kStruct || info.kind == format::kUnion) {
    for (const format::FieldInfo& field : types.fields(type))
      if (asks_mpi(types, field.type)) return true;
    return false;
  }
  switch (info.kind) {
    case format::kMpiComm:
    case format::kMpiRequest:
    case format::kMpiFile:
    case format::kMpiWin:
    case format::kMpiOp:
    case format::kMpiErrhandler: return types.accessor(type) != nullptr;  // a number of Fortran, which MPI knows
    case format::kMpiAint: return false;
    default: return info.kind >= format::kMpiComm && info.kind < format::kKindCount;
  }
}

bool has_data_of_mpi() {
  Process& p = process();
  Vector<const Region*> regions;
  list_regions(p, &regions);
  for (const Region* region : regions)
    if (asks_mpi(p.types, region->type)) return true;
  Vector<bool> is_known;
  is_known.resize(static_cast<size_t>(p.types.end()));
  for (const Block& block : p.heap.slots())
    if (!std::exchange(is_known[static_cast<size_t>(block.type)], true) && asks_mpi(p.types, block.type)) return true;
  return false;
}

uint64_t size_of_data() { return process().blocks->size(); }

uint64_t heap_blocks() { return process().heap.size(); }

bool has_data_in(uintptr_t begin, uintptr_t end) { return process().blocks->has_some_in(begin, end); }

format::PointerLeaf locate(const void* address) {
  const Process& p = process();
  if (p.blocks == nullptr) return {address == nullptr ? format::kNullBlock : format::kWildBlock, 0};
  return p.blocks->encode(address);
}

bool is_registered(uintptr_t begin, uint64_t size) {
  return process().blocks != nullptr && process().blocks->holds(begin, size);
}

bool is_variable(uintptr_t begin, uint64_t size) {
  return process().blocks != nullptr && process().blocks->holds_variable(begin, size, false);
}

bool has_resizing() {
  const Process& p = process();
  for (const Vector<Region>* regions : {&p.globals, &p.locals})
    for (const Region& region : *regions)
      if (region.resizes) return true;
  return false;
}

bool is_resizing(uintptr_t begin, uint64_t size) {
  return process().blocks != nullptr && process().blocks->holds_variable(begin, size, true);
}

uint64_t largest_block() { return process().blocks == nullptr ? 0 : process().blocks->largest(); }

}  // namespace elc::state
