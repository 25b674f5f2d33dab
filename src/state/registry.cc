// Registered data, types and functions: the API.
#include <string.h>

#include <algorithm>
#include <utility>

#include "base/compiler.h"
#include "elc.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

// The scope that a registration joins: the innermost frame, or the globals.
struct Scope {
  explicit Scope(Process& p, bool local)
      : regions(local ? p.locals : p.globals),
        table(local ? p.frames.back().table : p.table_of_globals),
        unregistered(local ? p.frames.back().unregistered : p.unregistered_globals),
        first(local ? p.frames.back().first_region : 0) {}

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
      if (overlap(added, regions[i])) return i;
    return ScopeTable::kNone;
  }

  void add(const Region& region) {
    regions.push_back(region);
    if (table != nullptr) return table->add(regions, regions.size() - 1);
    if (regions.size() - first <= ScopeTable::kFew) return;
    table = make<ScopeTable>();
    table->build(regions, first, regions.size());
  }

  // Where they are many, what comes behind stays where it is until there are as many places that wait.
  void remove(size_t i) {
    if (table == nullptr) return regions.erase(i);
    table->remove(regions, i);
    regions[i].name = nullptr;
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

// Of two reasons that of the variable that was registered first is told.
Result find_conflict(const Process& p, const Scope& scope, const Region& added, const char* name) {
  const size_t named = scope.find(name, added.hash), over = scope.overlapping(added);
  if (named == ScopeTable::kNone && over == ScopeTable::kNone) return Result();
  const Region& r = scope.regions[std::min(named, over)];
  if (named <= over)
    return Result::error("'%s' is registered twice in %s: names are unique, give one of them another by ELC_Register", name,
                         owner_of(p, r).c_str());
  return Result::error("'%s' overlaps '%s' of %s: every byte is registered once", name, r.name, owner_of(p, r).c_str());
}

}  // namespace

Result add_region(const char* name, void* address, TypeId type, size_t count, TypeId target) {
  Process& p = process();
  ELC_TRY(check_name("ELC_Register", name));
  const uint64_t element = p.types.size_of(type);
  if (element == 0)
    return Result::error("'%s': there is no type %d; types come from ELC_Struct and ELC_Union", name, type);
  if (count > PTRDIFF_MAX / element)
    return Result::error("'%s': %zu elements of %llu bytes are more than a memory can hold", name, count,
                         static_cast<unsigned long long>(element));
  if (address == nullptr && count > 0) return Result::error("'%s' is registered at the address NULL", name);

  Region region;
  size_t length;
  region.hash = hash_name(name, &length);
  region.address = static_cast<uint8_t*>(address);
  region.size = element * count;
  region.count = count;
  region.type = type;
  region.target = target;
  const bool local = !p.frames.empty();
  Scope scope(p, local);
  ELC_TRY(find_conflict(p, scope, region, name));
  if (p.heap.find(address) != nullptr && count > 0)
    return Result::error(
        "'%s' is a block from ELC_malloc, which is saved as such: give it its type by ELC_new or "
        "ELC_Set_type, and "
        "register the pointer to it with ELC_PTR",
        name);
  if (local) {
    region.name = p.names.push(name, length);
  } else {
    char* copy = static_cast<char*>(allocate(length + 1));
    memcpy(copy, name, length + 1);
    region.name = copy;
  }
  scope.add(region);
  return Result();
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
  for (const bool local : {true, false}) {
    if (name == nullptr || (local && p.frames.empty())) continue;
    Scope scope(p, local);
    const size_t found = scope.find(name, hash);
    if (found == ScopeTable::kNone) continue;
    const char* copy = scope.regions[found].name;
    scope.remove(found);
    if (!local) release(const_cast<char*>(copy));
    return Result();
  }
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
    ELC_TRY(check_name(Text::format("%s(\"%s\"), field %d", what, name, i).c_str(), fields[i].name));
    specs.push_back({fields[i].name, fields[i].offset, fields[i].type, fields[i].count});
    if (fields[i].type < 0) specs.back().offset = end;  // it has none
    end = specs.back().offset + fields[i].count * types.size_of(fields[i].type);
  }
  const std::span<const format::FieldSpec> all(specs.data(), specs.size());
  return is_union ? types.make_union(name, size, all, active, type)
                  : types.make_struct(name, size, all, type);
}

}  // namespace
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
