"""Of a note that grows, only what is new is indexed; the answers are as if all of it were."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemark.facts.visible import Visible
from mnemark.files.config import Config
from mnemark.files.journal import Journal
from mnemark.files.truth import Folder
from mnemark.index.rows import ROW
from mnemark.index.snapshot import Snapshot
from mnemark.index.store import Index
from mnemark.index.sync import sync
from sampled import sampled

NOTE = "memory/2026-01-05.md"
WORDS = ["harbour", "walrus", "gate", "deploy", "backup", "灯塔", "港口", "备份"]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    (tmp_path / "memory").mkdir()
    opened = Index(tmp_path)
    yield opened
    opened.close()


def written(index: Index, text: str, path: str = NOTE) -> int:
    """Write a note, sync; return how many passages were indexed."""
    (index.root / path).write_text(text, encoding="utf-8")
    return sync(index).passages


def stored(index: Index) -> list[object]:
    """Everything that an answer is made of, without the ids of passages and documents."""
    with index.reading() as snapshot:
        rows = {int(row["passage"]): row for row in snapshot.rows}
        names = [name for name in ROW.names or () if name not in {"passage", "document"}]
        sql = "SELECT id, ordinal, start_line, end_line, kind, title, date, text, meta FROM passages"
        passages = []
        for number, *columns in index.rows(sql):
            row = rows.pop(number)
            passages.append((*columns, *(row[name].tobytes() for name in names)))
        assert not rows
        terms = [term for (term,) in index.rows("SELECT DISTINCT term FROM postings ORDER BY term")]
        return [
            *sorted(passages, key=repr),
            *((term, held) for term in terms if (held := holding(snapshot, term))),
        ]


def holding(snapshot: Snapshot, term: str) -> list[tuple[int, float, float]]:
    """Where a term stands, by ordinal, with its counts in text and head."""
    hits = snapshot.term(term)
    ordinals = snapshot.rows["ordinal"][hits.pos].tolist()
    return sorted(zip(ordinals, hits.text.tolist(), hits.head.tolist(), strict=True))


def bullets(count: int, chance: random.Random) -> list[str]:
    return [f"- 10:{n % 60:02} {' '.join(chance.choices(WORDS, k=40))} {n}" for n in range(count)]


def test_a_line_more_costs_a_passage_or_two(index: Index) -> None:
    lines = bullets(60, random.Random(1))
    first = written(index, "# Day\n\n" + "\n".join(lines[:50]) + "\n")
    assert first > 10
    for end in range(51, 61):
        assert written(index, "# Day\n\n" + "\n".join(lines[:end]) + "\n") <= 2


@pytest.mark.parametrize("seed", sampled(range(6), 3))
def test_the_index_is_as_one_made_anew(
    index: Index, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    chance = random.Random(seed)
    lines = bullets(30, chance)
    heads: list[Callable[[], str]] = [
        lambda: "# Day\n\n",
        lambda: "# Another title\n\n",
        lambda: "---\ntags: [sea]\n---\n# Day\n\n",
        lambda: "---\ntags: [land]\n---\n# Day\n\n",
    ]
    head = heads[0]()
    for _ in range(12):
        kind = chance.randrange(5)
        if kind == 0:
            lines = [*lines, *bullets(2, chance)]
        elif kind == 1:
            lines.insert(chance.randrange(len(lines)), bullets(1, chance)[0])
        elif kind == 2 and len(lines) > 5:
            del lines[chance.randrange(len(lines))]
        elif kind == 3:
            lines[chance.randrange(len(lines))] = bullets(1, chance)[0]
        else:
            head = chance.choice(heads)()
        text = head + "\n".join(lines) + "\n"
        written(index, text)
        anew = Index(tmp_path_factory.mktemp("anew"))
        (anew.root / "memory").mkdir()
        written(anew, text)
        assert stored(index) == stored(anew)
        anew.close()


def test_a_fact_that_changed_its_tags_is_indexed_again(index: Index) -> None:
    (index.root / "memory/facts").mkdir()
    lines = [f"- **key{n}**: value {n} <!-- id: 01M832Q38ET1R1DAH59SNKJX{n:02d} -->" for n in range(10, 40)]
    written(index, "# User\n\n" + "\n".join(lines) + "\n", "memory/facts/user.md")
    lines[5] = lines[5].replace(" -->", " | tags: zebra -->")
    assert written(index, "# User\n\n" + "\n".join(lines) + "\n", "memory/facts/user.md") == 1
    with index.reading() as snapshot:
        assert len(holding(snapshot, "zebra")) == 1


def test_what_another_process_wrote_is_not_taken_for_ours(index: Index) -> None:
    lines = bullets(20, random.Random(3))
    written(index, "# Day\n\n" + "\n".join(lines) + "\n")
    other = Index(index.root)
    assert written(other, "# Day\n\n" + "\n".join(lines[:-1]) + "\n") > 2
    other.close()
    written(index, "# Day\n\n" + "\n".join(lines) + "\n")
    with index.reading() as snapshot:
        assert len(holding(snapshot, "19")) == 1


@pytest.mark.parametrize("how", ["made anew", "cut off"])
def test_ids_that_another_process_gave_again_are_not_taken_for_ours(index: Index, how: str) -> None:
    parts = "\n".join(f"## Part {n}\n\nThe walrus of gate {n} sleeps all day.\n" for n in range(4))
    written(index, f"---\ntags: [sea]\n---\n# Day\n\n{parts}")
    other = Index(index.root)
    if how == "made anew":
        other.reset()
    else:  # as an editor leaves a file for a moment
        written(other, "")
    written(other, f"---\ntags: [land]\n---\n# Day\n\n{parts}")
    other.close()
    written(index, f"---\ntags: [sea]\n---\n# Day\n\n{parts}")
    with index.reading() as snapshot:
        assert len(holding(snapshot, "sea")) == len(snapshot.rows) > 1
        assert not holding(snapshot, "land")


def test_a_moved_note_is_indexed_whole(index: Index) -> None:
    text = "# Day\n\n" + "\n".join(bullets(20, random.Random(4))) + "\n"
    count = written(index, text)
    (index.root / NOTE).rename(index.root / "memory/2026-01-06.md")
    assert sync(index).passages == count


def test_a_redacted_passage_leaves_the_index(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    index = Index(tmp_path, visible=Visible(tmp_path, Config(), Journal(Folder(tmp_path))))
    lines = bullets(20, random.Random(5))
    written(index, "# Day\n\n" + "\n".join(lines) + "\n")
    lines[3] = "- <private>zebra</private>"
    written(index, "# Day\n\n" + "\n".join(lines) + "\n")
    with index.reading() as snapshot:
        assert not holding(snapshot, "zebra")
    index.close()
