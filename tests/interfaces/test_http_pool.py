"""The workspaces a daemon has open."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import Mock

import pytest

pytest.importorskip("starlette")

from mnemark.errors import BusyError
from mnemark.index.connections import SPARE
from mnemark_interfaces.http.pool import Workspaces

AT_ONCE = 10


class _Between:
    """A lock; before it is taken for the `number`-th time, `then` happens: another thread's work."""

    def __init__(self, number: int, then: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._left = number
        self._then = then

    def __enter__(self) -> None:
        self._left -= 1
        if not self._left:
            self._then()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


@pytest.mark.parametrize("moment", [1, 2, 3, 4])
def test_a_workspace_is_never_handed_out_closed(tmp_path: Path, moment: int) -> None:
    """Its settings change while it is used, and that use ends while the next request begins."""
    pool = Workspaces(most=0, watching=False)  # what nobody uses is closed at once
    (tmp_path / "a.md").write_text("the cache lives in Frankfurt\n", encoding="utf-8")
    first = ExitStack()
    first.enter_context(pool.lease(str(tmp_path)))
    (tmp_path / "mnemark.toml").write_text("recall_hits = 3\n", encoding="utf-8")
    pool._guard = _Between(moment, first.close)  # type: ignore[assignment]
    with pool.lease(str(tmp_path)) as opened:
        assert opened.memory.search("cache").hits
    first.close()
    with pool.lease(str(tmp_path)) as opened:
        assert opened.memory.config.recall_hits == 3
    pool.close()


def test_requests_at_once_leave_few_connections(tmp_path: Path) -> None:
    """Threads of requests live as long as the daemon, and serve all workspaces."""
    pool = Workspaces(watching=False)
    (tmp_path / "a.md").write_text("the cache lives in Frankfurt\n", encoding="utf-8")
    together, done = threading.Barrier(AT_ONCE + 1, timeout=60), threading.Event()

    def request() -> None:
        with pool.lease(str(tmp_path)) as opened:
            assert opened.memory.search("cache").hits
            opened.memory.recall("where does the cache live?", deadline=5.0)
            together.wait()
        together.wait()
        done.wait(60)

    threads = [threading.Thread(target=request) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    together.wait()
    together.wait()
    with pool.lease(str(tmp_path)) as opened:
        assert opened.memory.workspace.index._connections.open <= SPARE + 1
    done.set()
    for thread in threads:
        thread.join()
    pool.close()


def test_a_page_that_looks_by_itself_is_no_use(tmp_path: Path) -> None:
    pool = Workspaces(watching=False)
    (tmp_path / "a.md").write_text("the cache lives in Frankfurt\n", encoding="utf-8")
    with pool.lease(str(tmp_path)) as opened:
        pass
    before = opened.used
    with pool.lease(str(tmp_path), active=False) as opened:
        assert pool.unused(0) == []
    assert opened.used == before
    with pool.lease(str(tmp_path)) as opened:
        pass
    assert opened.used > before
    pool.close()


def test_a_log_edited_while_another_process_syncs_is_read_again_by_the_next_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemark_interfaces.http.pool._LOGS_REST", 0.0)
    pool = Workspaces(watching=False)
    with pool.lease(str(tmp_path)) as opened:
        path = opened.memory.session("s").path
        opened.memory.session("s").add("user", "the cache lives in Frankfurt")
        assert opened.memory.search("Frankfurt").hits
        log = tmp_path / path
        log.write_text(log.read_text("utf-8").replace("Frankfurt", "Stockholm"), "utf-8")
        busy = BusyError("another process syncs")
        with monkeypatch.context() as patch:
            patch.setattr(opened.memory, "sync", Mock(side_effect=busy))
            opened._changed({path})
        (hit,) = opened.memory.search("cache").hits
        assert "Stockholm" in hit.text
    pool.close()
