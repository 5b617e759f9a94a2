"""Write the talks as a static archive: pages of HTML that need no script and fetch nothing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from html import escape
from typing import Final

from mnemark.files.sessions import Placed, SessionLog
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.transfer.export.collect import Progress
from mnemark.memory.transfer.export.dialect import href
from mnemark.memory.transfer.export.model import Contents, Learned, Place, Talk, turn_anchor
from mnemark.memory.transfer.export.names import FileNames
from mnemark.memory.transfer.export.output import OutputFolder
from mnemark.memory.transfer.export.paths import name_talk, order
from mnemark.memory.transfer.export.safe_html import rendered
from mnemark.memory.transfer.export.turns import HOSTS, TOOLS, USERS, has_parts, parts_of
from mnemark.memory.transfer.export.words import Words, span, speaker, words_for
from mnemark.summary.sentences import is_chinese
from mnemark.text import DATA
from mnemark.text.dates import local

INDEX: Final = "index.html"
_STYLE: Final = "style.css"
_ON_INDEX: Final = 300
"""Talks that are listed on the first page; older months have pages of their own."""
_FIRST_WORDS: Final = 160
_ENGLISH_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_POLICY: Final = (
    "default-src 'none'; style-src 'self' file:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE: Final = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
"""


_Month = tuple[str, list[Talk]]


