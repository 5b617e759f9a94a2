"""Of notes with the same words the newest stands for all, whatever their files are called."""

from pathlib import Path

import pytest

from mnemark.memory.memory import Memory

KEY = "The spare key of the boathouse lies under the third flowerpot, beside the blue watering can."


@pytest.mark.parametrize(
    ("question", "newest"),
    [
        ("Where is the spare key of the boathouse?", True),
        ("Which can do the dahlias, tulips, roses and lilies at the pond need?", True),
        ("When did I first hide the spare key of the boathouse?", False),
        ("Where was the spare key of the boathouse in March 2024?", False),
    ],
)
@pytest.mark.parametrize("heading", ["# Keys\n\n", ""], ids=["same title", "titles by day"])
def test_the_newer_of_equal_notes_is_first(
    tmp_path: Path, heading: str, question: str, *, newest: bool
) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    for day in ("2024-03-01", "2026-03-01"):
        (folder / f"{day}.md").write_text(f"{heading}{KEY}\n")
    with Memory.open(tmp_path) as memory:
        memory.sync()
        hits = memory.search(question).hits
    assert hits[0].path == ("memory/2026-03-01.md" if newest else "memory/2024-03-01.md")
    assert len(hits) == (1 if heading else 2)
