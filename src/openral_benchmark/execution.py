"""With what a suite is run: on this machine or a cluster, by how many, how patiently. Changes no row."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from openral_benchmark.policy_source import PolicySource
from openral_benchmark.workers.local_pool import LocalWorkerPool
from openral_benchmark.workers.parent_watch import cores
from openral_benchmark.workers.worker_pool import WorkerPool
from openral_core.errors import InstallationError

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

    def pool(self, source: PolicySource, *, num_envs: int, most: int) -> WorkerPool:
        """Start those who run it.

        Args:
            source: of the policy.
            num_envs: worlds of each worker.
            most: how many workers there is work for.

        Raises:
            InstallationError: Ray is not installed, or no cluster answers.
            PolicyError: the policy cannot be loaded.
        """
        if self.cluster == LOCAL:
            size = min(self.workers or cores(), most)
            return LocalWorkerPool(source, size, num_envs=num_envs, patience_s=self.patience_s)
        if importlib.util.find_spec("ray") is None:
            raise InstallationError(f"--cluster {self.cluster} needs Ray: pip install 'openral[ray]'")
        from openral_benchmark.workers.ray_pool import RayWorkerPool

        return RayWorkerPool(
            self.cluster, source, self.workers, most=most, num_envs=num_envs, patience_s=self.patience_s
        )
