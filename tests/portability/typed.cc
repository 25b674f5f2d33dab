// The headers' C++ macros as a program uses them. Compiled alone, with all warnings as errors (portability.py).
#include <elc.h>
#include <libELC.h>

namespace {

enum Color { kRed, kGreen };
struct Item {
  double place[2][3];
  Item* next;
};

int step;
double field[2][3];
Color color;
wchar_t letter;
Item* items;

}  // namespace

int typed_in_cxx(int n);
int typed_in_cxx(int n) {
  OnCallEnter(1, 0);
  const ELC_Field fields[] = {ELC_FIELD(Item, place)};
  double* block = static_cast<double*>(ELC_malloc(sizeof field));
  OnVarDef(&step, sizeof step);
  OnCallReturn();
  return ELC_VAR(step) + ELC_VAR(field) + ELC_VAR(color) + ELC_VAR(letter) + ELC_PTR(items) + ELC_PTR(block) +
         ELC_ARRAY(block, static_cast<size_t>(n)) + ELC_ND(step) + static_cast<int>(ELC_TYPE_OF(step)) +
         static_cast<int>(fields[0].count);
}
