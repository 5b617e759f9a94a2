"""Say where something is from: the talk, the note, the file, and who said it. Never a path, never a line."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from mnemark.errors import MnemarkError
from mnemark.facts.model import Fact, refs_in
from mnemark.files import layout
from mnemark.files.names import split_ref
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.present.talks import page_title, talk
from mnemark.present.words import Words
from mnemark.text.lazy_pattern import lazy_pattern

OWNER: Final = "user"
"""The subject that is the owner, whose list of facts is called by no name."""
_HEADING: Final = lazy_pattern(r"^\d{4}-\d{2}(?:-\d{2})?(?!\d)-?")
_MONTH: Final = lazy_pattern(r"^\d{4}-\d{2}(?!-?\d)")
_WHO: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        "owner": ("you", "you said so in {place}", "you told it directly"),
        "agent": ("the agent", "an agent noted it in {place}", "noted by an agent"),
        "tool": ("a tool", "from what a tool answered, in {place}", "from what a tool answered"),
        "web": ("the web", "from a web page, in {place}", "from a web page"),
        "file": ("a file", "written in {place}", "written in a file"),
        "import": ("an import", "brought in with {place}", "brought in from another program"),
    }
)
"""Who said something, by its origin: in a word, with its place, and without."""
UNTRUSTED: Final = frozenset({"tool", "web", "import"})
"""Origins that are shown with a mark."""

_PLACES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "journal": "the record of changes",
        "identity": "your file {name}",
        "longterm": "your file {name}",
        "scratchpad": "your file {name}",
        "fact": "the list of facts “{name}”",
        "attachment": "the file “{name}”",
        "review": "the list of what waits for you",
        "note": "the note “{name}”",
    }
)
"""What files are, by their role; others are notes."""
_WHOLE: Final = frozenset({"identity", "longterm", "scratchpad"})
"""Roles of files that are known by their whole name."""


def place(ws: OpenWorkspace, ref: str, words: Words) -> str:
    """Return what a ref leads to, in words: "your talk “Moving to Lisbon” of 3 November"."""
    path, _, _ = split_ref(ref)
    if "://" in ref:
        return words("the page {site}", site=urlsplit(ref).netloc or ref)
    if path.startswith(layout.MOUNT):
        return words("the memory “{name}”", name=path[1:].partition("/")[0])
    found = layout.place(path)
    role = "note" if found is None else found.kind if found.kind == "fact" else found.role
    if role == "session":
        return _talk(ws, path, words)
    if found is not None and found.dated and role in {"daily", "archive", "report"}:
        return _dated(ws, found.dated, path.rpartition("/")[2], role, words)
    return _page(ws, path, words) if role == "episode" else _file(path, role, words)


def _file(path: str, role: str, words: Words) -> str:
    """Return a file by its name; the owner's list of facts by what it is."""
    name = path.rpartition("/")[2]
    if role == "fact" and _stem(name) == OWNER:
        return words("the list of facts about you")
    return words(_PLACES.get(role, _PLACES["note"]), name=name if role in _WHOLE else _stem(name))


def _page(ws: OpenWorkspace, path: str, words: Words) -> str:
    """Return the page of a talk by its title; not by its file's name, which may say what was forgotten."""
    title = page_title(ws, path)
    return words("the page of the talk “{name}”", name=title) if title else words("the page of a talk")


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


def _talk(ws: OpenWorkspace, path: str, words: Words) -> str:
    try:
        found = talk(ws, path, words)
    except (MnemarkError, OSError):
        return words("a talk that is gone")
    day = words.date(found.began.date().isoformat(), ws.now().date()) if found.began else ""
    if found.title and day:
        return words("your talk “{title}” of {day}", title=found.title, day=day)
    if found.title:
        return words("your talk “{title}”", title=found.title)
    return words("your talk of {day}", day=day) if day else words("a talk without words")


def _dated(ws: OpenWorkspace, dated: str, name: str, role: str, words: Words) -> str:
    month = _MONTH.match(name)
    day = words.date(month[0] if month is not None else dated, ws.now().date())
    if role == "report":
        return words("the report of {day}", day=day)
    rest = _HEADING.sub("", _stem(name)).replace("-", " ").strip()
    if rest and not rest.isdecimal():
        return words("your note “{name}” of {day}", name=rest, day=day)
    return words("your note of {day}", day=day)


def who(origin: str, words: Words) -> str:
    """Return who said something in a word or two: "you", "the web"; an origin that is none as it is."""
    return words(_WHO.get(origin, (origin,))[0])


def source(ws: OpenWorkspace, fact: Fact, words: Words) -> str:
    """Return who said a fact, and where: "you said so in your talk “Moving to Lisbon” of 3 November"."""
    _, known, alone = _WHO[fact.origin]
    refs = refs_in(fact.source)
    if not refs and fact.origin == "file" and fact.path:
        refs = (fact.path,)
    if not refs:
        return words(alone)
    if fact.origin == "file" and ".jsonl" in refs[0]:
        return words("said in {place}", place=place(ws, refs[0], words))
    return words(known, place=place(ws, refs[0], words))
