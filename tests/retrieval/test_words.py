"""What words alone find, for a hook without the daemon, is what a search by words finds first."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from mnemark import Memory
from mnemark.errors import NotFoundError
from mnemark.files.mounts import accept
from mnemark.files.trust import trust
from mnemark.retrieval.words import by_words_of
from mnemark_agents.hook.event import FLOOR

WORDS = (
    *("harbour", "pelican", "invoice", "crane", "tide", "lantern", "walrus", "anchor"),
    *("码头", "灯塔", "潮汐", "账单"),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("w")
    draw = random.Random(7)
    for number in range(120):
        chosen = " ".join(draw.choices(WORDS, weights=range(1, len(WORDS) + 1), k=draw.randint(2, 30)))
        (root / f"note-{number:03d}.md").write_text(f"# Note {number}\n\n{chosen}\n", "utf-8")
    (root / "needle.md").write_text("# Needle\n\nThe walrus lost its passport in Trondheim.\n", "utf-8")
    (root / "users/ann").mkdir(parents=True)
    (root / "users/ann/MEMORY.md").write_text("# Ann\n\nAnn's passport is in the safe.\n", "utf-8")
    (root / "memory/archive").mkdir(parents=True)
    (root / "memory/archive/2025-01.md").write_text("# Old\n\nAn archived passport.\n", "utf-8")
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.session("one").add("user", "My passport number is in the blue folder.")
        memory.sync()
    return root


@pytest.mark.parametrize(
    "query", ["walrus passport Trondheim", "灯塔 潮汐", "where is the lantern of the harbour?"]
)
def test_it_agrees_with_a_search_by_words(root: Path, query: str) -> None:
    found = by_words_of(root, query, k=5)
    with Memory.open(root, config={"embedder": "none", "preset": "bm25"}) as memory:
        wanted = memory.search(query, k=20)
    assert found.hits[0].text in {hit.text for hit in wanted.hits[:5]}
    assert {hit.ref for hit in found.hits} <= {hit.ref for hit in wanted.hits}
    assert found.mode == "lexical"
    assert found.degraded


def test_belief_tells_a_known_thing_from_an_unknown_one(root: Path) -> None:
    known = by_words_of(root, "Who lost a passport in Trondheim?").believable
    unknown = by_words_of(root, "Which violin concerto did Sibelius revise?").believable
    assert known > FLOOR > unknown


def test_other_scopes_the_archive_and_the_own_session_are_left_out(root: Path) -> None:
    refs = [hit.path for hit in by_words_of(root, "passport").hits]
    session = next(path for path in refs if path.startswith("sessions/"))
    assert sorted(refs) == sorted(["needle.md", session])
    assert [hit.path for hit in by_words_of(root, "passport", exclude=[(session, 1)]).hits] == ["needle.md"]
    assert len(by_words_of(root, "passport", exclude=[(session, 99)]).hits) == 2


def test_where_there_is_no_index_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="mnemark sync"):
        by_words_of(tmp_path, "anything")


def test_an_index_that_is_only_being_made_is_none(tmp_path: Path) -> None:
    (tmp_path / ".mnemark").mkdir()
    trust(tmp_path)
    apsw.Connection(str(tmp_path / ".mnemark/index.db")).execute("PRAGMA journal_mode = WAL")
    with pytest.raises(NotFoundError, match="mnemark sync"):
        by_words_of(tmp_path, "anything")


@pytest.mark.parametrize("query", ["", " ", "\0", "the of and", '"', "x" * 100_000])
def test_any_question_is_safe(root: Path, query: str) -> None:
    by_words_of(root, query)


def test_nothing_slow_is_loaded(root: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from mnemark.retrieval.words import by_words_of\n"
        f"by_words_of(Path({str(root)!r}), 'walrus passport')\n"
        "print(sorted({'rjieba', 'numkong', 'httpx', 'typer', 'rich', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_dead_passages_are_not_found(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        note.write_text("# One\n\nThe heron sleeps.\n", "utf-8")
        memory.sync()
        note.write_text("# One\n\nThe otter sleeps.\n", "utf-8")
        memory.sync()
    assert not by_words_of(tmp_path, "heron").hits
    assert by_words_of(tmp_path, "otter").hits


def test_long_and_dead_passages_are_read_as_they_are(tmp_path: Path) -> None:
    for name, words in (("long", "walrus " * 400), ("gone", "walrus gone"), ("short", "walrus tide")):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{words}\n", "utf-8")
    with Memory.open(tmp_path, config={"embedder": "none", "passage_tokens": 2_048}) as memory:
        memory.sync()
        (tmp_path / "gone.md").write_text("# gone\n\nnothing\n", "utf-8")
        memory.sync()
    assert {hit.path for hit in by_words_of(tmp_path, "walrus").hits} == {"long.md", "short.md"}


@pytest.mark.parametrize("query", ["lantern", "crane and tide", "灯塔"])
def test_words_that_most_passages_hold_are_found_where_no_other_is_asked(root: Path, query: str) -> None:
    found = by_words_of(root, query, k=5)
    assert found.hits
    assert all(any(word in hit.text for word in query.split()) for hit in found.hits)


def test_an_answer_without_words_of_the_question_is_found_beside_the_turn_that_has_them(
    tmp_path: Path,
) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        session = memory.session("trip")
        session.add("user", "Which hotel did we book in Bergen for the conference?")
        session.add("assistant", "It is called Grand Terminus.")
        for number in range(20):
            session.add("user", f"The invoice number {number} was paid on time.")
        memory.sync()
    found = by_words_of(tmp_path, "What hotel is it that we booked in Bergen?", k=3)
    assert "It is called Grand Terminus." in {hit.text for hit in found.hits}


def test_wrong_settings_do_not_silence_it(root: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(root, tmp_path / "copy")
    trust(copy)
    with Memory.open(copy, config={"embedder": "none"}) as memory:
        memory.sync()
    (copy / "mnemark.toml").write_text("recall_hits = [", "utf-8")
    assert by_words_of(copy, "Who lost a passport in Trondheim?").hits


def test_no_mount_is_shown_as_old_rules_redacted_it(root: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    accept(own, "notes", root)
    with Memory.open(own, config={"embedder": "none"}) as memory:
        assert any(hit.scope == "@notes" for hit in memory.search("passport Trondheim").hits)
    assert any(hit.scope == "@notes" for hit in by_words_of(own, "passport Trondheim").hits)
    stored = apsw.Connection(str(own / ".mnemark/mounts/notes/.mnemark/index.db"))
    stored.execute("UPDATE meta SET value = '1;' WHERE key = 'redaction'")
    assert not by_words_of(own, "passport Trondheim").hits
