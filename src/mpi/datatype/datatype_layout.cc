// Type maps as pieces: worked out once for each type, so that copying needs no look at the constructors.
#include <algorithm>

#include "base/memory.h"
#include "mpi/datatype/darray.h"
#include "mpi/datatype/datatype_table.h"
#include "mpi/datatype/layout.h"

namespace elc::mpi {
namespace {

// A child with more pieces than this stays a layout of its own instead of being repeated in its parent.
constexpr size_t kInlinePieces = 32;

// Addresses are computed without regard to overflow, as the hardware does: a displacement may be an absolute
// address.
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

uint64_t bytes_of(const Piece& run) { return run.length * memory_width(run.kind); }

// Joins a piece with the one before it: adjacent runs, or one more step of an even progression.
bool join(Piece* last, const Piece& next) {
  if (last->nested != nullptr || next.nested != nullptr || last->kind != next.kind || next.count != 1)
    return false;
  if (last->count == 1 && plus(last->offset, static_cast<int64_t>(bytes_of(*last))) == next.offset) {
    last->length += next.length;
    return true;
  }
  if (last->length != next.length) return false;
  if (last->count == 1) {
    last->stride = plus(next.offset, multiply(last->offset, -1));
    last->count = 2;
    return true;
  }
  if (plus(last->offset, multiply(static_cast<int64_t>(last->count), last->stride)) != next.offset)
    return false;
  ++last->count;
  return true;
}

void push(Layout* layout, const Piece& piece) {
  if (!layout->pieces.empty() && join(&layout->pieces.back(), piece)) return;
  layout->pieces.push_back(piece);
}

void shift_into(Layout* layout, const Layout& child, int64_t offset) {
  for (Piece piece : child.pieces) {
    piece.offset = plus(piece.offset, offset);
    push(layout, piece);
  }
}

// Scalars of a predefined type.
void add_scalars(Layout* layout, bool typed, format::Kind kind, uint64_t count, int64_t offset) {
  if (kind == format::kNone) return;
  const uint64_t length = typed ? count : count * memory_width(kind);
  push(layout, {offset, 0, 1, length, typed ? kind : format::kByte, nullptr});
}

Layout* new_part(Datatype* type) { return type->parts.push_back(make<Layout>()); }

// The arrays: dimension by dimension, the fastest first, each a layout of its own. `add_dimension(d, inner,
// outer)` adds the share of dimension d.
template <class F>
void add_dimensions(Datatype* type, Layout* layout, const Layout& element, int dimensions, int order,
                    const int* sizes, F add_dimension) {
  const Layout* inner = &element;
  for (int k = 0; k < dimensions; ++k) {
    const int d = order == kOrderFortran ? k : dimensions - 1 - k;
    Layout* outer = k == dimensions - 1 ? layout : new_part(type);
    outer->opaque = element.opaque;
    add_dimension(d, *inner, outer);
    if (outer != layout) outer->extent = multiply(sizes[d], inner->extent);
    inner = outer;
  }
}

void add_subarray(Datatype* type, Layout* layout, const Layout& element) {
  const int* i = type->arguments.integers.data();
  const int n = i[0];
  const int *sizes = i + 1, *subsizes = sizes + n, *starts = subsizes + n;
  add_dimensions(type, layout, element, n, starts[n], sizes, [=](int d, const Layout& inner, Layout* outer) {
    add_elements(outer, inner, multiply(starts[d], inner.extent), 1, 0, static_cast<uint64_t>(subsizes[d]));
  });
}

void add_darray(Datatype* type, Layout* layout, const Layout& element) {
  const Darray array(type->arguments.integers.data());
  add_dimensions(type, layout, element, array.dimensions, array.order, array.gsizes,
                 [&array](int d, const Layout& inner, Layout* outer) {
                   const Share share = array.share(d);
                   add_elements(outer, inner, multiply(share.start, inner.extent),
                                static_cast<uint64_t>(share.full), multiply(share.stride, inner.extent),
                                static_cast<uint64_t>(share.block));
                   add_elements(outer, inner, multiply(share.rest_start, inner.extent), 1, 0,
                                static_cast<uint64_t>(share.rest));
                 });
}

void add_named(const Scalars& scalars, Layout* layout, bool typed) {
  add_scalars(layout, typed, scalars.kind, scalars.count, 0);
  add_scalars(layout, typed, scalars.second, 1, scalars.second_offset);
  layout->opaque = scalars.opaque;
}

void add_blocks(const Datatype& type, Layout* layout, bool typed) {
  const Vector<int>& i = type.arguments.integers;
  const Vector<MPI_Aint>& a = type.arguments.addresses;
  const size_t n = static_cast<size_t>(i[0]);
  for (size_t k = 0; k < n; ++k) {
    const Layout& old = layout_of(type.olds[type.constructor == Constructor::kStruct ? k : 0], typed);
    const bool same_length =
        type.constructor == Constructor::kIndexedBlock || type.constructor == Constructor::kHindexedBlock;
    const int length = same_length ? i[1] : i[k + 1];
    int64_t offset = 0;
    if (type.constructor == Constructor::kIndexed)
      offset = multiply(i[n + 1 + k], old.extent);
    else if (type.constructor == Constructor::kIndexedBlock)
      offset = multiply(i[2 + k], old.extent);
    else
      offset = a[k];
    add_elements(layout, old, offset, 1, 0, static_cast<uint64_t>(length));
  }
}

void add_pieces(Datatype* type, Layout* layout, bool typed) {
  if (type->constructor == Constructor::kNamed) return add_named(type->scalars, layout, typed);
  for (Datatype* old : type->olds) layout->opaque |= layout_of(old, typed).opaque;
  if (type->olds.empty()) return;
  const Layout& old = layout_of(type->olds[0], typed);
  const Vector<int>& i = type->arguments.integers;
  const auto at = [&i](size_t k) { return static_cast<uint64_t>(i[k]); };
  switch (type->constructor) {
    case Constructor::kContiguous:
      return add_elements(layout, old, 0, 1, 0, at(0));
    case Constructor::kVector:
      return add_elements(layout, old, 0, at(0), multiply(i[2], old.extent), at(1));
    case Constructor::kHvector:
      return add_elements(layout, old, 0, at(0), type->arguments.addresses[0], at(1));
    case Constructor::kSubarray:
      return add_subarray(type, layout, old);
    case Constructor::kDarray:
      return add_darray(type, layout, old);
    case Constructor::kIndexed:
    case Constructor::kHindexed:
    case Constructor::kIndexedBlock:
    case Constructor::kHindexedBlock:
    case Constructor::kStruct:
      return add_blocks(*type, layout, typed);
    default:
      return add_elements(layout, old, 0, 1, 0, 1);
  }
}

int64_t extent_of(const Datatype& type) {
  MPI_Aint lower = 0, extent = 0;
  if (type.constructor == Constructor::kNamed && type.size == 0) return 0;
  PMPI_Type_get_extent(type.handle, &lower, &extent);
  return extent;
}

bool walk_elements(const Layout& layout, uintptr_t at, int64_t stride, uint64_t n, Visitor& visitor) {
  for (uint64_t i = n > 1 ? visitor.together(layout, at, stride, n) : 0; i < n; ++i)
    if (!walk(layout, at + static_cast<uintptr_t>(i) * static_cast<uintptr_t>(stride), visitor)) return false;
  return true;
}

}  // namespace

// Not pure: the function that a compiler puts in the place of a pure one is in the C++ library.
bool Visitor::visit(uintptr_t, const Piece&) { return false; }

uint64_t Visitor::together(const Layout&, uintptr_t, int64_t, uint64_t) { return 0; }

bool walk(const Layout& layout, uintptr_t base, Visitor& visitor) {
  for (const Piece& piece : layout.pieces) {
    const uintptr_t at = base + static_cast<uintptr_t>(piece.offset);
    if (piece.nested == nullptr) {
      if (!visitor.visit(at, piece)) return false;
      continue;
    }
    // Elements one after the other are one walk.
    const Layout& nested = *piece.nested;
    const bool single = piece.length == 1;
    const int64_t stride = single ? piece.stride : nested.extent;
    const uint64_t length = single ? piece.count : piece.length;
    for (uint64_t i = 0; i < (single ? 1 : piece.count); ++i) {
      const uintptr_t repetition = at + static_cast<uintptr_t>(i) * static_cast<uintptr_t>(piece.stride);
      if (!walk_elements(nested, repetition, stride, length, visitor)) return false;
    }
  }
  return true;
}

void add_elements(Layout* layout, const Layout& child, int64_t offset, uint64_t count, int64_t stride,
                  uint64_t length) {
  if (count == 0 || length == 0 || child.pieces.empty()) return;
  if (length > 1 && count > 1 && stride == multiply(static_cast<int64_t>(length), child.extent)) {
    length *= count;
    count = 1;
  }
  const Piece& first = child.pieces[0];
  const bool one_run = child.pieces.size() == 1 && first.nested == nullptr && first.count == 1;
  const bool dense = one_run && static_cast<int64_t>(bytes_of(first)) == child.extent;
  if (dense || (one_run && length == 1)) {
    Piece run{plus(offset, first.offset),
              count > 1 ? stride : 0,
              count,
              length * first.length,
              first.kind,
              nullptr};
    if (count > 1 && static_cast<int64_t>(bytes_of(run)) == stride) {
      run.length *= count;
      run.count = 1;
      run.stride = 0;
    }
    return push(layout, run);
  }
  if (one_run && count == 1)
    return push(layout,
                {plus(offset, first.offset), child.extent, length, first.length, first.kind, nullptr});
  if (count == 1 && length == 1 && child.pieces.size() <= kInlinePieces)
    return shift_into(layout, child, offset);
  push(layout, {offset, count > 1 ? stride : 0, count, length, format::kNone, &child});
}

const Layout& layout_of(Datatype* type, bool typed) {
  Layout*& layout = typed ? type->typed : type->bytes;
  if (layout != nullptr) return *layout;
  layout = make<Layout>();
  layout->size = type->size;
  layout->extent = extent_of(*type);
  add_pieces(type, layout, typed);
  return *layout;
}

void forget_layouts(Datatype* type) {
  destroy(type->bytes);
  destroy(type->typed);
  for (Layout* part : type->parts) destroy(part);
  type->bytes = type->typed = nullptr;
  type->parts.clear();
}

}  // namespace elc::mpi
