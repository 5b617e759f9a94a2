"""One daemon per user: it starts, is joined, taken over, drains, and ends when nobody needs it."""

import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.samples import claude_line
from interfaces.daemons import found, running, surroundings, wait_for
from mnemark_agents import daemon
from mnemark_agents.upkeep import latest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

Ran = "subprocess.CompletedProcess[str]"


def _mnemark(state: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mnemark", *arguments]
    return subprocess.run(
        command, env=surroundings(state), capture_output=True, text=True, timeout=60, check=False
    )


def test_a_second_start_joins_the_first(tmp_path: Path) -> None:
    with running(tmp_path) as first:
        second = _mnemark(tmp_path, "serve", "--json")
        assert second.returncode == 0
        assert json.loads(second.stdout)["pid"] == first.at.pid
        assert json.loads(second.stdout)["state"] == "running already"


@pytest.mark.timed
def test_of_four_that_start_at_once_one_stays(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mnemark", "serve", "--json"]
    started = [
        subprocess.Popen(
            command, env=surroundings(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        for _ in range(4)
    ]
    try:
        at = wait_for(tmp_path)
        deadline = time.monotonic() + 40
        while sum(one.poll() is None for one in started) > 1:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert [one.pid for one in started if one.poll() is None] == [at.pid]
        assert {one.poll() for one in started} == {None, 0}
    finally:
        for one in started:
            one.kill()
            one.communicate()


def test_another_version_is_not_joined_and_it_is_said_whose_it_is(tmp_path: Path) -> None:
    with running(tmp_path) as first:
        state = tmp_path / "mnemark" / daemon.STATE
        state.write_text(json.dumps(first.at._asdict() | {"version": "9.9.9"}), encoding="utf-8")
        second = _mnemark(tmp_path, "serve")
        assert second.returncode == 5
        assert "9.9.9" in second.stderr
        assert str(first.at.pid) in second.stderr
        assert "--stop" in second.stderr


@pytest.mark.timed
def test_what_a_killed_one_left_behind_is_taken_over(tmp_path: Path) -> None:
    with running(tmp_path) as first:
        first.process.kill()
        first.process.wait()
        assert found(tmp_path) == first.at
        with running(tmp_path) as second:
            assert second.at.token != first.at.token
            assert second.request("/health", b"", method="GET")[0] == 200


def test_only_the_user_may_read_the_token(tmp_path: Path) -> None:
    with running(tmp_path):
        folder = tmp_path / "mnemark"
        assert (folder / daemon.STATE).stat().st_mode & 0o777 == 0o600
        assert folder.stat().st_mode & 0o777 == 0o700


def test_it_listens_on_loopback_only(tmp_path: Path) -> None:
    with running(tmp_path) as here:
        table = Path("/proc/net/tcp")
        if not table.is_file():
            pytest.skip("sockets are read from /proc")
        own = [line.split()[1] for line in table.read_text().splitlines() if f":{here.port:04X} " in line]
        assert own
        assert all(address.startswith("0100007F:") for address in own if address.endswith(f"{here.port:04X}"))


def test_sigterm_finishes_what_runs_and_withdraws(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    answers: list[object] = []
    with running(tmp_path) as here:

        def ask() -> None:
            turns = [{"role": "user", "content": "x" * 100}] * 2000
            answers.append(here.post("/v1/turns", workspace=str(workspace), session="s", turns=turns))

        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.15)
        assert here.end() == 0
        asking.join()
        assert found(tmp_path) is None
        with pytest.raises(daemon.UnreachableError):
            here.post("/v1/status", workspace=str(workspace))
    texts = [path.read_text("utf-8") for path in workspace.glob("sessions/*")]
    kept = sum(text.count('"role"') for text in texts)
    assert (len(answers), kept) == (1, 2000)


def test_without_requests_it_ends_by_itself(tmp_path: Path) -> None:
    with running(tmp_path, "IDLE_MINUTES=0.02") as here:
        assert here.process.wait(20) == 0
        assert found(tmp_path) is None


def test_stop_ends_it(tmp_path: Path) -> None:
    with running(tmp_path) as here:
        assert _mnemark(tmp_path, "serve", "--stop").returncode == 0
        assert here.process.wait(20) == 0
    assert _mnemark(tmp_path, "serve", "--stop").returncode == 3


@pytest.mark.timed
def test_killed_at_any_moment_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    acknowledged: list[str] = []
    for round_ in range(2):
        with running(tmp_path) as here:

            def agent(number: int, at: daemon.Daemon = here.at, round_: int = round_) -> None:
                count = 0
                while True:
                    words = f"{round_} {number} {count}"
                    body = {
                        "workspace": str(workspace), "session": f"s{number}",
                        "turns": [{"role": "user", "content": words}],
                    }  # fmt: skip
                    try:
                        daemon.post("/v1/turns", body, 10, daemon=at)
                    except daemon.UnreachableError:
                        return
                    acknowledged.append(words)
                    count += 1

            agents = [threading.Thread(target=agent, args=(number,)) for number in range(3)]
            for one in agents:
                one.start()
            deadline = time.monotonic() + 20
            while len(acknowledged) < 8 * (round_ + 1) and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(random.Random(round_).uniform(0, 0.2))
            os.kill(here.process.pid, signal.SIGKILL)
            for one in agents:
                one.join()
    lines = [line for path in workspace.glob("sessions/*") for line in path.read_text("utf-8").splitlines()]
    kept = {json.loads(line).get("content") for line in lines if line.startswith("{")}
    assert len(acknowledged) > 10
    assert set(acknowledged) <= kept


@pytest.mark.timed
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_hooks_go_on_while_the_daemon_is_killed_and_lose_no_turn(tmp_path: Path, seed: int) -> None:
    """Each answered hook says that all its transcript held by then is kept, whoever kept it."""
    workspace, chance = tmp_path / "w", random.Random(seed)
    workspace.mkdir()
    rounds = threading.Event()
    answered: list[str] = []
    codes: list[tuple[int, bytes]] = []

    def agent(number: int) -> None:
        transcript = tmp_path / f"t{number}.jsonl"
        count = 0
        while not rounds.is_set():
            words = f"agent {number} says {count} 第 {count} 句"
            with transcript.open("a", encoding="utf-8") as file:
                file.write(json.dumps(claude_line(count, "user", words)) + "\n")
            event = {"session_id": f"s{number}", "transcript_path": str(transcript)}
            ran = subprocess.run(
                [sys.executable, "-m", "mnemark", "hook", "response", "-a", "claude-code",
                 "-w", str(workspace)],
                input=json.dumps(event).encode(), env=surroundings(tmp_path), capture_output=True,
                check=False, timeout=60,
            )  # fmt: skip
            codes.append((ran.returncode, ran.stdout))
            answered.append(words)
            count += 1

    agents = [threading.Thread(target=agent, args=(number,)) for number in range(3)]
    for one in agents:
        one.start()
    for _ in range(2):
        with running(tmp_path) as here:
            time.sleep(chance.uniform(0.05, 0.6))
            os.kill(here.process.pid, signal.SIGKILL)
            here.process.wait()
    rounds.set()
    for one in agents:
        one.join()
    assert set(codes) == {(0, b"{}\n")}
    kept = Counter(
        json.loads(line).get("content")
        for path in workspace.glob("sessions/*") for line in path.read_text("utf-8").splitlines()
    )  # fmt: skip
    kept.pop(None, None)
    log = workspace / ".mnemark/hook.log"
    assert not log.exists(), log.read_text("utf-8")
    assert len(answered) > 8
    missing = [words for words in answered if not kept[words]]
    assert [(words, kept[words]) for words in kept if kept[words] > 1] == []
    assert missing == []


def test_the_night_is_due_once_and_made_up_for() -> None:
    day = datetime(2026, 2, 13, tzinfo=UTC)
    assert latest("03:00", day.replace(hour=17)) == day.replace(hour=3)
    assert latest("03:00", day.replace(hour=3)) == day.replace(hour=3)
    assert latest("03:00", day.replace(hour=2, minute=59)) == day.replace(day=12, hour=3)
    assert latest("", day) is None


def test_the_night_consolidates_where_agents_write_and_nowhere_else(tmp_path: Path) -> None:
    from mnemark_interfaces.http.pool import Lanes, Workspaces
    from mnemark_interfaces.http.server import Nightly

    written, foreign = tmp_path / "written", tmp_path / "foreign"
    for folder in (written, foreign):
        (folder / "memory").mkdir(parents=True)
        (folder / "memory/2026-02-13.md").write_text("# 2026-02-13\n\n- a note\n", encoding="utf-8")
    workspaces = Workspaces(watching=False)
    with workspaces.lease(str(written)) as opened:
        opened.memory.remember("city", "Berlin")
    before = {path: path.read_bytes() for path in foreign.rglob("*.md")}
    nightly = Nightly(workspaces, Lanes())
    night = datetime(2026, 11, 21, 3, 5, tzinfo=UTC).astimezone()
    night = night.replace(hour=3, minute=5)
    assert not nightly.visit(written, night.replace(day=20, hour=17)), "it was not there the night before"
    assert nightly.visit(written, night)
    assert not nightly.visit(written, night.replace(minute=10))
    assert not nightly.visit(foreign, night)
    assert {path: path.read_bytes() for path in foreign.rglob("*.md")} == before
    workspaces.close()


@pytest.mark.timed
def test_a_kept_connection_is_answered_at_once(tmp_path: Path) -> None:
    with running(tmp_path) as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
        headers = {"Authorization": f"Bearer {served.at.token}"}
        times = []
        for _ in range(15):
            begun = time.perf_counter()
            connection.request("GET", "/health", headers=headers)
            assert connection.getresponse().read()
            times.append(time.perf_counter() - begun)
        connection.close()
    # Where the answer's second half waits for the client's delayed acknowledgement, each takes 40 ms.
    assert statistics.median(times) < 0.025, times
