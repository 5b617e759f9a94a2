import re
import subprocess
import sys
import time
from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mnemark.text.words.normalize import HAN, HAN_RANGES
from mnemark.text.words.segment import (
    _PUNCTUATION,
    _TOKENS,
    _separate_chinese,
    cut_by_frequency,
    fingerprint,
    heading_terms,
    index_terms,
    other_terms,
    query_terms,
)
from mnemark.text.words.stopwords import STOP, is_stop
from mnemark.text.words.terms import MAX_TERM
from sampled import examples


def terms(text: str) -> set[str]:
    found = index_terms(text)
    return {*found.words, *found.parts}


def finds(query: str, text: str) -> bool:
    return set(query_terms(query)) <= terms(text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("数据库", "我们换了数据库系统。"),
        ("数据", "数据库系统"),
        ("库", "数据库系统"),
        ("北京大学生", "他是北京大学生物系的学生"),
        ("大学生", "北京大学生活"),
        ("王小明", "昨天王小明来到了杭州"),
        ("資料庫", "资料库的备份"),
        ("資料庫", "資料庫的備份"),
        ("蓇", "果为蓇葖果"),
        ("𠮷", "𠮷野家"),
        ("running", "She runs every day"),
        ("Caroline", "Caroline's dog"),
        ("they", "They'll come"),
        ("don't", "I don’t know"),
        ("cafe", "the café"),
        ("ABC", "ＡＢＣ公司"),
        ("camel case", "see camelCase"),
        ("camelCase", "see camelCase"),
        ("camelcase", "see camelCase"),
        ("snake case", "a snake_case name"),
        ("snake_case", "a snake_case name"),
        ("kebab", "a kebab-case name"),
        ("http server", "class HTTPServer2:"),
        ("HTTPServer2", "class HTTPServer2:"),
        ("HTTPServer", "class HTTPServer2:"),
        ("join", "os.path.join(a, b)"),
        ("path.join", "os.path.join(a, b)"),
        ("os.path.join", "os.path.join(a, b)"),
        ("b.py", "edit src/mnemark/a/b.py"),
        ("src/mnemark/a/b.py", "edit src/mnemark/a/b.py"),
        ("mnemark/a", "edit src\\mnemark\\a\\b.py"),
        ("3.12", "Python3.12版本"),
        ("版本", "Python3.12版本"),
        ("Python", "Python3.12版本"),
        ("v1.2.3", "released v1.2.3"),
        ("1.2.3", "released v1.2.3"),
        ("GPT4", "用GPT-4模型"),
        ("GPT-4", "用GPT4模型的GPT 4"),
        ("email", "by e-mail"),
        ("LLM", "two LLMs"),
        ("LLMs", "an LLM"),
        ("2026-02-13", "memory/2026-02-13.md"),
        ("2026", "on 2026-02-13"),
        ("2026-02", "on 2026-02-13"),
        ("1234567", "it cost 1,234,567 euros"),
        ("1,234,567", "it cost 1234567 euros"),
        ("ann@example.com", "write to ann@example.com."),
        ("example.com", "https://www.example.com/a/b?x=1"),
        ("C++", "in C++ and C#"),
        ("C#", "in C++ and C#"),
        ("мир", "Привет, мир!"),
        ("データ", "データベースの復元"),
        ("ー", "データ"),
        ("한국", "한국어로"),
        ("ไทย", "ภาษาไทย"),
        ("हिन्दी", "हिन्दी में"),
        ("😀", "fun 😀!"),
        ("ấm", "ấm áp"),
    ],
)
def test_is_found(query: str, text: str) -> None:
    assert query_terms(query)
    assert finds(query, text)


@pytest.mark.parametrize(
    ("whole", "text"),
    [
        ("os.path.join", "os.path.join"),
        ("src/a/b.py", "src/a/b.py"),
        ("3.12", "Python 3.12"),
        ("v1.2.3", "v1.2.3"),
        ("2026-02-13", "2026-02-13"),
        ("camelcase", "camelCase"),
        ("snake_case", "snake_case"),
        ("kebab-case", "kebab-case"),
        ("httpserver2", "HTTPServer2"),
    ],
)
def test_identifiers_are_terms_as_a_whole(whole: str, text: str) -> None:
    assert whole in terms(text)


