"""Consolidation: what people wrote stays, what is shown is what happens, and twice is once."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from mnemark import Memory
from mnemark.facts.model import Fact
from mnemark.memory import file_edits
from mnemark.memory.consolidation.archive import strength
from mnemark.retrieval import usage

NOW = datetime.now().astimezone() + timedelta(hours=1)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    found = Memory.open(tmp_path, config={"embedder": "none", "timezone": "Asia/Shanghai"})
    yield found
    found.close()


def texts(root: Path) -> dict[str, bytes]:
    """The files of a workspace that people read."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.md"))}


def said(memory: Memory, session: str, text: str) -> str:
    talk = memory.session(session)
    talk.add("user", text)
    return f"{talk.path}#L2"


def test_what_earned_it_is_core_memory_and_the_rest_is_not(memory: Memory) -> None:
    memory.remember("reply language", "中文", type="rule")
    memory.remember("database", "SQLite", subject="atlas", origin="agent", source=said(memory, "a", "x"))
    memory.remember("editor", "Helix")
    memory.remember("build", "slow today", subject="atlas", origin="agent", priority="transient")
    memory.consolidate(now=NOW)
    core, user = ((memory.root / name).read_text() for name in ("MEMORY.md", "USER.md"))
    assert "- 首选语言：中文" in core
    assert "- 编辑器：Helix" in user
    assert "SQLite" not in core + user  # said once, by the agent alone
    memory.remember("database", "SQLite", subject="atlas", origin="agent", source=said(memory, "b", "y"))
    memory.consolidate(now=NOW)
    assert "- atlas 的数据库：SQLite" in (memory.root / "MEMORY.md").read_text()


def test_by_hand_stays_and_taken_out_stays_out(memory: Memory) -> None:
    mine = "# Memory\n\nNever deploy on Fridays.\n- 我的备注\n"
    (memory.root / "MEMORY.md").write_text(mine)
    memory.remember("commits", "in English", type="rule")
    memory.remember("tests", "before each commit", type="rule")
    memory.consolidate(now=NOW)
    path = memory.root / "MEMORY.md"
    path.write_text(path.read_text().replace("- commits: in English\n", ""))
    memory.remember("reviews", "by two people", type="rule")
    memory.consolidate(now=NOW)
    text = path.read_text()
    assert text.startswith(mine)
    assert "- reviews: by two people" in text
    assert "- commits" not in text


def test_twice_is_once_and_a_dry_run_is_what_happens(memory: Memory) -> None:
    for value in ("hiking", "to hike", "Hiking.", "green tea"):
        memory.remember("likes", value)
    memory.remember("tests", "before each commit", type="rule")
    before = texts(memory.root)
    planned = memory.consolidate(now=NOW, dry_run=True)
    assert texts(memory.root) == before
    done = memory.consolidate(now=NOW)
    assert [(edit.step, edit.path, edit.diff) for edit in done.edits] == [
        (edit.step, edit.path, edit.diff) for edit in planned.edits
    ]
    after = texts(memory.root)
    again = memory.consolidate(now=NOW)
    assert (again.edits, texts(memory.root)) == ((), after)


def test_what_repeats_is_merged_with_its_sources_and_can_be_taken_back(memory: Memory) -> None:
    memory.remember("likes", "hiking", source=said(memory, "a", "That was hiking."))
    memory.remember("likes", "to hike", source=said(memory, "b", "And that one a hike."))
    memory.remember("likes", "tea")
    before = {str(fact) for fact in memory.facts()}
    report = memory.consolidate(now=NOW)
    (kept,) = [fact for fact in memory.facts() if "hik" in fact.value]
    assert kept.value == "hiking"
    assert len(kept.source.split(",")) == 2
    assert "merged:" in (memory.root / "memory/archive/facts/user.md").read_text()
    for entry in reversed([one for one in memory.workspace.edits.entries() if one.group == report.group]):
        file_edits.reverse(memory.workspace, entry.id)
    assert {str(fact) for fact in memory.facts()} == before


def test_an_agents_fact_fades_and_the_owners_does_not(memory: Memory) -> None:
    memory.remember("allergies", "peanuts")
    memory.remember("status", "waiting for review", subject="atlas", origin="agent", importance=0.3)
    memory.remember("ticket", "open", subject="atlas", origin="agent", priority="transient")
    in_a_day = datetime.now().astimezone() + timedelta(hours=30)
    memory.consolidate(now=in_a_day)
    assert {fact.predicate for fact in memory.facts()} == {"allergies", "status"}
    for weeks in range(1, 30):
        memory.consolidate(now=in_a_day + timedelta(weeks=weeks))
    assert {fact.predicate for fact in memory.facts()} == {"allergies"}
    found = memory.search("ticket open", archived=True)
    assert any("ticket" in hit.text for hit in found.hits)


