"""Which names tools leave out of their lists."""

from __future__ import annotations

HIDDEN_TOPIC_PREFIX = "_"
TOPIC_SEPARATOR_STRING = "/"


def topic_or_service_is_hidden(name: str) -> bool:
    """True when a part of a topic or service name starts with an underscore."""
    return any(part.startswith(HIDDEN_TOPIC_PREFIX) for part in name.split(TOPIC_SEPARATOR_STRING))
