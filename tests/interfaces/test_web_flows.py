"""What people come to the pages for, with clicks and keys counted: each may take so many and no more.

A click or a key that acts counts one; words that are typed do not, nor the Enter that ends them. Needs
Chromium and `make browser`, as `test_web_browser.py`.
"""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("playwright", reason="no Playwright here: `make browser` installs it")
pytest.importorskip("axe_playwright_python", reason="no axe here: `make browser` installs it")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

import month
from interfaces.daemons import Running
from interfaces.test_web_browser import CHROMIUM, VARIANTS, Window, chromium, here, state
from mnemark import Memory

__all__ = ["chromium", "here", "state"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `make browser` installs it"),
]
KNOWN: Final = "penicillin"
SCREENS: Final = (
    "", "search?q=tidewatch", "search?q=zzzzqqq", "timeline", "timeline?kind=turn", "facts", "review",
    "learned", "changes", "sessions", "files", "files?path=MEMORY.md", "edit?path=MEMORY.md",
    "prompt?q=tidewatch", "forget", "consolidate?look=1", "health?disk=1", "connect?agent=codex", "import",
    "attachments", "settings",
)  # fmt: skip
LOOKS: Final = [*itertools.product(month.LANGUAGES, ("light", "phone, dark"))]
BEHIND: Final = {
    "facts": "[data-row] a",
    "sessions": "[data-row] a",
    "changes": "[data-row] a",
    "review": "[data-edit]",
}
"""Lists, and the link of an entry in each."""


