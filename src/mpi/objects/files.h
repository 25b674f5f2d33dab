// Files of MPI (MPI standard, chapter 14) that a restart opens again. The library keeps of one what MPI does not tell: by
// which operation it was opened, and how far this process has written it.
//
// What is followed is a file that is open for reading or for writing alone: the content that the program has overwritten
// since a line is in no line, and who reads it after a restart would read what comes later. To the protocol a file is a
// communicator of its own, on which the calls that all who have it open make together are operations.
#ifndef ELC_MPI_OBJECTS_FILES_H
#define ELC_MPI_OBJECTS_FILES_H

#include <mpi.h>
#include <sys/stat.h>

#include "base/hash_map.h"
#include "base/text.h"
#include "mpi/objects/handle_key.h"
#include "mpi/objects/requests.h"
#include "mpi/serial/section.h"
#include "state/state.h"

namespace elc::mpi {

// A file that was opened on a communicator that is followed; one that is not followed itself is an obstacle, too.
struct File {
  MPI_File handle = MPI_FILE_NULL;
  line::Comm slot = 0;       // in line::Coordinator
  int rank = 0;              // of this process among its members
  SavedFile saved;           // but for the pointer and the hints; the length as far as this process knows it
  struct stat about = {};    // as it was when it was opened: which one it is
  bool is_new = false;       // all that it has was written by way of this handle
  bool spared = false;       // it was there when the set-up of a restart opened it: nothing is to be written to it
  bool split = false;        // between the two halves of a collective call
  bool split_done = false;   // whose first half has done it, with this status
  MPI_Status split_status = {};
  size_t place = 0;          // among all

  MPI_Datatype etype = MPI_BYTE;  // of the view
  // A call moves so many elements of this type.
  void moves(int count, MPI_Datatype type);
  // They were written at this offset, in units of the view's etype; without one, to where the individual file pointer is now.
  void wrote(const MPI_Offset* offset, int count, MPI_Datatype type);
  void set_view(MPI_Offset displacement, MPI_Datatype elements, MPI_Datatype filetype, const char* representation);
  void release_view();
};

class Files {
 public:
  File* find(MPI_File handle) {
    File** found = by_handle_.find(handle_key(handle));
    return found == nullptr ? nullptr : *found;
  }
  File* find_identity(line::Identity identity);
  File* add(MPI_File handle);
  // It was closed.
  void remove(File* file);
  size_t size() const { return all_.size(); }
  File* at(size_t i) { return all_[i]; }

  // No site is one between the halves of a collective call.
  bool split() const { return split_ != 0; }
  void begin_split() { ++split_; }
  void end_split() { --split_; }

 private:
  Vector<File*> all_;
  HashMap<File*> by_handle_;
  size_t split_ = 0;
};

// The call that opens such a file is not followed, for this reason; nullptr: it is.
const char* not_followed(const char* path, int mode);
// Whether nothing that the program has begun on files is under way here, for which a line has to wait.
bool files_are_quiet();
// Whether the program's set-up runs again, and is not to change a file that it finds.
bool spares_files();

// ---- In a line ----

// The files that are open now. Fails if a restart could not open one again.
Result save_files(Vector<SavedFile>* saved);
// Adds those that a restart would cut in this process.
void add_written_files(Vector<state::Written>* written);
// Adds what the line relies on.
Result rely_on_files(Vector<state::Relied>* relied);

// ---- In a restart ----

// Whether they can be opened again, each as it was: what the set-up has opened has to be the same. Changes nothing.
Result check_files(const Vector<SavedFile>& saved);
// All files of the line, each as every member has it, by their identities; collective over the world.
Vector<SavedFile> gather_files(const Vector<SavedFile>& saved);
// Opens those that the set-up has not; collective over the world. `all`: the gathered ones.
Result open_again(const Vector<SavedFile>& saved, const Vector<SavedFile>& all);
// Cuts those that are open for writing to their lengths.
Result cut_files(const Vector<SavedFile>& saved, const Vector<SavedFile>& all);
// Gives them their views and pointers, and closes what else the set-up has opened; collective over the members of each, when
// all are cut.
Result view_again(const Vector<SavedFile>& saved);

}  // namespace elc::mpi

#endif
