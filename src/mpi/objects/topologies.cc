#include "mpi/objects/topologies.h"

#include "base/sort.h"
#include "mpi/objects/communicators.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {
namespace {

using Kind = Topology::Kind;

// MPI may take a null pointer for an argument that is missing.
int* data_of(Vector<int>& list) {
  static int none;
  return list.empty() ? &none : list.data();
}

int size_of(const Vector<int>& list) { return static_cast<int>(list.size()); }

int kind_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &kind);
  return kind;
}

#if ELC_HAVE_DIST_GRAPH_CREATE
void rename(Vector<int>* ranks, int from, int to) {
  for (int& rank : *ranks)
    if (rank == from) rank = to;
}

void ask_distributed(MPI_Comm comm, Topology* topology) {
  Vector<int>* lists = topology->lists;
  int in = 0, out = 0, weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  topology->kind = weighted != 0 ? Kind::kWeighted : Kind::kDistributed;
  for (size_t l = 0; l < (weighted != 0 ? 4 : 2); ++l) lists[l].resize(static_cast<size_t>(l % 2 == 0 ? in : out));
  PMPI_Dist_graph_neighbors(comm, in, data_of(lists[0]), weighted != 0 ? data_of(lists[2]) : MPI_UNWEIGHTED, out,
                            data_of(lists[1]), weighted != 0 ? data_of(lists[3]) : MPI_UNWEIGHTED);
  for (size_t l = 0; l < 2; ++l) rename(&lists[l], MPI_PROC_NULL, Topology::kNobody);
}

int make_distributed(MPI_Comm comm, Topology& t, MPI_Comm* made) {
  const bool weighted = t.kind == Kind::kWeighted;
  for (size_t l = 0; l < 2; ++l) rename(&t.lists[l], Topology::kNobody, MPI_PROC_NULL);
  return PMPI_Dist_graph_create_adjacent(comm, size_of(t.lists[0]), data_of(t.lists[0]),
                                         weighted ? data_of(t.lists[2]) : MPI_UNWEIGHTED, size_of(t.lists[1]),
                                         data_of(t.lists[1]), weighted ? data_of(t.lists[3]) : MPI_UNWEIGHTED, MPI_INFO_NULL,
                                         0, made);
}
#else
int make_distributed(MPI_Comm, Topology&, MPI_Comm*) { return MPI_ERR_OTHER; }
#endif

int make(MPI_Comm comm, Topology& t, MPI_Comm* made) {
  if (t.kind == Kind::kCartesian) return PMPI_Cart_create(comm, size_of(t.lists[0]), data_of(t.lists[0]), data_of(t.lists[1]), 0, made);
  if (t.kind == Kind::kGraph) return PMPI_Graph_create(comm, size_of(t.lists[0]), data_of(t.lists[0]), data_of(t.lists[1]), 0, made);
  return make_distributed(comm, t, made);
}

}  // namespace

Topology topology_of(MPI_Comm comm) {
  Topology topology;
  Vector<int>* lists = topology.lists;
  const int kind = kind_of(comm);
  if (kind == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    Vector<int> own;
    for (Vector<int>* list : {&lists[0], &lists[1], &own}) list->resize(static_cast<size_t>(dimensions));
    topology.kind = Kind::kCartesian;
    PMPI_Cart_get(comm, dimensions, data_of(lists[0]), data_of(lists[1]), data_of(own));
    for (int& periodic : lists[1]) periodic = periodic != 0 ? 1 : 0;
  } else if (kind == MPI_GRAPH) {
    int nodes = 0, edges = 0;
    PMPI_Graphdims_get(comm, &nodes, &edges);
    lists[0].resize(static_cast<size_t>(nodes));
    lists[1].resize(static_cast<size_t>(edges));
    topology.kind = Kind::kGraph;
    PMPI_Graph_get(comm, nodes, edges, data_of(lists[0]), data_of(lists[1]));
  }
#if ELC_HAVE_DIST_GRAPH_CREATE
  else if (kind == MPI_DIST_GRAPH) ask_distributed(comm, &topology);
#endif
  return topology;
}

void give_topology(MPI_Comm* comm, const Topology& topology) {
  if (topology.kind == Kind::kNone) return;
  Topology arguments = copy_of(topology);
  MPI_Comm plain = *comm;
  if (make(plain, arguments, comm) != MPI_SUCCESS)
    give_up(Result::error("the topology of a communicator of the line cannot be made here: restart it under an MPI that has such "
                          "topologies"));
  PMPI_Comm_free(&plain);
}

void order_neighbours(MPI_Comm* comm) {
  Topology topology = topology_of(*comm);
  struct Neighbour {
    int rank, weight;
  };
  for (size_t l = 0; l < 2; ++l) {
    Vector<int>&ranks = topology.lists[l], &weights = topology.lists[l + 2];
    Vector<Neighbour> all;
    for (size_t i = 0; i < ranks.size(); ++i) all.push_back({ranks[i], weights.empty() ? 0 : weights[i]});
    sort(all, [](const Neighbour& a, const Neighbour& b) { return a.rank != b.rank ? a.rank < b.rank : a.weight < b.weight; });
    for (size_t i = 0; i < ranks.size(); ++i) {
      ranks[i] = all[i].rank;
      if (!weights.empty()) weights[i] = all[i].weight;
    }
  }
  give_topology(comm, topology);
}

Vector<int> sources_of(const Communicator& comm) {
  Vector<int> sources;
  const Topology& topology = comm.topology;
  if (topology.kind == Kind::kCartesian) {
    for (int d = 0; d < size_of(topology.lists[0]); ++d) {
      int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
      PMPI_Cart_shift(comm.handle, d, 1, &below, &above);
      sources.push_back(below);
      sources.push_back(above);
    }
  } else if (topology.kind == Kind::kGraph) {
    int count = 0;
    PMPI_Graph_neighbors_count(comm.handle, comm.rank, &count);
    sources.resize(static_cast<size_t>(count));
    PMPI_Graph_neighbors(comm.handle, comm.rank, count, data_of(sources));
  } else {
    sources.append(topology.lists[0].data(), topology.lists[0].size());
  }
  return sources;
}

}  // namespace elc::mpi
