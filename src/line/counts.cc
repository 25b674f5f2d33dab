#include "line/counts.h"

#include "base/sort.h"

namespace elc::line {

Counts::~Counts() {
  peers_.each([](uint64_t, Peer*& peer) { destroy(peer); });
}

void Counts::find_last(Rank peer, uint64_t key) {
  // Tags and peers that are near each other have different places.
  Found& recent = recent_[(key + (key >> 32) + 3 * static_cast<uint32_t>(peer)) % kRecent];
  if (recent.peer != peer || recent.key != key || recent.tables != tables_) {
    ClassCount* const count = find_class(peer, key);
    recent = {key, count, peer, tables_};
  }
  last_ = recent;
}

void Counts::find(Counter& counter) {
  find_last(counter.peer, counter.key);
  counter.count = counter.received ? &last_.count->received : &last_.count->sent;
  counter.tables = tables_;
}

void Counts::moved() {
  last_ = Found();
  ++tables_;
}

ClassCount* Counts::find_class(Rank peer, uint64_t key) {
  Peer*& p = peers_.at(static_cast<uint32_t>(peer));
  if (p == nullptr) p = make<Peer>();
  if (ClassCount* const known = p->find(key)) return known;
  moved();
  return &p->at(key);
}

template <class F>
void Counts::each(F visit) const {
  peers_.each([&](uint64_t rank, Peer* const& peer) {
    peer->each([&](uint64_t k, ClassCount& count) {
      visit(ClassEntry{static_cast<Rank>(rank), static_cast<Comm>(k >> 32), static_cast<Tag>(static_cast<uint32_t>(k)),
                       ClassCount()},
            count);
    });
  });
}

void Counts::freeze(Vector<ClassEntry>* frozen) {
  Vector<ClassEntry> kept;  // what the table goes on with, so that memory follows the classes in use
  each([&](ClassEntry entry, ClassCount& count) {
    entry.count = count;
    if (count.sent != 0 || count.received != 0) frozen->push_back(entry);
    entry.count.sent = entry.count.received = 0;
    entry.count.synchronous = false;
    if (count.residue != 0 || count.suppress != 0) kept.push_back(entry);
  });
  restart(kept);
  sort(*frozen, [](const ClassEntry& a, const ClassEntry& b) {
    return before(a.peer, a.comm, a.tag, b.peer, b.comm, b.tag);
  });
}

void Counts::restart(const Vector<ClassEntry>& kept) {
  peers_.each([](uint64_t, Peer*& peer) { destroy(peer); });
  peers_.clear();
  moved();
  for (const ClassEntry& entry : kept) at(entry.peer, entry.comm, entry.tag) = entry.count;
}

void Counts::forget(const HashMap<bool>& comms) {
  Vector<ClassEntry> kept;
  each([&](ClassEntry entry, ClassCount& count) {
    entry.count = count;
    if (comms.find(entry.comm) == nullptr) kept.push_back(entry);
  });
  restart(kept);
}

void Counts::thaw(const Vector<ClassEntry>& frozen) {
  for (const ClassEntry& entry : frozen) {
    ClassCount& count = at(entry.peer, entry.comm, entry.tag);
    count.sent += entry.count.sent;
    count.received += entry.count.received;
    count.synchronous = count.synchronous || entry.count.synchronous;
  }
}

void Counts::set_residues(const Vector<Residue>& residues) {
  each([](const ClassEntry&, ClassCount& count) { count.residue = 0; });
  for (const Residue& r : residues) at(r.peer, r.comm, r.tag).residue = r.value;
}

uint64_t Counts::account(Rank self, const Comms& comms) const {
  uint64_t account = 0;
  each([&](const ClassEntry& e, const ClassCount& count) {
    if (comms[e.comm].freed) return;
    const auto add = [&](Rank from, Rank to, uint64_t messages) {
      const uint64_t pair = static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to);
      const uint64_t what = mix64(comms[e.comm].identity + static_cast<uint32_t>(e.tag));
      if (messages > 0) account ^= mix64(mix64(pair ^ what) + messages);
    };
    add(self, e.peer, count.sent);
    add(e.peer, self, count.received);
  });
  return account;
}

void Counts::residues(Vector<Residue>* out) const {
  each([&](const ClassEntry& entry, const ClassCount& count) {
    if (count.residue != 0) out->push_back({entry.peer, entry.comm, entry.tag, count.residue});
  });
}

}  // namespace elc::line
