// Values as text, leaf by leaf, without the program that wrote them.
#include <stdio.h>

#include "portable_format/integer.h"
#include "portable_format/reader.h"

namespace elc::format {

void pointer_text(const PointerLeaf& p, char* text, size_t size) {
  const bool by_id = p.block >= kFirstById;
  const char* const what = by_id ? "heap block" : "block";
  const unsigned long long block = by_id ? p.block - kFirstById : p.block, position = p.position, leaf = leaf_of(p.position);
  if (p.block == kNullBlock)
    snprintf(text, size, "NULL");
  else if (p.block == kWildBlock)
    snprintf(text, size, "wild 0x%llx", position);
  else if (!is_block(p))
    snprintf(text, size, "%s %llu", p.block == kStreamBlock ? "stream" : "function", position);
  else if (const uint64_t before = leaves_before(p.position); before > 0)
    snprintf(text, size, "%s %llu - %llu", what, block, static_cast<unsigned long long>(before));
  else if (extra_of(p.position) == 0)
    snprintf(text, size, "%s %llu + %llu", what, block, position);
  else if (extra_of(p.position) == kPastLeaf)
    snprintf(text, size, "%s %llu + end of %llu", what, block, leaf);
  else
    snprintf(text, size, "%s %llu + %llu and %llu bytes", what, block, leaf, static_cast<unsigned long long>(extra_of(p.position)));
}

void address_text(const PointerLeaf& address, char* text, size_t size) {
  if (address.block == kNullBlock)
    snprintf(text, size, "%lld", static_cast<long long>(address.position));
  else
    pointer_text(address, text, size);
}

struct Cursor::Show {
  const LeafVisitor* visitor;
  bool stopped = false;
  char path[512] = "";
  size_t length = 0;

  // Appends an index, or a dot and a name, to the path, which is cut where it would be too long; returns the
  // length to go back to.
  size_t go_to(uint64_t index) {
    return grown(
        snprintf(path + length, sizeof path - length, "[%llu]", static_cast<unsigned long long>(index)));
  }
  size_t go_to(const char* name) { return grown(snprintf(path + length, sizeof path - length, ".%s", name)); }
  size_t grown(int more) {
    const size_t before = length;
    if (more > 0) length += static_cast<size_t>(more);
    if (length >= sizeof path) length = sizeof path - 1;
    return before;
  }
  void back(size_t before) {
    length = before;
    path[length] = '\0';
  }
};

Result Cursor::show_value(TypeId from, uint64_t count, const LeafVisitor& visitor) {
  if (!ok() || !enough(from, count)) return status();
  Show show = {};
  show.visitor = &visitor;
  show_any(from, count, &show);
  return status();
}

void Cursor::show_any(TypeId type, uint64_t count, Show* show) {
  const TypeTable& types = reader_->types_;
  const TypeInfo& info = types.info(type);
  for (uint64_t e = 0; e < count && ok(); ++e) {
    if (show->stopped) return skip_any(type, count - e);
    const size_t before = show->length;
    if (count != 1) show->go_to(e);
    if (info.kind == kUnion) {
      const uint32_t index = member_index(type);
      if (index != kNoMember) {
        const FieldInfo& member = types.field(info, index);
        show->go_to(member.name);
        show_any(member.type, member.count, show);
      }
    } else if (info.kind == kStruct) {
      for (const FieldInfo& field : types.fields(type)) {
        const size_t outer = show->go_to(field.name);
        show_any(field.type, field.count, show);
        show->back(outer);
      }
    } else {
      show_leaf(info.kind, show);
    }
    show->back(before);
  }
}

void Cursor::show_leaf(Kind kind, Show* show) {
  const Representation& machine = reader_->representation_;
  const bool swap = reader_->plans_.swaps();
  const Kind part = part_of_complex(kind);
  const uint32_t width = machine.packed_width(part);
  const uint32_t leaves = is_complex(kind) ? 2 : 1;
  for (uint32_t i = 0; i < leaves; ++i) {
    const uint8_t* at = take(width);
    if (!ok()) return;
    char text[128];
    if (has_position(kind)) {
      const PointerLeaf pointer = {load_integer(at, 8, swap, false), load_integer(at + 8, 8, swap, false)};
      (kind == kPointer ? pointer_text : address_text)(pointer, text, sizeof text);
    } else if (kind == kMpiStatus) {
      snprintf(text, sizeof text, "source %lld tag %lld error %lld bytes %llu",
               static_cast<long long>(load_integer(at, 4, swap, true)),
               static_cast<long long>(load_integer(at + 4, 4, swap, true)),
               static_cast<long long>(load_integer(at + 8, 4, swap, true)),
               static_cast<unsigned long long>(load_integer(at + 16, 8, swap, false)));
    } else if (is_handle(kind)) {
      snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(load_integer(at, 8, swap, false)));
    } else {
      scalar_text(part, machine, at, text, sizeof text);
    }
    const size_t before = leaves == 1 ? show->length : show->go_to(i == 0 ? "re" : "im");
    if (!show->stopped && !show->visitor->leaf(show->visitor->context, show->path, part, text))
      show->stopped = true;
    show->back(before);
  }
}

}  // namespace elc::format
