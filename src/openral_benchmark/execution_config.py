"""The machines and processes that run a suite, and their timeouts. None of them changes a row."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from openral_benchmark.policy_process_count import policy_processes, policy_threads
from openral_benchmark.policy_source import PolicySource
from openral_benchmark.workers.episode_pool import EpisodePool
from openral_benchmark.workers.process_launcher import ProcessLauncher
from openral_benchmark.workers.worker import Component, Launcher
from openral_benchmark.workers.worker_pool import cores
from openral_core.errors import InstallationError
from openral_rskill.registry import RSkillPackage
from openral_rskill.vram import budget, require_budget
from openral_sim_bridge.rendering.opengl import RASTERISER_VARIABLE, rasteriser_threads

LOCAL = "local"
"""This machine, without Ray."""


@dataclass(frozen=True)
class ExecutionConfig:
    """Machines, processes and timeouts of a run."""

    workers: int | None = None
    """Number of processes with simulators; None: one for each core."""
    policies: int | None = None
    """Number of processes with the policy; None: see `policy_processes`, or one on a cluster."""
    cluster: str = LOCAL
    """`local`; `auto`, the Ray cluster that this machine belongs to; or the `ray://host:port` of one."""
    patience_s: float = 300.0
    """[s] after which a policy that does not answer is restarted; a simulator has twice as long."""

    def pool(self, source: PolicySource, *, num_envs: int, most: int) -> EpisodePool:
        """Start the processes.

        Args:
            source: of the policy.
            num_envs: most environments of a worker.
            most: number of workers that there is work for.

        Raises:
            InstallationError: Ray is not installed, or no cluster answers.
            ContractError: the GPU's memory does not hold that many policies.
            PolicyError: the policy cannot be loaded.
        """
        package = source.package()
        launcher, wanted = self._launcher(package, source.device)
        size = min(wanted, most)
        policies = self.policies
        if policies is None:
            local = self.cluster == LOCAL
            policies = policy_processes(package, source.device, size, num_envs) if local else 1
        elif self.cluster == LOCAL:
            require_budget(budget([package] * min(policies, size), source.device, robots=num_envs))
        return EpisodePool(
            launcher,
            source,
            size,
            policies=min(policies, size),
            num_envs=num_envs,
            patience_s=self.patience_s,
        )

    def _launcher(self, package: RSkillPackage, device: str) -> tuple[Launcher, int]:
        """Return the launcher of the processes, and the number of workers if there is work for all."""
        if self.cluster == LOCAL:
            threads: dict[Component, int] = {"policy": policy_threads(package), "episodes": 1}
            size = self.workers or cores()
            drawing = {RASTERISER_VARIABLE: rasteriser_threads(size, cores())}
            return ProcessLauncher(threads, environment=drawing), size
        if importlib.util.find_spec("ray") is None:
            raise InstallationError(f"--cluster {self.cluster} needs Ray: pip install 'openral[ray]'")
        from openral_benchmark.workers.ray_launcher import RayLauncher

        launcher = RayLauncher(self.cluster, "--cluster", "cuda" if device.startswith("cuda") else "cpu")
        return launcher, self.workers or max(1, launcher.cores - 1)
