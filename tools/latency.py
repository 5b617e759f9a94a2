"""How long agents wait: commands, hooks and MCP, with the daemon and without, beside a bare Python start.

    python tools/latency.py [--runs 30]

Prints medians of wall and CPU time in milliseconds. CPU is that of the process the agent starts, its end
included. A workspace of a thousand notes is indexed before.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mnemark_agents import daemon

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
NEEDED = "import apsw, msgspec, numkong, numpy, Stemmer"
"""The modules of others that a search in English loads, by any way: index, vectors, stems of words."""
NEEDED_IN_CHINESE = f"{NEEDED}, rjieba; rjieba.cut('备份')"
"""The dictionary is loaded with the first cut."""
NEEDED_BY_HOOK = "import apsw, msgspec, numpy, Stemmer"
"""A hook alone searches by words alone."""
START = {"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}
PROMPT = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "When does the backup run?"}
"""All prompts of a session find the same, so the second and later ones are answered with nothing new."""
FIRST = PROMPT | {"session_id": "RUN"}


def message(identifier: int, method: str, params: Any) -> bytes:
    """A request as a line."""
    body = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
    return json.dumps(body).encode() + b"\n"


def run(command: list[str], sent: list[bytes], given: bytes = b"") -> tuple[float, float]:
    """Wall time until all lines of `sent` are answered (or the end), and CPU of the process, in ms."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    for line in sent:
        process.stdin.write(line)
        process.stdin.flush()
        if b"error" in process.stdout.readline()[:60]:
            raise RuntimeError("an error came back")
    wall = time.perf_counter() - begun
    process.communicate(given)
    if not sent:
        wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1000, spent * 1000


def measure(what: str, runs: int, command: list[str], sent: list[bytes], given: bytes = b"") -> float:
    """One line of the table; returns the CPU time."""
    times = [run(command, sent, given) for _ in range(runs)]
    wall, spent = statistics.median(one for one, _ in times), statistics.median(one for _, one in times)
    print(f"  {what:40} wall {wall:6.0f} ms   CPU {spent:6.0f} ms", flush=True)
    return spent


def compare(
    what: str,
    runs: int,
    code: str,
    command: list[str],
    *,
    sent: list[bytes] | None = None,
    given: bytes = b"",
) -> None:
    """One line of the table, and how many times the CPU it takes of importing what it needs of others.

    In `given`, RUN stands for the number of the run.
    """
    needs = [sys.executable, "-c", code]
    # In turn: a machine is quicker at one time than at another.
    events = [given.replace(b"RUN", b"%d" % number) for number in range(runs)]
    takes = [(run(command, sent or [], event), run(needs, [])[1]) for event in events]
    wall, spent = (statistics.median(one[at] for one, _ in takes) for at in (0, 1))
    needed = statistics.median(one for _, one in takes)
    print(
        f"  {what:40} wall {wall:6.0f} ms   CPU {spent:6.0f} ms   {spent / needed:.2f} times the "
        f"{needed:.0f} ms of the modules of others that it needs",
        flush=True,
    )


def notes(workspace: Path, mnemark: list[str]) -> None:
    """A memory with a thousand notes, indexed."""
    subprocess.run([*mnemark, "init", str(workspace)], stdout=subprocess.DEVNULL, check=True)
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    for number in range(1000):
        text = f"# Note {number}\n\nThe backup of host {number} runs at {number % 24}:00. 备份 {number}。\n"
        (workspace / f"memory/note-{number}.md").write_text(text, encoding="utf-8")
    subprocess.run([*mnemark, "sync", "-w", str(workspace)], stdout=subprocess.DEVNULL, check=True)


def main() -> int:
    """Measure all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=30)
    runs = parser.parse_args().runs
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it makes every start compile anew
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command sets it
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = str(Path(folder, "state"))
        workspace = Path(folder, "workspace")
        mnemark = [sys.executable, "-m", "mnemark"]
        notes(workspace, mnemark)
        front, hook = (
            [*mnemark, "mcp", "-w", str(workspace)],
            [*mnemark, "hook", "prompt", "-w", str(workspace)],
        )
        hook += ["--agent", "claude-code"]
        listed = [message(1, "initialize", HELLO), message(2, "tools/list", {})]
        call = {"name": "memory_search", "arguments": {"query": "when does the backup run"}}
        found = [*listed, message(3, "tools/call", call)]
        begin = json.dumps(START | {"cwd": str(workspace)}).encode()
        event = json.dumps(PROMPT | {"cwd": str(workspace)}).encode()
        measure("python -c pass", runs, [sys.executable, "-c", "pass"], [])
        search = [*mnemark, "search", "-w", str(workspace)]
        compare("search, alone", runs, NEEDED, [*search, "when does the backup run"])
        compare("search in Chinese, alone", runs, NEEDED_IN_CHINESE, [*search, "备份什么时候"])
        measure("mcp until tools/list", runs, [*front, "--alone"], listed)
        compare("mcp until a first search, alone", runs, NEEDED, [*front, "--alone"], sent=found)
        compare("hook, a prompt, alone", runs, NEEDED_BY_HOOK, [*hook, "--alone"], given=event)
        first = json.dumps(FIRST | {"cwd": str(workspace)}).encode()
        compare(
            "hook, a session's first prompt, alone", runs, NEEDED_BY_HOOK, [*hook, "--alone"], given=first
        )
        start = [*mnemark, "hook", "start", "-w", str(workspace), "--agent", "claude-code", "--alone"]
        compare("hook, a session begins, alone", runs, NEEDED_BY_HOOK, start, given=begin)
        begun = time.perf_counter()
        process = daemon.start()
        assert process is not None
        while (at := daemon.find()) is None:
            if process.poll() is not None:
                raise SystemExit("the daemon did not start")
            time.sleep(0.005)
        print(
            f"  {'daemon, until it listens':40} wall {(time.perf_counter() - begun) * 1000:6.0f} ms",
            flush=True,
        )
        daemon.post("/v1/search", {"workspace": str(workspace), "query": "backup"}, 60, daemon=at)
        measure("search, daemon", runs, [*search, "when does the backup run"], [])
        measure("search in Chinese, daemon", runs, [*search, "备份什么时候"], [])
        measure("mcp until a first search, daemon", runs, front, found)
        measure("hook, a prompt, daemon", runs, hook, [], event)
        times = []
        for _ in range(runs):
            begun = time.perf_counter()
            daemon.post("/v1/recall", {"workspace": str(workspace), "query": "backup of host 7"}, daemon=at)
            times.append((time.perf_counter() - begun) * 1000)
        print(f"  {'API, recall':40} wall {statistics.median(times):6.1f} ms")
        process.terminate()
        process.wait(30)
    return 0


if __name__ == "__main__":
    sys.exit(main())
