#include "mpi/serial/section.h"

#include <span>

#include "base/sort.h"
#include "portable_format/types.h"

namespace elc::mpi {
namespace {

constexpr uint32_t kSetUpLayout = 2, kSetUpLayoutOfMessages = 1;
constexpr uint32_t kSavedReceive = 1, kSavedCollective = 2;  // kinds of a persistent request of the set-up
constexpr uint32_t kCommitted = 1, kFreed = 2, kHasPlaces = 4, kHasOrigin = 8;  // flags of a datatype
constexpr uint32_t kWrites = 1, kAppends = 2, kUnique = 4, kAtomic = 8, kViewed = 16, kOfSetUp = 32, kExact = 64, kUnknownFileFlag = 128;  // of a file

// By number; the second table is Fortran's.
const char* const kNames[] = {
    "MPI_CHAR", "MPI_SIGNED_CHAR", "MPI_UNSIGNED_CHAR", "MPI_BYTE", "MPI_PACKED", "MPI_WCHAR", "MPI_SHORT",
    "MPI_UNSIGNED_SHORT", "MPI_INT", "MPI_UNSIGNED", "MPI_LONG", "MPI_UNSIGNED_LONG", "MPI_LONG_LONG",
    "MPI_UNSIGNED_LONG_LONG", "MPI_FLOAT", "MPI_DOUBLE", "MPI_LONG_DOUBLE", "MPI_C_BOOL", "MPI_INT8_T",
    "MPI_INT16_T", "MPI_INT32_T", "MPI_INT64_T", "MPI_UINT8_T", "MPI_UINT16_T", "MPI_UINT32_T", "MPI_UINT64_T",
    "MPI_C_FLOAT_COMPLEX", "MPI_C_DOUBLE_COMPLEX", "MPI_C_LONG_DOUBLE_COMPLEX", "MPI_AINT", "MPI_OFFSET",
    "MPI_COUNT", "MPI_FLOAT_INT", "MPI_DOUBLE_INT", "MPI_LONG_INT", "MPI_2INT", "MPI_SHORT_INT",
    "MPI_LONG_DOUBLE_INT", "MPI_LB", "MPI_UB", "MPI_CXX_BOOL", "MPI_CXX_FLOAT_COMPLEX", "MPI_CXX_DOUBLE_COMPLEX",
    "MPI_CXX_LONG_DOUBLE_COMPLEX"};
constexpr uint64_t kFirstOfFortran = 64;
const char* const kNamesOfFortran[] = {
    "MPI_CHARACTER", "MPI_LOGICAL", "MPI_INTEGER", "MPI_REAL", "MPI_DOUBLE_PRECISION", "MPI_COMPLEX",
    "MPI_DOUBLE_COMPLEX", "MPI_2INTEGER", "MPI_2REAL", "MPI_2DOUBLE_PRECISION", "MPI_INTEGER1", "MPI_INTEGER2",
    "MPI_INTEGER4", "MPI_INTEGER8", "MPI_INTEGER16", "MPI_REAL4", "MPI_REAL8", "MPI_REAL16", "MPI_COMPLEX8",
    "MPI_COMPLEX16", "MPI_COMPLEX32"};

const char* const kNamesOfOperations[] = {"MPI_OP_NULL", "MPI_MAX", "MPI_MIN", "MPI_SUM",  "MPI_PROD",   "MPI_LAND",   "MPI_BAND", "MPI_LOR",
                                          "MPI_BOR",     "MPI_LXOR", "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC", "MPI_REPLACE", "MPI_NO_OP"};
const char* const kNamesOfErrorHandlers[] = {"MPI_ERRHANDLER_NULL", "MPI_ERRORS_ARE_FATAL", "MPI_ERRORS_RETURN", "MPI_ERRORS_ABORT"};

const char* const kNamesOfCollectives[] = {
    "MPI_Barrier_init", "MPI_Bcast_init", "MPI_Gather_init", "MPI_Gatherv_init", "MPI_Scatter_init", "MPI_Scatterv_init",
    "MPI_Allgather_init", "MPI_Allgatherv_init", "MPI_Alltoall_init", "MPI_Alltoallv_init", "MPI_Alltoallw_init", "MPI_Reduce_init",
    "MPI_Allreduce_init", "MPI_Reduce_scatter_init", "MPI_Reduce_scatter_block_init", "MPI_Scan_init", "MPI_Exscan_init",
    "MPI_Neighbor_allgather_init", "MPI_Neighbor_allgatherv_init", "MPI_Neighbor_alltoall_init", "MPI_Neighbor_alltoallv_init",
    "MPI_Neighbor_alltoallw_init"};
static_assert(std::size(kNamesOfCollectives) == static_cast<size_t>(Collectively::kEnd));

Result read_layout(Decoder& in, const char* section, uint32_t newest, uint32_t* read) {
  const uint32_t layout = *read = in.u32();
  if (!in.ok() || (layout >= 1 && layout <= newest)) return Result();
  return Result::error("section \"%s\" has layout %u, and this libELC reads up to %u: use the newer libELC", section, layout, newest);
}

// A name that the system can be given: of a forged line, too.
void read_text(Decoder& in, Text* text) {
  const std::string_view read = in.string();
  if (read.size() > format::kMaxText || read.find('\0') != std::string_view::npos) in.fail();
  else *text = Text::copy(read);
}

bool all_between(int least, const Vector<int>& values, size_t limit) {
  for (const int value : values)
    if (value < least || (value >= 0 && static_cast<size_t>(value) >= limit)) return false;
  return true;
}

// What MPI_Graph_create is given: where the neighbours of each end.
bool is_index(const Vector<int>& index, size_t edges) {
  int last = 0;
  for (const int value : index) {
    if (value < last) return false;
    last = value;
  }
  return static_cast<size_t>(last) == edges;
}

}  // namespace

const char* predefined_name(uint64_t number) {
  if (number - 1 < std::size(kNames)) return kNames[number - 1];
  if (number - kFirstOfFortran < std::size(kNamesOfFortran)) return kNamesOfFortran[number - kFirstOfFortran];
  return nullptr;
}

const char* operation_name(uint64_t number) { return number < std::size(kNamesOfOperations) ? kNamesOfOperations[number] : nullptr; }

const char* error_handler_name(uint64_t number) {
  return number < std::size(kNamesOfErrorHandlers) ? kNamesOfErrorHandlers[number] : nullptr;
}

const char* collective_name(Collectively call) { return kNamesOfCollectives[static_cast<size_t>(call)]; }

bool Topology::operator==(const Topology& other) const {
  bool same = kind == other.kind;
  for (size_t l = 0; l < kLists && same; ++l) {
    same = lists[l].size() == other.lists[l].size();
    for (size_t i = 0; same && i < lists[l].size(); ++i) same = lists[l][i] == other.lists[l][i];
  }
  return same;
}

bool Topology::fits(size_t members) const {
  const Vector<int>(&l)[kLists] = lists;
  if (kind == Kind::kNone) return true;
  if (kind == Kind::kCartesian) {
    size_t processes = 1;
    for (const int extent : l[0]) {
      if (extent <= 0 || static_cast<size_t>(extent) > members / processes) return false;
      processes *= static_cast<size_t>(extent);
    }
    return processes == members && l[0].size() == l[1].size() && all_between(0, l[1], 2) && l[2].empty() && l[3].empty();
  }
  if (kind == Kind::kGraph)
    return l[0].size() == members && is_index(l[0], l[1].size()) && all_between(0, l[1], members) && l[2].empty() && l[3].empty();
  const bool weighted = kind == Kind::kWeighted;
  return all_between(kNobody, l[0], members) && all_between(kNobody, l[1], members) &&
         l[2].size() == (weighted ? l[0].size() : 0) && l[3].size() == (weighted ? l[1].size() : 0);
}

void Topology::encode(Encoder& out) const {
  out.u32(static_cast<uint32_t>(kind));
  if (kind == Kind::kNone) return;
  for (const Vector<int>& list : lists) {
    out.u64(list.size());
    for (const int value : list) out.i32(value);
  }
}

bool Topology::decode(Decoder& in, size_t members, Topology* saved) {
  const uint32_t kind = in.u32();
  if (kind >= static_cast<uint32_t>(Kind::kEnd)) in.fail();
  saved->kind = static_cast<Kind>(kind);
  if (saved->kind == Kind::kNone) return in.ok();
  for (Vector<int>& list : saved->lists) {
    const size_t n = in.count(4);
    for (size_t i = 0; i < n; ++i) list.push_back(in.i32());
  }
  if (!saved->fits(members)) in.fail();
  return in.ok();
}

Topology copy_of(const Topology& topology) {
  Topology copy;
  copy.kind = topology.kind;
  for (size_t l = 0; l < Topology::kLists; ++l) copy.lists[l].append(topology.lists[l].data(), topology.lists[l].size());
  return copy;
}

static void encode_members(Encoder& out, const Vector<line::Rank>& members) {
  out.u64(members.size());
  for (const line::Rank member : members) out.i32(member);
}

static void decode_members(Decoder& in, uint32_t processes, Vector<line::Rank>* members) {
  const size_t n = in.count(4);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t member = in.u32();
    if (member >= processes) in.fail();
    members->push_back(static_cast<line::Rank>(member));
  }
}

