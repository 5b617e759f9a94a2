"""Define `OpenWorkspace`: a workspace with its index, facts, journals, `state.db` and model."""

import threading
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnemark.embed import Embedder
from mnemark.facts.visible import PlainWorkspace
from mnemark.files import user_config
from mnemark.files.config import Config
from mnemark.files.disk_errors import tells_os_errors
from mnemark.files.hosts import check_host
from mnemark.index.state import State
from mnemark.index.store import Index
from mnemark.memory.journal.edits import EditJournal, PinJournal
from mnemark.memory.journal.erasures import still_waiting
from mnemark.memory.journal.sessions import SessionJournal
from mnemark.retrieval.searcher import Searcher
from mnemark.text.dates import Clock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mnemark.files.episodes import Episodes
    from mnemark.files.truth import Folder
    from mnemark.llm import LLM, Message, Meter


_CLOSE_SECONDS = 5.0
"""Seconds that closing waits for a model that reads in the background."""


@tells_os_errors
class OpenWorkspace(PlainWorkspace):
    """The open resources that all functions of `memory` take as `ws`. Safe to use from several threads."""

    def __init__(
        self, root: Path, config: Config, *, readonly: bool, embedder: Embedder | None,
        machine: str | None = None, truth: "Folder | None" = None, state: State | None = None,
    ) -> None:  # fmt: skip
        super().__init__(root, config, readonly=readonly, machine=machine, truth=truth)
        self.kept: dict[str, Any] = {}
        """What layers above have read of its files, by their names, until the files change."""
        self.failed: tuple[str, ...] = ()
        """Failures of the last sync."""
        self.state = state or State(self.root, readonly=self.readonly)
        """The bookkeeping in `state.db`, or where several machines share it."""
        self.last_sweep = Clock()
        """The last look for temporary files that killed processes left."""
        self._model_lock = threading.Lock()
        self._model: LLM | None = None
        self.host: LLM | Callable[[Sequence[Message]], str] | None = None
        """The model of the agent that opened the memory, used instead of the configured one."""
        self.reading = threading.Lock()
        """Held by the thread that lets the model read in the background."""
        self.searcher = Searcher(
            self, self.visible, self.fact_store, embedder=embedder, unfinished=self.unfinished
        )

    @property
    def index(self) -> Index:
        """The current index; a rebuild replaces it, so do not keep a reference."""
        return self.searcher.index

    @cached_property
    def edits(self) -> EditJournal:
        """The automatic edits in the journal."""
        return EditJournal(self.journal)

    @cached_property
    def pins(self) -> PinJournal:
        """The pins in the journal."""
        return PinJournal(self.journal)

    @cached_property
    def session_journal(self) -> SessionJournal:
        """The observations, attachments and ends of sessions in the journal."""
        return SessionJournal(self)

    @cached_property
    def episodes(self) -> "Episodes":
        """The episode files."""
        from mnemark.files.episodes import Episodes

        return Episodes(self.root)

    def unfinished(self, most: int = 1) -> list[str]:
        """Return the operations that are not finished, with reasons, such as an erase that met a locked file.

        Of the files that erasures wait for, only the first `most` are named.
        """
        problems = self.visible.hidden.problems
        journals = [f"journal: {problem}; text forgotten there may be found again" for problem in problems]
        return [*self.to_finish(most), *journals]

    def to_finish(self, most: int = 1) -> list[str]:
        """Return the part of `unfinished` that every sync tries to finish."""
        unfinished = self.visible.hidden.unfinished()
        waits: list[str] = []
        if unfinished:
            waits = still_waiting(self.root, unfinished)
        found = [f"an erase is not finished: {one}" for one in waits[:most]]
        if len(waits) > most:
            found.append(f"an erase waits for {len(waits) - most:,} more files; `mnemark doctor` lists them")
        return [*found, *(f"sync: {reason}" for reason in self.failed)]

    def meter(self) -> "Meter":
        """Return a meter of the daily model budget; all processes share its ledger in the state."""
        from mnemark.llm import Budget, Entry, Ledger, Meter, Spent

        state = self.state

        def append(entry: Entry) -> None:
            day, time = entry.day.isoformat(), entry.time.isoformat()
            numbers = (entry.calls, entry.tokens_in, entry.tokens_out)
            state.spend((entry.id, day, time, entry.model, entry.what, *numbers))

        def spent(day: date) -> Spent:
            return Spent(*state.spent(day))

        settings = self.config.llm
        budget = Budget(calls_per_day=settings.calls_per_day, tokens_per_day=settings.tokens_per_day)
        return Meter(budget, Ledger(append, spent), clock=self.now)

    def model(self) -> "LLM | None":
        """Return the configured model, or the host's; None unless there is one and a budget above zero.

        Raises:
            ConfigError: its URL is invalid, its host is not allowed, or its command is wrong.
        """
        if not self.config.llm.active or self.readonly:
            return None
        with self._model_lock:
            if self._model is None:
                self._model = self._new_model()
            return self._model

    def _new_model(self) -> "LLM | None":
        settings = self.config.llm
        if self.host is not None and not callable(self.host):
            return self.host
        if self.host is not None:
            from mnemark.llm.function import FunctionLLM

            return FunctionLLM(self.host, meter=self.meter(), model=settings.model or user_config.HOST)
        if settings.command:
            from mnemark.llm.program import ProgramLLM

            return ProgramLLM(settings.command, meter=self.meter(), model=settings.model, passes=settings.env)
        if settings.model == user_config.HOST:
            return None  # asked for where the agent runs
        from mnemark.llm.chat import ChatClient  # needs httpx

        check_host(settings.url, "the language model")
        return ChatClient(
            settings.model, url=settings.url or None, key_env=settings.key_env or None, meter=self.meter()
        )

    def close(self) -> None:
        """Close all files, and end a program that answers. Acknowledged writes are on the disk already."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()
        if self.reading.acquire(timeout=_CLOSE_SECONDS):  # what it found is stored first
            self.reading.release()
        self.searcher.close()
        self.state.close()
        self.closed = True
