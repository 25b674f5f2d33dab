#include "base/vector.h"

namespace elc {

Array::Array(Array&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
  other.data_ = nullptr;
  other.size_ = other.capacity_ = 0;
}

void Array::reserve(size_t capacity, size_t element) {
  if (capacity <= capacity_) return;
  data_ = reallocate(data_, capacity * element);
  capacity_ = capacity;
}

void* Array::extend(size_t count, size_t element) {
  const size_t first = size_, size = first + count;
  if (size > capacity_) reserve(size > 2 * capacity_ ? size : 2 * capacity_, element);
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
  std::swap(capacity_, other.capacity_);
}

}  // namespace elc
