"""Ask once whether the person trusts a folder that was not made on this machine, and say what that allows."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mnemark.files import layout, listing, trust
from mnemark.files.config import withheld
from mnemark.files.layout import CONFIG, LOGS, PRIVATE
from mnemark.files.scan import scan
from mnemark_interfaces import speech
from mnemark_interfaces.output import can_ask, confirm, hint, safe, say

_SPOKEN: Final[dict[str, str]] = {"session": "sessions", "journal": "journal", "fact": "facts"}
_BRIEFING: Final = frozenset({"longterm", "identity", "persona", "scratchpad"})


def check_trust(root: Path) -> None:
    """Ask at a terminal whether a folder is trusted, where that would change something; else say how to."""
    known = trust.now(root)
    if known.trusted or known.asked or not (allowed := what_trust_allows(root)):
        return
    if not can_ask():
        say(
            "{path} was not made by mnemark on this machine, so it is read with care: its settings do "
            "nothing that could harm, and who spoke in it is not believed. If it is yours, or you wrote its "
            "settings by hand, run `mnemark trust {path}`, which first shows what changes.",
            path=safe(str(root)),
        )
        return
    show(root, allowed)
    if confirm("Trust it?"):
        trust.trust(root)
    else:
        trust.refuse(root)
        say("It is read with care; `mnemark trust {path}` changes that.", path=safe(str(root)))


def show(root: Path, allowed: list[str]) -> None:
    """Print what trusting a folder allows."""
    name = safe(str(root)).replace("\n", "\\n")  # a name is no place for lines of its own
    say(
        "{path} was not made by mnemark on this machine: it was copied or moved here, or its settings were "
        "written by hand. If you trust it:",
        path=name,
    )
    for line in allowed:
        hint(f"- {safe(line)}")


def what_trust_allows(root: Path, *, notes: bool = False) -> list[str]:
    """Return what changes with trust in a folder, a sentence each; empty where it holds nothing of the kind.

    Without `notes`, those that brief agents (MEMORY.md, USER.md) are not looked for: they are found and
    quoted in either case.
    """
    words = speech.words()
    allowed = []
    if settings := withheld(root):
        names = words.listed(settings)
        allowed.append(words("its settings hold: {names} ({file})", names=names, file=CONFIG))
    if not trust.now(root).ours:
        allowed.append(words("its index and what else lies in {folder} is used", folder=PRIVATE))
    if roles := sorted({_role(path) for path in _logs_and_facts(root)} & _SPOKEN.keys()):
        logs = words(" and ").join(words(_SPOKEN[role]) for role in roles)
        allowed.append(words("what its {logs} say counts as said by you and your agents", logs=logs))
    if allowed or (notes and _briefs(root)):
        allowed.append(words("its MEMORY.md, USER.md and rules brief your agents"))
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
