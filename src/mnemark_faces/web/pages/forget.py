"""Forget: first what it would be, then hiding, or erasing after its number is typed; then a receipt."""

from typing import Any, Final, NamedTuple

from mnemark.errors import NotFoundError, UsageError
from mnemark.memory.forgetting.receipt import Receipt
from mnemark.present import receipts
from mnemark.present.plain import plain
from mnemark.present.words import Translated
from mnemark_faces.web.at import At, Go, PageContent

_SHOWN: Final = 100
"""Items and places that are shown."""


class Item(NamedTuple):
    """An item to forget in words."""

    kind: str
    """A key of `kind_names`."""
    text: str
    ref: str


class Forgotten(NamedTuple):
    """What a receipt says, in words."""

    items: tuple[Item, ...]
    places: tuple[str, ...]
    still: tuple[Translated, ...]


def forget(at: At) -> PageContent:
    """Show what would be forgotten, and to erase also where it stands; nothing is changed."""
    return _shown(at, at.asked("ref"), at.asked("q"), erase=bool(at.asked("erase")))


def _shown(at: At, ref: str, query: str, *, erase: bool) -> PageContent:
    try:
        found = _look(at, ref, query, erase=erase) if ref or query else None
    except UsageError as error:  # the words that were typed are still there to be mended
        values = _values(at, ref, query, None, erase=erase, problem=at.words.told(str(error)).text)
        return PageContent("forget.html", {**values, "status": 400})
    return PageContent("forget.html", _values(at, ref, query, found, erase=erase), found)


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
            "forget.html", {**_values(at, ref, query, now, erase=erase, problem=problem), "status": 409}
        )
    done = at.memory.forget(ref or None, query=query or None, erase=erase, scope=None if ref else "*")
    told = receipts.forgotten(at.memory.workspace, done, at.words)
    # A node of a server keeps nothing for a browser, whose next request another answers.
    return _receipt(at, told) if at.hosted else Go(at.link("receipt", n=at.session.keep(told)))


def _look(at: At, ref: str, query: str, *, erase: bool) -> Receipt:
    scope = None if ref else "*"
    found = at.memory.forget(ref or None, query=query or None, erase=erase, dry_run=True, scope=scope)
    return receipts.forgotten(at.memory.workspace, found, at.words)


def _values(
    at: At, ref: str, query: str, found: Receipt | None, *, erase: bool, problem: str = ""
) -> dict[str, Any]:
    return {
        "ref": ref, "query": query, "found": found, "told": _told(at, found) if found is not None else None,
        "erase": erase, "problem": problem,
    }  # fmt: skip


def _told(at: At, found: Receipt) -> Forgotten:
    ws = at.memory.workspace
    return Forgotten(
        tuple(Item(receipts.kind(one), plain(one.words), one.ref) for one in found.items[:_SHOWN]),
        tuple(receipts.places(ws, found.places, at.words)[:_SHOWN]),
        tuple(receipts.copy(ws, one, at.words) for one in found.still),
    )


def receipt(at: At) -> PageContent:
    """Show what was done, and where the words may still stand."""
    done = at.session.receipts.get(at.asked("n"))
    if done is None:
        raise NotFoundError("this receipt is no longer kept; the list of changes has what was forgotten")
    return _receipt(at, done)


def _receipt(at: At, done: Receipt) -> PageContent:
    return PageContent("receipt.html", {"done": done, "told": _told(at, done)}, done)
