#include "mpi/objects/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"
#include "mpi/datatype/datatype.h"
#include "mpi/objects/gather.h"
#include "mpi/runtime/runtime.h"
#include "state/places.h"

namespace elc::mpi {

namespace {

// Whether elements of a type are characters or raw bytes, the same on each machine; or perhaps long doubles.
bool is_character(MPI_Datatype type) {
  int size = 0;
  return predefined_name(number_of(type)) != nullptr && PMPI_Type_size(type, &size) == MPI_SUCCESS && size == 1;
}
bool is_exact(MPI_Datatype type) {
  const char* name = predefined_name(number_of(type));
  return name == nullptr || strstr(name, "LONG_DOUBLE") != nullptr;
}

uint64_t size_of(MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<uint64_t>(size);
}

state::Access access_of(const SavedFile& file) { return file.writes ? state::Access::kChange : state::Access::kRead; }

int mode_of(const SavedFile& file) {
  return (file.writes ? MPI_MODE_WRONLY : MPI_MODE_RDONLY) | (file.append ? MPI_MODE_APPEND : 0) |
         (file.unique ? MPI_MODE_UNIQUE_OPEN : 0);
}

// MPI's own words.
Text words_of(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (PMPI_Error_string(code, text, &length) != MPI_SUCCESS) return Text::copy("?");
  return Text::copy(text);
}

}  // namespace

void File::moves(int count, MPI_Datatype type) {
  if (count <= 0) return;
  // What the file holds is what its view says, unless that speaks of bytes.
  if (!is_character(etype)) type = etype;
  if (is_character(type)) return;
  saved.representation_code = native_representation_code();
  saved.exact = saved.exact || is_exact(type);
}

void File::wrote(const MPI_Offset* offset, int count, MPI_Datatype type) {
  const uint64_t bytes = size_of(type) * static_cast<uint64_t>(count), unit = size_of(etype);
  if (bytes == 0 || unit == 0) return;
  const InsideMpi inside;
  MPI_Offset behind = 0;
  if (offset != nullptr) behind = *offset + static_cast<MPI_Offset>((bytes + unit - 1) / unit);
  else PMPI_File_get_position(handle, &behind);
  MPI_Offset reached = behind;
  // In a view the place behind the last element may be far away, where the next one is.
  if (saved.viewed && PMPI_File_get_byte_offset(handle, behind - 1, &reached) == MPI_SUCCESS) reached += extent(etype);
  if (static_cast<uint64_t>(reached) > saved.length) saved.length = static_cast<uint64_t>(reached);
}

void File::set_view(MPI_Offset displacement, MPI_Datatype elements, MPI_Datatype filetype, const char* representation) {
  release_view();
  const InsideMpi inside;
  saved.viewed = true;
  saved.displacement = displacement;
  saved.etype = retain(elements);
  saved.filetype = retain(filetype);
  saved.representation = Text::copy(representation);
  etype = elements;
}

void File::release_view() {
  if (!saved.viewed) return;
  const InsideMpi inside;
  release(saved.etype);
  release(saved.filetype);
  saved.viewed = false;
  etype = MPI_BYTE;
}

File* Files::find_identity(line::Identity identity) {
  for (File* file : all_)
    if (file->saved.identity == identity) return file;
  return nullptr;
}

File* Files::add(MPI_File handle) {
  File* file = make<File>();
  file->handle = handle;
  file->place = all_.size();
  all_.push_back(file);
  by_handle_.at(handle_key(handle)) = file;
  return file;
}

void Files::remove(File* file) {
  file->release_view();
  by_handle_.remove(handle_key(file->handle));
  all_.back()->place = file->place;
  all_[file->place] = all_.back();
  all_.pop_back();
  destroy(file);
}

bool files_are_quiet() { return !runtime.files.split() && !runtime.obstacles.waits(); }

const char* not_followed(const char* path, int mode) {
  if ((mode & MPI_MODE_RDWR) != 0) return "MPI_File_open for reading and writing";
  if ((mode & ~(MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_APPEND | MPI_MODE_UNIQUE_OPEN)) != 0)
    return "MPI_File_open with a mode that libELC does not follow";
  // "ufs:name" is an MPI's word for a kind of file system.
  if (memchr(path, ':', strcspn(path, "/")) != nullptr) return "MPI_File_open of a name with a colon";
  return nullptr;
}

bool spares_files() { return runtime.restart_line != 0 && !runtime.restored; }

// ---- In a line ----

namespace {

SavedFile copy_of(const SavedFile& file) {
  SavedFile copy;
  copy.identity = file.identity;
  copy.origin = file.origin;
  copy.members.append(file.members.data(), file.members.size());
  copy.path = Text::copy(file.path.view());
  copy.writes = file.writes;
  copy.append = file.append;
  copy.unique = file.unique;
  copy.of_set_up = file.of_set_up;
  copy.representation_code = file.representation_code;
  copy.exact = file.exact;
  copy.length = file.length;
  copy.viewed = file.viewed;
  copy.displacement = file.displacement;
  copy.etype = file.etype;
  copy.filetype = file.filetype;
  copy.representation = Text::copy(file.representation.view());
  return copy;
}

// What the program, or MPI, has chosen.
void add_hints(MPI_File handle, SavedFile* saved) {
  MPI_Info info = MPI_INFO_NULL;
  if (PMPI_File_get_info(handle, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return;
  saved->hints = hints_of(info);
  PMPI_Info_free(&info);
}

// Where the file is, if a restart could open it.
Result find_again(const File& file, state::Place* place) {
  const char* path = file.saved.path.c_str();
  ELC_TRY(state::find_place(path, place));
  struct stat about;
  bool there;
  ELC_TRY(place->look(access_of(file.saved), &about, &there));
  if (there && about.st_dev == file.about.st_dev && about.st_ino == file.about.st_ino) return Result();
  return Result::error("the name '%s' does not lead to the file that MPI_File_open has opened by it: that was renamed or removed, or "
                       "the program has changed its directory", path);
}

}  // namespace

Result save_files(Vector<SavedFile>* saved) {
  const InsideMpi inside;
  for (size_t i = 0; i < runtime.files.size(); ++i) {
    const File& file = *runtime.files.at(i);
    state::Place place;
    ELC_TRY(find_again(file, &place));
    if (file.saved.viewed && (file.saved.etype == kNoDatatype || file.saved.filetype == kNoDatatype))
      return Result::error("the file '%s' has a view of a datatype that libELC did not see made", file.saved.path.c_str());
    SavedFile copy = copy_of(file.saved);
    MPI_Offset pointer = 0;
    int atomic = 0;
    if (PMPI_File_get_position(file.handle, &pointer) != MPI_SUCCESS || PMPI_File_get_atomicity(file.handle, &atomic) != MPI_SUCCESS)
      return Result::error("MPI does not tell the position in the file '%s'", file.saved.path.c_str());
    copy.pointer = pointer;
    copy.atomic = atomic != 0;
    add_hints(file.handle, &copy);
    saved->push_back(std::move(copy));
  }
  // Views are set again together, in one order for all.
  sort(*saved, [](const SavedFile& a, const SavedFile& b) { return a.identity < b.identity; });
  return Result();
}

void add_written_files(Vector<state::Written>* written) {
  for (size_t i = 0; i < runtime.files.size(); ++i) {
    const File& file = *runtime.files.at(i);
    if (file.saved.writes && file.rank != 0) continue;
    written->push_back({state::number_of_file(file.about), Text::copy(file.saved.path.view()),
                        file.saved.writes ? state::Kept::kLength : state::Kept::kRead, Descriptor()});
  }
}

Result rely_on_files(Vector<state::Relied>* relied) {
  for (size_t i = 0; i < runtime.files.size(); ++i) {
    const File& file = *runtime.files.at(i);
    if (!file.saved.writes) continue;
    state::Place place;
    ELC_TRY(find_again(file, &place));
    Descriptor open;
    ELC_TRY(place.open(state::Access::kChange, O_WRONLY, &open));
    relied->push_back({std::move(open), Text::copy(file.saved.path.view())});
    for (Descriptor& directory : place.way()) relied->push_back({std::move(directory), Text::copy(file.saved.path.view())});
  }
  return Result();
}

// ---- In a restart ----

namespace {

Result fits_machine(const SavedFile& file) {
  const uint64_t here = native_representation_code(), there = file.representation_code;
  const bool native = !file.viewed || file.representation.view() != "external32";
  if (there == 0 || there == here || !native) return Result();
  format::Representation then, now;
  uint32_t bytes;
  ELC_TRY(representation_of(there, &then, &bytes));
  ELC_TRY(representation_of(here, &now, &bytes));
  if (!file.exact && then.order == now.order && same_lengths(here, there)) return Result();
  return Result::error("the file '%s' holds numbers as the machine of the line had them, and this one has them otherwise: restart on "
                       "a machine like that one, or let the program use external32 (MPI_File_set_view)", file.path.c_str());
}

Result check(const SavedFile& file) {
  const File* now = runtime.files.find_identity(file.identity);
  const bool same = now != nullptr && now->saved.path.view() == file.path.view() && mode_of(now->saved) == mode_of(file) &&
                    !is_obstacle(HandleKind::kFile, handle_key(now->handle));
  if ((now != nullptr || file.of_set_up) && !same)
    return Result::error("the set-up does not open the file '%s', as operation %llu on a communicator, as it did in the run of the "
                         "line; see that it gives the same arguments", file.path.c_str(),
                         static_cast<unsigned long long>(file.origin.number));
  ELC_TRY(fits_machine(file));
  state::Place place;
  ELC_TRY(state::find_place(file.path.c_str(), &place));
  struct stat about;
  bool there;
  ELC_TRY(place.look(access_of(file), &about, &there));
  if (!there) return Result::error("the file '%s', which the program had open by MPI_File_open, is not there", file.path.c_str());
  if (static_cast<uint64_t>(about.st_size) >= file.length) return Result();
  return Result::error("the file '%s', which the program had open by MPI_File_open, has %lld bytes and had %llu in the line: "
                       "its content is lost", file.path.c_str(), static_cast<long long>(about.st_size),
                       static_cast<unsigned long long>(file.length));
}

int open_one(const SavedFile& mine, MPI_Comm members) {
  MPI_File handle = MPI_FILE_NULL;
  bool complete;  // they are hints
  MPI_Info hints = mine.hints.empty() ? MPI_INFO_NULL : info_of(mine.hints, &complete);
  const int code = PMPI_File_open(members, const_cast<char*>(mine.path.c_str()), mode_of(mine), hints, &handle);
  if (hints != MPI_INFO_NULL) PMPI_Info_free(&hints);
  if (code != MPI_SUCCESS) return code;
  File* file = runtime.files.add(handle);
  file->saved = copy_of(mine);
  file->saved.viewed = false;  // not yet
  stat(mine.path.c_str(), &file->about);
  PMPI_Comm_rank(members, &file->rank);
  return code;
}

}  // namespace

Result check_files(const Vector<SavedFile>& saved) {
  for (const SavedFile& file : saved) ELC_TRY(check(file));
  return Result();
}

Vector<SavedFile> gather_files(const Vector<SavedFile>& saved) {
  return gather_wanted(saved, [](const SavedFile&) { return true; });
}

Result open_again(const Vector<SavedFile>& saved, const Vector<SavedFile>& all) {
  InsideMpi inside;
  Result status;
  line::Identity previous = kNullIdentity;
  for (const SavedFile& file : all) {
    if (file.identity == previous) continue;
    previous = file.identity;
    const SavedFile* mine = nullptr;
    for (const SavedFile& own : saved)
      if (own.identity == file.identity && runtime.files.find_identity(own.identity) == nullptr) mine = &own;
    MPI_Comm members = runtime.self;
    if (file.members.size() > 1)
      PMPI_Comm_split(runtime.control, mine == nullptr ? MPI_UNDEFINED : 0, mine == nullptr ? 0 : rank_in(file.members), &members);
    if (mine == nullptr || members == MPI_COMM_NULL) continue;
    const int code = open_one(*mine, members);
    if (members != runtime.self) PMPI_Comm_free(&members);
    if (code != MPI_SUCCESS && status.ok())
      status = Result::error("the file '%s' cannot be opened again: %s", mine->path.c_str(), words_of(code).c_str());
  }
  return status;
}

Result cut_files(const Vector<SavedFile>& saved, const Vector<SavedFile>& all) {
  Result status;
  for (const SavedFile& file : saved) {
    MPI_Datatype type;
    if (status.ok() && file.viewed) status = handle_of(file.etype, &type);
    if (status.ok() && file.viewed) status = handle_of(file.filetype, &type);
    if (!file.writes || file.members[0] != runtime.rank || !status.ok()) continue;
    uint64_t length = 0;
    for (const SavedFile& any : all)
      if (any.identity == file.identity && any.length > length) length = any.length;
    state::Place place;
    Descriptor open;
    status = state::find_place(file.path.c_str(), &place);
    if (status.ok()) status = place.open(state::Access::kChange, O_WRONLY, &open);
    if (status.ok() && ftruncate(open.get(), static_cast<off_t>(length)) != 0)
      status = Result::caused(errno, "the file '%s' cannot be cut to the length that it had: %s", file.path.c_str(), strerror(errno));
  }
  return status;
}

// Those that the set-up has opened and that were closed at the line.
static void close_others(const Vector<SavedFile>& saved) {
  Vector<File*> others;
  for (size_t i = 0; i < runtime.files.size(); ++i) {
    bool there = false;
    for (const SavedFile& file : saved) there = there || file.identity == runtime.files.at(i)->saved.identity;
    if (!there) others.push_back(runtime.files.at(i));
  }
  sort(others, [](const File* a, const File* b) { return a->saved.identity < b->saved.identity; });
  for (File* file : others) {
    MPI_File handle = file->handle;
    remove_obstacle(HandleKind::kFile, handle_key(handle));
    runtime.files.remove(file);
    PMPI_File_close(&handle);
  }
}

Result view_again(const Vector<SavedFile>& saved) {
  InsideMpi inside;
  Result status;
  for (const SavedFile& then : saved) {
    File* file = runtime.files.find_identity(then.identity);
    int code = MPI_SUCCESS;
    if (then.viewed) {
      MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
      (void)handle_of(then.etype, &etype);  // cut_files has looked
      (void)handle_of(then.filetype, &filetype);
      code = PMPI_File_set_view(file->handle, then.displacement, etype, filetype, const_cast<char*>(then.representation.c_str()), MPI_INFO_NULL);
      file->set_view(then.displacement, etype, filetype, then.representation.c_str());
    }
    if (code == MPI_SUCCESS && then.atomic) code = PMPI_File_set_atomicity(file->handle, 1);
    if (code == MPI_SUCCESS) code = PMPI_File_seek(file->handle, then.pointer, MPI_SEEK_SET);
    file->saved.length = then.length;
    file->saved.representation_code = then.representation_code;
    file->saved.exact = then.exact;
    file->spared = false;
    if (code != MPI_SUCCESS && status.ok())
      status = Result::error("the view or the position in the file '%s' cannot be set again: %s", then.path.c_str(), words_of(code).c_str());
  }
  close_others(saved);
  return status;
}

}  // namespace elc::mpi
