"""Erased words in the names of files: mnemark's own are renamed with what leads to them, others are named."""

import json
import re
import shutil
from itertools import product
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest

from faults.layer import FaultyFileSystem, Killed
from faults.logical import LEXICAL
from memory.erasing import old
from mnemark.files import platform
from mnemark.memory.forgetting.erase import finish
from mnemark.memory.memory import Memory
from sampled import sampled

WORD = "Zanzibarix"
_HELD = re.compile(WORD.encode(), re.IGNORECASE)


def begun(root: Path) -> None:
    (root / "memory").mkdir(parents=True)
    with Memory.open(root, config=LEXICAL) as memory:
        session = memory.session("chat:1")
        session.add("user", f"Plan the {WORD} launch in Lisbon")
        session.add("assistant", "We start on Monday with the heron")
        session.add("user", f"Book the {WORD} hotel")
        memory.remember("employer", "Acme", subject=WORD)
        session.end()
        memory.sync()
    (page,) = root.glob("memory/episodes/*.md")
    assert _HELD.search(page.name.encode()), page.name
    (root / "plan.md").write_text(
        f"# Plan\n\nSee [the talk](memory/episodes/{page.name}) and [[{page.stem}]].\n", "utf-8"
    )


def everywhere(root: Path) -> list[str]:
    """Return the files that hold the word, in their name or their bytes."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return [
        str(path.relative_to(root))
        for path in files
        if _HELD.search(str(path.relative_to(root)).encode()) or _HELD.search(path.read_bytes())
    ]


def erased(root: Path) -> list[str]:
    with Memory.open(root, config=LEXICAL) as memory:
        receipt = memory.forget(query=WORD, erase=True)
        assert receipt.waiting == ()
        return [f"{place.path}: {place.what}" for place in receipt.places]


def check(root: Path) -> None:
    (page,) = root.glob("memory/episodes/*.md")
    linked = re.findall(r"\]\(([^)]+)\)", (root / "plan.md").read_text("utf-8"))
    assert linked == [f"memory/episodes/{page.name}"]
    assert f"[[{page.stem}]]" in (root / "plan.md").read_text("utf-8")
    assert everywhere(root) == []
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        assert memory.workspace.unfinished() == []
        assert memory.search("heron Monday").hits
        memory.session("chat:1").add("user", "And now the otter")
        memory.session("chat:1").end()
    assert everywhere(root) == []


def test_own_files_are_renamed_with_what_leads_to_them(tmp_path: Path) -> None:
    begun(tmp_path / "w")
    places = erased(tmp_path / "w")
    assert any("episodes" in one and ": renamed to memory/episodes/" in one for one in places), places
    check(tmp_path / "w")


def test_a_dry_run_says_so_and_renames_nothing(tmp_path: Path) -> None:
    begun(tmp_path / "w")
    before = sorted(tmp_path.rglob("*.md"))
    with Memory.open(tmp_path / "w", config=LEXICAL) as memory:
        receipt = memory.forget(query=WORD, erase=True, dry_run=True)
        assert any(place.what.startswith("renamed to") for place in receipt.places)
    assert sorted(tmp_path.rglob("*.md")) == before


def test_a_fact_file_with_other_facts_keeps_its_name(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / "memory").mkdir(parents=True)
    with Memory.open(root, config=LEXICAL) as memory:
        memory.remember("colour", "green", subject="lantern")
        memory.remember("price", "nine", subject="lantern")
        memory.sync()
        (one,) = [fact for fact in memory.facts(subject="lantern") if fact.value == "nine"]
        memory.forget(id=one.id, erase=True)
    assert (root / "memory/facts/lantern.md").exists()


@pytest.mark.parametrize("name", ["Bob", "小雨", "王小明", "Annabelle Lee"])
def test_the_fact_file_of_a_short_name_goes(tmp_path: Path, name: str) -> None:
    root = tmp_path / "w"
    root.mkdir()
    with Memory.open(root, config=LEXICAL) as memory:
        memory.remember("city", "Porto", subject=name)
        memory.remember("city", "Leiria", subject="otter")
        memory.sync()
        receipt = memory.forget(query=name, erase=True)
        assert receipt.waiting == ()
        assert memory.workspace.unfinished() == []
        assert [fact.value for fact in memory.facts()] == ["Leiria"]
    files = [path for path in root.rglob("*") if path.is_file()]
    held = re.compile("|".join((name, name.replace(" ", "-"))).encode(), re.IGNORECASE)
    assert [
        path
        for path in files
        if held.search(str(path.relative_to(root)).encode()) or held.search(path.read_bytes())
    ] == []


@pytest.mark.parametrize("fault", ["kill", "EIO"])
@pytest.mark.parametrize(
    "step", [pytest.param(61, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
def test_after_a_crash_the_next_start_renames(tmp_path: Path, fault: str, step: int) -> None:
    begun(tmp_path / "template")
    whole = FaultyFileSystem()
    shutil.copytree(tmp_path / "template", tmp_path / "whole")
    _strike(tmp_path / "whole", whole)
    check(tmp_path / "whole")
    for at in range(0, whole.calls, step):
        root = tmp_path / "run"
        shutil.copytree(tmp_path / "template", root)
        _strike(root, FaultyFileSystem(at, "kill" if fault == "kill" else "EIO"))
        with Memory.open(root, config=LEXICAL) as memory:
            memory.sync()
            finish(
                memory.workspace, at_once=True
            )  # else it waits an hour for a file that could not be written
            if memory.search(WORD).hits:  # nothing was noted yet
                memory.forget(query=WORD, erase=True)
        check(root)
        shutil.rmtree(root)


def _strike(root: Path, layer: FaultyFileSystem) -> None:
    before = platform.FS
    platform.FS = layer
    try:
        with Memory.open(root, config=LEXICAL) as memory:
            memory.forget(query=WORD, erase=True)
    except (Killed, OSError, Exception):  # noqa: BLE001 - what is left is looked at
        return
    finally:
        platform.FS = before


@pytest.mark.parametrize(
    "forged",
    sampled(
        [
            {"memory/x.md": ".git/hooks/post-commit"},
            {"memory/x.md": "mnemark.toml.md"},
            {"memory/x.md": "memory/facts/erased.md"},
            {"memory/episodes/x.md": "memory/episodes/erased.md"},
            {".git/hooks/x.md": ".git/hooks/2026-02-13-file.md"},
            {"memory/facts/x.md": "memory/facts/../../x/facts/erased.md"},
            {"memory/episodes/x.md": "memory/episodes/2026-02-13-session.exe"},
            {"memory/episodes/x.md": "memory/episodes/.git/2026-02-13-session.md"},
        ],
        2,
    ),
)
def test_an_erasure_of_a_folder_of_others_moves_only_what_mnemark_names(
    tmp_path: Path, forged: dict[str, str]
) -> None:
    """What is to be renamed lies in the folder, whose author may have left an erasure to be finished."""
    root = tmp_path / "w"
    begun(root)
    noted = root / ".mnemark/renaming.json"
    calls = 0
    while not noted.exists():
        calls += 1
        _strike(root, FaultyFileSystem(calls, "kill"))
    (old,) = forged
    (root / old).parent.mkdir(parents=True, exist_ok=True)
    (root / old).write_text("" if "facts" in old else "#!/bin/sh\n")
    (root / ".git/hooks").mkdir(parents=True, exist_ok=True)
    before = (root / old).read_bytes()
    noted.write_text(json.dumps(dict.fromkeys(json.loads(noted.read_text()), forged)))
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        finish(memory.workspace, at_once=True)
    assert (root / old).read_bytes() == before
    assert not noted.exists()


def test_the_folder_of_a_project_is_named_and_the_erasure_ends(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / f"projects/{WORD}/memory").mkdir(parents=True)
    (root / f"projects/{WORD}/PROJECT.md").write_text(f"---\npath: /code/{WORD}\n---\n")
    (root / f"projects/{WORD}/memory/2026-02-13.md").write_text(f"Plan the {WORD} launch\n")
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        receipt = memory.forget(query=WORD, erase=True)
        assert receipt.waiting == ()
        assert f"projects/{WORD}/: its name" in " ".join(receipt.still)
        assert memory.workspace.unfinished() == []
    assert not [path for path in root.rglob("*") if path.is_file() and b"launch" in path.read_bytes()]


@pytest.mark.parametrize(
    ("word", "kept", "given"),
    sampled(product(("Café Zürich", "Łódź", "Кий", "한강"), ("NFC", "NFD"), ("NFC", "NFD")), 5),
)
def test_both_spellings_of_accents_are_one_word(
    tmp_path: Path, word: str, kept: Literal["NFC", "NFD"], given: Literal["NFC", "NFD"]
) -> None:
    """In texts and names: macOS writes file names with accents apart from their letters."""
    root, written, asked = tmp_path / "w", normalize(kept, word), normalize(given, word)
    (root / "memory").mkdir(parents=True)
    (root / "trips.md").write_text(f"# Trips\n\n- to the {written} by train\n- to Leiria\n", "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        session = memory.session("chat:1")
        session.add("user", f"Book {written} for us", attachments=[{"path": f"/me/{written} bill.pdf"}])
        session.add("assistant", "We start on Monday with the heron")
        memory.remember("place", f"near {written}")
        session.end()
        memory.sync()
        found = memory.forget(query=asked)
        assert {item.kind for item in found.items} >= {"turn", "note", "fact"}
        memory.undo()
        for path in root.rglob("*.md"):
            old(path)
        receipt = memory.forget(query=asked, erase=True)
        assert receipt.waiting == ()
        assert memory.workspace.unfinished() == []
    left = [
        str(path)
        for path in root.rglob("*")
        if path.is_file()
        for text in (normalize("NFC", path.name + path.read_bytes().decode("utf-8", "replace")).casefold(),)
        if (plain := normalize("NFC", word).casefold()) in text or plain.replace(" ", "-") in text
    ]
    assert left == []
    assert "Leiria" in (root / "trips.md").read_text("utf-8")


def test_a_letter_without_its_accent_is_another_one(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / "memory").mkdir(parents=True)
    with Memory.open(root, config=LEXICAL) as memory:
        memory.session("chat:1").add("user", normalize("NFD", "We met in the café"))
        assert memory.forget(query="cafe").action == "nothing"
        assert memory.forget(query="café").action == "hidden"
