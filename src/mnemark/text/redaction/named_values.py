"""Decide whether a value beside the name of a secret is secret, by its look and the syntax around it."""

import re
from typing import NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction import MARK
from mnemark.text.redaction.extents import (
    MOST_CHECKED,
    BareValue,
    Extent,
    bare_value,
    bare_value_in_chinese,
    bare_value_in_list,
    bare_value_of_line,
    quoted_value,
)
from mnemark.text.redaction.values import (
    STAND_INS,
    TELLS,
    Strength,
    classes,
    is_blank,
    is_path,
    looks_chosen,
    looks_random,
    refers,
    stands_in,
    stands_in_quoted,
    stands_in_said,
)
from mnemark.text.redaction.values import strength as name_strength

_BLOCK = lazy_pattern(r"[|>][+-]?[ ]*\n[ \t]+")
_LINE_START = lazy_pattern(
    r"(?:.*\\n)?[ \t>]{0,40}(?:(?:[-*+]|[0-9]{1,3}[.)])[ ]{1,3})?(?:\*{1,3})?(?:#[ ]?(?:\w{1,16}:[ ])?)?"
    r"(?:export[ ]|set[ ]|setx[ ]|ENV[ ]|ARG[ ])?"
    r"(?:\$env:|[{(]?[\"'])?\Z"
)
_SHORTEST_BESIDE = 20  # minimum length of a token that follows its name without a separator
_WINDOW = 80  # characters read before a name
_OWNED_WINDOW = 48
_OWNED = lazy_pattern(
    r"(?:\b(?:my|our|your|his|her|their|its)[ ]|我的?|你的|我们的?)(?:[\w-]{1,16}[ ]?){0,3}\Z", re.IGNORECASE
)
_USED = lazy_pattern(
    r"(?:use|used|using|have|set|chose)[ ](?P<value>\S{4,64})[ ]as[ ]"
    r"(?:my|our|the|a|his|her)[ ](?:\w{1,16}[ ]){0,2}\Z"
    r"|[把将用以][ ]?(?P<zh>[!-~]{4,64})[ ]?(?:设置?|改|当|作|用)(?:成|为|作|做)?"
    r"(?:我的|新的?|了)?[一-龥A-Za-z ]{0,8}\Z"
)
_ENDS = lazy_pattern(
    r"[ \t]*(?:[#;].*|//.*)?(?:\r?\n|\Z|\\n)|[,;.!)\]*，。；、！）】]|"
    r"[ ]+(?:and|but|for|on|from|so|please|ok)\b|[ ]*[一-龥]"
)
_PHRASE = lazy_pattern(r"[a-z]{2,16}(?: [a-z]{2,16}){2,11}(?=[ \t]*(?:#.*)?(?:\r?\n|\Z))")
_DIGITS = lazy_pattern(r"(?<![\w.-])\d{4,8}(?![\w-])(?!\.\d)")
_GOES_ON = lazy_pattern(r"[!-~]?(?=[!-~]{0,16}?(?:[A-Za-z][0-9]|[0-9][A-Za-z]))")
_WORD_OF_NAME = lazy_pattern(r"[a-z]*[0-9]*[a-z]*")  # "sha256", "k8s"
_LINK_TEXT = lazy_pattern(r"[A-Za-z'’-]{1,40}\]\(")
_LONGEST_LINK = 200  # characters of a link's text before the name of a secret
_FIRST_CELL = lazy_pattern(r"[ \t>]*(?P<edge>\|)?[^|]*\Z")
_ALGORITHM = lazy_pattern(
    r"(?:[a-z]+[_-]?)?(?:sha|md|base|aes|utf|oauth|varchar|char|int|v)[-_]?[0-9]{1,4}(?:[.-][0-9]+)*",
    re.IGNORECASE,
)
_REMARKS = "([{<\\-"
_MANY_CLASSES = 3
_FEWEST_DIGITS = 2  # in a random value with possible separators
_BRACKETS = frozenset("()[]{}<>\"'`")
_LABEL = lazy_pattern(
    r"\b(?:password|passphrase|pass|secret|token|key|required|enter|please|your|the|is|are|must|for|invalid|"
    r"incorrect|wrong|not|cannot|should|with|use|used|this|that|missing|forgot|reset|change|confirm|at|of|or|to|a)\b",
    re.IGNORECASE,
)


