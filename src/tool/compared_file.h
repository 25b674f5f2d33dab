// A file of a rank of a line, opened to be compared with another.
#ifndef ELC_TOOL_COMPARED_FILE_H
#define ELC_TOOL_COMPARED_FILE_H

#include <stdint.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/vector.h"
#include "lines.h"
#include "line/saved.h"
#include "portable_format/reader.h"
#include "portable_format/types.h"
#include "state/image.h"
#include "state/streams.h"

namespace elc::tool {

// One of the two files, whose parts but for the values have been read. Throws Refusal.
struct ComparedFile {
  explicit ComparedFile(const std::string& where);

  void check(const Result& status) const {
    if (!status.ok())
      throw Refusal(status.system_failed() ? kCannot : kDamaged, path + ": " + reader.explain(status).message());
  }
  bool has(const char* name) const { return reader.has_section(name); }
  format::Cursor section(const char* name);
  const format::TypeTable& types() const { return reader.types(); }
  std::string type_text(format::TypeId type, uint64_t count) const;
  std::string owner(const state::SavedVariable& v) const;

  // "&field[3].x", "heap block 7, [2]": the same for two files whose blocks have other numbers.
  std::string pointer_text(const format::PointerLeaf& p) const;

  std::string path;
  store::RankSource source;
  format::Reader reader;
  state::Image image;
  Vector<state::SavedStream> streams;
  line::Saved messages;
};

// Leaves of a block, from the first to the one behind the last.
using Leaves = std::vector<std::pair<uint64_t, uint64_t>>;

// What operations that are pending may write meanwhile, by the numbers of blocks. Of a datatype of the program's own that is all
// behind its beginning.
std::map<uint64_t, Leaves> pending_in(ComparedFile& file);

}  // namespace elc::tool

#endif
