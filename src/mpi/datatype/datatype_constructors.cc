// The constructors of datatypes: which arguments each takes, how large its elements are, how it is called.
#include <stdint.h>

#include <span>

#include "mpi/datatype/darray.h"
#include "mpi/datatype/datatype_table.h"

namespace elc::mpi {
namespace {

// Multiplies and adds with a limit; once above it, it stays there.
class Sum {
 public:
  void add(uint64_t times, uint64_t size) {
    const bool fits = total_ <= kMaxTypeSize && (size == 0 || times <= (kMaxTypeSize - total_) / size);
    total_ = fits ? total_ + times * size : kMaxTypeSize + 1;
  }
  uint64_t total() const { return total_; }

 private:
  uint64_t total_ = 0;
};

uint64_t times(uint64_t a, uint64_t b) {
  Sum sum;
  sum.add(a, b);
  return sum.total();
}

bool none_negative(const int* values, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (values[i] < 0) return false;
  return true;
}

bool valid_subarray(const int* i, size_t n) {
  const int *sizes = i + 1, *subsizes = sizes + n, *starts = subsizes + n;
  for (size_t d = 0; d < n; ++d)
    if (subsizes[d] < 1 || sizes[d] < subsizes[d] || starts[d] < 0 || starts[d] > sizes[d] - subsizes[d])
      return false;
  return starts[n] == kOrderC || starts[n] == kOrderFortran;
}

bool valid_darray(const int* i, size_t n) {
  const Darray array(i);
  if (array.size < 1 || array.rank < 0 || array.rank >= array.size) return false;
  int64_t processes = 1;
  for (size_t d = 0; d < n; ++d) {
    const int g = array.gsizes[d], argument = array.arguments[d], p = array.psizes[d];
    if (g < 1 || p < 1 || argument < kDefaultArgument || argument == 0) return false;
    const int distribution = array.distributions[d];
    if (distribution < kDistributeBlock || distribution > kDistributeNone ||
        (distribution == kDistributeNone && p != 1))
      return false;
    if (distribution == kDistributeBlock && argument > 0 && int64_t{argument} * p < g) return false;
    processes *= p;
    if (processes > array.size) return false;
  }
  return processes == array.size && (array.order == kOrderC || array.order == kOrderFortran);
}

// The arguments of a constructor: so many, and so many for each of its n parts.
struct Shape {
  uint8_t integers, integers_each, addresses, addresses_each, olds, olds_each;
};

constexpr Shape kShapes[] = {
    {},                  // named
    {0, 0, 0, 0, 1, 0},  // dup
    {1, 0, 0, 0, 1, 0},  // contiguous
    {3, 0, 0, 0, 1, 0},  // vector
    {2, 0, 1, 0, 1, 0},  // hvector
    {1, 2, 0, 0, 1, 0},  // indexed
    {1, 1, 0, 1, 1, 0},  // hindexed
    {2, 1, 0, 0, 1, 0},  // indexed block
    {2, 0, 0, 1, 1, 0},  // hindexed block
    {1, 1, 0, 1, 0, 1},  // struct
    {2, 3, 0, 0, 1, 0},  // subarray
    {4, 4, 0, 0, 1, 0},  // darray
    {0, 0, 2, 0, 1, 0},  // resized
};
static_assert(std::size(kShapes) == static_cast<size_t>(Constructor::kEnd));

// Has it the arguments that its first integers say?
bool in_shape(Constructor constructor, const Arguments& arguments) {
  if (constructor == Constructor::kNamed || constructor >= Constructor::kEnd) return false;
  const Shape& shape = kShapes[static_cast<uint32_t>(constructor)];
  const Vector<int>& i = arguments.integers;
  const bool darray = constructor == Constructor::kDarray;
  const size_t at = darray ? 2 : 0;  // where n is
  const uint64_t n = at < i.size() && i[at] >= 0 ? static_cast<uint64_t>(i[at]) : 0;
  if ((darray || constructor == Constructor::kSubarray) && (n < 1 || n > kMaxTypeDepth)) return false;
  return i.size() == shape.integers + shape.integers_each * n &&
         arguments.addresses.size() == shape.addresses + shape.addresses_each * n &&
         arguments.olds == shape.olds + shape.olds_each * n;
}

}  // namespace

bool consistent(Constructor constructor, const Arguments& arguments, const char** why) {
  const Vector<int>& i = arguments.integers;
  *why = "its constructor has other arguments";
  if (!in_shape(constructor, arguments)) return false;
  *why = "an argument of its constructor is not allowed";
  const size_t n = i.empty() ? 0 : static_cast<size_t>(i[0] < 0 ? 0 : i[0]);
  switch (constructor) {
    case Constructor::kContiguous:
      return i[0] >= 0;
    case Constructor::kVector:
    case Constructor::kHvector:
    case Constructor::kIndexedBlock:
    case Constructor::kHindexedBlock:
      return i[0] >= 0 && i[1] >= 0;
    case Constructor::kIndexed:
    case Constructor::kHindexed:
    case Constructor::kStruct:
      return none_negative(i.data(), n + 1) && i[0] >= 0;
    case Constructor::kSubarray:
      return valid_subarray(i.data(), n);
    case Constructor::kDarray:
      return valid_darray(i.data(), static_cast<size_t>(i[2]));
    default:
      return true;
  }
}

bool measure(Constructor constructor, const Arguments& arguments, std::span<const uint64_t> olds,
             uint64_t* size) {
  const Vector<int>& i = arguments.integers;
  const auto at = [&i](size_t k) { return static_cast<size_t>(i[k]); };
  const uint64_t one = olds.empty() ? 0 : olds[0];
  Sum sum;
  switch (constructor) {
    case Constructor::kContiguous:
      sum.add(at(0), one);
      break;
    case Constructor::kVector:
    case Constructor::kHvector:
    case Constructor::kIndexedBlock:
    case Constructor::kHindexedBlock:
      sum.add(times(at(0), at(1)), one);
      break;
    case Constructor::kIndexed:
    case Constructor::kHindexed:
      for (size_t k = 1; k <= at(0); ++k) sum.add(at(k), one);
      break;
    case Constructor::kStruct:
      for (size_t k = 0; k < at(0); ++k) sum.add(at(k + 1), olds[k]);
      break;
    case Constructor::kSubarray: {
      uint64_t elements = 1;
      for (size_t d = 0; d < at(0); ++d) elements = times(elements, at(1 + at(0) + d));
      sum.add(elements, one);
      break;
    }
    case Constructor::kDarray: {
      const Darray array(i.data());
      uint64_t elements = 1;
      for (int d = 0; d < array.dimensions; ++d) elements = times(elements, array.share(d).elements());
      sum.add(elements, one);
      break;
    }
    default:
      sum.add(1, one);
  }
  *size = sum.total();
  return sum.total() <= kMaxTypeSize;
}

uint32_t depth_of(Constructor constructor, const Arguments& arguments, uint32_t below) {
  const Vector<int>& i = arguments.integers;
  if (constructor == Constructor::kSubarray) return below + static_cast<uint32_t>(i[0]);
  if (constructor == Constructor::kDarray) return below + static_cast<uint32_t>(i[2]);
  return below + 1;
}

void portable_constants(Constructor constructor, Arguments* arguments) {
  Vector<int>& i = arguments->integers;
  if ((constructor != Constructor::kSubarray && constructor != Constructor::kDarray) || i.size() < 4) return;
  i.back() = i.back() == MPI_ORDER_FORTRAN ? kOrderFortran : kOrderC;
  if (constructor == Constructor::kSubarray) return;
  const size_t n = (i.size() - 4) / 4;
  for (size_t d = 0; d < n; ++d) {
    int& distribution = i[3 + n + d];
    int& argument = i[3 + 2 * n + d];
    distribution = distribution == MPI_DISTRIBUTE_NONE     ? kDistributeNone
                   : distribution == MPI_DISTRIBUTE_CYCLIC ? kDistributeCyclic
                                                           : kDistributeBlock;
    if (argument == MPI_DISTRIBUTE_DFLT_DARG) argument = kDefaultArgument;
  }
}

int make_type(Constructor constructor, const Arguments& arguments, std::span<const MPI_Datatype> olds,
              MPI_Datatype* made) {
  // Older headers have no const.
  int* i = const_cast<int*>(arguments.integers.data());
  MPI_Aint* a = const_cast<MPI_Aint*>(arguments.addresses.data());
  MPI_Datatype* types = const_cast<MPI_Datatype*>(olds.data());
  const MPI_Datatype old = olds.empty() ? MPI_DATATYPE_NULL : olds[0];
  switch (constructor) {
    case Constructor::kDup:
      return PMPI_Type_dup(old, made);
    case Constructor::kContiguous:
      return PMPI_Type_contiguous(i[0], old, made);
    case Constructor::kVector:
      return PMPI_Type_vector(i[0], i[1], i[2], old, made);
    case Constructor::kHvector:
      return PMPI_Type_create_hvector(i[0], i[1], a[0], old, made);
    case Constructor::kIndexed:
      return PMPI_Type_indexed(i[0], i + 1, i + 1 + i[0], old, made);
    case Constructor::kHindexed:
      return PMPI_Type_create_hindexed(i[0], i + 1, a, old, made);
    case Constructor::kIndexedBlock: {
#if ELC_HAVE_TYPE_CREATE_INDEXED_BLOCK
      return PMPI_Type_create_indexed_block(i[0], i[1], i + 2, old, made);
#else
      Vector<int> lengths;
      for (int k = 0; k < i[0]; ++k) lengths.push_back(i[1]);
      return PMPI_Type_indexed(i[0], lengths.data(), i + 2, old, made);
#endif
    }
    case Constructor::kHindexedBlock: {
#if ELC_HAVE_TYPE_CREATE_HINDEXED_BLOCK
      return PMPI_Type_create_hindexed_block(i[0], i[1], a, old, made);
#else
      Vector<int> lengths;
      for (int k = 0; k < i[0]; ++k) lengths.push_back(i[1]);
      return PMPI_Type_create_hindexed(i[0], lengths.data(), a, old, made);
#endif
    }
    case Constructor::kStruct:
      return PMPI_Type_create_struct(i[0], i + 1, a, types, made);
    case Constructor::kSubarray: {
      const int n = i[0];
      const int order = i[3 * n + 1] == kOrderFortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
      return PMPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, order, old, made);
    }
    case Constructor::kDarray: {
      const Darray array(i);
      const int n = array.dimensions;
      Vector<int> distributions, defaults;
      for (int d = 0; d < n; ++d) {
        const int kind = array.distributions[d], argument = array.arguments[d];
        distributions.push_back(kind == kDistributeNone     ? MPI_DISTRIBUTE_NONE
                                : kind == kDistributeCyclic ? MPI_DISTRIBUTE_CYCLIC
                                                            : MPI_DISTRIBUTE_BLOCK);
        defaults.push_back(argument == kDefaultArgument ? MPI_DISTRIBUTE_DFLT_DARG : argument);
      }
      const int order = array.order == kOrderFortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
      return PMPI_Type_create_darray(array.size, array.rank, n, i + 3, distributions.data(), defaults.data(),
                                     i + 3 + 3 * n, order, old, made);
    }
    case Constructor::kResized:
      return PMPI_Type_create_resized(old, a[0], a[1], made);
    default:
      return MPI_ERR_TYPE;
  }
}

}  // namespace elc::mpi
