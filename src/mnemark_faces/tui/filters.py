"""Read what narrows a list from the text of its field: `deploy kind:note since:"last week"`."""

from collections.abc import Collection
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

_FILTER: Final = lazy_pattern(r"(?:^|(?<=\s))(?P<name>[a-z_]+):(?:\"(?P<quoted>[^\"]*)\"|(?P<plain>\S+))")


def filters_in(text: str, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """Return the text without its filters, and the values of those by name; others stay text."""
    found: dict[str, str] = {}
    words: list[str] = []
    at = 0
    for match in _FILTER.finditer(text):
        if match["name"] in names:
            found[match["name"]] = match["quoted"] if match["quoted"] is not None else match["plain"]
            words.append(text[at : match.start()])
            at = match.end()
    return " ".join("".join((*words, text[at:])).split()), found
