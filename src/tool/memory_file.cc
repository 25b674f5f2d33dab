#include "memory_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "lines.h"

namespace elc::tool {
namespace {

bool in_one(const std::vector<MemoryFile::Range>& ranges, uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const MemoryFile::Range& range) { return range.holds(address); });
}

std::string bytes_of(std::istream& in, uint64_t size) {
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  return bytes;
}

void add_mapped(const std::string& table, std::vector<MemoryFile::Range>* ranges) {
  std::istringstream in(table);
  for (std::string line; std::getline(in, line);) {
    MemoryFile::Range range;
    char dash = 0;
    std::istringstream words(line);
    if (words >> std::hex >> range.begin >> dash >> range.end && dash == '-') ranges->push_back(range);
  }
}

}  // namespace

bool MemoryFile::is_registered(uint64_t address) const { return in_one(registered, address); }
bool MemoryFile::is_address(uint64_t value) const { return in_one(mapped, value); }

MemoryFile read_memory(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  MemoryFile memory;
  std::string head, word;
  while (std::getline(in, head) && head != "end") {
    std::istringstream words(head);
    uint64_t size = 0;
    words >> word;
    if (word == "line") {
      words >> memory.line >> word >> memory.site >> word >> memory.printed;
    } else if (word == "registered") {
      MemoryFile::Range range;
      words >> std::hex >> range.begin >> size;
      range.end = range.begin + size;
      memory.registered.push_back(range);
    } else if (word == "region") {
      MemoryFile::Region region;
      words >> std::hex >> region.begin >> region.end >> region.base;
      std::getline(words >> std::ws, region.path);
      if (region.end < region.begin) break;
      region.bytes = bytes_of(in, region.end - region.begin);
      memory.regions.push_back(std::move(region));
    } else {
      words >> size;
      const std::string bytes = bytes_of(in, size);
      if (word == "random") memory.random = bytes;
      else if (word == "rand48") memory.rand48 = bytes;
      else if (word == "maps") add_mapped(bytes, &memory.mapped);
    }
    if (!words && !words.eof()) break;
  }
  if (!in || head != "end") throw Refusal(kCannot, path + " is not whole: the run ended while it was written");
  return memory;
}

}  // namespace elc::tool
