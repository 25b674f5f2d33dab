// Programs that a tool has prepared as a whole (elc_program.h): their variables, their functions, their memory.
#include "elc_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "state/blocks.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

void register_variables(const ELC_Program_module& module) {
  Process& p = process();
  for (size_t i = 0; i < module.variable_count; ++i) {
    const ELC_Program_variable& v = module.variables[i];
    const TypeId target = v.target == nullptr ? TypeId{format::kNone} : *v.target;
    const Result added = add_region(v.name, v.address, *v.type, v.count, target, {}, v.is_constant != 0);
    if (added.ok()) continue;
    outcome(added);
    p.unregistered = Text::format("'%s'", v.name);
  }
}

// A copy that is part of lines.
char* copy_text(const char* text, size_t length) {
  char* const copy = static_cast<char*>(ELC_new(ELC_CHAR, length + 1));
  if (copy != nullptr) memcpy(copy, text, length);
  return copy;
}

}  // namespace

char** begin_program(const ELC_Program& program, int argc, char** argv) {
  Process& p = process();
  p.is_prepared = true;
  for (size_t i = 0; i < program.module_count; ++i) {
    const ELC_Program_module* module = program.modules[i];
    if (module == nullptr) continue;
    module->make_types();
    for (size_t k = 0; k < module->function_count; ++k)
      if (ELC_Register_function(module->functions[k].name, module->functions[k].function) != ELC_OK)
        p.unregistered = Text::format("the function %s", module->functions[k].name);
    register_variables(*module);
  }
  if (program.draws_numbers != 0) ELC_Register_random();
  if (argv == nullptr) return nullptr;
  const size_t count = argc < 0 ? 0 : static_cast<size_t>(argc);
  char** const copy = static_cast<char**>(ELC_new(ELC_POINTER, count + 1));
  for (size_t i = 0; copy != nullptr && i < count && argv[i] != nullptr; ++i) copy[i] = copy_text(argv[i], strlen(argv[i]));
  return copy == nullptr ? argv : copy;
}

// What is nothing but bytes to a line may hold no addresses: a restart would have those of the run of the line.
Result check_bytes(const Process& p, const uint8_t* begin, uint64_t size) {
  constexpr uint64_t kWord = sizeof(uintptr_t);
  if (!p.is_prepared) return Result();
  const uint64_t skip = (kWord - reinterpret_cast<uintptr_t>(begin) % kWord) % kWord;
  for (uint64_t at = skip; at + kWord <= size; at += kWord) {
    const void* word;
    memcpy(&word, begin + at, kWord);
    if (word == nullptr) continue;
    if (p.blocks->encode(word).block == format::kWildBlock && p.function_by_address.find(reinterpret_cast<uintptr_t>(word)) == nullptr)
      continue;
    return Result::error("%llu bytes of which the program does not say what they are hold an address (%p, at byte %llu): a restart "
                         "would not set it; let the result of malloc be converted to a pointer to what it will hold",
                         static_cast<unsigned long long>(size), word, static_cast<unsigned long long>(at));
  }
  return Result();
}

}  // namespace elc::state

using elc::state::Block;
using elc::state::Process;
using elc::state::process;

extern "C" {

ELC_EXPORT void* ELC_Program_as(void* memory, ELC_Type type) {
  Process& p = process();
  Block* const block = memory == nullptr ? nullptr : p.heap.find(memory);
  if (block == nullptr || (block->type != ELC_BYTE && !block->guessed)) return memory;
  const uint64_t element = p.types.size_of(type);
  if (element == 0 || block->size == 0 || block->size % element != 0) return memory;
  block->type = type;
  block->guessed = false;
  return memory;
}

ELC_EXPORT void (*ELC_Program_target(void))(void) {
  const Process& p = process();
  const size_t depth = p.frames.size();
  if (depth >= p.saved_frames.size()) elc::state::give_up(elc::state::misplaced());
  const elc::Text& name = p.saved_frames[depth].function;
  for (const elc::state::Function& f : p.functions)
    if (f.name.view() == name.view()) return f.address;
  elc::state::give_up(elc::Result::error("the line was taken in %s(), which was called by a pointer, and the program has no such function "
                                         "whose address is taken: restart the program that made the line",
                                         name.c_str()));
}

ELC_EXPORT char* ELC_Program_strdup(const char* text) { return elc::state::copy_text(text, strlen(text)); }

ELC_EXPORT char* ELC_Program_strndup(const char* text, size_t most) { return elc::state::copy_text(text, strnlen(text, most)); }

ELC_EXPORT char* ELC_Program_getenv(const char* name) {
  const char* const value = getenv(name);
  return value == nullptr ? nullptr : elc::state::copy_text(value, strlen(value));
}
}
