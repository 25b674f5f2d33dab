// What all processes together know of the things of a line, for a restart. Collective over the world.
#ifndef ELC_MPI_OBJECTS_GATHER_H
#define ELC_MPI_OBJECTS_GATHER_H

#include "base/sort.h"
#include "base/wire.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {

// What each process says, one behind another.
Bytes gather(const Bytes& mine);

// Of `mine` those that are wanted, and those of the others, each as every process has it: ascending by their identities.
template <class Saved, class Wanted>
Vector<Saved> gather_wanted(const Vector<Saved>& mine, Wanted wanted) {
  Bytes bytes;
  Encoder out(&bytes);
  for (const Saved& one : mine)
    if (wanted(one)) one.encode(out);
  const Bytes all = gather(bytes);
  Vector<Saved> gathered;
  Decoder in(all);
  while (in.left() > 0)
    if (!Saved::decode(in, static_cast<uint32_t>(runtime.size), &gathered.push_back({}))) break;
  sort(gathered, [](const Saved& a, const Saved& b) { return a.identity < b.identity; });
  return gathered;
}

}  // namespace elc::mpi

#endif
