"""Find what a conversation is about: phrases that are distinctive of it, and a title made of them.

A phrase is one to three neighbouring words that carry content: in English without function words and words of
every chat, in Chinese nouns. It counts by the turns that hold it, by how rare its words are in the language,
and by how rare they are in the rest of the memory.
"""

# ruff: noqa: E501, SIM905 - lists of words

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from mnemark.summary.sentences import capitalized, is_chinese
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.segment import tagged
from mnemark.text.words.stopwords import STOP
from mnemark.text.words.terms import stem


class Language(NamedTuple):
    """How words weigh: in the language, and in the memory."""

    weigh: Callable[[Sequence[str]], Sequence[float]]
    """How much each word tells of a subject: 0 for function words, 10 and more for rare nouns, -1 if unknown."""
    share: Callable[[str], float] = lambda _: 0.0
    """The share of the memory's passages that hold a term, 0 to 1."""


NO_LANGUAGE: Final = Language(lambda words: [0.0] * len(words))
"""Knows no words: no phrase is found."""
MAX_TITLE: Final = 60
"""Maximum length of a title in columns; a Chinese character takes two."""
_MOST: Final = 12
_LONGEST: Final = 3
_MAX_TURN: Final = 6_000
"""Characters of a turn that are read: the end of a long paste names nothing new."""
_MAX_CANDIDATES: Final = 400
_LEAST: Final = 9.5
"""Minimum weight of the rarest word of a phrase."""
_LEAST_HAN: Final = 7.5
_SOME: Final = 6.0
"""Minimum weight of the rarest word of a sentence that says something."""
_TELLING: Final = frozenset("nvaeij")
"""First letters of the tags of Chinese words that tell: nouns, verbs, adjectives, foreign words and idioms."""
_UNKNOWN: Final = 8.0
_UNKNOWN_NAME: Final = 10.5
_LONGEST_RUN: Final = 12
_MAX_RANKED: Final = 60
_TOGETHER: Final = 6.2
"""Weight of each word from which words that are said together again name something: "support group"."""
_ONCE: Final = 0.6
"""What a phrase of one turn counts."""
_SAME: Final = 0.4
"""Share of a phrase's turns from which a longer phrase stands for it."""
_RARE: Final = math.log(200)
_OTHERS: Final = 0.4
"""What a turn of the agent counts, beside one of the owner."""
_ENOUGH: Final = 8.0
"""Number of turns from which a phrase counts no more."""
_LENGTH: Final = 0.45
"""What each further word of a phrase adds."""
_FAINT: Final = 0.3
"""Share of the best phrase's score below which a phrase tells little."""
_IN_TITLE: Final = 3
_NO_PROSE: Final = lazy_pattern(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|\[[^\[\]\n]{1,200}\](?!\()|https?://\S+|</?[a-z][\w-]*[^<>\n]{0,200}>"
    r"|^[ \t]*>.*$",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_TOKEN: Final = lazy_pattern(r"[^\W\d_][\w.+#'’-]*(?<![.'’-])|[^\w\s]|\n|\d[\w.:,-]*")
_WORD: Final = lazy_pattern(r"[^\W\d_][\w.+#'’-]*")
_IDENTIFIER: Final = lazy_pattern(r"[A-Z]{2}|[a-z][A-Z]|[\w][._#+][\w]|\d")
_ENDING: Final = lazy_pattern(r"['’](?:s|ll|re|ve|d|m)$")
_NO_NOUN: Final = lazy_pattern(
    r"(?:ed|ing|ly|ful|ous|ive|able|ible|ize|ise|ify|ate|less|ish)$", re.IGNORECASE
)
_BEFORE_NOUNS: Final = frozenset(
    "a an the my our your his her their its this that these those some any no each every another own "
    "of about with for on in into at by via from".split()
)
_IS_VERB: Final = lazy_pattern(r"[^suia]s$")
"""Ends a verb behind "that" or "who": "that rejects carts", not "that bus"."""
_RELATIVE: Final = frozenset(["that", "which", "who"])
_VERBS: Final = frozenset(
    "accepts allows becomes begins belongs brings comes contains contacts decides depends explains exists expects fails "
    "finds gets gives goes handles hangs happens has holds includes keeps knows lacks leads lets lives loses makes "
    "means needs opens provides puts reads refuses rejects remains removes replaces requires returns runs says seems "
    "sends sits speaks stands stays stops suggests takes tells tends throws uses wants works writes".split()
)
"""Verbs of the third person that are rarely nouns: what stands before and behind names no subject with them."""
_NOUNS: Final = frozenset(
    ["n", "nz", "nr", "nrt", "nrfg", "ns", "nt", "vn", "eng", "j", "an", "ng", "l", "i"]
)
_ABSTRACT: Final = lazy_pattern(r"^..?[性化度感力]$")
"""Abstract nouns (有效性, 模块化), which tell of no subject."""
_HEADS: Final = frozenset(["n", "nz", "nr", "nrt", "nrfg", "ns", "nt", "eng", "vn", "j"])
_CHATTER: Final = frozenset(
    stem(word)
    for word in (
        # praise, feelings and reactions
        "wow yeah yes yep nope hey hi hello haha lol oh ah aw aww hmm ok okay yay woohoo wonderful amazing awesome "
        "great nice cool sweet lovely fantastic terrific perfect beautiful incredible inspiring inspirational super "
        "excited exciting glad happy proud thrilled grateful thankful thanks congrats congratulations sorry hope luck "
        "love like enjoy fun funny good better best bad tough hard crazy sure really definitely absolutely totally "
        "kinda gonna wanna gotta ya yall dude buddy bro pal feel feeling feels curious interesting interested "
        # words of any request or answer
        "thing stuff lot bit kind sort way something anything everything nothing someone anyone everyone people guy "
        "always never often usually sometimes day today tomorrow yesterday tonight morning evening night week weekend month year time moment minute hour "
        "ago later soon recently lately currently monday tuesday wednesday thursday friday saturday sunday "
        "request error jan feb mar apr jun jul aug sep sept oct nov dec january february march april may june july august september october november december "
        "know think guess mean say said tell talk chat ask hear heard see look show try want need get got go going "
        "make made take give come put keep let help start stop use work works working check read write find add "
        "question answer idea example detail note point case issue problem step part number line list option "
        "advice suggestion suggest recommend recommendation provide explain understand consider ensure sound "
        "journey reminder remind blast vibe joy strength courage inspiration motivation positivity appreciate passion "
        "passionate dream memory moment pic photo picture image bye busy safe grace share support care "
        "file output context comment message text word page name result list data value type code tool "
        "summary conversation assistant user claude ai model review implement implementation update change fix "
        "new old big small little long longer anymore short first second third last next right left true false real actual "
        "address create observation improvement fit allow key concept rush "
        "able ready available important different specific current similar additional following various several"
    ).split()
)
"""Words of every conversation, which tell nothing of this one."""
_GENERIC: Final = frozenset(
    "谢谢 问题 情况 方面 时候 时间 东西 事情 感觉 建议 方法 方式 内容 意思 想法 思路 经验 过程 结果 部分 地方 方向 角度 细节 "
    "重点 关键 具体 基础 目标 效果 作用 影响 原因 关系 能力 机会 办法 样子 朋友 大家 老师 先生 女士 同学 用户 助手 "
    "今天 明天 昨天 现在 最近 目前 早上 上午 中午 下午 晚上 凌晨 周末 星期 人 事 话 天 年 月 日 点 分钟 小时 "
    "需求 分析 帮助 支持 提供 工作 生活 学习 进行 推荐 参考 了解 准备 安排 计划 规划 沟通 交流 总结 处理 考虑 选择 "
    "状态 心态 心情 节奏 专业 系统 框架 策略 步骤 阶段 层面 类型 特点 信息 数据 整体 个人 自身 平时 日常 阿姨 叔叔 "
    "感受 体验 价值 意义 优势 风险 压力 逻辑 核心 清单 技巧 要点 说明 解释 例子 案例 标准 原则 条件 程度 水平 ".split()
)


class Phrase(NamedTuple):
    """A phrase as it was written most often, and how many turns hold it."""

    text: str
    key: tuple[str, ...]
    score: float
    turns: int


class Run(NamedTuple):
    """Neighbouring content words, and what is known of the place they stand at."""

    words: list[str]
    noun: bool
    """Whether the last word is a noun there: after "the", "my", "of", or in Chinese by the dictionary."""
    called: bool = False
    """Whether it stands alone between punctuation, as the name of someone who is spoken to."""


class _Seen:
    """The turns, and the spellings, of a phrase."""

    def __init__(self) -> None:
        self.own: set[int] = set()
        self.others: set[int] = set()
        self.spelled: Counter[tuple[str, ...]] = Counter()
        self.ends = 0
        """How often a run ends with it."""
        self.nouns = 0
        self.called = 0

    def add(self, part: tuple[str, ...], run: Run, *, last: bool) -> None:
        """Count an occurrence; `last`: the run ends with it."""
        self.spelled[part] += 1
        self.ends += last
        self.nouns += last and run.noun
        self.called += run.called

    @property
    def words(self) -> tuple[str, ...]:
        """Its words, as they are spelled most often."""
        return self.spelled.most_common(1)[0][0]


_Key = tuple[str, ...]


def phrases(turns: Iterable[tuple[str, str]], language: Language, *, most: int = _MOST) -> list[Phrase]:
    """Return the distinctive phrases of a conversation, the best first.

    Args:
        turns: role ("user" for the owner) and text of each turn.
        language: how words weigh.
        most: maximum number of phrases; no two share a word.
    """
    seen: dict[_Key, _Seen] = {}
    if language is NO_LANGUAGE:
        return []
    for number, (role, text) in enumerate(turns):
        prose = _NO_PROSE.sub("\n", text[:_MAX_TURN])
        for run in _chinese_runs(prose) if is_chinese(prose) else _english_runs(prose):
            words = run.words[:_LONGEST_RUN]
            stems = [stem(word.casefold()) for word in words]
            for size in range(1, _LONGEST + 1):
                for at in range(len(words) - size + 1):
                    part = tuple(words[at : at + size])
                    found = seen.setdefault(tuple(stems[at : at + size]), _Seen())
                    (found.own if role == "user" else found.others).add(number)
                    found.add(part, run, last=at + size == len(run.words))
    return _best({key: found for key, found in seen.items() if found.own}, language, most)


def _english_runs(prose: str) -> Iterator[Run]:
    """Yield runs of neighbouring content words, not across punctuation or function words."""
    run: list[str] = []
    before = last = "\n"
    for token in [*_TOKEN.findall(prose), "\n"]:
        word = _ENDING.sub("", token)
        base = stem(word.casefold())
        verb = word.casefold() in _VERBS or (
            last.casefold() in _RELATIVE and _IS_VERB.search(word) is not None
        )
        plain = _WORD.fullmatch(word) and len(word) > 1 and not verb
        if plain and base not in STOP and base not in _CHATTER:
            before = before if run else last
            run.append(word)
        elif run:
            alone = not before[0].isalnum() or stem(before.casefold()) in _CHATTER
            yield Run(run, before.casefold() in _BEFORE_NOUNS, alone and not token[0].isalnum())
            run = []
        last = token


def _chinese_runs(prose: str) -> Iterator[Run]:
    """Yield runs of neighbouring nouns and foreign words, also with a verb as their last word (股权激励)."""
    run: list[str] = []
    tags: list[str] = []
    for word, tag in [*tagged(prose), ("\n", "x")]:
        known = (tag in _NOUNS and not _ABSTRACT.search(word)) or (
            tag == "v" and bool(run) and len(word) == 2
        )
        if known and word not in _GENERIC and word not in STOP and (len(word) > 1 or tag == "eng"):
            run.append(word)
            tags.append(tag)
            continue
        if run:
            yield Run(run, noun="v" not in tags and tags[-1] in _HEADS)
        run, tags = [], []


def _joined(words: Sequence[str]) -> str:
    out = ""
    for word in words:
        out += f" {word}" if out and (out[-1].isascii() or word[0].isascii()) else word
    return out


def _best(seen: Mapping[_Key, _Seen], language: Language, most: int) -> list[Phrase]:
    often = sorted(seen, key=lambda key: -2 * len(seen[key].own) - len(seen[key].others))[:_MAX_CANDIDATES]
    words = list(dict.fromkeys(word for key in often for word in seen[key].words))
    weights = dict(
        zip(words, map(_weight, words, language.weigh([word.casefold() for word in words])), strict=True)
    )
    scored = [_scored(key, seen[key], weights) for key in often]
    first = sorted((one for one in scored if one.score > 0), key=lambda one: (-one.score, one.text))
    ranked = [
        one._replace(score=one.score * _rarity(min(map(language.share, one.key))))
        for one in first[:_MAX_RANKED]
    ]
    chosen: list[Phrase] = []
    for one in sorted(ranked, key=lambda one: (-one.score, one.text)):
        longer = [
            other for other in ranked if set(one.key) < set(other.key) and other.turns >= _SAME * one.turns
        ]
        found = max(longer, key=lambda other: other.score) if longer else one
        if not any(set(found.key) & set(other.key) for other in chosen):
            chosen.append(found)
        if len(chosen) == most or one.score < _FAINT * chosen[0].score:
            break
    return chosen


def _weight(word: str, known: float) -> float:
    """Return the weight of a word; one that is in no dictionary counts as a name or a term of art."""
    if known >= 0:
        return known
    return _UNKNOWN_NAME if word[:1].isupper() or _IDENTIFIER.search(word) else _UNKNOWN


def _rarity(share: float) -> float:
    """Return the factor of a phrase that so much of the memory holds: 1 for one in 200, .3 for a fifth."""
    return min(1.0, max(0.1, -math.log(share) / _RARE)) if share > 0 else 1.0


def _scored(key: _Key, found: _Seen, weights: Mapping[str, float]) -> Phrase:
    """Return a phrase with its score: 0 where it tells of no subject, or stands in one turn alone."""
    values = [weights[word] for word in found.words]
    text, turns = _joined(found.words), len(found.own) + len(found.others)
    least = _LEAST_HAN if text[0] >= "\u3400" else _LEAST
    many = len(values) > 1
    told = max(values) >= least or (many and turns > 1 and sum(values) >= _TOGETHER * len(values))
    alone = turns < 2 and not (many or is_name(found.words))
    if not told or min(values) <= 0 or alone or not _is_noun(found):
        return Phrase(text, key, 0.0, turns)
    said = (len(found.own) + _OTHERS * len(found.others)) * (1.0 if turns > 1 else _ONCE)
    value = sum(values) / len(values) * (1 + _LENGTH * (len(values) - 1))
    return Phrase(text, key, value * math.log2(1 + min(said, _ENOUGH)), turns)


def _is_noun(found: _Seen) -> bool:
    """Return whether a phrase is used as a noun, and not only to call someone."""
    words, uses = found.words, sum(found.spelled.values())
    if not found.ends or found.called * 2 >= uses:
        return False
    name = is_name(words[-1:])
    if len(found.own) + len(found.others) < 2 and not (found.nouns and not _NO_NOUN.search(words[0])):
        return False
    if _NO_NOUN.search(words[-1]) and not name:
        return found.nouns * 2 > uses
    return bool(found.nouns) or len(words) > 1 or name


def is_name(words: Sequence[str]) -> bool:
    """Return whether a word is spelled as a name or an identifier: Berlin, GPU, main.py."""
    return any(word[0].isupper() or _IDENTIFIER.search(word) is not None for word in words)


def is_identifier(text: str) -> bool:
    """Return whether a text is spelled as a name of a file, a function, a version or an acronym."""
    return _IDENTIFIER.search(text) is not None


def is_common(name: str, language: Language) -> bool:
    """Return whether a name is only a common word with a capital, or in capitals: "BUT", "Current"."""
    word = name.casefold()
    if not word.isalpha() or not word.isascii():
        return False
    base = stem(word)
    return base in STOP or base in _CHATTER or 0 <= language.weigh([word])[0] < _LEAST


def tells(text: str, language: Language) -> bool:
    """Return whether a text has a word that tells of a subject."""
    runs = _chinese_runs(text) if is_chinese(text) else _english_runs(text)
    words = list(dict.fromkeys(word for run in runs for word in run.words))
    return any(
        weight >= _LEAST for weight in map(_weight, words, language.weigh([*map(str.casefold, words)]))
    )


def substance(text: str, language: Language) -> float:
    """Return how much the words of a text tell together; 0 where none tells of a subject by itself."""
    if language is NO_LANGUAGE:
        return 0.0
    if is_chinese(text):
        words = [word for word, tag in tagged(text) if tag[:1] in _TELLING and word not in _GENERIC]
    else:
        words = [word for run in _english_runs(text) for word in run.words]
    words = [word for word in dict.fromkeys(words) if word.casefold() not in STOP]
    weights = list(map(_weight, words, language.weigh([*map(str.casefold, words)])))
    return sum(weights) if max(weights, default=0.0) >= _SOME else 0.0


def titled(found: Sequence[Phrase]) -> str:
    """Return a title of the best phrases; empty without any."""
    chosen: list[str] = []
    for one in found[:_IN_TITLE]:
        zh = one.text[0] >= "\u3400" or (bool(chosen) and chosen[0][0] >= "\u3400")
        chosen.append(one.text)
        title = ("、" if zh else ", ").join(chosen)
        if columns(title) > MAX_TITLE:
            chosen.pop()
            break
    if not chosen:
        return ""
    chinese = sum(text[0] >= "\u3400" for text in chosen) * 2 >= len(chosen)
    title = ("、" if chinese else ", ").join(chosen)
    return capitalized(title) if not _IDENTIFIER.search(chosen[0]) else title


def columns(text: str) -> int:
    """Return the width of a text: a Chinese character takes two columns."""
    return sum(2 if character >= "\u2e80" else 1 for character in text)