def test_a_clock_that_leaps_lets_nothing_fade(memory: Memory) -> None:
    memory.remember("status", "waiting", subject="atlas", origin="agent", importance=0.2)
    now = datetime.now().astimezone()
    memory.consolidate(now=now)
    report = memory.consolidate(now=now + timedelta(days=4000))
    assert any("clock" in note for note in report.notes)
    assert [fact.value for fact in memory.facts()] == ["waiting"]


def test_strength_follows_the_formula() -> None:
    fact = Fact(id="x", value="v", importance=0.8, priority="short", origin="agent")
    assert strength(fact, 0) == 0.8
    assert strength(fact, 7) == pytest.approx(0.8 * 0.9**7)
    assert strength(fact, -5) == 0.8


def test_what_is_recalled_is_counted_and_does_not_fade(memory: Memory) -> None:
    kept = memory.remember("status", "waiting for ink", subject="atlas", origin="agent", importance=0.2)
    memory.remember("colour", "beige", subject="borealis", origin="agent", importance=0.2)
    memory.sync()
    found = memory.recall("waiting for ink", deadline=5)
    (hit, *_) = found.hits
    assert memory.workspace.searcher.usage.counts([usage.name_of(hit)])[usage.name_of(hit)].times == 1
    for _ in range(2):
        memory.workspace.searcher.usage.note(
            [msgspec.structs.replace(hit, kind="fact", meta={"fact": kept.id})]
        )
    in_a_day = datetime.now().astimezone() + timedelta(days=1)
    for weeks in range(20):
        memory.consolidate(now=in_a_day + timedelta(weeks=weeks))
    assert {fact.subject for fact in memory.facts()} == {"atlas"}


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_commits_hold_the_steps_files_and_no_others(memory: Memory) -> None:
    git(memory.root, "init", "-q")
    (memory.root / "mine.txt").write_text("staged, not committed\n")
    git(memory.root, "add", "mine.txt")
    memory.remember("tests", "before each commit", type="rule")
    memory.consolidate(now=NOW, commit=True)
    assert committed(memory.root, "HEAD") == ("mnemark consolidate: refresh", ["MEMORY.md"])
    journal = [path.relative_to(memory.root).as_posix() for path in memory.root.glob("journal/*")]
    report = f"memory/reports/{NOW.astimezone(memory.workspace.fact_store.zone):%Y-%m-%d}.md"
    assert committed(memory.root, "HEAD~") == (
        "mnemark consolidate: learn",
        [*journal, "memory/facts/user.md", report],
    )
    assert git(memory.root, "diff", "--cached", "--name-only").split() == ["mine.txt"]
    memory.consolidate(now=NOW, commit=True)
    assert git(memory.root, "rev-list", "--count", "HEAD").strip() == "2"


def committed(root: Path, commit: str) -> tuple[str, list[str]]:
    subject, _, paths = git(root, "show", "--name-only", "--format=%s", commit).partition("\n\n")
    return subject, paths.split()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_commits_name_their_sessions_and_an_undo_of_one_is_one(memory: Memory) -> None:
    git(memory.root, "init", "-q")
    (memory.root / ".gitignore").write_text("/sessions/\n")
    git(memory.root, "add", ".gitignore")
    git(memory.root, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "-m", "mine")
    session = memory.session("cli:main")
    for text in ("I moved to Hamburg last month.", "Please order the paint for the boat.", "It is blue."):
        session.add("user", text)
    ended = session.end()
    done = memory.consolidate(now=NOW, commit=True)
    message = git(memory.root, "log", "-1", "--format=%B", "HEAD~")
    assert message.startswith("mnemark consolidate: learn from cli:main\n")
    for trailer in ("Session: cli:main", f"Undo: {done.group}", f"Undo: {ended.group}"):
        assert trailer in message.splitlines()
    paths = committed(memory.root, "HEAD~")[1]
    assert set(paths) >= {"SCRATCHPAD.md", "memory/facts/user.md", *ended.notes}
    assert git(memory.root, "status", "--porcelain") == ""
    memory.undo(done.group)
    assert committed(memory.root, "HEAD")[0] == f"mnemark undo: {done.group}"
    assert "USER.md" in committed(memory.root, "HEAD")[1]
    assert git(memory.root, "status", "--porcelain") == ""
    memory.revert(session="cli:main")
    assert committed(memory.root, "HEAD")[0] == "mnemark undo: session cli:main"
    assert git(memory.root, "status", "--porcelain") == ""
    mine = memory.remember("editor", "Helix")
    memory.undo(mine.id)  # of what was not committed, no commit
    assert committed(memory.root, "HEAD")[0] == "mnemark undo: session cli:main"


