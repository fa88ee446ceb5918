"""The input line for orders, which go to the reasoner; arrow keys bring back earlier orders."""

from __future__ import annotations

import asyncio
from functools import partial

from nicegui import ui
from nicegui.events import GenericEventArguments

from openral_console.page.context import PageContext

KEPT = 50
"""Most orders of this tab that the arrow keys bring back."""
STOP_WORD = "stop"
"""Order that ends a mission: the reasoner cancels its goals, and the emergency stop is not latched."""


class PromptLine:
    """The field, the open question with its answers, and a button that ends the mission."""

    def __init__(self, context: PageContext, operator: str) -> None:
        """Make them.

        Args:
            context: what is shown, and what takes the words.
            operator: name of the operator who opened the page.
        """
        self._context, self._operator = context, operator
        self._history: list[str] = []
        self._at = 0
        with ui.row().classes("w-full items-center no-wrap gap-2"):
            self._field = (
                ui.input(placeholder="What should the arm do?")
                .props("outlined dense for=prompt autocomplete=off maxlength=2000")
                .classes("c-prompt grow")
            )
            self._field.on("keydown.enter", self._send)
            self._field.on("keydown.up", lambda: self._recall(-1))
            self._field.on("keydown.down", lambda: self._recall(1))
            self._end = ui.button("End mission", on_click=partial(self.say, STOP_WORD)).props(
                "flat id=end-mission"
            )
        self._question = ui.element("div").classes("c-question").props("id=question")
        self._asked: tuple[str, tuple[str, ...]] = ("", ())

    def update(self) -> None:
        """Show the present state."""
        mission = self._context.deployment.mission
        active = mission is not None and mission.state == "active"
        self._end.set_visibility(active)
        asked = (mission.question, mission.answers) if mission is not None and active else ("", ())
        if asked == self._asked and self._question.visible == bool(asked[0]):
            return
        self._asked = asked
        self._question.set_visibility(bool(asked[0]))
        self._question.clear()
        with self._question:
            ui.label(asked[0]).style("font-weight:500")
            with ui.element("div").classes("c-answers"):
                for answer in asked[1]:
                    ui.button(answer, on_click=partial(self.say, answer)).props("outline data-part=answer")
            if not asked[1]:
                ui.label("Answer in the line above.").classes("c-soft")

    async def say(self, words: str) -> None:
        """Send an order to the reasoner, and log who did."""
        fault = await asyncio.to_thread(self._context.controls.say, words)
        self._context.actions(self._operator, f'said "{words}"', fault)
        if fault:
            ui.notify(fault, type="negative")

    async def _send(self, _: GenericEventArguments) -> None:
        words = str(self._field.value or "").strip()
        if words:
            self._history = [*self._history[1 - KEPT :], words]
            self._at = len(self._history)
            self._field.set_value("")
            await self.say(words)

    def _recall(self, step: int) -> None:
        self._at = min(max(self._at + step, 0), len(self._history))
        self._field.set_value(self._history[self._at] if self._at < len(self._history) else "")
