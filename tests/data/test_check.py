"""`openral data check` names each fault with its place, in our recordings and in datasets of others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from recorded_deployment import COLUMNS, RecordedDeployment
from typer.testing import CliRunner

from openral_core.errors import DatasetError
from openral_data.commands import app
from openral_data.dataset_schema import DatasetMetadata
from openral_data.datasets.appender import DatasetAppender
from openral_data.datasets.check import dataset_faults
from openral_data.episode import Episode, encode_png
from openral_data.lerobot_v3 import DatasetWriter, open_dataset

CAMERA = COLUMNS.cameras[0].key
DATA, META = "data/chunk-000/file-001.parquet", "meta/episodes/chunk-000/file-001.parquet"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of two episodes."""
    root = tmp_path_factory.mktemp("recorded") / "pushes"
    world = RecordedDeployment(root, "episodes")
    for goal in ("a" * 32, "b" * 32):
        world.goal(goal)
        world.run(60, goal_id=goal, words="push the cube")
        world.goal("")
    world.recorder.close()
    return root


def change(path: Path, column: str, values: Callable[[list[Any]], list[Any]]) -> None:
    """Write a parquet file again with other values in one column."""
    table = pq.read_table(path)
    at = table.column_names.index(column)
    cells = pa.array(values(table[column].to_pylist()), table.schema.field(column).type)
    pq.write_table(table.set_column(at, table.schema.field(column), cells), path)


