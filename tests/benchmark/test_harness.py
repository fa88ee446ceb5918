"""Missions in one process: the rows of the suite `harness` over real worlds, the real director and the real models."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from typer.testing import CliRunner

from openral_benchmark.commands import app
from openral_benchmark.harness.ablations import ROWS
from openral_benchmark.harness.mission_harness import MissionHarness
from openral_benchmark.harness.perturbations import VARIANTS
from openral_benchmark.harness.result import ALL, compare_rows, mission_result, rate
from openral_benchmark.harness.shared_resources import MOST_WORLDS, SharedParts
from openral_benchmark.harness.suite_run import (
    MissionJob,
    MissionSetting,
    _lost,
    mission_identity,
    run_missions,
)
from openral_benchmark.harness.tables import mission_page, mission_table, remarks
from openral_benchmark.harness.world import DISPLACED_M, begin_world
from openral_benchmark.row_log import RowLog, RunLock
from openral_core.errors import ManifestError, NotFoundError, OutputError
from openral_core.files.named_files import find_files
from openral_core.robot import load_robot
from openral_core.scene import SCENE_PATTERNS, BenchmarkScene, load_scene
from openral_core.suite import load_suite
from openral_reasoner.memory.outcomes import Outcomes, outcomes_beside
from openral_rskill.registry import resolve
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.metaworld.initial_states import OUTSIDE_M, outside_vector, random_vector

TASK, STEPS, ATTEMPT = "pick-place-v3", 96, 16
DESIGN = 4002
"""An initial state that no suite judges on."""
TIMED = ("wall_s",)


@pytest.fixture(scope="module")
def scene() -> BenchmarkScene:
    loaded = load_scene("metaworld_missions", BenchmarkScene)
    return loaded.model_copy(update={"task": loaded.task.model_copy(update={"max_steps": STEPS})})


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedParts]:
    parts = SharedParts()
    yield parts
    parts.close()


@pytest.fixture(scope="module")
def harness(scene: BenchmarkScene, shared: SharedParts) -> MissionHarness:
    return MissionHarness(scene, resolve("mini-metaworld-mt10"), attempt_steps=ATTEMPT, shared=shared)


@pytest.fixture(scope="module")
def short_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty states of a task whose missions have few steps."""
    folder = tmp_path_factory.mktemp("few")
    text = find_files("metaworld_missions", "scene", SCENE_PATTERNS)[-1].read_text()
    assert "max_steps: 500" in text
    (folder / "short.yaml").write_text(text.replace("max_steps: 500", f"max_steps: {STEPS}"))
    (folder / "few.yaml").write_text(
        f"heldout_init_ids: {{first: {DESIGN}, count: 40}}\n"
        "missions: {attempt_steps: 160, rows: [bare, harness, home], variants: [usual, opened]}\n"
        f"scenes: ['{folder / 'short.yaml'}']\n"
    )
    return folder / "few.yaml"


def untimed(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in TIMED}


@pytest.mark.slow
def test_an_episode_depends_on_its_row_variant_and_state_alone(harness) -> None:
    first, log = harness.run("harness", "outside", DESIGN)
    harness.run("bare", "distractors", DESIGN + 1)
    again, same_log = harness.run("harness", "outside", DESIGN)
    assert untimed(again) == untimed(first)
    assert same_log == log


@pytest.mark.slow
def test_tasks_share_models_and_no_more_worlds_are_open_than_may_be(shared, harness) -> None:
    suite = load_suite("harness_mt10")
    first, second = (shared.world(scene) for scene in suite.scenes[:2])
    assert shared.world(suite.scenes[0]) is first  # now the second is the one that was not used for longest
    for scene in suite.scenes[3 : 2 + MOST_WORLDS]:
        shared.world(scene)
    assert shared.world(suite.scenes[0]) is first
    assert shared.world(suite.scenes[1]) is not second
    package = resolve("mini-metaworld-mt10")
    assert shared.policy(package) is shared.policy(resolve("mini-metaworld-mt10"))
    assert harness.run("bare", "usual", DESIGN)[0]["used_steps"] > 0  # its world is opened again


