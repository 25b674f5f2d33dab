#include "faulty_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

namespace fs = std::filesystem;

namespace elc::test {
namespace {

ino_t inode(const fs::path& path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 ? about.st_ino : 0;
}

}  // namespace

FaultyDisk* FaultyDisk::current_ = nullptr;

FaultyDisk::FaultyDisk() {
  // In memory where that is possible: there are thousands of these, and what lasts is decided here.
  const fs::path base = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : fs::temp_directory_path();
  std::string name = (base / "elc-store-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
  root_ = name;
  dir_ = root_ + "/lines";
  fs::create_directory(dir_);
  fs::create_directory(root_ + "/saved");
  current_ = this;
  store::system_calls = {open,      status, file_status, read,   write,     write_at, set_append,
                         append,    fsync,  start_flush, flushing, end_flush, close,  rename,
                         unlink,    mkdir,  rmdir,       open_list, next,     close_list};
}

FaultyDisk::~FaultyDisk() {
  store::system_calls = store::kRealSystem;
  current_ = nullptr;
  for (const auto& [fd, path] : open_) ::close(fd);
  fs::remove_all(root_);
}

// Counts a call; false if it is not to be executed.
bool FaultyDisk::runs(const char* call) {
  ++calls_;
  if (dead()) {
    errno = EIO;
    return false;
  }
  if (calls_ == fail_at_ || calls_ == fail_also_at_) {
    failed_ = call;
    errno = fail_with_;
    return false;
  }
  return true;
}

void FaultyDisk::changed(const fs::path& path, std::function<void()> undo) {
  changes_.push_back({path.parent_path(), std::move(undo)});
}

// Keeps the file at `path` under another name outside, so that it can come back.
fs::path FaultyDisk::save(const fs::path& path) {
  fs::path kept = root_ + "/saved/" + std::to_string(++saved_);
  if (::link(path.c_str(), kept.c_str()) != 0) throw std::runtime_error("link: " + path.string());
  return kept;
}

void FaultyDisk::cut_power(std::mt19937_64& random) {
  for (const auto& [fd, path] : open_) ::close(fd);
  open_.clear();
  // File systems keep changes of a directory in order or not: any of them may be lost, the last first.
  const uint64_t odds = 1 + random() % 4;
  for (size_t i = changes_.size(); i-- > 0;)
    if (random() % 4 < odds) changes_[i].undo();
  changes_.clear();
  for (const auto& entry : fs::recursive_directory_iterator(dir_))
    if (entry.is_regular_file() && dirty_.count(inode(entry.path())) != 0)
      fs::resize_file(entry.path(), random() % (entry.file_size() + 1));
  dirty_.clear();
}

fs::path FaultyDisk::path_of(int dir, const char* name) const {
  return dir == AT_FDCWD ? fs::path(name) : open_.at(dir) / name;
}

int FaultyDisk::open(int dir, const char* name, int flags, mode_t mode) {
  FaultyDisk& disk = *current_;
  if (!disk.runs("open")) return -1;
  const fs::path path = disk.path_of(dir, name);
  const bool is_new = (flags & O_CREAT) != 0 && !fs::exists(path);
  const int fd = store::kRealSystem.open(dir, name, flags, mode);
  if (fd < 0) return fd;
  disk.open_[fd] = path;
  if (is_new) {
    disk.dirty_.insert(inode(path));
    disk.changed(path, [path] {
      std::error_code ignored;
      fs::remove(path, ignored);
    });
  }
  return fd;
}

int FaultyDisk::status(int dir, const char* name, struct stat* about) {
  return current_->runs("status") ? store::kRealSystem.status(dir, name, about) : -1;
}

int FaultyDisk::file_status(int fd, struct stat* about) {
  return current_->runs("file_status") ? store::kRealSystem.file_status(fd, about) : -1;
}

ssize_t FaultyDisk::read(int fd, void* data, size_t size) {
  return current_->runs("read") ? store::kRealSystem.read(fd, data, size) : -1;
}

ssize_t FaultyDisk::into(int fd, const void* data, size_t size, const std::function<ssize_t(int, const void*, size_t)>& write) {
  FaultyDisk& disk = *current_;
  ++disk.writes_;
  if (!disk.runs("write")) return -1;
  if (disk.full_at_ != 0 && disk.writes_ >= disk.full_at_) {
    if (disk.writes_ == disk.full_at_ && size > 1) return write(fd, data, size / 2);
    errno = ENOSPC;
    return -1;
  }
  struct stat about;
  if (::fstat(fd, &about) == 0) disk.dirty_.insert(about.st_ino);
  return write(fd, data, size);
}

ssize_t FaultyDisk::write(int fd, const void* data, size_t size) { return into(fd, data, size, store::kRealSystem.write); }

ssize_t FaultyDisk::write_at(int fd, const void* data, size_t size, uint64_t at) {
  return into(fd, data, size, [at](int file, const void* from, size_t count) { return store::kRealSystem.write_at(file, from, count, at); });
}

int FaultyDisk::set_append(int fd, bool append) {
  return current_->runs("set_append") ? store::kRealSystem.set_append(fd, append) : -1;
}

ssize_t FaultyDisk::append(int fd, const void* data, size_t size, uint64_t* end) {
  return into(fd, data, size, [end](int file, const void* from, size_t count) { return store::kRealSystem.append(file, from, count, end); });
}

int FaultyDisk::fsync(int fd) {
  FaultyDisk& disk = *current_;
  if (!disk.runs("fsync")) return -1;
  struct stat about;
  if (::fstat(fd, &about) != 0) return -1;
  if (S_ISDIR(about.st_mode)) {
    const fs::path directory = disk.open_[fd].lexically_normal();
    std::erase_if(disk.changes_, [&](const Change& change) { return change.directory == directory; });
  } else {
    disk.dirty_.erase(about.st_ino);
  }
  return 0;
}

void FaultyDisk::start_flush(int) { current_->looks_left_ = current_->slow_; }

bool FaultyDisk::flushing() { return current_->looks_left_ > 0 && current_->looks_left_-- > 0; }

int FaultyDisk::end_flush(int fd) {
  current_->looks_left_ = 0;
  return fsync(fd);
}

int FaultyDisk::close(int fd) {
  FaultyDisk& disk = *current_;
  if (!disk.runs("close")) return -1;
  disk.open_.erase(fd);
  return store::kRealSystem.close(fd);
}

int FaultyDisk::rename(int dir, const char* from, const char* to) {
  FaultyDisk& disk = *current_;
  if (!disk.runs("rename")) return -1;
  const fs::path a = disk.path_of(dir, from), b = disk.path_of(dir, to);
  const fs::path kept = fs::is_regular_file(b) ? disk.save(b) : fs::path();
  const int result = store::kRealSystem.rename(dir, from, to);
  if (result == 0)
    disk.changed(b, [a, b, kept] {
      std::error_code ignored;
      fs::rename(b, a, ignored);
      if (!kept.empty()) fs::rename(kept, b, ignored);
    });
  return result;
}

int FaultyDisk::unlink(int dir, const char* name) {
  FaultyDisk& disk = *current_;
  if (!disk.runs("unlink")) return -1;
  const fs::path path = disk.path_of(dir, name);
  const fs::path kept = fs::exists(path) ? disk.save(path) : fs::path();
  const int result = store::kRealSystem.unlink(dir, name);
  if (result == 0)
    disk.changed(path, [path, kept] {
      std::error_code ignored;
      fs::rename(kept, path, ignored);
    });
  return result;
}

int FaultyDisk::mkdir(int dir, const char* name, mode_t mode) {
  FaultyDisk& disk = *current_;
  if (!disk.runs("mkdir")) return -1;
  const int result = store::kRealSystem.mkdir(dir, name, mode);
  if (result == 0) disk.changed(disk.path_of(dir, name), [path = disk.path_of(dir, name)] { fs::remove_all(path); });
  return result;
}

int FaultyDisk::rmdir(int dir, const char* name) {
  FaultyDisk& disk = *current_;
  if (!disk.runs("rmdir")) return -1;
  const int result = store::kRealSystem.rmdir(dir, name);
  if (result == 0)
    disk.changed(disk.path_of(dir, name), [path = disk.path_of(dir, name)] {
      std::error_code ignored;
      fs::create_directory(path, ignored);
    });
  return result;
}

DIR* FaultyDisk::open_list(int dir) {
  return current_->runs("open_list") ? store::kRealSystem.open_list(dir) : nullptr;
}

struct dirent* FaultyDisk::next(DIR* list) {
  return current_->runs("next") ? store::kRealSystem.next(list) : nullptr;
}

// A list that is not closed would only take memory of the test.
int FaultyDisk::close_list(DIR* list) {
  const int result = store::kRealSystem.close_list(list);
  return current_->runs("close_list") ? result : -1;
}

}  // namespace elc::test
