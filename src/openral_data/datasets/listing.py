"""Tables of recordings and their episodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from openral_core.cli.listing import RowListing
from openral_core.cli.printable import printable, printable_lines
from openral_core.errors import NotFoundError, OpenralError, OutputError
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_data.recording_folder import DATASET, RUN_RECORDING, RecordingFolder

DEPTH = 6
"""Largest depth of folders that are searched."""


def is_dataset(folder: Path) -> bool:
    """Return whether a folder is a LeRobot dataset, a recording that has one, or a run that was recorded."""
    return any((path / "meta" / "info.json").is_file() for path in _places(folder))


def refuse_dataset(folder: Path, option: str) -> None:
    """Raise an error if the folder of a command's option, into which it writes something else, holds a dataset.

    Raises:
        OutputError: the folder is a dataset, a recording, or a run that was recorded.
    """
    if is_dataset(folder):
        raise OutputError(
            f"{option} {folder}: holds a dataset that this command did not make; name another folder"
        )


def dataset_folder(folder: Path) -> Path:
    """Return the dataset of a run's or a recording's folder, or the folder itself.

    Raises:
        NotFoundError: there is none.
    """
    for path in _places(folder):
        if (path / "meta" / "info.json").is_file():
            return path
    raise NotFoundError(
        f"{folder}: no LeRobot dataset and no recording is here; `openral data list FOLDER` looks"
    )


def _places(folder: Path) -> tuple[Path, ...]:
    return folder, folder / DATASET, folder / RUN_RECORDING / DATASET


def datasets_below(folder: Path) -> Iterator[Path]:
    """Yield the datasets in a folder and below it."""
    found = {path.parent.parent for path in folder.glob("meta/info.json")}
    for depth in range(1, DEPTH + 1):
        found |= {path.parent.parent for path in folder.glob("/".join(["*"] * depth) + "/meta/info.json")}
    yield from sorted(found)


def list_table(folder: Path) -> Group:
    """Return a table with one line for each dataset in or below a folder, and then the reasons why some are unreadable.

    Raises:
        NotFoundError: there is none.
    """
    heads = ("dataset", "episodes", "frames", "fps", "cameras", "robot", "succeeded", "left\nbehind")
    table = RowListing(*heads, right=[name for name in heads if name not in ("dataset", "robot")])
    count, unreadable = 0, list[str]()
    for root in datasets_below(folder):
        count += 1
        try:
            dataset = open_dataset(root)
        except OpenralError as error:
            table.add_row(_cell(root), "[red]no[/red]")
            unreadable.append(str(error))
            continue
        outcomes = dataset.episodes.get("outcome")
        left = len(RecordingFolder(root.parent).unfinished()) if root.name == DATASET else 0
        table.add_row(
            _cell(root.parent if root.name == DATASET else root),
            str(len(dataset.episodes["episode_index"])),
            str(len(dataset)),
            f"{dataset.info['fps']:g}",
            str(len(dataset.cameras)),
            _cell(dataset.info.get("robot_type") or "-"),
            "-" if outcomes is None else f"{outcomes.count('success')} of {len(outcomes)}",
            str(left) if left else "-",
        )
    if not count:
        raise NotFoundError(
            f"{folder}: no LeRobot v3 dataset in it or below; record one with --record episodes"
        )
    return Group(table, *(Text(printable_lines(line)) for line in unreadable))


def episode_table(dataset: Dataset) -> RowListing:
    """Return a table with one line for each episode."""
    heads = ("episode", "s", "words", "skill", "seed", "outcome", "by", "corrected", "remarks")
    table = RowListing(*heads, right=("episode", "s", "seed"))
    episodes, fps = dataset.episodes, float(dataset.info["fps"])
    for place, number in enumerate(episodes["episode_index"]):
        row: dict[str, Any] = {name: values[place] for name, values in episodes.items()}
        length = row["dataset_to_index"] - row["dataset_from_index"]
        table.add_row(
            str(number),
            f"{length / fps:.1f}",
            _cell(", ".join(map(str, row.get("tasks") or ["-"]))),
            _cell(str(row.get("skill") or "-").rpartition("/")[2].removeprefix("rskill-")),
            _cell(row.get("seed", "-")),
            _cell(row.get("outcome") or "-"),
            _cell(str(row.get("outcome_source") or "-").replace("_", " ")),
            _cell(f"{row['interventions']} frames" if row.get("interventions") else "-"),
            _cell(_remarks(row)),
        )
    return table


def _cell(value: object) -> Text:
    """Return a value from a file as a cell, without interpretation of markup and with control characters escaped."""
    return Text(printable(str(value)))


def _remarks(row: dict[str, Any]) -> str:
    said = ["cut off"] if row.get("truncated") else []
    for name in ("repeated_images", "missing_steps", "missing_states"):
        lost = row.get(name)
        if isinstance(lost, int) and lost > 0:
            said.append(f"{lost} {name.replace('_', ' ')}")
    return ", ".join(said)
