"""Say facts in sentences, and tell under which heading people look for them."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from mnemark.facts.keys import holds_many, plain_words, predicate_key, singular, subject_key, subjects
from mnemark.facts.labels import is_chinese, label, subject_label
from mnemark.facts.labels import topic as topic_of_predicate
from mnemark.facts.model import Fact
from mnemark.facts.predicates import predicates
from mnemark.memory.curation.topics import topic_of
from mnemark.memory.learning.learned import LearnedFact
from mnemark.present import phrases
from mnemark.present.words import Words
from mnemark.text.lazy_pattern import lazy_pattern

TOPICS: Final = (
    "About you", "People", "Work", "Home and places", "Tastes", "Health", "Plans", "Rules for the agent",
    "Projects and tools", "Other",
)  # fmt: skip
"""Headings in the order in which people read them; `words` translates them."""
_HEADING: Final = MappingProxyType(
    {
        "self": 0, "beliefs": 0, "habits": 0, "events": 0, "people": 1, "pets": 1, "work": 2, "study": 2,
        "skills": 2, "home": 3, "possessions": 3, "tastes": 4, "food": 4, "leisure": 4, "health": 5,
        "plans": 6, "travel": 6, "rule": 7, "skill": 7, "error": 8, "tools": 8, "project": 8, "": 9,
    }
)  # fmt: skip
"""Numbers of the headings by what facts are about."""
_PERSONAL: Final = frozenset(
    {"self", "people", "home", "work", "study", "health", "food", "tastes", "leisure", "skills"}
    | {"habits", "beliefs", "possessions", "pets", "plans"}
)
"""What is only said of somebody."""
_FITTING: Final = ("a", "some", "n")
"""Places that only some values fit in."""
_OPENERS: Final = frozenset(
    {"You", "Your", "You’re", "You're", "One", "The", "A", "An", "Until", "To", "Decided:"}
)
"""Words that are capitals only because they begin a sentence."""
_DATE: Final = lazy_pattern(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?\Z")
_FAVOURITE: Final = lazy_pattern(r"(?i)^favou?rite (?=\S)")
_LEAD: Final = lazy_pattern(r"(?i)^(?:my|our|the|我的?|我们的?)\s*(?=\S)")
_NAME_ZH: Final = lazy_pattern("^最")
_VERB_ZH: Final = lazy_pattern(
    "^(?:不|没|想|会|要|在|有|爱|养|用|住|去过?|来自|喜欢|讨厌|需要|正在|参加|使用|知道|认识|打算|希望|擅长|"
    r"害怕|相信|觉得|认为|经常|每[天周月年]|应该|必须|能|可以|已经|属于|负责|对)(?!.*[的者员率量度])"
)


class _Subject(NamedTuple):
    """What a fact is about, as a sentence names it."""

    name: str
    owner: str
    """Such as "your wife's"; empty for a thing."""
    you: bool = False
    many: bool = False


def topic(fact: Fact) -> str:
    """Return the heading under which people look for a fact, one of `TOPICS`."""
    if subject_key(fact.subject) == "agent":
        return TOPICS[7]
    found = topic_of(fact)
    is_of_work = subject_key(fact.subject) != "user" or predicate_key(fact.predicate).endswith(" version")
    return TOPICS[_HEADING["project" if not found and fact.predicate and is_of_work else found]]


def sentence(fact: Fact, words: Words) -> str:
    """Return a fact as a sentence to its owner; the value stays in the words it was said in.

    >>> sentence(Fact(id="1", predicate="city", value="Lisbon"), Words("en"))
    'You live in Lisbon.'
    >>> sentence(Fact(id="1", predicate="editor", value="Helix"), Words("zh"))
    '你的编辑器是 Helix。'
    """
    chinese = words.language == "zh"
    value = phrases.bare(fact.value)
    about = _subject(fact, chinese=chinese)
    said = _own_words(fact, value, about, chinese=chinese)
    if said is None:
        if about.you and is_chinese(value) == chinese:
            value = phrases.to_you(value, whole=False) or value
        said = _of_predicate(fact, _shown(value, words), about, chinese=chinese)
    text = phrases.closed(_until(said, fact, words), chinese=chinese)
    return text if chinese else phrases.capital(text)


def learned(found: LearnedFact, words: Words) -> str:
    """Return what was learned of a turn as a sentence."""
    tags = (found.topic,) if found.topic else ()
    fact = Fact(
        id=found.id, subject=found.subject, predicate=found.predicate, value=found.value, type=found.type,
        origin="owner", tags=tags,
    )  # fmt: skip
    return sentence(fact, words)


def clause(fact: Fact, words: Words) -> str:
    """Return a fact as it stands behind a colon: "Learned: you live in Lisbon."."""
    text = sentence(fact, words)
    return text if words.language == "zh" else _lowered(text)


class _Said(NamedTuple):
    """A sentence without its end, and whether its verb says that it is over."""

    text: str
    is_past: bool = False


def _until(said: _Said, fact: Fact, words: Words) -> str:
    """Return a sentence with the end of what it says."""
    if not fact.until:
        return said.text
    day = words.date(fact.until[:10])
    if words.language == "zh":
        return words("Until {day}, {said}", day=day, said=said.text)
    if said.is_past:
        return f"{said.text} until {day}"
    lead = said.text if said.text[:2].isupper() or said.text.startswith("“") else _lowered(said.text)
    return f"Until {day}, {lead}"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if text.partition(" ")[0] in _OPENERS else text


def _shown(value: str, words: Words) -> str:
    """Return a value as it stands in a sentence: a date in words."""
    return words.date(value) if _DATE.match(value) else value


def _own_words(fact: Fact, value: str, about: _Subject, *, chinese: bool) -> _Said | None:
    """Return what was said as a whole sentence, to the one who said it; None for a value of a predicate."""
    whole = not fact.predicate
    if not (whole or phrases.is_sentence(value) or (about.you and _is_spoken(fact, value))):
        return None
    text = phrases.to_you(value) if about.you and is_chinese(value) == chinese else ""
    if text and (whole or text != value):
        return _Said(text)
    tell = _statement if whole else _named
    return _Said(tell(fact, value, about, chinese=chinese))


def _statement(fact: Fact, value: str, about: _Subject, *, chinese: bool) -> str:
    """Return a sentence as it was said, with who said it or what it is about where it does not tell."""
    if about.you and (fact.origin == "owner" or is_chinese(value) != chinese):
        return f"你说过：“{value}”" if chinese else f"You said: “{value}”"
    tells = about.you or subject_key(fact.subject) == "project" or about.name.casefold() in value.casefold()
    return value if tells else _behind(about.name, value, chinese=chinese)


def _behind(name: str, text: str, *, chinese: bool) -> str:
    return f"{name}：{text}" if chinese else f"{name}: {text}"


def _is_spoken(fact: Fact, value: str) -> bool:
    """Return whether a value of many begins with a verb of its own: the preference "prefers tea"."""
    first = value.partition(" ")[0].casefold()
    verb = phrases.verb_in(first)
    return verb is not None and first == verb.one != verb.many and holds_many(fact.predicate)


def _named(fact: Fact, value: str, about: _Subject, *, chinese: bool) -> str:
    """Return a fact whose value does not fit into a sentence: "Your goals: …"."""
    name, value = _label(fact, chinese=chinese), f"“{value}”"
    owner = about.owner or f"{about.name}{'，' if chinese else ', '}"
    return phrases.joined([owner, name, "：", value]) if chinese else f"{_spaced(owner)}{name}: {value}"


def _spaced(owner: str) -> str:
    return owner if owner.endswith(" ") else f"{owner} "


def _of_predicate(fact: Fact, value: str, about: _Subject, *, chinese: bool) -> _Said:
    key = predicate_key(fact.predicate)
    row = phrases.row_of(key)
    past = bool(fact.until)
    values = {
        "subject": about.name, "owner": about.owner or f"{about.name}{' 的' if chinese else ''}",
        "value": value, "a": phrases.with_article(value),
        "some": phrases.counted(value) if is_chinese(value) == chinese else "",
        "n": value if value.isdecimal() else "",
        "predicate": _label(fact, chinese=chinese),
    }  # fmt: skip
    if row is None:
        return (_general_chinese if chinese else _general_english)(fact, key, values, about)
    known = row.chinese if chinese else row.english
    template = next(one for one in known if all(values[name] for name in _FITTING if f"{{{name}}}" in one))
    text = phrases.filled(template, values, many=about.many, past=past).rstrip(".。")
    if "{subject}" not in template and "{owner}" not in template and not about.you:
        text = _behind(about.name, text if chinese else _lowered(text), chinese=chinese)
    return _Said(text, is_past="<" in template)


def _general_chinese(_: Fact, key: str, values: Mapping[str, str], about: _Subject) -> _Said:
    """Return a fact of a predicate without a sentence of its own."""
    name, value = values["predicate"], values["value"]
    if _VERB_ZH.search(name):
        return _Said(phrases.joined([about.name, name, value]))
    if not about.owner:
        mark = "包括" if holds_many(key) else "是"
        return _Said(phrases.joined([about.name, "：", name, mark, value]))
    owner = about.owner.removesuffix("的") if _NAME_ZH.search(name) else about.owner
    mark = "：" if holds_many(key) else "是"
    return _Said(phrases.joined([owner.rstrip() if is_chinese(name) else owner, name, mark, value]))


def _general_english(fact: Fact, key: str, values: Mapping[str, str], about: _Subject) -> _Said:
    name, value, past = values["predicate"], values["value"], bool(fact.until)
    first, blank, rest = name.partition(" ")
    if (verb := phrases.verb_in(first)) is not None:
        form = verb.form(many=about.many, past=past)
        return _Said(f"{about.name} {form}{blank}{rest} {value}", is_past=True)
    if holds_many(key):
        kind = key if key in predicates() and not is_chinese(name) else name
        many = f"One of {about.owner} {kind}: {value}"
        return _Said(many if about.owner else f"{about.name}: the {kind} include {value}")
    be = ("were" if past else "are") if _is_plural(name) else ("was" if past else "is")
    owner = about.owner or f"{about.name}: the"
    return _Said(f"{owner} {name} {be} {value}", is_past=True)


def _is_plural(name: str) -> bool:
    last = name.rpartition(" ")[2]
    return last.islower() and singular(last) != last and last not in {"news", "series"}


def _label(fact: Fact, *, chinese: bool) -> str:
    """Return the name of a predicate in the language, as far as it has one there."""
    name = " ".join(fact.predicate.replace("_", " ").split())
    name = _LEAD.sub("", label(name, chinese=chinese))
    if chinese and (rest := _FAVOURITE.sub("", name)) != name:
        return phrases.joined(["最喜欢的", rest])
    return name if chinese or not name[:1].isupper() or name[:2].isupper() else name[:1].lower() + name[1:]


def _subject(fact: Fact, *, chinese: bool) -> _Subject:
    key = subject_key(fact.subject)
    if key == "user":
        return _Subject(*(("你", "你的") if chinese else ("you", "your")), you=True, many=True)
    name = _LEAD.sub("", " ".join(subject_label(fact.subject, chinese=chinese).split())) or fact.subject
    if key in {"agent", "project"}:
        return _owning(name if chinese else f"the {key}", chinese=chinese)
    if _is_relation(fact, key, name):
        return _owning(f"你{name}" if chinese else f"your {name}", chinese=chinese, many=_is_plural(name))
    if topic_of_predicate(fact.predicate) in _PERSONAL:
        return _owning(name, chinese=chinese)
    return _Subject(name if chinese or " " not in name else phrases.capital(name), "")


def _owning(name: str, *, chinese: bool, many: bool = False) -> _Subject:
    if chinese:
        return _Subject(name, phrases.joined([name, "的"]), many=many)
    return _Subject(name, f"{name}’" if many and name.endswith("s") else f"{name}’s", many=many)


def _is_relation(fact: Fact, key: str, name: str) -> bool:
    """Return whether a subject is one of the owner's people: a wife, a boss; or a cat that is named so."""
    if key in subjects() or key in _relations():
        return True
    personal = topic_of_predicate(fact.predicate) in _PERSONAL
    return personal and name.isascii() and name.replace(" ", "").islower()


@cache
def _relations() -> frozenset[str]:
    """Return the names of people that one has: a dentist, a friend, 朋友."""
    people = [row for row in predicates().values() if row.topic == "people" and row.key != "marital status"]
    names = {name for row in people for name in (row.key, singular(row.key), row.chinese, *row.names)}
    return frozenset(map(plain_words, names)) - {"relation", "关系"}
