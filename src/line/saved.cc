#include "line/saved.h"

#include <algorithm>

namespace elc::line {

Message* retain(Message* message) {
  ++message->references;
  return message;
}

void let_go(Message* message) {
  if (message != nullptr && --message->references == 0) destroy(message);
}

SavedMessage& SavedMessage::operator=(SavedMessage&& other) noexcept {
  std::swap(comm, other.comm);
  std::swap(message, other.message);
  return *this;
}

namespace {

constexpr uint32_t kSectionLayout = 1;

// Least encoded sizes, for Decoder::count.
constexpr size_t kCommSize = 24, kClassSize = 24, kMessageSize = 36, kPostingSize = 28, kResultSize = 24,
                 kOutcomeSize = 16, kBoundSize = 16;

void encode_message(Encoder& out, const SavedMessage& saved) {
  const Message& m = *saved.message;
  out.u64(saved.comm);
  out.i32(m.source);
  out.i32(m.tag);
  out.boolean(m.counted);
  out.u64(m.representation);
  out.opaque(m.content.data(), m.content.size());
}

// The bytes that come next; false: there is no memory for them.
bool decode_bytes(Decoder& in, Bytes* bytes) {
  const std::string_view all = in.opaque();
  if (!bytes->make_room(all.size())) return false;
  bytes->append(reinterpret_cast<const uint8_t*>(all.data()), all.size());
  return true;
}

bool decode_message(Decoder& in, SavedMessage* to) {
  SavedMessage saved;
  saved.message = make<Message>();
  Message& m = *saved.message;
  saved.comm = in.u64();
  m.source = in.i32();
  m.tag = in.i32();
  m.counted = in.boolean();
  m.representation = in.u64();
  m.arrived = true;
  if (!decode_bytes(in, &m.content)) return false;
  if (m.source < 0 || m.tag < 0) in.fail();
  *to = std::move(saved);
  return true;
}

void encode_results(Encoder& out, const Vector<SavedResult>& results) {
  out.u64(results.size());
  for (const SavedResult& r : results) {
    out.u64(r.comm);
    out.u64(r.number);
    out.opaque(r.result.data(), r.result.size());
  }
}

bool decode_results(Decoder& in, Vector<SavedResult>* results) {
  const size_t n = in.count(kResultSize);
  for (size_t i = 0; i < n; ++i) {
    SavedResult r;
    r.comm = in.u64();
    r.number = in.u64();
    if (!decode_bytes(in, &r.result)) return false;
    results->push_back(std::move(r));
  }
  return true;
}

bool decode_tables(Decoder& in, Saved* saved) {
  const size_t comms = in.count(kCommSize);
  for (size_t i = 0; i < comms; ++i) {
    SavedComm c;
    c.identity = in.u64();
    c.operations = in.u64();
    c.size = in.u32();
    c.freed = in.boolean();
    saved->comms.push_back(c);
  }
  const size_t classes = in.count(kClassSize);
  for (size_t i = 0; i < classes; ++i) {
    SavedClass c;
    c.peer = in.i32();
    c.comm = in.u64();
    c.tag = in.i32();
    c.residue = in.i64();
    if (c.peer < 0 || c.tag < 0 || c.residue == 0 || c.residue == INT64_MIN) in.fail();
    saved->classes.push_back(c);
  }
  return true;
}

bool decode_messages(Decoder& in, Saved* saved) {
  const size_t messages = in.count(kMessageSize);
  for (size_t i = 0; i < messages; ++i)
    if (!decode_message(in, &saved->messages.push_back(SavedMessage()))) return false;
  const size_t receives = in.count(kPostingSize);
  for (size_t i = 0; i < receives; ++i) {
    SavedPosting p;
    p.number = in.u64();
    p.comm = in.u64();
    p.source = in.i32();
    p.tag = in.i32();
    if (in.boolean() && !decode_message(in, &p.answer)) return false;
    if (p.source < kAnySource || p.tag < kAnyTag || p.number > saved->postings) in.fail();
    saved->receives.push_back(std::move(p));
  }
  return true;
}

bool decode_outcomes(Decoder& in, Saved* saved) {
  const size_t outcomes = in.count(kOutcomeSize);
  for (size_t i = 0; i < outcomes; ++i) {
    SavedOutcome o;
    const uint32_t kind = in.u32();
    if (kind < static_cast<uint32_t>(NdKind::kTest) || kind > static_cast<uint32_t>(NdKind::kImprobe)) in.fail();
    o.kind = static_cast<NdKind>(kind);
    o.times = in.u32();
    if (o.times == 0) in.fail();
    if (!decode_bytes(in, &o.value)) return false;
    saved->outcomes.push_back(std::move(o));
  }
  const size_t bound = in.count(kBoundSize);
  for (size_t i = 0; i < bound; ++i) {
    BoundReceive b;
    b.number = in.u64();
    b.source = in.i32();
    b.tag = in.i32();
    if (b.source < 0 || b.tag < 0) in.fail();
    saved->bound.push_back(b);
  }
  return true;
}

}  // namespace

void Saved::encode(Encoder& out) const {
  out.u32(kSectionLayout);
  out.u32(line);
  out.u64(points);
  out.u64(calls);
  out.u64(postings);
  out.boolean(replay);
  out.u64(comms.size());
  for (const SavedComm& c : comms) {
    out.u64(c.identity);
    out.u64(c.operations);
    out.u32(c.size);
    out.boolean(c.freed);
  }
  out.u64(classes.size());
  for (const SavedClass& c : classes) {
    out.i32(c.peer);
    out.u64(c.comm);
    out.i32(c.tag);
    out.i64(c.residue);
  }
  out.u64(messages.size());
  for (const SavedMessage& m : messages) encode_message(out, m);
  out.u64(receives.size());
  for (const SavedPosting& p : receives) {
    out.u64(p.number);
    out.u64(p.comm);
    out.i32(p.source);
    out.i32(p.tag);
    out.boolean(p.answer.message != nullptr);
    if (p.answer.message != nullptr) encode_message(out, p.answer);
  }
  encode_results(out, crossing);
  encode_results(out, pending);
  out.u64(outcomes.size());
  for (const SavedOutcome& o : outcomes) {
    out.u32(static_cast<uint32_t>(o.kind));
    out.u32(o.times);
    out.opaque(o.value.data(), o.value.size());
  }
  out.u64(bound.size());
  for (const BoundReceive& b : bound) {
    out.u64(b.number);
    out.i32(b.source);
    out.i32(b.tag);
  }
}

const SavedPosting* find_posting(const Vector<SavedPosting>& receives, uint64_t number) {
  const SavedPosting* p = std::lower_bound(receives.begin(), receives.end(), number,
                                           [](const SavedPosting& a, uint64_t n) { return a.number < n; });
  return p == receives.end() || p->number != number ? nullptr : p;
}

Result Saved::decode(Decoder& in, Saved* saved) {
  const uint32_t layout = in.u32();
  if (in.ok() && layout != kSectionLayout) {
    return Result::error("section \"line\" has layout %u, and this libELC reads %u: use the newer libELC", layout,
                         kSectionLayout);
  }
  struct Part {
    const char* name;
    bool (*decode)(Decoder&, Saved*);  // false: there is no memory
  };
  const Part parts[] = {
      {"its beginning",
       [](Decoder& d, Saved* s) {
         s->line = d.u32();
         s->points = d.u64();
         s->calls = d.u64();
         s->postings = d.u64();
         s->replay = d.boolean();
         return true;
       }},
      {"communicators and counts", decode_tables},
      {"messages in transit", decode_messages},
      {"results of collective operations",
       [](Decoder& d, Saved* s) {
         return decode_results(d, &s->crossing) && decode_results(d, &s->pending);
       }},
      {"outcomes", decode_outcomes},
  };
  for (const Part& part : parts) {
    if (!part.decode(in, saved)) return no_memory(in.left(), part.name);
    if (!in.ok()) return Result::error("section \"line\" is damaged: %s cannot be read", part.name);
  }
  if (in.left() != 0) return Result::error("section \"line\" is damaged: %zu bytes too many at its end", in.left());
  return Result();
}

}  // namespace elc::line
