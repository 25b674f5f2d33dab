#include "sim/world.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace sim {

namespace line = elc::line;
using line::LineNumber;

void Stats::add(const Stats& o) {
  steps += o.steps, kills += o.kills, restarts += o.restarts, starts += o.starts, lines += o.lines;
  abandoned += o.abandoned, messages += o.messages, collectives += o.collectives, suppressed += o.suppressed;
  crossing += o.crossing, replayed += o.replayed, in_transit += o.in_transit, orphans += o.orphans;
  control += o.control, held += o.held, restart_replaying += o.restart_replaying;
  lines_replaying += o.lines_replaying;
  joined += o.joined, fences += o.fences, accesses += o.accesses, put_off += o.put_off;
  lines_fenced += o.lines_fenced, writes += o.writes;
  persistent += o.persistent, begun += o.begun, made_again += o.made_again, half_freed += o.half_freed;
}

World::World(const Program& p, const Config& c, uint64_t seed)
    : program(p), config(c), chance(combine(seed, 1)), entropy(combine(seed, 2)) {
  boot();
}

void World::fail(const char* format, ...) {
  if (failed()) return;  // the first is the cause
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  violation = text;
}

void World::log(Rank rank, const char* format, ...) {
  if (!trace) return;
  printf("%llu.%-6llu rank %d: ", static_cast<unsigned long long>(incarnation),
         static_cast<unsigned long long>(stats.steps), rank);
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
}

// ---- Starting and killing ----

void World::boot() {
  ++incarnation;
  doomed = no_more = strayed = false;
  const size_t n = static_cast<size_t>(program.processes);
  nodes.clear();
  states_.clear();
  written_.clear();
  costs_.clear();
  verdicts_.clear();
  refusals_.clear();
  failed_.clear();
  starved_.clear();
  control_.clear();
  control_.resize(n * n);
  control_active_.clear();
  for_release_.clear();
  accesses.clear();
  network = std::make_unique<Network>(&violation);
  collectives = std::make_unique<Collectives>(&violation);
  for (Rank r = 0; r < program.processes; ++r) nodes.push_back(std::make_unique<Node>(*this, r));
  if (committed_ == 0) {
    ++stats.starts;
    for (auto& node : nodes) node->start();
    files.clear();
    return;
  }
  ++stats.restarts;
  const Line& line = lines_[committed_];
  for (size_t r = 0; r < n; ++r) {
    if (line.size() != n || !line[r])
      return fail("line %u was committed without the file of rank %zu", committed_, r);
    const std::vector<uint8_t>& bytes = line[r]->saved;
    elc::Bytes saved;
    saved.append(bytes.data(), bytes.size());
    nodes[r]->restart(line[r]->app, saved);
  }
  cut_files();
}

void World::kill() {
  ++stats.kills;
  log(-1, "everything is killed; line %u is the last one committed", committed_);
  boot();
}

bool World::finished() const {
  return std::all_of(nodes.begin(), nodes.end(), [](const auto& n) { return n->app.done; });
}

// ---- Stable storage ----

elc::Result World::trouble(Rank rank, LineNumber line, const char* what) {
  failed_[line].insert(rank);
  return elc::Result::error("%s by rank %d", what, rank);
}

bool World::starved(Rank rank, LineNumber line) {
  if (config.fail_memory == 0 || !fails(config.fail_memory)) return false;
  static_cast<void>(trouble(rank, line, "there is no memory"));
  starved_[rank] = line;
  return true;
}

const char* World::spoiled(Rank rank, LineNumber line) const {
  const auto found = starved_.find(rank);
  return found != starved_.end() && found->second == line ? "a message could not be kept" : nullptr;
}

elc::Result World::save_state(Rank rank, LineNumber line) {
  if (doomed) return elc::Result();
  point(Moment::kSaveState);
  if (fails(config.fail_state)) return trouble(rank, line, "the state is not saved");
  if (nodes[static_cast<size_t>(rank)]->said_never()) fail("rank %d takes a line after the last", rank);
  if (const char* why = nodes[static_cast<size_t>(rank)]->hindrance()) return elc::Result::error("%s", why);
  log(rank, "takes its checkpoint of line %u at instruction %zu", line,
      nodes[static_cast<size_t>(rank)]->app.at);
  if (nodes[static_cast<size_t>(rank)]->process->replaying()) ++stats.lines_replaying;
  nodes[static_cast<size_t>(rank)]->check_counted();
  auto& states = states_[line];
  states.resize(nodes.size());
  const Node& node = *nodes[static_cast<size_t>(rank)];
  states[static_cast<size_t>(rank)] = State{node.saved_app(), node.process->replaying()};
  return elc::Result();
}

