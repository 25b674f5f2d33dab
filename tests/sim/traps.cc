// Every trap of PROTOCOL.md, section 10, by its number, and those found since: programs and schedules
// written by hand. Each must come through; and (in the objects that can leave out a rule) must not
// come through without its rule, else it would prove nothing.
#include <doctest/doctest.h>

#include <cstdio>

#include "line/rules.h"
#include "sim/scene.h"
#include "sim/schedule.h"

namespace {

using elc::line::Rule;
using sim::Fault;
using sim::kAny;
using sim::Kind;
using sim::kProbed;
using sim::Rank;
using sim::Scene;
using sim::Script;

constexpr Rank p = 0, q = 1, r = 2;

using Scenario = std::string (*)(Fault);

// What the violation is without the rule; empty where the objects cannot leave it out.
void expect_clean(Scenario scenario) {
  const std::string violation = scenario(Fault::kNone);
  CHECK_MESSAGE(violation.empty(), violation);
}

void expect_caught(Scenario scenario, Fault fault) {
  const std::string violation = scenario(fault);
  CHECK_MESSAGE(!violation.empty(), "the scenario does not need the rule");
  printf("  without the rule: %s\n", violation.substr(0, violation.find('\n')).c_str());
}

void expect_caught(Scenario scenario, Rule rule) {
#ifdef ELC_TEST_FAULTS
  elc::line::left_out = rule;
  expect_caught(scenario, Fault::kNone);
  elc::line::left_out = Rule{};
#else
  static_cast<void>(scenario);
  static_cast<void>(rule);
#endif
}

bool ordinary() {
#ifdef ELC_TEST_FAULTS
  return elc::line::left_out == Rule{};
#else
  return true;
#endif
}

// The scenario depends on it that this line is the last one that has committed.
void expect_line(const Scene& scene, unsigned line) {
  if (scene.world->committed() == line) return;
  scene.world->fail("line %u is the last one committed where line %u was due", scene.world->committed(),
                    line);
}

// The line commits, everything is killed, and restarts from it.
void restarted(Scene& scene, unsigned line) {
  scene.settle();
  expect_line(scene, line);
  scene.kill();
}

// How most scenarios end: the restart runs to its end.
std::string recovered(Scene& scene, unsigned line) {
  restarted(scene, line);
  scene.finish();
  return scene.violation();
}

// p checkpoints between m1 and m2; q waits for the second of two receives, then checkpoints.
std::string irecv_order(bool large, Fault fault) {
  Script s(2);
  auto first = s.on(p);
  large ? first.send_large(q, 0) : first.send(q, 0);
  s.on(p).site().send(q, 0);
  s.on(q).irecv(2, p, 0).irecv(3, p, 0).wait(3).site().wait(2);
  Scene scene(s, fault);
  scene.request();
  scene.run(q, 2);
  scene.run(p, 3);
  scene.deliver(p, q);
  scene.run(q, 2);
  scene.settle();
  scene.data_of(p);
  return recovered(scene, 1);
}

std::string trap_1(Fault fault) { return irecv_order(false, fault); }
std::string trap_1_large(Fault fault) { return irecv_order(true, fault); }

// A posted receive holds a large m1, still arriving; m2, sent after the line, is there to be probed.
std::string trap_2(Fault fault) {
  Script s(2);
  s.on(p).send_large(q, 0).site().send(q, 0);
  s.on(q).irecv(2, p, 0).site().recv(p, 0).wait(2);
  Scene scene(s, fault);
  scene.request();
  scene.run(q, 2);
  scene.run(p, 3);
  scene.deliver(p, q);
  scene.settle();  // m2 must not be taken
  scene.data_of(p);
  return recovered(scene, 1);
}

// A message is received after the log arrived and before the library takes it.
std::string trap_3(Fault fault) {
  Script s(2);
  s.on(p).send(q, 0).site();
  s.on(q).site().recv(p, 0);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 2);
  scene.run(q, 1);
  scene.settle();  // the logs are in
  scene.step(q);   // the receive waits
  scene.world->config.look = 0;
  scene.deliver(p, q);
  scene.run(q, 1);
  scene.world->config.look = 1;
  return recovered(scene, 1);
}

// Probe shows a tag that was drawn after the sender's checkpoint; then q checkpoints.
std::string trap_4(Fault fault) {
  Script s(2);
  s.on(p).site().add({.op = sim::Op::kSend, .peer = q, .tag = sim::kNdTag});
  s.on(q).probe(p, kAny).site().recv(p, kProbed);
  Scene scene(s, fault);
  scene.world->scripted_nd[p] = {1, 2};
  scene.request();
  scene.run(p, 2);
  scene.deliver(p, q);
  scene.run(q, 2);
  return recovered(scene, 1);
}

// A reduce for which r is early, p (the root) and q are late; q draws what it contributes.
std::string trap_5(Fault fault) {
  Script s(3);
  s.on(p).site().collective(Kind::kReduce);
  s.on(q).site().nd().collective(Kind::kReduce);
  s.on(r).collective(Kind::kReduce).site();
  Scene scene(s, fault);
  scene.world->scripted_nd[q] = {1, 2};
  scene.request();
  scene.run(r, 2);
  scene.run(p, 1);
  scene.run(q, 1);
  scene.settle();  // the window stays open: q has not started what it is late for
  scene.run(q, 2);
  scene.run(p, 1);
  return recovered(scene, 1);
}

