#include "value_walk.h"

#include <string.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "facts.h"
#include "portable_format/convert.h"
#include "portable_format/integer.h"
#include "text.h"

namespace elc::tool {

using format::Kind;
using format::TypeId;

namespace {

constexpr size_t kPiece = 65536;  // bytes of each file that are looked at together

// Whether two scalars can be compared by value.
bool comparable(Kind a, Kind b) {
  if (a == b) return true;
  if (format::is_integer(a) && format::is_integer(b)) return true;
  return format::is_complex(a) == format::is_complex(b) && format::is_floating(format::part_of_complex(a)) &&
         format::is_floating(format::part_of_complex(b));
}

}  // namespace

// The packed values of one file: from a piece that has been read, or from the section.
struct ValueWalk::Values {
  const ComparedFile& file;
  format::Cursor* in = nullptr;
  const uint8_t* at = nullptr;
  size_t left = 0;
  uint8_t scratch[64] = {};

  const uint8_t* take(size_t size) {
    if (left == 0) {
      in->bytes(scratch, size);
      file.check(in->status());
      return scratch;
    }
    const uint8_t* here = at;
    at += size, left -= size;
    return here;
  }
};

bool ValueWalk::values(format::Cursor& a, TypeId type_a, uint64_t count_a, format::Cursor& b, TypeId type_b, uint64_t count_b,
                       Difference* found, uint64_t* within) {
  found_ = found, within_ = within;
  steps_.clear();
  leaf_ = 0;
  const bool fit = alike(type_a, type_b);
  const uint64_t common = fit ? std::min(count_a, count_b) : 0;
  Values sides[2] = {{of(0), &a}, {of(1), &b}};
  many(sides, type_a, type_b, common, count_a == 1 && count_b == 1);
  of(0).check(a.skip_value(type_a, count_a - common));
  of(1).check(b.skip_value(type_b, count_b - common));
  return fit;
}

void ValueWalk::rest(format::Cursor& a, uint64_t size_a, format::Cursor& b, uint64_t size_b, Difference* found) {
  found_ = found;
  steps_.clear();
  const uint64_t common = std::min(size_a, size_b);
  Values sides[2] = {{of(0), &a}, {of(1), &b}};
  many(sides, format::kByte, format::kByte, common, false);
  of(0).check(a.skip(size_a - common));
  of(1).check(b.skip(size_b - common));
}

bool ValueWalk::have_same_blocks(const ComparedFile& a, const ComparedFile& b) {
  const auto same = [](const auto& x, const auto& y, auto equal) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  };
  return same(a.image.variables, b.image.variables,
              [](const state::SavedVariable& v, const state::SavedVariable& w) {
                return v.frame == w.frame && v.name.view() == w.name.view();
              }) &&
         same(a.image.frames, b.image.frames,
              [](const state::SavedFrame& f, const state::SavedFrame& g) { return f.function.view() == g.function.view(); }) &&
         same(a.image.runs, b.image.runs,
              [](const state::SavedRun& r, const state::SavedRun& s) {
                return r.first_id == s.first_id && r.blocks == s.blocks;
              }) &&
         same(a.image.function_names, b.image.function_names, [](const Text& f, const Text& g) { return f.view() == g.view(); }) &&
         same(a.streams, b.streams,
              [](const state::SavedStream& s, const state::SavedStream& t) { return s.path.view() == t.path.view(); });
}

bool ValueWalk::alike(TypeId a, TypeId b) {
  const auto [at, fresh] = alike_.try_emplace({a, b}, false);
  if (fresh) at->second = look_alike(a, b);
  return at->second;
}

bool ValueWalk::look_alike(TypeId a, TypeId b) {
  const format::TypeInfo &x = of(0).types().info(a), &y = of(1).types().info(b);
  if (x.kind != format::kStruct && x.kind != format::kUnion) return comparable(x.kind, y.kind);
  if (x.kind != y.kind || x.field_count != y.field_count) return false;
  for (uint32_t i = 0; i < x.field_count; ++i) {
    const format::FieldInfo &f = of(0).types().field(x, i), &g = of(1).types().field(y, i);
    if (strcmp(f.name, g.name) != 0 || f.count != g.count || !alike(f.type, g.type)) return false;
  }
  return true;
}

bool ValueWalk::same_bytes(TypeId a, TypeId b) {
  const auto [at, fresh] = same_bytes_.try_emplace({a, b}, false);
  if (fresh) at->second = look_the_same(a, b);
  return at->second;
}

bool ValueWalk::look_the_same(TypeId a, TypeId b) {
  const format::TypeInfo &x = of(0).types().info(a), &y = of(1).types().info(b);
  if (!same_machine_ || x.kind != y.kind || x.walked || (x.has_handle && !same_blocks_)) return false;
  for (uint32_t i = 0; i < x.field_count; ++i)
    if (!same_bytes(of(0).types().field(x, i).type, of(1).types().field(y, i).type)) return false;
  return true;
}

