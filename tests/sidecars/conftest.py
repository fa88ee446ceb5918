"""Tests with upstream's real code, in environments that `openral sidecar build` makes (`make sidecars`).

They use the cache of this user, so an environment is built once for all runs; `OPENRAL_CACHE_HOME` chooses another.
"""

from __future__ import annotations

from pathlib import Path

import pytest

BUILD_S = 3600
"""A first run downloads and installs gigabytes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.timeout(BUILD_S))
