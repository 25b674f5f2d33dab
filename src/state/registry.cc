// Registered data, types and functions: the API.
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "base/compiler.h"
#include "elc.h"
#include "portable_format/integer.h"
#include "state/asked.h"
#include "state/blocks.h"
#include "state/huge_pages.h"
#include "state/image.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

// The extents of an array, as a program says them.
struct Shape {
  uint64_t extents[kMaxDimensions];
  uint32_t dimensions = 0;
  size_t count = 1;  // their product

  Result read(const char* name, int given, const size_t from[]) {
    ELC_TRY(check_name("ELC_Register_shape", name));
    if (given < 0 || static_cast<uint32_t>(given) > kMaxDimensions)
      return Result::error("'%s': an array of %d dimensions; there may be up to %u", name, given, kMaxDimensions);
    dimensions = static_cast<uint32_t>(given);
    uint64_t product = 1;
    bool none = false;
    for (uint32_t i = 0; i < dimensions; ++i) none |= (extents[i] = from[i]) == 0;
    for (uint32_t i = 0; i < dimensions && !none; ++i) {
      if (product > PTRDIFF_MAX / extents[i])
        return Result::error("'%s': the product of its extents is more than a memory can hold", name);
      product *= extents[i];
    }
    count = none ? 0 : static_cast<size_t>(product);
    return Result();
  }
  // An array of one dimension is one that has no shape.
  std::span<const uint64_t> declared() const { return {extents, dimensions > 1 ? dimensions : 0}; }
};

// The scope that a registration joins: the innermost frame, or the globals.
struct Scope {
  Scope(Process& p, Frame* frame)
      : regions(frame != nullptr ? p.locals : p.globals),
        table(frame != nullptr ? frame->table : p.table_of_globals),
        unregistered(frame != nullptr ? frame->unregistered : p.unregistered_globals),
        first(frame != nullptr ? frame->first_region : 0) {}

  Vector<Region>& regions;
  ScopeTable*& table;
  size_t& unregistered;
  size_t first;

  size_t find(const char* name, uint32_t hash) const {
    if (table != nullptr) return table->find(regions, name, hash);
    for (size_t i = first; i < regions.size(); ++i)
      if (regions[i].hash == hash && strcmp(regions[i].name, name) == 0) return i;
    return ScopeTable::kNone;
  }

  size_t overlapping(const Region& added) const {
    if (table != nullptr) return table->overlapping(added);
    for (size_t i = first; i < regions.size(); ++i)
      if (!regions[i].resizes && overlap(added, regions[i])) return i;
    return ScopeTable::kNone;
  }

  void add(const Region& region) {
    regions.push_back(region);
    if (table != nullptr) return table->add(regions, regions.size() - 1);
    if (regions.size() - first <= ScopeTable::kFew) return;
    table = make<ScopeTable>();
    table->build(regions, first, regions.size());
  }

  // A variable gets another place.
  void move(size_t i, uint8_t* address, uint64_t size) {
    if (table != nullptr) table->remove(regions, i);
    regions[i].address = address;
    regions[i].size = size;
    if (table != nullptr) table->add(regions, i);
  }

  // Where they are many, what comes behind stays where it is until there are as many places that wait.
  void remove(size_t i) {
    if (table == nullptr) return regions.erase(i);
    table->remove(regions, i);
    regions[i] = Region();
    if (++unregistered <= (regions.size() - first) / 2) return;
    regions.resize(close_up(regions, first, first, regions.size(), table));
    unregistered = 0;
  }

  // Moves what is registered from `first` to before `end` down to `to`; what is behind it then.
  static size_t close_up(Vector<Region>& regions, size_t to, size_t first, size_t end, ScopeTable* table) {
    const size_t begin = to;
    for (size_t i = first; i < end; ++i)
      if (regions[i].name != nullptr) regions[to++] = regions[i];
    if (table != nullptr) table->build(regions, begin, to);
    return to;
  }
};

Result overlaps(const Process& p, const char* name, const Region& with) {
  return Result::error("'%s' overlaps '%s' of %s: every byte is registered once", name, with.name, owner_of(p, with).c_str());
}

// Of two reasons that of the variable that was registered first is told.
Result find_conflict(const Process& p, const Scope& scope, const Region& added, const char* name) {
  const size_t named = scope.find(name, added.hash), over = scope.overlapping(added);
  if (named == ScopeTable::kNone && over == ScopeTable::kNone) return Result();
  const Region& r = scope.regions[std::min(named, over)];
  if (named <= over)
    return Result::error("'%s' is registered twice in %s: names are unique, give one of them another by ELC_Register", name,
                         owner_of(p, r).c_str());
  return overlaps(p, name, r);
}

}  // namespace

