"""Lines of the journal of a few kinds, without decoding all the others."""

import re
from collections.abc import Iterable
from pathlib import Path

from mnemark.files import jsonl
from mnemark.files.journal import FOLDER, Change, decode_change


def changes_of(root: Path, kinds: Iterable[str]) -> list[Change]:
    """The changes of these kinds in the journals of all machines, in the order of their ids, each once."""
    kinds = frozenset(kinds)
    words = "|".join(sorted(kinds)).encode()
    wanted = re.compile(rb'"kind"\s*:\s*"(?:' + words + rb')"')
    found: dict[str, Change] = {}
    folder = root / FOLDER
    for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
        data = path.read_bytes()
        for match in wanted.finditer(data):
            end = data.find(b"\n", match.end())
            line = data[data.rfind(b"\n", 0, match.start()) + 1 : end if end >= 0 else len(data)]
            record = jsonl.decode(line)
            change = decode_change(record) if record is not None else None
            if change is not None and change.kind in kinds:
                found.setdefault(change.id, change)
    return [found[identifier] for identifier in sorted(found)]
