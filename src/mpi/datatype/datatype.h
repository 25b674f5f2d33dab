// What the library knows of MPI datatypes: how each was made (so that it can be saved and made again),
// and how its elements lie in memory (so that a message can be packed, kept, and unpacked elsewhere).
//
// The MPI_Type_* wrappers record every constructor under a number. A record, and the MPI object, live until
// the program has freed the type and no other type and no `retain` needs it: MPI_Type_free is carried out
// then.
#ifndef ELC_MPI_DATATYPE_DATATYPE_H
#define ELC_MPI_DATATYPE_DATATYPE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/serial/representation_code.h"
#include "mpi/serial/section.h"

namespace elc::mpi {

// Off: the wrappers of MPI_Type_* only call MPI (a passive library). On unless it is said otherwise.
void record_datatypes(bool on);

// All other functions may be called only between PMPI_Init and PMPI_Finalize. Both are to be called with an
// InsideMpi (inside.h) alive: LAM's make and free types by the MPI_Type_* that the program is linked with.

// ---- Numbers ----

// The library's own number of a handle (section.h); kNoDatatype for one that is freed, was never made, or was made by a constructor
// that is not wrapped and that known() has not seen. Never asks MPI: any bits may be given.
uint64_t number_of(MPI_Datatype type);
// The handle of a number. A predefined type that the MPI at hand lacks is given as one of the same
// representation (MPI_INT32_T as MPI_INT). Errors: a number that no live type has; nothing of that
// representation.
Result handle_of(uint64_t number, MPI_Datatype* type);
// The name of a predefined type, "MPI_INT"; "MPI_DATATYPE_NULL"; "derived"; "unknown" for a number that none
// has.
const char* datatype_name(uint64_t number);

// Does the library know the type? One made by a constructor that is not wrapped is learned from
// MPI_Type_get_envelope and MPI_Type_get_contents, so `type` must be a handle that MPI accepts. False for
// MPI_DATATYPE_NULL and for what cannot be learned (the F90 types, nesting deeper than 1000).
bool known(MPI_Datatype type);

// Keeps a type known, and its MPI object usable, beyond an MPI_Type_free of the program: for pending requests
// and posted receives. Returns its number (kNoDatatype: nothing was kept). As cheap as one look into a hash
// table; predefined types are not counted.
uint64_t retain(MPI_Datatype type);
// The reverse: once for each retain, and for each retain of the run that was saved (a restored request
// retains its type again with retain_number). Unknown numbers are ignored.
void release(uint64_t number);
// As retain, for a type that came from a line; false for a number that no live type has.
bool retain_number(uint64_t number);

// ---- Sizes ----

// Bytes of one element without gaps, on this machine: what MPI_Type_size says, but not limited to int. 0 for
// a type that is not known.
uint64_t packed_size(MPI_Datatype type);
// The same in another representation; 0 also for a code that is not valid.
uint64_t packed_size(MPI_Datatype type, uint64_t representation_code);
// Bytes from one element to the next in memory (MPI_Type_get_extent); 0 for a type that is not known.
MPI_Aint extent(MPI_Datatype type);

// ---- Messages ----

// Appends the elements of `count` times `type` at `buffer` (that of the MPI call) to `out`: without gaps, in
// the order of the type map, in this machine's representation; at most `at_most` bytes (a partial receive;
// ends on the boundary of a basic element because MPI's messages do). Errors: a type that is not known; no memory.
Result pack(const void* buffer, int count, MPI_Datatype type, size_t at_most, Bytes* out);

struct Unpacked {
  bool truncated = false;  // the message is longer than count elements: what fits was put (MPI_ERR_TRUNCATE)
  uint64_t size = 0;       // bytes that were put, as they would count in a message on this machine
};

// The reverse of pack: puts a message of `size` bytes, written on a machine with `representation_code` (0:
// this one), into `count` elements of `type` at `buffer`. It may be shorter than the buffer. `result` is
// always set. Errors: a type that is not known; a code that is not valid; a value that does not fit a type of
// this machine (the text names value and limit; the elements before it were put); a message that ends inside
// a basic element; data of another machine that only its MPI could read (MPI_PACKED); bytes of another machine (MPI_BYTE, or
// characters) for memory that is known to be of something else, or, MPI_BYTE, is not known.
Result unpack(const uint8_t* data, size_t size, uint64_t representation_code, void* buffer, int count,
              MPI_Datatype type, Unpacked* result);

// The program has asked for this address, perhaps to make a datatype with it or with its distance from another.
void note_address(const void* address);

// ---- Lines ----

// Whether a number is an address of registered data, which has another place in a restart. An error if it is the distance of two
// blocks of the heap, or if it might be such an address and might be none.
Result is_address(intptr_t value, bool* is);
// Would the types mean the same in a restart that makes them again? After state::save. A displacement in bytes that is an
// address (for MPI_BOTTOM), or the distance of two variables, belongs to this run's memory. Which it is cannot be seen,
// only what is no place within one variable: what is farther than the largest registered thing is long, and a type all
// of whose displacements are addresses of registered data. The error names the constructor. Of what is an address for sure - with 32
// bits only what note_address has been told - a line has the place. Types of the set-up are made by every run for
// itself and are not looked at.
Result check_displacements();
// Writes all derived types that are live, and those that they are made from (FORMAT.md, "mpi"). Fails without memory.
Result save_datatypes(Encoder& out);
// Makes the types of a line that are not there yet, in their order, and commits those that were committed. A
// type that this run has already made is the line's if it has the same number and constructor, with the same
// counts and old types (displacements in bytes may differ: they belong to this run's memory); one that has
// the number but is another type gets a new number. Types that were freed in the line's run and were still
// needed are usable until released. Errors change nothing: data that are no table of datatypes, a type that
// this machine or MPI cannot make.
Result restore_datatypes(Decoder& in);
// When the data of the line have their memory, before they are read: types with addresses, and what is made of them, are made
// anew with those of this run.
Result place_datatypes();

}  // namespace elc::mpi

#endif
