#include "sim/program.h"

#include <cstdio>

namespace sim {

static const char* const kOps[] = {
    "Send",        "Isend", "Recv",       "Irecv",       "Sendrecv",  "Probe",     "Iprobe",
    "IprobeUntil", "Wait",  "Collective", "Icollective", "BatchSend", "BatchRecv", "Serve",
    "GatherAny",   "Site",  "SiteNow",    "Request",     "Nd",        "Lines",     "Maybe",     "Either",
    "Compute",     "Cancel", "WaitCancelled", "Mprobe", "Improbe", "GetStatus", "GroupCall", "Never", "Join", "Fence",
    "Access", "Store", "Load", "Begin", "End", "Finalize"};
static const char* const kModes[] = {"standard", "rendezvous", "buffered", "synchronous", "ready"};
static const char* const kHows[] = {"Wait",     "Waitall",     "Waitany",     "Waitsome",
                                    "Test",     "Testall",     "Testany",     "Testsome",
                                    "TestOnce", "TestanyOnce", "TestsomeOnce"};
static const char* const kKinds[] = {"Barrier", "Bcast",    "Reduce", "Allreduce", "Gather", "Allgather",
                                     "Scatter", "Alltoall", "Scan",   "Dup",       "Split",  "Free",
                                     "Join",    "Merge",    "Window", "Fence",     "Open",   "Move",
                                     "Persistent"};

std::string describe(const Instr& i) {
  char text[200];
  int n = snprintf(text, sizeof(text), "%s%s", i.label ? "* " : "  ", kOps[static_cast<int>(i.op)]);
  const auto more = [&](const char* format, auto... values) {
    n += snprintf(text + n, sizeof(text) - static_cast<size_t>(n), format, values...);
  };
  switch (i.op) {
    case Op::kSend:
    case Op::kIsend:
      more(" %s comm %d to %d tag %d slot %d%s", kModes[static_cast<int>(i.mode)], i.comm, i.peer, i.tag,
           i.slot, i.large ? " large" : "");
      break;
    case Op::kRecv:
    case Op::kIrecv:
    case Op::kProbe:
    case Op::kIprobe:
    case Op::kIprobeUntil:
    case Op::kWaitCancelled:
    case Op::kMprobe:
    case Op::kImprobe:
      more(" comm %d from %d tag %d slot %d", i.comm, i.peer, i.tag, i.slot);
      break;
    case Op::kSendrecv:
      more(" comm %d to %d tag %d from %d tag %d", i.comm, i.peer, i.tag, i.peer2, i.tag2);
      break;
    case Op::kWait:
      more(" %s", kHows[static_cast<int>(i.how)]);
      break;
    case Op::kCollective:
    case Op::kIcollective:
      more(" %s comm %d root %d made %d slot %d", kKinds[static_cast<int>(i.kind)], i.comm, i.peer2, i.made,
           i.slot);
      break;
    case Op::kCancel:
    case Op::kGetStatus:
      more(" slot %d", i.slot);
      break;
    case Op::kJoin:
    case Op::kFence:
    case Op::kAccess:
    case Op::kStore:
    case Op::kLoad:
    case Op::kBegin:
    case Op::kEnd:
      more(" comm %d peer %d made %d", i.comm, i.peer, i.made);
      break;
    case Op::kBatchSend:
    case Op::kBatchRecv:
    case Op::kServe:
    case Op::kGatherAny:
      more(" comm %d peer %d tags %d %d", i.comm, i.peer, i.tag, i.tag2);
      break;
    default:
      break;
  }
  std::string result = text;
  for (int slot : i.slots) result += " " + std::to_string(slot);
  return result;
}

}  // namespace sim
