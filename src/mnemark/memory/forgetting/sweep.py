"""Delete the bytes of erased items, and their quotations, from all files of a workspace.

A sweep reads every file except those of git and of nested workspaces, and rewrites each kind of file in its
own way; a dry run only reads. A sweep can be repeated. Files that cannot be read are reported, and do not
stop it.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote

from mnemark.errors import BusyError, MnemarkError
from mnemark.facts.fold import versions_in
from mnemark.facts.parse import parse
from mnemark.files import attachments, jsonl, layout, listing, platform
from mnemark.files import edit as editing
from mnemark.files.disk_errors import is_no_file, unread
from mnemark.files.documents import converting, view_of
from mnemark.files.needles import (
    ERASED,
    BytePatterns,
    tombstone,
    without_lines,
    without_quotes,
    without_runs,
)
from mnemark.files.scan import ignorer
from mnemark.files.sessions import OBSERVE
from mnemark.files.tombstones import Run, line_mark, matches, run_of
from mnemark.files.truth import LOCK_SECONDS, rewrite
from mnemark.files.turns import decode_turn
from mnemark.index.erase import erase_rows, is_database
from mnemark.memory.forgetting.corrections import left_of_correction
from mnemark.memory.forgetting.needles import NAME_LIST, SearchPatterns, left_of, search_patterns, weight
from mnemark.memory.forgetting.receipt import ErasedPlace
from mnemark.memory.forgetting.select import ForgetItem, blocks, only_from
from mnemark.memory.journal import erasures
from mnemark.memory.journal.erasures import Wait
from mnemark.memory.journal.sessions import NOTES
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.decoding import decode
from mnemark.text.documents import UnreadableDocumentError, format_of
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown import drop_comments, names_id
from mnemark.types import Json

_OWN: Final = f"{layout.PRIVATE}/"
_MAX_BYTES: Final = 1 << 29
_MIN_WEIGHT: Final = 4
"""Minimum weight of a line that is searched for in recorded edits: more than the end of a code block."""
RENAMING: Final = "renaming.json"
"""Name of the file in `.mnemark/` that says what an unfinished erasure renames."""
_EXEMPT: Final = (
    *("index.db", "index.db-wal", "index.db-shm", "index.db.new", "lock", "sync.lock", ".gitignore"),
    *(erasures.NAME, RENAMING),
)
_CITING_ROLES: Final = frozenset(
    {"episode", "daily", "scratchpad", "attachment", "archive", "longterm", "note"}
)
_FACT_KINDS: Final = frozenset(
    {"remember", "propose", "conflict", "otherwise", "confirm", "retract", "edit", "tombstone", "pin"}
)
_VALUES: Final = frozenset({"remember", "edit", "tombstone"})
"""Kinds of journal lines that hold values a hand edit made history."""
_NAME: Final = lazy_pattern(r"[^\s|<>()\[\]`'\"，,;；]+")
_LINES: Final = lazy_pattern(r"#L\d+(?:-L?\d+)?")
_ULID: Final = rb"[0-7][0-9A-HJKMNP-TV-Z]{25}"
_ANY_ID: Final = re.compile(rb"\b%b\b" % _ULID)
_OWN_TURN: Final = re.compile(rb'\{"id":"(%b)"' % _ULID)
_FEW_IDS: Final = 24
_ID: Final = lazy_pattern(r"\bid:\s*([0-9A-Z]{26})\b")


class Targets(NamedTuple):
    """What to erase: quotations of `words` in any file, and the items themselves."""

    words: SearchPatterns
    time: str = ""
    """When that was asked for: what stays of a turn says it."""
    turns: frozenset[str] = frozenset()
    turn_lines: Mapping[str, set[int]] = MappingProxyType({})
    facts: frozenset[str] = frozenset()
    marks: Mapping[str, Collection[Run]] = MappingProxyType({})
    """Hashes of the lines of notes to erase, by path."""
    files: frozenset[str] = frozenset()
    whole_logs: frozenset[str] = frozenset()
    """Logs all of whose turns are erased: text that cites only these is erased, too."""

    def only(self, items: Iterable[ForgetItem]) -> "Targets":
        """Return the part of these that are some of the items."""
        lines: defaultdict[str, set[int]] = defaultdict(set)
        marks: defaultdict[str, set[Run]] = defaultdict(set)
        turns, facts, files = set[str](), set[str](), set[str]()
        for item in items:
            match item.kind:
                case "turn":
                    turns.add(item.id)
                    lines[item.path].add(item.start_line)
                case "note":
                    facts.add(item.id)
                    marks[item.path].add(run_of(item.text.splitlines()))
                case "fact":
                    facts.add(item.id)
                case "file":
                    files.add(item.path)
        return self._replace(
            turns=frozenset(turns), turn_lines=dict(lines), facts=frozenset(facts - {""}), marks=dict(marks),
            files=frozenset(files),
        )  # fmt: skip


def targets_of(root: Path, items: Sequence[ForgetItem], query: str, time: datetime) -> Targets:
    """Return what to erase for items that were found by a query, or without one."""
    left = left_of(root, items)
    words = search_patterns(items, query, left)
    whole = Targets(words, time.isoformat(timespec="seconds"), whole_logs=left.whole_logs)
    return whole.only(items)


Step = Literal["copies", "items"]
"""Quotations are erased before items: after a crash, the search text is read from the items again."""


class Swept(NamedTuple):
    """The results of all sweeps of an erasure."""

    places: list[ErasedPlace]
    waiting: list[Wait]
    still: list[str]
    """Files that are not mnemark's to change, or that were not searched, with the reason."""


