#include "compare.h"

#include <string.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "facts.h"
#include "line/saved.h"
#include "lines.h"
#include "mpi/serial/representation_code.h"
#include "mpi/serial/section.h"
#include "portable_format/convert.h"
#include "portable_format/integer.h"
#include "portable_format/reader.h"
#include "portable_format/types.h"
#include "state/image.h"
#include "state/streams.h"
#include "text.h"

namespace elc::tool {
namespace {

using format::Kind;
using format::TypeId;
using nlohmann::json;

constexpr size_t kPiece = 65536;  // bytes of each file that are looked at together

// One of the two files.
struct File {
  explicit File(const std::string& where) : path(where) {
    check(source.open(path.c_str()));
    check(reader.open(source.source()));
    if (has("files")) {
      format::Cursor in = section("files");
      state::SavedTerminal terminals[3];
      check(state::read_files(in, terminals, &streams));
    }
    if (has("vars")) {
      format::Cursor in = section("vars");
      check(image.read_variables(in));
    }
    if (has("heap")) {
      format::Cursor in = section("heap");
      check(image.read_heap(in, reader));
    }
    if (has("line")) {
      Bytes bytes;
      check(reader.read_section("line", UINT32_MAX, &bytes));
      Decoder in(bytes);
      check(line::Saved::decode(in, &messages));
    }
  }

  void check(const Result& status) const {
    if (!status.ok())
      throw Refusal(status.system_failed() ? kCannot : kDamaged, path + ": " + reader.explain(status).message());
  }
  bool has(const char* name) const { return reader.has_section(name); }
  format::Cursor section(const char* name) {
    format::Cursor in;
    check(in.open(&reader, name));
    return in;
  }
  const format::TypeTable& types() const { return reader.types(); }
  std::string type_text(TypeId type, uint64_t count) const {
    const std::string name = types().known(type) ? types().info(type).name : "?";
    return count == 1 ? name : name + "[" + std::to_string(count) + "]";
  }
  std::string owner(const state::SavedVariable& v) const {
    return v.frame == 0 ? "" : image.frames[v.frame - 1].function.c_str();
  }

  // "&field[3].x", "heap block 7, [2]": the same for two files whose blocks have other numbers.
  std::string pointer_text(const format::PointerLeaf& p) const {
    if (p.block == format::kNullBlock) return "NULL";
    if (p.block == format::kWildBlock) return "wild";
    if (!format::is_block(p)) return p.block == format::kStreamBlock ? "a stream" : "a function";
    char place[512] = "";
    const uint64_t leaf = format::leaf_of(p.position), extra = format::extra_of(p.position);
    std::string name;
    TypeId type = 0;
    uint64_t count = 0, rest = 0;
    if (p.block <= image.variables.size()) {
      const state::SavedVariable& v = image.variables[p.block - 1];
      const std::string of = owner(v);
      name = "&" + (of.empty() ? "" : of + "()'s ") + v.name.c_str();
      type = v.type, count = v.count;
    } else {
      uint64_t index = 0;
      const state::SavedRun* run = image.run_of(p.block, &index);
      if (run == nullptr) return "unknown";
      name = "heap block " + std::to_string(run->first_id + (index - run->first));
      type = run->type, count = run->count, rest = run->rest;
    }
    const uint64_t leaves = count * types().info(type).leaves;
    if (const uint64_t before = format::leaves_before(p.position); before > 0)
      return name + ", [-" + std::to_string(before / types().info(type).leaves) + "]";
    if (leaf < leaves) types().place(type, count, leaf, place, sizeof place);
    else snprintf(place, sizeof place, rest > 0 ? " and %llu bytes" : ", its end",
                  static_cast<unsigned long long>(leaf - leaves));
    name += place;
    if (extra == format::kPastLeaf) name += ", its end";
    else if (extra != 0) name += " and " + std::to_string(extra) + " bytes";
    return name;
  }

