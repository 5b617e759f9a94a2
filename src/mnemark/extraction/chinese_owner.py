"""Define the Chinese rules of what people are, have, do and like, for the owner and for relatives alike.

A rule matches the predicate of a clause: `chinese_clauses` tells whose it is. The value is in group `v`.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from mnemark.extraction import chinese_ends
from mnemark.extraction.candidate import (
    Clause,
    Found,
    Read,
    Rule,
    bare,
    is_program,
    listed,
    moved,
    usable,
)
from mnemark.extraction.chinese_clauses import NO_NAME, Said, helper, home_level, kin_of, parts, read
from mnemark.extraction.chinese_words import (
    ACQUAINTANCES,
    ANIMALS,
    BELIEFS,
    BRANDS,
    CHILDREN,
    CLASSIFIER,
    COUNTRIES,
    DEVICES,
    FIRMS,
    HAN,
    ILLNESSES,
    INSTRUMENTS,
    JOBS,
    KIN,
    LANGUAGES,
    NUMBER,
    OWNED,
    PLACES,
    SIBLINGS,
    SKILLS,
    SURNAMES,
    VEHICLES,
    WORKPLACES,
)
from mnemark.extraction.no_places import is_no_place
from mnemark.extraction.validity import date_of
from mnemark.text.dates.ranges import spans
from mnemark.text.dates.written import dated
from mnemark.text.lazy_pattern import lazy_pattern

_COUNT: Final = f"(?:{NUMBER}|一?){CLASSIFIER}"
_VERY: Final = "(?:很|非常|特别|最|比较|更|更加|一直|也|还|都|挺|超|超级|真的|其实|就|蛮|尤其|从小就?|平时|确实|十分|格外|一向|就是|主要|天生|向来)*+"
_OF: Final = f"(?:[{HAN[1:-1]}A-Za-z0-9]{{1,10}}?的?)??"
_AND: Final = "(?:[、，,和与及跟]|还有|以及)"
_A: Final = f"(?:一?{CLASSIFIER}|一)?"
_NAME: Final = rf"(?:(?![了他她你它人我车来去不着什啥醒停外滴救起好个上])(?!.{0, 2}[了车])(?!名字){HAN}{{2,3}}|[A-Z]\w+(?: [A-Z]\w+)?)"
_FULL_NAME: Final = f"(?!{NO_NAME})[{SURNAMES}]{HAN}{{1,2}}"
_GENERIC: Final = lazy_pattern(
    "[你您他她它哪什谁这那某]|自己|一样|一起|怎么|问题|东西|事情?|时候|感觉|方式|情况|上面|下面|里面|比较|真正|主要"
)
_NO_PLACE: Final = lazy_pattern(
    "家里|公司|学校|宿舍|附近|隔壁|楼|酒店|医院|[这那哪着您你他她它]|里面|外面|旁边|[里外边下上]$|^城市$|还是|一起|乡下|城里|国外|外地|(?:路|街|道|号|小区|村|苑|园|镇|页|模块|文件|房子|公寓|病房|房间|会议室|办公室|教室|工位|座位|院|家|社区|府|公馆|花园|家园|大厦|隔壁|云端)$|"
    "^(?:得|的|了|过|不|很|几|一|进|到|回|去|来)"
)
_NO_WORKPLACE: Final = lazy_pattern(
    "^(?:公司|单位|学校|大学|家|办公室|店|店里)$|[这那你您他她它哪某]|我|今|明|昨|刚|会议|^(?:外|同|整)"
)
_NOT_LIKED: Final = lazy_pattern(
    "[这那您你他她它]|一下|一些$|一点$|一个$|做的|方案|版本|bug|建议|思路|节奏|方式|感觉|细节|总结|安排|计划$|说法|比喻|"
    "^(?:的|了|上了?$|过(?!山车)|得|和?是|说$|它|就|这样|先|被|让|给|跟着|自己先)|点$|[个点种款件位]儿?$|第[一二三四]|今天|昨天|明天|刚|孩子们?$|家人$|[‘“”’]|一直$|[里上]的|我|那种|点东西$|的.{1,6}是|^[‘“《]?$"
)
_SOME: Final = lazy_pattern("^(?:(?:一些|一点|那种|各种|所有的?|几|有点|一?个(?!人))的?)")


def _rule(pattern: str, read: Read, **options: Any) -> Rule:
    return Rule(lazy_pattern(pattern), read, **({"importance": 0.6} | options))


def _value(predicate: str, *, longest: int = 24, many: bool = False, prefix: str = "") -> Read:
    """Return a reader of group `v`; `many`: of a list of them."""

    def read(match: re.Match[str], _: Clause) -> list[Found]:
        text = bare(match["v"])
        values = listed(text, chinese=True) if many else [text]
        good = all(usable(value, longest) and not _GENERIC.search(value) for value in values)
        return [Found("user", predicate, prefix + value) for value in values] if good else []

    return read


_STAYS: Final = lazy_pattern(
    r"(?:[这本](?:个?(?:周|星期|礼拜|月)|几天|[一两]天|阵子|段时间|一?次)|今晚|昨晚|今天|昨天|明天|后天|暂时|临时)"
    r"(?:我|都|就|会|要|先|一直|暂时|临时)*(?:住|待在|呆在)|[暂借]住|住在?[^，,。]{1,12}(?:出差|酒店|宾馆|民宿)"
)
"""Is somewhere for some days, and lives elsewhere: 这周住在广州."""


def _place(predicate: str) -> Read:
    def read(match: re.Match[str], clause: Clause) -> list[Found]:
        if predicate == "city" and _STAYS.search(clause.sentence):
            return []
        value = re.sub("(?:了|的|这边|那边|市区|这里|呢)$", "", bare(match["v"]))
        good = usable(value, 14) and not _NO_PLACE.search(value) and not is_no_place(value)
        return [Found("user", home_level(value) if predicate == "city" else predicate, value)] if good else []

    return read


def _moved(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read where the owner has moved to; where they lived before, as exact or not, is over."""
    nowhere = is_no_place(match["old"] or "")
    return [] if nowhere or _is_to_come(clause) else moved(_place("city")(match, clause))


