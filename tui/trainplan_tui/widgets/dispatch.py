"""The base of the app: every key and paste is handled here, at once and in order.

Textual posts keys to a focused widget, and keys sent in one packet then overtake each other. Here a key is a plain
call, so `enter 20T enter` in one packet gives the same plan as typed slowly.
It refuses focus, bindings, the mouse, the command palette of Textual, animation and repaints on focus changes.
"""

from __future__ import annotations

from typing import ClassVar, Final, cast

from rich.console import RenderableType
from textual import events
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from trainplan_tui.text.colours import Palette
from trainplan_tui.widgets.driver import TerminalDriver, resumable
from trainplan_tui.widgets.grid import Difference, Grid, Row

STATUS: Final = 70
"""Exit status of a crash: EX_SOFTWARE of sysexits.h."""


class GridScreen(Screen[None], inherit_bindings=False, inherit_css=False):
    """A screen that holds the grid. A change of focus repaints nothing: there is none to show."""

    DEFAULT_CSS = "GridScreen { layout: vertical; }"
    AUTO_FOCUS: ClassVar[str | None] = ""
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self._grid = grid

    def compose(self) -> ComposeResult:
        """The grid alone."""
        yield self._grid


class KeyedApp(App[int], inherit_bindings=False, inherit_css=False):
    """An app of one grid. Subclasses say what keys, pastes and sizes do, and call `grid.show` once for each.

    After `run` an error is in `fault`, and `return_code` is 70.
    """

    AUTO_FOCUS: ClassVar[str | None] = None
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False
    ALLOW_SELECT: ClassVar[bool] = False

    def __init__(self, palette: Palette) -> None:
        super().__init__(driver_class=TerminalDriver)
        self.animation_level = "none"
        self._disable_tooltips = self._disable_notifications = True  # two widgets more, and their style sheets
        self.fault: Exception | None = None
        self.grid = Grid(palette)
        self._window = Size(0, 0)
        self._sent: tuple[Row, ...] | None = None  # the rows that the terminal holds, None when it holds no whole frame

    def get_default_screen(self) -> Screen[object]:
        """The one screen."""
        return cast("Screen[object]", GridScreen(self.grid))

    def get_css_variables(self) -> dict[str, str]:
        """None: no sheet here names a colour, and Textual would cut the two hundred of its theme into tokens."""
        return {}

    @property
    def can_suspend(self) -> bool:
        """Whether `action_suspend_process` leads somewhere from which a shell brings the app back."""
        return resumable()

    def action_suspend_process(self) -> None:
        """Suspend, where a shell can resume; elsewhere nothing happens, because the terminal would freeze."""
        if self.can_suspend:
            super().action_suspend_process()

    def take(self, key: str, character: str | None) -> None:
        """A key was pressed: its name in Textual's words, and the character it types, if any."""
        raise NotImplementedError

    def paste(self, text: str) -> None:
        """Text was pasted."""
        raise NotImplementedError

    def resized(self, size: Size) -> None:
        """The window has this size now; also called once before the first picture."""
        raise NotImplementedError

    def interrupted(self, number: int) -> None:
        """The process ends now by this signal. Runs in a signal handler: write a mark, take no lock, do not wait."""

    def redraw(self) -> None:
        """Send every cell again, for a terminal that something else has written on."""
        self._sent = None
        self.screen.refresh()

    async def on_event(self, event: events.Event) -> None:
        """Hand keys, pastes and sizes over at once; drop the mouse and focus reports; pass on the rest."""
        if isinstance(event, events.Key):
            self.take(event.key, event.character)
        elif isinstance(event, events.Paste):
            self.paste(event.text)
        elif isinstance(event, events.Resize):
            await super().on_event(event)
            if event.size != self._window:
                self._window, self._sent = event.size, None
                self.resized(event.size)
        elif not isinstance(event, events.MouseEvent | events.AppFocus | events.AppBlur):
            await super().on_event(event)

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Draw, but send no cell that the terminal has.

        Textual draws three whole frames at start and at each resize, and its own idea of what differs sends blanks and colours.
        """
        rows = self.grid.rows
        if isinstance(renderable, LayoutUpdate):
            if renderable.region.size != self._window or rows is self._sent or not rows:
                return
        elif self._sent is None:
            screen.refresh()
            return
        elif isinstance(renderable, ChopsUpdate):
            renderable = cast(RenderableType, Difference(self._sent, rows))
        super()._display(screen, renderable)
        if not self._batch_count:
            self._sent = rows

    def _handle_exception(self, error: Exception) -> None:
        """Stop, with the error in `fault` for the caller of `run`. Nothing of it is drawn."""
        self._return_code = STATUS
        if self.fault is None:
            self.fault = self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()

    def _set_pointer_shape(self, shape: str) -> None:
        """No mouse, no pointer: the escape for its shape is not sent."""
