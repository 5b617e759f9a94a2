"""Who gets in: pages by a cookie that a ticket gave, the API by the token, and neither by the other's key."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from mnemark_faces.web.refused import refusal_page
from mnemark_interfaces.http.door import BrowserSession, Door
from mnemark_interfaces.http.guard import MAX_FORM, POLICY, SESSION, Activity, Guard, doors, rule_of

HOST = "127.0.0.1:7788"
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Guarded:
    """A guard before an application that answers 200 and keeps what reached it."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.door = Door(clock=self.clock)
        self.activity = Activity()
        self.reached: list[MutableMapping[str, Any]] = []
        self.guard = Guard(
            self._app, token="secret", hosts=frozenset({HOST, "localhost:7788"}), activity=self.activity,
            door=self.door, refused=refusal_page,
        )  # fmt: skip

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.reached.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})

    def __call__(
        self, path: str, method: str = "GET", body: bytes = b"", **headers: Any
    ) -> tuple[int, dict[str, str]]:
        sent: list[Any] = []
        given = {"host": HOST, "content-length": str(len(body))} | {
            name.replace("_", "-"): value for name, value in headers.items() if value
        }
        scope = {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
        }  # fmt: skip

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.guard(scope, receive, send))
        return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}

    def cookie(self) -> str:
        entered = self.door.enter(self.door.ticket("/ui/w/x"))
        assert entered is not None
        return f"{self.door.cookie}={entered[0]}"


@pytest.fixture
def ask() -> Guarded:
    return Guarded()


OWN = {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin", "content_type": FORM}


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/ui", "GET", {}, 200),
        ("/ui/w/x/search", "GET", {"sec_fetch_site": "same-origin"}, 200),
        ("/ui/w/x/search", "GET", {"sec_fetch_site": "none"}, 200),
        ("/ui/w/x/search", "GET", {"sec_fetch_site": "cross-site"}, 403),
        ("/ui/w/x/search", "GET", {"sec_fetch_site": "same-site"}, 403),  # another port of this machine
        ("/ui/w/x/search", "GET", {"origin": "http://evil.example"}, 403),
        ("/ui/w/x/search", "GET", {"host": "evil.example:7788"}, 403),
        ("/ui/w/x/search", "GET", {"host": "localhost:7788"}, 200),
        ("/ui/w/x/undo", "POST", OWN, 200),
        ("/ui/w/x/undo", "POST", OWN | {"sec_fetch_site": ""}, 200),  # an old browser: its origin decides
        ("/ui/w/x/undo", "POST", OWN | {"origin": ""}, 403),
        ("/ui/w/x/undo", "POST", OWN | {"origin": "null"}, 403),
        ("/ui/w/x/undo", "POST", OWN | {"origin": "http://127.0.0.1:9999"}, 403),
        ("/ui/w/x/undo", "POST", OWN | {"origin": "http://localhost:7788"}, 403),  # not the page's own
        ("/ui/w/x/undo", "POST", OWN | {"sec_fetch_site": "none"}, 403),
        ("/ui/w/x/undo", "POST", OWN | {"sec_fetch_site": "cross-site"}, 403),
        ("/ui/w/x/undo", "POST", OWN | {"content_type": JSON}, 415),
        ("/ui/w/x/undo", "POST", OWN | {"content_type": "text/plain"}, 415),
        ("/ui/w/x/undo", "POST", OWN | {"content_type": "multipart/form-data; boundary=x"}, 415),
        ("/ui/w/x/undo", "POST", OWN | {"content_encoding": "gzip"}, 415),
        ("/ui/w/x/undo", "PUT", OWN, 405),
        ("/ui/w/x/undo", "DELETE", OWN, 405),
        ("/ui/w/x/undo", "OPTIONS", {}, 405),
        ("/ui/w/%2e%2e/undo", "GET", {}, 400),
        ("/ui/w/../../v1/search", "GET", {}, 400),
        ("/v1/search", "POST", {"content_type": JSON}, 401),  # the cookie is no token
        ("/mcp", "POST", {"content_type": JSON}, 401),
        ("/hook/prompt", "POST", {"content_type": JSON}, 401),
        ("/health", "GET", {}, 401),
        ("/uix", "GET", {}, 401),
    ],
)
def test_with_the_cookie(ask: Guarded, path: str, method: str, headers: dict[str, Any], status: int) -> None:
    assert ask(path, method, cookie=ask.cookie(), **headers)[0] == status
    assert bool(ask.reached) == (status == 200)


