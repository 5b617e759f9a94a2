"""Select the turns, lines of notes and facts to forget."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from typing import Final, Literal, NamedTuple

import msgspec

from mnemark.errors import NotFoundError, UsageError
from mnemark.facts.files import facts_in
from mnemark.facts.model import Fact, refs_in
from mnemark.facts.parse import parse
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import when
from mnemark.files import jsonl, layout, platform
from mnemark.files.copies import original_of
from mnemark.files.disk_errors import HINT, unread
from mnemark.files.documents import converting
from mnemark.files.ids import is_id, time_of
from mnemark.files.journal import Change
from mnemark.files.names import split_ref
from mnemark.files.needles import forms, spellings
from mnemark.files.reading import read
from mnemark.files.scan import FileEntry, Scan, scan
from mnemark.files.sessions import Placed, SessionLog, is_journal, observations_in
from mnemark.files.tombstones import Run, matches, run_of
from mnemark.files.turns import texts_in
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.retrieval.read import with_lines
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import lines as lines_of
from mnemark.text.markdown import drop_comments, names_id
from mnemark.types import Json, Problem, Turn

_BULLET: Final = lazy_pattern(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
Lines = tuple[int, int]
"""First and last line number, counted from 1."""
PART: Final = "\n\f\n"


def only_from(source: str, lines: Mapping[str, set[int]]) -> bool:
    """Return whether all refs in the `source` of a fact name lines of turns in `lines` (by path)."""
    refs = [split_ref(ref) for ref in refs_in(source)]
    return bool(refs) and all(
        last is not None and _are_known(first, last, lines.get(path, set())) for path, first, last in refs
    )


def _are_known(first: int, last: int, known: set[int]) -> bool:
    # Anyone can write a ref with a huge range: bound the loop by the known lines, not by the range.
    return 0 <= last - first < len(known) and all(number in known for number in range(first, last + 1))


def blocks(lines: Sequence[str]) -> list[Lines]:
    """Return for each line the first and last line (1-based) of its bullet, or the line itself."""
    found: list[Lines] = []
    first, last = 1, 0
    for number, line in enumerate(lines, 1):
        bullet = _BULLET.match(line)
        if bullet or line[:1] not in {" ", "\t"}:
            first = number
            last = _bullet_end(lines, number, len(bullet["indent"].expandtabs(4))) if bullet else 0
        found.append((first, max(last, number)) if last else (number, number))
    return found


def _bullet_end(lines: Sequence[str], first: int, depth: int) -> int:
    last = first
    while last < len(lines) and lines[last].strip():
        width = len(lines[last]) - len(lines[last].lstrip())
        if _BULLET.match(lines[last]) or width <= depth:
            break
        last += 1
    return last


def parts(lines: Sequence[str]) -> list[Lines]:
    """Return for each line the first and last line of its bullet, or of the part under its heading."""
    found = blocks(lines)
    heads = [number for number, line in enumerate(lines, 1) if line.startswith("## ")]
    for number, line in enumerate(lines, 1):
        if not _BULLET.match(line):
            after = bisect_right(heads, number)
            start = heads[after - 1] if after else number
            found[number - 1] = start, heads[after] - 1 if after < len(heads) else len(lines)
    return found


def turn_text(turn: Turn) -> str:
    """Return all texts of a turn: content, then calls, results, attachments and meta."""
    beside = [one for one in (turn.tool_calls, turn.tool_results, turn.attachments, turn.meta) if one]
    return "\n".join([turn.content, *texts_in(beside)]) if beside else turn.content


NOTED: Final = lazy_pattern(r"<!-- (?:observed|id): ([0-9A-Z]{26})\b")
"""The comment that names the observation or fact of a line."""
_FACT_ROLES: Final = frozenset({"fact", "review"})

Kind = Literal["turn", "note", "fact", "file"]


class ForgetItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An item to forget. Lines are 1-based and inclusive; 0 where it is in no file."""

    kind: Kind
    path: str
    start_line: int = 0
    end_line: int = 0
    id: str = ""
    """Id of the turn or fact; for a fact without an id comment it is derived from its text."""
    text: str = ""
    own: bool = True
    """Whether the id is written in the file."""
    time: datetime | None = None
    """When a turn was said."""

    @property
    def lines(self) -> range:
        """The numbers of its lines; 0 where it is in no file."""
        return range(self.start_line, self.end_line + 1)

    @property
    def ref(self) -> str:
        """`path#L12` or `path#L12-L14`; the path alone where it has no line."""
        if not self.start_line:
            return self.path
        last = f"-L{self.end_line}" if self.end_line != self.start_line else ""
        return f"{self.path}#L{self.start_line}{last}"