def test_a_version_is_not_its_digits_run_together() -> None:
    assert not finds("312", "3.12")
    assert not finds("3.12", "312")


def test_words_count_for_the_length_and_parts_do_not() -> None:
    found = index_terms("the os.path.join of 数据库系统, the end")
    assert found.words == ["the", "os.path.join", "of", "数据库系统", "the", "end"]
    assert {"join", "path.join", "数据库", "系统"} <= set(found.parts)
    assert not set(found.words) & set(found.parts)


def test_a_brand_in_humps_asks_only_for_itself() -> None:
    assert len(query_terms("GitHub iPhone")) == 2
    assert finds("GitHub", "github")
    assert {"get", "user"} <= set(query_terms("getUser"))


def test_a_hash_is_not_taken_apart() -> None:
    assert index_terms("01JABC9XYZ7Q a3f9c2e1").words == ["01jabc9xyz7q", "a3f9c2e1"]
    assert index_terms("01JABC9XYZ7Q a3f9c2e1").parts == []


def test_order_and_repeats_are_kept() -> None:
    assert query_terms("the cat and the dog 和猫和狗") == [
        "the",
        "cat",
        "and",
        "the",
        "dog",
        "和",
        "猫",
        "和",
        "狗",
    ]


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\0\0", "\ud800\udfff", "\u0301", "'", "--", "++", "…", "\u200b", "_", "''s"]
)
def test_strange_strings_are_safe(text: str) -> None:
    index_terms(text)
    query_terms(text)


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        "a" * 10**6,
        "aB" * 500_000,
        "数" * 10**6,
        "数据库系统" * 200_000,
        "カ" * 10**6,
        "a1" * 500_000,
        "'" * 10**6,
        "😀" * 10**6,
    ],
    ids=["letter", "humps", "character", "words", "kana", "digits", "quotes", "emoji"],
)
def test_a_megabyte_of_one_thing_takes_linear_time(text: str) -> None:
    begin = time.process_time()
    found = index_terms(text)
    assert time.process_time() - begin < 15, "seconds; a quadratic path would take hours"
    assert max(map(len, [*found.words, *found.parts]), default=0) <= MAX_TERM


def test_long_terms_are_cut_the_same_way_on_both_sides() -> None:
    assert finds("x" * 200, f"see {'x' * 200} there")
    assert finds("/".join(["part"] * 60), f"see /{'/'.join(['part'] * 60)} there")


_WORDS = """
数据库 北京大学 大学生 的 学 资料庫 王小明 蓇葖 running don't camelCase HTTPServer2 os.path.join src/a/b.py
3.12 v1.2.3 2026-02-13 1,234 GPT-4 データ 한국어 ไทย Привет हिन्दी 😀 café C++ a_b_c
__init__ x@y.zz ﬁne ＡＢＣ
"""
_PIECES = st.sampled_from(_WORDS.split())


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(_PIECES, min_size=1, max_size=4), st.lists(_PIECES, max_size=3), st.lists(_PIECES, max_size=3)
)
def test_a_text_that_contains_the_query_is_found(
    query: list[str], before: list[str], after: list[str]
) -> None:
    asked = " ".join(query)
    assert finds(asked, " ".join([*before, asked, *after]))


@settings(max_examples=examples(200), deadline=None)
@given(
    st.text(alphabet="北京大学生活数据库系统资料我们在的王小明蓇葖研究生命起源", min_size=3, max_size=30),
    st.data(),
)
def test_any_stretch_of_chinese_is_found_wherever_it_is_cut(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert finds(text[start:end], text)


@settings(max_examples=examples(300), deadline=None)
@example("\u00b4#")  # an accent that stands alone
@given(st.text())
def test_every_text_finds_itself(text: str) -> None:
    assert finds(text, text)
    assert all(0 < len(term) <= MAX_TERM for term in terms(text))


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=5), st.sampled_from(["\u3000", "\u00a0", " ", "蓇"]))))
def test_a_heading_has_the_terms_of_any_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    for own, wanted in zip(heading_terms(text), index_terms(text), strict=True):
        assert sorted(own) == sorted(wanted)


