"""Files that the program has written and closed."""

import os
import shutil
import tempfile

from cases import Cases, launch, PROGRAM


class Files(Cases):
    def test_given_back_to_what_is_closed(self):
        """Another character than was read, to a stream that could be written, too: while it is open there are no lines."""
        outside = """#include <ctype.h>
static FILE *in; static int c; static long h;"""
        self.restarts_from_all(PROGRAM % (outside, """if (i == 0) { char name[9]; sprintf(name, "in.%d", rank); in = fopen(name, "w"); fputs("hello world", in); fclose(in); in = fopen(name, "r+");
while ((c = getc(in)) != EOF) if (islower(c)) ungetc(toupper(c), in); else h = h * 31 % 100003 + c; fclose(in); } result += h;"""), "5 70")
        self.write("prog.c", PROGRAM % (outside, 'if (i == 0) { in = fopen("in", "w+"); fputs("a", in); rewind(in); c = getc(in); ungetc(c + 1, in); }'))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line(r"the program has called ungetc\(\) with another character than it has read, of a file that it may write, too: there are no lines while that is open")

    def ends_until_the_log_is_back(self, writes, steps, last, code, *messages):
        """A program whose log gets another name behind its first line, log.1: the restart says so, and with the file back it is right."""
        self.write("prog.c", PROGRAM % ("static FILE *log;", writes))
        self.cc("prog.c", "-o", "prog")
        out, said = self.planned("prog", "11 60", ELC_KEEP="20")
        if last == "log":  # which keeps its name behind the second line
            self.assertEqual(self.planned("prog", ELC_RESTART="2", ELC_KEEP="20")[0], out)
        said = self.planned("prog", code=code, ELC_RESTART="1", ELC_KEEP="20")[1]
        for message in messages:
            self.assertIn(message, said)
        os.rename(os.path.join(self.home, "log.1"), os.path.join(self.home, "log"))
        self.assertEqual(self.planned("prog", ELC_RESTART="1")[0], out)
        self.assertEqual((self.read("log.1") + self.read(last)).split(), [word for i in range(steps) for word in ("step", str(i))])

    def test_another_log_in_its_place(self):
        """A stream appends to it, and there is another file of its name: no restart cuts that."""
        self.ends_until_the_log_is_back("""if (rank == 0 && i == 40 && log != NULL) fclose(log), rename("log", "log.1"), log = NULL;
if (rank == 0 && log == NULL) log = fopen("log", "a"); if (rank == 0) fprintf(log, "step %d\\n", i), fflush(log);""", 100, "log", 65,
            "the file 'log' was open for appending when the line was taken, and what is there now is another one", "nothing was changed")

    def test_log_that_got_another_name(self):
        """Opened at each step: it does not begin anew, and the name is not given once more."""
        self.ends_until_the_log_is_back("""if (rank == 0 && i == 40) rename("log", "log.1");
if (rank == 0 && i < 70) log = fopen("log", "a"), fprintf(log, "step %d\\n", i), fclose(log); if (rank == 0 && i == 70) rename("log", "log.2");""", 70, "log.2", None,
            "opens the file 'log' again, whose", "which was removed, or got another name, behind that")

    def test_renamed_to_and_fro(self):
        """What a line has seen long ago is no news of another time."""
        self.write("prog.c", PROGRAM % ("static FILE *out;", """if (i == 0) { out = fopen("before", "w"); fprintf(out, "begun\\n"), fflush(out); MPI_Barrier(MPI_COMM_WORLD); if (rank == 0) fclose(out); }
if (rank == 0 && (i == 10 || i == 60)) rename("before", "behind"); if (rank == 0 && i == 35) rename("behind", "before"); if (rank == 1) fprintf(out, "%d\\n", i), fflush(out);"""))
        self.cc("prog.c", "-o", "prog")
        out, said = self.planned("prog", "20 45 75 90", ELC_KEEP="20")
        self.assertEqual(launch.committed(os.path.join(self.home, "lines")), [2, 4], said)
        for line in 4, 2:
            self.assertEqual(self.planned("prog", ELC_KEEP="20", ELC_RESTART=str(line))[0], out)
            self.assertEqual(self.read("behind").split(), ["begun", *map(str, range(100))])

    def test_renamed_by_another_process(self):
        """A line that sees it first is refused, because it may come before that there; the next has the new name."""
        program = PROGRAM.replace("int i, rank;", "int i, rank, c = 0; char line[40];")
        self.write("prog.c", program % ("static FILE *out;", """if (i == 0) { out = fopen("before", "w"); fprintf(out, "begun\\n"), fflush(out); MPI_Barrier(MPI_COMM_WORLD); if (rank == 0) fclose(out), rename("before", "behind"); MPI_Barrier(MPI_COMM_WORLD); }
if (rank == 1) fprintf(out, "%d\\n", i); if (i == 99 && rank == 1) { fclose(out); out = fopen("behind", "r"); while (fgets(line, sizeof line, out) != NULL) c = c * 31 % 100003 + atoi(line); fclose(out); }
if (i == 99) MPI_Bcast(&c, 1, MPI_INT, 1, MPI_COMM_WORLD); result += c;"""))
        self.cc("prog.c", "-o", "prog")
        expected = self.start("prog")
        out, said = self.planned("prog", "5 60 90", ELC_KEEP="20")
        self.assertEqual(out, expected, said)
        self.assertRegex(said, "line 1 is abandoned.*: the name 'before' does not lead to the file that was opened by it")
        for line in 3, 2:
            out, said = self.planned("prog", None, ELC_KEEP="20", ELC_RESTART=str(line))
            self.assertIn("restarting from line", said)
            self.assertEqual(out, expected, said)

    def test_deleted_by_mpi(self):
        """MPI_File_delete behind the line has done so when a restart comes to it; once more it fails, as it did."""
        self.write("prog.c", r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_File file;
    int rank, i, first = -1, second = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, "scratch", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    for (i = 0; i < 100; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (i == 50 && rank == 0) first = MPI_File_delete("scratch", MPI_INFO_NULL), second = MPI_File_delete("scratch", MPI_INFO_NULL);
    }
    if (rank == 0) printf("deleted: %d, once more: %d\n", first == MPI_SUCCESS, second == MPI_SUCCESS);
    MPI_Finalize();
    return 0;
}
""")
        self.cc("-w", "prog.c", "-o", "prog")
        right, said = self.planned("prog", self.chance.randrange(20, 40))
        self.assertEqual(launch.committed(os.path.join(self.home, "lines")), [1], said)
        self.assertIn("deleted: 1, once more: 0", right)
        self.assertEqual(self.planned("prog", ELC_RESTART="1")[0], right)

    def test_descriptor_that_mpi_gets(self):
        """The program has closed it, and MPI opens the same file by the same number."""
        self.right("#include <fcntl.h>\n#include <unistd.h>\nstatic MPI_File file; static int value;", """
