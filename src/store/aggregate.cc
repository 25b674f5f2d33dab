#include "store/aggregate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "portable_format/checksum.h"
#include "store/files.h"
#include "store/store.h"
#include "store/system.h"

namespace elc::store {
namespace {

constexpr uint32_t kMagic = 0x454c4341;  // "ELCA"
constexpr uint32_t kVersion = 1;
constexpr size_t kHead = 24;       // magic, version, ranks, checksum
constexpr size_t kSlot = 24;       // where the table is, bytes of the extents, size of the table, a checksum
constexpr size_t kBehindSlots = 4;  // zeros, so that the file has this size before anything is appended
constexpr size_t kExtent = 16;     // in the table

uint64_t slot(const Ranks& ranks, uint32_t rank) { return kHead + uint64_t{(rank - ranks.first) / ranks.step} * kSlot; }
uint64_t begin_of_extents(const Ranks& ranks) { return kHead + ranks.count() * kSlot + kBehindSlots; }

Bytes head_of(const Ranks& ranks) {
  Bytes head;
  Encoder out(&head);
  out.u32(kMagic);
  out.u32(kVersion);
  out.u32(ranks.first);
  out.u32(ranks.last);
  out.u32(ranks.step);
  seal(&head);
  return head;
}

int write_all_at(int fd, const void* data, size_t size, uint64_t at) {
  return write_in_parts(data, size, [fd, &at](const uint8_t* from, size_t part) {
    const ssize_t written = system_calls.write_at(fd, from, part, at);
    if (written > 0) at += static_cast<uint64_t>(written);
    return written;
  });
}

// Of the slot, as far as that is known before, and of the table.
uint32_t checksum_of(const Bytes& slot, const Bytes& table) {
  return format::crc32_of(table.data(), table.size(), format::crc32_of(slot.data(), kSlot - sizeof(uint32_t)));
}

// All make the same beginning, and nothing that is there already is less for that.
Result begin(int fd, const Ranks& ranks, const char* path) {
  struct stat about;
  if (uninterrupted([&] { return system_calls.file_status(fd, &about); }) != 0) return io_error("read", path, errno);
  // Whoever put another name of something into the directory is not helped to write to it.
  if (about.st_nlink > 1) return Result::error("%s has another name, too, and so is not of this run: remove it", path);
  const Bytes head = head_of(ranks);
  const uint8_t zeros[kBehindSlots] = {};
  int error = write_all_at(fd, head.data(), head.size(), 0);
  if (error == 0) error = write_all_at(fd, zeros, sizeof zeros, begin_of_extents(ranks) - sizeof zeros);
  if (error == 0 && uninterrupted([&] { return system_calls.set_append(fd, true); }) != 0) error = errno;
  return error == 0 ? Result() : io_error("write", path, error);
}

}  // namespace

Ranks together_with(const Vector<uint32_t>& machine, uint32_t rank, uint32_t most) {
  Ranks found = {rank, rank, 1};
  for (size_t i = 0; i < machine.size() && machine[i] <= rank;) {
    const uint32_t step = i + 1 < machine.size() ? machine[i + 1] - machine[i] : 1;
    found = {machine[i], machine[i], step};
    for (++i; i < machine.size() && machine[i] - found.last == step && found.count() < most; ++i) found.last = machine[i];
    if (found.alone()) found.step = 1;
  }
  return found;
}

Text aggregate_name(const Ranks& ranks) {
  const auto number = [](uint32_t n) { return static_cast<unsigned long>(n); };
  const Text range = Text::format("ranks-%06lu-%06lu", number(ranks.first), number(ranks.last));
  return ranks.step == 1 ? Text::format("%s.elc", range.c_str()) : Text::format("%s-%lu.elc", range.c_str(), number(ranks.step));
}

bool aggregate_ranks(const char* name, const char* end, Ranks* ranks) {
  constexpr char kBefore[] = "ranks-";
  const std::string_view whole(name, static_cast<size_t>(end - name));
  const Text text = Text::copy(whole);
  if (strncmp(text.c_str(), kBefore, sizeof kBefore - 1) != 0) return false;
  const char* at = text.c_str() + sizeof kBefore - 1;
  uint64_t numbers[3] = {0, 0, 1};
  for (uint64_t& n : numbers) {
    for (n = 0; *at >= '0' && *at <= '9' && n <= UINT32_MAX; ++at) n = n * 10 + static_cast<uint64_t>(*at - '0');
    if (n > UINT32_MAX) return false;
    if (*at++ != '-') break;
  }
  *ranks = {static_cast<uint32_t>(numbers[0]), static_cast<uint32_t>(numbers[1]), static_cast<uint32_t>(numbers[2])};
  if (ranks->last <= ranks->first || ranks->step == 0 || (ranks->last - ranks->first) % ranks->step != 0) return false;
  return aggregate_name(*ranks).view() == whole;
}

void Extents::add(uint64_t at, uint64_t size) {
  if (size == 0) return;
  if (!list_.empty() && list_.back().at + list_.back().size == at) list_.back().size += size;
  else list_.push_back({size_, at, size});
  size_ += size;
}

size_t Extents::find(uint64_t number) const {
  const Extent* const behind = std::upper_bound(list_.begin(), list_.end(), number,
                                                [](uint64_t n, const Extent& extent) { return n < extent.begin; });
  return static_cast<size_t>(behind - list_.begin()) - 1;
}

void Extents::encode(Encoder& out) const {
  out.u64(list_.size());
  for (const Extent& extent : list_) {
    out.u64(extent.at);
    out.u64(extent.size);
  }
}

Result Extents::decode(Decoder& in, uint64_t end) {
  clear();
  const size_t count = in.count(kExtent);
  if (!list_.make_room(count)) return no_memory(count * sizeof(Extent), "where the data of a file are");
  for (size_t i = 0; i < count; ++i) {
    const uint64_t at = in.u64(), size = in.u64();
    // More than there is in all cannot be: nothing is there twice.
    if (size == 0 || at > end || size > end - at || size > end - size_) in.fail();
    if (in.ok()) add(at, size);
  }
  return in.ok() ? Result() : Result::error("the table of where a rank's data are is damaged");
}

Result open_aggregate(const Directory& dir, const Ranks& ranks, int* fd) {
  const Text name = aggregate_name(ranks);
  Descriptor file;
  ELC_TRY(open_shared(dir, name.c_str(), O_WRONLY, &file));
  ELC_TRY(begin(file.get(), ranks, dir.path_of(name.c_str()).c_str()));
  *fd = file.release();
  return {};
}

int append_all(int fd, const void* data, size_t size, Extents* extents) {
  return write_in_parts(data, size, [fd, extents](const uint8_t* from, size_t part) {
    uint64_t end;
    const ssize_t written = system_calls.append(fd, from, part, &end);
    if (written > 0) extents->add(end - static_cast<uint64_t>(written), static_cast<uint64_t>(written));
    return written;
  });
}

int write_table(int fd, const Ranks& ranks, uint32_t rank, const Extents& extents) {
  constexpr int kTries = 10;
  Bytes table;
  Encoder out(&table);
  extents.encode(out);
  // In one piece: where the system takes less at once, again.
  uint64_t end = 0;
  for (int left = kTries;;) {
    const ssize_t written = system_calls.append(fd, table.data(), table.size(), &end);
    if (written == static_cast<ssize_t>(table.size())) break;
    if (written < 0 && errno != EINTR) return errno;
    if (written >= 0 && --left == 0) return ENOSPC;
  }
  Bytes content;
  Encoder entry(&content);
  entry.u64(end - table.size());
  entry.u64(extents.size());
  entry.u32(static_cast<uint32_t>(table.size()));
  entry.u32(checksum_of(content, table));
  // On some systems who appends can write to no other place.
  if (uninterrupted([&] { return system_calls.set_append(fd, false); }) != 0) return errno;
  return write_all_at(fd, content.data(), content.size(), slot(ranks, rank));
}

namespace {

Result read_part(int fd, uint64_t size, uint64_t at, uint64_t count, const char* path, Bytes* bytes) {
  if (at > size || count > size - at) return Result::error("%s is too short", path);
  bytes->clear();
  if (!bytes->make_room(static_cast<size_t>(count))) return no_memory(static_cast<size_t>(count), "a table of a file");
  bytes->resize(static_cast<size_t>(count));
  return read_all_at(fd, bytes->data(), bytes->size(), at, path);
}

Result check_head(int fd, uint64_t size, const Ranks& ranks, const char* path) {
  Bytes bytes;
  ELC_TRY(read_part(fd, size, 0, kHead, path, &bytes));
  Decoder in(bytes);
  ELC_TRY(unseal(&in, bytes, kMagic, kVersion, path));
  if (memcmp(bytes.data(), head_of(ranks).data(), kHead) == 0) return {};
  return Result::error("%s has the data of other ranks than its name says", path);
}

Result lacks(const char* path, uint64_t rank) {
  return Result::error("%s lacks what rank %llu has saved", path, static_cast<unsigned long long>(rank));
}

// What is appended does not lie where something else is: on a file system on which it does, there is less than all together.
Result check_all(int fd, uint64_t size, const Ranks& ranks, const char* path) {
  ELC_TRY(check_head(fd, size, ranks, path));
  Bytes slots;
  ELC_TRY(read_part(fd, size, kHead, begin_of_extents(ranks) - kHead, path, &slots));
  Decoder in(slots);
  uint64_t left = size - begin_of_extents(ranks);
  for (uint64_t rank = ranks.first; rank <= ranks.last; rank += ranks.step) {
    if (in.u64() == 0) return lacks(path, rank);
    const uint64_t bytes = in.u64(), table = in.u32();
    in.u32();
    if (bytes > left || table > left - bytes)
      return Result::error("%s has less than its ranks have written: the file system does not append for several processes of "
                           "a machine; ELC_AGGREGATE=no lets each write a file of its own", path);
    left -= bytes + table;
  }
  return {};
}

}  // namespace

Result check_slots(const Directory& dir, const Ranks& ranks) {
  const Text name = aggregate_name(ranks), path = dir.path_of(name.c_str());
  int fd = -1;
  uint64_t size;
  ELC_TRY(open_file(dir, name.c_str(), &fd, nullptr, &size));
  const Result status = check_all(fd, size, ranks, path.c_str());
  system_calls.close(fd);
  return status;
}

Result read_table(int fd, uint64_t size, const Ranks& ranks, uint32_t rank, const char* path, Extents* extents) {
  Bytes bytes;
  ELC_TRY(check_head(fd, size, ranks, path));
  ELC_TRY(read_part(fd, size, slot(ranks, rank), kSlot, path, &bytes));
  const Bytes entry = std::move(bytes);
  Decoder in(entry);
  const uint64_t at = in.u64(), of_all = in.u64();
  const uint32_t length = in.u32(), checksum = in.u32();
  if (at == 0) return lacks(path, rank);
  // What says how long the table is may be what is damaged.
  ELC_TRY(read_part(fd, size, at, sizeof(uint64_t), path, &bytes));
  const Result damaged = Result::error("%s is damaged, in the table of rank %lu", path, static_cast<unsigned long>(rank));
  if (Decoder count(bytes); count.u64() != (length - sizeof(uint64_t)) / kExtent || length % kExtent != sizeof(uint64_t)) return damaged;
  ELC_TRY(read_part(fd, size, at, length, path, &bytes));
  if (checksum_of(entry, bytes) != checksum) return damaged;
  Decoder table(bytes);
  const Result status = extents->decode(table, at);
  if (status.system_failed()) return status;
  return status.ok() && extents->size() == of_all ? Result() : damaged;
}

}  // namespace elc::store
