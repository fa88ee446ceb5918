"""Measurements print one table at the end. They share the functions of the system tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "system"))
ROWS = pytest.StashKey[list[tuple[str, ...]]]()


@pytest.fixture
def report(request: pytest.FixtureRequest):
    """Return a function that adds a row: what was measured, the figure, its reference, and the bar."""
    rows = request.config.stash.setdefault(ROWS, [])
    return lambda *row: rows.append(row)


def pytest_terminal_summary(config: pytest.Config) -> None:
    rows = config.stash.get(ROWS, [])
    table = Table("measured", "figure", "reference beside it", "bar", title="performance")
    for row in rows:
        table.add_row(*row)
    if rows:
        Console(width=120).print(table)
