// A hash table from 64-bit keys to values: open addressing, linear probing, deletion by shifting
// back (no tombstones). Values move by memcpy, as in Vector. Iteration order is unspecified but
// depends on nothing except the operations made.
#ifndef ELC_BASE_HASH_MAP_H
#define ELC_BASE_HASH_MAP_H

#include <stdint.h>
#include <string.h>

#include "base/vector.h"

namespace elc {

// Finalizer of splitmix64 (Steele, Lea, Flood 2014): a bijection of 64 bits that mixes well.
inline uint64_t mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class V>
class HashMap {
 public:
  struct Entry {
    uint64_t key = 0;
    bool used = false;
    V value{};
  };

  size_t size() const { return size_; }

  // The value of `key`, or nullptr. Valid until the next insertion or removal.
  V* find(uint64_t key) {
    if (slots_.empty()) return nullptr;
    for (size_t i = home(key);; i = next(i)) {
      if (!slots_[i].used) return nullptr;
      if (slots_[i].key == key) return &slots_[i].value;
    }
  }
  const V* find(uint64_t key) const { return const_cast<HashMap*>(this)->find(key); }

  // The value of `key`, made by V() if it was not there. Valid until the next insertion or removal.
  V& at(uint64_t key) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    for (size_t i = home(key);; i = next(i)) {
      if (slots_[i].used && slots_[i].key == key) return slots_[i].value;
      if (slots_[i].used) continue;
      slots_[i].used = true;
      slots_[i].key = key;
      ++size_;
      return slots_[i].value;
    }
  }

  // Removes `key` if it is there.
  void remove(uint64_t key) {
    if (slots_.empty()) return;
    size_t hole = home(key);
    for (; slots_[hole].key != key || !slots_[hole].used; hole = next(hole))
      if (!slots_[hole].used) return;
    slots_[hole].value = V();
    for (size_t i = next(hole); slots_[i].used; i = next(i)) {
      const size_t wanted = home(slots_[i].key);
      // Shift back every entry whose home does not lie between the hole and its place.
      const bool stays = hole < i ? (hole < wanted && wanted <= i) : (hole < wanted || wanted <= i);
      if (stays) continue;
      slots_[hole].key = slots_[i].key;
      slots_[hole].value = std::move(slots_[i].value);
      slots_[i].value = V();
      hole = i;
    }
    slots_[hole].used = false;
    --size_;
  }

  void clear() {
    slots_.clear();
    size_ = 0;
  }

  // Calls visit(key, value) for each entry; the table may not be changed meanwhile.
  template <class F>
  void each(F visit) {
    for (Entry& e : slots_)
      if (e.used) visit(e.key, e.value);
  }
  template <class F>
  void each(F visit) const {
    for (const Entry& e : slots_)
      if (e.used) visit(e.key, e.value);
  }

 private:
  size_t home(uint64_t key) const { return mix64(key) & (slots_.size() - 1); }
  size_t next(size_t i) const { return (i + 1) & (slots_.size() - 1); }
  void grow() {
    Vector<Entry> old;
    old.swap(slots_);
    slots_.resize(old.empty() ? 8 : old.size() * 2);
    size_ = 0;
    for (Entry& e : old)
      if (e.used) at(e.key) = std::move(e.value);
  }

  Vector<Entry> slots_;
  size_t size_ = 0;
};

}  // namespace elc

#endif
