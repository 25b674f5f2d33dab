// The leaves of a value that the layer above encodes and decodes, and the visitor that shows values.
#ifndef ELC_FORMAT_VALUE_H
#define ELC_FORMAT_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/result.h"
#include "portable_format/representation.h"

namespace elc::format {

// A pointer in a file. The layer above numbers the blocks from 1.
struct PointerLeaf {
  uint64_t block = 0;
  uint64_t position = 0;  // see types.h
};
constexpr uint64_t kNullBlock = 0;             // position 0
constexpr uint64_t kWildBlock = ~uint64_t{0};  // position: the address it had, for people
// What a pointer to anything may lead to, and is no block; position: the number of a leaf of kind kFile, of one of kind kFunction.
constexpr uint64_t kStreamBlock = kWildBlock - 1, kFunctionBlock = kWildBlock - 2;
inline bool is_block(const PointerLeaf& pointer) { return pointer.block != kNullBlock && pointer.block < kFunctionBlock; }
// From here on a block is told by an id that it keeps from file to file, and not by its number in this one.
constexpr uint64_t kFirstById = uint64_t{1} << 63;

// "NULL", "wild 0x7f00", "stream 4", "function 2", "block 3 + 7", "heap block 3 + 7", "heap block 3 - 1" (of leaves).
void pointer_text(const PointerLeaf& pointer, char* text, size_t size);

// An MPI_Aint in a file is a pointer, too, if it is an address; as a number its block is kNullBlock and its position the number.
void address_text(const PointerLeaf& address, char* text, size_t size);

// An MPI_Status in a file. What the integers mean is the layer above's choice.
struct StatusLeaf {
  int32_t source = 0;
  int32_t tag = 0;
  int32_t error = 0;
  uint32_t flags = 0;
  uint64_t count = 0;           // bytes
  uint64_t representation = 0;  // of the machine on which they count
};

// Turns leaves in memory into numbers while a value is written. `leaf` is the address of the leaf in the
// program's memory (of a void *, a FILE *, an MPI_Comm, an MPI_Status ...). A function that is nullptr makes
// a value that has such a leaf an error. An error stops the value and comes out of write_value.
struct LeafEncoder {
  void* context = nullptr;
  Result (*pointer)(void* context, const void* leaf, PointerLeaf* out) = nullptr;
  // kFunction, kFile, kMpiComm, kMpiDatatype, kMpiRequest.
  Result (*handle)(void* context, Kind kind, const void* leaf, uint64_t* out) = nullptr;
  Result (*status)(void* context, const void* leaf, StatusLeaf* out) = nullptr;
  Result (*address)(void* context, const void* leaf, PointerLeaf* out) = nullptr;  // of an MPI_Aint
};

// Turns numbers into leaves while a value is read. `leaf` is the address to fill, or nullptr when the value
// is only checked; then the function says whether the number would do. As nothing else in the value need be
// there yet, a pointer into a block without an address can be noted by `leaf` and set later.
struct LeafDecoder {
  void* context = nullptr;
  Result (*pointer)(void* context, const PointerLeaf& in, void* leaf) = nullptr;
  Result (*handle)(void* context, Kind kind, uint64_t in, void* leaf) = nullptr;
  Result (*status)(void* context, const StatusLeaf& in, void* leaf) = nullptr;
  Result (*address)(void* context, const PointerLeaf& in, void* leaf) = nullptr;
};

// Shows a value leaf by leaf. `path` is the place in C's notation ("" for a lone scalar, "[2].x"), `text` the
// value: integers in decimal, floating point with all its digits ("inf"; "nan(0x8000000000000)" with the
// bits of the fraction), a complex as its two leaves (.re, .im), pointers as above, other handles a number. Returns
// false to stop.
struct LeafVisitor {
  void* context = nullptr;
  bool (*leaf)(void* context, const char* path, Kind kind, const char* text) = nullptr;
};

}  // namespace elc::format

#endif
