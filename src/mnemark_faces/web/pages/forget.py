"""Forget: first what it would be, then hiding, or erasing after its number is typed; then a receipt."""

from typing import Any

from mnemark.errors import NotFoundError, UsageError
from mnemark.memory.forgetting.receipt import Receipt
from mnemark.present.receipts import forgotten
from mnemark_faces.web.at import At, Go, PageContent


def forget(at: At) -> PageContent:
    """Show what would be forgotten, and to erase also where it stands; nothing is changed."""
    return _shown(at, at.asked("ref"), at.asked("q"), erase=bool(at.asked("erase")))


def _shown(at: At, ref: str, query: str, *, erase: bool) -> PageContent:
    found = _look(at, ref, query, erase=erase) if ref or query else None
    return PageContent("forget.html", _values(ref, query, found, erase=erase), found)


def do_forget(at: At) -> Go | PageContent:
    """Hide or erase what was shown, if it is still as many items; or look for it.

    Looking is a form too: the words would else stand in an address, and a browser's history would keep them
    after they are erased.

    Raises:
        UsageError: nothing was named.
    """
    ref, query, erase = at.sent("ref"), at.sent("q"), at.sent("do") == "erase"
    if at.sent("do") in {"look", "where"}:
        return _shown(at, ref, query.strip(), erase=at.sent("do") == "where")
    if not (ref or query):
        raise UsageError("name what to forget")
    now = _look(at, ref, query, erase=False)
    expected = at.sent("expected")
    problem = ""
    if expected != str(len(now.items)):
        problem = at.words("It is {n} items by now: look again.", n=len(now.items))
    elif erase and at.sent("count").strip() != expected:
        problem = at.words("Type {n} to erase: what is erased cannot be brought back.", n=len(now.items))
    if problem:
        return PageContent(
            "forget.html", {**_values(ref, query, now, erase=erase, problem=problem), "status": 409}
        )
    done = at.memory.forget(ref or None, query=query or None, erase=erase, scope=None if ref else "*")
    return Go(at.link("receipt", n=at.session.keep(forgotten(at.memory.workspace, done, at.words))))


def _look(at: At, ref: str, query: str, *, erase: bool) -> Receipt:
    scope = None if ref else "*"
    found = at.memory.forget(ref or None, query=query or None, erase=erase, dry_run=True, scope=scope)
    return forgotten(at.memory.workspace, found, at.words)


def _values(ref: str, query: str, found: Receipt | None, *, erase: bool, problem: str = "") -> dict[str, Any]:
    return {"ref": ref, "query": query, "found": found, "erase": erase, "problem": problem}


def receipt(at: At) -> PageContent:
    """Show what was done, and where the words may still stand."""
    done = at.session.receipts.get(at.asked("n"))
    if done is None:
        raise NotFoundError("this receipt is no longer kept; the list of changes has what was forgotten")
    return PageContent("receipt.html", {"done": done}, done)
