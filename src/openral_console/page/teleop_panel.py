"""Teleoperation: a button that takes over the arm, and keys that move it while they are held."""

from __future__ import annotations

import asyncio
import json
import math
import time
from uuid import uuid4

from nicegui import ui
from nicegui.events import GenericEventArguments

from openral_console.page.context import PageContext
from openral_console.teleop.page_freshness import Freshness
from openral_console.teleop.steering import Steer

SPEEDS_M_S = {0.05: "slow, 0.05 m/s", 0.1: "medium, 0.1 m/s", 0.2: "quick, 0.2 m/s"}
TAKE, TAKE_OVER, GIVE_BACK = "Take the arm", "Take over", "Give the arm back"
KEYS = (("W S", "along x"), ("A D", "along y"), ("R F", "up, down"), ("Q E", "turn"), ("G", "fingers"))
"""Keys with their motions: all act while they are held, except G, which acts once."""
PRESENCE_S = 0.5
"""[s] without a message from the page that controls the arm, after which a SpaceMouse's cap must be let go first."""
CAP = "Push, slide or lift the cap: along x and y, up and down; twist it: turn. Left button: fingers; right: Stop."
PAD = "Gamepad: hold a shoulder button. Left stick: along x and y; right stick: up, down, turn. A: fingers. B: Stop."


class HandPanel:
    """The button, the keys, and why the arm does not move."""

    def __init__(self, context: PageContext, operator: str) -> None:
        """Make it.

        Args:
            context: what moves the arm.
            operator: name of the operator who opened the page.
        """
        self._context, self._operator = context, operator
        self._tab = uuid4().hex
        self._freshness = Freshness()
        self._has_it, self._fault = False, ""
        self._client = ui.context.client
        self._mouse = context.space_mouse
        self._presses, self._heard_s, self._is_still, self._stop_fault = 0, 0.0, True, ""
        with ui.element("section").classes("c-panel"):
            with ui.element("div").classes("c-line"):
                ui.label("By hand").classes("c-title")
                self._speed = ui.select(SPEEDS_M_S, value=0.1).props("dense borderless options-dense")
            with ui.element("div").style("display:flex; gap:8px; flex-wrap:wrap"):
                self._take = ui.button(TAKE, on_click=self._switch).props("outline id=take")
                self._go_on = ui.button("Let the policy go on", on_click=self._give_back).props(
                    "outline color=warning id=go-on"
                )
            self._words = ui.label("").classes("c-soft").style("margin-top:8px").props("id=hand")
            self._cap = ui.label("").style("margin-top:8px").props("id=cap")
            self._cap.set_visibility(self._mouse is not None)
            self._keys = ui.element("div").classes("c-keys").props("id=keys")
            with self._keys:
                for keys, meaning in KEYS:
                    ui.html("".join(f"<kbd>{key}</kbd>" for key in keys.split()), sanitize=False)
                    ui.label(meaning).classes("c-soft")
        ui.on("steer", self._steer)
        ui.on("gripper", lambda: self._context.manual_control.toggle_gripper(self._tab))
        self._client.on_disconnect(self._let_go_if_gone)

    def update(self) -> None:
        """Show the present state."""
        manual_control, control = self._context.manual_control, self._context.deployment.control
        mine = manual_control.holder == self._tab
        if mine != self._has_it:
            self._has_it = mine
            with_cap = self._mouse is not None
            ui.run_javascript(f"window.openralTeleop({json.dumps(mine)}, {json.dumps(with_cap)})")
        runs = control is not None and bool(control.goal)
        self._take.set_text(GIVE_BACK if mine else TAKE_OVER if runs else TAKE)
        why = "" if mine else manual_control.why_not()
        self._take.set_enabled(not why)
        self._go_on.set_visibility(
            control is not None and bool(control.operator) and not manual_control.holder
        )
        self._keys.set_visibility(mine)
        self._words.set_text(self._fault or (f"Hold a key to move. {PAD}" if mine else why))

        self._show_space_mouse(mine)

    def _show_space_mouse(self, mine: bool) -> None:
        mouse = self._mouse
        if mouse is None:
            return
        fault = mouse.fault
        self._cap.set_text(fault or (f"{mouse.name}: {CAP}" if mine else f"{mouse.name}: ready"))
        self._cap.classes(replace="c-warn" if fault else "c-soft")
        if mouse.stop_fault != self._stop_fault:
            self._stop_fault = mouse.stop_fault
            words = f"NOT stopped. Use the hardware stop. ({self._stop_fault})" if self._stop_fault else ""
            ui.run_javascript(f"window.openralAlarm({json.dumps(words)})")

    async def _switch(self) -> None:
        """Do what the button says; nothing where that is so already, which the page is about to say.

        A click that was to give back an arm that was lost in the same moment, as by a stop, must not take it.
        """
        has_it = self._context.manual_control.holder == self._tab
        if has_it is not self._has_it:
            return
        self._fault = ""
        if has_it:
            await self._give_back()
            return
        why = await asyncio.to_thread(self._context.manual_control.engage, self._tab, self._operator)
        self._context.actions(self._operator, "took the arm", why)
        self._fault, self._heard_s = why, 0.0  # a cap that is pressed already moves nothing
        self._let_go_if_gone()  # the tab may have gone while the bridge was asked

    async def _give_back(self) -> None:
        holder = self._tab if self._context.manual_control.holder == self._tab else ""
        why = await asyncio.to_thread(self._context.manual_control.give_back, holder, self._operator)
        self._context.actions(self._operator, "gave the arm back", why)
        self._fault = why

    def _let_go_if_gone(self) -> None:
        """Let the arm go unless the tab has a connection.

        A tab that changes its network has the new one before the end of the old one is noticed.
        """
        if not self._client.has_socket_connection and self._context.manual_control.holder == self._tab:
            self._context.manual_control.disengage(self._tab)
            self._context.actions(self._operator, "let the arm go")

    def _steer(self, event: GenericEventArguments) -> None:
        values = [event.args.get(name) for name in ("x", "y", "z", "turn", "sent_ms")]
        if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in values):
            return
        x, y, z, turn, sent_ms = map(float, values)
        is_fresh = self._freshness.admits(sent_ms * 1e-3, time.monotonic())
        if is_fresh and event.args.get("cap") is True:
            x, y, z, turn = (
                min(max(a + b, -1.0), 1.0) for a, b in zip((x, y, z, turn), self._heed_cap(), strict=True)
            )
        steer = Steer(x, y, z, turn, speed_m_s=float(self._speed.value))
        if steer.still and self._is_still:
            return  # the page is there, and nothing is pressed
        # What comes late moves nothing, but a release is taken whenever it comes.
        if is_fresh or steer.still:
            self._fault = self._context.manual_control.drive(self._tab, steer)
            self._is_still = steer.still

    def _heed_cap(self) -> tuple[float, float, float, float]:
        """Return the cap's deflection, -1..1 along x, y, z and about z, and move the fingers once for each press."""
        mouse, now_s = self._mouse, time.monotonic()
        if mouse is None:
            return 0.0, 0.0, 0.0, 0.0
        if now_s - self._heard_s > PRESENCE_S:  # what was pressed meanwhile is forgotten
            self._presses = mouse.presses
            mouse.demand_rest()
        self._heard_s = now_s
        while self._presses < mouse.presses:
            self._presses += 1
            self._context.manual_control.toggle_gripper(self._tab)
        cap = mouse.deflection()
        return cap.x, cap.y, cap.z, cap.turn
