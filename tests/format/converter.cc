#include "tests/format/converter.h"

#include <stdio.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "portable_format/long_double.h"
#include "tests/format/support.h"

namespace elc::format {
namespace {

__extension__ using Integer = __int128;  // holds what any integer of C holds, of either sign

[[noreturn]] void fail(const std::string& what) {
  fprintf(stderr, "wrong: %s\n", what.c_str());
  abort();
}

std::string hex(const uint8_t* bytes, size_t size) {
  std::string text;
  char two[4];
  for (size_t i = 0; i < size; ++i) snprintf(two, sizeof two, "%02x ", bytes[i]), text += two;
  return text;
}

// Bytes of the input, then numbers that follow from it.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : at_(data), end_(data + size), state_(size) {
    for (size_t i = 0; i < size; ++i) state_ = mix64(state_ ^ data[i]);
  }
  uint8_t byte() {
    if (at_ < end_) return *at_++;
    return static_cast<uint8_t>(mix64(++state_));
  }
  uint64_t word() {
    uint64_t w = 0;
    for (int i = 0; i < 8; ++i) w = w << 8 | byte();
    return w;
  }
  size_t below(size_t n) { return n <= 256 ? byte() % n : (size_t{byte()} << 8 | byte()) % n; }
  bool one_in(size_t n) { return below(n) == 0; }
  // Many are small, or at the limits of a width.
  uint64_t number() {
    const size_t how = below(8);
    if (how == 0) return byte();
    if (how == 1) return static_cast<uint64_t>(-int64_t{byte()});
    if (how <= 3) return word() >> below(64);
    if (how == 4) return word();
    const uint64_t limit = uint64_t{1} << (8 * (1 + below(8)) - 1 - below(2));
    return how == 5 ? limit - below(2) : how == 6 ? ~limit + 1 - below(2) : limit * 2 - below(2);
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  uint64_t state_;
};

Representation any_machine(Choices& choices) {
  const std::vector<Machine> all = machines();
  const size_t which = choices.below(all.size() + 8);
  // The model does not know the sum of two doubles (scalars_test does).
  if (which < all.size() && all[which].representation.long_double != LongDouble::kDoubleDouble)
    return all[which].representation;
  Representation r = Representation::here();
  const auto width = [&] { return static_cast<uint8_t>(1 << choices.below(4)); };
  r.order = static_cast<ByteOrder>(choices.below(2));
  r.is_signed[kChar] = choices.one_in(2);
  r.is_signed[kWchar] = choices.one_in(2);
  for (const Kind kind : {kBool, kShort, kInt, kLong, kLlong, kWchar, kSize, kPtrdiff})
    r.width[kind] = width();
  for (const Kind kind : {kUshort, kUint, kUlong, kUllong}) r.width[kind] = width();
  constexpr LongDouble kFormats[] = {LongDouble::kBinary64, LongDouble::kExtended, LongDouble::kBinary128,
                                     LongDouble::kExtended68k};
  const LongDouble format = kFormats[choices.below(4)];
  set_long_double(&r, format, long_double_width(format));
  return r;
}

const Representation& here() { return Representation::here(); }

void reverse(uint8_t* bytes, size_t size) { std::reverse(bytes, bytes + size); }

// ---- One scalar, by the words of FORMAT.md ----

// The number of `width` bytes in byte order `order`.
Integer number_of(const uint8_t* from, size_t width, ByteOrder order, bool is_signed) {
  Integer n = 0;
  for (size_t i = 0; i < width; ++i) n = n * 256 + from[order == ByteOrder::kBig ? i : width - 1 - i];
  const Integer limit = Integer{1} << (8 * width - 1);
  return is_signed && n >= limit ? n - 2 * limit : n;
}

void put_number(Integer n, uint8_t* to, size_t width, ByteOrder order) {
  for (size_t i = 0; i < width; ++i, n >>= 8)
    to[order == ByteOrder::kBig ? width - 1 - i : i] = static_cast<uint8_t>(n & 255);
}

bool exists(Integer n, size_t width, bool is_signed) {
  const Integer limit = Integer{1} << (8 * width - (is_signed ? 1 : 0));
  return n < limit && n >= (is_signed ? -limit : 0);
}

struct Side {
  const Representation& machine;
  bool memory;  // else packed
  size_t width(Kind kind) const {
    if (memory && kind == kLdouble) return sizeof(long double);
    if (memory && is_handle(kind)) return kind == kMpiStatus ? 20 : sizeof(void*);
    return machine.packed_width(kind);
  }
};

// A long double's class and, of a number, its sign, exponent and significand, made anew from the format's
// definition: value = significand / 2^112 * 2^exponent, of a NaN the payload.
struct Floating {
  enum { kZero, kNumber, kInfinite, kNan, kNoSuch } what = kZero;
  bool negative = false;
  int exponent = 0;
  __extension__ unsigned __int128 significand = 0;  // topmost bit 2^112
};
__extension__ using Wide = unsigned __int128;
constexpr Wide kOne = Wide{1} << 112;

struct Form {
  int bits, bias;
  bool explicit_one;
};
Form form_of(LongDouble format) {
  switch (format) {
    case LongDouble::kBinary64:
      return {52, 1023, false};
    case LongDouble::kBinary128:
      return {112, 16383, false};
    default:
      return {63, 16383, true};
  }
}

Floating floating_of(LongDouble format, const uint8_t* from, ByteOrder order) {
  const Form form = form_of(format);
  const int width = long_double_width(format);
  Wide all = 0;
  for (int i = 0; i < width; ++i) all = all << 8 | from[order == ByteOrder::kBig ? i : width - 1 - i];
  Floating f;
  f.negative = (all >> (8 * width - 1) & 1) != 0;
  const int stored = form.bits + (form.explicit_one ? 1 : 0);
  const int field = static_cast<int>(all >> stored) & (2 * form.bias + 1);
  const Wide significand = all & ((Wide{1} << stored) - 1);
  const Wide fraction = significand & ((Wide{1} << form.bits) - 1);
  const bool one = (significand >> form.bits & 1) != 0;
  if (field == 2 * form.bias + 1) {
    f.what = form.explicit_one && !one ? Floating::kNoSuch
             : fraction == 0           ? Floating::kInfinite
                                       : Floating::kNan;
    f.significand = fraction << (112 - form.bits);
    return f;
  }
  if (form.explicit_one && field != 0 && !one) {
    f.what = Floating::kNoSuch;  // a processor has no use for it
    return f;
  }
  f.exponent = (field == 0 && format != LongDouble::kExtended68k ? 1 : field) - form.bias;
  f.significand = significand;
  if (!form.explicit_one && field != 0) f.significand |= Wide{1} << form.bits;
  f.significand <<= 112 - form.bits;
  if (f.significand == 0) return f;
  f.what = Floating::kNumber;
  for (; f.significand < kOne; f.significand <<= 1) --f.exponent;
  return f;
}

// The reverse. False if a number is too large.
bool put_floating(Floating f, LongDouble format, uint8_t* to, ByteOrder order) {
  const Form form = form_of(format);
  const int width = long_double_width(format);
  const int least = format == LongDouble::kExtended68k ? -form.bias : 1 - form.bias;
  int field = 0;
  Wide significand = 0;
  if (f.what == Floating::kInfinite || f.what == Floating::kNan) {
    field = 2 * form.bias + 1;
    significand = f.significand >> (112 - form.bits) | Wide{1} << form.bits;
    if (f.what == Floating::kNan && f.significand >> (112 - form.bits) == 0)
      significand |= Wide{1} << (form.bits - 1);
  } else if (f.what == Floating::kNumber) {
    const int exponent = std::max(f.exponent, least);
    const int drop = 112 - form.bits + exponent - f.exponent;
    if (drop <= 114) {
      const Wide rest = f.significand & ((Wide{1} << drop) - 1), half = drop == 0 ? 1 : Wide{1} << (drop - 1);
      significand = f.significand >> drop;
      if (drop > 0 && (rest > half || (rest == half && (significand & 1) != 0))) ++significand;
    }
    field = exponent + form.bias;
    if (significand >> (form.bits + 1) != 0) significand >>= 1, ++field;
    if (significand >> form.bits == 0) field = 0;
    if (field >= 2 * form.bias + 1) return false;
  }
  if (!form.explicit_one) significand &= (Wide{1} << form.bits) - 1;
  Wide all = significand | static_cast<Wide>(static_cast<unsigned>(field))
                               << (form.bits + (form.explicit_one ? 1 : 0));
  all |= static_cast<Wide>(f.negative) << (8 * width - 1);
  for (int i = 0; i < width; ++i, all >>= 8)
    to[order == ByteOrder::kBig ? width - 1 - i : i] = static_cast<uint8_t>(all);
  return true;
}

bool same_floating(const Floating& a, const Floating& b) {
  return a.what == b.what && a.negative == b.negative && a.significand == b.significand &&
         (a.what != Floating::kNumber || a.exponent == b.exponent);
}

// The packed form in memory: what the compiler puts around it, and back.
constexpr size_t kLongDoublePacked = long_double_width(LongDouble::kExtended);
bool extended_here() { return here().long_double == LongDouble::kExtended; }

// Converts one scalar (not complex, not a handle). Returns false if it does not fit.
bool model(Kind from_kind, const Side& a, const uint8_t* from, Kind to_kind, const Side& b, uint8_t* to) {
  const size_t from_width = a.width(from_kind), to_width = b.width(to_kind);
  const ByteOrder from_order = a.machine.order, to_order = b.machine.order;
  if (from_kind == kLdouble) {
    if (a.machine.long_double == b.machine.long_double) {
      const size_t width = long_double_width(a.machine.long_double);
      memcpy(to, from, width);
      if (from_order != to_order) reverse(to, width);
      return true;
    }
    return put_floating(floating_of(a.machine.long_double, from, from_order), b.machine.long_double, to,
                        to_order);
  }
  const bool as_bits = from_kind == kFloat || from_kind == kDouble || from_kind == kByte ||
                       from_kind == kChar ||
                       (from_kind == kWchar && to_kind == kWchar && from_width == to_width);
  const Integer n = number_of(from, from_width, from_order, !as_bits && a.machine.is_signed[from_kind]);
  if (from_kind == kBool) {
    put_number(b.memory || from_width != to_width ? n != 0 : n, to, to_width, to_order);
    return true;
  }
  put_number(n, to, to_width, to_order);
  return as_bits || exists(n, to_width, b.machine.is_signed[to_kind]);
}

// ---- Types in two layouts, and values of them ----

struct Member {
  std::string name;
  size_t type = 0;  // index
  uint64_t count = 1;
  uint64_t from_offset = 0, to_offset = 0;
};

struct Type {
  Kind kind = kNone, to_kind = kNone;  // of a scalar: where it is written from, and read into
  std::vector<Member> members;
  TypeId from = 0, to = 0;
  uint64_t from_size = 0, to_size = 0;
  uint64_t leaves = 1;
  bool has_union = false;
};

// The member of each union in memory that is active.
std::map<const void*, int>& active_members() {
  static std::map<const void*, int> active;
  return active;
}
int active_member(const void* u, const void*) {
  const auto found = active_members().find(u);
  if (found == active_members().end()) fail("asked for a union that the value does not have");
  return found->second;
}

bool alike(const Representation& machine) { return machine == here(); }

// Integers that may be read into each other (FORMAT.md, "Reading on another machine").
bool integers_fit(Kind file, Kind memory, const Representation& machine) {
  const auto plain = [](Kind k) { return (k >= kShort && k <= kUllong) || (k >= kWchar && k <= kUint64); };
  if (!plain(file) || !plain(memory)) return false;
  return !alike(machine) ||
         (machine.is_signed[file] == here().is_signed[memory] && machine.width[file] == here().width[memory]);
}

constexpr uint64_t kMostLeaves = 1500;

class Trial {
 public:
  explicit Trial(Choices& choices) : choices_(choices), machine_(any_machine(choices)) {
    for (TypeTable* table : {&from_types_, &to_types_}) {
      for (uint32_t kind = kMpiComm; kind < kKindCount; ++kind)
        table->set_size(static_cast<Kind>(kind), kind == kMpiStatus ? 20 : sizeof(void*));
    }
    constexpr Kind kVarying[] = {kShort, kInt, kLong, kUlong, kLlong, kWchar, kWchar, kPtrdiff};
    for (Kind& kind : frequent_)
      kind = choices_.one_in(2) ? kVarying[choices_.below(8)]
                                : static_cast<Kind>(1 + choices_.below(kKindCount - 1));
  }

