"""Postings: what goes in comes out, merging changes nothing, and what is deleted leaves nothing behind."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.logical import content
from mnemark.index import schema
from mnemark.index.merge import compact, merge, merge_due
from mnemark.index.segment import (
    HEAD_MAX,
    MAX_SIZE,
    TEXT_MAX,
    decode,
    due_for_merge,
    encode,
    merged_posting,
)
from mnemark.index.segment_builder import PassageText, SegmentBuilder
from mnemark.index.snapshot import SegmentView, Snapshot
from mnemark.index.store import Index
from mnemark.index.sync import sync
from mnemark.text.words.segment import index_terms
from mnemark.text.words.stopwords import STOP
from sampled import examples

postings = st.dictionaries(st.integers(0, MAX_SIZE - 1), st.integers(1, 255), max_size=50)
segments = st.lists(
    st.tuples(st.integers(1, MAX_SIZE), st.floats(0, 0.999)).map(lambda s: (s[0], int(s[0] * s[1]))),
    max_size=60,
)


@given(postings)
def test_what_is_encoded_is_decoded(stands: dict[int, int]) -> None:
    ids = np.array(sorted(stands), np.uint16)
    counts = bytes(stands[int(number)] for number in ids)
    found = decode(encode(ids, counts))
    assert found.ids.tolist() == sorted(stands)
    assert found.counts.tobytes() == counts
    assert HEAD_MAX << 6 | TEXT_MAX == 255


@given(st.lists(st.tuples(postings, st.sets(st.integers(0, 999))), min_size=1, max_size=4))
def test_merging_lists_keeps_the_living(parts: list[tuple[dict[int, int], set[int]]]) -> None:
    renumber, data, first = {}, [], 0
    expected: dict[int, int] = {}
    for segment, (stands, dead) in enumerate(parts):
        small = {number % 1000: count for number, count in stands.items()}
        ids = np.array(sorted(small), np.uint16)
        data.append((segment, encode(ids, bytes(small[int(n)] for n in ids))))
        alive = np.array([number not in dead for number in range(1000)])
        numbers = np.full(1000, -1, np.int32)
        numbers[alive] = np.arange(first, first + alive.sum())
        renumber[segment] = numbers
        expected |= {int(numbers[n]): count for n, count in small.items() if n not in dead}
        first += int(alive.sum())
    found = decode(merged_posting(data, renumber))
    assert dict(zip(found.ids.tolist(), found.counts.tolist(), strict=True)) == expected
    assert found.ids.tolist() == sorted(expected)


@given(segments)
def test_merging_ends_and_never_makes_a_segment_too_large(sizes: list[tuple[int, int]]) -> None:
    now = [(number, size, dead) for number, (size, dead) in enumerate(sizes)]
    rounds = 0
    while chosen := due_for_merge(now):
        rounds += 1
        assert rounds <= 2 * len(sizes) + 1
        living = sum(size - dead for number, size, dead in now if number in chosen)
        assert len(set(chosen)) == len(chosen)
        assert 0 < living <= MAX_SIZE
        now = [entry for entry in now if entry[0] not in chosen] + [(1000 + rounds, living, 0)]
    assert all(dead * 4 < size for _, size, dead in now)


def test_segments_stay_few() -> None:
    """One passage at a time: each is rewritten a few times, and there are never many segments."""
    now: list[tuple[int, int, int]] = []
    rewritten = 0
    for number in range(5_000):
        now.append((number, 1, 0))
        while chosen := due_for_merge(now):
            living = sum(size for n, size, _ in now if n in chosen)
            rewritten += living
            now = [entry for entry in now if entry[0] not in chosen] + [(100_000 + number, living, 0)]
        assert len(now) <= 45
    assert rewritten < 5_000 * 10


@pytest.fixture
def index(tmp_path: Path) -> Index:
    chance = random.Random(3)
    for number in range(40):
        words = " ".join(chance.choices(["alpha", "beta", "数据库", "gamma"], k=8))
        (tmp_path / f"note{number}.md").write_text(f"# Note\n\n{words} only{number}x\n")
    found = Index(tmp_path)
    sync(found)
    return found


def terms(index: Index) -> set[str]:
    return {term for (term,) in schema.rows(index.connection, "SELECT term FROM postings")}


def test_merging_changes_no_answer(index: Index) -> None:
    for number in range(9):
        (index.root / f"note{number}.md").write_text(f"# Changed {number}\n\nalpha\n")
        sync(index)
    before = content(index)
    with schema.immediate(index.connection):
        merge(index.connection, [n for (n,) in schema.rows(index.connection, "SELECT id FROM segments")])
    after = content(index)
    assert after == before
    assert schema.scalar(index.connection, "SELECT count(*) FROM segments") == 1
    assert merge_due(index) == 0
    index.close()


def test_dead_bits_are_exact(index: Index) -> None:
    for number in (3, 7, 8):
        (index.root / f"note{number}.md").unlink()
    sync(index)
    rows = schema.rows(index.connection, "SELECT size, dead FROM segments")
    assert sum(int.from_bytes(dead, "big").bit_count() for _, dead in rows) == 3
    assert content(index)["counted"]
    index.close()


def test_what_is_deleted_leaves_nothing_behind(index: Index) -> None:
    for number in (3, 7, 8):
        (index.root / f"note{number}.md").unlink()
    sync(index)
    before = content(index)
    assert "only3x" in terms(index)  # until the segment is rewritten
    assert compact(index) == 1
    assert not {"only3x", "only7x", "only8x"} & terms(index)
    assert content(index) == before
    assert compact(index) == 0
    index.close()
    for path in (index.root / ".mnemark").glob("index.db*"):
        data = path.read_bytes()
        assert b"only3x" not in data, path.name
        assert b"only9x" in data or path.name != "index.db"


def test_a_scope_that_is_empty_is_forgotten(index: Index) -> None:
    (index.root / "users/ann").mkdir(parents=True)
    (index.root / "users/ann/MEMORY.md").write_text("alpha")
    sync(index)
    assert set(index.scopes()) == {"", "users/ann"}
    (index.root / "users/ann/MEMORY.md").unlink()
    sync(index)
    assert set(index.scopes()) == {""}
    index.close()


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.integers(0, 39), max_size=40))
def test_no_number_of_deaths_is_wrong(doomed: list[int]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number in range(40):
            (root / f"note{number}.md").write_text(f"only{number} alpha")
        index = Index(root)
        sync(index)
        for number in set(doomed):
            (root / f"note{number}.md").unlink()
        sync(index)
        found = content(index)
        assert found["counted"]
        assert len(found["postings"].get("alpha", [])) == 40 - len(set(doomed))
        index.close()


@given(chance=st.randoms(use_true_random=False))
@settings(max_examples=examples(60), deadline=None)
def test_a_snapshot_with_a_segment_on_top_is_as_one_made_of_all(chance: random.Random) -> None:
    """Turns on top of a snapshot: in logs that are known and new ones, at their ends and in between."""
    documents = chance.randint(1, 5)
    places = list(range(documents))
    chance.shuffle(places)
    ranks = np.array(places)
    free = [(document, ordinal) for document in range(documents) for ordinal in range(12)]
    chance.shuffle(free)
    stored = [view(chance, free, chance.randint(1, 12), dying=True) for _ in range(chance.randint(0, 3))]
    new = [(documents + number, place) for number, place in enumerate(
        sorted(chance.randint(0, documents) for _ in range(chance.randint(0, 3)))
    )]  # fmt: skip
    mine = [*free, *((document, ordinal) for document, _ in new for ordinal in range(3))]
    chance.shuffle(mine)
    top = view(chance, mine, chance.randint(0, 10), dying=False)
    below = Snapshot(7, stored, ranks)
    if chance.random() < 0.5:
        below.term("b")  # known before or not
    nothing = [10_000]  # no such document: the way that makes all of it anew
    found, whole = below.extended(top, new, ()), below.extended(top, new, nothing)
    same(found, whole)
    more = view(chance, mine, chance.randint(0, 3), dying=False)
    same(found.extended(more, (), ()), found.extended(more, (), nothing))


_WORDS = st.lists(st.sampled_from(["a", "the", "的", "词语学", "x.y", "\n"]), max_size=150).map(" ".join)


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(_WORDS, _WORDS), max_size=20), st.integers(1, 100))
def test_terms_are_counted_by_passage(passages: list[tuple[str, str]], times: int) -> None:
    builder = SegmentBuilder()
    row = (0,) * 10 + (np.zeros(16, np.uint8),)
    wanted: dict[str, dict[int, int]] = {}
    passages *= times
    for number, (text, head) in enumerate(passages):
        builder.add(row, PassageText(text, head, untrusted=False))
        found, above = (Counter([*terms.words, *terms.parts]) for terms in map(index_terms, (text, head)))
        for term in found | above:
            count = min(found[term], TEXT_MAX) | min(above[term], HEAD_MAX) << 6
            wanted.setdefault(term, {})[number] = count
        if number == len(passages) // 2:
            builder = builder.copy()
    assert {
        term: dict(zip(posting.ids.tolist(), posting.counts.tolist(), strict=True))
        for term, posting in ((term, decode(data)) for term, data in builder.postings())
    } == wanted
    assert builder.rows()["length"].tolist() == [
        sum(word not in STOP for word in index_terms(text).words) for text, _ in passages
    ]


def same(one: Snapshot, other: Snapshot) -> None:
    assert one.rows.tobytes() == other.rows.tobytes()
    assert one.follows.tolist() == other.follows.tolist()
    assert (one.group.tolist(), one.groups) == (other.group.tolist(), other.groups)
    at_once = one.prefetch("ebcdx")
    assert list(at_once) == list("ebcdx")
    assert not len(at_once["x"].pos)
    for term in "bcde":
        hits, others = at_once[term], other.term(term)
        for name in ("pos", "text", "head"):
            array, wanted = getattr(hits, name), getattr(others, name)
            assert (array.dtype, array.tolist()) == (wanted.dtype, wanted.tolist())


def view(chance: random.Random, free: list[tuple[int, int]], size: int, *, dying: bool) -> SegmentView:
    """Some passages at places that are free, taken from there."""
    builder = SegmentBuilder()
    for _ in range(min(size, len(free))):
        document, ordinal = free.pop()
        text, head = (" ".join(chance.choices("bcde", k=chance.randint(0, 90))) for _ in range(2))
        row = (len(builder), document, ordinal, 0, 0, 0, 0, 0, 0, 0, np.zeros(16, np.uint8))
        builder.add(row, PassageText(text, head, untrusted=False))
    dead = np.array([dying and chance.random() < 0.3 for _ in range(len(builder))], np.bool_)
    return SegmentView(builder.rows(), dead, 0, builder.read)