def _is_to_come(clause: Clause) -> bool:
    """Return whether a sentence says only of a time to come when it is: 下个月搬到南京."""
    times = [span for _, _, span in spans(clause.sentence, clause.time)]
    now = clause.time.replace(tzinfo=None)
    return bool(times) and all(span.start > now for span in times)


def _job(match: re.Match[str], _: Clause) -> list[Found]:
    value = re.sub(
        f"^(?:[做当](?=(?:{JOBS})$)|(?:一(?:{CLASSIFIER}|[家所间])|家(?=.{{2,}}(?:店|公司|厂|馆)))?(?:著名的|普通的?|全职的?|专业的?|优秀的?)*)(?=.)",
        "",
        bare(match["v"]),
    )
    good = (
        usable(value, 16)
        and not _GENERIC.search(value)
        and not re.search("我|的好|好的|称职|合格|懒|新手|朋友|孩子", value)
    )
    return [Found("user", "job", value)] if good else []


def _work(match: re.Match[str], _: Clause) -> list[Found]:
    """Read where somebody works, and as what where it is said."""
    found: list[Found] = []
    if job := match.groupdict().get("j"):
        found.append(Found("user", "job", bare(job)))
    said = bare(match["v"])
    place = re.sub("^一?[家个所间座](?=.)", "", said)
    good = usable(place, 16) and not _NO_WORKPLACE.search(said) and not re.match(f"{PLACES}$", place)
    good = good and not (found and re.search("一[家个所]", said))  # "at a bank" beside a job names nobody
    return found + ([Found("user", "employer", place)] if good else [])


def _likes(predicate: str) -> Read:
    def read(match: re.Match[str], _: Clause) -> list[Found]:
        if match["v"].endswith("的") and not re.fullmatch("[吃喝].{1,3}的", match["v"]):
            return []
        if match["v"].startswith("那种"):
            return []
        value = _SOME.sub("", re.sub("(?:了|啦)$", "", bare(match["v"])))
        values = listed(value, chinese=True) if not re.search("[和与跟].*(?:一起|在|去)", value) else [value]
        if any(len(one) > 6 or (len(one) < 2 and one not in _SHORT) for one in values):
            values = [value]
        good = all(usable(one, 16) and not _NOT_LIKED.search(one) for one in values) and (
            len(value) > 1 or value in _SHORT
        )
        return [Found("user", predicate, one) for one in values] if good else []

    return read


_SHORT: Final = frozenset("猫狗鱼花茶酒书辣甜海雪雨马鸟")


def _favorite(match: re.Match[str], _: Clause) -> list[Found]:
    what, value = match["p"], re.sub("(?:了|的)$", "", bare(match["v"]))
    good = (
        usable(value, 16) and not _GENERIC.search(value) and 1 <= len(what) <= 6 and not _GENERIC.search(what)
    )
    return [Found("user", _FAVORITES.get(what, f"最喜欢的{what}"), value)] if good else []


_FAVORITES: Final = {
    "颜色": "favorite color", "食物": "favorite food", "菜": "favorite food", "美食": "favorite food", "水果": "favorite fruit",
    "季节": "favorite season", "音乐": "favorite music", "音乐类型": "favorite music", "电影": "favorite movie",
    "书": "favorite book", "运动": "favorite sport", "歌手": "favorite singer", "乐队": "favorite band", "城市": "favorite city",
    "动物": "favorite animal", "饮料": "favorite drink", "饮品": "favorite drink", "作家": "favorite author", "演员": "favorite actor",
    "游戏": "favorite game", "活动": "favorite activity", "爱好": "favorite hobby", "角色": "favorite character",
}  # fmt: skip


def _have(match: re.Match[str], _: Clause) -> list[Found]:
    """Read relatives and animals that somebody has: two children, three sisters, a cat called 豆包."""
    value, name = re.sub(f"^(?={CLASSIFIER})", "一", bare(match["v"])), match.groupdict().get("n")
    if _GENERIC.search(value):
        return []
    if re.search(f"(?:{CHILDREN})$|^一儿一女$", value):
        return [Found("user", "children", name or value)]
    if re.search(f"(?:{SIBLINGS})$", value):
        return [Found("user", "siblings", name or value)]
    if not name:
        return [Found("user", "pets", one) for one in re.split(_AND, value)]
    kind = re.sub(f"^{_COUNT}", "", value)
    return [Found("user", "pets", f"{name}，{kind}")]


def _gender(match: re.Match[str], _: Clause) -> list[Found]:
    found = [Found("user", "age", match["a"])] if match.groupdict().get("a") else []
    return [*found, Found("user", "gender", "女" if re.search("女|妈妈", match["v"]) else "男")]


def _car(match: re.Match[str], _: Clause) -> list[Found]:
    value = re.sub("^(?:一?[辆台部]|着|的?是|一)+", "", bare(match["v"]))
    return [Found("user", "car", value)] if usable(value, 20) and not _GENERIC.search(value) else []


def _device(match: re.Match[str], _: Clause) -> list[Found]:
    """Read a device by its maker or model: the phone is a Huawei P60."""
    maker, parts = re.sub("(?:牌|品牌)?的?$", "", match["b"].strip()), match.groupdict()
    kind = parts.get("d") or parts.get("d2")
    vague = _GENERIC.search(maker) or re.search("[新旧老坏好大小贵我]|便宜", maker)
    known = re.search("[A-Za-z]", maker) or re.match(f"(?:{_MAKERS})", maker)
    if not kind or not known or vague or is_program(maker) or not usable(maker, 20):
        return []
    return [Found("user", "possessions", maker if kind in maker else f"{maker}{kind}")]


_MAKERS: Final = "小米|华为|苹果|荣耀|三星|格力|美的|海尔|松下|索尼|佳能|尼康|联想|戴尔|戴森|飞利浦|西门子|苏泊尔|九阳|大疆|富士|徕卡|海信|方太|老板|奥克斯|夏普|东芝|日立|红米|一加|魅族|创维|长虹|康佳"


def _plan(match: re.Match[str], clause: Clause) -> list[Found]:
    value = bare(match["v"])
    good = usable(value, 30) and not re.search("[您你他她它这那]|试|看看|再说|一下|怎么|先", value)
    shown = dated(value, clause.time, ahead=True)
    day = date_of(value, clause.time) if shown == value else ""
    return [Found("user", "plans", f"{shown}（{day}）" if day else shown)] if good else []


