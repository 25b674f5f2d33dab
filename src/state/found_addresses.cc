// Addresses where no type has one: a prepared program may have put them into numbers and bytes, which a restart leaves as they were.
#include <string.h>

#include <algorithm>

#include "elc_program.h"
#include "state/blocks.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {

// What no memory of a program lies below, and above: most numbers are told from addresses by that.
constexpr uintptr_t kLeast = kLeastAddress, kMostAddress = sizeof(uintptr_t) == 8 ? ~uintptr_t{0} >> 16 : ~uintptr_t{0};

// The upper bits of an address: those of all that a program has are few.
static uintptr_t place_of(uintptr_t address) { return sizeof address == 8 ? address >> 18 >> 18 : 0; }

// Below it there is no memory: systems lay an executable, or the libraries where the stack has no limit, and all else behind the first.
uintptr_t lowest_place(const Process& p) {
  const uintptr_t lowest = std::min({p.executable, reinterpret_cast<uintptr_t>(&strlen), reinterpret_cast<uintptr_t>(&p)});
  return place_of(lowest) == 0 ? lowest : place_of(lowest) << 18 << 18;
}

// Where addresses have 32 bits, half of a double, or four characters, may be one by chance, and of many some are: they are not looked at
// there; integers are taken for one that leads to the beginning of something.
static constexpr bool kIsNarrow = sizeof(uintptr_t) == 4;
static bool may_be_any(const format::TypeInfo& info) {
  return kIsNarrow && (format::is_floating(format::part_of_complex(info.kind)) || (info.size == 1 && info.kind != format::kByte));
}

// What is looked at as an address consists of that: one number, or what may be one, as in a union; or several.
enum class Of : uint8_t { kNumber, kSmallerNumbers, kBytes };

// Where in elements of a type a program may have put an address that is none to the type: where a number begins. Large elements are looked
// at a window at a time, as what is allocated here is not given back while a copy of the process saves (base/memory.h).
class Starts {
 public:
  static constexpr uint64_t kWindow = 65536;

  struct Start {
    uint32_t at;   // in the window
    Of of;
    bool has_gap;  // so much of what is between the fields is part of what begins there that the rest may be anything
  };
  // Of the element that is there, as unions are not always the same. `from`: where the window begins, a multiple of its size. Until the next call.
  const Vector<Start>& of(const format::TypeTable& types, TypeId type, const uint8_t* element, uint64_t from) {
    const format::TypeInfo& info = types.info(type);
    if (type == type_ && from == from_ && !info.walked) return all_;
    type_ = type, from_ = from, types_ = &types;
    const uint64_t end = std::min(info.size, from + kWindow), last = std::min(info.size, end + kWord);
    marks_.clear(), all_.clear();
    marks_.resize(static_cast<size_t>(end + kWord - from));
    low_ = from, high_ = last, place_ = 0;
    mark(type, element, 0, element);
    for (uint64_t at = last; at < end + kWord; at += high_) {  // of the element behind it
      low_ = 0, high_ = std::min(info.size, end + kWord - at), place_ = at - from;
      mark(type, element, 0, element);
    }
    for (size_t at = 0; at < end - from; ++at) {
      bool is = (marks_[at] & kBegins) != 0;
      size_t gap = 0;
      for (size_t i = at; is && i < at + kWord; ++i) {
        is = (marks_[i] & kTaken) == 0;
        if ((marks_[i] & kGap) != 0) ++gap;
      }
      if (is) all_.push_back({static_cast<uint32_t>(at), (marks_[at] & kWhole) != 0 ? Of::kNumber : (marks_[at] & kChar) != 0 ? Of::kBytes : Of::kSmallerNumbers, gap > kWord / 2 && gap < kWord});
    }
    return all_;
  }
  void forget() { type_ = type_of_bits_ = format::kNone; }

