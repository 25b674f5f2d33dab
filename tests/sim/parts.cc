// Parts of src/line alone, where a job would hide what one of them does: what it costs, or what a message says that
// no process sends.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "line/comms.h"
#include "line/control.h"
#include "line/receives.h"
#include "line/forgetting.h"
#include "line/queue.h"
#include "line/saved.h"
#include "sim/channel.h"
#include "sim/job.h"
#include "sim/memory.h"
#include "sim/random.h"

namespace {

namespace line = elc::line;
using elc::Bytes;
using elc::Vector;
using line::Control;
using line::Rank;
using What = Control::Heard::What;

const uint8_t* data_of(const std::string& message) { return reinterpret_cast<const uint8_t*>(message.data()); }

using sim::Channel;
using Controls = Channel<Control>;

Control::Heard hear(Controls& channel, Rank rank, Rank from, const std::string& message) {
  return channel[rank].receive(from, data_of(message), message.size());
}

Vector<line::WireCount> counts(int n) {
  Vector<line::WireCount> made;
  for (int i = 0; i < n; ++i) {
    line::WireCount c;
    c.comm = static_cast<uint64_t>(70 + i), c.tag = i, c.count = static_cast<uint64_t>(1 + i);
    made.push_back(c);
  }
  return made;
}

bool same(const Vector<line::WireCount>& a, const Vector<line::WireCount>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].comm != b[i].comm || a[i].tag != b[i].tag || a[i].count != b[i].count) return false;
  return true;
}

}  // namespace

TEST_CASE("what all are told, each hears once, whoever says it") {
  for (const Rank processes : {1, 2, 3, 4, 7, 12}) {
    for (Rank first = 0; first < processes; ++first) {
      Controls channel(processes);
      std::map<Rank, int> heard;
      channel[first].flood_request(9, first);
      for (size_t i = 0; i < channel.sent.size(); ++i) {
        const Controls::Message m = channel.sent[i];
        const Control::Heard h = hear(channel, m.to, m.from, m.bytes);
        CHECK((h.what == What::kRequest && h.line == 9));
        ++heard[m.to];
        channel[m.to].flood_request(9, m.from);
      }
      CHECK(heard.size() == static_cast<size_t>(processes - 1));
      for (const auto& [rank, times] : heard) CHECK((rank != first && times == 1));
    }
  }
}

TEST_CASE("logs: what was sent is heard, acknowledged, kept for its line and no longer") {
  Controls channel(3);
  channel[1].send_log(1, 5, counts(2));
  CHECK(channel.sent.empty());  // to itself without a message
  CHECK(channel[1].delivered());
  channel[0].send_log(1, 4, counts(3));
  channel[2].send_log(1, 5, counts(0));
  channel[0].send_orphans(1, counts(4));
  CHECK(!channel[0].delivered());
  size_t orphans = 0;
  for (size_t i = 0; i < channel.sent.size(); ++i) {
    const Controls::Message m = channel.sent[i];
    const Control::Heard h = hear(channel, m.to, m.from, m.bytes);
    if (h.what != What::kOrphans) {
      CHECK(h.what == What::kNothing);
      continue;
    }
    ++orphans;
    CHECK(same(h.counts, counts(4)));
  }
  CHECK(orphans == 1);
  CHECK((channel[0].delivered() && channel[1].delivered() && channel[2].delivered()));
  CHECK(channel.sent.size() == 6);
  const auto logs = [&](line::LineNumber number) {
    std::map<Rank, size_t> found;
    channel[1].each_log(number, [&](Rank from, const Vector<line::WireCount>& c) {
      CHECK(same(c, counts(static_cast<int>(c.size()))));
      CHECK(found.count(from) == 0);
      found[from] = c.size();
    });
    return found;
  };
  using Found = std::map<Rank, size_t>;
  CHECK(logs(4) == Found{{0, 3}});
  CHECK(logs(5) == Found{{1, 2}, {2, 0}});
  channel[1].forget_logs(4);
  CHECK(logs(4).empty());
  CHECK(logs(5) == Found{{1, 2}, {2, 0}});
  channel[1].forget_logs(5);
  CHECK(logs(5).empty());
}

