"""A worker that runs episodes: it keeps the simulator of its newest scene open, and asks a policy in another
process."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openral_benchmark.workers.events import (
    Event,
    Failed,
    Finished,
    PolicyLost,
    PolicyTimedOut,
    Started,
    TimedOut,
    WorkerLost,
)
from openral_benchmark.workers.policy_host import PolicyLink, reason
from openral_benchmark.workers.worker import Peer
from openral_control.catch_up import CatchUp
from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.errors import ContractError, PolicyError
from openral_core.manifest import RSkillManifest
from openral_core.scene import BenchmarkScene
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.rollout import EpisodeJob, rounds


@dataclass(frozen=True)
class Assignment:
    """Episodes of one scene, and the policy that runs them."""

    scene: BenchmarkScene
    jobs: Sequence[EpisodeJob]
    policy: Peer


class EpisodeWorker:
    """Carries out one assignment after the other, and returns one event a message."""

    def __init__(self, manifest: RSkillManifest, num_envs: int, patience_s: float) -> None:
        """Begin without a simulator.

        Args:
            manifest: of the skill.
            num_envs: most environments that are stepped together.
            patience_s: [s] timeout of a request to the policy.
        """
        self._manifest, self._num_envs, self._patience_s = manifest, num_envs, patience_s
        self._open: tuple[BenchmarkScene, int, Backend] | None = None
        self._events: Iterator[Event] = iter(())

    def __call__(self, message: Assignment | None) -> Event | None:
        """Return the first event of an assignment; for None, the next event, or None if there is no further one."""
        if message is not None:
            self._events = self._run(message)
        return next(self._events, None)

    def close(self) -> None:
        """Close the simulator."""
        if self._open is not None:
            opened, self._open = self._open, None
            opened[2].close()

    def _run(self, assignment: Assignment) -> Iterator[Event]:
        """Run episodes and yield their events; errors become events, too."""
        try:
            yield from self._episodes(assignment)
        except PolicyLost as error:
            yield WorkerLost(str(error), policy=True)
        except PolicyTimedOut as error:
            yield TimedOut(str(error))
        except (PolicyError, ContractError) as error:
            yield Failed(str(error), simulator_usable=True)
        except Exception as error:  # noqa: BLE001  a simulator may raise anything; the row has the reason
            yield Failed(reason(error))

    def _episodes(self, assignment: Assignment) -> Iterator[Event]:
        scene, jobs = assignment.scene, assignment.jobs
        backend = self._backend(scene, len(jobs))
        yield Started()
        start = time.perf_counter()
        observe = ObservationAdapter(self._manifest, scene)
        with contextlib.closing(PolicyLink(assignment.policy, self._patience_s)) as policy:
            yield from rounds(
                backend,
                policy,
                observe,
                ActionAdapter(self._manifest, scene),
                jobs,
                catch_up=CatchUp(scene.action),
                cameras=[camera.name for camera in observe.cameras],
                n_action_steps=self._manifest.replay_steps,
                horizon=int(scene.task.max_steps or 0),
            )
        yield Finished(time.perf_counter() - start, policy.inferred_s, policy.asked_s)

    def _backend(self, scene: BenchmarkScene, episodes: int) -> Backend:
        """Return the open simulator, or open this scene's, which may take minutes.

        Environments beyond those that the episodes need are not stepped and change no row.
        """
        needed = min(self._num_envs, episodes)
        if self._open is None or self._open[0] != scene or self._open[1] < needed:
            self.close()
            self._open = scene, needed, make_backend(scene, num_envs=needed)
        return self._open[2]
