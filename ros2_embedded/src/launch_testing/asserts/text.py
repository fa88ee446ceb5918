"""The text that a process wrote, and where something stands in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Expected = str | re.Pattern[str] | Sequence[Any]
"""A text, a regular expression, or several of them that follow each other."""
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")


def text_of(
    events: Iterable[Any],
    stream: str,
    strip_ansi_escape_sequences: bool = True,
    output_filter: Callable[[str], str] | None = None,
) -> str:
    """What one process wrote to a stream, `stdout` or `stderr`.

    Raises:
        ValueError: another stream.
    """
    if stream not in ("stdout", "stderr"):
        raise ValueError(f"'{stream}' is no stream of output; use stdout or stderr")
    written = b"".join(event.text for event in events if getattr(event, f"from_{stream}"))
    text = written.decode(errors="replace").replace("\r\n", "\n")
    if strip_ansi_escape_sequences:
        text = _ANSI.sub("", text)
    return text if output_filter is None else output_filter(text)


def ends_at(expected: Expected, text: str, start: int = 0) -> int | None:
    """The position behind what is expected, looked for from `start` on; None where it is not there.

    Raises:
        TypeError: something is expected that is neither a text nor a regular expression nor a list of them.
    """
    if isinstance(expected, str):
        place = text.find(expected, start)
        return None if place < 0 else place + len(expected)
    if isinstance(expected, re.Pattern):
        found = expected.search(text, start)
        return None if found is None else found.end()
    if not isinstance(expected, Iterable):
        raise TypeError(f"{expected!r} is neither a text nor a regular expression nor a list of them")
    position = start
    for part in expected:
        end = ends_at(part, text, position)
        if end is None:
            return None
        position = end
    return position
