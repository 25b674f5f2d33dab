// The checker of single lines: what the processes say in the files of a line that commits, against what the
// simulator knows. A line is wrong from the moment it commits, not only when it is restarted from.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/world.h"

namespace sim {

namespace line = elc::line;

namespace {

using Class = std::tuple<Rank, uint64_t, Tag>;  // peer, communicator, tag

// What process q has of a class: the numbers of the messages that count as received, and of those in transit.
struct Held {
  std::vector<uint64_t> numbers;  // in any order
  std::vector<uint64_t> queued;   // in the order in which they are kept
  uint64_t counted = 0;
};

uint64_t number_of(const line::SavedMessage& saved) { return elc::Decoder(saved.message->content).u64(); }

std::map<Class, Held> held_by(const App& app, const line::Saved& saved) {
  std::map<Class, Held> held;
  for (const Received& r : app.received) {
    Held& h = held[{r.source, r.comm, r.tag}];
    h.numbers.push_back(r.index);
    ++h.counted;
  }
  for (const line::SavedPosting& p : saved.receives) {
    if (p.answer.message == nullptr) continue;
    Held& h = held[{p.answer.message->source, p.answer.comm, p.answer.message->tag}];
    h.numbers.push_back(number_of(p.answer));
    ++h.counted;
  }
  for (const line::SavedMessage& m : saved.messages) {
    Held& h = held[{m.message->source, m.comm, m.message->tag}];
    h.numbers.push_back(number_of(m));
    h.queued.push_back(number_of(m));
    if (m.message->counted) ++h.counted;
  }
  return held;
}

// Communicators that the process has made.
long made(const App& app) {
  return std::count_if(app.comms.begin(), app.comms.end(), [](const CommInfo& c) { return c.identity != 0; });
}

}  // namespace

void World::check_line(line::LineNumber number, uint64_t points, uint64_t cost) {
  const Line& files = lines_[number];
  std::vector<line::Saved> saved(nodes.size());
  uint64_t calls = 0;
  for (size_t r = 0; r < nodes.size(); ++r) {
    elc::Bytes bytes;
    bytes.append(files[r]->saved.data(), files[r]->saved.size());
    elc::Decoder in(bytes);
    const elc::Result decoded = line::Saved::decode(in, &saved[r]);
    if (!decoded.ok()) return fail("rank %zu: %s", r, decoded.message());
    calls = std::max(calls, files[r]->app.calls);
  }
  if (points != calls)
    fail("line %u covers %llu program points, and the processes came to %llu", number,
         static_cast<unsigned long long>(points), static_cast<unsigned long long>(calls));
  if (cost != costs_[number]) fail("the cost of line %u is not the largest", number);
  for (Rank r = 0; r < program.processes && !failed(); ++r)
    check_file(r, number, points, files[static_cast<size_t>(r)]->app, saved[static_cast<size_t>(r)]);
  if (!failed()) check_in_transit(files, saved);
  if (!failed()) check_crossing(files, saved);
  std::vector<const App*> apps;
  for (const auto& file : files) apps.push_back(&file->app);
  if (!failed()) check_objects(apps, false);
}

// A file says of its process what the state says.
void World::check_file(Rank rank, line::LineNumber number, uint64_t points, const App& app, const line::Saved& saved) {
  if (saved.line != number || saved.points != points || saved.calls != app.calls || saved.postings != app.postings)
    return fail("rank %d: the counters of line %u are not those of its state: %llu calls, %llu receives", rank, number,
                static_cast<unsigned long long>(saved.calls), static_cast<unsigned long long>(saved.postings));
  std::map<uint64_t, const Request*> receives;
  std::set<std::pair<uint64_t, uint64_t>> pending, pending_saved;
  for (const Request& r : app.requests) {
    if (r.what == Request::What::kReceive && !r.withdrawn) receives[r.number] = &r;
    if (r.what != Request::What::kCollective || r.complete) continue;
    if (makes(app.collectives[r.record].contribution.kind))
      return fail("rank %d: line %u has a communicator that is being made", rank, number);
    pending.insert({app.comms[static_cast<size_t>(r.comm)].identity, r.number});
  }
  auto due = receives.begin();
  for (const line::SavedPosting& p : saved.receives) {
    if (due == receives.end() || due->first != p.number ||
        app.comms[static_cast<size_t>(due->second->comm)].identity != p.comm || due->second->source != p.source ||
        due->second->tag != p.tag)
      return fail("rank %d: receive %llu of line %u is not one that was pending", rank,
                  static_cast<unsigned long long>(p.number), number);
    if (!app.comms[static_cast<size_t>(due->second->comm)].live)
      return fail("rank %d: line %u has a receive on a communicator that was freed", rank, number);
    ++due;
  }
  if (due != receives.end()) return fail("rank %d: a pending receive is not in line %u", rank, number);
  for (const line::SavedResult& r : saved.pending) pending_saved.insert({r.comm, r.number});
  if (pending != pending_saved || pending_saved.size() != saved.pending.size())
    fail("rank %d: the pending operations in line %u are not those of its state", rank, number);
  if (!saved.replay && (!saved.outcomes.empty() || !saved.bound.empty()))
    fail("rank %d: line %u keeps outcomes that nobody needs", rank, number);
  for (size_t i = 1; i < saved.bound.size(); ++i)
    if (saved.bound[i - 1].number >= saved.bound[i].number)
      fail("rank %d: line %u has two outcomes of one receive", rank, number);
}

// Sent, less what counts as received, is in transit or an orphan; and each message is held once, in its order.
void World::check_in_transit(const Line& files, const std::vector<line::Saved>& saved) {
  for (Rank q = 0; q < program.processes && !failed(); ++q) {
    std::map<Class, Held> held = held_by(files[static_cast<size_t>(q)]->app, saved[static_cast<size_t>(q)]);
    std::map<Class, int64_t> residues;
    for (const line::SavedClass& c : saved[static_cast<size_t>(q)].classes)
      if (!residues.try_emplace({c.peer, c.comm, c.tag}, c.residue).second)
        fail("rank %d: a class is twice in the line", q);
    for (Rank p = 0; p < program.processes; ++p)
      for (const SentClass& s : files[static_cast<size_t>(p)]->app.sent)
        if (s.dest == q) held.try_emplace({p, s.comm, s.tag});
    for (auto& [c, h] : held) {
      const auto [p, identity, tag] = c;
      uint64_t sent = 0;
      for (const SentClass& s : files[static_cast<size_t>(p)]->app.sent)
        if (s.dest == q && s.comm == identity && s.tag == tag) sent = s.contents.size();
      const int64_t residue = static_cast<int64_t>(sent) - static_cast<int64_t>(h.counted);
      const auto said = residues.find(c);
      if ((said == residues.end() ? 0 : said->second) != residue)
        fail("rank %d: %lld messages of rank %d with tag %d are in transit, and the line says %lld", q,
             static_cast<long long>(residue), p, tag,
             static_cast<long long>(said == residues.end() ? 0 : said->second));
      if (said != residues.end()) residues.erase(said);
      if (!std::is_sorted(h.queued.begin(), h.queued.end()))
        fail("rank %d: the messages of rank %d with tag %d are not in their order in the line", q, p, tag);
      std::sort(h.numbers.begin(), h.numbers.end());
      const uint64_t due = std::max(sent, h.counted);
      bool each = h.numbers.size() == due;
      for (uint64_t i = 0; each && i < due; ++i) each = h.numbers[i] == i;
      if (!each)
        fail("rank %d: of the %llu messages of rank %d with tag %d, the line and the state have not each once, but %zu", q,
             static_cast<unsigned long long>(due), p, tag, h.numbers.size());
    }
    // What the program has seen by a probe or a status must not be sent anew by a process that goes another way after a restart.
    for (const Shown& s : files[static_cast<size_t>(q)]->app.shown)
      if (held[{s.source, s.comm, s.tag}].numbers.size() < s.count)
        fail("rank %d: a probe has shown a message of rank %d with tag %d, and the line does not have it", q, s.source, s.tag);
    if (!residues.empty()) fail("rank %d: the line has a class in which nothing was sent or received", q);
  }
}

// An operation crosses if one member had started it and another had not: that one has its result. Outcomes are kept
// if and only if somebody has to come to the same point again.
void World::check_crossing(const Line& files, const std::vector<line::Saved>& saved) {
  std::map<uint64_t, std::set<Rank>> members;
  std::map<uint64_t, std::map<Rank, uint64_t>> started;
  std::set<std::pair<uint64_t, uint64_t>> unlogged;
  bool replay = false, made_since = false;
  for (Rank r = 0; r < program.processes; ++r) {
    const App& app = files[static_cast<size_t>(r)]->app;
    replay = replay || files[static_cast<size_t>(r)]->replaying;
    made_since = made_since || made(nodes[static_cast<size_t>(r)]->app) != made(app);
    for (const line::SavedClass& c : saved[static_cast<size_t>(r)].classes) replay = replay || c.residue < 0;
    std::map<uint64_t, size_t> live;
    for (const CommInfo& c : app.comms) {
      if (!c.live) continue;
      live[c.identity] = c.members.size();
      members[c.identity].insert(c.members.begin(), c.members.end());
    }
    for (const CollectiveRecord& c : app.collectives) {
      members[c.comm].insert(c.members.begin(), c.members.end());
      ++started[c.comm][r];
      if (c.unfollowed || c.group) unlogged.insert({c.comm, started[c.comm][r]});
    }
    for (const line::SavedComm& c : saved[static_cast<size_t>(r)].comms) {
      const auto at = live.find(c.identity);
      if (c.operations != started[c.identity][r] || c.freed != (at == live.end()) ||
          (at != live.end() && c.size != at->second))
        fail("rank %d: line %u says of a communicator what is not so", r, saved[static_cast<size_t>(r)].line);
      if (at != live.end()) live.erase(at);
    }
    if (!live.empty()) fail("rank %d: a communicator is not in the line", r);
  }
  for (const auto& [identity, all] : members) {
    uint64_t most = 0;
    for (Rank r : all) most = std::max(most, started[identity][r]);
    for (Rank r : all) {
      std::set<uint64_t> kept, due;
      size_t results = 0;
      for (const line::SavedResult& result : saved[static_cast<size_t>(r)].crossing)
        if (result.comm == identity) kept.insert(result.number), ++results;
      for (uint64_t n = started[identity][r] + 1; n <= most; ++n) {
        due.insert(n);
        if (unlogged.contains({identity, n})) fail("rank %d: an operation that cannot be logged crosses the line", r);
      }
      replay = replay || !due.empty();
      if (kept != due || results != kept.size())
        fail("rank %d: %zu operations of a communicator cross the line, and it has the results of %zu", r, due.size(),
             results);
    }
  }
  for (Rank r = 0; r < program.processes; ++r) {
    for (const line::SavedResult& result : saved[static_cast<size_t>(r)].crossing)
      if (!members.contains(result.comm)) fail("rank %d: the result of an operation of an unknown communicator", r);
    // A communicator made since by some may look to them as if it crossed.
    if (saved[static_cast<size_t>(r)].replay != replay && !(made_since && !replay))
      fail("rank %d: outcomes of the line are %s", r, replay ? "needed, and dropped" : "kept without need");
  }
}

}  // namespace sim
