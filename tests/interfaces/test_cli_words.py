"""The command line speaks one language, wholly: what commands print, what goes wrong, and their help."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jinja2")  # the names of the layers are those of the pages

import month
from interfaces import cli_walk, spoken
from interfaces.conftest import Shell
from interfaces.test_web_messages import JOINED, PLACE, shape
from mnemark.present.messages import catalogue, in_chinese
from mnemark.present.words import part
from mnemark_interfaces import output, speech
from mnemark_interfaces.app import COMMANDS, loaded
from mnemark_interfaces.render import width, wrapped

HAN = re.compile(r"[\u3400-\u9fff]")
BY_PROGRAMS = frozenset({"bench", "git-merge", "mcp", "watch"})
"""Commands that run on, that programs call, or that measure."""
BENCH = tuple(loaded("bench").commands)
SAID_BY = (
    "mnemark", "mnemark_agents", "mnemark_interfaces", "mnemark_faces/commands", "mnemark_adapters/importers",
    "mnemark_adapters/reranker.py", "mnemark_adapters/chroma.py", "mnemark_server",
)  # fmt: skip
"""Where errors and findings come from that a command shows."""
NOT_SAID_BY = (
    "mnemark/embed/hashing.py", "mnemark/index/vectors/base.py", "mnemark/index/vectors/keys.py",
    "mnemark/index/vectors/mapped_file.py", "mnemark/memory/sessions/recorder.py",
    "mnemark/retrieval/arguments.py", "mnemark/text/dates", "mnemark/text/quoting",
    "mnemark/text/redaction/json.py", "mnemark_agents/dispatch.py", "mnemark_agents/hook",
    "mnemark_interfaces/http", "mnemark_interfaces/mcp", "mnemark_interfaces/tools",
    "mnemark_server/guard.py",
)  # fmt: skip
"""Programs and Python code alone are told what is wrong there, in English."""
OF_PROGRAMMERS = {
    "module 'mnemark' has no attribute {}",
    "the salt has {} bytes; give 16 to 32 random bytes",
    "counts too far or is too long: lower the numbers in {…}",  # it has no places
    "a state names a step that leads nowhere",
    "`mnemark connect {}`",  # a command alone
    "nothing heard for {} s",  # told as the database that does not answer
    "it is away",
    "it is signed with no key of the issuer",  # answered as a key that opens nothing
    "cannot {}: {}; to go on recording, run `mnemark pause --end`",  # it is known with the state in its place
}
_RAISES = {"Problem", "Finding", "EmbedderUnavailable", "Wait"}


@pytest.mark.parametrize("language", month.LANGUAGES)
def test_a_walk_through_the_commands_speaks_one_language(
    shell: Shell, tmp_path_factory: pytest.TempPathFactory, language: str
) -> None:
    month.copy_of(language, shell.folder, tmp_path_factory, cli_walk.LAST)
    own = cli_walk.own_words(language)
    strange: list[str] = []
    codes: list[int] = []
    called: set[str] = set()
    for arguments, ran in cli_walk.walked(shell, language):
        strange += cli_walk.foreign(language, arguments, ran, own)
        codes.append(ran.code)
        called.add(arguments[0])
        if language == "zh" and ran.code:  # what goes wrong is told
            assert HAN.search(ran.out + ran.err), arguments
    assert strange == []
    assert len(codes) == len(cli_walk.WALK)
    assert codes.count(0) > 100
    assert {1, 2, 3, 6} <= set(codes)
    assert COMMANDS.keys() - BY_PROGRAMS <= called


def test_every_translation_of_the_command_line_is_used() -> None:
    assert sorted(part("commands").keys() - spoken.texts()) == []


@pytest.mark.parametrize(
    "command", [(), *((name,) for name in COMMANDS), *(("bench", name) for name in BENCH)], ids=" ".join
)
def test_the_help_of_a_command_is_chinese(shell: Shell, command: tuple[str, ...]) -> None:
    helped = shell("--lang", "zh", *command, "--help")
    lines = helped.out.splitlines()
    assert (helped.code, lines[0].partition(" ")[0]) == (0, "用法：mnemark")
    assert [line for line in lines if _english(line)] == []
    assert max(map(width, lines)) <= 80  # of the runner's terminal
    assert not [line for line in lines if line.lstrip()[:1] in {*"，。；：、）”」"}]


def _english(line: str) -> bool:
    """Whether words of English stand beside each other in a line of help, as in a sentence."""
    plain = re.sub(
        r"`[^`]*`?|\"[^\"]*\"|mnemark [a-z-]+|(?:Claude|Gemini|Copilot|JSON) \w+|<[^>]*>", "，", line
    )
    return re.search(r"(?<![\w./=-])[a-zA-Z]{2,}[,;]? [a-z]{2,}(?![\w./=-])", plain) is not None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_help_is_aligned_by_what_a_terminal_shows(shell: Shell, language: str) -> None:
    """The help of all options begins in one column, the lines below it, too."""
    for command in (["search"], ["forget"], []):
        lines = shell("--lang", language, *command, "--help").out.splitlines()
        options = lines[lines.index({"en": "Options:", "zh": "选项："}[language]) + 1 :]
        options = options[: options.index("")] if "" in options else options
        columns = {
            width(found[0]) for line in options if (found := re.match(r" *(-\S+,? ?\S*)+ {2,}| {12,}", line))
        }
        assert len(columns) == 1, options


def test_english_help_loads_no_chinese(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise AssertionError(name)

    monkeypatch.setattr("mnemark.present.words.part", load)
    monkeypatch.setattr("mnemark.present.words.catalogue", load)
    assert "Search notes, facts and conversations." in shell("--lang", "en", "search", "--help").out
    assert "Bring everything of another memory" in shell("--lang", "en", "--help").out


def test_exit_codes_and_json_are_those_of_english(shell: Shell) -> None:
    shell("init")
    shell("remember", "city", "Lisbon")
    for command in (
        ["search", "Lisbon", "--json"], ["facts", "--json"], ["status", "--json"], ["verify", "--json"],
        ["forget", "--query", "Lisbon", "--dry-run", "--json"], ["review", "--json"], ["learn", "--json"],
        ["sync", "--json"], ["search"], ["search", "--nonsense"], ["undo", "x"], ["read", "none.md"],
    ):  # fmt: skip
        english, chinese = shell("--lang", "en", *command), shell("--lang", "zh", *command)
        seconds = re.compile(r'"seconds":[\d.e-]+')
        assert (english.code, seconds.sub("", english.out)) == (chinese.code, seconds.sub("", chinese.out))


def test_words_of_a_person_are_never_translated(shell: Shell) -> None:
    """Not even where they look like a sentence of the program."""
    shell("init")
    said = "the folder parts does not exist"
    shell("add", f"Ask Ada: {said}", "--session", "chat:1")
    shell("remember", "note", said)
    for command in (
        ["forget", "--query", "parts does", "--dry-run"], ["facts"], ["log"], ["search", "parts"],
        ["why", next(iter(shell("facts", "--json").data["facts"]))["id"]],
    ):  # fmt: skip
        assert said in shell("--lang", "zh", *command).out, command


def test_errors_and_findings_of_commands_are_in_the_catalogue() -> None:
    known = {PLACE.sub("{}", english) for english in catalogue()} | JOINED
    missing = {text for text in _written() if text not in known and re.search(r"[a-z]{3}", text)}
    assert sorted(missing - OF_PROGRAMMERS) == []


def _written() -> Iterator[str]:
    """Yield the texts of errors, findings and problems, with `{}` in the places of their values."""
    root = Path(spoken.SOURCE)
    skipped = tuple(str(root / one) for one in NOT_SAID_BY)
    for place in SAID_BY:
        path = root / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if not str(file).startswith(skipped):
                yield from _in(ast.parse(file.read_text("utf-8")))


def _in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in _RAISES or name.endswith("Error"):
            given = [text for one in node.args[:3] for text in _either(one)]
            yield from (text for text in given if " " in text)


def _either(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*_either(node.body), *_either(node.orelse)]
    return [shape(node)]


def test_no_command_prints_a_sentence_of_its_own_past_the_catalogue() -> None:
    """What is printed as it is holds values alone; sentences are keys with places."""
    assert sorted(spoken.past_the_catalogue()) == []


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Error: Invalid value for '-k': 'x' is not a valid int.", "错误：'-k' 的值无效：'x' 不是整数。"),
        (
            "/m/a.toml cannot be read: /m/a.toml: Not a directory; check its disk and permissions",
            "无法读取 /m/a.toml：不是文件夹；请检查它所在的磁盘和权限",
        ),
        (
            'scope must be "users/NAME", "agents/NAME" or "projects/NAME" or "*", not \'x\'',
            '范围必须是 "users/名字"、"agents/名字" 或 "projects/名字" 或 "*"，不能是 \'x\'',
        ),
        ("--lang takes en or zh, not 'fr'", "--lang 只能是 en、zh，不能是 'fr'"),
        ("dense: the embedder did not answer in time", "语义搜索：嵌入模型没有及时回答"),
        ("journal/odd.jsonl: is not a regular file", "journal/odd.jsonl：不是普通文件"),
        ("memory/odd.md: is a pipe, not a file; not searched", "memory/odd.md：是管道，不是文件；没有搜索"),
        (
            (
                "an erase is not finished: a/b: folder cannot be read: Permission denied; make it readable, "
                "or move it out of this folder; an erase waits for 21 more files; `mnemark doctor` lists them"
            ),
            (
                "有一次抹除没有完成：a/b：文件夹无法读取：没有权限；请让它可读，或移出这个文件夹；"
                "有一次抹除还在等 21 个文件；`mnemark doctor` 会列出"
            ),
        ),
        ("favorite tea: oolong; black (said by the owner)", "favorite tea: oolong; black（你说的）"),
        (
            "mnemark.toml: recal_budget: there is no such key. Did you mean 'recall_budget'?",
            "mnemark.toml：recal_budget：没有这个键。是不是 'recall_budget'？",
        ),
        ("there is no layer x; layers: facts, rules", "没有 x 这一层；各层：facts、rules"),
    ],
)
def test_sentences_within_sentences_are_known(english: str, chinese: str) -> None:
    assert in_chinese(english) == chinese


@given(st.text(alphabet="ab 中文，。（）“”-", max_size=80), st.integers(4, 40))
def test_wrapping_keeps_the_text_and_the_width(text: str, columns: int) -> None:
    lines = wrapped(text, columns)
    assert "".join("".join(lines).split()) == "".join(text.split())
    for line in lines:
        whole = not re.search(r"\s", line) and len(re.findall(r"[\u3400-\u9fff]", line)) <= 1
        assert width(line) <= columns or whole, line
    assert all(line == line.strip() for line in lines)


def test_a_question_is_asked_and_answered_in_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answers = iter(["嗯", "是", "", "否"])

    def answer(question: str, **_: object) -> str:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr(typer, "prompt", answer)
    with speech.speaking("zh"):
        got = [output.confirm("Trust it?"), output.confirm("Go on?", default=True), output.confirm("Go on?")]
    assert got == [True, True, False]
    assert asked == ["信任它吗？ [y/N]", "信任它吗？ [y/N]", "继续吗？ [Y/n]", "继续吗？ [y/N]"]
