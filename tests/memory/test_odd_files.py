"""What is no file that can be read, beside memory and beside an erase: named, and in nobody's way."""

import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.odd import KINDS, Closed, as_a_user, ended_within, make, open_again
from memory.erasing import holding, old
from mnemark import Memory
from mnemark.files import platform
from mnemark.memory.health.doctor import doctor, verify
from mnemark.memory.transfer.backup import backup
from mnemark.memory.transfer.imports import import_from
from mnemark.memory.transfer.transfer import export_workspace
from sampled import sampled

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")

PLACES = (
    "", "memory", "memory/facts", "memory/episodes", "memory/archive", "memory/review", "sessions", "journal",
    "personas", "users", "users/ann", "users/ann/memory/facts", "users/ann/sessions", "notes", ".mnemark",
    ".mnemark/displaced", ".mnemark/compiled",
)  # fmt: skip
NAMES = ("odd.md", "odd.jsonl", "odd.bin", "2026-02-11.md")
SECRET = "the saffron secret of walnut hill"


def opened(root: Path) -> Memory:
    return Memory.open(root, config={"embedder": "none"})


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    old(path)


def filled(root: Path) -> Path:
    write(root / "mnemark.toml", "")
    write(root / "notes/n.md", "the heron likes lantern fish\n")
    write(root / "memory/2026-02-13.md", f"- 10:00 compass\n- 11:00 {SECRET}\n")
    with opened(root) as memory:
        memory.session("cli:a").add("user", "the heron lives in the harbour tower")
        memory.remember("bird", "a grey heron")
        memory.remember("colour", "green", scope="users/ann")
        memory.sync()
    return root


@pytest.mark.parametrize("kind", sampled(KINDS, 4))
def test_everything_works_with_odd_things_in_all_places(tmp_path: Path, kind: str) -> None:
    root = filled(tmp_path / "w")
    for place in _places(kind):
        for name in NAMES:
            if not (root / place / name).exists():
                make(root / place / name, kind, tmp_path / "out")
    make(tmp_path / "source/odd.md", kind, tmp_path / "out")
    write(tmp_path / "source/a.md", "brought in\n")
    with as_a_user() as counts, ended_within(120):
        if not counts and kind.startswith("closed"):
            pytest.skip("permissions do not count here")
        _use(root, tmp_path)
    open_again(tmp_path)


def _places(kind: str) -> Iterator[str]:
    """Folders that may hold such a thing: some links have a workspace refused, see `test_links`."""
    for place in PLACES:
        is_own = place.startswith(".mnemark") and kind in {"dangling", "out", "out to a pipe", "loop"}
        is_read_by_name = place in {"journal", "users"} and kind.startswith("out")
        if not is_own and not is_read_by_name:
            yield place


def _use(root: Path, tmp_path: Path) -> None:
    """What people and agents do in a day."""
    with opened(root) as memory:
        memory.sync()
        assert {hit.path for hit in memory.search("heron").hits} >= {"notes/n.md"}
        assert "heron" in memory.recall("where is the heron", deadline=20).text
        assert [fact.value for fact in memory.facts()] == ["a grey heron"]
        session = memory.session("cli:b")
        session.add("user", "my favourite colour is ochre")
        session.observe("exec", {"command": "make"}, "done")
        session.end()
        memory.remember("city", "Lyon")
        assert "heron" in str(memory.prompt("where is the heron"))
        hidden = memory.forget(query="compass")
        assert [item.ref for item in hidden.items] == ["memory/2026-02-13.md#L1"]
        memory.undo(hidden.id)
        receipt = memory.forget(query="saffron secret", erase=True)
        assert [item.ref for item in receipt.items] == ["memory/2026-02-13.md#L2"]
        assert memory.search("saffron secret walnut").hits == () or not _told(memory, "saffron secret")
        memory.consolidate()
        memory.revert(session="cli:none")
        backup(memory.workspace, tmp_path / "saved.zip")
        export_workspace(memory.workspace, tmp_path / "lines.jsonl", format="jsonl")
        import_from(memory.workspace, "markdown", tmp_path / "source")
        assert {one.level for one in doctor(memory.workspace, fix=True).findings} <= {"ok", "warn"}
        assert verify(memory.workspace, deep=True).level in {"ok", "warn"}
        memory.attention()
    with opened(root) as memory:
        memory.sync()
        assert {hit.path for hit in memory.search("heron").hits} >= {"notes/n.md"}
        assert not _told(memory, "saffron secret")
        assert {fact.value for fact in memory.facts()} >= {"a grey heron", "Lyon"}


