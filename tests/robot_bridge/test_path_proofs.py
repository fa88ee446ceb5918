"""Bounds of distances beside the distances, and paths that are proved clear beside a plain form of the proof."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np

from openral_control.safety.joint_limits import Vector, limits_of
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_robot_bridge.broad_phase import BroadPhase
from openral_robot_bridge.mujoco_geometry import MujocoGeometry
from openral_robot_bridge.nearness import ordered
from openral_sim_bridge.backends.mjcf.world import CompiledScene

LIMITS = limits_of(load_robot("fr3"))
START = np.array([0.0, 0.21, 0.0, -2.33, 0.0, 2.54, 0.785398])
LEAST_M, SLACK, MOST = 0.01, 0.1, 16
SHAPES = """
<mujoco><worldbody>
  <body><freejoint/><geom type="box" size="0.1 0.2 0.05"/></body>
  <body><freejoint/><geom type="sphere" size="0.1"/></body>
  <body><freejoint/><geom type="capsule" size="0.05 0.15"/></body>
  <body><freejoint/><geom type="cylinder" size="0.1 0.05"/></body>
  <body><freejoint/><geom type="ellipsoid" size="0.05 0.1 0.15"/></body>
  <geom type="box" size="0.2 0.1 0.05" euler="20 30 40" pos="0.1 0 0.3"/>
  <body mocap="true"><geom type="box" size="0.1 0.1 0.1"/></body>