class Sweep:
    """One step over all files of a workspace; adds its result to `done`."""

    def __init__(
        self, ws: OpenWorkspace, targets: Targets, done: Swept, *, step: Step, dry_run: bool = False,
        among: frozenset[str] | None = None,
    ) -> None:  # fmt: skip
        """`among`: these files and those in `.mnemark` alone."""
        self.truth = ws.truth
        self.root = ws.root
        self.targets = targets
        self.done = done
        self.step = step
        self.dry_run = dry_run
        self.among = among
        self.ignored = ignorer(ws.config.ignore)
        self.mounts = tuple(f"mounts/{name}/" for name in ws.searcher.mounts.folders)
        """Folders of `.mnemark` with the indexes of mounts, whose files are not changed either."""
        self._turns, self._facts = _Ids(targets.turns), _Ids(targets.facts)
        self._runs = BytePatterns(text for text in targets.words.notes.texts if "\n" in text)
        """Patterns of several lines."""

    def run(self) -> None:
        """Process all files in the order of their names: journals come before fact files.

        Hold the workspace's lock, so that no other process records a half-erased fact as a person's change.
        """
        with converting(), nullcontext() if self.dry_run else self.truth.change():
            self._run()

    def _run(self) -> None:
        found = listing.walk(self.root)
        if self.among is None:
            self._report_unread(found)
        for path in found.files:
            if self.among is not None and path not in self.among and not path.startswith(_OWN):
                continue
            try:
                self._file(path)
            except FileNotFoundError:  # removed meanwhile
                continue
            except BusyError as error:
                self.done.waiting.append(Wait(path, str(error)))
            except MnemarkError as error:  # it cannot be written, is damaged, or the disk is full
                self.done.waiting.append(erasures.closed(self.root, path, str(error)))
            except OSError as error:
                self._unreadable(path, unread(error), is_file=not is_no_file(error))

    def _report_unread(self, found: listing.Walked) -> None:
        self.done.still.extend(f"{one.path}: {one.reason}; not searched" for one in found.odd)
        self.done.still.extend(
            f"{path}/: a separate workspace; forget it there as well" for path in found.inner
        )
        for folder in found.closed:
            self._unreadable(folder.path, folder.reason, is_folder=True)

    def _unreadable(self, path: str, reason: str, *, is_folder: bool = False, is_file: bool = True) -> None:
        """Report an unreadable file: the erasure waits for a file of the memory, but not for any other."""
        folders = path.split("/") if is_folder else path.split("/")[:-1]
        own = folders[:1] == [layout.PRIVATE]
        is_memory = is_folder or (is_file and (own or _is_memory(path.rpartition("/")[2])))
        left_out = not own and (any(map(layout.skipped_folder, folders)) or self.ignored(path))
        if is_memory and not left_out:
            self.done.waiting.append(erasures.closed(self.root, path, reason))
            return
        self.done.still.append(f"{layout.shown(path)}: {reason}; not searched")

    def _file(self, path: str) -> None:
        full = self.root / path
        name = path.rpartition("/")[2]
        if full.lstat().st_size > _MAX_BYTES:
            self.done.still.append(f"{layout.shown(path)}: too large to search")
        elif path.startswith(f"{layout.PRIVATE}/"):
            if self.step == "copies":
                self._private(path, full)
        elif name.lower().endswith(".jsonl"):
            self._log(path, full)
        elif format_of(name) is not None:
            self._document(path, full)
        elif _is_memory(name):
            self._text(path, full)
        elif self.step == "copies" and self.targets.words.notes.found_in(_read(full)):
            self.done.still.append(f"{layout.shown(path)}: not a file of mnemark; edit or delete it by hand")

    # --- bookkeeping

    def _private(self, path: str, full: Path) -> None:
        inner = path.split("/", 1)[1]
        if (
            inner in _EXEMPT
            or inner.startswith(("vectors/", "merging/", *self.mounts))
            or full.name.endswith(("-wal", "-shm", "-journal"))
        ):
            return
        database = is_database(full)
        endings = ("", "-wal", "-journal") if database else ("",)
        beside = [full.with_name(full.name + end) for end in endings]
        # A compiled identity may say it in a model's words: always delete it, it is compiled again.
        reworded = inner.startswith("compiled/")
        if not reworded and not any(self._is_private_copy(_read(one)) for one in beside if one.exists()):
            return
        if database:
            ids = [one.encode() for one in (*self.targets.turns, *self.targets.facts)]
            rows = 0 if self.dry_run else erase_rows(full, [*self.targets.words.notes.forms, *ids])
            self._report(path, f"{rows} records" if rows else "records")
            return
        size = full.lstat().st_size
        if not self.dry_run:
            self._delete(full)
        self._report(path, "derived file", bytes_=size)

    def _is_private_copy(self, data: bytes) -> bool:
        named = self._turns.in_any(data) or self._facts.in_any(data)
        return named or self.targets.words.notes.found_in(data)

    def _delete(self, full: Path) -> None:
        with self.truth.change():
            # Delete all files of a displaced version together.
            names = full.parent.glob(f"{full.stem}.*") if full.parent.name == "displaced" else [full]
            for name in list(names):
                platform.FS.unlink(name)
            platform.FS.sync_folder(full.parent)

    # --- logs

    def _log(self, path: str, full: Path) -> None:
        journal = layout.log_folder(path.rpartition("/")[0]) == "journal"
        data = _read(full)
        quoted = (not journal or self.step == "copies") and self.targets.words.notes.found_in(data)
        lines: list[int] = []
        gained = 0

        def change(line: jsonl.Line) -> bytes | None:
            nonlocal gained
            if journal:  # what was appended since it was read is looked at as well
                new = self._journal_line(line, quoted=quoted or line.offset >= len(data))
            else:
                new = self._session_line(line)
            if new is None or new == line.data:
                return None
            lines.append(line.number)
            gained += len(line.data) - len(new)
            return new

        if self.dry_run:
            for number, one in enumerate(data.split(b"\n"), 1):
                change(jsonl.Line(0, number, one, 0))
        elif journal or quoted or path in self.targets.turn_lines or self._turns.in_any(data):
            rewrite(self.truth, path, change)
        if lines:
            self._report(path, "journal" if journal else "turns", lines, gained)

    def _journal_line(self, line: jsonl.Line, *, quoted: bool) -> bytes | None:
        """Return what is left of a line of a journal; `quoted`: the words may be somewhere in the journal."""
        record = jsonl.decode(line.data)
        if record is None:
            return b"{}" if quoted and self.step == "copies" and self._quotes(line) else None
        kind, payload = record.get("kind"), record.get("payload")
        if kind == "import" and self.step == "copies":
            return self._import_line(record)
        if kind == "correct" and isinstance(payload, dict):
            return self._correction(record, payload, quoted=quoted and self._quotes(line))
        named = isinstance(payload, dict) and payload.get("fact") in self.targets.facts
        if kind in _VALUES and isinstance(payload, dict) and self.targets.facts:
            named = named or not self.targets.facts.isdisjoint(versions_in(str(record.get("id")), payload))
        own = kind in _FACT_KINDS and (record.get("id") in self.targets.facts or named)
        own = own or (kind == OBSERVE and record.get("id") in self.targets.turns)
        own = own or (kind == NOTES and self._turns.in_any(line.data))
        if own != (self.step == "items"):
            return None
        quotes = quoted and self._quotes(line) and self.targets.words.notes.said_in(record, 2)
        if not (own or quotes or self._holds_lines(payload)):
            return None
        kept = {key: record[key] for key in ("id", "time", "origin", "scope") if key in record}
        return jsonl.encode(kept | {"kind": "blank", "erased": self.targets.time})

    def _correction(
        self, record: Mapping[str, Json], payload: Mapping[str, Json], *, quoted: bool
    ) -> bytes | None:
        """Return the line of a correction without its words that are erased in this step."""

        def is_erased(identifier: Json, words: Mapping[str, Json]) -> bool:
            if self.step == "items":
                return identifier in self.targets.facts
            return quoted and self.targets.words.notes.said_in(dict(words), 1)

        return left_of_correction(record, payload, is_erased, self.targets.turn_lines, self.targets.time)

    def _import_line(self, record: Mapping[str, Json]) -> bytes | None:
        """Return the line of an import without the names of people and files that are erased.

        Their names are keys and names of files, no quotations, and the rest of the line says what else came.
        Where no turn of its chats is left, all of its names go.
        """
        payload = record.get("payload")
        if not isinstance(payload, dict):
            return None
        files, people = payload.get("files"), payload.get("people")
        gone = isinstance(files, dict) and bool(files) and self.targets.whole_logs.issuperset(files)

        def is_erased(name: str) -> bool:
            return gone or self.targets.words.notes.found_in(name.encode("utf-8", "replace"))

        kept = dict(payload)
        if isinstance(people, dict):
            kept["people"] = {name: count for name, count in people.items() if not is_erased(name)}
        if is_erased(str(payload.get("source", ""))):
            kept["source"] = ERASED
        return None if kept == payload else jsonl.encode({**record, "payload": kept})

    def _quotes(self, line: jsonl.Line) -> bool:
        return self.targets.words.notes.found_in(line.data)

    def _holds_lines(self, payload: object) -> bool:
        """Return whether an edit holds lines that are erased, or that cite erased turns only."""
        path = payload.get("path") if isinstance(payload, dict) else None
        if not isinstance(payload, dict) or not isinstance(path, str):
            return False
        hunks = [one for one in payload.get("hunks") or () if isinstance(one, dict)]
        keys = ("old", "new", "before", "after")
        lines = [
            line for one in hunks for key in keys for line in one.get(key) or () if isinstance(line, str)
        ]
        marks = {mark for run in self.targets.marks.get(path, ()) for mark in run}
        return any(weight(line) >= _MIN_WEIGHT and line_mark(line) in marks for line in lines) or bool(
            self._citing(path, lines)
        )

    def _session_line(self, line: jsonl.Line) -> bytes | None:
        new = without_quotes(line.data, self.targets.words.turns) if self.step == "copies" else None
        if self.step == "copies" and new is None:
            return None
        if self.step == "items" and _is_of_another(line.data, self.targets.turns):
            return None
        data = line.data.strip(b" \t\r").removeprefix(b"\xef\xbb\xbf")
        record = jsonl.decode(data)
        turn = decode_turn(record, line._replace(data=data)) if record is not None else None
        if turn is None or turn.id not in self.targets.turns:
            return new
        return tombstone(line.data, turn.id, self.targets.time) if self.step == "items" else None

    # --- documents

    def _document(self, path: str, full: Path) -> None:
        """Delete a document that goes as a whole; no part of one can be taken out, only told."""
        if path in self.targets.files:
            if self.step == "items":
                self._text(path, full)
            return
        if self.step != "copies" or not (self.targets.words.notes or path in self.targets.marks):
            return
        try:
            view = view_of(path, _read(full))
        except UnreadableDocumentError as error:
            self.done.still.append(f"{layout.shown(path)}: {error}; not searched")
            return
        if self.targets.words.notes.found_in(view.encode("utf-8", "replace")):
            self.done.still.append(in_document(path))

    # --- text

    def _text(self, path: str, full: Path) -> None:
        data = _read(full)
        own = self.step == "items"
        whole = path in self.targets.files if own else is_about_erased(self.targets, path, data)
        if whole:
            if not self.dry_run:
                done = editing.remove(self.truth, path, expected=data, timeout=LOCK_SECONDS)
                _raise_if(busy=done != "moved")
            self._report(path, "file", (), len(data))
            return
        lines = self._lines_to_go(path, data)
        runs = self.step == "copies" and self._runs.found_in(data.replace(b"\r\n", b"\n"))
        if not lines and not runs:
            return
        decoded = decode(data)
        if decoded is None or decoded[1].startswith("utf-1") or decoded[1].startswith("utf-3"):
            self.done.still.append(f"{layout.shown(path)}: not UTF-8 text; edit or delete it by hand")
            return
        numbered = enumerate(data.splitlines(keepends=True), 1)
        gone = sum(len(line) for number, line in numbered if number in lines)
        if not self.dry_run:
            result = editing.edit(
                self.truth, path, lambda now: self._rest(path, now), keep=0, timeout=LOCK_SECONDS
            )
            _raise_if(busy=result.status == "deferred")
        self._report(path, "note", sorted(lines), gone)

    def _rest(self, path: str, data: bytes) -> bytes:
        lines = self._lines_to_go(path, data)
        left = without_lines(data, lines)
        return without_runs(left, self._runs) if self.step == "copies" else left

    def _lines_to_go(self, path: str, data: bytes) -> set[int]:
        if not self._may_hold(path, data):
            return set()
        decoded = decode(data)
        raw = data.splitlines(keepends=True)
        lines = [line.decode(decoded[1] if decoded else "utf-8", "replace") for line in raw]
        own = self._own_lines(path, lines)
        if self.step == "items":
            return own
        found, words = set[int](), self.targets.words.notes
        if words.found_in(data):
            found = {number for number, line in enumerate(raw, 1) if words.found_in(_plain(line))}
        found |= self._citing(path, lines) | self._name_lists(path, lines)
        # Delete whole bullets, except the items themselves, which the second step erases.
        spans = {span for number, span in enumerate(blocks(lines), 1) if number in found} if found else ()
        whole = {n for first, last in spans for n in range(first, last + 1)}
        return (whole if path not in self.targets.files else set()) - own

    def _may_hold(self, path: str, data: bytes) -> bool:
        """Return whether a file may hold anything to erase: a fast test before it is parsed."""
        named = path in self.targets.marks or (self.targets.facts and b"id:" in data)
        cites = self.targets.turn_lines and b".jsonl" in data
        return bool(named or cites) or (self.step == "copies" and self.targets.words.notes.found_in(data))

    def _own_lines(self, path: str, lines: list[str]) -> set[int]:
        text, runs = "".join(lines), self.targets.marks.get(path, ())
        found = {number for match in matches(lines, runs) for number in match} if runs else set()
        if self.targets.facts and any(one in self.targets.facts for one in _ID.findall(text)):
            for parsed in parse(text):
                if parsed.id in self.targets.facts:
                    found.update(range(parsed.bullet.line, parsed.bullet.end_line + 1))
        return found

    def _citing(self, path: str, lines: list[str]) -> set[int]:
        place = layout.place(path)
        if place is None or place.role not in _CITING_ROLES or not self.targets.turn_lines:
            return set()
        cited = ((number, _log_refs(line, path)) for number, line in enumerate(lines, 1))
        return {number for number, refs in cited if refs and _are_erased(self.targets, refs)}

    def _name_lists(self, path: str, lines: list[str]) -> set[int]:
        """Return the name lists of an episode that cites an erased turn, where they hold a name from it."""
        place = layout.place(path)
        if place is None or place.kind != "episode" or not self.targets.words.names:
            return set()
        cited = {ref.partition("#")[0] for line in lines for ref in _log_refs(line, path)}
        if not cited & self.targets.turn_lines.keys():
            return set()
        lists = {number: line.casefold() for number, line in enumerate(lines, 1) if NAME_LIST.match(line)}
        names = [name.casefold() for name in self.targets.words.names]
        return {number for number, line in lists.items() if any(name in line for name in names)}

    def _report(self, path: str, what: str, lines: Collection[int] = (), bytes_: int = 0) -> None:
        self.done.places.append(
            ErasedPlace(path=layout.shown(path), what=what, lines=tuple(lines), bytes=max(bytes_, 0))
        )


