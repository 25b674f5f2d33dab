// Frames that are described by constant data (elc_frame.h), as a tool writes them into a program.
#include "elc_frame.h"

#include <setjmp.h>
#include <stddef.h>
#include <string.h>

#include "helper.h"

namespace {

const ELC_Type kLong = ELC_LONG, kPointer = ELC_POINTER;

// As in frames_test.cc: a labelled call of MPI.
struct Site {
  int countdown = -1;  // sites until a line is taken
  bool labelled = false;
  Line line;
  std::string saved;
  int calls = 0;

  void call() {
    labelled = elc::state::take_label();
    ++calls;
    if (countdown-- != 0) return;
    saved = text(line.save());
  }
} site;

std::string restored, gave_up;
jmp_buf escape;

void restart() {
  new_process();
  elc::state::give_up_hook = [](const elc::Result& why) {
    gave_up = why.message();
    longjmp(escape, 1);
  };
  elc::state::arrived_hook = [] {
    restored = text(site.line.restore());
    elc::state::set_recovering(false);
  };
  restored = gave_up = "";
  elc::format::Reader reader;
  REQUIRE_OK(site.line.open(&reader));
  elc::state::set_recovering(true);
  REQUIRE_OK(elc::state::load_frames(reader));
}

// long inner(long depth, long *total) {
//   long i, local[4] = {0};
//   for (i = 0; i < 4; ++i) {
//     site();
//     local[i] = depth * 10 + i;
//     *total = *total * 3 + local[i];
//     if (depth > 0 && i == 2) local[i] += inner(depth - 1, total);
//   }
//   return local[0] + local[1] + local[2] + local[3];
// }
struct InnerFrame {
  ELC_Frame frame;
  long* local;
  long depth, i;
  long* total;
};
const ELC_Frame_variable inner_variables[] = {{"local", &kLong, nullptr, 4, offsetof(InnerFrame, local), 1},
                                              {"depth", &kLong, nullptr, 1, offsetof(InnerFrame, depth), 0},
                                              {"i", &kLong, nullptr, 1, offsetof(InnerFrame, i), 0},
                                              {"total", &kPointer, &kLong, 1, offsetof(InnerFrame, total), 0}};
const unsigned short inner_live[] = {1, 2, 3, 4, 0};
const unsigned short* const inner_labels[] = {inner_live, inner_live};
const char* const inner_callees[] = {nullptr, "inner"};
const ELC_Frame_function inner_function = {"inner", inner_variables, inner_labels, 2, inner_callees, nullptr};

long inner(long depth, long* total) {
  long i = 0, local[4] = {0, 0, 0, 0}, result;
  InnerFrame f;
  ELC_FRAME_ENTER(f.frame, inner_function);
  f.local = local;
  if (ELC_Reentering) switch (ELC_Reenter(&f.frame)) {
      case 1: i = f.i, depth = f.depth, total = f.total; goto at1;
      case 2:
        result = inner(0, nullptr);
        i = f.i, depth = f.depth, total = f.total;
        goto behind2;
      default: break;
    }
  for (i = 0; i < 4; ++i) {
    f.i = i, f.depth = depth, f.total = total;
  at1:
    ELC_FRAME_SITE(f.frame, 1);
    site.call();
    ELC_FRAME_BEHIND(f.frame);
    local[i] = depth * 10 + i;
    *total = *total * 3 + local[i];
    if (depth > 0 && i == 2) {
      f.i = i, f.depth = depth, f.total = total;
      ELC_FRAME_CALL(f.frame, 2);
      result = inner(depth - 1, total);
    behind2:
      ELC_FRAME_BEHIND(f.frame);
      local[i] += result;
    }
  }
  ELC_FRAME_LEAVE(f.frame);
  return local[0] + local[1] + local[2] + local[3];
}

// long program(void) {
//   long total = 1, sum = 0, round;
//   for (round = 0; round < 3; ++round) { sum += inner(round, &total); site(); }
//   return total * 31 + sum;
// }
struct ProgramFrame {
  ELC_Frame frame;
  long* total;
  long sum, round;
};
const ELC_Frame_variable program_variables[] = {{"total", &kLong, nullptr, 1, offsetof(ProgramFrame, total), 1},
                                                {"sum", &kLong, nullptr, 1, offsetof(ProgramFrame, sum), 0},
                                                {"round", &kLong, nullptr, 1, offsetof(ProgramFrame, round), 0}};
const unsigned short program_live[] = {1, 2, 3, 0};
const unsigned short* const program_labels[] = {program_live, program_live};
const int program_numbers[] = {7001, 7002};
const ELC_Frame_function program_function = {"program", program_variables, program_labels, 2, nullptr, program_numbers};

long program() {
  long total = 1, sum = 0, round = 0, result;
  ProgramFrame f;
  ELC_FRAME_ENTER(f.frame, program_function);
  f.total = &total;
  if (ELC_Reentering) switch (ELC_Reenter(&f.frame)) {
      case 1:
        result = inner(0, nullptr);
        sum = f.sum, round = f.round;
        goto behind1;
      case 2: sum = f.sum, round = f.round; goto at2;
      default: break;
    }
  for (round = 0; round < 3; ++round) {
    f.sum = sum, f.round = round;
    ELC_FRAME_CALL(f.frame, 1);
    result = inner(round, &total);
  behind1:
    ELC_FRAME_BEHIND(f.frame);
    sum += result;
    f.sum = sum, f.round = round;
  at2:
    ELC_FRAME_SITE(f.frame, 2);
    site.call();
    ELC_FRAME_BEHIND(f.frame);
  }
  ELC_FRAME_LEAVE(f.frame);
  return total * 31 + sum;
}

void begin(int countdown) {
  new_process();
  site = {};
  site.countdown = countdown;
}

// A function of its own that does what `step` says, as one of foreign code would call it.
template <class Step>
void in_frame(const ELC_Frame_function& function, Step step) {
  InnerFrame f;
  long local[4] = {};
  f.depth = f.i = 0, f.total = nullptr, f.local = local;
  ELC_FRAME_ENTER(f.frame, function);
  step(f.frame);
  ELC_FRAME_LEAVE(f.frame);
}

}  // namespace

