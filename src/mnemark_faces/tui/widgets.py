"""The parts of the panel: the list, and the windows above it. None of them reads markup."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Checkbox, Input, OptionList, Static
from textual.widgets.option_list import Option

from mnemark_faces.tui.deeds import Right
from mnemark_faces.tui.rows import ListRow

_NEAR = 15
"""Rows below the visible ones at which the next page is asked for."""


class Choices(OptionList):
    """A list whose chosen row is seen without colour."""

    def get_visual_style(self, *component_classes: str, partial: bool = False) -> Style:
        """Return a style; of the chosen row reversed, which Textual leaves out."""
        style = super().get_visual_style(*component_classes, partial=partial)
        chosen = "option-list--option-highlighted" in component_classes
        return style + Style(reverse=True) if chosen else style


class RowList(Choices):
    """A list of rows, with the name of a day above those of that day."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        Binding("g", "first", show=False),
        Binding("G", "last", show=False),
        Binding("enter", "app.open", show=False, priority=True),
    ]

    class NearEnd(Message):
        """The end of the list comes into sight."""

    def __init__(self, day_name: Callable[[str], str]) -> None:
        super().__init__(id="list", markup=False)
        self._day_name = day_name
        self._rows: dict[str, ListRow] = {}
        self._day = ""
        self._filled_at = ""

    def fill(self, rows: Iterable[ListRow], at: str = "") -> None:
        """Show other rows, with the row of that key highlighted, or the first one."""
        self.clear_options()
        self._rows, self._day = {}, ""
        self.add(rows)
        if at in self._rows:
            self.highlighted = self.get_option_index(at)
        else:
            self.action_first()
        self._filled_at = self.row.key if self.row is not None else ""

    @property
    def moved(self) -> bool:
        """Whether another row was chosen since the list was filled."""
        return self.row is not None and self.row.key != self._filled_at

    def add(self, rows: Iterable[ListRow]) -> None:
        """Add rows at the end."""
        options: list[Option] = []
        for row in rows:
            if row.key in self._rows:  # moved to a later page meanwhile
                continue
            if row.day != self._day:
                self._day = row.day
                options.append(Option(Content.styled(self._day_name(row.day), "bold"), disabled=True))
            self._rows[row.key] = row
            options.append(Option(row.shown, id=row.key))
        self.add_options(options)

    @property
    def row(self) -> ListRow | None:
        """The highlighted row."""
        option = self.highlighted_option
        return None if option is None or option.id is None else self._rows.get(option.id)

    def take_out(self, key: str) -> None:
        """Remove a row; the next one is highlighted, or the last."""
        index = self.get_option_index(key)
        self.remove_option(key)
        self._rows.pop(key)
        if not self._rows:
            self.clear_options()
            return
        while index < self.option_count and self.options[index].disabled:
            index += 1
        if index < self.option_count:
            self.highlighted = None
            self.highlighted = index
        else:
            self.action_last()

    def action_cursor_down(self) -> None:
        """Move down, and not from the end to the beginning."""
        if self.highlighted is None or self.highlighted < self.option_count - 1:
            super().action_cursor_down()

    def action_cursor_up(self) -> None:
        """Move up, and not from the beginning to the end."""
        if any(not option.disabled for option in self.options[: self.highlighted or 0]):
            super().action_cursor_up()
        else:
            self.scroll_home(animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for more rows when the end comes into sight."""
        super().watch_scroll_y(old_value, new_value)
        if (
            new_value > old_value
            and self.scroll_offset.y + self.size.height + _NEAR >= self.virtual_size.height
        ):
            self.post_message(self.NearEnd())


class Window(ModalScreen[bool]):
    """A text above the panel: to read, or to say yes or no to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,n", "leave", show=False),
        Binding("y", "agree", show=False),
        Binding("enter", "close", show=False),
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("space,pagedown,ctrl+d", "turn(1)", show=False),
        Binding("b,pageup,ctrl+u", "turn(-1)", show=False),
        Binding("g,home", "top", show=False),
        Binding("G,end", "bottom", show=False),
    ]

    def __init__(
        self, title: str, text: Content, keys: Content, *, asks: bool = False, types: str = ""
    ) -> None:
        """`types` is what has to be typed to say yes; with `asks` it is y."""
        super().__init__()
        self._types = types
        self._title_text = title
        self._text = text
        self._keys = keys
        self._asks = asks

    def compose(self) -> ComposeResult:
        """Return the parts."""
        with Vertical(id="window"):
            yield Static(Content.styled(self._title_text, "bold"), id="window-title")
            with VerticalScroll(id="window-text", can_focus=False):
                yield Static(self._text)
            if self._types:
                yield Input(id="window-typed")
            yield Static(self._keys, id="window-keys")

    @on(Input.Submitted, "#window-typed")
    def _typed(self, event: Input.Submitted) -> None:
        if event.value.strip() == self._types:
            self.dismiss(result=True)
        else:
            event.input.clear()

    @property
    def _scroll(self) -> VerticalScroll:
        return self.query_one("#window-text", VerticalScroll)

    def action_leave(self) -> None:
        """Close it; the answer is no."""
        self.dismiss(result=False)

    def action_agree(self) -> None:
        """Say yes, where it asks."""
        if self._asks:
            self.dismiss(result=True)

    def action_close(self) -> None:
        """Close what is only read; a question wants its answer."""
        if not self._asks and not self._types:
            self.dismiss(result=False)

    def action_move(self, lines: int) -> None:
        """Scroll by a line."""
        self._scroll.scroll_relative(y=lines, animate=False)

    def action_turn(self, pages: int) -> None:
        """Scroll by a page."""
        self._scroll.scroll_relative(y=pages * max(self._scroll.size.height - 2, 1), animate=False)

    def action_top(self) -> None:
        """Scroll to the beginning."""
        self._scroll.scroll_home(animate=False)

    def action_bottom(self) -> None:
        """Scroll to the end."""
        self._scroll.scroll_end(animate=False)


