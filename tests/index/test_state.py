import multiprocessing
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from mnemark.errors import NewerFormatError, ReadOnlyError
from mnemark.index.state import TRIES, State

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
LOG = "sessions/main-3f2a.jsonl"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


def test_uses_add_up_and_survive(root: Path) -> None:
    with State(root) as state:
        state.touch(["a.md#L1", "b.md#L2"], NOW)
        state.touch(["a.md#L1"], NOW - timedelta(days=1))
    with State(root) as state:
        found = state.counts(["a.md#L1", "b.md#L2", "none"])
    assert {ref: (use.times, use.last) for ref, use in found.items()} == {
        "a.md#L1": (2, NOW),
        "b.md#L2": (1, NOW),
    }


def test_positions(root: Path) -> None:
    with State(root) as state:
        state.note({"learn:中文": "3", "learn:x": "1", "sync:x": "9"})
        state.note({"learn:x": ""})
        assert state.positions("learn:") == {"learn:中文": "3"}
        assert state.position("sync:x") == "9"
        assert not state.position("nothing")


def test_each_item_is_queued_once_and_claimed_by_one(root: Path) -> None:
    with State(root) as one, State(root) as two:
        assert one.enqueue([(LOG, 2, 9), (LOG, 10, 12)], NOW, noting={"at": "12"}) == 2
        assert two.enqueue([(LOG, 2, 9)], NOW) == 0
        assert two.position("at") == "12"
        assert [item.ref for item in one.claim(1, NOW)] == [f"{LOG}#L2-L9"]
        assert [item.ref for item in two.claim(5, NOW)] == [f"{LOG}#L10-L12"]
        assert one.claim(5, NOW) == []


def test_a_claim_that_never_comes_back_is_due_again_and_fails_in_the_end(root: Path) -> None:
    with State(root) as state:
        state.enqueue([(LOG, 2, 9)], NOW)
        for number in range(TRIES):
            (item,) = state.claim(1, NOW + timedelta(seconds=number * 61), lease=60)
            assert item.tries == number + 1
        assert state.claim(1, NOW + timedelta(hours=1)) == []
        assert [(item.path, item.tries) for item in state.failed()] == [(LOG, TRIES)]


def test_three_misses_are_kept_as_failed_with_the_last_reason(root: Path) -> None:
    with State(root) as state:
        state.enqueue([(LOG, 2, 9)], NOW)
        for number in range(TRIES):
            (item,) = state.claim(1, NOW + timedelta(hours=number))
            state.missed([item.id], f"reason {number}", NOW + timedelta(hours=number + 1))
        assert [item.reason for item in state.failed()] == ["reason 2"]
        assert state.claim(1, NOW + timedelta(days=9)) == []
        assert tuple(state.waiting(NOW)) == (0, 0, 1)
        assert state.retry_failed(NOW) == 1
        assert [item.tries for item in state.claim(1, NOW)] == [1]


def test_the_next_try_is_told(root: Path) -> None:
    with State(root) as state:
        assert state.next_try(NOW) is None
        state.enqueue([(LOG, 2, 9), (LOG, 10, 12)], NOW)
        assert state.next_try(NOW) is None
        first, second = state.claim(2, NOW)
        state.missed([first.id], "no answer", NOW + timedelta(minutes=20))
        state.missed([second.id], "no answer", NOW + timedelta(minutes=5))
        assert state.waiting(NOW) == (0, 2, 0)
        assert state.next_try(NOW) == NOW + timedelta(minutes=5)


def test_what_was_not_tried_is_no_try(root: Path) -> None:
    with State(root) as state:
        state.enqueue([(LOG, 2, 9)], NOW)
        for _ in range(9):
            (item,) = state.claim(1, NOW)
            state.give_back([item.id], NOW)
        assert item.tries == 1


