// Datatypes in a line: written, read, and made again.
#include <algorithm>

#include "base/memory.h"
#include "base/sort.h"
#include "mpi/datatype/datatype_table.h"
#include "mpi/runtime/error_handlers.h"
#include "mpi/runtime/inside.h"
#include "state/state.h"

namespace elc::mpi {
namespace {

using namespace format;

MemoryRules rules_here() {
  MemoryRules rules;
  for (uint32_t k = kBool; k <= kByte; ++k) {
    rules.width[k] = static_cast<uint32_t>(memory_width(static_cast<Kind>(k)));
    rules.alignment[k] = memory_alignment(static_cast<Kind>(k));
  }
  return rules;
}

bool operator==(const MemoryRules& a, const MemoryRules& b) { return memcmp(&a, &b, sizeof a) == 0; }

// Whether structs are laid out there as they are here. Where nothing else is another thing, it is a long double: on each kind of processor.
bool are_like_here(const MemoryRules& there) {
  MemoryRules here = rules_here();
  if (here == there) return true;
  for (const Kind kind : {kLdouble, kLdoubleComplex}) here.width[kind] = there.width[kind], here.alignment[kind] = there.alignment[kind];
  return here == there && !state::may_have_long_doubles();
}

// A type as the line has it, and what becomes of it here.
struct Saved : SavedDatatype {
  Arguments arguments;  // the integers; the addresses for this machine once the type is made
  Datatype* made = nullptr;
};

struct SavedTable {
  uint64_t next = kFirstDerived;
  MemoryRules rules;
  Vector<Saved> types;  // ascending by number

