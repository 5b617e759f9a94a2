"""Use a program as a model: the prompt on its stdin alone, the answer from its stdout.

It runs in an empty folder that is removed behind it, with an environment of a few named variables, and with
`MNEMARK_HOOKS=off`, which the hooks of mnemark honour: nothing that it says is remembered. It is killed with
all it started when it ends, at the time limit, and when the model is closed.

Its group is not enough for that: what calls `setsid` leaves it, and whose parent ends is no longer below it.
On Linux all processes are therefore looked through for a variable that what it starts inherits, and for
children of those found, until none is left; only one that cleared its environment and lost its parent before
the end is not found. Elsewhere its group is ended, on Windows the tree below it, and a process that left that
goes on.
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

import msgspec

from mnemark.errors import ConfigError
from mnemark.llm.base import Kind, LLMUnavailable, Message
from mnemark.llm.budget import Breaker, Meter
from mnemark.llm.dialogue import Dialogue, Reply, tokens_of
from mnemark.llm.programs import PROGRAMS, Program, command_of
from mnemark.net import printable
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.tokens import estimate_tokens

HOOKS: Final = "MNEMARK_HOOKS"
"""Variable that is "off" in what a program starts: hooks of mnemark then do nothing."""
PASSED: Final = (
    "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TMP", "TEMP",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy",
    "https_proxy", "no_proxy", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
    "PROGRAMFILES", "PROGRAMFILES(X86)", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH",
)  # fmt: skip
"""Names of variables that every program gets, beside PATH; `*` ends a prefix."""
EXPECTED: Final = 2_048
"""Answer tokens reserved in the budget per call, as a program has no `max_tokens`."""
MAX_BYTES: Final = 1024 * 1024
"""Maximum size of an answer in bytes; a program that prints more is killed."""
_MAX_SAID: Final = 64 * 1024
"""Bytes of the messages on stderr that are kept."""
_SHOWN: Final = 300
"""Last characters of what a program said that a message shows."""
_POLL: Final = 0.02
_LIMITED: Final = lazy_pattern(
    r"(?i)rate.?limit|usage.?limit|quota|overloaded|too many requests|\b(?:429|529)\b"
)
RUN: Final = "MNEMARK_RUN"
"""Variable with the name of a run, in the environment of all that it starts."""
_END_SECONDS: Final = 5.0
_PROC: Final = Path("/proc")


class ProcessTree:
    """A started program, and what it starts.

    Args:
        process: the program, the leader of its own group, with `RUN` in its environment.
        name: the value of that variable, which no other run has.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", name: str) -> None:
        self.process = process
        self._mark = f"{RUN}={name}".encode()

    def end(self) -> None:
        """Kill all of it, and reap the program; nothing where that was done before."""
        if self.process.returncode is not None:
            return
        if sys.platform == "win32":
            subprocess.run(
                ["taskkill", "/T", "/F", "/PID", str(self.process.pid)], capture_output=True, check=False
            )
        else:
            left = self._members()  # before the program ends, with which its children lose their parent
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            until = time.monotonic() + _END_SECONDS
            while left and time.monotonic() < until:
                for one in left:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(one, signal.SIGKILL)
                time.sleep(_POLL)
                left = self._members()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_END_SECONDS)

    def _members(self) -> set[int]:
        """Return the processes that run and belong to it, without the program itself; see the module."""
        parents: dict[int, int] = {}
        found = {self.process.pid}
        for folder in _PROC.iterdir() if _PROC.is_dir() else ():
            if not folder.name.isdecimal():
                continue
            with suppress(OSError, ValueError, IndexError):  # it ended, or is another user's
                state, parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:2]
                if state in {b"Z", b"X"}:
                    continue
                parents[int(folder.name)] = int(parent)
                if self._mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.add(int(folder.name))
        size = 0
        while size != len(found):
            size = len(found)
            found |= {one for one, parent in parents.items() if parent in found}
        return found - {self.process.pid, os.getpid()}


class _ProgramRun(NamedTuple):
    """What a run of a program left."""

    code: int | None
    """Exit code; None where it was killed at the time limit."""
    out: bytes
    said: bytes
    """What it printed to stderr."""


