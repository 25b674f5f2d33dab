#include "memory_file.h"

#include <string.h>

#include <algorithm>
#include <fstream>
#include <iterator>
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

std::vector<uint64_t> numbers_in(const std::string& bytes) {
  std::vector<uint64_t> numbers(bytes.size() / sizeof(uint64_t));
  memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(uint64_t));
  return numbers;
}

void add_mapped(const std::string& table, MemoryFile* memory) {
  std::istringstream in(table);
  for (std::string line; std::getline(in, line);) {
    MemoryFile::Range range;
    char dash = 0;
    std::istringstream words(line);
    if (!(words >> std::hex >> range.begin >> dash >> range.end) || dash != '-') continue;
    memory->mapped.push_back(range);
    if (const size_t slash = line.find('/'); slash != std::string::npos) memory->files.try_emplace(line.substr(slash), range.begin);
  }
}

}  // namespace

bool MemoryFile::is_registered(uint64_t address) const {
  const auto behind = std::upper_bound(registered.begin(), registered.end(), address, [](uint64_t a, const Range& range) { return a < range.begin; });
  return behind != registered.begin() && std::prev(behind)->holds(address);
}
bool MemoryFile::is_address(uint64_t value) const { return in_one(mapped, value); }

const char* MemoryFile::at(uint64_t address, uint64_t size) const {
  for (const std::vector<Region>* all : {&others, &regions})
    for (const Region& region : *all)
      if (region.holds(address)) return size <= region.end - address ? region.bytes.data() + (address - region.begin) : nullptr;
  return nullptr;
}

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
    } else if (word == "registered" || word == "variable") {
      MemoryFile::Range range;
      words >> std::hex >> range.begin >> size;
      range.end = range.begin + size;
      (word == "variable" ? memory.variables : memory.registered).push_back(range);
    } else if (word == "region") {
      MemoryFile::Region region;
      words >> std::hex >> region.begin >> region.end >> region.base;
      std::getline(words >> std::ws, region.path);
      if (region.end < region.begin) break;
      region.bytes = bytes_of(in, region.end - region.begin);
      (region.path.rfind('[', 0) == 0 ? memory.others : memory.regions).push_back(std::move(region));
    } else {
      words >> size;
      const std::string bytes = bytes_of(in, size);
      if (word == "random") memory.random = bytes;
      else if (word == "rand48") memory.rand48 = bytes;
      else if (word == "registers") memory.registers = numbers_in(bytes);
      else if (word == "maps") add_mapped(bytes, &memory);
    }
    if (!words && !words.eof()) break;
  }
  std::sort(memory.registered.begin(), memory.registered.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  if (!in || head != "end") throw Refusal(kCannot, path + " is not whole: the run ended while it was written");
  return memory;
}

}  // namespace elc::tool
