"""Read and write generated parts, between visible markers, of files that people also edit.

    <!-- mnemark:begin core | PyqcBLHe | without: d6oB -->
    - lines that mnemark wrote
    <!-- mnemark:end core -->

The begin marker has a hash of each generated line, four signs each. So a line that a person added between the
markers is recognised and kept (it moves below the part), and one that a person removed is not written again
("without"). Earlier versions wrote the same hashes as six hexadecimal digits each, separated by blanks: such
a marker is read, and rewritten when its part is.
"""

import base64
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from mnemark.hashes import blake2b
from mnemark.text.lazy_pattern import lazy_pattern

_BEGIN: Final = lazy_pattern(
    r"^[ \t]*<!-- mnemark:begin (?P<name>[\w-]+)(?: \|(?P<own>[ \w.]*))?"
    r"(?:\| without:(?P<without>[ \w.]*))?-->[ \t]*$"
)
_END: Final = lazy_pattern(r"^[ \t]*<!-- mnemark:end (?P<name>[\w-]+) -->[ \t]*$")
_HASH_LENGTH: Final = 6
_HEX: Final = lazy_pattern(r"[0-9a-f]{6}\Z")
_SIGNS: Final = b"_."
"""What base 64 has beside letters and digits; none may be a hyphen, which would end a comment."""


class GeneratedPart(NamedTuple):
    """A generated part; `start` and `stop` are lines (0-based, half-open), markers included."""

    start: int
    stop: int
    lines: tuple[str, ...]  # generated lines that are still there
    added: tuple[str, ...]  # lines that a person wrote between the markers
    removed: frozenset[str]  # hashes of lines that a person removed


def mark(line: str) -> str:
    """Return the short hash of a line, without surrounding white space."""
    return blake2b(line.strip().encode("utf-8", "replace"), digest_size=8).hexdigest()[:_HASH_LENGTH]


