// A machine's representation in one word, as messages in transit carry it.
#ifndef ELC_MPI_SERIAL_REPRESENTATION_CODE_H
#define ELC_MPI_SERIAL_REPRESENTATION_CODE_H

#include "base/result.h"
#include "portable_format/representation.h"

namespace elc::mpi {

// What one has to know of a machine to read a message of it, in one word: byte order; width of bool, short,
// int, long, long long, size_t, ptrdiff_t (MPI_Aint) and wchar_t; signs of char and wchar_t; format of long
// double and the bytes it takes in memory, which a message has too (12 or 16 for x87's 10). Different
// machines have different codes; never 0.
uint64_t representation_code(const format::Representation& representation, uint32_t long_double_bytes);
uint64_t native_representation_code();
// Whether all basic types have the same lengths in messages of two machines.
bool same_lengths(uint64_t code, uint64_t other);
// The reverse. 0 means this machine. Error: no machine has that code.
Result representation_of(uint64_t code, format::Representation* representation, uint32_t* long_double_bytes);

}  // namespace elc::mpi

#endif