@pytest.mark.parametrize("path", ["/ui", "/ui/w/x", "HOME", "HOME/w/x", "HOME/newer/x"])
@pytest.mark.parametrize(
    "headers",
    [
        {}, {"authorization": "Bearer secret"}, {"cookie": "NAME=guess"}, {"cookie": "NAME="},
        {"cookie": "other=1"}, {"cookie": "NAME"},
    ],
)  # fmt: skip
def test_pages_need_the_cookie(ask: Guarded, path: str, headers: dict[str, str]) -> None:
    given = {name: value.replace("NAME", ask.door.cookie) for name, value in headers.items()}
    status, sent = ask(path.replace("HOME", ask.door.home), "GET", b"", **given)
    assert (status, ask.reached) == (401, [])
    assert sent["content-type"].startswith("text/html")


def test_a_cookie_of_another_daemon_or_sent_twice_is_none(ask: Guarded) -> None:
    cookie = ask.cookie()
    name, _, value = cookie.partition("=")
    assert ask("/ui", cookie=f"{Door().cookie}={value}")[0] == 401
    assert ask("/ui", cookie=f"{cookie}; {name}=planted")[0] == 401
    assert ask("/ui", cookie=f"a=b; {cookie}")[0] == 200


def test_the_token_opens_the_api_alone(ask: Guarded) -> None:
    assert ask("/v1/search", "POST", authorization="Bearer secret", content_type=JSON)[0] == 200
    assert ask("/ui/w/x", authorization="Bearer secret")[0] == 401
    assert ask("/v1/search", "POST", authorization="Bearer secret", content_type=FORM)[0] == 415


def test_a_ticket_opens_once_and_for_a_minute() -> None:
    clock = Clock()
    door = Door(clock=clock)
    ticket = door.ticket("/ui/w/x")
    assert door.enter("guess") is None
    entered = door.enter(ticket)
    assert entered is not None
    assert entered[1] == "/ui/w/x"
    assert door.enter(ticket) is None
    late = door.ticket("/ui/w/x")
    assert door.is_waiting(late)
    clock.now += 61
    assert not door.is_waiting(late)
    assert door.enter(late) is None


def test_a_ticket_is_taken_as_people_type_it() -> None:
    door = Door()
    for typed in (str.upper, lambda one: one.replace("-", " "), lambda one: f" {one.replace('-', '')}\n"):
        ticket = door.ticket("/ui/w/x")
        assert door.is_waiting(typed(ticket))
        assert door.enter(typed(ticket)) is not None
        assert not door.is_waiting(ticket)
    assert door.enter("") is None
    assert not door.is_waiting("---")


def test_nobody_can_guess_where_pages_are_and_what_the_cookie_is_called() -> None:
    some = [Door() for _ in range(20)]
    assert len({one.home for one in some}) == len({one.cookie for one in some}) == 20
    assert all(len(one.home) >= len("/ui/") + 32 for one in some)  # 128 bits