// What a communicator and a file begin with.
template <class Saved>
static void encode_origin(Encoder& out, const Saved& saved) {
  out.u64(saved.identity);
  out.u64(saved.origin.parent);
  out.u64(saved.origin.number);
  out.i64(saved.origin.colour);
  encode_members(out, saved.members);
}

template <class Saved>
static void decode_origin(Decoder& in, uint32_t processes, Saved* saved) {
  saved->identity = in.u64();
  saved->origin.parent = in.u64();
  saved->origin.number = in.u64();
  saved->origin.colour = in.i64();
  decode_members(in, processes, &saved->members);
}

void SavedCommunicator::encode(Encoder& out) const {
  encode_origin(out, *this);
  topology.encode(out);
  encode_members(out, own);
  out.u64(error_handler);
  out.string(name.view());
  out.u64(attributes.size());
  for (const SavedAttribute& a : attributes) {
    out.u64(a.keyval);
    out.u64(a.value.block);
    out.u64(a.value.position);
  }
}

static void decode_attributes(Decoder& in, Vector<SavedAttribute>* saved) {
  const size_t n = in.count(24);
  for (size_t i = 0; i < n; ++i) {
    SavedAttribute& a = saved->push_back({});
    a.keyval = in.u64();
    a.value.block = in.u64();
    a.value.position = in.u64();
    if (a.keyval == 0 || (a.value.block == format::kNullBlock && a.value.position > SavedAttribute::kNumbers)) in.fail();
  }
}

