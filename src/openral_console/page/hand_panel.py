"""Moving the arm by hand: a button that takes it, and keys that count while they are held."""

from __future__ import annotations

import math
import time
from uuid import uuid4

from nicegui import ui
from nicegui.events import GenericEventArguments

from openral_console.page.context import PageContext
from openral_console.teleop.hold_to_run import Freshness
from openral_console.teleop.steering import Steer

SPEEDS_M_S = {0.05: "slow", 0.1: "medium", 0.2: "quick"}
KEYS = "Hold to move: W S along x, A D along y, R F up and down, Q E turn. G: fingers."


class HandPanel:
    """The button, the keys, and why the arm does not move."""

    def __init__(self, context: PageContext, operator: str) -> None:
        """Make it.

        Args:
            context: what moves the arm.
            operator: whose tab it is.
        """
        self._context, self._operator = context, operator
        self._tab = uuid4().hex
        self._freshness = Freshness()
        self._has_it, self._fault = False, ""
        with ui.element("section").classes("c-panel"):
            with ui.element("div").classes("c-line"):
                ui.label("By hand").classes("c-title")
                self._speed = ui.select(SPEEDS_M_S, value=0.1).props("dense borderless options-dense")
            self._take = ui.button("Take the arm", on_click=self._switch).props("outline id=take")
            self._words = ui.label("").classes("c-soft").style("margin-top:8px").props("id=hand")
        ui.on("steer", self._steer)
        ui.on("gripper", lambda: self._context.door.toggle_gripper(self._tab))
        ui.context.client.on_disconnect(self._let_go)

    def update(self) -> None:
        """Show what is known now."""
        door = self._context.door
        mine = door.holder == self._tab
        if mine != self._has_it:
            self._has_it = mine
            self._take.set_text("Let go" if mine else "Take the arm")
            ui.run_javascript(f"window.openralTeleop({str(mine).lower()})")
        why = "" if mine else door.why_not()
        self._take.set_enabled(not why)
        self._words.set_text((self._fault or KEYS) if mine else why)

    def _switch(self) -> None:
        self._fault = ""
        if self._context.door.holder == self._tab:
            self._let_go()
            return
        why = self._context.door.engage(self._tab)
        self._context.actions(self._operator, "took the arm" + (f", in vain: {why}" if why else ""))

    def _let_go(self) -> None:
        if self._context.door.holder == self._tab:
            self._context.door.disengage(self._tab)
            self._context.actions(self._operator, "let the arm go")

    def _steer(self, event: GenericEventArguments) -> None:
        values = [event.args.get(name) for name in ("x", "y", "z", "turn", "sent_ms")]
        if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in values):
            return
        x, y, z, turn, sent_ms = map(float, values)
        steer = Steer(x, y, z, turn, float(self._speed.value))
        # What comes late moves nothing, but a release is taken whenever it comes.
        if self._freshness.admits(sent_ms * 1e-3, time.monotonic()) or steer.still:
            self._fault = self._context.door.drive(self._tab, steer)
