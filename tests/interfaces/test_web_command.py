"""How `mnemark web` lets a browser in: no secret stands where other users, addresses or histories are."""

import json
import os
import re
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from interfaces.browsers import Browser
from interfaces.daemons import Running, running, surroundings

NOBODY = f"{sys.executable} -c pass %s &"
"""A browser that starts and shows nothing."""
TICKET = re.compile(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){3}")
FAKE = """
import html, json, os, re, sys, urllib.parse, urllib.request
path = urllib.parse.unquote(sys.argv[1].removeprefix("file://"))
page = open(path).read()
seen = {"line": sys.argv, "path": path, "page": page, "modes": [os.stat(path).st_mode & 0o777,
        os.stat(os.path.dirname(path)).st_mode & 0o777]}
url, ticket = re.search(r'action="([^"]+)".*value="([^"]+)"', page).groups()
asked = urllib.request.Request(html.unescape(url), urllib.parse.urlencode({"ticket": ticket}).encode(),
    {"Origin": "null", "Sec-Fetch-Site": "cross-site", "Content-Type": "application/x-www-form-urlencoded"})
seen["status"] = urllib.request.urlopen(asked).status
json.dump(seen, open(sys.argv[0] + ".tmp", "w"))
os.replace(sys.argv[0] + ".tmp", sys.argv[0] + ".json")
"""
"""A browser that posts the form of the file that it is started with, and writes down what it was given."""


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Running]:
    (tmp_path / "note.md").write_text("zebra\n", "utf-8")
    with running(tmp_path / "state") as found:
        yield found


