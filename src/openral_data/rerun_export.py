"""Makes recordings for the Rerun viewer of a LeRobot v3 dataset: one file an episode, read by Rerun's own reader.

Rerun's reader takes numbers, words and videos, on the timeline `frame_index`. What it leaves out is added here: the
columns of truth values, such as `intervention`, as 0 and 1, and what `meta/episodes` says of the episode.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import DatasetError, InstallationError, OutputError
from openral_core.files.output_folder import check_folder
from openral_data.lerobot_v3 import Dataset

APPLICATION = "openral"
_LOG = "warn,re_lerobot=error"
"""Its reader warns of the columns that are added here."""
TIMELINE = "frame_index"
ABOUT = (
    "outcome",
    "outcome_source",
    "skill",
    "skill_version",
    "scene",
    "sim_task",
    "mission",
    "seed",
    "started",
)
"""Columns of `meta/episodes` that become properties of the episode's recording, where the dataset has them."""


def export_rerun(dataset: Dataset, out: Path) -> int:
    """Write `episode-000000.rrd` and on into a folder; return how many. One that fails leaves no file.

    Args:
        dataset: any LeRobot v3 dataset.
        out: the folder.

    Raises:
        InstallationError: Rerun is not installed.
        DatasetError: Rerun cannot read the dataset.
        OutputError: the folder holds such files already, or cannot be written.
    """
    os.environ.setdefault("RUST_LOG", _LOG)
    try:
        from rerun.chunk import LazyChunkStream
        from rerun.experimental import LeRobotReader
    except ImportError as error:
        raise InstallationError(
            "rerun is not installed; run: pip install 'openral[rerun]' (Python 3.11 or newer)"
        ) from error
    check_folder(out, "--out")
    if any(out.glob("episode-*.rrd")):
        raise OutputError(f"{out} holds episodes already; name another --out")
    out.mkdir(parents=True, exist_ok=True)
    truths = _truth_values(dataset)
    numbers = [int(number) for number in dataset.episodes["episode_index"]]
    try:
        reader = LeRobotReader(dataset.root)
        for place, number in enumerate(numbers):
            added = LazyChunkStream.from_iter(_added(dataset, truths, place))
            name = f"episode-{number:06d}"
            LazyChunkStream.merge(reader.stream(number, timeline=TIMELINE), added).write_rrd(
                out / f"{name}.rrd", application_id=APPLICATION, recording_id=name
            )
    except BaseException as error:
        for path in out.glob("episode-*.rrd"):
            path.unlink()
        if not isinstance(error, (OSError, RuntimeError, ValueError)):
            raise
        why = " ".join(str(error).split())
        raise DatasetError(
            f"{dataset.root}: Rerun cannot read it ({why}); `openral data check` looks"
        ) from error
    return len(numbers)


def _truth_values(dataset: Dataset) -> dict[str, NDArray[np.float64]]:
    """Return (T, n) of each column of truth values."""
    names = [name for name, feature in dataset.info["features"].items() if feature["dtype"] == "bool"]
    found = dataset.columns(names) if names else {}
    return {name: rows.reshape(len(rows), -1).astype(np.float64) for name, rows in found.items()}


def _added(dataset: Dataset, truths: dict[str, NDArray[np.float64]], place: int) -> Iterator[Any]:
    """Yield the chunks that Rerun's reader does not make of an episode, by its place in `meta/episodes`."""
    import rerun as rr
    from rerun.chunk import Chunk

    first, end = (int(dataset.episodes[f"dataset_{side}_index"][place]) for side in ("from", "to"))
    for name, rows in truths.items():
        part = rows[first:end]
        yield Chunk.from_columns(
            f"/{name}",
            indexes=[rr.TimeColumn(TIMELINE, sequence=np.arange(len(part)))],
            columns=rr.Scalars.columns(scalars=part.ravel()).partition([part.shape[1]] * len(part)),
        )
    about = {name: dataset.episodes[name][place] for name in ABOUT if name in dataset.episodes}
    if about:
        yield Chunk.from_property("episode", rr.AnyValues(**{k: str(v) for k, v in about.items()}))
