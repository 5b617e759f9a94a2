"""A walk through all commands on a memory: what works, what finds nothing, and what goes wrong."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import month
from interfaces.conftest import Ran, Shell
from mnemark.extras import EXTRAS
from mnemark.facts.model import PRIORITIES, TYPES
from mnemark.facts.predicates import predicates
from mnemark.memory.consolidation.run import STEPS
from mnemark.memory.transfer.export.export import FOLDER_FORMATS
from mnemark.memory.transfer.imports import format_titles
from mnemark.retrieval.presets import PRESETS
from mnemark.types import KINDS, ORIGINS
from mnemark_agents.connect.hosts import HOSTS
from mnemark_faces.web.pages.prompt import NAMES as LAYERS
from mnemark_interfaces.app import COMMANDS

LAST: Final = 13
"""The last day of the month that is lived before the walk: by then there is something of each kind."""
ASKED: Final = {"en": ("tidewatch", "Falmouth"), "zh": ("豆芽", "搬家")}
"""Words that the month has."""
SAID: Final = {
    "en": ("I live in Porto now", "editor", "Helix", "Vim"),
    "zh": ("我现在住在厦门", "编辑器", "蓝鲸", "白鹭"),
}
"""What is added: a sentence, a property and two values."""
_TEXT: Final = """
status
sync
facts
facts --history
facts nobody
facts --as-of 2020-01-01
facts --as-of ???
facts --scope users/nobody
search {word}
search {word} --explain
search qqqzzz
search ''
search {word} -k 0
search {word} --kind nonsense
search {word} --since ???
search {word} --scope nonsense
search {word} --preset nonsense
recall {word}
recall {word} --budget 1
recall {word} --deadline 0
read {note}
read nothing.md
read {note}#L9999
read {note}#L5-L2
read /etc/passwd
read ../x.md
read .
add {said}
add {said} --session chat:new
add {said} --role user
add {said} --session chat:new --role nobody
add {said} --session chat:new --scope nonsense
add ''
log -n 30
log --session nobody
log --since 2999-01-01
log --since ???
remember {key} {one} --dry-run
remember {key} {one}
remember {key} {one}
remember {key} {two}
remember {key} {one} --origin web
remember {key} {one} --origin web --dry-run
remember {key}
remember {key} ''
remember {key} {two} --type nonsense
remember {key} {two} --origin nonsense
remember {key} {two} --since ???
remember {key} {two} --importance 7
remember {key} {two} --replaces nobody
remember {key} {two} --priority nonsense
review
review show
review show nobody
review accept {waiting}
review accept {waiting}
review reject {other}
review accept {suspect}
review accept edits
review accept
review nonsense
review list {waiting}
review --keep
review learned
review learned --strike nobody
review learned --strike ,
review learned --keep --strike x
review learned --keep
review learned
why {fact}
why {fact} {word}
why {turn}
why {note}#L3
why nobody
correct {fact} {one}
correct {fact} {one}
correct {fact} --since 2020-01-01
correct {fact} --since ???
correct {fact}
correct {fact} --never
correct qqqzzz x
undo
undo nobody
pin {note}#L3
pin nobody
forget --query qqqzzz
forget --query {word} --dry-run
forget --query x
forget {turn}
undo
forget {fact}
forget {fact} --git
forget nobody
forget nothing.md#L3
forget {turn} --query {word}
forget
forget --session nobody
forget --query {word} --erase
forget --query {key} --erase --yes
undo
revert --session {session} --dry-run
revert --session {session}
revert --session nobody
revert --since ???
revert
undo
sessions
sessions --last 0
sessions end chat:new
sessions end chat:new
sessions end --idle
sessions end nobody
sessions end
sessions nonsense
learn
learn --dry-run --again --session {session}
learn --session nobody
learn --failed
learn --retry
learn --failed --retry
consolidate --dry-run --force
consolidate --force
consolidate --force
undo
consolidate --only nonsense
prompt {word}
prompt --layers
prompt --layer nonsense=3
prompt --layer nonsense
prompt --budget 0
prompt --persona nobody
pause --for 1h
pause
status
add {said} --session chat:new
learn
pause --end
pause --end
pause --for ???
pause --end --for 1h
doctor --fix
doctor --model x
self-check
self-check ../nothing
verify
backup ../backup.zip
backup -
restore ../backup.zip ../restored
restore ../backup.zip ../restored
restore nothing.zip ../other
restore {note} ../other
export jsonl ../all.jsonl
export obsidian ../vault
export
export html
export nonsense ../x
export zip ../x.zip --format jsonl
export zip ../x.zip --scope users/nobody
export html .
export obsidian {note}
add {said} -w ../restored
merge ../restored --dry-run
merge ../restored
undo
merge ../nothing
merge .
merge
merge --repair
import ../chat.txt --dry-run
import ../chat.txt
import ../chat.txt
import ../chatgpt/conversations.json
import ../nothing
import ../odd.bin
import chatgpt
import nonsense ../chat.txt
import csv ../table.csv
import csv ../table.csv --columns text
import csv ../table.csv --columns text=nonsense
import csv ../table.csv --columns text=words --me X
learn
undo
mount
mount ../beside --name beside
mount ../beside/more --name beside
mount ../beside --name '../x'
mount ../nothing
status
mount beside --remove
mount beside --remove
mount --remove
mount --found
connect
db status
db migrate --database postgresql://nobody@127.0.0.1:1/nothing
db tenants
db tenants create
db tenants nonsense ann
db keys
db keys ann add
db limits ann calls_per_day=many
db people ann add
serve --database postgresql://nobody@127.0.0.1:1/nothing
connect --check
connect nonsense
connect codex --dry-run
connect codex
connect codex
connect
connect codex --remove
connect codex --remove --dry-run
connect codex --plugin x
connect claude-code --plugin ../plugin
connect git
connect --remove
trust ../nothing
trust --revoke
trust --yes
init .
init ../fresh
init ../fresh/inner
init {note}
serve --stop
web --sign-out
tui
hook
search {word} -w ../nothing
facts -w ../fresh
review -w ../fresh
log -w ../fresh
sessions -w ../fresh
learn -w ../fresh
status -w ../fresh
undo -w ../fresh
sync -w ../fresh
search {word} -w ../empty
why x -w ../empty
doctor -w ../empty
demo ../demo
demo ../demo
--version
serach
search
search {word} --nonsense
search {word} -k many
search -k
log -n 0
forget a b c
status --json=x
-w x search
"""
WALK: Final = tuple(_TEXT.strip().splitlines())
"""Command lines, with the words and ids of a memory in their places."""


def beside(folder: Path, language: str) -> None:
    """Write what the walk imports, mounts and opens, beside the memory."""
    word, other = ASKED[language]
    for name in ("beside/more", "chatgpt", "empty"):
        (folder / name).mkdir(parents=True)
    (folder / "beside/a.md").write_text(f"- {word}\n", "utf-8")
    lines = [f"[12/02/2026, 09:3{n}:00] {who}: {word} {other} {n}" for n, who in enumerate("XYXY")]
    (folder / "chat.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "odd.bin").write_bytes(b"\0\1\2\3" * 50)
    (folder / "table.csv").write_text(f"words,when\n{word},2026-02-01\n{other},2026-02-02\n", "utf-8")
    said = {"id": "b", "author": {"role": "user"}, "create_time": 1_770_000_000.0,
            "content": {"content_type": "text", "parts": [SAID[language][0]]}}  # fmt: skip
    nodes = {
        "a": {"id": "a", "message": None, "parent": None}, "b": {"id": "b", "parent": "a", "message": said}
    }  # fmt: skip
    talk = {"title": word, "create_time": 1_770_000_000.0, "current_node": "b", "conversation_id": "one"}
    export = json.dumps([{**talk, "mapping": nodes}], ensure_ascii=False)
    (folder / "chatgpt/conversations.json").write_text(export, "utf-8")


def _lines(language: str, ids: dict[str, str]) -> Iterator[list[str]]:
    said, key, one, two = SAID[language]
    named = {"word": ASKED[language][0], "said": said, "key": key, "one": one, "two": two, **ids}
    for line in WALK:
        yield [word.format(**named) for word in shlex.split(line)]


def _ids(shell: Shell, language: str) -> dict[str, str]:
    facts = shell("facts", "--json").data["facts"]
    waiting = shell("review", "--json").data["waiting"]
    entries = shell("log", "-n", "60", "--json").data["entries"]
    plain = [one["id"] for one in waiting if one["what"] == "proposal" and not one["suspect"]]
    return {
        "fact": next(one["id"] for one in facts if one["predicate"] and not one["otherwise"]),
        "waiting": plain[0], "other": plain[1],
        "suspect": next(one["id"] for one in waiting if one["suspect"]),
        "turn": next(one["ref"] for one in entries if one["kind"] == "turn"),
        "session": next(row["talk"] for row in month.rows(language) if "claims" in row),
        "note": next(row["file"] for row in month.rows(language) if "file" in row),
    }  # fmt: skip


def walked(shell: Shell, language: str) -> Iterator[tuple[list[str], Ran]]:
    """Walk all commands on a memory of a language, in that language; yield what each printed."""
    beside(shell.folder.parent, language)
    for arguments in _lines(language, _ids(shell, language)):
        yield arguments, shell("--lang", language, *arguments)


NAMES: Final = frozenset(
    {"mnemark", "Markdown", "JSON", "MCP", "HTTP", "CSV", "API", "Python", "SQLite", "Ctrl", "git", "token"}
    | {"HTML", "Word", "EPUB", "PDF", "SDK", "PATH", "Chroma", "PostgreSQL", "linux"}
    | {"zip", "jsonl", "kB", "MB", "ms", "none", "bundled", "embedder", "fastembed", "chromadb", "pip"}
    | {"install", "Textual", "ssh", "UTF", "OpenAI", "shell", "words", "when", "since", "learned", "edits"}
    | {
        "ref",
        "query",
        "kinds",
        "origins",
        "learn",
        "deadline",
        "importance",
        "priority",
        "session-start",
        "session-end",
        "compact",
        "response",
    }
)
"""Names of programs, formats, settings, options and columns, which are the same in Chinese."""
_LATIN: Final = re.compile(r"[A-Za-z][A-Za-z'’-]+")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_TURN: Final = re.compile(r"(?i)\bturns?\b(?! (?:it|a)\b)")
_OWN: Final = re.compile(
    r"<!--.*?-->|`[^`]*`"  # comments and commands
    r"|'[^']*'"  # what was given
    r"|(?<![\w-])--?[a-zA-Z][a-z-]*(?:=\S*)?"  # options
    r"|\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b|^[0-9a-z]{5}(?=  )|\b[0-9a-z]{5},[0-9a-z]{5}\b"  # ids and marks
    r"|[^\s，。；：、（）“”]*[/._#@=*\[\]{}<>|×][^\s，。；：、（）“”]*|[\w-]+:\w[^\s，。；、（）]*"
    r"|\bbundled-\S+"  # and paths, keys and the like before
)
_FOR_MODELS: Final = ("recall", "prompt", "read")
"""Commands whose data is text of the memory as models get it; their messages and tables are not."""


def foreign(language: str, arguments: list[str], ran: Ran, own: frozenset[str]) -> Iterator[str]:
    """Yield the lines of a command that hold words of the other language, but for those of the memory.

    So does "turn", which is a word of the API and the format: people read "message".

    Args:
        language: of the memory, and of the command.
        arguments: the command line.
        ran: what it printed.
        own: the words of the memory.
    """
    data = [line for line in ran.out.splitlines() if not line.startswith(("+", "-", "@@", "#", "  > "))]
    if arguments[0] in _FOR_MODELS or (arguments[-1:] == ["--dry-run"] and arguments[0] == "connect"):
        data = data[-10:] if arguments[0] == "prompt" else []
    data = [] if arguments[0] == "demo" else data  # it asks in both languages
    for line in (*data, *ran.err.splitlines()):
        said = _OWN.sub("", line)
        if language == "en":
            strange = bool(_HAN.search(said) or (_TURN.search(said) and "--kind" not in arguments))
        else:
            strange = any(word not in own and word not in arguments for word in _LATIN.findall(said))
        if strange:
            yield f"mnemark {' '.join(arguments)}: {line}"


def own_words(language: str) -> frozenset[str]:
    """Return the words that are not the program's: of the memory, names, keys and values."""
    texts = [path.read_text("utf-8") for path in month.FOLDER.glob(f"*{language}.json*")]
    values = [
        *TYPES,
        *PRIORITIES,
        *ORIGINS,
        *KINDS,
        *PRESETS,
        *STEPS,
        *FOLDER_FORMATS,
        *LAYERS,
        *COMMANDS,
        *predicates(),
    ]
    values += [text for host in HOSTS for text in (host.name, host.title)]
    values += [one.name for one in EXTRAS]
    values += [text for pair in format_titles().items() for text in pair]
    values += ["user", "assistant", "system", "tool", "list", "show", "accept", "reject", "lexical", "long"]
    return NAMES | frozenset(word for text in (*texts, *values) for word in _LATIN.findall(text))
