// Memory that a program's own allocator gives out in parts: blocks that hold elements of several types. What the program converts a
// pointer into such a block to says what is there; a line believes that where all that is there can be of the type, and has the block as
// a struct of these parts, and bytes between them.
#include <string.h>

#include <algorithm>

#include "base/sort.h"
#include "state/blocks.h"
#include "state/process.h"

namespace elc::state {

// Of a union nobody can tell what it may hold, but of one of words.
bool has_union(const format::TypeTable& types, TypeId type) {
  if (types.accessor(type) != nullptr) return false;
  for (const format::FieldInfo& field : types.fields(type))
    if (has_union(types, field.type)) return true;
  return types.info(type).kind == format::kUnion && !is_word(types, type);
}

bool has_handle_of_mpi(const format::TypeTable& types, TypeId type) {
  if (types.accessor(type) != nullptr) return false;
  for (const format::FieldInfo& field : types.fields(type))
    if (has_handle_of_mpi(types, field.type)) return true;
  return types.info(type).kind >= format::kMpiComm && types.info(type).size == sizeof(int);
}

namespace {

constexpr size_t kMostFields = 4096;

struct Noted {
  uint64_t offset;
  TypeId type, before;  // as in Part
};

// Which bytes of an element are of its fields.
void mark_fields(const format::TypeTable& types, TypeId type, uint64_t offset, bool gaps_too, Vector<bool>* set) {
  const format::TypeInfo& info = types.info(type);
  const auto mark = [&](uint64_t at) { (*set)[static_cast<size_t>(offset + at)] = true; };
  if (info.kind != format::kStruct) {
    for (uint64_t i = 0; i < info.size; ++i) mark(i);
    return;
  }
  Vector<uint8_t> bits;
  bits.resize(static_cast<size_t>(info.size));
  set_bit_fields(types, type, bits.data());
  for (size_t i = 0; i < bits.size(); ++i)
    if (bits[i] != 0) mark(i);
  for (const format::FieldInfo& field : types.fields(type)) {
    const uint64_t size = types.accessor(field.type) != nullptr || (is_gap(field) && !gaps_too) ? 0 : types.size_of(field.type);
    for (uint64_t i = 0; size > 0 && i < field.count; ++i) mark_fields(types, field.type, offset + field.offset + i * size, gaps_too, set);
  }
}

// How many bytes of the word there are of fields.
uint64_t covered(const format::TypeTable& types, TypeId type, uint64_t at) {
  const uint64_t element = types.size_of(type);
  Vector<bool> used;
  used.resize(static_cast<size_t>(element));
  mark_fields(types, type, 0, false, &used);
  uint64_t count = 0;
  for (uint64_t i = 0; i < sizeof(uintptr_t); ++i) count += used[static_cast<size_t>((at + i) % element)] ? uint64_t{1} : 0;
  return count;
}

bool has_pointer(const format::TypeTable& types, TypeId type, uint64_t at, bool or_union) {
  const format::TypeInfo& info = types.info(type);
  if (info.kind != format::kStruct) return (info.kind == format::kPointer && at % info.size == 0) || (or_union && info.kind == format::kUnion);
  at %= info.size;
  for (const format::FieldInfo& field : types.fields(type)) {
    const uint64_t size = types.accessor(field.type) != nullptr ? 0 : types.size_of(field.type);
    if (at >= field.offset && at - field.offset < size * field.count) return has_pointer(types, field.type, at - field.offset, or_union);
  }
  return false;
}

// What an address of another process may be, as systems have it.
bool may_be_foreign(uint64_t value) { return sizeof(void*) == 4 || (value >> 40 != 0 && value >> 47 == 0); }

// Whether the pointers in an element lead somewhere, also to where another process may have something, and its handles may be some.
bool leads(const Process& p, TypeId type, const uint8_t* at, bool also_elsewhere = false) {
  const format::TypeInfo& info = p.types.info(type);
  if (is_word(p.types, type) && info.active(at, at) != 0) return true;
  for (const format::FieldInfo& field : p.types.fields(type))
    for (uint64_t i = 0; p.types.accessor(field.type) == nullptr && p.types.info(field.type).has_handle && i < field.count; ++i)
      if (!leads(p, field.type, at + field.offset + i * p.types.size_of(field.type), also_elsewhere)) return false;
  if (info.kind == format::kStruct || !info.has_handle || info.size != sizeof(uintptr_t)) return true;  // what is no handle is refused later
  uintptr_t value;
  memcpy(&value, at, sizeof value);
  if (value == 0) return true;
  if (is_number_in_union(value) || (info.kind < format::kMpiComm && is_handle_of_mpi(p, value))) return false;
  if (info.kind == format::kFile) return p.streams.number_of(reinterpret_cast<FILE*>(value)) != kWildStream;
  if (info.kind >= format::kMpiComm) return info.kind == format::kMpiAint || info.kind == format::kMpiStatus || is_mark(static_cast<intptr_t>(value)) || may_be_address(p, value);
  if (info.kind == format::kFunction) return p.function_by_address.find(value) != nullptr;
  return leads_somewhere(p, value) || (also_elsewhere && may_be_foreign(value)) || check_wild(p, value).ok();  // as to memory that was freed
}

// What can be told of all elements of a type at once.
class Judge {
 public:
  Judge(const Process& process, TypeId type) : p_(process), type_(type), is_known_(!has_union(process.types, type)) {
    if (!is_known_) return;
    Vector<bool> used;
    used.resize(static_cast<size_t>(process.types.size_of(type)));
    mark_fields(process.types, type, 0, true, &used);
    for (size_t i = 0; i < used.size(); ++i)
      if (!used[i]) unused_.push_back(i);
    find_doubtful(process.types, type, 0, &doubtful_);
  }
  // Whether what is there can be an element: what is between its fields is 0, and its pointers lead somewhere.
  bool allows(const uint8_t* at, bool also_elsewhere = false) const {
    for (const size_t i : unused_)
      if (at[i] != 0) return false;
    return is_known_ && is_of_type(p_, doubtful_, at) && leads(p_, type_, at, also_elsewhere);
  }
  bool is_known() const { return is_known_; }
  bool has_pointers() const { return is_known_ && p_.types.info(type_).has_handle; }

