// The table of the heap's blocks and the tables of variables, each against a simple model.
#include "state/heap.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "helper.h"
#include "state/image.h"
#include "state/names.h"
#include "state/process.h"

using elc::state::Block;
using elc::state::Heap;

namespace {

// Addresses that nobody looks at: side by side, at odd places, and far apart.
struct Places {
  Random random;
  uintptr_t next() {
    const uintptr_t base = uintptr_t{1} << 28;
    switch (random.below(4)) {
      case 0: return base + 16 * (1 + random.below(2000));
      case 1: return base + 8 * (1 + random.below(4000));
      case 2: return base + (uintptr_t{1} << 20) * (1 + random.below(40));
      default: return ~uintptr_t{0} / 2 - 4096 * (1 + random.below(1000));
    }
  }
};

void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }
uintptr_t number(const Block& block) { return reinterpret_cast<uintptr_t>(block.address); }

struct Model {
  std::map<uintptr_t, std::pair<uint64_t, uint64_t>> blocks;  // size and id, by address
  bool free_at(uintptr_t at, uint64_t size, uintptr_t but = 0) const {
    for (auto b = blocks.lower_bound(at > 8192 ? at - 8192 : 0); b != blocks.end() && b->first < at + size + 1; ++b)
      if (b->first != but && b->first + b->second.first + 1 > at) return false;
    return true;
  }
};

void compare(Heap& heap, const Model& model) {
  CHECK(heap.size() == model.blocks.size());
  for (const auto& [at, what] : model.blocks) {
    const Block* block = heap.find(pointer(at));
    REQUIRE(block != nullptr);
    CHECK(block->size == what.first);
    CHECK(block->id == what.second);
    CHECK(heap.find(pointer(at + 1)) == (model.blocks.count(at + 1) == 0 ? nullptr : heap.find(pointer(at + 1))));
  }
}

}  // namespace

TEST_CASE("the heap's table, against a model") {
  const uint64_t seed = test_seed("heap");
  Places places = {{seed}};
  Random& random = places.random;
  Heap heap;
  Model model;
  uint64_t id = 0;
  uintptr_t last_added = 0;
  for (int step = 0; step < 40000; ++step) {
    const uintptr_t at = places.next();
    const uint64_t size = random.below(8) == 0 ? 4000 + random.below(200) : random.below(64);
    auto some = model.blocks.lower_bound(at);
    const bool there = some != model.blocks.end();
    // Grows and shrinks by turns, down to nothing.
    const bool grow = step / 5000 % 2 == 0;
    const uint64_t what = random.below(10);
    if (what < (grow ? 6 : 1)) {
      if (!model.free_at(at, size)) continue;
      REQUIRE(heap.make_room());
      const Block& block = heap.add(pointer(at), size, elc::format::kByte);
      CHECK(block.id == ++id);
      CHECK(heap.find_newest(pointer(at)) == &block);
      CHECK(heap.find_newest(pointer(at + 1)) == nullptr);
      last_added = at;
      model.blocks[at] = {size, id};
    } else if (what < 8 && there) {
      heap.remove(pointer(some->first));
      model.blocks.erase(some);
    } else if (what == 8 && there && model.free_at(at, size, some->first)) {
      REQUIRE(heap.make_room());
      heap.moved(heap.find(pointer(some->first)), pointer(at), size);
      const uint64_t its = some->second.second;
      model.blocks.erase(some);
      model.blocks[at] = {size, its};
    } else {
      heap.remove(pointer(at + 3));  // nothing begins there
    }
    if (const Block* newest = heap.find_newest(pointer(last_added))) {
      CHECK(newest == heap.find(pointer(last_added)));
    }
    if (step % 997 == 0 || model.blocks.empty()) {
      compare(heap, model);
      heap.arrange();
      uint64_t last = 0;
      REQUIRE(heap.slots().size() == model.blocks.size());
      for (const Block& block : heap.slots()) {
        CHECK(block.id > last);
        last = block.id;
        const auto found = model.blocks.find(number(block));
        REQUIRE(found != model.blocks.end());
        CHECK(found->second == std::pair(block.size, block.id));
      }
      compare(heap, model);
      CHECK(heap.find_newest(nullptr) == nullptr);
      std::set<size_t> others;
      heap.each_other([&](size_t slot) { others.insert(slot); });
      for (int i = 0; i < 200; ++i) {
        const uintptr_t low = places.next(), high = low + random.below(3) * random.below(3 << 20);
        size_t expected = Heap::kNoSlot;
        for (size_t slot = 0; slot < heap.slots().size(); ++slot) {
          const uintptr_t begin = number(heap.slots()[slot]);
          if (others.count(slot) != 0 || begin < low || begin > high) continue;
          if (expected == Heap::kNoSlot || begin > number(heap.slots()[expected])) expected = slot;
        }
        CHECK(heap.last_small(low, high) == expected);
      }
      for (size_t slot = 0; slot < heap.slots().size(); ++slot) {
        const Block& block = heap.slots()[slot];
        if (number(block) % 16 == 0 && uint64_t{number(block)} >> 40 == 0) CHECK(others.count(slot) == (block.size < Heap::kSmall ? 0 : 1));
      }
    }
  }
}