def in_document(path: str) -> str:
    """Return what to do about a document that holds what is erased: it is no text that could be edited."""
    name = layout.shown(path)
    return f"{name}: still holds it, as no part of a document can be erased; delete the file itself"


def is_about_erased(targets: Targets, path: str, data: bytes) -> bool:
    """Return whether a page goes: the episode of an erased session, or the page of its attachment."""
    place = layout.place(path)
    if place is None or place.role not in {"episode", "attachment"} or not targets.turn_lines:
        return False
    text = data.decode("utf-8", "replace")
    if place.role == "attachment":
        refs = _log_refs(attachments.fields_in(text).get("source", ""), path)
        return bool(refs) and _are_erased(targets, refs)
    refs = _log_refs(text, path)
    return any(ref.partition("#")[0] in targets.whole_logs for ref in refs) and _are_erased(targets, refs)


def _are_erased(targets: Targets, refs: Iterable[str]) -> bool:
    return all(ref in targets.whole_logs or only_from(ref, targets.turn_lines) for ref in refs)


def _read(path: Path) -> bytes:
    return platform.read_file(path)[0]


def _raise_if(*, busy: bool) -> None:
    if busy:
        raise BusyError("another program is saving it")


def _is_memory(name: str) -> bool:
    """Return whether mnemark may edit a file of that name: a text, a log, or a temporary file of one."""
    return name.lower().endswith((*layout.TEXT_SUFFIXES, ".jsonl")) or name.startswith(jsonl.TEMPORARY)


