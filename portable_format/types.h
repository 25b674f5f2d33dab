// Tables of types: those of the running program, with their layout in memory, and those of a file.
#ifndef ELC_FORMAT_TYPES_H
#define ELC_FORMAT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <span>
#include <string_view>

#include "base/hash_map.h"
#include "base/result.h"
#include "base/vector.h"
#include "portable_format/representation.h"

namespace elc::format {

// Tells which member of the union at `u` is in use (-1: none); see ELC_Union.
using ActiveMember = int (*)(const void* u, const void* enclosing);

// A field without an address: a bit-field, or a handle that is not as C has it. `of` is the struct that has it; see
// ELC_Accessor.
struct Accessor {
  int64_t (*get)(const void* of);
  void (*set)(void* of, int64_t value);
};

// What a struct or union is made from. The name is copied.
struct FieldSpec {
  std::string_view name;
  uint64_t offset = 0;  // bytes from the beginning of the struct or union
  TypeId type = 0;
  uint64_t count = 1;  // consecutive elements, at least 1
};

struct FieldInfo {
  const char* name;  // owned by the table
  TypeId type;
  uint64_t offset;      // bytes in memory; 0 in the table of a file
  uint64_t count;       // elements
  uint64_t first_leaf;  // leaves of the type before this field
};

struct TypeInfo {
  Kind kind;         // a scalar's own, kStruct or kUnion
  const char* name;  // "unsigned long", or the name it was made with; owned by the table
  uint64_t size;     // bytes of an element in memory (in a file's table: on the writer's machine); 0: accessor
  uint64_t leaves;   // at least 1; see Position
  uint64_t begin;    // offset of the first leaf in memory
  uint64_t packed;   // bytes of a packed value; with a union inside, the least it can have
  bool walked;       // has a union (a packed value has no constant size) or an accessor
  bool has_handle;   // a leaf is a pointer or another handle
  bool has_byte;     // a leaf is kByte
  uint32_t depth;    // nesting of structs and unions; scalars 0
  uint32_t first_field;
  uint32_t field_count;
  ActiveMember active;  // unions in memory only
};

constexpr size_t kMaxText = 65536;  // most bytes of a name, for who writes and who reads
constexpr uint32_t kMaxDepth = 64;                  // of nesting
constexpr uint64_t kMaxLeaves = uint64_t{1} << 56;  // of a type

// A position in a block of `count` elements of a type. Its leaves are numbered from 0 in the order of
// a packed value, through all elements, fields and array elements; a complex has two; a union has the
// leaves of all its members, one member after the other, whichever is active. So a position means the
// same place under every memory layout. count * leaves is one past the end.
//
// A pointer into the middle of a scalar (the third byte of a double) is the leaf and `extra` bytes; it
// can be restored only where that leaf has the same width. kByte blocks have a leaf for each byte. The end of
// a leaf that is not the beginning of another (one past an array that padding follows) is the leaf and
// kPastLeaf, which can be restored anywhere. An offset farther in padding has no position: such a pointer is
// wild.
//
// Whole elements before a block, to where an array that counts from 1 is pointed to, are as many leaves before kMaxLeaves.
constexpr int kPositionBits = 56;
constexpr uint64_t kPastLeaf = 255;
inline uint64_t make_position(uint64_t leaf, uint64_t extra) { return extra << kPositionBits | leaf; }
inline uint64_t leaf_of(uint64_t position) { return position & (kMaxLeaves - 1); }
inline uint64_t extra_of(uint64_t position) { return position >> kPositionBits; }
inline uint64_t position_before(uint64_t leaves) { return kMaxLeaves - leaves; }
// Leaves that a position lies before its block; 0: it does not.
inline uint64_t leaves_before(uint64_t position) { return leaf_of(position) >= kMaxLeaves / 2 ? kMaxLeaves - leaf_of(position) : 0; }

class TypeTable {
 public:
  // Knows the scalars of this machine. MPI handles and statuses have size 0 until set_size.
  TypeTable();
  TypeTable(TypeTable&&) noexcept = default;
  TypeTable& operator=(TypeTable&&) noexcept = default;

  // Bytes that an MPI handle or status takes in memory; to be called before a type holds one.
  void set_size(Kind kind, size_t size);

  // A struct of `size` bytes; fields ascending, inside it and not overlapping. If the name is known, `made`
  // is the known type if it is the same, else it is an error. An error changes nothing.
  Result make_struct(std::string_view name, uint64_t size, std::span<const FieldSpec> fields, TypeId* made);
  // Forgets the types that were made last: from this one on, of which no other is made.
  void shorten(TypeId from);
  // A union: members in any order, each inside `size` bytes. The functions `active` must be equal for the
  // types to be the same.
  Result make_union(std::string_view name, uint64_t size, std::span<const FieldSpec> members,
                    ActiveMember active, TypeId* made);

  // The type of a field of a struct, saved as a scalar of `kind`, an integer or a handle. In a file it is that scalar.
  Result make_accessor(Kind kind, const Accessor& accessor, TypeId* made);
  const Accessor* accessor(TypeId type) const { return type < 0 ? &accessors_[index_of(type)].how : nullptr; }

