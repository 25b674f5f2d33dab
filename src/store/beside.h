// One thing that is done beside the program, by a thread of the library's own that calls no MPI and hears no signals.
#ifndef ELC_STORE_BESIDE_H
#define ELC_STORE_BESIDE_H

#include <pthread.h>

namespace elc::store {

class Beside {
 public:
  // Whether there are threads here.
  static bool possible();
  // Calls work(context) there, and returns at once; here, where there can be no thread. What was started before has ended
  // then.
  void start(void (*work)(void* context), void* context);
  bool running() { return is(running_); }
  // Waits until it is done.
  void wait();
  // Tells the work that it is not wanted any more, for which it may ask.
  void give_up() { set(&given_up_, true); }
  bool given_up() { return is(given_up_); }
  // In a child that the program has forked, in which the thread is not.
  void forget() { started_ = false; }

 private:
  static void* run(void* self);
  void set(bool* flag, bool value);
  bool is(const bool& flag);

  void (*work_)(void* context) = nullptr;
  void* context_ = nullptr;
  pthread_t thread_ = {};
  bool started_ = false;  // there is a thread to wait for
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // for what follows
  bool running_ = false;
  bool given_up_ = false;
};

}  // namespace elc::store

#endif
