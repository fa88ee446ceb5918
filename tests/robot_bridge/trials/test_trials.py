"""A judged twin and its rows; whole trials are run by `openral robot try`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import psutil
import pytest
import yaml

from openral_core.errors import SimulationError
from openral_core.files.share import share_directory
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, load_scene
from openral_robot_bridge.trials.deployment_trials import RESULT, TrialPlan, run_trials
from openral_robot_bridge.trials.lockstep_trials import TwinWorld, tried
from openral_robot_bridge.trials.trial import TrialRow, summary
from openral_robot_bridge.trials.twin_process import CommandedTwin
from openral_robot_bridge.twins.arm import TwinArm
from openral_rskill.registry import resolve
from openral_sim_bridge.backends.mjcf.world import CompiledScene
from openral_sim_bridge.rollout import EpisodeJob, EpisodeRow


def address(number: int) -> str:
    """Return a loopback address of this process alone."""
    return f"127.{220 + number}.{os.getpid() >> 8 & 255}.{1 + os.getpid() % 250}"


def write_scene(folder: Path) -> Path:
    """Write the FR3 at its table, in whose second state the cube lies where its task wants it."""
    content = yaml.safe_load((share_directory() / "scenes/robot/fr3_tabletop.yaml").read_text())
    options = content["scene"]["backend_options"]
    options["model"] = str((share_directory() / "scenes/mjcf/tabletop_fr3/scene.xml").resolve())
    options["place"] = {"cube": {"x": [0.7, 0.7]}}
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    return write_scene(tmp_path)


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandedTwin]:
    folder = tmp_path_factory.mktemp("twin")
    with CommandedTwin(write_scene(folder), address(1), 0, 50.0, folder / "twin.log") as twin:
        yield twin


def test_a_told_twin_is_reset_and_judges(twin: CommandedTwin) -> None:
    twin.reset(7)
    before, _ = twin.cycles
    while twin.cycles[0] < before + 60:
        pass
    assert twin.is_done
    assert twin.tell("judge").startswith("done after 0.")


def test_a_twin_that_does_not_start_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match=r"the twin has ended: .*missing\.yaml.* \(.*twin\.log\)"):
        CommandedTwin(tmp_path / "missing.yaml", address(2), 0, 50.0, tmp_path / "twin.log")


HOLDS_A_TWIN = """
import sys, time
from pathlib import Path
from openral_robot_bridge.trials.twin_process import CommandedTwin
with CommandedTwin(Path(sys.argv[1]), sys.argv[2], 0, 50.0, Path(sys.argv[3])):
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        signal.SIGKILL,
    ],
    ids=lambda number: number.name,
)
def test_a_twin_ends_with_the_process_that_told_it(
    scene_file: Path, tmp_path: Path, number: signal.Signals
) -> None:
    words = [sys.executable, "-c", HOLDS_A_TWIN, str(scene_file), address(3), str(tmp_path / "twin.log")]
    # A session of its own: a terminal's Ctrl-C reaches the twin as well, and a kill does not.
    holder = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "ready\n"
    (twin,) = psutil.Process(holder.pid).children(recursive=True)
    try:
        holder.send_signal(number)
        holder.communicate()
        _, alive = psutil.wait_procs([twin], timeout=30.0)
        assert not alive
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            twin.kill()


@pytest.fixture
def keyframed_scene(scene_file: Path, tmp_path: Path) -> DeployScene:
    """The FR3 at its table, whose initial states 1000 to 1002 are keyframes of the model."""
    world = tmp_path / "world"
    shutil.copytree(share_directory() / "scenes/mjcf/tabletop_fr3", world)
    content = yaml.safe_load(scene_file.read_text())
    options = content["scene"]["backend_options"]
    model = mujoco.MjModel.from_xml_path(str(world / "scene.xml"))
    qpos = model.qpos0.copy()
    for joint, position in options.pop("home").items():
        qpos[model.joint(joint).qposadr[0]] = position
    words = " ".join(map(str, qpos))
    keys = "".join(f'<key name="init{number}" qpos="{words}"/>' for number in (1000, 1001, 1002))
    text = (world / "scene.xml").read_text()
    (world / "scene.xml").write_text(text.replace("</mujoco>", f"<keyframe>{keys}</keyframe></mujoco>"))
    del options["place"]
    options |= {"model": str(world / "scene.xml"), "keyframes": "init", "init_id": 1000}
    scene_file.write_text(yaml.safe_dump(content))
    return load_scene(str(scene_file))


@pytest.mark.parametrize(("first", "count", "missing"), [(1000, 9, 1003), (5, 1, 5)])
def test_states_that_the_scene_lacks_are_told_before_the_first_trial(
    keyframed_scene: DeployScene, tmp_path: Path, first: int, count: int, missing: int
) -> None:
    plan = TrialPlan("lift the cube", first, count, 10, address(4), 13379, 50.0, lockstep=True)
    with pytest.raises(SimulationError) as refused:
        run_trials(keyframed_scene, resolve("mini-robosuite-panda"), plan, tmp_path / "out", lambda row: None)
    assert str(refused.value) == (
        f"{count} trials from initial state {first} on: the model has no keyframe for init_id {missing}; it has 1000 "
        "to 1002; give another --init-id or --n-episodes"
    )
    assert not (tmp_path / "out").exists()


