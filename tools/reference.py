"""Generate `docs/cli.md` from the commands: `python tools/reference.py > docs/cli.md`."""

from typing import Any, Final

import msgspec

from mnemark.facts.model import Fact
from mnemark.index.sync import SyncReport
from mnemark.memory.consolidation.report import Applied, Consolidated
from mnemark.memory.curation.identity import Part
from mnemark.memory.forgetting.receipt import ErasedPlace, ForgottenItem, Receipt
from mnemark.memory.health.doctor import Finding
from mnemark.memory.learning.by_rule import LearningReport
from mnemark.memory.learning.learned import LearnedFact
from mnemark.memory.review.explain import JournalLine, QueryRank, QuotedSource, Why
from mnemark.memory.review.review import ReviewItem
from mnemark.memory.sessions.ending import Ended
from mnemark.memory.sessions.history import ListedSession
from mnemark.memory.transfer.backup import Saved
from mnemark.memory.transfer.importer import Summary
from mnemark.memory.transfer.restore import Restored
from mnemark.memory.transfer.transfer import Exported
from mnemark.memory.undo.revert import Reverted
from mnemark.memory.undo.undo import Pinned, Undone
from mnemark.types import Hit, Problem, Recall
from mnemark_interfaces import output
from mnemark_interfaces.app import COMMANDS, loaded
from mnemark_interfaces.status import Status
from mnemark_interfaces.timeline import LogEntry

_INTRO: Final = """\
# Commands
Generated from `mnemark --help` by `python tools/reference.py`; a test checks that.

Results go to stdout, messages to stderr. `NO_COLOR` turns off colour, `MNEMARK_DEBUG=1` shows the trace of
an error, `MNEMARK_WORKSPACE` sets the workspace if `-w` is not given. Install shell completion with
`mnemark --install-completion`.

| exit code | meaning |
|---|---|
| 0 | success, also if a search finds nothing |
| 1 | an error |
| 2 | a wrong argument or setting |
| 3 | ref, session, file or folder not found |
| 4 | with `--strict`: a part of the search failed or was too slow |
| 5 | another process is using the workspace or file; try again |
| 6 | the index, a session file or a journal is damaged |
| 7 | the workspace cannot be written |
| 8 | done, but for what is listed: what was left out, or is not finished and tried at every sync |
| 130 | interrupted with Ctrl-C |
| 141 | the program that reads the output has closed it |

## Language
`--lang en` or `--lang zh`, before or behind a command, is the language of what it prints; else the setting
`language` of your own configuration (`~/.config/mnemark/config.toml`), else that of the locale. JSON is the
same in all.

## JSON
Every command except `tui`, and `hook` and `mcp`, which use JSON anyway, has `--json`. These are the keys;
later versions only add keys.

- `on_topic`: the confidence, from 0 to 1, that memory holds something on the question; `believable`: that the
  answer is among the hits, if it does. [What both can tell](measurements.md) is measured.
- `complete`: the index was up to date and all search methods answered; `degraded` gives the reasons if not. A
  passage that has no vector yet is ranked by its words; if it could be an answer, `complete` is false.
- `origin`: where a text came from: `owner` (the user), `agent`, `tool`, `web`, `file` (a note or fact file,
  also by `mnemark add`) or `import`.
- `ref`: a file, or lines of it (`memory/2026-02-13.md#L12`); `mnemark read REF` prints them. A page of a PDF:
  `report.pdf#page=12`.
- `unread`: how many files hold text and were not read, by the end of their name; of an answer only if it is
  empty or doubtful.

"""


def reference() -> str:
    """Return the whole page."""
    names = [name for name in COMMANDS if name != "bench"]
    bench = "## bench\nBenchmark mnemark against baselines. See `mnemark bench -h`.\n"
    return "\n".join([_INTRO + _shapes(), *(_section(name, loaded(name)) for name in names), bench])


