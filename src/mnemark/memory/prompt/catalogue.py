"""List what is in memory by kind, so that a model knows what to search for."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from mnemark.files import layout
from mnemark.memory.curation.personas import FOLDER as PERSONAS
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.quoting.fence import visible

_MOST: Final = 40
"""Names in a line."""
_COUNTED: Final = (
    ("episode", "Episodes", "情景"),
    ("attachment", "Attachments", "附件"),
    ("session", "Sessions", "会话"),
)


def catalogue(ws: OpenWorkspace, facts: Mapping[str, int], *, scope: str, chinese: bool) -> list[str]:
    """Return a line for each kind of thing in memory.

    Args:
        ws: the workspace.
        facts: how many current facts there are about whom or what.
        scope: whose memory beside the root's; other scopes are not told of.
        chinese: the language of the words around the names.
    """
    names, dates = _named(ws.searcher.paths(), scope)
    lines: list[str] = []
    if facts:
        ordered = sorted(facts.items(), key=lambda pair: (-pair[1], pair[0]))
        told = [f"{name} ({count})" for name, count in ordered]
        lines.append(_line("关于这些有事实" if chinese else "Facts about", told, chinese=chinese))
    if dates:
        first, last = min(dates), max(dates)
        span = first if first == last else f"{first} – {last} ({len(set(dates))})"
        lines.append(f"- {'每日笔记：' if chinese else 'Notes by day: '}{span}")
    if names["note"]:
        lines.append(_line("其他笔记" if chinese else "Other notes", sorted(names["note"]), chinese=chinese))
    if names["persona"]:
        told = [path.rpartition("/")[2].rpartition(".")[0] for path in sorted(names["persona"])]
        lines.append(_line("角色" if chinese else PERSONAS.capitalize(), told, chinese=chinese))
    for role, english, zh in _COUNTED:
        if names[role]:
            lines.append(f"- {zh}：{len(names[role])}" if chinese else f"- {english}: {len(names[role])}")
    return lines


def _named(paths: Iterable[str], scope: str) -> tuple[Mapping[str, list[str]], list[str]]:
    """Return the paths of a scope and of the root by role, and the days of daily notes.

    Where a folder tells what its files are, that is looked up for one of them.
    """
    by_folder: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in paths:
        folder, _, name = path.rpartition("/")
        by_folder[folder, name[name.rfind(".") :]].append(path)
    names: dict[str, list[str]] = defaultdict(list)
    dates: list[str] = []
    for (folder, _), found in by_folder.items():
        if layout.scope_of(f"{folder}/") not in {"", scope}:
            continue
        if layout.is_uniform(folder):
            if (place := layout.place(found[0])) is not None and place.searchable:
                names[place.role] += found
            continue
        for path in found:
            place = layout.place(path)
            if place is not None and place.searchable:
                names[place.role].append(path)
                dates += [place.dated] if place.role == "daily" and place.dated else []
    return names, dates


def _line(label: str, names: list[str], *, chinese: bool) -> str:
    more = len(names) - _MOST
    told = ("、" if chinese else ", ").join(map(visible, names[:_MOST]))
    if more > 0:
        told += f" … 另有 {more} 项" if chinese else f" … and {more} more"
    return f"- {label}：{told}" if chinese else f"- {label}: {told}"
