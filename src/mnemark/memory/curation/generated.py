"""Write the generated parts of MEMORY.md, USER.md and the traits file from promoted facts.

A fact is promoted if the owner said it, if two independent sessions or daily notes state it, or if it was
recalled at least `USES` times. Transient facts, questions, tool output and sessions of timers never count.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from mnemark.facts import remember
from mnemark.facts.keys import predicate_key, subject_key
from mnemark.facts.labels import in_chinese
from mnemark.facts.model import EXPLICIT, Fact, NewFact, refs_in
from mnemark.facts.timeline import order
from mnemark.facts.write import core_entries, core_entry, undoubted_entries
from mnemark.files import layout, listing
from mnemark.files.edit import PATIENCE
from mnemark.files.names import split_ref
from mnemark.index.state import Use
from mnemark.memory import file_edits
from mnemark.memory.curation.files import curated_files
from mnemark.memory.curation.personas import CUSTOM, FOLDER
from mnemark.memory.curation.plan import Proposal, ProposedEdit, ScopeView
from mnemark.memory.curation.topics import HEADING_CHARACTERS, arranged, topic_of, written_in_chinese
from mnemark.retrieval.turns import in_turn
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.generated import GeneratedPart, find, mark, outside, put
from mnemark.text.markdown.writing import link
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.words.similarity import key_of

if TYPE_CHECKING:
    from mnemark.memory.open_workspace import OpenWorkspace

STEP: Final = "refresh"
CORE: Final = "core"
PROFILE: Final = "profile"
TRAITS: Final = "traits"
_PARTS: Final = (CORE, PROFILE, TRAITS)
CHARACTERS: Final = 1_500
"""Maximum characters of a generated part."""
MOST: Final = 5
"""Maximum entries of a kind in core memory."""
MOST_ABOUT_USER: Final = 10
_WEIGHT: Final[Mapping[str, float]] = {"rule": 0.8, "preference": 0.6}
_DEFAULT_WEIGHT: Final = 0.5
_EDIT_TIMEOUT: Final = 0.3
"""Seconds to wait for a file when a fact is remembered."""
SESSIONS: Final = 2
"""Minimum number of sessions, or of days with notes, that promote a fact."""
USES: Final = 3
"""Minimum number of recalls that promote a fact."""
LINES_A_MONTH: Final = 15
"""Maximum number of learned facts in core memory for each month that they span."""
_MONTH: Final = timedelta(days=30)
_REPEATED: Final = 0.05
"""Importance that each further source adds, up to four."""
_WORTH: Final[Mapping[str, float]] = {
    **dict.fromkeys(("self", "people", "health"), 0.1), **dict.fromkeys(("work", "home", "project"), 0.05),
}  # fmt: skip
"""Importance that the topic of a statement adds."""
MIN_CONFIDENCE: Final = 0.5
"""Minimum confidence of a promoted fact."""
_TIMERS: Final = lazy_pattern(r"(^|/)(cron|heartbeat|dream|scheduler|timer)\b", re.IGNORECASE)
_QUESTION: Final = lazy_pattern(r"[?？]\s*$|(吗|呢)\s*$")


def _is_trait(fact: Fact) -> bool:
    """Whether a fact says how the agent should talk: a taste does not by words such as "style" alone."""
    if fact.type != "rule" and (_TASTE.match(fact.predicate) or not fact.predicate):
        return _ANSWERS.search(fact.value) is not None
    return _TRAIT.search(f"{fact.predicate} {fact.value}") is not None


class _Page(NamedTuple):
    """A file with a generated part."""

    path: str
    part: str
    kinds: Sequence[frozenset[str]]
    """Types of facts that share a maximum of entries."""
    most: int
    """Maximum entries of a kind."""
    title: tuple[str, str]
    """Title, in English and Chinese, where nobody wrote anything outside of the part; of traits, always."""
    more: str
    """Where all facts are, with their sources; empty if nothing is said of it."""


_CORE_KINDS: Final = (
    frozenset({"rule"}), frozenset({"fact", "preference"}), frozenset({"skill"}), frozenset({"error"}),
)  # fmt: skip
_USER_KINDS: Final = (frozenset({"fact"}), frozenset({"preference"}))
_TRAIT_KINDS: Final = (frozenset({"preference", "rule"}),)
_MEMORY_TITLE: Final = ("# Memory", "# 记忆")
_USER_TITLE: Final = ("# User", "# 用户")
_TRAITS_TITLE: Final = ("# How to talk to the user", "# 与用户交流的方式")
_MORE: Final = ("All facts, with their sources", "全部事实与来源")
_TRAIT: Final = lazy_pattern(
    r"\b(?:repl(?:y|ies)|answers?|respon(?:d|se|ses)|tone|style|emojis?|concise|brief|formal|polite|language|"
    r"explanations?|explain)\b|回复|回答|语气|风格|语言|简短|简洁|详细|正式|礼貌|表情|称呼|解释",
    re.IGNORECASE,
)
"""Words about communication, which make a fact a trait: how the agent should talk."""
_TASTE: Final = lazy_pattern(r"(?:dis)?likes?$|hobbies$|favorite |喜欢|不喜欢|讨厌|爱好|最喜欢")
_ANSWERS: Final = lazy_pattern(
    r"\b(?:repl(?:y|ies)|answers|responses|explanations)\b|回复|回答|答复|解释", re.IGNORECASE
)
"""Words for what the agent says, which make a taste a trait."""


class RankingData(Protocol):
    """The data that facts are ranked by."""

    @property
    def uses(self) -> Mapping[str, Use]:
        """Recall counts by id of the fact."""

    @property
    def zone(self) -> tzinfo:
        """The timezone of dates without one."""


_ITS_DAY: Final = lazy_pattern(r"^(\d{4}-\d\d-\d\d)\b|[(（](\d{4}-\d\d(?:-\d\d)?)[)）]$")


def is_past_plan(fact: Fact, now: datetime) -> bool:
    """Return whether the date of a plan or an appointment, which its value names, is over at `now`."""
    if predicate_key(fact.predicate) not in {"plans", "goals", "appointments"}:
        return False
    found = _ITS_DAY.search(fact.value)
    day = (found[1] or found[2]) if found else ""
    return day != "" and day < f"{now:%Y-%m-%d}"[: len(day)]


def earned(view: RankingData, fact: Fact) -> str:
    """Return why a fact is promoted to core memory, for people; empty if it is not."""
    doubtful = fact.confidence is not None and fact.confidence < MIN_CONFIDENCE
    passing = fact.review or fact.priority == "transient" or fact.origin in {"tool", "web"}
    words = f"{fact.predicate}: {fact.value}"
    if passing or doubtful or _QUESTION.search(fact.value) or looks_like_instructions(words):
        return ""
    explicit = not fact.source or (fact.importance or 0) >= EXPLICIT or fact.priority == "permanent"
    if fact.origin == "owner" and (fact.predicate or explicit):
        return "said by the owner"
    if fact.type == "rule":  # nobody else gives orders
        return ""
    sources = {ref.partition("#")[0] for ref in refs_in(fact.source)}
    days = {place.dated for path in sources if (place := layout.place(path)) and place.role == "daily"}
    sessions = {path for path in sources if path.endswith(".jsonl") and not _TIMERS.search(path)}
    if len(sessions) >= SESSIONS:
        return f"said in {len(sessions)} sessions"
    if len(days) >= SESSIONS:
        return f"noted on {len(days)} days"
    use = view.uses.get(fact.id)
    return f"recalled {use.times} times" if use is not None and use.times >= USES else ""


def propose(view: ScopeView) -> Proposal:
    """Propose the edits that rewrite the generated parts from the current facts."""
    facts = _within_months(
        view,
        [
            (f, reason)
            for f in view.current()
            if not is_past_plan(f, view.now) and (reason := earned(view, f))
        ],
    )
    kinds = frozenset[str]().union(*_USER_KINDS)
    about_user = [(f, r) for f, r in facts if subject_key(f.subject) == "user" and f.type in kinds]
    others = [(f, r) for f, r in facts if (f, r) not in about_user]
    traits = [(f, r) for f, r in facts if _is_trait(f)]
    memory = next(iter(curated_files(view.ws.root, view.path(""))), view.path("MEMORY.md"))
    folder, user = view.path(f"{layout.FACTS}/"), view.state.files.path_for("user", view.scope)
    pages = (
        (_Page(memory, CORE, _CORE_KINDS, MOST, _MEMORY_TITLE, folder), others),
        (_Page(_user_file(view), PROFILE, _USER_KINDS, MOST_ABOUT_USER, _USER_TITLE, user), about_user),
        (_Page(_traits_file(view), TRAITS, _TRAIT_KINDS, MOST, _TRAITS_TITLE, ""), traits),
    )
    before = (written_in_chinese(part.lines) for page, _ in pages if (part := _part_of(view, page)))
    first = sorted(view.current(), key=lambda fact: (fact.recorded or fact.since, fact.id))
    chinese = in_chinese(
        _own_lines(view, pages[1][0]),
        (fact.value for fact in first),
        before=next((known for known in before if known is not None), None),
    )
    return Proposal(STEP, tuple(_edit(view, page, found, chinese=chinese) for page, found in pages))


def _own_lines(view: ScopeView, page: _Page) -> list[str]:
    """Return the lines that a person wrote on a page, without headings."""
    text = put(view.text(page.path), page.part, [])
    return [line for line in text.splitlines() if not line.startswith(("#", "<!--"))]


def _part_of(view: ScopeView, page: _Page) -> GeneratedPart | None:
    return find(view.text(page.path), page.part)


def _within_months(view: ScopeView, facts: list[tuple[Fact, str]]) -> list[tuple[Fact, str]]:
    """Return the best of what was learned, so many for each month that it spans, and all else."""
    learned = sorted((pair for pair in facts if pair[0].source), key=lambda pair: rank(view, pair[0]))
    begins = [order(fact, view.zone)[0] for fact, _ in learned if fact.since]
    months = 1 + (max(begins) - min(begins)) // _MONTH if begins else 0
    return [pair for pair in facts if not pair[0].source] + learned[: months * LINES_A_MONTH]


def withdraw(
    ws: "OpenWorkspace",
    scopes: Iterable[str],
    *,
    step: str,
    session: str = "",
    group: str = "",
    timeout: float = PATIENCE,
) -> list[str]:
    """Remove entries of facts that are not current from the generated parts; return the changed paths.

    The entry of a value that was replaced becomes that of the new value if that has earned it, too; other
    entries are added by a consolidation only. A file that another program is saving for longer than
    `timeout` seconds is left to the next call.
    """
    changed = []
    for scope in scopes:
        view = ScopeView(ws, ws.now(), scope=scope)
        curated = curated_files(ws.root, view.path(""))
        change: Callable[[str], str] | None = None
        for path in (*curated, _user_file(view), _traits_file(view)):
            text = view.text(path)
            if not any(find(text, name) for name in _PARTS):
                continue
            if change is None:
                entries = (view.state.derive(_entries, fact) for fact in view.current())
                holding = {entry for found in entries for entry in found}
                change = _keep_only(holding, _replaced(view))
            if change(text) != text:
                done = file_edits.write(
                    ws, path, change, step=step, session=session, group=group, timeout=timeout
                )
                changed += [path] if done.status == "written" else []
    return changed


def _entries(fact: Fact, _zone: tzinfo) -> tuple[str, ...]:
    return core_entries(fact)


def remember_many(
    ws: "OpenWorkspace", said: Iterable[Mapping[str, Any] | NewFact], *, dry_run: bool = False
) -> list[Fact]:
    """Store facts, and withdraw the entries of those that they supersede; see `facts.remember`."""
    with in_turn():
        facts = remember.remember_many(ws.fact_store, said, dry_run=dry_run)
    scopes = {fact.scope for fact in facts if fact.supersedes and not fact.review}
    if scopes and not dry_run:
        withdraw(ws, scopes, step="undo", timeout=_EDIT_TIMEOUT)
    return facts


def withdraw_all(ws: "OpenWorkspace") -> None:
    """Withdraw entries in every scope, as step "undo", so that `undo` does not list it as a change."""
    withdraw(ws, ws.scopes(), step="undo")


def _replaced(view: ScopeView) -> dict[str, str]:
    """Return the new entries of values that were replaced or are in doubt, by their old ones."""
    held = view.held()
    current = {one.fact.key: one.fact for one in held if one.at(view.now) and one.fact.predicate}
    return (
        {
            old: now
            for one in held
            if one.at(view.now) and one.fact.otherwise is not None
            for old, now in zip(undoubted_entries(one.fact), core_entries(one.fact), strict=True)
        }
        | {
            old: now
            for one in held
            if not one.at(view.now) and (new := current.get(one.fact.key)) is not None and earned(view, new)
            for old, now in zip(core_entries(one.fact), core_entries(new), strict=True)
        }
        | {
            old: now
            for wrong, right in _corrected(view, {one.fact.id: one.fact for one in held if one.at(view.now)})
            for old, now in zip(core_entries(wrong), core_entries(right), strict=True)
        }
    )


def _corrected(view: ScopeView, current: Mapping[str, Fact]) -> list[tuple[Fact, Fact]]:
    """Return the facts that were corrected, each with the one that holds in its place."""
    pairs = []
    for one in view.ws.fact_store.log.tables.corrections.values():
        right, wrong = current.get(one.id), current.get(one.wrong)
        if right is not None and one.before is not None:
            pairs.append((one.before, right))
        elif wrong is not None and one.fact is not None:  # it was undone
            pairs.append((one.fact, wrong))
    return pairs


def _keep_only(holding: set[str], replaced: Mapping[str, str]) -> Callable[[str], str]:
    """Return the edit that keeps only these entries, and the headings that still have some."""

    def change(text: str) -> str:
        for name in _PARTS:
            part = find(text, name)
            if part is None:
                continue
            now = [
                line if line.strip() in holding else replaced.get(line.strip(), line) for line in part.lines
            ]
            kept = [line for line in dict.fromkeys(now) if not _is_entry(line) or line.strip() in holding]
            following = [*kept[1:], "#"]
            lines = [
                line
                for line, after in zip(kept, following, strict=False)
                if _is_entry(line) or _is_entry(after) or not line.startswith("##")
            ]
            if not any(map(_is_entry, lines)):
                lines = []
            if kept != list(part.lines):
                text = put(text, name, _spaced(lines))
        return text

    return change


def _is_entry(line: str) -> bool:
    return line.startswith("- ")


def _spaced(lines: Sequence[str]) -> list[str]:
    """Return the lines of a part with an empty one before each heading and before the link at its end."""
    rows = (("", line) if at and not _is_entry(line) else (line,) for at, line in enumerate(lines))
    return [row for pair in rows for row in pair]


def behind(ws: "OpenWorkspace", ref: str) -> tuple[Fact, str] | None:
    """Return the fact of a line in a generated part, and why it was promoted; None for other lines."""
    path, first, last = split_ref(ref)
    if last is None or last != first:
        return None
    view = ScopeView(ws, ws.now(), scope=layout.scope_of(path))
    text = view.text(path)
    parts = [part for name in _PARTS if (part := find(text, name)) is not None]
    line = (text.splitlines()[first - 1 : first] or [""])[0]
    if not any(part.start < first - 1 < part.stop and line in part.lines for part in parts):
        return None
    facts = (fact for fact in view.current() if line.strip() in core_entries(fact))
    return next(((fact, earned(view, fact)) for fact in facts), None)


def _traits_file(view: ScopeView) -> str:
    return view.path(f"{FOLDER}/{CUSTOM}.md")


def _user_file(view: ScopeView) -> str:
    names = listing.names(view.ws.root, view.scope)
    return view.path(next((name for name in names if name.casefold() == "user.md"), "USER.md"))


def _edit(view: ScopeView, page: _Page, facts: list[tuple[Fact, str]], *, chinese: bool) -> ProposedEdit:
    text = view.text(page.path)
    part = _part_of(view, page)
    by_people = {key_of(line.strip(" -*#\t")) for line in outside(text).splitlines()}
    left_out = {line for where, line in view.undone.entries if where == page.path}
    removed = part.removed if part else frozenset()
    ordered = [
        (fact, reason)
        for fact, reason in sorted(facts, key=lambda pair: rank(view, pair[0]))
        if not any(
            entry in left_out or mark(entry) in removed or key_of(entry) in by_people
            for entry in (*core_entries(fact), *undoubted_entries(fact))
        )
    ]
    chosen = _chosen(page, ordered, chinese=chinese)
    lines = _lines(page, [fact for fact, _ in chosen], view.zone, chinese=chinese)
    if lines and not (page.more and outside(text).strip()):
        lines = [page.title[chinese], *(["", *lines] if page.more else lines)]
    why = [f"{core_entry(fact, chinese=chinese)[2:]} ({reason})" for fact, reason in chosen]
    before = set(part.lines) if part else set()
    now = {entry for fact, _ in chosen for entry in core_entries(fact)}
    why += [f"left out: {line[2:]}" for line in before - now if _is_entry(line)]
    return ProposedEdit(page.path, lambda text: put(text, page.part, lines), tuple(why))


def rank(view: RankingData, fact: Fact) -> tuple[object, ...]:
    """Return the sort key of a fact: pinned first, then by importance, recalls and start, descending."""
    importance = _WEIGHT.get(fact.type, _DEFAULT_WEIGHT) if fact.importance is None else fact.importance
    importance += _REPEATED * min(fact.source.count(","), 4)
    importance += max((_WORTH.get(tag, 0) for tag in fact.tags), default=0) if not fact.predicate else 0
    pinned = fact.priority == "permanent"
    use = view.uses.get(fact.id)
    start = order(fact, view.zone)[0].timestamp() if fact.since or fact.recorded else 0.0
    return not pinned, -importance, -(use.times if use else 0), -start, fact.id


def _chosen(page: _Page, facts: Iterable[tuple[Fact, str]], *, chinese: bool) -> list[tuple[Fact, str]]:
    """Return as many facts as there is room for, in their order."""
    counts = dict.fromkeys(page.kinds, 0)
    topics = set[str]()
    chosen = []
    room = CHARACTERS
    for fact, reason in facts:
        kind = next((kind for kind in page.kinds if fact.type in kind), None)
        if kind is None or counts[kind] >= page.most:
            continue
        topic = topic_of(fact.type, fact.subject, fact.predicate, fact.tags)
        cost = len(core_entry(fact, chinese=chinese)) + 1
        cost += 0 if topic in topics else HEADING_CHARACTERS + 1
        if cost <= room:
            room -= cost
            counts[kind] += 1
            topics.add(topic)
            chosen.append((fact, reason))
    return chosen


def _lines(page: _Page, facts: Sequence[Fact], zone: tzinfo, *, chinese: bool) -> list[str]:
    if not facts:
        return []
    lines = arranged(facts, zone, chinese=chinese)
    if not page.more:
        return list(filter(_is_entry, lines))
    return _spaced([*lines, link(_MORE[chinese], page.more, page.path)])
