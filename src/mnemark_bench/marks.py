"""What share of the real answers of tools is marked as an order or a claim, which is almost always false.

The folder holds sets (`corpus.jsonl`, as for `bench retrieval`; `queries.jsonl` is not read). Units of the
role "tool" are counted, as they are recorded, in two halves by a hash of the session: rules are written with
one in sight and reported for both.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from mnemark.errors import NotFoundError
from mnemark.hashes import blake2b
from mnemark.text.quoting.memory_poisoning import speaks_for_owner
from mnemark.text.quoting.notices import turn_without_notices
from mnemark.types import Turn
from mnemark_bench.data import SetUnit, read_lines


class HalfCounts(msgspec.Struct, kw_only=True):
    """The counts of one half of a set."""

    name: str
    half: str
    answers: int = 0
    marked: int = 0
    ids: list[str] = []
    """Those that are marked."""


def run(folder: Path) -> Iterator[HalfCounts]:
    """Count.

    Raises:
        NotFoundError: there is no set.
        UsageError: a line is not of the form.
    """
    found = sorted({*folder.glob("corpus.jsonl"), *folder.glob("*/corpus.jsonl")})
    if not found:
        raise NotFoundError(f"{folder} holds no corpus.jsonl, and no folder with one")
    for corpus in found:
        rows = [HalfCounts(name=corpus.parent.name, half=half) for half in ("first", "second")]
        for unit in read_lines(corpus, SetUnit):
            if unit.role == "tool":
                row = rows[blake2b(unit.session_id.encode(), digest_size=1).digest()[0] & 1]
                row.answers += 1
                if _is_marked(unit.text):
                    row.marked += 1
                    row.ids.append(unit.id)
        yield from (row for row in rows if row.answers)


def _is_marked(text: str) -> bool:
    turn = Turn(id="", time=datetime.now(UTC), role="tool", content=text, origin="tool")
    return speaks_for_owner(turn_without_notices(turn).content)


def table(rows: list[HalfCounts], *, ids: bool = False) -> str:
    """The counts as a table; `ids` also lists what is marked."""
    lines = [f"{'set':<20}{'half':<8}{'answers':>9}{'marked':>8}{'share':>9}"]
    for row in rows:
        share = row.marked / row.answers
        lines.append(f"{row.name:<20}{row.half:<8}{row.answers:>9}{row.marked:>8}{share:>9.2%}")
        lines += [f"    {one}" for one in row.ids] if ids else []
    return "\n".join(lines)
