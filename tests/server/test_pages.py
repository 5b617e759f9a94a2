"""The pages of a server: a person signs in with the key of a memory, and sees and changes that one alone."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from mnemark.errors import MnemarkError
from mnemark_faces.editing import save
from mnemark_faces.web.at import CHANGES, ONE_MACHINE, At, PageContent
from mnemark_faces.web.pages import ACTIONS, PAGES
from mnemark_server import sessions, tenants
from mnemark_server.database import Connection, Database, Statement, connect
from mnemark_server.migrations import migrate
from mnemark_server.server import Node, Settings
from server.conftest import MakeClient, truth
from server.postgres import Postgres
from server.visitors import BASE, Visitor, around, forms, key_of, links

ANN, BOB = "Zanzibar-Quetzal", "Halcyon-Marmot"
"""What only the memory of each has."""


@pytest.fixture
def client(new_client: MakeClient) -> TestClient:
    return new_client()


def fill(client: TestClient, tenant: int, mark: str) -> None:
    """Put a word into every place of a memory that a page shows."""
    node: Node = client.node  # type: ignore[attr-defined]
    with node.tenants.lease(str(tenant)) as opened:
        memory = opened.memory
        at = memory.workspace.now().replace(microsecond=0) - timedelta(days=2)
        log = memory.session("chat:1")
        log.add_many([
            log.turn("user", f"zebra {mark}", time=at),
            log.turn("assistant", f"answer {mark}", time=at + timedelta(minutes=1),
                     tool_calls=[{"name": "shell", "arguments": {"command": mark}}]),
            log.turn("user", f"I live in {mark}.", time=at + timedelta(minutes=2)),
        ])  # fmt: skip
        log.end()
        memory.remember("stripes", f"black {mark}", subject="zebra", since="2025-01-01")
        memory.remember("stripes", f"white {mark}", subject="zebra")
        memory.remember("stripes", f"red {mark}", subject="zebra", origin="web", source=f"{log.path}#L2")
        save(memory, "MEMORY.md", f"# Memory\n- zebra {mark}\n".encode(), _digest(memory, "MEMORY.md"))
        memory.recall("zebra stripes", deadline=5.0)


def _digest(memory: Any, path: str) -> str:
    from mnemark.files.reading import digest
    from mnemark_faces.editing import content

    return digest(content(memory, path))


def crawl(visitor: Visitor, *more: str) -> dict[str, str]:
    """Every page that a link or a form leads to, each kind with up to three values of its parameters."""
    waiting = [BASE, *(f"{BASE}/{name}" for name in PAGES if name), *more]
    found: dict[str, str] = {}
    kinds: dict[str, int] = {}
    while waiting:
        path = waiting.pop(0)
        kind = path.partition("?")[0] + ("?" + "&".join(re.findall(r"(\w+)=", path)) if "?" in path else "")
        if path in found or kinds.get(kind, 0) >= 3 or "/static/" in path:
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
        answer = visitor.ask("GET", path)
        found[path] = answer.text
        data = visitor.ask("GET", f"{path}{'&' if '?' in path else '?'}format=json")
        found[f"{path} as data"] = data.text
        waiting += links(answer.text)
    return found


SEARCHES = (
    f"{BASE}/search?q=zebra", f"{BASE}/forget?q=zebra", f"{BASE}/forget?q=zebra&erase=1",
    f"{BASE}/prompt?q=zebra+stripes", f"{BASE}/consolidate?look=1", f"{BASE}/edit?path=MEMORY.md",
    f"{BASE}/timeline?kind=turn", f"{BASE}/timeline?kind=observation", "/ui/newer/memory?first=x",
)  # fmt: skip


def test_one_signs_in_with_a_key_and_out_again(client: TestClient, owner: Connection) -> None:
    fill(client, 1, ANN)
    visitor = Visitor(client)
    for path in ("/", "/ui", "/ui/enter"):
        shown = visitor.ask("GET", path)
        assert shown.status_code == 200
        assert '<input id="key" name="key" type="password"' in shown.text
        assert 'autocomplete="current-password"' in shown.text
        assert "default-src 'none'" in shown.headers["content-security-policy"]
        assert shown.headers["cache-control"] == "no-store"
    asked = visitor.page("facts", topic="People")
    assert asked.status_code == 401
    (target,) = re.findall(r'name="next" value="([^"]*)"', asked.text)
    key = key_of(owner, "ann")
    entered = visitor.enter(f"  {key} ", next=target)
    assert (entered.status_code, entered.headers["location"]) == (303, f"{BASE}/facts?topic=People")
    cookie = entered.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert key not in cookie
    assert visitor.ask("GET", "/").headers["location"] == BASE
    assert Visitor(client).ask("GET", BASE, authorization=f"Bearer {key}").status_code == 401
    today = visitor.page()
    assert today.status_code == 200
    assert "<span>ann</span>" in today.text
    assert ANN in today.text
    left = visitor.ask("POST", "/ui/sign-out", {"form_key": visitor.form_key()})
    assert left.headers["location"] == "/ui"
    visitor.cookies = {"mnemark": cookie.partition(";")[0].partition("=")[2]}  # kept by somebody
    assert visitor.page().status_code == 401
    assert owner.execute("SELECT count(*) FROM mnemark.sessions").fetchone() == (0,)


def test_a_session_is_known_on_every_node(new_client: MakeClient, owner: Connection) -> None:
    one, two = new_client(), new_client()
    visitor = Visitor(one, key_of(owner, "ann"))
    form_key = visitor.form_key()
    visitor.client = two
    told = visitor.send("remember", {"sentence": "I live in Vigo"}, key=form_key)
    visitor.client = one
    shown = visitor.follow(told)
    assert "Remembered: you live in Vigo" in shown.text
    assert "Remembered:" not in visitor.page("facts").text, "it is told once"
    (undo,) = [fields for action, fields in forms(shown.text) if action == f"{BASE}/undo"]
    visitor.client = two
    undone = visitor.send("undo", [pair for pair in undo if pair[0] != "form_key"])
    assert "Vigo" in visitor.follow(undone).text, "what was taken back"
    assert "Vigo" not in visitor.page("facts").text
    visitor.client = one
    assert visitor.ask("POST", "/ui/sign-out", {"form_key": form_key}).status_code == 303
    visitor.client = two
    assert visitor.page().status_code == 401


def test_what_forms_change_is_there_on_every_node(new_client: MakeClient, owner: Connection) -> None:
    one, two = new_client(), new_client()
    fill(one, 1, ANN)
    visitor = Visitor(one, key_of(owner, "ann"))
    there = [(path, text) for path, text in crawl(visitor, *SEARCHES).items() if " as data" not in path]
    tried: set[tuple[str, str]] = set()
    for path, text in there:
        for action, fields in forms(text):
            name = action.removeprefix(f"{BASE}/").partition("?")[0]
            if action.startswith(BASE) and (name, path.partition("?")[0]) not in tried:
                tried.add((name, path.partition("?")[0]))
                sent = [(n, v or "Nimbus") for n, v in fields if n not in {"form_key", "do"}]
                more = [pair for pair in fields if pair[0] == "do"][:1]
                answer = visitor.send(name, [*sent, *more, ("sentence", "I like oats"), ("text", "oats")])
                assert answer.status_code in {200, 303, 400, 404, 409}, (name, answer.text)
    assert {name for name, _ in tried} >= {"undo", "correct", "review", "forget", "edit", "pin", "remember"}
    roots = [_root(client, 1) for client in (one, two)]
    assert truth(roots[0]) == truth(roots[1])
    assert len(truth(roots[0])) > 4


def _root(client: TestClient, tenant: int) -> Path:
    """The folder of a memory on a node, with all that the rows have."""
    node: Node = client.node  # type: ignore[attr-defined]
    with node.tenants.lease(str(tenant)) as opened:
        return opened.root


def test_what_is_told_next_is_believed_from_this_session_alone(client: TestClient, owner: Connection) -> None:
    ann, bob = Visitor(client, key_of(owner, "ann")), Visitor(client, key_of(owner, "bob"))
    ann.send("remember", {"sentence": f"I live in {ANN}"})
    told = ann.cookies["mnemark-told"]
    assert ANN not in told
    for value in (told, told[:-1], f"{told}x", "x", "x.y", ".", "é".encode().decode("latin-1")):
        bob.cookies["mnemark-told"] = value
        shown = bob.page("facts")
        assert shown.status_code == 200
        assert ANN not in shown.text
    many = "word " * 3_000
    ann.follow(ann.send("remember", {"predicate": "plan", "value": many}))
    ann.send("remember", {"predicate": "aim", "value": many})
    assert len(ann.cookies.get("mnemark-told", "")) < 4_000


@pytest.mark.parametrize("reading", [False, True])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_page_has_anothers_byte_a_path_of_the_node_or_a_dead_link(
    client: TestClient, owner: Connection, language: str, tmp_path: Path, *, reading: bool
) -> None:
    fill(client, 1, ANN)
    fill(client, 2, BOB)
    scopes = ("read",) if reading else ("read", "write")
    visitor = Visitor(client, key_of(owner, "ann", scopes=scopes), language=language)
    before = _truth(owner, 1)
    pages = crawl(visitor, *SEARCHES)
    assert _truth(owner, 1) == before, "nothing is changed by GET"
    kinds = {path.removeprefix(BASE).partition("?")[0].strip("/") for path in pages if " as data" not in path}
    gone = ONE_MACHINE | (CHANGES if reading else {"receipt"})
    assert kinds >= set(PAGES) - {"receipt"}
    offered_paths = {one for text in pages.values() for one in links(text)} | {BASE}
    sent_to = {action for text in pages.values() for action, _ in forms(text)}
    offered = {one.partition("?")[0].rpartition("/")[2] for one in offered_paths | sent_to}
    assert offered.isdisjoint(gone - {"receipt"} | {"upload"})
    for path, text in pages.items():
        name = path.removeprefix(BASE).partition("?")[0].partition(" ")[0].strip("/")
        assert BOB not in text, path
        assert str(tmp_path) not in text, path
        assert str(Path.home()) not in text, path
        assert "mnemark web" not in text, path
        if path not in offered_paths or name in gone:
            continue
        assert 'role="alert"' not in text or name == "item", (path, text)
        if " as data" not in path:
            assert f'<html lang="{"zh-Hans" if language == "zh" else "en"}">' in text, path
            assert not re.search(r'(?:src|href|action)="(?!/|#)', text), path
            if reading:
                sent = {action for action, _ in forms(text)}
                assert sent <= {"/ui/language"}, (path, sent)
    assert sum(ANN in text for text in pages.values()) > 20


def test_forms_with_anothers_ids_change_and_show_nothing(client: TestClient, owner: Connection) -> None:
    fill(client, 1, ANN)
    fill(client, 2, BOB)
    ann, bob = Visitor(client, key_of(owner, "ann")), Visitor(client, key_of(owner, "bob"))
    pages = crawl(ann, *SEARCHES)
    before = _truth(owner, 1)
    tried: set[str] = set()
    for text in pages.values():
        for action, fields in forms(text):
            if not action.startswith(BASE):
                continue
            name = action.removeprefix(f"{BASE}/").partition("?")[0]
            sent = [pair for pair in fields if pair[0] != "form_key"]
            refused = bob.ask("POST", action, fields)
            assert refused.status_code == 400, "the key of another session's form"
            answer = bob.send(name, sent)
            tried.add(name)
            shown = bob.follow(answer).text if answer.status_code == 303 else answer.text
            asked = {value for _, value in sent if ANN in value}
            assert ANN not in shown or asked, (name, sent)
    assert tried >= {"undo", "correct", "review", "forget", "edit", "pin", "revert", "consolidate"}
    assert _truth(owner, 1) == before
    for path, text in pages.items():
        if "ref=" in path or "id=" in path or "path=" in path:
            there = bob.ask("GET", path.partition(" ")[0])
            assert ANN not in there.text, path
            assert text
    for path in ("../1/MEMORY.md", "/etc/passwd", "../../node-0/1/MEMORY.md", ".mnemark/index.db"):
        for page in ("files", "edit", "session"):
            answer = bob.page(page, path=path)
            assert answer.status_code in {400, 404}, (page, path)
            assert ANN not in answer.text
            assert "root:" not in answer.text
        assert bob.send("edit", {"path": path, "text": "x", "digest": ""}).status_code in {400, 404}
    assert _truth(owner, 1) == before


def _truth(owner: Connection, tenant: int) -> Any:
    return owner.execute(
        "SELECT seq, path, at, kind, data FROM mnemark.parts WHERE tenant = %s ORDER BY seq", [tenant]
    ).fetchall()


def test_a_person_corrects_forgets_and_reviews(client: TestClient, owner: Connection) -> None:
    fill(client, 1, ANN)
    visitor = Visitor(client, key_of(owner, "ann"))
    facts = visitor.page("facts", edit="").text
    (identifier, *_) = re.findall(r'id="f-(\w+)"', facts)
    done = visitor.send("correct", {"id": identifier, "value": "grey", "do": "correct"})
    assert "Corrected:" in visitor.follow(done).text
    (review,) = [
        fields for action, fields in forms(visitor.page("review").text) if ("do", "accept") in fields
    ]  # fmt: skip
    waits = next(value for name, value in review if name == "id")
    assert "Accepted:" in visitor.follow(visitor.send("review", {"id": waits, "do": "accept"})).text
    sent = {"q": "answer", "do": "look"}
    looked = visitor.send("forget", sent)
    (fields,) = [one for action, one in forms(looked.text) if ("do", "hide") in one]
    given = {name: value for name, value in fields if name not in {"do", "form_key"}}
    hidden = visitor.send("forget", {**given, "do": "hide"})
    assert hidden.status_code == 200
    assert "<h1>Hidden <small>" in hidden.text, "the receipt comes with the answer"
    for do in ("where", "erase"):
        erased = visitor.send("forget", {"q": ANN, "do": do, **_expected(visitor, ANN)})
    assert "<h1>Erased" in erased.text
    assert ANN not in visitor.page("search", q="zebra").text
    assert not any(ANN.encode() in bytes(row[4]) for row in _truth(owner, 1))
    edit = visitor.page("edit", path="SCRATCHPAD.md")
    digest = next(v for _, f in forms(edit.text) for n, v in f if n == "digest")
    saved = visitor.send("edit", {"path": "SCRATCHPAD.md", "text": "Buy oats", "digest": digest})
    assert "Buy oats" in visitor.follow(saved).text
    learned = visitor.send("learned", {"do": "learn"})
    assert visitor.follow(learned).status_code == 200


def _expected(visitor: Visitor, words: str) -> dict[str, str]:
    text = visitor.send("forget", {"q": words, "do": "look"}).text
    (n, *_) = re.findall(r'name="expected" value="(\d+)"', text)
    return {"expected": n, "count": n}


def test_a_message_names_no_path_of_the_node_and_no_command(
    client: TestClient, owner: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(at: At) -> PageContent:
        if at.asked("bug"):
            raise ValueError(str(at.root))
        raise MnemarkError(f"{at.root / 'notes' / 'plan.md'} cannot be read (in {at.root.parent}, {at.root})")

    monkeypatch.setitem(PAGES, "files", fails)
    visitor = Visitor(client, key_of(owner, "ann"))
    answer = visitor.page("files")
    assert answer.status_code == 500
    assert "notes/plan.md cannot be read" in answer.text
    assert str(tmp_path) not in answer.text
    bug = visitor.page("files", bug=1)
    assert "Unexpected ValueError; whoever runs this server" in bug.text
    assert str(tmp_path) not in bug.text
    gone = visitor.page("change", id="x")
    assert gone.status_code == 404
    assert "There is no change" in gone.text
    assert "<code>" not in gone.text
    chinese = Visitor(client, key_of(owner, "bob"), language="zh").page("change", id="x")
    assert re.search('<p role="alert">没有更改 &#39;x&#39;。</p>', chinese.text)


def test_what_is_of_one_machine_is_refused_by_name(client: TestClient, owner: Connection) -> None:
    visitor = Visitor(client, key_of(owner, "ann"))
    for name in sorted(ONE_MACHINE & PAGES.keys()):
        answer = visitor.page(name)
        assert answer.status_code == 501, name
        assert name in answer.text
    key = visitor.form_key()
    for name in sorted(ONE_MACHINE & ACTIONS.keys()):
        answer = visitor.send(name, {"path": "/etc", "do": "look", "agent": "codex"}, key=key)
        assert answer.status_code == 501, name
    chinese = Visitor(client, key_of(owner, "bob"), language="zh").page("connect")
    assert "connect" in chinese.text
    assert "服务器" in chinese.text
    assert visitor.ask("POST", "/ui/upload/memory", {}).status_code == 405
    assert visitor.ask("POST", "/v1/ui/ticket", {}).status_code == 401


def test_a_key_for_reading_changes_nothing(client: TestClient, owner: Connection) -> None:
    fill(client, 1, ANN)
    visitor = Visitor(client, key_of(owner, "ann", scopes=("read",)))
    before = _truth(owner, 1)
    key = visitor.form_key()
    for name in sorted(ACTIONS.keys()):
        answer = visitor.send(name, {"q": "zebra", "do": "hide", "sentence": "I live in Vigo"}, key=key)
        assert answer.status_code == 403, name
    for name in sorted(CHANGES):
        assert visitor.page(name, path="MEMORY.md", q="zebra").status_code == 403, name
    assert ANN in visitor.page("search", q="zebra").text
    assert _truth(owner, 1) == before
    assert visitor.ask("POST", "/ui/sign-out", {"form_key": key}).status_code == 303


def test_a_session_is_over_with_its_key(client: TestClient, owner: Connection) -> None:
    key = key_of(owner, "ann")
    visitor = Visitor(client, key)
    other = Visitor(client, key_of(owner, "ann", called="other"))
    tenants.set_state(owner, "ann", "suspended")
    suspended = visitor.page()
    assert suspended.status_code == 403
    assert "suspended" in suspended.text
    outside = Visitor(client).enter(key)
    assert (outside.status_code, "suspended" in outside.text) == (403, True)
    assert Visitor(client).enter(key_of(owner, "bob")).status_code == 303
    tenants.set_state(owner, "ann", "active")
    assert visitor.page().status_code == 200
    tenants.revoke(owner, "ann", "browser")
    assert visitor.page().status_code == 401
    assert other.page().status_code == 200
    owner.execute("UPDATE mnemark.keys SET expires = now() WHERE name = 'other'")
    assert other.page().status_code == 401
    owner.execute("UPDATE mnemark.keys SET expires = 'infinity' WHERE name = 'other'")
    owner.execute("UPDATE mnemark.sessions SET expires = now()")
    assert other.page().status_code == 401
    tenants.delete(owner, "ann")
    assert owner.execute("SELECT FROM mnemark.sessions WHERE tenant = 1").rowcount == 0


def test_the_database_has_no_cookie_and_few_sessions_of_a_memory(
    client: TestClient, owner: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_MOST", 3)
    key = key_of(owner, "ann")
    visitors = [Visitor(client, key) for _ in range(5)]
    rows = owner.execute("SELECT s::text, encode(s.hash, 'escape') FROM mnemark.sessions s").fetchall()
    assert len(rows) == 3
    assert not any(one.cookies["mnemark"] in str(rows) for one in visitors)
    assert [one.page().status_code for one in visitors] == [401, 401, 200, 200, 200]


def test_the_role_of_a_node_sees_the_sessions_of_one_memory(
    client: TestClient, owner: Connection, url: str
) -> None:
    Visitor(client, key_of(owner, "ann"))
    database = Database(url)
    try:
        with database.writing(2) as connection:
            assert connection.execute("SELECT * FROM mnemark.sessions").fetchall() == []
            connection.execute("DELETE FROM mnemark.sessions")
        (found,) = database.read(None, Statement("SELECT hash FROM mnemark.sessions", []))
        assert found == []
    finally:
        database.close()
    assert owner.execute("SELECT tenant FROM mnemark.sessions").fetchall() == [(1,)]


def test_the_owner_of_the_tables_need_not_be_a_superuser(postgres: Postgres, tmp_path: Path) -> None:
    address = postgres.database("mnemark_owned_pages")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS page_owner")
        connection.execute("CREATE ROLE page_owner LOGIN CREATEROLE")
        connection.execute("ALTER DATABASE mnemark_owned_pages OWNER TO page_owner")
        if connection.execute("SELECT FROM pg_roles WHERE rolname = 'mnemark_app'").rowcount:
            connection.execute("GRANT mnemark_app TO page_owner WITH ADMIN OPTION")
    address = address.replace("postgres@", "page_owner@")
    with connect(address) as owner:
        migrate(owner)
    with connect(address) as owner:
        tenants.create(owner, "ann")
        key = key_of(owner, "ann")
    node = Node(Settings(address), tmp_path / "node")
    with TestClient(node.app(around), raise_server_exceptions=False) as client:
        visitor = Visitor(client, key)
        assert visitor.page().status_code == 200
        assert visitor.ask("POST", "/ui/sign-out", {"form_key": visitor.form_key()}).status_code == 303
        assert count_of_sessions(address) == 0
        Visitor(client, key)
        assert count_of_sessions(address) == 1
        with connect(address) as owner:
            tenants.revoke(owner, "ann", "browser")
        assert count_of_sessions(address) == 0
    node.database.close()


def count_of_sessions(address: str) -> int:
    with connect(address) as owner:
        return owner.execute("SELECT FROM mnemark.sessions").rowcount


def test_requests_of_pages_count_and_their_numbers_say_nothing(client: TestClient, owner: Connection) -> None:
    visitor = Visitor(client, key_of(owner, "ann"))
    visitor.page("search", q=ANN)
    nowhere = visitor.ask("GET", f"/ui/{ANN}")
    assert (nowhere.status_code, "There is no such page" in nowhere.text) == (404, True)
    visitor.ask("GET", f"{BASE}/{ANN}")
    visitor.ask("GET", "/ui/static/style.css")
    text = client.get("/metrics").text
    assert f'mnemark_requests_total{{route="{BASE}/search",status="200"}} 1.0' in text
    assert 'route="/ui/static",status="200"' in text
    assert 'route="/ui/enter",status="303"' in text
    assert ANN not in text
    owner.execute("UPDATE mnemark.tenants SET limits = '{\"requests_per_minute\": 2}' WHERE name = 'bob'")
    other = Visitor(client, key_of(owner, "bob"))
    answers = [other.page() for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 429, 429, 429], "one to sign in"
    assert other.ask("GET", "/").status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert answers[-1].headers["content-type"].startswith("text/html")
