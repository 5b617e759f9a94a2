"""Parse an English clause about the speaker or a relative: who, in which tense, does what, to what.

A shallow grammar: subject, adverbs, auxiliaries and negation, verb, and the rest as words. It takes the
spelling of chats ("im", "dont"). What it cannot read is no clause.
"""

from typing import Final, NamedTuple

from mnemark.extraction.abbreviations import ABBREVIATED, GOES_ON, NAME_FOLLOWS
from mnemark.extraction.english_words import KIN, base, base_of_gerund, class_of, singular, word_set
from mnemark.text.lazy_pattern import lazy_pattern

MOST_WORDS: Final = 40
"""Maximum words of a clause; a longer one tells a story."""


class Said(NamedTuple):
    """A parsed clause."""

    subject: str
    """"I", "we", or the noun of what is the speaker's: "sister", "dog", "favorite color"."""
    name: str
    """The name beside the noun: "Anna" in "my sister Anna"; else ""."""
    tense: str
    """"present", "past", "perfect", "progressive", "will", "can", "would"."""
    negative: bool
    ended: bool
    """Said to hold no longer: "no longer", "any more", "used to"."""
    verb: str
    """The base form."""
    rest: tuple[str, ...]
    """The words behind the verb, as written."""

    @property
    def own(self) -> bool:
        """Whether the speaker is the subject."""
        return self.subject in {"I", "we"}

    @property
    def low(self) -> tuple[str, ...]:
        """The rest in small letters."""
        return tuple(word.casefold() for word in self.rest)


_LEAD: Final = lazy_pattern(
    r"(?i)^(?:(?:well|also|and|so|but|yeah|yes|yep|no|nope|oh|ah|hi|hello|hey|hiya|hi there|hey there|btw|by the way|actually|ok|okay|sure|anyway|plus|honestly|"
    r"personally|fyi|for me|in general|to be honest|for the record|just so you know|true|right|hmm+|um+|wow|cool|nice|haha+|"
    r"because|since|though|although|please note that|note that|me too|good question|as for me|in fact|of course|obviously|overall)\b(?:[,.!:;]+| -+)? *)+"
)
HABITUAL: Final = lazy_pattern(
    r"(?i)^(?:sometimes|often|usually|normally|typically|generally|occasionally|most (?:days|nights|mornings|evenings|weekends)|"
    r"(?:in|during) my (?:free|spare|down) ?time|(?:on|at|over) (?:the )?(?:weekends?|holidays)|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|"
    r"every (?:other )?\w+(?: (?:morning|evening|night|afternoon))?|in the (?:summers?|winters?|mornings?|evenings?|spring|fall|autumn|afternoons?)|at night|"
    r"for (?:a living|work|fun|exercise)|as a (?:hobby|child|kid|teen|teenager|job|rule)|when i was (?:a (?:kid|child|baby|teen|teenager|boy|girl|student)|little|young|younger|"
    r"\d{1,2}|in (?:high school|college))|growing up|during the (?:day|week|summer|winter)|after work|before bed|as an adult|on my days? off|in my youth|"
    r"in (?:19|20)\d\d),? (?=\w)"
)
"""Opens a sentence about a habit or about the past: "in my free time,"."""
_WORD: Final = lazy_pattern(r"[^\W_](?:[\w'&+/#%-]|\.(?=\w))*+|[$€£]\d[\d.,]*|[^\w\s]")
_STAY: Final = lazy_pattern(r"(?i)\bstay at home(?= \w)")
_SPELLED: Final = {
    "i": ("I",), "im": ("I", "am"), "i'm": ("I", "am"), "i've": ("I", "have"), "ive": ("I", "have"), "i'd": ("I", "would"),
    "i'll": ("I", "will"), "ill": ("I", "will"), "we're": ("we", "are"), "we've": ("we", "have"), "we'd": ("we", "would"),
    "we'll": ("we", "will"), "dont": ("do", "not"), "doesnt": ("does", "not"), "didnt": ("did", "not"),
    "cant": ("can", "not"), "can't": ("can", "not"), "cannot": ("can", "not"), "won't": ("will", "not"),
    "wont": ("will", "not"), "isnt": ("is", "not"), "wasnt": ("was", "not"), "arent": ("are", "not"),
    "havent": ("have", "not"), "hasnt": ("has", "not"), "gonna": ("going", "to"), "wanna": ("want", "to"),
    "couldnt": ("could", "not"), "ain't": ("am", "not"), "favourite": ("favorite",), "favourites": ("favorites",), "favorit": ("favorite",),
}  # fmt: skip
_ADVERBS: Final = word_set(
    "also really actually always usually often sometimes still currently now mostly generally typically normally regularly "
    "frequently only absolutely truly definitely simply personally especially occasionally mainly primarily particularly "
    "both all just recently finally already ever kinda sorta very quite totally completely honestly truthfully secretly "
    "originally officially basically naturally proudly happily daily even probably very totally usualy never rarely seldom hardly "
    "barely too myself genuinely obviously sadly unfortunately luckily literally do actively legally formerly previously once"
)
_NOT: Final = frozenset({"not", "never", "n't", "hardly", "rarely", "seldom", "barely"})
_POSSESSIVE: Final = frozenset({"my", "our"})
_BEFORE_KIN: Final = word_set(
    "older younger elder eldest oldest youngest big little twin best late ex new old only first second third two three four five "
    "six both middle pet biological step foster adopted grown adult amazing lovely beautiful dear great half baby year-old own "
    "current former female male black white brown"
)


