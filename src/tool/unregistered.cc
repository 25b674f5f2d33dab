#include "unregistered.h"

#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "text.h"

namespace fs = std::filesystem;

namespace elc::tool {
namespace {

std::string hex(uint64_t n) {
  char text[32];
  snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(n));
  return text;
}

bool of_the_library(const Symbol& symbol) {
  for (const char* begin : {"_ZN3elc", "_ZNK3elc", "_ZZN3elc", "_ZZNK3elc", "_ZGVN3elc", "_ZGVZN3elc", "_ZN3ELC", "ompi_mpi_"})
    if (symbol.linked.rfind(begin, 0) == 0) return true;
  // The latter is of ELC_STATIC, in each function that has one.
  if (symbol.name == "ELC_Next_local" || symbol.name == "ELC_End_of_locals" || symbol.name == "elc_known") return true;
  return symbol.linked.rfind("_ZZ", 0) == 0 && symbol.linked.find("ELC_") != std::string::npos;  // in a function of elc.h
}

std::string value_of(const std::string& bytes) {
  if (bytes.size() > 8) return "";
  int64_t whole = 0;
  memcpy(&whole, bytes.data(), bytes.size());  // of this machine
  if (bytes.size() == 4) whole = static_cast<int32_t>(whole);
  if (bytes.size() < 8 || (whole < (int64_t{1} << 48) && whole > -(int64_t{1} << 48))) return std::to_string(whole);
  double real;
  memcpy(&real, bytes.data(), sizeof real);
  char text[32];
  snprintf(text, sizeof text, "%.17g", real);
  return text;
}

// Whether these bytes differ in something else than addresses.
bool differs(const MemoryFile& a, const MemoryFile::Region& x, const MemoryFile& b, const MemoryFile::Region& y, size_t from, size_t to) {
  for (size_t at = from; at < to;) {
    uint64_t words[2] = {0, 0};
    const bool whole = (x.begin + at) % 8 == 0 && at + 8 <= to;
    const size_t width = whole ? 8 : 1;
    memcpy(&words[0], &x.bytes[at], width);
    memcpy(&words[1], &y.bytes[at], width);
    const bool addresses = whole && a.is_address(words[0]) && b.is_address(words[1]);
    if (words[0] != words[1] && !addresses) return true;
    at += width;
  }
  return false;
}

// Whether all words that differ are addresses in the one.
bool only_addresses(const MemoryFile& a, const std::string& x, const std::string& y) {
  for (size_t at = 0; at < x.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    const size_t width = std::min(sizeof word, x.size() - at);
    memcpy(&word, &x[at], width);
    if (x.compare(at, width, y, at, width) != 0 && (width < sizeof word || !a.is_address(word))) return false;
  }
  return true;
}

bool differs_there(const MemoryFile& a, const Place& x, const std::string& at_x, const MemoryFile& b, const std::string& at_y) {
  if (at_x == at_y) return false;
  for (size_t at = 0; at < at_x.size(); ++at)
    if (at_x[at] != at_y[at] && a.is_registered(x.begin + at)) return false;
  if (!x.pointer) return true;
  for (size_t at = 0; at + sizeof(uint64_t) <= at_x.size(); at += sizeof(uint64_t)) {
    uint64_t p = 0, q = 0;
    memcpy(&p, &at_x[at], sizeof p);
    memcpy(&q, &at_y[at], sizeof q);
    if (p != q && !(a.is_address(p) && b.is_address(q))) return true;
  }
  return false;
}

void add_suspect(const MemoryFile& a, const MemoryFile::Region& x, const MemoryFile::Region& y, const Symbol& symbol, size_t from, size_t to, unsigned rank,
                 Suspects* found) {
  const uint64_t offset = x.begin + from - x.base;
  const std::string file = fs::path(x.path).filename().string();
  Suspect& suspect = (*found)[x.path + " " + hex(offset)];
  suspect.key = x.path + " " + hex(offset);
  suspect.name = symbol.name;
  suspect.about = symbol.function.empty() ? "" : "in " + symbol.function + "(), ";
  suspect.about += symbol.type.empty() ? count_text(symbol.size, "byte") : symbol.type;
  suspect.about += ", " + (symbol.place.empty() ? "in " + file : symbol.place);
  const std::string ours = x.bytes.substr(from, to - from), theirs = y.bytes.substr(from, to - from);
  if (only_addresses(a, ours, theirs)) {  // what it points to is elsewhere, or is not
    suspect.values = "leads elsewhere";
    return;
  }
  if (to - from <= 8) suspect.values = value_of(theirs) + " instead of " + value_of(ours);
  suspect.change[rank].push_back({hex(offset) + " " + std::to_string(to - from) + " " + x.path, ours});
}

}  // namespace

