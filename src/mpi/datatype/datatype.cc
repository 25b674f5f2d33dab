// The table of datatypes: records, numbers, and how long each is kept.
#include "mpi/datatype/datatype.h"

#include <algorithm>

#include "base/memory.h"
#include "mpi/datatype/datatype_table.h"
#include "mpi/runtime/inside.h"
#include "state/state.h"

namespace elc::mpi {

int inside_mpi = 0;

namespace {

bool recording = true;

// As MPI_Type_get_envelope calls a constructor; kNamed for one that is not known.
Constructor constructor_of(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_DUP:
      return Constructor::kDup;
    case MPI_COMBINER_CONTIGUOUS:
      return Constructor::kContiguous;
    case MPI_COMBINER_VECTOR:
      return Constructor::kVector;
    case MPI_COMBINER_HVECTOR:
      return Constructor::kHvector;
    case MPI_COMBINER_INDEXED:
      return Constructor::kIndexed;
    case MPI_COMBINER_HINDEXED:
      return Constructor::kHindexed;
    case MPI_COMBINER_INDEXED_BLOCK:
      return Constructor::kIndexedBlock;
#if ELC_HAVE_TYPE_CREATE_HINDEXED_BLOCK
    case MPI_COMBINER_HINDEXED_BLOCK:
      return Constructor::kHindexedBlock;
#endif
    case MPI_COMBINER_STRUCT:
      return Constructor::kStruct;
    case MPI_COMBINER_SUBARRAY:
      return Constructor::kSubarray;
    case MPI_COMBINER_DARRAY:
      return Constructor::kDarray;
    case MPI_COMBINER_RESIZED:
      return Constructor::kResized;
    default:
      return Constructor::kNamed;
  }
}

// Learns a type from MPI. MPI_Type_get_contents gives handles that are to be freed again: where an MPI gives those of
// the old types, and the table has these, at once; others, as of copies, become the record's.
Datatype* learn(MPI_Datatype type, uint32_t depth) {
  int integers = 0, addresses = 0, olds = 0, combiner = 0;
  if (type == MPI_DATATYPE_NULL || depth > kMaxTypeDepth) return nullptr;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &olds, &combiner) != MPI_SUCCESS) return nullptr;
  const Constructor constructor = constructor_of(combiner);
  if (constructor == Constructor::kNamed) return nullptr;
  Arguments arguments;
  Vector<MPI_Datatype> handles;
  if (!arguments.integers.make_room(static_cast<size_t>(integers)) ||
      !arguments.addresses.make_room(static_cast<size_t>(addresses)) || !handles.make_room(static_cast<size_t>(olds)))
    return nullptr;
  arguments.integers.resize(static_cast<size_t>(integers));
  arguments.addresses.resize(static_cast<size_t>(addresses));
  handles.resize(static_cast<size_t>(olds));
  arguments.olds = handles.size();
  if (PMPI_Type_get_contents(type, integers, addresses, olds, arguments.integers.data(),
                             arguments.addresses.data(), handles.data()) != MPI_SUCCESS)
    return nullptr;
  portable_constants(constructor, &arguments);

  Vector<Datatype*> records;
  bool all = true;
  for (MPI_Datatype handle : handles) {
    Datatype* old = datatypes().find(handle);
    if (old != nullptr && old->constructor != Constructor::kNamed) {
      InsideMpi inside;
      PMPI_Type_free(&handle);
    }
    if (old == nullptr) old = learn(handle, depth + 1);
    all = all && old != nullptr;
    if (old != nullptr) records.push_back(old);
  }
  Datatype* made = nullptr;
  const std::span<Datatype* const> span(records.data(), records.size());
  if (all)
    made = add_datatype(type, datatypes().next, constructor, static_cast<Arguments&&>(arguments), span);
  if (made == nullptr) {
    for (Datatype* old : records) drop_if_unused(old);
    return nullptr;
  }
  // The program has a handle of the type itself. Whether that is committed cannot be asked, but it is used.
  made->owned = depth == 0;
  made->committed = depth == 0;
  return made;
}

// MPI gives a handle again whose type was freed by a way that is not wrapped (from Fortran, say).
void forget_stale(DatatypeTable* table, MPI_Datatype handle) {
  Datatype* stale = table->find(handle);
  if (stale == nullptr) return;
  table->by_handle.remove(handle_key(handle));
  table->by_number.remove(stale->number);  // the record itself may be old to others
}

}  // namespace

void record_datatypes(bool on) { recording = on; }

bool recording_datatypes() { return recording; }

