#!/usr/bin/env python3
"""codes.py BUILD DIRECTORY [CODE...] [--kills N]: MPI codes in C that others have written, unchanged, built by elc-cc, killed and
restarted.

DIRECTORY has the codes as their owners give them away, each in the folder that CODES says (`--list`: which those are, and where
they come from); what is not there is left out. Each is copied and built there twice by its own makefiles, plain and by elc-cc;
runs; is killed with SIGKILL at random moments behind new lines, and restarted from the newest, until it was killed N times; and
has to say what the plain program says. With --other BUILD, of another processor (tests/foreign/prepare; MPICH), each restart is
under one of the builds, by chance, and numbers in what is said may differ in their last places.

Prints its seed and a row for each code: lines of source; functions, and those that can be on the stack when a line is taken; what
is saved as bytes; CPU time of the build and size of the code, by elc-cc and plain; time of a run without lines, by elc-cc and plain
(the median of the ratios of --runs pairs); kills, restarts from a line, and those from one of another machine. Without --kills
nothing is killed."""

import argparse
import dataclasses
import math
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import launch  # noqa: E402
from cases import WRAPPER  # noqa: E402

PATIENCE = 600  # seconds


@dataclasses.dataclass
class Code:
    origin: str         # where it is from
    folder: str         # of it, in the directory of codes
    commands: tuple     # that build it, in a copy of the folder; {cc}: the MPI's wrapper, {home}: the copy
    program: str
    arguments: str
    answer: str         # regular expression of the lines that say what was computed
    sources: str = "."  # folders that are counted
    where: str = "."    # where it runs
    files: dict = dataclasses.field(default_factory=dict)  # that are written before: makefiles of a machine, input
    stateless: str = ""  # functions of libraries, for -felc-stateless
    ranks: int = 2


HPL_INPUT = """by elc-cc's test
nobody
HPL.out      output file name (if any)
6            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
600          Ns
1            # of NBs
32           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
2            Qs
16.0         threshold
3            # of panel fact
0 1 2        PFACTs (0=left, 1=Crout, 2=Right)
2            # of recursive stopping criterium
2 4          NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
3            # of broadcast
0 3 4        BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
2            # of lookahead depth
0 1          DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""
MRBAYES_INPUT = """begin mrbayes;
  set autoclose=yes nowarn=yes seed=17 swapseed=19;
  execute primates.nex;
  lset nst=6 rates=gamma;
  mcmc ngen=20000 samplefreq=100 printfreq=1000 diagnfreq=5000 nchains=2 nruns=2 filename=out;
  sump filename=out;
