// What the generated entry points for Fortran are made of (generate_fortran.py). What they call of the MPI's library for
// Fortran need not be there: a program in C that no part in Fortran is linked with has it not.
//
// An argument of a Fortran routine is an address, or behind all others the length of a string; a descriptor of an array is
// passed by its address, too. So all are words of a pointer's size. Where a routine has fewer than it is called with here
// (lengths that a compiler does not pass, MPI_Init's one), the others are whatever lies in registers or on the stack, and
// nobody looks at them: the one who calls takes them off.
//
// An entry point does one of this:
//   - it calls the function in C, which follows the call, with the arguments converted as the MPI's own routine does it;
//   - it calls the MPI's routine with what surrounds the call in the generated wrapper of the function in C;
//   - it calls the MPI's routine, which is known to call the function in C, and looks whether it has;
//   - it notices that it was called, and passes on its arguments: lines are refused from then on. So it is with whatever
//     the generator cannot convert.
#ifndef ELC_MPI_CALLS_FORTRAN_H
#define ELC_MPI_CALLS_FORTRAN_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/vector.h"
#include "mpi/runtime/inside.h"

#if !ELC_HAVE_WEAK
#define ELC_WEAK
#endif

namespace elc::mpi {

using Word = void*;

// Does nothing: whoever calls it is linked with the entry points.
void fortran_entry_points();

// MPI was called in a way that the library does not follow; `what`: a literal.
void called_from_fortran(const char* what);
// After and before the routines of MPI that start and end it.
void started_from_fortran();
void finishing_from_fortran();
// The program calls a routine that its MPI does not have: only this archive let it be linked.
[[noreturn]] void missing_in_fortran();

// Whether a call is to be followed; and whether the arguments of one can be converted, of one with weights, too.
bool follows_fortran();
bool converts_fortran();
bool converts_weights();
// Around a routine that calls a function in C.
const char* before_c();
void after_c(const char* before, const char* what);

// `routine`: that of the profiling interface.
template <class... Words>
void pass_on(void (*routine)(Words...), Words... words) {
  if (routine == nullptr) missing_in_fortran();
  InsideMpi inside;
  routine(words...);
}

template <class... Words>
void notice(const char* what, void (*routine)(Words...), Words... words) {
  called_from_fortran(what);
  pass_on(routine, words...);
}

template <class... Words>
void through_c(const char* what, void (*routine)(Words...), Words... words) {
  if (routine == nullptr) missing_in_fortran();
  const char* const before = before_c();
  routine(words...);
  after_c(before, what);
}

// A linker may leave out the MPI's library for Fortran where all else that the program calls is here: `in_c` does it then, and
// the program has the code at `error`, if it wants it.
template <class InC, class... Words>
void by_routine_or_c(InC in_c, Word error, void (*routine)(Words...), Words... words) {
  if (routine != nullptr) return pass_on(routine, words...);
  InsideMpi inside;
  const int code = in_c();
  if (error != nullptr) *static_cast<MPI_Fint*>(error) = code;
}

template <class InC, class... Words>
void start_from_fortran(InC in_c, Word error, void (*routine)(Words...), Words... words) {
  by_routine_or_c(in_c, error, routine, words...);
  started_from_fortran();
}

template <class InC, class... Words>
void finish_from_fortran(InC in_c, Word error, void (*routine)(Words...), Words... words) {
  finishing_from_fortran();
  by_routine_or_c(in_c, error, routine, words...);
}

// ---- Arguments ---------------------------------------------------------------------------------
//
// Objects hold an argument in C while the function is called (`c`), and give the program what it has written (`done`).
// Integers that are the same in both languages (converts_fortran) are not touched.

inline MPI_Fint* integers(Word a) { return static_cast<MPI_Fint*>(a); }
inline MPI_Fint integer(Word a) { return *integers(a); }
inline int logical(Word a) { return integer(a) != 0 ? 1 : 0; }
inline MPI_Aint* addresses(Word a) { return static_cast<MPI_Aint*>(a); }
inline MPI_Aint address(Word a) { return *addresses(a); }
inline MPI_Offset offset(Word a) { return *static_cast<MPI_Offset*>(a); }

// A buffer, or MPI_BOTTOM or MPI_IN_PLACE.
void* buffer(Word a);
bool is_in_place(Word a);
int* weights(Word a);
bool ignores_status(Word a);
// What the MPI's Fortran writes for .true.
MPI_Fint true_in_fortran();

// `Kind`: how handles of one kind are converted (ELC_FORTRAN_HANDLE). Not all MPIs have a type in C for each.
#define ELC_FORTRAN_HANDLE(KIND, NAME)                                          \
  struct KIND##Number {                                                         \
    using Handle = MPI_##KIND;                                                  \
    static Handle from(MPI_Fint number) { return PMPI_##NAME##_f2c(number); }   \
    static MPI_Fint to(Handle handle) { return PMPI_##NAME##_c2f(handle); }     \
  }

template <class Kind>
typename Kind::Handle handle(Word a) {
  return Kind::from(integer(a));
}

// Text that the call reads, without the blanks around it. Of its length compilers pass an int or a size_t.
class String {
 public:
  String(Word a, Word length) {
    const char* begin = static_cast<const char*>(a);
    const char* end = begin + static_cast<int>(reinterpret_cast<intptr_t>(length));
    while (begin < end && *begin == ' ') ++begin;
    while (begin < end && end[-1] == ' ') --end;
    text_.append(begin, static_cast<size_t>(end - begin));
    text_.push_back('\0');
  }
  const char* c() { return text_.data(); }
  void done(int) {}

 private:
  Vector<char> text_;
};

// One that the call makes.
template <class Kind>
class Made {
 public:
  explicit Made(Word a) : number_(integers(a)) {}
  typename Kind::Handle* c() { return &handle_; }
  void done(int code) {
    if (code == MPI_SUCCESS) *number_ = Kind::to(handle_);
  }

 private:
  MPI_Fint* number_;
  typename Kind::Handle handle_ = {};
};

// One that the call looks at and may change.
template <class Kind>
class Changed {
 public:
  explicit Changed(Word a) : number_(integers(a)), before_(Kind::from(*number_)), handle_(before_) {}
  typename Kind::Handle* c() { return &handle_; }
  void done(int) {
    if (handle_ != before_) *number_ = Kind::to(handle_);
  }

 private:
  MPI_Fint* number_;
  typename Kind::Handle before_, handle_;
};

// `n` elements; few of them cost no allocation.
template <class T>
class Several {
 public:
  explicit Several(int n) : n_(n < 0 ? 0 : static_cast<size_t>(n)) {
    if (n_ > kFew) many_.resize(n_);
  }
  T* data() { return n_ > kFew ? many_.data() : few_; }
  T& operator[](size_t i) { return data()[i]; }
  size_t size() const { return n_; }

 private:
  static constexpr size_t kFew = 16;
  size_t n_;
  T few_[kFew] = {};
  Vector<T> many_;
};

template <class Kind>
class Handles {
 public:
  Handles(Word a, int n) : handles_(n) {
    for (size_t i = 0; i < handles_.size(); ++i) handles_[i] = Kind::from(integers(a)[i]);
  }
  const typename Kind::Handle* c() { return handles_.data(); }
  void done(int) {}

 private:
  Several<typename Kind::Handle> handles_;
};

template <class Kind>
class ChangedHandles {
 public:
  ChangedHandles(Word a, int n) : numbers_(integers(a)), before_(n), handles_(n) {
    for (size_t i = 0; i < handles_.size(); ++i) handles_[i] = before_[i] = Kind::from(numbers_[i]);
  }
  typename Kind::Handle* c() { return handles_.data(); }
  void done(int) {
    for (size_t i = 0; i < handles_.size(); ++i)
      if (handles_[i] != before_[i]) numbers_[i] = Kind::to(handles_[i]);
  }

 private:
  MPI_Fint* numbers_;
  Several<typename Kind::Handle> before_, handles_;
};

// LOGICAL, which the call writes; and an array of them, which it reads.
class Flag {
 public:
  explicit Flag(Word a) : logical_(integers(a)) {}
  int* c() { return &flag_; }
  void done(int code) {
    if (code == MPI_SUCCESS) *logical_ = flag_ != 0 ? true_in_fortran() : 0;
  }

 private:
  MPI_Fint* logical_;
  int flag_ = 0;
};

class Logicals {
 public:
  Logicals(Word a, int n) : flags_(n) {
    for (size_t i = 0; i < flags_.size(); ++i) flags_[i] = integers(a)[i] != 0 ? 1 : 0;
  }
  const int* c() { return flags_.data(); }
  void done(int) {}

 private:
  Several<int> flags_;
};

// Positions in an array, which Fortran counts from 1. `n`: how many the call has written, or MPI_UNDEFINED.
class Positions {
 public:
  Positions(Word a, const MPI_Fint* n) : positions_(integers(a)), n_(n) {}
  MPI_Fint* c() { return positions_; }
  void done(int code) {
    if ((code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) || *n_ == MPI_UNDEFINED) return;
    for (MPI_Fint i = 0; i < *n_; ++i) ++positions_[i];
  }

 private:
  MPI_Fint* positions_;
  const MPI_Fint* n_;
};

class Position {
 public:
  explicit Position(Word a) : position_(integers(a)) {}
  MPI_Fint* c() { return position_; }
  void done(int code) {
    if (code == MPI_SUCCESS && *position_ != MPI_UNDEFINED) ++*position_;
  }

 private:
  MPI_Fint* position_;
};

// Statuses begin as the program has them, so that what the call does not write stays. The numbers of one in Fortran are
// those of its bytes in C, also for TYPE(MPI_Status).
class Statuses {
 public:
  Statuses(Word a, int n) : ignored_(ignores_status(a)), f_(integers(a)), statuses_(ignored_ ? 0 : n) {
    for (size_t i = 0; i < statuses_.size(); ++i) PMPI_Status_f2c(f_ + i * kWords, &statuses_[i]);
  }
  MPI_Status* c() { return ignored_ ? MPI_STATUSES_IGNORE : statuses_.data(); }
  void done(int) {
    for (size_t i = 0; i < statuses_.size(); ++i) PMPI_Status_c2f(&statuses_[i], f_ + i * kWords);
  }

 private:
  static constexpr size_t kWords = sizeof(MPI_Status) / sizeof(MPI_Fint);
  bool ignored_;
  MPI_Fint* f_;
  Several<MPI_Status> statuses_;
};

class Status {
 public:
  explicit Status(Word a) : ignored_(ignores_status(a)), f_(integers(a)) {
    if (!ignored_) PMPI_Status_f2c(f_, &status_);
  }
  MPI_Status* c() { return ignored_ ? MPI_STATUS_IGNORE : &status_; }
  void done(int) {
    if (!ignored_) PMPI_Status_c2f(&status_, f_);
  }

 private:
  bool ignored_;
  MPI_Fint* f_;
  MPI_Status status_;
};

// Addresses that are INTEGER, as in MPI-1.
class OldAddresses {
 public:
  OldAddresses(Word a, int n) : addresses_(n) {
    for (size_t i = 0; i < addresses_.size(); ++i) addresses_[i] = integers(a)[i];
  }
  MPI_Aint* c() { return addresses_.data(); }
  void done(int) {}

 private:
  Several<MPI_Aint> addresses_;
};

// Elements of arrays that have one for each process that this one sends to, or receives from, in a collective operation.
int targets(MPI_Comm comm);
int neighbours(MPI_Comm comm, bool to);
int dimensions(MPI_Comm comm);

// The last argument, which the module mpi_f08 lets a program leave out.
inline void ended(Word ierror, int code) {
  if (ierror != nullptr) *integers(ierror) = code;
}

}  // namespace elc::mpi

#endif