 private:
  const Process& p_;
  const TypeId type_;
  const bool is_known_;
  Vector<size_t> unused_;  // bytes between fields
  Vector<Doubtful> doubtful_;
};

class Parts {
 public:
  Parts(Process& process, Block& block) : p_(process), block_(block) {}

  // `noted`: by ascending offset, and none twice.
  void find(const Vector<Noted>& noted) {
    const Block own = block_;
    make_of(noted);
    if (is_contradicted(noted, own)) {
      const bool is_made = is_name_of_parts(p_.types.info(block_.type).name);
      if (is_made) p_.without_parts.pop_back();
      block_ = own;
      is_strict_ = true;
      make_of(noted);
    }
    if (!is_strict_ || !is_contradicted(noted, own)) return;
    if (!is_name_of_parts(p_.types.info(block_.type).name)) p_.without_parts.push_back(block_);
    block_.type = format::kByte;
    block_.guessed = block_.is_open = false;
  }

 private:
  void make_of(const Vector<Noted>& noted) {
    const uint64_t element = p_.types.size_of(block_.type);
    // What the block's own type has, such as handles of MPI that are numbers, is not to become bytes because another one was looked at.
    if (!Judge(p_, block_.type).is_known()) return;
    if (block_.type != format::kByte && !block_.is_open && is_whole(element) && !is_set_later(noted) && !has_other_handles(noted, element)) return;
    if (make_of(noted, element) || block_.is_open || p_.types.info(block_.type).kind != format::kStruct) return;
    Vector<Noted> both;
    if (with_own(noted, &both)) make_of(both, element);
  }
  // Where a pointer is to be, and the program has looked at the place as something that has none there, such as an object in whose first word an
  // allocator keeps the next one: an address that leads nowhere is part of a number with what was there before, and so may be one that leads
  // somewhere, if the number is less than half of the word and was not looked at before the pointer.
  bool is_contradicted(const Vector<Noted>& noted, const Block& own) const {
    constexpr uint64_t kWord = sizeof(uintptr_t);
    const uint64_t known = p_.types.info(own.type).kind != format::kStruct ? 0 : own.is_open ? p_.types.size_of(own.type) : own.size;
    for (const Noted& one : noted) {
      const bool was_both = one.before != format::kNone;
      // What the block itself is for holds where an object of that begins, and nothing but a link has been looked at.
      const bool is_of_own = one.type == format::kPointer && !was_both && one.offset % p_.types.size_of(own.type) == 0;
      const uint64_t end = std::min(block_.size, one.offset + std::max(p_.types.size_of(one.type), was_both ? p_.types.size_of(one.before) : 0));
      for (uint64_t at = (one.offset + kWord - 1) / kWord * kWord; at + kWord <= end; at += kWord) {
        if (!may_be_address(p_, word_at(block_.address + at)) || !has_pointer(p_.types, block_.type, at, false)) continue;
        const bool lost = is_lost(at);
        const auto denies = [&](TypeId type, uint64_t begin, uint64_t behind) {
          if (type == format::kNone || at < begin || at + kWord > behind || has_pointer(p_.types, type, at - begin, true)) return false;
          return lost || (covered(p_.types, type, at - begin) < kWord / 2 && !(was_both && has_pointer(p_.types, one.type, at - one.offset, false)));
        };
        if ((is_of_own && denies(own.type, 0, known)) || denies(one.type, one.offset, one.offset + p_.types.size_of(one.type)) ||
            (was_both && denies(one.before, one.offset, one.offset + p_.types.size_of(one.before))))
          return true;
      }
    }
    return false;
  }
  // An address of nothing that is there.
  bool is_lost(uint64_t at) const {
    const uintptr_t value = word_at(block_.address + at);
    return may_be_address(p_, value) && (is_number_in_union(value) || !leads_somewhere(p_, value));
  }
  bool make_of(const Vector<Noted>& all, uint64_t element) {
    fields_.clear();
    end_ = 0;
    if (block_.type != format::kByte && all[0].offset != 0 && !add_records(block_.type, 0, all, 0)) add(block_.type, 0, block_.is_open ? element : all[0].offset, false);
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].offset < end_ || add_records(all[i].type, all[i].offset, all, i + 1)) continue;
      // What is noted inside of an element is another view of that.
      const auto end_for = [&](TypeId type) {
        size_t next = i + 1;
        while (next < all.size() && all[next].offset < all[i].offset + p_.types.size_of(type)) ++next;
        return next < all.size() ? all[next].offset : block_.size;
      };
      const auto add_as = [&](TypeId type, bool as_a_whole) { return add(type, all[i].offset, end_for(type), as_a_whole); };
      const auto add_free = [&](TypeId link, TypeId type) { return add_given_back(link, type, all[i].offset, end_for(type)); };
      const bool is_behind_others = (all[i].type == format::kPointer || all[i].before == format::kPointer) && add_in_front(all[i].offset);
      if (all[i].offset < end_) continue;
      // A program may look at what is there by way of another type first, and an allocator at the first word of what was given back, of which
      // a restart knows nothing any more. What the whole block was taken for is not noted where it begins.
      const bool is_own = all[i].offset == 0 || (is_strict_ && !block_.is_open && p_.types.info(block_.type).kind == format::kStruct && all[i].offset % element == 0);
      const TypeId before = is_own && all[i].before == format::kNone && block_.type != format::kByte ? block_.type : all[i].before;
      const bool is_other = !add_as(all[i].type, true) &&
                            (before == format::kNone || (!add_as(before, true) && !add_free(all[i].type, before) && !add_free(before, all[i].type))) &&
                            (all[i].type == format::kPointer || !add_free(format::kPointer, all[i].type));
      const auto add_some = [&](TypeId type) { return type != format::kNone && !(is_behind_others && type == format::kPointer) && add_as(type, false); };
      if (is_other && !add_some(all[i].type)) add_some(before);
    }
    return !fields_.empty() && fill_up(block_.size / sizeof(uintptr_t) * sizeof(uintptr_t)) && make();
  }
  // With what the block's own type has: elements that are of it, one after the other, are one; of the others the members. What is noted
  // where the own type holds is another view of that. false: there are too many.
  bool with_own(const Vector<Noted>& noted, Vector<Noted>* both) const {
    Vector<Own> own;
    if (!add_own(block_.type, 0, block_.size / p_.types.size_of(block_.type), &own)) return false;
    size_t next = 0;
    for (const Own& one : own) {
      for (; next < noted.size() && noted[next].offset < one.begin; ++next) both->push_back(noted[next]);
      if (one.is_right) {
        both->push_back({one.begin, one.type, format::kNone});
        while (next < noted.size() && noted[next].offset < one.end) ++next;
      } else if (next >= noted.size() || noted[next].offset != one.begin) {
        both->push_back({one.begin, one.type, format::kNone});
      }
    }
    for (; next < noted.size(); ++next) both->push_back(noted[next]);
    return !both->empty();
  }
  struct Own {
    uint64_t begin, end;
    TypeId type;
    bool is_right;  // all that is there can be of it
  };
  bool add_own(TypeId type, uint64_t begin, uint64_t count, Vector<Own>* all) const {
    const uint64_t size = p_.types.accessor(type) != nullptr ? 0 : p_.types.size_of(type);
    if (size == 0 || !p_.types.info(type).has_handle) return true;  // bytes, if no address is there
    const Judge judge(p_, type);
    bool goes_on = false;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = begin + i * size;
      const bool is_right = judge.allows(block_.address + at) && check_addresses(p_, block_.address + at, size, type).ok();
      const bool is_of_members = !is_right && p_.types.info(type).kind == format::kStruct;
      if (is_right && goes_on) {
        (*all)[all->size() - 1].end += size;
      } else if (!is_of_members || !has_structs(type)) {  // one that is free may be looked at as a whole
        if (all->size() == kMostFields) return false;
        all->push_back({at, at + size, type, is_right});
      }
      for (const format::FieldInfo& field : p_.types.fields(type))
        if (is_of_members && !add_own(field.type, at + field.offset, field.count, all)) return false;
      goes_on = is_right;
    }
    return true;
  }
  bool has_structs(TypeId type) const {
    for (const format::FieldInfo& field : p_.types.fields(type))
      if (p_.types.info(field.type).kind == format::kStruct) return true;
    return false;
  }
  bool is_whole(uint64_t element) const {
    if (is_strict_) return false;
    const Judge base(p_, block_.type);
    for (uint64_t at = 0; at + element <= block_.size; at += element)
      if (!base.allows(block_.address + at)) return false;
    return check_addresses(p_, block_.address, block_.size, block_.type).ok();
  }
  // Handles that are integers do not tell by their values that they are none of the elements', nor do the elements' that they are none.
  bool has_other_handles(const Vector<Noted>& all, uint64_t element) const {
    if (p_.codec == nullptr || !p_.codec->are_integers) return false;
    const bool has_own = has_handle_of_mpi(p_.types, block_.type);
    for (const Noted& one : all) {
      const bool is_other = has_own ? p_.types.info(one.type).kind == format::kStruct : has_handle_of_mpi(p_.types, one.type);
      if (is_other && !has_part(block_.type, one.offset % element, one.type)) return true;
    }
    return false;
  }
  bool has_part(TypeId whole, uint64_t at, TypeId part) const {
    const TypeId* const with_gaps = p_.types_with_gaps.find(static_cast<uint64_t>(part));
    if (at == 0 && (whole == part || (with_gaps != nullptr && whole == *with_gaps))) return true;
    if (p_.types.info(whole).kind != format::kStruct) return false;
    for (const format::FieldInfo& field : p_.types.fields(whole)) {
      const uint64_t size = p_.types.accessor(field.type) != nullptr ? 0 : p_.types.size_of(field.type);
      if (at >= field.offset && at - field.offset < size * field.count) return has_part(field.type, (at - field.offset) % size, part);
    }
    return false;
  }
  // Pointers that are all NULL as yet: the line has what they are, so that a restart knows it when they are set.
  bool is_set_later(const Vector<Noted>& all) const {
    for (const Noted& one : all) {
      const uint64_t size = p_.types.size_of(one.type);
      bool is_later = !p_.types.info(block_.type).has_handle && p_.types.info(one.type).has_handle && size <= block_.size - one.offset;
      for (uint64_t i = 0; is_later && i < size; ++i) is_later = block_.address[one.offset + i] == 0;
      if (is_later) return true;
    }
    return false;
  }
  // As many elements as there can be; false: there can be none. Without pointers they are bytes, as what is between the parts, and in them.
  // `as_a_whole`: only if there are no addresses behind them.
  bool add(TypeId of, uint64_t begin, uint64_t end, bool as_a_whole) {
    const TypeId* const with_gaps = p_.types_with_gaps.find(static_cast<uint64_t>(of));
    const TypeId type = with_gaps == nullptr ? of : *with_gaps;
    const Judge judge(p_, type);
    if (!judge.has_pointers()) return false;
    const uint64_t size = p_.types.size_of(type);
    uint64_t count = 0;
    const auto is_one = [&](const uint8_t* at) {
      const bool may_be = !is_strict_ || type != format::kPointer || !is_lost(static_cast<uint64_t>(at - block_.address));
      return may_be && judge.allows(at) && check_addresses(p_, at, size, type).ok();
    };
    while ((count + 1) * size <= end - begin && is_one(block_.address + begin + count * size)) ++count;
    const uint64_t last = begin + count * size;
    if (as_a_whole && !check_addresses(p_, block_.address + last, end - last, format::kByte).ok()) return false;
    if (count == 0) return false;
    // Elements in front, at which the program has not looked since it has copied them there.
    uint64_t first = begin;
    if (!fill_up(begin)) {
      while (p_.types.info(type).kind == format::kStruct && first - end_ >= size && is_one(block_.address + first - size)) first -= size;
      if (first == begin || !fill_up(first)) return false;
    }
    fields_.push_back({{}, first, type, count + (begin - first) / size});
    end_ = last;
    return true;
  }
  // Structs at equal distances, each with something of its own behind it: so many that each cannot be a part by itself. `next`: of what is noted
  // the first behind `begin`.
  bool add_records(TypeId of, uint64_t begin, const Vector<Noted>& all, size_t next) {
    constexpr uint64_t kLeast = 3;
    constexpr size_t kMostBehind = 64;  // that is noted in a record
    const TypeId* const with_gaps = p_.types_with_gaps.find(static_cast<uint64_t>(of));
    const TypeId type = with_gaps == nullptr ? of : *with_gaps;
    const uint64_t size = p_.types.size_of(type);
    if (p_.types.info(type).kind != format::kStruct || p_.types.accessor(type) != nullptr) return false;
    Vector<format::FieldSpec> fields;
    fields.push_back({{}, 0, type, 1});
    uint64_t end = size;
    size_t i = next;
    for (; i < all.size() && i < next + kMostBehind && all[i].type != of; ++i) {
      const uint64_t at = all[i].offset - begin;
      if (at < end || !p_.types.info(all[i].type).has_handle) continue;
      if (at > end) fields.push_back({{}, end, format::kByte, at - end});
      fields.push_back({{}, at, all[i].type, 1});
      end = at + p_.types.size_of(all[i].type);
    }
    if (i == all.size() || all[i].type != of) return false;
    const uint64_t stride = all[i].offset - begin;
    if (stride <= size || stride < end || begin + kLeast * stride > block_.size) return false;
    if (stride > end) fields.push_back({{}, end, format::kByte, stride - end});
    uint64_t count = (block_.size - begin) / stride;
    for (const format::FieldSpec& field : fields) count = holding(field, block_.address + begin, stride, count);
    TypeId record;
    if (count < kLeast || !fill_up(begin) || !make_type(stride, &fields, &record)) return false;
    fields_.push_back({{}, begin, record, count});
    end_ = begin + count * stride;
    return true;
  }
  // So many of `most` records, from the first on, hold what may be in this field. In a record that came from another process are pointers
  // of that one, and that is what a message about them is to say.
  uint64_t holding(const format::FieldSpec& field, const uint8_t* records, uint64_t stride, uint64_t most) const {
    const Judge judge(p_, field.type);
    const uint64_t size = field.count * p_.types.size_of(field.type);
    for (uint64_t i = 0; i < most; ++i) {
      const uint8_t* const at = records + i * stride + field.offset;
      if ((field.type != format::kByte && !judge.allows(at, true)) || !check_addresses(p_, at, size, field.type).ok()) return i;
    }
    return most;
  }
  // An object that was given back: its first word is the allocator's, which leads to the next one; the pointers behind it are as they were.
  bool add_given_back(TypeId link, TypeId type, uint64_t begin, uint64_t end) {
    if (link != format::kPointer || p_.types.size_of(type) > end - begin || !Judge(p_, type).is_known()) return false;
    if ((is_strict_ && is_lost(begin)) || !Judge(p_, link).allows(block_.address + begin) || !fill_up(begin)) return false;
    Vector<format::FieldSpec> pointers;
    pointers.push_back({{}, begin, link, 1});
    find_pointers(type, begin, begin + sizeof(uintptr_t), &pointers);
    for (const format::FieldSpec& field : pointers) {
      const Judge judge(p_, field.type);
      for (uint64_t i = 0; i < field.count; ++i)
        if (!judge.allows(block_.address + field.offset + i * p_.types.size_of(field.type))) return false;
    }
    for (const format::FieldSpec& field : pointers) {
      if (!fill_up(field.offset)) return false;
      fields_.push_back(field);
      end_ = field.offset + field.count * p_.types.size_of(field.type);
    }
    return true;
  }
  // And handles, from `first` on.
  void find_pointers(TypeId type, uint64_t offset, uint64_t first, Vector<format::FieldSpec>* all) const {
    const format::TypeInfo& info = p_.types.info(type);
    if (!info.has_handle) return;
    if (info.kind != format::kStruct || p_.types.accessor(type) != nullptr) {
      if (offset < first) return;
      format::FieldSpec& last = (*all)[all->size() - 1];
      if (last.type == type && last.offset + last.count * info.size == offset) ++last.count;
      else all->push_back({{}, offset, type, 1});
      return;
    }
    for (const format::FieldInfo& field : p_.types.fields(type))
      for (uint64_t i = 0; i < field.count; ++i) find_pointers(field.type, offset + field.offset + i * p_.types.size_of(field.type), first, all);
  }
  // What was looked at as pointers may be the first behind some that an allocator keeps, as to the block that it has aligned.
  bool add_in_front(uint64_t end) {
    uint64_t begin = end;
    while (begin % sizeof(uintptr_t) == 0 && begin >= end_ + sizeof(uintptr_t) && leads(begin - sizeof(uintptr_t))) begin -= sizeof(uintptr_t);
    if (begin == end || !fill_up(begin)) return false;
    fields_.push_back({{}, begin, format::kPointer, (end - begin) / sizeof(uintptr_t)});
    end_ = end;
    return true;
  }
  bool leads(uint64_t at) const {
    const void* value;
    memcpy(&value, block_.address + at, sizeof value);
    return value != nullptr && !is_number_in_union(reinterpret_cast<uintptr_t>(value)) && p_.blocks->encode(value).block != format::kWildBlock;
  }
  // Bytes, if they hold no address.
  bool fill_up(uint64_t to) {
    if (to <= end_) return true;
    if (!check_addresses(p_, block_.address + end_, to - end_, format::kByte).ok()) return false;
    fields_.push_back({{}, end_, format::kByte, to - end_});
    end_ = to;
    return true;
  }
  bool make() {
    TypeId made;
    if (fields_.size() > kMostFields || !make_type(end_, &fields_, &made)) return false;
    p_.without_parts.push_back(block_);
    block_.type = made;
    block_.guessed = true;
    block_.is_open = false;
    return true;
  }

  bool make_type(uint64_t size, Vector<format::FieldSpec>* fields, TypeId* made) {
    Vector<Text> names;
    uint64_t all = mix64(size);
    for (const format::FieldSpec& field : *fields) {
      names.push_back(Text::format("at_%llu", static_cast<unsigned long long>(field.offset)));
      all = mix64(mix64(mix_text(all, p_.types.info(field.type).name) ^ field.offset) ^ field.count);
    }
    for (size_t i = 0; i < names.size(); ++i) (*fields)[i].name = names[i].view();
    const Text name = Text::format("%s %016llx", kPartsName, static_cast<unsigned long long>(all));
    return p_.types.make_struct(name.view(), size, {fields->data(), fields->size()}, made).ok();
  }

  Process& p_;
  Block& block_;
  bool is_strict_ = false;  // what is a pointer leads somewhere
  uint64_t end_ = 0;  // of the fields
  Vector<format::FieldSpec> fields_;
};

}  // namespace

