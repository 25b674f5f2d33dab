/* elc.hpp - registers the values of C++ programs: scalars and arrays, std::vector, string, array, pair, map and set and their
 * kin, unique_ptr, and structs that list their members once, nested in each other. C++11 or later; elc.h says what registering
 * means. For example:
 *
 *     struct Particle {
 *       double x[3];
 *       std::vector<int> neighbours;
 *       ELC_MEMBERS(Particle, x, neighbours)
 *     };
 *     std::map<std::string, std::vector<Particle>> cells;
 *     std::vector<double> field;
 *     elc::save("cells", cells);
 *     elc::save("field", field);
 *     ELC_SAVE(step, residual);        the same of variables, under their names
 *     ELC_Restore();
 *
 * A container may have any size at a line, and gets that of the line in a restart. The object has to stay where it is until the
 * program ends, or until elc::forget(name); an elc::Saved does that when it goes out of scope:
 *
 *     elc::Saved keep("cells", cells);
 *
 * A vector of scalars and a string are saved from where they are. What is nested is copied for each line, column by column:
 * the line has the variables `cells.size`, a number of elements, `cells.key.size` and `cells.key[]`, the lengths of the keys and
 * their characters, `cells.value.size`, `cells.value[].x`, and so on, and the copy stays in memory. So lines are read by elc show, diff and export, and
 * restored on other machines, like any others. Pointers, but for unique_ptr, are no values: that they are in what is to be saved
 * is an error of the compiler. */
#ifndef ELC_HPP
#define ELC_HPP

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elc.h"

