"""Of two statements on the same matter the newest comes first, and the older is marked."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemark import Memory

CONFIG = {"embedder": "none"}
START = datetime(2025, 3, 1, 9, tzinfo=UTC)
NOW = START + timedelta(days=300)
PAIRS = [
    (
        "The port of the label printer is 8080.",
        "We moved the label printer port to 9090.",
        "label printer port",
    ),
    ("我们仓库的门禁密码是胡桃。", "仓库的门禁密码改成石英了。", "仓库的门禁密码是什么？"),
    (
        "Our choir meets on Tuesdays in the old library.",
        "By the way, the choir people changed it all again: our choir meets on Fridays from now on.",
        "When does our choir meet?",
    ),
]


def remember(root: Path, texts: list[str], *, role: str = "user") -> Memory:
    memory = Memory.open(root, config=CONFIG)
    for day, text in enumerate(texts):
        session = memory.session(f"chat-{day}")
        session.add("user", "Hello, it is raining again today.", time=START + timedelta(days=40 * day))
        session.add(role, text, time=START + timedelta(days=40 * day, minutes=1))
    memory.sync()
    return memory


@pytest.mark.parametrize(("old", "new", "question"), PAIRS)
@pytest.mark.parametrize("swapped", [False, True])
def test_the_newest_is_first_and_the_older_is_marked(
    tmp_path: Path, old: str, new: str, question: str, *, swapped: bool
) -> None:
    old, new = (new, old) if swapped else (old, new)
    with remember(tmp_path, [old, "The ferry was late.", new]) as memory:
        hits = memory.search(question, now=NOW).hits
        assert [hit.text for hit in hits[:2]] == [new, old]
        assert not hits[0].meta.get("earlier")
        assert hits[1].meta["earlier"]
        text = memory.recall(question, now=NOW, deadline=20).text
    row = next(line for line in text.splitlines() if "· earlier" in line)
    assert str((START + timedelta(days=0)).date()) in row
    assert text.index(new) < text.index(old)


def test_notes_of_a_kind_are_about_what_their_titles_say(tmp_path: Path) -> None:
    names = [f"{first} {last}" for first in ("Ida", "Ole", "Tjark", "Wiebke") for last in ("Groth", "Voss")]
    for day, name in enumerate(names, 11):
        front = f"---\ncreated: 2025-03-{day}\nbirthday: 1961-05-{day}\n---\n"
        (tmp_path / f"{name}.md").write_text(f"{front}\n{name} sings in the choir.\n", "utf-8")
    for number in range(40):
        (tmp_path / f"{number}.md").write_text("The wind turned to the north.\n", "utf-8")
    with Memory.open(tmp_path, config=CONFIG) as memory:
        memory.sync()
        hits = memory.search("When is the birthday of Ida Groth?", now=NOW).hits
    assert hits[0].title == "Ida Groth"
    assert not hits[0].meta.get("earlier")


def test_a_question_for_the_first_or_for_a_time_is_answered_by_it(tmp_path: Path) -> None:
    old, new, _ = PAIRS[0]
    with remember(tmp_path, [old, new]) as memory:
        assert memory.search("When did the label printer first get a port?", now=NOW).hits[0].text == old
        assert memory.search("label printer port in March 2025", now=NOW).hits[0].text == old


@pytest.mark.parametrize(
    ("one", "other", "question"),
    [
        (
            "The port of the label printer is 8080.",
            "The owner of the label printer is Bruno.",
            "label printer port",
        ),
        ("Ann's bike has a red bell.", "The bell of the town hall rang twice.", "bell"),
    ],
)
def test_what_is_on_another_matter_is_not_marked(tmp_path: Path, one: str, other: str, question: str) -> None:
    with remember(tmp_path, [one, other]) as memory:
        assert not any(hit.meta.get("earlier") for hit in memory.search(question, now=NOW).hits)


def test_an_agent_takes_nothing_back(tmp_path: Path) -> None:
    old, new, question = PAIRS[0]
    with remember(tmp_path, [old]) as memory:
        memory.session("chat-9").add("assistant", new, time=NOW)
        memory.sync()
        assert not any(hit.meta.get("earlier") for hit in memory.search(question, now=NOW).hits)


@pytest.mark.parametrize("synced", [True, False])
def test_whoever_records_a_turn_marks_nothing(tmp_path: Path, *, synced: bool) -> None:
    forged = {"earlier": True, "applies": True, "suspect": True}
    with Memory.open(tmp_path, config=CONFIG) as memory:
        memory.session("chat").add("user", "The port of the label printer is 8080.", meta=forged)
        if synced:
            memory.sync()
        for hits in (
            memory.search("label printer port").hits,
            memory.recall("label printer port", deadline=0.001).hits,
            memory.recall("label printer port", deadline=20).hits,
        ):
            assert all(not hit.meta.keys() & forged.keys() for hit in hits)
    assert hits
