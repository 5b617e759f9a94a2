"""Review: what tools, the web and imports proposed, conflicts, and edits by hand."""

from mnemark.errors import MnemarkError
from mnemark.interfaces.web.at import At, Go, Shown


def review(at: At) -> Shown:
    """Show what waits, with its sources."""
    page = at.memory.browse.review(origin=at.asked("origin"), limit=20, after=at.asked("after"))
    values = {"page": page, "origin": at.asked("origin"), "start": at.number("at", 0)}
    return Shown("review.html", values, page)


def decide(at: At) -> Go:
    """Accept or reject one, or all that are marked."""
    accept = at.sent("do") == "accept"
    ids = at.all_sent("id")
    done, failed = [], []
    for identifier in ids:
        try:
            fact = at.memory.accept(identifier) if accept else at.memory.reject(identifier)
        except MnemarkError as error:
            failed.append(str(error))
        else:
            done.append(fact)
    for text in failed:
        at.tell("{error}", error=text)
    if len(done) == 1 and done[0] is not None:
        one = done[0]
        at.tell(
            "Accepted: {fact}" if accept else "Rejected: {fact}", fact=str(one), undo=one.id if accept else ""
        )
    elif done:
        at.tell("Accepted {n} entries" if accept else "Rejected {n} entries", n=len(done))
    return Go(at.link("review", origin=at.sent("origin"), at=at.sent("at")) + f"#r{at.sent('at')}")
