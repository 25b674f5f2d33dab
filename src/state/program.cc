// Programs that a tool has prepared as a whole (elc_program.h): their variables, their functions, their memory.
#include "elc_program.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "base/compiler.h"
#include "base/sort.h"
#include "state/asked.h"
#include "state/blocks.h"
#include "state/library.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

// Elements of one type that is no struct's, side by side.
struct Run {
  TypeId type;
  uint64_t offset, count;
};

void add_runs(const format::TypeTable& types, TypeId type, uint64_t count, uint64_t offset, Vector<Run>* runs) {
  const format::TypeInfo& info = types.info(type);
  if (info.kind == format::kStruct && types.accessor(type) == nullptr) {
    for (uint64_t i = 0; i < count; ++i)
      for (const format::FieldInfo& field : types.fields(type)) add_runs(types, field.type, field.count, offset + i * info.size + field.offset, runs);
    return;
  }
  if (!runs->empty() && runs->back().type == type && runs->back().offset + runs->back().count * info.size == offset) {
    runs->back().count += count;
  } else {
    runs->push_back({type, offset, count});
  }
}

// Whether what the one says of its bytes, which are not more than those of the other, that says, too.
bool begins_as(const ELC_Program_variable& shorter, const ELC_Program_variable& longer) {
  if (*shorter.type == *longer.type) return true;
  const format::TypeTable& types = process().types;
  Vector<Run> some, all;
  add_runs(types, *shorter.type, shorter.count, 0, &some);
  add_runs(types, *longer.type, longer.count, 0, &all);
  for (size_t i = 0; i < some.size(); ++i) {
    if (i >= all.size() || some[i].type != all[i].type || some[i].offset != all[i].offset) return false;
    if (some[i].count != all[i].count && !(i + 1 == some.size() && some[i].count < all[i].count)) return false;
  }
  return true;
}

uint64_t size_of(const ELC_Program_variable& v) { return process().types.size_of(*v.type) * v.count; }

// Files may define one variable together (tentative definitions of C, as -fcommon links them; the common blocks of what f2c has
// made), each as it sees it: the longest is what there is.
Vector<const ELC_Program_variable*> find_variables(const ELC_Program& program) {
  Vector<const ELC_Program_variable*> all;
  HashMap<size_t> known;  // by address: its place in `all`, and 1
  for (size_t i = 0; i < program.module_count; ++i) {
    const ELC_Program_module* const module = program.modules[i];
    for (size_t k = 0; module != nullptr && k < module->variable_count; ++k) {
      const ELC_Program_variable* const added = &module->variables[k];
      size_t& place = known.at(reinterpret_cast<uintptr_t>(added->address));
      if (place == 0 || strcmp(all[place - 1]->name, added->name) != 0) {
        all.push_back(added);
        place = all.size();
        continue;
      }
      const ELC_Program_variable*& first = all[place - 1];
      const bool is_longer = size_of(*added) > size_of(*first);
      if (is_longer ? begins_as(*first, *added) : begins_as(*added, *first)) {
        if (is_longer) first = added;
        continue;
      }
      say("files of the program define '%s' as variables of different types: no line is taken, as nothing says what it is", added->name);
      process().unregistered = Text::format("'%s', which files define as different types,", added->name);
    }
  }
  return all;
}

void register_variables(const ELC_Program& program) {
  for (const ELC_Program_variable* const v : find_variables(program)) {
    const TypeId target = v->target == nullptr ? TypeId{format::kNone} : *v->target;
    const Result added = add_region(v->name, v->address, *v->type, v->count, target, {}, v->is_constant != 0, v->is_constant == 0);
    if (added.ok()) continue;
    outcome(added);
    process().unregistered = Text::format("'%s'", v->name);
  }
}

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
  if (info.kind != format::kStruct || has_union(p.types, type)) return 0;
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

void make_types_with_gaps(Process& p, TypeId end) {
  for (TypeId type = ELC_FIRST_MADE_TYPE; type < end; ++type)
    if (const TypeId twin = with_gaps(p, type)) {
      p.types_with_gaps.at(static_cast<uint64_t>(type)) = twin;
      if (const TypeId* const tail = p.tails.find(static_cast<uint64_t>(type))) p.tails.at(static_cast<uint64_t>(twin)) = *tail;
    }
}

