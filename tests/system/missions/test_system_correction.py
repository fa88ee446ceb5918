"""A policy that stands still in a real deployment is corrected through the door of the console, and can learn from it.

The operator is MetaWorld's scripted expert. It knows where the button is, hears where the hand is, and steers as a page
does: directions at 20 Hz, as long as it has the arm.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import rclpy
import torch
from numpy.typing import NDArray
from openral.msg import TaskProgress
from rclpy.executors import SingleThreadedExecutor
from system_files import load_truth
from system_operator import ENDED, Operator
from system_stack import Stack, wait_for

from openral_console.live.deployment import LiveDeployment
from openral_console.ros.console_node import ConsoleNode
from openral_console.ros.teleop_controller import TeleopController
from openral_console.teleop.steering import Steer
from openral_core.files.share import share_directory
from openral_core.scene import load_scene
from openral_data.lerobot_v3 import open_dataset
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork
from openral_rskill.mini import CONFIG
from openral_rskill.mini.checkpoint import load_network, save_network
from openral_rskill.registry import resolve
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.metaworld.world import make_expert
from openral_training.dagger.config import load_config
from openral_training.experts.factory import experts_of
from openral_training.mapping.mapped_data import mapped_data

TASK, INIT_ID = "button-press-topdown-v3", 1000
PAGE = "page of the expert"
STEER_S = 0.05
"""[s] between two commands, as a page sends them."""
SPEED_M_S = 0.25
UNHEARD = "the pose of the hand is not heard"
"""What the door says for a moment after the arm was taken."""
ABOVE_M = 0.04
"""[m] between hand and button, seen from above, within which the expert presses."""
DEEPER_M = 0.005
"""[m] beyond the depth at which the simulator counts it as pressed."""
LONGEST_S = 60.0
"""[s] of wall time that the expert steers at most; a busy machine simulates slowly."""
pytestmark = [pytest.mark.timeout(600), pytest.mark.long]


def idle_skill(folder: Path) -> Path:
    """Write a copy of a skill whose actions are all zero."""
    package = resolve("mini-metaworld")
    folder.mkdir()
    (folder / "rskill.yaml").write_text((package.folder / "rskill.yaml").read_text())
    configs: list[MiniConfig] = []

    def make(**fields: object) -> MiniNetwork:
        configs.append(MiniConfig(**fields))
        return MiniNetwork(configs[0])

    assert (package.folder / CONFIG).is_file()
    network = load_network(package.folder, make)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
    save_network(network, configs[0], folder, {})
    return folder


def rehearsed() -> tuple[NDArray[np.float64], float]:
    """Return where the button is, and how deep the hand is when it counts as pressed [m]."""
    scene = load_scene("metaworld_button")
    world = experts_of(make_backend(scene), scene)
    try:
        world.reset(TASK, INIT_ID)
        world.begin(TASK)
        button = world.landmarks()[:3]
        while not world.verdicts()[TASK].success:
            world.step(world.advice())
        return button, float(world.robot_state().ee_position[2])
    finally:
        world.close()


@contextmanager
def door_of(stack: Stack, scene: Path) -> Iterator[TeleopController]:
    """The console's door, in this process."""
    rclpy.init(domain_id=stack.domain)
    deployment = LiveDeployment()
    node, executor = ConsoleNode(deployment), SingleThreadedExecutor()
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    try:
        wait_for(lambda: not deployment.control_is_stale, "the bridge's status")
        yield TeleopController(node, deployment, str(scene))
    finally:
        executor.shutdown()
        thread.join()
        node.destroy_node()
        rclpy.try_shutdown()


def steer(door: TeleopController, operator: Operator, button: NDArray[np.float64], depth: float) -> None:
    """Press the button as the expert would; it sees the button go down in front of the hand."""
    expert, end = make_expert(TASK), time.monotonic() + LONGEST_S
    while time.monotonic() < end:
        hand = np.array(operator.positions[-1])
        seen = np.zeros(39)
        seen[:3], seen[4:7] = hand, button
        if np.linalg.norm(hand[:2] - button[:2]) < ABOVE_M:
            if hand[2] <= depth - DEEPER_M:
                return
            seen[6] = min(button[2], hand[2]) - 0.05
        x, y, z = (float(value) for value in np.clip(expert.get_action(seen)[:3], -1.0, 1.0))
        assert door.drive(PAGE, Steer(x, y, z, speed_m_s=SPEED_M_S)) in ("", UNHEARD)
        time.sleep(STEER_S)
    raise AssertionError(f"the hand is at {operator.positions[-1]}, and the button was not pressed")


def test_where_a_policy_stands_still_the_expert_takes_the_arm_and_is_learnt_from(tmp_path: Path) -> None:
    skill, scene = idle_skill(tmp_path / "idle"), tmp_path / "metaworld_button.yaml"
    text = (share_directory() / "scenes" / "deploy" / "metaworld_button.yaml").read_text()
    scene.write_text(text.replace("rskill://rskills/mini-metaworld", str(skill)))
    button, depth = rehearsed()
    launch = (f"scene:={scene}", "mission:=press the button", "record:=interventions", "run_dir:=run")
    stalled: list[bool] = []
    with (
        Stack(
            tmp_path, "ros2", "launch", "openral", "deploy_sim.launch.py", *launch, "exit_when_done:=true"
        ) as stack,
        Operator(stack) as operator,
        door_of(stack, scene) as door,
    ):
        operator.subscribe(TaskProgress, "/openral/progress", lambda told: stalled.append(told.stalled), 10)
        operator.until(lambda: any(stalled), "a standstill that the reward monitor sees")
        assert not door.engage(PAGE, "scripted expert")
        steer(door, operator, button, depth)
        assert not door.give_back(PAGE, "scripted expert")
        operator.until(lambda: operator.missions[-1].state in ENDED, "the mission's end")
        stack.wait()
    assert operator.missions[-1].state == "done", operator.missions[-1].message
    dataset = open_dataset(tmp_path / "run" / "recording" / "dataset")
    columns = dataset.columns(["intervention", "action.held", "stamp_s"])
    by_hand, held = columns["intervention"].ravel(), columns["action.held"].any(axis=1)
    assert not by_hand[0], "the policy had the arm first"
    assert by_hand.any()
    truth, stamps_s = load_truth(tmp_path / "run"), columns["stamp_s"].ravel()[by_hand]
    first_done_s = truth["stamp_s"][truth["success"].any(axis=1)][0]
    assert stamps_s[0] < first_done_s < stamps_s[-1] + 0.5, "pressed by the operator's hand"
    assert operator.missions[-1].tasks[0].attempts == 1, "the goal that waited went on, and was judged done"
    assert dataset.episodes["outcome"] == ["success"]
    recipe = load_config("button_press").skill
    learnt, taken_over = mapped_data(dataset, recipe).demonstrations, int(np.argmax(by_hand))
    by_hand[taken_over : taken_over + recipe.seam_frames] = False
    assert learnt.frames.tolist() == np.flatnonzero(by_hand & ~held).tolist()
    assert learnt.chunk[learnt.frames, 0, 2].min() < -0.1, "down to the button"
