"""The folder that a training command writes its weights into; it is checked before anything is read or trained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from openral_core.cli.progress import BY_ITSELF
from openral_core.errors import OutputError
from openral_core.files.output_folder import check_folder
from openral_rskill.measured_results import keep_weights
from openral_rskill.mini import WEIGHTS

RUN_STATE = "run.safetensors"
"""File from which a stopped training is resumed; it is deleted when the training is finished."""


@dataclass(frozen=True)
class TrainingFolder:
    """The folder of one training: its state while it runs, and its weights at the end."""

    path: Path
    result: str = WEIGHTS
    """Name of the file that a finished training leaves."""
    states: str = RUN_STATE
    """Glob pattern of the files that hold the state of an unfinished training."""

    def check(self) -> None:
        """Check that a training can begin or be resumed here.

        Raises:
            OutputError: the folder cannot be written, or holds a finished training, a dataset, or results that were
                measured with its weights.
        """
        check_folder(self.path, "--out")

        from openral_data.datasets.listing import refuse_dataset

        refuse_dataset(self.path, "--out")
        keep_weights(self.path)
        if (self.path / self.result).exists() and not self.begun:
            raise OutputError(
                f"--out {self.path}: a training was finished there already, and {self.result} is not written over; "
                "name another --out, or delete that file to train anew"
            )

    def goes_on(self) -> str:
        """Return, in words, how a training that is stopped now is resumed."""
        return BY_ITSELF if self.begun else "nothing was kept yet, so the same command begins anew"

    @property
    def begun(self) -> bool:
        """Whether it holds the state of an unfinished training."""
        return any(self.path.glob(self.states))