// No process sends one; but then nothing is done that a message does not say.
TEST_CASE("a vote that is cut off or of no kind is not counted") {
  for (const bool result : {false, true}) {
    Controls channel(3);
    line::Vote vote;
    vote.refuse(1, "no");
    Rank hearer = 0;
    if (result) {
      channel[0].announce(static_cast<line::ConsensusKind>(0), vote);
      hearer = 1;
    } else {
      line::Vote merged;
      CHECK(!channel[1].vote(static_cast<line::ConsensusKind>(0), vote, &merged));
      CHECK(!channel[0].vote(static_cast<line::ConsensusKind>(0), vote, &merged));
      hear(channel, 0, 2, channel.sent[0].bytes);
    }
    const std::string whole = channel.sent[0].bytes;
    for (size_t size = 4; size < whole.size(); ++size)
      CHECK(hear(channel, hearer, 1 - hearer, whole.substr(0, size)).what == What::kNothing);
    for (uint32_t kind = line::kConsensusKinds; kind < line::kConsensusKinds + 3u; ++kind) {
      Bytes word;
      elc::Encoder(&word).u32(kind);
      std::string other = whole;
      other.replace(4, 4, reinterpret_cast<const char*>(word.data()), 4);
      CHECK(hear(channel, hearer, 1 - hearer, other).what == What::kNothing);
    }
    CHECK(hear(channel, hearer, 1 - hearer, whole).what == (result ? What::kDecided : What::kVoted));
  }
}

TEST_CASE("communicators: known by their identities until they are forgotten") {
  sim::Random random(11);
  line::Comms comms;
  std::map<line::Identity, bool> model;  // freed
  for (int step = 0; step < 5000; ++step) {
    const line::Identity identity = 1 + random.below(40);
    if (random.chance(0.4)) {
      comms[comms.intern(identity)].size = static_cast<uint32_t>(identity);
      model.emplace(identity, false);
    } else if (const line::Comm* comm = comms.find(identity); comm != nullptr && random.chance(0.5)) {
      comms[*comm].freed = model[identity] = true;
    } else if (comm != nullptr) {
      comms.forget(*comm);
      model.erase(identity);
    }
    for (line::Identity known = 1; known <= 40; ++known) {
      const line::Comm* comm = comms.find(known);
      const auto expected = model.find(known);
      REQUIRE((comm != nullptr) == (expected != model.end()));
      if (comm == nullptr) continue;
      REQUIRE((comms[*comm].identity == known && comms[*comm].size == known && comms[*comm].freed == expected->second));
    }
    REQUIRE(comms.size() <= 40);
  }
}

TEST_CASE("counts: what an interval had is moved out in order, and residues and suppressions stay") {
  struct Key {
    Rank peer;
    line::Comm comm;
    line::Tag tag;
    bool operator<(const Key& k) const { return line::before(peer, comm, tag, k.peer, k.comm, k.tag); }
  };
  struct Value {
    uint64_t sent = 0, received = 0;
    int64_t residue = 0;
    uint64_t suppress = 0;
  };
  sim::Random random(13);
  line::Counts table;
  std::map<Key, Value> model;
  std::map<std::pair<Key, bool>, line::Counter> counters;
  const auto compare = [&] {
    for (auto& [k, v] : model) {
      const line::ClassCount& c = table.at(k.peer, k.comm, k.tag);
      REQUIRE((c.sent == v.sent && c.received == v.received && c.residue == v.residue && c.suppress == v.suppress));
    }
  };
  for (int step = 0; step < 3000; ++step) {
    const Key key = {static_cast<Rank>(random.below(4)), random.below(3), static_cast<line::Tag>(random.below(4))};
    const uint32_t what = random.below(100);
    if (what < 90) {
      Value& v = model[key];
      line::ClassCount& c = table.at(key.peer, key.comm, key.tag);
      if (what < 20) ++v.sent, ++c.sent;
      else if (what < 60) ++v.received, ++c.received;
      else if (what < 80) {  // by a counter that was found when the tables were others, or was not
        const bool received = what < 70;
        auto& counter = counters.try_emplace({key, received}, received ? line::Counter::of_received(key.peer, key.comm, key.tag)
                                                                      : line::Counter::of_sent(key.peer, key.comm, key.tag))
                            .first->second;
        if (!table.has_found(counter)) table.find(counter);
        ++*counter.count;
        ++(received ? v.received : v.sent);
      }
      else v.suppress = what, c.suppress = what;
    } else if (what < 94) {
      Vector<line::ClassEntry> frozen;
      table.freeze(&frozen);
      size_t i = 0;
      for (auto& [k, v] : model) {
        if (v.sent == 0 && v.received == 0) continue;
        REQUIRE(i < frozen.size());
        const line::ClassEntry& e = frozen[i++];
        REQUIRE((e.peer == k.peer && e.comm == k.comm && e.tag == k.tag && e.count.sent == v.sent && e.count.received == v.received));
      }
      REQUIRE(i == frozen.size());
      if (what == 90) {
        table.thaw(frozen);
      } else {
        for (auto& [k, v] : model) v.sent = v.received = 0;
      }
      compare();
    } else if (what < 97) {
      Vector<line::Residue> residues;
      for (auto& [k, v] : model) v.residue = 0;
      for (line::Tag tag = 0; tag < 4; ++tag) {
        if (random.chance(0.5)) continue;
        const int64_t value = random.between(-3, 3);
        residues.push_back({key.peer, key.comm, tag, value});
        model[{key.peer, key.comm, tag}].residue = value;
      }
      table.set_residues(residues);
      Vector<line::Residue> out;
      table.residues(&out);
      size_t due = 0;
      for (auto& [k, v] : model) due += v.residue != 0 ? 1 : 0;
      REQUIRE(out.size() == due);
      for (const line::Residue& r : out) REQUIRE((r.value != 0 && model[{r.peer, r.comm, r.tag}].residue == r.value));
    } else {
      elc::HashMap<bool> gone;
      gone.at(key.comm) = true;
      table.forget(gone);
      for (auto& [k, v] : model)
        if (k.comm == key.comm) v = Value();
      compare();
    }
  }
}

