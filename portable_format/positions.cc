// Between offsets in memory and positions in leaves. See types.h.
#include <stdio.h>

#include <algorithm>

#include "portable_format/types.h"

namespace elc::format {

bool TypeTable::position(TypeId type, uint64_t count, uint64_t offset, const void* block,
                         uint64_t* position) const {
  if (!known(type)) return false;
  const TypeInfo& t = info(type);
  if (count > (kMaxLeaves - 1) / t.leaves || count > ~uint64_t{0} / t.size || offset > count * t.size)
    return false;
  uint64_t leaf = count * t.leaves, extra = 0;  // one past the end
  if (offset < count * t.size) {
    const FieldInfo all = {"", type, 0, count, 0};
    if (!position_in_array(all, offset, static_cast<const uint8_t*>(block), nullptr, &leaf, &extra))
      return false;
  }
  *position = make_position(leaf, extra);
  return true;
}

// `offset` is inside the elements of `field`, which begin at `at`.
bool TypeTable::position_in_array(const FieldInfo& field, uint64_t offset, const uint8_t* at,
                                  const uint8_t* enclosing, uint64_t* leaf, uint64_t* extra) const {
  const TypeInfo& type = info(field.type);
  const uint64_t element = offset / type.size;
  const uint8_t* here = at == nullptr ? nullptr : at + element * type.size;
  if (!position_within(field.type, offset % type.size, here, enclosing, leaf, extra)) return false;
  *leaf += element * type.leaves;
  return true;
}

bool TypeTable::position_within(TypeId id, uint64_t offset, const uint8_t* at, const uint8_t* enclosing,
                                uint64_t* leaf, uint64_t* extra) const {
  const TypeInfo& type = info(id);
  if (type.kind == kUnion)
    return position_in_union(type, offset, at, enclosing == nullptr ? at : enclosing, leaf, extra);
  if (type.kind != kStruct) {
    const uint64_t part = type.size / type.leaves;
    *leaf = offset / part;
    *extra = offset % part;
    return *extra < kPastLeaf;
  }
  const std::span<const FieldInfo> all = fields(id);
  const auto after = std::upper_bound(all.begin(), all.end(), offset,
                                      [](uint64_t o, const FieldInfo& f) { return o < f.offset; });
  if (after == all.begin()) return false;  // padding before the first field
  return position_in_field(*(after - 1), offset, at, at, leaf, extra);
}

// `offset` and `at` are those of the struct or union that the field is in.
bool TypeTable::position_in_field(const FieldInfo& field, uint64_t offset, const uint8_t* at,
                                  const uint8_t* enclosing, uint64_t* leaf, uint64_t* extra) const {
  const TypeInfo& part = info(field.type);
  if (offset < field.offset || offset - field.offset > field.count * part.size) return false;
  offset -= field.offset;
  if (offset == field.count * part.size) {
    *leaf = field.count * part.leaves - 1;
    *extra = kPastLeaf;
  } else if (!position_in_array(field, offset, at == nullptr ? nullptr : at + field.offset, enclosing, leaf,
                                extra)) {
    return false;
  }
  *leaf += field.first_leaf;
  return true;
}

bool TypeTable::position_in_union(const TypeInfo& type, uint64_t offset, const uint8_t* at,
                                  const uint8_t* enclosing, uint64_t* leaf, uint64_t* extra) const {
  const auto in_member = [&](uint32_t m) {
    return position_in_field(field(type, m), offset, at, enclosing, leaf, extra);
  };
  if (at != nullptr && type.active != nullptr) {
    const int active = type.active(at, enclosing);
    if (active >= 0 && static_cast<uint32_t>(active) < type.field_count &&
        in_member(static_cast<uint32_t>(active)))
      return true;
  }
  for (uint32_t m = 0; m < type.field_count; ++m)
    if (in_member(m) && *extra == 0) return true;
  for (uint32_t m = 0; m < type.field_count; ++m)
    if (in_member(m)) return true;
  return false;
}

const FieldInfo& TypeTable::field_of_leaf(const TypeInfo& type, uint64_t leaf) const {
  const FieldInfo* first = fields_.data() + type.first_field;
  return *(std::upper_bound(first, first + type.field_count, leaf,
                            [](uint64_t l, const FieldInfo& f) { return l < f.first_leaf; }) -
           1);
}

bool TypeTable::offset(TypeId id, uint64_t count, uint64_t position, const Representation& writer,
                       uint64_t* offset) const {
  if (!known(id)) return false;
  const TypeInfo* type = &info(id);
  uint64_t leaf = leaf_of(position);
  const uint64_t extra = extra_of(position);
  if ((count | type->leaves) >> 32 != 0 && count > (kMaxLeaves - 1) / type->leaves) return false;
  const uint64_t leaves = count * type->leaves;
  if (leaves >= kMaxLeaves || leaf > leaves) return false;
  const bool past_end = leaf == leaves;
  uint64_t at = leaf / type->leaves * type->size;
  leaf %= type->leaves;
  if (past_end || (leaf == 0 && extra == 0)) {  // most pointers are to the beginning of an element
    *offset = past_end ? at : at + type->begin;
    return extra == 0;
  }
  while (type->kind == kStruct || type->kind == kUnion) {
    const FieldInfo& f = field_of_leaf(*type, leaf);
    type = &info(f.type);
    at += f.offset + (leaf - f.first_leaf) / type->leaves * type->size;
    leaf = (leaf - f.first_leaf) % type->leaves;
  }
  const uint64_t width = type->size / type->leaves;
  *offset = at + leaf * width + (extra == kPastLeaf ? width : extra);
  if (extra == 0 || extra == kPastLeaf) return true;
  return extra < width && writer.width[type->kind] == Representation::here().width[type->kind];
}

void TypeTable::place(TypeId id, uint64_t count, uint64_t leaf, char* text, size_t size) const {
  const TypeInfo* type = &info(id);
  size_t used = 0;
  if (size > 0) text[0] = '\0';
  const auto add = [&](const char* name, uint64_t index, bool indexed) {
    const char* dot = name[0] == '\0' ? "" : ".";
    if (used >= size) return;
    const int more = indexed ? snprintf(text + used, size - used, "%s%s[%llu]", dot, name,
                                        static_cast<unsigned long long>(index))
                             : snprintf(text + used, size - used, "%s%s", dot, name);
    if (more > 0) used += static_cast<size_t>(more);
  };
  add("", leaf / type->leaves, count != 1);
  for (leaf %= type->leaves; type->kind == kStruct || type->kind == kUnion;) {
    const FieldInfo& f = field_of_leaf(*type, leaf);
    type = &info(f.type);
    add(f.name, (leaf - f.first_leaf) / type->leaves, f.count != 1);
    leaf = (leaf - f.first_leaf) % type->leaves;
  }
  if (is_complex(type->kind)) add(leaf == 0 ? "re" : "im", 0, false);
}

}  // namespace elc::format
