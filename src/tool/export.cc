// `elc export`: a variable of a line as NumPy, CSV or JSON has it.
#include "export.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/config.h"
#include "base/message.h"
#include "lines.h"
#include "portable_format/integer.h"
#include "portable_format/long_double.h"
#include "portable_format/reader.h"
#include "state/image.h"
#include "text.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace elc::tool {
namespace {

using What = Layout::What;

uint64_t product(const std::vector<uint64_t>& extents, size_t begin, size_t end) {
  uint64_t all = 1;
  for (size_t i = begin; i < end; ++i) all *= extents[i];
  return all;
}

// ---- Reading ----

Layout handle_layout(std::initializer_list<std::pair<const char*, Layout>> parts) {
  Layout all = {What::kStruct, 0, {}};
  for (const auto& [name, part] : parts) {
    all.fields.push_back({name, part, 1});
    all.width += part.width;
  }
  return all;
}

class SavedValues {
 public:
  explicit SavedValues(const std::string& path) : path_(path) {
    check(source_.open(path.c_str()));
    check(reader_.open(source_.source()));
    check(variables_.open(&reader_, "vars"));
    check(image_.read_variables(variables_));
    check(image_.read_declared(reader_));
    machine_ = reader_.representation();
  }

  Array load(const std::string& name) {
    const size_t index = find(name);
    const state::SavedVariable& v = image_.variables[index];
    for (size_t i = 0; i < index; ++i) {
      require_known(image_.variables[i].type);
      check(variables_.skip_value(image_.variables[i].type, image_.variables[i].count));
    }
    require_known(v.type);
    if (types().info(v.type).kind == format::kPointer && v.count == 1) return load_target(name);
    std::vector<uint64_t> shape(v.extents.begin(), v.extents.end());
    if (shape.empty() && v.count != 1) shape.push_back(v.count);
    return read(variables_, name, v.type, v.count, shape);
  }

 private:
  const format::TypeTable& types() const { return reader_.types(); }

  void check(const Result& status) const {
    if (!status.ok())
      throw Refusal(status.system_failed() ? kCannot : kDamaged, path_ + ": " + reader_.explain(status).message());
  }
  void require_known(format::TypeId type) const {
    if (!types().known(type)) check(Result::error("a variable has a type that is not known (%ld)", static_cast<long>(type)));
  }

  std::string owner(const state::SavedVariable& v) const { return v.frame == 0 ? "" : image_.frames[v.frame - 1].function.c_str(); }

  size_t find(const std::string& name) const {
    const auto& all = image_.variables;
    std::vector<size_t> found;
    for (size_t i = 0; i < all.size(); ++i)
      if (name == all[i].name.c_str()) found.push_back(i);
    if (found.size() == 1) return found.front();
    if (found.size() > 1) {
      std::string owners;
      for (const size_t i : found)
        owners += (owners.empty() ? "" : ", ") + (all[i].frame == 0 ? "a global" : "one of " + owner(all[i]) + "()");
      throw Refusal(kUsage, path_ + " has several variables " + name + " (" + owners + "): say FUNCTION." + name);
    }
    for (size_t i = all.size(); i-- > 0;)  // the innermost call's
      if (all[i].frame != 0 && name == owner(all[i]) + "." + all[i].name.c_str()) return i;
    throw Refusal(kUsage, path_ + " has no variable " + name + "; elc show lists them");
  }

  // What the pointer at which the cursor is points to.
  Array load_target(const std::string& name) {
    uint8_t leaf[16];
    variables_.bytes(leaf, sizeof leaf);
    check(variables_.status());
    const bool swap = swaps();
    const format::PointerLeaf pointer = {format::load_integer(leaf, 8, swap, false), format::load_integer(leaf + 8, 8, swap, false)};
    if (!format::is_block(pointer))
      throw Refusal(kUsage, path_ + ": the pointer " + name + " points to nothing that is saved");
    if (pointer.block <= image_.variables.size())
      throw Refusal(kUsage, path_ + ": the pointer " + name + " points to the variable " +
                                image_.variables[static_cast<size_t>(pointer.block - 1)].name.c_str());
    if (pointer.position != 0 && format::leaves_before(pointer.position) == 0)  // that of an array that counts from 1 is to its block
      throw Refusal(kUsage, path_ + ": the pointer " + name + " points into the middle of a block");
    format::Cursor heap;
    check(heap.open(&reader_, "heap"));
    check(image_.read_heap(heap, reader_));
    uint64_t left = 0;
    if (image_.run_of(pointer.block, &left) == nullptr) left = image_.blocks;
    for (const state::SavedRun& run : image_.runs) {
      const uint64_t before = std::min(left, run.blocks);
      for (uint64_t i = 0; i < before; ++i) {
        check(heap.skip_value(run.type, run.count));
        check(heap.skip(run.rest));
      }
      left -= before;
      if (before < run.blocks) return read(heap, name, run.type, run.count, {run.count});
    }
    check(Result::error("the checkpoint file is damaged: a pointer into a block that is not there"));
    return {};
  }

