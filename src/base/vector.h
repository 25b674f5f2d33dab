// A growing array. Elements are moved by memcpy when it grows: any type but one that holds a
// pointer into itself will do.
#ifndef ELC_BASE_VECTOR_H
#define ELC_BASE_VECTOR_H

#include <stddef.h>
#include <string.h>

#include <new>
#include <type_traits>
#include <utility>

#include "base/memory.h"

namespace elc {

// What all vectors have in common, compiled once for all types: an array of elements of a size that
// the caller knows. Its capacity is kept before the first element, so that vectors are cheap to make and move.
class Array {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t capacity() const { return data_ == nullptr ? 0 : header()->capacity; }

 protected:
  Array() = default;
  Array(Array&& other) noexcept : data_(other.data_), size_(other.size_) { other.data_ = nullptr, other.size_ = 0; }
  ~Array();

  void reserve(size_t capacity, size_t element);
  bool make_room(size_t more, size_t element);
  // Makes `count` elements more, which are not set yet; where the first of them is. At least doubles the
  // capacity when it does not suffice.
  void* extend(size_t count, size_t element);
  void append(const void* from, size_t count, size_t element);
  void* insert(size_t i, size_t element);  // makes place for one, which is not set yet
  void erase(size_t i, size_t element);    // keeps the order
  void swap(Array& other);

  void* data_ = nullptr;
  size_t size_ = 0;

 private:
  struct alignas(max_align_t) Header {  // so that the elements are aligned for anything
    size_t capacity;
  };
  Header* header() const { return static_cast<Header*>(data_) - 1; }
  size_t grown(size_t size) const { return size > 2 * capacity() ? size : 2 * capacity(); }
};

template <class T>
class Vector : public Array {
  // What is not plain data is moved from where it is; plain data are copied, large ones by reference.
  static constexpr bool kPlain = std::is_trivially_copyable_v<T>, kSmall = sizeof(T) <= 2 * sizeof(void*);
  using Argument = std::conditional_t<!kPlain, T&&, std::conditional_t<kSmall, T, const T&>>;

 public:
  Vector() = default;
  Vector(Vector&& other) noexcept : Array(static_cast<Array&&>(other)) {}
  Vector& operator=(Vector&& other) noexcept {
    if (this != &other) {
      clear();
      Array::swap(other);
    }
    return *this;
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  ~Vector() {
    destroy_from(0);
  }

  T* data() { return static_cast<T*>(data_); }
  const T* data() const { return static_cast<const T*>(data_); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(size_t capacity) { Array::reserve(capacity, sizeof(T)); }
  // For a vector that is as large as the program's data (memory.h): room for so many elements more, so that adding them
  // asks for no memory. false: there is none, and nothing has changed.
  bool make_room(size_t more) { return Array::make_room(more, sizeof(T)); }
  // Appends and returns the new element. The argument may not be an element of this vector.
  T& push_back(Argument value) {
    if constexpr (kPlain && !kSmall) {
      append(&value, 1);
      return back();
    } else {
      return *new (extend(1, sizeof(T))) T(static_cast<T&&>(value));
    }
  }
  // Appends one without a value of its own, and returns it.
  T& add() { return *new (extend(1, sizeof(T))) T(); }
  // As push_back where make_room has made room for it: nothing is asked.
  void push_in_room(Argument value) { new (static_cast<void*>(data() + size_++)) T(static_cast<Argument&&>(value)); }
  void append(const T* from, size_t count) {  // plain data only
    Array::append(from, count, sizeof(T));
  }
  void resize(size_t size) {
    if (size <= size_) {
      destroy_from(size);
      size_ = size;
      return;
    }
    const size_t more = size - size_;
    T* at = static_cast<T*>(extend(more, sizeof(T)));
    if constexpr (std::is_trivially_default_constructible_v<T>) {
      memset(static_cast<void*>(at), 0, more * sizeof(T));
    } else {
      for (; at != end(); ++at) new (static_cast<void*>(at)) T();
    }
  }
  void pop_back() {
    destroy_from(size_ - 1);
    --size_;
  }
  void insert(size_t i, T value) { new (Array::insert(i, sizeof(T))) T(static_cast<T&&>(value)); }
  void erase(size_t i) {  // keeps the order
    data()[i].~T();
    Array::erase(i, sizeof(T));
  }
  void clear() {
    destroy_from(0);
    size_ = 0;
  }
  void swap(Vector& other) { Array::swap(other); }

 private:
  void destroy_from(size_t first) {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (size_t i = size_; i > first;) data()[--i].~T();
  }
};

}  // namespace elc

#endif
