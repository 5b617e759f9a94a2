"""How well and how fast facts that say the same are found, on made-up facts with known answers.

A fifth of the facts repeat an earlier one in another form; as many again differ from one in a number, a name
or a "not", which no merge may overlook. Beside it: comparing every pair, and merging only equal text.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from mnemark.text.words.similarity import similar

SIZES: Final = (1_000, 10_000, 100_000)
_REPEATED: Final = 0.2
_VERBS: Final = [
    "prefers",
    "uses",
    "likes",
    "avoids",
    "owns",
    "reads",
    "plans",
    "studies",
    "writes",
    "tests",
    "deploys",
    "reviews",
]
_ADJECTIVES: Final = [
    "short",
    "green",
    "weekly",
    "fast",
    "old",
    "new",
    "quiet",
    "cheap",
    "static",
    "dark",
    "light",
    "local",
]
_NOUNS: Final = [
    "answers",
    "teas",
    "reports",
    "trains",
    "laptops",
    "libraries",
    "mornings",
    "phones",
    "types",
    "themes",
    "meetings",
    "servers",
    "dashboards",
    "recipes",
    "bicycles",
    "novels",
]
_VERBS_ZH: Final = ["喜欢在周末", "经常去", "每天早上", "正在学习", "最近开始", "打算明年"]
_NOUNS_ZH: Final = ["爬山", "喝咖啡", "跑步", "弹吉他", "学日语", "做饭", "看电影", "写日记", "游泳", "摄影"]

Change = Callable[[str], str]
_SAME_EN: Final[dict[str, Change]] = {
    "case": str.upper,
    "end": lambda text: f"{text}.",
    "subject": lambda text: f"the user {text}",
    "plural": lambda text: " ".join(w[:-1] if w in _NOUNS else w for w in text.split()),
    "filler": lambda text: f"really {text}!",
}
_SAME_ZH: Final[dict[str, Change]] = {
    "end": lambda text: f"{text}。",
    "subject": lambda text: f"用户{text}",
    "filler": lambda text: f"我也{text}了",
}
_OTHER_EN: Final[dict[str, Change]] = {
    "number": lambda text: f"{text}9",
    "not": lambda text: f"never {text}",
    "order": lambda text: " over ".join(reversed(text.split(" over "))),
}
_OTHER_ZH: Final[dict[str, Change]] = {
    "number": lambda text: f"{text}9",
    "not": lambda text: f"不{text}",
}


class SizeRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one size gave."""

    facts: int
    seconds: float
    compared: int
    """Pairs that were looked at."""
    pairs: int
    """All pairs: what comparing each with each would take."""
    repeated: int
    """Facts that repeat an earlier one."""
    precision: float
    recall: float
    recall_equal: float
    """Of merging only equal text."""
    traps: int
    """Facts that only look like an earlier one."""
    trapped: int
    """Of those, merged all the same."""
    missed: dict[str, int]
    """What was not merged, by how it was changed."""


class _Made(NamedTuple):
    text: str
    of: int
    """The place of the fact it repeats, or differs from; -1: neither."""
    how: str = ""
    trap: bool = False


def run(sizes: Sequence[int] = SIZES) -> Iterator[SizeRow]:
    """A row for each size; the same sizes give the same facts."""
    for size in sizes:
        yield _row(_facts(size, random.Random(size)))  # noqa: S311 - nothing secret


def _row(facts: Sequence[_Made]) -> SizeRow:
    started = time.perf_counter()
    found = similar([fact.text for fact in facts])
    seconds = time.perf_counter() - started
    first = {at: group[0] for group in found.same for at in group}
    merged = [at for group in found.same for at in group[1:]]
    repeated = [at for at, fact in enumerate(facts) if fact.of >= 0 and not fact.trap]
    good = [at for at in repeated if first.get(at, -1) == first.get(facts[at].of, -2)]
    right = sum(_root(facts, at) == _root(facts, first[at]) for at in merged)
    return SizeRow(
        facts=len(facts),
        seconds=seconds,
        compared=found.compared,
        pairs=len(facts) * (len(facts) - 1) // 2,
        repeated=len(repeated),
        precision=right / len(merged) if merged else 1.0,
        recall=len(good) / len(repeated),
        recall_equal=sum(facts[at].text == facts[facts[at].of].text for at in repeated) / len(repeated),
        traps=sum(fact.trap for fact in facts),
        trapped=sum(
            fact.trap and first.get(at, -1) == first.get(fact.of, -2) for at, fact in enumerate(facts)
        ),
        missed=dict(Counter(facts[at].how for at in set(repeated) - set(good))),
    )


def _root(facts: Sequence[_Made], at: int) -> int:
    return at if facts[at].of < 0 or facts[at].trap else facts[at].of


def _facts(size: int, chance: random.Random) -> list[_Made]:
    count = int(size * _REPEATED)
    facts = [_Made(_fact(number, chance), -1) for number in range(size - 2 * count)]
    for trap in (False, True):
        for at in chance.sample(range(len(facts) if not trap else size - 2 * count), count):
            facts.append(_changed(facts[at].text, at, trap=trap, chance=chance))
    return facts


def _fact(number: int, chance: random.Random) -> str:
    if number % 2:
        return f"{chance.choice(_VERBS_ZH)}{chance.choice(_NOUNS_ZH)}和项目{number}"
    words = [chance.choice(part) for part in (_VERBS, _ADJECTIVES, _NOUNS)]
    return f"{' '.join(words)} for project{number} over {chance.choice(_ADJECTIVES)} {chance.choice(_NOUNS)}"


def _changed(text: str, of: int, *, trap: bool, chance: random.Random) -> _Made:
    english = text.isascii()
    ways = (_OTHER_EN if english else _OTHER_ZH) if trap else (_SAME_EN if english else _SAME_ZH)
    how = chance.choice(sorted(ways))
    return _Made(ways[how](text), of, how, trap)


def table(rows: Sequence[SizeRow]) -> str:
    """For people."""
    head = (
        f"{'facts':>8} {'seconds':>8} {'compared':>12} {'all pairs':>15} {'precision':>9} {'recall':>7} "
        f"{'equal text':>10} {'traps merged':>14}"
    )
    lines = [head]
    for row in rows:
        trapped = f"{row.trapped} of {row.traps:,}"
        lines.append(
            f"{row.facts:>8,} {row.seconds:>8.2f} {row.compared:>12,} {row.pairs:>15,} "
            f"{row.precision:>9.3f} {row.recall:>7.3f} {row.recall_equal:>10.3f} {trapped:>14}"
        )
    missed = sum((Counter(row.missed) for row in rows), Counter[str]())
    lines += [f"not merged: {', '.join(f'{how} {n:,}' for how, n in missed.most_common())}"] if missed else []
    return "\n".join(lines)
