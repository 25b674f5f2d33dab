// libFuzzer's target for the reader and the conversions. See examine_input for the form of an input.
//
//   cd tests/format && clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined
//   -D_POSIX_C_SOURCE=200809L \
//     -I../../src -I../.. fuzz_reader.cc examine.cc ../../portable_format/*.cc \
//     ../../src/base/*.cc -lz -o /tmp/fuzz_reader
//   mkdir -p /tmp/found && /tmp/fuzz_reader -max_len=65536 /tmp/found corpus
#include "tests/format/examine.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  elc::format::examine_input(data, size);
  return 0;
}
