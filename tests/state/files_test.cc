// Files and terminals: what was done to them after the line is undone.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <set>

#include "helper.h"
#include "state/process.h"

namespace {

// A directory of the test's own, and the current one meanwhile.
struct Playground {
  std::string path;
  std::string before;
  Playground() {
    char name[] = "/tmp/elc-state-XXXXXX", here[4096];
    path = mkdtemp(name);
    before = getcwd(here, sizeof here);
    REQUIRE(chdir(path.c_str()) == 0);
  }
  ~Playground() {
    if (chdir(before.c_str()) == 0 && system(("rm -rf " + path).c_str()) != 0) perror("rm");
  }
};

void write_file(const char* name, const std::string& content) {
  FILE* f = fopen(name, "w");
  REQUIRE(f != nullptr);
  fwrite(content.data(), 1, content.size(), f);
  fclose(f);
}

std::string read_file(const char* name) {
  FILE* f = fopen(name, "r");
  if (f == nullptr) return "(none)";
  std::string content;
  for (int c; (c = getc(f)) != EOF;) content += static_cast<char>(c);
  fclose(f);
  return content;
}

bool leftovers() { return system("ls | grep -q elc-restoring") == 0; }

struct Files {
  FILE *in = nullptr, *log = nullptr, *out = nullptr, *update = nullptr, *terminal = stdout, *none = nullptr;
  void enter() {
    ELC_FILEVAR(in), ELC_FILEVAR(log), ELC_FILEVAR(out), ELC_FILEVAR(update), ELC_FILEVAR(terminal),
        ELC_FILEVAR(none);
  }
  void open() {
    in = ELC_fopen("in", "r"), log = ELC_fopen("log", "a"), out = ELC_fopen("out", "w"),
    update = ELC_fopen("update", "r+b");
    REQUIRE((in != nullptr && log != nullptr && out != nullptr && update != nullptr));
  }
};

// A process that has read, written and appended, and its line.
void make_line(Line* line) {
  new_process();
  write_file("in", "one\ntwo\nthree\n");
  write_file("log", "old\n");
  write_file("update", "0123456789");
  Files files;
  files.enter();
  files.open();
  char line_of[100];
  REQUIRE(fgets(line_of, sizeof line_of, files.in) != nullptr);
  fprintf(files.log, "before\n");
  fprintf(files.out, "result %d\n", 1);
  fseek(files.update, 5, SEEK_SET);
  fputc('x', files.update);
  REQUIRE_OK(line->save());
  fprintf(files.log, "after\n");
  fprintf(files.out, "result %d\n", 2);
  fseek(files.update, 0, SEEK_SET);
  fprintf(files.update, "garbage garbage garbage");
  ELC_fcloseall();
  REQUIRE(read_file("log") == "old\nbefore\nafter\n");
}

// Goes on after the restart, and looks at the files.
void go_on(Files& files) {
  char line_of[100];
  REQUIRE(fgets(line_of, sizeof line_of, files.in) != nullptr);
  CHECK(std::string(line_of) == "two\n");
  fprintf(files.log, "again\n");
  fprintf(files.out, "result %d\n", 3);
  CHECK(ftell(files.update) == 6);
  fputc('y', files.update);
  CHECK(files.terminal == stdout);
  CHECK(files.none == nullptr);
  CHECK(ELC_fcloseall() == 0);
  CHECK(read_file("log") == "old\nbefore\nagain\n");
  CHECK(read_file("out") == "result 1\nresult 3\n");
  CHECK(read_file("update") == "01234xy789");
  CHECK_FALSE(leftovers());
}

}  // namespace

TEST_CASE("streams come back with content and position") {
  Playground playground;
  Line line;
  make_line(&line);
  new_process();
  Files files;
  files.terminal = nullptr;
  files.enter();
  REQUIRE_OK(line.restore());
  go_on(files);
  make_line(&line);  // written files are in the line: they may be gone
  unlink("out"), unlink("update");
  new_process();
  Files again;
  again.enter();
  REQUIRE_OK(line.restore());
  go_on(again);
}

