"""Measurements print one table and, with `--json FILE`, write it. They share functions of the system tests."""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "system"))
COLUMNS = ("measured", "figure", "reference", "bar")
ROWS = pytest.StashKey[list[tuple[str, ...]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--json", type=Path, help="write the table to this file")


@pytest.fixture
def report(request: pytest.FixtureRequest):
    """Return a function that adds a row: what was measured, the figure, its reference, and the bar."""
    rows = request.config.stash.setdefault(ROWS, [])
    return lambda *row: rows.append(row)


def machine() -> dict[str, object]:
    """Where and with what the figures were made."""
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "processor": next(
            (
                line.partition(":")[2].strip()
                for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
                if line.startswith("model name")
            ),
            platform.processor(),
        ),
        "cores": os.cpu_count(),
        "load_1min_at_the_end": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "eclipse-zenoh": version("eclipse-zenoh"),
        "numpy": version("numpy"),
    }


def pytest_terminal_summary(config: pytest.Config) -> None:
    rows = config.stash.get(ROWS, [])
    table = Table("measured", "figure", "reference beside it", "bar", title="performance")
    for row in rows:
        table.add_row(*row)
    if rows:
        Console(width=120).print(table)
    path: Path | None = config.getoption("--json")
    if path is not None and rows:
        found = {"machine": machine(), "rows": [dict(zip(COLUMNS, row, strict=True)) for row in rows]}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
