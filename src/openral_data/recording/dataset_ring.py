"""The dataset to which episodes are appended; with the strategy `always` it is one of a ring of datasets."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from openral_data.datasets.appender import DatasetAppender
from openral_data.recorded_columns import RecordedColumns
from openral_data.recording.strategy import RING_DATASETS, RING_EPISODES, Strategy
from openral_data.recording_folder import RecordingFolder

RING = "ring-"
_NAME = re.compile(rf"{RING}[0-9]{{6,}}")


class DatasetRing:
    """Holds folder and dataset for the next episode."""

    def __init__(self, root: Path, columns: RecordedColumns, strategy: Strategy) -> None:
        """Open the newest dataset or create one. Raises OpenralError: it has other columns, or cannot be written."""
        self._root, self._columns, self._strategy = root, columns, strategy
        rings = self._rings()
        if not strategy.ring:
            self._open(RecordingFolder(root))
        else:
            self._open(RecordingFolder(rings[-1] if rings else root / f"{RING}{0:06d}"))

    def _open(self, folder: RecordingFolder) -> None:
        folder.prepare()
        self.folder, self.appender = folder, DatasetAppender(folder.dataset, self._columns)

    def _rings(self) -> list[Path]:
        """Return the datasets of the ring, oldest first; a folder that somebody named otherwise is none."""
        return sorted(path for path in self._root.glob(f"{RING}*") if _NAME.fullmatch(path.name))

    def turn(self) -> None:
        """Create a new dataset in the ring if the present one is full, and delete the oldest beyond `RING_DATASETS`."""
        if not self._strategy.ring or len(self.appender) < RING_EPISODES:
            return
        newest = int(self._rings()[-1].name.removeprefix(RING))
        self._open(RecordingFolder(self._root / f"{RING}{newest + 1:06d}"))
        for old in self._rings()[:-RING_DATASETS]:
            shutil.rmtree(old, ignore_errors=True)
