"""The modules of `rosidl_generator_py`: each interface has one, `std_msgs.msg._string` for `String`."""

from __future__ import annotations

import re
from functools import cache

_SERVICE_PARTS = ("_Request", "_Response", "_Event")
_ACTION_PARTS = ("_Goal", "_Result", "_Feedback", "_FeedbackMessage", "_SendGoal", "_GetResult")
_PARTS = {
    "msg": (),
    "srv": _SERVICE_PARTS,
    "action": (
        *_ACTION_PARTS,
        *(f"{service}{part}" for service in ("_SendGoal", "_GetResult") for part in _SERVICE_PARTS),
    ),
}


@cache
def snake_case(name: str) -> str:
    """Return a name in snake case (`LaserScan` as `laser_scan`), by the rule of `rosidl_pycommon`."""
    words = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).lower()


def parts_of(short: str, kind: str) -> list[str]:
    """Return the names in the module of an interface: its own, and those of its derived types."""
    return [short, *(f"{short}{part}" for part in _PARTS[kind])]


def module_of(name: str) -> str:
    """Return the module of a type by full name; `pkg/action/X_SendGoal_Request` is in that of `X`."""
    package, kind, short = name.split("/")
    for part in sorted(_PARTS[kind], key=len, reverse=True):
        if short.endswith(part):
            short = short.removesuffix(part)
            break
    return f"{package}.{kind}._{snake_case(short)}"