@pytest.mark.parametrize("row", ["bare", "home", "script", "harness_true", "without_judge"])
def test_every_row_has_the_same_steps_and_motions_count(harness, row: str) -> None:
    told, _ = harness.run(row, "outside", DESIGN)
    assert told["used_steps"] == STEPS or told["success"] or told["claimed_step"] is not None
    assert told["used_steps"] <= STEPS
    assert (told["motions"] > 0) == bool(ROWS[row].motions)
    assert 0 <= told["motion_steps"] + told["held_steps"] <= told["used_steps"]


def test_the_ladder_is_the_directors_own_and_takes_another_means(harness) -> None:
    told, log = harness.run("harness_true", "outside", DESIGN)
    kinds = [entry.kind for entry in log]
    assert kinds[:3] == ["prompt", "plan", "prepare"]
    assert "motions" in told["told"]
    assert told["attempts"] == 1  # within these steps the policy is not asked for the same again
    assert [where.split(":")[0] for where in told["located"]] == ["puck", "goal"]


@pytest.mark.slow
def test_what_is_the_simulators_truth_is_flagged_in_every_row(harness) -> None:
    truths = {
        row: harness.run(row, "usual", DESIGN)[0]["truth"] for row in ("harness", "harness_true", "bare")
    }
    assert truths == {"harness": [], "harness_true": ["judge", "positions"], "bare": []}
    assert ROWS["true_positions"].truth == ("positions",)


def test_where_a_scene_names_no_judge_or_detector_the_simulator_answers_and_the_row_says_so(scene) -> None:
    unjudged = scene.model_copy(update={"reward_skill": None})
    blind = scene.model_copy(update={"reward_skill": None, "detector_skill": None})
    truths = {
        name: [ROWS[name].deployed_in(each).truth for each in (scene, unjudged, blind)] for name in ROWS
    }
    assert truths["harness"] == [(), ("judge",), ("judge", "positions")]
    assert truths["retry"] == [(), ("judge",), ("judge",)]
    assert truths["bare"] == truths["home"] == [(), (), ()]
    assert ROWS["harness"].deployed_in(blind).motions == ROWS["harness"].motions


def test_a_row_without_a_part_does_not_have_it(harness) -> None:
    told, _ = harness.run("without_grounding", "usual", DESIGN)
    assert told["located"] == []
    told, log = harness.run("without_judge", "usual", DESIGN)
    assert not [entry for entry in log if entry.kind == "reading"]
    assert told["claimed_step"] is None


def test_the_disturbance_strikes_in_the_episode(harness) -> None:
    told, _ = harness.run("bare", "pushed", DESIGN)
    assert "the puck was moved" in told["disturbance"]


@pytest.mark.parametrize(
    "init_id",
    [pytest.param(4000, marks=pytest.mark.slow), pytest.param(4001, marks=pytest.mark.slow), DESIGN],
)
def test_variants_of_a_state_are_what_they_say(scene, init_id: int) -> None:
    robot, backend = load_robot(scene.robot_id), make_backend(scene)
    usual, displaced = (
        begin_world(backend, scene, robot, VARIANTS[name], TASK, init_id)[1].ee_position
        for name in ("usual", "displaced")
    )
    off = float(np.linalg.norm(displaced - usual))
    assert DISPLACED_M[0] - 0.01 <= off <= DISPLACED_M[1] + 0.01
    backend.close()
    inside, outside = random_vector(TASK, init_id), outside_vector(TASK, init_id)
    assert np.array_equal(inside[3:], outside[3:])  # the goal stays
    low, high = np.array([-0.1, 0.6]), np.array([0.1, 0.7])
    beyond = np.maximum(low - outside[:2], outside[:2] - high).max()
    assert OUTSIDE_M[0] <= beyond <= OUTSIDE_M[1]


