"""Implement `demo`: try mnemark on a sample workspace."""

import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from mnemark import demo as sample
from mnemark.extras import extra_named, how_to_add
from mnemark.files import trust
from mnemark.memory.memory import Memory
from mnemark.types import Recall
from mnemark_interfaces import options, output, render, workspace
from mnemark_interfaces.queries import DOUBTFUL

_HITS: Final = 2
_BLOCK_TOKENS: Final = 300


def demo(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="Where to create it. Default: a temporary folder."),
    ] = None,
    *,
    json: options.Json = False,
) -> None:
    """Try mnemark on a sample workspace in English and Chinese.

    Creates and indexes the workspace, asks it questions, and suggests commands to try next.
    """
    target = Path(tempfile.mkdtemp(prefix="mnemark-demo-")) if folder is None else folder
    target = target.expanduser().absolute()
    sample.copy(target)
    trust.trust_new(target)
    with workspace.opened(target) as memory:
        report, problem = workspace.synced(memory.sync, memory)
        answers = [(query, *_timed_search(memory, query)) for query, _ in sample.QUESTIONS]
        first = sample.QUESTIONS[0][0]
        block = memory.recall(first, budget=_BLOCK_TOKENS, deadline=2.0, k=_HITS, now=sample.NOW)
    if json:
        found = [{"query": query, "seconds": seconds, "answer": answer} for query, answer, seconds in answers]
        output.out_json({"workspace": str(target), "sync": report, "answers": found, "recall": block})
        return
    output.out(f"Created a sample workspace in {output.safe(str(target))}")
    render.report(report)
    if problem:
        output.say(f"Note: {output.safe(problem)}")
    for query, answer, seconds in answers:
        _show(query, answer, seconds)
    output.out(f"\n{_title(f'Recalled text for the prompt “{first}”')}")
    output.out(block.text)
    _next_steps(target)


def _timed_search(memory: Memory, query: str) -> tuple[Recall, float]:
    memory.search(query, k=_HITS, now=sample.NOW)  # an agent's memory is warm: dictionaries are read by now
    started = time.perf_counter()
    answer = memory.search(query, k=_HITS, now=sample.NOW)
    return answer, time.perf_counter() - started


def _title(text: str) -> str:
    return output.style(text, output.BOLD)


def _show(query: str, answer: Recall, seconds: float) -> None:
    note = f"{seconds * 1000:.0f} ms · {answer.mode} · confidence {answer.on_topic:.2f}"
    output.out(f"\n{_title(query)}  {output.style(note, output.DIM)}")
    if answer.on_topic < DOUBTFUL:
        output.out("Probably not in this memory.")
    else:
        render.hits(answer, query)


def _next_steps(target: Path) -> None:
    command = _command()
    place = shlex.quote(str(target))
    output.out(f"\n{_title('Try next')}\n  cd {place}")
    for line in (
        'mnemark search "部署失败" --explain',
        'mnemark search "python version" --json',
        'mnemark recall "when is the release?" --budget 300',
        'mnemark add "The release is on Thursday" && mnemark search release',
        "mnemark log -n 5 && mnemark status",
    ):
        output.out(f"  {line.replace('mnemark ', f'{command} ')}")
    output.out(f"\n{_title('Look at it')}")
    for face, extra in (("web", "serve"), ("tui", "tui")):
        needs = f"   # needs: {how_to_add([extra])}" if extra_named(extra).missing() else ""
        output.out(f"  {command} {face} -w {place}{needs}")


def _command() -> str:
    """Return the command line of this program, which `make demo` runs from outside of PATH."""
    if shutil.which("mnemark"):
        return "mnemark"
    called = Path(sys.argv[0]).absolute()
    if called.name.startswith("mnemark"):
        return shlex.quote(str(called))
    return f"{shlex.quote(sys.executable)} -m mnemark"
