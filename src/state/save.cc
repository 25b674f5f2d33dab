// Saving: the sections "vars", "heap" and "files" of a checkpoint file (portable_format/FORMAT.md).
#include <string.h>

#include "state/blocks.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

using format::LeafEncoder;
using format::PointerLeaf;

// Blocks of this size and more begin a chunk of their own, so that an unchanged one has unchanged chunks.
constexpr uint64_t kOwnChunk = 256 * 1024;
// Messages about wild pointers in one line.
constexpr uint64_t kMostWildMessages = 10;

struct Saving {
  Process& process;
  format::Writer& writer;
  const HandleCodec& codec;
  uint64_t wild = 0;  // pointers in the value that is being written
  uintptr_t wild_address = 0;
  uint64_t messages = 0;
  TypeId target = format::kNone;  // what the pointers of the variable at hand point to, if the program said it
};

void note_wild(Saving& saving, uintptr_t address) {
  ++saving.wild;
  saving.wild_address = address;
}

Status encode_pointer(void* context, const void* leaf, PointerLeaf* out) {
  Saving& saving = *static_cast<Saving*>(context);
  const void* pointer;
  memcpy(&pointer, leaf, sizeof pointer);
  *out = saving.process.blocks->encode(pointer, saving.target);
  if (out->block == format::kWildBlock) note_wild(saving, reinterpret_cast<uintptr_t>(pointer));
  return Status();
}

uint64_t number_of_function(Saving& saving, const void* leaf) {
  void (*function)(void);
  memcpy(&function, leaf, sizeof function);
  if (function == nullptr) return 0;
  const uint32_t* index = saving.process.function_by_address.find(reinterpret_cast<uintptr_t>(function));
  if (index != nullptr) return *index;
  note_wild(saving, reinterpret_cast<uintptr_t>(function));
  return kWildFunction;
}

Status encode_handle(void* context, Kind kind, const void* leaf, uint64_t* out) {
  Saving& saving = *static_cast<Saving*>(context);
  if (kind == format::kFunction) {
    *out = number_of_function(saving, leaf);
    return Status();
  }
  if (kind == format::kFile) {
    FILE* file;
    memcpy(&file, leaf, sizeof file);
    *out = saving.process.streams.number_of(file);
    if (*out == kWildStream) note_wild(saving, reinterpret_cast<uintptr_t>(file));
    return Status();
  }
  if (saving.codec.encode == nullptr) return Status::error("an MPI handle, but this program has no MPI");
  return saving.codec.encode(saving.codec.context, kind, leaf, out);
}

Status encode_status(void* context, const void* leaf, format::StatusLeaf* out) {
  const HandleCodec& codec = static_cast<Saving*>(context)->codec;
  if (codec.encode_status == nullptr) return Status::error("an MPI status, but this program has no MPI");
  return codec.encode_status(codec.context, leaf, out);
}

// A pointer to something unknown is an error only to who asked to hear of it.
void report_wild(Saving& saving, const char* name, const char* owner) {
  if (saving.wild > 0 && saving.process.check_pointers && saving.messages++ < kMostWildMessages)
    say("saving '%s' of %s: %llu of its pointers point to nothing that is registered (the last to %#llx) and "
        "will be "
        "invalid after a restart",
        name, owner, static_cast<unsigned long long>(saving.wild),
        static_cast<unsigned long long>(saving.wild_address));
  saving.wild = 0;
}

// A restart comes back to the site only if each function on the stack was called at a label of its own.
Status check_labels(const Process& p) {
  for (size_t i = 0; i < p.frames.size(); ++i) {
    const bool innermost = i + 1 == p.frames.size();
    if (p.frames[i].label != 0 && (innermost || p.frames[i].entered_here)) continue;
    if (innermost)
      return Status::error("%s() has come to a site without a label: put ELC_AT before the call",
                           p.frames[i].function);
    return Status::error(
        "%s() was called from %s() without a label, so that a restart could not come back to it: put ELC_AT "
        "before "
        "the call",
        p.frames[i + 1].function, p.frames[i].function);
  }
  return Status();
}

// Blocks that are bytes because the program said nothing, but to which typed pointers point, are of the
// pointers' type in this line. Pointers that disagree leave them bytes.
void guess_types(Process& p) {
  for (Block& block : p.heap.slots()) {
    if (!block.guessed) continue;
    block.type = format::kByte;
    block.guessed = false;
  }
  Vector<const Region*> regions;
  list_regions(p, &regions);
  for (const Region* region : regions) {
    if (region->target == format::kNone) continue;
    for (uint64_t i = 0; i < region->count; ++i) {
      void* pointer;
      memcpy(&pointer, region->address + i * sizeof pointer, sizeof pointer);
      Block* block = pointer == nullptr ? nullptr : p.heap.find(pointer);
      if (block == nullptr || block->size % p.types.size_of(region->target) != 0) continue;
      if (block->type == format::kByte && !block->guessed) {
        block->type = region->target;
        block->guessed = true;
      } else if (block->guessed && block->type != region->target) {
        block->type = format::kByte;  // stays guessed: nobody else may say
      }
    }
  }
}