  void run() {
    const size_t made = choices_.below(5);
    size_t type = make_scalar();
    for (size_t i = 0; i < made; ++i) type = make_type(i);
    const Type& t = types_[type];
    const uint64_t count =
        1 + choices_.below(std::min<uint64_t>(400, std::max<uint64_t>(kMostLeaves / t.leaves, 1)));
    wild_ = choices_.one_in(3);
    memory_.reset(new uint8_t[t.from_size * count]);
    for (uint64_t i = 0; i < t.from_size * count; ++i) memory_[i] = 0xee;
    active_members().clear();
    for (uint64_t i = 0; i < count; ++i)
      fill(type, memory_.get() + i * t.from_size, count == 1 ? "" : "[" + std::to_string(i) + "]");
    if (write(type, count)) read(type, count);
  }

 private:
  // A few come again and again, so that there are neighbours of one kind.
  Kind any_kind() {
    const size_t which = choices_.below(12);
    return which < 8 ? frequent_[which % 3] : static_cast<Kind>(1 + choices_.below(kKindCount - 1));
  }

  size_t make_scalar() {
    Type t;
    t.kind = any_kind();
    if (t.kind == kByte && !alike(machine_)) t.kind = kUint8;
    t.to_kind = t.kind;
    if (choices_.one_in(2)) {
      const Kind other = any_kind();
      if (integers_fit(t.kind, other, machine_)) t.to_kind = other;
    }
    t.from = static_cast<TypeId>(t.kind);
    t.to = static_cast<TypeId>(t.to_kind);
    t.from_size = from_types_.size_of(t.from);
    t.to_size = to_types_.size_of(t.to);
    t.leaves = is_complex(t.kind) ? 2 : 1;
    types_.push_back(t);
    return types_.size() - 1;
  }

