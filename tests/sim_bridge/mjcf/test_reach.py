"""A motion is looked at before it starts: can the arm follow its path, and what would it meet?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from openral_control.motions import MotionArm, MotionEnd, make_motion
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_policy_nodes.goal_request import GoalRefused
from openral_policy_nodes.motion_source import MotionSource, path_check
from openral_sim_bridge.backends.factory import make_backend


class Tabletop:
    """The Panda's tabletop with what looks ahead there."""

    def __init__(self) -> None:
        scene = load_scene("tabletop_panda")
        self.backend: Any = make_backend(scene)
        self.arm = MotionArm.of(scene, load_robot(scene.robot_id))
        self.check = path_check(scene)
        self.begin()

    def begin(self) -> None:
        self.state = self.backend.reset([self.backend.task_ids[0]], [1003])[0]

    def plan(self, name: str, **params: Any) -> None:
        MotionSource(self.arm, self.check).plan("a1", name, params, self.state)

    def move(self, name: str, **params: Any) -> MotionEnd:
        motion = make_motion(name, params, self.arm)
        while not isinstance(answer := motion.advance(self.state), MotionEnd):
            self.state = self.backend.step(answer[:1]).states[0]
        return answer


@pytest.fixture(scope="module")
def shared() -> Iterator[Tabletop]:
    made = Tabletop()
    yield made
    made.backend.close()


@pytest.fixture
def table(shared: Tabletop) -> Tabletop:
    shared.begin()
    return shared


@pytest.mark.parametrize(
    ("position", "reached"),
    [
        ([0.6, 0.35, 0.3], True),
        ([0.35, -0.3, 0.05], True),
        ([0.3, 0.2, 0.1], True),
        ([0.8, 0.5, 0.7], False),
        ([0.75, 0.4, 0.5], False),
        ([0.8, 0.0, 0.3], False),
    ],
)
def test_the_look_ahead_says_what_the_arm_then_does(
    table: Tabletop, position: list[float], reached: bool
) -> None:
    if reached:
        table.plan("move_to", position=position)
    else:
        with pytest.raises(GoalRefused, match=r"the arm does not reach .*comes no nearer than") as refused:
            table.plan("move_to", position=position)
        assert refused.value.check == "reach"
    assert table.move("move_to", position=position).succeeded is reached


def test_what_stands_in_the_way_is_named_and_the_way_over_it_is_free(table: Tabletop) -> None:
    assert table.move("move_to", position=[0.3, -0.35, 0.08]).succeeded
    through = [0.7, -0.35, 0.08]
    with pytest.raises(GoalRefused, match=r"on its way, at .* the arm comes within .* cm of cabinet"):
        table.plan("move_to", position=through)
    table.plan("move_to", position=[0.5, -0.2, 0.2])


def test_things_at_the_target_are_met_on_purpose(table: Tabletop) -> None:
    table.plan("pick_at", point=[0.45, -0.078, 0.02])
    table.plan("place_at", point=[0.45, 0.33, 0.03])


def test_motions_that_stay_in_place_have_no_path(table: Tabletop) -> None:
    table.plan("set_gripper", fingers="closed")


@pytest.mark.parametrize("scene", ["metaworld_drawer", "libero_goal"])
def test_scenes_without_a_model_of_ours_are_not_looked_at(scene: str) -> None:
    assert path_check(load_scene(scene)) is None