// What every registration is, for a frame or for the globals (nullptr). `region` has no name yet; `name` is copied, or stays.
static Result try_add(const char* name, Region& region, std::span<const uint64_t> shape, Frame* frame, bool stays = false) {
  Process& p = process();
  const bool renamed = std::exchange(p.renames, false);
  ELC_TRY(check_name("ELC_Register", name));
  const uint64_t element = p.types.size_of(region.type);
  if (element == 0)
    return Result::error("'%s': there is no type %d; types come from ELC_Struct and ELC_Union", name, region.type);
  if (region.count > PTRDIFF_MAX / element)
    return Result::error("'%s': %llu elements of %llu bytes are more than a memory can hold", name,
                         static_cast<unsigned long long>(region.count), static_cast<unsigned long long>(element));
  if (region.address == nullptr && region.count > 0)
    return Result::error("'%s' is registered at the address NULL", name);

  size_t length;
  region.hash = hash_name(name, &length);
  region.size = element * region.count;
  Scope scope(p, frame);
  ELC_TRY(find_conflict(p, scope, region, name));
  if (p.heap.find(region.address) != nullptr && region.count > 0)
    return Result::error(
        "'%s' is a block from ELC_malloc, which is saved as such: give it its type by ELC_new or "
        "ELC_Set_type, and "
        "register the pointer to it with ELC_PTR",
        name);
  region.name = name;
  if (!stays) {
    char* copy;
    if (frame != nullptr) {
      copy = p.names.push(name, length, shape.size_bytes());
    } else {
      copy = static_cast<char*>(allocate(length + 1 + shape.size_bytes()));
      memcpy(copy, name, length + 1);
    }
    if (!shape.empty()) memcpy(copy + length + 1, shape.data(), shape.size_bytes());
    region.name = copy;
  }
  region.dimensions = region.resizes ? 0 : static_cast<uint8_t>(shape.size());
  scope.add(region);
  if (region.address != nullptr) ask_for_huge_pages(region.address, region.size);
  if (renamed && in_setup()) {
    Renamed& variable = p.renamed.push_back({});
    variable.now = Text::copy(name);
    variable.before = std::move(p.before);
  }
  return Result();
}

static Region* find_global(Process& p, const char* name) {
  size_t length;
  const uint32_t hash = hash_name(name, &length);
  const size_t found = Scope(p, nullptr).find(name, hash);
  return found == ScopeTable::kNone ? nullptr : &p.globals[found];
}

void note_missing(Process& p, const Frame* frame, const char* name, const void* address, uint64_t size) {
  constexpr size_t kMost = 100;  // a loop may try the same again and again, at other places
  Missing missing;
  missing.name = Text::copy(name == nullptr ? "" : name);
  if (frame != nullptr) missing.function = Text::copy(frame->function);
  if (frame == nullptr) missing.address = static_cast<const uint8_t*>(address), missing.size = size;
  for (const Missing& known : p.missing)
    if (known.is_same(missing)) return;
  if (p.missing.size() < kMost) p.missing.push_back(std::move(missing));
  else p.unregistered = Text::format("'%.100s' and more", missing.name.c_str());
}

// What is registered now is missing no more, be it under another name. In a frame nobody knows of which call of the function it was.
static void forget_missing(Process& p, const char* name, const Region& now) {
  for (size_t i = p.missing.size(); i-- > 0;) {
    const Missing& one = p.missing[i];
    if (!one.function.empty()) continue;
    const bool is_it = one.size == 0 ? one.name.view() == name
                                     : holds(reinterpret_cast<uintptr_t>(now.address), now.size, reinterpret_cast<uintptr_t>(one.address), one.size);
    if (is_it) p.missing.erase(i);
  }
}

// The program does without it.
static bool forget_missing(Process& p, const Frame* frame, const char* name) {
  for (size_t i = 0; i < p.missing.size(); ++i) {
    const Missing& one = p.missing[i];
    if (one.name.view() != name || one.function.view() != (frame == nullptr ? "" : frame->function)) continue;
    p.missing.erase(i);
    return true;
  }
  return false;
}

// Whether it is registered so: then nothing is missing.
static bool is_there(Process& p, const char* name, const Region& region, std::span<const uint64_t> shape) {
  const Region* const known = name == nullptr ? nullptr : find_global(p, name);
  if (known == nullptr || known->type != region.type || known->resizes != region.resizes) return false;
  if (!region.resizes) return known->address == region.address && known->count == region.count;
  const Resizing how = known->resizing();
  return memcmp(&how, shape.data(), sizeof how) == 0;
}

