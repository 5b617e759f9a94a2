"""`Memory`: a workspace opened."""

import contextlib
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self

from mnemark.embed.base import Embedder
from mnemark.errors import MnemarkError, NotFoundError, ReadOnlyError, UsageError
from mnemark.facts.visible import Visible
from mnemark.files import links
from mnemark.files.config import Config, load
from mnemark.files.platform import make_folder
from mnemark.index.reader import Reader
from mnemark.index.store import Index
from mnemark.index.sync import Progress, SyncReport
from mnemark.memory.arguments import among, changed, count_of, scope_name, scopes_of, text_of
from mnemark.memory.operations import Operations
from mnemark.memory.read import read_ref
from mnemark.memory.secrets import redacted_turn, rules_for
from mnemark.memory.sessions.session import Session
from mnemark.retrieval import cross_language, render
from mnemark.retrieval.deadline import Late, Timed
from mnemark.retrieval.embeddings import Vectors
from mnemark.retrieval.fact_index_cache import FactBooks
from mnemark.retrieval.filters import Filter
from mnemark.retrieval.mounts import MARK, Mounts
from mnemark.retrieval.presets import preset as named_preset
from mnemark.retrieval.query import understand
from mnemark.retrieval.ranking import rerank
from mnemark.retrieval.refresh import EditsElsewhere, Follower
from mnemark.retrieval.routes import qmd
from mnemark.retrieval.search import Found, Request, search
from mnemark.retrieval.usage import Uses
from mnemark.text.dates.moment import local_now, moment
from mnemark.text.redaction.redact import Rules
from mnemark.types import KINDS, ORIGINS, Kind, Origin, Recall, Turn

_LOOK_SHARE: Final = 0.3
"""Part of a deadline that a look at the files is waited for."""
_DENSE_SHARE: Final = 0.7
"""Part of a deadline after which an answer is made without the dense route."""
_RERANK_SHARE: Final = 0.85
"""Part of a deadline after which an answer is made without the reranker; the rest is for the block."""


