"""The metrics of a run, one row per update. A resumed run continues the rows of `metrics.csv`."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openral_core.errors import InstallationError
from openral_core.files.atomic import replaced_file

FILE_NAME = "metrics.csv"
STEP = "step"


class MetricsLog:
    """Writes each row to `metrics.csv` and to the backends of the config."""

    def __init__(self, folder: Path, backends: tuple[str, ...], first: int) -> None:
        """Open the log of a run.

        Args:
            folder: of the run.
            backends: see `settings.runner.Logger`.
            first: number of the first row that will be added; a killed run may have left rows from there on, which are
                dropped.

        Raises:
            InstallationError: a backend is not installed.
        """
        self._path = folder / FILE_NAME
        self.rows = [row for row in _read(self._path) if row[STEP] < first]
        self._board = _board(folder, first) if "tensorboard" in backends else None
        self._wandb = _wandb(folder) if "wandb" in backends else None
        if self.rows:
            self._write()

    @property
    def env_steps(self) -> int:
        """Control steps that training has run so far."""
        return int(sum(row.get("env/steps", 0) for row in self.rows))

    def add(self, step: int, row: Mapping[str, float]) -> None:
        """Add the metrics of one update; the file is replaced atomically."""
        self.rows.append({STEP: step, **row})
        self._write()
        if self._board is not None:
            for name, value in row.items():
                self._board.add_scalar(name, value, step)
            self._board.flush()
        if self._wandb is not None:
            self._wandb.log(dict(row), step=step)

    def close(self) -> None:
        """Close the backends; to be called once."""
        if self._board is not None:
            self._board.close()
        if self._wandb is not None:
            self._wandb.finish()

    def _write(self) -> None:
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(self._path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names, restval="")
            writer.writeheader()
            writer.writerows(self.rows)


def _read(path: Path) -> list[dict[str, float]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _number(text) for name, text in row.items() if text} for row in csv.DictReader(file)]


def _number(text: str) -> float:
    """Return an int for digits alone, else a float, so that writing the number gives the same text."""
    return int(text) if text.isdigit() else float(text)


def _board(folder: Path, first: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise InstallationError(
            "runner.logger.logger_backends: tensorboard is not installed; pip install 'openral[train]'"
        ) from error
    return SummaryWriter(str(folder / "tensorboard"), purge_step=first)


def _wandb(folder: Path) -> Any:
    """Begin or resume the W&B run of a folder. It is offline unless the variable WANDB_MODE says otherwise."""
    try:
        import wandb
    except ImportError as error:
        raise InstallationError(
            "runner.logger.logger_backends: wandb is not installed; pip install 'openral[wandb]'"
        ) from error
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    quiet = wandb.Settings(silent=True, console="off", disable_git=True)
    mode: Any = os.environ.get("WANDB_MODE", "offline")
    return wandb.init(
        project="openral-rl", name=folder.name, id=name, resume="allow", dir=folder, mode=mode, settings=quiet
    )
