// Registered data of Fortran: what the module elc (include/elc.F90) calls.
#include <limits.h>

#include "base/compiler.h"
#include "elc.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

// A struct of one field, whose name says what it is.
Result wrap(const char* name, const char* field, TypeId type, uint64_t count, TypeId* made) {
  format::TypeTable& types = process().types;
  const format::FieldSpec only = {field, 0, type, count};
  return types.make_struct(name, types.size_of(type) * count, {&only, 1}, made);
}

// What is not made cannot be registered.
Result or_missing(const Text& name, Result result) {
  if (!result.ok()) note_missing(process(), innermost(process()), name.c_str());
  return result;
}

// An array of one dimension is one of C. One of more is an array of structs, which are the array without its
// last dimension: so its shape is part of its type, and it comes back in no other.
Result register_variable(const Text& name, void* address, TypeId type, const char* type_name, uint64_t length,
                         std::span<const int64_t> shape) {
  uint64_t elements = 1;
  for (const int64_t extent : shape) elements *= static_cast<uint64_t>(extent);
  if (elements == 0 || length == 0) return add_region(name.c_str(), nullptr, type, 0, ELC_NO_TYPE);
  if (shape.empty()) return add_region(name.c_str(), address, type, static_cast<size_t>(length), ELC_NO_TYPE);
  Text of = Text::copy(type_name);
  if (length > 1) {
    of = Text::format("%s(%llu)", type_name, static_cast<unsigned long long>(length));
    ELC_TRY(or_missing(name, wrap(of.c_str(), "characters", type, length, &type)));
  }
  Text extents;
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    extents = i == 0 ? Text::format("%lld", static_cast<long long>(shape[i]))
                     : Text::format("%s,%lld", extents.c_str(), static_cast<long long>(shape[i]));
    ELC_TRY(or_missing(name, wrap(Text::format("%s (%s)", of.c_str(), extents.c_str()).c_str(), "elements", type,
                                  static_cast<uint64_t>(shape[i]), &type)));
  }
  return add_region(name.c_str(), address, type, static_cast<size_t>(shape.back()), ELC_NO_TYPE);
}

Result check_memory(const Text& name, const void* address, std::span<const int64_t> shape, bool contiguous) {
  if (address == nullptr)
    return Result::error(
        "elc_register: '%s' is not allocated, or a pointer that is not associated: register it after that",
        name.c_str());
  if (!contiguous)
    return Result::error(
        "elc_register: '%s' is not in one piece of memory: register the whole array of which it is a section",
        name.c_str());
  for (const int64_t extent : shape)
    if (extent < 0)
      return Result::error("elc_register: '%s' is an array whose size is not known", name.c_str());
  return Result();
}

// Kinds of LOGICAL are types of their own, saved as the integers of their size.
Result type_of_logical(TypeId* type) {
  const auto bits = static_cast<int>(process().types.size_of(*type) * CHAR_BIT);
  return wrap(Text::format("logical%d", bits).c_str(), "logical", *type, 1, type);
}

Text text_of(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return Text::format("%.*s", static_cast<int>(length > INT_MAX ? INT_MAX : length), text);
}

}  // namespace

format::TypeId fortran_handle(format::Kind kind, size_t size, const format::Accessor& how) {
  format::TypeTable& types = process().types;
  TypeId field = ELC_NO_TYPE, made = ELC_NO_TYPE;
  if (!types.make_accessor(kind, how, &field).ok()) return ELC_NO_TYPE;
  const format::FieldSpec only = {"handle", 0, field, 1};
  const Text name = Text::format("%s in Fortran", types.info(static_cast<TypeId>(kind)).name);
  return types.make_struct(name.view(), size, {&only, 1}, &made).ok() ? made : ELC_NO_TYPE;
}

}  // namespace elc::state

using elc::state::outcome;
using elc::state::process;

extern "C" {

// A variable of Fortran. `name` need not end with a zero, may end with blanks. `is_logical`: `type` is the
// integer of the same size. `length`: of a CHARACTER; 1 for everything else. `shape`: `rank` extents.
// `address`: null if there is no memory.
ELC_EXPORT int ELC_Fortran_register(const char* name, size_t name_length, void* address, ELC_Type type,
                                    int is_logical, size_t length, int rank, const int64_t* shape,
                                    int contiguous) {
  using namespace elc::state;
  const elc::Text known = text_of(name, name_length);
  const std::span<const int64_t> extents(shape, static_cast<size_t>(rank));
  elc::Result result = or_missing(known, check_memory(known, address, extents, contiguous != 0));
  if (result.ok() && is_logical != 0) result = or_missing(known, type_of_logical(&type));
  if (result.ok()) {
    const elc::Text type_name = elc::Text::copy(process().types.info(type).name);
    result = register_variable(known, address, type, type_name.c_str(), length, extents);
  }
  return outcome(result);
}

ELC_EXPORT int ELC_Fortran_unregister(const char* name, size_t name_length) {
  return ELC_Unregister(elc::state::text_of(name, name_length).c_str());
}
}
