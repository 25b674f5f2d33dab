// The system calls by which the store looks at a disk and changes it, behind pointers, so that tests can let each of
// them fail, or let the machine die at each of them.
#ifndef ELC_STORE_SYSTEM_H
#define ELC_STORE_SYSTEM_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

namespace elc::store {

// As in POSIX: -1 (or nullptr) and errno on failure. A name is one in the directory `dir`, or a path by AT_FDCWD.
struct System {
  int (*open)(int dir, const char* name, int flags, mode_t mode);
  int (*status)(int dir, const char* name, struct stat* about);  // of a link, not of what it leads to
  int (*file_status)(int fd, struct stat* about);
  ssize_t (*read)(int fd, void* data, size_t size);
  ssize_t (*write)(int fd, const void* data, size_t size);
  ssize_t (*write_at)(int fd, const void* data, size_t size, uint64_t at);
  // Between these two writes go to where the file's end is then; `end` is the one behind what was written.
  int (*set_append)(int fd, bool append);
  ssize_t (*append)(int fd, const void* data, size_t size, uint64_t* end);
  int (*fsync)(int fd);
  // fsync in the background, of one file at a time: begun; whether it is still going on; waited for, with
  // the result of fsync. The last alone does all of it, where the first could not or was not called.
  void (*start_flush)(int fd);
  bool (*flushing)();
  int (*end_flush)(int fd);
  int (*close)(int fd);
  int (*rename)(int dir, const char* from, const char* to);
  int (*unlink)(int dir, const char* name);
  int (*mkdir)(int dir, const char* name, mode_t mode);
  int (*rmdir)(int dir, const char* name);
  // What is in a directory that is open. The end is nullptr with errno 0.
  DIR* (*open_list)(int dir);
  struct dirent* (*next)(DIR* list);
  int (*close_list)(DIR* list);
};

// ---- What not every system has; each has a way without -----------------------------------------

// As fork, but the program does not notice: no signal when the copy ends, and no wait() of its returns it. No handler of
// fork is called, and what a thread of the process holds stays held in the copy. -1 and errno: no such thing here.
pid_t copy_process();
// As waitpid of such a copy, with WNOHANG unless `wait`.
pid_t wait_for_copy(pid_t copy, int* status, bool wait);
// In a copy: a thread that calls run(argument) on this stack, and ends. It has no memory of its own (thread_local, errno): it
// must need none, nor the C library, but for system calls. false: there is none.
bool start_bare_thread(void (*run)(void* argument), void* argument, void* stack, size_t size);
// In a copy: where memory runs out, the system ends it before the process.
void be_ended_first();
// In a copy: closes all descriptors but these and the standard error.
void close_all_but(int one, int other);

// These bytes of a file begin their way to the disk.
void start_writing(int fd, uint64_t from, uint64_t size);
// Waits until they are there, and lets go of the memory that the system keeps them in.
void end_writing(int fd, uint64_t from, uint64_t size);

// Calls visit(context, begin, end) for each piece of the memory of this process that a copy would not have as it is now,
// because it is shared. false: nobody can tell.
bool each_shared_memory(void (*visit)(void* context, uintptr_t begin, uintptr_t end), void* context);
// The same for each piece that is a file's, as a library's. (What a library has that is 0 at first is not.) None where nobody can tell.
void each_mapped_file(void (*visit)(void* context, uintptr_t begin, uintptr_t end), void* context);
// Processors that the machine has; at least 1.
unsigned processors();
// Those that this process may use.
unsigned processors_of_process();
// Bytes of memory that the machine can give to processes without taking from others. 0: nobody can tell.
uint64_t available_memory();
// What is touched of this memory from now on may lie in huge pages, where the system has them for who asks.
void use_huge_pages(void* memory, size_t size);
// Whether the machine has a network that reads and writes the memory of processes.
bool has_rdma();
// Calls use(context, registers, count) with the registers of the processor, by their numbers in debug information, from which
// a debugger finds the functions that are being executed: meanwhile they are, and on the stack `registers` lies before all of
// them. count 0: nobody can tell.
void with_registers(void (*use)(void* context, const uint64_t* registers, size_t count), void* context);

extern const System kRealSystem;
extern System system_calls;  // kRealSystem, but in tests

}  // namespace elc::store

#endif
