// Compares values of two files of ranks, leaf by leaf, whatever machines they were saved on.
#ifndef ELC_TOOL_VALUE_WALK_H
#define ELC_TOOL_VALUE_WALK_H

#include <stdint.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare.h"
#include "compared_file.h"
#include "portable_format/reader.h"
#include "portable_format/types.h"

namespace elc::tool {

class ValueWalk {
 public:
  ValueWalk(ComparedFile& a, ComparedFile& b, const CompareOptions& options)
      : both_{&a, &b}, options_(options), same_machine_(a.reader.representation() == b.reader.representation()),
        same_blocks_(have_same_blocks(a, b)) {}

  // Compares what the cursors are at; both are behind their value then. False where the types have nothing to do with each
  // other.
  bool values(format::Cursor& a, format::TypeId type_a, uint64_t count_a, format::Cursor& b, format::TypeId type_b, uint64_t count_b,
              Difference* found, uint64_t* within);

  // Differences in these of what is compared next are none.
  void pass_over(Leaves leaves) { passed_over_ = std::move(leaves); }

  // The bytes behind the elements of a heap block.
  void rest(format::Cursor& a, uint64_t size_a, format::Cursor& b, uint64_t size_b, Difference* found);

 private:
  struct Values;  // the packed ones of a file

  ComparedFile& of(int side) const { return *both_[side]; }

  struct Step {
    const char* field;  // nullptr: an index
    uint64_t index;
  };

  // Whether the same number of a block or of another thing means the same in both.
  static bool have_same_blocks(const ComparedFile& a, const ComparedFile& b);

  // ---- Types ----

  // Whether values of the two can be compared leaf by leaf.
  bool alike(format::TypeId a, format::TypeId b);
  bool look_alike(format::TypeId a, format::TypeId b);
  // Whether the same bytes are the same values (of types that are alike).
  bool same_bytes(format::TypeId a, format::TypeId b);
  bool look_the_same(format::TypeId a, format::TypeId b);

  // ---- Values ----

  void many(Values (&sides)[2], format::TypeId a, format::TypeId b, uint64_t count, bool lone);

  static void fill(Values& side, std::vector<uint8_t>& piece, uint64_t size);

  // One element.
  void one(Values (&sides)[2], const format::TypeInfo& x, const format::TypeInfo& y, uint64_t index, bool lone);

  void field(Values (&sides)[2], const format::FieldInfo& f, const format::FieldInfo& g);

  // Unions with different members in use are one different value.
  void member(Values (&sides)[2], const format::TypeInfo& x, const format::TypeInfo& y);

  void leaves(Values (&sides)[2], format::Kind a, format::Kind b);

  void leaf(const format::Kind (&kinds)[2], const uint8_t* const (&at)[2]);
  void note_leaves(const format::Kind (&kinds)[2], const uint8_t* const (&at)[2], bool floating, long double distance);

  // All NaNs are the same; 0 and -0 are not, but within any tolerance.
  void floating(const format::Kind (&kinds)[2], const uint8_t* const (&at)[2]);

  long double number(int side, format::Kind kind, const uint8_t* at) const;

  // char and wchar_t of one width are signed on one machine and unsigned on another: a restart copies their bits.
  void integers(const format::Kind (&kinds)[2], const uint8_t* const (&at)[2]);

  std::string text(int side, format::Kind kind, const uint8_t* at) const;

  // `distance` negative: there is none between such values. `text` makes that of a side.
  void note_difference(bool floating, long double distance, const std::function<std::string(int side)>& text);

  std::string place() const;

  ComparedFile* const both_[2];
  const CompareOptions& options_;
  const bool same_machine_, same_blocks_;
  std::map<std::pair<format::TypeId, format::TypeId>, bool> alike_, same_bytes_;
  std::vector<uint8_t> pieces_[2];
  std::vector<Step> steps_;
  Leaves passed_over_;
  uint64_t leaf_ = 0;  // that is compared, of all that values() compares
  Difference* found_ = nullptr;
  uint64_t* within_ = nullptr;
};

}  // namespace elc::tool

#endif