  std::string path;
  store::RankSource source;
  format::Reader reader;
  state::Image image;
  Vector<state::SavedStream> streams;
  line::Saved messages;
};

// Leaves of a block, from the first to the one behind the last.
using Leaves = std::vector<std::pair<uint64_t, uint64_t>>;

// What operations that are pending may write meanwhile, by the numbers of blocks. Of a datatype of the program's own that is all
// behind its beginning.
std::map<uint64_t, Leaves> pending_in(File& file) {
  std::map<uint64_t, Leaves> found;
  if (!file.has("mpi")) return found;
  store::Label label;
  file.check(store::read_label(file.reader, &label));
  Bytes bytes;
  file.check(file.reader.read_section("mpi", UINT32_MAX, &bytes));
  Decoder in(bytes);
  mpi::SavedMpi saved;
  file.check(mpi::SavedMpi::decode(in, label.ranks, &saved));
  const auto add = [&](const mpi::SavedRegion& region) {
    const bool is_before = format::leaves_before(region.buffer.position) > 0;
    const uint64_t first = is_before ? 0 : format::leaf_of(region.buffer.position);
    const bool is_simple = !is_before && region.count >= 0 && mpi::predefined_name(region.type) != nullptr;
    found[region.buffer.block].emplace_back(first, is_simple ? first + static_cast<uint64_t>(region.count) : UINT64_MAX);
  };
  for (const mpi::SavedRequest& r : saved.requests) {
    const bool is_started = r.kind == mpi::RequestKind::kPersistent && r.mode == mpi::StartMode::kReceive && r.active;
    if (r.kind == mpi::RequestKind::kReceive || is_started) add(r.region);
    for (const mpi::SavedRegion& region : r.regions) add(region);
    if (r.kind == mpi::RequestKind::kPersistentCollective && r.active)
      for (const mpi::SavedRegion& region : r.to.blocks) add(region);
  }
  return found;
}

// The packed values of one file: from a piece that has been read, or from the section.
struct Values {
  const File& file;
  format::Cursor* in = nullptr;
  const uint8_t* at = nullptr;
  size_t left = 0;
  uint8_t scratch[64] = {};

  const uint8_t* take(size_t size) {
    if (left == 0) {
      in->bytes(scratch, size);
      file.check(in->status());
      return scratch;
    }
    const uint8_t* here = at;
    at += size, left -= size;
    return here;
  }
};


// Whether two scalars can be compared by value.
bool comparable(Kind a, Kind b) {
  if (a == b) return true;
  if (format::is_integer(a) && format::is_integer(b)) return true;
  return format::is_complex(a) == format::is_complex(b) && format::is_floating(format::part_of_complex(a)) &&
         format::is_floating(format::part_of_complex(b));
}

class Walk {
 public:
  Walk(File& a, File& b, const CompareOptions& options)
      : both_{&a, &b}, options_(options), same_machine_(a.reader.representation() == b.reader.representation()),
        same_blocks_(have_same_blocks(a, b)) {}

  // Compares what the cursors are at; both are behind their value then. False where the types have nothing to do with each
  // other.
  bool values(format::Cursor& a, TypeId type_a, uint64_t count_a, format::Cursor& b, TypeId type_b, uint64_t count_b,
              Difference* found, uint64_t* within) {
    found_ = found, within_ = within;
    steps_.clear();
    leaf_ = 0;
    const bool fit = alike(type_a, type_b);
    const uint64_t common = fit ? std::min(count_a, count_b) : 0;
    Values sides[2] = {{of(0), &a}, {of(1), &b}};
    many(sides, type_a, type_b, common, count_a == 1 && count_b == 1);
    of(0).check(a.skip_value(type_a, count_a - common));
    of(1).check(b.skip_value(type_b, count_b - common));
    return fit;
  }

  // Differences in these of what is compared next are none.
  void pass_over(Leaves leaves) { passed_over_ = std::move(leaves); }