_NO_ALPHABET: Final = r"\u2e80-\ud7af\uf900-\ufaff\U00020000-\U000323af"
_ACCENTS: Final = r"\u0300-\u036f"
"""Accents that stand apart from their letter, which is another one without them."""
_LETTERS: Final = lazy_pattern(rf"[^\W\d_{_NO_ALPHABET}]+(?: [^\W\d_{_NO_ALPHABET}]+)*")
"""Words of an alphabet; what has digits or marks may be a key or a number, of which a part counts, too."""


def as_words(query: str) -> re.Pattern[str] | None:
    """Return a pattern of a query as whole words: "npm" is not in "pnpm"; None if it has no words alone.

    >>> [bool(as_words("npm").search(text)) for text in ("pnpm", "用npm装", "npm's", "npms")]
    [False, True, True, False]
    """
    written = spellings(query.strip())
    if not any(map(_LETTERS.fullmatch, written)):
        return None
    inside = rf"[^\W_{_NO_ALPHABET}]"
    words = "|".join(map(re.escape, written))
    return re.compile(rf"(?:(?<!{inside})|(?<=\\[bfnrt]))(?:{words})(?!{inside}|[{_ACCENTS}])")


def _matcher(query: str, *, by_words: bool) -> Callable[[str], bool]:
    """Return whether a text has a query: as whole words, or in any form that it may have in a file."""
    words = as_words(query) if by_words else None
    if words is not None:
        return lambda text: words.search(text) is not None
    written = [form.decode("utf-8", "replace") for form in forms(query)]
    return lambda text: any(form in text for form in written)


class Criteria(NamedTuple):
    """Selection criteria; an item has to match all that are given."""

    ref: str = ""
    id: str = ""
    query: str = ""
    session: str = ""
    origin: str = ""
    since: datetime | None = None
    scope: str | None = None
    """None for the whole workspace."""


