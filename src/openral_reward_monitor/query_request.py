"""What may be asked of the monitor: the fields of a QueryTaskProgress request, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass

from openral_core.errors import ContractError
from openral_core.message_field_checks import MAX_NAME, MAX_WORDS, text_field

MAX_WINDOW_S = 3600.0
"""[s] farthest look back."""


@dataclass(frozen=True)
class QueryRequest:
    """A request that can be answered."""

    window_s: float
    """[s] to look back, at most MAX_WINDOW_S; 0: the whole attempt."""
    task: str
    """Words to score against, without blanks around them; empty: those of the running goal."""
    camera: str
    """Name; empty: the camera that is watched."""
    fresh: bool
    """Score the newest frame first."""


def parse_query(window_s: float, task: str, camera: str, fresh: bool) -> QueryRequest:
    """Check the fields of a request; their meaning is that of `QueryTaskProgress.srv`.

    Args:
        window_s: [s]; <= 0: the whole attempt.
        task: at most MAX_WORDS characters, blanks around them not counted.
        camera: at most MAX_NAME characters.
        fresh: as it is.

    Raises:
        ContractError: a field is not what it can be; the text names the field and what to send.
    """
    if not math.isfinite(window_s) or window_s > MAX_WINDOW_S:
        raise ContractError(
            f"window_s is {window_s:g}; send at most {MAX_WINDOW_S:g} s, or 0 for the whole attempt"
        )
    return QueryRequest(
        window_s=max(0.0, window_s),
        task=text_field("task", task.strip(), MAX_WORDS),
        camera=text_field("camera", camera, MAX_NAME),
        fresh=fresh,
    )
