"""Change the refs to lines of logs that moved when two logs were joined."""

import posixpath
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from mnemark.files import jsonl
from mnemark.files.join import join_logs
from mnemark.text.lines import decode, encode
from mnemark.text.markdown import generated

Moves = Mapping[str, Mapping[int, int]]
"""New numbers of lines, by the path of their log."""
_LINES: Final = re.compile(rb"#L\d+(?:-L?\d+)?")
_REF: Final = re.compile(rb"([^\s|<>()\[\]`'\"]*?sessions/[^\s|<>()\[\]`'\"#]+\.jsonl)#L(\d+)(?:(-L?)(\d+))?")


def moved(data: bytes, path: str, moves: Moves) -> bytes:
    """Return a text of the file `path` with its refs to lines that moved changed."""
    if not moves or b".jsonl#L" not in data:
        return data

    def change(found: re.Match[bytes]) -> bytes:
        lines = moves.get(_log(found[1].decode("utf-8", "replace"), path))
        if lines is None:
            return found[0]
        first = b"%b#L%d" % (found[1], lines.get(int(found[2]), int(found[2])))
        if found[4] is None:
            return first
        return first + b"%b%d" % (found[3], lines.get(int(found[4]), int(found[4])))

    new = _REF.sub(change, data)
    if new == data or b"<!-- mnemark:begin" not in data:
        return new
    return encode(generated.with_marks_of(decode(new), decode(data)))


def join_journals(
    path: str, ours: bytes, theirs: bytes, moves: Moves, their_moves: Moves, *, own: bool
) -> bytes:
    """Join two versions of a journal, and change the refs of their lines.

    A line that both have was written where the logs were the same, or, in the `own` journal, here. The same
    line with refs to other lines came from a machine that joined the logs before: the greater is kept.
    """
    shared = set(ours.split(b"\n")) & set(theirs.split(b"\n"))
    one = b"\n".join(moved(line, path, moves if own or line not in shared else their_moves)
                     for line in ours.split(b"\n"))  # fmt: skip
    other = b"\n".join(moved(line, path, moves if own and line in shared else their_moves)
                       for line in theirs.split(b"\n"))  # fmt: skip
    joined = join_logs(one, other).data
    kept: dict[bytes, bytes] = {}
    for line in joined.split(b"\n"):
        key = _LINES.sub(b"#L", line)
        kept[key] = max(line, kept.get(key, b""))
    return b"\n".join(kept.values())


def ids_in(journal: bytes) -> set[str]:
    """Return the ids of the lines of a journal."""
    return {_id(line) for line in journal.split(b"\n")}


def _id(line: bytes) -> str:
    return str((jsonl.decode(line) or {}).get("id") or "")


def _log(name: str, path: str) -> str:
    """Return the log that a ref names; links in Markdown are relative to their file."""
    if name.startswith("../"):
        return posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(name)))
    return name
