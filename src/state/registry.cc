// Registered data, types and functions: the API.
#include <string.h>

#include "base/compiler.h"
#include "elc.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

// Names and places of the scope that a registration joins: the innermost frame, or the globals.
Result find_conflict(const Process& p, const Vector<Region>& scope, size_t first, const Region& added,
                     const char* name) {
  for (size_t i = first; i < scope.size(); ++i) {
    const Region& r = scope[i];
    if (r.hash == added.hash && strcmp(r.name, name) == 0)
      return Result::error(
          "'%s' is registered twice in %s: names are unique, give one of them another by ELC_Register", name,
          owner_of(p, r).c_str());
    if (added.address < r.address + r.size && r.address < added.address + added.size)
      return Result::error("'%s' overlaps '%s' of %s: every byte is registered once", name, r.name,
                           owner_of(p, r).c_str());
  }
  return Result();
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
  Vector<Region>& scope = local ? p.locals : p.globals;
  ELC_TRY(find_conflict(p, scope, local ? p.frames.back().first_region : 0, region, name));
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
  scope.push_back(region);
  return Result();
}

namespace {

// The variable of a name: that of the innermost frame, else the global. Tells the vector it is in.
Region* find_region(Process& p, const char* name, Vector<Region>** scope) {
  size_t length;
  const uint32_t hash = hash_name(name, &length);
  const auto search = [&](Vector<Region>& regions, size_t first) -> Region* {
    for (size_t i = first; i < regions.size(); ++i)
      if (regions[i].hash == hash && strcmp(regions[i].name, name) == 0) return &regions[i];
    return nullptr;
  };
  *scope = &p.locals;
  Region* found = p.frames.empty() ? nullptr : search(p.locals, p.frames.back().first_region);
  if (found != nullptr) return found;
  *scope = &p.globals;
  return search(p.globals, 0);
}

Result remove_region(const char* name) {
  Process& p = process();
  Vector<Region>* scope;
  Region* region = name == nullptr ? nullptr : find_region(p, name, &scope);
  if (region == nullptr)
    return Result::error("ELC_Unregister: '%s' is not registered here", name == nullptr ? "" : name);
  if (scope == &p.globals) release(const_cast<char*>(region->name));
  scope->erase(static_cast<size_t>(region - scope->data()));
  return Result();
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

void each_registered(void* context, void (*one)(void* context, const char* name, const void* address, uint64_t size)) {
  Process& p = process();
  for (const Vector<Region>* regions : {&p.globals, &p.locals})
    for (const Region& region : *regions) one(context, region.name, region.address, region.size);
  for (const Block& block : p.heap.slots())
    if (block.address != nullptr) one(context, nullptr, block.address, block.size);
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
