"""Take words out of the line of a correction."""

from collections.abc import Callable, Mapping
from typing import Final

from mnemark.files import jsonl
from mnemark.memory.forgetting.select import only_from
from mnemark.types import Json

_BESIDE: Final = frozenset({"fact", "before", "never", "revived"})
"""Keys of a correction beside what is right."""


def left_of_correction(
    record: Mapping[str, Json],
    payload: Mapping[str, Json],
    is_erased: Callable[[Json, Mapping[str, Json]], bool],
    turns: Mapping[str, set[int]],
    time: str,
) -> bytes | None:
    """Return the line of a correction without what was wrong, or what is right, as far as that is erased.

    That a fact was wrong stays, so that it does not come back. None where nothing of it is erased.

    Args:
        record: the line.
        payload: what it says.
        is_erased: whether the fact of an id is erased, or its words.
        turns: the lines of turns that are erased, by their logs.
        time: when that was asked for.
    """
    before = payload.get("before")
    before = before if isinstance(before, Mapping) and "value" in before else {}
    right = {name: value for name, value in payload.items() if name not in _BESIDE}
    wrong_goes = bool(before) and is_erased(payload.get("fact"), before)
    right_goes = bool(right) and is_erased(record.get("id"), right)
    if not (wrong_goes or right_goes):
        return None
    kept: dict[str, Json] = {"fact": payload.get("fact")} | ({} if right_goes else right)
    if right_goes or not right:
        kept["never"] = True
    if before and not wrong_goes:
        kept["before"] = before
    elif before and not only_from(source := str(before.get("source", "")), turns):
        kept["before"] = {"id": before.get("id"), "source": source}  # beside the turn is said what is right
    if "revived" in payload:
        kept["revived"] = payload["revived"]
    return jsonl.encode({**record, "payload": kept, "erased": time})
