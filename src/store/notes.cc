// What processes note between lines: records of the line that they are behind, and bytes (XDR).
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "store/files.h"
#include "store/store.h"

namespace elc::store {
namespace {

constexpr size_t kMost = size_t{256} << 20;
constexpr uint64_t kSmall = uint64_t{1} << 20;  // below that nothing is left out

void write_note(uint64_t line, std::string_view note, Bytes* to) {
  Encoder out(to);
  out.u64(line);
  out.string(note);
}

// Calls visit(line, note) for each; the last may not be whole.
template <class Visit>
void each_note(const Bytes& all, Visit visit) {
  for (Decoder in(all); in.left() > 0;) {
    const uint64_t line = in.u64();
    const std::string_view note = in.opaque();
    if (!in.ok()) return;
    visit(line, note);
  }
}

Result read_notes(const Directory& top, const char* name, Bytes* all) {
  bool found = false;
  return read_small_file(top, name, kMost, all, &found);
}

}  // namespace

void Notes::keep(const char* dir, uint32_t rank) {
  dir_ = Text::copy(dir);
  name_ = Text::format("notes-%u", static_cast<unsigned>(rank));
  most_ = 0;
}

// What is behind lines that are gone, and half a record, behind which none could be read.
Result Notes::clean(const Directory& top) {
  Survey there;
  Bytes all, kept;
  ELC_TRY(survey(dir_.c_str(), &there));
  ELC_TRY(read_notes(top, name_.c_str(), &all));
  uint64_t oldest = 0;
  for (size_t i = there.lines.size(); i-- > 0;)
    if (there.lines[i].committed) oldest = there.lines[i].number;
  each_note(all, [&](uint64_t line, std::string_view note) {
    if (line >= oldest) write_note(line, note, &kept);
  });
  if (kept.size() != all.size()) ELC_TRY(put_file(top, name_.c_str(), kept, false));
  most_ = kept.size() > kSmall / 2 ? 2 * kept.size() : kSmall;
  return {};
}

Result Notes::add(uint64_t line, const Bytes& note) {
  Directory top;
  ELC_TRY(top.open(dir_.c_str()));
  Descriptor file;
  struct stat about;
  if (system_calls.status(top.fd(), name_.c_str(), &about) == 0 && static_cast<uint64_t>(about.st_size) > most_) ELC_TRY(clean(top));
  ELC_TRY(open_shared(top, name_.c_str(), O_WRONLY | O_APPEND, &file));
  Bytes record;
  write_note(line, {reinterpret_cast<const char*>(note.data()), note.size()}, &record);
  const int error = write_all(file.get(), record.data(), record.size());
  if (error == 0) return {};
  most_ = 0;  // half of it may be there
  return io_error("write", top.path_of(name_.c_str()).c_str(), error);
}

Result Notes::read(uint64_t line, Vector<Bytes>* notes) const {
  Directory top;
  Bytes all;
  ELC_TRY(top.open(dir_.c_str()));
  ELC_TRY(read_notes(top, name_.c_str(), &all));
  each_note(all, [&](uint64_t behind, std::string_view note) {
    if (behind >= line) notes->push_back({}).append(reinterpret_cast<const uint8_t*>(note.data()), note.size());
  });
  return {};
}

Result Notes::forget() {
  Directory top;
  ELC_TRY(top.open(dir_.c_str()));
  return remove_file(top, name_.c_str());
}

}  // namespace elc::store
