// libFuzzer's target for everything that reads a checkpoint file (tests/format/fuzz reader).
#include <string.h>

#include <random>

#include "tests/format/examine.h"
#include "tests/format/fuzz_mpi.h"
#include "tests/format/layers.h"

using namespace elc::format;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  examine_reader_input(data, size);
  if (size > 0 && data[0] < 3) examine_mpi(file_of_input(data, size));
  return 0;
}

// Of an input that is assembled from sections one is changed, and its length set right.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  if (size < 5 || data[0] != 2 || random() % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  std::vector<size_t> sections;
  for (size_t at = 2; at + 3 <= size; at += 3 + (static_cast<size_t>(data[at + 1]) << 8 | data[at + 2])) {
    sections.push_back(at);
  }
  const size_t at = sections[random() % sections.size()];
  const size_t begin = at + 3, rest = size - begin;
  const size_t length = std::min<size_t>(static_cast<size_t>(data[at + 1]) << 8 | data[at + 2], rest);
  const std::string behind(reinterpret_cast<char*>(data) + begin + length, rest - length);
  const size_t room = std::min<size_t>(most - begin - behind.size(), 65535);
  std::vector<uint8_t> content(data + begin, data + begin + length);
  content.resize(std::max<size_t>(room, 1));
  const size_t now = std::min(LLVMFuzzerMutate(content.data(), std::min(length, room), room), room);
  data[at + 1] = static_cast<uint8_t>(now >> 8);
  data[at + 2] = static_cast<uint8_t>(now);
  memcpy(data + begin, content.data(), now);
  memcpy(data + begin + now, behind.data(), behind.size());
  return begin + now + behind.size();
}
