"""The folder of a run, from which a killed run is resumed with its unfinished round."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import ContractError, ManifestError
from openral_core.files.atomic import write_atomically
from openral_core.files.json_file import read_json_object
from openral_core.files.settings_difference import settings_difference
from openral_core.manifest import MANIFEST_NAME
from openral_data.datasets.merge_and_split import EpisodeSelection, write_selection
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_data.recording_folder import RecordingFolder

SETTINGS, RESULT, ATTEMPTS = "settings.json", "result.json", "attempts.json"


@dataclass(frozen=True)
class RunFolder:
    """The files of one run."""

    root: Path

    def claim(self, settings: dict[str, Any], *, resume: bool) -> None:
        """Begin a run, or check that the one in the folder has these settings.

        Raises:
            ManifestError: there is a run and `resume` is False, or there is none and it is True.
            ContractError: there is a run with other settings.
        """
        path = self.root / SETTINGS
        if not path.exists():
            if resume:
                raise ManifestError(
                    f"{self.root}: there is no run to go on with; name the --out of one, or leave out --resume to "
                    "begin one"
                )
            self.root.mkdir(parents=True, exist_ok=True)
            _write(path, settings)
        elif not resume:
            raise ManifestError(f"{self.root}: there is a run already; add --resume, or name another --out")
        elif others := settings_difference(read_json_object(path, ManifestError), settings):
            raise ContractError(
                f"{path}: that run has other settings: {others}; name another --out, or run with these settings"
            )

    def give_up(self) -> None:
        """Undo `claim` where the run failed before it left anything, so that its folder refuses no later one."""
        if [path.name for path in self.root.iterdir()] == [SETTINGS]:
            (self.root / SETTINGS).unlink()
            self.root.rmdir()

    def skill(self, number: int) -> Path:
        """Return the folder of a round's skill."""
        return self.root / f"round-{number}"

    def is_cloned(self, number: int) -> bool:
        """Return whether a round's skill is complete; its manifest is written after its weights."""
        return (self.skill(number) / MANIFEST_NAME).is_file()

    def recording(self, number: int) -> Path:
        """Return the folder of what a round records."""
        return self.root / "recordings" / f"round-{number}"

    def fresh_recording(self, number: int) -> Path:
        """Return the empty folder for a round's recording; what a killed run left there is deleted."""
        folder = self.recording(number)
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def dataset(self, number: int) -> Dataset:
        """Merge the episodes of all rounds up to this one into one dataset, and return it.

        Raises:
            OpenralError: a recording is damaged, or nothing was recorded.
        """
        recorded = (RecordingFolder(self.recording(at)).dataset for at in range(number + 1))
        # A round without corrections has recorded nothing.
        there = [EpisodeSelection.of(open_dataset(path)) for path in recorded if path.is_dir()]
        together = self.root / "dataset"
        shutil.rmtree(together, ignore_errors=True)
        write_selection(together, there)
        return open_dataset(together)

    def collected(self, number: int) -> dict[str, Any] | None:
        """Return the summary of a round's episodes; None: not all of them were run."""
        path = self.recording(number) / ATTEMPTS
        return read_json_object(path, ManifestError) if path.is_file() else None

    def note_collected(self, number: int, collected: dict[str, Any]) -> None:
        """Write the summary of a round's episodes, after all of them were run."""
        self.recording(number).mkdir(parents=True, exist_ok=True)
        _write(self.recording(number) / ATTEMPTS, collected)

    def rounds(self) -> list[dict[str, Any]]:
        """Return the rounds that were finished."""
        path = self.root / RESULT
        found: list[dict[str, Any]] = (
            read_json_object(path, ManifestError)["rounds"] if path.is_file() else []
        )
        return found

    def note_result(self, result: dict[str, Any]) -> None:
        """Write `result.json`."""
        _write(self.root / RESULT, result)


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write a file of JSON; a kill while writing leaves the former one."""
    write_atomically(path, json.dumps(content, indent=1) + "\n")
