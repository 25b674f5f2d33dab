"""What meson installs is enough to build a program: cc prog.c $(pkg-config --cflags --libs elc).

    python3 install_test.py BUILD_DIRECTORY
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import launch  # noqa: E402

PROGRAM = """
#include <elc.h>
#include <mpi.h>
int main(int argc, char **argv) {
  int step = 0, sum = 0, one = 1;
  MPI_Init(&argc, &argv);
  ELC_VAR(step);
  ELC_Restore();
  for (; step < 3; step++) {
    ELC_Checkpoint();
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return sum == 1 ? 0 : 1;
}
"""
PAGES = ("man1/elc.1", "man1/elc-run.1", "man1/elc-ls.1", "man1/elc-show.1", "man1/elc-diff.1", "man1/elc-doctor.1",
         "man1/elc-export.1", "man1/elc-plot.1", "man1/elc-verify.1", "man1/elc-rm.1", "man3/elc.3", "man3/elc_fortran.3",
         "man7/elc.7", "man7/elc-adopt.7", "man7/elc-mpi.7")


def run(*words, **options):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def find(root, name):
    for folder, _, files in os.walk(root):
        if name in files:
            return os.path.join(folder, name)
    raise SystemExit("not installed: " + name)


if shutil.which("pkg-config") is None:
    print("there is no pkg-config")
    sys.exit(77)
if not launch.Build(sys.argv[1]).links_alone:
    print("the archive of this build does not link by itself")
    sys.exit(77)
place = tempfile.mkdtemp(prefix="elc-install-")
try:
    run("meson", "install", "--no-rebuild", "-C", sys.argv[1], "--destdir", place)
    config = find(place, "elc.pc")
    with open(config) as file:
        prefix = next(line for line in file if line.startswith("prefix=")).strip().partition("=")[2]
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(config))
    flags = run("pkg-config", "--define-variable=prefix=" + place + prefix, "--cflags", "--libs", "elc",
                env=environment).split()
    source, program = os.path.join(place, "prog.c"), os.path.join(place, "prog")
    with open(source, "w") as file:
        file.write(PROGRAM)
    run("cc", source, *flags, "-o", program)
    run("c++", "-x", "c++", source, "-x", "none", *flags, "-o", program)
    print("linked with", *flags)
    for header in ("elc.h", "elc.hpp", "elc_frame.h", "elc_program.h", "elc_typed.h", "libELC.h", "elc.F90"):
        find(place, header)
    for page in PAGES:
        name = find(place, os.path.basename(page))
        if not name.endswith(page):
            raise SystemExit(name + " is in the wrong place")
    said, version = run(find(place, "elc"), "--version").strip(), run("pkg-config", "--modversion", "elc", env=environment)
    print(said)
    if said.split()[1] != version.strip():
        raise SystemExit("pkg-config says that the version is " + version)
finally:
    shutil.rmtree(place)
