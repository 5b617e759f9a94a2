"""Record the turns of a conversation."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from mnemark.errors import UsageError
from mnemark.files import layout
from mnemark.files.sessions import Placed, SessionLog
from mnemark.memory.journal.sessions import Unpaged
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import ORIGINS, Origin, Turn

WINDOW: Final = 20
"""Turns of a session that its own recall leaves out: the model has them already."""
CONTEXT: Final = 4
"""Turns that a question is understood by."""
_ROLE_ORIGIN: Final[dict[str, Origin]] = {
    "user": "owner",
    "human": "owner",
    "tool": "tool",
    "function": "tool",
}


class Recorder:
    """The log of one conversation; nothing is written before the first turn."""

    def __init__(self, ws: OpenWorkspace, id: str, *, scope: str) -> None:  # noqa: A002 - the word users know
        if not id:
            raise UsageError("a session needs an id, for example cli:main")
        layout.check_border(ws.root, scope)
        self.id = id
        self.scope = scope
        self.ws = ws
        if scope:
            layout.safe_path(ws.root, scope)
        self.log = SessionLog(ws.root / scope if scope else ws.root, id)
        self.recent: deque[Placed] = deque(maxlen=WINDOW)
        self.given: set[str] = set()
        """Ids of turns whose attachments this object's caller handed in."""

    @property
    def path(self) -> str:
        """The session's file, relative to the workspace."""
        return f"{self.scope}/{self.log.name}" if self.scope else self.log.name

    def turn(self, role: str, content: str, *, time: datetime | None = None, **fields: Any) -> Turn:
        """A turn as `add` would record it, for `add_many`."""
        origin = fields.pop("origin", None) or _ROLE_ORIGIN.get(role, "agent")
        if origin not in ORIGINS:
            raise UsageError(f"origin must be one of {', '.join(ORIGINS)}, not {origin!r}")
        if not role:
            raise UsageError('a turn needs a role, for example "user"')
        fields["meta"] = fields.get("meta") or {}
        when = time or self.ws.now()
        return Turn(id="", time=when, role=role, content=content, origin=origin, **fields)

    def add_many(self, turns: Sequence[Turn]) -> list[Turn]:
        """Record turns with one write and one `fsync`: all are kept, or none."""
        self.ws.check_writable("add turns")
        placed = self.log.place([self.ws.redact(turn) for turn in turns])
        self.recent.extend(placed)
        if placed:
            self.ws.wrote(self.path, placed[-1].end)
        came = [one for one in placed if one.turn.attachments or one.turn.tool_calls]
        if came:
            self._attached(came)
        return [entry.turn for entry in placed]

    def _attached(self, came: Sequence[Placed]) -> None:
        """Turns whose attachments are to get a page, with the next sync or at the end."""
        self.given.update(one.turn.id for one in came if one.turn.attachments)
        journal = self.ws.session_journal
        with journal.lock:
            journal.waiting += [Unpaged(self.scope, self.path, frozenset(self.given), one) for one in came]

    def last(self, n: int = WINDOW) -> list[Turn]:
        """The last `n` turns, oldest first; forgotten ones are left out."""
        hidden = self.ws.index.hidden.current().turns
        found = self.log.last(n + len(hidden))
        return [turn for turn in found if turn.id not in hidden][-n:]

    @property
    def idle_since(self) -> datetime | None:
        """When something was last said, by whichever process; None where nothing was."""
        last = self.log.last(1)
        return last[0].time if last else None

    def idle(self, seconds: float, *, now: datetime | None = None) -> bool:
        """Whether nothing was said for so many seconds; not so where nothing ever was."""
        since = self.idle_since
        if since is None:
            return False
        now = now or self.ws.now()
        if (since.tzinfo is None) != (now.tzinfo is None):
            since, now = (one.replace(tzinfo=since.tzinfo or now.tzinfo) for one in (since, now))
        return (now - since).total_seconds() >= seconds
