"""Checks of the fields of a QueryTaskProgress request."""

from __future__ import annotations

import math
from dataclasses import dataclass

from openral_core.errors import ContractError
from openral_core.message_field_checks import MAX_WORDS, text_field

MAX_WINDOW_S = 3600.0
"""[s] longest window of a request."""


@dataclass(frozen=True)
class QueryRequest:
    """A request whose fields are valid."""

    window_s: float
    """[s] before the newest frame, at most MAX_WINDOW_S; 0: the whole attempt."""
    task: str
    """Task to score, without blanks around it; empty: the instruction of the running goal."""
    camera: str
    """Name of the camera, or of cameras that are seen together; empty: the view that is scored continuously."""
    fresh: bool
    """Whether the newest frames are scored for this request; else a newest reading is enough."""


def parse_query(window_s: float, task: str, camera: str, fresh: bool) -> QueryRequest:
    """Check the fields of a request; their meaning is that of `QueryTaskProgress.srv`.

    Args:
        window_s: [s]; <= 0: the whole attempt.
        task: at most MAX_WORDS characters, blanks around them not counted.
        camera: at most MAX_WORDS characters.
        fresh: any value.

    Raises:
        ContractError: a field is invalid; the text names it and its valid values.
    """
    if not math.isfinite(window_s) or window_s > MAX_WINDOW_S:
        raise ContractError(
            f"window_s is {window_s:g}; send at most {MAX_WINDOW_S:g} s, or 0 for the whole attempt"
        )
    return QueryRequest(
        window_s=max(0.0, window_s),
        task=text_field("task", task.strip(), MAX_WORDS),
        camera=text_field("camera", camera, MAX_WORDS),
        fresh=fresh,
    )
