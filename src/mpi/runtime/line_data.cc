#include "mpi/runtime/line_data.h"

#include <string.h>

#include "base/message.h"
#include "mpi/runtime/runtime.h"
#include "portable_format/compressor.h"
#include "state/state.h"
#include "store/crew.h"
#include "store/system.h"

namespace elc::mpi {
namespace {

// Data that are written in the time that it takes to make a copy of the process are not worth one.
constexpr uint64_t kWorthACopy = uint64_t{4} << 20;
// What a copy allocates: for each chunk an entry of the file's index and what it reports of that, in vectors that grow and are
// never given back; in pieces there are more of them, and each has a hash.
constexpr size_t kMemoryOfCopy = size_t{8} << 20;
constexpr uint64_t kDataForAByte = 256, kDataForAByteInPieces = 64;
constexpr size_t kAllocation = 64;  // what may be lost between two pieces

// That compress the data of this rank: its share of the processors, as if all ranks were on this machine.
unsigned threads() {
  if (runtime.config.compress_threads > 0) return runtime.config.compress_threads;
  const unsigned share = store::processors() / static_cast<unsigned>(runtime.size);
  return share < 1 ? 1 : share < format::Compressor::kMostThreads ? share : format::Compressor::kMostThreads;
}

void compress(void* compressor, unsigned i) { static_cast<format::Compressor*>(compressor)->work(i); }

// What a file has beside its data, mostly: what has no room is written while the program waits.
constexpr uint64_t kBesideData = uint64_t{1} << 20;
constexpr uint64_t kBesideBlock = 16;
const char* const kNoRoom = "a copy may need as much memory again as its data take, and less is free";

bool some_is_shared() {
  bool shared = false;
  const bool known = store::each_shared_memory(
      [](void* found, uintptr_t begin, uintptr_t end) {
        if (state::has_data_in(begin, end)) *static_cast<bool*>(found) = true;
      },
      &shared);
  return shared || !known;
}

}  // namespace

format::Sink LineData::sink() {
  return {this, [](void* self, const void* data, size_t size) { return static_cast<LineData*>(self)->write_bytes(data, size); }};
}

// What has become more than there is room for goes to the file at once.
Result LineData::write_bytes(const void* data, size_t size) {
  copy_.still_wanted();
  if (holds_ && held_.append(data, size)) return Result();
  if (holds_) ELC_TRY(held_.write(file_));
  holds_ = false;
  return file_->write(data, size);
}

const char* LineData::no_copy() const {
  const Background how = runtime.config.background;
  if (how == Background::kNo) return "ELC_BACKGROUND=no";
  if (how == Background::kCopy) return "ELC_BACKGROUND=copy";
  if (how == Background::kAuto) {
    const uint64_t size = state::size_of_data();
    if (size < kWorthACopy) return "its data are small";
    if (store::has_rdma()) return "the machine's network reads and writes memory by itself (RDMA), which a copy of the "
                                  "process may disturb; ELC_BACKGROUND=fork tries it";
    if (has_died_) return "a copy of the process has died before";
    if (store::available_memory() / 2 < size) return kNoRoom;
  }
  if (state::has_data_of_mpi())
    return "some of its data are datatypes, groups, info objects or statuses of MPI, or its handles in Fortran, of which MPI is asked";
  if (some_is_shared()) return "some of its data lie in memory that processes share, of which there is no copy";
  return nullptr;
}

const char* LineData::no_thread(const char* no_copy) {
  const Background how = runtime.config.background;
  const uint64_t size = state::size_of_data();
  if (how == Background::kNo || how == Background::kFork) return no_copy;
  if (how == Background::kAuto && size < kWorthACopy) return no_copy;
  if (how == Background::kAuto && store::available_memory() / 2 < size) return kNoRoom;
  return held_.make_room(size + size / 64 + state::heap_blocks() * kBesideBlock + kBesideData) ? nullptr : "there is no thread for it, or no memory for a copy of its data";
}

// Told when it changes.
void LineData::tell(const char* how, const char* why) {
  if ((how == told_ && why == told_why_) || runtime.config.verbose < (runtime.rank == 0 ? 1 : 2)) return;
  told_ = how;
  told_why_ = why;
  if (why == nullptr) say("line %u %s", line_, how);
  else say("line %u %s, because %s", line_, how, why);
}

void LineData::prepare(line::LineNumber line, format::Writer* writer, bool whole) {
  line_ = line;
  if (runtime.config.incremental <= 1) return;
  if (!pieces_.prepare()) {
    tell("is written whole", "the system has no random numbers, or no memory is left");
    return;
  }
  const auto there = [](const format::Base& base) {
    store::RankSource file;
    return file.open(runtime.config.dir.c_str(), base.line, static_cast<uint32_t>(runtime.rank)).ok() && file.source().size == base.size;
  };
  for (const format::Base& base : pieces_.bases()) whole = whole || !there(base);
  pieces_.start(whole);
  writer->refer_to(&pieces_);
}

void LineData::committed() {
  if (runtime.config.incremental > 1) pieces_.adopt(writer_->as_base(line_), writer_->sections());
}

// What the data hold of MPI is looked at here, before the section that describes it is written.
Result LineData::write(line::LineNumber line, format::Writer* writer) {
  writer_ = writer;
  line_ = line;
  holds_ = false;
  const char* const why = no_copy();
  by_copy_ = why == nullptr;
  return by_copy_ ? Result() : write_without_copy(why);
}

Result LineData::write_without_copy(const char* why) {
  const char* const no_thread_either = no_thread(why);
  holds_ = no_thread_either == nullptr;
  if (holds_) tell("is written by a thread, from a copy of its data, while the program runs on", why);
  else tell("is written while the program waits", no_thread_either);
  return save_data(false);
}

Result LineData::begin() {
  if (by_copy_ && copy_now().ok()) {
    tell("is written by a copy of the process while the program runs on", nullptr);
    return Result();
  }
  if (by_copy_) ELC_TRY(write_without_copy("the system makes no copy of the process"));
  if (holds_) held_.start(file_);
  holds_ = false;
  return Result();
}

Result LineData::copy_now() {
  ELC_TRY(file_->flush());
  uint64_t memory = kMemoryOfCopy + state::size_of_data() / (runtime.config.incremental > 1 ? kDataForAByteInPieces : kDataForAByte);
  if (runtime.config.compress > 0) memory += format::Compressor::memory(threads()) + threads() * (store::Crew::kStack + kAllocation);
  return copy_.start(static_cast<size_t>(memory), file_->fd(), [](void* self, Bytes* report) {
    LineData& d = *static_cast<LineData*>(self);
    d.file_->keep_pace();
    ELC_TRY(d.save_data(true));
    ELC_TRY(d.file_->flush());
    Encoder out(report);
    d.writer_->hand_over(out);
    d.file_->hand_over(out);
    const std::span<const state::ToldNumber> told = state::told_numbers();
    out.u64(told.size());
    for (const state::ToldNumber& number : told) out.u64(number.address), out.boolean(number.exact), out.boolean(number.asks_holder);
    return Result();
  }, this);
}

// Where there is no memory for what compressing takes, they go as they are.
Result LineData::save_data(bool in_copy) {
  const int level = runtime.config.compress;
  void* const memory = level > 0 ? try_allocate(format::Compressor::memory(threads())) : nullptr;
  if (memory == nullptr) return state::save_data(*writer_);
  format::Compressor compressor(memory, level, threads());
  store::Crew crew;
  compressor.began(in_copy ? crew.start_in_copy(compressor.wanted(), compress, &compressor)
                           : crew.start(compressor.wanted(), compress, &compressor));
  writer_->compress_with(&compressor);
  const Result saved = state::save_data(*writer_);
  writer_->compress_with(nullptr);
  compressor.stop();
  crew.wait();
  release(memory);
  return saved;
}

Result LineData::written(bool* done) {
  if (held_.started()) {
    *done = !held_.running();
    return *done ? held_.finish() : Result();
  }
  *done = !copy_.running();
  if (*done) return Result();
  Bytes report;
  const Result result = copy_.look(done, &report);
  if (!result.ok()) has_died_ = has_died_ || !copy_.reported();
  if (!result.ok() || !*done) return result;
  Decoder in(report);
  ELC_TRY(writer_->take_over(in));
  ELC_TRY(file_->take_over(in));
  Vector<state::ToldNumber> told;
  for (size_t i = in.count(10); i > 0; --i) {
    state::ToldNumber& number = told.push_back({});
    number.address = static_cast<uintptr_t>(in.u64());
    number.exact = in.boolean();
    number.asks_holder = in.boolean();
  }
  state::note_told({told.data(), told.size()});
  return Result();
}

}  // namespace elc::mpi
