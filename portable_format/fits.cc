// Whether values of a file's type can be read into a type of the program.
#include <stdio.h>

#include "portable_format/types.h"

namespace elc::format {
namespace {

struct Place {
  const Place* up;
  const char* field;
};

// Writes ".corner.x" for the innermost place; returns the length.
size_t write_place(const Place* place, char* text, size_t size) {
  if (place == nullptr) return 0;
  const size_t used = write_place(place->up, text, size);
  if (used >= size) return used;
  const int more = snprintf(text + used, size - used, ".%s", place->field);
  return more < 0 ? used : used + static_cast<size_t>(more);
}

class Comparison {
 public:
  Comparison(const TypeTable& file, const Representation& writer, const TypeTable& memory, bool wider)
      : file_(file), writer_(writer), memory_(memory), wider_(wider) {}

  Result compare(TypeId from, TypeId to, const Place* place) {
    if (!file_.known(from)) return wrong(place, "of a type that the file does not define");
    if (!memory_.known(to)) return wrong(place, "of a type that the program does not define");
    const TypeInfo& f = file_.info(from);
    const TypeInfo& m = memory_.info(to);
    if (f.kind != m.kind && !integers_fit(f.kind, m.kind) && !(wider_ && is_wider(f.kind, m.kind))) {
      char why[256];
      snprintf(why, sizeof why, "`%.100s` in the file, `%.100s` in the program", f.name, m.name);
      return wrong(place, why);
    }
    if (f.kind != kStruct && f.kind != kUnion) return Result();
    const uint64_t pair = static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to);
    if (done_.find(pair) != nullptr) return Result();
    ELC_TRY(compare_fields(f, m, place));
    done_.at(pair) = true;
    return Result();
  }

 private:
  // intN_t, size_t and the like are other integers of C on other machines; here they are not.
  bool integers_fit(Kind file, Kind memory) const {
    const Representation& mine = Representation::here();
    if (!is_integer(file) || !is_integer(memory) || file <= kUchar || memory <= kUchar) return false;
    if (!(writer_ == mine)) return true;  // wchar_t is int, long or unsigned
    return writer_.is_signed[file] == mine.is_signed[memory] && writer_.width[file] == mine.width[memory];
  }

  // Whether each value of one is one of the other.
  bool is_wider(Kind file, Kind memory) const {
    if ((file == kFloat && memory == kDouble) || (file == kFloatComplex && memory == kDoubleComplex)) return true;
    if (!is_integer(file) || !is_integer(memory) || file <= kUchar || memory <= kUchar) return false;
    const Representation& mine = Representation::here();
    const bool from_signed = writer_.is_signed[file], to_signed = mine.is_signed[memory];
    if (from_signed == to_signed) return mine.width[memory] > writer_.width[file];
    return to_signed && mine.width[memory] > writer_.width[file];
  }

  Result compare_fields(const TypeInfo& f, const TypeInfo& m, const Place* place) {
    char why[256];
    for (uint32_t i = 0; i < f.field_count && i < m.field_count; ++i) {
      const FieldInfo& a = file_.field(f, i);
      const FieldInfo& b = memory_.field(m, i);
      if (strcmp(a.name, b.name) != 0) {
        snprintf(why, sizeof why, "field %u is `%.80s` in the file, `%.80s` in the program", i + 1, a.name,
                 b.name);
        return wrong(place, why);
      }
      const Place inner = {place, a.name};
      if (a.count != b.count) {
        snprintf(why, sizeof why, "%llu elements in the file, %llu in the program",
                 static_cast<unsigned long long>(a.count), static_cast<unsigned long long>(b.count));
        return wrong(&inner, why);
      }
      ELC_TRY(compare(a.type, b.type, &inner));
    }
    if (f.field_count == m.field_count) return Result();
    snprintf(why, sizeof why, "`%.80s` has %u fields in the file, %u in the program", f.name, f.field_count,
             m.field_count);
    return wrong(place, why);
  }

  Result wrong(const Place* place, const char* why) const {
    char text[256] = "";
    write_place(place, text, sizeof text);
    return Result::error("%s%s%s", text, text[0] == '\0' ? "" : ": ", why);
  }

  const TypeTable& file_;
  const Representation& writer_;
  const TypeTable& memory_;
  const bool wider_;
  HashMap<bool> done_;
};

}  // namespace

Result fits(const TypeTable& file, TypeId from, const Representation& writer, const TypeTable& memory,
            TypeId to, bool wider) {
  return Comparison(file, writer, memory, wider).compare(from, to, nullptr);
}

}  // namespace elc::format
