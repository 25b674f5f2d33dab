#include "store/held.h"

#include <string.h>

#include "base/memory.h"
#include "store/system.h"

namespace elc::store {
namespace {

constexpr size_t kPiece = size_t{4} << 20;  // between two of them it is seen that it is not wanted any more

}  // namespace

Held::~Held() {
  end();
  release(memory_);
}

bool Held::make_room(uint64_t size) {
  end();
  size_ = 0;
  if (!Beside::possible() || size > SIZE_MAX) return false;
  // What is far too large is given back.
  if (size <= room_ && room_ / 2 <= size) return true;
  release(memory_);
  memory_ = static_cast<uint8_t*>(try_allocate(static_cast<size_t>(size)));
  room_ = memory_ == nullptr ? 0 : static_cast<size_t>(size);
  use_huge_pages(memory_, room_);
  return memory_ != nullptr;
}

bool Held::append(const void* data, size_t size) {
  if (room_ - size_ < size) return false;
  memcpy(memory_ + size_, data, size);
  size_ += size;
  return true;
}

Result Held::write(RankFile* file) {
  for (size_t at = 0; at < size_; at += kPiece) {
    if (started() && beside_.given_up()) return Result::error("it is not wanted any more");
    ELC_TRY(file->write(memory_ + at, size_ - at < kPiece ? size_ - at : kPiece));
  }
  size_ = 0;
  return {};
}

void Held::start(RankFile* file) {
  file_ = file;
  file_->keep_pace();
  beside_.start([](void* self) {
    Held& held = *static_cast<Held*>(self);
    held.result_ = held.write(held.file_);
  }, this);
}

Result Held::finish() {
  beside_.wait();
  file_ = nullptr;
  return static_cast<Result&&>(result_);
}

void Held::end() {
  beside_.give_up();
  if (started()) static_cast<void>(finish());
}

void Held::forget() {
  beside_.forget();
  file_ = nullptr;
}

}  // namespace elc::store
