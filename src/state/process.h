// The state of this process as the library knows it. Internal to src/state.
#ifndef ELC_STATE_PROCESS_H
#define ELC_STATE_PROCESS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <span>

#include "base/hash_map.h"
#include "base/message.h"
#include "base/result.h"
#include "base/text.h"
#include "base/vector.h"
#include "elc.h"
#include "portable_format/reader.h"
#include "portable_format/types.h"
#include "state/heap.h"
#include "state/names.h"
#include "state/scope.h"
#include "state/streams.h"

struct ELC_Frame_function;

namespace elc::state {

using format::Kind;
using format::TypeId;

// A function on the stack, an entry of the thesis's flow table.
struct Frame {
  const char* function = nullptr;
  int label = 0;
  bool inline_call = false;   // libELC.h: entered with FID not 0, or from such a frame
  bool entered_here = false;  // the label was set just before the function above was entered
  size_t first_region = 0;    // its variables in Process::locals
  size_t first_noted = 0;     // those that are only noted (noted.cc)
  ScopeTable* table = nullptr;  // of those, where they are many; owned
  size_t unregistered = 0;      // of them: their places wait to be closed up
  NameStack::Mark names;      // the name stack before it
};

struct SavedFrame {
  Text function;
  int label = 0;
};

struct Function {
  Text name;
  void (*address)(void) = nullptr;
};

// A variable that could not be registered, in a frame of that function or among the globals. Of those also its memory; `size` is 0 where
// nobody knows that.
struct Missing {
  Text name;
  Text function;
  const uint8_t* address = nullptr;
  uint64_t size = 0;

  bool is_same(const Missing& other) const {
    return address == other.address && size == other.size && name.view() == other.name.view() && function.view() == other.function.view();
  }
};

// A variable that had another name (ELC_WAS).
struct Renamed {
  Text now, before;
};

class BlockMap;
class RandomNumbers;
struct HandleCodec;
struct Image;

// A struct as libELC.h describes it: where its pointers are, and the structs in it.
struct Description {
  struct Inner {
    uint64_t offset = 0;
    Text name;
  };
  Text name;
  Vector<uint64_t> pointers;
  Vector<Inner> inner;
};

// A file that lines do not follow, for the reason `what`: "name() (place): why".
struct Opened {
  int descriptor;
  dev_t device;
  ino_t file;
  const char* what;
  Text written;  // its name, if it may be
  bool is_new;   // from its beginning
};

// A function pointer in a file is 1 + the index of its name, 0 for NULL, this number, or this + a value that is near to zero, as SIG_IGN is.
constexpr uint64_t kWildFunction = ~uint64_t{0};
constexpr uint64_t kFunctionMark = uint64_t{1} << 63;

// Where a pointer was before it was moved.
struct Moved {
  uintptr_t from = 0;
  uint64_t block = 0;    // in the block of this id; 0: not known, which was made
  uint64_t next_id = 0;  // before this one
  bool is_contested = false;     // another pointer has been computed that leads there, of other memory
  const ELC_Frame_function* function = nullptr;  // not null: a variable of this one alone has it
};

// Between where a pointer was moved and the block that it is of, which is behind that.
struct Way {
  uintptr_t from;
  const Block* to;
};

// What the program takes the memory in the middle of a block for, if the block was there then: those that were made later have other ids.
struct Part {
  TypeId type = 0;
  TypeId before = 0;  // what it has taken it for before; kNone: nothing else
  uint64_t next_id = 0;
};

struct Mapping {
  uintptr_t begin;
  size_t size;  // bytes
};

// What the program has made by a function of the C library's, in memory that no line has.
struct Made {
  const void* object;
  const char* what;  // the call
  pthread_t by;
};

// Numbers of a prepared program that a line has, and that may be addresses which another process has told it, and has elsewhere after a
// restart. Behind as many as there is room for nothing more is noted: a copy of the process has no memory for more.
class Told {
 public:
  void note(const ToldNumber& number) {
    size_t place = static_cast<size_t>(mix64(number.address) % kPlaces);
    while (places_[place] != 0 && all_[places_[place] - 1].address != number.address) place = (place + 1) % kPlaces;
    if (places_[place] == 0 && count_ == kMost) return;
    if (places_[place] == 0) all_[count_++] = number, places_[place] = static_cast<uint16_t>(count_);
    ToldNumber& known = all_[places_[place] - 1];
    known.exact = known.exact && number.exact;
    known.asks_holder = known.asks_holder || number.asks_holder;
  }
  void clear() {
    count_ = 0;
    for (uint16_t& place : places_) place = 0;
  }
  std::span<const ToldNumber> all() const { return {all_, count_}; }

