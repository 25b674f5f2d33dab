"""Which part of the tests a run has: drawn by a seed, which the tests print; all of it with ELC_TEST_ALL. A run of the gate cannot
have everything, and many runs have."""

import os
import random
import unittest

SEED = int(os.environ.get("ELC_TEST_SEED", random.SystemRandom().randrange(1000000)))


def drawn(name, *ways):
    """One of the ways in which a test can go."""
    return ways if os.environ.get("ELC_TEST_ALL") else [random.Random("%d %s" % (SEED, name)).choice(ways)]


def names_of(suite):
    return [name for test in suite for name in (names_of(test) if isinstance(test, unittest.TestSuite) else [test.id()])]


def every_of(module):
    """The names of its tests, as unittest.main has them."""
    return [name.partition(".")[2] for name in names_of(unittest.defaultTestLoader.loadTestsFromModule(module))]


def part_of(module, parts, part):
    """The names of those of its tests that fall to this of the parts: each falls to one."""
    return [name for name in every_of(module) if part in drawn(name, *parts)]

