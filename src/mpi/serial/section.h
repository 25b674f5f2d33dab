// What the sections "mpi" and "setup" of a rank file say (FORMAT.md), as data: for the library and for `elc show`, without
// MPI.
#ifndef ELC_MPI_SERIAL_SECTION_H
#define ELC_MPI_SERIAL_SECTION_H

#include "base/result.h"
#include "base/text.h"
#include "base/wire.h"
#include "line/types.h"
#include "portable_format/representation.h"
#include "portable_format/value.h"

namespace elc::mpi {

// What the program stood in when a line was taken: what a restart does there.
enum class Site : uint32_t {
  kCheckpoint = 0,     // ELC_Checkpoint: nothing
  kCheckpointNow = 1,  // ELC_Checkpoint_now: the call is over
  kCall = 2,           // a labelled MPI call: it is made, for the first time as far as the state knows
};

// How a communicator came to be. Its identity is a hash of the three, the same at all members and in
// all runs, because members start the same operations in the same order.
struct Origin {
  line::Identity parent = 0;
  uint64_t number = 0;  // of the operation on the parent, or kCallsOnGroup
  int64_t colour = 0;   // of Comm_split; where it tells what several calls made, the first member; of kCallsOnGroup; else 0

  line::Identity identity() const;
};
// By MPI_Intercomm_create: each group has made a call of its own, on its communicator. The parent and the colour are what
// these would have made: Origin{communicator, operation, 0}.identity(), the lower one first.
inline constexpr uint64_t kJoined = UINT64_MAX;
// No communicator: the calls on the parent that its members alone make (MPI_Comm_create_group), counted like the operations of
// a communicator of theirs. The colour is a hash of the members.
inline constexpr uint64_t kCallsOnGroup = 0;

// The colour of a window, which is no communicator.
inline constexpr int64_t kColourOfWindow = INT64_MIN;

inline constexpr line::Identity kNullIdentity = 0;   // MPI_COMM_NULL
// Handles that mean nothing: of variables that are not set, and are 0 where that is not the null handle; and of what is gone. Around another
// number, by as much, small numbers that a program has put there, which no MPI has as handles.
inline constexpr uint64_t kUnsetHandle = ~uint64_t{0}, kGoneHandle = ~uint64_t{0} - 1, kMarkedHandle = ~uint64_t{0} - 4097;
inline constexpr int64_t kMostMark = 4095;
inline constexpr bool is_mark_of_program(int64_t value) { return value != 0 && value >= -kMostMark && value <= kMostMark; }
inline constexpr bool is_marked_handle(uint64_t handle) { return is_mark_of_program(static_cast<int64_t>(handle - kMarkedHandle)); }
inline constexpr line::Identity kWorldIdentity = 1;
inline constexpr line::Identity kSelfIdentity = 2;

// Who is whose neighbour in a communicator (MPI standard, chapter 7), by its ranks.
struct Topology {
  enum class Kind : uint32_t { kNone, kCartesian, kGraph, kDistributed, kWeighted, kEnd };
  static constexpr size_t kLists = 4;

  Kind kind = Kind::kNone;
  static constexpr int kNobody = -1;  // MPI_PROC_NULL, which MPIs number differently

  // Cartesian: dimensions, and whether each is periodic. Graph: index and edges, as MPI_Graph_create has them. Distributed,
  // of this process alone: sources and destinations, kNobody among them; where they have weights, these behind them.
  Vector<int> lists[kLists];