FILE = {
    "origin": "null", "sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate",
    "sec_fetch_dest": "document", "content_type": FORM,
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {}, 200),
        ("GET", {"sec_fetch_site": "none"}, 200),
        ("GET", {"sec_fetch_site": "cross-site"}, 403),
        ("GET", {"origin": "http://evil.example"}, 403),
        ("POST", OWN, 200),  # the ticket was typed
        ("POST", FILE, 200),
        ("POST", {"content_type": FORM}, 200),  # an old browser: it names neither origin nor site
        ("POST", {"content_type": FORM, "origin": "null"}, 200),
        ("POST", FILE | {"origin": "http://evil.example"}, 403),
        ("POST", FILE | {"origin": "http://127.0.0.1:9999"}, 403),
        ("POST", FILE | {"origin": "file://"}, 403),
        ("POST", FILE | {"sec_fetch_site": "same-site"}, 403),
        ("POST", FILE | {"sec_fetch_site": "same-origin"}, 403),
        ("POST", FILE | {"sec_fetch_mode": "cors"}, 403),  # a script
        ("POST", FILE | {"sec_fetch_mode": "no-cors"}, 403),
        ("POST", FILE | {"sec_fetch_dest": "iframe"}, 403),
        ("POST", FILE | {"content_type": JSON}, 415),
        ("POST", FILE | {"content_type": "text/plain"}, 415),
        ("POST", FILE | {"host": "evil.example:7788"}, 403),
        ("PUT", FILE, 405),
    ],
)
def test_where_a_ticket_is_posted(ask: Guarded, method: str, headers: dict[str, Any], status: int) -> None:
    assert ask("/ui/enter", method, **headers)[0] == status
    assert bool(ask.reached) == (status == 200)


@pytest.mark.parametrize("path", ["/ui", "HOME/w/x/undo", "/ui/static/x", "/v1/search"])
def test_a_file_posts_nothing_but_a_ticket(ask: Guarded, path: str) -> None:
    status, _ = ask(path.replace("HOME", ask.door.home), "POST", b"", cookie=ask.cookie(), **FILE)
    assert (status, ask.reached) == (403, [])


def test_a_session_ends_after_half_a_day_and_old_ones_make_room() -> None:
    clock = Clock()
    door = Door(clock=clock)
    first = door.enter(door.ticket("/ui"))
    assert first is not None
    assert door.session(first[0]) is not None
    clock.now += 12 * 3600 + 1
    assert door.session(first[0]) is None
    kept = door.enter(door.ticket("/ui"))
    assert kept is not None
    for _ in range(40):
        door.enter(door.ticket("/ui"))
    assert door.session(kept[0]) is None


def test_forms_have_a_key_of_their_session() -> None:
    one, other = BrowserSession(0.0), BrowserSession(0.0)
    assert one.is_own_form(one.form_key)
    assert not one.is_own_form(other.form_key)
    assert not one.is_own_form("")
    assert not one.is_own_form("é")


def test_every_answer_to_a_browser_has_the_policy(ask: Guarded) -> None:
    for answer in (ask("/ui", cookie=ask.cookie()), ask("/ui"), ask("/ui/enter"), ask("/ui/static/x.css")):
        headers = answer[1]
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
    assert "'unsafe" not in POLICY
    assert "frame-ancestors 'none'" in POLICY
    assert "content-security-policy" not in ask("/v1/search")[1]


def test_a_form_is_not_longer_than_forms_are(ask: Guarded) -> None:
    status, _ = ask("/ui/w/x/edit", "POST", b"x" * (MAX_FORM + 1), cookie=ask.cookie(), **OWN)
    assert status == 413


def test_a_page_that_looks_by_itself_does_not_keep_the_daemon_alive(ask: Guarded) -> None:
    cookie = ask.cookie()
    ask(f"{ask.door.home}/newer/x", cookie=cookie)
    ask("/ui/static/style.css")
    assert ask.activity.served == 0
    ask("/ui/w/x", cookie=cookie)
    assert ask.activity.served == 1


def test_the_session_reaches_the_pages(ask: Guarded) -> None:
    ask("/ui", cookie=ask.cookie())
    assert isinstance(ask.reached[0][SESSION], BrowserSession)


def test_the_table_has_one_door_for_each_path() -> None:
    rules = doors("/ui/home")
    expected = {
        "/": "token", "/v1/x": "token", "/uix": "token", "/home/w": "token", "/ui": "cookie",
        "/ui/w": "cookie", "/ui/home": "cookie", "/ui/home/newer/x": "cookie", "/ui/home/enter": "cookie",
        "/ui/enter": "ticket", "/ui/enters": "cookie", "/ui/static/a": "open",
    }  # fmt: skip
    assert {path: rule_of(path, rules).door for path in expected} == expected
    assert rules[-1].path == ""
