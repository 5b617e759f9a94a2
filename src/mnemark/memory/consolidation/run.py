"""Run a consolidation: plan the edits of all steps, show or apply them, and write a report."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from mnemark.errors import ConfigError, UsageError
from mnemark.facts.file_changes import applied
from mnemark.facts.model import Fact
from mnemark.facts.remember import follow, remember_many
from mnemark.files import layout
from mnemark.files.ids import new_id
from mnemark.files.journal import Change
from mnemark.files.platform import machine_name
from mnemark.files.private import private
from mnemark.files.scan import scan
from mnemark.memory.consolidation import archive, cleanup, condense, duplicates, tidy
from mnemark.memory.consolidation.report import Applied, Consolidated, amounts, write_report
from mnemark.memory.consolidation.report import commit as commit_to_git
from mnemark.memory.curation import generated
from mnemark.memory.curation.identity import compiled
from mnemark.memory.curation.plan import Planned, Proposal, ProposedEdit, ProposedMove, ScopeView, apply
from mnemark.memory.learning.by_rule import learn
from mnemark.memory.learning.candidates import remember_arguments
from mnemark.memory.learning.from_notes import begin, describe, learn_notes
from mnemark.memory.learning.learned import LearnedFact
from mnemark.memory.maintenance import finish
from mnemark.memory.merging.bases import Bases
from mnemark.memory.merging.copies import join_copies
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.review.attention import attention
from mnemark.memory.sessions import scratchpad
from mnemark.memory.sessions.ending import catch_up as end_sessions
from mnemark.memory.sessions.ending import unended
from mnemark.memory.sessions.observations import age_out
from mnemark.memory.sessions.reading import learn_all
from mnemark.text.dates.ranges import moment
from mnemark.types import Json

if TYPE_CHECKING:
    from mnemark.llm.base import LLM

STEPS: Final[Mapping[str, Callable[[ScopeView], Proposal]]] = {
    duplicates.STEP: duplicates.propose,
    archive.STEP: archive.propose,
    condense.STEP: condense.propose,
    generated.STEP: generated.propose,
    cleanup.STEP: cleanup.propose,
    tidy.STEP: tidy.propose,
}
"""The steps run for each scope, in order."""
LEARN: Final = "learn"
"""The part of a run that learns facts."""
_READING_SECONDS: Final = 120.0
"""Time limit of learning; what the model has not read by then waits in the queue."""
_PAUSE: Final = timedelta(days=7)
"""Period after a consolidation on another machine in which this one does not consolidate."""
_CLOCK_GAP: Final = timedelta(days=60)
"""A longer gap since the last run may be a wrong clock: such a run skips the decay step."""


def consolidate(
    ws: OpenWorkspace,
    *,
    dry_run: bool = False,
    now: datetime | None = None,
    force: bool = False,
    llm: "LLM | None" = None,
    commit: bool | None = None,
    since: datetime | str | None = None,
    only: Collection[str] | None = None,
) -> Consolidated:
    """Catch up, then deduplicate, decay, condense, refresh and clean up; see `STEPS`.

    Args:
        ws: the workspace.
        dry_run: change nothing, and return what would change.
        now: the time that ages are measured at.
        force: run even if another machine consolidated in the last week.
        llm: a model that may tidy MEMORY.md, within the rules of `tidy`; the configured one by default.
        commit: commit what was learned since the last run, and the files of each step, where the workspace
            is the root of a git repository; as configured (`commit` in `[consolidate]`) by default.
        since: the first day of the daily notes to learn from, as time, ISO text or words; by default the
            last seven days, or since the last consolidation where that is longer ago.
        only: the parts to carry out, as `part` of the edits of a dry run names them, or the name of a step
            for all of its parts, with `LEARN` for what would be learned; all by default. Then nothing else is
            done: no session is ended, no conflict copy merged, and the run of the day is still to come.

    Raises:
        ReadOnlyError: the memory is open for reading only.
        UsageError: `since` names no time, or `only` no step.
    """
    _check(ws, only or (), dry_run=dry_run)
    now = ws.local(now or ws.now())
    first = moment(since, "since", now)
    if not force and (reason := _why_skipped(ws, now)):
        return Consolidated(group="", time=now, dry_run=dry_run, edits=(), skipped=reason)
    run = _Consolidation(ws, now, llm, only)
    run.plan(first and first.astimezone(now.tzinfo).date(), dry_run=dry_run)
    return run.shown() if dry_run else run.carry_out(commit=commit)


def _check(ws: OpenWorkspace, only: Iterable[str], *, dry_run: bool) -> None:
    """Check that `only` names steps, and that what they change can be written."""
    for part in only:
        if part.partition(":")[0] not in {LEARN, *STEPS}:
            raise UsageError(
                f"only must name parts as a dry run does, for example refresh:USER.md, or whole steps "
                f"({', '.join((LEARN, *STEPS))}), not {part!r}"
            )
    if not dry_run:
        ws.check_writable("consolidate")


def _why_skipped(ws: OpenWorkspace, now: datetime) -> str:
    """Return that another machine consolidated lately; empty if this one did, too, or none."""
    runs = [run for run in ws.edits.runs() if run.time is not None and abs(now - run.time) < _PAUSE]
    if not runs or any(run.machine.startswith(machine_name()) for run in runs):
        return ""
    other = runs[-1].machine.removesuffix(".jsonl")
    return f"{other} consolidated this workspace in the last {_PAUSE.days} days; repeat it with --force"


class _Consolidation:
    """A consolidation under way: what it plans, and what it has to say."""

    def __init__(
        self, ws: OpenWorkspace, now: datetime, llm: "LLM | None", only: Collection[str] | None
    ) -> None:
        self.ws = ws
        self.now = now
        self.only = only
        self.scopes: list[str] = []
        self.learned: list[LearnedFact] = []
        self.planned: list[Planned] = []
        self.notes: list[str] = []
        self.llm = self._model() if llm is None else llm

    def _model(self) -> "LLM | None":
        try:
            return self.ws.model()
        except ConfigError as error:  # all steps work without a model
            self.notes.append(str(error))
            return None

    def plan(self, first: date | None, *, dry_run: bool) -> None:
        """Learn, from notes since the `first` day, and plan the edits; in a dry run nothing is written."""
        ws, only = self.ws, self.only
        reads = only is None or any(map(_is_learning, only))
        if not dry_run:
            self.notes += finish(ws)
        if reads:
            self._foresee() if dry_run else self._catch_up()
        last = self._last()
        entries = scan(ws.root, ignore=ws.config.ignore).entries
        self.scopes = sorted({layout.scope_of(entry.path) for entry in entries} | {""})
        for scope in self.scopes if reads else ():
            start = first or begin(self.now, last)
            facts, notes = learn_notes(ws, scope, start, self.now, llm=self.llm, dry_run=dry_run)
            self.learned += facts
            self.notes += notes
        for scope in self.scopes:
            parts = None if only is None else {*only, *([f"{LEARN}:{scope}"] if reads else [])}
            view = ScopeView(ws, self.now, scope=scope, llm=self.llm, only=parts)
            if dry_run:
                self._plan_learned(view)
            else:
                follow(ws.fact_store, scope)
            self._plan_steps(view, clock_gap=last is not None and self.now - last > _CLOCK_GAP)
        known = {name for one in self.planned for name in (one.step, one.part)}
        left = (part for part in only or () if part not in known and not _is_learning(part))
        self.notes += [f"nothing is to be done for {part}; a dry run names the parts" for part in left]

    def _last(self) -> datetime | None:
        """Return the time of the last run; one in the future, of a wrong clock, is none."""
        limit = self.now + timedelta(days=1)
        times = (run.time for run in self.ws.edits.runs())
        return max((time for time in times if time is not None and time <= limit), default=None)

    def _catch_up(self) -> None:
        """Complete unended sessions, and learn."""
        ws = self.ws
        self.notes += join_copies(ws)
        for ended in end_sessions(ws, queue=self.llm is not None):
            self.notes += [f"{ended.session}: {problem}" for problem in ended.problems]
            self._take(ended.facts)
        read = learn_all(ws, _READING_SECONDS, model=self.llm)
        self.notes += read.notes
        self._take(read.facts)
        busy = age_out(ws, self.now).deferred
        self.notes += [f"another program is saving {path}; archived next time" for path in busy]

    def _foresee(self) -> None:
        """Do as `_catch_up`, and only say what it would do."""
        self.notes += join_copies(self.ws, dry_run=True)
        would = "would first be ended and summarized"
        self.notes += [f"session {session.id} {would}" for session in unended(self.ws)]
        self._take(learn(self.ws, dry_run=True).facts)

    def _take(self, facts: Iterable[LearnedFact]) -> None:
        self.learned += [fact for fact in facts if fact.status != "known"]

    def _plan_learned(self, view: ScopeView) -> None:
        """Plan the edits of facts that would be learned; those that would wait for review get that status."""
        mine = [one for one in self.learned if one.scope == view.scope and one.status != "would be ended"]
        arguments = [remember_arguments(one, view.scope) for one in mine]
        facts = remember_many(
            view.ws.fact_store, arguments, dry_run=True
        )  # each in the light of those before
        view.suppose(facts)
        waiting = {id(one) for one, fact in zip(mine, facts, strict=True) if fact.review}
        by_path: dict[str, list[Fact]] = {}
        for one, fact in zip(mine, facts, strict=True):
            if not fact.review and fact.source == one.ref:
                by_path.setdefault(fact.path, []).append(fact)
        edits = [
            ProposedEdit(path, partial(_with_facts, path, new, view.zone), tuple(map(str, new)))
            for path, new in by_path.items()
        ]
        if edits:
            view.take(Proposal(LEARN, tuple(edits), whole=True))
        self.learned = [replace(one, status="review") if id(one) in waiting else one for one in self.learned]

    def _plan_steps(self, view: ScopeView, *, clock_gap: bool) -> None:
        for step, propose in STEPS.items():
            if step == archive.STEP and clock_gap:
                reason = "the last run was long ago, or the clock is wrong"
                self.notes.append(f"no fact was archived: {reason}")
                continue
            proposal = propose(view)
            view.take(proposal)
            self.notes += proposal.notes
        self.planned += view.planned

    def shown(self) -> Consolidated:
        """Return the report of a dry run."""
        return self._report("", [_applied(one, "planned", one.diff) for one in self.planned], dry_run=True)

    def carry_out(self, *, commit: bool | None) -> Consolidated:
        """Apply the planned edits, and write the report; see `consolidate` for `commit`."""
        ws, whole = self.ws, self.only is None
        if whole:
            scratchpad.follow(ws, self.now, self.scopes)
        before = max((run.id for run in ws.edits.runs()), default="")
        group = new_id()
        edits = list(self._apply(group))
        changed = any(edit.status == "written" for edit in edits)
        self.notes += [one.text for one in attention(ws)]
        report = self._report(group if changed or self.learned else "", edits)
        times = [run.time for run in ws.edits.runs() if run.time is not None]
        today = any(ws.local(time).date() == self.now.date() for time in times)
        if self.learned or (whole and (changed or not today)):
            facts: list[Json] = [fact.id for fact in self.learned if fact.status == "learned"]
            payload: dict[str, Json] = {
                "group": group, "edits": len(edits), "facts": facts,
                "done": amounts(edits, len(self.learned)),
            }  # fmt: skip
            ws.journal.append(Change(kind="consolidate", payload=payload, time=self.now))
        if self.learned or any(edit.status == "written" and edit.step != cleanup.STEP for edit in edits):
            write_report(ws, report)
        compiled(ws, llm=self.llm)
        if whole and ws.index.exists():
            bases = Bases(private(ws.root))
            if bases.note_seen(ws.index.digests()):
                bases.save()
        if ws.config.consolidate.commit if commit is None else commit:
            commit_to_git(ws, report, before)
        return report

    def _apply(self, group: str) -> Iterator[Applied]:
        stuck = ""
        for one in self.planned:
            if one.step == stuck:  # later edits of a step depend on the earlier ones
                yield _applied(one, "deferred", "")
                continue
            written = apply(self.ws, one.edit, step=f"consolidate: {one.step}", group=group)
            stuck = one.step if written.status == "deferred" else stuck
            if written.status != "unchanged":
                yield _applied(one, written.status, written.diff)

    def _report(self, group: str, edits: Iterable[Applied], *, dry_run: bool = False) -> Consolidated:
        return Consolidated(
            group=group, time=self.now, dry_run=dry_run, edits=tuple(edits),
            learned=tuple(map(describe, self.learned)), found=tuple(self.learned), notes=tuple(self.notes),
        )  # fmt: skip


def _is_learning(part: str) -> bool:
    return part.partition(":")[0] == LEARN


def _with_facts(path: str, facts: Sequence[Fact], zone: tzinfo, text: str) -> str:
    for fact in facts:
        text = applied(text, path, fact, zone)[0]
    return text


def _applied(one: Planned, status: str, diff: str) -> Applied:
    path = f"{one.edit.path} → {one.edit.to}" if isinstance(one.edit, ProposedMove) else one.edit.path
    return Applied(step=one.step, path=path, status=status, diff=diff, why=one.edit.why, part=one.part)
