"""Redact JSON values: tool arguments, tool results, metadata.

Keys name secrets as in text, also for values nested below them; all other strings are redacted as text. The
structure is kept: a secret value is replaced by a mark, and no entry is removed.
"""

from collections.abc import Mapping
from typing import Any

from mnemark.errors import UsageError
from mnemark.text.redaction import MARK
from mnemark.text.redaction.redact import DEFAULT, Rules, mark, redact
from mnemark.text.redaction.values import KINDS, Strength, stands_in_quoted, strength

_DEEPEST = 100
_HEADERS = ("authorization", "cookie")  # their values have their own syntax


def redact_json(value: Any, rules: Rules = DEFAULT) -> Any:
    """Return a copy of `value` without secrets; idempotent. Values nested deeper than 100 become one mark.

    Raises:
        UsageError: it contains a value that is not JSON.
    """
    return _walk(value, None, rules, _DEEPEST)


def _walk(value: Any, how: Strength | None, rules: Rules, depth: int) -> Any:
    """Redact `value`; `how` is the strength of the nearest key above it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return mark(KINDS[how], str(value), rules) if how == "strong" and len(str(value)) >= 4 else value
    if isinstance(value, str):
        fits = how is not None and _fits(how, value)
        return mark(KINDS[how], value, rules) if how and fits else redact(value, rules).text
    if not isinstance(value, (Mapping, list, tuple)):
        raise UsageError(
            f"a {type(value).__name__} is no JSON value; give strings, numbers, lists and objects"
        )
    if depth == 0:
        return mark("too-deep", "", rules)
    if isinstance(value, Mapping):
        return _walk_object(value, how, rules, depth - 1)
    return [_walk(item, how, rules, depth - 1) for item in value]


def _fits(how: Strength, value: str) -> bool:
    from mnemark.text.redaction.named_values import fits_quoted

    return fits_quoted(how, value)


def _walk_object(
    value: Mapping[Any, Any], above: Strength | None, rules: Rules, depth: int
) -> dict[str, Any]:
    named_by_sibling = _sibling_name(value, above, rules, depth)
    result: dict[str, Any] = {}
    for given, item in value.items():
        if not isinstance(given, str):
            raise UsageError(f"the key {given!r} is no string")
        key = redact(given, rules).text
        named = named_by_sibling if key.lower() == "value" and named_by_sibling is not None else key
        result[_unused(key, result)] = _entry(named, item, above, rules, depth)
    return result


def _sibling_name(value: Mapping[Any, Any], above: Strength | None, rules: Rules, depth: int) -> str | None:
    """Return the redacted name of the value in `{"name": "Authorization", "value": "…"}`."""
    key = "name" if "name" in value else "key"
    return str(_entry(key, value[key], above, rules, depth)) if isinstance(value.get(key), str) else None


def _entry(name: str, item: Any, above: Strength | None, rules: Rules, depth: int) -> Any:
    how = strength(MARK.sub("", name))
    if how is not None and isinstance(item, (str, int, float)):
        return _redact_named(name, item, how, rules)
    return _walk(item, how or above, rules, depth)


def _unused(key: str, taken: Mapping[str, Any]) -> str:
    """Append a number to `key` if redaction made two keys equal."""
    number, unused = 1, key
    while unused in taken:
        number += 1
        unused = f"{key} {number}"
    return unused


def _redact_named(name: str, value: str | float, how: Strength, rules: Rules) -> Any:
    """Redact a scalar whose own key names a secret; any value of a password's key is one."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        digits = sum(map(str.isdigit, str(value)))
        secret = how == "strong" or (how == "pin" and 4 <= digits <= 8) or digits >= 16
        return mark(KINDS[how], str(value), rules) if secret else value
    if name.lower().endswith(_HEADERS):
        head = f"{name}: "
        return redact(head + value, rules).text.removeprefix(head)
    any_text = how == "strong" and value.strip() and not stands_in_quoted(value) and not MARK.search(value)
    return mark(KINDS[how], value, rules) if any_text or _fits(how, value) else redact(value, rules).text
