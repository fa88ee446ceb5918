"""Builds the simulator that a scene names. A simulator is imported only when a scene needs it."""

from __future__ import annotations

from typing import Any

from openral_core.errors import NotFoundError
from openral_core.process.collector import uncollected_imports
from openral_core.scene import DeployScene
from openral_core.simulator_options import FAMILIES, no_simulator
from openral_sim_bridge.backend import Backend


def make_backend(scene: DeployScene, *, num_envs: int = 1, horizon: int | None = None) -> Backend:
    """Build the simulator of a scene.

    Args:
        scene: whose `backend_options.family` names the simulator.
        num_envs: number of worlds.
        horizon: control steps until an episode is done; None: never.

    Raises:
        NotFoundError: there is no such family, task, camera or render profile.
        OpenralError: the simulator could not be built.
    """
    world = scene.scene
    settings: dict[str, Any] = dict(world.backend_options)
    family, tasks = settings.get("family"), [str(task) for task in settings.get("tasks", [])]
    size: dict[str, Any] = {"width": world.observation_width, "height": world.observation_height}
    if family == "metaworld":
        with uncollected_imports():
            from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend

        look = str(settings.get("render_profile", "fast"))
        varied = {name: settings[name] for name in ("distractors", "object_outside") if name in settings}
        return MetaWorldBackend(
            tasks, num_envs=num_envs, render_profile=look, horizon=horizon, **varied, **size
        )
    if family == "mjcf":
        with uncollected_imports():
            from openral_sim_bridge.backends.mjcf.backend import open_mjcf

        return open_mjcf(scene, num_envs=num_envs, horizon=horizon)
    arms: dict[str, Any] = {
        "representation": scene.action.representation,
        "num_envs": num_envs,
        "horizon": horizon,
        "render_profile": str(settings.get("render_profile", "published")),
        **size,
    }
    if family == "libero":
        from openral_sim_bridge.backends.libero.backend import open_libero

        return open_libero(tasks, **arms)
    if family == "robosuite":
        from openral_sim_bridge.backends.robosuite.backend import open_robosuite

        outside = bool(settings.get("object_outside", False))
        return open_robosuite(tasks, robot=scene.robot_id, object_outside=outside, **arms)
    if family == "fake":
        from openral_sim_bridge.backends.fake import FakeBackend

        faults = {name: settings[name] for name in ("fail_after", "hang_in") if name in settings}
        return FakeBackend(tasks, num_envs=num_envs, control_hz=scene.control_hz, **faults, **size)
    raise NotFoundError(_unknown(scene))


def _unknown(scene: DeployScene) -> str:
    """Return the error message for a scene that names no existing simulator."""
    family = scene.scene.backend_options.get("family")
    what, fix = ("is missing", f"name a simulator: {', '.join(FAMILIES)}")
    if family is not None:
        what, fix = no_simulator(str(family))
    key = ("scene", "backend_options", "family")
    return scene.source.fault(key, what, fix) if scene.source else f"{'.'.join(key)}: {what}; {fix}"
