// The standard input of a prepared program. What the program reads of it before a line it does not read again; what it has not
// read yet is in the line, as far as it is there. So `stdin` is a stream over bytes that this file has: a pipe and a terminal tell
// nobody what is still in a FILE.
//
// Of an input that had not come to its end when the line was taken, nobody knows the rest, and the standard input of a restart
// begins anew, or with what another run has left: a program that comes there is ended.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if ELC_HAVE_OWN_INPUT
#include <stdio_ext.h>
#endif

#include "base/attention.h"
#include "base/descriptor.h"
#include "elc.h"
#include "state/library.h"
#include "state/process.h"
#include "state/state.h"
#include "state/unread.h"

namespace elc::state {
namespace {

constexpr uint64_t kMostAhead = uint64_t{64} << 20;  // that has come and that the program has not read, in a line

struct Input {
  char* bytes = nullptr;    // a block: what has come
  uint64_t size = 0;
  uint64_t at = 0;          // of the next byte that the stream gets
  uint64_t at_in_line = 0;  // that the program gets
  int is_over = 0;          // no more comes
  int has_ended = 0;        // the program has been told so (feof)
  bool is_given_back = false;  // the program has called ungetc
  bool is_lost = false;     // what else comes is not what would have come
  FILE* stream = nullptr;
};

Input& input() {
  static Input& the_input = *make<Input>();
  return the_input;
}

// More of what there is. false: nothing more.
bool get_more(Input& in) {
  constexpr uint64_t kPiece = uint64_t{64} << 10;
  if (in.is_over != 0) return false;
  if (in.is_lost)
    give_up(Result::error("the program reads more of its standard input than had come when the line was taken, and what comes now is not "
                          "the rest of it: give it a file, or a pipe whose writer has ended by then"));
  char* const more = static_cast<char*>(in.bytes == nullptr ? ELC_new(ELC_UINT8, static_cast<size_t>(kPiece))
                                                            : ELC_resize(in.bytes, static_cast<size_t>(in.size + kPiece)));
  if (more == nullptr) return false;
  in.bytes = more;
  ssize_t got;
  do got = read(STDIN_FILENO, in.bytes + in.size, static_cast<size_t>(kPiece));
  while (got < 0 && errno == EINTR);
  if (got <= 0) in.is_over = 1;
  else in.size += static_cast<uint64_t>(got);
  return got > 0;
}

#if ELC_HAVE_OWN_INPUT
ssize_t read_input(void* cookie, char* to, size_t most) {
  Input& in = *static_cast<Input*>(cookie);
  if (in.at == in.size && !get_more(in)) return 0;
  const size_t got = most < in.size - in.at ? most : static_cast<size_t>(in.size - in.at);
  memcpy(to, in.bytes + in.at, got);
  in.at += got;
  return static_cast<ssize_t>(got);
}

int seek_input(void* cookie, off64_t* offset, int from) {
  Input& in = *static_cast<Input*>(cookie);
  if (from == SEEK_CUR) *offset += static_cast<off64_t>(in.at);
  if (from == SEEK_END || *offset < 0 || static_cast<uint64_t>(*offset) > in.size) {
    errno = ESPIPE;
    return -1;
  }
  in.at = static_cast<uint64_t>(*offset);
  return 0;
}

int close_input(void* cookie) {
  static_cast<Input*>(cookie)->stream = nullptr;
  return 0;
}
#endif

}  // namespace

void register_input() {
#if ELC_HAVE_OWN_INPUT
  Input& in = input();
  in.stream = (attention & kPassive) != 0 ? nullptr : fopencookie(&in, "r", {read_input, nullptr, seek_input, close_input});
  if (in.stream == nullptr) return;
  stdin = in.stream;
  const LibraryVariable all[] = {{"standard input", &in.bytes, ELC_POINTER},         {"size of the standard input", &in.size, ELC_UINT64},
                                 {"place in the standard input", &in.at_in_line, ELC_UINT64}, {"end of the standard input", &in.is_over, ELC_INT},
                                 {"end of the standard input was read", &in.has_ended, ELC_INT}};
  register_all(all);
#else
  process().unregistered = Text::copy("the standard input, which the program reads,");
#endif
}

void gives_back_input() { input().is_given_back = true; }

bool is_own_input(FILE* stream) { return stream != nullptr && stream == input().stream; }

FILE* reopen_input(const char* path) {
  Input& in = input();
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  const int error = errno;
  const bool is_there = file.open() && dup2(file.get(), STDIN_FILENO) >= 0;
  ELC_free(in.bytes);
  in.bytes = nullptr;
  in.size = in.at = in.at_in_line = 0;
  in.is_over = is_there ? 0 : 1;
  in.has_ended = 0;
  in.is_lost = false;
#if ELC_HAVE_OWN_INPUT
  __fpurge(in.stream);  // what was read of the one before
  fseeko(in.stream, 0, SEEK_SET);
  clearerr(in.stream);
#endif
  if (!is_there) errno = error;
  return is_there ? in.stream : nullptr;
}

Result take_input() {
  Input& in = input();
  if (in.stream == nullptr) return Result();
  if (stdin != in.stream) return Result::error("the program has set its standard input to another stream");
  if (in.is_given_back) ELC_TRY(check_given_back(in.stream));
  const off_t at = ftello(in.stream);
  if (at < 0) return Result::error("the place in the standard input is not known: %s", strerror(errno));
  in.has_ended = feof(in.stream) != 0 ? 1 : 0;
  pollfd waiting = {STDIN_FILENO, POLLIN, 0};
  while (in.is_over == 0 && !in.is_lost && poll(&waiting, 1, 0) > 0 && get_more(in))
    if (in.size - static_cast<uint64_t>(at) > kMostAhead) return Result::error("more of the standard input has come than a line can hold: the program has to read it first");
  in.at_in_line = static_cast<uint64_t>(at);
  return Result();
}

Result put_input() {
  Input& in = input();
  if (in.stream == nullptr) return Result();
  in.at = in.at_in_line;
  in.is_lost = in.is_over == 0;
  if (in.has_ended != 0 && getc(in.stream) != EOF) return Result::error("what the line has of the standard input is damaged");
  return Result();
}

}  // namespace elc::state
