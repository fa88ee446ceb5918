"""Tasks, environments, and the initial states of training and evaluation."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from openral_core.schema import Count, InitRange, Many, Schema, Word


class Videos(Schema):
    """Videos of the last evaluation."""

    save_video: bool = False
    """Whether videos of the first success and the first failure of each task are written."""


class TrainEnv(Schema):
    """Environments of training."""

    total_num_envs: Count
    """Number of environments, divided equally among tasks and pipeline stages."""
    init_ids: InitRange
    """Initial states of each task for training."""
    world_model: Word | None = None
    """Folder of a world model in which the episodes of training are run; absent: they are run in the simulator.
    Evaluation is always in the simulator."""


class EvalEnv(Schema):
    """Evaluation."""

    init_ids: InitRange
    """Held-out initial states of each task; the greedy policy runs one episode from each."""
    video_cfg: Videos = Videos()
    """Videos of the last evaluation."""


class Env(Schema):
    """Tasks and their environments."""

    scene: Word
    """Name of a benchmark scene, whose simulator and robot all tasks have."""
    tasks: Annotated[Many[Word], Field(min_length=1)]
    """Names of the simulator's tasks."""
    instructions: dict[str, Word] = Field(default_factory=dict)
    """Instruction of each task, for a policy of model_type `tokens`, for a skill in place of its manifest's own, and
    for a reward model."""
    max_episode_steps: Count = 120
    """Control steps after which an episode is truncated."""
    train: TrainEnv
    """Environments of training."""
    eval: EvalEnv
    """Initial states and videos of evaluation."""
