"""With what a suite is run: on this machine or a cluster, by how many, how patiently. Changes no row."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from openral_benchmark.policy_source import PolicySource
from openral_benchmark.workers.episode_pool import EpisodePool
from openral_benchmark.workers.parent_watch import cores
from openral_benchmark.workers.process_launcher import ProcessLauncher
from openral_benchmark.workers.worker import Component, Launcher
from openral_core.errors import InstallationError
from openral_sim_bridge.rendering.opengl import RASTERISER_VARIABLE, rasteriser_threads

LOCAL = "local"
"""This machine, without Ray."""


@dataclass(frozen=True)
class ExecutionConfig:
    """What carries a run out."""

    workers: int | None = None
    """Processes with worlds; None: one a core."""
    cluster: str = LOCAL
    """`local`; `auto`, the Ray cluster that this machine belongs to; or the `ray://host:port` of one."""
    patience_s: float = 300.0
    """[s] after which worlds or a policy that give no sign of life are cut off."""

    def pool(self, source: PolicySource, *, num_envs: int, most: int) -> EpisodePool:
        """Start those who run it.

        Args:
            source: of the policy.
            num_envs: worlds of each worker.
            most: how many workers there is work for.

        Raises:
            InstallationError: Ray is not installed, or no cluster answers.
            PolicyError: the policy cannot be loaded.
        """
        launcher, size = self._launcher(source)
        return EpisodePool(launcher, source, min(size, most), num_envs=num_envs, patience_s=self.patience_s)

    def _launcher(self, source: PolicySource) -> tuple[Launcher, int]:
        """Return what starts the processes, and how many workers are wanted."""
        if self.cluster == LOCAL:
            # A quarter of the cores, whoever else works: rows must not depend on the number of workers.
            threads: dict[Component, int] = {"policy": max(1, cores() // 4), "episodes": 1}
            size = self.workers or cores()
            drawing = {RASTERISER_VARIABLE: rasteriser_threads(size, cores())}
            return ProcessLauncher(threads, environment=drawing), size
        if importlib.util.find_spec("ray") is None:
            raise InstallationError(f"--cluster {self.cluster} needs Ray: pip install 'openral[ray]'")
        from openral_benchmark.workers.ray_launcher import RayLauncher

        device = "cuda" if source.device.startswith("cuda") else "cpu"
        launcher = RayLauncher(self.cluster, "--cluster", device)
        return launcher, self.workers or max(1, launcher.cores - 1)
