"""Bring the memory in a folder of another agent into a workspace; the folder is never changed.

That is for `memories.json` and `conversation_history/`, and for bringing an old folder into another
workspace. Every step can be repeated, and nothing of a person's is overwritten.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from mnemark.errors import NotFoundError, UsageError
from mnemark.files import jsonl, layout, names, platform
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.ids import derived_id
from mnemark.files.new_workspace import MEMORY_TEXT
from mnemark.files.old_layouts import (
    FACTS,
    MARKER,
    MEMORY_FOLDERS,
    Kind,
    OldFile,
    OldLayout,
    detect,
    histories,
    memories,
    noted,
    notes_of,
)
from mnemark.files.reading import digest
from mnemark.files.scan import scan
from mnemark.files.sessions import session_id
from mnemark.files.truth import Folder
from mnemark.types import Json

_MOVED: dict[Kind, tuple[tuple[str, str], ...]] = {
    "nanobot-data": (("notes/", "memory/"), ("memory/", "memory/"), ("personas/", "personas/")),
    "openakita": (
        ("data/memory/", "memory/"),
        ("memory/", "memory/"),
        ("identity/", ""),
        ("personas/", "personas/"),
    ),
}
_DERIVED = ("identity/compiled/", "identity/prompts/")


_TYPES = frozenset({"fact", "preference", "rule", "skill", "error"})
_PRIORITIES = {"transient": "transient", "short_term": "short", "long_term": "long", "permanent": "permanent"}

Memory = Mapping[str, Json]


class Cleaning(Protocol):
    """Clean what others wrote before it is written here."""

    def line(self, path: str, line: bytes) -> bytes | None:
        """Redact a line for the log at `path`; None where it was erased there."""

    def memories(self, data: bytes) -> bytes:
        """Redact a `memories.json`. Raises ValueError where it is no JSON."""


def migrate(
    source: Path, truth: Folder, *, dry_run: bool = False, cleaning: Cleaning | None = None
) -> list[OldFile]:
    """Bring the memory in `source` into the workspace `truth`, which may be the same folder.

    Notes, identity and sessions are copied byte for byte; where a different file has the name already, the
    copy is called `NAME.imported.md`. Sessions gain the lines they lack. Entries of `memories.json` become
    facts in `memory/facts/imported.md`. Hold the workspace's lock.

    Args:
        source: the folder of the old memory.
        truth: the workspace.
        dry_run: write nothing; the steps are the same.
        cleaning: is applied to histories, sessions and memories; notes are a person's and stay as they are.

    Raises:
        NotFoundError: `source` holds no old layout that is known.
        ReadOnlyError, MnemarkError: the target cannot be written to.
    """
    old = detect(source)
    if old is None:
        raise NotFoundError(
            f"{source} holds no memory that is known: no memory/ or notes/ folder, no memories.json and no "
            "conversation_history/. To add plain notes, copy them into the workspace."
        )
    move = _Migration(old, truth, cleaning, dry_run=dry_run)
    move.facts()
    move.sessions()
    if old.folder.resolve() != truth.root.resolve():
        move.notes()
    move.leftovers()
    move.note()
    return move.steps


def target_of(kind: Kind, path: str) -> str | None:
    """Return the path in a workspace of a note of an old layout; None if it is no memory.

    >>> target_of("openakita", "identity/personas/jarvis.md")
    'personas/jarvis.md'
    """
    if kind in {"nanobot", "openclaw"}:
        return path
    for old, new in _MOVED[kind]:
        if path.startswith(old) and not path.startswith(_DERIVED):
            return new + path.removeprefix(old)
    place = layout.place(path)
    return path if place is not None and "/" not in path and place.role != "note" else None


class _Migration:
    def __init__(self, old: OldLayout, truth: Folder, cleaning: Cleaning | None, *, dry_run: bool) -> None:
        self.truth = truth
        self.old = old
        self.cleaning = cleaning
        self.target = truth.root
        self.dry_run = dry_run
        self.steps: list[OldFile] = []
        self.done: dict[str, str] = {}
        """Digest of each source file migrated now."""
        self.written: dict[str, bytes] = {}
        """Content of target files after the steps so far: a dry run sees what a real one would."""
        self.before = noted(truth.root, old.folder)

    def facts(self) -> None:
        for path in memories(self.old.folder):
            data = self._source(path, FACTS)
            if data is None:
                continue
            try:
                found = fact_bullets(self.cleaning.memories(data) if self.cleaning else data)
            except ValueError as error:
                self.steps.append(OldFile("left", path, reason=f"cannot be read: {error}"))
                continue
            there = self._bytes_at(FACTS) or b""
            fresh = [line for key, line in found.bullets.items() if f"id: {key}".encode() not in there]
            self._append(FACTS, [line.encode("utf-8", "replace") for line in fresh], b"# Imported\n")
            reason = f"{found.unread} entries without words left out" if found.unread else ""
            self.steps.append(OldFile("facts" if fresh else "same", path, FACTS, reason, len(fresh)))
            self.done[path] = digest(data)

    def sessions(self) -> None:
        """Migrate histories, and session files where they come from another folder."""
        paths = histories(self.old.folder)
        if self.old.folder.resolve() != self.target.resolve():
            paths += [entry.path for entry in scan(self.old.folder).entries if entry.path.endswith(".jsonl")]
        for path in paths:
            full = self.old.folder / path
            target = f"sessions/{names.file_name(session_id(full) or full.stem, '.jsonl')}"
            data = self._source(path, target)
            if data is None:
                continue
            lines: list[bytes] = list(filter(None, data.split(b"\n")))
            if self.cleaning is not None:
                cleaned = (self.cleaning.line(target, line) for line in lines)
                lines = [line for line in cleaned if line is not None]
            # Counted, because two turns without time may be the same words.
            missing = Counter(lines)
            missing.subtract((self._bytes_at(target) or b"").split(b"\n"))
            fresh = _last_wanted(lines, missing)
            self._append(target, fresh)
            self.steps.append(OldFile("session" if fresh else "same", path, target, count=len(fresh)))
            self.done[path] = digest(data)

    def notes(self) -> None:
        unknown = 0
        found = scan(self.old.folder)
        self.steps += [OldFile("left", one.path, reason=one.reason) for one in found.problems if one.skipped]
        self.steps += [
            OldFile("left", one, reason="is a separate workspace: import that one") for one in found.inner
        ]
        for entry in found.entries:
            if entry.path.endswith(".jsonl"):
                continue
            if (target := target_of(self.old.kind, entry.path)) is None:
                unknown += 1
            else:
                self._copy(entry.path, target)
        if unknown:
            self.steps.append(OldFile("left", "", reason="other texts, which are no memory", count=unknown))

    def leftovers(self) -> None:
        """Report databases: their texts are in the files beside them, or have to be exported."""
        for folder in MEMORY_FOLDERS:
            path = f"{folder}openakita.db"
            if (self.old.folder / path).is_file():
                self.steps.append(OldFile("left", path, reason="OpenAkita's database is not read"))

    def note(self) -> None:
        """Add what was migrated to the marker file."""
        if self.dry_run or not self.done:
            return
        mine = {
            "source": str(self.old.folder.resolve()),
            "kind": self.old.kind,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "files": self.before | self.done,
        }
        others = [entry for entry in notes_of(self.target) if entry.get("source") != mine["source"]]
        data = json.dumps({"sources": [*others, mine]}, ensure_ascii=False, indent=1)
        self._write(MARKER, data.encode() + b"\n", replace=True)

    def _copy(self, path: str, target: str) -> None:
        try:
            layout.check_name(target)
        except UsageError as error:
            self.steps.append(OldFile("left", path, reason=str(error)))
            return
        data = self._source(path, target)
        if data is None:
            return
        for name in _free_names(target):
            there = self._bytes_at(name)
            if there == data:
                self.steps.append(OldFile("same", path, name))
                break
            untouched = there == MEMORY_TEXT.encode()  # as `init` left it
            if there is None or untouched:
                reason = "" if name == target else f"{target} has other words"
                self.steps.append(OldFile("copy", path, name, reason))
                self._write(name, data, replace=untouched)
                break
        self.done[path] = digest(data)

    def _source(self, path: str, target: str) -> bytes | None:
        """Read a source file, unless it was migrated before or cannot be read."""
        try:
            data = platform.content(self.old.folder / path)
        except OSError as error:
            self.steps.append(OldFile("left", path, reason=f"cannot be read: {error.strerror}"))
            return None
        if self.before.get(path) != digest(data):
            return data
        self.steps.append(OldFile("same", path, target, "brought over before"))
        return None

    def _bytes_at(self, path: str) -> bytes | None:
        full = layout.safe_path(self.target, path)
        return self.written.get(path) or (platform.content(full) if full.is_file() else None)

    def _append(self, path: str, lines: list[bytes], header: bytes = b"") -> None:
        if not lines:
            return
        self.written[path] = b"\n".join([self._bytes_at(path) or header, *lines, b""])
        if not self.dry_run:
            self.truth.append(path, lines, header=header)

    def _write(self, name: str, data: bytes, *, replace: bool) -> None:
        """Write a file atomically; without `replace` an existing one is never replaced."""
        self.written[name] = data
        if self.dry_run:
            return
        path = layout.safe_path(self.target, name)
        with translate_os_errors(path), self.truth.change() as files:
            files.wrote(name)
            platform.make_folder(path.parent)
            if replace:
                jsonl.replace_file(path, data)
            else:
                temporary = platform.temporary_beside(path)
                jsonl.write_new(temporary, data)
                platform.FS.rename_new(temporary, path)
            platform.FS.sync_folder(path.parent)


def _free_names(path: str) -> Iterator[str]:
    stem, _, suffix = path.rpartition(".")
    yield path
    yield f"{stem}.imported.{suffix}"
    for number in itertools.count(2):
        yield f"{stem}.imported-{number}.{suffix}"


def _last_wanted(lines: list[bytes], wanted: Counter[bytes]) -> list[bytes]:
    """Return the last of `lines` that are wanted, as often as they are, in their order."""
    found = []
    for line in reversed(lines):
        if wanted[line] > 0:
            wanted[line] -= 1
            found.append(line)
    return found[::-1]


class OldFacts(NamedTuple):
    """Bullets by id, in file order, and the number of entries skipped as invalid."""

    bullets: dict[str, str]
    unread: int


def fact_bullets(data: bytes) -> OldFacts:
    """Convert `memories.json` (a list, `{"memories": …}`, or an object by id) to a bullet for each memory.

    Ids are derived from the old ones, so that importing again gives the same bullets. A superseded memory is
    struck through and ends when the newer one begins. Raises ValueError for what is no JSON or no memories.
    """
    try:
        entries = _entries(json.loads(data.decode("utf-8-sig")))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    known = [entry for entry in entries if isinstance(entry, dict) and _words(entry.get("content"))]
    by_old_id = {str(entry["id"]): entry for entry in known if entry.get("id")}
    replaced = {
        str(entry["superseded_by"]): entry for entry in known if str(entry.get("superseded_by")) in by_old_id
    }
    bullets = {
        _id(entry): _bullet(
            entry, by_old_id.get(str(entry.get("superseded_by"))), replaced.get(str(entry.get("id")))
        )
        for entry in known
    }
    return OldFacts(bullets, len(entries) - len(known))


def _entries(value: Json) -> list[Json]:
    if isinstance(value, dict) and isinstance(value.get("memories"), (list, dict)):
        value = value["memories"]
    if isinstance(value, dict):
        return [{"id": key} | entry if isinstance(entry, dict) else entry for key, entry in value.items()]
    if isinstance(value, list):
        return value
    raise ValueError("holds no list of memories")


def _id(entry: Memory) -> str:
    # The id of a memory without one derives from its words.
    mark = str(entry.get("id") or f"{entry.get('subject')}\n{entry.get('predicate')}\n{entry['content']}")
    return derived_id(mark.encode("utf-8", "replace"), _moment(entry.get("created_at")))


def _bullet(entry: Memory, newer: Memory | None, older: Memory | None) -> str:
    content, predicate = _words(entry["content"]), _words(entry.get("predicate")).replace("*", "")
    text = f"**{predicate}**: {content}" if predicate else content
    until = None
    if newer is not None or entry.get("superseded_by"):
        text = f"~~{text}~~"
        until = (newer or {}).get("created_at") or entry.get("updated_at")
    kind = _enum_value(entry.get("type"))
    tags = entry.get("tags")
    fields = {
        "id": _id(entry),
        "type": kind if kind in _TYPES else "fact",
        "priority": _PRIORITIES.get(_enum_value(entry.get("priority"))),
        "subject": _field(entry.get("subject")),
        "since": _iso(entry.get("created_at")),
        "until": _iso(until),
        "origin": "import",
        "importance": _share(entry.get("importance_score")),
        "confidence": _share(entry.get("confidence")),
        "tags": ", ".join(filter(None, map(_field, tags))) if isinstance(tags, list) else "",
        "source": _field(entry.get("source")),
        "supersedes": _id(older) if older else None,
    }
    comment = " | ".join(f"{name}: {value}" for name, value in fields.items() if value)
    return f"- {text} <!-- {comment} -->"


def _words(value: Json) -> str:
    """Return a text on one line that cannot open or close a comment."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    text = text.encode("utf-8", "replace").decode()  # JSON may contain lone surrogates, UTF-8 may not
    return text.replace("<!--", "<! --").replace("-->", "-- >")


def _field(value: Json) -> str:
    """Return a text for the comment: `|` divides fields, and two hyphens could end it."""
    return re.sub(r"-{2,}", "-", _words(value).replace("|", "/").replace("-- >", "->")).strip("->")


def _enum_value(value: Json) -> str:
    """Return the value of an enumeration, written as `fact`, `FACT` or `MemoryType.FACT`."""
    return str(value or "").rsplit(".", 1)[-1].lower()


def _share(value: Json) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
    return f"{value:g}" if number else ""


def _moment(value: Json) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _iso(value: Json) -> str:
    moment = _moment(value)
    if moment is None:
        return ""
    return moment.date().isoformat() if len(value) <= len("2026-02-19") else moment.isoformat()
