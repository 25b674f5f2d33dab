#include "tests/format/examine.h"

#include <stddef.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <iterator>
#include <limits>
#include <optional>

#include "portable_format/checksum.h"
#include "tests/format/support.h"

namespace elc::format {
namespace {

struct Inner {
  char tag;
  double x;
  void* next;
};

struct Outer {
  int kind;
  union Body {
    Inner inner[2];
    long number;
    char name[7];
  } body;
  bool open;
  long double weight;
  std::complex<float> wave;
  size_t sizes[40];
  Inner many[20];
};

struct Types {
  TypeTable table;
  TypeId inner = 0, body = 0, outer = 0, large = 0;

  Types() {
    table.set_size(kMpiStatus, 20);
    const FieldSpec i[] = {{"tag", offsetof(Inner, tag), kChar, 1},
                           {"x", offsetof(Inner, x), kDouble, 1},
                           {"next", offsetof(Inner, next), kPointer, 1}};
    require(table.make_struct("inner", sizeof(Inner), i, &inner));
    const FieldSpec b[] = {{"inner", 0, inner, 2}, {"number", 0, kLong, 1}, {"name", 0, kChar, 7}};
    const auto active = [](const void*, const void* enclosing) {
      return static_cast<const Outer*>(enclosing)->kind;
    };
    require(table.make_union("body", sizeof(Outer::Body), b, active, &body));
    const FieldSpec o[] = {
        {"kind", offsetof(Outer, kind), kInt, 1},          {"body", offsetof(Outer, body), body, 1},
        {"open", offsetof(Outer, open), kBool, 1},         {"weight", offsetof(Outer, weight), kLdouble, 1},
        {"wave", offsetof(Outer, wave), kFloatComplex, 1}, {"sizes", offsetof(Outer, sizes), kSize, 40},
        {"many", offsetof(Outer, many), inner, 20}};
    require(table.make_struct("outer", sizeof(Outer), o, &outer));
    const FieldSpec l[] = {{"sizes", 0, kSize, 2000}, {"inner", 2000 * sizeof(size_t), inner, 100}};
    require(table.make_struct("large", 2000 * sizeof(size_t) + 100 * sizeof(Inner), l, &large));
  }
  static void require(const Result& status) {
    if (!status.ok()) abort();
  }
};

const Types& all_types() {
  static const Types types;
  return types;
}

uint32_t load32(const std::string& s, size_t at) {
  return Decoder(reinterpret_cast<const uint8_t*>(s.data()) + at, 4).u32();
}
uint64_t load64(const std::string& s, size_t at) {
  return Decoder(reinterpret_cast<const uint8_t*>(s.data()) + at, 8).u64();
}
void store(std::string* s, size_t at, uint32_t value) {
  Bytes bytes;
  Encoder(&bytes).u32(value);
  memcpy(s->data() + at, bytes.data(), 4);
}

void show_all(Reader* reader) {
  Cursor cursor;
  if (!cursor.open(reader, "values").ok()) return;
  uint64_t leaves = 0;
  const LeafVisitor visitor = {&leaves, [](void* context, const char* path, Kind, const char* text) {
                                 uint64_t& n = *static_cast<uint64_t*>(context);
                                 n += strlen(path) + strlen(text) > 0;
                                 return n % 64 != 0;
                               }};
  while (cursor.ok() && cursor.left() > 0) {
    const TypeId type = cursor.i32();
    const uint64_t count = cursor.u64();
    if (!cursor.show_value(type, count, visitor).ok()) return;
  }
}

bool read_all(Reader* reader, bool check) {
  const TypeTable& types = examined_types();
  Cursor cursor;
  if (!cursor.open(reader, "values").ok()) return false;
  while (cursor.ok() && cursor.left() > 0) {
    const TypeId from = cursor.i32();
    const uint64_t count = cursor.u64();
    const TypeTable& file = reader->types();
    const TypeId to = !file.known(from) || from < kFirstMade ? from : types.find(file.info(from).name);
    const uint64_t size = types.size_of(to);
    if (check) {
      (void)cursor.check_value(from, types, to, count, plain_decoder());
    } else if (size > 0 && count > (1 << 20) / size) {
      (void)cursor.skip_value(from, count);
    } else {
      std::vector<uint8_t> memory(count * size);  // exactly as large: a write past it is seen
      (void)cursor.read_value(from, types, to, memory.data(), count, plain_decoder());
    }
  }
  return cursor.finish().ok();
}

bool read_text(Reader* reader) {
  Cursor cursor;
  if (!cursor.open(reader, "text").ok()) return false;
  const size_t length = cursor.string().size();
  cursor.boolean();
  Bytes rest;
  cursor.opaque(&rest, ~uint64_t{0});
  return cursor.finish().ok() && length <= cursor.at();
}

template <class T, class Value>
void pair(const Value& value, Kind kind, T first, T second) {
  const T both[] = {first, second};
  value(static_cast<TypeId>(kind), both, 2);
}

// Two of each scalar, with values that every machine has.
template <class Value>
void scalars(const Value& value) {
  pair<bool>(value, kBool, true, false);
  pair<char>(value, kChar, 'A', '\t');
  pair<signed char>(value, kSchar, -128, 127);
  pair<unsigned char>(value, kUchar, 0, 255);
  pair<short>(value, kShort, -32768, 32767);
  pair<unsigned short>(value, kUshort, 1, 65535);
  pair<int>(value, kInt, -32768, 32767);
  pair<unsigned>(value, kUint, 2, 65535);
  pair<long>(value, kLong, -0x7fffffff - 1, 0x7fffffff);
  pair<unsigned long>(value, kUlong, 3, 0xffffffff);
  pair<long long>(value, kLlong, INT64_MIN, INT64_MAX);
  pair<unsigned long long>(value, kUllong, 4, UINT64_MAX);
  pair<float>(value, kFloat, 0.1f, -1e-42f);
  pair<double>(value, kDouble, 0.1, -5e-324);
  pair<long double>(value, kLdouble, 0x1.8p-1040L, -123456789.25L);
  pair<std::complex<float>>(value, kFloatComplex, {1.5f, -2.5f}, {0, 1e30f});
  pair<std::complex<double>>(value, kDoubleComplex, {1e-300, 0.3}, {1, -0.0});
  pair<std::complex<long double>>(value, kLdoubleComplex, {0.5L, 3.0L}, {1, -0.0L});
  pair<wchar_t>(value, kWchar, 0xe9, 0x20ac);
  pair<size_t>(value, kSize, 5, 0xffffffff);
  pair<ptrdiff_t>(value, kPtrdiff, -6, 0x7fffffff);
  pair<int8_t>(value, kInt8, -7, 7);
  pair<uint8_t>(value, kUint8, 8, 200);
  pair<int16_t>(value, kInt16, -9, 9);
  pair<uint16_t>(value, kUint16, 10, 60000);
  pair<int32_t>(value, kInt32, -11, 11);
  pair<uint32_t>(value, kUint32, 12, 4000000000u);
  pair<int64_t>(value, kInt64, -13, 13);
  pair<uint64_t>(value, kUint64, 14, 1ull << 63);
}

// Floating point of every class: infinities, NaNs with a payload, denormals, all digits.
template <class Value>
void floating(const Value& value) {
  const float floats[] = {-std::numeric_limits<float>::infinity(), std::bit_cast<float>(0xffc01234u), 1e-45f, 1e38f};
  const double doubles[] = {std::numeric_limits<double>::infinity(), std::bit_cast<double>(0x7ff800000000dadaull),
                            5e-324, 1.0 / 3, -9999999.5, 1e17, 123456};
  const long double longs[] = {-std::numeric_limits<long double>::infinity(), __builtin_nanl("0x1234"),
                               -__builtin_nanl(""), std::numeric_limits<long double>::denorm_min(), 1.0L / 3, 1e20L,
                               1e300L, -1e-300L, 1e-5L, 123456};
  value(kFloat, floats, std::size(floats));
  value(kDouble, doubles, std::size(doubles));
  value(kLdouble, longs, std::size(longs));
}

}  // namespace

const TypeTable& examined_types() { return all_types().table; }

std::string sample_file(size_t machine, int compression) {
  const Types& types = all_types();
  const std::vector<Machine> all = machines();
  WriterOptions options;
  options.representation = &all[machine].representation;
  MemoryFile file;
  Writer w(&types.table, file.sink(), options);
  std::vector<uint8_t> memory(compression > 0 ? Compressor::memory(1) : 0);
  std::optional<Compressor> compressor;
  if (compression > 0) w.compress_with(&compressor.emplace(memory.data(), compression, 1));
  w.begin_section("text");
  w.encoder().string("a text");
  w.encoder().boolean(true);
  w.encoder().opaque("12345", 5);
  w.begin_section("values");
  const auto value = [&](TypeId type, const void* address, uint64_t count) {
    w.encoder().i32(type);
    w.encoder().u64(count);
    if (compression > 0) w.cut();
    Types::require(w.write_value(type, address, count, plain_encoder()));
    if (compression > 0) w.cut();
  };
  const std::vector<uint8_t> zeros(sizeof(Outer) + 20000);
  scalars(value);
  floating(value);
  Outer outer[2];
  memset(static_cast<void*>(outer), 0, sizeof outer);
  outer[1].kind = 2;
  strcpy(outer[1].body.name, "union");
  outer[1].weight = 1.25L;
  outer[1].sizes[39] = 39;
  outer[1].many[19] = {'z', -0.0, reinterpret_cast<void*>(0x1230004)};
  value(types.outer, outer, 2);
  value(types.large, zeros.data(), 1);
  value(kPointer, zeros.data(), 3);
  value(kMpiStatus, zeros.data(), 1);
  if (compression > 0)
    for (const Kind kind : {kUint8, kInt16, kFloat, kDouble}) value(kind, zeros.data(), 99);
  Types::require(w.finish());
  return file.bytes;
}

std::string show_sample(const std::string& bytes) {
  MemoryFile file;
  file.bytes = bytes;
  Reader reader;
  Cursor cursor;
  Types::require(reader.open(file.source()));
  Types::require(cursor.open(&reader, "values"));
  std::string lines;
  const LeafVisitor visitor = {&lines, [](void* context, const char* path, Kind kind, const char* text) {
                                 *static_cast<std::string*>(context) +=
                                     std::string(path) + " " + kind_name(kind) + " " + text + "\n";
                                 return true;
                               }};
  while (cursor.left() > 0) {
    const TypeId type = cursor.i32();
    const uint64_t count = cursor.u64();
    Types::require(cursor.show_value(type, count, visitor));
  }
  return lines;
}

bool examine(const std::string& bytes) {
  MemoryFile file;
  file.bytes = bytes;
  Reader reader;
  if (!reader.open(file.source()).ok()) return false;
  show_all(&reader);
  bool fine = read_all(&reader, true);
  fine &= read_all(&reader, false);
  fine &= read_text(&reader);
  return reader.verify().ok() && fine;
}

void reseal(std::string* file) {
  if (file->size() < 24 + kTrailerSize) return;
  const uint32_t header = load32(*file, 16);
  if (header >= 24 && header <= file->size() - kTrailerSize)
    store(file, header - 4, crc32_of(file->data(), header - 4));
  const size_t trailer = file->size() - kTrailerSize;
  const uint64_t index = load64(*file, trailer + 4);
  if (index <= trailer) store(file, trailer + 28, crc32_of(file->data() + index, trailer - index));
  store(file, trailer + 32, crc32_of(file->data() + trailer, kTrailerSize - 4));
}

std::string assemble(size_t machine, const Sections& sections) {
  const std::vector<Machine> all = machines();
  Bytes out, body;
  Encoder e(&out);
  out.append(kFileMagic, sizeof kFileMagic);
  e.u32(kMajorVersion);
  e.u32(kMinorVersion);
  Encoder b(&body);
  all[machine].representation.encode(b);
  e.u32(static_cast<uint32_t>(out.size() + 8 + body.size()));
  out.append(body.data(), body.size());
  e.u32(crc32_of(out.data(), out.size()));
  Bytes index;
  Encoder i(&index);
  i.u32(kIndexMagic);
  i.u64(sections.size());
  for (uint32_t s = 0; s < sections.size(); ++s) {
    const std::string& content = sections[s].second;
    const size_t pieces = (content.size() + kChunkSize - 1) / kChunkSize;
    i.string(sections[s].first);
    i.u64(content.size());
    i.u64(pieces);
    for (size_t p = 0; p < pieces; ++p) {
      const char* data = content.data() + p * kChunkSize;
      const uint32_t size = static_cast<uint32_t>(std::min(kChunkSize, content.size() - p * kChunkSize));
      const uint32_t sum = crc32_of(data, size);
      i.u64(out.size());
      for (const uint32_t word : {size, size, 0u, sum}) i.u32(word);
      const size_t start = out.size();
      e.u32(kChunkMagic);
      e.u32(s);
      e.u64(p);
      for (const uint32_t word : {size, size, 0u, sum}) e.u32(word);
      e.u32(crc32_of(out.data() + start, out.size() - start));
      out.append(reinterpret_cast<const uint8_t*>(data), size);
    }
  }
  const size_t index_at = out.size();
  out.append(index.data(), index.size());
  const size_t trailer = out.size();
  e.u32(kTrailerMagic);
  e.u64(index_at);
  e.u64(index.size());
  e.u64(trailer + kTrailerSize);
  e.u32(crc32_of(index.data(), index.size()));
  e.u32(crc32_of(out.data() + trailer, kTrailerSize - 4));
  return std::string(reinterpret_cast<const char*>(out.data()), out.size());
}

std::string section_of(const std::string& bytes, const char* section) {
  MemoryFile file;
  file.bytes = bytes;
  Reader reader;
  Bytes out;
  Types::require(reader.open(file.source()));
  Types::require(reader.read_section(section, ~uint64_t{0}, &out));
  return std::string(reinterpret_cast<const char*>(out.data()), out.size());
}

std::string file_of_input(const uint8_t* data, size_t size) {
  const auto text = [](const uint8_t* from, size_t length) {
    return std::string(reinterpret_cast<const char*>(from), length);
  };
  if (size < 2) return "";
  std::string file = text(data + 1, size - 1);
  if (data[0] == 1) reseal(&file);
  if (data[0] != 2) return file;
  Sections sections;
  for (size_t at = 2; at + 3 <= size;) {
    const size_t length = std::min<size_t>(static_cast<size_t>(data[at + 1]) << 8 | data[at + 2], size - at - 3);
    sections.push_back({kSectionNames[data[at] % std::size(kSectionNames)], text(data + at + 3, length)});
    at += 3 + length;
  }
  return assemble(data[1] % machines().size(), sections);
}

}  // namespace elc::format