class Selector:
    """Find the items in the files of a workspace that match the criteria."""

    def __init__(self, ws: OpenWorkspace, wanted: Criteria, *, by_words: bool = False) -> None:
        """`by_words`: take the query as whole words, and of facts those that have it, where any has."""
        self.root = ws.root
        self._visible = ws.visible
        self.facts: FactStore = ws.fact_store
        self.wanted = wanted
        self.zone: tzinfo = self.facts.zone
        self._ignore = ws.config.ignore
        self.unread: dict[str, str] = {}
        self._by_words = by_words
        self._has_query = _matcher(wanted.query, by_words=by_words)
        self._names_query = _matcher(wanted.query.casefold(), by_words=by_words)
        """For a subject, as a file's name has it in small letters."""
        self.kept: list[ForgetItem] = []
        """Facts learned from a selected turn that say something else than the query; by words alone."""

    @cached_property
    def scan(self) -> Scan:
        """The files of the workspace."""
        return scan(self.root, ignore=self._ignore)

    @cached_property
    def _placed(self) -> list[tuple[FileEntry, layout.Place]]:
        """The files of the memory, with what their paths say of them; a copy is placed as its original.

        Copies come first, so that of a turn in both the one in the original is taken.
        """
        pairs = [(entry, original_of(entry.path)) for entry in self.scan.entries]
        pairs.sort(key=lambda pair: not pair[1])
        placed = ((entry, layout.place(original or entry.path)) for entry, original in pairs)
        return [(entry, place) for entry, place in placed if place is not None]

    def find(self) -> list[ForgetItem]:
        """Return all matching items without duplicates, sorted by path and line; those in no file last.

        Raises:
            NotFoundError: there is no such ref or id.
            UsageError: the ref names no file of the memory.
        """
        with converting():
            return self._find()

    def _find(self) -> list[ForgetItem]:
        wanted = self.wanted
        if wanted.ref and is_id(wanted.ref) and not (self.root / wanted.ref).exists():
            wanted = self.wanted = wanted._replace(ref="", id=wanted.ref)
        if wanted.ref:
            found = self._of_ref(wanted.ref)
        elif wanted.id:
            found = self._of_id(wanted.id)
        else:
            found = [*self._turns(), *self._facts(), *self._notes()]
        found += self._derived_facts([one for one in found if one.kind == "turn"])
        found += self._words_against(frozenset(one.id for one in found if one.kind == "fact"))
        found += self._notes_about(frozenset(one.id for one in found if is_journal(one.path)))
        unique = {(one.kind, one.id or one.ref): one for one in found}
        return sorted(unique.values(), key=lambda one: (not one.start_line, one.path, one.start_line, one.id))

    def _words_against(self, facts: frozenset[str]) -> list[ForgetItem]:
        """Return what is proposed to hold otherwise than these facts."""
        against = self.facts.log.tables.otherwise
        ids = {one for fact in facts for one in against.get(fact, ())} - facts
        return [item for item, fact in self._all_facts() if fact.id in ids] if ids else []

    # --- by ref and id

    def _of_ref(self, ref: str) -> list[ForgetItem]:
        if ref.startswith(layout.MOUNT) and not (self.root / ref.partition("/")[0]).exists():
            name = layout.shown(ref.partition("/")[0].removeprefix(layout.MOUNT))
            raise UsageError(
                f"{layout.shown(ref)} is another memory's, which nothing here changes: forget it there, or "
                f"search it no longer with `mnemark mount --remove {name}`"
            )
        path, first, last = split_ref(with_lines(self._visible, ref))
        full = layout.safe_path(self.root, path)
        try:
            platform.opened(full).close()
        except OSError as error:
            hint = HINT if isinstance(error, FileNotFoundError) else ""
            raise NotFoundError(f"{layout.shown(path)} {unread(error)}{hint}") from error
        place = layout.place(path)
        if place is None or (place.role == "journal" and last is None):
            raise UsageError(
                f"{layout.shown(path)} is not part of the memory; give the ref or id of a message, note or "
                "fact"
            )
        if path.lower().endswith(".jsonl"):
            found = [one for one in self.log(path) if last is None or first <= one.start_line <= last]
        elif place.role in _FACT_ROLES and last is not None:
            bullets = [item for item, _ in self._bullets(path)]
            found = [one for one in bullets if one.start_line <= last and one.end_line >= first]
        else:
            found = self._lines_of(path, place, first, last)
        if not found:
            raise NotFoundError(f"nothing to forget at {layout.shown(ref)}")
        return found

    def _lines_of(self, path: str, place: layout.Place, first: int, last: int | None) -> list[ForgetItem]:
        lines = self._lines(path)
        if last is None:
            text = "".join(lines)
            bullets = [item for item, _ in self._bullets(path)] if _holds_facts(place) else []
            return [
                *bullets,
                ForgetItem(kind="file", path=path, start_line=1, end_line=len(lines), text=text),
            ]
        if not 1 <= first <= last <= len(lines):
            raise NotFoundError(f"{layout.shown(path)} ends with line {len(lines)}; there is no line {last}")
        spans = blocks(lines)
        start, end = spans[first - 1][0], spans[last - 1][1]
        return [_note(path, lines, start, end)]

    def _of_id(self, identifier: str) -> list[ForgetItem]:
        found = [one for one, _ in self._all_facts() if one.id == identifier]
        if not found:
            for path in [*self._logs(), *self._readable(self.scan.journals)]:
                if not is_id(identifier) or jsonl.holds(self.root / path, identifier.encode()):
                    found += [one for one in self.log(path) if one.id == identifier]
        if not found:
            raise NotFoundError(f"there is no message or fact {identifier!r}; `mnemark log` shows the ids")
        return found

    # --- by words, session, origin, time

    def _logs(self) -> list[str]:
        sessions = [
            entry
            for entry, place in self._placed
            if place.role == "session" and self.wanted.scope in {None, place.scope}
        ]
        return self._readable([entry for entry in sessions if entry.path.lower().endswith(".jsonl")])

    def _readable(self, entries: Sequence[FileEntry]) -> list[str]:
        """Return the paths of logs; record in `unread` what cannot be opened: no search reads it either."""
        readable = []
        for entry in entries:
            try:
                platform.opened(self.root / entry.path).close()
            except OSError as error:
                self.unread[layout.shown(entry.path)] = unread(error)
            else:
                readable.append(entry.path)
        return readable

    def log(self, path: str) -> list[ForgetItem]:
        """Return the turns of a log, or the observations in a journal."""
        journal = is_journal(path)
        read = observations_in(self.root / path) if journal else SessionLog.at(self.root, path).turns()
        return [_turn(path, placed) for placed in read]

    def _turns(self) -> Iterator[ForgetItem]:
        """Select turns of sessions, and observations."""
        wanted = self.wanted
        for path in self._logs():
            log = SessionLog.at(self.root, path)
            if wanted.session in {"", log.id}:
                yield from (_turn(path, placed) for placed in log.turns() if self._matches(placed))
        for path in self._readable(self.scan.journals):
            for placed in observations_in(self.root / path):
                meta = placed.turn.meta
                same = wanted.scope is None or str(meta.get("scope", "")) == wanted.scope
                if same and wanted.session in {"", meta.get("session")} and self._matches(placed):
                    yield _turn(path, placed)

    def _matches(self, placed: Placed) -> bool:
        wanted, turn = self.wanted, placed.turn
        if wanted.origin and turn.origin != wanted.origin:
            return False
        if wanted.since is not None and _in_utc(turn.time, self.zone) < _in_utc(wanted.since, self.zone):
            return False
        return not wanted.query or self._has_query(turn_text(turn))

    def _facts(self) -> Iterator[ForgetItem]:
        if not self.wanted.session:  # facts of a session are derived from its turns
            yield from (item for item, fact in self._all_facts() if self._fact_matches(item, fact))

    def _fact_matches(self, item: ForgetItem, fact: Fact) -> bool:
        wanted = self.wanted
        if wanted.scope not in {None, fact.scope} or wanted.origin not in {"", fact.origin}:
            return False
        words = f"{drop_comments(item.text, names_id)}\n{fact.predicate}\n{fact.value}"
        if wanted.query and not (self._has_query(words) or self._names_query(fact.subject.casefold())):
            return False
        return wanted.since is None or self._is_since(fact, wanted.since)

    def _is_since(self, fact: Fact, since: datetime) -> bool:
        start = _in_utc(since, self.zone)
        if is_id(fact.id) and self.facts.log.of(fact.id).record is not None:
            return time_of(fact.id) >= start.replace(microsecond=0)
        learned = when(fact.recorded or fact.since, self.zone)
        dated = fact.since or self.facts.log.of(fact.id).proposed
        return bool(dated) and learned is not None and learned >= start

    def _notes(self) -> Iterator[ForgetItem]:
        """Select lines of notes by the query alone: their author and time are unknown."""
        wanted = self.wanted
        if not wanted.query or wanted.session or wanted.origin or wanted.since is not None:
            return
        for entry, place in self._placed:
            if place.role not in {"session", "journal", "copy"} and wanted.scope in {None, place.scope}:
                yield from self._note_lines(entry.path, place)

    def _note_lines(self, path: str, place: layout.Place) -> Iterator[ForgetItem]:
        lines = self._lines(path)
        taken = {n for item, _ in self._bullets(path) for n in item.lines} if _holds_facts(place) else set()
        archived = place.kind == "observation"  # one heading for each observation
        spans = parts(lines) if archived else blocks(lines)
        for number, line in enumerate(lines, 1):
            if number not in taken and self._has_query(line):
                start, end = spans[number - 1]
                taken.update(range(start, end + 1))
                yield _note(path, lines, start, end)

    # --- facts

    def _derived_facts(self, turns: Iterable[ForgetItem]) -> list[ForgetItem]:
        """Return the facts all of whose sources are among these turns."""
        lines: defaultdict[str, set[int]] = defaultdict(set)
        for turn in turns:
            lines[turn.path].add(turn.start_line)
        facts = self._all_facts() if lines else []
        derived = [(item, fact) for item, fact in facts if fact.source and only_from(fact.source, lines)]
        if not (self._by_words and self.wanted.query):
            return [item for item, _ in derived]
        meant = {item.id for item, fact in derived if self._fact_matches(item, fact)}
        named = {fact.source for item, fact in derived if item.id in meant}
        self.kept = [item for item, fact in derived if fact.source in named and item.id not in meant]
        kept = {item.id for item in self.kept}
        return [item for item, _ in derived if item.id not in kept]

    def _notes_about(self, ids: frozenset[str]) -> Iterator[ForgetItem]:
        """Yield the lines of daily notes and the sections of the archive that name these observations."""
        for entry, place in self._placed if ids else ():
            if place.role not in {"daily", "archive"}:
                continue
            lines = self._lines(entry.path)
            for (start, end), line in zip(parts(lines), lines, strict=True):
                match = NOTED.search(line)
                if match is not None and match[1] in ids:
                    yield _note(entry.path, lines, start, end)

    def facts_of(self, ids: frozenset[str]) -> list[ForgetItem]:
        """Return facts by id, hidden ones included: from the files, else from the journal."""
        found = [item for item, _ in self._all_facts() if item.id in ids]
        left = ids - {item.id for item in found}
        with self.facts.lock:
            log = self.facts.log
            wrong = log.wrong_facts()
            known = (log.tables.past.get(one) or log.of(one).fact or wrong.get(one) for one in left)
            apart = [fact for fact in known if fact is not None]
        return [*found, *map(_journal_item, apart)]

    def marked(self, path: str, runs: Sequence[Run], *, whole: bool) -> list[ForgetItem]:
        """Return the lines of a note that match these runs of hashes; with `whole`, the file as one item."""
        lines = self._lines(path)
        if whole:
            return [
                ForgetItem(kind="file", path=path, start_line=1, end_line=len(lines), text="".join(lines))
            ]
        return [_note(path, lines, match[0], match[-1]) for match in matches(lines, runs)]

    def _all_facts(self) -> list[tuple[ForgetItem, Fact]]:
        """Return the facts and proposals in the files, then those that are only in the journal."""
        found = []
        for entry, place in self._placed:
            if place.kind == "fact" or place.role == "review":
                found += self._bullets(entry.path)
        with self.facts.lock:
            self.facts.log.refresh()
            log = self.facts.log
            there = {item.id for item, _ in found}
            waiting = [fact for one in log.pending() if (fact := log.of(one).record) is not None]
            apart = [
                fact
                for fact in (*waiting, *log.open_proposals(), *log.tables.past.values())
                if fact.id not in there and not log.of(fact.id).hidden
            ]
            apart += [
                fact
                for fact in log.wrong_facts().values()
                if fact.id not in there and not log.is_gone(fact.id)
            ]
        return found + [(_journal_item(fact), fact) for fact in apart]

    def facts_in(self, path: str) -> list[tuple[ForgetItem, Fact]]:
        """Return the facts that stand in a file, also in one that is a copy."""
        return self._bullets(path)

    def _bullets(self, path: str) -> list[tuple[ForgetItem, Fact]]:
        text = self._text(path)
        lines = lines_of(text) or [""]
        found = []
        for parsed, fact in zip(parse(text), facts_in(text, path, ""), strict=True):
            first, last = parsed.bullet.line, parsed.bullet.end_line
            item = ForgetItem(
                kind="fact", path=path, start_line=first, end_line=last, id=fact.id,
                text="".join(lines[first - 1 : last]), own=bool(parsed.id),
            )  # fmt: skip
            found.append((item, fact))
        return found

    def _text(self, path: str) -> str:
        found = read(self.root, path)
        if isinstance(found, Problem):
            self.unread[found.path] = found.reason
            return ""
        return found.text

    def _lines(self, path: str) -> list[str]:
        return lines_of(self._text(path)) or [""]


