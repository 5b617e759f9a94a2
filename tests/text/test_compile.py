"""Compiling instructions by rule: whole items, rules first, nothing that nobody wrote."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.summary.outline_compile import compiled, complaints
from mnemark.text.markdown.outline import outline, without_comments
from mnemark.text.words.tokens import estimate_tokens

LONG = (
    "When the owner writes Chinese, answer in Chinese; keep technical terms in English, because translations "
    "of those terms confuse the readers of logs, and this rule must hold although it is long enough that a "
    "filter on the length of lines would drop it without anybody noticing for weeks."
)
ENGLISH = f"""# SOUL.md - Who You Are

<!-- yours to edit
- never shown -->
You are Mo, a calm assistant.

## Truths

Skip the "Great question!" and help. Actions speak louder than filler.

1. Never delete a file without asking first.
2. Commit after each step:
   - run the tests
   - then `git commit`
     - with a message that says why
3. {LONG}

## Boundaries

Do:

- read files

Don't:

- send private data anywhere
- run `rm -rf`

## Facts

- **Name:** (your name here)
- **Vibe:** _(pick something you like)_
- **Emoji:**
- TODO: describe the style
- **City:** Berlin

## Examples

- User: hi. Agent: hello.

Example:
```
secret sauce
```
"""
CHINESE = """# 灵魂

<!-- 注释不要出现 -->
你是小墨，一个安静可靠的助手。

## 原则

一、绝不在没有确认的情况下删除用户文件。
二、遇到不确定的事情：
   1. 先查记忆
   2. 再问主人

不要：
- 泄露隐私
- 编造来源

## 关于我
- 名字：（在此填写）
- 待办：
- 城市：杭州

## 示例

- 用户：你好
"""


def test_all_that_says_something_stays_and_the_rest_goes() -> None:
    found = compiled(ENGLISH, 2_000)
    for kept in ("You are Mo", "1. Never delete", "2. Commit", "\n   - run the tests",
                 "\n     - with a message",
                 LONG, "Do:\n- read files", "Don't:\n- send private data", "- run `rm -rf`",
                 "**City:** Berlin"):  # fmt: skip
        assert kept in found.text
    for gone in (
        "never shown",
        "your name here",
        "pick something",
        "Emoji",
        "TODO",
        "hello",
        "secret sauce",
        "SOUL.md",
    ):
        assert gone not in found.text
    assert found.left_out == ()


def test_chinese_numbers_prohibitions_and_placeholders() -> None:
    found = compiled(CHINESE, 2_000)
    for kept in (
        "一、绝不",
        "二、遇到不确定的事情：\n",
        "1. 先查记忆",
        "不要：\n- 泄露隐私\n- 编造来源",
        "城市：杭州",
    ):
        assert kept in found.text
    for gone in ("注释", "在此填写", "待办", "你好", "示例"):
        assert gone not in found.text


def test_rules_go_before_talk_and_what_is_left_out_is_named() -> None:
    found = compiled(ENGLISH, 110)
    assert found.tokens <= 110
    assert "Never delete" in found.text
    assert LONG in found.text
    assert "Actions speak louder" not in found.text
    assert any("Skip the" in words for words in found.left_out)


@pytest.mark.parametrize("budget", [30, 45, 60, 80, 120])
def test_what_is_forbidden_is_never_shown_as_an_order(budget: int) -> None:
    text = compiled(ENGLISH, budget).text
    for item in ("send private data", "run `rm -rf`"):
        assert item not in text or text.index("Don't:") < text.index(item)
    assert not re.search(r"Don't:\s*\Z", text)


@given(st.text(alphabet="ab #-*1.:\n`<>!中。、：不 ", max_size=300), st.integers(1, 120))
def test_any_text_within_any_budget_and_no_word_of_its_own(text: str, budget: int) -> None:
    found = compiled(text, budget)
    assert found.tokens == estimate_tokens(found.text) <= budget
    written = set("".join(item.mark + item.text for item in outline(text)))
    assert set(found.text) <= written | set("# \n")


@given(st.text(alphabet="ab #-*1.:\n中。、：不 ", max_size=300))
def test_compiling_what_fits_changes_nothing_more(text: str) -> None:
    once = compiled(text, 10_000)
    assert once.left_out == ()


def test_comments_in_code_are_code() -> None:
    text = "```html\n<!-- kept -->\n```\na <!-- gone --> b\n<!-- open\nto the end"
    assert without_comments(text) == "```html\n<!-- kept -->\n```\na  b"


def test_a_single_long_rule_is_cut_rather_than_lost() -> None:
    found = compiled(LONG, 20)
    assert found.tokens <= 20
    assert LONG.startswith(found.text)
    assert found.text
    assert found.left_out


SOURCE = "# R\n- Never push to main without a review.\n- Use Python 3.12 in `src/`.\n- 不要删除用户的文件。\n"


def test_a_faithful_answer_has_no_complaints() -> None:
    lines = ["- Never push to main without review", "- Python 3.12 in src/", "- 不要删除用户文件"]
    assert complaints(lines, SOURCE, must=["Never push to main without a review."]) == []


@pytest.mark.parametrize(
    "line",
    ["- Push to main without a review", "- Use Python 3.13 in `src/`", "- 删除用户的文件",
     "- The user loves pizza with cheese", "- Use Python 3.12 in `lib/`"],
)  # fmt: skip
def test_what_is_invented_or_turned_round_is_found(line: str) -> None:
    assert complaints([line], SOURCE)


def test_a_missing_rule_is_found() -> None:
    assert complaints(["- Use Python 3.12 in `src/`"], SOURCE, must=["Never push to main without a review."])


def test_a_line_that_leads_to_code_stays_with_it() -> None:
    text = "## Don't\n\n- Do not run:\n\n```bash\nrm -rf /\n```\n\n- Name:\n"
    shown = compiled(text, 200).text
    assert shown.index("Do not run:") < shown.index("rm -rf /")
    assert "Name:" not in shown
