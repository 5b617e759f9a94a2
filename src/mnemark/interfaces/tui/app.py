"""Define `Panel`: the viewer with the keys that change memory, one change after the other."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from mnemark.interfaces.tui import deeds
from mnemark.interfaces.tui.cells import BAD
from mnemark.interfaces.tui.rows import Row
from mnemark.interfaces.tui.viewer import Viewer
from mnemark.interfaces.tui.words import Words
from mnemark.memory.memory import Memory


class Panel(Viewer):
    """The panel of a workspace: look, decide what waits, forget, and take changes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "decide(True)", show=False),
        Binding("n", "decide(False)", show=False),
        Binding("p", "pin", show=False),
        Binding("d", "forget", show=False),
        Binding("u", "undo", show=False),
        Binding("q", "leave", show=False),
        Binding("ctrl+c,ctrl+q", "leave", show=False, priority=True),
    ]

    def _may_change(self) -> bool:
        if self.readonly and self._memory is not None:
            self._tell(self._words("This workspace is open for reading only."), BAD)
        return not self.readonly

    async def _do(self, job: "Callable[[Memory], deeds.Done]") -> bool:
        """Make a change, tell of it, and offer to take it back."""
        async with self._changing:
            done = await self._ask(job)
            for state in self._states:
                state.stale = True
            if done is None:
                for state in self._states:
                    state.gone.clear()
                self.run_worker(self._load(), group="list", exclusive=True)
                return False
            self._undo = done.undo
            offer = f"  ·  {self._words('u takes it back')}" if done.undo else ""
            self._tell(done.text + offer)
            self._show_keys()
            await self._count()
            return True

    def action_decide(self, accept: bool) -> None:  # noqa: FBT001 - as Textual calls it
        """Accept or reject a row; it leaves the list at once."""
        row = self._row
        if row is None or not row.decide or not self._may_change():
            return
        self._take_out(row)
        deed = deeds.accept if accept else deeds.reject
        self.run_worker(self._do(partial(deed, words=self._words, row=row)), group="change")

    def _take_out(self, row: Row) -> None:
        state = self._state
        state.gone.add(row.key)
        state.rows = [one for one in state.rows if one.key != row.key]
        self._list.take_out(row.key)
        if not state.rows:
            self._show_list()
            self._near_end()

    def action_pin(self) -> None:
        """Keep a row from being archived."""
        row = self._row
        if row is not None and row.about and not row.decide and self._may_change():
            self.run_worker(self._do(partial(deeds.pin, words=self._words, row=row)), group="change")

    def action_forget(self) -> None:
        """Show what forgetting a row would hide, then ask."""
        row = self._row
        if row is not None and row.about and not row.decide and self._may_change():
            self.run_worker(self._forget(row), group="change")

    async def _forget(self, row: Row) -> None:
        here = self._here
        sheet = await self._ask(partial(deeds.would_forget, words=self._words, row=row))
        if sheet is None:
            return
        window = self._window(self._words("Forget?"), sheet.content, asks="hide it")
        if not await self.push_screen_wait(window):
            return
        if await self._do(partial(deeds.forget, words=self._words, row=row)) and self._here == here:
            await self._load()

    def action_undo(self) -> None:
        """Take the chosen change back, or the last one that was made here."""
        row = self._row
        if row is not None and row.change and self._here == 4:
            if self._may_change():
                self.run_worker(self._undo_chosen(row), group="change")
        elif self._undo and self._may_change():
            identifier, self._undo = self._undo, ""
            self.run_worker(self._take_back(identifier), group="change")

    async def _undo_chosen(self, row: Row) -> None:
        more = await self._ask(lambda memory: self._pane.explain(memory, self._words, row, ""))
        if more is None:
            return
        text = Content.assemble(row.sheet.content, more.content)
        if await self.push_screen_wait(self._window(self._words("Undo this?"), text, asks="undo it")):
            await self._take_back(row.change)

    async def _take_back(self, identifier: str) -> None:
        if await self._do(partial(deeds.undo, words=self._words, identifier=identifier)):
            await self._load()

    async def action_leave(self) -> None:
        """End, after the changes that are under way."""

        async def leave() -> None:
            async with self._changing:
                self.exit()

        self.run_worker(leave(), group="leave")


def run(root: Path, words: Words) -> int:
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


def open_memory(root: Path) -> "Memory":
    """Open a workspace: for reading only where its folder cannot be written.

    Raises:
        MnemarkError: it cannot be opened.
    """
    from mnemark.memory.memory import Memory

    return Memory.open(root, readonly=not os.access(root, os.W_OK))
