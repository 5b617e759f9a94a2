from hypothesis import example, given, settings
from hypothesis import strategies as st

from mnemark.facts.keys import predicate_key
from mnemark.facts.parse import (
    ParsedFact,
    decode_field,
    parse,
    split_words,
)
from mnemark.facts.write import add_bullet, bullet_of, change_comment, encode_field, strike, words_of
from mnemark.text.lines import decode, encode
from sampled import examples

_PIECES = st.sampled_from(
    ["- ", "* ", "  + ", "\n", "\r\n", "\r", "**city**: Berlin",
     "城市：杭州", " <!-- id: 01A -->",
     "<!-- trigger: a, b -->", "<!--", "-->", "~~", "```", "---\n",
     "a: b", "\t", " ", "# Head", "\ufeff", "x\udcff",
     "\\", "|", "**", "🙂", "\n\n"]
)  # fmt: skip
_TEXTS = st.lists(_PIECES | st.text(max_size=4), max_size=25).map("".join)
_VALUES = st.lists(
    st.sampled_from(
        ["~~", "<!--", "-->", "\\", ":", "：", "**", "- ", "# ", "a", "城市", " ", "|", "_", "`", "1. "]
    )
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5),
    min_size=1,
    max_size=8,
).map(lambda parts: " ".join("".join(parts).split()))


def read(text: str) -> list[tuple[str, str]]:
    return [(fact.predicate, fact.value) for fact in parse(text)]


def only(text: str) -> ParsedFact:
    (fact,) = parse(text)
    return fact


def test_the_ways_people_write_bullets() -> None:
    text = (
        "# User\n\n- **name**: Ann\n* city: Berlin\n+ likes green tea\n- 城市：杭州\n"
        "- **邮箱：** a@example.org\n"
        "- 时区:Asia/Shanghai\n- standup at 9:30\n- https://example.org: the site\n"
        "- **database**: PostgreSQL\n  - port: 5432\n"
    )
    assert read(text) == [
        ("name", "Ann"),
        ("city", "Berlin"),
        ("", "likes green tea"),
        ("城市", "杭州"),
        ("邮箱", "a@example.org"),
        ("时区", "Asia/Shanghai"),
        ("", "standup at 9:30"),
        ("", "https://example.org: the site"),
        ("database", "PostgreSQL"),
        ("port", "5432"),
    ]


def test_a_bullet_without_a_value_names_what_is_nested_in_it() -> None:
    text = "- **languages**:\n  - Python\n  - Rust\n- work:\n    - city: Bonn\n- city: Berlin\n"
    assert read(text) == [
        ("languages", "Python"),
        ("languages", "Rust"),
        ("work city", "Bonn"),
        ("city", "Berlin"),
    ]


def test_what_is_no_fact() -> None:
    text = (
        "---\ntags:\n- one\n---\n```\n- a: b\n```\n<!--\n- hidden: yes\n-->\n"
        "- - -\n* * *\n-no\n1. one\n- real: yes\n"
    )
    assert read(text) == [("real", "yes")]


def test_a_bullet_over_several_lines_and_a_comment_broken_by_an_editor() -> None:
    text = (
        "- **rule**: always run\n  the tests\n"
        "first <!-- id: 01A | origin:\n  owner -->\n- next: 1\n\n  not part\n"
    )
    first, second = parse(text)
    assert (first.value, first.id, first.meta["origin"]) == ("always run the tests first", "01A", "owner")
    assert (first.bullet.line, first.bullet.end_line, second.bullet.line) == (1, 4, 5)
    assert second.value == "1"


def test_comments_of_others_are_understood_and_what_mnemark_wrote_wins() -> None:
    fact = only(
        "- **tone**: dry <!-- trigger: a, b --> <!-- importance: 9 --> <!-- id: 01A | confidence: 0.5 -->\n"
    )
    assert (fact.value, fact.id, fact.meta["trigger"]) == ("dry", "01A", "a, b")
    assert (fact.importance, fact.confidence) == (0.9, 0.5)
    assert only("- x <!-- importance: lots -->").importance is None
    assert only("- x <!-- a remark, no fields -->").meta == {}


def test_superseded_facts_are_struck_through() -> None:
    fact = only("- ~~**python version**: 3.11~~ <!-- id: 01A | until: 2026-02-18 -->\n")
    assert (fact.predicate, fact.value, fact.struck) == ("python version", "3.11", True)
    assert not only("- ~~a~~ b").struck


