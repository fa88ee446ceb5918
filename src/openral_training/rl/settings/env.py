"""Tasks, and the worlds and initial states in which a policy learns and is judged."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from openral_core.schema import Count, InitRange, Many, Schema, Word


class Videos(Schema):
    """Videos of the last evaluation."""

    save_video: bool = False
    """Whether the first success and the first failure of each task are drawn as videos."""


class TrainEnv(Schema):
    """The worlds in which experience is made."""

    total_num_envs: Count
    """Worlds, shared out equally among tasks and pipeline stages."""
    init_ids: InitRange
    """Initial states of each task that may be learnt on."""
    world_model: Word | None = None
    """Folder of a world model in which experience is imagined; absent: it is made in the simulator. Evaluation stays in
    the simulator either way."""


class EvalEnv(Schema):
    """What policies are evaluated on."""

    init_ids: InitRange
    """Initial states of each task that are never learnt on; each is tried once, greedily."""
    video_cfg: Videos = Videos()
    """Videos."""


class Env(Schema):
    """Tasks and their worlds."""

    scene: Word
    """Name of a benchmark scene, whose simulator and robot all tasks share."""
    tasks: Annotated[Many[Word], Field(min_length=1)]
    """Names of the simulator's tasks."""
    instructions: dict[str, Word] = Field(default_factory=dict)
    """Words for tasks, for whoever is told words: a skill, which knows some of its own, or a reward model."""
    max_episode_steps: Count = 120
    """Control steps until an episode is cut off."""
    train: TrainEnv
    """Worlds to learn in."""
    eval: EvalEnv
    """States to evaluate on."""