  // Arrays of Fortran are structs in each other (fortran.cc): "real8 (3,4)" has `elements`, 4 of "real8 (3)".
  Array read(format::Cursor& in, const std::string& name, format::TypeId type, uint64_t count, std::vector<uint64_t> shape) {
    bool of_fortran = false;
    const auto only = [&](const char* field) {
      const format::TypeInfo& info = types().info(type);
      return info.kind == format::kStruct && info.field_count == 1 && strcmp(types().field(info, 0).name, field) == 0;
    };
    if (count > 0 && in.left() / std::max<uint64_t>(types().info(type).packed, 1) < count)
      check(Result::error("the checkpoint file is damaged: %s is longer than its section", name.c_str()));
    uint64_t elements = count;
    while (only("elements") || only("logical") || only("handle")) {
      const format::FieldInfo& field = types().field(types().info(type), 0);
      if (only("elements")) {
        if (!of_fortran && shape.empty()) shape.push_back(1);  // the last extent was 1
        of_fortran = true;
        shape.push_back(field.count);
      }
      elements *= field.count;
      type = field.type;
    }
    Array array = {layout(type, name), shape, ""};
    append(in, type, elements, &array.bytes);
    check(in.status());
    if (of_fortran) transpose(&array);
    return array;
  }

  // The extents the other way round: what lay first by the first index lies first by the last.
  static void transpose(Array* array) {
    const std::vector<uint64_t> from = array->shape;
    const size_t width = static_cast<size_t>(array->layout.width);
    std::string bytes(array->bytes.size(), '\0');
    std::vector<uint64_t> index(from.size());
    for (size_t at = 0; at < array->bytes.size(); at += width) {
      uint64_t to = 0;
      for (size_t i = from.size(); i-- > 0;) to = to * from[i] + index[i];
      memcpy(&bytes[static_cast<size_t>(to) * width], &array->bytes[at], width);
      for (size_t i = from.size(); i-- > 0 && ++index[i] == from[i];) index[i] = 0;
    }
    array->bytes.swap(bytes);
    std::reverse(array->shape.begin(), array->shape.end());
  }

  Layout layout(format::TypeId type, const std::string& name) const {
    const format::TypeInfo& info = types().info(type);
    if (info.kind == format::kUnion)
      throw Refusal(kUsage, path_ + ": " + name + " has a union, whose members are not those of every element: elc show has it");
    if (info.kind == format::kStruct) {
      Layout all = {What::kStruct, 0, {}};
      for (const format::FieldInfo& field : types().fields(type)) {
        all.fields.push_back({field.name, layout(field.type, name), field.count});
        all.width += all.fields.back().layout.width * field.count;
      }
      return all;
    }
    const uint32_t width = machine_.packed_width(info.kind);
    const Layout word = {What::kUnsigned, 8, {}}, half = {What::kUnsigned, 4, {}}, number = {What::kSigned, 4, {}};
    switch (info.kind) {
      case format::kBool: return {What::kBool, 1, {}};
      case format::kChar: return {What::kChar, 1, {}};
      case format::kFloat: case format::kDouble: return {What::kFloat, width, {}};
      case format::kLdouble: return {What::kFloat, 8, {}};
      case format::kFloatComplex: case format::kDoubleComplex: return {What::kComplex, width, {}};
      case format::kLdoubleComplex: return {What::kComplex, 16, {}};
      case format::kByte: return {What::kUnsigned, 1, {}};
      case format::kPointer: case format::kMpiAint: return handle_layout({{"block", word}, {"position", word}});
      case format::kMpiStatus:
        return handle_layout({{"source", number}, {"tag", number}, {"error", number}, {"zero", half}, {"bytes", word}, {"machine", word}});
      default: break;
    }
    if (format::is_handle(info.kind)) return word;
    return {machine_.is_signed[info.kind] ? What::kSigned : What::kUnsigned, width, {}};
  }

