"""Neutral text for the regression: sentences and Chinese–English pairs from documentation packages.

`--corpus DIR` holds one folder per package, as `dpkg-deb -x` makes them. Only statistics of the words go
into the product (one vector per word), never a sentence.
"""

import hashlib
import html
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from stopwords import ENGLISH

TAG = re.compile(r"<[^>]+>")
DROP = re.compile(
    r"<(script|style|pre|code|head|nav|footer|screen|literallayout)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE
)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
BLOCK = re.compile(
    r"</?(p|div|li|ul|ol|dl|dt|dd|td|th|tr|table|h[1-6]|title|body|html|section|blockquote|item|page|"
    r"info|desc|note|steps|list|caption|figure|article|header|br)\b[^>]*>",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z])")
WORD = re.compile(r"[A-Za-z]+")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
MARKUP_SUFFIXES = {".html", ".htm", ".xhtml", ".page"}
PER_PACKAGE = 12_000
TRANSLATED = {"/en-US/": "/zh-CN/", "/C/": "/zh_CN/", "-en-us/": "-zh-cn/"}
MO_MAGIC = 0x950412DE


def blocks(path: Path) -> list[str]:
    """The text blocks (paragraphs, items, headings) of a markup or plain file, without markup."""
    raw = path.read_bytes().decode("utf-8", "replace")
    if path.suffix.lower() not in MARKUP_SUFFIXES:
        parts = re.split(r"\n\s*\n|\n%\n", raw)
    else:
        parts = BLOCK.sub("\n\0", DROP.sub(" ", COMMENT.sub(" ", raw))).split("\0")
        parts = [html.unescape(TAG.sub(" ", part)) for part in parts]
    joined = (" ".join(part.split()) for part in parts)
    return [part for part in joined if part]


def good_sentence(text: str) -> bool:
    """An English sentence: 4 to 60 words, one in six a function word, few digits and signs."""
    words = WORD.findall(text)
    letters = sum(map(len, words))
    common = sum(word.lower() in ENGLISH for word in words)
    return (
        4 <= len(words) <= 60
        and letters >= 0.72 * len(text)
        and len(text) <= 400
        and 6 * common >= len(words)
    )


def sentences(folder: Path) -> list[str]:
    """English sentences of all packages under `folder`: each once, at most `PER_PACKAGE` a package.

    The choice among too many is by hash, so that it does not depend on the order of files.
    """
    chosen: set[str] = set()
    for package in sorted(path for path in folder.iterdir() if path.is_dir()):
        found: set[str] = set()
        for path in sorted(package.rglob("*")):
            if path.is_file() and not path.is_symlink() and _is_english_text(path):
                for block in blocks(path):
                    found.update(part for part in SENTENCE_END.split(block) if good_sentence(part))
        found.update(text for text in _messages(package) if good_sentence(text))
        chosen.update(sorted(found, key=_rank)[:PER_PACKAGE])
    return sorted(chosen)


def _messages(package: Path) -> Iterator[str]:
    """English messages of the largest catalogue of each text domain: the most fully translated one."""
    largest: dict[str, tuple[int, Path]] = {}
    for path in sorted(package.rglob("*.mo")):
        largest[path.name] = max(largest.get(path.name, (0, path)), (path.stat().st_size, path))
    for _, path in largest.values():
        yield from (english for english, _ in read_mo(path))


def _rank(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _is_english_text(path: Path) -> bool:
    name = path.as_posix()
    if "/help/" in name and "/help/C/" not in name and "libreoffice" not in name:
        return False
    if re.search(r"/(?!en)[a-z]{2}([_-][A-Z]{2})?/", name.split("/usr/share/", 1)[-1]) or "-zh-" in name:
        return False
    if path.suffix.lower() in MARKUP_SUFFIXES | {".txt", ".rst"}:
        return True
    return "/games/fortunes/" in name and path.suffix == ""


def pairs(folder: Path) -> list[tuple[str, str]]:
    """(Chinese, English) pairs: gettext catalogues, and translated pages with the same number of blocks."""
    found: set[tuple[str, str]] = set()
    for path in sorted(folder.rglob("*.mo")):
        if "/zh_CN/" in path.as_posix():
            found.update((zh, en) for en, zh in read_mo(path) if good_pair(zh, en))
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in MARKUP_SUFFIXES and path.is_file():
            found.update(_page_pairs(path))
    return sorted(found)


def _page_pairs(path: Path) -> Iterator[tuple[str, str]]:
    name = path.as_posix()
    for source, target in TRANSLATED.items():
        name = name.replace(source, target)
    other = Path(name)
    if other != path and other.is_file():
        english, chinese = blocks(path), blocks(other)
        if len(english) == len(chinese):
            yield from ((zh, en) for en, zh in zip(english, chinese, strict=True) if good_pair(zh, en))


def good_pair(chinese: str, english: str) -> bool:
    """A Chinese text and its English one: of plausible lengths, each in its own script."""
    han = len(CHINESE.findall(chinese))
    words = len(WORD.findall(english))
    return 2 <= han <= 120 and 1 <= words <= 80 and not CHINESE.search(english) and 0.5 <= han / words <= 4


def read_mo(path: Path) -> Iterator[tuple[str, str]]:
    """(msgid, msgstr) of a gettext catalogue, plurals by their first form."""
    data = path.read_bytes()
    magic, _, count, ids, strings = struct.unpack_from("<5I", data)
    if magic != MO_MAGIC:
        raise ValueError(f"{path} is no little-endian gettext catalogue")
    for number in range(count):
        texts = []
        for base in (ids, strings):
            length, offset = struct.unpack_from("<2I", data, base + 8 * number)
            text = data[offset : offset + length].decode("utf-8", "replace").split("\0")[0]
            texts.append(" ".join(re.sub(r"[_&~](?=\w)", "", TAG.sub("", text.split("\x04")[-1])).split()))
        if texts[0] and texts[1]:
            yield texts[0], texts[1]
