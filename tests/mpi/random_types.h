// What tests of datatypes share: random types, memory for their elements, and MPI's own packing.
#ifndef ELC_TESTS_MPI_RANDOM_TYPES_H
#define ELC_TESTS_MPI_RANDOM_TYPES_H

#include <doctest/doctest.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/datatype_table.h"

namespace elc::mpi {

// The seed of a random test: ELC_SEED if it is set, else another each time. The test prints it.
inline uint64_t test_seed() {
  const char* given = getenv("ELC_SEED");
  return given != nullptr ? strtoull(given, nullptr, 0) : std::random_device()();
}

using Random = std::mt19937_64;
inline int draw(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

inline MPI_Aint lower_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  return lower;
}

inline MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

// LAM/MPI makes types with bounds of their own, with gaps at the end, with empty blocks, or that do not begin
// at 0, but does not send them rightly when others are made of them: there is nothing to compare with.
inline bool mpi_sends_bounds() {
  long from[3] = {1, 2, 3}, to[2] = {0, 0};
  MPI_Datatype wide, two;
  MPI_Status status;
  PMPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &wide);
  PMPI_Type_contiguous(2, wide, &two);
  PMPI_Type_commit(&two);
  PMPI_Sendrecv(from, 1, two, 0, 1, to, 2, MPI_LONG, 0, 1, MPI_COMM_SELF, &status);
  PMPI_Type_free(&two);
  PMPI_Type_free(&wide);
  return to[0] == 1 && to[1] == 3;
}

// Random types whose elements do not overlap. All are kept until the end, then freed.
class Types {
 public:
  explicit Types(Random& random) : random_(random), with_bounds_(mpi_sends_bounds()) {}
  ~Types() { free_all(); }

  MPI_Datatype any(int depth) {
    if (depth == 0) return named();
    MPI_Datatype made = MPI_DATATYPE_NULL;
    switch (draw(random_, 0, 11)) {
      case 0:
        MPI_Type_contiguous(draw(random_, 0, 5), any(depth - 1), &made);
        break;
      case 1:
        vector(any(depth - 1), &made);
        break;
      case 2:
        hvector(any(depth - 1), &made);
        break;
      case 3:
        indexed(any(depth - 1), &made);
        break;
      case 4:
        hindexed(any(depth - 1), &made);
        break;
      case 5:
        indexed_block(any(depth - 1), &made);
        break;
      case 6:
        MPI_Type_dup(any(depth - 1), &made);
        break;
      case 7:
        with_bounds_ ? resized(any(depth - 1), &made) : vector(any(depth - 1), &made);
        break;
      case 8:
        with_bounds_ ? subarray(any(depth - 1), &made) : hvector(any(depth - 1), &made);
        break;
      case 9:
        with_bounds_ ? darray(any(depth - 1), &made) : indexed(any(depth - 1), &made);
        break;
      default:
        structure(depth, &made);
    }
    made_.push_back(made);
    // MPIs do not agree on the bounds of what holds nothing.
    return packed_size(made) == 0 ? named() : covered(made);
  }

  // A random type that holds something and stays small.
  MPI_Datatype committed() {
    for (;;) {
      MPI_Datatype type = any(draw(random_, 1, 4));
      if (packed_size(type) == 0 || packed_size(type) > 20000 || extent_of(type) > 200000) continue;
      MPI_Type_commit(&type);
      return type;
    }
  }

  void free_all() {
    std::shuffle(made_.begin(), made_.end(), random_);
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
    made_.clear();
  }

