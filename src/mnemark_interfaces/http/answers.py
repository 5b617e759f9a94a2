"""Say what each call of the JSON API answers: nothing at run time needs it but the OpenAPI document."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, NotRequired, TypedDict

from mnemark.facts.correct import Corrected
from mnemark.facts.model import Fact
from mnemark.index.sync import SyncReport
from mnemark.memory.browse.browse import FoundPage, ReviewPage
from mnemark.memory.browse.change_rows import ChangeDetail, ChangeRow
from mnemark.memory.browse.entries import Day, TimelineEntry
from mnemark.memory.browse.fact_rows import FactPage
from mnemark.memory.browse.page import Page
from mnemark.memory.browse.session_rows import AgentSeen, AttachmentRow, TurnRow
from mnemark.memory.browse.usage import DiskPart, Recalled, Spend, UsedDay
from mnemark.memory.consolidation.report import Consolidated
from mnemark.memory.forgetting.receipt import Receipt
from mnemark.memory.health.doctor import Finding, Level
from mnemark.memory.merging.merge import Merged
from mnemark.memory.prompt.builder import Prompt
from mnemark.memory.review.attention import Attention
from mnemark.memory.review.explain import Why
from mnemark.memory.sessions.ending import Ended
from mnemark.memory.sessions.history import ListedSession
from mnemark.memory.undo.revert import Reverted
from mnemark.memory.undo.undo import Pinned, Undone
from mnemark.types import Origin, Recall, Turn
from mnemark_interfaces.status import Status


class ReadAnswer(TypedDict):
    """The text of a ref."""

    ref: str
    text: str


class KeptTurn(TypedDict):
    """A turn that was recorded; its id is empty where the memory is off the record."""

    id: str
    time: datetime


class TurnsAnswer(TypedDict):
    """The session's file and its new turns; `off_record` where some were not kept."""

    session: str
    path: str
    turns: list[KeptTurn]
    off_record: NotRequired[bool]


class ObservationKept(TypedDict):
    """A tool call that was recorded."""

    id: str
    time: datetime
    session: str
    tool: str
    title: str
    failed: bool


class ObserveAnswer(TypedDict):
    """None for reads and listings, and for a call that was recorded before."""

    observation: ObservationKept | None


class FactsAnswer(TypedDict):
    """Facts."""

    facts: list[Fact]


class UndoAnswer(TypedDict):
    """The changes that were undone."""

    undone: list[Undone]


class SaidTurn(TypedDict):
    """A turn and where it stands."""

    turn: Turn
    session: str
    path: str
    line: int
    scope: str


class SaidAnswer(TypedDict):
    """Turns."""

    turns: list[SaidTurn]


class WriteAnswer(TypedDict):
    """Where the note stands; `id` is of the change, `redacted` the kinds of secrets that were taken out."""

    status: Literal["written", "unchanged"]
    path: str
    ref: str
    id: NotRequired[str]
    redacted: NotRequired[list[str]]


class TimelineRow(TypedDict):
    """A turn, a note or a change."""

    time: str
    ref: str
    kind: str
    origin: Origin
    text: str
    who: NotRequired[str]
    session: NotRequired[str]


class TimelineAnswer(TypedDict):
    """The latest entries, oldest first."""

    entries: list[TimelineRow]


class ContextAnswer(TypedDict):
    """Core memory and today's notes."""

    text: str


class DaysAnswer(TypedDict):
    """Counts of each day."""

    days: list[Day]


class UsedAnswer(TypedDict):
    """What recalls gave to models on each day."""

    days: list[UsedDay]


class AgentsAnswer(TypedDict):
    """Agents."""

    agents: list[AgentSeen]


class DiskAnswer(TypedDict):
    """Parts of the workspace."""

    parts: list[DiskPart]


class RecalledAnswer(TypedDict):
    """What was recalled last."""

    recalled: list[Recalled]


class TimelinePage(Page[TimelineEntry], frozen=True, kw_only=True):
    """Some entries, the latest first."""


class SessionsPage(Page[ListedSession], frozen=True, kw_only=True):
    """Some sessions, the last written first."""


class TurnsPage(Page[TurnRow], frozen=True, kw_only=True):
    """Some turns of a log."""


class AttachmentsPage(Page[AttachmentRow], frozen=True, kw_only=True):
    """Some attachments, the latest first."""


class ChangesPage(Page[ChangeRow], frozen=True, kw_only=True):
    """Some changes, the latest first."""


class DecidedAnswer(TypedDict):
    """The fact that was decided on; None for a change in a fact file."""

    fact: Fact | None


class AttentionAnswer(TypedDict):
    """What needs a person."""

    attention: list[Attention]


class DoctorAnswer(TypedDict):
    """Findings, and the worst level of them."""

    level: Level
    findings: list[Finding]


class ToolText(TypedDict):
    """A text for the model."""

    type: Literal["text"]
    text: str


class ToolAnswer(TypedDict):
    """The result of a tool as in MCP: `structuredContent` is the same as data, and absent from an error."""

    content: list[ToolText]
    isError: bool
    structuredContent: NotRequired[dict[str, Any]]


class TicketAnswer(TypedDict):
    """A ticket, the path to post it to, and the address to bookmark."""

    path: str
    ticket: str
    bookmark: str
    moved_from: NotRequired[int]


class WaitingAnswer(TypedDict):
    """Whether the ticket is valid and nobody has come in with it."""

    waiting: bool


class HealthAnswer(TypedDict):
    """The daemon; `mcp` is the version of the SDK with which it speaks MCP, None without it."""

    name: str
    version: str
    pid: int
    workspaces: int
    running: int
    served: int
    mcp: str | None


ANSWERS: Final[Mapping[str, Any]] = {
    "search": Recall,
    "recall": Recall,
    "read": ReadAnswer,
    "turns": TurnsAnswer,
    "observe": ObserveAnswer,
    "session/end": Ended,
    "remember": Fact,
    "correct": Corrected,
    "facts": FactsAnswer,
    "forget": Receipt,
    "undo": UndoAnswer,
    "merge": Merged,
    "revert": Reverted,
    "pin": Pinned,
    "said": SaidAnswer,
    "write": WriteAnswer,
    "timeline": TimelineAnswer,
    "context": ContextAnswer,
    "prompt": Prompt,
    "sync": SyncReport,
    "status": Status,
    "consolidate": Consolidated,
    "browse/search": FoundPage,
    "browse/facts": FactPage,
    "browse/timeline": TimelinePage,
    "browse/activity": DaysAnswer,
    "browse/sessions": SessionsPage,
    "browse/agents": AgentsAnswer,
    "browse/turns": TurnsPage,
    "browse/attachments": AttachmentsPage,
    "browse/review": ReviewPage,
    "browse/changes": ChangesPage,
    "browse/change": ChangeDetail,
    "browse/spend": Spend,
    "browse/disk": DiskAnswer,
    "browse/used": UsedAnswer,
    "browse/recalled": RecalledAnswer,
    "why": Why,
    "accept": DecidedAnswer,
    "reject": DecidedAnswer,
    "attention": AttentionAnswer,
    "doctor": DoctorAnswer,
    "ui/ticket": TicketAnswer,
    "ui/waiting": WaitingAnswer,
}
"""Of `POST /v1/<name>`, but those of the tools, which are all `ToolAnswer`."""
