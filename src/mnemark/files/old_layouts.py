"""Recognize and migrate folders of other memories, which are never changed.

Most old layouts open as they are. Migration is for `memories.json` and `conversation_history/`, and for
bringing an old folder into another workspace. Every step can be repeated, and nothing of a person's is
overwritten. What was migrated is noted in `memory/migrated-from.json`, so that notes edited or removed since
do not come back.
"""

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from mnemark.errors import NotFoundError, UsageError
from mnemark.files import jsonl, layout, names, platform
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.new_workspace import MEMORY_TEXT
from mnemark.files.old_memories import fact_bullets
from mnemark.files.reading import digest
from mnemark.files.scan import scan
from mnemark.files.sessions import session_id
from mnemark.files.truth import Folder
from mnemark.types import Problem

Kind = Literal["nanobot", "nanobot-data", "openakita", "openclaw"]
Action = Literal["copy", "session", "facts", "same", "left"]

MARKER = "memory/migrated-from.json"
FACTS = "memory/facts/imported.md"

_MEMORY_FOLDERS = ("", "memory/", "data/memory/")
_IDENTITY = ("SOUL.md", "AGENT.md", "USER.md", "MEMORY.md")
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


class OldLayout(msgspec.Struct, frozen=True):
    """An old memory in a folder, or in its `workspace/`."""

    kind: Kind
    folder: Path
    opens_as_is: bool
    """Nothing in it needs migrating to be found."""


class Cleaning(Protocol):
    """Clean what others wrote before it is written here."""

    def line(self, path: str, line: bytes) -> bytes | None:
        """Redact a line for the log at `path`; None where it was erased there."""

    def memories(self, data: bytes) -> bytes:
        """Redact a `memories.json`. Raises ValueError where it is no JSON."""


class OldFile(msgspec.Struct, frozen=True):
    """One file of a migration, paths relative to source and target."""

    action: Action
    """`same`: was migrated before, or is there already. `left`: stays where it is, for `reason`."""
    source: str
    target: str = ""
    reason: str = ""
    count: int = 1
    """Files, session lines or facts that are new."""


def detect(folder: Path) -> OldLayout | None:
    """Return the old layout in `folder`; None for others, and for mnemark's own without old files."""
    for base in (folder, folder / "workspace"):
        convertible = bool(_memories(base) or _histories(base))
        if convertible or any((base / "identity" / name).is_file() for name in _IDENTITY):
            return OldLayout("openakita", base, opens_as_is=False)
        if (base / layout.CONFIG).exists() or any((base / "journal").glob("*.jsonl")):
            continue  # made a memory of mnemark's; an index beside it only says that it was searched
        memory = (base / "MEMORY.md").is_file()
        if (base / "notes").is_dir() and (memory or (base / "memory.db").is_file()):
            return OldLayout("nanobot-data", base, opens_as_is=True)
        if (base / "memory").is_dir() and any((base / "memory").glob("*.md")):
            kind: Kind = "nanobot" if (base / "memory/MEMORY.md").is_file() and not memory else "openclaw"
            return OldLayout(kind, base, opens_as_is=True)
    return None


def unread(root: Path) -> Problem | None:
    """Return the problem that memory in a workspace is not searched until it is imported."""
    noted = _noted(root, root)
    left = []
    for path in (*_memories(root), *_histories(root)):
        with suppress(OSError):  # reported by the import
            if noted.get(path) != digest(platform.content(root / path)):
                left.append(path)
    if not left:
        return None
    more = f" and {len(left) - 1} more" if len(left) > 1 else ""
    fix = f"import with `mnemark import openakita {root}`"
    return Problem(left[0], f"memory in a form that is not searched{more}: {fix}", skipped=False)


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


def _memories(base: Path) -> list[str]:
    wanted = (f"{folder}memories.json" for folder in _MEMORY_FOLDERS)
    return [path for path in wanted if (base / path).is_file()]


def _histories(base: Path) -> list[str]:
    return sorted(
        path.relative_to(base).as_posix()
        for folder in _MEMORY_FOLDERS
        for path in (base / folder / "conversation_history").glob("*.jsonl")
        if path.is_file() and not path.is_symlink()
    )


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
        self.before = _noted(truth.root, old.folder)

    def facts(self) -> None:
        for path in _memories(self.old.folder):
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
        paths = _histories(self.old.folder)
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
        for folder in _MEMORY_FOLDERS:
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
        others = [entry for entry in _notes(self.target) if entry.get("source") != mine["source"]]
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


def _notes(target: Path) -> list[dict[str, object]]:
    try:
        found = json.loads(platform.content(target / MARKER))["sources"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        # Without the note everything is compared by content: slower, and edited notes come a second time.
        return []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _noted(target: Path, source: Path) -> dict[str, str]:
    """Return the digests by path of what was migrated from `source` before."""
    for entry in _notes(target):
        files = entry.get("files")
        if entry.get("source") == str(source.resolve()) and isinstance(files, dict):
            return {str(path): str(mark) for path, mark in files.items()}
    return {}
