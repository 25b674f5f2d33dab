#!/usr/bin/env python3
"""cc_test.py BUILD [TEST...]: elc-cc as a compiler. Projects are built as their owners do it, with the MPI's own wrapper; what
elc-cc refuses names file and line. That its programs survive is for the kill test (--programs unchanged). Without TEST a run has one in
twenty of them; with ELC_TEST_ALL all."""

import sys
import unittest

from cases import Cases, launch, SEED
from draw import part_of
from alignment_cases import Alignment  # noqa: F401
from build_cases import Builds  # noqa: F401
from character_cases import Characters  # noqa: F401
from code_cases import Code  # noqa: F401
from file_cases import Files  # noqa: F401
from handle_cases import Handles  # noqa: F401
from library_cases import Library  # noqa: F401
from line_cases import Lines  # noqa: F401
from memory_cases import Memory  # noqa: F401
from mpi_cases import Objects  # noqa: F401
from number_cases import Addresses, Numbers, Sizes  # noqa: F401
from pointer_cases import Pointers  # noqa: F401
from pragma_cases import Pragmas  # noqa: F401
from project_cases import Projects  # noqa: F401
from refused_cases import Refused, Unfit  # noqa: F401
from value_cases import Values  # noqa: F401


def main():
    Cases.build = build = launch.Build(sys.argv[1])
    if not build.links_alone:
        print("the archive of this build does not link by itself")
        sys.exit(77)
    print("elc-cc under %s, seed %d (ELC_TEST_SEED)" % (build.mpi, SEED), flush=True)
    unittest.main(argv=[sys.argv[0], "-v", *(sys.argv[2:] or part_of(sys.modules["__main__"], range(20), 0))])


if __name__ == "__main__":
    main()