class SecretName(NamedTuple):
    """The name of a secret: `text[start:end]`."""

    text: str
    start: int
    end: int
    strength: Strength

    @property
    def name(self) -> str:
        """The name as written."""
        return self.text[self.start : self.end]

    @property
    def before(self) -> str:
        """The text shortly before the name."""
        return self.text[max(0, self.start - _WINDOW) : self.start]

    def is_option(self) -> bool:
        """Return whether the name is a command line option: `--password`."""
        return self.name.startswith("--") or self.before.endswith("--")

    def at_line_start(self) -> bool:
        """Return whether only indentation, a bullet or `export` precedes the name."""
        line = self.text.rfind("\n", max(0, self.start - _WINDOW), self.start)
        if line < 0 and self.start > _WINDOW:
            return False
        return _LINE_START.match(self.text[line + 1 : self.start]) is not None


def assigned(key: SecretName, at: int, separator: str) -> Extent | None:
    """Find the value after `=`, `:` and similar separators."""
    if separator.strip().endswith("|"):
        return _cell(key, at)
    if key.strength == "pin" or quoted_value(key.text, at):
        return _certain(key, at)
    if block := _BLOCK.match(key.text, at):
        at = block.end()
    tight = not separator.strip(":=\"'[]`\\") and "=" in separator
    if (key.name.isupper() and tight) or (key.at_line_start() and tight and key.name.isascii()):
        return _in_environment(key, at)
    return _listed(key, at, separator)


def beside_comma(key: SecretName, at: int) -> Extent | None:
    """Find the value after `,`, `(`, `||` and `or`, as in `getenv("TOKEN", "…")`, if it looks secret."""
    between = quoted_value(key.text, at)
    if between is not None:
        value = key.text[slice(*between)]
        sure = key.strength != "strong" or (looks_chosen(value) and not key.before.endswith("/"))
        return between if sure and fits_quoted(key.strength, value) else None
    found = bare_value(key.text, at) if key.strength == "plain" and key.at_line_start() else None
    fits = found is not None and found.value == found.core and looks_random(found.value)
    return found.extent if found and fits and not _stands_in(found, code=True) else None


def said(key: SecretName, at: int) -> Extent | None:
    """Find the value in "my password is X" and "password for the router: X"."""
    if key.name.lower() == "pass":
        return None  # the verb
    if key.strength == "pin" or quoted_value(key.text, at):
        return _certain(key, at)
    colon = key.text[at - 2 : at].rstrip().endswith((":", "："))
    found = bare_value_in_list(key.text, at) if colon else bare_value(key.text, at)
    if found is None:
        return None
    if key.strength == "plain":
        return _machine_made(found)
    fits = looks_chosen(found.value) and not _stands_in(found)
    if not fits and _ENDS.match(key.text, found.end):
        fits = _OWNED.search(key.before[-_OWNED_WINDOW:]) is not None and _is_word(found)
    return found.extent if fits else None


def said_zh(key: SecretName, at: int, *, assigns: bool) -> Extent | None:
    """Find the value in "密码是 X" (`assigns`) and "密码 X"."""
    between = quoted_value(key.text, at)
    if key.strength == "pin" or between:
        return _certain(key, at) if assigns or not between else None
    found = bare_value_in_chinese(key.text, at)
    if found is None:
        return None
    if key.strength == "plain":
        return _machine_made(found)
    if looks_chosen(found.value) and _has_digit(found.value):
        fits = not _stands_in(found)
    else:
        ends = assigns and len(found.value) >= 6 and _ENDS.match(key.text, found.end) is not None
        fits = ends and _is_word(found)
    return found.extent if fits else None


def _certain(key: SecretName, at: int) -> Extent | None:
    """Find a quoted value or digits, whose extent is certain."""
    between = quoted_value(key.text, at)
    if between is not None:
        return between if fits_quoted(key.strength, key.text[slice(*between)]) else None
    found = _DIGITS.match(key.text, at)
    return found.span() if found else None


def beside(key: SecretName) -> Extent | None:
    """Find the value that follows its name after a space: "user ann password X", `--password X`."""
    at = key.end + 1
    verb = key.name.lower() == "pass"
    if not key.text.startswith(" ", key.end) or key.strength == "pin":
        return None
    option = key.is_option()
    between = quoted_value(key.text, at)
    if between is not None:
        value = key.text[slice(*between)]
        told = option or (key.strength == "strong" and not verb and (looks_chosen(value) or " " in value))
        told = told or (key.strength == "plain" and key.name.isupper())
        return between if told and fits_quoted(key.strength, value) else None
    found = bare_value_in_list(key.text, at)
    if found is None or found.wrapped or found.value[0] in _REMARKS or _ends_link(key, found):
        return None
    if key.strength == "plain":
        value = found.core
        long = len(value) >= _SHORTEST_BESIDE or option
        fits = long and value.isascii() and looks_random(value) and not value.startswith("*")
        fits = fits and not stands_in(value)
    elif option:
        fits = _is_word(found) or looks_chosen(found.value)
    else:
        fits = not verb and _is_mixed(found.value)
    code = option or not key.name.islower()
    if not fits or is_path(found.value) or _stands_in(_closed(found, key), code=code, alone=option):
        return None
    return (found.start, found.start + len(found.core)) if key.strength == "plain" else found.extent


