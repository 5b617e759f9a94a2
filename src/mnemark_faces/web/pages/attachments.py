"""Attachments: files that were received and sent, by what is known of them; describing one."""

from mnemark_faces.web.at import At, Go, PageContent


def attachments(at: At) -> PageContent:
    """Show files, the latest first. The files themselves are not opened."""
    page = at.memory.browse.attachments(after=at.asked("after"))
    return PageContent("attachments.html", {"page": page}, page)


def describe(at: At) -> Go:
    """Add what a file shows to its page."""
    at.memory.describe(at.sent("id"), at.sent("description"), scope=at.sent("scope"))
    at.tell("Described: {name}", name=at.sent("id"))
    return at.back("attachments")
