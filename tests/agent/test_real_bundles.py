"""The bundles of a release, installed into the real agents that npm has, with a scripted model on loopback.

As in `test_real_agents`, agents whose command is not on the PATH are skipped. Typed is what the pages of
the bundles say.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from agent.scripted import Call, Model, serving, strings
from agent.test_real_agents import FIRST, REPLIES, RULE, SECOND, TEA, Machine, program
from agent.test_real_agents import SAID as WORDS
from mnemark import Memory
from mnemark_agents.connect.bundles import BUNDLES, Bundle, whole

pytestmark = [
    pytest.mark.timed,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="a home folder of its own is made"),
]
SAID = [("user", FIRST), ("assistant", REPLIES[0]), ("user", SECOND), ("assistant", REPLIES[1])]


class Bundled(Machine):
    """A machine on which mnemark is known by the PATH alone."""

    def __init__(self, folder: Path, model: Model) -> None:
        super().__init__(folder, model)
        self.memory.rmdir()
        self.memory = self.home / "mnemark"
        self.commands = folder / "bin"
        self.commands.mkdir()
        self.bundles = folder / "bundles"
        command = self.commands / "mnemark"
        source = Path(__file__).parents[2] / "src"
        command.write_text(
            f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(source))} exec {sys.executable} -m mnemark "$@"\n',
            "utf-8",
        )
        command.chmod(0o755)
        self.env["PATH"] = f"{self.commands}{os.pathsep}{self.env['PATH']}"

    def install(self, bundle: Bundle) -> str:
        for name, text in whole(bundle).items():
            path = self.bundles / bundle.agent / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return self.type(bundle, bundle.install)

    def type(self, bundle: Bundle, lines: Sequence[str]) -> str:
        """Type lines in a bundle's folder; return what they say."""
        said = ""
        for line in lines:
            words = shlex.split(line)
            done = subprocess.run(
                [program(bundle.agent), *words[1:]], env=self.env, cwd=self.bundles / bundle.agent,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False,
            )  # fmt: skip
            assert done.returncode == 0, (line, done.stdout, done.stderr)
            said += done.stdout + done.stderr
        return said


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Bundled]:
    with serving(Model(*REPLIES)) as model:
        machine = Bundled(tmp_path, model)
        try:
            yield machine
        finally:
            machine.stop()


@pytest.fixture(params=BUNDLES, ids=lambda bundle: bundle.agent)
def bundle(request: pytest.FixtureRequest) -> Bundle:
    found: Bundle = request.param
    program(found.agent)
    return found


def recalled(machine: Machine) -> list[str]:
    """The texts that came with the second question and hold what the first session said."""
    return [text for text in machine.received(SECOND) if "<mnemark-recall" in text and "spare key" in text]


def tell_and_ask(machine: Bundled, bundle: Bundle) -> None:
    """Say something in one session and ask for it in the next: it is recorded and recalled, each once."""
    machine.say(bundle.agent, FIRST)
    machine.settle()
    (machine.memory / "USER.md").write_text(f"# Me\n\n{RULE}\n", "utf-8")
    machine.say(bundle.agent, SECOND)
    assert machine.turns_after(len(SAID)) == SAID
    assert "\n".join(recalled(machine)).count("Ann keeps the spare key") == 1
    assert sum(text.count(RULE) for text in machine.received(SECOND)) == 1
    assert machine.log() == ""


def test_it_remembers_from_one_session_to_the_next(machine: Bundled, bundle: Bundle) -> None:
    machine.install(bundle)
    assert not machine.memory.exists()
    tell_and_ask(machine, bundle)
    machine.type(bundle, bundle.remove)
    assert machine.turns() == SAID
    before = len(machine.model.requests)
    machine.say(bundle.agent, "And now?")
    assert machine.turns() == SAID
    assert not any(
        "mnemark-recall" in text for _, body in machine.model.requests[before:] for text in strings(body)
    )


def test_its_model_uses_the_tools_on_the_memory_that_is_named(
    machine: Bundled, bundle: Bundle, tmp_path: Path
) -> None:
    if bundle.named:
        machine.memory = tmp_path / "另一个 memory"
    machine.env["MNEMARK_WORKSPACE"] = str(tmp_path / "另一个 memory")
    machine.install(bundle)
    fact = {"subject": "harbour gate", "predicate": "code word", "value": "pelican"}
    machine.model.calls += [Call(FIRST, "memory_remember", fact)]
    if bundle.agent == "claude-code":  # what a print session may call is said on its command line
        (machine.home / ".claude/settings.json").write_text(
            json.dumps(
                json.loads((machine.home / ".claude/settings.json").read_bytes())
                | {"permissions": {"allow": ["mcp__plugin_mnemark_mnemark"]}}
            )
        )
    machine.say(bundle.agent, FIRST)
    assert machine.model.calls == []
    with Memory.open(machine.memory, config={"embedder": "none"}) as memory:
        assert [fact.value for fact in memory.facts(subject="harbour gate")] == ["pelican"]
    assert machine.turns_after(1)[0] == SAID[0]
    assert (machine.home / "mnemark").exists() == (not bundle.named) != (tmp_path / "另一个 memory").exists()
    assert machine.log() == ""


def test_beside_a_connection_nothing_is_recorded_or_recalled_twice(machine: Bundled, bundle: Bundle) -> None:
    machine.connect(bundle.agent)
    machine.install(bundle)
    tell_and_ask(machine, bundle)


ASKED = {
    "claude-code": f"/mnemark:remember {TEA}", "codex": f"$mnemark:remember {TEA}",
    "gemini-cli": f"/mnemark:remember {TEA}", "openclaw": f"/mnemark_remember {TEA}",
}  # fmt: skip


def test_a_command_tells_the_model_what_to_do(machine: Bundled, bundle: Bundle) -> None:
    machine.install(bundle)
    machine.say(bundle.agent, ASKED[bundle.agent])
    texts = [text for _, body in machine.model.requests for text in strings(body)]
    told = "Call the tool memory_remember of the MCP server"
    if bundle.agent == "openclaw":  # its model is told which file to read
        told = "extensions/mnemark/skills/mnemark-remember/SKILL.md"
    assert any(told in text for text in texts)
    assert any(TEA in text for text in texts)


SHOWS = {
    "claude-code": ["--output-format", "stream-json", "--verbose", "--include-hook-events"],
    "gemini-cli": [],
    "openclaw": [],
}
"""What is typed beside a prompt to be shown what hooks say; Codex shows it at a terminal only."""


def test_without_the_program_the_agent_goes_on_and_it_is_said(machine: Bundled, bundle: Bundle) -> None:
    machine.install(bundle)
    (machine.commands / "mnemark").unlink()
    words = [program(bundle.agent), *WORDS[bundle.agent](FIRST, 1), *SHOWS.get(bundle.agent, [])]
    done = subprocess.run(
        words, env=machine.env | {"PWD": str(machine.project)}, cwd=machine.project,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=True,
    )  # fmt: skip
    assert any(FIRST in text for _, body in machine.model.requests for text in strings(body))
    assert not machine.memory.exists()
    shown = done.stdout + done.stderr
    assert ("mnemark could not be started, so nothing is remembered" in shown) == (bundle.agent in SHOWS)
    assert "Agent execution blocked" not in shown
