"""ros2 topic hz."""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections import deque

from ...node import cli_node
from ...topics import add_measure_arguments, measure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_measure_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Print the rate at which messages arrive."""
    times: deque[float] = deque(maxlen=args.window + 1)
    args.raw = True  # the content does not matter

    def report() -> str:
        listed = list(times)
        gaps = [after - before for before, after in itertools.pairwise(listed)]
        if not gaps:
            return "no new messages\n"
        mean = statistics.fmean(gaps)
        spread = statistics.pstdev(gaps)
        return (
            f"average rate: {1.0 / mean:.3f}\n"
            f"\tmin: {min(gaps):.3f}s max: {max(gaps):.3f}s std dev: {spread:.5f}s window: {len(listed)}\n"
        )

    with cli_node() as node:
        measure(node, args, lambda message, now: times.append(now), report)
    return 0
