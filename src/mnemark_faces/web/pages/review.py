"""Review: what tools, the web and imports proposed, conflicts, and edits by hand."""

from mnemark.errors import MnemarkError
from mnemark_faces.web.at import At, Go, PageContent


def review(at: At) -> PageContent:
    """Show what waits, with its sources."""
    page = at.memory.browse.review(origin=at.asked("origin"), limit=20, after=at.asked("after"))
    values = {"page": page, "origin": at.asked("origin"), "start": at.number("at", 0)}
    return PageContent("review.html", values, page)


def decide(at: At) -> Go:
    """Accept or reject one, or all that are marked."""
    accept = at.sent("do") == "accept"
    suspect = at.sent("suspect") == "yes"
    ids = at.all_sent("id")
    done, failed = [], []
    for identifier in ids:
        try:
            fact = at.memory.accept(identifier, suspect=suspect) if accept else at.memory.reject(identifier)
        except MnemarkError as error:
            failed.append(at.words.told(str(error)).text)
        else:
            done.append((fact, identifier))
    for text in failed:
        at.tell("{error}", error=text)
    undo = [one for _, one in done]
    if len(done) == 1 and done[0][0] is not None and accept:
        at.tell("Accepted: {fact}", fact=str(done[0][0]), undo=undo)
    elif done:
        text = at.words.count(
            len(done), "Accepted 1 entry" if accept else "Rejected 1 entry",
            "Accepted {n} entries" if accept else "Rejected {n} entries",
        )  # fmt: skip
        at.tell("{text}", text=text, undo=undo)
    return Go(at.link("review", origin=at.sent("origin"), at=at.sent("at")) + f"#r{at.sent('at')}")