// A test in a loop is one outcome of many times; what is drawn does not grow with the looks.
TEST_CASE("outcomes that are the same are kept once") {
  line::Window window;
  window.begin();
  Bytes no, yes;
  no.push_back(0);
  yes.push_back(1);
  for (int i = 0; i < 5; ++i) window.record(line::NdKind::kTest, no);
  window.record(line::NdKind::kTest, yes);
  for (int i = 0; i < 3; ++i) window.record(line::NdKind::kIprobe, yes);
  line::Saved saved;
  window.save_outcomes(&saved);
  REQUIRE(saved.outcomes.size() == 3);
  CHECK((saved.outcomes[0].times == 5 && saved.outcomes[1].times == 1 && saved.outcomes[2].times == 3));
}

TEST_CASE("outcomes are repeated in their order, each as often as it was, until the program takes another way") {
  line::Saved saved;
  saved.replay = true;
  for (const uint32_t times : {2u, 1u}) {
    line::SavedOutcome o;
    o.kind = line::NdKind::kTest;
    o.times = times;
    o.value.push_back(static_cast<uint8_t>(times));
    saved.outcomes.push_back(std::move(o));
  }
  saved.bound.push_back({4, 1, 7});
  saved.bound.push_back({6, 0, 5});
  line::Replay replay;
  replay.load(saved);
  bool misfit = true;
  for (const uint8_t value : {2, 2}) {
    const Bytes* outcome = replay.outcome(line::NdKind::kTest, &misfit);
    REQUIRE((outcome != nullptr && !misfit && (*outcome)[0] == value));
  }
  CHECK((replay.outcome(line::NdKind::kProbe, &misfit) == nullptr && misfit));
  const Bytes* last = replay.outcome(line::NdKind::kTest, &misfit);
  REQUIRE((last != nullptr && !misfit && (*last)[0] == 1));
  misfit = true;
  CHECK((replay.outcome(line::NdKind::kTest, &misfit) == nullptr && !misfit));
  for (const uint64_t number : {3, 5, 7}) CHECK(replay.bound(number) == nullptr);
  REQUIRE((replay.bound(4) != nullptr && replay.bound(6) != nullptr));
  CHECK((replay.bound(4)->source == 1 && replay.bound(6)->tag == 5));
  replay.forget_log();
  CHECK(replay.bound(4) == nullptr);
  CHECK((replay.outcome(line::NdKind::kTest, &misfit) == nullptr && !misfit));
}

TEST_CASE("outcomes of a line that is not to be replayed are not repeated") {
  line::Saved saved;
  saved.outcomes.push_back(line::SavedOutcome());
  line::Replay replay;
  replay.load(saved);
  bool misfit = true;
  CHECK((!replay.on() && replay.outcome(line::NdKind::kTest, &misfit) == nullptr && !misfit));
}