end;
"""
PRK = "github.com/ParRes/Kernels"


def prk(folder, program, arguments, answer):
    """One of the Parallel Research Kernels."""
    make = "make -C MPI1/%s %s MPICC={cc} DEFAULT_OPT_FLAGS=-O2" % (folder, program)
    return Code(PRK, "Kernels", (make,), "MPI1/%s/%s" % (folder, program), arguments, answer, "MPI1/" + folder,
                files={"common/make.defs": "DEFAULT_OPT_FLAGS=-O2\n"})


CODES = {
    "CoMD": Code("github.com/ECP-copa/CoMD", "CoMD",
                 ("cp src-mpi/Makefile.vanilla src-mpi/Makefile", "make -C src-mpi CC={cc} OPTFLAGS=-O2"), "bin/CoMD-mpi",
                 "-e -i 2 -j 1 -k 1 -x 16 -y 16 -z 16 -N 40", r"^  Final energy.*|^ +40 .*?(?= +[0-9.]+ +[0-9]+$)", "src-mpi"),
    "AMG": Code("github.com/LLNL/AMG", "AMG", ("make CC={cc} INCLUDE_CFLAGS='-O2 -DTIMER_USE_MPI -DHYPRE_BIGINT' INCLUDE_LFLAGS=-lm",),
                "test/amg", "-P 2 1 1 -n 40 40 40 -problem 1", r"^(?:Iterations|Final Relative Residual Norm) = .*"),
    "miniAMR": Code("github.com/Mantevo/miniAMR", "miniAMR", ("make -C ref CC={cc} LD={cc} CFLAGS=-O2",), "ref/miniAMR.x",
                    "--num_refine 2 --max_blocks 500 --npx 2 --npy 1 --npz 1 --nx 6 --ny 6 --nz 6 --num_objects 1 --object 2 0 -1.1 -1.1 -1.1 "
                    "0.03 0.03 0.03 1.5 1.5 1.5 0.0 0.0 0.0 --num_tsteps 40 --checksum_freq 4 --stages_per_ts 8",
                    r"^ +(?:Total blocks|Blocks/timestep|Max blocks|total blocks (?:split|reformed) +:|Number of refinement).*", "ref"),
    "HPL": Code("www.netlib.org/benchmark/hpl", "hpl",
                ("cp setup/Make.Linux_PII_CBLAS .",
                 "make arch=Linux_PII_CBLAS TOPdir={home} CC={cc} LINKER={cc} MPdir= MPinc= MPlib= LAdir= LAlib='-lblas -lm' CCFLAGS='$(HPL_DEFS) -O2'"),
                "bin/Linux_PII_CBLAS/xhpl", "", r"^\|\|Ax-b\|\|.*PASSED|^ +[0-9]+ tests completed and .*", "src include testing",
                files={"elc-run/HPL.dat": HPL_INPUT}, where="elc-run"),
    "IS": Code("www.nas.nasa.gov/software/npb.html, NPB 3.3", "NPB/NPB3.3-MPI",
               ("cp config/make.def.template config/make.def", "mkdir -p bin", "make -C IS CLASS=A NPROCS=2 MPICC={cc} CMPI_LIB="), "bin/is.A.2", "",
               r"^ Verification.*|^.*verification:.*", "IS"),
    "p2p": prk("Synch_p2p", "p2p", "300 1000 1000", r"^Solution validates.*"),
    "stencil": prk("Stencil", "stencil", "300 1000", r"^Solution validates.*|^Reference.*"),
    "transpose": prk("Transpose", "transpose", "100 1000", r"^Solution validates.*"),
    "sparse": prk("Sparse", "sparse", "100 9 5", r"^Solution validates.*|^.*sum.*"),
    "reduce": prk("Reduce", "reduce", "2000 100000", r"^Solution validates.*"),
    "dgemm": prk("DGEMM", "dgemm", "10 500 32 1", r"^Solution validates.*"),
    "pic": prk("PIC-static", "pic", "300 1000 100000 1 2 GEOMETRIC 0.99", r"^Solution validates.*"),
    "amr": prk("AMR", "amr", "20 1000 100 2 2 1 5 FINE_GRAIN", r"^.*L1 input norm.*|^Solution.*"),
    "graph500": Code("github.com/graph500/graph500", "graph500", ("make -C src MPICC={cc} LDFLAGS=-fcommon graph500_reference_bfs_sssp",),
                     "src/graph500_reference_bfs_sssp", "14 16", r"^(?:min|median|max)_nedge:.*|^.*[Vv]alidat.*rror.*", "src aml generator",
                     stateless="pthread_self"),
    "hypre-ex5": Code("github.com/hypre-space/hypre", "hypre/src",
                      ("CC={cc} ./configure --disable-fortran --without-superlu CFLAGS=-O1 CXXFLAGS=-O1", "make -k lib/libHYPRE.a || make",
                       "make -C examples ex5 CC={cc} HYPRE_DIR={home}/hypre COPTS=-O1"), "examples/ex5", "-n 200",
                      r"^Iterations = .*|^Final Relative Residual Norm = .*"),
    "MrBayes": Code("github.com/NBISweden/MrBayes", "MrBayes",
                    ("CC={cc} MPICC={cc} ./configure --with-mpi --without-beagle --without-readline --disable-avx --disable-sse",
                     "make -C src CC={cc} mb", "cp examples/primates.nex elc-run"), "src/mb", "mb.nex",
                    r"^ +(?:TL|alpha|r\(.<->.\)|pi\(.\)) .*", "src", files={"elc-run/mb.nex": MRBAYES_INPUT}, where="elc-run"),
    "HPGMG": Code("github.com/hpgmg/hpgmg", "hpgmg",
                  ("python3 ./configure --CC={cc} --CFLAGS='-O2 -DTEST_ERROR'", "make -C build"), "build/bin/hpgmg-fv", "5 8",
                  r"norm=\S+ +rel=\S+|^ +h=.*error.*|^ +order=.*", "finite-volume/source"),
    "Athena": Code("github.com/PrincetonUniversity/Athena-Cversion", "Athena-Cversion",
                   ("autoconf", "./configure --with-problem=orszag-tang --with-flux=roe --enable-mpi", "mkdir -p bin", "make all MACHINE=macosx CC={cc} LDR={cc}",
                    "sed '/^Nx3/i NGrid_x1 = 2' tst/2D-mhd/athinput.orszag-tang > elc-run/athinput"), "bin/athena",
                   "-i athinput domain1/Nx1=96 domain1/Nx2=96 time/nlim=400 job/maxout=2",
                   r"^cycle=[0-9]+ time=\S+ next dt=\S+", "src", where="elc-run", files={"elc-run/.empty": ""}),
    "SuperLU_DIST": Code("github.com/xiaoyeli/superlu_dist", "superlu_dist",
                         ("cmake -B b -DCMAKE_C_COMPILER={cc} -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DTPL_ENABLE_PARMETISLIB=OFF -Denable_openmp=OFF "
                          "-DTPL_ENABLE_INTERNAL_BLASLIB=ON -Denable_complex16=OFF -Denable_single=OFF -DXSDK_ENABLE_Fortran=OFF -Denable_tests=OFF", "make -C b pddrive", "cp EXAMPLE/big.rua elc-run"),
                         "b/EXAMPLE/pddrive", "-r 1 -c 2 big.rua", r"^.*Sol  0: .*", "SRC EXAMPLE", where="elc-run", files={"elc-run/.empty": ""}),
    "cvode": Code("github.com/LLNL/sundials", "sundials",
                  ("cmake -B b -DCMAKE_C_COMPILER={cc} -DCMAKE_BUILD_TYPE=Release -DENABLE_MPI=ON -DBUILD_SHARED_LIBS=OFF "
                   "-DBUILD_ARKODE=OFF -DBUILD_CVODES=OFF -DBUILD_IDA=OFF -DBUILD_IDAS=OFF -DBUILD_KINSOL=OFF -DEXAMPLES_INSTALL=OFF "
                   "-DEXAMPLES_ENABLE_C=ON -DEXAMPLES_ENABLE_CXX=OFF", "make -C b cvDiurnal_kry_p"),
                  "b/examples/cvode/parallel/cvDiurnal_kry_p", "", r"^(?:t|At|nst|netf|lenrw) .*", "src/cvode src/sundials src/nvector/parallel", ranks=4),
    "hot": Code("github.com/UoB-HPC/hot, in github.com/UoB-HPC/arch", "arch",
                ("make -C hot KERNELS=omp3 COMPILER=GCC MPI=yes ARCH_COMPILER_CC={cc} OPTIONS=-DMPI", "sed -i 's/1024/256/; s/^iterations.*/iterations 3/' hot/hot.params"), "hot/hot.omp3", "hot.params",
                r"^.*[Tt]emperature.*|^.*sidual.*|.*[Cc]onver.*", "hot .", where="hot"),
}


class Failure(Exception):
    pass


class Trial:
    """A code in its two builds."""

    def __init__(self, name, builds, options):
        self.name, self.code, self.builds, self.build, self.options = name, CODES[name], builds, builds[0], options
        self.random = random.Random("%s/%d" % (name, options.seed))
        self.home = os.path.join(options.home, "%s-%s" % (name, builds[0].mpi))
        shutil.rmtree(os.path.join(self.home, "lines"), ignore_errors=True)
        self.scratch = launch.Scratch()
        self.kills = self.restarts = self.crossings = 0
        self.cpu, self.report = {}, ""

    # ---- Building ----

    def compiler(self, build, by_elc):
        if not by_elc:
            return "gcc"
        words = [os.path.abspath(self.options.cc) if self.options.cc else os.path.join(self.build.path, "src", "cc", "elc-cc"), "-felc-report",
                 "-felc-library=" + os.path.join(build.path, "src", "mpi", "libelc.a")]
        if build is not self.build:
            words.append("-ffp-contract=off")  # what x86-64 has no instruction for
        return " ".join(words + (["-felc-stateless=" + self.code.stateless] if self.code.stateless else []))

    def make(self, build, by_elc):
        home = self.place(build, by_elc)
        if os.path.exists(self.program(build, by_elc)):
            return
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(os.path.join(self.options.directory, self.code.folder), home, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        for name, text in self.code.files.items():
            path = os.path.join(home, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        wrapper, variable = (os.path.join(build.path, "mpicc"), "ELC_TEST_CC") if build.runner else WRAPPER[build.mpi]
        environment = dict(os.environ, ELC_CC="gcc", **launch.environment(build.mpi, self.home))
        environment[variable] = self.compiler(build, by_elc)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for command in self.code.commands:
            done = subprocess.run(command.format(cc=wrapper, home=home), shell=True, cwd=home, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
            if done.returncode != 0:
                raise Failure("%s\n%s" % (command, "\n".join(done.stdout.splitlines()[-15:])))
            if by_elc and build is self.build:
                self.report += done.stdout
        if build is not self.build:
            return
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu[by_elc] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def place(self, build, by_elc):
        return os.path.join(self.home, ("elc" if build is self.build else "elc-" + build.name) if by_elc else "plain")

    def program(self, build, by_elc):
        return os.path.join(self.place(build, by_elc), self.code.program)

    def text_size(self, by_elc):
        told = subprocess.run(["size", self.program(self.build, by_elc)], stdout=subprocess.PIPE, text=True, check=True).stdout
        return int(told.splitlines()[1].split()[0])

    def lines_of_source(self):
        count = 0
        for part in self.code.sources.split():
            for folder, _, names in os.walk(os.path.join(self.options.directory, self.code.folder, part)):
                for name in names:
                    if name.endswith((".c", ".h")):
                        with open(os.path.join(folder, name), errors="replace") as file:
                            count += sum(1 for _ in file)
        return count

    # ---- Running ----

    def start(self, build, by_elc, **variables):
        where = os.path.join(self.place(self.build, by_elc), self.code.where)  # files are continued there
        variables["OPENBLAS_NUM_THREADS"] = "1"
        return launch.Job(build, self.code.ranks, self.program(build, by_elc), self.code.arguments.split(), variables, self.scratch, directory=where)

    def end(self, job):
        """What it says; None: it was killed."""
        if not job.wait(PATIENCE):
            stacks = job.stacks()
            job.destroy()
            raise Failure("no end: a hang?\n%s\n%s" % (stacks, job.complaints()[-3000:]))
        job.vanish()
        return re.findall(self.code.answer, job.text(), re.MULTILINE) if job.popen.returncode == 0 else None

    def run(self, by_elc):
        begin = time.monotonic()
        job = self.start(self.build, by_elc)
        said = self.end(job)
        seconds = time.monotonic() - begin
        if not said:
            raise Failure("code %s, %s\n%s\n%s" % (job.popen.returncode, job.command, job.text()[-2000:], job.complaints()[-2000:]))
        job.close()
        return said, seconds

    def agrees(self, expected, said):
        """Whether a line that is said is the one expected: to the last digits that a double computes otherwise on another processor."""
        number = r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?"
        if len(self.builds) == 1 or re.sub(number, "", said) != re.sub(number, "", expected):
            return said == expected
        return all(math.isclose(float(a), float(b), rel_tol=1e-6, abs_tol=1e-12)
                   for a, b in zip(re.findall(number, said), re.findall(number, expected), strict=True))

    def compare(self, expected, said, job):
        # What was said before the line of the restart is not said again.
        if not said or len(said) > len(expected) or not all(map(self.agrees, expected[-len(said):], said)):
            raise Failure("it says %s, and the plain program %s\n%s\n%s" % (said, expected, job.text()[-1000:], job.complaints()[-3000:]))

    def kill_often(self, expected, seconds):
        """Runs from beginning to end, killed and restarted, until there were enough kills."""
        in_vain = 0  # in a row: what runs for half a second may end before a line is taken
        while self.kills < self.options.kills:
            lines = os.path.join(self.home, "lines")
            # A line waits for a site from which it goes to other machines, for no longer than until it is asked for again.
            often = self.random.uniform(0.03, 0.15) if len(self.builds) == 1 else self.random.uniform(0.2, 0.45)
            in_run, taken_by = 0, {}
            while True:
                newest = launch.newest(lines)
                build = self.random.choice(self.builds)
                every = "%.3f" % max(0.005, often * seconds * (24 if build.runner else 1))  # under an emulator it takes longer
                job = self.start(build, True, ELC_DIR=lines, ELC_EVERY=every, ELC_VERBOSE="1", ELC_KEEP="2",
                                 ELC_FILE_ROOTS=self.place(self.build, True))
                if self.kills < self.options.kills and in_run < 6:
                    job.wait(PATIENCE, lambda: launch.newest(lines) > newest)
                    job.wait(self.random.uniform(0, 0.2) * seconds)
                ranks = job.ranks() if self.kills < self.options.kills and in_run < 6 else []
                if ranks and job.running():
                    launch.kill(self.random.sample(ranks, self.random.randint(1, len(ranks))))
                    self.kills += 1
                    in_run += 1
                said = self.end(job)
                restarted = re.search(r"restarting from line (\d+)", job.complaints())
                if newest and (restarted is None or int(restarted.group(1)) < newest):
                    if said is not None or restarted is None and "already" not in job.complaints():
                        raise Failure("not restarted from line %d\n%s" % (newest, job.complaints()[-3000:]))
                self.restarts += restarted is not None
                self.crossings += restarted is not None and taken_by[int(restarted.group(1))] is not build
                taken_by.update((line, build) for line in launch.committed(lines) if line not in taken_by)
                if said is not None:
                    self.compare(expected, said, job)
                    in_vain = in_vain + 1 if in_run == 0 and not launch.newest(lines) else 0
                    if in_vain == 20:
                        raise Failure("no line was taken\n%s" % job.complaints()[-3000:])
                elif not ranks:
                    raise Failure("it failed by itself\n%s" % job.complaints()[-3000:])
                job.close()
                if said is not None or os.path.exists(os.path.join(lines, "finished")):  # a kill may come behind the end
                    break
            shutil.rmtree(lines, ignore_errors=True)

    def all(self):
        self.make(self.build, False)
        for build in self.builds:
            self.make(build, True)
        expected, seconds = self.run(False)
        ratios = []
        for _ in range(self.options.runs):
            said, by_elc = self.run(True)
            if said != expected:
                raise Failure("it says %s, and the plain program %s" % (said, expected))
            _, plain = self.run(False)
            ratios.append(by_elc / plain)
            seconds = min(seconds, plain)  # of a machine that has other work, the first may have been slow: there would be no line
        counts = re.findall(r"elc-cc: (\d+) of (\d+) functions", self.report)
        build_time = "%.1f" % (self.cpu[True] / self.cpu[False]) if len(self.cpu) == 2 else "-"
        in_bytes = len(set(re.findall(r"elc-cc: .* saved as bytes.*", self.report)))
        self.kill_often(expected, seconds)
        sizes = [self.text_size(by_elc) for by_elc in (False, True)]
        counts = "%s, %s" % counts[-1][::-1] if counts else "-"
        return "%s | %d | %s | %s | %s | %d, %d | %s | %d, %d, %d" % (
            self.name, self.lines_of_source(), counts, in_bytes or "-", build_time, *sizes,
            "%.2f" % statistics.median(ratios) if ratios else "-", self.kills, self.restarts, self.crossings)

    def clean(self):
        self.scratch.remove()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", nargs="?")
    p.add_argument("directory", nargs="?")
    p.add_argument("codes", nargs="*", help="default: all that are there")
    p.add_argument("--list", action="store_true", help="the codes, and where they are from")
    p.add_argument("--kills", type=int, default=0)
    p.add_argument("--runs", type=int, default=3, help="pairs of runs without lines")
    p.add_argument("--other", action="append", default=[], help="a build for another processor, under which restarts are, too")
    p.add_argument("--ranks", type=int, help="for those that take any number (default: 2)")
    p.add_argument("--cc", help="elc-cc (default: the build's)")
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1000000))
    p.add_argument("--home", help="where they are built and run; what is there is not built anew (default: made, and removed at the end)")
    options = p.parse_args()
    if options.list or options.directory is None:
        for name, code in CODES.items():
            print("%-12s %-40s %s" % (name, code.folder, code.origin))
        sys.exit(0)
    builds = [launch.Build(path) for path in [options.build] + options.other]
    made = None if options.home else tempfile.mkdtemp(prefix="elc-codes-")
    options.home = os.path.abspath(options.home or made)
    print("codes, %s, seed %d" % (", ".join("%s (%s)" % (b.path, b.mpi) for b in builds), options.seed), flush=True)
    print("code | lines | functions, instrumented | in bytes | build | text, plain and by elc-cc | run | kills, restarts, from another machine", flush=True)
    failures = 0
    for name in options.codes or CODES:
        if not os.path.isdir(os.path.join(options.directory, CODES[name].folder)):
            print("%s | not there" % name, flush=True)
            continue
        trial = Trial(name, builds, options)
        try:
            print(trial.all(), flush=True)
        except Failure as failure:
            failures += 1
            print("%s | FAILED after %d kills: %s" % (name, trial.kills, failure), flush=True)
        finally:
            trial.clean()
    if made:
        shutil.rmtree(made, ignore_errors=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
