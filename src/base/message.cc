#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/write.h"

namespace elc {
namespace {
int message_rank = -1;
}

void set_message_rank(int rank) { message_rank = rank; }

void say(const char* format, ...) {
  char line[2048];
  const int begin = message_rank < 0 ? snprintf(line, sizeof line, "elc: ")
                                     : snprintf(line, sizeof line, "elc: rank %d: ", message_rank);
  char* const message = line + begin;
  const size_t room = sizeof line - static_cast<size_t>(begin) - 1;  // and one byte for the newline
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = vsnprintf(message, room + 1, format, arguments);
  // Only a long message needs memory: one may say that there is none.
  if (length > 0 && static_cast<size_t>(length) > room)
    strcpy(message, shorten(Text::vformat(format, again).view(), room).c_str());
  va_end(again);
  va_end(arguments);
  // Names may come from a file that anybody has made: a message is one line, and a terminal has nothing to obey.
  size_t size = strlen(line);
  hide_controls(line, size);
  line[size++] = '\n';
  static_cast<void>(write_unsignalled(STDERR_FILENO, line, size));  // nowhere to complain to
}

}  // namespace elc
