// The table of datatypes, shared by the files that record, pack, save and restore them.
#ifndef ELC_MPI_DATATYPE_DATATYPE_TABLE_H
#define ELC_MPI_DATATYPE_DATATYPE_TABLE_H

#include <mpi.h>
#include <string.h>

#include <span>

#include "base/hash_map.h"
#include "mpi/datatype/datatype.h"
#include "mpi/objects/handle_key.h"

namespace elc::mpi {

// The arguments of a constructor, in the order of the MPI standard's MPI_Type_get_contents (MPI-3.1, 4.1.13),
// whose constants have fixed values here: the order of a subarray or darray is kOrderC or kOrderFortran, a
// distribution kDistributeBlock and so on, its default argument kDefaultArgument.
constexpr int kOrderC = 0, kOrderFortran = 1;
constexpr int kDistributeBlock = 0, kDistributeCyclic = 1, kDistributeNone = 2;
constexpr int kDefaultArgument = -1;

struct Arguments {
  Vector<int> integers;
  Vector<MPI_Aint> addresses;
  uint64_t olds = 0;  // the number of old types
};

// Do the numbers fit each other, and are they such that MPI accepts them? `why` is set to a literal if not.
bool consistent(Constructor constructor, const Arguments& arguments, const char** why);

// A stretch of a type map: `count` repetitions, `stride` bytes apart, of `length` adjacent scalars of `kind`,
// or of `length` elements of `nested`, its extent apart.
struct Layout;
struct Piece {
  int64_t offset = 0;
  int64_t stride = 0;
  uint64_t count = 0;
  uint64_t length = 0;
  format::Kind kind = format::kNone;
  const Layout* nested = nullptr;
};

// An element of a type as pieces, in the order of the type map.
struct Layout {
  Vector<Piece> pieces;
  int64_t extent = 0;
  uint64_t size = 0;                                    // packed bytes on this machine
  bool opaque = false;                                  // holds opaque scalars
  mutable uint64_t foreign_code = 0, foreign_size = 0;  // the last answer to packed_size(type, code)
};

// What a predefined type is in memory: `count` of `kind`, then one of `second` at `second_offset` for pairs
// such as MPI_DOUBLE_INT. Nothing at all for MPI_LB and MPI_UB. Opaque: bytes whose meaning only this MPI and
// machine know (MPI_PACKED, Fortran's 16-byte kinds); they go to no other.
struct Scalars {
  format::Kind kind = format::kNone;
  uint32_t count = 0;
  format::Kind second = format::kNone;
  int64_t second_offset = 0;
  bool opaque = false;
};

// A datatype that the library knows.
struct Datatype {
  uint64_t number = 0;
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  Constructor constructor = Constructor::kNamed;
  Arguments arguments;
  Vector<Datatype*> olds;   // each has a reference from here
  Scalars scalars;          // of a predefined type
  uint32_t depth = 0;       // of nesting
  uint64_t size = 0;        // packed, bytes
  uint64_t references = 0;  // from types made of it, and from retain
  uint64_t owned = 0;  // handles that the program has; 0: freed, but still needed (not of predefined types)
  bool committed = false;
  bool of_setup = false;   // made before ELC_Restore and the first ELC_ENTER: every run makes it, for its own addresses
  uintptr_t origin = 0;    // from which its displacements lead to addresses that the program has asked for; 0: none is known
  bool spans_blocks = false;  // its displacements are distances of blocks of the heap, as far as note_address tells
  uint32_t alignment = 1;  // of its scalars in a struct of this machine
  // Worked out when first needed. In `bytes` all scalars are kByte, so that neighbours of different kinds are
  // one stretch; in `typed` they have their kinds.
  Layout* bytes = nullptr;
  Layout* typed = nullptr;
  Vector<Layout*> parts;  // layouts inside `bytes` and `typed` that belong to this type
};

constexpr uint32_t kMaxTypeDepth = 1000;
constexpr uint64_t kMaxTypeSize = uint64_t{1} << 56;

struct DatatypeTable {
  HashMap<Datatype*> by_handle;
  HashMap<Datatype*> by_number;
  uint64_t next = kFirstDerived;

  Datatype* find(MPI_Datatype type) const;
  Datatype* numbered(uint64_t number) const;
};

// What was last said by record_datatypes.
bool recording_datatypes();

// The table, made with its predefined types at the first call, which has to be after MPI_Init.
DatatypeTable& datatypes();

// The record of a type that MPI accepts: known, or learned from MPI now; nullptr if it cannot be learned.
Datatype* find_or_learn(MPI_Datatype type);
// MPI has given the program a handle, which it is to free: another one of a type, or that of a copy, which is the program's alone.
void note_given(MPI_Datatype handle);

// Records `handle` as made by `constructor` under `number`; takes the arguments, and a reference of each old
// type. nullptr (nothing recorded) for what is too deep or too large.
Datatype* add_datatype(MPI_Datatype handle, uint64_t number, Constructor constructor, Arguments arguments,
                       std::span<Datatype* const> olds);
// As a wrapper calls it: a new number, old types by handle (learned if need be); owned once by the program.
void record(MPI_Datatype handle, Constructor constructor, Arguments arguments,
            std::span<const MPI_Datatype> olds);
// Frees the MPI object and forgets the record if nothing needs it.
void drop_if_unused(Datatype* type);

// The packed size of a type from its constructor and those of its old types; false if it is above
// kMaxTypeSize.
bool measure(Constructor constructor, const Arguments& arguments, std::span<const uint64_t> olds,
             uint64_t* size);
// How deep a type nests whose old types nest `below` at most.
uint32_t depth_of(Constructor constructor, const Arguments& arguments, uint32_t below);
// Replaces the constants of the MPI at hand, in integers as MPI gives them, by those above.
void portable_constants(Constructor constructor, Arguments* arguments);
// Asks MPI for such a type; what MPI_Type_* returns. The arguments are consistent.
int make_type(Constructor constructor, const Arguments& arguments, std::span<const MPI_Datatype> olds,
              MPI_Datatype* made);

// The layouts, worked out at the first call.
const Layout& layout_of(Datatype* type, bool typed);
void forget_layouts(Datatype* type);

// Whether note_address was told this address, as far as it keeps them.
bool was_asked_for(MPI_Aint address);
// Whether two such addresses, one of them in a block of the heap and the other not in the same, are so far from each other. In a line.
bool is_between_blocks(MPI_Aint distance);
// Whether all displacements of a type may be those of addresses in one variable, or block, that the program has asked for.
bool may_be_within_one(const Datatype& type);

// Adds the predefined types.
void load_predefined(DatatypeTable* table);
// Bytes of a scalar in memory, and in MPI's messages; its alignment in a struct.
uint32_t memory_width(format::Kind kind);
uint32_t memory_alignment(format::Kind kind);
// The predefined type that stands for `number` where the MPI at hand has none of that name; nullptr: none
// does.
Datatype* stand_in(uint64_t number);

}  // namespace elc::mpi

#endif
