// libFuzzer's target for the conversions (tests/format/fuzz converter).
#include "tests/format/converter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  elc::format::examine_conversions(data, size);
  return 0;
}
