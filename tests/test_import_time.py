"""`import mnemark` costs next to nothing; what is heavy is loaded by what needs it."""

import subprocess
import sys
from pathlib import Path

BUDGET = 0.060
"""Seconds of CPU for `import mnemark`."""

_COUNTED = """
import sys, time
started = time.process_time()
import mnemark
spent = time.process_time() - started
heavy = {'apsw', 'httpx', 'markdown_it', 'msgspec', 'numpy', 'rich', 'rjieba', 'typer', 'watchfiles'}
print(spent, *sorted(heavy & set(sys.modules)))
"""


def _probe(folder: Path) -> tuple[float, list[str]]:
    ran = subprocess.run(
        [sys.executable, "-c", _COUNTED], cwd=folder, capture_output=True, text=True, check=True
    )
    seconds, *heavy = ran.stdout.split()
    return float(seconds), heavy


def test_import_is_quick_and_loads_nothing_heavy(tmp_path: Path) -> None:
    probes = [_probe(tmp_path) for _ in range(3)]
    assert [heavy for _, heavy in probes] == [[], [], []]
    assert min(seconds for seconds, _ in probes) <= BUDGET
