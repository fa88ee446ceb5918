"""What becomes of episodes whose world, policy or process fails, and of the rows in a log that was cut off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from openral_benchmark import engine
from openral_benchmark.engine import Engine
from openral_benchmark.episode_log import EpisodeEntry, EpisodeLog
from openral_benchmark.episode_queue import EpisodeQueue
from openral_benchmark.plan import Block
from openral_benchmark.workers.events import Event, Finished, Started
from openral_core.errors import ManifestError
from openral_core.scene import BenchmarkScene, load_scene
from openral_sim_bridge.rollout import EpisodeJob, EpisodeRow, Round
from openral_sim_bridge.trace import Trace

IDENTITY = {"skill": "reacher"}


@pytest.fixture(scope="module")
def scene() -> BenchmarkScene:
    return load_scene("metaworld_mini", BenchmarkScene)


def jobs(first: int, count: int) -> tuple[EpisodeJob, ...]:
    return tuple(EpisodeJob("near", number, "reach") for number in range(first, first + count))


def solved(job: EpisodeJob) -> EpisodeRow:
    return EpisodeRow(job.task_id, job.init_id, job.instruction, True, 5, 0.1, 1.0, 1.0, 1.0, None, 0.1)


def logged(folder: Path, words: Sequence[str]) -> Path:
    """Write a log of one block for each instruction, and return its file."""
    log = EpisodeLog(folder, IDENTITY, resume=False)
    for number, said in enumerate(words):
        log.add([EpisodeEntry(number, solved(EpisodeJob("near", number, said)))])
    log.close()
    return folder / "rows.jsonl"


def test_a_log_that_was_cut_off_within_a_letter_is_gone_on_with(tmp_path: Path) -> None:
    file = logged(tmp_path, ["reach", "öffne"])
    content = file.read_bytes()
    file.write_bytes(content[: content.index("ö".encode()) + 1])
    log = EpisodeLog(tmp_path, IDENTITY, resume=True)
    log.close()
    assert log.done == {0}
    assert b"\xc3" not in file.read_bytes()


def test_a_damaged_line_of_a_log_is_refused_and_nothing_after_it_is_dropped(tmp_path: Path) -> None:
    file = logged(tmp_path, ["reach", "push", "close"])
    lines = file.read_bytes().split(b"\n")
    for damage in (b"\0" * 8, b"", b"\xff{}"):
        content = b"\n".join([*lines[:3], damage, *lines[4:]])
        file.write_bytes(content)
        with pytest.raises(ManifestError, match=r"rows\.jsonl:4: is damaged .*; copy the file back, or name"):
            EpisodeLog(tmp_path, IDENTITY, resume=True)
        assert file.read_bytes() == content


def test_line_breaks_within_words_end_no_line_of_the_log(tmp_path: Path) -> None:
    words = ["reach", "open\u2028it\u0085now", "close"]
    content = logged(tmp_path, words).read_bytes()
    log = EpisodeLog(tmp_path, IDENTITY, resume=True)
    log.close()
    assert [entry.row.instruction for entry in log.entries] == words
    assert (tmp_path / "rows.jsonl").read_bytes() == content


def test_two_processes_do_not_write_one_log(tmp_path: Path) -> None:
    first = EpisodeLog(tmp_path, IDENTITY, resume=False)
    first.add([EpisodeEntry(0, solved(EpisodeJob("near", 0, "reach")))])
    for resume in (True, False):
        with pytest.raises(ManifestError, match="another process runs episodes into this folder"):
            EpisodeLog(tmp_path, IDENTITY, resume=resume)
    first.add([EpisodeEntry(1, solved(EpisodeJob("near", 1, "reach")))])
    first.close()
    for identity in ({"skill": "other"}, {"skill": "another"}):  # whoever is refused holds no lock
        with pytest.raises(ManifestError, match="of another run"):
            EpisodeLog(tmp_path, identity, resume=True)
    again = EpisodeLog(tmp_path, IDENTITY, resume=True)
    again.close()
    assert again.done == {0, 1}


def test_a_state_that_no_world_gets_into_costs_its_own_episode_alone(scene: BenchmarkScene) -> None:
    block, bad = Block(0, scene, jobs(20, 6)), 23
    queue = EpisodeQueue([block])
    while work := queue.take(None):
        if bad in [job.init_id for job in work.jobs]:
            queue.failed(work, "no such state")  # before any of them ran
        else:
            queue.add_round(work, Round((), dict(enumerate(map(solved, work.jobs))), {}))
            queue.ended(work)
    [entries] = queue.take_complete()
    assert [entry.row.init_id for entry in entries if entry.error] == [bad]
    assert [entry.row.success for entry in entries] == [job.init_id != bad for job in block.jobs]


def test_a_world_that_never_opens_is_not_tried_for_each_episode(scene: BenchmarkScene) -> None:
    queue, tries = EpisodeQueue([Block(0, scene, jobs(20, 30))]), 0
    while work := queue.take(None):
        tries += 1
        queue.failed(work, "no simulator")
    [entries] = queue.take_complete()
    assert len(entries) == 30
    assert all("no simulator" in entry.error for entry in entries)
    assert tries == 5


class ScriptedPool:
    """Two workers, of which one sends its events while the trace of the other's episode is kept."""

    size = 2

    def __init__(self) -> None:
        self.replaced: list[int] = []
        self._works: list[Sequence[EpisodeJob]] = []
        self._polls = 0

    def ready(self, worker: int) -> bool:
        return True

    def assign(self, worker: int, scene: BenchmarkScene, some: Sequence[EpisodeJob]) -> None:
        self._works.append(some)

    def replace_worker(self, worker: int) -> None:
        self.replaced.append(worker)

    def events(self, timeout_s: float) -> list[tuple[int, Event]]:
        self._polls += 1
        if self._polls == 1:
            return [(0, Started()), (1, Started())]
        worker = self._polls - 2
        [job] = self._works[worker]
        traces = (
            {0: Trace(job.task_id, job.init_id, np.zeros((1, 1)), np.zeros((1, 0, 3)))} if worker == 0 else {}
        )
        return [(worker, Round((), {0: solved(job)}, traces)), (worker, Finished(1.0, 0.1, 0.1))]


