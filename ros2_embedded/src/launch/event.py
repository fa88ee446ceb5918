"""The base of events."""

from __future__ import annotations


class Event:
    """Something that happened in a launch; event handlers react to it."""

    name = "launch.Event"