def _ends_link(key: SecretName, found: BareValue) -> bool:
    """Return whether a value is the last word of a Markdown link's text and its target."""
    if _LINK_TEXT.match(found.value) is None:
        return False
    opened = key.text.rfind("[", max(0, key.start - _LONGEST_LINK), key.start)
    return opened >= 0 and "\n" not in key.text[opened : key.start]


def used_as(key: SecretName) -> Extent | None:
    """Find the value in "I use X as my password"."""
    found = _USED.search(key.before) if key.strength == "strong" else None
    value = (found["value"] or found["zh"]) if found else ""
    if found is None or not looks_chosen(value) or stands_in_said(value):
        return None
    offset = max(0, key.start - _WINDOW)
    return tuple(offset + at for at in found.span("value" if found["value"] else "zh"))  # type: ignore[return-value]


def is_cookie(value: str) -> bool:
    """Return whether the value of a cookie may be a session id."""
    return len(value) >= 8 and _has_digit(value) and not stands_in_said(value)


def _in_environment(key: SecretName, at: int) -> Extent | None:
    """Find an unquoted value in `.env` and shell syntax: up to the next white space."""
    found = bare_value_of_line(key.text, at)
    if found is None:
        return None
    value, strong = found.value, key.strength == "strong"
    argument = key.text.startswith((",", ")"), found.end)  # of a call, as may be
    if argument:
        named = (not key.name.isupper() and value.replace(".", "").isidentifier()) or _like_a_name(value)
        fits = strong and not named and looks_chosen(found.value)
    else:
        fits = (strong and (looks_chosen(found.value) or _is_word(found))) or _fits_plain(value)
        fits = fits or (looks_chosen(found.value) and len(value) >= 8)
    if not fits or _is_code_name(found) or _refers(_closed(found, key), code=True, alone=not argument):
        return None
    return found.extent


def _cell(key: SecretName, at: int) -> Extent | None:
    first = _FIRST_CELL.match(key.before.rpartition("\n")[2])
    if first is None:
        return None
    cell = key.text[at : at + MOST_CHECKED].partition("\n")[0].partition("|")[0]
    if quoted_value(cell, 0):
        return _certain(key, at)
    found = bare_value(cell, 0)
    # Without an edge the line may be a pipe of commands.
    sure = first["edge"] or (found and (key.strength == "plain" or classes(found.value) >= _MANY_CLASSES))
    fits = sure and found and cell_fits(key.strength, found)
    return (at + found.start, at + found.end) if found and fits else None


def cell_fits(strength: Strength, found: BareValue) -> bool:
    """Return whether a table cell is a secret, given the strength of its row's or column's name."""
    value = found.value
    if strength == "pin":
        return fits_quoted(strength, value)
    if _like_a_name(value) or _stands_in(found) or _is_code_name(found) or _ALGORITHM.fullmatch(value):
        return False
    return _fits_plain(value) if strength == "plain" else _is_mixed(value)


def _listed(key: SecretName, at: int, separator: str) -> Extent | None:
    """Find an unquoted value where the text may also be code or a sentence."""
    text = key.text
    if key.strength == "strong" and key.name.lower().endswith("phrase") and key.at_line_start():
        phrase = _PHRASE.match(text, at)
        if phrase and not _LABEL.search(phrase[0]):
            return phrase.span()
    found = bare_value_in_list(text, at)
    option = key.is_option()
    entry = key.before[-1:] in "?&;#" or separator.startswith(">")  # of a list, a query or a document
    value = _listed_value(key, found, separator, free=entry or option) if found else None
    if value is None or found is None or _is_code_name(found):
        return None
    code = not entry and ("=" in separator or separator[:1] in "\"'`]\\")
    return None if _stands_in(_closed(found, key), code=code, alone=option or found.ends_line()) else value