TEST_CASE("huge pages are asked for once for what is large, and for no more at a time than is allowed") {
  static std::map<void*, size_t> asked;
  constexpr size_t kLarge = size_t{8} << 20;
  const auto ask = [](void* memory, size_t size) { CHECK(asked.emplace(memory, size).second); };
  const auto take = [] {
    const std::map<void*, size_t> taken = std::move(asked);
    asked.clear();
    return taken;
  };
  new_process();
  void* const before = ELC_calloc(kLarge, 1);
  std::vector<double> variable(kLarge / sizeof(double));
  REQUIRE(ELC_Register("variable", variable.data(), ELC_DOUBLE, variable.size()) == ELC_OK);
  double local[16] = {};
  REQUIRE(ELC_Register("local", local, ELC_DOUBLE, 16) == ELC_OK);
  elc::state::use_huge_pages(ask, 4 * kLarge);
  CHECK(take() == std::map<void*, size_t>{{before, kLarge}, {variable.data(), kLarge}});
  void* const small = ELC_calloc(1, kLarge / 8);  // else what is there may be the address of a block
  CHECK(asked.empty());
  void* const third = ELC_malloc(2 * kLarge);
  CHECK(take() == std::map<void*, size_t>{{third, 2 * kLarge}});
  void* const sparse = ELC_calloc(1, kLarge);  // more than is left
  CHECK(asked.empty());
  ELC_free(sparse);
  ELC_free(before);
  void* const fourth = ELC_new(ELC_DOUBLE, kLarge / sizeof(double));
  CHECK(take() == std::map<void*, size_t>{{fourth, kLarge}});

  SUBCASE("when they become smaller, for what is given back") {
    void* const shorter = ELC_realloc(third, kLarge);
    CHECK(take() == std::map<void*, size_t>{{shorter, kLarge}});
    void* const fifth = ELC_malloc(kLarge);
    CHECK(take() == std::map<void*, size_t>{{fifth, kLarge}});
    CHECK(ELC_calloc(1, kLarge) != nullptr);
    CHECK(asked.empty());
  }
  SUBCASE("by a restart, for its blocks") {
    ELC_free(third);
    Line line;
    REQUIRE_OK(line.save());
    elc::state::use_huge_pages(nullptr, 0);
    new_process();
    REQUIRE(ELC_Register("variable", variable.data(), ELC_DOUBLE, variable.size()) == ELC_OK);
    REQUIRE(ELC_Register("local", local, ELC_DOUBLE, 16) == ELC_OK);
    elc::state::use_huge_pages(ask, 4 * kLarge);
    take();
    REQUIRE_OK(line.restore());
    REQUIRE(asked.size() == 1);
    CHECK(take().begin()->second == kLarge);
    elc::state::use_huge_pages(nullptr, 0);
    new_process();
    REQUIRE(ELC_Register("variable", variable.data(), ELC_DOUBLE, variable.size()) == ELC_OK);
    REQUIRE(ELC_Register("local", local, ELC_DOUBLE, 16) == ELC_OK);
    elc::state::use_huge_pages(ask, 4 * kLarge);
    CHECK(ELC_malloc(kLarge) != nullptr);  // by the set-up; it is none of the line's
    REQUIRE_OK(line.restore());
    take();
    CHECK(ELC_malloc(2 * kLarge) != nullptr);  // what the set-up had is free again
    CHECK(asked.size() == 1);
    take();
  }
  ELC_free(small);
  elc::state::use_huge_pages(nullptr, 0);
}

