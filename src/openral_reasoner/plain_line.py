"""Words from elsewhere as one printable line of bounded length, for logs, the mission record, and terminals."""

from __future__ import annotations

MAX_LINE = 300
"""Characters of somebody else's words that are repeated."""
MAX_SHOWN = 4000
"""Characters of what the reasoner itself says, which may list all that it can do."""


def plain_line(text: str, limit: int = MAX_LINE) -> str:
    """Return a text as one printable line of at most `limit` characters; what was cut is shown by " …"."""
    head = text[: 4 * limit]
    line = " ".join("".join(c if c.isprintable() else " " for c in head).split())
    return line if len(line) <= limit and len(head) == len(text) else f"{line[: limit - 2]} …"
