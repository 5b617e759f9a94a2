"""The pages of a month: they speak to people, in their language, and not of how a memory is stored."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from typer import Context
from typer.main import get_command

import month
from interfaces.browsers import VOID, Browser
from interfaces.daemons import Running, running
from interfaces.test_web_pages import LINK
from mnemark.facts.predicates import predicates
from mnemark.memory.consolidation.run import STEPS
from mnemark_interfaces.app import app

QUESTIONS: Final = {
    "en": ("tidewatch", "Custard Steps", "move to Falmouth", "zzzzqqq"),
    "zh": ("豆芽", "荷叶里", "搬去杭州", "zzzzqqq"),
}
NAMED: Final = {"en": "agent", "zh": "小禾的记忆"}
FILES: Final = frozenset({"files", "edit", "attachments"})
"""Pages on which paths are names."""
AS_STORED: Final = frozenset({"files", "edit", "prompt"})
"""Pages that show files and prompts as they are, comments and ids included."""
MACHINES: Final = frozenset({"health", "connect", "import"})
"""Pages on programs and files outside: these have names and paths."""
VALUES: Final = {
    "connect": frozenset({"th", "h2", "h3", "title"}),
    "health": frozenset({"dd", "td"}),
    "import": frozenset({"option"}),
}
"""Elements of such pages that hold the names of programs, settings and folders."""
AS_IT_IS: Final = frozenset({"code", "kbd", "samp", "pre", "textarea"})
FOLDED: Final = re.compile(r"details\b.*\.programs\b")
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "title"})
SHOWN: Final = ("alt", "aria-label", "placeholder", "title")
"""Attributes that are read to people."""

PATH: Final = re.compile(
    r"[\w.-]+/[\w./-]*\.(?:md|jsonl|toml|json)\b|\b[\w-]+\.(?:jsonl|toml)\b|\b[\w-]*[a-z\d]\.md\b"
)
"""But `USER.md` and its like are names that the person knows."""
LINE: Final = re.compile(r"#L\d")
COMMENT: Final = re.compile(r"<!--|-->|mnemark:(?:begin|end)")
COUNTED: Final = re.compile(r"\b1 change\b|(?<!\d)1 处更改")
STEP: Final = re.compile(rf"\b(?:consolidate: ?\w+|(?:{'|'.join(STEPS)}):\S)")
COMMANDS: Final = "|".join(get_command(app).list_commands(Context(get_command(app))))  # type: ignore[attr-defined]
COMMAND: Final = re.compile(rf"\bmnemark (?:{COMMANDS})\b|(?<!\S)--[a-z][a-z-]+")
DATE: Final = re.compile(r"(?<![\w/.-])\d{4}-\d\d-\d\d(?![\w/-])")
TYPED: Final = frozenset({"search"})
"""Pages whose fields show how a day can be typed."""
TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d")
ID: Final = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
LATIN: Final = re.compile(r"[A-Za-z][A-Za-z'’-]+")
QUOTED: Final = re.compile(rf"“[^”]*”|\S+@\S+|[A-Z]+\.md|~/\S+|{COMMAND.pattern}")
"""Words of the memory within a sentence of the page, names of files, and commands, which others forbid."""
CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
NAMES: Final = frozenset(
    {"mnemark", "Markdown", "ChatGPT", "Claude", "Codex", "Code", "Gemini", "CSV", "JSON", "MCP", "HTTP"}
    | {"OpenClaw", "OpenCode", "Obsidian", "kB", "MB", "token", "zip"}
)
"""Names that are the same in Chinese."""


class Said(NamedTuple):
    """A text of a page that a person reads, and where."""

    text: str
    within: tuple[str, ...]
    """The elements around it, with the classes of each: "details.programs"."""
    own: bool
    """Whether an element around it says its language: it is of the memory, or the other language's name."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.within: list[tuple[str, str, bool]] = []
        self.found: list[Said] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        classes = (given.get("class") or "").split()
        self.within.append((tag, ".".join([tag, *classes]), "lang" in given and tag != "html"))
        for name in SHOWN:
            self._add(given.get(name) or "")
        if tag in VOID:
            self.within.pop()

    def handle_endtag(self, tag: str) -> None:
        while self.within and self.within.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        self._add(data)

    def _add(self, text: str) -> None:
        if text := " ".join(text.split()):
            names = tuple(name for _, name, _ in self.within)
            self.found.append(Said(text, names, any(own for *_, own in self.within)))


