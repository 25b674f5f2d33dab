// Failures: what has caused one goes with it, through what is said around it.
#include "base/result.h"

#include <doctest/doctest.h>
#include <errno.h>
#include <string.h>

using namespace elc;

TEST_CASE("a failure of the system is told apart from what the system has found") {
  CHECK(Result().cause() == 0);
  CHECK_FALSE(Result::error("%d of %d", 1, 2).system_failed());
  CHECK(Result::caused(EIO, "cannot read").system_failed());
  CHECK_FALSE(Result::caused(ENOENT, "there is none").system_failed());
  CHECK(no_memory(1, "this").system_failed());
}

TEST_CASE("what nobody is going to change by waiting does not pass") {
  CHECK(Result::caused(EMFILE, "cannot open").may_pass());
  CHECK(no_memory(1, "this").may_pass());
  CHECK_FALSE(Result::caused(EACCES, "cannot open").may_pass());
  CHECK_FALSE(Result::caused(ENOENT, "there is none").may_pass());
  CHECK_FALSE(Result::error("damaged").may_pass());
}

TEST_CASE("what is said around a failure has its cause") {
  const Result inner = Result::caused(ESTALE, "cannot read %s", "x");
  const Result outer = Result::caused(inner.cause(), "variable: %s", inner.message());
  CHECK(outer.cause() == ESTALE);
  CHECK(strcmp(outer.message(), "variable: cannot read x") == 0);
}
