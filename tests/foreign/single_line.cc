// A line of one process without MPI: one file.
#include <stdio.h>

#include "state/state.h"
#include "store/store.h"

namespace {

using elc::Result;

Result write(void* file, const void* data, size_t size) {
  if (fwrite(data, 1, size, static_cast<FILE*>(file)) == size) return Result();
  return Result::error("it cannot be written");
}

Result save(const char* path) {
  FILE* file = fopen(path, "wb");
  if (file == nullptr) return Result::error("it cannot be made");
  elc::format::Writer writer(&elc::state::types(), {file, write}, {});
  Result status = elc::state::save(writer, {});
  if (status.ok()) status = writer.finish();
  if (fclose(file) != 0 && status.ok()) status = Result::error("it cannot be closed");
  return status;
}

Result restore(const char* path) {
  elc::store::RankSource source;
  elc::format::Reader reader;
  ELC_TRY(source.open(path));
  ELC_TRY(reader.open(source.source()));
  ELC_TRY(elc::state::check(reader));
  ELC_TRY(elc::state::make_places());
  ELC_TRY(elc::state::fill(reader, {}));
  return elc::state::bring_back_files(reader, [](bool here) { return here; });
}

int done(const char* path, const Result& status) {
  if (!status.ok()) fprintf(stderr, "single: %s: %s\n", path, status.message());
  return status.ok();
}

}  // namespace

extern "C" int save_line(const char* path) { return done(path, save(path)); }
extern "C" int restore_line(const char* path) { return done(path, restore(path)); }
