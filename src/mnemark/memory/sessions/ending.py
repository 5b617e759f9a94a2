"""End a session: write the daily note, an episode and the scratchpad, and learn facts.

A sitting is a part of a session without a long pause. Each step is derived from the turns and is idempotent:
an episode and its part of the daily note are identified by the first turn of the sitting, attachments and
observations by their ids. A journal entry of kind "end", written last, records up to which turn a session was
written down, so that after a crash at any moment the end can be repeated.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from mnemark.embed.bundled import BundledEmbedder
from mnemark.errors import BusyError
from mnemark.facts import pending
from mnemark.files import off_record
from mnemark.files.episodes import (
    Episode,
    EpisodeFile,
    retitled,
    since,
    source_lines,
    written,
)
from mnemark.files.journal import Change
from mnemark.files.layout import in_scope
from mnemark.files.names import split_sources
from mnemark.files.sessions import Placed, SessionLog, log_files, session_info
from mnemark.files.truth import ending_lock
from mnemark.hashes import blake2b
from mnemark.index import schema
from mnemark.index.store import Index
from mnemark.memory import file_edits
from mnemark.memory.curation.generated import withdraw
from mnemark.memory.learning.by_model import MIN_TURNS
from mnemark.memory.learning.by_rule import learn
from mnemark.memory.learning.learned import LearnedFact
from mnemark.memory.learning.sitting_notes import SittingNotes, merged, notes_of
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions import attachments, observations, scratchpad
from mnemark.memory.sessions.episodes import (
    Sitting,
    actions_of,
    lines_of,
    note_block,
    page,
    sittings,
    with_notes,
)
from mnemark.memory.sessions.recorder import Recorder
from mnemark.summary.summary import Action, Digest, digest, items, short_title, summary_lines
from mnemark.summary.tool_titles import execution_of, words_of
from mnemark.summary.topics import Language
from mnemark.text.markdown.generated import put
from mnemark.types import Json

_LOCK_SECONDS: Final = 20.0
_IDLE_SECONDS: Final = 1_800.0
"""Pause after which a session counts as over."""
_PROJECT_PERIOD: Final = timedelta(days=60)
_WRITE_WORDS: Final = frozenset({"write", "add", "save", "store", "update", "remember", "append"})


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """The result of ending a session."""

    session: str
    status: Literal["ended", "unchanged", "empty", "deferred"]
    """`unchanged`: all was written before. `deferred`: a file was being saved; end it again."""
    turns: int = 0
    by: Literal["llm", "rule", ""] = ""
    """Author of the summary."""
    summary: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    """Paths that were written or extended."""
    notes: tuple[str, ...] = ()
    scratchpad: str = ""
    attachments: tuple[str, ...] = ()
    observations: int = 0
    facts: tuple[LearnedFact, ...] = ()
    rejected: int = 0
    """Proposals of the model that the turns do not support, which were dropped."""
    problems: tuple[str, ...] = ()
    """Failures, each with what was done instead."""
    group: str = ""
    """`mnemark undo GROUP` takes the edits back."""


class _Ending:
    def __init__(self, ws: OpenWorkspace, session: Recorder, *, summary: bool, queue: bool = False) -> None:
        self.ws = ws
        self.session = session
        self.summary = summary
        self.queue = queue
        self.zone = ws.now().tzinfo
        self.problems: list[str] = []
        self.episodes: list[str] = []
        self.recent: list[EpisodeFile] = []
        """Episodes since `_PROJECT_PERIOD` before the first new sitting; the folder is listed once an end."""
        self.notes: list[str] = []
        self.words: list[str] = []
        self.by: Literal["llm", "rule", ""] = ""
        self.facts: tuple[LearnedFact, ...] = ()
        self.deferred = False
        self.group = ""

    def run(self) -> Ended:
        ws, session = self.ws, self.session
        for problem in file_edits.finish(ws):
            self.problems.append(f"{problem.path}: {problem.reason}")
        pending.catch_up(ws.fact_store)  # facts that an interrupted end had acknowledged
        before = _last_end(ws, session)
        turns = self._unended_turns(before)
        noted = observations.note_down(ws, session.id, timeout=1.5)
        if not turns:
            return Ended(session=session.id, status="empty", observations=noted)
        if before and turns[-1].turn.id == before.get("last"):
            return Ended(session=session.id, status="unchanged", observations=noted)
        self.group = f"end-{turns[-1].turn.id}"
        new = _after(turns, str(before.get("last", "")))
        given = frozenset(session.given)
        kept, busy = attachments.bring_in(
            ws, session.scope, session.path, turns, given=given, group=self.group
        )
        self._defer(busy)
        last = self._sittings(turns, new, before)
        pad = self._scratchpad(last)
        self._learn()
        if not self.deferred:
            self._record_end(turns, last)
        return self._ended(
            turns=len(new), scratchpad=pad, attachments=tuple(kept), observations=noted, facts=self.facts
        )

    def _ended(self, **more: Any) -> Ended:
        """Return what was written, and more."""
        return Ended(
            session=self.session.id, status="deferred" if self.deferred else "ended", by=self.by,
            summary=tuple(self.words), episodes=tuple(self.episodes), notes=tuple(dict.fromkeys(self.notes)),
            problems=tuple(self.problems), group=self.group, **more,
        )  # fmt: skip

    def rewrite(self, turns: Collection[str]) -> Ended:
        """Write the pages of the sittings that hold one of these turns again; none that a person removed."""
        hidden = self.ws.index.hidden.current().turns
        found = sittings([one for one in self.session.log.turns() if one.turn.id not in hidden])
        concerned = [one for one in found if any(placed.turn.id in turns for placed in one.turns)]
        if concerned:
            self.group = f"read-{concerned[-1].last}"
            self.recent = self.ws.episodes.since(self.session.scope, self._project_day(found[0]))
            pages = {one.first: one.path for one in self.recent if one.session == self.session.id}
            for sitting, before in zip(found, [None, *found], strict=False):
                if sitting in concerned:
                    link = pages.get(before.first, "") if before else ""
                    self._sitting(sitting, link, again=True, removed=sitting.first not in pages)
        return self._ended(scratchpad=self._scratchpad(concerned[-1]) if concerned else "")

    def _unended_turns(self, before: Mapping[str, Json]) -> list[Placed]:
        log = self.session.log
        found: list[Placed] = []
        offset, line = before.get("offset"), before.get("line")
        if isinstance(offset, int) and isinstance(line, int) and offset > 0:
            found = list(log.turns(offset, start_line=line))
        if not found or found[0].turn.id != before.get("first"):
            found = list(log.turns())
        hidden = self.ws.index.hidden.current().turns
        return [placed for placed in found if placed.turn.id not in hidden]

    def _sittings(
        self, turns: Sequence[Placed], new: Sequence[Placed], before: Mapping[str, Json]
    ) -> Sitting:
        found = sittings(turns)
        unwritten = {placed.turn.id for placed in new}
        link = str(before.get("episode", ""))
        first = next(sitting for sitting in found if sitting.last in unwritten)
        self.recent = self.ws.episodes.since(self.session.scope, self._project_day(first))
        for sitting in found:
            if sitting.last not in unwritten:
                continue
            ours = str(before.get("first")) == sitting.first
            continues = "" if ours else link
            link = self._sitting(sitting, continues) or link
        self.last_episode = link
        return found[-1]

    def _project_day(self, sitting: Sitting) -> str:
        """Return the first day of which projects are recognised by their names in a sitting."""
        return (sitting.span(self.zone)[0] - _PROJECT_PERIOD).date().isoformat()

    def _sitting(
        self, sitting: Sitting, continues: str, *, again: bool = False, removed: bool = False
    ) -> str:
        """Write the page and the note of a sitting; return the path of the page, if it has one.

        `removed`: there is no page, so that one which the rules had written was removed by a person.
        """
        scope = self.session.scope
        lines = lines_of(sitting, self.zone)
        actions = actions_of(self.ws, scope, self.session.id, sitting)
        recent = since(self.recent, self._project_day(sitting))
        projects = [name for one in recent for name in one.projects]
        found = digest(lines, actions, list(dict.fromkeys(projects)), language(self.ws))
        few = len(lines) < MIN_TURNS
        if removed and self._titled(found, actions, few=few).title:
            return ""
        noted = self._noted(sitting)
        if not noted.empty:
            found, self.by = with_notes(found, noted), "llm"
        found = self._titled(found, actions, few=few)
        path = ""
        if found.title and (actions or not few):
            path = self._episode(sitting, found, actions, continues)
        own = any(map(_wrote_memory, actions)) or _called_memory(sitting)
        if self.summary and (path or items(found)) and not (own and few):
            self._note(sitting, found, path, again=again)
        return path

    def _titled(self, found: Digest, actions: Sequence[Action], *, few: bool) -> Digest:
        """Give a digest without a title one where it holds something, so that it gets a page."""
        if found.title or not (actions or (not few and (items(found) or found.observed or found.told))):
            return found
        said = found.asked or next((text for _, text in items(found)), "")
        if not (said or actions) and found.told:  # in the owner's words, which no polite ones begin
            return msgspec.structs.replace(found, title=found.told)
        other = actions[0].title if actions else self.session.id
        return msgspec.structs.replace(found, title=short_title(said) or other)

    def _noted(self, sitting: Sitting) -> SittingNotes:
        """Return what a model noted of a sitting, part by part as it was read."""
        ws = self.ws
        with ws.session_journal.fresh() as state:
            kept = dict(state.sittings.get((self.session.scope, self.session.id), {}))
        order = {placed.turn.id: number for number, placed in enumerate(sitting.turns)}
        parts = sorted((order[last], payload) for (_, last), payload in kept.items() if last in order)
        hidden = ws.index.hidden.current().turns
        return merged(notes_of(payload, hidden) for _, payload in parts)

    def _episode(self, sitting: Sitting, found: Digest, actions: Sequence[Action], continues: str) -> str:
        session, (begin, end) = self.session, sitting.span(self.zone)
        source = source_lines(session.path, sitting.turns[0].line, sitting.turns[-1].line)
        episode = Episode(
            session=session.id, source=source, first=sitting.first, last=sitting.last, begin=begin, end=end,
            title=found.title, status=found.status, projects=found.projects, continues=continues,
        )  # fmt: skip
        path = self.ws.episodes.path_for(session.scope, episode, self.recent)
        lines = page(found, actions, sitting, self.zone, source=source, episode=path)
        self._write(path, lambda text: written(retitled(text, path, found.title), episode, lines), "episode")
        self.recent = self.ws.episodes.with_file(self.recent, path)
        self.episodes.append(path)
        return path

    def _note(self, sitting: Sitting, found: Digest, episode: str, *, again: bool) -> None:
        session, (begin, end) = self.session, sitting.span(self.zone)
        path = in_scope(session.scope, f"memory/{begin:%Y-%m-%d}.md")
        name = part_name(session.id, sitting.first)
        rows = note_block(found, (begin, end), path, episode, session.path)

        def change(text: str) -> str:
            if again and name not in text:  # none was wanted, or a person removed it
                return text
            return put(text or f"# {begin:%Y-%m-%d}\n", name, rows)

        if not again or (self.ws.root / path).is_file():
            self._write(path, change, "summary")
        self.notes.append(path)
        self.by = self.by or "rule"
        self.words += (split_sources(line)[0] for line in summary_lines(found))

    def _write(self, path: str, change: Callable[[str], str], step: str) -> None:
        done = file_edits.write(
            self.ws, path, change, step=f"session end: {step}", session=self.session.id, group=self.group
        )
        self._defer([path] if done.status == "deferred" else [])

    def _scratchpad(self, last: Sitting) -> str:
        if not self.episodes:
            return ""
        session = self.session
        done = scratchpad.refresh(
            self.ws, last.span(self.zone)[1], self.recent, scope=session.scope, session=session.id,
            group=self.group,
        )  # fmt: skip
        self._defer([done.path] if done.status == "deferred" else [])
        return done.path

    def _learn(self) -> None:
        """Learn facts by rule, and queue the turns for the model; `reading` sends them."""
        try:
            self.facts = learn(self.ws, self.session.id, queue=self.queue).facts
        except BusyError as error:
            self.problems.append(
                f"facts: {error}; they are learned when a session ends next, or at the next consolidation"
            )
            return
        if self.facts:  # superseded facts leave core memory; new ones are promoted by a consolidation
            session = self.session.id
            scopes = dict.fromkeys((self.session.scope, *(fact.scope for fact in self.facts)))
            withdraw(self.ws, scopes, step="session end: core memory", session=session, group=self.group)

    def _defer(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.deferred = True
            self.problems.append(f"another program is saving {path}; end the session again to write it")

    def _record_end(self, turns: Sequence[Placed], last: Sitting) -> None:
        payload = {
            "session": self.session.id, "first": last.first, "last": turns[-1].turn.id,
            "offset": last.turns[0].offset, "line": last.turns[0].line, "episode": self.last_episode,
            "size": turns[-1].end,
        }  # fmt: skip
        self.ws.session_journal.append(Change(kind="end", payload=payload, scope=self.session.scope))


def part_name(session: str, first: str) -> str:
    """Return the name of the part of a daily note that is about the sitting with that first turn."""
    mark = f"{session}\0{first}".encode("utf-8", "replace")
    return f"session-{blake2b(mark, digest_size=4).hexdigest()}"


def end(ws: OpenWorkspace, session: Recorder, *, summary: bool = True, queue: bool = False) -> Ended:
    """Write the note, the episode, the scratchpad, attachments, observations and facts of a session by rule.

    Idempotent, also after a crash. A session that continued is ended again: after a pause of up to six hours
    its episode and note are extended, after a longer one a new episode begins.

    Args:
        ws: the workspace.
        session: the session to end.
        summary: whether the daily note gets a summary; a short one where the agent wrote notes itself.
        queue: queue the turns for a model even if none is configured.

    Raises:
        ReadOnlyError: the memory is open for reading only.
    """
    ws.check_writable("end sessions")
    try:
        off_record.check(ws.root, "end sessions")
        with ending_lock(ws.root, _LOCK_SECONDS):
            return _Ending(ws, session, summary=summary, queue=queue).run()
    except BusyError as error:
        return Ended(session=session.id, status="deferred", problems=(str(error),))


def rewrite(ws: OpenWorkspace, session: Recorder, turns: Collection[str]) -> Ended:
    """Write the episodes and notes of the sittings of these turns again: a model noted them, or they came.

    Raises:
        BusyError: a session is being ended for longer than 20 seconds.
    """
    with ending_lock(ws.root, _LOCK_SECONDS):
        return _Ending(ws, session, summary=True).rewrite(turns)


def catch_up(ws: OpenWorkspace, *, queue: bool = False) -> list[Ended]:
    """End all sessions that are `unended`; `queue` as for `end`."""
    return [end(ws, session, queue=queue) for session in unended(ws)]


def unended(ws: OpenWorkspace) -> list[Recorder]:
    """Return the sessions that have had no turn for a while and have turns that were not written down yet."""
    now, ended = ws.now(), _sizes_at_end(ws)
    found = []
    for scope in ws.scopes():
        for file in log_files(ws.root / scope):
            # A log of the same size as at its end has no new turns.
            info = None if ended.get(file.path) == file.size else session_info(file)
            if info is not None:
                found.append(Recorder(ws, info.id, scope=scope))
    return [one for one in found if one.idle(_IDLE_SECONDS, now=now) and not _is_ended(ws, one)]


def _sizes_at_end(ws: OpenWorkspace) -> dict[Path, int]:
    """Return the sizes in bytes of the logs of ended sessions at their ends, by path, where recorded."""
    with ws.session_journal.fresh() as state:
        sizes = state.sizes_at_end()
    return {
        ws.root / scope / SessionLog(ws.root / scope, session).name: size for scope, session, size in sizes
    }


_FEWEST: Final = 100
"""Passages from which it is known what is common in a memory."""


def language(ws: OpenWorkspace) -> Language:
    """Return how words weigh in this memory; with few passages, or without an index, as in the language.

    The index is read as it was last synced, without the turns since: an end must not read all logs.
    """
    weigh = BundledEmbedder().weights
    index, count = ws.searcher.index, 0
    with suppress(*schema.UNREADABLE):
        count = index.size() if index.exists() else 0
    return Language(weigh) if count < _FEWEST else Language(weigh, lambda term: _share(index, term, count))


def _share(index: Index, term: str, count: int) -> float:
    try:
        return index.frequencies((term,)).get(term, 0) / count
    except schema.UNREADABLE:  # damaged: the next search tells
        return 0.0


def _last_end(ws: OpenWorkspace, session: Recorder) -> Mapping[str, Json]:
    with ws.session_journal.fresh() as state:
        return state.last_end(session.scope, session.id)


def _is_ended(ws: OpenWorkspace, session: Recorder) -> bool:
    last = session.last(1)
    return bool(last) and _last_end(ws, session).get("last") == last[-1].id


def _after(turns: Sequence[Placed], last: str) -> Sequence[Placed]:
    """Return the turns after the one with that id; all of them if none has it."""
    at = next((number for number, placed in enumerate(turns) if placed.turn.id == last), -1)
    return turns[at + 1 :]


def _is_memory_tool(tool: str) -> bool:
    words = set(words_of(tool))
    return bool(words & {"memory", "remember", "memories"} and words & _WRITE_WORDS)


def _wrote_memory(action: Action) -> bool:
    writes = not {"write", "edit", "append"}.isdisjoint(words_of(action.tool))
    files = (path.removeprefix("./") for path in action.paths)
    return _is_memory_tool(action.tool) or (
        writes and any(path.startswith("memory/") or path.endswith("MEMORY.md") for path in files)
    )


def _called_memory(sitting: Sitting) -> bool:
    """Return whether the turns hold calls of memory tools, which are not recorded as observations."""
    calls = (execution_of(call) for placed in sitting.turns for call in placed.turn.tool_calls)
    return any(made is not None and _is_memory_tool(made.tool) for made in calls)
