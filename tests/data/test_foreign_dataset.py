"""Datasets of others: what is wrong with them is one line for every verb, and what is right is not called wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from plain_dataset import (
    DATA,
    EPISODES,
    FPS,
    FRONT,
    LENGTHS,
    TASKS,
    change_column,
    change_json,
    write_dataset,
)
from typer.testing import CliRunner

from openral_core.errors import DatasetError, NotFoundError, OutputError
from openral_data.commands import app
from openral_data.datasets.check import dataset_faults
from openral_data.lerobot_v3 import open_dataset
from openral_sim_bridge.rendering.mp4 import write_mp4

VIDEO = f"videos/{FRONT}/chunk-000/file-000.mp4"
TASKS_FILE = "meta/tasks.parquet"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("foreign") / "dataset")


@pytest.fixture
def root(plain: Path, tmp_path: Path) -> Path:
    """One that may be broken."""
    return Path(shutil.copytree(plain, tmp_path / "dataset"))


def say(**changes: Any) -> Callable[[Path], None]:
    """Change info.json; None: take the key out."""

    def edit(content: dict[str, Any]) -> None:
        content.update(changes)
        for name in [name for name, value in changes.items() if value is None]:
            content.pop(name)

    return lambda root: change_json(root / "meta/info.json", edit)


def put(name: str, row: int, value: Any, file: str = EPISODES) -> Callable[[Path], None]:
    def edit(cells: list[Any]) -> list[Any]:
        return [value if at == row else cell for at, cell in enumerate(cells)]

    return lambda root: change_column(root / file, name, edit)


def as_text(root: Path) -> None:
    table = pq.read_table(root / EPISODES)
    words = pa.array([str(cell) for cell in table["dataset_to_index"].to_pylist()])
    at = table.column_names.index("dataset_to_index")
    pq.write_table(table.set_column(at, "dataset_to_index", words), root / EPISODES)


def cut(name: str) -> Callable[[Path], None]:
    return lambda root: (root / name).write_bytes(
        (root / name).read_bytes()[: (root / name).stat().st_size // 2]
    )


OF_META: list[tuple[Callable[[Path], None], str]] = [
    (put("dataset_from_index", 1, None), "meta/episodes row 1: dataset_from_index is empty; fetch"),
    (put("length", 2, -5), "meta/episodes row 2: length of episode 2 is -5, but it has 40 rows; fetch"),
    (put("dataset_from_index", 0, -1), "meta/episodes row 0: episode 0 begins at row -1; fetch"),
    (put("dataset_to_index", 1, 30), "row 1: episode 1 ends at row 30, before its first, 30; fetch"),
    (as_text, "meta/episodes: dataset_to_index holds string, needed whole numbers; fetch"),
    *((say(fps=fps), "meta/info.json: fps is ") for fps in (0, -1, 1e308, float("nan"), float("inf"))),
    (say(fps=True), "meta/info.json: fps is missing or of another type"),
    (say(codebase_version="v2.1"), "codebase_version v2.1, needed v3.0; convert it: python -m lerobot"),
    (say(codebase_version="v2.0"), "codebase_version v2.0, needed v3.0; LeRobot converts v2.1 only"),
    (say(codebase_version="v4.0"), "codebase_version v4.0, needed v3.0; it is newer than this openral"),
    (say(codebase_version=None), "has no codebase_version; is this a LeRobot dataset?"),
    (lambda root: (root / "meta/info.json").write_text("[]"), "holds no keys; is this a LeRobot dataset?"),
]


@pytest.mark.parametrize("number", range(len(OF_META)))
def test_broken_meta_files_are_refused_by_every_verb_in_one_line(number: int, root: Path) -> None:
    breaks, words = OF_META[number]
    breaks(root)
    with pytest.raises(DatasetError) as refused:
        open_dataset(root)
    assert words in str(refused.value)
    assert list(dataset_faults(root)) == [str(refused.value)]


OF_DATA: list[tuple[Callable[[Path], None], str]] = [
    (cut(DATA), f"{DATA}: cannot be read ("),
    (put("action", 4, None, DATA), f"{DATA}: column action cannot be read (Expected all lists"),
    (
        put("action", 4, [0.0, float("inf"), 0.0, 0.0], DATA),
        "episode 0 frame 4: action number 1 is not finite",
    ),
    (cut(VIDEO), f"{VIDEO}: is cut off; fetch the dataset again"),
    (put(f"videos/{FRONT}/from_timestamp", 1, None), f"row 1: videos/{FRONT}/from_timestamp is empty; fetch"),
    (put("dataset_from_index", 1, 31), "length of episode 1 is 24, but it has 23 rows"),
]


@pytest.mark.parametrize("number", range(len(OF_DATA)))
@pytest.mark.filterwarnings("error")
def test_a_broken_source_is_not_merged_and_leaves_nothing_behind(
    number: int, root: Path, plain: Path, tmp_path: Path
) -> None:
    breaks, words = OF_DATA[number]
    breaks(root)
    assert any(words in line for line in dataset_faults(root, videos=False))
    out = tmp_path / "out"
    before = sorted(tmp_path.iterdir())
    done = CliRunner().invoke(app, ["merge", str(plain), str(root), "--out", str(out)])
    assert isinstance(done.exception, DatasetError)
    assert words in str(done.exception)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [("action", [float("nan")] * 4), ("timestamp", 9.0), ("task_index", 7), ("index", 3000)],
)
def test_the_sound_episodes_of_a_broken_dataset_can_be_split_off(
    root: Path, tmp_path: Path, name: str, value: Any
) -> None:
    put(name, 4, value, DATA)(root)
    say(total_episodes=9)(root)
    done = CliRunner().invoke(app, ["split", str(root), "--episodes", "1,2", "--out", str(tmp_path / "out")])
    assert done.output == f"2 episodes in {tmp_path / 'out'}\n"
    assert list(dataset_faults(tmp_path / "out")) == []


def test_a_row_that_says_to_be_of_a_chosen_episode_is_a_fault_of_it(root: Path, tmp_path: Path) -> None:
    put("episode_index", 4, 1, DATA)(root)
    done = CliRunner().invoke(app, ["split", str(root), "--episodes", "1,2", "--out", str(tmp_path / "out")])
    assert "episode 0 frame 4: episode_index is 1, expected 0; mend it" in str(done.exception)


@pytest.mark.parametrize("words", ["", "  ", None])
def test_an_episode_without_words_is_not_merged_and_the_others_are(
    root: Path, plain: Path, tmp_path: Path, words: str | None
) -> None:
    pq.write_table(pa.table({"task_index": [0, 1], "task": [TASKS[0], words]}), root / "meta/tasks.parquet")
    done = CliRunner().invoke(app, ["merge", str(plain), str(root), "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, DatasetError)
    assert "meta/tasks.parquet: task 1 has no words; mend it, or take the other" in str(done.exception)
    done = CliRunner().invoke(app, ["split", str(root), "--episodes", "0,2", "--out", str(tmp_path / "out")])
    assert done.output == f"2 episodes in {tmp_path / 'out'}\n"


def test_the_root_of_a_mounted_disk_is_no_place_for_a_dataset(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a volume of a container: it cannot be replaced by the folder in which the dataset is written."""
    out = tmp_path / "volume"
    out.mkdir()
    monkeypatch.setattr("os.path.ismount", lambda path: Path(path) == out)
    done = CliRunner().invoke(app, ["merge", str(plain), "--out", str(out)])
    assert isinstance(done.exception, OutputError)
    assert str(done.exception) == f"--out {out}: is the root of a mounted disk; name a folder in it"
    assert sorted(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("evil", ["../../../evil", "observation.images/left", "..", ""])
def test_a_camera_whose_name_is_no_folder_of_the_dataset_is_refused(
    root: Path, tmp_path: Path, evil: str
) -> None:

    def renamed(info: dict[str, Any]) -> None:
        info["video_path"] = info["video_path"].replace("{video_key}", FRONT)
        info["features"] = {evil if name == FRONT else name: each for name, each in info["features"].items()}

    change_json(root / "meta/info.json", renamed)
    table = pq.read_table(root / EPISODES)
    names = [name.replace(FRONT, evil) for name in table.column_names]
    pq.write_table(table.rename_columns(names), root / EPISODES)
    before = sorted(tmp_path.iterdir())
    done = CliRunner().invoke(
        app, ["split", str(root), "--episodes", "0", "--out", str(tmp_path / "a" / "out")]
    )
    assert sorted(tmp_path.iterdir()) == before
    assert isinstance(done.exception, DatasetError)
    assert (
        f"meta/info.json: videos are in a folder of the feature's name, and features.{evil} names none"
        in str(done.exception)
    )


@pytest.mark.parametrize(
    ("numbers", "fault"),
    [
        ([0, None], "row 1: task_index is empty or no whole number; repair"),
        ([0.0, 0.5], "row 1: task_index is empty or no whole number; repair"),
        ([0.0, float("nan")], "row 1: task_index is empty or no whole number; repair"),
        ([1, 1], "row 1: task 1 is there twice; keep one"),
    ],
)
def test_numbers_of_tasks_that_are_none_are_one_fault(root: Path, numbers: list[Any], fault: str) -> None:
    pq.write_table(pa.table({"task_index": numbers, "task": list(TASKS)}), root / "meta/tasks.parquet")
    [found] = dataset_faults(root, videos=False)
    assert f"meta/tasks.parquet {fault}" in found


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (
            "data/{foo}.parquet",
            "data_path 'data/{foo}.parquet' cannot be filled in with chunk_index and file",
        ),
        ("../../../../etc/passwd", "data_path '../../../../etc/passwd' leads out of the dataset"),
        (
            "data/{chunk_index}-{file_index}.parquet",
            "by data_path there is to be data/0-0.parquet; it is not",
        ),
        (None, "meta/info.json: has no data_path; write v3's own, data/chunk-"),
    ],
)
def test_a_data_path_by_which_lerobot_finds_nothing_is_a_fault(
    root: Path, pattern: str | None, words: str
) -> None:
    say(data_path=pattern)(root)
    [fault] = dataset_faults(root)
    assert words in fault


