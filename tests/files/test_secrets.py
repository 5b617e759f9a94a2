import stat
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mnemark.errors import IntegrityError
from mnemark.files.secrets import read_env_file, rules_for, salt, secret_values
from mnemark.text.redaction.redact import redact


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "tiger-lily-9"),
        ("API_TOKEN", "a1b2c3d4e5f6"),
        ("SERVICE_SECRET", "CorrectHorseBattery"),
        ("DEPLOY_KEY", "k9-k9-k9-k9"),
        ("DB_PASSWORD", "$ecret&12345"),
        ("DB_PASSWORD", "(hunter2[x9k"),
    ],
)
def test_values_of_secret_names_count(name: str, value: str) -> None:
    assert value in secret_values({name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EDITOR", "a1b2c3d4e5f6"),
        ("PWD", "/home/ann/projects1"),
        ("OLDPWD", "C:\\Users\\ann1234"),
        ("DB_PASSWORD", "short1"),
        ("DB_PASSWORD", "sunflower"),
        ("DB_PASSWORD", "20260213"),
        ("DB_PASSWORD", "changeme"),
        ("SECRET_KEY", "/run/secrets/key"),
        ("TOKEN", "https://example.net/token"),
        ("API_KEY_FILE", "secret-key-1.txt"),
        ("MAX_TOKENS", "123456789012"),
    ],
)
def test_words_paths_and_other_variables_do_not(name: str, value: str) -> None:
    assert secret_values({name: value}) == set()


def test_passwords_in_urls_and_other_spellings_count() -> None:
    assert "p4ss-w0rd" in secret_values({"DATABASE": "postgres://app:p4ss-w0rd@db/app"})
    assert "p4ss#w0rd/x" in secret_values({"DATABASE": "postgres://app:p4ss#w0rd/x@db/app"})
    assert secret_values({"DATABASE": "postgres://db:5432/app?mail=ann1@example.net"}) == set()
    assert {'a"b/c 12', 'a\\"b/c 12', "a%22b%2Fc%2012"} <= secret_values({"PASSWORD": 'a"b/c 12'})


def test_env_files_are_read_as_shells_do(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("# note\nexport A_TOKEN='one two'\nB=three # note\nC=\"x#y\"\nnonsense\n", "utf-8")
    assert read_env_file(path) == {"A_TOKEN": "one two", "B": "three", "C": "x#y"}
    assert read_env_file(tmp_path / "absent") == {}


def test_a_mark_behind_a_backslash_closes_where_no_other_does(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text('A="C:\\\\logs\\"\nB="one \\" two" # x\nC="open\nD=""\n', "utf-8")
    assert read_env_file(path) == {"A": "C:\\\\logs\\", "B": 'one \\" two', "C": '"open', "D": ""}


@pytest.mark.timed
def test_an_env_file_made_to_be_slow_is_not(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text('A="' + "\\a" * 5_000 + "\n", "utf-8")
    begin = time.process_time()
    assert read_env_file(path) == {"A": '"' + "\\a" * 5_000}
    assert time.process_time() - begin < 1, "seconds; each two characters doubled it"


def test_rules_for_a_workspace_know_its_secrets(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DB_PASSWORD=tiger-lily-9\n", "utf-8")
    rules = rules_for(tmp_path, patterns=["EMP-[0-9]+"], env={"API_TOKEN": "fern-green-77"})
    clean = redact("tiger-lily-9, fern-green-77 and EMP-12", rules).text
    assert "tiger" not in clean
    assert "fern" not in clean
    assert "EMP" not in clean
    assert "00000000" not in clean
    again = rules_for(tmp_path, patterns=["EMP-[0-9]+"], env={"API_TOKEN": "fern-green-77"})
    assert redact("tiger-lily-9, fern-green-77 and EMP-12", again).text == clean


def test_the_salt_is_made_once_and_for_the_owner_only(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        salts = set(pool.map(lambda _: salt(tmp_path), range(32)))
    assert len(salts) == 1
    files = sorted(path.name for path in (tmp_path / ".mnemark").iterdir())
    assert files == [".gitignore", "salt"]
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / ".mnemark" / "salt").stat().st_mode) == 0o600


def test_a_damaged_salt_is_told(tmp_path: Path) -> None:
    salt(tmp_path)
    (tmp_path / ".mnemark" / "salt").write_bytes(b"short")
    with pytest.raises(IntegrityError, match="delete it"):
        salt(tmp_path)
