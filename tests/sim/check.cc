// The checker: what must hold of the whole logical execution (PROTOCOL.md, section 9, I1) when all
// processes have finished. The logical execution is what is left of the histories after all
// rollbacks; it must be one failure-free execution.
#include <algorithm>
#include <map>
#include <tuple>

#include "sim/world.h"

namespace sim {

void World::check() {
  check_messages();
  check_collectives();
  std::vector<const App*> apps;
  for (auto& node : nodes) apps.push_back(&node->app);
  check_objects(apps, true);
  if (network->left_over() > 0)
    fail("%zu messages were sent and never received: duplicates", network->left_over());
  for (auto& node : nodes)
    if (!node->process->line_open() && (!node->process->quiet() || !node->process->ignores_results() || node->process->sends_in_background()))
      fail("at the end something is left of a line or a replay: %s", node->situation().c_str());
  for (auto& node : nodes)
    if (node->removals() != nodes[0]->removals())
      fail("process 0 has said %d times that lines are removed, and another one has heard it %d times", nodes[0]->removals(), node->removals());
  for (auto& node : nodes)
    for (size_t h = 0; h < node->app.comms.size(); ++h) {
      if (!node->app.comms[h].live) continue;
      if (node->has_queued(static_cast<int>(h)))
        fail("a message in the pending queue was never received: a duplicate");
    }
}

// For each sender, receiver and class: what was observed, in the order in which MPI matched, is what
// was sent, in content and number.
void World::check_messages() {
  for (Rank q = 0; q < program.processes; ++q) {
    using Class = std::tuple<Rank, uint64_t, Tag>;
    std::map<Class, std::vector<const Received*>> observed;
    for (const Received& r : nodes[static_cast<size_t>(q)]->app.received)
      observed[{r.source, r.comm, r.tag}].push_back(&r);
    for (auto& [c, list] : observed)
      std::stable_sort(list.begin(), list.end(), [](auto* a, auto* b) { return a->posting < b->posting; });
    for (Rank p = 0; p < program.processes; ++p) {
      for (const SentClass& s : nodes[static_cast<size_t>(p)]->app.sent) {
        if (s.dest != q) continue;
        const auto at = observed.find({p, s.comm, s.tag});
        const size_t n = at == observed.end() ? 0 : at->second.size();
        if (n != s.contents.size())
          fail("rank %d received %zu messages of %zu that rank %d sent with tag %d", q, n, s.contents.size(),
               p, s.tag);
        for (size_t i = 0; i < n && !failed(); ++i) {
          const Received& r = *at->second[i];
          if (r.index != i)
            fail("rank %d received message %llu of rank %d with tag %d where number %zu was due", q,
                 static_cast<unsigned long long>(r.index), p, s.tag, i);
          else if (r.content != s.contents[i] && !program.strays)
            fail(
                "rank %d received message %zu of rank %d with tag %d, but rank %d went on as if it had sent "
                "another",
                q, i, p, s.tag, p);
        }
        if (at != observed.end()) observed.erase(at);
      }
    }
    for (auto& [c, list] : observed)
      fail("rank %d received %zu messages of rank %d with tag %d that were never sent", q, list.size(),
           std::get<0>(c), std::get<2>(c));
  }
}

// Members of a communicator executed the same operations, each once, and each got the result that
// follows from what all brought.
void World::check_collectives() {
  std::map<uint64_t, std::map<Rank, std::vector<const CollectiveRecord*>>> by_comm;
  for (Rank r = 0; r < program.processes; ++r)
    for (const CollectiveRecord& c : nodes[static_cast<size_t>(r)]->app.collectives)
      by_comm[c.comm][r].push_back(&c);
  for (auto& [identity, by_rank] : by_comm) {
    const std::vector<Rank>& members = by_rank.begin()->second[0]->members;
    const size_t n = by_rank.begin()->second.size();
    for (Rank m : members)
      if (by_rank[m].size() != n)
        return fail("rank %d executed %zu operations where others executed %zu", m, by_rank[m].size(), n);
    for (size_t i = 0; i < n; ++i) {
      std::vector<Contribution> all;
      for (Rank m : members) all.push_back(by_rank[m][i]->contribution);
      for (size_t me = 0; me < members.size(); ++me) {
        const CollectiveRecord& c = *by_rank[members[me]][i];
        if (all[me].kind != all[0].kind || all[me].root != all[0].root)
          return fail("operation %zu differs between ranks %d and %d", i + 1, members[me], members[0]);
        bool has_value;
        const CollectiveResult due = result_of(all, members, me, identity, &has_value);
        if (!c.ended)
          fail("rank %d never ended operation %zu", members[me], i + 1);
        else if (c.has_value != has_value || (has_value && c.value != due.value && !program.strays))
          fail("rank %d got a result of operation %zu (kind %d) that does not follow from what all brought",
               members[me], i + 1, static_cast<int>(c.contribution.kind));
      }
    }
  }
}

}  // namespace sim
