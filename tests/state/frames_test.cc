// Frames, labels and re-entry, with a "site" in place of a labelled MPI call.
#include <setjmp.h>

#include "helper.h"

namespace {

// What happens in the next labelled call.
struct Site {
  enum { kNothing, kSave } next = kNothing;
  int countdown = 0;  // labelled calls until it happens
  Line line;
  std::string failure;
  int calls = 0;

  void call() {
    const bool labelled = elc::state::take_label();
    ++calls;
    if (!labelled || next != kSave || countdown-- > 0) return;
    failure = text(line.save());
    next = kNothing;
  }
  void arrive() {
    failure = text(line.restore());
    elc::state::set_recovering(false);
  }
} site;

// A program of three functions; its result depends on everything.
long inner(int depth, long* total) {
  int i = 0;
  long local[4] = {0, 0, 0, 0};
  ELC_ENTER();
  ELC_VAR(depth), ELC_PTR(total), ELC_VAR(i), ELC_VAR(local);
  ELC_RESUME();
  for (i = 0; i < 4; ++i) {
    ELC_AT(1);
    site.call();
    local[i] = depth * 10 + i;
    *total = *total * 3 + local[i];
    if (depth > 0 && i == 2) {
      ELC_AT(2);
      local[i] += inner(depth - 1, total);
    }
  }
  ELC_END();
  ELC_Leave();
  return local[0] + local[1] + local[2] + local[3];
}

long program() {
  long total = 1, sum = 0;
  int round = 0;
  ELC_ENTER();
  ELC_VAR(total), ELC_VAR(sum), ELC_VAR(round);
  ELC_RESUME();
  for (round = 0; round < 3; ++round) {
    ELC_AT(7);
    sum += inner(round, &total);
    ELC_AT(8);
    site.call();
  }
  ELC_END();
  ELC_Leave();
  return total * 31 + sum;
}

// Arrays of functions that grow, in each of some calls.
long growing(int depth) {
  long* sums = nullptr;
  int count = 0, i = 0;
  long sum = 0;
  ELC_ENTER();
  ELC_VAR(depth), ELC_VAR(i), ELC_VAR(sum);
  ELC_ALLOCATED(sums, count);
  ELC_RESUME();
  for (i = 0; i < 5; ++i) {
    ELC_AT(1);
    site.call();
    sums = static_cast<long*>(realloc(sums, static_cast<size_t>(count + 1) * sizeof *sums));
    sums[count++] = 7 * i + depth;
    if (depth > 0 && i == 3) {
      ELC_AT(2);
      sum += growing(depth - 1);
    }
  }
  ELC_END();
  for (i = 0; i < count; ++i) sum = sum * 3 + sums[i];
  ELC_Leave();
  free(sums);
  return sum;
}

std::string gave_up;
jmp_buf escape;
void give_up(const elc::Result& why) {
  gave_up = why.message();
  longjmp(escape, 1);
}

// Makes the process one that restarts from `line`.
void restart(Line& line) {
  new_process();
  elc::state::give_up_hook = give_up;
  elc::state::arrived_hook = [] { site.arrive(); };
  gave_up.clear();
  site.failure.clear();
  elc::format::Reader reader;
  REQUIRE_OK(line.open(&reader));
  elc::state::set_recovering(true);
  REQUIRE_OK(elc::state::load_frames(reader));
}

}  // namespace

TEST_CASE("a program is restarted from each of its sites") {
  new_process();
  site = {};
  const long right = program();
  const int calls = site.calls;
  REQUIRE(calls > 20);
  for (int at = 0; at < calls; ++at) {
    CAPTURE(at);
    new_process();
    site = {};
    site.next = Site::kSave, site.countdown = at;
    REQUIRE(program() == right);
    REQUIRE(site.failure == "ok");
    restart(site.line);
    CHECK(ELC_Recovering() == 1);
    REQUIRE(program() == right);
    REQUIRE(site.failure == "ok");
    CHECK(ELC_Recovering() == 0);
  }
}

