"""Tell facts whose predicate has no sentence of its own, by what kind of words it is made of.

What is known to be a noun, or may be one of somebody, is owned: "Your editor is Helix."; a verb goes on with
the value: "You cannot eat nuts.", 小林毕业于浙江大学; so does a part of one, behind a colon: "Custard Steps:
closed in August.". Any other name is a label, which reads right whatever it is: "Pellow, boxes: lends 40.".
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from mnemark.extraction.english_words import base, word_set
from mnemark.facts.keys import holds_many, singular
from mnemark.facts.labels import is_chinese
from mnemark.facts.predicates import predicates
from mnemark.present import phrases
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.segment import tagged

Kind = Literal["verb", "clause", "noun", "label"]

_ANSWERS: Final[Mapping[str, bool]] = MappingProxyType(
    dict.fromkeys(("yes", "true", "是", "是的", "对"), True)
    | dict.fromkeys(("no", "false", "否", "不是"), False)
)
"""Values that answer what a predicate asks."""
_PREPOSITIONS: Final = word_set(
    "about after against as at before behind between by during for from in inside into near of off on onto "
    "out over since through to toward towards under until up via with within without"
)
_NO_NOUN: Final = ("ful", "ous", "less", "ible")
"""Ends of adjectives that hardly a noun has."""
_SHORTEST: Final = 4
"""Letters that no participle has: "bed", "shed"."""
_LONGEST: Final = 8
"""Words of a value that may follow "is"."""
_NONE: Final = frozenset({"no", "none", "not"})
"""What begins a value that follows no "is"."""
_OWN_ZH: Final = lazy_pattern("^最|的")
"""Shows what is somebody's without 的: 你最喜欢的歌手, 你常去的咖啡馆."""
_VERB_ZH: Final = lazy_pattern(
    "^(?P<verb>不|没|想|会|要|在|有|爱|养|用|住|去过?|来自|喜欢|讨厌|需要|正在|参加|使用|知道|认识|打算|希望|擅长|"
    r"害怕|相信|觉得|认为|经常|每[天周月年]|应该|必须|能|可以|已经|属于|负责|对)(?!.*[的者员率量度])"
)
_GOVERNS_ZH: Final = lazy_pattern("(?<![现所实存内])(?:于|在|自)$")
"""Ends a verb that goes on with its value: 毕业于, 部署在, 来自."""
_CLAUSE_ZH: Final = lazy_pattern("[，。；、：！？]|^[不没在需由从每按免可能要会]")
"""Shows that a value is no name, which may follow 是."""


class Subject(NamedTuple):
    """What a fact is about, as a sentence names it."""

    name: str
    owner: str
    """Such as "your wife’s"; empty for a thing."""
    you: bool = False
    many: bool = False


class Said(NamedTuple):
    """A sentence without its end, and how it says that it is over."""

    text: str
    is_past: bool = False
    """Whether its verb says so."""
    is_note: bool = False
    """Whether it has no verb that could, so that the end stands behind it."""


def general(key: str, name: str, value: str, about: Subject, *, chinese: bool, past: bool) -> Said:
    """Return a fact in a language; `key` is that of its predicate, and `name` what that is called there."""
    in_chinese = is_chinese(name)
    kind = "noun" if is_noun(key) else kind_of(name, value)
    if kind == "verb" and in_chinese and chinese:
        return _answered(phrases.joined([about.name, name]), value, chinese=True)
    if kind == "verb" and not (in_chinese or chinese):
        return _clause_english(name.split(), value, about, past=past)
    if kind in {"verb", "clause"}:
        lead = phrases.joined([about.name, "：" if chinese else ": ", name])
        return _answered(lead, value, chinese=chinese, is_note=True)
    if kind == "label" or not about.owner:
        return labelled(name, value, about, chinese=chinese, owned=chinese and in_chinese and kind != "label")
    return (
        _owned_chinese(key, name, value, about)
        if chinese
        else _owned_english(key, name, value, about, past=past)
    )


def labelled(name: str, value: str, about: Subject, *, chinese: bool, owned: bool = True) -> Said:
    """Return a name with its value: "Your goals: …", "Custard Steps, bins: …", 荷叶里的物业费：…."""
    if chinese:
        lead = _of(name, about) if owned else f"{about.name}，"
        return Said(phrases.joined([lead, name, "：", value]), is_note=True)
    lead = about.owner if owned and about.owner else f"{about.name},"
    return Said(f"{lead} {name}: {value}", is_note=True)


