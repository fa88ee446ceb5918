"""OpenGL contexts that renderers have left, for those that are made later in the same thread.

Mesa's CPU rasteriser translates its shaders anew for every context: a third of a second of CPU time for MetaWorld's
textures, as much as fifty pictures of 96 px. Only EGL's contexts are kept: OSMesa's have a buffer of one size.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from typing import Any

KEPT = 2
"""Contexts that a thread keeps: those of a world and of its film."""


class UsedContexts(threading.local):
    """The contexts that renderers of this thread have left."""

    def __init__(self) -> None:
        """Keep none yet."""
        self._contexts: list[Any] = []

    def exchange(self, made: Any) -> Any:
        """Return the context that was left last, and free the new one; without one, return the new one."""
        if made is None or not self._contexts:
            return made
        made.free()
        return self._contexts.pop()

    def leave(self, context: Any) -> bool:
        """Keep a context whose objects were all deleted; return False where it has to be freed instead."""
        if type(context).__module__ != "mujoco.egl" or len(self._contexts) >= KEPT:
            return False
        if not _left:
            atexit.register(_free_all)  # it runs before what MuJoCo registered earlier, which ends EGL
        _left.add(context)
        self._contexts.append(context)
        return True


USED = UsedContexts()
_left: weakref.WeakSet[Any] = weakref.WeakSet()
"""Those that all threads keep, or use again."""


def _free_all() -> None:
    for context in _left:
        context.free()
