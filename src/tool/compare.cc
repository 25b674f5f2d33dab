#include "compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "compared_file.h"
#include "facts.h"
#include "line/saved.h"
#include "lines.h"
#include "mpi/serial/representation_code.h"
#include "mpi/serial/section.h"
#include "portable_format/reader.h"
#include "portable_format/types.h"
#include "state/image.h"
#include "state/streams.h"
#include "text.h"
#include "value_walk.h"

namespace elc::tool {
namespace {

using nlohmann::json;

// All that is compared of two files.
class Both {
 public:
  Both(const std::string& a, const std::string& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options), walk_(a_, b_, options) {
    found_.a = a, found_.b = b;
    if (options.without_pending) pending_[0] = pending_in(a_), pending_[1] = pending_in(b_);
  }

  Comparison compare() {
    variables();
    if (!options_.only.empty()) return std::move(found_);
    frames();
    heap();
    streams();
    messages();
    receives();
    results("crossing collective operation", a_.messages.crossing, b_.messages.crossing);
    results("pending collective operation", a_.messages.pending, b_.messages.pending);
    orphans();
    operations();
    objects();
    return std::move(found_);
  }

 private:
  using Bytes = std::pair<const uint8_t*, size_t>;

  void note(const std::string& what, const std::string& name, const std::string& text) {
    Difference difference;
    difference.what = what, difference.name = name, difference.note = text;
    found_.differences.push_back(difference);
  }
  void keep(const Difference& difference) {
    found_.values += difference.values;
    if (difference.different > 0 || !difference.note.empty()) found_.differences.push_back(difference);
  }
  static std::string only_in(const char* side) { return std::string("is only in ") + side; }

  // ---- Variables and heap ----

  Leaves pending(uint64_t block_of_a, uint64_t block_of_b) const {
    Leaves all;
    for (const auto& [side, block] : {std::pair(0, block_of_a), std::pair(1, block_of_b)})
      if (const auto found = pending_[side].find(block); found != pending_[side].end()) all.insert(all.end(), found->second.begin(), found->second.end());
    return all;
  }
  static uint64_t block_of(const ComparedFile& file, const state::SavedRun& run, uint64_t id) {
    return file.image.by_id ? format::kFirstById + id : file.image.variables.size() + 1 + run.first + (id - run.first_id);
  }

  void variables() {
    const bool there = a_.has("vars") && b_.has("vars");
    if (a_.has("vars") != b_.has("vars")) note("variables", "", only_in(a_.has("vars") ? "A" : "B"));
    if (!there) return;
    std::map<std::pair<std::string, std::string>, size_t> index;  // of those of B that are not in A
    for (size_t i = 0; i < b_.image.variables.size(); ++i) index[key(b_, i)] = i;
    format::Cursor in_a = values_of(a_), in_b = values_of(b_);
    size_t next_b = 0;  // the one that in_b is at
    for (size_t i = 0; i < a_.image.variables.size(); ++i) {
      const state::SavedVariable& v = a_.image.variables[i];
      const bool wanted = options_.wants(v.name.c_str());
      const auto at = index.find(key(a_, i));
      if (!wanted || at == index.end()) {
        if (wanted) note_variable(a_, i, only_in("A"));
        if (at != index.end()) index.erase(at);
        a_.check(in_a.skip_value(v.type, v.count));
        continue;
      }
      const size_t j = at->second;
      index.erase(at);
      if (j < next_b) in_b = values_of(b_), next_b = 0;
      for (; next_b < j; ++next_b)
        b_.check(in_b.skip_value(b_.image.variables[next_b].type, b_.image.variables[next_b].count));
      variable(in_a, i, in_b, j);
      next_b = j + 1;
    }
    for (const auto& [name, j] : index)
      if (options_.wants(b_.image.variables[j].name.c_str())) note_variable(b_, j, only_in("B"));
  }

  static std::pair<std::string, std::string> key(const ComparedFile& file, size_t i) {
    const state::SavedVariable& v = file.image.variables[i];
    return {std::to_string(v.frame) + " " + file.owner(v), v.name.c_str()};
  }
  static format::Cursor values_of(ComparedFile& file) {
    format::Cursor in = file.section("vars");
    state::Image passed;
    file.check(passed.read_variables(in));
    return in;
  }
  static Difference of_variable(const ComparedFile& file, size_t i) {
    const state::SavedVariable& v = file.image.variables[i];
    Difference difference;
    difference.what = "variable", difference.name = v.name.c_str(), difference.owner = file.owner(v);
    difference.type = file.type_text(v.type, v.count);
    return difference;
  }
  void note_variable(const ComparedFile& file, size_t i, const std::string& text) {
    Difference difference = of_variable(file, i);
    difference.note = text;
    keep(difference);
  }

