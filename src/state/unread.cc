#include "state/unread.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>

namespace elc::state {

constexpr int kMost = 8;  // characters that can have been given back; the C library promises one

Result check_given_back(FILE* file) {
  if (feof(file) != 0) return Result();
  const off_t at = ftello(file);
  if (at < 0) return Result::error("the place in a stream to which ungetc() has given something back is not known: %s", strerror(errno));
  int first[kMost], n = 0, different = 0;
  while (n < kMost && (first[n] = getc(file)) != EOF) ++n;
  if (fseeko(file, at, SEEK_SET) != 0) return Result::error("a stream to which ungetc() has given something back cannot be set to its place: %s", strerror(errno));
  for (int i = 0; i < n; ++i)
    if (getc(file) != first[i]) different = i + 1;
  fseeko(file, at + different, SEEK_SET);
  if (different == 0) return Result();
  for (int i = different; i-- > 0;) ungetc(first[i], file);
  return Result::error("ungetc() has given a stream another character than the program has read: lines do not have it, until it is read again");
}

}  // namespace elc::state