class ProgramLLM(Dialogue):
    """A model that is a program, started once for each request.

    Args:
        command: the name of a ready setting (`programs.PROGRAMS`), or the program and its arguments: the
            program is an absolute path, or a name found in an absolute folder of PATH.
        meter: the budget and its ledger; tokens are estimates.
        model: for a ready setting, the model to ask for; else a name for messages and the ledger.
        passes: names of further variables that the program gets.
        breaker: circuit breaker; None for its own.

    Raises:
        ConfigError: there is no such ready setting, or it needs a model.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        meter: Meter,
        model: str = "",
        passes: Sequence[str] = (),
        breaker: Breaker | None = None,
    ) -> None:
        self._program, self._command = _resolved(command, model)
        name = command if isinstance(command, str) else Path(self._command[0]).stem
        super().__init__(f"{name}:{model}" if model else name, breaker or Breaker())
        self._meter = meter
        self._passes = (*PASSED, *self._program.passes, *passes)
        self._running: set[ProcessTree] = set()
        self.close = weakref.finalize(self, _end_all, self._running)
        """Kill what runs; called at the exit of the interpreter, too."""

    def __repr__(self) -> str:
        return f"ProgramLLM({self.model!r})"

    def _ask(
        self,
        messages: Sequence[Message],
        schema: type[msgspec.Struct] | None,  # noqa: ARG002 - the messages contain it
        deadline: float,
    ) -> Reply:
        self._time_left(deadline)
        path = _found(self._command[0])
        expected = tokens_of(messages) + self._program.overhead
        with self._meter.request(self.model, expected, EXPECTED) as ticket:
            text = self._answer(path, _prompt(messages), deadline)
            tokens_out = estimate_tokens(text)
            ticket.answered(expected, tokens_out)
        return Reply(text=text, tokens_in=expected, tokens_out=tokens_out, model=self.model, estimated=True)

    def _answer(self, path: str, prompt: str, deadline: float) -> str:
        started = time.monotonic()
        try:
            done = self._run(path, prompt.encode("utf-8", "replace"), deadline)
        except OSError as error:
            raise LLMUnavailable("program", f"{path} cannot be started: {error.strerror}") from None
        said = printable((done.said.strip() or done.out.strip()).decode("utf-8", "replace"))[-_SHOWN:]
        if done.code is None:
            took = time.monotonic() - started
            raise LLMUnavailable(
                "unreachable", f"{self.model} gave no answer within {took:.1f} s and was ended; allow more "
                "(timeout), or try it by hand" + (f"; it said: {said}" if said else ""),
            )  # fmt: skip
        if len(done.out) > MAX_BYTES:
            raise LLMUnavailable("invalid", f"{self.model} printed more than {MAX_BYTES:,} bytes")
        if done.code:
            kind: Kind = "unreachable" if _LIMITED.search(said) else "refused"
            raise LLMUnavailable(
                kind, f"{self.model} ended with {done.code}: {said or 'no message'}; "
                f"try `{Path(path).name}` by hand, and log in there",
            )  # fmt: skip
        return done.out.decode("utf-8", "replace")

    def _run(self, path: str, prompt: bytes, deadline: float) -> _ProgramRun:
        with _empty_folder(self._program) as folder:
            process = subprocess.Popen(
                [path, *self._command[1:]], cwd=folder, env=self._environment(folder),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True,
                creationflags=0x0800_0200 if sys.platform == "win32" else 0,  # no console, its own group
            )  # fmt: skip
            tree = ProcessTree(process, folder.name)
            self._running.add(tree)
            try:
                return _talk(tree, prompt, deadline)
            finally:
                tree.end()
                self._running.discard(tree)

    def _environment(self, folder: Path) -> dict[str, str]:
        upper = sys.platform == "win32"  # names of variables have no case there
        found = {
            name: value for name, value in os.environ.items()
            if any(_fits(name.upper() if upper else name, one) for one in self._passes)
        }  # fmt: skip
        sets = {key: str(folder / value) if value in self._program.files else value
                for key, value in self._program.sets.items()}  # fmt: skip
        return found | sets | {"PATH": os.pathsep.join(_path_folders()), HOOKS: "off", RUN: folder.name}


def _fits(name: str, wanted: str) -> bool:
    return name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted


def _resolved(command: str | Sequence[str], model: str) -> tuple[Program, tuple[str, ...]]:
    if not isinstance(command, str):
        if not command or not all(isinstance(part, str) for part in command) or not command[0]:
            raise ConfigError('[llm] command must name a program: ["program", "argument", …]')
        return Program(tuple(command)), tuple(command)
    program = PROGRAMS.get(command)
    if program is None:
        raise ConfigError(
            f"[llm] command: there is no ready setting {command!r}; give one of {', '.join(PROGRAMS)}, or a "
            'list: ["program", "argument", …]'
        )
    try:
        return program, command_of(program, model)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _path_folders() -> list[str]:
    """Return the absolute folders of PATH: a relative one would be searched in a folder of others."""
    given = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [part for part in given if Path(part).is_absolute()]


def _found(program: str) -> str:
    """Return the absolute path of a program; the current folder is never searched, also on Windows."""
    name = Path(program).expanduser()
    bare = name.name == program
    places = [Path(folder, name) for folder in _path_folders()] if bare else [name]
    found = (shutil.which(place) for place in places if place.is_absolute())
    path = next(filter(None, found), None)
    if path is None:
        where = "in PATH" if bare else "there (give an absolute path)"
        raise LLMUnavailable("program", f"the program {program} was not found {where}; install it, or change "
                             "command under [llm]")  # fmt: skip
    return path


def _prompt(messages: Sequence[Message]) -> str:
    """Return messages as one text; those behind the first question, of a repair, are named."""
    first = [one.content for one in messages[:2]]
    later = [
        f"{'Your answer' if one.role == 'assistant' else 'Next'}:\n{one.content}" for one in messages[2:]
    ]
    return "\n\n".join([*first, *later]) + "\n"


@contextmanager
def _empty_folder(program: Program) -> Iterator[Path]:
    """Make a folder with the program's files; remove it behind, with what the program left for it."""
    folder = Path(tempfile.gettempdir(), f"mnemark-{secrets.token_hex(6)}").resolve()
    folder.mkdir(mode=0o700)
    try:
        for name, text in program.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        yield folder
    finally:
        home = Path(os.environ.get(program.home) or Path.home())
        for place in (folder, *(home / one.format(name=folder.name) for one in program.leaves)):
            shutil.rmtree(place, ignore_errors=True)


