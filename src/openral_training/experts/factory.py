"""Opens the world of a recipe's task for its scripted expert."""

from __future__ import annotations

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
        SimulationError: its simulator has no scripted experts; it is closed.
    """
    if isinstance(backend, MetaWorldBackend):
        return MetaWorldExperts(backend, scene.cameras)
    if isinstance(backend, ArmBackend):
        return RobosuiteExperts(backend, scene.cameras)
    backend.close()
    family = scene.scene.backend_options.get("family")
    raise SimulationError(f"{scene.scene.id}: the simulator '{family}' has no scripted experts to learn from")