</worldbody></mujoco>
"""


class World:
    """Geoms of all kinds, thrown about."""

    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_string(SHAPES)
        self.data = mujoco.MjData(self.model)
        count = self.model.ngeom
        pairs = np.array([(a, b) for a in range(count) for b in range(a + 1, count)], dtype=np.int64)
        self.pairs = ordered(self.model, pairs)

    def throws(self, count: int) -> Iterator[None]:
        rng = np.random.default_rng(4)
        for _ in range(count):
            self.data.qpos[:] = rng.normal(size=self.model.nq)
            self.data.qpos[:].reshape(-1, 7)[:, :3] *= 0.4
            self.data.mocap_pos[:] = 0.4 * rng.normal(size=3)
            mujoco.mj_kinematics(self.model, self.data)
            yield

    def distances(self) -> Vector:
        """Return the distances (k,) [m] of all pairs."""
        pairs = self.pairs.tolist()
        return np.array([mujoco.mj_geomDistance(self.model, self.data, a, b, 9.0, None) for a, b in pairs])


def test_bounds_of_distances_are_no_more_than_these() -> None:
    world = World()
    broad = BroadPhase(world.model, world.data, world.pairs)
    for _ in world.throws(200):
        bounds, distances = np.sqrt(broad.squares()) - broad.radii, world.distances()
        told = bounds > 0.0
        assert told.sum() > 3
        assert (bounds[told] <= distances[told] + 1e-6).all()


class PlainProof:
    """Conservative advancement with all pairs, one after the other, and one part of the path after the other."""

    def __init__(self, geometry: MujocoGeometry, model: mujoco.MjModel) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self.pairs = geometry.pairs
        self.turning = model.geom_rbound / np.sqrt(2.0)

    def poses(self, joints: Vector) -> Vector:
        self.data.qpos[:7] = joints
        mujoco.mj_kinematics(self.model, self.data)
        return np.concatenate([self.data.geom_xpos, self.data.geom_xmat], axis=1)

    def clear(self, corners: Vector) -> bool:
        """Return whether all pairs are proved to keep their distances in the triangle of three postures (3, 7)."""
        poses = np.array([self.poses(joints) for joints in corners])
        ways = poses - self.poses(corners.mean(axis=0))
        left = {}
        for first, second in self.pairs.tolist():
            shift, turn = self.moved(ways, first, second)
            apart = np.linalg.norm(self.data.geom_xpos[first] - self.data.geom_xpos[second])
            if apart - self.model.geom_rbound[[first, second]].sum() < LEAST_M + (1.0 + SLACK) * shift:
                left[first, second] = LEAST_M + SLACK * (shift + turn)
        parts = [(corners, poses, left)]
        for _ in range(MOST):
            corners, poses, left = parts.pop()
            near = self.near(corners, poses, left)
            if near is None:
                return False
            if near:
                parts += self.halves(corners, poses, near)
            if not parts:
                return True
        return False

    def moved(self, ways: Vector, first: int, second: int) -> tuple[float, float]:
        shift = np.linalg.norm(ways[:, first, :3] - ways[:, second, :3], axis=1).max()
        turns = [self.turning[g] * np.linalg.norm(ways[:, g, 3:], axis=1).max() for g in (first, second)]
        return float(shift), float(sum(turns))

    def near(
        self, corners: Vector, poses: Vector, left: dict[tuple[int, int], float]
    ) -> dict[tuple[int, int], float] | None:
        ways, near = poses - self.poses(corners.mean(axis=0)), {}
        for (first, second), least in left.items():
            most, ends = least + sum(self.moved(ways, first, second)), np.zeros(6)
            distance = mujoco.mj_geomDistance(self.model, self.data, first, second, most, ends)
            if distance < least:
                return None
            if distance < most:
                towards = (ends[3:] - ends[:3]) / distance
                turns = towards @ ways[:, [first, second], 3:].reshape(3, 2, 3, 3)
                reach = (np.abs(turns) * self.model.geom_aabb[[first, second], 3:]).sum(axis=(1, 2))
                nearer = ((ways[:, first, :3] - ways[:, second, :3]) @ towards + reach).max()
                if distance < least + nearer:
                    near[first, second] = least
        return near

    def halves(
        self, corners: Vector, poses: Vector, left: dict[tuple[int, int], float]
    ) -> list[tuple[Vector, Vector, dict[tuple[int, int], float]]]:
        sides = np.linalg.norm(poses[[1, 2, 0], :, :3] - poses[:, :, :3], axis=2).max(axis=1)
        a = int(sides.argmax())
        b, c = (a + 1) % 3, (a + 2) % 3
        return [
            (
                np.array([(corners[a] + corners[b]) / 2.0, corners[kept], corners[c]]),
                np.array([(poses[a] + poses[b]) / 2.0, poses[kept], poses[c]]),
                left,
            )
            for kept in (a, b)
        ]


def near_the_table(geometry: MujocoGeometry, rng: np.random.Generator) -> Vector:
    """Return the corners of a short path that begins a few millimetres further from something than allowed."""
    while True:
        far = START + rng.uniform(-0.3, 0.3, 7)
        near = far + rng.uniform(-0.2, 1.0, 7) * [0.3, 1.0, 0.3, 0.6, 0.3, 0.6, 0.3]
        if geometry.distance(far, 0.05) > 0.02 and geometry.distance(near, 0.05) < 0.01:
            break
    wanted = rng.uniform(0.013, 0.02)
    for _ in range(20):
        middle = (near + far) / 2.0
        near, far = (middle, far) if geometry.distance(middle, 0.05) < wanted else (near, middle)
    slope = geometry.distance_slope(far, 0.05)
    ways = rng.uniform(-0.08, 0.08, (2, 7))
    ways -= (
        np.minimum(ways @ slope, 0.0)[:, None] * slope / (slope @ slope)
    )  # along it or away, as the filter leads
    return far + np.vstack([np.zeros(7), ways])


def test_the_same_paths_are_proved_clear_as_by_the_plain_proof() -> None:
    compiled = CompiledScene(load_scene("fr3_tabletop"), load_robot("fr3"))
    geometry = MujocoGeometry(compiled, elbow_joint=3)
    plain, rng, found = PlainProof(geometry, compiled.model), np.random.default_rng(8), {True: 0, False: 0}
    for step in range(120):
        corners = near_the_table(geometry, rng)
        corners = corners if step % 3 else START + rng.uniform(-0.8, 0.8, 7) + rng.uniform(-0.1, 0.1, (3, 7))
        clear = plain.clear(corners)
        assert geometry.clear_between(corners, LEAST_M) == clear
        found[clear] += 1
    assert min(found.values()) > 10
