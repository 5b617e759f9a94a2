"""Write the pages of conversations anew that two machines went on with: each knew half of what was said.

Two sittings of two machines may be one when their turns stand together. Its page is that of the first turn;
the page of the other goes to the archive, and its lines out of the day's note.
"""

from collections.abc import Collection

from mnemark.errors import BusyError
from mnemark.files import layout
from mnemark.files.episodes import EpisodeFile
from mnemark.files.layout import in_scope
from mnemark.files.names import free_name
from mnemark.files.sessions import SessionLog
from mnemark.memory import file_edits
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions.ending import part_name, rewrite
from mnemark.memory.sessions.episodes import sittings
from mnemark.memory.sessions.recorder import Recorder
from mnemark.text.markdown.generated import put

ARCHIVE = "memory/archive/episodes"
_STEP = "merge: pages"


def write_anew(ws: OpenWorkspace, log: str, turns: Collection[str]) -> str:
    """Write the pages of the sittings that hold these turns, which came from another machine.

    Returns why it could not be done; empty where it was, or where the session has no page yet.
    """
    scope = layout.scope_of(log)
    session = SessionLog.at(ws.root, log)
    pages = {one.first: one for one in ws.episodes.since(scope, "") if one.session == session.id}
    if not pages:
        return ""
    for sitting in sittings(list(session.turns())):
        if sitting.first in pages:
            ids = {placed.turn.id for placed in sitting.turns} - {sitting.first}
            for other in sorted(pages.keys() & ids):
                _put_away(ws, scope, pages[other])
    try:
        return "; ".join(rewrite(ws, Recorder(ws, session.id, scope=scope), turns).problems)
    except BusyError as error:
        return str(error)


def _put_away(ws: OpenWorkspace, scope: str, page: EpisodeFile) -> None:
    name = part_name(page.session, page.first)
    note = in_scope(scope, f"memory/{page.date[:10]}.md")
    if (ws.root / note).is_file():
        file_edits.write(ws, note, lambda text: put(text, name, []), step=_STEP)
    to = free_name(ws.root, in_scope(scope, f"{ARCHIVE}/{page.path.rpartition('/')[2]}"))
    file_edits.move(ws, page.path, to, step=_STEP)
