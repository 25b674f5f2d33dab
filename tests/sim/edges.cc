// The edges of what a line keeps: files that are damaged, limits that are reached and not passed.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "line/consensus.h"
#include "line/event_logging.h"
#include "sim/memory.h"
#include "sim/random.h"
#include "sim/scene.h"

namespace {

namespace line = elc::line;
using elc::Bytes;
using elc::Decoder;
using elc::Encoder;
using sim::Scene;
using sim::Script;

line::SavedMessage message(line::Rank source, line::Tag tag, bool counted, std::string_view content) {
  line::SavedMessage saved;
  saved.message = elc::make<line::Message>();
  saved.comm = 77;
  saved.message->source = source;
  saved.message->tag = tag;
  saved.message->counted = counted;
  saved.message->representation = 5;
  saved.message->arrived = true;
  saved.message->content.append(reinterpret_cast<const uint8_t*>(content.data()), content.size());
  return saved;
}

Bytes bytes(std::string_view text) {
  Bytes made;
  made.append(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return made;
}

// One of everything.
line::Saved sample() {
  line::Saved s;
  s.line = 3;
  s.points = 4;
  s.calls = 2;
  s.postings = 9;
  s.replay = true;
  s.comms.push_back({77, 12, 4, false});
  s.comms.push_back({78, 1, 2, true});
  s.classes.push_back({1, 77, 0, 1});
  s.classes.push_back({0, 77, 6, -2});
  s.messages.push_back(message(1, 0, false, "first"));
  s.messages.push_back(message(0, 6, true, ""));
  line::SavedPosting open;
  open.number = 9;
  open.comm = 77;
  s.receives.push_back(std::move(open));
  line::SavedPosting answered;
  answered.number = 8;
  answered.comm = 77;
  answered.source = 0;
  answered.tag = 3;
  answered.answer = message(0, 3, true, "answer");
  s.receives.push_back(std::move(answered));
  s.crossing.push_back({77, 13, bytes("result")});
  s.crossing.push_back({77, 14, bytes("another")});
  s.pending.push_back({77, 11, Bytes()});
  line::SavedOutcome outcome;
  outcome.kind = line::NdKind::kValue;
  outcome.times = 2;
  outcome.value = bytes("drawn");
  s.outcomes.push_back(std::move(outcome));
  line::SavedOutcome first;
  s.outcomes.push_back(std::move(first));
  s.bound.push_back({7, 0, 0});
  return s;
}

Bytes encoded(const line::Saved& saved) {
  Bytes out;
  Encoder encoder(&out);
  saved.encode(encoder);
  return out;
}

bool decodes(const Bytes& from, line::Saved* saved) {
  Decoder in(from);
  return line::Saved::decode(in, saved).ok();
}

// Whether what is saved can be read once `change` has been made to it.
bool readable(const std::function<void(line::Saved&)>& change) {
  line::Saved s = sample(), read;
  change(s);
  return decodes(encoded(s), &read);
}

}  // namespace

TEST_CASE("what a line keeps is read as it was written") {
  const Bytes written = encoded(sample());
  line::Saved read;
  REQUIRE(decodes(written, &read));
  CHECK(read.receives[1].answer.message->arrived);
  CHECK(read.messages[0].message->arrived);
  const Bytes again = encoded(read);
  REQUIRE(again.size() == written.size());
  CHECK(memcmp(again.data(), written.data(), written.size()) == 0);
  line::Saved nothing;
  line::Saved read_nothing;
  CHECK(decodes(encoded(nothing), &read_nothing));
}

TEST_CASE("what a line keeps is refused where it is cut off, too long or of another layout") {
  const Bytes written = encoded(sample());
  for (size_t size = 0; size < written.size(); ++size) {
    Bytes cut;
    cut.append(written.data(), size);
    line::Saved read;
    CHECK_MESSAGE(!decodes(cut, &read), size << " bytes of " << written.size());
  }
  Bytes longer;
  longer.append(written.data(), written.size());
  longer.push_back(0);
  line::Saved read;
  CHECK(!decodes(longer, &read));
  Bytes other;
  other.append(written.data(), written.size());
  ++other[3];
  line::Saved read_other;
  Decoder in(other);
  const elc::Result result = line::Saved::decode(in, &read_other);
  REQUIRE(!result.ok());
  CHECK(std::string(result.message()).find("layout 2, and this libELC reads 1") != std::string::npos);
}

TEST_CASE("what a line keeps is refused where there is no memory for a part of it") {
  const Bytes written = encoded(sample());
  int parts = 0;
  for (bool read = false; !read; ++parts) {
    line::Saved saved;
    Decoder in(written);
    sim::lack_memory_after(parts);
    const elc::Result result = line::Saved::decode(in, &saved);
    sim::lack_memory_after(-1);
    read = result.ok();
    if (!read) CHECK(std::string(result.message()).find("memory") != std::string::npos);
  }
  CHECK(parts == 6);  // two contents of messages, two results and a value, and then all
}

TEST_CASE("what a line keeps is refused where it contradicts itself") {
  using line::Saved;
  CHECK(readable([](Saved&) {}));
  CHECK(!readable([](Saved& s) { s.classes[0].peer = -1; }));
  CHECK(!readable([](Saved& s) { s.classes[0].tag = -1; }));
  CHECK(!readable([](Saved& s) { s.classes[0].residue = 0; }));
  CHECK(!readable([](Saved& s) { s.classes[0].residue = INT64_MIN; }));
  CHECK(readable([](Saved& s) { s.classes[0].residue = INT64_MIN + 1; }));
  CHECK(!readable([](Saved& s) { s.messages[0].message->source = -1; }));
  CHECK(!readable([](Saved& s) { s.receives[0].source = -2; }));
  CHECK(!readable([](Saved& s) { s.receives[0].tag = -2; }));
  CHECK(!readable([](Saved& s) { s.receives[0].number = 10; }));
  CHECK(!readable([](Saved& s) { s.receives[1].answer.message->source = -1; }));
  CHECK(!readable([](Saved& s) { s.outcomes[0].kind = static_cast<line::NdKind>(0); }));
  CHECK(!readable([](Saved& s) { s.outcomes[0].kind = static_cast<line::NdKind>(1000); }));
  CHECK(!readable([](Saved& s) { s.outcomes[0].times = 0; }));
  CHECK(!readable([](Saved& s) { s.bound[0].source = -1; }));
}

TEST_CASE("a long reason keeps its beginning and its end, in whole characters") {
  const auto reason = [](const std::string& text) {
    line::Vote vote;
    vote.refuse(2, text.c_str());
    CHECK(vote.reason.view().size() <= text.size());
    return std::string(vote.reason.c_str());
  };
  const std::string most(line::kLongestReason, 'x');
  CHECK(reason("short") == "short");
  CHECK(reason(most) == most);
  const std::string cut = reason("cannot open /" + most + ": no space");
  CHECK(cut.size() == line::kLongestReason);
  CHECK(cut.find("cannot open /xxx") == 0);
  CHECK(cut.find("xxx: no space") == cut.size() - 13);
  CHECK(reason(cut) == cut);
  for (const std::string character : {"\xe2\x82\xac", "\xe2\x82\xbf"}) {  // of three bytes
    std::string many;
    for (size_t i = 0; i < line::kLongestReason; ++i) many += character;
    for (int ends = 0; ends < 9; ++ends) {
      const char *const before = &"ab"[ends % 3], *const after = &"yz"[ends / 3];
      const std::string text = reason(before + many + after);
      CHECK(text.size() <= line::kLongestReason);
      CHECK(text.size() > line::kLongestReason - 8);
      const size_t gap = text.find(" ... ");
      REQUIRE(gap != std::string::npos);
      CHECK((gap - strlen(before)) % 3 == 0);
      CHECK((text.size() - gap - 5 - strlen(after)) % 3 == 0);
    }
  }
}

// Whatever the order in which votes come together, they say the same; and they are told as they are.
TEST_CASE("votes of many processes") {
  sim::Random random(7);
  for (int round = 0; round < 200; ++round) {
    const int voters = random.between(2, 12);
    std::vector<line::Vote> votes(static_cast<size_t>(voters));
    for (int r = 0; r < voters; ++r) {
      line::Vote& v = votes[static_cast<size_t>(r)];
      v.points = random.below(5);
      v.cost = random.below(5);
      v.orphans = random.chance(0.1);
      if (random.chance(0.2)) v.refuse(r, "no");
      elc::Vector<line::ToldAddress> addresses;  // some told by others, too, and of all more than are kept
      for (int i = random.between(0, round % 10 == 0 ? 2000 : 200); i-- > 0;) addresses.push_back({random.below(20000), random.chance(0.5), random.chance(0.2), r});
      v.tell(std::move(addresses));
      for (uint64_t identity = 1; identity < 6; ++identity) {
        if (!random.chance(0.7)) continue;
        const uint64_t operations = random.below(2);
        v.comms.push_back({identity, static_cast<uint32_t>(voters), 1, operations, operations});
        if (random.chance(0.7)) v.freed.push_back({identity, static_cast<uint32_t>(voters), 1, 0, 0});
      }
    }
    Bytes first;
    for (int order = 0; order < 4; ++order) {
      line::Vote all;
      std::vector<size_t> left;
      for (size_t i = 0; i < votes.size(); ++i) left.push_back(i);
      while (!left.empty()) {
        const size_t i = order == 0 ? 0 : random.below(left.size());
        all.merge(votes[left[i]]);
        left.erase(left.begin() + static_cast<long>(i));
      }
      Bytes told;
      Encoder out(&told);
      all.encode(out);
      if (order == 0) first = std::move(told);
      else CHECK((told.size() == first.size() && memcmp(told.data(), first.data(), first.size()) == 0));
      uint64_t points = 0, cost = 0;
      bool yes = true;
      for (const line::Vote& v : votes) points = std::max(points, v.points), cost = std::max(cost, v.cost), yes = yes && v.yes();
      line::Rank refuser = line::Vote::kNobody;
      for (line::Rank r = voters; r-- > 0;)
        if (!votes[static_cast<size_t>(r)].yes()) refuser = r;
      CHECK(all.refuser == refuser);
      CHECK(all.points == points);
      CHECK(all.cost == cost);
      CHECK(all.yes() == yes);
      std::map<uint64_t, line::ToldAddress> due_told;
      for (const line::Vote& v : votes)
        for (const line::ToldAddress& t : v.told) {
          line::ToldAddress& one = due_told.try_emplace(t.address, t).first->second;
          one = {t.address, one.exact && t.exact, one.asks_holder || t.asks_holder || one.holder != t.holder, std::min(one.holder, t.holder)};
        }
      REQUIRE(all.told.size() == std::min(due_told.size(), line::Vote::kMostTold));
      auto due_next = due_told.begin();
      for (const line::ToldAddress& t : all.told) {
        const line::ToldAddress& due = due_next->second;
        CHECK((t.address == due.address && t.exact == due.exact && t.asks_holder == due.asks_holder && t.holder == due.holder));
        ++due_next;
      }
      for (uint64_t identity = 1; identity < 6; ++identity) {
        line::CommVote due;
        due.least = UINT64_MAX;
        for (const line::Vote& v : votes)
          for (const line::CommVote& c : v.comms)
            if (c.identity == identity) ++due.voters, due.least = std::min(due.least, c.least), due.most = std::max(due.most, c.most);
        const bool open = due.voters > 0 && (due.voters < static_cast<uint32_t>(voters) || due.least != due.most);
        size_t found = 0;
        for (const line::CommVote& c : all.comms) {
          if (c.identity != identity) continue;
          ++found;
          CHECK((c.voters == due.voters && c.least == due.least && c.most == due.most));
        }
        CHECK(found == (open ? 1 : 0));
        uint32_t freed = 0, told = 0;
        for (const line::Vote& v : votes)
          for (const line::CommVote& c : v.freed) freed += c.identity == identity ? 1 : 0;
        for (const line::CommVote& c : all.freed) told += c.identity == identity ? c.voters : 0;
        CHECK(told == freed);
      }
    }
    line::Vote read;
    Decoder in(first);
    CHECK(line::Vote::decode(in, &read));
    Bytes again;
    Encoder out(&again);
    read.encode(out);
    CHECK((again.size() == first.size() && memcmp(again.data(), first.data(), first.size()) == 0));
    Decoder cut(first.data(), first.size() - 4);
    line::Vote none;
    CHECK(!line::Vote::decode(cut, &none));
  }
}

TEST_CASE("a line of a job of more processes is refused") {
  Script script(2);
  Scene scene(script);
  for (const line::Rank peer : {1, 2}) {
    line::Host host;
    line::EventLogging process(host, 0, 2, line::Options());
    line::Saved saved;
    saved.classes.push_back({peer, 77, 0, 1});
    CHECK(process.load(std::move(saved)).ok() == (peer < 2));
  }
}

TEST_CASE("lines are numbered from where the caller says") {
  Script s(2);
  s.on(0).site();
  s.on(1).site();
  Scene scene(s);
  for (auto& node : scene.world->nodes) node->process->number_from(6);
  scene.request();
  scene.run(0, 1);
  scene.run(1, 1);
  scene.settle();
  CHECK(scene.world->committed() == 7);
  scene.kill();
  scene.finish();
  CHECK(scene.violation() == "");
}

// As much in transit as a line may hold is not too much.
TEST_CASE("the limit of what is in transit") {
  for (const uint64_t limit : {48, 47}) {
    Script s(2);
    s.on(0).send(1, 0).send(1, 1).site();
    s.on(1).site().recv(0, 0).recv(0, 1);
    Scene scene(s, sim::Fault::kNone, limit);
    scene.request();
    scene.run(0, 3);
    scene.run(1, 1);
    scene.deliver(0, 1);
    scene.settle();
    CHECK(scene.world->committed() == (limit == 48 ? 1 : 0));
    scene.kill();
    scene.finish();
    CHECK(scene.violation() == "");
  }
}
