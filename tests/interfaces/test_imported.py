"""After an import: what came is told at once, learned from, and what was learned is looked over in one go."""

import json
from pathlib import Path

import pytest

from .conftest import Shell

SAID = (
    ("human", "I live in Lund and my sister's name is Ylva.", "2025-03-02T10:00:00Z"),
    ("assistant", "Nice to meet you.", "2025-03-02T10:00:05Z"),
    ("human", "I am allergic to hazelnuts.", "2026-01-20T08:00:00Z"),
)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    messages = [
        {"uuid": f"m{number}", "sender": sender, "text": text, "created_at": time}
        for number, (sender, text, time) in enumerate(SAID)
    ]
    talk = {"uuid": "k", "name": "Hello", "created_at": SAID[0][2], "chat_messages": messages}
    path = tmp_path / "export.json"
    path.write_text(json.dumps([talk]), "utf-8")
    return path


@pytest.fixture
def learned(shell: Shell, export: Path) -> Shell:
    shell("init")
    assert shell("import", str(export)).code == 0
    assert shell("learn").code == 0
    return shell


def marks(shell: Shell) -> dict[str, str]:
    """The marks of what was learned, by the line that they stand in."""
    return {
        line.split(maxsplit=1)[1]: line.split()[0]
        for line in shell("review", "learned").out.splitlines()
        if not line.startswith(" ")
    }


def test_what_was_learned_stands_with_the_words_it_is_from(learned: Shell) -> None:
    lines = learned("review", "learned").out.splitlines()
    at = next(number for number, line in enumerate(lines) if "hazelnuts" in line)
    assert lines[at + 1].strip().startswith("“")
    assert "hazelnuts" in lines[at + 1]
    rows = learned("review", "learned", "--json").data["learned"]
    assert all(row["said"] for row in rows)


def test_what_came_is_told_at_once(shell: Shell, export: Path) -> None:
    shell("init")
    brought = shell("import", str(export))
    assert brought.out.startswith(
        "Imported from Claude: 1 session, 3 messages\n  from 2025-03-02 to 2026-01-20\n"
    )
    assert "`mnemark learn`: by rule, at no cost" in brought.err
    assert "1 talk, 3 messages from Claude, 2025-03-02 – 2026-01-20" in shell("status").out
    assert json.loads(shell("status", "--json").out)["brought"][0]["began"] == "2025-03-02"


def test_the_price_is_told_first(shell: Shell, export: Path) -> None:
    shell("init")
    shell("import", str(export))
    told = shell("learn", "--dry-run").err
    assert "costs nothing" in told
    assert "A language model would take about 1 request and 2,0" in told


def test_what_was_learned_is_confirmed_in_one_go(learned: Shell) -> None:
    found = marks(learned)
    assert any("You live in Lund." in line for line in found)
    assert "facts confirmed" in learned("review", "learned", "--keep").out
    assert "Nothing to look over" in learned("review", "learned").err
    assert "Lund" in learned("facts").out


def test_what_is_wrong_is_struck_and_the_rest_confirmed(learned: Shell) -> None:
    found = marks(learned)
    wrong = next(mark for line, mark in found.items() if "hazelnuts" in line)
    told = learned("review", "learned", "--strike", wrong)
    assert f"{len(found) - 1} fact" in told.out
    assert "1 forgotten" in told.out
    assert "hazelnuts" not in learned("facts").out
    learned("learn", "--again")
    assert "hazelnuts" not in learned("facts").out
    undo = told.out.split("mnemark undo ")[1].split("`")[0]
    assert learned("undo", undo).code == 0
    assert "hazelnuts" in learned("facts").out


def test_what_a_wrong_fact_had_replaced_holds_again(learned: Shell) -> None:
    learned("add", "I live in Krakow now.", "--session", "later", "--role", "user")
    learned("learn")
    assert "Krakow" in learned("facts").out
    wrong = next(mark for line, mark in marks(learned).items() if "Krakow" in line)
    assert learned("review", "learned", "--strike", wrong).code == 0
    facts = learned("facts").out
    assert "Krakow" not in facts
    assert "Lund" in facts


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--strike", "zzzzz"], "stands for nothing"),
        (["--strike", ","], "needs marks"),
        (["--keep", "--strike", "abc"], "--keep, or --strike"),
    ],
)
def test_a_wrong_mark_changes_nothing(learned: Shell, words: list[str], told: str) -> None:
    before = marks(learned)
    ran = learned("review", "learned", *words)
    assert (ran.code, told in ran.err) == (2, True)
    assert marks(learned) == before
    assert learned("review", "list", "--keep").code == 2