def words(clause: str) -> list[str]:
    """Return the words of a clause, chat spelling and contractions spelled out; at most `MOST_WORDS` + 1."""
    found: list[str] = []
    text = _STAY.sub("stay-at-home", clause)
    for match in _WORD.finditer(text):
        word = match[0]
        low = word.casefold()
        if word == "." and _abbreviates(found, text, match.end()):
            found[-1] += word
        elif low in _SPELLED:
            found += _SPELLED[low]
        elif low.endswith("n't") and len(low) > 4:
            found += (low[:-3], "not")
        elif low.endswith("'s") and len(low) > 2:
            found += (word[:-2], "'s")
        else:
            found.append(word)
        if len(found) > MOST_WORDS:
            break
    return found


def _abbreviates(found: list[str], text: str, end: int) -> bool:
    """Return whether the full stop that ends there belongs to the word before: "St. Lucas", "Acme Inc. in Ghent"."""
    match = ABBREVIATED.fullmatch(found[-1]) if found else None
    if match is None or text[end - 2 : end - 1].isspace():
        return False
    if match["title"]:
        return NAME_FOLLOWS.match(text, end) is not None
    if match["initial"]:  # "J. Smith", but not "in Washington D.C. Ann told me"
        first = len(found) == 1 or not found[-2][:1].isupper() or found[-2].endswith(".")
        return first and NAME_FOLLOWS.match(text, end) is not None
    return GOES_ON.match(text, end) is not None


def without_lead(text: str) -> str:
    """Remove greetings and fillers from the start: "Yeah, also I ski" is "I ski"."""
    return _LEAD.sub("", text, count=1).lstrip()


def parse(clause: str) -> Said | None:
    """Parse a clause; None if its subject is neither the speaker nor what is theirs, or it is too long.

    >>> said = parse("I dont play the piano any more")
    >>> said.verb, said.rest, said.ended
    ('play', ('the', 'piano'), True)
    >>> said = parse("my sister Anna works at a bank")
    >>> said.subject, said.name, said.verb
    ('sister', 'Anna', 'work')
    """
    text = HABITUAL.sub("", without_lead(clause), count=1)
    found = words(text)
    if not 2 <= len(found) <= MOST_WORDS:
        return None
    first = found[0].casefold()
    if found[0] == "I" or first == "we":
        return _verb(found[0] if found[0] == "I" else "we", "", found[1:])
    if first in _POSSESSIVE:
        return _theirs(found)
    return None