def _listed_value(key: SecretName, found: BareValue, separator: str, *, free: bool) -> Extent | None:
    """Return the extent of a probable value; unless `free`, names in code are excluded."""
    name = not (free or found.opened) and _like_a_name(found.value)
    if key.strength == "plain":
        return None if name else _machine_made(found)
    line = key.at_line_start()
    whole = line or found.core == found.value or _has_digit(found.value)
    if whole and not name and looks_chosen(found.value):
        return found.extent
    plain_line = line and (separator.strip() != "=" or "-" in found.value)
    alone = (plain_line or key.is_option()) and found.value.islower() and _ENDS.match(key.text, found.end)
    return found.extent if alone and _is_word(found) else None


def _machine_made(found: BareValue) -> Extent | None:
    """Return the extent of a random value: its core, unless the text attached to it looks like part of it."""
    if _fits_plain(found.core):
        end = found.start + len(found.core)
        if end < found.end and not _GOES_ON.match(found.text, end, found.end):
            return found.start, end
        return found.extent
    value = found.value
    numbers = sum(map(str.isdigit, value)) >= _FEWEST_DIGITS and _BRACKETS.isdisjoint(value)
    return found.extent if found.core and numbers and _fits_plain(value) else None


def _is_code_name(found: BareValue) -> bool:
    """Return whether an unquoted value is a name in code: `self.password`, `db_password`."""
    value, core = found.value, found.core
    return is_path(value) or refers(value) or (core != value and (is_path(core) or refers(core)))


def _stands_in(found: BareValue, *, code: bool = False, alone: bool = False) -> bool:
    return _refers(found, code=code, alone=alone) or _begins_as_remark(found, code=code, alone=alone)


def _closed(found: BareValue, key: SecretName) -> BareValue:
    """Remove an open bracket at the end of a value if it cannot start a call (constant or option)."""
    shut = found.value.rstrip("([{") if key.name.isupper() or key.is_option() else ""
    return found._replace(value=shut, core=found.core.rstrip("([{")) if shut else found


def _refers(found: BareValue, *, code: bool, alone: bool) -> bool:
    value = found.value
    if found.opened:
        return stands_in_quoted(value)
    if found.wrapped and (code or found.text[found.start - 1] in "{<"):
        return True
    if value[0] in "@&!*:" and value[1:].isidentifier() and name_strength(value[1:]) is not None:
        return True  # @PASSWORD1
    return stands_in(value, alone=alone) if code else stands_in_said(value)


def _begins_as_remark(found: BareValue, *, code: bool, alone: bool) -> bool:
    """Return whether the core of a longer value is a remark, as in "none,…"."""
    value, core = found.value, found.core
    if not core or core == value:
        return False
    told = is_blank(core) or core.lower() in TELLS
    if code:
        return told or stands_in(core, alone=alone) or not _has_digit(value)
    return told and core.isalpha() and found.text[found.start + len(core)] in ",;，。；、"


def fits_quoted(strength: Strength, value: str) -> bool:
    """Return whether a quoted value is a secret, given the strength of its name."""
    if strength == "pin":
        return _DIGITS.fullmatch(value) is not None
    if stands_in_quoted(value) or is_path(value) or refers(value) or MARK.search(value):
        return False
    if strength == "plain":
        return _fits_plain(value)
    if " " in value.strip():
        return len(value.split()) <= 8 and not _LABEL.search(value) and value[-1] not in ".:?!…"
    chinese = any("一" <= char <= "鿿" for char in value)
    return len(value) >= 3 and value == value.strip() and value.lower() not in TELLS and not chinese


def _fits_plain(value: str) -> bool:
    if stands_in(value):
        return False
    mixed = len(value) >= 8 and classes(value) >= 3 and _has_digit(value) and not value.isupper()
    return looks_random(value) or mixed


def _fits_word(value: str) -> bool:
    """Return whether a word may be a password where the syntax clearly assigns one."""
    word = value.lower()
    right = 4 <= len(value) <= 64 and value.isascii() and word not in TELLS and word not in STAND_INS
    return right and not stands_in(value)


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _is_word(found: BareValue) -> bool:
    return bool(found.core) and _fits_word(found.value)


def _is_mixed(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    plain = all(char.isascii() or not char.isalnum() for char in value)
    return len(value) >= 5 and 0 < digits < len(value) and plain


def _like_a_name(value: str) -> bool:
    """Return whether a value looks like an identifier: `next_token_2`, `sha256_hex`."""
    if not value.isidentifier() or not value.isascii():
        return False
    digits = sum(map(str.isdigit, value))
    named = all(map(_WORD_OF_NAME.fullmatch, value.split("_")))
    return "_" in value.strip("_") and digits <= max(3, len(value) // 6) and value.islower() and named
