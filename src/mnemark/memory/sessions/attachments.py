"""Describe attachments of turns and tools on pages of their own, found by what they show.

Their pages are a projection of turns and observations, written after those were acknowledged. The files
themselves are neither copied nor followed out of the workspace, but for text that the caller handed in.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from mnemark.errors import NotFoundError, UsageError
from mnemark.files import layout, platform
from mnemark.files.attachments import Attachment, Said, described, mime_of, path_for, written
from mnemark.files.journal import Change
from mnemark.files.sessions import Placed
from mnemark.memory import file_edits
from mnemark.memory.file_edits import Written
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions.episodes import local
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.redaction.redact import redact
from mnemark.text.summary.sentences import SMALL_TALK
from mnemark.text.summary.tool_titles import PATH_KEYS, execution_of, words_of
from mnemark.types import Json, Turn

_EXTRACT: Final = 2_000
"""Characters of a text file that are kept."""
_READ: Final = 16_384
_TEXTUAL: Final = ("text/", "application/json", "application/yaml", "application/x-yaml", "application/toml")
_BUSY: Final = 0.3
_SENDING: Final = frozenset(
    {"send", "message", "upload", "reply", "post", "publish", "share", "attach", "email", "mail"}
)
_MAKING: Final = frozenset(
    {"write", "create", "save", "generate", "export", "render", "draw", "screenshot", "image", "plot"}
)
_FILE_KEYS: Final = (
    *(*PATH_KEYS, "media", "image", "images", "attachment", "attachments", "files", "document", "audio"),
    *("video", "url"),
)
_WORTH: Final = re.compile(
    r"\.(?:png|jpe?g|gif|webp|svg|bmp|heic|mp3|wav|ogg|m4a|opus|mp4|mov|webm|pdf|docx?|xlsx?|pptx?|odt|ods|csv|"
    r"zip|epub|ics)$",
    re.IGNORECASE,
)
"""What a tool wrote counts as an attachment only if it is of these: source code is no attachment."""


def waits(turn: Turn) -> bool:
    """Whether a turn may hold attachments."""
    return bool(turn.attachments or turn.tool_calls)


def bring_in(
    ws: OpenWorkspace,
    scope: str,
    path: str,
    turns: Sequence[Placed],
    *,
    given: frozenset[str],
    group: str = "",
) -> tuple[list[str], list[str]]:
    """Write the pages of these turns' attachments that are not written yet.

    Args:
        ws: whose.
        scope: of the session.
        path: the session's file.
        turns: in order.
        given: ids of turns whose attachments the caller of this process handed in: their text may be read.
        group: ties the edits together.

    Returns:
        Ids of those written, and paths that someone is saving and that wait.
    """
    state = ws.session_journal
    done: list[str] = []
    busy: list[str] = []
    with state.lock:
        state.refresh()
        known = set(state.attached)
    for one in _found(ws, scope, path, turns, given):
        if (scope, one.id) in known:
            continue
        said = _latest(ws, scope, one.id)
        target = path_for(scope, one.id)
        made = file_edits.write_or_wait(
            ws, target, lambda text, one=one, said=said: written(text, one, said),  # type: ignore[misc]
            step="attachment", origin="agent", group=group, timeout=_BUSY,
        )  # fmt: skip
        (busy if made.status == "deferred" else done).append(target if made.status == "deferred" else one.id)
    if done:
        with state.lock:
            state.append(Change(kind="attach", payload={"ids": done}, scope=scope))
    return done, busy


def _latest(ws: OpenWorkspace, scope: str, identifier: str) -> Said:
    state = ws.session_journal
    words = {"description": "", "transcription": "", "text": ""}
    with state.lock:
        for change in state.described.get((scope, identifier), ()):
            payload = change.payload if isinstance(change.payload, Mapping) else {}
            words |= {name: str(payload[name]) for name in words if payload.get(name)}
    return Said(**words)


def _found(
    ws: OpenWorkspace, scope: str, path: str, turns: Sequence[Placed], given: frozenset[str]
) -> Iterator[Attachment]:
    zone = ws.now().tzinfo
    for at, placed in enumerate(turns):
        turn = placed.turn
        around = _words_around(turns, at)
        files = [(one, _direction(turn), turn.id in given) for one in turn.attachments]
        files += [(one, "out", False) for call in turn.tool_calls for one in _sent(call)]
        for number, (file, direction, trusted) in enumerate(files):
            known = _described_file(file)
            if known is None:
                continue
            name, place, mime = known
            told = file if isinstance(file, Mapping) else {}
            user = scope.removeprefix("users/") if scope.startswith("users/") else "the user"
            yield Attachment(
                name=name, place=place, mime=mime, direction="in" if direction == "in" else "out",
                sender=user if direction == "in" else "the assistant",
                time=local(turn.time, zone),
                source=f"{path}#L{placed.line}", key=f"{turn.id}\0{number}\0{place}",
                description=_first(told, "description", "caption", "alt", "alt_text") or around,
                transcription=_first(told, "transcription", "transcript"),
                text=_first(told, "text", "extracted_text")
                or _extract(ws, place, mime, trusted=trusted),
            )  # fmt: skip


def _direction(turn: Turn) -> str:
    return "in" if turn.origin == "owner" or turn.role in {"user", "human"} else "out"


def _first(told: Mapping[str, Json], *names: str) -> str:
    return next((str(told[name]) for name in names if isinstance(told.get(name), str) and told[name]), "")


def _described_file(file: Json) -> tuple[str, str, str] | None:
    """Name, place and type of an attachment in whatever shape a host gives it; None where it has none."""
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


def _sent(call: Json) -> Iterator[Json]:
    """What a tool call sent or made: paths of files, with the words that went along."""
    made = execution_of(call)
    if made is None or not isinstance(made.arguments, Mapping):
        return
    words = set(words_of(made.tool))
    sends = bool(words & _SENDING)
    if not sends and not words & _MAKING:
        return
    said = _first(made.arguments, "caption", "message", "text", "description", "content") if sends else ""
    for key in _FILE_KEYS:
        value = made.arguments.get(key)
        for path in value if isinstance(value, (list, tuple)) else (value,):
            place = _first(path, "path", "url", "file") if isinstance(path, Mapping) else path
            if isinstance(place, str) and (
                _WORTH.search(place.partition("?")[0]) or (sends and "/" in place)
            ):
                yield {"path": place, "description": said[:300]}


def _words_around(turns: Sequence[Placed], at: int) -> str:
    """What was said with a file: the turn's own words, else those right before or after by the same side."""
    own = turns[at].turn
    near = [at, at - 1, at + 1]
    for place in near:
        if 0 <= place < len(turns):
            turn = turns[place].turn
            words = " ".join(strip_fences(turn.content).split())
            if words and turn.origin == own.origin and not SMALL_TALK.match(words):
                return words[:300]
    return ""


