"""Arguments that many verbs take: numbers, and what need not do anything here."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from .errors import CliError

GRAPH_COMMANDS = ("action", "component", "lifecycle", "node", "param", "service", "topic")

_COMMON = (
    (("--spin-time",), {"type": float, "metavar": "S"}),
    (("--no-daemon",), {"action": "store_true"}),
    (("-s", "--use-sim-time"), {"action": "store_true"}),
    (("--include-hidden-nodes",), {"action": "store_true"}),
)


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what a verb does not take itself; without a daemon, verbs look for as long as they need."""
    group = parser.add_argument_group("accepted for ROS 2's sake, without effect")
    for flags, options in _COMMON:
        free = [flag for flag in flags if flag not in parser._option_string_actions]
        if flags[-1] in free:
            group.add_argument(*free, **options)


def positive(what: str) -> Callable[[str], float]:
    """Return what reads a finite number greater than zero for `argparse`; others are a wrong `what`."""
    return _reader(what, "greater than zero", lambda number: number > 0.0)


def not_negative(what: str) -> Callable[[str], float]:
    """Return what reads a finite number of at least zero, as `positive` does."""
    return _reader(what, "at least zero", lambda number: number >= 0.0)


def finite(what: str) -> Callable[[str], float]:
    """Return what reads a finite number, as `positive` does."""
    return _reader(what, "finite", lambda number: True)


def _reader(what: str, rule: str, holds: Callable[[float], bool]) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and holds(value)):
            raise CliError(f"{what} {text} must be a number, {rule}")
        return value

    return number


def whole(what: str, least: int) -> Callable[[str], int]:
    """Return what reads a whole number of at least `least`, as `positive` does."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise CliError(f"{what} {text} must be a whole number, at least {least}")
        return int(text)

    return number