@pytest.fixture
def trial_scene(scene_file: Path) -> DeployScene:
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    content = yaml.safe_load(scene_file.read_text())
    content["arm"]["address"] = address(1)
    content["arm"]["safety"] = {**content["arm"].get("safety", {}), "hold_to_run": False}
    scene_file.write_text(yaml.safe_dump(content))
    return load_scene(str(scene_file))


def led(world: TwinWorld, job: EpisodeJob, befalls: Callable[[], object] | None) -> EpisodeRow:
    """Lead the arm for ten steps, in the midst of which something befalls it."""
    world.reset([job.task_id], [job.init_id])
    for step in range(10):
        if step == 5 and befalls is not None:
            befalls()
        action = np.zeros(7)
        action[0] = 0.3
        world.step(action[None])
    return replace(EpisodeRow.lost(job), success=True, steps=world.steps)


@pytest.mark.long
def test_a_trial_that_the_arm_ends_leaves_its_row_and_the_next_one_is_tried(
    trial_scene: DeployScene, twin: CommandedTwin
) -> None:
    def hang() -> None:
        os.kill(twin.pid, signal.SIGSTOP)
        time.sleep(3.0)  # longer than libfranka waits for a state
        os.kill(twin.pid, signal.SIGCONT)

    happens = [lambda: twin.tell("fail joint_reflex"), None, hang, None]
    jobs = [EpisodeJob("pick_up_the_cube", number, "lift it") for number in range(len(happens))]
    rows = list(tried(trial_scene, twin, jobs, lambda world, job: led(world, job, happens[job.init_id])))
    assert [row.init_id for row in rows] == [0, 1, 2, 3]
    assert [row.success for row in rows[:3]] == [False, True, False]
    assert [row.ended_by_arm for row in rows[:3]] == [True, False, True]
    assert (rows[0].outcome, rows[0].check) == ("ended by the arm", "reflex: joint_reflex")
    # What is told to the twin is seen with its next state, or with the one after.
    assert 5 <= rows[0].steps <= 7
    assert 5 <= rows[2].steps <= 7
    assert rows[2].check
    assert summary(rows[:3])["ended_by_arm"] == 2


def test_each_trial_is_in_the_result_before_the_next_one_begins(
    trial_scene: DeployScene, tmp_path: Path
) -> None:
    found: list[list[int]] = []

    def look(row: TrialRow) -> None:
        results = json.loads((tmp_path / "out" / RESULT).read_text())["results"]
        found.append([episode["init_id"] for episode in results["episodes"]])

    plan = TrialPlan("lift the cube", 0, 2, 3, address(4), 13379, 50.0, lockstep=True)
    run_trials(trial_scene, resolve("mini-robosuite-panda"), plan, tmp_path / "out", look)
    assert found == [[0], [0, 1]]


def advance(arm: TwinArm, seconds: float) -> None:
    for _ in range(round(1e3 * seconds)):
        arm.advance()


def test_what_was_done_stays_done_until_the_next_reset(scene_file: Path) -> None:
    scene = load_scene(str(scene_file))
    arm = TwinArm(scene, load_robot(scene.robot_id), 0.001)
    assert arm.done_s is None
    advance(arm, 0.05)
    first = arm.done_s
    advance(arm, 0.05)
    assert first is not None
    assert arm.done_s == first
    arm.reset(1)
    assert arm.done_s is None


def test_what_happens_between_two_control_steps_is_not_judged(scene_file: Path) -> None:
    scene = load_scene(str(scene_file))
    arm = TwinArm(scene, load_robot(scene.robot_id), 0.001)
    model = CompiledScene(scene, load_robot(scene.robot_id)).model
    x = model.jnt_qposadr[model.body("cube").jntadr[0]]
    advance(arm, 0.049)
    arm.world[x] -= 0.3  # the cube is away at the end of the step
    advance(arm, 0.011)
    assert arm.done_s is None
    arm.world[x] += 0.3
    advance(arm, 0.039)
    assert arm.done_s is None
    advance(arm, 0.001)
    assert arm.done_s is not None


def test_rows_are_summed_up() -> None:
    rows = [
        TrialRow(i, i < 3, 50 + i, 3.0, "CANCELED", "client_cancel", 30.0, 60.0, 0.01 * i, 3.0, i, "")
        for i in range(4)
    ]
    found = summary(rows)
    assert (found["successes"], found["n_episodes"], found["commands_missed"]) == (3, 4, 6)
    assert found["steps_to_success_p50"] == 51
    assert found["wilson_95"] == [0.3006, 0.9544]
    assert (found["behind_rad_max"], found["real_time"]) == (0.03, 1.0)
    assert [row["init_id"] for row in found["episodes"]] == [0, 1, 2, 3]


def test_trials_that_inferred_nothing_are_left_out_of_the_latency() -> None:
    """As one that was rejected before its first inference: its row says 0."""
    times = [(0.0, 0.0), (30.0, 60.0), (0.0, 0.0)]
    rows = [
        TrialRow(i, False, 0, 3.0, "REJECTED", "estop", p50, p95, 0.0, 3.0, 0, "")
        for i, (p50, p95) in enumerate(times)
    ]
    found = summary(rows)
    assert (found["latency_p50_ms"], found["latency_p95_ms"]) == (30.0, 60.0)
    found = summary(rows[:1])
    assert (found["latency_p50_ms"], found["latency_p95_ms"]) == (None, None)
