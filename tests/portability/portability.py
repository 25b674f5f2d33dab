#!/usr/bin/env python3
"""portability.py [--all] [--complete] BUILD...: the library's sources and headers compile without a warning as ISO
C++20 and strict POSIX.1-2008, with GCC and clang, for the GNU C library and musl, with 64 and with 32 bits; and nothing in
them asks for the name of a system.

The sources, and the macros and the MPI that they are compiled with, are those of the builds. Of two configurations, which have
each of these choices but the GNU C library, a run has one (tests/draw.py); --all tries all eight, and LLVM's C++ library. A configuration that cannot be tried
for lack of a package is skipped, and told; with --complete that is a failure. musl for 32 bits is what
tests/foreign/prepare i386 has unpacked.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from draw import drawn  # noqa: E402

TOP = os.path.dirname(os.path.dirname(HERE))

# Of the library's own sources; what the macros of the headers expand to is C, too.
SOURCE_WARNINGS = ["-Wold-style-cast", "-Woverloaded-virtual"]
WARNINGS = ["-Werror", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wundef",
            "-Wvla", "-Wcast-qual", "-Wformat=2"]
# g++ and clang++ define _GNU_SOURCE where they can, which shows all that the C library has beyond POSIX.
POSIX = ["-U_GNU_SOURCE", "-D_POSIX_C_SOURCE=200809L", "-D_FILE_OFFSET_BITS=64"]
HEADERS = ["elc.h", "libELC.h"]
STANDARDS = ["c99", "c11", "c++11", "c++20"]
# Programs that use the macros of the headers: they must not warn in a program, either.
USERS = [("c99", "tests/state/plain_c99.c"), ("c99", "tests/state/typed.c"), ("c11", "tests/state/typed.c"), ("c11", "tests/state/classic.c"),
         ("c++11", "tests/portability/typed.cc"), ("c++20", "tests/portability/typed.cc")]

# What is beyond ISO C++ is in the first, what not every system has in the second, what not every processor has in the
# third. Of the public headers, those with something of the kind ask for __GNUC__.
COMPILER, SYSTEM, PROCESSOR = "src/base/compiler.h", "src/store/system.cc", "portable_format/checksum.cc"
SYSTEM_NAMES = re.compile(
    r"\b(_*(linux|gnu_linux|unix|APPLE|MACH|GLIBC|GNU_LIBRARY|FreeBSD|NetBSD|OpenBSD|DragonFly|bsdi|sun|SVR4|svr4|"
    r"hpux|AIX|sgi|CYGWIN|MINGW\w*|WIN32|WIN64|ANDROID|HAIKU|QNX|MUSL)_*|__GLIBC_\w+|__UCLIBC__|"
    r"_(GNU|BSD|DEFAULT|SVID|DARWIN_C|NETBSD|OPENBSD)_SOURCE|__EXTENSIONS__)\b")
EXTENSIONS = re.compile(r"__builtin_\w+|__attribute__|__extension__|__typeof__|\btypeof\b|__GNUC__|__clang__|"
                        r"__complex__|\basm\b|__asm\w*|__int128|\[\[\s*(gnu|clang|using)\b|#\s*pragma|"
                        r"__has_\w+|__is_\w+")
EXTENSIONS_IN = {COMPILER, PROCESSOR, "include/elc_typed.h", "include/libELC.h"}

ISO_C = "complex ctype errno fenv float inttypes limits locale math setjmp signal stdarg stdbool stddef stdint " \
    "stdio stdlib string tgmath time wchar wctype"
# Without <iterator>, which brings the streams of libstdc++ with it.
ISO_CXX = "algorithm array atomic bit charconv compare concepts initializer_list limits new span string_view " \
    "tuple type_traits utility"
POSIX_2008 = "arpa/inet cpio dirent dlfcn fcntl fnmatch glob grp iconv langinfo monetary net/if netdb netinet/in " \
    "netinet/tcp nl_types poll pthread pwd regex sched semaphore spawn strings sys/mman sys/select sys/socket " \
    "sys/stat sys/statvfs sys/times sys/types sys/uio sys/un sys/utsname sys/wait tar termios unistd wordexp"
INCLUDES = {name + ".h" for name in (ISO_C + " " + POSIX_2008).split()} | set(ISO_CXX.split()) | {
    "mpi.h", "zlib.h", "elc.h", "elc_typed.h", "libELC.h"}
# An option of POSIX.1-2001, and in 2008 still not on every system; and what compilers for x86 have.
INCLUDES_OF = {SYSTEM: {"aio.h", "sys/syscall.h", "ucontext.h"}, "src/store/copy.cc": {"sys/resource.h"},
               "src/state/library.cc": {"libgen.h", "sys/resource.h"}, "src/state/clocks.h": {"sys/resource.h"}, "src/state/environment.cc": {"sys/resource.h", "sys/time.h"}, "src/state/input.cc": {"stdio_ext.h"}, PROCESSOR: {"cpuid.h", "immintrin.h"}}
BEYOND_POSIX = ["OWN_INPUT", "TM_ZONE", "AFFINITY", "HUGE_PAGES", "CLONE", "SYNC_FILE_RANGE", "RANDOM_STATE", "REGISTERS"]


class Problem(Exception):
    pass


def run(words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, LC_ALL="C"), universal_newlines=True, errors="replace")


# ---- What the sources say ----

def without_comments(text):
    """The text with blanks where comments and strings were."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text,
                  flags=re.S)