def _holds_facts(place: layout.Place) -> bool:
    return place.kind == "fact" or place.role in _FACT_ROLES


def _ends_of(facts: FactStore, items: Iterable[ForgetItem]) -> dict[str, str]:
    """Return by id the ends of facts whose successors are among the items, so that they stay ended."""
    gone = {item.id for item in items if item.kind == "fact"}
    ends: dict[str, str] = {}
    scopes = {layout.scope_of(item.path) for item in items if item.kind == "fact"}
    for scope in scopes:
        held = facts.held(scope)
        starts = {(one.fact.key, one.begin): one for one in held if one.fact.id in gone and one.begin}
        for one in held:
            if one.fact.id not in gone and one.end and (one.fact.key, one.end) in starts and one.fact.until:
                ends[one.fact.id] = one.fact.until
    return ends


def append_forget(ws: OpenWorkspace, items: Sequence[ForgetItem], more: Mapping[str, Json]) -> Change:
    """Append to the journal that items are forgotten: by ids and hashes, without their text."""
    facts = ws.fact_store
    with facts.lock, ws.truth.change():
        facts.log.refresh()
        said = {**_payload_of(items), "ends": _ends_of(facts, items), **more}
        payload: dict[str, Json] = {name: value for name, value in said.items() if value}
        return facts.log.append(Change(kind="forget", payload=payload, origin="owner"))[0]


