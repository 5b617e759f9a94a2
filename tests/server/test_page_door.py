"""Who is let in to the pages of a server: keys, public addresses, origins, and what browsers send."""

import pytest
from starlette.testclient import TestClient

from mnemark.errors import UsageError
from mnemark_server import sessions
from mnemark_server.database import Connection
from mnemark_server.pages import site_of
from server.conftest import MakeClient
from server.postgres import Postgres
from server.visitors import BASE, Visitor, key_of

PUBLIC = "https://memory.example.org"


@pytest.fixture
def client(new_client: MakeClient) -> TestClient:
    return new_client()


def test_too_many_keys_that_open_nothing_wait(client: TestClient, owner: Connection) -> None:
    key = key_of(owner, "ann")
    visitor = Visitor(client)
    for wrong in ("x", "", "é", "mnk_" + "a" * 43, "x" * 100_000):
        refused = visitor.enter(wrong)
        assert refused.status_code == 401, wrong
        assert "opens no memory" in refused.text
        assert wrong not in refused.text or len(wrong) < 2
        assert not visitor.cookies
    codes = [visitor.enter("x").status_code for _ in range(sessions.PER_ADDRESS)]
    assert codes[-1] == 429
    limited = visitor.enter(key)
    assert (limited.status_code, limited.headers["retry-after"].isdecimal()) == (429, True)
    assert "too many" in limited.text


def test_failures_are_counted_for_a_minute() -> None:
    now = [600.0]
    failures = sessions.Failures(each=2, in_all=3, clock=lambda: now[0])
    failures.note("a")
    failures.note("a")
    assert failures.wait("a") > 0
    assert failures.wait("b") == 0
    failures.note("b")
    assert failures.wait("c") > 0
    now[0] += failures.wait("c")
    assert failures.wait("a") == 0


def test_with_a_public_address_cookies_are_for_it_over_tls_alone(
    new_client: MakeClient, owner: Connection
) -> None:
    client = new_client(url=f"{PUBLIC}/")
    key = key_of(owner, "ann")
    visitor = Visitor(client, origin=PUBLIC)
    entered = visitor.enter(key)
    assert "Secure" in entered.headers["set-cookie"].split("; ")
    assert "__Host-mnemark" in visitor.cookies
    assert visitor.page().status_code == 200
    assert visitor.ask("GET", BASE, host="memory.example.com").status_code == 403
    assert visitor.ask("GET", "/ui", host="127.0.0.1:8765").status_code == 403
    assert client.get("/livez").status_code == 200
    told = client.post("/v1/facts", json={}, headers={"authorization": f"Bearer {key}"})
    assert told.status_code == 200, "clients with a key are not asked for a host"
    http = Visitor(client, origin="http://memory.example.org")
    assert http.enter(key).status_code == 403


def test_behind_tls_without_its_address_a_server_says_what_is_missing(
    client: TestClient, owner: Connection
) -> None:
    refused = Visitor(client, origin="https://testserver").enter(key_of(owner, "ann"))
    assert refused.status_code == 403
    assert "--url" in refused.text


@pytest.mark.parametrize(
    "address",
    ["memory.example.org", "ftp://x.example", "https://", "https://a@b.example", "https://x.example/ui", "h"],
)
def test_an_address_is_checked(address: str) -> None:
    with pytest.raises(UsageError, match="no address of a server"):
        site_of(address)


def test_ports_stand_in_an_address_as_browsers_send_them() -> None:
    assert site_of("https://Memory.example.org:443/").hosts == {"memory.example.org"}
    assert site_of("http://localhost:8765").hosts == {"localhost:8765"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303), ({"origin": "http://evil.example"}, 403), ({"origin": "null"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403), ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "none"}, 403), ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/json"}, 415), ({"host": "other.example"}, 403),
    ],
)  # fmt: skip
def test_forms_are_taken_from_these_pages_alone(
    client: TestClient, owner: Connection, headers: dict[str, str], status: int
) -> None:
    visitor = Visitor(client, key_of(owner, "ann"))
    fields = {"form_key": visitor.form_key(), "sentence": "I live in Vigo"}
    assert visitor.ask("POST", f"{BASE}/remember", fields, **headers).status_code == status
    assert ("Vigo" in visitor.page("facts").text) == (status == 303)
    if status != 303:
        assert Visitor(client).ask("POST", "/ui/enter", {"key": "x"}, **headers).status_code == status
    wrong = visitor.ask("POST", f"{BASE}/remember", {**fields, "form_key": "x"})
    assert wrong.status_code == 400


def test_a_link_of_another_site_leads_to_the_first_page(client: TestClient, owner: Connection) -> None:
    visitor = Visitor(client, key_of(owner, "ann"))
    kept, visitor.cookies = visitor.cookies, {}  # a strict cookie does not come along
    come = visitor.ask("GET", "/", sec_fetch_site="cross-site")
    assert 'http-equiv="refresh" content="0; url=/ui"' in come.text
    visitor.cookies = kept
    assert visitor.ask("GET", "/ui").headers["location"] == BASE
    assert visitor.ask("GET", f"{BASE}/facts", sec_fetch_site="cross-site").status_code == 403
    for target in ("//evil.example/", "https://evil.example/", "/v1/facts", f"{BASE}/\nx", f"{BASE}x", "/ui"):
        entered = Visitor(client).enter(key_of_again(owner), next=target)
        assert entered.headers["location"] == BASE, target


def key_of_again(owner: Connection) -> str:
    owner.execute("DELETE FROM mnemark.keys WHERE name = 'again'")
    return key_of(owner, "bob", called="again")


def test_the_language_is_the_browsers_or_the_one_chosen_in_it(client: TestClient, owner: Connection) -> None:
    visitor = Visitor(client, language="zh-CN,zh;q=0.9")
    front = visitor.ask("GET", "/")
    assert '<html lang="zh-Hans">' in front.text
    assert "登录" in front.text
    visitor.enter(key_of(owner, "ann"))
    assert '<html lang="zh-Hans">' in visitor.page().text
    sent = {"form_key": visitor.form_key(), "language": "en", "back": f"{BASE}/facts"}
    assert visitor.ask("POST", "/ui/language", sent).headers["location"] == f"{BASE}/facts"
    assert '<html lang="en">' in visitor.page().text
    visitor.cookies["mnemark-language"] = "xx"
    assert '<html lang="zh-Hans">' in visitor.page().text


def test_while_the_database_is_away_pages_say_so(
    client: TestClient, owner: Connection, postgres: Postgres
) -> None:
    visitor = Visitor(client, key_of(owner, "ann"))
    owner.close()
    postgres.stop("immediate")
    try:
        answer = visitor.page()
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert answer.headers["content-type"].startswith("text/html")
        assert Visitor(client).enter("mnk_x").status_code == 503
        assert Visitor(client).ask("GET", "/ui").status_code == 200
    finally:
        postgres.start()
    for _ in range(20):
        if (answer := visitor.page()).status_code == 200:
            break
    assert answer.status_code == 200
