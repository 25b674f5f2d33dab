// The checksum of files and records: CRC-32 as zlib, gzip and PNG have it (RFC 1952, section 8).
#ifndef ELC_FORMAT_CHECKSUM_H
#define ELC_FORMAT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

namespace elc::format {

// That of `size` bytes, or, with `before` that of the bytes in front of them, of both together.
uint32_t crc32_of(const void* data, size_t size, uint32_t before = 0);

}  // namespace elc::format

#endif
