"""A world of the detector's recipe: it is put into random states, and knows the true positions of its things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_perception.geometry import PinholeCamera
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.backends.metaworld.world import make_expert
from openral_sim_bridge.backends.mjcf.backend import MjcfBackend
from openral_sim_bridge.coordinate_frames import intrinsics
from openral_training.detector.recipe import DetectorWorld, ModelThing

GREATEST_STEPS = 140
"""Most control steps before a picture, at the 80 Hz of MetaWorld; proportionally fewer in slower scenes."""
NOISE = 0.6
"""Standard deviation of the noise on each action, in units of the action."""
BESIDE, TOUCHING_M = 0.4, (0.042, 0.08)
"""Share of the moved bodies that are put beside or onto another one; [m] range of the distance of their centres."""
LYING, UPRIGHT, LIES = 0.15, np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0, 0.0]) / np.sqrt(2.0)
"""Share of the moved bodies that lie on their side; quaternions (w, x, y, z) of upright and of lying bodies."""
AWAY_M = 2.0
"""[m] from the centre of the space of `DetectorWorld.free`; bodies further away are not in use and are not moved."""


@dataclass(frozen=True)
class TruePlace:
    """The true position of a thing."""

    label: str
    """Of the recipe."""
    position: NDArray[np.float64]
    """(3,) [m] in the world frame."""
    geoms: tuple[int, ...]
    """Ids of the geoms that show it."""


class SeenWorld:
    """One simulated world and its camera."""

    def __init__(self, plan: DetectorWorld) -> None:
        """Build the world.

        Raises:
            ContractError: its backend draws no geoms, or a thing is not in its model.
            OpenralError: the scene is wrong.
        """
        scene = plan.open_scene()
        backend = make_backend(scene)
        if not isinstance(backend, (MetaWorldBackend, MjcfBackend)):
            raise ContractError(
                f"{plan.scene}: pictures with true places come from metaworld and mjcf scenes only"
            )
        self.plan, self.backend, self.hz = plan, backend, scene.control_hz
        self.size = (scene.scene.observation_width, scene.scene.observation_height)
        self._task = backend.task_ids[0]
        self._expert = make_expert(self._task) if isinstance(backend, MetaWorldBackend) else None
        self._camera_position = self.model.cam_pos[self._camera].copy()
        self._shown = [
            (label, thing, self._geoms(label, thing))
            for label, things in plan.things.items()
            for thing in things
        ]

    @property
    def model(self) -> Any:
        """mujoco.MjModel of the world."""
        return self.backend.world(0).model

    @property
    def data(self) -> Any:
        """mujoco.MjData of the world."""
        return self.backend.world(0).data

    @property
    def camera(self) -> PinholeCamera:
        """The camera in its current pose."""
        seen = self.backend.camera(self.plan.camera)
        matrix = intrinsics(seen)
        return PinholeCamera(
            seen.width,
            seen.height,
            matrix[0, 0],
            matrix[1, 1],
            matrix[0, 2],
            matrix[1, 2],
            seen.position,
            seen.rotation,
        )

    def begin(self, init_id: int, rng: np.random.Generator, shift_m: float) -> None:
        """Reset to an initial state, act for a random time, move bodies, and shift the camera by up to `shift_m`."""
        self.backend.reset([self._task], [init_id])
        steps = int(rng.integers(0, GREATEST_STEPS) * self.hz / 80.0) if rng.random() < 0.8 else 0
        drift = rng.uniform(-0.6, 0.6, self.backend.action_dim)
        for _ in range(steps):
            noise = rng.normal(0.0, NOISE, self.backend.action_dim)
            action = drift + noise
            if isinstance(self.backend, MetaWorldBackend):
                action = self.backend.world(0).expert_action(self._task, self._expert) + noise
            self.backend.step(np.clip(action, -1.0, 1.0)[None])
        self._scatter(rng)
        self.model.cam_pos[self._camera] = self._camera_position + rng.uniform(-shift_m, shift_m, 3)
        mujoco.mj_forward(self.model, self.data)

    def places(self) -> list[TruePlace]:
        """Return the current positions of the things."""
        return [TruePlace(label, self._position(thing), geoms) for label, thing, geoms in self._shown]

    def close(self) -> None:
        """Free the world."""
        self.backend.close()

    @property
    def _camera(self) -> int:
        return int(self.model.camera(self.plan.camera).id)

    def _scatter(self, rng: np.random.Generator) -> None:
        """Move and lift free bodies at random, more often where no expert acts, and open the drawer if there is one."""
        share = 0.3 if self._expert is not None else 0.6
        free = self._free_joints()
        for address in free:
            if rng.random() >= share:
                continue
            others = [other for other in free if other != address]
            if others and rng.random() < BESIDE:
                self._put_beside(address, int(rng.choice(others)), rng)
            else:
                self._put_anywhere(address, rng)
            turn, half = np.zeros(4), rng.uniform(-np.pi, np.pi) / 2
            lying = LIES if rng.random() < LYING else UPRIGHT
            mujoco.mju_mulQuat(turn, np.array([np.cos(half), 0.0, 0.0, np.sin(half)]), lying)
            self.data.qpos[address + 3 : address + 7] = turn
        for joint in range(self.model.njnt):
            if self.model.joint(joint).name == "drawer" and rng.random() < 0.6:
                self.data.qpos[self.model.jnt_qposadr[joint]] = rng.uniform(*self.model.jnt_range[joint])

    def _free_joints(self) -> list[int]:
        """Return the addresses in qpos of the free bodies that are within AWAY_M."""
        found = self.model.jnt_qposadr[self.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
        away = (
            np.hypot(*(self.data.qpos[address : address + 2] - self.plan.centre)) > AWAY_M
            for address in found
        )
        return [int(address) for address, far in zip(found, away, strict=True) if not far]

    def _put_anywhere(self, address: int, rng: np.random.Generator) -> None:
        (x, y), (half_x, half_y, height) = self.plan.centre, self.plan.free
        low = self.data.qpos[address + 2]
        z = rng.uniform(low, max(low, self.plan.top_m + height)) if rng.random() < 0.4 else low
        self.data.qpos[address : address + 3] = (
            rng.uniform(x - half_x, x + half_x),
            rng.uniform(y - half_y, y + half_y),
            z,
        )

    def _put_beside(self, address: int, other: int, rng: np.random.Generator) -> None:
        """Put a body beside another one, or onto it."""
        there = self.data.qpos[other : other + 3]
        if rng.random() < 0.4:
            on_it = np.append(rng.normal(0.0, 0.006, 2), rng.uniform(*TOUCHING_M))
            self.data.qpos[address : address + 3] = there + on_it
            return
        way, far = rng.uniform(-np.pi, np.pi), rng.uniform(*TOUCHING_M)
        self.data.qpos[address : address + 2] = there[:2] + far * np.array([np.cos(way), np.sin(way)])

    def _position(self, thing: ModelThing) -> NDArray[np.float64]:
        if thing.at is None:
            assert isinstance(self.backend, MetaWorldBackend)
            there = self.backend.world(0).look(self._task)[4:7]
        elif self._number(mujoco.mjtObj.mjOBJ_BODY, thing.at) >= 0:
            there = self.data.body(thing.at).xpos
        else:
            there = self.data.geom(thing.at).xpos
        position: NDArray[np.float64] = there + np.array(thing.offset)
        return position

    def _geoms(self, label: str, thing: ModelThing) -> tuple[int, ...]:
        if thing.at is None and not isinstance(self.backend, MetaWorldBackend):
            raise ContractError(f"{self.plan.scene}: things.{label}.at: is missing; name a body or a geom")
        named = [
            int(name) if name.isdigit() else self._number(mujoco.mjtObj.mjOBJ_GEOM, name)
            for name in thing.geoms
        ]
        bodies = [self._number(mujoco.mjtObj.mjOBJ_BODY, name) for name in thing.bodies]
        if min([*named, *bodies]) < 0:
            raise ContractError(f"{self.plan.scene}: things.{label}: the model has no such geom or body")
        within = [geom for geom in range(self.model.ngeom) if self.model.geom_bodyid[geom] in bodies]
        return (*named, *within)

    def _number(self, kind: Any, name: str) -> int:
        return int(mujoco.mj_name2id(self.model, kind, name))
