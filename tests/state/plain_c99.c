/* elc.h in C99 as every compiler has it: no _Generic, so no ELC_VAR; all else is there. Built as strict C99, warnings as
 * errors. */
#include "elc.h"

int plain_c99(void);
int plain_c99(void) {
  static int n;
  static int *p;
  int i = 0;
  ELC_ENTER();
  ELC_Register("i", &i, ELC_INT, 1);
  ELC_RESUME();
  for (i = 0; i < 3; i++) {
    ELC_AT(1);
    ELC_Checkpoint();
  }
  ELC_END();
  ELC_Leave();
  return ELC_Register("n", &n, ELC_INT, 1) + ELC_PTR(p) + ELC_RAW(n);
}
