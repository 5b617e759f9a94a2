"""Adapt memory to LangGraph: a `BaseStore` whose namespaces are session logs of the workspace.

    graph = builder.compile(store=memory_store(memory))

A put appends a line to the log; replaced and deleted items are hidden, like by `mnemark forget`.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mnemark.errors import MnemarkError, UsageError
from mnemark_adapters.items import text_in
from mnemark_adapters.store_items import StoreItem, StoreItems, under

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory


def memory_store(  # noqa: C901 - a class of two methods and what they hand over
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
    if others := sorted((index or {}).keys() - {"fields"}):
        raise UsageError(
            f"index: {', '.join(others)} cannot be set here, as the workspace embeds by itself; set embedder "
            "in mnemark.toml and give only fields"
        )
    try:
        from langgraph.store import base  # type: ignore[import-not-found]
    except ImportError as error:
        raise MnemarkError(f"the store needs LangGraph ({error}); run: pip install langgraph") from error
    items = StoreItems(memory, user=user, agent=agent)

    def text_of(op: Any) -> str:
        if op.value is None or op.index is False:
            return ""
        fields = op.index or (index or {}).get("fields") or ["$"]
        texts = [text_in(op.value)] if fields == ["$"] else [
            text for field in fields for text in base.get_text_at_path(op.value, base.tokenize_path(field))
        ]  # fmt: skip
        return "\n".join([str(op.key), *texts])

    def result_of(op: Any) -> Any:
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

    class MnemarkStore(base.BaseStore):  # type: ignore[misc] # LangGraph is optional
        """Delegates to `StoreItems`. Reads of a batch see the state before its writes."""

        def batch(self, ops: Iterable[Any]) -> list[Any]:
            batch = list(ops)
            results = [result_of(op) for op in batch]
            last = {(op.namespace, op.key): op for op in batch if isinstance(op, base.PutOp)}
            for namespace in dict.fromkeys(namespace for namespace, _ in last):
                puts = [
                    (key, op.value, text_of(op)) for (space, key), op in last.items() if space == namespace
                ]
                items.put(puts, namespace)
            return results

        async def abatch(self, ops: Iterable[Any]) -> list[Any]:
            return await asyncio.to_thread(self.batch, list(ops))

    return MnemarkStore()


def _fields(one: StoreItem) -> dict[str, Any]:
    return {
        "namespace": one.namespace, "key": one.key, "value": one.value,
        "created_at": one.created, "updated_at": one.updated,
    }  # fmt: skip
