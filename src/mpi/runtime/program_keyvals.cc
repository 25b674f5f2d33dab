// Keys of attributes that a prepared program makes (elc_program.h): of a few that are made at its beginning, as by a set-up.
#include <mpi.h>

#include "base/compiler.h"
#include "elc_program.h"
#include "mpi/runtime/program_keyvals.h"
#include "state/state.h"

namespace {

constexpr int kMost = ELC_PROGRAM_KEYVALS;
// The program's numbers are the same under each MPI, and none that an MPI gives.
constexpr int kFirst = 0x56000000;

#if MPI_VERSION >= 2
using Copy = MPI_Comm_copy_attr_function;
using Delete = MPI_Comm_delete_attr_function;
#else
using Copy = MPI_Copy_function;
using Delete = MPI_Delete_function;
#endif

// What a line has of a key (elc_program.h).
struct Slot {
  int number;

  void*& copy() const { return ELC_Program_keyval_pointers[number][0]; }
  void*& free() const { return ELC_Program_keyval_pointers[number][1]; }
  void*& extra() const { return ELC_Program_keyval_pointers[number][2]; }
  int& is_live() const { return ELC_Program_keyval_numbers[number][0]; }
  int& duplicates() const { return ELC_Program_keyval_numbers[number][1]; }
  int& attributes() const { return ELC_Program_keyval_numbers[number][2]; }
};

int keys[kMost];  // MPI's
int made = 0;

template <class F>
F* function_at(void* address) {
  return reinterpret_cast<F*>(reinterpret_cast<uintptr_t>(address));
}

Slot slot_of(void* extra) { return {static_cast<int>(static_cast<int*>(extra) - keys)}; }

int copy_attribute(MPI_Comm comm, int, void* extra, void* value, void* copied, int* is_copied) {
  const Slot slot = slot_of(extra);
  int code = MPI_SUCCESS;
  *is_copied = slot.duplicates();
  if (*is_copied != 0) *static_cast<void**>(copied) = value;
  else if (slot.copy() != nullptr) code = function_at<Copy>(slot.copy())(comm, kFirst + slot.number, slot.extra(), value, copied, is_copied);
  if (code == MPI_SUCCESS && *is_copied != 0) ++slot.attributes();
  return code;
}

int delete_attribute(MPI_Comm comm, int, void* value, void* extra) {
  const Slot slot = slot_of(extra);
  const int code = slot.free() == nullptr ? MPI_SUCCESS : function_at<Delete>(slot.free())(comm, kFirst + slot.number, value, slot.extra());
  if (code == MPI_SUCCESS) --slot.attributes();
  return code;
}

int create(Copy* copy, Delete* free, int* key, void* extra) {
#if MPI_VERSION >= 2
  return MPI_Comm_create_keyval(copy, free, key, extra);
#else
  return MPI_Keyval_create(copy, free, key, extra);
#endif
}

bool is_null(Copy* copy) {
#if MPI_VERSION >= 2
  if (copy == MPI_COMM_NULL_COPY_FN) return true;
#endif
  return copy == MPI_NULL_COPY_FN;
}

bool is_duplicating(Copy* copy) {
#if MPI_VERSION >= 2
  if (copy == MPI_COMM_DUP_FN) return true;
#endif
  return copy == MPI_DUP_FN;
}

bool is_null_delete(Delete* free) {
#if MPI_VERSION >= 2
  if (free == MPI_COMM_NULL_DELETE_FN) return true;
#endif
  return free == MPI_NULL_DELETE_FN;
}

template <class F>
void* address_of(F* function) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(function));
}

// The slot of one of the program's, or -1. One that was freed is a key while it has attributes, for MPIs and programs that delete these by it.
int number_of(int key) {
  const bool is_one = key >= kFirst && key < kFirst + made;
  const Slot slot = {is_one ? key - kFirst : 0};
  return is_one && (slot.is_live() != 0 || slot.attributes() != 0) ? slot.number : -1;
}

}  // namespace

namespace elc::mpi {

void make_keyvals() {
  for (; made < kMost; ++made)
    if (create(copy_attribute, delete_attribute, &keys[made], &keys[made]) != MPI_SUCCESS) return;
}

int keyval_of(int key) {
  const int number = number_of(key);
  return number < 0 ? key : keys[number];
}

}  // namespace elc::mpi

extern "C" {

ELC_EXPORT void* ELC_Program_keyval_pointers[ELC_PROGRAM_KEYVALS][3];
ELC_EXPORT int ELC_Program_keyval_numbers[ELC_PROGRAM_KEYVALS][3];

// One that the program has freed may have attributes, of which its functions are called.
ELC_EXPORT int ELC_Program_keyval_create(Copy* copy, Delete* free, int* key, void* extra) {
  for (int i = 0; i < made; ++i) {
    const Slot slot = {i};
    if (slot.is_live() != 0 || slot.attributes() != 0) continue;
    slot.is_live() = 1;
    slot.duplicates() = is_duplicating(copy) ? 1 : 0;
    slot.copy() = is_null(copy) || is_duplicating(copy) ? nullptr : address_of(copy);
    slot.free() = is_null_delete(free) ? nullptr : address_of(free);
    slot.extra() = extra;
    *key = kFirst + i;
    return MPI_SUCCESS;
  }
  return create(copy, free, key, extra);
}

ELC_EXPORT int ELC_Program_keyval_free(int* key) {
  const int number = number_of(*key);
  if (number >= 0 && Slot{number}.is_live() != 0) {
    Slot{number}.is_live() = 0;
    *key = elc::state::keep_number("MPI_KEYVAL_INVALID", MPI_KEYVAL_INVALID);
    return MPI_SUCCESS;
  }
#if MPI_VERSION >= 2
  return MPI_Comm_free_keyval(key);
#else
  return MPI_Keyval_free(key);
#endif
}

ELC_EXPORT int ELC_Program_set_attr(MPI_Comm comm, int key, void* value) {
  const int number = number_of(key);
#if MPI_VERSION >= 2
  const int code = MPI_Comm_set_attr(comm, elc::mpi::keyval_of(key), value);
#else
  const int code = MPI_Attr_put(comm, elc::mpi::keyval_of(key), value);
#endif
  if (code == MPI_SUCCESS && number >= 0) ++Slot{number}.attributes();
  return code;
}

ELC_EXPORT int ELC_Program_delete_attr(MPI_Comm comm, int key) {
#if MPI_VERSION >= 2
  return MPI_Comm_delete_attr(comm, elc::mpi::keyval_of(key));
#else
  return MPI_Attr_delete(comm, elc::mpi::keyval_of(key));
#endif
}
}
