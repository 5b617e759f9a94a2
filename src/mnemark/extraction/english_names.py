"""Read what is called how: names, favorites, hobbies, goals."""

from collections.abc import Sequence
from typing import Final

from mnemark.extraction.candidate import Found, is_program
from mnemark.extraction.english_objects import is_general, joined, values
from mnemark.extraction.english_parse import Said
from mnemark.extraction.english_plans import read_want
from mnemark.extraction.english_words import class_of, singular, word_set

_KINDS: Final = frozenset(
    {
        "editor",
        "code editor",
        "text editor",
        "ide",
        "shell",
        "terminal",
        "os",
        "browser",
        "database",
        "package manager",
    }
)


def named(subject: str, rest: Sequence[str]) -> list[Found]:  # noqa: C901, PLR0911 - one question a wording
    """Read what is called how: "my dog's name is Rex", "my favorite band is Queen", "my name is ann"."""
    value = joined(rest)
    words = subject.split(" ")
    first = words[0].removesuffix("'s")
    if words[-1] == "name" and len(words) > 1:
        kind = class_of(words[-2] if words[-2] != "'s" else words[-3])
        noun = singular(words[-2] if words[-2] != "'s" else words[-3])
        if not _is_name(rest):
            return []
        name = _titled(rest)
        predicate = {"animal": "pets", "child": "children", "sibling": "siblings"}.get(kind, "")
        if predicate:
            return [Found("user", predicate, f"{name} ({noun})")]
        return (
            [Found("user", "spouse", name)]
            if kind == "partner"
            else [Found(noun, "name", name)]
            if kind in {"parent", "relative"}
            else []
        )
    if subject in {"nickname", "best friend"} and _is_name(rest):
        return [Found("user", "nickname" if subject == "nickname" else "friends", _titled(rest))]
    if subject == "name" and _is_name(rest):
        return [Found("user", "name", _titled(rest))]
    if first == "favorite" and (kind := subject.removeprefix("favorite ")) in _KINDS:
        return [Found("user", kind, value)] if is_program(value) else []
    if (
        first == "favorite"
        and len(words) > 1
        and is_general(rest, longest=6, lenient=True)
        and rest[0].casefold() not in {"to", "when", "because", "in", "for", "so"}
    ):
        return [Found("user", subject, value[:1] + value[1:])]
    if first in {"hobby", "hobbies", "interests", "pastimes"} and is_general(rest, longest=10):
        rest = rest[1:] if rest[0].casefold() == "include" else rest
        return [Found("user", "hobbies", one) for one in values(rest)]
    if (
        words[-1] in {"dream", "goal", "ambition"}
        and len(rest) > 2
        and rest[0].casefold() == "to"
        and is_general(rest[1:], longest=9)
    ):
        wanted = read_want(
            Said("I", "", "present", negative=False, ended=False, verb="want", rest=tuple(rest)), "user"
        )
        return wanted or ([Found("user", "goals", joined(rest[1:]))] if words[-1] == "dream" else [])
    if words[-1] in {"degree", "major"} and is_general(rest, longest=6):
        return [
            Found(
                "user",
                "degree" if words[-1] == "degree" else "major",
                joined(rest[1:] if rest[0].casefold() == "in" else rest),
            )
        ]
    return []


def _is_name(words: Sequence[str]) -> bool:
    low = [word.casefold() for word in words]
    return 1 <= len(words) <= 3 and all(word.isalpha() and len(word) > 1 for word in low) and (
        all(word[:1].isupper() for word in words) or (len(words) == 1 and low[0] not in _NO_NAMES and not low[0].endswith(("ed", "ing")))
    )  # fmt: skip


_NO_NAMES: Final = word_set(
    "not on in the a very hard easy long short common unusual wrong private unknown secret important here there too also so still similar same"
)


def _titled(words: Sequence[str]) -> str:
    return " ".join(word if word[:1].isupper() else word.capitalize() for word in words)
