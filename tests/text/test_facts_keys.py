import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.extraction import chinese, chinese_practice
from mnemark.extraction.practice_words import ROLES, ROLES_ZH
from mnemark.facts.keys import holds_many, predicate_key, singular, subject_key, value_key
from mnemark.facts.labels import is_chinese, label


@pytest.mark.parametrize(
    "words",
    [
        ("name", "Name", "my name", "full name", "名字", "姓名", "我的名字", "**name**", "NAME:"),
        ("city", "lives in", "住在", "居住地", "lives_in", "livesIn", "現居地", "current city", "我住在"),
        ("email", "e-mail", "邮箱", "Email Address", "电子邮箱", "emails"),
        ("python version", "Python 版本", "version of Python", "pythonVersion", "python"),
        ("editor", "编辑器", "preferred editor", "Editors", "IDE"),
        ("timezone", "time zone", "时区", "time-zone"),
        ("language", "语言", "preferred language"),
        ("likes", "like", "喜欢", "我喜欢", "loves"),
        ("members", "member", "成员", "团队成员"),
        ("test server", "Test Server", "测试服务器", "测试环境服务器"),
        ("production server", "生产服务器", "线上服务器"),
        ("release command", "发布命令"),
        ("rust version", "Rust版本", "version of Rust"),
        ("deploy target", "Deploy Targets", "deploy_target", "the deploy target"),
    ],
)
def test_one_key_for_what_means_the_same(words: tuple[str, ...]) -> None:
    assert {predicate_key(word) for word in words} == {words[0]}


def test_keys_that_must_stay_apart() -> None:
    words = ["city", "country", "email", "phone", "python version", "node version", "language", "languages",
             "likes", "dislikes", "editor", "favorite color", "hometown", "c", "c++", "c#",
             "work city"]  # fmt: skip
    assert len({predicate_key(word) for word in words}) == len(words)


def test_what_is_read_in_chinese_has_a_chinese_name_with_the_same_key() -> None:
    read = {
        *ROLES,
        *ROLES_ZH,
        *chinese_practice._JOBS.values(),
        *chinese._SERVERS.values(),
        "postgres version",
    }
    shown = {key: label(key, chinese=True) for key in sorted(read)}
    assert [key for key, name in shown.items() if not is_chinese(name)] == []
    assert [key for key, name in shown.items() if predicate_key(name) != predicate_key(key)] == []
    assert len(set(shown.values())) == len({predicate_key(key) for key in read})
    assert [key for key, name in shown.items() if holds_many(name) != holds_many(key)] == []


def test_what_holds_several_values() -> None:
    many = [
        "",
        "likes",
        "喜欢",
        "members",
        "团队成员",
        "languages",
        "programming languages",
        "爱好",
        "food allergies",
        "",
    ]
    one = ["city", "language", "编辑器", "python version", "status", "address", "名字"]
    assert [word for word in many if not holds_many(word)] == []
    assert [word for word in one if holds_many(word)] == []


def test_subjects() -> None:
    assert {subject_key(word) for word in ("user", "User", "the user", "me", "我", "用户", "I")} == {"user"}
    assert subject_key("Project") == subject_key("项目") == "project"
    assert subject_key("Ann Lee") == "ann lee"


def test_singular() -> None:
    words = ["cities", "boxes", "classes", "editors", "status", "news", "bus", "gas", "analysis", "versions"]
    assert [singular(word) for word in words] == [
        "city", "box", "class", "editor", "status", "news", "bus", "gas", "analysis", "version",
    ]  # fmt: skip


@given(st.text(max_size=30))
def test_keys_are_stable(text: str) -> None:
    key = predicate_key(text)
    assert predicate_key(key) == key
    assert subject_key(subject_key(text)) == subject_key(text)
    assert value_key(value_key(text)) == value_key(text)
    assert isinstance(holds_many(text), bool)
