"""Show texts of a workspace without secrets, private passages and what was forgotten.

What is derived from a file (index, vectors), and what is shown to a model, goes through here. Marks have no
hashes (`rules_without_salt`), and lines keep their numbers.
"""

import hashlib
from collections import defaultdict, deque
from collections.abc import Iterable
from functools import cached_property
from io import StringIO
from pathlib import Path

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


class Visible:
    """The visible texts of one workspace. Safe to use from several threads."""

    def __init__(self, root: Path, config: Config | None = None, journal: Journal | None = None) -> None:
        self.root = root
        self.journal = journal or Journal(root)
        self.hidden = TombstoneLog(self.journal)
        config = config or Config()
        self._patterns, self._emails = config.redact, config.redact_emails

    @cached_property
    def rules(self) -> Rules:
        """The rules for redacting texts that are shown."""
        rules = rules_without_salt(self.root, patterns=self._patterns)
        return msgspec.structs.replace(rules, emails=self._emails)

    @property
    def identity(self) -> str:
        """Identifies the settings that visible texts depend on, to keep what is derived from them.

        Secrets of the environment are left out: those of another process would make all of it anew.
        """
        settings = "\0".join((str(self._emails), *self._patterns)).encode("utf-8", "replace")
        return f"{spans.VERSION};{hashlib.blake2b(settings, digest_size=8).hexdigest()}"

    def redacted(self, text: str) -> str:
        """Redact secrets and private passages of a text; lines keep their numbers."""
        return redact(text, self.rules, keep_lines=True).text

    def hidden_lines(self, text: str) -> frozenset[int]:
        """Return the numbers (from 0) of the lines, split at line feeds, in which something is redacted."""
        pairs = zip(text.split("\n"), self.redacted(text).split("\n"), strict=True)
        return frozenset(number for number, (own, other) in enumerate(pairs) if own != other)

    def text(self, path: str, text: str, hidden: Tombstones | None = None) -> str:
        """Return the visible text of a note; lines keep their numbers. `hidden` is by default as of now."""
        hidden = self.hidden.current() if hidden is None else hidden
        return emptied(self.redacted(text), forgotten_lines(hidden, path, text))

    def read(self, path: str, entry: Entry | None = None) -> Document | Problem:
        """Read a file as `reading.read` does, with the visible text and the digest of the file's bytes."""
        found = read(self.root, path, entry)
        if isinstance(found, Problem):
            return found
        return msgspec.structs.replace(found, text=self.text(path, found.text))

    def turn(self, turn: Turn) -> Turn:
        """Redact a turn, which another program may have written."""
        return redacted_turn(turn, self.rules)

    def turns(self, turns: Iterable[tuple[int, Turn]], hidden: Tombstones) -> list[tuple[int, Turn]]:
        """Redact turns, each with its line, and leave out those in `hidden`."""
        return [(line, self.turn(turn)) for line, turn in hidden.turns_left(turns)]


def forgotten_lines(hidden: Tombstones, path: str, text: str) -> set[int]:
    """Return the numbers (from 1) of the lines of a note that are forgotten."""
    gone = hidden.lines_gone(path, text)
    place = layout.place(path)
    if hidden.facts and place is not None and place.kind == "fact":
        for parsed, fact in zip(parse(text), facts_in(text, path, ""), strict=True):
            if fact.id in hidden.facts:
                gone.update(range(parsed.bullet.line, parsed.bullet.end_line + 1))
    return gone


def restored(text: str, raw: str, visible: str) -> str:
    """Replace lines with marks in an edited visible text by the file's own.

    `visible` has the lines of `raw`. Lines of `text` that are as they were shown become what the file holds;
    a mark on any other line stays, and so does everything that was added.
    """
    if visible == raw:
        return text
    waiting = _hidden_runs(_lines(raw), _lines(visible))
    result: list[str] = []
    blank = 0
    for line in _lines(text):
        if blank and not line.strip():
            blank -= 1
        elif runs := waiting.get(line.rstrip("\r\n")):
            run = runs.popleft()
            result += run
            # Of a passage of several lines only the first shows a mark; the blank ones behind may be gone.
            blank = len(run) - 1
        else:
            result.append(line)
            blank = 0
    return "".join(result)


def _hidden_runs(raw: Iterable[str], visible: Iterable[str]) -> dict[str, deque[list[str]]]:
    """Return the lines of a file that are not visible, by the line shown for the first of them."""
    found: defaultdict[str, deque[list[str]]] = defaultdict(deque)
    run: list[str] | None = None
    for own, shown in zip(raw, visible, strict=True):
        if own == shown:
            run = None
        elif shown.strip():
            run = [own]
            found[shown.rstrip("\r\n")].append(run)
        elif run is not None:
            run.append(own)
    return found


def _lines(text: str) -> Iterable[str]:
    return StringIO(text, newline="")
