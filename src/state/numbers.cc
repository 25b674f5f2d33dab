// Constants of MPI, sizes of types, and what else is a number of the machine, that a prepared program may have in variables (elc_program.h). Each MPI, and each machine, has
// numbers of its own for them, and a variable of a line is the number that it is: so a line has the numbers, and a restart goes on where
// they are the same.
#include <limits.h>
#include <string.h>

#include <algorithm>

#include "base/compiler.h"
#include "base/sort.h"
#include "elc_program.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

struct Number {
  const ELC_Program_number* constant;
  int words[kNumberWords];  // as lines have it: whether it is kept, and its value
  bool was_given;           // to the program, or may have been
};

// A variable in a section that the program goes through from its beginning to its end.
struct Placed {
  const char* section;
  const char* name;
  const void* address;
};

Vector<Placed>& placed() {
  static Vector<Placed>& all = *make<Vector<Placed>>();
  return all;
}

Vector<Number*>& numbers() {
  static Vector<Number*>& all = *make<Vector<Number*>>();
  return all;
}

}  // namespace

void add_number(const ELC_Program_number* constant) {
  Number* const number = make<Number>(Number{constant, {constant->is_kept, constant->value}, false});
  numbers().push_back(number);
  outcome(add_global(constant->name, number->words, ELC_INT, kNumberWords));
  process().globals.back().is_number = true;
}

// The compiler has given them that order, and another level of optimisation may give another: what the program has gone through is not
// told by a place in it then.
void note_orders() {
  Vector<Placed>& all = placed();
  sort(all, [](const Placed& a, const Placed& b) {
    const int order = strcmp(a.section, b.section);
    return order != 0 ? order < 0 : a.address < b.address;
  });
  for (size_t i = 0; i < all.size();) {
    const char* const section = all[i].section;
    uint64_t hash = 0;
    for (; i < all.size() && strcmp(all[i].section, section) == 0; ++i) hash = mix_text(hash, all[i].name);
    const Text* const name = make<Text>(Text::format("the order of the variables in section %s, as a number", section));
    add_number(make<ELC_Program_number>(ELC_Program_number{name->c_str(), "__attribute__((section))", static_cast<int>(hash & INT_MAX), 1, nullptr}));
  }
  all.clear();
}

// Whether one of these functions is on the stack. A frame's name may have the file in front.
static bool is_among(const char* functions, const Process& p) {
  for (const Frame& frame : p.frames) {
    const char* const colon = strrchr(frame.function, ':');
    const char* const name = colon == nullptr ? frame.function : colon + 1;
    const size_t length = strlen(name);
    for (const char* at = functions; (at = strstr(at, name)) != nullptr; ++at)
      if ((at == functions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
  }
  return false;
}

void take_numbers(const Process& p) {
  for (Number* const number : numbers()) {
    const ELC_Program_number& constant = *number->constant;
    number->words[0] = number->was_given || (constant.is_kept != 0 && (constant.functions == nullptr || is_among(constant.functions, p)));
  }
}

static Number* find_number(const char* name) {
  for (Number* const number : numbers())
    if (strcmp(number->constant->name, name) == 0) return number;
  return nullptr;
}

int value_of_number(const char* name, int otherwise) {
  const Number* const number = find_number(name);
  return number == nullptr ? otherwise : number->constant->value;
}

int keep_number(const char* name, int otherwise) {
  Number* const number = find_number(name);
  if (number == nullptr) return otherwise;
  number->was_given = true;
  return number->constant->value;
}

Result take_number(const Region& region, const int line[kNumberWords], bool change) {
  for (Number* const number : numbers()) {
    if (reinterpret_cast<uint8_t*>(number->words) != region.address) continue;
    const ELC_Program_number& constant = *number->constant;
    const bool is_of_mpi = strncmp(constant.name, "MPI", 3) == 0;
    if (line[0] != 0 && line[1] != constant.value)
      return Result::error("the program may have %s in its variables (%s), which is %d in the line, and %d in %s: restart it %s",
                           constant.name, constant.place, line[1], constant.value, is_of_mpi ? "the MPI of this restart" : "this program on this machine",
                           is_of_mpi ? "with the MPI that the line was taken with (ranks that are none: -felc-common-ranks, elc-cc.1)" : "as it was, on a machine like that on which the line was taken");
    if (change && line[0] != 0) number->was_given = true;
  }
  return Result();
}

}  // namespace elc::state

extern "C" ELC_EXPORT void ELC_Program_in_section(const char* section, const char* name, const void* address) {
  auto& all = elc::state::placed();
  const auto is_same = [address](const elc::state::Placed& one) { return one.address == address; };
  if (std::none_of(all.begin(), all.end(), is_same)) all.push_back({section, name, address});
}
