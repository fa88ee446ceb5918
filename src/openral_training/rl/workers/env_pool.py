"""Environments in processes of their own. A process that dies or hangs is replaced.

The state of an environment depends on its inputs alone, so a new process to which all inputs of the current collection
are sent again reaches exactly the state of the lost one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openral_benchmark.workers.restarting_worker import RestartingWorkers
from openral_benchmark.workers.worker import Launcher, WorkerHandle
from openral_training.rl.envs.env_group import VecEnvSpec, in_order, stage_inputs
from openral_training.rl.envs.vec_env import EnvInput, EnvOutput

TIMEOUT_S = 120.0
"""[s] of silence after which a process that has built its environments is considered lost."""


class EnvWorker:
    """A worker that has a share of the environments."""

    def __init__(self, vec_env_spec: VecEnvSpec, number: int, processes: int) -> None:
        """Build the environments, see `VecEnvSpec.vec_envs`."""
        self._vec_envs = vec_env_spec.vec_envs(number, processes)

    def __call__(self, message: tuple[int, dict[int, EnvInput]]) -> dict[int, EnvOutput]:
        """Execute the inputs of a stage."""
        stage, inputs = message
        return self._vec_envs[stage].step(inputs)

    def close(self) -> None:
        """Close the environments."""
        for vec_env in self._vec_envs:
            vec_env.close()


class EnvPool(RestartingWorkers):
    """Simulators in processes of their own."""

    def __init__(
        self,
        vec_env_spec: VecEnvSpec,
        launcher: Launcher,
        ranks: Sequence[int],
        *,
        timeout_s: float = TIMEOUT_S,
        max_losses: int = 3,
    ) -> None:
        """Start the processes; they build their environments while this one goes on.

        Args:
            vec_env_spec: which environments.
            launcher: starts the processes.
            ranks: one for each process.
            timeout_s: [s] of silence after which a process is considered lost.
            max_losses: most processes that may be lost in one collection.
        """
        self.vec_env_spec = vec_env_spec
        count, stages = len(ranks), range(vec_env_spec.stages)
        self._env_specs = [
            [vec_env_spec.env_specs(stage, number, count) for stage in stages] for number in range(count)
        ]

        def start(number: int) -> WorkerHandle:
            return launcher.start("env", ranks[number], EnvWorker, vec_env_spec, number, count)

        super().__init__(count, start, "environments", timeout_s, max_losses)

    def submit(self, stage: int, inputs: Mapping[int, EnvInput]) -> None:
        """Send each process its inputs of a stage."""
        for worker, env_specs in zip(self, self._env_specs, strict=True):
            if share := stage_inputs(inputs, env_specs[stage]):
                worker.send((stage, share))

    def collect(self, stage: int) -> dict[int, EnvOutput]:
        """Return the outputs of the stage's last inputs, by slot."""
        outputs: dict[int, EnvOutput] = {}
        for worker in self:
            if worker.next is not None and worker.next[0] == stage:
                outputs |= worker.receive()
        return in_order(outputs)
