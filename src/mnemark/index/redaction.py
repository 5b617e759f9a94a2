"""Mark passages to be indexed again when something in them became secret or private.

Other rules (`Visible.identity`) make the whole index anew. Here is the rest: an exact secret of the
environment that was not known before, and a file in which more is marked than when it was read last. Where
either took something out, the sync asks for a scrub, which leaves no byte of it (`erase.scrub_index`).
"""

import hashlib
import re
from typing import Final

import msgspec

from mnemark.files import secrets
from mnemark.index.store import Index
from mnemark.text.redaction.spans import MARK

_VALUES: Final = "values"


def marks_in(index: Index, document: int) -> int:
    """Count the marks of redaction in the indexed text of a document."""
    marked = "instr(text, '[redacted:') + instr(text, '[private]')"
    sql = f"SELECT text FROM passages WHERE document = ? AND {marked}"  # noqa: S608 - a constant
    return sum(count_marks(text) for (text,) in index.rows(sql, (document,)))


def count_marks(text: str) -> int:
    """Count the marks of redaction in a text."""
    return sum(1 for _ in MARK.finditer(text))


def paths_with_new_values(index: Index) -> frozenset[str]:
    """Files of which the index holds an exact secret that was not known when they were indexed."""
    known = _hashes(index)
    new = known.keys() - _noted(index)
    if not new:
        return frozenset()
    wanted = re.compile("|".join(re.escape(known[one]) for one in sorted(new)))
    rows = index.connection.execute("SELECT document, title, text, meta FROM passages")
    numbers = {number for number, *texts in rows if any(map(wanted.search, texts))}
    listed = index.rows("SELECT id, path FROM documents")
    return frozenset(path for number, path in listed if number in numbers)


def note_values(index: Index) -> None:
    """Note that the index holds none of the exact secrets known now."""
    hashes = _hashes(index).keys()
    noted = _noted(index)
    if hashes - noted:
        value = msgspec.json.encode(sorted(hashes | noted)).decode()
        index.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_VALUES, value))


def _noted(index: Index) -> frozenset[str]:
    found = index.scalar("SELECT value FROM meta WHERE key = ?", (_VALUES,))
    return frozenset(msgspec.json.decode(found, type=list[str]) if isinstance(found, str) else ())


def _hashes(index: Index) -> dict[str, str]:
    """Return the exact secrets by a hash that nobody without the workspace's salt can test guesses on."""
    values = index.visible.rules.values
    key = secrets.salt(index.root) if values else b""
    return {
        hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=10, key=key).hexdigest(): value
        for value in values
    }
