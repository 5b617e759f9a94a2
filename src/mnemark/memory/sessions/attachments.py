"""Write a searchable Markdown page for each attachment of turns and tool calls.

Pages are a projection of turns, written after those were acknowledged. The files themselves are not copied,
and files outside of the workspace are only read where the caller attached them.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from mnemark.errors import NotFoundError, UsageError
from mnemark.files import layout, platform
from mnemark.files.attachments import Attachment, AttachmentContent, described, mime_of, path_for, written
from mnemark.files.journal import Change
from mnemark.files.scopes import one_scope
from mnemark.files.sessions import Placed
from mnemark.memory import file_edits
from mnemark.memory.file_edits import Written
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.summary.sentences import SMALL_TALK
from mnemark.summary.tool_titles import PATH_KEYS, execution_of, words_of
from mnemark.text.dates import local
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.redaction.redact import redact
from mnemark.types import Json

_MAX_EXTRACT: Final = 2_000
"""Maximum characters of a text file that are stored in its page."""
_READ_BYTES: Final = 16_384
_TEXT_TYPES: Final = frozenset({"application/json", "application/x-yaml", "application/toml"})
_EDIT_TIMEOUT: Final = 0.3
_SEND_WORDS: Final = frozenset(
    {"send", "message", "upload", "reply", "post", "publish", "share", "attach", "email", "mail"}
)
_CREATING: Final = frozenset(
    {"write", "create", "save", "generate", "export", "render", "draw", "screenshot", "image", "plot"}
)
_FILE_KEYS: Final = (
    *(*PATH_KEYS, "media", "image", "images", "attachment", "attachments", "files", "document", "audio"),
    *("video", "url"),
)
_SUFFIXES: Final = lazy_pattern(
    r"\.(?:png|jpe?g|gif|webp|svg|bmp|heic|mp3|wav|ogg|m4a|opus|mp4|mov|webm|pdf|docx?|xlsx?|pptx?|odt|ods|csv|"
    r"zip|epub|ics)$",
    re.IGNORECASE,
)
"""File extensions that count as attachments of a tool call: source code does not."""


def bring_in(
    ws: OpenWorkspace,
    scope: str,
    path: str,
    turns: Sequence[Placed],
    *,
    given: frozenset[str],
    group: str = "",
) -> tuple[list[str], list[str]]:
    """Write the missing pages of these turns' attachments.

    Args:
        ws: the workspace.
        scope: the scope of the session.
        path: the session's file.
        turns: the turns, in order.
        given: ids of turns whose attachments the caller of this process passed in: their files may be read.
        group: group id of the edits, for `undo`.

    Returns:
        Ids of the written pages, and the paths of deferred ones, which another program is saving.
    """
    done: list[str] = []
    busy: list[str] = []
    with ws.session_journal.fresh() as state:
        known = set(state.attached)
    for one in _found(ws, scope, path, turns, given):
        if (scope, one.id) in known:
            continue
        target = path_for(scope, one.id)
        if _write_page(ws, target, one, _latest(ws, scope, one.id), group):
            done.append(one.id)
        else:
            busy.append(target)
    if done:
        state.append(Change(kind="attach", payload={"ids": done}, scope=scope))
    return done, busy


def _write_page(
    ws: OpenWorkspace, target: str, attachment: Attachment, content: AttachmentContent, group: str
) -> bool:
    """Write the page of an attachment; return False if it was deferred."""

    def page(text: str) -> str:
        return written(text, attachment, content)

    made = file_edits.write(
        ws, target, page, step="attachment", group=group, timeout=_EDIT_TIMEOUT, waits=True
    )
    return made.status != "deferred"


def _latest(ws: OpenWorkspace, scope: str, identifier: str) -> AttachmentContent:
    state = ws.session_journal
    words = {"description": "", "transcription": "", "text": ""}
    with state.lock:
        for change in state.described.get((scope, identifier), ()):
            words |= {name: str(change.fields[name]) for name in words if change.fields.get(name)}
    return AttachmentContent(**words)


def _found(
    ws: OpenWorkspace, scope: str, path: str, turns: Sequence[Placed], given: frozenset[str]
) -> Iterator[Attachment]:
    zone = ws.now().tzinfo
    user = scope.removeprefix("users/") if scope.startswith("users/") else "the user"
    for at, placed in enumerate(turns):
        turn = placed.turn
        around = _words_around(turns, at)
        from_user = turn.origin == "owner" or turn.role in {"user", "human"}
        files = [(one, from_user, turn.id in given) for one in turn.attachments]
        files += [(one, False, False) for call in turn.tool_calls for one in _sent_files(call)]
        for number, (file, incoming, trusted) in enumerate(files):
            known = _file_fields(file)
            if known is None:
                continue
            name, place, mime = known
            fields = file if isinstance(file, Mapping) else {}
            yield Attachment(
                name=name, place=place, mime=mime, direction="in" if incoming else "out",
                sender=user if incoming else "the assistant", time=local(turn.time, zone),
                source=f"{path}#L{placed.line}", key=f"{turn.id}\0{number}\0{place}",
                description=_first(fields, "description", "caption", "alt", "alt_text") or around,
                transcription=_first(fields, "transcription", "transcript"),
                text=_first(fields, "text", "extracted_text") or _extract(ws, place, mime, trusted=trusted),
            )  # fmt: skip


def _first(fields: Mapping[str, Json], *names: str) -> str:
    values = (fields.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value), "")


def _file_fields(file: Json) -> tuple[str, str, str] | None:
    """Return name, location and MIME type of an attachment in any host's shape; None if it has no name."""
    if isinstance(file, str):
        file = {"path": file}
    if not isinstance(file, Mapping):
        return None
    place = _first(file, "path", "file_path", "file", "url", "uri", "href", "name", "filename")
    image = file.get("image_url")
    if not place and isinstance(image, Mapping):
        place = _first(image, "url")
    mime = _first(file, "mime", "mime_type", "mimeType", "media_type", "content_type")
    if place.startswith("data:"):
        mime, place = mime or place[5:].partition(";")[0], "(sent inline)"
    place = " ".join(place.split())[:400]
    name = (
        _first(file, "name", "filename", "title")
        or PurePosixPath(place.partition("?")[0].replace("\\", "/")).name
    )
    if not (place or name):
        return None
    return name or place, place or name, mime_of(name, mime)


