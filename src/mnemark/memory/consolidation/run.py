"""Run a consolidation: plan the edits of all steps, show or apply them, and write a report."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from mnemark.errors import ConfigError, UsageError
from mnemark.facts.file_changes import applied
from mnemark.facts.model import Fact
from mnemark.facts.remember import follow, remember_many
from mnemark.files.ids import new_id
from mnemark.files.journal import Change
from mnemark.files.scan import scan
from mnemark.memory.consolidation import archive, cleanup, condense, duplicates, tidy
from mnemark.memory.consolidation.report import Applied, Report, write_report
from mnemark.memory.consolidation.report import commit as commit_to_git
from mnemark.memory.curation import generated
from mnemark.memory.curation.identity import compiled
from mnemark.memory.curation.plan import Edit, Move, Planned, Proposal, ScopeView, apply, scopes_in
from mnemark.memory.learning.by_rule import learn
from mnemark.memory.learning.candidates import LearnedFact, remember_arguments
from mnemark.memory.learning.from_notes import begin, describe, learn_notes
from mnemark.memory.maintenance import finish
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.review.attention import attention
from mnemark.memory.sessions import scratchpad
from mnemark.memory.sessions.ending import catch_up as end_sessions
from mnemark.memory.sessions.ending import unended
from mnemark.memory.sessions.observations import age_out
from mnemark.memory.sessions.reading import learn_all
from mnemark.text.dates.moment import moment
from mnemark.types import Json

if TYPE_CHECKING:
    from mnemark.llm.base import LLM

STEPS: Final[Mapping[str, Callable[[ScopeView], Proposal]]] = {
    duplicates.STEP: duplicates.propose,
    archive.STEP: archive.propose,
    condense.STEP: condense.propose,
    generated.STEP: generated.propose,
    cleanup.STEP: cleanup.propose,
}
"""The steps run for each scope, in order."""
LEARN: Final = "learn"
"""The part of a run that learns facts."""
_READING_SECONDS: Final = 120.0
"""Time limit of learning; what the model has not read by then waits in the queue."""
_PAUSE: Final = timedelta(days=3)
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
) -> Report:
    """Catch up, then deduplicate, decay, condense, refresh and clean up; see `STEPS`.

    Args:
        ws: the workspace.
        dry_run: change nothing, and return what would change.
        now: the time that ages are measured at.
        force: run even if another machine consolidated in the last three days.
        llm: a model that may tidy what people wrote in MEMORY.md, within the rules of `tidy`; the configured
            one by default.
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
    _check_steps(only or ())
    if not dry_run:
        ws.check_writable("consolidate")
    now = ws.local(now or ws.now())
    first = moment(since, "since", now)
    notes: list[str] = []
    llm = _model(ws, notes) if llm is None else llm
    other = _recent_machine(ws, now)
    if other and not force:
        reason = f"{other} consolidated this workspace in the last {_PAUSE.days} days; repeat it with --force"
        return Report(group="", time=now, dry_run=dry_run, edits=(), skipped=reason)
    reads = only is None or any(map(_is_learning, only))
    learned = _learned(ws, now, llm, notes, dry_run=dry_run, reads=reads)
    start = begin(now, _last_run(ws, now)) if first is None else first.astimezone(now.tzinfo).date()
    scopes = scopes_in(entry.path for entry in scan(ws.root, ignore=ws.config.ignore).entries)
    for scope in scopes if reads else ():
        facts, remarks = learn_notes(ws, scope, start, now, llm=llm, dry_run=dry_run)
        learned += facts
        notes += remarks
    planned: list[Planned] = []
    for scope in scopes:
        parts = None if only is None else {*only, *([f"{LEARN}:{scope}"] if reads else [])}
        view = ScopeView(ws, now, scope=scope, llm=llm, only=parts)
        if dry_run:
            learned = _plan_learned(view, learned)
        else:
            follow(ws.fact_store, scope)
        notes += _plan(view, clock_gap=_has_clock_gap(ws, now))
        planned += view.planned
    notes += _not_proposed(only or (), planned)
    if dry_run:
        shown = tuple(_applied(one, "planned", one.diff) for one in planned)
        facts_shown = tuple(map(describe, learned))
        return Report(group="", time=now, dry_run=True, edits=shown, learned=facts_shown, notes=tuple(notes))
    if only is None:
        scratchpad.follow(ws, now, scopes)
    before = max((run.id for run in ws.edits.runs()), default="")
    report = _apply(ws, planned, now, learned=learned, notes=notes, whole=only is None)
    compiled(ws, llm=llm)
    if ws.config.consolidate.commit if commit is None else commit:
        commit_to_git(ws, report, before)
    return report


