"""The pages in a real browser: flows of people, without a foreign request, a violation or a finding of axe.

Needs Chromium and `make browser`; skipped where they are not there.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("playwright", reason="no Playwright here: `make browser` installs it")
pytest.importorskip("axe_playwright_python", reason="no axe here: `make browser` installs it")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Dialog, Locator, Page, expect, sync_playwright

from interfaces.daemons import Running, running, surroundings
from interfaces.test_web_pages import HOSTILE, fill
from mnemark import Memory

CHROMIUM: Final = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `make browser` installs it"),
]

VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1200, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1200, "height": 900}},
    "phone in Chinese": {"locale": "zh-CN", "viewport": {"width": 390, "height": 844}},
    "phone, dark": {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}},
    "without script": {"java_script_enabled": False, "viewport": {"width": 1200, "height": 900}},
}
SCREENS: Final = (
    "", "search", "search?q=zebra", "timeline", "facts", "facts?as_of=2025-06-01", "review", "changes",
    "sessions", "files", "files?path=note.md", "edit?path=MEMORY.md", "prompt?q=zebra+stripes", "forget",
    "forget?q=zebra", "forget?q=zebra&erase=1", "consolidate?look=1", "health?disk=1", "connect?agent=codex",
    "import", "attachments",
    "timeline?session=chat%3A1",
)  # fmt: skip
BEHIND: Final = {
    "facts": ".known a.words",
    "timeline?kind=turn": ".talk .words a",
    "changes": ".did a.words",
    "sessions": ".talk a.words",
    "search?q=white": ".hit a.words, .answer a.words",
}
"""Lists, and the link of an entry in each."""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def here(state: Path) -> Iterator[Running]:
    with running(state) as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=as_root)
        yield browser
        browser.close()


class Window:
    """A window at a workspace, which keeps what must not happen."""

    def __init__(self, chromium: Browser, here: Running, root: Path, **settings: Any) -> None:
        self.wrong: list[str] = []
        self.context: BrowserContext = chromium.new_context(**settings)
        self.page: Page = self.context.new_page()
        self.page.on("console", lambda said: self.wrong.append(f"console: {said.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("dialog", self._refuse)
        self.page.on("request", lambda asked: self._check(asked.url, here.at.url))
        self.page.add_init_script(
            "addEventListener('securitypolicyviolation', e => console.error('policy ' + e.violatedDirective))"
        )
        made = here.post("/v1/ui/ticket", workspace=str(root))
        self.page.goto(here.at.url + made["path"])
        self.page.get_by_label("Ticket").or_(self.page.get_by_label("通行码")).fill(made["ticket"])
        self.page.get_by_role("button").click()
        self.page.wait_for_url("**/w/*")
        self.base = self.page.url

    def _refuse(self, dialog: Dialog) -> None:
        self.wrong.append("dialog")
        dialog.dismiss()

    def _check(self, url: str, own: str) -> None:
        if not url.startswith(f"{own}/"):
            self.wrong.append(f"foreign: {url}")

    def open(self, screen: str) -> Page:
        self.page.goto(f"{self.base}/{screen}" if screen else self.base)
        return self.page

    def close(self) -> None:
        self.context.close()
        assert self.wrong == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_screen_is_clean(chromium: Browser, here: Running, tmp_path: Path, variant: str) -> None:
    fill(tmp_path, "plain words, 中文也有")
    window = Window(chromium, here, tmp_path, **VARIANTS[variant])
    for screen in (*SCREENS, *BEHIND):
        page = window.open(screen)
        if screen in BEHIND:
            with page.expect_navigation():
                page.locator(BEHIND[screen]).first.click()
        expect(page.locator("h1")).to_have_count(1)
        if variant == "without script":
            continue
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == [], screen
        wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert page.evaluate(wide), screen
        assert page.evaluate("document.querySelectorAll('*').length") <= 1500, screen
        assert page.evaluate("document.documentElement.outerHTML.length") <= 100_000, screen
    window.close()


def test_hostile_text_stays_text_in_a_browser(chromium: Browser, here: Running, tmp_path: Path) -> None:
    counts: list[list[int]] = []
    for number, text in enumerate((" ".join(HOSTILE), "plain words " * 20)):
        root = tmp_path / str(number)
        root.mkdir()
        fill(root, text)
        window = Window(chromium, here, root)
        found = []
        for screen in SCREENS:
            page = window.open(screen)
            tags = "script, iframe, img, object, embed, style, base, meta[http-equiv]"
            found.append(page.evaluate(f"document.querySelectorAll('{tags}').length"))
            assert page.evaluate("window.pwned === undefined")
        counts.append(found)
        window.close()
    assert counts[0] == counts[1]


@pytest.mark.parametrize("script", [True, False], ids=["script", "without script"])
def test_find_why_forget_undo(chromium: Browser, here: Running, tmp_path: Path, *, script: bool) -> None:
    fill(tmp_path, "plain")
    window = Window(chromium, here, tmp_path, java_script_enabled=script)
    page = window.open("search")
    page.get_by_role("searchbox").fill("answer plain")
    page.get_by_role("button", name="Search").click()
    page.locator(".hit", has_text="answer plain").first.get_by_role("link").first.click()
    expect(page.get_by_text("Found at rank")).to_be_visible()
    page.get_by_role("link", name="Forget…").click()
    page.get_by_role("button", name="Hide 1 item").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Hidden")
    with Memory.open(tmp_path, readonly=True) as memory:
        assert "answer plain" not in [hit.text for hit in memory.search("answer plain").hits]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Found by searches again")
    with Memory.open(tmp_path, readonly=True) as memory:
        assert "answer plain" in [hit.text for hit in memory.search("answer plain").hits]
    window.close()


def test_twenty_are_reviewed_with_the_keyboard(chromium: Browser, here: Running, tmp_path: Path) -> None:
    (tmp_path / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    with Memory.open(tmp_path) as memory:
        memory.remember_many(
            [{"predicate": f"thing {n}", "value": f"value {n}", "origin": "web"} for n in range(20)]
        )
    window = Window(chromium, here, tmp_path)
    page = window.open("")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/review")
    for left in range(20, 0, -1):
        expect(page.locator("h1 small")).to_contain_text(str(left))
        with page.expect_navigation():
            page.keyboard.press("y" if left % 2 else "n")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    window.close()
    with Memory.open(tmp_path, readonly=True) as memory:
        assert len(list(memory.facts())) == 10


def test_facts_as_of_a_day(chromium: Browser, here: Running, tmp_path: Path) -> None:
    fill(tmp_path, "plain")
    window = Window(chromium, here, tmp_path)
    page = window.open("facts")
    expect(page.get_by_role("link", name="white plain")).to_be_visible()
    page.get_by_label("As of").fill("2025-06-01")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("link", name="black plain")).to_be_visible()
    expect(page.get_by_role("link", name="white plain")).to_have_count(0)
    window.close()


@pytest.mark.parametrize("script", [True, False], ids=["script", "without script"])
def test_a_fact_is_corrected_where_it_stands(
    chromium: Browser, here: Running, tmp_path: Path, *, script: bool
) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.remember_many(
            [{"predicate": f"thing {n}", "value": f"value {n}", "subject": "zebra"} for n in range(60)]
        )
    window = Window(chromium, here, tmp_path, java_script_enabled=script)
    page = window.open("facts")
    row = page.locator(".known > li", has_text="value 47.")
    row.scroll_into_view_if_needed()
    row.hover()
    before = row.bounding_box()
    row.get_by_role("link", name="Edit").click()
    field = page.get_by_label("What is right")
    expect(field).to_have_value("value 47")
    if script:
        expect(field).to_be_focused()
        assert page.url == f"{window.base}/facts", "it opened in its place"
        assert row_top(page.locator(".editing")) == pytest.approx(before["y"] if before else 0, abs=60)
    field.fill("value 470")
    page.get_by_role("button", name="Correct it").click()
    expect(page.get_by_role("status")).to_contain_text("value 470")
    corrected = page.locator(".known > li", has_text="value 470.")
    expect(corrected).to_be_in_viewport()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.locator(".known > li", has_text="value 47.")).to_have_count(1)
    window.close()


@pytest.mark.parametrize("script", [True, False], ids=["script", "without script"])
def test_a_phone_has_the_pages_behind_a_menu(
    chromium: Browser, here: Running, tmp_path: Path, *, script: bool
) -> None:
    fill(tmp_path, "plain")
    window = Window(
        chromium, here, tmp_path, java_script_enabled=script, viewport={"width": 390, "height": 844}
    )
    page = window.open("timeline")
    title = page.locator("h1").bounding_box()
    assert title is not None
    assert title["y"] < 100, "the page begins near the top"
    expect(page.locator("nav")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation").get_by_role("link", name="What I know").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("What I know of you")
    window.close()


def test_what_is_tapped_on_a_phone_is_large_enough(chromium: Browser, here: Running, tmp_path: Path) -> None:
    fill(tmp_path, "plain")
    window = Window(chromium, here, tmp_path, viewport={"width": 390, "height": 844})
    tapped = ".button, button:not(.quiet), select, input:not([type=checkbox]), summary, nav a, .facets a"
    low = f"""[...document.querySelectorAll("{tapped}")].filter(one => one.getClientRects().length
      && !one.closest("li, article, .hit") && one.getBoundingClientRect().height < 39.5)
      .map(one => one.outerHTML.slice(0, 90))"""
    for screen in SCREENS:
        assert window.open(screen).evaluate(low) == [], screen
    window.close()


def row_top(row: Locator) -> float:
    box = row.bounding_box()
    assert box is not None
    return float(box["y"])


@pytest.mark.parametrize("script", [True, False], ids=["script", "without script"])
def test_erase_with_a_receipt(chromium: Browser, here: Running, tmp_path: Path, *, script: bool) -> None:
    fill(tmp_path, "plain")
    window = Window(chromium, here, tmp_path, java_script_enabled=script)
    page = window.open("forget")
    page.get_by_label("Words").fill("answer")
    page.get_by_role("button", name="Look first").click()
    page.get_by_role("button", name="Erase…").click()
    expect(page.get_by_text("It stands in")).to_be_visible()
    assert page.url == f"{window.base}/forget", "a history keeps addresses"
    page.get_by_label("Type 1 to confirm").fill("1")
    page.get_by_role("button", name="Erase 1 item").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Erased")
    expect(page.get_by_role("heading", name="Removed from")).to_be_visible()
    window.close()
    assert not any(b"answer plain" in one.read_bytes() for one in tmp_path.glob("sessions/*"))


def test_a_consolidation_is_seen_then_done_then_undone(
    chromium: Browser, here: Running, tmp_path: Path
) -> None:
    fill(tmp_path, "plain")
    window = Window(chromium, here, tmp_path)
    page = window.open("consolidate")
    page.get_by_role("link", name="Show what it would change").click()
    expect(page.locator(".gains ins").first).to_be_visible()
    before = (tmp_path / "MEMORY.md").read_text("utf-8")
    page.get_by_role("button", name="Do what is ticked").click()
    expect(page.get_by_role("status")).to_contain_text("Consolidated")
    assert any((tmp_path / name).exists() for name in ("USER.md", "MEMORY.md"))
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Undone")
    window.close()
    assert (tmp_path / "MEMORY.md").read_text("utf-8") == before


def test_the_keyboard_alone_reaches_everything(chromium: Browser, here: Running, tmp_path: Path) -> None:
    fill(tmp_path, "plain")
    window = Window(chromium, here, tmp_path)
    page = window.open("search?q=zebra")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement === document.querySelectorAll('[data-row]')[1]")
    page.keyboard.press("Enter")
    page.wait_for_url("**/item?*")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    window.close()


class Neighbour:
    """A server on another port: it writes down what browsers send it, and plants a cookie."""

    def __init__(self, planted: str) -> None:
        self.asked: list[tuple[str, str, str]] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                sent = self.headers
                asked.append((self.path, sent.get("cookie", ""), sent.get("referer", "")))
                self.send_response(200)
                self.send_header("Set-Cookie", f"{planted}=planted; Path=/")
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>neighbour</title>")

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def test_a_server_on_another_port_gets_neither_cookie_nor_address(
    chromium: Browser, here: Running, tmp_path: Path
) -> None:
    fill(tmp_path, "plain words")
    window = Window(chromium, here, tmp_path)
    (cookie,) = window.context.cookies()
    neighbour = Neighbour(f"mnemark-ui-{here.port}")
    try:
        page = window.context.new_page()
        paths = ["/", "/ui", "/ui/enter", "/ui/w/x", "/ui/static/style.css"]
        for path in paths:
            page.goto(window.base)
            page.evaluate("url => { location.href = url }", neighbour.url + path)
            page.wait_for_url(neighbour.url + path)
        page.goto(window.base)
        assert page.url == window.base
        expect(page.locator("nav")).to_be_visible()
    finally:
        neighbour.close()
    pages = [one for one in neighbour.asked if one[0] in paths]
    assert [path for path, _, _ in pages] == paths
    assert all("=planted" in sent for _, sent, _ in pages[1:]), "it gets cookies of other ports"
    home = window.base.removeprefix(here.at.url).split("/")[2]
    for asked in neighbour.asked:
        assert not any(secret in part for secret in (cookie["value"], home) for part in asked), asked
    window.close()


@pytest.mark.parametrize("script", [True, False])
def test_the_file_of_the_command_lets_the_browser_in(
    chromium: Browser, here: Running, state: Path, tmp_path: Path, *, script: bool
) -> None:
    fill(tmp_path, "plain words")
    note = tmp_path / "opened"
    opener = tmp_path / "opener.py"
    opener.write_text(f"import sys; open({str(note)!r}, 'w').write(sys.argv[1])", "utf-8")
    command = subprocess.Popen(
        [sys.executable, "-m", "mnemark", "web", "-w", str(tmp_path)],
        env=surroundings(state) | {"BROWSER": f"{sys.executable} {opener} %s &"},
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30
    while not note.exists() or not note.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    context = chromium.new_context(java_script_enabled=script)
    page = context.new_page()
    page.goto(note.read_text(), wait_until="commit")
    if not script:
        page.get_by_role("button").click()
    page.wait_for_url("**/w/*")
    expect(page.locator("nav")).to_be_visible()
    _, said = command.communicate(timeout=60)
    assert command.returncode == 0
    assert said.startswith(f"Opened {tmp_path} in the browser; you can bookmark http://127.0.0.1:")
    (cookie,) = context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.url.startswith(here.at.url + cookie["path"])
    context.close()
