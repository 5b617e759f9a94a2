"""A memory for each project: what is said of a repository stays in it, what is said of a person does not."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from agent.samples import claude_line, write
from forked import mnemark
from mnemark import Memory
from mnemark.errors import BusyError, UsageError
from mnemark.files import new_workspace
from mnemark.memory.health.doctor import doctor
from mnemark.memory.sessions.session import Session
from mnemark_agents.hook import background, cold, warm
from mnemark_agents.hook.event import parse_call
from mnemark_agents.hook.missed import note as note_missed
from sampled import sampled

ENGLISH = ("we use pnpm here", "Never push to main.", "I live in Leeds.", "From now on, answer in German.")
CHINESE = ("我们的数据库是 MySQL。", "永远不要直接推送到 main 分支。", "我住在上海。", "以后用中文回答。")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for name in ("MNEMARK_WORKSPACE", "CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    found = tmp_path / "home/mnemark"
    new_workspace.init(found)
    (found / "mnemark.toml").write_text('embedder = "none"\nrecall_deadline_ms = 5000\n', "utf-8")
    return found


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return folder


class Agent:
    """Claude Code in a folder, which calls its hooks alone or with a daemon."""

    one_machine = True

    def __init__(self, root: Path, *, daemon: bool) -> None:
        self.root = root
        self.memory = Memory.open(root) if daemon else None
        self.number = 0

    def session(self, identifier: str, **scope: str | None) -> Session:
        assert self.memory is not None
        return self.memory.session(identifier, **scope)

    def hook(self, event: str, folder: Path, name: str = "claude-code", **data: Any) -> str:
        data = {"cwd": str(folder), **data}
        if self.memory is None:
            output: Mapping[str, Any] = cold.handle(self.root, parse_call(event, name, data))
        else:
            output = warm.handle(cast("warm.WarmWorkspace", self), event, {"agent": name, "event": data})[
                "output"
            ]
        return str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def talk(self, session: str, folder: Path, *said: str) -> None:
        """Say something in a session, from its start to its end."""
        path = self.root.parent / f"{session}.jsonl"
        about = {"session_id": session, "transcript_path": str(path)}
        self.hook("session-start", folder, **about)
        for words in said:
            self.number += 2
            self.hook("prompt", folder, prompt=words, **about)
            write(
                path,
                claude_line(self.number, "user", words),
                claude_line(self.number + 1, "assistant", "Ok."),
            )
            self.hook("response", folder, **about)
        self.hook("session-end", folder, **about)
        self.finish(session)

    def finish(self, session: str) -> None:
        """Do what is left to the background."""
        if self.memory is None:
            background.run(self.root, f"claude-code:{session}")
        else:
            self.memory.sync()


@pytest.fixture(params=["alone", "daemon"])
def agent(request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
    monkeypatch.setattr(cold, "_run_in_background", lambda *_: None)
    found = Agent(root, daemon=request.param == "daemon")
    yield found
    if found.memory is not None:
        found.memory.close()


def texts(folder: Path) -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted(folder.rglob("*.md")))


class Case(NamedTuple):
    """What is said in one project and in another, and the words by which either is known."""

    said: tuple[str, ...]
    other: str
    question: str
    project: tuple[str, str]
    person: tuple[str, str]
    value: str


CASES = {
    "english": Case(ENGLISH, "Our package manager is yarn.", "Which package manager do we use?",
                    ("pnpm", "push to main"), ("Leeds", "German"), "yarn"),
    "chinese": Case(CHINESE, "我们的数据库是 Oracle。", "我们的数据库是什么？",
                    ("MySQL", "推送到 main"), ("上海", "中文"), "Oracle"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_project_keeps_its_own_and_the_person_s_goes_along(
    agent: Agent, root: Path, tmp_path: Path, case: Case
) -> None:
    said, other, question, projects, persons, value = case
    shop, blog = repository(tmp_path / "code/shop"), repository(tmp_path / "code/blog")
    outside = tmp_path / "home/letters"
    outside.mkdir()
    agent.talk("one", shop / "src", *said)
    agent.talk("two", blog, other)
    agent.talk("three", outside, "I use Zed.")
    assert sorted(path.name for path in (root / "projects").iterdir()) == ["blog", "shop"]
    assert len(list((root / "projects/shop/sessions").iterdir())) == 1
    assert len(list((root / "sessions").iterdir())) == 1
    with Memory.open(root) as memory:
        own = [str(fact) for fact in memory.facts(scope="projects/shop") if fact.scope]
        shared = "\n".join(str(fact) for fact in memory.facts())
        assert len(own) == 2
        assert all(any(word in fact for fact in own) for word in projects)
        assert all(word in shared for word in (*persons, "Zed"))
        assert not any(word in shared for word in projects)
        every = [hit.text for hit in memory.search(projects[0], scope="*").hits]
        assert any(projects[0] in text for text in every)
    there = agent.hook("session-start", shop, session_id="four", source="startup")
    elsewhere = agent.hook("session-start", blog, session_id="five", source="startup")
    nowhere = agent.hook("session-start", outside, session_id="six", source="startup")
    assert all(word in there for word in (*persons, *projects, "Zed"))
    assert value not in there
    assert all(word in elsewhere for word in (*persons, value, "Zed"))
    assert all(word in nowhere for word in (*persons, "Zed"))
    assert not any(word in elsewhere + nowhere for word in projects)
    assert value not in nowhere
    assert projects[0] in agent.hook("prompt", shop, session_id="seven", prompt=question)
    asked = agent.hook("prompt", blog, session_id="eight", prompt=question)
    assert value in asked
    assert projects[0] not in asked
    assert projects[0] not in agent.hook("prompt", outside, session_id="nine", prompt=question)


def test_nothing_is_made_until_something_is_said(agent: Agent, root: Path, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    agent.talk("one", shop)
    agent.hook("tool", shop, session_id="one", tool_name="Read", tool_input={"file_path": "/x"})
    assert not (root / "projects").exists()
    call: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_input": {"command": "make deploy"},
        "tool_response": "done",
    }
    agent.hook("tool", shop, session_id="one", tool_use_id="t1", **call)
    assert (root / "projects/shop/PROJECT.md").is_file()


def test_a_session_stays_where_it_began(agent: Agent, root: Path, tmp_path: Path) -> None:
    shop, blog = repository(tmp_path / "shop"), repository(tmp_path / "blog")
    path = root.parent / "one.jsonl"
    about: dict[str, Any] = {"session_id": "one", "transcript_path": str(path)}
    agent.hook("session-start", shop, **about)
    call: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_input": {"command": "make deploy"},
        "tool_response": "done",
    }
    agent.hook("tool", blog, tool_use_id="t1", **call, **about)
    write(path, claude_line(1, "user", "The lantern is lit by Hobson."))
    agent.hook("response", blog, **about)
    agent.hook("compact", blog, trigger="auto", **about)
    agent.hook("session-end", tmp_path, **about)
    agent.finish("one")
    assert [one.name for one in (root / "projects").iterdir()] == ["shop"]
    assert not (root / "sessions").exists()
    assert "make deploy" in texts(root / "projects/shop")
    assert "make deploy" not in texts(root / "memory")
    assert not list((root / ".mnemark/hooks").glob("*.project"))
    question = "Who lights the lantern?"
    assert "Hobson" in agent.hook("prompt", shop, session_id="two", prompt=question)
    assert agent.hook("prompt", blog, session_id="three", prompt=question) == ""


def test_a_session_from_before_goes_on_in_the_shared_memory(agent: Agent, root: Path, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    with Memory.open(root) as memory:
        memory.session("claude-code:one").add("user", "The gate word is pelican.")
        memory.remember("package manager", "npm", subject="project")
        memory.remember("editor", "Zed")
        memory.sync()
    agent.talk("one", shop, "The lantern is lit by Hobson.")
    assert not (root / "projects").exists()
    assert "pelican" in agent.hook("prompt", shop, session_id="two", prompt="What is the gate word?")
    agent.talk("three", shop, "We use pnpm here.", "We use vim.")
    with Memory.open(root) as memory:
        shared = [str(fact) for fact in memory.facts()]
    assert "project package manager: npm" in shared, "a project's statement ends nothing of the root's"
    assert "user editor: Zed" in shared
    there = agent.hook("session-start", shop, session_id="four")
    assert all(word in there for word in ("pnpm", "vim", "Zed"))
    assert "npm" not in there.replace("pnpm", ""), "in the project its own value counts"


def test_a_worktree_and_a_moved_repository(agent: Agent, root: Path, tmp_path: Path) -> None:
    own = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    shop = tmp_path / "shop"
    first = ["-C", str(shop), *own, "commit", "-q", "--allow-empty", "-m", "x"]
    tree = ["-C", str(shop), "worktree", "add", "-q", str(tmp_path / "fix")]
    for words in (["init", "-q", str(shop)], first, tree):
        subprocess.run(["git", *words], check=True, capture_output=True)
    agent.talk("one", tmp_path / "fix", "Our package manager is pnpm.")
    assert [one.name for one in (root / "projects").iterdir()] == ["shop"]
    question = "Which package manager do we use?"
    assert "pnpm" in agent.hook("prompt", shop, session_id="two", prompt=question)
    shop.rename(tmp_path / "store")
    assert agent.hook("prompt", tmp_path / "store", session_id="three", prompt=question) == ""
    with Memory.open(root) as memory:
        (told,) = (one for one in doctor(memory.workspace).findings if one.kind == "project")
    assert told.what == f"the repository of the project shop is not at {shop} any more"
    assert told.fix == "if it has moved, correct the path in projects/shop/PROJECT.md"
    page = root / "projects/shop/PROJECT.md"
    page.write_text(page.read_text("utf-8").replace(str(shop), str(tmp_path / "store")), "utf-8")
    assert "pnpm" in agent.hook("prompt", tmp_path / "store", session_id="four", prompt=question)


def test_two_repositories_of_one_name(agent: Agent, root: Path, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "a/shop"), repository(tmp_path / "b/shop")
    agent.talk("one", one, "Our package manager is pnpm.")
    agent.talk("two", two, "Our package manager is yarn.")
    assert sorted(path.name for path in (root / "projects").iterdir()) == ["shop", "shop-2"]
    question = "Which package manager do we use?"
    assert "pnpm" not in agent.hook("prompt", two, session_id="three", prompt=question)
    assert "yarn" not in agent.hook("prompt", one, session_id="four", prompt=question)


def test_one_memory_for_everything(agent: Agent, root: Path, tmp_path: Path) -> None:
    shop, blog = repository(tmp_path / "shop"), repository(tmp_path / "blog")
    settings = (root / "mnemark.toml").read_text("utf-8")
    (root / "mnemark.toml").write_text(f"projects = false\n{settings}", "utf-8")
    if agent.memory is not None:
        agent.memory.close()
        agent.memory = Memory.open(root)
    agent.talk("one", shop, "Our package manager is pnpm.", "I live in Leeds.")
    assert not (root / "projects").exists()
    told = agent.hook("session-start", blog, session_id="two")
    assert all(word in told for word in ("pnpm", "Leeds"))


def test_what_a_hook_missed_is_made_up_in_its_project(agent: Agent, root: Path, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    path = write(root.parent / "one.jsonl", claude_line(1, "user", "The lantern is lit by Hobson."))
    lost = {"session_id": "one", "transcript_path": str(path), "cwd": str(shop)}
    note_missed(root, "response", "claude-code", lost, BusyError("busy"))
    agent.hook("response", tmp_path, session_id="two", transcript_path=str(path.with_name("none.jsonl")))
    (log,) = (root / "projects/shop/sessions").iterdir()
    assert "Hobson" in log.read_text("utf-8")


def test_a_link_out_of_the_workspace_is_refused(agent: Agent, root: Path, tmp_path: Path) -> None:
    shop, outside = repository(tmp_path / "shop"), tmp_path / "outside"
    outside.mkdir()
    (root / "projects").mkdir()
    (root / "projects/shop").symlink_to(outside)
    with pytest.raises(UsageError, match="leads out of the workspace"):
        agent.talk("one", shop, "Our package manager is pnpm.")
    assert list(outside.iterdir()) == []


def test_cursor_names_the_folders_that_are_open(agent: Agent, root: Path, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    about: dict[str, Any] = {"conversation_id": "one", "workspace_roots": [str(shop)], "cwd": ""}
    agent.hook("beforeSubmitPrompt", shop, "cursor", prompt="Our package manager is pnpm.", **about)
    assert [one.name for one in (root / "projects").iterdir()] == ["shop"]


def ask(root: Path, folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Call tools as a client does that starts `mnemark mcp` in a folder."""
    lines = [
        {"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": name, "arguments": given}}
        for at, (name, given) in enumerate(calls)
    ]
    found = []
    for line in lines:  # one after the other: calls of one connection run at once
        done = mnemark("mcp", "--alone", "-w", str(root), cwd=folder, given=json.dumps(line))
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout)["result"]["structuredContent"])
    return found