def complaints_of(name, text):
    """What in a source is neither ISO C++, POSIX nor ours."""
    found = []
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        words = ["asks for a system: " + m.group(0) for m in SYSTEM_NAMES.finditer(line)]
        if name not in EXTENSIONS_IN:
            words += ["is no ISO C++: " + m.group(0) for m in EXTENSIONS.finditer(line)]
        include = re.match(r"\s*#\s*include\s*<([^>]*)>", line)
        if include and include.group(1) not in INCLUDES | INCLUDES_OF.get(name, set()):
            words.append("not every system has <%s>" % include.group(1))
        found += ["%s:%d: %s" % (name, number, word) for word in words]
    return found


def check_text():
    """The same rules see what is wrong, and nothing in the sources."""
    for line in ("#ifdef __linux__", "#if defined(__APPLE__)", "#define _GNU_SOURCE", "#include <sys/ioctl.h>",
                 "#include <aio.h>", "__attribute__((noinline)) int f();", "int g() { return __builtin_clz(1); }",
                 "[[gnu::weak]] int h();", "#pragma weak h"):
        if not complaints_of("x.cc", line):
            raise Problem("the test is blind: " + line)
    found = []
    for folder in ("include", "portable_format", "src/base", "src/line", "src/mpi", "src/state", "src/store"):
        for name in sorted(os.listdir(os.path.join(TOP, folder))):
            if not name.endswith((".h", ".cc")):
                continue
            name = os.path.join(folder, name)
            with open(os.path.join(TOP, name)) as f:
                found += complaints_of(name, f.read())
    if found:
        raise Problem("\n".join(found))


# ---- What is compiled ----

class Source:
    """A source of the library, and what a build gives the compiler for it: macros, and where MPI's headers are."""

    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments


def sources_of(build, known):
    """The sources of libelc.a in a build directory, without those that need no MPI if they are `known`."""
    with open(os.path.join(build, "compile_commands.json")) as f:
        entries = json.load(f)
    found = []
    for entry in entries:
        if not re.search(r"libelc(_core)?\.a\.p/", entry.get("output", "")):
            continue
        name = os.path.relpath(os.path.join(entry["directory"], entry["file"]), TOP)
        if known and not name.startswith("src/mpi/"):
            continue
        arguments = []
        for word in shlex.split(entry["command"]):
            if word.startswith("-D") and not word.startswith(("-D_FILE_OFFSET_BITS", "-D_GLIBCXX")):
                arguments.append(word)
            elif word.startswith("-isystem"):
                arguments += ["-isystem", word[len("-isystem"):]]
        found.append(Source(name, arguments))
    if not found:
        raise Problem("%s: no sources of libelc.a in its compile_commands.json" % build)
    return sorted(found, key=lambda source: source.name)


