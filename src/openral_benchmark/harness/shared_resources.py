"""What the harnesses of one process have in common: models, each loaded once, and a bounded number of worlds."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from openral_core.scene import BenchmarkScene
from openral_core.types import Policy
from openral_perception.detectors.factory import DetectorOnDemand
from openral_policy_nodes.families.factory import load_policy
from openral_reward_monitor.models.reward_model import RewardModel, load_reward_model
from openral_rskill.registry import RSkillPackage
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend

MOST_WORLDS = 6
"""Worlds that are open at once: those of two tasks, of which each has as many as there are kinds of backend options
among the variants. A world of MetaWorld and its renderer take about 100 MB, and half a second to open; one of robosuite
is a process, and takes several seconds."""


class SharedParts:
    """Models by their skill's folder, and worlds by their scene's options. Not thread-safe."""

    def __init__(self, device: str = "cpu") -> None:
        """Begin with nothing loaded.

        Args:
            device: where models run, in torch's words.
        """
        self._device = device
        self._policies: dict[Path, Policy] = {}
        self._reward_models: dict[Path, RewardModel] = {}
        self._detectors: dict[Path, DetectorOnDemand] = {}
        self._worlds: OrderedDict[str, Backend] = OrderedDict()

    def policy(self, package: RSkillPackage) -> Policy:
        """Return the policy of a skill. Raises OpenralError: it cannot be loaded."""
        if package.folder not in self._policies:
            self._policies[package.folder] = load_policy(package, self._device)
        return self._policies[package.folder]

    def reward_model(self, package: RSkillPackage) -> RewardModel:
        """Return the model of a reward skill. Raises OpenralError: it cannot be loaded."""
        if package.folder not in self._reward_models:
            self._reward_models[package.folder] = load_reward_model(package)
        return self._reward_models[package.folder]

    def detector(self, package: RSkillPackage) -> DetectorOnDemand:
        """Return the detector of a skill, which is loaded when it is first asked."""
        return self._detectors.setdefault(package.folder, DetectorOnDemand(package, self._device))

    def world(self, scene: BenchmarkScene) -> Backend:
        """Return the open world of a scene, or open it; the one that was not used for longest is closed for it.

        Raises:
            OpenralError: the simulator could not be built.
        """
        key = scene.scene.model_dump_json()
        if key not in self._worlds:
            while len(self._worlds) >= MOST_WORLDS:
                self._worlds.popitem(last=False)[1].close()
            self._worlds[key] = make_backend(scene)
        self._worlds.move_to_end(key)
        return self._worlds[key]

    def close(self) -> None:
        """Free worlds and models."""
        for world in self._worlds.values():
            world.close()
        for detector in self._detectors.values():
            detector.close()
        for model in self._reward_models.values():
            model.close()
        for policy in self._policies.values():
            policy.close()
        self._worlds.clear()
        self._detectors.clear()
        self._reward_models.clear()
        self._policies.clear()
