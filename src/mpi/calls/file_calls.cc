// MPI standard, chapter 14: files. Those that are followed (objects/files.h) are a communicator to the protocol: what
// all who have one open call together is an operation on it. Moving data is one that can be done alone as well, so a
// process that is late for it does so in a replay; a line that another one crosses is refused.
#include "mpi/calls/collective.h"
#include "mpi/calls/refused.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/datatype_table.h"
#include "mpi/objects/files.h"

namespace elc::mpi {
namespace {

constexpr const char* kUnseenFile = "a file of MPI was used that libELC did not see opened";

// What the library knows of a file that the program uses; nullptr: it is on a communicator that is not followed, or for MPI to
// refuse.
File* used(MPI_File handle) {
  File* file = runtime.files.find(handle);
  if (file == nullptr && handle != MPI_FILE_NULL && !is_obstacle(HandleKind::kFile, handle_key(handle))) cannot_checkpoint(kUnseenFile);
  return file;
}

// Where the program's set-up runs again, all members have to find the same.
bool spared(MPI_Comm comm, bool there) {
  if (!spares_files()) return false;
  int mine = there ? 1 : 0, all = 0;
  InsideMpi inside;
  return PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, comm) == MPI_SUCCESS && all != 0;
}

int open(MPI_Comm comm, ELC_CONST char* path, int mode, MPI_Info info, MPI_File* made, const void* place) {
  constexpr const char* kCall = "MPI_File_open";
  Collective operation(comm);
  const Refused now(kCall, place);
  struct stat before;
  const bool there = stat(path, &before) == 0;
  state::note_file_opening(path, (mode & MPI_MODE_RDONLY) == 0, (mode & MPI_MODE_APPEND) != 0);
  const bool followed = operation.comm() != nullptr && !operation.comm()->is_inter();  // which MPI refuses
  const bool spare = followed && spared(comm, there);
  const int code = released_inside([&] { return PMPI_File_open(comm, path, spare ? mode & ~MPI_MODE_EXCL : mode, info, made); });
  end_counted(&operation, now, code);
  if (code != MPI_SUCCESS) return code;
  const char* obstacle = !followed ? kCall : not_followed(path, mode);
  if (obstacle != nullptr) add_obstacle(HandleKind::kFile, handle_key(*made), obstacle, place);
  if (!followed) return code;
  File* file = runtime.files.add(*made);
  const Communicator& parent = *operation.comm();
  SavedFile& saved = file->saved;
  saved.origin = {parent.identity, operation.number(), 0};
  saved.identity = saved.origin.identity();
  saved.members.append(parent.members.data(), parent.members.size());
  saved.path = Text::copy(path);
  saved.writes = (mode & MPI_MODE_RDONLY) == 0;
  saved.append = (mode & MPI_MODE_APPEND) != 0;
  saved.unique = (mode & MPI_MODE_UNIQUE_OPEN) != 0;
  saved.of_set_up = in_setup();
  // Others may have written to it by now.
  saved.length = saved.writes && there ? static_cast<uint64_t>(before.st_size) : 0;
  file->rank = parent.rank;
  stat(path, &file->about);
  file->is_new = saved.writes && saved.length == 0;
  file->spared = spare && saved.writes;
  file->slot = runtime.coordinator->add_comm(saved.identity, static_cast<uint32_t>(saved.members.size()));
  if (saved.of_set_up) runtime.set_up.push_back(saved.identity);
  spoil_replay(kCall, kFilesTell);
  return code;
}

// A call of all members that a restart could not repeat for some of them.
template <class Call>
int together(File* file, const char* name, Call call) {
  if (file == nullptr) return released_inside(call);
  const uint64_t number = runtime.coordinator->start_collective(file->slot);
  const int code = released_inside(call);
  runtime.coordinator->end_unfollowed(file->slot, number, name);
  return code;
}

int close(MPI_File* handle) {
  const uint64_t key = key_at(handle);
  File* file = handle == nullptr ? nullptr : used(*handle);
  const int code = together(file, "MPI_File_close", [&] { return PMPI_File_close(handle); });
  if (code != MPI_SUCCESS) return code;
  remove_obstacle(HandleKind::kFile, key);
  if (file == nullptr) return code;
  runtime.coordinator->free_comm(file->slot);
  if (in_setup()) forget_of_set_up(file->saved.identity);
  if (file->saved.writes) state::note_file_closed(file->saved.path.c_str(), file->is_new);
  runtime.files.remove(file);
  return code;
}

// ---- Moving data ----

enum class Way { kRead, kWrite };

// What one call moves. `offset`: nullptr where the individual file pointer says it.
struct Move {
  Way way;
  const MPI_Offset* offset;
  int count;
  MPI_Datatype type;
  MPI_Status* status;
};

// In the set-up of a restart nothing is written, but the program is told that it was: `call` writes so many elements.
template <class Call>
int write_nothing(const Move& move, Call call) {
  const int code = call(0);
  if (code == MPI_SUCCESS && move.status != MPI_STATUS_IGNORE) {
    const uint64_t bytes = packed_size(move.type) * static_cast<uint64_t>(move.count);
    set_status(move.status, MPI_ANY_SOURCE, MPI_ANY_TAG, {bytes, 0});
  }
  return code;
}

// `call` moves so many elements.
template <class Call>
int move(File* file, const Move& m, Call call) {
  if (file == nullptr) return call(m.count);
  if (m.way == Way::kWrite && file->spared) return write_nothing(m, call);
  const int code = call(m.count);
  if (code != MPI_SUCCESS) return code;
  file->moves(m.count, m.type);
  if (m.way == Way::kWrite) file->wrote(m.offset, m.count, m.type);
  return code;
}

template <class Call>
int move_alone(const char* name, MPI_File handle, const Move& m, Call call) {
  const Entered entered(name);
  labelled_call();
  tick();
  return move(used(handle), m, [&](int count) { return released_inside([&] { return call(count); }); });
}

// A late process can do its part alone, but not fail as it has failed with the others.
void moved_together(const File& file, uint64_t number, int code) {
  if (code == MPI_SUCCESS) runtime.coordinator->end_collective(file.slot, number, Bytes());
  else end_failed_collective(file.slot, number);
}

// `alone` does this process's part.
template <class Call, class Alone>
int move_together(const char* name, MPI_File handle, const Move& m, Call call, Alone alone) {
  const Entered entered(name);
  labelled_call();
  tick();
  File* file = used(handle);
  if (file == nullptr) return released_inside([&] { return call(m.count); });
  line::Coordinator& process = *runtime.coordinator;
  const uint64_t number = process.start_collective(file->slot);
  const bool crosses = process.logged_result(file->slot, number) != nullptr;
  const int code = move(file, m, [&](int count) { return released_inside([&] { return crosses ? alone(count) : call(count); }); });
  moved_together(*file, number, code);
  return code;
}

// The request is one for which sites wait; MPIO_Request, which nothing but its own calls complete, makes the file an obstacle.
[[maybe_unused]] void begun(const char* name, MPI_File, const File* file, MPI_Request request, const void* place) {
  if (request == MPI_REQUEST_NULL) return;
  runtime.obstacles.add(HandleKind::kRequest, handle_key(request), name, place, file != nullptr);
  spoil_replay(name, kCalledUnfollowed);  // nobody has logged when it is complete
}
template <class Request>
void begun(const char* name, MPI_File handle, const File*, Request, const void* place) {
  Refused(name, place).hinders(handle);
}

template <class Request, class Call>
int begin_move(const char* name, MPI_File handle, const Move& m, Request* request, const void* place, Call call) {
  const Entered entered(name);
  labelled_call();
  tick();
  File* file = used(handle);
  const int code = move(file, m, [&](int count) { return released_inside([&] { return call(count); }); });
  if (code == MPI_SUCCESS) begun(name, handle, file, *request, place);
  return code;
}

// The first half of one, and the second.
template <class Call, class Alone>
int begin_together(const char* name, MPI_File handle, Way way, const MPI_Offset* offset, int count, MPI_Datatype type, Call call,
                   Alone alone) {
  const Entered entered(name);
  labelled_call();
  tick();
  File* file = used(handle);
  if (file == nullptr) return released_inside([&] { return call(count); });
  line::Coordinator& process = *runtime.coordinator;
  const uint64_t number = process.start_collective(file->slot);
  file->split_done = process.logged_result(file->slot, number) != nullptr;
  const Move m = {way, offset, count, type, MPI_STATUS_IGNORE};
  const int code =
      move(file, m, [&](int n) { return released_inside([&] { return file->split_done ? alone(n, &file->split_status) : call(n); }); });
  moved_together(*file, number, code);
  if (code != MPI_SUCCESS) return code;
  file->split = true;
  runtime.files.begin_split();
  return code;
}

template <class Call>
int end_together(const char* name, MPI_File handle, MPI_Status* status, Call call) {
  const Entered entered(name);
  tick();
  File* file = used(handle);
  if (file == nullptr || !file->split) return released_inside(call);
  file->split = false;
  runtime.files.end_split();
  if (!file->split_done) return released_inside(call);
  file->split_done = false;
  give_status(status, file->split_status);
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_File_open(MPI_Comm comm, ELC_CONST char* path, int mode, MPI_Info info, MPI_File* made) {
  if (!following()) return PMPI_File_open(comm, path, mode, info, made);
  const Entered entered("MPI_File_open");
  return open(comm, path, mode, info, made, ELC_CALLER());
}

ELC_EXPORT int MPI_File_close(MPI_File* file) {
  if (!following()) return PMPI_File_close(file);
  const Entered entered("MPI_File_close");
  labelled_call();
  tick();
  return close(file);
}

// The set-up of a restart is not to remove what the program has written since.
ELC_EXPORT int MPI_File_delete(ELC_CONST char* path, MPI_Info info) {
  if (following() && spares_files()) return MPI_SUCCESS;
  const auto how = [](const char* it, const void* of) { return PMPI_File_delete(const_cast<char*>(it), *static_cast<const MPI_Info*>(of)); };
  return elc::state::remove_file(path, how, &info);
}

// Others may have written to it, or may not yet.
ELC_EXPORT int MPI_File_get_size(MPI_File file, MPI_Offset* size) {
  if (!following()) return PMPI_File_get_size(file, size);
  const Entered entered("MPI_File_get_size");
  labelled_call();
  tick();
  spoil_replay("MPI_File_get_size", kFilesTell);
  return released_inside([&] { return PMPI_File_get_size(file, size); });
}

// ---- What all members call together, and what a restart brings back of it ----

// `CHANGES`: whether the file's content is another one after it.
#define ELC_TOGETHER(NAME, CHANGES, PARAMETERS, ARGUMENTS, ...)                        \
  ELC_EXPORT int MPI_File_##NAME PARAMETERS {                                          \
    if (!following()) return PMPI_File_##NAME ARGUMENTS;                               \
    const Entered entered("MPI_File_" #NAME);                                          \
    labelled_call();                                                                   \
    tick();                                                                            \
    File* known = used(file);                                                          \
    const int code = together(known, "MPI_File_" #NAME, [&] {                          \
      return known != nullptr && known->spared && CHANGES ? MPI_SUCCESS : PMPI_File_##NAME ARGUMENTS; \
    });                                                                                \
    if (code != MPI_SUCCESS || known == nullptr) return code;                          \
    __VA_ARGS__                                                                        \
    return code;                                                                       \
  }

ELC_TOGETHER(set_size, true, (MPI_File file, MPI_Offset size), (file, size), known->saved.length = static_cast<uint64_t>(size);)
ELC_TOGETHER(preallocate, true, (MPI_File file, MPI_Offset size), (file, size), {
  if (static_cast<uint64_t>(size) > known->saved.length) known->saved.length = static_cast<uint64_t>(size);
})

ELC_EXPORT int MPI_File_get_view(MPI_File file, MPI_Offset* begin, MPI_Datatype* element, MPI_Datatype* type, char* representation) {
  const int code = PMPI_File_get_view(file, begin, element, type, representation);
  if (code == MPI_SUCCESS) note_given(*element), note_given(*type);
  return code;
}

ELC_TOGETHER(set_view, false, (MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                               ELC_CONST char* representation, MPI_Info info),
             (file, displacement, etype, filetype, representation, info),
             known->set_view(displacement, etype, filetype, representation);)
ELC_TOGETHER(set_atomicity, false, (MPI_File file, int flag), (file, flag), )
ELC_TOGETHER(set_info, false, (MPI_File file, MPI_Info info), (file, info), )
ELC_TOGETHER(sync, false, (MPI_File file), (file), )

// ---- Moving data ----

#define ELC_MOVE_ALONE(NAME, WAY, CONST)                                                                                       \
  ELC_EXPORT int MPI_File_##NAME(MPI_File file, CONST void* buffer, int count, MPI_Datatype type, MPI_Status* status) {        \
    if (!following()) return PMPI_File_##NAME(file, buffer, count, type, status);                                              \
    return move_alone("MPI_File_" #NAME, file, {Way::WAY, nullptr, count, type, status},                                       \
                      [&](int n) { return PMPI_File_##NAME(file, buffer, n, type, status); });                                 \
  }                                                                                                                            \
  ELC_EXPORT int MPI_File_##NAME##_at(MPI_File file, MPI_Offset offset, CONST void* buffer, int count, MPI_Datatype type,      \
                                      MPI_Status* status) {                                                                    \
    if (!following()) return PMPI_File_##NAME##_at(file, offset, buffer, count, type, status);                                 \
    return move_alone("MPI_File_" #NAME "_at", file, {Way::WAY, &offset, count, type, status},                                 \
                      [&](int n) { return PMPI_File_##NAME##_at(file, offset, buffer, n, type, status); });                    \
  }

#define ELC_MOVE_TOGETHER(NAME, WAY, CONST)                                                                                    \
  ELC_EXPORT int MPI_File_##NAME##_all(MPI_File file, CONST void* buffer, int count, MPI_Datatype type, MPI_Status* status) {  \
    if (!following()) return PMPI_File_##NAME##_all(file, buffer, count, type, status);                                        \
    return move_together("MPI_File_" #NAME "_all", file, {Way::WAY, nullptr, count, type, status},                             \
                         [&](int n) { return PMPI_File_##NAME##_all(file, buffer, n, type, status); },                         \
                         [&](int n) { return PMPI_File_##NAME(file, buffer, n, type, status); });                              \
  }                                                                                                                            \
  ELC_EXPORT int MPI_File_##NAME##_at_all(MPI_File file, MPI_Offset offset, CONST void* buffer, int count, MPI_Datatype type,  \
                                          MPI_Status* status) {                                                                \
    if (!following()) return PMPI_File_##NAME##_at_all(file, offset, buffer, count, type, status);                             \
    return move_together("MPI_File_" #NAME "_at_all", file, {Way::WAY, &offset, count, type, status},                          \
                         [&](int n) { return PMPI_File_##NAME##_at_all(file, offset, buffer, n, type, status); },              \
                         [&](int n) { return PMPI_File_##NAME##_at(file, offset, buffer, n, type, status); });                 \
  }                                                                                                                            \
  ELC_EXPORT int MPI_File_##NAME##_all_begin(MPI_File file, CONST void* buffer, int count, MPI_Datatype type) {                \
    if (!following()) return PMPI_File_##NAME##_all_begin(file, buffer, count, type);                                          \
    return begin_together("MPI_File_" #NAME "_all_begin", file, Way::WAY, nullptr, count, type,                                \
                          [&](int n) { return PMPI_File_##NAME##_all_begin(file, buffer, n, type); },                          \
                          [&](int n, MPI_Status* status) { return PMPI_File_##NAME(file, buffer, n, type, status); });         \
  }                                                                                                                            \
  ELC_EXPORT int MPI_File_##NAME##_at_all_begin(MPI_File file, MPI_Offset offset, CONST void* buffer, int count,               \
                                                MPI_Datatype type) {                                                           \
    if (!following()) return PMPI_File_##NAME##_at_all_begin(file, offset, buffer, count, type);                               \
    return begin_together("MPI_File_" #NAME "_at_all_begin", file, Way::WAY, &offset, count, type,                             \
                          [&](int n) { return PMPI_File_##NAME##_at_all_begin(file, offset, buffer, n, type); },               \
                          [&](int n, MPI_Status* status) { return PMPI_File_##NAME##_at(file, offset, buffer, n, type, status); }); \
  }                                                                                                                            \
  ELC_EXPORT int MPI_File_##NAME##_all_end(MPI_File file, CONST void* buffer, MPI_Status* status) {                            \
    if (!following()) return PMPI_File_##NAME##_all_end(file, buffer, status);                                                 \
    return end_together("MPI_File_" #NAME "_all_end", file, status, [&] { return PMPI_File_##NAME##_all_end(file, buffer, status); }); \
  }                                                                                                                            \
  ELC_EXPORT int MPI_File_##NAME##_at_all_end(MPI_File file, CONST void* buffer, MPI_Status* status) {                         \
    if (!following()) return PMPI_File_##NAME##_at_all_end(file, buffer, status);                                              \
    return end_together("MPI_File_" #NAME "_at_all_end", file, status,                                                         \
                        [&] { return PMPI_File_##NAME##_at_all_end(file, buffer, status); });                                  \
  }

// Not all MPIs have MPI's own requests for these.
template <class T>
struct RequestOf;
template <class File, class Buffer, class Request>
struct RequestOf<int (*)(File, Buffer, int, MPI_Datatype, Request*)> {
  using Type = Request;
};
using FileRequest = RequestOf<decltype(&PMPI_File_iread)>::Type;

#define ELC_BEGIN_MOVE(NAME, WAY, CONST)                                                                                       \
  ELC_EXPORT int MPI_File_##NAME(MPI_File file, CONST void* buffer, int count, MPI_Datatype type, FileRequest* request) {      \
    if (!following()) return PMPI_File_##NAME(file, buffer, count, type, request);                                             \
    return begin_move("MPI_File_" #NAME, file, {Way::WAY, nullptr, count, type, MPI_STATUS_IGNORE}, request, ELC_CALLER(),     \
                      [&](int n) { return PMPI_File_##NAME(file, buffer, n, type, request); });                                \
  }                                                                                                                            \
  ELC_EXPORT int MPI_File_##NAME##_at(MPI_File file, MPI_Offset offset, CONST void* buffer, int count, MPI_Datatype type,      \
                                      FileRequest* request) {                                                                  \
    if (!following()) return PMPI_File_##NAME##_at(file, offset, buffer, count, type, request);                                \
    return begin_move("MPI_File_" #NAME "_at", file, {Way::WAY, &offset, count, type, MPI_STATUS_IGNORE}, request,             \
                      ELC_CALLER(), [&](int n) { return PMPI_File_##NAME##_at(file, offset, buffer, n, type, request); });     \
  }

ELC_MOVE_ALONE(read, kRead, )
ELC_MOVE_ALONE(write, kWrite, ELC_CONST)
ELC_MOVE_TOGETHER(read, kRead, )
ELC_MOVE_TOGETHER(write, kWrite, ELC_CONST)
ELC_BEGIN_MOVE(iread, kRead, )
ELC_BEGIN_MOVE(iwrite, kWrite, ELC_CONST)
