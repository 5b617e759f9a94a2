"""Health: state, checks, disk and spend; and the agents of this machine."""

from mnemark.interfaces.web import charts
from mnemark.interfaces.web.at import At, Go, Shown


def health(at: At) -> Shown:
    """Show the state; the checks run when they are asked for, as they read all files."""
    stats = at.memory.stats()
    spend = at.memory.browse.spend()
    disk = at.memory.browse.disk()
    _ = at.words
    largest = max((part.bytes for part in disk), default=1)
    bars = [
        charts.Bar(
            f"{day.day}: {_('{n} tokens', n=day.tokens)}, {_('{n} calls', n=day.calls)}", (day.tokens,)
        )
        for day in spend.days
    ]
    report = None
    if at.asked("check"):
        from mnemark.memory.health.doctor import doctor

        report = doctor(at.memory)
    values = {
        "stats": stats, "spend": spend, "report": report,
        "disk": [(part, charts.share(part.name, part.bytes, largest)) for part in disk],
        "total": sum(part.bytes for part in disk),
        "picture": charts.bars(_("Tokens of the language model a day"), bars, limit=spend.tokens_per_day),
        "embedder": at.memory.config.embedder,
        "unfinished": at.memory.unfinished(20),
    }  # fmt: skip
    return Shown("health.html", values, {"stats": stats, "spend": spend, "disk": disk, "report": report})


def sync(at: At) -> Go:
    """Update the index."""
    report = at.memory.sync()
    at.tell("The index is up to date: {n} files.", n=report.files)
    return at.back("health")


def connect(at: At) -> Shown:
    """Show the agents of this machine, and what connecting one would write."""
    from mnemark.agent.connect import connect as work

    name = at.asked("agent")
    found = work.connections()
    changes = work.plan(work.host_of(name), at.root) if name else []
    values = {"found": found, "agent": name, "changes": changes, "root": at.root}
    return Shown("connect.html", values, {"agents": [one._asdict() for one in found]})
