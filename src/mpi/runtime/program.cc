// Programs that a tool has prepared as a whole (elc_program.h): MPI at their beginning, and clocks.
#include "elc_program.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/vector.h"
#include "elc.h"
#include "mpi/datatype/datatype.h"
#include "mpi/runtime/messages.h"
#include "mpi/runtime/program_keyvals.h"
#include "mpi/runtime/runtime.h"
#include "portable_format/checksum.h"
#include "state/clocks.h"
#include "state/library.h"
#include "state/state.h"

namespace {

int has_initialised = 0;  // the program has called MPI_Init, as it believes

// The attributes that MPI has itself, which are in memory of its own: a program gets pointers to copies, which lines know.
const int kAttributes[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_APPNUM,
#if MPI_VERSION >= 2
                           MPI_LASTUSEDCODE,
#endif
};
constexpr size_t kAttributeCount = sizeof kAttributes / sizeof kAttributes[0];

// Operations and error handlers that were made at the beginning.
struct Operation {
  void (*function)(void);
  int commutes;
  MPI_Op op;
};
elc::Vector<Operation>& operations() {
  static elc::Vector<Operation>& all = *elc::make<elc::Vector<Operation>>();
  return all;
}

struct ErrorHandler {
  void (*function)(void);
  MPI_Errhandler handler;
};
elc::Vector<ErrorHandler>& error_handlers() {
  static elc::Vector<ErrorHandler>& all = *elc::make<elc::Vector<ErrorHandler>>();
  return all;
}

int create_error_handler(void (*function)(void), MPI_Errhandler* handler) {
#if MPI_VERSION >= 2
  return MPI_Comm_create_errhandler(reinterpret_cast<MPI_Comm_errhandler_function*>(function), handler);
#else
  return MPI_Errhandler_create(reinterpret_cast<MPI_Handler_function*>(function), handler);
#endif
}

void make_functions(const ELC_Program& program) {
  elc::Vector<const ELC_Program_function*> given;
  for (size_t i = 0; i < program.module_count; ++i)
    for (size_t k = 0; program.modules[i] != nullptr && k < program.modules[i]->function_count; ++k)
      if (program.modules[i]->functions[k].given_to != 0) given.push_back(&program.modules[i]->functions[k]);
  if (given.empty()) return;
  // Lines have them by their numbers, whatever the order of the modules is.
  elc::sort(given, [](const ELC_Program_function* a, const ELC_Program_function* b) { return strcmp(a->name, b->name) < 0; });
  static elc::Text& names = *elc::make<elc::Text>();
  for (const ELC_Program_function* f : given) {
    const char* const to = f->given_to == ELC_PROGRAM_OPERATION ? "" : f->given_to == ELC_PROGRAM_ERROR_HANDLER ? " for errors" : " for both";
    names = elc::Text::format("%s%s%s()%s", names.c_str(), names.empty() ? "" : ", ", f->name, to);
    for (const int commutes : {0, 1}) {
      if ((f->given_to & ELC_PROGRAM_OPERATION) == 0) continue;
      Operation made = {f->function, commutes, MPI_OP_NULL};
      MPI_Op_create(reinterpret_cast<MPI_User_function*>(made.function), commutes, &made.op);
      operations().push_back(made);
    }
    if ((f->given_to & ELC_PROGRAM_ERROR_HANDLER) == 0) continue;
    ErrorHandler made = {f->function, MPI_ERRHANDLER_NULL};
    create_error_handler(made.function, &made.handler);
    error_handlers().push_back(made);
  }
  static ELC_Program_number list = {"functions that MPI calls, by a checksum of their names,", names.c_str(), 0, 1, nullptr};
  list.value = static_cast<int>(elc::format::crc32_of(names.c_str(), names.view().size()) & INT32_MAX);
  elc::state::add_number(&list);
}

int get_attribute(MPI_Comm comm, int key, void* value, int* found) {
#if MPI_VERSION >= 2
  return MPI_Comm_get_attr(comm, key, value, found);
#else
  return MPI_Attr_get(comm, key, value, found);
#endif
}

// A program that ends before it has called MPI_Init would not have ended others.
void end_unbegun() {
  int over = 0;
  PMPI_Finalized(&over);
  if (over == 0 && has_initialised == 0) MPI_Finalize();
}

int (*in_parallel)(void) = nullptr;

// What threads of OpenMP ask for, in whatever order, cannot be repeated.
bool is_of_threads() {
  if (in_parallel == nullptr || in_parallel() == 0) return false;
  elc::mpi::spoil_replay("threads of OpenMP have asked for the time while messages crossed the line");
  return true;
}

// What a line repeats where another process depends on it.
template <class Integer>
Integer repeated(Integer value) {
  if (is_of_threads()) return value;
  int64_t number = static_cast<int64_t>(value);
  ELC_Nondeterministic(&number, ELC_INT64, 1);
  return static_cast<Integer>(number);
}

// A struct of the system's, which only a machine of this kind has.
void repeat_bytes(void* at, size_t size) {
  if (is_of_threads()) return;
  const int64_t own = static_cast<int64_t>(elc::mpi::native_representation_code());
  int64_t code = own;
  ELC_Nondeterministic(&code, ELC_INT64, 1);
  if (code != own)
    elc::mpi::give_up(elc::Result::error("what the program has asked the system for while messages crossed the line can be repeated only on a machine of the same representation"));
  ELC_Nondeterministic(at, ELC_BYTE, size);
}

void* memory_of_sends;  // that MPI_Bsend copies into; nullptr: none

int attach(int size) {
  if (memory_of_sends != nullptr || size < 0) return PMPI_Buffer_attach(memory_of_sends, size);  // MPI says what it says of such a call
  memory_of_sends = malloc(size > 0 ? static_cast<size_t>(size) : 1);
  const int code = memory_of_sends == nullptr ? MPI_ERR_NO_MEM : PMPI_Buffer_attach(memory_of_sends, size);
  if (code == MPI_SUCCESS) return code;
  free(memory_of_sends);
  memory_of_sends = nullptr;
  return code;
}

// Others may write what it has.
bool is_of_system(const char* path, FILE* file) {
  struct stat now;
  const bool is_file = fstat(fileno(file), &now) == 0 && S_ISREG(now.st_mode);
  return !is_file || strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

bool is_of_calendar(int clock) {
#ifdef CLOCK_REALTIME_COARSE
  if (clock == CLOCK_REALTIME_COARSE) return true;
#endif
#ifdef CLOCK_TAI
  if (clock == CLOCK_TAI) return true;
#endif
  return clock == CLOCK_REALTIME;
}

}  // namespace

void elc::mpi::attach_again() {
  if (ELC_Program_buffer == nullptr || attach(ELC_Program_buffer_size) == MPI_SUCCESS) return;
  give_up(Result::error("the buffer of %d bytes that the program had given to MPI_Buffer_attach cannot be had again", ELC_Program_buffer_size));
}

using elc::state::ahead;
using elc::state::kSecond;

extern "C" {

ELC_EXPORT int ELC_Program_attributes[ELC_PROGRAM_ATTRIBUTES];
static_assert(kAttributeCount <= ELC_PROGRAM_ATTRIBUTES);

ELC_EXPORT int ELC_Program_get_attr(MPI_Comm comm, int key, void* value, int* found) {
  const int code = get_attribute(comm, elc::mpi::keyval_of(key), value, found);
  if (code != MPI_SUCCESS || *found == 0) return code;
  for (size_t i = 0; i < kAttributeCount; ++i) {
    if (key != kAttributes[i]) continue;
    int** const to = static_cast<int**>(value);
    ELC_Program_attributes[i] = **to;
    *to = &ELC_Program_attributes[i];
  }
  return code;
}

// How long the texts of this MPI are, at most.
static constexpr int kLengths[] = {
#ifdef MPI_MAX_PROCESSOR_NAME
    MPI_MAX_PROCESSOR_NAME,
#endif
#ifdef MPI_MAX_ERROR_STRING
    MPI_MAX_ERROR_STRING,
#endif
#ifdef MPI_MAX_OBJECT_NAME
    MPI_MAX_OBJECT_NAME,
#endif
#ifdef MPI_MAX_PORT_NAME
    MPI_MAX_PORT_NAME,
#endif
#ifdef MPI_MAX_LIBRARY_VERSION_STRING
    MPI_MAX_LIBRARY_VERSION_STRING,
#endif
#ifdef MPI_MAX_DATAREP_STRING
    MPI_MAX_DATAREP_STRING,
#endif
#ifdef MPI_MAX_INFO_KEY
    MPI_MAX_INFO_KEY,
#endif
#ifdef MPI_MAX_INFO_VAL
    MPI_MAX_INFO_VAL,
#endif
};

ELC_EXPORT char** ELC_Program_begin(const ELC_Program* program, int argc, char** argv) {
  int count = argc, provided;
  char** words = argv;
  if (program->thread_level < 0) MPI_Init(&count, &words);
  else MPI_Init_thread(&count, &words, program->thread_level, &provided);
  atexit(end_unbegun);
  // A restart goes on with pointers to them.
  for (const int key : kAttributes) {
    void* value = nullptr;
    int found = 0;
    ELC_Program_get_attr(MPI_COMM_WORLD, key, &value, &found);
  }
  const elc::Result known = elc::state::add_global("MPI_Init was called", &has_initialised, ELC_INT, 1);
  if (!known.ok()) elc::mpi::give_up(known);
  for (const int length : kLengths) elc::state::note_length_of_mpi(static_cast<uint64_t>(length));
  in_parallel = program->in_parallel;
  make_functions(*program);
  if (program->makes_keyvals != 0) elc::mpi::make_keyvals();
  if (program->probes != 0) elc::mpi::runtime.probes = true;
  if (program->reads_clocks != 0) elc::state::register_clocks([] { return PMPI_Wtime(); });
  return elc::state::begin_program(*program, elc::mpi::runtime.active, count, words);
}

ELC_EXPORT int ELC_Program_init(int*, char***) {
  has_initialised = 1;
  return MPI_SUCCESS;
}

// What was asked for at the beginning may be more than this call wants; it gets what it wants where that can be had (MPI 3.1, 12.4.3).
ELC_EXPORT int ELC_Program_init_thread(int*, char***, int required, int* provided) {
  has_initialised = 1;
  const int code = PMPI_Query_thread(provided);
  if (code == MPI_SUCCESS && *provided > required) *provided = required;
  return code;
}

ELC_EXPORT int ELC_Program_initialized(int* flag) {
  *flag = has_initialised;
  return MPI_SUCCESS;
}

ELC_EXPORT int ELC_Program_op_create(void (*function)(void), int commute, void* op) {
  for (const Operation& made : operations()) {
    if (made.function != function || made.commutes != (commute != 0 ? 1 : 0)) continue;
    *static_cast<MPI_Op*>(op) = made.op;
    return MPI_SUCCESS;
  }
  return MPI_Op_create(reinterpret_cast<MPI_User_function*>(function), commute, static_cast<MPI_Op*>(op));
}

ELC_EXPORT int ELC_Program_op_free(void* op) {
  MPI_Op* const handle = static_cast<MPI_Op*>(op);
  for (const Operation& made : operations()) {
    if (made.op != *handle) continue;
    *handle = MPI_OP_NULL;
    return MPI_SUCCESS;
  }
  return MPI_Op_free(handle);
}

ELC_EXPORT int ELC_Program_errhandler_create(void (*function)(void), void* to) {
  MPI_Errhandler* const handler = static_cast<MPI_Errhandler*>(to);
  for (const ErrorHandler& made : error_handlers()) {
    if (made.function != function) continue;
    *handler = made.handler;
    return MPI_SUCCESS;
  }
  return create_error_handler(function, handler);
}

ELC_EXPORT int ELC_Program_errhandler_free(void* of) {
  MPI_Errhandler* const handler = static_cast<MPI_Errhandler*>(of);
  for (const ErrorHandler& made : error_handlers()) {
    if (made.handler != *handler) continue;
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
  }
  return MPI_Errhandler_free(handler);
}

ELC_EXPORT int ELC_Program_get_address(const void* location, void* address) {
  elc::mpi::note_address(location);
  *static_cast<MPI_Aint*>(address) = static_cast<MPI_Aint>(reinterpret_cast<intptr_t>(location));
  return MPI_SUCCESS;
}

ELC_EXPORT int ELC_Program_alloc_mem(MPI_Aint size, MPI_Info, void* to) {
  void* const memory = ELC_Program_malloc(static_cast<size_t>(size));
  memcpy(to, &memory, sizeof memory);
  return memory == nullptr ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

ELC_EXPORT void ELC_Program_types(void) { elc::mpi::set_handle_sizes(); }

ELC_EXPORT int ELC_Program_free_mem(void* memory) {
  ELC_Program_free(memory);
  return MPI_SUCCESS;
}

ELC_EXPORT void* ELC_Program_buffer;
ELC_EXPORT int ELC_Program_buffer_size;

ELC_EXPORT int ELC_Program_buffer_attach(void* buffer, int size) {
  const int code = attach(size);
  if (code != MPI_SUCCESS) return code;
  ELC_Program_buffer = buffer;
  ELC_Program_buffer_size = size;
  return MPI_SUCCESS;
}

ELC_EXPORT int ELC_Program_buffer_detach(void* buffer, int* size) {
  const int code = PMPI_Buffer_detach(&memory_of_sends, size);
  if (code != MPI_SUCCESS) return code;
  free(memory_of_sends);
  memory_of_sends = nullptr;
  memcpy(buffer, &ELC_Program_buffer, sizeof ELC_Program_buffer);
  ELC_Program_buffer = nullptr;
  ELC_Program_buffer_size = 0;
  return MPI_SUCCESS;
}

ELC_EXPORT int ELC_Program_cart_shift(MPI_Comm comm, int direction, int by, int* source, int* to) {
  const int code = MPI_Cart_shift(comm, direction, by, source, to);
  for (int* const rank : {source, to})
    if (code == MPI_SUCCESS && *rank == MPI_PROC_NULL) *rank = elc::state::keep_number("MPI_PROC_NULL", MPI_PROC_NULL);
  return code;
}

ELC_EXPORT int ELC_Program_group_translate_ranks(MPI_Group from, int count, int* ranks, MPI_Group to, int* theirs) {
  const int null = elc::state::value_of_number("MPI_PROC_NULL", MPI_PROC_NULL);
  elc::Vector<int> given;
  for (int i = 0; i < count; ++i) given.push_back(ranks[i] == null ? MPI_PROC_NULL : ranks[i]);
  const int code = MPI_Group_translate_ranks(from, count, given.data(), to, theirs);
  for (int i = 0; code == MPI_SUCCESS && i < count; ++i) {
    if (theirs[i] == MPI_PROC_NULL) theirs[i] = elc::state::keep_number("MPI_PROC_NULL", MPI_PROC_NULL);
    else if (theirs[i] == MPI_UNDEFINED) elc::state::keep_number("MPI_UNDEFINED", MPI_UNDEFINED);
  }
  return code;
}

static int number_of(elc::state::Identity which) { return which == elc::state::kOwn ? getpid() : which == elc::state::kParent ? getppid() : getpgrp(); }

static int told_once(elc::state::Identity which) {
  int* const known = elc::state::identity(which);
  if (known == nullptr) return number_of(which);
  if (*known == 0) *known = repeated(number_of(which));
  return *known;
}

ELC_EXPORT double ELC_Program_wtime(void) {
  double now = PMPI_Wtime() + static_cast<double>(ahead(elc::state::kWall)) / static_cast<double>(kSecond);
  if (!is_of_threads()) ELC_Nondeterministic(&now, ELC_DOUBLE, 1);
  return now;
}

ELC_EXPORT long ELC_Program_time(void* to) {
  const time_t now = repeated(time(nullptr));
  if (to != nullptr) *static_cast<time_t*>(to) = now;
  return static_cast<long>(now);
}

ELC_EXPORT long ELC_Program_clock(void) { return static_cast<long>(repeated(clock() + static_cast<clock_t>(ahead(elc::state::kProcessor) / (kSecond / CLOCKS_PER_SEC)))); }

ELC_EXPORT long ELC_Program_times(void* to) {
  struct tms* const used = static_cast<struct tms*>(to);
  clock_t now = times(used);
  if (now == static_cast<clock_t>(-1)) return -1;
  const int64_t tick = kSecond / sysconf(_SC_CLK_TCK);
  if (used != nullptr) {
    const auto go_on = [tick](clock_t* ticks, const timeval& time, elc::state::Clock clock) {
      if (ahead(clock) != 0) *ticks = static_cast<clock_t>((elc::state::nanoseconds(time) + ahead(clock)) / tick);  // not that of each: it is rounded down
    };
    rusage own = {};
    getrusage(RUSAGE_SELF, &own);
    go_on(&used->tms_utime, own.ru_utime, elc::state::kUser);
    go_on(&used->tms_stime, own.ru_stime, elc::state::kSystem);
    repeat_bytes(used, sizeof *used);
  }
  return static_cast<long>(repeated(now + static_cast<clock_t>(ahead(elc::state::kMonotonic) / tick)));
}

ELC_EXPORT int ELC_Program_getrusage(int of, void* to) {
  struct rusage* const used = static_cast<struct rusage*>(to);
  const int code = getrusage(of, used);
  if (code != 0) return code;
  if (of == RUSAGE_SELF) {
    const auto go_on = [](struct timeval* time, elc::state::Clock clock) {
      const int64_t all = elc::state::nanoseconds(*time) + ahead(clock);
      time->tv_sec = static_cast<time_t>(all / kSecond);
      time->tv_usec = static_cast<suseconds_t>(all % kSecond / 1000);
    };
    go_on(&used->ru_utime, elc::state::kUser);
    go_on(&used->ru_stime, elc::state::kSystem);
  }
  repeat_bytes(used, sizeof *used);
  return code;
}

ELC_EXPORT int ELC_Program_gettimeofday(void* to, void*) {
  struct timeval* const now = static_cast<struct timeval*>(to);
  const int code = gettimeofday(now, nullptr);
  if (code != 0) return code;
  now->tv_sec = repeated(now->tv_sec);
  now->tv_usec = repeated(now->tv_usec);
  return code;
}

static int64_t ahead_of(int id) {
  const bool is_of_processor = id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID;
  return is_of_calendar(id) ? 0 : ahead(is_of_processor ? elc::state::kProcessor : elc::state::kMonotonic);
}

static timespec moved(timespec time, int64_t more) {
  int64_t seconds = time.tv_sec + more / kSecond, rest = time.tv_nsec + more % kSecond;
  if (rest < 0) rest += kSecond, --seconds;
  if (rest >= kSecond) rest -= kSecond, ++seconds;
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>(rest);
  return time;
}

ELC_EXPORT int ELC_Program_clock_gettime(int id, void* to) {
  struct timespec* const now = static_cast<struct timespec*>(to);
  const int code = clock_gettime(static_cast<clockid_t>(id), now);
  if (code != 0) return code;
  const timespec shown = moved(*now, ahead_of(id));
  now->tv_sec = repeated(shown.tv_sec);
  now->tv_nsec = repeated(shown.tv_nsec);
  return code;
}

// Until that clock says so which the program reads.
ELC_EXPORT int ELC_Program_clock_nanosleep(int id, int flags, const void* until, void* rest) {
  timespec request = *static_cast<const timespec*>(until);
  if ((flags & TIMER_ABSTIME) != 0) request = moved(request, -ahead_of(id));
  return clock_nanosleep(static_cast<clockid_t>(id), flags, &request, static_cast<timespec*>(rest));
}

ELC_EXPORT int ELC_Program_timespec_get(void* to, int base) {
  if (base != TIME_UTC) return 0;
  return ELC_Program_clock_gettime(CLOCK_REALTIME, to) == 0 ? base : 0;
}

ELC_EXPORT int ELC_Program_outside(int result, void* at, size_t seen) {
  const int known = repeated(result);
  if (at != nullptr) repeat_bytes(at, seen);
  return known;
}

ELC_EXPORT void* ELC_Program_fopen(const char* path, const char* mode) {
  FILE* const file = ELC_fopen(path, mode);
  if (file != nullptr && is_of_system(path, file)) elc::mpi::spoil_replay("the program has opened a device, or a file of the system's, while messages crossed the line");
  const int is_there = file != nullptr ? 1 : 0, was_there = repeated(is_there);
  if (is_there == was_there) return file;
  if (file == nullptr) elc::mpi::give_up(elc::Result::error("the program had opened '%s' when the line was being taken, and now it cannot be opened: put the file back, or restart from another line", path));
  ELC_Program_fclose(file);
  errno = ENOENT;
  return nullptr;
}

ELC_EXPORT int ELC_Program_getpid(void) { return told_once(elc::state::kOwn); }
ELC_EXPORT int ELC_Program_getppid(void) { return told_once(elc::state::kParent); }
ELC_EXPORT int ELC_Program_getpgrp(void) { return told_once(elc::state::kGroup); }

ELC_EXPORT int ELC_Program_process(int told) {
  for (int i = 0; told != 0 && i < elc::state::kIdentities; ++i) {
    const auto which = static_cast<elc::state::Identity>(i);
    const int* const known = elc::state::identity(which);
    const int number = which == elc::state::kGroup ? -told : told;
    if (known != nullptr && *known == number) return which == elc::state::kGroup ? -number_of(which) : number_of(which);
  }
  return told;
}
}
