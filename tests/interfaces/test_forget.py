"""The commands forget, undo, revert and pin, as a person or a script meets them."""

import re

import pytest

from interfaces.conftest import Shell
from mnemark import Memory

NOTE = "# Day\n\n- 10:00 the blue heron stood in the garden pond\n- 11:00 午饭吃了牛肉面\n"


@pytest.fixture
def note(shell: Shell) -> Shell:
    shell.write("mnemark.toml", "")
    shell.write("MEMORY.md", "# Memory\n")
    shell.write("memory/2026-02-13.md", NOTE)
    return shell


def refs(shell: Shell, query: str) -> list[str]:
    return [hit["text"] for hit in shell("search", query, "--json").data["hits"] if query in hit["text"]]


def test_hidden_and_shown_again(note: Shell) -> None:
    assert refs(note, "heron")
    done = note("forget", "memory/2026-02-13.md#L3")
    assert done.code == 0
    assert "Hidden: 1 piece of a note." in done.out
    assert "mnemark undo" in done.out
    assert not refs(note, "heron")
    assert refs(note, "牛肉面")
    assert note("undo").code == 0
    assert refs(note, "heron")
    assert (note.folder / "memory/2026-02-13.md").read_text(encoding="utf-8") == NOTE


def test_a_dry_run_names_the_places_and_changes_nothing(note: Shell) -> None:
    note("sync")
    before = note.state()
    done = note("forget", "--query", "牛肉面", "--erase", "--dry-run", "--json")
    assert done.code == 0
    assert done.data["dry_run"] is True
    assert [place["path"] for place in done.data["places"]] == ["memory/2026-02-13.md"]
    assert done.data["places"][0]["lines"] == [4]
    after = note.state()
    assert {path: after[path] for path in before} == before


def test_erasing_without_a_terminal_needs_yes(note: Shell) -> None:
    refused = note("forget", "--query", "heron", "--erase")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert refs(note, "heron")
    done = note("forget", "--query", "heron", "--erase", "--yes")
    assert done.code == 0
    assert "memory/2026-02-13.md, line 3" in done.out
    assert "heron" not in done.out
    assert not refs(note, "heron")
    assert not any(b"heron" in path.read_bytes() for path in note.folder.rglob("*") if path.is_file())


def test_the_words_need_not_stand_on_a_command_line(note: Shell) -> None:
    """Other users read command lines, and shells keep them: also after the words were erased."""
    assert note("forget", "--query", "-", "--erase", stdin="heron\n").code == 2
    done = note("forget", "--query", "-", "--erase", "--yes", stdin="heron\n")
    assert done.code == 0
    assert "memory/2026-02-13.md, line 3" in done.out
    assert not refs(note, "heron")
    assert refs(note, "牛肉面")
    empty = note("forget", "--query", "-", "--erase", "--yes", stdin=" \n")
    assert (empty.code, "the text is empty" in empty.err) == (2, True)


def test_nothing_found_is_no_error(note: Shell) -> None:
    done = note("forget", "--query", "nobody wrote this", "--erase", "--yes")
    assert done.code == 0
    assert "Nothing" in done.out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("forget",), 2),
        (("forget", "memory/2026-02-13.md#L3", "--query", "heron"), 2),
        (("forget", "memory/none.md#L3"), 3),
        (("forget", "memory/2026-02-13.md#L99"), 3),
        (("forget", "../secret.md"), 2),
        (("forget", "--origin", "nobody"), 2),
        (("forget", "memory/2026-02-13.md#L3", "--git"), 2),
        (("undo",), 3),
        (("undo", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), 3),
        (("revert",), 2),
        (("pin", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), 3),
    ],
)
def test_wrong_arguments(note: Shell, arguments: tuple[str, ...], code: int) -> None:
    done = note(*arguments)
    assert done.code == code
    assert done.err.startswith("mnemark: ")


def test_pin_and_revert(note: Shell) -> None:
    note("add", "the moon is made of cheese", "--session", "web:1", "--role", "tool")
    pinned = note("pin", "memory/2026-02-13.md#L3", "--json")
    assert pinned.data["ref"] == "memory/2026-02-13.md#L3"
    shown = note("revert", "--session", "web:1", "--dry-run", "--json").data
    assert len(shown["hidden"]) == 1
    assert refs(note, "cheese")
    assert note("revert", "--session", "web:1").code == 0
    assert not refs(note, "cheese")


def test_words_that_are_not_found_letter_for_letter_are_explained(shell: Shell) -> None:
    shell("init")
    shell("add", "Dentist on Monday")
    ran = shell("forget", "--query", "dentist", "--dry-run")
    assert (ran.code, "exactly, capitals too" in ran.err) == (0, True)
    assert "exactly, capitals too" not in shell("forget", "--query", "Dentist", "--dry-run").err


