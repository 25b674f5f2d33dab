#include "state/scope.h"

#include <string.h>

#include <algorithm>
#include <utility>

namespace elc::state {

ScopeTable::Place ScopeTable::place_of(const Vector<Region>& regions, size_t number) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(regions[number].address);
  return {begin, static_cast<uintptr_t>(begin + regions[number].size), number};
}

bool ScopeTable::before(const Place& a, const Place& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  return a.end != b.end ? a.end < b.end : a.number < b.number;
}

// The piece that has the place, or where it belongs: the last that begins before it, or the first.
size_t ScopeTable::piece_of(const Place& place) const {
  if (last_ < by_place_.size() && before(by_place_[last_][0], place) &&
      (last_ + 1 == by_place_.size() || before(place, by_place_[last_ + 1][0])))
    return last_;
  const Vector<Place>* after = std::upper_bound(by_place_.begin(), by_place_.end(), place,
                                                [](const Place& p, const Vector<Place>& piece) { return before(p, piece[0]); });
  return last_ = after == by_place_.begin() ? 0 : static_cast<size_t>(after - by_place_.begin()) - 1;
}

void ScopeTable::build(Vector<Region>& regions, size_t first, size_t end) {
  by_name_.clear();
  by_place_.clear();
  for (size_t i = first; i < end; ++i) add(regions, i);
}

void ScopeTable::add(Vector<Region>& regions, size_t number) {
  constexpr size_t kMost = 128;
  uint32_t& last = by_name_.at(regions[number].hash);
  regions[number].next = std::exchange(last, static_cast<uint32_t>(number + 1));
  if (regions[number].resizes) return;

  const Place place = place_of(regions, number);
  if (by_place_.empty()) {
    by_place_.push_back({}).push_back(place);
    return;
  }
  const size_t at = piece_of(place);
  Vector<Place>& piece = by_place_[at];
  piece.insert(static_cast<size_t>(std::lower_bound(piece.begin(), piece.end(), place, before) - piece.begin()), place);
  if (piece.size() < kMost) return;
  Vector<Place> half;
  half.append(piece.data() + kMost / 2, piece.size() - kMost / 2);
  piece.resize(kMost / 2);
  by_place_.insert(at + 1, std::move(half));
}

void ScopeTable::remove(Vector<Region>& regions, size_t number) {
  uint32_t* entered = by_name_.find(regions[number].hash);
  if (*entered == number + 1 && regions[number].next == 0) {
    by_name_.remove(regions[number].hash);
  } else {
    while (*entered != number + 1) entered = &regions[*entered - 1].next;
    *entered = regions[number].next;
  }
  if (regions[number].resizes) return;

  const Place place = place_of(regions, number);
  const size_t at = piece_of(place);
  Vector<Place>& piece = by_place_[at];
  piece.erase(static_cast<size_t>(std::lower_bound(piece.begin(), piece.end(), place, before) - piece.begin()));
  if (piece.empty()) by_place_.erase(at);
}

size_t ScopeTable::find(const Vector<Region>& regions, const char* name, uint32_t hash) const {
  const uint32_t* entered = by_name_.find(hash);
  for (uint32_t i = entered == nullptr ? 0 : *entered; i != 0; i = regions[i - 1].next)
    if (strcmp(regions[i - 1].name, name) == 0) return i - 1;
  return kNone;
}

// Places do not overlap, so they end in the order in which they begin.
size_t ScopeTable::overlapping(const Region& added) const {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(added.address), end = static_cast<uintptr_t>(begin + added.size);
  if (by_place_.empty()) return kNone;
  const Place first_behind = {end, 0, 0};
  size_t lowest = kNone;
  for (size_t at = piece_of(first_behind) + 1; at-- > 0;) {
    const Vector<Place>& piece = by_place_[at];
    for (const Place* p = std::lower_bound(piece.begin(), piece.end(), first_behind, before); p-- != piece.begin();) {
      if (p->end <= begin) return lowest;
      lowest = std::min(lowest, p->number);
    }
  }
  return lowest;
}

}  // namespace elc::state
