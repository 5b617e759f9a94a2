"""Find what an export holds, without keeping its text: notes, talks, facts and days, and how they belong."""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import tzinfo
from typing import Final, NamedTuple

from mnemark.errors import IntegrityError
from mnemark.facts.keys import predicate_key, subject_key
from mnemark.facts.model import refs_in
from mnemark.facts.timeline import FactVersion, when
from mnemark.files import layout
from mnemark.files.attachments import fields_in
from mnemark.files.disk_errors import unread
from mnemark.files.names import split_ref
from mnemark.files.scan import scan
from mnemark.files.sessions import Placed, SessionLog
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.transfer.export.model import Contents, Day, Learned, Limits, Note, Subject, Talk
from mnemark.memory.transfer.export.turns import USERS, has_parts
from mnemark.summary.sentences import is_chinese
from mnemark.text.dates import local
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.frontmatter import FrontMatter, document_title, front_matter
from mnemark.text.quoting.first_line import first_line
from mnemark.types import Problem, Turn

Progress = Callable[[str, int, int], None]
"""Is called with what is done, how many are done, and of how many."""
_NOTES: Final = frozenset(
    {"identity", "longterm", "scratchpad", "daily", "episode", "attachment", "archive", "persona", "note"}
)
_NAMED_BY_TITLE: Final = frozenset({"episode", "attachment"})
_HEADING: Final = lazy_pattern(r"^# ", re.MULTILINE)
_FACTS_A_PAGE: Final = 1_000
_INNER: Final = "is a separate workspace and was skipped: export that one"


class _Found(NamedTuple):
    """The files of the scopes that are exported, by what they become."""

    notes: list[tuple[str, layout.Place]]
    logs: list[tuple[str, layout.Place]]
    facts: list[str]


