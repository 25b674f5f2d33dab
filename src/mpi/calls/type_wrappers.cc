// Chapter 4 of the MPI standard: the constructors of datatypes, which are recorded, and MPI_Type_commit,
// MPI_Type_free and MPI_Type_get_contents, which change who has a handle. All are entered, whether the library records or
// not: several threads may call them.
#include <mpi.h>

#include "base/compiler.h"
#include "mpi/datatype/datatype_table.h"
#include "mpi/objects/obstacles.h"
#include "mpi/runtime/inside.h"
#include "mpi/runtime/threads.h"

// MPI-3.0 made the arrays that a call only reads const.
#if MPI_VERSION >= 3
#define ELC_CONST const
#else
#define ELC_CONST
#endif

namespace elc::mpi {
namespace {

// Entered, by name.
struct TypeCall {
  explicit TypeCall(const char* call) { enter_call(call); }
  ~TypeCall() { leave_call(); }
  TypeCall(const TypeCall&) = delete;
  TypeCall& operator=(const TypeCall&) = delete;
};

// What MPI returns; types that it makes and frees on the way are its own.
template <class F>
int guarded(F call) {
  InsideMpi inside;
  return call();
}

// Is the call the program's, and to be recorded?
bool of_program() { return inside_mpi == 0 && recording_datatypes(); }

// Collects the integers of a constructor in the order of MPI_Type_get_contents.
class Recorder {
 public:
  Recorder(int result, MPI_Datatype* made)
      : good_(result == MPI_SUCCESS && of_program()), result_(result), made_(made) {}
  Recorder& integer(int value) {
    return integers(&value, 1);
  }
  Recorder& integers(const int* values, int n) {
    add(values, n, &arguments_.integers);
    return *this;
  }
  Recorder& address(MPI_Aint value) { return addresses(&value, 1); }
  Recorder& addresses(const MPI_Aint* values, int n) {
    add(values, n, &arguments_.addresses);
    return *this;
  }
  // Records the type and passes on what MPI returned.
  int of(const MPI_Datatype* olds, int n) {
    const std::span<const MPI_Datatype> types(olds, n > 0 ? static_cast<size_t>(n) : 0);
    if (good_) record(*made_, constructor_, static_cast<Arguments&&>(arguments_), types);
    return result_;
  }
  int of(MPI_Datatype old) { return of(&old, 1); }
  Recorder& as(Constructor constructor) {
    constructor_ = constructor;
    return *this;
  }

 private:
  // Without memory for them the type is not recorded: as one of a constructor that is not wrapped.
  template <class T>
  void add(const T* values, int n, Vector<T>* to) {
    if (!good_ || n <= 0) return;
    good_ = to->make_room(static_cast<size_t>(n));
    if (good_) to->append(values, static_cast<size_t>(n));
  }

  bool good_;
  int result_;
  MPI_Datatype* made_;
  Constructor constructor_ = Constructor::kNamed;
  Arguments arguments_;
};

Recorder made_by(Constructor constructor, int result, MPI_Datatype* made) {
  Recorder recorder(result, made);
  recorder.as(constructor);
  return recorder;
}

}  // namespace

void note_given(MPI_Datatype handle) {
  if (!of_program()) return;
  Datatype* known = datatypes().find(handle);
  if (known == nullptr) find_or_learn(handle);
  if (known == nullptr || known->constructor == Constructor::kNamed) return;
  MPI_Datatype second = handle;  // of a type that was freed the record still has the first handle
  if (known->owned++ == 0) guarded([&] { return PMPI_Type_free(&second); });
}

}  // namespace elc::mpi

using namespace elc::mpi;

extern "C" {

ELC_EXPORT int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* made) {
  const TypeCall now("MPI_Type_contiguous");
  const int result = guarded([&] { return PMPI_Type_contiguous(count, old, made); });
  return made_by(Constructor::kContiguous, result, made).integer(count).of(old);
}

ELC_EXPORT int MPI_Type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype* made) {
  const TypeCall now("MPI_Type_vector");
  const int result = guarded([&] { return PMPI_Type_vector(count, length, stride, old, made); });
  return made_by(Constructor::kVector, result, made).integer(count).integer(length).integer(stride).of(old);
}

