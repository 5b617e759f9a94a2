"""Store items by namespace and key in session logs, as the backend of LangGraph's `BaseStore`."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mnemark.errors import UsageError
from mnemark_adapters.items import ItemLog, ItemLogs, NewItem, StoredItem

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

Namespace = tuple[str, ...]
_MAX_HITS: Final = 200
"""Maximum number of hits that are matched with items; other items follow without a score."""
_COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le,
}  # fmt: skip


class StoreItem(NamedTuple):
    """An item with its key, times and place in the log."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created: datetime
    updated: datetime
    ref: tuple[str, int]


class StoreItems:
    """Items by namespace and key; a put appends a line to the log and hides the item it replaces."""

    def __init__(self, memory: "Memory", *, user: str | None = None, agent: str | None = None) -> None:
        self._memory = memory
        self._logs = ItemLogs(memory, "langgraph:", user=user, agent=agent)

    def put(self, items: Sequence[tuple[str, dict[str, Any] | None, str]], namespace: Namespace) -> None:
        """Store items of a namespace: key, value (None deletes), and the text for search."""
        log = self._log(namespace)
        with log.changing():
            there: dict[str, list[StoredItem]] = {}
            for one in log.items():
                there.setdefault(one.item["key"], []).append(one)
            fresh = []
            for key, value, text in items:
                if value is not None:
                    more = {"first": _first(there[key][-1])} if key in there else {}
                    fresh.append(NewItem({"key": key, "value": value}, "store", text, "agent", more))
            log.add(fresh)  # before the old ones are hidden: after a kill in between, the newer one counts
            log.hide([one for key, _, _ in items for one in there.get(key, ())])

    def get(self, namespace: Namespace, key: str) -> StoreItem | None:
        """Return an item, or None."""
        return next((one for one in self._of(namespace) if one.key == key), None)

    def search(
        self, prefix: Namespace, query: str | None = None, matching: Mapping[str, Any] | None = None
    ) -> list[tuple[StoreItem, float | None]]:
        """Return the items below a namespace: first those that the query finds, with scores, best first.

        The others follow, by namespace and the time of their first put.
        """
        below = [one for namespace in self.namespaces() if namespace[: len(prefix)] == prefix
                 for one in self._of(namespace)]  # fmt: skip
        found = [
            one for one in below if all(matches(one.value.get(k), v) for k, v in (matching or {}).items())
        ]
        if not query or not found:
            return [(one, None) for one in found]
        hits = self._memory.search(query, k=_MAX_HITS, kinds=("turn",), scope=self._logs.scope or None).hits
        scores = {(hit.path, hit.start_line): hit.score for hit in hits}
        ranked = sorted((one for one in found if one.ref in scores), key=lambda one: -scores[one.ref])
        rest = [one for one in found if one.ref not in scores]
        return [(one, scores[one.ref]) for one in ranked] + [(one, None) for one in rest]

    def namespaces(self) -> list[Namespace]:
        """Return the namespaces with items, sorted."""
        return sorted(space for space, log in self._logs.below() if log.items())

    def _of(self, namespace: Namespace) -> Iterator[StoreItem]:
        log = self._log(namespace)
        latest = {one.item["key"]: one for one in log.items()}
        begun = [
            (datetime.fromisoformat(_first(one)["time"]), _first(one)["id"], one) for one in latest.values()
        ]
        for created, _, one in sorted(begun, key=lambda row: row[:2]):
            yield StoreItem(
                namespace, one.item["key"], one.item["value"], created, one.turn.time, (log.path, one.line)
            )

    def _log(self, namespace: Namespace) -> ItemLog:
        if not namespace:
            raise UsageError('an item needs a namespace, for example ("users", "ann")')
        return self._logs.log(namespace)


def _first(kept: StoredItem) -> dict[str, str]:
    """Return id and time of an item's first put."""
    return kept.turn.meta.get("first") or {"id": kept.id, "time": kept.turn.time.isoformat()}


def matches(value: Any, wanted: Any) -> bool:
    """Tell whether a value matches a filter: equal, or by `$eq $ne $gt $gte $lt $lte` (as numbers).

    Raises:
        ValueError: the filter has an operator that does not exist.
    """
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            return all(_compared(value, name, other) for name, other in wanted.items())
        return isinstance(value, dict) and all(matches(value.get(key), one) for key, one in wanted.items())
    if isinstance(wanted, list | tuple):
        same = isinstance(value, list | tuple) and len(value) == len(wanted)
        return same and all(matches(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compared(value: Any, name: str, other: Any) -> bool:
    if name in {"$eq", "$ne"}:
        return bool(value == other) is (name == "$eq")
    if name not in _COMPARISONS:
        raise ValueError(f"Unsupported operator: {name}")
    try:
        return _COMPARISONS[name](float(value), float(other))
    except (TypeError, ValueError):  # not a number
        return False


def under(condition: Any, namespace: Namespace) -> bool:
    """Tell whether a namespace matches a `MatchCondition`; "*" stands for any part.

    Raises:
        ValueError: its type is neither prefix nor suffix.
    """
    path = tuple(condition.path)
    if condition.match_type not in {"prefix", "suffix"}:
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(path) <= len(namespace) and all(
        want in {"*", have} for want, have in zip(path, part if path else (), strict=True)
    )