// Two groups without a common process, and no topology.
static bool is_intercommunicator(const SavedCommunicator& saved) {
  Vector<line::Rank> all;
  for (const Vector<line::Rank>* group : {&saved.members, &saved.own}) all.append(group->data(), group->size());
  sort(all, [](line::Rank a, line::Rank b) { return a < b; });
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i] == all[i - 1]) return false;
  return !saved.members.empty() && saved.topology.kind == Topology::Kind::kNone;
}

bool SavedCommunicator::decode(Decoder& in, uint32_t processes, uint32_t layout, SavedCommunicator* saved) {
  decode_origin(in, processes, saved);
  saved->complete = layout > kLayoutWithoutFiles;
  if (layout == kPlainLayout) return in.ok();
  Topology::decode(in, saved->members.size(), &saved->topology);
  if (layout == kLayoutWithoutFiles) return in.ok();
  decode_members(in, processes, &saved->own);
  if (!saved->own.empty() && !is_intercommunicator(*saved)) in.fail();
  saved->error_handler = in.u64();
  read_text(in, &saved->name);
  decode_attributes(in, &saved->attributes);
  return in.ok();
}

bool SavedCommunicator::decode(Decoder& in, uint32_t processes, SavedCommunicator* saved) {
  return decode(in, processes, kLayout, saved);
}

bool decode_result(Decoder& in, uint32_t processes, SavedCommunicator* saved) {
  const uint32_t layout = in.u32();
  return layout != kDataResult && layout <= kLayout && SavedCommunicator::decode(in, processes, layout, saved);
}

static void encode_region(const SavedRegion& region, Encoder& out) {
  out.u64(region.buffer.block);
  out.u64(region.buffer.position);
  out.i32(region.count);
  out.u64(region.type);
}

static SavedRegion decode_region(Decoder& in) {
  SavedRegion region;
  region.buffer.block = in.u64();
  region.buffer.position = in.u64();
  region.count = in.i32();
  region.type = in.u64();
  if (region.count < 0) in.fail();
  return region;
}

