// What one process is - frames, variables, heap, pointers, functions, files - saved into a checkpoint
// file and restored from one. The API of elc.h for these things is implemented in this folder; this
// header is what src/mpi needs beyond it. All calls come from the thread that calls MPI.
//
// A run from the start calls save() at each local checkpoint. A restart calls
//
//     load_frames(reader)    in MPI_Init: the frames that are to be entered again
//     arrived_hook           is called when all frames are entered again
//     check(reader)          there, or in ELC_Restore: would everything fit? Changes nothing
//     make_places()          its blocks are there
//     fill(reader, codec)    makes it so in memory
//     bring_back_files(reader)
//     set_recovering(false)
//
// The methods are those of the thesis (libELC, 2005), section 4.2.2: the flow table of functions and
// labels, the shadow stack of variables, pointers as (block, offset); positions instead of byte
// offsets, types instead of bytes, and one pass instead of five for pointers.
#ifndef ELC_STATE_STATE_H
#define ELC_STATE_STATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <span>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/text.h"
#include "base/vector.h"
#include "portable_format/reader.h"
#include "portable_format/writer.h"

struct ELC_Program;
struct ELC_Program_number;

namespace elc::state {

// ---- Set by src/mpi before main (a static initialiser), or by tests -------------------------------

// The size in memory of a handle of MPI, or a status. Without this call no variable or field can be of this kind.
void set_handle_size(format::Kind kind, size_t size);

// The type of an INTEGER of Fortran, `size` bytes, that stands for a handle of MPI: how to get the handle's number of the
// INTEGER at an address, and to set it.
format::TypeId fortran_handle(format::Kind kind, size_t size, const format::Accessor& how);

// Asked once, at the first question whether this run is a restart, which may come before MPI_Init.
// nullptr: it is not.
extern bool (*recovering_hook)();

// Restores the state of the line. Called in a restart when all its frames are entered again and their
// variables registered: where the innermost one asks for its label, before the arguments of the labelled
// call are evaluated.
extern void (*arrived_hook)();

// Ends the job: the program cannot be brought back to the saved site. Must not return. nullptr: says
// the message and ends this process with exit code 1.
extern void (*give_up_hook)(const Result& why);

// ---- Re-entry -----------------------------------------------------------------------------------

bool recovering();
void set_recovering(bool recovering);

// Whether no function with a frame is being executed.
bool outside_frames();

// Asked at the beginning of each call that can be a site: does it have a label? ELC_Set_label was called in this
// frame, and since then no function with a frame was entered and no such call was made: a label is for one
// call. Never true in an inline call of libELC.h (FID not 0). Where the last call that asked had no label, save()
// fails if there are frames: a restart would come back to the label of a call that is over.
bool take_label();
// Is the program in an inline call of libELC.h, in which no checkpoint is taken?
bool in_inline_call();
// Has the program called neither ELC_Restore nor ELC_Enter yet? What it does until then it does in every run.
bool in_setup();
// The program has called ELC_Restore: in a restart that will put back the data of a line without frames.
void restores_in_place();

// Takes the frames of the line. The functions on the stack now must be the first of them.
Result load_frames(format::Reader& reader);
// Whether the line has frames; without, its data are restored in place by ELC_Restore.
bool has_saved_frames();
// For an ELC_Checkpoint in a restart that is not there: where the program is and where it should be.
Result misplaced();

// What a wild pointer is restored as: an address that no system gives out, so that its use ends the
// program at once where NULL might pass for the end of a list.
constexpr uintptr_t kWildAddress = static_cast<uintptr_t>(-2048);

// ---- Saving ---------------------------------------------------------------------------------------

// The table that types of the program are made in, for format::Writer.
const format::TypeTable& types();

// Turns MPI handles and statuses, at an address in the program's memory, into numbers and back.
// `handle` and `status` point to an MPI_Comm, ..., MPI_Status. `kind` tells which.
struct HandleCodec {
  void* context = nullptr;
  Result (*encode)(void* context, format::Kind kind, const void* handle, uint64_t* number) = nullptr;
  Result (*decode)(void* context, format::Kind kind, uint64_t number, void* handle) = nullptr;
  Result (*encode_status)(void* context, const void* status, format::StatusLeaf* out) = nullptr;
  Result (*decode_status)(void* context, const format::StatusLeaf& in, void* status) = nullptr;
  // MPI's handles are integers or pointers, as which a program may register them. The macro for the object that has this
  // handle now, of so many bytes (those of an int or of a pointer), or nullptr: what has that value is no handle.
  const char* (*macro_of)(void* context, const void* handle, size_t bytes) = nullptr;
  bool are_integers = false;
  // Where they are that: whether a number may be a handle of the kind, be it of what is gone.
  bool (*may_be)(void* context, format::Kind kind, const void* handle) = nullptr;
  // Whether a number in an MPI_Aint is an address of data of this run: then a line has it as a pointer. An error where a restart
  // could not have the right number.
  Result (*is_address)(intptr_t value, bool* is) = nullptr;
  void (*note_address)(const void* address) = nullptr;  // such a one, of this run, has been put into an MPI_Aint
};

// elc_program.h: registers what the modules have; a copy of argv that lines have. Behind MPI_Init. Unless `takes_lines` what the program
// allocates is not followed.
char** begin_program(const ELC_Program& program, bool takes_lines, int argc, char** argv);
// Of a prepared program: a text of this length, or one character more, may have another one in a line that was taken under another MPI.
void note_length_of_mpi(uint64_t length);
bool may_have_long_doubles();
bool is_prepared();  // by a tool, as a whole: it is such a program
// Such a program is about to open a file by MPI, and has closed one that it wrote; `is_new`: from its beginning. A restart cuts the file to what it had
// when it was closed, as those of other functions.
void note_file_opening(const char* path, bool writes, bool appends);
void note_file_closed(const char* path, bool is_new);
// Removes a file for any program by `how`, whose result is 0 where it has done so; of such a program it may be gone, by the run that a restart gave up.
int remove_file(const char* path, int (*how)(const char* path, const void* context), const void* context);
// A number that lines have: a restart goes on where it is the same. `number` stays where it is.
void add_number(const ELC_Program_number* number);
void note_orders();  // of what modules have told of by ELC_Program_in_section
// The program has been given this constant of MPI, and may have it in variables: as the number that is returned, which is not MPI's where
// a program has the same under each. `otherwise`: where it has said nothing of it.
int keep_number(const char* name, int otherwise);
int value_of_number(const char* name, int otherwise);
// What errno is as the program sees it, of which a line that is taken now is.
void note_error(int error);
// A global of the library's own, wherever the program is.
Result add_global(const char* name, void* address, format::TypeId type, size_t count);

// Whether no file is open that lines do not have and would need, and no memory is there of the system's or the C library's, and no threads
// of the program's own. Before the library opens a file for the line, which may get the descriptor of one that was closed, and the inode of
// one that was removed.
Result check_files();

// Whether memory of a prepared program that the last line did not have is bytes, which go to no other machine: a line is better taken later.
// Adds to the blocks that were looked at.
bool has_new_bytes(uint64_t* looked_at);

// Saving, in three steps. The program's data are not changed. An error (overlapping regions, a call without a label on
// the stack, a way back that the program does not have, a file that cannot be read, the writer's) means that the line is
// to be abandoned.
//
// First: what is to be saved, and where.
Result begin_save(const HandleCodec& codec);
// Then, in any order: the section "files". Streams are flushed.
Result save_files(format::Writer& writer, uint64_t line);
// And the sections "vars" and "heap". May be done in a copy of the process.
Result save_data(format::Writer& writer);
// When the program runs on, in any case.
void end_save();

// Numbers that may be addresses of another process, which has told them: in a restart it has them elsewhere. Of a prepared program; those
// that save_data() has found. `exact`: it consists of bytes, or of smaller numbers, and is an address only where something begins.
// `asks_holder`: it has come by a message; else who has it in its file has found that it is none of its own.
struct ToldNumber {
  uintptr_t address = 0;
  bool exact = false;
  bool asks_holder = false;
};
std::span<const ToldNumber> told_numbers();
void note_told(const uint8_t* bytes, uint64_t size);  // and these, which the line has beside what save_data() writes
void note_told(std::span<const ToldNumber> of_copy);  // what a copy of the process has found: instead of all
// Fails where one, that this rank has, is an address of what this process has, so that a restart would not set it.
Result check_told(const ToldNumber& number, int holder);
// All of them.
Result save(format::Writer& writer, const HandleCodec& codec);

// From begin_save() until the program runs on: the bytes of what save_data writes, as they are in memory; and whether some of
// them lie between these addresses.
uint64_t size_of_data();
uint64_t heap_blocks();  // among them, each of which is described beside its bytes
bool has_data_in(uintptr_t begin, uintptr_t end);
// Whether save_data asks the codec for more than to look up a communicator, request, file, window, operation or error handler:
// for what MPI has to be asked for in turn, or what a line has to have the content of.
bool has_data_of_mpi();

// What the line relies on besides its own file: it must be on stable storage before the line commits. Of the last save();
// the caller's from then on.
struct Relied {
  Descriptor file;  // or directory
  Text path;
};
Vector<Relied> take_relied();

// What a line has of a file that is open for writing.
enum class Kept : uint8_t {
  kNothing,  // nothing was written through the stream: a restart makes the file empty, if no other process brings it back
  kContent,  // a restart brings it back
  kUnappended,  // it is open for appending, and nothing was appended through the stream: what the file had stays in it
  kLength,   // the same, and something was
  kRead,     // nothing, and it is not written: what is in it
};

// A file that the program had open at the last save().
struct Written {
  uint64_t number = 0;  // the same in all processes of a machine, and no other file's
  Text path;
  Kept kept = Kept::kLength;
  Descriptor directory;  // of a file of which nothing is kept: where it lies
  bool was_closed = false;  // what it had was written through another stream, which was closed by then
};
const Vector<Written>& written_files();
// Fails unless a file of which nothing is kept is empty.
Result check_empty(const Written& file);
// The random numbers of the C library: whether they are registered; a checksum of their state, to see whether some are drawn.
bool has_random();
struct DrawnNumbers {
  bool known = false;
  uint32_t checksum = 0;
  bool differ_from(const DrawnNumbers& other) const { return known && other.known && checksum != other.checksum; }
};
DrawnNumbers drawn_numbers();

// The same number.
uint64_t number_of_file(const struct stat& about);

// A restart touches files below the directory in which the process began, and below these: absolute names with colons
// between them (ELC_FILE_ROOTS). From now on a stream that refuses lines, as a restart could not open its file, is told
// when it is opened.
void allow_files(const char* roots);

// Between lines the program may open a file for appending that it had not written before: `write` is called with what a restart from
// the line before has to know of it.
using WriteNote = Result (*)(uint64_t line, const Bytes& note);
void keep_notes(WriteNote write);
// Before check() of this line: what was written behind it, in that order.
void take_notes(const Vector<Bytes>& notes, uint64_t line);

// The standard output goes to a new file of this name: at once, or, where a restart is to come, from that on; what the set-up writes
// again goes where it went. A line has how much of it was written.
Result keep_output(const char* path, bool restarts);

// Where a file of the program is that a restart is to open: places.h says what hinders it.
class Place;
Result find_place(const char* path, Place* place);

// From save() until the program runs on: an address in the program's memory (the buffer of a pending
// receive) as a pointer of the file. An unknown address becomes wild.
format::PointerLeaf locate(const void* address);

// From save() until the program runs on: whether these bytes lie in one registered variable or block of the heap.
bool is_registered(uintptr_t begin, uint64_t size);
// The same for a variable alone, which has its place before a restart fills it.
bool is_variable(uintptr_t begin, uint64_t size);
// In one that changes its place and size, which a restart gives another one.
bool is_resizing(uintptr_t begin, uint64_t size);
bool has_resizing();

// From save() until the program runs on: bytes of the largest registered variable or block of the heap.
uint64_t largest_block();

// Whether two addresses lie in two blocks of the heap, or one of them alone in one. Looks at all blocks.
bool in_different_blocks(const void* a, const void* b);

// All variables and blocks of the heap that are registered now; the blocks have no name.
void each_registered(void* context, void (*one)(void* context, const char* name, const void* address, uint64_t size));

// What is saved of them: of each struct the fields that are declared, without the gaps between them.
void each_saved(void* context, void (*one)(void* context, const char* name, const void* address, uint64_t size));

// What memory is, of which a message from a machine of another representation has the bytes: what they are there only characters
// are here.
enum class Memory : uint8_t { kUnknown, kCharacters, kOther };
// kUnknown: not all of it is registered. Looks at all variables and blocks.
Memory memory_at(const void* address, uint64_t size);

// Messages about wild pointers when state is saved or restored (ELC_CHECK).
void set_check_pointers(bool on);

// For what is large, now and from now on, `ask` is called, for `most` bytes at a time: it asks the system for huge pages.
void use_huge_pages(void (*ask)(void* memory, size_t size), uint64_t most);

// A restart refuses a line of a program that had registered something else (ELC_STRICT).
void set_strict(bool on);

// ---- Restoring ------------------------------------------------------------------------------------

// Sections that fill() reads whole, and that are large: it is soon enough that their checksums are compared there.
bool is_filled_from(const char* section);

// How many elements the line has of a variable, of the function that is being executed or a global; -1: it has no such
// variable.
Result saved_count(format::Reader& reader, const char* name, int64_t* count);

// Behind check(): what this program has registered otherwise than that of the line, in sentences. Each is restored all the same.
const Vector<Text>& changes();

// Would fill() succeed? Compares all that is registered now with all that the line has, goes over every
// value that could fail to fit this machine, and looks at the files. MPI handles are not looked at.
// Changes nothing, but that there is room for statics whose functions have not been called yet. One message names the thing, its function, what was expected and what was found.
Result check(format::Reader& reader);

// After a check() that was ok: allocates the blocks of the line. Then address_of() knows where its data will be. Fails as fill() does.
Result make_places();
// Behind that, with the same reader: fills everything in memory. Fails
// only if something failed that no check can foresee (the file is damaged where the check has not read it, no memory, a
// handle that `codec` refuses); the process must end then, and can be restarted again.
Result fill(format::Reader& reader, const HandleCodec& codec);

// After that, when all processes have been filled, so that no line is damaged: brings files and terminals back. Fails only
// if something failed that no check can foresee (a full disk); the process must end then, and can be restarted again.
// Several processes may have a file open: each calls `all_well` between the steps, which waits for all and says whether nothing
// has failed in any of them. Where something has, that is the end, and the failure is returned where it was.
using AllWell = bool (*)(bool here);
Result bring_back_files(format::Reader& reader, AllWell all_well);

// From fill() until set_recovering(false): the address that a pointer of the line has now; nullptr for
// NULL, wild and impossible pointers.
void* address_of(const format::PointerLeaf& pointer);

// Forgets everything: a process as it was before main. For tests.
void reset();

}  // namespace elc::state

#endif