bool is_name_of_parts(const char* name) { return strncmp(name, kPartsName, strlen(kPartsName)) == 0; }

void note_part(Process& p, const void* memory, TypeId type) {
  constexpr size_t kMost = size_t{1} << 16;
  const uint64_t key = reinterpret_cast<uintptr_t>(memory);
  Part* known = p.parts.find(key);
  if (known == nullptr && p.parts.size() < kMost && p.parts.make_room()) known = &p.parts.at(key);
  if (known == nullptr) return;
  const TypeId before = known->type == type ? known->before : known->type;
  *known = {type, before, p.heap.next_id()};
}

static bool is_of_parts(const Process& p, TypeId type) { return type >= format::kFirstMade && is_name_of_parts(p.types.info(type).name); }

static void restore_type(Block& block, const Block& before) {
  block.type = before.type;
  block.guessed = before.guessed;
  block.is_open = before.is_open;
  block.is_doubted = before.is_doubted;
}

// A restart knows no more of it than its parts: bytes.
void forget_parts_of(Process& p, Block& block) {
  if (!is_of_parts(p, block.type)) return;
  const Vector<Block>& all = p.without_parts;  // in the order of their ids
  const Block* const before = std::lower_bound(all.begin(), all.end(), block.id, [](const Block& one, uint64_t id) { return one.id < id; });
  if (before != all.end() && before->id == block.id) return restore_type(block, *before);
  block.type = format::kByte;
  block.guessed = false;
}

