// Blocks that are too small for the struct that a program takes them for, as those of kinds without the last members are, and arrays of
// nothing at the end of a struct: they have the members that they have room for. A type of its own, which a restart makes again.
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "state/process.h"

namespace elc::state {
namespace {

constexpr const char *kFirst = "the first ", *kMembersOf = " members of ";

// What tells which member of a union is in use may be a member of the struct that the block has no room for.
bool asks_others(const format::TypeTable& types, TypeId type) {
  const format::TypeInfo& info = types.info(type);
  if (!info.walked || is_word(types, type)) return false;
  if (info.kind != format::kStruct) return true;
  const auto fields = types.fields(type);
  return std::any_of(fields.begin(), fields.end(), [&](const format::FieldInfo& field) { return asks_others(types, field.type); });
}

// kNone: there is none of so many.
TypeId beginning_of(Process& p, TypeId type, uint32_t members) {
  const format::TypeInfo& info = p.types.info(type);
  if (info.kind != format::kStruct || members == 0 || members >= info.field_count) return format::kNone;
  Vector<format::FieldSpec> fields;
  uint64_t end = 0;
  for (uint32_t i = 0; i < members; ++i) {
    const format::FieldInfo& field = p.types.field(info, i);
    if (p.types.accessor(field.type) != nullptr || asks_others(p.types, field.type)) return format::kNone;
    fields.push_back({field.name, field.offset, field.type, field.count});
    end = field.offset + field.count * p.types.size_of(field.type);
  }
  const Text name = Text::format("%s%u%s%s", kFirst, members, kMembersOf, info.name);
  TypeId made = format::kNone;
  if (p.types.make_struct(name.view(), end, {fields.data(), fields.size()}, &made).ok()) p.begun.at(static_cast<uint64_t>(made)) = type;
  return made;
}

}  // namespace

TypeId beginning_in(Process& p, TypeId type, uint64_t size) {
  if (type < format::kFirstMade) return format::kNone;
  uint32_t members = 0;
  for (const format::FieldInfo& field : p.types.fields(type)) {
    if (field.offset + field.count * p.types.size_of(field.type) > size) break;
    ++members;
  }
  const uint64_t key = static_cast<uint64_t>(type) << 32 | members;
  const TypeId* const known = p.beginnings.find(key);
  return known != nullptr ? *known : p.beginnings.at(key) = beginning_of(p, type, members);
}

bool is_beginning_of(const Process& p, TypeId beginning, TypeId type) {
  const TypeId* const whole = p.begun.size() > 0 ? p.begun.find(static_cast<uint64_t>(beginning)) : nullptr;
  return whole != nullptr && *whole == type;
}

TypeId beginning_named(Process& p, const char* name) {
  const char* const of = strstr(name, kMembersOf);
  if (strncmp(name, kFirst, strlen(kFirst)) != 0 || of == nullptr) return format::kNone;
  const TypeId type = p.types.find(of + strlen(kMembersOf));
  const auto members = static_cast<uint32_t>(strtoul(name + strlen(kFirst), nullptr, 10));
  return type == format::kNone ? type : beginning_of(p, type, members);
}

}  // namespace elc::state
