"""Workers of benchmarks and trainings, forked from a process that has imported what they need, torch first of all.

What a user starts imports it in each of them; so do tests that run a command.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from typing import Any

import pytest

IMPORTED = [
    "openral_benchmark.workers.episode_worker",
    "openral_benchmark.workers.policy_host",
    "openral_policy_nodes.families.mini.policy",
]
"""Nothing that opens OpenGL, which does not survive a fork, or starts a thread."""


class WarmContext(ForkServerContext):
    """Makes processes, each with the variables that the process that asks for it has then."""

    def __init__(self) -> None:
        super().__init__()
        self.set_forkserver_preload(IMPORTED)

    def Process(  # type: ignore[override]
        self, target: Callable[..., Any], args: tuple[Any, ...], daemon: bool | None = None
    ) -> BaseProcess:
        return ForkServerContext.Process(target=begin, args=(dict(os.environ), target, args), daemon=daemon)


def begin(environment: dict[str, str], target: Callable[..., Any], args: tuple[Any, ...]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    target(*args)


@pytest.fixture(scope="module")
def warm_workers() -> Iterator[None]:
    context = WarmContext()
    with pytest.MonkeyPatch.context() as patch:
        for module in ("process_launcher", "worker_pool"):
            patch.setattr(f"openral_benchmark.workers.{module}._spawn", context)
        yield
