#include "mpi/objects/gather.h"

#include <limits.h>

namespace elc::mpi {

Bytes gather(const Bytes& mine) {
  int length = static_cast<int>(mine.size());
  Vector<int> lengths, offsets;
  lengths.resize(static_cast<size_t>(runtime.size));
  PMPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, runtime.control);
  int total = 0;
  for (const int l : lengths) {
    if (l > INT_MAX - total)
      give_up(Result::error("a restart cannot tell all ranks of all that has to be made again: together it is more than 2 GiB"));
    offsets.push_back(total);
    total += l;
  }
  Bytes all;
  all.resize(static_cast<size_t>(total));
  PMPI_Allgatherv(const_cast<uint8_t*>(mine.data()), length, MPI_BYTE, all.data(), lengths.data(), offsets.data(), MPI_BYTE,
                  runtime.control);
  return all;
}

}  // namespace elc::mpi