// What no memory of a program lies below, and above: most numbers are told from addresses by that.
constexpr uintptr_t kLeast = kLeastAddress, kMostAddress = sizeof(uintptr_t) == 8 ? ~uintptr_t{0} >> 16 : ~uintptr_t{0};

// A copy that is part of lines.
char* copy_text(const char* text, size_t length) {
  char* const copy = static_cast<char*>(ELC_new(ELC_CHAR, length + 1));
  if (copy != nullptr) memcpy(copy, text, length);
  return copy;
}

}  // namespace

constinit pthread_mutex_t Alone::lock = PTHREAD_MUTEX_INITIALIZER;

bool is_prepared() { return process().is_prepared; }

// Also in a shared library, for which the program has not spoken.
bool may_have_long_doubles() {
  const Process& p = process();
  for (TypeId type = format::kFirstMade; type < p.types.end(); ++type)
    for (const format::FieldInfo& field : p.types.fields(type))
      if (field.type >= 0 && format::part_of_complex(p.types.info(field.type).kind) == format::kLdouble) return true;
  return p.has_long_doubles;
}

// The upper bits of an address: those of all that a program has are few.
static uintptr_t place_of(uintptr_t address) { return sizeof address == 8 ? address >> 18 >> 18 : 0; }

// Below it there is no memory: systems lay an executable, or the libraries where the stack has no limit, and all else behind the first.
static uintptr_t lowest_place(const Process& p) {
  const uintptr_t lowest = std::min({p.executable, reinterpret_cast<uintptr_t>(&strlen), reinterpret_cast<uintptr_t>(&p)});
  return place_of(lowest) == 0 ? lowest : place_of(lowest) << 18 << 18;
}

// Nobody can lay static variables elsewhere: a restart is one in which they lie as they did.
static void note_large_variables(const Process& p, const ELC_Program& program) {
  static ELC_Program_number where = {"where static variables lie between multiples of what addresses are rounded to", "a variable that is as large", 0, 1, nullptr};
  const auto to = static_cast<uintptr_t>(program.aligns_large);
  const auto is_large = [&](const Region& region) { return region.size >= to; };
  if (to == 0 || std::none_of(p.globals.begin(), p.globals.end(), is_large)) return;
  where.value = static_cast<int>(reinterpret_cast<uintptr_t>(program.executable) % to);
  add_number(&where);
}

char** begin_program(const ELC_Program& program, bool takes_lines, int argc, char** argv) {
  Process& p = process();
  follows_memory = takes_lines;
  p.is_prepared = true;
  p.first_prepared = p.heap.next_id();
  note_first_thread();
  p.aligns = program.aligns != 0;
  p.apart = p.heap.size() == 0 ? static_cast<size_t>(program.apart) : 0;  // else a constructor of the program has made some that are not
  ask_otherwise();
  if (program.aligns > 1 || program.aligns_large > 0) align_all(program.aligns > 1 ? static_cast<size_t>(program.aligns) : 0, static_cast<size_t>(program.aligns_large));
  for (size_t i = 0; i < program.number_count; ++i) add_number(&program.numbers[i]);
  for (size_t i = 0; i < program.module_count; ++i) {
    const ELC_Program_module* module = program.modules[i];
    if (module == nullptr) continue;
    module->make_types();
    for (size_t k = 0; k < module->function_count; ++k)
      if (module->functions[k].function != nullptr && ELC_Register_function(module->functions[k].name, module->functions[k].function) != ELC_OK)
        p.unregistered = Text::format("the function %s", module->functions[k].name);  // NULL: a weak one that nobody defines
  }
  register_variables(program);
  make_types_with_gaps(p, p.types.end());
  note_large_variables(p, program);
  if (program.draws_numbers != 0) ELC_Register_random();
  p.has_threads = program.in_parallel != nullptr;
  if (!p.has_threads && follows_memory) the_lone_process = &p;
  p.has_foreign_addresses = program.has_foreign_addresses != 0;
  p.has_long_doubles = program.has_long_doubles != 0;
  p.makes_pointers = program.makes_pointers != 0;
  if (program.executable != nullptr && program.executable_end != nullptr) {
    p.executable = reinterpret_cast<uintptr_t>(program.executable);
    p.executable_end = reinterpret_cast<uintptr_t>(program.executable_end);
    ELC_Program_lowest = static_cast<unsigned long>(lowest_place(p));
  }
  p.settings = program.settings;
  if (p.settings != nullptr) p.settings(0);
  register_library(program);
  register_sources();
  register_unions();
  if (p.streams.has_changed_early()) ELC_Program_unfit("a function before main() that writes or removes files: a restart would do so once more (call it in main())");
  if (argv == nullptr) return nullptr;
  const size_t count = argc < 0 ? 0 : static_cast<size_t>(argc);
  char** const copy = static_cast<char**>(ELC_new(ELC_POINTER, count + 1));
  for (size_t i = 0; copy != nullptr && i < count && argv[i] != nullptr; ++i) copy[i] = copy_text(argv[i], strlen(argv[i]));
  return copy == nullptr ? argv : copy;
}

