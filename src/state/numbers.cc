// Constants of MPI, sizes of types, and what else is a number of the machine, that a prepared program may have in variables (elc_program.h). Each MPI, and each machine, has
// numbers of its own for them, and a variable of a line is the number that it is: so a line has the numbers, and a restart goes on where
// they are the same.
#include <string.h>

#include "elc_program.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

struct Number {
  const ELC_Program_number* constant;
  int words[kNumberWords];  // as lines have it: whether it is kept, and its value
};

Vector<Number*>& numbers() {
  static Vector<Number*>& all = *make<Vector<Number*>>();
  return all;
}

}  // namespace

void add_number(const ELC_Program_number* constant) {
  Number* const number = make<Number>(Number{constant, {constant->is_kept, constant->value}});
  numbers().push_back(number);
  outcome(add_global(constant->name, number->words, ELC_INT, kNumberWords));
  process().globals.back().is_number = true;
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
  number->words[0] = 1;
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
    if (change && line[0] != 0) number->words[0] = 1;
  }
  return Result();
}

}  // namespace elc::state
