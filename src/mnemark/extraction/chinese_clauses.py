"""Split a Chinese sentence into clauses and tell whom each is about: the owner, a relative, or somebody else."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from mnemark.extraction.candidate import BLOT
from mnemark.extraction.chinese_words import (
    ACQUAINTANCES,
    COUNTRIES,
    HAN,
    HELPERS,
    KIN,
    PERSON,
    PROVINCES,
    REGIONS,
    SURNAMES,
)
from mnemark.text.lazy_pattern import lazy_pattern

LONGEST: Final = 60
"""Maximum characters of a clause that is read; a longer one tells a story."""
_SPLIT: Final = lazy_pattern(
    r"[，,；;。！!]\s*+|(?<=[\u4e00-\u9fffA-Za-z0-9])(?=(?:而且|并且)(?:我|咱|也|还)?(?:住在|在[^，,。的]{1,12}(?:工作|上班)$|对[^，,。]{1,12}过敏|不[吃喝抽][^，,。的]{1,6}$)|(?:而且|并且)我)"
)
_LEADS: Final = lazy_pattern(
    r"(?:(?:对了|嗯++|好的?(?=[，,、 ]|$)|哦|那(?![只个条边里家种些么])|嘿|嗨|哈喽|你好|您好|大家好|早上好|晚上好|另外|还有|顺便说一下|顺便|其实|说实话|注意|所以|然后|最后|补充(?:一下)?|更新|更正|"
    r"背景|备注|关于我|自我介绍|但是?|不过|而且|并且|因为|由于|毕竟|虽然|尤其是?|再加上|加上|主要是?|说起来|不瞒你说|没错|是的|是啊)"
    r"[，,；;：:、。！! ]*+)*+"
)
_ADVERB: Final = (
    "现在|目前|如今|一直都?|都|也|还|就|其实|真的|确实|的确|已经|从小就?|从小到大|平时|平常|自己|本身|本来就|向来|天生|这个人|这边|这里|"
    "[\\d一二两三四五六七八九十几半]+(?:天|周|个月|年)前|去年|前年|上个?月|上周(?![末一二三四五六日天])|前阵子|今年初|"
    "今年(?=是|要|在|读|上)|刚刚?(?=从|搬|入职|买|生)|最近(?=搬|刚|买)|终于|今年(?=搬|入职)|[上这]个月(?=搬|入职)|上周(?=搬|入职)"
)
_ADVERBS: Final = lazy_pattern(rf"(?:{_ADVERB})*+")
_FIRST: Final = rf"(?:(?:{_ADVERB})[，, ]?)*+(?:我们家|我家|咱们?家|我们|我自己|我本人|本人|我|咱们?|俺)"
_HELPER_NAME: Final = (
    rf"{PERSON}(?:医生|大夫|律师|老师|教授|主任|博士|教练|先生|女士|小姐|太太|阿姨|叔叔|师傅|哥|姐)?"
)
_NO_HELPER: Final = lazy_pattern(
    f"(?:{REGIONS})|谢谢|[老小阿](?![{SURNAMES}]$)|.*(?:[你我他她]|人|的|者|家|客|党|手|痴|材|牌|男|女|员|业|子)$"
)
"""What the name of somebody whose calling is told does not look like: 武汉人, 高手."""
_WORDS: Final = {word: kin for kin, words in KIN.items() for word in words.split("|")}
_ANY_KIN: Final = "|".join(sorted(_WORDS, key=len, reverse=True))
_OWN: Final = lazy_pattern(rf"{_FIRST}(?:里面?|这边)?(?P<rest>.*)")
_RELATIVE: Final = lazy_pattern(
    rf"{_FIRST}(?:的|那个|这个|亲|那位)?(?P<kin>{_ANY_KIN})(?:是?[（(](?P<name>[^（）()]{{1,12}})[）)])?(?P<rest>.*)"
)
_KNOWN: Final = lazy_pattern(
    rf"{_FIRST}的?(?P<kin>{ACQUAINTANCES})(?:的名字)?(?:叫|是|名叫)(?P<name>{PERSON})(?P<rest>)"
)
_HELPER: Final = lazy_pattern(
    rf"{_FIRST}的?(?:新|现在的)?(?P<kin>{HELPERS})(?:的名字)?(?:现在)?(?:叫做?|是|名叫|换成了?|改成了?)(?P<name>{_HELPER_NAME})了?"
)
_HELPER_FIRST: Final = lazy_pattern(rf"(?P<name>{_HELPER_NAME})(?:现在)?是我们?家?的?(?P<kin>{HELPERS})")
_NAMED_FIRST: Final = lazy_pattern(
    rf"(?P<name>{PERSON})是我们?家?的?(?P<kin>{_ANY_KIN}|{ACQUAINTANCES})(?P<rest>)"
)
NO_NAME: Final = "周[一二三四五六日天末]|高[中考兴一二三]|白天|马上|方[便面]|万一|金融|余下|江边|于是|许多|何[时况]|老[样是说家]|小[时区学]|常[常年]|程序|严重|史上|任何|孔|汤|石"
"""Begins of words that look like a name: 周末, 高中, 老样子."""
_NAME: Final = lazy_pattern(rf"(?!{NO_NAME})(?P<name>{PERSON})")
_TIME_WORD: Final = lazy_pattern("[上下这本](?:周|星期|礼拜|个?月)|[今明后昨前去](?:天|晚|早|年)")
"""A word for a time, whose beginning is no end of a name: 小雨|下周三."""
_POSSESSED: Final = lazy_pattern("的?(?:家|那儿|那边|店|公司|单位|学校|同学|同事|朋友|老师|房间|手机)")
_WITH: Final = lazy_pattern("(?:和|跟|与|同|还有|、|以及)")
_BLANK: Final = lazy_pattern(f"(?<={HAN}) (?=[A-Za-z0-9])|(?<=[A-Za-z0-9]) (?={HAN})")
_HAN_FIRST: Final = lazy_pattern(HAN)
_NO_MORE: Final = lazy_pattern("[。，,；;！!～~]|(?:啊|呀|哦|呢|啦|嘛|呗|哟|的说)$")
_KIN_BY_PATTERN: Final = lazy_pattern("|".join(f"(?P<k{n}>{words})" for n, words in enumerate(KIN.values())))
_KIN_NAMES: Final = tuple(KIN)


class Said(NamedTuple):
    """A clause: whom it is about, and what it says of them."""

    who: str
    """"user", a person's name, or how a relative is called; empty: somebody else, or nobody known."""
    kin: str
    """What they are to the owner; empty: the owner."""
    text: str
    """Without the subject, adverbs before the verb and closing particles."""
    part: str
    """The clause as written."""