// Where addresses have 32 bits, half of a double, or four characters, may be one by chance, and of many some are: they are not looked at
// there; integers are taken for one that leads to the beginning of something.
static constexpr bool kIsNarrow = sizeof(uintptr_t) == 4;
static bool may_be_any(const format::TypeInfo& info) {
  return kIsNarrow && (format::is_floating(format::part_of_complex(info.kind)) || (info.size == 1 && info.kind != format::kByte));
}

static bool is_gap(const format::FieldInfo& field) { return field.type == format::kByte && strncmp(field.name, "gap_at_", 7) == 0; }

// Where in elements of a type a program may have put an address that is none to the type: where a number begins. Large elements are looked
// at a window at a time, as what is allocated here is not given back while a copy of the process saves (base/memory.h).
class Starts {
 public:
  static constexpr uint64_t kWindow = 65536;

  struct Start {
    uint32_t at;   // in the window
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
      if (is) all_.push_back({static_cast<uint32_t>(at), gap > kWord / 2 && gap < kWord});
    }
    return all_;
  }
  void forget() { type_ = type_of_bits_ = format::kNone; }

 private:
  static constexpr uint64_t kWord = sizeof(uintptr_t);
  static constexpr uint8_t kBegins = 1, kTaken = 2, kGap = 4;

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
    } else if (info.has_handle || may_be_any(info)) {
      set(offset, info.size, kTaken);
    } else {
      const uint64_t step = std::min<uint64_t>(info.size, kIsNarrow ? kWord : kWord / 2);
      if (!kIsNarrow) return set(offset, info.size, kBegins, step);
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

// What the C library makes of a block that is to have no size: nothing, or another block.
static bool realloc_frees() {
  static int frees = -1;
  const volatile size_t none = 0;
  if (frees >= 0) return frees != 0;
  void* const made = realloc(malloc(1), none);
  frees = made == nullptr ? 1 : 0;
  free(made);
  return frees != 0;
}

// The members that one of both has are those with which the other begins, as structs with a common tag do.
static bool begins_with_members(const format::TypeTable& types, TypeId whole, TypeId first) {
  if (types.info(whole).kind != format::kStruct || types.info(first).kind != format::kStruct) return false;
  const auto of_whole = types.fields(whole), of_first = types.fields(first);
  for (size_t i = 0; i < of_first.size(); ++i)
    if (i >= of_whole.size() || of_whole[i].type != of_first[i].type || of_whole[i].offset != of_first[i].offset || of_whole[i].count != of_first[i].count) return false;
  return true;
}

// Whether the elements of a type begin with one of another, and have more. `is_one`: of a block that is one element.
static bool begins_with(const format::TypeTable& types, TypeId whole, TypeId first, bool is_one) {
  if (whole < format::kFirstMade || first < format::kFirstMade || types.size_of(whole) <= types.size_of(first)) return false;
  if (is_one && begins_with_members(types, whole, first)) return true;
  TypeId type = whole;
  while (type != first && type >= format::kFirstMade && types.info(type).kind == format::kStruct) type = types.fields(type)[0].type;
  return type == first;
}

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

void find_gaps(Process& p) {
  if (!p.is_prepared) return;
  for (Block& block : p.heap.slots()) {
    const TypeId* const twin = p.types_with_gaps.find(static_cast<uint64_t>(block.type));
    if (twin == nullptr) continue;
    const uint64_t size = p.types.size_of(block.type), count = elements_of(p, block);
    for (uint64_t i = 0; i < count; ++i) {
      if (gaps_are_zero(p, block.address + i * size, *twin)) continue;
      block.type = *twin;
      break;
    }
  }
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

bool in_different_blocks(const void* a, const void* b) {
  const auto holds = [](const Block& block, const void* address) {
    return static_cast<const uint8_t*>(address) >= block.address && static_cast<const uint8_t*>(address) - block.address < static_cast<ptrdiff_t>(block.size);
  };
  Process& p = process();
  const Alone alone;
  p.heap.arrange();
  for (const Block& block : p.heap.slots())
    if (holds(block, a) != holds(block, b)) return true;
  return false;
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

// Whether there is an address of something that a restart has elsewhere.
static bool holds_address(const Process& p, const uint8_t* at, bool is_bytes) {
  uintptr_t value;
  memcpy(&value, at, sizeof value);
  if (value < kLeast || value > kMostAddress) return false;
  if (is_handle_of_mpi(p, value)) return true;
  const format::PointerLeaf leaf = p.blocks->encode(reinterpret_cast<const void*>(value));
  const bool leads = leaf.block != format::kWildBlock && (!kIsNarrow || is_bytes || leaf.position == 0);
  return leads || is_stream(p, value) || (p.moved.size() > 0 && p.moved.find(value) != nullptr) || p.function_by_address.find(value) != nullptr;
}

// The program takes what is there for something else, too.
static bool has_parts_in(const Process& p, const uint8_t* begin, uint64_t size) {
  bool has = false;
  p.parts.each([&](uint64_t address, const Part&) { has = has || address - reinterpret_cast<uintptr_t>(begin) < size; });
  return has;
}

// What a line has as numbers or bytes may hold no addresses: a restart would leave those of the run of the line.
Result check_addresses(const Process& p, const uint8_t* begin, uint64_t size, TypeId type) {
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
          if (at + kWord > size || !holds_address(p, begin + at, false)) continue;
          // A struct that was copied has in its gaps what the stack had there.
          if (!start.has_gap || has_parts_in(p, begin, size)) found = std::min(found, at);
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
      if (at + kWord <= size && holds_address(p, begin + at, is_bytes)) found = at;
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

using elc::state::Block;
using elc::state::Process;
using elc::state::process;

namespace {

void say_type_of(Process& p, Block* block, void* memory, ELC_Type type, bool is_open) {
  if (block == nullptr) {
    if (type != ELC_BYTE) elc::state::note_part(p, memory, type);
    if (type == ELC_POINTER) p.tables[p.next_table++ % Process::kMostTables] = memory;
    return;
  }
  if (block->guessed) elc::state::forget_parts_of(p, *block);
  if (block->size > 0 && block->size < p.types.size_of(type)) {
    if (block->type == type) block->type = ELC_BYTE;  // it has become smaller
    type = elc::state::beginning_in(p, type, block->size);
    is_open = false;
    if (type == elc::format::kNone) return;
  }
  if (is_open && block->type == type) block->is_open = true;  // a restart does not know it of one without more
  const uint64_t element = p.types.size_of(type);
  if (block->type != ELC_BYTE && !block->guessed && !block->is_doubted) {
    if (block->type == type) return;
    if (elc::state::is_beginning_of(p, block->type, type)) {  // it has become larger
      block->type = ELC_BYTE;
      return say_type_of(p, block, memory, type, is_open);
    }
    if (p.types.info(type).has_handle) elc::state::note_part(p, memory, type);  // what it was made for first may be an allocator's own
    if (elc::state::begins_with(p.types, type, block->type, block->size == element) && block->size % element == 0) block->type = type;
    return;
  }
  if (element == 0 || block->size < element) return;
  block->is_open = is_open;
  const bool is_power = (element & (element - 1)) == 0;  // of two: a division costs more than all the rest
  if (const uint64_t rest = is_power ? block->size & (element - 1) : block->size % element; !is_open && rest != 0 && (!p.aligns || rest >= elc::state::alignment_of(block->size))) {
    elc::state::note_part(p, memory, type);  // it begins with that
    return;
  }
  block->type = type;
  block->guessed = block->stays_bytes = block->is_doubted = false;
  if (is_power && !is_open) p.said[static_cast<size_t>(type) % Process::kSaid] = {type, element - 1};
}

ELC_NOINLINE void* say_type(void* memory, ELC_Type type) {
  if (memory == nullptr) return memory;
  const elc::state::Alone alone;
  Process& p = process();
  Block* const block = p.heap.find(memory);
  const ELC_Type own = type & ~(ELC_PROGRAM_OPEN | ELC_PROGRAM_HANDLES);
  say_type_of(p, block, memory, own, (type & ELC_PROGRAM_OPEN) != 0);
  if ((type & ELC_PROGRAM_HANDLES) != 0 && (block == nullptr || block->type != own)) ELC_Program_mixed_handles = 1;
  return memory;
}

// Of a block that begins there, if one does.
struct Rows {
  bool are = false;
  bool is_newest = false;  // it was made last
  size_t count = 0;        // pointers in it
};

Rows rows_at(const void* memory) {
  const elc::state::Alone alone;
  Process& p = process();
  const Block* const block = memory == nullptr ? nullptr : p.heap.find(memory);
  if (block == nullptr) return {};
  return {true, block->id + 1 == p.heap.next_id(), block->type == ELC_POINTER ? static_cast<size_t>(block->size) / sizeof(void*) : 0};
}

void* row_of(const void* memory, size_t i) {
  void* row;
  memcpy(&row, static_cast<const char*>(memory) + i * sizeof row, sizeof row);
  return row;
}

// Whether the call has just made them: else it would take long to look at all of them each time.
bool are_new(const void* memory, int levels) {
  const Rows rows = rows_at(memory);
  if (rows.is_newest || levels == 1 || rows.count == 0) return rows.is_newest;
  return are_new(row_of(memory, 0), levels - 1) || are_new(row_of(memory, rows.count - 1), levels - 1);
}

void say_rows(void* memory, int levels, ELC_Type type) {
  ELC_Program_as(memory, levels > 1 ? ELC_Type{ELC_POINTER} : type);
  const size_t count = levels > 1 ? rows_at(memory).count : 0;
  for (size_t i = 0; i < count; ++i) {
    void* const row = row_of(memory, i);
    if (rows_at(row).are) {
      say_rows(row, levels - 1, type);
    } else if (levels == 2) {  // what made it has taken its beginning, in a block, for a pointer to anything
      const elc::state::Alone alone;
      process().parts.remove(reinterpret_cast<uintptr_t>(row));
    }
  }
}

ELC_NOINLINE void* malloc_alone(size_t size) { return elc::state::follows_memory ? ELC_Program_calloc(1, size) : malloc(size); }

ELC_NOINLINE void free_alone(void* memory) {
  if (!elc::state::follows_memory) return free(memory);
  const elc::state::Alone alone;
  ELC_free(memory);
}

}  // namespace

extern "C" {

// What a program calls all the time comes first: one thread, memory that it has just got, of a type as before.
ELC_EXPORT void* ELC_Program_as(void* memory, ELC_Type type) {
  Process* const p = elc::state::the_lone_process;
  if (p == nullptr && !elc::state::follows_memory) return memory;
  Block* const block = p == nullptr ? nullptr : p->heap.find_newest(memory);
  if (block == nullptr || block->type != ELC_BYTE || block->size == 0) return say_type(memory, type);
  const Process::Said& said = p->said[static_cast<size_t>(type) % Process::kSaid];
  if (said.type != type || (block->size & said.rest) != 0) return say_type(memory, type);
  block->type = type;
  block->guessed = block->stays_bytes = block->is_open = block->is_doubted = false;
  return memory;
}

ELC_EXPORT void* ELC_Program_as_rows(void* memory, int levels, ELC_Type type) {
  ELC_Program_as(memory, ELC_POINTER);
  if (are_new(memory, levels)) say_rows(memory, levels, type);
  return memory;
}

ELC_EXPORT int ELC_Program_mixed_handles;

ELC_EXPORT void ELC_Program_mixes_handles(const char* where, int anywhere) {
  Process& p = process();
  if (p.handles_leave == nullptr || anywhere != 0) p.handles_leave = where;
  p.handles_go_anywhere |= anywhere != 0;
}

ELC_EXPORT void ELC_Program_tail(ELC_Type type, ELC_Type tail) {
  Process& p = process();
  if (p.types.info(tail).has_handle) p.tails.at(static_cast<uint64_t>(type)) = tail;
}

ELC_EXPORT void* ELC_Program_moved(void* from, void* to) {
  const elc::state::Alone alone;
  elc::state::note_moved(process(), reinterpret_cast<uintptr_t>(from), reinterpret_cast<uintptr_t>(to));
  return to;
}

ELC_EXPORT void* ELC_Program_moved_here(void* from, void* to, const struct ELC_Frame_function* function) {
  const elc::state::Alone alone;
  elc::state::note_moved(process(), reinterpret_cast<uintptr_t>(from), reinterpret_cast<uintptr_t>(to), function);
  return to;
}

ELC_EXPORT void* ELC_Program_moved_on(void* from, void* to) {
  const elc::state::Alone alone;
  Process& p = process();
  const uintptr_t before = reinterpret_cast<uintptr_t>(from), behind = reinterpret_cast<uintptr_t>(to);
  if (!elc::state::follows_memory) return to;
  if (behind < before || (p.moved.size() > 0 && p.moved.find(before) != nullptr)) elc::state::note_moved(p, before, behind);
  return to;
}

ELC_EXPORT void (*ELC_Program_target(void))(void) {
  const Process& p = process();
  const size_t depth = p.frames.size();
  if (depth >= p.saved_frames.size()) elc::state::give_up(elc::state::misplaced());
  const elc::Text& name = p.saved_frames[depth].function;
  for (const elc::state::Function& f : p.functions)
    if (f.name.view() == name.view()) return f.address;
  elc::state::give_up(elc::Result::error("the line was taken in %s(), which was called by a pointer, and the program has no such function "
                                         "whose address is taken: restart the program that made the line",
                                         name.c_str()));
}

// What a program has not written yet is the same in all runs, and no address of what was there before.
ELC_EXPORT void* ELC_Program_malloc(size_t size) {
  Process* const p = elc::state::the_lone_process;
  if (p == nullptr || !p->heap.has_room()) [[unlikely]] return malloc_alone(size);
  void* const memory = elc::state::zeroed(size);
  if (memory != nullptr) [[likely]] p->heap.add(memory, size, ELC_BYTE);
  return memory;
}

ELC_EXPORT void* ELC_Program_calloc(size_t count, size_t size) {
  if (!elc::state::follows_memory) return calloc(count, size);
  const elc::state::Alone alone;
  return ELC_calloc(count, size);
}

ELC_EXPORT void ELC_Program_free(void* memory) {
  Process* const p = elc::state::the_lone_process;
  if (memory == nullptr || p == nullptr) return free_alone(memory);
  p->heap.remove(memory);
  p->gone.note(memory);
  free(memory);
}

ELC_EXPORT void* ELC_Program_realloc(void* old, size_t size) {
  if (!elc::state::follows_memory) return realloc(old, size);
  const elc::state::Alone alone;
  const Block* const block = old == nullptr ? nullptr : process().heap.find(old);
  if (block == nullptr) return old == nullptr ? ELC_calloc(1, size) : ELC_realloc(old, size);
  if (size == 0 && elc::state::realloc_frees()) return ELC_free(old), nullptr;
  const size_t before = static_cast<size_t>(block->size);
  char* const memory = static_cast<char*>(ELC_realloc(old, size));
  if (memory != nullptr && size > before) memset(memory + before, 0, size - before);
  return memory;
}

ELC_EXPORT int ELC_Program_posix_memalign(void** block, size_t alignment, size_t size) {
  if (!elc::state::follows_memory) return posix_memalign(block, alignment, size);
  const elc::state::Alone alone;
  elc::state::Heap& heap = process().heap;
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  const size_t least = size == 0 ? 1 : size;
  const size_t whole = alignment <= alignof(max_align_t) ? least : (least + alignment - 1) / alignment * alignment;  // less is malloc's
  void* memory = nullptr;
  if (whole < size || !heap.make_room()) return ENOMEM;
  const int code = posix_memalign(&memory, elc::state::aligned_for(alignment, whole), elc::state::asked_for(whole));
  if (code != 0) return code;
  heap.add(memory, whole, ELC_BYTE);
  memset(memory, 0, elc::state::asked_for(whole));
  *block = memory;
  return 0;
}

ELC_EXPORT void* ELC_Program_aligned_alloc(size_t alignment, size_t size) {
  void* memory = nullptr;
  // Where malloc aligns by more than is asked for, posix_memalign wants to be asked for that much.
  const int code = ELC_Program_posix_memalign(&memory, alignment < sizeof(void*) && alignment != 0 ? sizeof(void*) : alignment, size);
  if (code != 0) errno = code;
  return memory;
}

ELC_EXPORT void* ELC_Program_mm_malloc(size_t size, size_t alignment) { return ELC_Program_aligned_alloc(alignment, size); }

ELC_EXPORT void* ELC_Program_valloc(size_t size) { return ELC_Program_aligned_alloc(static_cast<size_t>(sysconf(_SC_PAGESIZE)), size); }

// The blocks of a function are a list: of pairs of pointers, to the next pair and to the block.
ELC_EXPORT void* (*ELC_Program_alloca(void** of_function))(size_t size) {
  static void** list;
  list = of_function;
  return [](size_t size) {
    void** const pair = static_cast<void**>(ELC_new(ELC_POINTER, 2));
    void* const block = ELC_Program_malloc(size == 0 ? 1 : size);
    if (pair == nullptr || block == nullptr) elc::state::give_up(elc::no_memory(size, "the memory of alloca()"));
    pair[0] = *list;
    pair[1] = block;
    *list = pair;
    return block;
  };
}

ELC_EXPORT void ELC_Program_leave(void** of_function) {
  while (*of_function != nullptr) {
    void** const pair = static_cast<void**>(*of_function);
    *of_function = pair[0];
    ELC_free(pair[1]);
    ELC_free(pair);
  }
}

ELC_EXPORT void* ELC_Program_array(void* before, int dimensions, const size_t* extents, size_t element, ELC_Type type) {
  ELC_free(before);
  if (extents == nullptr) return nullptr;
  size_t count = 1;
  for (int i = 0; i < dimensions; ++i) {
    if (extents[i] != 0 && count > PTRDIFF_MAX / element / extents[i]) elc::state::give_up(elc::no_memory(count, "an array of variable length"));
    count *= extents[i];
  }
  // Programs that write a little behind it find room on most stacks.
  constexpr size_t kRoom = 64;
  const size_t more = element <= kRoom ? kRoom / element : count == 0 ? 1 : 0;
  void* const block = ELC_calloc(count + more, element);
  if (block == nullptr) elc::state::give_up(elc::no_memory(count * element, "an array of variable length"));
  if (type != ELC_NO_TYPE) ELC_Program_as(block, type);
  return block;
}

ELC_EXPORT char* ELC_Program_strdup(const char* text) {
  const elc::state::Alone alone;
  return elc::state::copy_text(text, strlen(text));
}

ELC_EXPORT char* ELC_Program_strndup(const char* text, size_t most) {
  const elc::state::Alone alone;
  return elc::state::copy_text(text, strnlen(text, most));
}
}