def test_counts_come_from_the_rows_that_are_one_way_each(tmp_path: Path) -> None:
    episodes = [
        row(name, "usual", number, success=number < worked, task="metaworld/t-v3")
        for name, worked in (("home", 1), ("script", 3), ("harness", 4))
        for number in range(4)
    ]
    content = {
        "schema_version": "0.1",
        "eval_config": {"vla_id": "openral/rskill-x"},
        "results": {"rows": {}, "episodes": [*episodes, row("home", "usual", 9, False, error="lost")]},
    }
    result, notes = tmp_path / "result.json", tmp_path / "memory.txt"
    result.write_text(json.dumps(content))
    done = CliRunner().invoke(app, ["count", str(result), "--memory", str(notes)])
    assert done.exit_code == 0, done.output
    counted = {(r.task, r.rung): (r.successes, r.tries) for r in Outcomes(outcomes_beside(notes)).rows()}
    assert counted == {("t-v3", "first"): (1, 4), ("t-v3", "motions"): (3, 4)}
    result.write_text(json.dumps({**content, "results": {"rows": {}, "episodes": []}}))
    wrong = CliRunner().invoke(app, ["count", str(result), "--memory", str(notes)])
    assert wrong.exit_code != 0


def row(name: str, variant: str, init_id: int, success: bool, **more: Any) -> dict[str, Any]:
    base = {"task": "t", "instruction": "do it", "claimed_step": None, "true_at_claim": False, "error": ""}
    return {"row": name, "variant": variant, "init_id": init_id, "success": success, **base, **more}


def test_rows_are_compared_on_the_episodes_that_both_ran() -> None:
    rows = [row("harness", "usual", i, True) for i in range(9)] + [
        row("script", "usual", i, i < 2) for i in range(8)
    ]
    found = compare_rows(rows, "harness", "script", ALL)
    assert found is not None
    assert (found["n"], found["won"], found["lost"]) == (8, 6, 0)
    assert found["p_value"] == pytest.approx(2 / 2**6, rel=0.01)
    assert compare_rows(rows, "harness", "bare", ALL) is None
    assert rate([row("a", "usual", 0, True), row("a", "usual", 1, False, error="x")])["errors"] == 1


def test_a_table_says_what_of_its_rows_is_the_simulators_truth() -> None:
    def told(truth: dict[str, list[str]]) -> list[str]:
        names = {"script": "motions alone", "harness": "harness", "bare": "policy alone"}
        return remarks({"eval_config": {"truth": truth, "rows": names}, "results": {"episodes": []}})

    assert told({"bare": []}) == []
    assert told({"bare": [], "script": ["positions"], "harness": ["positions"]}) == [
        "* with the simulator's own positions, which no deployment has: an upper bound"
    ]
    [mixed] = told({"script": ["positions"], "harness": ["judge", "positions"]})
    assert "positions in motions alone; judge and positions in harness" in mixed


def test_a_result_names_the_truth_and_the_models_of_all_its_scenes() -> None:
    suite = load_suite("harness_development")
    package = resolve("mini-metaworld-mt10")
    setting = MissionSetting(package.folder, 160, "cpu", False, None, None)
    with_all, other = suite.scenes[:2]
    scenes = [
        with_all.model_copy(update={"detector_skill": None}),
        other.model_copy(update={"reward_skill": None}),
    ]
    rows = [_lost(MissionJob(scene, 0, "usual", ("harness",)), "harness", "") for scene in scenes]
    result = mission_result(suite, package, scenes, setting, rows, "")
    assert result["eval_config"]["truth"] == {"harness": ["judge", "positions"]}
    named = {resolve(name).manifest.name for name in (with_all.reward_skill, other.detector_skill) if name}
    assert named <= set(result["provenance"]["beside"])