  size_t make_type(size_t number) {
    const bool is_union = choices_.one_in(5);
    Type t;
    t.kind = t.to_kind = is_union ? kUnion : kStruct;
    t.leaves = 0;
    t.has_union = is_union;
    const size_t members = 1 + choices_.below(6);
    const auto gap = [&]() -> uint64_t { return choices_.one_in(2) ? 0 : choices_.below(9); };
    uint64_t from_at = is_union ? 1 : gap(), to_at = is_union ? 1 : gap();
    for (size_t m = 0; m < members; ++m) {
      Member member;
      member.name = std::string(1, static_cast<char>('a' + m));
      const size_t made_before = types_.size();
      member.type = choices_.one_in(2) ? choices_.below(made_before) : make_scalar();
      if (types_[member.type].leaves > kMostLeaves - t.leaves) member.type = make_scalar();
      const Type& part = types_[member.type];
      if (choices_.one_in(2)) member.count = 1 + choices_.below(choices_.one_in(3) ? 600 : 40);
      const uint64_t most = std::max<uint64_t>((kMostLeaves - t.leaves) / part.leaves / 4, 1);
      member.count = std::min(member.count, most);
      member.from_offset = from_at;
      member.to_offset = to_at;
      from_at += member.count * part.from_size + gap();
      to_at += member.count * part.to_size + gap();
      t.leaves += member.count * part.leaves;
      t.has_union |= part.has_union;
      t.members.push_back(member);
    }
    t.from_size = from_at;
    t.to_size = to_at;
    std::vector<FieldSpec> from_fields, to_fields;
    for (const Member& m : t.members) {
      from_fields.push_back({m.name, m.from_offset, types_[m.type].from, m.count});
      to_fields.push_back({m.name, m.to_offset, types_[m.type].to, m.count});
    }
    const std::string name = "type " + std::to_string(number);
    const auto make = [&](TypeTable* table, const std::vector<FieldSpec>& fields, uint64_t size, TypeId* id) {
      return is_union ? table->make_union(name, size, fields, active_member, id)
                      : table->make_struct(name, size, fields, id);
    };
    Result status = make(&from_types_, from_fields, t.from_size, &t.from);
    if (status.ok()) status = make(&to_types_, to_fields, t.to_size, &t.to);
    if (!status.ok()) fail(status.message());
    types_.push_back(t);
    return types_.size() - 1;
  }

