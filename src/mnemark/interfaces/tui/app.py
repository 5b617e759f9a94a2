"""Define `Panel`: six screens with a list and what stands behind each row, worked with one key an action."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from mnemark.errors import BusyError, MnemarkError, ReadOnlyError
from mnemark.interfaces.process import debugging
from mnemark.interfaces.tui import deeds
from mnemark.interfaces.tui.cells import BAD, DIM, Sheet, one_line, padded
from mnemark.interfaces.tui.explained import whole_text, whole_why
from mnemark.interfaces.tui.help import help_sheet, keys_of, shown_keys
from mnemark.interfaces.tui.panes_change import ChangesPane, HealthPane, ReviewPane
from mnemark.interfaces.tui.panes_read import FactsPane, SearchPane, TimelinePane
from mnemark.interfaces.tui.rows import PAGE, Listed, Pane, Row
from mnemark.interfaces.tui.widgets import RowList, Window
from mnemark.interfaces.tui.words import Words

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

T = TypeVar("T")
_SETTLED: Final = 0.08
"""Seconds that a row stays highlighted before its sources are looked up."""
_MOST: Final = 200
"""Rows that one call gives."""
_SYNC_WAIT: Final = 2.0


class State:
    """What a screen shows, kept while another one is looked at."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.next = ""
        self.head = ""
        self.warning = ""
        self.text = ""
        self.at = ""
        self.stale = True

    def put(self, listed: Listed) -> None:
        """Hold a first page."""
        self.rows, self.next = list(listed.rows), listed.next
        self.head, self.warning, self.stale = listed.head, listed.warning, False


