"""A browser at the pages of a server, without a window: it keeps cookies, and sends forms as pages do."""

import asyncio
import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

from starlette.testclient import TestClient

from mnemark_server import tenants
from mnemark_server.database import Connection

BASE = "/ui/w/memory"
FORM = re.compile(r'<form[^>]*?\bmethod="post"[^>]*>.*?</form>', re.DOTALL)
LINK = re.compile(r'(?:href|data-later)="(/ui/[^"#]*)')
Response = Any
"""Of whichever httpx the client is made with."""


class Visitor:
    """A browser; it can be sent to another node, as a balancer does."""

    def __init__(self, client: TestClient, key: str = "", *, language: str = "en", origin: str = "") -> None:
        self.client = client
        self.language = language
        self.origin = origin or str(client.base_url).rstrip("/")
        self.cookies: dict[str, str] = {}
        if key:
            entered = self.enter(key)
            assert entered.status_code == 303, entered.text

    def enter(self, key: str, **fields: str) -> Response:
        return self.ask("POST", "/ui/enter", {"key": key, **fields})

    def ask(self, method: str, path: str, fields: Any = None, **headers: str) -> Response:
        """Send a request, and keep the cookies of its answer."""
        sent = {
            "accept-language": self.language, "sec-fetch-site": "same-origin",
            "host": self.origin.split("//")[1],
            "cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
        }  # fmt: skip
        if method == "POST":
            sent |= {"origin": self.origin, "content-type": "application/x-www-form-urlencoded"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        given = {name.encode(): value.encode("latin-1") for name, value in sent.items()}
        data = urlencode(fields or {}, doseq=True)
        self.client.cookies.clear()
        answer = self.client.request(
            method, path, content=data if method == "POST" else None, headers=given, follow_redirects=False
        )
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value.strip('"')
            if "Max-Age=0" in line:
                del self.cookies[name]
        return answer

    def page(self, name: str = "", **query: Any) -> Response:
        asked = f"?{urlencode(query, doseq=True)}" if query else ""
        return self.ask("GET", f"{BASE}/{name}{asked}" if name else BASE + asked)

    def send(self, name: str, fields: Any = None, *, key: str | None = None) -> Response:
        """Send a form with the key of the forms of this session."""
        return self.ask("POST", f"{BASE}/{name}", [("form_key", key or self.form_key()), *_pairs(fields)])

    def form_key(self) -> str:
        (key, *_) = re.findall(r'name="form_key" value="(\w+)"', self.page("sessions").text)
        return str(key)

    def follow(self, answer: Response) -> Response:
        assert answer.status_code == 303, answer.text
        return self.ask("GET", answer.headers["location"].partition("#")[0])


def _pairs(fields: Any) -> list[tuple[str, str]]:
    given = fields.items() if isinstance(fields, dict) else fields or ()
    return [(name, one) for name, value in given for one in (value if isinstance(value, list) else [value])]


def forms(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The forms of a page that send: where to, and what they hold."""
    found = []
    for form in FORM.findall(text):
        action = re.search(r'action="([^"]*)"', form)
        assert action is not None
        fields = re.findall(r'<(?:input|button)[^>]*?name="(\w+)" value="([^"]*)"', form)
        found.append((html.unescape(action[1]), [(name, html.unescape(value)) for name, value in fields]))
    return found


def links(text: str) -> list[str]:
    """Where the links of a page lead, and what it loads by itself."""
    return [html.unescape(one) for one in LINK.findall(text)]


@asynccontextmanager
async def around() -> AsyncIterator[None]:
    """What a node of a test runs inside of."""
    yield
    await asyncio.sleep(0)


def key_of(owner: Connection, name: str, **given: Any) -> str:
    return tenants.add_key(owner, name, given.pop("called", "browser"), **given)
