"""The folder of a recording, with the finished dataset, its bags, and the segments that are being written."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from openral_core.errors import NotFoundError, OutputError
from openral_core.files.output_folder import check_folder, make_private

DATASET, BAGS, SEGMENTS = "dataset", "bags", "segments"
RUN_RECORDING = "recording"
"""Default folder of the recording in that of a run."""
GIGABYTE = 1e9
MIN_FREE_GB = 2.0
"""[GB] default for the free space below which a recorder does not record."""
BAG_NAME = "bag"
"""Folder of the bag in that of a segment."""


@dataclass(frozen=True)
class RecordingFolder:
    """A folder that holds a LeRobot v3 dataset, the bags of its episodes, and unfinished segments."""

    root: Path

    @property
    def dataset(self) -> Path:
        """Folder of the LeRobot v3 dataset."""
        return self.root / DATASET

    @property
    def bags(self) -> Path:
        """Folder of the bags, with one rosbag2 folder for each episode, such as `episode-000000`."""
        return self.root / BAGS

    @property
    def segments(self) -> Path:
        """Folder of the segments that are being written, or were when the recorder was killed."""
        return self.root / SEGMENTS

    def bag_of(self, episode: int) -> Path:
        """Return the folder of the bag of an episode."""
        return self.bags / f"episode-{episode:06d}"

    def prepare(self) -> None:
        """Create the folders. Raises OutputError: they cannot be created or written."""
        check_folder(self.root, "recording folder")
        make_private(self.root)
        for folder in (self.bags, self.segments):
            folder.mkdir(exist_ok=True)

    def unfinished(self) -> list[Path]:
        """Return the segments that are there, oldest first."""
        return sorted(path for path in self.segments.glob("*") if path.is_dir())


def recordings_in(folder: Path) -> list[RecordingFolder]:
    """Return the recordings in a recorder's folder or in that of a run, including rings of datasets.

    Raises:
        NotFoundError: there is none.
    """
    for root in (folder, folder / RUN_RECORDING):
        if (root / SEGMENTS).is_dir() or (root / DATASET).is_dir():
            return [RecordingFolder(path) for path in (root, *sorted(root.glob("ring-*")))]
    raise NotFoundError(
        f"{folder}: no recording is here; name the folder in which a recorder wrote {SEGMENTS}/ and {DATASET}/"
    )


class RecordingLock:
    """A lock for writing to a recording, which the kernel releases when the process ends in any way."""

    def __init__(self, folder: RecordingFolder) -> None:
        """Acquire the lock. Raises OutputError: another process holds it."""
        self._file = os.open(folder.root / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise OutputError(
                f"{folder.root}: another recorder writes there; end it, or name another folder"
            ) from error

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)