class Archive:
    """Writes an index by month and the pages of each talk."""

    def __init__(self, ws: OpenWorkspace, contents: Contents, out: OutputFolder, progress: Progress) -> None:
        self._ws = ws
        self._contents = contents
        self._out = out
        self._progress = progress
        self._zone = ws.fact_store.zone
        self._hidden = ws.visible.hidden.current()
        self._talks = sorted(
            contents.talks,
            key=lambda talk: (talk.begin.isoformat() if talk.begin else "", talk.source),
            reverse=True,
        )
        names = FileNames("-", linked=False)
        for name in (INDEX, _STYLE):
            names.kept(name)
        for talk in sorted(contents.talks, key=order):
            name_talk(talk, names, ".html")
        by_month: defaultdict[str, list[Talk]] = defaultdict(list)
        for talk in self._talks:
            by_month[talk.month].append(talk)
        self._months = [(month, by_month[month]) for month in sorted(by_month, reverse=True)]
        self._months_at = {
            month: names.kept(f"months/{month or 'undated'}.html") for month, _ in self._months
        }
        self._words = words_for(chinese=is_chinese(" ".join(talk.title for talk in self._talks[:200])))

    def write(self) -> None:
        """Write all pages."""
        self._out.put(_STYLE, [(DATA / "archive.css").read_bytes()])
        for at, talk in enumerate(self._talks):
            self._progress("Writing conversations", at, len(self._talks))
            newer = self._talks[at - 1] if at else None
            older = self._talks[at + 1] if at + 1 < len(self._talks) else None
            self._write_talk(talk, newer, older)
        listed = 0
        on_index: list[_Month] = []
        apart: list[_Month] = []
        for month, talks in self._months:
            (on_index if not listed or listed + len(talks) <= _ON_INDEX else apart).append((month, talks))
            listed += len(talks)
        self._put(INDEX, self._index(on_index, apart))
        for month, talks in apart:
            path = self._months_at[month]
            self._put(path, self._month_page(path, month, talks))

    def _put(self, path: str, pieces: Iterable[str]) -> None:
        self._out.put(path, (piece.encode("utf-8", "replace") for piece in pieces))

    # Lists

    def _index(self, on_index: Sequence[_Month], apart: Sequence[_Month]) -> Iterator[str]:
        words = self._words
        yield _top(INDEX, words, words.talks)
        yield f'<main class="list">\n<header><h1>{words.talks}</h1>\n'
        turns = sum(len(talk.lines) for talk in self._talks)
        about = f"{len(self._talks):,} · {turns:,} {words.messages}" if self._talks else words.nothing
        yield f'<p class="about">{about}</p></header>\n'
        if len(self._months) > 1:
            yield (
                '<nav class="months">'
                + "".join(
                    f'<a href="{"" if pair in on_index else href(INDEX, Place(self._months_at[pair[0]]))}'
                    f'{"#" + _month_id(pair[0]) if pair in on_index else ""}">{self._month(pair[0])}'
                    f" <small>{len(pair[1]):,}</small></a>\n"
                    for pair in self._months
                )
                + "</nav>\n"
            )
        for month, talks in on_index:
            yield from self._listed(INDEX, month, talks)
        yield "</main>\n</body>\n</html>\n" if not apart else self._older(apart)

    def _older(self, apart: Sequence[_Month]) -> str:
        month = apart[0][0]
        address = href(INDEX, Place(self._months_at[month]))
        return (
            f'<p class="more"><a href="{address}">{self._month(month)} →</a></p>\n</main>\n</body>\n</html>\n'
        )

    def _month_page(self, path: str, month: str, talks: Sequence[Talk]) -> Iterator[str]:
        yield _top(path, self._words, self._month(month))
        yield f'<main class="list">\n{self._back(path)}'
        yield from self._listed(path, month, talks)
        yield "</main>\n</body>\n</html>\n"

    def _listed(self, at: str, month: str, talks: Sequence[Talk]) -> Iterator[str]:
        yield f'<section id="{_month_id(month)}">\n<h2>{self._month(month)}</h2>\n<ol>\n'
        for talk in talks:
            day = f"{talk.begin:%d}" if talk.begin else ""
            date = f'<time datetime="{talk.begin:%Y-%m-%d}">{day}</time>' if talk.begin else "<span></span>"
            scope = f' <small class="scope">{escape(talk.scope)}</small>' if talk.scope else ""
            first = "" if talk.first.strip(".…?!。？！ ") == talk.title.strip(".…?!。？！ ") else talk.first
            more = f"<p>{escape(first[:_FIRST_WORDS])}</p>" if first else ""
            lang = _lang(self._words, chinese=talk.chinese)
            yield (
                f'<li>{date}<div{lang}><a href="{href(at, Place(talk.paths[0]))}">{escape(talk.title)}</a>'
                f'{scope}{more}</div><small class="count">{len(talk.lines):,}</small></li>\n'
            )
        yield "</ol>\n</section>\n"

    def _month(self, month: str) -> str:
        if not month:
            return self._words.undated
        year, number = month.split("-")
        if self._words.lang != "en":
            return f"{year}年{int(number)}月"
        return f"{_ENGLISH_MONTHS[int(number) - 1]} {year}"

    def _back(self, path: str) -> str:
        return f'<nav class="back"><a href="{href(path, Place(INDEX))}">← {self._words.talks}</a></nav>\n'

    # Talks

    def _write_talk(self, talk: Talk, newer: Talk | None, older: Talk | None) -> None:
        log = SessionLog.at(self._ws.root, talk.source)
        turns = (one for one in log.turns() if one.turn.id not in self._hidden.turns and has_parts(one.turn))
        facts: defaultdict[int, list[Learned]] = defaultdict(list)
        for _, learned in self._contents.told.get(talk.source, ()):
            facts[learned.line].append(learned)
        ends = [*talk.starts[1:], len(talk.lines)]
        for number, (path, start, end) in enumerate(zip(talk.paths, talk.starts, ends, strict=True)):
            body = self._messages(talk, turns, end - start, facts)
            self._put(path, self._talk_page(talk, number, body, (newer, older)))

    def _talk_page(
        self, talk: Talk, number: int, body: Iterable[str], around: tuple[Talk | None, Talk | None]
    ) -> Iterator[str]:
        words, path = words_for(chinese=talk.chinese), talk.paths[number]
        part = f" ({number + 1}/{len(talk.paths)})" if len(talk.paths) > 1 else ""
        yield _top(path, words, f"{talk.title}{part}")
        yield f'<main class="talk">\n{self._back(path)}<header><h1>{escape(talk.title)}{part}</h1>\n'
        about = [span(talk), talk.scope, talk.agent, f"{len(talk.lines):,} {words.messages}"]
        yield f'<p class="about">{" · ".join(escape(one) for one in about if one)}</p></header>\n'
        parts = _parts(talk, number, words)
        yield parts
        yield from body
        yield parts
        yield _around(path, around)
        yield "</main>\n</body>\n</html>\n"

    def _messages(
        self, talk: Talk, turns: Iterator[Placed], count: int, facts: dict[int, list[Learned]]
    ) -> Iterator[str]:
        words, last_day = words_for(chinese=talk.chinese), ""
        for shown, placed in enumerate(turns, 1):
            turn = placed.turn
            moment = None if turn.meta.get("undated") else local(turn.time, self._zone)
            if moment and (day := f"{moment:%Y-%m-%d}") != last_day:
                if last_day or len(talk.days) > 1:
                    yield f'<p class="day">{day}</p>\n'
                last_day = day
            time = _time(moment) if moment else ""
            yield self._message(talk, placed, time, words)
            for learned in facts.get(placed.line, ()):
                yield f'<p class="learned"><span>{words.learned}</span> {escape(learned.words)}</p>\n'
            if shown == count:
                break

    def _message(self, talk: Talk, placed: Placed, time: str, words: Words) -> str:
        turn = self._ws.visible.turn(placed.turn)
        role = next((name for name, roles in _CLASSES.items() if turn.role in roles), "assistant")
        anchor = turn_anchor(placed.line)
        pieces = []
        for part in parts_of(turn):
            if part.kind == "said":
                lang = _lang(words, chinese=is_chinese(part.text))
                pieces.append(f'<div class="said"{lang}>\n{rendered(part.text)}</div>\n')
            elif part.kind == "folded":
                pieces.append(
                    f"<details><summary>{escape(part.title)}</summary><pre>{escape(part.text)}</pre></details>\n"
                )
            else:
                pieces.append(f'<p class="file">{words.file}: {escape(part.text)}</p>\n')
        head = f'<h2>{escape(speaker(turn.role, talk))} <a href="#{anchor}">{time or "#"}</a></h2>\n'
        return f'<article class="{role}" id="{anchor}">\n{head}{"".join(pieces)}</article>\n'


