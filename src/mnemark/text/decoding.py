"""Decode bytes of a file to text: by a byte order mark, as UTF-8, or as what the characters look like."""

import codecs
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

# Longest marks first: the UTF-32 little-endian one begins with the UTF-16 one.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))
_HIGH = lazy_pattern(r"[^\x00-\x7f]")
BIG5: Final = "big5hkscs"
"""Python's name of Big5 with the characters of Hong Kong."""
_NAMES: Final = {BIG5: "Big5"}
_EVERYDAY: Final = {"gb2312": (0xB0, 0xD7, (0xA1, 0xA3)), BIG5: (0xA4, 0xC6, (0xA1, 0xA2))}
"""First and last lead byte of the commonest characters, and those of punctuation."""
_COMMONEST: Final = frozenset(
    "，。、；：？！的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那"
    "得于於着著下自之年过過发發后後作里裡用道行所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天"
    "分还還进進好小部其些主样樣理心她本前开開但因只从從想实實日军軍者意无無力它与與长長把机機十民第公此已工使情明"
    "性知全三又关關点點正业業外将將两兩高间間由问問很最重并並物手应應战戰向头頭文体體政美相见見被利什二等产產或新"
    "己制身果加西斯月话話合回特代内內信表化老给給世位次度门門任常先海通教儿兒东東原声聲提立及比员員解水名真论論处"
    "處走义義各入几幾口认認条條平系气氣题題活尔爾更别別打女变變四神总總何电電数數安少报報才结結反受目太量再感建务"
    "務做接必场場件计計管期市直德资資命山金指克许許统統区區保至队隊形社便空决決治展马馬科司五基眼书書非则則听聽白"
    "请請钱錢买買车車晚早今昨明吃饭飯会议議周週"
)
"""Those that are most frequent in Chinese, in both scripts."""
_MARGIN: Final = 0.15
_FEW: Final = 6
"""Characters of which the commonest say nothing."""


def decode(data: bytes) -> tuple[str, str, str | None] | None:
    """Decode bytes to (text, encoding, what was wrong or None); None if they are no text.

    A byte order mark decides. Otherwise, in this order: UTF-8, UTF-8 with damaged spots, GB18030 or Big5 if
    most of it is then everyday Chinese, Windows-1252 if it then reads as a Western text with accents, and
    UTF-8 with every foreign byte replaced by U+FFFD. A NUL becomes U+FFFD.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _marked(data[len(mark) :], encoding)
    trimmed = data.rstrip(b"\0")
    if data and not trimmed:
        return None
    problem = None if len(trimmed) == len(data) else "ends in NUL bytes, which were ignored"
    nuls = trimmed.count(0)
    if nuls * 1000 > len(trimmed):
        return None
    if nuls:
        problem = "holds NUL bytes, shown as \ufffd"
    try:
        return trimmed.decode().replace("\0", "\ufffd"), "utf-8", problem
    except UnicodeDecodeError:
        pass
    if (len(trimmed) - len(trimmed.translate(None, _CONTROL))) * 50 > len(trimmed):
        return None
    text, encoding = _guess(trimmed)
    read_as = f"is not UTF-8, read as {_NAMES.get(encoding, encoding)}"
    wrong = "has bytes that are not UTF-8" if encoding == "utf-8" else read_as
    return text.replace("\0", "\ufffd"), encoding, f"{wrong}: save it as UTF-8"


def _marked(data: bytes, encoding: str) -> tuple[str, str, str | None]:
    text = data.decode(encoding, "replace")
    # A damaged character and one that was always U+FFFD look alike; only the strict reading can tell.
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return text.replace("\0", "\ufffd"), encoding, f"has damaged {encoding} characters"
    problem = "holds NUL characters, shown as \ufffd" if "\0" in text else None
    return text.replace("\0", "\ufffd"), encoding, problem


def _guess(data: bytes) -> tuple[str, str]:
    utf8 = data.decode("utf-8", "replace")
    bad = utf8.count("\ufffd")
    if len(_HIGH.findall(utf8)) - bad >= bad:
        return utf8, "utf-8"
    if found := _chinese(data):
        return found
    try:
        western = data.decode("cp1252")
    except UnicodeDecodeError:
        return utf8, "utf-8"
    # Accents are sparse; a quarter of the text above ASCII is some other alphabet.
    if len(_HIGH.findall(western)) * 4 < len(western):
        return western, "cp1252"
    return utf8, "utf-8"


def _chinese(data: bytes) -> tuple[str, str] | None:
    """Return everyday Chinese in GB18030 or Big5 with its encoding; None if it is neither.

    Each reads the other's bytes as characters, too, but as rare ones. Where both readings look everyday, it
    is Big5 only if it then has many more of the commonest characters, of which a few words may have none.
    """
    simplified, traditional = data.decode("gb18030", "replace"), data.decode(BIG5, "replace")
    gb, big5 = _is_everyday(simplified, "gb2312"), _is_everyday(traditional, BIG5)
    few = len(_HIGH.findall(simplified)) < _FEW
    margin = (1.0 if few else _MARGIN) if gb else 0.0
    if big5 and _commonest(traditional) >= _commonest(simplified) + margin:
        return traditional, BIG5
    return (simplified, "gb18030") if gb else None


def _is_everyday(text: str, encoding: str) -> bool:
    """Whether most characters above ASCII are in the first level of a character set, or its punctuation.

    That are the 3,755 commonest of GB 2312, and 5,401 of Big5.
    """
    first, last, marks = _EVERYDAY[encoding]
    high: list[str] = _HIGH.findall(text)
    codes = (character.encode(encoding, "ignore") for character in high)
    common = sum(len(code) == 2 and (first <= code[0] <= last or code[0] in marks) for code in codes)
    return common * 10 >= len(high) * 7


def _commonest(text: str) -> float:
    """Return the share of the commonest characters among those above ASCII; in Chinese it is about a half."""
    high: list[str] = _HIGH.findall(text)
    return sum(character in _COMMONEST for character in high) / max(len(high), 1)
