// A line of one process without MPI: one file.
#include <stdio.h>

#include "state/state.h"

namespace {

using elc::Status;

Status write(void* file, const void* data, size_t size) {
  if (fwrite(data, 1, size, static_cast<FILE*>(file)) == size) return Status();
  return Status::error("the file cannot be written");
}

Status read_at(void* file, uint64_t offset, void* data, size_t size) {
  FILE* stream = static_cast<FILE*>(file);
  if (fseek(stream, static_cast<long>(offset), SEEK_SET) == 0 && fread(data, 1, size, stream) == size)
    return Status();
  return Status::error("the file cannot be read");
}

Status save(FILE* file) {
  elc::format::Writer writer(&elc::state::types(), {file, write}, {});
  ELC_TRY(elc::state::save(writer, {}));
  return writer.finish();
}

Status restore(FILE* file) {
  fseek(file, 0, SEEK_END);
  elc::format::Reader reader;
  ELC_TRY(reader.open({file, static_cast<uint64_t>(ftell(file)), read_at}));
  ELC_TRY(elc::state::check(reader));
  return elc::state::apply(reader, {});
}

int with(const char* path, const char* mode, Status (*work)(FILE*)) {
  FILE* file = fopen(path, mode);
  Status status = file == nullptr ? Status::error("it cannot be opened") : work(file);
  if (file != nullptr && fclose(file) != 0 && status.ok()) status = Status::error("it cannot be closed");
  if (!status.ok()) fprintf(stderr, "single: %s: %s\n", path, status.message());
  return status.ok();
}

}  // namespace

extern "C" int save_line(const char* path) { return with(path, "wb", save); }
extern "C" int restore_line(const char* path) { return with(path, "rb", restore); }
