"""Read and change the fact files `memory/facts/<subject>.md` of a workspace and its scopes.

Files are changed by `edit` only; applying a change twice is the same as applying it once.
"""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.facts.keys import subject_key
from mnemark.facts.model import TYPES, Fact
from mnemark.files import layout, listing, names, platform, trust
from mnemark.files.ids import derived_id, time_of
from mnemark.files.layout import FACTS
from mnemark.files.marks import without_marks
from mnemark.text.lines import clean, decode
from mnemark.types import ORIGINS

if TYPE_CHECKING:
    from mnemark.facts.parse import ParsedFact

REVIEW: Final = "memory/review/facts.md"
"""File of proposals that wait for review, in each scope."""
_OLDEST: Final = datetime(2001, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
_READABLE_NAME: Final = 60
_MAX_BYTES: Final = 1 << 16
"""Size from which on a file takes no further facts of new keys: a change reads and writes its whole file."""


class Confirmation(msgspec.Struct, frozen=True):
    """A confirmation of a fact; `fields` are new values of its comment."""

    id: str
    fact: str
    fields: Mapping[str, str]
    scope: str = ""
    file: str = ""
    """The journal that has its line."""


class _ReadFile(msgspec.Struct, frozen=True):
    state: platform.Identity
    saved: str
    facts: tuple[Fact, ...]


class FactFiles:
    """The fact files of a workspace, cached until they change.

    `redacted` removes secrets from a text and keeps its line numbers; `zone` is the one of the days of facts.
    """

    def __init__(self, root: Path, redacted: Callable[[str], str] = str, zone: tzinfo = UTC) -> None:
        self.root = root
        self.zone = zone
        self._redacted = redacted
        self.stored: Callable[[str, bytes], tuple[Fact, ...] | None] | None = None
        """Returns the facts of a file with these bytes, where they need not be parsed."""
        self._read: dict[str, _ReadFile] = {}
        self._links: set[str] = set()
        self._listed: dict[str, list[str]] = {}
        """The last listing of each folder."""

    def saved(self, path: str) -> datetime:
        """Return the modification time of a file when it was last read; now if it was not."""
        return datetime.fromisoformat(self.saved_iso(path))

    def saved_iso(self, path: str) -> str:
        """Return `saved` as text: the time of bullets that have none."""
        kept = self._read.get(path)
        return kept.saved if kept else datetime.now(self.zone).isoformat()

    def paths(self, scope: str = "") -> list[str]:
        """Return the relative paths of the fact files of a scope, sorted by name."""
        folder = layout.in_scope(scope, FACTS)
        if layout.border(self.root, folder):
            return []
        try:
            with os.scandir(self.root / folder) as entries:
                found = sorted(entry.name for entry in entries if self._is_file(folder, entry))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:  # unreadable folder: its files were not removed
            return self._listed.get(folder, [])
        self._listed[folder] = [path for name in found if _is_fact_file(path := f"{folder}/{name}")]
        return self._listed[folder]

    def _is_file(self, folder: str, entry: "os.DirEntry[str]") -> bool:
        """Whether an entry is a file and no link out of the workspace, which the scan reports."""
        if not entry.is_symlink():
            return entry.is_file()
        self._links.add(f"{folder}/{entry.name}")
        try:
            return entry.is_file() and listing.leads_inside(self.root, entry.path)
        except OSError:  # a loop of links
            return False

    def facts(self, path: str) -> tuple[Fact, ...]:
        """Return the facts in a file; if it is unreadable, those last read."""
        return self.read(path)[1]

    def read(self, path: str) -> tuple[platform.Identity | None, tuple[Fact, ...]]:
        """Return the identity of a file when it was last read, or None, and its facts as `facts` does."""
        full = names.inside(self.root, path) if path in self._links else self.root / path
        kept = self._read.get(path)
        try:
            state = platform.identity(full)
            if state is None:
                self._read.pop(path, None)
                return None, ()
            if kept is None or kept.state != state:
                data, status = platform.read_file(names.inside(self.root, path))
                kept = self._read[path] = self._of(
                    path, data, platform.identity_of(status), first=kept is None
                )
        except FileNotFoundError:
            return kept.state if kept else None, ()
        except OSError:  # reported by scan and sync
            return (kept.state, kept.facts) if kept else (None, ())
        return kept.state, kept.facts

    def _of(self, path: str, data: bytes, state: platform.Identity, *, first: bool) -> _ReadFile:
        saved = datetime.fromtimestamp(state.mtime_ns / 1e9, self.zone).isoformat()
        facts = self.stored(path, data) if first and self.stored is not None else None
        if facts is None:
            raw = without_marks(decode(data))
            facts = tuple(fact for _, fact in visible_facts(self._redacted(raw), raw, path, saved))
        if not trust.is_trusted(self.root):
            facts = tuple(heard(self.root, fact) for fact in facts)
        return _ReadFile(state, saved, facts)

    def path_for(self, subject: str, scope: str = "", full: Collection[str] = ()) -> str:
        """Return the file for new facts about a subject: an existing one, in any language, or a new one.

        A file without room, or in `full`, is followed by others of the same name with a number.
        """
        key = subject_key(subject)
        paths = [path for path in self.paths(scope) if path.endswith(".md")]
        there = next((path for path in paths if _stem(path) == key), None)
        there = there or next((path for path in paths if subject_key(_stem(path)) == key), None)
        first = there or layout.in_scope(scope, f"{FACTS}/{_file_name(key)}")
        path, number = first, 1
        while path in full or self.room(path) <= 0:
            number += 1
            path = f"{first.removesuffix('.md')}-{number}.md"
        return path

    def room(self, path: str) -> int:
        """Return how many bytes of new facts may be added to a file."""
        try:
            return _MAX_BYTES - (self.root / path).stat().st_size
        except OSError:  # no such file yet
            return _MAX_BYTES


@lru_cache(maxsize=16_384)
def _is_fact_file(path: str) -> bool:
    place = layout.place(path)
    return place is not None and place.role == "fact"


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rsplit(".", 1)[0]


def _file_name(key: str) -> str:
    """Return the key as a file name if it is valid on every system, else a name derived from it."""
    plain, name = key.replace(" ", "-"), names.file_name(key, ".md")
    is_plain = name.rpartition("-")[0] == plain and len(plain.encode()) <= _READABLE_NAME
    return f"{plain}.md" if is_plain and _is_fact_file(f"{FACTS}/{plain}.md") else name


def heard(root: Path, fact: Fact) -> Fact:
    """Return a fact of a workspace with the origin that is believed; see `trust.heard_as`."""
    origin = trust.heard_as(root, fact.origin)
    return fact if origin == fact.origin else msgspec.structs.replace(fact, origin=origin)


def parsed_facts(text: str, path: str, saved: str) -> "list[tuple[ParsedFact, Fact]]":
    """Return the facts in a text with their bullets; `saved` (ISO) is the time of those without one."""
    from mnemark.facts.parse import parse

    return [(parsed, fact_of(parsed, path, saved)) for parsed in parse(text)]


def facts_in(text: str, path: str, saved: str) -> list[Fact]:
    """Return the facts in a file's text; `saved` as for `parsed_facts`."""
    return [fact for _, fact in parsed_facts(text, path, saved)]


def visible_facts(text: str, raw: str, path: str, saved: str) -> "list[tuple[ParsedFact, Fact]]":
    """Return the facts in the visible text of a file with their bullets, as `parsed_facts` does.

    `raw` is the file's text, with the same lines, from which ids of facts without one derive.
    """
    visible = parsed_facts(text, path, saved)
    if text == raw:
        return visible
    ids = {fact.line: fact.id for fact in facts_in(raw, path, saved)}
    return [
        (parsed, msgspec.structs.replace(fact, id=ids[fact.line]))
        for parsed, fact in visible
        if fact.line in ids
    ]


def needs_saved(parsed: "ParsedFact") -> bool:
    """Whether a fact takes a time from its file's modification time."""
    return not (parsed.meta.get("recorded") or time_in_id(parsed.id)) or (
        parsed.struck and not parsed.meta.get("until")
    )


def fact_of(parsed: "ParsedFact", path: str, saved: str) -> Fact:
    """Return the fact of a bullet; what it does not say follows from the path and `saved`."""
    meta = parsed.meta
    subject = (clean(meta["subject"]) if "subject" in meta else "") or subject_of(path)
    kind, origin = meta.get("type", "").lower(), meta.get("origin", "").lower()
    return Fact(
        id=parsed.id or _id_of_words(parsed, path, subject),
        subject=subject,
        predicate=parsed.predicate,
        value=parsed.value,
        type=kind if kind in TYPES else "fact",
        until=meta.get("until", "") or (saved if parsed.struck else ""),
        recorded=meta.get("recorded", "") or time_in_id(parsed.id) or saved,
        origin=next((known for known in ORIGINS if known == origin), "file"),
        importance=parsed.importance,
        confidence=parsed.confidence,
        tags=_tags(meta["tags"]) if "tags" in meta else (),
        scope=layout.scope_of(path),
        path=path,
        line=parsed.bullet.line,
        since=meta.get("since", ""),
        source=meta.get("source", ""),
        ended=meta.get("ended", ""),
        supersedes=meta.get("supersedes", ""),
        priority=meta.get("priority", ""),
    )


def _tags(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, re.split("[,，]", text))))