  // ---- The value in memory, and what is expected of it ----

  void fill(size_t index, uint8_t* at, const std::string& place) {
    const Type& t = types_[index];
    if (t.kind == kUnion) {
      const int active = static_cast<int>(choices_.below(t.members.size() + 1)) - 1;
      active_members()[at] = active;
      uint8_t word[4];
      put_number(active < 0 ? kNoMember : static_cast<uint32_t>(active), word, 4, machine_.order);
      packed_.append(reinterpret_cast<const char*>(word), 4);
      walk_.push_back({kNone, kNone, 0, active});
      if (active >= 0) fill_member(t.members[static_cast<size_t>(active)], at, place);
    } else if (t.kind == kStruct) {
      for (const Member& m : t.members) fill_member(m, at, place);
    } else {
      fill_scalar(t, at, place);
    }
  }

  void fill_member(const Member& m, uint8_t* at, const std::string& place) {
    for (uint64_t i = 0; i < m.count; ++i)
      fill(m.type, at + m.from_offset + i * types_[m.type].from_size,
           place + "." + m.name + (m.count == 1 ? "" : "[" + std::to_string(i) + "]"));
  }

  void fill_scalar(const Type& t, uint8_t* at, const std::string& place) {
    const Kind part = part_of_complex(t.kind);
    const size_t leaves = is_complex(t.kind) ? 2 : 1;
    for (size_t i = 0; i < leaves; ++i) {
      uint8_t* leaf = at + i * t.from_size / leaves;
      set_leaf(part, leaf);
      const std::string where = leaves == 1 ? place : place + (i == 0 ? ".re" : ".im");
      uint8_t form[32] = {};
      if (is_handle(part)) {
        pack_handle(part, leaf, form);
      } else if (!model(part, {here(), true}, leaf, part, {machine_, false}, form)) {
        misfits_.insert(where);
      }
      const size_t width = Side{machine_, false}.width(part);
      walk_.push_back({part, part_of_complex(t.to_kind), packed_.size(), 0});
      packed_.append(reinterpret_cast<const char*>(form), width);
    }
  }