if (i == 0) {
    int f = open("prog.c", O_RDONLY); read(f, &value, sizeof value); close(f);
    MPI_File_open(MPI_COMM_WORLD, "prog.c", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
}
deep(1, 1); MPI_File_read_at(file, i, &value, sizeof value, MPI_BYTE, MPI_STATUS_IGNORE); result += value % 1000;
if (i == 99) MPI_File_close(&file);
""")

    def test_directories(self):
        """A directory that was made or removed behind the line has been when a restart comes to it, and what it makes behind its own line as well;
        once more each fails, as it did. What another one has made is there, for it."""
        self.write("prog.c", r"""
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, i, made = 0, removed = 0, failed = 0, names = 0;
    char name[30];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) mkdir("old", 0777), mkdir("both", 0777), mkdir("empty", 0777);
    for (i = 0; i < 100; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (i % 20 == 10) {
            sprintf(name, "step-%d", i);
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0) made += mkdir(name, 0777) == 0, failed += mkdir(name, 0777) != 0 && errno == EEXIST;
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 1) failed += mkdir(name, 0777) != 0 && errno == EEXIST, names += access(name, W_OK) == 0;
        }
        if (i == 60 && rank == 0) {
            removed += rmdir("./old/") == 0, failed += rmdir("old") != 0 && errno == ENOENT;
            removed += rmdir("both") == 0, made += mkdir("both/", 0777) == 0, failed += mkdir("both", 0777) != 0;
            made += mkdir("gone", 0777) == 0, removed += rmdir("gone") == 0;
            removed += remove("empty") == 0, failed += remove("empty") != 0 && errno == ENOENT;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &names, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("made %d, removed %d, failed %d, found %d\n", made, removed, failed, names);
    MPI_Finalize();
    return 0;
}
""")
        self.cc("-w", "prog.c", "-o", "prog")
        right, said = self.planned("prog", self.chance.randrange(12, 40))
        self.assertEqual(launch.committed(os.path.join(self.home, "lines")), [1], said)
        self.assertIn("made 7, removed 4, failed 13, found 5", right)
        # A line of the restart, before it comes to some of what it has not done: those are told to the next restart.
        self.assertEqual(self.planned("prog", self.chance.randrange(45, 60), ELC_RESTART="1")[0], right)
        last = launch.committed(os.path.join(self.home, "lines"))[-1]
        self.assertEqual(last, 2)
        self.assertEqual(self.planned("prog", ELC_RESTART="2")[0], right)
        self.assertEqual(self.planned("prog", ELC_RESTART="1")[0], right)

    def test_last_files_under_other_names(self):
        """As programs keep their last checkpoints, and nobody reads them: behind a line they are others."""
        self.restarts_from_all(PROGRAM % ("static double sum; static FILE *file;", """
            if (rank == 0 && i % 5 == 0) {
              if (i >= 10) { remove("state-2"); rename("state-1", "state-2"); }
              if (i >= 5) rename("state-0", "state-1");
              file = fopen("state-0", "w"); fprintf(file, "%d %.17g\\n", i, sum); fclose(file);
            }
            deep(1, 1); sum = sum * 1.01 + i; result += sum;"""), "8 40 90", "120")

    def test_files_that_mpi_writes_over(self):
        """As programs write their own checkpoints: behind the line the file was written anew, and so it is in a restart."""
        for mode in ("MPI_MODE_WRONLY", "MPI_MODE_RDWR"):
            with self.subTest(mode):
                self.restarts_from_all(PROGRAM % ("static MPI_File file; static int values[200], k;", """
                    if (i == 0 && rank == 0) remove("state");
                    deep(1, 1); for (k = 0; k < 200; k++) values[k] = i * 1000 + k * (rank + 1);
                    MPI_File_open(MPI_COMM_WORLD, "state", MPI_MODE_CREATE | %s, MPI_INFO_NULL, &file);
                    MPI_File_write_at_all(file, rank * sizeof values, values, 200, MPI_INT, MPI_STATUS_IGNORE); MPI_File_close(&file); deep(1, 1);
                    if (i == 99) { FILE *all = fopen("state", "rb"); while (fread(&k, sizeof k, 1, all) == 1) result += k %% 1000; fclose(all); }""" % mode), "9 61 140 190")

    def test_files_that_mpi_has_closed(self):
        """What was appended behind a line is cut, as that of others: by its size, or as a log."""
        for mode in ("MPI_MODE_CREATE | MPI_MODE_WRONLY", "MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_APPEND"):
            with self.subTest(mode):
                self.restarts_from_all(PROGRAM % ("static MPI_File file; static MPI_Offset end; static int value, count;", """
                    if (i == 0 && rank == 0) remove("log");
                    deep(1, 1); MPI_File_open(MPI_COMM_WORLD, "log", %s, MPI_INFO_NULL, &file); MPI_File_get_size(file, &end); MPI_Barrier(MPI_COMM_WORLD);
                    value = i * 3 + rank; MPI_File_write_at_all(file, end + rank * sizeof value, &value, 1, MPI_INT, MPI_STATUS_IGNORE); MPI_File_close(&file); deep(1, 1); result += end;
                    if (i == 99) { FILE *all = fopen("log", "rb"); while (fread(&value, sizeof value, 1, all) == 1) count++, result += value %% 7; fclose(all); result += count; }""" % mode),
                    "9 61 140 200 222")

    def test_two_streams_of_one_file(self):
        """What the second has not written yet when a line is taken is in the file as the first one finds it."""
        for first, second in (("w+", "a"), ("r+", "a+"), ("w", "a")):
            self.right("", r"""{ static FILE *f, *g; static char name[20], text[20];
                if (i == 0) { sprintf(name, "file.%%d", rank); f = fopen(name, "w"); fputs("first\n", f); fclose(f); f = fopen(name, "%s"); g = fopen(name, "%s"); }
                if (g) fprintf(g, "more %%d\n", i); deep(1, 1);
                if (i == 97) { fclose(g); fclose(f); g = NULL; f = fopen(name, "r"); while (fgets(text, 20, f)) result = (result * 3 + atoi(text + 5)) %% 1000003; fclose(f); } }""" % (first, second))

    def test_a_stream_with_an_encoding(self):
        """A restart would open it in that of the locale: no line is taken while it is open."""
        self.write("prog.c", PROGRAM % ("#include <wchar.h>", r"""{ static FILE *f; char name[20]; sprintf(name, "text.%d", rank);
            if (i == 0) { f = fopen(name, "w"); fputs("\xc3\xa4\xc3\xb6\xc3\xbc", f); fclose(f); f = fopen(name, "r,ccs=UTF-8"); result += fgetwc(f); }
            if (i == 95) { result += fgetwc(f); fclose(f); } }"""))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("abandoned.*: the stream of 'text.[01]' has an encoding of its own ('r,ccs=UTF-8')".replace("(", "[(]").replace(")", "[)]"))

    def test_appended_and_closed(self):
        """Logs that are opened for each entry: of one rank, of ranks in turn, with a first entry by "w" and the second one long behind a line,
        by another function than the one that wrote first, below another directory, and by "r+"."""
        self.restarts_from_all(r"""
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static int rank;
static void note(const char *name, const char *mode, int i) {
  FILE *f = fopen(name, mode);
  if (f == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  if (mode[0] == 'r') fseek(f, 0, SEEK_END);
  fprintf(f, "%d %d\n", rank, i);
  fclose(f);
}
static void note_by_descriptor(const char *name, int flags, int i) {
  char line[40];
  int fd = open(name, flags | O_CREAT, 0666);
  if (!(flags & O_APPEND)) lseek(fd, 0, SEEK_END);
  if (write(fd, line, sprintf(line, "%d %d\n", rank, i)) < 0) MPI_Abort(MPI_COMM_WORLD, 4);
  close(fd);
}
static void in_turn(const char *name, const char *first, int i) {
  int r;
  for (r = 0; r < 2; r++) {
    if (r == rank) note(name, r == 0 ? first : "a", i);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
static void show(const char *name) {
  FILE *f = fopen(name, "r");
  unsigned long sum = 0;
  int c;
  while ((c = fgetc(f)) != EOF) sum = sum * 31 + c;
  fclose(f);
  printf("%s %lx\n", name, sum);
}
int main(int argc, char **argv) {
  int i;
  char own[20], even[20];
  FILE *log = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sprintf(own, "log-%d", rank);
  sprintf(even, "even-%d", rank);
  remove(own), remove(even), remove(rank == 0 ? "own-0" : "own-1");
  if (rank == 0) remove("late"), remove("described"), remove("moved"), remove("with-head"), note("old", "w", -2), remove("shared"), note("head", "w", -1), note("grown", "w", -1), mkdir("below", 0777);
  MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < 100; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (i % 3 == 0) note(rank == 0 ? "own-0" : "own-1", "a", i);
    if (i % 10 == 0) in_turn("rewritten", "w", i), in_turn("shared", "a", i);
    if (i > 70 && rank == 0) note("head", "a", i);
    if (i >= 35 && i % 10 == 5) in_turn("late", "a", i);
    if (i > 35 && i % 10 == 2 && rank == 1) {
      if (access("with-head", F_OK) != 0) note("with-head", "a", -7);
      note("with-head", "a", i), note("old", "a", i);
    }
    if (i % 20 == 15 && rank == 0) note("grown", "r+", i);
    if (i % 4 == 0 && rank == 1) note_by_descriptor("described", O_WRONLY | O_APPEND, i), note_by_descriptor("moved", O_RDWR, i);
    if (i == 45 && rank == 0) note("below/there", "w", i), chdir("below"), note("there", "a", i), chdir("..");
    if (log == NULL) log = fopen(own, "a");
    if (i % 5 == 0) log = freopen(i % 2 == 0 ? even : own, "a", log), fprintf(log, "reopened %d\n", i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) show("log-0"), show("even-1"), show("own-0"), show("own-1"), show("rewritten"), show("shared"), show("head"), show("grown"), show("below/there"), show("late"), show("with-head"), show("described"), show("moved"), show("old");
  MPI_Finalize();
  return 0;
}
""", "20 60 100 130", "40 90 125")

    def test_open_for_appending_in_all_ranks(self):
        """One of them writes, or none yet, or another one behind the line, or nobody; to files that have something already."""
        self.restarts_from_all(r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static void show(const char *name) {
  char bytes[10000];
  FILE *f = fopen(name, "r");
  bytes[fread(bytes, 1, sizeof bytes - 1, f)] = 0;
  fclose(f);
  printf("%s: %s", name, bytes);
}
int main(int argc, char **argv) {
  FILE *log, *later, *never, *new;
  int i, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && getenv("ELC_RESTART") == NULL) system("echo of another run | tee log later >never; rm -f new");
  MPI_Barrier(MPI_COMM_WORLD);
  log = fopen("log", "a"), later = fopen("later", "a"), never = fopen("never", "a+"), new = fopen("new", "a");
  for (i = 0; i < 100; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && i % 10 == 0) fprintf(log, "%d\n", i);
    if (rank == 1 && i > 50 && i % 10 == 0) fprintf(later, "%d\n", i), fflush(later);
    if (rank == 1 && i > 70 && i % 10 == 0) fprintf(new, "%d\n", i);
  }
  fclose(log), fclose(later), fclose(never), fclose(new);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) show("log"), show("later"), show("never"), show("new");
  MPI_Finalize();
  return 0;
}
""", "20 40 60 80", "30 70")

    LOG = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int i, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < 100; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      FILE *f = fopen("log", i == 70 ? "w" : "%s");
      fprintf(f, "%%d\n", i);
      fclose(f);
    }
  }
  if (rank == 0) printf("end\n");
  MPI_Finalize();
  return 0;
}
"""

    def test_written_anew(self):
        """Behind the line: the restart appends to what is not there any more."""
        self.write("prog.c", self.LOG % "a")
        self.cc("prog.c", "-o", "prog")
        for way in "rewritten", "removed", "put back":
            with self.subTest(way):
                log, lines = (os.path.join(self.home, name) for name in ("log", "lines"))
                shutil.rmtree(lines, ignore_errors=True)
                self.write("log", "")
                out, said = self.planned("prog", self.chance.randrange(30, 60))
                self.assertEqual(launch.committed(lines), [1], said)
                whole = self.read("log")
                self.assertEqual(whole, "".join("%d\n" % i for i in range(70, 100)))
                if way == "removed": os.remove(log)
                if way == "put back": self.write("log", "".join("%d\n" % i for i in range(70)))
                out, said = self.planned("prog", ELC_RESTART="1", code=None)
                if way == "rewritten": self.assertIn("the program opens the file 'log' again, whose", said)
                else: self.assertEqual(self.read("log"), whole)
                self.assertEqual("is not there: it begins anew" in said, way == "removed", said)

    WRITES_PART = """MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    f = fopen("part", "w");
    fprintf(f, "123456789");
    fclose(f);"""

    def test_removed_and_shortened(self):
        """Behind the line, when it has been read: a restart that reads it again is ended, unless the file is put back."""
        for how, said_of_it in ("remove(\"part\")", "which was removed, or got another name, behind that"), ("truncate(\"part\", 2)", "what is there now was written behind that"):
            with self.subTest(how):
                self.write("prog.c", r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int i, rank, n = -1;
  FILE *f;
  BEGIN
    truncate("part", 6);
  }
  for (i = 0; i < 100; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0 || i != 90) continue;
    f = fopen("part", "r");
    if (f != NULL) fscanf(f, "%d", &n), fclose(f);
    if (PUT != 0) return 1;
  }
  if (rank == 0) printf("read: %d\n", n);
  MPI_Finalize();
  return 0;
}
""".replace("BEGIN", self.WRITES_PART))
                self.cc("-w", "-DPUT=" + how, "prog.c", "-o", "prog")
                out, said = self.planned("prog", self.chance.randrange(30, 60))
                self.assertEqual((out, launch.committed(os.path.join(self.home, "lines"))), ("read: 123456\n", [1]), said)
                self.assertIn(said_of_it, self.planned("prog", ELC_RESTART="1", code=None)[1])
                self.write("part", "123456")
                self.assertEqual(self.planned("prog", ELC_RESTART="1")[0], "read: 123456\n")
                shutil.rmtree(os.path.join(self.home, "lines"))

    def test_written_anew_while_it_was_read(self):
        """A file that the program was reading when the line was taken, its own or not, and has written anew since: a restart would go on to
        read in what is there now, and is ended, unless the file is put back. What was appended is no matter."""
        for how, is_lost in (('f = fopen("part", "w"); fprintf(f, "7 7 7 7 7 7 7 7 7 7 7"); fclose(f);', True),
                             ('f = fopen("other", "w"); fprintf(f, "7 7 7 7 7 7 7 7 7 7 7"); fclose(f); rename("other", "part");', True),
                             ('remove("part"); f = fopen("part", "w"); fprintf(f, "7 7 7 7 7 7 7 7 7 7 7"); fclose(f);', True),
                             ('rename("part", "old"); f = fopen("part", "w"); fprintf(f, "7 7 7 7 7 7 7 7 7 7 7"); fclose(f);', True),
                             ('{ int d = open("part", O_WRONLY | O_TRUNC); write(d, "7 7 7 7 7 7 7 7 7 7 7", 21); close(d); }', True),
                             ('{ int d = open("./part", O_WRONLY); write(d, "7 7 7 7 7 7 7 7 7 7 7", 21); close(d); }', True),
                             ('f = fopen("part", "a"); fprintf(f, " 7 7 7 7"); fclose(f);', False)):
            for is_own in (True, False):
                with self.subTest(how, is_own=is_own):
                    self.write("prog.c", r"""
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int i, rank, n, sum = 0;
  FILE *f = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && OWN) { f = fopen("part", "w"); fprintf(f, "1 2 3 4 5 6"); fclose(f); }
  if (rank == 0) f = fopen("part", "r");
  for (i = 0; i < 100; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) continue;
    if (i == 5 || i == 15 || i == 70 || i == 71) fscanf(f, "%d", &n), sum = sum * 10 + n;
    if (i == 80) { fclose(f); HOW }
  }
  if (rank == 0) printf("read: %d\n", sum);
  MPI_Finalize();
  return 0;
}
""".replace("HOW", how).replace("OWN", str(int(is_own))))
                    self.write("part", "1 2 3 4 5 6")
                    self.cc("-w", "prog.c", "-o", "prog")
                    out, said = self.planned("prog", self.chance.randrange(30, 60))
                    self.assertEqual((out, launch.committed(os.path.join(self.home, "lines"))), ("read: 1234\n", [1]), said)
                    if is_lost:
                        self.assertRegex(self.planned("prog", ELC_RESTART="1", code=None)[1],
                                         "the file 'part' was open for reading when the line was taken, and what is there now was written behind that(.|\n)*nothing was changed")
                        self.write("part", "1 2 3 4 5 6")
                    self.assertEqual(self.planned("prog", ELC_RESTART="1")[0], "read: 1234\n")
                    shutil.rmtree(os.path.join(self.home, "lines"))

    def test_first_written_and_closed_behind_a_line(self):
        """A file that was opened before: it costs no line, whatever of that is done while the line is written."""
        self.restarts_from_all(PROGRAM % ("", 'if (rank == 0) { char name[20]; FILE *f; sprintf(name, "out-%d", i); f = fopen(name, "w"); result += deep(1, 1); '
                                          'fprintf(f, "%d", i); fclose(f); f = fopen(name, "r"); fscanf(f, "%d", &argc); fclose(f); result += argc; } else result += deep(1, 1);'),
                               " ".join(map(str, range(40, 60))))

    def test_changed_before_main(self):
        """By a constructor, which a restart calls, too."""
        for change in ('remove("log");', 'fclose(fopen("log", "w"));', 'rename("log", "old");', "{ int f = open(\"log\", O_WRONLY | O_CREAT | O_TRUNC, 0666); close(f); }"):
            with self.subTest(change):
                self.write("prog.c", PROGRAM % ("#include <fcntl.h>\n#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { %s }" % change,
                                                '{ FILE *f = fopen(rank == 0 ? "log" : "other", "a"); fputs("x", f); fclose(f); }'))
                self.cc("prog.c", "-w", "-o", "prog")
                self.assert_refuses_line(r"the program has called a function before main\(\) that writes or removes files")
        self.right('static FILE *in; __attribute__((constructor)) static void begin(void) { in = fopen("/dev/null", "r"); }', "result += in == NULL;")

    def test_removed_and_asked_for(self):
        """What was removed behind the line is removed by a restart as if it were there; one that asks for it before is ended."""
        for asks, message in ("access(\"part\", F_OK) == 0", "the program looks at the file 'part' again"), ("stat(\"part\", &about) == 0 && about.st_size == 9", "looks at"), \
                ("is_opened(open(\"part\", O_RDONLY))", "opens the file 'part' again"), ("is_opened(openat(AT_FDCWD, \"part\", O_CREAT | O_RDWR, 0600))", "opens"), ("i != 90", None):
            with self.subTest(asks):
                self.write("prog.c", r"""
#include <mpi.h>
#include <stdio.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
static int is_opened(int d) { char c; return read(d, &c, 1) + close(d); }
int main(int argc, char **argv) {
  int i, rank, there = 0, removed = 0;
  struct stat about;
  FILE *f;
  BEGIN
  }
  for (i = 0; i < 100; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) continue;
    if (i % 10 == 0) there += ASKS;
    if (i == 95) removed = unlink("part") == 0;
  }
  if (rank == 0) printf("there: %d, removed: %d %d\n", there, removed, remove("part"));
  MPI_Finalize();
  return 0;
}
""".replace("BEGIN", self.WRITES_PART))
                self.cc("-w", "-DASKS=" + asks, "prog.c", "-o", "prog")
                right, said = self.planned("prog", self.chance.randrange(30, 60))
                self.assertEqual(launch.committed(os.path.join(self.home, "lines")), [1], said)
                self.assertIn("removed: 1 -1", right)
                if message:
                    self.assertIn(message, self.planned("prog", ELC_RESTART="1", code=None)[1])
                    self.write("part", "123456789")
                self.assertEqual(self.planned("prog", ELC_RESTART="1")[0], right)
                shutil.rmtree(os.path.join(self.home, "lines"))

    def test_appended_elsewhere(self):
        """Where a restart touches no file: that matters only if it is appended to behind the line, too."""
        elsewhere = tempfile.mkdtemp(prefix="elc elsewhere ")
        self.addCleanup(shutil.rmtree, elsewhere)
        log, lines = os.path.join(elsewhere, "log"), os.path.join(self.home, "lines")
        for last, message in (20, None), (100, "a file to which the program has appended: the file"):
            with self.subTest(last):
                shutil.rmtree(lines, ignore_errors=True)
                self.write("prog.c", (self.LOG % "a").replace('"log"', '"%s"' % log).replace("if (rank == 0) {", "if (rank == 0 && i != 70 && i < %d) {" % last))
                self.cc("prog.c", "-o", "prog")
                self.write(log, "")
                out, said = self.planned("prog", self.chance.randrange(30, 60))
                self.assertEqual(launch.committed(lines), [1], said)
                whole = self.read(log)
                if message:
                    self.assertIn(message, self.planned("prog", ELC_RESTART="1", code=None)[1])
                    self.assertEqual(self.read(log), whole)
                out, said = self.planned("prog", ELC_RESTART="1", ELC_FILE_ROOTS=elsewhere if message else "")
                self.assertEqual(out, "end\n", said)
                self.assertEqual(self.read(log), whole)

    def test_other_names_and_functions(self):
        """What is written beside a file and put in its place, and what open() has written: a restart has what the line had, or says so."""
        self.write("prog.c", r"""
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int rank;
static void put(const char *name, int i, int by_descriptor) {
  char line[40];
  FILE *f = by_descriptor ? NULL : fopen(name, "w");
  int fd = by_descriptor ? open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1, n = sprintf(line, "%d\n", i);
  if (f ? fputs(line, f) < 0 || fclose(f) != 0 : write(fd, line, n) != n || close(fd) != 0) abort();
}
static int get(const char *name) {
  int n;
  FILE *f = fopen(name, "r");
  if (f == NULL || fscanf(f, "%d", &n) != 1) abort();
  fclose(f);
  return n;
}
static int get_by_descriptor(const char *name) {
  char line[40] = "";
  int fd = open(name, O_RDONLY);
  if (read(fd, line, sizeof line - 1) <= 0) abort();
  close(fd);
  return atoi(line);
}
int main(int argc, char **argv) {
  int i, beside = -1;
  long sum = 0, all;
  char own[20], next[20], other[20];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sprintf(own, "own-%d", rank), sprintf(next, "next-%d", rank), sprintf(other, "other-%d", rank);
  for (i = 0; i < 40; i++) {
    if (i % 10 == 0) put(next, i + 1, argc > 1), beside = i;
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (i % 10 == 5 && rename(next, own) != 0) abort();
    if (i % 10 == 2) put(other, i, 1);
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (i >= 5) sum = sum * 7 % 1000003 + get(own) + all % 3;
    if (i >= 2) sum += i % 2 ? get(other) : get_by_descriptor(other);
  }
  if (rank == 0) printf("%ld\n", sum);
  MPI_Finalize();
  return 0;
}
""")
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog")
        expected, right, told = self.start("plain"), 0, 0
        for name in ("next-0", "next-1", "own-0", "own-1", "other-0", "other-1"):
            if os.path.exists(os.path.join(self.home, name)): os.remove(os.path.join(self.home, name))
        sites = [3, 9, 12, 14, 23, 31, 34, 47, 72, 75]
        for site in sites:
            out, said = self.planned("prog", " ".join(str(s) for s in (site, site + 4)), ELC_KEEP="20")
            self.assertEqual(out, expected, said)
            out, said = self.planned("prog", code=None, ELC_RESTART="1")
            self.assertIn("restarting from line", said)
            if out == expected: right += 1
            else:
                told += 1
                self.assertRegex(said, "(opens the file '.*' again|gives the file '.*' another name), whose \\d+ bytes it had written when the line was taken", "site %d: %s" % (site, out))
            shutil.rmtree(os.path.join(self.home, "lines"))
        self.assertGreater(right, 0)
        self.assertGreater(told, 0)