const Symbols& Unregistered::symbols_of(const std::string& path) {
  std::unique_ptr<Symbols>& symbols = symbols_[path];
  if (symbols == nullptr) symbols = std::make_unique<Symbols>(path);
  return *symbols;
}

void Unregistered::compare_regions(const MemoryFile& a, const MemoryFile::Region& x, const MemoryFile& b, const MemoryFile::Region& y, unsigned rank,
                                   Suspects* found) {
  const Symbols& symbols = symbols_of(x.path);
  if (symbols.empty()) nameless_.insert(x.path);
  const size_t size = std::min(x.bytes.size(), y.bytes.size());
  for (size_t at = 0; at < size;) {
    if (x.bytes[at] == y.bytes[at]) {
      ++at;
      continue;
    }
    const uint64_t address = x.begin + at;
    const Symbol* const symbol = symbols.at(address - x.base);
    if (symbol == nullptr) {  // between variables; or the program was stripped, and what is the library's cannot be told
      ++at;
      continue;
    }
    const uint64_t begin = symbol->begin + x.base;
    const size_t from = begin >= x.begin ? begin - x.begin : 0, to = std::min<uint64_t>(begin + symbol->size - x.begin, size);
    if (!a.is_registered(address) && !of_the_library(*symbol) && differs(a, x, b, y, from, to))
      add_suspect(a, x, y, *symbol, from, to, rank, found);
    at = std::max<size_t>(to, at + 1);
  }
}

// Local variables, and what variables lead to.
void Unregistered::compare_reached(const MemoryFile& a, const MemoryFile& b, unsigned rank, Suspects* found) {
  const std::map<std::string, Reached> ours = programs_.reached(a), theirs = programs_.reached(b);
  for (const auto& [key, one] : ours) {
    const auto other = theirs.find(key);
    if (other == theirs.end()) continue;
    for (size_t i = 0; i < std::min(one.places.size(), other->second.places.size()); ++i) {
      const Place &x = one.places[i], &y = other->second.places[i];
      const uint64_t size = std::min(x.size, y.size);
      const std::string at_x(a.at(x.begin, size), size), at_y(b.at(y.begin, size), size);
      if (!differs_there(a, x, at_x, b, at_y)) continue;
      Suspect& suspect = (*found)[key];
      const bool first = suspect.key.empty();
      suspect.key = key, suspect.name = one.name, suspect.about = one.about;
      if (first && x.pointer) suspect.values = "leads elsewhere";
      else if (first && size <= 8) suspect.values = value_of(at_y) + " instead of " + value_of(at_x);
      if (!x.pointer && !y.way.empty()) suspect.change[rank].push_back({y.way + " " + std::to_string(size) + " " + y.file, at_x});
    }
  }
}

Suspects Unregistered::compare(const MemoryFile& a, const MemoryFile& b, unsigned rank) {
  Suspects found;
  for (const MemoryFile::Region& region : a.regions)
    for (const MemoryFile::Region& its : b.regions)
      if (region.path == its.path && region.begin - region.base == its.begin - its.base) compare_regions(a, region, b, its, rank, &found);
  compare_reached(a, b, rank, &found);
  const auto random = [&](const char* key, const char* name, const std::string& x, const std::string& y) {
    if (x == y || x.size() != y.size()) return;
    Suspect& suspect = found[key];
    suspect.key = key, suspect.name = name;
    suspect.change[rank].push_back({std::string(key) + " " + std::to_string(x.size()), x});
  };
  random("random", "the state of rand() and random()", a.random, b.random);
  random("rand48", "the state of drand48() and its like", a.rand48, b.rand48);
  return found;
}

}  // namespace elc::tool
