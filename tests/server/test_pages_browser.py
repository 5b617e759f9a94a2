"""A person at the pages of a server, in a real browser: signs in, reads, tells, reviews, forgets, signs out.

Needs Chromium and `make browser`; skipped where they are not there.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("playwright", reason="no Playwright here: `make browser` installs it")
pytest.importorskip("axe_playwright_python", reason="no axe here: `make browser` installs it")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from interfaces.test_web_browser import CHROMIUM, chromium
from mnemark_server import tenants
from mnemark_server.database import connect
from server.processes import NodeProcess, post

__all__ = ["chromium"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `make browser` installs it"),
]
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "English": {"locale": "en-US", "viewport": {"width": 1200, "height": 900}},
    "phone in Chinese": {"locale": "zh-CN", "viewport": {"width": 390, "height": 844}},
    "without script": {
        "locale": "en-US", "java_script_enabled": False, "viewport": {"width": 1200, "height": 900},
    },
}  # fmt: skip
SCREENS: Final = (
    "", "sessions", "search?q=cat", "timeline", "facts", "review", "changes", "files", "attachments",
    "prompt?q=cat", "forget", "consolidate?look=1", "learned", "connect",
)  # fmt: skip


@pytest.fixture
def nodes(url: str, tmp_path: Path) -> Iterator[list[NodeProcess]]:
    """Two nodes of one database."""
    first = 43_000 + os.getpid() % 7_000
    found = [NodeProcess(url, tmp_path / f"node{n}", first + n) for n in range(2)]
    yield found
    for one in found:
        one.kill()


@pytest.fixture
def key(url: str, nodes: list[NodeProcess]) -> str:
    with connect(url) as connection:
        made = tenants.add_key(connection, "ann", "browser")
    said = [
        {"role": "user", "content": "My cat is called Nimbus.", "origin": "owner"},
        {"role": "assistant", "content": "Noted: Nimbus."},
        {"role": "user", "content": "我的猫喜欢晒太阳。", "origin": "owner"},
    ]
    port = nodes[0].port
    post(port, made, "/v1/turns", {"session": "chat:1", "turns": said})
    post(port, made, "/v1/session/end", {"session": "chat:1"})
    post(port, made, "/v1/remember", {"predicate": "city", "value": "Lisbon"})
    post(port, made, "/v1/remember", {"predicate": "city", "value": "Porto", "origin": "web"})
    return made


def clean(page: Page, *, script: bool) -> None:
    """One title, no finding of axe, and nothing wider than the window."""
    expect(page.locator("h1")).to_have_count(1)
    if not script:
        return
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == [], page.url
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_person_uses_the_memory_in_a_browser(
    chromium: Browser, nodes: list[NodeProcess], key: str, variant: str
) -> None:
    settings = VARIANTS[variant]
    script, zh = settings.get("java_script_enabled", True), settings["locale"] == "zh-CN"
    wrong: list[str] = []
    context = chromium.new_context(**settings)
    page = context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if "policy" in said.text.lower() else None)
    at = f"http://127.0.0.1:{nodes[0].port}"
    page.goto(at)
    clean(page, script=script)
    page.get_by_label("你的记忆的密钥" if zh else "The key of your memory").fill("mnk_wrong")
    page.get_by_role("button").click()
    expect(page.get_by_role("alert")).to_contain_text("打不开" if zh else "opens no memory")
    clean(page, script=script)
    page.get_by_label("你的记忆的密钥" if zh else "The key of your memory").fill(key)
    page.get_by_role("button").click()
    page.wait_for_url("**/ui/w/memory")
    assert context.cookies()[0]["httpOnly"]
    for screen in SCREENS:
        page.goto(f"{at}/ui/w/memory/{screen}".rstrip("/"))
        clean(page, script=script)
    page.goto(f"{at}/ui/w/memory/facts")
    page.get_by_text("告诉它" if zh else "Tell it something").click()
    page.locator("[name=sentence]").fill("I like green tea")
    page.locator("[name=sentence]").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("green tea")
    page.goto(f"{at}/ui/w/memory/review")
    page.locator("[data-accept]").first.click()
    expect(page.get_by_role("status").first).to_contain_text("Porto")
    other = f"http://127.0.0.1:{nodes[1].port}"  # browsers send a cookie to all ports of a host
    page.goto(f"{other}/ui/w/memory/search?q=cat")
    expect(page.locator("main")).to_contain_text("Nimbus")
    page.goto(f"{other}/ui/w/memory/forget?q=Nimbus")
    page.locator("button[value=hide]").click()
    expect(page.locator("h1")).to_contain_text("已隐藏" if zh else "Hidden")
    if page.locator(".menu").is_visible():
        page.locator(".menu").click()
    page.get_by_role("button", name="退出登录" if zh else "Sign out").click()
    page.wait_for_url("**/ui")
    page.goto(f"{other}/ui/w/memory/facts")
    expect(page.locator("#key")).to_be_visible()
    assert "Lisbon" not in page.content()
    context.close()
    assert wrong == []