void forget_parts(Process& p) {
  if (p.first_of_parts == format::kNone) return;
  for (Block& block : p.heap.slots()) forget_parts_of(p, block);
  for (const Block& before : p.without_parts) {
    Block* const block = p.heap.find(before.address);
    if (block != nullptr && block->id == before.id && block->type == format::kByte) restore_type(*block, before);
  }
  p.without_parts.clear();
  TypeId last = p.types.end();
  while (last > p.first_of_parts && is_of_parts(p, last - 1)) --last;
  p.types.shorten(last);
  p.first_of_parts = format::kNone;
}

// What structs that end with more than they say have there.
static void note_tails(Process& p) {
  if (p.tails.size() == 0) return;
  for (const Block& block : p.heap.slots()) {
    const TypeId* const tail = block.is_open ? p.tails.find(static_cast<uint64_t>(block.type)) : nullptr;
    const uint64_t element = p.types.size_of(block.type);
    if (tail != nullptr && block.size >= element + p.types.size_of(*tail)) note_part(p, block.address + element, *tail);
  }
}

// Whether elements begin with one number as wide as a word.
static bool begins_with_word(const format::TypeTable& types, TypeId type) {
  while (types.accessor(type) == nullptr && types.info(type).kind == format::kStruct && types.info(type).field_count > 0) {
    if (types.fields(type)[0].offset != 0) return false;
    type = types.fields(type)[0].type;
  }
  const format::TypeInfo& info = types.info(type);
  return types.accessor(type) == nullptr && info.size == sizeof(uintptr_t) && (format::is_integer(info.kind) || info.kind == format::kDouble);
}

