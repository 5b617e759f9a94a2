import math
import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark_bench.measures import (
    auroc,
    calibration_by_chance,
    calibration_error,
    difference,
    mean,
    measure,
    percentiles,
    reliability,
)  # fmt: skip
from sampled import examples


def test_measures_of_one_ranking_by_hand() -> None:
    ranked = ["x", "a", "y", "b", "z", "c"]
    found = measure(ranked, {"a", "b", "c", "d"}, "turn")
    assert found["turn_any@5"] == 1
    assert found["turn_all@5"] == found["turn_all@10"] == 0
    assert found["turn_fractional@5"] == 2 / 4
    assert found["turn_fractional@10"] == 3 / 4
    assert found["turn_mrr"] == 1 / 2
    gain = 1 / math.log2(3) + 1 / math.log2(5) + 1 / math.log2(7)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    assert found["turn_ndcg@10"] == pytest.approx(gain / ideal)


def test_nothing_found_scores_nothing() -> None:
    assert set(measure([], {"a"}, "turn").values()) == {0.0}


def test_everything_found_first_scores_one() -> None:
    assert set(measure(["a", "b"], {"b", "a"}, "s").values()) == {1.0}


def test_more_evidence_than_places_cannot_reach_one() -> None:
    gold = {str(number) for number in range(20)}
    found = measure(sorted(gold), gold, "turn")
    assert found["turn_fractional@10"] == 0.5
    assert found["turn_ndcg@10"] == 1.0


def test_a_question_without_evidence_is_refused() -> None:
    with pytest.raises(ValueError, match="without evidence"):
        measure(["a"], set(), "turn")


def test_means_and_percentiles() -> None:
    assert mean([{"a": 1.0}, {"a": 0.0}]) == {"a": 0.5}
    assert mean([]) == {} == percentiles([])
    assert percentiles([0.001, 0.003])["p50_ms"] == pytest.approx(2.0)


def test_the_interval_is_the_same_every_time_and_holds_the_mean() -> None:
    source = random.Random(3)
    values = [source.gauss(0.1, 0.5) for _ in range(80)]
    first, again = difference([values]), difference([values])
    assert first == again
    assert first.low < first.mean < first.high
    assert first.mean == pytest.approx(sum(values) / 80)


def test_the_interval_narrows_with_more_questions() -> None:
    def width(count: int) -> float:
        found = difference([[1.0, 0.0] * count])
        return found.high - found.low

    assert width(400) < width(40) / 2


def test_every_set_weighs_the_same() -> None:
    assert difference([[1.0] * 1000, [0.0] * 10]).mean == 0.5
    assert difference([[0.2], []]).mean == pytest.approx(0.2)


def test_a_constant_gain_is_certain_and_none_is_not() -> None:
    assert difference([[0.1] * 30]).certain
    assert not difference([[0.0] * 30]).certain
    assert not difference([]).certain


numbers = st.lists(st.integers(-4, 4).map(float), max_size=12)


@given(numbers, numbers)
@settings(max_examples=examples(150))
def test_auroc_is_the_share_of_pairs_in_order(positive: list[float], negative: list[float]) -> None:
    pairs = [1.0 if p > n else 0.5 if p == n else 0.0 for p, n in product(positive, negative)]
    expected = sum(pairs) / len(pairs) if pairs else 0.5
    assert auroc(positive, negative) == pytest.approx(expected)


def test_auroc_at_its_ends() -> None:
    assert auroc([2, 3], [0, 1]) == 1.0
    assert auroc([0, 1], [2, 3]) == 0.0
    assert auroc([1, 1], [1]) == 0.5


def test_estimates_that_come_true_are_calibrated_and_others_are_not() -> None:
    values, weights = [0.25] * 4 + [0.95] * 4, [1.0] * 8
    right = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    assert calibration_error(values, right, weights) == pytest.approx(0.025)
    assert calibration_error(values, [0.0] * 8, weights) == pytest.approx(0.6)
    first, second = reliability(values, right, [3.0] * 4 + [1.0] * 4)
    assert (first.said, first.was, first.share) == pytest.approx((0.25, 0.25, 0.75))
    assert (second.said, second.was, second.share) == pytest.approx((0.95, 1.0, 0.25))


def test_the_calibration_error_that_chance_makes_falls_with_more_cases() -> None:
    few, many = (calibration_by_chance([0.3, 0.6] * n, [1.0] * 2 * n) for n in (10, 1_000))
    assert 0 < many < 0.03 < few
    assert few == calibration_by_chance([0.3, 0.6] * 10, [1.0] * 20)
    assert calibration_by_chance([0.0, 1.0], [1.0, 1.0]) == 0
