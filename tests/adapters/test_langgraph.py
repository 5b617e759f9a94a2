"""The `BaseStore` for LangGraph beside `InMemoryStore`, on sequences of any operations.

Differences by design: a namespace is listed while it holds an item (theirs: once it was ever named); a filter
`$gt` on what is no number does not match (theirs: TypeError); without an embedder theirs ignores a query,
ours puts what memory finds first; a second put keeps `created_at`; items come sorted by namespace.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.errors import UsageError
from mnemark_adapters.langgraph import memory_store
from mnemark_adapters.store_items import StoreItems, matches
from sampled import examples

SPACES = [("a",), ("a", "b"), ("a", "b", "c"), ("b", "a"), ("用户", "小明")]
KEYS = st.sampled_from(["k", "k2", "键"])
NAMESPACES = st.sampled_from(SPACES)
VALUES = st.dictionaries(
    st.sampled_from(["n", "text", "tags", "deep"]),
    st.integers(-3, 3) | st.sampled_from(["x", "我们", "1"]) | st.lists(st.integers(0, 2), max_size=2)
    | st.fixed_dictionaries({"n": st.integers(0, 2)}),
    max_size=3,
)  # fmt: skip
NUMBERS = st.sampled_from(["$gt", "$gte", "$lt", "$lte"])
FILTERS = st.none() | st.one_of(
    st.fixed_dictionaries({"n": st.integers(-3, 3)}),
    st.fixed_dictionaries({"tags": st.lists(st.integers(0, 2), max_size=2)}),
    st.fixed_dictionaries({"deep": st.fixed_dictionaries({"n": st.integers(0, 2)})}),
    st.fixed_dictionaries({"n": st.fixed_dictionaries({"$ne": st.integers(-1, 1)})}),
)
PARTS = st.lists(st.sampled_from(["a", "b", "*", "小明"]), min_size=1, max_size=2).map(tuple)
OPS = st.one_of(
    st.tuples(st.just("put"), NAMESPACES, KEYS, VALUES),
    st.tuples(st.just("put"), NAMESPACES, KEYS, VALUES),
    st.tuples(st.just("delete"), NAMESPACES, KEYS),
    st.tuples(st.just("get"), NAMESPACES, KEYS),
    st.tuples(st.just("search"), st.sampled_from([(), ("a",), ("a", "b"), ("用户",)]), FILTERS,
              st.integers(0, 5), st.integers(0, 3)),
    st.tuples(st.just("list"), st.none() | PARTS, st.none() | PARTS, st.none() | st.integers(1, 2),
              st.integers(0, 4), st.integers(0, 2)),
)  # fmt: skip


def asked(base: Any, op: tuple[Any, ...]) -> Any:
    name, *rest = op
    if name == "put":
        return base.PutOp(rest[0], rest[1], rest[2])
    if name == "delete":
        return base.PutOp(rest[0], rest[1], None)
    if name == "get":
        return base.GetOp(rest[0], rest[1])
    if name == "search":
        return base.SearchOp(rest[0], filter=rest[1], limit=rest[2], offset=rest[3])
    kinds = zip(("prefix", "suffix"), rest[:2], strict=True)
    conditions = tuple(base.MatchCondition(kind, path) for kind, path in kinds if path is not None)
    return base.ListNamespacesOp(conditions or None, max_depth=rest[2], limit=rest[3], offset=rest[4])


def plain(result: Any) -> Any:
    if isinstance(result, list):
        return [plain(one) for one in result]
    return (result.namespace, result.key, result.value) if hasattr(result, "value") else result


@settings(max_examples=examples(40))
@given(st.lists(st.lists(OPS, min_size=1, max_size=3), max_size=6))
def test_answers_what_langgraphs_own_store_answers(batches: list[list[tuple[Any, ...]]]) -> None:
    base = pytest.importorskip("langgraph.store.base", reason="run `make adapters`")
    in_memory = pytest.importorskip("langgraph.store.memory").InMemoryStore
    theirs = in_memory()
    for space in sorted(SPACES):
        theirs.get(space, "k")  # gives its namespaces the order of ours
    with TemporaryDirectory() as folder, Memory.open(folder) as memory:
        ours = memory_store(memory)
        for batch in batches:
            ops = [asked(base, op) for op in batch]
            held = in_memory()
            held._data.update({space: items for space, items in theirs._data.items() if items})
            want = [held.batch([op])[0] if isinstance(op, base.ListNamespacesOp) else None for op in ops]
            want = [
                one if one is not None else other for one, other in zip(want, theirs.batch(ops), strict=True)
            ]
            assert plain(ours.batch(ops)) == plain(want), batch
        again = memory_store(memory)
        assert plain(again.search((), limit=100)) == plain(theirs.search((), limit=100))


def test_a_query_ranks_and_index_says_what_is_found(tmp_path: Path) -> None:
    pytest.importorskip("langgraph", reason="run `make adapters`")
    with Memory.open(tmp_path) as memory:
        store = memory_store(memory, user="ann")
        store.put(("m",), "1", {"text": "likes hazelnut coffee", "secret": "plum"})
        store.put(("m",), "2", {"text": "数据库选 PostgreSQL", "secret": "plum"}, index=["text"])
        store.put(("m",), "3", {"text": "数据库"}, index=False)
        found = store.search(("m",), query="数据库")
        assert found[0].key == "2"
        assert len(found) == 3
        assert found[0].score > 0
        assert found[-1].score is None
        assert len(memory.search("plum", scope="users/ann").hits) >= 1
        assert store.search(("m",), query="plum")[0].key == "1"
        assert [one.key for one in asyncio.run(store.asearch(("m",), query="hazelnut", limit=1))] == ["1"]
        with pytest.raises(NotImplementedError):
            store.put(("m",), "4", {"text": "x"}, ttl=5)


def test_a_second_put_keeps_when_it_was_made_and_hides_the_first(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        items = StoreItems(memory)
        items.put([("k", {"text": "walnuts"}, "walnuts")], ("m",))
        items.put([("other", {"text": "x"}, "x")], ("m",))
        before = items.get(("m",), "k")
        items.put([("k", {"text": "almonds"}, "almonds")], ("m",))
        after = items.get(("m",), "k")
        assert before is not None
        assert after is not None
        assert (after.value, after.created) == ({"text": "almonds"}, before.created)
        assert after.updated > before.updated
        assert [one.key for one, _ in items.search(("m",))] == ["k", "other"]
        assert not any("walnuts" in hit.text for hit in memory.search("walnuts").hits)
        items.put([("k", None, "")], ("m",))
        assert items.get(("m",), "k") is None
    with Memory.open(tmp_path) as memory:
        assert StoreItems(memory).namespaces() == [("m",)]


def test_no_number_is_neither_more_nor_less_and_unknown_operators_are_told() -> None:
    assert not matches(None, {"$gt": 1})
    assert matches("2", {"$gt": 1, "$lt": 3})
    with pytest.raises(ValueError, match="Unsupported operator"):
        matches(1, {"$near": 1})


def test_a_huge_value_and_a_secret(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with Memory.open(tmp_path) as memory:
        items = StoreItems(memory)
        items.put([("big", {"text": "语" * 300_000}, ""), ("t", {"text": f"token {secret}"}, secret)], ("m",))
        big, token = items.get(("m",), "big"), items.get(("m",), "t")
        assert big is not None
        assert token is not None
        assert len(big.value["text"]) == 300_000
        assert "[redacted" in token.value["text"]
    assert not any(
        secret in path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()
    )


def test_index_is_taken_or_refused_loudly(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        with pytest.raises(UsageError, match="dims, embed cannot be set here"):
            memory_store(memory, index={"embed": "openai:x", "dims": 8, "fields": ["text"]})
        pytest.importorskip("langgraph", reason="run `make adapters`")
        store = memory_store(memory, index={"fields": ["text"]})
        store.put(("a",), "1", {"text": "likes hazelnut coffee", "secret": "plum"})
        store.put(("b",), "2", {"text": "a dog", "secret": "plum"}, index=["secret"])
        found = {one.key: one.score for one in store.search((), query="plum")}
        assert found["1"] is None
        assert found["2"] is not None