def _extract(ws: OpenWorkspace, place: str, mime: str, *, trusted: bool) -> str:
    """The first part of a text file, redacted; empty where it may not or cannot be read."""
    textual = mime.startswith("text/") or mime in {
        "application/json",
        "application/x-yaml",
        "application/toml",
    }
    if not textual or "://" in place or place == "(sent inline)":
        return ""
    try:
        if trusted:
            file = Path(place).expanduser()
            file = file if file.is_absolute() else ws.root / file
        else:
            inside = Path(place)
            if inside.is_absolute():
                inside = inside.relative_to(ws.root)
            file = layout.safe_path(ws.root, inside.as_posix())
        with platform.opened(file) as opened:
            data = opened.read(_READ)
    except (OSError, ValueError, UsageError):  # gone, unreadable or outside: the page does without
        return ""
    if b"\0" in data:
        return ""
    text = data.decode("utf-8", "ignore")
    clean = redact(strip_fences(text), ws.rules).text
    return " ".join(clean.replace("<!--", "<").split())[:_EXTRACT]


def describe(
    ws: OpenWorkspace,
    attachment: str,
    description: str = "",
    *,
    transcription: str = "",
    text: str = "",
    scope: str = "",
) -> Written:
    """Say what an attachment shows or holds, for example once a model has looked at it.

    Acknowledged in the journal first; where the page is being saved, it is filled in with the next sync.

    Args:
        ws: whose.
        attachment: its id: the name of its page without ".md".
        description: what it shows.
        transcription: what is said in it.
        text: what is written in it.
        scope: whose memory it is in.

    Raises:
        NotFoundError: there is no such attachment.
        UsageError: nothing was said, or it was secret.
    """
    ws.check_writable("describe")
    path = path_for(scope, attachment)
    if not layout.safe_path(ws.root, path).is_file():
        raise NotFoundError(
            f"there is no attachment {attachment!r}; the names are the files in memory/attachments/"
        )
    rules = ws.rules
    given = {"description": description, "transcription": transcription, "text": text}
    words = {
        name: " ".join(redact(strip_fences(value), rules).text.replace("<!--", "<").split())
        for name, value in given.items()
    }
    if not any(words.values()):
        raise UsageError("give a description, a transcription or its text")
    state = ws.session_journal
    with state.lock:
        payload = {"attachment": attachment} | {name: value for name, value in words.items() if value}
        change = state.append(Change(kind="describe", payload=payload, scope=scope))
    return _fill_in(ws, scope, attachment, change)


def _fill_in(ws: OpenWorkspace, scope: str, identifier: str, change: Change) -> Written:
    said = _latest(ws, scope, identifier)
    path = path_for(scope, identifier)
    done = file_edits.write(
        ws, path, lambda text: described(text, said) if text else text, step="attachment described",
        timeout=_BUSY,
    )  # fmt: skip
    if done.status != "deferred":
        state = ws.session_journal
        with state.lock:
            state.append(Change(kind="noted", payload={"path": path, "ids": [change.id]}, scope=scope))
    return done


def fill_in_rest(ws: OpenWorkspace) -> None:
    """Descriptions whose page was busy when they were given."""
    state = ws.session_journal
    with state.lock:
        state.refresh()
        rest = state.undescribed()
    for scope, identifier, change in rest:
        _fill_in(ws, scope, identifier, change)
