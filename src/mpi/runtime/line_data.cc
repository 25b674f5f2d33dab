#include "mpi/runtime/line_data.h"

#include <string.h>

#include "base/message.h"
#include "mpi/objects/handles.h"
#include "mpi/runtime/runtime.h"
#include "portable_format/compressor.h"
#include "state/state.h"
#include "store/crew.h"
#include "store/system.h"

namespace elc::mpi {
namespace {

// Data that are written in the time that it takes to make a copy of the process are not worth one.
constexpr uint64_t kWorthACopy = uint64_t{4} << 20;
// What a copy allocates: for each megabyte an entry of the file's index, in vectors that grow and are never given back.
constexpr size_t kMemoryOfCopy = size_t{8} << 20;
constexpr uint64_t kDataForAByte = 256;
constexpr size_t kAllocation = 64;  // what may be lost between two pieces

// That compress the data of this rank: its share of the processors, as if all ranks were on this machine.
unsigned threads() {
  if (runtime.config.compress_threads > 0) return runtime.config.compress_threads;
  const unsigned share = store::processors() / static_cast<unsigned>(runtime.size);
  return share < 1 ? 1 : share < format::Compressor::kMostThreads ? share : format::Compressor::kMostThreads;
}

void compress(void* compressor, unsigned i) { static_cast<format::Compressor*>(compressor)->work(i); }

const char* const kCopied = "a copy of the process writes it while the program runs on";

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
  return {this, [](void* self, const void* data, size_t size) {
            const LineData& d = *static_cast<LineData*>(self);
            d.copy_.still_wanted();
            return d.file_->write(data, size);
          }};
}

const char* LineData::hindrance() const {
  const Background how = runtime.config.background;
  if (how == Background::kNo) return "ELC_BACKGROUND=no";
  if (how == Background::kAuto) {
    const uint64_t size = state::size_of_data();
    if (size < kWorthACopy) return "its data are small";
    if (store::has_rdma()) return "the machine's network reads and writes memory by itself (RDMA), which a copy of the "
                                  "process may disturb; ELC_BACKGROUND=fork tries it";
    if (has_died_) return "a copy of the process has died before";
    const uint64_t available = store::available_memory();
    if (available / 2 < size) return "a copy of the process may need as much memory again, and less is free";
  }
  if (state::has_data_of_mpi())
    return "some of its data are datatypes, groups, info objects or statuses of MPI, or its handles in Fortran, of which MPI is asked";
  if (some_is_shared()) return "some of its data lie in memory that processes share, of which there is no copy";
  return nullptr;
}

// Told when it changes.
void LineData::tell(const char* how) {
  if (how == told_ || runtime.config.verbose < (runtime.rank == 0 ? 1 : 2)) return;
  told_ = how;
  if (how == kCopied) say("line %u: %s", line_, how);
  else say("line %u is written while the program waits, because %s", line_, how);
}

// What the data hold of MPI is looked at here, before the section that describes it is written.
Result LineData::write(line::LineNumber line, format::Writer* writer) {
  writer_ = writer;
  line_ = line;
  const char* const why = hindrance();
  by_copy_ = why == nullptr;
  return by_copy_ ? Result() : write_here(why);
}

Result LineData::write_here(const char* why) {
  tell(why);
  return save_data(false);
}

Result LineData::begin_copy() {
  if (!by_copy_) return Result();
  if (!copy_now().ok()) return write_here("the system makes no copy of the process");
  tell(kCopied);
  return Result();
}

Result LineData::copy_now() {
  ELC_TRY(file_->flush());
  uint64_t memory = kMemoryOfCopy + state::size_of_data() / kDataForAByte;
  if (runtime.config.compress > 0) memory += format::Compressor::memory(threads()) + threads() * (store::Crew::kStack + kAllocation);
  return copy_.start(static_cast<size_t>(memory), file_->fd(), [](void* self, Bytes* report) {
    LineData& d = *static_cast<LineData*>(self);
    d.file_->keep_pace();
    ELC_TRY(d.save_data(true));
    ELC_TRY(d.file_->flush());
    Encoder out(report);
    d.writer_->hand_over(out);
    return Result();
  }, this);
}

// Where there is no memory for what compressing takes, they go as they are.
Result LineData::save_data(bool in_copy) {
  const int level = runtime.config.compress;
  void* const memory = level > 0 ? try_allocate(format::Compressor::memory(threads())) : nullptr;
  if (memory == nullptr) return state::save_data(*writer_, handle_codec());
  format::Compressor compressor(memory, level, threads());
  store::Crew crew;
  compressor.began(in_copy ? crew.start_in_copy(compressor.wanted(), compress, &compressor)
                           : crew.start(compressor.wanted(), compress, &compressor));
  writer_->compress_with(&compressor);
  const Result saved = state::save_data(*writer_, handle_codec());
  writer_->compress_with(nullptr);
  compressor.stop();
  crew.wait();
  release(memory);
  return saved;
}

Result LineData::written(bool* done) {
  *done = !copy_.running();
  if (*done) return Result();
  Bytes report;
  const Result result = copy_.look(done, &report);
  if (!result.ok()) has_died_ = has_died_ || !copy_.reported();
  if (!result.ok() || !*done) return result;
  Decoder in(report);
  ELC_TRY(writer_->take_over(in));
  file_->written_elsewhere(writer_->file_size());
  return Result();
}

}  // namespace elc::mpi