class Memory(Operations):
    """A folder of plain text, and what was learned to find in it.

    Made by `Memory.open`; a context manager. Safe to use from several threads, and several processes may have
    the same folder open.
    """

    def __init__(self, root: Path, config: Config, *, readonly: bool, embedder: Embedder | None) -> None:
        links.check(root)
        self.root = root
        self.config = config
        self.readonly = readonly
        self.embedder = embedder
        self.visible = Visible(root, config)
        folder = config.reranker
        self.qmd = qmd.configured(config.routes)
        self.judge = rerank.in_folder(root / Path(folder).expanduser()) if folder else None
        self.failed: tuple[str, ...] = ()
        """Why parts of the last sync could not be done."""
        self._elsewhere: TemporaryDirectory[str] | None = None
        self._use(self._open_index())
        self._timed: Timed[Recall] = Timed(lambda: self.index.rest())  # noqa: PLW0108 - see `_use`
        self._warm = threading.Event()
        self._loading = threading.Lock()
        self._closed = False
        self._moving = threading.Lock()
        self._rules: Rules | None = None
        self.mounts = Mounts(self)
        self.uses = Uses(self)
        self.book = FactBooks(self)

    def _open_index(self) -> Index:
        try:
            return Index(self.root, readonly=self.readonly, visible=self.visible)
        except ReadOnlyError:
            self.readonly = True
            return Index(self.root, readonly=True, visible=self.visible)

    def _use(self, index: Index) -> None:
        config = self.config
        self.index = index
        self.reader = Reader(index, limit=config.passage_tokens, ignore=config.ignore)
        self.vectors = Vectors(index.home, config, readonly=index.readonly, embedder=self.embedder)
        edits = EditsElsewhere(self.root, self.reader.logs)
        self.follower = Follower(index, self.vectors, config, edits)

    def _ready(self) -> None:
        """Where there is no index and none can be kept, make a passing one elsewhere.

        A link out that came meanwhile, with a sync or a pull, is refused as when the workspace was opened.
        """
        links.check_again(self.root)
        with self._moving:
            if not self.index.readonly or self.index.exists():
                return
            self._elsewhere = TemporaryDirectory(prefix="mnemark-")
            self.index.close()
            self._use(Index(self.root, home=Path(self._elsewhere.name), visible=self.visible))

    @property
    def _passing(self) -> str:
        """What has to be said about an index that will not stay."""
        if self._elsewhere is None:
            return ""
        return "index: none can be kept here, so one is made for this process; make the folder writable"

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        config: Config | Mapping[str, Any] | None = None,
        readonly: bool = False,
        embedder: Embedder | None = None,
    ) -> Self:
        """Open the folder at `path`; it is made if missing.

        Args:
            path: the workspace; `~` is expanded.
            config: settings instead of `mnemark.toml`, or some of them on top of it.
            readonly: never write anything, not even the index.
            embedder: used instead of the configured one.

        Raises:
            ConfigError: `mnemark.toml` is wrong.
            NotFoundError: `readonly`, and there is no such folder.
            ReadOnlyError: the folder cannot be written.
        """
        root = Path(path).expanduser().absolute()
        if not root.is_dir():
            if root.exists():
                raise UsageError(f"{root} is a file; give the folder that holds it")
            if readonly:
                raise NotFoundError(f"there is no folder {root}")
            try:
                make_folder(root)
            except OSError as error:
                raise ReadOnlyError(f"cannot make {root}: {error.strerror}") from error
        settings = config if isinstance(config, Config) else load(root)
        if isinstance(config, Mapping):
            settings = changed(settings, config)
        memory = cls(root, settings, readonly=readonly, embedder=embedder)
        if not memory.readonly and memory.index.hidden.unfinished():
            memory._finish_forgetting()
        return memory

    @classmethod
    def beside(
        cls, root: Path, config: Config, *, home: Path | None, embedder: Embedder | None = None
    ) -> Self:
        """A folder opened for reading only whose index is kept in `home`; None: for this process alone."""
        memory = cls(root, config, readonly=True, embedder=embedder)
        if home is None:
            memory._ready()
        else:
            make_folder(home)
            memory.index.close()
            memory._use(Index(root, home=home, visible=memory.visible))
        return memory

    def close(self) -> None:
        """Let go of all files. Acknowledged writes are on the disk already."""
        with self._loading:  # what loads in the background does not touch them afterwards
            self._closed = True
        self._timed.close()
        self.book.keep_unkept()
        self.uses.write()
        self.mounts.close()
        self.vectors.close()
        self.index.close()
        if self._elsewhere is not None:
            self._elsewhere.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def session(self, id: str, *, user: str | None = None, agent: str | None = None) -> Session:  # noqa: A002
        """The session of that id, of a user or an agent where given; made with its first turn.

        Dictionaries, index and vectors begin to load in the background, so that a first `recall` is in time.
        """
        links.check_again(self.root)
        if not self._warm.is_set():
            self._warm.set()
            threading.Thread(target=self._load, name="mnemark-load", daemon=True).start()
        return Session(self, id, scope=scope_name(user=user, agent=agent))

    def without_secrets(self, turn: Turn) -> Turn:
        """The turn as it may be stored: what is secret or marked private is taken out of all of it."""
        if self._rules is None:
            self._rules = rules_for(self.root, self.config)
        return redacted_turn(turn, self._rules)

    def _load(self) -> None:
        """Read what a first question would have to wait for."""
        with contextlib.suppress(MnemarkError):  # a question that meets the same error tells of it
            query = understand("加载 load", now=local_now(self.config.timezone))
            cross_language.load(query.terms)
            with self._loading:
                if self._closed:
                    return
                self.vectors.load()
                with self.reader.reading():
                    pass
        if self.judge is not None:
            self.judge.load()

    def sync(self, *, progress: Progress | None = None, wait: float = 10.0, embed: bool = True) -> SyncReport:
        """Bring the index to the state of the files, and embed what is new.

        Raises:
            BusyError: another process is syncing for longer than `wait` seconds.
        """
        links.check_again(self.root)
        from mnemark.memory import maintenance

        failed = [] if self.readonly else maintenance.before_sync(self)
        report = self.follower.sync(progress=progress, wait=wait, embed=embed)
        if not self.readonly:
            failed += maintenance.after_sync(self, touched=bool(report.touched))
        self.book.keep()
        self.failed = tuple(failed)
        return report

    def _finish_forgetting(self) -> None:
        """Go on with what an erase before could not do; see `maintenance.unfinished`."""
        from mnemark.memory.maintenance import finish_forgetting

        try:
            finish_forgetting(self)
        except (MnemarkError, OSError) as error:  # whoever opens it can work all the same, and is told
            self.failed = (f"forgetting: {error}",)

    def unfinished(self, most: int = 1) -> list[str]:
        """What was noted and could not be completed, such as an erase that met a closed file; and why.

        Of the files that an erase waits for the first `most` are named.
        """
        hidden = self.index.hidden
        if not (self.failed or hidden.unfinished() or hidden.problems):
            return []
        from mnemark.memory.maintenance import unfinished

        return unfinished(self, most=most)

    def search(
        self,
        query: str,
        *,
        k: int | None = None,
        kinds: Iterable[Kind] | None = None,
        origins: Iterable[Origin] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        scope: str | Iterable[str] | None = None,
        archived: bool = False,
        explain: bool = False,
        now: datetime | None = None,
        preset: str | None = None,
        context: Sequence[str] = (),
    ) -> Recall:
        """The passages that answer best, with all they need to be cited.

        Args:
            query: any text in any language.
            k: hits at most; 8 by default.
            kinds: only these kinds of passages.
            origins: only what these said.
            since: only what is dated then or later (a datetime, ISO text, or words such as "last week").
            until: only what is dated before the end of it.
            as_of: what was known then; undated text stays.
            scope: whose memory beside the root's: "users/ann", several, or "*" for all. Default: the root's.
            archived: search the archive, too.
            explain: fill `why` of each hit.
            now: what relative time words are relative to.
            preset: a ranking other than the configured one.
            context: what was said before, oldest first; counts little.

        Raises:
            UsageError: an argument is wrong; the message names a right one.
        """
        now = now or local_now(self.config.timezone)
        where = Filter(
            kinds=among(kinds, KINDS, "kinds"),
            origins=among(origins, ORIGINS, "origins"),
            since=moment(since, "since", now),
            until=moment(until, "until", now, end=True),
            as_of=moment(as_of, "as_of", now, last=True),
            scopes=scopes_of(scope),
            archived=archived,
        )
        request = Request(
            text=text_of(query),
            k=count_of(self.config.recall_hits if k is None else k),
            where=where,
            preset=named_preset(preset or self.config.preset),
            now=now,
            context=tuple(context),
            explain=explain,
        )
        self._ready()
        self.follower.freshen_quickly()
        fresh = self.follower.fresh
        found = self.find(request)
        if self.mounts:
            found = self.mounts.join(found, request, wait=True)
        return Recall(**found._replace(complete=found.complete and fresh)._asdict())

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
        """What memory has to say, as a block for the prompt, by a deadline.

        Args:
            query: what was said or asked.
            budget: tokens of the block; 800 by default.
            deadline: seconds; 0.15 by default. What is ready by then is the answer.
            k: hits at most.
            scope: as for `search`.
            now: what relative time words are relative to.
            context: what was said before, oldest first.
            exclude: (path, line) of logs whose turns from that line on the model sees already.

        Returns:
            A `Recall` whose `text` is quoted, sourced and within the budget; put it into the user's role.
            `degraded` names what did not answer in time.
        """
        started = time.monotonic()
        seconds = self.config.recall_deadline_ms / 1000 if deadline is None else deadline
        tokens = self.config.recall_budget if budget is None else budget
        request = Request(
            text=text_of(query),
            k=count_of(self.config.recall_hits if k is None else k),
            where=Filter(scopes=scopes_of(scope), planted="none"),
            preset=named_preset(self.config.preset),
            now=now or local_now(self.config.timezone),
            context=tuple(context),
            exclude=tuple(exclude),
            deadline=started + seconds * _DENSE_SHARE,
            rerank_deadline=started + seconds * _RERANK_SHARE,
        )
        self._ready()
        self.follower.freshen_behind()
        patience = started + seconds * _LOOK_SHARE
        found = self._timed.run(
            lambda: self._answer(request, tokens, patience), started + seconds - time.monotonic()
        )
        if isinstance(found, Late):
            reason = f"recall: nothing was ready within {seconds * 1000:.0f} ms; disk or machine are slow"
            return Recall(hits=(), mode="none", degraded=(reason,), complete=False, believable=0.0)
        self.uses.note(found.hits)
        return found

    def read(self, ref: str, *, raw: bool = False) -> str:
        """The text a ref names: `path`, `path#L12` or `path#L12-L30`, straight from the file.

        Without secrets, passages marked private and what was forgotten, as everything that is handed on; for
        the eyes of the file's owner, `raw` gives it as it stands.

        Raises:
            NotFoundError: there is no such file or line.
            UsageError: the ref leaves the workspace.
        """
        return (
            self.mounts.read(ref, raw=raw) if ref.startswith(MARK) else read_ref(self.visible, ref, raw=raw)
        )

    def find(self, request: Request) -> Found:
        """Answer a request from the index as it is; `search` and `recall` are what users want."""
        # What leaves this process must not tell more than what is in the index.
        outside = self.visible.redacted(request.text) if self.qmd or not self.vectors.local else request.text
        asked = self.qmd.ask(outside, request.deadline) if self.qmd else None
        route, problem = (None, "")
        if request.preset.dense or request.preset.fusion == "rrf":
            route, problem = self.vectors.route(outside)
        reasons = (problem, self.follower.problem, self._passing, *self.unfinished())
        degraded = [reason for reason in reasons if reason]
        facts = self.book.of(request.where.scopes, request.deadline)
        degraded += [facts.problem] if facts.problem else []
        return search(
            self.reader,
            request,
            route,
            degraded,
            self.judge,
            book=facts.book,
            states=facts.states,
            asked=asked,
        )

    def _answer(self, request: Request, budget: int, patience: float) -> Recall:
        fresh = self.follower.wait(patience)  # a look at the files that is quick is waited for
        found = self.find(request)
        found = found._replace(complete=found.complete and fresh)
        if self.mounts:
            found = self.mounts.join(found, request, wait=False)
        text = render.block(found.hits, budget=budget, brief_tokens=self.config.brief_tokens)
        return Recall(text=text, **found._asdict())
