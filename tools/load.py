"""Eight agents at once on one daemon: three over MCP (stdio), three over the API, two by hooks.

    python tools/load.py --minutes 10

Each agent records turns, remembers, writes, searches and recalls in turn, as fast as a quick model would.
The agents with hooks are Claude Code as its hooks see it: a transcript that grows, and a process of
`mnemark hook` for each prompt and each answer. Each folder begins with some turns (`--turns`), as that of an
agent which has been used: what a process takes once while its first arrays grow is no growth.

Prints every 15 seconds memory and file descriptors of the daemon; at the end, minute by minute, how many
answers were empty and how long recalls took; times (recall beside a request that does nothing and a bare scan
for the words of what was acknowledged in a folder), errors, recalls and searches that came back with nothing
(all folders hold all words that are asked for, so it was not found in time; how many depends on the machine
and is not in the verdict), what was acknowledged and is not in the files exactly once, and a verdict. Exits
with 1 where the verdict is "failed".

Memory is flat where a daemon takes no more for having run longer. Folders grow meanwhile, so that its last
minute cannot be held against its own beginning alone: when it has ended, another one is started for the same
folders and used by eight such agents for two minutes. What two daemons of that age take for the folders as
they were at first and as they are now says what one takes for folders of any size between; the last minute
may be at most `GROWN` above that, and at most `FILES` open files above the second minute (medians of a
minute). A run of less than three minutes is not judged on it.
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
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from mnemark_agents import daemon

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
GROWN = 0.05
"""Share by which the daemon's own memory may be above that of a young one, for folders of the same size."""
YOUNG = 2.0
"""Minutes that a young daemon is used."""
FILES = 10


class Used(NamedTuple):
    """What the daemon takes at a moment."""

    seconds: float
    own: float
    """MB of its own."""
    resident: float
    """MB in all, with files mapped into memory."""
    files: int
    passages: int = 0
    """Turns, notes and facts in the folders."""


class Minute:
    """What was asked in a minute, what came back with nothing, and how long recalls took."""

    def __init__(self) -> None:
        self.asked = self.empty = 0
        self.times: list[float] = []