def test_the_last_change_after_a_revert_is_the_revert_and_not_the_scratchpad_that_followed(
    shell: Shell,
) -> None:
    shell("init")
    for text in ("Can you fix the parser?", "We decided to use SQLite for the index.", "I moved to Oslo."):
        shell("add", text, "--session", "s")
    shell("sessions", "end", "s")
    shell("revert", "--session", "s")
    pad = (shell.folder / "SCRATCHPAD.md").read_text()
    assert "parser" not in pad
    assert "Found by searches again: messages and notes" in shell("undo").out
    assert (shell.folder / "SCRATCHPAD.md").read_text() == pad


def test_undo_takes_back_what_the_person_did_not_what_followed_by_itself(shell: Shell) -> None:
    shell("init")
    shell("remember", "favorite tea", "oolong")
    shell("add", "I live in Oslo.", "--session", "s")
    for text in ("Can you fix the parser?", "We decided to use SQLite for the index."):
        shell("add", text, "--session", "s")
    shell("sessions", "end", "s")
    assert shell("undo").out == "No longer known: your favorite tea is oolong.\n"
    assert "Oslo" in shell("facts").out
    assert "use SQLite" in shell("undo").out  # nothing of theirs is left: the last automatic change


def test_undo_leaves_what_changed_by_itself_in_another_scope(shell: Shell) -> None:
    shell("init")
    with Memory.open(shell.folder, config={"embedder": "none"}) as memory:
        session = memory.session("s", project="shop")
        for text in (
            "Can you fix the parser?",
            "We decided to use SQLite.",
            "I still need to write the guide.",
        ):
            session.add("user", text)
        session.end()
    before = shell.state()
    refused = shell("undo")
    assert (refused.code, refused.out) == (3, "")
    assert "nothing was changed here; the last change elsewhere: `mnemark undo " in refused.err
    assert {
        path for path, state in shell.state().items() if before.get(path) != state and path.endswith(".md")
    } == set()
    shell("remember", "test command", "make test", "--scope", "projects/shop")
    assert "make test" in shell("undo").out  # one's own change, wherever


def test_undo_names_an_erasure_as_the_last_change_though_notes_followed(shell: Shell) -> None:
    shell("init")
    shell("remember", "favorite tea", "oolong")
    shell("remember", "city", "Oslo")
    shell("forget", "--query", "Oslo", "--erase", "--yes")
    refused = shell("undo")
    assert (refused.code, "erasure, which cannot be undone" in refused.err) == (2, True)
    assert "oolong" in shell("facts").out


def test_undo_after_a_consolidation_takes_that_back_and_says_so_first(shell: Shell) -> None:
    shell("init")
    shell("remember", "favorite tea", "oolong")
    for name, text in (("a", "I live in Oslo."), ("b", "We decided to use SQLite for the index.")):
        shell("add", text, "--session", name)
    shell("consolidate")
    shell("add", "A note that follows.", "--session", "c")
    undone = shell("undo")
    said = (
        r"Undoing “Tidied up: 2 facts learned, \d pages brought up to date” of \d{4}-\d\d-\d\d \d\d:\d\d\.\n"
    )
    assert re.fullmatch(said, undone.err)
    assert "oolong" in shell("facts").out
    assert "Oslo" not in shell("facts").out
    second = shell("undo")
    assert second.err.startswith("Undoing “Learned: your favorite tea is oolong” of ")
    assert second.out == "No longer known: your favorite tea is oolong.\n"


def test_undo_says_what_it_is_about_to_undo(shell: Shell) -> None:
    """Each thing that can be done last, with the words for it; not of an id that is given."""
    shell("init")
    shell("remember", "editor", "Helix")
    shell("add", "The boat is called Quagga.", "--session", "s")
    done = {
        ("remember", "shell", "fish"): "“Learned: your shell is fish” of ",
        ("forget", "--query", "Quagga"): "“Hid something from all searches” of ",
        ("correct", "editor", "Zed"): "“Corrected: your editor is Zed” of ",
        ("consolidate",): "“Tidied up: ",
    }
    for command, words in done.items():
        ran = shell(*command)
        assert ran.code == 0, (command, ran.err)
        undone = shell("undo")
        assert (undone.code, undone.err.startswith(f"Undoing {words}")) == (0, True), (command, undone.err)
    with Memory.open(shell.folder, config={"embedder": "none"}) as memory:
        made = memory.remember("pet", "a cat")
    assert shell("undo", made.id).err == ""


def test_undo_without_an_id_takes_a_run_of_edits_back_as_a_whole(shell: Shell) -> None:
    with Memory.open(shell.folder, config={"embedder": "none"}) as memory:
        memory.remember("editor", "Helix")
        memory.session("s").add("user", "I live in Oslo.")
        report = memory.consolidate()
        undone = memory.undo()
        assert len(undone) == len(report.edits) + len(report.learned) == 2
        assert [fact.value for fact in memory.facts()] == ["Helix"]
        assert not (shell.folder / "USER.md").exists()
