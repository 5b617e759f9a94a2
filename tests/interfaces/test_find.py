import re
from pathlib import Path
from typing import Any

import pytest

import mnemark
from mnemark.errors import BusyError
from mnemark.types import Hit, Recall
from mnemark_agents import daemon
from mnemark_agents.hook import background

from .conftest import Shell

VECTORS = "# Decisions\n\n## Vectors\nWe keep vectors in one memory-mapped file per model.\n"
DATABASE = "# 日记\n\n数据库系统迁移到了新的机器。\n"


@pytest.fixture
def notes(shell: Shell) -> Shell:
    shell.write("notes.md", VECTORS)
    shell.write("memory/2026-02-13.md", DATABASE)
    return shell


def test_any_folder_of_markdown_can_be_searched(notes: Shell) -> None:
    first = notes("search", "vectors")
    assert first.code == 0
    assert first.out.startswith("notes.md#L1-L4  undated  Decisions › Vectors  ")
    assert "memory-mapped file per model" in first.out
    assert "Created an index in" in first.err
    assert "Created an index in" not in notes("search", "vectors").err


def test_chinese_is_found_by_two_characters(notes: Shell) -> None:
    found = notes("search", "数据", "-k", "1")
    assert "memory/2026-02-13.md#L1-L3  2026-02-13  日记" in found.out


def test_json_has_the_names_of_the_api(notes: Shell) -> None:
    found = notes("search", "数据库", "--json").data
    assert list(found) == list(Recall.__struct_fields__)
    assert list(found["hits"][0]) == list(Hit.__struct_fields__)
    assert found["hits"][0]["ref"] == "memory/2026-02-13.md#L1-L3"
    assert found["complete"] is True


def test_an_edit_is_found_by_the_next_search(notes: Shell) -> None:
    notes("search", "vectors")
    notes.write("later.md", "The kingfisher nests under the bridge.\n")
    assert notes("search", "kingfisher", "--json").data["hits"][0]["path"] == "later.md"


def test_no_hits_is_no_error_and_says_that_it_can_be_believed(notes: Shell) -> None:
    found = notes("search", "zeppelin", "--since", "1999-01-01", "--until", "1999-02-01")
    assert (found.code, found.out) == (0, "")
    assert "Nothing found. The search was complete" in found.err


def test_an_unlikely_answer_is_said_to_be_one(notes: Shell) -> None:
    found = notes("search", "the colour of the bicycle of my neighbour")
    assert found.code == 0
    assert "may hold nothing on this" in found.err or "Nothing found" in found.err


def test_an_empty_folder_is_left_as_it_is(shell: Shell) -> None:
    found = shell("search", "anything", "--json")
    assert (found.code, found.data["hits"]) == (0, [])
    assert "No Markdown" in found.err
    assert list(shell.folder.iterdir()) == []


def test_a_missing_part_is_named_and_strict_makes_it_an_error(notes: Shell) -> None:
    notes.write("mnemark.toml", 'embedder = "api:some-model"\nembedder_url = "http://127.0.0.1:9/v1"\n')
    found = notes("search", "vectors")
    assert (found.code, "Note: search by meaning: " in found.err) == (0, True)
    strict = notes("search", "vectors", "--strict")
    assert strict.code == 4
    assert strict.out == found.out
    assert strict.err.startswith("mnemark: search by meaning: ")
    assert strict.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["search"], 2, "Missing argument 'QUERY'"),
        (["search", " "], 2, "mnemark: the text is empty"),
        (["search", "x", "--kind", "letter"], 2, "kinds must be one of note, fact"),
        (["search", "x", "-k", "0"], 2, "k must be a number from 1 to 1000"),
        (["search", "x", "-k", "many"], 2, "Invalid value for '-k'"),
        (["search", "x", "--since", "blue"], 2, "'blue' is not a time"),
        (["search", "x", "--scope", "ann"], 2, 'scope must be "users/NAME"'),
        (["search", "x", "--preset", "best"], 2, "use one of default"),
        (["search", "x", "-w", "nowhere"], 3, "create it with `mnemark init"),
        (["search", "x", "-w", "notes.md"], 2, "is a file; give the folder"),
        (["read", "nowhere.md"], 3, "nowhere.md"),
        (["read", "notes.md#L99"], 3, "notes.md ends with line"),
        (["read", "../secret.md"], 2, "leads out of its folder"),
        (["serach", "x"], 2, "No such command 'serach'"),
        (["search", "x", "--jsno"], 2, "No such option"),
    ],
)
def test_mistakes_end_with_their_code_and_name_the_fix(
    notes: Shell, arguments: list[str], code: int, words: str
) -> None:
    ran = notes(*arguments)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err
    assert "Traceback" not in ran.err


