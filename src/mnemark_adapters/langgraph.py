"""Adapt memory to LangGraph: a `BaseStore` whose namespaces are session logs of the workspace.

    graph = builder.compile(store=memory_store(memory))

A put appends a line to the log; replaced and deleted items are hidden, like by `mnemark forget`.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mnemark.errors import UsageError
from mnemark_adapters.items import text_in
from mnemark_adapters.needs import needs
from mnemark_adapters.store_items import StoreItem, StoreItems, under

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory


def memory_store(
    memory: "Memory",
    *,
    user: str | None = None,
    agent: str | None = None,
    index: Mapping[str, Any] | None = None,
) -> Any:
    """Return a `BaseStore` over the workspace, for a user or an agent where given.

    Values are returned as JSON, redacted. `index` of a put names the fields for search; False for none. Items
    do not expire: a `ttl` is refused, as by every store without it.

    Args:
        memory: the workspace, opened.
        user: whose memory it is; or an `agent`'s. The workspace's own by default.
        agent: as for `Memory.session`.
        index: as of LangGraph's stores: `fields` for search where a put names none. The embedder is that of
            the workspace.

    Raises:
        MnemarkError: LangGraph is not installed.
        UsageError: `index` has other keys.
    """
    fields = _searched_fields(index or {})
    with needs("LangGraph", "langgraph"):
        from langgraph.store import base  # type: ignore[import-not-found]
    operations = _Operations(base, StoreItems(memory, user=user, agent=agent), fields)

    class MnemarkStore(base.BaseStore):  # type: ignore[misc] # LangGraph is optional
        """Delegates to `StoreItems`."""

        def batch(self, ops: Iterable[Any]) -> list[Any]:
            return operations.carry_out(list(ops))

        async def abatch(self, ops: Iterable[Any]) -> list[Any]:
            return await asyncio.to_thread(self.batch, list(ops))

    return MnemarkStore()


def _searched_fields(index: Mapping[str, Any]) -> Any:
    """Return the fields for search where a put names none; raise UsageError for other keys."""
    if others := sorted(index.keys() - {"fields"}):
        raise UsageError(
            f"index: {', '.join(others)} cannot be set here, as the workspace embeds by itself; set embedder "
            "in mnemark.toml and give only fields"
        )
    return index.get("fields") or ["$"]


class _Operations:
    """Carries out operations of LangGraph's module `base` on items."""

    def __init__(self, base: Any, items: StoreItems, fields: Any) -> None:
        self._base = base
        self._items = items
        self._fields = fields

    def carry_out(self, batch: list[Any]) -> list[Any]:
        """Return the results; reads of a batch see the state before its writes."""
        results = [self._result_of(op) for op in batch]
        last = {(op.namespace, op.key): op for op in batch if isinstance(op, self._base.PutOp)}
        for namespace in dict.fromkeys(namespace for namespace, _ in last):
            puts = [
                (key, op.value, self._text_of(op)) for (space, key), op in last.items() if space == namespace
            ]
            self._items.put(puts, namespace)
        return results

    def _text_of(self, op: Any) -> str:
        if op.value is None or op.index is False:
            return ""
        base, fields = self._base, op.index or self._fields
        texts = [text_in(op.value)] if fields == ["$"] else [
            text for field in fields for text in base.get_text_at_path(op.value, base.tokenize_path(field))
        ]  # fmt: skip
        return "\n".join([str(op.key), *texts])

    def _result_of(self, op: Any) -> Any:
        base, items = self._base, self._items
        match op:
            case base.GetOp():
                one = items.get(op.namespace, op.key)
                return None if one is None else base.Item(**_fields(one))
            case base.SearchOp():
                found = items.search(op.namespace_prefix, op.query, op.filter)[
                    op.offset : op.offset + op.limit
                ]
                return [base.SearchItem(**_fields(one), score=score) for one, score in found]
            case base.ListNamespacesOp():
                spaces = [
                    s for s in items.namespaces() if all(under(c, s) for c in op.match_conditions or ())
                ]
                if op.max_depth is not None:
                    spaces = sorted({space[: op.max_depth] for space in spaces})
                return spaces[op.offset : op.offset + op.limit]
            case base.PutOp():
                return None
        raise ValueError(f"Unknown operation type: {type(op)}")


def _fields(one: StoreItem) -> dict[str, Any]:
    return {
        "namespace": one.namespace, "key": one.key, "value": one.value,
        "created_at": one.created, "updated_at": one.updated,
    }  # fmt: skip
