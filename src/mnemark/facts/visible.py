"""Remove secrets, private passages and forgotten text from texts of a workspace, and hold such a workspace.

Everything derived from a file (index, vectors) or shown to a model passes through here. Redaction marks have
no hashes (`rules_without_salt`), and line numbers are kept.
"""

import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.facts.correction_log import CorrectionLog
from mnemark.files import layout, links, trust
from mnemark.files.config import Config
from mnemark.files.journal import Journal
from mnemark.files.reading import Document, read
from mnemark.files.scan import FileEntry
from mnemark.files.secrets import redacted_turn, rules_without_salt
from mnemark.files.tombstones import TombstoneLog, Tombstones, emptied
from mnemark.files.truth import Folder
from mnemark.files.workspace import Workspace
from mnemark.hashes import blake2b
from mnemark.text import redaction
from mnemark.text.lines import lines
from mnemark.text.redaction.redact import Rules, redact
from mnemark.types import Problem, Turn

if TYPE_CHECKING:
    from mnemark.facts.store import FactStore

_LAST: Final = 4
"""Texts whose redaction is remembered, of `_SHORT` to `_LONG` characters."""
_SHORT: Final = 2_000
_LONG: Final = 1 << 19


class Visible:
    """The visible texts of one workspace. Thread-safe."""

    def __init__(self, root: Path, config: Config | None = None, journal: Journal | None = None) -> None:
        self.root = root
        self.journal = journal or Journal(Folder(root))
        self.hidden = TombstoneLog(self.journal)
        config = config or Config()
        self._patterns, self._emails = config.redact, config.redact_emails
        self._lock = threading.Lock()
        self._last: OrderedDict[bytes, str] = OrderedDict()
        """The last texts that were redacted, without their secrets, by the hash of what they were."""

    @cached_property
    def corrections(self) -> CorrectionLog:
        """Which turns were corrected."""
        return CorrectionLog(self.journal, self.hidden)

    @cached_property
    def rules(self) -> Rules:
        """The redaction rules for texts that are shown."""
        rules = rules_without_salt(self.root, patterns=self._patterns)
        return msgspec.structs.replace(rules, emails=self._emails)

    @property
    def identity(self) -> str:
        """A fingerprint of the settings that visible texts depend on, to validate derived data.

        Secrets of the environment are left out: another process's would cause a rebuild.
        """
        settings = "\0".join((str(self._emails), *self._patterns)).encode("utf-8", "replace")
        believed = "" if trust.is_trusted(self.root) else ";not trusted"
        return f"{redaction.VERSION};{blake2b(settings, digest_size=8).hexdigest()}{believed}"

    def redacted(self, text: str) -> str:
        """Return a text with secrets and private passages redacted; line numbers are kept."""
        if not _SHORT < len(text) < _LONG:
            return redact(text, self.rules, keep_lines=True).text
        # A changed file is read by the index and by the facts, each for itself.
        mark = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            found = self._last.get(mark)
        if found is None:
            found = redact(text, self.rules, keep_lines=True).text
            with self._lock:
                self._last[mark] = found
                if len(self._last) > _LAST:
                    self._last.popitem(last=False)
        return found

    def forget_texts(self) -> None:
        """Forget the texts that are remembered, after an erasure."""
        with self._lock:
            self._last.clear()

    def hidden_lines(self, text: str) -> frozenset[int]:
        """Return the numbers (from 0) of the lines, split at line feeds, that redaction changes."""
        pairs = zip(text.split("\n"), self.redacted(text).split("\n"), strict=True)
        return frozenset(number for number, (own, other) in enumerate(pairs) if own != other)

    def text(self, path: str, text: str, hidden: Tombstones | None = None) -> str:
        """Return the visible text of a note, with its line numbers; `hidden` defaults to the current."""
        hidden = self.hidden.current() if hidden is None else hidden
        return emptied(self.redacted(text), forgotten_lines(hidden, path, text))

    def read(self, path: str, entry: FileEntry | None = None) -> Document | Problem:
        """Read a file as `reading.read` does, with the visible text and the digest of the file's bytes."""
        found = read(self.root, path, entry)
        if isinstance(found, Problem):
            return found
        return msgspec.structs.replace(found, text=self.text(path, found.text))

    def turn(self, turn: Turn) -> Turn:
        """Return a turn redacted: another program may have written it."""
        redacted = redacted_turn(turn, self.rules)
        origin = trust.heard_as(self.root, turn.origin)
        return redacted if origin == turn.origin else msgspec.structs.replace(redacted, origin=origin)

    def turns(self, turns: Iterable[tuple[int, Turn]], hidden: Tombstones) -> list[tuple[int, Turn]]:
        """Return turns with their lines, redacted and without those in `hidden`."""
        return [(line, self.turn(turn)) for line, turn in hidden.turns_left(turns)]


def forgotten_lines(hidden: Tombstones, path: str, text: str) -> set[int]:
    """Return the numbers (from 1) of the forgotten lines of a note."""
    gone = hidden.lines_gone(path, text)
    place = layout.place(path)
    if hidden.facts and place is not None and place.kind == "fact":
        from mnemark.facts.files import parsed_facts

        for parsed, fact in parsed_facts(text, path, ""):
            if fact.id in hidden.facts:
                gone.update(range(parsed.bullet.line, parsed.bullet.end_line + 1))
    return gone


def restored(text: str, raw: str, visible: str) -> str:
    """Return an edited visible text with redacted lines replaced by the original lines.

    `visible` has the lines of `raw`. Lines of `text` equal to a redacted line become the original; all
    others, with or without marks, are kept.
    """
    if visible == raw:
        return text
    waiting = _hidden_runs(lines(raw), lines(visible))
    result: list[str] = []
    blank = 0
    for line in lines(text):
        if blank and not line.strip():
            blank -= 1
        elif runs := waiting.get(line.rstrip("\r\n")):
            run = runs.popleft()
            result += run
            # A redacted passage shows a mark on its first line; the blank lines after it may be gone.
            blank = len(run) - 1
        else:
            result.append(line)
            blank = 0
    return "".join(result)


def _hidden_runs(raw: Iterable[str], visible: Iterable[str]) -> dict[str, deque[list[str]]]:
    """Return the runs of redacted lines by the visible line shown for the first."""
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


class PlainWorkspace(Workspace):
    """A workspace with its visible texts and facts, without an index, for those who cannot wait for one."""

    def __init__(
        self, root: Path, config: Config, *, readonly: bool = False, machine: str | None = None,
        truth: Folder | None = None,
    ) -> None:  # fmt: skip
        links.check(root)
        super().__init__(root, config, readonly=readonly, machine=machine, truth=truth)
        self.visible = Visible(root, config, self.journal)

    @cached_property
    def fact_store(self) -> "FactStore":
        """The facts. Where several threads use the workspace, the first use has to come before them."""
        from mnemark.facts.store import FactStore

        return FactStore(self, self.visible.redacted)
