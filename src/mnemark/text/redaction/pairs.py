"""Find secrets by the name before or after them: `key=value`, JSON, YAML, headers, options, prose, tables.

Every occurrence of a stem is tried once, with patterns that read a bounded number of characters from there,
and matched text is skipped: linear time. In tables, the header names the secrets of a column.
"""

import re
from collections.abc import Generator, Iterator

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction import MARK, Span, positions
from mnemark.text.redaction import named_values as values
from mnemark.text.redaction.extents import CLOSING, Extent, bare_value, quoted_value, with_its_rest
from mnemark.text.redaction.values import (
    KEYS_OF,
    KINDS,
    PIN,
    PLAIN,
    STRONG,
    Strength,
    looks_random,
    stands_in,
    strength,
)

_STEMS_ZH = (
    "mật khẩu", "mot de passe",
    *(word for word in STRONG | PLAIN | PIN if not word.isascii() and word != "khẩu"),
)  # fmt: skip
"""Names that are not made of ASCII letters alone, or of several words."""
_STEMS_EN = {
    "pass": "(?:w(?:or[dt]|d)|phrase|code|in|out)?", "pw": "d?", "psk": "", "secret": "s?", "token": "",
    "key": "", "auth": "(?:orization)?", "credential": "s?", "bearer": "", "cookie": "", "jwt": "",
    "sessionid": "", "sig": "(?:nature)?", "pin": "", "pat": "", "kennwort": "", "senha": "",
    "wachtwoord": "", "parola": "", "haslo": "", "heslo": "", "sifre": "", "contrasena": "",
    "contribsys": "[_.-]{0,2}com",
}  # fmt: skip
# Each must end its word, so that "keyboard" and "tokens" are skipped early.
_STEMS = tuple((stem, lazy_pattern(f"{stem}{end}(?![a-z])")) for stem, end in _STEMS_EN.items())
_SIGNS_ZH = "码碼令钥鑰牌杖号是ド호ñłşöóоẩ"  # one of each of these names but the last
_LONGEST_KEY = 48
_LONGEST_HEAD = 40  # of a redaction mark, before its hash

_RUN = lazy_pattern(r"[^\s\"'`，。；、]*")
_MAX_NAMES = 32  # maximum number of names tried in one run of characters without a gap …
_LONG_RUN = 1024  # … if more than so many characters of the run are left
_KEY_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_LEFT = lazy_pattern(r"(?:(?<![A-Za-z0-9_.-])|(?<=\\[nrt]))[A-Za-z0-9_.-]*\Z", re.ASCII)
_KEY_OF = lazy_pattern(r"(?<![a-z0-9_])(?P<word>[a-z]{2,16})[ ]\Z")
_RIGHT = lazy_pattern(r"[A-Za-z0-9_-]{0,40}", re.ASCII)
_STEM_ZH = lazy_pattern("|".join(sorted(_STEMS_ZH, key=len, reverse=True)))

