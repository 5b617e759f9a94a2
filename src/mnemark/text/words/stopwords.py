"""List the stop words of English and Chinese, including question words, and find what else a text says.

They are stemmed like all terms, so that a term of `segment` can be looked up directly.
"""

from collections.abc import Callable, Iterable, Mapping

from mnemark.text.words.segment import cut_by_frequency, query_terms
from mnemark.text.words.terms import stem

_ENGLISH = """
a an the this that these those such same other another each every either neither both all any some no none
not nor only own so than too very just also again ever never here there then now once still yet already
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves one ones
am is are was were be been being do does did done doing have has had having will would shall should can could
might must ought
and or but if because as until while of at by for with about against between into through during before after
above below to from up down in out on off over under further upon onto within without via per
who whom whose which what when where why how whether
don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't won't wouldn't shan't shouldn't can't
couldn't mustn't mightn't needn't ain't
dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt wont wouldnt shouldnt cant couldnt cannot
tell please let etc s t
"""

_CHINESE = """
的 了 着 过 得 地 之 在 是 有 和 与 及 或 而 且 但 但是 并 并且 而且 以及 还 还是 还有 也 都 就 又 再
才 很 太 最 更 不 没 没有 不是 是否 把 被 让 给 对 对于 关于 向 从 到 由 于 以 为 为了 因为 所以 因此
如果 虽然 然后 其 其中 其他 比 我 你 您 他 她 它 咱 我们 你们 您们 他们 她们 它们 咱们 自己 大家 我的
你的 他的 她的 人家 这 那 这个 那个 这些 那些 这样 那样 这里 那里 这儿 那儿 这么 那么 此 该 某 每 各 另
另外 谁 哪 哪个 哪些 哪里 哪儿 哪位 什么 什么样 什么时候 何时 何处 为什么 为何 怎么 怎么样 怎样 怎 如何
几 多少 多久 多 吗 呢 吧 啊 呀 哦 嗯 嘛 哈 么 啦 呗 个 些 种 会 能 可以 可 要 想 应该 可能 已经 正在
曾经 曾 将 将要 请 请问 告诉 一个 一些 一下 一样 时候 的话 等 等等 所 上 下 里 中
"""

STOP: frozenset[str] = frozenset(stem(word) for word in (_ENGLISH + _CHINESE).split())
"""Stop words as terms: English stemmed, Chinese simplified."""


def is_stop(term: str) -> bool:
    """Return whether a term of `segment` is a stop word."""
    return term in STOP


def content_terms(text: str, cut: Callable[[str], Iterable[str]] | None = None) -> list[str]:
    """Return the distinct terms of a text without stop words, or with them where there are no others.

    `cut` segments Chinese, as for `query_terms`.
    """
    terms = list(dict.fromkeys(query_terms(text, cut)))
    return [term for term in terms if not is_stop(term)] or terms


def estimated_terms(text: str) -> set[str]:
    """Return the terms of a text without stop words; of Chinese, pairs of characters between stop words.

    There are about as many as in `content_terms`, and no dictionary is loaded for them (0.1 s).
    """
    terms = query_terms(text, lambda line: cut_by_frequency(line, _pairs_and_stop_words))
    return {term for term in terms if not is_stop(term)}


def _pairs_and_stop_words(words: Iterable[str]) -> Mapping[str, int]:
    return {word: 1000 if is_stop(word) else 1 for word in words if is_stop(word) or len(word) == 2}
