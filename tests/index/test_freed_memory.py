"""Arrays of a search use the memory of those that the search before has freed."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import numpy as np
from mnemark.index.snapshot import keep_freed_memory

def search():
    return sum(float(array[-1]) for array in [np.full(1_000_000, n, np.float32) for n in range(8)])

if sys.argv[1] == "keep":
    keep_freed_memory(1_000_000)
search()
search()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    search()
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // 10)
"""


def faults(how: str) -> int:
    """Page faults of a search."""
    ran = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True)
    return int(ran.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library keeps what it likes")
def test_freed_memory_is_kept_for_the_next_search() -> None:
    assert faults("keep") < 100 < faults("give back")
