#include "tests/format/layers.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "elc.h"
#include "line/event_logging.h"
#include "portable_format/file.h"
#include "state/process.h"
#include "state/state.h"
#include "store/files.h"
#include "store/store.h"
#include "tests/format/examine.h"
#include "tests/format/support.h"
#include "tool/lines.h"

namespace elc::format {
namespace {

namespace fs = std::filesystem;

void require(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

std::string text_of(const Bytes& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// A directory of lines of this process alone, removed at its end.
struct Scratch {
  std::string dir;
  Scratch() {
    std::string name = (fs::temp_directory_path() / "elc-examine-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr, "no temporary directory");
    dir = name;
    fs::create_directory(dir + "/line-000001");
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(dir, ignored);
  }
  std::string put(const char* name, const std::string& content) const {
    const std::string path = dir + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
};

const Scratch& scratch() {
  static const Scratch scratch;
  return scratch;
}

// While it lives, standard output goes to a file.
class Redirected {
 public:
  explicit Redirected(const std::string& path) : saved_(dup(STDOUT_FILENO)) {
    flush();
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(file, STDOUT_FILENO);
    close(file);
  }
  ~Redirected() {
    flush();
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }

 private:
  static void flush() {
    std::cout.flush();
    fflush(stdout);
  }
  int saved_;
};

// ---- A program with a bit of everything ----

struct Node {
  int16_t id;
  Node* next;
  double x[3];
};

struct Shape {
  int kind;
  union {
    Node* node;
    long number;
    char name[9];
  } body;
  wchar_t sign;
};

void step_once() {}
int active_body(const void*, const void* enclosing) { return static_cast<const Shape*>(enclosing)->kind; }

struct Program {
  int step = 0, handle = 0;
  long counters[4] = {};
  bool open = false;
  long double weight = 0;
  Shape shapes[2] = {};
  Node* list = nullptr;
  Node local = {};
  FILE* stream = nullptr;
  void (*action)() = nullptr;
  unsigned char raw[5] = {};

  // `bytes`: with some that only go to a machine of the same representation.
  explicit Program(bool bytes) {
    state::reset();
    state::recovering_hook = nullptr;
    for (uint32_t k = format::kMpiComm; k < format::kKindCount; ++k)
      state::set_handle_size(static_cast<format::Kind>(k), k == format::kMpiStatus ? 24 : sizeof(int));
    const ELC_Field node_fields[] = {
        {"id", offsetof(Node, id), ELC_INT16, 1}, ELC_POINTER_FIELD(Node, next), ELC_FIELD(Node, x)};
    const ELC_Type node = ELC_Struct("node", sizeof(Node), 3, node_fields);
    const ELC_Field members[] = {
        {"node", 0, ELC_POINTER, 1}, {"number", 0, ELC_LONG, 1}, {"name", 0, ELC_CHAR, 9}};
    const ELC_Type body = ELC_Union("body", sizeof(Shape::body), 3, members, active_body);
    const ELC_Field shape_fields[] = {
        ELC_FIELD(Shape, kind), {"body", offsetof(Shape, body), body, 1}, ELC_FIELD(Shape, sign)};
    const ELC_Type shape = ELC_Struct("shape", sizeof(Shape), 3, shape_fields);
    ELC_VAR(step), ELC_VAR(counters), ELC_VAR(open), ELC_VAR(weight), ELC_STRUCT(shapes, shape),
        ELC_PTR(list);
    ELC_Register("handle", &handle, ELC_MPI_COMM, 1);
    ELC_FILEVAR(stream), ELC_Register("action", &action, ELC_FUNCTION, 1);
    if (bytes) ELC_RAW(raw);
    ELC_FUNC(step_once);
    ELC_Enter("solve");
    ELC_Set_label(3);
  state::take_label();
    ELC_STRUCT(local, node);
    list = static_cast<Node*>(ELC_new(node, 2));
    list->next = list + 1;
    list[1].next = &local;
    local.next = static_cast<Node*>(bytes ? ELC_malloc(3) : ELC_new(ELC_SHORT, 3));
    if (bytes) list[0].next = static_cast<Node*>(ELC_malloc(2 * sizeof(Node) + 3));
    if (bytes) ELC_Set_type(list[0].next, node);
    action = step_once;
    stream = stderr;
  }
  ~Program() {
    for (const state::Block& block : state::process().heap.slots()) free(block.address);
    state::reset();
  }
};

const state::HandleCodec kCodec = {nullptr,
                                   [](void*, Kind, const void* handle, uint64_t* number) {
                                     int value;
                                     memcpy(&value, handle, sizeof value);
                                     *number = static_cast<uint64_t>(value);
                                     return Result();
                                   },
                                   [](void*, Kind, uint64_t number, void* handle) {
                                     const int value = static_cast<int>(number);
                                     memcpy(handle, &value, sizeof value);
                                     return Result();
                                   },
                                   nullptr, nullptr};

// What was restored can be saved, and restored again. Only a line without streams is applied: files are not
// written here.
void examine_state(Reader* reader) {
  Program program(reader->representation() == Representation::here());
  (void)state::load_frames(*reader);
  if (!state::check(*reader).ok() || state::process().streams.saved_count() > 0) return;
  if (!state::make_places().ok() || !state::fill(*reader, kCodec).ok()) return;
  (void)state::address_of({1, 0});
  state::set_recovering(false);
  ELC_Set_label(3);
  MemoryFile again;
  Writer writer(&state::types(), again.sink());
  Result status = state::save(writer, kCodec);
  if (status.ok()) status = writer.finish();
  if (!status.ok()) return;  // a union may now say that it holds another member
  Reader second;
  require(second.open(again.source()).ok(), "what was restored was saved, and cannot be opened");
  status = state::check(second);
  require(status.ok(), status.message());
}

// ---- The other parts ----

void examine_label(Reader* reader) {
  store::Label label;
  (void)store::read_label(*reader, &label);
}

line::Host silent_host() {
  line::Host host;
  host.send_control = [](void*, line::Rank, const uint8_t*, size_t) {};
  return host;
}

void examine_line(Reader* reader) {
  Bytes bytes;
  if (!reader->read_section("line", ~uint64_t{0}, &bytes).ok()) return;
  line::Saved saved, second;
  Decoder in(bytes);
  if (!line::Saved::decode(in, &saved).ok()) return;
  Bytes once, twice;
  Encoder first(&once), again(&twice);
  saved.encode(first);
  Decoder copy(once);
  require(line::Saved::decode(copy, &second).ok(), "section line: what was decoded cannot be encoded");
  second.encode(again);
  require(text_of(once) == text_of(twice), "section line: encoding is not the reverse of decoding");
  line::EventLogging process(silent_host(), 0, 4, {});
  if (!process.load(static_cast<line::Saved&&>(saved)).ok()) return;
  process.add_comm(1, 4);
  process.start_recovery();
  process.poll();
}

// What a command prints.
template <class Command>
std::string output_of(Command command) {
  const std::string path = scratch().dir + "/output";
  {
    const Redirected output(path);
    try {
      (void)command();
    } catch (const tool::Refusal&) {
      return "";
    }
  }
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

void examine_show(const std::string& path) {
  tool::ShowOptions options;
  options.what = path;
  options.values = true;
  for (const char c : output_of([&] { return tool::show(options); }))
    require(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f),
            "a control character is shown");
  options.json = true;
  const std::string shown = output_of([&] { return tool::show(options); });
  require(shown.empty() || nlohmann::json::accept(shown), "what is shown is not JSON");
}

}  // namespace

void examine_layers(const std::string& bytes) {
  MemoryFile file;
  file.bytes = bytes;
  Reader reader;
  if (!reader.open(file.source()).ok()) return;
  examine_label(&reader);
  examine_line(&reader);
  examine_state(&reader);
  examine_show(scratch().put("file", bytes));
}

void examine_records(const std::string& record) {
  Bytes sealed;
  sealed.append(reinterpret_cast<const uint8_t*>(record.data()), record.size());
  store::seal(&sealed);
  const char* dir = scratch().dir.c_str();
  for (const std::string& content : {record, text_of(sealed)}) {
    for (const char* name : {"line-000001/commit", "finished"}) scratch().put(name, content);
    store::Commit commit;
    (void)store::read_commit(dir, 1, &commit);
    store::Survey survey;
    uint64_t line = 0;
    if (store::survey(dir, &survey).ok()) (void)store::line_to_restart(survey, dir, Config(), &line);
    for (const bool json : {false, true}) (void)output_of([&] { return tool::list(dir, json); });
  }
}

void examine_reader_input(const uint8_t* data, size_t size) {
  if (size > 0 && data[0] == 3)
    return examine_records(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  const std::string file = file_of_input(data, size);
  examine(file);
  examine_layers(file);
}

std::string sample_line(size_t machine) {
  const std::vector<Machine> all = machines();
  WriterOptions options;
  options.representation = &all[machine].representation;
  Program program(*options.representation == Representation::here());
  MemoryFile file;
  Writer writer(&state::types(), file.sink(), options);
  store::write_label(writer, {7, 1234, 0, 4});
  const Result status = state::save(writer, kCodec);
  require(status.ok(), status.message());
  line::Saved saved;
  saved.line = 7;
  saved.postings = 3;
  saved.replay = true;
  saved.comms.push_back({1, 9, 4, false});
  saved.classes.push_back({1, 1, 5, 1});
  saved.classes.push_back({2, 1, 5, -1});
  line::SavedMessage message;
  message.comm = 1;
  message.message = make<line::Message>();
  message.message->source = 1;
  message.message->tag = 5;
  message.message->content.append(reinterpret_cast<const uint8_t*>("0123456789abcdef"), 16);
  saved.messages.push_back(std::move(message));
  line::SavedPosting posting;
  posting.number = 2;
  posting.comm = 1;
  saved.receives.push_back(std::move(posting));
  line::SavedResult result;
  result.comm = 1;
  result.number = 9;
  saved.crossing.push_back(std::move(result));
  for (uint32_t kind = 1; kind <= static_cast<uint32_t>(line::NdKind::kImprobe); ++kind) {
    line::SavedOutcome outcome;
    outcome.kind = static_cast<line::NdKind>(kind);
    outcome.value.append(reinterpret_cast<const uint8_t*>("\0\0\0\1"), 4);
    saved.outcomes.push_back(std::move(outcome));
  }
  saved.bound.push_back({2, 1, 5});
  writer.begin_section("line");
  saved.encode(writer.encoder());
  require(writer.finish().ok(), "the sample cannot be written");
  return file.bytes;
}

}  // namespace elc::format
