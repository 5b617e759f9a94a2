from contextlib import nullcontext
from pathlib import Path

import pytest

from mnemark import net
from mnemark.errors import ConfigError
from mnemark.files import trust, user_config
from mnemark.files.config import load, load_reported
from mnemark.files.hosts import OPENAI, check_host
from mnemark.files.user_config import LLMConfig


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "own" / "config.toml"
    place.parent.mkdir()
    monkeypatch.setenv("MNEMARK_CONFIG", str(place))
    return place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    trust.trust(folder)
    return folder


def test_the_users_model_is_for_all_workspaces_that_name_none(own: Path, root: Path) -> None:
    assert load(root).llm == LLMConfig()
    own.write_text('[llm]\ncommand = "claude-code"\ncalls_per_day = 9\ntokens_per_day = 9000\n')
    assert load(root).llm == LLMConfig(command="claude-code", calls_per_day=9, tokens_per_day=9000)
    assert load(root).llm.active
    (root / "mnemark.toml").write_text("[llm]\ncalls_per_day = 0\n")
    assert not load(root).llm.active
    (root / "mnemark.toml").write_text('[llm]\nmodel = "qwen3"\nurl = "http://localhost:1/v1"\n')
    assert load(root).llm == LLMConfig(model="qwen3", url="http://localhost:1/v1")


@pytest.mark.parametrize("name", ["mnemark.toml", "config.json"])
def test_a_folder_never_starts_a_program(own: Path, root: Path, name: str) -> None:
    texts = {
        "mnemark.toml": '[llm]\ncommand = ["sh", "-c", "x"]\ncalls_per_day = 9\ntokens_per_day = 9000\n',
        "config.json": '{"memory": {"llm": {"command": ["sh"], "callsPerDay": 9, "tokensPerDay": 9000}}}',
    }
    (root / name).write_text(texts[name])
    found = load_reported(root)
    assert found.config.llm == LLMConfig()
    assert [one.path for one in found.problems] == ["mnemark.toml"]
    assert f"put the table into your own {own}" in found.problems[0].reason
    own.write_text('[llm]\nmodel = "mine"\n')
    assert load(root).llm == LLMConfig(model="mine")


def test_a_command_is_a_name_or_a_list(own: Path, root: Path) -> None:
    own.write_text('[llm]\ncommand = ["my-model", "--quiet"]\nenv = ["MY_KEY"]\n')
    assert load(root).llm == LLMConfig(command=("my-model", "--quiet"), env=("MY_KEY",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[llm]\ncommand = 3\n", "command"),
        ("[llm]\ncomand = 'x'\n", "comand"),
        ("host = 'x'\n", "it may have language, hosts"),
        ("[llm\n", "cannot be read"),
    ],
)
def test_what_is_wrong_is_told(own: Path, root: Path, text: str, words: str) -> None:
    own.write_text(text)
    with pytest.raises(ConfigError, match=words):
        load(root)


def test_it_can_name_hosts(own: Path) -> None:
    own.write_text('hosts = ["LLM.example"]\n')
    check_host("https://llm.example/v1", "it")
    with pytest.raises(ConfigError, match=r'\["llm.example", "other.example"\] into your own .*config\.toml'):
        check_host("https://other.example/v1", "it")


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ('[embedder]\nmodel = "bundled"\n', False),
        ('[embedder]\nmodel = "api:text-embedding-3-small"\n', True),
        ('[embedder]\nkey_env = "OPENAI_API_KEY"\n', True),
        ('[embedder]\nurl = "http://localhost:1/v1"\nkey_env = "K"\n', False),
        ("[llm]\ncalls_per_day = 0\n", False),
        ('[llm]\nmodel = "host"\n', False),
        ('[llm]\ncommand = "codex"\nmodel = "x"\n', False),
        ('[llm]\nmodel = "gpt-5-mini"\nkey_env = "K"\n', True),
    ],
)
def test_a_table_names_openai_only_where_it_asks_it(own: Path, table: str, *, named: bool) -> None:
    own.write_text(table)
    with nullcontext() if named else pytest.raises(ConfigError):
        check_host("", "it")
        check_host(OPENAI, "it")


def test_models_without_a_url_are_asked_at_the_host_that_is_checked() -> None:
    assert net.OPENAI == OPENAI


def test_what_a_folder_says_of_the_users_embedder(own: Path, root: Path) -> None:
    own.write_text(f'[embedder]\nmodel = "api:m"\nurl = "{OPENAI}/"\nkey_env = "MINE"\n')
    for text, url, key in [
        ("", f"{OPENAI}/", "MINE"),
        (f'embedder_url = "{OPENAI}"\nembedder_key_env = "MINE"\n', OPENAI, "MINE"),
        ('embedder_key_env = ""\n', f"{OPENAI}/", ""),
        ('embedder_key_env = "HOME"\n', f"{OPENAI}/", "MINE"),
        ('embedder_url = "https://api.openai.com/v2"\n', "https://api.openai.com/v2", ""),
        ('embedder_url = "http://api.openai.com/v1"\n', "http://api.openai.com/v1", ""),
    ]:
        (root / "mnemark.toml").write_text(text)
        found = load(root)
        assert (found.embedder, found.embedder_url, found.embedder_key_env) == ("api:m", url, key)
        with nullcontext() if key or "key_env" in text else pytest.raises(ConfigError):
            check_host(url, "it")


def test_a_folders_model_has_the_users_key_and_no_larger_budget(own: Path, root: Path) -> None:
    own.write_text(
        '[llm]\nmodel = "m"\nurl = "https://a.example"\nkey_env = "K"\ncalls_per_day = 5\ntokens_per_day = 50'
    )
    (root / "mnemark.toml").write_text(
        '[llm]\nmodel = "n"\ncalls_per_day = 9\ntokens_per_day = 9\nenv = ["X"]\n'
    )
    assert load(root).llm == LLMConfig(
        model="n", url="https://a.example", key_env="K", calls_per_day=5, tokens_per_day=9
    )
    assert ["llm.env" in one.reason for one in load_reported(root).problems] == [True]


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MNEMARK_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert user_config.path() == tmp_path / "mnemark" / "config.toml"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("APPDATA", str(tmp_path / "Roaming"))
    assert user_config.path() == tmp_path / "Roaming" / "mnemark" / "config.toml"
