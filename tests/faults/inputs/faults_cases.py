"""Values at the ends of what the fields of an interface can hold, derived from the definition of the interface."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rosidl_runtime_py.utilities import get_message

FEW, MANY = 1_000, 10_000
"""Messages of an array of them without end, where time is short and where it is not."""
LARGE, NUMBERS = 1_000, 100
"""[bytes] of a text and numbers of an array without end, as multiples of that; an array of texts has as many."""
LARGEST = {"float": 3.4028234663852886e38, "double": 1.7976931348623157e308}
"""The largest number of each kind."""
INTEGER = re.compile(r"(u?)int(\d+)")
ARRAY = re.compile(r"(.+)\[(\d+)\]")
SEQUENCE = re.compile(r"sequence<([^,>]+).*>")
TEXT = re.compile(r"w?string")


@dataclass(frozen=True)
class Case:
    """One value in one field."""

    path: tuple[str | int, ...]
    """Names of fields and places in arrays, outermost first."""
    name: str
    value: Any
    senseless: bool
    """Nobody can mean it: no number, a text without end, or control characters. To be refused where it counts."""

    def put(self, message: Any) -> Any:
        """Return a copy of a message with the value in it."""
        changed = copy.deepcopy(message)
        place = changed
        for step in self.path[:-1]:
            place = place[step] if isinstance(step, int) else getattr(place, step)
        last = self.path[-1]
        if isinstance(last, int):
            place[last] = self.value
        else:
            setattr(place, last, self.value)
        return changed

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))} = {self.name}"


def cases(message: Any, many: int, path: tuple[str | int, ...] = ()) -> Iterator[Case]:
    """Yield the cases of every field of a message, those of messages inside it included.

    Args:
        message: what the cases are to be put into. An array of messages in it has at least one, or only its length
            is varied.
        many: messages in an array of them without end.
        path: where the message itself lies.
    """
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        place = (*path, name)
        if array := ARRAY.fullmatch(kind):
            element, length = array[1], int(array[2])
            for label, number, senseless in _extremes(element, many):
                yield Case(place, f"{length} x {label}", [number] * length, senseless)
        elif sequence := SEQUENCE.fullmatch(kind):
            yield from _sequence(place, sequence[1], value, many)
        elif "/" in kind:
            yield from cases(value, many, place)
        else:
            for label, extreme, senseless in _extremes(kind, many):
                yield Case(place, label, extreme, senseless)


def _sequence(place: tuple[str | int, ...], element: str, value: Any, many: int) -> Iterator[Case]:
    yield Case(place, "empty", [], False)
    if "/" in element:
        package, _, name = element.rpartition("/")
        kind = get_message(f"{package.removesuffix('/msg')}/msg/{name}")
        yield Case(place, f"{many} messages", [kind() for _ in range(many)], False)
        for index in range(min(1, len(value))):
            yield from cases(value[index], many, (*place, index))
        return
    for label, extreme, senseless in _extremes(element, many):
        yield Case(place, f"one {label}", [extreme], senseless)
    if TEXT.match(element):
        yield Case(place, f"{many} texts", ["x" * 100] * many, True)
    else:
        number = b"\x00" if element == "octet" else False if element == "boolean" else 0
        yield Case(place, f"{NUMBERS * many} numbers", [number] * (NUMBERS * many), True)


def _extremes(kind: str, many: int) -> Iterator[tuple[str, Any, bool]]:
    """Yield name, value and whether nobody can mean it, for one value of a kind."""
    if kind in LARGEST:
        largest = LARGEST[kind]
        for number in (math.nan, math.inf, -math.inf, 0.0, -1.0, largest, -largest):
            yield f"{number:g}", number, not math.isfinite(number)
    elif integer := INTEGER.fullmatch(kind):
        signed, bits = not integer[1], int(integer[2])
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        for number in sorted({low, -1 if signed else 0, 0, high}):
            yield str(number), number, False
    elif kind == "boolean":
        yield "false", False, False
        yield "true", True, False
    elif kind == "octet":
        yield "0", b"\x00", False
        yield "255", b"\xff", False
    else:
        assert TEXT.match(kind), kind
        yield "empty", "", False
        yield f"{LARGE * many} characters", "open the " * (LARGE * many // 9), True
        yield "control characters", "open\x00the\x1b[2J\n\x9b", True
        yield "emoji", "🤖👨‍👩‍👧", False