// By a copy of the process, say, while that runs on.
elc::Result World::state_saved(Rank rank, LineNumber line, bool* saved) {
  *saved = doomed || !chance.chance(config.slow_disk);
  if (doomed || !*saved || !fails(config.fail_line / 4)) return elc::Result();
  return trouble(rank, line, "the state could not be saved");
}

elc::Result World::save_line(Rank rank, LineNumber line, const line::Saved& saved) {
  point(Moment::kBeforeFile);
  if (doomed) return elc::Result();
  if (fails(config.fail_line / 2)) return trouble(rank, line, "the file is not written");
  if (const char* why = spoiled(rank, line)) return elc::Result::error("%s", why);
  if (const char* why = nodes[static_cast<size_t>(rank)]->spoiled(line); why != nullptr && saved.replay)
    return elc::Result::error("%s", why);
  auto& states = states_[line];
  if (states.size() != nodes.size() || !states[static_cast<size_t>(rank)]) {
    fail("rank %d: the file of line %u is completed without a state", rank, line);
    return elc::Result();
  }
  uint64_t in_transit = 0;
  for (const line::SavedMessage& m : saved.messages) in_transit += m.message->content.size();
  if (config.max_transit > 0 && in_transit > config.max_transit)
    fail("rank %d: line %u has more in transit than a line may", rank, line);
  elc::Bytes bytes;
  elc::Encoder out(&bytes);
  saved.encode(out);
  Line& files = written_[line];
  files.resize(nodes.size());
  const State& state = *states[static_cast<size_t>(rank)];
  files[static_cast<size_t>(rank)] = File{incarnation, state.replaying, state.app,
                                          std::vector<uint8_t>(bytes.data(), bytes.data() + bytes.size())};
  log(rank, "file of line %u is written: %zu in transit, %zu classes, %zu crossing, %zu outcomes, replay %d",
      line, saved.messages.size(), saved.classes.size(), saved.crossing.size(), saved.outcomes.size(),
      saved.replay);
  return elc::Result();
}

elc::Result World::line_stable(Rank rank, LineNumber line, bool* stable) {
  *stable = true;
  if (doomed) return elc::Result();
  if (chance.chance(config.slow_disk)) {
    *stable = false;
    return elc::Result();
  }
  if (fails(config.fail_line / 2)) return trouble(rank, line, "the file is not stable");
  Line& files = lines_[line];
  files.resize(nodes.size());
  files[static_cast<size_t>(rank)] = std::move(written_[line][static_cast<size_t>(rank)]);
  log(rank, "file of line %u is stable", line);
  point(Moment::kAfterFile);
  return elc::Result();
}

// The record is there some time after the first call and before the one that says so.
elc::Result World::commit(LineNumber line, uint64_t points, uint64_t cost, bool* done) {
  const bool recorded = line == committed_;
  *done = !chance.chance(config.slow_disk);
  if (doomed || recorded || (!*done && chance.chance(0.5))) return elc::Result();
  point(Moment::kBeforeCommit);
  if (doomed) return elc::Result();
  if (fails(config.fail_commit)) return trouble(0, line, "the record is not written");
  const Line& files = lines_[line];
  for (size_t r = 0; r < nodes.size(); ++r)
    if (files.size() != nodes.size() || !files[r] || files[r]->incarnation != incarnation)
      fail("line %u is committed before the file of rank %zu is stable", line, r);
  if (line <= committed_) fail("line %u is committed after line %u", line, committed_);
  if (!failed()) check_line(line, points, cost);
  committed_ = line;
  points_[line] = points;
  ++stats.lines;
  const auto fenced = [](const Window& w) { return w.live && w.fenced; };
  if (std::any_of(files.begin(), files.end(), [&](const auto& f) { return std::any_of(f->app.windows.begin(), f->app.windows.end(), fenced); }))
    ++stats.lines_fenced;
  log(0, "commits line %u", line);
  lines_.erase(lines_.begin(), lines_.find(line));
  point(Moment::kAfterCommit);
  return elc::Result();
}

// Every process gets the same reason, of the lowest rank that had one.
void World::refused(Rank rank, LineNumber line, const line::Refusal& refusal) {
  const std::string given = std::to_string(refusal.rank) + ": " + refusal.text;
  const std::string& first = refusals_.emplace(line, given).first->second;
  if (first != given) fail("rank %d: line %u is refused by %s, elsewhere by %s", rank, line, given.c_str(), first.c_str());
  if (refusal.rank < 0 || refusal.rank >= program.processes || *refusal.text == '\0')
    fail("rank %d: line %u is refused by nobody", rank, line);
  const bool named = failed_.count(line) == 0 || failed_[line].count(refusal.rank) > 0 || config.max_transit > 0;
  if (!named && strstr(refusal.text, "by rank") != nullptr)
    fail("rank %d: line %u is refused by rank %d, which did not", rank, line, refusal.rank);
}

