"""Define `Memory`, the facade of a workspace: each method delegates to the module that implements it.

These modules are imported on first use, so that a search does not load code that it does not need.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from mnemark.embed import Embedder
from mnemark.errors import NotFoundError, ReadOnlyError, UsageError
from mnemark.facts.model import NewFact
from mnemark.files import links, off_record, trust
from mnemark.files.config import Config, load, with_changes
from mnemark.files.disk_errors import tells_os_errors
from mnemark.files.layout import is_own_folder as is_own
from mnemark.files.platform import make_folder
from mnemark.files.scopes import one_scope, scope_name
from mnemark.index.sync import Progress, SyncReport
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Origin, Recall, SearchOptions, Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from mnemark.facts.correct import Corrected
    from mnemark.facts.model import Fact, FactOptions
    from mnemark.llm.base import LLM, Message
    from mnemark.memory.browse.browse import Browse
    from mnemark.memory.consolidation.report import Consolidated
    from mnemark.memory.file_edits import Written
    from mnemark.memory.forgetting.receipt import Receipt
    from mnemark.memory.health.stats import Stats
    from mnemark.memory.learning.by_rule import LearningReport
    from mnemark.memory.merging.merge import Merged
    from mnemark.memory.prompt.builder import Prompt
    from mnemark.memory.remote import RemoteMemory
    from mnemark.memory.review.attention import Attention
    from mnemark.memory.review.explain import Why
    from mnemark.memory.review.review import ReviewItem
    from mnemark.memory.sessions.history import SpokenTurn
    from mnemark.memory.sessions.session import Session
    from mnemark.memory.transfer.importer import Summary
    from mnemark.memory.undo.revert import Reverted
    from mnemark.memory.undo.undo import Pinned, Undone


@tells_os_errors
class Memory:
    """A folder of text files with its search index, facts and sessions.

    Opened by `Memory.open`; a context manager. Safe to use from several threads, and several processes may
    have the same folder open.
    """

    def __init__(self, workspace: OpenWorkspace) -> None:
        self.workspace = workspace
        """What all functions of `mnemark.memory` work on."""

    @property
    def root(self) -> Path:
        """The folder."""
        return self.workspace.root

    @property
    def config(self) -> Config:
        """The settings."""
        return self.workspace.config

    @property
    def readonly(self) -> bool:
        """Whether nothing can be written, not even the index."""
        return self.workspace.readonly

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        config: Config | Mapping[str, Any] | None = None,
        readonly: bool = False,
        embedder: Embedder | None = None,
        model: "LLM | Callable[[Sequence[Message]], str] | None" = None,
        trusted: bool = False,
    ) -> Self:
        """Open the folder at `path`; it is created if missing.

        Args:
            path: the workspace; `~` is expanded.
            config: settings instead of `mnemark.toml`, or some of them on top of it.
            readonly: never write anything, not even the index.
            embedder: used instead of the configured one.
            model: the agent's language model, used instead of the configured one, within the budget of
                `[llm]`: a function from messages to text, or an `LLM`, which keeps its own budget.
            trusted: vouch for a folder that was not made on this machine, as `mnemark trust` does: its
                settings hold, and who spoke in it is believed. New and empty folders need no word.

        Raises:
            ConfigError: `mnemark.toml` is wrong.
            NotFoundError: `readonly`, and there is no such folder.
            ReadOnlyError: the folder cannot be written.
        """
        root = _folder_at(path, readonly=readonly)
        trust.look_again(root)
        new = not (readonly or trust.is_trusted(root) or any(root.iterdir()) or not is_own(root))
        if trusted or new:
            trust.trust_new(root, made=new)
        settings = config if isinstance(config, Config) else load(root)
        if isinstance(config, Mapping):
            settings = with_changes(settings, config)
        workspace = OpenWorkspace(root, settings, readonly=readonly, embedder=embedder)
        workspace.host = model
        return cls(workspace)

    @staticmethod
    def connect(url: str, key: str = "", *, timeout: float = 30.0) -> "RemoteMemory":
        """Use a memory on a server, by its address and a key of it; see docs/server.md.

        Args:
            url: the address.
            key: by default that of `MNEMARK_KEY`, or the one that `mnemark connect` keeps for the server.
            timeout: seconds for each attempt of a call.

        Raises:
            UsageError: it is no address, or there is no key.
        """
        from mnemark.memory.remote import RemoteMemory

        return RemoteMemory.at(url, key, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all files, and end a program that answers. Acknowledged writes are on the disk already."""
        self.workspace.close()

    def session(
        self,
        id: str,  # noqa: A002 - the word users know
        *,
        user: str | None = None,
        agent: str | None = None,
        project: str | None = None,
    ) -> "Session":
        """Return the session with that id; its file is created with its first turn.

        Start loading dictionaries, index and vectors in the background, so that a first `recall` is in time.
        With `user`, `agent` or `project`, the session belongs to that scope.
        """
        links.check_again(self.root)
        self.workspace.searcher.load_behind()
        from mnemark.memory.sessions.session import Session

        return Session(self.workspace, id, scope=scope_name(user=user, agent=agent, project=project))

    @cached_property
    def browse(self) -> "Browse":
        """Lists of the workspace for people, a page at a time; see `mnemark.memory.browse`."""
        from mnemark.memory.browse.browse import Browse

        return Browse(self.workspace)

    def without_secrets(self, turn: Turn) -> Turn:
        """Return the turn with secrets and passages marked private removed from all its fields."""
        return self.workspace.redact(turn)

    def sync(self, *, progress: Progress | None = None, wait: float = 10.0, embed: bool = True) -> SyncReport:
        """Finish what waits in the files, update the index to their state, and embed new passages.

        What waits are facts and notes whose file was being saved, and edits, undos and erasures that were cut
        off; and what people changed in fact files is noted in the journal. Searches update the index by
        themselves, and finish nothing.

        Raises:
            BusyError: another process is syncing for longer than `wait` seconds.
        """
        links.check_again(self.root)
        from mnemark.memory import maintenance

        failed = [] if self.readonly else maintenance.finish(self.workspace)
        report = self.workspace.searcher.sync(progress=progress, wait=wait, embed=embed)
        if not self.readonly:
            failed += maintenance.after_sync(self.workspace, report)
        self.workspace.searcher.fact_index.keep()
        self.workspace.failed = tuple(failed)
        return report

    def search(
        self,
        query: str,
        *,
        k: int | None = None,
        scope: str | Iterable[str] | None = None,
        **options: Unpack[SearchOptions],
    ) -> Recall:
        """Return the best matching passages, with their sources.

        Args:
            query: any text in any language.
            k: maximum number of hits; 8 by default.
            scope: scopes to search beside the root: "users/ann", several, or "*" for all. Default: the root.
            options: what is searched and how it is ranked; see `SearchOptions`.

        Raises:
            UsageError: an argument is wrong; the message names valid values.
        """
        return self.workspace.searcher.search(query, k=k, scope=scope, **options)

    def recall(
        self,
        query: str,
        *,
        budget: int | None = None,
        deadline: float | None = None,
        k: int | None = None,
        scope: str | Iterable[str] | None = None,
        now: datetime | None = None,
        context: Sequence[str] = (),
        exclude: Sequence[tuple[str, int]] = (),
    ) -> Recall:
        """Return what memory holds about a query as a block for the prompt, within a deadline.

        Args:
            query: the message or question.
            budget: maximum tokens of the block; 800 by default.
            deadline: seconds; 0.15 by default. The answer is made of what is ready by then.
            k: maximum number of hits.
            scope: as for `search`.
            now: the time that relative time words refer to.
            context: preceding turns, oldest first.
            exclude: (path, line) of logs whose turns from that line on are in the model's window already.

        Returns:
            A `Recall` whose `text` is quoted, sourced and within the budget; put it into the user's role.
            `degraded` names the parts of the search that did not finish in time.
        """
        return self.workspace.searcher.recall(
            query, budget=budget, deadline=deadline, k=k, scope=scope, now=now, context=context,
            exclude=exclude,
        )  # fmt: skip

    def read(self, ref: str, *, raw: bool = False) -> str:
        """Return the text that a ref names (`path`, `path#L12` or `path#L12-L30`), read from the file.

        Secrets, passages marked private and forgotten text are removed, as everywhere; with `raw`, for the
        owner of the file, nothing is removed.

        Raises:
            NotFoundError: there is no such file or line.
            UsageError: the ref leaves the workspace.
        """
        return self.workspace.searcher.read(ref, raw=raw)

    def context(self, *, scope: str = "", budget: int | None = None, now: datetime | None = None) -> str:
        """Return curated memory and today's notes as one text, without recall; see `curation.context`."""
        from mnemark.memory.curation.context import context

        return context(self.workspace, scope=one_scope(scope), budget=budget, now=now)

    def remember(
        self,
        predicate: str,
        value: str,
        *,
        subject: str = "user",
        scope: str = "",
        dry_run: bool = False,
        **options: "Unpack[FactOptions]",
    ) -> "Fact":
        """Store a fact; when this returns, it is on the disk. See `mnemark.facts.remember`.

        Args:
            predicate: in any language; empty for a statement.
            value: what holds.
            subject: whom or what the fact is about.
            scope: such as "users/ann".
            dry_run: return what would be stored, without storing it.
            options: its kind, origin, time and the like; see `FactOptions`.

        Raises:
            UsageError: an argument is wrong; the message names valid values.
        """
        said = NewFact(predicate=predicate, value=value, subject=subject, scope=scope, **options)
        return self.remember_many([said], dry_run=dry_run)[0]

    def remember_many(
        self, said: Iterable[Mapping[str, Any] | NewFact], *, dry_run: bool = False
    ) -> "list[Fact]":
        """Store many facts, each given as the arguments of `remember` or a `NewFact`: all of them or none."""
        links.check_again(self.root)
        if not dry_run:
            off_record.check(self.root, "remember")
        from mnemark.memory.curation.generated import remember_many

        return remember_many(self.workspace, said, dry_run=dry_run)

    def correct(
        self,
        ref: str,
        value: str | None = None,
        *,
        predicate: str | None = None,
        subject: str | None = None,
        since: str | None = None,
        until: str | None = None,
        never: bool = False,
        origin: Origin = "owner",
    ) -> "Corrected":
        """Say that a fact is wrong, and what is right, as if it had always been so.

        The wrong value leaves at once, and is no history. The right one has its dates unless others are
        given, and stands in its line. The turn that it was learned from keeps its words; recall and prompt
        show the correction with it, `why` the trace. `undo` with the id takes it back. See `facts.correct`.

        Args:
            ref: id or ref of a fact, of an earlier value, or of what waits for review.
            value: the right value.
            predicate: the right property.
            subject: whom or what it is about.
            since: when it began to hold; a day, a time or words such as "last week".
            until: when it ended.
            never: it was never true: no value, and no history.
            origin: who says so. Who is trusted less than the source only proposes it: `review` says why.

        Raises:
            NotFoundError: there is no such fact.
            UsageError: nothing or too much is said to be right, or it says so already.
        """
        from mnemark.facts.correct import Right
        from mnemark.memory.review.correct import correct

        right = Right(value, predicate, subject, since, until, never, origin)
        return correct(self.workspace, ref, right)

    def facts(
        self,
        *,
        subject: str | None = None,
        as_of: datetime | str | None = None,
        history: bool = False,
        scope: str = "",
    ) -> Iterator["Fact"]:
        """Return the facts that are valid now, or at `as_of`; see `mnemark.facts.remember.facts`."""
        from mnemark.facts.remember import facts

        return facts(
            self.workspace.fact_store, subject=subject, as_of=as_of, history=history, scope=one_scope(scope)
        )

    def turns(
        self,
        *,
        session: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        role: str | None = None,
        tool: str | None = None,
        limit: int | None = 100,
        scope: str | Iterable[str] | None = None,
    ) -> "list[SpokenTurn]":
        """Return turns by session, time, role and tool; see `mnemark.memory.sessions.history.turns`."""
        from mnemark.memory.sessions.history import turns

        return turns(
            self.workspace, session=session, since=since, until=until, role=role, tool=tool, limit=limit,
            scope=scope,
        )  # fmt: skip

    def describe(
        self,
        attachment: str,
        description: str = "",
        *,
        transcription: str = "",
        text: str = "",
        scope: str = "",
    ) -> "Written":
        """Add a description to an attachment; see `mnemark.memory.sessions.attachments.describe`."""
        from mnemark.memory.sessions.attachments import describe

        return describe(
            self.workspace, attachment, description, transcription=transcription, text=text, scope=scope
        )

    def review(self, *, scope: str = "") -> "list[ReviewItem]":
        """Return what waits for review: proposals, conflicts, changes made in the fact files."""
        from mnemark.memory.review.review import review

        return review(self.workspace, scope=scope)

    def accept(self, id: str, *, suspect: bool = False) -> "Fact | None":  # noqa: A002 - the file format's word
        """Accept a proposal as a fact of the owner, or a change in a fact file ("edits": all of them).

        What looks like instructions to a model is accepted only with `suspect`; else UsageError is raised.
        """
        from mnemark.memory.review.review import accept

        return accept(self.workspace, id, suspect=suspect)

    def reject(self, id: str) -> "Fact | None":  # noqa: A002 - the word of the file format
        """Reject a proposal, or revert a change made in a fact file."""
        from mnemark.memory.review.review import reject

        return reject(self.workspace, id)

    def why(self, ref: str, query: str | None = None) -> "Why":
        """Explain the source of a passage or fact, and why a query found it or not; see `review.explain`."""
        from mnemark.memory.review.explain import why

        return why(self.workspace, ref, query)

    def learn(
        self, session: str | None = None, *, dry_run: bool = False, budget_seconds: float | None = None
    ) -> "LearningReport":
        """Learn facts from turns that were not read yet; see `mnemark.memory.learning.by_rule`."""
        from mnemark.memory.learning.by_rule import learn

        found = learn(self.workspace, session, dry_run=dry_run, budget_seconds=budget_seconds)
        if found.facts and not dry_run:
            from mnemark.memory.curation.generated import withdraw_all

            withdraw_all(self.workspace)  # superseded facts leave core memory
        return found

    def consolidate(
        self,
        *,
        dry_run: bool = False,
        now: datetime | None = None,
        force: bool = False,
        llm: "LLM | None" = None,
        commit: bool | None = None,
        since: datetime | str | None = None,
        only: Collection[str] | None = None,
    ) -> "Consolidated":
        """Deduplicate, archive, refresh and clean up; see `mnemark.memory.consolidation.run.consolidate`."""
        from mnemark.memory.consolidation.run import consolidate

        if not dry_run:
            off_record.check(self.root, "consolidate")
        return consolidate(
            self.workspace, dry_run=dry_run, now=now, force=force, llm=llm, commit=commit, since=since,
            only=only,
        )  # fmt: skip

    def forget(
        self,
        ref: str | None = None,
        *,
        query: str | None = None,
        session: str | None = None,
        origin: str | None = None,
        since: datetime | str | None = None,
        id: str | None = None,  # noqa: A002 - the word of the file format
        erase: bool = False,
        dry_run: bool = False,
        scope: str | None = None,
        git: bool = False,
    ) -> "Receipt":
        """Hide turns, notes and facts, or erase their bytes; see `mnemark.memory.forgetting.forget`."""
        from mnemark.memory.forgetting.forget import forget

        return forget(
            self.workspace, ref, query=query, session=session, origin=origin, since=since, id=id,
            erase=erase, dry_run=dry_run, scope=scope, git=git,
        )  # fmt: skip

    def undo(self, id: str | None = None) -> "list[Undone]":  # noqa: A002 - the word of the file format
        """Undo the last change, or the change or group with that id; see `mnemark.memory.undo.undo.undo`."""
        from mnemark.memory.undo.undo import undo

        return undo(self.workspace, id)

    def revert(
        self,
        *,
        session: str | None = None,
        origin: str | None = None,
        since: datetime | str | None = None,
        dry_run: bool = False,
    ) -> "Reverted":
        """Revert everything that came from one source; see `mnemark.memory.undo.revert.revert`."""
        from mnemark.memory.undo.revert import revert

        return revert(self.workspace, session=session, origin=origin, since=since, dry_run=dry_run)

    def pin(self, ref: str) -> "Pinned":
        """Exempt a fact, a turn or lines of a note from decay; see `mnemark.memory.undo.undo.pin`."""
        from mnemark.memory.undo.undo import pin

        return pin(self.workspace, ref)

    def prompt(
        self,
        query: str | None = None,
        *,
        session: "Session | str | None" = None,
        scope: str = "",
        budget: int = 3_000,
        layers: Mapping[str, int] | None = None,
        deadline: float | None = None,
        persona: str | None = None,
        now: datetime | None = None,
    ) -> "Prompt":
        """Return the memory part of a prompt and its tokens; see `mnemark.memory.prompt.prompt.prompt`."""
        from mnemark.memory.prompt.prompt import prompt

        return prompt(
            self.workspace, query, session=session, scope=one_scope(scope), budget=budget, layers=layers,
            deadline=deadline, persona=persona, now=now,
        )  # fmt: skip

    def import_(
        self,
        format: str,  # noqa: A002 - the word of the command
        path: "Path | str",
        *,
        dry_run: bool = False,
        columns: Mapping[str, str] | None = None,
        me: Sequence[str] = (),
    ) -> "Summary":
        """Import notes and conversations; an empty format is recognised.

        Importing again adds nothing. See `mnemark.memory.transfer.imports.import_from`.
        """
        from mnemark.memory.transfer.imports import import_from

        return import_from(self.workspace, format, Path(path), dry_run=dry_run, columns=columns, me=me)

    def merge(self, other: "Path | str", *, dry_run: bool = False) -> "Merged":
        """Bring everything of another memory into this one; see `mnemark.memory.merging.merge`."""
        from mnemark.memory.merging.merge import merge

        if dry_run:
            return merge(self.workspace, other, dry_run=True)
        self.sync(embed=False)  # finish what waits: it is merged, too
        merged = merge(self.workspace, other)
        self.sync()
        return merged

    def attention(self) -> "list[Attention]":
        """Return what needs a person, each with what to do; see `mnemark.memory.review.attention`."""
        from mnemark.memory.review.attention import attention

        return attention(self.workspace)

    def stats(self) -> "Stats":
        """Return counts and states, without changing anything."""
        from mnemark.memory.health.stats import collect

        return collect(self.workspace)


def _folder_at(path: Any, *, readonly: bool) -> Path:
    """Return the folder that a caller names, which is made if missing, but by `readonly`."""
    if not isinstance(path, str | PathLike) or path == "":
        raise UsageError(f"give the folder of the memory, not {path!r}; '.' is the current one")
    root = Path(path).expanduser().absolute()
    if root.is_dir():
        return root
    if root.exists():
        raise UsageError(f"{root} is a file; give the folder that contains it")
    if readonly:
        raise NotFoundError(f"the folder {root} does not exist")
    try:
        make_folder(root)
    except OSError as error:
        raise ReadOnlyError(f"cannot create {root}: {error.strerror}") from error
    return root
