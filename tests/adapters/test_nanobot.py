"""The unmodified `nanobot agent -m`, as a process, with a scripted model. Runs where nanobot is installed:
`make adapters`.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adapters.chat_model import Call, Model, serving

pytest.importorskip("nanobot", reason="needs nanobot-ai; run `make adapters`")

SESSIONS = {
    "english": (
        "Remember: our staging server is called Kestrel.",
        "What is the name of our staging server?",
        "Kestrel",
    ),
    "chinese": ("记住：我们的测试服务器叫做红隼。", "我们的测试服务器叫什么名字？", "红隼"),
}


class Home:
    """A person's home folder with nanobot's configuration; mnemark's workspace lies beside nanobot's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nanobot = folder / ".nanobot"
        self.memory = self.nanobot / "mnemark"
        self.nanobot.mkdir(parents=True)

    def init(self) -> None:
        command = [sys.executable, "-m", "mnemark", "init", str(self.memory)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    def say(self, model: Model, text: str, session: str) -> subprocess.CompletedProcess[str]:
        provider = {"apiKey": "none", "apiBase": model.url}
        config = {
            "agents": {"defaults": {"model": "scripted", "provider": "custom"}},
            "providers": {"custom": provider},
        }
        (self.nanobot / "config.json").write_text(json.dumps(config), encoding="utf-8")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MNEMARK_")}
        environment |= {"HOME": str(self.folder), "USERPROFILE": str(self.folder), "PYTHONUTF8": "1"}
        ran = subprocess.run(
            [sys.executable, "-m", "nanobot", "agent", "-m", text, "-s", session, "--no-markdown"],
            env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return ran

    def turns(self, session: str) -> list[dict[str, Any]]:
        found = []
        for path in (self.memory / "sessions").glob(f"{session.replace(':', '-')}-*.jsonl"):
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            found += [line for line in lines if "role" in line]
        return found


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def transcript(first: Model, second: Model) -> str:
    """What the model received, shortened: for people."""
    lines = ["# session cli:one, request 1, last message (user)", first.last(0), ""]
    lines += ["# session cli:one, request 2, last message (result of memory_remember)", first.last(1), ""]
    lines += ["# session cli:two, request 1, last message (user)", second.last(0), ""]
    return "\n".join(lines)


@pytest.mark.parametrize("language", sorted(SESSIONS))
def test_what_one_session_hears_the_next_one_recalls(home: Home, language: str) -> None:
    told, asked, answer = SESSIONS[language]
    home.init()
    remember = Call("memory_remember", {"key": "staging server", "content": answer, "subject": "team"})
    with serving(Model(remember, "Noted.")) as first:
        home.say(first, told, "cli:one")
    own = {path: path.read_bytes() for path in (home.nanobot / "workspace" / "memory").iterdir()}
    with serving(Model(f"It is {answer}.")) as second:
        ran = home.say(second, asked, "cli:two")
    if folder := os.environ.get("MNEMARK_TRANSCRIPTS"):
        Path(folder, f"nanobot-{language}.txt").write_text(transcript(first, second), encoding="utf-8")

    offered = {tool["function"]["name"] for tool in first.requests[0]["tools"]}
    assert {"memory_search", "memory_get", "memory_remember", "memory_forget"} <= offered
    assert '"status": "remembered"' in first.last(1)
    assert answer in (home.memory / "memory" / "facts" / "team.md").read_text(encoding="utf-8")

    given = second.last(0)
    assert given.startswith(asked)
    assert given.count("<mnemark-recall ") == 1, "the briefing; a recall has no more to say"
    assert answer in given[given.index("<mnemark-recall ") :]
    assert answer not in second.said(0, "system"), "the recall is the user's role, and nothing else told it"
    assert f"It is {answer}." in ran.stdout
    assert [(turn["role"], turn["content"]) for turn in home.turns("cli:one")] == [
        ("user", told), ("assistant", "Noted."),
    ]  # fmt: skip
    assert [(turn["role"], turn["content"]) for turn in home.turns("cli:two")] == [
        ("user", asked), ("assistant", f"It is {answer}."),
    ]  # fmt: skip
    assert {path: path.read_bytes() for path in own} == own, "nanobot's own memory files are only read"
    assert not re.search("Traceback|mnemark:", ran.stderr)


def test_a_session_that_goes_on_is_not_told_its_own_words(home: Home) -> None:
    home.init()
    with serving(Model("Noted.")) as model:
        home.say(model, "Our staging server is called Kestrel.", "cli:one")
        home.say(model, "What is the name of our staging server?", "cli:one")
    assert "staging server is called Kestrel" in model.said(-1, "user")
    assert "<mnemark-recall " not in model.said(-1, "user")
    assert len(home.turns("cli:one")) == 4


def test_without_a_workspace_nanobot_is_as_it_was(home: Home) -> None:
    with serving(Model("Hello.")) as model:
        ran = home.say(model, "Hello there, what is our staging server?", "cli:one")
    assert "Hello." in ran.stdout
    assert not [tool for tool in model.requests[0]["tools"] if tool["function"]["name"].startswith("memory_")]
    assert not home.memory.exists()
    assert "mnemark" not in ran.stderr


def test_a_broken_workspace_is_told_of_once_and_the_turn_goes_on(home: Home) -> None:
    home.memory.mkdir()
    (home.memory / "mnemark.toml").write_text("recall_budget = [\n", encoding="utf-8")
    with serving(Model(Call("memory_search", {"query": "staging"}), "Hello.")) as model:
        ran = home.say(model, "What is our staging server?", "cli:one")
    assert "Hello." in ran.stdout
    assert "<mnemark-recall" not in model.said(0, "user")
    assert "memory is off" in model.last(1)
    assert "mnemark.toml" in model.last(1)
    assert ran.stderr.count("mnemark: open:") == 1
    assert "Traceback" not in ran.stderr
