"""What says nothing by itself, and what only looks like it."""

import pytest

from mnemark.summary.filler import is_bare, is_courtesy


@pytest.mark.parametrize(
    "text",
    [
        "Noted.",
        "ok",
        "OK, thanks!",
        "Got it. Thank you so much.",
        "好的，收到。",
        "谢谢你！",
        "嗯嗯",
        "Hello!\n",
        "I do not know that yet.",
        "Sorry, but I don’t know.",
        "I have no information about that.",
        "抱歉，这个我还不知道。",
        "我不记得了",
    ],
)
def test_greetings_thanks_and_acknowledgements_say_nothing(text: str) -> None:
    assert is_courtesy(text)


@pytest.mark.parametrize(
    "text",
    [
        "Noted: the code is 4711.",
        "okra",
        "hi-fi",
        "Yes.",
        "no",
        "",
        "...",
        "好的办法是备份",
        "thanks to Li Ming",
        "OK 2",
        "I don't know Anna.",
        "I do not know the code, but it has four digits.",
        "不知道你喜欢茶",
        "我不知道密码是什么，去问李明。",
    ],
)
def test_what_says_more_is_kept(text: str) -> None:
    assert not is_courtesy(text)


def test_a_long_run_of_courtesies_takes_no_time() -> None:
    assert is_courtesy("ok " * 50_000)
    assert not is_courtesy("嗯" * 50_000 + "备份")


@pytest.mark.parametrize(
    ("text", "path", "bare"),
    [
        ("# Memory\n", "MEMORY.md", True),
        ("# 2026-11-21\n", "users/ann/memory/2026-11-21.md", True),
        ("# 2026-11-21\n\n<!-- mnemark:begin session-1 | 0a -->\n", "memory/2026-11-21.md", True),
        ("<!-- mnemark:begin core | -->\n<!-- mnemark:end core -->\n", "MEMORY.md", True),
        ("# Memory\n\n<!-- mine -->\n- Likes tea.\n", "MEMORY.md", False),
        ("# Memory\n\n- Likes tea.\n", "MEMORY.md", False),
        ("# Buy milk\n", "Buy milk.md", False),
        ("# Plans\n", "MEMORY.md", False),
    ],
)
def test_comments_and_the_heading_of_a_files_own_name_are_bare(text: str, path: str, *, bare: bool) -> None:
    assert is_bare(text, path) is bare