TEST_CASE("described frames: a program is restarted from each of its sites, and from sites of the restarted one") {
  begin(-1);
  const long right = program();
  const int calls = site.calls;
  REQUIRE(calls > 20);
  for (int at = 0; at < calls; ++at) {
    CAPTURE(at);
    begin(at);
    REQUIRE(program() == right);
    REQUIRE(site.saved == "ok");
    for (int again = 0; again < 3; ++again) {
      restart();
      site.countdown = again;
      REQUIRE(program() == right);
      REQUIRE(restored == "ok");
      CHECK(ELC_Recovering() == 0);
      REQUIRE((site.saved == "ok" || site.countdown >= 0));
    }
  }
}

TEST_CASE("described frames: when the program runs on, nothing of them is registered") {
  begin(0);
  program();
  REQUIRE(site.saved == "ok");
  long global = 7;
  REQUIRE(ELC_Register("sum", &global, ELC_LONG, 1) == ELC_OK);
  REQUIRE(ELC_Leave() != ELC_OK);
  size_t registered = 0;
  elc::state::each_registered(&registered, [](void* n, const char*, const void*, uint64_t) { ++*static_cast<size_t*>(n); });
  CHECK(registered == 1);
  ELC_Unregister("sum");

  in_frame(inner_function, [](ELC_Frame& frame) {  // what is registered at a label is told all the same
    ELC_FRAME_SITE(frame, 1);
    size_t there = 0;
    elc::state::each_registered(&there, [](void* n, const char*, const void*, uint64_t) { ++*static_cast<size_t*>(n); });
    CHECK(there == 4);
    CHECK(ELC_Leave() != ELC_OK);
  });
}

TEST_CASE("described frames: a call without a label refuses lines") {
  begin(0);
  in_frame(program_function, [](ELC_Frame&) {  // whoever called it back went by no label
    in_frame(inner_function, [](ELC_Frame& frame) {
      ELC_FRAME_SITE(frame, 1);
      site.call();
    });
  });
  CHECK(contains(site.saved, "program() has called inner() without a label of its own"));

  begin(1);
  in_frame(inner_function, [](ELC_Frame& frame) {
    ELC_FRAME_SITE(frame, 1);
    site.call();
    CHECK(site.labelled);
    site.call();  // another one, at the same label
    CHECK(!site.labelled);
  });
  CHECK(contains(site.saved, "without a label of its own"));

  begin(0);
  in_frame(inner_function, [](ELC_Frame& frame) {
    ELC_FRAME_CALL(frame, 2);  // into code that has no frames, and calls MPI
    site.call();
  });
  CHECK(contains(site.saved, "without a label of its own"));
}