def _told(memory: Memory, words: str) -> bool:
    return any(words in hit.text for hit in memory.search(words, k=20).hits)


@pytest.mark.parametrize("name", ["plain.md", "sessions/other.jsonl", "data.bin", "journal/other.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_an_erase_beside_a_pipe_or_socket_is_done_and_names_it(tmp_path: Path, kind: str, name: str) -> None:
    root = filled(tmp_path / "w")
    make(root / name, kind, tmp_path / "out")
    with ended_within(60), opened(root) as memory:
        receipt = memory.forget(query="saffron secret", erase=True)
        assert receipt.waiting == ()
        assert f"{name}: is a {kind}, not a file; not searched" in receipt.still
        assert memory.workspace.unfinished() == []
    (root / name).unlink()
    assert holding(root, "saffron secret") == []


def closed_by(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> Closed:
    layer = Closed(paths)
    monkeypatch.setattr(platform, "FS", layer)
    return layer


@pytest.mark.parametrize("name", ["old.md", "sessions/other.jsonl", "users/ann/memory/2026-01-01.md"])
def test_an_erase_waits_for_a_closed_file_and_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    root = filled(tmp_path)
    line = (
        f'{{"role": "user", "content": "he said: {SECRET}"}}\n'
        if name.endswith(".jsonl")
        else f"- {SECRET}\n"
    )
    write(root / name, f"{line}")
    closed_by(monkeypatch, root / name)
    with opened(root) as memory:
        receipt = memory.forget(query="saffron secret", erase=True)
        assert any(wait.startswith(f"{name}: cannot be read: Permission denied") for wait in receipt.waiting)
        assert receipt.text.startswith("Hidden, but not yet erased everywhere: 1 piece of a note.")
        assert SECRET not in receipt.text
    with opened(root) as memory:  # nothing is kept from working, and all say why it is not finished
        found = memory.search("heron saffron secret", k=20)
        assert "notes/n.md" in {hit.path for hit in found.hits}
        assert not any("saffron" in hit.text for hit in found.hits)
        assert any("an erase is not finished" in reason and name in reason for reason in found.degraded)
        assert any("an erase is not finished" in one.what for one in doctor(memory.workspace).findings)
        assert doctor(memory.workspace, fix=True).level == "warn"
        assert "erasing" in {one.what for one in memory.attention()}
        assert memory.sync().problems
    monkeypatch.undo()
    with opened(root) as memory:
        memory.sync()
        assert memory.workspace.unfinished() == []
        assert "erasing" not in {one.what for one in memory.attention()}
    assert holding(root, "saffron secret") == []
    assert "compass" in (root / "memory/2026-02-13.md").read_text(encoding="utf-8")


def test_what_is_to_go_may_itself_stand_in_the_closed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = filled(tmp_path)
    write(root / "quotes.md", f"- he said: {SECRET}\n")
    path = root / "memory/2026-02-13.md"
    with opened(root) as memory, pytest.MonkeyPatch.context() as cut:
        cut.setattr("mnemark.memory.forgetting.erase._carry_out", _killed)  # when it has noted what is to go
        with pytest.raises(KeyboardInterrupt):
            memory.forget("memory/2026-02-13.md#L2", erase=True)
    closed_by(monkeypatch, path)
    for _ in range(2):
        with opened(root) as memory:
            memory.sync()
            assert "memory/2026-02-13.md" not in {hit.path for hit in memory.search("saffron", k=20).hits}
            assert any("2026-02-13.md" in one for one in memory.workspace.unfinished())
    monkeypatch.undo()
    with opened(root) as memory:
        memory.sync()
        assert memory.workspace.unfinished() == []
    assert holding(root, "saffron secret") == []


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_closed_file_is_not_waited_for_by_going_through_all_others_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = filled(tmp_path)
    write(root / "old.md", SECRET)
    write(root / "data.bin", "only an erase looks into it")
    layer = closed_by(monkeypatch, root / "old.md")
    with opened(root) as memory:
        memory.forget(query="saffron secret", erase=True)
    layer.read.clear()
    with opened(root) as memory:
        memory.sync()
        assert memory.workspace.unfinished()
    assert root / "data.bin" not in layer.read
    with opened(root) as memory:
        doctor(memory.workspace, fix=True)  # asked to, it looks again
    assert root / "data.bin" in layer.read


@pytest.mark.parametrize(
    ("name", "ignore"),
    [("data/x.bin", []), ("data/x.md", ["data/"]), (".cache/x.md", []), ("node_modules/x.md", [])],
)
def test_what_is_no_memory_is_named_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, ignore: list[str]
) -> None:
    """A folder of another program, closed for good, keeps nothing from being erased."""
    root = filled(tmp_path)
    write(root / name, SECRET)
    closed_by(monkeypatch, root / name)
    with Memory.open(root, config={"embedder": "none", "ignore": ignore}) as memory:
        receipt = memory.forget(query="saffron secret", erase=True)
        assert receipt.waiting == ()
        assert f"{name}: cannot be read: Permission denied; not searched" in receipt.still
        assert memory.workspace.unfinished() == []
    monkeypatch.undo()
    assert holding(root, "saffron secret") == [name]


@pytest.mark.parametrize(("name", "waits"), [("notes/closed", True), (".cache/closed", False)])
def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, *, name: str, waits: bool) -> None:
    root = filled(tmp_path / "w")
    make(root / name, "closed folder", tmp_path / "out", text=f"{SECRET}\n")
    with as_a_user() as counts:
        if not counts:
            pytest.skip("permissions do not count here")
        with opened(root) as memory:
            receipt = memory.forget(query="saffron secret", erase=True)
        told = receipt.waiting if waits else receipt.still
        assert any(line.startswith(f"{name}: folder cannot be read") for line in told)
        assert bool(receipt.waiting) == waits
        with opened(root) as memory:
            assert memory.search("heron").hits
            assert bool(memory.workspace.unfinished()) == waits
    open_again(root)
    with opened(root) as memory:
        memory.sync()
        assert memory.workspace.unfinished() == []
    assert holding(root, "saffron secret") == ([] if waits else [f"{name}/x.md"])


def test_a_file_that_cannot_be_written_is_waited_for(tmp_path: Path) -> None:
    root = filled(tmp_path)
    write(root / "notes/kept.md", f"- he said: {SECRET}\n")
    (root / "notes").chmod(0o500)
    with as_a_user() as counts:
        if not counts:
            pytest.skip("permissions do not count here")
        with opened(root) as memory:
            receipt = memory.forget("memory/2026-02-13.md#L2", erase=True)
            waits = [wait.partition(":")[0] for wait in receipt.waiting if "cannot be written" in wait]
            assert waits == ["notes/kept.md"]
        with opened(root) as memory:
            assert memory.search("heron").hits
            assert memory.workspace.unfinished()
        (root / "notes").chmod(0o700)
        with opened(root) as memory:
            memory.sync()
            assert memory.workspace.unfinished() == []
    assert holding(root, "saffron secret") == []


def test_an_erase_whose_hindrance_does_not_show_at_its_file_is_tried_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that can be written again, for example, changes nothing that can be seen at its files."""
    root = filled(tmp_path)
    write(root / "notes/kept.md", f"- he said: {SECRET}\n")

    class ReadOnlyDisk(Closed):
        def open(self, path: Path, flags: int) -> int:
            if path.parent == root / "notes":
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
            return super().open(path, flags)

    monkeypatch.setattr(platform, "FS", ReadOnlyDisk([]))
    with opened(root) as memory:
        assert memory.forget("memory/2026-02-13.md#L2", erase=True).waiting
    with opened(root) as memory:
        memory.sync()
        assert memory.workspace.unfinished()
    monkeypatch.undo()
    with opened(root) as memory:
        memory.sync()
        assert memory.workspace.unfinished() == []
    assert holding(root, "saffron secret") == []


def test_forgetting_names_what_it_could_not_look_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = filled(tmp_path)
    write(root / "sessions/other.jsonl", '{"role": "user", "content": "the walnut again"}\n')
    closed_by(monkeypatch, root / "sessions/other.jsonl")
    with opened(root) as memory:
        for query, action in (("walnut hill", "hidden"), ("nobody said this", "nothing")):
            receipt = memory.forget(query=query)
            assert receipt.action == action
            assert [line.partition(":")[0] for line in receipt.still] == ["sessions/other.jsonl"]
            assert "Could not be searched" in receipt.text


def test_what_was_forgotten_stays_so_while_the_journal_that_says_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = filled(tmp_path)
    with opened(root) as memory:
        memory.forget(query="saffron secret")
        (journal,) = (root / "journal").glob("*.jsonl")
    closed_by(monkeypatch, journal)
    for _ in range(2):
        with opened(root) as memory:
            memory.sync()
            found = memory.search("saffron secret compass", k=20)
            assert not any("saffron" in hit.text for hit in found.hits)
            assert any(journal.name in reason for reason in found.degraded)
            write(root / "memory/2026-02-13.md", f"- 10:00 compass\n- 11:00 {SECRET}\n- 12:00 more\n")
    monkeypatch.undo()
    with opened(root) as memory:
        memory.sync()
        (hit,) = memory.search("compass").hits
        assert "compass" in hit.text
        assert "saffron" not in hit.text


def test_a_fact_waits_for_a_closed_file_and_nothing_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = filled(tmp_path)
    closed_by(monkeypatch, root / "memory/facts/user.md")
    with opened(root) as memory:
        memory.remember("city", "Lyon")
        memory.remember("city", "Turin", scope="users/ann")
        memory.session("cli:a").add("user", "and on it goes")
        memory.sync()
        assert memory.search("goes").hits
        assert any("user.md" in one for one in memory.workspace.unfinished())
        assert "Lyon" in {fact.value for fact in memory.facts()}
    assert "Turin" in (root / "users/ann/memory/facts/user.md").read_text(encoding="utf-8")
    monkeypatch.undo()
    with opened(root) as memory:
        memory.sync()
        assert memory.workspace.unfinished() == []
        assert {fact.value for fact in memory.facts()} == {"a grey heron", "Lyon"}
    text = (root / "memory/facts/user.md").read_text(encoding="utf-8")
    assert "Lyon" in text
    assert "grey heron" in text


def test_what_was_forgotten_is_not_condensed_under_another_name(tmp_path: Path) -> None:
    write(tmp_path / "memory/2024-02-13.md", f"- 10:00 compass, an important decision\n- 11:00 {SECRET}\n")
    with opened(tmp_path) as memory:
        memory.forget(query="saffron secret")
        memory.consolidate()
        assert (tmp_path / "memory/2024-02.md").is_file()
        assert not _told(memory, "saffron secret")
    assert holding(tmp_path / "memory", "saffron secret") == ["archive/2024-02-13.md"]