def test_passages_say_which_facts_they_hold() -> None:
    assert [
        (predicate_key(fact.predicate), fact.struck)
        for fact in parse("- ~~lives in: Bonn~~\n- 城市: Berlin\n")
    ] == [
        ("city", True),
        ("city", False),
    ]


@given(st.binary(max_size=200) | _TEXTS.map(encode))
def test_any_bytes_come_back_and_never_fail(data: bytes) -> None:
    text = decode(data)
    parse(text)
    assert encode(text) == data


@given(_TEXTS)
@settings(max_examples=examples(200))
def test_bullets_are_apart_and_hold_their_parts(text: str) -> None:
    end = 0
    for fact in parse(text):
        bullet = fact.bullet
        assert end <= bullet.start < bullet.words[0] <= bullet.words[1] <= bullet.end <= len(text)
        assert fact.value
        end = bullet.end


@given(_TEXTS, st.integers(0, 30))
@settings(max_examples=examples(200))
@example("- a <!-- x --> b <!-- id: 1 --> c\r\n- d", 0)
def test_changing_a_bullet_leaves_every_other_byte(text: str, which: int) -> None:
    facts = parse(text)
    if not facts:
        return
    fact = facts[which % len(facts)]
    span = fact.bullet
    for changed in (
        change_comment(text, fact, {"id": "01Z", "until": "2026-02-18"}),
        strike(text, fact, {"id": "01Z", "until": "2026-02-18"}),
        add_bullet(text, "- **k**: v <!-- id: 01Z -->", after=fact),
    ):
        assert changed.startswith(text[: span.start])
        assert changed.endswith(text[span.end :])
        assert "01Z" in changed


@given(_TEXTS)
@settings(max_examples=examples(200))
def test_striking_keeps_words_and_says_when(text: str) -> None:
    facts = parse(text)
    for place, fact in enumerate(facts):
        again = parse(strike(text, fact, {"id": "01Z", "until": "2026-02-18"}))
        if [found.value for found in again] != [found.value for found in facts]:
            continue  # marks that were there already join with ours; the bytes around are kept all the same
        assert again[place].id == "01Z"
        assert again[place].meta["until"] == "2026-02-18"


def test_striking_and_commenting_as_people_would() -> None:
    text = "# U\r\n- city: Bonn <!-- trigger: a -->\r\n  - since school\r\n"
    first = parse(text)[0]
    struck = strike(text, first, {"id": "01A", "until": "2026-02-18"})
    assert struck == (
        "# U\r\n- ~~city: Bonn~~ <!-- trigger: a --> <!-- id: 01A | until: 2026-02-18 -->\r\n"
        "  - since school\r\n"
    )
    both = add_bullet(struck, "- **city**: Köln <!-- id: 01B -->", after=parse(struck)[0])
    assert both.splitlines()[1:3] == [struck.splitlines()[1], "- **city**: Köln <!-- id: 01B -->"]
    assert both.count("\r\n") == both.count("\n")
    assert change_comment(both, parse(both)[0], {"until": ""}).splitlines()[1].endswith("<!-- id: 01A -->")
    assert add_bullet("- a", "- b") == "- a\n- b\n"
    assert add_bullet("", "- b") == "- b\n"


@given(st.sampled_from(["", "city", "python version", "喜欢"]), _VALUES)
@settings(max_examples=examples(300))
@example("", "note: tea")
@example("", "- a: b")
@example("city", "a \\: <\\!-- ~~b~~ -->")
def test_what_is_written_reads_back(predicate: str, value: str) -> None:
    if not value:
        return
    line = bullet_of(predicate, value, {"id": "01A", "source": "a|b --> c"})
    for struck in (False, True):
        text = bullet_of(predicate, value, {"id": "01A", "source": "a|b --> c"}, struck=struck)
        fact = only(f"- before\n{text}\n- after\n".split("\n", 1)[1].rsplit("- after", 1)[0])
        assert (fact.predicate, fact.value, fact.struck, fact.id) == (predicate, value, struck, "01A"), line
        assert fact.meta["source"] == "a|b --> c"


@given(st.text(max_size=30))
def test_fields_read_back(text: str) -> None:
    assert decode_field(encode_field(text)) == text.strip()
    assert not set(encode_field(text)) & set("|>\r\n")


def test_words_that_would_pass_for_something_else() -> None:
    assert split_words(words_of("", "note: tea")) == ("", "note: tea")
    assert words_of("a: *b*", "c") == "**a b**: c"
