// Calls of MPI from several threads (MPI_THREAD_SERIALIZED and MPI_THREAD_MULTIPLE). A lock keeps the library's own
// state; it is never held in a call of MPI that waits for other processes. A line is taken only while the threads but the
// one at the site are outside of MPI: nobody could say what a call under way has done. What other threads have on their
// stacks is no part of a line.
#ifndef ELC_MPI_RUNTIME_THREADS_H
#define ELC_MPI_RUNTIME_THREADS_H

#include <pthread.h>

namespace elc::mpi {

struct Threads {
  bool several = false;   // the program may call from more than one: else nothing here costs anything
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  unsigned inside = 0;    // threads in a wrapped call
  const void* first = nullptr;  // the thread that called first since the local checkpoint
  bool mixed = false;           // another one has called in the window since: the order of their calls is not logged
};

// MPI is initialised.
void expect_threads();

// Lives in each wrapped call of the program, from where it is followed to its end. `call`: "MPI_Recv".
class Entered {
 public:
  explicit Entered(const char* call);
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  static void begin(const char* call);
  static void end();
  static void enter();
  static void leave();

  // Calls of this thread that have been entered and not left: more than one where MPI has called the program back.
  static constinit thread_local unsigned depth;
  friend bool called_back();
  friend class EnteredShortly;
  friend void enter_call(const char* call);
  friend void leave_call();
  friend bool alone();
};

// Lives around a call of MPI on the short way in which MPI may call the program back. One thread is all that there is then.
class EnteredShortly {
 public:
  EnteredShortly() { ++Entered::depth; }
  ~EnteredShortly() { --Entered::depth; }
  EnteredShortly(const EnteredShortly&) = delete;
  EnteredShortly& operator=(const EnteredShortly&) = delete;
};

// The same in two calls, for wrappers that do without the rest of the runtime.
void enter_call(const char* call);
void leave_call();

// Lives around what may wait for other processes, in MPI or by yielding: other threads may enter meanwhile.
class Released {
 public:
  Released();
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  unsigned depth_ = 0;
};

// Calls a function of MPI that may wait for other processes.
template <class F>
int released(F call) {
  const Released released;
  return call();
}

// Whether no thread but this one is in MPI.
bool alone();
// Whether the call that this thread has entered last was made in a callback of another one (the function of an
// operation, the delete function of an attribute). That one is half done, and a restart would not do the rest: no place
// for a line.
inline bool called_back() { return Entered::depth > 1; }
// A local checkpoint begins a window: whose calls come after it is looked at anew.
void watch_threads();

}  // namespace elc::mpi

#endif
