"""The language is set in the user's configuration, whose other lines and comments stay as they are."""

import tomllib
from pathlib import Path

import pytest

from mnemark.errors import ConfigError
from mnemark.files import user_config
from mnemark.files.user_settings import set_language


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "new" / "config.toml"
    monkeypatch.setenv(user_config.VARIABLE, str(found))
    return found


@pytest.mark.parametrize(
    "text",
    [
        "", "# mine\n", 'hosts = ["a"]  # why\n', '[llm]\nmodel = "language = 1"\n',
        '# top\nhosts = ["a"]\n\n[llm]\n# inside\nmodel = "m"\n', 'hosts = ["a"]\r\n[llm]\r\nmodel = "m"\r\n',
        'language = "en"  # was\nhosts = []\n', 'hosts = ["a"]',
    ],
)  # fmt: skip
def test_all_else_stays(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_bytes(text.encode())
    before = tomllib.loads(text)
    for language in ("zh", "en", "en", ""):
        set_language(language)
        assert user_config.load().language == language
        after = file.read_bytes().decode()
        assert {**tomllib.loads(after), "language": 0} == {**before, "language": 0}
        kept = [line for line in text.splitlines() if not line.startswith("language")]
        assert [line for line in after.splitlines() if line in kept and line] == [
            line for line in kept if line
        ]
    assert file.stat().st_mode & 0o777 in {0o600, 0o644}


def test_a_wrong_file_is_said_and_left_alone(file: Path) -> None:
    file.parent.mkdir()
    for wrong in ("language = 1\n", "hosts = [\n", 'hosts = """\nlanguage = "x"\n"""\n'):
        file.write_text(wrong, "utf-8")
        with pytest.raises(ConfigError):
            set_language("zh")
        assert file.read_text("utf-8") == wrong


def test_without_a_file_one_is_made(file: Path) -> None:
    set_language("")
    assert not file.exists()
    set_language("zh")
    assert file.read_text("utf-8") == 'language = "zh"\n'
