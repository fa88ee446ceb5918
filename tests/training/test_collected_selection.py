"""A collected dataset that is merged or split keeps its tasks, whose order is that of the columns of its labels."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from test_cloning_words import CLOSE, OPEN, PLAIN, PUSH, STEPS, collect, recipe
from typer.testing import CliRunner

from openral_core.errors import DatasetError
from openral_data.commands import app
from openral_data.datasets.check import dataset_faults
from openral_data.lerobot_meta import tasks_table
from openral_data.lerobot_v3 import open_dataset
from openral_training.bc import cloning_data


def run(*words: object) -> None:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output


def test_each_row_keeps_the_task_of_its_labels_column(tmp_path: Path) -> None:
    """The tasks of no episode stay as well, and so do two tasks that are asked for in the same words."""
    words = {**PLAIN, "door-open-v3": PLAIN[OPEN]}
    collect(tmp_path / "a", words, CLOSE, PUSH, OPEN)
    collect(tmp_path / "b", words, PUSH, "door-open-v3", CLOSE)
    run("split", tmp_path / "a", "--episodes", "1,2", "--out", tmp_path / "some")
    run("merge", tmp_path / "b", tmp_path / "some", "--out", tmp_path / "all")
    for name, asked in (("some", [PUSH, OPEN]), ("all", [PUSH, "door-open-v3", CLOSE, PUSH, OPEN])):
        made = open_dataset(tmp_path / name)
        assert list(dataset_faults(tmp_path / name)) == []
        assert made.sentences() == dict(enumerate(words.values()))
        assert made.info["total_tasks"] == len(words)
        columns = made.columns(["task_index", "label.success"])
        assert [made.tasks[task] for task in columns["task_index"][::STEPS]] == asked
        assert [made.tasks[row.argmax()] for row in columns["label.success"][::STEPS]] == asked


def test_after_a_split_a_task_is_cloned_with_its_own_words(tmp_path: Path) -> None:
    collect(tmp_path / "a", PLAIN, OPEN, CLOSE, PUSH)
    run("split", tmp_path / "a", "--episodes", "2", "--out", tmp_path / "some")
    data = cloning_data(open_dataset(tmp_path / "some"), recipe(OPEN, CLOSE, PUSH))
    assert {data.sentences[task] for task in data.demonstrations.task} == {(PLAIN[PUSH],)}


def test_collections_with_other_words_for_a_task_are_not_merged(tmp_path: Path) -> None:
    collect(tmp_path / "a", PLAIN, OPEN)
    collect(tmp_path / "b", {**PLAIN, CLOSE: "push it shut"}, OPEN)
    with pytest.raises(DatasetError) as refused:
        run("merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "all")
    assert str(refused.value) == (
        f"{tmp_path / 'b'}: {CLOSE} is 'push it shut', in {tmp_path / 'a'} 'close the drawer'; they cannot be merged"
    )
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ([PUSH], "has tasks [0], label.success has columns of 3 tasks"),
        (
            [PUSH, OPEN, CLOSE],
            f"episode 0: {PUSH} is 'push the puck', but 'close the drawer' in meta/tasks.parquet",
        ),
    ],
)
def test_tasks_that_are_not_those_of_the_labels_are_a_fault(
    tmp_path: Path, order: list[str], why: str
) -> None:
    collect(tmp_path / "a", PLAIN, PUSH)
    pq.write_table(tasks_table([PLAIN[task] for task in order]), tmp_path / "a" / "meta" / "tasks.parquet")
    assert any(why in fault for fault in dataset_faults(tmp_path / "a"))
    with pytest.raises(DatasetError, match="columns of"):
        run("split", tmp_path / "a", "--episodes", "0", "--out", tmp_path / "some")
