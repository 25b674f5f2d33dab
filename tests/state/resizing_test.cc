// Variables that change their place and size: arrays from malloc, and those that functions tell.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include "helper.h"

namespace {

struct Store {
  double* data = nullptr;
  size_t count = 0;
  bool lost = false, full = false;
  int restored = 0, answer = 0;

  static int where(void* of, void** address, size_t* count) {
    const Store& s = *static_cast<Store*>(of);
    *address = s.data;
    *count = s.count;
    return s.lost ? 1 : 0;
  }
  static void* room(void* of, size_t count) {
    Store& s = *static_cast<Store*>(of);
    if (s.full) return nullptr;
    free(s.data);
    s.data = static_cast<double*>(calloc(count + 1, sizeof(double)));
    s.count = count;
    return s.data;
  }
  static int told(void* of) { return ++static_cast<Store*>(of)->restored, static_cast<Store*>(of)->answer; }
  int add(const char* name) {
    const ELC_Resizing how = {where, room, told};
    return ELC_Register_resizing(name, ELC_DOUBLE, this, &how);
  }
  void fill(size_t n, double with) {
    room(this, n);
    for (size_t i = 0; i < n; ++i) data[i] = with + static_cast<double>(i);
  }
  ~Store() { free(data); }
};

int* numbers;
int count;
unsigned char small_count;

void set_numbers(int n) {
  numbers = static_cast<int*>(realloc(numbers, static_cast<size_t>(n + 1) * sizeof *numbers));
  for (count = 0; count < n; ++count) numbers[count] = 3 * count;
}

bool says(const elc::Result& status, const char* part) { return !status.ok() && strstr(status.message(), part) != nullptr; }

}  // namespace

TEST_CASE("an array from malloc comes back with as many elements as it had") {
  for (const int n : {0, 1, 5, 100000}) {
    for (const int now : {0, 3, 200000}) {
      CAPTURE(n);
      CAPTURE(now);
      new_process();
      set_numbers(n);
      int* into = n > 2 ? numbers + 2 : nullptr;
      REQUIRE(ELC_ALLOCATED(numbers, count) == ELC_OK);
      REQUIRE(ELC_PTR(into) == ELC_OK);
      Line line;
      REQUIRE_OK(line.save());
      set_numbers(now);
      memset(numbers, 0x55, static_cast<size_t>(now) * sizeof *numbers);
      REQUIRE_OK(line.restore());
      REQUIRE(count == n);
      CHECK((numbers == nullptr) == (n == 0));
      for (int i = 0; i < n; ++i) REQUIRE(numbers[i] == 3 * i);
      CHECK(into == (n > 2 ? numbers + 2 : nullptr));
    }
  }
}

TEST_CASE("a count that cannot be, or that the program cannot hold") {
  new_process();
  set_numbers(300);
  REQUIRE(ELC_ALLOCATED(numbers, count) == ELC_OK);
  Line line;
  REQUIRE_OK(line.save());
  count = -1;
  CHECK(says(Line().save(), "'numbers' of the globals cannot be saved"));
  int* const kept = numbers;
  numbers = nullptr;
  count = 1;
  CHECK(says(Line().save(), "it is said to have 1 elements at"));
  new_process();
  numbers = kept;
  small_count = 7;
  REQUIRE(ELC_Register_allocated("numbers", &numbers, ELC_INT, &small_count, ELC_UCHAR) == ELC_OK);
  CHECK(says(line.restore(), "'numbers' of the globals has 300 elements in the line, and the program makes no room for them"));
  CHECK(ELC_Register_allocated("others", &numbers, ELC_INT, &count, ELC_DOUBLE) == ELC_ERROR);
}

TEST_CASE("functions say where elements are, and take them back") {
  new_process();
  Store a, b;
  REQUIRE(a.add("a") == ELC_OK);
  REQUIRE(b.add("b") == ELC_OK);
  double* into = nullptr;
  REQUIRE(ELC_PTR(into) == ELC_OK);
  a.fill(50, 1.0);
  b.fill(0, 0.0);
  into = a.data + 49;
  Line line;
  REQUIRE_OK(line.save());
  a.fill(3, 9.0);
  b.fill(70, 9.0);
  into = nullptr;
  REQUIRE_OK(line.restore());
  CHECK((a.count == 50 && b.count == 0 && a.restored == 1 && b.restored == 1));
  for (size_t i = 0; i < 50; ++i) CHECK(a.data[i] == 1.0 + static_cast<double>(i));
  CHECK(into == a.data + 49);

  SUBCASE("they do not say it") {
    a.lost = true;
    CHECK(says(Line().save(), "'a' of the globals cannot be saved: the program does not say where its elements are"));
  }
  SUBCASE("two in one place") {
    Store c;
    REQUIRE(c.add("c") == ELC_OK);
    c.data = a.data;
    c.count = 2;
    CHECK(says(Line().save(), "overlaps"));
    c.data = nullptr;
  }
  SUBCASE("there is no room") {
    a.full = true;
    CHECK(says(line.restore(), "'a' of the globals has 50 elements in the line, and the program makes no room"));
  }
  SUBCASE("the program cannot take them") {
    b.answer = 1;
    CHECK(says(line.restore(), "'b' of the globals: the program cannot take its values from the line"));
  }
  SUBCASE("unregistered") {
    REQUIRE(ELC_Unregister("a") == ELC_OK);
    a.lost = true;
    into = nullptr;
    CHECK(text(Line().save()) == "ok");
  }
}

TEST_CASE("memory that was that of a variable which resizes is another's") {
  static int many[40], room[20], other[20];
  for (const bool among_many : {false, true}) {
    new_process();
    for (int i = 0; among_many && i < 40; ++i) REQUIRE(ELC_Register(("v" + std::to_string(i)).c_str(), &many[i], ELC_INT, 1) == ELC_OK);
    int *list = room, *array = nullptr, count = 20;
    REQUIRE(ELC_VAR(count) == ELC_OK);
    REQUIRE(ELC_Register_allocated("list", &list, ELC_INT, &count, ELC_INT) == ELC_OK);
    REQUIRE_OK(Line().save());
    list = other;
    array = room;
    CHECK(ELC_ARRAY(array, 20) == ELC_OK);
    for (int i = 0; i < 20; ++i) array[i] = i + 1;
    Line line;
    REQUIRE_OK(line.save());
    list = nullptr, count = 0;
    memset(room, 0, sizeof room);
    REQUIRE_OK(line.restore());
    CHECK((array[0] == 1 && array[19] == 20 && list != other && count == 20));
    free(list);
    // And the other way: only a line asks where it is.
    list = room + 3, count = 2;
    const std::string why = text(line.save());
    CHECK((contains(why, "'list' of the globals overlaps 'array'") || contains(why, "'array' of the globals overlaps 'list'")));
    list = other;
    REQUIRE_OK(line.save());
  }
}

TEST_CASE("beside many variables") {
  new_process();
  static int many[100];
  static char names[100][8];
  Store outer;
  REQUIRE(outer.add("outer") == ELC_OK);
  for (int i = 0; i < 100; ++i) {
    snprintf(names[i], sizeof names[i], "v%d", i);
    REQUIRE(ELC_Register(names[i], &many[i], ELC_INT, 1) == ELC_OK);
  }
  outer.fill(10, 5.0);
  Line line;
  REQUIRE_OK(line.save());
  outer.fill(20, 0.0);
  REQUIRE_OK(line.restore());
  CHECK((outer.count == 10 && outer.data[9] == 14.0));
}
