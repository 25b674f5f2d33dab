// Reading chunks in a row, by several threads.
#include "base/together.h"
#include "portable_format/reader.h"

namespace elc::format {
namespace {

// A thread that would read fewer is not worth its start.
constexpr size_t kLeast = 4;

}  // namespace

struct Reader::Row {
  Reader& reader;
  const size_t s, first, count;
  uint8_t* const out;  // nullptr: nobody wants them
  Pieces pieces{count};
  struct Failure {
    size_t at = SIZE_MAX;
    Result why;
  } failures[kMostTogether] = {};  // of the threads

  void read(unsigned thread) {
    const Vector<ChunkEntry>& chunks = reader.sections_[s].chunks;
    Room& room = reader.rooms_[thread];
    for (size_t at; pieces.take(&at);) {
      if (out == nullptr && chunks[first + at].verified) continue;
      uint8_t* const to = out == nullptr ? room.raw.data() : out + at * chunks[first].raw;
      Result status = reader.read_chunk(s, first + at, to, room);
      if (status.ok()) continue;
      failures[thread].at = at;
      failures[thread].why = std::move(status);
      pieces.stop();
    }
  }

  const Result& first_failure() const {
    const Failure* first_one = failures;
    for (const Failure& failure : failures)
      if (failure.at < first_one->at) first_one = &failure;
    return first_one->why;
  }
};

size_t Reader::row(size_t s, size_t first, uint64_t size) const {
  const Vector<ChunkEntry>& chunks = sections_[s].chunks;
  size_t count = 0;
  for (; first + count < chunks.size() && chunks[first + count].raw == chunks[first].raw; ++count) {
    if (size < chunks[first].raw) break;
    size -= chunks[first].raw;
  }
  return count;
}

// Of fewer threads where there is no memory for more.
Result Reader::make_rooms(const Row& row, unsigned* threads) {
  size_t raw = 0, stored = 0, shuffled = 0;
  for (size_t i = row.first; i < row.first + row.count; ++i) {
    const ChunkEntry& chunk = sections_[row.s].chunks[i];
    if (row.out == nullptr && !chunk.verified && chunk.raw > raw) raw = chunk.raw;
    if ((chunk.flags & kChunkDeflated) != 0 && chunk.stored > stored) stored = chunk.stored;
    if ((chunk.flags & kShuffled) != 0 && chunk.raw > shuffled) shuffled = chunk.raw;
  }
  const size_t most = (row.count + kLeast - 1) / kLeast;
  *threads = threads_ < most ? threads_ : static_cast<unsigned>(most);
  if (rooms_.size() < *threads) rooms_.resize(*threads);
  for (unsigned thread = 0; thread < *threads; ++thread) {
    Result made = make_large(raw, &rooms_[thread].raw);
    if (made.ok()) made = make_large(stored, &rooms_[thread].stored);
    if (made.ok()) made = make_large(shuffled, &rooms_[thread].shuffled);
    if (made.ok()) continue;
    if (thread == 0) return made;
    *threads = thread;
  }
  return Result();
}

Result Reader::read_row(size_t s, size_t first, size_t count, uint8_t* out) {
  if (count == 0) return Result();
  Row row = {*this, s, first, count, out};
  unsigned threads = 1;
  ELC_TRY(make_rooms(row, &threads));
  together(threads, [](void* of, unsigned thread) { static_cast<Row*>(of)->read(thread); }, &row);
  return row.first_failure();
}

Result Reader::verify(bool (*later)(const char* section)) {
  for (size_t s = 0; s < sections_.size(); ++s)
    if (later == nullptr || !later(sections_[s].name)) ELC_TRY(read_row(s, 0, sections_[s].chunks.size(), nullptr));
  return Result();
}

}  // namespace elc::format