def put(index: int, value: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda cells: [*cells[:index], value, *cells[index + 1 :]]


def state(cells: list[Any]) -> list[Any]:
    return [*cells[:2], [float("nan"), *cells[2][1:]], *cells[3:]]


def frames_said(root: Path) -> None:
    info = json.loads((root / "meta" / "info.json").read_text())
    (root / "meta" / "info.json").write_text(json.dumps({**info, "total_frames": 7}))


def size_said(root: Path) -> None:
    info = json.loads((root / "meta" / "info.json").read_text())
    info["features"][CAMERA]["shape"] = [48, 80, 3]
    (root / "meta" / "info.json").write_text(json.dumps(info))


def cut_video(root: Path) -> None:
    path = root / f"videos/{CAMERA}/chunk-000/file-001.mp4"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


FAULTS: list[tuple[Callable[[Path], None], str]] = [
    (
        lambda r: change(r / DATA, "timestamp", put(3, 0.2)),
        "episode 1 frame 3: timestamp is 0.2000 s, expected 0.15",
    ),
    (lambda r: change(r / DATA, "frame_index", put(4, 9)), "episode 1 frame 4: frame_index is 9, expected 4"),
    (
        lambda r: change(r / DATA, "task_index", put(0, 5)),
        "episode 1 frame 0: task_index 5 is not in meta/tasks",
    ),
    (
        lambda r: change(r / DATA, "episode_index", put(0, 0)),
        "episode 1 frame 0: episode_index is 0, expected 1",
    ),
    (
        lambda r: change(r / DATA, "observation.state", state),
        "frame 2: observation.state number 0 is not finite",
    ),
    (
        lambda r: [change(r / META, k, put(0, n)) for k, n in (("dataset_from_index", 11), ("length", 17))],
        "episode 1: begins at row 11, the one before",
    ),
    (
        lambda r: change(r / META, f"videos/{CAMERA}/from_timestamp", put(0, 9.0)),
        f"episode 1: {CAMERA} ends at",
    ),
    (frames_said, "meta/info.json: total_frames is 7, there are"),
    (size_said, "file-000.mp4: 48x64 px, meta/info.json says 48x80"),
    (cut_video, f"videos/{CAMERA}/chunk-000/file-001.mp4"),
    (lambda r: (r / f"videos/{CAMERA}/chunk-000/file-000.mp4").unlink(), "file-000.mp4: is not there"),
    (lambda r: (r / "meta/tasks.parquet").unlink(), "meta/tasks.parquet: is missing"),
]


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_a_fault_is_named_with_its_place(number: int, recorded: Path, tmp_path: Path) -> None:
    breaks, words = FAULTS[number]
    root = shutil.copytree(recorded / "dataset", tmp_path / "dataset")
    assert list(dataset_faults(root)) == []
    breaks(root)
    found = list(dataset_faults(root))
    assert any(words in line for line in found), found


def test_the_command_prints_a_line_for_each_and_fails(recorded: Path, tmp_path: Path) -> None:
    of_run = tmp_path / "run"
    of_run.mkdir()
    (of_run / "recording").symlink_to(recorded)
    for folder in (recorded, of_run):
        good = CliRunner().invoke(app, ["check", str(folder)])
        assert (good.exit_code, good.output) == (0, "no faults\n")
    root = shutil.copytree(recorded / "dataset", tmp_path / "dataset")
    change(root / DATA, "index", lambda cells: [cell + 1 for cell in cells])
    done = CliRunner().invoke(app, ["check", "--no-videos", str(root)])
    rows = pq.read_table(root / DATA).num_rows
    assert done.exit_code == 1
    assert done.output.splitlines()[-1] == f"{rows} faults"
    assert len(done.output.splitlines()) == rows + 1


def test_nothing_is_appended_to_a_dataset_whose_episodes_cannot_be_read(
    recorded: Path, tmp_path: Path
) -> None:
    root = shutil.copytree(recorded / "dataset", tmp_path / "dataset")
    (root / META).write_bytes((root / META).read_bytes()[:500])
    with pytest.raises(DatasetError, match=r"file-001\.parquet: cannot be read"):
        DatasetAppender(root, COLUMNS)


def with_images(root: Path, **changed: Any) -> list[str]:
    """Write an episode of six frames as demonstrations are kept, with some arrays changed; return its faults."""
    key, task = "observation.images.camera1", "metaworld/drawer-open-v3"
    form = DatasetMetadata(
        20.0, {key: (24, 32)}, "ee_pos3_gripper1", 4, 16, {task: "open the drawer"}, "sawyer"
    )
    writer, steps = DatasetWriter(root, form), 6
    pictures = [encode_png(np.full((24, 32, 3), 9 * n, np.uint8)) for n in range(steps)]
    flat = np.zeros((steps, 1))
    arrays: dict[str, Any] = {
        "images": {key: pictures},
        "state": np.zeros((steps, 4), np.float32),
        "chunk": np.zeros((steps, 16, 4), np.float32),
        "ahead": np.full(steps, 16),
        "success": flat > 0,
        "hand_to_object": flat.astype(np.float32),
        "object_to_target": flat.astype(np.float32),
        "landmarks": np.zeros((steps, 6), np.float32),
    }
    writer.add(Episode(task_id=task, behaviour="expert", init_id=0, leg=0, **{**arrays, **changed}))
    writer.close()
    return list(dataset_faults(root))


def test_a_dataset_with_images_is_checked_too(tmp_path: Path) -> None:
    pictures = [encode_png(np.zeros((24, 30 if n == 4 else 32, 3), np.uint8)) for n in range(6)]
    assert with_images(tmp_path, images={"observation.images.camera1": pictures}) == [
        "episode 0 frame 4: observation.images.camera1 is 24x30 px, meta/info.json says 24x32"
    ]


@pytest.mark.parametrize("names", [{}, {"names": None}])
def test_a_label_of_another_tool_names_no_tasks(tmp_path: Path, names: dict[str, None]) -> None:
    assert with_images(tmp_path) == []
    path = tmp_path / "meta" / "info.json"
    info = json.loads(path.read_text())
    info["features"]["label.success"] = {"dtype": "bool", "shape": [1], **names}
    path.write_text(json.dumps(info))
    assert list(dataset_faults(tmp_path)) == []
    with pytest.raises(DatasetError, match=r"has no label\.success; only datasets of"):
        _ = open_dataset(tmp_path).tasks


def test_pictures_on_a_damaged_page_of_a_file_are_a_fault(tmp_path: Path) -> None:
    assert with_images(tmp_path) == []
    path = tmp_path / "data/chunk-000/file-000.parquet"
    group = pq.read_metadata(path).row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    page = next(column.data_page_offset for column in columns if column.path_in_schema.endswith(".bytes"))
    content = path.read_bytes()
    path.write_bytes(content[:page] + b"\xff" * 12 + content[page + 12 :])
    (fault,) = dataset_faults(tmp_path)
    assert fault.startswith(
        "data/chunk-000/file-000.parquet: column observation.images.camera1 cannot be read ("
    )


def test_a_label_may_be_unknown_and_a_state_or_an_action_may_not(tmp_path: Path) -> None:
    unknown = {name: np.full((6, 1), np.nan, np.float32) for name in ("hand_to_object", "object_to_target")}
    unknown["landmarks"] = np.full((6, 6), np.nan, np.float32)
    assert with_images(tmp_path / "labels", **unknown) == []
    state, chunk = np.zeros((6, 4), np.float32), np.zeros((6, 16, 4), np.float32)
    state[2, 1], chunk[3, 0, 0] = np.nan, np.nan
    assert with_images(tmp_path / "numbers", **unknown, state=state, chunk=chunk) == [
        "episode 0 frame 2: observation.state number 1 is not finite",
        "episode 0 frame 3: action number 0 is not finite",
        "episode 0 frame 3: label.chunk number 0 is not finite",
    ]
    endless = {**unknown, "hand_to_object": np.full((6, 1), np.inf, np.float32)}
    assert with_images(tmp_path / "endless", **endless)[0] == (
        "episode 0 frame 0: label.hand_to_object number 0 is not finite"
    )


def test_episodes_are_listed_with_words_outcome_and_what_was_dropped(recorded: Path) -> None:
    shown = CliRunner().invoke(app, ["show", str(recorded)], env={"COLUMNS": "200"}).output
    assert "push the cube" in shown
    assert "unknown" in shown
    listed = CliRunner().invoke(app, ["list", str(recorded.parent)], env={"COLUMNS": "200"}).output
    assert str(recorded) in listed.replace("\n", "")
    assert "0 of 2" in listed
