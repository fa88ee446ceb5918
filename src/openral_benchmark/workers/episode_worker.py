"""A worker's place: the simulator of the newest scene, kept open, and the episodes that are run in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from openral_benchmark.workers.policy_link import reason
from openral_benchmark.workers.worker_pool import (
    Event,
    Failed,
    Finished,
    PolicyLost,
    PolicyTimedOut,
    Started,
    TimedOut,
    WorkerLost,
)
from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.errors import ContractError, PolicyError
from openral_core.manifest import RSkillManifest
from openral_core.scene import BenchmarkScene
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.rollout import Job, rounds
from openral_sim_bridge.stopwatch import TimedPolicy


class EpisodeWorker:
    """Runs episodes with a policy that lives elsewhere."""

    def __init__(self, manifest: RSkillManifest, num_envs: int) -> None:
        """Begin with no simulator.

        Args:
            manifest: of the skill.
            num_envs: the most worlds that are stepped together.
        """
        self._manifest, self._num_envs = manifest, num_envs
        self._open: tuple[BenchmarkScene, int, Backend] | None = None

    def run(self, scene: BenchmarkScene, jobs: Sequence[Job], policy: TimedPolicy) -> Iterator[Event]:
        """Run episodes of one scene and tell what becomes of them; whatever goes wrong is told, too."""
        try:
            yield from self._run(scene, jobs, policy)
        except PolicyLost as error:
            yield WorkerLost(str(error), policy=True)
        except PolicyTimedOut as error:
            yield TimedOut(str(error))
        except (PolicyError, ContractError) as error:
            yield Failed(str(error), worlds_sound=True)
        except Exception as error:  # noqa: BLE001  simulators raise what they like; the row says it
            yield Failed(reason(error))

    def close(self) -> None:
        """Close the simulator."""
        if self._open is not None:
            opened, self._open = self._open, None
            opened[2].close()

    def _run(self, scene: BenchmarkScene, jobs: Sequence[Job], policy: TimedPolicy) -> Iterator[Event]:
        backend = self._backend(scene, min(self._num_envs, len(jobs)))
        yield Started()
        observe = ObservationAdapter(self._manifest, scene)
        yield from rounds(
            backend,
            policy,
            observe,
            ActionAdapter(self._manifest, scene),
            jobs,
            cameras=[camera.name for camera in observe.cameras],
            n_action_steps=self._manifest.replay_steps,
            horizon=int(scene.task.max_steps or 0),
        )
        yield Finished()

    def _backend(self, scene: BenchmarkScene, num_envs: int) -> Backend:
        """Return the open simulator, or open this scene's, which may take minutes."""
        if self._open is None or self._open[:2] != (scene, num_envs):
            self.close()
            self._open = scene, num_envs, make_backend(scene, num_envs=num_envs)
        return self._open[2]