static Result add(const char* name, Region& region, std::span<const uint64_t> shape, Frame* frame, bool stays = false) {
  Process& p = process();
  Result added = try_add(name, region, shape, frame, stays);
  if (added.ok()) {
    if (!p.missing.empty() && frame == nullptr) forget_missing(p, name, region);
  } else if ((region.count > 0 || region.resizes) && (frame != nullptr || !is_there(p, name, region, shape))) {
    note_missing(p, frame, name, region.address, region.address == nullptr ? 0 : region.size);
  }
  return added;
}

Frame* innermost(Process& p) {
  static_cast<void>(outcome(register_noted(p)));
  return p.frames.empty() ? nullptr : &p.frames.back();
}

static Region region_at(void* address, TypeId type, uint64_t count) {
  Region region;
  region.address = static_cast<uint8_t*>(address);
  region.count = count;
  region.type = type;
  return region;
}

Result add_region(const char* name, void* address, TypeId type, size_t count, TypeId target,
                  std::span<const uint64_t> shape, bool is_constant, bool is_checked) {
  Region region = region_at(address, type, count);
  region.is_constant = is_constant;
  region.is_checked = is_checked;
  region.target = target;
  return add(name, region, shape, innermost(process()));
}

// The extents of an array of so many dimensions, by what a part of it with no to three indices and an element have of bytes.
static std::span<const uint64_t> extents_of(int dimensions, const size_t (&sizes)[5], uint64_t (&extents)[4]) {
  for (int i = 0; i < dimensions; ++i) extents[i] = sizes[i] / sizes[i + 1 < dimensions ? i + 1 : 4];
  return {extents, static_cast<size_t>(dimensions)};
}

Result add_rows(const char* name, void* address, TypeId type, size_t count, int dimensions, size_t row, size_t part, size_t last) {
  const size_t element = ELC_Sizeof(type), sizes[5] = {element * count, row, part, last, element};
  uint64_t extents[4];
  return add_region(name, address, type, count, ELC_NO_TYPE, extents_of(dimensions, sizes, extents));
}

Result add_noted(Frame& frame, const ELC_Local& local) {
  Region region = region_at(reinterpret_cast<void*>(local.address), local.type, local.count);
  region.target = local.target;
  // The same once more, as in a loop, is no mistake.
  size_t length;
  const Scope scope(process(), &frame);
  const size_t known = local.name == nullptr ? ScopeTable::kNone : scope.find(local.name, hash_name(local.name, &length));
  if (known != ScopeTable::kNone && scope.regions[known].address == region.address && scope.regions[known].type == region.type &&
      scope.regions[known].count == region.count)
    return Result();
  if (local.dimensions == 0) return add(local.name, region, {}, &frame, true);
  const size_t element = ELC_Sizeof(local.type), sizes[5] = {element * local.count, local.row, local.part, local.last, element};
  uint64_t extents[4];
  return add(local.name, region, extents_of(local.dimensions, sizes, extents), &frame, false);
}

// ---- Variables that change their place and size ----

static Result add_resizing(const char* name, TypeId type, const Resizing& how) {
  uint64_t words[sizeof how / sizeof(uint64_t)];
  memcpy(words, &how, sizeof how);
  Region region = region_at(nullptr, type, 0);
  region.resizes = true;
  return add(name, region, words, innermost(process()));
}

static Result add_allocated(const char* name, void* pointer, TypeId type, void* count, TypeId count_type) {
  const format::Representation here = format::Representation::here();
  const Kind counts = count_type > 0 && count_type < format::kFirstMade ? static_cast<Kind>(count_type) : format::kByte;
  Resizing how;
  how.object = pointer;
  how.count = count;
  how.element = static_cast<size_t>(process().types.size_of(type));
  how.count_size = here.width[counts];
  how.count_is_signed = here.is_signed[counts] ? 1 : 0;
  if (pointer != nullptr && count != nullptr && how.element > 0 && format::is_integer(counts)) return add_resizing(name, type, how);
  note_missing(process(), innermost(process()), name);
  return Result::error("ELC_ALLOCATED: '%s' is no pointer to what a line can hold, with an integer that counts it",
                       name == nullptr ? "" : name);
}

// 0: they are said.
static int find_elements(const Resizing& how, void** address, size_t* count) {
  if (how.element == 0) return how.where(how.object, address, count);
  const uint64_t n = format::load_integer(static_cast<const uint8_t*>(how.count), how.count_size, false, how.count_is_signed != 0);
  memcpy(address, how.object, sizeof *address);
  *count = static_cast<size_t>(n);
  return n > SIZE_MAX ? 1 : 0;
}