  // The bytes behind the elements of a heap block.
  void rest(format::Cursor& a, uint64_t size_a, format::Cursor& b, uint64_t size_b, Difference* found) {
    found_ = found;
    steps_.clear();
    const uint64_t common = std::min(size_a, size_b);
    Values sides[2] = {{of(0), &a}, {of(1), &b}};
    many(sides, format::kByte, format::kByte, common, false);
    of(0).check(a.skip(size_a - common));
    of(1).check(b.skip(size_b - common));
  }

 private:
  File& of(int side) const { return *both_[side]; }

  struct Step {
    const char* field;  // nullptr: an index
    uint64_t index;
  };

  // Whether the same number of a block or of another thing means the same in both.
  static bool have_same_blocks(const File& a, const File& b) {
    const auto same = [](const auto& x, const auto& y, auto equal) {
      return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
    };
    return same(a.image.variables, b.image.variables,
                [](const state::SavedVariable& v, const state::SavedVariable& w) {
                  return v.frame == w.frame && v.name.view() == w.name.view();
                }) &&
           same(a.image.frames, b.image.frames,
                [](const state::SavedFrame& f, const state::SavedFrame& g) { return f.function.view() == g.function.view(); }) &&
           same(a.image.runs, b.image.runs,
                [](const state::SavedRun& r, const state::SavedRun& s) {
                  return r.first_id == s.first_id && r.blocks == s.blocks;
                }) &&
           same(a.image.function_names, b.image.function_names, [](const Text& f, const Text& g) { return f.view() == g.view(); }) &&
           same(a.streams, b.streams,
                [](const state::SavedStream& s, const state::SavedStream& t) { return s.path.view() == t.path.view(); });
  }

  // ---- Types ----

  // Whether values of the two can be compared leaf by leaf.
  bool alike(TypeId a, TypeId b) {
    const auto [at, fresh] = alike_.try_emplace({a, b}, false);
    if (fresh) at->second = look_alike(a, b);
    return at->second;
  }
  bool look_alike(TypeId a, TypeId b) {
    const format::TypeInfo &x = of(0).types().info(a), &y = of(1).types().info(b);
    if (x.kind != format::kStruct && x.kind != format::kUnion) return comparable(x.kind, y.kind);
    if (x.kind != y.kind || x.field_count != y.field_count) return false;
    for (uint32_t i = 0; i < x.field_count; ++i) {
      const format::FieldInfo &f = of(0).types().field(x, i), &g = of(1).types().field(y, i);
      if (strcmp(f.name, g.name) != 0 || f.count != g.count || !alike(f.type, g.type)) return false;
    }
    return true;
  }
  // Whether the same bytes are the same values (of types that are alike).
  bool same_bytes(TypeId a, TypeId b) {
    const auto [at, fresh] = same_bytes_.try_emplace({a, b}, false);
    if (fresh) at->second = look_the_same(a, b);
    return at->second;
  }
  bool look_the_same(TypeId a, TypeId b) {
    const format::TypeInfo &x = of(0).types().info(a), &y = of(1).types().info(b);
    if (!same_machine_ || x.kind != y.kind || x.walked || (x.has_handle && !same_blocks_)) return false;
    for (uint32_t i = 0; i < x.field_count; ++i)
      if (!same_bytes(of(0).types().field(x, i).type, of(1).types().field(y, i).type)) return false;
    return true;
  }

  // ---- Values ----