 private:
  static constexpr uint64_t kWord = sizeof(uintptr_t);
  static constexpr uint8_t kBegins = 1, kTaken = 2, kGap = 4, kWhole = 8, kChar = 16;

  void set(uint64_t begin, uint64_t size, uint8_t what, uint64_t step = 1) {
    uint64_t at = begin;
    if (at < low_) at += (low_ - at + step - 1) / step * step;
    for (; at < std::min(begin + size, high_); at += step) marks_[static_cast<size_t>(at - low_ + place_)] |= what;
  }
  void mark(TypeId type, const uint8_t* element, uint64_t offset, const uint8_t* enclosing) {
    const format::TypeInfo& info = types_->info(type);
    if (info.kind == format::kStruct || info.kind == format::kUnion) {
      const bool is_struct = info.kind == format::kStruct;
      const int active = is_struct ? 0 : info.active(element + offset, enclosing);
      if (active < 0) return set(offset, info.size, kTaken);  // nothing of it is saved
      int number = 0;
      bool has_bit_fields = false;
      for (const format::FieldInfo& field : types_->fields(type)) {
        if (!is_struct && number++ != active) continue;
        has_bit_fields = has_bit_fields || types_->accessor(field.type) != nullptr;
        const uint64_t size = types_->accessor(field.type) != nullptr ? 0 : types_->size_of(field.type), begin = offset + field.offset;
        for (uint64_t i = size > 0 && begin < low_ ? (low_ - begin) / size : 0; size > 0 && i < field.count && begin + i * size < high_; ++i)
          mark(field.type, element, begin + i * size, is_struct ? element + offset : enclosing);
        if (is_gap(field)) set(begin, field.count, kGap);
      }
      if (has_bit_fields) mark_bit_fields(type, offset);
      if (!is_struct) set(offset, info.size, kWhole);
    } else if (info.has_handle || may_be_any(info)) {
      set(offset, info.size, kTaken);
    } else {
      const uint64_t step = std::min<uint64_t>(info.size, kIsNarrow ? kWord : kWord / 2);
      if (!kIsNarrow) {
        set(offset, info.size, kBegins, step);
        if (info.size >= kWord) set(offset, info.size, kWhole, kWord);
        if (info.size == 1 || info.kind == format::kByte) set(offset, info.size, kChar);
        return;
      }
      for (uint64_t at = offset; at < offset + info.size; at += step)
        if (info.kind == format::kByte || at % kWord == 0) set(at, 1, kBegins);
    }
  }

  // Where ints could be.
  void mark_bit_fields(TypeId type, uint64_t offset) {
    if (type != type_of_bits_) {
      type_of_bits_ = type;
      bits_.clear();
      bits_.resize(static_cast<size_t>(types_->info(type).size));
      set_bit_fields(*types_, type, bits_.data());
    }
    const uint64_t step = kIsNarrow ? kWord : kWord / 2;
    for (size_t i = 0; i < bits_.size(); ++i)
      if (bits_[i] != 0 && ((offset + i) % step == 0 || i == 0 || bits_[i - 1] == 0)) set(offset + i, 1, kBegins);
  }

  const format::TypeTable* types_ = nullptr;
  TypeId type_ = format::kNone;
  uint64_t from_ = 0;
  uint64_t low_ = 0, high_ = 0, place_ = 0;  // what is marked: of an element, and from where in marks_
  Vector<uint8_t> marks_;
  Vector<uint8_t> bits_;  // of the bit-fields of a type, kept for the next element
  TypeId type_of_bits_ = format::kNone;
  Vector<Start> all_;
};

static Starts* starts = nullptr;  // never destroyed, as the process

void forget_starts() {
  if (starts == nullptr) starts = make<Starts>();
  starts->forget();
}

// Behind the last block that lies low: those that were there before.
constexpr uintptr_t kMostBehind = uintptr_t{64} << 20;

