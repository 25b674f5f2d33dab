// Files and terminals: what was done to them after the line is undone.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "helper.h"

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

TEST_CASE("a symbolic link stays one, permissions stay, a device has no content") {
  Playground playground;
  new_process();
  write_file("real", "");
  mkdir("sub", 0777);
  REQUIRE(symlink("../real", "sub/next") == 0);
  REQUIRE(symlink("sub/next", "link") == 0);
  chmod("real", 0640);
  FILE* out = ELC_fopen("link", "w+");
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
  REQUIRE(lstat("link", &status) == 0);
  CHECK(S_ISLNK(status.st_mode));
  REQUIRE(stat("real", &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  ELC_fcloseall();
  CHECK(read_file("real") == "text");
  // It comes back in its place where it is gone.
  unlink("real");
  new_process();
  ELC_FILEVAR(out), ELC_FILEVAR(null);
  REQUIRE_OK(line.restore());
  ELC_fcloseall();
  REQUIRE(lstat("link", &status) == 0);
  CHECK(S_ISLNK(status.st_mode));
  CHECK(read_file("real") == "text");
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