  void many(Values (&sides)[2], TypeId a, TypeId b, uint64_t count, bool lone) {
    const format::TypeInfo &x = of(0).types().info(a), &y = of(1).types().info(b);
    uint64_t i = 0;
    if (sides[0].left == 0 && !x.walked && !y.walked && std::max(x.packed, y.packed) <= kPiece) {
      const uint64_t most = kPiece / std::max(x.packed, y.packed);
      const bool equal_bytes = same_bytes(a, b);
      while (i < count) {
        const uint64_t some = std::min(most, count - i);
        fill(sides[0], pieces_[0], some * x.packed);
        fill(sides[1], pieces_[1], some * y.packed);
        if (equal_bytes && memcmp(pieces_[0].data(), pieces_[1].data(), some * x.packed) == 0) {
          found_->values += some * x.leaves;
          leaf_ += some * x.leaves;
          sides[0].left = sides[1].left = 0;
          i += some;
        } else {
          for (const uint64_t end = i + some; i < end; ++i) one(sides, x, y, i, lone);
        }
      }
    }
    for (; i < count; ++i) one(sides, x, y, i, lone);
  }

  static void fill(Values& side, std::vector<uint8_t>& piece, uint64_t size) {
    piece.resize(size);
    side.in->bytes(piece.data(), size);
    side.file.check(side.in->status());
    side.at = piece.data(), side.left = size;
  }

  // One element.
  void one(Values (&sides)[2], const format::TypeInfo& x, const format::TypeInfo& y, uint64_t index, bool lone) {
    if (!lone) steps_.push_back({nullptr, index});
    if (x.kind == format::kStruct) {
      for (uint32_t f = 0; f < x.field_count; ++f) field(sides, of(0).types().field(x, f), of(1).types().field(y, f));
    } else if (x.kind == format::kUnion) {
      const uint64_t begin = leaf_;
      member(sides, x, y);
      leaf_ = begin + x.leaves;  // of all members
    } else {
      leaves(sides, x.kind, y.kind);
      ++leaf_;
    }
    if (!lone) steps_.pop_back();
  }

  void field(Values (&sides)[2], const format::FieldInfo& f, const format::FieldInfo& g) {
    steps_.push_back({f.name, 0});
    many(sides, f.type, g.type, f.count, f.count == 1);
    steps_.pop_back();
  }

  // Unions with different members in use are one different value.
  void member(Values (&sides)[2], const format::TypeInfo& x, const format::TypeInfo& y) {
    const format::TypeInfo* types[2] = {&x, &y};
    const format::FieldInfo* used[2];
    for (int s = 0; s < 2; ++s) {
      const bool swap = of(s).reader.representation().order != format::Representation::here().order;
      const uint64_t number = format::load_integer(sides[s].take(4), 4, swap, false);
      if (number != format::kNoMember && number >= types[s]->field_count)
        throw Refusal(kDamaged, of(s).path + ": the file names a member that a union does not have");
      used[s] = number == format::kNoMember
                    ? nullptr
                    : &of(s).types().field(*types[s], static_cast<uint32_t>(number));
    }
    const auto index = [&](int s) { return used[s] == nullptr ? -1 : used[s] - &of(s).types().field(*types[s], 0); };
    if (index(0) == index(1)) {
      if (used[0] != nullptr) field(sides, *used[0], *used[1]);
      return;
    }
    found_->values += 1;
    note_difference(false, -1, [&](int s) -> std::string { return used[s] == nullptr ? "no member" : used[s]->name; });
    for (int s = 0; s < 2; ++s)
      if (used[s] != nullptr) of(s).check(sides[s].in->skip_value(used[s]->type, used[s]->count));
  }

  void leaves(Values (&sides)[2], Kind a, Kind b) {
    const bool complex = format::is_complex(a);
    for (int i = 0; i < (complex ? 2 : 1); ++i) {
      const Kind kinds[2] = {format::part_of_complex(a), format::part_of_complex(b)};
      const uint8_t* at[2];
      for (int s = 0; s < 2; ++s) at[s] = sides[s].take(of(s).reader.representation().packed_width(kinds[s]));
      if (complex) steps_.push_back({i == 0 ? "re" : "im", 0});
      leaf(kinds, at);
      if (complex) steps_.pop_back();
    }
  }

