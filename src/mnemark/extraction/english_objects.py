"""Tell general objects ("hiking", "the sea") from particular ones ("the idea", "that"), and read lists of them."""

from collections.abc import Sequence
from typing import Final

from mnemark.extraction.english_words import (
    COUNTRIES,
    HABITS,
    REGIONS,
    base_of_gerund,
    class_of,
    gerund,
    word_set,
)
from mnemark.extraction.no_places import is_no_place
from mnemark.text.lazy_pattern import lazy_pattern

POINTING: Final = word_set(
    "it its this that these those them they he she him her his their theirs here there such one ones you your yours yourself "
    "u ur ya y'all same what why whatever something anything everything nothing someone somebody anyone everyone everywhere else "
    "me us myself ourselves mine ours thing today tonight tomorrow yesterday way idea ideas bit part"
)
"""Words that point to what was said before, or to the listener."""
_THE: Final = word_set(
    "summer winter spring fall autumn beach ocean sea outdoors mountains mountain snow rain sun sunshine city country "
    "countryside water woods forest weather gym guitar piano violin drums saxophone cello flute bass harp internet arts "
    "holidays holiday morning mornings evening night dark cold heat opera symphony theater theatre movies bible news park lake desert zoo "
    "ballet library weekend weekends environment earth planet stars moon winters summers summertime galaxy universe "
    "trumpet trombone clarinet banjo ukulele fiddle harmonica organ office military army navy circus rodeo wilderness suburbs "
    "simple rodeo band"
)
"""Nouns that are general with "the"."""
_VAGUE_VERBS: Final = word_set(
    "see hear know think say point mention add make ask thank discuss be get have let tell give hold keep start try need do call seeing "
    "hearing knowing getting having being doing giving thinking talking looking feeling asking putting working sharing helping "
    "look feel share put find finding check checking understand understanding adding using use take taking bring bringing "
    "help show showing focus focusing"
)
"""Verbs that need an object to mean a taste: "seeing", "getting"."""
_TASTE_OBJECTS: Final = word_set(
    "outside outdoors photos pictures photographs tattoos tattooed nails hair pets animals kids children family friends nature people alone dressed active "
    "music movies puzzles friends music history clothes jewelry money art homemade lonely outside books home"
)
_COMPARES: Final = frozenset(
    {"more", "better", "most", "best", "than", "less", "too", "well", "much", "either", "though"}
)
_PREPOSITIONS: Final = word_set(
    "with of for in on at from by about to than between over into near around without after before when while because like as who that which"
)
_FEELINGS: Final = word_set(
    "feedback vibe vibes energy attitude spirit progress suggestion suggestions approach version option answer question photo "
    "pic picture pictures pics photos view result results plan plans style enthusiasm detail details message messages support advice words look "
    "example point thought thoughts concept theme perspective work effort efforts passion story stories series design"
)
_PAIRS: Final = frozenset({
    ("mac", "cheese"), ("rock", "roll"), ("black", "white"), ("fish", "chips"), ("salt", "pepper"), ("arts", "crafts"),
    ("peanut butter", "jelly"), ("macaroni", "cheese"), ("family", "friends"), ("friends", "family"), ("spaghetti", "meatballs"),
    ("country", "western"), ("dungeons", "dragons"), ("bed", "breakfast"), ("drum", "bass"),
})  # fmt: skip
_SHARED_HEADS: Final = word_set(
    "movies films music books games food foods flavors sports shows novels songs cars drinks dishes cuisine art clothes strategies "
    "approaches languages teas wines stories tv hair sauce cheese"
)
"""Nouns that the words on both sides of "and" go with: "action and horror movies"."""
_ADJECTIVE: Final = lazy_pattern(
    r"(?:ful|ive|ous|able|ible|forward|less|fresh|big|small|simple|short|quiet|warm|cold|dark|concise|clear|spicy|crispy|salty|direct)$"
)
_NAMED: Final = word_set(
    "movie movies film band group show series book books novel author game games song singer team brand musical actor artist"
)
_MOST_WORDS: Final = 8
_ARTICLES: Final = frozenset({"a", "an", "the", "some"})
_SPLIT: Final = lazy_pattern(r",? and (?:also )?|, ?| ?& ?")


def joined(words: Sequence[str]) -> str:
    """Join words to a value; marks stand close to the word before them."""
    text = ""
    for word in words:
        close = word in {",", ".", "'s", ")", "!", ":", ";", "-"} or (text.endswith(("(", "-")))
        text += word if close or not text else f" {word}"
    return text.strip(" .,;:!-")


def is_general(words: Sequence[str], *, longest: int = _MOST_WORDS, lenient: bool = False) -> bool:
    """Return whether words name something general: no pronoun, nothing that only this talk knows.

    `lenient` takes "the" and "my" with any noun, as in "the local shelter".
    """
    low = [word.casefold() for word in words]
    if (
        not 1 <= len(low) <= longest
        or POINTING & set(low)
        or low[-1] in _COMPARES
        or low[-1] in _PREPOSITIONS
    ):
        return False
    if {"more", "better", "than", "?", "if"} & set(low) or (len(low) == 1 and len(low[0]) < 2):
        return False
    for at, word in enumerate(low[:-1]):
        following = low[at + 1]
        if word == "the" and not lenient and not _is_known(words, at):
            return False
        if word in {"my", "our"} and not (lenient or class_of(following)):
            return False
    return True