def test_the_size_of_a_picture_is_read_by_the_names_of_its_sides(root: Path) -> None:
    layout = {"shape": [3, 96, 128], "names": ["channels", "height", "width"]}
    change_json(root / "meta/info.json", lambda info: info["features"][FRONT].update(layout))
    assert list(dataset_faults(root)) == []
    write_mp4(root / VIDEO, [np.zeros((64, 64, 3), np.uint8)] * 94, fps=FPS)
    assert list(dataset_faults(root)) == [f"{VIDEO}: 64x64 px, meta/info.json says 96x128"]


def test_words_of_a_dataset_reach_the_terminal_without_what_it_would_obey(root: Path) -> None:
    put("tasks", 0, ["a\nb\t\x1b[31mred [/bold] \u202e"])(root)
    shown = CliRunner().invoke(app, ["show", str(root)], env={"COLUMNS": "200"})
    assert "a\\nb\\t\\x1b[31mred [/bold] \\u202e" in shown.output
    put("__index_level_0__", 0, "\x1b[2J", TASKS_FILE)(root)
    robot = "\x1b]0;title\x07"
    say(robot_type=robot, codebase_version="v3.\x1b[2J")(root)
    for command in (["list", str(root.parent)], ["check", str(root)], ["show", str(root)]):
        said = CliRunner().invoke(app, command, env={"COLUMNS": "200"}).output
        assert "\x1b" not in said
        assert "\x07" not in said