  void set_leaf(Kind kind, uint8_t* leaf) {
    const size_t width = Side{here(), true}.width(kind);
    if (kind == kLdouble) {
      set_long_double(leaf);
    } else if (is_handle(kind) || kind == kFloat || kind == kDouble) {
      for (size_t i = 0; i < width; ++i) leaf[i] = choices_.byte();
    } else if (kind == kBool) {
      leaf[0] = static_cast<uint8_t>(choices_.below(2));
    } else {
      // One that exists everywhere, or any.
      const int8_t small = static_cast<int8_t>(choices_.byte());
      const Integer tame = here().is_signed[kind] ? small : small & 127;
      put_number(wild_ ? Integer{static_cast<int64_t>(choices_.number())} : tame, leaf, width, here().order);
    }
  }

  void set_long_double(uint8_t* leaf) {
    long double value = static_cast<long double>(static_cast<int64_t>(choices_.number()));
    switch (choices_.below(wild_ ? 5 : 3)) {
      case 0:
        break;
      case 1:
        value = value / 3;
        break;
      case 2:
        value = __builtin_ldexpl(value, -static_cast<int>(choices_.below(1150)));
        break;
      case 3:
        value = __builtin_ldexpl(value, 16000 - static_cast<int>(choices_.below(32600)));
        break;
      default:
        value = choices_.one_in(2) ? __builtin_infl() : __builtin_nanl("17");
    }
    memcpy(leaf, &value, sizeof value);
  }

  // As plain_encoder has it.
  void pack_handle(Kind kind, const uint8_t* leaf, uint8_t* form) {
    uintptr_t p = 0;
    if (kind == kMpiStatus) {
      int32_t words[5];
      memcpy(words, leaf, sizeof words);
      for (int i = 0; i < 3; ++i) put_number(words[i], form + 4 * i, 4, machine_.order);
      put_number(1, form + 12, 4, machine_.order);
      put_number(static_cast<uint64_t>(words[3]), form + 16, 8, machine_.order);
      return;
    }
    memcpy(&p, leaf, sizeof p);
    put_number(has_position(kind) ? p >> 16 : p, form, 8, machine_.order);
    if (has_position(kind)) put_number(p & 0xffff, form + 8, 8, machine_.order);
  }

