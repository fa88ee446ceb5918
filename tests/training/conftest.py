"""What the workers of some trainings start with."""

from warm_workers import warm_workers  # noqa: F401