def kin_of(word: str) -> str:
    """Return how a relative is called here, by any word for them; the word itself if it is none.

    >>> kin_of("母亲"), kin_of("大姐"), kin_of("同事")
    ('妈妈', '姐姐', '同事')
    """
    match = _KIN_BY_PATTERN.fullmatch(word)
    return _KIN_NAMES[int(str(match.lastgroup)[1:])] if match else word


def parts(sentence: str) -> list[str]:
    """Return the clauses of a sentence without words of greeting and transition."""
    bare = (part.strip() for part in _SPLIT.split(sentence.strip()))
    return [rest for part in bare if (rest := part[opening(part) :])]


def opening(text: str) -> int:
    """Return where a text begins behind words of greeting and transition.

    >>> opening("不过，其实我每天跑步")
    5
    """
    match = _LEADS.match(text)
    return match.end() if match else 0


def read(part: str) -> Iterator[Said]:
    """Yield the ways to read a clause that names whom it is about, the most literal first."""
    if len(part) > LONGEST or BLOT in part:
        return
    text = _BLANK.sub("", part.strip(" 　~～"))
    for pattern in (_NAMED_FIRST, _KNOWN):
        if match := pattern.fullmatch(text):
            yield Said(match["name"], kin_of(match["kin"]), "", part)
            return
    if match := _RELATIVE.fullmatch(text):
        kin, rest = kin_of(match["kin"]), match["rest"].lstrip()
        if _POSSESSED.match(rest) or _WITH.match(rest):
            return
        yield Said(match["name"] or kin, kin, plain(rest), part)
        if not match["name"] and (named := _NAME.match(rest)):
            for end in range(named.end(), 1 if _HAN_FIRST.match(rest) else named.end() - 1, -1):
                if rest[end - 1] == "的" or _TIME_WORD.match(rest, end - 1):
                    continue
                yield Said(rest[:end], kin, plain(rest[end:]), part)
        return
    if match := _OWN.fullmatch(text):
        yield Said("user", "", plain(match["rest"]), part)


def helper(part: str) -> tuple[str, str] | None:
    """Return the calling and the name of somebody the owner has: 我的牙医是王医生; None if a clause tells none.

    >>> helper("我的牙医是王医生"), helper("李强是我的律师"), helper("我的教练是武汉人")
    (('牙医', '王医生'), ('律师', '李强'), None)
    """
    if len(part) > LONGEST or BLOT in part:
        return None
    text = _BLANK.sub("", part.strip(" 　~～"))
    match = _HELPER.fullmatch(text) or _HELPER_FIRST.fullmatch(text)
    if match is None or _NO_HELPER.match(match["name"]):
        return None
    of_team = _OF_TEAM.search(text) and not _AT_HOME.search(match["kin"])
    return None if of_team else (match["kin"], match["name"])


_OF_TEAM: Final = lazy_pattern("(?:我们|咱们?)(?!家)")
_AT_HOME: Final = lazy_pattern("房东|中介|兽医|保姆|月嫂|钟点工|保洁|班主任|家庭医生")
"""Whom a family has, who says 我们; other people of whom one says so may be a company's."""


def plain(text: str) -> str:
    """Return a predicate without adverbs before the verb and closing particles."""
    text = text.strip(" 　，,。.！!")
    if adverbs := _ADVERBS.match(text):
        text = text[adverbs.end() :].lstrip()
    return _NO_MORE.sub("", text).strip()


_COUNTRY: Final = lazy_pattern(COUNTRIES)
_REGION: Final = lazy_pattern(rf"(?:{PROVINCES})省?|{HAN}{{3,6}}州|{HAN}{{2,6}}自治区|{HAN}{{2,3}}省")
_DISTRICT: Final = lazy_pattern(rf"(?!{REGIONS}){HAN}{{1,4}}[区县](?:{HAN}{{2,8}})?")


def home_level(place: str) -> str:
    """Return whether a place is a country, a region, a part of a city (an address) or a city.

    >>> home_level("浙江"), home_level("杭州"), home_level("岳麓区")
    ('region', 'city', 'address')
    """
    if _COUNTRY.fullmatch(place):
        return "country"
    return "region" if _REGION.fullmatch(place) else "address" if _DISTRICT.fullmatch(place) else "city"
