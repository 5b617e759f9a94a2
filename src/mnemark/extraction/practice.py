"""Read what a person says once about how they and their project work, and expects to be remembered.

"We use pnpm, never npm", "run `make lint` before you push", 提交前先跑测试: facts of the project (its programs,
commands, folders, branches) and standing orders. An order is kept only if it says by its form that it holds in
general. Where it might as well be about the task at hand, it is not `firm`, and is kept only of a turn that
says nothing else.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from mnemark.extraction.candidate import VERSION, VERSIONED, Found, bare, usable
from mnemark.extraction.practice_words import role_named, role_of
from mnemark.text.lazy_pattern import lazy_pattern

LONGEST: Final = 180
"""Maximum characters of a sentence that is read."""
CALLED: Final = r"(?a:[a-z@][\w.+#/@-]*(?: (?-i:[A-Z\d])[\w.+#-]*| (?:actions|ci|pages|on rails|boot|compose|css|components|run|js|issues)\b){0,2})"
"""Pattern of the name of a program, for patterns that ignore case."""


class Practice(NamedTuple):
    """A fact or an order."""

    found: Found
    order: bool = False
    firm: bool = True
    """Whether its form alone says that it holds in general."""


class Heard(NamedTuple):
    """A sentence made ready for the forms."""

    text: str
    """Without greeting, and without the words for where and since when it holds."""
    whole: str
    """As it is kept of an order."""
    here: bool
    """Whether it names the project as where it holds."""
    lasting: bool
    """Whether it says that it holds from now on, or by default."""


Read = Callable[[re.Match[str], Heard], list[Practice]]


class Form(NamedTuple):
    """A pattern of whole sentences, and the reader of its match."""

    pattern: re.Pattern[str]
    read: Read


def form(pattern: str, read: Read) -> Form:
    """Return a form; its pattern ignores case."""
    return Form(lazy_pattern(f"(?i){pattern}"), read)


def first(forms: Iterable[Form], said: Heard) -> list[Practice]:
    """Return what the first form reads that fits a sentence and finds something."""
    for one in forms:
        if (match := one.pattern.fullmatch(said.text)) and (found := one.read(match, said)):
            return found
    return []


def fact(predicate: str, value: str, *, firm: bool = True) -> list[Practice]:
    """Return a fact of the project; nothing if the value is none."""
    value = value.strip(" ,;。")
    return [Practice(Found("project", predicate, value), firm=firm)] if usable(value, 80) else []


FROM_NOW: Final = "from now on|going forward|from here on"
_SINCE: Final = lazy_pattern(
    rf"(?i)^(?:{FROM_NOW}|henceforth|in (?:the )?future),? (?:(?:please|always),? )*"
)


def order(text: str, *, firm: bool) -> list[Practice]:
    """Return a standing order in the words of the person."""
    return [Practice(Found("user", "rules", _SINCE.sub("", text.strip(" ,"))), order=True, firm=firm)]


def line_length(match: re.Match[str], _: Heard) -> list[Practice]:
    """Return the longest line of a project's code, the value of a match."""
    return fact("line length", match["v"])


_VERSION: Final = lazy_pattern(rf"(?i)(?P<t>{VERSIONED}) (?:version )?(?P<v>{VERSION}\+?)")


def programs(names: Iterable[str], *, role: str = "", part: str = "", contrast: str = "") -> list[Practice]:
    """Return which programs a project uses, by role; nothing if one of them is not known.

    Args:
        names: the programs, each maybe with its version.
        role: what they are for, if that is said; then a program need not be known.
        part: the part of the project that uses them ("backend").
        contrast: what is not used instead, as said: "never npm".
    """
    found: dict[str, list[str]] = {}
    for name in map(bare, names):
        if version := _VERSION.fullmatch(name):
            found[f"{version['t'].lower()} version"] = [version["v"]]
            continue
        what = role_named(role) or role_of(name)
        if not what or not usable(name, 40) or (role and not role_named(role)):
            return []
        if what == "programming language" and part:
            what = f"{part} language"
        found.setdefault(what, []).append(name)
    told: list[Practice] = []
    for what, values in found.items():
        if what == "tools":
            told += [Practice(Found("project", what, value)) for value in values]
        else:
            told.append(Practice(Found("project", what, ", ".join(values) + contrast)))
            contrast = ""
    return told
