"""Note what embedding in the background did, and limit the tokens that it sends to a server on a day.

Embedding that a person asks for (`mnemark sync`) is noted, and not limited.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from mnemark.files.platform import write_private
from mnemark.text.words.tokens import estimate_tokens

_NAME: Final = "embedding.json"


class BudgetSpentError(Exception):
    """The day's tokens are used up."""


class EmbeddingState(msgspec.Struct, frozen=True):
    """What was embedded last, by any process."""

    waiting: int = 0
    """Texts without a vector."""
    day: str = ""
    tokens: int = 0
    """Tokens sent in the background on that day; what failed is counted, too."""
    over: bool = False
    """Whether the next texts are more than what was left of that day's budget."""

    @classmethod
    def of(cls, folder: Path) -> "EmbeddingState":
        """Read the state from the folder of the vectors; an empty one where there is none."""
        try:
            return msgspec.json.decode((folder / _NAME).read_bytes(), type=cls)
        except (OSError, msgspec.DecodeError):
            return cls()


class EmbeddingLog:
    """Notes in the folder of the vectors what is embedded. For one process at a time, in the sync lock.

    Args:
        folder: of the vectors.
        budget: tokens per local day; None for no limit, and nothing is counted.
    """

    def __init__(self, folder: Path, budget: int | None = None) -> None:
        self._folder = folder
        self._budget = budget

    def reserve(self, texts: Sequence[str]) -> None:
        """Count the tokens of texts that are sent next.

        Raises:
            BudgetSpentError: they are more than is left of the day's.
        """
        if self._budget is None:
            return
        state, day = EmbeddingState.of(self._folder), datetime.now().astimezone().date().isoformat()
        before = state.tokens if state.day == day else 0
        after = before + sum(map(estimate_tokens, texts))
        over = after > self._budget
        self._write(replace(state, day=day, tokens=before if over else after, over=over))
        if over:
            raise BudgetSpentError

    def note(self, waiting: int) -> None:
        """Note how many texts wait."""
        self._write(replace(EmbeddingState.of(self._folder), waiting=waiting))

    def _write(self, state: EmbeddingState) -> None:
        write_private(self._folder / _NAME, msgspec.json.encode(state))