# Separators between a name and its value.
_ANNOTATED = lazy_pattern(
    r"(?::[ ]?|[ ])(?:str|string|String|bytes|SecretStr|&str|&'static str)\??[ ]?=[ ]?(?=[\"'`])"
)
_SEPARATOR = lazy_pattern(
    r"""\*{0,3}(?:\\{0,3}["'`”’」\]]){0,3}\*{0,2}[?!]?(?:[（(][^（）()\n]{1,16}[）)])?
    (?:
      >\s{0,40}(?=[^<\s]{3,256}\s{0,40}</)|
      [ \t]{0,8}(?:=>|(?::{1,3}|\?{1,2}|[+.]|\|\|)?={1,2}(?!=)|:(?![:=])|：|＝)
      (?:\*{2}[ ])?[ \t]{0,8}(?:(?:[rRbBfFuU]{1,2}|(?:\[\]byte|Secret(?:Str)?|String)\()(?=["'`]))?
      |,?\s{1,24}\\?["']?(?:value|Value|VALUE)\\?["']?[ ]{0,2}[:=][ ]{0,2}
      |[ \t]{0,40}\|[ \t]{0,40}(?=[^\s|]{3,128}[ \t]{0,40}\|)
      |[ \t]{1,40}\|[ \t]{1,40}(?=[^\s|]{3,128}[ \t]{0,40}(?:\r?\n|\Z))
      |(?P<weak>(?:(?<=["'])|(?<=["']\\)),[ \t]{0,2}(?=\\?["'`])
        |\)?[ \t]?(?:\|\||\?\?|[ ]or)[ \t]{1,8}(?=["'`])|\([ ]?(?=["'`])
        |,[ ]?(?=[^\s,"'`]{12,256}(?:,|\r?\n|\Z)))
    )""",
    re.VERBOSE,
)
_WHOSE = r"(?:[ ](?!(?:is|to)\b)[\w.'’-]{1,24}){1,4}?"
_IS = (
    r"[ ](?:is|was|are|to|as|es|est|ist|lautet|é|è|jest|это|—|–)"
    r"(?:[ ](?:now|still|set[ ]to|changed[ ]to))?(?:[ ]?[:：])?[ ]"
)
_SAYS_EN = lazy_pattern(
    rf"""(?:
      [ ]to{_WHOSE}(?:{_IS}|[ ]?[:：][ ])
      |(?:[ ](?:for|of|on|at){_WHOSE})?(?:{_IS}|[ ]?[:：][ ]?)
    )""",
    re.VERBOSE,
)
_SAYS_ZH = lazy_pattern(
    r"[ 　]{0,2}(?:我们|我)?(?:已经|已|被)?"
    r"(?:就是|是|改成|改为|改為|设置为|设为|設為|设成|重置为|换成|为|為|叫|は|는|은)?了?"
    r"[ 　]{0,2}[：:=]?[ 　]{0,2}"
)
_ASSIGNS_ZH = lazy_pattern(r"[是为為成叫：:=了は는은]")
_NO_BLANKS = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A character of a language that writes no blank behind a name."""
_COPULA_ZH = lazy_pattern(r"[是为為成叫了]")

_HEADER = lazy_pattern(r"""(?:\\?["'`])?[ ]{0,2}[:=,][ ]{0,2}(?:[bBfFrR]{1,2}(?=["']))?(?:\\?["'`])?""")
_SCHEME = lazy_pattern(
    r"(?:Bearer|Basic|Token|ApiKey|Api-Key|Bot|OAuth|Key|Negotiate|Digest|AWS4-HMAC-SHA256)[ ]+",
    re.IGNORECASE,
)
_HEADER_VALUE = lazy_pattern(r"[^\s\"'`<>\\]{6,4096}")
_LINE = lazy_pattern(r"[^\n`]{6,2048}")
_COOKIE = (  # only `;` and white space end one; the first class excludes starts of templates
    r"[\w.-]{1,64}=(?:\"[^\s\";]+\"|[^\s\"'`;<>${}\\](?:[^\s\"'`;<>\\]|[\"'`<>]"
    r"(?=[A-Za-z0-9!#$%^*~])|\\(?![nrt])(?=[A-Za-z0-9!#$%^*~]))*)"
)
_COOKIES = lazy_pattern(rf"{_COOKIE}(?:;[ ]?{_COOKIE})*", re.ASCII)
_COOKIE_HEAD = 512
_BEARER = lazy_pattern(r"[ ]+(?P<value>[A-Za-z0-9._~+/%-]{16,4096}=*)")

_RULE_SIGN = lazy_pattern(r"-:? ?\|")  # in the delimiter row of every table with more than one column
_TABLE_RULE = lazy_pattern(r"[ \t>]{0,16}\|?[-:| \t]*+\r?")
_TABLE_HEAD = 512  # maximum characters of a header row
_TABLE_ROW = lazy_pattern(r"[ \t>]{0,16}\|?(?P<cells>[^\n]{0,2048})(?:\n|\Z)")
_TABLE_CELL = lazy_pattern(r"(?P<cell>(?:[^|\\\n]++|\\[^\n])*+)(?:\||\Z)")
_EMPHASIS = " \t\r*_`"
_LONGEST_COLUMN = 40

_SEED_NAMES = (
    "seed phrase", "seed words", "recovery phrase", "recovery words", "backup phrase", "mnemonic",
    "wallet seed", "secret phrase", "助记词", "助憶詞", "恢复短语", "恢复词",
)  # fmt: skip
_SEED_COUNTS = frozenset({12, 15, 18, 21, 24})
_OF_SENTENCES = frozenset({
    "the", "and", "for", "are", "was", "has", "had", "not", "but", "our", "his", "her", "who", "its", "from",
})  # fmt: skip
_SEED_BETWEEN = r"[ \t,，、|*_`\"']{0,3}+(?:\r?\n)?+[ \t>*-]{0,4}+(?:[0-9]{1,2}+[.):：]?+[ \t]{0,2}+)?+"
_SEED_LEAD = lazy_pattern(
    r"(?:[^\n一-龥]{0,40}?(?:[:：=]|\b(?:is|are)\b|[是为])|[ ]?(?=\n)|)"
    r"[\s:：*_`\"'>-]{0,6}(?:1[.):：]?[ ]{0,2})?"
)
_SEED_EN = lazy_pattern(rf"[a-z]{{3,8}}+(?:(?!\w){_SEED_BETWEEN}(?<!\w)[a-z]{{3,8}}+(?![A-Za-z])){{11,24}}+")
_SEED_ZH = lazy_pattern(
    r"[一-龥](?:[ ，、]{1,2}[一-龥]){11,24}(?![一-龥])|(?<=[:：=\s])[一-龥]{12,24}(?=[\s。]|\Z)"
)
_SEED_WORD = lazy_pattern(r"[a-z]+|[一-龥]")


def pairs(text: str) -> Iterator[Span]:
    """Yield the values before or after the names of secrets."""
    lowered = text.replace("İ", "i").lower()  # the only letter whose lower case is longer
    places = [found.start() for stem, ends in _STEMS if stem in lowered for found in ends.finditer(lowered)]
    if "mot de passe" in lowered or (not text.isascii() and any(sign in lowered for sign in _SIGNS_ZH)):
        places += (at for stem in _STEMS_ZH if stem in lowered for at in positions(lowered, stem))
    places.sort()
    done = stop = asked = 0
    for at in places:
        if at < done or _in_mark(text, at):
            continue
        if at >= stop:
            stop, asked = _RUN.match(text, at).end(), 0  # type: ignore[union-attr]  # may be empty
        asked += 1
        if asked > _MAX_NAMES and stop - at > _LONG_RUN:
            # Many names without a gap are adversarial input: redact the rest of the run.
            done = stop
            yield "secret", at, stop
            continue
        done, span = _secret_at(text, lowered, at)
        if span is not None:
            done = max(done, span[2])
            yield span
    if places:
        yield from _tables(text)


def _in_mark(text: str, at: int) -> bool:
    begin = text.rfind("[redacted:", max(0, at - _LONGEST_HEAD), at)
    found = MARK.match(text, begin) if begin >= 0 else None
    return found is not None and at < found.end()


def _secret_at(text: str, lowered: str, at: int) -> tuple[int, Span | None]:
    """Return the end of the name around `at`, and the secret it names."""
    left = _LEFT.search(text, max(0, at - _LONGEST_KEY), at) if text[at - 1 : at] in _KEY_SIGNS else None
    start = left.start() if left else at
    if text.startswith("-D", start):
        start += 2  # an option of Java and CMake
    if text.endswith("://", 0, start):
        return at, None  # the user name of a URL
    chinese = _STEM_ZH.match(lowered, at)
    end = chinese.end() if chinese else _RIGHT.match(text, at).end()  # type: ignore[union-attr]  # may be empty
    if lowered.startswith(("auth", "cookie"), at):
        found = _header(text, lowered[start:end], end)
        if found is not None:
            return end, found
    if lowered.startswith("bearer", at) and (shown := _BEARER.match(text, end)):
        real = looks_random(shown["value"]) and not stands_in(shown["value"])
        return end, ("token", *shown.span("value")) if real else None
    how = strength(lowered[at:end] if chinese else text[start:end])
    if how is None and lowered[start:end] == "key":
        whose = _KEY_OF.search(lowered, max(0, start - 18), start)
        how = "plain" if whose and whose["word"] in KEYS_OF else None
    value = _value(values.SecretName(text, start, end, how)) if how else None
    return end, (KINDS[how], *with_its_rest(text, value)) if how and value else None


def _header(text: str, name: str, at: int) -> Span | None:
    between = _HEADER.match(text, at)
    if between is None:
        return None
    if name.endswith("cookie"):
        head = _COOKIES.match(text, between.end(), between.end() + _COOKIE_HEAD)
        parts = [part.partition("=")[2] for part in head[0].split(";")] if head else []
        all_of_it = _COOKIES.match(text, between.end()) if any(map(values.is_cookie, parts)) else None
        return ("cookie", *all_of_it.span()) if all_of_it else None
    if not name.endswith("authorization"):
        return None
    scheme = _SCHEME.match(text, between.end())
    if scheme and scheme[0].lower().startswith(("digest", "aws4")):
        found = _LINE.match(text, scheme.end())
        return ("authorization", *found.span()) if found and "=" in found[0] else None
    found = _HEADER_VALUE.match(text, scheme.end() if scheme else between.end())
    if found is None or stands_in(found[0]):
        return None
    real = looks_random(found[0]) or (scheme is not None and any(map(str.isdigit, found[0])))
    return ("authorization", *found.span()) if real else None


def _value(key: values.SecretName) -> Extent | None:
    """Find the value after a separator, in a sentence, or directly after the name."""
    text, end = key.text, key.end
    annotated = _ANNOTATED.match(text, end)
    separator = annotated or _SEPARATOR.match(text, end)
    if separator and not annotated and separator["weak"]:
        return values.beside_comma(key, separator.end())
    value = values.assigned(key, separator.end(), separator[0]) if separator else None
    if value is not None:
        return value
    chinese = _SAYS_ZH.match(text, end)
    if chinese is not None:
        foreign = _NO_BLANKS.search(key.name) is not None
        assigns = (_ASSIGNS_ZH if foreign else _COPULA_ZH).search(chinese[0]) is not None
        if assigns or foreign:
            return values.said_zh(key, chinese.end(), assigns=assigns) or values.used_as(key)
    english = _SAYS_EN.match(text, end)
    value = values.said(key, english.end()) if english else None
    if value is None and key.strength == "strong" and text.startswith(" to ", end):
        value = values.said(key, end + 4)  # "to X: …" may also state X
    return value or values.beside(key) or values.used_as(key)


def _tables(text: str) -> Iterator[Span]:
    """Yield the values of table columns whose header names a secret: `| user | password |`."""
    done = 0
    for sign in _RULE_SIGN.finditer(text):
        if sign.start() < done:
            continue
        begin = text.rfind("\n", done, sign.start())
        end = text.find("\n", sign.start())
        done = len(text) if end < 0 else end
        if begin < 0 or not _TABLE_RULE.fullmatch(text, begin + 1, done):
            continue
        head = text.rfind("\n", max(0, begin - _TABLE_HEAD), begin) + 1
        columns = _secret_columns(text[head:begin]) if begin - head < _TABLE_HEAD else {}
        if columns:
            done = yield from _rows(text, done + 1, columns)


def _secret_columns(head: str) -> dict[int, Strength]:
    if "|" not in head:
        return {}
    names = head.strip(" \t\r>").strip("|").split("|")
    return {
        number: how
        for number, name in enumerate(names)
        if name.strip() and len(name) <= _LONGEST_COLUMN and (how := strength(name.strip(_EMPHASIS)))
    }


def _rows(text: str, at: int, columns: dict[int, Strength]) -> Generator[Span, None, int]:
    """Yield the secrets of the table rows from `at` on; return the end of the table."""
    while at < len(text):
        row = _TABLE_ROW.match(text, at)
        if row is None or "|" not in row[0]:
            break
        at = row.end()
        for number, cell in enumerate(_TABLE_CELL.finditer(text, row.start("cells"), row.end("cells"))):
            how = columns.get(number)
            span = _cell_value(cell["cell"], how) if how else None
            if how and span:
                yield KINDS[how], cell.start() + span[0], cell.start() + span[1]
    return at


def _cell_value(cell: str, how: Strength) -> tuple[int, int] | None:
    at = len(cell) - len(cell.lstrip())
    between = quoted_value(cell, at)
    if between is not None:
        alone = not cell[between[1] :].strip("\"'`”’」』 \t\r")
        return between if alone and values.fits_quoted(how, cell[slice(*between)]) else None
    found = bare_value(cell, at)
    whole = found is not None and not cell[found.end :].strip(f"{CLOSING}*_<>！？（「『“‘ \t\r")
    return found.extent if found and whole and values.cell_fits(how, found) else None


def seed_phrases(text: str) -> Iterator[Span]:
    """Yield the words from which a wallet's keys are made, behind "seed phrase", "助记词" and the like.

    A list has 12 to 24 words, each of three to eight small letters, or one Chinese character; without blanks
    it has 12, 15, 18, 21 or 24. The words of a sentence are shorter, longer, or among `_OF_SENTENCES`.
    """
    lowered = text.replace("İ", "i").lower()
    for name in _SEED_NAMES:
        for at in positions(lowered, name) if name in lowered else ():
            begin = _SEED_LEAD.match(text, at + len(name)).end()  # type: ignore[union-attr]  # may be empty
            found = _SEED_EN.match(text, begin) or _SEED_ZH.match(text, begin)
            words = _SEED_WORD.findall(found[0]) if found else []
            counted = found is not None and (len(words) in _SEED_COUNTS or not found[0].isalpha())
            if found and counted and _OF_SENTENCES.isdisjoint(words):
                yield "seed", *found.span()
