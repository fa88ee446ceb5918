"""The event of impatience."""

from __future__ import annotations

from ..event import Event


class HurryShutdown(Event):
    """The launch shuts down already, and is asked to do so faster: each process gets its next signal now."""

    name = "launch.events.HurryShutdown"
