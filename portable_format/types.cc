#include "portable_format/types.h"

#include <stdio.h>

namespace elc::format {
namespace {

constexpr uint64_t kMaxPacked = uint64_t{1} << 62;

uint64_t hash_of(std::string_view text) {  // FNV-1a
  uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return h;
}

// Names go to terminals and into messages.
bool printable(std::string_view name) {
  if (name.empty() || name.size() > kMaxText) return false;
  for (const char c : name)
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) return false;
  return true;
}

// a + b * c, or false if it is more than `most`.
bool add_product(uint64_t* a, uint64_t b, uint64_t c, uint64_t most) {
  if (b != 0 && c > (most - *a) / b) return false;
  *a += b * c;
  return *a <= most;
}

}  // namespace

TypeTable::Strings::~Strings() {
  for (char* text : all) release(text);
}

const char* TypeTable::Strings::keep(std::string_view text) {
  char* copy = static_cast<char*>(allocate(text.size() + 1));
  memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return all.push_back(copy);
}

void TypeTable::Strings::forget_last() {
  release(all.back());
  all.pop_back();
}

TypeTable::TypeTable() {
  const Representation& mine = Representation::here();
  for (uint32_t k = 1; k < kKindCount; ++k) {
    const Kind kind = static_cast<Kind>(k);
    TypeInfo& type = scalars_[k];
    type.kind = kind;
    type.name = kind_name(kind);
    type.size = mine.width[k];
    type.packed = mine.packed_width(kind);
    type.leaves = is_complex(kind) ? 2 : 1;
    type.has_handle = is_handle(kind);
    type.has_byte = kind == kByte;
  }
  scalars_[kLdouble].size = sizeof(long double);
  scalars_[kLdoubleComplex].size = 2 * sizeof(long double);
  scalars_[kFile].size = sizeof(FILE*);
}

void TypeTable::set_size(Kind kind, size_t size) { scalars_[kind].size = size; }

std::span<const FieldInfo> TypeTable::fields(TypeId type) const {
  const TypeInfo& t = info(type);
  return {fields_.data() + t.first_field, t.field_count};
}

TypeId TypeTable::find(std::string_view name) const {
  const Vector<TypeId>* candidates = by_name_.find(hash_of(name));
  if (candidates == nullptr) return kNone;
  for (const TypeId type : *candidates)
    if (name == info(type).name) return type;
  return kNone;
}

Result TypeTable::make_struct(std::string_view name, uint64_t size, std::span<const FieldSpec> fields,
                              TypeId* made) {
  return make(kStruct, name, size, fields, nullptr, made);
}

Result TypeTable::make_union(std::string_view name, uint64_t size, std::span<const FieldSpec> members,
                             ActiveMember active, TypeId* made) {
  return make(kUnion, name, size, members, active, made);
}

Result TypeTable::make_accessor(Kind kind, const Accessor& accessor, TypeId* made) {
  *made = kNone;
  if (!is_integer(kind) && kind != kBool && !is_handle(kind))
    return Result::error("a bit-field is saved as an integer or a bool");
  if (accessor.get == nullptr || accessor.set == nullptr)
    return Result::error("a bit-field needs a function that gets it and one that sets it");
  for (*made = -1; known(*made); --*made) {
    const AccessorType& old = accessors_[index_of(*made)];
    if (old.info.kind == kind && old.how.get == accessor.get && old.how.set == accessor.set) return Result();
  }
  AccessorType added = {info(static_cast<TypeId>(kind)), accessor};
  added.info.size = 0;
  added.info.walked = true;
  accessors_.push_back(added);
  return Result();
}

Result TypeTable::make(Kind kind, std::string_view name, uint64_t size, std::span<const FieldSpec> fields,
                       ActiveMember active, TypeId* made) {
  *made = kNone;
  if (!printable(name)) return Result::error("a type needs a name of 1 to %zu printable characters", kMaxText);
  char what[128];
  snprintf(what, sizeof what, "type `%.*s`", static_cast<int>(name.size() > 100 ? 100 : name.size()),
           name.data());
  if (kind == kUnion && active == nullptr)
    return Result::error("%s: a union needs the function that tells its active member", what);
  TypeInfo type = {};
  type.kind = kind;
  type.size = size;
  type.active = active;
  ELC_TRY(measure(what, fields, &type));
  ELC_TRY(check_layout(what, size, fields, kind == kUnion));
  if (const TypeId old = find(name); old != kNone) {
    if (!same(old, kind, size, fields, active))
      return Result::error("%s was made before with another size or other fields; give this one another name",
                           what);
    *made = old;
    return Result();
  }
  *made = end();
  add(type, name, fields);
  return Result();
}

void TypeTable::add(TypeInfo type, std::string_view name, std::span<const FieldSpec> fields) {
  const TypeId id = end();
  type.name = strings_.keep(name);
  type.first_field = static_cast<uint32_t>(fields_.size());
  type.field_count = static_cast<uint32_t>(fields.size());
  uint64_t leaves = 0;
  for (const FieldSpec& f : fields) {
    fields_.push_back({strings_.keep(f.name), f.type, f.offset, f.count, leaves});
    leaves += f.count * info(f.type).leaves;
  }
  made_.push_back(type);
  by_name_.at(hash_of(name)).push_back(id);
}

void TypeTable::shorten(TypeId from) {
  while (end() > from) {
    const TypeInfo& last = made_.back();
    by_name_.at(hash_of(last.name)).pop_back();
    fields_.resize(last.first_field);
    for (uint32_t i = 0; i <= last.field_count; ++i) strings_.forget_last();  // its own, and those of its fields
    made_.pop_back();
  }
}

