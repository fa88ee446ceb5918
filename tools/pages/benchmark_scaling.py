"""Run one benchmark with 1, 2, 4... workers, check that its rows are the same, and say how it scales.

python tools/pages/benchmark_scaling.py                                   # as many workers as there are cores, at most
python tools/pages/benchmark_scaling.py --workers 1 4 16 --device cuda --n-episodes 50
python tools/pages/benchmark_scaling.py --write                           # also into docs/benchmark.md

Control steps a second count twice: from the start of the processes to the last row, and while workers are busy with
their blocks, without the start of the processes and without what workers wait at the end for the last of them.
Processor time is that of all of a run's processes; beside other work it means more than the wall's clock does.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from page_parts import with_part

from openral_benchmark.execute import execute
from openral_benchmark.execution_config import ExecutionConfig
from openral_benchmark.plan import Settings, chosen_scenes, plan
from openral_benchmark.workers.worker_pool import cores
from openral_core.suite import load_suite
from openral_rskill.registry import resolve

PAGE = Path(__file__).parents[2] / "docs" / "benchmark.md"
TIMES = ("wall_s", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "inference_s")
"""What two runs of the same rows differ in."""
WAITING, BUSY = 0.15, 0.85
"""From which share of waiting the policy limits a run, and from which share of busy cores these do."""
HEAD = (
    "workers",
    "with the policy",
    "steps/s while busy",
    "of linear",
    "steps/s, whole run",
    "of linear",
    "cores busy",
    "processor time a step",
    "a worker simulates",
    "its policy infers",
    "it waits",
    "limited by",
)


@dataclass(frozen=True)
class Run:
    """What one run cost."""

    machine: str
    engine: dict[str, Any]
    rows: list[dict[str, Any]]
    blocks: int
    wall_s: float
    processor_s: float

    @property
    def steps(self) -> int:
        """Control steps of all episodes."""
        return sum(row["steps"] for row in self.rows)

    @property
    def steps_per_s(self) -> float:
        """Of the whole run."""
        return self.steps / self.wall_s

    @property
    def busy_steps_per_s(self) -> float:
        """Of all workers, while each of them runs a block."""
        spent = [self.engine[name] for name in ("simulated_s", "inferred_s", "waited_s")]
        return float(self.steps * self.engine["workers"] / sum(spent))

    @property
    def outcome(self) -> str:
        """The rows without what the clock decides."""
        return json.dumps([{k: v for k, v in row.items() if k not in TIMES} for row in self.rows])

    def shares(self) -> tuple[float, float, float]:
        """Return which shares of the workers' time went into simulating, inferring and waiting."""
        spent = [self.engine[name] for name in ("simulated_s", "inferred_s", "waited_s")]
        return tuple(part / (sum(spent) or 1.0) for part in spent)  # type: ignore[return-value]

    def limit(self, machine: int) -> str:
        """Say what more workers would meet first."""
        if self.shares()[2] > WAITING and self.engine["policies"] < self.engine["workers"]:
            return "the policy's processes"
        if self.processor_s / self.wall_s > BUSY * machine:
            return "the machine's cores"
        if self.blocks < 2 * self.engine["workers"]:
            return f"{self.blocks} blocks of episodes"
        return "its workers" if self.engine["workers"] < machine else "other work on the machine"


def measured(arguments: argparse.Namespace, workers: int) -> Run:
    """Run the benchmark once, in a folder that is removed."""
    suite, package = load_suite(arguments.suite), resolve(arguments.rskill)
    scenes = chosen_scenes(suite, arguments.task)
    settings = Settings(arguments.n_episodes, min(arguments.num_envs, arguments.n_episodes), arguments.device)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        content = execute(
            suite,
            package,
            scenes,
            settings,
            Path(folder),
            execution=ExecutionConfig(workers, policies=arguments.policies),
            resume=False,
            command="",
        )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    rows = content["results"]["episodes"]
    return Run(
        content["provenance"]["machine"],
        content["engine"],
        rows,
        len(plan(scenes, settings)),
        wall,
        processor_s,
    )


def table(runs: list[Run], machine: int) -> list[str]:
    """Return the runs as a table of Markdown; linear is as many times the first run as it has workers."""
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    for run in runs:
        times = run.engine["workers"] / runs[0].engine["workers"]
        shares = " | ".join(f"{share:.0%}" for share in run.shares())
        lines.append(
            f"| {run.engine['workers']} | {run.engine['policies']} | {run.busy_steps_per_s:.0f} | "
            f"{run.busy_steps_per_s / runs[0].busy_steps_per_s / times:.2f} | {run.steps_per_s:.0f} | "
            f"{run.steps_per_s / runs[0].steps_per_s / times:.2f} | {run.processor_s / run.wall_s:.1f} of {machine} | "
            f"{1e3 * run.processor_s / run.steps:.2f} ms | {shares} | {run.limit(machine)} |"
        )
    return lines


def main() -> None:
    """Measure and print, and write the page if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    machine = cores()
    powers = [2**power for power in range(machine.bit_length()) if 2**power <= machine]
    parser.add_argument("--suite", default="metaworld_mt10_fast")
    parser.add_argument("--rskill", default="mini-metaworld-mt10")
    parser.add_argument("--task", action="append", default=[], help="of the suite; default: all")
    parser.add_argument("--n-episodes", type=int, default=10, help="a task")
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, nargs="+", default=powers)
    parser.add_argument(
        "--policies", type=int, help="processes with the policy; default: as many as a run takes"
    )
    parser.add_argument("--write", action="store_true", help="into docs/benchmark.md")
    arguments = parser.parse_args()
    runs = [measured(arguments, workers) for workers in arguments.workers]
    same = {run.outcome for run in runs}
    assert len(same) == 1, "the rows of two runs differ"
    solved = sum(row["success"] for row in runs[0].rows)
    said = (
        f"{arguments.rskill} on {', '.join(arguments.task) or arguments.suite}, {len(runs[0].rows)} episodes, "
        f"{solved} solved, the same rows in every run; policy on {arguments.device}, {runs[0].machine}, "
        f"{machine} cores:"
    )
    text = [said, "", *table(runs, machine)]
    sys.stdout.write("\n".join(text) + "\n")
    if arguments.write:
        PAGE.write_text(with_part(PAGE.read_text(encoding="utf-8"), "scaling", text), encoding="utf-8")


if __name__ == "__main__":
    main()
