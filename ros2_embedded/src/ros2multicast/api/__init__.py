"""UDP multicast, to try whether a network lets it through."""

from __future__ import annotations

from ros2cli.multicast import DEFAULT_GROUP, DEFAULT_PORT, receive, send

__all__ = ["DEFAULT_GROUP", "DEFAULT_PORT", "receive", "send"]
