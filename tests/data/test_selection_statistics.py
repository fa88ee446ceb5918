"""Statistics of merged and split datasets of others, by which LeRobot's policies normalise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from plain_dataset import DATA, EPISODES, LENGTHS, change_json, write_dataset
from typer.testing import CliRunner

from openral_data.commands import app
from openral_data.datasets.check import dataset_faults

CONTACT, TACTILE = "observation.contact", "observation.tactile"


def put_columns(path: Path, **columns: pa.Array) -> None:
    table = pq.read_table(path)
    for name, values in columns.items():
        table = table.append_column(name, values)
    pq.write_table(table, path)


def split(root: Path, episodes: str, out: Path) -> dict[str, dict[str, list[float]]]:
    done = CliRunner().invoke(app, ["split", str(root), "--episodes", episodes, "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert list(dataset_faults(out)) == []
    stats: dict[str, dict[str, list[float]]] = json.loads((out / "meta/stats.json").read_text())
    return stats


def test_quantiles_of_the_chosen_episodes_are_kept(tmp_path: Path) -> None:
    """LeRobot takes the mean of the episodes' quantiles, weighted by their rows."""
    root = write_dataset(tmp_path / "dataset")
    quantiles = np.arange(12, dtype=float).reshape(3, 4)
    columns = {
        "count": [[length] for length in LENGTHS],
        "q01": quantiles.tolist(),
        "q99": [[np.nan] * 4] * 3,
    }
    put_columns(root / EPISODES, **{f"stats/action/{what}": pa.array(rows) for what, rows in columns.items()})
    found = split(root, "0,2", tmp_path / "out")
    weights = np.array([LENGTHS[0], LENGTHS[2]])
    np.testing.assert_allclose(found["action"]["q01"], np.average(quantiles[[0, 2]], axis=0, weights=weights))
    assert "q99" not in found["action"]  # JSON has no nan
    assert not any(what.startswith("q") for what in found["observation.state"])  # the rows have none


def test_truth_values_and_matrices_have_statistics_of_lerobots_shape(tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "dataset")
    rows = sum(LENGTHS)
    contact = np.arange(rows) % 4 == 0
    tactile = np.random.default_rng(0).normal(size=(rows, 2, 3))
    put_columns(root / DATA, **{CONTACT: pa.array(contact), TACTILE: pa.array(tactile.tolist())})
    features = {
        CONTACT: {"dtype": "bool", "shape": [1], "names": None},
        TACTILE: {"dtype": "float64", "shape": [2, 3], "names": None},
    }
    change_json(root / "meta/info.json", lambda info: info["features"].update(features))
    found = split(root, "0-2", tmp_path / "out")
    assert found[CONTACT]["mean"] == [contact.mean()]
    np.testing.assert_allclose(found[TACTILE]["mean"], tactile.mean((0, 1)))
    np.testing.assert_allclose(found[TACTILE]["std"], tactile.std((0, 1)))
    assert found[TACTILE]["count"] == [rows]