def test_what_goes_into_a_pipe_is_neither_cut_nor_wrapped(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    words = "pick up the cube that lies to the left of the other and put it where nobody has put one before"
    put("tasks", 0, [words])(root)
    assert words in CliRunner().invoke(app, ["show", str(root)]).output
    say(fps=0)(root)
    with pytest.raises(DatasetError) as refused:
        open_dataset(root)
    assert str(refused.value) in CliRunner().invoke(app, ["list", str(root.parent)]).output.splitlines()


def test_an_error_that_repeats_words_of_a_file_has_them_printable(root: Path) -> None:
    say(codebase_version="v9.\x1b[2J")(root)
    code = f"import sys; from openral_cli.app import main; sys.argv[1:] = ['data', 'show', {str(root)!r}]; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=dict(os.environ), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "codebase_version v9.\\x1b[2J, needed v3.0" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("there", [True, False])
def test_a_repair_of_what_no_recorder_wrote_says_so(root: Path, there: bool) -> None:
    folder = root if there else root / "nowhere"
    done = CliRunner().invoke(app, ["repair", str(folder)])
    assert isinstance(done.exception, NotFoundError)
    assert f"{folder}: no recording is here; name the folder" in str(done.exception)


def typed(name: str, value: Any, file: str = DATA) -> Callable[[Path], None]:
    """Give a column the value in every row, with the type of the value."""

    def edit(root: Path) -> None:
        table = pq.read_table(root / file)
        cells = pa.array([value] * len(table))
        pq.write_table(table.set_column(table.column_names.index(name), name, cells), root / file)

    return edit


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            put(f"videos/{FRONT}/from_timestamp", 1, float("nan")),
            f"meta/episodes row 1: videos/{FRONT}/from_timestamp is nan, needed seconds; fetch",
        ),
        (
            typed(f"videos/{FRONT}/from_timestamp", "soon", EPISODES),
            f"meta/episodes row 0: videos/{FRONT}/from_timestamp is soon, needed seconds; fetch",
        ),
        (say(total_episodes="three"), "meta/info.json: total_episodes is three, there are 3"),
        (say(total_tasks=float("nan")), "meta/info.json: total_tasks is nan, there are"),
        (typed("timestamp", "noon"), "timestamp: is stored as string, needed floating point numbers"),
        (typed("frame_index", "first"), "frame_index: is stored as string, needed whole numbers"),
        (typed("frame_index", [0, 0]), "frame_index: holds lists of other lengths than one"),
    ],
)
def test_a_place_or_a_total_that_is_no_number_is_one_fault(
    root: Path, change: Callable[[Path], None], fault: str
) -> None:
    change(root)
    [found] = dataset_faults(root)
    assert fault in found