// A second line is begun while p has still to repeat what q depends on.
std::string trap_6(Fault fault) {
  Script s(2);
  s.on(p).site().site().nd().send(q, 0);
  s.on(q).recv(p, 0).site().site();
  Scene scene(s, fault);
  scene.world->scripted_nd[p] = {1, 2, 3};
  scene.request();
  scene.run(p, 4);
  scene.deliver(p, q);
  scene.run(q, 2);
  restarted(scene, 1);
  scene.request();
  scene.run(p, 1);
  scene.run(q, 1);
  scene.settle();
  if (ordinary()) expect_line(scene, 1);  // not yet: p is replaying
  scene.kill();
  scene.finish();
  return scene.violation();
}

// A line is abandoned between the sending of a message and the line that it is in transit in.
std::string trap_7(Fault fault) {
  Script s(2);
  s.on(p).send(q, 0).site().site();
  s.on(q).site().site().recv(p, 0);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 2);
  scene.world->config.fail_state = 1;
  scene.run(q, 1);
  scene.world->config.fail_state = 0;
  scene.settle();
  CHECK(scene.world->stats.abandoned == 1);
  scene.request();
  scene.run(p, 1);
  scene.run(q, 1);
  scene.deliver(p, q);
  scene.settle();
  scene.kill();
  scene.finish();
  return scene.violation();
}

// The permission for a ready send is an orphan: after recovery the send may come before its receive.
std::string trap_8(Fault fault) {
  Script s(2);
  s.on(p).recv(q, 1).site().rsend(q, 0);
  s.on(q).site().irecv(2, p, 0).send(p, 1).wait(2);
  Scene scene(s, fault);
  scene.request();
  scene.run(q, 3);
  scene.deliver(q, p);
  scene.run(p, 2);
  restarted(scene, 1);
  scene.run(p, 1);
  scene.deliver(p, q);
  scene.finish();
  return scene.violation();
}

// r's past depends on what p drew: through a message, q, and a broadcast that crosses.
std::string trap_9(Fault fault) {
  Script s(3);
  s.on(p).site().nd().send(q, 0).collective(Kind::kBcast, 0, q);
  s.on(q).site().recv(kAny, kAny).collective(Kind::kBcast, 0, q);
  s.on(r).collective(Kind::kBcast, 0, q).site();
  Scene scene(s, fault);
  scene.world->scripted_nd[p] = {1, 2};
  scene.request();
  scene.run(p, 3);
  scene.deliver(p, q);
  scene.run(q, 3);
  scene.run(r, 2);
  scene.run(p, 1);
  return recovered(scene, 1);
}

// p has made a communicator and sent on it; q's checkpoint is before that, and its dup not finished.
std::string trap_10_made(Fault fault) {
  Script s(2);
  s.on(p).dup(1).send(q, 0, 1).site();
  s.on(q).site().dup(1).recv(p, 0, 1);
  Scene scene(s, fault);
  scene.request();
  scene.run(q, 1);
  scene.step(q);  // q has started the dup
  scene.run(p, 3);
  while (scene.world->control_pairs() > 0) scene.world->deliver_control(0);
  scene.run(q, 1);
  scene.deliver(p, q);
  return recovered(scene, 1);
}

// p has freed a communicator whose last operation crosses.
std::string trap_10_freed(Fault fault) {
  Script s(2);
  s.on(p).dup(1).collective(Kind::kBcast, 1).collective(Kind::kFree, 1).site();
  s.on(q).dup(1).site().collective(Kind::kBcast, 1).collective(Kind::kFree, 1);
  Scene scene(s, fault);
  scene.request();
  scene.step(p);
  scene.run(q, 2);
  scene.run(p, 4);
  scene.settle();
  scene.run(q, 2);
  return recovered(scene, 1);
}

// A message that counts since a probe has shown it is received from the pending queue.
std::string trap_11_counted_once(Fault fault) {
  Script s(2);
  s.on(p).send(q, 0).site().send(q, 0).site();
  s.on(q).probe(p, 0).site().recv(p, 0).site().recv(p, 0);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 2);
  scene.deliver(p, q);
  scene.run(q, 2);
  scene.settle();
  expect_line(scene, 1);
  scene.run(q, 1);
  scene.request();
  scene.run(p, 2);
  scene.run(q, 1);
  scene.deliver(p, q);
  return recovered(scene, 2);
}

// A non-blocking barrier crosses.
std::string trap_11_ibarrier(Fault fault) {
  Script s(2);
  s.on(p).icollective(2, Kind::kBarrier).site().wait(2);
  s.on(q).site().icollective(2, Kind::kBarrier).wait(2);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 2);
  scene.run(q, 3);
  scene.run(p, 1);
  return recovered(scene, 1);
}

// ---- Found by the simulator since ----