static void encode_regions(const Vector<SavedRegion>& regions, Encoder& out) {
  out.u64(regions.size());
  for (const SavedRegion& region : regions) encode_region(region, out);
}

static void decode_regions(Decoder& in, Vector<SavedRegion>* regions) {
  const size_t n = in.count(28);
  for (size_t i = 0; i < n; ++i) regions->push_back(decode_region(in));
}

static void encode_side(const SavedSide& side, Encoder& out) {
  out.boolean(side.in_place);
  out.u64(side.base.block);
  out.u64(side.base.position);
  encode_regions(side.blocks, out);
}

static void decode_side(Decoder& in, SavedSide* side) {
  side->in_place = in.boolean();
  side->base.block = in.u64();
  side->base.position = in.u64();
  decode_regions(in, &side->blocks);
}

static void encode_persistent_collective(const SavedRequest& r, Encoder& out) {
  out.u32(static_cast<uint32_t>(r.call));
  out.u64(r.comm);
  out.u64(r.made);
  out.i32(r.root);
  out.u64(r.op);
  out.u64(r.counts.size());
  for (const int count : r.counts) out.i32(count);
  encode_side(r.from, out);
  encode_side(r.to, out);
  encode_regions(r.regions, out);
  out.boolean(r.active);
  out.u64(r.operation);
}

static void decode_persistent_collective(Decoder& in, SavedRequest* r) {
  const uint32_t call = in.u32();
  if (call >= static_cast<uint32_t>(Collectively::kEnd)) return in.fail();
  r->call = static_cast<Collectively>(call);
  r->comm = in.u64();
  r->made = in.u64();
  r->root = in.i32();
  r->op = in.u64();
  const size_t counts = in.count(4);
  for (size_t i = 0; i < counts; ++i)
    if (r->counts.push_back(in.i32()) < 0) in.fail();
  decode_side(in, &r->from);
  decode_side(in, &r->to);
  decode_regions(in, &r->regions);
  r->active = in.boolean();
  r->operation = in.u64();
  if (r->made == 0 || r->root < kSavedRoot || r->root == -1 || (!r->active && r->operation != 0)) in.fail();
}

static void encode_hints(Encoder& out, const Vector<Hint>& hints) {
  out.u64(hints.size());
  for (const Hint& hint : hints) {
    out.string(hint.key.view());
    out.string(hint.value.view());
  }
}

static void decode_hints(Decoder& in, Vector<Hint>* hints) {
  const size_t n = in.count(16);
  for (size_t i = 0; i < n; ++i) {
    Hint& hint = hints->push_back({});
    read_text(in, &hint.key);
    read_text(in, &hint.value);
  }
}

void SavedFile::encode(Encoder& out) const {
  encode_origin(out, *this);
  out.string(path.view());
  out.u32((writes ? kWrites : 0) | (append ? kAppends : 0) | (unique ? kUnique : 0) | (atomic ? kAtomic : 0) |
          (viewed ? kViewed : 0) | (of_set_up ? kOfSetUp : 0) | (exact ? kExact : 0));
  out.u64(representation_code);
  out.u64(length);
  out.i64(pointer);
  if (viewed) {
    out.i64(displacement);
    out.u64(etype);
    out.u64(filetype);
    out.string(representation.view());
  }
  encode_hints(out, hints);
}

bool SavedFile::decode(Decoder& in, uint32_t processes, SavedFile* saved) {
  decode_origin(in, processes, saved);
  read_text(in, &saved->path);
  const uint32_t flags = in.u32();
  if (flags >= kUnknownFileFlag) in.fail();
  saved->writes = (flags & kWrites) != 0;
  saved->append = (flags & kAppends) != 0;
  saved->unique = (flags & kUnique) != 0;
  saved->atomic = (flags & kAtomic) != 0;
  saved->viewed = (flags & kViewed) != 0;
  saved->of_set_up = (flags & kOfSetUp) != 0;
  saved->exact = (flags & kExact) != 0;
  saved->representation_code = in.u64();
  saved->length = in.u64();
  saved->pointer = in.i64();
  if (saved->viewed) {
    saved->displacement = in.i64();
    saved->etype = in.u64();
    saved->filetype = in.u64();
    read_text(in, &saved->representation);
  }
  decode_hints(in, &saved->hints);
  const uint64_t furthest = INT64_MAX;  // of what off_t and MPI_Offset can say
  if (saved->path.empty() || saved->members.empty() || saved->length > furthest || saved->pointer < 0 || saved->displacement < 0) in.fail();
  return in.ok();
}

