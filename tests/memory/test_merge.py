"""Two machines, one memory: what each said is on both, once, and what one erased is gone from both."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.errors import NotFoundError, ReadOnlyError, UsageError
from mnemark.files import edit, jsonl, platform
from mnemark.memory.merging import copies, merge

SECRET = "the heron sleeps by mill zq7741"
Opened = Callable[[str], Memory]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """Open a folder as a machine of that name."""
    for writes in (edit.edit, edit.settle):
        defaults: Any = writes.__kwdefaults__
        monkeypatch.setitem(defaults, "quiet", 0.0)
    memories: list[Memory] = []

    def open_as(name: str) -> Memory:
        for memory in memories:
            memory.close()
        monkeypatch.setattr(platform, "machine_name", lambda: name)
        memories.append(Memory.open(tmp_path / name, trusted=True, config={"embedder": "none"}))
        return memories[-1]

    yield open_as
    for memory in memories:
        memory.close()


@pytest.fixture
def pair(opened: Opened, tmp_path: Path) -> Path:
    """Two copies of a folder, on which both machines went on."""
    memory = opened("laptop")
    chat = memory.session("chat")
    chat.add("user", f"Remember, {SECRET}.")
    chat.add("assistant", "I will.")
    memory.remember("city", "Bern")
    (memory.root / "plan.md").write_text("# Plan\n\n- tea\n\nport: 8080\n", "utf-8")
    memory.sync()
    shutil.copytree(tmp_path / "laptop", tmp_path / "desktop", ignore=shutil.ignore_patterns(".mnemark"))
    memory.session("chat").add("user", "Buy milk on the way.")
    memory.remember("city", "Basel")
    memory.remember("pet", "a dog")
    (memory.root / "plan.md").write_text("# Plan\n\n- tea\n- rice\n\nport: 8080\n", "utf-8")
    memory = opened("desktop")
    memory.session("chat").add("user", "Call the plumber.")
    memory.remember("city", "Zug")
    (memory.root / "plan.md").write_text("# Plan\n\n- tea\n- figs\n\nport: 9090\n", "utf-8")
    memory.sync()
    return tmp_path


def files(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file() and not path.is_relative_to(root / ".mnemark") and path.name != "mnemark.toml"
    }


def merge_until_nothing_comes(opened: Opened, root: Path, *names: str) -> None:
    for _ in range(4):
        came = [
            bool(opened(name).merge(root / other).files) for name in names for other in names if name != other
        ]
        if not any(came):
            return
    raise AssertionError("each merge brings something")


def test_what_both_said_is_on_both_and_the_files_are_equal(opened: Opened, pair: Path) -> None:
    merged = opened("laptop").merge(pair / "desktop")
    assert merged.turns == 1
    assert merged.facts == 1
    assert merged.review == ("city: Zug holds, Basel waits",)
    merge_until_nothing_comes(opened, pair, "desktop", "laptop")
    assert files(pair / "laptop") == files(pair / "desktop")
    for name in ("laptop", "desktop"):
        memory = opened(name)
        assert {turn.turn.content for turn in memory.turns()} >= {"Buy milk on the way.", "Call the plumber."}
        assert len(memory.turns()) == 4
        assert {(fact.predicate, fact.value) for fact in memory.facts()} == {
            ("city", "Zug"),
            ("pet", "a dog"),
        }
        (conflict,) = memory.review()
        assert (conflict.what, conflict.fact.value) == ("conflict", "Basel")
        plan = (memory.root / "plan.md").read_text("utf-8")
        assert "- figs\n- rice" in plan or "keep one version" in plan
        assert "port: 9090" in plan


def test_a_decision_on_what_waits_holds_on_both(opened: Opened, pair: Path) -> None:
    memory = opened("laptop")
    memory.merge(pair / "desktop")
    (conflict,) = memory.review()
    memory.accept(conflict.id)
    memory = opened("desktop")
    memory.merge(pair / "laptop")
    assert not memory.review()
    assert "Basel" in {fact.value for fact in memory.facts()}


@pytest.mark.parametrize(("erases", "other"), [("laptop", "desktop"), ("desktop", "laptop")])
def test_what_one_side_erased_is_gone_from_both(opened: Opened, pair: Path, erases: str, other: str) -> None:
    memory = opened(other)
    memory.session("chat").add("assistant", f"You said that {SECRET}.")
    memory.consolidate(force=True)
    opened(erases).forget(query="zq7741", erase=True)
    opened(erases).merge(pair / other)
    merged = opened(other).merge(pair / erases)
    assert merged.erased == 1
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    assert files(pair / "laptop") == files(pair / "desktop")
    for name in ("laptop", "desktop"):
        opened(name).close()
        left = [
            path for path in (pair / name).rglob("*") if path.is_file() and b"zq7741" in path.read_bytes()
        ]
        assert left == []


@pytest.mark.parametrize("into", ["plan.md", "renamed.md"])
def test_what_a_copied_file_brought_back_is_in_no_version(opened: Opened, pair: Path, into: str) -> None:
    """One machine quotes what the other had erased, and a person copies that file before the next merge."""
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    opened("laptop").forget(query="zq7741", erase=True)
    plan = pair / "desktop/plan.md"
    plan.write_text(f"{plan.read_text('utf-8')}\nSo {SECRET}.\n", "utf-8")
    opened("desktop").sync()
    shutil.copy(plan, pair / "laptop" / into)
    opened("laptop").sync()
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    for name in ("laptop", "desktop"):
        opened(name).close()
        left = [
            path for path in (pair / name).rglob("*") if path.is_file() and b"zq7741" in path.read_bytes()
        ]
        assert left == []


def test_what_was_written_anew_stays_and_is_told(opened: Opened, pair: Path) -> None:
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    opened("laptop").forget(query="zq7741", erase=True)
    (pair / "laptop/new.md").write_text(f"On purpose: {SECRET}.\n", "utf-8")
    told = [
        one.path for one in opened("laptop").merge(pair / "desktop").problems if one.reason == merge.AGAIN
    ]
    assert told == ["new.md"]
    told = [
        one.path for one in opened("desktop").merge(pair / "laptop").problems if one.reason == merge.AGAIN
    ]
    assert told == ["new.md"]
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    for name in ("laptop", "desktop"):
        assert "On purpose" in (pair / name / "new.md").read_text("utf-8")
        assert b"zq7741" not in b"".join(one.read_bytes() for one in (pair / name / "sessions").iterdir())


def test_a_look_first_changes_nothing(opened: Opened, pair: Path) -> None:
    before = files(pair / "laptop")
    merged = opened("laptop").merge(pair / "desktop", dry_run=True)
    assert merged.turns == 1
    assert {one.path for one in merged.files} >= {"plan.md", "memory/facts/user.md"}
    assert files(pair / "laptop") == before


def test_a_merge_is_taken_back_and_what_came_since_stays(opened: Opened, pair: Path) -> None:
    memory = opened("laptop")
    plan = (memory.root / "plan.md").read_bytes()
    merged = memory.merge(pair / "desktop")
    memory.session("chat").add("user", "And bread.")
    (done,) = memory.undo(merged.id)
    assert done.what == "merge"
    assert not done.waiting
    assert (memory.root / "plan.md").read_bytes() == plan
    contents = [turn.turn.content for turn in memory.turns()]
    assert "And bread." in contents
    assert "Call the plumber." not in contents
    assert {fact.value for fact in memory.facts() if fact.predicate == "city"} == {"Basel"}
    with pytest.raises(UsageError, match="undone before"):
        memory.undo(merged.id)


@pytest.mark.parametrize("calls", [1, 3, 6, 12, 24])
def test_a_merge_that_is_killed_goes_on(
    opened: Opened, pair: Path, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened("laptop")
    count = 0
    replace = jsonl.replace_file

    def killed(*args: object, **more: object) -> None:
        nonlocal count
        count += 1
        if count > calls:
            raise KeyboardInterrupt
        replace(*args, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(jsonl, "replace_file", killed)
        memory.merge(pair / "desktop")
    opened("laptop").sync()
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    assert files(pair / "laptop") == files(pair / "desktop")
    assert len(opened("laptop").turns()) == 4


def test_a_note_deleted_here_does_not_come_back(opened: Opened, pair: Path) -> None:
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    (pair / "laptop/plan.md").unlink()
    opened("laptop").merge(pair / "desktop")
    assert not (pair / "laptop/plan.md").exists()
    opened("desktop").merge(pair / "laptop")
    assert not (pair / "desktop/plan.md").exists()


@pytest.mark.parametrize("edited", [False, True])
def test_a_note_that_both_renamed_is_not_lost(opened: Opened, pair: Path, edited: bool) -> None:  # noqa: FBT001
    """One renames it, and may delete a line; the other renames it, too, hears of it, and renames it back."""
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    text = (pair / "laptop/plan.md").read_text("utf-8")
    for name in ("desktop", "laptop"):
        (pair / name / "plan.md").rename(pair / name / "plan-b.md")
        if edited and name == "desktop":
            (pair / name / "plan-b.md").write_text(text.replace("- tea\n", ""), "utf-8")
        opened(name).consolidate(force=True)
    opened("laptop").merge(pair / "desktop")
    (pair / "laptop/plan-b.md").rename(pair / "laptop/plan.md")
    shutil.rmtree(pair / "laptop/.mnemark/bases")
    opened("laptop").consolidate(force=True)
    (pair / "laptop/plan.md").rename(pair / "laptop/plan-b.md")
    opened("laptop").consolidate(force=True)
    (pair / "laptop/plan-b.md").rename(pair / "laptop/plan.md")
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    for name in ("laptop", "desktop"):
        left = [one.read_text("utf-8") for one in (pair / name).glob("plan*.md")]
        assert len(left) == 1, name
        assert "- rice" in left[0]


def test_a_note_of_the_same_name_made_on_the_other_side_takes_no_line(opened: Opened, pair: Path) -> None:
    """What one side alone had at the last merge is no version that both had."""
    (pair / "laptop/new.md").write_text("# New\n\n- of the laptop\n", "utf-8")
    opened("laptop").merge(pair / "desktop")
    (pair / "desktop/new.md").write_text("# New\n\n- of the desktop\n", "utf-8")
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    for name in ("laptop", "desktop"):
        text = (pair / name / "new.md").read_text("utf-8")
        assert "- of the laptop" in text
        assert "- of the desktop" in text


def test_both_versions_of_a_picture_are_kept(opened: Opened, pair: Path) -> None:
    (pair / "laptop/map.png").write_bytes(b"\x89PNG one")
    (pair / "desktop/map.png").write_bytes(b"\x89PNG two")
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    kept = {path.read_bytes() for path in (pair / "laptop").glob("map*.png")}
    assert kept == {b"\x89PNG one", b"\x89PNG two"}
    assert files(pair / "laptop") == files(pair / "desktop")


def test_what_cannot_be_merged_is_said(opened: Opened, pair: Path, tmp_path: Path) -> None:
    memory = opened("laptop")
    (tmp_path / "empty").mkdir()
    for wrong, error in (
        (pair / "nothing", NotFoundError), (tmp_path / "empty", NotFoundError), (pair / "laptop", UsageError),
        (pair / "laptop/memory", UsageError), (pair, UsageError), ("", UsageError),
    ):  # fmt: skip
        with pytest.raises(error):
            memory.merge(wrong)
    with (
        Memory.open(pair / "laptop", readonly=True) as readonly,
        pytest.raises(ReadOnlyError, match="open for reading only"),
    ):
        readonly.merge(pair / "desktop")


def test_refs_follow_lines_that_moved(opened: Opened, pair: Path) -> None:
    memory = opened("desktop")
    (log,) = (memory.root / "sessions").iterdir()
    memory.remember("plumber", "Ms Frey", source=f"sessions/{log.name}#L4")
    memory = opened("laptop")
    memory.merge(pair / "desktop")
    (fact,) = (fact for fact in memory.facts() if fact.predicate == "plumber")
    assert "Call the plumber." in memory.read(fact.source)


def test_pages_of_a_talk_that_both_went_on_with_are_written_anew(opened: Opened, tmp_path: Path) -> None:
    memory = opened("laptop")
    chat = memory.session("chat")
    chat.add("user", "Let us plan the garden: we decided to plant oaks on Sunday.")
    chat.add("assistant", "Good, oaks on Sunday.")
    shutil.copytree(tmp_path / "laptop", tmp_path / "desktop", ignore=shutil.ignore_patterns(".mnemark"))
    for name, asked, answer in (
        ("laptop", "Please write a list for the fence.", "Done: posts, wire, nails."),
        ("desktop", "We decided to water the lemons every Tuesday.", "I will remind you."),
    ):
        chat = opened(name).session("chat")
        chat.add("user", asked)
        chat.add("assistant", answer)
        chat.end()
    merge_until_nothing_comes(opened, tmp_path, "laptop", "desktop")
    assert files(tmp_path / "laptop") == files(tmp_path / "desktop")
    (page,) = (tmp_path / "laptop/memory/episodes").iterdir()
    text = page.read_text("utf-8")
    assert "6 turns" in text
    assert "4 turns" not in text
    (day,) = (tmp_path / "laptop/memory").glob("2*.md")
    assert day.read_text("utf-8").count("mnemark:begin") == 1


MARKED = """# User