class Collector:
    """Collects the contents of a workspace; `problems` gets what cannot be read."""

    def __init__(
        self,
        ws: OpenWorkspace,
        limits: Limits,
        scope: str | None,
        progress: Progress,
        problems: list[Problem],
    ) -> None:
        self._ws = ws
        self._limits = limits
        self._scope = scope
        self._progress = progress
        self._problems = problems
        self._zone: tzinfo = ws.fact_store.zone
        self._hidden = ws.visible.hidden.current()

    def contents(self) -> Contents:
        """Return the contents.

        Raises:
            IntegrityError: a journal cannot be read, so that nobody knows what was forgotten.
        """
        if unreadable := self._ws.visible.hidden.problems:
            raise IntegrityError(
                f"{unreadable[0]}: it says what was forgotten, so nothing is exported; make it readable "
                "(`mnemark doctor` names what is wrong) and export again"
            )
        found = self._files()
        notes = list(self._notes(found.notes))
        talks = list(self._talks(found.logs))
        by_source = {talk.source: talk for talk in talks}
        notes = [one for one in notes if not (one.unnamed and one.talk and one.talk[0] not in by_source)]
        about: defaultdict[str, list[Note]] = defaultdict(list)
        for note in notes:
            if note.talk and note.talk[0] in by_source:
                about[note.talk[0]].append(note)
                talk = by_source[note.talk[0]]
                if note.role == "episode" and not talk.named and not note.unnamed:
                    talk.title, talk.named = note.title, True
        for talk in talks:
            talk.chinese = is_chinese(talk.title)
        subjects = self._subjects(by_source, found.facts)
        told: defaultdict[str, list[tuple[Subject, Learned]]] = defaultdict(list)
        for subject in subjects:
            for learned in (one for group in subject.groups for one in group):
                if learned.talk is not None:
                    told[learned.talk.source].append((subject, learned))
        return Contents(
            notes=notes, talks=talks, subjects=subjects, days=_days(notes, talks, subjects), told=told,
            about=about,
        )  # fmt: skip

    def _files(self) -> _Found:
        seen = scan(self._ws.root)
        found = _Found([], [], [])
        inner = [Problem(name, _INNER) for name in seen.inner]
        self._problems += [one for one in (*seen.problems, *inner) if self._is_wanted(one.path)]
        for entry in seen.entries:
            place = layout.place(entry.path)
            if place is None or not self._is_wanted(entry.path):
                continue
            if place.role == "session":
                found.logs.append((entry.path, place))
            elif place.role == "fact":
                found.facts.append(entry.path)
            elif place.role in _NOTES:
                found.notes.append((entry.path, place))
        return found

    def _is_wanted(self, path: str) -> bool:
        return self._scope is None or layout.scope_of(path) == self._scope

    def _notes(self, files: list[tuple[str, layout.Place]]) -> Iterator[Note]:
        for done, (path, place) in enumerate(files):
            self._progress("Reading notes", done, len(files))
            document = self._ws.visible.read(path)
            if isinstance(document, Problem):
                self._problems.append(document)
                continue
            head = front_matter(document.text) if path.lower().endswith(".md") else FrontMatter()
            day = place.dated or str(head.fields.get("date") or head.fields.get("created") or "")[:10]
            moment = when(day, self._zone)
            day = f"{moment:%Y-%m-%d}" if moment and place.role != "archive" else ""
            unnamed = (
                place.role in _NAMED_BY_TITLE
                and bool(self._hidden.mark(path))
                and not _HEADING.search(document.text)
            )
            yield Note(
                source=path, scope=place.scope, role=place.role, day=day,
                title=day if unnamed else document_title(document.text, head, path), unnamed=unnamed,
                talk=_source_in(place.role, head, document.text),
            )  # fmt: skip

    def _talks(self, files: list[tuple[str, layout.Place]]) -> Iterator[Talk]:
        for done, (path, place) in enumerate(files):
            self._progress("Reading conversations", done, len(files))
            talk = Talk(
                source=path, scope=place.scope, session="", lines=array("I"), starts=[], days={}, roles=[],
                paths=[],
            )  # fmt: skip
            try:
                log = SessionLog.at(self._ws.root, path)
                talk.session = log.id
                self._read(talk, log.turns(problems=self._problems))
            except OSError as error:
                self._problems.append(Problem(path, unread(error)))
            if talk.lines:
                talk.title = self._ws.visible.redacted(talk.title) or talk.session
                yield talk

    def _read(self, talk: Talk, turns: Iterable[Placed]) -> None:
        """Take the outline of the turns that are shown."""
        characters, named, spoken = 0, "", ""
        try:
            for placed in turns:
                turn = placed.turn
                if turn.id in self._hidden.turns or not has_parts(turn):
                    continue
                size = len(turn.content)
                on_page = len(talk.lines) - talk.starts[-1] if talk.starts else 0
                if (
                    not on_page
                    or on_page >= self._limits.turns
                    or characters + size > self._limits.characters
                ):
                    talk.starts.append(len(talk.lines))
                    characters = 0
                characters += size
                talk.lines.append(placed.line)
                self._note_time(talk, turn, placed.line)
                talk.roles += [] if turn.role in talk.roles else [turn.role]
                named = named or _text(turn.meta.get("conversation"))
                talk.agent = talk.agent or _text(turn.meta.get("agent"))
                if not spoken and turn.role in USERS:
                    spoken = first_line(turn.content, self._ws.visible.rules)
        finally:  # of a log that is not readable to its end, what was read is exported
            talk.named = bool(named)
            talk.first = spoken
            talk.title = first_line(named, self._ws.visible.rules) if named else spoken

    def _note_time(self, talk: Talk, turn: Turn, line: int) -> None:
        if turn.meta.get("undated"):
            return
        moment = local(turn.time, self._zone)
        talk.begin = min(talk.begin or moment, moment)
        talk.end = max(talk.end or moment, moment)
        talk.days.setdefault(moment.strftime("%Y-%m-%d"), line)

    def _subjects(self, talks: dict[str, Talk], files: list[str]) -> list[Subject]:
        """Return the pages of all subjects, and which of them takes the other text of each fact file."""
        store = self._ws.fact_store
        pages: list[Subject] = []
        homes: dict[str, Subject] = {}
        with store.lock:
            store.log.refresh()
            for scope in self._ws.scopes() if self._scope is None else [self._scope]:
                by_subject: defaultdict[str, list[FactVersion]] = defaultdict(list)
                for version in store.held(scope):
                    if version.fact.id not in self._hidden.facts and not version.fact.review:
                        by_subject[subject_key(version.fact.subject)].append(version)
                for _, versions in sorted(by_subject.items()):
                    made = list(self._pages_of(scope, versions, talks))
                    pages += made
                    for version in versions:
                        homes.setdefault(version.fact.path, made[0])
        for path in files:
            if path in homes:
                homes[path].files.append(path)
        return pages

    def _pages_of(self, scope: str, versions: list[FactVersion], talks: dict[str, Talk]) -> Iterator[Subject]:
        groups: defaultdict[str, list[Learned]] = defaultdict(list)
        for version in versions:
            groups[predicate_key(version.fact.predicate)].append(self._learned(version, talks))
        page = Subject(scope=scope, name=versions[0].fact.subject, groups=[], files=[])
        count = 0
        for _, group in sorted(groups.items(), key=lambda pair: (not pair[0], pair[0])):
            group.sort(key=lambda one: (one.version.fact.since, one.version.fact.id), reverse=True)
            group.sort(key=lambda one: one.version.end is not None)
            for first in range(0, len(group), _FACTS_A_PAGE):
                part = group[first : first + _FACTS_A_PAGE]
                if count and count + len(part) > _FACTS_A_PAGE:
                    yield page
                    page = Subject(scope=scope, name=page.name, groups=[], files=[], number=page.number + 1)
                    count = 0
                page.groups.append(part)
                count += len(part)
        yield page

    def _learned(self, version: FactVersion, talks: dict[str, Talk]) -> Learned:
        fact = version.fact
        moment = when(fact.recorded, self._zone) or when(fact.since, self._zone)
        day = local(moment, self._zone).strftime("%Y-%m-%d") if moment else ""
        for ref in refs_in(fact.source):
            path, first, last = split_ref(ref)
            talk = talks.get(path) or talks.get(layout.in_scope(fact.scope, path))
            if talk is not None:
                line = talk.nearest(first, last)
                return Learned(version=version, day=talk.day_of(line) or day, talk=talk, line=line)
        return Learned(version=version, day=day)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _source_in(role: layout.Role, head: FrontMatter, text: str) -> tuple[str, int] | None:
    """Return the log and line that an episode or attachment comes from."""
    named: object = None
    if role == "episode":
        named = head.fields.get("source")
    elif role == "attachment":
        named = fields_in(text).get("source")
    path, first, _ = split_ref(named) if isinstance(named, str) else ("", 1, None)
    return (path, first) if path.endswith(".jsonl") else None


def _days(notes: list[Note], talks: list[Talk], subjects: list[Subject]) -> dict[tuple[str, str], Day]:
    """Return all days on which something was said, learned or noted, by scope and date."""
    days: dict[tuple[str, str], Day] = {}

    def of(scope: str, day: str) -> Day:
        return days.setdefault((scope, day), Day(scope=scope, day=day))

    for note in notes:
        if note.day and note.source == layout.in_scope(note.scope, f"memory/{note.day}.md"):
            of(note.scope, note.day).note = note
        elif note.day:
            of(note.scope, note.day).notes.append(note)
    for talk in talks:
        for day in talk.days:
            of(talk.scope, day).talks.append(talk)
    for subject in subjects:
        for learned in (one for group in subject.groups for one in group):
            if learned.day:
                of(subject.scope, learned.day).facts.append((subject, learned))
    return {key: days[key] for key in sorted(days)}
