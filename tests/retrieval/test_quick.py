"""What a hook finds without numpy is what a search by words finds first."""

import random
import struct
from pathlib import Path
from typing import cast

import apsw
import pytest

from mnemark import Memory
from mnemark.agent.hook.event import FLOOR
from mnemark.errors import NotFoundError
from mnemark.index import schema
from mnemark.index.read_only import LENGTH_AT, LINE_SHIFT, ROW, Place, QuickIndex, Row
from mnemark.index.rows import ROW as COLUMNS
from mnemark.index.rows import first_ordinal
from mnemark.retrieval import quick_search as quick
from mnemark.retrieval.quick_search import quick_search
from mnemark.retrieval.ranking.confidence import DEPTH

WORDS = (
    *("harbour", "pelican", "invoice", "crane", "tide", "lantern", "walrus", "anchor"),
    *("码头", "灯塔", "潮汐", "账单"),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("w")
    draw = random.Random(7)
    for number in range(120):
        chosen = " ".join(draw.choices(WORDS, weights=range(1, len(WORDS) + 1), k=draw.randint(2, 30)))
        (root / f"note-{number:03d}.md").write_text(f"# Note {number}\n\n{chosen}\n", "utf-8")
    (root / "needle.md").write_text("# Needle\n\nThe walrus lost its passport in Trondheim.\n", "utf-8")
    (root / "users/ann").mkdir(parents=True)
    (root / "users/ann/MEMORY.md").write_text("# Ann\n\nAnn's passport is in the safe.\n", "utf-8")
    (root / "memory/archive").mkdir(parents=True)
    (root / "memory/archive/2025-01.md").write_text("# Old\n\nAn archived passport.\n", "utf-8")
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.session("one").add("user", "My passport number is in the blue folder.")
        memory.sync()
    return root


def test_the_row_is_read_as_it_is_written() -> None:
    assert ROW.size == COLUMNS.itemsize
    assert Row.__struct_fields__ == COLUMNS.names
    fields = COLUMNS.fields
    assert fields is not None
    assert [fields[name][1] for name in Row.__struct_fields__] == [
        struct.calcsize("<" + "qiqqHiBBBB"[:n]) for n in range(len(Row.__struct_fields__))
    ]
    assert fields["length"][1] == LENGTH_AT
    assert first_ordinal(7) == 7 << LINE_SHIFT


@pytest.mark.parametrize(
    "query", ["walrus passport Trondheim", "灯塔 潮汐", "where is the lantern of the harbour?"]
)
def test_it_agrees_with_a_search_by_words(root: Path, query: str) -> None:
    found = quick_search(root, query, k=5)
    with Memory.open(root, config={"embedder": "none", "preset": "bm25"}) as memory:
        wanted = memory.search(query, k=20)
    assert found.hits[0].text in {hit.text for hit in wanted.hits[:5]}
    assert {hit.ref for hit in found.hits} <= {hit.ref for hit in wanted.hits}
    assert found.mode == "lexical"
    assert found.degraded


def test_belief_tells_a_known_thing_from_an_unknown_one(root: Path) -> None:
    known = quick_search(root, "Who lost a passport in Trondheim?").believable
    unknown = quick_search(root, "Which violin concerto did Sibelius revise?").believable
    assert known > FLOOR > unknown


def test_other_scopes_the_archive_and_the_own_session_are_left_out(root: Path) -> None:
    refs = [hit.path for hit in quick_search(root, "passport").hits]
    session = next(path for path in refs if path.startswith("sessions/"))
    assert sorted(refs) == sorted(["needle.md", session])
    assert [hit.path for hit in quick_search(root, "passport", exclude=[(session, 1)]).hits] == ["needle.md"]
    assert len(quick_search(root, "passport", exclude=[(session, 99)]).hits) == 2


def test_where_there_is_no_index_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="mnemark sync"):
        quick_search(tmp_path, "anything")


@pytest.mark.parametrize("query", ["", " ", "\0", "the of and", '"', "x" * 100_000])
def test_any_question_is_safe(root: Path, query: str) -> None:
    quick_search(root, query)