def find(text: str, name: str) -> GeneratedPart | None:
    """Return the first part with that name; None unless both of its markers are there."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if (span := _spans(lines).get(name)) is None:
        return None
    start, stop = span
    head = _BEGIN.match(lines[start])
    own = set(_unpacked(head["own"])) if head else set()
    without = _unpacked(head["without"]) if head else []
    inside = [line for line in lines[start + 1 : stop - 1] if line.strip()]
    kept = tuple(line for line in inside if mark(line) in own)
    added = tuple(line for line in inside if mark(line) not in own)
    removed = (own - set(map(mark, kept))) | set(without)
    return GeneratedPart(start, stop, kept, added, frozenset(removed))


def put(text: str, name: str, lines: Iterable[str]) -> str:
    """Write `lines`, except those that a person removed, as the part `name` of `text`.

    A new part is appended. Lines that a person wrote in the part move below it; all other text is unchanged.
    Idempotent.
    """
    stop = "\r\n" if "\r\n" in text else "\n"
    part = find(text, name)
    removed = part.removed if part else frozenset[str]()
    wanted = [line for line in lines if mark(line) not in removed]
    if part is not None and not part.added and _inside(text, part) == wanted:
        return text  # also with a marker of an earlier version
    if part is None:
        if not wanted:
            return text
        gap = "" if not text else stop if text.endswith("\n") else 2 * stop
        return text + gap + stop.join(_with_markers(name, wanted, removed)) + stop
    return replace(text, name, wanted, removed)


def replace(text: str, name: str, lines: Sequence[str], removed: frozenset[str]) -> str:
    """Write the part `name`, which is there, with these lines and these hashes of removed ones.

    Lines that a person wrote in the part move below it.
    """
    part = find(text, name)
    if part is None:
        return text
    tail = "\r" if "\r\n" in text else ""
    old = text.split("\n")
    framed = [*_with_markers(name, lines, removed), *(["", *part.added] if part.added else ())]
    framed = [line + tail for line in framed]
    if part.stop == len(old) and tail:  # the last line of a file may lack its end
        framed[-1] = framed[-1].rstrip("\r")
    return "\n".join([*old[: part.start], *framed, *old[part.stop :]])


def with_marks_of(text: str, before: str) -> str:
    """Return a text whose generated lines were changed since `before`, with their hashes changed, too.

    Both have the same lines, markers included, but for the changes.
    """
    lines, old = text.split("\n"), before.split("\n")
    for start, stop in _spans(old).values():
        head = _BEGIN.match(old[start].rstrip("\r"))
        if head is None:
            continue
        inside = zip(old[start + 1 : stop - 1], lines[start + 1 : stop - 1], strict=True)
        new = {mark(one): mark(other) for one, other in inside if one != other}
        own = [new.get(one, one) for one in _unpacked(head["own"])]
        without = _unpacked(head["without"])
        said = f"| without: {_packed(without)} " if without else ""
        end = "\r" if old[start].endswith("\r") else ""
        packed = f"<!-- mnemark:begin {head['name']} | {_packed(own)}".rstrip()
        lines[start] = f"{packed} {said}-->{end}" if new else lines[start]
    return "\n".join(lines)


def _inside(text: str, part: GeneratedPart) -> list[str]:
    return [line.rstrip("\r") for line in text.split("\n")[part.start + 1 : part.stop - 1]]


def _with_markers(name: str, lines: Sequence[str], removed: frozenset[str]) -> list[str]:
    own = _packed(dict.fromkeys(mark(line) for line in lines if line.strip()))
    head = f"<!-- mnemark:begin {name} | {own}".rstrip() + " "
    head += f"| without: {_packed(sorted(removed))} " if removed else ""
    return [f"{head}-->", *lines, f"<!-- mnemark:end {name} -->"]


def _packed(marks: Iterable[str]) -> str:
    return base64.b64encode(bytes.fromhex("".join(marks)), _SIGNS).decode()


def _unpacked(text: str | None) -> list[str]:
    """Return the hashes in a marker, of this format or the one before, in hexadecimal digits."""
    found: list[str] = []
    for word in (text or "").split():
        if _HEX.match(word):
            found.append(word)
        elif len(word) % 4 == 0 and word.isascii():
            data = base64.b64decode(word, _SIGNS).hex()
            found += [data[at : at + _HASH_LENGTH] for at in range(0, len(data), _HASH_LENGTH)]
    return found


def emptied(text: str) -> str:
    """Replace generated lines by empty lines, so that line numbers do not change."""
    return "\n".join("" if owner == "ours" else line for line, owner in _owners(text))


def without(text: str, is_gone: Callable[[str], bool]) -> str:
    """Remove the generated lines for which `is_gone` is true; keep lines that people wrote."""
    left = (line for line, owner in _owners(text) if owner != "ours" or not is_gone(line.rstrip("\r")))
    return "\n".join(left)


def written(text: str) -> frozenset[str]:
    """Return the generated lines, including blank lines and markers."""
    return frozenset(line.rstrip("\r") for line, owner in _owners(text) if owner == "ours")


def outside(text: str) -> str:
    """Remove generated lines and markers; keep lines that people wrote between them."""
    kept = [(line, owner) for line, owner in _owners(text) if owner != "ours"]
    return "\n".join(line.rstrip("\r") if owner == "added" else line for line, owner in kept)


def split(text: str) -> tuple[str, str]:
    """Return what people wrote and what was generated, each with the other's lines and all markers emptied.

    Line numbers do not change.
    """
    if "<!-- mnemark:begin" not in text:
        return text, ""
    by_people, generated = [], []
    for line, owner in _owners(text):
        marker = owner == "ours" and "<!-- mnemark:" in line
        by_people.append("" if owner == "ours" else line)
        generated.append("" if owner != "ours" or marker else line)
    return "\n".join(by_people), "\n".join(generated)


def _owners(text: str) -> Iterator[tuple[str, Literal["people", "added", "ours"]]]:
    """Yield each line and its owner: "people" outside all parts, "added" by people in a part, or "ours".

    Parts may be nested: then a line is "ours" if any of them lists its hash.
    """
    lines = text.split("\n")
    begins: defaultdict[int, list[str]] = defaultdict(list)
    ends: defaultdict[int, list[str]] = defaultdict(list)
    for start, stop in sorted(_spans(lines).values()):
        head = _BEGIN.match(lines[start].rstrip("\r"))
        begins[start] = ends[stop - 1] = list(dict.fromkeys(_unpacked(head["own"]))) if head else []
    known: Counter[str] = Counter()
    depth = 0
    for at, line in enumerate(lines):
        marker = at in begins or at in ends
        if depth == 0 and at not in begins:
            yield line, "people"
        else:
            yield line, "ours" if marker or not line.strip() or known[mark(line)] > 0 else "added"
        if at in begins:
            depth += 1
            known.update(begins[at])
        if at in ends:
            depth -= 1
            known.subtract(ends[at])


def _spans(lines: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the line range of the first part of each name, half-open, markers included."""
    begun: dict[str, int] = {}
    found: dict[str, tuple[int, int]] = {}
    for at, line in enumerate(lines):
        if "<!-- mnemark:" not in line:
            continue
        bare = line.rstrip("\r")
        if (begin := _BEGIN.match(bare)) and begin["name"] not in found:
            begun[begin["name"]] = at
        elif (end := _END.match(bare)) and end["name"] in begun:
            found.setdefault(end["name"], (begun[end["name"]], at + 1))
    return found
