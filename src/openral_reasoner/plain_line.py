"""Text of other origin as one printable line, of bounded length for logs, the mission record, and terminals."""

from __future__ import annotations

from openral_core.cli.printable import one_line

MAX_LINE = 300
"""Characters of a text of other origin that are repeated."""
MAX_SHOWN = 4000
"""Characters of the reasoner's own texts, which may list all that it can do."""


def plain_line(text: str, limit: int = MAX_LINE) -> str:
    """Return a text as one printable line of at most `limit` characters; what was cut is shown by " …"."""
    head = text[: 4 * limit]
    line = one_line(head)
    return line if len(line) <= limit and len(head) == len(text) else f"{line[: limit - 2]} …"
