// The variables of one scope - a frame, or the globals - by name and by place, where they are many: each that is registered
// is held against all others.
#ifndef ELC_STATE_SCOPE_H
#define ELC_STATE_SCOPE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash_map.h"
#include "base/vector.h"
#include "portable_format/types.h"

namespace elc::state {

// Most extents of an array.
constexpr uint32_t kMaxDimensions = 16;

// How a variable says where its elements are: by functions (ELC_Register_resizing), or as a pointer and an integer
// (ELC_Register_allocated; then `element` is not 0).
struct alignas(uint64_t) Resizing {
  void* object = nullptr;  // of the functions; the pointer
  int (*where)(void* object, void** address, size_t* count) = nullptr;
  void* (*room)(void* object, size_t count) = nullptr;
  int (*restored)(void* object) = nullptr;
  void* count = nullptr;  // the integer
  size_t element = 0;
  uint32_t count_size = 0;
  uint32_t count_is_signed = 0;
};

// A registered variable: `count` elements of `type` in `size` bytes at `address`.
struct Region {
  // Of a frame: on the name stack; of a global: owned. Its extents follow the zero, or how it says where it is. nullptr: it was
  // unregistered, and all else is as it is here.
  const char* name = nullptr;
  uint8_t* address = nullptr;
  uint64_t size = 0;
  uint64_t count = 0;
  format::TypeId type = 0;
  format::TypeId target = 0;  // pointers: the scalar type that they point to, if the compiler knew it
  uint32_t hash = 0;          // of the name
  uint32_t next = 0;          // of a scope's table: 1 + the number of the next with this hash
  uint8_t dimensions = 0;     // 0: no shape was declared, it is an array of `count`
  bool resizes = false;       // address and count are those of the last line: by now there may be others in its place
  bool is_exact = false;      // the library's: in a restart it is what it is in the line, or refused
  bool is_static = false;     // of a function: ELC_STATIC
  bool is_late = false;       // a static that the set-up has not registered: a restart may not know its address
  bool is_constant = false;   // known by its place alone: a restart writes nothing there
  bool is_number = false;     // in a prepared program: of MPI (numbers.cc)
  bool is_checked = false;    // in a prepared program: what is no pointer in it may be no address either
  bool is_waiting = false;    // a static of a line, whose function was not called yet: `address` is allocated

  Resizing resizing() const {
    Resizing how;
    memcpy(&how, name + strlen(name) + 1, sizeof how);
    return how;
  }
  uint64_t extent(uint32_t i) const {
    uint64_t extent;
    memcpy(&extent, name + strlen(name) + 1 + i * sizeof extent, sizeof extent);
    return extent;
  }
};

// A variable is a number in the vector that the scope is in; that vector is not owned, and comes with each call.
class ScopeTable {
 public:
  // So many variables are looked through one by one in the time that a table takes.
  static constexpr size_t kFew = 32;
  static constexpr size_t kNone = ~size_t{0};

  // Anew, of the variables from `first` to before `end`.
  void build(Vector<Region>& regions, size_t first, size_t end);
  void add(Vector<Region>& regions, size_t number);
  void remove(Vector<Region>& regions, size_t number);

  size_t find(const Vector<Region>& regions, const char* name, uint32_t hash) const;
  // The lowest number of a variable that has a byte of `added`, or into whose middle that begins, or which begins in its
  // middle: as `overlap` says. None that resizes, which only a line asks where it is.
  size_t overlapping(const Region& added) const;

 private:
  struct Place {
    uintptr_t begin, end;
    size_t number;
  };
  static Place place_of(const Vector<Region>& regions, size_t number);
  static bool before(const Place& a, const Place& b);
  size_t piece_of(const Place& place) const;

  HashMap<uint32_t> by_name_;      // by the hash: 1 + the number of the last with it
  mutable size_t last_ = 0;         // the piece that was looked for last: often the next is asked for the same place
  Vector<Vector<Place>> by_place_;  // in order, in pieces that are not empty: of a long one much would have to move
};

// No byte of a variable is another's. One without bytes has to begin outside of others, or at an end.
inline bool overlap(const Region& a, const Region& b) {
  return a.address < b.address + b.size && b.address < a.address + a.size;
}

}  // namespace elc::state

#endif
