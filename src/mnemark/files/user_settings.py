"""Change a setting in the user's own configuration, and keep every other byte and comment of the file."""

import json
from typing import Any, Final

from mnemark.errors import ConfigError
from mnemark.files import platform, user_config
from mnemark.files.disk_errors import translate_os_errors
from mnemark.text import toml
from mnemark.text.lazy_pattern import lazy_pattern

_LINE: Final = r"[ \t]*{}[ \t]*=.*"


def set_language(language: str) -> None:
    """Set the language of pages, panel and command line; empty: that of the browser and the locale.

    Raises:
        ConfigError: the file is wrong, or written in an unusual way.
        MnemarkError: it cannot be written; see `translate_os_errors`.
    """
    _set("language", language)


def _set(key: str, value: str) -> None:
    place = user_config.path()
    before = platform.content(place).decode("utf-8-sig") if place.exists() else ""
    user_config.load()  # says what is wrong in it
    wanted = {name: one for name, one in toml.loads(before).items() if name != key}
    wanted |= {key: value} if value else {}
    after = _with_line(before, key, f"{key} = {json.dumps(value, ensure_ascii=False)}" if value else None)
    if _parsed(after) != wanted:
        raise ConfigError(f"{place} was not changed, as it is written in an unusual way: set {key} by hand")
    if after != before:
        with translate_os_errors(place):
            platform.make_folder(place.parent)
            platform.write_private(place, after.encode())


def _with_line(text: str, key: str, line: str | None) -> str:
    """Return a TOML text with the line of a key before its tables, or without it."""
    lines = text.splitlines(keepends=True)
    tables = next((at for at, one in enumerate(lines) if one.lstrip().startswith("[")), len(lines))
    pattern = lazy_pattern(_LINE.format(key))
    at = next((at for at, one in enumerate(lines[:tables]) if pattern.fullmatch(one.rstrip("\r\n"))), None)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    new = [] if line is None else [f"{line}{end}"]
    if at is not None:
        return "".join([*lines[:at], *new, *lines[at + 1 :]])
    if line is None:
        return text
    return "".join([*new, *([end] if tables == 0 and lines else []), *lines])


def _parsed(text: str) -> Any:
    try:
        return toml.loads(text)
    except ValueError:
        return None