def _talk(tree: ProcessTree, prompt: bytes, deadline: float) -> _ProgramRun:
    """Write the prompt, read both outputs, and wait for the end or the deadline."""
    process = tree.process
    out, said = bytearray(), bytearray()
    threads = [
        threading.Thread(target=_write, args=(process.stdin, prompt), daemon=True),
        threading.Thread(target=_read, args=(process.stdout, out, MAX_BYTES), daemon=True),
        threading.Thread(target=_read, args=(process.stderr, said, _MAX_SAID), daemon=True),
    ]
    for thread in threads:
        thread.start()
    code = None
    while code is None and time.monotonic() < deadline and len(out) <= MAX_BYTES:
        code = _ended(process)
        if code is None:
            time.sleep(_POLL)
    tree.end()  # what it started may hold its outputs open
    for thread, stream in zip(threads[1:], (process.stdout, process.stderr), strict=True):
        thread.join(1.0)
        if stream is not None and not thread.is_alive():
            stream.close()
    return _ProgramRun(0 if len(out) > MAX_BYTES else code, bytes(out), bytes(said[:_MAX_SAID]))


def _ended(process: "subprocess.Popen[bytes]") -> int | None:
    """Return the exit code without reaping, so that the id of the group stays its own until it is killed."""
    if sys.platform == "win32" or process.returncode is not None:
        return process.poll()
    with suppress(ChildProcessError):
        state = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if state is None:
            return None
        return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status
    return process.poll()


def _write(stream: IO[bytes] | None, data: bytes) -> None:
    with suppress(OSError, ValueError):  # it need not read all
        if stream is not None:
            with stream:
                stream.write(data)


def _read(stream: IO[bytes] | None, into: bytearray, most: int) -> None:
    """Read to the end, as a full pipe would stop the program; keep a little over `most` bytes."""
    with suppress(OSError, ValueError):
        while stream is not None and (part := os.read(stream.fileno(), 65_536)):
            if len(into) <= most:
                into += part


def _end_all(running: set[ProcessTree]) -> None:
    for tree in list(running):
        tree.end()
