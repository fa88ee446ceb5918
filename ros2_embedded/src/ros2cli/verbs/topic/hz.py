"""ros2 topic hz."""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections import deque
from typing import Any

from ...message_text import passes
from ...node import cli_node
from ...topics import add_measure_arguments, measure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_measure_arguments(parser)
    parser.add_argument(
        "--filter", metavar="EXPR", help="count messages for which this Python expression of 'm' is true"
    )
    parser.add_argument(
        "--wall-time", action="store_true", help="measure by the wall clock, whatever --use-sim-time says"
    )


def main(args: argparse.Namespace) -> int:
    """Print the rate at which messages arrive."""
    times: deque[float] = deque(maxlen=args.window + 1)
    args.raw = args.filter is None  # else the content does not matter

    is_new = False  # what came since the last report: a topic that fell silent has no rate

    def take(message: Any, now: float) -> None:
        nonlocal is_new
        if args.filter is None or passes(message, args.filter):
            times.append(now)
            is_new = True

    def report() -> str:
        nonlocal is_new
        if not is_new:
            return ""
        is_new = False
        listed = list(times)
        gaps = [after - before for before, after in itertools.pairwise(listed)]
        if not gaps:
            return ""
        mean = statistics.fmean(gaps)
        if mean <= 0.0:  # simulated time stands still
            return ""
        spread = statistics.pstdev(gaps)
        return (
            f"average rate: {1.0 / mean:.3f}\n"
            f"\tmin: {min(gaps):.3f}s max: {max(gaps):.3f}s std dev: {spread:.5f}s window: {len(listed)}\n"
        )

    with cli_node() as node:
        measure(node, args, take, report)
    return 0