// Objects in whose first words an allocator keeps which is the next one: a number that fills a word is no address of another of the kind by
// chance, if addresses are wide. Two numbers may be.
static void note_links(Process& p) {
  if (sizeof(uintptr_t) < sizeof(uint64_t)) return;
  TypeId last = format::kNone;  // of which it is known
  bool has_word = false;
  for (const Block& block : p.heap.slots()) {
    if (block.type != last) {
      last = block.type;
      has_word = p.types.info(last).kind == format::kStruct && begins_with_word(p.types, last);
    }
    const uint64_t element = has_word && !block.is_open ? p.types.size_of(last) : 0;
    for (uint64_t at = 0; element > 0 && at + element <= block.size; at += element) {
      const uintptr_t value = word_at(block.address + at);
      if (may_be_address(p, value) && leads_to_another(p, value, last)) note_part(p, block.address + at, format::kPointer);
    }
  }
}

void find_parts(Process& p) {
  if (p.is_prepared) note_tails(p), note_links(p);
  if (!p.is_prepared || p.parts.size() == 0) return;
  struct OfBlock {
    Block* block;
    Noted noted;
  };
  Vector<OfBlock> all;
  Vector<uint64_t> gone;
  p.parts.each([&](uint64_t address, const Part& part) {
    const Block* const found = p.blocks->block_of(reinterpret_cast<const void*>(static_cast<uintptr_t>(address)));
    const uint64_t offset = found == nullptr ? 0 : address - reinterpret_cast<uintptr_t>(found->address);
    if (found == nullptr || found->id >= part.next_id || offset >= found->size) gone.push_back(address);
    else all.push_back({p.heap.find(found->address), {offset, part.type, part.before}});
  });
  for (const uint64_t address : gone) p.parts.remove(address);
  sort(all, [](const OfBlock& a, const OfBlock& b) { return a.block != b.block ? a.block < b.block : a.noted.offset < b.noted.offset; });
  p.first_of_parts = p.types.end();
  for (size_t i = 0, end; i < all.size(); i = end) {
    Vector<Noted> of_block;
    for (end = i; end < all.size() && all[end].block == all[i].block; ++end) of_block.push_back(all[end].noted);
    Block& block = *all[i].block;
    bool says_more = p.types.info(block.type).has_handle;  // than the block's own type: where pointers are, or are not
    const auto says = [&](TypeId type) { return type != format::kNone && !are_of(p, block.type, type) && p.types.info(type).has_handle; };
    const auto is_beside = [&](const Noted& part) { return part.type == block.type && part.offset % p.types.size_of(block.type) != 0; };
    for (const Noted& part : of_block) says_more = says_more || says(part.type) || says(part.before) || is_beside(part);
    if (says_more && (block.type != format::kPointer || !block.is_open)) Parts(p, block).find(of_block);
    else if (block.type != format::kByte)
      for (const Noted& part : of_block) p.parts.remove(reinterpret_cast<uintptr_t>(block.address) + part.offset);
  }
  if (p.first_of_parts == p.types.end() && p.without_parts.empty()) p.first_of_parts = format::kNone;
}

