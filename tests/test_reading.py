"""Reading a memory, in whatever way, changes no byte of its truth, whatever waits to be finished there."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.logical import LEXICAL
from forked import mnemark
from memory.erasing import old
from mnemark import Memory
from mnemark.files.jsonl import TEMPORARY
from mnemark.memory import file_edits
from mnemark.memory.forgetting import erase
from mnemark.memory.forgetting.select import Criteria, Selector
from mnemark.memory.sessions.session import Session
from mnemark.memory.undo import undo
from mnemark.text.markdown.hunks import hunks, without_context
from mnemark_agents.hook import cold, warm
from mnemark_agents.hook.event import parse_call

QUESTION = "Which boat did we book for the harbour?"


def truth(root: Path) -> dict[str, bytes | None]:
    """Return all files and folders but those of `.mnemark`, with their bytes."""
    paths = (path for path in sorted(root.rglob("*")) if ".mnemark" not in path.relative_to(root).parts)
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None for path in paths
    }


def live(root: Path) -> None:
    """Keep a memory for a while."""
    (root / "memory").mkdir(parents=True)
    (root / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    (root / "MEMORY.md").write_text("# Memory\n\n- The harbour opens at six\n", "utf-8")
    (root / "note.md").write_text("# Harbour\n\n- booked the boat Heron\n", "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        session = memory.session("chat:1")
        session.add("user", "Book the boat Heron for the harbour, please")
        session.add("assistant", "The boat is booked for Monday")
        session.observe("exec", {"command": "make tides"}, "tides made")
        for predicate, value in (("boat", "Heron"), ("city", "Oslo"), ("employer", "Acme"), ("tea", "green")):
            memory.remember(predicate, value)
        memory.remember("harbour", "Bergen", origin="web")
        memory.remember("stripes", "black", subject="zebra")
        session.end()
        memory.consolidate(force=True)
        memory.sync()
    for path in root.rglob("*.md"):
        old(path)


def leave_undone(root: Path) -> None:
    """Leave there all that may wait: as a busy file, a person and killed processes would."""
    with Memory.open(root, config=LEXICAL) as memory:
        tea = next(fact for fact in memory.facts() if fact.predicate == "tea")
        undo.append_undo(memory.workspace, tea.id)
        session = memory.session("chat:2")
        session.add("user", "My Zanzibarix trip is in May")
        session.observe("exec", {"command": "make charts"}, "charts made")
        page = root / "memory/facts/user.md"
        page.write_text(page.read_text("utf-8") + "\n", "utf-8")  # somebody saves it just now
        memory.remember("sails", "blue")
        assert memory.workspace.fact_store.pending() == 1
        note = "note.md"
        text = (root / note).read_text("utf-8")
        made = without_context(hunks(text, f"{text}- an edit cut off\n"), frozenset())
        payload = {"step": "session end", "path": note, "hunks": made}
        memory.workspace.journal.append(file_edits._begun("write", payload))
        gone = Selector(memory.workspace, Criteria(query="Zanzibarix")).find()
        erase._append_entry(memory.workspace, gone, "Zanzibarix")
    zebra = root / "memory/facts/zebra.md"
    zebra.write_text(zebra.read_text("utf-8").replace("black", "white") + "- **legs**: four\n", "utf-8")
    (root / f"{TEMPORARY}01ARZ3NDEKTSV4RRFFQ69G5FAV").write_text("left by a kill", "utf-8")
    for path in [*root.rglob("*.md"), *root.glob(f"{TEMPORARY}*")]:
        old(path)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("lived") / "memory"
    live(root)
    leave_undone(root)
    return root


@pytest.fixture
def root(lived: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lived, tmp_path / "memory"))


def opened(read: Callable[[Memory], object]) -> Callable[[Path], None]:
    def way(root: Path) -> None:
        with Memory.open(root, config=LEXICAL) as memory:
            read(memory)

    return way


def browse(memory: Memory) -> None:
    memory.browse.facts()
    memory.browse.sessions()
    memory.browse.changes()
    memory.browse.attachments()
    memory.browse.timeline()
    memory.browse.disk()


def in_session(memory: Memory) -> None:
    session = memory.session("chat:1")
    session.recall(QUESTION)
    session.idle(60.0)
    memory.prompt(QUESTION, session=session)


def hook(name: str, **data: object) -> Callable[[Path], None]:
    def way(root: Path) -> None:
        given = {"session_id": "new", "cwd": str(root), **data}
        call = parse_call(name, "claude-code", given)
        cold.handle(root, call)
        with Memory.open(root, config=LEXICAL) as memory:
            warm.handle(Kept(memory), name, {"agent": "claude-code", "event": given})

    return way


def command(*words: str) -> Callable[[Path], None]:
    def way(root: Path) -> None:
        done = mnemark(*words, cwd=root)
        assert done.returncode in {0, 8}, done.stderr  # 8: `doctor` and `verify` say what waits

    return way


class Kept:
    """A memory as the daemon keeps it."""

    one_machine = True

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def session(self, identifier: str, **scope: str | None) -> Session:
        return self.memory.session(identifier, **scope)


WAYS: dict[str, Callable[[Path], None]] = {
    "open": opened(lambda memory: None),
    "search": opened(lambda memory: memory.search(QUESTION)),
    "recall": opened(lambda memory: memory.recall(QUESTION)),
    "prompt": opened(lambda memory: memory.prompt(QUESTION)),
    "session": opened(in_session),
    "facts": opened(lambda memory: list(memory.facts(history=True))),
    "read": opened(lambda memory: memory.read("MEMORY.md")),
    "context": opened(lambda memory: memory.context()),
    "turns": opened(lambda memory: memory.turns()),
    "review": opened(lambda memory: (memory.review(), memory.attention())),
    "why": opened(lambda memory: memory.why("note.md#L3", QUESTION)),
    "stats": opened(lambda memory: memory.stats()),
    "browse": opened(browse),
    "hook: a session begins": hook("session-start", source="startup"),
    "hook: a prompt": hook("prompt", prompt=QUESTION),
    **{f"mnemark {words}": command(*words.split()) for words in (
        "search boat", "recall boat", "read MEMORY.md", "log", "status", "sessions", "prompt boat", "facts",
        "doctor", "verify", "why note.md#L3 boat", "forget --dry-run --query boat",
    )},
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_reading_changes_nothing(root: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold, "_run_in_background", lambda root, session: None)
    before = truth(root)
    WAYS[way](root)
    assert truth(root) == before


def test_pages_change_nothing(root: Path, tmp_path: Path) -> None:
    """A daemon that watches a folder finishes what waits there; the pages do not."""
    pytest.importorskip("jinja2")
    from interfaces.browsers import Browser
    from interfaces.daemons import running
    from interfaces.test_web_pages import crawl

    before = truth(root)
    with running(tmp_path / "state", watching=False) as daemon:
        assert len(crawl(Browser(daemon, root, "en"))) > 20
    assert truth(root) == before


def test_what_waits_is_seen_at_once_and_done_by_the_next_sync(root: Path) -> None:
    """What reads leave undone, they answer as if it were done."""
    with Memory.open(root, config=LEXICAL) as memory:
        facts = {fact.predicate: fact.value for fact in memory.facts()}
        assert facts["sails"] == "blue"
        assert "tea" not in facts
        assert facts["stripes"] == "white"
        assert not memory.search("Zanzibarix").hits
        memory.sync()
    page, zebra = ((root / f"memory/facts/{name}.md").read_text("utf-8") for name in ("user", "zebra"))
    assert "sails" in page
    assert "tea" not in page
    assert "white" in zebra
    assert "- an edit cut off" in (root / "note.md").read_text("utf-8")
    assert not [path for path in root.rglob("*") if path.is_file() and b"Zanzibarix" in path.read_bytes()]
    assert not list(root.glob(f"{TEMPORARY}*"))
    with Memory.open(root, config=LEXICAL) as memory:
        assert {one.action for one in memory.review() if one.what == "edit"} == {"added", "changed"}


def test_a_consolidation_finishes_an_erasure(root: Path) -> None:
    """A program that never syncs still has somebody who does what opening left."""
    with Memory.open(root, config=LEXICAL) as memory:
        memory.consolidate(force=True)
        assert not memory.workspace.index.hidden.unfinished()
    assert not [path for path in root.rglob("*") if path.is_file() and b"Zanzibarix" in path.read_bytes()]
