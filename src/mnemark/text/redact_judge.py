"""Where the value of a named secret begins and ends, and whether it is one, by the manner it is given."""

import re
from dataclasses import dataclass

from mnemark.text.redact_base import MARK
from mnemark.text.redact_names import Strength
from mnemark.text.redact_values import (
    classes,
    is_path,
    looks_chosen,
    looks_random,
    refers,
    stands_in,
    stands_in_quoted,
)
from mnemark.text.redact_words import TELLS

Extent = tuple[int, int]

KINDS: dict[Strength, str] = {"strong": "password", "plain": "secret", "pin": "pin"}
"""What the value of a name is called in its mark."""

_HEAD = 256  # characters of an unquoted value that are judged; what follows without a gap belongs to it
_LONGEST = 2048  # of a quoted value

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}
# Possessive: what was read is not read again.
_QUOTED = {
    mark: re.compile(rf"[^{close}\\\n]*+(?:\\[^\n][^{close}\\\n]*+)*+(?={close})")
    for mark, close in _QUOTES.items()
}
_ESCAPED = re.compile(rf"\\+[\"']([^\"'\\\n]{{1,{_LONGEST}}})(?=\\+[\"'])")
_STOPS = r"\s\"'`，。；、！？（）“”「」『』<>"
_BARE = re.compile(rf"[^{_STOPS}\\]{{1,{_HEAD}}}")
_REST = re.compile(rf"[^{_STOPS}\\]*")
_TOKEN = re.compile(rf"[^{_STOPS};&,\\]{{1,{_HEAD}}}")
_BLOCK = re.compile(r"[|>][+-]?[ ]*\n[ \t]+")
_ASCII_RUN = re.compile(rf"[!-~]{{2,{_HEAD}}}")
_TRAIL = ".,;:)]}\"'`"

