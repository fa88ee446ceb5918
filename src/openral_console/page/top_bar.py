"""The bar that stays in view: state of the arm, name of the operator, and the stop buttons."""

from __future__ import annotations

import asyncio
from html import escape

from nicegui import ui
from nicegui.events import GenericEventArguments

from openral_console.page.context import PageContext

# The buttons work without Vue and without the websocket: assets/stop.js listens for them.
_STOP = '<button id="stop" class="c-stop" type="button">Stop <kbd>Space</kbd></button>'
_STOP_ALL = (
    '<button id="stop-all" class="c-stop c-all" type="button" title="{names}">Stop all {count}</button>'
)


class TopBar:
    """State, operator, and the buttons for release, for the stop of this deployment and for that of all."""

    def __init__(self, context: PageContext, operator: str) -> None:
        """Make it.

        Args:
            context: what is shown, and what releases the stop.
            operator: name of the operator who opened the page.
        """
        self._context, self._operator = context, operator
        with ui.element("header").classes("c-bar"):
            ui.label(context.namespace.strip("/")).classes("c-brand")
            with ui.element("div").classes("c-state"):
                self._dot = ui.element("span").classes("c-dot")
                self._words = ui.label("").classes("c-words").props("id=state role=status")
            ui.label(operator).classes("c-who")
            self._release = ui.button("Release the stop", on_click=self._ask).props(
                "outline color=negative id=release"
            )
            self._all = ui.html("", sanitize=False)
            ui.html(_STOP, sanitize=False)
        ui.html('<div id="alarm" class="c-alarm" role="alert"></div>', sanitize=False).style("width:100%")
        with ui.dialog() as self._dialog, ui.card():
            ui.label("Release the emergency stop?").style("font-weight:600")
            ui.label("The arm may move again at the next order. See that all is safe first.")
            with ui.row().classes("w-full justify-end"):
                ui.button("Keep it stopped", on_click=self._dialog.close).props("flat")
                ui.button("Release").props("color=negative id=release-now").on(
                    "click", self._do_release, js_handler="() => openralStopAnswered().then(() => emit())"
                )
        self._shown = ("", "")
        self._others: tuple[str, ...] | None = None

    def update(self) -> None:
        """Show the present state."""
        dot, words = self._state()
        self._release.set_visibility(bool(self._context.deployment.estopped))
        if (dot, words) != self._shown:
            self._words.set_text(words)
            self._dot.classes(replace=f"c-dot {dot}")
            self._shown = dot, words
        if self._context.deployment.others != self._others:
            self._others = self._context.deployment.others
            self._show_stop_all(self._others)

    def _show_stop_all(self, others: tuple[str, ...]) -> None:
        """Show the button for the stop of all if there is another deployment."""
        names = sorted((self._context.namespace, *others))
        self._all.set_visibility(bool(others))
        self._all.set_content(_STOP_ALL.format(names=escape(", ".join(names)), count=len(names)))

    def _state(self) -> tuple[str, str]:
        deployment = self._context.deployment
        control = deployment.control
        if deployment.control_is_stale or control is None:
            return "warn", f"No bridge is heard in {self._context.namespace}: {self._elsewhere()}"
        if deployment.estopped or control.estopped:
            return "stopped", "Stopped: nothing moves until the stop is released"
        if control.operator:
            waits = "; the policy waits" if control.waits else ""
            does = "moves the arm" if control.correcting else "has the arm, which holds"
            return "moving" if control.correcting else "warn", f"{control.operator} {does}{waits}"
        if control.holding:
            return "", "Holding still"
        return "moving", f"Moving: {control.instruction or control.skill}"

    def _elsewhere(self) -> str:
        others = self._context.deployment.others
        return (
            f"there is one in {', '.join(others)} (--namespace)" if others else "nothing is known of the arm"
        )

    def _ask(self) -> None:
        self._dialog.open()

    async def _do_release(self, _: GenericEventArguments) -> None:
        self._dialog.close()
        fault = await asyncio.to_thread(self._context.controls.release)
        self._context.actions(self._operator, "released the stop", fault)
        if fault:
            ui.notify(fault, type="negative")