class Load:
    """What all agents share: counts, times, and the time to stop."""

    at: daemon.Daemon

    def __init__(self, workspaces: list[Path]) -> None:
        self.workspaces = workspaces
        self.stop = threading.Event()
        self.guard = threading.Lock()
        self.errors: list[str] = []
        self.times: dict[str, list[float]] = {}
        self.kept: dict[Path, list[str]] = {path: [] for path in workspaces}
        """What was said and acknowledged; no two are the same."""
        self.notes: dict[Path, list[str]] = {path: [] for path in workspaces}
        self.calls = 0
        self.asked: Counter[str] = Counter()
        """Recalls and searches that were answered."""
        self.empty: Counter[str] = Counter()
        """Those that found nothing."""
        self.facts = 0.1
        """Share of rounds of an API agent in which it replaces a fact."""
        self.begun = time.monotonic()
        self.minutes: defaultdict[int, Minute] = defaultdict(Minute)
        """Recalls and searches of each minute."""

    def minute(self) -> "Minute":
        """The minute that runs. Hold `guard`."""
        return self.minutes[int((time.monotonic() - self.begun) // 60)]

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
            if what == "recall":
                self.minute().times.append(time.perf_counter() - begun)
        return found

    def post(self, path: str, **body: Any) -> Any:
        """Ask the daemon."""
        return daemon.post(path, body, 30, daemon=self.at)

    def found(self, what: str, hits: list[Any]) -> None:
        """That was answered so."""
        with self.guard:
            self.asked[what] += 1
            self.empty[what] += not hits
            self.minute().asked += 1
            self.minute().empty += not hits

    def keep(self, kept: dict[Path, list[str]], workspace: Path, *words: str) -> None:
        """They were acknowledged."""
        with self.guard:
            kept[workspace] += words


def said(chance: random.Random) -> str:
    """A sentence of twelve words in two languages: hardly ever said twice, and few of the words are new."""
    return " ".join(chance.choices(WORDS, k=12)) + f" {chance.randrange(1000)}"


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
            load.keep(load.kept, workspace, words)
        query = " ".join(chance.sample(WORDS, 3))
        answer = load.timed("recall", load.post, "/v1/recall", workspace=at, query=query, session=mine)
        if answer is not None:
            load.found("recall", answer["hits"])
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
    # Not in a repository, whose memory would be its own: what is looked for stands in the person's.
    process = subprocess.Popen(command, cwd=workspace, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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
        result = load.timed(
            "memory_search", ask, "tools/call", name="memory_search", arguments={"query": query}
        )
        if result is not None:
            load.found("memory_search", result["structuredContent"]["results"])
        if chance.random() < 0.1:
            note = said(chance)
            wrote = load.timed(
                "memory_write", ask, "tools/call", name="memory_write", arguments={"text": note}
            )
            if wrote is not None:
                load.keep(load.notes, workspace, note)
        load.stop.wait(PAUSE)
    process.communicate(timeout=30)


def hook_agent(load: Load, number: int) -> None:
    """Claude Code, as its hooks see it: its last `session-end` acknowledges all that the transcript holds."""
    chance = random.Random(number)
    workspace = load.workspaces[number % len(load.workspaces)]
    transcript = workspace.parent / f"transcript-{number}.jsonl"
    said_so_far: list[str] = []

    def spoke(role: str) -> str:
        words = said(chance)
        line = {
            "type": role, "uuid": str(uuid.UUID(int=chance.getrandbits(128))), "isSidechain": False,
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
            "sessionId": f"hooks-{number}", "cwd": str(workspace),
            "message": {"role": role, "content": words},
        }  # fmt: skip
        with transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        said_so_far.append(words)
        return words

    def hook(event: str, **more: str) -> None:
        data = {"session_id": f"hooks-{number}", "transcript_path": str(transcript), "cwd": str(workspace)}
        command = [sys.executable, "-m", "mnemark", "hook", event, "--agent=claude-code", f"-w={workspace}"]
        done = subprocess.run(
            command, input=json.dumps(data | more).encode(), stdout=subprocess.PIPE, timeout=60, check=True
        )
        json.loads(done.stdout)

    load.timed("hook session-start", hook, "session-start", source="startup")
    while not load.stop.is_set():
        load.timed("hook prompt", hook, "prompt", prompt=spoke("user"))
        spoke("assistant")
        load.timed("hook response", hook, "response")
        load.stop.wait(PAUSE)
    load.timed("hook session-end", hook, "session-end", reason="exit")
    load.keep(load.kept, workspace, *said_so_far)


def usage(pid: int, seconds: float = 0.0) -> Used:
    """What a process takes (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kilobytes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)
                 if name in {"RssAnon", "VmRSS"}}  # fmt: skip
    files = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208
    return Used(seconds, kilobytes["RssAnon"] / 1000, kilobytes["VmRSS"] / 1000, files)


def recorded(workspaces: list[Path]) -> int:
    """How many turns, notes and facts there are."""
    patterns = ("sessions/*.jsonl", "memory/*.md", "memory/facts/*.md")
    files = [path for workspace in workspaces for pattern in patterns for path in workspace.glob(pattern)]
    marks = (b"- ", b"{")
    return sum(line.startswith(marks) for path in files for line in path.read_bytes().splitlines())


def not_once(load: Load) -> tuple[int, int]:
    """How much of what was acknowledged stands in no file, and how much more than once."""
    missing = twice = 0
    for workspace in load.workspaces:
        turns: Counter[str] = Counter()
        for path in workspace.glob("sessions/*.jsonl"):
            lines = path.read_text(encoding="utf-8").splitlines()
            turns.update(str(json.loads(line).get("content")) for line in lines)
        days = [path.read_text(encoding="utf-8") for path in workspace.glob("memory/*.md")]
        written = Counter(line[8:] for text in days for line in text.splitlines())  # after "- 10:15 "
        counts = [turns[words] for words in load.kept[workspace]]
        counts += [written[words] for words in load.notes[workspace]]
        missing += counts.count(0)
        twice += sum(count > 1 for count in counts)
    return missing, twice


def log_lines(load: Load) -> list[str]:
    """What hooks could not do: they never fail, and write it down."""
    logs = [workspace / ".mnemark" / "hook.log" for workspace in load.workspaces]
    return [line for path in logs if path.exists() for line in path.read_text("utf-8").splitlines()]


def daemon_log() -> list[str]:
    """The end of what the daemon said, which is gone with the folder."""
    log = daemon.state_file().with_name(daemon.LOG)
    return log.read_text("utf-8").splitlines()[-40:] if log.exists() else []


def scan(load: Load) -> float:
    """Median seconds of looking for three words in the text of all turns of the first workspace."""
    texts = load.kept[load.workspaces[0]]
    times = []
    for number in range(20):
        words = random.Random(number).sample(WORDS, 3)
        begun = time.perf_counter()
        sorted(texts, key=lambda text: -sum(word in text for word in words))[:8]
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def report(load: Load, minutes: float) -> None:
    """How long things took."""
    print(f"{load.calls:,} calls in {minutes:g} minutes, {len(load.errors)} errors")
    for what, times in sorted(load.times.items()):
        found = sorted(times)
        p95 = found[min(len(found) - 1, int(len(found) * 0.95))] * 1000
        print(f"  {what:18} {len(found):7,}  p50 {statistics.median(found) * 1000:6.1f} ms  p95 {p95:6.1f} "
              f"max {found[-1] * 1000:.0f} ms")  # fmt: skip


def by_minute(load: Load) -> None:
    """Whether it becomes worse with time."""
    print("minute  asked  with nothing   recall p50    p95")
    for number, minute in sorted(load.minutes.items()):
        found = sorted(minute.times) or [0.0]
        p95 = found[min(len(found) - 1, int(len(found) * 0.95))] * 1000
        print(f"  {number + 1:4} {minute.asked:6,} {minute.empty / max(minute.asked, 1):12.2%} "
              f"{statistics.median(found) * 1000:9.1f} ms {p95:6.1f} ms")  # fmt: skip


def verdict(load: Load, seen: list[Used], again: list[Used]) -> bool:
    """Say whether it held; whether it did.

    Args:
        load: what was done.
        seen: what the daemon took.
        again: what another took afterwards; empty where the run was short.
    """
    missing, twice = not_once(load)
    turns = sum(len(words) for words in load.kept.values())
    notes = sum(len(words) for words in load.notes.values())
    print(f"{turns:,} turns and {notes:,} notes acknowledged: {missing} lost, {twice} kept twice; "
          f"a bare scan {scan(load) * 1000:.1f} ms")  # fmt: skip
    for line in load.errors[:10] + (daemon_log() if load.errors else []):
        print("  ", line)
    wrong = [f"{len(load.errors)} errors"] if load.errors else []
    wrong += [f"{missing} lost"] if missing else []
    wrong += [f"{twice} kept twice"] if twice else []
    for what, count in load.asked.items():
        print(f"{what}: {load.empty[what]:,} of {count:,} came back with nothing in time")
    if again:
        late = [one for one in seen if one.seconds > seen[-1].seconds - 60]
        wrong += grown(second_minute(seen), middle(late), second_minute(again))
    else:
        print("memory and files: too short a run to say")
    print("verdict: " + (f"failed: {', '.join(wrong)}" if wrong else "held"))
    return not wrong


def second_minute(seen: list[Used]) -> Used:
    """What a young daemon took."""
    return middle([one for one in seen if 60 <= one.seconds <= 60 * YOUNG + 1])


def middle(part: list[Used]) -> Used:
    """The median of each."""
    return Used(*(statistics.median(values) for values in zip(*part, strict=True)))


def grown(young: Used, old: Used, again: Used) -> list[str]:
    """Say what the daemon took, young and old, and what another young one did; what grew too much."""
    for what, one in ("second minute", young), ("last minute", old), ("second minute of another", again):
        print(f"{what:25} {one.own:6.1f} MB own with {one.passages:7,.0f} turns, notes and facts")
    each = (again.own - young.own) / max(again.passages - young.passages, 1)
    expected = young.own + each * (old.passages - young.passages)
    more = old.own / expected - 1
    print(f"young: {each * 1000:.2f} MB a thousand, so {expected:.1f} MB for what the last minute had: "
          f"{old.own - expected:+.1f} MB ({more:+.1%}, at most {GROWN:+.0%}) for its age; files "
          f"{young.files:.0f} and {old.files:.0f} (at most {FILES} more)")  # fmt: skip
    wrong = ["memory grew"] if more > GROWN else []
    return wrong + (["open files grew"] if old.files > young.files + FILES else [])


def used(load: Load, minutes: float, first: int) -> list[Used]:
    """Start a daemon, let eight agents use it, and end it; what it took. Agents are numbered from `first`."""
    process, load.at = started()
    load.stop.clear()
    kinds = [mcp_agent] * 3 + [api_agent] * 3 + [hook_agent] * 2
    agents = [threading.Thread(target=kind, args=(load, first + n)) for n, kind in enumerate(kinds)]
    for agent in agents:
        agent.start()
    try:
        return watched(process.pid, minutes * 60, load.workspaces)
    except (OSError, KeyError) as error:
        raise SystemExit("\n".join([f"the daemon is gone: {error}", *daemon_log()])) from None
    finally:
        load.stop.set()
        for agent in agents:
            agent.join()
        process.terminate()
        process.wait(30)


def started() -> "tuple[subprocess.Popen[bytes], daemon.Daemon]":
    """A daemon that listens."""
    process = daemon.start()
    assert process is not None
    while (at := daemon.find()) is None:
        if process.poll() is not None:
            raise SystemExit("the daemon did not start")
        time.sleep(0.05)
    return process, at


def begun(folder: Path, turns: int) -> list[Path]:
    """The workspaces, each with so many turns in sessions of 500, indexed."""
    found = []
    for number, name in enumerate(("one", "two", "three")):
        chance = random.Random(2_000 + number)
        path = folder / name
        (path / "sessions").mkdir(parents=True)
        for first in range(0, turns, 500):
            times = (
                f"2026-01-05T10:{turn // 60:02}:{turn % 60:02}Z" for turn in range(min(500, turns - first))
            )
            lines = [{"role": "user", "content": said(chance), "timestamp": time_} for time_ in times]
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            (path / f"sessions/before-{first}.jsonl").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "mnemark", "sync", "-w", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found.append(path)
    return found


def watched(pid: int, seconds: float, workspaces: list[Path]) -> list[Used]:
    """What the daemon took, every 15 seconds for so long."""
    begun = time.monotonic()
    seen = []
    while (left := begun + seconds - time.monotonic()) > 0:
        time.sleep(min(15, left))
        now = usage(pid, time.monotonic() - begun)._replace(passages=recorded(workspaces))
        seen.append(now)
        print(f"  {now.seconds:5.0f} s  {now.own:6.1f} MB own, {now.resident:6.1f} MB resident, "
              f"{now.files} files", flush=True)  # fmt: skip
    return seen


def main() -> int:
    """Run for some minutes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--turns", type=int, default=2_000, help="turns that each folder begins with")
    parser.add_argument("--facts", type=float, default=0.1, help="share of rounds that replace a fact")
    given = parser.parse_args()
    minutes = given.minutes
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = str(Path(folder, "state"))
        workspaces = begun(Path(folder), given.turns)
        load = Load(workspaces)
        load.facts = given.facts
        load.begun = time.monotonic()
        seen = used(load, minutes, 0)
        report(load, minutes)
        by_minute(load)
        again = []
        if minutes >= YOUNG + 1:
            print("another daemon for the same folders:")
            again = used(load, YOUNG, len(workspaces) * 10)  # others' words, the same folder for each kind
        load.errors += log_lines(load)
        held = verdict(load, seen, again)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
