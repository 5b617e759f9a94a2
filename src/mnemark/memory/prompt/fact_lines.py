"""Facts as lines of a prompt. `memory.prompt.facts` chooses them; who finds them kept does without it."""

from collections.abc import Mapping

import msgspec


class FactLine(msgspec.Struct, frozen=True, array_like=True):
    """A fact as a line, its ref, and the line in the other language."""

    line: str
    ref: str
    other: str


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Current facts by layer of a prompt."""

    rules: tuple[FactLine, ...] = ()
    profile: tuple[FactLine, ...] = ()  # about the user
    core: tuple[FactLine, ...] = ()  # about everything else
    skills: tuple[FactLine, ...] = ()
    other: tuple[FactLine, ...] = ()  # not vouched for: only quoted
    subjects: Mapping[str, int]
    """Number of facts by subject."""
