"""The pages: what each shows, and what its forms do."""

from collections.abc import Callable, Mapping
from typing import Final

from mnemark_faces.web.at import At, Go, PageContent
from mnemark_faces.web.pages import (
    attachments,
    changes,
    connect,
    consolidate,
    facts,
    files,
    forget,
    health,
    import_,
    learned,
    prompt,
    review,
    search,
    sessions,
    timeline,
    today,
)

PAGES: Final[Mapping[str, Callable[[At], PageContent | Go]]] = {
    "": today.today,
    "search": search.search,
    "item": search.item,
    "timeline": timeline.timeline,
    "facts": facts.facts,
    "review": review.review,
    "changes": changes.changes,
    "change": changes.change,
    "forget": forget.forget,
    "receipt": forget.receipt,
    "prompt": prompt.prompt,
    "sessions": sessions.sessions,
    "session": sessions.session,
    "files": files.files,
    "edit": files.edit,
    "attachments": attachments.attachments,
    "consolidate": consolidate.consolidate,
    "health": health.health,
    "connect": connect.connect,
    "import": import_.show,
    "learned": learned.show,
}
ACTIONS: Final[Mapping[str, Callable[[At], PageContent | Go]]] = {
    "review": review.decide,
    "undo": changes.undo,
    "pin": changes.pin,
    "remember": facts.remember,
    "forget": forget.do_forget,
    "edit": files.save,
    "consolidate": consolidate.run,
    "check": health.check,
    "describe": attachments.describe,
    "connect": connect.apply,
    "import": import_.bring_in,
    "learned": learned.decide,
    "sync": health.sync,
    "end": sessions.end,
    "revert": sessions.revert,
}