TEST_CASE("a stream that has come to its end has done so in the restart") {
  Playground playground;
  Line line;
  make_line(&line);
  new_process();
  write_file("in", "one\n");
  Files files;
  files.enter();
  files.open();
  while (fgetc(files.in) != EOF) continue;
  while (fgetc(files.update) != EOF) continue;
  REQUIRE_OK(line.save());
  ELC_fcloseall();
  new_process();
  Files again;
  again.enter();
  REQUIRE_OK(line.restore());
  CHECK(feof(again.in) != 0);
  CHECK(feof(again.update) != 0);
  CHECK(feof(again.log) == 0);
  CHECK(ftell(again.in) == 4);
  write_file("in", "one\ntwo\n");
  CHECK(contains(text(line.save()), "the end of 'in', which is longer now"));
  clearerr(again.in);
  write_file("in", "one\n");
  REQUIRE_OK(line.save());  // of the other stream alone
  CHECK(fgetc(again.in) == EOF);
  REQUIRE_OK(line.save());
  ELC_fcloseall();
  write_file("in", "one\ntwo\n");
  new_process();
  Files longer;
  longer.enter();
  CHECK(contains(text(line.restore()), "the file 'in' has 8 bytes, and the program had come to its end at 4"));
}

TEST_CASE("streams that the set-up opens again stay the same FILE") {
  Playground playground;
  Line line;
  make_line(&line);
  new_process();
  Files files;
  files.enter();
  files.open();
  fprintf(files.log, "set-up\n");
  fprintf(files.out, "set-up\n");
  FILE* extra = ELC_fopen("extra", "w");
  REQUIRE(extra != nullptr);
  const Files copy = files;
  REQUIRE_OK(line.restore());
  CHECK(files.in == copy.in);
  CHECK(files.log == copy.log);
  CHECK(files.out == copy.out);
  go_on(files);
}

TEST_CASE("a line of a restarted process has its streams, too") {
  Playground playground;
  Line line;
  make_line(&line);
  new_process();
  Files files;
  files.enter();
  REQUIRE_OK(line.restore());
  Line second;
  REQUIRE_OK(second.save());
  fprintf(files.out, "lost\n");
  ELC_fcloseall();
  new_process();
  Files again;
  again.enter();
  REQUIRE_OK(second.restore());
  go_on(again);
}

TEST_CASE("files that cannot be brought back are refused, and nothing is changed") {
  Playground playground;
  Line line;
  std::string why;
  const auto refused = [&] {
    new_process();
    Files files;
    files.enter();
    why = text(line.check());
    CHECK(files.in == nullptr);
    CHECK(read_file("out") == "result 1\nresult 2\n");
    CHECK(read_file("update") == "garbage garbage garbage");
    CHECK_FALSE(leftovers());
  };
  make_line(&line);
  unlink("in");
  refused();
  CHECK(contains(why, "'in'"));
  CHECK(contains(why, "is not there"));
  make_line(&line);
  write_file("in", "on");
  refused();
  CHECK(contains(why, "'in' has 2 bytes"));
  make_line(&line);
  write_file("log", "old");
  refused();
  CHECK(contains(why, "'log' has 3 bytes"));
  make_line(&line);
  unlink("log");
  refused();
  CHECK(contains(why, "'log'"));
  make_line(&line);
  unlink("in");
  mkdir("in", 0777);
  refused();
  CHECK(contains(why, "'in'"));
}