def _is_known(words: Sequence[str], at: int) -> bool:
    """Return whether what "the" names is known to everyone: the sea, the Beatles, the color blue."""
    following = words[at + 1].casefold()
    kind = following in _NAMED and at + 2 < len(words) and words[at + 2][:1].isupper()
    proper = words[at + 1][:1].isupper() or kind
    color = (
        following in {"color", "colour"}
        and at + 2 < len(words)
        and words[at + 2].casefold() not in {"and", "of", "on", "in"}
    )
    final = at + 2 == len(words) or words[at + 2].casefold() in _PREPOSITIONS | {
        "and",
        ",",
        "or",
        "life",
        "months",
        "weather",
        "holidays",
        "band",
        "team",
    }
    return (
        (following in _THE and final)
        or proper
        or color
        or words[-1].casefold() in {"outdoors", "ocean", "beach", "countryside", "mountains"}
    )


def is_taste(words: Sequence[str]) -> bool:
    """Return whether words name what people like or dislike in general, "hiking" but not "hearing from Ann"."""
    low = [word.casefold() for word in words]
    if low[:1] == ["to"]:
        low, words = low[1:], words[1:]
    if not is_general([word for word in words if word.casefold() != "my"]) or low[0] in {
        "to",
        "for",
        "with",
        "as",
        "about",
        "at",
        "on",
        "if",
        "when",
        "and",
        "or",
        "n't",
        "'s",
    }:
        return False
    if low[-1] in _FEELINGS and len(low) < 4:
        return False
    if low[:2] in (
        ["try", "new"],
        ["trying", "new"],
        ["working", "out"],
        ["work", "out"],
        ["talking", "about"],
    ):
        return True
    return low[0] not in _VAGUE_VERBS or bool(set(low[1:]) & _TASTE_OBJECTS) or class_of(low[-1]) != ""


def values(words: Sequence[str]) -> list[str]:
    """Return the values of a list of objects, verbs in -ing: "to sing and dance" is singing, dancing."""
    to = words[0].casefold() == "to"
    words = words[1:] if to else words
    text = joined(words)
    parts = [part.strip() for part in _SPLIT.split(text)]
    pair = tuple(part.casefold() for part in parts) in _PAIRS
    low = [part.casefold().split() for part in parts]
    bound = any(set(part[1:]) & _PREPOSITIONS for part in low[:-1]) or any(
        not part or len(part) > 4 for part in low
    )
    bound = bound or (
        len(parts) > 1
        and (
            (low[-1][-1] in _SHARED_HEADS and len(low[-1]) > 1)
            or low[-1][-1] in _COMPARES
            or _ADJECTIVE.search(low[0][-1]) is not None
        )
    )
    if len(parts) > 1 and (pair or bound or any(part[0] in _PREPOSITIONS | {"or", "but"} for part in low)):
        parts, low = [text], [text.casefold().split()]
    verbs = to and all(part[0] in HABITS or len(parts) == 1 for part in low)
    if to and not verbs:
        parts = [text]
    found = []
    for part in parts:
        first, space, more = part.partition(" ")
        if to:
            first = gerund(first.casefold())
        elif first.casefold() in _ARTICLES and more:
            first, space = ("", "") if first.casefold() != "the" or more[:1].islower() else (first, space)
        found.append(f"{first}{space}{more}")
    return [value for value in found if value]


def place(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the predicate ("city", "region", "country") and the name of a place; None if it names none.

    >>> place(("celebration", "florida")), place(("Oslo",)), place(("a", "cabin")), place(("Redux",))
    (('city', 'Celebration Florida'), ('city', 'Oslo'), None, None)
    """
    low = [word.casefold() for word in words]
    if is_no_place(" ".join(words)):
        return None
    if (
        low
        and low[0] == "the"
        and " ".join(low[1:])
        in {"us", "usa", "uk", "united states", "netherlands", "philippines", "united kingdom", "midwest"}
    ):
        low, words = low[1:], words[1:]
    name = " ".join(low)
    if name in COUNTRIES:
        return "country", name.upper() if name in {"us", "usa", "uk"} else _title(words)
    if name.removeprefix("upstate ").removeprefix("northern ").removeprefix("southern ") in REGIONS:
        return "region", _title(words)
    proper = all(word[:1].isupper() or word == "," or word.isdecimal() for word in words)
    known = len(low) > 1 and (low[-1] in REGIONS or low[-1] in COUNTRIES)
    plain = (
        len(low) == 1
        and low[0].isalpha()
        and len(low[0]) > 3
        and low[0] not in _NO_PLACE
        and not low[0].endswith(("ing", "ly"))
    )
    if 1 <= len(low) <= 5 and low[0] not in _ARTICLES | {"my", "our", "your"} and (proper or known or plain):
        return "city", _title(words)
    return None


_NO_PLACE: Final = word_set(
    "peace fear harmony poverty luxury style hope darkness town dorms apartments suburbs nature college campus school here there "
    "isolation solitude silence sync line touch comfort chaos memory theory reality squalor jail prison hiding public private bed "
    "housing rural urban downtown abroad overseas somewhere anywhere alone together happily different another bliss denial exile one two three "
    "cities places houses caves general love life work things home heaven hell space constant student "
)


def _title(words: Sequence[str]) -> str:
    text = joined([word if word[:1].isupper() else word.capitalize() for word in words])
    return text.replace(" Of ", " of ").replace(" The ", " the ")


def verb_phrase(verb: str, rest: Sequence[str]) -> str:
    """Return a verb in -ing with its object, as a value."""
    return joined([gerund(base_of_gerund(verb) if verb.endswith("ing") else verb), *rest])