TEST_CASE("a block whose address the C library gives out again was freed behind the library's back") {
  const uint64_t large = uint64_t{1} << 20;
  for (const auto& [first, then, last] : {std::tuple{uint64_t{24}, uint64_t{24}, uint64_t{8192}}, {large, large, large},
                                          {large, uint64_t{24}, large}, {uint64_t{8192}, uint64_t{24}, uint64_t{24}}}) {
    Heap heap;
    const uintptr_t at = uintptr_t{1} << 30;
    for (const uint64_t now : {first, then, last}) {
      REQUIRE(heap.make_room());
      heap.add(pointer(at), now, elc::format::kByte);
      CHECK(heap.size() == 1);
      REQUIRE(heap.find(pointer(at)) != nullptr);
      CHECK(heap.find(pointer(at))->size == now);
    }
    // The same by realloc.
    REQUIRE(heap.make_room());
    heap.add(pointer(at + 4096), 32, elc::format::kByte);
    REQUIRE(heap.make_room());
    heap.moved(heap.find(pointer(at + 4096)), pointer(at), 32);
    CHECK(heap.size() == 1);
    heap.arrange();
    REQUIRE(heap.slots().size() == 1);
    CHECK(heap.slots()[0].id == 4);
    heap.remove(pointer(at));
    CHECK(heap.size() == 0);
    CHECK(heap.find(pointer(at)) == nullptr);
  }
}

TEST_CASE("blocks of many ids are in their order, however they were made and freed") {
  const uint64_t seed = test_seed("order");
  Random random = {seed};
  new_process();
  std::vector<char*> blocks;
  uint64_t made = 0;
  for (int line = 0; line < 4; ++line) {
    for (int i = 0; i < 30000; ++i) {
      if (blocks.size() > 1000 && random.below(blocks.size() < 20000 ? 3 : 2) == 0) {
        const size_t which = random.below(blocks.size());
        ELC_free(blocks[which]);
        blocks[which] = blocks.back();
        blocks.pop_back();
        continue;
      }
      char* block = static_cast<char*>(ELC_malloc(sizeof made));
      ++made;
      memcpy(block, &made, sizeof made);
      blocks.push_back(block);
    }
    // What is in a block is its id.
    ELC_Register_pointer("blocks", blocks.data(), blocks.size(), ELC_BYTE);
    Line saved;
    REQUIRE_OK(saved.save());
    REQUIRE_OK(elc::state::begin_save({}));
    uint64_t last = 0;
    for (char* block : blocks) {
      uint64_t id;
      memcpy(&id, block, sizeof id);
      last += elc::state::locate(block).block == elc::state::locate(block + 3).block ? 1 : 0;
    }
    CHECK(last == blocks.size());
    std::map<uint64_t, uint64_t> by_id;
    for (char* block : blocks) {
      uint64_t id;
      memcpy(&id, block, sizeof id);
      by_id[id] = elc::state::locate(block).block;
    }
    for (const auto& [id, block] : by_id) CHECK(block == elc::format::kFirstById + id);
    // The directory, whose ids have to ascend.
    elc::format::Reader reader;
    elc::format::Cursor heap;
    elc::state::Image image;
    REQUIRE_OK(saved.open(&reader));
    REQUIRE_OK(heap.open(&reader, "heap"));
    REQUIRE_OK(image.read_heap(heap, reader));
    CHECK(image.blocks == by_id.size());
    ELC_Unregister("blocks");
  }
}

namespace {

// Blocks with known contents, and pointers to somewhere in them, just behind them, and between them.
struct Pointed {
  static constexpr size_t kMost = 400;
  struct One {
    unsigned char* block = nullptr;
    uint64_t id = 0;
    size_t size = 0, at = 0;
  };
  One all[kMost];
  unsigned char *first[kMost], *into[kMost];
  uint64_t made = 0;