TEST_CASE("a line that is damaged where the check has not read it changes no file") {
  Playground playground;
  std::vector<double> before(500000, 1.5), after(before.size());
  const auto enter = [](Files& files, std::vector<double>& data) {
    files.enter();
    double* const large = data.data();
    ELC_ARRAY(large, data.size());
  };
  new_process();
  write_file("in", ""), write_file("log", "old\n"), write_file("update", "0123456789");
  Files files;
  enter(files, before);
  files.open();
  Line line;
  REQUIRE_OK(line.save());
  fprintf(files.log, "after\n"), fprintf(files.out, "after\n"), fprintf(files.update, "after\n");
  ELC_fcloseall();
  const std::vector<uint8_t> whole = line.bytes;
  line.bytes[whole.size() / 2] ^= 1;
  new_process();
  Files again;
  enter(again, after);
  REQUIRE_OK(line.check());
  const std::string why = text(line.restore());
  CHECK_MESSAGE(contains(why, "is damaged (its checksum)"), why);
  CHECK(read_file("log") == "old\nafter\n");
  CHECK(read_file("out") == "after\n");
  CHECK(read_file("update") == "after\n6789");
  CHECK_FALSE(leftovers());
  line.bytes = whole;
  new_process();
  enter(again, after);
  REQUIRE_OK(line.restore());
  CHECK(after == before);
  CHECK(read_file("log") == "old\n");
  CHECK(read_file("out").empty());
  CHECK(read_file("update") == "0123456789");
}

TEST_CASE("several streams in an array; what was given back to one is in no line") {
  Playground playground;
  write_file("in", "abcdef");
  new_process();
  FILE* both[2] = {ELC_fopen("in", "r"), ELC_fopen("in", "r")};
  ELC_FILEVAR(both);
  CHECK((getc(both[0]) == 'a' && getc(both[1]) == 'a' && getc(both[1]) == 'b'));
  Line line, none;
  REQUIRE_OK(line.save());
  ungetc('b', both[1]);  // as it was read
  REQUIRE_OK(none.save());
  CHECK(getc(both[1]) == 'b');
  ungetc('x', both[1]);
  CHECK(contains(text(none.save()), "ungetc() has given a stream another character"));
  CHECK((getc(both[1]) == 'x' && getc(both[1]) == 'c'));
  new_process();
  both[0] = both[1] = nullptr;
  ELC_FILEVAR(both);
  REQUIRE_OK(line.restore());
  CHECK((getc(both[0]) == 'b' && getc(both[1]) == 'c'));
  ELC_fcloseall();
}

TEST_CASE("a reader that has gone behind the end of its file") {
  Playground playground;
  write_file("in", "abcdef");
  new_process();
  FILE* in = ELC_fopen("in", "r");
  ELC_FILEVAR(in);
  REQUIRE(fseek(in, 102, SEEK_SET) == 0);
  Line line;
  REQUIRE_OK(line.save());
  for (const bool is_shorter : {false, true}) {
    if (is_shorter) write_file("in", "abcde");
    new_process();
    in = nullptr;
    ELC_FILEVAR(in);
    const std::string restored = text(line.restore());
    if (is_shorter) {
      CHECK(contains(restored, "the file 'in' has 5 bytes, but had at least 6 when the line was taken"));
    } else {
      REQUIRE(restored == "ok");
      CHECK((ftell(in) == 102 && getc(in) == EOF));
    }
    ELC_fcloseall();
  }
}

TEST_CASE("what is appended behind a line by the name of a device is no file of lines") {
  Playground playground;
  new_process();
  static int notes;
  notes = 0;
  elc::state::process().streams.keep_notes([](uint64_t, const elc::Bytes&) { return ++notes, elc::Result(); });
  elc::state::process().streams.take_notes({}, 1);
  FILE* const under = fopen("under", "w");
  FILE* const device = ELC_fopen(("/proc/self/fd/" + std::to_string(fileno(under))).c_str(), "a");
  REQUIRE(device != nullptr);
  CHECK(notes == 0);
  FILE* const own = ELC_fopen("own", "a");
  CHECK((own != nullptr && notes == 1));
  fclose(under);
  ELC_fcloseall();
}

