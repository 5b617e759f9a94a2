"""Say where the links of a workspace lead in its export: refs, paths and wiki links to pages and files."""

import posixpath
import re
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from mnemark.errors import UsageError
from mnemark.files import layout
from mnemark.files.listing import walk
from mnemark.files.names import split_ref
from mnemark.memory.transfer.export.model import Contents, Learned, Note, Place, Subject, Talk
from mnemark.memory.transfer.export.names import FileNames
from mnemark.text.lazy_pattern import lazy_pattern

_SCHEME: Final = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]{0,30}:|//")
_WEB: Final = lazy_pattern(r"(?:https?|mailto|tel):", re.IGNORECASE)
EMBEDDED: Final = frozenset(
    {"png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "avif", "mp3", "wav", "m4a", "ogg", "flac", "mp4"}
    | {"webm", "mov", "mkv", "pdf"}
)
"""Endings of files that Obsidian shows in a page."""
PICTURES: Final = frozenset({"png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "avif"})
_COPIED: Final = EMBEDDED | frozenset(
    {"heic", "tif", "tiff", "opus", "aac", "ogv", "m4v", "epub", "doc", "docx", "xls", "xlsx", "ppt", "pptx"}
    | {"odt", "ods", "odp", "rtf", "djvu"}
)
"""Endings of files that are copied where a note links to them."""


def is_outside(target: str) -> bool:
    """Whether a destination is an address, and no path."""
    return _SCHEME.match(target) is not None


def is_web(target: str) -> bool:
    """Whether a destination is one that may stay in text of anybody."""
    return _WEB.match(target) is not None


class Targets:
    """The pages and files that links lead to. `files` collects the pictures and documents to be copied."""

    def __init__(self, root: Path, contents: Contents, names: FileNames, scope: str | None) -> None:
        self._root = root
        self._scope = scope
        self._names = names
        self._talks = {talk.source: talk for talk in contents.talks}
        self._notes = {note.source: note for note in contents.notes}
        self._facts: defaultdict[str, list[tuple[int, Subject, Learned]]] = defaultdict(list)
        self._homes: dict[str, Subject] = {}
        self._by_name: defaultdict[str, list[Note]] = defaultdict(list)
        self.files: dict[str, str] = {}
        """Paths in the export by the paths of files in the workspace."""
        for note in contents.notes:
            self._by_name[_name(note.source)].append(note)
        for subject in contents.subjects:
            for learned in (one for group in subject.groups for one in group):
                fact = learned.version.fact
                self._facts[fact.path].append((fact.line, subject, learned))
                self._homes.setdefault(fact.path, subject)
        for rows in self._facts.values():
            rows.sort(key=lambda row: row[0])
        counts: defaultdict[str, int] = defaultdict(int)
        pages = [note.path for note in contents.notes] + [one.path for one in contents.subjects]
        pages += [day.path for day in contents.days.values() if day.note is None]
        pages += [path for talk in contents.talks for path in talk.paths]
        for path in pages:
            counts[_name(path)] += 1
        self._ambiguous = {name for name, count in counts.items() if count > 1}

    def is_ambiguous(self, path: str) -> bool:
        """Whether another page has the same name, in another folder."""
        return _name(path) in self._ambiguous

    def of_path(self, target: str, source: str) -> Place | None:
        """Return where a destination in the file `source` leads; None: to nothing that is exported."""
        path, mark, fragment = unquote(target).partition("#")
        if not path:
            return None
        for candidate in _candidates(path, source):
            found = self._page(f"{candidate}{mark}{fragment}", candidate, fragment)
            if found is not None:
                return found
        for candidate in _candidates(path, source):
            if copied := self._file(candidate):
                return Place(copied)
        return None

    def of_name(self, target: str, source: str) -> Place | None:
        """Return where a wiki link in the file `source` leads; its name may lack folders and ending."""
        path, mark, fragment = target.partition("#")
        for ending in ("", ".md"):
            if found := self.of_path(f"{path}{ending}{mark}{fragment}", source):
                return found
        same = self._by_name.get(_name(path), []) if "/" not in path else []
        folder = source.rpartition("/")[0]
        if same:
            near = min(
                same, key=lambda note: (note.source.rpartition("/")[0] != folder, note.source.count("/"))
            )
            return Place(near.path, fragment)
        return self._file_named(path) if "/" not in path else None

    def is_ours(self, target: str, source: str) -> bool:
        """Whether a destination is a file of the workspace that is left out, so that a link leads nowhere."""
        path = unquote(target).partition("#")[0]
        return any(
            candidate.endswith(".jsonl") or self._exists(candidate) for candidate in _candidates(path, source)
        )

    def _exists(self, path: str) -> bool:
        try:
            return layout.safe_path(self._root, path).exists()
        except (UsageError, OSError):
            return False

    def _page(self, ref: str, path: str, fragment: str) -> Place | None:
        if talk := self._talks.get(path):
            _, first, last = split_ref(ref)
            return talk.place(talk.nearest(first, last)) if last else talk.place()
        if path in self._facts:
            return self._fact(ref, path)
        note = self._notes.get(path)
        if note is None:
            return None
        return Place(note.path, "" if re.fullmatch(r"L\d.*", fragment) else fragment)

    def _fact(self, ref: str, path: str) -> Place:
        _, first, last = split_ref(ref)
        rows = self._facts[path]
        if last is None:
            return Place(self._homes[path].path)
        _, subject, learned = next((row for row in reversed(rows) if row[0] <= first), rows[0])
        return Place(subject.path, learned.anchor)

    def talk(self, source: str) -> Talk | None:
        """Return the talk in a log."""
        return self._talks.get(source)

    def _file(self, path: str) -> str:
        """Return the path of the copy of a picture or document; empty where it is none that may be copied."""
        if path in self.files:
            return self.files[path]
        if not _is_copied(path) or any(layout.skipped_folder(part) for part in path.split("/")):
            return ""
        if self._scope is not None and layout.scope_of(path) != self._scope:
            return ""
        try:
            if not layout.safe_path(self._root, path).is_file():
                return ""
        except (UsageError, OSError):
            return ""
        self.files[path] = self._names.kept(path)
        return self.files[path]

    def _file_named(self, name: str) -> Place | None:
        if not _is_copied(name):
            return None
        found = self._pictures.get(name.casefold())
        copied = self._file(found) if found else ""
        return Place(copied) if copied else None

    @cached_property
    def _pictures(self) -> dict[str, str]:
        """The files that may be copied by their names, as links of Obsidian have them, outermost first."""
        found: dict[str, str] = {}
        for path in sorted(walk(self._root).files, key=lambda path: (path.count("/"), path)):
            if _is_copied(path):
                found.setdefault(path.rpartition("/")[2].casefold(), path)
        return found


def _is_copied(path: str) -> bool:
    return path.rpartition(".")[2].casefold() in _COPIED


def _name(path: str) -> str:
    """Return the name of a page as links of Obsidian have it, in lower case."""
    name = path.rpartition("/")[2].casefold()
    return name.removesuffix(".md")


def _candidates(path: str, source: str) -> list[str]:
    """Return what a path in a file may mean: beside the file, from its scope, from the workspace."""
    scope = layout.scope_of(source)
    bases = [source.rpartition("/")[0], scope, ""] if not path.startswith("/") else [scope, ""]
    joined = (posixpath.normpath(posixpath.join(base, path.lstrip("/"))) for base in bases)
    return list(dict.fromkeys(one for one in joined if not one.startswith("..")))
