"""Who gets in: pages by a cookie that a ticket gave, the API by the token, and neither by the other's key."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from mnemark.files import platform
from mnemark_faces.web.refused import refusal_page
from mnemark_interfaces.http import door_file, guard, peer
from mnemark_interfaces.http.door import SESSION_SECONDS, BrowserSession, Door
from mnemark_interfaces.http.door_file import DoorFile
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
        ("HOME", "GET", {}, 200),
        ("HOME/w/x/search", "GET", {"sec_fetch_site": "same-origin"}, 200),
        ("HOME/w/x/search", "GET", {"sec_fetch_site": "none"}, 200),
        ("HOME/w/x/search", "GET", {"sec_fetch_site": "cross-site"}, 403),
        ("HOME/w/x/search", "GET", {"sec_fetch_site": "same-site"}, 403),  # another port of this machine
        ("HOME/w/x/search", "GET", {"origin": "http://evil.example"}, 403),
        ("HOME/w/x/search", "GET", {"host": "evil.example:7788"}, 403),
        ("HOME/w/x/search", "GET", {"host": "localhost:7788"}, 200),
        ("HOME/w/x/undo", "POST", OWN, 200),
        ("HOME/w/x/undo", "POST", OWN | {"sec_fetch_site": ""}, 200),  # an old browser: its origin decides
        ("HOME/w/x/undo", "POST", OWN | {"origin": ""}, 403),
        ("HOME/w/x/undo", "POST", OWN | {"origin": "null"}, 403),
        ("HOME/w/x/undo", "POST", OWN | {"origin": "http://127.0.0.1:9999"}, 403),
        ("HOME/w/x/undo", "POST", OWN | {"origin": "http://localhost:7788"}, 403),  # not the page's own
        ("HOME/w/x/undo", "POST", OWN | {"sec_fetch_site": "none"}, 403),
        ("HOME/w/x/undo", "POST", OWN | {"sec_fetch_site": "cross-site"}, 403),
        ("HOME/w/x/undo", "POST", OWN | {"content_type": JSON}, 415),
        ("HOME/w/x/undo", "POST", OWN | {"content_type": "text/plain"}, 415),
        ("HOME/w/x/undo", "POST", OWN | {"content_type": "multipart/form-data; boundary=x"}, 415),
        ("HOME/w/x/undo", "POST", OWN | {"content_encoding": "gzip"}, 415),
        ("HOME/w/x/undo", "PUT", OWN, 405),
        ("HOME/w/x/undo", "DELETE", OWN, 405),
        ("HOME/w/x/undo", "OPTIONS", {}, 405),
        ("HOME/w/%2e%2e/undo", "GET", {}, 400),
        ("HOME/w/../../v1/search", "GET", {}, 400),
        ("/v1/search", "POST", {"content_type": JSON}, 401),  # the cookie is no token
        ("/mcp", "POST", {"content_type": JSON}, 401),
        ("/hook/prompt", "POST", {"content_type": JSON}, 401),
        ("/health", "GET", {}, 401),
        ("/uix", "GET", {}, 401),
    ],
)
def test_with_the_cookie(ask: Guarded, path: str, method: str, headers: dict[str, Any], status: int) -> None:
    assert ask(path.replace("HOME", ask.door.home), method, cookie=ask.cookie(), **headers)[0] == status
    assert bool(ask.reached) == (status == 200)


@pytest.mark.parametrize("path", ["HOME", "HOME/w/x", "HOME/newer/x", "HOME/upload/x"])
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
    home = ask.door.home
    assert ask(home, cookie=f"{Door().cookie}={value}")[0] == 401
    assert ask(home, cookie=f"{cookie}; {name}=planted")[0] == 401
    assert ask(home, cookie=f"a=b; {cookie}")[0] == 200


def test_the_token_opens_the_api_alone(ask: Guarded) -> None:
    assert ask("/v1/search", "POST", authorization="Bearer secret", content_type=JSON)[0] == 200
    assert ask(f"{ask.door.home}/w/x", authorization="Bearer secret")[0] == 401
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


def test_a_session_ends_after_a_month_and_old_ones_make_room() -> None:
    clock = Clock()
    door = Door(clock=clock)
    first = door.enter(door.ticket("/ui"))
    assert first is not None
    assert door.session(first[0]) is not None
    clock.now += 30 * 86_400 + 1
    assert door.session(first[0]) is None
    kept = door.enter(door.ticket("/ui"))
    assert kept is not None
    for _ in range(40):
        door.enter(door.ticket("/ui"))
    assert door.session(kept[0]) is None


def test_forms_have_the_key_of_their_door() -> None:
    one, other = (BrowserSession(0.0, DoorFile().form_key) for _ in range(2))
    assert one.is_own_form(one.form_key)
    assert not one.is_own_form(other.form_key)
    assert not one.is_own_form("")
    assert not one.is_own_form("é")


def test_a_session_outlives_its_daemon_and_ends_with_signing_out() -> None:
    clock, kept = Clock(), DoorFile()
    saved: list[bytes] = []
    door = Door(kept, clock=clock, save=lambda one: saved.append(msgspec.json.encode(one)))
    entered = door.enter(door.ticket("/ui/x"))
    assert entered is not None
    assert entered[0].encode() not in saved[-1]  # only its hash is kept
    key = door.session(entered[0]).form_key  # type: ignore[union-attr]
    later = Door(msgspec.json.decode(saved[-1], type=DoorFile), clock=clock)
    assert (later.home, later.cookie) == (door.home, door.cookie)
    assert later.session(entered[0]).is_own_form(key)  # type: ignore[union-attr]
    clock.now -= SESSION_SECONDS  # a clock that was wrong makes no session longer
    assert later.session(entered[0]) is None
    clock.now += SESSION_SECONDS
    assert (later.browsers, later.sign_out(), later.browsers) == (1, 1, 0)
    assert later.session(entered[0]) is None


@pytest.mark.parametrize(
    "damaged",
    [b"", b"{}x", b"[]", b'{"home":"/"}', b'{"cookie":"a; b"}', b'{"port":99999}', b'{"form_key":""}'],
)
def test_a_damaged_file_of_the_door_makes_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bytes
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = DoorFile(port=23_456)
    door_file.save(first)
    assert door_file.load() == first
    file = platform.state_folder() / door_file.NAME
    platform.write_private(file, damaged)
    anew = door_file.load()
    assert anew.home not in {first.home, "/"}
    assert (anew.port, anew.sessions, len(anew.home)) == (0, {}, len(first.home))


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_a_file_that_others_may_read_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = DoorFile(sessions={"ab" * 32: time.time() + 60})
    door_file.save(first)
    (platform.state_folder() / door_file.NAME).chmod(0o644)
    assert door_file.load().sessions == {}


def test_the_port_is_the_same_until_another_program_takes_it() -> None:
    kept = DoorFile(sessions={"x": 1.0})
    first = next(kept.ports())
    kept.listens_at(first, asked=False)
    assert next(kept.ports()) == first == next(DoorFile().ports())
    assert kept.sessions  # the first port moves nobody
    kept.listens_at(first + 1, asked=True)
    assert (kept.moved_from, len(kept.sessions)) == (0, 1)
    kept.listens_at(first + 2, asked=False)
    assert (kept.port, kept.moved_from, kept.sessions) == (first + 2, first + 1, {})  # it was sent cookies
    door = Door(kept)
    assert (door.moved_from(), door.moved_from()) == (first + 1, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_whose_a_connection_is_is_known(monkeypatch: pytest.MonkeyPatch, family: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(family) as client:
        there = server.getsockname()
        try:
            client.connect(there if family == socket.AF_INET else (f"::ffff:{there[0]}", there[1]))
        except OSError:
            pytest.skip("no IPv6 here")
        here = ("127.0.0.1", client.getsockname()[1])
        assert not peer.is_of_another_user(here, there)
        own = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: own + 1)
        assert peer.is_of_another_user(here, there) == (own != 0)  # root may
        monkeypatch.undo()
    assert not peer.is_of_another_user(("127.0.0.1", 1), there)  # nothing is known of it
    assert not peer.is_of_another_user(None, there)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be another user")
def test_a_connection_that_another_user_opened_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = server.getsockname()
        server.settimeout(10)
        code = "import os, socket, sys; os.setuid(65534); other = socket.socket()"
        code += "; other.connect(('127.0.0.1', int(sys.argv[1]))); other.recv(1)"
        with subprocess.Popen([sys.executable, "-c", code, str(there[1])]) as nobody:
            accepted, here = server.accept()
            with accepted:
                assert peer.is_of_another_user(here, there)
            assert nobody.wait(10) == 0


def test_a_cookie_in_another_users_hands_opens_nothing(ask: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "is_of_another_user", lambda *_: True)
    assert ask(ask.door.home, cookie=ask.cookie())[0] == 403
    assert ask("/ui/enter")[0] == 200


def test_every_answer_to_a_browser_has_the_policy(ask: Guarded) -> None:
    for answer in (
        ask(ask.door.home, cookie=ask.cookie()),
        ask(ask.door.home),
        ask("/ui"),
        ask("/"),
        ask("/ui/enter"),
        ask("/ui/static/x.css"),
    ):
        headers = answer[1]
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
    assert "'unsafe" not in POLICY
    assert "frame-ancestors 'none'" in POLICY
    assert "content-security-policy" not in ask("/v1/search")[1]


def test_a_form_is_not_longer_than_forms_are(ask: Guarded) -> None:
    status, _ = ask(f"{ask.door.home}/w/x/edit", "POST", b"x" * (MAX_FORM + 1), cookie=ask.cookie(), **OWN)
    assert status == 413


def test_a_page_that_looks_by_itself_does_not_keep_the_daemon_alive(ask: Guarded) -> None:
    cookie = ask.cookie()
    ask(f"{ask.door.home}/newer/x", cookie=cookie)
    ask("/ui/static/style.css")
    assert ask.activity.served == 0
    ask(f"{ask.door.home}/w/x", cookie=cookie)
    assert ask.activity.served == 1


def test_the_session_reaches_the_pages(ask: Guarded) -> None:
    ask(ask.door.home, cookie=ask.cookie())
    assert isinstance(ask.reached[0][SESSION], BrowserSession)


def test_the_table_has_one_door_for_each_path() -> None:
    rules = doors("/ui/home")
    expected = {
        "/": "open", "/v1/x": "token", "/uix": "token", "/home/w": "token", "/ui": "open", "/ui/w": "open",
        "/ui/home": "cookie", "/ui/home/newer/x": "cookie", "/ui/home/enter": "cookie",
        "/ui/home/upload/x": "upload", "/ui/enter": "ticket", "/ui/enters": "open", "/ui/static/a": "open",
    }  # fmt: skip
    assert {path: rule_of(path, rules).door for path in expected} == expected
    assert rules[-1].path == ""
