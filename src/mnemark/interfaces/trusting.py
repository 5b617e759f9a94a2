"""Ask once whether the person trusts a folder that was not made on this machine, and say what that allows."""

import os
from pathlib import Path

from mnemark.files import listing, trust
from mnemark.files.layout import CONFIG, FACTS, LOGS, PRIVATE, in_scope
from mnemark.interfaces.output import can_ask, safe, say


def check_trust(root: Path) -> None:
    """Ask at a terminal whether a folder is trusted, where that would change something; else say how to."""
    known = trust.standing(root)
    if known.trusted or known.asked or not (allowed := what_trust_allows(root)):
        return
    if not can_ask():
        say(
            f"{safe(str(root))} was not made on this machine, so it is read with care: its settings do "
            "nothing that could harm, and who spoke in it is not believed. "
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
    say(f"{safe(str(root))} was not made on this machine. If you trust it:")
    for line in allowed:
        say(f"- {safe(line)}")


def what_trust_allows(root: Path) -> list[str]:
    """Return what changes with trust in a folder, a line each; empty where it holds nothing of the kind.

    A note alone is none: it is read in either case, and speaks as a file.
    """
    from mnemark.files.config import withheld

    allowed = []
    if settings := withheld(root):
        allowed.append(f"its settings hold: {', '.join(settings)} ({CONFIG})")
    if not trust.standing(root).ours:
        allowed.append(f"its index and what else lies in {PRIVATE} is used")
    if spoken := [name for name in (*LOGS, FACTS) if _is_filled(root, name)]:
        allowed.append(f"what its {' and '.join(spoken)} say counts as said by you and your agents")
    if allowed:
        allowed.append("its MEMORY.md, USER.md and rules brief your agents")
    return allowed


def _is_filled(root: Path, name: str) -> bool:
    """Tell whether the folder of that name holds files in any scope."""
    for scope in ("", *listing.scopes(root)):
        try:
            with os.scandir(root / in_scope(scope, name)) as entries:
                if any(entry.name.endswith((".jsonl", ".md")) for entry in entries):
                    return True
        except OSError:  # none
            continue
    return False
