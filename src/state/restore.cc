// Restoring: check() goes over a whole line without changing anything, fill() goes over it again, in between make_places().
#include <stdlib.h>
#include <string.h>

#include "elc_program.h"
#include "portable_format/integer.h"
#include "state/asked.h"
#include "state/blocks.h"
#include "state/huge_pages.h"
#include "state/image.h"
#include "state/library.h"
#include "state/process.h"
#include "state/random.h"
#include "state/state.h"

namespace elc::state {
namespace {

using format::LeafDecoder;
using format::PointerLeaf;

struct Restoring {
  Process& process;
  Image& image;
  const HandleCodec* codec;  // nullptr while checking
  TypeId target = format::kNone;  // what the pointers of the variable at hand point to, if the program said it
  uint64_t wild = 0;
};

unsigned long long number(uint64_t value) { return static_cast<unsigned long long>(value); }

// The place in memory of a pointer of the line. `address` is nullptr while checking.
Result resolve(const Image& image, const format::TypeTable& types, const PointerLeaf& in, uint8_t** address) {
  Image::Target target;
  if (!image.target(in.block, &target))
    return Result::error("the checkpoint file is damaged: a pointer into block %llu, which is not there",
                         number(in.block));
  if (target.run != nullptr && !target.run->misfit.ok())
    return Result::error("it points to a heap block that cannot be restored: %s",
                         target.run->misfit.message());
  if (target.gone != nullptr)
    return Result::error("it points to '%s' of %s, which the program has not registered any more", target.gone->name.c_str(),
                         image.owner(*target.gone).c_str());
  if (target.waiting)
    return Result::error("it points to a static whose function the program has not called yet, so that its place is not known");
  const bool is_before = format::leaves_before(in.position) > 0;
  uint64_t offset = 0;
  if ((is_before && (target.run == nullptr || !process().is_prepared)) ||
      (in.position != 0 && !offset_in(types, target.type, target.count, target.rest, in.position, image.writer, &offset)))
    return Result::error(is_before ? "it points to before a block of memory: this program does not follow that, or this machine has not as many addresses"
                                   : "it points into the middle of a value that is of another size on this machine");
  const uintptr_t begin = reinterpret_cast<uintptr_t>(target.address);
  *address = begin == 0 ? nullptr : reinterpret_cast<uint8_t*>(begin + static_cast<uintptr_t>(offset));
  if (is_before && begin != 0) {
    process().moved.at(reinterpret_cast<uintptr_t>(*address)) = {begin, in.block - format::kFirstById, 0};
    ELC_Program_moves = 1;
  }
  return Result();
}

Result decode_function(Restoring& restoring, uint64_t in, void* leaf) {
  void (*function)(void) = nullptr;
  const Image& image = restoring.image;
  if (in == kWildFunction) {
    ++restoring.wild;
    function = reinterpret_cast<void (*)(void)>(kWildAddress);
  } else if (const auto mark = static_cast<int64_t>(in - kFunctionMark); is_mark(mark)) {
    function = reinterpret_cast<void (*)(void)>(static_cast<intptr_t>(mark));
  } else if (in > image.functions.size()) {
    return Result::error("the checkpoint file is damaged: a pointer to a function without a name");
  } else if (in > 0) {
    const size_t index = static_cast<size_t>(in - 1);
    function = image.functions[index];
    if (function == nullptr)
      return Result::error("it points to the function %s, which the program has not registered: ELC_FUNC(%s)",
                           image.function_names[index].c_str(), image.function_names[index].c_str());
  }
  if (leaf != nullptr) memcpy(leaf, &function, sizeof function);
  return Result();
}

Result decode_file(Restoring& restoring, uint64_t in, void* leaf) {
  const Streams& streams = restoring.process.streams;
  if (in != kWildStream && in >= kFirstStream + streams.saved_count())
    return Result::error("the checkpoint file is damaged: a stream that is not there");
  if (in == kWildStream) ++restoring.wild;  // closed: it was not NULL, either
  FILE* file = in == kWildStream ? reinterpret_cast<FILE*>(kWildAddress) : streams.stream_of(in);
  if (leaf != nullptr) memcpy(leaf, &file, sizeof file);
  return Result();
}

Result decode_pointer(void* context, const PointerLeaf& in, void* leaf) {
  Restoring& restoring = *static_cast<Restoring*>(context);
  uint8_t* address = nullptr;
  if (in.block == format::kWildBlock) {
    address = reinterpret_cast<uint8_t*>(kWildAddress);
    const bool is_narrow = restoring.image.writer.width[format::kPointer] == 4;
    const int64_t value = is_narrow ? static_cast<int32_t>(in.position) : static_cast<int64_t>(in.position);
    // Where the program lies below, it has done so when the line was taken, which has addresses of what was gone.
    const bool is_kept = restoring.process.makes_pointers && !is_narrow && is_number(value);
    if (is_kept && !is_mark(value) && sizeof address == 4)
      return Result::error("the program has put the number %lld into a pointer, which may be an address here: restart it where pointers have 64 bits", static_cast<long long>(value));
    if (is_mark(value) || (is_kept && tells_numbers(restoring.process))) address = reinterpret_cast<uint8_t*>(static_cast<intptr_t>(value));
    else ++restoring.wild;
  } else if (in.block == format::kStreamBlock) {
    FILE* stream = nullptr;
    ELC_TRY(decode_file(restoring, in.position, leaf == nullptr ? nullptr : &stream));
    address = reinterpret_cast<uint8_t*>(stream);
  } else if (in.block == format::kFunctionBlock) {
    void (*function)(void) = nullptr;
    ELC_TRY(decode_function(restoring, in.position, leaf == nullptr ? nullptr : &function));
    address = reinterpret_cast<uint8_t*>(function);
  } else if (in.block != format::kNullBlock) {
    ELC_TRY(resolve(restoring.image, restoring.process.types, in, &address));
    if (leaf == nullptr && restoring.target != format::kNone) restoring.image.tell(in.block, restoring.target);
  }
  if (leaf != nullptr) memcpy(leaf, &address, sizeof address);
  return Result();
}

Result decode_address(void* context, const PointerLeaf& in, void* leaf) {
  const Restoring& restoring = *static_cast<Restoring*>(context);
  const size_t size = static_cast<size_t>(restoring.process.types.info(format::kMpiAint).size);
  int64_t value = static_cast<int64_t>(in.position);
  if (in.block == format::kNullBlock) {
    if (size < 8 && value != static_cast<int32_t>(value))
      return Result::error("the value %lld does not fit an MPI_Aint of this machine", static_cast<long long>(value));
  } else {
    void* address = nullptr;
    ELC_TRY(decode_pointer(context, in, leaf == nullptr ? nullptr : &address));
    if (leaf != nullptr && restoring.codec->note_address != nullptr) restoring.codec->note_address(address);
    value = static_cast<int64_t>(reinterpret_cast<intptr_t>(address));
  }
  if (leaf != nullptr) format::store_integer(static_cast<uint8_t*>(leaf), size, false, static_cast<uint64_t>(value));
  return Result();
}

Result decode_handle(void* context, Kind kind, uint64_t in, void* leaf) {
  Restoring& restoring = *static_cast<Restoring*>(context);
  if (kind == format::kFunction) return decode_function(restoring, in, leaf);
  if (kind == format::kFile) return decode_file(restoring, in, leaf);
  if (leaf == nullptr) return Result();
  if (restoring.codec->decode == nullptr) return Result::error("an MPI handle, but this program has no MPI");
  return restoring.codec->decode(restoring.codec->context, kind, in, leaf);
}

Result decode_status(void* context, const format::StatusLeaf& in, void* leaf) {
  Restoring& restoring = *static_cast<Restoring*>(context);
  if (leaf == nullptr) return Result();
  if (restoring.codec->decode_status == nullptr)
    return Result::error("an MPI status, but this program has no MPI");
  return restoring.codec->decode_status(restoring.codec->context, in, leaf);
}

// Goes over a value: reads it to `address`, or with nullptr looks whether it could be read. Between machines
// of one representation only leaves of the layer above can fail to fit.
Result pass_value(format::Cursor& in, const Restoring& restoring, const format::Reader& reader, TypeId from,
                  TypeId to, void* address, uint64_t count, const LeafDecoder& leaves) {
  const format::TypeTable& types = restoring.process.types;
  if (address != nullptr) return in.read_value(from, types, to, address, count, leaves);
  const format::TypeInfo& info = reader.types().info(from);
  if (restoring.image.is_of_here && !info.has_handle && !info.walked && !types.info(to).walked) return in.skip_value(from, count);
  return in.check_value(from, types, to, count, leaves);
}

// What the program has no room for.
Result pass_end_of_text(format::Cursor& in, const Restoring& restoring, const SavedVariable& v, const LeafDecoder& leaves) {
  for (uint64_t left = v.count - v.region->count; left > 0; --left) {
    char end = 0;
    ELC_TRY(in.read_value(v.type, restoring.process.types, v.region->type, &end, 1, leaves));
    if (end != '\0')
      return Result::error("it has %llu characters in the line, and there is room for %llu in the program: restart it with the MPI that the line was taken with",
                           number(v.count), number(v.region->count));
  }
  return Result();
}

Result pass_variables(format::Cursor& in, Restoring& restoring, const format::Reader& reader, bool change) {
  const LeafDecoder leaves = {&restoring, decode_pointer, decode_handle, decode_status, decode_address};
  for (const SavedVariable& v : restoring.image.variables) {
    if (v.region == nullptr) {
      ELC_TRY(in.skip_value(v.type, v.count));
      continue;
    }
    restoring.wild = 0;
    restoring.target = v.region->target;
    if (v.region->is_number) {
      int number[kNumberWords];
      ELC_TRY(in.read_value(v.type, restoring.process.types, v.region->type, number, v.count, leaves));
      ELC_TRY(take_number(*v.region, number, change));
      continue;
    }
    Result passed = pass_value(in, restoring, reader, v.type, v.region->type, change && !v.region->is_constant ? v.region->address : nullptr,
                               v.is_cut ? v.region->count : v.count, leaves);
    if (passed.ok() && v.is_cut) passed = pass_end_of_text(in, restoring, v, leaves);
    if (!passed.ok())
      return Result::caused(passed.cause(), "'%s' of %s: %s", v.name.c_str(), restoring.image.owner(v).c_str(),
                            passed.message());
    if (restoring.wild > 0 && change && restoring.process.check_pointers)
      say("'%s' of %s: %llu of its pointers pointed to nothing that was registered; their value is %p now",
          v.name.c_str(), restoring.image.owner(v).c_str(), number(restoring.wild),
          reinterpret_cast<void*>(kWildAddress));
  }
  return in.finish();
}

// Bytes that nobody has written, as where a program rounds sizes up, are zeros on all machines.
Result pass_zeros(format::Cursor& in, uint64_t count, uint8_t* address) {
  uint8_t bytes[256];
  for (uint64_t left = count; left > 0;) {
    const uint64_t part = left < sizeof bytes ? left : sizeof bytes;
    in.bytes(bytes, static_cast<size_t>(part));
    if (!in.ok()) return in.finish();
    for (uint64_t i = 0; i < part; ++i)
      if (bytes[i] != 0) return Result::error("what comes behind its elements is bytes, which go to no machine of another representation");
    left -= part;
  }
  if (address != nullptr) memset(address, 0, static_cast<size_t>(count));
  return Result();
}

Result pass_block(format::Cursor& in, Restoring& restoring, const format::Reader& reader, const SavedRun& run,
                  uint8_t* address, const LeafDecoder& leaves) {
  ELC_TRY(pass_value(in, restoring, reader, run.type, run.memory_type, address, run.count, leaves));
  if (run.rest == 0) return Result();
  uint8_t* rest = address == nullptr ? nullptr : address + (run.size - run.rest);
  if (!restoring.image.is_of_here) return pass_zeros(in, run.rest, rest);
  return pass_value(in, restoring, reader, format::kByte, format::kByte, rest, run.rest, leaves);
}

Result pass_heap(format::Cursor& in, Restoring& restoring, const format::Reader& reader, bool change) {
  const LeafDecoder leaves = {&restoring, decode_pointer, decode_handle, decode_status, decode_address};
  const Image& image = restoring.image;
  restoring.wild = 0;
  for (const SavedRun& run : image.runs) {
    const char* type = reader.types().info(run.type).name;
    if (!run.misfit.ok())
      return Result::error("a heap block of %llu elements of %s: %s", number(run.count), type,
                           run.misfit.message());
    for (uint64_t i = 0; i < run.blocks; ++i) {
      uint8_t* address = change ? image.addresses[static_cast<size_t>(run.first + i)] : nullptr;
      const Result passed = pass_block(in, restoring, reader, run, address, leaves);
      if (!passed.ok())
        return Result::caused(passed.cause(), "a heap block of %llu elements of %s: %s", number(run.count), type,
                              passed.message());
    }
  }
  if (restoring.wild > 0 && change && restoring.process.check_pointers)
    say("%llu pointers on the heap pointed to nothing that was registered; their value is %p now",
        number(restoring.wild), reinterpret_cast<void*>(kWildAddress));
  return in.finish();
}

// Memory for a block of the line.
void* new_memory(const Process& p, size_t size) {
  const size_t alignment = p.aligns ? aligned_for(static_cast<size_t>(alignment_of(size)), size) : 0;
  return alignment == 0 ? zeroed(1, size) : zeroed_at(alignment, size);
}

// Gives every block of the line its memory. A block that the set-up has made again - the same count of blocks
// before it, the same size - keeps its address; other blocks of the set-up were freed or resized by the time
// of the line.
Result allocate_blocks(Process& p, Image& image) {
  const size_t count = static_cast<size_t>(image.blocks);
  Vector<Block> before, blocks;
  if (!blocks.make_room(count) || !image.addresses.make_room(count))
    return no_memory(image.blocks * sizeof(Block), "the table of the heap of the line");
  p.heap.arrange();
  before.swap(p.heap.slots());
  for (const Block& block : before)  // what stays of them is asked for anew
    if (block.has_huge_pages) return_huge_pages(block.size);
  size_t old = 0;
  Result status;
  for (const SavedRun& run : image.runs) {
    for (uint64_t i = 0; i < run.blocks && status.ok(); ++i) {
      const uint64_t id = run.first_id + i;
      while (old < before.size() && before[old].id < id) free(before[old++].address);
      const bool same = old < before.size() && before[old].id == id;
      void* memory = same && before[old].size == run.size ? before[old].address : nullptr;
      if (same && memory == nullptr) free(before[old].address);
      if (same) ++old;
      const bool is_new = memory == nullptr;
      if (is_new) memory = new_memory(p, static_cast<size_t>(run.size));
      if (memory == nullptr) {
        status = Result::error("there is no memory for the heap of the line: a block of %llu bytes",
                               number(run.size));
        break;
      }
      image.addresses.push_back(static_cast<uint8_t*>(memory));
      const bool is_open = run.count == 1 && run.rest > 0 && run.memory_type != format::kPointer;  // what follows one element is no other
      const bool has_rows = run.memory_type == format::kPointer && run.rest >= sizeof(void*);
      const bool is_of_that_line = has_rows || is_name_of_parts(p.types.info(run.memory_type).name);
      blocks.push_back({static_cast<uint8_t*>(memory), run.size, id, run.memory_type, is_of_that_line, p.is_prepared && run.memory_type == format::kByte, is_open});
      if (is_new) blocks[blocks.size() - 1].has_huge_pages = ask_for_huge_pages(memory, run.size);  // before it is filled
    }
  }
  while (old < before.size()) free(before[old++].address);
  p.first_since_line = image.next_id;
  if (p.heap.take_over(std::move(blocks), image.next_id)) return note_parts(p), status;
  return no_memory(image.blocks * sizeof(uint32_t), "the table of the heap of the line");
}

}  // namespace

bool is_filled_from(const char* section) { return strcmp(section, "vars") == 0 || strcmp(section, "heap") == 0; }

Result saved_count(format::Reader& reader, const char* name, int64_t* count) {
  *count = -1;
  ELC_TRY(check_name("ELC_Saved_count", name));
  Image image;
  format::Cursor variables;
  ELC_TRY(variables.open(&reader, "vars"));
  ELC_TRY(image.read_variables(variables));
  const size_t frame = process().frames.size();
  for (const SavedVariable& v : image.variables)
    if ((v.frame == frame || (v.frame == 0 && *count < 0)) && v.name.view() == name)
      *count = v.count > INT64_MAX ? INT64_MAX : static_cast<int64_t>(v.count);
  return Result();
}

Result check(format::Reader& reader) {
  Process& p = process();
  ELC_TRY(register_noted(p));
  close_up(p);
  destroy(p.image);
  p.image = make<Image>();
  Restoring restoring = {p, *p.image, nullptr};
  format::Cursor variables, heap;
  ELC_TRY(variables.open(&reader, "vars"));
  ELC_TRY(p.image->read_variables(variables));
  ELC_TRY(p.image->read_declared(reader));
  ELC_TRY(heap.open(&reader, "heap"));
  ELC_TRY(p.image->read_heap(heap, reader));
  for (const SavedVariable& v : p.image->variables)
    if (v.frame == 0 && v.name.view() == kRandomName) ELC_TRY(register_random());
  ELC_TRY(keep_statics(p, *p.image, reader, variables.left()));
  ELC_TRY(p.image->match(p, reader));
  for (const SavedVariable& v : p.image->variables)
    if (v.region != nullptr && v.region->resizes) expect_elements(p, v.region, v.count);
  ELC_TRY(p.streams.check(reader));
  ELC_TRY(pass_variables(variables, restoring, reader, false));
  restoring.target = format::kNone;
  ELC_TRY(p.image->retype_runs(p, reader));
  return pass_heap(heap, restoring, reader, false);
}

Result make_places() {
  Process& p = process();
  if (p.image == nullptr) return Result::error("a line is to be restored that was not checked");
  ELC_TRY(p.streams.prepare());
  ELC_TRY(allocate_blocks(p, *p.image));
  for (const SavedVariable& v : p.image->variables)
    if (v.region != nullptr && v.region->resizes) ELC_TRY(make_room_for(p, v.region));
  return {};
}

Result fill(format::Reader& reader, const HandleCodec& codec) {
  Process& p = process();
  if (p.image == nullptr || p.image->addresses.size() != p.image->blocks)
    return Result::error("a line is to be restored that was not checked, or whose data have no places");
  Restoring restoring = {p, *p.image, &codec};
  Image directory;  // read over, to come to the values
  format::Cursor variables, heap;
  ELC_TRY(variables.open(&reader, "vars"));
  ELC_TRY(directory.read_variables(variables));
  ELC_TRY(heap.open(&reader, "heap"));
  ELC_TRY(Image::pass_over_heap(heap));
  ELC_TRY(pass_variables(variables, restoring, reader, true));
  ELC_TRY(pass_heap(heap, restoring, reader, true));
  ELC_TRY(tell_restored(p));
  if (p.random != nullptr) ELC_TRY(p.random->put());
  return put_library();
}

Result bring_back_files(format::Reader& reader, AllWell all_well) { return process().streams.apply(reader, all_well); }

const Vector<Text>& changes() { return process().image->changes; }

void* address_of(const PointerLeaf& pointer) {
  const Process& p = process();
  uint8_t* address = nullptr;
  if (p.image == nullptr || !format::is_block(pointer)) return nullptr;
  // What MPI has of it has the types of the line.
  Image::Target target;
  if (!p.image->target(pointer.block, &target) || target.is_other) return nullptr;
  return resolve(*p.image, p.types, pointer, &address).ok() ? address : nullptr;
}

}  // namespace elc::state