void write_directory(Encoder& out, const Process& p, const Vector<const Region*>& regions) {
  out.u32(kSectionLayout);
  out.u64(p.frames.size());
  for (const Frame& frame : p.frames) {
    out.string(frame.function);
    out.i32(frame.label);
  }
  out.u64(p.functions.size());
  for (const Function& function : p.functions) out.string(function.name.view());
  out.u64(regions.size());
  size_t frame = 0;
  for (size_t i = 0; i < regions.size(); ++i) {
    const Region& region = *regions[i];
    if (i >= p.globals.size()) {
      const size_t index = i - p.globals.size();
      while (frame < p.frames.size() && p.frames[frame].first_region <= index) ++frame;
    }
    out.u32(static_cast<uint32_t>(frame));
    out.string(region.name);
    out.i32(region.type);
    out.u64(region.count);
  }
}

Status save_variables(Saving& saving, const LeafEncoder& leaves) {
  const Process& p = saving.process;
  Vector<const Region*> regions;
  list_regions(p, &regions);
  saving.writer.begin_section("vars");
  write_directory(saving.writer.encoder(), p, regions);
  for (const Region* region : regions) {
    if (region->size >= kOwnChunk) saving.writer.cut();
    saving.target = region->target;
    const Status written = saving.writer.write_value(region->type, region->address, region->count, leaves);
    if (!written.ok())
      return Status::error("saving '%s' of %s: %s", region->name, owner_of(p, *region).c_str(),
                           written.message());
    report_wild(saving, region->name, owner_of(p, *region).c_str());
  }
  saving.target = format::kNone;
  saving.writer.end_section();
  return Status();
}

// Consecutive blocks of one shape, as the directory of the heap lists them.
struct Run {
  uint64_t first_id, blocks;
  TypeId type;
  uint64_t count, rest;

  bool continued_by(const Run& next) const {
    return type == next.type && count == next.count && rest == next.rest &&
           first_id + blocks == next.first_id && count + rest > 0;
  }
};

Run run_of(const Process& p, const Block& block) {
  const uint64_t count = elements_of(p, block);
  return {block.id, 1, block.type, count, block.size - count * p.types.size_of(block.type)};
}

void write_runs(Encoder& out, Process& p) {
  Vector<Run> runs;
  for (const Block& block : p.heap.slots()) {
    const Run next = run_of(p, block);
    if (!runs.empty() && runs.back().continued_by(next))
      ++runs.back().blocks;
    else
      runs.push_back(next);
  }
  out.u32(kSectionLayout);
  out.u64(p.heap.next_id());
  out.u64(runs.size());
  for (const Run& run : runs) {
    out.u64(run.first_id);
    out.u64(run.blocks);
    out.i32(run.type);
    out.u64(run.count);
    out.u64(run.rest);
  }
}

Status save_heap(Saving& saving, const LeafEncoder& leaves) {
  Process& p = saving.process;
  saving.writer.begin_section("heap");
  write_runs(saving.writer.encoder(), p);
  for (const Block& block : p.heap.slots()) {
    if (block.size >= kOwnChunk) saving.writer.cut();
    const Run run = run_of(p, block);
    Status written = saving.writer.write_value(run.type, block.address, run.count, leaves);
    if (written.ok() && run.rest > 0)
      written =
          saving.writer.write_value(format::kByte, block.address + (block.size - run.rest), run.rest, leaves);
    if (!written.ok())
      return Status::error("saving a heap block of %llu bytes (%s): %s",
                           static_cast<unsigned long long>(block.size), p.types.info(run.type).name,
                           written.message());
    report_wild(saving, p.types.info(run.type).name, "the heap");
  }
  saving.writer.end_section();
  return Status();
}

}  // namespace

Status save(format::Writer& writer, const HandleCodec& codec) {
  Process& p = process();
  if (!p.unregistered.empty())
    return Status::error("%s could not be registered, so a line would not be whole", p.unregistered.c_str());
  ELC_TRY(check_labels(p));
  guess_types(p);
  if (p.blocks == nullptr) p.blocks = make<BlockMap>();
  ELC_TRY(p.blocks->build(p));
  Saving saving = {p, writer, codec};
  const LeafEncoder leaves = {&saving, encode_pointer, encode_handle, encode_status};
  ELC_TRY(save_variables(saving, leaves));
  ELC_TRY(save_heap(saving, leaves));
  return p.streams.save(writer);
}

format::PointerLeaf locate(const void* address) {
  const Process& p = process();
  if (p.blocks == nullptr) return {address == nullptr ? format::kNullBlock : format::kWildBlock, 0};
  return p.blocks->encode(address);
}

}  // namespace elc::state
