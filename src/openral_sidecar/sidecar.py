"""The interface of sidecars for the families: open, call, close; servers are supervised and restarted."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from openral_core.errors import SidecarError
from openral_sidecar.connect import ServerRequest
from openral_sidecar.environment.build import ensure_environment
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.identity import Identity
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.supervisor import Supervisor

__all__ = ["Identity", "Sidecar", "SidecarSettings"]


class Sidecar:
    """A supervised server of one checkpoint, made by `open`; it is a context manager, and threads may share it."""

    def __init__(self, request: ServerRequest) -> None:
        self._request = request
        self._supervisor = Supervisor(request)

    @classmethod
    def open(
        cls,
        spec: SidecarSpec,
        arguments: Sequence[str],
        identity: Identity,
        settings: SidecarSettings | None = None,
        *,
        progress: Callable[[str], None] | None = None,
    ) -> Sidecar:
        """Build the environment if it is missing, find or start the server, and wait until its model is loaded.

        Args:
            spec: of the sidecar.
            arguments: arguments of the server's family; a running server fits if these and `identity` are equal.
            identity: the model that the server must serve.
            settings: addresses and timeouts; None: the defaults.
            progress: called with one line for each step while the environment is built.

        Raises:
            IdentityMismatch: another model is served at the port.
            SidecarDown: the server ended while it loaded, or there is none and none may be started.
            SidecarTimeout: the server was not ready in time.
            SidecarError: the environment could not be built, or another program uses the port.
        """
        settings = settings or SidecarSettings()
        spec = spec.with_source(settings.source)
        python = settings.python or ensure_environment(spec, progress=progress)
        sidecar = cls(ServerRequest(spec, python, tuple(arguments), identity, settings))
        try:
            sidecar._begin()
        except BaseException:
            sidecar.close()
            raise
        return sidecar

    def call(
        self, op: str, data: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """Call an operation of the server, and return its answer.

        Args:
            op: name of the operation.
            data: its input.
            timeout_s: [s] deadline; None: the settings' `call_timeout_s`.

        Raises:
            SidecarTimeout: the deadline passed. If the server then does not answer a ping, it is restarted; so is one
                that this process started and that works on a request for over ten times the longest deadline.
            SidecarDown: the server ended, is being restarted, or has a final fault.
            SidecarRefused: the server refused.
            WireError: the input cannot be encoded, or the answer is malformed.
        """
        limit = self._request.settings.call_timeout_s if timeout_s is None else timeout_s
        with self._supervisor.calling(limit) as server:
            return server.client.call(op, data, timeout_s=limit, lost=lambda: self._supervisor.lost(server))

    @property
    def description(self) -> dict[str, Any]:
        """Description that the server gave when it was ready."""
        return self._supervisor.description

    @property
    def starts(self) -> int:
        """Number of servers so far: 1, and one more after each restart, whose first answer is slow again."""
        return self._supervisor.starts

    @property
    def fault(self) -> str | None:
        """Reason of a final fault after the last restart; None: there is none."""
        return self._supervisor.fault

    @property
    def down(self) -> str | None:
        """Reason why calls fail at present; None: they do not."""
        return None if self._supervisor.server is not None else self.fault or self._supervisor.down

    @property
    def pid(self) -> int | None:
        """Id of the server's process, if this object started it; else None."""
        server = self._supervisor.server
        return server.process.pid if server is not None and server.process is not None else None

    def close(self) -> None:
        """End the server and all that it started; a server that was running before is left running."""
        _open.discard(self)
        if self._supervisor.ident is not None:
            self._supervisor.close()

    def __enter__(self) -> Sidecar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self) -> None:
        _open.add(self)
        self._supervisor.start()
        self._supervisor.settled.wait()
        refusal = self._supervisor.refusal
        if isinstance(refusal, SidecarError):
            raise refusal
        if refusal is not None:
            raise SidecarError(f"{self._request.name}: {refusal}; fix that, then try again") from refusal


_open: weakref.WeakSet[Sidecar] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """End the servers that were not closed, before this process ends and their guards kill them."""
    for sidecar in list(_open):
        sidecar.close()