static void* make_room(const Resizing& how, size_t count) {
  if (how.element == 0) return how.room(how.object, count);
  const uint32_t bits = 8 * how.count_size - how.count_is_signed;
  if (bits < 8 * sizeof count && count >> bits != 0) return nullptr;
  void* memory;
  memcpy(&memory, how.object, sizeof memory);
  free(memory);
  memory = count == 0 ? nullptr : zeroed(count, how.element);
  memcpy(how.object, &memory, sizeof memory);
  format::store_integer(static_cast<uint8_t*>(how.count), how.count_size, false, count);
  return memory;
}

// The scope that a variable is in, and its number there.
static Scope scope_of(Process& p, const Region* region, size_t* i) {
  const bool local = region >= p.locals.begin() && region < p.locals.end();
  *i = static_cast<size_t>(region - (local ? p.locals : p.globals).begin());
  if (!local) return Scope(p, nullptr);
  size_t frame = p.frames.size();
  while (p.frames[frame - 1].first_region > *i) --frame;
  return Scope(p, &p.frames[frame - 1]);
}

static void place(Process& p, const Region* region, void* address, uint64_t count) {
  size_t i;
  Scope scope = scope_of(p, region, &i);
  scope.move(i, static_cast<uint8_t*>(address), address == nullptr ? 0 : count * p.types.size_of(region->type));
  scope.regions[i].count = count;
}

Result locate_resizing(Process& p) {
  for (Vector<Region>* regions : {&p.globals, &p.locals}) {
    for (const Region& region : *regions) {
      if (!region.resizes) continue;
      void* address = nullptr;
      size_t count = 0;
      if (find_elements(region.resizing(), &address, &count) != 0)
        return Result::error("'%s' of %s cannot be saved: the program does not say where its elements are", region.name,
                             owner_of(p, region).c_str());
      if (count > PTRDIFF_MAX / p.types.size_of(region.type) || (address == nullptr && count > 0))
        return Result::error("'%s' of %s cannot be saved: it is said to have %llu elements at %p", region.name,
                             owner_of(p, region).c_str(), static_cast<unsigned long long>(count), address);
      place(p, &region, count == 0 ? nullptr : address, count);
    }
  }
  return Result();
}

void expect_elements(Process& p, const Region* region, uint64_t count) { place(p, region, nullptr, count); }

Result make_room_for(Process& p, const Region* region) {
  const uint64_t count = region->count;
  void* const room = count > SIZE_MAX ? nullptr : make_room(region->resizing(), static_cast<size_t>(count));
  if (room == nullptr && count > 0)
    return Result::error("'%s' of %s has %llu elements in the line, and the program makes no room for them", region->name,
                         owner_of(p, *region).c_str(), static_cast<unsigned long long>(count));
  place(p, region, count == 0 ? nullptr : room, count);
  return Result();
}

Result tell_restored(Process& p) {
  for (Vector<Region>* regions : {&p.globals, &p.locals}) {
    for (const Region& region : *regions) {
      if (!region.resizes) continue;
      const Resizing how = region.resizing();
      if (how.restored != nullptr && how.restored(how.object) != 0)
        return Result::error("'%s' of %s: the program cannot take its values from the line: the memory does not suffice, or the file "
                             "is damaged", region.name, owner_of(p, region).c_str());
    }
  }
  return Result();
}

Result add_global(const char* name, void* address, TypeId type, size_t count) {
  Region region = region_at(address, type, count);
  region.is_exact = true;
  return add(name, region, {}, nullptr);
}

// ---- Statics of functions (ELC_STATIC) ----

static bool is_scalar(TypeId type) { return type >= ELC_BOOL && type <= ELC_BYTE; }

// The integers of a static that were kept, as the type that it turns out to have. False for one that it cannot hold.
static bool convert(const format::TypeTable& types, const Region& from, const Region& to) {
  const bool from_signed = format::Representation::here().is_signed[from.type];
  const bool to_signed = format::Representation::here().is_signed[to.type];
  const size_t width = static_cast<size_t>(types.size_of(from.type)), wanted = static_cast<size_t>(types.size_of(to.type));
  for (uint64_t i = 0; i < to.count; ++i) {
    const uint64_t value = format::load_integer(from.address + i * width, width, false, from_signed);
    if (!format::integer_fits(value, from_signed, wanted, to_signed)) return false;
    format::store_integer(to.address + i * wanted, wanted, false, value);
  }
  return true;
}

