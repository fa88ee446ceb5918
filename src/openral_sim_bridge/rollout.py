"""Runs a policy in N worlds of one process, with the adapters of a deployment but without ROS.

The world waits for the policy: every `n_action_steps` control steps it is observed, one batch is inferred for all
worlds, and the first steps of each chunk are executed. In between it is rendered only at the control steps that a
policy with an image history reads. An episode ends at the simulator's first success or at the horizon.

A job may ask for delays, in frames of `n_action_steps` control steps. The first chunk of an episode is always that of
its first observation, for which the arm waits.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_control.catch_up import CatchUp
from openral_core.adapters.history import FrameHistory
from openral_core.types import Image, Observation, Policy, PolicyBatch, RobotState, StepView
from openral_sim_bridge.backend import Snapshot, StepResult
from openral_sim_bridge.policy_timer import Stopwatch, TimedPolicy
from openral_sim_bridge.trace import Trace, steps_a_frame


class Observe(Protocol):
    """The part of core's ObservationAdapter that a rollout needs."""

    @property
    def history(self) -> tuple[int, ...]:
        """Offsets in control steps (0 or negative, rising) of the images that the policy reads; empty: now only."""
        ...

    def batch(self, observations: Sequence[Observation]) -> PolicyBatch:
        """Return a batch of observations in the form that the checkpoint takes."""
        ...


