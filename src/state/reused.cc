// Memory that holds something else than what its block was made for: cells that are used again, arenas with a struct in front.
#include <string.h>

#include "state/blocks.h"
#include "state/process.h"

namespace elc::state {
namespace {

// Whether values of a type may have bits in memory that a line does not bring back.
bool may_lose(const format::TypeTable& types, TypeId type) {
  const format::TypeInfo& info = types.info(type);
  if (types.accessor(type) != nullptr || info.kind == format::kBool || format::part_of_complex(info.kind) == format::kLdouble) return true;
  if (info.kind != format::kStruct) return format::is_handle(info.kind) && !format::has_position(info.kind);
  for (const format::FieldInfo& field : types.fields(type))
    if (may_lose(types, field.type)) return true;
  return false;
}

// Bit-fields, in the bytes in which they are: beside them there is nothing.
bool keeps_bits(const format::TypeTable& types, TypeId type, const uint8_t* at) {
  Vector<uint8_t> used, copy;
  used.resize(static_cast<size_t>(types.size_of(type)));
  copy.resize(used.size());
  bool has_some = false;
  for (const format::FieldInfo& field : types.fields(type)) {
    const format::Accessor* const how = types.accessor(field.type);
    if (how == nullptr) continue;
    has_some = true;
    how->set(used.data(), -1);
    how->set(copy.data(), how->get(at));
  }
  for (size_t i = 0; i < used.size() && has_some; ++i)
    if (used[i] != 0 && copy[i] != at[i]) return false;
  return true;
}

bool is_zero_behind_value(const format::TypeInfo& info, const uint8_t* at) {
  constexpr uint64_t kExtended = 10;
  const uint64_t parts = info.kind == format::kLdouble ? 1 : 2, size = info.size / parts;
  if (format::Representation::here().long_double != format::LongDouble::kExtended) return true;
  for (uint64_t part = 0; part < parts; ++part)
    for (uint64_t i = kExtended; i < size; ++i)
      if (at[part * size + i] != 0) return false;
  return true;
}

bool is_of_type(const Process& p, TypeId type, const uint8_t* at) {
  const format::TypeInfo& info = p.types.info(type);
  if (info.kind == format::kStruct) {
    if (info.walked && !keeps_bits(p.types, type, at)) return false;
    for (const format::FieldInfo& field : p.types.fields(type)) {
      if (p.types.accessor(field.type) != nullptr || !may_lose(p.types, field.type)) continue;
      const uint64_t size = p.types.size_of(field.type);
      for (uint64_t i = 0; i < field.count; ++i)
        if (!is_of_type(p, field.type, at + field.offset + i * size)) return false;
    }
    return true;
  }
  if (info.kind == format::kBool) return *at <= 1;
  if (format::part_of_complex(info.kind) == format::kLdouble) return is_zero_behind_value(info, at);
  // Handles that are integers may have any value.
  if (!format::is_handle(info.kind) || format::has_position(info.kind) || info.size != sizeof(uintptr_t) || info.kind == format::kMpiStatus) return true;
  uintptr_t value;
  memcpy(&value, at, sizeof value);
  return value == 0 || may_be_address(p, value);
}

}  // namespace

// They are bytes from now on, until the program converts a pointer to them again.
void find_reused(Process& p) {
  if (!p.is_prepared) return;
  TypeId last = format::kNone;
  bool loses = false;
  for (Block& block : p.heap.slots()) {
    if (block.type != last) last = block.type, loses = may_lose(p.types, last);
    const uint64_t size = p.types.size_of(block.type), count = loses ? elements_of(p, block) : 0;
    for (uint64_t i = 0; i < count; ++i) {
      if (is_of_type(p, block.type, block.address + i * size)) continue;
      block.type = format::kByte;
      block.guessed = block.is_open = false;
      break;
    }
  }
}

}  // namespace elc::state
