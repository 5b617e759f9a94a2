from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.text.normal import VARIANTS, fold, normalize


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


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_normalizing_twice_changes_nothing(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