def test_rows_of_another_scene_or_judge_are_not_gone_on_with(tmp_path: Path) -> None:
    suite = load_suite("harness_development")
    setting = MissionSetting(resolve("mini-metaworld-mt10").folder, 160, "cpu", False, None, None)
    first = suite.scenes[0]
    assert first.reward_skill is not None
    judge = Path(shutil.copytree(resolve(first.reward_skill).folder, tmp_path / "judge"))

    def identity(**changed: object) -> dict[str, str]:
        scenes = tuple(scene.model_copy(update=changed) for scene in suite.scenes)
        return mission_identity(replace(suite, scenes=scenes), setting)

    before = identity(reward_skill=str(judge))
    assert (
        identity(reward_skill=str(judge), seed=7, n_episodes=1) == before
    )  # rows say which state they are of
    assert identity(reward_skill=str(judge), control_hz=2 * first.control_hz)["scenes"] != before["scenes"]
    (judge / "calibration.json").write_text("{}")
    assert identity(reward_skill=str(judge))["beside"] != before["beside"]


@pytest.mark.parametrize(
    "changed",
    [
        {"init_id": "0"},
        pytest.param({"success": None}, marks=pytest.mark.slow),
        pytest.param(None, marks=pytest.mark.slow),
    ],
)
def test_a_row_that_somebody_changed_is_named(tmp_path: Path, changed: dict[str, object] | None) -> None:
    suite = load_suite("harness_development")
    setting = MissionSetting(resolve("mini-metaworld-mt10").folder, 160, "cpu", False, None, None)
    job = MissionJob(suite.scenes[0], 0, "usual", ("harness",))
    row = _lost(job, "harness", "")
    log = RowLog(tmp_path, mission_identity(suite, setting), resume=False)
    log.add([row])
    log.close()
    [kept] = run_missions([job], setting, tmp_path, suite=suite, workers=1, resume=True)
    assert kept == [row]
    file = tmp_path / "rows.jsonl"
    first = file.read_text().splitlines()[0]
    file.write_text(f"{first}\n{json.dumps(changed and {**row, **changed})}\n")
    with pytest.raises(
        ManifestError, match=r"rows\.jsonl:2: is no row of a run .*; copy the file back, or name"
    ):
        list(run_missions([job], setting, tmp_path, suite=suite, workers=1, resume=True))


