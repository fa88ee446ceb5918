"""The component `actor`: whoever learns. The command keeps policy and optimiser, so a lost process loses nothing."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from typing import Any, Protocol

from openral_training.rl.algorithm.experience import Experience
from openral_training.rl.algorithm.learner import Learner
from openral_training.rl.settings.actor import Optim
from openral_training.rl.settings.algorithm import Grpo, Ppo
from openral_training.rl.workers.distributed_learner import Duty, TeamServant
from openral_training.rl.workers.restarting_worker import Losses
from openral_training.rl.workers.worker_handle import Launcher, Line

PATIENCE_S = 3600.0
"""[s] that an update may take; a process that dies is noticed at once."""
POLL_S = 0.05
"""[s] for which one process is listened to before the next one is."""


class Learners(Protocol):
    """Whoever learns."""

    def update(self, experience: Experience, number: int, seed: int) -> dict[str, float]:
        """See `Learner.update`; the command's own policy and optimiser are changed."""
        ...

    @property
    def replaced(self) -> int:
        """How many processes were lost and started anew."""
        ...

    def close(self) -> None:
        """End everything; called once."""
        ...


class OneLearner:
    """See Learners: in this process."""

    replaced = 0

    def __init__(self, learner: Learner) -> None:
        """Take over a learner.

        Args:
            learner: the command's own.
        """
        self.update = learner.update

    def close(self) -> None:
        """See Learners."""


class LearnerTeam:
    """See Learners: in processes of their own. If one is lost, all begin anew with what the command has."""

    def __init__(
        self,
        learner: Learner,
        launcher: Launcher,
        ranks: Sequence[int],
        algorithm: Grpo | Ppo,
        optim: Optim,
        batch_size: int,
    ) -> None:
        """Remember; processes are started for the first update.

        Args:
            learner: the command's own.
            launcher: starts the processes.
            ranks: where, one a process.
            algorithm: how it learns.
            optim: how fast.
            batch_size: decisions of one step of the optimiser.
        """
        self._learner, self._launcher, self._ranks = learner, launcher, ranks
        self._told = algorithm, optim, batch_size
        self._base = copy.deepcopy(learner.policy)
        self._lines: list[Line] = []
        self._losses = Losses()

    def update(self, experience: Experience, number: int, seed: int) -> dict[str, float]:
        """See Learners.

        Raises:
            SimulationError: processes are lost again and again.
        """
        self._losses.now = 0
        while True:
            try:
                if not self._lines:
                    self._start()
                figures, states = self._ask("update", (experience, number, seed))[0]
            except EOFError:
                self._losses.add("learners", self._end())
            else:
                network, optimiser = states
                self._learner.policy.network.load_state_dict(network)
                self._learner.optimiser.load_state_dict(optimiser)
                found: dict[str, float] = figures
                return found

    @property
    def replaced(self) -> int:
        """See Learners."""
        return self._losses.total

    @property
    def pids(self) -> list[int]:
        """Process ids, in the order of ranks."""
        return [line.pid for line in self._lines]

    def close(self) -> None:
        """See Learners."""
        self._end()

    def _start(self) -> None:
        """Start all processes with what the command has, and let them meet."""
        learner, size = self._learner, len(self._ranks)
        algorithm, optim, batch_size = self._told
        duty = Duty(
            self._base,
            learner.policy.network.state_dict(),
            learner.optimiser.state_dict(),
            algorithm,
            optim,
            batch_size,
        )
        for number, rank in enumerate(self._ranks):
            self._lines.append(
                self._launcher.start("actor", rank, TeamServant, duty, self._launcher, number, size)
            )
        first = self._lines[0]
        first.send(("address", None))
        self._ask("join", first.receive(PATIENCE_S))

    def _ask(self, what: str, data: Any) -> list[Any]:
        """Tell all the same thing and return their answers. Raises as `Line.receive`, as soon as one is lost."""
        for line in self._lines:
            line.send((what, data))
        answers: dict[int, Any] = {}
        since = time.monotonic()
        while len(answers) < len(self._lines):
            # Whoever is left alone waits long for the others, so nobody is waited for alone.
            for number, line in enumerate(self._lines):
                if number not in answers and line.heard(POLL_S):
                    answers[number] = line.receive(PATIENCE_S)
            if time.monotonic() - since > PATIENCE_S:
                raise EOFError("silence")
        return [answers[number] for number in sorted(answers)]

    def _end(self) -> str:
        """End all processes and return how."""
        for line in self._lines:
            line.hang_up()
        how = [line.end() for line in self._lines]
        self._lines = []
        return " and ".join(dict.fromkeys(how))