def _check_steps(only: Iterable[str]) -> None:
    steps = (LEARN, *STEPS, tidy.STEP)
    for part in only:
        if part.partition(":")[0] not in steps:
            raise UsageError(
                f"only must name parts as a dry run does, for example refresh:USER.md, or whole steps "
                f"({', '.join(steps)}), not {part!r}"
            )


def _is_learning(part: str) -> bool:
    return part.partition(":")[0] == LEARN


def _not_proposed(only: Iterable[str], planned: Sequence[Planned]) -> list[str]:
    """Return a note on each chosen part that has no edit:."""
    known = {name for one in planned for name in (one.step, one.part)}
    left = [part for part in only if part not in known and not _is_learning(part)]
    return [f"nothing is to be done for {part}; a dry run names the parts" for part in left]


def _model(ws: OpenWorkspace, notes: list[str]) -> "LLM | None":
    try:
        return ws.model()
    except ConfigError as error:  # all steps work without a model
        notes.append(str(error))
        return None


def _learned(
    ws: OpenWorkspace, now: datetime, llm: "LLM | None", notes: list[str], *, dry_run: bool, reads: bool
) -> list[LearnedFact]:
    """Return what is learned from sessions before the steps, or in a dry run would be."""
    if dry_run:
        return _would_learn(ws, notes) if reads else []
    if reads:
        return _catch_up(ws, now, llm, notes)
    notes += finish(ws)
    return []


def _catch_up(ws: OpenWorkspace, now: datetime, llm: "LLM | None", notes: list[str]) -> list[LearnedFact]:
    """Complete pending work and unended sessions, and learn; return the new facts."""
    notes += finish(ws)
    notes += cleanup.merge_copies(ws)
    learned = []
    for ended in end_sessions(ws, queue=llm is not None):
        notes += [f"{ended.session}: {problem}" for problem in ended.problems]
        learned += [fact for fact in ended.facts if fact.status != "known"]
    report = learn_all(ws, _READING_SECONDS, model=llm)
    notes += report.notes
    learned += [fact for fact in report.facts if fact.status != "known"]
    notes += [f"another program is saving {path}; archived next time" for path in age_out(ws, now).deferred]
    return learned


def _would_learn(ws: OpenWorkspace, notes: list[str]) -> list[LearnedFact]:
    """Return the facts that a run would learn before its steps; add notes on what it would do first."""
    notes += cleanup.merge_copies(ws, dry_run=True)
    notes += [f"session {session.id} would first be ended and summarized" for session in unended(ws)]
    return [fact for fact in learn(ws, dry_run=True).facts if fact.status != "known"]


