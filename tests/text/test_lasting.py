"""Plain sentences about oneself leave something, in the words that were said; what passes leaves nothing.

A trained reader is judged by its share, not by each sentence.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from mnemark.extraction.candidate import Candidate
from mnemark.extraction.extract import extract

NOW: Final = datetime(2026, 3, 11, 10, tzinfo=UTC)
LASTING: Final = (
    "I grew up on a vineyard.", "I was a stay at home father.", "My parents divorced when I was six.",
    "I go to church every Sunday.", "I'm left-handed.", "I know how to weld.", "I believe in ghosts.",
    "I live with my aunt and two cousins.", "I have never been to Norway.", "I dropped out of college.",
    "I run a small bakery, so I am quite busy these days.", "I don't drink coffee.", "I'm a runner.",
    "My best friend is a firefighter.", "I have two older brothers.", "I am afraid of heights.",
)  # fmt: skip
LASTING_CHINESE: Final = (
    "我每天早上五点半起床。", "我从不熬夜。", "我是独生子。", "我在孤儿院长大。", "我和奶奶一起住。",
    "我奶奶前年去世了。", "我最好的朋友是个消防员。", "爵士乐是我的最爱。", "我的座右铭是少即是多。",
    "我在院子里种了几棵果树。", "我怕高。",
    "我有两个哥哥。", "我每周三晚上练书法。", "我不喝咖啡。", "我是一名会计。", "我的爱好是钓鱼。",
)  # fmt: skip
PASSING: Final = (
    "I love that!", "I love the way he says it.", "I'm so tired today.",
    "I am really excited about the trip!",
    "I have a question about the invoice.", "That sounds nice, thank you.", "I had pasta for lunch.",
    "We waited an hour at the gate.", "Can you check the second row again?", "I see what you mean.",
)  # fmt: skip
PASSING_CHINESE: Final = (
    "我有点担心。", "我有两个问题想问。", "周末我们去爬山吧。", "帮我查一下明天的天气。", "我会按你说的做。",
    "我可以试试。", "我是说第三行。", "我明白你的意思。", "今天太累了。", "刚吃完饭。",
)  # fmt: skip


def learned(text: str) -> list[Candidate]:
    """Return what counts by itself."""
    return [one for one in extract(text, time=NOW) if not one.against]


def share(texts: Sequence[str]) -> float:
    """Return the share of sentences that leave something."""
    return sum(bool(learned(text)) for text in texts) / len(texts)


def test_plain_sentences_about_oneself_leave_something() -> None:
    assert share(LASTING) >= 0.8
    assert share(LASTING_CHINESE) >= 0.8


def test_what_passes_leaves_nothing() -> None:
    assert share(PASSING) <= 0.1
    assert share(PASSING_CHINESE) <= 0.1


def test_what_is_kept_is_said_in_the_words_of_the_sentence() -> None:
    for text in (*LASTING, *LASTING_CHINESE):
        for one in learned(text):
            assert one.value.casefold() in text.casefold() or one.predicate
            assert one.quote.rstrip(".。") in text
