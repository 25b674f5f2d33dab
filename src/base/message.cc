#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

namespace elc {
namespace {
int message_rank = -1;
}

void set_message_rank(int rank) { message_rank = rank; }

void say(const char* format, ...) {
  char line[2048];
  const int room = static_cast<int>(sizeof line) - 1;  // one byte for the newline
  int length = message_rank < 0 ? snprintf(line, sizeof line, "elc: ")
                                : snprintf(line, sizeof line, "elc: rank %d: ", message_rank);
  va_list arguments;
  va_start(arguments, format);
  const int added = vsnprintf(line + length, sizeof line - static_cast<size_t>(length), format, arguments);
  va_end(arguments);
  if (added > 0) length += added;
  if (length > room) length = room;
  // Names may come from a file that anybody has made: a message is one line, and a terminal has nothing to obey.
  for (int i = 0; i < length; ++i)
    if (static_cast<unsigned char>(line[i]) < 0x20 || line[i] == 0x7f) line[i] = '?';
  line[length++] = '\n';
  if (write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) return;  // nowhere to complain to
}

}  // namespace elc
