#include "base/hash_map.h"

#include <utility>

#include "base/compiler.h"

namespace elc {

// Where the key is, or the free slot where it would be put. Inline: each message looks into some tables.
ELC_INLINE size_t HashTable::probe(uint64_t key, size_t stride) const {
  size_t i = static_cast<size_t>(mix64(key)) & mask_;
  for (;; i = (i + 1) & mask_) {
    const Slot* s = slot(i, stride);
    if (!s->used || s->key == key) return i;
  }
}

void* HashTable::find(uint64_t key, size_t stride) const {
  if (slots_ == nullptr) return nullptr;
  Slot* found = slot(probe(key, stride), stride);
  return found->used ? found + 1 : nullptr;
}

void* HashTable::at(uint64_t key, size_t stride) {
  if ((size_ + 1) * 4 > slot_count() * 3) grow(stride, false);
  Slot* s = slot(probe(key, stride), stride);
  if (!s->used) ++size_;
  s->used = true;
  s->key = key;
  return s + 1;
}

HashTable::Slot* HashTable::next(size_t* i, size_t stride) const {
  while (*i < slot_count())
    if (Slot* s = slot((*i)++, stride); s->used) return s;
  return nullptr;
}

void HashTable::remove(uint64_t key, size_t stride) {
  if (slots_ == nullptr) return;
  size_t hole = probe(key, stride);
  if (!slot(hole, stride)->used) return;
  for (size_t i = (hole + 1) & mask_; slot(i, stride)->used; i = (i + 1) & mask_) {
    const size_t home = static_cast<size_t>(mix64(slot(i, stride)->key)) & mask_;
    // Shift back every entry whose home does not lie between the hole and its place.
    if (((i - home) & mask_) < ((i - hole) & mask_)) continue;
    memcpy(static_cast<void*>(slot(hole, stride)), slot(i, stride), stride);
    hole = i;
  }
  char* entry = slots_ + hole * stride;
  constexpr size_t kUnit = alignof(Slot);  // a part of every stride: 4 bytes on i386, where an entry may have 20
  for (size_t i = 0; i < stride; i += kUnit) memset(entry + i, 0, kUnit);  // short: no call
  --size_;
}

void HashTable::swap(HashTable& other) {
  std::swap(slots_, other.slots_);
  std::swap(mask_, other.mask_);
  std::swap(size_, other.size_);
}

void HashTable::clear() {
  release(slots_);
  slots_ = nullptr;
  mask_ = size_ = 0;
}

bool HashTable::grow(size_t stride, bool may_fail) {
  char* old = slots_;
  const size_t count = slot_count(), wanted = count == 0 ? 8 : 2 * count, size = wanted * stride;
  char* made = static_cast<char*>(may_fail ? try_allocate(size) : allocate(size));
  if (made == nullptr) return false;
  slots_ = made;
  memset(slots_, 0, wanted * stride);
  mask_ = wanted - 1;
  for (size_t i = 0; i < count; ++i) {
    const char* entry = old + i * stride;
    const Slot* s = reinterpret_cast<const Slot*>(entry);
    if (s->used) memcpy(slots_ + probe(s->key, stride) * stride, entry, stride);
  }
  release(old);
  return true;
}

}  // namespace elc
