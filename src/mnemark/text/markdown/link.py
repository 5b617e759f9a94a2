"""Write links between the pages of a workspace, which work in an editor and on a git host."""

import posixpath

from mnemark.text.lazy_pattern import lazy_pattern

_SIGNS = lazy_pattern(r"[\s()<>\\%]")
_BRACKETS = str.maketrans({"[": "(", "]": ")"})


def link(words: str, path: str, page: str) -> str:
    """Return a link to `path`, relative to the folder of `page`; both are relative to the workspace.

    >>> link("Wedding [Tuscany]", "memory/episodes/2026-02-13-wedding.md", "memory/2026-02-13.md")
    '[Wedding (Tuscany)](episodes/2026-02-13-wedding.md)'
    """
    target = posixpath.relpath(path, posixpath.dirname(page) or ".")
    encoded = _SIGNS.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), target)
    return f"[{' '.join(words.translate(_BRACKETS).split())}]({encoded})"
