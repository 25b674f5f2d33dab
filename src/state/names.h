// Names of functions and variables on the stack: copied, because a program may make them up, and
// taken back by resetting a mark, because functions are entered and left often.
#ifndef ELC_STATE_NAMES_H
#define ELC_STATE_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

namespace elc::state {

// FNV-1a (Fowler, Noll, Vo) of a name; its length on the way.
inline uint32_t hash_name(const char* name, size_t* length) {
  uint32_t hash = 2166136261u;
  const char* at = name;
  for (; *at != '\0'; ++at) hash = (hash ^ static_cast<uint8_t>(*at)) * 16777619u;
  *length = static_cast<size_t>(at - name);
  return hash;
}

// Chunks do not move, so a name keeps its address until its mark is reset.
class NameStack {
 public:
  struct Mark {
    uint32_t chunk = 0;
    uint32_t used = 0;
    bool operator==(const Mark&) const = default;
  };

  NameStack() = default;
  NameStack(const NameStack&) = delete;
  NameStack& operator=(const NameStack&) = delete;
  ~NameStack() {
    for (Chunk& chunk : chunks_) release(chunk.data);
  }

  Mark mark() const { return top_; }
  void reset(Mark mark) { top_ = mark; }

  // A copy of a name of `length` characters, ended by a zero, and behind that room for `more` bytes.
  char* push(const char* name, size_t length, size_t more = 0) {
    const size_t all = length + more;
    while (top_.chunk >= chunks_.size() || chunks_[top_.chunk].size - top_.used <= all) next(all + 1);
    char* copy = chunks_[top_.chunk].data + top_.used;
    memcpy(copy, name, length);
    copy[length] = '\0';
    top_.used += static_cast<uint32_t>(all + 1);
    return copy;
  }

 private:
  struct Chunk {
    char* data;
    uint32_t size;
  };
  static constexpr size_t kChunk = 4096;

  void next(size_t least) {
    if (top_.chunk < chunks_.size()) top_ = {top_.chunk + 1, 0};
    if (top_.chunk < chunks_.size()) return;
    const size_t size = least > kChunk ? least : kChunk;
    chunks_.push_back({static_cast<char*>(allocate(size)), static_cast<uint32_t>(size)});
  }

  Vector<Chunk> chunks_;
  Mark top_;
};

}  // namespace elc::state

#endif