def _age(match: re.Match[str], clause: Clause) -> list[Found]:
    if "快" in clause.text:
        return []
    return [Found("user", "age", f"{match['v']}岁半")] if "岁半" in match[0] else _value("age")(match, clause)


def _birthday(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read a birthday that is to come, by its day: 下周三生日."""
    words = match["v"]
    if not any((start, end) == (0, len(words)) for start, end, _ in spans(words, clause.time)):
        return []
    day = date_of(words, clause.time).split("-")
    return [Found("user", "birthday", f"{int(day[1])}月{int(day[2])}日")] if len(day) == _DATE_PARTS else []


_DATE_PARTS: Final = 3
"""Year, month and day."""


def _relation(match: re.Match[str], _: Clause) -> list[Found]:
    return [Found("user", "", match["v"])]


_ANIMAL: Final = rf"(?:(?:(?:{NUMBER})?{CLASSIFIER})?{HAN}{{0,6}}?(?:{ANIMALS}))"
_BIG: Final = "学位|学士|硕士|博士|双学位|文凭|学历"
_LATER: Final = "明年|后年|今年年底|年底|下半年|毕业后|毕业以后|退休后|退休以后|几年后|一年后|两年后|几年内|两年内|长大后|长大以后|将来|未来|下个?季度|春天|夏天|秋天|冬天|暑假|寒假|春节|国庆|五一"
_NEAR: Final = "(?:下下?个?月|[\\d一二三四五六七八九十]{1,2}月(?:份|底|初)?)"
_BIG_STEP: Final = "(?:去[^，,。]{2,10}(?:旅游|旅行|玩|度假|留学|爬山)|飞[^，,。]{2,8}|搬[到去][^，,。]{2,8}|结婚|订婚|入职|退休|毕业|出国)"

ANYONE: Final[tuple[Rule, ...]] = (
    _rule(r"(?:今年|现在|已经|刚满?|昨天|都|才|快)*(?P<v>\d{1,3}|[一二三四五六七八九十百]{1,4}|[二三四五六七八九]十(?:多|几|出头))(?:周?岁)(?:半)?了?", _age, importance=0.5),
    _rule(r"(?:今年|都)+(?P<v>[1-9]\d|[二三四五六七八九]十[一二三四五六七八九]?)了?", _value("age"), importance=0.5),
    _rule(r"的?年[龄纪](?:是|为|今年)?(?P<v>\d{1,3})岁?", _value("age"), importance=0.5),
    _rule(rf"(?:今年)?是{_A}(?P<a>\d{{1,3}}|[一二三四五六七八九十]{{1,3}})岁的{HAN}{{0,3}}?(?P<v>女人|女性|女孩|女生|女士|男人|男性|男孩|男生|男士|单身爸爸|单身妈妈)", _gender, importance=0.5),
    _rule(rf"是{_A}(?:小|大)?(?P<v>女人|女性|女孩|女孩子|女生|男人|男性|男孩|男孩子|男生)", _gender, importance=0.5),
    _rule(r"的?生日(?:是|在|为)*\s*(?P<v>(?:[农阴阳]历)?(?:\d{4}年)?[\d一二三四五六七八九十]{1,3}月(?:份的?)?[\d一二三四五六七八九十初]{1,3}[日号]?|腊月\w{2,3}|\d{4}[-/.]\d{1,2}[-/.]\d{1,2})", _value("birthday"), importance=0.7),
    _rule(r"(?:是)?(?:出生于|出生在|生于|生在|出生日期是)?(?P<v>(?:19|20)\d\d年(?:\d{1,2}月)?(?:\d{1,2}[日号])?)(?:出?生的?|的)?", lambda m, c: _value("birthday")(m, c) if "生" in c.text else [], importance=0.7),
    _rule(r"(?P<v>[^，,。的]{2,10}?)就?是?生日", _birthday, importance=0.7),
    _rule(r"是(?P<v>\d\d后)", _value("birthday"), importance=0.5),
    _rule(r"的?身高(?:是|有|为|才|大概)?(?P<v>1\.\d{1,2}米?|\d{3}(?:cm|CM|厘米|公分)?|[一]米[一二三四五六七八九]\w?)", _value("height")),
    _rule(r"(?P<v>1\d\d ?(?:cm|CM|厘米|公分)|一米[五六七八九]\w?)高?", _value("height")),
    _rule(r"(?:的?血型)?是(?P<v>(?:AB|[ABO])型)血?的?", _value("blood type")),
    _rule(r"(?:是)?属(?P<v>[鼠牛虎兔龙蛇马羊猴鸡狗猪])的?", _value("zodiac")),
    _rule(rf"(?:的星座)?是(?P<v>{HAN}{{2}}座)的?", _value("zodiac")),
    _rule(r"(?:的?(?:MBTI|性格类型|人格类型))?(?:是|属于)(?:典型的)?(?P<v>[EI][NS][TF][JP])(?:型?人?格?的?人?)?", _value("personality")),
    _rule(rf"(?:是|当|做|干|担任|成为|当上)了?{_A}(?P<v>{_OF}(?:{JOBS}))(?:的)?", _job, importance=0.8, dated=True),
    _rule(r"(?P<v>(?:开|跑)(?:货车|大货车|卡车|出租车|公交车|大巴|长途|网约车|滴滴))(?:的|为生)?", _job, importance=0.7),
    _rule(rf"是(?:专门)?(?P<v>(?:做|跑|搞|卖|修|教|开){HAN}{{1,5}})的", lambda m, c: _job(m, c) if not re.search("准备|决定|计划|好|得|过|给|对|玩笑|饭", m["v"]) else [], importance=0.7),
    _rule(r"(?:是)?从事(?:的是)?(?P<v>[^，,。]{2,14}?)(?:方面|相关)?(?:的?工作)?(?:的)?", _value("job"), importance=0.8),
    _rule(rf"以(?P<v>{HAN}{{2,6}})为生", _value("job"), importance=0.8),
    _rule(rf"的?(?:职业|职位|岗位|职务|工作)(?:一直)?是{_A}(?P<v>(?![在为给把要])[^，,。的]{{2,12}})", _value("job"), importance=0.8),
    _rule(rf"在(?P<v>[^，,。在]{{2,12}}?)(?:里|中)?(?:从事|做|当|担任)了?{_A}(?P<j>{_OF}(?:{JOBS}))", _work, importance=0.8, dated=True),
    _rule(rf"(?:晚上|周末|全职|兼职)?在(?P<v>(?!一家|这|那)?[^，,。在]{{0,10}}?(?:{WORKPLACES}|{FIRMS}))(?:里|中)?(?:全职|兼职)?(?:工作|上班|任职|就职|打工|兼职|教书)", _work, importance=0.8, dated=True),
    _rule(rf"(?:现在|目前)*在(?P<v>{FIRMS})", lambda m, c: _work(m, c) if re.search("换了?工作|跳槽|入职", c.turn) else [], importance=0.8, dated=True),
    _rule(r"在(?P<v>[A-Z]\w+)(?:工作|上班|任职|就职)", _work, importance=0.8, dated=True),
    _rule(rf"(?:住在?|定居在?|常住在?|居住在|长住)(?P<v>(?:[^，,。]{{0,8}}?)?(?:{PLACES})(?:{HAN}{{0,4}}?[省市州区县])?(?:的?{HAN}{{2,3}}[区县市])?)", _place("city"), importance=0.8, dated=True),
    _rule(rf"(?:[和跟与][^，,。]{{1,10}}?)?(?:一起)?(?:(?:住|定居|常住|居住)在|定居)(?P<v>(?!不是|是){HAN}{{2,8}}|[A-Z]\w+(?: [A-Z]\w+)?)", _place("city"), importance=0.8, dated=True),
    _rule(rf"住(?P<v>{HAN}{{1,4}}[区市县]{HAN}{{0,8}})", _place("city"), importance=0.8, dated=True),
    _rule(rf"在(?P<v>{HAN}{{2,6}}?|[A-Z]\w+)(?:生活|定居|常住|居住)", _place("city"), importance=0.8),
    _rule(rf"(?:前几天|上个?周末?|上个?月|去年|今年|昨天|{HAN}{{1,2}}月)?(?:刚|才|已经|又|都|终于)*(?:从(?P<old>[^，,。]{{1,8}}?))?(?:搬|迁)(?:到|来|回|去|家到|家去)了?(?P<v>{HAN}{{2,8}}?|[A-Z]\w+)了?", _moved, importance=0.8, dated=True),
    _rule(rf"(?:的?(?:老家|家乡|籍贯|祖籍))(?:在|是)(?P<v>{HAN}{{2,8}})(?:人|的)?", _place("hometown")),
    _rule(rf"是(?P<v>{COUNTRIES})人", _value("nationality")),
    _rule(rf"(?:是|来自)(?:地道的|土生土长的|正宗的?|一?个)?(?P<v>(?:{PLACES})(?:{HAN}{{1,3}}[省市县州区])?|{HAN}{{2,3}}[省市县州])人?", _place("hometown")),
    _rule(rf"来自(?P<v>{HAN}{{2,6}}|[A-Z]\w+)", _place("hometown")),
    _rule(rf"是?(?:出生在|出生于|生在|从小在)(?P<v>(?:{PLACES}){HAN}{{0,4}}?|{HAN}{{2,3}}[省市县州])(?:长大|出生)?的?", _place("hometown")),
    _rule(rf"(?:是|从小)?在(?P<v>{HAN}{{2,5}}?|[A-Z]\w+)(?:出生长大|土生土长|长大|出生)的?", lambda m, c: _place("hometown")(m, c) if not re.search("农|贫|场|单亲|家庭|环境|一|年", m["v"]) else []),
    _rule(rf"(?:是|于?\d{{4}}年)?(?:从|毕业于|毕业自|是从)(?P<v>{HAN}{{2,12}}(?:大学|学院|中学|高中|学校))(?:毕业)?的?", lambda m, c: _value("school")(m, c) if "毕业" in c.text else []),
    _rule(rf"(?:是)?(?P<v>(?!的|{HAN}{{1,8}}是){HAN}{{2,10}}(?:大学|学院|中学|一中|职校|技校))(?:毕业)的?", _value("school")),
    _rule(rf"在(?P<v>{HAN}{{2,10}}(?:大学|学院|中学|一中|小学))(?:读|上|念|就读)(?:本科|研究生|研|博|博士|硕士|大[一二三四]|高[一二三]|初[一二三]|书|大学)?", _value("school"), dated=True),
    _rule(rf"(?:大学|本科|研究生)?(?:学的?是?|读的?是?|主修|专业是|的专业是|在大学里?学习?)(?P<v>{HAN}{{2,8}}?)(?:专业)", _value("major")),
    _rule(rf"(?:大学|本科|研究生)?(?:主修|专业是|的专业是)(?P<v>{HAN}{{2,8}}?)(?:专业)?", _value("major")),
    _rule(rf"(?:于?\d{{4}}年)?(?:从[^，,。]{{2,10}})?(?:有|拿到|获得|拥有|取得)了?{_A}(?P<v>{HAN}{{0,10}}?(?:{_BIG}))", _value("degree")),
    _rule(r"的?(?:学历|最高学历|教育背景|文化程度)(?:是|只有|为)?(?P<v>小学|初中|高中|中专|职高|技校|大专|专科|本科|硕士|博士|研究生)(?:毕业|学历)?", _value("degree")),
    _rule(r"是?(?P<v>小学|初中|高中|中专|大专|专科|本科|硕士|博士)(?:毕业|学历)的?", _value("degree")),
    _rule(rf"(?:能|会|可以|能够)(?:说|讲)(?:一口)?(?:流利的?|一点|一些|标准的?|好几种语言)*(?P<v>(?:{LANGUAGES})(?:{_AND}?(?:{LANGUAGES}))*)", lambda m, _: [Found("user", "languages", one) for one in re.findall(LANGUAGES, m["v"])]),
    _rule(rf"(?:说|讲|精通|掌握|的?母语是)(?P<v>(?:{LANGUAGES})(?:{_AND}?(?:{LANGUAGES}))*)", lambda m, _: [Found("user", "languages", one) for one in re.findall(LANGUAGES, m["v"])]),
    _rule(r"对\s*+(?P<v>[^，,。\s][^，,。]{0,15}?)\s*+(?:严重|有点|会|很|有|轻度|重度|特别|非常|都)*(?<![不没有无])过敏(?:的|体质)?", _value("allergies", many=True), importance=0.9),
    _rule(r"(?:有|是)?(?:严重的?)?(?P<v>花粉|尘螨|海鲜|花生|坚果|牛奶|乳糖|鸡蛋|芒果|青霉素|头孢|磺胺|酒精|虾|虾蟹|螨虫|猫毛|狗毛|小麦|麸质|紫外线)过敏(?:史|症)?", _value("allergies"), importance=0.9),
    _rule(rf"(?:还)?(?:有|患有?|得了|得过|确诊了?|被诊断(?:为|出|患有)|查出了?)(?:有|多年的?|{NUMBER}年的?|轻微的?|轻度的?|严重的?|重度的?|先天性|遗传性|老|部分性|点){{0,3}}(?P<v>(?:慢性|部分性?|遗传性|先天性|[一二12]型|{HAN}{{1,4}}(?=癌))?(?:{ILLNESSES}))(?:史|{NUMBER}年了?|多年了?|了|的老毛病|的毛病)?", _value("health"), importance=0.8),
    _rule(rf"(?:有|是)?(?P<v>{ILLNESSES})(?:{NUMBER}多?年了?|好多?年了?|很多年了?|患者)", _value("health"), importance=0.8),
    _rule(r"(?P<v>部分失聪|失聪|失明|色盲|色弱|近视|恐高|乳糖不耐受|听力不好|血压偏高|血压高|血糖高|血脂高|[\d一二两三四五六七八]百?多?度近视)", _value("health"), importance=0.7),
    _rule(rf"(?:是|只|一直)?{_A}(?P<v>吃素|吃全素|吃清真|素食者|素食主义者|纯素(?:主义)?者?|纯素食者)的?", _value("diet"), importance=0.8),
    _rule(r"(?:从来|一向)?(?P<v>不(?:抽烟|吸烟|喝酒|吃早餐|吃早饭|吃晚饭|熬夜)(?:不喝酒)?)(?:也不.{1,14})?的?", _value("habits"), importance=0.7),
    _rule(r"(?:从来|一向)?(?P<v>不(?:吃肉|吃猪肉|吃牛肉|吃糖|吃甜食|吃海鲜|喝牛奶|喝碳酸饮料))的?", _value("diet"), importance=0.7),
    _rule(r"(?:平时|一直|也)?(?P<v>抽烟|吸烟|喝酒)", _value("habits"), importance=0.6),
    _rule(rf"(?P<v>吃{HAN}{{1,6}}饮食)", _value("diet")),
    _rule(r"只(?P<v>吃[^，,。]{2,8})", lambda m, _: [Found("user", "diet", f"只{m['v']}")] if not re.search("了|过|点|碗|口|完|这|那|半", m["v"]) else [], importance=0.7),
    _rule(rf"(?:家里)?(?:还)?(?:有|养了|养着|养的是|拥有|收养了|领养了|的?宠物是)(?P<v>(?!.{{0,8}}(?:{BRANDS})){_ANIMAL}(?:{_AND}{_ANIMAL}){{0,2}})(?:[，,]?(?:它)?(?:的?名字)?(?:叫做?|名叫|名为)(?P<n>{HAN}{{1,4}}|[A-Z]\w+))?", lambda m, c: _have(m, c) if re.search(f"养|宠物|{CLASSIFIER}{HAN}{{0,6}}?(?:{ANIMALS})", m[0]) else [], importance=0.6),
    _rule(rf"(?:家里)?有(?P<v>{_COUNT})(?:名叫|名为|叫)(?P<n>{HAN}{{1,4}})的(?P<k>{HAN}{{0,6}}?(?:{ANIMALS})犬?)", lambda m, _: [Found("user", "pets", m["n"])]),
    _rule(rf"的?(?:宠物|{HAN}{{0,2}}(?:猫|狗))(?:名字)?(?:叫|名叫|名字是|的名字(?:叫|是))(?P<v>{HAN}{{2,4}}|[A-Z]\w+)", lambda m, c: _value("pets")(m, c) if not re.search("个不|得|着|声|[我了醒]", m["v"]) else []),
    _rule(rf"(?:家里?)?(?:已经|现在)?(?:有|生了|育有|有了|生有)(?P<v>{_COUNT}(?:已经|正在)?{HAN}{{0,6}}?(?:{CHILDREN})|一儿一女)(?:[，,]?(?:名字)?叫做?(?P<n>{HAN}{{2,3}}))?", _have, importance=0.6),
    _rule(rf"有(?P<v>{_COUNT}(?:亲|双胞胎)?(?:{SIBLINGS})(?:{_AND}{_COUNT}(?:{SIBLINGS}))*)", _have),
    _rule(rf"(?P<v>已婚|未婚|单身|结婚(?=[一二两三四五六七八九十几\d]{{1,3}}多?年)|离异|离婚了|结婚了|订婚了|丧偶|已经?结婚了?|已经?离婚了?|刚?离婚了?|是单身)(?:{NUMBER}年了?)?", lambda m, _: [Found("user", "marital status", m["v"] if m["v"] == "已婚" else re.sub("^(?:是|刚|已经?)|了$", "", m["v"]).replace("结婚", "已婚"))], importance=0.7, dated=True),
    _rule(rf"(?:平时|现在|上班)?(?:开|驾驶)(?:着|的是|的)?(?P<v>(?:一?[辆台部])?(?:\d{{4}}年?的)?(?:白色|黑色|红色|银色|旧|老)?的?(?:(?:{BRANDS}){HAN}{{0,5}}[\w]{{0,6}}|{HAN}{{0,4}}(?:卡车|货车|皮卡|面包车|摩托车|越野车|SUV|电动车)))", _car),
    _rule(rf"的车(?:就)?是(?:一?[辆台部])?(?P<v>(?:\d{{4}}年?的)?(?:{BRANDS}){HAN}{{0,4}}\w{{0,6}}|\d{{4}}年?的{HAN}{{2,5}})", _car),
    _rule(rf"(?:有|买了|拥有)(?P<v>{_COUNT}(?:\d{{4}}年?的)?(?:{BRANDS}|{HAN}{{0,4}}(?={VEHICLES}))(?:{HAN}{{0,5}}))", lambda m, c: _car(m, c) if re.search(f"(?:{BRANDS})|(?:{VEHICLES})$", m["v"]) and not re.search("自行车|山地车|游艇|船|快艇", m["v"]) else _value("possessions")(m, c)),
    _rule(rf"(?:家里|手头)?(?:有|拥有)(?P<v>{_COUNT}[^，,。有]{{0,8}}?(?:{OWNED}))", lambda m, c: _value("possessions")(m, c) if not re.search("想|要|朋友", m["v"]) else []),
    _rule(rf"拥有(?P<v>(?:{NUMBER}{CLASSIFIER}|自己的)[^，,。]{{1,10}})", _value("possessions")),
    _rule(r"(?:有|收藏了?|收集了?)(?P<v>(?:超过|大约|将近|上)?[\d一二两三四五六七八九十百千万多]{1,6}[个张枚本顶件套双枚幅][^，,。问]{1,8})", lambda m, c: _value("possessions")(m, c) if "收" in c.text else []),
    _rule(rf"(?:家里?)?(?:里)?(?:平时|现在)?(?:用|使用)的(?:那?[部台个款])?(?P<d>{DEVICES})?(?:是|用的是)(?P<b>[^，,。]{{1,14}}?)(?:的)?(?P<d2>{DEVICES})?", _device),
    _rule(rf"(?:家里?|家里的?|手头|手上|用)?的?(?:那|这)?[部台个款只]?(?P<d>{DEVICES})(?:用的)?是(?P<b>[^，,。]{{1,14}}?)的?", _device),
    _rule(rf"(?:在|会|能|喜欢|平时会?|从小)?(?:弹奏?|拉|吹奏?|演奏|学习?|打)(?:了|着|的是|一点|{NUMBER}年的?)?(?P<v>(?:{INSTRUMENTS})(?:{_AND}(?:{INSTRUMENTS}))*)", lambda m, _: [Found("user", "instruments", one) for one in re.split(_AND, m["v"])] if not re.search("喜欢", m[0]) else [Found("user", "likes", m[0])]),
    _rule(r"(?:很|最|比较|非常|特别)?(?:擅长|精通|善于)(?:的是)?(?P<v>[^，,。]{2,20})", lambda m, c: [Found("user", "languages", one) for one in re.findall(LANGUAGES, m["v"])] or _value("skills", many=True)(m, c)),
    _rule(rf"(?:会|能|可以|很会|学会了)(?:自己)?(?P<v>(?:{SKILLS})(?:{_AND}(?:{SKILLS}))*)", lambda m, _: [Found("user", "skills", one) for one in re.split(_AND, m["v"])]),
    _rule(rf"{_VERY}(?:喜欢|喜爱|爱|钟爱|偏爱)的(?P<p>[^是，,。]{{1,6}})(?:就)?是(?P<v>[^，,。]{{1,14}})", _favorite, type="preference"),
    _rule(rf"{_VERY}(?:不太?喜欢|不怎么喜欢|讨厌|反感|不爱|受不了|厌恶)(?P<v>[^，,。]{{1,20}})", _likes("dislikes"), type="preference"),
    _rule(r"(?:从来|一向)?不[吃喝](?P<v>[^，,。]{1,10})", lambda m, _: [Found("user", "dislikes", _eaten(m[0]))] if not re.search("了$|^(?:饭|早饭|午饭|晚饭|下|到|完|过|惯|得|准|多|饱|药)|[这那它他她]", m["v"]) else [], type="preference"),
    _rule(rf"{_VERY}(?:喜欢|喜爱|偏好|习惯于|热爱|钟爱|酷爱|迷恋|痴迷于?|沉迷于|热衷于)(?!的)(?P<v>[^，,。]{{1,24}})", _likes("likes"), type="preference"),
    _rule(rf"{_VERY}爱(?!好)(?P<v>[吃喝看听玩打跑写读画唱逛钓跳拍旅运](?!的){HAN}[^，,。]{{0,12}}|{HAN}{{0,6}}(?:{ANIMALS})|(?:意大利|日本|中国|四川|墨西哥)?(?:{HAN}{{0,4}})(?:食物|面包|巧克力棒|美食|小吃|音乐|电影))", _likes("likes"), type="preference"),
    _rule(r"的?(?:业余)?(?:(?:兴趣爱好|爱好|兴趣)(?:就)?(?:是|有|包括)|爱好)\s*(?P<v>(?!点)[^，,。]{2,24})", lambda m, c: _likes("hobbies")(m, c) if not re.search("搁置|没|不|很|都|太|得", m["v"]) else []),
    _rule(r"对(?P<v>(?!一[台个件场])[^，,。您你这那它他她]{1,10}?)(?:一直)?(?:都)?(?:很|非常|特别|挺|比较|一直)*(?:感兴趣|有兴趣|着迷)", _likes("likes"), type="preference"),
    _rule(r"是(?P<v>[^，,。您你这那它他她个]{1,12}?)的?(?:忠实|铁杆|资深|超级|狂热)?的?(?:粉丝|球迷|影迷|歌迷|戏迷|书迷|发烧友|爱好者)", _likes("likes"), type="preference"),
    _rule(rf"是(?:一[个名位])?(?:虔诚的)?(?P<v>{BELIEFS})", _value("beliefs")),
    _rule(r"(?:信仰?|皈依了?)(?P<v>佛教?|基督教?|天主教|伊斯兰教|道教|上帝|主)", _value("beliefs")),
    _rule(r"(?P<v>不(?:相信|信)(?:上帝|宗教|鬼神|命|算命|星座))", _value("beliefs")),
)  # fmt: skip
"""Of the owner and of relatives."""
OWNER: Final[tuple[Rule, ...]] = (
    _rule(rf"(?:的名字)?(?:叫做?|名叫|的名字是|的?姓名是|的全名是)\s*(?P<v>{_NAME})", _value("name"), importance=0.9),
    _rule(rf"(?:计划|打算|准备|决定|要|将|会|将会)(?:在|于|等)?(?P<v>(?:{_LATER})[^，,。]{{2,20}})", _plan),
    _rule(rf"(?P<v>(?:{_LATER})[^，,。]{{0,2}}(?:计划|打算|准备|要|将)[^，,。]{{2,20}})", _plan),
    _rule(rf"(?P<v>{_NEAR}(?:计划|打算|准备|决定|就?要|将|会)(?:和[^，,。]{{1,6}})?{_BIG_STEP})", _plan),
    _rule(rf"(?:计划|打算|准备|决定|就?要|将|会)(?P<v>{_NEAR}(?:和[^，,。]{{1,6}})?{_BIG_STEP})", _plan),
)  # fmt: skip
"""Of the owner alone."""
_OF_RELATIVES: Final[tuple[Rule, ...]] = (
    _rule(rf"(?:的?(?:名字|姓名))?(?:(?:叫做?|名叫)\s*(?P<v>{_NAME})|(?:名字)?是(?P<n>{_FULL_NAME}))", lambda m, _: [Found("user", "name", m["v"] or m["n"])], importance=0.7),
)  # fmt: skip
_NAMED: Final = {"妻子": "spouse", "丈夫": "spouse", "爱人": "spouse", "儿子": "children", "女儿": "children", "孩子": "children"} | {
    f"{size}{child}": "children" for size in "大小" for child in ("儿子", "女儿")
}  # fmt: skip


def _eaten(text: str) -> str:
    return re.sub("^(?:从来|一向)?不", "", bare(text))


_UNSURE: Final = lazy_pattern(
    "也许|可能|或许|说不定|考虑|希望|不确定|好像|似乎|要不要|是不是|如果|要是|假如|万一|差点|快要|本想|"
    "想(?:要|去|住|当|成为|买|养|换|做|学)|想过|恨不得|巴不得|当时|那时|以为|据说|听说|假装|装作|梦见|应该|估计|怕|得能|也能开"
)
_PAST: Final = lazy_pattern("以前|曾经?|过去|原来|本来|小时候|从前|当年|之前")
_REPORTED: Final = lazy_pattern(
    "[他她]们?(?:说|告诉|觉得|认为)|(?:听|据)说|(?:客户|老板|同事|朋友|医生|老师)说|告诉(?!你|您)"
)
_NEGATED: Final = lazy_pattern("^(?:并?不(?:是|住|在|会)|没|还没|从没|从未|从来没)")
_GOES_ON: Final = lazy_pattern(
    rf"^(?P<of>(?:其|[他她]的?))?(?:(?:今年|现在|目前|已经|也|还|都|刚|一直|平时|就)*+(?:是|在.{{1,14}}(?:工作|上班|任职|就职|教书|读|上学|做|当)|住在?|来自|叫|名叫|属|毕业|"
    rf"(?:不|很|最|更|特别|非常)?(?:喜欢|爱|讨厌)|会说|(?:对.{{1,12}}|[^，,。对不没]{{2,4}})过敏|在(?:{FIRMS})$|有{_COUNT}|有.{{1,8}}(?:病|症|史)|养|身高|老家|\d{{1,3}}岁|[一二三四五六七八九十]+岁|"
    rf"1\d\d ?cm|不[吃喝抽][^，,。]{{1,6}}$|生日|年龄|教育背景|学历|家乡|职业|从事|患|已婚|未婚|单身|爱好|职业|工作是|刚满|搬|擅长))"
)
_CURED: Final = lazy_pattern("(?:得了|得过|患过).{2,20}(?:好了|痊愈|康复)")
_ATTRIBUTE: Final = lazy_pattern(
    "老家|家乡|身高|属|生日是|血型|今年[^，]{1,3}岁|[一二三四五六七八九十\\d]{2,3}岁|毕业于|对[^，]{1,8}过敏|从事|有个?[^，]{0,6}(?:儿子|女儿|孩子)$"
)
"""What a clause says of the owner even after one that said nothing lasting of them."""
_OTHERS: Final = lazy_pattern(f"[人他她它]|{ACQUAINTANCES}|{'|'.join(KIN)}|有{_COUNT}|{ANIMALS}")
"""Somebody or something else that a clause without a subject may be about."""
_NAMES_IT: Final = lazy_pattern(f"(?:它|名字)?(?:叫|名叫){HAN}{{1,4}}$")
_INTRODUCES: Final = lazy_pattern(f"(?:有|养了?|生了){_COUNT}{HAN}{{0,6}}(?:{ANIMALS}|{CHILDREN})$")
_NEW_LIFE: Final = lazy_pattern(
    "我(?:刚|最近|上个?月|上周|已经|终于)*(?:换工作|跳槽|搬家|毕业|退休|升职|转岗)了?$"
)
_ABOUT_TO_TELL: Final = lazy_pattern(
    "(?:刚|最近|上个?月|上周末?|已经|终于)*+(?:换工作|跳槽|搬家|升职|转岗)了[，,。！!]"
)
"""What a turn that begins with it tells of its speaker, who is not named: 搬家了，现在住在滨江."""
_NAMES: Final = lazy_pattern("[叫是（(]")
_BEINGS: Final = frozenset({"children", "pets", "siblings", "spouse", "possessions", "car"})
"""After these a clause without a subject may be about them."""


def about_people(whole: Clause) -> Iterator[tuple[Rule, Found]]:  # noqa: C901 - one question a wording
    """Yield what a sentence says of the owner and of relatives, with the rules that read it."""
    if _REPORTED.search(whole.text):
        return
    last: Said | None = None
    before: Said | None = None
    clauses = parts(whole.text)
    if _ABOUT_TO_TELL.match(whole.text) and whole.turn.lstrip().startswith(whole.text):
        clauses[0] = f"我{clauses[0]}"
    for part in _with_names(clauses):
        ways = list(read(part)) or list(read(_without_first_time(part, whole.time)))
        if not ways and last is None and before is not None and _ATTRIBUTE.match(part):
            last = before
        before = None
        if (
            not ways
            and last is not None
            and last.kin
            and (kin_of(part[:2]) != part[:2] or _both_named(last, part))
        ):
            ways = list(read(f"我{part}"))
        if not ways and last is not None and (goes := _GOES_ON.match(part)) and (last.kin or not goes["of"]):
            ways = list(_going_on(last, part[goes.end("of") :] if goes["of"] else part))
        last = next((said for said in ways if not said.text or _NEW_LIFE.match(part)), None)
        if _UNSURE.search(part) or _PAST.search(part):
            last = ways[0] if ways else None
            continue
        if known := helper(part):
            yield _OVER, Found("user", *known)
            last = None
            continue
        if ways and ways[0].who == "user" and not _OTHERS.search(part):
            before = ways[0]
        for said in ways:
            if found := list(_of(said, whole)):
                yield from found
                other = said.who == "user" and any(fact.predicate in _BEINGS for _, fact in found)
                last = None if other else _named(said, [fact for _, fact in found])
                break


def _both_named(last: Said, part: str) -> bool:
    """Return whether a clause names a child after one that named the partner or a child: 我老公叫周涛，女儿叫朵朵.

    After a sister or a colleague it would be theirs.
    """
    own = last.kin in _NAMED or last.who in _NAMED
    return own and _CHILD_NAMED.fullmatch(part) is not None and _ONLY_NAMED.search(last.part) is not None


_CHILD_NAMED: Final = lazy_pattern(rf"[大小]?(?:儿子|女儿)的?(?:名字)?(?:叫做?|名叫){HAN}{{2,4}}")
_ONLY_NAMED: Final = lazy_pattern(rf"^[^有生养]{{1,10}}(?:叫做?|名叫|是){HAN}{{2,4}}$")
"""Introduces nobody else, who the next clause might be about: 我女儿有个儿子."""


def _without_first_time(part: str, time: datetime) -> str:
    """Return a clause about a change without the past time it begins with: 上周末我们搬到南京了; else empty."""
    if not _CHANGES.search(part):
        return ""
    first = next(iter(spans(part, time)), None)
    if first is None or first[0] != 0:
        return ""
    now = time.replace(tzinfo=None)
    past = first[2].end <= now or (first[2].start <= now and part.endswith("了"))
    return part[first[1] :].lstrip("的 ") if past else ""


_CHANGES: Final = lazy_pattern(
    "搬|迁[到往回]|入职|跳槽|换工作|离职|辞职|被裁|退休|毕业|结婚|离婚|分手|戒[烟酒掉了]|[领收]养了|确诊"
)
"""Says that something began or ended, which holds from its time on; what only was so then does not."""


def _with_names(clauses: list[str]) -> list[str]:
    """Join a clause that only names what the one before introduces: 我有一只猫，叫豆包."""
    found: list[str] = []
    for part in clauses:
        if found and _NAMES_IT.match(part) and _INTRODUCES.search(found[-1]):
            found[-1] += part
        else:
            found.append(part)
    return found


def _going_on(last: Said, part: str) -> Iterator[Said]:
    for said in read(f"我{part}"):
        yield said._replace(who=last.who, kin=last.kin)


def _named(said: Said, found: list[Found]) -> Said:
    """Return the clause with the name of the relative as its subject, if it told one."""
    name = next((fact.subject for fact in found if fact.predicate == "relation"), "")
    name = name or next(
        (fact.value for fact in found if said.kin and fact.predicate in {"spouse", "children"}), ""
    )
    return said._replace(who=name) if name else said


def _of(said: Said, whole: Clause) -> Iterator[tuple[Rule, Found]]:
    if over := chinese_ends.ended(said) or _no_more(chinese_ends.done_with(said), whole):
        yield from ((_OVER, fact) for fact in over)
        return
    if not said.text:
        if not _NAMES.search(said.part):
            return
        if said.kin in {"上司", "老板", "领导"}:
            yield _OVER, Found("user", "manager", said.who)
        elif said.kin and said.who != said.kin:
            yield _OVER, Found(said.who, "relation", said.kin)
        return
    if _NEGATED.match(said.text):
        return
    if _CURED.search(whole.text) and not said.kin:
        return
    rules = ANYONE + (_OF_RELATIVES if said.kin else OWNER)
    for rule, text in _tried(rules, said.text, whole.time):
        match = rule.pattern.fullmatch(text)
        found = rule.read(match, whole._replace(text=text)) if match else []
        if found:
            yield from _whose(said, rule, found)
            return


def _no_more(does: str, whole: Clause) -> list[Found]:
    """Return the ends of what one would say of the owner who does this: 做护士 is a job."""
    if not does:
        return []
    said = Found("user", "", f"我{does}", over=True)
    for rule in (*ANYONE, *OWNER):
        match = rule.pattern.fullmatch(does)
        if found := rule.read(match, whole._replace(text=does)) if match else []:
            return [*(fact._replace(over=True) for fact in found if fact.value), said]
    return [said]


def _tried(rules: tuple[Rule, ...], text: str, time: datetime) -> Iterator[tuple[Rule, str]]:
    """Yield rules with the text to match; those of changes also see it without its time words."""
    yield from ((rule, text) for rule in rules)
    timeless = without_times(text, time)
    if timeless != text:
        yield from ((rule, timeless) for rule in rules if rule.dated)


def without_times(text: str, time: datetime) -> str:
    """Return a clause without words for a time."""
    kept, at = [], 0
    for start, end, _ in spans(text, time):
        kept.append(text[at:start])
        at = end
    return "".join((*kept, text[at:])).strip(" 的")


def _whose(said: Said, rule: Rule, found: list[Found]) -> Iterator[tuple[Rule, Found]]:
    """Yield what was read with its subject, and who a named relative is."""
    if not said.kin:
        yield from ((rule, fact) for fact in found)
        return
    if found[0].predicate == "name":
        key = _NAMED.get(said.kin)
        name = found[0].value
        yield rule, Found("user", key, name) if key else Found(name, "relation", said.kin)
        return
    if said.who != said.kin:
        yield rule, Found(said.who, "relation", said.kin)
    yield from ((rule, fact._replace(subject=said.who)) for fact in found)


_OVER: Final = _rule("", _relation, importance=0.7, dated=True)
"""The weight of what ended, and of who somebody is."""