  void enter() {
    ELC_Register_pointer("first", first, kMost, ELC_BYTE);
    ELC_Register_pointer("into", into, kMost, ELC_BYTE);
  }
  static unsigned char byte(uint64_t id, size_t at) { return static_cast<unsigned char>(id * 31 + at * 7 + at / 256); }
  void fill(One& one) {
    for (size_t i = 0; i < one.size; ++i) one.block[i] = byte(one.id, i);
  }
  static bool is_whole(const One& one, size_t size) {
    for (size_t i = 0; i < size; ++i)
      if (one.block[i] != byte(one.id, i)) return false;
    return true;
  }
  void point(Random& random) {
    for (size_t i = 0; i < kMost; ++i) {
      One& one = all[i];
      one.at = one.size == 0 ? 0 : random.below(one.size + 1);
      first[i] = one.block;
      into[i] = one.block == nullptr ? nullptr : one.block + one.at;
    }
  }
  void change(Random& random) {
    const auto size = [&random] {
      const uint64_t limit = random.below(20) == 0 ? 300000 : random.below(4) == 0 ? 9000 : 200;
      return static_cast<size_t>(random.below(limit));
    };
    One& one = all[random.below(kMost)];
    if (one.block == nullptr) {
      one.size = size();
      one.id = ++made;
      one.block = static_cast<unsigned char*>(ELC_malloc(one.size));
    } else if (random.below(2) == 0) {
      ELC_free(one.block);
      one = One();
      return;
    } else {  // often where it is
      const size_t before = one.size;
      one.size = random.below(2) == 0 ? size() : one.size + random.below(64);
      one.block = static_cast<unsigned char*>(ELC_realloc(one.block, one.size));
      REQUIRE(is_whole(one, std::min(before, one.size)));
    }
    REQUIRE(one.block != nullptr);
    fill(one);
  }
  // What came back, of which alone `first` and `into` tell.
  void take() {
    for (size_t i = 0; i < kMost; ++i) {
      One& one = all[i];
      REQUIRE((one.block == nullptr) == (first[i] == nullptr));
      one.block = first[i];
      if (one.block == nullptr) continue;
      REQUIRE(is_whole(one, one.size));
      REQUIRE(into[i] == one.block + one.at);
    }
  }
};

}  // namespace

TEST_CASE("pointers into blocks that come, go and change their sizes, from line to line and restart to restart") {
  const uint64_t seed = test_seed("pointed");
  Random random = {seed};
  static Pointed pointed;
  pointed = Pointed();
  new_process();
  pointed.enter();
  for (int round = 0; round < 30; ++round) {
    const bool restarts = random.below(3) != 0, grows = round % 5 != 4;
    for (uint64_t left = random.below(3000); left > 0; --left) pointed.change(random);
    for (Pointed::One& one : pointed.all) {  // now and then nothing is left
      if (grows || one.block == nullptr) continue;
      ELC_free(one.block);
      one = Pointed::One();
    }
    pointed.point(random);
    Line line;
    REQUIRE_OK(line.save());
    if (!restarts) continue;
    new_process();
    pointed.enter();
    for (uint64_t of_the_setup = random.below(3); of_the_setup > 0; --of_the_setup) ELC_malloc(random.below(200));
    memset(pointed.first, 1, sizeof pointed.first);
    memset(pointed.into, 1, sizeof pointed.into);
    REQUIRE_OK(line.restore());
    elc::state::set_recovering(false);
    pointed.take();
  }
}

