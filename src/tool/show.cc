// `elc show`: what is in a line, or in one file of it.
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "line/saved.h"
#include "lines.h"
#include "portable_format/reader.h"
#include "state/image.h"
#include "text.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace elc::tool {
namespace {

// Values of a variable that are shown; the rest is counted.
constexpr uint64_t kMostValues = 16;

void check(const std::string& path, const Status& status) {
  if (!status.ok()) throw Refusal(kDamaged, path + ": " + status.message());
}

std::string type_text(const format::Reader& reader, format::TypeId type, uint64_t count) {
  const char* name = reader.types().known(type) ? reader.types().info(type).name : "?";
  return count == 1 ? name : std::string(name) + "[" + std::to_string(count) + "]";
}

uint64_t type_size(const format::Reader& reader, format::TypeId type) {
  return reader.types().known(type) ? reader.types().info(type).size : 0;
}

// Others than MPI's own are known by a number that is the same for all ranks.
std::string communicator_text(uint64_t identity) {
  if (identity == 1) return "MPI_COMM_WORLD";
  if (identity == 2) return "MPI_COMM_SELF";
  char text[24];
  snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(identity));
  return text;
}

struct Values {
  json shown = json::array();
  uint64_t more = 0;
};

bool take_value(void* context, const char* path, format::Kind, const char* text) {
  Values& values = *static_cast<Values*>(context);
  if (values.shown.size() < kMostValues) {
    values.shown.push_back({{"place", path}, {"value", text}});
    return true;
  }
  ++values.more;
  return false;
}

// The variables, with the first of their values if wanted.
json variables_of(const std::string& path, format::Reader& reader, bool with_values) {
  json variables = json::array();
  if (!reader.has_section("vars")) return variables;
  format::Cursor in;
  check(path, in.open(&reader, "vars"));
  state::Image image;
  check(path, image.read_variables(in));
  for (const state::SavedVariable& v : image.variables) {
    json one = {{"name", v.name.c_str()},
                {"owner", v.frame == 0 ? "" : image.frames[v.frame - 1].function.c_str()},
                {"type", type_text(reader, v.type, v.count)},
                {"bytes", type_size(reader, v.type) * v.count}};
    if (with_values) {
      Values values;
      format::Cursor here;  // a second one, as showing stops in the middle
      check(path, here.open(&reader, "vars"));
      check(path, here.skip(in.at()));
      check(path, here.show_value(v.type, v.count, {&values, take_value}));
      check(path, in.skip_value(v.type, v.count));
      one["values"] = values.shown;
      one["cut"] = values.more > 0;
    }
    variables.push_back(one);
  }
  return variables;
}

json heap_of(const std::string& path, format::Reader& reader) {
  json runs = json::array();
  if (!reader.has_section("heap")) return runs;
  format::Cursor in;
  check(path, in.open(&reader, "heap"));
  state::Image image;
  check(path, image.read_heap(in, reader));
  // Blocks of one shape need not be consecutive; people want to see them together.
  std::map<std::pair<std::string, uint64_t>, uint64_t> shapes;
  for (const state::SavedRun& run : image.runs)
    shapes[{type_text(reader, run.type, run.count), type_size(reader, run.type) * run.count + run.rest}] +=
        run.blocks;
  for (const auto& [shape, blocks] : shapes)
    runs.push_back({{"type", shape.first}, {"bytes", shape.second}, {"blocks", blocks}});
  return runs;
}

