"""Define `Viewer`: seven screens with a list and what stands behind each row, loaded as it is looked at."""

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
from textual.events import DescendantFocus, Resize
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from mnemark.errors import BusyError, MnemarkError
from mnemark.files import off_record
from mnemark_faces.tui.cells import BAD, DIM, Sheet, one_line, padded
from mnemark_faces.tui.explained import whole_text, whole_why
from mnemark_faces.tui.help import help_sheet, keys_of, keys_of_field, shown_keys
from mnemark_faces.tui.panes_change import ChangesPane, HealthPane, ReviewPane
from mnemark_faces.tui.panes_read import FactsPane, SearchPane, TalksPane, TimelinePane
from mnemark_faces.tui.rows import PAGE, ListRow, Pane, RowPage
from mnemark_faces.tui.widgets import Choices, RowList, Window
from mnemark_faces.tui.words import PanelWords
from mnemark_interfaces.process import debugging

if TYPE_CHECKING:
    from mnemark.index.sync import SyncReport
    from mnemark.memory.memory import Memory

T = TypeVar("T")
_SETTLED: Final = 0.08
"""Seconds that a row stays highlighted before its sources are looked up."""
_MOST: Final = 200
"""Rows that one call gives."""
_SYNC_WAIT: Final = 2.0
_PROGRESS_EVERY: Final = 0.4
"""Seconds."""


class _LeftError(MnemarkError):
    """The panel was left while files were read; the next sync reads the rest."""


def _limit(rows: int) -> int:
    return min(max(PAGE, rows), _MOST)


class ScreenState:
    """What a screen shows, kept while another one is looked at."""

    def __init__(self) -> None:
        self.rows: list[ListRow] = []
        self.next = ""
        self.head = ""
        self.warning = ""
        self.text = ""
        self.at = ""
        self.stale = True
        self.loaded = False
        """Whether it was ever loaded."""
        self.gone: set[str] = set()
        """Keys of rows that were decided, whether or not a list knows it yet."""

    def put(self, listed: RowPage) -> None:
        """Hold a first page; where the chosen row is gone, the one that followed it is chosen."""
        now = {row.key for row in listed.rows} - self.gone
        keys = [row.key for row in self.rows]
        if self.at in keys and self.at not in now:
            at = keys.index(self.at)
            self.at = next((key for key in (*keys[at:], *reversed(keys[:at])) if key in now), "")
        self.rows = [row for row in listed.rows if row.key not in self.gone]
        self.next = listed.next
        self.head, self.warning, self.stale = listed.head, listed.warning, False
        self.loaded = True


def _synced(memory: "Memory", progress: Callable[[int, int, int], None]) -> "SyncReport":
    return memory.workspace.searcher.sync(progress=progress, wait=_SYNC_WAIT, embed=True)


