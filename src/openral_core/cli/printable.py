"""Words from files and from other machines as a terminal, or a line of a log, may show them.

Standard library only.
"""

from __future__ import annotations

MAX_LINE = 300
"""Characters of a text of other origin that are repeated."""
MAX_SHOWN = 4000
"""Characters of the reasoner's own texts, which may list all that it can do."""


def printable(text: str) -> str:
    """Return a text with its control characters, which a terminal would obey, written as `\\x1b`."""
    return "".join(sign if sign.isprintable() else _escaped(sign) for sign in text)


def printable_lines(text: str) -> str:
    """Return a text of several lines likewise; its line breaks stay."""
    return "\n".join(printable(line) for line in text.split("\n"))


def one_line(text: str) -> str:
    """Return a text as one line: white space and characters that cannot be printed become single spaces."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def plain_line(text: str, limit: int = MAX_LINE) -> str:
    """Return a text as one printable line of at most `limit` characters; what was cut is shown by " …"."""
    head = text[: 4 * limit]
    line = one_line(head)
    return line if len(line) <= limit and len(head) == len(text) else f"{line[: limit - 2]} …"


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape", "backslashreplace").decode("ascii")
