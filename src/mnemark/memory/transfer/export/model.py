"""Define what an exported folder holds: notes, talks, facts by subject, and days, with their pages."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, MutableSequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

import msgspec

from mnemark.facts.timeline import FactVersion
from mnemark.files.layout import Role

FolderFormat = Literal["obsidian", "markdown", "html"]


class Place(NamedTuple):
    """Where a link leads: a page of the folder, and what it names on it."""

    path: str
    anchor: str = ""


class Note(msgspec.Struct, kw_only=True):
    """A note and the page it becomes."""

    source: str
    path: str = ""
    scope: str
    role: Role
    day: str = ""
    title: str
    talk: tuple[str, int] | None = None
    """The log and line that an episode or attachment names as its source."""
    unnamed: bool = False
    """Whether its title was forgotten, which its file's name tells, too."""


class Limits(NamedTuple):
    """How much of a talk one page holds."""

    turns: int
    characters: int


class Talk(msgspec.Struct, kw_only=True):
    """A session with what is visible of it, and its pages."""

    source: str
    scope: str
    session: str
    title: str = ""
    """Of an import, else of its first episode, else the user's first words."""
    named: bool = False
    """Whether the title is more than the first words."""
    first: str = ""
    """The user's first words, or anybody's."""
    agent: str = ""
    begin: datetime | None = None
    end: datetime | None = None
    lines: MutableSequence[int]
    """Lines of the turns that are shown, in order."""
    starts: list[int]
    """Of each page, the place in `lines` of its first turn."""
    days: dict[str, int]
    """The days it has turns of, with the line of the first."""
    roles: list[str]
    chinese: bool = False
    paths: list[str]

    @property
    def month(self) -> str:
        """`2026-02`; empty where no turn has a time."""
        return self.begin.strftime("%Y-%m") if self.begin else ""

    def nearest(self, first: int, last: int | None = None) -> int:
        """Return the first line that is shown among these, or 0."""
        at = bisect_left(self.lines, first)
        found = self.lines[at] if at < len(self.lines) else 0
        return found if found <= (last or first) else 0

    def day_of(self, line: int) -> str:
        """Return the day of a turn; empty where nobody knows."""
        return max((day for day, first in self.days.items() if first <= line), default="")

    def place(self, line: int = 0) -> Place:
        """Return where a shown line is; without one, where the talk begins."""
        if not line:
            return Place(self.paths[0])
        part = bisect_right(self.starts, bisect_left(self.lines, line)) - 1
        return Place(self.paths[part], turn_anchor(line))


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a fact, and when and where it was learned."""

    version: FactVersion
    day: str
    talk: Talk | None = None
    line: int = 0

    @property
    def anchor(self) -> str:
        """What names it on its page."""
        return f"f-{self.version.fact.id.lower()}"

    @property
    def words(self) -> str:
        """`city: Porto`, or the statement."""
        fact = self.version.fact
        return f"{fact.predicate}: {fact.value}" if fact.predicate else fact.value


class Subject(msgspec.Struct, kw_only=True):
    """A page about whom or what facts say something; each list has the versions of one predicate."""

    scope: str
    name: str
    groups: list[list[Learned]]
    files: list[str]
    """Fact files of which other text goes to this page."""
    path: str = ""
    number: int = 1
    """Of the page, where the facts of one subject take several."""


class Day(msgspec.Struct, kw_only=True):
    """A day and what is of it."""

    scope: str
    day: str
    path: str = ""
    note: Note | None = None
    """The daily note that its page begins with."""
    talks: list[Talk] = msgspec.field(default_factory=list)
    notes: list[Note] = msgspec.field(default_factory=list)
    facts: list[tuple[Subject, Learned]] = msgspec.field(default_factory=list)


class Contents(msgspec.Struct, kw_only=True):
    """All that is exported."""

    notes: list[Note]
    talks: list[Talk]
    subjects: list[Subject]
    days: dict[tuple[str, str], Day]
    told: Mapping[str, list[tuple[Subject, Learned]]]
    """The facts learned in a talk, by its log."""
    about: Mapping[str, list[Note]]
    """Episodes and attachments of a talk, by its log."""


def turn_anchor(line: int) -> str:
    """Return what names a turn on its page."""
    return f"t{line}"


OF_PAGES: Final[Mapping[FolderFormat, Limits]] = {
    "obsidian": Limits(1_000, 1_500_000),
    "markdown": Limits(1_000, 1_500_000),
    "html": Limits(200, 300_000),
}
