"""Arguments that many verbs of ROS 2 take, and that need not do anything here."""

from __future__ import annotations

import argparse

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
