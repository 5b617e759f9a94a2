"""Define `Fact`, its types and priorities, and how far each origin is trusted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, TypedDict

import msgspec

from mnemark.facts.keys import content_key, holds_many, predicate_key, subject_key
from mnemark.text.lines import clean
from mnemark.types import Origin

TRUST: Final[dict[Origin, int]] = {"owner": 4, "agent": 3, "file": 3, "import": 2, "tool": 1, "web": 1}
EXPLICIT: Final = 0.8
"""Minimum importance of what the owner asked to remember; such statements enter core memory at once."""
TYPES: Final = ("fact", "preference", "rule", "skill", "error")
PRIORITIES: Final = ("transient", "short", "long", "permanent")


class FactOptions(TypedDict, total=False):
    """What can be said of a fact beside its subject, predicate and value; `NewFact` describes each."""

    type: str
    origin: Origin
    since: datetime | str | None
    importance: float | None
    confidence: float | None
    priority: str
    tags: Sequence[str]
    source: str | None
    replaces: str


class NewFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact to remember: what Python, the command line, HTTP and the tools of models can say of one."""

    predicate: str
    """In any language; empty for a statement."""
    value: str
    subject: str = "user"
    type: str = "fact"
    """One of `TYPES`."""
    origin: Origin = "owner"
    since: datetime | str | None = None
    """When it began to hold: a datetime, ISO text, or words such as "last week"; now by default."""
    importance: float | None = None
    """0 to 1, as `confidence`."""
    confidence: float | None = None
    priority: str = ""
    """One of `PRIORITIES`."""
    tags: Sequence[str] = ()
    source: str | None = None
    """A ref such as `sessions/cli-main-3f2a.jsonl#L12`."""
    scope: str = ""
    """Such as "users/ann"."""
    replaces: str = ""
    """Id or ref of a fact that this one replaces, where subject and predicate do not tell."""


def refs_in(source: str) -> tuple[str, ...]:
    """Return the refs in the `source` of a fact, which separates them by commas."""
    return tuple(ref for part in source.split(",") if (ref := part.strip()))


class Otherwise(msgspec.Struct, frozen=True, kw_only=True):
    """Later words that speak against a fact, but not surely enough to end it."""

    id: str
    """Of the proposal that waits for review."""
    time: str
    source: str
    quote: str

    def __str__(self) -> str:
        return f"but on {self.time[:10]}: “{self.quote}”"


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One value of one predicate. Times are ISO text as written; a date begins at midnight."""

    id: str
    subject: str = "user"
    predicate: str = ""
    """As written; empty for a statement."""
    value: str
    type: str = "fact"
    since: str = ""
    """Begin of validity, as far as known."""
    until: str = ""
    """End of validity; empty while it holds."""
    recorded: str = ""
    """When mnemark learned it."""
    origin: Origin = "file"
    importance: float | None = None
    confidence: float | None = None
    priority: str = ""
    tags: tuple[str, ...] = ()
    source: str = ""
    supersedes: str = ""
    ended: str = ""
    """The ref of the turn that said that it no longer holds."""
    scope: str = ""
    path: str = ""
    """Its file, relative to the workspace; while pending, the file it will be written to."""
    line: int = 0
    """First line of its bullet; 0 if it is in no file."""
    pending: bool = False
    """Whether it is in the journal but not yet in its file."""
    against: str = ""
    """Of a proposal: the line of a person's that it contradicts, with its ref."""
    quote: str = ""
    """Of a proposal that says otherwise than a fact: the sentence that does."""
    review: str = ""
    """Why it needs review by a person ("untrusted", "conflict", "removed", "otherwise", or "correction" and
    "never", which say that what it `supersedes` is wrong); until then it is not valid. With `until`, what is
    proposed is that it ended."""
    otherwise: Otherwise | None = None
    """What was said later against it, while nobody decided on that."""

    def __str__(self) -> str:
        about = f"{self.subject} {self.predicate}".strip()
        return f"{about}: {self.value}" if about else self.value

    @property
    def key(self) -> tuple[str, str, str]:
        """Keys of subject, predicate and, for plurals, value: facts of one key supersede each other."""
        value = content_key(self.predicate, self.value) if holds_many(self.predicate) else ""
        return subject_key(self.subject), predicate_key(self.predicate), value

    @property
    def ref(self) -> str:
        """The ref of its bullet, `path#L3`; empty if it is in no file."""
        return f"{self.path}#L{self.line}" if self.line else ""


def fact_text(fact: Fact) -> str:
    """Return the text of a fact that is indexed and embedded."""
    return clean(f"{fact.predicate}: {fact.value}" if fact.predicate else fact.value)