class SlowlyOpeningPool(ScriptedPool):
    """One worker whose simulator opens after some time [s]; 100 s pass with each look at it."""

    size = 1

    def __init__(self, now_s: list[float], opens_s: float) -> None:
        super().__init__()
        self._now_s, self._opens_s = now_s, opens_s

    def events(self, timeout_s: float) -> list[tuple[int, Event]]:
        self._now_s[0] += 100.0
        if self._now_s[0] < self._opens_s:
            return []
        [job] = self._works[-1]
        return [(0, Started()), (0, Round((), {0: solved(job)}, {})), (0, Finished(1.0, 0.1, 0.1))]


@pytest.mark.parametrize(
    ("name", "patience_s", "error"),
    [
        ("metaworld_mini", 1.0, "cut off: the simulator did not open within 300 s"),
        ("metaworld_mini", 250.0, "cut off: the simulator did not open within 500 s"),
        ("robosuite_panda_joints", 1.0, ""),  # whose environment may have to be built first
    ],
)
def test_a_simulator_that_hangs_while_it_opens_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, name: str, patience_s: float, error: str
) -> None:
    now_s = [0.0]
    monkeypatch.setattr(engine, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    pool = SlowlyOpeningPool(now_s, opens_s=7200.0)
    block = Block(0, load_scene(name, BenchmarkScene), jobs(20, 1))
    running = Engine(cast("Any", pool), [block], patience_s=patience_s)
    [entry] = [entry for blocks in running.run() for block in blocks for entry in block]
    assert entry.error == error
    assert bool(pool.replaced) == bool(error)


def test_a_worker_is_not_cut_off_for_what_the_engine_did_meanwhile(
    scene: BenchmarkScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [0.0]
    monkeypatch.setattr(engine, "time", SimpleNamespace(monotonic=lambda: now_s[0]))

    def keep(scene: BenchmarkScene, trace: Trace) -> None:
        now_s[0] += 1000.0

    pool = ScriptedPool()
    blocks = [Block(number, scene, jobs(20 + number, 1)) for number in range(2)]
    running = Engine(cast("Any", pool), blocks, patience_s=10.0, keep=keep)
    entries = [entry for blocks in running.run() for block in blocks for entry in block]
    assert [(entry.row.init_id, entry.error) for entry in entries] == [(20, ""), (21, "")]
    assert pool.replaced == []
