"""The component `rollout`: whoever lets the policy act, in the command's process or in others.

A player has a share of the worlds, in its own process or in processes that it speaks to by itself, so only attempts,
weights and trajectories pass between it and the command. What an attempt becomes depends on itself and the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from openral_training.rl.envs.attempts import Attempt, Trajectory
from openral_training.rl.envs.rollout import exploring, greedy, play
from openral_training.rl.envs.simulators import Grounds, InProcess, Simulators
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.workers.restarting_worker import LastingLines
from openral_training.rl.workers.worker_handle import Launcher, Line
from openral_training.rl.workers.world_pool import WorldPool

PATIENCE_S = 3600.0
"""[s] that a player may take for its attempts of one round; one that dies is noticed at once."""


@dataclass(frozen=True)
class Manner:
    """How a policy acts."""

    explores: bool
    """By chance; else at its best."""
    correlation: float = 0.0
    """See `noise`."""


GREEDY = Manner(explores=False)


class Players(Protocol):
    """Whoever lets a policy act."""

    @property
    def grounds(self) -> Grounds:
        """All worlds, whoever has them."""
        ...

    @property
    def replaced(self) -> int:
        """How many processes were lost and started anew."""
        ...

    def play(self, policy: StochasticPolicy, attempts: Sequence[Attempt], manner: Manner) -> list[Trajectory]:
        """Run attempts and return their trajectories in the same order. Raises as `rollout.play`."""
        ...

    def close(self) -> None:
        """End everything; called once."""
        ...


class OnePlayer:
    """See Players: in this process."""

    def __init__(self, simulators: Simulators) -> None:
        """Take over worlds.

        Args:
            simulators: all of them.
        """
        self._simulators = simulators

    @property
    def grounds(self) -> Grounds:
        """See Players."""
        return self._simulators.grounds

    @property
    def replaced(self) -> int:
        """See Players."""
        return self._simulators.replaced

    def play(self, policy: StochasticPolicy, attempts: Sequence[Attempt], manner: Manner) -> list[Trajectory]:
        """See Players."""
        decide = exploring(policy) if manner.explores else greedy(policy)
        return play(
            self._simulators, decide, attempts, action_dim=policy.action_dim, correlation=manner.correlation
        )

    def close(self) -> None:
        """See Players."""
        self._simulators.close()


def open_worlds(grounds: Grounds, launcher: Launcher, ranks: Sequence[int]) -> Simulators:
    """Build worlds at ranks of their own, or in this process where there are none."""
    return WorldPool(grounds, launcher, ranks) if ranks else InProcess(grounds)


class PlayerServant:
    """See `lines.Servant`."""

    def __init__(
        self, policy: StochasticPolicy, grounds: Grounds, launcher: Launcher, ranks: Sequence[int]
    ) -> None:
        """Build its worlds.

        Args:
            policy: of the run; weights come with each message.
            grounds: its share.
            launcher: starts processes of worlds.
            ranks: for them; none: they are in this process.
        """
        torch.set_num_threads(1)  # as the command does
        policy.network.to(launcher.device)
        self._policy, self._player = policy, OnePlayer(open_worlds(grounds, launcher, ranks))

    def __call__(self, message: tuple[dict[str, Any], Sequence[Attempt], Manner]) -> Any:
        """Play, and return the trajectories and how many processes of worlds were replaced meanwhile."""
        weights, attempts, manner = message
        before = self._player.replaced
        self._policy.network.load_state_dict(weights)
        return self._player.play(self._policy, attempts, manner), self._player.replaced - before

    def close(self) -> None:
        """See Servant."""
        self._player.close()


class PlayerPool:
    """See Players: in processes of their own. One that is lost is replaced, and what it had to do is done again."""

    def __init__(
        self,
        policy: StochasticPolicy,
        grounds: Grounds,
        launcher: Launcher,
        ranks: Sequence[int],
        env_ranks: Sequence[int],
    ) -> None:
        """Start them.

        Args:
            policy: of the run.
            grounds: all worlds; each player has as many.
            launcher: starts the processes.
            ranks: of the players.
            env_ranks: of worlds apart from them, as many for each; none: players have theirs beside them.
        """
        self.grounds = grounds
        count, each = len(ranks), len(env_ranks) // len(ranks)
        share = grounds.part(count)
        self._worlds_replaced = 0

        def start(number: int) -> Line:
            mine = list(env_ranks[number * each : (number + 1) * each])
            return launcher.start("rollout", ranks[number], PlayerServant, policy, share, launcher, mine)

        self._members = LastingLines(count, start, "players", PATIENCE_S)

    @property
    def pids(self) -> list[int]:
        """Process ids, in the order of ranks."""
        return self._members.pids

    @property
    def replaced(self) -> int:
        """See Players."""
        return self._members.replaced + self._worlds_replaced

    def play(self, policy: StochasticPolicy, attempts: Sequence[Attempt], manner: Manner) -> list[Trajectory]:
        """See Players."""
        count, weights = len(self._members), policy.network.state_dict()
        self._members.begin()
        for number, member in enumerate(self._members):
            member.send((weights, attempts[number::count], manner))
        found: dict[int, Trajectory] = {}
        for number, member in enumerate(self._members):
            trajectories, replaced = member.receive()
            self._worlds_replaced += replaced
            found |= zip(range(number, len(attempts), count), trajectories, strict=True)
        return [found[number] for number in range(len(attempts))]

    def close(self) -> None:
        """See Players."""
        self._members.close()