void ValueWalk::many(Values (&sides)[2], TypeId a, TypeId b, uint64_t count, bool lone) {
  const format::TypeInfo &x = of(0).types().info(a), &y = of(1).types().info(b);
  uint64_t i = 0;
  if (sides[0].left == 0 && !x.walked && !y.walked && std::max(x.packed, y.packed) <= kPiece) {
    const uint64_t most = kPiece / std::max(x.packed, y.packed);
    const bool equal_bytes = same_bytes(a, b);
    while (i < count) {
      const uint64_t some = std::min(most, count - i);
      fill(sides[0], pieces_[0], some * x.packed);
      fill(sides[1], pieces_[1], some * y.packed);
      if (equal_bytes && memcmp(pieces_[0].data(), pieces_[1].data(), some * x.packed) == 0) {
        found_->values += some * x.leaves;
        leaf_ += some * x.leaves;
        sides[0].left = sides[1].left = 0;
        i += some;
      } else {
        for (const uint64_t end = i + some; i < end; ++i) one(sides, x, y, i, lone);
      }
    }
  }
  for (; i < count; ++i) one(sides, x, y, i, lone);
}

void ValueWalk::fill(Values& side, std::vector<uint8_t>& piece, uint64_t size) {
  piece.resize(size);
  side.in->bytes(piece.data(), size);
  side.file.check(side.in->status());
  side.at = piece.data(), side.left = size;
}

void ValueWalk::one(Values (&sides)[2], const format::TypeInfo& x, const format::TypeInfo& y, uint64_t index, bool lone) {
  if (!lone) steps_.push_back({nullptr, index});
  if (x.kind == format::kStruct) {
    for (uint32_t f = 0; f < x.field_count; ++f) field(sides, of(0).types().field(x, f), of(1).types().field(y, f));
  } else if (x.kind == format::kUnion) {
    const uint64_t begin = leaf_;
    member(sides, x, y);
    leaf_ = begin + x.leaves;  // of all members
  } else {
    leaves(sides, x.kind, y.kind);
    ++leaf_;
  }
  if (!lone) steps_.pop_back();
}

void ValueWalk::field(Values (&sides)[2], const format::FieldInfo& f, const format::FieldInfo& g) {
  steps_.push_back({f.name, 0});
  many(sides, f.type, g.type, f.count, f.count == 1);
  steps_.pop_back();
}

void ValueWalk::member(Values (&sides)[2], const format::TypeInfo& x, const format::TypeInfo& y) {
  const format::TypeInfo* types[2] = {&x, &y};
  const format::FieldInfo* used[2];
  for (int s = 0; s < 2; ++s) {
    const bool swap = of(s).reader.representation().order != format::Representation::here().order;
    const uint64_t number = format::load_integer(sides[s].take(4), 4, swap, false);
    if (number != format::kNoMember && number >= types[s]->field_count)
      throw Refusal(kDamaged, of(s).path + ": the file names a member that a union does not have");
    used[s] = number == format::kNoMember
                  ? nullptr
                  : &of(s).types().field(*types[s], static_cast<uint32_t>(number));
  }
  const auto index = [&](int s) { return used[s] == nullptr ? -1 : used[s] - &of(s).types().field(*types[s], 0); };
  if (index(0) == index(1)) {
    if (used[0] != nullptr) field(sides, *used[0], *used[1]);
    return;
  }
  found_->values += 1;
  note_difference(false, -1, [&](int s) -> std::string { return used[s] == nullptr ? "no member" : used[s]->name; });
  for (int s = 0; s < 2; ++s)
    if (used[s] != nullptr) of(s).check(sides[s].in->skip_value(used[s]->type, used[s]->count));
}

void ValueWalk::leaves(Values (&sides)[2], Kind a, Kind b) {
  const bool complex = format::is_complex(a);
  for (int i = 0; i < (complex ? 2 : 1); ++i) {
    const Kind kinds[2] = {format::part_of_complex(a), format::part_of_complex(b)};
    const uint8_t* at[2];
    for (int s = 0; s < 2; ++s) at[s] = sides[s].take(of(s).reader.representation().packed_width(kinds[s]));
    if (complex) steps_.push_back({i == 0 ? "re" : "im", 0});
    leaf(kinds, at);
    if (complex) steps_.pop_back();
  }
}

void ValueWalk::leaf(const Kind (&kinds)[2], const uint8_t* const (&at)[2]) {
  found_->values += 1;
  if (format::is_floating(kinds[0])) return floating(kinds, at);
  if (format::is_integer(kinds[0]) || kinds[0] == format::kByte || kinds[0] == format::kBool) return integers(kinds, at);
  if (text(0, kinds[0], at[0]) != text(1, kinds[1], at[1])) note_leaves(kinds, at, false, -1);
}

void ValueWalk::note_leaves(const Kind (&kinds)[2], const uint8_t* const (&at)[2], bool floating, long double distance) {
  note_difference(floating, distance, [&](int side) { return text(side, kinds[side], at[side]); });
}

