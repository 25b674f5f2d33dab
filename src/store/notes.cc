// What processes note between lines.
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "store/files.h"
#include "store/store.h"

namespace elc::store {

constexpr size_t kMostNotes = size_t{64} << 20;

void Notes::keep(const char* dir, uint32_t rank) {
  dir_ = Text::copy(dir);
  name_ = Text::format("notes-%u", static_cast<unsigned>(rank));
}

Result Notes::read(Bytes* all) const {
  Directory top;
  bool found = false;
  ELC_TRY(top.open(dir_.c_str()));
  return read_small_file(top, name_.c_str(), kMostNotes, all, &found);
}

Result Notes::add(const Bytes& note) {
  Directory top;
  ELC_TRY(top.open(dir_.c_str()));
  Descriptor file;
  ELC_TRY(open_shared(top, name_.c_str(), O_WRONLY | O_APPEND, &file));
  const ssize_t written = system_calls.write(file.get(), note.data(), note.size());
  if (written == static_cast<ssize_t>(note.size())) return {};
  return io_error("write", top.path_of(name_.c_str()).c_str(), written < 0 ? errno : ENOSPC);
}

Result Notes::forget() {
  Directory top;
  ELC_TRY(top.open(dir_.c_str()));
  return remove_file(top, name_.c_str());
}

}  // namespace elc::store
