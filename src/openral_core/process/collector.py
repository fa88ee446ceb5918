"""Python's garbage collector kept away from imported modules.

Modules stay until the process ends. Those of torch are half a million objects, at which the collector looks while they
are made, in every full collection afterwards, and when the interpreter ends: a third of the CPU time of a command
that imports torch, and a pause in a node that controls something.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected_imports() -> Iterator[None]:
    """Collect nothing within the block, and look no more at what exists at its end if it imported something.

    The block should import only: garbage in cycles that exists at its end is never freed.
    """
    was_enabled, modules = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > modules:
            gc.freeze()
        if was_enabled:
            gc.enable()


def end_uncollected() -> None:
    """Let the interpreter end without a collection, after the functions that are registered to run at its end.

    For main functions whose program closes by itself what has to be closed.
    """
    atexit.register(gc.freeze)
