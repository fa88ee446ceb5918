"""The recorder: its status, its losses, and buttons for the operator's commands to it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial

from nicegui import ui

from openral_console.live.views import RecordingView
from openral_console.page.context import PageContext
from openral_data.recording.outcome import OUTCOMES
from openral_data.recording.strategy import HIGHLIGHT_S, STRATEGIES

SILENT_S = 5.0
"""[s] after which a status that comes each second counts as missing."""


@dataclass(frozen=True)
class _Order:
    """A button."""

    words: str
    orders: tuple[str, ...]
    """Commands to the recorder, sent one after the other."""
    did: str
    """Words for the action in the log."""


BEGIN = _Order("Begin", ("start",), "began an episode")
END = _Order("End and keep", ("stop",), "ended an episode")
DISCARD = _Order("Discard", ("discard",), "discarded an episode")
AGAIN = _Order("Record again", ("discard", "start"), "discarded an episode and began it again")
HIGHLIGHT = _Order(f"Keep the last {HIGHLIGHT_S:.0f} s (H)", ("highlight",), "kept a highlight")
LOSSES = {
    "repeated_images": "pictures repeated",
    "dropped_images": "pictures dropped",
    "missing_steps": "steps missing",
}
"""What is lost, by the field of the status."""


class RecorderPanel:
    """Shown once a recorder is heard."""

    def __init__(self, context: PageContext, operator: str) -> None:
        """Make it.

        Args:
            context: what is shown, and what tells the recorder.
            operator: name of the operator who opened the page.
        """
        self._context, self._operator, self._busy = context, operator, False
        self._panel = ui.element("section").classes("c-panel").props("id=recorder")
        with self._panel:
            ui.label("Recording").classes("c-title")
            with ui.element("div").classes("c-state"):
                self._dot = ui.element("span").classes("c-dot")
                self._words = ui.label("").props("id=recording role=status")
            self._fault = ui.label("").classes("c-bad").style("margin-top:6px").props("id=recording-fault")
            with ui.element("div").classes("c-answers").style("margin-top:10px"):
                self._buttons = {
                    order: ui.button(order.words, on_click=partial(self._give, order)).props(
                        f"outline dense data-order={order.orders[0] if order is not AGAIN else 'again'}"
                    )
                    for order in (BEGIN, END, AGAIN, DISCARD, HIGHLIGHT)
                }
            self._marks = ui.element("div").classes("c-answers").style("margin-top:8px; align-items:center")
            with self._marks:
                self._which = ui.label("").classes("c-soft")
                for outcome in OUTCOMES:
                    give = partial(self._give, _Order(outcome, ("mark",), f"marked {outcome}"))
                    ui.button(outcome, on_click=give).props(f"outline dense data-mark={outcome}")
            self._said = ui.label("").classes("c-soft").props("id=recording-said")
            with ui.element("div").classes("c-table c-num").style("margin-top:8px"):
                self._values = {name: _row(name) for name in ("kept", *LOSSES.values(), "free")}
        self._panel.set_visibility(False)
        ui.on("highlight", self._on_key)

    def update(self) -> None:
        """Show the present state."""
        status = self._context.deployment.recording
        self._panel.set_visibility(status is not None)
        if status is None:
            return
        silent_s = time.monotonic() - status.received_s
        is_silent = silent_s > SILENT_S
        self._show_state(status, silent_s if is_silent else 0.0)
        self._offer(status, not is_silent and not self._busy)
        self._values["kept"].set_text(f"{status.episodes} episodes")
        for field, name in LOSSES.items():
            count = getattr(status, field)
            self._values[name].set_text(f"{count:,}".replace(",", " "))
            self._values[name].classes(replace="c-warn" if count else "")
        self._values["free"].set_text(f"{status.free_gb:.1f} GB")

    def _show_state(self, status: RecordingView, silent_s: float) -> None:
        if silent_s:
            dot, words = "warn", f"The recorder is silent for {silent_s:.0f} s"
        elif status.recording:
            what = f"{status.instruction}, " if status.instruction else ""
            dot, words = "stopped", f"Recording: {what}{status.episode_s:.0f} s, {status.frames} frames"
        else:
            dot, words = ("warn" if status.stopped_by else ""), f"Not recording ({status.strategy})"
        self._dot.classes(replace=f"c-dot {dot}")
        self._words.set_text(words)
        self._fault.set_text(status.stopped_by)
        self._fault.set_visibility(bool(status.stopped_by))

    def _offer(self, status: RecordingView, is_ready: bool) -> None:
        """Show the buttons that the strategy uses, and enable those that have an effect now."""
        strategy = STRATEGIES.get(status.strategy)
        by_goal, highlights = (strategy.by_goal, strategy.on_highlight) if strategy else (False, False)
        useful = {
            BEGIN: by_goal and not status.recording,
            END: by_goal and status.recording,
            AGAIN: by_goal and status.recording,
            DISCARD: by_goal and status.recording,
            HIGHLIGHT: highlights,
        }
        for order, is_useful in useful.items():
            self._buttons[order].set_visibility(is_useful)
            self._buttons[order].set_enabled(is_ready and not (order is BEGIN and bool(status.stopped_by)))
        self._which.set_text("Mark this episode" if status.recording and by_goal else "Mark the last one")
        self._marks.set_visibility(is_ready)

    async def _on_key(self) -> None:
        status = self._context.deployment.recording
        strategy = STRATEGIES.get(status.strategy) if status is not None else None
        if strategy is not None and strategy.on_highlight:
            await self._give(HIGHLIGHT)

    async def _give(self, order: _Order) -> None:
        if self._busy:
            return
        self._busy, fault = True, ""
        try:
            for name in order.orders:
                outcome = order.words if name == "mark" else ""
                fault = fault or await asyncio.to_thread(self._context.controls.record, name, outcome)
        finally:
            self._busy = False
        self._context.actions(self._operator, order.did, fault)
        self._said.set_text("" if fault else f"{self._operator} {order.did}")
        if fault:
            ui.notify(fault, type="negative")


def _row(name: str) -> ui.label:
    ui.label(name).classes("c-soft")
    return ui.label("–").style("text-align:right").props(f'data-recorder="{name}"')
