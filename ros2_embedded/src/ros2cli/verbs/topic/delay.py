"""ros2 topic delay."""

from __future__ import annotations

import argparse
import statistics
from collections import deque
from typing import Any

from ...errors import CliError
from ...node import cli_node
from ...topics import add_measure_arguments, measure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_measure_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Print how old messages are when they arrive, by the stamp in their header."""
    delays: deque[float] = deque(maxlen=args.window)
    args.raw = False

    is_new = False  # what came since the last report

    def report() -> str:
        nonlocal is_new
        if not is_new:
            return ""
        is_new = False
        mean, spread = statistics.fmean(delays), statistics.pstdev(delays)
        return (
            f"average delay: {mean:.3f}\n"
            f"\tmin: {min(delays):.3f}s max: {max(delays):.3f}s "
            f"std dev: {spread:.5f}s window: {len(delays)}\n"
        )

    with cli_node() as node:

        def take(message: Any, now: float) -> None:
            nonlocal is_new
            if not hasattr(message, "header"):
                raise CliError(f"messages of '{args.topic}' have no header, hence no stamp to compare with")
            stamp = message.header.stamp
            delays.append(node.get_clock().now().nanoseconds * 1e-9 - (stamp.sec + stamp.nanosec * 1e-9))
            is_new = True

        measure(node, args, take, report)
    return 0
