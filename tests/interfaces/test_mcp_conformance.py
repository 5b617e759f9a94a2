"""The official suite and clients against a real daemon; they need npm, pip and what those fetch."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".conformance"


@pytest.mark.slow
@pytest.mark.parametrize("what", ["suite", "inspector", "clients"])
def test_the_official_tools_agree(what: str) -> None:
    pytest.importorskip("mcp")
    pytest.importorskip("uvicorn")
    if what != "clients" and shutil.which("npm") is None:
        pytest.skip("npm is not installed; it fetches the suite and the Inspector")
    command = [sys.executable, str(ROOT / "tools/conformance.py"), what, "--cache", str(CACHE)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if "ENOTFOUND" in ran.stderr or "Could not find a version" in ran.stderr:
        pytest.skip("the registry cannot be reached from here")
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
