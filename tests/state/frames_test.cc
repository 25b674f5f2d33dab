// Frames, labels and re-entry, with a "site" in place of a labelled MPI call.
#include <setjmp.h>

#include "helper.h"
#include "state/process.h"

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

// ---- What is only noted -----------------------------------------------------------------------

namespace {

// Functions that call each other at random, with variables that are noted or registered at once, whose lines are saved, and
// which are all there, each in its frame.
struct Notes {
  explicit Notes(uint64_t seed) : random{seed} {}

  struct Variable {
    std::string name;
    const void* address;
    uint32_t dimensions;
  };
  Random random;
  std::vector<std::vector<Variable>> frames;  // what there should be
  int left = 200;

  void check() {
    elc::state::Process& p = elc::state::process();
    REQUIRE_OK(elc::state::register_noted(p));
    elc::state::close_up(p);
    REQUIRE(p.frames.size() == frames.size());
    size_t at = 0;
    for (size_t i = 0; i < frames.size(); ++i) {
      REQUIRE(std::string(p.frames[i].function) == "call");
      REQUIRE(p.frames[i].first_region == at);
      for (const Variable& v : frames[i]) {
        REQUIRE(at < p.locals.size());
        const elc::state::Region& region = p.locals[at++];
        REQUIRE(region.name == v.name);
        REQUIRE(region.address == v.address);
        REQUIRE(region.dimensions == v.dimensions);
        if (v.dimensions != 0) REQUIRE(region.extent(0) == 3);
        if (v.dimensions == 3) REQUIRE((region.extent(1) == 2 && region.extent(2) == 4));
        REQUIRE(elc::state::find_variable(p, i + 1, region.name) == &region);
      }
    }
    REQUIRE(at == p.locals.size());
  }

  void call() {
    int a = 0, *b = &a, at_once[2] = {};
    double c[3][2] = {}, d[3][2][4] = {};
    long many[64] = {};
    if (random.below(2) == 0) {
      ELC_ENTER();
    } else {
      char name[8] = "call";
      ELC_Enter(name);
      name[0] = 'x';
    }
    frames.emplace_back();
    std::vector<Variable> here;
    const auto add = [&](const char* name, const void* address, uint32_t dimensions) {
      frames.back().push_back({name, address, dimensions});
    };
    ELC_VAR(a), add("a", &a, 0);
    if (random.below(2) == 0) ELC_PTR(b), add("b", &b, 0);
    if (random.below(3) == 0) ELC_VAR(c), add("c", c, 2);
    if (random.below(4) == 0) {
      char name[16] = "at once";
      REQUIRE(ELC_Register(name, at_once, ELC_INT, 2) == ELC_OK);
      name[0] = 'x';
      add("at once", at_once, 0);
    }
    if (random.below(3) == 0) ELC_VAR(d), add("d", d, 3);
    if (random.below(8) == 0) {
      static const char* const names[64] = {
          "0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21",
          "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36", "37", "38", "39", "40", "41", "42", "43",
          "44", "45", "46", "47", "48", "49", "50", "51", "52", "53", "54", "55", "56", "57", "58", "59", "60", "61", "62", "63"};
      for (int i = 0; i < 64; ++i) ELC_Note_local(names[i], &many[i], ELC_LONG, 1, ELC_NO_TYPE), add(names[i], &many[i], 0);
    }
    if (random.below(8) == 0) {
      REQUIRE(ELC_Unregister("a") == ELC_OK);
      frames.back().erase(frames.back().begin());
    }
    while (left-- > 0 && random.below(5) != 0) {
      if (random.below(6) == 0) check();
      call();
    }
    if (random.below(6) == 0) check();
    frames.pop_back();
    ELC_Leave();
  }
};

}  // namespace

TEST_CASE("variables of frames that are only noted are those that were registered at once") {
  Random seeds{test_seed("notes")};
  for (int i = 0; i < 25; ++i) {
    new_process();
    Notes notes(seeds.next());
    notes.call();
    CHECK(elc::state::process().locals.empty());
    CHECK(elc::state::noted_variables() == 0);
    int global = 0;
    ELC_VAR(global);
    CHECK(elc::state::process().globals.size() == 1);
  }
}

TEST_CASE("a variable that is noted again and again is one") {
  new_process();
  int again[3] = {1, 2, 3};
  ELC_ENTER();
  for (int i = 0; i < 3000; ++i) ELC_VAR(again);
  REQUIRE_OK(elc::state::register_noted(elc::state::process()));
  CHECK(elc::state::process().locals.size() == 1);
  ELC_VAR(again);
  REQUIRE_OK(elc::state::register_noted(elc::state::process()));
  CHECK(elc::state::process().locals.size() == 1);
  ELC_Leave();
}

TEST_CASE("a variable that was noted and cannot be registered: no line is taken, and it is said why") {
  new_process();
  struct Both {
    long whole[2];
  } both = {};
  ELC_ENTER();
  ELC_VAR(both.whole);
  ELC_Note_local("part", &both.whole[1], ELC_LONG, 1, ELC_NO_TYPE);
  Line line;
  CHECK(contains(text(line.save()), "'part' overlaps 'both.whole'"));
  CHECK(contains(text(line.save()), "'part' of "));
  CHECK(contains(text(line.save()), "could not be registered"));
  ELC_Leave();
}
