"""Worlds in processes of their own. One that dies or hangs is replaced, and nothing is lost.

A world depends on its orders alone, so a new process that is given all orders of the present collection again stands
where the lost one stood, to the byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openral_benchmark.workers.restarting_worker import RestartingWorkers
from openral_benchmark.workers.worker import Launcher, WorkerHandle
from openral_training.rl.envs.simulators import VecEnvSpec, in_order, stage_orders
from openral_training.rl.envs.vec_env import EnvOutput, Order

TIMEOUT_S = 120.0
"""[s] of silence after which a process that has its worlds is given up."""


class WorldWorker:
    """A worker that has every so many-th of the worlds."""

    def __init__(self, vec_env_spec: VecEnvSpec, number: int, processes: int) -> None:
        """Build them, see `VecEnvSpec.vec_envs`."""
        self._vec_envs = vec_env_spec.vec_envs(number, processes)

    def __call__(self, message: tuple[int, dict[int, Order]]) -> dict[int, EnvOutput]:
        """Carry out a stage's orders."""
        stage, orders = message
        return self._vec_envs[stage].perform(orders)

    def close(self) -> None:
        """Free the worlds."""
        for vec_env in self._vec_envs:
            vec_env.close()


class WorldPool(RestartingWorkers):
    """Simulators whose worlds are in processes of their own."""

    def __init__(
        self,
        vec_env_spec: VecEnvSpec,
        launcher: Launcher,
        ranks: Sequence[int],
        *,
        timeout_s: float = TIMEOUT_S,
        max_losses: int = 3,
    ) -> None:
        """Start the processes; they build their worlds while this one goes on.

        Args:
            vec_env_spec: which worlds.
            launcher: starts them.
            ranks: where, one a process.
            timeout_s: [s] of silence after which one is given up.
            max_losses: processes that may be lost in one collection.
        """
        self.vec_env_spec = vec_env_spec
        count, stages = len(ranks), range(vec_env_spec.stages)
        self._env_specs = [
            [vec_env_spec.env_specs(stage, number, count) for stage in stages] for number in range(count)
        ]

        def start(number: int) -> WorkerHandle:
            return launcher.start("env", ranks[number], WorldWorker, vec_env_spec, number, count)

        super().__init__(count, start, "worlds", timeout_s, max_losses)

    def submit(self, stage: int, orders: Mapping[int, Order]) -> None:
        """Send each process its orders of a stage."""
        for worker, env_specs in zip(self, self._env_specs, strict=True):
            if mine := stage_orders(orders, env_specs[stage]):
                worker.send((stage, mine))

    def collect(self, stage: int) -> dict[int, EnvOutput]:
        """Return what the orders of a stage led to, by slot."""
        outputs: dict[int, EnvOutput] = {}
        for worker in self:
            if worker.next is not None and worker.next[0] == stage:
                outputs |= worker.receive()
        return in_order(outputs)