def test_a_damaged_index_is_answered_around_and_made_anew(
    notes: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(daemon, "spawn", lambda arguments, **_: started.append(arguments))
    notes("sync")
    for name in ("index.db", "index.db-wal"):
        (notes.folder / ".mnemark" / name).write_bytes(b"no database at all\n" * 500)
    ran = notes("search", "vectors", "--json")
    assert ran.code == 0
    assert ran.data["hits"][0]["path"] == "notes.md"
    for arguments in started:  # where the process ended before its index was made
        background.run(Path(arguments[3]), arguments[4])
    assert not notes("search", "vectors", "--json").data["degraded"]
    assert notes("verify", "--deep").code == 0


def test_a_wrong_configuration_is_named(notes: Shell) -> None:
    notes.write("mnemark.toml", "recal_budget = 3\n")
    ran = notes("search", "vectors")
    assert (ran.code, "mnemark.toml: recal_budget" in ran.err) == (2, True)


def test_the_workspace_is_found_from_a_folder_inside(notes: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    notes("init")
    monkeypatch.chdir(notes.folder / "memory")
    assert notes("search", "vectors", "--json").data["hits"][0]["ref"] == "notes.md#L1-L4"
    assert not (notes.folder / "memory/.mnemark").exists()


def test_the_workspace_can_be_named_by_the_environment(notes: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(notes.folder.parent)
    monkeypatch.setenv("MNEMARK_WORKSPACE", str(notes.folder))
    assert notes("search", "vectors", "--json").data["hits"]


def test_nothing_in_a_note_steers_the_terminal(shell: Shell) -> None:
    shell.write("evil.md", "# \x1b]0;owned\x07\n\nplover \x1b[2J\x1b[31mred \u202egnorw\n")
    shown = shell("search", "plover").out
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "‹U+001B›[2J" in shown


def test_explain_shows_routes_and_words(notes: Shell) -> None:
    shown = notes("search", "vectors zeppelin", "--explain", "-k", "1").out
    assert "route    rank  score" in shown
    assert "lexical  1" in shown
    assert "missing words: zeppelin" in shown
    why = notes("search", "vectors", "--explain", "--json").data["hits"][0]["why"]
    assert why["routes"]["lexical"]["rank"] == 1


def test_filters_reach_the_search(notes: Shell) -> None:
    notes.write("users/ann/notes.md", "Ann's vectors are secret.\n")
    notes.write("memory/archive/old.md", "Old vectors lie in the attic.\n")

    def paths(*options: str) -> set[str]:
        return {hit["path"] for hit in notes("search", "vectors", *options, "--json").data["hits"]}

    assert "users/ann/notes.md" not in paths()
    assert "users/ann/notes.md" in paths("--scope", "users/ann")
    assert "memory/archive/old.md" in paths("--archived")
    assert paths("--kind", "turn") == set()
    assert paths("--since", "2026-02-13", "--until", "2026-02-13") <= {"memory/2026-02-13.md"}


def test_a_question_comes_from_stdin(notes: Shell) -> None:
    assert "notes.md#L1-L4" in notes("search", "-", stdin="vectors\n").out


def test_recall_prints_one_block_for_the_prompt(notes: Shell) -> None:
    from mnemark.text.quoting.fence import check_fenced

    ran = notes("recall", "where are vectors kept?", "--budget", "300")
    assert check_fenced(ran.out.removesuffix("\n"))
    assert "notes.md#L1-L4" in ran.out
    assert list(notes("recall", "vectors", "--json").data) == list(Recall.__struct_fields__)


def test_recall_of_an_empty_folder_prints_nothing(shell: Shell) -> None:
    ran = shell("recall", "vectors")
    assert (ran.code, ran.out) == (0, "")


def test_read_gives_back_the_bytes_of_a_ref(notes: Shell) -> None:
    assert (
        notes("read", "notes.md#L3-L4").out
        == "## Vectors\nWe keep vectors in one memory-mapped file per model.\n"
    )
    assert notes("read", "memory/2026-02-13.md").out == DATABASE
    assert notes("read", "notes.md#L1", "--json").data == {"ref": "notes.md#L1", "text": "# Decisions\n"}


def test_another_process_that_syncs_does_not_keep_from_searching(
    notes: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mnemark.retrieval import refresh

    def busy(*arguments: object, **options: object) -> None:
        raise BusyError("another process is syncing")

    notes("sync")
    monkeypatch.setattr(refresh, "sync", busy)
    found = notes("search", "vectors")
    assert found.code == 0
    assert "notes.md" in found.out
    assert "another process is syncing" in found.err


def test_without_arguments_the_help_is_shown(shell: Shell) -> None:
    ran = shell()
    assert ran.code == 0
    assert re.search(r"search +Search notes, facts and conversations\.", ran.out)


def test_the_version_is_told(shell: Shell) -> None:
    assert shell("--version").out == f"mnemark {mnemark.__version__}\n"


def test_an_empty_answer_names_files_that_could_not_be_read(shell: Shell) -> None:
    (shell.folder / "big.md").write_bytes(b"the harbour\n" * (17 * 1024 * 1024 // 12))
    assert "Nothing found, but 1 file could not be read" in shell("search", "harbour").err


def test_recall_quotes_no_courtesies_and_no_bare_headings(shell: Shell) -> None:
    workspace = shell
    workspace("init")
    workspace("add", "The dentist is on Monday.")
    workspace("add", "Noted.", "--session", "s", "--role", "assistant")
    block = workspace("recall", "when is the dentist?").out
    assert "Monday" in block
    assert "Noted." not in block
    assert "MEMORY.md" not in block
    assert "Noted." in workspace("search", "noted").out
