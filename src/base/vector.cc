#include "base/vector.h"

#include <stdint.h>

namespace elc {

Array::~Array() {
  if (data_ != nullptr) release(header());
}

void Array::reserve(size_t capacity, size_t element) {
  if (capacity <= this->capacity()) return;
  void* old = data_ == nullptr ? nullptr : header();
  const size_t kept = sizeof(Header) + size_ * element;
  Header* made = static_cast<Header*>(reallocate(old, kept, sizeof(Header) + capacity * element));
  made->capacity = capacity;
  data_ = made + 1;
}

bool Array::make_room(size_t more, size_t element) {
  const size_t most = (PTRDIFF_MAX - sizeof(Header)) / element;
  if (more > most - size_) return false;
  if (size_ + more <= capacity()) return true;
  const size_t wanted = grown(size_ + more), capacity = wanted < most ? wanted : most;
  void* old = data_ == nullptr ? nullptr : header();
  const size_t kept = sizeof(Header) + size_ * element;
  Header* made = static_cast<Header*>(try_reallocate(old, kept, sizeof(Header) + capacity * element));
  if (made == nullptr) return false;
  made->capacity = capacity;
  data_ = made + 1;
  return true;
}

void* Array::extend(size_t count, size_t element) {
  const size_t first = size_, size = first + count;
  const size_t before = capacity();
  if (size > before) reserve(grown(size), element);
  size_ = size;
  return static_cast<char*>(data_) + first * element;
}

void Array::append(const void* from, size_t count, size_t element) {
  void* to = extend(count, element);
  if (count > 0) memcpy(to, from, count * element);
}

void* Array::insert(size_t i, size_t element) {
  extend(1, element);
  char* place = static_cast<char*>(data_) + i * element;
  memmove(place + element, place, (size_ - 1 - i) * element);
  return place;
}

void Array::erase(size_t i, size_t element) {
  char* hole = static_cast<char*>(data_) + i * element;
  memmove(hole, hole + element, (--size_ - i) * element);
}

void Array::swap(Array& other) {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
}

}  // namespace elc
