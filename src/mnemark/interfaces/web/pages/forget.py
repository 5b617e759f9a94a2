"""Forget: first what it would be, then hiding, or erasing after its number is typed; then a receipt."""

from mnemark.errors import NotFoundError, UsageError
from mnemark.interfaces.web.at import At, Go, Shown


def forget(at: At) -> Shown:
    """Show what would be forgotten; nothing is changed."""
    ref, query = at.asked("ref"), at.asked("q")
    found = None
    if ref or query:
        found = at.memory.forget(
            ref or None, query=query or None, erase=True, dry_run=True, scope=None if ref else "*"
        )
    return Shown("forget.html", {"ref": ref, "query": query, "found": found, "problem": ""}, found)


def do_forget(at: At) -> Go | Shown:
    """Hide or erase what was shown, if it is still as many items.

    Raises:
        UsageError: nothing was named.
    """
    ref, query, erase = at.sent("ref"), at.sent("q"), at.sent("do") == "erase"
    if not (ref or query):
        raise UsageError("name what to forget")
    scope = None if ref else "*"
    now = at.memory.forget(ref or None, query=query or None, erase=True, dry_run=True, scope=scope)
    typed = at.sent("count").strip()
    expected = at.sent("expected")
    problem = ""
    if expected != str(len(now.items)):
        problem = at.words("It is {n} items by now: look again.", n=len(now.items))
    elif erase and typed != expected:
        problem = at.words("Type {n} to erase: what is erased cannot be brought back.", n=len(now.items))
    if problem:
        values = {"ref": ref, "query": query, "found": now, "problem": problem, "status": 409}
        return Shown("forget.html", values)
    done = at.memory.forget(ref or None, query=query or None, erase=erase, scope=scope)
    return Go(at.link("receipt", n=at.session.keep(done)))


def receipt(at: At) -> Shown:
    """Show what was done, and where the words may still stand."""
    done = at.session.receipts.get(at.asked("n"))
    if done is None:
        raise NotFoundError("this receipt is no longer kept; the list of changes has what was forgotten")
    return Shown("receipt.html", {"done": done}, done)
