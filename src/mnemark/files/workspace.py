"""An opened folder, without its index: what functions need that read and write texts.

Cheap to make, so that a hook can have one. `memory.open_workspace.OpenWorkspace` adds all that is derived.
"""

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path

import msgspec

from mnemark.errors import ReadOnlyError
from mnemark.files import listing, secrets
from mnemark.files.config import Config
from mnemark.files.journal import Journal
from mnemark.files.secrets import redacted_turn
from mnemark.text.dates.clock import local_now
from mnemark.text.redaction.redact import Rules
from mnemark.types import Turn


def _nobody_follows(path: str, size: int) -> None:  # noqa: ARG001 - as `Workspace.wrote` is called
    return


class Workspace:
    """A folder, its settings, and whether it may be written. Safe to use from several threads."""

    def __init__(self, root: Path, config: Config, *, readonly: bool = False) -> None:
        self.root = root
        self.config = config
        self.journal = Journal(root)
        self.readonly = readonly
        """Whether nothing may be written, not even an index."""
        self.wrote: Callable[[str, int], None] = _nobody_follows
        """Called with the path and the new size of a log this process wrote to; who follows logs listens."""

    @cached_property
    def rules(self) -> Rules:
        """What is taken out of texts before they are written: known formats, own patterns and secrets."""
        rules = secrets.rules_for(self.root, patterns=self.config.redact)
        return msgspec.structs.replace(rules, emails=self.config.redact_emails)

    def redact(self, turn: Turn) -> Turn:
        """Take out of all of a turn what is secret or marked private, so that it may be stored."""
        return redacted_turn(turn, self.rules)

    def now(self) -> datetime:
        """Wall time now, with the zone that is configured, or this machine's."""
        return local_now(self.config.timezone)

    def scopes(self) -> list[str]:
        """All scopes there are; the root's, the empty one, is the first."""
        return ["", *listing.scopes(self.root)]

    def check_writable(self, action: str) -> None:
        """Refuse to write where the workspace is open for reading only.

        Args:
            action: what was to be done, as in "to remember".

        Raises:
            ReadOnlyError: it is.
        """
        if self.readonly:
            raise ReadOnlyError(f"this memory is open for reading only; open it for writing to {action}")
