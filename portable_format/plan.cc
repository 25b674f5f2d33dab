#include "portable_format/plan.h"

#include "portable_format/integer.h"

namespace elc::format {
namespace {

// An array of structs inside a struct becomes runs of its own up to this many, else a nested plan.
constexpr uint64_t kFlatRuns = 32;
constexpr uint64_t kBatchBytes = 16384;

uint64_t memory_width(const Conversion& c) { return c.to_file ? c.from_width : c.to_width; }
uint64_t packed_width(const Conversion& c) { return c.to_file ? c.to_width : c.from_width; }

bool same(const Conversion& a, const Conversion& b) {
  return a.what == b.what && a.kind == b.kind && a.from_width == b.from_width && a.to_width == b.to_width &&
         a.from_signed == b.from_signed && a.what != Convert::kNested;
}

// Appends a run, as part of the last one if it goes on where that ends.
void append(Vector<Run>* runs, const Run& run) {
  if (!runs->empty()) {
    Run& last = runs->back();
    if (same(last.conversion, run.conversion) &&
        last.memory + last.count * memory_width(last.conversion) == run.memory &&
        last.packed + last.count * packed_width(last.conversion) == run.packed) {
      last.count += run.count;
      return;
    }
  }
  runs->push_back(run);
}

void store_words(uint8_t* to, bool swap, std::initializer_list<uint64_t> words) {
  for (const uint64_t word : words) {
    store_integer(to, 8, swap, word);
    to += 8;
  }
}

Result no_coder(Kind kind) { return Result::error("a %s cannot be saved or restored here", kind_name(kind)); }

Result encode_leaf(const LeafEncoder& leaves, Kind kind, bool swap, const uint8_t* leaf, uint8_t* to) {
  if (has_position(kind)) {
    const auto encode = kind == kPointer ? leaves.pointer : leaves.address;
    if (encode == nullptr) return no_coder(kind);
    PointerLeaf p;
    ELC_TRY(encode(leaves.context, leaf, &p));
    store_words(to, swap, {p.block, p.position});
    return Result();
  }
  if (kind == kMpiStatus) {
    if (leaves.status == nullptr) return no_coder(kind);
    StatusLeaf s;
    ELC_TRY(leaves.status(leaves.context, leaf, &s));
    store_integer(to, 4, swap, static_cast<uint32_t>(s.source));
    store_integer(to + 4, 4, swap, static_cast<uint32_t>(s.tag));
    store_integer(to + 8, 4, swap, static_cast<uint32_t>(s.error));
    store_integer(to + 12, 4, swap, s.flags);
    store_words(to + 16, swap, {s.count, s.representation});
    return Result();
  }
  if (leaves.handle == nullptr) return no_coder(kind);
  uint64_t number = 0;
  ELC_TRY(leaves.handle(leaves.context, kind, leaf, &number));
  store_integer(to, 8, swap, number);
  return Result();
}

Result decode_leaf(const LeafDecoder& leaves, Kind kind, bool swap, const uint8_t* from, uint8_t* leaf) {
  if (has_position(kind)) {
    const auto decode = kind == kPointer ? leaves.pointer : leaves.address;
    if (decode == nullptr) return no_coder(kind);
    return decode(leaves.context, {load_word(from, swap), load_word(from + 8, swap)}, leaf);
  }
  if (kind == kMpiStatus) {
    if (leaves.status == nullptr) return no_coder(kind);
    const StatusLeaf s = {static_cast<int32_t>(load_integer(from, 4, swap, true)),
                          static_cast<int32_t>(load_integer(from + 4, 4, swap, true)),
                          static_cast<int32_t>(load_integer(from + 8, 4, swap, true)),
                          static_cast<uint32_t>(load_integer(from + 12, 4, swap, false)),
                          load_word(from + 16, swap), load_word(from + 24, swap)};
    return leaves.status(leaves.context, s, leaf);
  }
  if (leaves.handle == nullptr) return no_coder(kind);
  return leaves.handle(leaves.context, kind, load_word(from, swap), leaf);
}

bool transfer_handles(const PlanCache& plans, const Conversion& c, const uint8_t* from, size_t from_stride,
                      uint8_t* to, size_t to_stride, size_t elements, size_t count, const Leaves& leaves,
                      Misfit* misfit) {
  const size_t memory_stride = c.to_file ? from_stride : to_stride;
  for (size_t e = 0; e < elements; ++e)
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* f = from + e * from_stride + i * c.from_width;
      uint8_t* t = to == nullptr ? nullptr : to + e * to_stride + i * c.to_width;
      Result status = c.to_file ? encode_leaf(*leaves.encoder, c.kind, plans.swaps(), f, t)
                                : decode_leaf(*leaves.decoder, c.kind, plans.swaps(), f, t);
      if (status.ok()) continue;
      misfit->memory = e * memory_stride + i * memory_width(c);
      misfit->status = std::move(status);
      return false;
    }
  return true;
}

// Something in these leaves did not fit: looks for the first.
void find_misfit(const Conversion& c, const uint8_t* from, size_t from_stride, size_t memory_stride,
                 size_t elements, size_t count, Misfit* misfit) {
  for (size_t e = 0; e < elements; ++e)
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* leaf = from + e * from_stride + i * c.from_width;
      if (convert(c, leaf, 0, nullptr, 0, 1, 1)) continue;
      char why[256];
      explain_misfit(c, leaf, why, sizeof why);
      misfit->memory = e * memory_stride + i * memory_width(c);
      misfit->status = Result::error("%s", why);
      return;
    }
}

}  // namespace

