# ruff: noqa: E501 - a row of the table is easier to read as a line
"""Facts are told in sentences, in both languages, whatever they hold."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.facts.model import TYPES, Fact
from mnemark.facts.predicates import predicates
from mnemark.present.facts import TOPICS, sentence, topic
from mnemark.present.words import Words
from mnemark.types import ORIGINS

EN, ZH = Words("en"), Words("zh")


def fact(predicate: str, value: str, subject: str = "user", **more: str) -> Fact:
    return Fact(id="1", subject=subject, predicate=predicate, value=value, **{"origin": "owner", **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("predicate", "value", "subject", "english", "chinese"),
    [
        ("city", "Lisbon", "user", "You live in Lisbon.", "你住在 Lisbon。"),
        ("lives in", "里斯本", "me", "You live in 里斯本.", "你住在里斯本。"),
        ("editor", "Helix", "user", "Your editor is Helix.", "你的编辑器是 Helix。"),
        ("编辑器", "Helix", "user", "Your editor is Helix.", "你的编辑器是 Helix。"),
        (
            "deploy window", "Friday 17:00", "team harbour",
            "Team harbour, deploy window: Friday 17:00.",
            "team harbour，deploy window：Friday 17:00。",
        ),
        ("job", "vet tech", "user", "You are a vet tech.", "你的职业是 vet tech。"),
        ("job", "retired", "father", "Your father’s job is retired.", "你爸爸的职业是 retired。"),
        ("age", "41", "user", "You are 41 years old.", "你 41 岁。"),
        ("pets", "cat named Pixel", "user", "You have a cat named Pixel.", "你的宠物：cat named Pixel。"),
        ("pets", "two dogs", "user", "You have two dogs.", "你的宠物：two dogs。"),
        ("pets", "两只狗", "user", "One of your pets: 两只狗.", "你有两只狗。"),
        ("likes", "walks with my dog", "user", "You like walks with your dog.", "你喜欢 walks with my dog。"),
        ("preferences", "short answers", "user", "You prefer short answers.", "你偏好 short answers。"),
        ("preferences", "prefers tea.", "user", "You prefer tea.", "你的偏好：“prefers tea”。"),
        ("", "I prefer short answers", "user", "You prefer short answers.", "你说过：“I prefer short answers”。"),
        ("", "我不会开车。", "user", "You said: “我不会开车”.", "你不会开车。"),
        ("dislikes", "jazz", "Ann", "Ann doesn't like jazz.", "Ann 不喜欢 jazz。"),
        ("knows", "Rust", "user", "You know Rust.", "你：knows Rust。"),
        ("host", "heron-2", "db server", "Db server, host: heron-2.", "db server，host：heron-2。"),
        ("database", "PostgreSQL 16", "project", "The project’s database is PostgreSQL 16.", "项目的数据库是 PostgreSQL 16。"),
        ("release date", "2026-03-06", "project", "The project’s release date is 6 March 2026.", "项目的发布日期是 2026年3月6日。"),
        ("rules", "never push to main!", "user", "A rule: never push to main!", "规则：never push to main!"),
        ("members", "Ann", "team harbour", "One of team harbour’s members: Ann.", "team harbour 的成员：Ann。"),
        ("favourite pasta shape", "orecchiette", "user", "Your favourite pasta shape is orecchiette.", "你最喜欢的 pasta shape 是 orecchiette。"),
        ("energy supplier", "Lamplight", "user", "Your energy supplier is Lamplight.", "你的 energy supplier：Lamplight。"),
        ("loyalty card", "none", "user", "Your loyalty card: none.", "你的 loyalty card：none。"),
        ("vegetarian", "yes", "user", "You, vegetarian: yes.", "你，vegetarian：yes。"),
        ("is vegetarian", "true", "user", "You are vegetarian.", "你：is vegetarian。"),
        ("can swim", "no", "user", "You can swim: no.", "你：can swim：no。"),
        ("born in", "Porto", "user", "You: born in Porto.", "你：born in Porto。"),
        ("retired", "2020", "my wife", "Your wife: retired 2020.", "你妻子：retired 2020。"),
        ("currently reading", "Dune", "user", "You: currently reading Dune.", "你：currently reading Dune。"),
        ("reports to", "Bob", "user", "You report to Bob.", "你：reports to Bob。"),
        ("reports to", "Bob", "Ann", "Ann reports to Bob.", "Ann：reports to Bob。"),
        ("wants to learn", "sailing", "user", "You want to learn sailing.", "你：wants to learn sailing。"),
        ("work hours", "9 to 17", "user", "Your work hours are 9 to 17.", "你的 work hours：9 to 17。"),
        ("use case", "weather", "user", "Your use case is weather.", "你的 use case：weather。"),
        ("watch", "Garmin", "user", "Your watch is Garmin.", "你的 watch：Garmin。"),
        ("hobbies", "trains", "user", "One of your hobbies: trains.", "你的爱好：trains。"),
        ("likes", "my wife", "user", "You like your wife.", "你喜欢 my wife。"),
        ("married to", "Tom", "Ann", "Ann’s spouse is Tom.", "Ann 的配偶是 Tom。"),
        ("shoe size", "39", "theresa", "Theresa, shoe size: 39.", "theresa，shoe size：39。"),
        ("deploy window", "Friday", "my team", "Your team’s deploy window is Friday.", "你 team 的 deploy window：Friday。"),
        ("closed", "during the regatta", "Custard Steps", "Custard Steps: closed during the regatta.", "Custard Steps：closed during the regatta。"),
        ("council tax band", "D", "4 Custard Steps", "4 Custard Steps, council tax band: D.", "4 Custard Steps，council tax band：D。"),
        ("boxes", "lends 40 for free", "Pellow", "Pellow, boxes: lends 40 for free.", "Pellow，boxes：lends 40 for free。"),
        ("steep", "very", "Custard Steps", "Custard Steps, steep: very.", "Custard Steps，steep：very。"),
        ("test runner", "pytest 9", "tidewatch", "Tidewatch’s test runner is pytest 9.", "tidewatch 的测试框架是 pytest 9。"),
        ("decisions", "no Friday deploys", "team harbour", "Team harbour, decided: no Friday deploys.", "team harbour，决定：no Friday deploys。"),
        ("物业费", "每月每平2.1元", "荷叶里", "荷叶里, 物业费: 每月每平2.1元.", "荷叶里的物业费：每月每平2.1元。"),
        ("幼儿园", "在北门", "荷叶里", "荷叶里, 幼儿园: 在北门.", "荷叶里的幼儿园：在北门。"),
        ("有电梯", "是", "荷叶里", "荷叶里: 有电梯.", "荷叶里有电梯。"),
        ("用户数", "214", "豆芽", "豆芽, 用户数: 214.", "豆芽的用户数：214。"),
        ("毕业于", "浙江大学", "小林", "小林: 毕业于浙江大学.", "小林毕业于浙江大学。"),
        ("常去的咖啡馆", "蓝门", "user", "Your 常去的咖啡馆: 蓝门.", "你常去的咖啡馆是蓝门。"),
        ("宽带", "西子宽带69元", "user", "Your 宽带: 西子宽带69元.", "你的宽带：西子宽带69元。"),
        ("不吃", "香菜", "user", "You: 不吃香菜.", "你不吃香菜。"),
        ("城市", "南京", "叔叔", "Your 叔叔 lives in 南京.", "你叔叔住在南京。"),
    ],
)  # fmt: skip
def test_a_fact_is_a_sentence(predicate: str, value: str, subject: str, english: str, chinese: str) -> None:
    one = fact(predicate, value, subject)
    assert (sentence(one, EN), sentence(one, ZH)) == (english, chinese)


def test_a_day_within_a_value_is_told_in_words() -> None:
    met = fact("appointment", "2026-11-29 visit between 10 and 12")
    assert sentence(met, EN) == "An appointment: 29 November 2026 visit between 10 and 12."
    assert sentence(fact("appointment", "2026-11-29 复诊"), ZH).endswith("2026年11月29日复诊。")
    assert "（2026年12月）" in sentence(fact("plans", "下个月（2026-12）要搬去杭州"), ZH)
    assert "29 November 2026." in sentence(fact("plans", "to move. the keys come on 2026-11-29."), EN)
    for kept in ("backup-2026-11-29", "notes/2026-11-29/x", "2026-11-29.md", "OpenSSL 2026-11"):
        assert kept in sentence(fact("tool", kept), EN)


def test_what_is_over_is_told_in_the_past() -> None:
    assert (
        sentence(fact("city", "Paris", until="2026-03-14"), EN) == "You lived in Paris until 14 March 2026."
    )
    assert sentence(fact("city", "Paris", until="2026-03"), EN) == "You lived in Paris until March 2026."
    assert sentence(fact("hobbies", "chess", until="2026-03"), EN) == (
        "Until March 2026, one of your hobbies: chess."
    )
    assert sentence(fact("closed", "in August", "the bridge", until="2026-03"), EN) == (
        "Bridge: closed in August (until March 2026)."
    )
    assert sentence(fact("reports to", "Bob", until="2026-03"), EN) == "You report to Bob (until March 2026)."
    assert (
        sentence(fact("物业费", "2元", "荷叶里", until="2026-03"), ZH)
        == "荷叶里的物业费：2元（2026年3月以前）。"
    )
    assert sentence(fact("city", "巴黎", until="2026-03-14"), ZH) == "2026年3月14日以前，你住在巴黎。"


def test_words_to_somebody_are_quoted() -> None:
    assert sentence(fact("", "I want you to be brief"), EN) == "You said: “I want you to be brief”."


def test_words_of_others_are_not_the_owners() -> None:
    assert sentence(fact("", "Ann moved to Turin", origin="web"), EN) == "Ann moved to Turin."


@pytest.mark.parametrize("subject", ["user", "project", "agent", "my wife", "Ann", "team harbour", "猫"])
def test_every_predicate_has_a_sentence(subject: str) -> None:
    for predicate, until, (words, end) in product(
        ["", *predicates()], ["", "2026-03-14"], [(EN, "."), (ZH, "。")]
    ):
        text = sentence(fact(predicate, "mornings", subject, until=until), words)
        assert "mornings" in text.lower()
        assert text.endswith((end, "”."))
        assert not set("{}<>|") & set(text)


@given(
    st.text(max_size=40), st.text(max_size=40), st.text(max_size=200), st.sampled_from(TYPES),
    st.sampled_from(ORIGINS), st.sampled_from(["", "2026-03", "x", "2026-99-99"]),
)  # fmt: skip
def test_no_text_breaks_a_sentence(  # noqa: PLR0917 - as Hypothesis gives them
    subject: str, predicate: str, value: str, kind: str, origin: str, until: str
) -> None:
    one = fact(predicate, value, subject, type=kind, origin=origin, until=until)
    for words in (EN, ZH):
        assert sentence(one, words)
        assert "\n" not in sentence(one, words)
    assert topic(one) in TOPICS


@pytest.mark.parametrize(
    ("predicate", "subject", "kind", "heading"),
    [
        ("city", "user", "fact", "Home and places"), ("name", "user", "fact", "About you"),
        ("birthday", "Ann", "fact", "People"), ("editor", "user", "fact", "Projects and tools"),
        ("", "user", "rule", "Rules for the agent"), ("name", "agent", "fact", "Rules for the agent"),
        ("allergies", "user", "fact", "Health"), ("likes", "user", "fact", "Tastes"),
        ("deploy window", "team harbour", "fact", "Projects and tools"),
        ("shoe size", "user", "fact", "Other"),
    ],
)  # fmt: skip
def test_a_fact_stands_under_a_heading(predicate: str, subject: str, kind: str, heading: str) -> None:
    assert topic(fact(predicate, "x", subject, type=kind)) == heading