# ---- Compilers ----

def search_path(compiler, language):
    """Where a compiler looks for headers."""
    lines = run(compiler + ["-E", "-v", "-x", language, os.devnull]).stdout.split("\n")
    try:
        first, last = lines.index("#include <...> search starts here:") + 1, lines.index("End of search list.")
    except ValueError:
        return []
    return [os.path.normpath(line.strip()) for line in lines[first:last]]


# tests/run builds the library by GCC and by clang with 64 bits, and by GCC with 32, for the GNU C library, too.
CONFIGURATIONS = [("gcc", "musl", 64), ("clang", "musl", 32)]
ALL = CONFIGURATIONS + [("clang", "glibc", 64), ("gcc", "glibc", 32), ("gcc", "glibc", 64), ("clang", "glibc", 32), ("clang", "musl", 64), ("gcc", "musl", 32)]


class Configuration:
    """A compiler and a system that it compiles for. Why not, if it cannot: self.missing."""

    def __init__(self, compiler, libc, bits, others, cxx=()):
        self.name = ", ".join([compiler, libc, "%d bits" % bits, *cxx])
        self.missing = None
        cross = bits == 32 and "i686-linux-gnu-" or ""
        if compiler == "gcc":
            self.compilers = {"c": [cross + "gcc"], "c++": [cross + "g++"]}
            packages = "g++-i686-linux-gnu" if cross else "g++"
        else:
            target = ["--target=i686-linux-gnu"] if cross else []
            self.compilers = {"c": ["clang"] + target, "c++": ["clang++"] + target + list(cxx)}
            packages = "clang" + (" g++-i686-linux-gnu" if cross else "") + (" libc++-dev" if cxx else "")
        self.common = ["-isystem", others]
        if any(shutil.which(words[0]) is None for words in self.compilers.values()):
            self.missing = packages
            return
        if libc == "musl":
            self.use_musl(compiler, bits)
        if self.missing is None and self.probe(libc, bits):
            self.missing = packages

    def use_musl(self, compiler, bits):
        """In place of the C library that the compiler knows, beneath the C++ library that it has."""
        if bits == 32:
            musl = os.path.join(TOP, "build-systems/i386/usr/include/i386-linux-musl")
            self.missing = "tests/foreign/prepare i386"
        else:
            triple = run(["gcc", "-dumpmachine"]).stdout.strip().replace("gnu", "musl")
            musl, self.missing = os.path.join("/usr/include", triple), "musl-dev"
        if not os.path.exists(os.path.join(musl, "stdio.h")):
            return
        self.missing = None
        cxx = [path for path in search_path(self.compilers["c++"], "c++") if "/c++/" in path + "/"]
        for language, words in self.compilers.items():
            words += ["-nostdinc", "-nostdinc++"] if language == "c++" else ["-nostdinc"]
            for path in ([os.path.join(HERE, "musl")] + cxx if language == "c++" else []) + [musl]:
                words += ["-isystem", path]

    def probe(self, libc, bits):
        """None if it compiles for that; what the compiler says otherwise."""
        text = "#include <limits.h>\n#include <span>\n#if %s\n#error another C library\n#endif\n" \
            "static_assert(sizeof(void*) == %d && sizeof(long) == %d);\n" % (
                "defined __GLIBC__" if libc == "musl" else "!defined __GLIBC__", bits // 8, bits // 8)
        with tempfile.NamedTemporaryFile("w", suffix=".cc") as f:
            f.write(text)
            f.flush()
            done = run(self.compilers["c++"] + ["-std=c++20", "-fsyntax-only", f.name])
        return done.stdout if done.returncode != 0 else None

    def command(self, standard, arguments, path):
        language = "c++" if standard.startswith("c++") else "c"
        return self.compilers[language] + ["-std=" + standard, "-fsyntax-only"] + WARNINGS + POSIX + self.common + \
            ["-I" + os.path.join(TOP, folder) for folder in ("include", "src", ".")] + arguments + [path]


# ---- All together ----

def jobs_of(configuration, sources, work):
    """(what, command) of all that a configuration has to compile."""
    # What is beyond POSIX cannot be seen here: the build compiles it.
    posix = [word for name in BEYOND_POSIX for word in ("-UELC_HAVE_" + name, "-DELC_HAVE_%s=0" % name)]
    least = ["-DELC_ISO_ONLY", "-UELC_HAVE_AIO"]  # where neither compiler nor system has more than it must
    for source in sources:
        path = os.path.join(TOP, source.name)
        yield source.name, configuration.command("c++20", source.arguments + posix + SOURCE_WARNINGS, path)
        if source.name in (SYSTEM, PROCESSOR):
            yield source.name + " (the least)", \
                configuration.command("c++20", source.arguments + posix + least + ["-DELC_HAVE_AIO=0"], path)
    mpi = next(source.arguments for source in sources if source.name.startswith("src/mpi/"))
    for standard in STANDARDS:
        for header in HEADERS:
            path = os.path.join(work, header + (".cc" if standard.startswith("c++") else ".c"))
            with open(path, "w") as f:
                f.write("#include <%s>\n#include <%s>\n" % (header, header))
            yield "%s as %s" % (header, standard), configuration.command(standard, mpi, path)
    for standard, name in USERS:
        yield "%s as %s" % (name, standard), configuration.command(standard, mpi, os.path.join(TOP, name))
        if standard != "c99":  # without anonymous unions
            yield "%s as %s (the least)" % (name, standard), \
                configuration.command(standard, mpi + least, os.path.join(TOP, name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", help="all configurations")
    parser.add_argument("--complete", action="store_true", help="what cannot be tried is a failure")
    parser.add_argument("build", nargs="+")
    options = parser.parse_args()
    check_text()
    print("the sources ask for no system, and use ISO C++ and POSIX alone")
    sources = []
    for build in options.build:
        sources += sources_of(build, sources)
    failed = skipped = 0
    with tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        # zlib's headers are the same for all, but lie among those of the C library.
        others = os.path.join(work, "include")
        os.mkdir(others)
        for folder in reversed(search_path(["gcc"], "c")):
            for name in ("zlib.h", "zconf.h"):
                if os.path.exists(os.path.join(folder, name)):
                    shutil.copy(os.path.join(folder, name), others)
        configurations = [Configuration(*choice, others) for choice in (ALL if options.all else drawn("portability", *CONFIGURATIONS))]
        if options.all:
            configurations.append(Configuration("clang", "glibc", 64, others, ["-stdlib=libc++"]))
        for configuration in configurations:
            if configuration.missing is not None:
                print("%s: SKIPPED, for lack of: %s" % (configuration.name, configuration.missing))
                skipped += 1
                continue
            jobs = list(jobs_of(configuration, sources, work))
            bad = 0
            for (what, command), done in zip(jobs, pool.map(lambda job: run(job[1]), jobs)):
                if done.returncode != 0 or done.stdout.strip():
                    print("%s: %s:\n%s\n%s" % (configuration.name, what, " ".join(command), done.stdout))
                    bad += 1
            print("%s: %d compiled, %d of them with warnings" % (configuration.name, len(jobs), bad), flush=True)
            failed += bad
    if skipped > 0:
        print("%d of %d configurations were skipped" % (skipped, len(configurations)))
    return 1 if failed > 0 or (options.complete and skipped > 0) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        sys.exit(str(problem))