void SavedWindow::encode(Encoder& out) const {
  out.u64(identity);
  out.u64(origin.parent);
  out.u64(origin.number);
  encode_members(out, members);
  out.u64(memory.block);
  out.u64(memory.position);
  out.u64(size);
  out.i32(unit);
  out.u32(static_cast<uint32_t>(epoch));
  out.u32(of_set_up ? 1 : 0);
  out.u64(representation_code);
}

bool SavedWindow::decode(Decoder& in, uint32_t processes, SavedWindow* saved) {
  saved->identity = in.u64();
  saved->origin.parent = in.u64();
  saved->origin.number = in.u64();
  saved->origin.colour = kColourOfWindow;
  decode_members(in, processes, &saved->members);
  saved->memory.block = in.u64();
  saved->memory.position = in.u64();
  saved->size = in.u64();
  saved->unit = in.i32();
  const uint32_t epoch = in.u32();
  if (epoch >= static_cast<uint32_t>(Epoch::kEnd) || saved->unit <= 0) in.fail();
  saved->epoch = static_cast<Epoch>(epoch);
  const uint32_t of_set_up = in.u32();
  saved->of_set_up = of_set_up == 1;
  saved->representation_code = in.u64();
  if (of_set_up > 1 || (!saved->of_set_up && saved->members.empty())) in.fail();
  return in.ok();
}

void SavedLocal::encode(Encoder& out) const {
  out.u64(groups.size());
  for (const Vector<line::Rank>& members : groups) encode_members(out, members);
  out.u64(infos.size());
  for (const Vector<Hint>& hints : infos) encode_hints(out, hints);
  out.u64(operations);
  out.u64(error_handlers);
  out.u64(keyvals);
}

bool SavedLocal::decode(Decoder& in, uint32_t processes, SavedLocal* saved) {
  const size_t groups = in.count(8);
  for (size_t i = 0; i < groups; ++i) decode_members(in, processes, &saved->groups.push_back({}));
  const size_t infos = in.count(8);
  for (size_t i = 0; i < infos; ++i) decode_hints(in, &saved->infos.push_back({}));
  saved->operations = in.u64();
  saved->error_handlers = in.u64();
  saved->keyvals = in.u64();
  return in.ok();
}

void SavedMpi::encode(Encoder& out) const {
  out.u32(kLayout);
  out.u32(static_cast<uint32_t>(site));
  out.u64(comms.size());
  for (const SavedCommunicator& c : comms) c.encode(out);
  out.opaque(datatypes.data(), datatypes.size());
  out.u64(request_numbers);
  out.u64(requests.size());
  for (const SavedRequest& r : requests) {
    out.u64(r.number);
    out.u32(static_cast<uint32_t>(r.kind));
    out.u32(r.uses);
    if (r.kind == RequestKind::kReceive) {
      out.u64(r.posting);
      encode_region(r.region, out);
      out.u64(r.comm);
    } else if (r.kind == RequestKind::kCollective) {
      out.u64(r.comm);
      out.u64(r.operation);
      encode_regions(r.regions, out);
    } else if (r.kind == RequestKind::kPersistent) {
      out.u32(static_cast<uint32_t>(r.mode));
      encode_region(r.region, out);
      out.u64(r.comm);
      out.i32(r.peer);
      out.i32(r.tag);
      out.boolean(r.active);
      out.u64(r.posting);
    } else if (r.kind == RequestKind::kPersistentCollective) {
      encode_persistent_collective(r, out);
    }
  }
  out.u64(files.size());
  for (const SavedFile& file : files) file.encode(out);
  out.u64(windows.size());
  for (const SavedWindow& w : windows) w.encode(out);
  local.encode(out);
}

