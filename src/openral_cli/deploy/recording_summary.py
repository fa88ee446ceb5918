"""Prints at the end of a run what it recorded."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from openral_core.errors import OpenralError, OutputError
from openral_core.files.bounded_log import log_text
from openral_core.files.output_folder import check_folder
from openral_core.process.announcements import RECORDING_STOPPED
from openral_core.process.launched_deployment import LAUNCH_LOG
from openral_data.datasets.listing import datasets_below
from openral_data.lerobot_v3 import open_dataset
from openral_data.recording.strategy import Strategy, strategy_of
from openral_data.recording_folder import GIGABYTE, MIN_FREE_GB, RUN_RECORDING, RecordingFolder


@dataclass(frozen=True)
class RunRecording:
    """Folder and strategy of a run's recording, and the episodes and frames that were there before it."""

    folder: Path
    strategy: Strategy
    episodes: int
    frames: int
    log: Path
    """Log of the launch, in which the recorder reports its faults."""

    @classmethod
    def of(cls, arguments: Mapping[str, str], run_dir: Path) -> RunRecording | None:
        """Check the folder and count what is in it, before the run begins; return None if the run does not record.

        Args:
            arguments: of the launch file, with `record` and `record_dir`.
            run_dir: folder of the run.

        Raises:
            OutputError: the folder cannot be written, or its disk has too little free space.
        """
        name = arguments.get("record", "none")
        if name == "none":
            return None
        given = arguments.get("record_dir", "")
        folder, strategy = Path(given) if given else run_dir / RUN_RECORDING, strategy_of(name)
        _require_room(folder, "--record-dir" if given else "recording folder")
        return cls(folder, strategy, *_held(folder), run_dir / LAUNCH_LOG)

    def report(self, console: Console) -> bool:
        """Print what was recorded since then; return whether the recording is in order.

        With `highlight` and `interventions` it may be empty, since there may have been neither.
        """
        try:
            held = _held(self.folder)
        except OpenralError as error:
            console.print(f"[red]the recording cannot be read[/red]: {escape(str(error))}", soft_wrap=True)
            return False
        self._report_unfinished(console)
        if held[1] < self.frames:  # `always` deletes the oldest frames, so the number of new ones is unknown
            console.print(f"recorded; {_counted(*held)} are kept: {escape(str(self.folder))}", soft_wrap=True)
            return True
        if held[1] > self.frames:
            added = _counted(held[0] - self.episodes, held[1] - self.frames)
            console.print(f"recorded {added}: {escape(str(self.folder))}", soft_wrap=True)
            return True
        if stopped := self._stopped():
            console.print(f"[red]nothing was recorded[/red]: {escape(stopped)}", soft_wrap=True)
            return False
        if self.strategy.on_highlight or self.strategy.corrected_only:
            why = "nobody asked for a highlight" if self.strategy.on_highlight else "nobody took the arm"
            console.print(f"nothing was recorded: {why}", soft_wrap=True)
            return True
        why = (
            "no skill's policy and no operator moved the arm"
            if self.strategy.by_goal
            else "see the log of the recorder"
        )
        console.print(f"[red]nothing was recorded[/red]: {why}", soft_wrap=True)
        return False

    def _stopped(self) -> str:
        """Return the recorder's reason for stopping, from the log; empty: it did not stop, or the log has no reason."""
        lines = log_text(self.log).splitlines()
        told = [after for line in lines if (after := line.partition(RECORDING_STOPPED)[2])]
        return told[-1] if told else ""

    def _report_unfinished(self, console: Console) -> None:
        left = len(RecordingFolder(self.folder).unfinished())
        if left:
            fix = escape(f"`openral data repair {self.folder}` keeps what was written")
            console.print(f"[yellow]{left} unfinished[/yellow]: {fix}", soft_wrap=True)


def _require_room(folder: Path, what: str) -> None:
    """Check that a recorder can write there, with enough free space. Raises OutputError: it cannot."""
    check_folder(folder, what)
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free / GIGABYTE
    if free < MIN_FREE_GB:
        raise OutputError(
            f"{what} {folder}: {free:.1f} GB are free there, and nothing is recorded below {MIN_FREE_GB:g} GB; free "
            "some space, or name another --record-dir"
        )


def _held(folder: Path) -> tuple[int, int]:
    """Return how many episodes and frames the datasets of a recording hold. Raises OpenralError: one is broken."""
    segments = RecordingFolder(folder).segments
    datasets = [open_dataset(root) for root in datasets_below(folder) if segments not in root.parents]
    return sum(len(each.episodes["episode_index"]) for each in datasets), sum(map(len, datasets))


def _counted(episodes: int, frames: int) -> str:
    return f"{episodes} episode{'s' * (episodes != 1)}, {frames} frames"