 private:
  static constexpr size_t kMost = 4096, kPlaces = 2 * kMost;

  size_t count_ = 0;
  ToldNumber all_[kMost];
  uint16_t places_[kPlaces] = {};  // by address: 1 + where it is
};

struct Process {
  format::TypeTable types;
  NameStack names;
  Vector<Frame> frames;
  Vector<Region> locals;
  Vector<Region> globals;
  ScopeTable* table_of_globals = nullptr;  // where they are many; owned
  size_t unregistered_globals = 0;         // as in a frame
  Vector<Function> functions;
  HashMap<uint32_t> function_by_address;  // 1 + index
  Heap heap;
  Gone gone;  // of a prepared program
  Streams streams;

  bool is_prepared = false;         // by a tool, as a whole (elc_program.h)
  uint64_t first_prepared = 0;      // the id from which on it is known what lies behind blocks: is_written_behind()
  uint64_t first_since_line = 0;    // the id from which on blocks are younger than the last line
  bool aligns = false;              // and asks for aligned memory
  size_t apart = 0;                 // bytes before each block in which no other lies or ends, as pointers may lead there: of a prepared program
  bool has_threads = false;         // that call malloc: of a prepared program
  void (*settings)(int is_restart) = nullptr;  // of a prepared program
  bool are_described = false;       // the frames, which are in `frames` only while a line is taken, or entered again
  bool label_is_fresh = false;      // nobody has taken the innermost frame's label
  bool site_is_labelled = false;    // the last call that asked for its label had one
  bool has_entered = false;         // a frame, at some time
  bool restores_in_place = false;   // ELC_Restore was called
  bool recovery_is_known = false;
  bool is_recovering = false;
  int resumed_label = 0;  // where the innermost frame goes on after the data are back, until it is there
  bool check_pointers = false;
  bool strict = false;  // a line is that of this program, and of no earlier one
  bool renames = false;  // the next variable that is registered had the name `before`
  Text before;
  Vector<Renamed> renamed;
  bool skip_was_asked = false;   // libELC.h: ELC_SKIP came before this OnCallEnter
  bool skip_was_missed = false;  // and once it did not
  Vector<Description> descriptions;
  const char* unfit = nullptr;  // what a prepared program has called, so that no line may be taken
  struct Compared {
    uintptr_t begin = 0;
    uint64_t size = 0;
  };
  static constexpr size_t kCompared = 4;
  Compared compared[kCompared];  // blocks in which two pointers were that it has compared
  size_t next_compared = 0;
  Vector<Opened> opened;        // by a prepared program, and perhaps still open
  Vector<Made> made;            // by a prepared program, and not freed
  Vector<Mapping> mappings;     // of a prepared program, of other memory than its own
  Vector<Mapping> mapped_files; // of libraries and others, for the line being taken
  bool knows_files = false;     // those
  Text unregistered;  // what could not be registered, so that no line may be taken
  Vector<Missing> missing;  // nor may one while there are such
  HashMap<TypeId> tails;            // in a prepared program: of structs that end with more than they say, what has pointers there
  HashMap<TypeId> types_with_gaps;  // in a prepared program: of structs, those in which the gaps are bytes
  Vector<uint64_t> lengths_of_mpi;  // of texts: in a prepared program
  Vector<uintptr_t> places;  // in a prepared program: what the addresses of its memory begin with
  uintptr_t low_end = 0;     // in it: where memory ends that begins with nothing, behind the executable
  HashMap<Moved> moved;      // by a prepared program: pointers to before or behind what they are of
  Vector<Way> ways;          // of those, while a line is taken
  HashMap<Part> parts;       // by a prepared program, by their addresses: parts of blocks
  HashMap<TypeId> beginnings;  // by the type and the number of members; kNone: there is none
  HashMap<TypeId> begun;       // the types that those are the beginnings of
  Vector<Block> without_parts;  // of the last line: blocks as they are without
  TypeId first_of_parts = format::kNone;  // that was made for blocks of parts
  HashMap<uint64_t> rows;    // by the address of an open block of pointers: rows_in()
  size_t most_moved = 0;     // that are kept until those are looked for of which nothing has to be known
  bool has_long_doubles = true;  // unless it is said that a prepared program has none
  bool has_foreign_addresses = false;  // in pointers of a prepared program
  bool makes_pointers = false;         // of numbers, a prepared program
  const char* handles_leave = nullptr; // their types, where: in a prepared program
  bool handles_go_anywhere = false;    // also where no integer lies
  bool has_words = false;              // of unions (unions.cc)
  // Where a prepared program has last taken what is not the beginning of a block for pointers.
  static constexpr size_t kMostTables = 256;
  const void* tables[kMostTables] = {};
  size_t next_table = 0;
  uintptr_t executable = 0, executable_end = 0;  // of a prepared program: where it lies itself
  uintptr_t stack_end = 0;                       // of it: behind all frames
  Vector<SavedFrame> saved_frames;
  // What ELC_Program_as was told last, in the place of its number: a type whose size is a power of two, and that less one.
  struct Said {
    TypeId type = format::kNone;
    uint64_t rest = 0;
  };
  static constexpr size_t kSaid = 8;
  Said said[kSaid];
  const HandleCodec* codec = nullptr;  // of the line that is being taken
  Told told;                   // of the last line
  BlockMap* blocks = nullptr;  // owned; made at the first save
  Image* image = nullptr;      // owned; of the line that is being restored
  RandomNumbers* random = nullptr;  // owned; if ELC_RANDOM was called
};

// The one of this process. Made at the first use and never destroyed: the program may call the library
// from its exit handlers.
extern Process* the_process;
Process& make_process();
inline Process& process() { return the_process != nullptr ? *the_process : make_process(); }
// The same in a prepared program without threads that call malloc, once its set-up is over; else nullptr.
extern Process* the_lone_process;
// Whether what a prepared program allocates, and says of it, is noted for lines; not where the library is passive.
extern bool follows_memory;

// Lives where several threads of a prepared program may be at the same time.
class Alone {
 public:
  Alone() : needed_(process().has_threads) {
    if (needed_) pthread_mutex_lock(&lock);
  }
  ~Alone() {
    if (needed_) pthread_mutex_unlock(&lock);
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  static pthread_mutex_t lock;
  const bool needed_;
};

// libELC.h: a restart jumps over the OnStrDef of what is on the heap, so the struct that was described so becomes a type
// by the number of bytes that a value of it takes in the file. kNone if there is no such description.
TypeId type_described(const char* name, uint64_t packed);

// Ends the job by the hook.
[[noreturn]] void give_up(const Result& why);

// Each section of this folder begins with the number of its layout. Fails on one that is not known.
constexpr uint32_t kSectionLayout = 1;
constexpr uint32_t kHeapLayout = 2;  // 1: pointers tell blocks of the heap by their number in the line
Result read_layout(format::Cursor& in, const char* section, uint32_t newest = kSectionLayout, uint32_t* read = nullptr);

// Flags in section "declared".
constexpr uint32_t kIsStatic = 1;

// Fails, naming the call, on a name that is missing, or longer than a file takes.
Result check_name(const char* call, const char* name);

// For the API: says the message of a failure; ELC_OK or ELC_ERROR.
int outcome(const Result& status);

// Enters a frame; in a restart only that which the line has there.
// `stays`: the name.
void enter(Process& process, const char* function, bool inline_call, bool stays = false);

// The frames of elc_frame.h. Before a line: they become frames of the process; when the program runs on, they are none.
bool has_described_frames();
Result enter_described_frames(Process& process);
void leave_described_frames(Process& process);
// Whether the call of MPI at hand is one that the innermost is at; asked once.
bool take_described_site(const Process& process);
void forget_described_frames();

// Variables that are only noted: how many; all but the first `from` are forgotten; all become variables of their frames. That says
// the reason if one cannot, and no line is taken then.
constexpr size_t kMostNoted = 1024;  // all become variables when there are more
extern ELC_Local noted[kMostNoted];
inline size_t noted_variables() { return static_cast<size_t>(ELC_Next_local - noted); }
inline void forget_noted(size_t from, bool in_frame) {  // behind the last frame there are globals, which are registered at once
  ELC_Next_local = noted + from;
  ELC_End_of_locals = in_frame ? noted + kMostNoted : ELC_Next_local;
}
Result register_noted(Process& process);
Result add_noted(Frame& frame, const ELC_Local& local);
Result add_rows(const char* name, void* address, TypeId type, size_t count, int dimensions, size_t row, size_t part, size_t last);

// The frame that a registration joins; nullptr: the globals. What was noted before is registered before.
Frame* innermost(Process& process);
// What could not be registered there has values that lines would not have. `size` is 0 where nobody knows of what memory.
void note_missing(Process& process, const Frame* frame, const char* name, const void* address = nullptr, uint64_t size = 0);

// ELC_Register; with `target`, ELC_Register_pointer; with `shape`, whose product is `count`, ELC_Register_shape.
Result add_region(const char* name, void* address, TypeId type, size_t count, TypeId target,
                  std::span<const uint64_t> shape = {}, bool is_constant = false, bool is_checked = false);

// In a prepared program: constants of MPI are variables of lines. In a restart, with one as the line has it: fails if it is
// another one here.
constexpr size_t kNumberWords = 2;
Result take_number(const Region& region, const int line[kNumberWords], bool change);

// In a prepared program: fails if memory that consists of elements of this type holds an address of what a line has beside its
// pointers.
void note_places(Process& process);
uintptr_t lowest_place(const Process& process);  // below it there is no memory
// Blocks with something between the members of their structs get a type that has it: these are made of all types below `end`. Such a field.
void make_types_with_gaps(Process& process, TypeId end);
void find_gaps(Process& process);
bool is_gap(const format::FieldInfo& field);
// And blocks whose values are none of their type's are bytes.
void find_reused(Process& process);
void find_rows(Process& process);
// Where in an element there may be bits that a line does not bring back: a leaf, or a struct with bit-fields. And whether there are none.
struct Doubtful {
  TypeId type;
  uint64_t offset;
};
void find_doubtful(const format::TypeTable& types, TypeId type, uint64_t offset, Vector<Doubtful>* all);
bool is_of_type(const Process& process, const Vector<Doubtful>& all, const uint8_t* element);
// Whether there is a union in it: nobody can tell what that may hold.
bool has_union(const format::TypeTable& types, TypeId type);
// Whether it is a word of a union that may be an address or bytes: what is there tells (unions.cc).
bool is_word(const format::TypeTable& types, TypeId type);
bool is_number_in_union(uintptr_t value);  // that the program has put there
void register_sources();  // of numbers of addresses (addresses.cc)
void register_unions();  // what they need of lines, if the program has such
void put_unions();       // after a restart
// All bits of a struct's bit-fields.
void set_bit_fields(const format::TypeTable& types, TypeId type, uint8_t* element);

// Parts of blocks (parts.cc). What the program has converted a pointer into a block to; for the line being taken, the types of blocks; and
// without them again.
void note_part(Process& process, const void* memory, TypeId type);
void find_parts(Process& process);
// The same of a block whose values are not all of its type's; false: it has no such parts. And whether what is looked at there could be.
bool find_own_parts(Process& process, Block& block);
bool begins_as_array(const Process& process, const Block& block);
void forget_parts(Process& process);
void forget_parts_of(Process& process, Block& block);  // that is asked for before the next line
// In a restart: the type of this name in a file, made here of the program's types (kNone: it has not all of them), and then what the
// blocks of it hold, noted again.
inline constexpr const char* kPartsName = "memory in parts";
bool is_name_of_parts(const char* name);
TypeId type_of_parts(Process& process, const format::TypeTable& file, const format::TypeInfo& type);
void note_parts(Process& process);
// The type of a block of so many bytes, fewer than a struct has, which the program takes for it: the members that it has room for. kNone:
// there are none, or some are fields of bits. And that of this name, in a restart.
TypeId beginning_in(Process& process, TypeId type, uint64_t size);
TypeId beginning_named(Process& process, const char* name);
bool is_beginning_of(const Process& process, TypeId beginning, TypeId type);
// Whether a value is one that an address of the program's memory may have, be it of what is gone.
bool may_be_address(const Process& process, uintptr_t value);
// Whether an element of the type begins there, in a block of such.
bool leads_to_another(const Process& process, uintptr_t value, TypeId type);
// Which constants of the MPI and of the machine (numbers.cc) the program has in its variables: before they are saved.
void take_numbers(const Process& process);
// Whether a prepared program may have handles of MPI among other data, where those are integers (elc_program.h).
bool may_mix_handles(const Process& process);
// Whether the type has handles of MPI by whose values they are not told from numbers.
bool has_handle_of_mpi(const format::TypeTable& types, TypeId type);
// Where handles of MPI are addresses: whether it is that of one. While a line is taken, or one of these lives.
bool is_handle_of_mpi(const Process& process, uintptr_t value);
class AsInLine {
 public:
  AsInLine();
  ~AsInLine();
  AsInLine(const AsInLine&) = delete;
  AsInLine& operator=(const AsInLine&) = delete;