_ODD = [*"中々〇㐀豈𠀀a_'’./:@-,0+#ひー국ไéЖ→🙂\u0301अ", "123", *_PUNCTUATION]
_ALL_TOKENS = re.compile(f"[{HAN_RANGES}]+|" + _TOKENS.pattern.replace("[^\\W_", rf"[^\W_{HAN_RANGES}"))


@settings(max_examples=examples(1000), deadline=None)
@given(st.lists(st.one_of(st.sampled_from(_ODD), st.text())))
def test_tokens_between_chinese_are_those_of_one_look_at_the_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    tokens = _ALL_TOKENS.findall(text)
    others = [token for token in tokens if not HAN.match(token)]
    runs = [token if HAN.match(token) else "\n" for token in tokens]
    assert _separate_chinese(text) == (" ".join(runs) if len(others) < len(tokens) else "", others)


@given(st.lists(st.one_of(_PIECES, st.sampled_from(_ODD), st.text(max_size=5))).map("".join))
def test_the_terms_that_are_not_chinese_are_found_without_the_dictionary(text: str) -> None:
    every = {*index_terms(text).words, *index_terms(text).parts, *query_terms(text)}
    assert other_terms(text) == {term for term in every if not HAN.match(term)}


def test_stop_words_are_terms_as_they_are_cut() -> None:
    asked = query_terms("What did they say about the database? Why doesn't it work? 他們為什麼換了資料庫")
    assert [term for term in asked if not is_stop(term)] == ["say", "databas", "work", "换", "资料库"]
    assert {"who", "when", "什么", "怎么"} <= STOP


def test_names_and_digits_are_no_stop_words() -> None:
    assert not any(map(is_stop, query_terms("Will Smith may 2026 3.12 数据库")[1:]))


def counted(texts: list[str]) -> dict[str, int]:
    """Return in how many texts each term is."""
    found: dict[str, int] = {}
    for text in texts:
        terms = index_terms(text)
        for term in {*terms.words, *terms.parts}:
            found[term] = found.get(term, 0) + 1
    return found


def test_chinese_is_cut_by_the_words_of_an_index() -> None:
    known = counted(
        ["数据库每天备份", "我们讨论了数据", "备份在凌晨三点运行", "研究生命的起源", "他是研究生"]
    )
    assert list(cut_by_frequency("数据库备份", lambda _: known)) == ["数据库", "备份"]
    assert query_terms("数据库 backup 备份?", lambda line: cut_by_frequency(line, lambda _: known)) == [
        "数据库", "backup", "备份",
    ]  # fmt: skip
    # Nobody ever wrote it: each character stands for itself, and nothing is lost.
    assert list(cut_by_frequency("鲸鱼", lambda _: known)) == ["鲸", "鱼"]


@given(
    st.text("数据库每天备份我们讨论了在凌晨三点运行 \n", max_size=40), st.text("数据库每天备份", max_size=12)
)
def test_a_cut_by_frequency_loses_no_character(line: str, text: str) -> None:
    known = counted([text])
    asked: list[str] = []

    def frequencies(words: Iterable[str]) -> dict[str, int]:
        asked.extend(words)
        return {word: known[word] for word in asked if word in known}

    assert "".join(cut_by_frequency(line, frequencies)) == line
    assert len(asked) <= 6 * len(line)


def test_fingerprint_names_what_terms_depend_on() -> None:
    assert {part.split("=")[0] for part in fingerprint().split(";")[1:]} == {
        "rjieba",
        "stemmer",
        "unicode",
        "variants",
    }


def test_import_does_not_load_the_chinese_dictionary() -> None:
    use = "from mnemark.text.words import segment; segment.index_terms('plain English')"
    code = f"import sys; {use}; print('rjieba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