  bool swaps() const { return (machine_.order == format::ByteOrder::kBig) != (std::endian::native == std::endian::big); }

  // Elements of the type, as their layout has them.
  void append(format::Cursor& in, format::TypeId type, uint64_t count, std::string* out) const {
    const format::TypeInfo& info = types().info(type);
    if (info.kind == format::kStruct) {
      for (uint64_t i = 0; i < count && in.ok(); ++i)
        for (const format::FieldInfo& field : types().fields(type)) append(in, field.type, field.count, out);
      return;
    }
    const size_t width = machine_.packed_width(info.kind);
    const size_t begin = out->size();
    out->resize(begin + static_cast<size_t>(count) * width);
    char* const values = out->data() + begin;
    in.bytes(values, static_cast<size_t>(count) * width);
    if (info.kind == format::kBool) {
      to_bool(begin, width, out);
    } else if (format::part_of_complex(info.kind) == format::kLdouble) {
      to_double(begin, out);
    } else if (machine_.order == format::ByteOrder::kBig) {
      static const size_t kStatus[] = {4, 4, 4, 4, 8, 8};
      const bool two = format::has_position(info.kind) || format::is_complex(info.kind);
      const size_t parts = two ? 2 : 1;
      for (size_t at = 0; at < static_cast<size_t>(count) * width;) {
        const size_t part = info.kind == format::kMpiStatus ? kStatus[at % width < 16 ? at % width / 4 : 4] : width / parts;
        std::reverse(values + at, values + at + part);
        at += part;
      }
    }
  }

  void to_bool(size_t begin, size_t width, std::string* out) const {
    size_t to = begin;
    for (size_t at = begin; at < out->size(); at += width)
      (*out)[to++] = std::any_of(out->begin() + static_cast<ptrdiff_t>(at), out->begin() + static_cast<ptrdiff_t>(at + width), [](char c) { return c != 0; });
    out->resize(to);
  }

  // The nearest double; what is too large is infinite.
  void to_double(size_t begin, std::string* out) const {
    const size_t width = format::long_double_width(machine_.long_double);
    std::string doubles;
    for (size_t at = begin; at < out->size(); at += width) {
      uint8_t value[8];
      format::LongDoubleParts parts = format::unpack(machine_.long_double, machine_.order == format::ByteOrder::kBig,
                                                     reinterpret_cast<const uint8_t*>(out->data() + at));
      if (!format::pack(parts, format::LongDouble::kBinary64, false, value)) {
        parts.kind = format::LongDoubleParts::kInfinite;
        format::pack(parts, format::LongDouble::kBinary64, false, value);
      }
      doubles.append(reinterpret_cast<const char*>(value), sizeof value);
    }
    out->replace(begin, std::string::npos, doubles);
  }

  std::string path_;
  store::RankSource source_;
  format::Reader reader_;
  format::Cursor variables_;
  state::Image image_;
  format::Representation machine_;
};

// ---- Values as text ----

uint64_t bits(const Layout& layout, const char* at) {
  uint64_t value = 0;
  for (uint64_t i = layout.width; i-- > 0;) value = value << 8 | static_cast<uint8_t>(at[i]);
  return value;
}

int64_t signed_value(const Layout& layout, const char* at) {
  const int unused = static_cast<int>(64 - 8 * layout.width);
  return static_cast<int64_t>(bits(layout, at) << unused) >> unused;
}

double real(uint64_t width, const char* at) {
  const uint64_t all = bits({What::kFloat, width, {}}, at);
  if (width == 8) return std::bit_cast<double>(all);
  return std::bit_cast<float>(static_cast<uint32_t>(all));
}

// The shortest text that is this number again.
std::string real_text(uint64_t width, const char* at) {
  char text[64];
  const double value = real(width, at);
  const auto done = width == 4 ? std::to_chars(text, text + sizeof text, static_cast<float>(value)) : std::to_chars(text, text + sizeof text, value);
  return std::string(text, done.ptr);
}

// Up to the first zero.
std::string characters(const char* at, uint64_t count) {
  return std::string(at, std::find(at, at + static_cast<size_t>(count), '\0'));
}

std::string scalar_text(const Layout& layout, const char* at) {
  switch (layout.what) {
    case What::kBool: return *at != 0 ? "true" : "false";
    case What::kSigned: return std::to_string(signed_value(layout, at));
    case What::kUnsigned: return std::to_string(bits(layout, at));
    case What::kChar: return characters(at, 1);
    case What::kFloat: return real_text(layout.width, at);
    case What::kComplex: {
      const uint64_t half = layout.width / 2;
      const std::string imaginary = real_text(half, at + half);
      return real_text(half, at) + (imaginary[0] == '-' ? "" : "+") + imaginary + "j";
    }
    case What::kStruct: break;
  }
  return "";
}

// ---- NumPy ----

std::string quoted(const std::string& text) {
  std::string all = "'";
  for (const char c : text) {
    char escaped[8];
    snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned>(static_cast<uint8_t>(c)));
    if (c < ' ' || c > '~' || c == '\'' || c == '\\') all += escaped;
    else all += c;
  }
  return all + "'";
}

