// What libELC.h needs beyond other names for elc.h. libELC.h itself cannot be included: it needs MPI.
#include <string.h>

#include "base/compiler.h"
#include "elc.h"
#include "state/process.h"
#include "state/state.h"

extern "C" {

// As in libELC.h.
struct ELC_Flow {
  int LABEL;
};
constexpr size_t kClassicNameLength = 64;  // MAX_STRUCT_NAME_LENGTH
struct StructureDesc {
  char name[kClassicNameLength];
  int size;
  int ptrCount;
  int* ptrOffset;
  int strCount;
  int* strOffset;
  char* strName;
};
}

namespace elc::state {
namespace {

// A function called with FID not 0 has to return in a restart without executing, and only it can do that.
void miss_skip(Process& p, const char* function, int fid) {
  const char* advice =
      "begin it with `if (ELC_SKIP(FID)) return ...;`, before OnCallEnter, so that a restart passes it";
  if (recovering())
    give_up(Result::error("the restart has entered %s() with FID %d: %s", function, fid, advice));
  if (!p.skip_was_missed) say("%s() is called with FID %d: %s", function, fid, advice);
  p.skip_was_missed = true;
}

// The papers' functions return nothing, so a failure is remembered.
void settle(const char* what, int result) {
  if (result != ELC_OK && process().unregistered.empty()) process().unregistered = Text::format("'%s'", what);
}

// "&count" is the variable count.
const char* name_of(const char* expression) {
  while (*expression == '&' || *expression == ' ') ++expression;
  return expression;
}

// A heap block gets the type; anything else becomes a variable.
int define(const char* name, void* address, TypeId type, size_t count, TypeId target) {
  if (process().heap.find(address) != nullptr) return ELC_Set_type(address, type);
  return target != ELC_NO_TYPE ? ELC_Register_pointer(name, address, count, target)
                               : ELC_Register(name, address, type, count);
}

const Description* find_description(const Process& p, std::string_view name) {
  for (const Description& description : p.descriptions)
    if (description.name.view() == name) return &description;
  return nullptr;
}

bool same(const Description& a, const Description& b) {
  if (a.pointers.size() != b.pointers.size() || a.inner.size() != b.inner.size()) return false;
  for (size_t i = 0; i < a.pointers.size(); ++i)
    if (a.pointers[i] != b.pointers[i]) return false;
  for (size_t i = 0; i < a.inner.size(); ++i)
    if (a.inner[i].offset != b.inner[i].offset || a.inner[i].name.view() != b.inner[i].name.view())
      return false;
  return true;
}

std::string_view bounded(const char* name) { return {name, strnlen(name, kClassicNameLength)}; }

Result describe(const StructureDesc& d) {
  Process& p = process();
  Description made;
  made.name = Text::copy(bounded(d.name));
  if (made.name.empty()) return Result::error("OnStructureDef: the struct has no name");
  const char* name = made.name.c_str();
  if (d.ptrCount < 0 || d.strCount < 0 || (d.ptrCount > 0 && d.ptrOffset == nullptr) ||
      (d.strCount > 0 && (d.strOffset == nullptr || d.strName == nullptr)))
    return Result::error("OnStructureDef(\"%s\"): a count without offsets or names", name);
  for (int i = 0; i < d.ptrCount; ++i) {
    if (d.ptrOffset[i] < 0 || d.ptrOffset[i] % static_cast<int>(alignof(void*)) != 0)
      return Result::error(
          "OnStructureDef(\"%s\"): no pointer can be at offset %d; offsets are those of offsetof", name,
          d.ptrOffset[i]);
    made.pointers.push_back(static_cast<uint64_t>(d.ptrOffset[i]));
  }
  for (int i = 0; i < d.strCount; ++i) {
    if (d.strOffset[i] < 0)
      return Result::error("OnStructureDef(\"%s\"): no struct can be at offset %d", name, d.strOffset[i]);
    Description::Inner& inner = made.inner.push_back({});
    inner.offset = static_cast<uint64_t>(d.strOffset[i]);
    inner.name = Text::copy(bounded(d.strName + static_cast<size_t>(i) * kClassicNameLength));
  }
  const Description* known = find_description(p, made.name.view());
  if (known != nullptr && !same(*known, made))
    return Result::error("OnStructureDef: \"%s\" was described before, differently", name);
  if (known == nullptr) p.descriptions.push_back(std::move(made));
  return Result();
}

// The offsets of all pointers of a struct and of the structs in it.
Result collect(const Process& p, const Description& d, uint64_t base, int depth, Vector<uint64_t>* offsets) {
  if (depth > 60) return Result::error("OnStrDef: \"%s\" contains itself", d.name.c_str());
  for (const uint64_t offset : d.pointers) offsets->push_back(base + offset);
  for (const Description::Inner& inner : d.inner) {
    const Description* found = find_description(p, inner.name.view());
    if (found == nullptr)
      return Result::error("OnStrDef: \"%s\", which is in \"%s\", was not described by OnStructureDef",
                           inner.name.c_str(), d.name.c_str());
    ELC_TRY(collect(p, *found, base + inner.offset, depth + 1, offsets));
  }
  return Result();
}

void sort(Vector<uint64_t>* offsets) {
  for (size_t i = 1; i < offsets->size(); ++i)
    for (size_t k = i; k > 0 && (*offsets)[k - 1] > (*offsets)[k]; --k)
      std::swap((*offsets)[k - 1], (*offsets)[k]);
}

// A struct of pointers, and bytes between them.
Result make_type(const Process& p, const char* name, size_t size, ELC_Type* type) {
  const Description* d = find_description(p, name);
  if (d == nullptr) return Result::error("OnStrDef: \"%s\" was not described by OnStructureDef", name);
  Vector<uint64_t> offsets;
  ELC_TRY(collect(p, *d, 0, 0, &offsets));
  sort(&offsets);
  Vector<ELC_Field> fields;
  size_t end = 0;
  for (const uint64_t at : offsets) {
    const size_t offset = static_cast<size_t>(at);
    if (at + sizeof(void*) > size)
      return Result::error("OnStrDef: \"%s\" has a pointer at offset %llu, but only %llu bytes", name,
                           static_cast<unsigned long long>(offset), static_cast<unsigned long long>(size));
    if (offset > end) fields.push_back({"bytes", end, ELC_BYTE, offset - end});
    fields.push_back({"pointer", offset, ELC_POINTER, 1});
    end = offset + sizeof(void*);
  }
  if (end < size) fields.push_back({"bytes", end, ELC_BYTE, size - end});
  *type = ELC_Struct(name, size, static_cast<int>(fields.size()), fields.data());
  return *type == ELC_NO_TYPE ? Result::error("OnStrDef: \"%s\" was not made", name) : Result();
}

}  // namespace

TypeId type_described(const char* name, uint64_t packed) {
  const Process& p = process();
  const Description* d = find_description(p, name);
  Vector<uint64_t> pointers;
  if (d == nullptr || !collect(p, *d, 0, 0, &pointers).ok()) return ELC_NO_TYPE;
  const uint64_t of_pointer = format::Representation::here().packed_width(format::kPointer);
  if (packed < pointers.size() * of_pointer) return ELC_NO_TYPE;
  const uint64_t size = packed - pointers.size() * (of_pointer - sizeof(void*));
  ELC_Type type = ELC_NO_TYPE;
  return make_type(p, name, static_cast<size_t>(size), &type).ok() ? type : ELC_NO_TYPE;
}

}  // namespace elc::state