// A receive posted before a probe holds the message before the one that the probe shows.
std::string found_probe_past(Fault fault) {
  Script s(2);
  s.on(p).send_large(q, 0).site().send(q, 0);
  s.on(q).irecv(2, p, 0).probe(p, 0).site().recv(p, 0).wait(2);
  Scene scene(s, fault);
  scene.request();
  scene.run(q, 1);
  scene.run(p, 3);
  scene.deliver(p, q);
  scene.run(q, 2);
  scene.data_of(p);
  return recovered(scene, 1);
}

// A probe for one tag takes a message over an earlier one of its stream; then ANY_TAG.
std::string found_any_tag_after_probe(Fault fault) {
  Script s(2);
  s.on(p).send(q, 1).send(q, 2).site();
  s.on(q).iprobe(p, 2).site().recv(p, kAny).recv(p, 2);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 3);
  scene.deliver(p, q);
  scene.run(q, 2);
  scene.settle();
  scene.finish();
  return scene.violation();
}

// A message on a communicator that is freed before the logs are in.
std::string found_freed_in_window(Fault fault) {
  Script s(2);
  s.on(p).dup(1).send(q, 0, 1).site().collective(Kind::kFree, 1);
  s.on(q).dup(1).site().recv(p, 0, 1).collective(Kind::kFree, 1);
  Scene scene(s, fault);
  scene.request();
  scene.step(p);
  scene.run(q, 2);
  scene.run(p, 2);
  scene.deliver(p, q);
  scene.run(q, 2);
  scene.run(p, 1);
  return recovered(scene, 1);
}

// A pending receive holds m1, the queue has m2 of a line before: the next line keeps their order.
std::string found_order_of_held(Fault fault) {
  Script s(2);
  s.on(p).send(q, 0).send(q, 0).site().site();
  s.on(q).irecv(2, p, 0).site().site().wait(2).recv(p, 0);
  Scene scene(s, fault);
  scene.request();
  scene.run(q, 1);
  scene.run(p, 3);
  scene.deliver(p, q);
  scene.run(q, 1);
  scene.settle();
  expect_line(scene, 1);
  scene.request();
  scene.run(p, 1);
  scene.run(q, 1);
  return recovered(scene, 2);
}

// In replay, receives are held; meanwhile a checkpoint takes into the queue what a probe has shown. What MPI gives to one
// of them later came later, though it was posted before.
std::string found_order_of_held_in_replay(Fault fault) {
  Script s(2);
  s.on(p).site().send(q, 1).send(q, 0).send(q, 2).send(q, 0).site();
  s.on(q).irecv(2, kAny, 0).irecv(3, kAny, 0).recv(p, 1).site().probe(p, 2).site().wait(2).wait(3).recv(p, 2);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 2);
  scene.deliver(p, q);
  scene.run(q, 4);
  scene.run(p, 3);
  scene.deliver(p, q);
  scene.run(q, 4);
  restarted(scene, 1);
  scene.request();
  scene.run(p, 4);
  scene.deliver(p, q);
  scene.run(q, 2);
  REQUIRE(scene.took(q));
  scene.run(p, 1);
  scene.run(q, 2);
  return recovered(scene, 2);
}

// The queue has a message of a class; a probe for another tag shows that MPI has the next one before it. That one and
// what the probe shows were sent after the line.
std::string found_probe_past_queue(Fault fault) {
  Script s(2);
  s.on(p).send(q, 0).site().site().send(q, 0).send(q, 2);
  s.on(q).site().probe(p, 2).site().recv(p, 0).recv(p, 0).recv(p, 2);
  Scene scene(s, fault);
  scene.request();
  scene.run(q, 1);
  scene.run(p, 2);
  scene.deliver(p, q);
  scene.settle();
  expect_line(scene, 1);
  scene.request();
  scene.run(p, 3);
  scene.deliver(p, q);
  scene.run(q, 2);
  scene.run(q, 3);
  return recovered(scene, 2);
}

// A receive has a message of the line; what a probe shows of its stream, and what comes before that, were sent after it.
std::string found_probe_past_receive(Fault fault) {
  Script s(2);
  s.on(p).send(q, 0).site().send(q, 0).send(q, 2);
  s.on(q).irecv(2, p, 0).probe(p, 2).site().wait(2).recv(p, 0).recv(p, 2);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 4);
  scene.run(q, 1);
  scene.deliver(p, q);
  scene.run(q, 2);
  return recovered(scene, 1);
}

// A receive has an earlier message than the probe shows, and that is known only later. The one shown was sent after the line.
std::string found_probe_past_unknown(Fault fault) {
  Script s(2);
  s.on(p).send_large(q, 0).site().send(q, 0);
  s.on(q).irecv(2, kAny, 0).probe(p, 0).irecv(3, kAny, 0).site().wait(2).wait(3);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 3);
  scene.run(q, 1);
  scene.deliver(p, q);
  scene.run(q, 1);
  scene.data_of(p);
  scene.settle();
  scene.run(q, 2);
  REQUIRE(scene.took(q));
  return recovered(scene, 1);
}

// The receive that a probe's message seemed to be for got another one.
std::string found_shown_and_not_taken(Fault fault) {
  Script s(3);
  s.on(p).site().send(q, 0);
  s.on(q).probe(p, 0).recv(kAny, 0).site().recv(p, 0);
  s.on(r).send(q, 0).site();
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 2);
  scene.run(r, 1);
  scene.deliver(r, q);
  scene.deliver(p, q);
  scene.run(q, 3);
  scene.run(r, 1);
  return recovered(scene, 1);
}