void note_places(Process& p) {
  if (!p.is_prepared) return;
  p.places.clear();
  const auto note = [&](const void* address) {
    const uintptr_t place = place_of(reinterpret_cast<uintptr_t>(address));
    if (place == 0) p.low_end = std::max(p.low_end, reinterpret_cast<uintptr_t>(address) + kMostBehind);
    for (const uintptr_t known : p.places)
      if (known == place) return;
    p.places.push_back(place);
  };
  const int here = 0;
  note(&here);
  note(&p);
  note(reinterpret_cast<const void*>(&strlen));
  for (const Block& block : p.heap.slots()) note(block.address);
  for (const Region& region : p.globals) note(region.address);
}

// The C library has these, and a restart has others.
static bool is_stream(const Process& p, uintptr_t value) { return p.streams.number_of(reinterpret_cast<FILE*>(value)) != kWildStream; }

bool leads_beside_memory(const Process& p, uintptr_t value, format::PointerLeaf* out) {
  if (!p.is_prepared) return false;
  const uint32_t* const function = p.function_by_address.find(value);
  const uint64_t stream = p.streams.number_of(reinterpret_cast<FILE*>(value));
  if (function != nullptr) *out = {format::kFunctionBlock, *function};
  else if (stream != kWildStream) *out = {format::kStreamBlock, stream};
  return function != nullptr || stream != kWildStream;
}

bool leads_somewhere(const Process& p, uintptr_t value) {
  format::PointerLeaf beside;
  return leads_beside_memory(p, value, &beside) || p.moved.find(value) != nullptr || p.blocks->encode(reinterpret_cast<const void*>(value)).block != format::kWildBlock;
}

bool may_be_address(const Process& p, uintptr_t value) {
  if (value < kLeast || value > kMostAddress) return false;
  // Of an executable that lies where it was linked to, below most numbers, memory is behind it.
  if (sizeof value == 8 && place_of(value) == 0) return value >= p.executable && value < p.low_end;
  bool is = p.places.empty() || p.has_foreign_addresses;
  for (const uintptr_t place : p.places) is = is || place == place_of(value);
  return is;
}

Result check_wild(const Process& p, uintptr_t value, bool may_be_number) {
  if (!p.is_prepared) return Result();
  if (is_mark(static_cast<intptr_t>(value))) return Result();
  if (p.blocks != nullptr && p.blocks->holds(value, 1))
    return Result::error("a pointer in it points into memory that the line has (%p), but to no value there: to a gap or into bit-fields, "
                         "which a restart would not find", reinterpret_cast<void*>(value));
  if (value - p.executable < p.executable_end - p.executable)
    return Result::error("a pointer in it points to something of the program that lines do not have (%p), and which a restart would not find",
                         reinterpret_cast<void*>(value));
  if (may_be_address(p, value)) return Result();
  const int number = static_cast<int>(value);
  const bool is_int = value == static_cast<unsigned>(number) || value == static_cast<uintptr_t>(static_cast<intptr_t>(number));
  if (is_int && p.codec != nullptr && p.codec->are_integers && p.codec->macro_of(p.codec->context, &number, sizeof number) != nullptr)
    return Result::error("a pointer in it has a handle of MPI (%p), and a restart has another one: keep it in a variable of MPI's type",
                         reinterpret_cast<void*>(value));
  if (may_be_number && tells_numbers(p) && is_number(static_cast<intptr_t>(value))) return Result();
  return Result::error("a pointer in it has the value %p, which is no address, and which a restart would not bring back: the memory may be not "
                       "what the program has converted malloc's result to%s",
                       reinterpret_cast<void*>(value),
                       p.has_foreign_addresses ? "" : "; or it is an address of another process, which came with other data: if the program never follows it, link with -felc-foreign-addresses");
}

uint64_t behind_zeros(const uint8_t* bytes, uint64_t at, uint64_t end, uint64_t size) {
  const uint64_t begin = at;
  for (uint64_t word = 0; at + sizeof word <= end; at += sizeof word) {
    memcpy(&word, bytes + at, sizeof word);
    if (word != 0) break;
  }
  while (at < end && bytes[at] == 0) ++at;
  return at - begin < size ? begin : at - size + 1;
}

