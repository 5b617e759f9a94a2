"""A person at the panel: presses keys, waits until all is painted, and reads the screen."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnemark import Memory

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from mnemark_faces.tui.app import Panel

SETTINGS = 'embedder = "none"\ntimezone = "Asia/Shanghai"\n'
USUAL = (80, 24)
WIDE = (120, 40)


class Seat:
    """The panel and its screen."""

    def __init__(self, panel: "Panel", pilot: "Pilot[None]") -> None:
        self.panel = panel
        self.pilot = pilot

    async def press(self, *keys: str) -> "Seat":
        """Press keys, each after the work of the one before is done."""
        for key in keys:
            await self.pilot.press(key)
            await self.settled()
        return self

    async def write(self, text: str) -> None:
        """Write text in the field, and send it."""
        await self.pilot.press(*("space" if char == " " else char for char in text), "enter")
        await self.settled()

    async def delete(self, count: int) -> None:
        """Delete characters of the field, from its end."""
        await self.pilot.press(*["backspace"] * count)
        await self.settled()

    async def settled(self) -> None:
        """Wait until nothing is loaded any more, but at most until a window asks."""
        await self.pilot.pause(0.12)  # a row stays highlighted before its sources are looked up
        for _ in range(400):
            asks = len(self.panel.screen_stack) > 1
            busy = [
                one for one in self.panel.workers if one.is_running and not (asks and one.group == "change")
            ]
            if not busy:
                break
            await self.pilot.pause(0.02)
        else:
            raise AssertionError(f"still busy: {busy}")
        await self.pilot.pause()

    @property
    def lines(self) -> list[str]:
        """The lines of the screen."""
        strips = self.panel.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip) for strip in strips]

    @property
    def text(self) -> str:
        """The screen as text."""
        return "\n".join(line.rstrip() for line in self.lines)

    @property
    def flat(self) -> str:
        """All that the right side or a window says, without the line breaks of its width."""
        from textual.widgets import Static

        shown = self.panel.screen.query(Static)
        return "\n".join(str(one.content) for one in shown)

    @property
    def keys(self) -> list[str]:
        """Keys of the rows that are loaded."""
        return [str(option.id) for option in self.panel._list.options if option.id]


def sit(
    root: Path,
    job: Callable[[Seat], Awaitable[Any]],
    *,
    size: tuple[int, int] = USUAL,
    language: str = "en",
    readonly: bool = False,
) -> None:
    """Open the panel of a workspace and do a job there."""
    from mnemark_faces.tui.app import Panel
    from mnemark_faces.tui.words import PanelWords

    async def run() -> None:
        panel = Panel(lambda: Memory.open(root, readonly=readonly), root, PanelWords(language))
        try:
            async with panel.run_test(size=size) as pilot:
                seat = Seat(panel, pilot)
                for _ in range(400):
                    if panel._memory is not None:
                        break
                    await pilot.pause(0.02)
                await seat.settled()
                await job(seat)
        finally:
            panel.close_memory()

    asyncio.run(run())
