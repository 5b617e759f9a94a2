"""Write the pages of an export in Markdown: notes, talks, facts, days, months, and a page of contents."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import islice
from typing import Final, NamedTuple

from mnemark.facts.parse import parse
from mnemark.files import layout
from mnemark.files.sessions import Placed, SessionLog
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.transfer.export.dialect import Dialect
from mnemark.memory.transfer.export.links import Link, label, quoted, rewrite, without_marks
from mnemark.memory.transfer.export.model import (
    Contents,
    Day,
    Learned,
    Note,
    Place,
    Subject,
    Talk,
    turn_anchor,
)
from mnemark.memory.transfer.export.note_links import NoteLinks, only_web
from mnemark.memory.transfer.export.targets import Targets
from mnemark.memory.transfer.export.turns import USERS, has_parts, parts_of
from mnemark.memory.transfer.export.words import span, speaker, words_for
from mnemark.summary.sentences import is_chinese
from mnemark.text.dates import local
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import lines
from mnemark.text.markdown.frontmatter import front_matter
from mnemark.types import Json, Problem

_COMMENT: Final = "<!-- id: "
_BULLET: Final = lazy_pattern(r"[ \t]*[-*+](?:[ \t]|$)")
_CORE: Final = frozenset({"identity", "longterm", "scratchpad"})


class _About(NamedTuple):
    """What came of the turns of a talk, by their lines."""

    facts: defaultdict[int, list[tuple[Subject, Learned]]]
    files: defaultdict[int, list[Note]]


class Pages:
    """Makes the text of pages in one dialect."""

    def __init__(self, ws: OpenWorkspace, contents: Contents, targets: Targets, dialect: Dialect) -> None:
        self._ws = ws
        self._contents = contents
        self._targets = targets
        self._links = NoteLinks(targets, dialect)
        self._dialect = dialect
        self._zone: tzinfo = ws.fact_store.zone
        self._hidden = ws.visible.hidden.current()
        self._of_day = {day.path: day for day in contents.days.values()}

    # Notes

    def note(self, note: Note) -> str | Problem:
        """Return a note as it is, with what belongs to it below."""
        document = self._ws.visible.read(note.source)
        if isinstance(document, Problem):
            return document
        text = without_marks(document.text)
        if note.source.lower().endswith((".md", ".markdown", ".mdc")):
            text = self._rewritten(text, note.source, note.path)
        day = self._of_day.get(note.path)
        below = self._below_day(day) if day is not None else self._below(note)
        return text if not below else f"{text.rstrip()}\n\n{below}"

    def _rewritten(self, text: str, source: str, at: str) -> str:
        """Return the text of a file with links that work on the page `at`."""
        place = layout.place(source)
        if place is not None and place.kind == "fact":
            text = "".join(map(_source_only, lines(text)))
        head = front_matter(text)
        front, body = text[: head.end], text[head.end :]
        body = rewrite(body, lambda link: self._links.in_note(link, source, at))
        return self._front(front, source, at) + body

    def _front(self, front: str, source: str, at: str) -> str:
        """Return the front matter of an episode with its refs as links, of others as it is."""
        place = layout.place(source)
        if not front or place is None or place.role != "episode":
            return front
        rows = []
        for row in front.splitlines():
            name, colon, value = row.partition(": ")
            if not colon or name not in {"source", "continues"}:
                rows.append(row)
            elif found := self._targets.of_path(value, source):
                named = self._dialect.link(at, found, name) if self._dialect.is_obsidian else found.path
                rows.append(f'{name}: "{named}"')
        if not any(row.startswith("tags:") for row in rows):
            rows.insert(-1, "tags: [mnemark/episode]")
        return "\n".join(rows) + "\n"

    def _below(self, note: Note) -> str:
        """Return the lines of an episode or attachment that lead to its talk, day, file and facts."""
        if note.role not in {"episode", "attachment"}:
            return ""
        words = words_for(chinese=is_chinese(note.title))
        rows = []
        talk = self._targets.talk(note.talk[0]) if note.talk else None
        if talk is not None and note.talk is not None:
            to = talk.place(talk.nearest(note.talk[1], talk.lines[-1]))
            rows.append(f"{words.talk}: {self._link(note.path, to, talk.title)}")
        if day := self._contents.days.get((note.scope, note.day)):
            rows.append(f"{words.day}: {self._link(note.path, Place(day.path), day.day)}")
        told = self._contents.told.get(talk.source, []) if talk is not None and note.role == "episode" else []
        for subject, learned in told:
            if not note.day or learned.day == note.day:
                rows.append(f"{words.learned}: {self._fact_link(note.path, subject, learned)}")
        return "".join(f"- {row}\n" for row in rows)

    def _link(self, at: str, to: Place, words: str) -> str:
        return self._dialect.link(at, to, words)

    def _fact_link(self, at: str, subject: Subject, learned: Learned) -> str:
        return self._link(at, Place(subject.path, learned.anchor), _short(learned.words))

    # Talks

    def talk(self, talk: Talk) -> Iterator[tuple[str, Iterator[str]]]:
        """Yield path and pieces of each page of a talk; the pieces have to be taken in order."""
        log = SessionLog.at(self._ws.root, talk.source)
        turns = (one for one in log.turns() if one.turn.id not in self._hidden.turns and has_parts(one.turn))
        about = _About(defaultdict(list), defaultdict(list))
        for subject, learned in self._contents.told.get(talk.source, ()):
            about.facts[learned.line].append((subject, learned))
        for note in self._contents.about.get(talk.source, ()):
            if note.role == "attachment" and note.talk is not None:
                about.files[note.talk[1]].append(note)
        ends = [*talk.starts[1:], len(talk.lines)]
        for number, (path, start, end) in enumerate(zip(talk.paths, talk.starts, ends, strict=True)):
            yield path, self._talk_page(talk, number, islice(turns, end - start), about)

    def _talk_page(self, talk: Talk, number: int, turns: Iterator[Placed], about: _About) -> Iterator[str]:
        path, words = talk.paths[number], words_for(chinese=talk.chinese)
        yield self._talk_head(talk, number)
        last_day = ""
        for placed in turns:
            moment = None if placed.turn.meta.get("undated") else local(placed.turn.time, self._zone)
            time = f" · {moment:%H:%M}" if moment else ""
            if moment and (day := f"{moment:%Y-%m-%d}") != last_day:
                time = f" · {day} {moment:%H:%M}" if last_day else time
                last_day = day
            yield self._turn(talk, path, placed, time)
            files = (
                self._link(path, Place(note.path), note.title) for note in about.files.get(placed.line, ())
            )
            facts = (self._fact_link(path, *one) for one in about.facts.get(placed.line, ()))
            yield "".join(f"{words.file}: {link}\n\n" for link in files)
            yield "".join(f"→ {words.learned}: {link}\n\n" for link in facts)

    def _turn(self, talk: Talk, path: str, placed: Placed, time: str) -> str:
        turn = self._ws.visible.turn(placed.turn)
        pieces = []
        for part in parts_of(turn):
            if part.kind == "said":
                pieces.append(self._said(part.text, talk, path))
            elif part.kind == "folded":
                pieces.append(self._dialect.folded(part.title, _one_kind_of_end(part.text)))
            else:
                pieces.append(f"{words_for(chinese=talk.chinese).file}: {label(part.text)}")
        head = f"{label(speaker(turn.role, talk))}{time}"
        body = "\n\n".join(pieces)
        return self._dialect.turn(head, body, turn_anchor(placed.line), own=turn.role in USERS) + "\n"

    def _said(self, text: str, talk: Talk, path: str) -> str:
        def change(link: Link) -> str | None:
            return self._links.in_message(link, talk, path)

        return quoted(_one_kind_of_end(text), change, obsidian=self._dialect.is_obsidian)

    def _talk_head(self, talk: Talk, number: int) -> str:
        words = words_for(chinese=talk.chinese)
        path = talk.paths[number]
        days = [
            self._contents.days[talk.scope, day]
            for day in talk.days
            if (talk.scope, day) in self._contents.days
        ]
        episodes = [one for one in self._contents.about.get(talk.source, ()) if one.role == "episode"]
        fields = {
            "title": talk.title,
            "date": talk.begin.isoformat(timespec="seconds") if talk.begin else "",
            "until": talk.end.isoformat(timespec="seconds") if talk.end else "",
            "participants": [speaker(role, talk) for role in talk.roles],
            "agent": talk.agent,
            "session": talk.session,
            "aliases": [talk.title] if number == 0 else [],
            "tags": ["mnemark/talk"],
        }
        linked = {
            "days": [f"[[{day.path.removesuffix('.md')}]]" for day in days],
            "episodes": [f"[[{one.path.removesuffix('.md')}]]" for one in episodes],
        }
        lines_ = [
            self._dialect.front(_clean(fields) | linked),
            f"# {label(talk.title)}\n",
        ]
        facts = [f"{label(span(talk))}"] if talk.begin else []
        facts += [f"{len(talk.lines):,} {words.messages}"]
        facts += [label(talk.agent)] if talk.agent else []
        facts += [self._link(path, Place(day.path), day.day) for day in days]
        lines_.append("\n" + " · ".join(facts) + "\n")
        lines_ += [f"\n{words.episode}: {self._link(path, Place(one.path), one.title)}\n" for one in episodes]
        if len(talk.paths) > 1:
            others = (
                str(at + 1) if at == number else self._link(path, Place(other), str(at + 1))
                for at, other in enumerate(talk.paths)
            )
            lines_.append(f"\n{words.part}: {' · '.join(others)}\n")
        return "".join(lines_) + "\n"

    # Facts

    def subject(self, subject: Subject) -> Iterator[str]:
        """Yield the pieces of a page about one subject."""
        sample = " ".join(one.version.fact.value for group in subject.groups[:20] for one in group[:3])
        words = words_for(chinese=is_chinese(sample))
        title = _title(subject)
        yield self._dialect.front(
            _clean({"title": title, "aliases": [subject.name], "tags": ["mnemark/facts"]})
        )
        yield f"# {label(title)}\n"
        for group in subject.groups:
            predicate = next((one.version.fact.predicate for one in group if one.version.fact.predicate), "")
            yield f"\n## {label(predicate) or words.notes}\n\n"
            for learned in group:
                yield f"- {self._fact(subject, learned)}\n"
        for source in subject.files:
            yield from self._left_over(source, subject.path, words.other)

    def _fact(self, subject: Subject, learned: Learned) -> str:
        fact, words = learned.version.fact, words_for(chinese=is_chinese(learned.version.fact.value))
        value = self._value(fact.value)
        ended = learned.version.end is not None
        parts = [f"~~{value}~~" if ended else f"**{value}**"]
        if fact.since and ended:
            parts.append(f"{label(fact.since[:10])} – {label(fact.until[:10])}")
        elif fact.since or ended:
            parts.append(
                f"{words.until} {label(fact.until[:10])}"
                if ended
                else f"{words.since} {label(fact.since[:10])}"
            )
        if learned.talk is not None:
            to = learned.talk.place(learned.line)
            parts.append(self._link(subject.path, to, learned.talk.title))
        if day := self._contents.days.get((subject.scope, learned.day)):
            parts.append(self._link(subject.path, Place(day.path), day.day))
        if fact.otherwise is not None:
            parts.append(label(str(fact.otherwise)))
        return self._dialect.item(" · ".join(parts), learned.anchor)

    def _value(self, value: str) -> str:
        flat = quoted(" ".join(value.split()), only_web, obsidian=self._dialect.is_obsidian)
        return flat.replace("**", r"\*\*").replace("~~", r"\~\~")

    def _left_over(self, source: str, at: str, also: str) -> Iterator[str]:
        """Yield what else a person wrote in a fact file."""
        document = self._ws.visible.read(source)
        if isinstance(document, Problem):
            return  # told when the facts were read
        rows = lines(document.text)
        head = front_matter(document.text).end_line
        gone = {
            number
            for parsed in parse(document.text)
            for number in range(parsed.bullet.line, parsed.bullet.end_line + 1)
        }
        kept = [
            row for number, row in enumerate(rows, 1)
            if number > head and number not in gone and not _BULLET.match(row) and not row.startswith("# ")
        ]  # fmt: skip
        text = without_marks("".join(kept)).strip()
        if text:
            yield f"\n## {also} {label(source)}\n\n"
            yield re.sub(r"\n{3,}", "\n\n", self._rewritten(text, source, at)) + "\n"

    # Days and contents

    def day(self, day: Day) -> str:
        """Return the page of a day without a daily note."""
        return f"# {day.day}\n\n{self._below_day(day)}"

    def _below_day(self, day: Day) -> str:
        titles = [*(talk.title for talk in day.talks), *(note.title for note in day.notes)]
        words = words_for(chinese=is_chinese(" ".join(titles)))
        lists = (
            (words.talks, [self._talk_row(day.path, talk, day.day) for talk in day.talks]),
            (words.notes, [self._link(day.path, Place(note.path), note.title) for note in day.notes]),
            (words.learned, [self._fact_link(day.path, *one) for one in day.facts]),
        )
        return "\n".join(f"## {name}\n\n{_list(rows)}" for name, rows in lists if rows)

    def _talk_row(self, at: str, talk: Talk, day: str) -> str:
        moment = talk.begin
        time = f"{moment:%H:%M} " if moment and f"{moment:%Y-%m-%d}" == day else ""
        return f"{time}{self._link(at, talk.place(talk.days.get(day, 0)), talk.title)}"

    def month(self, path: str, month: str, talks: Sequence[Talk]) -> str:
        """Return the page that lists the talks of a month."""
        words = words_for(chinese=is_chinese(" ".join(talk.title for talk in talks[:50])))
        rows = [
            f"{span(talk)[:16]} {self._link(path, Place(talk.paths[0]), talk.title)}".strip()
            for talk in talks
        ]
        return f"# {words.talks} {month or words.undated}\n\n{_list(rows)}"

    def contents(self, path: str, months: Sequence[tuple[str, str, Sequence[Talk]]]) -> str:
        """Return the page of contents; `months` are path, name and talks of each month."""
        notes = self._contents.notes
        titles = [*(note.title for note in notes[:50]), *(talk.title for talk in self._contents.talks[:50])]
        words = words_for(chinese=is_chinese(" ".join(titles)))
        core = [note for note in notes if note.role in _CORE]
        others = [note for note in notes if note.role in {"note", "persona"}]
        lists = (
            (words.core, [self._link(path, Place(note.path), note.source) for note in core]),
            (words.facts, [self._link(path, Place(one.path), _named(one.scope, _title(one)))
                           for one in self._contents.subjects]),
            (words.talks, [f"{self._link(path, Place(at), month or words.undated)} · {len(talks):,}"
                           for at, month, talks in months]),
            (words.days, [self._link(path, Place(day.path), _named(day.scope, day.day))
                          for day in self._contents.days.values()]),
            (words.notes, [self._link(path, Place(note.path), _named(note.scope, note.title))
                           for note in others]),
        )  # fmt: skip
        body = "\n".join(f"## {name}\n\n{_list(rows)}" for name, rows in lists if rows)
        return f"# {words.contents}\n\n{body}"


def _named(scope: str, title: str) -> str:
    return f"{title} · {scope}" if scope else title


def _title(subject: Subject) -> str:
    name = subject.name[:1].upper() + subject.name[1:]
    return name if subject.number == 1 else f"{name} ({subject.number})"


def _list(rows: Iterable[str]) -> str:
    return "".join(f"- {row}\n" for row in rows)


def _short(words: str) -> str:
    return words if len(words) <= 100 else f"{words[:99]}…"


def _one_kind_of_end(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _clean(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return fields whose texts are on one line, and no links of Obsidian."""

    def clean(value: Json) -> Json:
        if isinstance(value, list):
            return [clean(one) for one in value]
        return "".join(c if c.isprintable() else " " for c in value).replace("[[", "[ [")

    return {name: clean(value) for name, value in fields.items()}


def _source_only(line: str) -> str:
    """Return the line of a fact with the refs in its comment, which become links, instead of the comment."""
    body = line.rstrip()
    at = body.rfind(_COMMENT)
    if at < 0 or not body.endswith("-->"):
        return line
    fields = (field.partition(": ") for field in body[at:-3].split("|"))
    source = next((value.strip() for name, _, value in fields if name.strip() == "source"), "")
    return f"{body[:at].rstrip()}{f' — {source}' if source else ''}{line[len(body) :]}"