 private:
  // Bounds set by MPI_Type_create_resized stick (MPI-3.1, 4.1.6) and may leave out what else a type holds;
  // and arrays begin at 0 wherever their elements do. Neighbours would overlap: such a type gets bounds
  // around all of it.
  MPI_Datatype covered(MPI_Datatype type) {
    MPI_Aint first = 0, length = 0;
    PMPI_Type_get_true_extent(type, &first, &length);
    if (!with_bounds_ && lower_of(type) != 0) return named();
    const MPI_Aint lower = std::min(first, lower_of(type));
    const MPI_Aint upper = std::max(first + length, lower_of(type) + extent_of(type));
    if (lower == lower_of(type) && upper - lower == extent_of(type)) return type;
    if (!with_bounds_) return named();
    MPI_Datatype made;
    MPI_Type_create_resized(type, lower, upper - lower, &made);
    made_.push_back(made);
    return made;
  }
  // Without long double: some MPIs leave the padding of one as it was in the receiver.
  MPI_Datatype named() {
    const MPI_Datatype all[] = {MPI_CHAR,  MPI_SHORT,     MPI_INT,           MPI_LONG,     MPI_DOUBLE,
                                MPI_FLOAT, MPI_BYTE,      MPI_UNSIGNED_CHAR, MPI_UNSIGNED, MPI_LONG_LONG_INT,
                                MPI_2INT,  MPI_FLOAT_INT, MPI_SHORT_INT,     MPI_LONG_INT, MPI_DOUBLE_INT};
    return all[draw(random_, 0, with_bounds_ ? 14 : 11)];  // the last three have gaps
  }
  // Backwards at times; but Open MPI 4.1 takes a stride of -1 byte for none.
  bool backwards(MPI_Datatype old) { return draw(random_, 0, 3) == 0 && extent_of(old) > 1; }
  void vector(MPI_Datatype old, MPI_Datatype* made) {
    const int length = draw(random_, 0, 3), stride = length + draw(random_, 0, 2);
    MPI_Type_vector(draw(random_, 0, 4), length, backwards(old) ? -stride : stride, old, made);
  }
  void hvector(MPI_Datatype old, MPI_Datatype* made) {
    const int length = draw(random_, 1, 3);
    const MPI_Aint stride = length * extent_of(old) + 8 * draw(random_, 0, 2);
    MPI_Type_create_hvector(draw(random_, 1, 4), length, backwards(old) ? -stride : stride, old, made);
  }
  // Blocks in random order, with gaps.
  void blocks(int n, bool equal, std::vector<int>* lengths, std::vector<int>* displacements) {
    int at = draw(random_, -3, 3);
    const int same = draw(random_, 1, 3);
    std::vector<std::pair<int, int>> all;
    for (int i = 0; i < n; ++i) {
      const int length = equal ? same : draw(random_, least_, 3);
      all.push_back({at, length});
      at += length + draw(random_, 0, 2);
    }
    if (draw(random_, 0, 1) == 0) std::shuffle(all.begin(), all.end(), random_);
    for (auto [where, length] : all) {
      displacements->push_back(where);
      lengths->push_back(length);
    }
  }
  void indexed(MPI_Datatype old, MPI_Datatype* made) {
    std::vector<int> lengths, displacements;
    const int n = draw(random_, 1, 5);
    blocks(n, false, &lengths, &displacements);
    MPI_Type_indexed(n, lengths.data(), displacements.data(), old, made);
  }
  void hindexed(MPI_Datatype old, MPI_Datatype* made) {
    std::vector<int> lengths, displacements;
    const int n = draw(random_, 1, 5);
    blocks(n, false, &lengths, &displacements);
    std::vector<MPI_Aint> bytes;
    for (int d : displacements) bytes.push_back(d * extent_of(old) + 4);
    MPI_Type_create_hindexed(n, lengths.data(), bytes.data(), old, made);
  }
  void indexed_block(MPI_Datatype old, MPI_Datatype* made) {
    std::vector<int> lengths, displacements;
    const int n = draw(random_, 1, 5);
    blocks(n, true, &lengths, &displacements);
#if ELC_HAVE_TYPE_CREATE_HINDEXED_BLOCK
    if (draw(random_, 0, 1) == 0) {
      std::vector<MPI_Aint> bytes;
      for (int d : displacements) bytes.push_back(d * extent_of(old) - 4);
      MPI_Type_create_hindexed_block(n, lengths[0], bytes.data(), old, made);
      return;
    }
#endif
#if ELC_HAVE_TYPE_CREATE_INDEXED_BLOCK
    MPI_Type_create_indexed_block(n, lengths[0], displacements.data(), old, made);
#else
    MPI_Type_indexed(n, lengths.data(), displacements.data(), old, made);
#endif
  }
  void resized(MPI_Datatype old, MPI_Datatype* made) {
    const MPI_Aint before = 8 * draw(random_, 0, 1), after = 8 * draw(random_, 0, 2);
    MPI_Type_create_resized(old, lower_of(old) - before, extent_of(old) + before + after, made);
  }
  void structure(int depth, MPI_Datatype* made) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> displacements;
    std::vector<MPI_Datatype> olds;
    MPI_Aint at = draw(random_, -2, 2) * 8;
    const int n = draw(random_, 1, 4);
    for (int i = 0; i < n; ++i) {
      olds.push_back(any(draw(random_, 0, depth - 1)));
      lengths.push_back(draw(random_, least_, 3));
      displacements.push_back(at - lower_of(olds.back()));
      at += lengths.back() * extent_of(olds.back()) + draw(random_, 0, 1) * 8;
    }
    MPI_Type_create_struct(n, lengths.data(), displacements.data(), olds.data(), made);
  }
  void subarray(MPI_Datatype old, MPI_Datatype* made) {
    int sizes[3], parts[3], starts[3];
    const int n = draw(random_, 1, 3);
    for (int d = 0; d < n; ++d) {
      sizes[d] = draw(random_, 1, 4);
      parts[d] = draw(random_, 1, sizes[d]);
      starts[d] = draw(random_, 0, sizes[d] - parts[d]);
    }
    MPI_Type_create_subarray(n, sizes, parts, starts, draw(random_, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                             old, made);
  }
  void darray(MPI_Datatype old, MPI_Datatype* made) {
    int sizes[3], distributions[3], arguments[3], processes[3], all = 1;
    const int n = draw(random_, 1, 3);
    for (int d = 0; d < n; ++d) {
      sizes[d] = draw(random_, 3, 6);
      processes[d] = draw(random_, 1, 2);
      distributions[d] = draw(random_, 0, 1) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
      arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
      if (distributions[d] == MPI_DISTRIBUTE_CYCLIC && draw(random_, 0, 1))
        arguments[d] = draw(random_, 1, 2);
      if (processes[d] == 1 && draw(random_, 0, 1)) distributions[d] = MPI_DISTRIBUTE_NONE;
      if (distributions[d] == MPI_DISTRIBUTE_NONE) arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
      all *= processes[d];
    }
    MPI_Type_create_darray(all, draw(random_, 0, all - 1), n, sizes, distributions, arguments, processes,
                           draw(random_, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, made);
  }

  Random& random_;
  bool with_bounds_;
  int least_ = with_bounds_ ? 0 : 1;  // of a block
  std::vector<MPI_Datatype> made_;
};

// Memory for `count` elements, wherever their bounds lie.
struct Memory {
  std::vector<char> bytes;
  MPI_Aint shift = 0;

  Memory(MPI_Datatype type, int count, Random& random) {
    const MPI_Aint lower = lower_of(type), extent = extent_of(type);
    const MPI_Aint first = std::min<MPI_Aint>(lower, lower + (count - 1) * extent);
    const MPI_Aint last = std::max<MPI_Aint>(lower + extent, lower + count * extent);
    shift = -first + 64;
    bytes.resize(static_cast<size_t>(last - first + 128));
    for (char& byte : bytes) byte = static_cast<char>(random());
  }
  char* base() { return bytes.data() + shift; }
};

inline std::string packed(Memory& memory, int count, MPI_Datatype type, size_t at_most = SIZE_MAX) {
  Bytes out;
  const Result status = pack(memory.base(), count, type, at_most, &out);
  CHECK_MESSAGE(status.ok(), std::string(status.message()));
  return std::string(reinterpret_cast<const char*>(out.data()), out.size());
}

inline const uint8_t* data_of(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

// As MPI packs: a message to oneself, received as bytes.
inline std::string packed_by_mpi(Memory& memory, int count, MPI_Datatype type) {
  std::string bytes(packed_size(type) * static_cast<size_t>(count), '?');
  MPI_Status status;
  MPI_Sendrecv(memory.base(), count, type, 0, 1, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, 1,
               MPI_COMM_SELF, &status);
  return bytes;
}

inline void unpack_by_mpi(std::string bytes, Memory& memory, int count, MPI_Datatype type) {
  MPI_Status status;
  MPI_Sendrecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, 1, memory.base(), count, type, 0, 1,
               MPI_COMM_SELF, &status);
}

// A type as the calls that made it.
inline std::string described(const Datatype* type) {
  static const char* const kNames[] = {"",         "dup",      "contiguous",    "vector",         "hvector",
                                       "indexed",  "hindexed", "indexed_block", "hindexed_block", "struct",
                                       "subarray", "darray",   "resized"};
  if (type->constructor == Constructor::kNamed) return predefined_name(type->number);
  std::string text = std::string(kNames[static_cast<int>(type->constructor)]) + "(";
  for (int i : type->arguments.integers) text += std::to_string(i) + " ";
  text += ";";
  for (MPI_Aint a : type->arguments.addresses) text += " " + std::to_string(a);
  text += ";";
  for (const Datatype* old : type->olds) text += " " + described(old);
  return text + ")[" + std::to_string(lower_of(type->handle)) + "+" +
         std::to_string(extent_of(type->handle)) + "]";
}

inline std::string saved_table() {
  Bytes out;
  Encoder encoder(&out);
  CHECK(save_datatypes(encoder).ok());
  return std::string(reinterpret_cast<const char*>(out.data()), out.size());
}

inline Result restore_table(const std::string& table) {
  Decoder decoder(data_of(table), table.size());
  return restore_datatypes(decoder);
}

inline size_t derived() {
  size_t n = 0;
  datatypes().by_number.each([&n](uint64_t number, Datatype*) { n += number >= kFirstDerived; });
  return n;
}

}  // namespace elc::mpi

#endif
