"""Eight agents at once on one daemon: MCP over stdio, hooks where there are some, and the API.

    python tools/load.py --minutes 10

Each agent records turns, remembers, writes, searches and recalls in turn, as fast as a quick model would.
Prints errors, lost turns, and every 15 seconds memory and file descriptors of the daemon; at the end the
p95 of recall beside a request that does nothing (`/health`) and a bare scan of the same turns for the words.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mnemark.agent import daemon

WORDS = [
    "cache",
    "index",
    "vector",
    "deploy",
    "backup",
    "frankfurt",
    "editor",
    "budget",
    "部署",
    "备份",
    "索引",
    "会议",
    "预算",
    "数据库",
    "周五",
    "缓存",
]
PAUSE = 0.05


class Load:
    """What all agents share: counts, times, and the time to stop."""

    def __init__(self, workspaces: list[Path], at: daemon.Daemon) -> None:
        self.workspaces = workspaces
        self.at = at
        self.stop = threading.Event()
        self.guard = threading.Lock()
        self.errors: list[str] = []
        self.times: dict[str, list[float]] = {}
        self.kept: dict[Path, dict[str, str]] = {path: {} for path in workspaces}
        self.calls = 0
        self.facts = 0.1
        """Share of rounds of an API agent in which it replaces a fact."""

    def timed(self, what: str, job: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Do it, keep the time; an error is kept and not raised."""
        begun = time.perf_counter()
        try:
            found = job(*arguments, **named)
        except Exception as error:  # noqa: BLE001 - that is what is counted
            with self.guard:
                self.errors.append(f"{what}: {type(error).__name__}: {error}")
            return None
        with self.guard:
            self.calls += 1
            self.times.setdefault(what, []).append(time.perf_counter() - begun)
        return found

    def post(self, path: str, **body: Any) -> Any:
        """Ask the daemon."""
        return daemon.post(path, body, 30, daemon=self.at)


def said(chance: random.Random) -> str:
    """A sentence of a few words, in two languages."""
    return " ".join(chance.choices(WORDS, k=8)) + f" {chance.randrange(10**6)}"


def api_agent(load: Load, number: int) -> None:
    """An agent that uses the JSON API: turns, recall, facts."""
    chance = random.Random(number)
    workspace = load.workspaces[number % len(load.workspaces)]
    at, mine = str(workspace), f"s{number}"
    while not load.stop.is_set():
        words = said(chance)
        turns = [{"role": "user", "content": words}]
        kept = load.timed("turns", load.post, "/v1/turns", workspace=at, session=mine, turns=turns)
        if kept is not None:
            with load.guard:
                load.kept[workspace][kept["turns"][0]["id"]] = words
        query = " ".join(chance.sample(WORDS, 3))
        load.timed("recall", load.post, "/v1/recall", workspace=at, query=query, session=mine)
        if chance.random() < load.facts:
            value = said(chance)
            load.timed("remember", load.post, "/v1/remember", workspace=at, predicate="mood", value=value)
        if chance.random() < 0.05:
            load.timed("health", health, load.at)
        load.stop.wait(PAUSE)


