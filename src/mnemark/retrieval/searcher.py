"""Search and recall from a workspace: sync its index, search with mounts, and answer by a deadline."""

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, Unpack

import msgspec

from mnemark.embed import Embedder
from mnemark.errors import (
    BusyError,
    IntegrityError,
    MnemarkError,
    NewerFormatError,
    text_given,
)
from mnemark.facts.store import FactStore
from mnemark.facts.visible import Visible
from mnemark.files import layout, links
from mnemark.files.config import Config, RoutesConfig
from mnemark.files.mounts import Mounted, mounts_of
from mnemark.files.scan import chosen, scan
from mnemark.files.scopes import scopes_of
from mnemark.files.sessions import Placed
from mnemark.files.truth import LOCK_SECONDS
from mnemark.files.workspace import Workspace
from mnemark.index import schema
from mnemark.index.reader import Reader
from mnemark.index.snapshot import Snapshot
from mnemark.index.store import Index
from mnemark.index.sync import Progress, SyncReport
from mnemark.retrieval import cross_language
from mnemark.retrieval.arguments import budget_of, count_of, search_request, seconds_of, text_of
from mnemark.retrieval.corrected import with_corrections
from mnemark.retrieval.deadline import LATE, Loader, RecallInTime, TimedOut, told
from mnemark.retrieval.embeddings import Embeddings
from mnemark.retrieval.fact_index_cache import FactIndexCache
from mnemark.retrieval.filters import Filter
from mnemark.retrieval.focus import embedded, focus
from mnemark.retrieval.mounts import Mounts
from mnemark.retrieval.opened import OpenedIndex
from mnemark.retrieval.presets import preset as named_preset
from mnemark.retrieval.query import understand
from mnemark.retrieval.refresh import IndexRefresher
from mnemark.retrieval.search import search
from mnemark.retrieval.stages import Found, OtherProgram, Request, Reranker
from mnemark.retrieval.turns import OutOfTimeError, in_turn
from mnemark.retrieval.usage import UsageCounter
from mnemark.text.quoting.injection import instructs
from mnemark.text.words.segment import waits_for_dictionary
from mnemark.text.words.stopwords import topic
from mnemark.types import Recall, SearchOptions

if TYPE_CHECKING:
    from mnemark.retrieval.just_written import JustWritten, Unscored

_SYNC_SHARE: Final = 0.3
"""Share of a deadline that a recall waits for a sync."""
_DENSE_SHARE: Final = 0.7
"""Share of a deadline until which the dense route is waited for."""
_RERANK_SHARE: Final = 0.85
"""Share of a deadline until which the reranker is waited for; the rest is for rendering."""
_CANDIDATES: Final = 3
"""Hits that a block is packed from, in halves of `recall_hits`: short ones leave room for more."""
_FROM_FILES: Final = "; answered from the files, by words only, and it may be incomplete"


def _reranker(root: Path, folder: str) -> Reranker:
    adapter = import_module("mnemark_adapters.reranker")
    model = root / Path(folder).expanduser()
    reranker: Reranker = adapter.BackgroundReranker(lambda: adapter.OnnxReranker(model))
    return reranker


def _qmd(config: RoutesConfig) -> OtherProgram:
    client: OtherProgram = import_module("mnemark_adapters.qmd").QmdClient(config)
    return client


