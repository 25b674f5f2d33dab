// A growing array. Elements are moved by memcpy when it grows: any type but one that holds a
// pointer into itself will do.
#ifndef ELC_BASE_VECTOR_H
#define ELC_BASE_VECTOR_H

#include <stddef.h>
#include <string.h>

#include <new>
#include <utility>

#include "base/memory.h"

namespace elc {

namespace detail {
// The growth of all vectors, once: arrays of `size`-byte elements. They return the new place.
void* resize_array(void* data, size_t* capacity, size_t wanted, size_t size);
void* grow_array(void* data, size_t* capacity, size_t least, size_t size);  // at least doubles
}  // namespace detail

template <class T>
class Vector {
 public:
  Vector() = default;
  Vector(Vector&& other) noexcept { swap(other); }
  Vector& operator=(Vector&& other) noexcept {
    if (this != &other) {
      Vector empty;
      swap(empty);
      swap(other);
    }
    return *this;
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  ~Vector() {
    clear();
    release(data_);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void reserve(size_t capacity) {
    if (capacity > capacity_) data_ = static_cast<T*>(detail::resize_array(data_, &capacity_, capacity, sizeof(T)));
  }
  // Appends and returns the new element. The argument may not be an element of this vector.
  T& push_back(T value) {
    grow_for(1);
    return *new (static_cast<void*>(data_ + size_++)) T(std::move(value));
  }
  void append(const T* from, size_t count) {  // plain data only
    grow_for(count);
    if (count > 0) memcpy(static_cast<void*>(data_ + size_), from, count * sizeof(T));
    size_ += count;
  }
  void resize(size_t size) {
    if (size > size_) grow_for(size - size_);
    while (size_ < size) new (static_cast<void*>(data_ + size_++)) T();
    while (size_ > size) data_[--size_].~T();
  }
  void pop_back() { data_[--size_].~T(); }
  void erase(size_t i) {  // keeps the order
    data_[i].~T();
    --size_;
    memmove(static_cast<void*>(data_ + i), static_cast<void*>(data_ + i + 1), (size_ - i) * sizeof(T));
  }
  void clear() {
    while (size_ > 0) pop_back();
  }
  void swap(Vector& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void grow_for(size_t more) {
    if (size_ + more <= capacity_) return;
    data_ = static_cast<T*>(detail::grow_array(data_, &capacity_, size_ + more, sizeof(T)));
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace elc

#endif
