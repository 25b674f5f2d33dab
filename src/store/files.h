// Small steps on files that the parts of the store share.
#ifndef ELC_STORE_FILES_H
#define ELC_STORE_FILES_H

#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "base/wire.h"

namespace elc::store {

// "cannot WHAT PATH: reason; what to do", by the value of errno.
Status io_error(const char* what, const char* path, int error);

// Writes all of it, in as many calls as that takes. Returns 0 or an errno.
int write_all(int fd, const void* data, size_t size);

// Makes renames and removals in a directory lasting: at once, or by its parts, between which it is flushed.
// `flushed` is what that returned, with errno.
Status flush_directory(const char* path);
Status open_directory(const char* path, int* fd);
Status close_directory(const char* path, int fd, int flushed);

// Opens a new file under a temporary name beside `path`, told in `temporary`.
Status open_temporary(const char* path, Text* temporary, int* fd);

// Replaces the small file at `path`: after a kill at any instant it holds the old content or the new.
Status replace_file(const char* dir, const char* path, const Bytes& content);

// Reads a small file; one of more than `most` bytes is an error. A file that is not there is no error
// and `found` is false then.
Status read_small_file(const char* path, size_t most, Bytes* content, bool* found);

// Records (commit, finished) end with a CRC-32 of what comes before.
void seal(Bytes* record);
// Leaves `in` behind magic and version. Fails, naming `what`, on damage and on another version.
Status unseal(Decoder* in, const Bytes& record, uint32_t magic, uint32_t version, const char* what);

}  // namespace elc::store

#endif