void ValueWalk::floating(const Kind (&kinds)[2], const uint8_t* const (&at)[2]) {
  const long double a = number(0, kinds[0], at[0]), b = number(1, kinds[1], at[1]);
  if (std::isnan(a) && std::isnan(b)) return;
  // A long double of another machine may have more digits than one of this machine.
  const bool exact = kinds[0] != format::kLdouble && kinds[1] != format::kLdouble;
  if (a == b && std::signbit(a) == std::signbit(b) && (exact || text(0, kinds[0], at[0]) == text(1, kinds[1], at[1])))
    return;
  const long double distance = a == b ? 0 : std::fabs(a - b);
  if (options_.tolerance > 0 &&
      (a == b || distance <= static_cast<long double>(options_.tolerance) * std::max(std::fabs(a), std::fabs(b)))) {
    if (std::isfinite(distance)) {
      *within_ += 1;
      return;
    }
  }
  note_leaves(kinds, at, true, std::isnan(distance) ? std::numeric_limits<long double>::infinity() : distance);
}

long double ValueWalk::number(int side, Kind kind, const uint8_t* at) const {
  if (kind == format::kLdouble) return strtold(text(side, kind, at).c_str(), nullptr);
  const format::Representation& machine = of(side).reader.representation();
  const bool swap = machine.order != format::Representation::here().order;
  const uint64_t bits = format::load_integer(at, machine.width[kind], swap, false);
  if (kind == format::kFloat) {
    const uint32_t half = static_cast<uint32_t>(bits);
    float value;
    memcpy(&value, &half, sizeof value);
    return static_cast<long double>(value);
  }
  double value;
  memcpy(&value, &bits, sizeof value);
  return static_cast<long double>(value);
}

void ValueWalk::integers(const Kind (&kinds)[2], const uint8_t* const (&at)[2]) {
  uint64_t bits[2];
  bool is_signed[2];
  size_t width[2];
  for (int s = 0; s < 2; ++s) {
    const format::Representation& machine = of(s).reader.representation();
    width[s] = machine.width[kinds[s]], is_signed[s] = machine.is_signed[kinds[s]];
  }
  if (kinds[0] == kinds[1] && width[0] == width[1]) is_signed[1] = is_signed[0];
  long double value[2];
  for (int s = 0; s < 2; ++s) {
    const bool swap = of(s).reader.representation().order != format::Representation::here().order;
    bits[s] = format::load_integer(at[s], width[s], swap, is_signed[s]);
    if (kinds[s] == format::kBool) bits[s] = bits[s] != 0;
    const auto negative = static_cast<int64_t>(bits[s]);
    value[s] = is_signed[s] && negative < 0 ? static_cast<long double>(negative) : static_cast<long double>(bits[s]);
  }
  const bool same = bits[0] == bits[1] && (is_signed[0] == is_signed[1] || static_cast<int64_t>(bits[0]) >= 0);
  if (same) return;
  note_leaves(kinds, at, false, std::fabs(value[0] - value[1]));
}

std::string ValueWalk::text(int side, Kind kind, const uint8_t* at) const {
  const ComparedFile& file = of(side);
  const format::Representation& machine = file.reader.representation();
  const bool swap = machine.order != format::Representation::here().order;
  char text[128];
  if (format::has_position(kind)) {
    const format::PointerLeaf pointer = {format::load_integer(at, 8, swap, false), format::load_integer(at + 8, 8, swap, false)};
    if (kind == format::kPointer || pointer.block != format::kNullBlock) return file.pointer_text(pointer);
    format::address_text(pointer, text, sizeof text);
    return text;
  }
  if (kind == format::kMpiStatus) {
    snprintf(text, sizeof text, "source %lld tag %lld error %lld bytes %llu",
             static_cast<long long>(format::load_integer(at, 4, swap, true)),
             static_cast<long long>(format::load_integer(at + 4, 4, swap, true)),
             static_cast<long long>(format::load_integer(at + 8, 4, swap, true)),
             static_cast<unsigned long long>(format::load_integer(at + 16, 8, swap, false)));
    return text;
  }
  if (format::is_handle(kind))
    return handle_text(kind, format::load_integer(at, 8, swap, false), file.image, file.streams);
  format::scalar_text(kind, machine, at, text, sizeof text);
  return text;
}

void ValueWalk::note_difference(bool floating, long double distance, const std::function<std::string(int side)>& text) {
  for (const auto& [begin, end] : passed_over_)
    if (begin <= leaf_ && leaf_ < end) return;
  found_->different += 1;
  found_->floating += floating;
  const bool largest = distance >= 0 && (!found_->largest || distance > found_->distance);
  if (found_->first && !largest) return;
  const Pair pair = {place(), text(0), text(1)};
  if (!found_->first) found_->first = pair;
  if (largest) found_->largest = pair, found_->distance = distance;
}

std::string ValueWalk::place() const {
  std::string text;
  for (const Step& step : steps_)
    text += step.field != nullptr ? std::string(".") + step.field : "[" + std::to_string(step.index) + "]";
  return text;
}

}  // namespace elc::tool