// The same of two probes: a receive for any has what the second has shown, and MPI has nothing for the receive that was
// posted for that.
std::string found_shown_and_taken_by_another(Fault fault) {
  Script s(3);
  s.on(p).send(q, 0).site();
  s.on(q).probe(p, 0).probe(r, 0).irecv(2, kAny, 0).irecv(3, r, 0).site().wait(2).recv(p, 0).wait(3);
  s.on(r).send(q, 0).site().send(q, 0);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 2);
  scene.run(r, 2);
  scene.deliver(r, q);
  scene.deliver(p, q);
  scene.run(q, 5);
  return recovered(scene, 1);
}

// A receive that is being cancelled has what a probe has shown; what the next probe shows is another message.
std::string found_shown_after_cancel(Fault fault) {
  Script s(2);
  s.on(p).send(q, 0).site().send(q, 0);
  s.on(q).probe(p, 0).irecv(2, p, 0).add({.op = sim::Op::kCancel, .slot = 2}).probe(p, 0);
  s.on(q).add({.op = sim::Op::kWaitCancelled, .peer = p, .tag = 0, .slot = 2}).site().recv(p, 0);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 3);
  scene.deliver(p, q);
  scene.run(q, 6);
  return recovered(scene, 1);
}

// A second line is begun in a replay, and a receive that is held is cancelled in it. Behind that line the queue has a
// message for the same call.
std::string found_cancelled_while_held(Fault fault) {
  Script s(3);
  s.on(p).recv(r, 1).site().send(q, 0).recv(q, 3).site();
  s.on(q).site().site().irecv(2, kAny, 0).add({.op = sim::Op::kCancel, .slot = 2});
  s.on(q).add({.op = sim::Op::kWaitCancelled, .peer = p, .tag = 0, .slot = 2}).send(p, 3).recv(kAny, 0);
  s.on(r).site().site().send(q, 0).send(p, 1);
  Scene scene(s, fault);
  scene.request();
  scene.run(r, 4);
  scene.deliver(r, p);
  scene.run(q, 3);
  scene.deliver(r, q);
  scene.run(p, 2);
  restarted(scene, 1);
  scene.request();
  scene.run(q, 3);
  scene.run(p, 1);
  scene.deliver(p, q);
  scene.run(q, 2);
  scene.deliver(q, p);
  scene.run(p, 2);
  scene.run(r, 3);
  scene.settle();
  if (ordinary()) expect_line(scene, 1);
  scene.kill();
  scene.finish();
  return scene.violation();
}

// In replay one receive is held until the program has seen, by a probe, what another has left.
std::string found_probe_in_replay(Fault fault) {
  Script s(3);
  s.on(p).site().send(q, 1).send(q, 0).send(q, 0);
  s.on(q).irecv(2, kAny, 5).recv(p, 1).site().irecv(3, p, 0).probe(p, 0).send(r, 7).wait(2).wait(3).recv(p, 0);
  s.on(r).site().recv(q, 7).send(q, 5);
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 2);
  scene.run(r, 1);
  scene.deliver(p, q);
  scene.run(q, 3);
  scene.run(p, 2);
  scene.deliver(p, q);
  scene.run(q, 3);
  scene.deliver(q, r);
  scene.run(r, 2);
  scene.deliver(r, q);
  scene.run(q, 1);
  return recovered(scene, 1);
}

// A receive has the message of the line, a large one still arriving; a later one has what was sent after the line, and
// its data. Whatever the first one asked for, the line waits for it.
std::string found_later_receive_complete(int from, int tag) {
  Script s(2);
  s.on(p).send_large(q, 0).site().send(q, 0);
  s.on(q).irecv(2, from, tag).irecv(3, p, 0).site().wait(2).wait(3);
  Scene scene(s);
  scene.request();
  scene.run(p, 3);
  scene.run(q, 2);
  scene.deliver(p, q);
  scene.run(q, 1);
  scene.settle();
  CHECK(scene.world->committed() == 0);
  scene.data_of(p);
  return recovered(scene, 1);
}

// A wildcard receive of the window is implied, and never observed there: what it has is an outcome all the same.
enum class Data { kAtOnce, kInWindow, kLate };
std::string found_implied_in_window(Data data, Fault fault) {
  const bool late = data == Data::kLate;
  Script s(3);
  s.on(p).site();
  data == Data::kAtOnce ? s.on(p).send(q, 0) : s.on(p).send_large(q, 0);
  s.on(q).site().irecv(2, kAny, 0).irecv(3, kAny, 0).wait(3).send(r, 1).wait(2);
  s.on(r).send(q, 0).recv(q, 1).site();
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 2);
  scene.run(q, 3);
  scene.deliver(p, q);
  scene.run(r, 1);
  scene.deliver(r, q);
  scene.run(q, 2);
  if (!late) scene.data_of(p);
  scene.world->nodes[static_cast<size_t>(q)]->progress();
  scene.deliver(q, r);
  scene.run(r, 2);
  scene.settle();
  CHECK(scene.world->committed() == (late ? 0 : 1));  // late: it is not known what the first one has
  scene.data_of(p);
  return recovered(scene, 1);
}
std::string found_implied_at_once(Fault fault) { return found_implied_in_window(Data::kAtOnce, fault); }
std::string found_implied_and_known(Fault fault) { return found_implied_in_window(Data::kInWindow, fault); }
std::string found_implied_late(Fault fault) { return found_implied_in_window(Data::kLate, fault); }

