#include "state/image.h"

#include <string.h>

#include <algorithm>

#include "base/hash_map.h"
#include "base/sort.h"
#include "base/wire.h"
#include "state/blocks.h"

namespace elc::state {
namespace {

// "int", "double[100]", "double[10][20]", "struct node[3]".
Text describe(const format::TypeTable& types, TypeId type, uint64_t count, std::span<const uint64_t> extents = {}) {
  const char* name = types.info(type).name;
  if (!extents.empty()) {
    Text text = Text::copy(name);
    for (const uint64_t extent : extents)
      text = Text::format("%s[%llu]", text.c_str(), static_cast<unsigned long long>(extent));
    return text;
  }
  return count == 1 ? Text::copy(name)
                    : Text::format("%s[%llu]", name, static_cast<unsigned long long>(count));
}

Vector<uint64_t> extents_of(const Region& region) {
  Vector<uint64_t> extents;
  for (uint32_t i = 0; i < region.dimensions; ++i) extents.push_back(region.extent(i));
  return extents;
}

bool is_product(uint64_t count, const Vector<uint64_t>& extents) {
  if (count == 0) return std::find(extents.begin(), extents.end(), 0) != extents.end();
  for (const uint64_t extent : extents) {
    if (extent == 0 || count % extent != 0) return false;
    count /= extent;
  }
  return count == 1;
}

std::span<const uint64_t> all_of(const Vector<uint64_t>& list) { return {list.data(), list.size()}; }

// Registered in the same order as before in almost every program: `hint` is where it should be.
const Region* find_in(const Process& p, size_t frame, size_t hint, const Text& name) {
  const std::span<const Region> scope = scope_of(p, frame);
  if (hint < scope.size() && name.view() == scope[hint].name) return &scope[hint];
  const Region* found = find_variable(p, frame, name.c_str());
  return found != nullptr && name.view() == found->name ? found : nullptr;  // a name of the file may have a zero in it
}

// The last label that is known is where the line was taken.
Text stack_of(const Vector<SavedFrame>& frames) {
  if (frames.empty()) return Text::copy("no function that calls ELC_Enter");
  Text text = Text::copy(frames[0].function.view());
  for (size_t i = 1; i < frames.size(); ++i)
    text = Text::format("%s > %s", text.c_str(), frames[i].function.c_str());
  return text;
}

}  // namespace

Text Image::owner(const SavedVariable& variable) const {
  if (variable.frame == 0) return Text::copy("the globals");
  return Text::format("%s()", frames[variable.frame - 1].function.c_str());
}

Result Image::read_variables(format::Cursor& in) {
  ELC_TRY(read_layout(in, "vars"));
  for (uint64_t left = in.count(12); left > 0 && in.ok(); --left) {
    SavedFrame frame;
    frame.function = Text::copy(in.string());
    frame.label = in.i32();
    frames.push_back(std::move(frame));
  }
  for (uint64_t left = in.count(8); left > 0 && in.ok(); --left)
    function_names.push_back(Text::copy(in.string()));
  uint32_t frame = 0;
  for (uint64_t left = in.count(24); left > 0 && in.ok(); --left) {
    SavedVariable variable;
    variable.frame = in.u32();
    variable.name = Text::copy(in.string());
    variable.type = in.i32();
    variable.count = in.u64();
    if (!in.ok()) break;
    if (variable.frame < frame || variable.frame > frames.size())
      return Result::error("the checkpoint file is damaged: variable '%s' belongs to no frame",
                           variable.name.c_str());
    frame = variable.frame;
    variables.push_back(std::move(variable));
  }
  return in.status();
}

Result Image::read_declared(format::Reader& reader) {
  if (!reader.has_section("declared")) return Result();
  format::Cursor in;
  ELC_TRY(in.open(&reader, "declared"));
  ELC_TRY(read_layout(in, "declared"));
  uint64_t least = 0;
  for (uint64_t left = in.count(20); left > 0 && in.ok(); --left) {
    const uint64_t index = in.u64();
    const uint32_t flags = in.u32();
    const uint64_t dimensions = in.count(8);
    if (!in.ok()) break;
    if (index < least || index >= variables.size() || flags > kIsStatic || dimensions == 1 || dimensions > kMaxDimensions)
      return Result::error("the checkpoint file is damaged: what is declared of its variables contradicts them");
    least = index + 1;
    SavedVariable& variable = variables[static_cast<size_t>(index)];
    if (flags == kIsStatic && variable.frame != 0)
      return Result::error("the checkpoint file is damaged: the static '%s' belongs to a frame", variable.name.c_str());
    variable.is_static = flags == kIsStatic;
    for (uint64_t i = 0; i < dimensions; ++i) variable.extents.push_back(in.u64());
    if (in.ok() && dimensions > 0 && !is_product(variable.count, variable.extents))
      return Result::error("the checkpoint file is damaged: the extents of '%s' are not its %llu elements",
                           variable.name.c_str(), static_cast<unsigned long long>(variable.count));
  }
  return in.finish();
}

constexpr size_t kRunBytes = 36;  // what the directory has for each

Result Image::read_heap(format::Cursor& in, const format::Reader& reader) {
  uint32_t layout = 0;
  ELC_TRY(read_layout(in, "heap", kHeapLayout, &layout));
  by_id = layout > 1;
  next_id = in.u64();
  uint64_t id = 0;
  for (uint64_t left = in.count(kRunBytes); left > 0 && in.ok(); --left) {
    uint8_t bytes[kRunBytes] = {};
    in.bytes(bytes, sizeof bytes);
    Decoder entry(bytes, sizeof bytes);
    SavedRun run;
    run.first_id = entry.u64();
    run.blocks = entry.u64();
    run.type = entry.i32();
    run.count = entry.u64();
    run.rest = entry.u64();
    run.first = blocks;
    if (!in.ok()) break;
    if (!reader.types().known(run.type))
      return reader.explain(
          Result::error("heap blocks have a type that is not known (%ld)", static_cast<long>(run.type)));
    // An element takes a byte at least, so this bounds what the directory can make us allocate.
    const uint64_t most = in.at() + in.left();
    const uint64_t least = std::max<uint64_t>(reader.types().info(run.type).packed, 1);
    const bool empty = run.count == 0 && run.rest == 0;
    const bool holds =
        run.rest <= most && run.count <= most / least &&
        (empty ? run.blocks == 1 : run.blocks > 0 && run.blocks <= most / (run.count * least + run.rest));
    if (!holds || run.first_id <= id || run.first_id > next_id || run.blocks > next_id - run.first_id ||
        run.blocks > most - blocks)
      return Result::error("the checkpoint file is damaged: the directory of the heap contradicts itself");
    id = run.first_id + run.blocks - 1;
    blocks += run.blocks;
    if (!runs.make_room(1)) return no_memory(sizeof run, "the directory of the heap of the line");
    runs.push_back(std::move(run));
  }
  return in.ok() ? index_runs() : in.status();
}

Result Image::pass_over_heap(format::Cursor& in) {
  ELC_TRY(read_layout(in, "heap", kHeapLayout));
  in.u64();  // next_id
  return in.skip_value(format::kByte, in.count(kRunBytes) * kRunBytes);
}

static uint64_t key_of(const SavedRun& run, bool by_id) { return by_id ? run.first_id : run.first; }

Result Image::index_runs() {
  run_of_.clear();
  if (runs.empty()) return Result();
  least_key_ = key_of(runs[0], by_id);
  const uint64_t span = key_of(runs[runs.size() - 1], by_id) - least_key_;
  step_ = span / runs.size() + 1;
  const size_t steps = static_cast<size_t>(span / step_) + 1;
  if (!run_of_.make_room(steps)) return no_memory(steps * sizeof(size_t), "the directory of the heap of the line");
  for (size_t i = 0; i < runs.size(); ++i)
    while (run_of_.size() < steps && (i + 1 == runs.size() || key_of(runs[i + 1], by_id) > least_key_ + run_of_.size() * step_)) run_of_.push_back(i);
  return Result();
}

Result Image::match(Process& p, const format::Reader& reader) {
  writer = reader.representation();
  is_of_here = writer == format::Representation::here();
  ELC_TRY(match_frames(p));
  ELC_TRY(match_variables(p, reader));
  ELC_TRY(check_leftovers(p, reader));
  match_functions(p);
  match_runs(p, reader);
  return Result();
}

Result Image::match_frames(const Process& p) const {
  bool same = frames.size() == p.frames.size();
  for (size_t i = 0; i < frames.size() && same; ++i) same = frames[i].function.view() == p.frames[i].function;
  if (same) return Result();
  Vector<SavedFrame> now;
  for (const Frame& frame : p.frames) {
    SavedFrame& copy = now.push_back({});
    copy.function = Text::copy(frame.function);
  }
  return Result::error("the line was taken in %s, but the program is in %s", stack_of(frames).c_str(),
                       stack_of(now).c_str());
}

bool Image::lays_out_as_here() const {
  return is_of_here || writer.lays_out_as(format::Representation::here());
}

Result Image::match_variables(const Process& p, const format::Reader& reader) {
  size_t hint = 0;
  for (size_t i = 0; i < variables.size(); ++i) {
    SavedVariable& v = variables[i];
    if (i > 0 && variables[i - 1].frame != v.frame) hint = 0;
    if (!reader.types().known(v.type))
      return reader.explain(
          Result::error("'%s' of %s has a type that is not known (%ld)", v.name.c_str(), owner(v).c_str(),
                        static_cast<long>(v.type)));
    v.region = find_in(p, v.frame, hint++, v.name);
    if (v.region == nullptr && v.frame == 0 && !p.strict) {
      for (const Renamed& renamed : p.renamed)
        if (renamed.before.view() == v.name.view() && !renamed.before.empty()) v.region = find_in(p, 0, hint, renamed.now);
      if (v.region != nullptr)
        changes.push_back(Text::format("'%s' of %s is '%s' in the line", v.region->name, owner(v).c_str(), v.name.c_str()));
    }
    if (v.region == nullptr) continue;  // check_leftovers
    for (size_t before = 0; before < i && !p.renamed.empty(); ++before)
      if (variables[before].region == v.region)
        return Result::error("the line has both '%s' and '%s', which ELC_WAS makes one variable of the program", variables[before].name.c_str(),
                             v.name.c_str());
    const Vector<uint64_t> extents = extents_of(*v.region);
    const bool is_other_size = v.count != v.region->count || v.region->resizes;
    if (is_other_size && reader.types().info(v.type).kind == format::kByte && !lays_out_as_here())
      return Result::error("'%s' of %s: %s", v.name.c_str(), owner(v).c_str(), format::kBytesStay);
    const bool same_shape = extents.empty() || v.extents.empty() ||
                            std::equal(extents.begin(), extents.end(), v.extents.begin(), v.extents.end());
    const bool fits = format::fits(reader.types(), v.type, writer, p.types, v.region->type, false).ok();
    if (!fits || (v.count != v.region->count && !v.region->resizes) || !same_shape) ELC_TRY(match_changed(p, reader, v));
  }
  return Result();
}

// Whether an array of the line is the beginning of that of the program: of several dimensions only the first may be longer.
static bool is_beginning(const Vector<uint64_t>& line, const Vector<uint64_t>& program) {
  return line.size() == program.size() && (line.empty() || std::equal(line.begin() + 1, line.end(), program.begin() + 1));
}

// Of a text that the program has made so long by a constant of MPI, of which each MPI has its own.
static bool is_length_of_mpi(const Process& p, uint64_t length) {
  return std::any_of(p.lengths_of_mpi.begin(), p.lengths_of_mpi.end(), [length](uint64_t known) { return length - known <= 1; });
}

Result Image::match_changed(const Process& p, const format::Reader& reader, SavedVariable& v) {
  const Region& region = *v.region;
  const Text whose = owner(v), found = describe(reader.types(), v.type, v.count, all_of(v.extents));
  const Vector<uint64_t> extents = extents_of(region);
  const Text wanted = describe(p.types, region.type, region.count, all_of(extents));
  const Result fit = format::fits(reader.types(), v.type, writer, p.types, region.type, !p.strict);
  if (!fit.ok() && wanted.view() == found.view())
    return Result::error("'%s' of %s (%s): %s", v.name.c_str(), whose.c_str(), found.c_str(), fit.message());
  // What is behind the elements of the line keeps its values; a pointer among them may lead to what the set-up has made.
  const format::TypeInfo& type = p.types.info(region.type);
  const bool strict = p.strict || region.is_exact;
  const bool grown = v.count < region.count && is_beginning(v.extents, extents) && !type.has_handle && type.kind != format::kByte;
  v.is_cut = v.count > region.count && v.extents.empty() && extents.empty() && type.kind == format::kChar && is_length_of_mpi(p, region.count);
  const bool same_count = v.count == region.count && (v.extents.empty() || extents.empty() || is_beginning(v.extents, extents));
  if (!fit.ok() || strict || !(same_count || grown || v.is_cut || region.resizes))
    return Result::error("'%s' of %s is %s in the program, but %s in the line%s%s", v.name.c_str(),
                         whose.c_str(), wanted.c_str(), found.c_str(), fit.ok() ? "" : ": ",
                         fit.ok() ? "" : fit.message());
  v.is_other = !format::fits(reader.types(), v.type, writer, p.types, region.type, false).ok();
  changes.push_back(Text::format("'%s' of %s is %s in the program, and %s in the line%s", region.name, whose.c_str(), wanted.c_str(),
                                 found.c_str(), grown ? ": the other elements keep the values of the set-up" : ""));
  return Result();
}

Result Image::check_leftovers(const Process& p, const format::Reader& reader) {
  size_t next = 0;
  for (size_t frame = 0; frame <= p.frames.size(); ++frame) {
    const std::span<const Region> scope = scope_of(p, frame);
    const size_t first = next;
    size_t matched = 0;
    for (; next < variables.size() && variables[next].frame == frame; ++next)
      if (variables[next].region != nullptr) ++matched;
    if (matched == next - first && matched == scope.size()) continue;
    // Names are unique in a scope, and so are the regions of the variables.
    Vector<const Region*> added;
    for (const Region& region : scope) {
      bool found = false;
      for (size_t i = first; i < next && !found; ++i) found = variables[i].region == &region;
      if (!found) added.push_back(&region);
    }
    if (added.size() + matched != scope.size()) return Result::error("the checkpoint file is damaged: a name occurs twice in a frame");
    for (size_t i = first; i < next; ++i)
      if (variables[i].region == nullptr) ELC_TRY(leave_out(p, reader, variables[i], added));
    for (const Region* region : added) {
      const Text what = describe(p.types, region->type, region->count), whose = owner_of(p, *region);
      if (!p.strict && p.is_prepared && region->is_constant) continue;
      // In a function it has no value yet; a pointer may lead to what the set-up has made and the restart takes away.
      if (p.strict || frame > 0 || p.types.info(region->type).has_handle)
        return Result::error("the program has registered '%s' (%s) of %s, which the line does not have",
                             region->name, what.c_str(), whose.c_str());
      changes.push_back(Text::format("'%s' (%s) of %s is not in the line: it keeps the value of the set-up", region->name, what.c_str(),
                                     whose.c_str()));
    }
  }
  return Result();
}

// It may be one of those that were added, under another name.
Result Image::leave_out(const Process& p, const format::Reader& reader, const SavedVariable& v, const Vector<const Region*>& added) {
  const Text whose = owner(v), found = describe(reader.types(), v.type, v.count, all_of(v.extents));
  // At the same call, one that nothing of this compilation asks for any more, as without assert(). What leads to it is refused.
  if (p.is_prepared && !p.strict && v.frame > 0) return Result();
  if (p.strict || v.frame > 0)
    return Result::error("the line has '%s' (%s) of %s, which the program has not registered there", v.name.c_str(), found.c_str(),
                         whose.c_str());
  // A text of the program's that no pointer leads to, and that another compilation of it does not have.
  if (p.is_prepared && v.name.view().find(":string ") != std::string_view::npos) return Result();
  for (const Region* region : added) {
    bool is_new = p.is_prepared && region->is_constant;
    for (const Renamed& renamed : p.renamed) is_new = is_new || (renamed.before.empty() && renamed.now.view() == region->name);
    if (is_new || region->count != v.count || !format::fits(reader.types(), v.type, writer, p.types, region->type, true).ok()) continue;
    if (p.is_prepared)
      return Result::error("the line has '%s' (%s) of %s, and the program has '%s' instead: it is another one, or was compiled with other options (-DNDEBUG, say)",
                           v.name.c_str(), found.c_str(), whose.c_str(), region->name);
    return Result::error("the line has '%s' (%s) of %s, which the program has not registered, and the program has '%s', which the line "
                         "does not have: if they are the same, say ELC_WAS(\"%s\") right before it is registered, and ELC_WAS(\"\") if "
                         "it is new", v.name.c_str(), found.c_str(), whose.c_str(), region->name, v.name.c_str());
  }
  changes.push_back(Text::format("the line has '%s' (%s) of %s, which the program has not registered: it is left out", v.name.c_str(),
                                 found.c_str(), whose.c_str()));
  return Result();
}

void Image::match_functions(const Process& p) {
  functions.resize(function_names.size());
  for (size_t i = 0; i < function_names.size(); ++i) {
    functions[i] = nullptr;
    for (const Function& f : p.functions)
      if (f.name.view() == function_names[i].view()) functions[i] = f.address;
  }
}

// There may be as many runs as blocks; of types there are few.
void Image::match_runs(Process& p, const format::Reader& reader) {
  HashMap<TypesMatched> matched;
  for (SavedRun& run : runs) {
    TypesMatched& types = matched.at(static_cast<uint32_t>(run.type));
    if (types.memory_type == 0) types = match_block_type(p, reader, run.type);
    set_types(p, reader, types, &run);
  }
}

// A made type of the heap is found by its name: no variable says which of the program's it is.
TypesMatched Image::match_block_type(Process& p, const format::Reader& reader, TypeId type_id) const {
  const format::TypeInfo& type = reader.types().info(type_id);
  TypeId found = type_id < format::kFirstMade ? type_id : p.types.find(type.name);
  if (found == format::kNone) found = type_described(type.name, type.packed);
  if (found == format::kNone) found = beginning_named(p, type.name);
  if (found == format::kNone && is_name_of_parts(type.name)) found = type_of_parts(p, reader.types(), type);
  TypesMatched matched = {found, false, Result()};
  if (found == format::kNone) {
    matched.misfit = Result::error("the program has made no type '%s' (ELC_Struct, ELC_Union; OnStructureDef)", type.name);
    return matched;
  }
  matched = match_types(p, reader, type_id, found);
  if (is_name_of_parts(type.name) && !is_of_here)
    matched.misfit = Result::error("memory that the program's own allocator has given out in parts goes to no machine of another representation");
  return matched;
}

TypesMatched Image::match_types(const Process& p, const format::Reader& reader, TypeId type, TypeId memory_type) const {
  TypesMatched matched = {memory_type, false, format::fits(reader.types(), type, writer, p.types, memory_type, !p.strict)};
  // What they are has another size here, perhaps, and their number is all that the line has.
  if (matched.misfit.ok() && reader.types().info(type).kind == format::kByte && !lays_out_as_here()) matched.misfit = Result::error("%s", format::kBytesStay);
  matched.is_other = matched.misfit.ok() && !format::fits(reader.types(), type, writer, p.types, memory_type, false).ok();
  return matched;
}

void Image::set_types(const Process& p, const format::Reader& reader, const TypesMatched& types, SavedRun* run) const {
  run->memory_type = types.memory_type;
  run->is_other = types.is_other;
  run->misfit = types.misfit;
  if (types.memory_type == format::kNone) return;
  const uint64_t element = p.types.size_of(run->memory_type);
  if (run->misfit.ok() && (run->rest > PTRDIFF_MAX || (element > 0 && run->count > (PTRDIFF_MAX - run->rest) / element)))
    run->misfit = Result::error("%llu elements of %s do not fit this machine's memory",
                                static_cast<unsigned long long>(run->count), reader.types().info(run->type).name);
  run->size = run->count * element + run->rest;
}

void Image::tell(uint64_t block, TypeId type) {
  const bool real = type == format::kFloat || type == format::kDouble;
  if (!real && !format::is_integer(static_cast<format::Kind>(type))) return;
  uint64_t index = 0;
  if (run_of(block, &index) != nullptr) told_.push_back({index, type});
}

Result Image::retype_runs(const Process& p, const format::Reader& reader) {
  if (told_.empty()) return Result();
  sort(told_, [](const Told& a, const Told& b) { return a.index < b.index; });
  Vector<SavedRun> split;
  size_t next = 0;
  for (const SavedRun& run : runs) {
    const format::TypeTable& types = p.types;
    const uint64_t end = run.first + run.blocks;
    for (uint64_t at = run.first, length = 0; at < end; at += length) {
      TypeId type = run.memory_type;
      length = (next < told_.size() ? std::min(told_[next].index, end) : end) - at;
      if (length == 0) {
        // Pointers to what its elements cannot be are to a part of them, or to what was there before.
        TypeId first = format::kNone;
        for (length = 1; next < told_.size() && told_[next].index == at; ++next) {
          const TypeId told = told_[next].type;
          if (told != run.type && !becomes(run.type, told)) continue;
          if (first == format::kNone) first = told;
          if (types.size_of(told) != types.size_of(first))
            return Result::error("a heap block of %llu elements of %s: to one pointer of the program each has %llu bytes, to "
                                 "another %llu: say its type when it is made (ELC_new)",
                                 static_cast<unsigned long long>(run.count), types.info(run.type).name,
                                 static_cast<unsigned long long>(types.size_of(first)),
                                 static_cast<unsigned long long>(types.size_of(told)));
        }
        if (first != format::kNone && types.size_of(first) != types.size_of(type)) type = first;
      }
      const bool another = at == run.first || split.back().memory_type != type;
      if (another) {
        if (!split.make_room(1)) return no_memory(sizeof run, "the directory of the heap of the line");
        SavedRun& piece = split.push_back(SavedRun(run));
        piece.first_id = run.first_id + (at - run.first);
        piece.first = at;
        piece.blocks = 0;
        if (type != run.memory_type) set_types(p, reader, match_types(p, reader, run.type, type), &piece);
      }
      split.back().blocks += length;
    }
  }
  runs.swap(split);
  told_.clear();
  return index_runs();
}

const SavedRun* Image::run_of(uint64_t block, uint64_t* index) const {
  const uint64_t before = by_id ? uint64_t{format::kFirstById} : variables.size() + 1;
  if (runs.empty() || block < before || block - before < least_key_) return nullptr;
  const uint64_t key = block - before;
  const size_t step = static_cast<size_t>(std::min<uint64_t>((key - least_key_) / step_, run_of_.size() - 1));
  const SavedRun* const least = &runs[run_of_[step]];
  const SavedRun* const end = step + 1 < run_of_.size() ? &runs[run_of_[step + 1]] + 1 : runs.end();
  const SavedRun* const run = std::upper_bound(least, end, key, [this](uint64_t k, const SavedRun& r) { return k < key_of(r, by_id); }) - 1;
  const uint64_t inside = key - key_of(*run, by_id);
  if (inside >= run->blocks) return nullptr;
  *index = run->first + inside;
  return run;
}

bool Image::target(uint64_t block, Target* out) const {
  if (block == format::kNullBlock) return false;
  if (block <= variables.size()) {
    const SavedVariable& v = variables[static_cast<size_t>(block - 1)];
    if (v.region == nullptr) *out = {v.type, v.count, 0, nullptr, nullptr, false, &v, false};
    else *out = {v.region->type, v.region->count, 0, v.region->address, nullptr, v.region->is_waiting, nullptr, v.is_other};
    return true;
  }
  uint64_t index = 0;
  const SavedRun* const run = run_of(block, &index);
  if (run == nullptr) return false;
  uint8_t* const address = addresses.empty() ? nullptr : addresses[static_cast<size_t>(index)];
  *out = {run->memory_type, run->count, run->rest, address, run, false, nullptr, run->is_other};
  return true;
}

}  // namespace elc::state
