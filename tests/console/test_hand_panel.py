"""Who has the arm by the page: a tab keeps it for as long as it is connected, by whichever network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("nicegui", reason="pip install 'openral[console]'")

from nicegui import Client, core
from nicegui.page import page
from starlette.requests import Request

from openral_console.live.deployment import LiveDeployment
from openral_console.page.teleop_panel import TAKE, HandPanel

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


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def click(client: Client, words: str) -> None:
    """Do what a browser does at a click."""
    (button,) = (each for each in client.elements.values() if getattr(each, "text", "") == words)
    (listener,) = button._event_listeners.values()
    client.handle_event({"id": button.id, "listener_id": listener.id, "args": [None]})


def test_a_tab_that_changes_its_network_has_the_arm_and_can_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is back by another connection before the end of its former one is noticed."""
    arm, did = Arm(), list[str]()
    context: Any = SimpleNamespace(
        deployment=LiveDeployment(),
        manual_control=arm,
        space_mouse=None,
        actions=lambda who, what, fault="": did.append(what),
    )

    async def session() -> None:
        monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
        client = Client(page("", reconnect_timeout=60.0), request=Request(OPENED))
        with client:
            HandPanel(context, "ann")
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