Result SavedMpi::decode(Decoder& in, uint32_t processes, SavedMpi* saved) {
  uint32_t layout;
  ELC_TRY(read_layout(in, "mpi", kLayout, &layout));
  const uint32_t site = in.u32();
  if (site > static_cast<uint32_t>(Site::kCall)) in.fail();
  saved->site = static_cast<Site>(site);
  const size_t comms = in.count(40);
  for (size_t i = 0; i < comms; ++i) {
    SavedCommunicator c;
    SavedCommunicator::decode(in, processes, layout, &c);
    saved->comms.push_back(std::move(c));
  }
  const std::string_view datatypes = in.opaque();
  if (!saved->datatypes.make_room(datatypes.size())) return no_memory(datatypes.size(), "the MPI datatypes of the line");
  saved->datatypes.append(reinterpret_cast<const uint8_t*>(datatypes.data()), datatypes.size());
  saved->request_numbers = in.u64();
  const size_t requests = in.count(16);
  for (size_t i = 0; i < requests; ++i) {
    SavedRequest r;
    r.number = in.u64();
    const uint32_t kind = in.u32();
    r.uses = in.u32();
    const RequestKind last = layout == kPlainLayout                           ? RequestKind::kReceive
                             : layout <= kLayoutWithoutPersistentCollectives ? RequestKind::kPersistent
                                                                              : RequestKind::kPersistentCollective;
    if (kind > static_cast<uint32_t>(last) || r.uses == 0) in.fail();
    r.kind = static_cast<RequestKind>(kind);
    if (r.kind == RequestKind::kReceive) {
      r.posting = in.u64();
      r.region = decode_region(in);
      r.comm = in.u64();
    } else if (r.kind == RequestKind::kCollective) {
      r.comm = in.u64();
      r.operation = in.u64();
      decode_regions(in, &r.regions);
    } else if (r.kind == RequestKind::kPersistent) {
      const uint32_t mode = in.u32();
      if (mode >= static_cast<uint32_t>(StartMode::kEnd)) in.fail();
      r.mode = static_cast<StartMode>(mode);
      r.region = decode_region(in);
      r.comm = in.u64();
      r.peer = in.i32();
      r.tag = in.i32();
      r.active = in.boolean();
      r.posting = in.u64();
    } else if (r.kind == RequestKind::kPersistentCollective) {
      decode_persistent_collective(in, &r);
    }
    if (r.number >= kFirstPersistent && r.kind < RequestKind::kPersistent) in.fail();
    saved->requests.push_back(std::move(r));
  }
  const size_t files = layout <= kLayoutWithoutFiles ? 0 : in.count(80);
  for (size_t i = 0; i < files; ++i) SavedFile::decode(in, processes, &saved->files.push_back({}));
  const size_t windows = layout <= kLayoutWithoutFiles ? 0 : in.count(72);
  for (size_t i = 0; i < windows; ++i) {
    SavedWindow w;
    if (!SavedWindow::decode(in, processes, &w)) break;
    if (i > 0 && saved->windows.back().identity >= w.identity) in.fail();
    saved->windows.push_back(std::move(w));
  }
  if (layout > kLayoutWithoutFiles) SavedLocal::decode(in, processes, &saved->local);
  if (!in.ok() || in.left() != 0) return Result::error("section \"mpi\" is damaged");
  return Result();
}

void SavedSetUp::encode(Encoder& out) const {
  out.u32(kSetUpLayout);
  out.u64(comms.size());
  for (const line::Identity identity : comms) out.u64(identity);
  out.u64(requests.size());
  for (const SavedPersistent& r : requests) {
    out.u64(r.number);
    out.u32(r.kind == RequestKind::kPersistentCollective ? kSavedCollective : static_cast<uint32_t>(r.kind));
    out.i32(r.count);
    out.u64(r.type);
    out.u64(r.comm);
    out.i32(r.peer);
    out.i32(r.tag);
  }
}

Result SavedSetUp::decode(Decoder& in, SavedSetUp* saved) {
  uint32_t layout;
  ELC_TRY(read_layout(in, "setup", kSetUpLayout, &layout));
  const size_t comms = in.count(8);
  for (size_t i = 0; i < comms; ++i) saved->comms.push_back(in.u64());
  const size_t requests = in.count(40);
  for (size_t i = 0; i < requests; ++i) {
    SavedPersistent r;
    r.number = in.u64();
    const uint32_t kind = in.u32();
    r.count = in.i32();
    r.type = in.u64();
    r.comm = in.u64();
    r.peer = in.i32();
    r.tag = in.i32();
    r.kind = kind == kSavedCollective ? RequestKind::kPersistentCollective : static_cast<RequestKind>(kind);
    if (kind > (layout == kSetUpLayoutOfMessages ? kSavedReceive : kSavedCollective) || r.number < kFirstPersistent) in.fail();
    if (kind == kSavedCollective && static_cast<uint32_t>(r.count) >= static_cast<uint32_t>(Collectively::kEnd)) in.fail();
    saved->requests.push_back(r);
  }
  if (!in.ok() || in.left() != 0) return Result::error("section \"setup\" is damaged");
  return Result();
}