  // Also false for MPI kinds without a size, in a table of memory.
  bool known(TypeId type) const {
    if (type >= kFirstMade) return type < end();
    if (type < 0) return index_of(type) < accessors_.size();
    return type > 0 && type < static_cast<TypeId>(kKindCount) && scalars_[type].size > 0;
  }
  // Of a known type. Valid until a type is made.
  const TypeInfo& info(TypeId type) const {
    if (type < 0) return accessors_[index_of(type)].info;
    return type >= kFirstMade ? made_[static_cast<size_t>(type - kFirstMade)] : scalars_[type];
  }
  const FieldInfo& field(const TypeInfo& type, uint32_t i) const { return fields_[type.first_field + i]; }
  std::span<const FieldInfo> fields(TypeId type) const;
  uint64_t size_of(TypeId type) const { return known(type) ? info(type).size : 0; }
  TypeId find(std::string_view name) const;  // a made type; kNone if there is none
  TypeId end() const { return static_cast<TypeId>(kFirstMade + static_cast<TypeId>(made_.size())); }

  // The position of the byte at `offset` in a block of `count` elements of `type` (memory tables).
  // False where there is none. `block` is the block's memory, to ask unions for their active member; with
  // nullptr, or where none is active, it is the first member that has a leaf there. Logarithmic time.
  bool position(TypeId type, uint64_t count, uint64_t offset, const void* block, uint64_t* position) const;
  // The reverse: the offset of a position. False where the block has no such position, or where `extra` is
  // not 0 and the leaf's width differs from that of `writer`, the machine that made the position.
  bool offset(TypeId type, uint64_t count, uint64_t position, const Representation& writer,
              uint64_t* offset) const;
  // Writes the place of a leaf in C's notation, "[3].corner[1].x", to `text` (cut to size).
  // `count` 1 leaves out the first index.
  void place(TypeId type, uint64_t count, uint64_t leaf, char* text, size_t size) const;

  // The table of made types in the file's form (FORMAT.md, "Types").
  void encode(Encoder& out) const;
  // Makes a table of a file: `in` is the content of its section, `writer` gives the scalars. Trusts nothing.
  static Result decode(Decoder& in, const Representation& writer, TypeTable* out);

 private:
  struct AccessorType {
    TypeInfo info;
    Accessor how;
  };
  static size_t index_of(TypeId accessor) { return static_cast<size_t>(-1 - accessor); }

  struct Strings {  // names, each at an address that stays
    Vector<char*> all;
    Strings() = default;
    Strings(Strings&&) noexcept = default;
    Strings& operator=(Strings&& other) noexcept {
      all.swap(other.all);  // the other frees what was here
      return *this;
    }
    ~Strings();
    const char* keep(std::string_view text);
    void forget_last();
  };
  Result make(Kind kind, std::string_view name, uint64_t size, std::span<const FieldSpec> fields,
              ActiveMember active, TypeId* made);
  Result check_layout(const char* what, uint64_t size, std::span<const FieldSpec> fields, bool overlap) const;
  bool same(TypeId type, Kind kind, uint64_t size, std::span<const FieldSpec> fields,
            ActiveMember active) const;
  // Sets what follows from the fields: leaves, packed, depth and the like.
  Result measure(const char* what, std::span<const FieldSpec> fields, TypeInfo* type) const;
  void add(TypeInfo type, std::string_view name, std::span<const FieldSpec> fields);
  bool position_within(TypeId type, uint64_t offset, const uint8_t* at, const uint8_t* enclosing,
                       uint64_t* leaf, uint64_t* extra) const;
  bool position_in_field(const FieldInfo& field, uint64_t offset, const uint8_t* at, const uint8_t* enclosing,
                         uint64_t* leaf, uint64_t* extra) const;
  bool position_in_union(const TypeInfo& type, uint64_t offset, const uint8_t* at, const uint8_t* enclosing,
                         uint64_t* leaf, uint64_t* extra) const;
  bool position_in_array(const FieldInfo& field, uint64_t offset, const uint8_t* at, const uint8_t* enclosing,
                         uint64_t* leaf, uint64_t* extra) const;
  const FieldInfo& field_of_leaf(const TypeInfo& type, uint64_t leaf) const;

  TypeInfo scalars_[kKindCount] = {};
  Vector<TypeInfo> made_;
  Vector<AccessorType> accessors_;  // their types are -1, -2 ...
  Vector<FieldInfo> fields_;
  HashMap<Vector<TypeId>> by_name_;  // by hash of the name
  Strings strings_;
  bool of_file_ = false;
};

// Can values of `from` (in table `file`, of machine `writer`) be read into `to` (in table `memory`, of this
// machine)? Same kinds (integers: see FORMAT.md), same fields by name, count and order, through all structs; names and sizes of
// the structs themselves do not matter. Bytes of another representation have to be zeros, which reading them tells, and as many
// as the program has, which the caller knows. The error names the
// place: "field .corner[].x: double in the file, float in the program".
// `wider`: also where a scalar of the program holds all values of the file's: an integer, or a real number, of more bytes.
Result fits(const TypeTable& file, TypeId from, const Representation& writer, const TypeTable& memory,
            TypeId to, bool wider);

}  // namespace elc::format

#endif
