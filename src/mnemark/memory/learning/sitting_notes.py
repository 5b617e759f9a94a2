"""Check what a model notes of a sitting against its turns, and store what holds in the journal.

A note names the turns that it comes from. Its numbers and names, and most of its words, must stand in them;
what they only ask, suppose or deny is no note. Texts of tools and pages are no source.
"""

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

import msgspec

from mnemark.facts.keys import value_words
from mnemark.memory.learning.model_checks import SUPPOSED, is_denied, is_unsaid, sentences_of
from mnemark.memory.learning.model_prompt import Note, SittingAnswer, TurnExcerpt
from mnemark.summary.summary import unfounded
from mnemark.text.dates.ranges import spans
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.redaction.redact import Rules, redact
from mnemark.types import Json

PARTS: Final = ("decided", "done", "open", "next", "observations")
_LAST: Final = frozenset({"open", "next"})
"""Parts of which only the last reading counts: what was open may be done by now."""
_SPOKEN: Final = frozenset({"owner", "agent", "import"})
_TITLE: Final = 80
_LENGTH: Final = 300
_SHARE: Final = 0.5
"""Share of a note's words, by their first letters, that must stand in its turns or just around them."""
_SHORT: Final = 4
_SHORT_SHARE: Final = 0.6
"""The share for a note of at most `_SHORT` words: one that is wrong turns it into its opposite."""
_OWN_SHARE: Final = 0.25
"""Share of them that must stand in its turns, rare words of the sitting counting for more: what the whole
sitting is about stands in many a turn that says something else."""
_COMMONEST: Final = math.log(2)
"""Rarity of a word in every turn, and of the model's own words."""
_BESIDE: Final = 2
"""Turns before those that a note names, to which words such as "it", "there" and "yes" point, and after them,
which go on with what was said."""
_WORD: Final = lazy_pattern(r"[a-z][a-z'-]{2,}", re.IGNORECASE)
_HAN: Final = lazy_pattern(r"[\u4e00-\u9fff]+")
_NUMBER: Final = lazy_pattern(r"\d+(?:[.,:]\d+)*")
_COMMON: Final = frozenset({
    "the", "and", "that", "this", "with", "for", "from", "has", "have", "had", "was", "were", "are", "will",
    "would", "been", "being", "owner", "owner's", "user", "user's", "agent", "agent's", "assistant",
    "their", "them", "they", "his", "him", "her", "she", "its", "who", "which", "when", "where", "into",
    "about", "after", "before", "because", "also", "not", "but", "does", "did", "can", "could", "should",
    "said", "says", "asked", "told", "any", "more", "longer", "never", "don't",
    "mentioned", "mentions", "expressed", "expresses", "expressing", "feels", "felt", "finds", "found",
    "considers", "considering", "believes", "thinks", "thought", "enjoys", "enjoyed", "appreciates",
    "values", "shared", "shares", "recently", "currently", "both", "while", "during", "through", "such",
    "acknowledges", "acknowledged", "admires", "admired", "agrees", "agreed", "asks", "assures", "assured",
    "curious", "discussed", "discusses", "emphasized", "emphasizes", "encouraged", "encourages",
    "enthusiastic", "grateful", "gratitude", "interested", "offered", "offers", "plans", "planning",
    "recommended", "recommends", "suggested", "suggests", "towards", "willing", "willingness", "wishes",
})  # fmt: skip
_ENDING: Final = lazy_pattern(r"(?<=[a-z]{2})(?:ies|es|s|ed|ing|e|y)?(?:'s?)?$")
_ASIDE: Final = lazy_pattern(r"\s[-–—]{1,3}\s|,?\shuh\b")
"""What parts a statement from a question behind it: "I opened a shop - cool, huh?"."""
_ASKS: Final = lazy_pattern(
    rf"(?i)(?:(?:and|but|so|well|ok(?:ay)?),? )*(?:{SUPPOSED}|unless|"
    r"what|who|when|where|why|how|which|do|does|did|is|are|am|was|were|have|has|had|"
    r"can|could|would|will|should|may|might)\b"
)
"""Begins a question or a case that is only thought of: what is behind an aside belongs to it."""
_REPORTS: Final = lazy_pattern(
    r"(?i)\b(?:ask(?:s|ed|ing)?|wonder\w*|curious|interest(?:ed)?|suggest\w*|invit\w*|offer\w*|recommend\w*|"
    r"propos\w*|seek\w*|willing\w*)\b|[问邀]|想知道|好奇|感兴趣|建议|提议|推荐|愿意"
)
"""Tells of a question, or of what is mostly put as one."""
_NEGATION: Final = lazy_pattern(
    r"\b(?:no|not|never|none|nothing|nobody|without|cannot|hardly|any ?more|used to|stop\w*|quit|gave up)\b"
    r"|n['’]t\b|[不没无未别非停戒]",
    re.IGNORECASE,
)
_COMMON_HAN: Final = lazy_pattern(
    "(?:主人|用户|助手|他们?|她们?|自己|表示|提到|认为|希望|计划|打算|目前|已经)"
)


