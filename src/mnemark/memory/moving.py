"""Move whole memories between a server and folders of this machine."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import NotFoundError, UsageError
from mnemark.files import platform
from mnemark.files.config import load
from mnemark.memory.client import Client
from mnemark.memory.merging.merge import Merged
from mnemark.memory.merging.source import checked, comes_along, note_sent
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.transfer.backup import pack
from mnemark.memory.transfer.importer import Summary
from mnemark.memory.transfer.imports import import_from
from mnemark.memory.transfer.restore import Restored, check_new, restore
from mnemark.memory.transfer.transfer import put_in_place

_JOURNAL: Final = "imports"
"""What the journal of copies is called: each is at another place, and would have one of its own."""
_ARCHIVE: Final = "memory.zip"


class Moves:
    """What `RemoteMemory` does with a whole memory."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def export(self, folder: Path) -> Restored:
        """Write the memory into a folder that is empty or missing."""
        target = check_new(folder)
        with tempfile.TemporaryDirectory(prefix="mnemark-export-") as beside:
            archive = Path(beside) / _ARCHIVE
            self._client.download("export", archive)
            done = restore(archive, target)
        note_sent(target)  # what is changed here from now on, a merge into the server takes over
        return done

    def export_file(self, target: Path) -> Path:
        """Write the memory into one file."""
        path = target.expanduser().absolute()
        if path.is_dir():
            raise UsageError(f"{path} is a folder; give a file name")
        with put_in_place(path) as temporary:
            self._client.download("export", temporary)
        return path

    def merge(self, other: Path | str, *, dry_run: bool) -> Merged:
        """Bring everything of a folder into the memory."""
        folder = Path(other).expanduser().absolute()
        if not folder.is_dir():
            raise NotFoundError(f"there is no folder {folder}; a server takes a folder of this machine")
        checked(folder, str(other))
        with tempfile.TemporaryDirectory(prefix="mnemark-merge-") as beside:
            archive = Path(beside) / _ARCHIVE
            _, problems = pack(folder, archive, without=lambda path: not comes_along(path))
            query = {"source": f"{platform.machine_name()}:{folder.name}", "dry_run": "1" if dry_run else ""}
            merged = msgspec.convert(self._client.upload("merge", archive, query), Merged, strict=False)
        if not dry_run:
            note_sent(folder)
        known = {one.path for one in merged.problems}
        unsent = (one for one in problems if one.path not in known)
        return msgspec.structs.replace(merged, problems=(*merged.problems, *unsent))

    def import_(
        self, form: str, path: Path, *, dry_run: bool, columns: Mapping[str, str] | None, me: Sequence[str]
    ) -> Summary:
        """Import what another program holds."""
        with self.copy() as ws:
            done = import_from(ws, form, path, dry_run=dry_run, columns=columns, me=me)
            if not dry_run:
                self.merge(ws.root, dry_run=False)
        return done

    @contextmanager
    def copy(self) -> Iterator[OpenWorkspace]:
        """Have a copy of the memory in a temporary folder."""
        with tempfile.TemporaryDirectory(prefix="mnemark-copy-") as beside:
            folder = Path(beside) / "memory"
            self.export(folder)
            ws = OpenWorkspace(folder, load(folder), readonly=False, embedder=None, machine=_JOURNAL)
            try:
                yield ws
            finally:
                ws.close()