TEST_CASE("operations: which results a line wants, and which it cannot have") {
  line::Comms comms;
  line::Operations operations(comms);
  const line::Comm world = comms.intern(1);
  comms[world].made = true, comms[world].size = 2;
  const auto end = [&](uint64_t number, uint8_t value, const char* unfollowed = nullptr) {
    Bytes result;
    result.push_back(value);
    operations.end(world, number, std::move(result), unfollowed);
  };
  CHECK(!operations.wants(world, operations.start(world)));
  end(1, 1, "not followed, and no line is open");
  CHECK(operations.unfollowed() == nullptr);
  const uint64_t pending = operations.start(world);
  operations.pending(world, pending);
  CHECK((!operations.none_pending(world) && operations.none_pending(world + 1)));

  line::Saved saved;
  operations.begin_line(&saved);
  REQUIRE((saved.comms.size() == 1 && saved.comms[0].operations == 2));
  CHECK(operations.unchanged(world));
  REQUIRE((operations.votes().size() == 1 && operations.votes()[0].least == 2 && operations.votes()[0].voters == 1));
  CHECK(!operations.pending_ended());
  CHECK(operations.wants(world, pending));
  operations.start(world);
  CHECK(!operations.unchanged(world));
  CHECK(operations.wants(world, 3));
  end(3, 3);
  operations.start(world);
  end(4, 4, "crosses no line");
  end(pending, 2, "pending at the checkpoint");
  CHECK(operations.pending_ended());
  CHECK(!operations.wants(world, pending));
  CHECK(std::string(operations.unfollowed()) == "pending at the checkpoint");
  Vector<line::CommVote> crossing;
  line::CommVote vote;
  vote.identity = 1, vote.size = vote.voters = 2, vote.least = 2, vote.most = 5;
  crossing.push_back(vote);
  CHECK(operations.wants(world, 9));
  operations.agreed(crossing);
  CHECK((operations.any_crosses() && operations.crosses(1) && !operations.crosses(2)));
  CHECK(std::string(operations.unfollowed()) == "crosses no line");  // it does
  CHECK(!operations.late_ended());
  CHECK((operations.wants(world, 5) && !operations.wants(world, 6)));
  operations.start(world);
  end(5, 5);
  CHECK(operations.late_ended());
  operations.start(world);
  end(6, 6, "behind the line");
  CHECK(std::string(operations.unfollowed()) == "crosses no line");
  operations.save(&saved);
  REQUIRE((saved.crossing.size() == 3 && saved.pending.size() == 1));
  for (size_t i = 0; i < 3; ++i) CHECK((saved.crossing[i].number == 3 + i && saved.crossing[i].result[0] == 3 + i));
  CHECK((saved.pending[0].number == 2 && saved.pending[0].result[0] == 2));
  operations.end_line();
  CHECK((!operations.any_crosses() && operations.unfollowed() == nullptr && !operations.wants(world, 7)));

  line::Comms comms_again;
  line::Operations again(comms_again);
  again.load(saved);
  const line::Comm same = *comms_again.find(1);
  REQUIRE((again.logged_result(same, 5) != nullptr && (*again.logged_result(same, 5))[0] == 5));
  CHECK(again.logged_result(same, 2) == nullptr);
  CHECK((again.repeats() && !again.idle()));
  for (uint64_t number = 3; number <= 5; ++number) again.end(same, number, Bytes(), nullptr);
  CHECK((!again.repeats() && again.idle()));
}

