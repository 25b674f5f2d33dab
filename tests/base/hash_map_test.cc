// Hash tables against std::map, with entries of many sizes: how long one is depends on the processor, too.
#include "base/hash_map.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace elc;

namespace {

template <class Part, size_t kParts>
struct Value {
  Part parts[kParts];

  void set(uint64_t number) {
    for (size_t i = 0; i < kParts; ++i) parts[i] = static_cast<Part>(number + i);
  }
  bool is(uint64_t number) const {
    for (size_t i = 0; i < kParts; ++i)
      if (parts[i] != static_cast<Part>(number + i)) return false;
    return true;
  }
};

// Few keys, so that tables are full and what lies behind an entry that goes is often another one.
template <class V>
void compare(unsigned seed) {
  CAPTURE(seed);
  CAPTURE(sizeof(V));
  std::mt19937 random(seed);
  HashMap<V> table;
  std::map<uint64_t, uint64_t> model;
  for (uint64_t step = 0; step < 3000; ++step) {
    const uint64_t key = random() % 97 * 0x100000001u;
    switch (random() % 8) {
      case 0: case 1: case 2:
        table.at(key).set(step);
        model[key] = step;
        break;
      case 3: case 4: case 5: {
        table.remove(key);
        model.erase(key);
        break;
      }
      case 6: {
        const V* found = table.find(key);
        const auto expected = model.find(key);
        REQUIRE((found != nullptr) == (expected != model.end()));
        if (found != nullptr) REQUIRE(found->is(expected->second));
        break;
      }
      default:
        if (random() % 256 == 0) table.clear(), model.clear();
    }
    REQUIRE(table.size() == model.size());
  }
  size_t seen = 0;
  table.each([&](uint64_t key, const V& value) {
    const auto expected = model.find(key);
    REQUIRE(expected != model.end());
    REQUIRE(value.is(expected->second));
    ++seen;
  });
  REQUIRE(seen == model.size());
}

}  // namespace

TEST_CASE("a table holds what a map holds, whatever the size of an entry") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    compare<Value<uint8_t, 1>>(seed);
    compare<Value<uint8_t, 5>>(seed);
    compare<Value<uint16_t, 7>>(seed);
    compare<Value<uint32_t, 1>>(seed);
    compare<Value<uint32_t, 2>>(seed);
    compare<Value<uint32_t, 3>>(seed);
    compare<Value<uint32_t, 4>>(seed);
    compare<Value<uint64_t, 1>>(seed);
    compare<Value<uint64_t, 3>>(seed);
    compare<Value<size_t, 2>>(seed);
    compare<Value<size_t, 3>>(seed);
  }
}
