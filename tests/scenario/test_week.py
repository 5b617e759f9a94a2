"""What a week leaves behind is what a careful person would have written down, and nothing else."""

from pathlib import Path

import pytest

from mnemark import Memory

from .week import TIMEZONE, WEEK, play

CONFIG = {"embedder": "none", "timezone": TIMEZONE}


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("week")
    with Memory.open(root, config=CONFIG) as memory:
        ended = play(memory)
        assert {one.status for one in ended} == {"ended"}
        assert [problem for one in ended for problem in one.problems] == []
        memory.sync()
    return root


def text(root: Path, path: str) -> str:
    return (root / path).read_text(encoding="utf-8")


def test_an_episode_for_each_sitting_with_its_outcome(week: Path) -> None:
    pages = {path.stem: path.read_text("utf-8") for path in sorted((week / "memory/episodes").glob("*.md"))}
    assert len(pages) == len(WEEK)
    outcomes = {
        name[:10]: next(
            (line for line in page.splitlines() if "**Done**" in line or "**Failed**" in line), ""
        )
        for name, page in pages.items()
        if "cli:atlas" in page
    }
    assert "**Done**: Fixed: the importer keeps rows with empty dates" in outcomes["2026-03-02"]
    assert "**Failed**: exec: pytest -q failed" in outcomes["2026-03-04"]
    assert "**Done**: Fixed the import in tests/test_cli.py" in outcomes["2026-03-06"]
    assert "**Done**: Wrote the migration guide" in outcomes["2026-03-08"]
    monday = next(page for name, page in pages.items() if name.startswith("2026-03-02") and "cli:" in page)
    assert "pytest tests/test_importer.py failed (exit 1)" in monday
    assert "edit_file: atlas/importer.py" in monday
    assert "read_file" not in monday.split("---", 2)[2]
    assert 'projects: ["Atlas"]' in monday
    tuesday = next(page for name, page in pages.items() if name.startswith("2026-03-03"))
    assert "- **Decided**: We decided to go with SQLite for the cache." in tuesday
    assert "- **Open**: Not sure yet whether to turn on WAL." in tuesday


def test_the_scratchpad_shows_what_is_in_hand(week: Path) -> None:
    pad = text(week, "SCRATCHPAD.md")
    for words in ("- Atlas (last on 2026-03-08)", "猎鹰", "turn on WAL", "要准备猎鹰项目的验收材料"):
        assert words in pad
    assert "we need to write the migration guide" not in pad  # it was done on Sunday
    for junk in ("Good morning", "天气", "多云"):
        assert junk not in pad.partition("## Next steps")[2]


def test_the_notes_of_the_days(week: Path) -> None:
    monday = text(week, "memory/2026-03-02.md")
    assert monday.count("\n## ") == 3  # observations, and two sessions
    assert "[The importer of project Atlas drops rows with empty dates](episodes/" in monday
    assert "exec: pytest tests/test_importer.py failed (exit 1)" in monday
    thursday = text(week, "memory/2026-03-05.md")
    assert "[猎鹰项目、周报" in thursday
    sent = next(path.read_text("utf-8") for path in (week / "memory/episodes").glob("2026-03-05*.md"))
    assert "- **完成**：周报已经整理好并发送给客户了。" in sent
    everything = "\n".join(path.read_text("utf-8") for path in week.rglob("*.md"))
    assert "q7W2e9R4t6Y1" not in everything


def test_the_facts_and_what_they_replaced(week: Path) -> None:
    with Memory.open(week, config=CONFIG) as memory:
        now = {fact.predicate: fact.value for fact in memory.facts()}
        before = {fact.predicate: fact.value for fact in memory.facts(as_of="2026-03-03")}
        words = " ".join(now.values())
    values = {key.casefold(): value for key, value in now.items()}
    assert "3.12" in next(value for key, value in values.items() if "python" in key)
    assert any("3.10" in value for value in before.values())
    assert any("杭州" in value for value in now.values())
    assert any("上海" in value for value in before.values())
    assert any("李明" in value for value in now.values())
    assert "ruff" in words
    for junk in ("spam", "天气", "weather", "整理一下"):
        assert junk not in words


@pytest.mark.parametrize(
    ("question", "kinds", "words"),
    [
        ("the cat picture", ["attachment"], "IMG_2041.jpg"),
        ("我上次发你的猫图", ["attachment"], "IMG_2041.jpg"),
        ("你发的猎鹰周报 pdf", ["attachment"], "猎鹰周报.pdf"),
        ("which database for the Atlas cache", ["episode"], "SQLite"),
        ("猎鹰项目周报发给客户", ["episode"], "周报"),
        ("pytest importer failed", ["observation"], "exit"),
    ],
)
def test_found_again(week: Path, question: str, kinds: list[str], words: str) -> None:
    with Memory.open(week, config=CONFIG) as memory:
        hits = memory.search(question, kinds=kinds).hits[:3]  # type: ignore[arg-type]
        assert any(words in hit.text for hit in hits), [hit.ref for hit in hits]


def test_playing_it_again_on_a_copy_of_nothing_gives_the_same_pages(week: Path, tmp_path: Path) -> None:
    with Memory.open(tmp_path, config=CONFIG) as memory:
        play(memory)

    def names(root: Path) -> list[str]:
        return sorted(path.relative_to(root).as_posix() for path in (root / "memory/episodes").iterdir())

    assert names(tmp_path) == names(week)
    assert text(tmp_path, "SCRATCHPAD.md") == text(week, "SCRATCHPAD.md")
