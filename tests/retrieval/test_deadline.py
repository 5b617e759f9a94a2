"""`recall` answers by its deadline, whatever is slow, broken or locked, and says what is missing."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from faults.logical import LEXICAL
from mnemark.embed import EmbedderUnavailable
from mnemark.embed.hashing import HashingEmbedder
from mnemark.errors import IntegrityError
from mnemark.memory.memory import Memory
from mnemark.retrieval.routes import lexical
from mnemark.retrieval.searcher import Searcher
from mnemark.retrieval.stages import Found, Request
from mnemark.types import Recall

pytestmark = pytest.mark.timed

DEADLINE = 0.15


class Slow(HashingEmbedder):
    """Answers after five seconds, or when the test is over."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()

    def query(self, text: str) -> NDArray[np.float32]:
        self.over.wait(5)
        return super().query(text)


class Broken(HashingEmbedder):
    def query(self, text: str) -> NDArray[np.float32]:
        raise EmbedderUnavailable("the model is gone; run `mnemark doctor`")

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EmbedderUnavailable("the model is gone; run `mnemark doctor`")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(60):
        words = f"alpha beta{number} 数据库 deadline\n\n"
        (tmp_path / f"note{number}.md").write_text(f"# Note {number}\n\n{words * 10}")
    with Memory.open(tmp_path, config={"embedder": "hashing"}) as memory:
        memory.sync()
    return tmp_path


def timed(memory: Memory, times: int, first: int = 0) -> tuple[list[float], list[Recall]]:
    took, found = [], []
    for number in range(first, first + times):
        started = time.perf_counter()
        found.append(memory.recall(f"alpha beta{number % 60}", deadline=DEADLINE))
        took.append(time.perf_counter() - started)
    return sorted(took), found