  bool operator==(const Topology& other) const;
  // Whether a communicator of so many members can have it.
  bool fits(size_t members) const;
  void encode(Encoder& out) const;
  // Fails for one that does not fit.
  static bool decode(Decoder& in, size_t members, Topology* saved);
};
Topology copy_of(const Topology& topology);

// An attribute of a communicator that the program has set.
struct SavedAttribute {
  uint64_t keyval = 0;        // its number in the set-up (as of a variable, SavedLocal)
  // Wild: as the set-up has left it. In block 0: the number that the position is, kNumbers at most.
  format::PointerLeaf value;
  static constexpr uint64_t kNumbers = 65535;  // no addresses
};

// What a process keeps of a communicator in a line, and logs as the result of the call that made it.
struct SavedCommunicator {
  line::Identity identity = 0;
  Origin origin;
  Vector<line::Rank> members;  // those that ranks in calls mean: of an intercommunicator the other group
  Topology topology;
  Vector<line::Rank> own;      // of an intercommunicator the group of this process; of others empty
  uint64_t error_handler = 0;  // as of a variable (SavedLocal); 0: as the set-up has left it
  Text name;
  Vector<SavedAttribute> attributes;  // in a line, in the order in which they were set
  bool complete = true;        // false: of an older line, which has none of the last three

  // Whether it stands for the calls on a group of its parent.
  bool is_of_group() const { return origin.parent != 0 && origin.number == kCallsOnGroup; }
  void encode(Encoder& out) const;
  // `layout`: of section mpi.
  static bool decode(Decoder& in, uint32_t processes, uint32_t layout, SavedCommunicator* saved);
  static bool decode(Decoder& in, uint32_t processes, SavedCommunicator* saved);  // as it is written now
};
inline constexpr uint32_t kLayout = 5;                // of section mpi
inline constexpr uint32_t kLayoutWithoutPlaces = 4;   // in datatypes
inline constexpr uint32_t kLayoutWithoutPersistentCollectives = 3;
inline constexpr uint32_t kLayoutWithoutFiles = 2;    // nor windows, nor intercommunicators
inline constexpr uint32_t kPlainLayout = 1;           // communicators without topologies, as well

// What the logged result of a collective operation begins with: kDataResult, or the layout of the SavedCommunicator that
// follows.
inline constexpr uint32_t kDataResult = 0;

// Of the result of an operation that made one; false for other results.
bool decode_result(Decoder& in, uint32_t processes, SavedCommunicator* saved);

enum class RequestKind : uint32_t { kSend, kReceive, kCollective, kPersistent, kPersistentCollective };

// What a persistent request starts.
enum class StartMode : uint32_t { kReceive, kSend, kBufferedSend, kSynchronousSend, kEnd };

// The collective operation that a persistent request starts. The values are part of the file format.
enum class Collectively : uint32_t {
  kBarrier, kBcast, kGather, kGatherv, kScatter, kScatterv, kAllgather, kAllgatherv, kAlltoall, kAlltoallv, kAlltoallw, kReduce,
  kAllreduce, kReduce_scatter, kReduce_scatter_block, kScan, kExscan, kNeighbor_allgather, kNeighbor_allgatherv, kNeighbor_alltoall,
  kNeighbor_alltoallv, kNeighbor_alltoallw, kEnd
};
const char* collective_name(Collectively call);  // "MPI_Bcast_init"

// A part of the program's memory that a call of MPI writes.
struct SavedRegion {
  format::PointerLeaf buffer;
  int32_t count = 0;
  uint64_t type = 0;
};

// What a collective operation reads, or where it puts what it gets.
struct SavedSide {
  bool in_place = false;
  format::PointerLeaf base;      // what the call is given
  Vector<SavedRegion> blocks;    // for each member or neighbour one, or a single one
};

struct SavedRequest {
  uint64_t number = 0;
  RequestKind kind = RequestKind::kSend;
  uint32_t uses = 1;
  line::Identity comm = 0;  // not of a send; kNullIdentity: of a receive from MPI_PROC_NULL, and nothing else of it means anything
  // Of a receive, and of a persistent request:
  uint64_t posting = 0;
  SavedRegion region;
  // Of a collective operation:
  uint64_t operation = 0;        // its number on the communicator
  Vector<SavedRegion> regions;   // what it writes
  // Of one that a persistent request starts, further:
  uint64_t made = 0;             // the operation on `comm` that made the request; `operation` is one on Origin{comm, made, 0}
  Collectively call = Collectively::kBarrier;
  int32_t root = 0;              // kSavedNoRoot, kSavedRoot: MPI_PROC_NULL, MPI_ROOT
  uint64_t op = 0;               // as of a variable (SavedLocal)
  Vector<int> counts;            // of MPI_Reduce_scatter_init
  SavedSide from, to;            // empty: not the call's in this process, or the set-up's
  // Of a persistent request, which is one of the set-up if its number is kFirstPersistent or more:
  StartMode mode = StartMode::kReceive;
  int32_t peer = 0, tag = 0;     // as in format::StatusLeaf
  bool active = false;           // a receive is pending then, a send is complete; a collective operation is, if `operation` is 0

