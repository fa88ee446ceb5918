"""A tile for each camera: its image, which `picture_socket` sends, with age and rate."""

from __future__ import annotations

from dataclasses import dataclass

from nicegui import ui

from openral_console.live.camera_feed import CameraFeed
from openral_console.live.deployment import LiveDeployment

OLD_S = 1.0
"""[s] from which the age of a picture is marked."""


@dataclass
class _Tile:
    feed: CameraFeed
    words: ui.label


class CameraTiles:
    """All cameras."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Create the elements for a deployment."""
        self._deployment = deployment
        self._tiles: dict[str, _Tile] = {}
        with ui.element("section").classes("c-panel"):
            ui.label("Cameras").classes("c-title")
            self._none = ui.label("No camera is heard").classes("c-soft")
            self._grid = ui.element("div").classes("c-cameras")

    def update(self) -> None:
        """Show the present state."""
        for name, feed in self._deployment.cameras.items():
            if name not in self._tiles:
                self._tiles[name] = self._add(feed)
                self._none.set_visibility(False)
            tile = self._tiles[name]
            words, bad = _words(feed)
            if words != tile.words.text:
                tile.words.set_text(words)
                tile.words.classes(replace="c-bad c-num" if bad else "c-soft c-num")

    def _add(self, feed: CameraFeed) -> _Tile:
        with self._grid, ui.element("figure").classes("c-camera").props(f"data-camera={feed.name}"):
            ui.element("img").props(f'alt="{feed.name}"')
            with ui.element("div").classes("c-line").style("margin-top:5px; font-size:13px"):
                ui.label(feed.name)
                words = ui.label("").classes("c-soft c-num")
        return _Tile(feed, words)


def _words(feed: CameraFeed) -> tuple[str, bool]:
    """Return the text of a camera's tile, and whether it reports a fault."""
    if feed.fault:
        return feed.fault, True
    if not feed.count:
        return "no picture yet", False
    if feed.age_s >= OLD_S:
        return f"{feed.age_s:.0f} s old", True
    return f"{feed.rate_hz:.0f} Hz", False
