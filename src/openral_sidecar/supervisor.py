"""The thread that keeps a server: starts it, notices its end or its silence, restarts it, and gives up in the end."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

from openral_core.errors import SidecarError
from openral_sidecar.client import SidecarClient
from openral_sidecar.connect import RunningServer, ServerRequest, connect
from openral_sidecar.errors import SidecarDown, SidecarRefused, SidecarTimeout

LOOK_S = 0.1
"""How often it looks at the process."""
PING_SHARE = 0.8
"""Of the latency budget, for the ping after a call without answer: both together stay below two budgets."""
LEAST_PING_S = 0.25
"""A busy machine may need this long for a ping."""
FORGIVEN_S = 600.0
"""After this long in good health earlier restarts no longer count."""
_log = logging.getLogger(__name__)


class Supervisor(threading.Thread):
    """Keeps one server.

    All servers are started by this thread, because on Linux a server ends with the thread that started it.

    Attributes:
        settled: set when the first start succeeded or failed.
        refusal: why the first start failed; None: it did not.
        server: None: calls fail just now, `down` says why.
        description: what the newest server said of itself.
        fault: why calls fail for good, after the last restart; None: they do not.
    """

    def __init__(self, request: ServerRequest) -> None:
        super().__init__(name=f"sidecar-{request.spec.name}", daemon=True)
        self.settled = threading.Event()
        self.refusal: Exception | None = None
        self.server: RunningServer | None = None
        self.description: dict[str, Any] = {}
        self.down = "not started"
        self.fault: str | None = None
        self._request = request
        self._closing = threading.Event()
        self._roused = threading.Event()
        self._lock = threading.Lock()
        self._calls = 0
        self._heard = 0.0
        self._suspect = False

    def run(self) -> None:
        """Keep the server until `close`, or until the last restart has failed."""
        try:
            self._keep()
        finally:
            self.server = None
            self.settled.set()

    def close(self) -> None:
        """End the server if we started it, and the thread."""
        self._closing.set()
        self._roused.set()
        self.join()

    def lost(self, server: RunningServer) -> str | None:
        """Say why no answer can come any more from `server`; None while it can."""
        return f"{self._request.name}: closed" if self._closing.is_set() else server.exit_reason()

    @contextlib.contextmanager
    def calling(self) -> Iterator[RunningServer]:
        """Lend the server for one call, and look after it when the call had no answer."""
        server = self.server
        if server is None:
            raise SidecarDown(f"{self._request.name}: {self.fault or self.down}")
        with self._lock:
            self._calls += 1
        try:
            yield server
            self._heard = time.monotonic()
        except SidecarTimeout:
            self._suspect = True
            self._roused.set()
            raise
        finally:
            with self._lock:
                self._calls -= 1

    def _keep(self) -> None:
        pauses = self._request.settings.restart_pauses_s
        restarts = 0
        while True:
            began = time.monotonic()
            try:
                server = connect(self._request, self._closing.is_set)
            except (SidecarError, OSError) as error:
                if not self.settled.is_set():
                    self.refusal = error
                    return
                why: str | None = str(error)
            else:
                why = self._attend(server)
                self.down = why or "it was closed"  # first, so that nobody is told an older reason
                self.server = None
                server.end(at_once=why is not None)
            if why is None or self._closing.is_set():
                return
            if time.monotonic() - began > FORGIVEN_S:
                restarts = 0
            if restarts == len(pauses):
                self.fault = f"given up after {restarts} restarts; {why}"
                _log.error("%s: %s", self._request.name, self.fault)
                return
            self.down = f"restart {restarts + 1} of {len(pauses)} is under way; {why}"
            _log.warning("%s: %s", self._request.name, self.down)
            if self._closing.wait(pauses[restarts]):
                return
            restarts += 1

    def _attend(self, server: RunningServer) -> str | None:
        """Return why the server is lost; None: we are to close."""
        limit = self._request.settings.call_timeout_s
        patience = max(PING_SHARE * limit, LEAST_PING_S)
        pinger = SidecarClient(server.client.endpoint, token=server.token, dialect=self._request.spec.dialect)
        self._heard, self._suspect = time.monotonic(), False
        self.server, self.description = server, server.description
        self.settled.set()
        try:
            while not self._closing.is_set():
                self._roused.wait(LOOK_S)
                self._roused.clear()
                if (exit_reason := server.exit_reason()) is not None:
                    return exit_reason
                idle = not self._calls and time.monotonic() - self._heard > limit
                if self._suspect or idle:
                    self._suspect = False
                    if (trouble := self._ping(pinger, server, patience)) is not None:
                        return trouble
            return None
        finally:
            pinger.close()

    def _ping(self, pinger: SidecarClient, server: RunningServer, patience_s: float) -> str | None:
        """Return why the server must be given up; None: it answered, or has ended, which is seen elsewhere."""
        try:
            pinger.call("ping", timeout_s=patience_s, lost=lambda: self.lost(server))
        except SidecarTimeout:
            return f"it hangs: no answer to a ping within {patience_s:.2g} s"
        except (SidecarDown, SidecarRefused):
            return None
        except SidecarError as error:
            return f"it answers nonsense: {error}"
        self._heard = time.monotonic()
        return None
