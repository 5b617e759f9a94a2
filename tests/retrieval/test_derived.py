"""Text that mnemark derived from turns ranks the turns, and takes no place of its own."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.index.derived import Edges
from mnemark.index.snapshot import TermHits
from mnemark.llm.base import Message
from mnemark.llm.budget import Budget, Ledger, Meter
from mnemark.llm.function import FunctionLLM
from mnemark.retrieval.derived import joined
from mnemark.retrieval.words import by_words_of
from mnemark.types import Recall

SAID = [
    ("user", "We finally signed the papers for the little place by the lake yesterday, Robin is thrilled."),
    ("assistant", "Congratulations to you both!"),
    ("user", "The keys come in March, and then we paint the kitchen."),
    ("assistant", "That sounds like a good plan for the spring."),
    ("user", "Yes. Now I only have to find a painter."),
    ("assistant", "Ask your neighbours there."),
]
NOTE = "The owner bought a holiday cottage by the lake and signed the papers."


def noting(text: str, turn: int) -> FunctionLLM:
    def answer(_: Sequence[Message]) -> str:
        return json.dumps({"observations": [{"text": text, "turns": [turn]}]})

    budget = Budget(calls_per_day=100, tokens_per_day=1_000_000)
    return FunctionLLM(answer, meter=Meter(budget, Ledger.in_memory()))


def ended(root: Path, *, note: str = "", turns: Sequence[tuple[str, str]] = SAID) -> list[str]:
    """Record a session among others and end it; return the refs of its turns."""
    with Memory.open(root, config={"embedder": "none"}) as memory:
        for number, text in enumerate(("The train to work was late.", "We had soup for lunch.")):
            other = memory.session(f"other-{number}")
            other.add("user", text)
            other.add("assistant", "I see.")
        session = memory.session("house")
        for role, text in turns:
            session.add(role, text)
        session.end(noting(note, 1) if note else None)
        memory.sync()
        return [f"{session.path}#L{line}" for line in range(2, len(turns) + 2)]


def ask(root: Path, query: str, kinds: list[str] | None = None) -> Recall:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        return memory.search(query, kinds=kinds)  # type: ignore[arg-type]


def page_of(root: Path) -> Path:
    return next(page for page in (root / "memory/episodes").glob("*.md") if NOTE in page.read_text("utf-8"))


def test_a_turn_is_found_by_what_was_noted_of_it(tmp_path: Path) -> None:
    first, *_ = ended(tmp_path, note=NOTE)
    assert NOTE in page_of(tmp_path).read_text("utf-8")
    hits = ask(tmp_path, "Who bought a holiday cottage?").hits
    assert hits[0].ref == first
    assert hits[0].meta["noted"]["text"] == NOTE
    assert "noted" not in ask(tmp_path, "signed papers, Robin is thrilled").hits[0].meta
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        assert f"[noted: {NOTE}]" in memory.recall("Who bought a holiday cottage?", deadline=30).text
    assert "episode" not in {hit.kind for hit in hits}


def test_what_was_noted_of_a_turn_counts_for_the_turns_around_it(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("health").add("user", "The braces come in March, and then the dentist is done.")
    _, _, keys, *_ = ended(tmp_path, note=NOTE)
    assert ask(tmp_path, "When in March is the holiday cottage ours?").hits[1].ref == keys


@given(
    st.dictionaries(st.integers(0, 30), st.integers(1, 3)),
    st.lists(st.tuples(st.integers(0, 30), st.integers(31, 40)), max_size=12),
    st.sets(st.integers(0, 30)),
    st.sets(st.integers(31, 40)),
)
def test_a_turn_holds_a_term_as_often_as_it_and_its_lines_say_it(
    said: dict[int, int], edges: list[tuple[int, int]], seen: set[int], noting_it: set[int]
) -> None:
    every = {**said, **dict.fromkeys(noting_it, 2)}
    mask = np.isin(np.arange(41), list(seen))
    lines = sorted((line, turn) for turn, line in edges)
    of, turns = np.array(lines, np.int64).reshape(-1, 2).T
    known = Edges(~mask, of, turns, np.zeros(0, np.int64))
    found = joined(hits_of({at: n for at, n in said.items() if at in seen}), hits_of(every), known, mask)
    wanted = Counter({at: n for at, n in said.items() if at in seen})
    for line, turn in lines:
        if line in noting_it and turn in seen:
            wanted[turn] += 2
    assert list(zip(found.pos.tolist(), found.text.tolist(), strict=True)) == sorted(wanted.items())
    assert len(found.head) == len(found.pos)


def hits_of(counts: dict[int, int]) -> TermHits:
    pos, text = np.array(sorted(counts.items()), np.int64).reshape(-1, 2).T
    return TermHits(pos, text.astype(np.float32), np.zeros(len(pos), np.float32))


def test_without_the_note_its_words_find_nothing(tmp_path: Path) -> None:
    first, *_ = ended(tmp_path)
    assert first not in {hit.ref for hit in ask(tmp_path, "holiday cottage bought").hits}


def test_a_note_that_a_person_changed_is_their_own_text(tmp_path: Path) -> None:
    ended(tmp_path, note=NOTE)
    page = page_of(tmp_path)
    page.write_text(
        page.read_text("utf-8").replace("a holiday cottage", "a holiday cottage in Ascona"), "utf-8"
    )
    best = ask(tmp_path, "holiday cottage in Ascona").hits[0]
    assert best.path.startswith("memory/episodes/")
    assert "Ascona" in best.text


def test_what_was_noted_of_a_forgotten_turn_is_found_no_longer(tmp_path: Path) -> None:
    ended(tmp_path, note=NOTE)
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        assert NOTE in page_of(tmp_path).read_text("utf-8")
        turn = memory.search("papers for the place by the lake", kinds=["turn"]).hits[0]
        memory.forget(turn.ref)
        for kinds in (None, ["episode"], ["turn", "episode", "note", "fact"]):
            hits = memory.search("Who bought a holiday cottage by the lake?", kinds=kinds).hits  # type: ignore[arg-type]
            assert not [hit for hit in hits if "cottage" in hit.text or "papers" in hit.text]


def test_an_episode_is_found_where_it_says_more_than_any_turn(tmp_path: Path) -> None:
    turns = [
        ("user", "The violin lesson was hard today."),
        ("assistant", "Practice helps."),
        ("user", "Then I burnt the risotto, twice."),
        ("assistant", "Low heat next time."),
        ("user", "My violin teacher wants a new violin string, and the risotto pan is ruined."),
        ("assistant", "Both can be replaced."),
        ("user", "At least the glacier hike is on Sunday; I love that glacier."),
        ("assistant", "Enjoy the glacier."),
    ]
    ended(tmp_path, turns=turns)
    pages = {page.name: page for page in (tmp_path / "memory/episodes").glob("*.md")}
    title = next(
        page.read_text("utf-8").split("\n# ", 1)[1].split("\n", 1)[0]
        for page in pages.values()
        if "violin" in page.read_text("utf-8").lower()
    )
    hits = ask(tmp_path, title).hits
    assert hits[0].kind == "episode"
    assert sum(hit.kind == "episode" for hit in hits) == 1
    assert ask(tmp_path, "violin", kinds=["episode"]).hits


def test_use_without_a_model_leaves_the_ranking_of_turns_as_it_was(tmp_path: Path) -> None:
    queries = ["the keys in March", "paint the kitchen", "Robin lake", "was the train late", "soup"]
    ended(tmp_path / "lived")
    with Memory.open(tmp_path / "bare", config={"embedder": "none"}) as memory:
        for number, text in enumerate(("The train to work was late.", "We had soup for lunch.")):
            memory.session(f"other-{number}").add("user", text)
            memory.session(f"other-{number}").add("assistant", "I see.")
        for role, text in SAID:
            memory.session("house").add(role, text)
    for query in queries:
        before, now = ask(tmp_path / "bare", query), ask(tmp_path / "lived", query)
        assert [(hit.text, hit.score) for hit in now.hits] == [(hit.text, hit.score) for hit in before.hits]


@pytest.mark.parametrize("query", ["session house", "until first last source"])
def test_front_matter_of_an_episode_is_no_hit(tmp_path: Path, query: str) -> None:
    ended(tmp_path)
    assert not [hit for hit in ask(tmp_path, query, kinds=["episode"]).hits if "---" in hit.text]


def with_core_memory(root: Path) -> None:
    """A memory whose MEMORY.md restates its facts, among turns that say less of each."""
    with Memory.open(root, config={"embedder": "none"}) as memory:
        for key, value in (
            ("postgres version", "17"), ("staging server", "heron-2"), ("package manager", "pnpm"),
            ("ci", "GitHub Actions"), ("database", "Postgres"),
        ):  # fmt: skip
            memory.remember(key, value, subject="project", origin="owner")
        memory.session("one").add("user", "We upgraded Postgres yesterday, and the staging machine waits.")
        memory.consolidate()
        memory.sync()


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Which Postgres version?", "17"),
        ("project package manager", "pnpm"),
        ("project staging server", "heron-2"),
    ],
)
def test_core_memory_serves_its_facts_and_is_no_hit_beside_them(
    tmp_path: Path, question: str, value: str
) -> None:
    with_core_memory(tmp_path)
    assert value in (tmp_path / "MEMORY.md").read_text("utf-8")
    hits = ask(tmp_path, question).hits
    assert hits[0].kind == "fact"
    assert hits[0].meta["value"] == value
    assert "MEMORY.md" not in {hit.path for hit in hits}
    assert "MEMORY.md" not in {hit.path for hit in by_words_of(tmp_path, question).hits}
    assert "MEMORY.md" in {hit.path for hit in ask(tmp_path, question, kinds=["note"]).hits}


def test_what_core_memory_alone_says_is_found(tmp_path: Path) -> None:
    with_core_memory(tmp_path)
    core = tmp_path / "MEMORY.md"
    core.write_text(core.read_text("utf-8") + "\nThe Postgres version is fixed by Ada's contract.\n", "utf-8")
    assert "Ada" in "".join(hit.text for hit in ask(tmp_path, "Which Postgres version?").hits)
    facts = tmp_path / "memory/facts/project.md"
    lines = facts.read_text("utf-8").splitlines(keepends=True)
    facts.write_text("".join(line for line in lines if "heron-2" not in line), "utf-8")
    assert "heron-2" in core.read_text("utf-8")
    (hit,) = (hit for hit in ask(tmp_path, "project staging server").hits if "heron-2" in hit.text)
    assert (hit.path, hit.text) == ("MEMORY.md", "- project staging server: heron-2")
    facts.unlink()
    assert "pnpm" in "".join(hit.text for hit in ask(tmp_path, "project package manager").hits)