bool may_mix_handles(const Process& p) { return p.handles_leave != nullptr || ELC_Program_mixed_handles != 0; }

// Of an MPI that has addresses as handles.
bool is_handle_of_mpi(const Process& p, uintptr_t value) {
  return p.codec != nullptr && p.codec->macro_of != nullptr && may_be_address(p, value) && p.codec->macro_of(p.codec->context, &value, sizeof value) != nullptr;
}

// Whether that place in elements of a type is no number of theirs: a struct begins there, as those do that an allocator links by a word of
// them, or it is a pointer, or bytes.
static bool is_no_number(const format::TypeTable& types, TypeId type, uint64_t offset) {
  const format::TypeInfo& info = types.info(type);
  offset = info.size == 0 ? 0 : offset % info.size;
  if (info.kind != format::kStruct) return info.has_handle || info.kind == format::kByte || info.kind == format::kUnion;
  if (offset == 0) return true;
  for (const format::FieldInfo& field : types.fields(type)) {
    const uint64_t size = types.accessor(field.type) != nullptr ? 0 : types.size_of(field.type);
    if (offset >= field.offset && offset - field.offset < field.count * size) return is_no_number(types, field.type, offset - field.offset);
  }
  return false;
}

// What programs count is less than so much, and so is the lower half of few addresses.
static bool may_be_counted(uintptr_t address) {
  constexpr uint32_t kMostCounted = uint32_t{1} << 28;
  return static_cast<uint32_t>(address) < kMostCounted;
}

// Two ints side by side, such as a number and the next one, are an address by chance where there is much memory, and much memory is numbers.
static bool leads_by_halves(const Process& p, uintptr_t address, const format::PointerLeaf& leaf) {
  if (!may_be_counted(address)) return true;
  const Block* const block = leaf.position == 0 ? nullptr : p.blocks->block_of(reinterpret_cast<const void*>(address));
  return block == nullptr || is_no_number(p.types, block->type, address - reinterpret_cast<uintptr_t>(block->address));
}

// Whether there is an address of something that a restart has elsewhere.
static bool holds_address(const Process& p, uintptr_t value, Of of) {
  if (is_handle_of_mpi(p, value)) return true;
  const format::PointerLeaf leaf = p.blocks->encode(reinterpret_cast<const void*>(value));
  bool leads = leaf.block != format::kWildBlock;
  if (leads && kIsNarrow) leads = of == Of::kBytes || leaf.position == 0;
  else if (leads && of == Of::kSmallerNumbers) leads = leads_by_halves(p, value, leaf);
  return leads || is_stream(p, value) || (p.moved.size() > 0 && p.moved.find(value) != nullptr) || p.function_by_address.find(value) != nullptr;
}

// Systems lay the memory of all processes alike, but for a distance of so many bits.
constexpr unsigned kBitsOfDistance = 40;

// Whether it may be an address of another process that runs this program.
static bool may_be_told(const Process& p, uintptr_t value) {
  if (p.has_foreign_addresses || value < kLeast || value > kMostAddress) return false;
  if (kIsNarrow) return value >= ELC_Program_lowest;
  if (place_of(value) == 0) return value >= p.executable && value < p.low_end;
  const auto high = [](uintptr_t address) { return address >> (kBitsOfDistance / 2) >> (kBitsOfDistance / 2); };
  return std::any_of(p.places.begin(), p.places.end(), [&](uintptr_t place) { return place != 0 && high(value) + 1 - high(place << 18 << 18) <= 2; });
}

