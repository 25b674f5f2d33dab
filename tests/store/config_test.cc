// The environment variables, and the interval.
#include "base/config.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <string>

#include "base/interval.h"

using namespace elc;

namespace {

std::map<std::string, std::string> environment;

char* get(const char* name) {
  const auto at = environment.find(name);
  return at == environment.end() ? nullptr : at->second.data();
}

std::string problem(const std::string& name, const std::string& value) {
  environment = {{name, value}};
  Config config;
  const Result status = read_config(&config, get);
  return status.ok() ? "" : status.message();
}

}  // namespace

TEST_CASE("nothing set: the library is passive and the rest has its defaults") {
  environment = {{"ELC_EVERY", ""}};
  Config config;
  REQUIRE(read_config(&config, get).ok());
  CHECK(config.dir.empty());
  CHECK(config.timer == Timer::kOff);
  CHECK(config.mtbf == 86400);
  CHECK(config.keep == 2);
  CHECK(config.restart == Restart::kNewest);
  CHECK(config.signal == 0);
  CHECK(config.drain == Drain::kDrain);
  CHECK(config.max_transit == UINT64_MAX);
  CHECK(config.trust == Trust::kSelf);
  CHECK(config.readers == Readers::kOwner);
  CHECK(config.late == 60);
  CHECK(!config.check);
  CHECK(config.verbose == 0);
}

TEST_CASE("everything set") {
  environment = {{"ELC_DIR", "/scratch/lines"},
                 {"ELC_EVERY", "2.5m"},
                 {"ELC_MTBF", "7d"},
                 {"ELC_KEEP", "5"},
                 {"ELC_RESTART", "12"},
                 {"ELC_SIGNAL", "SIGUSR2"},
                 {"ELC_DRAIN", "wait"},
                 {"ELC_MAX_TRANSIT", "64M"},
                 {"ELC_TRUST", "any"},
                 {"ELC_READERS", "group"},
                 {"ELC_BACKGROUND", "fork"},
                 {"ELC_HUGE_PAGES", "no"},
                 {"ELC_EARLY_SENDS", "yes"},
                 {"ELC_COMPRESS", "6,4"},
                 {"ELC_AGGREGATE", "16"},
                 {"ELC_INCREMENTAL", "5"},
                 {"ELC_STRICT", "1"},
                 {"ELC_CHECK", "1"},
                 {"ELC_VERBOSE", "2"}};
  Config config;
  const Result status = read_config(&config, get);
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(config.dir.view() == "/scratch/lines");
  CHECK(config.timer == Timer::kFixed);
  CHECK(config.every == 150);
  CHECK(config.mtbf == 7 * 86400);
  CHECK(config.keep == 5);
  CHECK(config.restart == Restart::kLine);
  CHECK(config.restart_line == 12);
  CHECK(config.signal == SIGUSR2);
  CHECK(config.drain == Drain::kWait);
  CHECK(config.max_transit == 64u << 20);
  CHECK(config.trust == Trust::kAny);
  CHECK(config.readers == Readers::kGroup);
  CHECK(config.background == Background::kFork);
  CHECK(!config.huge_pages);
  CHECK(config.early_sends);
  CHECK(config.compress == 6);
  CHECK(config.compress_threads == 4);
  CHECK(config.aggregate == 16);
  CHECK(config.incremental == 5);
  CHECK(config.strict);
  CHECK(config.check);
  CHECK(config.late == 300);
  CHECK(config.verbose == 2);
}

TEST_CASE("a relative directory stays what it was when the program changes its own") {
  environment = {{"ELC_DIR", "lines"}};
  char here[4096];
  REQUIRE(getcwd(here, sizeof here) != nullptr);
  Config config;
  REQUIRE(read_config(&config, get).ok());
  CHECK(std::string(config.dir.c_str()) == std::string(here) + "/lines");
}

TEST_CASE("a value that is not allowed is named with its variable and what is allowed") {
  for (const auto& [name, bad, hint] : {std::tuple{"ELC_EVERY", "often", "auto"},
                                        {"ELC_EVERY", "-1", "auto"},
                                        {"ELC_EVERY", "1,5", "auto"},
                                        {"ELC_EVERY", "1e3", "seconds"},
                                        {"ELC_EVERY", ".", "seconds"},
                                        {"ELC_MTBF", "0", "12h"},
                                        {"ELC_MTBF", "1w", "12h"},
                                        {"ELC_KEEP", "0", "at least 1"},
                                        {"ELC_KEEP", "99999999999", "at least 1"},
                                        {"ELC_RESTART", "yes", "number"},
                                        {"ELC_RESTART", "0", "number"},
                                        {"ELC_SIGNAL", "KILL", "USR1"},
                                        {"ELC_FILE_ROOTS", "data", "absolute"},
                                        {"ELC_FILE_ROOTS", "/a::b", "absolute"},
                                        {"ELC_SIGNAL", "SEGV", "USR1"},
                                        {"ELC_SIGNAL", "0", "USR1"},
                                        {"ELC_SIGNAL", "32", "USR1"},
                                        {"ELC_SIGNAL", "127", "USR1"},
                                        {"ELC_SIGNAL", "99999", "USR1"},
                                        {"ELC_DRAIN", "flush", "wait"},
                                        {"ELC_MAX_TRANSIT", "64X", "64M"},
                                        {"ELC_MAX_TRANSIT", "99999999999999T", "64M"},
                                        {"ELC_TRUST", "root", "self or any"},
                                        {"ELC_READERS", "0644", "group"},
                                        {"ELC_BACKGROUND", "thread", "copy"},
                                        {"ELC_HUGE_PAGES", "always", "yes or no"},
                                        {"ELC_EARLY_SENDS", "1", "yes or no"},
                                        {"ELC_AGGREGATE", "0", "node"},
                                        {"ELC_AGGREGATE", "rack", "node"},
                                        {"ELC_AGGREGATE", "4294967296", "node"},
                                        {"ELC_COMPRESS", "0", "1,4"},
                                        {"ELC_COMPRESS", "10", "1,4"},
                                        {"ELC_COMPRESS", "1,", "1,4"},
                                        {"ELC_COMPRESS", "1,0", "1,4"},
                                        {"ELC_COMPRESS", "1,13", "1,4"},
                                        {"ELC_CHECK", "2", "0 or 1"},
                                        {"ELC_STRICT", "yes", "0 or 1"},
                                        {"ELC_INCREMENTAL", "0", "1 (each)"},
                                        {"ELC_INCREMENTAL", "257", "256"},
                                        {"ELC_VERBOSE", "3", "0 (problems)"}}) {
    const std::string text = problem(name, bad);
    CAPTURE(text);
    CHECK(text.find(std::string(name) + "=" + bad) == 0);
    CHECK(text.find(hint) != std::string::npos);
  }
}

