"""The thread that supervises a server: starts it, detects its end or hang, restarts it, and finally gives up."""

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
"""[s] between two checks of the process."""
PING_SHARE = 0.8
"""Timeout of a ping, as a share of the latency budget: with the call before it, it stays below two budgets."""
LEAST_PING_S = 0.25
"""[s] least timeout of a ping, for busy machines."""
STUCK_SHARE = 10.0
"""Time that a server may work on one request, as a multiple of the longest deadline of a call to it."""
LEAST_STUCK_S = 60.0
"""[s] least such time, as a first call may compile its model."""
FORGIVEN_S = 600.0
"""[s] for which a server must have run without a fault for earlier restarts to count no longer."""
_log = logging.getLogger(__name__)


class Supervisor(threading.Thread):
    """Supervises one server.

    This thread starts the server itself, because on Linux a server ends with the thread that started it.

    Attributes:
        settled: set when the first start succeeded or failed.
        refusal: reason why the first start failed; None: it did not.
        server: the running server; None: calls fail at present, for the reason in `down`.
        description: that the newest server gave of itself.
        starts: number of servers so far, of which the newest one answers; the first answer of each is slow.
        fault: reason of a final fault after the last restart; None: there is none.
    """

    def __init__(self, request: ServerRequest) -> None:
        super().__init__(name=f"sidecar-{request.spec.name}", daemon=True)
        self.settled = threading.Event()
        self.refusal: Exception | None = None
        self.server: RunningServer | None = None
        self.description: dict[str, Any] = {}
        self.starts = 0
        self.down = "not started"
        self.fault: str | None = None
        self._request = request
        self._closing = threading.Event()
        self._roused = threading.Event()
        self._lock = threading.Lock()
        self._calls = 0
        self._longest_s = request.settings.call_timeout_s
        self._heard = 0.0
        self._suspect = False

    def run(self) -> None:
        """Supervise the server until `close`, or until the last restart has failed."""
        try:
            self._keep()
        except Exception as error:  # noqa: BLE001  a bug must not leave callers with a server that nobody watches
            _log.exception("%s: its supervision failed", self._request.name)
            self.fault = f"its supervision failed: {type(error).__name__}: {error}; open it again"
            self.refusal = SidecarError(f"{self._request.name}: {self.fault}")
        finally:
            self.server = None
            self.settled.set()

    def close(self) -> None:
        """End the thread, and the server if it started it."""
        self._closing.set()
        self._roused.set()
        self.join()

    def lost(self, server: RunningServer) -> str | None:
        """Return why no answer can come any more from `server`; None: one can."""
        if self._closing.is_set():
            return f"{self._request.name}: closed"
        if self.server is not server:  # it hangs, and is not ended before its calls have
            return f"{self._request.name}: {self.fault or self.down}"
        return server.exit_reason()

    @contextlib.contextmanager
    def calling(self, timeout_s: float) -> Iterator[RunningServer]:
        """Provide the server for one call, and have it pinged if the call had no answer.

        Args:
            timeout_s: [s] deadline of the call.

        Raises:
            SidecarDown: there is no server at present.
        """
        server = self.server
        if server is None:
            raise SidecarDown(f"{self._request.name}: {self.fault or self.down}")
        with self._lock:
            self._calls += 1
            self._longest_s = max(self._longest_s, timeout_s)
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
            try:
                server = connect(self._request, self._closing.is_set)
            except (SidecarError, OSError) as error:
                if not self.settled.is_set():
                    self.refusal = error
                    return
                why: str | None = str(error)
            else:
                began = time.monotonic()  # not before: a start may take longer than what is forgiven
                why = self._attend(server)
                self.down = why or "it was closed"  # before `server`, so that no call reports an older reason
                self.server = None
                server.end(at_once=why is not None)
                if time.monotonic() - began > FORGIVEN_S:
                    restarts = 0
            if why is None or self._closing.is_set():
                return
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
        """Watch the server, and return the reason of its loss; None: it is to be closed."""
        limit = self._request.settings.call_timeout_s
        patience = max(PING_SHARE * limit, LEAST_PING_S)
        pinger = SidecarClient(server.client.endpoint, token=server.token, dialect=self._request.spec.dialect)
        self._heard, self._suspect = time.monotonic(), False
        self.starts += 1  # before `server`, so that no call to it is taken for one to the server before
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
        """Return why the server must be restarted; None: it answered, or has ended, which `_attend` detects."""
        try:
            answer = pinger.call("ping", timeout_s=patience_s, lost=lambda: self.lost(server))
        except SidecarTimeout:
            return f"it hangs: no answer to a ping within {patience_s:.2g} s"
        except (SidecarDown, SidecarRefused):
            return None
        except SidecarError as error:
            return f"it answers nonsense: {error}"
        busy_s = answer.get("busy_s")  # which only openral's own servers tell
        longest_s = max(STUCK_SHARE * self._longest_s, LEAST_STUCK_S)
        # One that somebody else started is left alone: the request may be another client's, with a longer deadline.
        if server.process is not None and isinstance(busy_s, float) and busy_s > longest_s:
            return f"it hangs: it has worked on one request for {busy_s:.0f} s"
        self._heard = time.monotonic()
        return None