def _theirs(found: list[str]) -> Said | None:  # noqa: C901, PLR0911 - one question a wording
    """Parse "my <noun> [name] <verb> ..."; "my wife and I" is "we"."""
    low = [word.casefold() for word in found]
    if "I" in found[:8] and "and" in low[: found.index("I")] and class_of(low[1]):
        return _verb("we", "", found[found.index("I") + 1 :])
    end = 1
    while end < len(found) - 1 and end < 6 and low[end] in _BEFORE_KIN and not _is_verb(low[end]):
        end += 1
    noun = low[end]
    if noun == "'s" or not noun[0].isalpha():
        return None
    subject = " ".join(
        [
            *(word for word in low[1:end] if word in {"best", "older", "younger", "ex"}),
            noun if noun == "parents" else singular(noun),
        ]
    )
    at = end + 1
    if found[at : at + 1] == ["'s"] and low[at + 1 : at + 2] == ["name"] and len(found) > at + 3:
        return _verb(f"{singular(noun)} name", "", found[at + 2 :])
    if low[at : at + 1] == ["name"] and noun.endswith("s") and class_of(noun) and len(found) > at + 2:
        return _verb(f"{singular(noun)} name", "", found[at + 1 :])  # "my husbands name is carl"
    if singular(noun) in KIN or class_of(noun) in {"animal", "person"}:
        name: list[str] = []
        after = at + (at < len(found) and found[at] == ",")
        while after < len(found) and found[after][:1].isupper() and found[after] != "I" and len(name) < 2:
            name.append(found[after])
            after += 1
        if low[at : at + 1] == ["and"] and class_of("".join(low[at + 1 : at + 2])) and len(found) > at + 2:
            return _verb("parents" if class_of(noun) == "parent" else "family", "", found[at + 2 :])
        if name:
            at = after + (after < len(found) and found[after] == ",")
        return _verb(subject, " ".join(name), found[at:])
    while at < min(len(found) - 1, end + 4) and not _is_verb(low[at]) and low[at].isalpha():
        at += 1
    said = _verb(" ".join(low[1:at]), "", found[at:])
    if said is not None and said.tense in {"progressive", "was"}:  # "my hobbies are baking and cooking"
        return said._replace(tense="present", verb="be", rest=_without_verb(found[at:]))
    return said


def _without_verb(found: list[str]) -> tuple[str, ...]:
    """Return the words behind a form of "be"."""
    low = [word.casefold() for word in found]
    at = next((at for at, word in enumerate(low) if word in {"is", "are", "was", "were", "'s", "'re"}), 0)
    return tuple(_without_end(found[at + 1 :])[0])


def _is_verb(word: str) -> bool:
    return word in {
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "'s",
        "'re",
        "do",
        "does",
        "did",
        "will",
        "can",
        "include",
        "includes",
    }


def _verb(subject: str, name: str, found: list[str]) -> Said | None:  # noqa: C901 - one question a wording
    """Parse what follows the subject."""
    at, tense, negative, ended = 0, "", False, False
    while at < len(found):
        word = found[at].casefold()
        following = found[at + 1].casefold() if at + 1 < len(found) else ""
        if word == "no" and following == "longer":
            ended, at = True, at + 2
        elif word in _NOT:
            negative, at = True, at + 1
        elif word in {"do", "does"} and following in _NOT | {"still"}:
            at += 1
        elif word == "did" and following == "not":
            tense, at = "past", at + 1
        elif word in {"will", "would", "could", "should", "might", "must", "may"}:
            tense, at = "will" if word == "will" else "would", at + 1
        elif word == "can":
            tense, at = "can", at + 1
        elif word == "used" and following == "to":
            tense, ended, at = "past", True, at + 2
        elif word in _ADVERBS and word != "do":
            at += 1
        elif word in {"kind", "sort"} and following == "of":
            at += 2
        else:
            break
    if at >= len(found):
        return None
    return _main_verb(subject, name, found[at:], tense, negative=negative, ended=ended)