  void unpack_handle(Kind kind, const uint8_t* form, uint8_t* leaf) {
    const auto number = [&](size_t at, size_t width) {
      return number_of(form + at, width, machine_.order, false);
    };
    if (kind == kMpiStatus) {
      for (size_t i = 0; i < 3; ++i) put_number(number(4 * i, 4), leaf + 4 * i, 4, here().order);
      put_number(number(16, 8), leaf + 12, 4, here().order);
      put_number(0, leaf + 16, 4, here().order);
    } else {
      const Integer n = has_position(kind) ? (number(0, 8) << 16 | number(8, 8)) : number(0, 8);
      put_number(n, leaf, sizeof(void*), here().order);
    }
  }

  // The message of a misfit begins with the place of one of those that the model found.
  static void check_message(const std::set<std::string>& misfits, const Result& status,
                            const std::string& what) {
    const std::string message = status.message();
    for (const std::string& place : misfits)
      if (message.rfind(place + (place.empty() ? "the value" : ": the value"), 0) == 0) return;
    fail(what + ": \"" + message + "\" names none of " + std::to_string(misfits.size()) +
         " places that do not fit" + (misfits.empty() ? "" : ", such as " + *misfits.begin()));
  }

  bool write(size_t type, uint64_t count) {
    WriterOptions options;
    options.representation = &machine_;
    Writer writer(&from_types_, file_.sink(), options);
    if (compression_memory_.empty()) compression_memory_.resize(Compressor::memory(1));
    Compressor compressor(compression_memory_.data(), 1, 1);
    if (choices_.one_in(8)) writer.compress_with(&compressor);
    writer.begin_section("values");
    // So that values cross the ends of chunks at any place.
    if (choices_.one_in(16)) {
      const std::vector<uint8_t> before(kChunkSize - choices_.below(5000));
      writer.encoder().opaque(before.data(), before.size());
    }
    skipped_ = writer.section_size();
    const Result status = writer.write_value(types_[type].from, memory_.get(), count, plain_encoder());
    if (!misfits_.empty()) {
      if (status.ok()) fail("written in spite of a misfit at " + *misfits_.begin());
      check_message(misfits_, status, "writing");
      return false;
    }
    if (!status.ok()) fail(std::string("not written: ") + status.message());
    writer.end_section();
    if (!writer.finish().ok()) fail("the file cannot be finished");
    Bytes section;
    if (!reader_.open(file_.source()).ok() || !reader_.read_section("values", ~uint64_t{0}, &section).ok())
      fail("the file cannot be read");
    const std::string_view actual(reinterpret_cast<const char*>(section.data()) + skipped_,
                                  section.size() - skipped_);
    if (actual != packed_) {
      size_t at = 0;
      while (at < std::min(actual.size(), packed_.size()) && actual[at] == packed_[at]) ++at;
      fail("packed form differs at byte " + std::to_string(at) + " of " + std::to_string(packed_.size()) +
           "/" + std::to_string(actual.size()));
    }
    return true;
  }

  // What is expected in the other layout.
  void expect(size_t index, uint8_t* at, const std::string& place) {
    const Type& t = types_[index];
    if (t.kind == kStruct || t.kind == kUnion) {
      size_t first = 0, end = t.members.size();
      if (t.kind == kUnion) {
        const int active = walk_[step_++].member;
        first = active < 0 ? end : static_cast<size_t>(active);
        end = active < 0 ? end : first + 1;
      }
      for (; first < end; ++first) {
        const Member& m = t.members[first];
        for (uint64_t i = 0; i < m.count; ++i)
          expect(m.type, at + m.to_offset + i * types_[m.type].to_size,
                 place + "." + m.name + (m.count == 1 ? "" : "[" + std::to_string(i) + "]"));
      }
      return;
    }
    const size_t leaves = is_complex(t.kind) ? 2 : 1;
    for (size_t i = 0; i < leaves; ++i) {
      const Step& step = walk_[step_++];
      const uint8_t* form = reinterpret_cast<const uint8_t*>(packed_.data()) + step.packed;
      uint8_t* leaf = at + i * t.to_size / leaves;
      if (is_handle(step.kind))
        unpack_handle(step.kind, form, leaf);
      else if (!model(step.kind, {machine_, false}, form, step.to_kind, {here(), true}, leaf))
        misfits_.insert(leaves == 1 ? place : place + (i == 0 ? ".re" : ".im"));
    }
  }

