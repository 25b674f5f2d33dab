// A disk for tests: the store's system calls go through it to a real directory, and it can let one of
// them fail, stop executing them at any point as a kill does, and cut the power, after which nothing
// that was not flushed need be there.
#ifndef ELC_TESTS_STORE_FAULTY_DISK_H
#define ELC_TESTS_STORE_FAULTY_DISK_H

#include <stdint.h>

#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "store/system.h"

namespace elc::test {

class FaultyDisk {
 public:
  FaultyDisk();   // makes a directory and takes over the store's system calls
  ~FaultyDisk();  // gives them back and removes the directory
  FaultyDisk(const FaultyDisk&) = delete;

  const char* dir() const { return dir_.c_str(); }
  uint64_t calls() const { return calls_; }
  uint64_t writes() const { return writes_; }

  // From the n-th call on (from 1) nothing is executed: the process is dead.
  void die_at(uint64_t n) { die_at_ = n; }
  bool dead() const { return die_at_ != 0 && calls_ >= die_at_; }
  // The n-th call fails with `error`; those after it work.
  void fail_at(uint64_t n, int error) { fail_at_ = n, fail_with_ = error; }
  // The m-th, too.
  void fail_also_at(uint64_t m) { fail_also_at_ = m; }
  // A flush in the background is found going on so many times.
  void slow(unsigned looks) { slow_ = looks; }
  // The name of the call that failed; empty if none did.
  const std::string& failed() const { return failed_; }
  // The n-th write, and all after it, find the disk full; the n-th still takes half of its bytes.
  void full_at_write(uint64_t n) { full_at_ = n; }
  // All is well from now on, as after a restart of the process.
  void repair() { die_at_ = fail_at_ = fail_also_at_ = full_at_ = 0, failed_.clear(); }

  // Of what was not flushed any part is lost: changes of directories, data of files.
  void cut_power(std::mt19937_64& random);

 private:
  struct Change {
    std::filesystem::path directory;
    std::function<void()> undo;
  };
  static FaultyDisk* current_;
  bool runs(const char* call);
  void changed(const std::filesystem::path& path, std::function<void()> undo);
  std::filesystem::path save(const std::filesystem::path& path);

  std::filesystem::path path_of(int dir, const char* name) const;

  static ssize_t into(int fd, const void* data, size_t size, const std::function<ssize_t(int, const void*, size_t)>& write);
  static int open(int dir, const char* name, int flags, mode_t mode);
  static int status(int dir, const char* name, struct stat* about);
  static int file_status(int fd, struct stat* about);
  static ssize_t read(int fd, void* data, size_t size);
  static ssize_t write(int fd, const void* data, size_t size);
  static ssize_t write_at(int fd, const void* data, size_t size, uint64_t at);
  static int set_append(int fd, bool append);
  static ssize_t append(int fd, const void* data, size_t size, uint64_t* end);
  static int fsync(int fd);
  static void start_flush(int fd);
  static bool flushing();
  static int end_flush(int fd);
  static int close(int fd);
  static int rename(int dir, const char* from, const char* to);
  static int unlink(int dir, const char* name);
  static int mkdir(int dir, const char* name, mode_t mode);
  static int rmdir(int dir, const char* name);
  static DIR* open_list(int dir);
  static struct dirent* next(DIR* list);
  static int close_list(DIR* list);

  std::string root_, dir_;
  uint64_t calls_ = 0, writes_ = 0, saved_ = 0;
  unsigned slow_ = 0, looks_left_ = 0;
  uint64_t die_at_ = 0, fail_at_ = 0, fail_also_at_ = 0, full_at_ = 0;
  int fail_with_ = 0;
  std::string failed_;
  std::map<int, std::filesystem::path> open_;
  std::set<ino_t> dirty_;
  std::vector<Change> changes_;
};

}  // namespace elc::test

#endif
