// Whose a line is while it is taken: two jobs in one directory must not mix, also where the file system has no locks.
#include <errno.h>
#include <string.h>

#include "store/records.h"
#include "store/store.h"

namespace elc::store {
namespace {

constexpr size_t kRunMost = 64;

Bytes text_of(uint64_t run) {
  const Text text = Text::format("%016llx\n", static_cast<unsigned long long>(run));
  Bytes bytes;
  bytes.append(reinterpret_cast<const uint8_t*>(text.c_str()), text.view().size());
  return bytes;
}

int remove_empty(const Directory& top, const char* name) {
  return uninterrupted([&] { return system_calls.rmdir(top.fd(), name); });
}

Result make_line(const Directory& top, uint64_t line, uint64_t run, uint32_t rank) {
  const Text name = line_name(line);
  const Text temporary = Text::format("%s.tmp%llu-%lu", name.c_str(), static_cast<unsigned long long>(run),
                                      static_cast<unsigned long>(rank));
  const Text path = top.path_of(temporary.c_str());
  if (uninterrupted([&] { return system_calls.mkdir(top.fd(), temporary.c_str(), directory_mode()); }) != 0)
    return io_error("make the directory", path.c_str(), errno);
  Directory place;
  Result status = place.open_in(top, temporary.c_str());
  if (status.ok()) status = put_file(place, kRunName, text_of(run), false);
  if (status.ok()) {
    if (uninterrupted([&] { return system_calls.rename(top.fd(), temporary.c_str(), name.c_str()); }) == 0) return {};
    // Another rank, or another job, was first.
    if (errno != ENOTEMPTY && errno != EEXIST) status = io_error("rename to its place", path.c_str(), errno);
  }
  if (place.is_open()) remove_file(place, kRunName).ok();
  remove_empty(top, temporary.c_str());
  return status;
}

}  // namespace

Result claim_line(const Directory& top, uint64_t line, uint64_t run, uint32_t rank, Directory* place, bool* made) {
  const Text name = line_name(line);
  bool found = false;
  ELC_TRY(place->open_in(top, name.c_str(), &found));
  if (!found) {
    ELC_TRY(make_line(top, line, run, rank));
    ELC_TRY(place->open_in(top, name.c_str()));
  }
  Result status = check_claim(*place, run);
  if (!status.ok()) place->close();
  *made = !found;
  return status;
}

Result check_claim(const Directory& place, uint64_t run) {
  Bytes there;
  bool found = false;
  ELC_TRY(read_small_file(place, kRunName, kRunMost, &there, &found));
  const Bytes own = text_of(run);
  if (found && there.size() == own.size() && memcmp(there.data(), own.data(), own.size()) == 0) return {};
  return Result::error("%s is not of this run, or not any more: another job is using the directory; wait for its end, "
                       "or set ELC_DIR to another one", place.path());
}

void release_line(const Directory& top, uint64_t line, const Directory& place) {
  bool alone = true;
  const Result looked = place.each([&](const char* name) {
    alone = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, kRunName) == 0;
    return alone;
  });
  if (!looked.ok() || !alone) return;  // the last rank of the run does it
  remove_file(place, kRunName).ok();
  remove_empty(top, line_name(line).c_str());
}

bool unclaimed_line(const char* name, uint64_t* line) {
  const char* const end = strstr(name, ".tmp");
  if (end == nullptr || !line_number(Text::copy({name, static_cast<size_t>(end - name)}).c_str(), line)) return false;
  const char* const rank = strchr(end, '-');
  uint64_t ignored;
  return rank != nullptr && parse_whole(rank + 1, &ignored) &&
         parse_whole(Text::copy({end + 4, static_cast<size_t>(rank - end - 4)}).c_str(), &ignored);
}

}  // namespace elc::store