def test_tools_work_in_the_project_of_their_folder(root: Path, tmp_path: Path) -> None:
    shop, blog = repository(tmp_path / "shop"), repository(tmp_path / "blog")
    kept = ask(
        root, shop,
        ("memory_remember", {"predicate": "package manager", "value": "pnpm", "subject": "project"}),
        ("memory_remember", {"predicate": "city", "value": "Leeds"}),
        ("memory_remember", {"value": "The deploy runs on Fridays", "scope": ""}),
        ("memory_write", {"text": "I moved the parser to src/parse.py; all tests pass."}),
        ("memory_write", {"text": "Ann has her birthday on 5 May."}),
    )  # fmt: skip
    paths = [one["path"] for one in kept]
    assert [path.startswith("projects/shop/") for path in paths] == [True, False, False, True, False]
    (here,) = ask(root, shop, ("memory_search", {"query": "which package manager"}))
    (there,) = ask(root, blog, ("memory_search", {"query": "which package manager"}))
    (named,) = ask(root, blog, ("memory_search", {"query": "package manager", "scope": "projects/shop"}))
    assert "pnpm" in json.dumps(here["results"])
    assert "pnpm" not in json.dumps(there["results"])
    assert "pnpm" in json.dumps(named["results"])
    (first,) = [row for row in here["results"] if "pnpm" in row["snippet"]][:1]
    assert first["scope"] == "projects/shop"
    assert not (root / "projects/blog").exists()


