"""Read from a Chinese clause what no longer holds, and what took its place: 不喜欢…了, 戒烟了, 离职了, 从…换成…."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from mnemark.extraction.candidate import HOME, Found, bare, kind_of, usable
from mnemark.extraction.chinese_clauses import Said, home_level
from mnemark.extraction.chinese_words import ANIMALS, CLASSIFIER, HAN, PLACES, VEHICLES
from mnemark.extraction.no_places import is_no_place
from mnemark.text.lazy_pattern import lazy_pattern

_SPOT: Final = lazy_pattern("[家屋店]里?了?$|身边|现场|状态|线|办公室|外面|路上")
_VAGUE: Final = lazy_pattern("[这那您你他她它]|一[下个]|问题|东西|事情?$|自己|^了?$")

_PLACE: Final = lazy_pattern(PLACES)


class _End(NamedTuple):
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], list[Found]]


def _over(predicate: str, value: str = "") -> Found:
    return Found("user", predicate, value, over=True)


def _value(predicate: str) -> Callable[[re.Match[str]], list[Found]]:
    def read(match: re.Match[str]) -> list[Found]:
        value = bare(match["v"])
        key = home_level(value) if predicate == "city" else predicate
        nowhere = predicate == "city" and is_no_place(value)
        return [_over(key, value)] if usable(value, 16) and not (_VAGUE.search(value) or nowhere) else []

    return read


def _unused(match: re.Match[str]) -> list[Found]:
    kind = kind_of(bare(match["v"]))
    return [_over(kind, bare(match["v"]))] if kind else []


def _left(match: re.Match[str]) -> list[Found]:
    place = bare(match.groupdict().get("v") or "")
    return [_over("employer", place if usable(place, 16) and not _VAGUE.search(place) else "")]


def _left_or_moved(match: re.Match[str]) -> list[Found]:
    """Read 不在腾讯了, 离开了上海: it ends what is known by that name, an employer or a city."""
    place = bare(match["v"])
    good = usable(place, 16) and not _VAGUE.search(place) and not _SPOT.search(place)
    keys: tuple[str, ...] = ("employer", home_level(place), "school")
    if is_no_place(place):
        keys = ("employer",)
    elif _PLACE.fullmatch(place):  # who leaves Shanghai may still work at a bank that is called so
        keys = (home_level(place), "school")
    return [_over(key, place) for key in keys] if good else []


def _given_away(match: re.Match[str]) -> list[Found]:
    thing = re.sub(f"^(?:(?:那|这|家里的?|自己的?)?{CLASSIFIER}?的?)(?=.)", "", bare(match["v"]))
    if re.fullmatch(f"(?:{ANIMALS})", thing):
        return [_over("pets", thing)]
    if re.fullmatch(f".{{0,6}}(?:{VEHICLES})", thing):
        return [_over("car", "" if thing == "车" else thing), _over("possessions", thing)]
    return [_over("possessions", thing)] if usable(thing, 12) and not _VAGUE.search(thing) else []


def _quit(match: re.Match[str]) -> list[Found]:
    habit = {"烟": "抽烟", "酒": "喝酒"}.get(match["v"], match["v"])
    return [_over("habits", habit), Found("user", "habits", f"戒{match['v']}")]


def _dead(match: re.Match[str]) -> list[Found]:
    return [_over("pets", bare(match["v"]))]


def _changed(match: re.Match[str]) -> list[Found]:
    value = bare(match["v"])
    if not usable(value, 16) or _VAGUE.search(value):
        return []
    if match["p"] == "车":
        return [Found("user", "car", value)]
    if match["p"] in {"手机", "电脑", "相机"}:
        return [Found("user", "possessions", value if match["p"] in value else f"{value}{match['p']}")]
    return [Found("user", match["p"], value)]


_ENDS: Final = (
    _End(lazy_pattern(r"(?:不再|再也不|不怎么)(?:那么)?(?:喜欢|爱|热爱|爱好)(?P<v>[^，,。]{1,16}?)了?"), _value("likes")),
    _End(lazy_pattern(r"(?:不|不太)(?:喜欢|爱)(?P<v>[^，,。]{1,16})了"), _value("likes")),
    _End(lazy_pattern(r"(?:对)(?P<v>[^，,。]{1,12})(?:不再|再也不|已经不)(?:感兴趣|有兴趣)了?"), _value("likes")),
    _End(lazy_pattern(r"(?:不再|再也不)(?:讨厌|反感|排斥)(?P<v>[^，,。]{1,16}?)了?"), _value("dislikes")),
    _End(lazy_pattern(r"不(?:讨厌|反感|排斥)(?P<v>[^，,。]{1,16})了"), _value("dislikes")),
    _End(lazy_pattern(r"对(?P<v>[^，,。]{1,12})(?:已经)?(?:不再|不)过敏了?"), lambda m: _value("allergies")(m) if re.search("不再|了$", m[0]) else []),
    _End(lazy_pattern(r"(?:不再|不)(?P<v>吃素)了?"), lambda m: _value("diet")(m) if re.search("不再|了$", m[0]) else []),
    _End(lazy_pattern(r"(?:早就|去年|今年|终于|成功|已)?(?:把)?戒(?:掉)?了?(?P<v>烟|酒|糖|咖啡|奶茶)(?:了|很久了|[\w一二两三四五六七八九十半]{1,3}年了?)?"), lambda m: _quit(m) if "了" in m[0] else []),
    _End(lazy_pattern(rf"(?:刚|上个?[周月]|去年|今年|昨天|正式|{HAN}{{1,2}}月)*+(?:从(?P<v>[^，,。]{{2,12}}?))?(?:离职|辞职|失业|被裁|被辞退|被解雇|被裁员)了?"), lambda m: _left(m) if m["v"] or re.search("了$|被|刚", m[0]) else []),
    _End(lazy_pattern(r"(?:刚|已)*+辞(?:去|掉)了?(?P<v>[^，,。]{0,12}?)的?(?:工作|职务)了?"), _left),
    _End(lazy_pattern(r"(?:刚|上个?[周月]|去年|今年)*+(?:不在|离开了?)(?P<v>[^，,。]{2,12}?)(?:工作|上班|干|做)?了"), lambda m: _left(m) if re.search("工作|上班|干了|公司|集团|银行|科技", m[0]) else []),
    _End(lazy_pattern(r"(?:刚|上个?[周月]|去年|今年|前阵子|两个月前)*+(?:[和跟与](?P<v>[^，,。]{1,8}?))?(?:分手|离婚|分开)了?"), lambda m: [] if not re.search("了$|^刚|前刚", m[0]) else [_over("spouse")] + ([Found("user", "marital status", "离异")] if "离婚" in m[0] else [])),
    _End(lazy_pattern(r"(?:刚|上个?[周月]|去年|今年)*+(?:从)?(?P<v>[^，,。从]{2,8}?)搬(?:走|出来|出去)了?"), _value("city")),
    _End(lazy_pattern(r"(?:刚|上个?[周月]|去年|今年)*+搬(?:离|出)了?(?P<v>[^，,。]{2,8}?)了?"), _value("city")),
    _End(lazy_pattern(r"(?:刚|上个?[周月]|去年|今年)*+搬走了"), lambda _: [_over(key) for key in HOME]),
    _End(lazy_pattern(r"(?:不再|不)住(?:在)?(?P<v>[^，,。]{2,8}?)了?"), lambda m: _value("city")(m) if re.search("不再|了$", m[0]) else []),
    _End(lazy_pattern(r"(?:不再|不)在(?P<v>[^，,。]{2,8}?)住了?"), lambda m: _value("city")(m) if re.search("不再|了$", m[0]) else []),
    _End(lazy_pattern(r"(?:不再|已经不|不)(?:使?用)\s*(?P<v>[A-Za-z][\w.+ #-]{0,24}?)\s*了?"), lambda m: _unused(m) if re.search("不再|了$", m[0]) else []),
    _End(lazy_pattern(r"(?:刚)?(?:把|的)(?P<v>[^，,。]{1,10}?)(?:已经|都|给)*(?:卖|卖掉|送人|送掉|送走|扔|扔掉|捐|捐掉|处理掉|弄丢)了"), _given_away),
    _End(lazy_pattern(r"(?:刚)?车(?:已经)?(?:卖|卖掉)了"), lambda _: [_over("car")]),
    _End(lazy_pattern(r"(?:刚|上个?[周月]|去年|今年)*+(?:不在|离开了?)(?P<v>[^，,。]{2,12}?)了?"), lambda m: _left_or_moved(m) if re.search("了$|离开了", m[0]) else []),
    _End(lazy_pattern(r"(?:刚|去年|今年)*+(?:退学|休学|辍学)了"), lambda _: [_over("school")]),
    _End(lazy_pattern(r"(?:刚|去年|今年)*+(?:[和跟与])(?P<v>[^，,。]{1,8}?)(?:绝交|断交|闹掰)了"), _value("friends")),
    _End(lazy_pattern(rf"的?(?:养的)?(?:那只|那条)?(?P<v>{HAN}{{0,4}}?(?:{ANIMALS}))(?:{HAN}{{2,3}})?(?:上个?[周月]|去年|今年|昨天|前几天|前阵子)?(?:去世|死|离世|去了?汪星|去了?喵星|送人|走丢)了"), _dead),
    _End(lazy_pattern(r"的?(?P<p>车|手机|电脑|编辑器|终端|系统|浏览器|相机)(?:已经|刚|现在)*(?:从[^，,。]{1,12}?)?(?:换成|换为|改成|改用)了?\s*(?P<v>[^，,。了]{1,16})了?"), _changed),
    _End(lazy_pattern(r"最(?:喜欢|爱)的(?P<p>[^是，,。]{1,6})(?:已经|现在)*(?:换成|变成|改成|变为)了?(?P<v>[^，,。]{1,12}?)了?"), lambda m: [Found("user", f"最喜欢的{m['p']}", bare(m["v"]))]),
)  # fmt: skip


_DONE_WITH: Final = lazy_pattern(r"(?P<no>不再|再也不|不)(?P<v>[^不没，,。]{2,16}?)(?P<end>了?)")
_FOR_NOW: Final = lazy_pattern(
    "不(?:仅|只|光|单|太|那么|这么|满|至于|愧|怎么|得不|小心|急)|今[天晚早]|明[天晚早]|昨[天晚]|这[次周会儿]|先|暂时|[上下中]午|晚上|打算|准备|想|敢|能|会(?!说)|要|用$|知道|说了|聊|多说"
)


_OF_TEAM: Final = lazy_pattern(r"(?:我们|咱们?)(?!家).{0,8}不再?(?:使?用|部署|采用|依赖|支持|写|维护)")
"""Says what a project does no more, which its owner may well do."""


def done_with(said: Said) -> str:
    """Return what a clause of the owner says they do no more, without the negation: 不再写Java, 不做护士了.

    What is read from it as if they did is what ends. Empty where nothing ends for good.
    """
    match = _DONE_WITH.fullmatch(said.text) if said.who == "user" and not _OF_TEAM.match(said.part) else None
    if match is None or (match["no"] == "不" and not match["end"]) or _FOR_NOW.search(said.part):
        return ""
    return match["v"]


def ended(said: Said) -> list[Found]:
    """Return what a clause about the owner says is over (`Found.over`), and what it says is instead."""
    if said.who != "user" or _OF_TEAM.match(said.part):
        return []
    for end in _ENDS:
        if (match := end.pattern.fullmatch(said.text)) and (found := end.read(match)):
            return found
    return []
