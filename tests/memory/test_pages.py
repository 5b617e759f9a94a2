"""Pages that a person opens: by topic, in the person's language, and what people did stays."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.extraction.candidate import TOPICS
from mnemark.facts.keys import predicate_key
from mnemark.facts.labels import label, labels
from mnemark.facts.parse import parse
from mnemark.present.facts import sentence
from mnemark.present.words import Words

NOW = datetime.now().astimezone() + timedelta(hours=1)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, config={"embedder": "none", "timezone": "Asia/Shanghai"}) as found:
        yield found


def user(memory: Memory) -> str:
    return (memory.root / "USER.md").read_text("utf-8")


def test_core_memory_is_by_topic_in_the_persons_language(memory: Memory) -> None:
    memory.remember("city", "杭州", since="2026-01-02")
    memory.remember("editor", "Zed")
    memory.remember("", "我有两只猫。", tags=["pets"])
    memory.remember("job", "退休老师", subject="妈妈")
    memory.remember("rules", "回复要简短", type="rule")
    memory.consolidate(now=NOW)
    lines = [line for line in user(memory).splitlines() if "mnemark:" not in line]
    assert lines == [
        "# 用户", "", "## 宠物", "- 我有两只猫。", "", "## 住处", "- 城市：杭州", "",
        "## 工具", "- 编辑器：Zed", "", "[全部事实与来源](memory/facts/user.md)",
    ]  # fmt: skip
    core = (memory.root / "MEMORY.md").read_text("utf-8")
    assert "## 规则\n- 回复要简短\n" in core
    assert "## 家人和朋友\n- 妈妈的职业：退休老师\n" in core
    memory.remember("city", "上海", since="2026-06-01")
    assert "杭州" not in user(memory)
    assert "- 城市：上海（2026-06-01 起）\n" in user(memory)  # at once
    memory.consolidate(now=NOW)
    assert "- 城市：上海（2026-06-01 起）\n" in user(memory)
    fact = next(fact for fact in memory.facts() if fact.value == "上海")
    row = user(memory).splitlines().index("- 城市：上海（2026-06-01 起）") + 1
    assert memory.why(f"USER.md#L{row}").id == fact.id
    memory.forget(id=fact.id)
    assert "上海" not in memory.context()


@pytest.mark.parametrize(("short", "whole"), [("妈", "妈妈"), ("爸", "爸爸"), ("姐", "姐姐")])
def test_a_subject_of_one_character_makes_no_curse(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, short: str, whole: str
) -> None:
    fact = memory.remember("city", "昆明", subject=short)
    with monkeypatch.context() as earlier:  # a version that wrote 妈的
        earlier.setattr("mnemark.facts.write.subject_label", lambda name, **_: name)
        memory.consolidate(now=NOW)
    path = memory.root / "MEMORY.md"
    row = path.read_text("utf-8").splitlines().index(f"- {short}的城市：昆明") + 1
    assert memory.why(f"MEMORY.md#L{row}").id == fact.id, "still known as a line of the fact"
    memory.remember("pets", "一只猫", subject=short)
    memory.consolidate(now=NOW)
    core = path.read_text("utf-8")
    assert f"- {whole}的城市：昆明\n" in core
    assert f"- {short}的" not in core + memory.context()
    assert sentence(fact, Words("zh")) == f"你{whole}住在昆明。"
    memory.correct(fact.id, "大理")
    core = path.read_text("utf-8")
    assert f"- {whole}的城市：大理" in core, "at once"
    assert "昆明" not in core
    assert f"- {short}的" not in core


def test_an_english_person_sees_english_whatever_the_file_says(memory: Memory) -> None:
    (memory.root / "memory/facts").mkdir(parents=True)
    (memory.root / "memory/facts/user.md").write_text("# Me\n\n- 城市：Hamburg\n", "utf-8")
    memory.remember("hobbies", "sailing")
    memory.remember("job", "carpenter")
    for session in ("a", "b"):
        talk = memory.session(session)
        talk.add("user", "I live in Hamburg.")
        memory.remember("city", "Hamburg", source=f"{talk.path}#L2")
    memory.consolidate(now=NOW)
    assert "## Home\n- city: Hamburg\n" in user(memory)
    assert "- 城市：Hamburg" in (memory.root / "memory/facts/user.md").read_text("utf-8")


def test_the_newest_is_first_and_an_entry_taken_out_stays_out_in_each_language(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("city", "Bonn")
    memory.remember("hobbies", "sailing", since="2026-01-02")
    memory.remember("hobbies", "chess", since="2026-03-02")
    memory.consolidate(now=NOW)
    assert "## Leisure\n- hobbies: chess\n- hobbies: sailing\n" in user(memory)
    path = memory.root / "USER.md"
    path.write_text(user(memory).replace("- hobbies: chess\n", ""), "utf-8")
    for value in ("羽毛球", "骑车", "爬山"):
        memory.remember("hobbies", value)
    memory.consolidate(now=NOW)
    assert "- hobbies: sailing\n" in user(memory)  # what is said later turns no page of somebody's around
    (tmp_path / "config.toml").write_text('language = "zh"\n', "utf-8")
    monkeypatch.setenv("MNEMARK_CONFIG", str(tmp_path / "config.toml"))
    memory.consolidate(now=NOW)
    assert "- 爱好：sailing\n" in user(memory)
    assert "chess" not in user(memory)


def test_a_bullet_shows_the_predicate_in_the_language_of_its_file_and_keeps_its_key(memory: Memory) -> None:
    memory.remember("hobbies", "摄影", priority="long")
    path = memory.root / "memory/facts/user.md"
    line = path.read_text("utf-8").splitlines()[-1]
    assert line.startswith("- **爱好**: 摄影 <!-- id: ")
    assert "| key: hobbies |" in line
    assert "type:" not in line
    assert "recorded:" not in line
    assert [fact.predicate for fact in memory.facts()] == ["hobbies"]
    path.write_text(path.read_text("utf-8").replace("爱好", "工作"), "utf-8")
    assert [fact.predicate for fact in memory.facts()] == ["工作"]  # a person changed it


def test_a_bullet_of_before_reads_as_before() -> None:
    line = (
        "- **爱好**: 摄影 <!-- id: 01M81P8C8TGJEYZPYN908QNBS7 | type: fact | priority: long | "
        "since: 2025-01-16 | recorded: 2026-11-22T13:13:47+00:00 | origin: owner -->\n"
    )
    (fact,) = parse(line)
    assert (fact.predicate, predicate_key(fact.predicate), fact.meta["priority"]) == (
        "爱好",
        "hobbies",
        "long",
    )


def test_each_label_is_a_name_of_its_key() -> None:
    for key in ("city", "job", "hobbies", "favorite food", "marital status", "instruments", "errors"):
        chinese = label(key, chinese=True)
        assert chinese != key
        assert label(key, chinese=False) == key
        assert labels(key) == (key, chinese)
    assert label("lives in", chinese=False) == "lives in"
    assert predicate_key("爱好") == predicate_key("hobbies")
    assert label("no such thing", chinese=True) == "no such thing"


def test_every_topic_has_a_heading() -> None:
    from mnemark.facts.predicates import predicates
    from mnemark.memory.curation.topics import _HEADINGS

    assert set(TOPICS) <= set(_HEADINGS)
    assert {row.topic for row in predicates().values()} <= {"", *TOPICS}


def test_a_number_alone_does_not_tell_the_language(memory: Memory) -> None:
    memory.remember("height", "189")
    memory.remember("", "我每周跑三次步", importance=0.3, source="sessions/a.jsonl#L2")
    memory.consolidate(now=NOW)
    assert "- 身高：189\n" in user(memory)
