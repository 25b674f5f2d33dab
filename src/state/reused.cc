// Memory that holds something else than what its block was made for: cells that are used again, arenas with a struct in front, rows behind
// the pointers to them.
#include <string.h>

#include <algorithm>
#include <utility>

#include "base/sort.h"
#include "elc_program.h"
#include "state/asked.h"
#include "state/blocks.h"
#include "state/process.h"

namespace elc::state {

void find_doubtful(const format::TypeTable& types, TypeId type, uint64_t offset, Vector<Doubtful>* all) {
  const format::TypeInfo& info = types.info(type);
  bool has_bits = false;
  for (size_t i = 0; info.kind == format::kStruct && i < types.fields(type).size(); ++i) {
    const format::FieldInfo& field = types.fields(type)[i];
    has_bits = has_bits || types.accessor(field.type) != nullptr;
    for (uint64_t k = 0; k < field.count && types.accessor(field.type) == nullptr; ++k) {
      const size_t before = all->size();
      find_doubtful(types, field.type, offset + field.offset + k * types.size_of(field.type), all);
      if (all->size() == before) break;  // nor in the others
    }
  }
  const bool is_handle = format::is_handle(info.kind) && !format::has_position(info.kind) && info.kind != format::kMpiStatus;
  if (has_bits || is_handle || info.kind == format::kMpiStatus || info.kind == format::kBool || format::part_of_complex(info.kind) == format::kLdouble) all->push_back({type, offset});
}

void set_bit_fields(const format::TypeTable& types, TypeId type, uint8_t* element) {
  for (const format::FieldInfo& field : types.fields(type))
    if (const format::Accessor* const how = types.accessor(field.type)) how->set(element, -1);
}

namespace {

// Bit-fields, in the bytes in which they are: beside them there is nothing.
bool keeps_bits(const format::TypeTable& types, TypeId type, const uint8_t* at) {
  constexpr size_t kMost = 256;
  const size_t size = static_cast<size_t>(types.size_of(type));
  uint8_t small[2 * kMost] = {};
  Vector<uint8_t> large;
  if (size > kMost) large.resize(2 * size);
  uint8_t *const used = size > kMost ? large.data() : small, *const copy = used + size;
  set_bit_fields(types, type, used);
  for (const format::FieldInfo& field : types.fields(type))
    if (const format::Accessor* const how = types.accessor(field.type)) how->set(copy, how->get(at));
  for (size_t i = 0; i < size; ++i)
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
  if (info.kind == format::kStruct) return keeps_bits(p.types, type, at);
  if (info.kind == format::kBool) return *at <= 1;
  if (info.kind == format::kMpiStatus) return check_addresses(p, at, info.size, format::kByte).ok();  // and is_of_statuses()
  if (format::part_of_complex(info.kind) == format::kLdouble) return is_zero_behind_value(info, at);
  const bool is_integer = info.kind >= format::kMpiComm && info.size == sizeof(int) && p.codec != nullptr && p.codec->may_be != nullptr;
  if (is_integer) return p.codec->may_be(p.codec->context, info.kind, at);
  if (info.size != sizeof(uintptr_t)) return true;
  uintptr_t value;
  memcpy(&value, at, sizeof value);
  if (value == 0 || (info.kind >= format::kMpiComm && is_mark(static_cast<intptr_t>(value)))) return true;
  return may_be_address(p, value) && p.blocks->encode(reinterpret_cast<const void*>(value)).block == format::kWildBlock;  // none of the program's memory
}

// Whether a restart would bring back what is there.
bool is_status(const Process& p, const uint8_t* at, size_t size) {
  constexpr size_t kMost = 64;
  uint8_t copy[kMost];
  format::StatusLeaf leaf = {};
  const HandleCodec* const codec = p.codec;
  if (codec == nullptr || codec->encode_status == nullptr || codec->decode_status == nullptr || size > kMost) return true;
  return codec->encode_status(codec->context, at, &leaf).ok() && codec->decode_status(codec->context, leaf, copy).ok() && memcmp(at, copy, size) == 0;
}

// Of a status that MPI has set some parts may be anything, as of a message that was sent: what has addresses beside it is no bytes.
bool is_of_statuses(const Process& p, const Block& block, const Vector<Doubtful>& all, const uint8_t* element) {
  for (const Doubtful& one : all) {
    const format::TypeInfo& info = p.types.info(one.type);
    if (info.kind == format::kMpiStatus && !is_status(p, element + one.offset, static_cast<size_t>(info.size))) return !check_addresses(p, block.address, block.size, format::kByte).ok();
  }
  return true;
}

}  // namespace

bool is_of_type(const Process& p, const Vector<Doubtful>& all, const uint8_t* element) {
  for (const Doubtful& one : all)
    if (!is_of_type(p, one.type, element + one.offset)) return false;
  return true;
}

namespace {

// How many words the block begins with that lead somewhere, if one of them leads into it (the first that is anything, where the block
// has been bytes) and none behind them leads anywhere; else 0.
uint64_t rows_before_data(const Process& p, const Block& block) {
  constexpr uint64_t kMostUnused = 1024, kMostLookedAt = 65536;  // words in front of the first, and of the data: a line looks at all of it
  const uint64_t count = block.size / sizeof(uintptr_t);
  const auto word = [&block](uint64_t i) { return word_at(block.address + i * sizeof(uintptr_t)); };
  const auto leads_into = [&](uintptr_t value) { return value - reinterpret_cast<uintptr_t>(block.address) < block.size; };
  const auto leads = [&](uintptr_t value) { return !is_number_in_union(value) && (value == 0 || leads_into(value) || leads_somewhere(p, value)); };
  bool is_of_rows = false;
  for (uint64_t i = 0; i < count && !is_of_rows; ++i) {
    is_of_rows = leads_into(word(i));
    if (block.type == format::kByte && (word(i) != 0 || i == kMostUnused)) break;
  }
  uint64_t rows = 0;
  while (is_of_rows && rows < count && leads(word(rows))) ++rows;
  for (uint64_t i = rows; i < std::min(count, rows + kMostLookedAt); ++i)
    if (may_be_address(p, word(i)) && leads(word(i))) return 0;
  return rows;
}

bool is_no_pointer(const Process& p, uintptr_t value) {
  return value != 0 && !is_mark(static_cast<intptr_t>(value)) && !may_be_address(p, value) && !leads_somewhere(p, value);
}

// `bufs[i] = (void **)(A + k)` of doubles, for what takes any memory: they stay numbers. Which they are is asked in each line.
bool may_be_pointers(const Process& p, const Block& block) {
  for (uint64_t i = 0; i < block.size / sizeof(uintptr_t); ++i)
    if (is_no_pointer(p, word_at(block.address + i * sizeof(uintptr_t)))) return false;
  return true;
}

void settle_numbers(const Process& p, Block& block) {
  if (may_be_pointers(p, block)) block.type = format::kPointer, block.guessed = false;
  else if (block.type == format::kPointer) block.type = format::kByte;
}

}  // namespace

static bool may_have_word(const Block& block) {
  const size_t size = static_cast<size_t>(block.size);
  return !block.has_word && (size == 0 || (block.type == format::kPointer && size % sizeof(uintptr_t) == 0)) &&
         size + sizeof(uintptr_t) <= asked_for(size) && is_written_behind(block);
}

// A matrix of no rows has a pointer to the first in most programs, in the word that malloc has for nothing, too, or behind its one pointer
// that nobody uses (nrutil.c of Numerical Recipes).
static void find_words_behind(Process& p) {
  for (size_t i = 0; i < p.heap.slots().size(); ++i) {
    if (p.heap.slots()[i].id < p.first_prepared || !may_have_word(p.heap.slots()[i]) || !p.heap.make_room()) continue;
    Block& block = p.heap.slots()[i];
    const bool is_nothing = block.size == 0;
    uintptr_t value;
    memcpy(&value, block.address + block.size, sizeof value);
    p.heap.moved(&block, block.address, block.size + sizeof value);
    block.has_word = true;
    if (!is_nothing) continue;
    block.type = may_be_address(p, value) ? format::kPointer : format::kByte;
    if (block.type == format::kByte) ELC_Program_mixed_handles = 1;  // of what type it is nobody says
  }
}

// They are bytes from now on, or in parts what can be of their type, until the program converts a pointer to them again.
void find_reused(Process& p) {
  if (!p.is_prepared) return;
  find_words_behind(p);
  struct OfType {
    bool is_known = false;
    Vector<Doubtful> all;
  };
  Vector<OfType> of_types;
  of_types.resize(static_cast<size_t>(p.types.end()));
  for (Block& block : p.heap.slots()) {
    OfType& of_type = of_types[static_cast<size_t>(block.type)];
    if (!std::exchange(of_type.is_known, true)) find_doubtful(p.types, block.type, 0, &of_type.all);
    const Vector<Doubtful>& all = of_type.all;
    const uint64_t size = p.types.size_of(block.type), count = all.empty() ? 0 : elements_of(p, block);
    for (uint64_t i = 0; i < count; ++i) {
      const uint8_t* const element = block.address + i * size;
      if (is_of_type(p, all, element) && is_of_statuses(p, block, all, element)) continue;
      if (has_handle_of_mpi(p.types, block.type)) ELC_Program_mixed_handles = 1;
      if (find_own_parts(p, block)) break;
      block.type = format::kByte;
      block.guessed = block.is_open = block.is_doubted = false;
      break;
    }
    const bool may_change = block.type == format::kPointer || block.guessed || (block.type == format::kByte && !block.stays_bytes);
    if (block.has_numbers && may_change) settle_numbers(p, block);
    if (!begins_as_array(p, block)) find_own_parts(p, block);
  }
  sort(p.without_parts, [](const Block& a, const Block& b) { return a.id < b.id; });
}

uint64_t rows_in(const Process& process, const Block& block) {
  const uint64_t all = block.size / sizeof(uintptr_t);
  const uint64_t* const rows = process.rows.find(reinterpret_cast<uintptr_t>(block.address));
  return rows == nullptr ? all : std::min(*rows, all);  // none: it was moved since the line
}

// `int **rows = malloc(n * sizeof *rows + n * m * sizeof **rows)`: pointers, and behind them what they lead to, which is bytes. And
// `((void **)p)[-1] = block`, where a program aligns memory itself.
void find_rows(Process& p) {
  if (!p.is_prepared) return;
  for (Block& block : p.heap.slots()) {
    const bool is_bytes = block.type == format::kByte && !block.stays_bytes && !block.guessed;
    if (block.type != format::kPointer && !is_bytes) continue;
    const uint64_t rows = rows_before_data(p, block);
    if (rows == 0 || !p.rows.make_room()) continue;
    p.rows.at(reinterpret_cast<uintptr_t>(block.address)) = rows;
    block.is_open = rows * sizeof(uintptr_t) < block.size;
    if (!is_bytes) continue;
    block.type = format::kPointer;
    block.guessed = true;
  }
}

}  // namespace elc::state
