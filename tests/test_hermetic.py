"""Tests depend on nothing of whoever runs them; see `conftest.py`."""

import subprocess
import sys
from pathlib import Path


def test_a_test_and_its_processes_live_below_a_home_of_their_own(tmp_path: Path) -> None:
    assert Path.home() in tmp_path.parents
    code = "from pathlib import Path; print(Path.home())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert Path(ran.stdout.strip()) == Path.home()
