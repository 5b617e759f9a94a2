"""Workers: the index is the same with and without them, however they end, and none outlives its caller."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemark.embed.bundled import BundledEmbedder
from mnemark.index import segment_builder, sync, workers
from mnemark.index.store import Index
from mnemark.index.vectors import embed_missing
from mnemark.index.vectors.mapped_file import VectorFile
from mnemark.index.workers import Workers

posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(60):
        text = f"# Note {number}\n\nword{number} 数据库系统 the os.path.join {number}\n" * (number % 5 + 1)
        (tmp_path / f"note{number}.md").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sync is large enough for workers, and waits until one is ready."""
    monkeypatch.setattr(sync, "_LARGE", 0)
    monkeypatch.setattr(embed_missing, "_LARGE", 0)
    monkeypatch.setattr(embed_missing, "BATCH", 16)
    monkeypatch.setattr(segment_builder, "_BLOCK", 16)
    monkeypatch.setattr(workers, "_count", lambda: 2)
    begin = Workers.__init__

    def started(self: Workers, count: int) -> None:
        begin(self, count)
        for worker in self._workers:
            worker._requests[0].exception(30)

    monkeypatch.setattr(Workers, "__init__", started)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks that were given to workers."""
    tasks: list[str] = []
    submit = workers._WorkerProcess.submit

    def noted(self: workers._WorkerProcess, task: str, arguments: tuple[object, ...]) -> workers.WorkerAnswer:
        tasks.append(task)
        return submit(self, task, arguments)

    monkeypatch.setattr(workers._WorkerProcess, "submit", noted)
    return tasks


def everything(root: Path) -> list[object]:
    """Sync into a new index and embed; what is stored, but for times."""
    home = root / ".mnemark"
    for path in sorted(home.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    index = Index(root)
    sync.sync(index)
    tables = ("passages", "segments", "postings")
    found: list[object] = [list(index.rows(f"SELECT * FROM {table} ORDER BY 1, 2")) for table in tables]
    embedder = BundledEmbedder()
    with VectorFile.open(home / "vectors", embedder.name, embedder.dimension) as store:
        done = embed_missing.embed_missing(index, embedder, store)
        keys = sorted(embed_missing.keys_of(index))
        found += [done, keys, store._view.raw[store.lookup(keys)].tobytes()]
    index.close()
    return found


def test_a_large_sync_with_workers_makes_the_same_index(
    root: Path, given: list[str], request: pytest.FixtureRequest
) -> None:
    alone = everything(root)
    assert given == []
    request.getfixturevalue("large")
    assert everything(root) == alone
    assert {"analyse", "vectors"} == set(given)


def _kill(worker: "workers._WorkerProcess") -> None:
    worker._process.kill()


def _stop(worker: "workers._WorkerProcess") -> None:
    os.kill(worker._process.pid, signal.SIGSTOP)


@pytest.mark.timed
@posix
@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("harm", [_kill, _stop])
def test_nothing_is_lost_with_a_worker(
    root: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[workers._WorkerProcess], None]
) -> None:
    whole = everything(root)
    monkeypatch.setattr(workers, "_PATIENCE", 0.5)
    submit = workers._WorkerProcess.submit

    def harmed(
        self: workers._WorkerProcess, task: str, arguments: tuple[object, ...]
    ) -> workers.WorkerAnswer:
        answer = submit(self, task, arguments)
        harm(self)
        return answer

    monkeypatch.setattr(workers._WorkerProcess, "submit", harmed)
    assert everything(root) == whole


@pytest.mark.usefixtures("large")
def test_where_no_program_starts_the_caller_does_the_work(
    root: Path, monkeypatch: pytest.MonkeyPatch, given: list[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(root / "python-that-is-not-there"))
    everything(root)
    assert given == []


def test_a_small_sync_starts_no_worker(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_WorkerProcess", _never)
    everything(root)


def _never() -> None:
    raise AssertionError("a worker was started")


@pytest.mark.parametrize("executable", ["", "/usr/bin/blender", "C:/Program Files/App/app.exe"])
def test_a_program_that_is_not_python_is_not_started(
    executable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    assert workers._count() == 0


SCRIPT = """
import os, signal, sys, time
from mnemark.index.workers import workers_for
import mnemark.index.workers as w
w._count = lambda: 1
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has it ignored in the background
with workers_for(1, least=0) as workers:
    worker = workers._workers[0]
    worker._requests[0].result(30)
    print(worker._process.pid, flush=True)
    time.sleep(60)
"""


@pytest.mark.timed
@posix
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_worker_outlives_its_caller(how: signal.Signals, tmp_path: Path) -> None:
    """The script has no guard for `__main__`, and is not run again by the worker."""
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(SCRIPT))
    caller = subprocess.Popen(
        [sys.executable, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with caller:
        assert caller.stdout is not None
        worker = int(caller.stdout.readline())
        assert _runs(worker)
        os.killpg(caller.pid, how) if how == signal.SIGINT else caller.send_signal(how)
        assert caller.stdout.read() == b""
    assert any(not _runs(worker) for _ in _moments(10))


def _runs(process: int) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return state.stdout.strip()[:1] not in ("", "Z")


def _moments(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.05)