def _id_of_words(parsed: "ParsedFact", path: str, subject: str) -> str:
    """Return the id of a bullet without a comment: that of its words in their scope, about their subject."""
    words = "\0".join((layout.scope_of(path), subject_key(subject), parsed.words))
    return derived_id(words.encode("utf-8", "replace"))


@lru_cache(maxsize=1_024)
def subject_of(path: str) -> str:
    """Return the subject of a fact file's facts, where they name none."""
    stem = _stem(path)
    return "user" if subject_key(stem) in {"user", "imported"} else stem.replace("-", " ")


@lru_cache(maxsize=8_192)
def time_in_id(identifier: str) -> str:
    """Return the ISO time encoded in an id; empty if there is none."""
    try:
        made = time_of(identifier)
    except ValueError:
        return ""
    return made.isoformat() if _OLDEST < made < _LATEST else ""


_VERSION: Final = 1
"""Raise it when bullets are parsed otherwise, or `Fact` changes."""
_DECODER: Final = msgspec.msgpack.Decoder(tuple[int, tuple[Fact, ...]])


def pack(found: Sequence[tuple["ParsedFact", Fact]]) -> bytes:
    """Return the facts of a file; empty if not all of them follow from its path and bytes alone."""
    if not found or any(needs_saved(parsed) for parsed, _ in found):
        return b""
    try:
        return msgspec.msgpack.encode((_VERSION, [fact for _, fact in found]))
    except UnicodeEncodeError:  # bytes of the file that are no text
        return b""


def unpack(data: bytes) -> tuple[Fact, ...] | None:
    """Return the facts in the bytes; None if this version did not write them."""
    try:
        version, facts = _DECODER.decode(data)
    except msgspec.DecodeError:
        return None
    return facts if version == _VERSION else None
