// The data of a line: written by the process while the program waits, or by a copy of it while the program runs on.
#ifndef ELC_MPI_RUNTIME_LINE_DATA_H
#define ELC_MPI_RUNTIME_LINE_DATA_H

#include "base/result.h"
#include "line/types.h"
#include "portable_format/writer.h"
#include "store/copy.h"
#include "store/store.h"

namespace elc::mpi {

class LineData {
 public:
  LineData(store::RankFile* file) : file_(file) {}

  // Where `writer`, the file's, writes to.
  format::Sink sink();
  // Behind state::begin_save(), between two sections: writes the data as they are now, if no copy of the process can do that.
  Result write(line::LineNumber line, format::Writer* writer);
  // When everything else of the state is written: otherwise, a copy begins.
  Result begin_copy();
  // Whether they are in the file, and the writer goes on behind them.
  Result written(bool* done);
  // They are not wanted any more.
  void end() { copy_.end(); }
  // In a child that the program has forked.
  void forget() { copy_.forget(); }

 private:
  // Why no copy writes them: a sentence to go on from "because"; nullptr: one does.
  const char* hindrance() const;
  Result write_here(const char* why);
  Result copy_now();
  Result save_data(bool in_copy);
  void tell(const char* how);

  store::RankFile* file_;
  format::Writer* writer_ = nullptr;
  line::LineNumber line_ = 0;
  bool by_copy_ = false;  // the line at hand
  store::Copy copy_;
  bool has_died_ = false;  // a copy, of itself
  const char* told_ = nullptr;  // how the last line was written
};

}  // namespace elc::mpi

#endif
