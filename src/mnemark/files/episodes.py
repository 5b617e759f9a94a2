"""Read and write episodes: `memory/episodes/<date>-<slug>.md`, with front matter and a page for people."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final

import msgspec

from mnemark.files import listing, platform
from mnemark.files.layout import EPISODES, in_scope
from mnemark.files.names import split_sources
from mnemark.files.reading import read
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.frontmatter import front_matter
from mnemark.text.markdown.generated import put
from mnemark.types import Json, Problem

FOLDER: Final = EPISODES
PART: Final = "episode"
_SLUG: Final = lazy_pattern(r"[^\w\u3400-\u9fff]+")
_WRITTEN_BEFORE: Final = ("tools", "entities")
"""Fields of earlier versions; what they held is on the page."""
_SLUG_LENGTH: Final = 40
_TITLE: Final = lazy_pattern(r"^# +(\S.*)$", re.MULTILINE)
_ITEM: Final = lazy_pattern(r"^- \*\*(?P<name>[^*]+)\*\*(?: ?[(（][^()（）]*[)）])?[:：] ?(?P<text>.*)$")


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """An episode: one sitting of a session."""

    session: str
    source: str
    """Path and lines of its turns."""
    first: str
    """Id of its first turn, which identifies the sitting."""
    last: str
    begin: datetime
    end: datetime
    title: str
    status: str = ""
    """How it ended, where that was said: "done" or "failed"."""
    projects: tuple[str, ...] = ()
    continues: str = ""
    """Path of the episode of the sitting before."""


class EpisodeFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of an episode's file."""

    path: str
    title: str
    session: str
    first: str
    date: str
    status: str
    projects: tuple[str, ...]
    items: tuple[tuple[str, str], ...]
    """Names and texts of its list, as a person may have changed them."""

    def of(self, *names: str) -> list[str]:
        """Return the texts of the items of these names."""
        return [text for name, text in self.items if name in names]


def slug_of(title: str) -> str:
    """Make a title the readable part of a file name, Chinese kept."""
    words = _SLUG.sub("-", title.casefold()).strip("-_")
    cut = words[:_SLUG_LENGTH]
    return (cut.rpartition("-")[0] or cut if len(words) > _SLUG_LENGTH else cut).strip("-") or "session"


class Episodes:
    """The episodes of a workspace, cached until their files change."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, dict[str, tuple[platform.Identity, EpisodeFile | None]]] = {}
        """The files last listed, by folder and path."""

    def since(self, scope: str, day: str) -> list[EpisodeFile]:
        """Return those whose file names begin with this day or a later one, oldest first."""
        folder = in_scope(scope, FOLDER)
        try:
            there = listing.entries(self.root, folder, ".md", first=day)
        except OSError:  # reported by the scan
            return []
        known, read = self._read.get(folder, {}), {}
        for entry in there:
            path = f"{folder}/{entry.name}"
            with suppress(OSError):  # it vanished
                state = platform.identity_of(entry.stat())
                before = known.get(path)
                read[path] = before if before and before[0] == state else (state, self._parsed(path))
        self._read[folder] = read
        return sorted((one for _, one in read.values() if one is not None), key=_in_time)

    def with_file(self, found: Iterable[EpisodeFile], path: str) -> list[EpisodeFile]:
        """Return these episodes with the one at `path` as it is now; the folder is not listed."""
        others = [one for one in found if one.path != path]
        now = self._parsed(path)
        return others if now is None else sorted([*others, now], key=_in_time)

    def _parsed(self, path: str) -> EpisodeFile | None:
        document = read(self.root, path)
        return None if isinstance(document, Problem) else episode_in(path, document.text)

    def path_for(self, scope: str, episode: Episode, known: Sequence[EpisodeFile]) -> str:
        """Return the path of the episode's file, or a free one under its day.

        `known` holds at least the episodes of that day.
        """
        stem = in_scope(scope, f"{FOLDER}/{episode.begin:%Y-%m-%d}-")
        for one in known:
            same = (one.session, one.first) == (episode.session, episode.first)
            if same and one.path.startswith(stem[:-1]):
                return one.path
        stem += slug_of(episode.title)
        paths = (f"{stem}.md" if number == 1 else f"{stem}-{number}.md" for number in count(1))
        return next(path for path in paths if not (self.root / path).exists())


def since(found: Iterable[EpisodeFile], day: str) -> list[EpisodeFile]:
    """Return the episodes whose file names begin with this day or a later one."""
    return [one for one in found if one.path.rpartition("/")[2] >= day]


def _in_time(episode: EpisodeFile) -> tuple[str, str]:
    return episode.date, episode.path


def episode_in(path: str, text: str) -> EpisodeFile | None:
    """Return the episode in a file's text; None if it is none."""
    fields = front_matter(text).fields
    if "session" not in fields:
        return None
    title = _TITLE.search(text)
    rows = (_ITEM.match(split_sources(line)[0]) for line in text.splitlines())
    items = [(m["name"].strip(), m["text"].strip()) for m in rows if m]
    listed = fields.get("projects")
    return EpisodeFile(
        path=path,
        title=title[1].rstrip() if title else Path(path).stem,
        session=str(fields["session"]),
        first=str(fields.get("first", "")),
        date=str(fields.get("date", "")),
        status=str(fields.get("status", "")),
        projects=tuple(map(str, listed)) if isinstance(listed, (list, tuple)) else (),
        items=tuple(items),
    )


def retitled(text: str, path: str, title: str) -> str:
    """Return the file's text with another title for the one that names `path`; a person's own stays."""
    found = _TITLE.search(text)
    ours = found is not None and f"-{slug_of(found[1])}" in Path(path).stem
    return text[: found.start(1)] + title + text[found.end(1) :] if found is not None and ours else text


def written(text: str, episode: Episode, lines: Sequence[str]) -> str:
    """Return the file's text with the episode and its page `lines` written to it; hand-written text stays."""
    fields: dict[str, Json] = {
        "session": episode.session,
        "date": episode.begin.isoformat(timespec="seconds"),
        "until": episode.end.isoformat(timespec="seconds"),
        "status": episode.status,
        "source": episode.source,
        "first": episode.first,
        "last": episode.last,
        "projects": list(episode.projects),
        "continues": episode.continues,
    }
    text = _refreshed(text, fields) if text else f"---\n{_front(fields)}---\n\n# {episode.title}\n"
    return put(text, PART, lines)


def _front(fields: Mapping[str, Json]) -> str:
    return "".join(f"{name}: {_yaml(value)}\n" for name, value in fields.items() if value)


def _yaml(value: Json) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(json.dumps(one, ensure_ascii=False) for one in value) + "]"
    plain = re.fullmatch(r"[\w][\w./#+-]*(?::[\w./#+-]+)*", str(value)) is not None
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


def _refreshed(text: str, fields: Mapping[str, Json]) -> str:
    """Replace our fields in the front matter; other fields, and a file without any, are kept."""
    head = re.match(r"---\r?\n(.*?)^---[ \t]*\r?$", text, re.DOTALL | re.MULTILINE)
    if head is None:
        return text
    stop = "\r\n" if "\r\n" in head[0] else "\n"
    ours_before = {*fields, *_WRITTEN_BEFORE}
    kept = [line for line in head[1].splitlines() if line.partition(":")[0] not in ours_before]
    ours = _front(fields).splitlines()
    return stop.join(["---", *ours, *kept, "---"]) + text[head.end() :]


def source_lines(path: str, first: int, last: int) -> str:
    """Return the ref of lines, `path#L2-L14`."""
    return f"{path}#L{first}-L{last}" if last != first else f"{path}#L{first}"