TEST_CASE("a name that is nearly that of a variable is told, others are not") {
  const char* const right[] = {"PATH=/bin", "ELC_DIR=lines", "ELC_EVERY=5", "ELC_HOME=/opt", "ELC_DOCTOR=here", "ELC_=", "ELC_CC=gcc", "LANG", "XELC_EVRY=1", nullptr};
  CHECK(misspelt_variables(right).empty());
  CHECK(misspelt_variables(nullptr).empty());
  const char* const wrong[] = {"ELC_EVRY=5", "ELC_DIR=lines", "ELC_DIRS=x", "ELC_INCREMENTALS=4", nullptr};
  CHECK(misspelt_variables(wrong).view() ==
        "ELC_EVRY is no variable of libELC: is ELC_EVERY meant?; ELC_DIRS is no variable of libELC: is ELC_DIR meant?; ELC_INCREMENTALS is no variable of libELC: is ELC_INCREMENTAL meant?");
}

TEST_CASE("signals by number: those that have a name here, and those for programs") {
  for (const int never : {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGCHLD, SIGPIPE})
    CHECK(problem("ELC_SIGNAL", std::to_string(never)).find("ELC_SIGNAL=") == 0);
  for (const int allowed : {SIGUSR1, SIGTERM, SIGXCPU, SIGRTMIN, SIGRTMAX}) {
    int value = 0;
    CHECK(parse_signal(std::to_string(allowed).c_str(), &value));
    CHECK(value == allowed);
  }
}

TEST_CASE("seconds") {
  double value = -1;
  for (const auto& given : {std::pair{"0", 0.0},
                            {"30", 30.0},
                            {"0.25", 0.25},
                            {".5", 0.5},
                            {"2.", 2.0},
                            {"90s", 90.0},
                            {"15m", 900.0},
                            {"1.5h", 5400.0},
                            {"1d", 86400.0}}) {
    const char* text = given.first;
    CAPTURE(text);
    REQUIRE(parse_seconds(text, &value));
    CHECK(value == doctest::Approx(given.second));
  }
}

TEST_CASE("the optimal interval is the thesis's formula") {
  for (const double cost : {1e-6, 0.004, 1.0, 4.0, 240.0, 1e5})
    for (const double mtbf : {1.0, 60.0, 86400.0, 3e8})
      CHECK(optimal_interval(cost, mtbf) == doctest::Approx(std::sqrt(2 * cost * mtbf)).epsilon(1e-12));
  CHECK(optimal_interval(0, 86400) == 0);
}

TEST_CASE("the interval that the timer takes") {
  Config config;
  CHECK(interval(config, 1) == 0);
  config.timer = Timer::kFixed;
  config.every = 0.5;
  CHECK(interval(config, 100) == 0.5);
  config.timer = Timer::kAuto;
  CHECK(interval(config, 2) == doctest::Approx(std::sqrt(2 * 2 * 86400.0)));
  CHECK(interval(config, -1) == 60);  // the first comes early, to measure
  CHECK(interval(config, 0) == 1);
  config.mtbf = 30;
  CHECK(interval(config, -1) == 15);
}

TEST_CASE("bytes") {
  uint64_t value = 0;
  for (const auto& given : {std::pair{"0", uint64_t{0}},
                            {"1000", uint64_t{1000}},
                            {"4k", uint64_t{4096}},
                            {"64M", uint64_t{64} << 20},
                            {"2G", uint64_t{2} << 30},
                            {"16777215T", uint64_t{16777215} << 40}}) {
    const char* text = given.first;
    CAPTURE(text);
    REQUIRE(parse_bytes(text, &value));
    CHECK(value == given.second);
  }
  for (const char* text : {"", "K", "-1", "1.5M", "16777216T", "4KB"}) {
    CAPTURE(text);
    CHECK(!parse_bytes(text, &value));
  }
}