TEST_CASE("arrays of functions that grow have the length of the line") {
  new_process();
  site = {};
  const long right = growing(3);
  const int calls = site.calls;
  for (int at = 0; at < calls; ++at) {
    CAPTURE(at);
    new_process();
    site = {};
    site.next = Site::kSave, site.countdown = at;
    REQUIRE(growing(3) == right);
    REQUIRE(site.failure == "ok");
    restart(site.line);
    REQUIRE(growing(3) == right);
    REQUIRE(site.failure == "ok");
  }
}

TEST_CASE("the label to go on at may be asked for again, and has to be come to") {
  new_process();
  int n = 5;
  ELC_Enter("main");
  ELC_VAR(n);
  ELC_Set_label(-3);
  elc::state::take_label();
  site = {};
  REQUIRE_OK(site.line.save());
  n = 0;
  restart(site.line);
  ELC_Enter("main");
  ELC_VAR(n);
  CHECK(ELC_Resume_label() == -3);
  CHECK(n == 5);
  CHECK(ELC_Resume_label() == -3);
  n = 6;
  ELC_Set_label(-3);
  CHECK(ELC_Resume_label() == 0);
  CHECK(n == 6);
  ELC_Set_label(-4);

  restart(site.line);
  ELC_Enter("main");
  ELC_VAR(n);
  CHECK(ELC_Resume_label() == -3);
  if (setjmp(escape) == 0) ELC_Set_label(-2);
  CHECK(contains(gave_up, "label -2 of main(), but the line was taken at label -3"));
}

TEST_CASE("a line of a run that was restarted") {
  new_process();
  site = {};
  const long right = program();
  new_process();
  site = {};
  site.next = Site::kSave, site.countdown = 3;
  program();
  for (int again = 0; again < 4; ++again) {
    restart(site.line);
    site.next = Site::kSave, site.countdown = 4;
    REQUIRE(program() == right);
    REQUIRE(site.failure == "ok");
  }
}

TEST_CASE("recovery is known from the first question, and asked for once") {
  new_process();
  static int asked = 0;
  elc::state::recovering_hook = [] { return ++asked, true; };
  CHECK(ELC_Recovering() == 1);
  CHECK(ELC_Recovering() == 1);
  CHECK(asked == 1);
  new_process();
  CHECK(ELC_Recovering() == 0);
  CHECK(ELC_Resume_label() == 0);
}

namespace {

void other_function() { ELC_ENTER(); }
template <class F>
std::string run_until_it_gives_up(F function) {
  if (setjmp(escape) == 0) function();
  return gave_up;
}

}  // namespace

TEST_CASE("a program that differs from the saved one is refused where it differs") {
  new_process();
  site = {};
  site.next = Site::kSave, site.countdown = 0;
  program();
  REQUIRE(site.failure == "ok");

  restart(site.line);
  std::string why = run_until_it_gives_up([] { other_function(); });
  CHECK(contains(why, "other_function()"));
  CHECK(contains(why, "program()"));

  restart(site.line);
  why = run_until_it_gives_up([] {
    ELC_Enter("program");
    ELC_Set_label(7);
    other_function();
  });
  CHECK(contains(why, "other_function() from label 7 of program()"));
  CHECK(contains(why, "inner()"));

  restart(site.line);  // does not jump
  why = run_until_it_gives_up([] {
    ELC_Enter("program");
    ELC_Set_label(9);
  });
  CHECK(contains(why, "label 9 of program() on its way to label 1 of inner()"));

  restart(site.line);
  why = run_until_it_gives_up([] {
    ELC_Enter("program");
    ELC_Leave();
  });
  CHECK(contains(why, "left program() without coming to label 7"));

  restart(site.line);  // does not jump in the innermost function, whose data would have to be back before
  why = run_until_it_gives_up([] {
    ELC_Enter("program");
    ELC_Enter("inner");
    ELC_Set_label(1);
  });
  CHECK(contains(why, "label 1 of inner(), where the line was taken, but not by an ELC_RESUME"));

  restart(site.line);
  why = run_until_it_gives_up([] {
    ELC_Enter("program");
    ELC_Enter("inner");
    ELC_Enter("deeper");
  });
  CHECK(contains(why, "deeper() beyond label 1 of inner()"));

  new_process();  // main has entered its frame before MPI_Init
  elc::format::Reader reader;
  REQUIRE_OK(site.line.open(&reader));
  ELC_Enter("main");
  why = text(elc::state::load_frames(reader));
  CHECK(contains(why, "main()"));
  CHECK(contains(why, "program()"));
}