Datatype* DatatypeTable::find(MPI_Datatype type) const {
  Datatype* const* found = by_handle.find(handle_key(type));
  return found == nullptr ? nullptr : *found;
}

Datatype* DatatypeTable::numbered(uint64_t number) const {
  Datatype* const* found = by_number.find(number);
  return found == nullptr ? nullptr : *found;
}

DatatypeTable& datatypes() {
  static DatatypeTable* table = nullptr;  // never destroyed: types may be freed until the program ends
  if (table == nullptr) {
    table = make<DatatypeTable>();
    load_predefined(table);
  }
  return *table;
}

Datatype* find_or_learn(MPI_Datatype type) {
  Datatype* found = datatypes().find(type);
  return found != nullptr ? found : learn(type, 0);
}

// Addresses that the program has asked for: the newest, so many at least.
constexpr size_t kNoted = 8192;
struct Noted {
  Vector<uintptr_t> newest, older;
  HashMap<bool> all;
};
Noted& noted() {
  static Noted& all = *make<Noted>();
  return all;
}

void note_address(const void* address) {
  Noted& n = noted();
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  if (n.all.find(at) != nullptr) return;
  if (n.newest.size() == kNoted) {
    for (const uintptr_t old : n.older) n.all.remove(old);
    n.older.swap(n.newest);
    n.newest.clear();
  }
  n.newest.push_back(at);
  n.all.at(at) = true;
}

bool was_asked_for(MPI_Aint address) { return noted().all.find(static_cast<uintptr_t>(address)) != nullptr; }

bool is_between_blocks(MPI_Aint distance) {
  const auto moves = [](uint64_t block) { return block >= format::kFirstById && block != format::kWildBlock; };
  for (const Vector<uintptr_t>* part : {&noted().newest, &noted().older})
    for (const uintptr_t from : *part) {
      const uintptr_t to = from + static_cast<uintptr_t>(distance);
      if (!was_asked_for(static_cast<MPI_Aint>(to))) continue;
      const uint64_t a = state::locate(reinterpret_cast<const void*>(from)).block, b = state::locate(reinterpret_cast<const void*>(to)).block;
      if (a != b && (moves(a) || moves(b))) return true;
    }
  return false;
}

bool may_be_within_one(const Datatype& type) {
  const Vector<MPI_Aint>& displacements = type.arguments.addresses;
  const auto block_of = [](uintptr_t address) { return state::locate(reinterpret_cast<const void*>(address)).block; };
  const auto are_of_one = [&](uintptr_t from) {
    const auto is_of_it = [&](MPI_Aint by) { return was_asked_for(static_cast<MPI_Aint>(from) + by); };
    if (!std::all_of(displacements.begin(), displacements.end(), is_of_it)) return false;
    const uint64_t block = block_of(from);
    return block != format::kWildBlock && std::all_of(displacements.begin(), displacements.end(), [&](MPI_Aint by) { return block_of(from + static_cast<uintptr_t>(by)) == block; });
  };
  for (const Vector<uintptr_t>* part : {&noted().newest, &noted().older})
    if (std::any_of(part->begin(), part->end(), are_of_one)) return true;
  return false;
}

// Whether there is a pair of those addresses in different blocks, as far from each other as a displacement says. What begins at one of
// them with all displacements is that, and nothing else is looked at.
static bool spans_blocks(const Vector<MPI_Aint>& displacements, uintptr_t* origin) {
  const Noted& n = noted();
  bool found = false, are_addresses = true;  // and no distances: a program may make such a type for each message
  for (const MPI_Aint by : displacements) are_addresses = are_addresses && was_asked_for(by);
  if (are_addresses) return false;
  const auto far = [](uintptr_t from, MPI_Aint by) {
    return state::in_different_blocks(reinterpret_cast<const void*>(from), reinterpret_cast<const void*>(from + static_cast<uintptr_t>(by)));
  };
  for (const Vector<uintptr_t>* part : {&n.newest, &n.older}) {
    for (size_t i = part->size(); i-- > 0;) {
      const uintptr_t from = (*part)[i];
      size_t hits = 0;
      bool differs = false;
      for (const MPI_Aint by : displacements) {
        if (n.all.find(from + static_cast<uintptr_t>(by)) == nullptr) continue;
        ++hits;
        differs = differs || (by != 0 && far(from, by));
      }
      if (hits == displacements.size()) return *origin = from, differs;
      found = found || differs;
    }
  }
  return found;
}

