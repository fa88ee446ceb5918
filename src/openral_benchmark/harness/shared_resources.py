"""Models and simulated worlds that the harnesses of one process share; the number of open worlds is bounded."""

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
"""Most worlds that are open at once: enough for two tasks, since the variants differ in three sets of backend options.
A world of MetaWorld with its renderer takes about 100 MB and half a second to open; one of robosuite is a process, and
takes several seconds to open."""


class SharedParts:
    """Loads each model once per skill folder, and keeps one world per scene options. Not thread-safe."""

    def __init__(self, device: str = "cpu") -> None:
        """Begin with nothing loaded.

        Args:
            device: torch device of the models, such as `cpu` or `cuda:0`.
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
            self._reward_models[package.folder] = load_reward_model(package, self._device)
        return self._reward_models[package.folder]

    def detector(self, package: RSkillPackage) -> DetectorOnDemand:
        """Return the detector of a skill, which loads its model at the first detection."""
        return self._detectors.setdefault(package.folder, DetectorOnDemand(package, self._device))

    def world(self, scene: BenchmarkScene) -> Backend:
        """Return the world of a scene, opened if need be; the least recently used one is closed beyond `MOST_WORLDS`.

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

    def close_worlds(self) -> None:
        """Close all worlds; the next episode opens its own anew."""
        while self._worlds:
            self._worlds.popitem()[1].close()

    def close(self) -> None:
        """Free worlds and models."""
        self.close_worlds()
        for detector in self._detectors.values():
            detector.close()
        for model in self._reward_models.values():
            model.close()
        for policy in self._policies.values():
            policy.close()
        self._detectors.clear()
        self._reward_models.clear()
        self._policies.clear()
