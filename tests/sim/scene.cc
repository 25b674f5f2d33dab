#include "sim/scene.h"

namespace sim {

Scene::Scene(Script script, Fault fault, uint64_t max_transit) {
  for (auto& code : script.program.code) code.push_back({.op = Op::kFinalize});
  Config config;
  config.fault = fault;
  config.max_transit = max_transit;
  world = std::make_unique<World>(script.program, config, 1);
}

void Scene::run(Rank rank, int calls) {
  const Node& node = *world->nodes[static_cast<size_t>(rank)];
  const size_t end = node.app.at + static_cast<size_t>(calls);
  for (int steps = 0; node.app.at < end && !world->failed(); ++steps) {
    if (steps == 1000) return world->fail("rank %d cannot go on: %s", rank, node.situation().c_str());
    world->step(rank);
  }
}

void Scene::deliver(Rank from, Rank to) {
  for (size_t i = 0; i < world->network->streams();) {
    const Network::Message& m = world->network->head(i);
    if (m.source == from && m.dest == to)
      world->deliver(i);
    else
      ++i;
  }
}

void Scene::deliver_all() {
  while (world->network->streams() > 0) world->deliver(0);
}

void Scene::data_of(Rank from) {
  for (size_t i = 0; i < world->network->arriving();) {
    if (world->network->arriving_message(i).source == from)
      world->arrive(i);
    else
      ++i;
  }
}

void Scene::settle_but(Rank deaf) {
  for (int quiet = 0; quiet < 3; ++quiet) {
    for (size_t i = 0; i < world->control_pairs();) {
      if (world->control_pair(i).second != deaf && world->deliver_control(i)) quiet = 0;
      else ++i;
    }
    for (auto& node : world->nodes)
      if (node->looks()) node->progress();
  }
}

void Scene::settle_until_closed(Rank first, Rank last) {
  const auto open = [&](Rank rank) { return world->nodes[static_cast<size_t>(rank)]->process->recording(); };
  for (settle_but(last); open(first); settle_but(last)) {
    size_t i = 0;
    while (i < world->control_pairs() && world->control_pair(i).second != last) ++i;
    if (i == world->control_pairs()) return world->fail("the window of rank %d does not close", first);
    world->deliver_control(i);
    world->nodes[static_cast<size_t>(last)]->progress();
  }
  if (!open(last)) world->fail("the window of rank %d has closed", last);
}

void Scene::finish() {
  for (int round = 0; !world->finished() && !world->failed(); ++round) {
    if (round == 5000) {
      std::string where;
      for (size_t r = 0; r < world->nodes.size(); ++r) where += "\n  " + world->nodes[r]->situation();
      return world->fail("no progress%s", where.c_str());
    }
    deliver_all();
    while (world->network->arriving() > 0) world->arrive(0);
    settle();
    for (Rank r = 0; r < world->program.processes; ++r) world->step(r);
  }
  if (!world->failed()) world->check();
}

}  // namespace sim
