"""Write the pages of an export in Markdown: notes, talks, facts, days, months, and a page of contents."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import Final

from mnemark.facts.parse import parse
from mnemark.files import layout
from mnemark.files.sessions import Placed, SessionLog
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.transfer.export.collect import local
from mnemark.memory.transfer.export.dialect import Dialect, wiki_target
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
from mnemark.memory.transfer.export.targets import EMBEDDED, Targets, is_outside, is_web
from mnemark.memory.transfer.export.turns import USERS, has_parts, parts_of
from mnemark.memory.transfer.export.words import span, speaker, words_for
from mnemark.summary.sentences import is_chinese
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import lines
from mnemark.text.markdown.frontmatter import front_matter
from mnemark.types import Problem, Turn

_COMMENT: Final = lazy_pattern(r"[ \t]*<!-- id: [^>\n]{1,4000}-->")
_SOURCE: Final = lazy_pattern(r"\bsource: ([^|>\n]{1,2000}?)(?= \||\s*-->)")
_BULLET: Final = lazy_pattern(r"[ \t]*[-*+](?:[ \t]|$)")
_SLUG: Final = lazy_pattern(r"[^\w\- ]")
_CORE: Final = frozenset({"identity", "longterm", "scratchpad"})


class Pages:
    """Makes the text of pages in one dialect."""

    def __init__(self, ws: OpenWorkspace, contents: Contents, targets: Targets, dialect: Dialect) -> None:
        self._ws = ws
        self._contents = contents
        self._targets = targets
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
            text = _COMMENT.sub(_source_only, text)
        head = front_matter(text)
        front, body = text[: head.end], text[head.end :]
        body = rewrite(body, lambda link: self._changed(link, source, at))
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

    def _changed(self, link: Link, source: str, at: str) -> str | None:
        """Return what a link in a note becomes; None: it stays."""
        if link.kind == "ref":
            found = self._targets.of_path(link.target, source)
            return self._dialect.link(at, found, self._words_of(found, link.target)) if found else None
        if link.kind == "wiki":
            return self._changed_wiki(link, source, at)
        if not link.target or link.target.startswith("#") or is_outside(link.target):
            return None
        found = self._targets.of_path(link.target, source)
        if link.kind == "nested":
            plain = self._dialect.link(at, found, "x") if found and not self._dialect.is_obsidian else ""
            return f"]({plain.rpartition('](')[2]}" if plain else None
        if found is None:
            return label(link.label) if self._targets.is_ours(link.target, source) else None
        if link.embed and _is_file(found):
            return self._dialect.embed(at, found.path, link.label)
        return self._dialect.link(at, found, link.label or found.path)

    def _changed_wiki(self, link: Link, source: str, at: str) -> str | None:
        if link.target.startswith("#"):
            return None
        found = self._targets.of_name(link.target, source)
        words = link.label or link.target
        if self._dialect.is_obsidian:
            if found is None:
                return None
            same = wiki_target(found).casefold() == link.target.removesuffix(".md").casefold()
            named = found.path.rpartition("/")[2].removesuffix(".md").casefold()
            bare = link.target.partition("#")[0].removesuffix(".md").casefold()
            if same or (named == bare and not self._targets.is_ambiguous(found.path)):
                return None
            mark = "!" if link.embed else ""
            return f"{mark}[[{wiki_target(found)}|{link.label or link.target}]]"
        if found is None:
            return None
        if link.embed and _is_file(found):
            return self._dialect.embed(at, found.path, "" if words.isdecimal() else words)
        return self._dialect.link(at, Place(found.path, _slug(found.anchor)), words)

    def _words_of(self, to: Place, ref: str) -> str:
        path, _, lines_ = ref.partition("#")
        talk = self._targets.talk(path)
        return f"{talk.title} {lines_}" if talk is not None else ref

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
        by_line: defaultdict[int, list[tuple[Subject, Learned]]] = defaultdict(list)
        for subject, learned in self._contents.told.get(talk.source, ()):
            by_line[learned.line].append((subject, learned))
        files: defaultdict[int, list[Note]] = defaultdict(list)
        for note in self._contents.about.get(talk.source, ()):
            if note.role == "attachment" and note.talk is not None:
                files[note.talk[1]].append(note)
        ends = [*talk.starts[1:], len(talk.lines)]
        for number, (path, start, end) in enumerate(zip(talk.paths, talk.starts, ends, strict=True)):
            yield path, self._talk_page(talk, number, turns, end - start, by_line, files)

    def _talk_page(
        self, talk: Talk, number: int, turns: Iterator[Placed], count: int,
        by_line: dict[int, list[tuple[Subject, Learned]]], files: dict[int, list[Note]],
    ) -> Iterator[str]:  # fmt: skip
        path = talk.paths[number]
        yield self._talk_head(talk, number)
        at_hand = 0
        last_day = ""
        for placed in turns:
            moment = None if placed.turn.meta.get("undated") else local(placed.turn.time, self._zone)
            time = f" · {moment:%H:%M}" if moment else ""
            if moment and (day := f"{moment:%Y-%m-%d}") != last_day:
                time = f" · {day} {moment:%H:%M}" if last_day else time
                last_day = day
            yield self._turn(talk, path, placed, time)
            for note in files.get(placed.line, ()):
                yield f"{words_for(chinese=talk.chinese).file}: {self._link(path, Place(note.path), note.title)}\n\n"
            yield "".join(
                f"→ {words_for(chinese=talk.chinese).learned}: {self._fact_link(path, *one)}\n\n"
                for one in by_line.get(placed.line, ())
            )
            at_hand += 1
            if at_hand == count:
                break

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
            return self._changed_quote(link, talk, path)

        return quoted(_one_kind_of_end(text), change, obsidian=self._dialect.is_obsidian)

    def _changed_quote(self, link: Link, talk: Talk, at: str) -> str | None:
        """Return what a link in a message becomes; None: it stays, if it is one that may."""
        if link.kind == "inline" and is_web(link.target):
            return None
        found = self._targets.of_path(link.target, talk.source) if link.kind in {"inline", "ref"} else None
        if found is not None and not _is_file(found):
            return self._link(at, found, link.label or self._words_of(found, link.target))
        if link.kind == "ref":
            return label(link.text)
        if link.kind == "inline":
            return f"{label(link.label)} ({label(link.target)})"
        return None

    def _talk_head(self, talk: Talk, number: int) -> str:
        words = words_for(chinese=talk.chinese)
        path = talk.paths[number]
        days = [self._contents.days[talk.scope, day] for day in talk.days if (talk.scope, day) in self._contents.days]
        episodes = [one for one in self._contents.about.get(talk.source, ()) if one.role == "episode"]
        linked = [f"[[{one.path.removesuffix('.md')}]]" for one in episodes]
        fields = {
            "title": talk.title,
            "date": talk.begin.isoformat(timespec="seconds") if talk.begin else "",
            "until": talk.end.isoformat(timespec="seconds") if talk.end else "",
            "participants": [speaker(role, talk) for role in talk.roles],
            "agent": talk.agent,
            "session": talk.session,
            "aliases": [talk.title] if number == 0 else [],
            "tags": ["mnemark/talk"],
            "days": [f"[[{day.path.removesuffix('.md')}]]" for day in days],
            "episodes": linked,
        }
        lines_ = [self._dialect.front({name: _clean(value) for name, value in fields.items()}), f"# {label(talk.title)}\n"]
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
        yield self._dialect.front({"title": title, "aliases": [subject.name], "tags": ["mnemark/facts"]})
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
        value = self._value(fact.value, subject)
        ended = learned.version.end is not None
        parts = [f"~~{value}~~" if ended else f"**{value}**"]
        if fact.since and ended:
            parts.append(f"{label(fact.since[:10])} – {label(fact.until[:10])}")
        elif fact.since or ended:
            parts.append(f"{words.until} {label(fact.until[:10])}" if ended else f"{words.since} {label(fact.since[:10])}")
        if learned.talk is not None:
            to = learned.talk.place(learned.line)
            parts.append(self._link(subject.path, to, learned.talk.title))
        if day := self._contents.days.get((subject.scope, learned.day)):
            parts.append(self._link(subject.path, Place(day.path), day.day))
        if fact.otherwise is not None:
            parts.append(label(str(fact.otherwise)))
        return self._dialect.item(" · ".join(parts), learned.anchor)

    def _value(self, value: str, subject: Subject) -> str:
        def change(link: Link) -> str | None:
            if link.kind == "inline" and is_web(link.target):
                return None
            return label(link.label or link.target)

        flat = " ".join(value.split())
        return quoted(flat, change, obsidian=self._dialect.is_obsidian).replace("**", r"\*\*").replace("~~", r"\~\~")

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
        titles = [one.title for one in (*day.talks, *day.notes)]
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
            f"{span(talk)[:16]} {self._link(path, Place(talk.paths[0]), talk.title)}".strip() for talk in talks
        ]
        return f"# {words.talks} {month or words.undated}\n\n{_list(rows)}"

    def contents(self, path: str, months: Sequence[tuple[str, str, Sequence[Talk]]]) -> str:
        """Return the page of contents; `months` are path, name and talks of each month."""
        notes = self._contents.notes
        sample = " ".join([one.title for one in (*notes[:50], *self._contents.talks[:50])])
        words = words_for(chinese=is_chinese(sample))
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
            (words.notes, [self._link(path, Place(note.path), _named(note.scope, note.title)) for note in others]),
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


def _is_file(to: Place) -> bool:
    return to.path.rpartition(".")[2].casefold() in EMBEDDED and not to.path.endswith(".md")


def _slug(anchor: str) -> str:
    """Return the anchor that viewers of Markdown give a heading; of a block of Obsidian there is none."""
    if anchor.startswith("^"):
        return ""
    return _SLUG.sub("", anchor.rpartition("#")[2].strip().casefold()).replace(" ", "-")


def _short(words: str) -> str:
    return words if len(words) <= 100 else f"{words[:99]}…"


def _one_kind_of_end(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _clean(value: object) -> object:
    if isinstance(value, list):
        return [_clean(one) for one in value]
    return "".join(char if char.isprintable() else " " for char in value) if isinstance(value, str) else value


def _source_only(match: re.Match[str]) -> str:
    """Return the refs in a fact's comment, which become links."""
    source = _SOURCE.search(match[0])
    return f" — {source[1]}" if source else ""
