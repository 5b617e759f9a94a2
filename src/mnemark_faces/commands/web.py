"""Implement `web`: open the pages of a workspace in a browser."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from mnemark.errors import MnemarkError, UsageError
from mnemark.files import platform
from mnemark_agents import daemon
from mnemark_interfaces import options, output, render, workspace
from mnemark_interfaces.http import door_file
from mnemark_interfaces.http.door import TICKET_SECONDS

if TYPE_CHECKING:
    import webbrowser

    from mnemark_agents.daemon import Daemon

_START_SECONDS: Final = 15.0
_BROWSER_SECONDS: Final = 6.0
"""Time for a browser to come in, after which it is told how to get in by hand."""
_LOOK_SECONDS: Final = 0.1
_FILE: Final = "enter-"
_FORM: Final = """<!doctype html>
<html><head><meta charset="utf-8"><title>mnemark</title></head><body>
<form method="post" action="{url}"><input type="hidden" name="ticket" value="{ticket}">
<button>mnemark</button></form><script>document.forms[0].submit()</script></body></html>
"""


def web(
    *,
    workspace_: options.Workspace = None,
    open_: Annotated[
        bool,
        typer.Option(
            "--open/--no-open", help="Open the browser, or print an address and a ticket to type there."
        ),
    ] = True,
    sign_out: Annotated[
        bool, typer.Option("--sign-out", help="Let no browser in any more that was let in before.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Open the memory in a browser.

    Search it, see why something is found, what was learned and changed, decide what waits, undo, forget. The
    daemon serves the pages, on this machine only; it is started if none is running. The address stays the
    same, so it can be bookmarked; a browser stays let in for 30 days. A printed ticket works once, within a
    minute.
    """
    if sign_out:
        _sign_out(json=json)
        return
    root = workspace.locate(workspace_).resolve()
    if not daemon.installed():
        raise UsageError('the pages need more packages; run: pip install "mnemark[serve]"')
    at, began = _running(), time.monotonic()
    answer = daemon.post("/v1/ui/ticket", {"workspace": str(root)}, daemon=at)
    url, ticket, bookmark = at.url + answer["path"], answer["ticket"], at.url + answer["bookmark"]
    if port := answer.get("moved_from"):
        output.say(
            "Another program has taken port {port}. The pages have moved: bookmark {address} instead.",
            port=str(port), address=bookmark,
        )  # fmt: skip
    if json:
        output.out_json({"url": url, "ticket": ticket, "bookmark": bookmark})
        return
    browser = _browser() if open_ else None
    if browser is None:
        _say_by_hand(url, ticket)
        return
    with _file(url, ticket) as file:
        if not browser.open(file.as_uri()):
            _say_by_hand(url, ticket)
            return
        _wait(at, {"workspace": str(root), "ticket": ticket}, url, began)
    output.say(
        "Opened {path} in the browser; you can bookmark {address}",
        path=output.safe(str(root)), address=bookmark,
    )  # fmt: skip


def _sign_out(*, json: bool) -> None:
    found = daemon.find()
    if found is not None:
        ended = int(daemon.post("/v1/ui/sign-out", {}, daemon=found)["ended"])
    else:
        kept = door_file.load()
        ended = kept.sign_out()
        door_file.save(kept)
    if json:
        output.out_json({"ended": ended})
    else:
        browsers = render.counted(ended, "browser")
        output.say("Signed out: {browsers}. `mnemark web` lets one in again.", browsers=browsers)


def _running() -> "Daemon":
    found = daemon.find()
    if found is not None:
        return found
    other = daemon.find(any_version=True)
    if other is not None:
        raise UsageError(
            f"a daemon of another version ({other.version}) is running; stop it with `mnemark serve --stop`"
        )
    daemon.start()
    deadline = time.monotonic() + _START_SECONDS
    while (found := daemon.find()) is None:
        if time.monotonic() > deadline:
            raise MnemarkError("the daemon did not start; run `mnemark serve` to see why")
        time.sleep(0.05)
    return found


def _browser() -> "webbrowser.BaseBrowser | None":
    """Return a browser with windows; a terminal's would take the place of this one."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return None
    windowless = isinstance(browser, webbrowser.GenericBrowser) and not isinstance(
        browser, webbrowser.BackgroundBrowser
    )
    return None if windowless else browser


@contextmanager
def _file(url: str, ticket: str) -> Iterator[Path]:
    """Make a page that posts the ticket, for the length of the block.

    Other users read the command line that starts a browser. The name of this file stands there, and tells
    nothing.
    """
    import os

    folder = _folder()
    platform.private_folder(folder)
    for left in folder.glob(f"{_FILE}*.html"):  # by a killed process; its ticket is void
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > TICKET_SECONDS:
                left.unlink()
    file = folder / f"{_FILE}{os.urandom(6).hex()}.html"
    platform.write_private(file, _FORM.format(url=url, ticket=ticket).encode())
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


def _folder() -> Path:
    """Return a folder that the browser can read: in a snap it reads no hidden folder, but one of its own."""
    import subprocess

    try:
        asked = ["xdg-settings", "get", "default-web-browser"]
        default = subprocess.run(asked, capture_output=True, text=True, timeout=2, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        default = ""
    name, _, program = default.partition("_")  # a snap's is called such as firefox_firefox.desktop
    own = Path.home() / "snap" / name / "common"
    return own / "mnemark" if program and own.is_dir() else platform.state_folder()


def _wait(at: "Daemon", asked: dict[str, str], url: str, began: float) -> None:
    """Wait until the browser is in; tell how to get in by hand once that takes long.

    Raises:
        MnemarkError: the ticket is void, and nobody used it.
    """
    told = False
    while daemon.post("/v1/ui/waiting", asked, daemon=at)["waiting"]:
        if not told and time.monotonic() - began > _BROWSER_SECONDS:
            output.say("The browser has not come in yet.")
            _say_by_hand(url, asked["ticket"])
            told = True
        time.sleep(_LOOK_SECONDS)
    if time.monotonic() - began >= TICKET_SECONDS:
        raise MnemarkError("no browser came in; run `mnemark web --no-open` and open the printed address")


def _say_by_hand(url: str, ticket: str) -> None:
    output.out(f"{url}\n{ticket}")
    output.say("Open this address in a browser within a minute, and type the ticket; it works once.")