TEST_CASE("a pointer into a block and just behind it, of small and large blocks") {
  new_process();
  struct Roots {
    char* into[8] = {};
    char* behind[8] = {};
    void enter() {
      ELC_Register_pointer("into", into, 8, ELC_BYTE), ELC_Register_pointer("behind", behind, 8, ELC_BYTE);
    }
  } a, b;
  a.enter();
  const size_t sizes[8] = {1, 17, 4095, 4096, 4097, 100000, 1 << 20, 3 << 20};
  char* first[8];
  for (int i = 0; i < 8; ++i) {
    first[i] = static_cast<char*>(ELC_malloc(sizes[i]));
    memset(first[i], 'a' + i, sizes[i]);
    a.into[i] = first[i] + sizes[i] - 1;
    a.behind[i] = first[i] + sizes[i];
  }
  Line line;
  REQUIRE_OK(line.save());
  CHECK(elc::state::is_registered(reinterpret_cast<uintptr_t>(first[4]), 4097));
  CHECK_FALSE(elc::state::is_registered(reinterpret_cast<uintptr_t>(first[4]), 4098));
  CHECK(elc::state::largest_block() == 3 << 20);
  uint64_t all = 16 * sizeof(char*);
  for (const size_t size : sizes) all += size;
  CHECK(elc::state::size_of_data() == all);
  for (int i = 0; i < 8; ++i) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(first[i]);
    CHECK(elc::state::has_data_in(at + sizes[i] - 1, at + sizes[i] + 1));
    CHECK(elc::state::has_data_in(at - 1000, at + 1));
    CHECK(elc::state::has_data_in(at - (uintptr_t{64} << 20), at + (uintptr_t{64} << 20)));
  }
  CHECK_FALSE(elc::state::has_data_in(4096, 8192));
  new_process();
  b.enter();
  REQUIRE_OK(line.restore());
  for (int i = 0; i < 8; ++i) {
    CHECK(b.behind[i] == b.into[i] + 1);
    CHECK(*b.into[i] == 'a' + i);
    CHECK(b.into[i][1 - static_cast<ptrdiff_t>(sizes[i])] == 'a' + i);
  }
}

TEST_CASE("a directory of a heap that has more blocks than its section has bytes is refused before there is a table for them") {
  new_process();
  Line line;
  const auto append = [](void* context, const void* data, size_t size) {
    auto* bytes = static_cast<std::vector<uint8_t>*>(context);
    bytes->insert(bytes->end(), static_cast<const uint8_t*>(data), static_cast<const uint8_t*>(data) + size);
    return elc::Result();
  };
  elc::format::Writer writer(&elc::state::types(), {&line.bytes, append}, {});
  elc::Encoder& out = writer.encoder();
  writer.begin_section("vars");
  out.u32(1), out.u64(0), out.u64(0), out.u64(0);
  writer.end_section();
  writer.begin_section("heap");
  const uint64_t runs = 100, blocks = 36 * runs;  // each run alone would have room
  out.u32(1), out.u64(1 + runs * blocks), out.u64(runs);
  for (uint64_t i = 0; i < runs; ++i) out.u64(1 + i * blocks), out.u64(blocks), out.i32(ELC_BYTE), out.u64(1), out.u64(0);
  writer.end_section();
  REQUIRE_OK(elc::state::save_files(writer, 0));
  REQUIRE_OK(writer.finish());
  CHECK(contains(text(line.check()), "the directory of the heap contradicts itself"));
}

// ---- Many unlike blocks ---------------------------------------------------------------------------------

namespace {

struct Short {
  short number;
  void* to;
  char text[3];
};
struct Long {
  double value;
  long number;
  void* to[2];
  int last;
};

struct Types {
  ELC_Type of_short, of_long;
  // A restart makes them in another order, and others before.
  explicit Types(bool again) {
    const ELC_Field others[] = {{"nothing", 0, ELC_INT, 1}};
    const ELC_Field shorts[] = {ELC_FIELD(Short, number), ELC_POINTER_FIELD(Short, to), ELC_FIELD(Short, text)};
    const ELC_Field longs[] = {ELC_FIELD(Long, value), ELC_FIELD(Long, number), {"to", offsetof(Long, to), ELC_POINTER, 2}, ELC_FIELD(Long, last)};
    for (int i = 0; again && i < 3; ++i) ELC_Struct(("other" + std::to_string(i)).c_str(), sizeof(int), 1, others);
    if (again) of_long = ELC_Struct("Long", sizeof(Long), 4, longs);
    of_short = ELC_Struct("Short", sizeof(Short), 3, shorts);
    if (!again) of_long = ELC_Struct("Long", sizeof(Long), 4, longs);
  }
};

struct Unlike {
  enum Kind { kChars, kInts, kLongs, kDoubles, kShort, kLong, kKinds } kind;
  size_t count;
  void* address;

  size_t element() const {
    const size_t sizes[] = {1, sizeof(int), sizeof(long), sizeof(double), sizeof(Short), sizeof(Long)};
    return sizes[kind];
  }
};

}  // namespace