  Saved* find(uint64_t number) {
    Saved* at = std::lower_bound(types.begin(), types.end(), number,
                                 [](const Saved& s, uint64_t n) { return s.number < n; });
    return at != types.end() && at->number == number ? at : nullptr;
  }
};

// ---- Displacements that are addresses ----

// No address, and no reason for a look, on any system.
constexpr uint64_t kNear = 64 * 1024;

const char* const kConstructorNames[] = {"",
                                         "MPI_Type_dup",
                                         "MPI_Type_contiguous",
                                         "MPI_Type_vector",
                                         "MPI_Type_create_hvector",
                                         "MPI_Type_indexed",
                                         "MPI_Type_create_hindexed",
                                         "MPI_Type_create_indexed_block",
                                         "MPI_Type_create_hindexed_block",
                                         "MPI_Type_create_struct",
                                         "MPI_Type_create_subarray",
                                         "MPI_Type_create_darray",
                                         "MPI_Type_create_resized"};
static_assert(std::size(kConstructorNames) == static_cast<size_t>(Constructor::kEnd));

uint64_t magnitude(MPI_Aint value) {
  const auto bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  return value < 0 ? 0 - bits : bits;
}

bool in_registered_data(MPI_Aint address) {
  if (magnitude(address) < kNear) return false;
  const format::PointerLeaf place = state::locate(reinterpret_cast<const void*>(address));
  return place.block != format::kWildBlock && place.block != format::kNullBlock;
}

// Above all numbers that a program might have as something else: there addresses need not have been asked for.
constexpr uint64_t kFar = uint64_t{1} << 32;

bool is_address(MPI_Aint value) { return in_registered_data(value) && (magnitude(value) >= kFar || was_asked_for(value)); }

// Where there is something: at a displacement `count` elements of a type. Bounds and strides are distances only.
struct Used {
  MPI_Aint at;
  uint64_t count;
  const Datatype* type;
};

Vector<Used> used_displacements(const Datatype& type) {
  const Vector<int>& i = type.arguments.integers;
  Vector<Used> used;
  for (size_t k = 0; k < type.arguments.addresses.size(); ++k) {
    const Datatype* const old = type.olds[type.constructor == Constructor::kStruct ? k : 0];
    uint64_t count = 1;
    if (type.constructor == Constructor::kHvector) count = i[0] > 1 ? static_cast<uint64_t>(i[1]) : 0;
    if (type.constructor == Constructor::kHindexed || type.constructor == Constructor::kStruct) count = static_cast<uint64_t>(i[k + 1]);
    if (type.constructor == Constructor::kHindexedBlock) count = static_cast<uint64_t>(i[1]);
    if (count > 0 && old->size > 0) used.push_back({type.arguments.addresses[k], count, old});
  }
  return used;
}

// Those whose displacements may be addresses, for MPI_BOTTOM. Those of others are strides and bounds.
bool may_have_places(Constructor constructor) {
  return constructor == Constructor::kHindexed || constructor == Constructor::kHindexedBlock || constructor == Constructor::kStruct;
}

// All of it in one variable or block, which has another place in a restart as a whole.
bool is_in_one(const Used& used) {
  MPI_Aint lower = 0, bytes = 0, first = 0, extent = 0;
  if (!in_registered_data(used.at)) return false;
  PMPI_Type_get_true_extent(used.type->handle, &lower, &bytes);
  PMPI_Type_get_extent(used.type->handle, &first, &extent);
  const uint64_t more = used.count - 1;
  if (bytes <= 0 || extent < 0 || (extent > 0 && more > (uint64_t{1} << 56) / static_cast<uint64_t>(extent))) return false;
  return state::is_registered(static_cast<uintptr_t>(used.at) + static_cast<uintptr_t>(lower),
                              static_cast<uint64_t>(bytes) + more * static_cast<uint64_t>(extent));
}

const Used* farthest_of(const Vector<Used>& used) {
  const Used* farthest = nullptr;
  for (const Used& one : used)
    if (farthest == nullptr || magnitude(one.at) > magnitude(farthest->at)) farthest = &one;
  return farthest;
}

// What a line has as places. Those of the set-up every run makes for itself.
bool is_absolute(const Datatype& type) {
  if (type.of_setup || !may_have_places(type.constructor)) return false;
  const Vector<Used> used = used_displacements(type);
  const Used* const farthest = farthest_of(used);
  if (farthest == nullptr || magnitude(farthest->at) <= std::max(kNear, state::largest_block())) return false;  // a distance
  return std::all_of(used.begin(), used.end(), [](const Used& one) { return is_address(one.at) && is_in_one(one); });
}

// Whose displacements are the distances of variables, or blocks, from one of them: a restart has these elsewhere.
bool has_origin(const Datatype& type) {
  if (type.of_setup || type.origin == 0 || !may_have_places(type.constructor)) return false;
  const uint64_t from = state::locate(reinterpret_cast<const void*>(type.origin)).block;
  bool are_known = in_registered_data(static_cast<MPI_Aint>(type.origin)), differ = false;
  for (const Used& one : used_displacements(type)) {
    const auto place = static_cast<MPI_Aint>(type.origin + static_cast<uintptr_t>(one.at));
    are_known = are_known && is_in_one({place, one.count, one.type});
    differ = differ || state::locate(reinterpret_cast<const void*>(place)).block != from;
  }
  return are_known && differ;
}

bool depends_on_places(const Datatype& type) {
  return is_absolute(type) || has_origin(type) || std::any_of(type.olds.begin(), type.olds.end(), [](const Datatype* old) { return depends_on_places(*old); });
}

Result check_displacements(const Datatype& type) {
  if (has_origin(type)) {
    if (!may_be_within_one(type)) return Result();
    return Result::error("an MPI datatype made by %s has displacements that may be distances in one variable, or of two: lines can be taken when it has been freed",
                         kConstructorNames[static_cast<uint32_t>(type.constructor)]);
  }
  if (type.spans_blocks)
    return Result::error("an MPI datatype made by %s has the distance of two blocks of memory among its displacements, which is another in a "
                         "restart: lines can be taken when it has been freed", kConstructorNames[static_cast<uint32_t>(type.constructor)]);
  const Vector<Used> used = used_displacements(type);
  const Used* const farthest = farthest_of(used);
  if (farthest == nullptr || magnitude(farthest->at) < kNear || is_absolute(type)) return Result();
  const bool may_be_address = may_have_places(type.constructor) && std::all_of(used.begin(), used.end(), [](const Used& one) { return in_registered_data(one.at); });
  if (!may_be_address && magnitude(farthest->at) <= state::largest_block()) return Result();
  return Result::error(
      "an MPI datatype made by %s has the displacement %lld, which is neither a distance within one registered variable nor an address "
      "of one: another one, or the distance of two variables, is another in a restart: make such a datatype before ELC_Restore or "
      "the first ELC_ENTER, as every run does, or free it before the line",
      kConstructorNames[static_cast<uint32_t>(type.constructor)], static_cast<long long>(farthest->at));
}

// ---- Writing ----

Result save(const Datatype& type, Encoder& out) {
  const Arguments& arguments = type.arguments;
  SavedDatatype saved;
  if (!saved.integers.make_room(arguments.integers.size()) || !saved.addresses.make_room(arguments.addresses.size()) ||
      !saved.olds.make_room(type.olds.size()))
    return no_memory(arguments.integers.size() * sizeof(int) + arguments.addresses.size() * sizeof(int64_t),
                     "an MPI datatype in a line");
  MPI_Aint lower = 0, extent = 0;
  if (!depends_on_places(type)) PMPI_Type_get_extent(type.handle, &lower, &extent);
  saved.number = type.number;
  saved.constructor = type.constructor;
  saved.committed = type.committed;
  saved.freed = type.owned == 0;
  saved.lower = lower;
  saved.extent = extent;
  saved.integers.append(arguments.integers.data(), arguments.integers.size());
  for (const Datatype* old : type.olds) saved.olds.push_back(old->number);
  const bool absolute = is_absolute(type);
  saved.has_origin = !absolute && has_origin(type);
  const bool placed = absolute || saved.has_origin;
  if (placed && !saved.places.make_room(arguments.addresses.size() + 1))
    return no_memory(arguments.addresses.size() * sizeof(PointerLeaf), "an MPI datatype in a line");
  for (const MPI_Aint value : arguments.addresses) {
    saved.addresses.push_back(placed ? 0 : value);
    const auto place = static_cast<MPI_Aint>((absolute ? 0 : type.origin) + static_cast<uintptr_t>(value));
    if (placed) saved.places.push_back(is_address(place) ? state::locate(reinterpret_cast<const void*>(place)) : PointerLeaf{kWildBlock, 0});
  }
  if (saved.has_origin) saved.places.push_back(state::locate(reinterpret_cast<const void*>(type.origin)));
  saved.encode(out);
  return Result();
}

// ---- Reading ----

// What a predefined number stands for here; nullptr for no predefined type or none that can stand for it.
Datatype* predefined(uint64_t number) {
  if (number >= kFirstDerived) return nullptr;
  Datatype* type = datatypes().numbered(number);
  return type != nullptr ? type : stand_in(number);
}

// Sizes and depths of the types checked so far.
struct Checked {
  Vector<uint64_t> sizes;
  Vector<uint32_t> depths;
};

Result check(SavedTable* table, size_t index, Checked* checked) {
  const Saved& type = table->types[index];
  Vector<uint64_t> sizes;
  uint32_t depth = 0;
  for (const uint64_t number : type.olds) {
    const Saved* old = table->find(number);
    const Datatype* named = predefined(number);
    if (old == nullptr && named == nullptr && predefined_name(number) != nullptr)
      return Result::error(
          "the line's MPI datatype %llu is made of %s: this MPI has no such type, and none of the "
          "same representation",
          static_cast<unsigned long long>(type.number), predefined_name(number));
    if (named == nullptr && (old == nullptr || number >= type.number))
      return damaged_datatypes("an old type that is not there");
    const size_t at = old == nullptr ? 0 : static_cast<size_t>(old - table->types.begin());
    sizes.push_back(named != nullptr ? named->size : checked->sizes[at]);
    depth = std::max(depth, named != nullptr ? 0 : checked->depths[at]);
  }
  const char* why = nullptr;
  if (!consistent(type.constructor, type.arguments, &why)) return damaged_datatypes(why);
  if (!type.places.empty() && !may_have_places(type.constructor)) return damaged_datatypes("places of a type that has none");
  for (const int64_t address : type.addresses)
    if (type.places.empty() && static_cast<MPI_Aint>(address) != address)
      return Result::error(
          "the line's MPI datatype %llu has the displacement %lld, which this machine's addresses do "
          "not reach",
          static_cast<unsigned long long>(type.number), static_cast<long long>(address));
  uint64_t size = 0;
  const std::span<const uint64_t> span(sizes.data(), sizes.size());
  depth = depth_of(type.constructor, type.arguments, depth);
  if (depth > kMaxTypeDepth || !measure(type.constructor, type.arguments, span, &size))
    return damaged_datatypes("a type that is too large");
  checked->sizes.push_back(size);
  checked->depths.push_back(depth);
  return Result();
}

Result decode(Decoder& in, SavedTable* table) {
  size_t count = 0;
  ELC_TRY(decode_datatypes(in, &table->next, &table->rules, &count));
  uint64_t before = kFirstDerived - 1;
  for (size_t i = 0; i < count; ++i) {
    Saved type;
    ELC_TRY(SavedDatatype::decode(in, &type));
    if (type.number <= before || type.number >= table->next) return damaged_datatypes("numbers that are not in order");
    before = type.number;
    type.arguments.integers = static_cast<Vector<int>&&>(type.integers);
    type.arguments.addresses.resize(type.addresses.size());
    type.arguments.olds = type.olds.size();
    table->types.push_back(static_cast<Saved&&>(type));
  }
  Checked checked;
  for (size_t i = 0; i < count; ++i) ELC_TRY(check(table, i, &checked));
  return Result();
}

// ---- Displacements in bytes ----

// The extent of an old type on the machine that wrote the line.
int64_t extent_there(SavedTable* table, uint64_t number) {
  if (const Saved* old = table->find(number)) return old->extent;
  const Scalars& s = predefined(number)->scalars;
  const int64_t first = int64_t{s.count} * table->rules.width[s.kind];
  if (s.second == kNone) return first;
  const uint32_t aligned = std::max(table->rules.alignment[s.second], 1u);
  const uint32_t whole = std::max(table->rules.alignment[s.kind], aligned);
  const int64_t second = (first + aligned - 1) / aligned * aligned + table->rules.width[s.second];
  return (second + whole - 1) / whole * whole;
}

int64_t extent_here(const Datatype& type) {
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(type.handle, &lower, &extent);
  return extent;
}

// Where the next element may begin; it fails, and stays so, where the numbers get too large to be true.
class Place {
 public:
  void align(uint32_t unit) { add((unit - at_ % unit) % unit, 1); }
  // The size may be negative, not how many times.
  void add(int64_t size, int64_t times) {
    ok_ = ok_ && (times == 0 || (size <= (INT64_MAX - at_) / times && size >= -(at_ / times)));
    if (ok_) at_ += size * times;
  }
  bool is(int64_t at) const { return ok_ && at_ == at; }
  MPI_Aint at() const { return static_cast<MPI_Aint>(at_); }
  bool ok() const { return ok_ && at() == at_; }