def _main_verb(
    subject: str, name: str, found: list[str], tense: str, *, negative: bool, ended: bool
) -> Said | None:
    word = found[0].casefold()
    rest = found[1:]
    while rest and (low := rest[0].casefold()) in _ADVERBS | _NOT | {"no"}:
        if low == "no" and not (len(rest) > 1 and rest[1].casefold() == "longer"):
            break
        if low == "very" or low in {"only", "all", "both"}:
            break
        ended = ended or low == "no"
        negative = negative or (low in _NOT and low != "'s")
        rest = rest[2:] if low == "no" else rest[1:]
    word = "is" if word in {"'s", "'re"} else word
    verb = base(word)
    past = word != verb and not word.endswith("s") and verb != "be" and word not in {"am", "are"}
    past = past or word in {"was", "were", "did", "had"}
    if not tense:
        tense = "past" if past or word == "quit" else "present"
    if not rest and verb in {"be", "have", "do"}:
        return None
    if (
        verb == "be"
        and tense in {"present", "past"}
        and rest
        and rest[0].casefold().endswith("ing")
        and len(rest[0]) > 4
    ):
        verb, rest, tense = base_of_gerund(rest[0]), rest[1:], "progressive" if tense == "present" else "was"
    elif verb == "have" and word != "had" and rest and _participle(rest[0]) and tense == "present":
        verb, tense, rest = base(rest[0]), "perfect", rest[1:]
        if verb == "be" and rest and rest[0].casefold().endswith("ing") and len(rest[0]) > 4:
            verb, rest = base_of_gerund(rest[0]), rest[1:]
    cut = next(
        (
            at
            for at, word in enumerate(rest)
            if (at and word.casefold() in _TURNS)
            or (word == "," and [one.casefold() for one in rest[at + 1 : at + 2]] == ["so"])
        ),
        len(rest),
    )
    rest, closed = _without_end(rest[:cut])
    return Said(
        subject,
        name,
        tense,
        negative and not closed and not ended,
        ended or (closed and negative),
        verb,
        tuple(rest),
    )


def _participle(word: str) -> bool:
    low = word.casefold()
    return low in {
        "been", "had", "done", "gone", "got", "gotten", "taught", "lost", "met", "taken", "written", "won", "run", "become", "made", "known",
        "seen", "eaten", "driven", "ridden", "spoken", "sung", "swum", "built", "bought", "sold", "left", "read", "grown", "kept", "broken", "worn",
        "quit", "given", "fallen", "let", "put", "set", "cut", "heard", "told", "said", "thought", "felt", "found", "spent", "held", "brought",
        "begun", "come", "chosen", "drawn", "sent", "stood", "caught", "forgotten", "led", "paid", "slept",
    } or (low.endswith("ed") and len(low) > 4 and not low.endswith("eed") and class_of(low) == "")  # fmt: skip


_ENDS: Final = (("any", "more"), ("anymore",), ("any", "longer"), ("no", "more"))
_TURNS: Final = frozenset({"but", "because", "although", "though", "cause", "'cause", "bc", "cuz", ";"})
_TAILS: Final = frozenset(
    {
        "too",
        "also",
        "though",
        "now",
        "currently",
        "please",
        "lol",
        "haha",
        "either",
        "nowadays",
        "btw",
        "still",
        "actually",
    }
)
_TAIL_PAIRS: Final = frozenset({
    ("as", "well"), ("a", "lot"), ("very", "much"), ("so", "much"), ("these", "days"), ("right", "now"), ("of", "course"), ("at", "all"),
    ("for", "sure"), ("for", "now"), ("at", "present"), ("of", "mine"),
})  # fmt: skip


def _without_end(rest: list[str]) -> tuple[list[str], bool]:
    """Remove adverbs and marks from the end; whether "any more" was among them."""
    closed = False
    while rest:
        low = [word.casefold() for word in rest[-2:]]
        if end := next((end for end in _ENDS if tuple(low[-len(end) :]) == end), None):
            rest, closed = rest[: -len(end)], True
        elif low[-1] in _TAILS or not (low[-1][0].isalnum() or (low[-1][0] in "$€£'" and len(low[-1]) > 1)):
            rest = rest[:-1]
        elif tuple(low) in _TAIL_PAIRS:
            rest = rest[:-2]
        else:
            break
    return rest, closed
