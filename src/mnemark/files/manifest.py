"""Read and write the manifest of a backup: a JSON line in the archive for each name; see docs/backup.md.

It tells what a ZIP cannot: names that are not UTF-8, empty folders, links, times to the nanosecond, what was
left out. Files whose names not every program can write lie in the archive under a number.
"""

import base64
import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Final, Literal

import msgspec

from mnemark.errors import IntegrityError, NewerFormatError
from mnemark.files import layout
from mnemark.files.listing import InventoryItem

FOLDER: Final = ".mnemark-backup/"
NAME: Final = f"{FOLDER}manifest.jsonl"
VERSION: Final = 2
"""The first version had no manifest: a plain export."""
_LONGEST_LINE: Final = 1 << 20
_TROUBLE: Final = frozenset("\\\x7f")

Kind = Literal["file", "folder", "link", "left out"]


class Head(msgspec.Struct, frozen=True):
    """The first line."""

    mnemark: str = "backup"
    version: int = VERSION


class Archived(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of the manifest."""

    path: str
    """Relative, with `/`; where it is not UTF-8, as it can be shown."""
    kind: Kind
    raw: str = ""
    """The name's bytes in base64, where `path` is not the name itself."""
    mode: str = ""
    """Permission bits, octal."""
    mtime_ns: int | None = None
    size: int = 0
    sha256: str = ""
    member: str = ""
    """Name of the file in the archive, if not `path`."""
    target: str = ""
    """Of a link, as `path`."""
    raw_target: str = ""
    reason: str = ""
    """Why it was left out."""

    @property
    def name(self) -> str:
        """The relative path as the system has it; surrogates stand for bytes that are not UTF-8."""
        return _decoded(self.path, self.raw)

    @property
    def link(self) -> str:
        """The target of a link, as the system has it."""
        return _decoded(self.target, self.raw_target)

    @property
    def place(self) -> str:
        """The name in the archive."""
        return self.member or self.path


def entry_for(item: InventoryItem, *, target: str = "") -> Archived:
    """Return the entry of an item, as far as it is known before the file is read."""
    path, raw = _encoded(item.path)
    to, raw_to = _encoded(target)
    return Archived(
        path=path, raw=raw, kind=item.kind, mode=f"{item.mode:04o}", mtime_ns=item.mtime_ns, target=to,
        raw_target=raw_to,
    )  # fmt: skip


def is_plain(path: str) -> bool:
    """Whether any program that unpacks ZIP files can write this name as it is."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return not (min(path) < " " or set(path) & _TROUBLE or path.startswith(FOLDER))


def write(out: IO[bytes], entries: Iterable[Archived]) -> None:
    """Write a manifest."""
    for line in chain((Head(),), entries):
        out.write(msgspec.json.encode(line) + b"\n")


def read(source: IO[bytes]) -> Iterator[Archived]:
    """Yield the entries of a manifest. Raises NewerFormatError or, for damage, IntegrityError."""
    decoder = msgspec.json.Decoder(Archived)
    try:
        head = msgspec.json.decode(source.readline(_LONGEST_LINE), type=Head)
        if head.version > VERSION:
            raise NewerFormatError(f"the backup has format {head.version}; upgrade mnemark to restore it")
        while line := source.readline(_LONGEST_LINE):
            entry = decoder.decode(line)
            int(entry.mode or "0", 8), entry.name, entry.link  # unreadable files are reported here
            yield entry
    except (msgspec.DecodeError, ValueError) as error:
        raise IntegrityError(f"its list of files is damaged ({error}); use an older backup") from error


def _encoded(name: str) -> tuple[str, str]:
    shown = layout.shown(name)
    return (name, "") if shown == name else (shown, base64.b64encode(os.fsencode(name)).decode("ascii"))


def _decoded(shown: str, raw: str) -> str:
    return os.fsdecode(base64.b64decode(raw, validate=True)) if raw else shown
