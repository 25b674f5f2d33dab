// What lies between the members of structs, where a program has put something.
#include <string.h>

#include <algorithm>

#include "base/sort.h"
#include "state/blocks.h"
#include "state/process.h"

namespace elc::state {
namespace {

struct Stretch {
  uint64_t begin, end;
};

// Where fields of a struct are, in order. Bit-fields are what they change when all of them are set.
Vector<Stretch> parts_in_use(const format::TypeTable& types, TypeId type) {
  Vector<Stretch> parts;
  bool has_bit_fields = false;
  for (const format::FieldInfo& field : types.fields(type)) {
    has_bit_fields = has_bit_fields || types.accessor(field.type) != nullptr;
    if (types.accessor(field.type) == nullptr) parts.push_back({field.offset, field.offset + field.count * types.size_of(field.type)});
  }
  Vector<uint8_t> bits;
  if (has_bit_fields) {
    bits.resize(static_cast<size_t>(types.size_of(type)));
    set_bit_fields(types, type, bits.data());
  }
  for (size_t i = 0; i < bits.size(); ++i)
    if (bits[i] != 0) parts.push_back({i, i + 1});
  sort(parts, [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  return parts;
}

// A struct type whose gaps are bytes, for blocks that have something there: memory behind a header, or cells that are used again as
// something else. Made for all structs, so that a restart has them. 0: it has no gaps, or what they are is not known.
TypeId with_gaps(Process& p, TypeId type) {
  const format::TypeInfo& info = p.types.info(type);
  if (info.kind != format::kStruct) return 0;
  const Vector<Stretch> parts = parts_in_use(p.types, type);
  Vector<ELC_Field> fields;
  Vector<Text> names;
  bool differs = false;
  uint64_t at = 0;
  size_t next = 0;
  const auto fill = [&](uint64_t end) {
    while (at < end) {
      for (; next < parts.size() && parts[next].begin <= at; ++next) at = std::max(at, parts[next].end);
      const uint64_t begin = at;
      at = std::max(at, next < parts.size() ? std::min(end, parts[next].begin) : end);
      if (at == begin) continue;
      names.push_back(Text::format("gap_at_%llu", static_cast<unsigned long long>(begin)));
      fields.push_back({nullptr, static_cast<size_t>(begin), ELC_BYTE, static_cast<size_t>(at - begin)});
      differs = true;
    }
  };
  for (const format::FieldInfo& field : p.types.fields(type)) {
    fill(field.offset);
    const TypeId* inner = field.type >= ELC_FIRST_MADE_TYPE ? p.types_with_gaps.find(static_cast<uint64_t>(field.type)) : nullptr;
    const TypeId own = inner != nullptr ? *inner : field.type;
    differs = differs || own != field.type;
    names.push_back(Text::copy(field.name));
    fields.push_back({nullptr, static_cast<size_t>(field.offset), own, static_cast<size_t>(field.count)});
  }
  fill(info.size);
  if (!differs) return 0;
  for (size_t i = 0; i < fields.size(); ++i) fields[i].name = names[i].c_str();
  return ELC_Struct(Text::format("%s with its gaps", info.name).c_str(), static_cast<size_t>(info.size), static_cast<int>(fields.size()),
                    fields.data());
}

}  // namespace

void make_types_with_gaps(Process& p, TypeId end) {
  for (TypeId type = ELC_FIRST_MADE_TYPE; type < end; ++type)
    if (const TypeId twin = with_gaps(p, type)) {
      p.types_with_gaps.at(static_cast<uint64_t>(type)) = twin;
      if (const TypeId* const tail = p.tails.find(static_cast<uint64_t>(type))) p.tails.at(static_cast<uint64_t>(twin)) = *tail;
    }
}

bool is_gap(const format::FieldInfo& field) { return field.type == format::kByte && strncmp(field.name, "gap_at_", 7) == 0; }

static bool is_zero(const uint8_t* at, uint64_t size) {
  for (uint64_t i = 0; i < size; ++i)
    if (at[i] != 0) return false;
  return true;
}

static bool gaps_are_zero(const Process& p, const uint8_t* begin, TypeId twin) {
  for (const format::FieldInfo& field : p.types.fields(twin)) {
    const uint64_t size = p.types.size_of(field.type);
    if (is_gap(field) && !is_zero(begin + field.offset, field.count)) return false;
    for (uint64_t i = 0; p.types.info(field.type).kind == format::kStruct && i < field.count; ++i)
      if (!gaps_are_zero(p, begin + field.offset + i * size, field.type)) return false;
  }
  return true;
}

namespace {

// The gaps of a type, where they are few: of millions of small blocks the fields are not gone through each time.
class Gaps {
 public:
  void find(const Process& p, TypeId type) {
    is_known_ = true;
    const TypeId* const twin = p.types_with_gaps.find(static_cast<uint64_t>(type));
    if (twin == nullptr) return;
    twin_ = *twin;
    are_few_ = list(p.types, twin_, 0);
  }

  bool is_known() const { return is_known_; }
  TypeId twin() const { return twin_; }  // 0: there are none
  bool are_zero(const Process& p, const uint8_t* element) const {
    if (!are_few_) return gaps_are_zero(p, element, twin_);
    for (const Stretch& gap : all_)
      if (!is_zero(element + gap.begin, gap.end - gap.begin)) return false;
    return true;
  }

 private:
  bool list(const format::TypeTable& types, TypeId twin, uint64_t offset) {
    constexpr size_t kFew = 16;
    for (const format::FieldInfo& field : types.fields(twin)) {
      const uint64_t at = offset + field.offset;
      if (is_gap(field)) all_.push_back({at, at + field.count});
      for (uint64_t i = 0; types.info(field.type).kind == format::kStruct && i < field.count; ++i)
        if (!list(types, field.type, at + i * types.size_of(field.type))) return false;
      if (all_.size() > kFew) return false;
    }
    return true;
  }

  bool is_known_ = false;
  bool are_few_ = false;
  TypeId twin_ = 0;
  Vector<Stretch> all_;
};

}  // namespace

void find_gaps(Process& p) {
  if (!p.is_prepared) return;
  Vector<Gaps> of_types;
  of_types.resize(static_cast<size_t>(p.types.end()));
  for (Block& block : p.heap.slots()) {
    Gaps& gaps = of_types[static_cast<size_t>(block.type)];
    if (!gaps.is_known()) gaps.find(p, block.type);
    if (gaps.twin() == 0) continue;
    const uint64_t size = p.types.size_of(block.type), count = elements_of(p, block);
    for (uint64_t i = 0; i < count; ++i) {
      if (gaps.are_zero(p, block.address + i * size)) continue;
      block.type = gaps.twin();
      break;
    }
  }
}

}  // namespace elc::state
