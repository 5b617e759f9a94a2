"""Parse TOML; refuse long dotted keys, for which `tomllib` takes cubic time."""

from typing import Any, Final

from mnemark.text.lazy_pattern import lazy_pattern

_MAX_PARTS: Final = 200
_PART: Final = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY: Final = lazy_pattern(rf"(?<![\w.-])(?:{_PART}){{{_MAX_PARTS}}}")


def loads(text: str) -> dict[str, Any]:
    """Parse a TOML text.

    Raises:
        ValueError: invalid TOML, nested too deeply, or a dotted key of more than 200 parts.
    """
    if _says_nothing(text):
        return {}
    import tomllib  # imported late: a hook waits 2 ms for it, and most `mnemark.toml` are as `init` made them

    if (found := _LONG_KEY.search(text)) is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise tomllib.TOMLDecodeError(f"line {line} has a key of more than {_MAX_PARTS} parts; shorten it")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("tables or lists are nested too deeply") from None


def _says_nothing(text: str) -> bool:
    """Tell whether a text is made of comments and empty lines; what TOML may refuse in them is left to it."""
    lines = (line.strip(" \t") for line in text.replace("\r\n", "\n").split("\n"))
    return all(not line or (line[0] == "#" and line.isprintable()) for line in lines)


def without_empty_tables(found: Any) -> Any:
    """Return what was parsed without tables that hold nothing, to compare what two texts mean."""
    if not isinstance(found, dict):
        return found
    return {key: kept for key, one in found.items() if (kept := without_empty_tables(one)) != {}}