  void variable(format::Cursor& in_a, size_t i, format::Cursor& in_b, size_t j) {
    const state::SavedVariable &v = a_.image.variables[i], &w = b_.image.variables[j];
    Difference difference = of_variable(a_, i);
    walk_.pass_over(pending(i + 1, j + 1));
    const bool fit = walk_.values(in_a, v.type, v.count, in_b, w.type, w.count, &difference, &found_.within);
    if (!fit) difference.note = "is " + b_.type_text(w.type, w.count) + " in B";
    else if (v.count != w.count) difference.note = "has " + std::to_string(w.count) + " elements in B";
    keep(difference);
  }

  void frames() {
    const auto text = [](const ComparedFile& file) {
      std::string all;
      for (const state::SavedFrame& f : file.image.frames)
        all += (all.empty() ? "" : ", ") + std::string(f.function.c_str()) + "() at label " + std::to_string(f.label);
      return all.empty() ? "none" : all;
    };
    if (text(a_) != text(b_)) note("functions on the stack", "", text(a_) + " in A, " + text(b_) + " in B");
  }

  // Blocks are known by their numbers, which count what the program has allocated.
  void heap() {
    if (!a_.has("heap") || !b_.has("heap")) return;
    format::Cursor in_a = blocks_of(a_), in_b = blocks_of(b_);
    Blocks left{a_.image.runs}, right{b_.image.runs};
    uint64_t only[2] = {0, 0};
    while (left.run() != nullptr || right.run() != nullptr) {
      if (right.run() == nullptr || (left.run() != nullptr && left.id() < right.id())) {
        skip(a_, in_a, *left.run());
        only[0] += 1, left.next();
      } else if (left.run() == nullptr || right.id() < left.id()) {
        skip(b_, in_b, *right.run());
        only[1] += 1, right.next();
      } else {
        block(in_a, *left.run(), in_b, *right.run(), left.id());
        left.next(), right.next();
      }
    }
    for (int s = 0; s < 2; ++s)
      if (only[s] > 0)
        note("heap", "", count_text(only[s], "block") + (only[s] == 1 ? " is" : " are") + (s == 0 ? " only in A" : " only in B"));
  }

  struct Blocks {
    const Vector<state::SavedRun>& runs;
    size_t at = 0;
    uint64_t index = 0;
    const state::SavedRun* run() const { return at < runs.size() ? &runs[at] : nullptr; }
    uint64_t id() const { return runs[at].first_id + index; }
    void next() {
      if (++index < runs[at].blocks) return;
      index = 0, ++at;
    }
  };
  static format::Cursor blocks_of(ComparedFile& file) {
    format::Cursor in = file.section("heap");
    file.check(state::Image::pass_over_heap(in));
    return in;
  }
  static void skip(const ComparedFile& file, format::Cursor& in, const state::SavedRun& run) {
    file.check(in.skip_value(run.type, run.count));
    file.check(in.skip(run.rest));
  }
  void block(format::Cursor& in_a, const state::SavedRun& r, format::Cursor& in_b, const state::SavedRun& s, uint64_t id) {
    Difference difference;
    difference.what = "heap block", difference.name = std::to_string(id);
    difference.type = r.count == 0 && r.rest > 0 ? count_text(r.rest, "byte") : a_.type_text(r.type, r.count);
    walk_.pass_over(pending(block_of(a_, r, id), block_of(b_, s, id)));
    const bool fit = walk_.values(in_a, r.type, r.count, in_b, s.type, s.count, &difference, &found_.within);
    walk_.rest(in_a, r.rest, in_b, s.rest, &difference);
    if (!fit) difference.note = "is " + b_.type_text(s.type, s.count) + " in B";
    else if (r.count != s.count || r.rest != s.rest) difference.note = "has another size in B";
    keep(difference);
  }

  // ---- Files ----

