// The data of a line: written while the program runs on, by a copy of the process, or by a thread from a copy of the data; or
// by the process while the program waits.
#ifndef ELC_MPI_RUNTIME_LINE_DATA_H
#define ELC_MPI_RUNTIME_LINE_DATA_H

#include "base/result.h"
#include "line/types.h"
#include "portable_format/writer.h"
#include "store/copy.h"
#include "store/held.h"
#include "store/store.h"

namespace elc::mpi {

class LineData {
 public:
  LineData(store::RankFile* file) : file_(file) {}

  // Where `writer`, the file's, writes to.
  format::Sink sink();
  // Behind state::begin_save(), between two sections: writes the data as they are now, if no copy of the process can do that.
  Result write(line::LineNumber line, format::Writer* writer);
  // Before that, and before the writer's first section. Whole: without what earlier lines have; so is one of which they are gone.
  void prepare(line::LineNumber line, format::Writer* writer, bool whole);
  // When everything else of the state is written: what writes the data while the program runs on begins.
  Result begin();
  // Whether they are in the file, and the writer goes on behind them.
  Result written(bool* done);
  // The file is complete, and the line has committed: what it has need not be written again.
  void committed();
  // They are not wanted any more.
  void end() { copy_.end(), held_.end(), holds_ = false; }
  // In a child that the program has forked.
  void forget() { copy_.forget(), held_.forget(); }

 private:
  Result write_bytes(const void* data, size_t size);
  // Why no copy of the process writes them, or no thread either: a sentence to go on from "because"; nullptr: one does.
  const char* no_copy() const;
  const char* no_thread(const char* no_copy);
  // What writes them instead of a copy of the process, which does not for this reason.
  Result write_without_copy(const char* why);
  Result copy_now();
  Result save_data(bool in_copy);
  void tell(const char* how, const char* why);

  store::RankFile* file_;
  format::Writer* writer_ = nullptr;
  line::LineNumber line_ = 0;
  bool by_copy_ = false;  // the line at hand
  store::Copy copy_;
  bool has_died_ = false;  // a copy, of itself
  format::Pieces pieces_;
  store::Held held_;
  bool holds_ = false;  // what is written goes there
  const char* told_ = nullptr;  // how the last line was written, and why so
  const char* told_why_ = nullptr;
};

}  // namespace elc::mpi

#endif
