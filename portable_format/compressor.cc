#include "portable_format/compressor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "portable_format/checksum.h"

namespace elc::format {
namespace {

constexpr size_t kRoomForZlib = size_t{1} << 19;  // twice what zlib takes for what is asked of it here
constexpr size_t kAlignment = 64;
constexpr uint8_t kStop = 0xff;  // in place of a slot's number

constexpr size_t kMostStored = 65535;  // bytes of a block that is stored (RFC 1951, 3.2.4), behind 5 of its own
constexpr size_t kStreamHeader = 2, kStreamEnd = 5 + 4;

// A plane is not worth trying if its bytes are distributed as good as evenly and a sample does not get smaller either.
constexpr uint64_t kEven = 200;
constexpr size_t kSample = 4096;

constexpr size_t aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

bool is_even(const uint8_t* plane, size_t size) {
  uint32_t often[4][256] = {};
  for (size_t i = 0; i < size; ++i) ++often[i % 4][plane[i]];
  uint64_t squares = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const uint64_t n = uint64_t{often[0][byte]} + often[1][byte] + often[2][byte] + often[3][byte];
    squares += n * n;
  }
  return squares * kEven < uint64_t{size} * size;
}

template <size_t kWidth>
void shuffle_by(const uint8_t* from, uint8_t* to, size_t elements) {
  for (size_t i = 0; i < elements; ++i)
    for (size_t j = 0; j < kWidth; ++j) to[j * elements + i] = from[i * kWidth + j];
}

template <size_t kWidth>
void unshuffle_by(const uint8_t* from, uint8_t* to, size_t elements) {
  for (size_t i = 0; i < elements; ++i)
    for (size_t j = 0; j < kWidth; ++j) to[i * kWidth + j] = from[j * elements + i];
}

bool make_pipe(Descriptor ends[2]) {
  int made[2];
  if (::pipe(made) != 0) return false;
  bool both = true;
  for (int i = 0; i < 2; ++i) {
    ends[i] = Descriptor(made[i]);
    both = both && ends[i].open();
    if (ends[i].open()) fcntl(ends[i].get(), F_SETFD, FD_CLOEXEC);
  }
  return both;
}

// A pipe here never has more in it than there are slots and threads, so that a write does not wait, and its ends are open.
void send(const Descriptor& pipe, uint8_t number) {
  while (::write(pipe.get(), &number, 1) < 0 && errno == EINTR) {
  }
}

uint8_t receive(const Descriptor& pipe) {
  uint8_t number = kStop;
  while (::read(pipe.get(), &number, 1) < 0 && errno == EINTR) {
  }
  return number;
}

}  // namespace

void shuffle(const uint8_t* from, uint8_t* to, size_t size, size_t width) {
  const size_t elements = size / width, whole = elements * width;
  if (width == 8) shuffle_by<8>(from, to, elements);
  else if (width == 4) shuffle_by<4>(from, to, elements);
  else shuffle_by<2>(from, to, elements);
  memcpy(to + whole, from + whole, size - whole);
}

void unshuffle(const uint8_t* from, uint8_t* to, size_t size, size_t width) {
  const size_t elements = size / width, whole = elements * width;
  if (width == 8) unshuffle_by<8>(from, to, elements);
  else if (width == 4) unshuffle_by<4>(from, to, elements);
  else unshuffle_by<2>(from, to, elements);
  memcpy(to + whole, from + whole, size - whole);
}

struct Compressor::Slot {
  const uint8_t* data = nullptr;
  size_t size = 0, width = 1;
  bool ready = false;
  Packed packed;
  uint8_t* in = nullptr;  // kChunkSize bytes
  uint8_t* out = nullptr;
};

// What a thread works with.
struct Compressor::Tools {
  z_stream stream = {};
  bool has_stream = false;
  uint8_t* shuffled = nullptr;  // kChunkSize bytes
  uint8_t* memory = nullptr;    // zlib's
  size_t used = 0;

