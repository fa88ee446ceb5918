"""Length, evaluations and logs of a run."""

from __future__ import annotations

from typing import Literal

from openral_core.schema import Count, Many, Schema, Word


class Logger(Schema):
    """Folder of a run, and backends of its metrics."""

    log_path: Word = "runs/rl"
    """Folder of all runs."""
    experiment_name: Word
    """Name of this run's folder in `log_path`."""
    logger_backends: Many[Literal["csv", "tensorboard", "wandb"]] = ("csv",)
    """csv: `metrics.csv`, which is always written, since `--resume` needs it. tensorboard: event files. wandb: W&B,
    offline in the run's folder unless the variable WANDB_MODE is `online`; needs the extra `wandb`."""


class Runner(Schema):
    """Length of a run, and how often it is evaluated and saved."""

    task_type: Literal["embodied"] = "embodied"
    """RLinf's name of what openral trains."""
    max_epochs: Count
    """Updates of the policy, each after one collection of experience."""
    val_check_interval: Count = 20
    """Updates between two evaluations on held-out states; the initial and the final policy are always evaluated."""
    save_interval: Count = 1
    """Updates between two saves of the state from which `--resume` continues."""
    logger: Logger
    """Folder and metrics."""
