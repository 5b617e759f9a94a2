"""Find what the owner asks, in English, to be remembered: "remember that my birthday is 4 May"."""

from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

_FIRST: Final = r"(?=(?:i|i'm|i've|im|ive|my|we|we're|our)\b)"
_COURTESY: Final = r"(?:(?:hey|hi|hello|ok|okay|also|and|so|oh|well|please|pls|plz|by the way|btw|just|can you|could you|would you|will you|you should|always|i want you to|i'd like you to)\b[, ]*+)*"
_KEEP: Final = r"(?:remember|memori[sz]e|keep in mind|bear in mind|make a (?:mental )?note|take (?:a )?note|note(?: down)?|save|don't forget|do not forget|dont forget|never forget)"
_ASKED: Final = lazy_pattern(
    rf"(?i)^{_COURTESY}(?:{_KEEP}(?: this| the following)?(?: about me)?(?:,? please)?\s?[:–—-]\s*+|"
    rf"{_KEEP}(?: of the fact)?,? that (?!you\b|we can\b|this is just\b)|{_KEEP},? {_FIRST}|"
    rf"(?:for (?:the record|future reference|your (?:information|notes|memory))),? {_FIRST})"
)
_TO_DO: Final = lazy_pattern(
    rf"(?i)^{_COURTESY}(?:remember|remind me|don't forget|do not forget|dont forget),? (?=to \w)"
)
_AFTER: Final = lazy_pattern(
    r"(?i)[,;:.–—-]? ?(?:so )?(?:and )?(?:please|pls) (?:remember|keep|note|make a note of|don't forget|bear) (?:that|this|it)(?: in mind| down)?(?: for (?:me|later|next time|the future))?(?:,? please)?[.!]*+$"
)
_IN_MIND: Final = lazy_pattern(
    r"(?i)[,;–—-] ?(?:so |and |just ){0,2}(?:please )?(?:keep|bear) (?:that|this|it) in mind(?: (?:for|when|whenever|while|with) [^,.;?!]{2,60})?(?:,? please)?[.!]*+$"
)
_OWN: Final = lazy_pattern(rf"(?i){_FIRST}")
_WISDOM: Final = lazy_pattern(
    r"(?i)^(?:sometimes|it'?s|every(?:one|body|thing)|no (?:one|matter)|nobody|life|there'?s|things|we're|good things|\w+ing\b)|\byou(?:r|'re|rself)?\b(?!.*\b(?:should|must)\b)"
)
"""Encouragement, which friends ask each other to remember."""
_CONCRETE: Final = lazy_pattern(r"\d|(?<=.)\b[A-Z]|\b(?i:my|me|our)\b")
_LISTENER: Final = lazy_pattern(
    r"(?i)^(?:you|your|you're|to (?:breathe|smile|relax|have fun|take care|be|enjoy|stay|keep|believe|always|never|take (?:it|a break|breaks|some)))\b|\byourself\b|\bto use\b"
)


_PLEASE: Final = lazy_pattern(r"(?i)please|can you|could you|:")
_TIME: Final = lazy_pattern(
    r"(?i)\b(?:to(?:day|night|morrow)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|next \w+|in the (?:morning|evening)|at noon)\b"
)


def _is_task(rest: str) -> bool:
    """Return whether something to do names when, whom or what, unlike "to have fun"."""
    return _CONCRETE.search(rest) is not None or _TIME.search(rest) is not None


def asked(text: str) -> slice | None:
    """Return the part of a sentence that is to be remembered; None if the sentence asks for nothing.

    >>> text = "Please remember that my bike is red."
    >>> text[asked(text)]
    'my bike is red.'
    """
    if match := _ASKED.match(text):
        rest = text[match.end() :]
        if _WISDOM.search(rest) and not _PLEASE.search(match[0]):
            return None
        return (
            slice(match.end(), len(text.rstrip(" ?!.")))
            if rest.strip(" .!?") and not _LISTENER.match(rest)
            else None
        )
    if (
        (match := _TO_DO.match(text))
        and not _LISTENER.search(text[match.end() :])
        and _is_task(text[match.end() :])
    ):
        return slice(match.end(), len(text))
    if (match := _AFTER.search(text)) and match.start() > 3:
        return slice(0, match.start())
    if _OWN.match(text) and (match := _IN_MIND.search(text)):
        return slice(0, match.start())
    return None
