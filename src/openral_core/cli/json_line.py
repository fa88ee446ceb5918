"""One line of JSON for programs. Standard library only."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any


def json_line(values: Any) -> str:
    """Return plain values as a line of JSON; a number that is not finite, for which JSON has no word, as null."""
    return json.dumps(_finite(values), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(each) for each in value]
    return value