// MPI as one receiver sees it: a stream of tags from each source.
TEST_CASE("what probes have shown is in the queue after a checkpoint, and all that was sent before it in its stream") {
  struct Mpi {
    std::vector<std::vector<line::Tag>> streams;
    uint32_t starved = 0;  // so often there is no memory for a message; then there is for one
    uint32_t next = 0;
    bool first(const line::Pattern& pattern, Rank* source, line::Tag* tag) const {
      for (size_t r = 0; r < streams.size(); ++r)
        for (const line::Tag t : streams[r])
          if (pattern.matches(static_cast<Rank>(r), t)) return *source = static_cast<Rank>(r), *tag = t, true;
      return false;
    }
  };
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    sim::Random random(seed);
    Mpi mpi;
    mpi.streams.resize(2);
    for (auto& stream : mpi.streams)
      for (uint32_t n = random.below(5); n > 0; --n) stream.push_back(static_cast<line::Tag>(random.below(3)));
    const Mpi before = mpi;
    line::Host host;
    host.context = &mpi;
    host.probe = [](void* context, const line::Pattern& p, Rank* source, line::Tag* tag) {
      return static_cast<Mpi*>(context)->first(p, source, tag);
    };
    host.take = [](void* context, line::Message* m) {
      Mpi& mpi = *static_cast<Mpi*>(context);
      if (mpi.next++ % (mpi.starved + 1) != mpi.starved) return false;
      auto& stream = mpi.streams[static_cast<size_t>(m->source)];
      stream.erase(std::find(stream.begin(), stream.end(), m->tag));
      return true;
    };
    line::Comms comms;
    comms.intern(77);
    line::Counts table;
    line::Window window;
    line::Replay replay;
    line::Receives receives(host, comms, table, window, replay);
    std::vector<size_t> needed(2);  // of each stream, so many
    for (uint32_t n = random.below(4); n > 0; --n) {
      const line::Pattern asked = {0, static_cast<Rank>(random.below(3)) - 1, static_cast<line::Tag>(random.below(4)) - 1};
      Rank source;
      line::Tag tag;
      if (!mpi.first(asked, &source, &tag)) continue;
      receives.on_probe(0, source, tag);
      const auto& stream = mpi.streams[static_cast<size_t>(source)];
      const size_t place = static_cast<size_t>(std::find(stream.begin(), stream.end(), tag) - stream.begin());
      needed[static_cast<size_t>(source)] = std::max(needed[static_cast<size_t>(source)], place + 1);
    }
    mpi.starved = random.below(3);
    while (!receives.settle_past()) REQUIRE(receives.starved());
    for (Rank r = 0; r < 2; ++r) {
      const auto& sent = before.streams[static_cast<size_t>(r)];
      const size_t due = needed[static_cast<size_t>(r)];
      REQUIRE(mpi.streams[static_cast<size_t>(r)] == std::vector<line::Tag>(sent.begin() + static_cast<long>(due), sent.end()));
      std::map<line::Tag, uint64_t> received;
      for (size_t i = 0; i < due; ++i) {
        ++received[sent[i]];
        line::Message* m = receives.take_queued({0, r, line::kAnyTag});
        REQUIRE((m != nullptr && m->tag == sent[i] && m->counted));
        line::let_go(m);
      }
      for (line::Tag tag = 0; tag < 3; ++tag) REQUIRE(table.at(r, 0, tag).received == received[tag]);
      REQUIRE(receives.take_queued({0, r, line::kAnyTag}) == nullptr);
    }
  }
}

// Both ways to keep them: a list where there are few, an index by pattern where there are many.
TEST_CASE("postings: those that could match, in posting order") {
  for (const int most : {6, 40}) {
    sim::Random random(17);
    line::Postings postings;
    std::vector<std::unique_ptr<line::Posting>> model, used;  // in posting order; those that were removed
    const auto remove = [&](size_t i) {
      postings.remove(*model[i]);
      used.push_back(std::move(model[i]));
      model.erase(model.begin() + static_cast<long>(i));
    };
    uint64_t number = 0;
    for (int step = 0; step < 4000; ++step) {
      const uint32_t what = random.below(10);
      if (what < 4 && model.size() < static_cast<size_t>(most)) {
        auto p = std::make_unique<line::Posting>();
        if (!used.empty() && random.below(2) == 0) p = std::move(used.back()), used.pop_back();
        p->pattern.comm = random.below(2);
        p->pattern.source = static_cast<Rank>(random.below(3)) - 1;
        p->pattern.tag = static_cast<line::Tag>(random.below(3)) - 1;
        p->number = ++number;
        postings.add(*p);
        model.push_back(std::move(p));
      } else if (what < 7 && !model.empty()) {
        remove(random.below(model.size()));
      } else if (what < 8 && !model.empty()) {
        if (line::Posting& p = *model[random.below(model.size())]; p.open) postings.close(p);
      } else if (what == 8 && random.below(20) == 0) {
        while (!model.empty()) remove(model.size() - 1);
      } else {
        const line::Comm comm = random.below(3);
        const Rank source = static_cast<Rank>(random.below(2));
        const line::Tag tag = static_cast<line::Tag>(random.below(2));
        const line::Posting* end = nullptr;
        for (const auto& p : model)
          if (p->pattern.comm == comm && random.below(8) == 0) end = p.get();
        const size_t stop = random.below(6);
        std::vector<const line::Posting*> found, due;
        postings.each_open(end, comm, source, tag, [&](line::Posting& p) {
          found.push_back(&p);
          return found.size() <= stop;
        });
        for (const auto& p : model) {
          if (p.get() == end || due.size() > stop) break;
          if (p->open && p->pattern.comm == comm && p->pattern.matches(source, tag)) due.push_back(p.get());
        }
        REQUIRE(found == due);
      }
      std::vector<const line::Posting*> found, due;
      postings.each([&](const line::Posting& p) { found.push_back(&p); });
      for (line::Comm comm = 0; comm < 3; ++comm) {
        const line::Posting* first = nullptr;
        for (const auto& p : model) {
          if (p->pattern.comm != comm) continue;
          if (first == nullptr) first = p.get();
          due.push_back(p.get());
        }
        REQUIRE(postings.first(comm) == first);
      }
      REQUIRE(found == due);
    }
  }
}

