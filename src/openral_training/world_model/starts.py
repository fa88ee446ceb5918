"""The initial states of episodes in a world model: first frames with their instructions, one file each in `dataset/`.

`dataset/traj<N>.npz` has arrays without Python objects: `image` (T, P, P, 3) uint8, of which the first is used,
`instruction`, and where they are known `task`, `init_id` and `state` (S,). Nothing in it is unpickled.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ManifestError, NotFoundError
from openral_core.files.atomic import replaced_file
from openral_training.world_model.experience import Rollouts

FOLDER = "dataset"


@dataclass(frozen=True)
class Start:
    """One initial state."""

    frame: NDArray[np.uint8]
    """(P, P, 3) RGB"""
    instruction: str
    """Instruction of the task."""
    task: str
    """The simulator's name of the task; the instruction where it is unknown."""
    init_id: int
    """Number of the initial state; that of the file where it is unknown."""
    state: NDArray[np.float32]
    """(S,) state beside the image; S may be 0."""


class Starts:
    """All stored initial states of a world model."""

    def __init__(self, starts: Sequence[Start]) -> None:
        """Index the initial states by task and number; of equal ones the first is kept."""
        self._known: dict[tuple[str, int], Start] = {}
        for start in starts:
            self._known.setdefault((start.task, start.init_id), start)

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Any:
        return iter(self._known.values())

    @property
    def tasks(self) -> list[str]:
        """The tasks that have initial states."""
        return list(dict.fromkeys(task for task, _ in self._known))

    def init_ids(self, task: str) -> list[int]:
        """Return the numbers of a task's initial states, ascending."""
        return sorted(number for name, number in self._known if name == task)

    @property
    def all_init_ids(self) -> list[int]:
        """The numbers of the initial states of all tasks, ascending."""
        return sorted({number for _, number in self._known})

    def at(self, task: str, init_id: int) -> Start:
        """Return one initial state. Raises NotFoundError, whose text lists the existing ones."""
        found = self._known.get((task, init_id))
        if found is None:
            have = ", ".join(f"{name} {_run(self.init_ids(name))}" for name in self.tasks) or "none"
            raise NotFoundError(f"no stored first frame of {task}, state {init_id}; there are {have}")
        return found


def starts_of(rollouts: Rollouts, frames: NDArray[np.uint8]) -> Starts:
    """Return the first frame of each initial state of a dataset (frames (N, P, P, 3))."""
    words = rollouts.words
    return Starts(
        [
            Start(np.array(frames[row]), words[task], task, init_id, rollouts.state[row])
            for row, task, init_id in zip(rollouts.first, rollouts.task, rollouts.init_id, strict=True)
        ]
    )


def save_starts(folder: Path, starts: Starts) -> None:
    """Write `dataset/traj<N>.npz` of a world model; those of an earlier one in the folder are deleted."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for earlier in (folder / FOLDER).glob("traj*.npz"):
        earlier.unlink()
    for number, start in enumerate(starts):
        with replaced_file(folder / FOLDER / f"traj{number}.npz") as partial, partial.open("wb") as file:
            np.savez(
                file,
                image=start.frame[None],
                instruction=np.array(start.instruction),
                task=np.array(start.task),
                init_id=np.array(start.init_id),
                state=start.state,
            )


def load_starts(folder: Path) -> Starts:
    """Read `dataset/traj*.npz` of a world model, in the order of their numbers.

    Raises:
        NotFoundError: there is no such file.
        ManifestError: a file is of another form.
    """
    paths = sorted((folder / FOLDER).glob("traj*.npz"), key=lambda path: (len(path.stem), path.stem))
    if not paths:
        others = any((folder / FOLDER).glob("traj*.npy"))
        fix = "convert the .npy files by `openral world-model convert`" if others else "train it anew"
        raise NotFoundError(f"{folder / FOLDER}: no stored first frames traj*.npz; {fix}")
    return Starts([_load(path, number) for number, path in enumerate(paths)])


def _load(path: Path, number: int) -> Start:
    try:
        with np.load(path, allow_pickle=False) as content:
            image, instruction = content["image"], str(content["instruction"])
            task = str(content["task"]) if "task" in content else instruction
            init_id = int(content["init_id"]) if "init_id" in content else number
            state = content["state"].astype(np.float32) if "state" in content else np.zeros(0, np.float32)
    except (
        OSError,
        EOFError,
        ArithmeticError,
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        RuntimeError,
        BadZipFile,
        zlib.error,
    ) as error:
        raise ManifestError(
            f"{path}: not a stored start ({error}); it needs image and instruction"
        ) from error
    if image.dtype != np.uint8 or image.ndim != 4 or image.shape[-1] != 3 or not len(image):
        raise ManifestError(f"{path}: image: is {image.dtype} {image.shape}, needed uint8 (T, P, P, 3)")
    return Start(np.ascontiguousarray(image[0]), instruction, task, init_id, state)


def _run(numbers: Sequence[int]) -> str:
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