// Where something begins is a multiple of a word, but for short texts; and two numbers side by side are rather that.
static void note_told(const Process& p, Told* told, uintptr_t value, Of of, bool asks_holder) {
  const bool exact = kIsNarrow || place_of(value) == 0 || of != Of::kNumber;
  const bool is_none = (exact && value % sizeof value != 0) || (!kIsNarrow && of == Of::kSmallerNumbers && may_be_counted(value));
  if (!is_none && may_be_told(p, value)) told->note({value, exact, asks_holder});
}

// The same, and of what may be one of another process that is noted.
static bool holds_address(const Process& p, const uint8_t* at, Of of, Told* told) {
  uintptr_t value;
  memcpy(&value, at, sizeof value);
  if (value < kLeast || value > kMostAddress) return false;
  if (holds_address(p, value, of)) return true;
  if (told != nullptr) note_told(p, told, value, of, false);
  return false;
}

void note_told(Process& p, uintptr_t value) {
  if (p.is_prepared) note_told(p, &p.told, value, Of::kNumber, false);
}

std::span<const ToldNumber> told_numbers() { return process().told.all(); }

void note_told(std::span<const ToldNumber> of_copy) {
  Told& told = process().told;
  told.clear();
  for (const ToldNumber& number : of_copy) told.note(number);
}

void note_told(const uint8_t* bytes, uint64_t size) {
  Process& p = process();
  if (!p.is_prepared) return;
  for (uint64_t at = 0; at + sizeof(uintptr_t) <= size; ++at) {
    at = behind_zeros(bytes, at, size, sizeof(uintptr_t));
    if (at + sizeof(uintptr_t) > size) break;
    uintptr_t value;
    memcpy(&value, bytes + at, sizeof value);
    note_told(p, &p.told, value, Of::kBytes, true);
  }
}

// In a block, as the heap is now, or in what was one not long ago; in variables, or on the stack; or that of a function, a stream, an object of MPI.
static bool is_here(Process& p, const ToldNumber& number) {
  const uintptr_t address = number.address;
  const bool exact = number.exact;
  const void* const place = reinterpret_cast<const void*>(address);
  if (p.heap.find(place) != nullptr || p.gone.has(place) || p.function_by_address.find(address) != nullptr || is_stream(p, address)) return true;
  if (is_handle_of_mpi(p, address) || (!exact && address - p.executable < p.executable_end - p.executable)) return true;
  if (const Block* const block = p.heap.holder(place)) {
    const uint64_t offset = address - reinterpret_cast<uintptr_t>(block->address);
    return !exact || (p.types.info(block->type).kind == format::kStruct && is_no_number(p.types, block->type, offset));
  }
  for (const Region& global : p.globals) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(global.address);
    if (exact ? address == begin : address - begin < global.size) return true;
  }
  const int here = 0;
  return address >= reinterpret_cast<uintptr_t>(&here) && address < p.stack_end;
}

Result check_told(const ToldNumber& number, int holder) {
  Process& p = process();
  const Alone alone;
  if (!p.is_prepared || p.has_foreign_addresses) return Result();
  const AsInLine in_line;
  if (!is_here(p, number)) return Result();
  const void* const place = reinterpret_cast<const void*>(number.address);
  const Block* const block = p.heap.holder(place);
  const Text what = block == nullptr ? Text::copy("something") : Text::format("%llu bytes", static_cast<unsigned long long>(block->size));
  return Result::error("rank %d has the address of %s of this one (%s%s%p) as a number or among bytes; a restart has others: link with -felc-foreign-addresses if nobody follows it", holder,
                       what.c_str(), block == nullptr ? "" : p.types.info(block->type).name, block == nullptr ? "" : ", ", place);
}

bool leads_to_another(const Process& p, uintptr_t value, TypeId type) {
  const Block* const block = p.blocks->block_of(reinterpret_cast<const void*>(value));
  const bool is_of_kind = block != nullptr && (are_of(p, block->type, type) || are_of(p, type, block->type));
  return is_of_kind && (value - reinterpret_cast<uintptr_t>(block->address)) % p.types.size_of(type) == 0;
}

