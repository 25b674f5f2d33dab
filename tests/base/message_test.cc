// Messages: what a terminal would obey is not in them, and a long one keeps its reason.
#include "base/message.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/text.h"

using namespace elc;

namespace {

std::string hidden(std::string text) {
  hide_controls(text.data(), text.size());
  return text;
}

// What `say` writes.
std::string said(const char* format, const char* argument) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  say(format, argument);
  dup2(before, STDERR_FILENO);
  close(before);
  close(ends[1]);
  std::string all(10000, '\0');
  const ssize_t size = read(ends[0], all.data(), all.size());
  close(ends[0]);
  REQUIRE(size >= 0);
  all.resize(static_cast<size_t>(size));
  return all;
}

}  // namespace

TEST_CASE("control characters are hidden, in ASCII, as bytes and in UTF-8; letters stay") {
  CHECK(hidden("a\tb\x1b[2J\x7f") == "a?b?[2J?");
  CHECK(hidden("\x9b" "2J \x80\x9f") == "?2J ??");
  CHECK(hidden("\xc2\x9b" "2J \xc2\x80\xc2\x9f\xc2\xa0") == "??2J ????\xc2\xa0");
  const std::string letters = "f\xc3\xa9ld \xe2\x82\xac \xf0\x9f\x98\x80 \xc3\x9b";
  CHECK(hidden(letters) == letters);
  CHECK(hidden("\xe9t\xe9") == "\xe9t\xe9");  // not UTF-8, nor a control character
  CHECK(hidden("\xe2\x82") == "\xe2?");       // cut short
  CHECK(hidden("\xc0\x9b") == "\xc0?");       // a control character in too many bytes
  CHECK(hidden("\xe0\x82\x9b") == "\xe0??");
}

TEST_CASE("a message of any length is one line with its beginning and its reason") {
  CHECK(said("%s", "two\nlines") == "elc: two?lines\n");
  for (const size_t length : {2000u, 2030u, 2035u, 2042u, 2043u, 2050u, 4096u, 9000u}) {
    const std::string path(length, 'p');
    const std::string line = said("cannot open %s: no space; free some", path.c_str());
    CHECK(line.find("elc: cannot open ppp") == 0);
    CHECK(line.find("ppp: no space; free some\n") != std::string::npos);
    CHECK(line.find('\n') == line.size() - 1);
    CHECK(line.size() <= 2048);
  }
}
