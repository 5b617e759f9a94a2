"""Import notes and conversations of other programs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from mnemark.errors import MnemarkError, NotFoundError
from mnemark.files import layout, off_record
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.transfer.importer import Incoming, Summary
from mnemark.types import Problem


def import_from(
    ws: OpenWorkspace,
    format: str,  # noqa: A002 - the word of the command
    path: Path,
    *,
    dry_run: bool = False,
    columns: Mapping[str, str] | None = None,
    me: Sequence[str] = (),
    progress: Callable[[Mapping[str, int]], None] | None = None,
) -> Summary:
    """Import notes and conversations; importing again adds nothing, and goes on where one was cut off.

    Args:
        ws: the workspace to import into.
        format: the name of a row in the table of formats; empty: it is recognised.
        path: the file or folder to read. It is never changed.
        dry_run: only return what would be done.
        columns: of a table or JSON Lines, which column is what.
        me: what the owner is called in a chat of several people, beside the configured `owner`.
        progress: is called with the counts so far; what it raises ends the import, which can be continued.

    Nothing is overwritten: a note with other content is imported as `NAME.imported.md`, sessions get the
    turns that they lack. Secrets are redacted from conversations before they are written. What is left out
    is counted, with the reason.

    Raises:
        UsageError: the format is unknown, or nothing recognises the source.
        NotFoundError, IntegrityError: there is nothing of that format at `path`.
        MnemarkError: nothing in it could be imported, and nothing of it is there.
        ReadOnlyError, BusyError: the workspace cannot be written (now).
    """
    table: Any = import_module("mnemark_adapters.importers.formats")
    if format:
        table.check_name(format)
    path = path.expanduser().absolute()
    if not path.exists():
        raise NotFoundError(f"{path} does not exist")
    if path.is_symlink():  # one that was named is meant; others are not followed
        path = path.resolve()
    if not dry_run:
        ws.check_writable("import")
        off_record.check(ws.root, "import")
    with _source_errors(path), table.opened(path) as source:
        chosen = table.BY_NAME[format] if format else table.recognise(source, columns)
        incoming = Incoming(ws, chosen.name, path, dry_run=dry_run, me=me, progress=progress)
        try:
            chosen.read_into(incoming, source, dict(columns or {}))
        finally:
            incoming.close()
        for name, inner in () if format else table.others_in(source, chosen):
            incoming.problems.append(Problem(name, f"holds {inner.title}: not imported; give its own path"))
        summary = incoming.finish()
    if summary.is_empty:
        raise MnemarkError(nothing_imported(summary, path, chosen.expects))
    return summary


def format_titles() -> dict[str, str]:
    """Return the names of the formats, each with what people call it."""
    table: Any = import_module("mnemark_adapters.importers.formats")
    return {one.name: one.title for one in table.FORMATS}


def nothing_imported(summary: Summary, path: Path, expects: str) -> str:
    """Return why an import brought nothing, and what was expected."""
    reasons = [*(f"{one.reason}" for one in summary.problems[:3]), *(str(one) for one in summary.left[:3])]
    why = f" ({'; '.join(reasons)})" if reasons else ""
    return f"nothing was imported from {layout.shown(path.name)}{why}; expected is {expects}"


@contextmanager
def _source_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:  # of the source: errors of writing here were translated already
        raise MnemarkError(
            f"{layout.shown(error.filename or str(path))} cannot be read: {error.strerror}; make it "
            "readable and import again to continue"
        ) from error
