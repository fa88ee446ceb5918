"""Where a recording lies: the finished dataset, its bags, and the segments that are being written."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from openral_core.errors import NotFoundError, OutputError
from openral_core.files.output_folder import check_folder, make_private

DATASET, BAGS, SEGMENTS = "dataset", "bags", "segments"
RUN_RECORDING = "recording"
"""Folder of the recording inside of a run's, where none was named."""
GIGABYTE = 1e9
MIN_FREE_GB = 2.0
"""[GB] of free space below which a recorder records nothing, unless it is told another floor."""
BAG_NAME = "bag"
"""Folder of the bag inside of a segment."""


@dataclass(frozen=True)
class RecordingFolder:
    """A folder that holds a LeRobot v3 dataset, the bags of its episodes, and unfinished segments."""

    root: Path

    @property
    def dataset(self) -> Path:
        """The LeRobot v3 dataset."""
        return self.root / DATASET

    @property
    def bags(self) -> Path:
        """One rosbag2 folder for each episode, `episode-000000`."""
        return self.root / BAGS

    @property
    def segments(self) -> Path:
        """Segments that are being written, or were when the recorder was killed."""
        return self.root / SEGMENTS

    def bag_of(self, episode: int) -> Path:
        """Return the bag of an episode."""
        return self.bags / f"episode-{episode:06d}"

    def prepare(self) -> None:
        """Make the folders. Raises OutputError: they cannot be made or written."""
        check_folder(self.root, "recording folder")
        make_private(self.root)
        for folder in (self.bags, self.segments):
            folder.mkdir(exist_ok=True)

    def unfinished(self) -> list[Path]:
        """Return the segments that were left, oldest first."""
        return sorted(path for path in self.segments.glob("*") if path.is_dir())


def recordings_in(folder: Path) -> list[RecordingFolder]:
    """Return the recordings of a recorder's folder, with their rings, or of a run's.

    Raises:
        NotFoundError: no recorder wrote there.
    """
    for root in (folder, folder / RUN_RECORDING):
        if (root / SEGMENTS).is_dir() or (root / DATASET).is_dir():
            return [RecordingFolder(path) for path in (root, *sorted(root.glob("ring-*")))]
    raise NotFoundError(
        f"{folder}: no recording is here; name the folder in which a recorder wrote {SEGMENTS}/ and {DATASET}/"
    )


class RecordingLock:
    """Held while somebody writes into a recording; the kernel lets go of it when its process ends, however it ends."""

    def __init__(self, folder: RecordingFolder) -> None:
        """Take it. Raises OutputError: another process writes there."""
        self._file = os.open(folder.root / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise OutputError(
                f"{folder.root}: another recorder writes there; end it, or name another folder"
            ) from error

    def release(self) -> None:
        """Let go of it."""
        os.close(self._file)