class SourcedNote(msgspec.Struct, frozen=True):
    """A note that holds, with its sources."""

    text: str
    refs: tuple[str, ...]
    turns: tuple[str, ...]
    """Ids of the turns."""
    date: str = ""
    """The ISO date of what it says, where the turns name one."""


class SittingNotes(msgspec.Struct, frozen=True, kw_only=True):
    """What a model noted of a sitting, and holds."""

    title: str = ""
    decided: tuple[SourcedNote, ...] = ()
    done: tuple[SourcedNote, ...] = ()
    open: tuple[SourcedNote, ...] = ()
    next: tuple[SourcedNote, ...] = ()
    observations: tuple[SourcedNote, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing."""
        return not self.title and not any(getattr(self, part) for part in PARTS)


def checked(answer: SittingAnswer, said: Sequence[TurnExcerpt], rules: Rules) -> tuple[SittingNotes, int]:
    """Return the notes that the turns support, redacted, and how many were dropped."""
    found: dict[str, tuple[SourcedNote, ...]] = {}
    dropped, rarity = 0, _rarity(said)
    for part in PARTS:
        given: list[Note] = getattr(answer, part)
        kept = [one for note in given if (one := _sourced(note, said, rules, part, rarity)) is not None]
        found[part] = tuple({one.text: one for one in kept}.values())
        dropped += len(given) - len(kept)
    title = _clean(answer.title, rules).rstrip(".。")
    if title and _is_wrong_title(title, said):
        title, dropped = "", dropped + 1
    return SittingNotes(title=title, **found), dropped


def _is_wrong_title(title: str, said: Sequence[TurnExcerpt]) -> bool:
    text = " \n".join(strip_fences(one.turn.content) for one in said)
    return len(title) > _TITLE or looks_like_instructions(title) or not _holds(title, text)


def _sourced(
    note: Note, said: Sequence[TurnExcerpt], rules: Rules, part: str, rarity: Mapping[str, float]
) -> SourcedNote | None:
    text = _clean(note.text, rules)
    places = [number - 1 for number in dict.fromkeys(note.turns) if 1 <= number <= len(said)]
    named = [said[place] for place in places]
    spoken = [one for one in named if one.turn.origin in _SPOKEN]
    owned = any(one.turn.origin != "agent" for one in spoken)
    needs_owner = part in {"decided", "observations"}  # of the owner's life an agent knows nothing by itself
    if not text or len(text) > _LENGTH or not spoken or (needs_owner and not owned):
        return None
    if "[redacted:" in text or looks_like_instructions(text):
        return None
    words, days = _words(spoken), _days(spoken)
    around = _around(places, said, rarity)
    if not _holds(text, words, around, days) or _is_not_meant(text, words, part):
        return None
    day = note.date if note.date in days else ""
    return SourcedNote(text, tuple(one.ref for one in spoken), tuple(one.turn.id for one in spoken), day)


def _words(said: Iterable[TurnExcerpt]) -> str:
    return " \n".join(strip_fences(one.turn.content) for one in said)


class _Surroundings(NamedTuple):
    """What may explain a turn: the words of the turns beside it, the names of all who speak, rarities."""

    words: str = ""
    speakers: str = ""
    rarity: Mapping[str, float] = {}
    """Of the stems in the sitting."""


_NOTHING: Final = _Surroundings()


def _around(places: Iterable[int], said: Sequence[TurnExcerpt], rarity: Mapping[str, float]) -> _Surroundings:
    near = {at for place in places for at in range(place - _BESIDE, place + _BESIDE + 1)}
    speakers = dict.fromkeys(str(one.turn.meta.get("name") or "") for one in said)
    beside = (one for at, one in enumerate(said) if at in near and one.turn.origin in _SPOKEN)
    return _Surroundings(_words(beside), " ".join(speakers), rarity)


def _holds(text: str, source: str, around: _Surroundings = _NOTHING, days: Iterable[str] = ()) -> bool:
    """Tell whether the words, numbers and names of a note stand in its source, or partly just beside it.

    Dates of `days` may be in the note.
    """
    for day in days:
        text = text.replace(day, "")
    known = f"{source}\n{around.words}\n{around.speakers}"
    if unfounded(text, known) or not set(_NUMBER.findall(text)) <= set(_NUMBER.findall(known)):
        return False
    stems = _stems(text) - _stems(around.speakers)
    own, near = _stems(source), _stems(known)
    pairs = {stem for stem in stems if _HAN.match(stem)}
    return bool(stems) and all(_stands(wanted, own, near, around.rarity) for wanted in (pairs, stems - pairs))


def _stands(wanted: set[str], own: set[str], near: set[str], rarity: Mapping[str, float]) -> bool:
    weights = {stem: rarity.get(stem, _COMMONEST) for stem in wanted}
    said = sum(weights[stem] for stem in wanted & own)
    share = _SHORT_SHARE if len(wanted) <= _SHORT else _SHARE
    return said >= _OWN_SHARE * sum(weights.values()) and len(wanted & near) >= share * len(wanted)


def _rarity(said: Iterable[TurnExcerpt]) -> dict[str, float]:
    """Return the inverse frequency of each stem among the turns that were spoken."""
    spoken = [_stems(_words([one])) for one in said if one.turn.origin in _SPOKEN]
    counts = Counter(stem for stems in spoken for stem in stems)
    return {stem: math.log1p((len(spoken) + 0.5) / (count + 0.5)) for stem, count in counts.items()}


def _stems(text: str) -> set[str]:
    words = (word for word in _WORD.findall(text.casefold()) if word not in _COMMON)
    runs = _HAN.findall(_COMMON_HAN.sub(" ", text))
    stems = {_ENDING.sub("", word)[:4] for word in words}
    return stems | {run[at : at + 2] for run in runs for at in range(len(run) - 1)}


def _is_not_meant(text: str, source: str, part: str) -> bool:
    """Tell whether a note is only asked, supposed or denied by its source, or denies what that does not."""
    wanted = _stems(text)
    parts = [one for sentence in sentences_of(source) for one in _without_aside(sentence)]
    nearest = max(parts, key=lambda one: len(wanted & _stems(one)), default="")
    asked = nearest.rstrip("?？吗呢 ")
    unsaid = is_unsaid(asked if _REPORTS.search(text) else nearest)
    if part not in {"open", "next"} and unsaid:
        return True
    if _NEGATION.search(text) is not None:
        return _NEGATION.search(source) is None
    return is_denied(value_words(text), [nearest])


def _without_aside(sentence: str) -> list[str]:
    """Split a statement from the question behind it; leave what asks from its beginning whole."""
    return [sentence] if _ASKS.match(sentence) else _ASIDE.split(sentence)


def _days(said: Iterable[TurnExcerpt]) -> set[str]:
    """Return the days, as ISO dates, that turns name or were said on."""
    found: set[str] = set()
    for one in said:
        now = one.turn.time
        found.add(f"{now:%Y-%m-%d}")
        for _, _, span in spans(strip_fences(one.turn.content), now):
            # A bare weekday is read as the last one, and may be meant as the next.
            found |= {f"{span.start + timedelta(days=week):%Y-%m-%d}" for week in (0, 7)}
    return found


def _clean(text: str, rules: Rules) -> str:
    shown = redact(strip_fences(text), rules).text.replace("<!--", "<").replace("-->", ">")
    return " ".join(shown.split())


def merged(notes: Iterable[SittingNotes]) -> SittingNotes:
    """Return the notes of the parts of a sitting, in order, as one: its first title, what is open last."""
    parts = list(notes)
    found: dict[str, tuple[SourcedNote, ...]] = {}
    for name in PARTS:
        given = [getattr(one, name) for one in (parts[-1:] if name in _LAST else parts)]
        found[name] = tuple({note.text: note for group in given for note in group}.values())
    return SittingNotes(title=next((one.title for one in parts if one.title), ""), **found)


def payload_of(notes: SittingNotes, session: str, turns: Sequence[str]) -> dict[str, Json]:
    """Return the journal payload of notes on these turns (ids)."""
    content: dict[str, Json] = msgspec.to_builtins(notes)
    return {"session": session, "first": turns[0], "last": turns[-1], "notes": content}


def notes_of(payload: Mapping[str, Json], hidden: Container[str] = ()) -> SittingNotes:
    """Return the notes in a journal payload, without those on turns that are hidden."""
    try:
        notes = msgspec.convert(payload.get("notes"), SittingNotes)
    except msgspec.ValidationError:
        return SittingNotes()
    kept = {
        name: tuple(note for note in getattr(notes, name) if not any(turn in hidden for turn in note.turns))
        for name in PARTS
    }
    return SittingNotes(title=notes.title, **kept)
