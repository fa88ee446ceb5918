"""The real ROS 1 where it is installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from real_ros1 import Roscore, missing


@pytest.fixture(scope="module")
def roscore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roscore]:
    if why := missing():
        pytest.skip(why)
    made = Roscore(tmp_path_factory.mktemp("ros"))
    yield made
    made.stop()
