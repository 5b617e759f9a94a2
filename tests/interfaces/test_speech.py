"""The command line speaks the language of whoever reads it."""

import re
from pathlib import Path

import pytest

from interfaces import spoken
from interfaces.conftest import Shell
from mnemark.files import user_config
from mnemark.present.words import catalogue, part, preferred
from mnemark_interfaces.app import COMMANDS, GROUPS
from mnemark_interfaces.speech import taken

ENGLISH = re.compile(
    r"\b(?:the|of|is|was|are|with|from|you|your|learned|remembered|nothing)\b", re.IGNORECASE
)


@pytest.fixture
def notes(shell: Shell) -> Shell:
    shell("init")
    shell("remember", "city", "Lisbon")
    shell("remember", "城市", "波尔图")
    shell("remember", "editor", "Vim", "--origin", "web")
    shell("add", "我喜欢喝茶。", "--session", "chat:1")
    return shell


def test_every_text_has_a_translation() -> None:
    assert sorted(spoken.texts() - set(catalogue("commands"))) == []


def test_a_translation_has_the_places_of_its_text() -> None:
    places = re.compile(r"\{(\w+)\}")
    own = part("commands")
    assert [en for en, zh in own.items() if set(places.findall(en)) != set(places.findall(zh))] == []


@pytest.mark.parametrize(
    "command",
    [
        ["facts"], ["facts", "--history"], ["facts", "nobody"], ["review"], ["review", "show"], ["learn"],
        ["review", "learned"], ["log"], ["sessions"], ["sessions", "end", "chat:1"], ["status"],
        ["consolidate"], ["consolidate", "--dry-run"], ["search", "波尔图"], ["undo"], ["search", "zebra"],
        ["remember", "city", "法鲁"], ["remember", "city", "法鲁", "--dry-run"],
        ["remember", "editor", "Emacs", "--origin", "web"], ["forget", "--query", "茶"],
        ["review", "accept", "x"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_a_command_prints_is_chinese_with_lang_zh(notes: Shell, command: list[str]) -> None:
    ran = notes(*command, "--lang", "zh")
    said = [
        line for line in (ran.out + ran.err).splitlines() if not line.lstrip().startswith(("+", "-", "@@"))
    ]
    assert re.search(r"[\u4e00-\u9fff]", "".join(said))
    plain = [re.sub(r"`[^`]*`|“[^”]*”|\S*[/._:]\S*|--\S+", "", line) for line in said]
    assert [line for line in plain if ENGLISH.search(line)] == []


def test_the_option_stands_before_or_behind_the_command(notes: Shell) -> None:
    before, behind = notes("--lang", "zh", "facts"), notes("facts", "--lang=zh")
    assert before.out == behind.out
    assert "你住在波尔图。" in before.out
    assert "You live in 波尔图." in notes("facts", "--lang", "en").out


def test_there_is_no_other_language(notes: Shell) -> None:
    ran = notes("facts", "--lang", "fr")
    assert (ran.code, ran.out) == (2, "")
    assert "--lang takes en or zh" in ran.err
    assert notes("facts", "--lang").code == 2


def test_words_behind_two_dashes_are_no_option() -> None:
    assert taken(["search", "--", "--lang", "zh"]) == (["search", "--", "--lang", "zh"], "")
    assert taken(["hook", "prompt", "--lang", "zh"]) == (["hook", "prompt", "--lang", "zh"], "")


def test_the_setting_wins_over_the_locale_and_the_option_over_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(user_config.VARIABLE, str(tmp_path / "config.toml"))
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert preferred() == "zh"
    assert preferred(accepted="en-GB") == "en"
    (tmp_path / "config.toml").write_text('language = "en"\n')
    assert [preferred(), preferred("zh"), preferred(accepted="zh")] == ["en", "zh", "en"]
    (tmp_path / "config.toml").write_text("language = [broken\n")
    assert preferred() == "zh"


def test_json_is_the_same_in_all_languages(notes: Shell) -> None:
    for command in (["facts", "--json"], ["review", "--json"], ["sessions", "--json"]):
        assert notes(*command).out == notes(*command, "--lang", "zh").out


def test_help_shows_all_commands_in_five_groups(shell: Shell) -> None:
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS)
    told = shell("--help").out
    assert [line[:-1] for line in told.splitlines() if line[:-1] in GROUPS] == list(GROUPS)
    assert all(f"\n  {name} " in told for name in COMMANDS)
    assert "记住和查找" in shell("--help", "--lang", "zh").out