bool TypeTable::same(TypeId id, Kind kind, uint64_t size, std::span<const FieldSpec> specs,
                     ActiveMember active) const {
  const TypeInfo& type = info(id);
  if (type.kind != kind || type.size != size || type.field_count != specs.size() || type.active != active)
    return false;
  for (uint32_t i = 0; i < type.field_count; ++i) {
    const FieldInfo& f = field(type, i);
    const FieldSpec& s = specs[i];
    if (s.name != f.name || s.offset != f.offset || s.type != f.type || s.count != f.count) return false;
  }
  return true;
}

Result TypeTable::check_layout(const char* what, uint64_t size, std::span<const FieldSpec> specs,
                               bool overlap) const {
  uint64_t from = 0;
  for (const FieldSpec& f : specs) {
    const int length = static_cast<int>(f.name.size());
    const uint64_t element = info(f.type).size;
    if (f.offset > size || (element > 0 && f.count > (size - f.offset) / element))
      return Result::error("%s: field `%.*s` ends outside the %llu bytes of the type", what, length,
                           f.name.data(), static_cast<unsigned long long>(size));
    if (!overlap && f.offset < from)
      return Result::error(
          "%s: field `%.*s` lies before the end of the field before it; fields go in ascending "
          "order of offset",
          what, length, f.name.data());
    from = f.offset + f.count * element;
  }
  return Result();
}

Result TypeTable::measure(const char* what, std::span<const FieldSpec> specs, TypeInfo* type) const {
  if (specs.empty()) return Result::error("%s has no fields", what);
  uint64_t leaves = 0, packed = 0;
  for (const FieldSpec& f : specs) {
    if (!printable(f.name)) return Result::error("%s: a field needs a name of 1 to %zu printable characters", what, kMaxText);
    const int length = static_cast<int>(f.name.size() > 100 ? 100 : f.name.size());
    if (!known(f.type))
      return Result::error("%s: field `%.*s` has a type that is not known here (%ld)", what, length,
                           f.name.data(), static_cast<long>(f.type));
    if (f.count == 0) return Result::error("%s: field `%.*s` has no elements", what, length, f.name.data());
    if (accessor(f.type) != nullptr && (f.count != 1 || type->kind == kUnion))
      return Result::error("%s: the bit-field `%.*s` is not one field of a struct", what, length, f.name.data());
    const TypeInfo& part = info(f.type);
    if (!add_product(&leaves, part.leaves, f.count, kMaxLeaves - 1) ||
        !add_product(&packed, part.packed, f.count, kMaxPacked))
      return Result::error("%s: field `%.*s` makes it too large", what, length, f.name.data());
    type->walked |= part.walked;
    type->has_handle |= part.has_handle;
    type->has_byte |= part.has_byte;
    if (type->depth <= part.depth) type->depth = part.depth + 1;
  }
  if (type->depth > kMaxDepth) return Result::error("%s: structs nest more than %u deep", what, kMaxDepth);
  type->leaves = leaves;
  type->begin = specs[0].offset + info(specs[0].type).begin;
  type->packed = type->kind == kUnion ? 4 : packed;
  type->walked |= type->kind == kUnion;
  return Result();
}

void TypeTable::encode(Encoder& out) const {
  out.u64(made_.size());
  for (const TypeInfo& type : made_) {
    out.u32(type.kind);
    out.string(type.name);
    out.u64(type.size);
    out.u64(type.field_count);
    for (uint32_t i = 0; i < type.field_count; ++i) {
      const FieldInfo& f = field(type, i);
      out.string(f.name);
      out.i32(f.type < 0 ? static_cast<TypeId>(info(f.type).kind) : f.type);
      out.u64(f.count);
    }
  }
}

Result TypeTable::decode(Decoder& in, const Representation& writer, TypeTable* out) {
  TypeTable table;
  for (uint32_t k = 1; k < kKindCount; ++k) {
    TypeInfo& type = table.scalars_[k];
    type.packed = writer.packed_width(static_cast<Kind>(k));
    type.size = writer.width[k] > 0 ? writer.width[k] : type.packed;
  }
  const size_t types = in.count(32);
  Vector<FieldSpec> specs;
  for (size_t t = 0; t < types; ++t) {
    TypeInfo type = {};
    const uint32_t kind = in.u32();
    const std::string_view name = in.string();
    type.kind = static_cast<Kind>(kind);
    type.size = in.u64();
    const size_t fields = in.count(20);
    specs.clear();
    for (size_t i = 0; i < fields && in.ok(); ++i) {
      FieldSpec spec;
      spec.name = in.string();
      spec.type = in.i32();
      spec.count = in.u64();
      specs.push_back(spec);
    }
    if (!in.ok()) break;
    if ((kind != kStruct && kind != kUnion) || !printable(name))
      return Result::error("the file's type number %zu has a kind or a name that is not allowed", t);
    char what[128];
    snprintf(what, sizeof what, "the file's type `%.*s`",
             static_cast<int>(name.size() > 80 ? 80 : name.size()), name.data());
    ELC_TRY(table.measure(what, {specs.data(), specs.size()}, &type));
    table.add(type, name, {specs.data(), specs.size()});
  }
  if (!in.ok()) return Result::error("the file's table of types is cut short");
  *out = std::move(table);
  return Result();
}

}  // namespace elc::format