def test_the_days_spend(root: Path) -> None:
    day = date(2026, 11, 21)
    with State(root) as state:
        state.spend(["r1", day.isoformat(), NOW.isoformat(), "m", "asked", 1, 100, 50])
        state.spend(["r1", day.isoformat(), NOW.isoformat(), "m", "answered", 0, -20, -10])
        assert state.spent(day) == (1, 120)
        assert state.spent(day + timedelta(days=1)) == (0, 0)


def test_a_damaged_file_is_made_anew_and_told(root: Path) -> None:
    with State(root) as state:
        state.note({"a": "1"})
    (root / ".mnemark" / "state.db").write_bytes(b"this is no database" * 500)
    with State(root) as state:
        assert not state.position("a")
        assert "a new one was created" in state.problem
        state.note({"a": "2"})
    with State(root) as state:
        assert state.position("a") == "2"
        assert not state.problem


def test_pages_torn_inside_are_made_anew_too(root: Path) -> None:
    with State(root) as state:
        state.enqueue([(LOG, n, n) for n in range(3000)], NOW)
    path = root / ".mnemark" / "state.db"
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    with State(root) as state:
        state.enqueue([(LOG, 1, 1)], NOW)
        assert [item.first for item in state.claim(9, NOW)] == [1]
        assert state.problem


def test_a_newer_one_is_left_alone(root: Path) -> None:
    with State(root) as state:
        state.note({"a": "1"})
    path = root / ".mnemark" / "state.db"
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with State(root) as state, pytest.raises(NewerFormatError, match="format 99"):
        state.position("a")
    assert path.exists()


def test_read_only_makes_no_file(root: Path) -> None:
    with State(root, readonly=True) as state:
        assert state.counts(["a"]) == {}
        assert state.waiting(NOW) == (0, 0, 0)
        with pytest.raises(ReadOnlyError):
            state.touch(["a"], NOW)
    assert not (root / ".mnemark").exists()


def _claims(root: Path, found: "multiprocessing.Queue[list[int]]") -> None:
    with State(root) as state:
        mine: list[int] = []
        while items := state.claim(3, NOW):
            mine += [item.id for item in items]
        found.put(mine)


def test_processes_never_share_an_item(root: Path) -> None:
    with State(root) as state:
        state.enqueue([(LOG, n, n) for n in range(60)], NOW)
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    processes = [context.Process(target=_claims, args=(root, found)) for _ in range(3)]
    for process in processes:
        process.start()
    claimed = [one for _ in processes for one in found.get(timeout=30)]
    for process in processes:
        process.join()
    assert len(claimed) == len(set(claimed)) == 60


def _flooded(root: Path, count: int) -> State:
    state = State(root)
    state.enqueue(((f"sessions/{n % 97}.jsonl", n, n) for n in range(count)), NOW)
    connection = apsw.Connection(str(state.path))
    connection.execute("UPDATE queue SET failed = 1, reason = 'refused' WHERE id % 2")
    connection.execute("UPDATE queue SET next_try = next_try + 9e9 WHERE id % 4 = 0")
    connection.close()
    return state


@pytest.mark.timed
@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_long_queue_slows_nothing(root: Path, count: int) -> None:
    with _flooded(root, count) as state:
        started = time.perf_counter()
        for number in range(50):
            state.enqueue([("sessions/new.jsonl", number, number)], NOW)
            (item,) = state.claim(1, NOW)
            state.done([item.id])
            state.failed(10)
            assert state.is_due(NOW)
        spent = (time.perf_counter() - started) / 50
    assert spent < 0.05, f"{spent * 1000:.1f} ms for one round"


def test_an_item_that_a_wrong_clock_put_off_for_years_is_due(root: Path) -> None:
    with State(root) as state:
        state.enqueue([(LOG, 1, 2)], NOW + timedelta(days=3_650))
        assert state.is_due(NOW)
        assert state.waiting(NOW) == (1, 0, 0)
        assert state.next_try(NOW) is None
        (item,) = state.claim(9, NOW)
        assert state.claim(9, NOW) == []
        state.missed([item.id], "late", NOW + timedelta(days=1))
        assert not state.is_due(NOW)
        assert state.next_try(NOW) == NOW + timedelta(days=1)
