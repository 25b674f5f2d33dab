// Random programs, and how they run: persistent collective operations. Each member starts and ends several in an order of its own;
// to the protocol each is a communicator, whose operations are its starts and its end.
#include "sim/generator.h"
#include "sim/world.h"

namespace sim {

namespace line = elc::line;

// ---- Generator ----

// Some of those that there are, started by all their members.
void Generator::persistent(size_t parent) {
  if (persistent_.empty() || (persistent_.size() < 4 && chance(0.4))) make_persistent(parent);
  std::vector<size_t> chosen;
  for (size_t which = 0; which < persistent_.size(); ++which)
    if (chance(0.7)) chosen.push_back(which);
  const auto each = [&](auto what) {
    for (Rank m = 0; m < program_.processes; ++m) {
      for (size_t i = 1; i < chosen.size(); ++i) std::swap(chosen[i], chosen[random_.below(i + 1)]);
      for (size_t which : chosen)
        if (persistent_[which].slots.contains(m)) what(persistent_[which], m);
    }
  };
  each([&](PersistentModel& operation, Rank m) {
    wait_for_start(operation, m);
    if (chance(0.3)) look_around(m);
    Instr& i = add(m, Op::kIcollective);
    i.comm = operation.handle;
    i.kind = operation.kind;
    i.peer2 = operation.root;
    i.slot = operation.slots[m];
    operation.started[m] = open(m, i.slot, operation.made_on, true);
  });
  each([&](PersistentModel& operation, Rank m) {
    if (chance(0.3)) look_around(m);
    if (chance(0.6)) wait_for_start(operation, m);
  });
  if (!persistent_.empty() && chance(0.4)) end_persistent(random_.below(persistent_.size()));
}

void Generator::make_persistent(size_t parent) {
  static const Kind kinds[] = {Kind::kBarrier, Kind::kAllreduce, Kind::kAllreduce, Kind::kBcast, Kind::kReduce,
                               Kind::kGather,  Kind::kScatter,   Kind::kAlltoall,  Kind::kScan};
  PersistentModel made;
  made.handle = program_.handles++;
  made.members = comms_[parent].members;
  made.made_on = parent;
  made.kind = kinds[random_.below(std::size(kinds))];
  made.root = random_.between(0, 8);
  for (Instr* i : all(comms_[parent], Op::kCollective, Kind::kPersistent)) i->unfollowed = true, i->made = made.handle;
  for (Rank m : made.members) made.slots[m] = new_slot(m);
  persistent_.push_back(made);
}

void Generator::wait_for_start(PersistentModel& operation, Rank rank) {
  const auto started = operation.started.find(rank);
  if (started == operation.started.end()) return;
  OpenRequest& request = requests_[static_cast<size_t>(started->second)];
  if (!request.done) {
    Instr& i = add(rank, Op::kWait);
    i.how = chance(0.5) ? How::kWait : How::kTestall;
    i.slots = {request.slot};
  }
  request.done = true;
  operation.started.erase(started);
}

void Generator::end_persistent(size_t which) {
  for (Rank m : persistent_[which].members) {
    wait_for_start(persistent_[which], m);
    if (chance(0.3)) look_around(m);
  }
  all(persistent_[which], Op::kCollective, Kind::kFree);
  persistent_.erase(persistent_.begin() + static_cast<long>(which));
}

void Generator::end_persistent_of(size_t parent) {
  for (size_t which = persistent_.size(); which-- > 0;)
    if (persistent_[which].made_on == parent) end_persistent(which);
}

// ---- Node: what src/mpi does ----

void Node::make_persistent(int handle, int made_on) {
  comm(handle).persistent = true;
  comm(handle).made_on = made_on;
  with_mpi_[static_cast<size_t>(handle)] = true;
  ++world_.stats.persistent;
}

int Node::counted_on(int handle) const {
  const CommInfo& c = app.comms[static_cast<size_t>(handle)];
  return c.persistent && world_.config.fault == Fault::kStartsOnParent ? c.made_on : handle;
}

// Whether others have freed it before the line. What is left of it for this process are results, and its own end, which has none.
bool Node::is_half_freed(int handle) const {
  for (uint64_t number = process->operations(slot_of(handle)) + 1;; ++number) {
    const elc::Bytes* logged = process->logged_result(slot_of(handle), number);
    if (logged == nullptr || logged->empty()) return logged != nullptr;
  }
}

void Node::make_persistent_again() {
  for (size_t h = 0; h < app.comms.size(); ++h) {
    if (!app.comms[h].live || !app.comms[h].persistent) continue;
    if (is_half_freed(static_cast<int>(h)) && world_.config.fault != Fault::kMadeForSome) {
      ++world_.stats.half_freed;
      continue;
    }
    world_.make_again(self_, app.comms[h]);
    with_mpi_[h] = true;
  }
}

// ---- World ----

void World::make_again(Rank rank, const CommInfo& operation) {
  ++stats.made_again;
  const auto is_it = [&](const CommInfo& c) { return c.live && c.identity == operation.identity; };
  for (Rank m : operation.members) {
    const std::vector<CommInfo>& comms = lines_[committed_][static_cast<size_t>(m)]->app.comms;
    if (std::none_of(comms.begin(), comms.end(), is_it))
      fail("rank %d waits for ever: a restart makes a persistent operation again that rank %d does not have", rank, m);
  }
}

}  // namespace sim