// The program takes what is there for something else, too.
static bool has_parts_in(const Process& p, const uint8_t* begin, uint64_t size) {
  bool has = false;
  if (size < p.parts.size())
    for (uint64_t i = 0; i < size && !has; ++i) has = p.parts.find(reinterpret_cast<uintptr_t>(begin + i)) != nullptr;
  else
    p.parts.each([&](uint64_t address, const Part&) { has = has || address - reinterpret_cast<uintptr_t>(begin) < size; });
  return has;
}

// What a line has as numbers or bytes may hold no addresses: a restart would leave those of the run of the line.
Result check_addresses(const Process& p, const uint8_t* begin, uint64_t size, TypeId type, Told* told) {
  constexpr uint64_t kWord = sizeof(uintptr_t);
  const format::TypeInfo& info = p.types.info(type);
  if (!p.is_prepared || info.size == 0 || may_be_any(info) || (info.has_handle && info.kind != format::kStruct)) return Result();
  uint64_t found = size;
  const bool is_bytes = info.kind == format::kByte || info.size == 1;
  if (info.kind == format::kStruct || info.kind == format::kUnion) {
    for (uint64_t element = 0; element + kWord <= size && found == size; element += info.size) {
      for (uint64_t from = 0; from < info.size && found == size; from += Starts::kWindow) {
        for (const Starts::Start& start : starts->of(p.types, type, begin + element, from)) {
          const uint64_t at = element + from + start.at;
          if (at + kWord > size || !holds_address(p, begin + at, start.of, told)) continue;
          // A struct that was copied has in its gaps what the stack had there: with the number before it that seldom is where another of its kind
          // begins, as with links in free objects.
          if (!start.has_gap || has_parts_in(p, begin, size) || leads_to_another(p, word_at(begin + at), type)) found = std::min(found, at);
        }
      }
    }
  } else {
    // On a machine of narrow addresses those of numbers are where numbers of that size are.
    // On others one may stand behind an int, as where they are packed.
    const uint64_t step = is_bytes ? 1 : kIsNarrow ? kWord : std::min<uint64_t>(info.size, kWord / 2);
    const uint64_t skip = is_bytes || !kIsNarrow ? 0 : (kWord - reinterpret_cast<uintptr_t>(begin) % kWord) % kWord;
    for (uint64_t at = skip; at + kWord <= size && found == size; at += step) {
      if (is_bytes) at = behind_zeros(begin, at, size, kWord);
      if (at + kWord <= size && holds_address(p, begin + at, is_bytes ? Of::kBytes : info.size >= kWord && at % kWord == 0 ? Of::kNumber : Of::kSmallerNumbers, told)) found = at;
    }
  }
  if (found == size) return Result();
  uintptr_t value;
  memcpy(&value, begin + found, kWord);
  if (is_number_in_union(value))
    return Result::error("memory of %llu bytes, which is taken for %s, holds a number in a union that is an address, too (%p, at byte %llu); a restart has others, and could not tell the one from the "
                         "other: set the union to 0 before a number of less bytes than a pointer comes into it, or say by #pragma elc union which member is in use",
                         static_cast<unsigned long long>(size), info.kind == format::kByte ? "bytes" : info.name, reinterpret_cast<const void*>(value), static_cast<unsigned long long>(found));
  return Result::error("memory of %llu bytes, which is taken for %s, holds an address%s (%p, at byte %llu), which a restart would "
                       "not set; %smemory from malloc is what its result is converted to a pointer to",
                       static_cast<unsigned long long>(size), info.kind == format::kByte ? "bytes" : info.name, is_stream(p, value) ? " of a stream" : is_handle_of_mpi(p, value) ? ", a handle of MPI" : "",
                       reinterpret_cast<const void*>(value), static_cast<unsigned long long>(found),
                       info.kind == format::kStruct && info.has_byte && !is_name_of_parts(info.name) ? "of a union #pragma elc union says which member is in use; " : "");
}

}  // namespace elc::state
