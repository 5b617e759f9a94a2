"""Order talks, and give their pages paths."""

from mnemark.files import layout
from mnemark.memory.transfer.export.model import Talk
from mnemark.memory.transfer.export.names import FileNames


def order(talk: Talk) -> tuple[str, str, str]:
    """Return the sort key of a talk: scope, begin and log."""
    return talk.scope, talk.begin.isoformat() if talk.begin else "", talk.source


def name_talk(talk: Talk, names: FileNames, suffix: str) -> None:
    """Give the pages of a talk their paths."""
    folder = layout.in_scope(talk.scope, f"talks/{talk.month or 'undated'}")
    day = f"{talk.begin:%Y-%m-%d} " if talk.begin else ""
    talk.paths = [
        names.made(folder, f"{day}{talk.title}{f' part {at + 1}' if at else ''}", suffix)
        for at in range(len(talk.starts))
    ]
