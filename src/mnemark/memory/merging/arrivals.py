"""Take in what another machine sent by a program for syncing or by git, at each sync."""

from mnemark.errors import MnemarkError
from mnemark.files.copies import may_be_copy, plan_copies
from mnemark.files.private import private
from mnemark.index.sync import SyncReport
from mnemark.memory.forgetting import erase
from mnemark.memory.merging import steps
from mnemark.memory.merging.contradictions import note_contradictions
from mnemark.memory.merging.copies import copies_among, join_copies
from mnemark.memory.open_workspace import OpenWorkspace


def finish(ws: OpenWorkspace) -> None:
    """Put in place what a merge that was killed had prepared.

    Raises:
        MnemarkError: a file is busy, or the merge was killed before all was prepared.
    """
    if not (private(ws.root) / steps.FOLDER).is_dir():
        return
    if waiting := steps.finish(ws.truth):
        raise MnemarkError(f"another program is saving {', '.join(waiting[:3])}")
    if cut := steps.cut_off(ws.root):
        raise MnemarkError(f"one was cut off; run `mnemark merge {cut[-1]}` again")


def take_in(ws: OpenWorkspace, report: SyncReport) -> SyncReport:
    """Erase once more what came back, join conflict copies, and note values that contradict each other.

    Return the report of the sync, or of the next one where files changed.
    """
    hidden = ws.visible.hidden.current()
    copies = [copy.path for copy in plan_copies(one.path for one in report.problems)]
    unsure = [path for path in report.replaced if may_be_copy(path)]
    changed = False
    if report.replaced and (hidden.turns or hidden.facts):
        changed = bool(erase.again(ws, {path: path for path in report.replaced}))
        ws.index.looked_through()
    if copies or unsure:
        changed |= bool(join_copies(ws, copies_among(ws, (*copies, *unsure))))
    if changed:
        report = ws.searcher.sync()
    note_contradictions(ws, ws.scopes())
    return report