ELC_EXPORT int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old,
                                       MPI_Datatype* made) {
  const TypeCall now("MPI_Type_create_hvector");
  const int result = guarded([&] { return PMPI_Type_create_hvector(count, length, stride, old, made); });
  return made_by(Constructor::kHvector, result, made).integer(count).integer(length).address(stride).of(old);
}

ELC_EXPORT int MPI_Type_indexed(int count, ELC_CONST int lengths[], ELC_CONST int displacements[],
                                MPI_Datatype old, MPI_Datatype* made) {
  const TypeCall now("MPI_Type_indexed");
  const int result = guarded([&] { return PMPI_Type_indexed(count, lengths, displacements, old, made); });
  return made_by(Constructor::kIndexed, result, made)
      .integer(count)
      .integers(lengths, count)
      .integers(displacements, count)
      .of(old);
}

ELC_EXPORT int MPI_Type_create_hindexed(int count, ELC_CONST int lengths[],
                                        ELC_CONST MPI_Aint displacements[], MPI_Datatype old,
                                        MPI_Datatype* made) {
  const TypeCall now("MPI_Type_create_hindexed");
  const int result =
      guarded([&] { return PMPI_Type_create_hindexed(count, lengths, displacements, old, made); });
  return made_by(Constructor::kHindexed, result, made)
      .integer(count)
      .integers(lengths, count)
      .addresses(displacements, count)
      .of(old);
}

#if ELC_HAVE_TYPE_CREATE_INDEXED_BLOCK
ELC_EXPORT int MPI_Type_create_indexed_block(int count, int length, ELC_CONST int displacements[],
                                             MPI_Datatype old, MPI_Datatype* made) {
  const TypeCall now("MPI_Type_create_indexed_block");
  const int result =
      guarded([&] { return PMPI_Type_create_indexed_block(count, length, displacements, old, made); });
  return made_by(Constructor::kIndexedBlock, result, made)
      .integer(count)
      .integer(length)
      .integers(displacements, count)
      .of(old);
}
#endif

#if ELC_HAVE_TYPE_CREATE_HINDEXED_BLOCK
ELC_EXPORT int MPI_Type_create_hindexed_block(int count, int length, ELC_CONST MPI_Aint displacements[],
                                              MPI_Datatype old, MPI_Datatype* made) {
  const TypeCall now("MPI_Type_create_hindexed_block");
  const int result =
      guarded([&] { return PMPI_Type_create_hindexed_block(count, length, displacements, old, made); });
  return made_by(Constructor::kHindexedBlock, result, made)
      .integer(count)
      .integer(length)
      .addresses(displacements, count)
      .of(old);
}
#endif

ELC_EXPORT int MPI_Type_create_struct(int count, ELC_CONST int lengths[], ELC_CONST MPI_Aint displacements[],
                                      ELC_CONST MPI_Datatype olds[], MPI_Datatype* made) {
  const TypeCall now("MPI_Type_create_struct");
  const int result =
      guarded([&] { return PMPI_Type_create_struct(count, lengths, displacements, olds, made); });
  return made_by(Constructor::kStruct, result, made)
      .integer(count)
      .integers(lengths, count)
      .addresses(displacements, count)
      .of(olds, count);
}

ELC_EXPORT int MPI_Type_create_subarray(int dimensions, ELC_CONST int sizes[], ELC_CONST int subsizes[],
                                        ELC_CONST int starts[], int order, MPI_Datatype old,
                                        MPI_Datatype* made) {
  const TypeCall now("MPI_Type_create_subarray");
  const int result = guarded(
      [&] { return PMPI_Type_create_subarray(dimensions, sizes, subsizes, starts, order, old, made); });
  return made_by(Constructor::kSubarray, result, made)
      .integer(dimensions)
      .integers(sizes, dimensions)
      .integers(subsizes, dimensions)
      .integers(starts, dimensions)
      .integer(order)
      .of(old);
}

ELC_EXPORT int MPI_Type_create_darray(int size, int rank, int dimensions, ELC_CONST int gsizes[],
                                      ELC_CONST int distributions[], ELC_CONST int arguments[],
                                      ELC_CONST int psizes[], int order, MPI_Datatype old,
                                      MPI_Datatype* made) {
  const TypeCall now("MPI_Type_create_darray");
  const int result = guarded([&] {
    return PMPI_Type_create_darray(size, rank, dimensions, gsizes, distributions, arguments, psizes, order,
                                   old, made);
  });
  return made_by(Constructor::kDarray, result, made)
      .integer(size)
      .integer(rank)
      .integer(dimensions)
      .integers(gsizes, dimensions)
      .integers(distributions, dimensions)
      .integers(arguments, dimensions)
      .integers(psizes, dimensions)
      .integer(order)
      .of(old);
}

