#include "portable_format/pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sort.h"

namespace elc::format {
namespace {

bool before(const PieceHash& a, const PieceHash& b) { return memcmp(a.words, b.words, sizeof a.words) < 0; }

bool draw(void* to, size_t size) {
  const int fd = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  uint8_t* at = static_cast<uint8_t*>(to);
  while (size > 0) {
    const ssize_t n = ::read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    at += n;
    size -= static_cast<size_t>(n);
  }
  ::close(fd);
  return size == 0;
}

}  // namespace

Pieces::~Pieces() { release(key_); }

bool Pieces::prepare() {
  if (key_ != nullptr) return true;
  key_ = static_cast<PieceKey*>(try_allocate(sizeof(PieceKey)));
  if (key_ == nullptr || draw(key_, sizeof(PieceKey))) return key_ != nullptr;
  release(key_);
  key_ = nullptr;
  return false;
}

void Pieces::start(bool whole) {
  asked_.clear();
  complete_ = true;
  if (!whole) return;
  known_ = Vector<Known>();
  bases_.clear();
}

// Where there is no memory, the next file is whole.
void Pieces::note(const PieceHash& hash) {
  complete_ = complete_ && asked_.make_room(1);
  if (complete_) asked_.push_back(hash);
}

bool Pieces::find(const void* data, size_t size, ChunkEntry* entry) {
  const PieceHash hash = hash_of_piece(*key_, data, size);
  note(hash);
  size_t low = 0, high = known_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (before(known_[middle].hash, hash)) low = middle + 1;
    else high = middle;
  }
  for (; low < known_.size() && known_[low].hash == hash; ++low) {
    if (known_[low].entry.raw != size) continue;
    *entry = known_[low].entry;
    return true;
  }
  return false;
}

void Pieces::hand_over(Encoder& out) const {
  out.boolean(complete_);
  out.u64(complete_ ? asked_.size() : 0);
  for (size_t i = 0; complete_ && i < asked_.size(); ++i)
    for (const uint64_t word : asked_[i].words) out.u64(word);
}

void Pieces::take_over(Decoder& in) {
  complete_ = in.boolean();
  asked_.clear();
  const size_t count = in.count(sizeof(PieceHash));
  complete_ = complete_ && asked_.make_room(count);
  for (size_t i = 0; i < count; ++i) {
    PieceHash hash;
    for (uint64_t& word : hash.words) word = in.u64();
    if (complete_) asked_.push_back(hash);
  }
}

void Pieces::adopt(const Base& file, const Vector<SectionEntry>& sections) {
  size_t pieces = 0;
  for (const SectionEntry& section : sections) pieces += section.in_pieces ? section.chunks.size() : 0;
  Vector<Known> known;
  if (!complete_ || pieces != asked_.size() || bases_.size() > kMaxBases || !known.make_room(pieces) || !bases_.make_room(1))
    return start(true);
  size_t at = 0;
  for (size_t s = 0; s < sections.size(); ++s) {
    if (!sections[s].in_pieces) continue;
    for (size_t i = 0; i < sections[s].chunks.size(); ++i) {
      Known piece = {asked_[at++], sections[s].chunks[i]};
      if (!piece.entry.elsewhere()) piece.entry.refer_to({bases_.size(), s, i});
      known.push_back(piece);
    }
  }
  sort(known, [](const Known& a, const Known& b) { return before(a.hash, b.hash); });
  known_ = std::move(known);
  bases_.push_back(file);
  asked_.clear();
}

}  // namespace elc::format
