"""Facts: what holds now or at a time, with what it replaced."""

from typing import Any

from mnemark.facts.model import TYPES
from mnemark_faces.web.at import At, Go, PageContent


def facts(at: At) -> PageContent:
    """Show facts as a table with counts."""
    order: Any = "recent" if at.asked("order") == "recent" else "subject"
    asked: Any = {name: at.asked(name) for name in ("text", "subject", "type", "origin")}
    page = at.memory.browse.facts(
        **asked, as_of=at.asked("as_of") or None, order=order, after=at.asked("after")
    )
    values = {
        "page": page, "asked": asked, "order": order, "as_of": at.asked("as_of"), "types": TYPES,
        "filtered": any(asked.values()) or bool(at.asked("as_of")),
    }  # fmt: skip
    return PageContent("facts.html", values, page)


def remember(at: At) -> Go:
    """Remember a fact of the owner's; see `Memory.remember` for what it replaces."""
    fact = at.memory.remember(
        at.sent("predicate").strip(), at.sent("value"), subject=at.sent("subject").strip() or "user"
    )
    at.tell("Remembered: {fact}", fact=str(fact), undo=fact.id)
    return at.back("facts")
