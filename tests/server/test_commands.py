"""`mnemark db`, as an operator types it."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from mnemark import Memory
from mnemark_server.database import connect, connect_each
from server.command import mnemark
from server.postgres import Postgres


def db(url: str, *arguments: str) -> CompletedProcess[str]:
    return mnemark("db", *arguments, environment={**os.environ, "MNEMARK_DATABASE": url})


def test_a_memory_is_made_used_up_and_deleted(postgres: Postgres) -> None:
    url = postgres.database("mnemark_commands")

    def done(*arguments: str) -> Any:
        ran = db(url, *arguments, "--json")
        assert (ran.returncode, ran.stderr) == (0, ""), arguments
        return json.loads(ran.stdout)

    assert db(url, "tenants").stderr.endswith("run `mnemark db migrate`\n")
    lacking = db(url, "status", "--json")
    assert lacking.returncode == 8
    assert json.loads(lacking.stdout)["missing"][0].startswith("1 ")
    assert lacking.stderr.endswith("run `mnemark db migrate`\n")
    applied = done("migrate")["applied"]
    assert applied[0].startswith("1 ")
    assert done("migrate") == {"applied": []}
    assert done("status") == {"missing": [], "memories": 0}
    assert done("tenants", "create", "ann") == {"name": "ann", "done": "create"}
    assert [one["name"] for one in done("tenants")["memories"]] == ["ann"]
    key = done("keys", "ann", "add", "laptop")["key"]
    reading = db(url, "keys", "ann", "add", "reader", "--read", "--days", "7").stdout.strip()
    assert key.startswith("mnk_")
    assert reading.startswith("mnk_")
    listed = done("keys", "ann")["keys"]
    assert [(one["name"], one["scopes"]) for one in listed] == [
        ("laptop", ["read", "write"]),
        ("reader", ["read"]),
    ]
    assert key not in str(listed)
    assert "until" in db(url, "keys", "ann").stdout
    done("keys", "ann", "revoke", "laptop")
    assert [one["name"] for one in done("keys", "ann")["keys"]] == ["reader"]
    for action, state in (("suspend", "suspended"), ("resume", "active")):
        done("tenants", action, "ann")
        assert [one["state"] for one in done("tenants")["memories"]] == [state]
    assert done("limits", "ann", "calls_per_day=50")["limits"]["calls_per_day"] == 50
    assert done("limits", "ann", "calls_per_day=")["limits"]["calls_per_day"] is None
    issuer = ("--issuer", "https://id.example.org")
    assert done("people", "ann", "add", "8f3c", *issuer)["people"] == [
        {"issuer": "https://id.example.org", "subject": "8f3c"}
    ]
    assert done("people", "ann", "remove", "8f3c", *issuer) == {"people": []}
    assert done("scrub") == {"busy": []}
    refused = db(url, "tenants", "delete", "ann")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert done("tenants", "delete", "ann", "--yes")["name"] == "ann"
    assert done("tenants") == {"memories": []}
    with connect(url) as connection:
        assert len(connection.execute("SELECT FROM mnemark.receipts").fetchall()) == 1
        connection.execute("INSERT INTO mnemark.migrations (number, name) VALUES (9999, 'later')")
    newer = db(url, "status")
    assert (newer.returncode, "install that version" in newer.stderr) == (6, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("tenants", "create", "Ann Lee"), 2),
        (("tenants", "create", "ann"), 2),  # there is one
        (("tenants", "delete", "nobody", "--yes"), 3),
        (("tenants", "create"), 2),
        (("keys", "nobody"), 3),
        (("keys", "ann", "revoke", "nothing"), 3),
        (("keys", "ann", "nonsense", "x"), 2),
        (("limits", "ann", "nothing=3"), 2),
        (("limits", "ann", "calls_per_day=many"), 2),
        (("limits", "nobody"), 3),
        (("people", "ann", "add", "8f3c"), 2),  # of which issuer?
        (("people", "ann", "remove", "8f3c", "--issuer", "https://id.example.org"), 3),
        (("people", "ann", "add", "8f3c", "--issuer", "id.example.org"), 2),  # no token would name it so
        (("tenants", "import", "carl", "."), 3),  # no memory
        (("nonsense",), 2),
    ],
)
def test_what_is_wrong_is_told_in_a_line(url: str, arguments: tuple[str, ...], code: int) -> None:
    ran = db(url, *arguments)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert "Traceback" not in ran.stderr
    assert len(ran.stderr.splitlines()) <= 4


def test_without_a_database_it_says_so_and_no_password(postgres: Postgres) -> None:
    assert "--database" in db("", "status").stderr
    gone = db("postgresql://ann:pass%40word@127.0.0.1:1/nothing", "status")
    assert gone.returncode == 5
    assert "pass" not in gone.stderr
    assert "Traceback" not in gone.stderr
    nothing = db(f"{postgres.url}_nothing", "status")
    assert nothing.returncode == 5
    assert "check user, password and name in its address" in nothing.stderr


def test_a_memory_without_keys_says_how_to_make_one(url: str) -> None:
    assert "mnemark db keys ann add" in db(url, "keys", "ann").stdout


def test_turns_alone_are_a_memory_that_goes_out_and_in_again(url: str, tmp_path: Path) -> None:
    source = tmp_path / "source/sessions"
    source.mkdir(parents=True)
    with Memory.open(source.parent) as memory:
        memory.session("chat:1").add("user", "I moved to Lisbon.")
    shutil.rmtree(source.parent / ".mnemark")
    shutil.rmtree(source.parent / "journal", ignore_errors=True)
    assert db(url, "tenants", "import", "ann", str(source.parent)).returncode == 0
    assert db(url, "tenants", "export", "ann", str(tmp_path / "out")).returncode == 0
    assert [one.name for one in (tmp_path / "out").iterdir() if one.name != ".mnemark"] == ["sessions"]
    again = db(url, "tenants", "import", "carl", str(tmp_path / "out"))
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_hold_every_text_is_refused(postgres: Postgres, encoding: str) -> None:
    with connect_each(postgres.url) as connection:
        connection.execute("DROP DATABASE IF EXISTS mnemark_narrow WITH (FORCE)")
        connection.execute(
            f"CREATE DATABASE mnemark_narrow ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'"
            " TEMPLATE template0".encode()
        )
    ran = db(postgres.url.rpartition("/")[0] + "/mnemark_narrow", "migrate")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"is in {encoding}" in ran.stderr
    assert "--encoding UTF8" in ran.stderr


def serve(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "mnemark", "serve", *arguments], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip


def test_where_a_node_cannot_listen_it_says_so_in_a_line(url: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for place in (("--port", port), ("--port", port, "--host", "no-such-host.invalid")):
            ran = serve("--database", url, "--folder", str(tmp_path / "node"), *place)
            assert (ran.returncode, "--port" in ran.stderr) == (2, True), ran.stderr
            assert len(ran.stderr.splitlines()) == 1


def test_a_daemon_is_not_started_where_a_server_was_meant() -> None:
    ran = serve("--host", "0.0.0.0", "--url", "https://memory.example.org")
    assert ran.returncode == 2
    assert "--host, --url go with --database" in ran.stderr
