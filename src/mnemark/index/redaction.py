"""Find files to index again because their indexed text contains a new secret or newly private text.

Changed redaction rules (`Visible.identity`) rebuild the whole index. This module covers new exact secrets of
the environment, and files with more redaction marks than when they were indexed. In both cases the sync
requests a scrub, which erases the old bytes (`erase.scrub_index`).
"""

import re
from typing import Final

import msgspec

from mnemark.files import secrets
from mnemark.hashes import blake2b
from mnemark.index.store import Index
from mnemark.text.redaction import MARK

_VALUES: Final = "values"


def marks_in(index: Index, document: int) -> int:
    """Return the number of redaction marks in the indexed text of a document."""
    marked = "instr(text, '[redacted:') + instr(text, '[private]')"
    sql = f"SELECT text FROM passages WHERE document = ? AND {marked}"  # noqa: S608 - a constant
    return sum(count_marks(text) for (text,) in index.rows(sql, (document,)))


def count_marks(text: str) -> int:
    """Return the number of redaction marks in a text."""
    return sum(1 for _ in MARK.finditer(text))


def paths_with_new_values(index: Index) -> frozenset[str]:
    """Return the files whose indexed text contains an exact secret that is new since the last sync."""
    known = _hashes(index)
    new = known.keys() - _recorded(index)
    if not new:
        return frozenset()
    wanted = re.compile("|".join(re.escape(known[digest]) for digest in sorted(new)))
    rows = index.connection.execute("SELECT document, title, text, meta FROM passages")
    numbers = {number for number, *texts in rows if any(map(wanted.search, texts))}
    packed = index.connection.execute("SELECT id, facts FROM documents WHERE facts <> x''")
    in_bytes = re.compile(wanted.pattern.encode("utf-8", "surrogatepass"))
    numbers |= {number for number, facts in packed if in_bytes.search(facts)}
    listed = index.rows("SELECT id, path FROM documents")
    return frozenset(path for number, path in listed if number in numbers)


def note_values(index: Index) -> None:
    """Record the hashes of all exact secrets known now, of which the index contains none."""
    hashes = _hashes(index).keys()
    recorded = _recorded(index)
    if hashes - recorded:
        value = msgspec.json.encode(sorted(hashes | recorded)).decode()
        index.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_VALUES, value))


def _recorded(index: Index) -> frozenset[str]:
    found = index.scalar("SELECT value FROM meta WHERE key = ?", (_VALUES,))
    return frozenset(msgspec.json.decode(found, type=list[str]) if isinstance(found, str) else ())


def _hashes(index: Index) -> dict[str, str]:
    """Return the exact secrets by keyed hash: guesses cannot be tested without the workspace's salt."""
    values = index.visible.rules.values
    key = secrets.salt(index.root) if values else b""
    return {
        blake2b(value.encode("utf-8", "surrogatepass"), digest_size=10, key=key).hexdigest(): value
        for value in values
    }
