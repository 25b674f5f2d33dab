// What is on its way to a file waits in memory, and a thread of the library's own writes it while the program runs on.
#ifndef ELC_STORE_HELD_H
#define ELC_STORE_HELD_H

#include <stddef.h>
#include <stdint.h>

#include "base/result.h"
#include "store/beside.h"
#include "store/store.h"

namespace elc::store {

class Held {
 public:
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held();

  // Room for so many bytes, which stays for the next time; what was held is not wanted any more. false: there is no memory, or
  // no thread can be here.
  bool make_room(uint64_t size);
  // false: it has no room.
  bool append(const void* data, size_t size);
  // Writes all of it to the file now.
  Result write(RankFile* file);
  // The same by a thread, to whom the file belongs until running() is false and finish() has said how that went.
  void start(RankFile* file);
  bool started() const { return file_ != nullptr; }
  bool running() { return beside_.running(); }
  Result finish();
  // What has not been written is not wanted any more; waits for what is being written.
  void end();
  // In a child that the program has forked: the thread is its parent's.
  void forget();

 private:
  Beside beside_;
  RankFile* file_ = nullptr;
  uint8_t* memory_ = nullptr;
  size_t room_ = 0;
  size_t size_ = 0;
  Result result_;
};

}  // namespace elc::store

#endif
