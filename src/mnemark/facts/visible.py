"""Show texts of a workspace without secrets, private passages and what was forgotten.

A person's file stays as it is; what is derived from it (index, vectors), and what is shown to a model, goes
through here. Marks have no hashes (`rules_without_salt`), and the numbers of all lines hold.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from mnemark.facts.files import facts_in
from mnemark.facts.parse import parse
from mnemark.files import layout
from mnemark.files.config import Config
from mnemark.files.journal import Journal
from mnemark.files.reading import Document, read
from mnemark.files.scan import Entry
from mnemark.files.secrets import redacted_turn, rules_without_salt
from mnemark.files.tombstones import TombstoneLog, Tombstones, emptied
from mnemark.text.redaction import spans
from mnemark.text.redaction.redact import Rules, redact
from mnemark.types import Problem, Turn

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")


class Visible:
    """The visible texts of one workspace. Safe to use from several threads."""

    def __init__(self, root: Path, config: Config | None = None, journal: Journal | None = None) -> None:
        self.root = root
        self.journal = journal or Journal(root)
        self.hidden = TombstoneLog(self.journal)
        """What was forgotten and is still in the files."""
        config = config or Config()
        self._patterns, self._emails = config.redact, config.redact_emails

    @cached_property
    def rules(self) -> Rules:
        """What is taken out of texts that are handed on."""
        rules = rules_without_salt(self.root, patterns=self._patterns)
        return msgspec.structs.replace(rules, emails=self._emails)

    @property
    def identity(self) -> str:
        """What must be the same for something derived from visible texts to be still right.

        Secrets of the environment are not in it: those of another process would make all of it anew.
        """
        settings = "\0".join((str(self._emails), *self._patterns)).encode("utf-8", "replace")
        return f"{spans.VERSION};{hashlib.blake2b(settings, digest_size=8).hexdigest()}"

    def redacted(self, text: str) -> str:
        """A text without secrets and private passages; lines keep their numbers."""
        return redact(text, self.rules, keep_lines=True).text

    def hidden_lines(self, text: str) -> frozenset[int]:
        """Numbers (from 0) of the lines, split at line feeds, in which something is not visible."""
        shown = self.redacted(text)
        if shown == text:
            return frozenset()
        pairs = zip(text.split("\n"), shown.split("\n"), strict=True)
        return frozenset(number for number, (own, other) in enumerate(pairs) if own != other)

    def text(self, path: str, text: str, hidden: Tombstones | None = None) -> str:
        """What is visible of a note's text, given as the file holds it; lines keep their numbers.

        `hidden` is what was forgotten at a moment; by default, now.
        """
        hidden = self.hidden.current() if hidden is None else hidden
        return emptied(self.redacted(text), forgotten_lines(hidden, path, text))

    def read(self, path: str, entry: Entry | None = None) -> Document | Problem:
        """`reading.read` with the visible text; the digest stays that of the file's bytes."""
        found = read(self.root, path, entry)
        if isinstance(found, Problem):
            return found
        return msgspec.structs.replace(found, text=self.text(path, found.text))

    def turn(self, turn: Turn) -> Turn:
        """A turn without secrets, whoever wrote it down; what mnemark wrote comes back as it is."""
        return redacted_turn(turn, self.rules)

    def turns(self, turns: Iterable[tuple[int, Turn]], hidden: Tombstones) -> list[tuple[int, Turn]]:
        """Turns, each with its line, without secrets and without those of `hidden`."""
        return [(line, self.turn(turn)) for line, turn in hidden.turns_left(turns)]


def forgotten_lines(hidden: Tombstones, path: str, text: str) -> set[int]:
    """Numbers (from 1) of the lines of a note, as the file holds it, that are forgotten: words and facts."""
    gone = hidden.lines_gone(path, text)
    place = layout.place(path)
    if hidden.facts and place is not None and place.kind == "fact":
        for parsed, fact in zip(parse(text), facts_in(text, path, ""), strict=True):
            if fact.id in hidden.facts:
                gone.update(range(parsed.bullet.line, parsed.bullet.end_line + 1))
    return gone


def restored(text: str, raw: str, visible: str) -> str:
    """A text made from what is visible of a file, with the file's own lines where marks stand for them.

    `visible` has the lines of `raw`. Lines of `text` that are as they were shown become again what the file
    holds; a mark on any other line stays, and so does everything that was added.
    """
    if visible == raw:
        return text
    waiting = _hidden_runs(_lines(raw), _lines(visible))
    result: list[str] = []
    lines = _lines(text)
    at = 0
    while at < len(lines):
        shown = lines[at].rstrip("\r\n")
        at += 1
        runs = waiting.get(shown)
        if not runs:
            result.append(lines[at - 1])
            continue
        run = runs.pop(0)
        result += run
        # Of a passage of several lines only the first shows a mark; the blank ones behind it may be gone.
        for _ in run[1:]:
            if at < len(lines) and not lines[at].strip():
                at += 1
    return "".join(result)


def _hidden_runs(raw: Sequence[str], visible: Sequence[str]) -> dict[str, list[list[str]]]:
    """Lines of a file that are not shown as they are, by the line shown for the first of them."""
    found: dict[str, list[list[str]]] = {}
    run: list[str] | None = None
    for own, shown in zip(raw, visible, strict=True):
        if own == shown:
            run = None
        elif shown.strip():
            run = [own]
            found.setdefault(shown.rstrip("\r\n"), []).append(run)
        elif run is not None:
            run.append(own)
    return found


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)[:-1]
