// A copy of this process, made in an instant, that does one thing and ends while the process runs on: it has the memory as
// it was. The program does not notice it (system.h).
#ifndef ELC_STORE_COPY_H
#define ELC_STORE_COPY_H

#include <stddef.h>
#include <sys/types.h>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/wire.h"

namespace elc::store {

class Copy {
 public:
  Copy() = default;
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() { end(); }

  // Makes one. There work(context, report) is called, with `memory` bytes for all that the library allocates, no
  // descriptors but `file` and the standard error, and no signal but those that end it; then the copy ends, and leaves
  // what `report` has, or its failure. An error: there is none, and nothing has been done.
  Result start(size_t memory, int file, Result (*work)(void* context, Bytes* report), void* context);
  bool running() const { return process_ > 0; }
  // In the copy, now and then: ends it if the process is gone, or has ended it.
  void still_wanted() const;

  // Whether it has ended, without waiting; and how: its report, its failure, or that something has killed it.
  Result look(bool* ended, Bytes* report);
  // Whether the last one came to its end, well or not.
  bool reported() const { return reported_; }
  // Ends it, whatever it has done.
  void end();
  // In a child that the program has forked: it is the parent's.
  void forget();

 private:
  pid_t process_ = 0;  // in the copy: its own, negative
  Descriptor pipe_;    // to read; in the copy: to write
  Bytes read_;
  bool reported_ = false;
};

}  // namespace elc::store

#endif
