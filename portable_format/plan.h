// Plans: how an element of a type is copied between memory and its packed form, worked out once per type.
#ifndef ELC_FORMAT_PLAN_H
#define ELC_FORMAT_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/result.h"
#include "base/vector.h"
#include "portable_format/convert.h"
#include "portable_format/types.h"
#include "portable_format/value.h"

namespace elc::format {

// Consecutive leaves, in memory and in the packed form, that one conversion does; or elements of a nested
// plan.
struct Run {
  Conversion conversion = {};
  uint64_t memory = 0, packed = 0;  // offsets in the element
  uint64_t count = 0;               // leaves, or elements of `nested`
  uint32_t nested = 0;              // index in the cache, for Convert::kNested
};

struct Plan {
  TypeId packed_type = 0, memory_type = 0;
  bool fixed = true;         // false: the value is walked, and there are no runs
  bool plain = false;        // one run of bytes: n elements are one copy
  bool contiguous = false;   // one run without gaps: n elements are one run
  bool can_fail = false;     // there are values that do not fit, or handles: a check has to look at them
  uint64_t batch = 1;        // elements to convert at once: what stays in the first cache
  uint64_t memory_size = 0;  // of an element, with padding
  uint64_t packed_size = 0;  // without; if fixed
  uint32_t widths = 0;       // of its packed leaves, in bytes, all in one word
  Vector<Run> runs;          // ascending
};

// Who encodes or decodes the handles: one of the two, by direction.
struct Leaves {
  const LeafEncoder* encoder = nullptr;
  const LeafDecoder* decoder = nullptr;
};

// Elements up to this packed size are converted many at a time, column by column.
constexpr size_t kSmallElement = 4096;

// The plans between a table of packed types and one of types in memory, in one direction. Tables and
// representation are not owned and have to be the same for all calls between two resets.
class PlanCache {
 public:
  PlanCache() = default;
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;
  ~PlanCache() { clear(); }

  // Forgets all plans and sets the machine whose packed form it is, and the direction.
  void reset(const TypeTable* packed_types, const Representation& packed, Direction direction);
  // The plan for a pair of types; an error if they do not fit. It stays valid until reset.
  Result get(TypeId packed_type, const TypeTable& memory_types, TypeId memory_type, const Plan** plan);

  const Plan& nested(const Run& run) const { return *plans_[run.nested]; }
  const Representation& packed() const { return packed_; }
  bool swaps() const { return packed_.order != Representation::here().order; }

 private:
  void clear();
  uint32_t compile(TypeId packed_type, const TypeTable& memory, TypeId memory_type);
  void add_leaves(Plan* plan, Kind packed_kind, const TypeInfo& type, uint64_t count, uint64_t memory,
                  uint64_t packed) const;
  void add_runs(Plan* plan, const Plan& part, uint64_t memory, uint64_t packed) const;
  void add_field(Plan* plan, uint32_t part, uint64_t count, uint64_t memory_offset);

  const TypeTable* packed_types_ = nullptr;
  Representation packed_;
  Direction direction_ = Direction::kFromFile;
  Vector<Plan*> plans_;
  HashMap<uint32_t> by_types_;  // 1 + index
};

// A leaf that could not be converted.
struct Misfit {
  uint64_t memory = 0;  // its offset from the first element
  Result status;        // why; names no place
};

// Converts `count` elements by a fixed plan, between memory and their packed form, which are adjacent there.
// From file: `to` is memory, or nullptr to check only. To file: `from` is memory. False with `misfit` set if
// a leaf cannot be converted. Elements are up to kSmallElement packed bytes, or the plan is contiguous.
bool transfer(const PlanCache& plans, const Plan& plan, const uint8_t* from, uint8_t* to, uint64_t count,
              const Leaves& leaves, Misfit* misfit);
// The same for part of one run: `count` leaves from where `from` and `to` point.
bool transfer_run(const PlanCache& plans, const Run& run, const uint8_t* from, size_t from_stride,
                  uint8_t* to, size_t to_stride, size_t elements, size_t count, const Leaves& leaves,
                  Misfit* misfit);

}  // namespace elc::format

#endif