// The value that a restart has kept goes where the program has the variable. `into` is complete but for its name.
static Result claim(Process& p, Region* kept, const Region& into, std::span<const uint64_t> shape) {
  const format::Representation here = format::Representation::here();
  bool same_shape = kept->dimensions == 0 || shape.empty() || kept->dimensions == shape.size();
  for (uint32_t i = 0; i < kept->dimensions && i < shape.size(); ++i) same_shape &= kept->extent(i) == shape[i];
  const auto kind = [](const Region& region) { return static_cast<Kind>(region.type); };
  const bool integers = format::is_integer(kind(*kept)) && format::is_integer(kind(into));
  if (!same_shape || kept->count != into.count)
    return Result::error("'%s' has another shape in the program than in the line", kept->name);
  Scope globals(p, nullptr);
  if (const size_t over = globals.overlapping(into); over != ScopeTable::kNone)
    return overlaps(p, kept->name, p.globals[over]);
  if (format::fits(p.types, kept->type, here, p.types, into.type, false).ok())
    memcpy(into.address, kept->address, static_cast<size_t>(into.size));
  else if (!integers || !convert(p.types, *kept, into))
    return Result::error("'%s' is %s in the program, which cannot hold its value in the line (%s)", kept->name,
                         p.types.info(into.type).name, p.types.info(kept->type).name);
  release(kept->address);
  globals.move(static_cast<size_t>(kept - p.globals.data()), into.address, into.size);
  kept->type = into.type;
  kept->is_waiting = false;
  return Result();
}

static Result add_static(const char* name, void* address, TypeId type, size_t count, std::span<const uint64_t> shape) {
  Process& p = process();
  if (!is_scalar(type)) return Result::error("'%s': a static of a function is of scalars; make it a global to register it", name);
  Region region = region_at(address, type, count);
  region.size = p.types.size_of(type) * count;
  region.is_static = true;
  region.is_late = !in_setup();
  Region* known = find_global(p, name);
  if (known != nullptr && known->is_waiting) {
    const Result claimed = claim(p, known, region, shape);
    if (!claimed.ok()) give_up(claimed);
    return Result();
  }
  if (known != nullptr && known->is_static && known->address == region.address && known->size == region.size &&
      known->type == type)
    return Result();
  return add(name, region, shape, nullptr);
}

static Result add_static_array(const char* name, void* address, TypeId type, int dimensions, const size_t extents[]) {
  Shape shape;
  ELC_TRY(shape.read(name, dimensions, extents));
  return add_static(name, address, type, shape.count, shape.declared());
}

// Integers are kept with the width that they had: nobody knows yet which the program's variable has here.
static TypeId kept_as(TypeId type, const format::Representation& writer) {
  const auto kind = static_cast<Kind>(type);
  const uint32_t width = writer.packed_width(kind);
  if (!format::is_integer(kind) || width == format::Representation::here().packed_width(kind)) return type;
  const bool is_signed = writer.is_signed[kind];
  switch (width) {
    case 1: return is_signed ? ELC_INT8 : ELC_UINT8;
    case 2: return is_signed ? ELC_INT16 : ELC_UINT16;
    case 4: return is_signed ? ELC_INT32 : ELC_UINT32;
    default: return is_signed ? ELC_INT64 : ELC_UINT64;
  }
}

Result keep_statics(Process& p, const Image& image, const format::Reader& reader, uint64_t most) {
  for (const SavedVariable& v : image.variables) {
    if (!v.is_static || find_global(p, v.name.c_str()) != nullptr) continue;
    if (!is_scalar(v.type) || v.count > most)
      return Result::error("the checkpoint file is damaged: the static '%s' is no array of scalars", v.name.c_str());
    Region region = region_at(nullptr, kept_as(v.type, reader.representation()), v.count);
    const uint64_t element = p.types.size_of(region.type);
    if (v.count > PTRDIFF_MAX / element) return no_memory(v.count, "a static of a function");
    region.address = static_cast<uint8_t*>(try_allocate(static_cast<size_t>(v.count * element) + 1));
    if (region.address == nullptr) return no_memory(v.count * element, "a static of a function");
    region.is_static = region.is_late = region.is_waiting = true;
    const Result added = add(v.name.c_str(), region, {v.extents.data(), v.extents.size()}, nullptr);
    if (added.ok()) continue;
    release(region.address);
    return added;
  }
  return Result();
}

const Region* late_static_at(const Process& p, const void* address) {
  const uint8_t* at = static_cast<const uint8_t*>(address);
  for (const Region& region : p.globals)
    if (region.is_late && at >= region.address && at < region.address + region.size) return &region;
  return nullptr;
}

