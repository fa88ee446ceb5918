"""Opens the world of a recipe's task for its scripted expert."""

from __future__ import annotations

import contextlib

from openral_core.errors import SimulationError
from openral_core.scene import DeployScene
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.backends.remote_sim.backend import ArmBackend
from openral_training.experts.metaworld import MetaWorldExperts
from openral_training.experts.robosuite import RobosuiteExperts
from openral_training.experts.world import ExpertWorld
from openral_training.training_recipe import Recipe


def open_world(recipe: Recipe, task_id: str) -> ExpertWorld:
    """Open the world of a recipe's task with its cameras.

    Raises:
        SimulationError: its simulator has no scripted experts.
    """
    scene = recipe.scene_for(task_id)
    return experts_of(make_backend(scene), scene)


def experts_of(backend: Backend, scene: DeployScene) -> ExpertWorld:
    """Return the scripted experts of a backend of one world, which they close.

    Raises:
        SimulationError: its simulator has no scripted experts, or none for its task; it is closed.
    """
    with contextlib.ExitStack() as undo:
        undo.callback(backend.close)
        found: ExpertWorld | None = None
        if isinstance(backend, MetaWorldBackend):
            found = MetaWorldExperts(backend, scene.cameras)
        elif isinstance(backend, ArmBackend):
            found = RobosuiteExperts(backend, scene.cameras)
        if found is not None:
            undo.pop_all()
            return found
    family = scene.scene.backend_options.get("family")
    raise SimulationError(f"{scene.scene.id}: the simulator '{family}' has no scripted experts to learn from")
