"""Commands keep out of datasets that they did not make."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from openral_benchmark.commands import app as benchmark
from openral_core.errors import NotFoundError, OutputError
from openral_rskill.measured_results import keep_result
from openral_training.commands import app as train
from openral_training.training_folder import TrainingFolder

INFO = '{"codebase_version": "v3.0"}'


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder with a dataset of somebody else's."""
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text(INFO)
    return tmp_path


@pytest.mark.parametrize(
    ("app", "words"),
    [
        (train, ("bc", "--dataset", "other", "--out")),
        (train, ("reward", "--dataset", "other", "--out")),
        (benchmark, ("run", "--suite", "metaworld_mini", "--rskill", "mini-metaworld", "--out")),
    ],
    ids=lambda words: " ".join(words[:-1]) if isinstance(words, tuple) else None,
)
def test_a_dataset_that_is_there_is_left_alone(app: object, words: tuple[str, ...], foreign: Path) -> None:
    refused = CliRunner().invoke(app, [*words, str(foreign)]).exception  # type: ignore[arg-type]
    assert isinstance(refused, OutputError)
    assert (
        str(refused)
        == f"--out {foreign}: holds a dataset that this command did not make; name another folder"
    )
    assert [path.name for path in foreign.rglob("*")] == ["meta", "info.json"]
    assert (foreign / "meta" / "info.json").read_text() == INFO


def test_a_recorded_run_is_a_dataset_too(foreign: Path) -> None:
    run = foreign / "run"
    (run / "recording" / "dataset").mkdir(parents=True)
    (foreign / "meta").rename(run / "recording" / "dataset" / "meta")
    refused = CliRunner().invoke(train, ["bc", "--dataset", "other", "--out", str(run)]).exception
    assert "holds a dataset" in str(refused)


TRAININGS = {
    "bc": (("bc", "--dataset", "other"), "model.safetensors", "run.safetensors"),
    "reward": (("reward", "--dataset", "other"), "model.safetensors", "run.safetensors"),
    "world-model": (("world-model", "--dataset", "other"), "model.safetensors", "dynamics.run.safetensors"),
    "detector": (("detector", "--recipe", "other"), "model.safetensors", "run/state.safetensors"),
    "planner": (("planner",), "planner.safetensors", "run.safetensors"),
}
"""Words of the command, the file that it leaves, and one that lies there while it is not finished."""


@pytest.mark.parametrize("name", TRAININGS)
def test_a_finished_training_is_not_written_over(name: str, tmp_path: Path) -> None:
    words, result, _ = TRAININGS[name]
    (tmp_path / result).write_text("an hour's work")
    refused = CliRunner().invoke(train, [*words, "--out", str(tmp_path)]).exception
    assert isinstance(refused, OutputError)
    assert str(refused) == (
        f"--out {tmp_path}: a training was finished there already, and {result} is not written over; name another "
        "--out, or delete that file to train anew"
    )
    assert (tmp_path / result).read_text() == "an hour's work"


@pytest.mark.parametrize("name", [name for name in TRAININGS if name != "planner"])
def test_one_that_is_not_finished_goes_on(name: str, tmp_path: Path) -> None:
    words, result, state = TRAININGS[name]
    (tmp_path / state).parent.mkdir(exist_ok=True)
    for file in (result, state):
        (tmp_path / file).write_text("half")
    refused = CliRunner().invoke(train, [*words, "--out", str(tmp_path)]).exception
    assert isinstance(refused, NotFoundError), "it is refused for the data alone, which are not there"


def test_what_is_said_of_going_on_is_so(tmp_path: Path) -> None:
    folder = TrainingFolder(tmp_path)
    assert folder.goes_on() == "nothing was kept yet, so the same command begins anew"
    (tmp_path / "run.safetensors").touch()
    assert folder.goes_on() == "the same command goes on from what is kept"


def test_a_result_that_cannot_be_read_is_told_before_the_work_that_would_replace_it(tmp_path: Path) -> None:
    path = tmp_path / "eval" / "metaworld_mini.json"
    path.parent.mkdir()
    for content in ("{", "[1]"):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(OutputError, match=r"metaworld_mini\.json: is no JSON object"):
            keep_result(path)
    path.write_text('{"baselines": {}}', encoding="utf-8")
    keep_result(path)