def kind_of(name: str, value: str = "") -> Kind:
    """Return what kind of words the name of a property is, beside its value."""
    words = name.casefold().split() or [""]
    if _is_verb_chinese(name) if is_chinese(name) else _verb(words) is not None:
        return "verb"
    if value.casefold() in _ANSWERS or words[-1].endswith(_NO_NOUN):
        return "label"
    is_part = len(words) > 1 and words[-1] in _PREPOSITIONS
    return "clause" if is_part or _is_participle(words) else "noun"


def is_noun(key: str) -> bool:
    """Return whether a predicate is known, and so names a property: those that are verbs have sentences."""
    return key in predicates() or key.endswith(" version")


def is_plural(name: str) -> bool:
    """Return whether the name of a property, or of people, is a plural."""
    last = name.rpartition(" ")[2]
    return last.islower() and singular(last) != last and last not in {"news", "series"}


def _is_participle(words: list[str]) -> bool:
    """Return whether a name ends in a participle: "closed", "fully insured", "currently reading"."""
    *before, last = words
    if last.endswith("ed"):
        return len(last) > _SHORTEST and not last.endswith("eed")
    return last.endswith("ing") and all(word.endswith("ly") for word in before)


def _verb(words: list[str]) -> phrases.Verb | None:
    """Return the verb that a name begins with: "wants to", "reports to", but not "plan" or "use case"."""
    first, *more = words
    goes_on = bool(more) and more[0] in _PREPOSITIONS
    if (verb := phrases.verb_in(first)) is not None:
        return verb if goes_on or not verb.is_noun or first == verb.one else None
    if goes_on and len(words) == 2 and is_plural(first):
        return phrases.Verb(base(first), first, base(first), first)
    return None


def _clause_english(words: list[str], value: str, about: Subject, *, past: bool) -> Said:
    """Return "Ann reports to Bob": a name that begins with a verb goes on with its value."""
    verb = _verb([word.casefold() for word in words])
    form = words[0] if verb is None else verb.form(many=about.many, past=past)
    is_note = verb is not None and verb.past == verb.many != verb.one  # its past is not known
    return _answered(" ".join((about.name, form, *words[1:])), value, chinese=False, is_note=is_note)


def _answered(said: str, value: str, *, chinese: bool, is_note: bool = False) -> Said:
    """Return a clause with its value; of "can swim: yes" what was asked, and "no" behind it."""
    answer = _ANSWERS.get(value.casefold())
    if answer is not None:
        text = said if answer else f"{said}{'：' if chinese else ': '}{value}"
        return Said(text, is_past=True, is_note=is_note or not answer)
    blank = "" if is_chinese(said[-1:]) else " "
    return Said(phrases.joined([said, blank, value]), is_past=True, is_note=is_note)


def _owned_english(key: str, name: str, value: str, about: Subject, *, past: bool) -> Said:
    if holds_many(key):
        kind = name if is_chinese(name) or is_plural(name) else key
        return Said(f"One of {about.owner} {kind}: {value}")
    first, *more = value.split() or [""]
    verb = phrases.verb_in(first)
    is_verb = verb is not None and first == verb.one != verb.many
    is_clause = is_verb or first in _NONE or len(more) >= _LONGEST
    if is_chinese(name) or is_clause:
        return labelled(name, value, about, chinese=False)
    be = ("were" if past else "are") if is_plural(name) else ("was" if past else "is")
    return Said(f"{about.owner} {name} {be} {value}", is_past=True)


def _owned_chinese(key: str, name: str, value: str, about: Subject) -> Said:
    is_name = (is_noun(key) or _OWN_ZH.search(name)) and not holds_many(key)
    if not is_name or _CLAUSE_ZH.search(value):
        return labelled(name, value, about, chinese=True)
    return Said(phrases.joined([_of(name, about), name, "是", value]))


def _of(name: str, about: Subject) -> str:
    """Return whose a property is in Chinese: 你的, 荷叶里的; 你 before 最喜欢的歌手."""
    owner = about.owner or phrases.joined([about.name, "的"])
    owner = owner.removesuffix("的") if _OWN_ZH.search(name) else owner
    return owner.rstrip() if is_chinese(name) else owner


def _is_verb_chinese(name: str) -> bool:
    """Return whether a name in Chinese is one with a verb: 用电脑, and no 用户数; 毕业于."""
    if _GOVERNS_ZH.search(name):
        return True
    match = _VERB_ZH.match(name)
    if match is None:
        return False
    word, part = tagged(name)[0]
    return len(word) <= match.end() or part.startswith(("v", "d"))
