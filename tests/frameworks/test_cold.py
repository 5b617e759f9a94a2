"""Two runs of an agent of each framework, each in a process of its own: cold, without a daemon, as shipped.

This is the smoke of `make frameworks`: each framework is imported, and what was told in one run is in the
next one's request, within the time that a turn waits.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from frameworks.hosts import HOSTS
from frameworks.models import ASKED, TOLD, turns

RUN = """
import sys
from frameworks.hosts import HOSTS
from frameworks.models import Script
from mnemark_adapters.frameworks import AgentMemory

name, folder, said = sys.argv[1:]
host, forms = next((host, forms) for host, forms in HOSTS.items() if host.__name__ == name)
script = Script("Noted.")
with AgentMemory(folder) as memory:
    host(memory, script, said, forms[0])
print(script.requests[-1].said("user"), memory.counts)
"""


@pytest.mark.skipif(Path(sys.prefix).name != ".frameworks", reason="run `make frameworks`")
@pytest.mark.parametrize("name", [host.__name__ for host in HOSTS])
def test_what_was_told_in_one_run_is_known_in_the_next(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(said: str) -> str:
        words = [sys.executable, "-c", RUN, name, str(tmp_path / "w"), said]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(TOLD)
    assert "pelican" in (found := run(ASKED)), found
    assert [content for role, content in turns(tmp_path / "w") if role == "user"] == [TOLD, ASKED]
    assert not list(tmp_path.rglob("daemon.json"))