  void streams() {
    if (!a_.has("files") || !b_.has("files")) return;
    static const char* const kKinds[] = {"for reading", "for appending", "for writing", "special"};
    format::Cursor in_a = contents_of(a_), in_b = contents_of(b_);
    const size_t most = std::max(a_.streams.size(), b_.streams.size());
    for (size_t i = 0; i < most; ++i) {
      const state::SavedStream* s = i < a_.streams.size() ? &a_.streams[i] : nullptr;
      const state::SavedStream* t = i < b_.streams.size() ? &b_.streams[i] : nullptr;
      const std::string path = s != nullptr ? s->path.c_str() : t->path.c_str();
      if (s == nullptr || t == nullptr) {
        note("open file", path, only_in(s != nullptr ? "A" : "B"));
      } else if (s->path.view() != t->path.view()) {
        note("open file", path, std::string("is ") + t->path.c_str() + " in B");
      } else if (s->kind != t->kind) {
        note("open file", path, std::string("is open ") + kKinds[static_cast<uint32_t>(s->kind)] + " in A, " +
                                    kKinds[static_cast<uint32_t>(t->kind)] + " in B");
      } else {
        if (s->offset != t->offset)
          note("open file", path, "is at byte " + std::to_string(s->offset) + " in A, at " + std::to_string(t->offset) + " in B");
        if (s->at_end != t->at_end) note("open file", path, std::string("has come to its end in ") + (s->at_end ? "A" : "B") + " alone");
        if (s->kind != state::StreamKind::kRead && s->length != t->length)
          note("open file", path, "has " + std::to_string(s->length) + " bytes in A, " + std::to_string(t->length) + " in B");
      }
      content(path, s, in_a, t, in_b);
    }
  }
  static format::Cursor contents_of(ComparedFile& file) {
    format::Cursor in = file.section("files");
    state::SavedTerminal terminals[3];
    Vector<state::SavedStream> passed;
    file.check(state::read_files(in, terminals, &passed));
    return in;
  }
  // What is in a file that is written, as far as both lines have it.
  void content(const std::string& path, const state::SavedStream* s, format::Cursor& in_a, const state::SavedStream* t,
               format::Cursor& in_b) {
    const uint64_t size_a = s != nullptr && s->kind == state::StreamKind::kWrite ? s->length : 0;
    const uint64_t size_b = t != nullptr && t->kind == state::StreamKind::kWrite ? t->length : 0;
    const bool same_file = s != nullptr && t != nullptr && s->path.view() == t->path.view();
    const uint64_t common = same_file ? std::min(size_a, size_b) : 0;
    Difference difference;
    difference.what = "open file", difference.name = path, difference.type = "content";
    walk_.pass_over({});
    walk_.rest(in_a, common, in_b, common, &difference);
    a_.check(in_a.skip(size_a - common));
    b_.check(in_b.skip(size_b - common));
    keep(difference);
  }

  // ---- Messages ----

  // Those that are in transit to the rank, by envelope, in the order in which it receives them.
  using Envelope = std::tuple<uint64_t, int, int>;
  using Stream = std::vector<const line::Message*>;
  static std::map<Envelope, Stream> in_transit(const line::Saved& saved) {
    std::map<Envelope, Stream> all;
    const auto add = [&](const line::SavedMessage& m) {
      all[{m.comm, m.message->source, m.message->tag}].push_back(m.message);
    };
    for (const line::SavedPosting& p : saved.receives)
      if (p.answer.message != nullptr) add(p.answer);
    for (const line::SavedMessage& m : saved.messages) add(m);
    return all;
  }
  static std::string text_of(const Envelope& envelope) {
    const auto& [comm, source, tag] = envelope;
    return "from rank " + std::to_string(source) + ", tag " + std::to_string(tag) + ", " + communicator_text(comm);
  }

  void messages() {
    std::map<Envelope, Stream> left = in_transit(a_.messages), right = in_transit(b_.messages);
    for (const auto& [envelope, all] : left) right.try_emplace(envelope);
    for (const auto& [envelope, theirs] : right) {
      const Stream& ours = left[envelope];
      if (ours.size() != theirs.size())
        note("messages", text_of(envelope), std::to_string(ours.size()) + " in transit in A, " +
                                                std::to_string(theirs.size()) + " in B");
      for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) message(envelope, i, *ours[i], *theirs[i]);
    }
  }

  // The machine whose bytes they are: that of the line, where the message does not say.
  static uint64_t machine(const ComparedFile& file, const line::Message& message) {
    if (message.representation != 0) return message.representation;
    const format::Representation& r = file.reader.representation();
    return mpi::representation_code(r, 0);
  }

  void message(const Envelope& envelope, size_t index, const line::Message& m, const line::Message& n) {
    const std::string name = text_of(envelope) + ": message " + std::to_string(index + 1);
    if (machine(a_, m) != machine(b_, n)) {
      found_.not_compared.push_back(name + ": its bytes are those of unlike machines");
      return;
    }
    bytes("message", name, {m.content.data(), m.content.size()}, {n.content.data(), n.content.size()});
  }

