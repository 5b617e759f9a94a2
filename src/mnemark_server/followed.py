"""The folder of a tenant on a node: it holds what the rows say, and what is written to it goes to them first.

All that a reader needs is in files, so that the same code answers here and on one machine.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import accumulate
from pathlib import Path
from typing import Final

from mnemark.errors import BusyError, MnemarkError
from mnemark.files import jsonl, layout, names, platform
from mnemark.files.journal import FOLDER
from mnemark.files.private import private_folder
from mnemark.files.secrets import SALT_FILE
from mnemark.files.truth import LOCK_SECONDS, ChangedFiles, Folder, workspace_lock
from mnemark_server.leases import Renewals
from mnemark_server.rows import LOG, Appended, FencedError, Lease, Part, TenantRows

_JOURNALS: Final = f"{FOLDER}/"
_ERASED: Final = b'"erased"'
"""What a line of the journal holds that says so, and one that was erased itself."""
_PRIVATE: Final = f"{layout.PRIVATE}/"


class FollowedFolder(Folder):
    """A folder that follows rows. Safe to use from several threads; one process of a node has it.

    Where a write could not be sent, the files it touched are taken from the rows again before a request is
    answered.
    """

    only_door = True
    still = (
        "free space in the tables of the database, until `mnemark db scrub` or until it is used again",
        "its write-ahead log and its backups, until they expire",
    )

    def __init__(self, root: Path, rows: TenantRows, renewals: Renewals) -> None:
        super().__init__(root)
        self.seq = 0
        """The last row that the files here have."""
        self.clean = 0
        """The last row up to which nothing here, `.mnemark` too, holds what was erased by then."""
        self.as_packed: frozenset[str] = frozenset()
        """Files that are as they were when the index that was unpacked here was made."""
        self.packed = 0
        """The last row of what was derived here when it was kept; see `packs`."""
        self.rewrote: Callable[[], None] = _ignore
        """Called after lines of a log were taken out: what they were is still in pages of the tables."""
        self._rows = rows
        self._renewals = renewals
        self._applying = threading.RLock()
        self._changing: ChangedFiles | None = None
        """The files of the change that this node is making."""
        self._own: frozenset[int] = frozenset()
        """Rows that this node wrote from the files that it has."""
        self._spoiled: set[str] = set()
        """Files that may differ from the rows."""
        self._news: list[tuple[str, int]] = []

    def fill(self) -> frozenset[str]:
        """Make the files of a new, empty folder, and return their paths. Raises UnavailableError."""
        with self._applying:
            self.name, salt = self._rows.about()
            platform.write_private(private_folder(self.root) / SALT_FILE, salt)
            self.seq, paths = self._rows.copy_to(self.root)
            self.clean = self.seq
        return frozenset(paths)

    def append(self, path: str, lines: Sequence[bytes], *, header: bytes = b"") -> list[int]:
        """Append all lines or none; they are acknowledged by the database when this returns."""
        names.inside(self.root, path)
        if not lines:
            return []
        ids = map(_id_of, lines)
        named = list(dict.fromkeys(filter(None, ids)))
        made = self._send(path, lines, header, named)
        if made.known:  # sent before, and the answer was lost
            return self._append_lacking(path, lines, header, made.known)
        self._apply(made.newer, own=made.seq)
        *offsets, end = accumulate((len(line) + 1 for line in lines), initial=made.starts)
        self.appended(path, end)
        return offsets

    def once(self) -> AbstractContextManager[object]:
        """Return nothing to wait for: the database appends no line whose id it knows."""
        return nullcontext()

    def _send(self, path: str, lines: Sequence[bytes], header: bytes, ids: Sequence[str]) -> Appended:
        first = header + b"\n" if header else b""
        return self._rows.append(path, first, b"\n".join(lines) + b"\n", ids, after=self.seq)

    def _append_lacking(
        self, path: str, lines: Sequence[bytes], header: bytes, known: frozenset[str]
    ) -> list[int]:
        """Append those lines that a log does not hold, and return where all stand.

        A line whose id is known and that is in no log was erased since, or its log was removed: it is new.
        """
        self.pull()
        there = self._places(path)
        left = [line for line in lines if _id_of(line) not in there]
        if left:
            new = [one for one in map(_id_of, left) if one and one not in known]
            made = self._send(path, left, header, new)
            self._apply(made.newer)
            self.pull()
            there = self._places(path)
        return [there[_id_of(line)] for line in lines]

    def _places(self, path: str) -> dict[str, int]:
        """Return where the lines of a log stand, by their ids."""
        return {_id_of(line.data): line.offset for line in jsonl.read(self.root / path)}

    @contextmanager
    def change(self, timeout: float = LOCK_SECONDS) -> Iterator[ChangedFiles]:
        """Be the one writer of documents on all nodes; what the block names is sent when it ends.

        Raises:
            BusyError: another node is changing this memory, or took over because this one was too slow.
        """
        outer: ChangedFiles | None = getattr(self._open, "files", None)
        if outer is not None:
            yield outer
            return
        files, sent = ChangedFiles(), False
        try:
            with workspace_lock(self.root, timeout):
                lease, newer = self._rows.lease(timeout, after=self.seq)
                try:
                    with self._renewals.holding(self._rows, lease):
                        self._follow(newer)
                        self._open.files = self._changing = files
                        try:
                            yield files
                        finally:
                            self._open.files = None
                            if files.paths:  # even where the block failed: what it named is written
                                self._push(lease, files)
                                sent = True
                finally:
                    self._changing = None
                    if not sent:
                        with suppress(BusyError):  # else it ends by itself
                            self._rows.release(lease)
        finally:
            self._open.files = None
            if files.paths:
                self.changed(files)

    def _push(self, lease: Lease, files: ChangedFiles) -> None:
        paths = [path for path in files.paths if not path.startswith(_PRIVATE)]
        with self._applying:
            try:
                if not self._spoiled.isdisjoint(paths):  # a line that others wrote may be missing
                    raise FencedError("what others wrote did not arrive in the folder here; try again")
                held = ((path, self._held(path)) for path in paths)
                made = self._rows.push(lease, held, base=self.seq)
            except MnemarkError:
                self._spoiled.update(paths)
                raise
            self._own |= made
            if any(path.endswith(LOG) for path in paths) and lease.erased <= self.clean:
                self.clean = max(made)  # else others erased before, and that is still to be dropped here
        if any(path.endswith(LOG) for path in paths):
            self.rewrote()

    def _held(self, path: str) -> bytes | None:
        try:
            return platform.content(self.root / path)
        except FileNotFoundError:
            return None

    def pull(self, seq: int | None = None) -> None:
        """Have what was acknowledged anywhere, up to `seq` at least; by default, up to now.

        Raises:
            UnavailableError: the database does not answer.
        """
        if seq is not None and self.seq >= seq and not self._spoiled:
            return
        self._follow(self._rows.newer(self.seq))

    def catch_up(self, seq: int | None = None) -> Sequence[tuple[str, int]]:
        """Return (path, size) of what others wrote since the last call, as far as a request has read rows."""
        if seq is not None:
            self.pull(seq)
        with self._applying:
            news, self._news = self._news, []
        return news

    def _follow(self, newer: Sequence[Part]) -> None:
        with self._applying:
            self._mend()
        self._apply(newer)

    def _apply(self, parts: Sequence[Part], *, own: int = 0) -> None:
        """Write what rows say to the files; those that are known are left out."""
        with self._applying:
            for part in parts:
                if part.seq <= self.seq:
                    continue
                self.seq = part.seq
                if part.seq in self._own or part.path in self._spoiled:
                    continue
                self._spoiled.add(part.path)  # if this is stopped here, it is taken again as a whole
                if part.kind == "a" and self._add(part):
                    self._spoiled.discard(part.path)
                    if part.seq != own:
                        self._grew(part)
            self._own = frozenset(seq for seq in self._own if seq > self.seq)
            self._mend()

    def _add(self, part: Part) -> bool:
        """Append a piece where it belongs; return False where the file is not as long as it was then."""
        path = names.inside(self.root, part.path)
        changing = self._changing is not None and part.path in self._changing.paths
        with platform.locked(
            path, os.O_RDWR | os.O_APPEND | os.O_CREAT, timeout=LOCK_SECONDS, make_parent=True
        ) as fd:
            # A log that this node is rewriting has another length; what is added to it is sent on with it, or
            # stays behind it.
            if os.fstat(fd).st_size != part.at and not changing:
                return False
            jsonl.write_all(fd, part.data, durable=False)
        return True

    def _mend(self) -> None:
        """Take spoiled files from the rows as a whole, but for those that this node is changing."""
        changing = set() if self._changing is None else set(self._changing.paths)
        wanted = sorted(self._spoiled - changing)
        if not wanted:
            return
        files = self._rows.contents(wanted)
        for path in wanted:
            data = files.get(path)
            if self._held(path) != data:
                self._write(path, data)
                self._note(path, data or b"", len(data or b""))
            self._spoiled.discard(path)

    def _grew(self, part: Part) -> None:
        """Note what others appended: of a session, as what was appended here, which searches find at once."""
        place, size = layout.place(part.path), part.at + len(part.data)
        if place is not None and place.role == "session":
            self.appended(part.path, size)
        else:
            self._note(part.path, part.data, size)

    def _note(self, path: str, data: bytes, size: int) -> None:
        """Note what others wrote, for the next look; a line of theirs may say that they erased text."""
        self._news.append((path, size))
        self.erased |= path.startswith(_JOURNALS) and _ERASED in data

    def _write(self, path: str, data: bytes | None) -> None:
        target = names.inside(self.root, path)
        if data is None:
            with suppress(FileNotFoundError):
                platform.FS.unlink(target)
            return
        platform.make_folder(target.parent)
        jsonl.replace_file(target, data, durable=False)


def _ignore() -> None:
    return


def _id_of(line: bytes) -> str:
    found = (jsonl.decode(line) or {}).get("id")
    return found if isinstance(found, str) else ""
