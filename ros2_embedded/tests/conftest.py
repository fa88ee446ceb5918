"""A ROS domain of its own for each test run, so that no other node is seen."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

import pytest

from domain_coordinator import domain_id

# Set before any session opens; child processes inherit it. Held until this process ends.
_held = contextlib.ExitStack()
os.environ["ROS_DOMAIN_ID"] = str(_held.enter_context(domain_id()))


@pytest.fixture(autouse=True, scope="module")
def no_daemon_is_left() -> Iterator[None]:
    """End the daemon that a command may have started in this process; later tests would see its node."""
    yield
    daemon = sys.modules.get("ros2cli.node.daemon")
    if daemon is not None:
        daemon.shutdown_daemon()
