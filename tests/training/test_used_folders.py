"""Commands keep out of datasets that they did not make."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from openral_benchmark.commands import app as benchmark
from openral_core.errors import OutputError
from openral_training.commands import app as train

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
