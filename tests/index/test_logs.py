"""Session logs: read on from where the index left off, whatever was done to them."""

import json
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from faults.logical import LEXICAL, anew, answers, content
from mnemark.index import batch, unindexed
from mnemark.index.store import Index
from mnemark.index.sync import sync
from mnemark.memory.memory import Memory
from sampled import sampled


def line(said: str, number: int) -> str:
    record: dict[str, Any] = {"id": f"t{number}", "time": "2026-02-13T10:00:00+08:00", "role": "user"}
    return json.dumps(record | {"content": said}) + "\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    (folder / "sessions").mkdir(parents=True)
    return folder


def synced(root: Path) -> dict[str, Any]:
    index = Index(root)
    sync(index)
    found = content(index)
    index.close()
    return found


def from_nothing(root: Path, into: Path) -> dict[str, Any]:
    index = anew(root, into)
    found = content(index)
    index.close()
    return found


STEPS = {
    "a repeated append": [line("alpha", 1), line("alpha", 1), line("beta", 2)],
    "a repeated long append": [line("alpha " * 9000, 1), line("alpha " * 9000, 1), line("beta", 2)],
    "a last line without newline, then more": [
        line("alpha", 1),
        line("beta", 2)[:-1],
        "\n" + line("gamma", 3),
    ],
    "a torn line that is closed": [line("alpha", 1), line("beta", 2)[:20], "\n", line("gamma", 3)],
    "a broken line, then good ones": [
        line("alpha", 1) + "no json\n",
        line("beta", 2),
        "[]\n",
        line("gamma", 3),
    ],
    "an empty log, then a first turn": ["", line("alpha", 1)],
    "a header first": ['{"session": "cli:main"}\n', line("alpha", 1)],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS.keys())
def test_a_log_synced_step_by_step_is_as_one_synced_whole(
    root: Path, tmp_path: Path, steps: list[str]
) -> None:
    for step in steps:
        with (root / "sessions/a.jsonl").open("a") as file:
            file.write(step)
        found = synced(root)
    assert found == from_nothing(root, tmp_path / "anew")


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS.keys())
def test_pending_turns_give_the_answer_that_comes_after_sync(root: Path, steps: list[str]) -> None:
    """Each step is looked at before and after it is synced, through a reader that never syncs itself."""
    (root / "MEMORY.md").write_text("# Memory\n\nalpha beta gamma delta\n")
    (root / "sessions/zeta.jsonl").write_text(line("alpha delta", 90) + line("gamma", 91))
    synced(root)
    for step in steps:
        with (root / "sessions/a.jsonl").open("a") as file:
            file.write(step)
        before = looked_at(root)
        synced(root)
        assert before == looked_at(root)


def looked_at(root: Path) -> list[bytes]:
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        return asked(memory)


def asked(memory: Memory) -> list[bytes]:
    queries = ["alpha", "beta gamma", "delta"]
    return [msgspec.json.encode(memory.search(query, explain=True)) for query in queries]


@pytest.mark.parametrize("seed", sampled(range(12), 6))
def test_a_reader_that_goes_on_answers_as_one_that_begins(root: Path, seed: int) -> None:
    """Whatever is done to four logs, of which the index knows one, between any two questions."""
    chance = random.Random(seed)
    logs = [root / f"sessions/{name}.jsonl" for name in "mabz"]
    logs[0].write_text(line("alpha delta", 900) + line("gamma", 901))
    synced(root)
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        for number in range(25):
            log = chance.choice(logs)
            done_to(log, chance, number)
            if chance.random() < 0.1:
                synced(root)
            memory.workspace.searcher.reader.logs.wrote(f"sessions/{log.name}", log.stat().st_size)
            memory.workspace.searcher.reader.logs._due = 0.0
            assert asked(memory) == looked_at(root), number
            with Memory.open(root, config=LEXICAL, readonly=True) as other:
                assert order(memory) == order(other), number


def test_a_new_log_stands_at_its_place_among_those_that_came_before(root: Path) -> None:
    (root / "sessions/m.jsonl").write_text(line("alpha", 1))
    synced(root)
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        for name in "zbya":
            log = root / f"sessions/{name}.jsonl"
            log.write_text(line("alpha beta", 2))
            memory.workspace.searcher.reader.logs.wrote(f"sessions/{name}.jsonl", log.stat().st_size)
            memory.search("alpha")
        assert [path for path, _ in order(memory)] == [f"sessions/{name}.jsonl" for name in "abmyz"]


def order(memory: Memory) -> list[tuple[str, int]]:
    """All passages as they stand beside each other."""
    with memory.workspace.searcher.reader.reading() as view:
        return [(one.path, one.start_line) for one in view.fetch(range(len(view.snapshot)))]


