// A hash table from 64-bit keys to values: open addressing, linear probing, deletion by shifting
// back (no tombstones). Values move by memcpy, as in Vector, and V() has to be all zero bytes.
// Iteration order is unspecified but depends on nothing except the operations made.
#ifndef ELC_BASE_HASH_MAP_H
#define ELC_BASE_HASH_MAP_H

#include <stdint.h>
#include <string.h>

#include <string_view>
#include <type_traits>

#include "base/memory.h"

namespace elc {

// Finalizer of splitmix64 (Steele, Lea, Flood 2014): a bijection of 64 bits that mixes well.
inline uint64_t mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Of a text behind what `hash` is of.
inline uint64_t mix_text(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return hash;
}

// What all tables have in common, compiled once for all types: `stride` bytes for each entry, which is a
// Slot and the value behind it.
class HashTable {
 public:
  HashTable(const HashTable&) = delete;
  HashTable& operator=(const HashTable&) = delete;

  size_t size() const { return size_; }

 protected:
  struct Slot {
    uint64_t key;
    bool used;
  };

  HashTable() = default;
  ~HashTable() { release(slots_); }
  void swap(HashTable& other);

  void* find(uint64_t key, size_t stride) const;  // the value; nullptr for none
  void* at(uint64_t key, size_t stride);
  bool make_room(size_t stride) { return (size_ + 1) * 4 <= slot_count() * 3 || grow(stride, true); }
  void remove(uint64_t key, size_t stride);
  void clear();
  // The next entry from slot `i` on, which goes on behind it; nullptr at the end.
  Slot* next(size_t* i, size_t stride) const;

 private:
  Slot* slot(size_t i, size_t stride) const { return reinterpret_cast<Slot*>(slots_ + i * stride); }
  size_t slot_count() const { return slots_ == nullptr ? 0 : mask_ + 1; }
  size_t probe(uint64_t key, size_t stride) const;
  bool grow(size_t stride, bool may_fail);

  char* slots_ = nullptr;  // a power of two
  size_t mask_ = 0;        // their number - 1
  size_t size_ = 0;
};

template <class V>
class HashMap : public HashTable {
 public:
  HashMap() = default;
  HashMap(HashMap&& other) noexcept { swap(other); }
  HashMap& operator=(HashMap&& other) noexcept {
    swap(other);
    return *this;
  }
  ~HashMap() { destroy_values(); }

  // The value of `key`, or nullptr. Valid until the next insertion or removal.
  V* find(uint64_t key) { return static_cast<V*>(HashTable::find(key, sizeof(Entry))); }
  const V* find(uint64_t key) const { return const_cast<HashMap*>(this)->find(key); }

  // The value of `key`, made by V() if it was not there. Valid until the next insertion or removal.
  V& at(uint64_t key) { return *static_cast<V*>(HashTable::at(key, sizeof(Entry))); }

  // For a table that is as large as the program's data (memory.h): room for one more, so that at() asks for no memory. false:
  // there is none, and nothing has changed.
  bool make_room() { return HashTable::make_room(sizeof(Entry)); }

  // Removes `key` if it is there.
  void remove(uint64_t key) {
    if constexpr (!std::is_trivially_destructible_v<V>)
      if (V* found = find(key)) found->~V();
    HashTable::remove(key, sizeof(Entry));
  }

  void clear() {
    destroy_values();
    HashTable::clear();
  }

  // Calls visit(key, value) for each entry; the table may not be changed meanwhile.
  template <class F>
  void each(F visit) {
    for (size_t i = 0; Slot* s = next(&i, sizeof(Entry));) visit(s->key, static_cast<Entry*>(s)->value);
  }
  template <class F>
  void each(F visit) const {
    const_cast<HashMap*>(this)->each([&visit](uint64_t key, const V& value) { visit(key, value); });
  }

 private:
  struct Entry : Slot {
    V value;
  };
  static_assert(sizeof(Entry) >= sizeof(Slot) + sizeof(V) && alignof(V) <= alignof(Slot));

  void destroy_values() {
    if constexpr (!std::is_trivially_destructible_v<V>) each([](uint64_t, V& value) { value.~V(); });
  }
};

}  // namespace elc

#endif