 private:
  const HandleCodec* const codec_;
};
// In a prepared program, of a pointer to what is no memory of lines: to a function or a stream of theirs.
bool leads_beside_memory(const Process& process, uintptr_t value, format::PointerLeaf* out);
// Whether a pointer of this value leads to anything that lines have, or to where another was moved from its block.
bool leads_somewhere(const Process& process, uintptr_t value);
// What is there, aligned or not.
inline uintptr_t word_at(const void* at) {
  uintptr_t value;
  memcpy(&value, at, sizeof value);
  return value;
}
// And if a pointer to nothing that a line has is no address at all: then its memory is not what it is taken for.
// `may_be_number`: it is a pointer, which may have a number that the program has put there.
Result check_wild(const Process& process, uintptr_t value, bool may_be_number = false);
void forget_starts();  // before a line: types may be others than in the last one
Result check_addresses(const Process& process, const uint8_t* begin, uint64_t size, TypeId type, Told* told = nullptr);
void note_told(Process& process, uintptr_t value);  // a number that is looked at whole
// `at`, or a place behind it before which no `size` bytes of [at, end) are other than 0: large memory is often untouched.
uint64_t behind_zeros(const uint8_t* bytes, uint64_t at, uint64_t end, uint64_t size);

// A pointer that a program has moved by a distance that it computes; when a line is taken, with the blocks; and as a line has it.
bool is_on_stack(const ELC_Frame_function* function);  // nullptr: yes
void note_moved(Process& process, uintptr_t from, uintptr_t to, const ELC_Frame_function* function = nullptr);
void settle_moved(Process& process);
Result encode_moved(const Process& process, uintptr_t to, const Moved& moved, format::PointerLeaf* out);
// One that leads to nothing, but between where another was moved and the block that this is of: it was computed from that one, or is of
// no use, as what leads to memory that was freed. `out` stays what it is if there is none.
Result encode_on_the_way(const Process& process, uintptr_t value, format::TypeId target, format::PointerLeaf* out);

// In a prepared program: fails if a file is open that lines do not follow. The descriptor is one of a stream that they do follow.
Result check_opened(Process& process);
// The same if it has memory that the system has mapped, or what functions of the C library have made and nobody has freed.
Result check_mappings(const Process& process);
Result check_made(const Process& process);
// The same while there are threads of its own (threads.cc). The one that calls that first is the one that calls MPI.
void note_first_thread();
Result check_threads();
// And if a pointer that leads to nothing of lines leads to what a library has.
Result check_libraries(Process& process, uintptr_t value);
void forget_opened(Process& process, int descriptor);

// Variables that change their place and size. Before a line: where they are now.
Result locate_resizing(Process& process);
// In a restart: one will have so many elements; has room for them; all values are there.
void expect_elements(Process& process, const Region* region, uint64_t count);
Result make_room_for(Process& process, const Region* region);
Result tell_restored(Process& process);

// ELC_RANDOM.
Result register_random();

// Room for the statics of a line whose functions have not been called yet. `most`: no value has more elements.
Result keep_statics(Process& process, const Image& image, const format::Reader& reader, uint64_t most);
// The static that a restart may have elsewhere in which the address lies; nullptr: there is none.
const Region* late_static_at(const Process& process, const void* address);

// Closes up the places of variables that were unregistered, before the variables are gone through.
void close_up(Process& process);

// The variables of a frame (1 + its index; 0: the globals).
std::span<const Region> scope_of(const Process& process, size_t frame);

// The variable of that name in a frame (1 + its index; 0: a global), or nullptr. After close_up.
const Region* find_variable(const Process& process, size_t frame, const char* name);

// "solve()", or "the globals" for no frame.
Text owner_of(const Process& process, const Region& region);

}  // namespace elc::state

#endif