- **name**: Ann
<<<<<<< HEAD
- **city**: Paris
=======
- **city**: Rome
>>>>>>> other
- **pet**: a dog
"""


def test_marks_of_git_are_no_facts_and_are_repaired(opened: Opened) -> None:
    memory = opened("laptop")
    (memory.root / "memory/facts").mkdir(parents=True)
    (memory.root / "memory/facts/user.md").write_text(MARKED, "utf-8")
    (memory.root / "note.md").write_text(MARKED.replace("**", ""), "utf-8")
    report = memory.sync()
    assert {fact.value for fact in memory.facts(history=True)} == {"Ann", "Paris", "Rome", "a dog"}
    assert not any("=======" in hit.text for hit in memory.search("city Paris Rome").hits)
    assert {one.path for one in report.problems} == {"memory/facts/user.md", "note.md"}
    assert len(copies.repair(memory.workspace)) == 2
    text = (memory.root / "memory/facts/user.md").read_text("utf-8")
    assert "<<<<" not in text
    assert text.index("Paris") < text.index("Rome")
    assert memory.sync().problems == ()


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *who, "-C", str(root), *words], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_git_repository_is_merged_from(opened: Opened, pair: Path) -> None:
    git(pair / "desktop", "init", "-q", "-b", "main")
    git(pair / "desktop", "add", "-A")
    git(pair / "desktop", "commit", "-qm", "one")
    git(pair, "clone", "-q", "--bare", str(pair / "desktop"), str(pair / "bare.git"))
    memory = opened("laptop")
    assert memory.merge(pair / "bare.git").turns == 1
    git(memory.root, "init", "-q")
    git(memory.root, "remote", "add", "origin", str(pair / "bare.git"))
    assert memory.merge("origin").turns == 0


def test_documents_are_never_joined_line_by_line(opened: Opened, pair: Path) -> None:
    versions = [b'{"cells": [], "a": 1}\n', b'{"cells": [], "b": 2}\n']
    for name, data in zip(("laptop", "desktop"), versions, strict=True):
        (pair / name / "plan.ipynb").write_bytes(data)
    opened("laptop").merge(pair / "desktop")
    assert {path.read_bytes() for path in (pair / "laptop").glob("plan*.ipynb")} == set(versions)
