"""Add notes, turns and facts to a workspace, without duplicates and without overwriting anything."""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from datetime import datetime
from importlib import import_module
from pathlib import Path
from sys import intern
from typing import Any, Final

import msgspec

from mnemark.errors import BusyError
from mnemark.facts.model import NewFact
from mnemark.facts.remember import remember_many
from mnemark.files import jsonl, layout, platform
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.edit import edit
from mnemark.files.journal import Change
from mnemark.files.layout import in_scope
from mnemark.files.old_layouts import FACTS, OldFile
from mnemark.files.reading import digest
from mnemark.files.scopes import one_scope
from mnemark.files.secrets import redacted_turn
from mnemark.files.sessions import SessionLog
from mnemark.files.truth import LOCK_SECONDS, rewrite
from mnemark.files.turns import UNDATED, decode_turn, encode_turn
from mnemark.hashes import blake2b
from mnemark.index.state import LEARNED
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.redaction.redact import redact
from mnemark.types import Problem, Turn

_BATCH_TURNS: Final = 1_000
_CLEANED: Final = 1_000
"""Kinds of turns whose speaker is kept as it is written."""
_PEOPLE: Final = 20
"""Speakers that a summary names."""
_NOTED_TOGETHER: Final = 500
"""Files written that one line of the journal names: a killed import is recorded up to there."""
_BATCH_BYTES: Final = 8 << 20
"""Maximum bytes of log lines written in one batch."""
_TEXT_KEYS: Final = frozenset({"content", "predicate", "subject", "tags", "source"})
"""Keys in another program's memory whose values become text of a fact, and so are redacted."""


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """What an import left out on purpose."""

    what: str
    """Such as "picture", in the singular."""
    reason: str
    count: int

    def __str__(self) -> str:
        return f"{self.counted}: {self.reason}"

    @property
    def counted(self) -> str:
        """How much of it, as "2 parts of a message"."""
        thing, of, whole = self.what.partition(" of ")
        many = "" if self.count == 1 else "es" if thing.endswith("s") else "s"
        return f"{self.count:,} {thing}{many}{of}{whole}"


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an import."""

    format: str
    dry_run: bool = False
    notes: int = 0
    sessions: int = 0
    """Sessions that are new or gained turns."""
    turns: int = 0
    """New turns and journal lines."""
    facts: int = 0
    proposals: int = 0
    """Facts that another program had noted, which wait for review."""
    same: int = 0
    """Notes, turns, lines and proposals that the workspace had already."""
    redacted: int = 0
    """Turns from which secrets were removed."""
    corrected: int = 0
    """Turns that were there as somebody else's words: the import says who the owner is."""
    speakers: tuple[str, ...] = ()
    """Who speaks in it, where several people do and none of them is known to be the owner."""
    began: str = ""
    """Day of the first new turn, as 2026-02-13."""
    ended: str = ""
    people: Mapping[str, int] = {}
    """Who spoke, where the source names them, with the number of their new turns; most first."""
    paths: tuple[str, ...] = ()
    left: tuple[LeftOut, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing came, and nothing of it was there before."""
        return not (self.notes + self.turns + self.facts + self.proposals + self.same + self.corrected)


class Incoming:
    """An import in progress. Each note and session is written under the workspace's lock, not the whole."""

    def __init__(
        self,
        ws: OpenWorkspace,
        format: str,  # noqa: A002 - the word of the command
        source: Path,
        *,
        dry_run: bool,
        me: Sequence[str] = (),
        progress: Callable[[Mapping[str, int]], None] | None = None,
    ) -> None:
        """Begin an import.

        Args:
            ws: the workspace.
            format: the name of the format, for the journal.
            source: what is imported.
            dry_run: only count.
            me: what the owner is called in it, beside the configured `owner`.
            progress: is called with the counts so far, after each note and each batch of turns.
        """
        self._ws = ws
        self.root = ws.root
        self._progress = progress
        self.problems: list[Problem] = []
        self._dry_run = dry_run
        self._format = format
        self._source = source
        self._me = frozenset(_folded(name) for name in (*me, ws.config.owner) if name.strip())
        self._speakers: dict[str, bool] = {}
        """Who spoke, and whether that is the owner."""
        self._speakers_cleaned: dict[tuple[str, bytes], tuple[str, Mapping[str, Any]]] = {}
        """Role and `meta` of turns without secrets, by these as they came."""
        self._knew_owner = False
        """Whether an earlier import was told who of them the owner is."""
        counted = ("notes", "sessions", "turns", "facts", "proposals", "same", "redacted", "corrected")
        self._counts = dict.fromkeys(counted, 0)
        self._left: Counter[tuple[str, str]] = Counter()
        self._proposed: dict[tuple[str, str], NewFact] = {}
        self._written: dict[str, str] = {}
        """Digests of the notes, and empty for other files, that are not in the journal yet."""
        self._paths: set[str] = set()
        self._days = ("", "")
        self._people: Counter[str] = Counter()
        self._noted = dict(self._counts)
        """The counts that the journal has."""
        self._erased: dict[str, tuple[Container[str], ...]] = {}
        """The turns that are erased from a log, and from all, by its path: looked up once a log."""

    def note(self, path: str, data: bytes) -> None:
        """Import a note to `path`, or to a free name beside it if that name holds another note."""
        for name in _free_names(path) if data else ():
            full = layout.safe_path(self.root, name)
            if not full.exists():
                self._write_note(name, data)
                return
            with suppress(PermissionError):  # unreadable: treat it as another note
                if full.is_file() and platform.content(full) == data:
                    break
        self._counts["same"] += 1

    def left(self, what: str, reason: str, count: int = 1) -> None:
        """Count what is left out on purpose; `what` is in the singular, the reason for a person."""
        self._left[what, reason] += count

    def is_owner(self, name: str, *, known: bool | None = None) -> bool:
        """Whether somebody who speaks is the owner; `known` is what the export says of that, if anything."""
        found = bool(known) or _folded(name) in self._me
        self._speakers[name] = self._speakers.get(name, False) or found
        return found

    def propose(self, text: str, since: datetime | None = None, *, type: str = "fact") -> None:  # noqa: A002
        """Propose a fact that another program noted: at the end, for review."""
        clean = " ".join(self.clean(text).split())
        if clean:
            fact = NewFact(predicate="", value=clean, type=type, origin="tool", since=since)
            self._proposed.setdefault((type, clean), fact)

    def _propose_all(self) -> None:
        if not self._proposed:
            return
        store = self._ws.fact_store
        with store.lock:
            store.log.refresh()
            known = {one.id for one in (*store.log.proposals(), *store.log.records())}
        made = remember_many(store, self._proposed.values(), dry_run=self._dry_run)
        new = sum(not one.id or one.id not in known for one in made)
        self._counts["proposals"] += new
        self._counts["same"] += len(made) - new

    def _wrote(self, path: str, mark: str = "") -> None:
        self._written[path] = mark
        self._paths.add(path)
        if len(self._written) >= _NOTED_TOGETHER:
            self.close()

    def close(self) -> None:
        """Record in the journal what was written so far."""
        if self._written and not self._dry_run:
            files = dict(sorted(self._written.items()))
            came = {name: self._counts[name] - self._noted[name] for name in ("notes", "sessions", "turns")}
            began, ended = self._days
            payload = {"format": self._format, "source": self._source.name, "files": files, "came": came,
                       "began": began, "ended": ended, "people": self._most_heard()}  # fmt: skip
            self._ws.journal.append(Change(kind="import", origin="import", payload=payload))
            self._noted = dict(self._counts)
        self._written = {}

    def _most_heard(self) -> dict[str, int]:
        return dict(self._people.most_common(_PEOPLE))

    def _heard(self, turn: Turn) -> None:
        """Note when a new turn was said, and by whom."""
        if turn.time.year > UNDATED.year:
            day = turn.time.date().isoformat()
            began, ended = self._days
            self._days = min(began or day, day), max(ended, day)
        speaker = turn.meta.get("speaker")
        if isinstance(speaker, str) and speaker:
            self._people[speaker] += 1

    def _write_note(self, name: str, data: bytes) -> None:
        self._counts["notes"] += 1
        self._tell()
        self._wrote(name, digest(data))
        if self._dry_run:
            return
        result = edit(self._ws.truth, name, lambda old: old or data, quiet=0.0, timeout=LOCK_SECONDS)
        if result.status == "deferred":
            raise BusyError(f"another program is saving {name}; import again to continue")

    def turns(self, scope: str, session: str, turns: Iterable[Turn], path: str = "") -> None:
        """Import the turns whose ids the session does not have yet, redacted.

        They are appended to the log at `path` if it exists, else to the session's own.
        """
        scope = one_scope(scope)
        if scope:
            layout.safe_path(self.root, scope)
        log = SessionLog(self.root / scope, session)
        if path and layout.safe_path(self.root, path).is_file():
            log, scope = SessionLog.at(self.root, path), ""
        with nullcontext() if self._dry_run else self._ws.truth.change():
            self._add_turns(log, scope, turns)

    def _add_turns(self, log: SessionLog, scope: str, turns: Iterable[Turn]) -> None:
        known = dict.fromkeys(log.erased(), "") | {one.turn.id: intern(one.turn.role) for one in log.turns()}
        others: dict[str, Turn] = {}
        new = self._new(turns, known, others)
        before = self._counts["turns"]
        while batch := list(itertools.islice(new, _BATCH_TURNS)):
            self._counts["turns"] += len(batch)
            self._tell()
            if not self._dry_run:
                log.append(self._ws.truth, batch)
        if others and not self._dry_run:
            path = in_scope(scope, log.name)
            rewrite(self._ws.truth, path, lambda line: _corrected(line.data, others))
            self._ws.state.note({LEARNED + path: ""})  # what the owner said is learned from now
        if self._counts["turns"] > before:
            self._counts["sessions"] += 1
        if others or self._counts["turns"] > before:
            self._wrote(in_scope(scope, log.name))

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(dict(self._counts))

    def _new(self, turns: Iterable[Turn], known: dict[str, str], others: dict[str, Turn]) -> Iterator[Turn]:
        """Yield turns that are not known; collect those in `others` that turn out to be the owner's.

        Only these are changed: who the owner is may be said at a second import.
        """
        erased = self._ws.visible.hidden.erased_turns()
        for turn in turns:
            if turn.id not in known and turn.id in erased:
                known[turn.id] = ""
            if turn.id not in known:
                known[turn.id] = intern(turn.role)
                self._heard(turn)
                yield self._redacted(turn)
            elif known[turn.id] not in {turn.role, ""} and turn.origin == "owner" and self._me:
                self._counts["corrected"] += 1
                others[turn.id] = turn
            else:
                self._knew_owner |= known[turn.id] == "user"
                self._counts["same"] += 1

    def bullets(self, scope: str, bullets: Mapping[str, str]) -> None:
        """Append facts, given by id, to the scope's `memory/facts/imported.md`; skip known ids."""
        path = in_scope(one_scope(scope), FACTS)
        full = layout.safe_path(self.root, path)
        with translate_os_errors(full):
            there = platform.content(full) if full.is_file() else b""
        fresh = [line for key, line in bullets.items() if f"id: {key}".encode() not in there]
        self._counts["same"] += len(bullets) - len(fresh)
        self._counts["facts"] += len(fresh)
        if fresh:
            self._wrote(path)
        if fresh and not self._dry_run:
            lines = [line.encode("utf-8", "replace") for line in fresh]
            self._ws.truth.append(path, lines, header=b"# Imported\n")

    def clean(self, text: str) -> str:
        """Return the text without secrets and private passages."""
        return redact(text, self._ws.rules).text

    def memories(self, data: bytes) -> bytes:
        """Return a `memories.json` without secrets. Raises ValueError if it is not JSON."""
        try:
            return json.dumps(self._clean_record(json.loads(data.decode("utf-8-sig")))).encode()
        except RecursionError as error:
            raise ValueError("nested too deeply") from error

    def _clean_record(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._clean_record(one) for one in value]
        if isinstance(value, dict):
            return {key: self._clean_text(one) if key in _TEXT_KEYS else self._clean_record(one)
                    for key, one in value.items()}  # fmt: skip
        return value

    def _clean_text(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._clean_text(one) for one in value]
        return self.clean(value) if isinstance(value, str) else value

    def _redacted(self, turn: Turn) -> Turn:
        clean = self._ws.redact(msgspec.structs.replace(turn, role="user", meta={}))
        self._counts["redacted"] += clean.content != turn.content
        role, meta = self._clean_speaker(turn.role, turn.meta)
        return msgspec.structs.replace(clean, role=role, meta=meta)

    def _clean_speaker(self, role: str, meta: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Return who spoke, and what is said of a turn, without secrets: in a chat both repeat."""
        key = (role, jsonl.encode(meta))
        if key not in self._speakers_cleaned:
            if len(self._speakers_cleaned) >= _CLEANED:
                self._speakers_cleaned.clear()
            said = redacted_turn(Turn(id="", time=UNDATED, role=role, content="", meta=meta), self._ws.rules)
            self._speakers_cleaned[key] = (said.role, said.meta)
        return self._speakers_cleaned[key]

    def lines(self, path: str, data: Iterable[bytes]) -> None:
        """Import lines of a session or journal, except known and erased ones; turns are redacted.

        Entries of a journal that erase something are skipped: only the owner of this workspace may erase.
        """
        full = layout.safe_path(self.root, path)
        known: set[bytes] = set()
        if full.is_file():
            with translate_os_errors(full), platform.opened(full) as file:
                known.update(map(_line_hash, _whole_lines(file)))
        fresh: list[bytes] = []
        size = count = 0
        for line in _whole_lines(data):
            kept = line if _line_hash(line) in known else self.line(path, line)
            if kept is None:
                continue
            if (mark := _line_hash(kept)) in known:
                self._counts["same"] += 1
                continue
            known.add(mark)
            fresh.append(kept)
            size += len(kept)
            count += b'"role"' in kept or "journal/" in path
            if size > _BATCH_BYTES:
                self._append_lines(path, fresh)
                fresh, size = [], 0
        self._append_lines(path, fresh)
        self._counts["turns"] += count
        self._tell()
        self._counts["sessions"] += path in self._paths and "journal/" not in path

    def _append_lines(self, path: str, lines: Sequence[bytes]) -> None:
        if lines:
            self._wrote(path)
            if not self._dry_run:
                self._ws.truth.append(path, lines)

    def line(self, path: str, line: bytes) -> bytes | None:
        """Return a line of a log as it is to be written; None if it is to be skipped."""
        record = jsonl.decode(line)
        if record is None:
            return line  # a torn line is kept as it is
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
            log = SessionLog.at(self.root, path)
            self._erased[path] = (log.erased(), self._ws.visible.hidden.erased_turns())
        if any(turn.id in erased for erased in self._erased[path]):
            return None
        clean = self._redacted(turn)
        same = clean == turn or (clean.content == turn.content and encode_turn(clean) == encode_turn(turn))
        return line if same else encode_turn(clean)

    def migrate(self, path: Path) -> None:
        """Bring in the folder of another agent; see `importers.old_layouts`."""
        old = import_module("mnemark_adapters.importers.old_layouts")
        with nullcontext() if self._dry_run else self._ws.truth.change():
            steps = old.migrate(path, self._ws.truth, dry_run=self._dry_run, cleaning=self)
        self._migrated(steps)

    def _migrated(self, steps: Sequence[OldFile]) -> None:
        names = {"copy": "notes", "session": "turns", "facts": "facts", "same": "same"}
        for step in steps:
            if step.action == "left":
                self.problems.append(Problem(step.source, step.reason))
                continue
            self._counts[names[step.action]] += step.count
            self._counts["sessions"] += step.action == "session"
            if step.action != "same":
                self._wrote(step.target)

    def finish(self) -> Summary:
        """Propose what was noted, record the import in the journal, and return its summary."""
        self._propose_all()
        self.close()
        left = [LeftOut(what=what, reason=why, count=count) for (what, why), count in self._left.items()]
        began, ended = self._days
        is_known = self._knew_owner or any(self._speakers.values())
        unknown = () if is_known else tuple(sorted(self._speakers))
        return Summary(
            format=self._format, dry_run=self._dry_run, paths=tuple(sorted(self._paths)), left=tuple(left),
            problems=tuple(self.problems), began=began, ended=ended, people=self._most_heard(),
            speakers=unknown, **self._counts,
        )  # fmt: skip


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _corrected(line: bytes, others: Mapping[str, Turn]) -> bytes | None:
    """Return the line of a turn with who said it put right; None for other lines."""
    record = jsonl.decode(line)
    turn = others.get(str(record.get("id"))) if record else None
    return None if record is None or turn is None else jsonl.encode(
        record | {"role": turn.role, "origin": turn.origin}
    )  # fmt: skip


def _whole_lines(data: Iterable[bytes]) -> Iterator[bytes]:
    return (line for raw in data if (line := raw.strip(b" \t\r\n")))


def _line_hash(line: bytes) -> bytes:
    return blake2b(line, digest_size=16).digest()


def _free_names(path: str) -> Iterator[str]:
    stem, _, suffix = path.rpartition(".")
    yield path
    yield f"{stem}.imported.{suffix}"
    for number in itertools.count(2):
        yield f"{stem}.imported-{number}.{suffix}"