// In replay a receive for one sender waits behind one for any that is bound to a message of his.
std::string found_behind_a_held_receive(Fault fault) {
  Script s(3);
  s.on(p).site().send(q, 0).send(q, 0);
  s.on(q).site().irecv(2, kAny, 0).irecv(3, p, 0).wait(2).wait(3).send(r, 1);
  s.on(r).recv(q, 1).site();
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 3);
  scene.run(q, 3);
  scene.deliver(p, q);
  scene.run(q, 3);
  scene.deliver(q, r);
  scene.run(r, 2);
  restarted(scene, 1);
  scene.run(q, 2);
  scene.run(p, 2);
  scene.deliver(p, q);
  scene.finish();
  return scene.violation();
}

// A wildcard receive that is implied before its envelope is known does not keep the process from its checkpoint once it is.
std::string found_implied_and_unknown(Fault fault) {
  Script s(2);
  s.on(p).send_large(q, 0).send(q, 0).site();
  s.on(q).irecv(2, kAny, 0).irecv(3, kAny, 0).wait(3).site().site().wait(2);
  Scene scene(s, fault);
  scene.run(p, 2);
  scene.run(q, 2);
  scene.deliver(p, q);
  scene.run(q, 1);
  scene.request();
  scene.run(p, 1);
  scene.run(q, 1);
  CHECK(!scene.took(q));
  scene.data_of(p);
  scene.run(q, 1);
  CHECK(scene.took(q));
  return recovered(scene, 1);
}

// No line can be taken any more while the queue has a message: it is looked at until that has been received.
std::string queued_when_lines_are_over() {
  Script s(2);
  s.on(p).send(q, 0).site().add({.op = sim::Op::kNever}).send(q, 0);
  s.on(q).site().recv(p, 0).recv(p, 0);
  Scene scene(s);
  scene.request();
  scene.run(q, 1);
  scene.run(p, 2);
  scene.deliver(p, q);
  scene.settle();
  expect_line(scene, 1);
  CHECK(scene.world->nodes[static_cast<size_t>(q)]->has_queued(0));
  scene.run(p, 2);
  scene.deliver(p, q);
  scene.finish();
  return scene.violation();
}

// Two wildcard receives: the second is answered by the queue, so the first keeps what it has.
std::string found_wildcards_fixed(Fault fault) {
  Script s(3);
  s.on(p).send(q, 0).send(q, 0).site().site();
  s.on(q).irecv(2, kAny, kAny).site().irecv(3, kAny, kAny).site().wait(3).wait(2).recv(r, 0);
  s.on(r).send(q, 0).site().site();
  Scene scene(s, fault);
  scene.request();
  scene.run(q, 1);
  scene.run(p, 3);
  scene.deliver(p, q);
  scene.run(q, 1);
  scene.run(r, 2);
  scene.deliver(r, q);
  scene.settle();
  expect_line(scene, 1);
  scene.run(q, 1);
  scene.request();
  scene.run(p, 1);
  scene.run(q, 1);
  scene.run(r, 1);
  return recovered(scene, 2);
}

// The end of a replay in steps: p has a receive bound and goes into a barrier, where it does not look; r says
// that it can be released, which q hears; and then q sends, synchronously, to that receive.
std::string found_released_before_another(Fault fault) {
  Script s(3);
  s.on(p).site().irecv(2, kAny, 1).collective(Kind::kBarrier).wait(2);
  s.on(q).recv(r, 2).site().ssend(p, 1).collective(Kind::kBarrier);
  s.on(r).site().send(q, 2).collective(Kind::kBarrier);
  Scene scene(s, fault);
  scene.world->config.look_in_collectives = false;
  scene.request();
  scene.run(r, 2);
  scene.deliver(r, q);
  scene.run(q, 2);
  scene.run(p, 2);
  scene.step(q);
  scene.deliver(q, p);
  scene.run(q, 1);
  for (const Rank rank : {p, q, r}) scene.step(rank);
  for (const Rank rank : {p, q, r}) scene.run(rank);
  scene.run(p, 1);
  restarted(scene, 1);
  scene.run(p, 1);
  scene.step(p);
  scene.run(r, 1);
  scene.settle();
  scene.finish();
  return scene.violation();
}