  // What has no type.
  void bytes(const std::string& what, const std::string& name, Bytes x, Bytes y) {
    Difference difference;
    difference.what = what, difference.name = name, difference.type = count_text(x.second, "byte");
    difference.values = std::min(x.second, y.second);
    if (x.second != y.second) difference.note = "has " + count_text(y.second, "byte") + " in B";
    for (size_t i = 0; i < difference.values; ++i) {
      if (x.first[i] == y.first[i]) continue;
      char texts[2][8];
      snprintf(texts[0], sizeof texts[0], "0x%02x", x.first[i]);
      snprintf(texts[1], sizeof texts[1], "0x%02x", y.first[i]);
      if (difference.different++ == 0) difference.first = Pair{"[" + std::to_string(i) + "]", texts[0], texts[1]};
    }
    keep(difference);
  }

  void receives() {
    const auto text = [](const line::SavedPosting& p) {
      return "from " + (p.source == line::kAnySource ? "any rank" : "rank " + std::to_string(p.source)) + ", " +
             (p.tag == line::kAnyTag ? "any tag" : "tag " + std::to_string(p.tag)) + ", " + communicator_text(p.comm);
    };
    const auto &left = a_.messages.receives, &right = b_.messages.receives;
    for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      const std::string name = std::to_string(i + 1);
      const std::string a = i < left.size() ? text(left[i]) : "", b = i < right.size() ? text(right[i]) : "";
      if (a == b) continue;
      if (a.empty() || b.empty()) note("pending receive", name + ", " + a + b, only_in(b.empty() ? "A" : "B"));
      else note("pending receive", name, a + " in A, " + b + " in B");
    }
  }

  void results(const std::string& what, const Vector<line::SavedResult>& left, const Vector<line::SavedResult>& right) {
    std::map<std::pair<uint64_t, uint64_t>, std::pair<const line::SavedResult*, const line::SavedResult*>> all;
    for (const line::SavedResult& r : left) all[{r.comm, r.number}].first = &r;
    for (const line::SavedResult& r : right) all[{r.comm, r.number}].second = &r;
    for (const auto& [key, results] : all) {
      const std::string name = std::to_string(key.second) + " on " + communicator_text(key.first);
      const auto [r, s] = results;
      if (r == nullptr || s == nullptr) note(what, name, only_in(r != nullptr ? "A" : "B"));
      else result(what, name, r->result, s->result);
    }
  }
  void result(const std::string& what, const std::string& name, const elc::Bytes& r, const elc::Bytes& s) {
    Decoder in_a(r), in_b(s);
    const bool data = !r.empty() && !s.empty() && in_a.u32() == mpi::kDataResult && in_b.u32() == mpi::kDataResult;
    if (data && in_a.u64() != in_b.u64()) found_.not_compared.push_back(what + " " + name + ": its bytes are those of unlike machines");
    else bytes(what, name, {r.data(), r.size()}, {s.data(), s.size()});
  }

  void orphans() {
    std::map<Envelope, std::pair<int64_t, int64_t>> all;
    for (const line::SavedClass& c : a_.messages.classes)
      if (c.residue < 0) all[{c.comm, c.peer, c.tag}].first = -c.residue;
    for (const line::SavedClass& c : b_.messages.classes)
      if (c.residue < 0) all[{c.comm, c.peer, c.tag}].second = -c.residue;
    for (const auto& [envelope, counts] : all)
      if (counts.first != counts.second)
        note("orphans", text_of(envelope), std::to_string(counts.first) + " in A, " + std::to_string(counts.second) + " in B");
  }

  void operations() {
    std::map<uint64_t, std::pair<const line::SavedComm*, const line::SavedComm*>> all;
    for (const line::SavedComm& c : a_.messages.comms) all[c.identity].first = &c;
    for (const line::SavedComm& c : b_.messages.comms) all[c.identity].second = &c;
    for (const auto& [identity, comms] : all) {
      const auto [c, d] = comms;
      if (c == nullptr || d == nullptr || c->freed || d->freed || c->operations == d->operations) continue;
      note("collective operations", "on " + communicator_text(identity),
           std::to_string(c->operations) + " in A, " + std::to_string(d->operations) + " in B");
    }
  }

  // ---- What MPI has made ----

  void objects() {
    json left = object_facts(a_.path), right = object_facts(b_.path);
    for (auto* side : {&left, &right})
      for (const char* label : {"line", "run", "rank", "ranks"}) side->erase(label);
    drop_incomparable(a_, &left);
    drop_incomparable(b_, &right);
    differ("", left, right);
  }

