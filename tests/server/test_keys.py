"""A key names the memory and what may be done there; nothing else in a request does."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mnemark.errors import MnemarkError, NewerFormatError, UsageError
from mnemark_interfaces.http.calls import CALLS
from mnemark_interfaces.tools import TOOLS
from mnemark_server import grants, migrations, tenants
from mnemark_server.database import Connection, Database, Statement, connect
from mnemark_server.limits import Limits
from mnemark_server.rows import TenantRows
from server.conftest import MakeClient
from server.postgres import Postgres

MARK = "Zanzibar-Quetzal"
"""What only the memory of "ann" has."""


@pytest.fixture
def client(new_client: MakeClient) -> TestClient:
    return new_client()


def ask(client: TestClient, key: str, path: str, **body: Any) -> Any:
    return client.post(path, json=body, headers={"authorization": f"Bearer {key}"})


def mcp(client: TestClient, key: str, method: str, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    accept = "application/json, text/event-stream"
    return client.post("/mcp", json=body, headers={"authorization": f"Bearer {key}", "accept": accept})


def test_without_a_key_nothing_is_answered(client: TestClient, owner: Connection) -> None:
    for headers in (
        {},
        {"authorization": "Bearer x"},
        {"authorization": "Basic x"},
        {"authorization": "Bearer "},
    ):
        answer = client.post("/v1/facts", json={}, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "key")
    assert client.get("/livez").status_code == 200
    assert client.get("/readyz").text == "ready\n"
    key = tenants.add_key(owner, "ann", "laptop")
    assert ask(client, key, "/v1/facts").json() == {"facts": []}


def test_a_key_opens_its_memory_alone(client: TestClient, owner: Connection) -> None:
    ann, bob = (tenants.add_key(owner, name, "laptop") for name in ("ann", "bob"))
    assert ask(client, ann, "/v1/remember", predicate="island", value=MARK).status_code == 200
    assert MARK in ask(client, ann, "/v1/facts").text
    assert MARK not in ask(client, bob, "/v1/facts").text
    refused = ask(client, bob, "/v1/facts", workspace="1")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "usage")
    sent = {"authorization": f"Bearer {bob}", "mnemark-workspace": "1"}
    assert client.post("/v1/facts?workspace=1", json={}, headers=sent).json() == {"facts": []}


def test_no_route_gives_anothers_bytes(client: TestClient, owner: Connection) -> None:
    ann, bob = (tenants.add_key(owner, name, "laptop") for name in ("ann", "bob"))
    fact = ask(client, ann, "/v1/remember", predicate="island", value=MARK).json()
    turns = [{"role": "user", "content": f"I saw {MARK} today.", "origin": "owner"}]
    path = ask(client, ann, "/v1/turns", session="chat:1", turns=turns).json()["path"]
    values: dict[str, Any] = {
        "query": MARK, "ref": f"{path}#L2", "id": fact["id"], "session": "chat:1", "text": "island",
        "predicate": "boat", "value": "Halcyon", "turns": turns[:0], "tool": "shell", "path": "../1/memory",
        "subject": "user", "file": "../1/journal/server.jsonl", "value_": "",
    }  # fmt: skip
    for call in CALLS:
        fields = {name for name in call.body.__struct_fields__ if name != "workspace"}
        for ref in (values["ref"], f"../1/{path}", f"/{path}", fact["id"]):
            body = {name: value for name, value in (values | {"ref": ref}).items() if name in fields}
            sent = {"authorization": f"Bearer {bob}"}
            answer = client.post(f"/v1/{call.name}", json=body, headers=sent)
            echoed = answer.text.replace(MARK, "") if answer.status_code >= 400 else answer.text
            if "query" not in body:
                assert MARK not in echoed, call.name
            assert "today." not in answer.text, call.name
    for tool in TOOLS:
        answer = ask(
            client, bob, f"/v1/tools/{tool.name}", arguments={"query": "island", "path": path, "ref": path}
        )
        assert MARK not in answer.text, tool.name


def test_a_key_for_reading_changes_nothing(client: TestClient, owner: Connection) -> None:
    reading = tenants.add_key(owner, "ann", "reader", scopes=("read",))
    writing = tenants.add_key(owner, "ann", "writer")
    assert ask(client, writing, "/v1/remember", predicate="city", value="Lisbon").status_code == 200
    before = _rows(owner)
    for call in CALLS:
        answer = ask(client, reading, f"/v1/{call.name}")
        assert answer.status_code in ({200, 400, 404} if call.reads else {403, 501}), call.name
    for tool in TOOLS:
        answer = ask(client, reading, f"/v1/tools/{tool.name}", arguments={"query": "Lisbon"})
        assert (answer.status_code == 403) == (not tool.reads), tool.name
        arguments = {"query": "Lisbon", "content": "x", "predicate": "city", "value": "Rome"}
        said = mcp(client, reading, "tools/call", name=tool.name, arguments=arguments)
        assert (said.status_code == 403) == (not tool.reads), tool.name
    assert mcp(client, reading, "tools/list").json()["result"]["tools"]
    assert (
        "Lisbon" in mcp(client, reading, "tools/call", name="memory_search", arguments={"query": "city"}).text
    )
    assert "Lisbon" in ask(client, reading, "/v1/facts").text
    assert _rows(owner) == before


def _rows(connection: Connection) -> Any:
    return connection.execute(
        "SELECT tenant, seq, path, at, data FROM mnemark.parts ORDER BY 1, 2"
    ).fetchall()


def test_keys_are_given_once_taken_back_and_end(client: TestClient, owner: Connection) -> None:
    first, second = tenants.add_key(owner, "ann", "old"), tenants.add_key(owner, "ann", "new", days=1)
    with pytest.raises(UsageError, match="take one back"):
        tenants.add_key(owner, "ann", "third")
    stored = owner.execute("SELECT keys::text FROM mnemark.keys").fetchall()
    assert len(stored) == 2
    assert first not in str(stored)
    tenants.revoke(owner, "ann", "old")
    assert ask(client, first, "/v1/facts").status_code == 401
    assert ask(client, second, "/v1/facts").status_code == 200
    owner.execute("UPDATE mnemark.keys SET expires = now()")
    assert ask(client, second, "/v1/facts").status_code == 401


def test_a_suspended_memory_is_told(client: TestClient, owner: Connection) -> None:
    key = tenants.add_key(owner, "ann", "laptop")
    tenants.set_state(owner, "ann", "suspended")
    assert ask(client, key, "/v1/facts").json()["error"]["code"] == "suspended"
    tenants.set_state(owner, "ann", "active")
    assert ask(client, key, "/v1/facts").status_code == 200


def test_too_many_requests_wait(client: TestClient, owner: Connection) -> None:
    key = tenants.add_key(owner, "ann", "laptop")
    other = tenants.add_key(owner, "bob", "laptop")
    owner.execute("UPDATE mnemark.tenants SET limits = '{\"requests_per_minute\": 3}' WHERE name = 'ann'")
    answers = [ask(client, key, "/v1/facts") for _ in range(5)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert ask(client, other, "/v1/facts").status_code == 200


def test_a_limit_is_for_all_nodes_together(url: str) -> None:
    first, second = Database(url), Database(url)
    nodes = [Limits(first), Limits(second)] * 60

    async def asked() -> int:
        return sum([await node.wait(1, {"requests_per_minute": 40}) == 0 for node in nodes])

    begun = time.monotonic()
    let_in = asyncio.run(asked())
    first.close()
    second.close()
    assert 40 <= let_in <= 40 + 2 + (time.monotonic() - begun) * 40 / 60


def test_limits_are_set_and_taken_back(client: TestClient, owner: Connection) -> None:
    key = tenants.add_key(owner, "ann", "laptop")
    grants.set_limits(owner, "ann", {"requests_per_minute": 0})
    assert ask(client, key, "/v1/facts").status_code == 429
    grants.set_limits(owner, "ann", {"requests_per_minute": None, "calls_per_day": 5})
    assert grants.limits(owner, "ann") == {
        "requests_per_minute": 1200, "calls_per_day": 5, "tokens_per_day": None,
        "import_bytes": 1_000_000_000, "import_files": 50_000,
    }  # fmt: skip
    for wrong in ({"wrong": 1}, {"calls_per_day": -1}):
        with pytest.raises(UsageError):
            grants.set_limits(owner, "ann", wrong)


def test_no_answer_names_a_folder_of_the_node(client: TestClient, owner: Connection, tmp_path: Path) -> None:
    key = tenants.add_key(owner, "ann", "laptop")
    assert ask(client, key, "/v1/status").json()["workspace"] == "ann"
    for call in CALLS:
        for body in ({}, {"query": "x"}, {"ref": "notes/none.md"}, {"ref": "../../etc/passwd"}, {"id": "x"}):
            assert str(tmp_path) not in ask(client, key, f"/v1/{call.name}", **body).text, call.name
    for tool in TOOLS:
        assert str(tmp_path) not in ask(client, key, f"/v1/tools/{tool.name}", arguments={}).text, tool.name


def test_what_is_of_one_machine_is_refused_by_name(client: TestClient, owner: Connection) -> None:
    key = tenants.add_key(owner, "ann", "laptop")
    for path in ("/query", "/v1/sync", "/v1/ui/ticket", "/v1/doctor"):
        answer = ask(client, key, path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (501, "one_machine"), path
        assert path in answer.json()["error"]["message"]


def test_the_numbers_name_no_memory(client: TestClient, owner: Connection) -> None:
    key = tenants.add_key(owner, "ann", "laptop")
    ask(client, key, "/v1/remember", predicate="island", value=MARK)
    ask(client, key, f"/v1/{MARK}")
    text = client.get("/metrics").text
    assert 'mnemark_requests_total{route="/v1/remember",status="200"} 1.0' in text
    assert "mnemark_open_memories 1.0" in text
    assert "mnemark_erasures_waiting 0.0" in text
    assert "mnemark_degraded_answers 0.0" in text
    late = ask(client, key, "/v1/recall", query="island", deadline=1e-6).json()
    assert late["degraded"]
    assert "mnemark_degraded_answers 1.0" in client.get("/metrics").text
    assert MARK not in text
    assert key not in text


def test_while_the_database_is_away_requests_are_told_to_come_again(
    client: TestClient, owner: Connection, postgres: Postgres
) -> None:
    key = tenants.add_key(owner, "ann", "laptop")
    ask(client, key, "/v1/remember", predicate="city", value="Lisbon")
    owner.close()
    postgres.stop("immediate")
    try:
        answer = ask(client, key, "/v1/facts")
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
        assert answer.headers["retry-after"]
        assert client.get("/readyz").status_code == 503
        assert client.get("/livez").status_code == 200
    finally:
        postgres.start()
    deadline = time.monotonic() + 10
    while (answer := ask(client, key, "/v1/facts")).status_code == 503 and time.monotonic() < deadline:
        time.sleep(0.1)  # another is trying it
    assert "Lisbon" in answer.text


def test_connections_that_ended_while_nobody_used_them_refuse_no_reader(url: str, postgres: Postgres) -> None:
    database = Database(url)
    rows = TenantRows(database, 1, "a")
    assert rows.newer(0) == []
    postgres.stop("immediate")
    postgres.start()
    assert rows.newer(0) == []
    assert rows.about()[0] == "ann"
    database.close()


def test_the_role_of_a_node_sees_one_memory(url: str, owner: Connection) -> None:
    for table in ("heads", "parts", "lines"):
        if table == "parts":
            owner.execute("INSERT INTO mnemark.parts (tenant, seq, path, kind) VALUES (1, 1, 'a', 'd')")
        if table == "lines":
            owner.execute("INSERT INTO mnemark.lines (tenant, id) VALUES (1, 'x')")
    database = Database(url)
    try:
        with database.writing(2) as connection:
            for table in ("heads", "parts", "lines"):
                mine = connection.execute(f"SELECT tenant FROM mnemark.{table}".encode()).fetchall()
                assert (1,) not in mine, table
            connection.execute("UPDATE mnemark.heads SET seq = 9 WHERE tenant = 1")
            connection.execute("DELETE FROM mnemark.parts WHERE tenant = 1")
        assert owner.execute("SELECT seq FROM mnemark.heads WHERE tenant = 1").fetchone() == (0,)
        assert owner.execute("SELECT FROM mnemark.parts WHERE tenant = 1").rowcount == 1
        with pytest.raises(MnemarkError, match="may not do this"), database.writing(2) as connection:
            connection.execute("INSERT INTO mnemark.parts (tenant, seq, path, kind) VALUES (1, 7, 'b', 'd')")
        with pytest.raises(MnemarkError, match="may not do this"), database.writing(2) as connection:
            connection.execute("SELECT * FROM mnemark.keys")
        (found,) = database.read(None, Statement("SELECT tenant FROM mnemark.parts", []))
        assert found == []  # nobody's rows, not everybody's
    finally:
        database.close()


def test_one_migration_at_a_time_and_none_twice(postgres: Postgres) -> None:
    found = postgres.database("mnemark_migrated")
    done: list[int] = []

    def run() -> None:
        with connect(found) as connection:
            done.extend(one.number for one in migrations.migrate(connection))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(done) == [one.number for one in migrations.migrations()]
    with connect(found) as connection:
        assert migrations.missing(connection) == []
        connection.execute("INSERT INTO mnemark.migrations (number, name) VALUES (9999, 'later')")
        with pytest.raises(NewerFormatError, match="newer mnemark"):
            migrations.missing(connection)