  void open(Cursor* cursor) {
    if (!cursor->open(&reader_, "values").ok() || !cursor->skip(skipped_).ok()) fail("no values");
  }

  void read(size_t type, uint64_t count) {
    const Type& t = types_[type];
    const uint64_t size = t.to_size * count;
    std::unique_ptr<uint8_t[]> expected(new uint8_t[size]), actual(new uint8_t[size]);
    memset(expected.get(), 0xa5, size);
    memset(actual.get(), 0xa5, size);
    for (uint64_t i = 0; i < count; ++i)
      expect(type, expected.get() + i * t.to_size, count == 1 ? "" : "[" + std::to_string(i) + "]");
    Cursor check, read, skip;
    open(&check), open(&read), open(&skip);
    const Result checked = check.check_value(t.from, to_types_, t.to, count, plain_decoder());
    const Result done = read.read_value(t.from, to_types_, t.to, actual.get(), count, plain_decoder());
    if (std::string(checked.message()) != done.message())
      fail(std::string("check_value says \"") + checked.message() + "\", read_value \"" + done.message() +
           "\"");
    if (!misfits_.empty()) {
      if (done.ok()) fail("read in spite of a misfit at " + *misfits_.begin());
      return check_message(misfits_, done, "reading");
    }
    if (!done.ok()) fail(std::string("not read: ") + done.message());
    if (!skip.skip_value(t.from, count).ok() || skip.left() != 0 || check.left() != 0 || read.left() != 0)
      fail("reading, checking and skipping end at different places");
    for (uint64_t i = 0; i < size; ++i)
      if (actual[i] != expected[i])
        fail("memory differs in byte " + std::to_string(i % t.to_size) + " of element " +
             std::to_string(i / t.to_size));
  }

  struct Step {
    Kind kind, to_kind;
    size_t packed;  // where the leaf is
    int member;     // of a union instead
  };

