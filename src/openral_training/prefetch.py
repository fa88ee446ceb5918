"""Prefetching: the next batch of a training run is made in a thread while the network is trained on the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Made = TypeVar("Made")


def made_ahead(make: Callable[[int], Made], steps: range) -> Iterator[tuple[int, Made]]:
    """Yield each step with the result of `make` for it, while the result for the next step is computed in a thread.

    Args:
        make: is called with each step in order, never concurrently.
        steps: of the run.
    """
    with ThreadPoolExecutor(1) as thread:
        waiting = [(step, thread.submit(make, step)) for step in steps[:1]]
        for step in steps:
            following = step + steps.step
            made = waiting.pop()[1].result()
            if following in steps:
                waiting.append((following, thread.submit(make, following)))
            yield step, made