def _time(moment: datetime) -> str:
    return f'<time datetime="{moment.isoformat(timespec="seconds")}">{moment:%H:%M}</time>'


_CLASSES: Final = {"user": USERS, "tool": TOOLS | HOSTS}


def _top(path: str, words: Words, title: str) -> str:
    return _PAGE.format(
        lang=words.lang, policy=_POLICY, title=escape(title), style=href(path, Place(_STYLE))
    )  # fmt: skip


def _lang(words: Words, *, chinese: bool) -> str:
    """Return the attribute of a text in another language than its page's."""
    other = words_for(chinese=chinese)
    return "" if other is words else f' lang="{other.lang}"'


def _month_id(month: str) -> str:
    return f"m{month}" if month else "undated"


def _parts(talk: Talk, number: int, words: Words) -> str:
    """Return the links between the pages of a long talk."""
    if len(talk.paths) == 1:
        return ""
    links = (
        f'<b aria-current="page">{at + 1}</b>' if at == number
        else f'<a href="{href(talk.paths[number], Place(path))}">{at + 1}</a>'
        for at, path in enumerate(talk.paths)
    )  # fmt: skip
    return f'<nav class="parts">{words.part} {" ".join(links)}</nav>\n'


def _around(path: str, around: tuple[Talk | None, Talk | None]) -> str:
    """Return the links to the talks before and after."""
    newer, older = around
    links = (
        [f'<a rel="prev" href="{href(path, Place(older.paths[0]))}">← {escape(older.title)}</a>']
        if older
        else ["<span></span>"]
    )
    links += (
        [f'<a rel="next" href="{href(path, Place(newer.paths[0]))}">{escape(newer.title)} →</a>']
        if newer
        else []
    )
    return f'<nav class="around">{"".join(links)}</nav>\n'