// One draws, after its window has closed, what another, who waits, receives in its own; in the replay it draws
// otherwise, and who waits needs release, while the one that is late, its suppressed send used up, goes without a
// look into a barrier, where the root of the tree is already.
std::string found_release_past_a_barrier(Fault fault) {
  constexpr Rank root = 0, late = 1, waits = 2, draws = 3;
  Script s(4);
  s.on(root).site().collective(Kind::kBarrier);
  s.on(waits).site().irecv(2, kAny, 1).wait(2).collective(Kind::kBarrier).irecv(3, kAny, kAny).wait(3);
  s.on(late).site().send(draws, 0).send(waits, 1).collective(Kind::kBarrier);
  s.on(draws).recv(late, 0).site().send(waits, sim::kNdTag).collective(Kind::kBarrier);
  Scene scene(s, fault);
  scene.world->config.look_in_collectives = false;
  scene.world->config.look = 0;
  scene.world->scripted_nd[draws] = {1, 2};
  scene.request();
  scene.run(root, 1);
  scene.run(waits, 2);
  scene.run(late, 2);
  scene.deliver(late, draws);
  scene.run(draws, 2);
  scene.settle_until_closed(draws, waits);
  scene.run(draws, 1);
  scene.deliver(draws, waits);
  scene.run(waits, 1);
  restarted(scene, 1);
  scene.step(root);  // begins to run
  scene.step(root);
  scene.run(late, 2);
  scene.step(late);
  scene.finish();
  return scene.violation();
}

// A wildcard receive that MPI has matched when the window closes, though the application has not looked: the sender
// of the synchronous message knows, and so does who heard of it and sends next.
std::string found_matched_in_window(Fault fault) {
  Script s(3);
  s.on(p).site().ssend(q, 1).send(r, 2);
  s.on(q).site().irecv(2, kAny, 1).wait(2).recv(r, 1);
  s.on(r).recv(p, 2).site().send(q, 1);
  Scene scene(s, fault);
  scene.request();
  scene.run(q, 2);
  scene.run(p, 1);
  scene.step(p);
  scene.deliver(p, q);
  scene.run(p, 2);
  scene.deliver(p, r);
  scene.run(r, 2);
  restarted(scene, 1);
  scene.run(r, 1);
  scene.deliver(r, q);
  scene.run(q, 1);
  scene.finish();
  return scene.violation();
}

// A receive is pending on a communicator that is freed, at the checkpoint or in the window: MPI completes it, so its
// message is not lost in a run without failures.
std::string pending_when_freed(bool in_window) {
  Script s(2);
  s.on(p).dup(1).send(q, 0, 1).collective(Kind::kFree, 1).site();
  if (in_window) s.on(q).dup(1).site();
  else s.on(q).dup(1);
  s.on(q).add({.op = sim::Op::kIrecv, .comm = 1, .peer = p, .tag = 0, .slot = 2}).collective(Kind::kFree, 1);
  if (!in_window) s.on(q).site();
  s.on(q).wait(2);
  Scene scene(s);
  scene.request();
  scene.step(p);
  scene.run(q, 1);
  scene.run(p, 4);
  scene.run(q, 3);
  scene.settle();
  scene.deliver(p, q);
  scene.settle();
  scene.kill();
  scene.finish();
  return scene.violation();
}

}  // namespace

TEST_CASE("trap_1_receives_posted_earlier_are_observed") {
  expect_clean(trap_1);
  expect_clean(trap_1_large);
  expect_caught(trap_1, Rule::kObserveEarlier);
}
TEST_CASE("trap_2_probe_past_an_arriving_message") {
  expect_clean(trap_2);
  expect_caught(trap_2, Rule::kLookAtPostings);
}
TEST_CASE("trap_3_received_after_the_log") {
  expect_clean(trap_3);
  expect_caught(trap_3, Rule::kLogUntilHeld);
}
TEST_CASE("trap_4_probed_before_the_checkpoint") {
  expect_clean(trap_4);
  expect_caught(trap_4, Fault::kForgetProbes);
}
TEST_CASE("trap_5_drawn_contribution_to_a_crossing_reduce") {
  expect_clean(trap_5);
  expect_caught(trap_5, Rule::kLateStarted);
}
TEST_CASE("trap_6_line_in_the_middle_of_a_replay") {
  expect_clean(trap_6);
  expect_caught(trap_6, Rule::kReplayed);
}
TEST_CASE("trap_7_abandoned_line_gives_its_counts_back") {
  expect_clean(trap_7);
  expect_caught(trap_7, Rule::kGiveBack);
}
TEST_CASE("trap_8_ready_send_before_its_receive") {
  expect_clean(trap_8);
  expect_caught(trap_8, Fault::kReadySend);
}
TEST_CASE("trap_9_dependence_is_transitive") {
  expect_clean(trap_9);
  expect_caught(trap_9, Fault::kForgetOutcomes);
}
TEST_CASE("trap_10_communicators_on_one_side_of_the_line") {
  expect_clean(trap_10_made);
  expect_clean(trap_10_freed);
  expect_caught(trap_10_made, Fault::kRepeatCrossing);
  expect_caught(trap_10_freed, Rule::kKeepFreed);
}
TEST_CASE("trap_11_faults_of_other_systems_that_drain") {
  expect_clean(trap_11_counted_once);
  expect_clean(trap_11_ibarrier);
  expect_caught(trap_11_counted_once, Rule::kCountOnce);
  expect_caught(trap_11_ibarrier, Fault::kUncountedIbarrier);
}
TEST_CASE("found: a probe shows that receives posted earlier were matched") {
  expect_clean(found_probe_past);
  expect_caught(found_probe_past, Rule::kObserveEarlier);
}
TEST_CASE("found: a probe for one tag and the order of the stream") {
  expect_clean(found_any_tag_after_probe);
}
TEST_CASE("found: a communicator freed in the window") { expect_clean(found_freed_in_window); }
TEST_CASE("found: a receive is cancelled that is held") {
  expect_clean(found_cancelled_while_held);
  expect_caught(found_cancelled_while_held, Rule::kCancelledHeld);
}
TEST_CASE("found: order of what a receive holds and what the queue has") {
  expect_clean(found_order_of_held);
  expect_caught(found_order_of_held, Rule::kStreamOrder);
  expect_clean(found_order_of_held_in_replay);
}
TEST_CASE("found: what a probe shows, and what comes before it") {
  expect_clean(found_probe_past_queue);
  expect_clean(found_probe_past_receive);
  expect_clean(found_probe_past_unknown);
  expect_clean(found_shown_and_not_taken);
  expect_clean(found_shown_and_taken_by_another);
  expect_clean(found_shown_after_cancel);
  expect_clean(found_probe_in_replay);
}
TEST_CASE("the queue when no line can be taken any more") { CHECK(queued_when_lines_are_over() == ""); }
TEST_CASE("found: receives that are implied") {
  for (const int from : {p, kAny})
    for (const int tag : {0, kAny}) CHECK(found_later_receive_complete(from, tag) == "");
  expect_clean(found_implied_at_once);
  expect_clean(found_implied_and_known);
  expect_clean(found_implied_late);
  expect_clean(found_behind_a_held_receive);
  expect_clean(found_implied_and_unknown);
}
TEST_CASE("found: a queue's answer fixes what receives posted earlier got") {
  expect_clean(found_wildcards_fixed);
}
TEST_CASE("found: a released process sends to one that is not") {
  expect_clean(found_released_before_another);
  expect_caught(found_released_before_another, Rule::kBackground);
}
TEST_CASE("found: release does not wait for a process inside a collective") {
  expect_clean(found_release_past_a_barrier);
  expect_caught(found_release_past_a_barrier, Rule::kVoteAtOnce);
}