void PlanCache::clear() {
  for (Plan* plan : plans_) destroy(plan);
  plans_.clear();
  by_types_.clear();
}

void PlanCache::reset(const TypeTable* packed_types, const Representation& packed, Direction direction) {
  clear();
  packed_types_ = packed_types;
  packed_ = packed;
  direction_ = direction;
}

Result PlanCache::get(TypeId packed_type, const TypeTable& memory_types, TypeId memory_type,
                      const Plan** plan) {
  const uint64_t key = static_cast<uint64_t>(packed_type) << 32 | static_cast<uint32_t>(memory_type);
  if (const uint32_t* known = by_types_.find(key); known != nullptr) {
    *plan = plans_[*known - 1];
    return Result();
  }
  if (direction_ == Direction::kFromFile)
    ELC_TRY(fits(*packed_types_, packed_type, packed_, memory_types, memory_type, true));
  else if (!memory_types.known(memory_type))
    return Result::error("type number %ld is not known", static_cast<long>(memory_type));
  *plan = plans_[compile(packed_type, memory_types, memory_type)];
  return Result();
}

uint32_t PlanCache::compile(TypeId packed_type, const TypeTable& memory, TypeId memory_type) {
  const uint64_t key = static_cast<uint64_t>(packed_type) << 32 | static_cast<uint32_t>(memory_type);
  if (const uint32_t* known = by_types_.find(key); known != nullptr) return *known - 1;
  const TypeInfo& file = packed_types_->info(packed_type);
  const TypeInfo& here = memory.info(memory_type);
  Plan* plan = make<Plan>();
  plan->packed_type = packed_type;
  plan->memory_type = memory_type;
  plan->memory_size = here.size;
  plan->fixed = !here.walked;
  if (plan->fixed && here.kind != kStruct) {
    add_leaves(plan, file.kind, here, here.leaves, 0, 0);
  } else if (plan->fixed) {
    for (uint32_t i = 0; i < here.field_count; ++i) {
      const FieldInfo& field = memory.field(here, i);
      const uint32_t part = compile(packed_types_->field(file, i).type, memory, field.type);
      add_field(plan, part, field.count, field.offset);
    }
  }
  if (plan->fixed && plan->runs.size() == 1) {
    const Run& run = plan->runs[0];
    plan->contiguous = run.conversion.what != Convert::kNested && run.memory == 0 &&
                       run.count * memory_width(run.conversion) == plan->memory_size;
    plan->plain = plan->contiguous && run.conversion.what == Convert::kCopy;
  }
  for (const Run& run : plan->runs) {
    const Convert what = run.conversion.what;
    plan->can_fail |= what == Convert::kNested ? nested(run).can_fail
                                               : what == Convert::kHandle || can_fail(run.conversion);
  }
  if (plan->packed_size > 0 && plan->packed_size < kBatchBytes) plan->batch = kBatchBytes / plan->packed_size;
  plans_.push_back(plan);
  const uint32_t index = static_cast<uint32_t>(plans_.size() - 1);
  by_types_.at(key) = index + 1;
  return index;
}

