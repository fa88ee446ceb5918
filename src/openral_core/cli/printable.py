"""Words from files and from other machines as a terminal, or a line of a log, may show them.

Standard library only.
"""

from __future__ import annotations


def printable(text: str) -> str:
    """Return a text with its control characters, which a terminal would obey, written as `\\x1b`."""
    return "".join(sign if sign.isprintable() else _escaped(sign) for sign in text)


def printable_lines(text: str) -> str:
    """Return a text of several lines likewise; its line breaks stay."""
    return "\n".join(printable(line) for line in text.split("\n"))


def one_line(text: str) -> str:
    """Return a text as one line: white space and characters that cannot be printed become single spaces."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape", "backslashreplace").decode("ascii")