def _payload_of(items: Iterable[ForgetItem]) -> dict[str, Json]:
    turns: defaultdict[str, list[str]] = defaultdict(list)
    lines: defaultdict[str, list[list[str]]] = defaultdict(list)
    ids: list[str] = []
    for item in items:
        if item.kind == "turn":
            turns[item.path].append(item.id)
        elif item.kind == "fact":
            ids.append(item.id)
        else:
            run = list(run_of(item.text.splitlines()))
            for path in filter(None, (item.path, original_of(item.path))):  # a copy is joined one day
                lines[path].append(run)
    return {"ids": ids, "turns": dict(turns), "lines": dict(lines)}


def _journal_item(fact: Fact) -> ForgetItem:
    return ForgetItem(kind="fact", path=fact.path, id=fact.id, text=str(fact))


def _note(path: str, lines: list[str], start: int, end: int) -> ForgetItem:
    text = "".join(lines[start - 1 : end])
    return ForgetItem(kind="note", path=path, start_line=start, end_line=end, text=text)


def _turn(path: str, placed: Placed) -> ForgetItem:
    turn, line = placed.turn, placed.line
    return ForgetItem(
        kind="turn",
        path=path,
        start_line=line,
        end_line=line,
        id=turn.id,
        text=turn_text(turn),
        time=turn.time,
    )


def _in_utc(moment: datetime, zone: tzinfo) -> datetime:
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
