// Arguments of Fortran routines as those of the functions in C (generate_fortran.py), where an MPI's library
// for Fortran goes past these: an INTEGER for a handle, other addresses for MPI_BOTTOM and the like, indices
// from 1. A LOGICAL is an int: what is not 0 is true, and true is 1. A status has the same bytes.
#ifndef ELC_MPI_CALLS_FORTRAN_ARGUMENTS_H
#define ELC_MPI_CALLS_FORTRAN_ARGUMENTS_H

#include <string.h>

#include "base/vector.h"
#include "mpi/calls/fortran.h"
#include "mpi/calls/refused.h"
#include "mpi/objects/fortran_handles.h"

#if !defined OPEN_MPI && ELC_HAVE_WEAK
extern "C" ELC_WEAK decltype(MPIR_F08_MPI_STATUS_IGNORE_OBJ) MPIR_F08_MPI_STATUS_IGNORE_OBJ;
extern "C" ELC_WEAK decltype(MPIR_F08_MPI_STATUSES_IGNORE_OBJ) MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
#endif

namespace elc::mpi {

// Addresses that stand for constants, by the spellings of compilers; without weak symbols, that of most.
#if ELC_HAVE_WEAK
#define ELC_FORTRAN_CONSTANT(NAME, LOWER, UPPER)                                                   \
  extern "C" ELC_WEAK char LOWER, LOWER##_, LOWER##__, UPPER;                                      \
  inline bool is_fortran_##NAME(const void* at) {                                                  \
    return at != nullptr && (at == &LOWER || at == &LOWER##_ || at == &LOWER##__ || at == &UPPER); \
  }
#else
#define ELC_FORTRAN_CONSTANT(NAME, LOWER, UPPER) \
  extern "C" char LOWER##_;                      \
  inline bool is_fortran_##NAME(const void* at) { return at == &LOWER##_; }
#endif
#if defined OPEN_MPI
ELC_FORTRAN_CONSTANT(bottom, mpi_fortran_bottom, MPI_FORTRAN_BOTTOM)
ELC_FORTRAN_CONSTANT(in_place, mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE)
ELC_FORTRAN_CONSTANT(unweighted, mpi_fortran_unweighted, MPI_FORTRAN_UNWEIGHTED)
ELC_FORTRAN_CONSTANT(no_weights, mpi_fortran_weights_empty, MPI_FORTRAN_WEIGHTS_EMPTY)
ELC_FORTRAN_CONSTANT(no_status, mpi_fortran_status_ignore, MPI_FORTRAN_STATUS_IGNORE)
ELC_FORTRAN_CONSTANT(no_statuses, mpi_fortran_statuses_ignore, MPI_FORTRAN_STATUSES_IGNORE)
#else  // in the module mpi_f08 of MPICH
inline bool is_fortran_no_status(const void* at) { return at == &MPIR_F08_MPI_STATUS_IGNORE_OBJ; }
inline bool is_fortran_no_statuses(const void* at) { return at == &MPIR_F08_MPI_STATUSES_IGNORE_OBJ; }
#endif
#undef ELC_FORTRAN_CONSTANT

inline int integer(Word word) { return static_cast<int>(*static_cast<const MPI_Fint*>(word)); }
inline int* integers(Word word) { return static_cast<int*>(word); }
inline int (*triples(Word word))[3] { return static_cast<int(*)[3]>(word); }
inline MPI_Aint address(Word word) { return *static_cast<const MPI_Aint*>(word); }
inline MPI_Aint* addresses(Word word) { return static_cast<MPI_Aint*>(word); }
template <class Kind>
typename Kind::Handle handle(Word word) {
  return Kind::from(*static_cast<const MPI_Fint*>(word));
}
// The last argument: mpi_f08 need not have it.
inline void give_code(Word word, int code) {
  if (word != nullptr) *static_cast<MPI_Fint*>(word) = code;
}

#if defined OPEN_MPI
inline void* buffer(Word word) {
  return is_fortran_bottom(word) ? MPI_BOTTOM : is_fortran_in_place(word) ? MPI_IN_PLACE : word;
}
inline const int* weights(Word word) {
  if (is_fortran_unweighted(word)) return MPI_UNWEIGHTED;
  return is_fortran_no_weights(word) ? MPI_WEIGHTS_EMPTY : integers(word);
}
#endif

// Handles that a call takes, gives, or changes.
template <class Kind>
class Handles {
 public:
  Handles(Word word, int count) : there_(static_cast<MPI_Fint*>(word)) {
    for (int i = 0; i < count; ++i) {
      before_.push_back(Kind::from(there_[i]));
      now_.push_back(before_[static_cast<size_t>(i)]);
    }
  }
  ~Handles() {
    for (size_t i = 0; i < now_.size(); ++i)
      if (now_[i] != before_[i]) there_[i] = Kind::to(now_[i]);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  typename Kind::Handle* data() { return now_.data(); }

 private:
  MPI_Fint* there_;
  Vector<typename Kind::Handle> before_, now_;
};

class Statuses {
 public:
  Statuses(Word word, int count)
      : there_(static_cast<char*>(word)),
        ignored_(is_fortran_no_status(word) || is_fortran_no_statuses(word)) {
    for (int i = 0; i < count && !ignored_; ++i) memcpy(&now_.push_back({}), place(i), sizeof(MPI_Status));
  }
  ~Statuses() {
    for (size_t i = 0; i < now_.size(); ++i) memcpy(place(static_cast<int>(i)), &now_[i], sizeof(MPI_Status));
  }
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;
  MPI_Status* one() { return ignored_ ? MPI_STATUS_IGNORE : now_.data(); }
  MPI_Status* all() { return ignored_ ? MPI_STATUSES_IGNORE : now_.data(); }

 private:
  char* place(int i) const { return there_ + static_cast<size_t>(i) * sizeof(MPI_Status); }

  char* there_;
  bool ignored_;
  Vector<MPI_Status> now_;
};

// What a call gives as places in an array: one, or `given` of them, of `most`.
class Indices {
 public:
  explicit Indices(Word word, Word given = nullptr, int most = 1)
      : there_(integers(word)), given_(integers(given)), most_(most) {}
  ~Indices() {
    const int count = given_ == nullptr ? 1 : *given_;
    for (int i = 0; i < count && count <= most_; ++i)
      if (there_[i] != MPI_UNDEFINED) ++there_[i];
  }
  Indices(const Indices&) = delete;
  Indices& operator=(const Indices&) = delete;
  int* data() { return there_; }

 private:
  int* there_;
  const int* given_;
  int most_;
};

// INTEGERs for addresses, as MPI-1 has them.
class Widened {
 public:
  Widened(Word word, int count) {
    for (int i = 0; i < count; ++i) all_.push_back(integers(word)[i]);
  }
  MPI_Aint* data() { return all_.data(); }

 private:
  Vector<MPI_Aint> all_;
};

static_assert(sizeof(MPI_Fint) == sizeof(int), "INTEGERs of Fortran are taken for ints");

}  // namespace elc::mpi

#endif
