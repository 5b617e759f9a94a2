"""Import into a workspace only what is not there yet; nothing is overwritten."""

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from mnemark.errors import BusyError
from mnemark.files import jsonl, layout, platform
from mnemark.files.config import Config
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.edit import edit
from mnemark.files.journal import Change, Journal
from mnemark.files.locks import LOCK_SECONDS
from mnemark.files.old_layouts import FACTS, Step
from mnemark.files.reading import digest
from mnemark.files.sessions import SessionLog
from mnemark.files.turns import decode_turn, encode_turn
from mnemark.files.workspace import Workspace
from mnemark.text.redaction.redact import redact
from mnemark.types import Problem, Turn

_BATCH: Final = 1_000
"""Turns written with one `fsync`."""
_BATCH_BYTES: Final = 8 << 20
"""Of lines written with one."""


_WORDS: Final = frozenset({"content", "predicate", "subject", "tags", "source"})
"""Keys of a memory of others whose values are told in a fact."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did, or would do."""

    format: str
    dry_run: bool = False
    notes: int = 0
    """Notes that are new."""
    sessions: int = 0
    """Sessions that are new or gained turns."""
    turns: int = 0
    """Turns (and journal lines) that are new."""
    facts: int = 0
    same: int = 0
    """Notes, turns and lines that were there already."""
    redacted: int = 0
    """Turns that secrets were taken out of."""
    paths: tuple[str, ...] = ()
    """Files that were written."""
    problems: tuple[Problem, ...] = ()