def report(name: str, took: Sequence[float]) -> None:
    p50, p99 = took[len(took) // 2], took[int(len(took) * 0.99) - 1]
    print(f"{name}: p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, worst {took[-1] * 1000:.1f} ms")  # noqa: T201
    assert p99 <= DEADLINE + ALLOWED


ALLOWED = 0.02
COUNTS = [10, pytest.param(100, marks=pytest.mark.slow)]


@pytest.mark.parametrize("times", COUNTS)
def test_with_a_slow_embedder(root: Path, times: int) -> None:
    embedder = Slow()
    with Memory.open(root, embedder=embedder) as memory:
        memory.workspace.searcher.refresher.freshen()
        took, found = timed(memory, times)
        embedder.over.set()
    report("slow embedder", took)
    for answer in found:
        assert answer.hits
        assert answer.mode == "lexical"
        assert not answer.complete
        assert answer.text
    # On a busy machine the full answer may be late as well, after its wait for the embedder.
    reasons = [answer.degraded[0] for answer in found]
    assert all("did not answer in time" in one or "by words alone" in one for one in reasons)
    assert sum("did not answer in time" in one for one in reasons) >= times // 2


@pytest.mark.parametrize("times", COUNTS)
def test_with_a_broken_embedder(root: Path, times: int) -> None:
    with Memory.open(root, embedder=Broken()) as memory:
        memory.workspace.searcher.refresher.freshen()
        took, found = timed(memory, times)
        report("broken embedder", took)
        assert all(answer.hits and not answer.complete for answer in found)
        assert all("the model is gone" in " ".join(answer.degraded) for answer in found)
        assert memory.search("alpha").hits


@pytest.mark.parametrize("times", COUNTS)
def test_with_a_locked_database(root: Path, times: int) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        memory.workspace.index._connections.renew()
        holder = apsw.Connection(os.fspath(root / ".mnemark/index.db"))
        lock = "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE meta SET value = value"
        holder.execute(lock).fetchall()
        took, found = timed(memory, times)
        holder.close()
        report("locked database", took)
        for answer in found:
            assert not answer.hits
            assert not answer.complete
            assert answer.degraded
            assert answer.believable == 0
        wait_for_hits(memory)


def wait_for_hits(memory: Memory) -> None:
    """Once the lock is gone, answers come again."""
    until = time.monotonic() + 15
    while not memory.recall("alpha", deadline=1.0).hits:
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("times", COUNTS)
def test_with_all_well(root: Path, times: int) -> None:
    with Memory.open(root, config={"embedder": "hashing"}) as memory:
        memory.workspace.searcher.refresher.freshen()
        memory.recall("warm")
        answers = []
        for number in range(times):
            (seconds,), (answer,) = timed(memory, 1, number)
            answers.append((seconds, answer))
        report("all well", sorted(seconds for seconds, _ in answers))
        # A machine that stands still for longer than the deadline is no fault of an answer.
        whole = [answer for seconds, answer in answers if seconds < DEADLINE / 2]
        assert len(whole) >= 0.9 * times
        assert all(answer.complete and answer.hits and not answer.degraded for answer in whole)


def test_while_another_thread_syncs_much(root: Path) -> None:
    for number in range(400):
        (root / f"more{number}.md").write_text(
            f"# More {number}\n\n" + f"gamma delta{number} 回归测试\n\n" * 40
        )
    with Memory.open(root, config=LEXICAL) as memory:
        memory.search("warm")
        for number in range(400):
            (root / f"more{number}.md").write_text(f"# More {number}\n\n" + f"epsilon{number} 回归\n\n" * 40)
        worker = threading.Thread(target=memory.sync)
        worker.start()
        took = []
        while worker.is_alive():
            started = time.perf_counter()
            memory.recall("alpha beta3", deadline=DEADLINE)
            took.append(time.perf_counter() - started)
        worker.join()
        assert sorted(took)[len(took) // 2] <= DEADLINE + ALLOWED


def test_a_deadline_of_nothing(root: Path) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        started = time.perf_counter()
        answer: Any = memory.recall("alpha", deadline=0.0)
        assert time.perf_counter() - started < 0.1
        assert answer.hits or (answer.degraded and not answer.complete)


def test_where_the_words_took_the_time_the_answer_is_made_of_them(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(root) as memory:
        memory.sync()
        assert "dense" in memory.recall("alpha beta3", deadline=5.0).mode
        score = lexical.score

        def slow(*given: Any) -> Any:
            time.sleep(3.0)
            return score(*given)

        monkeypatch.setattr(lexical, "score", slow)
        answer = memory.recall("alpha beta3", deadline=4.0)
    assert "note3.md" in {hit.path for hit in answer.hits}
    assert "dense" not in answer.mode
    assert any("no time" in reason for reason in answer.degraded)
    assert not answer.complete


def slow_find(monkeypatch: pytest.MonkeyPatch, seconds: float = 2.0) -> None:
    """Let each full answer take `seconds`."""
    find = Searcher.find

    def slow(self: Searcher, request: Request) -> Found:
        time.sleep(seconds)
        return find(self, request)

    monkeypatch.setattr(Searcher, "find", slow)


@pytest.mark.parametrize("cold", [True, False])
@pytest.mark.parametrize("query", ["alpha beta3", "beta3 数据库"])
def test_out_of_time_it_answers_by_words(
    root: Path, monkeypatch: pytest.MonkeyPatch, query: str, *, cold: bool
) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        if not cold:
            assert memory.search("warm 预热").hits is not None
        slow_find(monkeypatch)
        started = time.perf_counter()
        answer = memory.recall(query, deadline=0.5)
        assert time.perf_counter() - started < 1.5
        assert answer.hits[0].path == "note3.md"
        assert "note3.md" in answer.text
        assert not answer.complete
        assert any("by words alone" in reason for reason in answer.degraded)


def test_what_words_find_is_of_the_scope_is_not_forgotten_and_not_in_the_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept.md").write_text("# Kept\n\nThe walrus sleeps in the harbour.\n")
    (tmp_path / "gone.md").write_text("# Gone\n\nThe walrus eats clams.\n")
    with Memory.open(tmp_path, config=LEXICAL) as memory:
        memory.session("ann", user="ann").add("user", "My walrus is called Otto.")
        memory.session("now").add("user", "A walrus again?")
        memory.sync()
        memory.forget("gone.md")
        slow_find(monkeypatch)
        root_only = memory.recall("walrus", deadline=0.4, exclude=[(memory.session("now").path, 1)])
        everyone = memory.recall("walrus", deadline=0.4, scope="*")
    assert {hit.path for hit in root_only.hits} == {"kept.md"}
    assert {hit.scope for hit in everyone.hits} == {"", "users/ann"}
    assert "gone.md" not in {hit.path for hit in everyone.hits}


def test_late_work_leaves_no_thread_when_the_memory_is_closed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_find(monkeypatch, 0.3)
    others = set(threading.enumerate())
    with Memory.open(root, config=LEXICAL) as memory:
        memory.recall("alpha beta3", deadline=0.1)
    left = [one for one in threading.enumerate() if one not in others and one.name == "mnemark-recall"]
    for thread in left:
        thread.join(5)
    assert not any(thread.is_alive() for thread in left)


def test_an_error_of_the_first_answer_is_no_silence_for_the_next(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        find = Searcher.find

        def broken(self: Searcher, request: Request) -> Found:
            raise IntegrityError("the index is damaged; run `mnemark doctor --fix`")

        monkeypatch.setattr(Searcher, "find", broken)
        with pytest.raises(IntegrityError):
            memory.recall("alpha beta3", deadline=5.0)
        monkeypatch.setattr(Searcher, "find", find)
        answer = memory.recall("alpha beta3", deadline=5.0)
        assert answer.hits
        assert not any("by words alone" in reason for reason in answer.degraded)


_FIRST = """
import sys, time
from mnemark.memory.memory import Memory
with Memory.open(sys.argv[1], config={"embedder": "bundled"}) as memory:
    started = time.perf_counter()
    found = memory.recall(sys.argv[2])
    print(time.perf_counter() - started, len(found.hits), *{hit.path for hit in found.hits})
"""


_FIRST_CHINESE = """
import sys, time
import rjieba
from mnemark.memory.memory import Memory
from mnemark.text.words import segment
cut, loaded = rjieba.cut, []
def slowly(*given, **more):  # as on a slow machine: the interpreter is held while the dictionary is loaded
    if not loaded:
        loaded.append(True)
        sys.setswitchinterval(10)
        until = time.monotonic() + 0.4
        while time.monotonic() < until:
            pass
        sys.setswitchinterval(0.005)
    return cut(*given, **more)
rjieba.cut = slowly
with Memory.open(sys.argv[1], config={"embedder": "bundled"}) as memory:
    memory.recall("when does the server back up", deadline=30)
    assert segment.waits_for_dictionary("备份"), "an English recall loaded it"
    print(len(memory.recall("服务器什么时候备份数据库").hits))
    print(memory.recall("服务器什么时候备份数据库", deadline=30).mode)
"""


def test_the_first_chinese_recall_of_a_process_finds_something(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "bundled"}) as memory:
        for number in range(300):
            memory.session(f"chat:{number}").add("user", f"The backup of server{number} runs at night.")
            memory.session(f"chat:{number}").add("user", f"第{number}台服务器的数据库在凌晨备份。")
        memory.sync(embed=True)
    command = [sys.executable, "-c", _FIRST_CHINESE, str(tmp_path)]
    hits, mode = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(hits) > 0
    assert "dense" in mode


@pytest.mark.slow
def test_the_first_recall_of_a_process_finds_something(tmp_path: Path) -> None:
    for number in range(1_500):
        (tmp_path / f"note{number}.md").write_text(
            f"# Note {number}\n\nThe backup of server{number} runs at night.\n\n"
            f"第{number}台服务器的数据库在凌晨备份。\n"
        )
    with Memory.open(tmp_path, config={"embedder": "bundled"}) as memory:
        memory.sync()
    took, found = [], 0
    for number in range(20):
        query = f"when does server{number} back up" if number % 2 else f"第{number}台服务器什么时候备份数据库"
        command = [sys.executable, "-c", _FIRST, str(tmp_path), query]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, hits, *_paths = ran.stdout.split()
        took.append(float(seconds))
        found += hits != "0"
    print(f"{found} of 20 with hits; slowest {max(took) * 1000:.0f} ms")  # noqa: T201
    assert found >= 19
