"""Worker processes for blocks, each watched: one that hangs or dies costs its block, never the run.

A worker loads the policy once and keeps one simulator open. It dies with the process that started it.
"""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from openral_core.action_adapter import ActionAdapter
from openral_core.errors import OpenralError
from openral_core.observation_adapter import ObservationAdapter
from openral_core.registry import RSkillPackage, load_package
from openral_core.types import Policy
from openral_policy_nodes.families import load_policy
from openral_sim_bridge.factory import make_backend
from openral_sim_bridge.rollout import EpisodeRow, roll_out
from openral_training.benchmark.journal import Entry
from openral_training.benchmark.plan import Block, Settings
from openral_training.workers import watch_parent

_spawn = multiprocessing.get_context("spawn")


@dataclass
class _Worker:
    process: SpawnProcess
    pipe: Connection
    block: Block | None = None
    deadline: float = math.inf
    """On the monotonic clock [s]; a block's time begins when the worker begins with it."""


def run_blocks(
    package: RSkillPackage,
    settings: Settings,
    blocks: Sequence[Block],
    *,
    workers: int,
    block_timeout_s: float,
) -> Iterator[list[Entry]]:
    """Run blocks and yield the episodes of each as it ends, in whatever order they end.

    Args:
        package: the skill.
        settings: how it is run.
        blocks: what is to be run.
        workers: processes.
        block_timeout_s: [s] wall time after which a block is cut off: its worker is killed, its episodes get the
            reason in place of a result.
    """
    waiting = list(blocks)
    crew = [_start(package, settings) for _ in range(min(workers, len(waiting)))]
    try:
        while waiting or any(worker.block for worker in crew):
            for worker in crew:
                if worker.block is None and waiting:
                    worker.block, worker.deadline = waiting.pop(0), math.inf
                    worker.pipe.send(worker.block)
            wait([worker.pipe for worker in crew if worker.block], timeout=1.0)
            for index, worker in enumerate(crew):
                if worker.block is None:
                    continue
                entries, alive = _collect(worker, block_timeout_s)
                if not alive:
                    _stop(worker)
                    crew[index] = _start(package, settings)
                if entries is not None:
                    worker.block = None
                    yield entries
    finally:
        for worker in crew:
            _stop(worker)


def _collect(worker: _Worker, timeout_s: float) -> tuple[list[Entry] | None, bool]:
    """Return what a block came to, if it did, and whether its worker can go on."""
    block = worker.block
    assert block is not None
    if worker.pipe.poll():
        try:
            outcome = worker.pipe.recv()
        except EOFError:
            worker.process.join(5)
            return _lost(block, f"the worker ended with exit code {worker.process.exitcode}"), False
        if outcome is None:
            worker.deadline = time.monotonic() + timeout_s
            return None, True
        if isinstance(outcome, str):
            return _lost(block, outcome), False
        return [Entry(block.number, row) for row in outcome], True
    if time.monotonic() > worker.deadline:
        return _lost(block, f"cut off after {timeout_s:.0f} s"), False
    return None, True


def _lost(block: Block, reason: str) -> list[Entry]:
    return [Entry(block.number, EpisodeRow.lost(job), reason) for job in block.jobs]


def _start(package: RSkillPackage, settings: Settings) -> _Worker:
    ours, theirs = _spawn.Pipe()
    process = _spawn.Process(
        target=_work, args=(theirs, str(package.folder), package.accept_noncommercial, settings), daemon=True
    )
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _stop(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _work(pipe: Connection, folder: str, accepted: bool | None, settings: Settings) -> None:
    """Body of a worker: run blocks until the pipe closes."""
    watch_parent()
    from dataclasses import replace
    from pathlib import Path

    package = replace(load_package(Path(folder)), accept_noncommercial=accepted)
    station = _Station(package, settings)
    while True:
        try:
            block = pipe.recv()
        except EOFError:
            return
        try:
            station.prepare(block)
            pipe.send(None)
            pipe.send(station.run(block))
        except OpenralError as error:
            pipe.send(str(error))
        except Exception as error:  # noqa: BLE001  simulators and policies raise what they like; the row says it
            pipe.send(f"{type(error).__name__}: {error}")


class _Station:
    """A policy, loaded once, and the simulator of the newest block's scene."""

    def __init__(self, package: RSkillPackage, settings: Settings) -> None:
        self._package, self._settings = package, settings
        self._policy: Policy | None = None
        self._open: tuple[Any, Any] | None = None

    def prepare(self, block: Block) -> None:
        """Load the policy and open the simulator, which may take minutes and is no part of a block's time."""
        if self._policy is None:
            self._policy = load_policy(self._package, self._settings.device)
        if self._open is None or self._open[0] != block.scene:
            if self._open is not None:
                self._open[1].close()
            self._open = (block.scene, make_backend(block.scene, num_envs=self._settings.num_envs))

    def run(self, block: Block) -> list[EpisodeRow]:
        """Run a prepared block."""
        assert self._open is not None
        assert self._policy is not None
        manifest = self._package.manifest
        observe = ObservationAdapter(manifest, block.scene)
        return roll_out(
            self._open[1], self._policy, observe, ActionAdapter(manifest, block.scene), block.jobs,
            cameras=[camera.name for camera in observe.cameras], n_action_steps=manifest.replay_steps,
            horizon=int(block.scene.task.max_steps or 0),
        )  # fmt: skip