class Incoming:
    """One import under way. Hold the workspace's lock."""

    def __init__(self, root: Path, config: Config, format: str, source: Path, *, dry_run: bool) -> None:  # noqa: A002
        self.root = root
        self.problems: list[Problem] = []
        self._dry_run = dry_run
        self._format = format
        self._source = source
        self._workspace = Workspace(root, config)
        self._counts = {"notes": 0, "sessions": 0, "turns": 0, "facts": 0, "same": 0, "redacted": 0}
        self._written: dict[str, str] = {}
        self._erased: dict[str, frozenset[str]] = {}
        """Ids of erased turns by log."""

    def note(self, path: str, data: bytes) -> None:
        """A note for `path`; where other words have that name, it comes beside them."""
        if not data:  # nothing is said in it
            self._counts["same"] += 1
            return
        for name in _free_names(path):
            full = layout.safe_path(self.root, name)
            if full.is_file():
                with suppress(PermissionError):  # then it is another one
                    if platform.content(full) == data:
                        self._counts["same"] += 1
                        return
                continue
            if full.exists():
                continue
            self._put(name, data)
            self._counts["notes"] += 1
            self._written[name] = digest(data)
            return

    def _put(self, name: str, data: bytes) -> None:
        if self._dry_run:
            return
        result = edit(self.root, name, lambda old: old or data, quiet=0.0, timeout=LOCK_SECONDS)
        if result.status == "deferred":
            raise BusyError(f"another program is saving {name}; import again to continue")

    def turns(self, scope: str, session: str, turns: Iterable[Turn], path: str = "") -> None:
        """Turns of a session; those whose ids are there are left out, secrets are taken out of the others.

        They go into the log at `path` where there is one, else into the session's own.
        """
        folder = layout.safe_path(self.root, scope) if scope else self.root
        log = SessionLog(folder, session)
        if path and layout.safe_path(self.root, path).is_file():
            log = SessionLog.at(self.root, path)
            scope = ""
        known = {placed.turn.id for placed in log.turns()} | log.erased()
        added = 0
        fresh: list[Turn] = []
        for turn in turns:
            if turn.id in known:
                self._counts["same"] += 1
                continue
            known.add(turn.id)
            fresh.append(self._redacted(turn))
            added += 1
            if len(fresh) == _BATCH:
                self._append(log, fresh)
                fresh = []
        self._append(log, fresh)
        if added:
            self._counts["sessions"] += 1
            self._counts["turns"] += added
            self._written[f"{scope}/{log.name}" if scope else log.name] = ""

    def _append(self, log: SessionLog, turns: Sequence[Turn]) -> None:
        if turns and not self._dry_run:
            log.append_many(turns)

    def bullets(self, scope: str, bullets: Mapping[str, str]) -> None:
        """Facts by id, for the scope's `memory/facts/imported.md`; those that are there are left out."""
        path = f"{scope}/{FACTS}" if scope else FACTS
        full = layout.safe_path(self.root, path)
        with translate_os_errors(full):
            there = platform.content(full) if full.is_file() else b""
        fresh = [line for key, line in bullets.items() if f"id: {key}".encode() not in there]
        self._counts["same"] += len(bullets) - len(fresh)
        self._counts["facts"] += len(fresh)
        if fresh:
            self._written[path] = ""
        if fresh and not self._dry_run:
            lines = [line.encode("utf-8", "replace") for line in fresh]
            jsonl.append_many(full, lines, header=b"# Imported\n")

    def clean(self, text: str) -> str:
        """The text without secrets and private passages."""
        return redact(text, self._workspace.rules).text

    def memories(self, data: bytes) -> bytes:
        """A `memories.json` without secrets. Raises ValueError where it is no JSON."""
        try:
            return json.dumps(self._without(json.loads(data.decode("utf-8-sig")))).encode()
        except RecursionError as error:
            raise ValueError("nested too deeply") from error

    def _without(self, value: Any) -> Any:
        """A JSON value without secrets in what becomes words of a fact."""
        if isinstance(value, list):
            return [self._without(one) for one in value]
        if isinstance(value, dict):
            return {key: self._worded(one) if key in _WORDS else self._without(one)
                    for key, one in value.items()}  # fmt: skip
        return value

    def _worded(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._worded(one) for one in value]
        return self.clean(value) if isinstance(value, str) else value

    def _redacted(self, turn: Turn) -> Turn:
        clean = self._workspace.redact(turn)
        self._counts["redacted"] += clean.content != turn.content
        return clean

    def lines(self, path: str, data: Iterable[bytes]) -> None:
        """Lines of a session or journal; those that are there, or were erased here, are left out.

        Secrets are taken out of turns. A note to erase something is not taken over from a journal: what is
        erased here is for the owner to say.
        """
        full = layout.safe_path(self.root, path)
        known: set[bytes] = set()
        if full.is_file():
            with translate_os_errors(full), platform.opened(full) as file:
                known.update(map(_mark, _whole_lines(file)))
        fresh: list[bytes] = []
        size = count = 0
        for line in _whole_lines(data):
            kept = line if _mark(line) in known else self.line(path, line)
            if kept is None:
                continue
            if (mark := _mark(kept)) in known:
                self._counts["same"] += 1
                continue
            known.add(mark)
            fresh.append(kept)
            size += len(kept)
            count += b'"role"' in kept or "journal/" in path
            if size > _BATCH_BYTES:
                self._append_lines(path, full, fresh)
                fresh, size = [], 0
        self._append_lines(path, full, fresh)
        self._counts["turns"] += count
        self._counts["sessions"] += path in self._written and "journal/" not in path

    def _append_lines(self, path: str, full: Path, lines: Sequence[bytes]) -> None:
        if lines:
            self._written[path] = ""
            if not self._dry_run:
                jsonl.append_many(full, lines)

    def line(self, path: str, line: bytes) -> bytes | None:
        """The line of a log as it is to be written; None where it stays out, such as what was erased here."""
        record = jsonl.decode(line)
        if record is None:
            return line  # torn: as it is
        if layout.log_folder(path.rpartition("/")[0]) == "journal":
            payload = record.get("payload")
            erases = record.get("kind") == "forget" and isinstance(payload, dict) and payload.get("erase")
            if erases:
                self.problems.append(Problem(path, "asks to erase something: skipped, nothing was erased"))
            return None if erases else line
        turn = decode_turn(record, jsonl.Line(0, 0, line, 0))
        if turn is None:
            return line
        if path not in self._erased:
            layout.safe_path(self.root, path)
            self._erased[path] = SessionLog.at(self.root, path).erased()
        if turn.id in self._erased[path]:
            return None
        clean = self._redacted(turn)
        same = clean == turn or (clean.content == turn.content and encode_turn(clean) == encode_turn(turn))
        return line if same else encode_turn(clean)

    def migrated(self, steps: Sequence[Step]) -> None:
        """What a migration did."""
        names = {"copy": "notes", "session": "turns", "facts": "facts", "same": "same"}
        for step in steps:
            if step.action == "left":
                self.problems.append(Problem(step.source, step.reason))
                continue
            self._counts[names[step.action]] += step.count
            self._counts["sessions"] += step.action == "session"
            if step.action != "same":
                self._written[step.target] = ""

    def finish(self) -> Summary:
        """Write down in the journal what was brought in, and say it."""
        if self._written and not self._dry_run:
            payload = {
                "format": self._format,
                "source": self._source.name,
                "files": dict(sorted(self._written.items())),
            }
            Journal(self.root).append(Change(kind="import", origin="import", payload=payload))
        return Summary(
            format=self._format,
            dry_run=self._dry_run,
            paths=tuple(sorted(self._written)),
            problems=tuple(self.problems),
            **self._counts,
        )


def _whole_lines(data: Iterable[bytes]) -> Iterator[bytes]:
    return (line for raw in data if (line := raw.strip(b" \t\r\n")))


def _mark(line: bytes) -> bytes:
    """What a line is known by, without keeping it."""
    return hashlib.blake2b(line, digest_size=16).digest()


def _free_names(path: str) -> Iterator[str]:
    stem, _, suffix = path.rpartition(".")
    yield path
    yield f"{stem}.imported.{suffix}"
    for number in itertools.count(2):
        yield f"{stem}.imported-{number}.{suffix}"
