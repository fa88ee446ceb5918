"""ros2 topic bw."""

from __future__ import annotations

import argparse
import time
from collections import deque

from ...node import cli_node
from ...topics import add_measure_arguments, measure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_measure_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Print how many bytes arrive."""
    arrivals: deque[tuple[float, int]] = deque(maxlen=args.window)
    args.raw = True

    def report() -> str:
        if len(arrivals) < 2:
            return ""
        span = (arrivals[-1][0] if args.use_sim_time else time.monotonic()) - arrivals[0][0]
        if span <= 0.0:  # simulated time stands still
            return ""
        sizes = [size for _, size in arrivals]
        rate, mean = sum(sizes) / span, sum(sizes) / len(sizes)
        sizes_text = f"mean: {_bytes(mean)} min: {_bytes(min(sizes))} max: {_bytes(max(sizes))}"
        return f"{_bytes(rate)}/s from {len(sizes)} messages\n\tMessage size {sizes_text}\n"

    with cli_node() as node:
        measure(node, args, lambda message, now: arrivals.append((now, len(message))), report)
    return 0


def _bytes(count: float) -> str:
    for unit, size in (("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count:.0f} B"