TEST_CASE("described frames: another function than that which is called at the label refuses lines") {
  // One between them, which has no frame, has called it.
  for (const char* name : {"inner", "file.c:inner", "outer", "file.c:outer"}) {
    CAPTURE(name);
    const ELC_Frame_function called = {name, inner_variables, inner_labels, 2, nullptr, nullptr};
    begin(0);
    in_frame(inner_function, [&](ELC_Frame& caller) {
      ELC_FRAME_CALL(caller, 2);
      in_frame(called, [](ELC_Frame& frame) {
        ELC_FRAME_SITE(frame, 1);
        site.call();
      });
    });
    if (strstr(name, "inner") != nullptr) CHECK(site.saved == "ok");
    else CHECK(contains(site.saved, (std::string("has called ") + name + "() without a label of its own").c_str()));
  }
}

TEST_CASE("described frames: behind them there is no line") {
  begin(-1);
  program();
  site.countdown = 0;
  site.call();
  CHECK(contains(site.saved, "outside of the functions that it has registered"));
}

TEST_CASE("described frames: frames of both ways refuse lines") {
  begin(0);
  ELC_Enter("by_hand");
  in_frame(inner_function, [](ELC_Frame& frame) {
    ELC_FRAME_SITE(frame, 1);
    site.call();
  });
  CHECK(contains(site.saved, "by_hand() has frames of ELC_ENTER, and inner() one of elc_frame.h"));
  ELC_Leave();
}

TEST_CASE("described frames: a program that differs from the saved one is refused") {
  begin(3);  // in inner(), which program() has called
  program();
  REQUIRE(site.saved == "ok");
  restart();
  if (setjmp(escape) == 0) inner(0, nullptr);
  CHECK(contains(gave_up, "has entered inner()"));

  restart();
  static const ELC_Frame_function shorter = {"program", program_variables, program_labels, 0, nullptr, nullptr};
  if (setjmp(escape) == 0) in_frame(shorter, [](ELC_Frame& frame) { ELC_Reenter(&frame); });
  CHECK(contains(gave_up, "program() has no label 7001"));

  // Another compilation has other calls in front of that one, or has it not.
  static const int later[] = {7000, 7001}, others[] = {7000, 7002};
  static const ELC_Frame_function with_more = {"program", program_variables, program_labels, 2, nullptr, later},
                                  without = {"program", program_variables, program_labels, 2, nullptr, others};
  static int label;
  restart();
  if (setjmp(escape) == 0) in_frame(with_more, [](ELC_Frame& frame) { label = ELC_Reenter(&frame); });
  CHECK(label == 2);
  CHECK(gave_up.empty());
  restart();
  if (setjmp(escape) == 0) in_frame(without, [](ELC_Frame& frame) { ELC_Reenter(&frame); });
  CHECK(contains(gave_up, "program() does not make the call in which the line was taken"));

  const auto comes_to_a_site = [](ELC_Frame& frame) {
    ELC_FRAME_SITE(frame, 1);
    site.call();
  };
  restart();  // does not ask where to go on
  if (setjmp(escape) == 0) in_frame(program_function, comes_to_a_site);
  CHECK(contains(gave_up, "has come to an MPI call before any ELC_ENTER"));

  restart();  // asks, and goes on elsewhere
  if (setjmp(escape) == 0)
    in_frame(program_function, [&](ELC_Frame& frame) {
      ELC_Reenter(&frame);
      comes_to_a_site(frame);
    });
  CHECK(contains(gave_up, "on its way to label"));

  restart();  // leaves the call at its label out, and makes another one of the same function
  if (setjmp(escape) == 0)
    in_frame(program_function, [](ELC_Frame& frame) {
      ELC_Reenter(&frame);
      ELC_FRAME_CALL(frame, 2);
      inner(0, nullptr);
    });
  CHECK(contains(gave_up, "on its way to label"));
  new_process();
}
