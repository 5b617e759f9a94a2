"""Say facts in sentences, and tell under which heading people look for them."""

from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

from mnemark.extraction.chinese_words import ACQUAINTANCES, HELPERS
from mnemark.extraction.chinese_words import KIN as KIN_ZH
from mnemark.extraction.english_words import KIN, OTHER_PEOPLE, class_of
from mnemark.facts.keys import holds_many, plain_words, predicate_key, singular, subject_key, subjects
from mnemark.facts.labels import is_chinese, label, subject_label
from mnemark.facts.labels import topic as topic_of_predicate
from mnemark.facts.model import Fact
from mnemark.facts.predicates import predicates
from mnemark.memory.curation.topics import topic_of
from mnemark.memory.learning.learned import LearnedFact
from mnemark.present import phrases
from mnemark.present.general import Said, Subject, general, is_noun, is_plural, kind_of, labelled
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
_MARKS_ZH: Final = MappingProxyType({":": "：", ",": "，"})
_DATE: Final = lazy_pattern(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?\Z")
_FAVOURITE: Final = lazy_pattern(r"(?i)^favou?rite (?=\S)")
_PEOPLE_ZH: Final = lazy_pattern(rf"(?:{'|'.join((*KIN_ZH.values(), ACQUAINTANCES, HELPERS))})\Z")
"""What somebody's people are called in Chinese: 叔叔, 上司, 牙医."""
_LEAD: Final = lazy_pattern(r"(?i)^(?:(?P<own>(?:my|our) |我们的?|我的?) *|the +)(?=\S)")


def topic(fact: Fact) -> str:
    """Return the heading under which people look for a fact, one of `TOPICS`."""
    return TOPICS[heading(fact)]


def heading(fact: Fact) -> int:
    """Return the place in `TOPICS` of the heading under which people look for a fact."""
    return _heading(fact.type, fact.subject, fact.predicate, fact.tags)


@lru_cache(maxsize=32_768)  # lists count all facts by heading
def _heading(type: str, subject: str, predicate: str, tags: tuple[str, ...]) -> int:  # noqa: A002 - as in facts
    if subject_key(subject) == "agent":
        return TOPICS.index("Rules for the agent")
    found = topic_of(type, subject, predicate, tags)
    is_of_work = subject_key(subject) != "user" or predicate_key(predicate).endswith(" version")
    return _HEADING["project" if not found and predicate and is_of_work else found]


def sentence(fact: Fact, words: Words) -> str:
    """Return a fact as a sentence to its owner; the value stays in the words it was said in.

    >>> sentence(Fact(id="1", predicate="city", value="Lisbon"), Words("en"))
    'You live in Lisbon.'
    >>> sentence(Fact(id="1", predicate="editor", value="Helix"), Words("zh"))
    '你的编辑器是 Helix。'
    """
    chinese = words.language == "zh"
    value = phrases.bare(fact.value)
    if fact.until and fact.quote == fact.value:  # words that may say that something is over
        return phrases.closed(words(" You said: “{quote}”", quote=value).strip(), chinese=chinese)
    about = _subject(fact, chinese=chinese)
    said = _own_words(fact, value, about, chinese=chinese)
    if said is None:
        if about.you and is_chinese(value) == chinese:
            value = phrases.to_you(value, whole=False) or value
        said = _of_predicate(fact, _shown(value, words), about, chinese=chinese)
    text = phrases.closed(_until(said, fact, words), chinese=chinese)
    text = text if "“" in text else words.dated(text)  # what is quoted stays as it was said
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
    return inside(sentence(fact, words), words)


def words_for(*about: Fact | None) -> Words:
    """Return the words of the language that facts are in: for programs, which choose none."""
    chinese = any(one is not None and is_chinese(f"{one.predicate}{one.value}") for one in about)
    return Words("zh" if chinese else "en")


def inside(text: str, words: Words) -> str:
    """Return a sentence as it stands behind a colon."""
    return text if words.language == "zh" else _lowered(text)


def _until(said: Said, fact: Fact, words: Words) -> str:
    """Return a sentence with the end of what it says."""
    if not fact.until:
        return said.text
    day = words.date(fact.until[:10])
    if said.is_note:
        return words("{said} (until {day})", said=said.text, day=day)
    if words.language == "zh":
        return words("Until {day}, {said}", day=day, said=said.text)
    if said.is_past:
        return f"{said.text} until {day}"
    lead = said.text if said.text[:2].isupper() or said.text.startswith("“") else _lowered(said.text)
    return f"Until {day}, {lead}"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if text.partition(" ")[0].rstrip(",") in _OPENERS else text


def _shown(value: str, words: Words) -> str:
    """Return a value as it stands in a sentence: dates in words."""
    return words.date(value) if _DATE.match(value) else words.dated(value)


def _own_words(fact: Fact, value: str, about: Subject, *, chinese: bool) -> Said | None:
    """Return what was said as a whole sentence, to the one who said it; None for a value of a predicate."""
    whole = not fact.predicate
    if not (whole or phrases.is_sentence(value) or (about.you and _is_spoken(fact, value))):
        return None
    text = phrases.to_you(value) if about.you and is_chinese(value) == chinese else ""
    if text and (whole or text != value):
        return Said(text)
    if not whole:
        name = _label(fact, predicate_key(fact.predicate), chinese=chinese)
        return labelled(name, f"“{value}”", about, chinese=chinese)
    return Said(_statement(fact, value, about, chinese=chinese))


def _statement(fact: Fact, value: str, about: Subject, *, chinese: bool) -> str:
    """Return a sentence as it was said, with who said it or what it is about where it does not tell."""
    if about.you and (fact.origin == "owner" or is_chinese(value) != chinese):
        return f"你说过：“{value}”" if chinese else f"You said: “{value}”"
    tells = about.you or subject_key(fact.subject) == "project" or about.name.casefold() in value.casefold()
    return value if tells else _behind(about.name, value, chinese=chinese)


def _behind(name: str, text: str, *, chinese: bool, mark: str = ":") -> str:
    return f"{name}{_MARKS_ZH[mark]}{text}" if chinese else f"{name}{mark} {text}"


def _is_spoken(fact: Fact, value: str) -> bool:
    """Return whether a value of many begins with a verb of its own: the preference "prefers tea"."""
    first, blank, _ = value.casefold().partition(" ")
    verb = phrases.verb_in(first)
    return bool(blank) and verb is not None and first == verb.one != verb.many and holds_many(fact.predicate)


def _of_predicate(fact: Fact, value: str, about: Subject, *, chinese: bool) -> Said:
    key = predicate_key(fact.predicate)
    row = phrases.row_of(key)
    past = bool(fact.until)
    values = {
        "subject": about.name, "owner": about.owner, "value": value, "a": phrases.with_article(value),
        "some": phrases.counted(value) if is_chinese(value) == chinese else "",
        "n": value if value.isdecimal() else "", "predicate": _label(fact, key, chinese=chinese),
    }  # fmt: skip
    if row is None:
        return general(key, values["predicate"], value, about, chinese=chinese, past=past)
    known = row.chinese if chinese else row.english
    template = next(one for one in known if all(values[name] for name in _FITTING if f"{{{name}}}" in one))
    text = phrases.filled(template, values, many=about.many, past=past).rstrip(".。")
    if "{subject}" not in template and "{owner}" not in template and not about.you:
        mark = "," if template.partition("{")[0] else ":"  # "The project, decided: …"
        text = _behind(about.name, text if chinese else _lowered(text), chinese=chinese, mark=mark)
        return Said(text, is_note=True)
    return Said(text, is_past="<" in template)


def _label(fact: Fact, key: str, *, chinese: bool) -> str:
    """Return the name of a predicate in the language, as far as it has one there: of "married to" a noun."""
    name = " ".join(fact.predicate.replace("_", " ").split())
    name = key if is_noun(key) and kind_of(name) != "noun" else name
    name = _LEAD.sub("", label(name, chinese=chinese))
    if chinese and (rest := _FAVOURITE.sub("", name)) != name:
        return phrases.joined(["最喜欢的", rest])
    return name if chinese or not name[:1].isupper() or name[:2].isupper() else name[:1].lower() + name[1:]


def _subject(fact: Fact, *, chinese: bool) -> Subject:
    key = subject_key(fact.subject)
    if key == "user":
        return Subject(*(("你", "你的") if chinese else ("you", "your")), you=True, many=True)
    said = " ".join(subject_label(fact.subject, chinese=chinese).split()) or fact.subject
    name = _LEAD.sub("", said)
    if key in {"agent", "project"}:
        return _owning(name if chinese else f"the {key}", chinese=chinese)
    lead = _LEAD.match(said)
    if (lead is not None and lead["own"]) or _is_relation(fact, key, name):
        return _owning(
            phrases.joined(["你", name]) if chinese else f"your {name}", chinese=chinese, many=is_plural(name)
        )
    if is_noun(predicate_key(fact.predicate)) or _FAVOURITE.match(fact.predicate):
        return _owning(name, chinese=chinese)
    return Subject(name, "")


def _owning(name: str, *, chinese: bool, many: bool = False) -> Subject:
    if chinese:
        return Subject(name, phrases.joined([name, "的"]), many=many)
    return Subject(name, f"{name}’" if many and name.endswith("s") else f"{name}’s", many=many)


def _is_relation(fact: Fact, key: str, name: str) -> bool:
    """Return whether a subject is one of the owner's people: a wife, a boss; or a cat that is named so."""
    if key in subjects() or key in _relations() or _PEOPLE_ZH.match(name):
        return True
    personal = topic_of_predicate(fact.predicate) in _PERSONAL
    return personal and name[:1].islower() and bool(class_of(name.rpartition(" ")[2]))


@cache
def _relations() -> frozenset[str]:
    """Return the names of people that one has: an uncle, a dentist, a friend."""
    people = [row for row in predicates().values() if row.topic == "people" and row.key != "marital status"]
    names = {name for row in people for name in (row.key, singular(row.key), row.chinese, *row.names)}
    return KIN | OTHER_PEOPLE | frozenset(map(plain_words, names)) - {"relation", "关系"}