class _Ids:
    """The ids of what is erased, to be looked for in bytes.

    Of many, those of our form are compared with all ids in the bytes; a host may have given others.
    """

    def __init__(self, ids: frozenset[str]) -> None:
        encoded = [one.encode("utf-8", "surrogatepass") for one in ids]
        many = len(ids) > _FEW_IDS
        self._ours = frozenset(one for one in encoded if many and _ANY_ID.fullmatch(one))
        self._others = tuple(one for one in encoded if one not in self._ours)

    def in_any(self, data: bytes) -> bool:
        """Return whether the data holds one of them."""
        ours = self._ours and not self._ours.isdisjoint(_ANY_ID.findall(data))
        return bool(ours) or any(one in data for one in self._others)


def _is_of_another(line: bytes, ids: frozenset[str]) -> bool:
    """Return whether a line as mnemark writes it is a turn with an id of ours, but none of these.

    It need not be decoded then. Another id in it, or a letter written as an escape, may be the turn's own.
    """
    own = _OWN_TURN.match(line)
    if own is None or line.count(b'"id"') != 1 or b"uuid" in line or b"\\u" in line:
        return False
    return own[1].decode("ascii") not in ids


def _plain(line: bytes) -> bytes:
    """Return a line without mnemark's own comment, whose ids and times are no text to search."""
    return drop_comments(line.decode("latin-1"), names_id).encode("latin-1")  # byte for byte


def _log_refs(text: str, path: str) -> list[str]:
    """Return the session logs, and refs to their lines, that a text names; links are relative to `path`."""
    if ".jsonl" not in text:
        return []
    found = []
    for name in _NAME.findall(text):
        head, dot, tail = name.rpartition(".jsonl")
        lines = _LINES.match(tail)
        if head.startswith("../"):
            head = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(head)))
        found += [f"{head}{dot}{lines[0] if lines else ''}"] if head else []
    return found


def holding(root: Path, needles: BytePatterns) -> list[str]:
    """Return the files, except those of git, that hold any of the patterns."""
    found = []
    for path in listing.walk(root).files:
        try:
            held = (root / path).lstat().st_size <= _MAX_BYTES and needles.found_in(_read(root / path))
        except OSError:  # deleted or unreadable: the sweep has reported it
            continue
        found += [path] if held else []
    return found
