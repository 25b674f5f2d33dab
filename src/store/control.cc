// Requests to a running job, and why it takes no line, through files.
#include <fcntl.h>
#include <string.h>

#include <string_view>

#include "base/message.h"
#include "store/records.h"
#include "store/store.h"

namespace elc::store {
namespace {

constexpr size_t kMost = 256;
constexpr size_t kMostRefusal = 4096;

constexpr char kControlName[] = "control";

std::string_view first_word(const Bytes& content) {
  std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  const size_t end = text.find_first_of(" \t\r\n");
  return end == std::string_view::npos ? text : std::string_view(text.data(), end);
}

}  // namespace

// The number makes each request differ from the one before, also on a file system with coarse times.
Result request(const char* dir, Order what) {
  const Text text = Text::format("%s %llu\n", what == Order::kStop ? "stop" : "line",
                                 static_cast<unsigned long long>(microseconds_now()));
  Bytes content;
  content.append(reinterpret_cast<const uint8_t*>(text.c_str()), text.view().size());
  Directory top;
  ELC_TRY(top.open(dir));
  return replace_file(top, kControlName, content);
}

Result write_refusal(const char* dir, uint64_t line, const char* why) {
  const Text text = Text::format("line %llu: %.*s\n", static_cast<unsigned long long>(line),
                                 static_cast<int>(kMostRefusal - 64), why);
  Bytes content;
  content.append(reinterpret_cast<const uint8_t*>(text.c_str()), text.view().size());
  Directory top;
  ELC_TRY(top.open(dir));
  return put_file(top, kRefusedName, content, false);
}

Result read_refusal(const char* dir, Text* why) {
  *why = Text();
  Bytes content;
  bool found = false;
  Directory top;
  ELC_TRY(top.open(dir));
  ELC_TRY(read_small_file(top, kRefusedName, kMostRefusal, &content, &found));
  std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  if (const size_t end = text.find('\n'); end != text.npos) text.remove_suffix(text.size() - end);
  if (found) *why = Text::copy(text);
  return {};
}

Result forget_refusal(const char* dir) {
  Directory top;
  ELC_TRY(top.open(dir));
  return remove_file(top, kRefusedName);
}

void Control::open(const char* dir) {
  dir_ = Text::copy(dir);
  path_ = Text::format("%s/%s", dir, kControlName);
  changed();
}

// Compares the file with what was seen last, and remembers it.
bool Control::changed() {
  struct stat about;
  uint64_t now[4] = {};
  if (system_calls.status(AT_FDCWD, path_.c_str(), &about) == 0) {
    now[0] = static_cast<uint64_t>(about.st_ino);
    now[1] = static_cast<uint64_t>(about.st_mtim.tv_sec);
    now[2] = static_cast<uint64_t>(about.st_mtim.tv_nsec);
    now[3] = static_cast<uint64_t>(about.st_size);
  }
  if (memcmp(now, seen_, sizeof now) == 0) return false;
  memcpy(seen_, now, sizeof now);
  return now[3] > 0;  // one that is still empty is being written: its size will change
}

Order Control::look() {
  if (!changed()) return Order::kNone;
  Bytes content;
  bool found = false;
  Directory top;
  Result status = top.open(dir_.c_str());
  if (status.ok()) status = read_small_file(top, kControlName, kMost, &content, &found);
  if (!status.ok()) say("%s", status.message());
  if (!status.ok() || !found) return Order::kNone;
  const std::string_view word = first_word(content);
  if (word == "line") return Order::kLine;
  if (word == "stop") return Order::kStop;
  say("%s is no request: write \"line\" for a line now, or \"stop\" for a line and the end of the job",
      path_.c_str());
  return Order::kNone;
}

}  // namespace elc::store
