"""Health: state, checks, disk and spend; and the agents of this machine."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mnemark.files.projects import FOLDER, folders
from mnemark.memory.health.doctor import Finding, examine
from mnemark.memory.health.stats import brief, mount_states
from mnemark_faces.web import charts
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_faces.web.used import use_of

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory


def health(at: At) -> PageContent:
    """Show the state. Checks and disk, which read the whole folder, come when they are asked for."""
    stats = brief(at.memory.workspace)
    spend, used = at.memory.browse.spend(), at.memory.browse.used()
    disk = at.memory.browse.disk() if at.asked("disk") else []
    last = at.checks.last(at.root) if at.checks is not None else None
    mounts = list(mount_states(at.memory.workspace))
    running = last is not None and last.running  # once: it may end while the page is made
    _ = at.words
    largest = max((part.bytes for part in disk), default=1)
    bars = [
        charts.Bar(
            f"{day.day}: {_('{n} tokens', n=day.tokens)}, {_('{n} calls', n=day.calls)}", (day.tokens,)
        )
        for day in spend.days
    ]
    values = {
        "stats": stats, "spend": spend, "last": last, "running": running,
        "disk": [(part, charts.share(part.name, part.bytes, largest)) for part in disk],
        "use": use_of(at, used),
        "total": sum(part.bytes for part in disk),
        "picture": charts.bars(_("Tokens of the language model a day"), bars, limit=spend.tokens_per_day),
        "embedder": at.memory.config.embedder,
        "unfinished": at.memory.workspace.unfinished(20),
        "projects": [f"{FOLDER}/{name}" for name in folders(at.root)],
        "mounts": mounts,
    }  # fmt: skip
    findings = None if last is None else {"running": running, "findings": list(last.found)}
    return PageContent("health.html", values, {
        "stats": stats, "spend": spend, "disk": disk, "checks": findings, "projects": values["projects"],
        "mounts": mounts, "used": used,
    })  # fmt: skip


def check(at: At) -> Go:
    """Begin the checks; the page shows what they find."""
    if at.checks is not None:
        at.checks.start(at.root, _examine)
    return Go(at.link("health") + "#checks")


def _examine(memory: "Memory", tell: Callable[[Finding], None]) -> None:
    for finding in examine(memory.workspace):
        tell(finding)


def sync(at: At) -> Go:
    """Update the index."""
    report = at.memory.sync()
    at.tell("The index is up to date: {n} files.", n=report.files)
    return at.back("health")
