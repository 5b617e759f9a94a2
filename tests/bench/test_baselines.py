import math

import pytest

from bench import tiny
from mnemark_bench.baselines import Bm25, Fts5

IDS = [unit[0] for unit in tiny.UNITS]
TEXTS = [unit[5] for unit in tiny.UNITS]


def test_bm25_by_hand() -> None:
    ranker = Bm25(["a", "b", "c"], ["zebra zebra lion", "lion", "tiger lion"])
    scored = ranker.score("zebra")
    idf = math.log1p((3 - 1 + 0.5) / (1 + 0.5))
    norm = 1.2 * (0.25 + 0.75 * 3 / 2)
    assert scored.scores[0] == pytest.approx(idf * 2.2 * 2 / (2 + norm))
    assert scored.scores[1:].tolist() == [0, 0]
    assert scored.attainable == pytest.approx(idf * 2.2)
    assert ranker.rank("zebra", 5) == ["a"]
    assert ranker.rank("lion", 5)[0] == "b"


def test_bm25_counts_unknown_words_as_attainable() -> None:
    ranker = Bm25(IDS, TEXTS)
    assert ranker.score("plumber xylophone").attainable > ranker.score("plumber").attainable
    assert ranker.rank("xylophone", 5) == []


def test_pre_segmented_text_finds_chinese_words_and_unicode61_does_not() -> None:
    query = "数据库什么时候迁移？"
    assert Fts5(IDS, TEXTS, cut=True).rank(query, 3) == ["li/2"]
    assert Fts5(IDS, TEXTS, cut=False).rank(query, 3) == []


@pytest.mark.parametrize("cut", [True, False])
def test_fts5_takes_any_question(*, cut: bool) -> None:
    ranker = Fts5(IDS, TEXTS, cut=cut)
    for query in ("", '"', "NEAR(", "a AND b*", "x\0y", "\ud800", "()", "猫" * 100):
        ranker.rank(query, 5)
    assert ranker.rank("plumber", 5)[0] == "ann/2"