#ifdef __GLIBC__  // of others it is not known what was written through a stream
TEST_CASE("a file to which something is written first when its line is nearly complete costs no line") {
  Playground playground;
  new_process();
  FILE* out = ELC_fopen("out", "w");
  ELC_FILEVAR(out);
  Line line;
  REQUIRE_OK(line.save());
  const auto check = [] { return elc::state::check_empty(elc::state::written_files()[0]); };
  fputs("first\n", out);
  CHECK(check().ok());
  fflush(out);
  CHECK(check().ok());
  write_file("out", "first\nof another process");
  CHECK(contains(text(check()), "'out'"));
  ELC_fclose(out);
  write_file("out", "first\n");
  CHECK(contains(text(check()), "'out'"));
  new_process();
  ELC_FILEVAR(out);
  REQUIRE_OK(line.restore());
  CHECK(read_file("out").empty());
  ELC_fcloseall();
}

TEST_CASE("a file to which nothing was written is empty after a restart, and nobody's") {
  Playground playground;
  new_process();
  FILE *out = ELC_fopen("out", "w"), *other = nullptr;
  ELC_FILEVAR(out);
  ELC_FILEVAR(other);
  const auto kept = [&] { return elc::state::written_files()[0].kept; };
  Line line, later;
  REQUIRE_OK(line.save());
  CHECK(kept() == elc::state::Kept::kNothing);
  CHECK(elc::state::check_empty(elc::state::written_files()[0]).ok());
  write_file("out", "of another process");
  REQUIRE_OK(later.save());
  CHECK(kept() == elc::state::Kept::kNothing);
  CHECK(contains(text(elc::state::check_empty(elc::state::written_files()[0])), "'out'"));
  rename("out", "elsewhere"), write_file("out", "");
  CHECK(contains(text(elc::state::check_empty(elc::state::written_files()[0])), "replaced"));
  for (const bool is_there : {true, false}) {
    if (!is_there) unlink("out");
    new_process();
    ELC_FILEVAR(out);
    ELC_FILEVAR(other);
    REQUIRE_OK(line.restore());
    CHECK(read_file("out").empty());
    CHECK_FALSE(leftovers());
    REQUIRE_OK(later.save());
    CHECK(kept() == elc::state::Kept::kNothing);
    fputs("something", out);
    REQUIRE_OK(later.save());
    CHECK(kept() == elc::state::Kept::kContent);
    ELC_fcloseall();
    CHECK(read_file("out") == "something");
  }
}

TEST_CASE("a stream that was moved back to the beginning is one that was written, after a restart as well") {
  Playground playground;
  new_process();
  FILE* out = ELC_fopen("out", "w+");
  ELC_FILEVAR(out);
  fputs("head", out), rewind(out);
  Line line, later;
  REQUIRE_OK(line.save());
  new_process();
  ELC_FILEVAR(out);
  REQUIRE_OK(line.restore());
  REQUIRE_OK(later.save());
  CHECK(elc::state::written_files()[0].kept == elc::state::Kept::kContent);
  ELC_fcloseall();
}

TEST_CASE("what a program has moved, or has open twice, it may have written") {
  Playground playground;
  for (const char* mode : {"w", "w+", "r+"}) {
    new_process();
    write_file("out", "");
    FILE* out = ELC_fopen("out", mode);
    if (mode[0] == 'w') fputs("text", out), rewind(out);
    Line line;
    REQUIRE_OK(line.save());
    CHECK(elc::state::written_files()[0].kept == elc::state::Kept::kContent);
    ELC_fcloseall();
  }
  for (const char* mode : {"w", "a", "r"}) {
    new_process();
    ELC_fopen("out", "w");
    FILE* again = ELC_fopen("out", mode);
    if (mode[0] != 'r') fputs("content", again);  // which would be an error
    Line line;
    REQUIRE_OK(line.save());
    CHECK(elc::state::written_files()[0].kept == elc::state::Kept::kContent);
    ELC_fcloseall();
  }
  new_process();
  FILE* out = ELC_fopen("out", "w");
  REQUIRE(write(fileno(out), "text", 4) == 4);
  Line line;
  REQUIRE_OK(line.save());
  CHECK(elc::state::written_files()[0].kept == elc::state::Kept::kContent);
  ELC_fcloseall();
}
#endif

