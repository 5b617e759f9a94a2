"""The states of facts follow from the lines of the journal alone, however these are read."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.facts.journal import FactJournal
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import FactVersion
from mnemark.facts.visible import PlainWorkspace
from mnemark.files.config import Config
from mnemark.files.journal import Change, Journal
from mnemark.files.truth import Folder
from mnemark.types import Json

MOST = 12
"""Lines of a journal."""
HAND = "HAND"
"""Id of a fact that a person wrote."""
SCOPES = ("", "users/ann")
USER = f"""# User

- **city**: Bonn <!-- id: {0:026} -->
- **likes**: tea <!-- id: {1:026} -->
- **city**: Berlin <!-- id: {2:026} | since: 2026-02-01 -->
- ~~coffee~~ <!-- id: {HAND} -->
"""
FACTS = ("remember", "propose", "conflict", "otherwise")
NAMES: Mapping[str, Sequence[str]] = {
    "confirm": FACTS,
    "retract": FACTS,
    "project": (*FACTS, "confirm", "retract", "correct"),
    "edit": FACTS,
    "tombstone": FACTS,
    "correct": (*FACTS, "correct"),
    "otherwise": FACTS,
    "accept": ("propose", "conflict", "otherwise", "edit", "tombstone"),
    "reject": ("propose", "conflict", "otherwise", "edit", "tombstone"),
    "forget": FACTS,
    "erased": ("forget",),
    "undo": (*FACTS, "correct", "correct", "retract", "accept", "reject", "forget", "undo"),
}
"""Which lines a line of a kind mostly names."""
KINDS = ("remember", "remember", *FACTS, *NAMES, "forget", "erased", "undo", "undo")
WORDS = st.fixed_dictionaries(
    {
        "subject": st.sampled_from(("user", "dog")),
        "predicate": st.sampled_from(("city", "likes", "")),
        "value": st.sampled_from(("Bonn", "Berlin", "tea")),
    },
    optional={
        "since": st.sampled_from(("2026-01-01", "2026-02-01")),
        "until": st.just("2026-03-01"),
        "path": st.just("memory/facts/user.md"),
        "source": st.just("sessions/a.jsonl#L2"),
    },
)
FIELDS = st.fixed_dictionaries({}, optional={"confidence": st.just("0.9"), "until": st.just("2026-03-01")})
Step = tuple[int, bytes]
"""The number of a journal, and a line that is appended to it."""


def id_of(number: int) -> str:
    return f"{number:026}"


def payloads(kind: str, before: Sequence[str]) -> st.SearchStrategy[dict[str, Json]]:  # noqa: PLR0911 - a table
    """What a line of a kind says; `before`: the kinds of the lines before."""
    likely = [id_of(at) for at, other in enumerate(before) if other in NAMES.get(kind, ())][-3:]
    names = st.sampled_from([*likely, *likely, *likely, id_of(len(before) // 2), id_of(MOST), HAND])
    several = st.lists(names, min_size=1, max_size=3)
    match kind:
        case "remember" | "propose" | "conflict" | "otherwise":
            against = {"fact": names, "review": st.just("otherwise"), "quote": st.just("so it is")}
            return with_words(against, {}) if kind == "otherwise" else WORDS
        case "confirm" | "retract":
            return st.fixed_dictionaries({"fact": names, "fields": FIELDS}, optional={"by": names})
        case "edit" | "tombstone":
            old = with_words({"id": names, "origin": st.just("agent")}, {})
            actions = st.sampled_from(("added", "changed", "moved", "ended"))
            return with_words({"fact": names, "action": actions}, {"before": old})
        case "correct":
            old = with_words({"id": names, "source": st.sampled_from(("", "sessions/a.jsonl#L2"))}, {})
            wrong: dict[str, Any] = {"fact": names, "before": old}
            return st.one_of(st.fixed_dictionaries(wrong), with_words(wrong, {}))
        case "project":
            return st.fixed_dictionaries({"ids": several}, optional={"restored": st.just("yes")})
        case "accept" | "reject":
            made = st.sampled_from(("", id_of(0)))
            return st.fixed_dictionaries({"ids": several}, optional={"made": made})
        case "forget":
            ends = st.dictionaries(names, st.sampled_from(("2026-04-01", "2026-05-01")), max_size=2)
            more = {"ids": several, "passing": several, "ends": ends, "said": st.just(["mark"])}
            return st.fixed_dictionaries({}, optional={**more, "erase": st.sampled_from((True,))})
        case _:
            return st.fixed_dictionaries({"ids": several})


def with_words(
    more: dict[str, st.SearchStrategy[str]], optional: dict[str, st.SearchStrategy[dict[str, Json]]]
) -> st.SearchStrategy[dict[str, Json]]:
    """The words of a fact with further fields."""
    return st.tuples(WORDS, st.fixed_dictionaries(more, optional=optional)).map(lambda two: two[0] | two[1])


@st.composite
def journals(draw: st.DrawFn) -> tuple[list[Step], list[int]]:
    """Lines of two machines in the order of their ids, some repeated by copies, and where reading stops."""
    some = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))  # of few kinds more meet
    kinds = draw(st.lists(st.sampled_from(["remember", *some]), min_size=1, max_size=MOST))
    steps: list[Step] = []
    for number, kind in enumerate(kinds):
        record: dict[str, Json] = {
            "id": id_of(number),
            "time": f"2026-01-01T10:00:{number:02}+00:00",
            "kind": kind,
        }
        record |= {"origin": "owner", "scope": draw(st.sampled_from(SCOPES))}
        record["payload"] = draw(payloads(kind, kinds[:number]))
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        steps.append((draw(st.integers(0, 1)), line))
        if draw(st.booleans()):
            machine, again = draw(st.sampled_from(steps))
            steps.append((machine % 2 + 2, again))
    cuts = draw(st.sets(st.integers(1, len(steps)), max_size=5))
    return steps, [*sorted(cuts - {len(steps)}), len(steps)]


def append_steps(root: Path, steps: Sequence[Step]) -> None:
    """Append lines to the journals of two machines, or to copies that a program for syncing made of them."""
    own = Journal(Folder(root)).file.removesuffix(".jsonl")
    names = (own, "zz", f"{own}.sync-conflict-1", "zz.sync-conflict-1")
    for number, line in steps:
        with (root / f"journal/{names[number]}.jsonl").open("ab") as file:
            file.write(line)


def rewrite(root: Path) -> None:
    """Write the journal of this machine anew, as an erasure does."""
    for path in (root / "journal").iterdir():
        copy = path.with_suffix(".new")
        copy.write_bytes(path.read_bytes())
        copy.replace(path)


def state_of(log: FactJournal) -> dict[str, object]:
    log.refresh()
    derived = {"epoch", "redacted", "erased", "completed"}
    tables = {name: value for name, value in vars(log.tables).items() if name not in derived}
    return tables | {"pending": log.pending(), "erased": log.was_erased(), "ends": log.ends()}


def store_of(root: Path) -> FactStore:
    return PlainWorkspace(root, Config()).fact_store


def versions(store: FactStore) -> list[list[FactVersion]]:
    store.log.refresh()
    return [store.held(scope) for scope in SCOPES]


@settings(deadline=None)
@given(journals())
def test_states_are_the_same_however_the_lines_are_read(journal: tuple[list[Step], list[int]]) -> None:
    steps, cuts = journal
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "journal").mkdir()
        log, start = FactJournal(Journal(Folder(root))), 0
        for cut in cuts:
            append_steps(root, steps[start:cut])
            start = cut
            assert state_of(log) == state_of(FactJournal(Journal(Folder(root))))
        before = state_of(log)
        rewrite(root)
        assert state_of(log) == before


@settings(deadline=None)
@given(journals())
def test_facts_are_the_same_however_the_lines_are_read(journal: tuple[list[Step], list[int]]) -> None:
    steps, cuts = journal
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("journal", ".mnemark", "memory/facts"):
            (root / name).mkdir(parents=True)
        (root / "memory/facts/user.md").write_text(USER, encoding="utf-8")
        os.utime(root / "memory/facts/user.md", (1_700_000_000,) * 2)
        store, start = store_of(root), 0
        for cut in cuts:
            append_steps(root, steps[start:cut])
            start = cut
            versions(store)
        whole = versions(store_of(root))
        assert versions(store) == whole
        rewrite(root)
        assert versions(store) == whole


@pytest.mark.parametrize("kind", ["remember", "retract", "reject", "forget"])
def test_a_line_that_is_read_after_its_undo_is_undone(tmp_path: Path, kind: str) -> None:
    """The journal of the machine that undid it came first."""
    words: dict[str, Json] = {"predicate": "city", "value": "Bonn"}
    lines = {
        "remember": Change(kind="remember", id=id_of(2), payload=words),
        "retract": Change(kind="retract", id=id_of(2), payload={"fact": id_of(1), "fields": {}}),
        "reject": Change(kind="reject", id=id_of(2), payload={"ids": [id_of(0)]}),
        "forget": Change(kind="forget", id=id_of(2), payload={"ids": [id_of(1)]}),
    }
    own, other = Journal(Folder(tmp_path), "m1"), Journal(Folder(tmp_path), "m2")
    own.append(Change(kind="propose", id=id_of(0), payload=words))
    own.append(Change(kind="remember", id=id_of(1), payload=words))
    log = FactJournal(own)
    own.append(Change(kind="undo", id=id_of(3), payload={"ids": [id_of(2)]}))
    log.refresh()
    other.append(lines[kind])
    assert state_of(log) == state_of(FactJournal(Journal(Folder(tmp_path), "m1")))
    assert not log.of(id_of(1)).hidden
    assert not log.tables.decided
    assert not log.ends()
    assert [fact.id for fact in log.withdrawn()] == [id_of(2)][: kind == "remember"]


def test_a_copy_of_a_journal_says_nothing_new(tmp_path: Path) -> None:
    """Programs for syncing make one where two machines wrote at once."""
    bonn: dict[str, Json] = {"predicate": "city", "value": "Bonn"}
    berlin: dict[str, Json] = {"predicate": "city", "value": "Berlin"}
    said: list[tuple[str, dict[str, Json]]] = [
        ("propose", berlin),
        ("remember", bonn),
        ("project", {"ids": [id_of(1)], "path": "memory/facts/user.md"}),
        ("edit", berlin | {"fact": id_of(1), "action": "changed", "before": bonn | {"id": id_of(1)}}),
        ("tombstone", berlin | {"fact": id_of(1)}),
        ("edit", bonn | {"fact": id_of(1), "action": "added"}),
        ("reject", {"ids": [id_of(0)], "made": ""}),
        ("undo", {"ids": [id_of(6)]}),
        ("project", {"ids": [id_of(0)]}),
        ("remember", {"value": "tea"}),
        ("remember", {"value": "coffee"}),
        ("forget", {"ids": [id_of(9)], "passing": [id_of(10)], "erase": True, "said": ["mark"]}),
        ("erased", {"ids": [id_of(11)]}),
        ("edit", {"value": "coffee", "fact": id_of(10), "action": "added"}),
    ]
    journal = Journal(Folder(tmp_path))
    journal.append_many(
        [Change(kind=kind, id=id_of(number), payload=payload) for number, (kind, payload) in enumerate(said)]
    )
    log = FactJournal(journal)
    before = state_of(log)
    assert not log.pending()
    own = tmp_path / "journal" / journal.file
    own.with_suffix(".sync-conflict-1.jsonl").write_bytes(own.read_bytes())
    assert state_of(log) == before == state_of(FactJournal(Journal(Folder(tmp_path))))
