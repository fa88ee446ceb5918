"""The next batch of a training run is made while the network learns from the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Made = TypeVar("Made")


def made_ahead(make: Callable[[int], Made], steps: range) -> Iterator[tuple[int, Made]]:
    """Yield each step with what `make` returns for it; that of the next step is made in a thread meanwhile.

    Args:
        make: called for one step after the other, never for two at once.
        steps: in order.
    """
    with ThreadPoolExecutor(1) as thread:
        waiting = [(step, thread.submit(make, step)) for step in steps[:1]]
        for step in steps:
            following = step + steps.step
            made = waiting.pop()[1].result()
            if following in steps:
                waiting.append((following, thread.submit(make, following)))
            yield step, made
