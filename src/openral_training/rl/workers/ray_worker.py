"""Servants as actors on a Ray cluster: see `lines`, of which this is the other half.

Ranks are places in a placement group with one bundle a machine. openral, and whatever the scenes need, is installed on
all of them. Nothing is restarted by Ray itself: whoever has a line knows what its servant has to be told again.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from openral_benchmark.workers.ray_cluster import join, kill
from openral_core.errors import InstallationError, OpenralError
from openral_training.rl.settings.cluster import COMPONENTS, Cluster
from openral_training.rl.workers.packing import answer, opened, pack, unpack
from openral_training.rl.workers.worker_handle import START_S, Line, Servant

ROOM_S = 600.0
"""[s] that a cluster may take to have room for a run."""
CORE_SHARE = round(1 / len(COMPONENTS), 4)
"""Of a rank's core, for each process there: at most one of each component, and they work by turns."""


class ServantActor:
    """A servant in its actor."""

    def __init__(self, packed: bytes) -> None:
        make, arguments = unpack(packed)
        self._fault: OpenralError | None = None
        try:
            self._servant: Servant = make(*arguments)
        except OpenralError as error:
            self._fault = error

    def made(self) -> bytes:
        """Return the process's id, or why there is no servant."""
        return pack(self._fault or os.getpid())

    def answer(self, packed: bytes) -> bytes:
        """See `lines.answer`."""
        return answer(self._servant, packed)


class EnvActor(ServantActor):
    """Worlds; Ray shows an actor under the name of its class."""


class RolloutActor(ServantActor):
    """A player."""


class LearnerActor(ServantActor):
    """A learner."""


_ACTORS = {"env": EnvActor, "rollout": RolloutActor, "actor": LearnerActor}


class RayLine:
    """See Line."""

    def __init__(self, actor: Any) -> None:
        """Take over an actor.

        Args:
            actor: of a ServantActor.
        """
        self._actor, self._pending = actor, deque([actor.made.remote()])
        self._how = "an actor that did not answer"
        self.pid = 0

    def send(self, message: Any) -> None:
        """See Line."""
        self._pending.append(self._actor.answer.remote(pack(message)))

    def heard(self, wait_s: float) -> bool:
        """See Line."""
        if not self.pid:
            if not self._answered(wait_s):
                return False
            try:
                self.pid = self._next(wait_s)
            except EOFError:
                return True
        return self._answered(wait_s)

    def receive(self, patience_s: float) -> Any:
        """See Line."""
        if not self.pid:
            self.pid = self._next(START_S)
        return self._next(patience_s)

    def hang_up(self) -> None:
        """See Line."""

    def end(self) -> str:
        """See Line."""
        kill(self._actor)
        return self._how

    def _answered(self, wait_s: float) -> bool:
        return bool(ray.wait([self._pending[0]], timeout=wait_s)[0])

    def _next(self, patience_s: float) -> Any:
        try:
            return opened(ray.get(self._pending.popleft(), timeout=patience_s))
        except EOFError as error:
            self._how = str(error)
            raise
        except GetTimeoutError as error:
            self._how = "silence"
            raise EOFError from error
        except RayError as error:
            self._how = " ".join(str(error).split())[:200]
            raise EOFError from error


class RayLauncher:
    """See Launcher."""

    def __init__(self, cluster: Cluster) -> None:
        """Join the cluster and wait for room.

        Args:
            cluster: of a run.

        Raises:
            InstallationError: no such cluster answers, or it has too little room.
        """
        self._own = join(cluster.address or "auto", "cluster.address")
        self.device = "cuda" if cluster.gpus_per_rank else "cpu"
        self._gpus = cluster.gpus_per_rank
        both = set(cluster.ranks("rollout")) & set(cluster.ranks("actor"))
        self._gpus_of = {
            (component, rank): self._gpus / (2 if rank in both else 1)
            for component in ("rollout", "actor")
            for rank in cluster.ranks(component)
        }
        self._ranks_a_node = cluster.size // cluster.num_nodes
        self._group = self._room(cluster.num_nodes)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a process needs to start others; the cluster is left by whoever joined it."""
        return {**self.__dict__, "_own": False}

    def host(self) -> str:
        """See Launcher."""
        address: str = ray.util.get_node_ip_address()
        return address

    def start(self, component: str, rank: int, servant: Callable[..., Servant], *arguments: object) -> Line:
        """See Launcher."""
        place = PlacementGroupSchedulingStrategy(
            self._group, placement_group_bundle_index=rank // self._ranks_a_node
        )
        made = ray.remote(_ACTORS[component]).options(
            num_cpus=CORE_SHARE,
            num_gpus=self._gpus_of.get((component, rank), 0),
            scheduling_strategy=place,
        )
        return RayLine(made.remote(pack((servant, arguments))))

    def close(self) -> None:
        """See Launcher."""
        remove_placement_group(self._group)
        if self._own:
            ray.shutdown()

    def _room(self, nodes: int) -> PlacementGroup:
        """Return a bundle a machine, as soon as there is room for it; on fewer machines where there are no more."""
        bundle = {"CPU": float(self._ranks_a_node)}
        if self._gpus:
            bundle["GPU"] = self._ranks_a_node * self._gpus
        group = placement_group([bundle] * nodes, strategy="SPREAD")
        if not group.wait(ROOM_S):
            remove_placement_group(group)
            if self._own:
                ray.shutdown()
            raise InstallationError(
                f"cluster: Ray has no room for {nodes} times {bundle} within {ROOM_S:.0f} s; add machines, or place "
                "less in component_placement"
            )
        return group
