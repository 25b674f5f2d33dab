// Requests to a running job, through a file.
#include <string.h>
#include <sys/stat.h>

#include <string_view>

#include "base/message.h"
#include "store/files.h"
#include "store/records.h"
#include "store/store.h"

namespace elc::store {
namespace {

constexpr size_t kMost = 256;

Text control_path(const char* dir) { return Text::format("%s/control", dir); }

std::string_view first_word(const Bytes& content) {
  std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  const size_t end = text.find_first_of(" \t\r\n");
  return end == std::string_view::npos ? text : std::string_view(text.data(), end);
}

}  // namespace

// The number makes each request differ from the one before, also on a file system with coarse times.
Status request(const char* dir, Request what) {
  const Text text = Text::format("%s %llu\n", what == Request::kStop ? "stop" : "line",
                                 static_cast<unsigned long long>(microseconds_now()));
  Bytes content;
  content.append(reinterpret_cast<const uint8_t*>(text.c_str()), text.view().size());
  return replace_file(dir, control_path(dir).c_str(), content);
}

void Control::open(const char* dir) {
  path_ = control_path(dir);
  changed();
}

// Compares the file with what was seen last, and remembers it.
bool Control::changed() {
  struct stat about;
  uint64_t now[4] = {};
  if (stat(path_.c_str(), &about) == 0) {
    now[0] = static_cast<uint64_t>(about.st_ino);
    now[1] = static_cast<uint64_t>(about.st_mtim.tv_sec);
    now[2] = static_cast<uint64_t>(about.st_mtim.tv_nsec);
    now[3] = static_cast<uint64_t>(about.st_size);
  }
  if (memcmp(now, seen_, sizeof now) == 0) return false;
  memcpy(seen_, now, sizeof now);
  return now[3] > 0;  // one that is still empty is being written: its size will change
}

Request Control::look() {
  if (!changed()) return Request::kNone;
  Bytes content;
  bool found = false;
  const Status status = read_small_file(path_.c_str(), kMost, &content, &found);
  if (status.ok() && !found) return Request::kNone;
  const std::string_view word = first_word(content);
  if (status.ok() && word == "line") return Request::kLine;
  if (status.ok() && word == "stop") return Request::kStop;
  say("%s is no request: write \"line\" for a line now, or \"stop\" for a line and the end of the job",
      path_.c_str());
  return Request::kNone;
}

}  // namespace elc::store