class Worlds(Protocol):
    """The part of a `Backend` that a rollout needs."""

    control_hz: float
    """[Hz] rate of `step`."""
    num_envs: int
    """N"""
    task_ids: tuple[str, ...]
    """The K tasks whose success the simulator reports."""

    def reset(
        self, task_ids: Sequence[str], init_ids: Sequence[int], envs: Sequence[int] | None = None
    ) -> list[RobotState]:
        """Put worlds into initial states; see `Backend`."""
        ...

    def step(self, actions: NDArray[Any], envs: Sequence[int] | None = None) -> StepResult:
        """Advance worlds by one control step; see `Backend`."""
        ...

    def render(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> Mapping[str, NDArray[np.uint8]]:
        """Return images; see `Backend`."""
        ...

    def snapshot(self, env: int = 0) -> Snapshot:
        """Return the present snapshot of one world."""
        ...


Act = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""Converts a chunk (H, A) of the checkpoint to one (H, A) of the scene, as core's ActionAdapter does."""


@dataclass(frozen=True)
class EpisodeJob:
    """One episode to run."""

    task_id: str
    init_id: int
    instruction: str
    traced: bool = False
    """Whether snapshots of its world are kept, from which a video can be rendered. They do not affect the episode."""
    answer_delay: int = 0
    """[frames] from an observation to the first step of its chunk that is executed, as with a slow policy or network.
    Steps that are past by then are skipped and caught up with, as by a deployment's executor."""
    picture_delay: int = 0
    """[frames] by which images are older than the proprioception beside them, as with a slow camera whose images are
    stamped on arrival."""


@dataclass(frozen=True)
class EpisodeRow:
    """The outcome of one episode."""

    task: str
    init_id: int
    instruction: str
    success: bool
    steps: int
    """Control steps until success or the horizon."""
    wall_s: float
    """[s] wall time from reset to end, during which the other worlds of the batch ran, too."""
    latency_p50_ms: float
    """[ms] median duration of the batched inferences that this episode took part in; the 95th and 99th percentile
    follow."""
    latency_p95_ms: float
    latency_p99_ms: float
    return_: float | None
    """Sum of the simulator's reward for the task over the episode's steps, undiscounted; None: it has no reward, or one
    that was not finite, for which JSON has no number."""
    inference_s: float | None = None
    """[s] total duration of these inferences; None: the episode did not finish, or the file has no such field."""

    @classmethod
    def lost(cls, job: EpisodeJob) -> EpisodeRow:
        """Return the row of an episode that did not finish: a failure after 0 steps."""
        return cls(job.task_id, job.init_id, job.instruction, False, 0, 0.0, 0.0, 0.0, 0.0, None)

    def record(self) -> dict[str, Any]:
        """Return the row as results store it, with the key `return` (a keyword of Python) in place of `return_`."""
        return {name.rstrip("_"): value for name, value in asdict(self).items()}


@dataclass
class _Running:
    number: int
    """Of the job."""
    job: EpisodeJob
    state: RobotState
    started: float
    history: FrameHistory[StepView]
    images: Mapping[str, Image] = field(default_factory=dict)
    """Images that the policy sees now, after `picture_delay`."""
    steps: int = 0
    latencies: list[float] = field(default_factory=list)
    return_: float | None = None
    snapshots: list[Snapshot] = field(default_factory=list)
    executed: list[NDArray[np.float32]] = field(default_factory=list)
    """Actions (A,) of all control steps so far; nan up to the last one that the set point did not follow."""
    taken: deque[tuple[int, Mapping[str, Image]]] = field(default_factory=deque)
    """Images with the number of control steps before them, oldest first; the policy sees the first ones now."""
    asked: deque[tuple[int, Observation]] = field(default_factory=deque)
    """Observations with their control step, oldest first; the policy answers the first one now."""

    @property
    def episode(self) -> str:
        """Name of the episode, for the policy."""
        return f"{self.job.task_id}#{self.job.init_id}#{self.number}"

    def look(self, images: Mapping[str, Image], frame: int) -> None:
        """Take new images, and add those that the policy sees now to its history.

        Args:
            images: just rendered, by camera.
            frame: control steps in a frame, the unit of the delays.
        """
        self.taken.append((self.steps, images))
        seen_until = self.steps - self.job.picture_delay * frame
        while len(self.taken) > 1 and self.taken[1][0] <= seen_until:
            self.taken.popleft()
        self.images = self.taken[0][1]
        self.history.add(self.steps, StepView(self.images, self.state))

    def observe(self) -> tuple[Observation, int]:
        """Return the observation that the policy answers now, and its age in control steps."""
        history = self.history.at(self.steps)
        words = self.job.instruction
        now = Observation(self.state.stamp_s, self.images, self.state, words, history, self.episode)
        self.asked.append((self.steps, now))
        while len(self.asked) > self.job.answer_delay + 1:
            self.asked.popleft()
        step, observation = self.asked[0]
        return observation, self.steps - step

    def moved(self, action: NDArray[np.float32], state: RobotState, catch_up: CatchUp) -> None:
        """Note the action (A,) of a control step and the state after it, as a deployment's executor does."""
        self.executed.append(action)
        if not catch_up.followed(action, self.state.ee_target, state.ee_target):
            self.executed = [np.full_like(action, np.nan)] * len(self.executed)
        self.state, self.steps = state, self.steps + 1

    def row(self, success: bool) -> EpisodeRow:
        p50, p95, p99 = (
            round(float(value), 2) for value in np.percentile(self.latencies, [50, 95, 99]) * 1e3
        )
        job = self.job
        wall = round(time.perf_counter() - self.started, 3)
        total = None if self.return_ is None or not math.isfinite(self.return_) else round(self.return_, 4)
        spent = round(sum(self.latencies), 6)
        return EpisodeRow(
            job.task_id, job.init_id, job.instruction, success, self.steps, wall, p50, p95, p99, total, spent
        )

    def add_reward(self, reward: float) -> None:
        """Add the reward of one step to the return."""
        self.return_ = reward + (self.return_ or 0.0)

    def trace(self) -> Trace:
        return Trace.of(self.job.task_id, self.job.init_id, self.snapshots)


@dataclass(frozen=True)
class Round:
    """One decision of all running worlds, reported before its inference."""

    running: tuple[int, ...]
    """Numbers of the jobs that share its batch; empty: all have ended."""
    finished: Mapping[int, EpisodeRow]
    """Rows of the episodes that ended since the last round, by the number of the job."""
    traces: Mapping[int, Trace]
    """Traces of these episodes, by the number of the job, where the job is traced."""


Watch = Callable[[int, Observation], None]
"""(number of the job, observation that its policy gets) -> None"""


def _unwatched(number: int, observation: Observation) -> None:
    """Do nothing."""


def roll_out(
    backend: Worlds,
    policy: Policy,
    observe: Observe,
    act: Act,
    jobs: Iterable[EpisodeJob],
    *,
    catch_up: CatchUp,
    cameras: Sequence[str],
    n_action_steps: int,
    horizon: int,
    progress: Callable[[EpisodeRow], None] = lambda row: None,
    watch: Watch = _unwatched,
) -> list[EpisodeRow]:
    """Run every job and return a row for each, in the order of the jobs.

    Args:
        backend: see `rounds`.
        policy: infers one batch for all running worlds.
        observe: see `rounds`.
        act: see `rounds`.
        jobs: see `rounds`.
        catch_up: see `rounds`.
        cameras: see `rounds`.
        n_action_steps: see `rounds`.
        horizon: see `rounds`.
        progress: called with each finished row.
        watch: see `rounds`.
    """
    rows: dict[int, EpisodeRow] = {}
    for now in rounds(
        backend,
        Stopwatch(policy),
        observe,
        act,
        jobs,
        catch_up=catch_up,
        cameras=cameras,
        n_action_steps=n_action_steps,
        horizon=horizon,
        watch=watch,
    ):
        rows.update(now.finished)
        for row in now.finished.values():
            progress(row)
    return [rows[number] for number in sorted(rows)]


def rounds(
    backend: Worlds,
    policy: TimedPolicy,
    observe: Observe,
    act: Act,
    jobs: Iterable[EpisodeJob],
    *,
    catch_up: CatchUp,
    cameras: Sequence[str],
    n_action_steps: int,
    horizon: int,
    watch: Watch = _unwatched,
) -> Iterator[Round]:
    """Run every job, one batched decision of all worlds after the other.

    Which episodes share a batch depends on the jobs and the lengths of their episodes: a world whose episode ended
    gets the next job at the next decision, the world of the lowest index first.

    Args:
        backend: N worlds; each gets the next job when its episode has ended.
        policy: infers one batch for all running worlds.
        observe: converts observations to the form that the checkpoint takes.
        act: converts a chunk of the checkpoint to actions of the scene.
        jobs: the episodes.
        catch_up: corrects the rest of a chunk that comes late, see `EpisodeJob.answer_delay`.
        cameras: names of the cameras that the policy reads.
        n_action_steps: control steps executed of each chunk.
        horizon: control steps after which an episode without success has failed.
        watch: called with the number of the job and each observation that its policy gets.

    Yields:
        One Round before each inference, and a last one in which nothing runs.
    """
    waiting = list(enumerate(jobs))
    running: dict[int, _Running] = {}
    finished: dict[int, EpisodeRow] = {}
    traces: dict[int, Trace] = {}
    # Inference is due every n_action_steps, so the history refers only to these steps after a decision.
    glances = {offset % n_action_steps for offset in observe.history}
    while waiting or running:
        begun = []
        for env in range(backend.num_envs):
            if env not in running and waiting:
                number, job = waiting.pop(0)
                [state] = backend.reset([job.task_id], [job.init_id], [env])
                history: FrameHistory[StepView] = FrameHistory(observe.history)
                running[env] = _Running(number, job, state, time.perf_counter(), history)
                begun.append(running[env].episode)
        yield Round(tuple(sorted(run.number for run in running.values())), finished, traces)
        if begun:
            policy.reset(begun)
        _look(backend, running, cameras, n_action_steps)
        chunks = _infer(policy, observe, act, catch_up, running, watch)
        ended = _execute(backend, running, chunks, catch_up, n_action_steps, horizon, glances, cameras)
        finished = {running[env].number: running[env].row(success) for env, success in ended.items()}
        traces = {running[env].number: running[env].trace() for env in ended if running[env].job.traced}
        running = {env: run for env, run in running.items() if env not in ended}
    yield Round((), finished, traces)


def _look(
    backend: Worlds, running: Mapping[int, _Running], cameras: Sequence[str], n_action_steps: int
) -> None:
    """Render the running worlds, and add the images to their episodes."""
    envs = sorted(running)
    images = backend.render(cameras, envs)
    for i, env in enumerate(envs):
        running[env].look({name: images[name][i] for name in cameras}, n_action_steps)


def _infer(
    policy: TimedPolicy,
    observe: Observe,
    act: Act,
    catch_up: CatchUp,
    running: Mapping[int, _Running],
    watch: Watch,
) -> dict[int, NDArray[np.float32]]:
    """Return the rest (H', A) of each world's chunk, from the next control step on, by the world's index."""
    asked = {env: running[env].observe() for env in sorted(running)}
    for env, (observation, _) in asked.items():
        watch(running[env].number, observation)
    chunks = policy.predict(observe.batch([observation for observation, _ in asked.values()]))
    for env in asked:
        running[env].latencies.append(policy.elapsed_s)
    return {
        env: catch_up.rows(act(chunk), np.array(running[env].executed[-past:])) if past else act(chunk)
        for (env, (_, past)), chunk in zip(asked.items(), chunks, strict=True)
    }


def _execute(
    backend: Worlds,
    running: Mapping[int, _Running],
    chunks: Mapping[int, NDArray[np.float32]],
    catch_up: CatchUp,
    steps: int,
    horizon: int,
    glances: Container[int],
    cameras: Sequence[str],
) -> dict[int, bool]:
    """Execute up to `steps` control steps in the running worlds; return those that ended, with their success.

    Worlds whose episode has ended are not stepped.
    """
    ended: dict[int, bool] = {}
    frame = steps_a_frame(backend.control_hz)
    for step in range(steps):
        active = {env: run for env, run in running.items() if env not in ended}
        if not active:
            break
        if step and step in glances:
            _look(backend, active, cameras, steps)
        result = backend.step(np.stack([chunks[env][step] for env in active]), list(active))
        for row, (env, run) in enumerate(active.items()):
            run.moved(chunks[env][step], result.states[row], catch_up)
            column = backend.task_ids.index(run.job.task_id)
            success = bool(result.success[row, column])
            if result.reward is not None:
                run.add_reward(float(result.reward[row, column]))
            if success or run.steps >= horizon:
                ended[env] = success
            if run.job.traced and (env in ended or run.steps % frame == 1 % frame):
                run.snapshots.append(backend.snapshot(env))
    return ended