class Hand:
    """A person at a page, who counts."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def click(self, what: Locator) -> None:
        """Click the first of something that is seen."""
        self.count += 1
        what.first.click()

    def press(self, key: str) -> None:
        """Press a key."""
        self.count += 1
        self.page.keyboard.press(key)

    def type(self, words: str) -> None:
        """Type words into the field that has the focus."""
        field = self.page.locator("input:focus, textarea:focus")
        expect(field).to_have_count(1)
        field.press_sequentially(words)


@pytest.fixture
def memory(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return month.copy_of("en", tmp_path / "agent", tmp_path_factory)


@pytest.fixture
def open_at(chromium: Browser, here: Running, memory: Path) -> Any:
    """Open a window at a page of the month; what must not happen in it is looked at in the end."""
    windows = []

    def opened(screen: str = "", **settings: Any) -> Page:
        windows.append(Window(chromium, here, memory, **settings))
        return windows[-1].open(screen)

    yield opened
    for window in windows:
        window.close()


Open = Callable[..., Page]


def facts(root: Path) -> list[str]:
    with Memory.open(root, readonly=True) as memory:
        return [fact.value for fact in memory.facts()]


def test_find(open_at: Open) -> None:
    hand = Hand(open_at())
    hand.press("/")
    hand.page.wait_for_url("**/search*")
    hand.type("when is the council visit at mum's")
    hand.page.keyboard.press("Enter")
    expect(hand.page.locator("main mark").first).to_be_visible()
    expect(hand.page.locator("main")).to_contain_text("between 10 and 12")
    assert hand.count <= 1


def test_why(open_at: Open) -> None:
    hand = Hand(open_at("facts"))
    row = hand.page.locator("[data-row]", has_text=KNOWN)
    hand.click(row.get_by_role("link"))
    expect(hand.page.locator("blockquote").first).to_contain_text("i'm allergic to penicillin")
    assert hand.count <= 1


def test_correct(open_at: Open, memory: Path) -> None:
    hand = Hand(open_at("facts"))
    row = hand.page.locator("[data-row]", has_text=KNOWN)
    row.first.hover()
    hand.click(row.locator("[data-edit]"))
    field = hand.page.locator("form.correct input[name=value], form.correct textarea[name=value]")
    field.fill("amoxicillin")
    hand.click(hand.page.get_by_role("button", name="Correct it"))
    expect(hand.page.get_by_role("status")).to_contain_text("amoxicillin")
    assert hand.count <= 2
    assert "amoxicillin" in facts(memory)
    with Memory.open(memory, readonly=True) as kept:
        assert KNOWN not in [fact.value for fact in kept.facts(history=True)], "it was never so"


def test_correct_without_a_mouse(open_at: Open, memory: Path) -> None:
    hand = Hand(open_at("facts?text=penicillin"))
    hand.press("e")
    field = hand.page.locator("form.correct [name=value]")
    expect(field).to_be_focused()
    field.fill("amoxicillin")
    hand.page.keyboard.press("Enter")
    expect(hand.page.get_by_role("status")).to_contain_text("amoxicillin")
    assert hand.count <= 2
    assert "amoxicillin" in facts(memory)


def test_hide(open_at: Open, memory: Path) -> None:
    hand = Hand(open_at("search?q=sourdough+starter+Gladys"))
    hand.click(hand.page.locator("[data-row]", has_text="Gladys").get_by_role("link"))
    hand.click(hand.page.get_by_role("link", name="Forget…"))
    hand.click(hand.page.get_by_role("button", name="Hide 1 item"))
    expect(hand.page.get_by_role("heading", level=1)).to_contain_text("Hidden")
    assert hand.count <= 3
    with Memory.open(memory, readonly=True) as kept:
        assert not [hit for hit in kept.search("Gladys").hits if "Gladys" in hit.text and hit.kind == "turn"]


def test_erase(open_at: Open, memory: Path) -> None:
    hand = Hand(open_at("search?q=sourdough+starter+Gladys"))
    hand.click(hand.page.locator("[data-row]", has_text="Gladys").get_by_role("link"))
    hand.click(hand.page.get_by_role("link", name="Forget…"))
    hand.click(hand.page.get_by_role("button", name="Erase…"))
    hand.page.get_by_label("Type 1 to confirm").fill("1")
    hand.click(hand.page.get_by_role("button", name="Erase 1 item"))
    expect(hand.page.get_by_role("heading", level=1)).to_contain_text("Erased")
    assert hand.count <= 4
    assert not [one for one in memory.glob("sessions/*.jsonl") if b"Gladys" in one.read_bytes()]


def test_undo_last_night(open_at: Open, memory: Path) -> None:
    core = memory / "MEMORY.md"
    assert "24 hour" in core.read_text("utf-8")
    hand = Hand(open_at())
    night = hand.page.get_by_role("region", name="Last night")
    hand.click(night.get_by_role("button", name="Undo"))
    expect(hand.page.get_by_role("status")).to_contain_text("Undone")
    assert hand.count <= 2
    assert "24 hour" not in core.read_text("utf-8")


def test_decide_twenty_without_a_mouse(open_at: Open, memory: Path) -> None:
    hand = Hand(open_at())
    hand.press("g")
    hand.press("r")
    hand.page.wait_for_url("**/review")
    waiting = int(str(hand.page.locator("h1 small").text_content()).split()[0])
    assert waiting >= 20
    for left in range(waiting, waiting - 20, -1):
        expect(hand.page.locator("h1 small")).to_contain_text(str(left))
        row = hand.page.locator("[data-row]:focus").or_(hand.page.locator("[data-row]")).first
        wanted = left % 2 and row.locator("[data-accept]").count()  # what looks like an order has none
        with hand.page.expect_navigation():
            hand.press("y" if wanted else "n")
    expect(hand.page.locator("h1 small")).to_contain_text(str(waiting - 20))
    assert hand.count <= 2 + 20
    with Memory.open(memory, readonly=True) as kept:
        assert len(kept.review()) <= waiting - 20


@pytest.mark.parametrize("look", LOOKS, ids=" ".join)
def test_every_page_of_a_month_is_clean(
    chromium: Browser, here: Running, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory,
    look: tuple[str, str],
) -> None:  # fmt: skip
    language, variant = look
    root = month.copy_of(language, tmp_path / "agent", tmp_path_factory)
    settings = {**VARIANTS[variant], "locale": {"en": "en-GB", "zh": "zh-CN"}[language]}
    window = Window(chromium, here, root, **settings)
    for screen, link in [(one, "") for one in SCREENS] + list(BEHIND.items()):
        page = window.open(screen)
        if link:
            page.locator(link).first.click()
            page.wait_for_load_state()
        expect(page.locator("h1")).to_have_count(1)
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == [], screen
        wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert page.evaluate(wide), screen
    window.close()
