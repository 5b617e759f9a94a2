"""Facts of unchanged files come from the index: the same facts, and nothing that was to be gone."""

import sqlite3
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from memory.erasing import holding
from mnemark import Memory
from mnemark.facts import parse
from mnemark.facts.model import Fact

USER = "memory/facts/user.md"
HAND = """# 用户

- **城市**：杭州 <!-- id: 01K0000000000000000000000A | since: 2026-01-02 | tags: home, 家 | importance: 8 -->
- ~~**editor**: Vim~~ <!-- id: 01K0000000000000000000000B | until: 2026-02-03 | source: notes/a.md#L1 -->
- **languages**: <!-- subject: Ann | recorded: 2026-01-01 -->
  - Go <!-- id: 01K0000000000000000000000C | origin: agent | priority: long -->
- likes tea 🍵 <!-- id: 01K0000000000000000000000D | type: preference | confidence: 0.5 -->
"""


def opened(root: Path, *, readonly: bool = False) -> Memory:
    return Memory.open(root, config={"embedder": "none"}, readonly=readonly)


def write(root: Path, data: bytes, path: str = USER) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)


def facts(root: Path, *, readonly: bool = False) -> list[Fact]:
    with opened(root, readonly=readonly) as memory:
        memory.search("city")
        return [one.fact for one in memory.workspace.fact_store.held("")]


def stored(root: Path) -> dict[str, bytes]:
    # The library that has it open: of two, each closing a file takes the other's locks away.
    connection = apsw.Connection(str(root / ".mnemark" / "index.db"))
    try:
        rows: Any = connection.execute("SELECT path, facts FROM documents WHERE facts <> x''")
        return dict(rows.fetchall())
    finally:
        connection.close()