  // zlib asks for its memory when the stream is made, and not afterwards.
  static voidpf allocate(voidpf self, uInt items, uInt size) {
    Tools& tools = *static_cast<Tools*>(self);
    const size_t bytes = aligned(size_t{items} * size);
    if (bytes > kRoomForZlib - tools.used) return Z_NULL;
    tools.used += bytes;
    return memset(tools.memory + tools.used - bytes, 0, bytes);
  }
  static void release(voidpf, voidpf) {}

  // Deflates `size` bytes to `to`, to the end of a byte, in blocks of which none is the last; 0: into no less than `room`.
  size_t deflate_plane(const uint8_t* plane, size_t size, uint8_t* to, size_t room) {
    if (deflateReset(&stream) != Z_OK) return 0;
    stream.next_in = const_cast<Bytef*>(plane);
    stream.avail_in = static_cast<uInt>(size);
    stream.next_out = to;
    stream.avail_out = static_cast<uInt>(room);
    if (deflate(&stream, Z_FULL_FLUSH) != Z_OK || stream.avail_out == 0) return 0;
    return room - stream.avail_out;
  }

  bool worth_trying(const uint8_t* plane, size_t size, uint8_t* to, size_t room) {
    if (size <= 2 * kSample || !is_even(plane, size)) return true;
    constexpr size_t kSmaller = kSample - kSample / 32;
    return deflate_plane(plane + size / 2, kSample, to, room < kSmaller ? room : kSmaller) != 0;
  }
};

size_t Compressor::memory(unsigned threads) {
  const unsigned slots = threads <= 1 ? 1 : threads + 2, tools = threads <= 1 ? 1 : threads;
  return kAlignment + aligned(slots * sizeof(Slot)) + aligned(tools * sizeof(Tools)) + slots * 2 * kChunkSize +
         tools * (kChunkSize + kRoomForZlib);
}

