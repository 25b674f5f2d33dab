// Small steps on files that the parts of the store share. A call that a signal interrupts is made again.
#ifndef ELC_STORE_FILES_H
#define ELC_STORE_FILES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/text.h"
#include "base/wire.h"
#include "store/directory.h"
#include "store/system.h"

namespace elc::store {

// "cannot WHAT PATH: reason; what to do", by the value of errno. A failure of the system (Result), unless it tells that
// something else is there.
Result io_error(const char* what, const char* path, int error);

// Makes a system call again as long as a signal interrupts it.
template <class Call>
int uninterrupted(Call call) {
  int result;
  do result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

mode_t directory_mode();  // of what is made, by ELC_READERS
mode_t file_mode();

// Some systems refuse more than 2 GiB in one call.
inline constexpr size_t kMostAtOnce = size_t{1} << 30;
// Writes all of it by write(from, size), which says how much it has taken, in as many calls as that takes. Returns 0 or an errno.
template <class Write>
int write_in_parts(const void* data, size_t size, Write write) {
  const uint8_t* from = static_cast<const uint8_t*>(data);
  while (size > 0) {
    const ssize_t written = write(from, size < kMostAtOnce ? size : kMostAtOnce);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    from += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}
int write_all(int fd, const void* data, size_t size);
// Reads so many bytes of a file, which must be there; the error names it.
Result read_all_at(int fd, void* data, size_t size, uint64_t at, const char* path);

// Opens a regular file to read it, of somebody who is trusted. `found` as above.
Result open_file(const Directory& dir, const char* name, int* fd, bool* found = nullptr, uint64_t* size = nullptr);
// The same at a path that the user has chosen.
Result open_path(const char* path, int* fd, uint64_t* size);

// Opens a file that several processes use, with O_RDWR or O_WRONLY, and makes it if it is not there.
Result open_shared(const Directory& dir, const char* name, int access, Descriptor* file);

// Opens a new file under a temporary name beside `name`, told in `temporary`.
Result open_temporary(const Directory& dir, const char* name, Text* temporary, int* fd);

// Closes that file and gives it its name, unless what was done to it last ("write", "flush") has failed with `error`. On failure
// nothing of it stays.
Result put_in_place(const Directory& dir, const char* temporary, const char* name, int fd, const char* what, int error);

// Replaces a small file: who looks at any instant sees the old content or the new. `lasting`: the new
// content is on stable storage before it has the name.
Result put_file(const Directory& dir, const char* name, const Bytes& content, bool lasting);
// The same, and the name lasts too: after a kill or a power cut at any instant it holds the old content or the new.
Result replace_file(const Directory& dir, const char* name, const Bytes& content);

// One that is gone already is what was wanted: another process may be cleaning too.
Result remove_file(const Directory& dir, const char* name);

// Reads a small file; one of more than `most` bytes is an error. A file that is not there is no error
// and `found` is false then.
Result read_small_file(const Directory& dir, const char* name, size_t most, Bytes* content, bool* found);

// Records (commit, finished) end with a CRC-32 of what comes before.
void seal(Bytes* record);
// Leaves `in` behind magic and version. Fails, naming `what`, on damage and on another version.
Result unseal(Decoder* in, const Bytes& record, uint32_t magic, uint32_t version, const char* what);

}  // namespace elc::store

#endif