def test_nothing_slow_is_loaded(root: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path; from mnemark.retrieval.quick_search import quick_search\n"
        f"quick_search(Path({str(root)!r}), 'walrus passport')\n"
        "print(sorted({'numpy', 'rjieba', 'httpx', 'typer', 'rich', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_dead_passages_are_not_found(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        note.write_text("# One\n\nThe heron sleeps.\n", "utf-8")
        memory.sync()
        note.write_text("# One\n\nThe otter sleeps.\n", "utf-8")
        memory.sync()
    assert not quick_search(tmp_path, "heron").hits
    assert quick_search(tmp_path, "otter").hits
    with QuickIndex(tmp_path) as index:
        assert index.counts()[0] >= 1


@pytest.mark.parametrize("query", ["lantern", "crane and tide", "灯塔"])
def test_words_that_most_passages_hold_are_found_where_no_other_is_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr("mnemark.retrieval.quick_search._COMMON", 4)
    found = quick_search(root, query, k=5)
    assert found.hits
    assert all(any(word in hit.text for word in query.split()) for hit in found.hits)


def test_of_common_words_the_newest_passages_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemark.retrieval.quick_search._COMMON", 4)
    monkeypatch.setattr("mnemark.retrieval.quick_search._NEWEST", 4)
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        session = memory.session("one")
        for number in range(40):
            session.add("user", f"The deploy of the shop, number {number}.")
            if number % 10 == 9:
                memory.sync()
    numbers = {
        int(hit.text.split()[-1].strip(".")) for hit in quick_search(tmp_path, "deploy of the shop").hits
    }
    assert numbers == {36, 37, 38, 39}


def test_columns_are_read_for_the_best_passages_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    row = QuickIndex.row

    def noted(self: QuickIndex, place: Place) -> Row:
        read.append(place)
        return row(self, place)

    monkeypatch.setattr(QuickIndex, "row", noted)
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.session("long").add_many(
            [memory.session("long").turn("user", f"the lantern and the anchor {n}") for n in range(1_500)]
        )
        memory.sync()
    assert len(quick_search(root, "lantern anchor", k=5).hits) == 5
    assert 5 <= len(read) < 500


def test_long_and_dead_passages_are_read_as_they_are(tmp_path: Path) -> None:
    for name, words in (("long", "walrus " * 400), ("gone", "walrus gone"), ("short", "walrus tide")):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{words}\n", "utf-8")
    with Memory.open(tmp_path, config={"embedder": "none", "passage_tokens": 2_048}) as memory:
        memory.sync()
        (tmp_path / "gone.md").write_text("# gone\n\nnothing\n", "utf-8")
        memory.sync()
    with QuickIndex(tmp_path) as index:
        _, mean = index.counts()
    assert mean > 100
    assert {hit.path for hit in quick_search(tmp_path, "walrus").hits} == {"long.md", "short.md"}


def test_a_sync_between_two_reads_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        (tmp_path / f"{number}.md").write_text(f"# Note {number}\n\nthe walrus sleeps {number}\n", "utf-8")
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.sync()
        read_meta = schema.read_meta

        def behind(connection: apsw.Connection) -> dict[str, str | int]:
            monkeypatch.setattr(schema, "read_meta", read_meta)
            (tmp_path / "7.md").write_text("# Note 7\n\nthe harbour\n", "utf-8")
            memory.sync()
            return read_meta(connection)

        with QuickIndex(tmp_path) as index:
            monkeypatch.setattr(schema, "read_meta", behind)
            assert index.count() == 12
            assert index.counts()[0] == 12
        assert read_meta is schema.read_meta  # it was called


class Rows:
    """An index of rows that are made up."""

    def __init__(self, draw: random.Random) -> None:
        self.scores = {number: draw.choice((0.2, 0.4, 0.5, 0.7, 0.9)) for number in range(3 * DEPTH)}
        self._rows = {
            number: Row(
                number, 0, 0, 0, 9, 0, 0, draw.choice((0, 2, 3)), draw.choice((0, 0, 0, 1, 2)), 0, b""
            )
            for number in self.scores
        }
        self.read = 0

    def row(self, place: Place) -> Row:
        self.read += 1
        return self._rows[place.number]


@pytest.mark.parametrize("seed", range(8))
def test_no_more_rows_are_read_than_can_be_among_the_best(seed: int) -> None:
    rows = Rows(random.Random(seed))
    scored = quick._Scored(rows.scores, {}, {}, {})
    best = quick._best(cast("QuickIndex", rows), scored, {}, {0: ""})
    assert rows.read < len(rows.scores)
    shown = []
    for score, number in sorted(((score, number) for number, score in rows.scores.items()), reverse=True):
        row = rows.row(Place(0, number))
        if not row.flags & 1 and not (row.flags & 2 and row.origin in quick._UNTRUSTED):
            shown.append((score * 0.6 if row.flags & 2 else score, Place(0, number)))
    assert best == sorted(shown, key=lambda one: -one[0])[:DEPTH]
    assert any(rows.row(place).flags & 2 for _, place in best)
