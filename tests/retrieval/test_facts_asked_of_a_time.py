"""Questions that name a time get the value of that time; others the current one, its predecessors marked."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from mnemark.memory.memory import Memory

NOW: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
HISTORIES: Final = {
    "city": [("Leeds", "2015-03-01"), ("Porto", "2023-05-01"), ("Lyon", "2025-11-10")],
    "job": [("nurse", "2017-01-01"), ("baker", "2021-06-01")],
    "employer": [("Initech", "2019-02-01"), ("Globex", "2024-02-01")],
    "编辑器": [("Vim", "2020-01-01"), ("Helix", "2025-02-01")],
    "spouse": [("Odile", "2016-01-01")],
    "birthday": [("4 May 1988", "2016-01-01")],
    "favorite color": [("green", "2018-01-01"), ("blue", "2022-01-01")],
    "likes": [("coffee", "2019-01-01"), ("sailing", "2019-01-01")],
    "phone": [("555 0101", "2018-01-01"), ("555 0202", "2024-08-01")],
}
ASKED: Final = [
    # a time
    ("where did I live in 2025", "Porto"),
    ("Where did I live in 2020?", "Leeds"),
    ("Where was I living in June 2024?", "Porto"),
    ("which city did I live in last year", "Porto"),
    ("Where did I live before 2020?", "Leeds"),
    ("Where did I live between 2016 and 2019?", "Leeds"),
    ("where have I lived since December 2025", "Lyon"),
    ("what was my job in 2019", "nurse"),
    ("What was my job in May 2022?", "baker"),
    ("what was my job two months ago", "baker"),
    ("Which company did I work for in 2020?", "Initech"),
    ("Where did I work in March 2024?", "Globex"),
    ("What was my phone number in 2020?", "555 0101"),
    ("what was my favourite colour in 2019", "green"),
    ("which editor did I use in 2021", "Vim"),
    ("我2025年住在哪里", "Porto"),
    ("我2024年住在哪里？", "Porto"),
    ("2016年我住在哪个城市？", "Leeds"),
    ("我去年住在哪里", "Porto"),
    ("2019年我的职业是什么？", "nurse"),
    ("我2022年做什么工作？", "baker"),
    ("2020年我用什么编辑器", "Vim"),
    ("2018年我在哪家公司上班？", "Initech"),  # none is known of then: the nearest
    ("我2020年的手机号是多少？", "555 0101"),
    ("2023年8月我住在哪儿", "Porto"),
    # before, after, no longer
    ("where did I live before", "Porto"),
    ("where did I use to work", "Initech"),
    ("what is my former job", "nurse"),
    ("What was my previous phone number?", "555 0101"),
    ("Where did I live before Lyon?", "Porto"),
    ("Where did I live before Porto?", "Leeds"),
    ("我以前住在哪里", "Porto"),
    ("我之前在哪家公司上班？", "Initech"),
    ("我上一份工作是什么？", "nurse"),
    # now
    ("where do I live", "Lyon"),
    ("where do I live now", "Lyon"),
    ("Where am I living these days?", "Lyon"),
    ("where do I live today", "Lyon"),
    ("Where do I live this year?", "Lyon"),
    ("do I still live in Porto", "Lyon"),
    ("Do I still live in Lyon?", "Lyon"),
    ("Do I still work at Initech?", "Globex"),
    ("am I still a nurse", "baker"),
    ("do I still use Vim", "Helix"),
    ("what is my current job", "baker"),
    ("what is my phone number now", "555 0202"),
    ("which editor do I use to write code", "Helix"),
    ("我现在住在哪里", "Lyon"),
    ("我目前的职业是什么？", "baker"),
    ("我现在还住在Porto吗", "Lyon"),
    ("我现在还用Vim吗？", "Helix"),
    ("我还在Initech上班吗", "Globex"),
    ("我今年住在哪里？", "Lyon"),
    ("我现在的手机号是多少", "555 0202"),
    # what does not change with the time named
    ("do I still like coffee", "coffee"),
    ("who was my wife in 2020", "Odile"),
    ("when is my birthday in 2025", "4 May 1988"),
]


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root: Path = tmp_path_factory.mktemp("lived")
    with Memory.open(root) as memory:
        memory.remember_many(
            [
                {"predicate": predicate, "value": value, "since": since}
                for predicate, values in HISTORIES.items()
                for value, since in values
            ]
        )
        talk = memory.session("cli:main")
        talk.add("user", "In 2025 I live between two chairs, and everybody asks where.")
        talk.add("user", "今天我们讨论了2024年住在城市里的鸟。")
        memory.sync()
        yield memory


@pytest.mark.parametrize(("question", "value"), ASKED)
def test_the_value_asked_for_is_first(lived: Memory, question: str, value: str) -> None:
    for found in (lived.search(question, now=NOW), lived.recall(question, now=NOW, deadline=20)):
        first = found.hits[0]
        assert first.meta.get("value") == value, [hit.text for hit in found.hits[:3]]


@pytest.mark.parametrize(("question", "value"), ASKED)
def test_the_block_marks_what_no_longer_holds(lived: Memory, question: str, value: str) -> None:
    block = lived.recall(question, now=NOW, deadline=20).text
    current = {values[-1][0] for values in HISTORIES.values()} | {"coffee"}
    assert value in block
    for line in block.splitlines():
        if not line.startswith("  user "):
            continue
        shown = line.partition(": ")[2].partition(" (")[0]
        assert ("(past: " in line) == (shown not in current), line
        assert shown in current or "; then: " in line, line


def test_what_ended_and_has_no_successor_is_said_to_be_over(tmp_path: Path) -> None:
    path = tmp_path / "memory" / "facts" / "user.md"
    path.parent.mkdir(parents=True)
    path.write_text(
        "# user\n\n- **likes**: oysters <!-- since: 2019-01-01 | until: 2024-06-01 -->\n"
        "- **likes**: tea <!-- since: 2019-01-01 -->\n",
        "utf-8",
    )
    with Memory.open(tmp_path) as memory:
        found = memory.recall("do I still like oysters?", now=NOW, deadline=20)
    assert found.hits[0].text == "user likes: oysters (past: 2019-01-01 until 2024-06-01)"


def test_a_filter_keeps_out_the_value_of_the_time_asked_for(lived: Memory) -> None:
    found = lived.search("where did I live in 2020", now=NOW, since="2022-01-01")
    assert all(hit.meta.get("value") != "Leeds" for hit in found.hits)