TEST_CASE("postings: many tags, of which few wait at a time, take no memory") {
  line::Postings postings;
  std::vector<line::Posting> some(20);
  size_t used = 0;
  for (int n = 0; n < 20000; ++n) {
    if (n == 1000) used = sim::bytes_in_use();
    line::Posting& p = some[static_cast<size_t>(n) % some.size()];
    if (n >= static_cast<int>(some.size())) postings.remove(p);
    p.pattern.source = 0, p.pattern.tag = n;
    p.number = static_cast<uint64_t>(n);
    postings.add(p);
  }
  CHECK(sim::bytes_in_use() <= used + 4096);
}

TEST_CASE("the pending queue: the first message of a pattern that fits, in the order of arrival") {
  for (const size_t most : {5, 60}) {
    sim::Random random(19);
    line::PendingQueue queue;
    std::vector<line::Message*> model;
    for (int step = 0; step < 4000; ++step) {
      const uint32_t what = random.below(10);
      if (what < 4 && model.size() < most) {
        line::Message* m = elc::make<line::Message>();
        m->comm = random.below(3);
        m->source = static_cast<Rank>(random.below(2));
        m->tag = static_cast<line::Tag>(random.below(2));
        m->order = random.below(2);
        queue.add(m);
        model.push_back(m);
      } else if (what < 7 && !model.empty()) {
        const size_t i = random.below(model.size());
        queue.remove(model[i]);
        line::let_go(model[i]);
        model.erase(model.begin() + static_cast<long>(i));
      } else {
        line::Pattern pattern;
        pattern.comm = random.below(4);
        pattern.source = static_cast<Rank>(random.below(3)) - 1;
        pattern.tag = static_cast<line::Tag>(random.below(3)) - 1;
        const uint64_t order = random.below(3);
        const auto fits = [&](const line::Message& m) { return order == 2 || m.order == order; };
        line::Message* due = nullptr;
        for (line::Message* m : model)
          if (due == nullptr && m->comm == pattern.comm && pattern.matches(m->source, m->tag) && fits(*m)) due = m;
        REQUIRE(queue.find(pattern, fits) == due);
      }
      std::vector<line::Message*> found;
      queue.each([&](line::Message& m) { found.push_back(&m); });
      REQUIRE(found == model);
      REQUIRE(queue.empty() == model.empty());
      for (line::Comm comm = 0; comm < 4; ++comm) {
        bool none = true;
        for (const line::Message* m : model) none = none && m->comm != comm;
        REQUIRE(queue.empty(comm) == none);
      }
    }
  }
}

TEST_CASE("a receive that was pending at the checkpoint is found by its number, and no other one is") {
  Vector<line::SavedPosting> receives;
  CHECK(line::find_posting(receives, 1) == nullptr);
  for (const uint64_t number : {2, 5}) {
    line::SavedPosting p;
    p.number = number;
    receives.push_back(std::move(p));
  }
  for (const uint64_t number : {2, 5}) {
    const line::SavedPosting* found = line::find_posting(receives, number);
    REQUIRE(found != nullptr);
    CHECK(found->number == number);
  }
  for (const uint64_t number : {1, 3, 6}) CHECK(line::find_posting(receives, number) == nullptr);
}