  Choices& choices_;
  const Representation machine_;
  TypeTable from_types_, to_types_;
  std::vector<Type> types_;
  Kind frequent_[3];
  bool wild_ = false;
  std::unique_ptr<uint8_t[]> memory_;
  std::string packed_;  // as FORMAT.md has it
  std::vector<Step> walk_;
  size_t step_ = 0;
  std::set<std::string> misfits_;
  MemoryFile file_;
  std::vector<uint8_t> compression_memory_;
  Reader reader_;
  uint64_t skipped_ = 0;
};

// ---- Runs of scalars at any distances ----

void examine_run(Choices& choices) {
  const Representation machine = any_machine(choices);
  Kind kind = part_of_complex(static_cast<Kind>(1 + choices.below(kByte))), other = kind;
  const Kind drawn = static_cast<Kind>(1 + choices.below(kByte));
  if (integers_fit(drawn, kind, machine)) other = drawn;
  const Direction direction = choices.one_in(2) ? Direction::kToFile : Direction::kFromFile;
  const bool out = direction == Direction::kToFile;
  const Conversion c = conversion_for(kind, machine, direction, other);
  const Side memory = {here(), true}, packed = {machine, false};
  const Side &a = out ? memory : packed, &b = out ? packed : memory;
  const Kind from_kind = out ? kind : other, to_kind = out ? other : kind;
  const size_t count = 1 + choices.below(choices.one_in(4) ? 300 : 5);
  const size_t elements = 1 + choices.below(choices.one_in(4) ? 300 : 5);
  const size_t from_stride = count * a.width(from_kind) + (choices.one_in(2) ? 0 : choices.below(20));
  const size_t to_stride = count * b.width(to_kind) + (choices.one_in(2) ? 0 : choices.below(20));
  const size_t from_size = (elements - 1) * from_stride + count * a.width(from_kind);
  const size_t to_size = (elements - 1) * to_stride + count * b.width(to_kind);
  std::unique_ptr<uint8_t[]> from(new uint8_t[from_size]), to(new uint8_t[to_size]),
      expected(new uint8_t[to_size]);
  const bool wild = choices.one_in(3);
  for (size_t i = 0; i < from_size; ++i) from[i] = wild ? choices.byte() : 0;
  memset(to.get(), 0x5a, to_size);
  memset(expected.get(), 0x5a, to_size);
  bool fits = true, defined = true;
  for (size_t e = 0; e < elements; ++e)
    for (size_t i = 0; i < count; ++i) {
      uint8_t* leaf = from.get() + e * from_stride + i * a.width(from_kind);
      if (!wild && kind != kLdouble)
        put_number(static_cast<int64_t>(choices.number()), leaf, a.width(from_kind), a.machine.order);
      if (out && kind == kBool) leaf[0] &= 1;
      if (kind == kLdouble && a.machine.long_double != b.machine.long_double)
        defined &= floating_of(a.machine.long_double, leaf, a.machine.order).what != Floating::kNoSuch;
      fits &= model(from_kind, a, leaf, to_kind, b, expected.get() + e * to_stride + i * b.width(to_kind));
    }
  const bool done = convert(c, from.get(), from_stride, to.get(), to_stride, elements, count);
  const bool checked = convert(c, from.get(), from_stride, nullptr, 0, elements, count);
  const std::string what = std::string(kind_name(from_kind)) + " to " + kind_name(to_kind) + ", " +
                           std::to_string(elements) + " times " + std::to_string(count) + ", " +
                           std::to_string(a.width(from_kind)) + " to " + std::to_string(b.width(to_kind)) +
                           " bytes";
  if (done != checked) fail(what + ": converting and checking differ");
  if (!defined) return;
  if (done != fits) fail(what + (fits ? ": does not fit" : ": fits"));
  if (!fits) return;
  for (size_t i = 0; i < to_size; ++i)
    if (to[i] != expected[i]) fail(what + ": byte " + std::to_string(i) + " differs");
}

// ---- Long doubles of all formats ----

LongDouble any_format(Choices& choices) {
  constexpr LongDouble kFormats[] = {LongDouble::kBinary64, LongDouble::kExtended, LongDouble::kBinary128,
                                     LongDouble::kExtended68k};
  return kFormats[choices.below(4)];
}

void examine_long_double(Choices& choices) {
  const LongDouble f = any_format(choices), g = any_format(choices);
  const bool f_big = choices.one_in(2), g_big = choices.one_in(2);
  uint8_t value[16] = {}, there[16] = {}, back[16] = {}, expected[16] = {};
  for (uint8_t& b : value) b = choices.byte();
  const ByteOrder order = f_big ? ByteOrder::kBig : ByteOrder::kLittle;
  const ByteOrder order_there = g_big ? ByteOrder::kBig : ByteOrder::kLittle;
  const Floating before = floating_of(f, value, order);
  const bool fits = pack(unpack(f, f_big, value), g, g_big, there);
  if (before.what == Floating::kNoSuch) return;
  const std::string what = "long double " + hex(value, long_double_width(f)) + "of format " +
                           std::to_string(static_cast<int>(f)) + " in " + std::to_string(static_cast<int>(g));
  if (put_floating(before, g, expected, order_there) != fits)
    fail(what + (fits ? ": fits" : ": does not fit"));
  if (!fits) return;
  if (memcmp(there, expected, long_double_width(g)) != 0)
    fail(what + " is " + hex(there, long_double_width(g)));
  const Floating after = floating_of(g, there, order_there);
  if (!same_floating(before, after)) return;  // rounded, or a shorter payload
  if (!pack(unpack(g, g_big, there), f, f_big, back)) fail(what + " does not come back");
  if (!same_floating(before, floating_of(f, back, order))) fail(what + " comes back as another");
  // Where this processor has both formats, it has to agree.
  if (!extended_here() || f_big || g_big || here().order != ByteOrder::kLittle) return;
  long double own = 0;
  if (f == LongDouble::kExtended && g == LongDouble::kBinary64 && before.what == Floating::kNumber) {
    memcpy(&own, value, kLongDoublePacked);
    const double rounded = static_cast<double>(own);
    if (memcmp(&rounded, there, 8) != 0) fail(what + ": the processor rounds to another double");
  }
}

}  // namespace

void examine_conversions(const uint8_t* data, size_t size) {
  if (size == 0) return;
  Choices choices(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      return examine_run(choices);
    case 1:
      return examine_long_double(choices);
    default:
      Trial(choices).run();
  }
}

}  // namespace elc::format
