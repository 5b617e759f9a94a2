"""Lines of the journal of a few kinds, without decoding all the others."""

import re
from collections.abc import Iterable
from pathlib import Path

from mnemark.files import jsonl, platform
from mnemark.files.journal import Change, decode_change, look


def changes_of(root: Path, kinds: Iterable[str]) -> list[Change]:
    """The changes of these kinds in the journals of all machines, in the order of their ids, each once."""
    kinds = frozenset(kinds)
    words = "|".join(sorted(kinds)).encode()
    wanted = re.compile(rb'"kind"\s*:\s*"(?:' + words + rb')"')
    found: dict[str, Change] = {}
    for path in look(root).files:
        data = platform.content(path)
        for match in wanted.finditer(data):
            end = data.find(b"\n", match.end())
            line = data[data.rfind(b"\n", 0, match.start()) + 1 : end if end >= 0 else len(data)]
            record = jsonl.decode(line)
            change = decode_change(record) if record is not None else None
            if change is not None and change.kind in kinds:
                found.setdefault(change.id, change)
    return [found[identifier] for identifier in sorted(found)]
