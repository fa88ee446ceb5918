"""A ROS domain that no other test run on this machine uses at the same time.

    with domain_coordinator.domain_id() as domain:
        context.init(domain_id=domain)

The domain is held by a lock on a file, which the operating system gives back when the process ends, however
it ends. The name and the use are those of the ROS 2 package; where that is installed, it comes first.
"""

from __future__ import annotations

import fcntl
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LOWEST, HIGHEST = 20, 231
"""Below 20 people set domains by hand; 232 is the last that ROS 2 knows."""


def default_selector() -> int:
    """Return a domain to try."""
    return random.randint(LOWEST, HIGHEST)


@contextmanager
def domain_id(selector: Callable[[], int] | None = None) -> Iterator[int]:
    """Hold a domain while the context lasts.

    Args:
        selector: returns a domain to try; called again while the domain is taken.

    Raises:
        RuntimeError: no free domain was found.
    """
    select = selector or default_selector
    for _ in range(10 * (HIGHEST - LOWEST)):
        domain = select()
        descriptor = _lock(domain)
        if descriptor is not None:
            break
    else:
        raise RuntimeError("every ROS domain is taken by another test run; end some of them")
    try:
        yield domain
    finally:
        os.close(descriptor)


def _lock(domain: int) -> int | None:
    folder = Path(tempfile.gettempdir()) / f"domain_coordinator-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder / str(domain), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
