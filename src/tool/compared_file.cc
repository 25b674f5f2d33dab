#include "compared_file.h"

#include <cstdio>

#include "mpi/serial/representation_code.h"
#include "mpi/serial/section.h"
#include "text.h"

namespace elc::tool {

using format::TypeId;

ComparedFile::ComparedFile(const std::string& where) : path(where) {
  check(source.open(path.c_str()));
  check(reader.open(source.source()));
  if (has("files")) {
    format::Cursor in = section("files");
    state::SavedTerminal terminals[3];
    check(state::read_files(in, terminals, &streams));
  }
  if (has("vars")) {
    format::Cursor in = section("vars");
    check(image.read_variables(in));
  }
  if (has("heap")) {
    format::Cursor in = section("heap");
    check(image.read_heap(in, reader));
  }
  if (has("line")) {
    Bytes bytes;
    check(reader.read_section("line", UINT32_MAX, &bytes));
    Decoder in(bytes);
    check(line::Saved::decode(in, &messages));
  }
}

format::Cursor ComparedFile::section(const char* name) {
  format::Cursor in;
  check(in.open(&reader, name));
  return in;
}

std::string ComparedFile::type_text(TypeId type, uint64_t count) const {
  const std::string name = types().known(type) ? types().info(type).name : "?";
  return count == 1 ? name : name + "[" + std::to_string(count) + "]";
}

std::string ComparedFile::owner(const state::SavedVariable& v) const {
  return v.frame == 0 ? "" : image.frames[v.frame - 1].function.c_str();
}

std::string ComparedFile::pointer_text(const format::PointerLeaf& p) const {
  if (p.block == format::kNullBlock) return "NULL";
  if (p.block == format::kWildBlock) return "wild";
  if (!format::is_block(p)) return p.block == format::kStreamBlock ? "a stream" : "a function";
  char place[512] = "";
  const uint64_t leaf = format::leaf_of(p.position), extra = format::extra_of(p.position);
  std::string name;
  TypeId type = 0;
  uint64_t count = 0, rest = 0;
  if (p.block <= image.variables.size()) {
    const state::SavedVariable& v = image.variables[p.block - 1];
    const std::string of = owner(v);
    name = "&" + (of.empty() ? "" : of + "()'s ") + v.name.c_str();
    type = v.type, count = v.count;
  } else {
    uint64_t index = 0;
    const state::SavedRun* run = image.run_of(p.block, &index);
    if (run == nullptr) return "unknown";
    name = "heap block " + std::to_string(run->first_id + (index - run->first));
    type = run->type, count = run->count, rest = run->rest;
  }
  const uint64_t leaves = count * types().info(type).leaves;
  if (const uint64_t before = format::leaves_before(p.position); before > 0)
    return name + ", [-" + std::to_string(before / types().info(type).leaves) + "]";
  if (leaf < leaves) types().place(type, count, leaf, place, sizeof place);
  else snprintf(place, sizeof place, rest > 0 ? " and %llu bytes" : ", its end",
                static_cast<unsigned long long>(leaf - leaves));
  name += place;
  if (extra == format::kPastLeaf) name += ", its end";
  else if (extra != 0) name += " and " + std::to_string(extra) + " bytes";
  return name;
}

std::map<uint64_t, Leaves> pending_in(ComparedFile& file) {
  std::map<uint64_t, Leaves> found;
  if (!file.has("mpi")) return found;
  store::Label label;
  file.check(store::read_label(file.reader, &label));
  Bytes bytes;
  file.check(file.reader.read_section("mpi", UINT32_MAX, &bytes));
  Decoder in(bytes);
  mpi::SavedMpi saved;
  file.check(mpi::SavedMpi::decode(in, label.ranks, &saved));
  const auto add = [&](const mpi::SavedRegion& region) {
    const bool is_before = format::leaves_before(region.buffer.position) > 0;
    const uint64_t first = is_before ? 0 : format::leaf_of(region.buffer.position);
    const bool is_simple = !is_before && region.count >= 0 && mpi::predefined_name(region.type) != nullptr;
    found[region.buffer.block].emplace_back(first, is_simple ? first + static_cast<uint64_t>(region.count) : UINT64_MAX);
  };
  for (const mpi::SavedRequest& r : saved.requests) {
    const bool is_started = r.kind == mpi::RequestKind::kPersistent && r.mode == mpi::StartMode::kReceive && r.active;
    if (r.kind == mpi::RequestKind::kReceive || is_started) add(r.region);
    for (const mpi::SavedRegion& region : r.regions) add(region);
    if (r.kind == mpi::RequestKind::kPersistentCollective && r.active)
      for (const mpi::SavedRegion& region : r.to.blocks) add(region);
  }
  return found;
}

}  // namespace elc::tool