TEST_CASE("found: a receive is pending on a communicator that is freed") {
  CHECK(pending_when_freed(false) == "");
  CHECK(pending_when_freed(true) == "");
}
// The status of a receive that is not complete for the program tells what it has; in the line its message is not sent yet,
// and could be another one.
static std::string status_of_a_receive(Fault fault) {
  Script s(3);
  s.on(p).site().send(q, 0);
  s.on(q).irecv(2, kAny, kAny).add({.op = sim::Op::kGetStatus, .slot = 2}).site().wait(2);
  s.on(r).site();
  Scene scene(s, fault);
  scene.request();
  scene.run(p, 2);
  scene.run(q, 1);
  scene.deliver(p, q);
  scene.run(q, 2);
  scene.run(r, 1);
  scene.settle();
  if (fault == Fault::kNone) expect_line(scene, 0);
  scene.finish();
  return scene.violation();
}
TEST_CASE("a receive whose status was told refuses lines until it is complete") {
  expect_clean(status_of_a_receive);
  expect_caught(status_of_a_receive, Fault::kForgetStatus);
}

// q does not know that it is a member of a group of which p has made a call before its checkpoint, until it makes it.
static std::string found_unheard_group(Fault fault) {
  Script s(3);
  const sim::Instr call{.op = sim::Op::kCollective, .kind = Kind::kBcast, .comm = 1, .group = true, .slots = {p, q}};
  s.on(p).add(call).site().compute();
  s.on(q).site().compute().add(call).compute();
  s.on(r).site();
  Scene scene(s, fault);
  scene.request();
  for (int i = 0; i < 4; ++i) scene.step(p);
  scene.step(q);
  scene.step(r);
  scene.settle();
  if (scene.world->committed() != 0) return "a line commits that a member is late for";
  scene.finish();
  return scene.violation();
}
TEST_CASE("found: a member has never heard of its group") {
  expect_clean(found_unheard_group);
  expect_caught(found_unheard_group, Rule::kTellMembers);
}

// p has started one persistent operation before its checkpoint, and q the other one.
static std::string persistent_in_other_orders(Fault fault) {
  Script s(2);
  const auto make = [](int made) {
    return sim::Instr{.op = sim::Op::kCollective, .kind = Kind::kPersistent, .made = made, .unfollowed = true};
  };
  const auto start = [](int which) {
    return sim::Instr{.op = sim::Op::kIcollective, .kind = Kind::kAllreduce, .comm = which, .slot = 1 + which};
  };
  for (const Rank m : {p, q})
    s.on(m).add(make(1)).add(make(2)).add(start(m == p ? 1 : 2)).site().compute().add(start(m == p ? 2 : 1)).wait(2).wait(3);
  Scene scene(s, fault);
  scene.run(p, 3);
  scene.run(q, 3);
  scene.request();
  scene.run(p, 3);
  scene.run(q, 3);
  scene.settle();
  return recovered(scene, 1);
}