def test_a_hook_of_a_process_of_its_own(root: Path, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    said = {"conversation_id": "one", "prompt": "Our package manager is pnpm.", "cwd": str(shop)}
    done = subprocess.run(
        [sys.executable, "-m", "mnemark", "hook", "prompt", "--agent", "cursor", "--alone", "-w", str(root)],
        input=json.dumps(said).encode(), capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"continue": True}
    assert (root / "projects/shop/PROJECT.md").is_file()


def command(root: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    done = mnemark(*words, cwd=root.parent)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    ("before", "after"),
    sampled(
        [
            (None, "projects = false\n"),
            ("", "projects = false\n"),
            ('owner = "Ann"', 'owner = "Ann"\nprojects = false\n'),
            ('owner = "Ann"\n[llm]\nmodel = ""\n', 'owner = "Ann"\nprojects = false\n[llm]\nmodel = ""\n'),
            ("projects = true # mine\n", "projects = false\n"),
            ("projects=false\n", "projects=false\n"),
        ],
        2,
    ),
)
def test_connect_keeps_one_memory_where_asked(root: Path, before: str | None, after: str) -> None:
    settings = root / "mnemark.toml"
    settings.unlink() if before is None else settings.write_text(before, "utf-8")
    told = command(root, "connect", "claude-code", "-w", str(root)).stderr
    assert ("--one-memory" in told) == (before != "projects=false\n")
    dry = command(root, "connect", "claude-code", "--one-memory", "--dry-run", "-w", str(root))
    assert "projects = false" in dry.stdout
    assert before is None or settings.read_text("utf-8") == before
    told = command(root, "connect", "claude-code", "--one-memory", "-w", str(root)).stderr
    assert "One memory for everything" in told
    assert settings.read_text("utf-8") == after


def test_status_and_check_know_of_projects(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cold, "_run_in_background", lambda *_: None)
    shop = repository(tmp_path / "shop")
    said = {"conversation_id": "one", "prompt": "Our package manager is pnpm.", "cwd": str(shop)}
    cold.handle(root, parse_call("prompt", "cursor", said))
    assert "projects   1 with a memory of their own" in command(root, "status", "-w", str(root)).stdout
    assert json.loads(command(root, "status", "--json", "-w", str(root)).stdout)["projects"] == 1
    found = command(root, "search", "package manager", "--scope", "projects/shop", "-w", str(root)).stdout
    assert "pnpm" in found
    assert "pnpm" not in command(root, "search", "package manager", "-w", str(root)).stdout
    command(root, "connect", "claude-code", "-w", str(root))
    switched = command(root, "connect", "claude-code", "--one-memory", "-w", str(root)).stderr
    assert "--scope projects/shop" in switched, "what it holds is found in no other way"
    assert "no" not in command(root, "connect", "--check", "claude-code").stdout.split()


def test_what_a_project_s_session_said_is_taken_back_everywhere(
    agent: Agent, root: Path, tmp_path: Path
) -> None:
    shop = repository(tmp_path / "shop")
    agent.talk("one", tmp_path, "I use Zed.")
    agent.talk("two", shop, "I live in Leeds.", "Our package manager is pnpm.", "I no longer use Zed.")
    with Memory.open(root) as memory:
        assert [str(fact) for fact in memory.facts()] == ["user city: Leeds"]
        memory.revert(session="claude-code:two")
        assert [str(fact) for fact in memory.facts(scope="projects/shop")] == ["user editor: Zed"]
    agent.talk("three", shop, "I live in York.", "Our package manager is yarn.")
    with Memory.open(root) as memory:
        assert len(list(memory.facts(scope="projects/shop"))) == 3
        memory.forget(session="claude-code:three", erase=True)
        assert [str(fact) for fact in memory.facts(scope="projects/shop")] == ["user editor: Zed"]
    held = [path for path in root.rglob("*") if path.is_file() and b"York" in path.read_bytes()]
    assert held == []
