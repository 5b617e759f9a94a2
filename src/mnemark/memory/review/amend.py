"""Bring a line that a person wrote up to date, once they have accepted the fact that contradicts it."""

import re
from datetime import datetime
from typing import Final

from mnemark.errors import UsageError
from mnemark.facts.model import Fact
from mnemark.files import layout
from mnemark.files.names import split_ref
from mnemark.memory import file_edits
from mnemark.memory.file_edits import Written
from mnemark.memory.learning.by_hand import contradiction, line_of, statements_of
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import clean
from mnemark.text.words.normalize import HAN

_NEXT: Final = lazy_pattern(r"\s*(?:[-*+#>|]|\d{1,3}[.)、]|$)")
"""The line after a statement: a blank one, a bullet, a heading, a quotation."""


def amend(ws: OpenWorkspace, fact: Fact, *, dry_run: bool = False) -> Written | None:
    """Write what a fact says into the line that it contradicts; None if that line is gone or was changed.

    The old value in the line is replaced where it stands there once; else the new one is added behind it. The
    edit can be undone by the id of the fact.
    """
    path = split_ref(fact.against.rpartition(" (")[2].removesuffix(")"))[0]
    if not fact.against or not (layout.safe_path(ws.root, path)).is_file():
        return None
    found = [(number, said) for number, said in statements_of(ws, path) if _is_meant(fact, said)]
    if not found:
        return None
    number, said = found[0]

    def change(text: str) -> str:
        rows = text.splitlines(keepends=True)
        more = (at for at in range(number, len(rows)) if _NEXT.match(rows[at]))
        end = next(more, len(rows))
        return "".join(
            (*rows[: number - 1], amended("".join(rows[number - 1 : end]), said, fact, ws.now()), *rows[end:])
        )

    try:
        return file_edits.write(
            ws, path, change, step="review: accepted", origin="owner", group=fact.id, dry_run=dry_run
        )
    except UsageError:  # no text any more
        return None


def _is_meant(fact: Fact, said: str) -> bool:
    return fact.against.startswith(f"{clean(said)} (")


def amended(rows: str, said: str, fact: Fact, now: datetime) -> str:
    """Return the lines of a statement with what a fact says.

    >>> new = Fact(id="", subject="project", predicate="postgresql version", value="16")
    >>> amended("- PostgreSQL 14 on a", "PostgreSQL 14 on a", new, datetime(2026, 1, 1)).strip()
    '- PostgreSQL 16 on a'
    >>> amended("- PostgreSQL 14 at 14:00", "PostgreSQL 14 at 14:00", new, datetime(2026, 1, 1))
    '- PostgreSQL 14 at 14:00 (now: 16)'
    """
    found = contradiction(fact, "", line_of("", said, now))
    if found is not None:
        ascii_ = found.old.isascii()  # Chinese words have no boundaries to check
        spot = re.compile(
            (r"(?<![\w.])" if ascii_ else "") + re.escape(found.old) + (r"(?!\w|\.\d)" if ascii_ else "")
        )
        if len(spot.findall(rows)) == 1:
            return spot.sub(lambda _: found.new, rows)
    words = rows.rstrip()
    remark = f"（现在：{fact.value}）" if HAN.search(words) else f" (now: {fact.value})"
    return words + remark + rows[len(words) :]
