"""Datasets of other tools: columns of another type or form are read as what they mean, or refused in one line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from plain_dataset import DATA, EPISODES, FRONT, RECIPE, TASKS, change_column, change_json, write_dataset

from openral_core.errors import DatasetError
from openral_data.datasets.check import dataset_faults
from openral_data.datasets.merge_and_split import EpisodeSelection, write_selection
from openral_data.episode import encode_png
from openral_data.lerobot_v3 import open_dataset
from openral_training.frames import frame_cache
from openral_training.mapping.dataset_recipe import SkillRecipe, load_cloning_recipe
from openral_training.mapping.mapped_data import mapped_data

Edit = Callable[[Path], Any]
TASKS_FILE = "meta/tasks.parquet"
INDICES = ("index", "episode_index", "frame_index", "task_index")
PNG = encode_png(np.full((96, 128, 3), 77, np.uint8))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("plain") / "dataset")


@pytest.fixture
def root(plain: Path, tmp_path: Path) -> Path:
    """One that may be changed."""
    return Path(shutil.copytree(plain, tmp_path / "dataset"))


def stored(
    name: str, kind: Any, edit: Callable[[list[Any]], list[Any]] = lambda v: v, file: str = DATA
) -> Edit:
    """Store a column as another Arrow type; None: as Arrow infers it."""

    def change(root: Path) -> None:
        table = pq.read_table(root / file)
        cells = pa.array(edit(table[name].to_pylist()), kind)
        pq.write_table(table.set_column(table.column_names.index(name), name, cells), root / file)

    return change


def whole(name: str) -> Edit:
    return stored(name, pa.list_(pa.int64()), lambda values: [[value] for value in values])


def info(edit: Callable[[dict[str, Any]], Any]) -> Edit:
    return lambda root: change_json(root / "meta" / "info.json", edit)


def without(name: str, file: str = DATA) -> Edit:
    return lambda root: pq.write_table(pq.read_table(root / file).drop_columns([name]), root / file)


def table(**columns: Any) -> Edit:
    return lambda root: pq.write_table(pa.table(columns), root / TASKS_FILE)


def split(file: str, second: Callable[[Any], Any], first: Callable[[Any], Any] = lambda rows: rows) -> Edit:
    """Write the changed rows after those of the first episode into a file of their own."""

    def change(root: Path) -> None:
        rows, at = pq.read_table(root / file), 30 if file == DATA else 1
        pq.write_table(first(rows.slice(0, at)), root / file)
        pq.write_table(second(rows.slice(at)), root / file.replace("file-000", "file-001"))
        change_column(root / EPISODES, "data/file_index", lambda v: [0, 1, 1][: len(v)])

    return change


def cast(name: str, kind: Any) -> Callable[[Any], Any]:
    def change(rows: Any) -> Any:
        cells = pa.array(rows[name].to_pylist(), kind)
        return rows.set_column(rows.column_names.index(name), name, cells)

    return change


def images(cell: Any) -> Edit:
    """Store the front camera in the rows."""

    def change(root: Path) -> None:
        rows = pq.read_table(root / DATA)
        pq.write_table(rows.append_column(FRONT, pa.array([cell] * len(rows))), root / DATA)
        info(lambda content: content["features"][FRONT].update(dtype="image"))(root)

    return change


def not_utf8(count: int) -> pa.Array:
    ends = pa.array(range(0, 2 * count + 1, 2), pa.int32()).buffers()[1]
    return pa.Array.from_buffers(pa.string(), count, [None, ends, pa.py_buffer(b"\xff\xfe" * count)])


def numbers(root: Path) -> list[Any]:
    """Return what is learnt from a dataset, after its pictures were decoded."""
    (root.parent / "cubes.yaml").write_text(RECIPE)
    recipe = load_cloning_recipe(root.parent / "cubes.yaml")
    assert isinstance(recipe, SkillRecipe)
    data = mapped_data(open_dataset(root), recipe)
    for camera in data.views:
        frame_cache(open_dataset(root), camera, 8)
    demos = data.demonstrations
    return [demos.state.tolist(), demos.chunk.tolist(), demos.task.tolist(), data.sentences]


MEANT: dict[str, Edit] = {
    "indices are lists of one": lambda root: [whole(name)(root) for name in INDICES],
    "timestamps are lists of one": stored("timestamp", pa.list_(pa.float32()), lambda v: [[x] for x in v]),
    "indices have names": info(
        lambda c: [c["features"][name].update(names=[name]) for name in (*INDICES, "timestamp")]
    ),
    "indices have no sides": info(lambda c: [c["features"][name].update(shape=[]) for name in INDICES]),
    "indices are floating": stored("task_index", pa.float64(), lambda v: [float(x) for x in v]),
    "rows are nested lists": stored("action", pa.list_(pa.list_(pa.float32())), lambda v: [[x] for x in v]),
    "names of values are a dict": info(
        lambda c: c["features"]["action"].update(names={"motors": ["a", "b", "c", "d"]})
    ),
    "files have numbers of other sizes": split(DATA, cast("action", pa.list_(pa.float64(), 4))),
    "files have lists of other kinds": split(DATA, cast("action", pa.list_(pa.float32()))),
    "files have indices of other sizes": split(DATA, cast("task_index", pa.int32())),
    "the last file is empty": split(DATA, lambda rows: rows.slice(len(rows))),
    "episodes lie in two files": split(EPISODES, cast("length", pa.int32())),
    "one file of episodes says more": split(
        EPISODES, lambda rows: rows, lambda rows: rows.append_column("note", pa.array(["x"]))
    ),
    "episodes do not say their length": without("length", EPISODES),
    "macOS left a file beside": lambda root: (
        (root / EPISODES).with_name("._file-000.parquet").write_bytes(b"Mac")
    ),
    "sentences are categories": table(task_index=[0, 1], task=pa.array(list(TASKS)).dictionary_encode()),
}


@pytest.mark.parametrize("case", MEANT)
def test_what_is_meant_is_read(plain: Path, root: Path, case: str, tmp_path: Path) -> None:
    MEANT[case](root)
    if case == "the last file is empty":  # with all rows in the first one
        pq.write_table(pq.read_table(plain / DATA), root / DATA)
    assert numbers(root) == numbers(plain)
    assert [fault for fault in dataset_faults(root) if "needed whole numbers" not in fault] == []


@pytest.mark.parametrize("case", ["indices are lists of one", "episodes do not say their length"])
def test_what_is_meant_is_split_off_in_lerobot_s_own_form(case: str, root: Path, tmp_path: Path) -> None:
    MEANT[case](root)
    write_selection(tmp_path / "out", [EpisodeSelection.of(open_dataset(root), [1])])
    assert list(dataset_faults(tmp_path / "out")) == []
    assert open_dataset(tmp_path / "out").episodes["length"] == [24]
    assert pa.types.is_int64(pq.read_schema(tmp_path / "out" / DATA).field("index").type)


REFUSED: list[tuple[Edit, str]] = [
    (
        stored("action", pa.list_(pa.float32()), lambda v: [*v[:5], v[5][:3], *v[6:]]),
        f"{DATA} row 5: action has 3 numbers, the first row 4; repair it",
    ),
    (
        stored("action", pa.list_(pa.float32()), lambda v: [*v[:5], None, *v[6:]]),
        f"{DATA} row 5: action is empty; repair it",
    ),
    (stored("action", pa.list_(pa.float32()), lambda v: [[]] * len(v)), "action has 0 numbers a row"),
    (
        stored("action", pa.float32(), lambda v: [x[0] for x in v]),
        "has 1 numbers a row, meta/info.json says 4",
    ),
    (stored("action", None, lambda v: [str(x) for x in v]), "action is stored as string, needed numbers"),
    (
        stored("action", None, lambda v: [[str(number) for number in x] for x in v]),
        "action is stored as list<element: string>, needed numbers",
    ),
    (
        stored("action", None, lambda v: [{"x": x[0]} for x in v]),
        "stored as struct<x: double>, needed numbers",
    ),
    (stored("task_index", pa.string(), lambda v: [str(x) for x in v]), "task_index is stored as string"),
    (
        stored("task_index", pa.float64(), lambda v: [x + 0.5 for x in v]),
        "task_index of row 0 is empty or no whole",
    ),
    (
        stored("task_index", pa.int64(), lambda v: [*v[:3], None, *v[4:]]),
        "task_index of row 3 is empty or no",
    ),
    (stored("timestamp", None, lambda v: [[x, x] for x in v]), "timestamp has 2 numbers a row"),
    (stored("timestamp", None, lambda v: [*v[:3], None, *v[4:]]), "but frame 3 of episode 0 stands at nan s"),
    (without("task_index"), f"{DATA}: has no column task_index; fetch it again"),
    (
        lambda root: (without("task_index")(root), info(lambda c: c["features"].pop("task_index"))(root)),
        "has no task_index; every LeRobot v3 dataset has it; add it",
    ),
    (
        split(DATA, lambda rows: rows.drop_columns(["action"])),
        "file-001.parquet: has no column action; fetch",
    ),
    (
        info(lambda c: c.update(total_frames=-1)),
        "meta/info.json: total_frames is -1; write the number of rows",
    ),
    (info(lambda c: c.update(total_frames=10**30)), "meta/info.json: total_frames is 1e+30; write"),
    (
        lambda root: (root / "meta/info.json").write_bytes(b"[" * 100_000),
        "meta/info.json: cannot be read (max",
    ),
    (images(PNG), f"{DATA}: {FRONT} is stored as binary, needed image files in `bytes`; embed them"),
    (images({"path": "x.png"}), "stored as struct<path: string>, needed image files in `bytes`"),
    (images("x.png"), f"{FRONT} is stored as string, needed image files"),
    (images([1, 2]), f"{FRONT} is stored as list<element: int64>, needed image files"),
    (images({"bytes": "x", "path": None}), "stored as struct<bytes: string, path: null>, needed"),
    (info(lambda c: c["features"][FRONT].update(dtype="image")), f"{DATA}: has no column {FRONT}; fetch"),
    (
        table(task_index=["0", "1"], task=list(TASKS)),
        "has columns task_index (string), task (string); needed task_",
    ),
    (
        table(task_index=[0, 1], task=[b"a", b"b"]),
        "has columns task_index (int64), task (binary); needed task_index",
    ),
    (table(task_index=[0, 1], task=not_utf8(2)), f"{TASKS_FILE}: has text that is not UTF-8 ("),
    (
        lambda root: pq.write_table(
            pq.read_table(root / EPISODES).append_column("note", not_utf8(3)), root / EPISODES
        ),
        "meta/episodes: has text that is not UTF-8 (",
    ),
    (
        stored("length", pa.string(), lambda v: [str(x) for x in v], EPISODES),
        "meta/episodes: length holds string, needed whole numbers; fetch",
    ),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_nobody_can_mean_is_refused_in_one_line(root: Path, number: int) -> None:
    edit, words = REFUSED[number]
    edit(root)
    with pytest.raises(DatasetError) as refused:
        numbers(root)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert all("\n" not in fault for fault in dataset_faults(root))
