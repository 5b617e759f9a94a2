"""What the pages on agents show does what they say."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent.settings_of import none_named
from mnemark_agents.hook.agents import AGENTS
from sampled import sampled

PAGES = Path(__file__).parents[2] / "docs/agents"
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(name: str) -> list[str]:
    return _BLOCK.findall((PAGES / f"{name}.md").read_text("utf-8"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("name", sampled([agent.name for agent in AGENTS], 3))
def test_the_blocks_connect_and_take_it_out_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none_named(monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path))
    command = tmp_path / "bin/mnemark"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mnemark "$@"\n', "utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")

    def configured() -> set[str]:
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        ours = re.compile(r'hook session-start|"hook", "EVENT"')  # in a plug-in the event is filled in
        return {str(path.relative_to(tmp_path)) for path in files if ours.search(path.read_text())}

    connect, remove, *more = blocks(name)
    subprocess.run(["sh", "-euc", connect], cwd=tmp_path, check=True, capture_output=True)
    assert configured()
    subprocess.run(["sh", "-euc", remove], cwd=tmp_path, check=True, capture_output=True)
    assert configured() == set()
    for block in more:
        subprocess.run(["sh", "-euc", block], cwd=tmp_path, check=True, capture_output=True)
        assert configured() == {"mnemark-plugin/hooks/hooks.json"}


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_the_pages_name_every_event(agent: object) -> None:
    named = next(one for one in AGENTS if one is agent)
    rows = [line.split("|")[1] for line in (PAGES / f"{named.name}.md").read_text("utf-8").splitlines()
            if line.startswith("| `")]  # fmt: skip
    told = set(re.findall(r"`([\w-]+)`", json.dumps(rows)))
    assert told == set(named.events)