def start(tmp_path: Path, *options: str, **environment: str) -> "subprocess.Popen[str]":
    """Run `mnemark web`."""
    return subprocess.Popen(
        [sys.executable, "-m", "mnemark", "web", "-w", str(tmp_path), *options],
        env=surroundings(tmp_path / "state") | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ran(tmp_path: Path, *options: str, **environment: str) -> tuple[str, str]:
    """Run `mnemark web` to its end; return what it printed."""
    process = start(tmp_path, *options, **environment)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return out, said


def browser_at(here: Running) -> Browser:
    """A browser that is not let in yet."""
    browser = Browser.__new__(Browser)
    browser.here, browser.cookie, browser.language = here, "", "en"
    return browser


def fake(tmp_path: Path) -> str:
    script = tmp_path / "fake.py"
    script.write_text(FAKE, "utf-8")
    return f"{sys.executable} {script} %s &"


def seen(tmp_path: Path) -> dict[str, object]:
    found = tmp_path / "fake.py.json"
    deadline = time.monotonic() + 10
    while not found.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    answer: dict[str, object] = json.loads(found.read_text("utf-8"))
    return answer


def plain(folder: Path) -> str:
    """The name of a workspace in its address."""
    return re.sub("[^a-z0-9_]+", "-", folder.name.lower())[:24].strip("-")


def left(folder: Path) -> list[Path]:
    return list(folder.rglob("*.html"))


def test_the_printed_ticket_is_typed_and_works_once(tmp_path: Path, here: Running) -> None:
    out, said = ran(tmp_path, "--no-open")
    url, ticket = out.split()
    assert url == f"{here.at.url}/ui/enter"
    assert TICKET.fullmatch(ticket)
    assert "works once" in said
    browser = browser_at(here)
    by_address = browser.open(f"{url}?ticket={ticket}", None, **{"Sec-Fetch-Site": "none"})
    assert (by_address.status, by_address.headers["set-cookie"]) == (200, None)
    assert 'name="ticket"' in by_address.text
    assert ticket not in by_address.text
    entered = browser.enter(ticket, Origin=here.at.url, **{"Sec-Fetch-Site": "same-origin"})
    assert entered.status == 200
    cookie = entered.headers["set-cookie"]
    (target,) = re.findall(r'content="0; url=([^"]*)"', entered.text)
    home = target.rpartition("/w/")[0]
    assert re.fullmatch(r"/ui/[0-9a-f]{32}", home)
    for part in ("HttpOnly", "SameSite=strict", f"Path={home};", "Max-Age=2592000"):
        assert part in f"{cookie};"
    again = browser.enter(ticket)
    assert again.status == 401
    assert "mnemark web" in again.text
    browser.cookie = cookie.partition(";")[0]
    assert browser.open(target).status == 200
    for elsewhere in ("/ui", "/ui/w/x", home[:-1]):
        assert 'name="ticket"' in browser.open(elsewhere).text  # the cookie opens nothing there


@pytest.mark.timed
def test_a_browser_is_started_with_a_private_file_alone(tmp_path: Path, here: Running) -> None:
    out, said = ran(tmp_path, BROWSER=fake(tmp_path))
    assert (out, said) == (
        "",
        f"Opened {tmp_path} in the browser; you can bookmark {here.at.url}/ui/{plain(tmp_path)}\n",
    )
    found = seen(tmp_path)
    assert found["status"] == 200
    assert found["modes"] == [stat.S_IRUSR | stat.S_IWUSR, stat.S_IRWXU]
    ticket = re.findall(TICKET, str(found["page"]))
    assert len(ticket) == 1
    assert not any(ticket[0] in one or "/ui" in one for one in found["line"])  # type: ignore[attr-defined]
    assert left(tmp_path) == []
    kept = [one for one in tmp_path.rglob("*") if one.is_file() and one.name != "fake.py.json"]
    assert [one for one in kept if ticket[0].encode() in one.read_bytes()] == []
    assert browser_at(here).enter(ticket[0]).status == 401


@pytest.mark.slow
def test_a_browser_that_does_not_come_leaves_a_way_by_hand(tmp_path: Path, here: Running) -> None:
    process = start(tmp_path, BROWSER=NOBODY)
    assert process.stdout is not None
    url, ticket = process.stdout.readline().strip(), process.stdout.readline().strip()
    assert len(left(tmp_path)) == 1
    assert process.poll() is None
    assert browser_at(here).open(url).status == 200
    assert browser_at(here).enter(ticket).status == 200
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "has not come in yet" in said
    assert said.endswith(
        f"Opened {tmp_path} in the browser; you can bookmark {here.at.url}/ui/{plain(tmp_path)}\n"
    )
    assert left(tmp_path) == []


@pytest.mark.slow
def test_a_ticket_that_nobody_used_is_an_error(tmp_path: Path, here: Running) -> None:
    process = start(tmp_path, BROWSER=NOBODY)
    out, said = process.communicate(timeout=90)
    assert process.returncode == 1
    assert "no browser came in" in said
    assert left(tmp_path) == []
    assert browser_at(here).enter(out.split()[1]).status == 401


@pytest.mark.timed
def test_a_file_left_by_a_killed_command_goes_with_the_next(tmp_path: Path, here: Running) -> None:
    process = start(tmp_path, BROWSER=NOBODY)
    deadline = time.monotonic() + 20
    while not left(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    (file,) = left(tmp_path)
    old = time.time() - 61
    os.utime(file, (old, old))
    ran(tmp_path, BROWSER=fake(tmp_path))
    assert left(tmp_path) == []


@pytest.mark.timed
@pytest.mark.skipif(sys.platform != "linux", reason="snaps are of Linux")
@pytest.mark.parametrize(
    ("default", "inside"),
    [("firefox_firefox.desktop", True), ("org.mozilla.firefox.desktop", False), ("other_x.desktop", False)],
)
def test_a_browser_in_a_snap_gets_a_file_that_it_may_read(
    tmp_path: Path, here: Running, *, default: str, inside: bool
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "xdg-settings").write_text(f"#!/bin/sh\necho {default}\n", "utf-8")
    (tools / "xdg-settings").chmod(0o755)
    snap = tmp_path / "home" / "snap" / "firefox" / "common"
    snap.mkdir(parents=True)
    ran(
        tmp_path,
        BROWSER=fake(tmp_path),
        HOME=str(tmp_path / "home"),
        PATH=f"{tools}{os.pathsep}{os.environ['PATH']}",
    )
    found = seen(tmp_path)
    assert str(found["path"]).startswith(str(snap if inside else tmp_path / "state"))
    assert found["modes"] == [0o600, 0o700]
    assert left(tmp_path) == []


def test_json_has_the_ticket_beside_the_address(tmp_path: Path, here: Running) -> None:
    answer = json.loads(ran(tmp_path, "--json")[0])
    assert answer["url"] == f"{here.at.url}/ui/enter"
    assert answer["bookmark"] == f"{here.at.url}/ui/{plain(tmp_path)}"
    assert browser_at(here).enter(answer["ticket"]).status == 200


def entered(browser: Browser, ticket: str, asked: str) -> str:
    """Come in with a ticket at the page of an address that was asked for; return where it led."""
    data = urlencode({"ticket": ticket, "next": asked}).encode()
    answer = browser.open("/ui/enter", data)
    assert answer.status == 200, answer.text
    browser.cookie = answer.headers["set-cookie"].partition(";")[0]
    return str(re.findall(r'content="0; url=([^"]*)"', answer.text)[0].replace("&amp;", "&"))


def test_a_bookmark_asks_for_a_ticket_and_is_come_back_to(tmp_path: Path, here: Running) -> None:
    ticket, name = json.loads(ran(tmp_path, "--json")[0])["ticket"], plain(tmp_path)
    browser = browser_at(here)
    page = browser.open(f"/ui/{name}/facts?subject=user", None, **{"Sec-Fetch-Site": "none"})
    assert page.status == 200
    assert "type <code>mnemark web</code> in a terminal" in page.text
    assert f'name="next" value="/ui/{name}/facts?subject=user"' in page.text
    target = entered(browser, ticket, f"/ui/{name}/facts?subject=user")
    assert re.fullmatch(rf"/ui/[0-9a-f]{{32}}/w/{name}/facts\?subject=user", target)
    assert browser.open(target).status == 200
    browser.cookie = ""
    closed = browser.open(target)
    assert closed.status == 401
    assert "type <code>mnemark web</code>" in closed.text
    for asked in (
        target,
        "/ui/elsewhere",
        "//evil.example/",
        f"{target}\r\nX: y",
        "/ui/enter",
        "javascript:1",
    ):
        ticket = here.post("/v1/ui/ticket", workspace=str(tmp_path))["ticket"]
        led = entered(browser, ticket, asked)
        assert led == (target if asked == target else target.partition("/facts")[0])


def test_two_folders_of_one_name_have_two_addresses_for_good(tmp_path: Path, here: Running) -> None:
    folders = [tmp_path / "a" / "Harbour notes", tmp_path / "b" / "Harbour notes", tmp_path / "记忆"]
    first = []
    for folder in folders:
        folder.mkdir(parents=True)
        first.append(here.post("/v1/ui/ticket", workspace=str(folder))["bookmark"])
    assert first[0] == "/ui/harbour-notes"
    assert len(set(first)) == 3
    assert all(re.fullmatch(r"/ui/[a-z0-9_-]+", one) for one in first)
    again = [here.post("/v1/ui/ticket", workspace=str(folder))["bookmark"] for folder in reversed(folders)]
    assert again[::-1] == first


def test_a_tab_outlives_the_daemon_until_it_is_signed_out(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with running(state) as here:
        browser = Browser(here, tmp_path)
        (key,) = set(re.findall(r'name="form_key" value="([^"]*)"', browser.page().text))
    with running(state) as again:
        assert again.at.url == here.at.url
        browser.here = again
        assert browser.page().status == 200
        assert (
            browser.send("pause", {"form_key": key, "length": "hour"}).status == 303
        )  # typed before the rest
        assert "Off the record until" in browser.page().text
        out, said = ran(tmp_path, "--sign-out")
        assert (out, said.startswith("Signed out: 1 browser.")) == ("", True)
        assert browser.page().status == 401
        browser = Browser(again, tmp_path)
    assert json.loads(ran(tmp_path, "--sign-out", "--json")[0]) == {"ended": 1}
    with running(state) as third:
        browser.here = third
        assert browser.page().status == 401


def test_a_port_that_another_program_took_is_told_and_the_new_one_kept(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with running(state) as here:
        browser = Browser(here, tmp_path)
    with socket.create_server(("127.0.0.1", here.port)), running(state) as moved:
        assert moved.port != here.port
        browser.here = moved
        assert browser.page().status == 401  # its cookie may have been sent to the other program
        said = ran(tmp_path, "--no-open")[1]
        assert f"has taken port {here.port}" in said
        assert f"{moved.at.url}/ui/{plain(tmp_path)}" in said
        assert "has taken" not in ran(tmp_path, "--no-open")[1]
    with running(state) as kept:
        assert kept.port == moved.port
