"""Places big messages in shared memory, where processes of the same machine read them.

Zenoh does so by itself while its memory lasts, and sends what does not fit through the socket, which takes
many times as long. A stream that must not lose anything then gets slower just when its receiver falls
behind. Here such a publisher waits a little until the receiver has let something go. One copy is saved too.
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import zenoh
from zenoh import shm

LEAST_BYTES = 32 << 10
POOL_BYTES = 16 << 20  # as much as Zenoh's own
_STEP_S = 0.0002  # a fraction of the time an image takes on its way
# A peer may hold what it has queued for as long as it likes; then the socket must do.
LONGEST_WAIT_S = 0.05


class SharedMemory:
    """The shared memory of one session; taken from the system when the first big message is sent."""

    def __init__(self, config: zenoh.Config) -> None:
        """Obey `transport/shared_memory/enabled` of the session's configuration."""
        self._enabled = bool(json.loads(config.get_json("transport/shared_memory/enabled")))
        self._lock = threading.Lock()
        self._provider: shm.ShmProvider | None = None
        self._policy = shm.GarbageCollect()

    def _open(self) -> shm.ShmProvider | None:
        """The provider; None where the system has no memory to share."""
        with self._lock:
            if self._provider is None and self._enabled:
                try:
                    self._provider = shm.ShmProvider.default_backend(POOL_BYTES)
                except zenoh.ZError:
                    self._enabled = False
            return self._provider

    def place(self, payload: Any, wait: bool) -> Any:
        """Return what to put in place of a payload: a copy in shared memory, or the payload itself.

        Args:
            payload: `bytes` or `bytearray`.
            wait: wait up to `LONGEST_WAIT_S` for memory to become free.
        """
        if not LEAST_BYTES <= len(payload) <= POOL_BYTES // 2:
            return payload
        provider = self._provider or self._open()
        end = time.monotonic() + LONGEST_WAIT_S
        while provider is not None:
            try:
                buffer = provider.alloc(len(payload), policy=self._policy)
            except zenoh.ZError:  # all of it is in use
                if not wait or time.monotonic() > end:
                    return payload
                time.sleep(_STEP_S)
                continue
            buffer[:] = payload
            return buffer
        return payload