def _sent_files(call: Json) -> Iterator[Json]:
    made = execution_of(call)
    if made is None or not isinstance(made.arguments, Mapping):
        return
    words = set(words_of(made.tool))
    sends = bool(words & _SEND_WORDS)
    if not sends and not words & _CREATING:
        return
    said = _first(made.arguments, "caption", "message", "text", "description", "content") if sends else ""
    for key in _FILE_KEYS:
        value = made.arguments.get(key)
        for path in value if isinstance(value, (list, tuple)) else (value,):
            place = _first(path, "path", "url", "file") if isinstance(path, Mapping) else path
            if isinstance(place, str) and (
                _SUFFIXES.search(place.partition("?")[0]) or (sends and "/" in place)
            ):
                yield {"path": place, "description": said[:300]}


def _words_around(turns: Sequence[Placed], at: int) -> str:
    """Return the text said with a file: of its turn, else of the turn before or after of the same origin."""
    for place in (at, at - 1, at + 1):
        if 0 <= place < len(turns):
            turn = turns[place].turn
            words = " ".join(strip_fences(turn.content).split())
            if words and turn.origin == turns[at].turn.origin and not SMALL_TALK.match(words):
                return words[:300]
    return ""


def _extract(ws: OpenWorkspace, place: str, mime: str, *, trusted: bool) -> str:
    textual = mime.startswith("text/") or mime in _TEXT_TYPES
    if not textual or "://" in place or place == "(sent inline)":
        return ""
    try:
        if trusted:
            file = Path(os.path.realpath(ws.root / Path(place).expanduser()))
            if ws.confined_to and not any(map(file.is_relative_to, (ws.root, *ws.confined_to))):
                return ""
        else:
            inside = Path(place)
            if inside.is_absolute():
                inside = inside.relative_to(ws.root)
            file = layout.safe_path(ws.root, inside.as_posix())
        with platform.opened(file) as opened:
            data = opened.read(_READ_BYTES)
    except (OSError, ValueError, UsageError):  # missing, unreadable or outside: the page has no extract
        return ""
    return "" if b"\0" in data else _clean(ws, data.decode("utf-8", "ignore"))[:_MAX_EXTRACT]


def _clean(ws: OpenWorkspace, text: str) -> str:
    return " ".join(redact(strip_fences(text), ws.rules).text.replace("<!--", "<").split())


def describe(
    ws: OpenWorkspace,
    attachment: str,
    description: str = "",
    *,
    transcription: str = "",
    text: str = "",
    scope: str = "",
) -> Written:
    """Add a description, a transcription or the text of an attachment to its page.

    It is acknowledged in the journal first; a page that another program is saving is edited by the next sync.

    Args:
        ws: the workspace.
        attachment: its id: the name of its page without ".md".
        description: what an image or a file shows.
        transcription: the words of a recording.
        text: the text of a document.
        scope: the scope of the attachment.

    Raises:
        NotFoundError: there is no such attachment.
        UsageError: all texts are empty.
    """
    ws.check_writable("describe")
    scope = one_scope(scope)
    path = path_for(scope, attachment)
    if not layout.safe_path(ws.root, path).is_file():
        raise NotFoundError(
            f"there is no attachment {attachment!r}; the names are the files in memory/attachments/"
        )
    given = {"description": description, "transcription": transcription, "text": text}
    words = {name: clean for name, value in given.items() if (clean := _clean(ws, value))}
    if not words:
        raise UsageError("give a description, a transcription or its text")
    payload = {"attachment": attachment, **words}
    change = ws.session_journal.append(Change(kind="describe", payload=payload, scope=scope))
    return _fill_in(ws, scope, attachment, change)


def _fill_in(ws: OpenWorkspace, scope: str, identifier: str, change: Change) -> Written:
    said = _latest(ws, scope, identifier)
    path = path_for(scope, identifier)
    done = file_edits.write(
        ws, path, lambda text: described(text, said) if text else text, step="attachment described",
        timeout=_EDIT_TIMEOUT,
    )  # fmt: skip
    if done.status != "deferred":
        payload: Json = {"path": path, "ids": [change.id]}
        ws.session_journal.append(Change(kind="noted", payload=payload, scope=scope))
    return done


def bring_in_waiting(ws: OpenWorkspace) -> None:
    """Write the pages of attachments that wait in this process; one leaves the list when it is written."""
    journal = ws.session_journal
    with journal.lock:
        waiting = list(journal.waiting)
    for one in waiting:
        _, busy = bring_in(ws, one.scope, one.path, [one.placed], given=one.given)
        with journal.lock:
            if not busy and one in journal.waiting:
                journal.waiting.remove(one)


def fill_in_rest(ws: OpenWorkspace) -> None:
    """Write the descriptions whose page was busy when they were recorded."""
    with ws.session_journal.fresh() as state:
        rest = state.undescribed()
    for scope, identifier, change in rest:
        _fill_in(ws, scope, identifier, change)