def test_the_command_runs_a_part_of_it_and_goes_on(short_suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    base = [
        "run",
        "--suite",
        str(short_suite),
        "--rskill",
        "mini-metaworld-mt10",
        "--row",
        "bare",
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(
        app, [*base, "--n-episodes", "1", "--variant", "usual", "--workers", "1", "--trace"]
    )
    assert done.exit_code in (0, 1), done.output
    assert list((out / "missions").glob("bare-usual-*/mission.jsonl"))
    lock = RunLock(out)
    beside = CliRunner().invoke(app, [*base, "--n-episodes", "1", "--workers", "1", "--resume"])
    assert "another process runs episodes into this folder" in str(beside.exception)
    lock.release()
    again = CliRunner().invoke(app, [*base, "--n-episodes", "1", "--workers", "1", "--resume"])
    assert again.exit_code in (0, 1), again.output
    content = json.loads((out / "result.json").read_text())
    assert [e["variant"] for e in content["results"]["episodes"]] == ["usual", "opened"]
    heads, lines = mission_table(content)
    assert (len(heads), len(lines)) == (5, 1)
    assert "policy alone" in mission_page(content)
    assert CliRunner().invoke(app, ["report", str(out / "result.json")]).exit_code == 0
    assert CliRunner().invoke(app, ["compare", *[str(out / "result.json")] * 2]).exit_code != 0
    wrong = CliRunner().invoke(app, [*base, "--row", "magic"])
    assert wrong.exit_code != 0
    plain = ["run", "--suite", "metaworld_mini", "--rskill", "mini-metaworld", "--row", "bare"]
    assert CliRunner().invoke(app, plain).exit_code == 2


@pytest.mark.parametrize(
    "option", ["--answer-delay", "--picture-delay", "--num-envs", "--policies", "--patience", "--videos"]
)
def test_an_option_that_missions_do_not_have_is_refused(tmp_path: Path, option: str) -> None:
    base = [
        "run",
        "--suite",
        "harness_development",
        "--rskill",
        "mini-metaworld-mt10",
        "--out",
        str(tmp_path),
    ]
    done = CliRunner().invoke(app, [*base, option, "2"])
    assert done.exit_code == 2
    assert f"leave {option} out" in " ".join(done.output.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_a_variant_that_is_for_none_of_the_tasks_is_refused(tmp_path: Path) -> None:
    base = ["run", "--suite", "harness", "--rskill", "mini-metaworld-mt10", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, [*base, "--task", "metaworld/push-v3", "--variant", "opened"])
    assert isinstance(done.exception, NotFoundError)
    assert "metaworld/push-v3 has no variant opened; it has usual, " in str(done.exception)


def test_missions_are_not_run_into_a_dataset(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text("{}")
    words = ["run", "--suite", "harness", "--rskill", "mini-metaworld-mt10", "--row", "none"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert isinstance(done.exception, OutputError)
    assert "holds a dataset that this command did not make; name another folder" in str(done.exception)


def test_no_more_missions_run_at_once_than_this_process_has_cores(tmp_path: Path, monkeypatch) -> None:
    def begun(*arguments: Any, workers: int, **others: Any) -> Any:
        raise NotFoundError(f"{workers} workers")

    monkeypatch.setattr("openral_benchmark.harness.evaluate.run_missions", begun)
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 5})  # as in a container
    words = ["run", "--suite", "harness", "--rskill", "mini-metaworld-mt10", "--out", str(tmp_path)]
    assert str(CliRunner().invoke(app, words).exception) == "2 workers"


@pytest.mark.long
def test_a_long_attempt_is_not_forgotten_by_the_bridge(scene, shared) -> None:
    """The bridge drops the goal of a node that is silent for five seconds, which are 400 control steps."""
    steps = 440
    long = scene.model_copy(update={"task": scene.task.model_copy(update={"max_steps": steps})})
    made = MissionHarness(long, resolve("mini-metaworld-mt10"), attempt_steps=ATTEMPT, shared=shared)
    told, _ = made.run("bare", "outside", DESIGN + 1)
    assert not told["success"]  # else it would say nothing
    assert (told["refused"], told["held_steps"]) == (0, 0)


@pytest.mark.long
def test_an_interrupt_ends_a_run_with_its_workers_and_keeps_what_was_done(
    short_suite: Path, tmp_path: Path
) -> None:
    command = [
        str(Path(sys.executable).with_name("openral")),
        "benchmark",
        "run",
        "--suite",
        str(short_suite),
    ]
    out = tmp_path / "out"
    words = ["--rskill", "mini-metaworld-mt10", "--row", "bare", "--workers", "2", "--out", str(out)]
    with (tmp_path / "said").open("wb") as said:
        run = subprocess.Popen([*command, *words], stdout=said, stderr=subprocess.STDOUT)
    try:
        rows = out / "rows.jsonl"
        while (
            not rows.exists() or rows.read_text().count("\n") < 2
        ):  # the first line says whose rows they are
            assert run.poll() is None, (tmp_path / "said").read_text()
            time.sleep(0.1)
        workers = psutil.Process(run.pid).children(recursive=True)
        run.send_signal(signal.SIGINT)
        assert run.wait(60) != 0
    finally:
        run.kill()
    gone, alive = psutil.wait_procs(workers, 30)
    assert gone
    assert not alive
    assert "Traceback" not in (tmp_path / "said").read_text()
    assert all(json.loads(line) for line in rows.read_text().splitlines())
