#include "state/unread.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>

namespace elc::state {

constexpr int kMost = 8;  // characters that can have been given back; the C library promises one

// The characters that were read since the place `from` are to be read again, where no seek can do it, and the marks are as
// they were: nothing failed, no end was met.
static void put_back(FILE* file, const int* read, int from, int n, bool failed) {
  if (!failed) clearerr(file);
  while (n-- > from) ungetc(read[n], file);
}

Result check_given_back(FILE* file) {
  if (feof(file) != 0) return Result();
  const bool failed = ferror(file) != 0;
  const off_t at = ftello(file);
  if (at < 0) return Result::error("the place in a stream to which ungetc() has given something back is not known: %s", strerror(errno));
  int first[kMost], n = 0, again = 0, different = 0;
  while (n < kMost && (first[n] = getc(file)) != EOF) ++n;
  if (fseeko(file, at, SEEK_SET) != 0) {
    const int cause = errno;
    put_back(file, first, 0, n, failed);
    return Result::error("a stream to which ungetc() has given something back cannot be set to its place: %s", strerror(cause));
  }
  for (; again < n; ++again) {
    const int c = getc(file);
    if (c == EOF) break;
    if (c != first[again]) different = again + 1;
  }
  if (again < n) different = n;  // it cannot be read again: what was read is all there is
  if (fseeko(file, at + different, SEEK_SET) != 0) put_back(file, first, different, again, failed);
  if (!failed && ferror(file) != 0) clearerr(file);
  if (different == 0) return Result();
  for (int i = different; i-- > 0;) ungetc(first[i], file);
  return Result::error("ungetc() has given a stream another character than the program has read: lines do not have it, until it is read again");
}

}  // namespace elc::state
