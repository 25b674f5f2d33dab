#include "facts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "line/saved.h"
#include "lines.h"
#include "mpi/serial/representation_code.h"
#include "mpi/serial/section.h"
#include "portable_format/convert.h"
#include "portable_format/reader.h"
#include "state/image.h"
#include "state/streams.h"

namespace elc::tool {

using nlohmann::json;

// Others than MPI's own are known by a number that is the same for all ranks.
std::string communicator_text(uint64_t identity) {
  if (identity == mpi::kNullIdentity) return "MPI_COMM_NULL";
  if (identity == mpi::kWorldIdentity) return "MPI_COMM_WORLD";
  if (identity == mpi::kSelfIdentity) return "MPI_COMM_SELF";
  char text[24];
  snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(identity));
  return text;
}

namespace {

std::string datatype_text(uint64_t number) {
  if (number == mpi::kNullDatatype) return "MPI_DATATYPE_NULL";
  if (const char* name = mpi::predefined_name(number)) return name;
  return "datatype " + std::to_string(number);
}

std::string mpi_file_text(line::Identity identity) {
  char text[32] = "MPI_FILE_NULL";
  if (identity != 0) snprintf(text, sizeof text, "file %llx", static_cast<unsigned long long>(identity));
  return text;
}

std::string local_text(format::Kind kind, uint64_t number) {
  if (kind == format::kMpiFile) return mpi_file_text(number);
  if (kind == format::kMpiWin) return number == 0 ? "MPI_WIN_NULL" : "window " + communicator_text(number);
  if (kind == format::kMpiOp || kind == format::kMpiErrhandler) {
    const bool op = kind == format::kMpiOp;
    const char* name = op ? mpi::operation_name(number) : mpi::error_handler_name(number);
    if (name != nullptr) return name;
    return (op ? "operation " : "error handler ") + std::to_string(number - mpi::kFirstOfSetUp) + " of the set-up";
  }
  const bool group = kind == format::kMpiGroup;
  if (number == 0) return group ? "MPI_GROUP_NULL" : "MPI_INFO_NULL";
  if (number == mpi::kOnlyOne) return group ? "MPI_GROUP_EMPTY" : "MPI_INFO_ENV";
  return (group ? "group " : "info ") + std::to_string(number - mpi::kFirstValue);
}

std::string hex_text(const uint8_t* bytes, uint64_t size) {
  std::string text;
  for (uint64_t i = 0; i < size; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

std::string describe(const format::Representation& representation) {
  char text[256] = "";
  representation.describe(text, sizeof text);
  return text;
}

// The machine that a message or a result comes from.
bool machine_of(uint64_t code, format::Representation* machine) {
  uint32_t long_double_bytes = 0;
  return code != 0 && mpi::representation_of(code, machine, &long_double_bytes).ok();
}

std::string machine_text(uint64_t code) {
  format::Representation machine;
  return machine_of(code, &machine) ? describe(machine) : "unknown";
}

class File {
 public:
  File(const std::string& path, uint64_t most) : path_(path), most_(most) {
    check(source_.open(path.c_str()));
    check(reader_.open(source_.source()));
  }

  json facts() {
    json facts = {{"file", path_},
                  {"bytes", source_.source().size},
                  {"format", std::to_string(reader_.major_version()) + "." + std::to_string(reader_.minor_version())},
                  {"representation", describe(reader_.representation())},
                  {"relies_on", bases()},
                  {"sections", sections()},
                  {"types", types()}};
    if (reader_.has_section("label")) add_label(&facts);
    if (reader_.has_section("files")) add_files(&facts);  // before the variables, which may have streams
    if (reader_.has_section("vars")) add_variables(&facts);
    if (reader_.has_section("heap")) add_heap(&facts);
    if (reader_.has_section("mpi")) facts["mpi"] = objects();
    if (reader_.has_section("setup")) facts["setup"] = set_up();
    if (reader_.has_section("line")) facts["messages"] = messages();
    return facts;
  }

  json object_facts() {
    json facts = json::object();
    if (reader_.has_section("label")) add_label(&facts);
    if (reader_.has_section("mpi")) facts["mpi"] = objects();
    if (reader_.has_section("setup")) facts["setup"] = set_up();
    return facts;
  }

 private:
  void check(const Result& status) const {
    if (!status.ok()) throw Refusal(status.system_failed() ? kCannot : kDamaged, path_ + ": " + reader_.explain(status).message());
  }

  // The first of a list, each as `one` makes it.
  template <class List, class F>
  json first(const List& list, F one) const {
    json all = json::array();
    for (size_t i = 0; i < list.size() && i < most_; ++i) all.push_back(one(list[i]));
    return all;
  }

  std::string content(const uint8_t* bytes, uint64_t size) const { return hex_text(bytes, std::min(size, most_)); }

  // ---- The file ----

  json sections() const {
    json all = json::array();
    for (size_t i = 0; i < reader_.section_count(); ++i)
      all.push_back({{"name", reader_.section_name(i)},
                     {"bytes", reader_.section_size(i)},
                     {"stored", reader_.section_stored(i)}});
    return all;
  }

  // The lines in whose files parts of this one are.
  json bases() const {
    json lines = json::array();
    for (size_t i = 0; i < reader_.base_count(); ++i)
      if (reader_.needs_base(i)) lines.push_back(reader_.base_line(i));
    return lines;
  }

  std::string type_name(format::TypeId type) const {
    return reader_.types().known(type) ? reader_.types().info(type).name : "?";
  }
  std::string type_text(format::TypeId type, uint64_t count) const {
    return count == 1 ? type_name(type) : type_name(type) + "[" + std::to_string(count) + "]";
  }
  std::string shaped_text(const state::SavedVariable& v) const {
    std::string text = type_name(v.type);
    for (const uint64_t extent : v.extents) text += "[" + std::to_string(extent) + "]";
    return text;
  }
  // "[7].x" of 3 rows of 4 is "[1][3].x".
  static std::string place_in(const state::SavedVariable& v, const std::string& place) {
    if (v.count == 1) return place;  // there is no index
    uint64_t index = strtoull(place.c_str() + 1, nullptr, 10);
    std::string text;
    for (size_t i = v.extents.size(); i-- > 0; index /= v.extents[i])
      text = "[" + std::to_string(index % v.extents[i]) + "]" + text;
    return text + place.substr(place.find(']') + 1);
  }
  uint64_t type_size(format::TypeId type) const {
    return reader_.types().known(type) ? reader_.types().info(type).size : 0;
  }

  json types() const {
    json all = json::array();
    for (format::TypeId type = format::kFirstMade; type < reader_.types().end(); ++type) {
      const format::TypeInfo& info = reader_.types().info(type);
      json fields = json::array();
      for (const format::FieldInfo& field : reader_.types().fields(type))
        fields.push_back({{"name", field.name}, {"type", type_text(field.type, field.count)}});
      all.push_back({{"name", info.name},
                     {"kind", format::kind_name(info.kind)},
                     {"bytes", info.size},
                     {"fields", fields}});
    }
    return all;
  }

  void add_label(json* facts) {
    store::Label label;
    check(store::read_label(reader_, &label));
    ranks_ = label.ranks;
    (*facts)["line"] = label.line;
    (*facts)["run"] = label.run;
    (*facts)["rank"] = label.rank;
    (*facts)["ranks"] = label.ranks;
  }

  // ---- State ----

  void add_files(json* facts) {
    static const char* const kKinds[] = {"read", "append", "write", "special"};
    format::Cursor in;
    check(in.open(&reader_, "files"));
    state::SavedTerminal terminals[3];
    check(state::read_files(in, terminals, &streams_));
    json& standard = (*facts)["terminals"] = json::array();
    for (const state::SavedTerminal& t : terminals) {
      standard.push_back(nullptr);
      if (t.there)
        standard.back() = {{"name", t.name.c_str()}, {"flags", t.flags}, {"characters", t.characters}};
    }
    json& streams = (*facts)["streams"] = json::array();
    for (const state::SavedStream& s : streams_) {
      streams.push_back({{"path", s.path.c_str()},
                         {"mode", s.mode.c_str()},

                         {"kind", kKinds[static_cast<uint32_t>(s.kind)]},
                         {"offset", s.offset},
                         {"length", s.length},
                         {"at_end", s.at_end},
                         {"unappended", s.is_unappended}});
      constexpr const char* kStandard[] = {"", "input", "output", "error"};
      if (s.standard != state::kNoStream) streams.back()["standard"] = kStandard[s.standard];
      if (most_ > 0 && s.kind == state::StreamKind::kWrite) streams.back()["content"] = next_bytes(in, s.length);
    }
    if (most_ > 0) check(in.finish());
  }

  // Goes past bytes of a section and shows the first.
  std::string next_bytes(format::Cursor& in, uint64_t size) const {
    const uint64_t shown = std::min(size, most_);
    std::vector<uint8_t> bytes(shown);
    in.bytes(bytes.data(), shown);
    check(in.skip(size - shown));
    return hex_text(bytes.data(), shown);
  }

  struct Values {
    const File& file;
    json shown = json::array();
    bool cut = false;
  };

  static bool take_value(void* context, const char* place, format::Kind kind, const char* text) {
    Values& values = *static_cast<Values*>(context);
    values.cut = values.shown.size() >= values.file.most_;
    if (values.cut) return false;
    const bool handle = format::is_handle(kind) && !format::has_position(kind) && kind != format::kMpiStatus;
    const File& file = values.file;
    values.shown.push_back(
        {{"place", place},
         {"value", handle ? handle_text(kind, strtoull(text, nullptr, 10), file.image_, file.streams_) : text}});
    return true;
  }

  // Goes past a value and shows the first of its leaves.
  void add_values(format::Cursor& in, format::TypeId type, uint64_t count, json* facts) const {
    Values values = {*this};
    check(in.show_value(type, count, {&values, take_value}));
    (*facts)["values"] = values.shown;
    (*facts)["cut"] = values.cut;
  }

  void add_variables(json* facts) {
    format::Cursor in;
    check(in.open(&reader_, "vars"));
    check(image_.read_variables(in));
    check(image_.read_declared(reader_));
    json& frames = (*facts)["frames"] = json::array();
    for (const state::SavedFrame& f : image_.frames)
      frames.push_back({{"function", f.function.c_str()}, {"label", f.label}});
    json& functions = (*facts)["functions"] = json::array();
    for (const Text& name : image_.function_names) functions.push_back(name.c_str());
    json& variables = (*facts)["variables"] = json::array();
    for (const state::SavedVariable& v : image_.variables) {
      variables.push_back({{"block", variables.size() + 1},
                           {"name", v.name.c_str()},
                           {"owner", v.frame == 0 ? "" : image_.frames[v.frame - 1].function.c_str()},
                           {"type", v.extents.empty() ? type_text(v.type, v.count) : shaped_text(v)},
                           {"static", v.is_static},
                           {"bytes", type_size(v.type) * v.count}});
      if (most_ > 0) add_values(in, v.type, v.count, &variables.back());
      if (most_ > 0 && !v.extents.empty())
        for (json& value : variables.back()["values"]) value["place"] = place_in(v, value["place"]);
    }
    if (most_ > 0) check(in.finish());
  }

  void add_heap(json* facts) {
    format::Cursor in;
    check(in.open(&reader_, "heap"));
    check(image_.read_heap(in, reader_));
    // Blocks of one shape need not be consecutive; people want to see them together.
    std::map<std::pair<std::string, uint64_t>, uint64_t> shapes;
    for (const state::SavedRun& run : image_.runs) shapes[shape(run)] += run.blocks;
    json& heap = (*facts)["heap"] = json::array();
    for (const auto& [shape, blocks] : shapes)
      heap.push_back({{"type", shape.first}, {"bytes", shape.second}, {"blocks", blocks}});
    if (most_ == 0) return;
    json& blocks = (*facts)["blocks"] = json::array();
    for (const state::SavedRun& run : image_.runs)
      for (uint64_t i = 0; i < run.blocks && blocks.size() < most_; ++i) {
        blocks.push_back({{"id", run.first_id + i}, {"type", shape(run).first}, {"bytes", shape(run).second}});
        // Which pointers tell by its number, and not by its id.
        if (!image_.by_id) blocks.back()["block"] = image_.variables.size() + run.first + i + 1;
        add_values(in, run.type, run.count, &blocks.back());
        if (run.rest > 0) blocks.back()["rest"] = next_bytes(in, run.rest);
      }
    if (blocks.size() == image_.blocks) check(in.finish());
  }

  // The type and the bytes of a block.
  std::pair<std::string, uint64_t> shape(const state::SavedRun& run) const {
    return {type_text(run.type, run.count), type_size(run.type) * run.count + run.rest};
  }

  // ---- MPI objects ----

  json objects() {
    static const char* const kSites[] = {"ELC_Checkpoint", "ELC_Checkpoint_now", "a labelled MPI call"};
    mpi::SavedMpi saved;
    Bytes bytes;
    check(reader_.read_section("mpi", UINT32_MAX, &bytes));
    Decoder in(bytes);
    check(mpi::SavedMpi::decode(in, ranks_, &saved));
    json communicators = json::array(), requests = json::array(), windows = json::array();
    for (const mpi::SavedCommunicator& c : saved.comms) communicators.push_back(communicator(c));
    for (const mpi::SavedRequest& r : saved.requests) requests.push_back(request(r));
    for (const mpi::SavedWindow& w : saved.windows) windows.push_back(window(w));
    return {{"site", kSites[static_cast<uint32_t>(saved.site)]},
            {"communicators", communicators},
            {"datatypes", datatypes(saved.datatypes)},
            {"last_request", saved.request_numbers},
            {"requests", requests},
            {"files", mpi_files(saved.files)},
            {"windows", windows},
            {"local", local(saved.local)}};
  }

  json local(const mpi::SavedLocal& saved) const {
    json groups = json::array(), infos = json::array();
    for (const Vector<line::Rank>& members : saved.groups) {
      json group = {{"size", members.size()}};
      if (most_ > 0) group["members"] = first(members, [](line::Rank member) { return member; });
      groups.push_back(group);
    }
    for (const Vector<mpi::Hint>& saved_hints : saved.infos) {
      json info = {{"size", saved_hints.size()}};
      if (most_ > 0) info["hints"] = hints(saved_hints);
      infos.push_back(info);
    }
    return {{"groups", groups}, {"infos", infos}, {"operations", saved.operations}, {"error_handlers", saved.error_handlers},
            {"keyvals", saved.keyvals}};
  }

  json hints(const Vector<mpi::Hint>& saved) const {
    return first(saved, [](const mpi::Hint& hint) { return json({{"key", hint.key.c_str()}, {"value", hint.value.c_str()}}); });
  }

  json mpi_files(const Vector<mpi::SavedFile>& saved) const {
    json files = json::array();
    for (const mpi::SavedFile& f : saved) {
      files.push_back({{"file", f.identity},
                       {"communicator", communicator_text(f.origin.parent)},
                       {"operation", f.origin.number},
                       {"colour", f.origin.colour},
                       {"path", f.path.c_str()},
                       {"mode", f.writes ? "write" : "read"},
                       {"append", f.append},
                       {"unique", f.unique},
                       {"atomic", f.atomic},
                       {"of_set_up", f.of_set_up},
                       {"numbers", f.representation_code != 0},
                       {"length", f.length},
                       {"pointer", f.pointer},
                       {"size", f.members.size()}});
      json& facts = files.back();
      if (f.viewed)
        facts["view"] = {{"displacement", f.displacement},
                         {"etype", datatype_text(f.etype)},
                         {"filetype", datatype_text(f.filetype)},
                         {"representation", f.representation.c_str()}};
      if (most_ == 0) continue;
      facts["members"] = first(f.members, [](line::Rank member) { return member; });
      facts["hints"] = hints(f.hints);
    }
    return files;
  }

  json set_up() {
    mpi::SavedSetUp saved;
    Bytes bytes;
    check(reader_.read_section("setup", UINT32_MAX, &bytes));
    Decoder in(bytes);
    check(mpi::SavedSetUp::decode(in, &saved));
    json communicators = json::array(), requests = json::array();
    for (const line::Identity identity : saved.comms) communicators.push_back(communicator_text(identity));
    for (const mpi::SavedPersistent& r : saved.requests) {
      if (r.kind == mpi::RequestKind::kPersistentCollective) {
        requests.push_back({{"request", r.number},
                            {"kind", mpi::collective_name(static_cast<mpi::Collectively>(r.count))},
                            {"communicator", communicator_text(r.comm)},
                            {"made", r.type},
                            {"root", r.peer}});
        continue;
      }
      requests.push_back({{"request", r.number},
                          {"kind", r.kind == mpi::RequestKind::kReceive ? "receive" : "send"},
                          {"count", r.count},
                          {"datatype", datatype_text(r.type)},
                          {"communicator", communicator_text(r.comm)},
                          {"peer", r.peer},
                          {"tag", r.tag}});
    }
    return {{"communicators", communicators}, {"requests", requests}};
  }

  json topology(const mpi::Topology& t) const {
    static const char* const kKinds[] = {"", "cartesian", "graph", "distributed graph", "distributed graph"};
    static const char* const kLists[][mpi::Topology::kLists] = {
        {}, {"dimensions", "periodic"}, {"index", "edges"}, {"sources", "destinations"},
        {"sources", "destinations", "source_weights", "destination_weights"}};
    const auto kind = static_cast<size_t>(t.kind);
    json facts = {{"kind", kKinds[kind]}};
    for (size_t l = 0; l < mpi::Topology::kLists && most_ > 0; ++l)
      if (kLists[kind][l] != nullptr) facts[kLists[kind][l]] = first(t.lists[l], [](int value) { return value; });
    return facts;
  }

  json communicator(const mpi::SavedCommunicator& c) const {
    json facts = {{"communicator", communicator_text(c.identity)},
                  {"parent", communicator_text(c.origin.parent)},
                  {"operation", c.origin.number},
                  {"colour", c.origin.colour},
                  {"size", c.members.size() + c.own.size()}};
    const auto ranks = [](line::Rank member) { return member; };
    if (most_ > 0) facts["members"] = first(c.members, ranks);
    if (most_ > 0 && !c.own.empty()) facts["own"] = first(c.own, ranks);
    if (c.topology.kind != mpi::Topology::Kind::kNone) facts["topology"] = topology(c.topology);
    if (!c.name.empty()) facts["name"] = c.name.c_str();
    if (c.error_handler != 0) facts["error_handler"] = local_text(format::kMpiErrhandler, c.error_handler);
    for (const mpi::SavedAttribute& a : c.attributes) facts["attributes"].push_back({{"key", a.keyval}, {"value", attribute_text(a)}});
    return facts;
  }

  static std::string attribute_text(const mpi::SavedAttribute& attribute) {
    if (attribute.value.block == format::kNullBlock) return std::to_string(attribute.value.position);
    if (attribute.value.block == format::kWildBlock) return "of the set-up";
    char text[64];
    format::pointer_text(attribute.value, text, sizeof text);
    return text;
  }

  json datatypes(const Bytes& bytes) const {
    static const char* const kConstructors[] = {"",        "dup",      "contiguous",    "vector",         "hvector",
                                                "indexed", "hindexed", "indexed_block", "hindexed_block", "struct",
                                                "subarray", "darray",  "resized"};
    Decoder in(bytes);
    uint64_t next = 0;
    size_t count = 0;
    mpi::MemoryRules rules;
    check(mpi::decode_datatypes(in, &next, &rules, &count));
    json all = json::array();
    for (size_t i = 0; i < count; ++i) {
      mpi::SavedDatatype type;
      check(mpi::SavedDatatype::decode(in, &type));
      all.push_back({{"number", type.number},
                     {"constructor", kConstructors[static_cast<uint32_t>(type.constructor)]},
                     {"committed", type.committed},
                     {"freed", type.freed},
                     {"lower", type.lower},
                     {"extent", type.extent}});
      if (most_ == 0) continue;
      all.back()["integers"] = first(type.integers, [](int value) { return value; });
      if (type.has_origin) {
        all.back()["origin"] = place_text(type.places.back());
        type.places.erase(type.places.size() - 1);
      }
      if (type.places.empty()) all.back()["addresses"] = first(type.addresses, [](int64_t value) { return value; });
      else all.back()["places"] = first(type.places, place_text);
      all.back()["types"] = first(type.olds, datatype_text);
    }
    return all;
  }

  static std::string place_text(const format::PointerLeaf& place) {
    char text[128];
    format::pointer_text(place, text, sizeof text);
    return text;
  }

  static json region(const mpi::SavedRegion& r) {
    return {{"buffer", place_text(r.buffer)}, {"count", r.count}, {"datatype", datatype_text(r.type)}};
  }

  static json regions(const Vector<mpi::SavedRegion>& all) {
    json facts = json::array();
    for (const mpi::SavedRegion& one : all) facts.push_back(region(one));
    return facts;
  }

  static json side(const mpi::SavedSide& s) {
    char base[128];
    format::pointer_text(s.base, base, sizeof base);
    return {{"in_place", s.in_place}, {"base", base}, {"blocks", regions(s.blocks)}};
  }

  static json request(const mpi::SavedRequest& r) {
    static const char* const kKinds[] = {"send", "receive", "collective", "persistent", "persistent collective"};
    json facts = {{"request", r.number}, {"kind", kKinds[static_cast<size_t>(r.kind)]}, {"uses", r.uses}};
    if (r.kind == mpi::RequestKind::kSend) return facts;
    facts["communicator"] = communicator_text(r.comm);
    if (r.kind == mpi::RequestKind::kReceive) {
      facts["posting"] = r.posting;
      facts.update(region(r.region));
    } else if (r.kind == mpi::RequestKind::kPersistent) {
      static const char* const kModes[] = {"receive", "send", "buffered send", "synchronous send"};
      facts.update({{"mode", kModes[static_cast<size_t>(r.mode)]},
                    {"peer", r.peer},
                    {"tag", r.tag},
                    {"active", r.active},
                    {"posting", r.posting}});
      facts.update(region(r.region));
    } else {
      facts["operation"] = r.operation;
      facts["writes"] = regions(r.regions);
    }
    if (r.kind != mpi::RequestKind::kPersistentCollective) return facts;
    facts.update({{"made", r.made},
                  {"call", mpi::collective_name(r.call)},
                  {"root", r.root},
                  {"op", r.op},
                  {"from", side(r.from)},
                  {"to", side(r.to)},
                  {"active", r.active}});
    facts["counts"] = json::array();
    for (const int count : r.counts) facts["counts"].push_back(count);
    return facts;
  }

  json window(const mpi::SavedWindow& w) const {
    static const char* const kEpochs[] = {"none", "open", "closed"};
    char memory[128];
    format::pointer_text(w.memory, memory, sizeof memory);
    json facts = {{"window", communicator_text(w.identity)},
                  {"parent", communicator_text(w.origin.parent)},
                  {"operation", w.origin.number},
                  {"size", w.members.size()},
                  {"memory", memory},
                  {"bytes", w.size},
                  {"unit", w.unit},
                  {"epoch", kEpochs[static_cast<size_t>(w.epoch)]},
                  {"of_set_up", w.of_set_up}};
    if (most_ > 0) facts["members"] = first(w.members, [](line::Rank member) { return member; });
    return facts;
  }

  // ---- The line ----

  // Messages by envelope (communicator, source, tag), in the order of the first of each.
  static json envelopes(const line::Saved& saved) {
    json found = json::array();
    std::map<std::tuple<uint64_t, int, int>, size_t> index;
    auto add = [&](const line::SavedMessage& m) {
      const auto [at, fresh] = index.try_emplace({m.comm, m.message->source, m.message->tag}, found.size());
      if (fresh)
        found.push_back({{"communicator", communicator_text(m.comm)},
                         {"source", m.message->source},
                         {"tag", m.message->tag},
                         {"messages", 0},
                         {"bytes", 0}});
      json& envelope = found[at->second];
      envelope["messages"] = envelope["messages"].get<uint64_t>() + 1;
      envelope["bytes"] = envelope["bytes"].get<uint64_t>() + m.message->content.size();
    };
    for (const line::SavedMessage& m : saved.messages) add(m);
    for (const line::SavedPosting& p : saved.receives)
      if (p.answer.message != nullptr) add(p.answer);
    return found;
  }

  json messages() {
    Bytes bytes;
    check(reader_.read_section("line", UINT32_MAX, &bytes));
    Decoder in(bytes);
    line::Saved saved;
    check(line::Saved::decode(in, &saved));
    json orphans = json::array();
    for (const line::SavedClass& c : saved.classes)
      if (c.residue < 0)
        orphans.push_back({{"communicator", communicator_text(c.comm)},
                           {"source", c.peer},
                           {"tag", c.tag},
                           {"messages", -c.residue}});
    json facts = {{"in_transit", envelopes(saved)},
                  {"orphans", orphans},
                  {"pending_receives", saved.receives.size()},
                  {"crossing_results", saved.crossing.size()},
                  {"logged_outcomes", saved.outcomes.size() + saved.bound.size()},
                  {"communicators", saved.comms.size()},
                  {"calls", saved.calls},
                  {"points", saved.points},
                  {"postings", saved.postings},
                  {"replay", saved.replay}};
    if (most_ > 0) add_messages(saved, &facts);
    return facts;
  }

  void add_messages(const line::Saved& saved, json* facts) const {
    const auto result_json = [this](const line::SavedResult& r) { return result(r); };
    (*facts)["operations"] = first(saved.comms, [](const line::SavedComm& c) {
      return json{{"communicator", communicator_text(c.identity)},
                  {"operations", c.operations},
                  {"size", c.size},
                  {"freed", c.freed}};
    });
    (*facts)["residues"] = first(saved.classes, [](const line::SavedClass& c) {
      return json{{"communicator", communicator_text(c.comm)},
                  {"source", c.peer},
                  {"tag", c.tag},
                  {"residue", c.residue}};
    });
    (*facts)["queue"] = first(saved.messages, [this](const line::SavedMessage& m) { return message(m); });
    (*facts)["receives"] = first(saved.receives, [this](const line::SavedPosting& p) {
      return json{{"posting", p.number},
                  {"communicator", communicator_text(p.comm)},
                  {"source", p.source},
                  {"tag", p.tag},
                  {"answer", p.answer.message == nullptr ? json() : message(p.answer)}};
    });
    (*facts)["crossing"] = first(saved.crossing, result_json);
    (*facts)["pending"] = first(saved.pending, result_json);
    (*facts)["outcomes"] = first(saved.outcomes, [this](const line::SavedOutcome& o) { return outcome(o); });
    (*facts)["received"] = first(saved.bound, [](const line::BoundReceive& b) {
      return json{{"posting", b.number}, {"source", b.source}, {"tag", b.tag}};
    });
  }

  json message(const line::SavedMessage& m) const {
    return {{"communicator", communicator_text(m.comm)},
            {"source", m.message->source},
            {"tag", m.message->tag},
            {"counted", m.message->counted},
            {"bytes", m.message->content.size()},
            {"machine", machine_text(m.message->representation)},
            {"content", content(m.message->content.data(), m.message->content.size())}};
  }

  json result(const line::SavedResult& r) const {
    json facts = {{"communicator", communicator_text(r.comm)}, {"operation", r.number}};
    if (r.result.empty()) return facts;
    Decoder in(r.result), data(r.result);
    mpi::SavedCommunicator made;
    if (mpi::decode_result(in, ranks_, &made)) {
      facts["made"] = communicator(made);
    } else if (data.u32() == mpi::kDataResult) {
      facts["machine"] = machine_text(data.u64());
      facts["bytes"] = data.left();
      facts["content"] = content(data.at(), data.left());
    }
    return facts;
  }

  json outcome(const line::SavedOutcome& o) const {
    static const char* const kCalls[] = {
        "", "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Waitany", "MPI_Waitsome", "MPI_Iprobe", "MPI_Probe",
        "ELC_ND", "MPI_Mprobe", "MPI_Improbe"};
    static_assert(std::size(kCalls) == static_cast<size_t>(line::NdKind::kImprobe) + 1);
    json facts = {{"call", kCalls[static_cast<uint32_t>(o.kind)]}, {"times", o.times}};
    Decoder in(o.value);
    json values = json::array();
    if (o.kind == line::NdKind::kValue) {
      format::Representation machine;
      const bool known = machine_of(in.u64(), &machine);
      const int32_t type = in.i32();
      const format::Kind kind = static_cast<format::Kind>(type);
      const format::Kind part = format::part_of_complex(kind);
      const uint64_t count = in.u64();
      const bool scalar = in.ok() && known && kind > format::kNone && kind < format::kPointer;
      const size_t width = scalar ? machine.width[part] : 0;
      facts["machine"] = known ? describe(machine) : "unknown";
      facts["type"] = scalar ? type_text(type, count) : "?";
      for (size_t at = 0; width > 0 && at + width <= in.left() && values.size() < most_; at += width) {
        char text[128];
        format::scalar_text(part, machine, in.at() + at, text, sizeof text);
        values.push_back(text);
      }
    } else {
      while (in.left() >= 4 && values.size() < most_) values.push_back(in.i32());
    }
    facts["values"] = values;
    return facts;
  }

  std::string path_;
  uint64_t most_;
  uint32_t ranks_ = 0;
  store::RankSource source_;
  format::Reader reader_;
  state::Image image_;
  Vector<state::SavedStream> streams_;
};

}  // namespace

std::string handle_text(format::Kind kind, uint64_t number, const state::Image& image,
                        const Vector<state::SavedStream>& streams) {
  static const char* const kStandard[] = {"NULL", "stdin", "stdout", "stderr"};
  if (kind >= format::kMpiComm && number == mpi::kUnsetHandle) return "0, not set";
  if (kind >= format::kMpiComm && number == mpi::kGoneHandle) return "of what is gone";
  if (kind >= format::kMpiComm && mpi::is_marked_handle(number)) return "the number " + std::to_string(static_cast<int64_t>(number - mpi::kMarkedHandle));
  if (kind == format::kMpiComm) return communicator_text(number);
  if (kind == format::kMpiDatatype) return datatype_text(number);
  if (kind == format::kMpiRequest) return number == 0 ? "MPI_REQUEST_NULL" : "request " + std::to_string(number);
  if (kind >= format::kMpiFile) return local_text(kind, number);
  if (kind == format::kFile) {
    if (number < state::kFirstStream) return kStandard[number];
    number -= state::kFirstStream;
    return number < streams.size() ? streams[number].path.c_str() : "unknown";
  }
  if (number == 0) return "NULL";
  return number <= image.function_names.size() ? image.function_names[number - 1].c_str() : "unknown";
}

json file_facts(const std::string& path, uint64_t most) { return File(path, most).facts(); }

json object_facts(const std::string& path) { return File(path, UINT64_MAX).object_facts(); }

}  // namespace elc::tool
