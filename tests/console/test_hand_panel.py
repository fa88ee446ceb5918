"""Who has the arm by the page: a tab keeps it for as long as it is connected, by whichever network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("nicegui", reason="pip install 'openral[console]'")

from nicegui import Client, core
from nicegui.page import page
from starlette.requests import Request

from openral_console.live.deployment import LiveDeployment
from openral_console.page.teleop_panel import GIVE_BACK, TAKE, HandPanel
from openral_console.teleop.space_mouse_device import SpaceMouseReport
from openral_console.teleop.steering import Steer

OPENED = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [(b"host", b"robot")]}
"""A request for the page."""


class Arm:
    """Is taken by whoever asks for it."""

    holder = ""

    def why_not(self) -> str:
        return ""

    def engage(self, holder: str, operator: str) -> str:
        self.holder = holder
        return ""

    def disengage(self, holder: str) -> None:
        assert holder == self.holder
        self.holder = ""

    def give_back(self, holder: str, operator: str) -> str:
        self.holder = ""
        return ""

    def drive(self, holder: str, steer: Steer) -> str:
        return ""


class Cap:
    """A SpaceMouse whose cap is pressed all the while."""

    name, fault, stop_fault, presses, rests = "SpaceMouse", "", "", 0, 0

    def demand_rest(self) -> None:
        self.rests += 1

    def deflection(self) -> SpaceMouseReport:
        return SpaceMouseReport(x=1.0)


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def click(client: Client, words: str) -> None:
    """Do what a browser does at a click."""
    (button,) = (each for each in client.elements.values() if getattr(each, "text", "") == words)
    (listener,) = button._event_listeners.values()
    client.handle_event({"id": button.id, "listener_id": listener.id, "args": [None]})


def opened(arm: Arm, did: list[str], mouse: Cap | None = None) -> tuple[Client, HandPanel]:
    """Return a page and its panel, which notes what was done."""
    context: Any = SimpleNamespace(
        deployment=LiveDeployment(),
        manual_control=arm,
        space_mouse=mouse,
        actions=lambda who, what, fault="": did.append(what),
    )
    client = Client(page("", reconnect_timeout=60.0), request=Request(OPENED))
    with client:
        panel = HandPanel(context, "ann")
    return client, panel


def test_a_tab_that_changes_its_network_has_the_arm_and_can_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is back by another connection before the end of its former one is noticed."""
    arm, did = Arm(), list[str]()

    async def session() -> None:
        monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
        client, _ = opened(arm, did)
        await client.handle_handshake("first", "tab", None, "document", None)
        click(client, TAKE)
        await until(lambda: len(did) == 1)
        await client.handle_handshake("second", "tab", None, "document", None)
        client.handle_disconnect("first")
        assert arm.holder
        arm.holder = ""  # as after a stop of every motion
        click(client, TAKE)
        await until(lambda: len(did) == 2)
        await asyncio.sleep(0)
        assert arm.holder
        client.handle_disconnect("second")
        assert not arm.holder
        client.delete()

    asyncio.run(asyncio.wait_for(session(), 60.0))
    assert did == ["took the arm", "took the arm", "let the arm go"]


def test_a_cap_that_is_pressed_must_rest_whenever_the_arm_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it was lost so shortly before that no page has said so."""
    arm, did, cap = Arm(), list[str](), Cap()

    async def session() -> None:
        monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
        client, _ = opened(arm, did, cap)
        (steer,) = (each for each in client.layout._event_listeners.values() if each.type == "steer")
        keys = json.dumps({"x": 0, "y": 0, "z": 0, "turn": 0, "cap": True, "sent_ms": 1.0})
        await client.handle_handshake("first", "tab", None, "document", None)
        for count in (1, 2):
            click(client, TAKE)
            await until(lambda count=count: len(did) == count)
            client.handle_event({"id": client.layout.id, "listener_id": steer.id, "args": [keys]})
            arm.holder = ""  # as after a stop of every motion
        client.handle_disconnect("first")
        client.delete()

    asyncio.run(asyncio.wait_for(session(), 60.0))
    assert did == ["took the arm"] * 2
    assert cap.rests == 2


def test_a_click_does_what_the_button_says_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives an arm back that was lost in the same moment does not take it, and a double click takes it once."""
    arm, did = Arm(), list[str]()

    async def session() -> None:
        monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
        client, panel = opened(arm, did)
        await client.handle_handshake("first", "tab", None, "document", None)

        async def clicked(words: str, count: int) -> None:
            click(client, words)
            await asyncio.sleep(0.05)
            assert len(did) == count

        await clicked(TAKE, 1)
        await clicked(TAKE, 1)
        assert arm.holder
        with client:
            panel.update()
        arm.holder = ""  # as after a stop of every motion
        await clicked(GIVE_BACK, 1)
        assert not arm.holder
        with client:
            panel.update()
        await clicked(TAKE, 2)
        with client:
            panel.update()
        await clicked(GIVE_BACK, 3)
        client.handle_disconnect("first")
        client.delete()

    asyncio.run(asyncio.wait_for(session(), 60.0))
    assert did == ["took the arm", "took the arm", "gave the arm back"]