  // On what the operation is one that is pending.
  line::Identity operated() const { return kind == RequestKind::kPersistentCollective ? Origin{comm, made, 0}.identity() : comm; }
};
inline constexpr int32_t kSavedNoRoot = -2, kSavedRoot = -3;

// ---- Files ----

// What an info object says.
struct Hint {
  Text key, value;
};

// A file of MPI that is open at the line.
struct SavedFile {
  line::Identity identity = 0;
  Origin origin;                 // the operation that opened it, on a communicator that may be gone
  Vector<line::Rank> members;    // who has it open, in the order of that communicator
  Text path;                     // as this process gave it
  bool writes = false;           // open for writing; else for reading
  bool append = false, unique = false, atomic = false;
  bool of_set_up = false;        // the program's set-up opened it
  uint64_t representation_code = 0;  // of the machine whose numbers it has been used for; 0: characters alone
  bool exact = false;                // perhaps those are long doubles, which machines of the same lengths have differently
  uint64_t length = 0;           // bytes, as far as this process knows; the largest of all is the file's
  int64_t pointer = 0;           // the individual one, in the view's etypes
  bool viewed = false;           // it has a view, this one:
  int64_t displacement = 0;
  uint64_t etype = 0, filetype = 0;
  Text representation;
  Vector<Hint> hints;

  void encode(Encoder& out) const;
  static bool decode(Decoder& in, uint32_t processes, SavedFile* saved);
};

// How the last fence of a window has left it.
enum class Epoch : uint32_t {
  kNone,    // there was no fence yet
  kOpen,
  kClosed,  // by MPI_MODE_NOSUCCEED
  kEnd
};

// A window that fences alone have synchronised.
struct SavedWindow {
  line::Identity identity = 0;
  Origin origin;
  Vector<line::Rank> members;
  format::PointerLeaf memory;  // of this process, and of these bytes
  uint64_t size = 0;
  int32_t unit = 1;            // of displacements
  Epoch epoch = Epoch::kNone;
  bool of_set_up = false;      // else a restart makes it again, where all have the lengths of this machine:
  uint64_t representation_code = 0;

  void encode(Encoder& out) const;
  static bool decode(Decoder& in, uint32_t processes, SavedWindow* saved);
};

// What the program's variables hold that belongs to the process alone. The number of a leaf is 0 for none, kOnlyOne for
// MPI_GROUP_EMPTY or MPI_INFO_ENV, kFirstValue + its place here for another one; of an operation and an error handler,
// kFirstOfSetUp + its number in the set-up, or that of a predefined one below.
struct SavedLocal {
  Vector<Vector<line::Rank>> groups;  // members by their rank in it
  Vector<Vector<Hint>> infos;
  uint64_t operations = 0, error_handlers = 0, keyvals = 0;  // that the set-up has made