def done_to(log: Path, chance: random.Random, number: int) -> None:
    """What agents, a crash, people and syncing programs do to a log."""
    words = " ".join(chance.choices(["alpha", "beta", "gamma", "delta"], k=3))
    with log.open("a") as file:
        match chance.randrange(16):
            case 0:
                file.write(line(words, number)[:-1])
            case 1:
                file.write(line(words, number)[:20])
            case 2:
                file.write("no json\n")
            case 3:
                file.write(line(words, number) * 2)
            case 4:
                file.truncate(log.stat().st_size // 2)
            case 5:
                new = log.with_suffix(".new")
                new.write_text(line("delta " + words, number) + log.read_text())
                new.replace(log)
            case 6:
                file.write('{"session": "cli:other"}\n')
            case 7:
                file.write("\n")
            case 8:
                log.write_text(
                    line("beta " + words, number) * 2 + line(words, number + 100) + log.read_text()
                )
            case _:
                file.write(line(words, number))


def test_a_truncated_log_is_not_answered_from(root: Path) -> None:
    path = root / "sessions/a.jsonl"
    path.write_text(line("alpha", 1) + line("beta", 2))
    synced(root)
    path.write_text(line("alpha", 1))
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        assert not memory.search("beta").hits
        assert memory.search("alpha").hits


def test_pending_turns_of_new_scopes_and_ignored_logs(root: Path) -> None:
    synced(root)
    (root / "users/ann/sessions").mkdir(parents=True)
    (root / "users/ann/sessions/a.jsonl").write_text(line("alpha", 1))
    (root / "sessions/draft.jsonl").write_text(line("alpha", 2))
    with Memory.open(root, config={**LEXICAL, "ignore": ("draft*",)}, readonly=True) as memory:
        assert [hit.scope for hit in memory.search("alpha", scope="users/ann").hits] == ["users/ann"]
        assert not memory.search("alpha", scope="users/bob").hits


def test_more_than_a_megabyte_of_pending_text_says_that_it_is_not_complete(root: Path) -> None:
    (root / "MEMORY.md").write_text("# Memory\n\nalpha\n")
    synced(root)
    (root / "sessions/a.jsonl").write_text("".join(line("beta " * 400, n) for n in range(600)))
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        found = memory.search("alpha")
        assert found.hits
        assert not found.complete


def test_one_file_may_fill_several_segments(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_SIZE", 50)
    monkeypatch.setattr(batch, "FLUSH_AT", 60)
    (root / "big.md").write_text(
        "".join(f"# h{n}\n\nword{n % 50} alpha {'words ' * 40}\n\n" for n in range(300))
    )
    (root / "sessions/a.jsonl").write_text(line("alpha. " * 9_000, 1) + line("beta", 2))
    found = synced(root)
    assert found["counted"]
    assert len(found["passages"]) > 200
    monkeypatch.undo()
    assert found == from_nothing(root, tmp_path / "anew")


def test_an_unchanged_log_changes_nothing(root: Path) -> None:
    (root / "sessions/a.jsonl").write_text(line("alpha", 1) + "no json\n")
    (root / "memory").mkdir()
    (root / "memory/binary.md").write_bytes(b"\0\1\2" * 100)
    index = Index(root)
    sync(index)
    generation = "SELECT value FROM meta WHERE key = 'generation'"
    before = index.connection.execute(generation).get
    again = sync(index)
    assert not again.touched
    assert index.connection.execute(generation).get == before
    assert {problem.path for problem in again.problems} == {"sessions/a.jsonl", "memory/binary.md"}
    index.close()


def test_answers_are_the_same_after_the_index_was_deleted(root: Path) -> None:
    for number in range(40):  # more ties than candidates
        (root / f"note{(number * 7) % 40}.md").write_text("alpha beta\n")
        synced(root)
    before = answers(root, ["alpha", "beta alpha"], k=20)
    (root / ".mnemark/index.db").unlink()
    assert answers(root, ["alpha", "beta alpha"], k=20) == before


@pytest.mark.parametrize("written", ["unsynced", "synced by another process"])
def test_threads_that_ask_at_once_read_once(
    root: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    """Eight threads wait for what one of them reads, or it would take eight times the time and the memory."""
    read: list[str] = []

    def slowly(done: Callable[..., Any], name: str) -> Callable[..., Any]:
        def look(*arguments: Any, **named: Any) -> Any:
            read.append(name)
            time.sleep(0.2)
            return done(*arguments, **named)

        return look

    (root / "sessions/a.jsonl").write_text(line("alpha", 1))
    synced(root)
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        before = asked(memory)
        with (root / "sessions/a.jsonl").open("a") as file:
            file.write(line("alpha beta", 2))
        if written != "unsynced":
            synced(root)
        memory.workspace.searcher.reader.logs._due = 0.0
        monkeypatch.setattr(unindexed, "load", slowly(unindexed.load, "logs"))
        monkeypatch.setattr(Index, "_load", slowly(Index._load, "index"))
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: asked(memory), range(8)))
    assert read == (["logs"] if written == "unsynced" else ["index"])
    assert found == [looked_at(root)] * 8
    assert found[0] != before
