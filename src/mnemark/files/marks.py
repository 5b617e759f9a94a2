"""Find the marks of git in a file that two people changed, and the versions between them.

<<<<<<< HEAD
ours
||||||| the version before, where git is set to show it
=======
theirs
>>>>>>> a branch
"""

import re
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

_MARKS: Final = lazy_pattern(r"^(?:<{7} [^\r\n]*|>{7} [^\r\n]*|\|{7}(?: [^\r\n]*)?|={7})\r?$", re.MULTILINE)


def is_marked(data: bytes) -> bool:
    """Whether git marked two versions of some lines."""
    return b"<<<<<<< " in data and b">>>>>>> " in data and b"\n=======" in data


def without_marks(text: str) -> str:
    """Return a text with the marks emptied; line numbers do not change."""
    if "<<<<<<< " not in text or ">>>>>>> " not in text:
        return text
    return _MARKS.sub("", text)


def versions_of(data: bytes) -> tuple[bytes | None, bytes, bytes]:
    """Return the version before, if git shows it, and the two versions of a file."""
    sides: dict[str, list[bytes]] = {"base": [], "ours": [], "theirs": []}
    now, shows_base = "", False
    for line in data.split(b"\n"):
        bare = line.rstrip(b"\r")
        if not now and bare.startswith(b"<<<<<<< "):
            now = "ours"
        elif now == "ours" and bare.startswith(b"|||||||"):
            now, shows_base = "base", True
        elif now in {"ours", "base"} and bare == b"=======":
            now = "theirs"
        elif now == "theirs" and bare.startswith(b">>>>>>> "):
            now = ""
        else:
            for name in (now,) if now else sides:
                sides[name].append(line)
    base, ours, theirs = (b"\n".join(lines) for lines in sides.values())
    return base if shows_base else None, ours, theirs
