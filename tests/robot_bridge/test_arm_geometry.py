"""Distances and slopes that the safety filter goes by, beside the same by measuring everything and by differences."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from openral_control.safety.distance import DistanceCheck
from openral_control.safety.joint_limits import Vector, limits_of
from openral_control.safety.joint_position import PositionCheck
from openral_control.safety.joint_step import PlaceCheck
from openral_control.safety.singularity import SingularityCheck
from openral_control.safety.workspace import WorkspaceCheck
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_robot_bridge.mujoco_geometry import MujocoGeometry
from openral_robot_bridge.nearness import Nearness, ordered
from openral_robot_bridge.plane_boxes import with_boxes_for_planes
from openral_sim_bridge.backends.mjcf.world import CompiledScene

SCENE, ROBOT = load_scene("fr3_tabletop"), load_robot("fr3")
LIMITS = limits_of(ROBOT)
START = np.array([0.0, 0.21, 0.0, -2.33, 0.0, 2.54, 0.785398])
DIFFERENCE_RAD = 1e-4
SLOW_M = 0.055


def postures(count: int, wide: float) -> list[Vector]:
    """Return postures about the start, up to the share `wide` of the joints' ranges away."""
    rng = np.random.default_rng(5)
    ranges = wide * (LIMITS.high - LIMITS.low)
    return [np.clip(START + rng.uniform(-1, 1, 7) * ranges, LIMITS.low, LIMITS.high) for _ in range(count)]


@pytest.fixture(scope="module")
def compiled() -> CompiledScene:
    return CompiledScene(SCENE, ROBOT)


def checks(compiled: CompiledScene) -> list[PlaceCheck]:
    geometry = MujocoGeometry(compiled, elbow_joint=3)
    assert SCENE.arm is not None
    return [
        PositionCheck(LIMITS, 0.1),
        WorkspaceCheck(geometry, SCENE.workspace, SCENE.arm.safety.elbow),
        DistanceCheck(geometry, 0.05, 0.01),
        SingularityCheck(geometry, 17.0, 30.0),
    ]


@pytest.mark.parametrize("index", range(4), ids=["joint position", "workspace", "distance", "singularity"])
def test_slopes_are_those_of_the_rooms_differences(compiled: CompiledScene, index: int) -> None:
    check, sloping, smooth = checks(compiled)[index], 0, 0
    for place in postures(300, 0.3):
        sides = []
        for way in (DIFFERENCE_RAD, -DIFFERENCE_RAD):
            beside = place + way * np.eye(7)
            sides.append(np.array([check.room(joints) - check.room(place) for joints in beside]) / way)
        if np.abs(sides[0] - sides[1]).max() > 5e-3 * max(1.0, np.abs(sides[0]).max()):
            continue  # a corner, at which what is nearest changes
        smooth += 1
        slope = check.slope(place)
        assert slope == pytest.approx(np.mean(sides, axis=0), rel=5e-3, abs=5e-3)
        sloping += bool(np.abs(slope).max() > 0.01)
    assert smooth > 200
    assert sloping > 50


def test_only_measuring_what_may_be_nearest_finds_the_same_distances(compiled: CompiledScene) -> None:
    model, chain, data = compiled.model, compiled.robot.chain, mujoco.MjData(compiled.model)
    bodies = [int(model.dof_bodyid[dof]) for dof in chain.dofs]
    solid = [geom for geom in range(model.ngeom) if model.geom_contype[geom] and model.geom_rbound[geom] > 0]
    arm = [
        geom for geom in solid if model.body_rootid[model.geom_bodyid[geom]] == model.body_rootid[bodies[0]]
    ]
    pairs = np.array([(a, b) for a in arm for b in solid if abs(a - b) > 3], dtype=np.int64)
    nearness = Nearness(model, data, ordered(model, pairs))
    here, found, rng = START, 0, np.random.default_rng(3)
    for place in postures(40, 0.2):
        for _ in range(8):  # the way there in steps, as in motion, and a jump to the next one
            here = here + 0.3 * (place - here) + rng.normal(size=7) * 0.02
            data.qpos[chain.qpos] = here
            mujoco.mj_kinematics(model, data)
            every = [mujoco.mj_geomDistance(model, data, a, b, SLOW_M, None) for a, b in pairs.tolist()]
            distance, pair = nearness.least(SLOW_M)
            assert distance == pytest.approx(min(*every, SLOW_M), abs=1e-6)
            if pair >= 0:
                found += 1
                assert every[pair] == pytest.approx(distance, abs=1e-6)
        here = place
    assert found > 50


def test_no_posture_of_a_way_that_is_clear_is_nearer_than_what_was_asked_for(compiled: CompiledScene) -> None:
    geometry = MujocoGeometry(compiled, elbow_joint=3)
    rng, found = np.random.default_rng(2), {True: 0, False: 0}
    for place in postures(400, 0.35):
        corners = place + np.array([0.0, 1.0, 1.0])[:, None] * rng.uniform(-0.12, 0.12, (3, 7))
        parts = rng.dirichlet(np.ones(3), 40)
        nearest = min(geometry.distance(np.array(part @ corners), 0.05) for part in parts)
        clear = geometry.clear_between(corners, 0.01)
        found[clear] += nearest < 0.05
        assert not clear or nearest >= 0.01
        assert clear or nearest < 0.05
    assert min(found.values()) > 10


TILTED = """
<mujoco>
  <worldbody>
    <body pos="0.3 -0.2 0.1" euler="20 -30 40">
      <geom name="wall" type="plane" size="1 1 0.1" pos="0.1 0.4 -0.2" euler="10 5 0"/>
    </body>
    <body name="arm" pos="-3 2 0.5">
      <joint type="free"/>
      <geom name="capsule" type="capsule" size="0.05 0.2"/>
      <geom name="block" type="box" size="0.1 0.2 0.05"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_the_distance_to_a_box_in_place_of_a_plane_is_that_to_the_plane() -> None:
    model = mujoco.MjModel.from_xml_string(TILTED)
    boxes = with_boxes_for_planes(model, int(model.body("arm").id))
    assert model.geom("wall").type == mujoco.mjtGeom.mjGEOM_PLANE, "the model itself is as it was"
    rng, near = np.random.default_rng(0), 0
    for _ in range(200):
        pose = np.concatenate([rng.uniform(-1.5, 1.5, 3), rng.normal(size=4)])
        found = []
        for each in (model, boxes):
            data = mujoco.MjData(each)
            data.qpos[:] = pose
            mujoco.mj_kinematics(each, data)
            names = [each.geom(name).id for name in ("wall", "capsule", "block")]
            # The order of the two matters; see `ordered`.
            pairs = ordered(each, np.array([names[:2], [names[0], names[2]]])).tolist()
            measured = [mujoco.mj_geomDistance(each, data, *pair, 0.5, None) for pair in pairs]
            # MuJoCo 3.3.0 may say 1e10 of what is further apart, and is not exact about what is deep inside.
            found.append(np.clip(measured, -0.02, 0.5))
        assert found[1] == pytest.approx(found[0], abs=1e-4)
        near += found[0][0] < 0.5
    assert near > 50


def test_a_floor_under_the_hand_is_an_obstacle(compiled: CompiledScene) -> None:
    geometry = MujocoGeometry(compiled, elbow_joint=3)
    floors = np.flatnonzero(compiled.model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)
    assert len(floors)
    assert set(floors) <= {int(geom) for geom in geometry.pairs.flat}
