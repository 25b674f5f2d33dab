// The outcome of one nondeterministic call: replayed from the log of a line, or recorded in it.
#ifndef ELC_MPI_RUNTIME_OUTCOME_H
#define ELC_MPI_RUNTIME_OUTCOME_H

#include "mpi/runtime/runtime.h"

namespace elc::mpi {

// Outside of a window and a replay it costs two tests of flags.
class Outcome {
 public:
  // Looks whether this call has a logged outcome to repeat.
  explicit Outcome(line::NdKind kind) : kind_(kind) {
    if (!runtime.coordinator->replaying()) return;
    const Bytes* logged = runtime.coordinator->replay_outcome(kind);
    if (logged == nullptr) return;
    replayed_ = true;
    value_.append(logged->data(), logged->size());
  }

  bool replayed() const { return replayed_; }
  // Waits until `done` is true, as the log says that it was. false: all processes were released meanwhile, so
  // that it need not come true any more: the call goes on as one without a logged outcome.
  template <class F>
  bool repeat(F done) {
    wait_until([&] {
      if (done()) return true;
      replayed_ = runtime.coordinator->replaying();
      return !replayed_;
    });
    if (!replayed_) value_.clear();
    return replayed_;
  }
  // The i-th number of a replayed outcome; 0 for one that it does not have.
  int at(size_t i) const {
    if (4 * i + 4 > value_.size()) return 0;
    return Decoder(value_.data() + 4 * i, 4).i32();
  }
  size_t size() const { return value_.size() / 4; }

  // A fresh outcome is made of numbers, in order; added when nothing is left to wait for, because the
  // window may open while the call waits.
  void add(int number) {
    if (runtime.coordinator->recording()) Encoder(&value_).i32(number);
  }
  // At the end of the call, replayed or fresh.
  void record() {
    if (runtime.coordinator->recording()) runtime.coordinator->record_outcome(kind_, value_);
  }

 private:
  line::NdKind kind_;
  bool replayed_ = false;
  Bytes value_;
};

}  // namespace elc::mpi

#endif
