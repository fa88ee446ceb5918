"""The reward monitor's worth: the same missions, coins and clock with and without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from openral_reasoner.evaluation.commands import reasoner
from openral_reasoner.evaluation.monitor_ablation import VARIANTS, row_of, run_variant

MISSIONS = 30
PATIENCE_S = 90.0


def test_without_a_monitor_nothing_is_called_done_and_with_it_most_things_are_done() -> None:
    two, one, blind, looked = (
        row_of(variant, run_variant(variant, MISSIONS, seed=7)) for variant in VARIANTS
    )
    assert two["success"] >= 0.9
    assert 0.4 < one["success"] < two["success"]
    assert (blind["done"], blind["attempts_mean"]) == (0, 1.0)
    assert looked["success"] >= 0.9
    assert looked["seconds_mean"] > 2 * two["seconds_mean"]
    assert [row["false_claims"] for row in (two, one, blind, looked)] == [0, 0, 0, 0]


def test_the_same_seed_gives_the_same_table(tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        done = CliRunner().invoke(reasoner, ["ablation", "--missions", "3", "--out", str(file)])
        assert done.exit_code == 0, done.output
    assert files[0].read_text() == files[1].read_text()
    assert [row["missions"] for row in json.loads(files[0].read_text())["rows"]] == [3] * len(VARIANTS)


def test_the_file_is_written_although_nobody_reads_the_table(tmp_path: Path) -> None:
    out = tmp_path / "ablation.json"
    reading, writing = os.pipe()
    os.close(reading)
    words = ["reasoner", "ablation", "--missions", "1", "--out", str(out)]
    with os.fdopen(writing, "wb") as table:
        subprocess.run(
            [sys.executable, "-c", "from openral_cli.app import main; main()", *words],
            stdout=table,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            check=False,
        )
    assert len(json.loads(out.read_text())["rows"]) == len(VARIANTS)
