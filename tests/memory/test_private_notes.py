"""What a person wrote for their own eyes: the file stays as it is, and nothing made of it tells."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from embed import scripted_server as server
from mnemark import Memory
from mnemark.errors import NotFoundError
from mnemark.facts.visible import Visible, restored
from mnemark.index.store import Index
from mnemark.memory.prompt.briefing import briefing
from mnemark.memory.transfer.transfer import export_workspace
from mnemark.retrieval.words import by_words_of
from mnemark.text import redaction
from mnemark.text.dates import local_now
from mnemark_adapters.memory_store import MemoryStore
from mnemark_interfaces.tools import BY_NAME
from mnemark_interfaces.tools_run import call

LEXICAL = {"embedder": "none"}
SECRET, ILLNESS = "Tr0ub4dor3x", "lupus"
NOTE = f"""# Cellar

The guest wifi password is {SECRET} there.

<private>
my diagnosis
is {ILLNESS}
</private>

The printer hums beside the boiler.
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "memory"
    root.mkdir()
    (root / "cellar.md").write_text(NOTE, "utf-8")
    return root


def told(text: str) -> bool:
    """Whether a text gives away what it must not."""
    return SECRET in text or ILLNESS in text or "diagnosis" in text


def derived(root: Path) -> dict[str, bytes]:
    """All that mnemark keeps beside the files."""
    return {path.name: path.read_bytes() for path in (root / ".mnemark").rglob("*") if path.is_file()}


def leaks(root: Path) -> list[str]:
    words = [SECRET, SECRET.lower(), ILLNESS, "diagnosis"]
    return [name for name, data in derived(root).items() if any(word.encode() in data for word in words)]


def test_a_note_s_secrets_are_in_no_answer_and_in_no_index(root: Path) -> None:
    with Memory.open(root) as memory:
        for query in ("wifi password", "printer boiler", "my diagnosis", SECRET, ILLNESS):
            found = memory.search(query)
            recalled = memory.recall(query, deadline=5)
            assert not told("".join(f"{hit.text}{hit.snippet}{hit.title}{hit.meta}" for hit in found.hits))
            assert not told(recalled.text)
        assert memory.search("printer boiler").hits
        assert not told(memory.prompt("wifi password").text)
        assert leaks(root) == []
    assert (root / "cellar.md").read_text("utf-8") == NOTE


def test_refs_and_line_numbers_hold(root: Path) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        assert memory.read("cellar.md#L10") == "The printer hums beside the boiler.\n"
        shown = memory.read("cellar.md").splitlines()
        assert len(shown) == len(NOTE.splitlines())
        assert shown[4] == "[private]"
        assert memory.read("cellar.md", raw=True) == NOTE


def test_no_tool_of_a_model_tells(root: Path) -> None:
    """Neither reading, nor what stands around a line, nor what forgetting would take."""
    (root / "memory").mkdir()
    (root / "memory/2026-03-01.md").write_text(f"# Day\n\n- 08:00 password: {SECRET}\n{NOTE}", "utf-8")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("memory_search", {"query": "wifi password"}),
        ("memory_get", {"path": "cellar.md"}),
        ("memory_get", {"path": "memory/2026-03-01.md"}),
        ("memory_timeline", {"around": "cellar.md#L7"}),
        ("memory_timeline", {"limit": 20}),
        ("memory_forget", {"query": "diagnosis"}),
        ("memory_forget", {"ref": "cellar.md#L5-L8"}),
    ]
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        for name, arguments in asked:
            assert name in BY_NAME
            answer = call(memory, name, arguments)
            assert not told(json.dumps(answer, ensure_ascii=False)), (name, arguments)


