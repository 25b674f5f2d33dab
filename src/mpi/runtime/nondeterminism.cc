// ELC_ND: values that differ from execution to execution are outcomes (PROTOCOL.md, section 3, W3). A logged value may
// come from another machine: it is its representation, type and number of elements, then the elements packed.
#include <elc.h>

#include "base/message.h"
#include "mpi/datatype/datatype.h"
#include "mpi/runtime/runtime.h"
#include "portable_format/plan.h"
#include "state/state.h"

namespace elc::mpi {
namespace {

using namespace format;

bool is_scalar(TypeId type) { return type > ELC_NO_TYPE && type < ELC_POINTER; }

Result plan_for(uint64_t code, TypeId packed_type, TypeId type, Direction direction, PlanCache* plans,
                const Plan** plan) {
  Representation packed;
  uint32_t long_double_bytes = 0;
  ELC_TRY(representation_of(code, &packed, &long_double_bytes));
  plans->reset(&state::types(), packed, direction);
  return plans->get(packed_type, state::types(), type, plan);
}

Result encode(const void* value, TypeId type, uint64_t count, Bytes* out) {
  PlanCache plans;
  const Plan* plan = nullptr;
  const uint64_t code = native_representation_code();
  ELC_TRY(plan_for(code, type, type, Direction::kToFile, &plans, &plan));
  Encoder header(out);
  header.u64(code);
  header.i32(type);
  header.u64(count);
  const size_t at = out->size();
  const size_t size = static_cast<size_t>(count * plan->packed_size);
  if (!out->make_room(size)) return no_memory(size, "a value of ELC_ND");
  out->resize(at + size);
  Misfit misfit;
  if (!transfer(plans, *plan, static_cast<const uint8_t*>(value), out->data() + at, count, {}, &misfit))
    return misfit.status;
  return Result();
}

// `fits`: false where the log has something else, so that the program has taken another way.
Result decode(const Bytes& logged, void* value, TypeId type, uint64_t count, bool* fits) {
  PlanCache plans;
  const Plan* plan = nullptr;
  Decoder in(logged);
  const uint64_t code = in.u64();
  const TypeId packed_type = in.i32();
  *fits = in.u64() == count && in.ok() && is_scalar(packed_type) &&
          plan_for(code, packed_type, type, Direction::kFromFile, &plans, &plan).ok() &&
          in.left() == count * plan->packed_size;
  Misfit misfit;
  if (*fits && !transfer(plans, *plan, in.at(), static_cast<uint8_t*>(value), count, {}, &misfit)) return misfit.status;
  return Result();
}

}  // namespace
}  // namespace elc::mpi

using namespace elc;
using namespace elc::mpi;

ELC_EXPORT int ELC_Nondeterministic(void* value, ELC_Type type, size_t count) {
  if (!is_scalar(type)) {
    say("ELC_Nondeterministic: type %ld is no scalar", static_cast<long>(type));
    return ELC_ERROR;
  }
  if (!runtime.active || (!runtime.coordinator->recording() && !runtime.coordinator->replaying())) return ELC_OK;
  const Bytes* logged = runtime.coordinator->replay_outcome(line::NdKind::kValue);
  if (logged != nullptr) {
    bool fits = false;
    const Result status = decode(*logged, value, type, count, &fits);
    if (!status.ok())
      give_up(Result::error("a value of ELC_ND cannot be repeated on this machine: %s", status.message()));
    if (!fits) runtime.coordinator->end_replay();
  }
  if (!runtime.coordinator->recording()) return ELC_OK;
  Bytes bytes;
  if (!encode(value, type, count, &bytes).ok()) spoil_replay("a value of ELC_ND could not be kept");
  runtime.coordinator->record_outcome(line::NdKind::kValue, bytes);
  return ELC_OK;
}
