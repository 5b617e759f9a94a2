"""Implement `add` and `log`: write a note or turn, and list the latest entries."""

from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemark.errors import BusyError, UsageError, one_of
from mnemark.facts.visible import Visible
from mnemark.files import off_record
from mnemark.files.config import load
from mnemark.files.edit import edit
from mnemark.files.layout import in_scope
from mnemark.files.noting import taken_in
from mnemark.files.reading import READ_LIMIT
from mnemark.files.scopes import one_scope, scopes_of
from mnemark.files.workspace import Workspace
from mnemark.text.dates import local_now
from mnemark.text.dates.ranges import moment
from mnemark.text.markdown.writing import added
from mnemark_interfaces import options, output, render, speech, workspace
from mnemark_interfaces.queries import read_text
from mnemark_interfaces.timeline import LogEntry, Timeline, change_told

if TYPE_CHECKING:
    from mnemark.memory.open_workspace import OpenWorkspace

_SHOWN = 5
_WORDS = 100
"""Maximum number of characters of an entry shown."""
_ROLES = "user", "assistant", "system", "tool"


_Session = Annotated[
    str | None, typer.Option(metavar="ID", help="Save it as a message of this session, not as a note.")
]
_Role = Annotated[
    str | None,
    typer.Option(
        metavar="ROLE",
        help="Speaker of the message, with --session: user, assistant, system or tool.",
        show_default="user",
    ),
]
_Scope = Annotated[
    str | None,
    typer.Option(
        metavar="SCOPE",
        help="Memory of users/NAME, agents/NAME or projects/NAME. Default: the shared memory.",
    ),
]


def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help='The text to save; "-" reads it from stdin.')],
    *,
    workspace_: options.Workspace = None,
    session: _Session = None,
    role: _Role = None,
    scope: _Scope = None,
    json: options.Json = False,
) -> None:
    """Add a line to today's note, or a message to a session.

    The note is memory/YYYY-MM-DD.md; the line begins with the time of day.
    """
    if role is not None:
        one_of(role, _ROLES, "--role")
    if role is not None and session is None:
        raise UsageError("--role can only be used with --session: a note has no speaker")
    words = read_text(text).strip()
    at = workspace.place(workspace_)
    if session is None:
        written = _bullet(at.root, words, scope or at.scope_of("note", words, ""))
    else:
        written = _turn(at.root, words, session, role or "user", scope)
    if json:
        output.out_json(written)
    else:
        output.out(output.safe_line(written["ref"]))


def _turn(root: Path, words: str, session: str, role: str, scope: str | None) -> dict[str, str]:
    kind, _, name = (scope or "").partition("/")
    if scope and (kind not in {"users", "agents"} or not name):
        raise UsageError(f"--scope must be users/NAME or agents/NAME for a session, not {scope!r}")
    off_record.check(root, "record a message")  # a hook's turn is left out silently; a person is told
    with workspace.opened(root) as memory:
        log = workspace.session_in(memory, session, scope or "")
        turn = log.add(role, words)
        return {"ref": log.path, "id": turn.id, "time": turn.time.isoformat(), "text": words}


def _bullet(root: Path, words: str, scope: str | None) -> dict[str, str]:
    """Append a bullet to today's note; a new note begins with its date."""
    ws = Workspace(root, load(root))
    now = ws.now()
    words, kinds = taken_in(root, words, ws.rules)
    if kinds:
        output.say("Note: secrets were removed before saving: {kinds}", kinds=speech.words().listed(kinds))
    first, *more = words.split("\n")
    path = in_scope(one_scope(scope or ""), f"memory/{now:%Y-%m-%d}.md")
    bullet = [f"- {now:%H:%M} {first}", *(f"  {line}" for line in more)]

    def change(content: bytes) -> bytes:
        note = content.decode("utf-8", "surrogateescape") or f"# {now:%Y-%m-%d}\n\n"
        new = added(note, bullet)[0].encode("utf-8", "surrogateescape")
        if len(new) > READ_LIMIT:
            raise UsageError(
                f"{path} would have more than {READ_LIMIT >> 20} MB, which no search reads; save the text as "
                "a file of its own"
            )
        return new

    with workspace.writing(root):
        result = edit(ws.truth, path, change)
    if result.status == "deferred":
        raise BusyError(f"another program is saving {path}; nothing was written, try again in a moment")
    for problem in result.problems:
        render.problem(problem, skipped="note: {path}: {reason}")
    where = _lines_of(result.content.decode("utf-8", "replace").splitlines(), bullet)
    return {"ref": f"{path}{where}", "time": now.isoformat(timespec="seconds"), "text": words}


def _lines_of(note: list[str], bullet: list[str]) -> str:
    """Return the lines of the last bullet equal to this one, as `#L12`."""
    size = len(bullet)
    for at in range(len(note) - size, -1, -1):
        if note[at : at + size] == bullet:
            return f"#L{at + 1}" + (f"-L{at + size}" if size > 1 else "")
    return ""  # a concurrent save changed it


def log(
    *,
    workspace_: options.Workspace = None,
    count: Annotated[int, typer.Option("-n", "--count", metavar="N", help="Number of entries.", min=1)] = 20,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Only messages of this session.")] = None,
    since: options.Since = None,
    scope: options.Scope = None,
    json: options.Json = False,
) -> None:
    """List the latest notes, messages and changes.

    The newest is at the end. The id of a change can be given to `mnemark undo`.
    """
    at = workspace.place(workspace_, any_folder=True)
    root = at.root
    config = load(root)
    now = local_now(config.timezone)
    scopes = scopes_of(at.scopes(scope))
    timeline = Timeline(Visible(root, config), scopes=scopes, zone=now.tzinfo, ignore=config.ignore)
    found = timeline.latest(count, since=moment(since, "since", now), session=session)
    if json:
        output.out_json({"entries": found})
    elif any(entry.kind == "change" for entry in found):
        with workspace.opened(root, readonly=True) as memory:
            _show(found, memory.workspace)
    else:
        _show(found)
    if not found:
        _say_nothing(timeline, moment(since, "since", now))


def _show(entries: list[LogEntry], ws: "OpenWorkspace | None" = None) -> None:
    """Print log entries, one line each: time, ref (of a change its id, for `undo`), author, first words."""
    words = speech.words()
    for entry in entries:
        when, place = (
            output.style(f"{entry.time:%Y-%m-%d %H:%M}", output.DIM),
            output.style(output.safe_line(entry.id or entry.ref), output.CYAN),
        )
        is_change = entry.kind == "change" and ws is not None
        text = change_told(entry, ws, words) if is_change and ws is not None else " ".join(entry.text.split())
        who = "" if is_change else words(output.safe_line(entry.who))
        out = output.safe(render.shortened(text, _WORDS))
        output.out("  ".join(filter(None, (when, place, who, out))))


def _say_nothing(timeline: Timeline, since: datetime | None) -> None:
    """Say that there are no entries, and which scopes that were not asked have some."""
    if others := list(islice(timeline.elsewhere(since), _SHOWN + 1)):
        names = speech.words().listed([*map(output.safe, others[:_SHOWN]), *["…"][: len(others) - _SHOWN]])
        output.say(
            "Nothing has been written here yet, but in {names}: see it with --scope {scope}, or --scope '*'."
            if since is None
            else "Nothing has been written here since then, but in {names}: see it with --scope {scope}, or "
            "--scope '*'.",
            names=names, scope=others[0],
        )  # fmt: skip
    else:
        text = "Nothing has been written yet." if since is None else "Nothing has been written since then."
        output.say(text)
