"""Implement `web`: open the pages of a workspace in a browser."""

import time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from mnemark.errors import MnemarkError, UsageError
from mnemark.interfaces import options, output, workspace

if TYPE_CHECKING:
    from mnemark.agent.daemon import Daemon

_START_SECONDS: Final = 15.0


def web(
    *,
    workspace_: options.Workspace = None,
    open_: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the browser, or only print the address.")
    ] = True,
    json: options.Json = False,
) -> None:
    """Open the memory in a browser.

    Search it, see why something is found, what was learned and changed, decide what waits, undo, forget. The
    daemon serves the pages, on this machine only; it is started if none is running. The printed address works
    once, within a minute.
    """
    from mnemark.agent import daemon

    root = workspace.locate(workspace_).resolve()
    if not daemon.installed():
        raise UsageError('the pages need more packages; run: pip install "mnemark[serve]"')
    at = _running()
    answer = daemon.post("/v1/ui/ticket", {"workspace": str(root)}, daemon=at)
    url = at.url + answer["path"]
    if json:
        output.out_json({"url": url})
        return
    if not (open_ and _opened(url)):
        output.out(url)
        output.say("Open this address in a browser within a minute; it works once.")
        return
    output.say(f"Opened {output.safe(str(root))} in the browser.")


def _running() -> "Daemon":
    from mnemark.agent import daemon

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


def _opened(url: str) -> bool:
    """Open a browser with windows; a terminal's would take the place of this one."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    if isinstance(browser, webbrowser.GenericBrowser) and not isinstance(
        browser, webbrowser.BackgroundBrowser
    ):
        return False
    return browser.open(url)
