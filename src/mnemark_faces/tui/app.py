"""Define `Panel`: the viewer with the keys that change memory, one change after the other."""

import os
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content

from mnemark.files.reading import digest
from mnemark.memory.memory import Memory
from mnemark_faces.tui import deeds
from mnemark_faces.tui.cells import BAD
from mnemark_faces.tui.editor import Draft, editor_of
from mnemark_faces.tui.help import correct_form, shown_keys
from mnemark_faces.tui.panes_change import explain_change
from mnemark_faces.tui.rows import ListRow
from mnemark_faces.tui.viewer import Viewer
from mnemark_faces.tui.widgets import CorrectWindow, Window
from mnemark_faces.tui.words import PanelWords

_CHANGES: Final = 4
"""Number of the screen of changes."""


class Panel(Viewer):
    """The panel of a workspace: look, decide what waits, forget, and take changes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "decide(True)", show=False),
        Binding("n", "decide(False)", show=False),
        Binding("c", "correct", show=False, priority=True),
        Binding("x", "never", show=False),
        Binding("o", "pause", show=False),
        Binding("p", "pin", show=False),
        Binding("d", "forget", show=False),
        Binding("D", "erase", show=False),
        Binding("e", "edit", show=False),
        Binding("u", "undo", show=False),
        Binding("N", "night", show=False),
        Binding("q", "leave", show=False),
        Binding("ctrl+c,ctrl+q", "leave", show=False, priority=True),
    ]

    FIRST: ClassVar[frozenset[str]] = Viewer.FIRST | {"correct"}
    """With the form that `c` opens: the keys of a fast hand wait for it."""

    def __init__(self, open_memory: Callable[[], Memory], root: Path, words: PanelWords) -> None:
        super().__init__(open_memory, root, words)
        self._deciding: Counter[str] = Counter()
        """Keys of rows whose decision is being made."""

    def _may_change(self) -> bool:
        if self.readonly and self._memory is not None:
            self._tell(self._words("This workspace is open for reading only."), BAD)
        return not self.readonly

    async def _do(self, job: Callable[[Memory], deeds.Done], row: ListRow | None = None) -> deeds.Done | None:
        """Make a change of a row, tell of it, and offer to take it back; None if it failed."""
        async with self._changing:
            done = await self._ask(job)
            for state in self._states:
                state.stale = True
            if done is None:
                for state in self._states:
                    state.gone.clear()
                self.run_worker(self._load(), group="list", exclusive=True)
                return None
            self._undo, self._undo_at = done.undo, row.key if row is not None else ""
            offer = f"  ·  {self._words('u takes it back')}" if done.undo else ""
            self._tell(done.text + offer)
            self._show_keys()
            await self._count()
            return done

    def action_decide(self, accept: bool) -> None:  # noqa: FBT001 - as Textual calls it
        """Accept or reject a row; it leaves the list at once. What looks like instructions is asked about."""
        row = self._row
        if row is None or not row.decide or not self._may_change():
            return
        if accept and row.suspect:
            self.run_worker(self._accept_suspect(row), group="change")
        else:
            self._decide(row, accept=accept)

    async def _accept_suspect(self, row: ListRow) -> None:
        window = self._window(self._words("Make it your own word?"), row.sheet.content, asks="accept it")
        if await self.push_screen_wait(window):
            self._decide(row, accept=True)

    def _decide(self, row: ListRow, *, accept: bool) -> None:
        self._take_out(row)
        deed = deeds.accept if accept else deeds.reject
        self._deciding[row.key] += 1
        self.run_worker(self._decided(row, partial(deed, words=self._words, row=row)), group="change")

    async def _decided(self, row: ListRow, job: Callable[[Memory], deeds.Done]) -> None:
        try:
            await self._do(job, row)
        finally:
            self._deciding[row.key] -= 1

    def _take_out(self, row: ListRow) -> None:
        state = self._state
        state.gone.add(row.key)
        state.rows = [one for one in state.rows if one.key != row.key]
        self._list.take_out(row.key)
        if not state.rows:
            self._show_list()
            self._near_end()

    async def action_correct(self) -> None:
        """Ask what is right instead of a fact, or of the one that was learned from a passage."""
        row = self._row
        if row is None or not self._may_change():
            return
        if row.fact is not None:
            await self._correct(row)
        elif row.about and not row.decide:
            self.run_worker(self._correct_learned(row), group="change")

    async def _correct_learned(self, row: ListRow) -> None:
        found = await self._ask(partial(deeds.learned_from, words=self._words, row=row))
        if found is not None and len(found) == 1:
            await self._correct(found[0])
        elif found is not None:
            none = self._words("No fact was learned from this.")
            many = self._words("{n} facts were learned from this: 3 lists them.", n=len(found))
            self._tell(many if found else none)

    async def _correct(self, row: ListRow) -> None:
        """Open the form; it stands when this returns, so that no key of a fast hand goes astray."""

        def filled(right: deeds.Right | None) -> None:
            if right is not None:
                self.run_worker(self._corrected(row, right), group="change")

        window = CorrectWindow(correct_form(row, self._words))
        await self.push_screen(window, filled)
        window.begin()

    async def _corrected(self, row: ListRow, right: deeds.Right) -> None:
        done = await self._do(partial(deeds.correct, words=self._words, row=row, right=right), row)
        if done is not None:
            self._state.at = done.at or self._state.at
            await self._load()

    def action_never(self) -> None:
        """Take a fact out that was never true."""
        row = self._row
        if row is not None and row.fact is not None and not row.decide and self._may_change():
            never = deeds.Right("", "", "", never=True, changed=False)
            self.run_worker(self._corrected(row, never), group="change")

    def action_pause(self) -> None:
        """Go off the record for an hour, or go on recording."""
        if self._may_change():
            self.run_worker(self._do(partial(deeds.pause, words=self._words)), group="change")

    def action_pin(self) -> None:
        """Keep a row from being archived."""
        row = self._row
        if row is not None and row.about and not row.decide and self._may_change():
            self.run_worker(self._do(partial(deeds.pin, words=self._words, row=row), row), group="change")

    def action_forget(self) -> None:
        """Show what forgetting a row would hide, then ask."""
        row = self._row
        if row is not None and row.about and not row.decide and self._may_change():
            self.run_worker(self._forget(row), group="change")

    async def _forget(self, row: ListRow) -> None:
        here = self._here
        sheet = await self._ask(partial(deeds.would_forget, words=self._words, row=row))
        if sheet is None:  # why is told
            return
        window = self._window(self._words("Forget?"), sheet.content, asks="hide it")
        if not await self.push_screen_wait(window):
            return
        if await self._do(partial(deeds.forget, words=self._words, row=row), row) and self._here == here:
            await self._load()

    def action_erase(self) -> None:
        """Show what erasing a row would delete and where it stands; it is done once its number is typed."""
        row = self._row
        if row is not None and row.about and not row.decide and self._may_change():
            self.run_worker(self._erase(row), group="change")

    async def _erase(self, row: ListRow) -> None:
        found = await self._ask(partial(deeds.would_erase, words=self._words, row=row))
        if found is None:
            return
        sheet, count = found
        window = Window(
            self._words("Erase?"), sheet.content,
            shown_keys(((f"{count} Enter", "erase it"), ("Esc", "no")), self._words), types=str(count),
        )  # fmt: skip
        if not await self.push_screen_wait(window):
            return
        done = await self._do(partial(deeds.erase, words=self._words, row=row))
        if done is not None:
            await self._load()
            if done.sheet is not None:
                self.push_screen(self._window(self._words("Receipt"), done.sheet.content))

    def action_edit(self) -> None:
        """Open the file that a row stands in with the person's editor."""
        row = self._row
        if row is not None and row.about and not row.decide and self._may_change():
            self.run_worker(self._edit(row), group="change")

    async def _edit(self, row: ListRow) -> None:
        command = editor_of()
        if not command:
            self._tell(self._words("Set the environment variable EDITOR to your editor."), BAD)
            return
        found = await self._ask(partial(deeds.editable, row=row))
        if found is None:
            return
        path, data = found
        draft = Draft(path, data)
        with nullcontext() if self.is_headless else self.suspend():
            new = draft.edited(command)
        if new is None or new == data:
            draft.close()
            failed, same = self._words("The editor failed."), self._words("Nothing was changed.")
            self._tell(same if new is not None else failed)
            return
        job = partial(deeds.save, words=self._words, path=path, new=new, known=digest(data))
        done = await self._do(job)
        if done is None or done.failed:  # what was typed is not lost
            self._tell(self._words("Not saved; your text is in {path}", path=str(draft.path)), BAD)
            return
        draft.close()
        await self._load()

    def action_undo(self) -> None:
        """Take the chosen change back, or the one just made here, until another row is chosen."""
        row = self._row
        choosing = self._here == _CHANGES or self._list.moved or not self._undo
        if row is not None and row.change and choosing:
            if self._may_change():
                self.run_worker(self._undo_chosen(row), group="change")
        elif self._undo and self._may_change():
            identifier, self._undo = self._undo, ""
            self.run_worker(self._take_back(identifier, self._undo_at), group="change")

    async def _undo_chosen(self, row: ListRow) -> None:
        more = await self._ask(lambda memory: explain_change(memory, self._words, row))
        if more is None:
            return
        text = Content.assemble(row.sheet.content, more.content)
        if await self.push_screen_wait(self._window(self._words("Undo this?"), text, asks="undo it")):
            await self._take_back(row.change)

    def action_night(self) -> None:
        """Show what was tidied last night, and ask whether to undo it."""
        if self._may_change():
            self.run_worker(self._undo_night(), group="change")

    async def _undo_night(self) -> None:
        row = await self._ask(partial(deeds.last_night, words=self._words))
        if row is not None and row.change:
            await self._undo_chosen(row)
        elif row is not None:
            self._tell(row.text)
        else:
            self._tell(self._words("Nothing was tidied last night, or it was undone."))

    async def _greet(self, said: str) -> None:
        """Tell what was done last night, unless there is something newer to tell."""
        row = None if self.readonly else await self._ask(partial(deeds.last_night, words=self._words))
        if row is not None and row.change and self._told == said:
            self._tell(f"{row.text}  ·  {self._words('N shows and undoes it')}")

    async def _take_back(self, identifier: str, at: str = "") -> None:
        """Undo a change; the row that it was made of is chosen again."""
        if await self._do(partial(deeds.undo, words=self._words, identifier=identifier)):
            for state in self._states:  # what was decided may wait again
                state.gone = {key for key in state.gone if self._deciding[key]}
            self._state.at = at or self._state.at
            await self._load()

    async def action_leave(self) -> None:
        """End, after the changes that are under way."""

        async def leave() -> None:
            async with self._changing:
                self.exit()

        self.run_worker(leave(), group="leave")


def run(root: Path, words: PanelWords) -> int:
    """Show the panel of a workspace until it is left; return the exit code.

    Raises:
        MnemarkError: the workspace cannot be opened.
    """
    panel = Panel(lambda: open_memory(root), root, words)
    try:
        panel.run()
    finally:
        panel.close_memory()
    if panel.problem is not None:
        raise panel.problem
    return panel.return_code or 0


def open_memory(root: Path) -> Memory:
    """Open a workspace: for reading only where its folder cannot be written.

    Raises:
        MnemarkError: it cannot be opened.
    """
    return Memory.open(root, readonly=not os.access(root, os.W_OK))