TEST_CASE("a file that cannot be saved makes the line be refused") {
  Playground playground;
  new_process();
  FILE* out = ELC_fopen("out", "w");
  fputs("text", out);
  unlink("out");
  Line line;
  CHECK(contains(text(line.save()), "'out'"));
  ELC_fclose(out);
  REQUIRE_OK(line.save());
}

// The program had closed them by the time of the line: nothing would bring them back.
TEST_CASE("the set-up of a restart neither empties nor lengthens what is there") {
  Playground playground;
  Line line;
  make_line(&line);
  write_file("mesh", "as it was\n");
  new_process();
  elc::state::set_recovering(true);
  for (const auto& [name, mode] : {std::pair{"mesh", "w"}, {"mesh", "a"}, {"mesh", "w+"}, {"new", "w"}}) {
    FILE* stream = ELC_fopen(name, mode);
    REQUIRE(stream != nullptr);
    CHECK(fputs("set-up\n", stream) >= 0);
    CHECK(ftell(stream) == 7);
    CHECK(ELC_fclose(stream) == 0);
  }
  FILE* all = ELC_fopen("mesh", "a+");
  REQUIRE(all != nullptr);
  CHECK(fgetc(all) == 'a');
  CHECK(read_file("mesh") == "as it was\n");
  CHECK(read_file("new") == "set-up\n");
  Files files;
  files.enter();
  files.open();
  fprintf(files.out, "set-up\n");
  const Files copy = files;
  REQUIRE_OK(line.restore());
  elc::state::set_recovering(false);
  CHECK((files.log == copy.log && files.out == copy.out));
  go_on(files);
  FILE* stream = ELC_fopen("mesh", "w");
  REQUIRE(stream != nullptr);
  CHECK(ELC_fclose(stream) == 0);
  CHECK(read_file("mesh").empty());
}