// Messages by envelope (communicator, source, tag), in the order of the first of each.
json envelopes(const line::Saved& saved) {
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

json messages_of(const std::string& path, format::Reader& reader) {
  if (!reader.has_section("line")) return nullptr;
  Bytes content;
  check(path, reader.read_section("line", UINT32_MAX, &content));
  Decoder in(content);
  line::Saved saved;
  check(path, line::Saved::decode(in, &saved));
  json orphans = json::array();
  for (const line::SavedClass& c : saved.classes)
    if (c.residue < 0)
      orphans.push_back({{"communicator", communicator_text(c.comm)},
                         {"source", c.peer},
                         {"tag", c.tag},
                         {"messages", -c.residue}});
  return {{"in_transit", envelopes(saved)},
          {"orphans", orphans},
          {"pending_receives", saved.receives.size()},
          {"crossing_results", saved.crossing.size()},
          {"logged_outcomes", saved.outcomes.size() + saved.bound.size()},
          {"communicators", saved.comms.size()},
          {"calls", saved.calls}};
}

json file_facts(const std::string& path, bool with_values) {
  store::RankSource source;
  format::Reader reader;
  check(path, source.open(path.c_str()));
  check(path, reader.open(source.source()));
  char representation[256] = "";
  reader.representation().describe(representation, sizeof representation);
  json facts = {
      {"file", path},
      {"bytes", fs::file_size(path)},
      {"format", std::to_string(reader.major_version()) + "." + std::to_string(reader.minor_version())},
      {"representation", representation}};
  store::Label label;
  if (reader.has_section("label")) {
    check(path, store::read_label(reader, &label));
    facts["line"] = label.line;
    facts["rank"] = label.rank;
    facts["ranks"] = label.ranks;
  }
  json sections = json::array();
  for (size_t i = 0; i < reader.section_count(); ++i)
    sections.push_back({{"name", reader.section_name(i)},
                        {"bytes", reader.section_size(i)},
                        {"stored", reader.section_stored(i)}});
  facts["sections"] = sections;
  facts["variables"] = variables_of(path, reader, with_values);
  facts["heap"] = heap_of(path, reader);
  facts["messages"] = messages_of(path, reader);
  return facts;
}

uint64_t number(const json& value) { return value.get<uint64_t>(); }
const char* text(const json& value) { return value.get_ref<const std::string&>().c_str(); }

// A name of the program's, as the file has it: without what a terminal would obey.
std::string name_text(const json& value) {
  std::string name = text(value);
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return name;
}

void print_messages(const json& m) {
  if (m.is_null()) return;
  auto print = [](const char* title, const json& list, bool sized) {
    printf("  %s:%s\n", title, list.empty() ? " none" : "");
    for (const json& e : list) {
      printf("    from rank %d, tag %d, communicator %s: %s", e["source"].get<int>(), e["tag"].get<int>(),
             text(e["communicator"]), count_text(number(e["messages"]), "message").c_str());
      printf(sized ? ", %s\n" : "\n", sized ? bytes_text(number(e["bytes"])).c_str() : "");
    }
  };
  print("in transit to this rank", m["in_transit"], true);
  print("orphans received by this rank", m["orphans"], false);
  printf("  %s, %s, %s\n", count_text(number(m["pending_receives"]), "pending receive").c_str(),
         count_text(number(m["crossing_results"]), "crossing collective").c_str(),
         count_text(number(m["logged_outcomes"]), "logged outcome").c_str());
}

void print_values(const json& variable) {
  if (!variable.contains("values")) return;
  for (const json& v : variable["values"])
    printf("      %s%s = %s\n", name_text(variable["name"]).c_str(), text(v["place"]), text(v["value"]));
  if (variable["cut"].get<bool>()) printf("      ...\n");
}

void print_file(const json& facts) {
  printf("%s\n", text(facts["file"]));
  if (facts.contains("rank"))
    printf("  line %llu, rank %llu of %llu\n", static_cast<unsigned long long>(number(facts["line"])),
           static_cast<unsigned long long>(number(facts["rank"])),
           static_cast<unsigned long long>(number(facts["ranks"])));
  printf("  %s, format %s\n  representation: %s\n", bytes_text(number(facts["bytes"])).c_str(),
         text(facts["format"]), text(facts["representation"]));
  const char* before = "  sections: ";
  for (const json& s : facts["sections"]) {
    printf("%s%s %s", before, text(s["name"]), bytes_text(number(s["bytes"])).c_str());
    before = ", ";
  }
  printf("\n  variables:%s\n", facts["variables"].empty() ? " none" : "");
  for (const json& v : facts["variables"]) {
    const std::string owner = name_text(v["owner"]);
    printf("    %-24s %-24s %10s  %s\n", name_text(v["name"]).c_str(), text(v["type"]),
           bytes_text(number(v["bytes"])).c_str(), owner.empty() ? "global" : (owner + "()").c_str());
    print_values(v);
  }
  printf("  heap:%s\n", facts["heap"].empty() ? " none" : "");
  for (const json& h : facts["heap"])
    printf("    %-24s %-24s %10s each\n", count_text(number(h["blocks"]), "block").c_str(), text(h["type"]),
           bytes_text(number(h["bytes"])).c_str());
  print_messages(facts["messages"]);
}

struct Place {
  std::string dir;
  uint64_t line;
};

// A number, or the path of a line's directory.
Place place_of(const ShowOptions& options) {
  uint64_t line = 0;
  if (parse_whole(options.what.c_str(), &line)) return {options.dir, line};
  fs::path path = fs::path(options.what).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  if (name.rfind("line-", 0) == 0 && parse_whole(name.c_str() + 5, &line))
    return {path.has_parent_path() ? path.parent_path().string() : ".", line};
  throw Refusal(kUsage,
                options.what + " is neither a file, nor a line (line-NNNNNN), nor the number of a line");
}

int show_line(const ShowOptions& options) {
  const Place place = place_of(options);
  store::Commit commit;
  const Status status = store::read_commit(place.dir.c_str(), place.line, &commit);
  if (!status.ok()) throw Refusal(kDamaged, status.message());
  if (options.rank >= static_cast<int64_t>(commit.ranks))
    throw Refusal(
        kUsage, "line " + std::to_string(place.line) + " has ranks 0 to " + std::to_string(commit.ranks - 1));
  const uint32_t rank = options.rank < 0 ? 0 : static_cast<uint32_t>(options.rank);
  const json file = file_facts(store::rank_path(place.dir.c_str(), place.line, rank).c_str(), options.values);
  const uint64_t size = line_size(place.dir, place.line);
  const double cost = static_cast<double>(commit.cost) / 1e6;
  if (options.json) {
    print({{"line", commit.line},
           {"ranks", commit.ranks},
           {"bytes", size},
           {"cost", cost},
           {"time", static_cast<double>(commit.time) / 1e6},
           {"calls", commit.calls},
           {"restarted_from", commit.base},
           {"file", file}});
    return 0;
  }
  printf("line %llu: %s, %s, committed %s, cost %s\n", static_cast<unsigned long long>(commit.line),
         count_text(commit.ranks, "rank").c_str(), bytes_text(size).c_str(), time_text(commit.time).c_str(),
         seconds_text(cost).c_str());
  if (commit.base > 0)
    printf("its run was restarted from line %llu\n", static_cast<unsigned long long>(commit.base));
  print_file(file);
  if (options.rank < 0 && commit.ranks > 1)
    printf("(rank 0 of %lu; --rank shows another)\n", static_cast<unsigned long>(commit.ranks));
  return 0;
}

}  // namespace

int show(const ShowOptions& options) {
  if (!fs::is_regular_file(options.what)) return show_line(options);
  const json facts = file_facts(options.what, options.values);
  if (options.json)
    print(facts);
  else
    print_file(facts);
  return 0;
}

}  // namespace elc::tool