  void leaf(const Kind (&kinds)[2], const uint8_t* const (&at)[2]) {
    found_->values += 1;
    if (format::is_floating(kinds[0])) return floating(kinds, at);
    if (format::is_integer(kinds[0]) || kinds[0] == format::kByte || kinds[0] == format::kBool) return integers(kinds, at);
    if (text(0, kinds[0], at[0]) != text(1, kinds[1], at[1])) note_leaves(kinds, at, false, -1);
  }
  void note_leaves(const Kind (&kinds)[2], const uint8_t* const (&at)[2], bool floating, long double distance) {
    note_difference(floating, distance, [&](int side) { return text(side, kinds[side], at[side]); });
  }

  // All NaNs are the same; 0 and -0 are not, but within any tolerance.
  void floating(const Kind (&kinds)[2], const uint8_t* const (&at)[2]) {
    const long double a = number(0, kinds[0], at[0]), b = number(1, kinds[1], at[1]);
    if (std::isnan(a) && std::isnan(b)) return;
    // A long double of another machine may have more digits than one of this machine.
    const bool exact = kinds[0] != format::kLdouble && kinds[1] != format::kLdouble;
    if (a == b && std::signbit(a) == std::signbit(b) && (exact || text(0, kinds[0], at[0]) == text(1, kinds[1], at[1])))
      return;
    const long double distance = a == b ? 0 : std::fabs(a - b);
    if (options_.tolerance > 0 &&
        (a == b || distance <= static_cast<long double>(options_.tolerance) * std::max(std::fabs(a), std::fabs(b)))) {
      if (std::isfinite(distance)) {
        *within_ += 1;
        return;
      }
    }
    note_leaves(kinds, at, true, std::isnan(distance) ? std::numeric_limits<long double>::infinity() : distance);
  }