namespace elc {

/* Of a struct that cannot list its members itself: template <> struct elc::Members<S> : std::true_type { static functions as
 * those that ELC_MEMBERS makes }. */
template <class S, class = void> struct Members : std::false_type {};
template <class S> struct Members<S, typename std::enable_if<std::is_same<typename S::elc_members_of, S>::value>::type> : std::true_type {
  template <class Visit> static void each(Visit &visit) { S::elc_each_member(visit); }
};

namespace detail {

/* The values of one kind in all elements, one after the other. */
struct Column {
  ELC_Type type;
  std::size_t width;
  std::string name;
  std::vector<unsigned char> bytes;
  std::size_t at;
  bool fails; /* more is wanted than there is: the line contradicts itself */
  std::size_t left() const { return bytes.size() - at; }
  void take(void *to, std::size_t size) {
    fails = fails || size > left();
    if (fails || size == 0) return;
    std::memcpy(to, bytes.data() + at, size);
    at += size;
  }
  void put(const void *from, std::size_t size) {
    const unsigned char *const first = static_cast<const unsigned char *>(from);
    bytes.insert(bytes.end(), first, first + size);
  }
};
struct Columns : std::vector<Column> {
  std::vector<const void *> open; /* the structs that the columns at hand are in */
};

template <class T> struct IsComplex : std::false_type {};
template <class T> struct IsComplex<std::complex<T>> : std::true_type {};
template <class T> struct Plain {
  static const bool value = (std::is_arithmetic<T>::value || std::is_enum<T>::value || IsComplex<T>::value);
};
template <class T> struct ScalarType {
  static const ELC_Type type = elc_typed::Type<T>::type;
};
template <> struct ScalarType<std::complex<float>> {
  static const ELC_Type type = ELC_FLOAT_COMPLEX;
};
template <> struct ScalarType<std::complex<double>> {
  static const ELC_Type type = ELC_DOUBLE_COMPLEX;
};
template <> struct ScalarType<std::complex<long double>> {
  static const ELC_Type type = ELC_LDOUBLE_COMPLEX;
};

/* How a value of type T goes into columns and comes out of them. add: makes its columns. put, get: from the c-th on, and c is
 * behind them then. */
template <class T, class = void> struct Codec {
  static_assert(Members<T>::value,
                "elc::save knows no way to save this type: it is not a scalar, nor a container of such, nor a struct with "
                "ELC_MEMBERS; pointers are registered by ELC_PTR");
  struct Add {
    Columns &columns;
    const std::string &name;
    template <class M, class S> void operator()(const char *member, M S::*) const { Codec<M>::add(columns, name + "." + member); }
  };
  struct Put {
    const T &of;
    Columns &columns;
    std::size_t &c;
    template <class M, class S> void operator()(const char *, M S::*member) const { Codec<M>::put(of.*member, columns, c); }
  };
  struct Get {
    T &of;
    Columns &columns;
    std::size_t &c;
    template <class M, class S> void operator()(const char *, M S::*member) const { Codec<M>::get(of.*member, columns, c); }
  };
  /* A struct that holds itself has columns without end: that of no type cannot be registered. */
  static void add(Columns &columns, const std::string &name) {
    static const char self = 0;
    for (const void *const other : columns.open)
      if (other == &self) return columns.push_back(Column{ELC_NO_TYPE, 1, name, std::vector<unsigned char>(), 0, false});
    columns.open.push_back(&self);
    const Add visit = {columns, name};
    Members<T>::each(visit);
    columns.open.pop_back();
  }
  static void put(const T &of, Columns &columns, std::size_t &c) {
    const Put visit = {of, columns, c};
    Members<T>::each(visit);
  }
  static void get(T &of, Columns &columns, std::size_t &c) {
    const Get visit = {of, columns, c};
    Members<T>::each(visit);
  }
};

template <class T> struct Codec<T, typename std::enable_if<Plain<T>::value>::type> {
  static void add(Columns &columns, const std::string &name) {
    columns.push_back(Column{ScalarType<T>::type, sizeof(T), name, std::vector<unsigned char>(), 0, false});
  }
  static void put(const T &of, Columns &columns, std::size_t &c) { columns[c++].put(&of, sizeof of); }
  static void get(T &of, Columns &columns, std::size_t &c) { columns[c++].take(&of, sizeof of); }
};

template <class T, std::size_t N> struct Codec<T[N], void> {
  static void add(Columns &columns, const std::string &name) { Codec<T>::add(columns, name); }
  static void put(const T (&of)[N], Columns &columns, std::size_t &c) {
    const std::size_t first = c;
    for (const T &one : of) c = first, Codec<T>::put(one, columns, c);
  }
  static void get(T (&of)[N], Columns &columns, std::size_t &c) {
    const std::size_t first = c;
    for (T &one : of) c = first, Codec<T>::get(one, columns, c);
  }
};

template <class T, std::size_t N> struct Codec<std::array<T, N>, void> {
  static_assert(N > 0, "elc::save: an array without elements");
  static void add(Columns &columns, const std::string &name) { Codec<T>::add(columns, name); }
  static void put(const std::array<T, N> &of, Columns &columns, std::size_t &c) {
    const std::size_t first = c;
    for (const T &one : of) c = first, Codec<T>::put(one, columns, c);
  }
  static void get(std::array<T, N> &of, Columns &columns, std::size_t &c) {
    const std::size_t first = c;
    for (T &one : of) c = first, Codec<T>::get(one, columns, c);
  }
};

template <class A, class B> struct Codec<std::pair<A, B>, void> {
  static void add(Columns &columns, const std::string &name) {
    Codec<A>::add(columns, name + ".first");
    Codec<B>::add(columns, name + ".second");
  }
  static void put(const std::pair<A, B> &of, Columns &columns, std::size_t &c) {
    Codec<A>::put(of.first, columns, c);
    Codec<B>::put(of.second, columns, c);
  }
  static void get(std::pair<A, B> &of, Columns &columns, std::size_t &c) {
    Codec<A>::get(of.first, columns, c);
    Codec<B>::get(of.second, columns, c);
  }
};

/* A number of elements, then these; where there are none, their columns are passed by. */
inline void add_size(Columns &columns, const std::string &name) {
  columns.push_back(Column{elc_typed::Type<std::uint64_t>::type, sizeof(std::uint64_t), name + ".size", std::vector<unsigned char>(), 0, false});
}
inline void put_size(std::size_t size, Columns &columns, std::size_t &c) {
  const std::uint64_t number = size;
  columns[c++].put(&number, sizeof number);
}
/* The first column of what follows has at least one entry for each element. */
inline std::size_t get_size(Columns &columns, std::size_t &c) {
  std::uint64_t number = 0;
  Column &sizes = columns[c++];
  sizes.take(&number, sizeof number);
  sizes.fails = sizes.fails || number > columns[c].left() / columns[c].width;
  return sizes.fails ? 0 : static_cast<std::size_t>(number);
}
inline std::size_t number_of_columns(void (*add)(Columns &, const std::string &)) {
  Columns columns;
  add(columns, "");
  return columns.size();
}
template <class T> std::size_t columns_of() {
  static const std::size_t number = number_of_columns(Codec<T>::add);
  return number;
}

/* Element is what is in the columns: without the const of the key of a map. */
template <class C, class Element> struct Sequence {
  static void add(Columns &columns, const std::string &name) {
    add_size(columns, name);
    Codec<Element>::add(columns, name + "[]");
  }
  static void put(const C &of, Columns &columns, std::size_t &c) {
    put_size(of.size(), columns, c);
    const std::size_t first = c;
    for (const auto &one : of) c = first, put_one(one, columns, c);
    c = first + columns_of<Element>();
  }
  template <class E> static void put_one(const E &one, Columns &columns, std::size_t &c) { Codec<Element>::put(one, columns, c); }
};
template <class C, class Element> struct Growing : Sequence<C, Element> { /* push_back */
  static void get(C &of, Columns &columns, std::size_t &c) {
    const std::size_t size = get_size(columns, c), first = c;
    of.clear();
    for (std::size_t i = 0; i < size; ++i) {
      of.emplace_back();
      c = first;
      Codec<Element>::get(of.back(), columns, c);
    }
    c = first + columns_of<Element>();
  }
};
template <class T, class A> struct Codec<std::vector<T, A>, void> : Growing<std::vector<T, A>, T> {};
template <class T, class A> struct Codec<std::deque<T, A>, void> : Growing<std::deque<T, A>, T> {};
template <class T, class A> struct Codec<std::list<T, A>, void> : Growing<std::list<T, A>, T> {};

template <class A> struct Codec<std::vector<bool, A>, void> : Sequence<std::vector<bool, A>, bool> {
  static void put(const std::vector<bool, A> &of, Columns &columns, std::size_t &c) {
    put_size(of.size(), columns, c);
    for (const bool one : of) columns[c].put(&one, sizeof one);
    ++c;
  }
  static void get(std::vector<bool, A> &of, Columns &columns, std::size_t &c) {
    const std::size_t size = get_size(columns, c);
    of.clear();
    for (std::size_t i = 0; i < size; ++i) {
      bool one = false;
      columns[c].take(&one, sizeof one);
      of.push_back(one);
    }
    ++c;
  }
};

template <class T, class R, class A> struct Codec<std::basic_string<T, R, A>, void> {
  typedef std::basic_string<T, R, A> String;
  static void add(Columns &columns, const std::string &name) {
    add_size(columns, name);
    Codec<T>::add(columns, name + "[]");
  }
  static void put(const String &of, Columns &columns, std::size_t &c) {
    put_size(of.size(), columns, c);
    columns[c++].put(of.data(), of.size() * sizeof(T));
  }
  static void get(String &of, Columns &columns, std::size_t &c) {
    const std::size_t size = get_size(columns, c);
    of.assign(size, T());
    if (size > 0) columns[c].take(&of[0], size * sizeof(T));
    ++c;
  }
};

template <class C, class Key, class Value> struct Map : Sequence<C, std::pair<Key, Value>> {
  static void add(Columns &columns, const std::string &name) {
    add_size(columns, name);
    Codec<Key>::add(columns, name + ".key");
    Codec<Value>::add(columns, name + ".value");
  }
  static void put(const C &of, Columns &columns, std::size_t &c) {
    put_size(of.size(), columns, c);
    const std::size_t first = c;
    for (const auto &one : of) {
      c = first;
      Codec<Key>::put(one.first, columns, c);
      Codec<Value>::put(one.second, columns, c);
    }
    c = first + columns_of<Key>() + columns_of<Value>();
  }
  static void get(C &of, Columns &columns, std::size_t &c) {
    const std::size_t size = get_size(columns, c), first = c;
    of.clear();
    for (std::size_t i = 0; i < size; ++i) {
      c = first;
      Key key{};
      Codec<Key>::get(key, columns, c);
      Value value{};
      Codec<Value>::get(value, columns, c);
      of.emplace(std::move(key), std::move(value));
    }
    c = first + columns_of<Key>() + columns_of<Value>();
  }
};
template <class K, class V, class L, class A> struct Codec<std::map<K, V, L, A>, void> : Map<std::map<K, V, L, A>, K, V> {};
template <class K, class V, class L, class A>
struct Codec<std::multimap<K, V, L, A>, void> : Map<std::multimap<K, V, L, A>, K, V> {};
template <class K, class V, class H, class E, class A>
struct Codec<std::unordered_map<K, V, H, E, A>, void> : Map<std::unordered_map<K, V, H, E, A>, K, V> {};
template <class K, class V, class H, class E, class A>
struct Codec<std::unordered_multimap<K, V, H, E, A>, void> : Map<std::unordered_multimap<K, V, H, E, A>, K, V> {};

template <class C, class T> struct Set : Sequence<C, T> {
  static void get(C &of, Columns &columns, std::size_t &c) {
    const std::size_t size = get_size(columns, c), first = c;
    of.clear();
    for (std::size_t i = 0; i < size; ++i) {
      c = first;
      T one{};
      Codec<T>::get(one, columns, c);
      of.emplace(std::move(one));
    }
    c = first + columns_of<T>();
  }
};
template <class T, class L, class A> struct Codec<std::set<T, L, A>, void> : Set<std::set<T, L, A>, T> {};
template <class T, class L, class A> struct Codec<std::multiset<T, L, A>, void> : Set<std::multiset<T, L, A>, T> {};
template <class T, class H, class E, class A>
struct Codec<std::unordered_set<T, H, E, A>, void> : Set<std::unordered_set<T, H, E, A>, T> {};
template <class T, class H, class E, class A>
struct Codec<std::unordered_multiset<T, H, E, A>, void> : Set<std::unordered_multiset<T, H, E, A>, T> {};

/* As a container of one element or none. */
template <class T, class D> struct Codec<std::unique_ptr<T, D>, void> {
  static_assert(!std::is_array<T>::value, "elc::save: a unique_ptr to an array does not know how long it is; use a vector");
  static void add(Columns &columns, const std::string &name) {
    add_size(columns, name);
    Codec<T>::add(columns, name + "[]");
  }
  static void put(const std::unique_ptr<T, D> &of, Columns &columns, std::size_t &c) {
    put_size(of ? 1 : 0, columns, c);
    const std::size_t first = c;
    if (of) Codec<T>::put(*of, columns, c);
    c = first + columns_of<T>();
  }
  static void get(std::unique_ptr<T, D> &of, Columns &columns, std::size_t &c) {
    const std::size_t size = get_size(columns, c), first = c;
    of.reset(size > 0 ? new T() : nullptr);
    if (of) Codec<T>::get(*of, columns, c);
    c = first + columns_of<T>();
  }
};

#if defined __cpp_exceptions || defined __EXCEPTIONS
#define ELC_TRY_ try
#define ELC_CATCH_ catch (...)
#else
#define ELC_TRY_ if (true)
#define ELC_CATCH_ else
#endif

/* What is registered under a name, to be forgotten with it. */
struct Entry {
  virtual ~Entry() {}
  std::vector<std::string> names;
};
typedef std::map<std::string, std::unique_ptr<Entry>> Entries;
inline Entries &entries() {
  static Entries *const all = new Entries; /* for whoever registers or forgets while the program ends */
  return *all;
}

template <class T> struct Nested : Entry {
  T &object;
  Columns columns;
  struct Part {
    Nested *whole;
    std::size_t number;
  };
  std::vector<Part> parts;

  explicit Nested(T &of) : object(of) {}
  static int where(void *of, void **address, std::size_t *count) {
    const Part &part = *static_cast<Part *>(of);
    Nested &whole = *part.whole;
    ELC_TRY_ {
      if (part.number == 0) {
        for (Column &column : whole.columns) column.bytes.clear();
        std::size_t c = 0;
        Codec<T>::put(whole.object, whole.columns, c);
      }
    }
    ELC_CATCH_ { return 1; }
    Column &column = whole.columns[part.number];
    *address = column.bytes.data();
    *count = column.bytes.size() / column.width;
    return 0;
  }
  static void *room(void *of, std::size_t count) {
    const Part &part = *static_cast<Part *>(of);
    Column &column = part.whole->columns[part.number];
    ELC_TRY_ { column.bytes.assign(count * column.width, 0); }
    ELC_CATCH_ { return nullptr; }
    column.at = 0;
    column.fails = false;
    return column.bytes.data();
  }
  static int restored(void *of) {
    const Part &part = *static_cast<Part *>(of);
    Columns &columns = part.whole->columns;
    if (part.number + 1 != columns.size()) return 0;
    ELC_TRY_ {
      std::size_t c = 0;
      Codec<T>::get(part.whole->object, columns, c);
    }
    ELC_CATCH_ { return 1; }
    for (const Column &column : columns)
      if (column.fails || column.left() > 0) return 1;
    return 0;
  }
  int add(const char *name) {
    static const ELC_Resizing how = {where, room, restored};
    Codec<T>::add(columns, name);
    parts.resize(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      parts[i] = Part{this, i};
      const int added = ELC_Register_resizing(columns[i].name.c_str(), columns[i].type, &parts[i], &how);
      if (added != ELC_OK) return added;
      names.push_back(columns[i].name);
    }
    return ELC_OK;
  }
};

/* Scalars that lie one after the other, and may become more or less. */
template <class C> struct Direct : Entry {
  C &object;
  explicit Direct(C &of) : object(of) {}
  static int where(void *of, void **address, std::size_t *count) {
    C &object = static_cast<Direct *>(of)->object;
    *count = object.size();
    *address = object.empty() ? nullptr : &object[0];
    return 0;
  }
  static void *room(void *of, std::size_t count) {
    C &object = static_cast<Direct *>(of)->object;
    ELC_TRY_ { object.resize(count); }
    ELC_CATCH_ { return nullptr; }
    return object.empty() ? nullptr : &object[0];
  }
  int add(const char *name) {
    static const ELC_Resizing how = {where, room, nullptr};
    const int added = ELC_Register_resizing(name, ScalarType<typename C::value_type>::type, this, &how);
    if (added == ELC_OK) names.push_back(name);
    return added;
  }
};

struct Fixed : Entry {
  int add(const char *name, int added) {
    if (added == ELC_OK) names.push_back(name);
    return added;
  }
};

template <class E> int keep(const char *name, std::unique_ptr<E> entry, int added) {
  if (added != ELC_OK) {
    for (const std::string &one : entry->names) ELC_Unregister(one.c_str());
    return added;
  }
  entries()[name] = std::move(entry);
  return added;
}

template <class T> struct IsDirect : std::false_type {};
template <class T, class A> struct IsDirect<std::vector<T, A>> : std::integral_constant<bool, Plain<T>::value> {};
template <class A> struct IsDirect<std::vector<bool, A>> : std::false_type {};
template <class T, class R, class A> struct IsDirect<std::basic_string<T, R, A>> : std::true_type {};

template <class T> struct IsFixed : Plain<T> {};
template <class T, std::size_t N> struct IsFixed<T[N]> : IsFixed<T> {};

template <class T> int save_as(const char *name, T &object, std::true_type, std::false_type) {
  std::unique_ptr<Direct<T>> entry(new Direct<T>(object));
  const int added = entry->add(name);
  return keep(name, std::move(entry), added);
}
template <class T> int save_as(const char *name, T &object, std::false_type, std::true_type) {
  std::unique_ptr<Fixed> entry(new Fixed);
  typedef typename std::remove_all_extents<T>::type Element;
  size_t extents[elc_typed::Shape<T>::dimensions + 1] = {};
  elc_typed::Shape<T>::write(extents);
  const int dimensions = elc_typed::Shape<T>::dimensions;
  const int added = dimensions < 2 ? ELC_Register(name, &object, ScalarType<Element>::type, sizeof object / sizeof(Element))
                                   : ELC_Register_shape(name, &object, ScalarType<Element>::type, dimensions, extents);
  entry->add(name, added);
  return keep(name, std::move(entry), added);
}
template <class T> int save_as(const char *name, T &object, std::false_type, std::false_type) {
  std::unique_ptr<Nested<T>> entry(new Nested<T>(object));
  const int added = entry->add(name);
  return keep(name, std::move(entry), added);
}

}  // namespace detail

/* Registers an object under a name. ELC_OK; ELC_ERROR, with a message, where the name or the object is registered already. */
template <class T> int save(const char *name, T &object) {
  return detail::save_as(name, object, std::integral_constant<bool, detail::IsDirect<T>::value>(),
                         std::integral_constant<bool, detail::IsFixed<T>::value>());
}
/* Several: elc::save("x", x, "v", v). */
template <class T, class... More> int save(const char *name, T &object, const char *next, More &...more) {
  const int first = save(name, object), others = save(next, more...);
  return first != ELC_OK ? first : others;
}

/* Unregisters what was saved under a name. */
inline void forget(const char *name) {
  const detail::Entries::iterator found = detail::entries().find(name);
  if (found == detail::entries().end()) return;
  for (const std::string &one : found->second->names) ELC_Unregister(one.c_str());
  detail::entries().erase(found);
}

/* Saved as long as this lives. */
class Saved {
 public:
  template <class T> Saved(const char *name, T &object) : name_(save(name, object) == ELC_OK ? name : "") {}
  Saved(const Saved &) = delete;
  Saved &operator=(const Saved &) = delete;
  ~Saved() {
    if (!name_.empty()) forget(name_.c_str());
  }

