#include "sim/world.h"

#include <algorithm>
#include <cstdio>

namespace sim {

namespace line = elc::line;
using line::LineNumber;

void Stats::add(const Stats& o) {
  steps += o.steps, kills += o.kills, restarts += o.restarts, starts += o.starts, lines += o.lines;
  abandoned += o.abandoned, messages += o.messages, collectives += o.collectives, suppressed += o.suppressed;
  crossing += o.crossing, replayed += o.replayed, in_transit += o.in_transit, orphans += o.orphans;
  control += o.control, held += o.held, restart_replaying += o.restart_replaying;
  lines_replaying += o.lines_replaying;
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
  doomed = false;
  const size_t n = static_cast<size_t>(program.processes);
  nodes.clear();
  states_.clear();
  written_.clear();
  control_.clear();
  control_.resize(n * n);
  control_active_.clear();
  network = std::make_unique<Network>(&violation);
  collectives = std::make_unique<Collectives>(&violation);
  for (Rank r = 0; r < program.processes; ++r) nodes.push_back(std::make_unique<Node>(*this, r));
  if (committed_ == 0) {
    ++stats.starts;
    for (auto& node : nodes) node->start();
    return;
  }
  ++stats.restarts;
  const Line& files = lines_[committed_];
  for (size_t r = 0; r < n; ++r) {
    if (files.size() != n || !files[r])
      return fail("line %u was committed without the file of rank %zu", committed_, r);
    const std::vector<uint8_t>& bytes = files[r]->saved;
    elc::Bytes saved;
    saved.append(bytes.data(), bytes.size());
    nodes[r]->restart(files[r]->app, saved);
  }
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

bool World::save_state(Rank rank, LineNumber line) {
  if (doomed) return true;
  point(Moment::kSaveState);
  if (chance.chance(config.fail_state)) return false;
  log(rank, "takes its checkpoint of line %u at instruction %zu", line,
      nodes[static_cast<size_t>(rank)]->app.at);
  if (nodes[static_cast<size_t>(rank)]->process->replaying()) ++stats.lines_replaying;
  auto& states = states_[line];
  states.resize(nodes.size());
  states[static_cast<size_t>(rank)] = nodes[static_cast<size_t>(rank)]->saved_app();
  return true;
}

bool World::save_line(Rank rank, LineNumber line, const line::Saved& saved) {
  point(Moment::kBeforeFile);
  if (doomed) return true;
  if (chance.chance(config.fail_line / 2)) return false;
  auto& states = states_[line];
  if (states.size() != nodes.size() || !states[static_cast<size_t>(rank)]) {
    fail("rank %d: the file of line %u is completed without a state", rank, line);
    return true;
  }
  elc::Bytes bytes;
  elc::Encoder out(&bytes);
  saved.encode(out);
  Line& files = written_[line];
  files.resize(nodes.size());
  files[static_cast<size_t>(rank)] = File{incarnation, *states[static_cast<size_t>(rank)],
                                          std::vector<uint8_t>(bytes.data(), bytes.data() + bytes.size())};
  log(rank, "file of line %u is written: %zu in transit, %zu classes, %zu crossing, %zu outcomes, replay %d",
      line, saved.messages.size(), saved.classes.size(), saved.crossing.size(), saved.outcomes.size(),
      saved.replay);
  return true;
}

line::Stable World::line_stable(Rank rank, LineNumber line) {
  if (doomed) return line::Stable::kYes;
  if (chance.chance(config.slow_disk)) return line::Stable::kNotYet;
  if (chance.chance(config.fail_line / 2)) return line::Stable::kFailed;
  Line& files = lines_[line];
  files.resize(nodes.size());
  files[static_cast<size_t>(rank)] = std::move(written_[line][static_cast<size_t>(rank)]);
  log(rank, "file of line %u is stable", line);
  point(Moment::kAfterFile);
  return line::Stable::kYes;
}

bool World::commit(LineNumber line, uint64_t) {
  point(Moment::kBeforeCommit);
  if (doomed) return true;
  if (chance.chance(config.fail_commit)) return false;
  const Line& files = lines_[line];
  for (size_t r = 0; r < nodes.size(); ++r)
    if (files.size() != nodes.size() || !files[r] || files[r]->incarnation != incarnation)
      fail("line %u is committed before the file of rank %zu is stable", line, r);
  if (line <= committed_) fail("line %u is committed after line %u", line, committed_);
  committed_ = line;
  ++stats.lines;
  log(0, "commits line %u", line);
  lines_.erase(lines_.begin(), lines_.find(line));
  point(Moment::kAfterCommit);
  return true;
}

// A line that every process has taken, and that nothing hindered, has no reason to be abandoned.
void World::abandoned(LineNumber line) {
  ++stats.abandoned;
  const auto& states = states_[line];
  const bool all = states.size() == nodes.size() &&
                   std::all_of(states.begin(), states.end(), [](auto& s) { return s.has_value(); });
  const bool hindered =
      config.fail_state + config.fail_line + config.fail_commit > 0 || config.max_transit > 0;
  if (all && !hindered) fail("line %u was abandoned though all processes took it", line);
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
    log(m.dest, "message from %d tag %d #%llu arrives", m.source, m.tag,
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
  node.process->on_control(from, message.data(), message.size());
  return true;
}

}  // namespace sim