class Viewer(App[None]):
    """A panel that changes nothing; see `Panel`.

    Args:
        open_memory: opens the workspace, on another thread.
        root: its folder, for the first line.
        words: the texts of the panel.
    """

    TITLE = "mnemark"
    CSS_PATH = "panel.tcss"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-usual")]  # noqa: RUF012 - as Textual declares it
    FIRST: ClassVar[frozenset[str]] = frozenset({"show", "find", "narrow"})
    """Actions whose keys are taken before all other parts, unless text is typed."""
    BINDINGS: ClassVar[list[BindingType]] = [
        # At once, before what is typed next: a fast hand's "/port" must not press p in the list.
        *(Binding(str(n), f"show({n - 1})", show=False, priority=True) for n in range(1, 8)),
        Binding("slash", "find", show=False, priority=True),
        Binding("f", "narrow", show=False, priority=True),
        Binding("w", "why", show=False),
        Binding("r", "reload", show=False),
        Binding("question_mark", "help", show=False),
        Binding("space,ctrl+d", "turn(1)", show=False),
        Binding("b,ctrl+u", "turn(-1)", show=False),
        Binding("J", "move(1)", show=False),
        Binding("K", "move(-1)", show=False),
        Binding("escape", "to_list", show=False),
    ]

    def __init__(self, open_memory: "Callable[[], Memory]", root: Path, words: PanelWords) -> None:
        super().__init__(ansi_color=True)  # the terminal's own colours; with NO_COLOR, none
        self.theme = "ansi-dark"
        self._open_memory = open_memory
        self._root = root
        self._words = words
        self._memory: Memory | None = None
        self._pool = ThreadPoolExecutor(2, "panel")
        self._panes: tuple[Pane, ...] = (
            SearchPane(), TimelinePane(), FactsPane(), ReviewPane(), ChangesPane(), HealthPane(),
            TalksPane(),
        )  # fmt: skip
        self._states = [ScreenState() for _ in self._panes]
        self._here = 1
        self._before = 1
        """The screen that a search was begun from."""
        self._loading_more = False
        self._changing = asyncio.Lock()
        """Held while memory is changed."""
        self._undo = ""
        """Id that takes the last change back."""
        self._undo_at = ""
        """Key of the row that it was made of."""
        self._waiting = 0
        self._off = False
        """Whether the memory is off the record."""
        self.problem: Exception | None = None
        """Why it ended, other than by its keys."""
        self._indexed = (0, 0)
        """Files that a sync has read, and that it will read."""
        self._left = False
        self._settle: Timer | None = None
        self._told = ""
        """The message that is shown."""

    # What is on the screen

    def compose(self) -> ComposeResult:
        """Return the parts."""
        yield Static(Content(self._top()), id="top")
        with Horizontal(id="middle"):
            nav = Choices(id="nav", markup=False)
            nav.can_focus = False
            yield nav
            with Vertical(id="left"):
                yield Input(id="field", compact=True)
                yield Static(id="head")
                yield Static(id="empty")
                yield RowList(self._words.day_name)  # there even if it is empty: it has the keys
            with VerticalScroll(id="right", can_focus=False):
                yield Static(id="detail")
        yield Static(id="message")
        yield Static(id="keys")

    def _top(self, state: str = "") -> str:
        return "  ".join(filter(None, ("mnemark", state, one_line(self._root))))

    def _show_top(self) -> None:
        """Show the first line, with what holds for the whole memory now."""
        state = self._words("read-only") if self.readonly else ""
        off = self._words("off the record") if self._off else ""
        self.query_one("#top", Static).update(Content(self._top(" · ".join(filter(None, (state, off))))))

    async def on_mount(self) -> None:
        """Show the empty panel, then open the workspace."""
        self._show_nav()
        self._tell(self._words("Opening …"))
        self.run_worker(self._start(), group="start")

    async def _start(self) -> None:
        try:
            self._memory = await asyncio.get_running_loop().run_in_executor(self._pool, self._open_memory)
        except MnemarkError as error:
            self.problem = error
            self.exit()
            return
        self._memory.workspace.searcher.load_behind()
        if self.readonly:
            self._show_top()
        self._tell("")
        self.action_show(self._here)
        self.run_worker(self._begin(), group="sync")

    async def _begin(self) -> None:
        """Do what waits until the first screen stands."""
        await self._greet("" if self.readonly else await self._sync())

    async def _greet(self, said: str) -> None:
        """Say what there is to say at the start, in place of what was said of the files."""

    async def _sync(self) -> str:
        """Read files that were changed, and show them; return what was said of it."""
        self._indexed = (0, 0)
        shows = self.set_interval(_PROGRESS_EVERY, self._show_progress)
        job = partial(_synced, progress=self._progress)
        report, said = await self._ask(job, quiet=BusyError), ""  # another process does it then
        shows.stop()
        if report is not None and report.touched:
            said = self._words.count(report.touched, "{n} changed file read", "{n} changed files read")
            self._tell(said)
        elif self._indexed[1]:
            self._tell("")
        if report is not None and (report.touched or self._state.warning):  # what was missing is there now
            await self._refresh()
        await self._count()
        return said

    def _progress(self, done: int, total: int, _passages: int) -> None:
        """Note how far a sync is, in its thread; end it if the panel was left."""
        if self._left:
            raise _LeftError
        self._indexed = (done, total)

    def _show_progress(self) -> None:
        done, total = self._indexed
        if total:
            self._tell(self._words("Indexing {done} of {total} files", done=done, total=total))

    @property
    def readonly(self) -> bool:
        """Whether nothing may be changed."""
        return self._memory is None or self._memory.readonly

    @property
    def _list(self) -> RowList:
        return self.query_one("#list", RowList)

    @property
    def _state(self) -> ScreenState:
        return self._states[self._here]

    @property
    def _pane(self) -> Pane:
        return self._panes[self._here]

    def _tell(self, text: str, style: str = "") -> None:
        """Show a message until the next one."""
        self._told = text
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
        head = "\n".join(one_line(part) for part in (state.head, state.warning) if part)
        self.query_one("#head", Static).update(Content.styled(head, DIM))
        self.query_one("#head").display = bool(head)
        empty = self.query_one("#empty", Static)
        empty.display = not state.rows
        told = "Nothing was found. Try other words." if state.text else pane.empty
        empty.update(Content.styled(self._words(told) if state.loaded else "…", DIM))
        if not state.rows:
            self.query_one("#detail", Static).update("")
        self._show_keys()

    def _show_keys(self) -> None:
        keys = keys_of(self._row, self._pane, readonly=self.readonly, undo=bool(self._undo))
        if isinstance(self.screen_stack[0].focused, Input):
            keys = keys_of_field(searches=self._here == 0)
        self.query_one("#keys", Static).update(shown_keys(keys, self._words, self.size.width - 2))

    @on(DescendantFocus)
    @on(Resize)
    def _keys_may_differ(self) -> None:
        if len(self.screen_stack) == 1 and self.query("#keys"):
            self._show_keys()

    @property
    def _row(self) -> ListRow | None:
        return self._list.row

    # Asking the workspace, on other threads

    async def _ask(
        self, job: "Callable[[Memory], T]", *, quiet: type[MnemarkError] | tuple[()] = ()
    ) -> T | None:
        """Run a job with the workspace; where it fails, tell why, unless it is `quiet`, and return None."""
        if self._memory is None:
            return None
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, job, self._memory)
        except quiet:
            return None
        except MnemarkError as error:
            self._tell(self._words.told(str(error)).text, BAD)
        except Exception as bug:  # an interface: reported
            if debugging():
                raise
            self._tell(f"unexpected {type(bug).__name__}: {bug}", BAD)
        return None

    async def _load(self, more: int = 0) -> None:
        """Load this screen from the beginning: as many rows as there were, and `more`."""
        pane, state = self._pane, self._state
        job = partial(self._page, pane, text=state.text, after="", limit=_limit(len(state.rows) + more))
        listed = await self._ask(job)
        if listed is not None:
            state.put(listed)
            if self._state is state:
                self._show_list()

    def _page(self, pane: Pane, memory: "Memory", *, text: str, after: str, limit: int) -> RowPage:
        return pane.page(memory, self._words, text=text, after=after, limit=limit)

    @on(RowList.NearEnd)
    def _near_end(self) -> None:
        if self._state.next and not self._loading_more:
            self._loading_more = True
            self.run_worker(self._load_more(), group="more")

    async def _load_more(self) -> None:
        pane, state = self._pane, self._state
        after = state.next
        try:
            if state.stale:  # rows are missing, and the cursor may count them
                await self._load(more=PAGE)
                return
            listed = await self._ask(partial(self._page, pane, text=state.text, after=after, limit=PAGE))
            if listed is not None and self._state is state and state.next == after:
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

    def _look_up(self, row: ListRow) -> None:
        if not self.query("#list"):  # it is being left
            return
        if self._row is None or self._row.key != row.key:  # another screen was chosen meanwhile
            return
        self.run_worker(self._explain(row), group="detail", exclusive=True)

    async def _explain(self, row: ListRow) -> None:
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
        """Show how much waits for review, and whether anything is recorded."""
        found = await self._ask(lambda memory: memory.browse.review(limit=1).total or 0)
        if found is not None and found != self._waiting:
            self._waiting = found
            self._show_nav()
        off = await self._ask(lambda memory: off_record.load(memory.root).current() is not None)
        if off is not None and off != self._off:
            self._off = off
            self._show_top()

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key does something now: what is typed in a field or window is not ours."""
        if action in self.FIRST:
            return not isinstance(self.focused, Input) and not isinstance(self.screen, ModalScreen)
        return super().check_action(action, parameters)

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
            self.set_focus(field)  # at once: what is typed next belongs there
        else:
            self.set_focus(self._list)

    @on(OptionList.OptionSelected, "#nav")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.action_show(event.option_index)

    def action_find(self) -> None:
        """Search, from any screen."""
        before = self._here
        self.action_show(0)
        self._before = before
        field = self.query_one("#field", Input)
        field.select_all()  # what is typed next is another search
        self.set_focus(field)

    def action_narrow(self) -> None:
        """Go to the field of this screen."""
        if self._pane.field:
            self.set_focus(self.query_one("#field", Input))

    @on(Input.Submitted, "#field")
    def _asked(self, event: Input.Submitted) -> None:
        state = self._state
        state.text, state.rows, state.at = event.value, [], ""
        self._before = 0
        self.set_focus(self._list)
        self.run_worker(self._load(), group="list", exclusive=True)

    def action_to_list(self) -> None:
        """Leave the field; that of Search for the screen that it was opened from."""
        if self._here == 0 and isinstance(self.focused, Input) and self._before:
            self.action_show(self._before)
        self.set_focus(self._list)

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

    def _handle_exception(self, error: Exception) -> None:
        """End without the trace, which would print memory text; `run` raises the error again."""
        if debugging() or self.is_headless:
            super()._handle_exception(error)
        else:
            self.problem = self.problem or error
            self.exit(return_code=1)

    def close_memory(self) -> None:
        """Wait for what is still being read, and close the workspace."""
        self._left = True
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._memory is not None:
            self._memory.close()
