"""What a hit shows: its snippet, its ref, and the name of what it is."""

import base64
import random
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


PERSON = """---
uid: 0b9f6c1e-7a52-4c1d-9d7e-3f1f0c2a9b11
tags: [people]
aliases:
  - Fitz
birthday: 1958-11-02
email: edda@kiebitz.example
modified: 2026-01-07T08:15:42+01:00
---

# Edda Fitzner

Lends out the rowing boat.
"""


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("When is the birthday of Edda Fitzner?", "birthday: 1958-11-02"),
        ("What is the email of Fitz?", "email: edda@kiebitz.example"),
        ("Joris harbour", "harbour: Lindau"),
    ],
)
def test_front_matter_is_told(tmp_path: Path, question: str, told: str) -> None:
    (tmp_path / "edda.md").write_text(PERSON, encoding="utf-8")
    (tmp_path / "joris.md").write_text("---\ntitle: Joris\nharbour: Lindau\n---\n", encoding="utf-8")
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.sync()
        answer = memory.recall(question)
        assert told in answer.text
        assert told in answer.hits[0].snippet
        assert told in memory.read(answer.hits[0].ref)
        assert "0b9f6c1e" not in answer.text + memory.recall("0b9f6c1e-7a52-4c1d-9d7e-3f1f0c2a9b11").text
        assert "08:15:42" not in answer.text


def test_a_blob_is_neither_found_nor_shown_and_what_stands_beside_it_has_its_place(tmp_path: Path) -> None:
    data = base64.b64encode(random.Random(6).randbytes(6_000)).decode()
    plan = (
        f"# Quay\n\nThe plan ![map](data:image/png;base64,{data}) has berth seven. {'Nothing else. ' * 200}"
    )
    (tmp_path / "quay.md").write_text(f"{plan}\n\nThe bollards are new.\n", encoding="utf-8")
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("a").add("user", f"Here is the key of the gauge: {data} Keep it at the lock.")
        said = memory.recall("key of the gauge").hits[0]
        assert said.text == "Here is the key of the gauge: … Keep it at the lock."
        memory.sync()
        assert memory.recall("key of the gauge").hits[0].text == said.text
        assert not memory.search(data[40:80]).hits
        hits = memory.search("plan berth seven bollards nothing", k=20).hits
        assert len(hits) > 2
        for hit in hits:
            shown = memory.read(hit.ref).strip().replace(f"data:image/png;base64,{data}", "…")
            assert hit.text.strip() == shown or hit.kind == "turn"


@pytest.mark.parametrize(
    ("question", "words", "shown"),
    [
        ("Where does the spare key of the mill hang?", "spare key mill", "behind Olga's loom"),
        ("How many spare keys does the mill have?", "spare key mill", "four"),
        ("水车的备用钥匙有几把？", "水车 备用 钥匙", "三把"),
    ],
)
def test_a_snippet_answers_rather_than_asks(question: str, words: str, shown: str) -> None:
    text = (
        "Does anybody know about the spare key of the mill? I asked where the spare key of the mill was. "
        f"{'It rained again all day and we stayed in. ' * 8}"
        "The spare key of the mill hangs behind Olga's loom now. "
        f"{'The hens laid well, and the bread rose. ' * 8}"
        "There used to be four of those for the mill, as the key cutter told us, the spare included. "
        f"{'关于天气没有什么可说的，一直在下雨，大家都待在屋里。' * 8}"
        "水车的备用钥匙在哪里？水车的备用钥匙一共三把。"
        f"{'晚上我们煮了汤，然后早早睡下了。' * 12}"
    )
    assert shown in snippet(text, dict.fromkeys(words.split(), 2.0), question=question)