def _plan_learned(view: ScopeView, learned: list[LearnedFact]) -> list[LearnedFact]:
    """Plan the edits of facts that would be learned, in a dry run; return the facts with their status."""
    mine = [one for one in learned if one.scope == view.scope and one.status != "would be ended"]
    arguments = [remember_arguments(one, view.scope) for one in mine]
    facts = remember_many(view.ws.fact_store, arguments, dry_run=True)  # each in the light of those before
    view.suppose(facts)
    waiting = {id(one) for one, fact in zip(mine, facts, strict=True) if fact.review}
    by_path: dict[str, list[Fact]] = {}
    for one, fact in zip(mine, facts, strict=True):
        if not fact.review and fact.source == one.ref:
            by_path.setdefault(fact.path, []).append(fact)
    edits = [
        Edit(path, partial(_with_facts, path, new, view.zone), tuple(map(str, new)))
        for path, new in by_path.items()
    ]
    if edits:
        view.take(Proposal(LEARN, tuple(edits), whole=True))
    return [replace(one, status="review") if id(one) in waiting else one for one in learned]


def _with_facts(path: str, facts: Sequence[Fact], zone: tzinfo, text: str) -> str:
    for fact in facts:
        text = applied(text, path, fact, zone)[0]
    return text


def _recent_machine(ws: OpenWorkspace, now: datetime) -> str:
    runs = [run for run in ws.edits.runs() if run.time is not None and abs(now - run.time) < _PAUSE]
    if not runs or any(run.machine == ws.journal.file for run in runs):
        return ""
    return runs[-1].machine.removesuffix(".jsonl")


def _last_run(ws: OpenWorkspace, now: datetime) -> datetime | None:
    """Return the time of the last run; one in the future, of a wrong clock, is none."""
    limit = now + timedelta(days=1)
    return max(
        (run.time for run in ws.edits.runs() if run.time is not None and run.time <= limit), default=None
    )


def _has_clock_gap(ws: OpenWorkspace, now: datetime) -> bool:
    last = _last_run(ws, now)
    return last is not None and now - last > _CLOCK_GAP


def _plan(view: ScopeView, *, clock_gap: bool) -> list[str]:
    notes: list[str] = []
    steps = dict(STEPS)
    if view.llm is not None:
        steps[tidy.STEP] = partial(tidy.propose, llm=view.llm)
    for step, propose in steps.items():
        if step == archive.STEP and clock_gap:
            notes.append("no fact was archived: the last run was long ago, or the clock is wrong")
            continue
        proposal = propose(view)
        view.take(proposal)
        notes += proposal.notes
    return notes


def _apply(
    ws: OpenWorkspace,
    planned: list[Planned],
    now: datetime,
    *,
    learned: list[LearnedFact],
    notes: list[str],
    whole: bool,
) -> Report:
    group = new_id()
    done: list[Applied] = []
    stuck = ""
    for one in planned:
        if one.step == stuck:  # later edits of a step depend on the earlier ones
            done.append(_applied(one, "deferred", ""))
            continue
        written = apply(ws, one.edit, step=f"consolidate: {one.step}", group=group)
        stuck = one.step if written.status == "deferred" else stuck
        if written.status != "unchanged":
            done.append(_applied(one, written.status, written.diff))
    changed = any(edit.status == "written" for edit in done)
    notes += [one.text for one in attention(ws)]
    report = Report(
        group=group if changed or learned else "", time=now, dry_run=False, edits=tuple(done),
        learned=tuple(map(describe, learned)), notes=tuple(notes),
    )  # fmt: skip
    times = [run.time for run in ws.edits.runs() if run.time is not None]
    today = any(ws.local(time).date() == now.date() for time in times)
    if learned or (whole and (changed or not today)):
        facts: list[Json] = [fact.id for fact in learned if fact.status == "learned"]
        payload: dict[str, Json] = {"group": group, "edits": len(done), "facts": facts}
        ws.journal.append(Change(kind="consolidate", payload=payload, time=now))
    if learned or any(edit.status == "written" and edit.step != cleanup.STEP for edit in done):
        write_report(ws, report)
    return report


def _applied(one: Planned, status: str, diff: str) -> Applied:
    path = f"{one.edit.path} → {one.edit.to}" if isinstance(one.edit, Move) else one.edit.path
    return Applied(step=one.step, path=path, status=status, diff=diff, why=one.edit.why, part=one.part)
