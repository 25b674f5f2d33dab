// Terminal attributes. POSIX says which flags and control characters there are, every system where they
// are: so they are saved in the order of these tables, which is part of the file format.
#include <errno.h>
#include <stddef.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "state/streams.h"

namespace elc::state {
namespace {

struct Flag {
  tcflag_t termios::*field;
  tcflag_t bits;
};

// Single flags; bit i of the saved word. Add at the end only.
const Flag kFlags[] = {
    {&termios::c_iflag, BRKINT}, {&termios::c_iflag, ICRNL},  {&termios::c_iflag, IGNBRK},
    {&termios::c_iflag, IGNCR},  {&termios::c_iflag, IGNPAR}, {&termios::c_iflag, INLCR},
    {&termios::c_iflag, INPCK},  {&termios::c_iflag, ISTRIP}, {&termios::c_iflag, IXANY},
    {&termios::c_iflag, IXOFF},  {&termios::c_iflag, IXON},   {&termios::c_iflag, PARMRK},
    {&termios::c_oflag, OPOST},  {&termios::c_cflag, CSTOPB}, {&termios::c_cflag, CREAD},
    {&termios::c_cflag, PARENB}, {&termios::c_cflag, PARODD}, {&termios::c_cflag, HUPCL},
    {&termios::c_cflag, CLOCAL}, {&termios::c_lflag, ECHO},   {&termios::c_lflag, ECHOE},
    {&termios::c_lflag, ECHOK},  {&termios::c_lflag, ECHONL}, {&termios::c_lflag, ICANON},
    {&termios::c_lflag, IEXTEN}, {&termios::c_lflag, ISIG},   {&termios::c_lflag, NOFLSH},
    {&termios::c_lflag, TOSTOP},
};
// Two characters share VMIN's and VTIME's places with VEOF's and VEOL's on some systems; they come last, and
// are set last, only where the terminal is not in canonical mode.
const int kCharacters[] = {VEOF, VEOL, VERASE, VINTR, VKILL, VQUIT, VSTART, VSTOP, VSUSP, VMIN, VTIME};
constexpr size_t kCharacterCount = sizeof kCharacters / sizeof kCharacters[0];
constexpr size_t kCanonicalCharacters = 9;
static_assert(kCharacterCount == sizeof SavedTerminal::characters / sizeof(uint32_t));
// A character that is switched off has another value on every system.
constexpr cc_t kDisabled = _POSIX_VDISABLE;
constexpr uint32_t kSavedDisabled = 256;

// A background process that sets a terminal would be stopped.
bool is_ours(int fd) { return tcgetpgrp(fd) == getpgrp(); }

void encode(Encoder& out, const termios& attributes) {
  uint64_t flags = 0;
  for (size_t i = 0; i < sizeof kFlags / sizeof kFlags[0]; ++i)
    if ((attributes.*kFlags[i].field & kFlags[i].bits) != 0) flags |= uint64_t{1} << i;
  out.u64(flags);
  for (const int c : kCharacters)
    out.u32(attributes.c_cc[c] == kDisabled ? kSavedDisabled : attributes.c_cc[c]);
}

void change(const SavedTerminal& saved, termios* attributes) {
  for (size_t i = 0; i < sizeof kFlags / sizeof kFlags[0]; ++i) {
    tcflag_t& field = attributes->*kFlags[i].field;
    field = (saved.flags >> i & 1) != 0 ? field | kFlags[i].bits : field & ~kFlags[i].bits;
  }
  const bool canonical = (attributes->c_lflag & ICANON) != 0;
  for (size_t i = 0; i < kCharacterCount; ++i) {
    const uint32_t c = saved.characters[i];
    if (VMIN == VEOF && canonical == (i >= kCanonicalCharacters)) continue;
    attributes->c_cc[kCharacters[i]] = c == kSavedDisabled ? kDisabled : static_cast<cc_t>(c);
  }
}

}  // namespace

void save_terminals(Encoder& out) {
  for (int fd = 0; fd < 3; ++fd) {
    termios attributes;
    const bool terminal = isatty(fd) == 1 && tcgetattr(fd, &attributes) == 0;
    out.boolean(terminal);
    if (!terminal) continue;
    char name[256];
    out.string(ttyname_r(fd, name, sizeof name) == 0 ? name : "");
    encode(out, attributes);
  }
}

void read_terminal(format::Cursor& in, SavedTerminal* saved) {
  saved->there = in.boolean();
  if (!saved->there) return;
  saved->name = Text::copy(in.string());
  saved->flags = in.u64();
  for (uint32_t& c : saved->characters) c = in.u32();
}

// The launcher decides which terminal a restarted process has, if any; the program's settings go with it.
void restore_terminals(const SavedTerminal (&saved)[3]) {
  for (int fd = 0; fd < 3; ++fd) {
    termios attributes;
    if (!saved[fd].there || isatty(fd) != 1 || tcgetattr(fd, &attributes) != 0 || !is_ours(fd)) continue;
    change(saved[fd], &attributes);
    tcsetattr(fd, TCSADRAIN, &attributes);
  }
}

}  // namespace elc::state
