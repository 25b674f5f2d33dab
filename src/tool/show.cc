// `elc show`: what is in a line, or in one file of it.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "base/message.h"

#include "facts.h"
#include "lines.h"
#include "text.h"

using nlohmann::json;

namespace elc::tool {
namespace {

uint64_t number(const json& value) { return value.get<uint64_t>(); }
const char* text(const json& value) { return value.get_ref<const std::string&>().c_str(); }

// What people see of the facts.
json visible_facts(json facts) {
  if (facts.is_string()) facts = visible(facts.get<std::string>());
  if (facts.is_structured())
    for (json& part : facts) part = visible_facts(std::move(part));
  return facts;
}

void print_list(const char* title, const json& list) { printf("  %s:%s\n", title, list.empty() ? " none" : ""); }

// "tag": 5, "kind": "read" ... of an object, but for what has been printed.
std::string words(const json& object, std::initializer_list<const char*> printed) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    const auto same = [&key = key](const char* other) { return key == other; };
    if (std::any_of(printed.begin(), printed.end(), same)) continue;
    text += (text.empty() ? "" : ", ") + key + " " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

void print_values(const char* name, const json& facts) {
  if (!facts.contains("values")) return;
  for (const json& v : facts["values"]) printf("      %s%s = %s\n", name, text(v["place"]), text(v["value"]));
  if (facts["cut"].get<bool>()) printf("      ...\n");
}

void print_state(const json& facts) {
  print_list("functions on the stack", facts["frames"]);
  for (const json& f : facts["frames"]) printf("    %s(), at label %d\n", text(f["function"]), f["label"].get<int>());
  print_list("variables", facts["variables"]);
  for (const json& v : facts["variables"]) {
    const std::string owner = text(v["owner"]);
    printf("    %-24s %-24s %10s  %s", text(v["name"]), text(v["type"]), bytes_text(number(v["bytes"])).c_str(),
           v["static"].get<bool>() ? "static" : owner.empty() ? "global" : (owner + "()").c_str());
    if (v.contains("values")) printf(", block %llu", static_cast<unsigned long long>(number(v["block"])));
    printf("\n");
    print_values(text(v["name"]), v);
  }
}

void print_heap(const json& facts) {
  print_list("heap", facts["heap"]);
  for (const json& h : facts["heap"])
    printf("    %-24s %-24s %10s each\n", count_text(number(h["blocks"]), "block").c_str(), text(h["type"]),
           bytes_text(number(h["bytes"])).c_str());
  if (!facts.contains("blocks")) return;
  for (const json& b : facts["blocks"]) {
    const bool by_id = !b.contains("block");
    printf("    %s %llu, %s\n", by_id ? "heap block" : "block", static_cast<unsigned long long>(number(b[by_id ? "id" : "block"])),
           text(b["type"]));
    print_values("", b);
    if (b.contains("rest")) printf("      bytes behind it: %s\n", text(b["rest"]));
  }
}

void print_files(const json& facts) {
  for (size_t i = 0; i < facts["terminals"].size(); ++i)
    if (const json& t = facts["terminals"][i]; !t.is_null())
      printf("  descriptor %zu: terminal %s\n", i, text(t["name"]));
  print_list("files", facts["streams"]);
  for (const json& s : facts["streams"]) printf("    %s: %s\n", text(s["path"]), words(s, {"path"}).c_str());
}

void print_objects(const json& mpi) {
  printf("  taken in: %s\n", text(mpi["site"]));
  print_list("communicators", mpi["communicators"]);
  for (const json& c : mpi["communicators"])
    printf("    %s: %s\n", text(c["communicator"]), words(c, {"communicator"}).c_str());
  print_list("derived datatypes", mpi["datatypes"]);
  for (const json& d : mpi["datatypes"])
    printf("    datatype %llu: %s\n", static_cast<unsigned long long>(number(d["number"])),
           words(d, {"number"}).c_str());
  print_list("requests", mpi["requests"]);
  for (const json& r : mpi["requests"])
    printf("    request %llu: %s\n", static_cast<unsigned long long>(number(r["request"])),
           words(r, {"request"}).c_str());
  print_list("files of MPI", mpi["files"]);
  for (const json& f : mpi["files"]) printf("    %s: %s\n", text(f["path"]), words(f, {"path"}).c_str());
}

void print_set_up(const json& made) {
  print_list("communicators of the set-up", made["communicators"]);
  for (const json& c : made["communicators"]) printf("    %s\n", text(c));
  print_list("persistent requests of the set-up", made["requests"]);
  for (const json& r : made["requests"])
    printf("    request %llu: %s\n", static_cast<unsigned long long>(number(r["request"])), words(r, {"request"}).c_str());
}

void print_messages(const json& m) {
  auto print = [](const char* title, const json& list, bool sized) {
    print_list(title, list);
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
  if (!m.contains("queue")) return;
  for (const char* list : {"queue", "receives", "crossing", "pending", "outcomes", "received"}) {
    if (m[list].empty()) continue;
    print_list(list, m[list]);
    for (const json& one : m[list]) printf("    %s\n", words(one, {}).c_str());
  }
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
  printf("\n");
  before = "  parts are in the files of lines ";
  for (const json& line : facts["relies_on"]) {
    printf("%s%llu", before, static_cast<unsigned long long>(number(line)));
    before = ", ";
  }
  if (!facts["relies_on"].empty()) printf("\n");
  if (facts.contains("variables")) print_state(facts);
  if (facts.contains("heap")) print_heap(facts);
  if (facts.contains("streams")) print_files(facts);
  if (facts.contains("mpi")) print_objects(facts["mpi"]);
  if (facts.contains("setup")) print_set_up(facts["setup"]);
  if (facts.contains("messages")) print_messages(facts["messages"]);
}

int show_line(const ShowOptions& options) {
  const LinePlace place = line_place(options.what, options.dir);
  require_line(place.dir, place.line);
  store::Commit commit;
  const Result status = store::read_commit(place.dir.c_str(), place.line, &commit);
  if (!status.ok()) throw Refusal(status.system_failed() ? kCannot : kDamaged, status.message());
  if (options.rank >= static_cast<int64_t>(commit.ranks))
    throw Refusal(
        kUsage, "line " + std::to_string(place.line) + " has ranks 0 to " + std::to_string(commit.ranks - 1));
  const uint32_t rank = options.rank < 0 ? 0 : static_cast<uint32_t>(options.rank);
  const json file = file_facts(store::rank_path(place.dir.c_str(), place.line, rank).c_str(), options.values);
  const auto size = line_size(place.dir, place.line);
  const double cost = static_cast<double>(commit.cost) / 1e6;
  if (options.json) {
    print({{"line", commit.line},
           {"ranks", commit.ranks},
           {"bytes", size_fact(size)},
           {"cost", cost},
           {"time", static_cast<double>(commit.time) / 1e6},
           {"calls", commit.calls},
           {"restarted_from", commit.base},
           {"file", file}});
    return 0;
  }
  printf("line %llu: %s, %s, committed %s, cost %s\n", static_cast<unsigned long long>(commit.line),
         count_text(commit.ranks, "rank").c_str(), size_text(size).c_str(), time_text(commit.time).c_str(),
         seconds_text(cost).c_str());
  if (commit.base > 0)
    printf("its run was restarted from line %llu\n", static_cast<unsigned long long>(commit.base));
  print_file(visible_facts(file));
  if (options.rank < 0 && commit.ranks > 1)
    printf("(rank 0 of %lu; --rank shows another)\n", static_cast<unsigned long>(commit.ranks));
  return 0;
}

}  // namespace

int show(const ShowOptions& options) {
  // A few bytes can stand for more than there is memory for, and JSON that is half made takes some to be undone.
  std::set_new_handler([] {
    say("there is not enough memory to show this");
    _exit(kCannot);
  });
  if (!names_file(options.what)) return show_line(options);
  const json facts = file_facts(options.what, options.values);
  if (options.json)
    print(facts);
  else
    print_file(visible_facts(facts));
  return 0;
}

}  // namespace elc::tool