def read(text: str) -> Iterator[Said]:
    """What a person reads of a page, but for what is folded away for programs."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    for said in reader.found:
        folded = any(FOLDED.match(name) for name in said.within)
        if not folded and "script" not in said.within:
            yield said


def wrong(page: str, said: Said, language: str, talks: frozenset[str]) -> str:
    """Name what a text shows that it must not; empty if nothing."""
    tags = {name.partition(".")[0] for name in said.within}
    raw = bool(tags & AS_IT_IS or "div.words.whole" in said.within)
    heading = bool(tags & HEADINGS) and page not in MACHINES
    of_files = page in FILES
    stored = page in AS_STORED and raw
    named = said.own or raw or of_files or bool(tags & VALUES.get(page, frozenset()))
    names = NAMES | {talk.partition(":")[0] for talk in talks} | {"chatgpt"}  # of agents
    rules = (
        ("a path as a heading", heading and PATH.search(said.text)),
        ("a line of a file", not stored and LINE.search(said.text)),
        ("a comment", not stored and COMMENT.search(said.text)),
        ("a number of changes", COUNTED.search(said.text)),
        ("the name of a step", not stored and STEP.search(said.text)),
        (
            "a command",
            page not in {"health", "settings"} and not said.own and not raw and COMMAND.search(said.text),
        ),
        ("a time for machines", not stored and TIME.search(said.text)),
        ("a day for machines", page not in TYPED and not named and DATE.search(said.text)),
        ("an id", not stored and ID.search(said.text)),
        ("the id of a talk", not of_files and said.text in talks),
        ("a raw key", not said.own and not raw and is_key(said.text)),
        ("the other language", not named and foreign(said.text, language, names)),
    )
    return next((name for name, found in rules if found), "")


def is_key(text: str) -> bool:
    """Whether a text is the subject "user", or begins with it as records do."""
    first, _, rest = text.partition(" ")
    return first == "user" and (not rest or rest.lstrip("·: ") in predicates())


def foreign(text: str, language: str, names: frozenset[str]) -> bool:
    """Whether a text of the page itself is not in its language, but for names."""
    own = PATH.sub("", QUOTED.sub("", text))
    if language == "en":
        return bool(CHINESE.search(own))
    return any(word not in names for word in LATIN.findall(own))


def crawled(browser: Browser, language: str) -> dict[str, str]:
    """Pages of each kind by their address: up to four with the same parameters, and what people ask for."""
    base = browser.base
    waiting = [base, *(f"{base}/{page}" for page in ("connect?agent=codex", "consolidate?look=1"))]
    for question in QUESTIONS[language]:
        waiting += [f"{base}/{page}?q={quote(question)}" for page in ("search", "forget", "prompt")]
    waiting += [f"{base}/health?disk=1", f"{base}/edit?path=MEMORY.md", f"{base}/facts?order=recent"]
    found: dict[str, str] = {}
    kinds: dict[str, int] = {}
    seen = set(waiting)
    while waiting:
        path = waiting.pop(0)
        name, _, query = path.partition("?")
        kind = name + "?" + "&".join(re.findall(r"(\w+)=", query))
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] > 4 or "format=" in query:
            continue
        answer = browser.open(path)
        assert answer.status == 200, (path, answer.text)
        found[path.removeprefix(base).lstrip("/")] = answer.text
        links = dict.fromkeys(link.replace("&amp;", "&") for link in LINK.findall(answer.text))
        waiting += [link for link in links if link not in seen]
        seen.update(links)
    return found


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.mark.parametrize("language", month.LANGUAGES)
def test_no_page_shows_how_a_memory_is_stored(
    here: Running, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, language: str
) -> None:
    root = month.copy_of(language, tmp_path / NAMED[language], tmp_path_factory)
    browser = Browser(here, root, language)
    talks = frozenset(row["talk"] for row in month.rows(language) if "talk" in row)
    pages = crawled(browser, language)
    found: dict[str, list[str]] = {}
    for address, text in pages.items():
        name = re.split(r"[?/]", address)[0] or "today"
        for said in read(text):
            if kind := wrong(name, said, language, talks):
                shown = found.setdefault(f"{name}: {kind} in {' '.join(said.within[-2:])}", [])
                shown.append(f"{said.text[:150]}   [{address}]")
    assert len(pages) >= 60
    told = (f"{what}, {len(shown)} times: {shown[0]}" for what, shown in sorted(found.items()))
    assert not found, "\n".join(told)
