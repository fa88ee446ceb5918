"""The reasoner and scripted neighbours as processes of their own, for the tests that talk to them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from warm_processes import Process, run_module

PATIENCE_S = 90.0
BRISK = {
    "gate.default_patience_s": 0.6,
    "gate.check_floor": 0.5,
    "gate.plateau_window_s": 0.6,
    "gate.stale_after_s": 1.0,
    "director.comeback_patience_s": 1.5,
    "director.palette_settle_s": 0.2,
}


class Graph:
    """Starts processes in a domain of their own and ends each of them."""

    def __init__(self, folder: Path, *, cold: bool = False) -> None:
        """Start none yet.

        Args:
            folder: of the reasoner's run.
            cold: whether each process imports what it needs, as those of users.
        """
        self.run_dir = folder / "run"
        self._cold = cold
        self._processes: list[Process] = []

    def start(self, module: str, *arguments: str, **parameters: object) -> Process:
        words = [*arguments, *(["--ros-args"] if parameters else [])]
        for name, value in parameters.items():
            words += ["-p", f"{name}:={json.dumps(value)}"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        process = run_module(
            f"openral_reasoner.{module}",
            *words,
            environment=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cold=self._cold,
        )
        self._processes.append(process)
        return process

    def skill(self, **parameters: object) -> Process:
        return self.start("ros.fakes_node", "skill", **{"max_execution_s": 20.0, **parameters})

    def home(self) -> Process:
        return self.start("ros.fakes_node", "home")

    def monitor(self, **parameters: object) -> Process:
        return self.start("ros.fakes_node", "monitor", **{"rise_s": 0.2, **parameters})

    def reasoner(self, mission: str = "", **parameters: object) -> Process:
        values = {**BRISK, "mission": mission, "run_dir": str(self.run_dir), "exit_when_done": bool(mission)}
        return self.start("ros.reasoner_node", **{**values, **parameters})

    def prompt(self, sentence: str, *options: str) -> Process:
        return self.start("commands", "prompt", sentence, *options)

    def steps(self) -> list[dict[str, Any]]:
        path = self.run_dir / "mission.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def wait_for(self, kind: str, reason: str = "") -> None:
        """Wait for a step of a kind in the log of the mission, in whose reason these words stand."""
        end = time.monotonic() + PATIENCE_S
        while not any(step["kind"] == kind and reason in step["reason"] for step in self.steps()):
            assert time.monotonic() < end, f"no step {kind!r} among {[step['kind'] for step in self.steps()]}"
            time.sleep(0.05)

    def mission(self) -> dict[str, Any]:
        mission: dict[str, Any] = json.loads((self.run_dir / "mission.json").read_text())
        return mission

    def close(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()


def end_of(process: Process) -> tuple[int, str]:
    output, _ = process.communicate(timeout=PATIENCE_S)
    return process.wait(), output or ""