class Mark(Checkbox):
    """A box that is empty until it is marked, also without colour."""

    @property
    def _button(self) -> Content:
        return Content("[x]" if self.value else "[ ]")


class Form(NamedTuple):
    """The texts of the form that corrects a fact, and what it holds at first."""

    title: str
    about: str
    """The fact as a sentence."""
    fields: Sequence[tuple[str, str, str]]
    """Id, label and value of each."""
    marks: Sequence[tuple[str, str]]
    """Id and text of each box."""
    keys: Content


class CorrectWindow(ModalScreen[Right | None]):
    """A form above the panel: what is right, since when, about whom, or never."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False, priority=True)]

    def __init__(self, form: Form) -> None:
        super().__init__()
        self._form = form

    def compose(self) -> ComposeResult:
        """Return the parts."""
        form = self._form
        with Vertical(id="window"):
            yield Static(Content.styled(form.title, "bold"), id="window-title")
            yield Static(Content(form.about), classes="label")
            for name, label, value in form.fields:
                yield Static(Content.styled(label, "dim"), classes="label")
                yield Input(value, id=name, classes="typed")
            for name, text in form.marks:
                yield Mark(Content(text), id=name, classes="mark", compact=True)
            yield Static(form.keys, id="window-keys")

    def begin(self) -> None:
        """Take keys from now on."""
        self.set_focus(self.query_one("#value", Input))

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._save()

    def on_key(self, event: Key) -> None:
        """Save with Enter at a box, too, which Space marks."""
        if event.key == "enter" and isinstance(self.focused, Checkbox):
            event.stop()
            event.prevent_default()
            self._save()

    def _save(self) -> None:
        typed = {field.id: field.value.strip() for field in self.query(Input)}
        marked = {box.id for box in self.query(Checkbox) if box.value}
        if typed["value"] or "never" in marked:
            self.dismiss(
                Right(
                    typed["value"], typed["since"], typed["subject"], "never" in marked, "changed" in marked
                )
            )

    def action_leave(self) -> None:
        """Close it, and change nothing."""
        self.dismiss(None)