Compressor::Compressor(void* memory, int level, unsigned threads) : level_(level) {
  if (threads > 1 && make_pipe(jobs_) && make_pipe(results_)) wanted_ = threads;
  slots_ = wanted_ == 0 ? 1 : wanted_ + 2;
  const unsigned tools = wanted_ == 0 ? 1 : wanted_;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  uint8_t* at = static_cast<uint8_t*>(memory) + (kAlignment - begin % kAlignment) % kAlignment;
  const auto next = [&at](size_t size) {
    uint8_t* const piece = at;
    at += aligned(size);
    return piece;
  };
  slot_ = new (next(slots_ * sizeof(Slot))) Slot[slots_];
  tools_ = new (next(tools * sizeof(Tools))) Tools[tools];
  for (unsigned i = 0; i < slots_; ++i) {
    slot_[i].in = next(kChunkSize);
    slot_[i].out = next(kChunkSize);
  }
  for (unsigned i = 0; i < tools; ++i) {
    Tools& t = tools_[i];
    t.shuffled = next(kChunkSize);
    t.memory = next(kRoomForZlib);
    t.stream.zalloc = Tools::allocate;
    t.stream.zfree = Tools::release;
    t.stream.opaque = &t;
    t.has_stream = deflateInit2(&t.stream, level_, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
}

void Compressor::work(unsigned i) {
  for (uint8_t number; (number = receive(jobs_[0])) < slots_;) {
    pack(&slot_[number], &tools_[i]);
    send(results_[1], number);
  }
  send(results_[1], kStop);
}

void Compressor::stop() {
  for (unsigned i = 0; i < working_; ++i) send(jobs_[1], kStop);
  while (working_ > 0)
    if (receive(results_[0]) == kStop) --working_;
}

void Compressor::put(const uint8_t* data, size_t size, size_t width, bool stays) {
  const size_t number = static_cast<size_t>(in_++ % slots_);
  Slot& slot = slot_[number];
  slot.data = stays ? data : static_cast<const uint8_t*>(memcpy(slot.in, data, size));
  slot.size = size;
  slot.width = width;
  slot.ready = working_ == 0;
  if (slot.ready) pack(&slot, &tools_[0]);
  else send(jobs_[1], static_cast<uint8_t>(number));
}

const Packed& Compressor::take() {
  Slot& slot = slot_[out_ % slots_];
  while (!slot.ready) {
    const uint8_t number = receive(results_[0]);
    if (number >= slots_) {
      static constexpr Packed kNothing;
      return kNothing;
    }
    slot_[number].ready = true;
  }
  ++out_;
  return slot.packed;
}

void Compressor::pack(Slot* slot, Tools* tools) const {
  Packed& p = slot->packed;
  p.payload = slot->data;
  p.raw = p.stored = static_cast<uint32_t>(slot->size);
  p.flags = 0;
  const size_t length = tools->has_stream ? deflate_chunk(*slot, tools) : 0;
  if (length > 0) {
    p.payload = slot->out;
    p.stored = static_cast<uint32_t>(length);
    p.flags = kChunkDeflated | (slot->width > 1 ? static_cast<uint32_t>(slot->width) : 0);
  }
  p.checksum = crc32_of(p.payload, p.stored);
}

// A stream of zlib (RFC 1950) that is made plane by plane: each begins anew and ends on a byte, so that one that does not
// get smaller can be stored between the others without having been tried to its end. 0: it would not be smaller.
size_t Compressor::deflate_chunk(const Slot& slot, Tools* tools) const {
  const uint8_t* data = slot.data;
  const size_t size = slot.size, planes = size < slot.width ? 1 : slot.width;
  if (slot.width > 1) {
    shuffle(slot.data, tools->shuffled, size, slot.width);
    data = tools->shuffled;
  }
  uint8_t* const out = slot.out;
  size_t used = kStreamHeader;
  bool smaller = false;
  out[0] = 0x78;  // deflate, a window of 32 KiB
  out[1] = 0x01;
  for (size_t i = 0, at = 0; i < planes; ++i) {
    const size_t length = i + 1 < planes ? size / planes : size - at;
    const size_t blocks = (length + kMostStored - 1) / kMostStored, as_it_is = length + 5 * blocks;
    const uint8_t* const plane = data + at;
    at += length;
    if (used + kStreamEnd >= size) return 0;
    const size_t room = size - used - kStreamEnd;
    const size_t wanted = room < length ? room : length;
    const bool try_it = tools->worth_trying(plane, length, out + used, room);
    const size_t deflated = try_it ? tools->deflate_plane(plane, length, out + used, wanted) : 0;
    if (deflated > 0) {
      used += deflated;
      smaller = true;
      continue;
    }
    if (as_it_is >= room) return 0;
    for (size_t done = 0; done < length;) {
      const size_t piece = length - done < kMostStored ? length - done : kMostStored;
      const uint8_t head[] = {0, static_cast<uint8_t>(piece), static_cast<uint8_t>(piece >> 8), static_cast<uint8_t>(~piece),
                              static_cast<uint8_t>(~piece >> 8)};
      memcpy(out + used, head, sizeof head);
      memcpy(out + used + sizeof head, plane + done, piece);
      used += sizeof head + piece;
      done += piece;
    }
  }
  if (!smaller) return 0;
  const auto sum = static_cast<uint32_t>(adler32(1, data, static_cast<uInt>(size)));
  const uint8_t end[kStreamEnd] = {1, 0, 0, 0xff, 0xff,  // the last block, of nothing
                                   static_cast<uint8_t>(sum >> 24), static_cast<uint8_t>(sum >> 16),
                                   static_cast<uint8_t>(sum >> 8), static_cast<uint8_t>(sum)};
  memcpy(out + used, end, sizeof end);
  return used + sizeof end;
}

}  // namespace elc::format
