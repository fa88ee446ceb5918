"""Missions whose simulator fails: the row says why, and the next one has a new world."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openral_benchmark.commands import app
from openral_benchmark.harness.shared_resources import SharedParts
from openral_benchmark.harness.suite_run import MissionJob, MissionSetting, _lost, run_missions
from openral_core.errors import SimulationError
from openral_core.scene import BenchmarkScene
from openral_core.suite import load_suite
from openral_rskill.registry import resolve


class BrittleWorld:
    """A world that fails for good when it is first used."""

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


class BrittleHarness:
    """Its first episode fails."""

    failures: list[BaseException] = []  # noqa: RUF012

    def __init__(self, scene: BenchmarkScene, *_: Any, shared: SharedParts, **__: Any) -> None:
        self._scene, self._shared = scene, shared

    def run(self, row: str, variant: str, init_id: int) -> tuple[dict[str, Any], list[Any]]:
        self._shared.world(self._scene)
        if self.failures:
            raise self.failures.pop()
        return _lost(MissionJob(self._scene, init_id, variant, (row,)), row, "") | {"success": True}, []


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> list[BrittleWorld]:
    """Return the worlds that are opened."""
    found: list[BrittleWorld] = []

    def opened(scene: BenchmarkScene) -> BrittleWorld:
        found.append(BrittleWorld())
        return found[-1]

    monkeypatch.setattr("openral_benchmark.harness.suite_run.MissionHarness", BrittleHarness)
    monkeypatch.setattr("openral_benchmark.harness.shared_resources.make_backend", opened)
    return found


def test_an_interrupted_run_leaves_no_worlds_to_the_next_one(
    worlds: list[BrittleWorld], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BrittleHarness, "failures", [KeyboardInterrupt()])
    suite = load_suite("harness_development")
    setting = MissionSetting(resolve("mini-metaworld-mt10").folder, 160, "cpu", False, None, None)
    job = MissionJob(suite.scenes[0], 0, "usual", ("bare",))
    with pytest.raises(KeyboardInterrupt):
        list(run_missions([job], setting, tmp_path, suite=suite, workers=1, resume=False))
    assert [world.closed for world in worlds] == [True]


@pytest.mark.parametrize("failure", [ValueError("qacc is not finite"), SimulationError("it ended")])
def test_a_simulator_that_fails_costs_one_episode_and_is_opened_anew(
    failure: Exception, worlds: list[BrittleWorld], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BrittleHarness, "failures", [failure])
    suite = load_suite("harness_development")
    setting = MissionSetting(resolve("mini-metaworld-mt10").folder, 160, "cpu", False, None, None)
    job = MissionJob(suite.scenes[0], 0, "usual", ("bare", "home", "harness"))
    [rows] = run_missions([job], setting, tmp_path, suite=suite, workers=1, resume=False)
    assert [row["success"] for row in rows] == [False, True, True]
    assert str(failure) in rows[0]["error"]
    assert len(worlds) == 2
    assert all(world.closed for world in worlds)


def test_episodes_that_say_nothing_of_an_error_are_counted(tmp_path: Path) -> None:
    """A result may be of an earlier version, or from anybody."""
    row = {"row": "home", "task": "metaworld/reach-v3", "init_id": 0, "instruction": "go", "success": True}
    odd = {**row, "row": ["home"]}
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"eval_config": {"vla_id": "a/b"}, "results": {"episodes": [row, odd]}}))
    said = CliRunner().invoke(app, ["count", str(path), "--memory", str(tmp_path / "memory.md")])
    assert (said.exit_code, said.exception) == (0, None)
    assert ": 1 attempts counted" in said.output