// q has freed one before its checkpoint that p has started and freed behind its own: MPI has it no more after a restart.
static std::string persistent_freed_on_one_side(Fault fault) {
  Script s(2);
  const sim::Instr make{.op = sim::Op::kCollective, .kind = Kind::kPersistent, .made = 1, .unfollowed = true};
  const sim::Instr start{.op = sim::Op::kIcollective, .kind = Kind::kBcast, .comm = 1, .peer2 = q, .slot = 2};
  for (const Rank m : {p, q}) s.on(m).add(make);
  s.on(p).site().add(start).wait(2).collective(Kind::kFree, 1);
  s.on(q).add(start).wait(2).collective(Kind::kFree, 1).site().compute();
  Scene scene(s, fault);
  scene.run(p, 1);
  scene.run(q, 4);
  scene.request();
  scene.run(p, 4);
  scene.run(q, 1);
  scene.settle();
  return recovered(scene, 1);
}
TEST_CASE("persistent operations are communicators of their own") {
  expect_clean(persistent_in_other_orders);
  expect_clean(persistent_freed_on_one_side);
  expect_caught(persistent_in_other_orders, Fault::kStartsOnParent);
  expect_caught(persistent_freed_on_one_side, Fault::kMadeForSome);
}

TEST_CASE("found: what MPI has matched when the window closes") { expect_clean(found_matched_in_window); }

// A line commits while a process waits in a labelled receive for a message that nobody has sent.
TEST_CASE("a line commits while a process waits") {
  Script s(3);
  s.on(p).site().compute().send(q, 0);
  s.on(q).labelled_recv(p, 0);
  s.on(r).site();
  Scene scene(s);
  scene.step(q);
  scene.request();
  scene.run(p, 1);
  scene.run(r, 1);
  scene.step(q);
  scene.settle();
  CHECK(scene.world->committed() == 1);
  scene.kill();
  scene.finish();
  CHECK(scene.violation() == "");
}

// Who learns in a barrier that another member is a line ahead takes its checkpoint as of before it.
TEST_CASE("a barrier does not cross where it is a site") {
  Script s(2);
  s.on(p).site().labelled_barrier().compute();
  s.on(q).labelled_barrier().compute();
  Scene scene(s);
  scene.world->nodes[0]->process->request();
  scene.run(p, 1);  // q has not heard of it
  scene.step(q);
  scene.run(p, 1);
  scene.run(q, 1);
  scene.settle();
  CHECK(scene.world->committed() == 1);
  scene.kill();
  CHECK(scene.world->stats.crossing == 0);
  scene.finish();
  CHECK(scene.world->stats.crossing == 0);
  CHECK(scene.violation() == "");
}

// On an intercommunicator each hears in the first round what the other group knows, and in the second one what its own does.
TEST_CASE("a barrier of two groups does not cross where it is a site") {
  Script s(3);
  const auto split = [](int colour) {
    return sim::Instr{.op = sim::Op::kCollective, .kind = Kind::kSplit, .made = 1, .colour = colour};
  };
  const sim::Instr join{.op = sim::Op::kJoin, .kind = Kind::kJoin, .comm = 1, .made = 2, .count = 2, .unfollowed = true,
                        .slots = {p, q, r}};
  const sim::Instr barrier{.op = sim::Op::kCollective, .label = true, .kind = Kind::kBarrier, .comm = 2};
  for (const Rank m : {p, q, r}) {
    s.on(m).add(split(m == r ? 1 : 0)).add(join);
    if (m == p) s.on(m).site();
    s.on(m).add(barrier).compute();
  }
  Scene scene(s);
  for (int calls = 0; calls < 2; ++calls) {
    for (int steps = 0; steps < 2; ++steps)
      for (const Rank m : {p, q, r}) scene.step(m);
  }
  scene.world->nodes[p]->process->request();
  scene.run(p, 1);  // q, of its group, has not heard of it, and r neither
  for (int steps = 0; steps < 4; ++steps)
    for (const Rank m : {q, r, p}) scene.step(m);
  scene.settle();
  CHECK(scene.world->committed() == 1);
  CHECK(scene.world->stats.joined == 3);
  scene.kill();
  scene.finish();
  CHECK(scene.world->stats.crossing == 0);
  CHECK(scene.violation() == "");
}

// One program point, one line (section 2): however the processes come to their calls.
TEST_CASE("one line for each program point") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Script s(3);
    for (Rank rank = 0; rank < 3; ++rank)
      for (int k = 0; k < 4; ++k) {
        s.on(rank).site_now();
        for (int i = 0; i < 30; ++i) s.on(rank).compute();
      }
    Scene scene(s);
    sim::Random random(seed);
    for (int i = 0; i < 500; ++i) {
      scene.step(random.between(0, 2));
      if (random.chance(0.7)) scene.settle();
    }
    scene.finish();
    INFO("seed " << seed);
    CHECK(scene.violation() == "");
    CHECK(scene.world->committed() <= 4);
    CHECK(scene.world->committed() >= 1);
  }
}

// The bare programs and the simulated MPI are sound: without lines nothing hangs or is lost.
TEST_CASE("programs without lines") {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const sim::Verdict v = sim::run_schedule(seed, {.lines = false});
    CHECK_MESSAGE(v.violation.empty(), "seed " << seed << ": " << v.violation);
  }
}
