"""What a test of a fault found, and the file in which the figures of the last run of each half are kept."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One line of the table in docs/reliability.md."""

    test: str
    """File and name of the test."""
    row: int
    """Of the list of faults in `tools/pages/reliability_table.py`."""
    injected: str
    """The fault."""
    times: int
    """How often it was injected."""
    happened: str
    """What the deployment did."""
    lost: str = "nothing"
    """What was lost by it."""
    worst: float | None = None
    """The worst measured value."""
    unit: str = ""
    """Of `worst`."""
    bar: str = ""
    """What it should be."""

    @property
    def worst_text(self) -> str:
        """The worst value with its unit."""
        return "" if self.worst is None else f"{self.worst:.3g} {self.unit}".strip()


def write_figures(path: Path, half: str, figures: Sequence[Figure]) -> None:
    """Put the figures of this run into the file, with its day and load; those of tests that did not run are kept."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    ran = {figure.test for figure in figures}
    rows = [row for row in content.get(half, {}).get("rows", []) if row["test"] not in ran]
    rows += [asdict(figure) | _run() for figure in figures]
    content[half] = {"machine": _machine(), "rows": sorted(rows, key=lambda row: (row["row"], row["test"]))}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _run() -> dict[str, object]:
    """When and on what the figures were made, and beside what: the mean number of busy processes in the last minute."""
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "load": round(os.getloadavg()[0], 1),
        "processor": _machine()["processor"],
    }


def _machine() -> dict[str, object]:
    """On what the figures were made."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(names, platform.processor()),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