using elc::state::process;

extern "C" {

ELC_EXPORT const ELC_Flow* ELC_Classic_tail(void) {
  static ELC_Flow tail;
  tail.LABEL = ELC_Resume_label();
  return &tail;
}

ELC_EXPORT int ELC_Classic_skip(int fid) {
  process().skip_was_asked = true;
  return fid != 0 && elc::state::recovering() ? 1 : 0;
}

ELC_EXPORT void ELC_Classic_enter(const char* function, int label, int fid) {
  elc::state::Process& p = process();
  const bool asked = p.skip_was_asked;
  p.skip_was_asked = false;
  if (fid == 0) ELC_Set_label(label);
  if (fid != 0 && !asked) elc::state::miss_skip(p, function, fid);
  elc::state::enter(p, function, fid != 0);
}

ELC_EXPORT int ELC_Classic_site(int label, int fid) {
  if (fid == 0) {
    ELC_Set_label(label);
    return 0;
  }
  elc::state::take_label();
  return elc::state::recovering() ? 1 : 0;
}

ELC_EXPORT void ELC_Classic_variable(const char* name, void* address, ELC_Type type, size_t size) {
  const size_t element = ELC_Sizeof(type);
  const bool fits = element > 0 && size % element == 0;
  const int result =
      fits ? elc::state::define(elc::state::name_of(name), address, type, size / element, ELC_NO_TYPE)
           : elc::state::define(elc::state::name_of(name), address, ELC_BYTE, size, ELC_NO_TYPE);
  elc::state::settle(name, result);
}

ELC_EXPORT void ELC_Classic_pointers(const char* name, void* address, size_t count, ELC_Type target) {
  elc::state::settle(name,
                     elc::state::define(elc::state::name_of(name), address, ELC_POINTER, count, target));
}

ELC_EXPORT void ELC_Classic_file(const char* name, FILE** address) {
  elc::state::settle(name, ELC_Register(elc::state::name_of(name), static_cast<void*>(address), ELC_FILE, 1));
}

ELC_EXPORT void OnStructureDef(StructureDesc description) {
  elc::state::settle(description.name, elc::state::outcome(elc::state::describe(description)));
}

// `element` is the size of what the address points to, if the compiler knew it; else it is one struct.
ELC_EXPORT void ELC_Classic_struct(const char* name, void* address, size_t element, size_t size, const char* type_name) {
  if (element <= 1 || size % element != 0) element = size;
  ELC_Type type = ELC_NO_TYPE;
  int result = elc::state::outcome(elc::state::make_type(process(), type_name, element, &type));
  if (result == ELC_OK && element > 0)
    result = elc::state::define(elc::state::name_of(name), address, type, size / element, ELC_NO_TYPE);
  elc::state::settle(name, result);
}
}