def _shapes() -> str:
    """Return a table of the JSON fields of each command, from the structs that it prints."""
    hit, problem = f"`hits`: {_names(Hit)}", f"`problems`: {_names(Problem)}"
    found = f"{_names(Recall)}; each of {hit}"
    checked = f"`workspace level fixed findings`; each of `findings`: {_names(Finding)}"
    rows = {
        "search, recall": found,
        "read": "`ref text`",
        "add": "`ref time text`, and `id` for a turn",
        "log": f"`entries`; each: {_names(LogEntry)}",
        "init": "`workspace created`",
        "sync": f"{_names(SyncReport)[:-1]} degraded`; each of {problem}",
        "watch": "a line for each change: `time paths report`, the report as for sync",
        "status": f"{_names(Status)}; each of {problem}",
        "doctor, verify": checked,
        "export": f"{_names(Exported)}; each of {problem}",
        "backup": f"{_names(Saved)}; each of {problem}",
        "restore": f"{_names(Restored)}; each of {problem}",
        "import": f"{_names(Summary)}; each of {problem}",
        "consolidate": f"{_names(Consolidated)}; each of `edits`: {_names(Applied)}",
        "learn": f"{_names(LearningReport)}; each of `facts`: {_names(LearnedFact)}; "
        "of --failed: `failed`, each: `ref tries reason`; of --retry also: `retried`",
        "sessions": f"`sessions`; each: {_names(ListedSession)}; of end: `ended`; each: {_names(Ended)}",
        "prompt": f"`text recall tokens budget parts messages`; each of `parts`: {_names(Part)}",
        "connect": "without an agent `agents`, each: `agent title installed state files workspace problem`; "
        "else `agent workspace dry_run removed changes`; each of `changes`: `path diff`",
        "remember": "`dry_run fact replaces`; `fact` and `replaces`: as `facts`",
        "facts": f"`facts`; each: {_names(Fact)[:-1]} ref`",
        "review": f"`waiting`; each: {_names(ReviewItem)}; of accept and reject: `id action fact`",
        "why": f"{_names(Why)}; of `sources`: {_names(QuotedSource)}; of `journal`: {_names(JournalLine)}; "
        f"`found`: {_names(QueryRank)}",
        "forget": f"{_names(Receipt)}; of `items`: {_names(ForgottenItem)}; "
        f"of `places`: {_names(ErasedPlace)}",
        "undo": f"`undone`; each: {_names(Undone)}",
        "revert": f"{_names(Reverted)}; `hidden` and `facts` as `items` of forget",
        "pin": _names(Pinned),
        "serve": "`url pid version state`; the state is `listening`, `running already` or `ended`",
        "self-check": f"`version works findings`; each of `findings`: {_names(Finding)}",
        "demo": "`workspace sync answers recall`; each of `answers`: `query seconds answer`",
    }
    lines = [f"| {commands} | {names} |" for commands, names in rows.items()]
    return "\n".join(["| command | names |", "|---|---|", *lines, ""])


def _names(record: type[msgspec.Struct]) -> str:
    return f"`{' '.join(record.__struct_fields__)}`"


def _section(name: str, command: Any) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    usage = " ".join(["mnemark", name, *(_argument(param) for param in arguments), "[OPTIONS]"])
    lines = [f"## {name}", " ".join((command.help or "").split()), "", f"`{usage}`", ""]
    rows = [(f"`{_argument(param)}`", _help(param)) for param in arguments]
    rows += [(f"`{_option(param)}`", _help(param)) for param in options if param.name != "help"]
    if rows:
        lines += ["| | |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows), ""]
    return "\n".join(lines)


def _argument(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _option(param: Any) -> str:
    names = ", ".join(sorted(param.opts, key=len))
    return names if param.is_flag else f"{names} {param.metavar or param.name.upper()}"


def _help(param: Any) -> str:
    text = " ".join((param.help or "").split()).replace("|", "\\|")
    shown = param.show_default if isinstance(param.show_default, str) else ""
    if not shown and not getattr(param, "is_flag", False) and isinstance(param.default, str | int | float):
        shown = str(param.default)
    return f"{text} Default: {shown}." if shown and "Default" not in text else text


if __name__ == "__main__":
    output.out(reference(), end="")
