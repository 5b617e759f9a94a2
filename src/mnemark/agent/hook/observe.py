"""An execution of a tool into the journal, without opening the workspace's index."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

from mnemark.agent.hook.event import Execution
from mnemark.files.config import load
from mnemark.memory.secrets import redacted_turn, rules_for
from mnemark.memory.sessions.observations import observe
from mnemark.types import Turn

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory


class _Sizes:
    """Nobody follows the logs here."""

    def wrote(self, path: str, size: int) -> None:
        """As `index.pending.LogSizes`."""


class _Reader:
    logs = _Sizes()


class _Workspace:
    """As much of a `Memory` as `observe` needs: opening a whole one would take longer than a hook may."""

    readonly = False
    reader = _Reader()

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = load(root)
        self._rules = rules_for(root, self.config)

    def without_secrets(self, turn: Turn) -> Turn:
        """As `Memory.without_secrets`."""
        return redacted_turn(turn, self._rules)


def observe_alone(root: Path, session: str, done: Execution) -> None:
    """Keep an execution; when this returns it is on the disk.

    Raises:
        MnemarkError: it could not be written, and is not kept.
    """
    observe(
        cast("Memory", _Workspace(root)), session, done.tool, done.arguments, done.result,
        call=done.call, error=done.error, duration_ms=done.duration_ms,
    )  # fmt: skip