@pytest.mark.skipif(shutil.which("git") is None or os.name == "nt", reason="needs git, and a shell")
def test_what_is_remembered_stands_on_no_command_line_of_git(
    memory: Memory, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other users of the machine read command lines."""
    git(memory.root, "init", "-q")
    tools = tmp_path_factory.mktemp("tools")
    lines = tools / "lines"
    (tools / "git").write_text(f'#!/bin/sh\necho "$@" >>{lines}\nexec {shutil.which("git")} "$@"\n')
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    memory.session("cli:main").add("user", "I moved to Hamburg last month.")
    done = memory.consolidate(now=NOW, commit=True)
    memory.undo(done.group)
    assert "Hamburg" in git(memory.root, "log", "--format=%B")
    assert "commit" in lines.read_text("utf-8")
    assert "Hamburg" not in lines.read_text("utf-8")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_only_tidies_up_makes_no_commit_and_no_page(memory: Memory) -> None:
    git(memory.root, "init", "-q")
    (memory.root / "memory/reports").mkdir(parents=True)
    (memory.root / "memory/reports/2026-01-02.md").write_text("# Consolidation 2026-01-02\n")
    done = memory.consolidate(now=NOW, commit=True)
    assert [edit.step for edit in done.edits] == ["clean up"]
    assert list(texts(memory.root)) == ["memory/archive/reports/2026-01-02.md"]
    assert git(memory.root, "rev-list", "--all", "--count").strip() == "0"
    memory.consolidate(now=NOW + timedelta(days=1), commit=True)
    assert list(texts(memory.root)) == ["memory/archive/reports/2026-01-02.md"]


def test_what_was_taken_back_is_not_done_again_the_next_night(memory: Memory) -> None:
    day = NOW - timedelta(days=1)
    (memory.root / "memory").mkdir(exist_ok=True)
    (memory.root / f"memory/{day:%Y-%m-%d}.md").write_text("- User works at Nordwind.\n")
    memory.remember("likes", "hiking")
    memory.remember("likes", "to hike")
    memory.remember("editor", "Helix")
    before = texts(memory.root)
    done = memory.consolidate(now=NOW)
    assert "Helix" in (memory.root / "USER.md").read_text()
    assert len([fact for fact in memory.facts() if fact.predicate == "likes"]) == 1
    assert any("Nordwind" in line for line in done.learned)
    memory.undo(done.group)
    after = {path: text for path, text in texts(memory.root).items() if "reports" not in path}
    assert {path: text for path, text in after.items() if text.strip()} == before
    assert sorted(fact.value for fact in memory.facts()) == ["Helix", "hiking", "to hike"]
    again = memory.consolidate(now=NOW + timedelta(days=1))
    assert again.learned == ()
    assert len(list(memory.facts())) == 3
    user = (memory.root / "USER.md").read_text()
    assert "Helix" not in user
    assert "likes: hiking" not in user
    memory.remember("editor", "Zed")  # what is new is another matter
    memory.consolidate(now=NOW + timedelta(days=2))
    assert "- editor: Zed" in (memory.root / "USER.md").read_text()


def test_the_language_of_core_memory_stays_whatever_is_said_later(memory: Memory) -> None:
    likes = iter(["喝咖啡", "散步", "下雨天", "爬山", "看展览", "听爵士乐", "做菜", "养花", "钓鱼", "书法"])
    for predicate, value in (("city", "Graz"), ("editor", "Helix"), ("job", "a nurse"), ("diet", "vegan")):
        memory.remember(predicate, value)
    for more in (2, 1, 7):
        for _ in range(more):
            memory.remember("likes", next(likes))
        memory.consolidate(now=NOW)
        assert "## Tastes" in (memory.root / "USER.md").read_text().splitlines(), "facts do not vote"
