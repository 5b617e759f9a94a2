"""Read labelled messages, and check them: `python tools/reader/labels.py [FILE …]`; see LABELS.md.

A line is `kind<TAB>text`, with marks in the text: `⟦key/topic@who!act~:span⟧`.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).with_name("labels")


def _vocabulary() -> dict[str, frozenset[str]]:
    words: dict[str, frozenset[str]] = {}
    for line in Path(__file__).with_name("vocabulary.txt").read_text("utf-8").splitlines():
        name, *some = line.split()
        words[name] = words.get(name, frozenset()) | {*some}
    return words


_WORDS: Final = _vocabulary()
KEYS: Final = _WORDS["key"]
ACTS: Final = _WORDS["act"] | {""}
"""What a mark says of its value; empty where it is so."""
KINDS: Final = _WORDS["kind"]
_MARK: Final = re.compile(r"⟦([^⟦⟧:]+):([^⟦⟧]+)⟧")
_HEAD: Final = re.compile(r"([a-z_]+)(?:/([^@!~/]+))?(?:@([^@!~/]+))?(?:!([a-z]+))?(~)?")


class Mark(NamedTuple):
    """What a message says, and where."""

    start: int
    end: int
    key: str
    topic: str
    who: str
    """Whose it is; empty for whoever writes."""
    act: str
    evidence: bool
    """Whether the span says so without naming a value."""


class Message(NamedTuple):
    """A message as typed, why there is nothing to learn from it or from a part of it, and what there is."""

    text: str
    kinds: tuple[str, ...]
    marks: tuple[Mark, ...]
    place: str
    """The file and line."""


def parse(line: str, place: str) -> Message:
    """Return a line as a message; raise ValueError where it is none."""
    kind, marked = line.split("\t")
    kinds = tuple(kind.split("+"))
    if unknown := set(kinds) - KINDS:
        raise ValueError(f"unknown kind {min(unknown)}")
    text, marks, at = "", [], 0
    for match in _MARK.finditer(marked):
        text += marked[at : match.start()]
        marks.append(_mark(match[1], len(text), len(match[2])))
        text += match[2]
        at = match.end()
    text += marked[at:]
    if set(text) & set("⟦⟧"):
        raise ValueError("a bracket is left")
    if kinds[0] == "talk" and not marks:
        raise ValueError("talk without a mark: name its kind")
    return Message(text.replace("⏎", "\n"), kinds, tuple(marks), place)


def _mark(head: str, start: int, length: int) -> Mark:
    found = _HEAD.fullmatch(head)
    if found is None:
        raise ValueError(f"bad mark {head}")
    key, topic, who, act, evidence = found.groups()
    if key not in KEYS:
        raise ValueError(f"unknown key {key}")
    if (act or "") not in ACTS:
        raise ValueError(f"unknown act {act}")
    return Mark(start, start + length, key, topic or "", who or "", act or "", bool(evidence))


def load(files: Iterable[Path] | None = None) -> Iterator[Message]:
    """Yield the messages of files, of all by default.

    Raises:
        ValueError: a line is wrong, or stands twice; the message names it.
    """
    seen: dict[str, str] = {}
    for file in sorted(FOLDER.rglob("*.tsv")) if files is None else files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if not line:
                continue
            place = f"{file.name}:{number}"
            try:
                message = parse(line, place)
            except ValueError as error:
                raise ValueError(f"{place}: {error}: {line[:90]}") from error
            if message.text in seen:
                raise ValueError(f"{place}: the same as {seen[message.text]}")
            seen[message.text] = place
            yield message


def main() -> None:
    """Check files, and count what they hold."""
    messages = list(load(map(Path, sys.argv[1:]) if sys.argv[1:] else None))
    print(f"{len(messages):,} messages, {sum(not one.marks for one in messages):,} without a mark")
    for name, counts in (
        ("kinds", Counter(kind for one in messages for kind in one.kinds)),
        ("acts", Counter(mark.act or "states" for one in messages for mark in one.marks)),
        ("keys", Counter(mark.key for one in messages for mark in one.marks)),
    ):
        print(f"{name}: " + ", ".join(f"{key} {count:,}" for key, count in counts.most_common()))


if __name__ == "__main__":
    main()
