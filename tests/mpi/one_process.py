#!/usr/bin/env python3
"""one_process.py BUILD PROGRAM [ARGUMENTS...]: runs a test program as a single MPI process under the build's launcher, with an
ELC_DIR of its own; its exit code."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import launch  # noqa: E402


def main():
    build, program = launch.Build(sys.argv[1]), sys.argv[2:]
    seed = {k: v for k, v in os.environ.items() if k.startswith("ELC_")}  # ELC_SEED replays
    scratch = launch.Scratch()
    try:
        directory = {"ELC_DIR": os.path.join(scratch.path, "lines")}
        command = launch.launcher(build.mpi, 1, {*seed, *directory}) + program
        return subprocess.run(command, env={**os.environ, **launch.environment(build.mpi, scratch.path), **directory},
                              stdin=subprocess.DEVNULL).returncode
    finally:
        scratch.remove()


if __name__ == "__main__":
    sys.exit(main())
