"""Store items by namespace and key in session logs: the backend of LangGraph's `BaseStore`."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote, unquote

from mnemark.adapters.items import ItemLog, Kept, New
from mnemark.errors import UsageError
from mnemark.files.scopes import scope_name
from mnemark.files.sessions import list_sessions

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

Namespace = tuple[str, ...]
_PREFIX: Final = "langgraph:"
_MOST_HITS: Final = 200
"""Hits of a query that are looked through for items; the others follow without a score."""
_ORDER: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "$gt": lambda one, other: one > other,
    "$gte": lambda one, other: one >= other,
    "$lt": lambda one, other: one < other,
    "$lte": lambda one, other: one <= other,
}


class Stored(NamedTuple):
    """An item with where it stands."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created: datetime
    updated: datetime
    ref: tuple[str, int]


class StoreItems:
    """Items by namespace and key; a put is a line of the log, and what it replaces is hidden."""

    def __init__(self, memory: "Memory", *, user: str | None = None, agent: str | None = None) -> None:
        self._memory = memory
        self._whose = {"user": user, "agent": agent}
        self._scope = scope_name(user=user, agent=agent)
        self._logs: dict[str, ItemLog] = {}
        self._guard = threading.Lock()

    def put(self, items: Sequence[tuple[str, dict[str, Any] | None, str]], namespace: Namespace) -> None:
        """Keep items of a namespace: key, value (None deletes), and the text that search is to find."""
        log = self._log(namespace)
        with log.changing():
            there: dict[str, list[Kept]] = {}
            for one in log.items():
                there.setdefault(one.item["key"], []).append(one)
            fresh = []
            for key, value, text in items:
                if value is not None:
                    more = {"first": _first(there[key][-1])} if key in there else {}
                    fresh.append(New({"key": key, "value": value}, "store", text, "agent", more))
            log.add(fresh)  # before the old ones go: a kill in between leaves both, and the newer counts
            log.hide([one for key, _, _ in items for one in there.get(key, ())])

    def get(self, namespace: Namespace, key: str) -> Stored | None:
        """The item, or None."""
        return next((one for one in self._of(namespace) if one.key == key), None)

    def search(
        self, prefix: Namespace, query: str | None = None, matching: Mapping[str, Any] | None = None
    ) -> list[tuple[Stored, float | None]]:
        """Items below a namespace, with a score where a query found them: these first.

        The others follow by namespace, and by when they were first put.
        """
        below = [one for namespace in self.namespaces() if namespace[: len(prefix)] == prefix
                 for one in self._of(namespace)]  # fmt: skip
        found = [
            one for one in below if all(matches(one.value.get(k), v) for k, v in (matching or {}).items())
        ]
        if not query or not found:
            return [(one, None) for one in found]
        hits = self._memory.search(query, k=_MOST_HITS, kinds=("turn",), scope=self._scope or None).hits
        scores = {(hit.path, hit.start_line): hit.score for hit in hits}
        ranked = sorted((one for one in found if one.ref in scores), key=lambda one: -scores[one.ref])
        rest = [one for one in found if one.ref not in scores]
        return [(one, scores[one.ref]) for one in ranked] + [(one, None) for one in rest]

    def namespaces(self) -> list[Namespace]:
        """Namespaces that hold an item, sorted."""
        root = self._memory.root / self._scope
        ids = [info.id for info in list_sessions(root) if info.id.startswith(_PREFIX)]
        spaces = sorted(tuple(map(unquote, one.removeprefix(_PREFIX).split("/"))) for one in ids)
        return [space for space in spaces if self._log(space).items()]

    def _of(self, namespace: Namespace) -> Iterator[Stored]:
        log = self._log(namespace)
        latest = {one.item["key"]: one for one in log.items()}
        begun = [
            (datetime.fromisoformat(_first(one)["time"]), _first(one)["id"], one) for one in latest.values()
        ]
        for created, _, one in sorted(begun, key=lambda row: row[:2]):
            yield Stored(
                namespace, one.item["key"], one.item["value"], created, one.turn.time, (log.path, one.line)
            )

    def _log(self, namespace: Namespace) -> ItemLog:
        if not namespace:
            raise UsageError('an item needs a namespace, for example ("users", "ann")')
        name = _PREFIX + "/".join(quote(part, safe=" :@+,;=") for part in namespace)
        with self._guard:
            if name not in self._logs:
                self._logs[name] = ItemLog(self._memory, name, **self._whose)
            return self._logs[name]


def _first(kept: Kept) -> dict[str, str]:
    """Id and time of the first put of an item that was put again."""
    return kept.turn.meta.get("first") or {"id": kept.id, "time": kept.turn.time.isoformat()}


def matches(value: Any, wanted: Any) -> bool:
    """Whether a value is what a filter wants: equal, or by `$eq $ne $gt $gte $lt $lte` (as numbers).

    Raises:
        ValueError: the filter has an operator that does not exist.
    """
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            return all(_compared(value, operator, other) for operator, other in wanted.items())
        return isinstance(value, dict) and all(matches(value.get(key), one) for key, one in wanted.items())
    if isinstance(wanted, list | tuple):
        same = isinstance(value, list | tuple) and len(value) == len(wanted)
        return same and all(matches(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compared(value: Any, operator: str, other: Any) -> bool:
    if operator in {"$eq", "$ne"}:
        return bool(value == other) is (operator == "$eq")
    if operator not in _ORDER:
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        return _ORDER[operator](float(value), float(other))
    except (TypeError, ValueError):  # no number is neither more nor less
        return False


def under(condition: Any, namespace: Namespace) -> bool:
    """Whether a namespace begins or ends as a `MatchCondition` says; "*" stands for any part.

    Raises:
        ValueError: it neither asks for a prefix nor for a suffix.
    """
    path = tuple(condition.path)
    if condition.match_type not in {"prefix", "suffix"}:
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(path) <= len(namespace) and all(
        want in {"*", have} for want, have in zip(path, part if path else (), strict=True)
    )
