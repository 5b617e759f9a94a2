"""A browser without a window: keeps the cookie, sends forms as pages do, follows nothing by itself."""

import re
import urllib.error
import urllib.request
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from interfaces.daemons import Running

VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"})


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


OF_FILE = {"Origin": "null", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
           "Sec-Fetch-Dest": "document"}  # fmt: skip
"""What browsers say of a form that a file posts."""
_OPENER = urllib.request.build_opener(_NoRedirect)


class Answer:
    """An answer, as text."""

    def __init__(self, status: int, headers: Any, data: bytes) -> None:
        self.status = status
        self.headers = headers
        self.data = data
        self.text = data.decode("utf-8", "replace")

    def forms(self, action: str) -> list[dict[str, list[str]]]:
        """The hidden fields of the forms that post to a page."""
        found = []
        for form in re.findall(
            rf'<form method="post" action="[^"]*/{action}"[^>]*>.*?</form>', self.text, re.DOTALL
        ):
            fields: dict[str, list[str]] = {}
            for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form):
                fields.setdefault(name, []).append(_unescaped(value))
            found.append(fields)
        return found


class Browser:
    """A browser at the pages of a workspace."""

    def __init__(self, here: Running, workspace: Path, language: str = "en") -> None:
        self.here = here
        self.language = language
        self.cookie = ""
        entered = self.enter(here.post("/v1/ui/ticket", workspace=str(workspace))["ticket"])
        assert entered.status == 200, entered.text
        self.cookie = entered.headers["set-cookie"].partition(";")[0]
        (self.base,) = re.findall(r'http-equiv="refresh" content="0; url=([^"]*)"', entered.text)
        self.home = self.base.rpartition("/w/")[0]

    def enter(self, ticket: str, **headers: str) -> Answer:
        return self.open("/ui/enter", urlencode({"ticket": ticket}).encode(), **OF_FILE | headers)

    def open(self, path: str, data: bytes | None = None, **headers: str) -> Answer:
        url = path if path.startswith("http") else self.here.at.url + path
        given = {"Cookie": self.cookie, "Accept-Language": self.language, "Sec-Fetch-Site": "same-origin"}
        if data is not None:
            given |= {"Origin": self.here.at.url, "Content-Type": "application/x-www-form-urlencoded"}
        request = urllib.request.Request(url, data=data, headers=given | headers)
        try:
            with _OPENER.open(request, timeout=30) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read())

    def page(self, page: str = "", **query: Any) -> Answer:
        asked = f"?{urlencode(query, doseq=True)}" if query else ""
        return self.open(f"{self.base}/{page}{asked}" if page else self.base + asked)

    def send(self, page: str, fields: dict[str, Any] | Sequence[tuple[str, str]]) -> Answer:
        return self.open(f"{self.base}/{page}", urlencode(fields, doseq=True).encode())

    def follow(self, answer: Answer) -> Answer:
        assert answer.status == 303, answer.text
        return self.open(answer.headers["location"].partition("#")[0])


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(f"<{tag} {' '.join(sorted(name for name, _ in attrs))}>")

    def handle_endtag(self, tag: str) -> None:
        self.found.append(f"</{tag}>")


def tree(text: str) -> list[str]:
    """The elements of a page with the names of their attributes, without texts and values."""
    parser = _Tree()
    parser.feed(text)
    parser.close()
    return parser.found


def _unescaped(text: str) -> str:
    import html

    return html.unescape(text)