// A struct, and behind it in the same block something else, which its type would be for, too, were it not for pointers.
bool begins_as_array(const Process& p, const Block& block) {
  const format::TypeInfo& info = p.types.info(block.type);
  if (info.kind != format::kStruct || !info.has_handle) return true;
  const uint64_t count = elements_of(p, block);
  if (count < 2 || has_union(p.types, block.type)) return true;
  return leads(p, block.type, block.address + info.size, true) && leads(p, block.type, block.address + (count - 1) * info.size, true);
}

bool find_own_parts(Process& p, Block& block) {
  if (!p.types.info(block.type).has_handle || is_of_parts(p, block.type)) return false;
  const TypeId next = p.types.end();
  Vector<Noted> all;
  all.push_back({0, block.type, format::kNone});
  Parts(p, block).find(all);
  if (!is_of_parts(p, block.type)) return false;
  p.without_parts[p.without_parts.size() - 1].is_doubted = true;
  if (p.first_of_parts == format::kNone) p.first_of_parts = next;
  return true;
}

TypeId type_of_parts(Process& p, const format::TypeTable& file, const format::TypeInfo& type) {
  Vector<format::FieldSpec> fields;
  uint64_t end = 0;
  for (uint32_t i = 0; i < type.field_count; ++i) {
    const format::FieldInfo& field = file.field(type, i);
    TypeId here = field.type < format::kFirstMade ? field.type : p.types.find(file.info(field.type).name);
    if (here == format::kNone) here = beginning_named(p, file.info(field.type).name);
    if (here == format::kNone && is_name_of_parts(file.info(field.type).name)) here = type_of_parts(p, file, file.info(field.type));
    if (here == format::kNone) return format::kNone;
    fields.push_back({field.name, end, here, field.count});
    end += field.count * p.types.size_of(here);
  }
  const TypeId next = p.types.end();
  TypeId made;
  if (!p.types.make_struct(type.name, end, {fields.data(), fields.size()}, &made).ok()) return format::kNone;
  if (p.first_of_parts == format::kNone) p.first_of_parts = next;
  return made;
}

static void note_fields(Process& p, TypeId parts, const uint8_t* at) {
  for (const format::FieldInfo& field : p.types.fields(parts)) {
    const bool are_records = is_of_parts(p, field.type);
    if (!are_records && field.type != format::kByte) note_part(p, at + field.offset, field.type);
    for (uint64_t i = 0; are_records && i < field.count; ++i) note_fields(p, field.type, at + field.offset + i * p.types.size_of(field.type));
  }
}

void note_parts(Process& p) {
  if (p.first_of_parts == format::kNone) return;
  for (const Block& block : p.heap.slots())
    if (is_of_parts(p, block.type)) note_fields(p, block.type, block.address);
}

}  // namespace elc::state