std::string description(const Layout& layout) {
  const std::string width = std::to_string(layout.width);
  switch (layout.what) {
    case What::kBool: return "'|b1'";
    case What::kChar: return "'|S1'";
    case What::kSigned: return (layout.width == 1 ? "'|i" : "'<i") + width + "'";
    case What::kUnsigned: return (layout.width == 1 ? "'|u" : "'<u") + width + "'";
    case What::kFloat: return "'<f" + width + "'";
    case What::kComplex: return "'<c" + width + "'";
    case What::kStruct: break;
  }
  std::string all = "[";
  for (const Layout::Field& field : layout.fields) {
    all += (all.size() > 1 ? ", (" : "(") + quoted(field.name) + ", " + description(field.layout);
    if (field.count != 1) all += ", (" + std::to_string(field.count) + ",)";
    all += ")";
  }
  return all + "]";
}

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string all = "(";
  for (const uint64_t extent : shape) all += (all.size() > 1 ? ", " : "") + std::to_string(extent);
  return all + (shape.size() == 1 ? ",)" : ")");
}

std::string npy(const Array& array) {
  std::string header = "{'descr': " + description(array.layout) + ", 'fortran_order': False, 'shape': " + shape_text(array.shape) + ", }";
  const bool is_long = header.size() + 64 > 0xffff;
  const size_t before = is_long ? 12 : 10;
  while ((before + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = std::string("\x93NUMPY") + (is_long ? '\2' : '\1') + '\0';
  for (int i = 0; i < (is_long ? 4 : 2); ++i) file += static_cast<char>(header.size() >> 8 * i);
  return file + header + array.bytes;
}

// ---- CSV ----

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? "\"\"" : std::string(1, c);
  return all + "\"";
}

// The scalars of elements, each by visit(place, text); neighbouring characters are one text.
template <class F>
void each_scalar(const Layout& layout, uint64_t count, const char* at, const std::string& place, F visit) {
  if (layout.what == What::kChar) return visit(place, characters(at, count));
  for (uint64_t i = 0; i < count; ++i, at += layout.width) {
    const std::string here = count == 1 ? place : place + "[" + std::to_string(i) + "]";
    if (layout.what != What::kStruct) {
      visit(here, scalar_text(layout, at));
      continue;
    }
    const char* field_at = at;
    for (const Layout::Field& field : layout.fields) {
      each_scalar(field.layout, field.count, field_at, here + (here.empty() ? "" : ".") + field.name, visit);
      field_at += field.layout.width * field.count;
    }
  }
}

// An array of numbers has a line for each row; one of structs a line for each, below one with the names.
std::string csv(const Array& array) {
  const bool structs = array.layout.what == What::kStruct;
  const bool rows = !array.shape.empty() && !structs && (array.shape.size() > 1 || array.layout.what == What::kChar);
  const uint64_t columns = rows ? array.shape.back() : 1;
  const uint64_t lines = columns == 0 ? 0 : array.elements() / columns;
  std::string all, line;
  const auto add = [&line](const std::string& text) { line += "," + cell(text); };
  const auto end = [&all, &line] {
    all += line.empty() ? "\n" : line.substr(1) + "\n";
    line.clear();
  };
  if (structs) {
    const std::string none(static_cast<size_t>(array.layout.width), '\0');
    each_scalar(array.layout, 1, none.data(), "", [&](const std::string& place, const std::string&) { add(place); });
    end();
  }
  const char* at = array.bytes.data();
  for (uint64_t i = 0; i < lines; ++i, at += columns * array.layout.width) {
    each_scalar(array.layout, columns, at, "", [&](const std::string&, const std::string& text) { add(text); });
    end();
  }
  return all;
}

// ---- JSON ----

json scalar_json(const Layout& layout, const char* at) {
  const auto finite = [](double value, uint64_t width, const char* from) { return std::isfinite(value) ? json(value) : json(real_text(width, from)); };
  switch (layout.what) {
    case What::kBool: return *at != 0;
    case What::kSigned: return signed_value(layout, at);
    case What::kUnsigned: return bits(layout, at);
    case What::kFloat: return finite(real(layout.width, at), layout.width, at);
    case What::kComplex: {
      const uint64_t half = layout.width / 2;
      return json::array({finite(real(half, at), half, at), finite(real(half, at + half), half, at + half)});
    }
    default: return characters(at, 1);
  }
}

json element_json(const Layout& layout, const char* at);

json elements_json(const Layout& layout, uint64_t count, const char* at) {
  if (layout.what == What::kChar) return characters(at, count);
  json all = json::array();
  for (uint64_t i = 0; i < count; ++i) all.push_back(element_json(layout, at + i * layout.width));
  return all;
}

json element_json(const Layout& layout, const char* at) {
  if (layout.what != What::kStruct) return scalar_json(layout, at);
  json all = json::object();
  for (const Layout::Field& field : layout.fields) {
    all[field.name] = field.count == 1 ? element_json(field.layout, at) : elements_json(field.layout, field.count, at);
    at += field.layout.width * field.count;
  }
  return all;
}

json values_json(const Array& array, size_t dimension, const char* at) {
  if (dimension == array.shape.size()) return element_json(array.layout, at);
  if (dimension + 1 == array.shape.size()) return elements_json(array.layout, array.shape[dimension], at);
  const uint64_t size = product(array.shape, dimension + 1, array.shape.size()) * array.layout.width;
  json all = json::array();
  for (uint64_t i = 0; i < array.shape[dimension]; ++i) all.push_back(values_json(array, dimension + 1, at + i * size));
  return all;
}

json array_json(const Array& array) {
  // (How many empty rows there are, a file may say as it likes.)
  return {{"shape", array.shape}, {"values", array.elements() == 0 ? json::array() : values_json(array, 0, array.bytes.data())}};
}

// ---- Files ----

void write_text(const std::string& path, const std::string& content) {
  if (path == "-") {
    fwrite(content.data(), 1, content.size(), stdout);  // whether all of it was written is found out at the end
    return;
  }
  FILE* file = fopen(path.c_str(), "wb");
  if (file == nullptr) throw Refusal(kCannot, "cannot write " + path + ": " + strerror(errno));
  const bool written = fwrite(content.data(), 1, content.size(), file) == content.size();
  if (fclose(file) == 0 && written) return;
  const int error = errno;
  unlink(path.c_str());
  throw Refusal(kCannot, "cannot write " + path + ": " + strerror(error));
}

// A name for a file: of a variable, that may be anything.
std::string file_name(std::string variable) {
  for (char& c : variable)
    if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') && c != '.' && c != '-') c = '_';
  if (variable[0] == '.' || variable[0] == '-') variable[0] = '_';
  return variable.substr(0, 200);
}

std::string format_of(const ExportOptions& options) {
  if (!options.format.empty()) return options.format;
  const std::string ending = fs::path(options.output).extension().string();
  for (const char* format : {"npy", "csv", "json"})
    if (ending == std::string(".") + format) return format;
  return "npy";
}

void write_array(const std::string& path, const std::string& format, const Array& array) {
  write_text(path, format == "csv" ? csv(array) : npy(array));
  if (path != "-") printf("%s: %s, shape %s\n", path.c_str(), visible(description(array.layout)).c_str(), shape_text(array.shape).c_str());
}

}  // namespace