TEST_CASE("what the set-up of a restart wrote to a stream that is closed then is not lost in silence") {
  Playground playground;
  new_process();
  Line line;
  FILE* log = ELC_fopen("log", "a");
  REQUIRE_OK(line.save());
  REQUIRE(ELC_fclose(log) == 0);
  new_process();
  FILE* extra = ELC_fopen("extra", "w");
  fputs("text", extra);
  struct rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const struct rlimit none = {0, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
  const std::string restored = text(line.restore());
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  signal(SIGXFSZ, handler);
  CHECK(contains(restored, "the file 'extra' is lost"));
}

TEST_CASE("what a line could not flush is lost: no later line has the file without it, and the program is told") {
  Playground playground;
  new_process();
  Line line;
  FILE* log = ELC_fopen("log", "a");
  fputs("lost", log);
  struct rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const struct rlimit none = {0, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
  CHECK(contains(text(line.save()), "the file 'log' is lost"));
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  signal(SIGXFSZ, handler);
  fputs("not lost", log);
  CHECK(contains(text(line.save()), "the file 'log' is lost"));
  clearerr(log);
  CHECK(contains(text(line.save()), "the file 'log' is lost"));
  CHECK(ELC_fclose(log) == EOF);
  CHECK(errno == EFBIG);
  REQUIRE_OK(line.save());
}

TEST_CASE("an error that the program has not seen to refuses lines, as a restart would hide it") {
  Playground playground;
  new_process();
  Line line;
  FILE* log = ELC_fopen("log", "a");
  CHECK(getc(log) == EOF);
  REQUIRE(ferror(log) != 0);
  CHECK(contains(text(line.save()), "an error of the stream of 'log'"));
  clearerr(log);
  REQUIRE_OK(line.save());
  CHECK(ELC_fclose(log) == 0);
}

TEST_CASE("permissions stay, the null device has no content") {
  Playground playground;
  new_process();
  write_file("real", "");
  chmod("real", 0640);
  FILE* out = ELC_fopen("real", "w+");
  FILE* null = ELC_fopen("/dev/null", "w");
  ELC_FILEVAR(out), ELC_FILEVAR(null);
  fputs("text", out);
  Line line;
  REQUIRE_OK(line.save());
  ELC_fcloseall();
  write_file("real", "other");
  new_process();
  ELC_FILEVAR(out), ELC_FILEVAR(null);
  REQUIRE_OK(line.restore());
  REQUIRE(null != nullptr);
  struct stat status;
  REQUIRE(stat("real", &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(fputs("nothing", null) >= 0);
  ELC_fcloseall();
  CHECK(read_file("real") == "text");
}

TEST_CASE("a stream that a restart could not open refuses lines, which is told when it is opened") {
  Playground playground, elsewhere;
  REQUIRE(chdir(playground.path.c_str()) == 0);
  write_file("real", "text");
  mkdir("below", 0777);
  REQUIRE(symlink("real", "link") == 0);
  REQUIRE(symlink("below", "inside") == 0);
  REQUIRE(symlink(elsewhere.path.c_str(), "outside") == 0);
  REQUIRE(mkfifo("pipe", 0600) == 0);
  const std::string far = elsewhere.path + "/file", near = playground.path + "/file";
  Line line;
  const auto refusal = [&](const std::string& path, const char* mode, const std::string& roots) {
    new_process();
    elc::state::allow_files(roots.c_str());
    FILE* file = ELC_fopen(path.c_str(), mode);
    REQUIRE(file != nullptr);
    const std::string why = text(line.save());
    ELC_fcloseall();
    return why;
  };
  CHECK(refusal("file", "w", "") == "ok");
  CHECK(refusal("below/../below/file", "a", "") == "ok");
  CHECK(refusal("inside/file", "a", "") == "ok");
  CHECK(refusal(near, "r", "") == "ok");
  for (const char* mode : {"w", "a", "r"}) {
    for (const std::string& path : {far, std::string("outside/file"), "../" + elsewhere.path.substr(5) + "/file"}) {
      const std::string why = refusal(path, mode, "");
      CHECK(contains(why, path.c_str()));
      CHECK(contains(why, ("set ELC_FILE_ROOTS=" + elsewhere.path).c_str()));
      CHECK(refusal(path, mode, elsewhere.path) == "ok");
      CHECK(refusal(path, mode, "/nowhere::" + elsewhere.path + "/:/etc") == "ok");
      CHECK(contains(refusal(path, mode, elsewhere.path + "x:" + elsewhere.path.substr(0, 12)), "ELC_FILE_ROOTS"));
    }
    CHECK(contains(refusal("link", mode, ""), "is a symbolic link"));
  }
  CHECK(contains(refusal("pipe", "r+", ""), "is not a regular file"));
  CHECK(contains(refusal("/dev/zero", "r", ""), "is not a regular file"));
}

TEST_CASE("a stream that refuses lines is told once, however often its file is opened") {
  Playground playground;
  new_process();
  elc::state::allow_files("");
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  for (int i = 0; i < 3; ++i) ELC_fclose(ELC_fopen("/dev/zero", "r"));
  dup2(before, STDERR_FILENO);
  close(before), close(ends[1]);
  std::string said(10000, '\0');
  const ssize_t size = read(ends[0], said.data(), said.size());
  close(ends[0]);
  REQUIRE(size > 0);
  said.resize(static_cast<size_t>(size));
  CHECK(contains(said, "no line can be taken while '/dev/zero' is open"));
  CHECK(said.find('\n') == said.size() - 1);
}

// A line as a program makes it that has one stream open, as anybody can make it.
Line line_of(const char* path, const char* mode) {
  new_process();
  elc::state::allow_files("/tmp");  // not "/", in whose place an emulator shows the system of its programs
  FILE* file = ELC_fopen(path, mode);
  REQUIRE(file != nullptr);
  if (mode[0] != 'r') fputs("forged", file);
  Line line;
  REQUIRE_OK(line.save());
  ELC_fcloseall();
  return line;
}

TEST_CASE("a restart touches no file outside, of another user, that is none, or through a link") {
  Playground playground, elsewhere;
  REQUIRE(chdir(playground.path.c_str()) == 0);
  const std::string outside = elsewhere.path + "/victim", inside = playground.path + "/file";
  const auto restart = [](Line& line) {
    new_process();
    return text(line.restore());
  };
  for (const char* mode : {"w", "a", "r"}) {
    CAPTURE(mode);
    write_file(outside.c_str(), "precious and long");
    Line line = line_of(outside.c_str(), mode);
    write_file(outside.c_str(), "precious and longer");
    const std::string why = restart(line);
    CHECK(contains(why, ("'" + outside + "'").c_str()));
    CHECK(contains(why, ("set ELC_FILE_ROOTS=" + elsewhere.path).c_str()));
    CHECK(read_file(outside.c_str()) == "precious and longer");
    unlink(outside.c_str());
    CHECK(restart(line) != "ok");
    CHECK(read_file(outside.c_str()) == "(none)");

    // What has the name by the time of the restart.
    write_file("file", "here");
    line = line_of(inside.c_str(), mode);
    write_file(outside.c_str(), "precious and long");
    unlink("file");
    REQUIRE(symlink(outside.c_str(), "file") == 0);
    CHECK(contains(restart(line), "is a symbolic link"));
    unlink("file");
    REQUIRE(symlink("/nowhere/at/all", "file") == 0);
    CHECK(contains(restart(line), "is a symbolic link"));
    unlink("file");
    REQUIRE(mkfifo("file", 0600) == 0);
    CHECK(contains(restart(line), "is not a regular file"));
    unlink("file");
    if (geteuid() == 0 && mode[0] != 'r') {
      write_file("file", "here and more of it");
      REQUIRE(chown("file", 12345, 12345) == 0);
      CHECK(contains(restart(line), "belongs to user 12345"));
      CHECK(read_file("file") == "here and more of it");
      unlink("file");
    }

    // A directory that has become a link.
    mkdir("place", 0777);
    write_file("place/victim", "precious and long");
    line = line_of("place/victim", mode);
    REQUIRE(system("rm -r place") == 0);
    REQUIRE(symlink(elsewhere.path.c_str(), "place") == 0);
    CHECK(contains(restart(line), "ELC_FILE_ROOTS"));
    CHECK(read_file(outside.c_str()) == "precious and long");
    unlink("place");
  }
}

TEST_CASE("what lies in the place of the temporary file is not written to") {
  Playground playground;
  Line line;
  make_line(&line);
  write_file("victim", "precious");
  for (const char* name : {"out.elc-restoring-0", "out.elc-restoring-1", "out.elc-restoring-2", "out.elc-restoring-3"})
    REQUIRE(symlink("victim", name) == 0);
  for (const char* name : {"update.elc-restoring-2", "update.elc-restoring-3"}) REQUIRE(mkfifo(name, 0600) == 0);
  new_process();
  Files files;
  files.enter();
  REQUIRE_OK(line.restore());
  struct stat about;
  REQUIRE(lstat("out", &about) == 0);
  CHECK(S_ISREG(about.st_mode));
  CHECK(read_file("victim") == "precious");
  REQUIRE(system("rm -f *.elc-restoring-*") == 0);
  go_on(files);
}

TEST_CASE("a line says what it relies on: files whose content it does not have, and the names of all") {
  Playground playground;
  new_process();
  mkdir("below", 0777);
  write_file("in", "text");
  ELC_fopen("in", "r"), ELC_fopen("below/log", "a"), ELC_fopen("below/out", "w");
  Line line;
  REQUIRE_OK(line.save());
  std::set<std::string> relied;
  for (elc::state::Relied& one : elc::state::take_relied()) {
    struct stat about, other;
    REQUIRE(fstat(one.file.get(), &about) == 0);
    for (const char* name : {"in", "below/log", "below/out", "below", "."})
      if (stat(name, &other) == 0 && other.st_ino == about.st_ino) relied.insert(name);
  }
  CHECK(relied == std::set<std::string>{"in", "below/log", "below", "."});
  CHECK(elc::state::take_relied().empty());
  ELC_fcloseall();
}

TEST_CASE("a large file goes through in pieces") {
  Playground playground;
  new_process();
  FILE* out = ELC_fopen("large", "w+");
  ELC_FILEVAR(out);
  std::string content;
  for (int i = 0; i < 1000000; ++i) content += static_cast<char>(i * 7 + i / 1000);
  fwrite(content.data(), 1, content.size(), out);
  fseek(out, 1234, SEEK_SET);
  Line line;
  REQUIRE_OK(line.save());
  ELC_fcloseall();
  write_file("large", "");
  new_process();
  ELC_FILEVAR(out);
  REQUIRE_OK(line.restore());
  CHECK(ftell(out) == 1234);
  CHECK(getc(out) == static_cast<unsigned char>(content[1234]));
  ELC_fcloseall();
  CHECK(read_file("large") == content);
}

TEST_CASE("a restart killed anywhere can be restarted") {
  const uint64_t seed = test_seed("killed rollback");
  Random random = {seed};
  for (int round = 0; round < 40; ++round) {
    CAPTURE(seed);
    CAPTURE(round);
    Playground playground;
    Line line;
    make_line(&line);
    for (int kills = 0; kills < 3; ++kills) {
      const pid_t child = fork();
      if (child == 0) {
        new_process();
        Files files;
        files.enter();
        _exit(line.restore().ok() ? 0 : 1);
      }
      const timespec moment = {0, static_cast<long>(random.below(2000000))};
      nanosleep(&moment, nullptr);
      kill(child, SIGKILL);
      int status;
      REQUIRE(waitpid(child, &status, 0) == child);
      CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
    }
    new_process();
    Files files;
    files.enter();
    REQUIRE_OK(line.restore());
    go_on(files);
  }
}

TEST_CASE("the attributes of a terminal") {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
    MESSAGE("no pseudo-terminals here");
    return;
  }
  const std::string name = ptsname(master);
  const pid_t child = fork();
  if (child == 0) {  // a session of its own, whose terminal is its standard input
    setsid();
    const int slave = open(name.c_str(), O_RDWR);
    if (slave < 0 || dup2(slave, 0) < 0) _exit(2);
    new_process();
    termios raw, other;
    if (tcgetattr(0, &raw) != 0) _exit(3);
    raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);
    raw.c_cc[VMIN] = 3, raw.c_cc[VTIME] = 7, raw.c_cc[VINTR] = 5, raw.c_cc[VKILL] = _POSIX_VDISABLE;
    tcsetattr(0, TCSANOW, &raw);
    Line line;
    if (!line.save().ok()) _exit(4);
    other = raw;
    other.c_lflag |= ECHO | ICANON;
    other.c_cc[VINTR] = 3, other.c_cc[VMIN] = 1, other.c_cc[VKILL] = 4;
    tcsetattr(0, TCSANOW, &other);
    if (!line.restore().ok() || tcgetattr(0, &other) != 0) _exit(5);
    const bool same = other.c_lflag == raw.c_lflag && memcmp(other.c_cc, raw.c_cc, sizeof raw.c_cc) == 0;
    _exit(same ? 0 : 6);
  }
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  close(master);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

// What the others of a job are told of this process.
static std::vector<bool> told;

TEST_CASE("a process that cannot read what it has of the files answers what all ask together") {
  const Playground playground;
  Line line;
  make_line(&line);
  new_process();
  Files files;
  files.enter();
  elc::format::Reader reader;
  REQUIRE_OK(line.open(&reader));
  REQUIRE_OK(elc::state::check(reader));
  REQUIRE_OK(elc::state::make_places());
  REQUIRE_OK(elc::state::fill(reader, test_codec()));
  line.bytes.clear();
  told.clear();
  CHECK(text(elc::state::bring_back_files(reader, [](bool here) { return told.push_back(here), here; })) == "short file");
  CHECK(told == std::vector<bool>{false});
}
