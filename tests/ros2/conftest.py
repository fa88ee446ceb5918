"""The real ROS 2, made once in a run of tests."""

from __future__ import annotations

import pytest
from real_ros2 import RealRos2, Unavailable, make


@pytest.fixture(scope="session")
def real() -> RealRos2:
    """An environment with a real ROS 2 in which openral is installed; skips where it cannot be had."""
    try:
        return make()
    except Unavailable as error:
        pytest.skip(f"no real ROS 2: {error}")
