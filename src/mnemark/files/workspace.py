"""Hold an opened folder without its index, cheaply enough for a hook.

`memory.open_workspace.OpenWorkspace` adds all that is derived.
"""

from datetime import datetime
from functools import cached_property
from pathlib import Path

import msgspec

from mnemark.errors import ReadOnlyError, UsageError
from mnemark.files import listing, secrets
from mnemark.files.config import Config
from mnemark.files.journal import Journal
from mnemark.files.truth import Folder
from mnemark.text.dates import local, local_now
from mnemark.text.quoting.notices import turn_without_notices
from mnemark.text.redaction.redact import Rules
from mnemark.types import Turn


class Workspace:
    """A folder, its settings, and whether it may be written. Safe to use from several threads."""

    def __init__(
        self, root: Path, config: Config, *, readonly: bool = False, machine: str | None = None,
        truth: Folder | None = None,
    ) -> None:  # fmt: skip
        """`machine` names the journal that is written; by default this machine's."""
        self.root = root
        self.config = config
        self.truth = truth or Folder(root)
        """The door by which all that changes the folder goes."""
        self.journal = Journal(self.truth, machine)
        self.readonly = readonly
        self.confined_to: tuple[Path, ...] = ()
        """Folders beside this one that attachments may be read from; none: anywhere."""
        self.closed = False
        """Whether nothing may be written any more."""

    @cached_property
    def rules(self) -> Rules:
        """The rules for redacting texts before they are written."""
        return secrets.configured_rules(self.root, self.config, readonly=self.readonly)

    def redact(self, turn: Turn) -> Turn:
        """Return a turn as it is written: without notices of agents, redacted, its time on our clock."""
        clean = secrets.redacted_turn(turn_without_notices(turn), self.rules)
        return msgspec.structs.replace(clean, time=self.local(turn.time))

    def now(self) -> datetime:
        """Return the time now in the configured zone, or this machine's."""
        return local_now(self.config.timezone)

    def local(self, when: datetime) -> datetime:
        """Return a time on the clock of the configured zone, or this machine's: its day files it."""
        return local(when, self.now().tzinfo if self.config.timezone else None)

    def scopes(self) -> list[str]:
        """Return all scopes; the root's, the empty one, is the first."""
        return ["", *listing.scopes(self.root)]

    def check_writable(self, action: str) -> None:
        """Raise ReadOnlyError, with the action ("remember"), where the workspace is open for reading only.

        After it was closed, raise UsageError.
        """
        if self.closed:
            raise UsageError("this memory is closed; open it again")
        if self.readonly:
            raise ReadOnlyError(f"this memory is open for reading only; open it for writing to {action}")