Datatype* add_datatype(MPI_Datatype handle, uint64_t number, Constructor constructor, Arguments arguments,
                       std::span<Datatype* const> olds) {
  const char* why = nullptr;
  uint64_t size = 0;
  uint32_t depth = 0, alignment = 1;
  Vector<uint64_t> sizes;
  if (!consistent(constructor, arguments, &why)) return nullptr;
  for (const Datatype* old : olds) {
    sizes.push_back(old->size);
    depth = std::max(depth, old->depth);
    alignment = std::max(alignment, old->alignment);
  }
  depth = depth_of(constructor, arguments, depth);
  const bool fits =
      measure(constructor, arguments, std::span<const uint64_t>(sizes.data(), sizes.size()), &size);
  if (depth > kMaxTypeDepth || !fits) return nullptr;

  DatatypeTable& table = datatypes();
  forget_stale(&table, handle);
  Datatype* type = make<Datatype>();
  type->number = number;
  type->handle = handle;
  type->constructor = constructor;
  type->arguments = static_cast<Arguments&&>(arguments);
  type->depth = depth;
  type->alignment = alignment;
  type->of_setup = state::in_setup();
  type->size = size;
  if (noted().all.size() > 1) type->spans_blocks = spans_blocks(type->arguments.addresses, &type->origin);
  for (Datatype* old : olds) {
    type->olds.push_back(old);
    ++old->references;
  }
  table.by_handle.at(handle_key(handle)) = type;
  table.by_number.at(number) = type;
  if (number >= table.next) table.next = number + 1;
  return type;
}

void record(MPI_Datatype handle, Constructor constructor, Arguments arguments,
            std::span<const MPI_Datatype> olds) {
  Vector<Datatype*> records;
  for (MPI_Datatype old : olds) {
    records.push_back(find_or_learn(old));
    if (records.back() == nullptr) return;
  }
  arguments.olds = olds.size();
  portable_constants(constructor, &arguments);
  Datatype* made = add_datatype(handle, datatypes().next, constructor, static_cast<Arguments&&>(arguments),
                                std::span<Datatype* const>(records.data(), records.size()));
  if (made != nullptr) made->owned = 1;
}

void drop_if_unused(Datatype* type) {
  if (type->constructor == Constructor::kNamed || type->owned > 0 || type->references > 0) return;
  DatatypeTable& table = datatypes();
  table.by_handle.remove(handle_key(type->handle));
  table.by_number.remove(type->number);
  {
    InsideMpi inside;
    PMPI_Type_free(&type->handle);
  }
  forget_layouts(type);
  for (Datatype* old : type->olds) {
    --old->references;
    drop_if_unused(old);
  }
  destroy(type);
}

uint64_t number_of(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return kNullDatatype;
  const Datatype* found = datatypes().find(type);
  if (found == nullptr || (found->constructor != Constructor::kNamed && found->owned == 0))
    return kNoDatatype;
  return found->number;
}

Result handle_of(uint64_t number, MPI_Datatype* type) {
  *type = MPI_DATATYPE_NULL;
  if (number == kNullDatatype) return Result();
  const Datatype* found = datatypes().numbered(number);
  if (found == nullptr) found = stand_in(number);
  if (found == nullptr && predefined_name(number) != nullptr)
    return Result::error("this MPI has no datatype %s, and none of the same representation",
                         predefined_name(number));
  if (found == nullptr)
    return Result::error(
        "there is no datatype with number %llu: the line does not hold it, or the program has freed it",
        static_cast<unsigned long long>(number));
  *type = found->handle;
  return Result();
}

const char* datatype_name(uint64_t number) {
  if (number == kNullDatatype) return "MPI_DATATYPE_NULL";
  if (const char* name = predefined_name(number)) return name;
  return datatypes().numbered(number) != nullptr ? "derived" : "unknown";
}

bool known(MPI_Datatype type) { return find_or_learn(type) != nullptr; }

uint64_t retain(MPI_Datatype type) {
  Datatype* found = find_or_learn(type);
  if (found == nullptr) return kNoDatatype;
  if (found->constructor != Constructor::kNamed) ++found->references;
  return found->number;
}

bool retain_number(uint64_t number) {
  Datatype* found = datatypes().numbered(number);
  if (found == nullptr) return stand_in(number) != nullptr;
  if (found->constructor != Constructor::kNamed) ++found->references;
  return true;
}

void release(uint64_t number) {
  Datatype* found = datatypes().numbered(number);
  if (found == nullptr || found->constructor == Constructor::kNamed || found->references == 0) return;
  --found->references;
  drop_if_unused(found);
}

MPI_Aint extent(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  if (find_or_learn(type) == nullptr) return 0;
  return PMPI_Type_get_extent(type, &lower, &extent) == MPI_SUCCESS ? extent : 0;
}

}  // namespace elc::mpi
