"""Images of a twin's cameras over HTTP as MJPEG (successive JPEGs in one response), as network cameras send them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import cv2

from openral_core.types import Image
from openral_robot_bridge.connection_limit import ConnectionLimit, LimitedThreads

BOUNDARY = "picture"
QUALITY = 95
"""Quality of the JPEGs, 0 to 100."""
MAX_READERS = 32
"""Connections that are open together, of all cameras."""
SLOW_S = 10.0
"""[s] after which a reader that takes no image is disconnected."""
PATIENCE_S = 0.5
"""[s] between two checks, by a connection that waits for an image, whether the server is closing."""


class _PictureServer(LimitedThreads, HTTPServer):
    pass


class CameraServer:
    """Serves the newest images at `http://HOST:PORT/NAME.mjpg` for each camera, to MAX_READERS readers together."""

    def __init__(self, host: str, port: int, cameras: Sequence[str]) -> None:
        """Begin to serve.

        Args:
            host: address of this machine.
            port: TCP port; 0: any free one.
            cameras: names of the cameras.

        Raises:
            OSError: the port is taken.
        """
        self._news = threading.Condition()
        self._pictures: dict[str, tuple[int, bytes]] = dict.fromkeys(cameras, (0, b""))
        self._closing = False
        self._host = host
        self._server = _PictureServer((host, port), self._handler())
        address = "{}:{}".format(*self._server.server_address)
        self._server.limit = ConnectionLimit(MAX_READERS, f"cameras at {address}")
        self._thread = threading.Thread(target=self._server.serve_forever, name="cameras", daemon=True)
        self._thread.start()
        self.port = int(self._server.server_address[1])
        """TCP port of the server."""

    def url(self, camera: str) -> str:
        """Return the URL of a camera."""
        return f"http://{self._host}:{self.port}/{camera}.mjpg"

    def show(self, camera: str, image: Image) -> None:
        """Send an image (H, W, 3) uint8 RGB to all readers of a camera."""
        settings = [
            cv2.IMWRITE_JPEG_QUALITY,
            QUALITY,
            cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
            cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
        ]
        _, encoded = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), settings)
        with self._news:
            self._pictures[camera] = self._pictures[camera][0] + 1, encoded.tobytes()
            self._news.notify_all()

    def close(self) -> None:
        """End every connection."""
        with self._news:
            self._closing = True
            self._news.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def _next(self, camera: str, last: int) -> tuple[int, bytes] | None:
        """Wait for an image after number `last`; return its number and its JPEG, or None when the server closes."""
        with self._news:
            while not self._closing and self._pictures[camera][0] <= last:
                self._news.wait(PATIENCE_S)
            return None if self._closing else self._pictures[camera]

    def _handler(self) -> Any:
        server = self

        class PictureRequest(BaseHTTPRequestHandler):
            timeout = SLOW_S

            def do_GET(self) -> None:
                camera = self.path.strip("/").removesuffix(".mjpg")
                if camera not in server._pictures:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={BOUNDARY}")
                self.end_headers()
                number = 0
                try:
                    while (found := server._next(camera, number)) is not None:
                        number, picture = found
                        head = f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\n\r\n"
                        self.wfile.write(head.encode() + picture + b"\r\n")
                except OSError:
                    return  # the reader has disconnected

            def log_message(self, format: str, *args: object) -> None:
                """Log nothing."""

        return PictureRequest
