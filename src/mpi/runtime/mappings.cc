#include "mpi/runtime/mappings.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

namespace elc::mpi {

void read_all(const char* path, Bytes* bytes) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  uint8_t piece[4096];
  for (ssize_t n; fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0;) bytes->append(piece, static_cast<size_t>(n));
  if (fd >= 0) close(fd);
}

Mappings::Mappings() {
  read_all("/proc/self/maps", &text_);
  raw_.append(text_.data(), text_.size());
  text_.push_back(0);
  for (char* line = reinterpret_cast<char*>(text_.data()); char* const end = strchr(line, '\n'); line = end + 1) {
    *end = '\0';
    Mapping m;
    int at = 0;
    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %n", &m.begin, &m.end, m.rights, &at) < 3) break;
    m.path = line + at;
    all_.push_back(m);
  }
}

unsigned long Mappings::base_of(const char* path) const {
  for (const Mapping& m : all_)
    if (strcmp(m.path, path) == 0) return m.begin;
  return 0;
}

const char* Mappings::path_at(uintptr_t address) const {
  for (const Mapping& m : all_)
    if (m.begin <= address && address < m.end) return m.path;
  return "";
}

// They are in ascending order.
bool Mappings::readable(uintptr_t begin, uint64_t size) const {
  uint64_t at = begin;
  const uint64_t end = begin + size;
  for (const Mapping& m : all_) {
    if (at >= end) break;
    if (m.end <= at) continue;
    if (m.begin > at || m.rights[0] != 'r') return false;
    at = m.end;
  }
  return at >= end;
}

}  // namespace elc::mpi
