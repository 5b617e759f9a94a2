"""Make pictures of the pages with Chromium, from a month of a made-up person.

    python tools/screens.py             # the pictures of README and docs, into docs/images
    python tools/screens.py FOLDER      # all pages in both languages, light and dark, wide and on a phone,
                                        # and how many rows of the lists stand whole on a screen

`make browser` installs what it needs. Starts a daemon of its own, with a state folder of its own.
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from mnemark_agents import daemon

ROOT: Final = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import month  # noqa: E402 - of the tests

SIZES: Final = {"wide": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 844}}
LOCALES: Final = {"en": "en-GB", "zh": "zh-CN"}
SEARCHED: Final = {"en": "when does the council come to see mum", "zh": "妈妈哪天复诊"}
PAGES: Final = (
    "", "search", "search?q={q}", "timeline", "timeline?kind=turn", "facts", "review", "learned", "changes",
    "sessions", "files", "files?path=MEMORY.md", "edit?path=MEMORY.md", "prompt?q={q}", "forget",
    "forget?q=tidewatch", "consolidate?look=1", "health?disk=1", "connect", "connect?agent=codex", "import",
    "attachments", "settings",
)  # fmt: skip
BEHIND: Final = {
    "talk": ("sessions", "[data-row] a"),
    "fact": ("facts", "[data-row] a[href*='/item?']"),
    "edit a fact": ("facts", "[data-edit]"),
    "found": ("search?q={q}", "[data-row] a"),
    "change": ("changes", "[data-row] a"),
}
"""What a click on the first of a list opens: the list, and the link."""
COUNTED: Final = ("facts", "sessions", "search?q={q}", "timeline", "review")
PICTURES: Final = (
    ("web-search", "en", "search?q={q}", "light"),
    ("web-review", "en", "review", "light"),
    ("web-timeline-zh", "zh", "timeline", "dark"),
)
"""Of README and docs: name, language, page, colours."""
SMALL: Final = {"width": 1100, "height": 720}
_WHOLE = """() => [...document.querySelectorAll("main [data-row]")].filter(row => {
  const box = row.getBoundingClientRect();
  return box.height && box.top >= 0 && box.bottom <= innerHeight;
}).length"""
_START_SECONDS = 30.0
_SETTLES = 400


@contextmanager
def daemon_in(state: Path) -> Iterator[daemon.Daemon]:
    """Run a daemon with this state folder."""
    os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = str(state)
    process = subprocess.Popen([sys.executable, "-m", "mnemark", "serve", "--no-nightly"])
    try:
        deadline = time.monotonic() + _START_SECONDS
        while (found := daemon.find()) is None:
            if time.monotonic() > deadline:
                raise SystemExit("the daemon did not start")
            time.sleep(0.05)
        yield found
    finally:
        process.terminate()
        process.wait()


def enter(page: Page, at: daemon.Daemon, memory: Path) -> str:
    """Let a window in to the pages of a memory, and return their address."""
    made = daemon.post("/v1/ui/ticket", {"workspace": str(memory)}, daemon=at)
    page.goto(at.url + made["path"])
    page.locator("#ticket").fill(made["ticket"])
    page.get_by_role("button").click()
    page.wait_for_url("**/w/*")
    address: str = page.url
    return address


class Screens:
    """Windows at the months, and where their pictures go."""

    def __init__(self, browser: Browser, at: daemon.Daemon, months: Path, target: Path) -> None:
        self.browser = browser
        self.at = at
        self.months = months
        self.target = target

    def window(self, language: str, colours: Any, size: Any) -> tuple[Page, str]:
        """Open a window at the month of a language; return it with the address of the memory."""
        page = self.browser.new_context(
            color_scheme=colours, locale=LOCALES[language], viewport=size
        ).new_page()
        return page, enter(page, self.at, self.months / language)

    def open(self, page: Page, base: str, screen: str, language: str) -> None:
        """Show a page, or what the first of its list opens."""
        name, link = BEHIND.get(screen, (screen, ""))
        asked = name.format(q=quote(SEARCHED[language]))
        page.goto(f"{base}/{asked}" if asked else base, wait_until="networkidle")
        if link:
            page.locator(link).first.click()
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(_SETTLES)  # what opens in its place is fetched after the click

    def all(self) -> None:
        """Take every page in every look."""
        for language, colours, (size, box) in itertools.product(
            month.LANGUAGES, ("light", "dark"), SIZES.items()
        ):
            page, base = self.window(language, colours, box)
            for screen in (*PAGES, *BEHIND):
                self.open(page, base, screen, language)
                name = screen.replace("{q}", "words").replace("/", "-").replace("?", " ") or "today"
                page.screenshot(path=self.target / f"{name} {language} {size} {colours}.png")
            page.context.close()

    def rows(self) -> None:
        """Print how many rows of the lists stand whole on a wide screen."""
        for language in month.LANGUAGES:
            page, base = self.window(language, "light", SIZES["wide"])
            counts = []
            for screen in COUNTED:
                self.open(page, base, screen, language)
                counts.append(f"{screen.partition('?')[0]} {page.evaluate(_WHOLE)}")
            print(f"rows on 1280 x 860, {language}:", ", ".join(counts))
            page.context.close()

    def pictures(self) -> None:
        """Take the pictures of README and docs."""
        for name, language, screen, colours in PICTURES:
            page, base = self.window(language, colours, SMALL)
            self.open(page, base, screen, language)
            page.screenshot(path=self.target / f"{name}.png")
            page.context.close()
            print(self.target / f"{name}.png")

    def moving(self) -> None:
        """Take a moving picture of a fact that is corrected where it stands; it needs Pillow."""
        from PIL import Image

        page, base = self.window("en", "light", SMALL)
        self.open(page, base, "facts", "en")
        frames = [page.screenshot()]
        page.locator("[data-row]", has_text="You live in Northmoor").locator("[data-edit]").click(force=True)
        value = page.locator("form input[name=value]:visible").first
        frames.append(page.screenshot())
        for text in ("", "Lee", "Leeds"):
            value.fill(text)
            frames.append(page.screenshot())
        page.locator("form button:visible", has_text="Correct").first.click()
        page.wait_for_load_state("networkidle")
        frames.append(page.screenshot())
        page.context.close()
        first, *rest = (
            Image.open(BytesIO(one)).convert("P", palette=Image.Palette.ADAPTIVE, colors=32) for one in frames
        )
        lasting = [1_800, 1_400, 300, 300, 900, 3_000]
        path = self.target / "web-correct.gif"
        first.save(path, save_all=True, append_images=rest, duration=lasting, loop=0, optimize=True)
        print(path)


def launched(play: Playwright) -> Browser:
    """Start Chromium, this machine's own if it has one."""
    own = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return play.chromium.launch(executable_path=own, args=sandbox)


def main() -> None:
    """Take the pictures."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        os.environ["MNEMARK_CONFIG"] = str(Path(folder) / "config.toml")
        # The months are made with the state folder of the daemon: to another they are somebody else's.
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = str(Path(folder) / "state")
        for language in month.LANGUAGES:
            month.build(language, Path(folder) / language)
        browser = launched(play)
        with daemon_in(Path(folder) / "state") as at:
            screens = Screens(browser, at, Path(folder), target)
            if len(sys.argv) > 1:
                screens.rows()
                screens.all()
            else:
                screens.pictures()
                screens.moving()
        browser.close()


if __name__ == "__main__":
    main()
