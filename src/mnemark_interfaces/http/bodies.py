"""Define the calls of the JSON API and their bodies; fields are those of the Python API, others an error."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import msgspec

from mnemark.facts.correct import Right
from mnemark.types import Kind, Origin

Milliseconds = Annotated[int, msgspec.Meta(ge=0)]
Name = Annotated[str, msgspec.Meta(min_length=1)]


class Body(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A request about one workspace."""

    workspace: str
    """Absolute path of the folder."""


class Owned(Body, kw_only=True):
    """A request about the session of a user, an agent or a project."""

    user: str | None = None
    agent: str | None = None
    project: str | None = None


class PageBody(Body, kw_only=True):
    """A request for a page of a list."""

    limit: int = 50
    after: str = ""
    """The mark at which the page before ended."""


class Call(NamedTuple):
    """A call of the API: `POST /v1/<name>`."""

    name: str
    body: type[msgspec.Struct]
    """A `Body`, or what has its `workspace` otherwise."""
    run: Callable[[Any, Any], Any]
    """Of the `PooledWorkspace` and the body."""
    summary: str
    idempotent: bool = True
    """Whether it may be sent again where its answer was lost: twice is the same as once."""
    reads: bool = False
    """Whether it changes nothing: a key for reading may make it."""
    one_machine: bool = False
    """Whether it is of the machine that it runs on, such as its folders: a server does not answer it."""


def fields_of(body: msgspec.Struct, *left_out: str) -> dict[str, Any]:
    """Return the fields of a request without `workspace` and those left out."""
    return {
        name: getattr(body, name) for name in body.__struct_fields__ if name not in {"workspace", *left_out}
    }


class SearchBody(Body):
    """As `Memory.search`."""

    query: str
    k: int | None = None
    kinds: list[Kind] | None = None
    origins: list[Origin] | None = None
    since: str | None = None
    until: str | None = None
    as_of: str | None = None
    scope: str | list[str] | None = None
    archived: bool = False
    explain: bool = False
    preset: str | None = None
    context: list[str] = []


class RecallBody(Owned):
    """As `Memory.recall`; with `session`, as `Session.recall`: its last turns help, and are left out."""

    query: str
    budget: int | None = None
    deadline: float | None = None
    """Seconds."""
    k: int | None = None
    scope: str | list[str] | None = None
    session: str | None = None


class ReadBody(Body):
    """As `Memory.read`."""

    ref: str
    """`path`, `path#L12`, `path#L12-L30` or `path#L12C341-L12C900`."""


class NewTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One turn, as `Session.add` takes it."""

    role: str
    content: str
    time: datetime | None = None
    origin: Origin | None = None
    tool_calls: list[Any] = []
    tool_results: list[Any] = []
    attachments: list[Any] = []
    duration_ms: Milliseconds | None = None
    meta: dict[str, Any] = {}


class TurnsBody(Owned):
    """Turns of one session: all are kept, or none."""

    session: str
    turns: Sequence[NewTurn]
    call: str = ""
    """An id of this request that the client makes: sent again with it, the same turns are kept once."""


class ObserveBody(Owned):
    """As `Session.observe`: a tool was run."""

    session: str
    tool: Name
    arguments: Any = None
    result: Any = None
    call: str = ""
    error: str | None = None
    duration_ms: Milliseconds | None = None
    time: datetime | None = None
    tools: list[str] | None = None


class EndSessionBody(Owned):
    """As `Session.end`, by rule."""

    session: str
    summary: bool = True


class RememberBody(Body):
    """As `Memory.remember`."""

    predicate: str
    value: str
    subject: str = "user"
    type: str = "fact"
    origin: Origin = "owner"
    since: str | None = None
    importance: float | None = None
    confidence: float | None = None
    priority: str = ""
    tags: list[str] = []
    source: str | None = None
    scope: str = ""
    replaces: str = ""


class CorrectBody(Right, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As `Memory.correct`; `ref` may also be words that only one fact has."""

    workspace: str
    ref: str
    scope: str = ""


class FactsBody(Body):
    """As `Memory.facts`."""

    subject: str | None = None
    as_of: str | None = None
    history: bool = False
    scope: str = ""


class ForgetBody(Body):
    """As `Memory.forget`."""

    ref: str | None = None
    query: str | None = None
    session: str | None = None
    origin: Origin | None = None
    since: str | None = None
    id: str | None = None
    erase: bool = False
    dry_run: bool = False
    scope: str | None = None
    git: bool = False


class WriteBody(Body):
    """A line of today's note, or a paragraph of the long-term memory."""

    text: str
    target: str = "today"
    scope: str = ""


class TimelineBody(Body):
    """What was written last."""

    limit: int = 20
    since: str | None = None
    session: str | None = None
    scope: str | None = None


class ContextBody(Body):
    """As `Memory.context`."""

    scope: str = ""
    budget: int | None = None


class PromptBody(Owned):
    """As `Memory.prompt`; `session` with `user` or `agent` as for `Recall`."""

    query: str | None = None
    session: str | None = None
    scope: str = ""
    budget: int = 3_000
    layers: dict[str, int] | None = None
    deadline: float | None = None
    persona: str | None = None


class UndoBody(Body):
    """As `Memory.undo`: the change of an id or group, or the last one."""

    id: str | None = None


class MergeBody(Body):
    """As `Memory.merge`: `other` is a folder on this machine that the user made or trusted here."""

    other: str
    dry_run: bool = False


class RevertBody(Body):
    """As `Memory.revert`."""

    session: str | None = None
    origin: Origin | None = None
    since: str | None = None
    dry_run: bool = False


class PinBody(Body):
    """As `Memory.pin`."""

    ref: str


class SaidBody(Body):
    """As `Memory.turns`."""

    session: str | None = None
    since: str | None = None
    until: str | None = None
    role: str | None = None
    tool: str | None = None
    limit: int | None = 100
    scope: str | list[str] | None = None


class SyncBody(Body):
    """As `Memory.sync`."""

    embed: bool = True


class StatusBody(Body):
    """The state of a workspace."""


class ConsolidateBody(Body):
    """As `Memory.consolidate`."""

    dry_run: bool = False
    force: bool = False
    commit: bool | None = None
    since: str | None = None
    only: list[str] | None = None


class ToolCallBody(Body):
    """A call of one of the memory tools."""

    arguments: dict[str, Any] = {}
    folder: str = ""
    """The folder that the client works in: the memory of its project is used where no scope is named."""


class TicketBody(Body):
    """Ask for a ticket that lets a browser in once, within a minute, and the path that a form posts it to."""


class WaitingBody(Body):
    """Ask whether a ticket is valid and nobody has come in with it yet."""

    ticket: str
