"""Workers of benchmarks start warm; those of commands, and those that are killed, start as a user's do."""

from __future__ import annotations

import pytest
from warm_workers import warm_workers  # noqa: F401


@pytest.fixture(autouse=True, scope="module")
def warm(warm_workers: None) -> None:  # noqa: F811
    """Ask for it in every module."""
