"""Take the notices of agent programs off the answers of tools.

An agent adds sentences for its model to what a tool answers ("no need to Read it back"). They are neither the
tool's nor anybody's memory, and look like an attack. Only what is fixed to the letter goes, save numbers and
what a notice quotes of a file, and only where the agent puts it.
"""

import re
from functools import cache
from typing import Any, Final

import msgspec

from mnemark.text import DATA
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Turn

TABLE: Final = DATA / "harness_notices.txt"
"""The notices of each agent; its first lines say how it is written."""
_HEAD: Final = lazy_pattern(r"#|\[[a-z-]+\] \S+ ")
_SLOTS: Final = {
    "{n}": r"\d{1,12}",
    "{id}": r"[0-9a-f]{4,40}",
    "{path}": r"[^\s<>]{1,400}",
    "{lines}": r"(?:(?:\d{1,7}\t[^\n]*|\.\.\.)\n){1,1000}",
    r"\n": r"\r?\n",
}
_SLOT: Final = lazy_pattern(r"\{n\}|\{id\}|\{path\}|\{lines\}|\\n")
_LONGEST: Final = 20_000
"""Characters at the end of an answer in which a notice is looked for."""
_MOST: Final = 8
"""Notices that are taken off an end; no agent adds as many, and each is a search."""
_TEXTS: Final = ("content", "output", "result", "text")


@cache
def notices() -> tuple[list[str], list[str]]:
    """Read the notices: those at the beginning of an answer, and those at its end."""
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line and not _HEAD.match(line)]
    return [line[2:] for line in lines if line[:2] == "^ "], [line for line in lines if line[:2] != "^ "]


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], tuple[str, ...]]:
    first, last = ("|".join(map(_pattern, some)) for some in notices())
    ends = tuple({line[-4:] for line in notices()[1]})
    return lazy_pattern(rf"\s{{0,8}}(?:{first})"), lazy_pattern(rf"(?:{last})\Z"), ends


def _pattern(notice: str) -> str:
    """Return a notice as a regular expression."""
    fixed = map(re.escape, _SLOT.split(notice))
    slots = [_SLOTS[slot[0]] for slot in _SLOT.finditer(notice)]
    return "".join(part for pair in zip(fixed, [*slots, ""], strict=True) for part in pair)


def without_notices(text: str) -> str:
    """Return the answer of a tool without the notices at its beginning and its end."""
    first, last, ends = _patterns()
    for _ in range(_MOST):
        bare = text.rstrip()
        notice = last.search(bare, max(0, len(bare) - _LONGEST)) if bare.endswith(ends) else None
        if notice is None:
            break
        text = bare[: notice.start()].rstrip()
    notice = first.match(text)
    return text[notice.end() :].lstrip("\r\n") if notice else text


def turn_without_notices(turn: Turn) -> Turn:
    """Return a turn with what tools answered in it without notices."""
    if turn.origin in {"tool", "web"}:
        turn = msgspec.structs.replace(turn, content=without_notices(turn.content))
    if turn.tool_results:
        turn = msgspec.structs.replace(turn, tool_results=tuple(map(_result, turn.tool_results)))
    return turn


def _result(value: Any) -> Any:
    """Return the result of a tool, in the shape of any API, with its texts without notices."""
    if isinstance(value, str):
        return without_notices(value)
    if isinstance(value, list | tuple):
        return [_result(one) for one in value]
    if isinstance(value, dict):
        return {key: _result(one) if key in _TEXTS else one for key, one in value.items()}
    return value