// Whether something fails, where it may: with this probability for each of a few processes.
bool World::fails(double p) { return chance.chance(p * std::min(1.0, 4.0 / program.processes)); }

void World::ended(Rank rank, LineNumber line, bool committed) {
  if (doomed) return;
  if (committed != (line <= committed_))
    fail("rank %d is told that line %u was %s, which is not so", rank, line, committed ? "committed" : "abandoned");
  if (verdicts_.try_emplace(line, committed).first->second != committed)
    fail("not all are told the same of line %u", line);
  if (rank == 0 && !committed) abandoned(line);
}

// A line has no reason to be abandoned where nothing has failed and nobody's program is at its end; nor, even then,
// where every process has taken it.
void World::abandoned(LineNumber line) {
  ++stats.abandoned;
  const std::string& reason = refusals_[line];
  const bool refused = reason.find("MPI_") != std::string::npos || reason.find("window") != std::string::npos;
  if (failed_.contains(line) || config.max_transit > 0 || refused || no_more) return;
  const auto& states = states_[line];
  const bool all = states.size() == nodes.size() &&
                   std::all_of(states.begin(), states.end(), [](auto& s) { return s.has_value(); });
  const bool ends = std::any_of(nodes.begin(), nodes.end(), [](auto& n) { return n->ends(); });
  if (all || !ends) fail("line %u was abandoned without a reason", line);
}

LineNumber World::goal(const Instr& instr) {
  const auto [at, first] = goals_.try_emplace(instr.tag, committed_ + 1);
  if (first && instr.count > 0) {
    calm = true;
    config.fail_state = config.fail_line = config.fail_commit = 0;
  }
  return at->second;
}

uint64_t World::draw(Rank rank) {
  auto& scripted = scripted_nd[rank];
  if (scripted.empty()) return entropy.next();
  const uint64_t value = scripted.front();
  scripted.pop_front();
  return value;
}

// ---- Events ----

void World::step(Rank rank) { nodes[static_cast<size_t>(rank)]->step(); }

void World::deliver(size_t stream) {
  if (trace) {
    const Network::Message& m = network->head(stream);
    log(m.dest, "message from %d on %llx tag %d #%llu arrives", m.source, static_cast<unsigned long long>(m.context), m.tag,
        static_cast<unsigned long long>(m.payload[0]));
  }
  network->deliver(stream);
}

void World::request(Rank rank) {
  Node& node = *nodes[static_cast<size_t>(rank)];
  if (!node.process->running() || !node.looks() || !config.lines) return;
  log(rank, "requests a line");
  node.process->request();
}

void World::send_control(Rank from, Rank to, const uint8_t* data, size_t size) {
  ++stats.control;
  const size_t pair = static_cast<size_t>(from) * nodes.size() + static_cast<size_t>(to);
  if (control_[pair].empty()) control_active_.push_back(pair);
  control_[pair].emplace_back(data, data + size);
}

void World::vote_for_release(Rank rank) {
  log(rank, "votes for release");
  if (!for_release_.insert(rank).second) fail("rank %d votes for release twice", rank);
}

// MPI may tell some of them later than others, but looks by itself, wherever the processes are.
bool World::all_voted_for_release() {
  return for_release_.size() == nodes.size() && !chance.chance(config.slow_release);
}

std::pair<Rank, Rank> World::control_pair(size_t i) const {
  const size_t pair = control_active_[i];
  return {static_cast<Rank>(pair / nodes.size()), static_cast<Rank>(pair % nodes.size())};
}

bool World::deliver_control(size_t i) {
  const auto [from, to] = control_pair(i);
  const size_t pair = control_active_[i];
  Node& node = *nodes[static_cast<size_t>(to)];
  if (node.dead || !node.looks()) return false;
  const std::vector<uint8_t> message = std::move(control_[pair].front());
  control_[pair].pop_front();
  if (control_[pair].empty()) {
    control_active_[i] = control_active_.back();
    control_active_.pop_back();
  }
  log(to, "control message from %d: word %u", from, elc::Decoder(message.data(), message.size()).u32());
  node.on_control(from, message.data(), message.size());
  return true;
}

}  // namespace sim
