// What is the same of all probes: chance decides what they find, so it is an outcome, recorded in the window of a line
// and repeated in a replay (PROTOCOL.md, section 3, W3).
#ifndef ELC_MPI_CALLS_PROBE_H
#define ELC_MPI_CALLS_PROBE_H

#include "mpi/runtime/outcome.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {

// What a probe asks for, and what it has found.
struct Probe {
  Communicator* comm;
  int source, tag;
  MPI_Status status = {};
  int code = MPI_SUCCESS;
};

// Perhaps MPI will not be asked: it has to look at the arguments now.
int check(const Probe& p);

// Waits until look(&p, source, tag) is true: there is a message for a probe with these arguments, or MPI's error p.code.
// Outcomes name ranks of the world, which every MPI has. `site`: the call has a label.
template <class P>
int probe_until(line::NdKind kind, P p, bool (*look)(P*, int, int), MPI_Status* status, bool site) {
  const int wrong = check(p);
  if (wrong != MPI_SUCCESS) return wrong;
  Outcome outcome(kind);
  if (!outcome.replayed() || !outcome.repeat([&] { return look(&p, p.comm->local(outcome.at(0)), outcome.at(1)); })) {
    wait_until([&] {
      if (look(&p, p.source, p.tag)) return true;
      if (site) site_while_waiting(nullptr);
      return false;
    });
    if (p.code != MPI_SUCCESS) return p.code;
    outcome.add(p.comm->world(p.status.MPI_SOURCE));
    outcome.add(p.status.MPI_TAG);
  }
  outcome.record();
  give_status(status, p.status);
  return MPI_SUCCESS;
}

// The same, looking once; *flag: whether there is a message.
template <class P>
int probe_once(line::NdKind kind, P p, bool (*look)(P*, int, int), int* flag, MPI_Status* status) {
  const int wrong = check(p);
  if (wrong != MPI_SUCCESS) return wrong;
  Outcome outcome(kind);
  const auto again = [&] { return look(&p, p.comm->local(outcome.at(1)), outcome.at(2)); };
  if (outcome.replayed()) *flag = outcome.at(0) != 0 && outcome.repeat(again) ? 1 : 0;
  if (!outcome.replayed()) {
    *flag = look(&p, p.source, p.tag) ? 1 : 0;
    if (p.code != MPI_SUCCESS) return p.code;
    outcome.add(*flag);
    outcome.add(*flag != 0 ? p.comm->world(p.status.MPI_SOURCE) : 0);
    outcome.add(*flag != 0 ? p.status.MPI_TAG : 0);
  }
  outcome.record();
  if (*flag != 0) give_status(status, p.status);
  return MPI_SUCCESS;
}

}  // namespace elc::mpi

#endif