void close_up(Process& p) {
  if (std::exchange(p.unregistered_globals, 0) > 0)
    p.globals.resize(Scope::close_up(p.globals, 0, 0, p.globals.size(), p.table_of_globals));
  size_t unregistered = 0, kept = 0;
  for (Frame& frame : p.frames) unregistered += std::exchange(frame.unregistered, 0);
  if (unregistered == 0) return;
  for (size_t i = 0; i < p.frames.size(); ++i) {
    const size_t first = std::exchange(p.frames[i].first_region, kept);
    const size_t end = i + 1 < p.frames.size() ? p.frames[i + 1].first_region : p.locals.size();
    kept = Scope::close_up(p.locals, kept, first, end, p.frames[i].table);
  }
  p.locals.resize(kept);
}

std::span<const Region> scope_of(const Process& p, size_t frame) {
  if (frame == 0) return {p.globals.data(), p.globals.size()};
  const size_t first = p.frames[frame - 1].first_region;
  const size_t end = frame < p.frames.size() ? p.frames[frame].first_region : p.locals.size();
  return {p.locals.data() + first, end - first};
}

const Region* find_variable(const Process& p, size_t frame, const char* name) {
  const Vector<Region>& regions = frame == 0 ? p.globals : p.locals;
  const ScopeTable* table = frame == 0 ? p.table_of_globals : p.frames[frame - 1].table;
  const size_t first = frame == 0 ? 0 : p.frames[frame - 1].first_region;
  const size_t end = frame == 0 || frame == p.frames.size() ? regions.size() : p.frames[frame].first_region;
  size_t length;
  const uint32_t hash = hash_name(name, &length);
  if (table != nullptr) {
    const size_t found = table->find(regions, name, hash);
    return found == ScopeTable::kNone ? nullptr : &regions[found];
  }
  for (size_t i = first; i < end; ++i)
    if (regions[i].hash == hash && strcmp(regions[i].name, name) == 0) return &regions[i];
  return nullptr;
}

namespace {

// Of the innermost frame, else a global.
Result remove_region(const char* name) {
  Process& p = process();
  size_t length;
  const uint32_t hash = name == nullptr ? 0 : hash_name(name, &length);
  Frame* const frame = innermost(p);
  for (const bool local : {true, false}) {
    if (name == nullptr || (local && frame == nullptr)) continue;
    Scope scope(p, local ? frame : nullptr);
    const size_t found = scope.find(name, hash);
    if (found == ScopeTable::kNone) continue;
    const Region gone = scope.regions[found];
    scope.remove(found);
    if (!local) release(const_cast<char*>(gone.name));
    if (gone.is_waiting) release(gone.address);
    return Result();
  }
  if (name != nullptr && (forget_missing(p, frame, name) || forget_missing(p, nullptr, name))) return Result();
  return Result::error("ELC_Unregister: '%s' is not registered here", name == nullptr ? "" : name);
}

Result add_function(const char* name, void (*address)(void)) {
  Process& p = process();
  ELC_TRY(check_name("ELC_Register_function", name));
  if (address == nullptr) return Result::error("ELC_Register_function: '%s' is no function, but NULL", name);
  for (const Function& f : p.functions) {
    if (f.name.view() != name) continue;
    if (f.address == address) return Result();
    return Result::error("two functions are registered under the name '%s'", name);
  }
  Function function;
  function.name = Text::copy(name);
  function.address = address;
  p.functions.push_back(std::move(function));
  uint32_t& index = p.function_by_address.at(reinterpret_cast<uintptr_t>(address));
  if (index == 0) index = static_cast<uint32_t>(p.functions.size());
  return Result();
}

Result make_type(const char* name, size_t size, int n, const ELC_Field* fields, bool is_union,
                 format::ActiveMember active, TypeId* type) {
  const char* what = is_union ? "ELC_Union" : "ELC_Struct";
  ELC_TRY(check_name(what, name));
  if (n < 0 || (n > 0 && fields == nullptr))
    return Result::error("%s(\"%s\"): no fields are given", what, name);
  if (is_union && active == nullptr)
    return Result::error("ELC_Union(\"%s\"): a function that tells the active member is needed", name);
  format::TypeTable& types = process().types;
  Vector<format::FieldSpec> specs;
  uint64_t end = 0;
  for (int i = 0; i < n; ++i) {
    if (!check_name("", fields[i].name).ok()) return check_name(Text::format("%s(\"%s\"), field %d", what, name, i).c_str(), fields[i].name);
    specs.push_back({fields[i].name, fields[i].offset, fields[i].type, fields[i].count});
    if (fields[i].type < 0) specs.back().offset = end;  // it has none
    end = specs.back().offset + fields[i].count * types.size_of(fields[i].type);
  }
  const std::span<const format::FieldSpec> all(specs.data(), specs.size());
  return is_union ? types.make_union(name, size, all, active, type)
                  : types.make_struct(name, size, all, type);
}

// What is registered, with its type and the number of its elements.
template <class Visit>
void each_thing(Visit visit) {
  Process& p = process();
  const bool enters = !p.are_described && p.frames.empty();
  if (enters) static_cast<void>(enter_described_frames(p));  // a line says what cannot be registered
  static_cast<void>(register_noted(p));
  close_up(p);
  static_cast<void>(locate_resizing(p));
  p.heap.arrange();
  for (const Vector<Region>* regions : {&p.globals, &p.locals})
    for (const Region& region : *regions) visit(region.name, region.address, region.size, region.type, region.count);
  for (const Block& block : p.heap.slots()) visit(nullptr, block.address, block.size, block.type, elements_of(p, block));
  if (enters) leave_described_frames(p);
}

// Calls one(begin, size) for what is saved of these elements: of structs the fields.
template <class One>
void each_part(const format::TypeTable& types, TypeId type, const uint8_t* at, uint64_t count, uint64_t size, One one) {
  const format::TypeInfo& info = types.info(type);
  if (info.kind != format::kStruct || info.walked) return one(at, size);
  for (uint64_t i = 0; i < count; ++i, at += info.size)
    for (const format::FieldInfo& field : types.fields(type))
      each_part(types, field.type, at + field.offset, field.count, field.count * types.size_of(field.type), one);
}

// Whether the bytes from `begin` to `end`, counted from the first of `count` elements, are characters.
bool are_characters(const format::TypeTable& types, TypeId type, uint64_t count, uint64_t begin, uint64_t end) {
  const format::TypeInfo& info = types.info(type);
  if (type < format::kFirstMade) return format::is_character(info.kind);
  for (uint64_t i = begin / info.size; i < count && i * info.size < end; ++i) {
    const uint64_t at = i * info.size, from = begin > at ? begin - at : 0, to = std::min(end - at, info.size);
    for (const format::FieldInfo& field : types.fields(type)) {
      const uint64_t size = field.count * types.size_of(field.type);
      if (size == 0 || field.offset >= to || field.offset + size <= from) continue;
      const uint64_t first = from > field.offset ? from - field.offset : 0;
      if (!are_characters(types, field.type, field.count, first, std::min(to - field.offset, size))) return false;
    }
    if (from == 0 && to == info.size) break;  // and so are all the others
  }
  return true;
}

}  // namespace