 private:
  int64_t at_ = 0;
  bool ok_ = true;
};

// Displacements of a machine with other memory rules are known here only where there is no gap in which
// something could lie that the type does not name: then the elements follow each other here too, as a
// compiler would lay them.
bool carry_over(SavedTable* table, Saved* type, std::span<Datatype* const> olds) {
  const Vector<int>& i = type->arguments.integers;
  const Vector<int64_t>& from = type->addresses;
  Vector<MPI_Aint>& to = type->arguments.addresses;
  Place there, here;
  if (type->constructor == Constructor::kResized || type->constructor == Constructor::kHvector) {
    const bool resized = type->constructor == Constructor::kResized;
    there.add(extent_there(table, type->olds[0]), resized ? 1 : i[1]);
    here.add(extent_here(*olds[0]), resized ? 1 : i[1]);
    if (resized) here.align(olds[0]->alignment);
    if (!here.ok() || (resized && from[0] != 0)) return false;
    to.back() = here.at();
    return there.is(from.back()) || (!resized && i[0] < 2);
  }
  for (size_t k = 0; k < from.size(); ++k) {
    const size_t old = type->constructor == Constructor::kStruct ? k : 0;
    const int length = type->constructor == Constructor::kHindexedBlock ? i[1] : i[k + 1];
    here.align(olds[old]->alignment);
    if (!there.is(from[k]) || !here.ok()) return false;
    to[k] = here.at();
    there.add(extent_there(table, type->olds[old]), length);
    here.add(extent_here(*olds[old]), length);
  }
  return type->constructor != Constructor::kStruct || there.is(type->extent);  // nor a gap at the end
}

Result set_addresses(SavedTable* table, Saved* type, std::span<Datatype* const> olds) {
  if (type->addresses.empty()) return Result();
  if (!type->places.empty() || are_like_here(table->rules)) {  // place_datatypes() has the addresses
    for (size_t k = 0; k < type->addresses.size(); ++k)
      type->arguments.addresses[k] = static_cast<MPI_Aint>(type->addresses[k]);
    return Result();
  }
  if (carry_over(table, type, olds)) return Result();
  return Result::error(
      "the line's MPI datatype %llu has displacements in bytes that mean something else on this "
      "machine, whose structs are laid out differently: make the datatype in the set-up, before "
      "ELC_Restore, so that it need not be made from the line",
      static_cast<unsigned long long>(type->number));
}

// ---- Making ----

// Types of the line that are made anew when its data have their memory, in their order.
struct Unplaced {
  Datatype* type = nullptr;
  Vector<PointerLeaf> places;  // empty: made of another one
  bool has_origin = false;     // the last of them
};
Vector<Unplaced>& unplaced() {
  static Vector<Unplaced>& all = *make<Vector<Unplaced>>();
  return all;
}

Result place(const Unplaced& one) {
  Datatype& type = *one.type;
  const size_t displacements = one.places.size() - (one.has_origin ? 1 : 0);
  if (one.has_origin) type.origin = reinterpret_cast<uintptr_t>(state::address_of(one.places[displacements]));
  for (size_t k = one.places.size(); k-- > 0;) {
    void* const address = state::address_of(one.places[k]);
    if (address == nullptr && one.places[k].block != format::kWildBlock)
      return Result::error("the line's MPI datatype %llu has an address of data that this program has not got, or with another type",
                           static_cast<unsigned long long>(type.number));
    if (k < displacements) type.arguments.addresses[k] = static_cast<MPI_Aint>(reinterpret_cast<uintptr_t>(address) - (one.has_origin ? type.origin : 0));
    if (address != nullptr) note_address(address);
  }
  Vector<MPI_Datatype> handles;
  for (const Datatype* old : type.olds) handles.push_back(old->handle);
  MPI_Datatype handle = MPI_DATATYPE_NULL, provisional = type.handle;
  InsideMpi inside;
  int result = make_type(type.constructor, type.arguments, std::span<const MPI_Datatype>(handles.data(), handles.size()), &handle);
  if (result == MPI_SUCCESS && type.committed) result = PMPI_Type_commit(&handle);
  if (result != MPI_SUCCESS)
    return Result::error("this MPI does not make the line's MPI datatype %llu (error %d)", static_cast<unsigned long long>(type.number), result);
  datatypes().by_handle.remove(handle_key(provisional));
  PMPI_Type_free(&provisional);
  type.handle = handle;
  datatypes().by_handle.at(handle_key(handle)) = &type;
  forget_layouts(&type);
  return Result();
}

template <class T>
bool equal(const Vector<T>& a, const Vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool same(const Datatype& type, const Saved& saved, const Vector<Datatype*>& olds) {
  return type.constructor == saved.constructor && equal(type.arguments.integers, saved.arguments.integers) &&
         type.arguments.addresses.size() == saved.addresses.size() && equal(type.olds, olds);
}

void renumber(Datatype* type) {
  DatatypeTable& table = datatypes();
  table.by_number.remove(type->number);
  type->number = table.next++;
  table.by_number.at(type->number) = type;
}

Arguments copy_of(const Arguments& from) {
  Arguments to;
  to.integers.append(from.integers.data(), from.integers.size());
  to.addresses.append(from.addresses.data(), from.addresses.size());
  to.olds = from.olds;
  return to;
}

Result make_again(SavedTable* table, Saved* saved, const Vector<Datatype*>& olds) {
  const std::span<Datatype* const> span(olds.data(), olds.size());
  ELC_TRY(set_addresses(table, saved, span));
  Vector<MPI_Datatype> handles;
  for (const Datatype* old : olds) handles.push_back(old->handle);
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  const std::span<const MPI_Datatype> types(handles.data(), handles.size());
  InsideMpi inside;
  int result = make_type(saved->constructor, saved->arguments, types, &handle);
  if (result == MPI_SUCCESS && saved->committed) result = PMPI_Type_commit(&handle);
  if (result != MPI_SUCCESS)
    return Result::error("this MPI does not make the line's MPI datatype %llu (error %d)",
                         static_cast<unsigned long long>(saved->number), result);
  saved->made = add_datatype(handle, saved->number, saved->constructor, copy_of(saved->arguments), span);
  if (saved->made == nullptr) return damaged_datatypes("a type that is too large");
  saved->made->owned = saved->freed ? 0 : 1;
  saved->made->committed = saved->committed;
  bool is_unplaced = !saved->places.empty();
  for (const Unplaced& other : unplaced())
    for (const Datatype* old : olds) is_unplaced = is_unplaced || old == other.type;
  if (is_unplaced) {
    Unplaced& one = unplaced().push_back({});
    one.type = saved->made;
    one.places = static_cast<Vector<PointerLeaf>&&>(saved->places);
    one.has_origin = saved->has_origin;
  }
  return Result();
}

// Finds the type among those of this run, or makes it. `fresh` is set if it was made.
Result restore(SavedTable* table, Saved* saved, bool* fresh) {
  Vector<Datatype*> olds;
  for (const uint64_t number : saved->olds) {
    const Saved* old = table->find(number);
    olds.push_back(old != nullptr ? old->made : predefined(number));
  }
  Datatype* existing = datatypes().numbered(saved->number);
  *fresh = existing == nullptr || !same(*existing, *saved, olds);
  if (*fresh) {
    if (existing != nullptr) renumber(existing);
    return make_again(table, saved, olds);
  }
  saved->made = existing;
  if (!saved->committed || existing->committed) return Result();
  existing->committed = true;
  PMPI_Type_commit(&existing->handle);
  return Result();
}

}  // namespace

Result is_address(intptr_t value, bool* is) {
  *is = is_address(static_cast<MPI_Aint>(value)) || was_asked_for(static_cast<MPI_Aint>(value));  // also of memory that is gone
  if (*is || value == 0) return Result();
  if (in_registered_data(value))
    return Result::error("an MPI_Aint that may be an address, or the number %lld: lines can be taken when it is another", static_cast<long long>(value));
  if (is_between_blocks(value))
    return Result::error("an MPI_Aint is %lld, the distance of two blocks of memory, which is another in a restart: lines can be taken when "
                         "it is another", static_cast<long long>(value));
  return Result();
}

Result check_displacements() {
  Result result;
  datatypes().by_number.each([&result](uint64_t number, Datatype* type) {
    if (number >= kFirstDerived && !type->of_setup && result.ok()) result = check_displacements(*type);
  });
  return result;
}

Result save_datatypes(Encoder& out) {
  Vector<Datatype*> types;
  datatypes().by_number.each([&types](uint64_t number, Datatype* type) {
    if (number >= kFirstDerived) types.push_back(type);
  });
  sort(types, [](const Datatype* a, const Datatype* b) { return a->number < b->number; });
  encode_datatypes(out, datatypes().next, rules_here(), types.size());
  for (const Datatype* type : types) ELC_TRY(save(*type, out));
  return Result();
}

Result restore_datatypes(Decoder& in) {
  SavedTable table;
  ELC_TRY(decode(in, &table));
  datatypes().next = std::max(datatypes().next, table.next);
  // Which communicator's handler is asked about datatypes differs between versions of MPI.
  const ErrorsReturned in_world(MPI_COMM_WORLD), in_self(MPI_COMM_SELF);
  Vector<Datatype*> made;
  for (Saved& saved : table.types) {
    bool fresh = false;
    Result status = restore(&table, &saved, &fresh);
    if (status.ok() && fresh) made.push_back(saved.made);
    if (status.ok()) continue;
    for (size_t i = made.size(); i-- > 0;) {
      made[i]->owned = 0;
      drop_if_unused(made[i]);
    }
    return status;
  }
  return Result();
}

Result place_datatypes() {
  const ErrorsReturned in_world(MPI_COMM_WORLD), in_self(MPI_COMM_SELF);
  for (const Unplaced& one : unplaced()) ELC_TRY(place(one));
  unplaced().clear();
  return Result();
}

}  // namespace elc::mpi
