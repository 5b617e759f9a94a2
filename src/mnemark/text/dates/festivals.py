"""Names of festivals as patterns, with their keys in `calendar.FESTIVALS`.

Longer names stand before the shorter ones they begin with.
"""

import re
from typing import Final

_N: Final = "一二三四五六七八九"

ENGLISH: Final[dict[str, str]] = {
    r"christmas\s+eve|xmas\s+eve": "christmas eve",
    r"christmas\s+day": "christmas day",
    r"christmas|xmas": "christmas",
    r"boxing\s+day": "boxing",
    r"(?:chinese|lunar)\s+new\s+year'?s?\s+eve": "new year's eve (lunar)",
    r"(?:chinese|lunar)\s+new\s+year": "lunar new year",
    r"spring\s+festival": "spring festival",
    r"new\s+year'?s?\s+eve": "new year's eve",
    r"new\s+year'?s\s+day|new\s+year\s+day|new\s+year's": "new year",
    r"easter\s+sunday": "easter sunday",
    r"easter\s+monday": "easter monday",
    r"easter": "easter",
    r"good\s+friday": "good friday",
    r"halloween": "halloween",
    r"thanksgiving": "thanksgiving",
    r"black\s+friday": "black friday",
    r"(?:saint\s+|st\.?\s+)?valentine'?s?\s+day": "valentine",
    r"(?:saint|st\.?)\s+patrick'?s?\s+day": "st patrick",
    r"april\s+fools?'?s?(?:\s+day)?": "april fools",
    r"independence\s+day|(?:the\s+)?(?:fourth|4th)\s+of\s+july": "independence",
    r"labou?r\s+day": "labor",
    r"memorial\s+day": "memorial",
    r"veterans'?\s+day": "veterans",
    r"juneteenth": "juneteenth",
    r"mother'?s'?\s+day": "mother",
    r"father'?s'?\s+day": "father",
    r"cinco\s+de\s+mayo": "cinco de mayo",
    r"mid-?\s?autumn(?:\s+festival)?": "mid-autumn",
    r"dragon\s+boat(?:\s+festival)": "dragon boat",
    r"lantern\s+festival": "lantern",
    r"qingming(?:\s+festival)?|tomb[\s-]sweeping\s+day": "qingming",
    r"singles'?\s+day": "singles",
    r"women'?s\s+day": "women",
    r"children'?s\s+day": "children",
}
CHINESE: Final[dict[str, str]] = {
    "春节": "spring festival",
    "过年": "spring festival",
    "除夕夜?": "new year's eve (lunar)",
    "大年三十": "new year's eve (lunar)",
    "年三十": "new year's eve (lunar)",
    "元宵节?": "lantern",
    "龙抬头": "dragon head",
    "端午节?": "dragon boat",
    "七夕节?": "qixi",
    "中元节": "ghost",
    "中秋节?": "mid-autumn",
    "重阳节?": "double ninth",
    "腊八节?": "laba",
    "清明节?": "qingming",
    "冬至": "winter solstice",
    "元旦节?": "new year",
    r"三八(?:妇女)?节|妇女节": "women",
    "植树节": "arbor",
    rf"(?<![{_N}十])五一(?:劳动节|节|假期|小?长假|黄金周|(?![{_N}十年月日号个班路广]))|劳动节": "may day",
    "五四青年节|青年节": "youth",
    rf"(?<![{_N}十])六一(?:儿童节|节|(?![{_N}十年月日号个班路]))|儿童节": "children",
    "建军节": "army",
    "教师节": "teachers",
    r"国庆节?|(?<!双)十一(?:假期|长假|黄金周|期间)": "national day",
    r"双(?:十一|11)|光棍节": "singles",
    r"双(?:十二|12)": "double twelve",
    "白色情人节": "white day",
    "情人节": "valentine",
    "愚人节": "april fools",
    "复活节": "easter",
    "母亲节": "mother",
    "父亲节": "father",
    "万圣节?": "halloween",
    "感恩节": "thanksgiving",
    "黑色星期五|黑五": "black friday",
    "平安夜": "christmas eve",
    "圣诞节?": "christmas",
    "跨年夜?": "new year's eve",
}


def festival_name(written: str) -> str:
    """The key of a festival from the words that one of the patterns matched."""
    names = (ENGLISH | CHINESE).items()
    return next(name for pattern, name in names if re.fullmatch(pattern, written, re.IGNORECASE))