def sync(root: Path) -> None:
    with opened(root) as memory:
        memory.sync()


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of bullets that were parsed."""
    found: list[str] = []
    original = parse._parse_content

    def noted(raw: str, *span: int) -> Any:
        found.append(raw)
        return original(raw, *span)

    monkeypatch.setattr(parse, "_parse_content", noted)
    return found


@pytest.mark.parametrize(
    "data",
    [
        HAND.encode(),
        b"\xef\xbb\xbf" + HAND.encode(),
        HAND.replace("\n", "\r\n").encode(),
        HAND.encode("utf-16"),
        HAND.encode("gb18030", "replace"),
        HAND.encode() + b"- **odd**: \xff\xfe bytes <!-- id: 01K0000000000000000000000E -->\n",
        HAND.encode() + b"- **nul**: a\0b <!-- id: 01K0000000000000000000000E -->\n",
        HAND.encode() + b"- a bullet without a comment\n- ~~struck by hand~~\n",
        HAND.encode() + b"- **token**: ghp_abcdefghijklmnopqrstuvwxyz0123456789\n",
        HAND.encode() + b"<private>\n- **secret**: plan\n</private>\n",
        b"---\ntitle: x\n---\n\n" + HAND.encode() + b"```\n- code\n```\n",
        b"",
    ],
)
def test_the_same_facts_as_parsed(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, data)
    expected = facts(tmp_path)  # parsed: they are read before the first sync has ended, or are by hand
    (tmp_path / ".mnemark" / "index.db").unlink()
    assert facts(tmp_path, readonly=True) == expected  # no index: parsed
    sync(tmp_path)
    assert facts(tmp_path) == expected
    assert facts(tmp_path, readonly=True) == expected


def test_an_unchanged_file_is_not_parsed_again(tmp_path: Path, parsed: list[str]) -> None:
    write(tmp_path, HAND.encode())
    sync(tmp_path)
    assert list(stored(tmp_path)) == [USER]
    parsed.clear()
    parse._contents.clear()
    assert sorted(one.value for one in facts(tmp_path)) == ["Go", "Vim", "likes tea 🍵", "杭州"]
    assert parsed == []
    write(tmp_path, HAND.replace("likes tea", "hates tea").encode())
    assert "hates tea 🍵" in {one.value for one in facts(tmp_path)}
    assert parsed


def test_a_moved_file_and_one_of_another_name_have_facts_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, HAND.encode())
    sync(tmp_path)
    (tmp_path / USER).rename(tmp_path / "memory/facts/old-user.md")
    sync(tmp_path)
    assert {one.path for one in facts(tmp_path)} == {"memory/facts/old-user.md"}
    assert list(stored(tmp_path)) == ["memory/facts/old-user.md"]


def test_times_of_a_file_are_not_stored(tmp_path: Path) -> None:
    write(tmp_path, HAND.encode() + b"- a bullet without a comment\n")
    sync(tmp_path)
    assert stored(tmp_path) == {}


def test_what_is_forgotten_is_not_stored_until_it_is_back(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        kept = memory.remember("city", "Quillmere by the lake")
        memory.remember("editor", "Zed")
        memory.sync()
        assert b"Quillmere" in stored(tmp_path)[USER]
        before = (tmp_path / USER).read_bytes()
        receipt = memory.forget(id=kept.id)
        write(tmp_path, before)  # as a folder that is synced from elsewhere brings it back
        memory.sync()
        assert USER not in stored(tmp_path)
    assert [one.value for one in facts(tmp_path)] == ["Zed"]
    assert b"Quillmere" not in (tmp_path / ".mnemark" / "index.db").read_bytes()
    with opened(tmp_path) as memory:
        memory.undo(receipt.id)
        memory.sync()
    assert b"Quillmere" in stored(tmp_path)[USER]
    assert sorted(one.value for one in facts(tmp_path)) == ["Quillmere by the lake", "Zed"]


@pytest.mark.parametrize("text", ["Quillmere by the lake", "湖边的青瓦小城里"])
def test_erased_words_are_in_no_byte(tmp_path: Path, text: str) -> None:
    with opened(tmp_path) as memory:
        kept = memory.remember("city", text, source="notes/a.md#L1")
        memory.remember("editor", "Zed")
        memory.sync()
        assert ".mnemark/index.db" in " ".join(holding(tmp_path, text))
        assert text.encode() in stored(tmp_path)[USER]
        memory.forget(id=kept.id, erase=True)
        assert holding(tmp_path, text) == []
    assert [one.value for one in facts(tmp_path)] == ["Zed"]
    assert b"Zed" in stored(tmp_path)[USER]


def test_a_secret_that_comes_into_the_environment_is_shown_by_none_and_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "Xq7-velvet-Heron-91"
    comment = f"<!-- id: 01K0000000000000000000000E | source: {secret} -->"
    write(tmp_path, HAND.encode() + f"- **pass phrase of home**: none {comment}\n".encode())
    sync(tmp_path)
    assert secret.encode() in stored(tmp_path)[USER]
    monkeypatch.setenv("SERVICE_PASSWORD", secret)
    with opened(tmp_path, readonly=True) as memory:  # it cannot sync
        assert secret not in repr(memory.workspace.fact_store.held(""))
    sync(tmp_path)
    assert secret.encode() not in (tmp_path / ".mnemark" / "index.db").read_bytes()
    assert secret not in repr(facts(tmp_path))


def test_an_index_of_another_version_is_parsed_around_or_made_anew(tmp_path: Path) -> None:
    write(tmp_path, HAND.encode())
    sync(tmp_path)
    expected = facts(tmp_path)
    connection = sqlite3.connect(tmp_path / ".mnemark" / "index.db")
    connection.execute("ALTER TABLE documents DROP COLUMN facts")
    connection.execute("PRAGMA user_version=5")
    connection.commit()
    connection.close()
    with opened(tmp_path, readonly=True) as memory:
        assert [one.fact for one in memory.workspace.fact_store.held("")] == expected
    assert facts(tmp_path) == expected
    assert list(stored(tmp_path)) == [USER]


@pytest.mark.parametrize("rest", [b"", b"\x00", msgspec.msgpack.encode((0, [])), b"\xff" * 9])
def test_damaged_or_foreign_bytes_are_parsed_around(tmp_path: Path, rest: bytes) -> None:
    write(tmp_path, HAND.encode())
    sync(tmp_path)
    expected = facts(tmp_path)
    connection = sqlite3.connect(tmp_path / ".mnemark" / "index.db")
    connection.execute("UPDATE documents SET facts = ? WHERE path = ?", (rest, USER))
    connection.commit()
    connection.close()
    assert facts(tmp_path) == expected