class Searcher:
    """The index of a workspace, its routes and its mounts. Thread-safe.

    Args:
        workspace: the workspace to search; it becomes `readonly` where no index can be written.
        visible: filter of its texts.
        facts: its fact store.
        embedder: used instead of the configured one.
        unfinished: returns reasons for `degraded`: changes in the journal that are not completed.
        mounts: searched with it; by default those of its settings and of the user's own.
    """

    def __init__(
        self,
        workspace: Workspace,
        visible: Visible,
        facts: FactStore,
        *,
        embedder: Embedder | None = None,
        unfinished: Callable[[], Sequence[str]] = tuple,
        mounts: Mapping[str, Mounted] | None = None,
    ) -> None:
        self.workspace = workspace
        self.visible = visible
        self._unfinished = unfinished
        config = workspace.config
        self.qmd = _qmd(config.routes) if config.routes.qmd else None
        self.reranker = _reranker(workspace.root, config.reranker) if config.reranker else None
        self._opened = OpenedIndex(workspace, visible, embedder)
        self._in_time = RecallInTime(self._opened.rest)
        self._has_written = False
        self._loader = Loader(self._load_files, load_words, self._loaded, self._in_time)
        folders = mounts_of(workspace.root, config.mounts) if mounts is None else mounts
        self.mounts = Mounts(workspace, folders, self._open_mount)
        self._facts_wanted = True
        self.usage = UsageCounter(workspace)
        self.fact_index = FactIndexCache(facts, self._opened)
        facts.files.stored = self._opened.stored_facts
        facts.changed = self._on_fact_changed

    @property
    def index(self) -> Index:
        """The current index; do not keep a reference, since it may be opened anew."""
        return self._opened.index

    @property
    def reader(self) -> Reader:
        """What reads the current index."""
        return self._opened.reader

    @property
    def embeddings(self) -> Embeddings:
        """The vectors of the current index."""
        return self._opened.embeddings

    @property
    def refresher(self) -> IndexRefresher:
        """What keeps the current index in sync with the files."""
        return self._opened.refresher

    def _on_fact_changed(self) -> None:
        self._has_written = True
        self.fact_index.wrote()
        self.refresher.facts_changed()

    @cached_property
    def just_written(self) -> "JustWritten":
        """The last turns that this process wrote."""
        from mnemark.retrieval.just_written import JustWritten

        return JustWritten()

    def wrote(self, path: str, scope: str, turns: Sequence[Placed]) -> None:
        """Note turns that this process added to the log at `path`: the next answer has them."""
        self._has_written = True
        self.just_written.add(path, scope, turns)

    def sync(
        self, *, progress: Progress | None = None, wait: float = LOCK_SECONDS, embed: bool = False
    ) -> SyncReport:
        """Sync the index with the files; see `IndexRefresher.sync`. Raises MnemarkError for a full disk."""
        self._opened.writable()
        return self.refresher.sync(progress=progress, wait=wait, embed=embed)

    def ready(self) -> None:
        """Make sure that there is an index; see `OpenedIndex.ready`."""
        self._opened.ready()

    def freshen(self) -> bool:
        """Bring the index up to date with the files, as far as a moment allows; return whether it is."""
        self.ready()
        return self.refresher.freshen_quickly()

    @classmethod
    def beside(
        cls, root: Path, config: Config, *, home: Path | None, embedder: Embedder | None = None
    ) -> Self:
        """Open a folder for reading only, with its index in `home`, or a temporary one (None).

        Where only chosen files are read there, its facts and sessions are not, nor what leads to them.
        """
        whole = chosen(config.ignore) is None
        if whole:
            links.check(root)
        workspace = Workspace(root, config, readonly=True)
        visible = Visible(root, config, workspace.journal)
        facts = FactStore(workspace, visible.redacted)
        searcher = cls(workspace, visible, facts, embedder=embedder, mounts={})
        searcher._facts_wanted = whole
        if home is None:
            searcher.ready()
        else:
            searcher._opened.move_to(home)
        return searcher

    @property
    def embeds_mounts(self) -> bool:
        """Whether mounts are embedded: by what runs in this process, no API and no program's embedder."""
        if self._opened.embedder is not None:
            return self.embeddings.local
        return not self.workspace.config.embedder.startswith("api:")

    def _open_mount(self, folder: Path, config: Config, home: Path) -> "Searcher":
        if not self.embeds_mounts:
            config = msgspec.structs.replace(config, embedder="none")
        given = self._opened.embedder if self.embeds_mounts else None
        place = None if self.index.readonly else home
        opened = type(self).beside(folder, config, home=place, embedder=given)
        opened.reranker = self.reranker
        return opened

    def close(self) -> None:
        """Stop background work, write what is pending, and close the index, vectors and mounts."""
        self._loader.close()
        self._in_time.close()
        self.fact_index.keep_unkept()
        self.usage.write()
        self.mounts.close()
        self._opened.close()

    def paths(self) -> list[str]:
        """Return the paths of all indexed files, after a quick sync."""
        if self.index.exists():
            self.refresher.freshen_quickly()
            with contextlib.suppress(IntegrityError):  # damaged: the next search tells
                return self.index.paths()
        return [
            entry.path for entry in scan(self.workspace.root, ignore=self.workspace.config.ignore).entries
        ]

    def unread(self) -> Mapping[str, int]:
        """Count the files of the workspace that hold text and are not read, by suffix."""
        with contextlib.suppress(OSError):  # a folder that is gone: the search has told it
            return scan(self.workspace.root, ignore=self.workspace.config.ignore).unread
        return {}

    def load_behind(self) -> None:
        """Load dictionaries, index and vectors in the background, once, ahead of the first `recall`."""
        self._loader.load_behind()

    def load(self) -> None:
        """Load all that a recall needs, now: for a host that waits for it at its start."""
        self._loader.load()

    def _load_files(self) -> None:
        _load_modules()
        self.embeddings.load()
        with self.reader.reading():
            pass

    def _loaded(self) -> None:
        self.refresher.freshen_behind()
        if self.reranker is not None:
            self.reranker.load()

    def search(
        self,
        query: str,
        *,
        k: int | None = None,
        scope: str | Iterable[str] | None = None,
        **options: Unpack[SearchOptions],
    ) -> Recall:
        """Return the best passages and facts for a query, with their sources; see `Memory.search`.

        Raises:
            UsageError: an argument is wrong; the message names a right one.
        """
        request = search_request(self.workspace, query, k, scope, options)
        fresh = self.freshen()
        found = self.find(request)
        self._in_time.loaded.set()
        if self.mounts:
            self.mounts.freshen()
            found = self._with_mounts(found, request)
        answer = found._asdict() | told(found.degraded, complete=found.complete and fresh)
        return Recall(**answer, unread={} if found.hits else self.unread())

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
        counted: bool = True,
        talk: str = "",
    ) -> Recall:
        """Return the best hits rendered as a block for a prompt, by a deadline; see `Memory.recall`.

        `counted` is whether the hits count as used; not where a person only looks. `talk` is the log of the
        session that asks; by default the one of which `exclude` leaves out turns.
        """
        started = time.monotonic()
        usual = self.workspace.config.recall_deadline_ms / 1000
        seconds = usual if deadline is None else seconds_of(deadline)
        tokens = self.workspace.config.recall_budget if budget is None else budget_of(budget)
        request = Request(
            text=text_of(query),
            k=_CANDIDATES * self.workspace.config.recall_hits // 2 if k is None else count_of(k),
            where=Filter(scopes=scopes_of(scope), suspected="none"),
            preset=named_preset(self.workspace.config.preset),
            now=now or self.workspace.now(),
            context=tuple(context),
            exclude=tuple(exclude),
            echoes=False,
            rules=True,
            deadline=started + seconds * _DENSE_SHARE,
            rerank_deadline=started + seconds * _RERANK_SHARE,
        )
        self.ready()
        loads = waits_for_dictionary("备" if self._has_written else request.text)  # to sync that, too
        found = self._in_time.recall(
            partial(self._answer, request, tokens, started + seconds * _SYNC_SHARE, started + seconds),
            partial(self._by_words, request, tokens, seconds),
            started=started,
            seconds=seconds,
            loads=loads,
        )
        if loads or not self._in_time.loaded.is_set():
            self.load_behind()
        if isinstance(found, TimedOut):
            reason = (
                f"recall: no answer within {seconds * 1000:.0f} ms; allow more (deadline, recall_deadline_ms)"
            )
            return Recall(hits=(), mode="none", degraded=(reason,), complete=False)
        if counted:
            used = set(found.used)
            own = [one for one in found.hits if one.ref in used and not one.scope.startswith(layout.MOUNT)]
            self.usage.note(own, text=found.text, talk=talk or next((path for path, _ in exclude), ""))
        return found

    def _by_words(self, request: Request, tokens: int, seconds: float) -> Recall | TimedOut:
        """Return what words alone find in the index as it is; it goes before all that computes."""
        with in_turn(first=True):
            return self._found_by_words(request, tokens, seconds)

    def _found_by_words(self, request: Request, tokens: int, seconds: float) -> Recall | TimedOut:
        from mnemark.retrieval.block import block
        from mnemark.retrieval.just_written import with_just_written
        from mnemark.retrieval.words import by_words

        reason = (
            f"recall: by words alone, since the full answer takes longer than {seconds * 1000:.0f} ms; "
            "allow more (deadline, recall_deadline_ms)"
        )
        try:
            known = self.fact_index.known(request.where.scopes)
            answer = by_words(self.reader, request, known, reason, self.mounts.folders)
        except schema.UNREADABLE:  # there is none yet; of damage, the full answer tells
            answer = Found((), "none", (reason,), complete=False, on_topic=0.0, believable=0.0)
        new = self._new(request)
        found = with_just_written(Recall(**answer._asdict()), new, focus(request.text), request.k)
        if found.mode == "none":
            return LATE
        hits = with_corrections(found.hits, self.visible.corrections.current())  # of what was just said, too
        found = msgspec.structs.replace(found, hits=hits)
        packed = block(found.hits, budget=tokens, brief_tokens=self.workspace.config.brief_tokens)
        return msgspec.structs.replace(found, text=packed.text, used=tuple(one.ref for one in packed.hits))

    def _new(self, request: Request) -> "list[Unscored]":
        """Return what this process wrote a moment ago and may show."""
        from mnemark.retrieval.just_written import fact_hits

        facts = fact_hits(self.fact_index.in_memory(request.where.scopes)) if self._facts_wanted else []
        gone = self.index.hidden.current()
        return facts + self.just_written.candidates(request.text, request.where.scopes, request.exclude, gone)

    def read(self, ref: str, *, raw: bool = False) -> str:
        """Return the text of a ref (`path`, `path#L12` or `path#L12-L30`) from its file.

        Secrets, private passages and forgotten text are removed unless `raw` (for the owner of the file).

        Raises:
            NotFoundError: there is no such file or line.
            UsageError: the ref leaves the workspace.
        """
        from mnemark.retrieval.read import read_ref  # a search reads no file

        return read_ref(*self.located(text_given(ref, "the ref")), raw=raw)

    def located(self, ref: str) -> tuple[Visible, str]:
        """Return the filter of the texts that a ref names one of, and the ref there; raises as `read`."""
        from mnemark.retrieval.read import located

        return located(self.visible, self.workspace.config, self.mounts.folders, ref)

    def find(self, request: Request) -> Found:
        """Answer a request from the index without a sync or mounts; `search` and `recall` add those."""
        # What leaves this process is redacted like the index.
        outside = (
            self.visible.redacted(request.text) if self.qmd or not self.embeddings.local else request.text
        )
        asked = self.qmd.ask(outside, request.deadline) if self.qmd else None
        route, problem = (None, "")
        if request.preset.dense or request.preset.fusion == "rrf":
            route, problem = self.embeddings.route(topic(embedded(outside)))
        reasons = (problem, *self._opened.problems, *self._unfinished())
        degraded = [reason for reason in reasons if reason]
        ask = partial(search, request=request)
        if self._facts_wanted:
            facts = self.fact_index.of(request.where.scopes, request.deadline)
            degraded += [facts.problem] if facts.problem else []
            ask = partial(ask, fact_index=facts.book, states=facts.states)
        try:
            return ask(self.reader, route=route, degraded=degraded, reranker=self.reranker, asked=asked)
        except (BusyError, NewerFormatError, OutOfTimeError):
            raise
        except schema.UNREADABLE as error:
            if self._loader.closed:
                raise
            reason = schema.damage_of(error)
            found = ask(
                self._files(request), route=None, degraded=(*degraded, f"index: {reason}{_FROM_FILES}")
            )
            if isinstance(error, schema.UNFIT):
                self._opened.discard(reason)  # not before: what fails on the files, too, is no damage
            return found

    def _with_mounts(self, found: Found, request: Request) -> Found:
        """Add the hits of the mounts; a word is as rare there as here and there together."""
        with contextlib.ExitStack() as stack:
            outside: Snapshot | None = None
            with contextlib.suppress(MnemarkError, *schema.UNREADABLE):
                outside = stack.enter_context(self.reader.reading()).snapshot
            return self.mounts.join(found, msgspec.structs.replace(request, outside=outside))

    def _files(self, request: Request) -> Reader:
        """Return a reader of the files, for a query that the index cannot answer."""
        from mnemark.index.plain_text import TextReader

        config = self.workspace.config
        return TextReader(
            self.workspace.root, self.visible, focus(request.text),
            limit=config.passage_tokens, ignore=config.ignore, deadline=request.deadline,
        )  # fmt: skip

    def _answer(self, request: Request, budget: int, patience: float, until: float) -> Recall | TimedOut:
        from mnemark.retrieval.block import block  # a search shows none

        self.refresher.freshen_behind()  # not before: it would keep from words what they need
        fresh = self.refresher.wait(patience)
        try:
            found = self.find(request)
            found = found._replace(**told(found.degraded, complete=found.complete and fresh))
            if self.mounts:
                self.mounts.freshen(patience)
                found = self._with_mounts(found, request)
            with in_turn(until, first=True):  # little is left to do; later nobody waits for it
                packed = block(found.hits, budget=budget, brief_tokens=self.workspace.config.brief_tokens)
        except OutOfTimeError:
            return LATE
        return Recall(text=packed.text, used=tuple(one.ref for one in packed.hits), **found._asdict())


def load_words() -> None:
    """Load what the recalls of all workspaces share: 0.3 s, in which no other thread goes on for long."""
    _load_modules()
    cross_language.load(understand("加载 load", now=datetime.now(UTC)).terms)
    instructs("load")  # what is found is judged by signs, 0.1 s to read


def _load_modules() -> None:
    from mnemark.retrieval import block, just_written, words  # noqa: F401 - words alone need these
