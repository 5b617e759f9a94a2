"""Ask once whether the person trusts a folder that was not made on this machine, and say what that allows."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mnemark.files import layout, listing, trust
from mnemark.files.config import withheld
from mnemark.files.layout import CONFIG, LOGS, PRIVATE
from mnemark.files.scan import scan
from mnemark_interfaces.output import can_ask, safe, say

_SPOKEN: Final[dict[str, str]] = {"session": "sessions", "journal": "journal", "fact": "facts"}
_BRIEFING: Final = frozenset({"longterm", "identity", "persona", "scratchpad"})


def check_trust(root: Path) -> None:
    """Ask at a terminal whether a folder is trusted, where that would change something; else say how to."""
    known = trust.now(root)
    if known.trusted or known.asked or not (allowed := what_trust_allows(root)):
        return
    if not can_ask():
        say(
            f"{safe(str(root))} was copied, moved or made elsewhere, so it is read with care: its "
            "settings do nothing that could harm, and who spoke in it is not believed. "
            f"`mnemark trust {safe(str(root))}` shows what would change."
        )
        return
    import typer

    show(root, allowed)
    if typer.confirm("Trust it?", default=False, err=True):
        trust.trust(root)
    else:
        trust.refuse(root)
        say(f"It is read with care; `mnemark trust {safe(str(root))}` changes that.")


def show(root: Path, allowed: list[str]) -> None:
    """Print what trusting a folder allows."""
    name = safe(str(root)).replace("\n", "\\n")  # a name is no place for lines of its own
    say(f"{name} was copied, moved or made elsewhere. If you trust it:")
    for line in allowed:
        say(f"- {safe(line)}")


def what_trust_allows(root: Path, *, notes: bool = False) -> list[str]:
    """Return what changes with trust in a folder, a line each; empty where it holds nothing of the kind.

    Without `notes`, those that brief agents (MEMORY.md, USER.md) are not looked for: they are found and
    quoted in either case.
    """
    allowed = []
    if settings := withheld(root):
        allowed.append(f"its settings hold: {', '.join(settings)} ({CONFIG})")
    if not trust.now(root).ours:
        allowed.append(f"its index and what else lies in {PRIVATE} is used")
    roles = sorted({_role(path) for path in _logs_and_facts(root)} & _SPOKEN.keys())
    if spoken := " and ".join(_SPOKEN[role] for role in roles):
        allowed.append(f"what its {spoken} say counts as said by you and your agents")
    if allowed or (notes and _briefs(root)):
        allowed.append("its MEMORY.md, USER.md and rules brief your agents")
    return allowed


def _logs_and_facts(root: Path) -> Iterator[str]:
    """Yield the paths of files in folders that may hold logs or facts, whatever the case of their names."""
    for scope in ("", *listing.scopes(root)):
        for top in _folders(root / scope, {*LOGS, "memory"}):
            for folder, _, names in os.walk(top):
                inside = os.path.relpath(folder, root)
                yield from (f"{inside}/{name}" for name in names)


def _folders(base: Path, wanted: set[str]) -> list[str]:
    try:
        with os.scandir(base) as entries:
            return [one.path for one in entries if one.name.casefold() in wanted and one.is_dir()]
    except OSError:  # none
        return []


def _role(path: str) -> str:
    place = layout.place(path)
    return place.role if place is not None else ""


def _briefs(root: Path) -> bool:
    return root.is_dir() and any(_role(entry.path) in _BRIEFING for entry in scan(root).entries)