Memory memory_at(const void* address, uint64_t size) {
  const uintptr_t wanted = reinterpret_cast<uintptr_t>(address);
  Memory found = Memory::kUnknown;
  each_thing([&](const char*, const void* thing, uint64_t bytes, TypeId type, uint64_t count) {
    const uint64_t begin = wanted - reinterpret_cast<uintptr_t>(thing);
    if (wanted < reinterpret_cast<uintptr_t>(thing) || begin >= bytes || bytes - begin < size) return;
    const format::TypeTable& types = process().types;
    found = type >= 0 && are_characters(types, type, count, begin, std::min(begin + size, count * types.size_of(type))) ? Memory::kCharacters
                                                                                                                      : Memory::kOther;
  });
  return found;
}

void each_registered(void* context, void (*one)(void* context, const char* name, const void* address, uint64_t size)) {
  each_thing([&](const char* name, const void* address, uint64_t size, TypeId, uint64_t) { one(context, name, address, size); });
}

void each_saved(void* context, void (*one)(void* context, const char* name, const void* address, uint64_t size)) {
  each_thing([&](const char* name, const void* address, uint64_t size, TypeId type, uint64_t count) {
    const format::TypeTable& types = process().types;
    const uint8_t *at = static_cast<const uint8_t*>(address), *begin = nullptr, *end = nullptr;  // of parts that lie together
    const auto tell = [&] {
      if (begin != end) one(context, name, begin, static_cast<uint64_t>(end - begin));
    };
    const auto add = [&](const uint8_t* part, uint64_t bytes) {
      if (part != end) tell(), begin = part;
      end = part + bytes;
    };
    const uint64_t elements = count * types.size_of(type), rest = elements == 0 || elements > size ? 0 : size - elements;
    each_part(types, type, at, count, size - rest, add);
    if (rest > 0) add(at + elements, rest);  // of a block of the heap
    tell();
  });
}

}  // namespace elc::state

using elc::state::outcome;
using elc::state::process;