  // What is not the program's: the number of the next request; a communicator that it has freed, which stays in lines for as
  // long as they may need it.
  static void drop_incomparable(const ComparedFile& file, json* facts) {
    if (!facts->contains("mpi")) return;
    json& mpi = (*facts)["mpi"];
    mpi.erase("last_request");
    std::set<std::string> freed;
    for (const line::SavedComm& c : file.messages.comms)
      if (c.freed) freed.insert(communicator_text(c.identity));
    json& all = mpi["communicators"];
    for (size_t i = all.size(); i-- > 0;)
      if (freed.count(all[i]["communicator"].get<std::string>()) > 0) all.erase(i);
    for (const char* list : {"requests", "files", "windows"})
      for (json& one : mpi[list]) one.erase("posting");
  }

  void differ(const std::string& place, const json& x, const json& y) {
    if (x == y) return;
    if (x.is_object() && y.is_object()) {
      std::set<std::string> keys;
      for (const auto* side : {&x, &y})
        for (const auto& [key, value] : side->items()) keys.insert(key);
      for (const std::string& key : keys)
        differ(place.empty() ? key : place + "." + key, x.value(key, json()), y.value(key, json()));
    } else if (x.is_array() && y.is_array()) {
      for (size_t i = 0; i < std::max(x.size(), y.size()); ++i)
        differ(place + "[" + std::to_string(i) + "]", i < x.size() ? x[i] : json(), i < y.size() ? y[i] : json());
    } else {
      const auto text = [](const json& value) {
        return value.is_null() ? "nothing" : value.is_string() ? value.get<std::string>()
                                                               : value.dump(-1, ' ', true, json::error_handler_t::replace);
      };
      note("MPI", place, text(x) + " in A, " + text(y) + " in B");
    }
  }

  ComparedFile a_, b_;
  const CompareOptions& options_;
  ValueWalk walk_;
  std::map<uint64_t, Leaves> pending_[2];
  Comparison found_;
};

// Three digits, for people who compare magnitudes.
std::string short_text(long double value) {
  char text[64];
  snprintf(text, sizeof text, "%.3Lg", value);
  return text;
}

json facts_of(const Pair& pair) { return {{"place", pair.place}, {"a", pair.a}, {"b", pair.b}}; }

}  // namespace

Comparison compare_files(const std::string& a, const std::string& b, const CompareOptions& options) {
  return Both(a, b, options).compare();
}

std::string text_of(const Difference& d) {
  std::string text = d.what + (d.name.empty() ? "" : " " + d.name);
  if (!d.type.empty()) text += " (" + d.type + ")";
  if (!d.owner.empty()) text += " in " + d.owner + "()";
  if (!d.note.empty()) text += (d.name.empty() ? ": " : " ") + d.note;
  if (d.different == 0) return text;
  if (!d.note.empty()) text += ";";
  const Pair& first = *d.first;
  if (d.values == 1 && d.different == 1) {
    text += ": " + first.a + " in A, " + first.b + " in B";
    return text + (d.only_floating() ? ", a difference of " + short_text(d.distance) : "");
  }
  text += " differs in " + std::to_string(d.different) + " of " + count_text(d.values, "value");
  if (d.floating == d.different) text += d.floating == 1 ? ", a floating-point one" : ", all floating-point";
  else if (d.floating > 0) text += ", of these " + std::to_string(d.floating) + " floating-point";
  text += "\n  first    " + first.place + ": " + first.a + " in A, " + first.b + " in B";
  if (d.largest)
    text += "\n  largest  " + d.largest->place + ": " + d.largest->a + " in A, " + d.largest->b + " in B, a difference of " +
            short_text(d.distance);
  return text;
}

json facts_of(const Comparison& comparison) {
  json differences = json::array();
  for (const Difference& d : comparison.differences) {
    json facts = {{"what", d.what}, {"name", d.name}};
    if (!d.owner.empty()) facts["owner"] = d.owner;
    if (!d.type.empty()) facts["type"] = d.type;
    if (!d.note.empty()) facts["note"] = d.note;
    if (d.values > 0) facts.update({{"values", d.values}, {"different", d.different}, {"floating", d.floating}});
    if (d.first) facts["first"] = facts_of(*d.first);
    if (d.largest) {
      facts["largest"] = facts_of(*d.largest);
      facts["largest"]["difference"] = std::isfinite(d.distance) ? json(static_cast<double>(d.distance)) : json("inf");
    }
    differences.push_back(facts);
  }
  return {{"a", comparison.a},
          {"b", comparison.b},
          {"values", comparison.values},
          {"within_tolerance", comparison.within},
          {"differences", differences},
          {"not_compared", comparison.not_compared}};
}

bool CompareOptions::wants(const std::string& variable) const {
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), variable) != names.end();
  };
  return (only.empty() || has(only)) && !has(without);
}

}  // namespace elc::tool
