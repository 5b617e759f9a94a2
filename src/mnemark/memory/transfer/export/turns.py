"""Show a turn as parts: what was said, which tools ran, which files came; long results are shortened."""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from mnemark.summary.tool_titles import execution_of, head_and_tail, short_name, text_of
from mnemark.text.quoting.fence import strip_fences
from mnemark.types import Json, Turn

_FOLDED: Final = 2_000
"""Maximum characters of what a tool got or gave, and of the instructions of a host."""
_LINES: Final = 30
TOOLS: Final = frozenset({"tool", "function"})
HOSTS: Final = frozenset({"system", "developer"})
USERS: Final = frozenset({"user", "human"})


class Part(NamedTuple):
    """A part of a turn. `said` is Markdown; `folded` is plain text, shown on request; `file` a line."""

    kind: Literal["said", "folded", "file"]
    title: str
    text: str


def parts_of(turn: Turn) -> Iterator[Part]:
    """Yield the parts of a redacted turn."""
    content = strip_fences(turn.content).strip("\r\n")
    if content.strip():
        if turn.role in TOOLS:
            name = turn.meta.get("name") or turn.meta.get("tool") or turn.role
            yield Part("folded", short_name(str(name)), _shortened(content))
        elif turn.role in HOSTS:
            yield Part("folded", turn.role, _shortened(content))
        else:
            yield Part("said", "", content)
    for call in turn.tool_calls:
        made = execution_of(call)
        if made is not None:
            yield Part("folded", short_name(made.tool), _shortened(_arguments(made.arguments)))
    for result in turn.tool_results:
        name = str(result.get("name") or "tool") if isinstance(result, Mapping) else "tool"
        yield Part("folded", short_name(name), _shortened(text_of(result)))
    for file in turn.attachments:
        yield Part("file", "", _file_words(file))


def has_parts(turn: Turn) -> bool:
    """Whether a turn has anything to show."""
    return bool(turn.content.strip() or turn.tool_calls or turn.tool_results or turn.attachments)


def _shortened(text: str) -> str:
    short = head_and_tail(text, _FOLDED)
    rows = short.split("\n")
    if len(rows) <= _LINES:
        return short
    first, last = rows[: _LINES * 2 // 3], rows[-(_LINES // 3) :]
    return "\n".join([*first, f"… {len(rows) - len(first) - len(last):,} lines left out …", *last])


def _arguments(arguments: Json) -> str:
    if isinstance(arguments, Mapping) and all(isinstance(value, str) for value in arguments.values()):
        if len(arguments) == 1:
            return str(next(iter(arguments.values())))
        return "\n".join(f"{name}: {value}" for name, value in arguments.items())
    return text_of(arguments)


def _file_words(file: Json) -> str:
    if not isinstance(file, Mapping):
        return str(file)
    url = file.get("image_url")
    address = url.get("url") if isinstance(url, Mapping) else url
    place = str(file.get("name") or file.get("path") or file.get("url") or address or file.get("type") or "")
    place = place.partition(",")[0] if place.startswith("data:") else place
    about = str(file.get("description") or "")
    return f"{place[-200:]} ({about})" if about else place[-200:]
