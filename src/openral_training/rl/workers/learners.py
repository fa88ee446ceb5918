"""The component `actor`: the learner, in the command's process or in others.

The command has the state of policy and optimiser after each update, so a learner that is lost can be replaced.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from typing import Any

from openral_benchmark.workers.restarting_worker import ProcessLosses
from openral_benchmark.workers.worker import Launcher, WorkerHandle
from openral_training.rl.algorithm.batch import Batch
from openral_training.rl.algorithm.ppo import Learner
from openral_training.rl.settings.actor import Optim
from openral_training.rl.settings.algorithm import Grpo, Ppo
from openral_training.rl.workers.learner_worker import LearnerInit, LearnerWorker

TIMEOUT_S = 3600.0
"""[s] that an update may take; the death of a process is noticed at once."""
POLL_S = 1.0
"""[s] between two checks of the timeout."""


class LocalLearner:
    """A learner in this process."""

    replaced = 0

    def __init__(self, learner: Learner, device: str = "cpu") -> None:
        """Take over a learner.

        Args:
            learner: the command's own.
            device: torch device of its policy.
        """
        self._learner, self._device = learner, device

    def update(self, batch: Batch, number: int, seed: int) -> dict[str, float]:
        """Update from a batch that is on the CPU; see `Learner.update`."""
        return self._learner.update(batch.to(self._device), number, seed)

    def close(self) -> None:
        """Do nothing: there are no processes."""


class DistributedLearner:
    """Learners in processes of their own. If one is lost, all are started again from the command's state."""

    def __init__(
        self,
        learner: Learner,
        launcher: Launcher,
        ranks: Sequence[int],
        algorithm: Grpo | Ppo,
        optim: Optim,
        minibatch_size: int,
    ) -> None:
        """Keep the arguments; processes are started at the first update.

        Args:
            learner: the command's own, with the initial policy.
            launcher: starts the processes.
            ranks: one for each process.
            algorithm: of the learner.
            optim: of the learner.
            minibatch_size: of the learner.
        """
        self._learner, self._launcher, self._ranks = learner, launcher, ranks
        self._settings = algorithm, optim, minibatch_size
        self._base = copy.deepcopy(learner.policy)
        self._handles: list[WorkerHandle] = []
        self._losses = ProcessLosses()

    def update(self, batch: Batch, number: int, seed: int) -> dict[str, float]:
        """Update the command's own policy and optimiser.

        Raises:
            PolicyError: see `Learner.update`.
            SimulationError: too many processes were lost.
        """
        self._losses.this_round = 0
        while True:
            try:
                if not self._handles:
                    self._start()
                metrics, states = self._ask_all("update", (batch, number, seed))[0]
            except EOFError:
                self._losses.add("learners", self._end())
            else:
                network, optimiser = states
                self._learner.policy.network.load_state_dict(network)
                self._learner.optimiser.load_state_dict(optimiser)
                found: dict[str, float] = metrics
                return found

    @property
    def replaced(self) -> int:
        """How many processes were lost and replaced."""
        return self._losses.total

    @property
    def pids(self) -> list[int]:
        """Process ids, in the order of ranks."""
        return [handle.pid for handle in self._handles]

    def close(self) -> None:
        """End all processes."""
        self._end()

    def _start(self) -> None:
        """Start all processes from the command's state, and let them form a process group."""
        learner, launcher, size = self._learner, self._launcher, len(self._ranks)
        network, optimiser = learner.policy.network.state_dict(), learner.optimiser.state_dict()
        init = LearnerInit(self._base, network, optimiser, *self._settings)
        for number, rank in enumerate(self._ranks):
            self._handles.append(launcher.start("actor", rank, LearnerWorker, init, launcher, number, size))
        first = self._handles[0]
        first.send(("address", None))
        self._ask_all("join", first.receive(TIMEOUT_S))

    def _ask_all(self, what: str, data: Any) -> list[Any]:
        """Send all processes a message and return their answers. Raises EOFError as soon as one is lost."""
        for handle in self._handles:
            handle.send((what, data))
        answers: dict[WorkerHandle, Any] = {}
        since = time.monotonic()
        while len(answers) < len(self._handles):
            # If one process dies, the others wait for it in a collective operation, so all are polled together.
            missing = [handle for handle in self._handles if handle not in answers]
            for handle in self._launcher.wait(missing, POLL_S):
                if handle.poll(0.0):
                    answers[handle] = handle.receive(TIMEOUT_S)
            if time.monotonic() - since > TIMEOUT_S:
                raise EOFError("silence")
        return [answers[handle] for handle in self._handles]

    def _end(self) -> str:
        """End all processes and return a description of their exits."""
        for handle in self._handles:
            handle.close()
        endings = [handle.join() for handle in self._handles]
        self._handles = []
        return " and ".join(dict.fromkeys(endings))


Learners = LocalLearner | DistributedLearner
"""Updates the policy, in the command's process or in others."""
