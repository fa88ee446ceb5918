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


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--slow` runs what `make test` has no time for."""
    parser.addoption("--slow", action="store_true", help="run the tests that are marked slow, and only those")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the quick or the slow tests."""
    chosen = config.getoption("--slow")
    other = [item for item in items if bool(item.get_closest_marker("slow")) is not chosen]
    items[:] = [item for item in items if bool(item.get_closest_marker("slow")) is chosen]
    config.hook.pytest_deselected(items=other)


@pytest.fixture(autouse=True, scope="module")
def no_daemon_is_left() -> Iterator[None]:
    """End the daemon that a command may have started in this process; later tests would see its node."""
    yield
    daemon = sys.modules.get("ros2cli.node.daemon")
    if daemon is not None:
        daemon.shutdown_daemon()
