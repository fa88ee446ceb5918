"""How long a run goes on, and what of it is written where."""

from __future__ import annotations

from typing import Literal

from openral_core.schema import Count, Many, Schema, Word


class Logger(Schema):
    """What is written where while a run learns."""

    log_path: Word = "runs/rl"
    """Folder of all runs."""
    experiment_name: Word
    """Folder of this run in it."""
    logger_backends: Many[Literal["csv", "tensorboard", "wandb"]] = ("csv",)
    """csv: `metrics.csv`; it is always written, since a run goes on from it. tensorboard: event files. wandb: W&B,
    offline in the run's folder unless WANDB_MODE says `online`; needs the extra `wandb`."""


class Runner(Schema):
    """How long a run goes on, and how often it is looked at."""

    task_type: Literal["embodied"] = "embodied"
    """The only one."""
    max_epochs: Count
    """Updates of the policy, each after one collection of experience."""
    val_check_interval: Count = 20
    """Updates from one evaluation on held-out states to the next; the base and the last policy are always evaluated."""
    save_interval: Count = 1
    """Updates from one state from which a killed run goes on to the next."""
    logger: Logger
    """What is written."""
