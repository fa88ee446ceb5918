"""Comparison of the settings of an existing run or collection with those of the one that is to continue it.

It uses the standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_LONGEST = 60
"""Characters of one value in a message."""
_MOST = 3
"""Settings that a message names."""


def settings_difference(noted: object, wanted: object) -> str:
    """Return the settings that differ, such as `actor.seed (1 there, 5 here)`, digests by name alone; empty: none does.

    Args:
        noted: what is there, as plain values of JSON or YAML.
        wanted: likewise, of what is to go on with it.
    """
    found = list(_differences(noted, wanted, ""))
    return ", ".join(found[:_MOST]) + (f" and {len(found) - _MOST} more" if found[_MOST:] else "")


def _differences(noted: object, wanted: object, key: str) -> Iterator[str]:
    if isinstance(noted, Mapping) and isinstance(wanted, Mapping):
        for name in dict.fromkeys((*noted, *wanted)):
            yield from _differences(noted.get(name), wanted.get(name), f"{key}.{name}" if key else str(name))
    elif noted != wanted and _is_digest(wanted):
        yield key
    elif noted != wanted:
        yield f"{key or 'settings'} ({_shown(noted)} there, {_shown(wanted)} here)"


def _shown(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None