uint64_t Array::elements() const { return product(shape, 0, shape.size()); }

Ranks ranks_of(const std::string& what, const std::string& dir, int64_t rank) {
  Ranks ranks;
  if (names_file(what)) {
    store::RankSource source;
    format::Reader reader;
    store::Label label;
    Result read = source.open(what.c_str());
    if (read.ok()) read = reader.open(source.source());
    if (read.ok()) read = store::read_label(reader, &label);
    if (!read.ok()) throw Refusal(read.system_failed() ? kCannot : kDamaged, what + ": " + reader.explain(read).message());
    if (rank >= 0 && rank != static_cast<int64_t>(label.rank))
      throw Refusal(kUsage, what + " is of rank " + std::to_string(label.rank));
    return {label.line, {{label.rank, what}}};
  }
  const LinePlace place = line_place(what, dir);
  require_line(place.dir, place.line);
  store::Commit commit;
  const Result status = store::read_commit(place.dir.c_str(), place.line, &commit);
  if (!status.ok()) throw Refusal(status.system_failed() ? kCannot : kDamaged, status.message());
  if (rank >= static_cast<int64_t>(commit.ranks))
    throw Refusal(kUsage, "line " + std::to_string(place.line) + " has ranks 0 to " + std::to_string(commit.ranks - 1));
  ranks.line = place.line;
  for (uint32_t i = 0; i < commit.ranks; ++i)
    if (rank < 0 || rank == static_cast<int64_t>(i))
      ranks.files.push_back({i, store::rank_path(place.dir.c_str(), place.line, i).c_str()});
  return ranks;
}