def health(at: daemon.Daemon) -> None:
    """A request that does nothing."""
    import http.client

    host, _, port = at.url.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    connection.request("GET", "/health", headers={"Authorization": f"Bearer {at.token}"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"health: {answer.status}")


def mcp_agent(load: Load, number: int) -> None:
    """An agent that uses the tools over stdio."""
    chance = random.Random(number)
    workspace = load.workspaces[number % len(load.workspaces)]
    command = [sys.executable, "-m", "mnemark", "mcp", "-w", str(workspace)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    count = 0

    def ask(method: str, **params: Any) -> Any:
        nonlocal count
        count += 1
        assert process.stdin is not None
        assert process.stdout is not None
        message = {"jsonrpc": "2.0", "id": count, "method": method, "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(str(answer)[:300])
        return answer["result"]

    load.timed("initialize", ask, "initialize", protocolVersion="2025-06-18", capabilities={})
    while not load.stop.is_set():
        query = " ".join(chance.sample(WORDS, 3))
        load.timed("memory_search", ask, "tools/call", name="memory_search", arguments={"query": query})
        if chance.random() < 0.1:
            note = said(chance)
            load.timed("memory_write", ask, "tools/call", name="memory_write", arguments={"text": note})
        load.stop.wait(PAUSE)
    process.communicate(timeout=30)


def usage(pid: int) -> tuple[float, float, int]:
    """Memory of its own and resident memory in all (with mapped files), in MB, and open files (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kilobytes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)
                 if name in {"RssAnon", "VmRSS"}}  # fmt: skip
    files = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208
    return kilobytes["RssAnon"] / 1000, kilobytes["VmRSS"] / 1000, files


def lost(load: Load) -> int:
    """Turns that were acknowledged and stand in no file."""
    missing = 0
    for workspace, turns in load.kept.items():
        lines = [
            line for path in workspace.glob("sessions/*.jsonl") for line in path.read_text().splitlines()
        ]
        there = {record.get("id"): record.get("content") for record in map(json.loads, lines)}
        missing += sum(there.get(identifier) != words for identifier, words in turns.items())
    return missing


def scan(load: Load) -> float:
    """Median seconds of looking for three words in the text of all turns of the first workspace."""
    texts = list(load.kept[load.workspaces[0]].values())
    times = []
    for number in range(20):
        words = random.Random(number).sample(WORDS, 3)
        begun = time.perf_counter()
        sorted(texts, key=lambda text: -sum(word in text for word in words))[:8]
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def report(load: Load, minutes: float) -> None:
    """What came out."""
    print(f"{load.calls:,} calls in {minutes:g} minutes, {len(load.errors)} errors")
    for error in load.errors[:10]:
        print("  ", error)
    for what, times in sorted(load.times.items()):
        found = sorted(times)
        p95 = found[min(len(found) - 1, int(len(found) * 0.95))] * 1000
        print(f"  {what:14} {len(found):7,}  p50 {statistics.median(found) * 1000:6.1f} ms  p95 {p95:6.1f} "
              f"max {found[-1] * 1000:.0f} ms")  # fmt: skip
    kept = sum(len(turns) for turns in load.kept.values())
    print(f"turns acknowledged {kept:,}, lost {lost(load)}; a bare scan {scan(load) * 1000:.1f} ms")


def started() -> "tuple[subprocess.Popen[bytes], daemon.Daemon]":
    """A daemon that listens."""
    process = daemon.start()
    assert process is not None
    while (at := daemon.find()) is None:
        if process.poll() is not None:
            raise SystemExit("the daemon did not start")
        time.sleep(0.05)
    return process, at


def anew(load: Load) -> None:
    """What a fresh daemon takes for the same workspaces: what the other had beyond it, it had not let go."""
    process, load.at = started()

    def ask(number: int) -> None:
        for query in WORDS:
            at = str(load.workspaces[number % len(load.workspaces)])
            load.timed("anew", load.post, "/v1/recall", workspace=at, query=query, session=f"s{number}")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    own, megabytes, files = usage(process.pid)
    print(f"a fresh daemon with the same: {own:.1f} MB own, {megabytes:.1f} MB resident, {files} files")
    process.terminate()
    process.wait(30)


def main() -> int:
    """Run for some minutes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--facts", type=float, default=0.1, help="share of rounds that replace a fact")
    given = parser.parse_args()
    minutes = given.minutes
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = str(Path(folder, "state"))
        workspaces = [Path(folder, name) for name in ("one", "two", "three")]
        for path in workspaces:
            path.mkdir()
        process, at = started()
        load = Load(workspaces, at)
        load.facts = given.facts
        agents = [
            threading.Thread(target=mcp_agent if n < 3 else api_agent, args=(load, n)) for n in range(8)
        ]
        for agent in agents:
            agent.start()
        end = time.monotonic() + minutes * 60
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(15, left))
            own, megabytes, files = usage(at.pid)
            passed = minutes * 60 - max(end - time.monotonic(), 0)
            print(
                f"  {passed:5.0f} s  {own:6.1f} MB own, {megabytes:6.1f} MB resident, {files} files",
                flush=True,
            )
        load.stop.set()
        for agent in agents:
            agent.join()
        process.terminate()
        process.wait(30)
        report(load, minutes)
        anew(load)
    return 1 if load.errors else 0


if __name__ == "__main__":
    sys.exit(main())
