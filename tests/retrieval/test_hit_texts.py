"""What a hit shows: its snippet, its ref, and the name of what it is."""

from pathlib import Path

import pytest

from mnemark import Memory, NotFoundError
from mnemark.files.names import columns_of, split_ref
from mnemark.retrieval.render import snippet
from mnemark.retrieval.words import by_words_of
from mnemark.types import ref_to


def test_a_snippet_says_more_than_the_title(tmp_path: Path) -> None:
    steps = "\n".join(f"    step {number} of the procedure, in full length" for number in range(8))
    (tmp_path / "sqlite.md").write_text(
        f"# SQLite notes\n\n## Enabling `WAL` mode\n\nRun the pragma once per database.\n\n{steps}\n"
        f"\n## Vacuuming\n\n{'Give space back to the disk. ' * 8}\n"
    )
    with Memory.open(tmp_path) as memory:
        memory.sync()
        hit = memory.search("enabling WAL mode").hits[0]
    assert hit.title.endswith("Enabling WAL mode")
    assert hit.snippet.startswith("Run the pragma once per database.")


@pytest.mark.parametrize(
    ("text", "title", "shown"),
    [
        ("## Backups\n\nEvery night at two.\n", "Server › Backups", "Every night at two."),
        ("# Server\n\n## Backups\n\nEvery night.\n", "Server › Backups", "Every night."),
        ("## Backups\n", "Server › Backups", "Backups"),  # nothing else is there to show
        ("## Restores\n\nBy hand.\n", "Server", "Restores By hand."),  # the title does not say it
        ("备份在凌晨。\n", "备份", "备份在凌晨。"),
    ],
)
def test_headings_in_the_title_are_not_repeated(text: str, title: str, shown: str) -> None:
    assert snippet(text, {"backups": 1.0}, title=title) == shown


@pytest.mark.parametrize("name", ["log.txt", "log.md"])
def test_passages_of_a_long_line_have_refs_of_their_own(tmp_path: Path, name: str) -> None:
    animals = ("okapi", "quagga", "zebra", "tapir")
    parts = [
        f"The {animal} 动物 was seen. " + f"Nothing else happened on day {animal}. " * 40
        for animal in animals
    ]
    (tmp_path / name).write_text(f"Before it.\n\n{''.join(parts)}\nThe line after it.\n", encoding="utf-8")
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.sync()
        found = [hit for animal in animals for hit in memory.search(animal, k=20).hits]
        by_ref = {hit.ref: hit.text for hit in found}
        assert len(by_ref) > len(animals)
        assert all(memory.read(ref) == text for ref, text in by_ref.items())
        assert memory.read(f"{name}#L3C5-L3C9", raw=True).startswith("The okapi")
        quick = {hit.ref: hit.text for hit in by_words_of(tmp_path, "tapir", k=20).hits}
        assert quick.items() <= by_ref.items()
        with pytest.raises(NotFoundError, match="characters"):
            memory.read(f"{name}#L3C999999-L3C1000000")


@pytest.mark.parametrize(
    ("lines", "columns", "ref"),
    [
        ((12, 12), (0, 0), "a.md#L12"),
        ((12, 30), (0, 0), "a.md#L12-L30"),
        ((12, 12), (341, 900), "a.md#L12C341-L12C900"),
        ((12, 12), (341, 0), "a.md#L12C341-L12"),
        ((12, 12), (0, 900), "a.md#L12-L12C900"),
        ((12, 14), (341, 3), "a.md#L12C341-L14C3"),
    ],
)
def test_refs_are_read_as_they_are_written(
    lines: tuple[int, int], columns: tuple[int, int], ref: str
) -> None:
    assert ref_to("a.md", *lines, columns) == ref
    assert split_ref(ref) == ("a.md", *lines)
    assert columns_of(ref) == columns
