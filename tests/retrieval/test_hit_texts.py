"""What a hit shows: its snippet, its ref, and the name of what it is."""

from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.retrieval.render import snippet


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