  long double number(int side, Kind kind, const uint8_t* at) const {
    if (kind == format::kLdouble) return strtold(text(side, kind, at).c_str(), nullptr);
    const format::Representation& machine = of(side).reader.representation();
    const bool swap = machine.order != format::Representation::here().order;
    const uint64_t bits = format::load_integer(at, machine.width[kind], swap, false);
    if (kind == format::kFloat) {
      const uint32_t half = static_cast<uint32_t>(bits);
      float value;
      memcpy(&value, &half, sizeof value);
      return static_cast<long double>(value);
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return static_cast<long double>(value);
  }

  // char and wchar_t of one width are signed on one machine and unsigned on another: a restart copies their bits.
  void integers(const Kind (&kinds)[2], const uint8_t* const (&at)[2]) {
    uint64_t bits[2];
    bool is_signed[2];
    size_t width[2];
    for (int s = 0; s < 2; ++s) {
      const format::Representation& machine = of(s).reader.representation();
      width[s] = machine.width[kinds[s]], is_signed[s] = machine.is_signed[kinds[s]];
    }
    if (kinds[0] == kinds[1] && width[0] == width[1]) is_signed[1] = is_signed[0];
    long double value[2];
    for (int s = 0; s < 2; ++s) {
      const bool swap = of(s).reader.representation().order != format::Representation::here().order;
      bits[s] = format::load_integer(at[s], width[s], swap, is_signed[s]);
      if (kinds[s] == format::kBool) bits[s] = bits[s] != 0;
      const auto negative = static_cast<int64_t>(bits[s]);
      value[s] = is_signed[s] && negative < 0 ? static_cast<long double>(negative) : static_cast<long double>(bits[s]);
    }
    const bool same = bits[0] == bits[1] && (is_signed[0] == is_signed[1] || static_cast<int64_t>(bits[0]) >= 0);
    if (same) return;
    note_leaves(kinds, at, false, std::fabs(value[0] - value[1]));
  }

  std::string text(int side, Kind kind, const uint8_t* at) const {
    const File& file = of(side);
    const format::Representation& machine = file.reader.representation();
    const bool swap = machine.order != format::Representation::here().order;
    char text[128];
    if (format::has_position(kind)) {
      const format::PointerLeaf pointer = {format::load_integer(at, 8, swap, false), format::load_integer(at + 8, 8, swap, false)};
      if (kind == format::kPointer || pointer.block != format::kNullBlock) return file.pointer_text(pointer);
      format::address_text(pointer, text, sizeof text);
      return text;
    }
    if (kind == format::kMpiStatus) {
      snprintf(text, sizeof text, "source %lld tag %lld error %lld bytes %llu",
               static_cast<long long>(format::load_integer(at, 4, swap, true)),
               static_cast<long long>(format::load_integer(at + 4, 4, swap, true)),
               static_cast<long long>(format::load_integer(at + 8, 4, swap, true)),
               static_cast<unsigned long long>(format::load_integer(at + 16, 8, swap, false)));
      return text;
    }
    if (format::is_handle(kind))
      return handle_text(kind, format::load_integer(at, 8, swap, false), file.image, file.streams);
    format::scalar_text(kind, machine, at, text, sizeof text);
    return text;
  }

  // `distance` negative: there is none between such values. `text` makes that of a side.
  template <class Text>
  void note_difference(bool floating, long double distance, Text text) {
    for (const auto& [begin, end] : passed_over_)
      if (begin <= leaf_ && leaf_ < end) return;
    found_->different += 1;
    found_->floating += floating;
    const bool largest = distance >= 0 && (!found_->largest || distance > found_->distance);
    if (found_->first && !largest) return;
    const Pair pair = {place(), text(0), text(1)};
    if (!found_->first) found_->first = pair;
    if (largest) found_->largest = pair, found_->distance = distance;
  }

  std::string place() const {
    std::string text;
    for (const Step& step : steps_)
      text += step.field != nullptr ? std::string(".") + step.field : "[" + std::to_string(step.index) + "]";
    return text;
  }

  File* const both_[2];
  const CompareOptions& options_;
  const bool same_machine_, same_blocks_;
  std::map<std::pair<TypeId, TypeId>, bool> alike_, same_bytes_;
  std::vector<uint8_t> pieces_[2];
  std::vector<Step> steps_;
  Leaves passed_over_;
  uint64_t leaf_ = 0;  // that is compared, of all that values() compares
  Difference* found_ = nullptr;
  uint64_t* within_ = nullptr;
};

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
  static uint64_t block_of(const File& file, const state::SavedRun& run, uint64_t id) {
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

  static std::pair<std::string, std::string> key(const File& file, size_t i) {
    const state::SavedVariable& v = file.image.variables[i];
    return {std::to_string(v.frame) + " " + file.owner(v), v.name.c_str()};
  }
  static format::Cursor values_of(File& file) {
    format::Cursor in = file.section("vars");
    state::Image passed;
    file.check(passed.read_variables(in));
    return in;
  }
  static Difference of_variable(const File& file, size_t i) {
    const state::SavedVariable& v = file.image.variables[i];
    Difference difference;
    difference.what = "variable", difference.name = v.name.c_str(), difference.owner = file.owner(v);
    difference.type = file.type_text(v.type, v.count);
    return difference;
  }
  void note_variable(const File& file, size_t i, const std::string& text) {
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
    const auto text = [](const File& file) {
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
  static format::Cursor blocks_of(File& file) {
    format::Cursor in = file.section("heap");
    state::Image passed;
    file.check(passed.read_heap(in, file.reader));
    return in;
  }
  static void skip(const File& file, format::Cursor& in, const state::SavedRun& run) {
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
  static format::Cursor contents_of(File& file) {
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
  static uint64_t machine(const File& file, const line::Message& message) {
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
  static void drop_incomparable(const File& file, json* facts) {
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

  File a_, b_;
  const CompareOptions& options_;
  Walk walk_;
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