TEST_CASE("section line: what cannot be is refused") {
  const auto reads = [](void (*change)(line::Saved&)) {
    line::Saved saved, back;
    saved.postings = 1;
    saved.classes.push_back({0, 1, 0, 1});
    saved.messages.push_back(sim::in_transit());
    line::SavedPosting posting;
    posting.number = 1;
    posting.answer = sim::in_transit();
    saved.receives.push_back(std::move(posting));
    saved.outcomes.push_back(line::SavedOutcome());
    saved.bound.push_back({1, 0, 0});
    change(saved);
    Bytes bytes;
    elc::Encoder out(&bytes);
    saved.encode(out);
    elc::Decoder in(bytes);
    return line::Saved::decode(in, &back).ok();
  };
  CHECK(reads([](line::Saved&) {}));
  CHECK(reads([](line::Saved& s) { s.outcomes[0].kind = line::NdKind::kImprobe; }));
  CHECK(!reads([](line::Saved& s) { s.messages[0].message->source = -1; }));
  CHECK(!reads([](line::Saved& s) { s.messages[0].message->tag = -1; }));
  CHECK(!reads([](line::Saved& s) { s.receives[0].answer.message->tag = -1; }));
  CHECK(!reads([](line::Saved& s) { s.receives[0].source = line::kAnySource - 1; }));
  CHECK(!reads([](line::Saved& s) { s.receives[0].tag = line::kAnyTag - 1; }));
  CHECK(!reads([](line::Saved& s) { s.receives[0].number = 2; }));
  CHECK(!reads([](line::Saved& s) { s.classes[0].peer = -1; }));
  CHECK(!reads([](line::Saved& s) { s.classes[0].tag = -1; }));
  CHECK(!reads([](line::Saved& s) { s.classes[0].residue = 0; }));
  CHECK(!reads([](line::Saved& s) { s.classes[0].residue = INT64_MIN; }));
  CHECK(!reads([](line::Saved& s) { s.bound[0].source = -1; }));
  CHECK(!reads([](line::Saved& s) { s.bound[0].tag = -1; }));
}

// A round begins with the first communicator beyond the limit since the last round or line.
TEST_CASE("freed communicators: when a round is wanted, and what it forgets") {
  line::Comms comms;
  line::Counts sent;
  line::Operations operations(comms);
  const line::Host host;
  line::Window window;
  line::Replay replay;
  line::Receives receives(host, comms, sent, window, replay);
  line::Forgetting forgetting(comms, sent, operations, receives, 3);
  const auto free_one = [&](line::Identity identity) {
    const line::Comm comm = comms.intern(identity);
    comms[comm].size = 2;
    comms[comm].freed = true;
    sent.at(1, comm, 0).sent = 5;
    return forgetting.freed();
  };
  line::Identity next = 0;
  const auto until_wanted = [&] {
    int n = 1;
    while (!free_one(++next)) ++n;
    return n;
  };
  CHECK(until_wanted() == 4);
  CHECK(forgetting.begin(forgetting.next_round()));
  CHECK(!forgetting.begin(1));  // heard of again
  CHECK(!free_one(++next));     // not while one is on
  line::Vote all = forgetting.offer();
  REQUIRE(all.freed.size() == 5);
  for (line::CommVote& v : all.freed)
    if (v.identity != 2) v.voters = 2;  // not all members have freed that one
  CHECK(forgetting.forget(all));
  forgetting.end();
  REQUIRE((comms.find(2) != nullptr && comms.find(1) == nullptr && comms.find(3) == nullptr));
  CHECK(sent.at(1, *comms.find(2), 0).sent == 5);
  CHECK(until_wanted() == 4);

  CHECK(forgetting.begin(forgetting.next_round()));
  line::Vote spoiled = forgetting.offer();
  spoiled.refuse(0, "a line is open");
  CHECK(!forgetting.forget(spoiled));
  CHECK(!forgetting.on());
  CHECK((comms.find(2) != nullptr && comms.find(next) != nullptr));
  CHECK(until_wanted() == 4);

  forgetting.committed();
  CHECK(until_wanted() == 4);
  CHECK(forgetting.begin(forgetting.next_round()));
  const size_t all_freed = forgetting.offer().freed.size();
  operations.pending(*comms.find(next), 1);  // that one has something to do
  CHECK(forgetting.offer().freed.size() == all_freed - 1);
}