TEST_CASE("many unlike blocks, some of which are gone") {
  const uint64_t seed = test_seed("unlike blocks");
  const elc::format::Representation machine = foreign_machine();
  for (int round = 0; round < 20; ++round) {
    CAPTURE(seed);
    CAPTURE(round);
    Random random = {seed + static_cast<uint64_t>(round)};
    new_process();
    const Types types(false);
    const ELC_Type of[] = {ELC_CHAR, ELC_INT, ELC_LONG, ELC_DOUBLE, types.of_short, types.of_long};
    std::vector<Unlike> all;
    const size_t made = 10 + random.below(2000), kinds = 1 + random.below(Unlike::kKinds), gone = random.below(4);
    for (size_t i = 0; i < made; ++i) {
      Unlike one;
      one.kind = static_cast<Unlike::Kind>(random.below(3) == 0 ? i % kinds : random.below(kinds));
      one.count = 1 + random.below(random.below(5) == 0 ? 40 : 2);
      one.address = ELC_new(of[one.kind], one.count);
      if (random.below(4) < gone) ELC_free(one.address);
      else all.push_back(one);
    }
    if (all.empty()) continue;
    // Where each is, and where something in it leads: at an element of another.
    const size_t n = all.size();
    void** table = static_cast<void**>(ELC_new(ELC_POINTER, n));
    ELC_Register_pointer("table", &table, 1, ELC_POINTER);
    struct Way {
      size_t block, offset;
    };
    const auto way = [&](size_t i, size_t k, size_t member) {
      Random drawn = {seed ^ (i * 1000 + k * 10 + member)};
      const size_t block = drawn.below(n);
      return Way{block, drawn.below(all[block].count) * all[block].element()};
    };
    const auto leads = [&](void** places, size_t i, size_t k, size_t member) -> void* {
      const Way to = way(i, k, member);
      return static_cast<char*>(places[to.block]) + to.offset;
    };
    for (size_t i = 0; i < n; ++i) table[i] = all[i].address;
    for (size_t i = 0; i < n; ++i) {
      const Unlike& one = all[i];
      for (size_t k = 0; k < one.count; ++k) {
        const int value = static_cast<int>((i * 7 + k) % 101);
        if (one.kind == Unlike::kChars) static_cast<char*>(one.address)[k] = static_cast<char>(value);
        if (one.kind == Unlike::kInts) static_cast<int*>(one.address)[k] = value;
        if (one.kind == Unlike::kLongs) static_cast<long*>(one.address)[k] = value;
        if (one.kind == Unlike::kDoubles) static_cast<double*>(one.address)[k] = value + 0.5;
        if (one.kind == Unlike::kShort) static_cast<Short*>(one.address)[k] = {static_cast<short>(value), leads(table, i, k, 0), {'a', 'b', 'c'}};
        if (one.kind == Unlike::kLong)
          static_cast<Long*>(one.address)[k] = {value + 0.25, value, {leads(table, i, k, 0), leads(table, i, k, 1)}, -value};
      }
    }
    Line line;
    REQUIRE_OK(line.save(random.below(2) == 0 ? &machine : nullptr));

    new_process();
    const Types again(true);
    table = nullptr;
    ELC_Register_pointer("table", &table, 1, ELC_POINTER);
    REQUIRE_OK(line.restore());
    size_t wrong = 0;
    for (size_t i = 0; i < n; ++i) {
      for (size_t k = 0; k < all[i].count; ++k) {
        const int value = static_cast<int>((i * 7 + k) % 101);
        bool right = true;
        switch (all[i].kind) {
          case Unlike::kChars: right = static_cast<char*>(table[i])[k] == value; break;
          case Unlike::kInts: right = static_cast<int*>(table[i])[k] == value; break;
          case Unlike::kLongs: right = static_cast<long*>(table[i])[k] == value; break;
          case Unlike::kDoubles: right = static_cast<double*>(table[i])[k] == value + 0.5; break;
          case Unlike::kShort: {
            const Short& now = static_cast<Short*>(table[i])[k];
            right = now.number == value && now.to == leads(table, i, k, 0) && memcmp(now.text, "abc", 3) == 0;
            break;
          }
          default: {
            const Long& now = static_cast<Long*>(table[i])[k];
            right = now.value == value + 0.25 && now.number == value && now.to[0] == leads(table, i, k, 0) && now.to[1] == leads(table, i, k, 1) &&
                    now.last == -value;
          }
        }
        wrong += right ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
    CHECK(elc::state::heap_blocks() == n + 1);
    const ELC_Type here[] = {ELC_CHAR, ELC_INT, ELC_LONG, ELC_DOUBLE, again.of_short, again.of_long};
    for (size_t i = 0; i < n; ++i) {
      const Block* const block = elc::state::process().heap.find(table[i]);
      REQUIRE(block != nullptr);
      CHECK((block->type == here[all[i].kind] && block->size == all[i].count * all[i].element()));
    }
  }
}

// ---- Many variables ------------------------------------------------------------------------------------

namespace {

struct Variable {
  std::string name;
  size_t at, count;
};

}  // namespace

TEST_CASE("many variables, registered and unregistered, against a model") {
  const uint64_t seed = test_seed("variables");
  Random random = {seed};
  static char memory[4000];
  for (const bool local : {false, true}) {
    new_process();
    if (local) ELC_Enter("outer");
    std::vector<Variable> model;
    bool entered = false;
    for (int step = 0; step < 6000; ++step) {
      const size_t at = random.below(sizeof memory - 40), count = random.below(random.below(50) == 0 ? 40 : 4);
      const std::string name = "v" + std::to_string(random.below(900));
      if (random.below(step / 1500 % 2 == 0 ? 4 : 2) == 0) {
        const bool known = std::any_of(model.begin(), model.end(), [&](const Variable& v) { return v.name == name; });
        CHECK((ELC_Unregister(name.c_str()) == ELC_OK) == (known && !entered));
        if (known && !entered)
          model.erase(std::find_if(model.begin(), model.end(), [&](const Variable& v) { return v.name == name; }));
      } else if (!entered) {
        const bool refused = std::any_of(model.begin(), model.end(), [&](const Variable& v) {
          return v.name == name || (at < v.at + v.count && v.at < at + count);
        });
        CHECK((ELC_Register(name.c_str(), memory + at, ELC_CHAR, count) != ELC_OK) == refused);
        if (!refused) model.push_back({name, at, count});
        elc::state::process().missing.clear();
      }
      if (local && random.below(50) == 0) {
        if (entered) ELC_Leave();
        else ELC_Enter("inner");
        entered = !entered;
      }
      if (step % 500 != 0) continue;
      if (entered) ELC_Leave();
      entered = false;
      if (local) ELC_Set_label(1), elc::state::take_label();
      for (size_t i = 0; i < sizeof memory; ++i) memory[i] = static_cast<char>(i * 7);
      Line line;
      REQUIRE_OK(line.save());
      // They are numbered in the order in which they were registered. The same number for two: they have no bytes.
      for (size_t i = 0; i < model.size(); ++i)
        if (model[i].count > 0) CHECK(elc::state::locate(memory + model[i].at).block == i + 1);
      // Registered in another order they come back as well.
      new_process();
      elc::state::set_recovering(true);
      if (local) {
        elc::format::Reader reader;
        REQUIRE_OK(line.open(&reader));
        REQUIRE_OK(elc::state::load_frames(reader));
        ELC_Enter("outer");
      }
      std::vector<Variable> again = model;
      for (size_t i = again.size(); i > 1; --i) std::swap(again[i - 1], again[random.below(i)]);
      for (const Variable& v : again) REQUIRE(ELC_Register(v.name.c_str(), memory + v.at, ELC_CHAR, v.count) == ELC_OK);
      memset(memory, 0, sizeof memory);
      REQUIRE_OK(line.restore());
      for (const Variable& v : again)
        for (size_t i = v.at; i < v.at + v.count; ++i) CHECK(memory[i] == static_cast<char>(i * 7));
      elc::state::set_recovering(false);
      model = again;
    }
    if (local) ELC_Leave();
  }
}

TEST_CASE("many variables of several frames, some of which go while others are entered") {
  static int data[3][120];
  const auto name = [](int i) { return "v" + std::to_string(i); };
  const auto leaves = [](int frame, int i) { return i % (frame + 2) == 1; };
  const auto enter = [&](int frame) {
    ELC_Enter(("f" + std::to_string(frame)).c_str());
    if (frame == 1) REQUIRE(ELC_Register("extra", &data[0][119], ELC_INT, 1) == ELC_OK);
  };
  const auto fill = [&](int frame, bool all) {
    for (int i = 0; i < 100; ++i)
      if (all || !leaves(frame, i)) REQUIRE(ELC_Register(name(i).c_str(), &data[frame][i], ELC_INT, 1) == ELC_OK);
  };
  new_process();
  for (int frame = 0; frame < 3; ++frame) {
    enter(frame);
    fill(frame, true);
    for (int i = 0; i < 100; ++i)
      if (leaves(frame, i)) REQUIRE(ELC_Unregister(name(i).c_str()) == ELC_OK);
    ELC_Set_label(frame + 1);
    for (int i = 0; i < 100; ++i) data[frame][i] = 1000 * frame + i;
  }
  elc::state::take_label();
  Line line;
  REQUIRE_OK(line.save());
  // The tables are those of what is left, also in the frames outside.
  for (int frame = 2; frame >= 0; --frame) {
    for (int i = 0; i < 100; ++i) CHECK((ELC_Register(name(i).c_str(), &data[frame][i], ELC_INT, 1) == ELC_OK) == leaves(frame, i));
    for (int i = 99; i >= 0; --i) CHECK(ELC_Unregister(name(i).c_str()) == ELC_OK);
    ELC_Leave();
  }
  new_process();
  elc::state::set_recovering(true);
  elc::format::Reader reader;
  REQUIRE_OK(line.open(&reader));
  REQUIRE_OK(elc::state::load_frames(reader));
  for (int frame = 0; frame < 3; ++frame) {
    enter(frame);
    fill(frame, false);
    memset(data[frame], 0, sizeof data[frame]);
  }
  REQUIRE_OK(line.restore());
  elc::state::set_recovering(false);
  for (int frame = 0; frame < 3; ++frame)
    for (int i = 0; i < 100; ++i) CHECK(data[frame][i] == (leaves(frame, i) ? 0 : 1000 * frame + i));
}

TEST_CASE("among many variables those of one hash are told apart") {
  std::map<uint32_t, std::string> seen;
  std::vector<std::string> names;  // two of one hash
  for (int i = 0; names.size() < 2; ++i) {
    const std::string name = "n" + std::to_string(i);
    size_t length;
    const auto [at, is_new] = seen.emplace(elc::state::hash_name(name.c_str(), &length), name);
    if (!is_new) names = {at->second, name};
  }
  static int data[3];
  static char others[100];
  for (const int gone : {0, 1}) {
    new_process();
    for (int i = 0; i < 100; ++i) REQUIRE(ELC_Register(("v" + std::to_string(i)).c_str(), &others[i], ELC_CHAR, 1) == ELC_OK);
    for (int i = 0; i < 2; ++i) REQUIRE(ELC_Register(names[i].c_str(), &data[i], ELC_INT, 1) == ELC_OK);
    for (int i = 0; i < 2; ++i) CHECK(ELC_Register(names[i].c_str(), &data[2], ELC_INT, 1) == ELC_ERROR);
    REQUIRE(ELC_Unregister(names[gone].c_str()) == ELC_OK);
    REQUIRE(ELC_Unregister(names[gone].c_str()) == ELC_OK);  // the other of that name, which could not be registered
    CHECK(ELC_Unregister(names[gone].c_str()) == ELC_ERROR);
    CHECK(ELC_Register(names[1 - gone].c_str(), &data[2], ELC_INT, 1) == ELC_ERROR);
    REQUIRE(ELC_Register(names[gone].c_str(), &data[2], ELC_INT, 1) == ELC_OK);
    data[1 - gone] = 5, data[2] = 7;
    Line line;
    REQUIRE_OK(line.save());
    new_process();
    data[0] = data[1] = data[2] = 0;
    for (const int i : {1, 0}) REQUIRE(ELC_Register(names[i].c_str(), &data[i], ELC_INT, 1) == ELC_OK);
    for (int i = 99; i >= 0; --i) REQUIRE(ELC_Register(("v" + std::to_string(i)).c_str(), &others[i], ELC_CHAR, 1) == ELC_OK);
    REQUIRE_OK(line.restore());
    CHECK(data[1 - gone] == 5);
    CHECK(data[gone] == 7);
  }
}