def test_curated_files_and_personas_are_handed_on_without_secrets(root: Path) -> None:
    for name in ("MEMORY.md", "USER.md", "SOUL.md", "SCRATCHPAD.md", "memory/episodes/2026-03-01-move.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"# Cellar\n\n- Always be kind.\n\n{NOTE}", "utf-8")
    (root / "personas").mkdir()
    (root / "personas/default.md").write_text(f"---\nactive: true\n---\n{NOTE}", "utf-8")
    now = local_now("")
    (root / f"memory/{now:%Y-%m-%d}.md").write_text(NOTE, "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        prompt = memory.prompt("printer")
        assert "printer" in prompt.text
        assert not told(prompt.text)
        assert "printer" in memory.context()
        assert not told(memory.context())
        assert not told(briefing(memory.workspace, now).text)


def test_a_fact_written_by_hand_is_shown_and_journaled_without_its_secret(root: Path) -> None:
    (root / "memory/facts").mkdir(parents=True)
    illness = f"<private>\n\n- **illness**: {ILLNESS}\n\n</private>\n"
    bullets = f"- **wifi password**: {SECRET}\n- **city**: Bremen\n\n{illness}"
    (root / "memory/facts/user.md").write_text(bullets, "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        facts = {fact.predicate: fact for fact in memory.facts()}
        assert facts.keys() == {"wifi password", "city"}
        assert facts["wifi password"].value == "[redacted:password:00000000]"
        (root / "memory/facts/user.md").write_text(bullets.replace("Bremen", "Lisbon"), "utf-8")
        memory.sync()
        memory.remember("city", "Oslo")
        memory.sync()
        assert not told(memory.recall("wifi password illness city", deadline=5).text)
        assert not told(memory.prompt("city").text)
    kept = (root / "memory/facts/user.md").read_text("utf-8")
    assert SECRET in kept
    assert ILLNESS in kept
    journal = "".join(path.read_text("utf-8") for path in (root / "journal").glob("*.jsonl"))
    assert not told(journal)
    assert leaks(root) == []


def test_a_log_that_another_program_wrote_is_searched_without_its_secrets(root: Path) -> None:
    (root / "sessions").mkdir()
    line = {
        "role": "user",
        "content": f"my password is {SECRET}, and the printer hums",
        "time": "2026-03-01T08:00:00",
    }
    (root / "sessions/chat.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        assert memory.search("printer hums", kinds=["turn"]).hits
        assert not told("".join(hit.text for hit in memory.search("password printer hums").hits))
        line["content"] = f"the fax password is {SECRET}"
        with (root / "sessions/chat.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        assert not told("".join(hit.text for hit in memory.search("fax password").hits))
        memory.sync()
        assert not told("".join(hit.text for hit in memory.search("fax password").hits))
    assert leaks(root) == []


def test_a_hook_alone_reads_no_index_made_by_other_rules(root: Path) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        assert by_words_of(root, "printer boiler").hits
        memory.workspace.index.connection.execute("UPDATE meta SET value = '1;' WHERE key = 'redaction'")
    with pytest.raises(NotFoundError, match="mnemark sync"):
        by_words_of(root, "printer boiler")


@pytest.fixture
def old(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose index and vectors were made before notes were redacted."""
    with monkeypatch.context() as before:
        before.setattr(Visible, "redacted", lambda _, text: text)
        before.setattr(Visible, "identity", property(lambda _: "1;"))
        before.setattr(redaction, "VERSION", 1)
        with Memory.open(root) as memory:
            memory.sync()
            assert told("".join(hit.text for hit in memory.search("wifi password").hits))
    assert "index.db" in leaks(root)
    return root


def test_indexes_and_vectors_made_before_are_made_anew(old: Path) -> None:
    def vectors(memory: Memory) -> int:
        return memory.workspace.searcher.embeddings.store().count

    with Memory.open(old) as memory:
        memory.sync()
        passages = memory.stats().passages
        assert vectors(memory) == passages
        assert not told("".join(hit.text for hit in memory.search("wifi password").hits))
    assert leaks(old) == []


def test_what_is_marked_private_later_leaves_the_index(root: Path) -> None:
    (root / "other.md").write_text("# Other\n\nA tale of boilers.\n", "utf-8")
    note = root / "plain.md"
    note.write_text(f"# Plain\n\nI was told about {ILLNESS}, my diagnosis.\n", "utf-8")
    with Memory.open(root) as memory:
        memory.sync()
        assert memory.search(ILLNESS).hits
        assert leaks(root)
        note.write_text(f"# Plain\n\n<private>I was told about {ILLNESS}, my diagnosis.</private>\n", "utf-8")
        memory.sync()
        assert leaks(root) == []
        assert memory.search("tale of boilers").hits
        assert not memory.workspace.index.scrub_due()


def test_a_secret_of_the_environment_leaves_an_index_that_held_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = "quince-harbour-7731"
    (root / "plain.md").write_text(f"# Plain\n\nLog in with {value} at the gate.\n", "utf-8")
    monkeypatch.delenv("GATE_PASSWORD", raising=False)
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        assert any(value.encode() in data for data in derived(root).values())
    monkeypatch.setenv("GATE_PASSWORD", value)
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        assert not any(value.encode() in data for data in derived(root).values())
        assert memory.search("log in at the gate").hits


def test_settings_of_redaction_make_the_index_anew(root: Path) -> None:
    (root / "plain.md").write_text("# Plain\n\nThe case is AZ-4711-K.\n", "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        assert memory.search("the case").hits[0].text.count("4711")
    with Memory.open(root, config=LEXICAL | {"redact": [r"AZ-\d{4}-K"]}) as memory:
        assert not memory.search("the case").hits[0].text.count("4711")


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[server.Script]:
    with server.serve() as script:
        monkeypatch.setenv("MADE_UP_KEY", "sk-made-up-0123456789")
        monkeypatch.setenv("MNEMARK_HOSTS", "127.0.0.1")
        yield script


def test_no_embedding_api_is_told(root: Path, api: server.Script) -> None:
    config = {"embedder": "api:some/model", "embedder_url": api.url, "embedder_key_env": "MADE_UP_KEY"}
    with Memory.open(root, config=config) as memory:
        memory.sync()
        memory.search(f"where is my password is {SECRET} used?")
    assert len(api.requests) >= 2
    assert not told(json.dumps(api.requests))


def test_a_mark_without_its_partner_is_told(root: Path) -> None:
    (root / "open.md").write_text("# Open\n\n<private>\neverything else\n", "utf-8")
    (root / "closed.md").write_text("# Closed\r\n\r\nall before\r\n</private>\r\nThe end.\r\n", "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        report = (
            {finding.what for finding in memory.doctor().findings} if hasattr(memory, "doctor") else set()
        )
        from mnemark.memory.health.doctor import doctor

        report |= {finding.what for finding in doctor(memory.workspace).findings}
        assert any(text.startswith("open.md: line 3: <private> is never closed") for text in report)
        assert any(text.startswith("closed.md: line 4: </private> without <private>") for text in report)
        assert not memory.search("everything else").hits
        assert memory.search("the end").hits


def test_an_export_by_records_tells_nothing_and_one_by_files_is_whole(root: Path, tmp_path: Path) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        export_workspace(memory.workspace, tmp_path / "out.jsonl", format="jsonl")
        assert not told((tmp_path / "out.jsonl").read_text("utf-8"))


def test_an_edit_beside_a_secret_notes_and_shows_nothing_of_it(root: Path) -> None:
    (root / "MEMORY.md").write_text(f"# Memory\n\nwifi password: {SECRET}\n- The printer hums.\n", "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        call(memory, "memory_write", {"text": "The boiler is new.", "target": "long-term"})
        assert "boiler" in (root / "MEMORY.md").read_text("utf-8")
        assert SECRET in (root / "MEMORY.md").read_text("utf-8")
        journal = "".join(path.read_text("utf-8") for path in (root / "journal").glob("*.jsonl"))
        assert "boiler" in journal
        assert SECRET not in journal


def test_a_store_that_writes_back_what_it_was_shown_keeps_the_person_s_words(root: Path) -> None:
    before = (
        f"# Memory\n\nwifi password: {SECRET}\n\n<private>\nis {ILLNESS}\n</private>\n\n- The printer hums.\n"
    )
    (root / "MEMORY.md").write_text(before, "utf-8")
    store = MemoryStore(root)
    shown = store.read_long_term()
    assert "printer" in shown
    assert not told(shown)
    store.write_long_term(shown.replace("hums", "is quiet"))
    assert (root / "MEMORY.md").read_text("utf-8") == before.replace("hums", "is quiet")
    assert list(root.glob("*.conflict-*")) == []


def test_a_line_with_a_mark_that_was_changed_is_kept_beside(root: Path) -> None:
    before = f"# Memory\n\nwifi password: {SECRET}\n"
    (root / "MEMORY.md").write_text(before, "utf-8")
    store = MemoryStore(root)
    shown = store.read_long_term()
    store.write_long_term(shown.replace("wifi password", "password of the wifi"))
    (copy,) = root.glob("MEMORY.conflict-*.md")
    assert copy.read_text("utf-8") == before


@pytest.mark.parametrize(
    ("raw", "visible", "text", "expected"),
    [
        ("a\n", "a\n", "b\n", "b\n"),
        ("a: X\nb\n", "a: M\nb\n", "a: M\nc\n", "a: X\nc\n"),
        ("a: X\na: Y\n", "a: M\na: M\n", "a: M\na: M\n", "a: X\na: Y\n"),
        ("<p>\nX\n</p>\n\nb\n", "M\n\n\n\nb\n", "M\nb\n", "<p>\nX\n</p>\nb\n"),
        ("a: X\n", "a: M\n", "new a: M\n", "new a: M\n"),
        ("gone\nb\n", "\nb\n", "\nb\n\n", "\nb\n\n"),
    ],
)
def test_lines_shown_with_a_mark_become_the_file_s_own_again(
    raw: str, visible: str, text: str, expected: str
) -> None:
    assert restored(text, raw, visible) == expected


def test_a_read_only_workspace_tells_nothing_either(root: Path) -> None:
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        assert not told("".join(hit.text for hit in memory.search("wifi password printer").hits))
        assert memory.search("printer boiler").hits
    assert not (root / ".mnemark").exists()
    index = Index(root, readonly=True)
    assert not index.exists()