TEST_CASE("a line is refused where a restart could not come back") {
  new_process();
  Line line;
  ELC_Enter("main");
  const auto save_at_site = [&line] {
    elc::state::take_label();
    return text(line.save());
  };
  CHECK(contains(save_at_site(), "main() has come to a site without a label"));
  ELC_Enter("solve");  // no label before the call
  ELC_Set_label(1);
  CHECK(contains(save_at_site(), "main() has called solve() without a label"));
  ELC_Leave();
  ELC_Set_label(3);
  REQUIRE(save_at_site() == "ok");
  CHECK(contains(save_at_site(), "main(), after the call at its label 3, has come to a site without a label"));
  ELC_Enter("solve");
  ELC_Set_label(1);
  CHECK(contains(save_at_site(), "main(), after the call at its label 3, has called solve() without a label"));
  ELC_Leave();
  ELC_Set_label(4);
  ELC_Enter("solve");
  ELC_Set_label(1);
  REQUIRE(save_at_site() == "ok");
  CHECK(ELC_Leave() == ELC_OK);
  CHECK(contains(save_at_site(), "main(), after the call at its label 4, has come to a site without a label"));
  ELC_Enter("solve");  // a second call after one label
  ELC_Set_label(1);
  CHECK(contains(save_at_site(), "main(), after the call at its label 4, has called solve() without a label"));
  CHECK(ELC_Leave() == ELC_OK);
  ELC_Set_label(5);
  elc::state::restores_in_place();
  CHECK(contains(save_at_site(), "either restored in place or entered again"));
  CHECK(ELC_Leave() == ELC_OK);
  CHECK(ELC_Leave() == ELC_ERROR);
  CHECK(save_at_site() == "ok");
  new_process();
  ELC_Enter("main");
  ELC_Leave();
  CHECK(contains(save_at_site(), "outside of the functions that it has registered"));
}

TEST_CASE("labels belong to their frame") {
  new_process();
  ELC_Set_label(1);  // outside of any frame: no site
  CHECK_FALSE(elc::state::take_label());
  ELC_Enter("main");
  ELC_Set_label(1);
  CHECK(elc::state::take_label());
  CHECK_FALSE(elc::state::take_label());
  ELC_Set_label(1);
  ELC_Enter("inner");
  CHECK_FALSE(elc::state::take_label());
  ELC_Leave();
  CHECK_FALSE(elc::state::take_label());
}

TEST_CASE("names of frames are copied, however many") {
  new_process();
  int values[400];
  char name[300];
  for (int frame = 0; frame < 20; ++frame) {
    snprintf(name, sizeof name, "function_%d_%0200d", frame, frame);
    ELC_Enter(name);
    ELC_Set_label(frame + 1);
    for (int i = 0; i < 20; ++i) {
      values[frame * 20 + i] = frame * i;
      snprintf(name, sizeof name, "variable_%d_%0250d", i, i);
      REQUIRE(ELC_Register(name, &values[frame * 20 + i], ELC_INT, 1) == ELC_OK);
    }
  }
  memset(name, 0, sizeof name);
  elc::state::take_label();
  Line line;
  REQUIRE_OK(line.save());
  memset(values, 0, sizeof values);
  REQUIRE_OK(line.restore());
  CHECK(values[19 * 20 + 19] == 19 * 19);
}
