// Topologies of communicators (MPI standard, chapter 7): asked of MPI when one is made, and given to it in a restart.
#ifndef ELC_MPI_OBJECTS_TOPOLOGIES_H
#define ELC_MPI_OBJECTS_TOPOLOGIES_H

#include <mpi.h>

#include "mpi/serial/section.h"

namespace elc::mpi {

struct Communicator;

Topology topology_of(MPI_Comm comm);

// Gives `comm` this topology, with the same ranks: makes another communicator, and frees this one. Collective over it. Ends
// the job where MPI cannot do it.
void give_topology(MPI_Comm* comm, const Topology& topology);

// Puts neighbours of a distributed graph into ascending order, in the same way. MPI_Dist_graph_create gives them in the order
// in which processes happened to name them, which a restart would not repeat.
void order_neighbours(MPI_Comm* comm);

// From whom a neighbourhood collective of this process receives, in the order of the blocks in its buffer: ranks, or
// something negative for a block that is not written.
Vector<int> sources_of(const Communicator& comm);

}  // namespace elc::mpi

#endif
