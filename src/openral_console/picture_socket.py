"""Sends the cameras' images to a page by a websocket, since an HTTP request for each would cost more than the image.

A message to the page is the length of a camera's name in one byte, its name as UTF-8, and a JPEG. The page answers
each, once it is shown, with the width [px] at which it shows it and the name: "300 front". Only then the next image of
this camera is sent, so that a slow network or a hidden tab gets fewer images, and never old ones.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

from starlette.websockets import WebSocket, WebSocketDisconnect

from openral_console.live.camera_feed import CameraFeed
from openral_console.live.deployment import LiveDeployment

LOOK_S = 0.1
"""[s] between two checks for new images."""
FIRST_WIDTH, WIDTHS = 320, range(64, 4097)
"""[px] width of the first image, and the range of widths that a page may ask for."""
_ANSWER = re.compile(r"(\d{1,5}) (\w{1,255})", re.ASCII)


class PictureSocket:
    """Sends images to one page."""

    def __init__(self, deployment: LiveDeployment, socket: WebSocket) -> None:
        """Take the deployment and the page's websocket."""
        self._deployment, self._socket = deployment, socket
        self._widths: dict[str, int] = {}
        """[px] at which the page shows each camera."""
        self._sent: dict[str, int] = {}
        """Camera -> number of the newest image that was sent."""
        self._waiting: set[str] = set()
        """Cameras whose newest image has not been acknowledged."""

    async def serve(self) -> None:
        """Send pictures until the page is closed."""
        await self._socket.accept()
        answers = asyncio.create_task(self._hear())
        try:
            while not answers.done():
                news = list(self._news())
                for feed in news:
                    self._waiting.add(feed.name)
                    self._sent[feed.name] = feed.count
                for message in await asyncio.to_thread(self._messages, news) if news else ():
                    await self._socket.send_bytes(message)
                await asyncio.sleep(LOOK_S)
        except (WebSocketDisconnect, RuntimeError):  # it was closed while this sent
            return
        finally:
            answers.cancel()

    def _news(self) -> Iterator[CameraFeed]:
        """Yield the cameras that have a new image for this page."""
        for name, feed in self._deployment.cameras.items():
            if name not in self._waiting and feed.count != self._sent.get(name, 0):
                yield feed

    def _messages(self, feeds: list[CameraFeed]) -> list[bytes]:
        names = [feed.name.encode() for feed in feeds]
        pictures = [feed.jpeg(self._widths.get(feed.name, FIRST_WIDTH)) for feed in feeds]
        return [bytes((len(name),)) + name + jpeg for name, jpeg in zip(names, pictures, strict=True)]

    async def _hear(self) -> None:
        """Receive acknowledgements until the page is closed; other messages are ignored."""
        try:
            while True:
                said = _ANSWER.fullmatch(await self._socket.receive_text())
                if said is not None and said[2] in self._waiting:
                    self._widths[said[2]] = min(max(int(said[1]), WIDTHS[0]), WIDTHS[-1])
                    self._waiting.discard(said[2])
        except (WebSocketDisconnect, RuntimeError, KeyError):  # KeyError: bytes came
            return