// ---- Datatypes ----

Result damaged_datatypes(const char* what) {
  return Result::error("the line's table of MPI datatypes is damaged: %s", what);
}

void SavedDatatype::encode(Encoder& out) const {
  out.u64(number);
  out.u32(static_cast<uint32_t>(constructor));
  out.u32((committed ? kCommitted : 0) | (freed ? kFreed : 0) | (places.empty() ? 0 : kHasPlaces) | (has_origin ? kHasOrigin : 0));
  out.i64(lower);
  out.i64(extent);
  out.u64(integers.size());
  for (const int value : integers) out.i32(value);
  out.u64(addresses.size());
  for (const int64_t value : addresses) out.i64(value);
  out.u64(olds.size());
  for (const uint64_t old : olds) out.u64(old);
  for (const format::PointerLeaf& place : places) {
    out.u64(place.block);
    out.u64(place.position);
  }
}

Result SavedDatatype::decode(Decoder& in, SavedDatatype* type) {
  type->number = in.u64();
  const uint32_t constructor = in.u32();
  const uint32_t flags = in.u32();
  type->lower = in.i64();
  type->extent = in.i64();
  const size_t integers = in.count(4);
  if (!type->integers.make_room(integers)) return no_memory(integers * sizeof(int), "an MPI datatype of the line");
  for (size_t i = 0; i < integers; ++i) type->integers.push_back(in.i32());
  const size_t addresses = in.count(8);
  if (!type->addresses.make_room(addresses)) return no_memory(addresses * 8, "an MPI datatype of the line");
  for (size_t i = 0; i < addresses; ++i) type->addresses.push_back(in.i64());
  const size_t olds = in.count(8);
  if (!type->olds.make_room(olds)) return no_memory(olds * 8, "an MPI datatype of the line");
  for (size_t i = 0; i < olds; ++i) type->olds.push_back(in.u64());
  type->has_origin = (flags & kHasOrigin) != 0;
  for (size_t i = 0; (flags & kHasPlaces) != 0 && i < addresses + (type->has_origin ? 1 : 0) && in.ok(); ++i) {
    const uint64_t block = in.u64();
    type->places.push_back({block, in.u64()});
  }
  if (!in.ok()) return damaged_datatypes("it ends too early");
  if (constructor == 0 || constructor >= static_cast<uint32_t>(Constructor::kEnd))
    return damaged_datatypes("a constructor that is not known to this version");
  if (flags > (kCommitted | kFreed | kHasPlaces | kHasOrigin)) return damaged_datatypes("flags that are not known to this version");
  if (type->has_origin && type->places.empty()) return damaged_datatypes("an origin, and no places");
  type->constructor = static_cast<Constructor>(constructor);
  type->committed = (flags & kCommitted) != 0;
  type->freed = (flags & kFreed) != 0;
  return Result();
}

void encode_datatypes(Encoder& out, uint64_t next, const MemoryRules& rules, size_t types) {
  out.u64(next);
  out.u64(format::kByte);
  for (uint32_t k = format::kBool; k <= format::kByte; ++k) {
    out.u32(rules.width[k]);
    out.u32(rules.alignment[k]);
  }
  out.u64(types);
}

Result decode_datatypes(Decoder& in, uint64_t* next, MemoryRules* rules, size_t* types) {
  *next = in.u64();
  const size_t kinds = in.count(8);
  for (size_t k = 1; k <= kinds; ++k) {
    const uint32_t width = in.u32(), alignment = in.u32();
    if (width > 64 || alignment > 64) return damaged_datatypes("a scalar that is too large");
    if (k > format::kByte) continue;  // of a newer version; this one has no type that uses it
    rules->width[k] = width;
    rules->alignment[k] = alignment;
  }
  *types = in.count(56);
  if (!in.ok() || kinds < format::kByte) return damaged_datatypes("it ends too early");
  if (*next < kFirstDerived || *next > UINT64_MAX / 2) return damaged_datatypes("numbers that are too large");
  return Result();
}

}  // namespace elc::mpi