_LINE_START = re.compile(
    r"(?:.*\\n)?[ \t>]{0,40}(?:[-*+][ ]{1,3})?(?:#[ ]?(?:\w{1,16}:[ ])?)?"
    r"(?:export[ ]|set[ ]|setx[ ]|ENV[ ]|ARG[ ])?"
    r"(?:\$env:|[{(]?[\"'])?\Z"
)
_SHORTEST_BESIDE = 20  # of a token that stands behind its name without any sign between
_WINDOW = 80  # characters before a name that are looked at
_OWNED_WINDOW = 48
_OWNED = re.compile(
    r"(?:\b(?:my|our|your|his|her|their|its)[ ]|我的?|你的|我们的?)(?:[\w-]{1,16}[ ]?){0,3}\Z", re.IGNORECASE
)
_USED = re.compile(
    r"(?:use|used|using|have|set|chose)[ ](?P<value>\S{4,64})[ ]as[ ]"
    r"(?:my|our|the|a|his|her)[ ](?:\w{1,16}[ ]){0,2}\Z"
)
_ENDS = re.compile(
    r"[ \t]*(?:[#;].*|//.*)?(?:\r?\n|\Z|\\n)|[,;.!，。；、！）]|"
    r"[ ]+(?:and|but|for|on|from|so|please|ok)\b|[ ]*[一-龥]"
)
_PHRASE = re.compile(r"[a-z]{2,16}(?: [a-z]{2,16}){2,11}(?=[ \t]*(?:#.*)?(?:\r?\n|\Z))")
_DIGITS = re.compile(r"(?<![\w.-])\d{4,8}(?![\w-])(?!\.\d)")
_LABEL = re.compile(
    r"\b(?:password|passphrase|pass|secret|token|key|required|enter|please|your|the|is|are|must|for|invalid|"
    r"incorrect|wrong|not|cannot|should|with|use|used|this|that|missing|forgot|reset|change|confirm|at|of|or|to|a)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Key:
    """A name that says its value is secret: `text[start:end]`."""

    text: str
    start: int
    end: int
    strength: Strength

    @property
    def name(self) -> str:
        """The name as written."""
        return self.text[self.start : self.end]

    @property
    def kind(self) -> str:
        """What the value is called in the mark left behind."""
        return KINDS[self.strength]

    @property
    def before(self) -> str:
        """The text shortly before the name."""
        return self.text[max(0, self.start - _WINDOW) : self.start]

    def at_line_start(self) -> bool:
        """Whether nothing but indentation, a bullet or `export` stands before the name."""
        line = self.text.rfind("\n", max(0, self.start - _WINDOW), self.start)
        if line < 0 and self.start > _WINDOW:
            return False
        return _LINE_START.match(self.text[line + 1 : self.start]) is not None


def whole(text: str, value: Extent) -> Extent:
    """A value with what follows it without a gap, where only the beginning of a long one was judged."""
    start, end = value
    if end - start < _HEAD - 8:
        return value
    rest = _REST.match(text, end)
    return start, rest.end() if rest else end


def assigned(key: Key, at: int, separator: str) -> Extent | None:
    """The value behind `=`, `:` and the like, or None if what stands there is no secret."""
    if key.strength == "pin" or _quoted(key.text, at):
        return _certain(key, at)
    block = _BLOCK.match(key.text, at)
    if block:
        at = block.end()
    tight = not separator.strip(":=\"'[]`\\") and "=" in separator
    if (key.name.isupper() and tight) or (key.at_line_start() and tight and key.name.isascii()):
        return _in_environment(key, at)
    return _bare(key, at, separator)


def said(key: Key, at: int) -> Extent | None:
    """The value in "my password is X", or None."""
    if key.name.lower() == "pass":
        return None  # the verb
    if key.strength == "pin" or _quoted(key.text, at):
        return _certain(key, at)
    found = _token(key.text, at)
    value = key.text[slice(*found)] if found else ""
    if key.strength == "plain":
        fits = _fits_plain(value)
    else:
        fits = looks_chosen(value) and not stands_in(value)
        if not fits and found and _fits_word(value) and _ENDS.match(key.text, found[1]):
            fits = _OWNED.search(key.before[-_OWNED_WINDOW:]) is not None
    return found if fits else None


def said_zh(key: Key, at: int, *, assigns: bool) -> Extent | None:
    """The value in "密码是 X" (`assigns`) and "密码 X", or None."""
    quoted = _quoted(key.text, at)
    if key.strength == "pin" or quoted:
        return _certain(key, at) if assigns or not quoted else None
    run = _ASCII_RUN.match(key.text, at)
    if run is None or MARK.match(key.text, at):
        return None
    value = run[0].rstrip(_TRAIL)
    extent = (at, at + len(value))
    if key.strength == "plain":
        fits = _fits_plain(value)
    elif looks_chosen(value) and any(map(str.isdigit, value)):
        fits = not stands_in(value)
    else:
        fits = (
            assigns and len(value) >= 6 and _fits_word(value) and _ENDS.match(key.text, extent[1]) is not None
        )
    return extent if fits else None


def _certain(key: Key, at: int) -> Extent | None:
    """A value whose extent is beyond doubt: digits, or between quotation marks."""
    quoted = _quoted(key.text, at)
    if quoted is not None:
        return quoted if fits_quoted(key.strength, key.text[slice(*quoted)]) else None
    return _digits(key.text, at)


def beside(key: Key) -> Extent | None:
    """The value in "user ann password X" and `--password X`, or None."""
    at = key.end + 1
    verb = key.name.lower() == "pass"
    if not key.text.startswith(" ", key.end) or key.strength == "pin":
        return None
    option = key.before.endswith("--") or key.name.startswith("--")
    quoted = _quoted(key.text, at)
    if quoted is not None:
        value = key.text[slice(*quoted)]
        told = option or (key.strength == "strong" and not verb and (looks_chosen(value) or " " in value))
        return quoted if told and fits_quoted(key.strength, value) else None
    found = _token(key.text, at)
    value = key.text[slice(*found)] if found else ""
    if (
        len(value) < (_SHORTEST_BESIDE if key.strength == "plain" else 4)
        or stands_in(value)
        or is_path(value)
    ):
        return None
    if key.strength == "plain":
        fits = looks_random(value) and value.isascii()
    elif option:
        fits = _fits_word(value) or looks_chosen(value)
    else:
        digits = sum(map(str.isdigit, value))
        fits = (
            not verb and 0 < digits < len(value) and len(value) >= 5 and value.isascii() and value[0] != "-"
        )
    return found if fits else None


def used_as(key: Key) -> Extent | None:
    """The value in "I use X as my password", or None."""
    found = _USED.search(key.before) if key.strength == "strong" and " as " in key.before else None
    if found is None or not looks_chosen(found["value"]) or stands_in(found["value"]):
        return None
    offset = max(0, key.start - _WINDOW)
    return offset + found.start("value"), offset + found.end("value")


def is_cookie(value: str) -> bool:
    """Whether the value of a cookie could be a session."""
    return len(value) >= 8 and any(map(str.isdigit, value)) and not stands_in(value)


def _quoted(text: str, at: int) -> Extent | None:
    """What stands between quotation marks, also escaped ones, at `at`."""
    if text.startswith("\\", at):
        escaped = _ESCAPED.match(text, at)
        return escaped.span(1) if escaped else None
    mark = text[at : at + 1]
    if mark not in _QUOTES:
        return None
    if text.startswith(mark * 3, at):
        at += 2
    limit = at + 1 + _LONGEST
    if text.find(_QUOTES[mark], at + 1, limit) < 0:
        return None
    found = _QUOTED[mark].match(text, at + 1, limit)
    return found.span() if found and found[0] else None


def _token(text: str, at: int) -> Extent | None:
    found = _TOKEN.match(text, at)
    if found is None or MARK.match(text, at):
        return None
    value = found[0].rstrip(_TRAIL)
    return (at, at + len(value)) if value else None


def _digits(text: str, at: int) -> Extent | None:
    found = _DIGITS.match(text, at)
    return found.span() if found else None


def _in_environment(key: Key, at: int) -> Extent | None:
    """An unquoted value in `.env` and shell manner: all up to the next white space."""
    found = _BARE.match(key.text, at)
    if found is None or MARK.match(key.text, at):
        return None
    value = found[0].rstrip(",;)")
    if not value or stands_in(value) or is_path(value) or refers(value) or value != found[0].rstrip(";"):
        return None
    machine_made = _fits_plain(value) or (looks_chosen(value) and len(value) >= 8)
    chosen = key.strength == "strong" and (looks_chosen(value) or _fits_word(value))
    if not machine_made and not chosen:
        return None
    return at, at + len(value)


def _bare(key: Key, at: int, separator: str) -> Extent | None:
    """An unquoted value that may as well be code or a sentence."""
    text = key.text
    if key.strength == "strong" and key.name.lower().endswith("phrase") and key.at_line_start():
        phrase = _PHRASE.match(text, at)
        if phrase and not _LABEL.search(phrase[0]):
            return phrase.span()
    found = _token(text, at)
    value = text[slice(*found)] if found else ""
    if found is None or stands_in(value) or is_path(value) or refers(value):
        return None
    if key.strength == "plain":
        fits = _fits_plain(value) and not _like_a_name(value)
    elif looks_chosen(value) and not _like_a_name(value):
        fits = True
    else:
        plain_line = key.at_line_start() and (separator.strip() != "=" or "-" in value)
        alone = (plain_line or key.before.endswith("--")) and _ENDS.match(text, found[1]) is not None
        fits = alone and _fits_word(value) and value.islower()
    return found if fits else None


def fits_quoted(strength: Strength, value: str) -> bool:
    """Whether a value between quotation marks is a secret, where the key says so with `strength`."""
    if strength == "pin":
        return _DIGITS.fullmatch(value) is not None
    if stands_in_quoted(value) or is_path(value) or refers(value) or MARK.search(value):
        return False
    if strength == "plain":
        return _fits_plain(value)
    if " " in value.strip():
        words = value.split()
        return len(words) <= 8 and not _LABEL.search(value) and value[-1] not in ".:?!…"
    chinese = any("一" <= char <= "鿿" for char in value)
    return len(value) >= 3 and value == value.strip() and value.lower() not in TELLS and not chinese


def _fits_plain(value: str) -> bool:
    if stands_in(value):
        return False
    mixed = len(value) >= 8 and classes(value) >= 3 and any(map(str.isdigit, value)) and not value.isupper()
    return looks_random(value) or mixed


def _fits_word(value: str) -> bool:
    """A password made of letters only, where the manner leaves no doubt that one is given."""
    return 4 <= len(value) <= 64 and value.isascii() and value.lower() not in TELLS and not stands_in(value)


def _like_a_name(value: str) -> bool:
    """`next_token_2`, `sha256_hex`: a name in code that has a digit in it."""
    if not value.isidentifier() or not value.isascii():
        return False
    digits = sum(map(str.isdigit, value))
    return "_" in value.strip("_") and digits <= max(3, len(value) // 6) and value.islower()
