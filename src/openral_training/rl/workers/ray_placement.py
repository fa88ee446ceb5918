"""A training run's workers on a Ray cluster: ranks are shares of a placement group with one bundle per machine."""

from __future__ import annotations

from typing import Any

from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from openral_benchmark.workers.ray_launcher import RayLauncher
from openral_benchmark.workers.worker import Component
from openral_core.errors import InstallationError
from openral_training.rl.settings.cluster import COMPONENTS, Cluster

PLACEMENT_TIMEOUT_S = 600.0
"""[s] that a cluster may take to reserve the resources of a run."""
CORE_SHARE = round(1 / len(COMPONENTS), 4)
"""Share of a rank's core that each of its processes reserves: at most one per component, and they take turns."""


class PlacementGroupLauncher(RayLauncher):
    """Starts workers with the resources of their ranks."""

    def __init__(self, cluster: Cluster) -> None:
        """Join the cluster and reserve the resources of the run.

        Args:
            cluster: of a run.

        Raises:
            InstallationError: the cluster does not answer, or has too few resources.
        """
        device = "cuda" if cluster.gpus_per_rank else "cpu"
        super().__init__(cluster.address or "auto", "cluster.address", device)
        self._gpus = cluster.gpus_per_rank
        both = set(cluster.ranks("rollout")) & set(cluster.ranks("actor"))
        self._gpus_of = {
            (component, rank): self._gpus / (2 if rank in both else 1)
            for component in ("rollout", "actor")
            for rank in cluster.ranks(component)
        }
        self._ranks_a_node = cluster.size // cluster.num_nodes
        self._group = self._reserve(cluster.num_nodes)

    def close(self) -> None:
        """Free the resources, and leave the cluster."""
        remove_placement_group(self._group)
        super().close()

    def _options(self, component: Component, rank: int) -> dict[str, Any]:
        bundle = rank // self._ranks_a_node
        return {
            "num_cpus": CORE_SHARE,
            "num_gpus": self._gpus_of.get((component, rank), 0),
            "scheduling_strategy": PlacementGroupSchedulingStrategy(
                self._group, placement_group_bundle_index=bundle
            ),
        }

    def _reserve(self, nodes: int) -> PlacementGroup:
        """Reserve one bundle for each of `nodes` machines and return the group.

        Several bundles share a machine where the cluster has fewer machines.
        """
        bundle = {"CPU": float(self._ranks_a_node)}
        if self._gpus:
            bundle["GPU"] = self._ranks_a_node * self._gpus
        group = placement_group([bundle] * nodes, strategy="SPREAD")
        if not group.wait(PLACEMENT_TIMEOUT_S):
            remove_placement_group(group)
            super().close()
            raise InstallationError(
                f"cluster: Ray has no room for {nodes} times {bundle} within {PLACEMENT_TIMEOUT_S:.0f} s; add "
                "machines, or place less in component_placement"
            )
        return group