class Panel(App[None]):
    """The panel of a workspace.

    Args:
        open_memory: opens the workspace, on another thread.
        root: its folder, for the first line.
        words: the texts of the panel.
    """

    CSS_PATH = "panel.tcss"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-usual")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(n), f"show({n - 1})", show=False) for n in range(1, 7)),
        Binding("slash", "find", show=False),
        Binding("w", "why", show=False),
        Binding("y", "decide(True)", show=False),
        Binding("n", "decide(False)", show=False),
        Binding("p", "pin", show=False),
        Binding("d", "forget", show=False),
        Binding("u", "undo", show=False),
        Binding("r", "reload", show=False),
        Binding("question_mark", "help", show=False),
        Binding("space,ctrl+d", "turn(1)", show=False),
        Binding("b,ctrl+u", "turn(-1)", show=False),
        Binding("J", "move(1)", show=False),
        Binding("K", "move(-1)", show=False),
        Binding("escape", "to_list", show=False),
        Binding("q", "leave", show=False),
        Binding("ctrl+c,ctrl+q", "leave", show=False, priority=True),
    ]

    def __init__(self, open_memory: "Callable[[], Memory]", root: Path, words: Words) -> None:
        super().__init__()
        self.theme = "ansi-dark"  # the terminal's own colours
        self._open_memory = open_memory
        self._root = root
        self._words = words
        self._memory: Memory | None = None
        self._pool = ThreadPoolExecutor(2, "panel")
        self._panes: tuple[Pane, ...] = (
            SearchPane(), TimelinePane(), FactsPane(), ReviewPane(), ChangesPane(), HealthPane(),
        )  # fmt: skip
        self._states = [State() for _ in self._panes]
        self._here = 1
        self._changing = asyncio.Lock()
        self._loading_more = False
        self._undo = ""
        self._waiting = 0
        self.bug: Exception | None = None
        self._indexing = False
        self._settle: Timer | None = None

    # What is on the screen

    def compose(self) -> ComposeResult:
        """Return the parts."""
        yield Static(Content(f"mnemark  {one_line(self._root)}"), id="top")
        with Horizontal(id="middle"):
            nav = OptionList(id="nav", markup=False)
            nav.can_focus = False
            yield nav
            with Vertical(id="left"):
                yield Input(id="field", compact=True)
                yield Static(id="head")
                yield RowList(self._words.day)
                yield Static(id="empty")
            with VerticalScroll(id="right", can_focus=False):
                yield Static(id="detail")
        yield Static(id="message")
        yield Static(id="keys")

    async def on_mount(self) -> None:
        """Show the empty panel, then open the workspace."""
        self._show_nav()
        self._tell(self._words("Opening …"))
        self.run_worker(self._start(), group="start")

    async def _start(self) -> None:
        try:
            self._memory = await asyncio.get_running_loop().run_in_executor(self._pool, self._open_memory)
        except MnemarkError as error:
            self.exit(return_code=error.exit_code, message=str(error))
            return
        self._memory.searcher.load_behind()
        if self.readonly:
            self.query_one("#top", Static).update(
                Content(f"mnemark  {one_line(self._root)}  ({self._words('read-only')})")
            )
        self._tell("")
        self.action_show(self._here)
        if not self.readonly:
            self.run_worker(self._sync(), group="sync")

    async def _sync(self) -> None:
        """Read files that were changed, and show them."""
        try:
            report = await self._ask(lambda memory: memory.sync(progress=self._progress, wait=_SYNC_WAIT))
        except BusyError:
            return  # another process does it
        except ReadOnlyError as error:
            self._tell(str(error), BAD)
            return
        if report is not None and report.touched:
            self._tell(self._words.count(report.touched, "{n} changed file read", "{n} changed files read"))
            await self._refresh()
        elif self._indexing:
            self._tell("")
        self._indexing = False
        await self._count()

    def _progress(self, done: int, total: int, _passages: int) -> None:
        if total and done < total:
            self._indexing = True
            text = self._words("Indexing {done} of {total} files", done=done, total=total)
            self.call_from_thread(self._tell, text)

    @property
    def readonly(self) -> bool:
        """Whether nothing may be changed."""
        return self._memory is None or self._memory.readonly

    @property
    def _list(self) -> RowList:
        return self.query_one("#list", RowList)

    @property
    def _state(self) -> State:
        return self._states[self._here]

    @property
    def _pane(self) -> Pane:
        return self._panes[self._here]

    def _tell(self, text: str, style: str = "") -> None:
        """Show a message until the next one."""
        self.query_one("#message", Static).update(Content.styled(one_line(text), style))

    def _show_nav(self) -> None:
        nav = self.query_one("#nav", OptionList)
        names = [f"{n} {self._words(pane.name)}" for n, pane in enumerate(self._panes, 1)]
        if self._waiting:
            names[3] = f"{padded(names[3], 9)}{min(self._waiting, 99)}"
        nav.clear_options()
        nav.add_options(Option(Content(name)) for name in names)
        nav.highlighted = self._here

    def _show_list(self) -> None:
        """Show the rows of this screen, or what to do where there are none."""
        state, pane = self._state, self._pane
        self._list.fill(state.rows, state.at)
        head = " · ".join(filter(None, (state.head, state.warning)))
        self.query_one("#head", Static).update(Content.styled(one_line(head), DIM))
        self.query_one("#head").display = bool(head)
        self._list.display = bool(state.rows)
        if self.focused is None and state.rows and not isinstance(self.screen, Window):
            self._list.focus()
        empty = self.query_one("#empty", Static)
        empty.display = not state.rows
        told = "Nothing was found. Try other words." if state.text else pane.empty
        empty.update(Content.styled(self._words(told), DIM))
        if not state.rows:
            self.query_one("#detail", Static).update("")
        self._show_keys()

    def _show_keys(self) -> None:
        keys = keys_of(self._row, self._pane, readonly=self.readonly, undo=bool(self._undo))
        self.query_one("#keys", Static).update(shown_keys(keys, self._words))

    @property
    def _row(self) -> Row | None:
        return self._list.row

    # Asking the workspace, on other threads

    async def _ask(self, job: "Callable[[Memory], T]") -> T | None:
        """Run a job with the workspace; tell of errors, and return None then.

        Raises:
            BusyError, ReadOnlyError: for those who know what to do.
        """
        if self._memory is None:
            return None
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, job, self._memory)
        except (BusyError, ReadOnlyError):
            raise
        except MnemarkError as error:
            self._tell(str(error), BAD)
        except Exception as bug:  # an interface: reported
            if debugging():
                raise
            self._tell(f"unexpected {type(bug).__name__}: {bug}", BAD)
        return None

    async def _load(self) -> None:
        """Load the first page of this screen, or as many rows as there were."""
        pane, state = self._pane, self._state
        limit = min(max(PAGE, len(state.rows)), _MOST)
        job = partial(self._page, pane, text=state.text, after="", limit=limit)
        listed = await self._ask(job)
        if listed is not None:
            state.put(listed)
            self._show_list()

    def _page(self, pane: Pane, memory: "Memory", *, text: str, after: str, limit: int) -> Listed:
        return pane.page(memory, self._words, text=text, after=after, limit=limit)

    @on(RowList.NearEnd)
    def _near_end(self) -> None:
        if self._state.next and not self._loading_more:
            self._loading_more = True
            self.run_worker(self._load_more(), group="more")

    async def _load_more(self) -> None:
        pane, state = self._pane, self._state
        try:
            job = partial(self._page, pane, text=state.text, after=state.next, limit=PAGE)
            listed = await self._ask(job)
            if listed is not None and self._state is state and not state.stale:
                state.rows += listed.rows
                state.next = listed.next
                self._list.add(listed.rows)
        finally:
            self._loading_more = False

    @on(OptionList.OptionHighlighted, "#list")
    def _highlighted(self) -> None:
        row = self._row
        if row is None:
            return
        self._state.at = row.key
        self.query_one("#detail", Static).update(row.sheet.content)
        self.query_one("#right", VerticalScroll).scroll_home(animate=False)
        self._show_keys()
        if (
            self._list.highlighted is not None
            and self._list.highlighted + PAGE // 4 >= self._list.option_count
        ):
            self._near_end()
        if self._settle is not None:
            self._settle.stop()
        self._settle = self.set_timer(_SETTLED, lambda: self._look_up(row))

    def _look_up(self, row: Row) -> None:
        self.run_worker(self._explain(row), group="detail", exclusive=True)

    async def _explain(self, row: Row) -> None:
        pane, text = self._pane, self._state.text
        more = await self._ask(lambda memory: pane.explain(memory, self._words, row, text))
        if more is not None and self._row is not None and self._row.key == row.key:
            whole = Content.assemble(row.sheet.content, more.content)
            self.query_one("#detail", Static).update(whole)

    async def _refresh(self) -> None:
        """Load this screen again, and the others when they are shown."""
        for state in self._states:
            state.stale = True
        self.run_worker(self._load(), group="list", exclusive=True)

    async def _count(self) -> None:
        """Show how much waits for review."""
        found = await self._ask(lambda memory: memory.browse.review(limit=1).total or 0)
        if found is not None and found != self._waiting:
            self._waiting = found
            self._show_nav()

    # Keys

    def action_show(self, number: int) -> None:
        """Show a screen."""
        self._here = number
        self.query_one("#nav", OptionList).highlighted = number
        field = self.query_one("#field", Input)
        field.display = bool(self._pane.field)
        field.placeholder = self._words(self._pane.field) if self._pane.field else ""
        with field.prevent(Input.Changed):
            field.value = self._state.text
        self._show_list()
        if self._state.stale:
            self.run_worker(self._load(), group="list", exclusive=True)
        if number == 0 and not self._state.text:
            field.focus()
        else:
            self._focus_list()

    @on(OptionList.OptionSelected, "#nav")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.action_show(event.option_index)

    def action_find(self) -> None:
        """Go to the field of this screen, or to Search."""
        if not self._pane.field:
            self.action_show(0)
        self.query_one("#field", Input).focus()

    @on(Input.Submitted, "#field")
    def _asked(self, event: Input.Submitted) -> None:
        state = self._state
        state.text, state.rows, state.at = event.value, [], ""
        self._focus_list()
        self.run_worker(self._load(), group="list", exclusive=True)

    def action_to_list(self) -> None:
        """Leave the field."""
        self._focus_list()

    def _focus_list(self) -> None:
        """Give the keys to the list; where it is empty and so not shown, to the panel alone."""
        self.set_focus(self._list if self._list.display else None)

    def action_move(self, lines: int) -> None:
        """Scroll the right side by lines."""
        self.query_one("#right", VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_turn(self, pages: int) -> None:
        """Scroll the right side by pages."""
        right = self.query_one("#right", VerticalScroll)
        right.scroll_relative(y=pages * max(right.size.height - 2, 1), animate=False)

    def action_reload(self) -> None:
        """Read changed files and show the list anew."""
        self.run_worker(self._refresh(), group="refresh")
        if not self.readonly:
            self.run_worker(self._sync(), group="sync", exclusive=True)

    def action_open(self) -> None:
        """Show the whole of a row, with what stands around it."""
        if isinstance(self.screen, Window):
            self.screen.action_close()
        elif (row := self._row) is not None:
            if row.about:
                self._read(
                    self._words(self._pane.name), partial(whole_text, words=self._words, about=row.about)
                )
            else:
                detail = self.query_one("#detail", Static).content
                text = detail if isinstance(detail, Content) else row.sheet.content
                self.push_screen(self._window(self._words(self._pane.name), text))

    def action_why(self) -> None:
        """Show all that is known of where a row comes from."""
        row = self._row
        if row is not None and row.about:
            query = self._state.text if self._here == 0 else ""
            job = partial(whole_why, words=self._words, about=row.about, query=query)
            self._read(self._words("Why"), job)

    def _read(self, title: str, job: "Callable[[Memory], Sheet]") -> None:
        async def show() -> None:
            sheet = await self._ask(job)
            if sheet is not None:
                self.push_screen(self._window(title, sheet.content))

        self.run_worker(show(), group="window", exclusive=True)

    def _window(self, title: str, text: Content, *, asks: str = "") -> Window:
        keys = (("y", asks), ("n", "no")) if asks else (("Esc", "back"), ("j k", "scroll"))
        return Window(title, text, shown_keys(keys, self._words), asks=bool(asks))

    def action_help(self) -> None:
        """Show all keys."""
        self.push_screen(self._window(self._words("Keys"), help_sheet(self._words).content))

    # Changes: one after the other, in the order of the keys

    def _may_change(self) -> bool:
        if self.readonly and self._memory is not None:
            self._tell(self._words("This workspace is open for reading only."), BAD)
        return not self.readonly

    async def _do(self, job: "Callable[[Memory], deeds.Done]") -> bool:
        """Make a change, tell of it, and offer to take it back."""
        async with self._changing:
            try:
                done = await self._ask(job)
            except (BusyError, ReadOnlyError) as error:
                self._tell(str(error), BAD)
                done = None
            if done is None:
                await self._refresh()
                return False
            self._undo = done.undo
            offer = f"  ·  {self._words('u takes it back')}" if done.undo else ""
            self._tell(done.text + offer)
            for state in self._states:
                state.stale = state is not self._state
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
        self._state.rows = [one for one in self._state.rows if one.key != row.key]
        self._list.take_out(row.key)
        if not self._state.rows:
            self._state.head = ""
            self._show_list()

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

    def _handle_exception(self, error: Exception) -> None:
        """End without the trace, which would print memory text; `run` raises the error again."""
        if debugging() or self.is_headless:
            super()._handle_exception(error)
        else:
            self.bug = self.bug or error
            self.exit(return_code=1)

    def close_memory(self) -> None:
        """Wait for what is still being read, and close the workspace."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._memory is not None:
            self._memory.close()


def run(root: Path, words: Words) -> int:
    """Show the panel of a workspace until it is left; return the exit code.

    Raises:
        Exception: a bug of the panel.
    """
    panel = Panel(lambda: open_memory(root), root, words)
    try:
        panel.run()
    finally:
        panel.close_memory()
    if panel.bug is not None:
        raise panel.bug
    return panel.return_code or 0


def open_memory(root: Path) -> "Memory":
    """Open a workspace: for reading only where its folder cannot be written.

    Raises:
        MnemarkError: it cannot be opened.
    """
    import os

    from mnemark.memory.memory import Memory

    return Memory.open(root, readonly=not os.access(root, os.W_OK))