ELC_EXPORT int MPI_Type_create_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent,
                                       MPI_Datatype* made) {
  const TypeCall now("MPI_Type_create_resized");
  const int result = guarded([&] { return PMPI_Type_create_resized(old, lower, extent, made); });
  return made_by(Constructor::kResized, result, made).address(lower).address(extent).of(old);
}

ELC_EXPORT int MPI_Type_dup(MPI_Datatype old, MPI_Datatype* made) {
  const TypeCall now("MPI_Type_dup");
  const int result = guarded([&] { return PMPI_Type_dup(old, made); });
  if (result != MPI_SUCCESS || !of_program()) return result;
  made_by(Constructor::kDup, result, made).of(old);
  const Datatype* from = datatypes().find(old);
  Datatype* to = datatypes().find(*made);
  if (from != nullptr && to != nullptr) to->committed = from->committed;  // MPI-3.1, 4.1.10
  return result;
}

#if ELC_HAVE_TYPE_STRUCT  // names of MPI-1, removed by MPI-3.0: recorded as their successors
ELC_EXPORT int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old,
                                MPI_Datatype* made) {
  return MPI_Type_create_hvector(count, length, stride, old, made);
}

ELC_EXPORT int MPI_Type_hindexed(int count, int lengths[], MPI_Aint displacements[], MPI_Datatype old,
                                 MPI_Datatype* made) {
  return MPI_Type_create_hindexed(count, lengths, displacements, old, made);
}

ELC_EXPORT int MPI_Type_struct(int count, int lengths[], MPI_Aint displacements[], MPI_Datatype olds[],
                               MPI_Datatype* made) {
  return MPI_Type_create_struct(count, lengths, displacements, olds, made);
}
#endif

ELC_EXPORT int MPI_Type_commit(MPI_Datatype* type) {
  const TypeCall now("MPI_Type_commit");
  const int result = PMPI_Type_commit(type);
  if (result != MPI_SUCCESS || !of_program()) return result;
  if (Datatype* known = datatypes().find(*type)) known->committed = true;
  return result;
}

// A type that is still needed stays in MPI until it is not; to the program it is gone.
ELC_EXPORT int MPI_Type_free(MPI_Datatype* type) {
  const TypeCall now("MPI_Type_free");
  const uint64_t key = handle_key(*type);
  const auto gone = [&] {
    remove_owned(HandleKind::kAttribute, key);
    return MPI_SUCCESS;
  };
  Datatype* known = of_program() ? datatypes().find(*type) : nullptr;
  if (known == nullptr || known->constructor == Constructor::kNamed) {
    const int result = guarded([&] { return PMPI_Type_free(type); });
    return result == MPI_SUCCESS ? gone() : result;
  }
  if (known->owned == 0) {  // freed twice: let MPI say so in its own way
    MPI_Datatype null = MPI_DATATYPE_NULL;
    return PMPI_Type_free(&null);
  }
  if (--known->owned > 0) return guarded([&] { return PMPI_Type_free(type); });
  *type = MPI_DATATYPE_NULL;
  drop_if_unused(known);
  return gone();
}

// Gives handles of old types, each to be freed by the program. Open MPI reads what was in the array behind those, too.
ELC_EXPORT int MPI_Type_get_contents(MPI_Datatype type, int max_integers, int max_addresses, int max_olds,
                                     int integers[], MPI_Aint addresses[], MPI_Datatype olds[]) {
  const TypeCall now("MPI_Type_get_contents");
  int counts[3] = {0, 0, 0}, combiner = 0;
  const bool known_counts = of_program() && PMPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner) == MPI_SUCCESS;
  if (known_counts && max_olds > counts[2]) max_olds = counts[2];
  const int result =
      PMPI_Type_get_contents(type, max_integers, max_addresses, max_olds, integers, addresses, olds);
  if (result != MPI_SUCCESS || !known_counts) return result;
  for (int i = 0; i < counts[2] && i < max_olds; ++i) note_given(olds[i]);
  return result;
}

}  // extern "C"
