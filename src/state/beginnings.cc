// Blocks that are too small for the struct that a program takes them for, as those of kinds without the last members are, and those whose
// last array is cut off, as to the height of a node: they have the members that they have room for, and elements of the next one. A type of
// its own, which a restart makes again.
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "state/process.h"

namespace elc::state {
namespace {

constexpr const char *kFirst = "the first ", *kMembers = " members", *kAnd = " and ", *kElements = " elements", *kOf = " of ";

// What a struct begins with.
struct Cut {
  uint32_t members;
  uint64_t elements;  // of the next member
};

// kNone: there is none of so many.
TypeId beginning_of(Process& p, TypeId type, const Cut& cut) {
  const format::TypeInfo& info = p.types.info(type);
  const uint32_t members = cut.members + (cut.elements > 0 ? 1 : 0);
  if (info.kind != format::kStruct || members == 0 || members > info.field_count) return format::kNone;
  Vector<format::FieldSpec> fields;
  uint64_t end = 0;
  for (uint32_t i = 0; i < members; ++i) {
    const format::FieldInfo& field = p.types.field(info, i);
    if (p.types.accessor(field.type) != nullptr) return format::kNone;
    const uint64_t count = i < cut.members ? field.count : std::min<uint64_t>(cut.elements, field.count);
    fields.push_back({field.name, field.offset, field.type, count});
    end = field.offset + count * p.types.size_of(field.type);
  }
  const Text elements = cut.elements == 0 ? Text() : Text::format("%s%llu%s", kAnd, static_cast<unsigned long long>(cut.elements), kElements);
  const Text name = Text::format("%s%u%s%s%s%s", kFirst, cut.members, kMembers, elements.c_str(), kOf, info.name);
  TypeId made = format::kNone;
  if (p.types.make_struct(name.view(), end, {fields.data(), fields.size()}, &made).ok()) p.begun.at(static_cast<uint64_t>(made)) = type;
  return made;
}

}  // namespace

TypeId beginning_in(Process& p, TypeId type, uint64_t size) {
  if (type < format::kFirstMade) return format::kNone;
  Cut cut = {0, 0};
  uint64_t end = 0;
  for (const format::FieldInfo& field : p.types.fields(type)) {
    const uint64_t element = p.types.size_of(field.type);
    end = field.offset + field.count * element;
    if (end > size) {
      if (field.offset < size && element > 0) cut.elements = (size - field.offset) / element;
      break;
    }
    ++cut.members;
  }
  if (size >= 2 * end) return format::kNone;  // it has all members, and more of the gap behind them than another one has room in
  const uint64_t key = mix64(mix64(static_cast<uint64_t>(type) << 32 | cut.members) ^ cut.elements);
  const TypeId* const known = p.beginnings.find(key);
  return known != nullptr ? *known : p.beginnings.at(key) = beginning_of(p, type, cut);
}

bool is_beginning_of(const Process& p, TypeId beginning, TypeId type) {
  const TypeId* const whole = p.begun.size() > 0 ? p.begun.find(static_cast<uint64_t>(beginning)) : nullptr;
  return whole != nullptr && *whole == type;
}

TypeId beginning_named(Process& p, const char* name) {
  const char* const of = strstr(name, kOf);
  if (strncmp(name, kFirst, strlen(kFirst)) != 0 || of == nullptr) return format::kNone;
  const TypeId type = p.types.find(of + strlen(kOf));
  char* end = nullptr;
  Cut cut = {static_cast<uint32_t>(strtoul(name + strlen(kFirst), &end, 10)), 0};
  const size_t to_elements = strlen(kMembers) + strlen(kAnd);
  if (end + to_elements < of) cut.elements = strtoull(end + to_elements, nullptr, 10);
  return type == format::kNone ? type : beginning_of(p, type, cut);
}

}  // namespace elc::state
