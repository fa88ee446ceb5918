"""A pool of worker processes, one of which is killed from outside."""

from __future__ import annotations

import os
import signal

import pytest

from openral_benchmark.workers.worker_pool import worker_pool
from openral_core.errors import SimulationError


def test_a_killed_worker_ends_the_work_with_what_may_have_killed_it_and_what_to_do() -> None:
    with (
        pytest.raises(SimulationError, match=r"worker process, one of 1, .*memory.*--workers"),
        worker_pool(1) as pool,
    ):
        pool.submit(os.abort).result()


def test_an_error_of_the_work_itself_stays_what_it_is() -> None:
    with pytest.raises(ProcessLookupError), worker_pool(1) as pool:
        pool.submit(os.kill, 2**22 + 1, signal.SIGCONT).result()