extern "C" {

ELC_EXPORT int ELC_Register(const char* name, void* address, ELC_Type type, size_t count) {
  return outcome(elc::state::add_region(name, address, type, count, ELC_NO_TYPE));
}

ELC_EXPORT int ELC_Register_pointer(const char* name, void* address, size_t count, ELC_Type target) {
  return outcome(elc::state::add_region(name, address, ELC_POINTER, count, target));
}

ELC_EXPORT int ELC_Register_shape(const char* name, void* address, ELC_Type type, int dimensions,
                                  const size_t extents[]) {
  using namespace elc::state;
  Shape shape;
  elc::Result added = shape.read(name, dimensions, extents);
  if (!added.ok()) note_missing(process(), innermost(process()), name);
  else added = add_region(name, address, type, shape.count, ELC_NO_TYPE, shape.declared());
  return outcome(added);
}

ELC_EXPORT int ELC_Register_sizes(const char* name, void* address, ELC_Type type, int outer, size_t first, size_t second,
                                  size_t third, int inner, size_t whole, size_t row, size_t part, size_t last) {
  const size_t outermost[] = {first, second, third}, sizes[5] = {whole, row, part, last, ELC_Sizeof(type)};
  uint64_t innermost[4];
  size_t extents[7];
  int dimensions = 0;
  for (int i = 0; i < outer; ++i) extents[dimensions++] = outermost[i];
  for (const uint64_t extent : elc::state::extents_of(inner, sizes, innermost)) extents[dimensions++] = static_cast<size_t>(extent);
  return ELC_Register_shape(name, address, type, dimensions, extents);
}

ELC_EXPORT int ELC_Register_static(const char* function, const char* name, void* address, ELC_Type type, int dimensions,
                                   const size_t extents[]) {
  using namespace elc::state;
  const elc::Text full = elc::Text::format("%s.%s", function, name);
  const elc::Result added = add_static_array(full.c_str(), address, type, dimensions, extents);
  if (!added.ok()) process().unregistered = elc::Text::format("the static '%s'", full.c_str());
  return outcome(added);
}

ELC_EXPORT int ELC_Register_resizing(const char* name, ELC_Type type, void* object, const ELC_Resizing* how) {
  using namespace elc::state;
  if (how == nullptr || how->where == nullptr || how->room == nullptr) {
    note_missing(process(), innermost(process()), name);
    return outcome(elc::Result::error("ELC_Register_resizing: functions are needed that say where the elements are, and make room"));
  }
  Resizing resizing;
  resizing.object = object;
  resizing.where = how->where;
  resizing.room = how->room;
  resizing.restored = how->restored;
  return outcome(add_resizing(name, type, resizing));
}

ELC_EXPORT int ELC_Register_allocated(const char* name, void* pointer, ELC_Type type, void* count, ELC_Type count_type) {
  return outcome(elc::state::add_allocated(name, pointer, type, count, count_type));
}

ELC_EXPORT int ELC_Was(const char* old_name) {
  process().renames = true;
  process().before = elc::Text::copy(old_name == nullptr ? "" : old_name);
  return ELC_OK;
}

ELC_EXPORT int ELC_Unregister(const char* name) { return outcome(elc::state::remove_region(name)); }

ELC_EXPORT int ELC_Register_function(const char* name, void (*function)(void)) {
  return outcome(elc::state::add_function(name, function));
}

ELC_EXPORT ELC_Type ELC_Struct(const char* name, size_t size, int n, const ELC_Field fields[]) {
  ELC_Type type = ELC_NO_TYPE;
  if (outcome(elc::state::make_type(name, size, n, fields, false, nullptr, &type)) != ELC_OK)
    return ELC_NO_TYPE;
  return type;
}

ELC_EXPORT ELC_Type ELC_Union(const char* name, size_t size, int n, const ELC_Field members[],
                   int (*active)(const void* u, const void* enclosing)) {
  ELC_Type type = ELC_NO_TYPE;
  if (outcome(elc::state::make_type(name, size, n, members, true, active, &type)) != ELC_OK)
    return ELC_NO_TYPE;
  return type;
}

ELC_EXPORT ELC_Type ELC_Accessor(ELC_Type saved_as, int64_t (*get)(const void* of), void (*set)(void* of, int64_t)) {
  ELC_Type type = ELC_NO_TYPE;
  const auto kind = static_cast<elc::format::Kind>(saved_as > 0 && saved_as < ELC_POINTER ? saved_as : 0);
  if (outcome(process().types.make_accessor(kind, {get, set}, &type)) != ELC_OK) return ELC_NO_TYPE;
  return type;
}

ELC_EXPORT size_t ELC_Sizeof(ELC_Type type) { return static_cast<size_t>(process().types.size_of(type)); }
}
