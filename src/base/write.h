// write(2) that raises no signal.
#ifndef ELC_BASE_WRITE_H
#define ELC_BASE_WRITE_H

#include <stddef.h>
#include <sys/types.h>

namespace elc {

// As write(2), but where nobody reads any more or the file may not grow (RLIMIT_FSIZE) it is an error and no more:
// SIGPIPE and SIGXFSZ would end a program that can go on.
ssize_t write_unsignalled(int fd, const void* data, size_t size);

}  // namespace elc

#endif