  void encode(Encoder& out) const;
  static bool decode(Decoder& in, uint32_t processes, SavedLocal* saved);
};
constexpr uint64_t kOnlyOne = 1, kFirstValue = 2, kFirstOfSetUp = 256;

const char* operation_name(uint64_t number);  // of a predefined one, "MPI_SUM"; nullptr for none
const char* error_handler_name(uint64_t number);

struct SavedMpi {
  Site site = Site::kCheckpoint;
  Vector<SavedCommunicator> comms;  // the program's; those that were freed too, while a line may need them
  uint64_t request_numbers = 0;
  Vector<SavedRequest> requests;
  Bytes datatypes;  // encode_datatypes, then each SavedDatatype
  Vector<SavedFile> files;
  Vector<SavedWindow> windows;  // by ascending identity
  SavedLocal local;

  void encode(Encoder& out) const;
  static Result decode(Decoder& in, uint32_t processes, SavedMpi* saved);
};

// ---- What the program's set-up has made ----

// A persistent request; ranks and tags as in format::StatusLeaf. Of one of kind kPersistentCollective the count is a Collectively,
// the type the operation that made it, and the peer the root.
struct SavedPersistent {
  uint64_t number = 0;  // of the request: kFirstPersistent and up
  RequestKind kind = RequestKind::kSend;
  int32_t count = 0;
  uint64_t type = 0;
  line::Identity comm = 0;  // kNullIdentity: of one that is not followed
  int32_t peer = 0, tag = 0;

  bool operator==(const SavedPersistent&) const = default;
};
constexpr uint64_t kFirstPersistent = uint64_t{1} << 63;

struct SavedSetUp {
  Vector<line::Identity> comms;      // those that there were when it was over, in the order of their making; files, too
  Vector<SavedPersistent> requests;  // those that there are still

  void encode(Encoder& out) const;
  static Result decode(Decoder& in, SavedSetUp* saved);
};

// ---- Datatypes ----

// The number of a datatype is the same under every MPI: predefined ones have fixed numbers (1 to 255), derived ones
// count up from 256 in the order in which the process made them.
constexpr uint64_t kNullDatatype = 0;  // MPI_DATATYPE_NULL
constexpr uint64_t kFirstDerived = 256;
constexpr uint64_t kNoDatatype = UINT64_MAX;  // of a handle that the library does not know

const char* predefined_name(uint64_t number);  // "MPI_INT"; nullptr for none

// How a type was made. The values are part of the file format.
enum class Constructor : uint32_t {
  kNamed = 0,  // predefined
  kDup = 1,
  kContiguous,
  kVector,
  kHvector,
  kIndexed,
  kHindexed,
  kIndexedBlock,
  kHindexedBlock,
  kStruct,
  kSubarray,
  kDarray,
  kResized,
  kEnd
};

// Where scalars lie in a struct: for each kind its width and alignment. A displacement in bytes means the
// same on two machines if these are equal.
struct MemoryRules {
  uint32_t width[format::kByte + 1] = {}, alignment[format::kByte + 1] = {};
};

struct SavedDatatype {
  uint64_t number = 0;
  Constructor constructor = Constructor::kNamed;
  bool committed = false, freed = false;
  int64_t lower = 0, extent = 0;  // on the machine that wrote the line
  Vector<int> integers;           // the arguments of the constructor
  Vector<int64_t> addresses;
  Vector<uint64_t> olds;
  // Of displacements that are addresses: for each where it points to, or wild where it is none. Empty: they are distances.
  Vector<format::PointerLeaf> places;
  bool has_origin = false;  // they are distances of these places from one more, which is the last

  void encode(Encoder& out) const;
  static Result decode(Decoder& in, SavedDatatype* type);
};

// What comes before the types: the number of the next one, the rules of the machine that wrote, how many there are.
void encode_datatypes(Encoder& out, uint64_t next, const MemoryRules& rules, size_t types);
Result decode_datatypes(Decoder& in, uint64_t* next, MemoryRules* rules, size_t* types);
Result damaged_datatypes(const char* what);

}  // namespace elc::mpi

#endif