Array load(const std::string& file, const std::string& variable) { return SavedValues(file).load(variable); }

Array join(const std::vector<Array>& parts, uint64_t axis) {
  std::vector<std::vector<uint64_t>> shapes;
  for (const Array& part : parts) shapes.push_back(part.shape.empty() ? std::vector<uint64_t>{1} : part.shape);
  Array all = {parts[0].layout, shapes[0], ""};
  if (axis >= all.shape.size())
    throw Refusal(kUsage, "the variable has no axis " + std::to_string(axis) + ": its shape is " + shape_text(all.shape));
  all.shape[axis] = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    all.shape[axis] += shapes[i].size() > axis ? shapes[i][axis] : 0;
    std::vector<uint64_t> wanted = shapes[0];
    if (shapes[i].size() > axis) wanted[axis] = shapes[i][axis];
    if (shapes[i] != wanted || description(parts[i].layout) != description(all.layout))
      throw Refusal(kUsage, "the ranks' variables cannot be joined: one is " + description(all.layout) + " of shape " + shape_text(shapes[0]) +
                                ", another " + description(parts[i].layout) + " of shape " + shape_text(shapes[i]));
  }
  const uint64_t rows = all.elements() == 0 ? 0 : product(all.shape, 0, axis);
  for (uint64_t row = 0; row < rows; ++row)
    for (const Array& part : parts) {
      const size_t size = part.bytes.size() / static_cast<size_t>(rows);
      all.bytes.append(part.bytes, static_cast<size_t>(row) * size, size);
    }
  return all;
}

double number(const Layout& layout, const char* at) {
  switch (layout.what) {
    case What::kSigned: return static_cast<double>(signed_value(layout, at));
    case What::kFloat: return real(layout.width, at);
    case What::kComplex: return std::hypot(real(layout.width / 2, at), real(layout.width / 2, at + layout.width / 2));
    default: return static_cast<double>(bits(layout, at));
  }
}

int export_variable(const ExportOptions& options) {
  const std::string format = format_of(options);
  const Ranks ranks = ranks_of(options.what, options.dir, options.rank);
  const bool one = options.axis >= 0 || ranks.files.size() == 1;
  const std::string name = file_name(options.variable);
  if (format == "json") {
    json facts = {{"line", ranks.line}, {"variable", options.variable}};
    std::vector<Array> parts;
    for (const auto& [rank, file] : ranks.files) {
      parts.push_back(load(file, options.variable));
      if (options.axis >= 0) continue;
      facts["ranks"].push_back(array_json(parts.back()));
      facts["ranks"].back()["rank"] = rank;
      parts.clear();
    }
    if (options.axis >= 0) facts.update(array_json(join(parts, static_cast<uint64_t>(options.axis))));
    write_text(options.output.empty() ? "-" : options.output, facts.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
    return 0;
  }
  if (!one && !options.output.empty())
    throw Refusal(kUsage, "--output is for one file: choose a rank by --rank, or join them by --join");
  std::vector<Array> parts;
  for (const auto& [rank, file] : ranks.files) {
    parts.push_back(load(file, options.variable));
    if (options.axis >= 0) continue;
    char ending[32];
    snprintf(ending, sizeof ending, "-rank-%06lu.", static_cast<unsigned long>(rank));
    write_array(!options.output.empty() ? options.output : one ? name + "." + format : name + ending + format, format, parts.back());
    parts.clear();
  }
  if (options.axis >= 0)
    write_array(options.output.empty() ? name + "." + format : options.output, format, join(parts, static_cast<uint64_t>(options.axis)));
  return 0;
}

}  // namespace elc::tool
