"""Sessions, and the turns of one."""

from mnemark.files.layout import scope_of
from mnemark.memory.browse.session_rows import name_of
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_interfaces.workspace import session_in


def sessions(at: At) -> PageContent:
    """Show sessions, the last written first."""
    page = at.memory.browse.sessions(text=at.asked("text"), after=at.asked("after"))
    return PageContent("sessions.html", {"page": page, "text": at.asked("text")}, page)


def session(at: At) -> PageContent:
    """Show the turns of a session."""
    path = at.asked("path")
    page = at.memory.browse.turns(path, after=at.asked("after"))
    name = name_of(at.memory.workspace, path)
    held = [
        one
        for scope in dict.fromkeys(("", scope_of(path)))
        for one in at.memory.workspace.fact_store.held(scope)
    ]
    learned = [one.fact for one in held if path in one.fact.source and not one.fact.until]
    would = at.memory.revert(session=name, dry_run=True) if at.asked("revert") else None
    values = {"page": page, "path": path, "name": name, "learned": learned, "would": would}
    return PageContent("session.html", values, page)


def end(at: At) -> Go:
    """End a session: its page is written and facts are learned from it."""
    path = at.sent("path")
    done = session_in(at.memory, name_of(at.memory.workspace, path), scope_of(path)).end(wait=False)
    at.tell(
        "The session is ended; its page is written." if done.status == "ended" else "Nothing was to be done."
    )
    return at.back("session", path=path)


def revert(at: At) -> Go:
    """Take back everything that came from a session."""
    done = at.memory.revert(session=name_of(at.memory.workspace, at.sent("path")))
    at.tell("{text}", text=done.text, undo=done.id)
    return at.back("sessions")
