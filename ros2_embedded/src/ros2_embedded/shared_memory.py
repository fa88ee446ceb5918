"""Places large messages in shared memory, from which processes of the same machine read them.

Zenoh does so by itself while its memory lasts, and sends the others through the socket, which takes many
times as long. A reliable stream then gets slower when its receiver falls behind. Here such a publisher waits
for a short time until the receiver has freed memory. This also saves a copy.
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import zenoh
from zenoh import shm

LEAST_BYTES = 32 << 10
POOL_BYTES = 16 << 20  # size of Zenoh's own pool
_STEP_S = 0.0002  # a fraction of the transport time of an image
# [s] A peer may keep its queued messages for any time; after this one the socket is used.
LONGEST_WAIT_S = 0.05


class SharedMemory:
    """The shared memory of one session, allocated when the first large message is sent."""

    def __init__(self, config: zenoh.Config) -> None:
        """Read `transport/shared_memory/enabled` of the session's configuration; allocate nothing yet."""
        self._enabled = bool(json.loads(config.get_json("transport/shared_memory/enabled")))
        self._lock = threading.RLock()  # a signal may interrupt who holds it
        self._provider: shm.ShmProvider | None = None
        self._policy = shm.GarbageCollect()

    def _open(self) -> shm.ShmProvider | None:
        """Return the provider; None: the system offers no shared memory."""
        with self._lock:
            if self._provider is None and self._enabled:
                try:
                    self._provider = shm.ShmProvider.default_backend(POOL_BYTES)
                except zenoh.ZError:
                    self._enabled = False
            return self._provider

    def place(self, payload: Any, wait: bool) -> Any:
        """Return a copy of a payload in shared memory, or the payload itself where that is not possible.

        Args:
            payload: `bytes` or `bytearray`.
            wait: whether to wait up to `LONGEST_WAIT_S` for free memory.
        """
        if not LEAST_BYTES <= len(payload) <= POOL_BYTES // 2:
            return payload
        provider = self._provider or self._open()
        end = time.monotonic() + LONGEST_WAIT_S
        while provider is not None:
            try:
                buffer = provider.alloc(len(payload), policy=self._policy)
            except zenoh.ZError:  # no memory is free
                if not wait or time.monotonic() > end:
                    return payload
                time.sleep(_STEP_S)
                continue
            buffer[:] = payload
            return buffer
        return payload
