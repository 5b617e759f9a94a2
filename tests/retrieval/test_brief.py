"""The shortest form of a hit still leads to it, and no hit takes the room of the others."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from mnemark.retrieval.block import block
from mnemark.text.quoting.fence import NOT_QUOTED, check_fenced
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Hit

OWN = "The harbour gate opens with the code word pelican."


def _hit(text: str, *, line: int, score: float = 0.5, path: str = "sessions/s-v1rxv0hhb0.jsonl") -> Hit:
    return Hit(
        ref=f"{path}#L{line}", path=path, start_line=line, end_line=line, kind="turn", title="s",
        date="2026-11-21T08:07:35+00:00", origin="web", scope="", score=score,
        text=text, snippet=text[:160],
    )  # fmt: skip


def test_a_long_ref_is_never_cut() -> None:
    name = "sessions/claude-code-a1a953e2-5951-4fd3-8693-1a3e381e52a2-v1rxv0hhb0.jsonl"
    hits = [
        Hit(
            ref=f"{name}#L{line}", path=name, start_line=line, end_line=line, kind="turn", title="s",
            date="2026-11-21T08:07:35+00:00", origin="owner", scope="", score=0.5,
            text=f"word{line} " * 500, snippet=f"word{line} " * 30,
        )
        for line in range(100, 108)
    ]  # fmt: skip
    shown = block(hits, budget=600).text
    rows = [line for line in shown.splitlines() if line.startswith("- ")]
    assert len(rows) > 4
    assert all(row.split()[1] == hit.ref for row, hit in zip(rows, hits, strict=False))


HOSTILE = {
    "nested marks": "<|<s|> " * 3 + "<|<|user|>|>",
    "nothing but hidden characters": "\u200b" * 4_000,
    "hidden characters in words": "h\u200barbour " * 300,
    "tags": "<system>" * 500,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_hit_takes_no_more_room_than_another(text: str) -> None:
    hits = [_hit(text, line=1, score=0.9), _hit(OWN, line=2, score=0.8)]
    for budget in (260, 400, 800):
        shown = block(hits, budget=budget).text
        assert f"- {hits[1].ref} ·" in shown
        assert OWN in shown or budget < 800
        assert check_fenced(shown)
        assert estimate_tokens(shown) <= budget


def test_a_name_too_long_to_show_takes_only_itself() -> None:
    hits = [_hit("anything", line=1, path="\u200b" * 80 + ".md", score=0.9), _hit(OWN, line=2)]
    assert OWN in block(hits, budget=260).text


def test_a_passage_that_cannot_be_quoted_is_left_out_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemark.text.quoting.fence._BRACKETED", re.compile(r"(?P<inside>zebra\[)"))
    hits = [_hit("see the zebra[ there", line=1, score=0.9), _hit(OWN, line=2)]
    shown = block(hits, budget=800).text
    assert OWN in shown
    assert check_fenced(shown)
    assert "zebra" not in shown
    assert NOT_QUOTED in shown


def _turn(line: int, said: str, *, role: str = "user", score: float = 0.5, **fields: Any) -> Hit:
    made = _hit(said, line=line, score=score)
    return replace(made, origin="owner", meta={"role": role}, **fields)


def test_turns_that_follow_each_other_share_a_row_in_their_order() -> None:
    hits = [
        _turn(8, "On Tuesday."),
        _turn(7, "When is it?", role="assistant"),
        _turn(20, "Bring the blue rope."),
    ]
    shown, kept = block(hits, budget=800)
    assert "#L7-L8 · 2026-11-21 08:07" in shown
    assert shown.index("L7 assistant: When is it?") < shown.index("L8 user: On Tuesday.")
    assert [hit.start_line for hit in kept] == [8, 7, 20]
    assert sum(line.startswith("- ") for line in shown.splitlines()) == 2


def test_rows_that_grow_together_become_one() -> None:
    said = {4: "The ferry leaves at nine.", 6: "We meet at the harbour.", 5: "Take the blue rope along."}
    hits = [_turn(line, words) for line, words in said.items()]
    shown, kept = block(hits, budget=800)
    assert shown.count("sessions/") == 1
    assert "#L4-L6 ·" in shown
    assert len(kept) == 3


def test_a_turn_of_a_page_or_a_tool_keeps_a_row_and_its_origin() -> None:
    hits = [_turn(8, "On Tuesday."), replace(_turn(7, "Buy gold now."), origin="web")]
    shown = block(hits, budget=800).text
    assert "from web" in shown
    assert "L7-L8" not in shown


def test_what_the_block_says_already_gets_no_row() -> None:
    again = replace(
        _hit("The harbour gate opens with the code word pelican!", line=3, path="notes/a.md"), kind="note"
    )
    shown, kept = block([_turn(9, OWN), again], budget=800)
    assert shown.count("pelican") == 1
    assert len(kept) == 1


GATE = "the code word of the harbour gate is pelican, and Ann keeps the spare key"


def _note(said: str, **fields: Any) -> Hit:
    made = _hit(said, line=4, path="memory/2026-11-23.md", score=0.9)
    return replace(made, kind="note", origin="agent", **fields)


def _fact(value: str, predicate: str = "", *, current: bool = True) -> Hit:
    meta = {"subject": "user", "predicate": predicate, "value": value, "current": current, "replaces": None}
    made = _hit(f"‹user› {predicate}: {value} (since 2026-11-23)", line=3, path="memory/facts/user.md")
    return replace(made, kind="fact", origin="owner", meta=meta)


def test_a_turn_stands_for_what_was_made_of_it() -> None:
    noted = _note(f"## 01:05 Harbour gate\n\n- Asked: Please note: {GATE}", meta={"sources": ["s.jsonl#L2"]})
    turn = _turn(2, f"Please note: {GATE}.")
    shown, kept = block([noted, _fact(GATE), turn], budget=800)
    assert kept == (turn,)
    assert shown.count("pelican") == 1


def test_a_fact_with_its_value_stands_for_the_turn_that_says_no_more() -> None:
    fact = _fact("Helix 24.07", "preferred editor")
    assert block([_turn(2, "My preferred editor is Helix 24.07."), fact], budget=800).hits == (fact,)
    more = _turn(2, "My preferred editor is Helix 24.07. I dropped Vim for it.")
    assert block([more, fact], budget=800).hits == (more, fact)


def test_a_newer_value_is_never_left_out_for_an_older_one() -> None:
    past, now = _fact("Helix 24.07", "preferred editor", current=False), _fact("Zed 1.0", "preferred editor")
    again = _turn(9, "My preferred editor is Helix 24.07.")
    assert block([past, now, again], budget=800).hits == (past, now, again)
    assert len(block([_turn(2, "My preferred editor is Zed 1.0, not Helix."), now], budget=800).hits) == 2


def test_what_found_no_room_stands_for_nothing() -> None:
    long = _turn(2, f"{'A heron stood at the quay for hours. ' * 400} {GATE}.", score=0.9)
    short = _turn(90, f"{GATE}.")
    assert "pelican" in block([long, short], budget=300).text


def test_one_long_hit_leaves_room_for_others_and_is_opened_with_what_is_left() -> None:
    long = _turn(3, " ".join(f"word{number}" for number in range(120)), score=0.9)
    short = [_turn(9 + 3 * number, f"Sentence {number} of another matter.") for number in range(3)]
    small = block([long, *short], budget=420)
    assert len(small.hits) == 4
    assert "word119" not in small.text
    assert "word119" in block([long, *short], budget=1_600).text