 private:
  std::string name_;
};

}  // namespace elc

#define ELC_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, \
                   a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, \
                   a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, \
                   a60, a61, a62, a63, a64, n, ...) n
#define ELC_COUNT(...) \
  ELC_COUNT_(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, \
             41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, \
             15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define ELC_GLUE_(a, b) a##b
#define ELC_GLUE(a, b) ELC_GLUE_(a, b)
#define ELC_EACH_1(D, S, x) D(S, x)
#define ELC_EACH_2(D, S, x, ...) D(S, x) ELC_EACH_1(D, S, __VA_ARGS__)
#define ELC_EACH_3(D, S, x, ...) D(S, x) ELC_EACH_2(D, S, __VA_ARGS__)
#define ELC_EACH_4(D, S, x, ...) D(S, x) ELC_EACH_3(D, S, __VA_ARGS__)
#define ELC_EACH_5(D, S, x, ...) D(S, x) ELC_EACH_4(D, S, __VA_ARGS__)
#define ELC_EACH_6(D, S, x, ...) D(S, x) ELC_EACH_5(D, S, __VA_ARGS__)
#define ELC_EACH_7(D, S, x, ...) D(S, x) ELC_EACH_6(D, S, __VA_ARGS__)
#define ELC_EACH_8(D, S, x, ...) D(S, x) ELC_EACH_7(D, S, __VA_ARGS__)
#define ELC_EACH_9(D, S, x, ...) D(S, x) ELC_EACH_8(D, S, __VA_ARGS__)
#define ELC_EACH_10(D, S, x, ...) D(S, x) ELC_EACH_9(D, S, __VA_ARGS__)
#define ELC_EACH_11(D, S, x, ...) D(S, x) ELC_EACH_10(D, S, __VA_ARGS__)
#define ELC_EACH_12(D, S, x, ...) D(S, x) ELC_EACH_11(D, S, __VA_ARGS__)
#define ELC_EACH_13(D, S, x, ...) D(S, x) ELC_EACH_12(D, S, __VA_ARGS__)
#define ELC_EACH_14(D, S, x, ...) D(S, x) ELC_EACH_13(D, S, __VA_ARGS__)
#define ELC_EACH_15(D, S, x, ...) D(S, x) ELC_EACH_14(D, S, __VA_ARGS__)
#define ELC_EACH_16(D, S, x, ...) D(S, x) ELC_EACH_15(D, S, __VA_ARGS__)
#define ELC_EACH_17(D, S, x, ...) D(S, x) ELC_EACH_16(D, S, __VA_ARGS__)
#define ELC_EACH_18(D, S, x, ...) D(S, x) ELC_EACH_17(D, S, __VA_ARGS__)
#define ELC_EACH_19(D, S, x, ...) D(S, x) ELC_EACH_18(D, S, __VA_ARGS__)
#define ELC_EACH_20(D, S, x, ...) D(S, x) ELC_EACH_19(D, S, __VA_ARGS__)
#define ELC_EACH_21(D, S, x, ...) D(S, x) ELC_EACH_20(D, S, __VA_ARGS__)
#define ELC_EACH_22(D, S, x, ...) D(S, x) ELC_EACH_21(D, S, __VA_ARGS__)
#define ELC_EACH_23(D, S, x, ...) D(S, x) ELC_EACH_22(D, S, __VA_ARGS__)
#define ELC_EACH_24(D, S, x, ...) D(S, x) ELC_EACH_23(D, S, __VA_ARGS__)
#define ELC_EACH_25(D, S, x, ...) D(S, x) ELC_EACH_24(D, S, __VA_ARGS__)
#define ELC_EACH_26(D, S, x, ...) D(S, x) ELC_EACH_25(D, S, __VA_ARGS__)
#define ELC_EACH_27(D, S, x, ...) D(S, x) ELC_EACH_26(D, S, __VA_ARGS__)
#define ELC_EACH_28(D, S, x, ...) D(S, x) ELC_EACH_27(D, S, __VA_ARGS__)
#define ELC_EACH_29(D, S, x, ...) D(S, x) ELC_EACH_28(D, S, __VA_ARGS__)
#define ELC_EACH_30(D, S, x, ...) D(S, x) ELC_EACH_29(D, S, __VA_ARGS__)
#define ELC_EACH_31(D, S, x, ...) D(S, x) ELC_EACH_30(D, S, __VA_ARGS__)
#define ELC_EACH_32(D, S, x, ...) D(S, x) ELC_EACH_31(D, S, __VA_ARGS__)
#define ELC_EACH_33(D, S, x, ...) D(S, x) ELC_EACH_32(D, S, __VA_ARGS__)
#define ELC_EACH_34(D, S, x, ...) D(S, x) ELC_EACH_33(D, S, __VA_ARGS__)
#define ELC_EACH_35(D, S, x, ...) D(S, x) ELC_EACH_34(D, S, __VA_ARGS__)
#define ELC_EACH_36(D, S, x, ...) D(S, x) ELC_EACH_35(D, S, __VA_ARGS__)
#define ELC_EACH_37(D, S, x, ...) D(S, x) ELC_EACH_36(D, S, __VA_ARGS__)
#define ELC_EACH_38(D, S, x, ...) D(S, x) ELC_EACH_37(D, S, __VA_ARGS__)
#define ELC_EACH_39(D, S, x, ...) D(S, x) ELC_EACH_38(D, S, __VA_ARGS__)
#define ELC_EACH_40(D, S, x, ...) D(S, x) ELC_EACH_39(D, S, __VA_ARGS__)
#define ELC_EACH_41(D, S, x, ...) D(S, x) ELC_EACH_40(D, S, __VA_ARGS__)
#define ELC_EACH_42(D, S, x, ...) D(S, x) ELC_EACH_41(D, S, __VA_ARGS__)
#define ELC_EACH_43(D, S, x, ...) D(S, x) ELC_EACH_42(D, S, __VA_ARGS__)
#define ELC_EACH_44(D, S, x, ...) D(S, x) ELC_EACH_43(D, S, __VA_ARGS__)
#define ELC_EACH_45(D, S, x, ...) D(S, x) ELC_EACH_44(D, S, __VA_ARGS__)
#define ELC_EACH_46(D, S, x, ...) D(S, x) ELC_EACH_45(D, S, __VA_ARGS__)
#define ELC_EACH_47(D, S, x, ...) D(S, x) ELC_EACH_46(D, S, __VA_ARGS__)
#define ELC_EACH_48(D, S, x, ...) D(S, x) ELC_EACH_47(D, S, __VA_ARGS__)
#define ELC_EACH_49(D, S, x, ...) D(S, x) ELC_EACH_48(D, S, __VA_ARGS__)
#define ELC_EACH_50(D, S, x, ...) D(S, x) ELC_EACH_49(D, S, __VA_ARGS__)
#define ELC_EACH_51(D, S, x, ...) D(S, x) ELC_EACH_50(D, S, __VA_ARGS__)
#define ELC_EACH_52(D, S, x, ...) D(S, x) ELC_EACH_51(D, S, __VA_ARGS__)
#define ELC_EACH_53(D, S, x, ...) D(S, x) ELC_EACH_52(D, S, __VA_ARGS__)
#define ELC_EACH_54(D, S, x, ...) D(S, x) ELC_EACH_53(D, S, __VA_ARGS__)
#define ELC_EACH_55(D, S, x, ...) D(S, x) ELC_EACH_54(D, S, __VA_ARGS__)
#define ELC_EACH_56(D, S, x, ...) D(S, x) ELC_EACH_55(D, S, __VA_ARGS__)
#define ELC_EACH_57(D, S, x, ...) D(S, x) ELC_EACH_56(D, S, __VA_ARGS__)
#define ELC_EACH_58(D, S, x, ...) D(S, x) ELC_EACH_57(D, S, __VA_ARGS__)
#define ELC_EACH_59(D, S, x, ...) D(S, x) ELC_EACH_58(D, S, __VA_ARGS__)
#define ELC_EACH_60(D, S, x, ...) D(S, x) ELC_EACH_59(D, S, __VA_ARGS__)
#define ELC_EACH_61(D, S, x, ...) D(S, x) ELC_EACH_60(D, S, __VA_ARGS__)
#define ELC_EACH_62(D, S, x, ...) D(S, x) ELC_EACH_61(D, S, __VA_ARGS__)
#define ELC_EACH_63(D, S, x, ...) D(S, x) ELC_EACH_62(D, S, __VA_ARGS__)
#define ELC_EACH_64(D, S, x, ...) D(S, x) ELC_EACH_63(D, S, __VA_ARGS__)
#define ELC_VISIT_MEMBER_(S, x) elc_visit(#x, &S::x);
#define ELC_SAVE_ONE_(S, x) ::elc::save(#x, x);

/* In the struct S: its members, those of its bases among them, up to 64 (a struct of more has some of them in another one). */
#define ELC_MEMBERS(S, ...)                                                \
  typedef S elc_members_of;                                                \
  template <class ElcVisit> static void elc_each_member(ElcVisit &elc_visit) { \
    ELC_GLUE(ELC_EACH_, ELC_COUNT(__VA_ARGS__))(ELC_VISIT_MEMBER_, S, __VA_ARGS__) \
  }

/* Up to 64 variables, under their names. */
#define ELC_SAVE(...)                                                             \
  do {                                                                            \
    ELC_GLUE(ELC_EACH_, ELC_COUNT(__VA_ARGS__))(ELC_SAVE_ONE_, _, __VA_ARGS__)    \
  } while (false)

#endif
