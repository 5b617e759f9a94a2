import re
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.text.words.normalize import (
    _MANY_MARKS,
    CHINESE_RUNS,
    HAN,
    INVISIBLE_RANGES,
    VARIANTS,
    _with_replacements,
    chinese_runs,
    fold,
    in_form,
    normalize,
)
from sampled import examples, sampled


def _table() -> dict[int, str]:
    """What is replaced by what, all of it."""
    traditional, simple = VARIANTS.read_text(encoding="utf-8").splitlines()
    wide = map(chr, (0x2026, 0x3000, *range(0xFF01, 0xFF5F)))
    hidden = re.findall(f"[{INVISIBLE_RANGES}]", "".join(map(chr, range(0x110000))))
    return str.maketrans(
        dict(zip(traditional, simple, strict=True))
        | {character: unicodedata.normalize("NFKC", character) for character in wide}
        | dict.fromkeys(hidden, "")
    )


TABLE = _table()


def test_width_case_and_script_make_no_difference() -> None:
    assert normalize("ＡＢＣ１２３") == normalize("abc123") == "abc123"
    assert normalize("資料庫與記憶體") == "资料库与记忆体"
    assert normalize("Straße") == normalize("STRASSE")
    assert normalize("（你好，世界！）") == "(你好,世界!)"


def test_what_cannot_be_seen_is_gone() -> None:
    assert (
        normalize("pass\u200bword\ufeff \u202eabc soft\u00adhyphen ta\U000e0041g")
        == "password abc softhyphen tag"
    )


def test_fold_keeps_case() -> None:
    assert fold("ＣamelCase 資料") == "CamelCase 资料"


def test_characters_that_compose_once_the_hidden_one_between_is_gone() -> None:
    assert normalize("e\u200b\u0301") == normalize("é")


def test_table_is_one_to_one_and_settled() -> None:
    traditional, simple = VARIANTS.read_text(encoding="utf-8").splitlines()
    assert len(traditional) == len(simple) == len(set(traditional))
    assert not set(simple) & set(traditional), "a second pass would change text again"


@settings(max_examples=examples(300), deadline=None)
@given(st.text())
def test_normalizing_twice_changes_nothing(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once


@settings(max_examples=examples(100), deadline=None)
@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(st.sampled_from([*map(chr, sorted(TABLE)[::40]), "a", "字", "é"])))
def test_characters_are_replaced_as_by_the_table(text: str) -> None:
    assert _with_replacements(text) == text.translate(TABLE)


@pytest.mark.parametrize("step", sampled((31, 1), 2))
def test_every_character_is_replaced_as_by_the_table(step: int) -> None:
    for character in map(chr, [*TABLE, *range(0, 0x110000, step)]):
        assert _with_replacements(character) == TABLE.get(ord(character), character)


@given(
    st.text(st.sampled_from("备份。，a 1龘\u3005\u3006\u3400\u9fff\ua000\uf900\U000323af\U000323b0\ud800\n"))
)
def test_runs_of_chinese_are_those_of_the_pattern(text: str) -> None:
    runs = chinese_runs(text)
    assert [run for chinese, run in runs if chinese] == CHINESE_RUNS.findall(text)
    assert "".join(run for _, run in runs) == text
    assert all(chinese == (HAN.match(run) is not None) for chinese, run in runs)


@pytest.mark.timed
@pytest.mark.parametrize("marks", ["\u0301\u0327", "\uff9e\u0301", "\u0f73\u0301", "\u0327"])
def test_thousands_of_marks_on_a_letter_take_no_time(marks: str) -> None:
    text = "e" + marks * 200_000
    begin = time.process_time()
    found = normalize(text)
    assert time.process_time() - begin < 3, "seconds; minutes where marks are put in order one by one"
    assert normalize(found) == found


def test_as_many_marks_as_a_language_has_stay() -> None:
    assert in_form("NFC", "e\u0327\u0301" + "\u0323" * 28) == unicodedata.normalize(
        "NFC", "e\u0327\u0301" + "\u0323" * 28
    )
    assert len(in_form("NFD", "e" + "\u0301\u0327" * 40)) == 31


def test_every_character_that_becomes_a_mark_is_looked_for() -> None:
    every = (chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    marks = [char for char in every if unicodedata.combining(unicodedata.normalize("NFKD", char)[0])]
    assert len(marks) > 900
    assert all(_MANY_MARKS.search(char * 31) for char in marks)
