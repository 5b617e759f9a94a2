"""Record the turns of a conversation."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import structs

from mnemark.errors import UsageError, one_of, text_given
from mnemark.files import layout
from mnemark.files.disk_errors import tells_os_errors
from mnemark.files.ids import derived_id, new_id
from mnemark.files.layout import in_scope
from mnemark.files.sessions import WINDOW, Placed, SessionLog
from mnemark.memory.journal.sessions import Unpaged
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.redaction.redact import without_keys
from mnemark.types import ORIGINS, Origin, Turn

_DAY_SECONDS: Final = 86_400.0
_ROLE_ORIGIN: Final[dict[str, Origin]] = {
    "user": "owner", "human": "owner", "tool": "tool", "function": "tool",
}  # fmt: skip


@tells_os_errors
class Recorder:
    """Append turns to the log of one session; its file is created with the first turn."""

    def __init__(self, ws: OpenWorkspace, id: str, *, scope: str) -> None:  # noqa: A002 - the word users know
        if not text_given(id, "the id of a session"):
            raise UsageError("a session needs an id, for example cli:main")
        layout.check_border(ws.root, scope)
        if scope:
            layout.safe_path(ws.root, scope)
        self.id = without_keys(id)
        self.scope = scope
        self.ws = ws
        self.log = SessionLog(ws.root / scope, id)
        self.recent: deque[Placed] = deque(maxlen=WINDOW)
        self.given: set[str] = set()
        """Ids of turns whose attachments the caller passed in: these files may be read."""

    @property
    def path(self) -> str:
        """The session's file, relative to the workspace."""
        return in_scope(self.scope, self.log.name)

    def turn(self, role: str, content: str, *, time: datetime | None = None, **fields: Any) -> Turn:
        """Return a turn as `add` would record it, for `add_many`."""
        origin = one_of(fields.pop("origin", None) or _ROLE_ORIGIN.get(role, "agent"), ORIGINS, "origin")
        text_given(content, "what was said")
        if not text_given(role, "the role of a turn"):
            raise UsageError('a turn needs a role, for example "user"')
        fields["meta"] = fields.get("meta") or {}
        if time is not None and not isinstance(time, datetime):
            raise UsageError(f"the time of a turn must be a datetime, not {time!r}")
        when = time or self.ws.now()
        return Turn(id="", time=when, role=role, content=content, origin=origin, **fields)

    def add_many(self, turns: Sequence[Turn]) -> list[Turn]:
        """Record turns with one write and one `fsync`: all of them, or none.

        While the memory is off the record none is, and each is returned with an empty id.
        """
        self.ws.check_writable("add turns")
        new = list(turns)
        if not all(isinstance(turn, Turn) for turn in new):
            raise UsageError("give turns as `session.turn(role, content)` returns them")
        redacted = [self.ws.redact(turn) for turn in new]
        named = [turn if turn.id else structs.replace(turn, id=new_id()) for turn in redacted]
        placed = self.log.append(self.ws.truth, named)
        self.recent.extend(placed)
        if placed:
            self.ws.searcher.wrote(self.path, self.scope, placed)
        with_files = [one for one in placed if one.turn.attachments or one.turn.tool_calls]
        if with_files:  # their attachment pages are written with the next sync or at the session's end
            self.given.update(one.turn.id for one in with_files if one.turn.attachments)
            given, journal = frozenset(self.given), self.ws.session_journal
            with journal.lock:
                journal.waiting += [Unpaged(self.scope, self.path, given, one) for one in with_files]
        kept = {entry.turn.id: entry.turn for entry in placed}
        return [kept.get(turn.id) or structs.replace(turn, id="") for turn in named]

    def add_once(self, turns: Sequence[Turn], call: str) -> list[Turn]:
        """Record turns as `add_many` does, but for those that the same call recorded before.

        So a call whose answer was lost can be repeated. A turn that is there already is returned as it is.

        Args:
            turns: as for `add_many`.
            call: an id of the call that the caller makes; with other words it is another call.
        """
        clean = [self.ws.redact(turn) for turn in turns]
        parts = ((self.path, call, str(at), turn.role, turn.content) for at, turn in enumerate(clean))
        ids = [derived_id("\n".join(part).encode("utf-8", "replace")) for part in parts]
        named = [structs.replace(turn, id=identifier) for turn, identifier in zip(clean, ids, strict=True)]
        with self.ws.truth.once():  # the call itself may still be running
            known = self.log.known(ids)
            added = self.add_many([turn for turn in named if turn.id not in known])
        kept = {turn.id: known.get(turn.id) or turn for turn in named if turn.id in known}
        kept |= {turn.id: turn for turn in added}
        return [kept.get(turn.id) or structs.replace(turn, id="") for turn in named]

    def last(self, n: int = WINDOW) -> list[Turn]:
        """Return the last `n` turns that are not forgotten, oldest first."""
        hidden = self.ws.index.hidden.current()
        found = self.log.last(n + hidden.count(self.path))
        return [turn for turn in found if turn.id not in hidden.turns][-n:]

    @property
    def idle_since(self) -> datetime | None:
        """The time of the last turn, by whichever process; None if there is no turn."""
        last = self.log.last(1)
        return last[0].time if last else None

    def idle(self, seconds: float, *, now: datetime | None = None) -> bool:
        """Return whether the last turn is at least so many seconds old; False for an empty session."""
        since = self.idle_since
        if since is None:
            return False
        now = now or self.ws.now()
        if (since.tzinfo is None) != (now.tzinfo is None):
            since, now = (one.replace(tzinfo=since.tzinfo or now.tzinfo) for one in (since, now))
        age = (now - since).total_seconds()
        return age >= seconds or age < -_DAY_SECONDS  # in the future: of a wrong clock