void PlanCache::add_leaves(Plan* plan, Kind packed_kind, const TypeInfo& type, uint64_t count, uint64_t memory,
                           uint64_t packed) const {
  Run run;
  run.conversion = conversion_for(part_of_complex(type.kind), packed_, direction_, part_of_complex(packed_kind));
  run.memory = memory;
  run.packed = packed;
  run.count = count;
  Conversion& c = run.conversion;
  if (type.kind == kByte && !c.to_file && !(packed_ == Representation::here())) c.what = Convert::kZeros;
  (c.to_file ? c.from_width : c.to_width) = static_cast<uint8_t>(type.size / type.leaves);
  plan->packed_size += count * packed_width(c);
  plan->widths |= static_cast<uint32_t>(packed_width(c));
  if (c.what == Convert::kCopy) {  // any kinds: one run of bytes
    run.count *= c.from_width;
    c.from_width = c.to_width = 1;
  }
  if (!can_fail(c) && c.what != Convert::kHandle) c.kind = kNone;
  append(&plan->runs, run);
}

void PlanCache::add_runs(Plan* plan, const Plan& part, uint64_t memory, uint64_t packed) const {
  for (Run run : part.runs) {
    run.memory += memory;
    run.packed += packed;
    append(&plan->runs, run);
  }
}

void PlanCache::add_field(Plan* plan, uint32_t part_index, uint64_t count, uint64_t memory_offset) {
  const Plan& part = *plans_[part_index];
  plan->widths |= part.widths;
  if (part.contiguous) {
    Run run = part.runs[0];
    run.memory = memory_offset;
    run.packed = plan->packed_size;
    run.count *= count;
    append(&plan->runs, run);
  } else if (count <= kFlatRuns && count * part.runs.size() <= kFlatRuns) {
    for (uint64_t i = 0; i < count; ++i)
      add_runs(plan, part, memory_offset + i * part.memory_size, plan->packed_size + i * part.packed_size);
  } else {
    Run run;
    run.conversion.what = Convert::kNested;
    run.conversion.to_file = direction_ == Direction::kToFile;
    run.memory = memory_offset;
    run.packed = plan->packed_size;
    run.count = count;
    run.nested = part_index;
    plan->runs.push_back(run);
  }
  plan->packed_size += count * part.packed_size;
}

bool transfer_run(const PlanCache& plans, const Run& run, const uint8_t* from, size_t from_stride,
                  uint8_t* to, size_t to_stride, size_t elements, size_t count, const Leaves& leaves,
                  Misfit* misfit) {
  const Conversion& c = run.conversion;
  const size_t memory_stride = c.to_file ? from_stride : to_stride;
  if (c.what == Convert::kHandle)
    return transfer_handles(plans, c, from, from_stride, to, to_stride, elements, count, leaves, misfit);
  if (c.what == Convert::kNested) {
    for (size_t e = 0; e < elements; ++e) {
      uint8_t* out = to == nullptr ? nullptr : to + e * to_stride;
      if (transfer(plans, plans.nested(run), from + e * from_stride, out, count, leaves, misfit)) continue;
      misfit->memory += e * memory_stride;
      return false;
    }
    return true;
  }
  if (convert(c, from, from_stride, to, to_stride, elements, count)) return true;
  find_misfit(c, from, from_stride, memory_stride, elements, count, misfit);
  return false;
}

bool transfer(const PlanCache& plans, const Plan& plan, const uint8_t* from, uint8_t* to, uint64_t count,
              const Leaves& leaves, Misfit* misfit) {
  if (plan.contiguous)
    return transfer_run(plans, plan.runs[0], from, 0, to, 0, 1,
                        static_cast<size_t>(count * plan.runs[0].count), leaves, misfit);
  for (const Run& run : plan.runs) {
    const bool out = run.conversion.to_file;
    const uint64_t from_at = out ? run.memory : run.packed, to_at = out ? run.packed : run.memory;
    const size_t from_stride = static_cast<size_t>(out ? plan.memory_size : plan.packed_size);
    const size_t to_stride = static_cast<size_t>(out ? plan.packed_size : plan.memory_size);
    if (transfer_run(plans, run, from + from_at, from_stride, to == nullptr ? nullptr : to + to_at, to_stride,
                     static_cast<size_t>(count), static_cast<size_t>(run.count), leaves, misfit))
      continue;
    misfit->memory += run.memory;
    return false;
  }
  return true;
}

}  // namespace elc::format