@pytest.mark.parametrize("key", ["data_path", "video_path"])
@pytest.mark.parametrize(
    "name",
    ["x" * 300, "{chunk_index:0999999999d}", "{chunk_index:{file_index}}"],
    ids=["long", "endless", "as long as another"],
)
def test_a_pattern_of_paths_that_no_file_can_have_is_one_fault(root: Path, key: str, name: str) -> None:
    say(**{key: name + "/{chunk_index}-{file_index}"})(root)
    faults = list(dataset_faults(root, videos=False))
    assert faults
    assert all(f"meta/info.json: {key} '" in fault and "write v3's own" in fault for fault in faults)


def test_tasks_that_are_no_lists_of_texts_are_one_fault(root: Path) -> None:
    typed("tasks", 3, EPISODES)(root)
    [fault] = dataset_faults(root)
    assert fault == f"{root}/meta/episodes: tasks holds int64, needed lists of texts; fetch the dataset again"


@pytest.mark.parametrize(("name", "value"), [("data/chunk_index", b"0"), ("data/file_index", [0])])
def test_a_place_of_the_data_that_is_no_number_is_a_fault_and_written_anew(
    root: Path, tmp_path: Path, name: str, value: Any
) -> None:
    typed(name, value, EPISODES)(root)
    assert "cannot be filled in with chunk_index and file_index" in next(dataset_faults(root))
    done = CliRunner().invoke(app, ["split", str(root), "--episodes", "0", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.exception
    assert list(dataset_faults(tmp_path / "out")) == []


def test_datasets_of_other_writers_whose_texts_have_other_types_are_merged(
    plain: Path, root: Path, tmp_path: Path
) -> None:
    """Newer versions of pandas and pyarrow write large strings."""
    table = pq.read_table(root / EPISODES)
    at = table.column_names.index("tasks")
    words = pa.array(table["tasks"].to_pylist(), pa.list_(pa.large_string()))
    pq.write_table(table.set_column(at, "tasks", words), root / EPISODES)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["merge", str(plain), str(root), "--out", str(out)])
    assert done.exit_code == 0, done.exception
    assert list(dataset_faults(out)) == []


def test_statistics_of_an_episode_that_are_no_numbers_are_refused(root: Path, tmp_path: Path) -> None:
    table = pq.read_table(root / EPISODES)
    for what in ("q01", "count"):
        cells = pa.array(["low" if what == "q01" else [9]] * len(table))
        table = table.append_column(f"stats/action/{what}", cells)
    pq.write_table(table, root / EPISODES)
    done = CliRunner().invoke(app, ["merge", str(root), "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, DatasetError)
    assert "the statistics of episode 0 are no numbers (" in str(done.exception)


def test_a_feature_of_no_numbers_is_split_off_with_the_others(root: Path, tmp_path: Path) -> None:
    table = pq.read_table(root / DATA)
    nothing = pa.array([[]] * len(table), pa.list_(pa.float32()))
    pq.write_table(table.append_column("observation.touch", nothing), root / DATA)
    feature = {"dtype": "float32", "shape": [0], "names": None}
    change_json(root / "meta/info.json", lambda info: info["features"].update({"observation.touch": feature}))
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["split", str(root), "--episodes", "0", "--out", str(out)])
    assert done.exit_code == 0, done.exception
    assert list(dataset_faults(out)) == []


def test_a_video_is_decoded_once_however_many_episodes_it_holds(
    plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    own = av.open

    def counted(path: str) -> Any:
        opened.append(path)
        return own(path)

    monkeypatch.setattr("av.open", counted)
    assert list(dataset_faults(plain)) == []
    assert len(LENGTHS) == 3
    assert {opened.count(path) for path in opened} == {3}, "for its header twice, and to decode it"


def test_episodes_that_share_frames_of_a_video_are_read(root: Path) -> None:
    first = next(iter(LENGTHS))
    whole = list(open_dataset(root).images(FRONT))
    put(f"videos/{FRONT}/from_timestamp", 1, 5 / FPS)(root)
    assert list(dataset_faults(root)) == []
    shared = list(open_dataset(root).images(FRONT))
    assert len(shared) == len(whole)
    np.testing.assert_array_equal(shared[first], whole[5])


def test_each_episode_in_a_video_has_the_fault_of_its_own(root: Path) -> None:
    put(f"videos/{FRONT}/from_timestamp", 0, 0.52)(root)
    put(f"videos/{FRONT}/from_timestamp", 2, -3.0)(root)
    faults = list(dataset_faults(root))
    assert [fault.partition(":")[0] for fault in faults] == ["episode 2 frame 0"]
    assert "has no frame at -3.000 s" in faults[0]


def test_what_is_right_has_no_fault(plain: Path) -> None:
    assert list(dataset_faults(plain)) == []
    assert sorted(open_dataset(plain).sentences().values()) == sorted(TASKS)


def test_a_snapshot_of_the_hubs_cache_whose_files_are_links_is_read(root: Path, tmp_path: Path) -> None:
    """`huggingface_hub.snapshot_download` lays each file into `blobs` and links to it."""
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    for number, path in enumerate(sorted(path for path in root.rglob("*") if path.is_file())):
        (blobs / f"{number:064x}").write_bytes(path.read_bytes())
        path.unlink()
        path.symlink_to(os.path.relpath(blobs / f"{number:064x}", path.parent))
    assert list(dataset_faults(root)) == []
    done = CliRunner().invoke(app, ["split", str(root), "--episodes", "1", "--out", str(tmp_path / "out")])
    assert done.output == f"1 episode in {tmp_path / 'out'}\n"
    assert not any(path.is_symlink() for path in (tmp_path / "out").rglob("*"))
    assert list(dataset_faults(tmp_path / "out")) == []


def test_a_dataset_without_episodes_says_what_may_have_happened(root: Path) -> None:
    (root / EPISODES).unlink()
    [fault] = dataset_faults(root)
    assert "fetch the whole dataset" in fault
    assert "killed before `finalize()`: record it again" in fault


def test_a_folder_whose_name_is_no_utf_8_is_listed_beside_others_and_named(root: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(root.parent) + b"/m\xfcll"))
    shutil.copytree(root, odd)
    listed = CliRunner().invoke(app, ["list", str(root.parent)], catch_exceptions=False)
    assert listed.exit_code == 0
    said = listed.output.replace("\n", "")  # of a table that is as wide as the terminal
    assert "m\\udcfcll: its path is no text in UTF-8; rename the folder" in said
    assert str(sum(LENGTHS)) in listed.output  # the frames of the other
    with pytest.raises(DatasetError, match="no text in UTF-8"):
        open_dataset(odd)
